// What libnccl.so.2 exports and Tutti does not carry out yet: present for the linker, says so when called.
#include <climits>

#include "api/check.h"
#include "api/export.h"
#include "nccl.h"

// The device API's types (nccl_device.h): here only as far as the calling convention needs them.
struct ncclTeam {
  int nRanks, rank, stride;
};

#define TUTTI_UNAVAILABLE(name, arguments)                                         \
  TUTTI_EXPORT ncclResult_t p##name arguments {                                    \
    return tutti::api::call(#name, [] { return tutti::api::unavailable(#name); }); \
  }                                                                                \
  TUTTI_WEAK_ALIAS(ncclResult_t, name, arguments)

// The same for functions whose result is no ncclResult_t.
#define TUTTI_UNAVAILABLE_VALUE(type, value, name, arguments)              \
  TUTTI_EXPORT type p##name arguments {                                    \
    static_cast<void>(tutti::api::finish(tutti::api::unavailable(#name))); \
    return value;                                                          \
  }                                                                        \
  TUTTI_WEAK_ALIAS(type, name, arguments)

TUTTI_UNAVAILABLE(ncclCommInitRankScalable, (ncclComm_t*, int, int, int, ncclUniqueId*, ncclConfig_t*));
TUTTI_UNAVAILABLE(ncclCommRevoke, (ncclComm_t, int));
TUTTI_UNAVAILABLE(ncclCommSplit, (ncclComm_t, int, int, ncclComm_t*, ncclConfig_t*));
TUTTI_UNAVAILABLE(ncclCommShrink, (ncclComm_t, int*, int, ncclComm_t*, ncclConfig_t*, int));
TUTTI_UNAVAILABLE(ncclCommWindowRegister, (ncclComm_t, void*, size_t, ncclWindow_t*, int));
TUTTI_UNAVAILABLE(ncclCommWindowDeregister, (ncclComm_t, ncclWindow_t));
TUTTI_UNAVAILABLE(ncclReduce, (const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, int, ncclComm_t, cudaStream_t));
TUTTI_UNAVAILABLE(ncclBcast, (void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t));
TUTTI_UNAVAILABLE(ncclBroadcast, (const void*, void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t));
TUTTI_UNAVAILABLE(ncclReduceScatter,
                  (const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t));
TUTTI_UNAVAILABLE(ncclAllGather, (const void*, void*, size_t, ncclDataType_t, ncclComm_t, cudaStream_t));
TUTTI_UNAVAILABLE(ncclAlltoAll, (const void*, void*, size_t, ncclDataType_t, ncclComm_t, cudaStream_t));
TUTTI_UNAVAILABLE(ncclGather, (const void*, void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t));
TUTTI_UNAVAILABLE(ncclScatter, (const void*, void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t));
TUTTI_UNAVAILABLE(ncclSend, (const void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t));
TUTTI_UNAVAILABLE(ncclRecv, (void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t));
TUTTI_UNAVAILABLE(ncclGroupSimulateEnd, (ncclSimInfo_t*));

// --- device API
TUTTI_UNAVAILABLE(ncclDevCommCreate, (ncclComm_t, const void*, void*));
TUTTI_UNAVAILABLE(ncclDevCommDestroy, (ncclComm_t, const void*));
TUTTI_UNAVAILABLE(ncclGinBarrierCreateRequirement, (ncclComm_t, ncclTeam, int, void*, void*));
TUTTI_UNAVAILABLE(ncclLsaBarrierCreateRequirement, (ncclTeam, int, void*, void*));
TUTTI_UNAVAILABLE(ncclLLA2ACreateRequirement, (int, int, void*, void*));
TUTTI_UNAVAILABLE_VALUE(int, 0, ncclLLA2ACalcSlots, (int, int));
TUTTI_UNAVAILABLE_VALUE(ncclTeam, {}, ncclTeamWorld, (ncclComm_t));
TUTTI_UNAVAILABLE_VALUE(ncclTeam, {}, ncclTeamLsa, (ncclComm_t));
TUTTI_UNAVAILABLE_VALUE(ncclTeam, {}, ncclTeamRail, (ncclComm_t));
TUTTI_UNAVAILABLE_VALUE(int, -1, ncclTeamRankToWorld, (ncclComm_t, ncclTeam, int));
TUTTI_UNAVAILABLE_VALUE(int, -1, ncclTeamRankToLsa, (ncclComm_t, ncclTeam, int));
