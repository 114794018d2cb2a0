// Reductions of device memory. The arithmetic is that of the host (kernels/arithmetic), so that a result has the same
// bits wherever it was computed.
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/kernels.h"

namespace tutti::kernels::cuda {

inline constexpr int kMostSources = 64;
inline constexpr int kMostDestinations = 8;

// Starts call's reduction on `stream` with at most `blocks` (> 0) thread blocks, and returns without waiting. The
// pointers of `call` lie in memory that the device reads and writes; the arrays that hold them are read before this
// returns. Op: as in KernelTable::reduce. False, and nothing is started, if there are more sources or destinations than
// one launch takes. Whether the launch itself succeeded is for cudaGetLastError to say.
bool launch_reduce(DataType type, ReduceOp op, const ReduceCall& call, unsigned blocks, cudaStream_t stream);

}  // namespace tutti::kernels::cuda
