// What the scalar arithmetic needs in order to be one source for g++, clang and nvcc: the function qualifiers, bit
// casts, and float operations that no compiler fuses or reorders.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__CUDACC__)
#define TUTTI_HOST_DEVICE __host__ __device__
#else
#define TUTTI_HOST_DEVICE
#endif

namespace tutti::kernels::arithmetic {

template <class To, class From>
TUTTI_HOST_DEVICE inline To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}

// Each operation rounds by itself. On the GPU the intrinsics keep nvcc from contracting a product and a sum into one
// fused operation; on the host the library is compiled with -ffp-contract=off.
#if defined(__CUDA_ARCH__)
__device__ inline float add(float a, float b) {
  return __fadd_rn(a, b);
}
__device__ inline float multiply(float a, float b) {
  return __fmul_rn(a, b);
}
__device__ inline float divide(float a, float b) {
  return __fdiv_rn(a, b);
}
__device__ inline double add(double a, double b) {
  return __dadd_rn(a, b);
}
__device__ inline double multiply(double a, double b) {
  return __dmul_rn(a, b);
}
__device__ inline double divide(double a, double b) {
  return __ddiv_rn(a, b);
}
#else
TUTTI_HOST_DEVICE inline float add(float a, float b) {
  return a + b;
}
TUTTI_HOST_DEVICE inline float multiply(float a, float b) {
  return a * b;
}
TUTTI_HOST_DEVICE inline float divide(float a, float b) {
  return a / b;
}
TUTTI_HOST_DEVICE inline double add(double a, double b) {
  return a + b;
}
TUTTI_HOST_DEVICE inline double multiply(double a, double b) {
  return a * b;
}
TUTTI_HOST_DEVICE inline double divide(double a, double b) {
  return a / b;
}
#endif

}  // namespace tutti::kernels::arithmetic
