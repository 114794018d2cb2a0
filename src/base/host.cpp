#include "base/host.h"

#include <sched.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

namespace tutti {

uint64_t stable_hash(std::string_view text, uint64_t seed) {
  uint64_t hash = seed;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

const std::string& hostname() {
  static const auto* name = [] {
    char buffer[256] = "";
    if (gethostname(buffer, sizeof buffer - 1) != 0) return new std::string("unknown-host");
    return new std::string(buffer);
  }();
  return *name;
}

uint64_t host_identity(const std::optional<std::string>& override) {
  if (override.has_value()) return stable_hash(*override);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return stable_hash(hostname() + "/" + boot);
}

namespace {

uint64_t draw_identity() {
  uint64_t identity = 0;
  if (getrandom(&identity, sizeof identity, 0) == sizeof identity) return identity;
  return stable_hash(hostname() + std::to_string(getpid())) ^ reinterpret_cast<uintptr_t>(&identity);
}
std::atomic<uint64_t>& identity_of_process() {
  static std::atomic<uint64_t> identity{draw_identity()};
  return identity;
}

}  // namespace

uint64_t process_identity() {
  return identity_of_process().load(std::memory_order_relaxed);
}
void redraw_process_identity() {
  identity_of_process().store(draw_identity(), std::memory_order_relaxed);
}

uint32_t usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<uint32_t>(CPU_COUNT(&set));
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<uint32_t>(online) : 1;
}

}  // namespace tutti
