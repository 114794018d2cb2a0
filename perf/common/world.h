// The processes of one run, however they were started. One collective primitive; everything else is made of it.
//
//   single.cpp    this process alone
//   procs.cpp     --procs N: children of this program, coordinated by their parent through socketpairs
//   tcp_star.cpp  torchrun's and srun's environment variables: a star of TCP connections to rank 0
//   mpi.cpp       mpirun of Open MPI or MPICH, through a loadable module
//
// None of it is timed. A world that breaks (a peer's process has gone) ends this process by fail().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tutti::perf {

class World {
 public:
  virtual ~World() = default;
  virtual int rank() const = 0;  // of this process
  virtual int size() const = 0;  // processes
  // Collective: the texts of all processes by rank, to all of them. Blocks. One thread at a time.
  virtual std::vector<std::string> all_gather(const std::string& mine) = 0;

  void barrier() { all_gather({}); }
  // Rank 0's text.
  std::string broadcast(const std::string& mine) { return all_gather(rank() == 0 ? mine : std::string())[0]; }
};

std::unique_ptr<World> make_single_world();

// Starts `processes` children, each of which returns from `body(world)` with its exit code. Returns the parent's exit
// code: 0, or that of the first child that failed (128 + signal when it was killed), which is also reported on stderr
// with its rank and pid. The others are given two seconds to end by themselves, then killed.
int run_processes(int processes, const std::function<int(World&)>& body);

// Rank and size from a launcher's variables, and where rank 0 listens ("" when only the launcher's own means exist).
struct Launched {
  enum class By { kNobody, kMpi, kTorchrun, kSlurm } by = By::kNobody;
  int rank = 0;
  int size = 1;
  std::string address;  // host of rank 0
  int port = 0;         // kTorchrun, kSlurm: the launcher's; port + 1 is NCCL_COMM_ID's, port + 2 the star's
  std::string error;    // variables that contradict each other or cannot be read
};
// `get` is getenv, or a test's.
Launched detect_launcher(const std::function<const char*(const char*)>& get);

std::unique_ptr<World> make_tcp_world(const Launched& launched);
// Loads tutti_mpi_openmpi.so or tutti_mpi_mpich.so, whichever fits the launcher's variables.
std::unique_ptr<World> make_mpi_world();

}  // namespace tutti::perf
