// How a thread waits while it makes progress: it spins briefly, then yields for a bounded time, then sleeps on the
// doorbell. With more ranks on a node than cores, spinning keeps the very rank from running that one waits for: then it
// yields at once.
#pragma once

#include <chrono>
#include <cstdint>

#include "transport/doorbell.h"

namespace tutti::runtime {

class Waiter {
 public:
  // doorbell: rung by whoever hands this rank something. crowded: more ranks than cores on this node.
  // carried: messages also come through descriptors, and the ring is only that of the progress thread: sleep shorter.
  void configure(transport::Doorbell* doorbell, bool crowded, bool carried);

  // One round of waiting after a look that found nothing to do. Returns true when it is time to look at the slow side
  // (connections, health, deadlines) before the next round.
  bool pause(uint32_t* round);

  // Sleeps if `round` has come to that point and `idle()` still finds nothing to do; ends by a ring or after a moment.
  template <class Idle>
  void sleep_if_due(uint32_t round, Idle idle) {
    if (doorbell_ == nullptr || round < sleep_after_) return;
    const uint32_t ticket = doorbell_->prepare_sleep();
    if (!idle()) {
      doorbell_->cancel_sleep();
      return;
    }
    doorbell_->sleep(ticket, longest_sleep_);
  }
  // True when `round` has come to the point of sleeping.
  bool sleepy(uint32_t round) const { return round >= sleep_after_; }
  // Sleeps for a moment, whatever happens.
  static void nap();
  void wake() {
    if (doorbell_ != nullptr) doorbell_->ring();
  }

 private:
  transport::Doorbell* doorbell_ = nullptr;
  uint32_t spins_ = 2000;
  uint32_t sleep_after_ = 4000;
  std::chrono::nanoseconds longest_sleep_{std::chrono::milliseconds(20)};
};

}  // namespace tutti::runtime
