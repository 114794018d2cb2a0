// Format<DataType>: how one element of each type lies in memory (Storage) and in what it is accumulated (Accumulator).
#pragma once

#include <cstdint>

#include "base/types.h"
#include "kernels/arithmetic/small_floats.h"

namespace tutti::kernels::arithmetic {

// The one NaN that results have, whichever operands and instructions made it.
TUTTI_HOST_DEVICE inline float canonical(float value) {
  return value == value ? value : bit_cast<float>(kFloatNan);
}
TUTTI_HOST_DEVICE inline double canonical(double value) {
  return value == value ? value : bit_cast<double>(kDoubleNan);
}

template <class Integer>
struct IntegerFormat {
  using Storage = Integer;
  using Accumulator = Integer;
  static constexpr bool kFloating = false;
  TUTTI_HOST_DEVICE static Accumulator load(Storage stored) { return stored; }
  TUTTI_HOST_DEVICE static Storage store(Accumulator value) { return value; }
};

template <class Float>
struct NativeFloatFormat {
  using Storage = Float;
  using Accumulator = Float;
  static constexpr bool kFloating = true;
  TUTTI_HOST_DEVICE static Accumulator load(Storage stored) { return stored; }
  TUTTI_HOST_DEVICE static Storage store(Accumulator value) { return canonical(value); }
};

template <class SmallLayout>
struct SmallFloatFormat {
  using Layout = SmallLayout;
  using Storage = typename Layout::Storage;
  using Accumulator = float;
  static constexpr bool kFloating = true;
  TUTTI_HOST_DEVICE static Accumulator load(Storage stored) { return widen<Layout>(stored); }
  TUTTI_HOST_DEVICE static Storage store(Accumulator value) { return narrow<Layout>(value); }
};

struct Bfloat16Format {
  using Storage = uint16_t;
  using Accumulator = float;
  static constexpr bool kFloating = true;
  TUTTI_HOST_DEVICE static Accumulator load(Storage stored) { return widen_bfloat16(stored); }
  TUTTI_HOST_DEVICE static Storage store(Accumulator value) { return narrow_bfloat16(value); }
};

template <DataType type>
struct Format;
template <>
struct Format<DataType::kInt8> : IntegerFormat<int8_t> {};
template <>
struct Format<DataType::kUint8> : IntegerFormat<uint8_t> {};
template <>
struct Format<DataType::kInt32> : IntegerFormat<int32_t> {};
template <>
struct Format<DataType::kUint32> : IntegerFormat<uint32_t> {};
template <>
struct Format<DataType::kInt64> : IntegerFormat<int64_t> {};
template <>
struct Format<DataType::kUint64> : IntegerFormat<uint64_t> {};
template <>
struct Format<DataType::kFloat16> : SmallFloatFormat<HalfLayout> {};
template <>
struct Format<DataType::kFloat32> : NativeFloatFormat<float> {};
template <>
struct Format<DataType::kFloat64> : NativeFloatFormat<double> {};
template <>
struct Format<DataType::kBfloat16> : Bfloat16Format {};
template <>
struct Format<DataType::kFloat8e4m3> : SmallFloatFormat<E4m3Layout> {};
template <>
struct Format<DataType::kFloat8e5m2> : SmallFloatFormat<E5m2Layout> {};

// One element of a floating type as another floating type, rounded once.
template <DataType to, DataType from>
TUTTI_HOST_DEVICE inline typename Format<to>::Storage convert_element(typename Format<from>::Storage stored) {
  const auto value = Format<from>::load(stored);
  if constexpr (from == DataType::kFloat64 && to == DataType::kFloat32) {
    return canonical(static_cast<float>(value));
  } else if constexpr (from == DataType::kFloat64 && to != DataType::kFloat64) {
    return Format<to>::store(narrow_to_odd(value));
  } else {
    return Format<to>::store(value);
  }
}

}  // namespace tutti::kernels::arithmetic
