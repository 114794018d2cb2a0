/* MPI_Allreduce; built once with the compiler of each MPI that is installed. */
#include <mpi.h>
#include <stdlib.h>

#include "policy.h"

static void all_reduce(const float* send, float* receive, size_t count) {
  MPI_Allreduce(send, receive, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static double largest(double mine) {
  double result = 0;
  MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return result;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct sizes sizes = parse_sizes(argc, argv);
  struct library library = {.name = TUTTI_COMPARE_NAME,
                            .all_reduce = all_reduce,
                            .barrier = barrier,
                            .largest = largest,
                            .allocate = malloc,
                            .release = free};
  MPI_Comm_rank(MPI_COMM_WORLD, &library.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &library.ranks);
  const int failed = measure_all(&library, &sizes);
  MPI_Finalize();
  return failed;
}
