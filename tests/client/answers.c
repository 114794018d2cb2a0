/* Asks one NCCL library questions that it can answer without a GPU, and prints what it says.
 *
 *   answers              the names of all scenarios, each with what must be equal: "code" or "text" (code and text)
 *   answers LIBRARY NAME the answers of one scenario; a process each, because much of it is state of the process
 *
 * Compiled against NVIDIA's nccl.h by compare_answers.py. A line is "call -> code", then " | last error" on text ones.
 */
#include <dlfcn.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* library;
#define API(name) ((__typeof__(&name))symbol(#name))

static void* symbol(const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) {
    printf("%s is missing: %s\n", name, dlerror());
    exit(1);
  }
  return found;
}

static int with_text;

static void say(const char* call, ncclResult_t result) {
  printf("%s -> %d", call, (int)result);
  if (with_text) printf(" | %s", API(ncclGetLastError)(NULL));
  putchar('\n');
}
#define SAY(name, ...) say(#name #__VA_ARGS__, API(name) __VA_ARGS__)

static float buffer[64];
static int number;
static ncclRedOp_t op;
static ncclUniqueId id;
static cudaStream_t stream;
static char junk[1 << 16]; /* no communicator */
static ncclComm_t foreign(void) {
  return (ncclComm_t)junk;
}

static void version(void) {
  SAY(ncclGetVersion, (&number));
  printf("%d\n", number);
  SAY(pncclGetVersion, (&number));
}

static void version_null(void) {
  SAY(ncclGetVersion, (NULL));
}

static void error_strings(void) {
  for (int code = -1; code <= 10; ++code) printf("%d: %s\n", code, API(ncclGetErrorString)((ncclResult_t)code));
  printf("%s\n", API(pncclGetErrorString)((ncclResult_t)1000));
}

static void last_error_at_first(void) {
  printf("[%s]\n", API(ncclGetLastError)(NULL));
}

static void last_error_outlives_success(void) {
  SAY(ncclCommCount, (NULL, &number));
  SAY(ncclGetVersion, (&number));
  SAY(ncclGroupEnd, ());
  SAY(ncclGetUniqueId, (&id));
}

static void unique_id(void) {
  static const ncclUniqueId zero;
  ncclUniqueId other;
  SAY(ncclGetUniqueId, (&id));
  SAY(ncclGetUniqueId, (&other));
  printf("filled: %d, differ: %d\n", memcmp(&id, &zero, sizeof id) != 0, memcmp(&id, &other, sizeof id) != 0);
}

static void unique_id_null(void) {
  SAY(ncclGetUniqueId, (NULL));
}

static void unique_id_by_environment(void) {
  setenv("NCCL_COMM_ID", "127.0.0.1:45671", 1);
  setenv("TUTTI_SECRET", "a secret for the tests", 1);
  SAY(ncclGetUniqueId, (&id));
}

static void bad_comm_id(void) {
  setenv("NCCL_COMM_ID", "garbage", 1);
  SAY(ncclGetUniqueId, (&id));
}

static void no_such_interface(void) {
  setenv("NCCL_SOCKET_IFNAME", "nosuch0", 1);
  SAY(ncclGetUniqueId, (&id));
}

static void null_communicator(void) {
  ncclResult_t state;
  SAY(ncclCommCount, (NULL, &number));
  SAY(ncclCommCount, (NULL, NULL));
  SAY(ncclCommUserRank, (NULL, &number));
  SAY(ncclCommCuDevice, (NULL, &number));
  SAY(ncclCommGetAsyncError, (NULL, &state));
  SAY(ncclRedOpCreatePreMulSum, (&op, buffer, ncclFloat, ncclScalarHostImmediate, NULL));
  SAY(ncclRedOpCreatePreMulSum, (NULL, buffer, ncclFloat, ncclScalarHostImmediate, NULL));
}

static void null_communicator_ends(void) {
  SAY(ncclCommFinalize, (NULL));
  SAY(ncclCommDestroy, (NULL));
  SAY(ncclCommAbort, (NULL));
  SAY(ncclCommRevoke, (NULL, 0));
  SAY(ncclCommWindowDeregister, (NULL, NULL));
}

static void null_communicator_memory(void) {
  void* handle;
  SAY(ncclCommRegister, (NULL, buffer, sizeof buffer, &handle));
}

static void null_communicator_memory_ends(void) {
  SAY(ncclCommDeregister, (NULL, NULL));
}

static void null_communicator_collectives(void) {
  SAY(ncclAllReduce, (buffer, buffer, 4, ncclFloat, ncclSum, NULL, stream));
  SAY(ncclAllReduce, (buffer, buffer, 0, ncclFloat, ncclSum, NULL, stream));
  SAY(ncclAllReduce, (buffer, buffer, 4, (ncclDataType_t)77, ncclSum, NULL, stream));
  SAY(ncclAllReduce, (NULL, NULL, 4, ncclFloat, (ncclRedOp_t)-3, NULL, stream));
  SAY(ncclReduce, (buffer, buffer, 4, ncclFloat, ncclSum, 0, NULL, stream));
  SAY(ncclReduce, (buffer, buffer, 4, ncclFloat, ncclSum, -9, NULL, stream));
  SAY(ncclBcast, (buffer, 4, ncclFloat, 0, NULL, stream));
  SAY(ncclBroadcast, (buffer, buffer, 4, ncclFloat, 0, NULL, stream));
  SAY(ncclReduceScatter, (buffer, buffer, 4, ncclFloat, ncclSum, NULL, stream));
  SAY(ncclAllGather, (buffer, buffer, 4, ncclFloat, NULL, stream));
  SAY(ncclAlltoAll, (buffer, buffer, 4, ncclFloat, NULL, stream));
  SAY(ncclGather, (buffer, buffer, 4, ncclFloat, 0, NULL, stream));
  SAY(ncclScatter, (buffer, buffer, 4, ncclFloat, 0, NULL, stream));
  SAY(ncclSend, (buffer, 4, ncclFloat, 0, NULL, stream));
  SAY(ncclRecv, (buffer, 4, ncclFloat, 0, NULL, stream));
  SAY(pncclAllReduce, (buffer, buffer, 4, ncclFloat, ncclSum, NULL, stream));
}

