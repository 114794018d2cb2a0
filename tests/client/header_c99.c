/* The public headers are clean C99, and what they declare can be called from C. */
#include <stdio.h>
#include <string.h>

#include "nccl.h"
#include "nccl_device.h"
#include "tutti/tutti.h"

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      return 1;                                                      \
    }                                                                \
  } while (0)

int main(void) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  ncclComm_t communicator = NCCL_COMM_NULL;
  int version = 0;
  int tutti_version = -1;

  CHECK(config.size == sizeof config && config.blocking == NCCL_CONFIG_UNDEF_INT && config.netName == NULL);
  CHECK(info.size == sizeof info && info.estimatedTime < 0);
  CHECK(sizeof(ncclUniqueId) == 128 && sizeof(ncclRedOp_t) == sizeof(int) && sizeof(tuttiStream_t) == sizeof(void*));
  CHECK(ncclGetVersion(&version) == ncclSuccess && version == NCCL_VERSION_CODE);
  CHECK(tuttiGetVersion(&tutti_version) == ncclSuccess && tutti_version >= 0);
  CHECK(strcmp(ncclGetErrorString(ncclSuccess), "no error") == 0);
  CHECK(ncclCommCount(communicator, &version) == ncclInvalidArgument);
  CHECK(strcmp(ncclGetLastError(communicator), "CommCount : comm argument is NULL") == 0);
  CHECK(pncclGroupStart() == ncclSuccess && ncclGroupEnd() == ncclSuccess);
  CHECK(ncclLLA2ACalcSlots(3, 16) == 6);
  return 0;
}
