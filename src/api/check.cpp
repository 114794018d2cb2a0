#include "api/check.h"

#include "base/config.h"

namespace tutti::api {

namespace {
constexpr int kFirstVersionWithTimeout = NCCL_VERSION(2, 30, 3);
}

int reported_version() {
  return process_config().ok() ? process_config()->reported_version : NCCL_VERSION_CODE;
}

bool speaks_of_timeouts() {
  return reported_version() >= kFirstVersionWithTimeout;
}

ncclResult_t result_of(Code code) {
  if (code == Code::kTimeout && !speaks_of_timeouts()) return ncclRemoteError;
  return static_cast<ncclResult_t>(code);
}

Status check_not_null(const void* pointer, const char* function, const char* argument) {
  if (pointer != nullptr) return {};
  return error(Code::kInvalidArgument, "{} : {} argument is NULL", function, argument);
}

Status check_communicator(ncclComm_t comm, const char* function) {
  TUTTI_RETURN_IF_ERROR(check_not_null(comm, function, "comm"));
  if (runtime::comm_is_valid(comm)) [[likely]]
    return {};
  return error(Code::kInvalidArgument, "{} : communicator {} is not alive: never initialised, destroyed or aborted",
               function, static_cast<void*>(comm));
}

Status check_type(ncclDataType_t type, const char* function) {
  if (type >= 0 && type < ncclNumTypes) [[likely]]
    return {};
  return error(Code::kInvalidArgument, "{} : invalid type {}; there are types 0..{}", function, static_cast<int>(type),
               ncclNumTypes - 1);
}

Status check_op(ncclRedOp_t op, ncclDataType_t type, ncclComm_t comm, const char* function, runtime::ReduceSpec* out) {
  const int value = static_cast<int>(op);
  if (value >= 0 && value < ncclNumOps) [[likely]] {
    out->op = static_cast<ReduceOp>(value);
    return {};
  }
  if (value < 0) return error(Code::kInvalidArgument, "{} : invalid reduction operation {}", function, value);
  const Status found = runtime::red_op_lookup(to_communicator(comm), value, static_cast<DataType>(type), out);
  return found.ok() ? Status() : error(found.code(), "{} : {}", function, found.text());
}

Status check_stream(cudaStream_t stream, const char* function, void** out) {
  // 0, 1 and 2 are CUDA's default streams (legacy and per-thread).
  if (reinterpret_cast<uintptr_t>(stream) <= 2) [[likely]] {
    *out = nullptr;
    return {};
  }
  if (!runtime::stream_is_valid(stream))
    return error(Code::kInvalidArgument, "{} : stream {} is neither a default stream nor made by tuttiStreamCreate",
                 function, static_cast<void*>(stream));
  *out = stream;
  return {};
}

Status check_overlap(const void* send, size_t send_bytes, const void* receive, size_t receive_bytes,
                     const char* function) {
  if (!process_config().ok() || !process_config()->check_pointers || send == receive) return {};
  const auto s = reinterpret_cast<uintptr_t>(send);
  const auto r = reinterpret_cast<uintptr_t>(receive);
  if (s + send_bytes <= r || r + receive_bytes <= s) return {};
  return error(Code::kInvalidArgument,
               "{} : send buffer [{:#x}, {:#x}) and receive buffer [{:#x}, {:#x}) overlap in part", function, s,
               s + send_bytes, r, r + receive_bytes);
}

Status unavailable(const char* function) {
  return error(Code::kInvalidUsage, "{} is exported for compatibility, but this version of Tutti does not carry it out",
               function);
}

}  // namespace tutti::api
