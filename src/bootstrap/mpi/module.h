/* A loadable module for each MPI that is installed: what a program needs of MPI when it was started by mpirun, namely
 * who it is and a way to exchange bytes. So neither the library nor the perf programs link any MPI, and one build
 * serves all of them. Built by the MPI's own compiler wrapper from module.c: tutti_mpi_openmpi.so, tutti_mpi_mpich.so.
 *
 *   handle = dlopen("tutti_mpi_openmpi.so", RTLD_NOW | RTLD_GLOBAL);
 *   module = ((tutti_mpi_module_function)dlsym(handle, TUTTI_MPI_MODULE_SYMBOL))();
 *
 * One thread at a time. Functions return 0, or MPI's error code. Waiting sleeps: it takes no core from ranks that are
 * still at work. */
#ifndef TUTTI_BOOTSTRAP_MPI_MODULE_H_
#define TUTTI_BOOTSTRAP_MPI_MODULE_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TUTTI_MPI_MODULE_VERSION 1
#define TUTTI_MPI_MODULE_SYMBOL "tutti_mpi_module"

struct tutti_mpi_module {
  int version; /* TUTTI_MPI_MODULE_VERSION; look at nothing else when it differs */
  const char* name;
  int (*start)(void); /* MPI_Init, unless the program has done so */
  int (*rank)(void);  /* in MPI_COMM_WORLD; after start */
  int (*size)(void);
  /* `bytes` of every rank, by rank, into `all` (size() * bytes). Collective. bytes is at most INT_MAX. */
  int (*all_gather)(const void* mine, void* all, size_t bytes);
  int (*finish)(void);     /* MPI_Finalize, when start did MPI_Init. Collective. */
  void (*abort)(int code); /* MPI_Abort: ends all ranks */
};

typedef const struct tutti_mpi_module* (*tutti_mpi_module_function)(void);

#ifdef __cplusplus
}
#endif

#endif
