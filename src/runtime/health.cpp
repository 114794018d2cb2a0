// The part of Communicator that finds out what goes wrong and whom to blame.
#include "base/config.h"
#include "base/log.h"
#include "runtime/communicator.h"
#include "runtime/progress.h"

namespace tutti::runtime {

using bootstrap::Notice;
using Clock = std::chrono::steady_clock;

namespace {

// A broken connection is explained by the control network within this time, if its peer died or left.
constexpr auto kExplanation = std::chrono::milliseconds(150);
// Messages of a rank that has left are on their way no longer than this where memory is the wire.
constexpr auto kStragglers = std::chrono::seconds(2);

}  // namespace

Status Communicator::error_status() const {
  const std::lock_guard lock(health_mutex_);
  return error_;
}

void Communicator::fail(const Status& status, Tell tell) {
  Status cause;
  {
    const std::lock_guard lock(health_mutex_);
    if (!error_.ok()) return;
    // A disagreement is the cause of what follows from it (aborts, connections that close).
    error_ = later_error_.ok() ? status : later_error_;
    cause = error_;
  }
  log_warn("rank {}: {}", rank_, cause.text());
  set_last_error(cause);
  broken_.store(true, std::memory_order_release);
  if (tell == Tell::kEverybody && bootstrap_ != nullptr) {
    Notice notice;
    notice.kind = Notice::Kind::kFailed;
    notice.rank = rank_;
    notice.text = cause.text();
    bootstrap_->send(notice);
  }
  waiter_.wake();
  if (busy()) progress_wake();
}

void Communicator::fail_from(uint32_t sequence, const Status& status) {
  const std::lock_guard lock(health_mutex_);
  if (!error_.ok() || !later_error_.ok()) return;
  later_error_ = status;
  later_sequence_ = sequence;
  later_.store(true, std::memory_order_release);
}

Status Communicator::pending_error() const {
  const std::lock_guard lock(health_mutex_);
  return error_.ok() ? later_error_ : error_;
}

// Numbers wrap, hence the signed differences.
void Communicator::apply_later_error() {
  if (!later_.load(std::memory_order_acquire)) return;
  for (const Operation& op : flights_) {
    if (op.state == OperationState::kActive && static_cast<int32_t>(op.fingerprint.sequence - later_sequence_) < 0)
      return;
  }
  if (static_cast<int32_t>(next_sequence_ - later_sequence_) > 0) fail(pending_error(), Tell::kNobody);
}

std::string Communicator::name_of_rank(int rank) const {
  return rank >= 0 && rank < static_cast<int>(members_.size()) ? members_[static_cast<size_t>(rank)].peer.name()
                                                               : fmt::format("rank {}", rank);
}

Status Communicator::disagreement_status(int rank, const Fingerprint& mine, int other,
                                         const Fingerprint& theirs) const {
  return error(Code::kInvalidUsage, "ranks disagree on an operation: {} called {}, but {} called {}",
               name_of_rank(rank), describe(mine, theirs), name_of_rank(other), describe(theirs, mine));
}

void Communicator::disagree(const Operation& op, const Disagreement& found) {
  Notice notice;
  notice.kind = Notice::Kind::kDisagreement;
  notice.rank = rank_;
  notice.other = found.peer;
  notice.mine = op.fingerprint;
  notice.theirs = found.theirs;
  bootstrap_->send(notice);
  fail(disagreement_status(rank_, op.fingerprint, found.peer, found.theirs), Tell::kNobody);
}

void Communicator::serve_control() {
  if (bootstrap_ == nullptr) return;
  for (const Notice& notice : bootstrap_->receive()) {
    switch (notice.kind) {
      case Notice::Kind::kDied:
        fail(error(Code::kRemoteError, "{} died or lost its network: its control connection closed without good-bye",
                   name_of_rank(notice.rank)),
             Tell::kNobody);
        break;
      case Notice::Kind::kAborted:
        fail(error(Code::kRemoteError, "{} aborted the communicator", name_of_rank(notice.rank)), Tell::kNobody);
        break;
      case Notice::Kind::kDisagreement:
        fail_from(notice.mine.sequence, disagreement_status(notice.rank, notice.mine, notice.other, notice.theirs));
        break;
      case Notice::Kind::kFailed:
        fail(error(Code::kRemoteError, "{} failed: {}", name_of_rank(notice.rank), notice.text), Tell::kNobody);
        break;
      case Notice::Kind::kLeft: {
        const std::lock_guard lock(health_mutex_);
        left_[static_cast<size_t>(notice.rank)] = Clock::now();
        break;
      }
    }
  }
}

bool Communicator::has_left(int rank, Clock::time_point* when) const {
  const std::lock_guard lock(health_mutex_);
  const auto& at = left_[static_cast<size_t>(rank)];
  if (!at.has_value()) return false;
  *when = *at;
  return true;
}

void Communicator::look_after() {
  if (!try_claim()) return;
  inspect();
  unclaim();
}

void Communicator::inspect() {
  // Also those that the fast path skips: the progress thread keeps away from a communicator that is attended to.
  for (const auto& transport : transports_) transport->progress();
  if (!broken()) apply_later_error();
  if (!broken()) check_transports();
  if (!broken()) {
    for (Operation& op : flights_) {
      if (op.state != OperationState::kActive) continue;
      check_deadline(op);
      if (broken() || find_foreign_message(op)) break;
    }
  }
  if (broken()) end_all(error_status());
}

// Both the claim's holder and the progress thread look.
bool Communicator::explanation_is_over() {
  const std::lock_guard lock(health_mutex_);
  const auto now = Clock::now();
  if (!first_failure_.has_value()) first_failure_ = now;
  return now - *first_failure_ >= kExplanation;
}

void Communicator::check_transports() {
  Clock::time_point left;
  for (const auto& transport : transports_) {
    if (!transport->failed()) continue;
    for (const transport::Failure& failure : transport->failures()) {
      if (failure.peer >= 0 && has_left(failure.peer, &left)) continue;
      // The control network usually knows more (died, aborted, left): give it a moment.
      if (!explanation_is_over()) return;
      fail(failure.status, Tell::kEverybody);
      return;
    }
  }
}

void Communicator::check_deadline(Operation& op) {
  const auto now = Clock::now();
  if (op.deadline == Clock::time_point{}) op.deadline = now + timeout_;
  const char* what = "";
  const int peer = executor_.waits_for(op, &what);
  if (peer < 0) return;
  Clock::time_point left;
  if (has_left(peer, &left) && now - left > kStragglers && !still_carries(peer)) {
    fail(error(Code::kRemoteError, "{} has destroyed its communicator, but this rank waits for {} it in {}",
               name_of_rank(peer), what, describe(op.fingerprint, op.fingerprint)),
         Tell::kEverybody);
    return;
  }
  if (now < op.deadline || timeout_.count() == 0) return;
  fail(error(Code::kTimeout, "{} waited {} s (TUTTI_TIMEOUT) for {} {}", describe(op.fingerprint, op.fingerprint),
             timeout_.count(), what, name_of_rank(peer)),
       Tell::kEverybody);
}

// Whether messages of a rank that has left may still be on the wire.
bool Communicator::still_carries(int peer) const {
  const transport::Transport& transport = *route_[static_cast<size_t>(peer)];
  if (!transport.carries()) return false;
  for (const transport::Failure& failure : transport.failures())
    if (failure.peer == peer) return false;
  return true;
}

// A rank that runs another plan may send on connections that ours does not use.
bool Communicator::find_foreign_message(Operation& op) {
  for (const auto& transport : transports_) {
    for (const int peer : transport->receivers()) {
      if (route_[static_cast<size_t>(peer)] != transport.get()) continue;
      transport::RecvEnd* end = transport->receiver(peer);
      if (end == nullptr) continue;
      for (uint32_t lane = 0; lane < shape_.lanes; ++lane) {
        const transport::SlotHeader* message = end->queue(op.flight, lane).peek();
        if (message == nullptr || message->fingerprint == op.fingerprint ||
            message->fingerprint.sequence != op.fingerprint.sequence)
          continue;
        disagree(op, Disagreement{peer, message->fingerprint});
        return true;
      }
    }
  }
  return false;
}

void Communicator::abort_begin() {
  stop_.store(true, std::memory_order_release);
  // Until it is initialised the communicator belongs to the thread that does that, and which ends now.
  while (initialising()) Waiter::nap();
  if (bootstrap_ != nullptr && !broken()) {
    Notice notice;
    notice.kind = Notice::Kind::kAborted;
    notice.rank = rank_;
    bootstrap_->send(notice);
  }
  fail(Status(Code::kInvalidUsage, "the communicator was aborted by this process"), Tell::kNobody);
}

// What was sent must have been received before the sockets close, unless a peer does not take it.
void Communicator::drain_transports() {
  const auto until = Clock::now() + std::chrono::seconds(5);
  for (const auto& transport : transports_) {
    while (!transport->drained() && !broken() && Clock::now() < until) {
      if (!transport->progress()) Waiter::nap();
    }
  }
}

// Other processes' ranks over a wire that closing would cut short: wait a moment for their good-byes.
void Communicator::wait_for_departures() {
  const auto until = Clock::now() + std::chrono::seconds(1);
  Clock::time_point left;
  for (int peer = 0; peer < nranks_; ++peer) {
    if (peer == rank_ || !route_[static_cast<size_t>(peer)]->carries() ||
        members_[static_cast<size_t>(peer)].peer.process == members_[static_cast<size_t>(rank_)].peer.process)
      continue;
    while (!broken() && !has_left(peer, &left) && Clock::now() < until) {
      carry_transports();
      serve_control();
      Waiter::nap();
    }
  }
}

void Communicator::release(bool orderly) {
  while (!try_claim()) Waiter::nap();
  end_all(broken() ? error_status() : Status(Code::kInvalidUsage, "the communicator was destroyed"));
  if (bootstrap_ != nullptr && orderly && !broken()) {
    drain_transports();
    bootstrap_->leave();
    wait_for_departures();
  }
  flights_ = std::vector<Operation>();  // clear() would keep their memory for as long as the shell is kept
  plans_ = PlanCache();
  scratch_.clear();
  transports_.clear();
  route_.clear();
  bootstrap_.reset();
  waiter_.configure(nullptr, true, false);
  doorbell_page_.reset();
  // The claim is kept: nothing runs on a released communicator.
}

}  // namespace tutti::runtime
