/* As much of CUDA's headers as nccl.h and nccl_device.h need, for machines without CUDA: an opaque stream of the same
 * ABI. */
#ifndef TUTTI_TESTS_CUDA_STANDIN_H_
#define TUTTI_TESTS_CUDA_STANDIN_H_

#include <stddef.h>

#define CUDART_VERSION 13000
#define __host__
#define __device__

typedef struct CUstream_st* cudaStream_t;

#endif
