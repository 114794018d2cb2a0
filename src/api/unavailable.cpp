// What libnccl.so.2 exports and Tutti does not carry out yet: present for the linker, says so when called. Misuse that
// NCCL reports (no communicator, no group) is reported as NCCL does.
#include "api/check.h"
#include "api/export.h"
#include "nccl.h"

namespace {

tutti::Status unavailable(ncclComm_t comm, const char* shown, const char* function) {
  TUTTI_RETURN_IF_ERROR(tutti::api::check_communicator(comm, shown));
  return tutti::api::unavailable(function);
}

}  // namespace

// `arguments` names its communicator `comm`; `shown` is how NCCL's messages call the function.
#define TUTTI_UNAVAILABLE(name, shown, arguments)                                       \
  TUTTI_EXPORT ncclResult_t p##name arguments {                                         \
    return tutti::api::enqueue(#name, [=] { return unavailable(comm, shown, #name); }); \
  }                                                                                     \
  TUTTI_WEAK_ALIAS(ncclResult_t, name, arguments)

// --- communicators
TUTTI_UNAVAILABLE(ncclCommSplit, "CommSplit", (ncclComm_t comm, int, int, ncclComm_t*, ncclConfig_t*));
TUTTI_UNAVAILABLE(ncclCommShrink, "CommShrink", (ncclComm_t comm, int*, int, ncclComm_t*, ncclConfig_t*, int));
TUTTI_UNAVAILABLE(ncclCommWindowRegister, "ncclCommWindowRegister",
                  (ncclComm_t comm, void*, size_t, ncclWindow_t*, int));

TUTTI_EXPORT ncclResult_t pncclCommRevoke(ncclComm_t comm, int) {
  return comm == nullptr
             ? ncclSuccess
             : tutti::api::call("ncclCommRevoke", [=] { return unavailable(comm, "CommRevoke", "ncclCommRevoke"); });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclCommRevoke, (ncclComm_t comm, int revokeFlags));

TUTTI_EXPORT ncclResult_t pncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win) {
  return win == nullptr ? ncclSuccess : tutti::api::call("ncclCommWindowDeregister", [=] {
    return unavailable(comm, "ncclCommWindowDeregister", "ncclCommWindowDeregister");
  });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclCommWindowDeregister, (ncclComm_t comm, ncclWindow_t win));

// --- collectives, send and receive
TUTTI_UNAVAILABLE(ncclReduce, "Reduce",
                  (const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, int, ncclComm_t comm, cudaStream_t));
TUTTI_UNAVAILABLE(ncclBcast, "Broadcast", (void*, size_t, ncclDataType_t, int, ncclComm_t comm, cudaStream_t));
TUTTI_UNAVAILABLE(ncclBroadcast, "Broadcast",
                  (const void*, void*, size_t, ncclDataType_t, int, ncclComm_t comm, cudaStream_t));
TUTTI_UNAVAILABLE(ncclReduceScatter, "ReduceScatter",
                  (const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t comm, cudaStream_t));
TUTTI_UNAVAILABLE(ncclAllGather, "AllGather",
                  (const void*, void*, size_t, ncclDataType_t, ncclComm_t comm, cudaStream_t));
TUTTI_UNAVAILABLE(ncclAlltoAll, "AlltoAll",
                  (const void*, void*, size_t, ncclDataType_t, ncclComm_t comm, cudaStream_t));
TUTTI_UNAVAILABLE(ncclGather, "Gather",
                  (const void*, void*, size_t, ncclDataType_t, int, ncclComm_t comm, cudaStream_t));
TUTTI_UNAVAILABLE(ncclScatter, "Scatter",
                  (const void*, void*, size_t, ncclDataType_t, int, ncclComm_t comm, cudaStream_t));
TUTTI_UNAVAILABLE(ncclSend, "Send", (const void*, size_t, ncclDataType_t, int, ncclComm_t comm, cudaStream_t));
TUTTI_UNAVAILABLE(ncclRecv, "Recv", (void*, size_t, ncclDataType_t, int, ncclComm_t comm, cudaStream_t));

// --- groups
TUTTI_EXPORT ncclResult_t pncclGroupSimulateEnd(ncclSimInfo_t* simInfo) {
  return tutti::api::call("ncclGroupSimulateEnd", [=]() -> tutti::Status {
    using tutti::Code;
    if (!tutti::runtime::in_group()) return tutti::Status(Code::kInvalidUsage, "ncclGroupEnd: not in a group call.");
    constexpr unsigned kMagic = 0x74685283;
    if (simInfo != nullptr && simInfo->magic != kMagic)
      return tutti::error(Code::kInvalidArgument,
                          "ncclGroupSimulateEnd : the info's magic is {:#x}, not {:#x}: it was not made with "
                          "NCCL_SIM_INFO_INITIALIZER. The group stays open",
                          simInfo->magic, kMagic);
    return tutti::api::unavailable("ncclGroupSimulateEnd (the group stays open, ncclGroupEnd runs it)");
  });
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclGroupSimulateEnd, (ncclSimInfo_t * simInfo));