static void foreign_communicator(void) {
  ncclResult_t state;
  SAY(ncclCommCount, (foreign(), &number));
  SAY(ncclCommUserRank, (foreign(), &number));
  SAY(ncclCommCuDevice, (foreign(), &number));
  SAY(ncclCommGetAsyncError, (foreign(), &state));
}

static void groups(void) {
  SAY(ncclGroupEnd, ());
  SAY(ncclGroupStart, ());
  SAY(ncclGroupStart, ());
  SAY(ncclGroupEnd, ());
  SAY(ncclGroupEnd, ());
  SAY(ncclGroupEnd, ());
}

static void group_after_an_error_in_it(void) {
  SAY(ncclGroupStart, ());
  SAY(ncclCommCount, (NULL, &number));
  SAY(ncclGetUniqueId, (&id));
  SAY(ncclGroupEnd, ());
  SAY(ncclGroupEnd, ());
}

static void group_with_a_bad_call(void) {
  SAY(ncclGroupStart, ());
  SAY(ncclAllReduce, (buffer, buffer, 4, ncclFloat, ncclSum, NULL, stream));
  SAY(ncclGroupEnd, ());
  SAY(ncclGroupEnd, ());
}

static void simulation_without_a_group(void) {
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  SAY(ncclGroupSimulateEnd, (&info));
  SAY(ncclGroupSimulateEnd, (NULL));
}

static void simulation_with_a_bad_info(void) {
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  info.magic = 1;
  SAY(ncclGroupStart, ());
  SAY(ncclGroupSimulateEnd, (&info));
}

static void reduction_operators(void) {
  SAY(ncclRedOpDestroy, (ncclSum, NULL));
  SAY(ncclRedOpDestroy, (ncclAvg, NULL));
  SAY(ncclRedOpDestroy, (ncclNumOps, NULL));
  SAY(ncclRedOpDestroy, ((ncclRedOp_t)100, NULL));
  SAY(ncclRedOpDestroy, ((ncclRedOp_t)-1, NULL));
  SAY(ncclRedOpDestroy, (ncclMax, foreign()));
}

static void debug_reset(void) {
  ((void (*)(void))symbol("ncclResetDebugInit"))();
  ((void (*)(void))symbol("pncclResetDebugInit"))();
  ((void (*)(void))symbol("ncclResetDebugInitInternal"))();
  SAY(ncclGroupEnd, ());
}

static void slots_of_the_device_api(void) {
  int (*slots)(int, int) = (int (*)(int, int))symbol("ncclLLA2ACalcSlots");
  for (int elements = 0; elements < 200; elements += 19)
    for (int size = 0; size < 40; ++size) printf("%d ", slots(elements, size));
  putchar('\n');
}

/* In "code" scenarios Tutti's text may say more than NCCL's, or NCCL's is missing or wrong. */
static const struct {
  const char* name;
  void (*run)(void);
  int with_text;
} scenarios[] = {
    {"version", version, 1},
    {"version_null", version_null, 0},
    {"error_strings", error_strings, 1},
    {"last_error_at_first", last_error_at_first, 1},
    {"last_error_outlives_success", last_error_outlives_success, 1},
    {"unique_id", unique_id, 1},
    {"unique_id_null", unique_id_null, 1},
    {"unique_id_by_environment", unique_id_by_environment, 1},
    {"bad_comm_id", bad_comm_id, 0},
    {"no_such_interface", no_such_interface, 0},
    {"null_communicator", null_communicator, 1},
    {"null_communicator_ends", null_communicator_ends, 1},
    {"null_communicator_memory", null_communicator_memory, 1},
    {"null_communicator_memory_ends", null_communicator_memory_ends, 0},
    {"null_communicator_collectives", null_communicator_collectives, 1},
    {"foreign_communicator", foreign_communicator, 0},
    {"groups", groups, 1},
    {"group_after_an_error_in_it", group_after_an_error_in_it, 1},
    {"group_with_a_bad_call", group_with_a_bad_call, 1},
    {"simulation_without_a_group", simulation_without_a_group, 1},
    {"simulation_with_a_bad_info", simulation_with_a_bad_info, 0},
    {"reduction_operators", reduction_operators, 1},
    {"debug_reset", debug_reset, 1},
    {"slots_of_the_device_api", slots_of_the_device_api, 1},
};
enum { kScenarios = sizeof scenarios / sizeof *scenarios };

int main(int argc, char** argv) {
  if (argc == 1) {
    for (int i = 0; i < kScenarios; ++i) printf("%s %s\n", scenarios[i].name, scenarios[i].with_text ? "text" : "code");
    return 0;
  }
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    printf("%s\n", dlerror());
    return 1;
  }
  for (int i = 0; i < kScenarios; ++i) {
    if (argc != 3 || strcmp(argv[2], scenarios[i].name) != 0) continue;
    with_text = scenarios[i].with_text;
    scenarios[i].run();
    fflush(stdout);
    _Exit(0); /* whatever threads the library has started are not our subject */
  }
  printf("usage: answers [LIBRARY SCENARIO]\n");
  return 2;
}
