// The tables of the targets and the parts that fill them. Internal to cpu/.
//
// Read in this order: scalar.cpp (the plain loop that defines every result), simd_formats-inl.h,
// simd_operations-inl.h, simd_reduce-inl.h (the same in vectors), the four .cpp files that compile those for each
// instruction set, dispatch.cpp (which table this processor gets).
#pragma once

#include "kernels/cpu/highway_config.h"
#include "kernels/kernels.h"

namespace tutti::kernels {

// The table without SIMD.
KernelTable scalar_table();

// Each .cpp file of the SIMD code fills its part of a table, once for each target.
#define TUTTI_DECLARE_TARGET(target_namespace)      \
  namespace target_namespace {                      \
  void fill_copy(KernelTable* table);               \
  void fill_convert(KernelTable* table);            \
  void fill_reduce_integer(KernelTable* table);     \
  void fill_reduce_float(KernelTable* table);       \
  void fill_reduce_small_float(KernelTable* table); \
  }

#if HWY_TARGETS & HWY_AVX3
TUTTI_DECLARE_TARGET(N_AVX3)
#endif
#if HWY_TARGETS & HWY_AVX2
TUTTI_DECLARE_TARGET(N_AVX2)
#endif
#if HWY_TARGETS & HWY_SSE4
TUTTI_DECLARE_TARGET(N_SSE4)
#endif
#if HWY_TARGETS & HWY_NEON
TUTTI_DECLARE_TARGET(N_NEON)
#endif
#if HWY_TARGETS & HWY_NEON_WITHOUT_AES
TUTTI_DECLARE_TARGET(N_NEON_WITHOUT_AES)
#endif

#undef TUTTI_DECLARE_TARGET

}  // namespace tutti::kernels
