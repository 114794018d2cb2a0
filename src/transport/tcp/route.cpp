#include "transport/tcp/route.h"

namespace tutti::transport::tcp {

std::vector<Route> routes(std::span<const net::SocketAddress> own, std::span<const net::SocketAddress> listeners,
                          size_t sockets) {
  std::vector<Route> possible;
  for (size_t i = 0; i < listeners.size(); ++i) {
    // The i-th interface of one side goes with the i-th of the other where families allow it.
    for (size_t j = 0; j < own.size(); ++j) {
      const net::SocketAddress& from = own[(i + j) % own.size()];
      if (from.family() != listeners[i].family()) continue;
      possible.push_back({from, listeners[i]});
      break;
    }
  }
  std::vector<Route> chosen;
  for (size_t k = 0; k < sockets && !possible.empty(); ++k) chosen.push_back(possible[k % possible.size()]);
  return chosen;
}

}  // namespace tutti::transport::tcp
