// Where an shm transport is: whether two of them can share memory and meet over an abstract unix socket, known from
// their addresses alone.
#pragma once

#include <cstdint>

namespace tutti::transport::shm {

struct Place {
  uint64_t boot = 0;               // of this start of the kernel: tells machines that were given one host id apart
  uint64_t network_namespace = 0;  // abstract unix sockets are per network namespace
};
static_assert(sizeof(Place) == 16);

// Zero where the system does not say; zero is taken to match anything.
Place this_place();

}  // namespace tutti::transport::shm
