// Both ends of an in-process connection. They share its memory: whichever goes first leaves the other's queues intact.
#pragma once

#include <memory>

#include "transport/doorbell_page.h"
#include "transport/ring_memory.h"
#include "transport/transport.h"

namespace tutti::transport::in_process {

// What sender and receiver share. Made by the sender, handed over through the receiver's mailbox.
struct Connection {
  RingMemory memory;
  std::shared_ptr<DoorbellPage> sender_bell;
  std::shared_ptr<DoorbellPage> receiver_bell;
};

class Sender final : public SendEnd {
 public:
  // `connection` may be null: the peer could not be reached, and the end never becomes ready.
  Sender(std::shared_ptr<Connection> connection, const QueueShape& shape);
  bool ready() const override { return connection_ != nullptr; }
  SendQueue& queue(uint32_t flight, uint32_t lane) override { return queues_.at(flight, lane); }
  bool can_reference(const void* address, size_t bytes, MemoryKind kind) const override;

 private:
  std::shared_ptr<Connection> connection_;
  QueueSet<SendQueue> queues_;
};

class Receiver final : public RecvEnd {
 public:
  Receiver(std::shared_ptr<Connection> connection, const QueueShape& shape);
  RecvQueue& queue(uint32_t flight, uint32_t lane) override { return queues_.at(flight, lane); }
  Status pull(const SlotHeader& message, size_t offset, void* to, size_t bytes) override;
  const void* view(const SlotHeader& message) const override;

 private:
  std::shared_ptr<Connection> connection_;
  QueueSet<RecvQueue> queues_;
};

}  // namespace tutti::transport::in_process
