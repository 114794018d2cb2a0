// Which network interfaces carry data: NCCL's rules for NCCL_SOCKET_IFNAME and NCCL_SOCKET_FAMILY.
#pragma once

#include <string>
#include <vector>

#include "base/net/address.h"
#include "base/status.h"

namespace tutti::net {

struct Interface {
  std::string name;
  SocketAddress address;  // port 0
  int prefix_bits = 0;    // of its network
};

// All interfaces that are up and have an address, one entry for each name and family, in the system's order.
Result<std::vector<Interface>> list_interfaces();

// pattern: value of NCCL_SOCKET_IFNAME, or empty. family: AF_INET, AF_INET6 or 0. near: prefer the network of this
// address, if valid.
//
// With a pattern: a comma list of prefixes; "^" in front excludes them, "=" in front asks for exact names. All matches,
// in the system's order; none is an error that lists what there is. Without: the first group that has a member: names
// that begin with "ib"; interfaces on the network of `near`; anything but docker*, lo, virbr*; docker*; lo; virbr*. At
// most one address for each interface: IPv4 unless only IPv6 is there or asked for.
Result<std::vector<Interface>> choose_interfaces(const std::vector<Interface>& all, const std::string& pattern,
                                                 int family, const SocketAddress& near);

}  // namespace tutti::net
