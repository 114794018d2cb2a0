/* ncclAllReduce on the NULL stream, between processes that this program forks.
 * usage: all_reduce_tutti malloc|nccl ranks first-bytes last-bytes factor seconds-per-size */
#include <nccl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy.h"

static ncclComm_t communicator;

static void check(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return;
  fprintf(stderr, "%s: %s: %s\n", what, ncclGetErrorString(result), ncclGetLastError(communicator));
  exit(3);
}

static void all_reduce(const float* send, float* receive, size_t count) {
  check(ncclAllReduce(send, receive, count, ncclFloat, ncclSum, communicator, NULL), "ncclAllReduce");
}

static double largest(double mine) {
  double result = 0;
  check(ncclAllReduce(&mine, &result, 1, ncclDouble, ncclMax, communicator, NULL), "ncclAllReduce");
  return result;
}

static void barrier(void) {
  largest(0);
}

static void* allocate(size_t bytes) {
  void* buffer = NULL;
  check(ncclMemAlloc(&buffer, bytes), "ncclMemAlloc");
  return buffer;
}

static void release(void* buffer) {
  check(ncclMemFree(buffer), "ncclMemFree");
}

static int run_rank(int rank, int ranks, int in, const int* out, int nccl_memory, const struct sizes* sizes) {
  ncclUniqueId id;
  if (rank == 0) {
    check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    for (int peer = 1; peer < ranks; ++peer)
      if (write(out[peer], &id, sizeof id) != sizeof id) return 1;
  } else if (read(in, &id, sizeof id) != sizeof id) {
    return 1;
  }
  check(ncclCommInitRank(&communicator, ranks, id, rank), "ncclCommInitRank");
  const struct library library = {.name = nccl_memory ? "tutti_nccl_memory" : "tutti",
                                  .rank = rank,
                                  .ranks = ranks,
                                  .all_reduce = all_reduce,
                                  .barrier = barrier,
                                  .largest = largest,
                                  .allocate = nccl_memory ? allocate : malloc,
                                  .release = nccl_memory ? release : free};
  const int failed = measure_all(&library, sizes);
  check(ncclCommDestroy(communicator), "ncclCommDestroy");
  return failed;
}

int main(int argc, char** argv) {
  const int ranks = argc > 2 ? atoi(argv[2]) : 0;
  if (ranks < 1 || ranks > 1024) {
    fprintf(stderr, "usage: %s malloc|nccl ranks first-bytes last-bytes factor seconds-per-size\n", argv[0]);
    return 2;
  }
  const struct sizes sizes = parse_sizes(argc - 2, argv + 2);
  const int nccl_memory = strcmp(argv[1], "nccl") == 0;
  int(*pipes)[2] = calloc((size_t)ranks, sizeof *pipes);
  int* ends = calloc((size_t)ranks, sizeof *ends);
  if (pipes == NULL || ends == NULL) return 2;
  for (int rank = 0; rank < ranks; ++rank) {
    if (pipe(pipes[rank]) != 0) return 2;
    ends[rank] = pipes[rank][1];
  }
  for (int rank = 0; rank < ranks; ++rank) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (rank != 0)
      for (int other = 0; other < ranks; ++other) close(pipes[other][1]); /* so that a lost rank 0 is seen */
    exit(run_rank(rank, ranks, pipes[rank][0], ends, nccl_memory, &sizes));
  }
  for (int rank = 0; rank < ranks; ++rank) {
    close(pipes[rank][0]);
    close(pipes[rank][1]);
  }
  int failed = 0, status = 0;
  while (wait(&status) > 0)
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      failed = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  free(pipes);
  free(ends);
  return failed;
}
