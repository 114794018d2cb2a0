// The reductions of half, bfloat16 and fp8, for each instruction set. One of three files only so that they compile side
// by side.
#include "kernels/cpu/highway_config.h"
#include "kernels/cpu/tables.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/reduce_small_float.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if TUTTI_SIMD_BODY
#include "kernels/cpu/simd_reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tutti::kernels::HWY_NAMESPACE {

void fill_reduce_small_float(KernelTable* table) {
  fill_reduce<DataType::kFloat16>(table);
  fill_reduce<DataType::kBfloat16>(table);
  fill_reduce<DataType::kFloat8e4m3>(table);
  fill_reduce<DataType::kFloat8e5m2>(table);
}

}  // namespace tutti::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
