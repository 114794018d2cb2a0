// VectorFormat<DataType>: loads and stores vectors of elements as vectors of accumulators, bit for bit as
// arithmetic/formats.h does one by one. Compiled once for each instruction set.
#if defined(TUTTI_KERNELS_CPU_SIMD_FORMATS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TUTTI_KERNELS_CPU_SIMD_FORMATS_INL_H_
#undef TUTTI_KERNELS_CPU_SIMD_FORMATS_INL_H_
#else
#define TUTTI_KERNELS_CPU_SIMD_FORMATS_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/arithmetic/formats.h"

HWY_BEFORE_NAMESPACE();
namespace tutti::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// F16C converts half in one instruction, with the same results but for the NaNs.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
inline constexpr bool kHasF16c = true;
#else
inline constexpr bool kHasF16c = false;
#endif

// D: a tag whose lanes are accumulators; E: the tag of as many stored elements.
template <class T>
struct PlainVectorFormat {
  using Storage = T;
  using Lane = T;
  template <class D>
  static HWY_INLINE hn::VFromD<D> decode(D, hn::VFromD<D> stored) {
    return stored;
  }
  template <class D>
  static HWY_INLINE hn::VFromD<D> encode(D d, hn::VFromD<D> value) {
    if constexpr (hwy::IsFloat<T>()) {
      using Bits = hn::TFromD<hn::RebindToUnsigned<D>>;
      const auto nan = hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), static_cast<Bits>(~Bits{0} >> 1)));
      return hn::IfThenElse(hn::IsNaN(value), nan, value);
    } else {
      return value;
    }
  }
};

// Stored elements, zero-extended into 32-bit lanes and back.
template <class D, class V>
HWY_INLINE hn::VFromD<hn::RebindToUnsigned<D>> extend(D, V stored) {
  return hn::PromoteTo(hn::RebindToUnsigned<D>(), stored);
}
template <class Storage, class D>
HWY_INLINE hn::VFromD<hn::Rebind<Storage, D>> shrink(D, hn::VFromD<hn::RebindToUnsigned<D>> bits) {
  // Never saturates: the bits fit.
  return hn::DemoteTo(hn::Rebind<Storage, D>(), hn::BitCast(hn::RebindToSigned<D>(), bits));
}

template <class Layout>
struct SmallVectorFormat {
  using Storage = typename Layout::Storage;
  using Lane = float;

  template <class D>
  static HWY_INLINE hn::VFromD<D> decode(D d, hn::VFromD<hn::Rebind<Storage, D>> stored) {
    const hn::RebindToUnsigned<D> du;
    const auto bits = extend(d, stored);
    const auto magnitude = hn::And(bits, hn::Set(du, Layout::kMagnitudeMask));
    const auto sign = hn::ShiftLeft<31 - Layout::kSignBit>(hn::Xor(bits, magnitude));
    const auto shifted = hn::ShiftLeft<Layout::kShift>(magnitude);
    const auto normal = hn::Add(shifted, hn::Set(du, Layout::kRebias << arithmetic::kFloatMantissa));
    const auto special = hn::Or(shifted, hn::Set(du, arithmetic::kFloatInfinity));
    const auto one = hn::Set(du, Layout::kSmallestNormalFloat);
    const auto subnormal = hn::BitCast(du, hn::Sub(hn::BitCast(d, hn::Or(shifted, one)), hn::BitCast(d, one)));
    auto value = hn::IfThenElse(less(d, magnitude, Layout::kSmallestNormal), subnormal, normal);
    value = hn::IfThenElse(less(d, magnitude, Layout::kSpecial), value, special);
    return hn::BitCast(d, hn::Or(value, sign));
  }

  template <class D>
  static HWY_INLINE hn::VFromD<hn::Rebind<Storage, D>> encode(D d, hn::VFromD<D> value) {
    const hn::RebindToUnsigned<D> du;
    const auto bits = hn::BitCast(du, value);
    const auto magnitude = hn::And(bits, hn::Set(du, ~arithmetic::kFloatSign));
    const auto sign = hn::ShiftRight<31 - Layout::kSignBit>(hn::Xor(bits, magnitude));
    const auto odd = hn::And(hn::ShiftRight<Layout::kShift>(magnitude), hn::Set(du, 1));
    const auto biased = hn::Add(hn::Add(magnitude, odd), hn::Set(du, (1u << (Layout::kShift - 1)) - 1));
    auto normal = hn::Sub(hn::ShiftRight<Layout::kShift>(biased), hn::Set(du, Layout::kRebias << Layout::kMantissa));
    normal = hn::Min(normal, hn::Set(du, Layout::kLargest));
    const auto rounder = hn::Set(du, Layout::kSubnormalRounder);
    const auto rounded = hn::Add(hn::BitCast(d, magnitude), hn::BitCast(d, rounder));
    const auto subnormal = hn::Sub(hn::BitCast(du, rounded), rounder);
    auto result = hn::IfThenElse(less(d, magnitude, Layout::kSmallestNormalFloat), subnormal, normal);
    result = hn::Or(result, sign);
    result = hn::IfThenElse(less(d, magnitude, arithmetic::kFloatInfinity + 1), result, hn::Set(du, Layout::kNan));
    return shrink<Storage>(d, result);
  }

