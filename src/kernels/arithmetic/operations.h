// The reductions on accumulators, and Fold: one output element from its operands, in operand order.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/types.h"
#include "kernels/arithmetic/formats.h"

namespace tutti::kernels::arithmetic {

// An unsigned type in which sums and products of T wrap: at least 32 bits, since narrower ones would be promoted to
// (signed) int first.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
TUTTI_HOST_DEVICE inline T sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  } else {
    return add(a, b);
  }
}

template <class T>
TUTTI_HOST_DEVICE inline T product(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  } else {
    return multiply(a, b);
  }
}

// IEEE 754-2019 maximum and minimum: NaN if an operand is, and +0 is greater than -0. So the result of a reduction does
// not depend on the order of its operands.
template <class T>
TUTTI_HOST_DEVICE inline T maximum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    if (a == b) return bit_cast<T>(bit_cast<Bits>(a) & bit_cast<Bits>(b));
    return a < b || b != b ? b : a;
  } else {
    return a < b ? b : a;
  }
}

template <class T>
TUTTI_HOST_DEVICE inline T minimum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    if (a == b) return bit_cast<T>(bit_cast<Bits>(a) | bit_cast<Bits>(b));
    return b < a || b != b ? b : a;
  } else {
    return b < a ? b : a;
  }
}

template <ReduceOp op, class T>
TUTTI_HOST_DEVICE inline T combine(T a, T b) {
  if constexpr (op == ReduceOp::kProd) {
    return product(a, b);
  } else if constexpr (op == ReduceOp::kMax) {
    return maximum(a, b);
  } else if constexpr (op == ReduceOp::kMin) {
    return minimum(a, b);
  } else {  // kSum; kAvg and kPreMulSum combine as it does
    return sum(a, b);
  }
}

// The last step of an average: integers truncate toward zero. divisor > 0.
template <class T>
TUTTI_HOST_DEVICE inline T average(T total, uint32_t divisor) {
  if constexpr (std::is_floating_point_v<T>) {
    return divide(total, static_cast<T>(divisor));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(static_cast<int64_t>(total) / static_cast<int64_t>(divisor));
  } else {
    return static_cast<T>(static_cast<uint64_t>(total) / divisor);
  }
}

TUTTI_HOST_DEVICE inline bool is_scaled(uint64_t scaled, int source) {
  return source < 64 && (scaled >> source & 1);
}

// Operands come one by one: `first`, then `next` for each further one, then `finish`.
template <DataType type, ReduceOp op>
struct Fold {
  using Storage = typename Format<type>::Storage;
  using Accumulator = typename Format<type>::Accumulator;

  TUTTI_HOST_DEVICE static Accumulator first(Storage operand, bool scaled, Accumulator factor) {
    const Accumulator value = Format<type>::load(operand);
    return scaled ? product(value, factor) : value;
  }
  TUTTI_HOST_DEVICE static Accumulator next(Accumulator so_far, Storage operand, bool scaled, Accumulator factor) {
    return combine<op>(so_far, first(operand, scaled, factor));
  }
  TUTTI_HOST_DEVICE static Storage finish(Accumulator total, uint32_t divisor) {
    return Format<type>::store(divisor != 0 ? average(total, divisor) : total);
  }
};

}  // namespace tutti::kernels::arithmetic
