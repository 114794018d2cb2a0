#include "runtime/progress.h"

#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "base/log.h"
#include "runtime/communicator.h"

namespace tutti::runtime {

namespace {

// While operations run that nobody waits for, the thread yields this often without finding anything before it sleeps.
constexpr int kIdleYields = 500;
constexpr int kSleepMilliseconds = 1;
// How soon it looks again at a communicator that a thread of the program attends to.
constexpr int kAttendedMilliseconds = 2;

class ProgressThread {
 public:
  // Lives as long as the process; a forked child gets one of its own.
  static std::atomic<ProgressThread*>& current() {
    static std::atomic<ProgressThread*> thread{new ProgressThread};
    return thread;
  }
  static ProgressThread& instance() { return *current().load(std::memory_order_acquire); }
  static void forget() { current().store(new ProgressThread, std::memory_order_release); }
  std::mutex& mutex() { return mutex_; }

  void add(Communicator* communicator) {
    const std::lock_guard lock(mutex_);
    if (std::find(communicators_.begin(), communicators_.end(), communicator) != communicators_.end()) return;
    communicators_.push_back(communicator);
    watch(communicator->control() == nullptr ? -1 : communicator->control()->wait_descriptor(), EPOLLIN);
    for (const auto& transport : communicator->transports())
      watch(transport->wait_descriptor(), EPOLLIN | EPOLLONESHOT, communicator);
    if (!started_) {
      started_ = true;
      std::thread([this] { run(); }).detach();
    }
  }

  void remove(Communicator* communicator) {
    const std::lock_guard lock(mutex_);
    const auto it = std::find(communicators_.begin(), communicators_.end(), communicator);
    if (it == communicators_.end()) return;
    communicators_.erase(it);
    unwatch(communicator->control() == nullptr ? -1 : communicator->control()->wait_descriptor());
    for (const auto& transport : communicator->transports()) unwatch(transport->wait_descriptor());
  }

  void wake() const {
    const uint64_t one = 1;
    // A full counter means that a wake is pending already.
    [[maybe_unused]] const ssize_t written = write(event_, &one, sizeof one);
  }

  bool drive_all() {
    const std::lock_guard lock(mutex_);
    bool moved = false;
    for (Communicator* communicator : communicators_) {
      const bool this_moved = communicator->progress();
      if (!this_moved && communicator->busy()) communicator->look_after();
      moved |= this_moved;
    }
    return moved;
  }

 private:
  ProgressThread() : epoll_(epoll_create1(EPOLL_CLOEXEC)), event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    watch(event_, EPOLLIN);
  }

  // `owner`: the communicator whose transport has the descriptor; it is then marked at an event.
  void watch(int descriptor, uint32_t events, Communicator* owner = nullptr, int how = EPOLL_CTL_ADD) const {
    if (descriptor < 0) return;
    epoll_event event{};
    event.events = events;
    event.data.ptr = owner;
    if (epoll_ctl(epoll_, how, descriptor, &event) != 0)
      log_warn("the progress thread cannot watch descriptor {}: errno {}", descriptor, errno);
  }
  // After an event each descriptor of a transport is silent until it is watched again.
  void watch_again(Communicator* communicator) const {
    if (!communicator->unwatched.exchange(false, std::memory_order_seq_cst)) return;
    for (const auto& transport : communicator->transports())
      watch(transport->wait_descriptor(), EPOLLIN | EPOLLONESHOT, communicator, EPOLL_CTL_MOD);
  }
  void unwatch(int descriptor) const {
    if (descriptor >= 0) epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
  }

  // Sleeps until a descriptor is ready or `milliseconds` have passed.
  void sleep(int milliseconds) {
    std::array<epoll_event, 16> ready;
    const int n = epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), milliseconds);
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = read(event_, &count, sizeof count);
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < n; ++i) {
      // One that was removed meanwhile is not touched.
      const auto owner =
          std::find(communicators_.begin(), communicators_.end(), ready[static_cast<size_t>(i)].data.ptr);
      if (owner != communicators_.end()) (*owner)->unwatched.store(true, std::memory_order_seq_cst);
    }
  }

  struct Pass {
    bool busy = false;      // something is unfinished that no other thread runs
    bool attended = false;  // some transport's descriptor is left alone
    bool moved = false;
  };
  Pass pass(bool look_after) {
    const std::lock_guard lock(mutex_);
    Pass result;
    for (Communicator* communicator : communicators_) {
      communicator->serve_control();
      communicator->notice_failures();
      if (communicator->attended()) {
        result.attended |= communicator->unwatched.load(std::memory_order_seq_cst);
        continue;
      }
      for (const auto& transport : communicator->transports()) result.moved |= transport->progress();
      watch_again(communicator);
      if (!communicator->busy() || communicator->claimed()) continue;
      result.busy = true;
      result.moved |= communicator->progress();
      if (look_after) communicator->look_after();
    }
    return result;
  }

  void run() {
    pthread_setname_np(pthread_self(), "tutti-progress");
    int idle = 0;
    for (;;) {
      const Pass done = pass(idle % 16 == 15);
      if (done.moved) {
        idle = 0;
      } else if (!done.busy) {
        sleep(done.attended ? kAttendedMilliseconds : kTickMilliseconds);
        idle = 0;
      } else if (++idle < kIdleYields) {
        sched_yield();
      } else {
        sleep(kSleepMilliseconds);
      }
    }
  }

  static constexpr int kTickMilliseconds = 100;

  const int epoll_;
  const int event_;
  std::mutex mutex_;
  std::vector<Communicator*> communicators_;
  bool started_ = false;
};

}  // namespace

void progress_add(Communicator* communicator) {
  ProgressThread::instance().add(communicator);
}
void progress_remove(Communicator* communicator) {
  ProgressThread::instance().remove(communicator);
}
std::mutex& progress_mutex() {
  return ProgressThread::instance().mutex();
}
void progress_forget() {
  ProgressThread::forget();
}
void progress_wake() {
  ProgressThread::instance().wake();
}
bool drive_all_communicators() {
  return ProgressThread::instance().drive_all();
}

}  // namespace tutti::runtime
