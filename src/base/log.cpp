#include "base/log.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
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

struct Variable {
  const char* name = nullptr;
  const char* value = nullptr;  // nullptr: neither is set
};
// Ours goes before NCCL's.
Variable variable(const char* ours, const char* nccls) {
  const char* value = std::getenv(ours);
  return value != nullptr ? Variable{ours, value} : Variable{nccls, std::getenv(nccls)};
}
Variable level_variable() {
  return variable("TUTTI_DEBUG", "NCCL_DEBUG");
}
Variable subsystems_variable() {
  return variable("TUTTI_DEBUG_SUBSYS", "NCCL_DEBUG_SUBSYS");
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

constexpr std::array<std::pair<std::string_view, uint32_t>, 19> kSubsystems = {{
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
    // Words of NCCL's that Tutti has nothing to say about.
    {"ALLOC_HOST", 0},
    {"NVLS", 0},
    {"PROFILE", 0},
    {"RAS", 0},
    {"DESTROY", 0},
    {"ALL", ~0u},
}};
// What NCCL says when it is not asked for more.
constexpr uint32_t kNcclDefault = static_cast<uint32_t>(Subsystem::kInit) |
                                  static_cast<uint32_t>(Subsystem::kBootstrap) | static_cast<uint32_t>(Subsystem::kEnv);

template <class Table>
const typename Table::value_type* find(const Table& table, std::string_view word) {
  const auto it = std::find_if(table.begin(), table.end(), [word](const auto& entry) { return entry.first == word; });
  return it == table.end() ? nullptr : &*it;
}
template <class Table>
std::string words(const Table& table) {
  std::string text;
  for (const auto& [word, meaning] : table)
    if (!word.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", word);
  return text;
}

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
  const char* pattern = variable("TUTTI_DEBUG_FILE", "NCCL_DEBUG_FILE").value;
  if (pattern == nullptr || *pattern == '\0') return;
  const std::string name = file_name(pattern);
  if (name == "stdout" || name == "/dev/stdout") return;
  if (name == "stderr" || name == "/dev/stderr") {
    output = STDERR_FILENO;
    return;
  }
  const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return;
  if (output != STDOUT_FILENO && output != STDERR_FILENO) close(output);
  output = file;
}

// Of the list in `value`. *unknown receives the first word that is none of NCCL's.
uint32_t parse_subsystems(std::string_view value, std::string* unknown) {
  std::string list = upper(value);
  const bool exclude = !list.empty() && list[0] == '^';
  if (exclude) list.erase(0, 1);
  uint32_t chosen = 0;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view word = std::string_view(list).substr(begin, end - begin);
    const auto* entry = find(kSubsystems, word);
    if (entry != nullptr) {
      chosen |= entry->second;
    } else if (!word.empty() && unknown->empty()) {
      *unknown = word;
    }
    begin = end + 1;
  }
  return exclude ? ~chosen : chosen;
}

uint32_t read_subsystems() {
  const char* value = subsystems_variable().value;
  std::string unknown;
  if (value != nullptr) return parse_subsystems(value, &unknown);
  // Who sets Tutti's own variable wants to hear what Tutti does.
  return std::getenv("TUTTI_DEBUG") != nullptr ? ~0u : kNcclDefault;
}

void read_environment() {
  const char* value = level_variable().value;
  const auto* known = find(kLevels, value == nullptr ? "" : upper(value));
  // A word that we do not know (check_log_environment() refuses it): better too much than too little.
  const LogLevel chosen = known == nullptr ? LogLevel::kWarn : known->second;
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

Status check_log_environment() {
  const Variable level_text = level_variable();
  if (level_text.value != nullptr && find(kLevels, upper(level_text.value)) == nullptr)
    return error(Code::kInvalidUsage, "{}=\"{}\": accepted is {}", level_text.name, level_text.value, words(kLevels));
  const Variable list = subsystems_variable();
  std::string unknown;
  if (list.value != nullptr) parse_subsystems(list.value, &unknown);
  if (unknown.empty()) return {};
  return error(Code::kInvalidUsage, "{}=\"{}\": there is no subsystem {}; accepted is {}, all of them after a \"^\"",
               list.name, list.value, unknown, words(kSubsystems));
}

std::mutex& log_mutex() {
  return mutex;
}

void log_reset() {
  const std::lock_guard lock(mutex);
  read_environment();
}

}  // namespace tutti
