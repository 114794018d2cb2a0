// The two ends of a tcp connection. Both have rings of their own; Connection is what they share: several sockets
// ("wires"), over which frames go, and the channels that have something to send.
//
// lane -> wire lane % wires, so that the messages of one channel stay in order. A message is written only when the far
// ring has a free slot for it (credits), so that everything that arrives can be stored at once and no channel blocks
// another on the same wire.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/net/fd.h"
#include "transport/engine.h"
#include "transport/ring_memory.h"
#include "transport/tcp/stream.h"
#include "transport/transport.h"

namespace tutti::transport::tcp {

// Channels waiting for their turn, each at most once.
class ChannelFifo {
 public:
  explicit ChannelFifo(uint32_t channels) : slots_(channels), queued_(channels) {}
  bool empty() const { return size_ == 0; }
  void push(uint32_t channel) {
    if (queued_[channel]) return;
    queued_[channel] = true;
    slots_[(first_ + size_++) % slots_.size()] = channel;
  }
  uint32_t pop() {
    const uint32_t channel = slots_[first_];
    first_ = (first_ + 1) % slots_.size();
    --size_;
    queued_[channel] = false;
    return channel;
  }

 private:
  std::vector<uint32_t> slots_;
  std::vector<bool> queued_;
  size_t first_ = 0;
  size_t size_ = 0;
};

// Everything but mark() runs under the engine's claim.
class Connection {
 public:
  Connection(Engine& engine, Peer peer, const QueueShape& shape, RingMemory memory);
  virtual ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // All sockets, proved and non-blocking, in the order of the lanes. Once.
  void attach(std::vector<net::Fd> sockets);
  const Peer& peer() const { return peer_; }
  // Gives the connection up and reports why.
  void lose(Status status);

 protected:
  class Wire;

  // The next frame that may be sent for `channel`; false when there is none.
  virtual bool next_frame(uint32_t channel, FrameHeader* header, const std::byte** payload) = 0;
  // The kernel has taken it.
  virtual void frame_written(const FrameHeader& header) = 0;
  // A frame has come: where its payload goes. False: it has no business here.
  virtual bool accept(const FrameHeader& header, std::byte** payload) = 0;
  virtual void complete(const FrameHeader& header) = 0;
  // Whether a frame that the peer cannot take any more, because it left in good order, is a failure.
  virtual bool must_deliver() const = 0;

  // Any thread: `channel` may have something to send; run the task next.
  void mark(uint32_t channel) {
    marks_[channel / 64].fetch_or(uint64_t{1} << (channel % 64), std::memory_order_seq_cst);
  }
  // Looks at the marked channels and writes what can be written.
  void serve();
  // The same for one channel, from within a handler.
  void requeue(uint32_t channel);
  void flush_all();
  // Closes all wires.
  void shut();
  // For the destructors of the ends: writes what the kernel takes at once, and takes leave.
  void leave();
  // No wire is open any more: nothing can reach the peer.
  bool severed() const;

  Engine& engine_;
  const Peer peer_;
  const QueueShape shape_;
  const RingMemory memory_;

 private:
  size_t wire_of(uint32_t channel) const { return channel % shape_.lanes % wires_.size(); }

  std::vector<std::unique_ptr<Wire>> wires_;
  std::vector<std::atomic<uint64_t>> marks_;
};

class Sender final : public SendEnd, public Connection, private Carrier {
 public:
  Sender(Engine& engine, Peer peer, const QueueShape& shape, RingMemory memory);
  ~Sender() override { leave(); }

  bool ready() const override { return ready_.load(std::memory_order_acquire); }
  SendQueue& queue(uint32_t flight, uint32_t lane) override { return queues_.at(flight, lane); }
  // A referenced payload is sent from where it lies, so it must fit into the far slot.
  bool can_reference(const void* address, size_t bytes, MemoryKind kind) const override;
  size_t lend_from() const override { return SIZE_MAX; }
  void revoke() override;

  // Under the claim: attach() is done.
  void set_ready();
  // Under the claim: the receiver has released every message that was published, or can be reached no more.
  bool drained() const;

 private:
  struct Channel {
    Ring ring;
    uint64_t carried = 0;  // messages handed to a wire
    uint64_t granted = 0;  // messages that the far ring has had room for so far
  };
  void published(uint32_t channel) override;
  void released(uint32_t) override {}
  bool next_frame(uint32_t channel, FrameHeader* header, const std::byte** payload) override;
  void frame_written(const FrameHeader& header) override;
  bool accept(const FrameHeader& header, std::byte** payload) override;
  void complete(const FrameHeader&) override {}
  bool must_deliver() const override { return true; }
  void run() { serve(); }

  std::atomic<bool> ready_{false};
  std::vector<Channel> channels_;
  QueueSet<SendQueue> queues_;
  MemberTask<Sender, &Sender::run> task_{this};
};

class Receiver final : public RecvEnd, public Connection, private Carrier {
 public:
  Receiver(Engine& engine, Peer peer, const QueueShape& shape, RingMemory memory);
  ~Receiver() override { leave(); }

  RecvQueue& queue(uint32_t flight, uint32_t lane) override { return queues_.at(flight, lane); }
  const void* view(const SlotHeader&) override { return nullptr; }
  void end_view() override {}
  Status pull(const SlotHeader& message, size_t offset, void* to, size_t bytes) override;

 private:
  struct Channel {
    Ring ring;
    uint64_t arrived = 0;                // messages stored
    std::atomic<uint64_t> credited = 0;  // messages whose release was reported; also read by the consumer
  };
  void published(uint32_t) override {}
  void released(uint32_t channel) override;
  bool next_frame(uint32_t channel, FrameHeader* header, const std::byte** payload) override;
  void frame_written(const FrameHeader&) override {}
  bool accept(const FrameHeader& header, std::byte** payload) override;
  void complete(const FrameHeader& header) override;
  bool must_deliver() const override { return false; }
  void run() { serve(); }

  std::vector<Channel> channels_;
  QueueSet<RecvQueue> queues_;
  MemberTask<Receiver, &Receiver::run> soon_{this};
  MemberTask<Receiver, &Receiver::run> later_{this};
};

}  // namespace tutti::transport::tcp
