#include "common/watchdog.h"

#include "common/exit.h"

namespace tutti::perf {

Watchdog::Watchdog(int seconds) : allowed_(seconds) {
  if (seconds > 0) thread_ = std::thread([this] { run(); });
}

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::watch(const std::string& what) {
  if (!thread_.joinable()) return;
  const std::lock_guard lock(mutex_);
  what_ = what;
  since_ = std::chrono::steady_clock::now();
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    changed_.wait_for(lock, std::chrono::milliseconds(100));
    if (!stop_ && std::chrono::steady_clock::now() - since_ > allowed_)
      fail(kExitTimeout, "Test timeout (%llds) in %s", static_cast<long long>(allowed_.count()), what_.c_str());
  }
}

}  // namespace tutti::perf
