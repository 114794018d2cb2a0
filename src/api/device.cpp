// The device API's host functions: exported so that programs which contain device code link and load.
#include "nccl_device.h"

#include "api/check.h"
#include "api/export.h"

namespace {

ncclResult_t refuse(const char* function) {
  return tutti::api::call(function, [=] { return tutti::api::unavailable(function); });
}

template <class Value>
Value refuse_with(const char* function, Value value) {
  static_cast<void>(refuse(function));
  return value;
}

constexpr ncclTeam_t kNoTeam = {0, 0, 0};
constexpr int kNoRank = -1;

}  // namespace

TUTTI_EXPORT ncclResult_t pncclDevCommCreate(ncclComm_t, ncclDevCommRequirements_t const*, ncclDevComm_t*) {
  return refuse("ncclDevCommCreate");
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclDevCommCreate, (ncclComm_t, ncclDevCommRequirements_t const*, ncclDevComm_t*));

TUTTI_EXPORT ncclResult_t pncclDevCommDestroy(ncclComm_t, ncclDevComm_t const*) {
  return refuse("ncclDevCommDestroy");
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclDevCommDestroy, (ncclComm_t, ncclDevComm_t const*));

TUTTI_EXPORT ncclTeam_t pncclTeamWorld(ncclComm_t) {
  return refuse_with("ncclTeamWorld", kNoTeam);
}
TUTTI_WEAK_ALIAS(ncclTeam_t, ncclTeamWorld, (ncclComm_t));

TUTTI_EXPORT ncclTeam_t pncclTeamLsa(ncclComm_t) {
  return refuse_with("ncclTeamLsa", kNoTeam);
}
TUTTI_WEAK_ALIAS(ncclTeam_t, ncclTeamLsa, (ncclComm_t));

TUTTI_EXPORT ncclTeam_t pncclTeamRail(ncclComm_t) {
  return refuse_with("ncclTeamRail", kNoTeam);
}
TUTTI_WEAK_ALIAS(ncclTeam_t, ncclTeamRail, (ncclComm_t));

TUTTI_EXPORT int pncclTeamRankToWorld(ncclComm_t, ncclTeam_t, int) {
  return refuse_with("ncclTeamRankToWorld", kNoRank);
}
TUTTI_WEAK_ALIAS(int, ncclTeamRankToWorld, (ncclComm_t, ncclTeam_t, int));

TUTTI_EXPORT int pncclTeamRankToLsa(ncclComm_t, ncclTeam_t, int) {
  return refuse_with("ncclTeamRankToLsa", kNoRank);
}
TUTTI_WEAK_ALIAS(int, ncclTeamRankToLsa, (ncclComm_t, ncclTeam_t, int));

TUTTI_EXPORT ncclResult_t pncclLsaBarrierCreateRequirement(ncclTeam_t, int, ncclLsaBarrierHandle_t*,
                                                           ncclDevResourceRequirements_t*) {
  return refuse("ncclLsaBarrierCreateRequirement");
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclLsaBarrierCreateRequirement,
                 (ncclTeam_t, int, ncclLsaBarrierHandle_t*, ncclDevResourceRequirements_t*));

TUTTI_EXPORT ncclResult_t pncclGinBarrierCreateRequirement(ncclComm_t, ncclTeam_t, int, ncclGinBarrierHandle_t*,
                                                           ncclDevResourceRequirements_t*) {
  return refuse("ncclGinBarrierCreateRequirement");
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclGinBarrierCreateRequirement,
                 (ncclComm_t, ncclTeam_t, int, ncclGinBarrierHandle_t*, ncclDevResourceRequirements_t*));

TUTTI_EXPORT int pncclLLA2ACalcSlots(int maxElts, int maxEltSize) {
  constexpr int kSlotBytes = 8;
  const auto slots_of_one = static_cast<unsigned>((maxEltSize + kSlotBytes - 1) / kSlotBytes);
  return static_cast<int>(static_cast<unsigned>(maxElts) * slots_of_one);
}
TUTTI_WEAK_ALIAS(int, ncclLLA2ACalcSlots, (int maxElts, int maxEltSize));

TUTTI_EXPORT ncclResult_t pncclLLA2ACreateRequirement(int, int, ncclLLA2AHandle_t*, ncclDevResourceRequirements_t*) {
  return refuse("ncclLLA2ACreateRequirement");
}
TUTTI_WEAK_ALIAS(ncclResult_t, ncclLLA2ACreateRequirement,
                 (int, int, ncclLLA2AHandle_t*, ncclDevResourceRequirements_t*));
