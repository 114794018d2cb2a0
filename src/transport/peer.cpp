#include "transport/transport.h"

namespace tutti::transport {

std::string Peer::name() const {
  return fmt::format("rank {} (pid {} on {})", rank, pid, hostname);
}

}  // namespace tutti::transport
