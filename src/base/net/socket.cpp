#include "base/net/socket.h"

#include <netinet/tcp.h>
#include <sodium.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tutti::net {

namespace {

constexpr size_t kMostFds = 4;

Result<Fd> make_socket(int family) {
  Fd fd(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return system_error(errno, "socket(family {})", family);
  return fd;
}

sockaddr_un abstract_address(const std::string& name, socklen_t* length) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t size = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), size);
  *length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  return address;
}

}  // namespace

void set_no_delay(int fd) {
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

void expect_bursts(int fd, int bytes) {
  // A low-water mark makes Linux open the window to that size (tcp_set_rcvlowat) and, unlike SO_RCVBUF, leaves it free
  // to grow further. Both calls are hints: without them transfers are slower, not wrong.
  setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes);
  const int any = 1;
  setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &any, sizeof any);
}

Result<Fd> listen_tcp(const SocketAddress& address, int backlog) {
  TUTTI_ASSIGN_OR_RETURN(Fd fd, make_socket(address.family()));
  const int one = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(fd.get(), address.get(), address.length()) != 0)
    return system_error(errno, "bind to {}", address.to_string());
  if (listen(fd.get(), backlog) != 0) return system_error(errno, "listen at {}", address.to_string());
  return fd;
}

Result<Fd> connect_tcp(const SocketAddress& to, const SocketAddress& from) {
  TUTTI_ASSIGN_OR_RETURN(Fd fd, make_socket(to.family()));
  set_no_delay(fd.get());
  if (from.valid()) {
    SocketAddress local = from;
    local.set_port(0);
    if (bind(fd.get(), local.get(), local.length()) != 0)
      return system_error(errno, "bind to {} to reach {}", local.to_string(), to.to_string());
  }
  if (connect(fd.get(), to.get(), to.length()) != 0 && errno != EINPROGRESS && errno != EINTR)
    return system_error(errno, "connect to {}", to.to_string());
  return fd;
}

Status connect_result(int fd, const std::string& to) {
  int why = 0;
  socklen_t length = sizeof why;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &length) != 0) why = errno;
  return why == 0 ? Status() : system_error(why, "connect to {}", to);
}

Result<SocketAddress> local_address(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return system_error(errno, "getsockname");
  return SocketAddress(reinterpret_cast<const sockaddr*>(&storage), length);
}

Result<SocketAddress> peer_address(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return system_error(errno, "getpeername");
  return SocketAddress(reinterpret_cast<const sockaddr*>(&storage), length);
}

Result<Fd> accept_connection(int listener) {
  for (;;) {
    Fd fd(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.valid()) return fd;
    switch (errno) {
      case EINTR: continue;
      // The newcomer's trouble, not ours (accept(2) lists them as to be treated like EAGAIN).
      case EAGAIN:
      case ECONNABORTED:
      case EPERM:
      case ENETDOWN:
      case EPROTO:
      case EHOSTUNREACH:
      case ENETUNREACH: return Fd();
      default: return system_error(errno, "accept");
    }
  }
}

Result<UnixListener> listen_unix() {
  if (sodium_init() < 0) return Status(Code::kSystemError, "libsodium cannot start: no source of randomness");
  unsigned char random[16];
  randombytes_buf(random, sizeof random);
  UnixListener listener;
  listener.name = "tutti-";
  for (const unsigned char byte : random) listener.name += fmt::format("{:02x}", byte);
  TUTTI_ASSIGN_OR_RETURN(listener.fd, make_socket(AF_UNIX));
  socklen_t length = 0;
  const sockaddr_un address = abstract_address(listener.name, &length);
  if (bind(listener.fd.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0)
    return system_error(errno, "bind to the unix socket @{}", listener.name);
  if (listen(listener.fd.get(), 1024) != 0) return system_error(errno, "listen at the unix socket @{}", listener.name);
  return listener;
}

Result<Fd> connect_unix(const std::string& name) {
  TUTTI_ASSIGN_OR_RETURN(Fd fd, make_socket(AF_UNIX));
  socklen_t length = 0;
  const sockaddr_un address = abstract_address(name, &length);
  int result = 0;
  do {
    result = connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), length);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return fd;
  if (errno == EAGAIN) return error(Code::kInProgress, "the unix socket @{} has a full backlog", name);
  return system_error(errno, "connect to the unix socket @{}", name);
}

Status send_with_fds(int fd, std::span<const std::byte> bytes, std::span<const int> fds) {
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostFds * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(fd, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0 && errno == EAGAIN) return Status(Code::kInProgress, "the unix socket is full");
  if (sent < 0) return system_error(errno, "sendmsg with {} descriptors", fds.size());
  if (static_cast<size_t>(sent) != bytes.size())
    return error(Code::kSystemError, "sendmsg sent {} of {} bytes", sent, bytes.size());
  return {};
}

Status receive_with_fds(int fd, std::span<std::byte> bytes, size_t* size, std::vector<Fd>* fds) {
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostFds * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = 0;
  do {
    got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return Status(Code::kInProgress, "nothing to receive");
  if (got < 0) return system_error(errno, "recvmsg");
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int received = -1;
      std::memcpy(&received, CMSG_DATA(header) + i * sizeof(int), sizeof received);
      fds->emplace_back(received);
    }
  }
  *size = static_cast<size_t>(got);
  return {};
}

}  // namespace tutti::net
