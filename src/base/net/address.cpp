#include "base/net/address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>

#include <charconv>
#include <cstring>
#include <memory>

namespace tutti::net {

namespace {

const sockaddr_in* as_v4(const sockaddr* address) {
  return reinterpret_cast<const sockaddr_in*>(address);
}

}  // namespace

SocketAddress::SocketAddress(const sockaddr* address, socklen_t length) {
  if (address->sa_family == AF_INET && length >= sizeof(sockaddr_in))
    std::memcpy(&storage_, address, sizeof(sockaddr_in));
  if (address->sa_family == AF_INET6 && length >= sizeof(sockaddr_in6))
    std::memcpy(&storage_, address, sizeof(sockaddr_in6));
}

Result<SocketAddress> SocketAddress::parse(std::string_view text, int family) {
  const auto bad = [text](std::string_view why) {
    return error(Code::kInvalidArgument,
                 "address \"{}\": {}; accepted are <ipv4>:<port>, [<ipv6>]:<port> and <host>:<port>", text, why);
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad("no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  unsigned port = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (failure != std::errc() || end != digits.data() + digits.size() || port > 65535)
    return bad("the port is no number up to 65535");
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad("an IPv6 address needs brackets");
  }
  if (host.empty()) return bad("no host");
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int result = getaddrinfo(std::string(host).c_str(), nullptr, &hints, &found);
  if (result != 0) return bad(gai_strerror(result));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  SocketAddress address(found->ai_addr, found->ai_addrlen);
  if (!address.valid()) return bad("neither IPv4 nor IPv6");
  address.set_port(static_cast<uint16_t>(port));
  return address;
}

Result<SocketAddress> SocketAddress::from_bytes(std::span<const std::byte> bytes) {
  SocketAddress address;
  if (bytes.size() >= kBytes) std::memcpy(&address.storage_, bytes.data(), kBytes);
  if (address.family() != AF_INET && address.family() != AF_INET6)
    return error(Code::kInvalidArgument, "{} bytes that should hold a socket address hold family {}", bytes.size(),
                 address.family());
  return address;
}

std::vector<std::byte> SocketAddress::to_bytes() const {
  std::vector<std::byte> bytes(kBytes);
  std::memcpy(bytes.data(), &storage_, kBytes);
  return bytes;
}

SocketAddress SocketAddress::loopback(int family, uint16_t port) {
  SocketAddress address;
  if (family == AF_INET6) {
    address.storage_.sin6_family = AF_INET6;
    address.storage_.sin6_addr = in6addr_loopback;
  } else {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::memcpy(&address.storage_, &v4, sizeof v4);
  }
  address.set_port(port);
  return address;
}

// The port lies at the same place in both families.
uint16_t SocketAddress::port() const {
  return ntohs(storage_.sin6_port);
}
void SocketAddress::set_port(uint16_t port) {
  storage_.sin6_port = htons(port);
}

bool SocketAddress::is_loopback() const {
  if (family() == AF_INET) return ntohl(as_v4(get())->sin_addr.s_addr) >> 24 == 127;
  if (family() != AF_INET6) return false;
  const in6_addr& ip = storage_.sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&ip) || (IN6_IS_ADDR_V4MAPPED(&ip) && ip.s6_addr[12] == 127);
}

std::string SocketAddress::to_string() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET) {
    inet_ntop(AF_INET, &as_v4(get())->sin_addr, text, sizeof text);
    return fmt::format("{}:{}", text, port());
  }
  if (family() != AF_INET6) return "(no address)";
  inet_ntop(AF_INET6, &storage_.sin6_addr, text, sizeof text);
  char scope[IF_NAMESIZE] = "";
  if (storage_.sin6_scope_id != 0 && if_indextoname(storage_.sin6_scope_id, scope) != nullptr)
    return fmt::format("[{}%{}]:{}", text, scope, port());
  return fmt::format("[{}]:{}", text, port());
}

}  // namespace tutti::net
