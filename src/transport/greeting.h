// What a sender says of itself while both sides prove the secret: who it is, whom it wants, and what it believes about
// the queues. Part of the handshake, hence proved with it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.h"
#include "transport/identity.h"
#include "transport/transport.h"

namespace tutti::transport {

struct Greeting {
  Identity receiver{};  // the transport object that is meant
  int32_t sender = -1;  // rank
  uint32_t wire = 0;    // which of several sockets of one connection
  uint32_t wires = 1;
  QueueShape shape;

  std::vector<std::byte> encode() const;
  static Result<Greeting> decode(std::span<const std::byte> bytes);
};

// Whether a proved `greeting` may become a connection to the transport `self` of a communicator with these peers.
// Code::kInvalidUsage: a member that disagrees about the queues; the text shows both sides.
// Code::kRemoteError: it means somebody else, or names no rank.
Status check(const Greeting& greeting, const Identity& self, const QueueShape& shape, std::span<const Peer> peers);

}  // namespace tutti::transport
