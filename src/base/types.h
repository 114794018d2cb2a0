// The few enumerations that every floor shares: what is computed on, and which operation is meant.
// Numeric values are those of nccl.h (2.28.9), so that the C API only casts after checking the range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tutti {

enum class DataType : uint8_t {
  kInt8 = 0,
  kUint8 = 1,
  kInt32 = 2,
  kUint32 = 3,
  kInt64 = 4,
  kUint64 = 5,
  kFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kBfloat16 = 9,
  kFloat8e4m3 = 10,
  kFloat8e5m2 = 11,
};
inline constexpr int kDataTypes = 12;

enum class ReduceOp : uint8_t { kSum = 0, kProd = 1, kMax = 2, kMin = 3, kAvg = 4, kPreMulSum = 5 };
inline constexpr int kReduceOps = 6;

enum class Collective : uint8_t {
  kAllReduce = 0,
  kBroadcast = 1,
  kReduce = 2,
  kAllGather = 3,
  kReduceScatter = 4,
  kAllToAll = 5,
  kGather = 6,
  kScatter = 7,
  kSendRecv = 8,
  kBarrier = 9,
};

// Where a pointer points. Host code may dereference kHost, kPinned and kManaged.
enum class MemoryKind : uint8_t { kHost = 0, kPinned = 1, kManaged = 2, kDevice = 3 };

constexpr size_t size_of(DataType type) {
  switch (type) {
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kFloat8e4m3:
    case DataType::kFloat8e5m2: return 1;
    case DataType::kFloat16:
    case DataType::kBfloat16: return 2;
    case DataType::kInt32:
    case DataType::kUint32:
    case DataType::kFloat32: return 4;
    case DataType::kInt64:
    case DataType::kUint64:
    case DataType::kFloat64: return 8;
  }
  return 0;
}

// "int8", "half", "bfloat16", "f8e4m3": the names that nccl-tests prints and accepts.
std::string_view name_of(DataType type);
std::string_view name_of(ReduceOp op);
std::string_view name_of(Collective collective);  // "AllReduce"

}  // namespace tutti
