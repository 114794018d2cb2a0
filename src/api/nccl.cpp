// NCCL's functions that Tutti carries out: check, translate, hand on to the runtime.
#include "nccl.h"

#include <cstring>

#include "api/check.h"
#include "api/export.h"
#include "base/config.h"
#include "base/log.h"

using namespace tutti;       // NOLINT(google-build-using-namespace): this file is the border between both worlds
using namespace tutti::api;  // NOLINT(google-build-using-namespace)

// --- versions and errors

TUTTI_EXPORT ncclResult_t pncclGetVersion(int* version) {
  return call("ncclGetVersion", [=]() -> Status {
    TUTTI_RETURN_IF_ERROR(check_not_null(version, "GetVersion", "version"));
    *version = reported_version();
    return {};
  });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclGetVersion, (int* version));

TUTTI_EXPORT const char* pncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError: return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError: return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError: return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument: return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage: return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError: return "remote process exited or there was a network error";
    case ncclInProgress: return "NCCL operation in progress";
    default: break;
  }
  return static_cast<int>(result) == static_cast<int>(Code::kTimeout) && speaks_of_timeouts() ? "timeout"
                                                                                              : "unknown result code";
}
TUTTI_WEAK_ALIAS(const char*, ncclGetErrorString, (ncclResult_t result));

TUTTI_EXPORT const char* pncclGetLastError(ncclComm_t) {
  return runtime::last_error_text();
}
TUTTI_WEAK_ALIAS(const char*, ncclGetLastError, (ncclComm_t comm));

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TUTTI_EXPORT void pncclResetDebugInit() {
  log_reset();
}
TUTTI_WEAK_ALIAS(void, ncclResetDebugInit, ());
#pragma GCC diagnostic pop
TUTTI_EXPORT void ncclResetDebugInitInternal() {
  log_reset();
}

// --- communicators

TUTTI_EXPORT ncclResult_t pncclGetUniqueId(ncclUniqueId* uniqueId) {
  return call("ncclGetUniqueId", [=]() -> Status {
    TUTTI_RETURN_IF_ERROR(check_not_null(uniqueId, "GetUniqueId", "out"));
    TUTTI_ASSIGN_OR_RETURN(const auto id, runtime::get_unique_id());
    static_assert(sizeof id == sizeof *uniqueId);
    std::memcpy(uniqueId, id.data(), sizeof id);
    return {};
  });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclGetUniqueId, (ncclUniqueId * uniqueId));

namespace {

Status init_rank(const char* function, ncclComm_t* comm, int nranks, const ncclUniqueId& id, int rank,
                 const ncclConfig_t* config) {
  TUTTI_RETURN_IF_ERROR(check_not_null(comm, function, "comm"));
  if (nranks < 1 || rank < 0 || rank >= nranks)
    return error(Code::kInvalidArgument, "{} : rank {} of {} ranks; ranks are 0 to nranks - 1, nranks is at least 1",
                 function, rank, nranks);
  runtime::CommOptions options;
  TUTTI_RETURN_IF_ERROR(parse_config(config, function, &options));
  std::array<char, NCCL_UNIQUE_ID_BYTES> bytes;
  std::memcpy(bytes.data(), &id, sizeof id);
  *comm = nullptr;
  return runtime::comm_init_rank(reinterpret_cast<runtime::Communicator**>(comm), nranks, bytes, rank, options);
}

}  // namespace

TUTTI_EXPORT ncclResult_t pncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank) {
  return enqueue("ncclCommInitRank", [&] { return init_rank("CommInitRank", comm, nranks, commId, rank, nullptr); });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclCommInitRank, (ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank));

TUTTI_EXPORT ncclResult_t pncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank,
                                                  ncclConfig_t* config) {
  return enqueue("ncclCommInitRankConfig",
                 [&] { return init_rank("CommInitRankConfig", comm, nranks, commId, rank, config); });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclCommInitRankConfig,
                 (ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t* config));

// Several ids stand for several places to meet. All ranks pass the same list, so that the first alone brings them
// together.
TUTTI_EXPORT ncclResult_t pncclCommInitRankScalable(ncclComm_t* newcomm, int nranks, int myrank, int nId,
                                                    ncclUniqueId* commIds, ncclConfig_t* config) {
  return enqueue("ncclCommInitRankScalable", [=]() -> Status {
    constexpr const char* name = "CommInitRankScalable";
    TUTTI_RETURN_IF_ERROR(check_not_null(commIds, name, "commIds"));
    if (nId < 1 || nId > nranks)
      return error(Code::kInvalidArgument, "{} : {} ids for {} ranks; accepted are 1 to nranks", name, nId, nranks);
    return init_rank(name, newcomm, nranks, commIds[0], myrank, config);
  });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclCommInitRankScalable,
                 (ncclComm_t * newcomm, int nranks, int myrank, int nId, ncclUniqueId* commIds, ncclConfig_t* config));

