// Conversions one element at a time, and the choice among a set of conversions by the two types.
#pragma once

#include <cstring>
#include <type_traits>

#include "kernels/arithmetic/formats.h"

namespace tutti::kernels {

template <DataType to, DataType from>
struct ScalarConversion {
  static void run(void* dst, const void* src, size_t count) {
    using To = typename arithmetic::Format<to>::Storage;
    using From = typename arithmetic::Format<from>::Storage;
    unsigned char* out = static_cast<unsigned char*>(dst);
    const unsigned char* in = static_cast<const unsigned char*>(src);
    for (size_t i = 0; i < count; ++i) {
      From stored;
      std::memcpy(&stored, in + i * sizeof(From), sizeof(From));
      const To converted = arithmetic::convert_element<to, from>(stored);
      std::memcpy(out + i * sizeof(To), &converted, sizeof(To));
    }
  }
};

// Calls function.template operator()<type>() for the floating type; does nothing for the others, which no conversion
// has.
template <class Function>
void with_floating_type(DataType type, Function&& function) {
  switch (type) {
    case DataType::kFloat16: return function.template operator()<DataType::kFloat16>();
    case DataType::kFloat32: return function.template operator()<DataType::kFloat32>();
    case DataType::kFloat64: return function.template operator()<DataType::kFloat64>();
    case DataType::kBfloat16: return function.template operator()<DataType::kBfloat16>();
    case DataType::kFloat8e4m3: return function.template operator()<DataType::kFloat8e4m3>();
    case DataType::kFloat8e5m2: return function.template operator()<DataType::kFloat8e5m2>();
    default: return;
  }
}

// Conversion<to, from>::run does the work; equal types are copied.
template <template <DataType, DataType> class Conversion>
void convert_with(void* dst, DataType to, const void* src, DataType from, size_t count) {
  if (to == from) {
    if (dst != src && count != 0) std::memcpy(dst, src, count * size_of(to));
    return;
  }
  with_floating_type(to, [&]<DataType kTo>() {
    with_floating_type(from, [&]<DataType kFrom>() {
      if constexpr (kTo != kFrom) Conversion<kTo, kFrom>::run(dst, src, count);
    });
  });
}

}  // namespace tutti::kernels
