// Sockets, all non-blocking and close-on-exec. Functions never block; EINTR is handled inside.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/net/address.h"
#include "base/net/fd.h"
#include "base/status.h"

namespace tutti::net {

// Listens at `address` (port 0: any). The bound address is local_address().
Result<Fd> listen_tcp(const SocketAddress& address, int backlog = 1024);
// Begins to connect; writable when done, then connect_result(). `from`: local address to bind to, if valid.
Result<Fd> connect_tcp(const SocketAddress& to, const SocketAddress& from = {});
// OK once connected; the error that the connection ended with otherwise.
Status connect_result(int fd, const std::string& to);
Result<SocketAddress> local_address(int fd);
Result<SocketAddress> peer_address(int fd);
void set_no_delay(int fd);
// Asks for a receive window of `bytes`, so that so much may be on its way before anybody reads. A hint.
void expect_bursts(int fd, int bytes);

// An invalid Fd when nobody waits (would block); transient failures of the newcomer count as that.
Result<Fd> accept_connection(int listener);

// Unix stream sockets in the abstract name space (unix(7)): nothing appears in a file system, names are 128 random
// bits.
struct UnixListener {
  Fd fd;
  std::string name;  // without the leading zero byte
};
Result<UnixListener> listen_unix();
// Connects at once, or fails: EAGAIN (backlog full) is Code::kInProgress, to be tried again.
Result<Fd> connect_unix(const std::string& name);

// One message of bytes with up to 4 descriptors. Would block: Code::kInProgress, nothing was sent.
Status send_with_fds(int fd, std::span<const std::byte> bytes, std::span<const int> fds);
// Receives at most bytes.size(); *size is what came, 0 at the end of the stream. Would block: Code::kInProgress.
Status receive_with_fds(int fd, std::span<std::byte> bytes, size_t* size, std::vector<Fd>* fds);

}  // namespace tutti::net
