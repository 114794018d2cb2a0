// The two ends of a shared-memory connection: queues in memory that both processes map, and the socket that is kept
// only to learn that the peer's process has ended.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "base/net/fd.h"
#include "transport/engine.h"
#include "transport/reception.h"
#include "transport/ring_memory.h"
#include "transport/transport.h"

namespace tutti::transport::shm {

// Whose death the socket tells; at its end the peer's own word in the segment says whether it left in good order.
// Under the engine's claim.
class Lifeline final : public Poller::Handler {
 public:
  Lifeline(Engine& engine, const Peer& peer) : engine_(engine), peer_(peer) {}
  ~Lifeline() { cut(); }
  void watch(net::Fd socket, const std::atomic<uint32_t>* left);

 private:
  void on_ready(uint32_t events) override;
  void cut();

  Engine& engine_;
  const Peer peer_;
  net::Fd socket_;
  const std::atomic<uint32_t>* left_ = nullptr;
};

class Sender final : public SendEnd {
 public:
  Sender(Engine& engine, const Peer& peer, bool lend) : lend_(lend), lifeline_(engine, peer) {}
  ~Sender() override;

  bool ready() const override { return ready_.load(std::memory_order_acquire); }
  SendQueue& queue(uint32_t flight, uint32_t lane) override { return queues_.at(flight, lane); }
  bool can_reference(const void* address, size_t bytes, MemoryKind kind) const override;
  size_t lend_from() const override { return lend_ ? 4096 : SIZE_MAX; }
  void revoke() override;

  // Once, under the claim. `peer_bell`: rung after each message. `readable`: the peer can read this process's memory.
  void open(RingMemory memory, const QueueShape& shape, std::shared_ptr<DoorbellPage> peer_bell, net::Fd socket,
            bool readable);

 private:
  const bool lend_;
  std::atomic<bool> ready_{false};
  bool readable_ = false;
  RingMemory memory_;
  std::shared_ptr<DoorbellPage> peer_bell_;
  QueueSet<SendQueue> queues_;
  Lifeline lifeline_;
};

class Receiver final : public RecvEnd {
 public:
  // `pid`: the peer as this process sees it, for straight reads.
  Receiver(Engine& engine, const Peer& peer, pid_t pid, RingMemory memory, const QueueShape& shape,
           std::shared_ptr<DoorbellPage> peer_bell);
  ~Receiver() override;

  RecvQueue& queue(uint32_t flight, uint32_t lane) override { return queues_.at(flight, lane); }
  const void* view(const SlotHeader&) override { return nullptr; }  // malloc'ed memory of another process
  void end_view() override {}
  Status pull(const SlotHeader& message, size_t offset, void* to, size_t bytes) override;

  void watch(net::Fd socket) { lifeline_.watch(std::move(socket), &memory_.header().sender_left); }

 private:
  Engine& engine_;
  const Peer peer_;
  const pid_t pid_;
  RingMemory memory_;
  std::shared_ptr<DoorbellPage> peer_bell_;
  QueueSet<RecvQueue> queues_;
  Lifeline lifeline_;
};

// Copies `bytes` bytes at `address` of process `pid` to `to`; see process_vm_readv(2) for who may.
Status read_process(pid_t pid, uint64_t address, void* to, size_t bytes);

}  // namespace tutti::transport::shm
