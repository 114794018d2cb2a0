#include "module.h"

#include <mpi.h>
#include <time.h>

static int started_here;

static int start(void) {
  int initialized = 0;
  int result = MPI_Initialized(&initialized);
  if (result != MPI_SUCCESS || initialized) return result;
  int provided = 0;
  result = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
  started_here = result == MPI_SUCCESS;
  return result;
}

static int rank(void) {
  int value = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &value);
  return value;
}

static int size(void) {
  int value = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &value);
  return value;
}

static int all_gather(const void* mine, void* all, size_t bytes) {
  MPI_Request request;
  int result = MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
  for (int done = 0, tries = 0; result == MPI_SUCCESS; ++tries) {
    result = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) break;
    const struct timespec nap = {0, tries < 100 ? 1000 : 50000};
    nanosleep(&nap, NULL);
  }
  return result;
}

static int finish(void) {
  int finalized = 0;
  const int result = MPI_Finalized(&finalized);
  return result != MPI_SUCCESS || finalized || !started_here ? result : MPI_Finalize();
}

static void abort_all(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
}

__attribute__((visibility("default"))) const struct tutti_mpi_module* tutti_mpi_module(void) {
  static const struct tutti_mpi_module module = {
      TUTTI_MPI_MODULE_VERSION, TUTTI_MPI_MODULE_NAME, start, rank, size, all_gather, finish, abort_all};
  return &module;
}
