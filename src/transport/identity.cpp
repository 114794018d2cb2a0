#include "transport/identity.h"

#include <sys/random.h>

#include <cerrno>

namespace tutti::transport {

Result<Identity> random_identity() {
  Identity identity{};
  // Requests of at most 256 bytes are never cut short.
  while (getrandom(identity.data(), sizeof identity, 0) < 0)
    if (errno != EINTR) return system_error(errno, "getrandom of {} bytes", sizeof identity);
  return identity;
}

}  // namespace tutti::transport