 private:
  // magnitude < limit; signed comparison, which every instruction set has: both are below 2^31.
  template <class D>
  static HWY_INLINE auto less(D, hn::VFromD<hn::RebindToUnsigned<D>> magnitude, uint32_t limit) {
    const hn::RebindToSigned<D> di;
    const auto mask = hn::Lt(hn::BitCast(di, magnitude), hn::Set(di, static_cast<int32_t>(limit)));
    return hn::RebindMask(hn::RebindToUnsigned<D>(), mask);
  }
};

struct HalfVectorFormat : SmallVectorFormat<arithmetic::HalfLayout> {
  using Portable = SmallVectorFormat<arithmetic::HalfLayout>;
  template <class D>
  static HWY_INLINE hn::VFromD<D> decode(D d, hn::VFromD<hn::Rebind<uint16_t, D>> stored) {
    if constexpr (kHasF16c) {
      return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), stored));
    } else {
      return Portable::decode(d, stored);
    }
  }
  template <class D>
  static HWY_INLINE hn::VFromD<hn::Rebind<uint16_t, D>> encode(D d, hn::VFromD<D> value) {
    if constexpr (kHasF16c) {
      const auto clean = PlainVectorFormat<float>::encode(d, value);
      return hn::BitCast(hn::Rebind<uint16_t, D>(), hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), clean));
    } else {
      return Portable::encode(d, value);
    }
  }
};

struct Bfloat16VectorFormat {
  using Storage = uint16_t;
  using Lane = float;
  template <class D>
  static HWY_INLINE hn::VFromD<D> decode(D d, hn::VFromD<hn::Rebind<uint16_t, D>> stored) {
    return hn::BitCast(d, hn::ShiftLeft<16>(extend(d, stored)));
  }
  template <class D>
  static HWY_INLINE hn::VFromD<hn::Rebind<uint16_t, D>> encode(D d, hn::VFromD<D> value) {
    const hn::RebindToUnsigned<D> du;
    const auto bits = hn::BitCast(du, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const auto rounded = hn::Add(hn::Add(bits, odd), hn::Set(du, 0x7fff));
    const auto is_nan = hn::RebindMask(du, hn::IsNaN(value));
    const auto result = hn::IfThenElse(is_nan, hn::Set(du, arithmetic::kFloatNan), rounded);
    return shrink<uint16_t>(d, hn::ShiftRight<16>(result));
  }
};

template <DataType type>
struct VectorFormat : PlainVectorFormat<typename arithmetic::Format<type>::Storage> {};
template <>
struct VectorFormat<DataType::kFloat16> : HalfVectorFormat {};
template <>
struct VectorFormat<DataType::kBfloat16> : Bfloat16VectorFormat {};
template <>
struct VectorFormat<DataType::kFloat8e4m3> : SmallVectorFormat<arithmetic::E4m3Layout> {};
template <>
struct VectorFormat<DataType::kFloat8e5m2> : SmallVectorFormat<arithmetic::E5m2Layout> {};

// The tag of the stored elements that belongs to the accumulator tag D, and their vector.
template <DataType type, class D>
using StorageTag = hn::Rebind<typename VectorFormat<type>::Storage, D>;
template <DataType type, class D>
using Stored = hn::VFromD<StorageTag<type, D>>;

// `at` is the address of the first element; no alignment is needed.
template <DataType type, class D>
HWY_INLINE hn::VFromD<D> load(D d, const unsigned char* at) {
  using Storage = typename VectorFormat<type>::Storage;
  return VectorFormat<type>::decode(d, hn::LoadU(StorageTag<type, D>(), reinterpret_cast<const Storage*>(at)));
}
template <DataType type, class D>
HWY_INLINE void store(D, Stored<type, D> stored, unsigned char* at) {
  hn::StoreU(stored, StorageTag<type, D>(), reinterpret_cast<typename VectorFormat<type>::Storage*>(at));
}

}  // namespace tutti::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TUTTI_KERNELS_CPU_SIMD_FORMATS_INL_H_
