/* The host side of NCCL 2.28.9's device API: the types and the functions that its library exports, with the same
 * layouts and signatures. NCCL itself promises no stable ABI here between minor versions.
 *
 * Tutti exports the functions so that programs link and load. All but ncclLLA2ACalcSlots fail: those that return a
 * result return ncclInvalidUsage, the others a team of no ranks or rank -1; ncclGetLastError has the text. The
 * templates that kernels use are not here.
 */
#ifndef NCCL_DEVICE_H_
#define NCCL_DEVICE_H_

#include <stdbool.h>
#include <stdint.h>

#include "nccl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t ncclDevResourceHandle;
typedef ncclDevResourceHandle ncclDevResourceHandle_t;
typedef uint32_t ncclGinSignal_t;
typedef uint32_t ncclGinCounter_t;
typedef void* ncclGinWindow_t;
#define NCCL_GIN_MAX_CONTEXTS 4

/* Ranks rank, rank + stride, ... seen from one of them. Passed and returned by value. */
typedef struct ncclTeam {
  int nRanks, rank, stride;
} ncclTeam_t;

typedef struct ncclMultimemHandle {
  void* mcBasePtr;
} ncclMultimemHandle_t;

typedef struct ncclLsaBarrierHandle {
  ncclDevResourceHandle_t bufHandle;
  int nBarriers;
} ncclLsaBarrierHandle_t;

typedef struct ncclGinBarrierHandle {
  ncclGinSignal_t signal0;
  ncclDevResourceHandle_t bufHandle;
} ncclGinBarrierHandle_t;

typedef struct ncclLLA2AHandle {
  ncclDevResourceHandle_t bufHandle;
  uint32_t nSlots;
} ncclLLA2AHandle_t;

typedef struct ncclDevResourceRequirements {
  struct ncclDevResourceRequirements* next;
  size_t bufferSize, bufferAlign;
  ncclDevResourceHandle_t* outBufferHandle;
  int ginSignalCount;
  int ginCounterCount;
  ncclGinSignal_t* outGinSignalStart;
  ncclGinCounter_t* outGinCounterStart;
} ncclDevResourceRequirements_t;

typedef struct ncclTeamRequirements {
  struct ncclTeamRequirements* next;
  ncclTeam_t team;
  bool multimem;
  ncclMultimemHandle_t* outMultimemHandle;
} ncclTeamRequirements_t;

typedef struct ncclDevCommRequirements {
  ncclDevResourceRequirements_t* resourceRequirementsList;
  ncclTeamRequirements_t* teamRequirementsList;
  bool lsaMultimem;
  int barrierCount;
  int lsaBarrierCount;
  int railGinBarrierCount;
  int lsaLLA2ABlockCount, lsaLLA2ASlotCount;
  bool ginForceEnable;
  int ginContextCount;
  int ginSignalCount;
  int ginCounterCount;
} ncclDevCommRequirements_t;

struct ncclWindow_vidmem {
  void* winHost;
  char* lsaFlatBase;
  int lsaRank;
  int worldRank;
  uint32_t stride4G;
  uint32_t mcOffset4K;
  uint32_t ginOffset4K;
  ncclGinWindow_t ginWins[NCCL_GIN_MAX_CONTEXTS];
};

struct ncclDevCommWindowTable;

typedef struct ncclDevComm {
  int rank, nRanks;
  uint32_t nRanks_rcp32;
  int lsaRank, lsaSize;
  uint32_t lsaSize_rcp32;
  struct ncclDevCommWindowTable* windowTable;
  ncclWindow_t resourceWindow;
  struct ncclWindow_vidmem resourceWindow_inlined;
  ncclMultimemHandle_t lsaMultimem;
  ncclLsaBarrierHandle_t lsaBarrier;
  ncclGinBarrierHandle_t railGinBarrier;
  uint8_t ginContextCount;
  uint8_t ginTypes[4];
  void* ginHandles[4];
  uint32_t ginSignalBase;
  int ginSignalCount;
  uint32_t ginCounterBase;
  int ginCounterCount;
  uint64_t* ginSignalShadows;
} ncclDevComm_t;

#define TUTTI_NCCL_FUNCTION(type, name, arguments) \
  type name arguments;                             \
  type p##name arguments

TUTTI_NCCL_FUNCTION(ncclResult_t, ncclDevCommCreate,
                    (ncclComm_t comm, ncclDevCommRequirements_t const* requirements, ncclDevComm_t* outDevComm));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclDevCommDestroy, (ncclComm_t comm, ncclDevComm_t const* devComm));

TUTTI_NCCL_FUNCTION(ncclTeam_t, ncclTeamWorld, (ncclComm_t comm));
TUTTI_NCCL_FUNCTION(ncclTeam_t, ncclTeamLsa, (ncclComm_t comm));
TUTTI_NCCL_FUNCTION(ncclTeam_t, ncclTeamRail, (ncclComm_t comm));
TUTTI_NCCL_FUNCTION(int, ncclTeamRankToWorld, (ncclComm_t comm, ncclTeam_t team, int rank));
TUTTI_NCCL_FUNCTION(int, ncclTeamRankToLsa, (ncclComm_t comm, ncclTeam_t team, int rank));

TUTTI_NCCL_FUNCTION(ncclResult_t, ncclLsaBarrierCreateRequirement,
                    (ncclTeam_t team, int nBarriers, ncclLsaBarrierHandle_t* outHandle,
                     ncclDevResourceRequirements_t* outReq));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclGinBarrierCreateRequirement,
                    (ncclComm_t comm, ncclTeam_t team, int nBarriers, ncclGinBarrierHandle_t* outHandle,
                     ncclDevResourceRequirements_t* outReq));
/* Slots that maxElts elements of maxEltSize bytes take: one for each 8 bytes begun of each element. */
TUTTI_NCCL_FUNCTION(int, ncclLLA2ACalcSlots, (int maxElts, int maxEltSize));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclLLA2ACreateRequirement,
                    (int nBlocks, int nSlots, ncclLLA2AHandle_t* outHandle, ncclDevResourceRequirements_t* outReq));

#undef TUTTI_NCCL_FUNCTION

#ifdef __cplusplus
}
#endif

#endif