TUTTI_EXPORT ncclResult_t pncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist) {
  return call("ncclCommInitAll", [=]() -> Status {
    TUTTI_RETURN_IF_ERROR(check_not_null(comm, "CommInitAll", "comm"));
    if (ndev < 1) return error(Code::kInvalidArgument, "CommInitAll : {} devices; at least 1 is needed", ndev);
    for (int i = 0; devlist != nullptr && i < ndev; ++i) {
      if (devlist[i] < 0) return error(Code::kInvalidArgument, "CommInitAll : device {} at place {}", devlist[i], i);
      for (int j = 0; j < i; ++j)
        if (devlist[i] == devlist[j])
          return error(Code::kInvalidUsage, "CommInitAll : device {} stands twice in the list, at {} and {}",
                       devlist[i], j, i);
    }
    return runtime::comm_init_all(reinterpret_cast<runtime::Communicator**>(comm), ndev, devlist);
  });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclCommInitAll, (ncclComm_t * comm, int ndev, const int* devlist));

namespace {

// Finalize, Destroy and Abort of a null communicator do nothing, as in NCCL.
template <class Function>
ncclResult_t end_communicator(const char* function, ncclComm_t comm, Function end) {
  return call(function, [=]() -> Status {
    if (comm == nullptr) return {};
    TUTTI_RETURN_IF_ERROR(check_communicator(comm, function + std::strlen("nccl")));
    return end(to_communicator(comm));
  });
}

}  // namespace

TUTTI_EXPORT ncclResult_t pncclCommFinalize(ncclComm_t comm) {
  return end_communicator("ncclCommFinalize", comm, runtime::comm_finalize);
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclCommFinalize, (ncclComm_t comm));

TUTTI_EXPORT ncclResult_t pncclCommDestroy(ncclComm_t comm) {
  return end_communicator("ncclCommDestroy", comm, runtime::comm_destroy);
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclCommDestroy, (ncclComm_t comm));

TUTTI_EXPORT ncclResult_t pncclCommAbort(ncclComm_t comm) {
  return end_communicator("ncclCommAbort", comm, runtime::comm_abort);
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclCommAbort, (ncclComm_t comm));

TUTTI_EXPORT ncclResult_t pncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError) {
  return call("ncclCommGetAsyncError", [=]() -> Status {
    TUTTI_RETURN_IF_ERROR(check_communicator(comm, "ncclGetAsyncError"));
    TUTTI_RETURN_IF_ERROR(check_not_null(asyncError, "ncclGetAsyncError", "asyncError"));
    Status status;
    TUTTI_RETURN_IF_ERROR(runtime::comm_async_error(to_communicator(comm), &status));
    *asyncError = result_of(status.code());
    return {};
  });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclCommGetAsyncError, (ncclComm_t comm, ncclResult_t* asyncError));

namespace {

ncclResult_t query(const char* function, ncclComm_t comm, int* out, const char* argument,
                   int (*ask)(const runtime::Communicator*)) {
  return call(function, [=]() -> Status {
    const char* shown = function + std::strlen("nccl");
    TUTTI_RETURN_IF_ERROR(check_communicator(comm, shown));
    TUTTI_RETURN_IF_ERROR(check_not_null(out, shown, argument));
    *out = ask(to_communicator(comm));
    return {};
  });
}

}  // namespace

TUTTI_EXPORT ncclResult_t pncclCommCount(const ncclComm_t comm, int* count) {
  return query("ncclCommCount", comm, count, "count", runtime::comm_count);
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclCommCount, (const ncclComm_t comm, int* count));

TUTTI_EXPORT ncclResult_t pncclCommCuDevice(const ncclComm_t comm, int* device) {
  return query("ncclCommCuDevice", comm, device, "device", runtime::comm_device);
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclCommCuDevice, (const ncclComm_t comm, int* device));

TUTTI_EXPORT ncclResult_t pncclCommUserRank(const ncclComm_t comm, int* rank) {
  return query("ncclCommUserRank", comm, rank, "rank", runtime::comm_rank);
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclCommUserRank, (const ncclComm_t comm, int* rank));

// --- groups

TUTTI_EXPORT ncclResult_t pncclGroupStart() {
  return call("ncclGroupStart", runtime::group_start);
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclGroupStart, ());

TUTTI_EXPORT ncclResult_t pncclGroupEnd() {
  return call("ncclGroupEnd", runtime::group_end);
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclGroupEnd, ());

// --- collectives

