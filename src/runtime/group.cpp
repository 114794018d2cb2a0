#include "runtime/group.h"

#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/progress.h"
#include "runtime/registry.h"

namespace tutti::runtime {

namespace {

struct GroupedCall {
  Communicator* communicator;
  Call call;
};
struct GroupedInit {
  std::function<Status()> work;
  std::function<void(bool)> commit;
};
struct Group {
  int depth = 0;
  Status error;  // of the first call in the group that was refused
  std::vector<GroupedCall> calls;
  std::vector<GroupedInit> inits;
};
thread_local Group group;

Status run_inits(std::vector<GroupedInit> inits) {
  if (inits.empty()) return {};
  std::vector<Status> results(inits.size());
  {
    std::vector<std::jthread> threads;
    threads.reserve(inits.size());
    for (size_t i = 0; i < inits.size(); ++i)
      threads.emplace_back([&work = inits[i].work, &result = results[i]] { result = work(); });
  }
  Status first;
  for (const Status& result : results)
    if (first.ok() && !result.ok()) first = result;
  for (const GroupedInit& init : inits) init.commit(first.ok());
  return first;
}

// What nobody waits for is the progress thread's work. It knows the communicators of several ranks from their start;
// one of a single rank, which has no peers to look after, comes to it with its first such operation.
void hand_over(Communicator* communicator) {
  if (communicator->nranks() == 1) progress_add(communicator);
  progress_wake();
}

// NCCL's rule: one group is either blocking or not.
Status check_modes(const std::vector<GroupedCall>& calls) {
  for (const GroupedCall& grouped : calls) {
    if (grouped.communicator->options().blocking != calls.front().communicator->options().blocking)
      return Status(Code::kInvalidArgument, "blocking and non-blocking communicators cannot be used in one group");
  }
  return {};
}

// The first place of the group in each of its streams.
std::map<Stream*, uint64_t> take_places(const std::vector<GroupedCall>& calls) {
  std::map<Stream*, uint64_t> count;
  for (const GroupedCall& grouped : calls)
    if (grouped.call.stream != nullptr) ++count[grouped.call.stream.get()];
  for (auto& [stream, places] : count) places = stream->issue(places);
  return count;
}

Status run_calls(const std::vector<GroupedCall>& calls) {
  if (calls.empty()) return {};
  // Held to the end, so that an abort by another thread waits until this one has left.
  std::vector<std::unique_ptr<Use>> uses;
  for (const GroupedCall& grouped : calls) {
    uses.push_back(std::make_unique<Use>(grouped.communicator));
    if (!*uses.back()) return dead_handle(grouped.communicator);
    TUTTI_RETURN_IF_ERROR(grouped.communicator->usable());
  }
  TUTTI_RETURN_IF_ERROR(check_modes(calls));
  std::vector<Waiting> waiting;
  bool in_progress = false;
  std::unique_lock order(issue_order());
  const std::map<Stream*, uint64_t> places = take_places(calls);
  for (const GroupedCall& grouped : calls) {
    Stream* const stream = grouped.call.stream.get();
    std::shared_ptr<Ticket> ticket =
        grouped.communicator->issue(grouped.call, stream == nullptr ? 0 : places.at(stream));
    if (grouped.call.stream != nullptr || !grouped.communicator->options().blocking) {
      hand_over(grouped.communicator);
      in_progress |= !grouped.communicator->options().blocking;
    } else {
      waiting.push_back({grouped.communicator, std::move(ticket)});
    }
  }
  order.unlock();
  const Status status = wait_for_tickets(waiting);
  if (!status.ok()) return status;
  return in_progress ? Status(Code::kInProgress, "the group's operations are running") : Status();
}

}  // namespace

std::mutex& issue_order() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

namespace {

// Attends to all communicators of a wait, each once.
class Attendance {
 public:
  explicit Attendance(const std::vector<Waiting>& waiting) : waiting_(waiting) {
    for_each([](Communicator& communicator) { communicator.attend(); });
  }
  ~Attendance() {
    for_each([](Communicator& communicator) { communicator.unattend(false); });
  }
  Attendance(const Attendance&) = delete;
  Attendance& operator=(const Attendance&) = delete;

