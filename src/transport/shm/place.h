// Where an shm transport is: whether two of them can share memory and meet over an abstract unix socket, known from
// their addresses alone.
#pragma once

#include <cstdint>
#include <string>

#include "transport/identity.h"

namespace tutti::transport::shm {

struct Place {
  uint64_t boot = 0;               // of this start of the kernel: tells machines that were given one host id apart
  uint64_t network_namespace = 0;  // abstract unix sockets are per network namespace
};
static_assert(sizeof(Place) == 16);

// Zero where the system does not say; zero is taken to match anything.
Place this_place();

// The abstract unix socket (without the leading NUL) of the transport with this identity.
std::string socket_name(const Identity& identity);

}  // namespace tutti::transport::shm
