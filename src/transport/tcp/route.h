// Which of a rank's interfaces are connected to which of a peer's.
#pragma once

#include <span>
#include <vector>

#include "base/net/address.h"
#include "base/status.h"

namespace tutti::transport::tcp {

struct Route {
  net::SocketAddress from;  // port 0
  net::SocketAddress to;
};

// One route for each of `sockets` wires: over all of the peer's listeners whose family this rank has too, in turn, from
// this rank's interfaces of that family, in turn. Empty when there is no common family.
std::vector<Route> routes(std::span<const net::SocketAddress> own, std::span<const net::SocketAddress> listeners,
                          size_t sockets);

}  // namespace tutti::transport::tcp
