#include "transport/fault/connection.h"

#include <cstring>

namespace tutti::transport::fault {

Sender::Sender(Engine& engine, SendEnd& inner, const Peer& peer, const FaultOptions& options, RingMemory memory)
    : engine_(engine),
      inner_(inner),
      peer_(peer),
      options_(options),
      memory_(std::move(memory)),
      channels_(options.shape.channels()),
      queues_(memory_, options.shape, nullptr, this),
      random_(options.seed * 1'000'003 + static_cast<uint64_t>(peer.rank)) {
  for (uint32_t channel = 0; channel < options.shape.channels(); ++channel)
    channels_[channel].ring = memory_.ring(channel);
}

bool Sender::has_message(const Channel& channel) const {
  return channel.ring.slot(channel.moved)->ready.load(std::memory_order_acquire) == channel.moved + 1;
}

bool Sender::is_due(Channel& channel) {
  if (options_.longest_delay.count() == 0) return true;
  const auto now = std::chrono::steady_clock::now();
  if (!channel.timed) {
    const auto longest = static_cast<uint64_t>(options_.longest_delay.count());
    channel.timed = true;
    channel.due = now + std::chrono::microseconds(random_() % (longest + 1));
  }
  return now >= channel.due;
}

bool Sender::link_holds() {
  if (drop_in_.load() <= 0) {
    engine_.fail(peer_.rank, error(Code::kRemoteError, "lost {}: the connection was dropped on purpose", peer_.name()));
    return false;
  }
  return cut_in_.load() > 0;
}

bool Sender::move() {
  if (!inner_.ready()) return false;
  bool moved = false;
  for (uint32_t channel = 0; channel < channels_.size(); ++channel)
    while (move_one(channel)) moved = true;
  return moved;
}

bool Sender::move_one(uint32_t number) {
  Channel& channel = channels_[number];
  if (!has_message(channel) || !link_holds()) return false;
  SendQueue& to = inner_.queue(number / options_.shape.lanes, number % options_.shape.lanes);
  if (channel.withheld.load() || !is_due(channel) || !to.ready()) {
    engine_.wake_after(Engine::kTimer);  // nobody else will say when it may go
    return false;
  }
  const SlotHeader* slot = channel.ring.slot(channel.moved);
  if (slot->bytes != 0) std::memcpy(payload_of(to.slot(), slot->bytes), payload_of(slot), slot->bytes);
  to.publish(slot->bytes, slot->fingerprint);
  ++channel.moved;
  channel.timed = false;
  --drop_in_;
  --cut_in_;
  channel.ring.credits->consumed.store(channel.moved, std::memory_order_release);
  engine_.output_done();
  engine_.moved();
  engine_.bell().ring();
  return true;
}

bool Sender::drained() const {
  for (const Channel& channel : channels_)
    if (has_message(channel)) return false;
  return true;
}

}  // namespace tutti::transport::fault
