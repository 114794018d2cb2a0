// The bounded queue of slots through which one rank hands messages to another. Read this first, then transport.h.
//
// All transports use the same memory layout, so that the executor (and later a CUDA kernel) fills and empties slots
// with plain loads and stores and never calls a transport for each message:
//
//   in_process, shm   both ends map the same ring: publishing is one release store into the slot itself
//   tcp, rdma         each end has a ring of its own; the transport's progress() carries published slots over the wire
//
// A queue has one producer and one consumer at a time (whoever has claimed the operation that uses it). Messages are
// numbered from 0; message k lies in slot k % depth. The producer may write message k once `consumed` > k - depth,
// that is when the consumer has released message k - depth. These are the credits that the plan checker models.
//
// A message of at most kInlineBytes lies in the slot's header line, so that it costs one cache line transfer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/fingerprint.h"
#include "transport/doorbell.h"

namespace tutti::transport {

inline constexpr size_t kCacheLine = 64;
inline constexpr size_t kInlineBytes = 16;

// First cache line of a slot; the payload area starts kCacheLine bytes after it.
struct alignas(kCacheLine) SlotHeader {
  // 0 when never written; k + 1 once message k is complete. Stored last (release), loaded first (acquire).
  std::atomic<uint64_t> ready;
  uint32_t bytes;  // payload length, <= Ring::capacity
  uint32_t flags;  // 0; bit 0: kReference
  Fingerprint fingerprint;
  std::byte inline_payload[kInlineBytes];  // for kReference: {uint64_t address or region offset, uint64_t region}
};
static_assert(sizeof(SlotHeader) == kCacheLine);
// The payload is not in the slot: the inline payload names memory of the producer that the consumer reads straight.
// The producer must leave that memory alone until the message is released.
inline constexpr uint32_t kReference = 1;

// The consumer's counter, alone on its cache line.
struct alignas(kCacheLine) RingCredits {
  std::atomic<uint64_t> consumed;  // messages released so far
};

// Where one direction of one channel lies. Plain data: can be built over any memory, also memory that a device maps.
struct Ring {
  std::byte* slots = nullptr;  // depth slots, `stride` bytes apart, each kCacheLine-aligned
  size_t stride = 0;           // bytes, >= kCacheLine + capacity, a multiple of kCacheLine
  uint32_t capacity = 0;       // bytes of payload a slot can hold
  uint32_t depth = 0;          // slots, a power of two
  RingCredits* credits = nullptr;

  SlotHeader* slot(uint64_t message) const {
    return reinterpret_cast<SlotHeader*>(slots + (message & (depth - 1)) * stride);
  }
};

inline std::byte* payload_of(SlotHeader* slot, uint32_t bytes) {
  return bytes <= kInlineBytes ? slot->inline_payload : reinterpret_cast<std::byte*>(slot) + kCacheLine;
}
inline const std::byte* payload_of(const SlotHeader* slot) {
  return slot->bytes <= kInlineBytes ? slot->inline_payload : reinterpret_cast<const std::byte*>(slot) + kCacheLine;
}

// The transport's hook for queues whose messages it has to carry itself (tcp, rdma). Called by the thread that has
// just published or released a message; must not block.
class Carrier {
 public:
  virtual void published(uint32_t channel) = 0;
  virtual void released(uint32_t channel) = 0;

 protected:
  ~Carrier() = default;
};

// Producer's end. Not thread safe: one owner at a time.
class SendQueue {
 public:
  SendQueue() = default;
  // `doorbell`: the consumer's, rung after each message when the consumer sees the ring itself; else `carrier`.
  SendQueue(const Ring& ring, Doorbell* doorbell, Carrier* carrier, uint32_t channel)
      : ring_(ring), doorbell_(doorbell), carrier_(carrier), channel_(channel) {}

  const Ring& ring() const { return ring_; }
  uint64_t published() const { return next_; }

  // True when one more message can be written.
  bool ready() {
    if (next_ - consumed_ < ring_.depth) [[likely]]
      return true;
    consumed_ = ring_.credits->consumed.load(std::memory_order_acquire);
    return next_ - consumed_ < ring_.depth;
  }
  // The slot of the next message. Only after ready() said true; nothing is visible to the consumer before publish().
  SlotHeader* slot() const { return ring_.slot(next_); }

  // Makes the message visible: its payload must be complete at payload_of(slot(), bytes).
  void publish(uint32_t bytes, const Fingerprint& fingerprint, uint32_t flags = 0) {
    put(bytes, fingerprint, flags);
    Doorbell::fence();
    tell();
  }
  // The halves of publish(), for several messages at once: put() for each, one Doorbell::fence(), tell() for each.
  void put(uint32_t bytes, const Fingerprint& fingerprint, uint32_t flags = 0) {
    SlotHeader* header = slot();
    header->bytes = bytes;
    header->flags = flags;
    header->fingerprint = fingerprint;
    header->ready.store(++next_, std::memory_order_release);
  }
  void tell() {
    if (doorbell_ != nullptr) doorbell_->ring_after_fence();
    if (carrier_ != nullptr) carrier_->published(channel_);
  }

  // Whether the consumer has released all messages before number `message`.
  bool released(uint64_t message) {
    if (consumed_ >= message) return true;
    consumed_ = ring_.credits->consumed.load(std::memory_order_acquire);
    return consumed_ >= message;
  }
  // Messages that the consumer has not released yet (a fresh look).
  uint64_t outstanding() {
    consumed_ = ring_.credits->consumed.load(std::memory_order_acquire);
    return next_ - consumed_;
  }

 private:
  Ring ring_;
  Doorbell* doorbell_ = nullptr;
  Carrier* carrier_ = nullptr;
  uint32_t channel_ = 0;
  uint64_t next_ = 0;      // number of the next message
  uint64_t consumed_ = 0;  // last seen value of credits->consumed
};

// Consumer's end. Not thread safe: one owner at a time.
class RecvQueue {
 public:
  RecvQueue() = default;
  // `doorbell`: the producer's, rung after a release when the producer sees the ring itself; else `carrier`.
  RecvQueue(const Ring& ring, Doorbell* doorbell, Carrier* carrier, uint32_t channel)
      : ring_(ring), doorbell_(doorbell), carrier_(carrier), channel_(channel) {}

  const Ring& ring() const { return ring_; }
  uint64_t released() const { return next_; }

  // The next message, or nullptr when it has not arrived. Stays valid until release().
  const SlotHeader* peek() const {
    const SlotHeader* header = ring_.slot(next_);
    return header->ready.load(std::memory_order_acquire) == next_ + 1 ? header : nullptr;
  }
  // Gives the slot of the message that peek() showed back to the producer.
  void release() {
    give_back();
    Doorbell::fence();
    tell();
  }
  // The halves of release(), as above.
  void give_back() { ring_.credits->consumed.store(++next_, std::memory_order_release); }
  void tell() {
    if (doorbell_ != nullptr) doorbell_->ring_after_fence();
    if (carrier_ != nullptr) carrier_->released(channel_);
  }

 private:
  Ring ring_;
  Doorbell* doorbell_ = nullptr;
  Carrier* carrier_ = nullptr;
  uint32_t channel_ = 0;
  uint64_t next_ = 0;
};

}  // namespace tutti::transport
