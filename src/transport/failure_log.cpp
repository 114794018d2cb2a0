#include "transport/failure_log.h"

#include <algorithm>

namespace tutti::transport {

void FailureLog::add(int peer, Status status, Doorbell& bell) {
  {
    std::lock_guard lock(mutex_);
    const auto same = [peer](const Failure& failure) { return failure.peer == peer; };
    if (std::any_of(failures_.begin(), failures_.end(), same)) return;
    failures_.push_back({peer, std::move(status)});
    any_.store(true, std::memory_order_release);
  }
  bell.ring();
}

bool FailureLog::has(int peer) const {
  if (!any()) return false;
  std::lock_guard lock(mutex_);
  return std::any_of(failures_.begin(), failures_.end(), [peer](const Failure& f) { return f.peer == peer; });
}

std::vector<Failure> FailureLog::list() const {
  std::lock_guard lock(mutex_);
  return failures_;
}

}  // namespace tutti::transport