TUTTI_EXPORT ncclResult_t pncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                                         ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return enqueue("ncclAllReduce", [=]() -> Status {
    constexpr const char* name = "AllReduce";
    TUTTI_RETURN_IF_ERROR(check_communicator(comm, name));
    TUTTI_RETURN_IF_ERROR(check_type(datatype, name));
    runtime::ReduceSpec reduce;
    TUTTI_RETURN_IF_ERROR(check_op(op, datatype, comm, name, &reduce));
    void* host_stream = nullptr;
    TUTTI_RETURN_IF_ERROR(check_stream(stream, name, &host_stream));
    if (count != 0) {
      TUTTI_RETURN_IF_ERROR(check_not_null(sendbuff, name, "sendbuff"));
      TUTTI_RETURN_IF_ERROR(check_not_null(recvbuff, name, "recvbuff"));
      const size_t bytes = count * size_of(static_cast<DataType>(datatype));
      TUTTI_RETURN_IF_ERROR(check_overlap(sendbuff, bytes, recvbuff, bytes, name));
    }
    return runtime::all_reduce(to_communicator(comm), sendbuff, recvbuff, count, static_cast<DataType>(datatype),
                               reduce, host_stream);
  });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclAllReduce,
                 (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                  ncclComm_t comm, cudaStream_t stream));

// --- reduction operators

TUTTI_EXPORT ncclResult_t pncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t datatype,
                                                    ncclScalarResidence_t residence, ncclComm_t comm) {
  return call("ncclRedOpCreatePreMulSum", [=]() -> Status {
    constexpr const char* name = "ncclRedOpCreatePreMulSum";
    TUTTI_RETURN_IF_ERROR(check_communicator(comm, name));
    TUTTI_RETURN_IF_ERROR(check_not_null(op, name, "op"));
    TUTTI_RETURN_IF_ERROR(check_not_null(scalar, name, "scalar"));
    TUTTI_RETURN_IF_ERROR(check_type(datatype, name));
    if (residence != ncclScalarDevice && residence != ncclScalarHostImmediate)
      return error(Code::kInvalidArgument, "{} : residence {}; accepted are 0 (device) and 1 (host immediate)", name,
                   static_cast<int>(residence));
    int handle = 0;
    TUTTI_RETURN_IF_ERROR(runtime::red_op_create_premulsum(
        to_communicator(comm), scalar, static_cast<DataType>(datatype), residence == ncclScalarDevice, &handle));
    *op = static_cast<ncclRedOp_t>(handle);
    return {};
  });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclRedOpCreatePreMulSum,
                 (ncclRedOp_t * op, void* scalar, ncclDataType_t datatype, ncclScalarResidence_t residence,
                  ncclComm_t comm));

TUTTI_EXPORT ncclResult_t pncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  return call("ncclRedOpDestroy", [=]() -> Status {
    const int handle = static_cast<int>(op);
    if (handle < 0) return Status(Code::kInvalidArgument, "ncclRedOpDestroy :  operator is garbage.");
    if (handle < ncclNumOps) return Status(Code::kInvalidArgument, "ncclRedOpDestroy : operator is a NCCL builtin.");
    if (comm == nullptr) return Status(Code::kInvalidArgument, "ncclRedOpDestroy : invalid communicator passed.");
    TUTTI_RETURN_IF_ERROR(check_communicator(comm, "ncclRedOpDestroy"));
    return runtime::red_op_destroy(to_communicator(comm), handle);
  });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclRedOpDestroy, (ncclRedOp_t op, ncclComm_t comm));

// --- memory

TUTTI_EXPORT ncclResult_t pncclMemAlloc(void** ptr, size_t size) {
  return call("ncclMemAlloc", [=]() -> Status {
    TUTTI_RETURN_IF_ERROR(check_not_null(ptr, "MemAlloc", "ptr"));
    TUTTI_ASSIGN_OR_RETURN(*ptr, runtime::mem_alloc(size));
    return {};
  });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclMemAlloc, (void** ptr, size_t size));

TUTTI_EXPORT ncclResult_t pncclMemFree(void* ptr) {
  return call("ncclMemFree", [=] { return runtime::mem_free(ptr); });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclMemFree, (void* ptr));

TUTTI_EXPORT ncclResult_t pncclCommRegister(const ncclComm_t comm, void* buff, size_t size, void** handle) {
  return call("ncclCommRegister", [=]() -> Status {
    TUTTI_RETURN_IF_ERROR(check_communicator(comm, "ncclCommRegister"));
    TUTTI_RETURN_IF_ERROR(check_not_null(handle, "ncclCommRegister", "handle"));
    return runtime::comm_register(to_communicator(comm), buff, size, handle);
  });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclCommRegister, (const ncclComm_t comm, void* buff, size_t size, void** handle));

TUTTI_EXPORT ncclResult_t pncclCommDeregister(const ncclComm_t comm, void* handle) {
  return call("ncclCommDeregister", [=]() -> Status {
    TUTTI_RETURN_IF_ERROR(check_communicator(comm, "ncclCommDeregister"));
    return runtime::comm_deregister(to_communicator(comm), handle);
  });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclCommDeregister, (const ncclComm_t comm, void* handle));
