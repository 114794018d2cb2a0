// The calls of runtime.h that concern communicators and collectives.
#include "runtime/runtime.h"

#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/config.h"
#include "runtime/assemble.h"
#include "runtime/communicator.h"
#include "runtime/fork.h"
#include "runtime/group.h"
#include "runtime/progress.h"
#include "runtime/registry.h"

namespace tutti::runtime {

namespace {

using Clock = std::chrono::steady_clock;

// Communicators whose handle is dead. Their memory stays for a while: a thread that raced with the end may still be
// about to find out (registry.cpp, Use).
class Graveyard {
 public:
  std::mutex mutex;

  void bury(std::unique_ptr<Communicator> communicator) {
    const std::lock_guard lock(mutex);
    const auto now = Clock::now();
    std::erase_if(graves_, [now](const Grave& grave) {
      return now - grave.since > std::chrono::seconds(5) && grave.communicator->users.load() == 0;
    });
    graves_.push_back({now, std::move(communicator)});
  }

 private:
  struct Grave {
    Clock::time_point since;
    std::unique_ptr<Communicator> communicator;
  };
  std::vector<Grave> graves_;
};
Graveyard& graveyard() {
  static auto* instance = new Graveyard;
  return *instance;
}

void wait_for_users(const Communicator& communicator) {
  while (communicator.users.load(std::memory_order_acquire) != 0) Waiter::nap();
}

// Ends a communicator whose handle nobody can find any more.
void bury(std::unique_ptr<Communicator> communicator, bool orderly) {
  wait_for_users(*communicator);
  progress_remove(communicator.get());
  communicator->release(orderly);
  graveyard().bury(std::move(communicator));
}

// The same, if the handle is still alive: another thread may have aborted the communicator.
void bury_if_alive(Communicator* communicator) {
  if (std::unique_ptr<Communicator> owned = registry_remove(communicator)) bury(std::move(owned), false);
}

// Ends the initialisation of `communicator`, whichever way it went.
void initialised(Communicator* communicator, const Status& status) {
  if (communicator->nranks() > 1) progress_add(communicator);
  communicator->finish_initialising(status);
}

// Initialises `communicator` by `join`. The hold on it keeps an abort by another thread from freeing it meanwhile.
Status initialise(Communicator* communicator, const std::function<Status()>& join) {
  const Use use(communicator);
  if (!use) return dead_handle(communicator);
  const Status status = join();
  initialised(communicator, status);
  return status;
}

Status still_in_group() {
  return Status(Code::kInvalidUsage,
                "the communicator is initialised at the end of the open group; it cannot end before");
}

// Carries out what was issued, unless it cannot be any more.
void run_to_the_end(Communicator& communicator) {
  uint32_t round = 0;
  while (communicator.busy() && !communicator.broken()) {
    if (communicator.progress()) {
      round = 0;
    } else if (communicator.waiter().pause(&round)) {
      communicator.look_after();
      if (communicator.waiter().sleepy(round)) Waiter::nap();
    }
  }
}

}  // namespace

std::mutex& graveyard_mutex() {
  return graveyard().mutex;
}

Result<std::array<char, 128>> get_unique_id() {
  TUTTI_RETURN_IF_ERROR(process_config().status());
  return make_unique_id();
}

Status comm_init_rank(Communicator** out, int nranks, const std::array<char, 128>& id, int rank,
                      const CommOptions& options) {
  TUTTI_RETURN_IF_ERROR(process_config().status());
  prepare_for_forks();
  Communicator* communicator = registry_add(std::make_unique<Communicator>(rank, nranks, rank, options));
  communicator->set_initialising();
  *out = communicator;
  const auto deadline = Clock::now() + process_config()->init_timeout;
  const auto join = [communicator, id, deadline] { return join_by_id(*communicator, id, deadline); };
  if (in_group()) {
    communicator->set_waits_for_group(true);
    group_add_init(join, [communicator, out](bool all_good) {
      communicator->set_waits_for_group(false);
      initialised(communicator, Status());
      if (all_good) return;
      bury_if_alive(communicator);
      *out = nullptr;
    });
    return {};
  }
  if (options.blocking) {
    const Status status = initialise(communicator, join);
    if (!status.ok()) {
      bury_if_alive(communicator);
      *out = nullptr;
    }
    return status;
  }
  std::thread([communicator, join] { set_last_error(initialise(communicator, join)); }).detach();
  return Status(Code::kInProgress, "the communicator is initialising");
}

Status comm_init_all(Communicator** out, int n, const int* devices) {
  TUTTI_RETURN_IF_ERROR(process_config().status());
  prepare_for_forks();
  std::vector<Communicator*> made;
  for (int i = 0; i < n; ++i) {
    made.push_back(
        registry_add(std::make_unique<Communicator>(i, n, devices == nullptr ? i : devices[i], CommOptions{})));
    made.back()->set_initialising();
  }
  const Status status = join_in_this_process(made, Clock::now() + process_config()->init_timeout);
  for (int i = 0; i < n; ++i) {
    Communicator* communicator = made[static_cast<size_t>(i)];
    initialised(communicator, Status());
    out[i] = communicator;
    if (status.ok()) continue;
    bury_if_alive(communicator);
    out[i] = nullptr;
  }
  return status;
}

bool comm_is_valid(const void* handle) {
  return registry_contains(handle);
}

Status comm_finalize(Communicator* communicator) {
  const Use use(communicator);
  if (!use) return dead_handle(communicator);
  TUTTI_RETURN_IF_ERROR(use->usable());
  use->set_finalized();
  if (!use->options().blocking) return use->busy() ? Status(Code::kInProgress, "operations are unfinished") : Status();
  run_to_the_end(*use.get());
  return use->broken() ? use->error_status() : Status();
}

Status comm_destroy(Communicator* communicator) {
  {
    const Use use(communicator);
    if (!use) return dead_handle(communicator);
    if (use->waits_for_group()) return still_in_group();
    while (use->initialising()) Waiter::nap();
    run_to_the_end(*use.get());
  }
  std::unique_ptr<Communicator> owned = registry_remove(communicator);
  if (owned == nullptr) return dead_handle(communicator);
  bury(std::move(owned), true);
  return {};
}

Status comm_abort(Communicator* communicator) {
  {
    const Use use(communicator);
    if (!use) return dead_handle(communicator);
    if (use->waits_for_group()) return still_in_group();
    use->abort_begin();
  }
  // The thread that was initialising it may have freed it by now, on account of this abort.
  bury_if_alive(communicator);
  return {};
}

Status comm_async_error(Communicator* communicator, Status* out) {
  const Use use(communicator);
  if (!use) return dead_handle(communicator);
  if (Status failure = use->pending_error(); !failure.ok()) {
    *out = std::move(failure);
  } else if (use->initialising() || (!use->options().blocking && use->busy())) {
    *out = Status(Code::kInProgress, "operations are unfinished");
  } else {
    *out = Status();
  }
  return {};
}

int comm_count(const Communicator* communicator) {
  return communicator->nranks();
}
int comm_rank(const Communicator* communicator) {
  return communicator->rank();
}
int comm_device(const Communicator* communicator) {
  return communicator->device();
}

Status all_reduce(Communicator* communicator, const void* send, void* recv, uint64_t count, DataType type,
                  const ReduceSpec& reduce, void* stream) {
  Call call;
  call.kind = Collective::kAllReduce;
  call.send = send;
  call.recv = recv;
  call.count = count;
  call.type = type;
  call.reduce = reduce;
  if (stream != nullptr) {
    call.stream = find_stream(stream);
    if (call.stream == nullptr)
      return error(Code::kInvalidArgument, "AllReduce: stream {} is not one that tuttiStreamCreate made", stream);
  }
  return submit(communicator, call);
}

Status red_op_create_premulsum(Communicator* communicator, const void* scalar, DataType type, bool read_later,
                               int* op_out) {
  const Use use(communicator);
  if (!use) return dead_handle(communicator);
  *op_out = use->red_ops().create(type, scalar, read_later);
  return {};
}

Status red_op_lookup(Communicator* communicator, int op, DataType type, ReduceSpec* out) {
  const Use use(communicator);
  if (!use) return dead_handle(communicator);
  return use->red_ops().lookup(op, type, out);
}

Status red_op_destroy(Communicator* communicator, int op) {
  const Use use(communicator);
  if (!use) return dead_handle(communicator);
  return use->red_ops().destroy(op);
}

}  // namespace tutti::runtime
