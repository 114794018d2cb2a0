#include "transport/tcp/route.h"

#include <cstring>

namespace tutti::transport::tcp {
namespace {

// The scope of a link-local address is the number of an interface of its own host; to us it is that of ours.
net::SocketAddress reachable_from(const net::SocketAddress& from, const net::SocketAddress& to) {
  if (to.family() != AF_INET6) return to;
  sockaddr_in6 theirs;
  sockaddr_in6 ours;
  std::memcpy(&theirs, to.get(), sizeof theirs);
  std::memcpy(&ours, from.get(), sizeof ours);
  if (!IN6_IS_ADDR_LINKLOCAL(&theirs.sin6_addr)) return to;
  theirs.sin6_scope_id = ours.sin6_scope_id;
  return net::SocketAddress(reinterpret_cast<const sockaddr*>(&theirs), sizeof theirs);
}

}  // namespace

std::vector<Route> routes(std::span<const net::SocketAddress> own, std::span<const net::SocketAddress> listeners,
                          size_t sockets) {
  std::vector<Route> possible;
  for (size_t i = 0; i < listeners.size(); ++i) {
    // The i-th interface of one side goes with the i-th of the other where families allow it.
    for (size_t j = 0; j < own.size(); ++j) {
      const net::SocketAddress& from = own[(i + j) % own.size()];
      if (from.family() != listeners[i].family()) continue;
      possible.push_back({from, reachable_from(from, listeners[i])});
      break;
    }
  }
  std::vector<Route> chosen;
  for (size_t k = 0; k < sockets && !possible.empty(); ++k) chosen.push_back(possible[k % possible.size()]);
  return chosen;
}

}  // namespace tutti::transport::tcp
