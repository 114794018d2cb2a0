// The 8- and 16-bit floating formats: half, bfloat16, fp8 e4m3 (OCP e4m3fn) and e5m2, to and from float32.
//
// Widening is exact. Narrowing rounds to nearest, ties to even. Half and bfloat16 overflow to infinity; fp8 has what
// CUDA calls __NV_SATFINITE: whatever is too large, infinity included, becomes the largest finite value. Every NaN
// becomes the one with all bits but the sign set.
//
// Only integer operations and two exact additions are used, none on a subnormal float32 of our own making, so that the
// result does not depend on the hardware's conversions. The SIMD code (cpu/simd_formats-inl.h) is the same algorithm.
#pragma once

#include <cstdint>

#include "kernels/arithmetic/host_device.h"

namespace tutti::kernels::arithmetic {

inline constexpr uint32_t kFloatSign = 0x80000000u;
inline constexpr uint32_t kFloatInfinity = 0x7f800000u;
inline constexpr uint32_t kFloatNan = 0x7fffffffu;  // the NaN of results: CUDA's, all bits but the sign
inline constexpr uint64_t kDoubleNan = 0x7fffffffffffffffull;
inline constexpr int kFloatMantissa = 23;
inline constexpr int kFloatBias = 127;

// A format of fewer exponent bits than float32. Magnitudes (the bits without the sign) are ordered as their values:
// up to `kLargest` they are what narrowing may give, from `kSpecial` on they are infinity or NaN.
template <class StorageType, int kExponentBits, int kMantissaBits, uint32_t kLargestMagnitude,
          uint32_t kSpecialMagnitude>
struct SmallFloatLayout {
  using Storage = StorageType;
  static constexpr int kSignBit = kExponentBits + kMantissaBits;
  static constexpr int kMantissa = kMantissaBits;
  static constexpr int kShift = kFloatMantissa - kMantissaBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr uint32_t kMagnitudeMask = (1u << kSignBit) - 1;
  static constexpr uint32_t kNan = kMagnitudeMask;
  static constexpr uint32_t kLargest = kLargestMagnitude;
  static constexpr uint32_t kSpecial = kSpecialMagnitude;
  static constexpr uint32_t kSmallestNormal = 1u << kMantissaBits;
  // What is added to the exponent field to get float32's.
  static constexpr uint32_t kRebias = static_cast<uint32_t>(kFloatBias - kBias);
  // float32 bits of the smallest normal number, 2^(1 - bias).
  static constexpr uint32_t kSmallestNormalFloat = (kRebias + 1) << kFloatMantissa;
  // float32 bits of the power of two whose last mantissa bit weighs as much as this format's smallest subnormal:
  // adding it to a smaller number rounds that number to a multiple of the subnormal.
  static constexpr uint32_t kSubnormalRounder = static_cast<uint32_t>(kFloatBias + 1 - kBias + kShift)
                                                << kFloatMantissa;
};

using HalfLayout = SmallFloatLayout<uint16_t, 5, 10, 0x7c00, 0x7c00>;
using E4m3Layout = SmallFloatLayout<uint8_t, 4, 3, 0x7e, 0x7f>;  // largest: 448; no infinity
using E5m2Layout = SmallFloatLayout<uint8_t, 5, 2, 0x7b, 0x7c>;  // largest: 57344

template <class Layout>
TUTTI_HOST_DEVICE inline float widen(typename Layout::Storage bits) {
  const uint32_t magnitude = bits & Layout::kMagnitudeMask;
  const uint32_t sign = static_cast<uint32_t>(bits >> Layout::kSignBit) << 31;
  const uint32_t shifted = magnitude << Layout::kShift;
  if (magnitude >= Layout::kSpecial) return bit_cast<float>(sign | kFloatInfinity | shifted);
  if (magnitude >= Layout::kSmallestNormal)
    return bit_cast<float>(sign | (shifted + (Layout::kRebias << kFloatMantissa)));
  // A subnormal: put the mantissa behind the smallest normal number's leading one, and take that one away.
  const float normal = bit_cast<float>(Layout::kSmallestNormalFloat | shifted);
  const float value = add(normal, -bit_cast<float>(Layout::kSmallestNormalFloat));
  return bit_cast<float>(sign | bit_cast<uint32_t>(value));
}

template <class Layout>
TUTTI_HOST_DEVICE inline typename Layout::Storage narrow(float value) {
  using Storage = typename Layout::Storage;
  const uint32_t bits = bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & ~kFloatSign;
  if (magnitude > kFloatInfinity) return static_cast<Storage>(Layout::kNan);
  uint32_t rounded;
  if (magnitude >= Layout::kSmallestNormalFloat) {
    const uint32_t odd = (magnitude >> Layout::kShift) & 1;
    const uint32_t almost_half = (1u << (Layout::kShift - 1)) - 1;
    rounded = ((magnitude + almost_half + odd) >> Layout::kShift) - (Layout::kRebias << Layout::kMantissa);
    rounded = rounded < Layout::kLargest ? rounded : Layout::kLargest;
  } else {
    const float rounder = bit_cast<float>(Layout::kSubnormalRounder);
    rounded = bit_cast<uint32_t>(add(bit_cast<float>(magnitude), rounder)) - Layout::kSubnormalRounder;
  }
  return static_cast<Storage>((bits >> 31 << Layout::kSignBit) | rounded);
}

TUTTI_HOST_DEVICE inline float widen_bfloat16(uint16_t bits) {
  return bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

TUTTI_HOST_DEVICE inline uint16_t narrow_bfloat16(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value);
  if ((bits & ~kFloatSign) > kFloatInfinity) return static_cast<uint16_t>(kFloatNan >> 16);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// A double on its way to a format of at most 16 bits: rounded toward zero, and the last bit set if anything was lost
// ("to odd"). Rounding the result to nearest then gives what rounding the double itself would: no double rounding.
TUTTI_HOST_DEVICE inline float narrow_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  if (back == value || value != value) return nearest;
  uint32_t bits = bit_cast<uint32_t>(nearest);
  const bool away_from_zero = value < 0 ? back < value : back > value;
  if (away_from_zero) --bits;
  return bit_cast<float>(bits | 1);
}

}  // namespace tutti::kernels::arithmetic
