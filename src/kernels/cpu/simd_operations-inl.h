// The reductions of arithmetic/operations.h on vectors of accumulators, bit for bit the same.
#if defined(TUTTI_KERNELS_CPU_SIMD_OPERATIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TUTTI_KERNELS_CPU_SIMD_OPERATIONS_INL_H_
#undef TUTTI_KERNELS_CPU_SIMD_OPERATIONS_INL_H_
#else
#define TUTTI_KERNELS_CPU_SIMD_OPERATIONS_INL_H_
#endif

#include <hwy/highway.h>

#include "base/types.h"

HWY_BEFORE_NAMESPACE();
namespace tutti::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The low 8 bits of products: no instruction set has them. Even and odd bytes are multiplied as 16-bit numbers.
template <class D>
HWY_INLINE hn::VFromD<D> multiply_bytes(D d, hn::VFromD<D> a, hn::VFromD<D> b) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    const hn::RebindToUnsigned<D> du;
    const hn::Rebind<uint16_t, D> d16;
    const auto wide = hn::Mul(hn::PromoteTo(d16, hn::BitCast(du, a)), hn::PromoteTo(d16, hn::BitCast(du, b)));
    return hn::BitCast(d, hn::TruncateTo(du, wide));
  } else {
    const hn::Repartition<uint16_t, D> d16;
    const auto a16 = hn::BitCast(d16, a);
    const auto b16 = hn::BitCast(d16, b);
    const auto even = hn::And(hn::Mul(a16, b16), hn::Set(d16, 0xff));
    const auto odd = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(a16), hn::ShiftRight<8>(b16)));
    return hn::BitCast(d, hn::Or(even, odd));
  }
}

// The low 64 bits of products, from 32-bit halves.
template <class D>
HWY_INLINE hn::VFromD<D> multiply_quads(D d, hn::VFromD<D> a, hn::VFromD<D> b) {
  const hn::Repartition<uint32_t, D> d32;
  const auto a_low = hn::BitCast(d32, a);
  const auto b_low = hn::BitCast(d32, b);
  const auto a_high = hn::BitCast(d32, hn::ShiftRight<32>(a));
  const auto b_high = hn::BitCast(d32, hn::ShiftRight<32>(b));
  const auto cross = hn::Add(hn::MulEven(a_low, b_high), hn::MulEven(a_high, b_low));
  return hn::Add(hn::BitCast(d, hn::MulEven(a_low, b_low)), hn::ShiftLeft<32>(hn::BitCast(d, cross)));
}

template <class D>
HWY_INLINE hn::VFromD<D> product(D d, hn::VFromD<D> a, hn::VFromD<D> b) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == 1) {
    return multiply_bytes(d, a, b);
  } else if constexpr (sizeof(T) == 8 && !hwy::IsFloat<T>()) {
    return multiply_quads(d, a, b);
  } else {
    return hn::Mul(a, b);
  }
}

// Equal operands are the same bits, or two zeros of which the signs decide. `wins` is where b replaces a.
template <ReduceOp op, class D>
HWY_INLINE hn::VFromD<D> float_extremum(D, hn::VFromD<D> a, hn::VFromD<D> b) {
  constexpr bool kMaximum = op == ReduceOp::kMax;
  const auto wins = hn::Or(kMaximum ? hn::Lt(a, b) : hn::Lt(b, a), hn::IsNaN(b));
  const auto same = kMaximum ? hn::And(a, b) : hn::Or(a, b);
  return hn::IfThenElse(hn::Eq(a, b), same, hn::IfThenElse(wins, b, a));
}

template <ReduceOp op, class D>
HWY_INLINE hn::VFromD<D> combine(D d, hn::VFromD<D> a, hn::VFromD<D> b) {
  using T = hn::TFromD<D>;
  if constexpr (op == ReduceOp::kSum) {
    return hn::Add(a, b);
  } else if constexpr (op == ReduceOp::kProd) {
    return product(d, a, b);
  } else if constexpr (hwy::IsFloat<T>()) {
    return float_extremum<op>(d, a, b);
  } else if constexpr (op == ReduceOp::kMax) {
    return hn::Max(a, b);
  } else {
    return hn::Min(a, b);
  }
}

}  // namespace tutti::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TUTTI_KERNELS_CPU_SIMD_OPERATIONS_INL_H_
