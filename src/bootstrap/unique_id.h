// The 128 bytes of an ncclUniqueId: where the ranks meet, and the secret that makes them members.
#pragma once

#include <array>

#include "base/config.h"
#include "base/net/address.h"
#include "base/net/handshake.h"
#include "base/status.h"

namespace tutti::bootstrap {

struct UniqueId {
  net::Secret secret{};
  net::SocketAddress address;
  // Named by NCCL_COMM_ID: nobody listens yet, rank 0 begins to in its initialisation.
  bool agreed = false;
};

using UniqueIdBytes = std::array<char, 128>;

UniqueIdBytes encode(const UniqueId& id);
// Bytes that no Tutti has made are kInvalidArgument.
Result<UniqueId> decode(const UniqueIdBytes& bytes);

// The id that NCCL_COMM_ID and TUTTI_SECRET stand for. Without a secret only loopback addresses are accepted, unless
// TUTTI_INSECURE=1.
Result<UniqueId> agreed_id(const Config& config);

}  // namespace tutti::bootstrap
