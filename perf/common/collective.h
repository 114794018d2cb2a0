// What distinguishes one perf program from another: a table entry. A new program is a file with one of these and a
// main() of one line.
//
// All ranks' inputs are the verifier's sequence for (rank, position); a rank's send buffer holds positions from 0 on.
// What must come out is said as pieces of that: so many elements, reduced over all ranks or copied from one.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <vector>

#include "common/types.h"

namespace tutti::perf {

// Element counts of one run, for all ranks.
struct Counts {
  size_t send = 0;  // elements in a rank's send buffer
  size_t receive = 0;
  size_t parameter = 0;  // the call's count argument; printed
};

inline constexpr int kReduced = -1;
struct Piece {
  size_t at = 0;  // element of the receive buffer
  size_t count = 0;
  int from = kReduced;  // the rank whose input it is, or kReduced: over all ranks
  size_t position = 0;  // in that input
};

struct Bandwidth {
  double algorithm = 0, bus = 0;  // GB/s
};

struct Call {
  const void* send;
  void* receive;
  size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;
  int root;
  ncclComm_t comm;
  cudaStream_t stream;
  int rank;
  int ranks;
};

struct Collective {
  const char* name;  // "AllReduce"
  bool reduces;      // has an operator; else the column says "none" and one run per type is enough
  bool rooted;
  Counts (*counts)(size_t elements, size_t element_bytes, int ranks);
  // In place: both buffers are one; where in it they start for `rank`, in elements.
  size_t (*in_place_send)(const Counts&, int rank);
  size_t (*in_place_receive)(const Counts&, int rank);
  std::vector<Piece> (*expected)(const Counts&, int rank, int ranks, int root);
  ncclResult_t (*run)(const Call&);
  Bandwidth (*bandwidth)(const Counts&, size_t element_bytes, double seconds, int ranks);
};

inline size_t at_zero(const Counts&, int) {
  return 0;
}

// The program: parses, starts or joins the processes, runs, reports. Returns the exit code.
int perf_main(const Collective& collective, int argc, char** argv);

}  // namespace tutti::perf
