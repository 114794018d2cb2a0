// Socket addresses: IPv4 and IPv6 with port and scope.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tutti::net {

class SocketAddress {
 public:
  SocketAddress() = default;                                 // no address
  SocketAddress(const sockaddr* address, socklen_t length);  // anything but IPv4 and IPv6: no address
  // "1.2.3.4:5", "[::1]:5", "[fe80::1%eth0]:5" or "host:5" (resolved; the first address of `family`, 0: either).
  static Result<SocketAddress> parse(std::string_view text, int family = 0);
  static Result<SocketAddress> from_bytes(std::span<const std::byte> bytes);
  std::vector<std::byte> to_bytes() const;  // kBytes long
  static constexpr size_t kBytes = 28;      // sockaddr_in6
  static SocketAddress loopback(int family, uint16_t port);

  bool valid() const { return family() != 0; }
  int family() const { return storage_.sin6_family; }
  uint16_t port() const;
  void set_port(uint16_t port);
  bool is_loopback() const;
  std::string to_string() const;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t length() const { return family() == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6); }

 private:
  sockaddr_in6 storage_{};  // large enough for both families
};

}  // namespace tutti::net
