// One epoll descriptor with handlers behind it, and a timer that makes it readable. See epoll(7), timerfd_create(2).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "base/status.h"

namespace tutti::transport {

// watch, change, forget and poll: by whoever owns the claim of the transport. wake_after: any thread.
class Poller {
 public:
  class Handler {
   public:
    virtual void on_ready(uint32_t events) = 0;  // EPOLL...; spurious calls happen

   protected:
    ~Handler() = default;
  };

  static Result<std::unique_ptr<Poller>> create();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  int descriptor() const { return epoll_; }  // readable when poll() has something to do

  Status watch(int fd, uint32_t events, Handler* handler);
  void change(int fd, uint32_t events);
  // Before the descriptor is closed. The handler is not called again, also not for events that were already fetched.
  void forget(int fd);

  // Calls the handlers of all that is ready now. Never waits. True when a handler was called.
  bool poll();
  // Makes descriptor() readable in `delay` or earlier, so that somebody who waits for it calls poll(). Costs a system
  // call when no earlier request is pending.
  void wake_after(std::chrono::nanoseconds delay);

 private:
  struct Entry {
    Handler* handler;
    uint32_t generation;
  };
  Poller(int epoll, int timer) : epoll_(epoll), timer_(timer) {}
  void timer_fired();

  const int epoll_;
  const int timer_;
  std::atomic<bool> timer_set_{false};
  uint32_t generation_ = 0;
  std::unordered_map<int, Entry> entries_;
};

}  // namespace tutti::transport
