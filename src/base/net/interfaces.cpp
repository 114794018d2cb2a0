#include "base/net/interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

namespace tutti::net {

namespace {

std::span<const unsigned char> ip_bytes(const SocketAddress& address) {
  if (address.family() == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address.get());
    return {reinterpret_cast<const unsigned char*>(&v4->sin_addr), 4};
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address.get());
  return {v6->sin6_addr.s6_addr, 16};
}

int count_bits(const SocketAddress& mask) {
  int bits = 0;
  for (const unsigned char byte : ip_bytes(mask)) bits += std::popcount(byte);
  return bits;
}

bool same_network(const Interface& interface, const SocketAddress& other) {
  if (interface.address.family() != other.family()) return false;
  const auto a = ip_bytes(interface.address);
  const auto b = ip_bytes(other);
  for (int bit = 0; bit < interface.prefix_bits; ++bit) {
    const auto byte = static_cast<size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if ((a[byte] & mask) != (b[byte] & mask)) return false;
  }
  return true;
}

bool matches(std::string_view name, std::string_view list, bool exact) {
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view word = list.substr(begin, end - begin);
    if (!word.empty() && (exact ? name == word : name.starts_with(word))) return true;
    begin = end + 1;
  }
  return false;
}

// One entry for each name: the first IPv4 one, else the first.
std::vector<Interface> one_each(const std::vector<Interface>& interfaces) {
  std::vector<Interface> result;
  for (const Interface& candidate : interfaces) {
    const auto same =
        std::find_if(result.begin(), result.end(), [&](const Interface& i) { return i.name == candidate.name; });
    if (same == result.end()) {
      result.push_back(candidate);
    } else if (same->address.family() == AF_INET6 && candidate.address.family() == AF_INET) {
      *same = candidate;
    }
  }
  return result;
}

std::string names(const std::vector<Interface>& interfaces) {
  std::string text;
  for (const Interface& interface : interfaces)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", interface.name, interface.address.to_string());
  return text.empty() ? "none" : text;
}

}  // namespace

Result<std::vector<Interface>> list_interfaces() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return system_error(errno, "getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  std::vector<Interface> result;
  for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || (i->ifa_flags & IFF_UP) == 0) continue;
    const int family = i->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    const bool seen = std::any_of(result.begin(), result.end(), [&](const Interface& other) {
      return other.name == i->ifa_name && other.address.family() == family;
    });
    if (seen) continue;
    Interface interface;
    interface.name = i->ifa_name;
    interface.address = SocketAddress(i->ifa_addr, length);
    interface.address.set_port(0);
    if (i->ifa_netmask != nullptr) {
      // Some systems leave the family of a netmask empty.
      sockaddr_storage mask{};
      std::memcpy(&mask, i->ifa_netmask, length);
      mask.ss_family = static_cast<sa_family_t>(family);
      interface.prefix_bits = count_bits(SocketAddress(reinterpret_cast<const sockaddr*>(&mask), length));
    }
    result.push_back(interface);
  }
  return result;
}

Result<std::vector<Interface>> choose_interfaces(const std::vector<Interface>& all, const std::string& pattern,
                                                 int family, const SocketAddress& near) {
  std::vector<Interface> candidates;
  std::copy_if(all.begin(), all.end(), std::back_inserter(candidates),
               [family](const Interface& i) { return family == 0 || i.address.family() == family; });
  const char* family_text = family == AF_INET ? " with IPv4" : family == AF_INET6 ? " with IPv6" : "";
  if (!pattern.empty()) {
    std::string_view list = pattern;
    const bool exclude = list.starts_with('^');
    if (exclude) list.remove_prefix(1);
    const bool exact = list.starts_with('=');
    if (exact) list.remove_prefix(1);
    std::vector<Interface> chosen;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(chosen),
                 [&](const Interface& i) { return matches(i.name, list, exact) != exclude; });
    if (chosen.empty())
      return error(Code::kInvalidUsage, "NCCL_SOCKET_IFNAME=\"{}\" matches no network interface{}; there are: {}",
                   pattern, family_text, names(all));
    return one_each(chosen);
  }
  const auto is = [](const Interface& i, std::string_view prefix) {
    return std::string_view(i.name).starts_with(prefix);
  };
  const auto usual = [&](const Interface& i) { return !is(i, "docker") && i.name != "lo" && !is(i, "virbr"); };
  for (int group = 0; group < 6; ++group) {
    std::vector<Interface> chosen;
    for (const Interface& i : candidates) {
      const bool in_group[] = {is(i, "ib"),    near.valid() && same_network(i, near),
                               usual(i),       is(i, "docker"),
                               i.name == "lo", is(i, "virbr")};
      if (in_group[group]) chosen.push_back(i);
    }
    if (!chosen.empty()) return one_each(chosen);
  }
  return error(Code::kInvalidUsage, "no network interface{} is up; there are: {}", family_text, names(all));
}

}  // namespace tutti::net
