// Calls into the library: what fails ends the process with nccl-tests' message and exit code.
#pragma once

#include <nccl.h>

#include "common/exit.h"
#include "common/types.h"

namespace tutti::perf {

[[noreturn]] void fail_nccl(ncclResult_t result, const char* what, const char* file, int line);

#define TUTTI_PERF_NCCL(call)                                            \
  do {                                                                   \
    const ncclResult_t perf_result_ = (call);                            \
    if (perf_result_ != ncclSuccess) [[unlikely]]                        \
      ::tutti::perf::fail_nccl(perf_result_, #call, __FILE__, __LINE__); \
  } while (false)

inline ncclDataType_t nccl_type(Type type) {
  return static_cast<ncclDataType_t>(type);
}

}  // namespace tutti::perf
