// Argument checks and translations that all API functions share.
#pragma once

#include <new>

#include "base/status.h"
#include "base/types.h"
#include "nccl.h"
#include "runtime/runtime.h"

namespace tutti::api {

inline runtime::Communicator* to_communicator(ncclComm_t comm) {
  return reinterpret_cast<runtime::Communicator*>(comm);
}

// The version that ncclGetVersion gives: of nccl.h, unless TUTTI_NCCL_VERSION says otherwise.
int reported_version();
// Whether a program that believes that version knows ncclTimeout (8).
bool speaks_of_timeouts();
// ncclTimeout came with 2.30.3: who was told an older version gets ncclRemoteError instead, which it can act on.
ncclResult_t result_of(Code code);

// Records the text of a failure for ncclGetLastError and gives the code to the caller.
inline ncclResult_t finish(const Status& status) {
  if (status.ok()) [[likely]]
    return ncclSuccess;
  runtime::set_last_error(status);
  return result_of(status.code());
}

// Runs the body of an API function: no exception leaves the C interface.
template <class Body>
ncclResult_t call(const char* function, Body body) noexcept {
  try {
    return finish(body());
  } catch (const std::bad_alloc&) {
    return finish(error(Code::kSystemError, "{}: out of memory", function));
  } catch (const std::exception& exception) {
    return finish(error(Code::kInternalError, "{}: {}", function, exception.what()));
  }
}

// The same for what a group collects: a refusal inside a group makes the whole group fail at its end, as in NCCL.
template <class Body>
ncclResult_t enqueue(const char* function, Body body) noexcept {
  return call(function, [&]() -> Status {
    Status status = body();
    if (!status.ok()) runtime::group_refuse(status);
    return status;
  });
}

Status check_not_null(const void* pointer, const char* function, const char* argument);
// A live communicator. `function` without the prefix "nccl", as NCCL writes it in its texts.
Status check_communicator(ncclComm_t comm, const char* function);
Status check_type(ncclDataType_t type, const char* function);
// Translates the operator; user-made ones are looked up in the communicator.
Status check_op(ncclRedOp_t op, ncclDataType_t type, ncclComm_t comm, const char* function, runtime::ReduceSpec* out);
// Null for CUDA's default streams; else one of ours, or an error.
Status check_stream(cudaStream_t stream, const char* function, void** out);
// Only under NCCL_CHECK_MODE=DEBUG_LOCAL: buffers that overlap without being the same.
Status check_overlap(const void* send, size_t send_bytes, const void* receive, size_t receive_bytes,
                     const char* function);

// What Tutti exports but does not do yet.
Status unavailable(const char* function);

// ncclConfig_t by NCCL's rules: magic, version, min(size), fields newer than the caller's version reset, values
// checked.
Status parse_config(const ncclConfig_t* config, const char* function, runtime::CommOptions* out);

}  // namespace tutti::api
