// The memory of all rings of one direction between two ranks, and how it is divided.
//
//   page 0      SegmentHeader
//   then        one ring for each channel: credits line, slots; a whole number of pages, so that a channel that nobody
//               uses costs address space only. Pages appear, zeroed, when they are first touched.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "base/status.h"
#include "transport/slot_queue.h"
#include "transport/transport.h"

namespace tutti::transport {

// How each side says, without a call, that it leaves in good order: the end of its connection is then no failure.
struct alignas(kCacheLine) SegmentHeader {
  alignas(kCacheLine) std::atomic<uint32_t> sender_left;
  alignas(kCacheLine) std::atomic<uint32_t> receiver_left;
  // Set by the sender: what is read from its memory from now on must not be used.
  alignas(kCacheLine) std::atomic<uint32_t> revoked;
};

// Owns one mapping. Movable; distinct objects may be used by distinct threads.
class RingMemory {
 public:
  // Whole size for `shape`, a multiple of the page size.
  static size_t bytes_for(const QueueShape& shape);

  static Result<RingMemory> anonymous(const QueueShape& shape);
  // A memfd that cannot shrink under its users. *descriptor receives it; the caller closes it.
  static Result<RingMemory> shareable(const QueueShape& shape, int* descriptor);
  // Maps what another process passed; checks that it has the size of `shape` and cannot shrink. Does not close it.
  static Result<RingMemory> adopt(const QueueShape& shape, int descriptor);

  RingMemory() = default;
  ~RingMemory();
  RingMemory(RingMemory&& other) noexcept { swap(other); }
  RingMemory& operator=(RingMemory&& other) noexcept {
    swap(other);
    return *this;
  }

  SegmentHeader& header() const { return *reinterpret_cast<SegmentHeader*>(base_); }
  Ring ring(uint32_t channel) const;

 private:
  RingMemory(std::byte* base, const QueueShape& shape) : base_(base), shape_(shape) {}
  static Result<RingMemory> map(const QueueShape& shape, int descriptor);
  void swap(RingMemory& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(shape_, other.shape_);
  }

  std::byte* base_ = nullptr;
  QueueShape shape_;
};

// The queues of all channels of one end. Each has a cache line (or more) of its own, since each has a user of its own.
template <class Queue>
class QueueSet {
 public:
  QueueSet() = default;
  QueueSet(const RingMemory& memory, const QueueShape& shape, Doorbell* doorbell, Carrier* carrier)
      : shape_(shape), cells_(std::make_unique<Cell[]>(shape.channels())) {
    for (uint32_t channel = 0; channel < shape.channels(); ++channel)
      cells_[channel].queue = Queue(memory.ring(channel), doorbell, carrier, channel);
  }
  Queue& at(uint32_t flight, uint32_t lane) { return cells_[shape_.channel(flight, lane)].queue; }

 private:
  struct alignas(kCacheLine) Cell {
    Queue queue;
  };
  QueueShape shape_;
  std::unique_ptr<Cell[]> cells_;
};

// Whether a queue can be built to this shape at all; names the member that is wrong.
Status check(const QueueShape& shape);

}  // namespace tutti::transport
