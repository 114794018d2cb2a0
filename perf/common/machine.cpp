#include "common/machine.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

namespace tutti::perf {

namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The text after "key<blanks>:" in a file of such lines.
std::string field(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return {};
}

// A control group file holds a number or "max".
int64_t group_number(const char* path) {
  std::istringstream text(first_line(path));
  int64_t number = 0;
  return text >> number ? number : std::numeric_limits<int64_t>::max();
}

}  // namespace

std::string host_name() {
  char name[256] = "localhost";
  gethostname(name, sizeof name - 1);
  const std::string text = name;
  return text.substr(0, text.find('.'));
}

std::string host_identity() {
  return host_name() + "/" + first_line("/proc/sys/kernel/random/boot_id");
}

std::string processor_name() {
  const std::string name = field("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown processor" : name;
}

int64_t available_memory() {
  std::istringstream kilobytes(field("/proc/meminfo", "MemAvailable"));
  int64_t available = 0;
  if (kilobytes >> available) {
    available *= 1024;
  } else {
    available = static_cast<int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  }
  const int64_t limit = group_number("/sys/fs/cgroup/memory.max");
  const int64_t used = group_number("/sys/fs/cgroup/memory.current");
  if (limit != std::numeric_limits<int64_t>::max() && used < limit) available = std::min(available, limit - used);
  return available;
}

int64_t peak_resident_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

int64_t buffer_limit(int64_t wanted, int64_t available, int64_t ranks_here) {
  constexpr int64_t kOwnNeeds = 64 << 20;  // expected values are made blockwise; small runs need far less
  const int64_t part = (available - available / 20) / ranks_here;
  const int64_t share = part - std::min(kOwnNeeds, part / 2);
  return std::max<int64_t>(1, std::min(wanted, share / 2));
}

}  // namespace tutti::perf
