// The reductions of integers, for each instruction set. One of three files only so that they compile side by side.
#include "kernels/cpu/highway_config.h"
#include "kernels/cpu/tables.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/reduce_integer.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if TUTTI_SIMD_BODY
#include "kernels/cpu/simd_reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tutti::kernels::HWY_NAMESPACE {

void fill_reduce_integer(KernelTable* table) {
  fill_reduce<DataType::kInt8>(table);
  fill_reduce<DataType::kUint8>(table);
  fill_reduce<DataType::kInt32>(table);
  fill_reduce<DataType::kUint32>(table);
  fill_reduce<DataType::kInt64>(table);
  fill_reduce<DataType::kUint64>(table);
}

}  // namespace tutti::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
