// The log: off unless TUTTI_DEBUG (or NCCL_DEBUG) asks for it. Levels: NONE, VERSION, WARN, INFO, TRACE.
// TUTTI_DEBUG_FILE / NCCL_DEBUG_FILE (%h host, %p pid) redirects it; default stdout, as NCCL.
// TUTTI_DEBUG_SUBSYS / NCCL_DEBUG_SUBSYS: INIT, COLL, NET, ... as in NCCL; "^X" excludes. Without them NCCL_DEBUG means
// INIT,BOOTSTRAP,ENV as in NCCL, and TUTTI_DEBUG everything.
// Lines: "host:pid:tid TUTTI INFO text". Thread safe; a line is written with one write(2). Disabled lines cost
// one load.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/status.h"

namespace tutti {

enum class LogLevel : int { kNone = 0, kVersion = 1, kWarn = 2, kInfo = 3, kTrace = 5 };
enum class Subsystem : uint32_t {
  kInit = 1u << 0,
  kColl = 1u << 1,
  kP2p = 1u << 2,
  kShm = 1u << 3,
  kNet = 1u << 4,
  kGraph = 1u << 5,
  kTuning = 1u << 6,
  kEnv = 1u << 7,
  kAlloc = 1u << 8,
  kCall = 1u << 9,
  kProxy = 1u << 10,
  kBootstrap = 1u << 11,
  kReg = 1u << 12,
};

namespace log_internal {
extern std::atomic<int> level;  // -1 until the environment was read
extern std::atomic<uint32_t> subsystems;
bool enabled_slow(LogLevel at, Subsystem subsystem);
void write(LogLevel at, std::string text);
}  // namespace log_internal

inline bool log_enabled(LogLevel at, Subsystem subsystem) {
  const int now = log_internal::level.load(std::memory_order_relaxed);
  if (now >= 0 && now < static_cast<int>(at)) [[likely]]
    return false;
  return log_internal::enabled_slow(at, subsystem);
}

// Guards the output. Nothing else is locked under it. For the handlers of a fork, which hold it across.
std::mutex& log_mutex();

// Names the first word of the variables above that neither NCCL nor Tutti knows.
Status check_log_environment();

// Reads the environment again (ncclResetDebugInit).
void log_reset();

template <class... Args>
void log_info(Subsystem subsystem, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(LogLevel::kInfo, subsystem))
    log_internal::write(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_warn(fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(LogLevel::kWarn, Subsystem::kInit))
    log_internal::write(LogLevel::kWarn, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace tutti
