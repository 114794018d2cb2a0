// How a perf program ends when it cannot go on. The codes are nccl-tests' (testResult_t).
#pragma once

namespace tutti::perf {

enum ExitCode : int {
  kExitSuccess = 0,
  kExitInternalError = 1,
  kExitNcclError = 3,
  kExitTimeout = 4,
  kExitWrongResults = 7,  // wrong elements, or less bandwidth than NCCL_TESTS_MIN_BW asks for
};

// Writes "<host> pid <pid>: <text>" to stderr and ends the process at once, from any thread. Other ranks notice by
// their communicators and by the launcher.
[[noreturn, gnu::format(printf, 2, 3)]] void fail(ExitCode code, const char* format, ...);

}  // namespace tutti::perf
