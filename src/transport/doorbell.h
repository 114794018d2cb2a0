// How a rank that sleeps is woken by one that has just handed it something, across processes.
//
// A doorbell belongs to one rank of one communicator and may lie in memory shared with other processes. Ringing costs a
// fence and one load while nobody sleeps, and a futex call only when somebody does.
// See Linux futex(2); FUTEX_WAIT without FUTEX_PRIVATE_FLAG, so that it works on shared mappings.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tutti::transport {

struct alignas(64) Doorbell {
  std::atomic<uint32_t> value{0};  // changes at every ring that found a sleeper
  std::atomic<uint32_t> sleepers{0};

  // Any thread of any process. Never blocks. Everything written before it is seen by the woken thread.
  void ring() {
    fence();
    ring_after_fence();
  }
  // The halves of ring(), for several doorbells at once: a fence waits until all writes before it have arrived, which
  // costs most when other cores hold their lines.
  // Orders the caller's message before the look at `sleepers`; pairs with the fence in prepare_sleep().
  static void fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
  void ring_after_fence() {
    if (sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake();
  }

  // To sleep: ticket = prepare_sleep(); look once more whether there is something to do; then sleep(ticket, ...) or
  // cancel_sleep(). A ring between prepare_sleep() and sleep() makes sleep() return at once.
  uint32_t prepare_sleep() {
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    return value.load(std::memory_order_seq_cst);
  }
  void cancel_sleep() { sleepers.fetch_sub(1, std::memory_order_relaxed); }
  // Returns after a ring, after `longest`, or spuriously. Ends what prepare_sleep() began.
  void sleep(uint32_t ticket, std::chrono::nanoseconds longest);

  // Wakes whoever sleeps, whether or not a message was written.
  void wake();
};

}  // namespace tutti::transport
