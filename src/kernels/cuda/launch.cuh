// How kernels are started, the same from nvcc and from the CPU tests: launch(kernel, grid, block, shared bytes, stream,
// arguments...). Never with <<<>>>, which only nvcc knows.
#pragma once

#if defined(__CUDACC__)
#include <cuda_runtime.h>

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream,
            Arguments... arguments) {
  kernel<<<grid, block, shared_bytes, stream>>>(Parameters(arguments)...);
}
#elif !defined(TUTTI_CUDASIM)
#error "CUDA kernels are compiled by nvcc, or in tests after support/cudasim.h"
#endif
