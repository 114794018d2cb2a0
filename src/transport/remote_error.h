// The text for a peer that went away: names it, and the system's reason.
#pragma once

#include <string>

#include "base/status.h"
#include "transport/transport.h"

namespace tutti::transport {

// "lost rank 3 (pid 4711 on node7): its tcp connection broke: Connection reset by peer (errno 104)"
inline Status broken_connection(const Peer& peer, std::string_view transport, int errnum) {
  const auto what = fmt::format("lost {}: its {} connection broke", peer.name(), transport);
  return Status(Code::kRemoteError, system_error_text(errnum, what).text());
}

inline Status closed_connection(const Peer& peer, std::string_view transport) {
  return error(Code::kRemoteError, "lost {}: its {} connection closed without a farewell (its process died?)",
               peer.name(), transport);
}

}  // namespace tutti::transport
