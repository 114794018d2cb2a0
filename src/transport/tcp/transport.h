// The transport over TCP sockets. Read ../transport.h first.
//
//   frame.h        what travels
//   stream.h       frames in and out of a non-blocking socket
//   connection.h   the two ends: rings, credits, wires
//   route.h        which of a rank's addresses are connected to which of a peer's
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/net/address.h"
#include "base/status.h"
#include "transport/doorbell_page.h"
#include "transport/transport.h"

namespace tutti::transport {

struct TcpOptions {
  int rank = 0;
  QueueShape shape;
  std::shared_ptr<DoorbellPage> doorbell;  // this rank's; shared by all its transports
  std::array<unsigned char, 32> secret{};  // Bootstrap::secret()
  // This rank's own addresses that carry data, one for each interface (ports are ignored). At least one.
  std::vector<net::SocketAddress> interfaces;
  int sockets = 2;  // for each direction between two ranks, 1 to 64; spread over the interfaces of both
};

// Listens at every interface at once; fails with kSystemError when one of them cannot be bound.
Result<std::unique_ptr<Transport>> make_tcp_transport(const TcpOptions& options);

}  // namespace tutti::transport
