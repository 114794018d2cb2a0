#include "base/log.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/host.h"

namespace tutti {

namespace log_internal {
std::atomic<int> level{-1};
std::atomic<uint32_t> subsystems{~0u};
}  // namespace log_internal

namespace {

using log_internal::level;
using log_internal::subsystems;

std::mutex mutex;  // guards the output and the reading of the environment
int output = STDOUT_FILENO;

const char* variable(const char* ours, const char* nccls) {
  const char* value = std::getenv(ours);
  return value != nullptr ? value : std::getenv(nccls);
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

constexpr std::array<std::pair<std::string_view, LogLevel>, 8> kLevels = {{{"NONE", LogLevel::kNone},
                                                                           {"VERSION", LogLevel::kVersion},
                                                                           {"WARN", LogLevel::kWarn},
                                                                           {"ATTN", LogLevel::kWarn},
                                                                           {"INFO", LogLevel::kInfo},
                                                                           {"ABORT", LogLevel::kInfo},
                                                                           {"TRACE", LogLevel::kTrace},
                                                                           {"", LogLevel::kNone}}};

constexpr std::array<std::pair<std::string_view, uint32_t>, 14> kSubsystems = {{
    {"INIT", static_cast<uint32_t>(Subsystem::kInit)},
    {"COLL", static_cast<uint32_t>(Subsystem::kColl)},
    {"P2P", static_cast<uint32_t>(Subsystem::kP2p)},
    {"SHM", static_cast<uint32_t>(Subsystem::kShm)},
    {"NET", static_cast<uint32_t>(Subsystem::kNet)},
    {"GRAPH", static_cast<uint32_t>(Subsystem::kGraph)},
    {"TUNING", static_cast<uint32_t>(Subsystem::kTuning)},
    {"ENV", static_cast<uint32_t>(Subsystem::kEnv)},
    {"ALLOC", static_cast<uint32_t>(Subsystem::kAlloc)},
    {"CALL", static_cast<uint32_t>(Subsystem::kCall)},
    {"PROXY", static_cast<uint32_t>(Subsystem::kProxy)},
    {"BOOTSTRAP", static_cast<uint32_t>(Subsystem::kBootstrap)},
    {"REG", static_cast<uint32_t>(Subsystem::kReg)},
    {"ALL", ~0u},
}};

// "%h" and "%p" in the file's name stand for the host and the process.
std::string file_name(std::string_view pattern) {
  std::string name;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      name += pattern[i];
      continue;
    }
    switch (pattern[++i]) {
      case 'h': name += hostname(); break;
      case 'p': name += std::to_string(getpid()); break;
      default: name += pattern[i];
    }
  }
  return name;
}

void read_file_name() {
  const char* pattern = variable("TUTTI_DEBUG_FILE", "NCCL_DEBUG_FILE");
  if (pattern == nullptr || *pattern == '\0') return;
  const std::string name = file_name(pattern);
  if (name == "stdout" || name == "/dev/stdout") return;
  if (name == "stderr" || name == "/dev/stderr") {
    output = STDERR_FILENO;
    return;
  }
  const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file >= 0) output = file;
}

uint32_t read_subsystems() {
  const char* value = variable("TUTTI_DEBUG_SUBSYS", "NCCL_DEBUG_SUBSYS");
  if (value == nullptr) return ~0u;
  std::string list = upper(value);
  const bool exclude = !list.empty() && list[0] == '^';
  if (exclude) list.erase(0, 1);
  uint32_t chosen = 0;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    for (const auto& [name, bits] : kSubsystems)
      if (std::string_view(list).substr(begin, end - begin) == name) chosen |= bits;
    begin = end + 1;
  }
  return exclude ? ~chosen : chosen;
}

void read_environment() {
  const char* value = variable("TUTTI_DEBUG", "NCCL_DEBUG");
  const std::string word = value == nullptr ? "" : upper(value);
  LogLevel chosen = LogLevel::kWarn;  // a word that we do not know: better too much than too little
  for (const auto& [name, at] : kLevels)
    if (word == name) chosen = at;
  if (chosen != LogLevel::kNone) read_file_name();
  subsystems.store(read_subsystems(), std::memory_order_relaxed);
  level.store(static_cast<int>(chosen), std::memory_order_release);
}

}  // namespace

namespace log_internal {

bool enabled_slow(LogLevel at, Subsystem subsystem) {
  if (level.load(std::memory_order_acquire) < 0) {
    const std::lock_guard lock(mutex);
    if (level.load(std::memory_order_relaxed) < 0) read_environment();
  }
  if (level.load(std::memory_order_relaxed) < static_cast<int>(at)) return false;
  return at <= LogLevel::kWarn || (subsystems.load(std::memory_order_relaxed) & static_cast<uint32_t>(subsystem)) != 0;
}

void write(LogLevel at, std::string text) {
  const char* word = at == LogLevel::kWarn      ? "WARN"
                     : at == LogLevel::kVersion ? "VERSION"
                     : at == LogLevel::kTrace   ? "TRACE"
                                                : "INFO";
  const std::string line = fmt::format("{}:{}:{} TUTTI {} {}\n", hostname(), getpid(), syscall(SYS_gettid), word, text);
  const std::lock_guard lock(mutex);
  // Nothing can be done about a log that cannot be written.
  [[maybe_unused]] const ssize_t written = ::write(output, line.data(), line.size());
}

}  // namespace log_internal

std::mutex& log_mutex() {
  return mutex;
}

void log_reset() {
  const std::lock_guard lock(mutex);
  read_environment();
}

}  // namespace tutti
