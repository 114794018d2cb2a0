#include "runtime/waiter.h"

#include <sched.h>

#include <thread>

namespace tutti::runtime {

namespace {

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Rounds between looks at the slow side: often enough to notice a failure within milliseconds, also when each round is
// a yield that lets seven other ranks run first.
constexpr uint32_t kSpinsPerLook = 1024;
constexpr uint32_t kYieldsPerLook = 32;

}  // namespace

void Waiter::configure(transport::Doorbell* doorbell, bool crowded, bool carried) {
  doorbell_ = doorbell;
  spins_ = crowded ? 0 : 2000;
  sleep_after_ = spins_ + (crowded ? 1000 : 2000);
  longest_sleep_ = std::chrono::milliseconds(carried ? 5 : 20);
}

void Waiter::nap() {
  std::this_thread::sleep_for(std::chrono::microseconds(100));
}

bool Waiter::pause(uint32_t* round) {
  const uint32_t now = (*round)++;
  if (now < spins_) {
    relax();
    return now % kSpinsPerLook == kSpinsPerLook - 1;
  }
  if (now < sleep_after_) {
    sched_yield();
    return (now - spins_) % kYieldsPerLook == kYieldsPerLook - 1;
  }
  *round = sleep_after_;  // stays here until something moves
  return true;
}

}  // namespace tutti::runtime
