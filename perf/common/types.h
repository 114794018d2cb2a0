// The data types and reduction operators that the perf programs know, with the names that nccl-tests prints and
// accepts. Independent of nccl.h, so that verification and reporting are testable without a library; values equal
// nccl.h's.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tutti::perf {

enum class Type : int {
  kInt8 = 0,
  kUint8 = 1,
  kInt32 = 2,
  kUint32 = 3,
  kInt64 = 4,
  kUint64 = 5,
  kHalf = 6,
  kFloat = 7,
  kDouble = 8,
  kBfloat16 = 9,
  kF8e4m3 = 10,
  kF8e5m2 = 11,
};

enum class Op : int { kSum = 0, kProd = 1, kMax = 2, kMin = 3, kAvg = 4, kMulSum = 5 };

size_t size_of(Type type);  // bytes of one element
bool is_floating(Type type);
std::string_view name_of(Type type);  // "int8" ... "f8e5m2"
std::string_view name_of(Op op);      // "sum" ... "mulsum"

const std::vector<Type>& all_types();
const std::vector<Op>& all_ops();

// One name, or "all" for all of them. Empty when the name is unknown.
std::optional<std::vector<Type>> types_named(std::string_view name);
std::optional<std::vector<Op>> ops_named(std::string_view name);

}  // namespace tutti::perf
