/* A program that knows only nccl.h: one thread drives several ranks on host memory. It is compiled against Tutti's
 * header, and by compare_answers.py against NVIDIA's, and must do the same on libtutti. */
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRanks = 3, kCount = 1000 };

#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      printf("%s:%d: not so: %s; last error: %s\n", __FILE__, __LINE__, #condition, ncclGetLastError(NULL)); \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)
#define NCCL(call) CHECK((call) == ncclSuccess)

static float in[kRanks][kCount], out[kRanks][kCount];

static void fill(void) {
  for (int r = 0; r < kRanks; ++r)
    for (int i = 0; i < kCount; ++i) in[r][i] = (float)(i % 17 + r), out[r][i] = -1;
}

static void all_reduce(ncclComm_t* comms, ncclRedOp_t* ops, int in_place) {
  NCCL(ncclGroupStart());
  for (int r = 0; r < kRanks; ++r)
    NCCL(ncclAllReduce(in_place ? out[r] : in[r], out[r], kCount, ncclFloat, ops[r], comms[r], NULL));
  NCCL(ncclGroupEnd());
}

static void groups_over_all_ranks(void) {
  ncclComm_t comms[kRanks];
  ncclRedOp_t ops[kRanks];
  NCCL(ncclCommInitAll(comms, kRanks, NULL));
  for (int r = 0; r < kRanks; ++r) {
    int count = 0, rank = -1, device = -1;
    ncclResult_t state = ncclInternalError;
    NCCL(ncclCommCount(comms[r], &count));
    NCCL(ncclCommUserRank(comms[r], &rank));
    NCCL(ncclCommCuDevice(comms[r], &device));
    NCCL(ncclCommGetAsyncError(comms[r], &state));
    CHECK(count == kRanks && rank == r && device == r && state == ncclSuccess);
    ops[r] = ncclSum;
  }
  fill();
  all_reduce(comms, ops, 0);
  for (int r = 0; r < kRanks; ++r)
    for (int i = 0; i < kCount; ++i) CHECK(out[r][i] == (float)(kRanks * (i % 17) + 3));
  all_reduce(comms, ops, 1);
  for (int r = 0; r < kRanks; ++r)
    for (int i = 0; i < kCount; ++i) CHECK(out[r][i] == (float)(kRanks * (kRanks * (i % 17) + 3)));

  for (int r = 0; r < kRanks; ++r) {
    float half = 0.5f;
    NCCL(ncclRedOpCreatePreMulSum(&ops[r], &half, ncclFloat, ncclScalarHostImmediate, comms[r]));
    CHECK(ops[r] >= ncclNumOps);
  }
  fill();
  all_reduce(comms, ops, 0);
  for (int r = 0; r < kRanks; ++r) {
    for (int i = 0; i < kCount; ++i) CHECK(out[r][i] == (float)(kRanks * (i % 17) + 3) / 2);
    NCCL(ncclRedOpDestroy(ops[r], comms[r]));
  }
  for (int r = 0; r < kRanks; ++r) NCCL(ncclCommFinalize(comms[r]));
  for (int r = 0; r < kRanks; ++r) NCCL(ncclCommDestroy(comms[r]));
}

static void one_rank_with_a_config(void) {
  ncclComm_t comm = NULL;
  ncclUniqueId id;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  int* memory = NULL;
  config.blocking = 0;
  config.commName = "alone";
  NCCL(ncclGetUniqueId(&id));
  ncclResult_t state = ncclCommInitRankConfig(&comm, 1, id, 0, &config);
  CHECK(state == ncclSuccess || state == ncclInProgress);
  do NCCL(ncclCommGetAsyncError(comm, &state));
  while (state == ncclInProgress);
  CHECK(state == ncclSuccess);

  NCCL(ncclMemAlloc((void**)&memory, kCount * sizeof *memory));
  for (int i = 0; i < kCount; ++i) memory[i] = i;
  state = ncclAllReduce(memory, memory, kCount, ncclInt32, ncclMax, comm, NULL);
  CHECK(state == ncclSuccess || state == ncclInProgress);
  do NCCL(ncclCommGetAsyncError(comm, &state));
  while (state == ncclInProgress);
  for (int i = 0; i < kCount; ++i) CHECK(memory[i] == i);
  NCCL(ncclMemFree(memory));
  NCCL(ncclCommAbort(comm));
}

int main(void) {
  int version = 0;
  NCCL(ncclGetVersion(&version));
  CHECK(version == NCCL_VERSION_CODE);
  groups_over_all_ranks();
  one_rank_with_a_config();
  puts("ok");
  return 0;
}
