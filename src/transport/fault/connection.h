// The sending end of the fault decorator: its own rings, and the faults between them and the inner transport's queues.
#pragma once

#include <atomic>
#include <chrono>
#include <random>
#include <vector>

#include "transport/engine.h"
#include "transport/fault/transport.h"
#include "transport/ring_memory.h"

namespace tutti::transport::fault {

class Sender final : public SendEnd, private Carrier {
 public:
  Sender(Engine& engine, SendEnd& inner, const Peer& peer, const FaultOptions& options, RingMemory memory);

  bool ready() const override { return inner_.ready(); }
  SendQueue& queue(uint32_t flight, uint32_t lane) override { return queues_.at(flight, lane); }
  // A message may lie here for a while after its memory was given back.
  bool can_reference(const void*, size_t, MemoryKind) const override { return false; }
  size_t lend_from() const override { return SIZE_MAX; }
  void revoke() override { inner_.revoke(); }

  // --- any thread
  void drop_after(uint64_t messages) { drop_in_.store(countdown(messages)); }
  void cut_after(uint64_t messages) { cut_in_.store(countdown(messages)); }
  void withhold(uint32_t channel, bool withheld) { channels_[channel].withheld.store(withheld); }

  // --- under the claim
  bool move();  // hands over what may go; true when anything did
  bool drained() const;

 private:
  struct Channel {
    Ring ring;
    uint64_t moved = 0;  // messages handed to the inner queue
    bool timed = false;  // `due` is set for the next message
    std::chrono::steady_clock::time_point due;
    std::atomic<bool> withheld{false};
  };
  void published(uint32_t) override {
    engine_.add_output();
    engine_.run_soon(task_);
  }
  void released(uint32_t) override {}
  void run() { move(); }
  static int64_t countdown(uint64_t messages) {
    return messages > INT64_MAX ? INT64_MAX : static_cast<int64_t>(messages);
  }
  bool move_one(uint32_t number);
  bool has_message(const Channel& channel) const;
  bool is_due(Channel& channel);
  // Counts the message down; false when the link has ended before it.
  bool link_holds();

  Engine& engine_;
  SendEnd& inner_;
  const Peer peer_;
  const FaultOptions options_;
  const RingMemory memory_;
  std::vector<Channel> channels_;
  QueueSet<SendQueue> queues_;
  std::mt19937_64 random_;
  std::atomic<int64_t> drop_in_{INT64_MAX};
  std::atomic<int64_t> cut_in_{INT64_MAX};
  MemberTask<Sender, &Sender::run> task_{this};
};

}  // namespace tutti::transport::fault
