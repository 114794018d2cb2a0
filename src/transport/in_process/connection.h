// Both ends of an in-process connection. They share its memory: whichever goes first leaves the other's queues intact.
#pragma once

#include <atomic>
#include <memory>

#include "transport/doorbell_page.h"
#include "transport/ring_memory.h"
#include "transport/transport.h"

namespace tutti::transport::in_process {

// What sender and receiver share. Made by the sender, handed over through the receiver's mailbox.
struct Connection {
  Connection(RingMemory rings, std::shared_ptr<DoorbellPage> sender, std::shared_ptr<DoorbellPage> receiver)
      : memory(std::move(rings)), sender_bell(std::move(sender)), receiver_bell(std::move(receiver)) {}

  RingMemory memory;
  std::shared_ptr<DoorbellPage> sender_bell;
  std::shared_ptr<DoorbellPage> receiver_bell;
  // The receiver reads the sender's memory; the sender wants it back. Each sets its own before it looks at the other's.
  std::atomic<bool> reading{false};
  std::atomic<bool> revoked{false};
};

class Sender final : public SendEnd {
 public:
  // `connection` may be null: the peer could not be reached, and the end never becomes ready.
  Sender(std::shared_ptr<Connection> connection, const QueueShape& shape);
  bool ready() const override { return connection_ != nullptr; }
  SendQueue& queue(uint32_t flight, uint32_t lane) override { return queues_.at(flight, lane); }
  bool can_reference(const void* address, size_t bytes, MemoryKind kind) const override;
  size_t lend_from() const override { return 4096; }
  void revoke() override;

 private:
  std::shared_ptr<Connection> connection_;
  QueueSet<SendQueue> queues_;
};

class Receiver final : public RecvEnd {
 public:
  Receiver(std::shared_ptr<Connection> connection, const QueueShape& shape);
  RecvQueue& queue(uint32_t flight, uint32_t lane) override { return queues_.at(flight, lane); }
  const void* view(const SlotHeader& message) override;
  void end_view() override { connection_->reading.store(false, std::memory_order_release); }
  Status pull(const SlotHeader& message, size_t offset, void* to, size_t bytes) override;

 private:
  std::shared_ptr<Connection> connection_;
  QueueSet<RecvQueue> queues_;
};

}  // namespace tutti::transport::in_process