 private:
  template <class Visit>
  void for_each(Visit visit) {
    for (size_t i = 0; i < waiting_.size(); ++i)
      if (i == 0 || waiting_[i].communicator != waiting_[i - 1].communicator) visit(*waiting_[i].communicator);
  }
  const std::vector<Waiting>& waiting_;
};

}  // namespace

Status wait_for_tickets(const std::vector<Waiting>& waiting) {
  const Attendance attendance(waiting);
  Status first;
  uint32_t round = 0;
  for (size_t next = 0; next < waiting.size();) {
    const Waiting& head = waiting[next];
    if (head.ticket->done.load(std::memory_order_acquire)) {
      if (first.ok() && !head.ticket->status.ok()) first = head.ticket->status;
      ++next;
      continue;
    }
    bool moved = false;
    for (size_t i = next; i < waiting.size(); ++i) {
      if (i == next || waiting[i].communicator != waiting[i - 1].communicator)
        moved |= waiting[i].communicator->progress();
    }
    if (moved) {
      round = 0;
      continue;
    }
    Waiter& waiter = head.communicator->waiter();
    if (waiter.pause(&round)) {
      for (size_t i = next; i < waiting.size(); ++i) {
        if (i == next || waiting[i].communicator != waiting[i - 1].communicator) waiting[i].communicator->look_after();
      }
    }
    // With several communicators a ring on another one's doorbell does not wake this thread: it only naps then.
    if (waiter.sleepy(round) && waiting.size() - next > 1) {
      Waiter::nap();
    } else {
      head.communicator->sleep_if_due(round, [&head] {
        return !head.communicator->progress() && !head.ticket->done.load(std::memory_order_acquire);
      });
    }
  }
  return first;
}

Status submit(Communicator* communicator, const Call& call) {
  const Use use(communicator);
  if (!use) return dead_handle(communicator);
  if (group.depth > 0) {
    group.calls.push_back({communicator, call});
    return {};
  }
  TUTTI_RETURN_IF_ERROR(communicator->usable());
  if (call.count == 0) return {};
  Status status;
  if (call.stream == nullptr && communicator->run_now(call, &status)) return status;
  std::shared_ptr<Ticket> ticket;
  {
    const std::lock_guard order(issue_order());
    ticket = communicator->issue(call, call.stream == nullptr ? 0 : call.stream->issue(1));
  }
  if (call.stream == nullptr && communicator->options().blocking)
    return wait_for_tickets({{communicator, std::move(ticket)}});
  hand_over(communicator);
  return communicator->options().blocking ? Status() : Status(Code::kInProgress, "the operation is running");
}

void group_add_init(std::function<Status()> work, std::function<void(bool)> commit) {
  group.inits.push_back({std::move(work), std::move(commit)});
}

void group_refuse(const Status& status) {
  if (group.depth > 0 && group.error.ok()) group.error = status;
}

bool in_group() {
  return group.depth > 0;
}

Status group_start() {
  ++group.depth;
  return {};
}

Status group_end() {
  if (group.depth == 0) return Status(Code::kInvalidUsage, "ncclGroupEnd: not in a group call.");
  if (--group.depth > 0) return {};
  std::vector<GroupedInit> inits = std::exchange(group.inits, {});
  std::vector<GroupedCall> calls = std::exchange(group.calls, {});
  if (Status refused = std::exchange(group.error, {}); !refused.ok()) {
    for (const GroupedInit& init : inits) init.commit(false);
    return refused;
  }
  TUTTI_RETURN_IF_ERROR(run_inits(std::move(inits)));
  std::erase_if(calls, [](const GroupedCall& grouped) { return grouped.call.count == 0; });
  return run_calls(calls);
}

}  // namespace tutti::runtime
