#include "transport/poller.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>

namespace tutti::transport {
namespace {

constexpr int kEvents = 64;

// The descriptor and the number of its registration: an event that was fetched before a descriptor number was closed
// and given out again is told from one of the new owner.
uint64_t token(int fd, uint32_t generation) {
  return (uint64_t{generation} << 32) | static_cast<uint32_t>(fd);
}

}  // namespace

Result<std::unique_ptr<Poller>> Poller::create() {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return system_error(errno, "epoll_create1");
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = token(timer, 0);
  if (timer < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event) != 0) {
    const int cause = errno;
    if (timer >= 0) close(timer);
    close(epoll);
    return system_error(cause, "timerfd_create");
  }
  return std::unique_ptr<Poller>(new Poller(epoll, timer));
}

Poller::~Poller() {
  close(timer_);
  close(epoll_);
}

Status Poller::watch(int fd, uint32_t events, Handler* handler) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = token(fd, ++generation_);
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) return system_error(errno, "epoll_ctl for descriptor {}", fd);
  entries_[fd] = Entry{handler, generation_};
  return {};
}

void Poller::change(int fd, uint32_t events) {
  const auto entry = entries_.find(fd);
  if (entry == entries_.end()) return;
  epoll_event event{};
  event.events = events;
  event.data.u64 = token(fd, entry->second.generation);
  epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
}

void Poller::forget(int fd) {
  if (entries_.erase(fd) != 0) epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
}

bool Poller::poll() {
  epoll_event events[kEvents];
  const int count = epoll_wait(epoll_, events, kEvents, 0);
  bool called = false;
  for (int i = 0; i < count; ++i) {
    const int fd = static_cast<int>(events[i].data.u64 & UINT32_MAX);
    if (fd == timer_) {
      timer_fired();
      continue;
    }
    const auto entry = entries_.find(fd);
    if (entry == entries_.end() || token(fd, entry->second.generation) != events[i].data.u64) continue;
    entry->second.handler->on_ready(events[i].events);
    called = true;
  }
  return called;
}

void Poller::timer_fired() {
  uint64_t expirations = 0;
  // Before the flag: a request that comes in between sets the timer anew.
  [[maybe_unused]] const ssize_t size = read(timer_, &expirations, sizeof expirations);
  timer_set_.store(false, std::memory_order_seq_cst);
}

void Poller::wake_after(std::chrono::nanoseconds delay) {
  if (timer_set_.load(std::memory_order_relaxed) || timer_set_.exchange(true, std::memory_order_seq_cst)) return;
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(delay.count() / 1'000'000'000);
  when.it_value.tv_nsec = static_cast<long>(delay.count() % 1'000'000'000);
  timerfd_settime(timer_, 0, &when, nullptr);
}

}  // namespace tutti::transport
