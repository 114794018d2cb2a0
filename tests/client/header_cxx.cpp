// The public headers are clean C++11, and a C++ program can put a function of its own in front of an nccl one.
#include <cstdio>
#include <type_traits>

#include "nccl.h"
#include "tutti/tutti.h"

static_assert(std::is_same<tuttiStream_t, cudaStream_t>::value, "a host stream goes where a CUDA stream goes");
static_assert(std::is_same<cudaStream_t, struct CUstream_st*>::value, "the stream is the pointer that CUDA declares");
#ifdef EXPECT_CUDA_HEADERS
static_assert(CUDART_VERSION >= 11000, "CUDA's headers were in the include path, nccl.h must have taken them");
#endif

static int calls = 0;
// The library's own nccl name is weak, its pnccl name is the function.
extern "C" ncclResult_t ncclGetVersion(int* version) {
  ++calls;
  return pncclGetVersion(version);
}

int main() {
  int version = 0;
  if (ncclGetVersion(&version) != ncclSuccess || version != NCCL_VERSION_CODE || calls != 1) return 1;
  tuttiStream_t stream = nullptr;
  if (tuttiStreamCreate(&stream) != ncclSuccess || stream == nullptr) return 2;
  if (tuttiStreamQuery(stream) != ncclSuccess || tuttiStreamSynchronize(stream) != ncclSuccess) return 3;
  if (tuttiStreamDestroy(stream) != ncclSuccess) return 4;
  if (tuttiStreamQuery(stream) != ncclInvalidArgument) return 5;
  std::puts("ok");
  return 0;
}
