// An independent, slow reference for the kernels: formats are decoded from their definition with ldexp, and narrowing
// looks for the nearest of all values of the format. Shares nothing with src/kernels but the data types.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"
#include "kernels/kernels.h"

namespace tutti::kernels::reference {

using Bytes = std::vector<unsigned char>;

inline constexpr DataType kAllTypes[] = {DataType::kInt8,     DataType::kUint8,      DataType::kInt32,
                                         DataType::kUint32,   DataType::kInt64,      DataType::kUint64,
                                         DataType::kFloat16,  DataType::kFloat32,    DataType::kFloat64,
                                         DataType::kBfloat16, DataType::kFloat8e4m3, DataType::kFloat8e5m2};
inline constexpr DataType kSmallFloats[] = {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat8e4m3,
                                            DataType::kFloat8e5m2};
inline constexpr ReduceOp kAllOps[] = {ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMax,
                                       ReduceOp::kMin, ReduceOp::kAvg,  ReduceOp::kPreMulSum};
inline constexpr const char* kAllTargets[] = {"AVX3", "AVX2", "SSE4", "NEON", "SCALAR"};

bool is_floating(DataType type);

// The bit patterns of an 8- or 16-bit float: how many there are, and what one of them is worth.
uint32_t patterns(DataType type);
double value_of(DataType type, uint32_t pattern);
// The NaN that results have.
uint64_t nan_pattern(DataType type);
// The pattern nearest to `value` in a type of 8 or 16 bits; ties to even, overflow as base documents say.
uint32_t nearest_pattern(DataType type, double value);

// Element i of a buffer as a pattern in the low bytes, and back.
uint64_t pattern_at(DataType type, const unsigned char* buffer, size_t index);
void set_pattern(DataType type, unsigned char* buffer, size_t index, uint64_t pattern);

// One output element as kernels.h defines it: the operands are patterns in order.
struct Call {
  DataType type;
  ReduceOp op;
  uint64_t scaled = 0;
  uint64_t factor = 0;  // pattern
  uint32_t divisor = 0;
};
uint64_t reduce(const Call& call, const std::vector<uint64_t>& operands);
// One element of another floating type.
uint64_t convert(DataType to, DataType from, uint64_t pattern);

// `count` elements that mix ordinary values with infinities, NaNs of many payloads, zeros of both signs, subnormals and
// extremes. The same seed gives the same bytes.
Bytes awkward_values(DataType type, size_t count, uint32_t seed);
// The factor for PreMulSum tests: 2.5, or 3 for integers.
Scalar factor_of(DataType type);

std::string describe(const Call& call);

}  // namespace tutti::kernels::reference
