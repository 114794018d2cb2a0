// The bits of each data type, as verification needs them: exact values in, correctly rounded values in, values out.
// Written for itself, not shared with the library's kernels: a checker that shares arithmetic with what it checks
// would share its errors.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/types.h"

namespace tutti::perf {

// An integer type: arithmetic is modulo 2^bits.
template <class T>
struct Integer {
  using Bits = std::make_unsigned_t<T>;
  using Value = T;
  static constexpr bool kFloating = false;
};

// A binary float of 1 sign bit, kExponentBits and kMantissaBits. `Finite` formats have no infinity and saturate
// (e4m3: all ones is NaN); e5m2 has infinities, but conversions saturate as CUDA's do.
template <class B, int kExponentBits, int kMantissaBits, bool kSaturates, int kMaxExponentField, B kMaxFinite>
struct SmallFloat {
  using Bits = B;
  static constexpr bool kFloating = true;
  static constexpr int kPrecision = kMantissaBits + 1;  // significant bits
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kMinExponent = 1 - kBias;  // of normal numbers

  static double max_finite() { return decode(kMaxFinite); }
  static double min_positive() { return std::ldexp(1.0, kMinExponent - kMantissaBits); }

  // x is zero or exactly representable as a normal number.
  static Bits exact(float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    if (bits << 1 == 0) return 0;
    const uint32_t exponent = (bits >> 23 & 0xff) - 127 + kBias;
    const uint32_t mantissa = bits >> (23 - kMantissaBits) & ((1u << kMantissaBits) - 1);
    return static_cast<Bits>((bits >> 31) << (kExponentBits + kMantissaBits) | exponent << kMantissaBits | mantissa);
  }

  // Round to nearest, ties to even.
  static Bits encode(double x) {
    const Bits sign = static_cast<Bits>(std::signbit(x) ? 1u << (kExponentBits + kMantissaBits) : 0u);
    const double magnitude = std::fabs(x);
    if (std::isnan(x)) return static_cast<Bits>((1u << (kExponentBits + kMantissaBits)) - 1);
    if (magnitude == 0) return sign;
    const double capped = std::isinf(x) ? std::ldexp(1.0, kMaxExponentField + 1) : magnitude;
    const int exponent = std::max(std::ilogb(capped), kMinExponent);
    const double rounded = std::nearbyint(std::ldexp(capped, kMantissaBits - exponent));
    const double value = std::ldexp(rounded, exponent - kMantissaBits);
    if (value > max_finite()) return static_cast<Bits>(sign | (kSaturates ? kMaxFinite : kMaxFinite + 1));
    if (value < std::ldexp(1.0, kMinExponent)) return static_cast<Bits>(sign | static_cast<Bits>(rounded));
    return static_cast<Bits>(sign | exact(static_cast<float>(value)));
  }

  static double decode(Bits bits) {
    const int field = bits >> kMantissaBits & ((1 << kExponentBits) - 1);
    const int mantissa = bits & ((1 << kMantissaBits) - 1);
    const double sign = bits >> (kExponentBits + kMantissaBits) & 1 ? -1.0 : 1.0;
    const Bits magnitude = static_cast<Bits>(bits & ((1u << (kExponentBits + kMantissaBits)) - 1));
    if (magnitude > kMaxFinite) {
      const bool infinity = !(kSaturates && kExponentBits == 4) && mantissa == 0;
      return infinity ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    }
    if (field == 0) return sign * std::ldexp(mantissa, kMinExponent - kMantissaBits);
    return sign * std::ldexp((1 << kMantissaBits) + mantissa, field - kBias - kMantissaBits);
  }
};

template <class T, class B>
struct NativeFloat {
  using Bits = B;
  static constexpr bool kFloating = true;
  static constexpr int kPrecision = std::numeric_limits<T>::digits;
  static double max_finite() { return std::numeric_limits<T>::max(); }
  static double min_positive() { return std::numeric_limits<T>::denorm_min(); }
  static Bits exact(T x) { return x == 0 ? 0 : std::bit_cast<Bits>(x); }
  static Bits encode(double x) { return std::bit_cast<Bits>(static_cast<T>(x)); }
  static double decode(Bits bits) { return static_cast<double>(std::bit_cast<T>(bits)); }
};

using Float16 = SmallFloat<uint16_t, 5, 10, false, 15, 0x7bff>;
using Bfloat16 = SmallFloat<uint16_t, 8, 7, false, 127, 0x7f7f>;
using F8e4m3 = SmallFloat<uint8_t, 4, 3, true, 8, 0x7e>;
using F8e5m2 = SmallFloat<uint8_t, 5, 2, true, 15, 0x7b>;
using Float = NativeFloat<float, uint32_t>;
using Double = NativeFloat<double, uint64_t>;

// Calls f(Format{}) with the format of `type`.
template <class F>
decltype(auto) with_format(Type type, F&& f) {
  switch (type) {
    case Type::kInt8: return f(Integer<int8_t>{});
    case Type::kUint8: return f(Integer<uint8_t>{});
    case Type::kInt32: return f(Integer<int32_t>{});
    case Type::kUint32: return f(Integer<uint32_t>{});
    case Type::kInt64: return f(Integer<int64_t>{});
    case Type::kUint64: return f(Integer<uint64_t>{});
    case Type::kHalf: return f(Float16{});
    case Type::kDouble: return f(Double{});
    case Type::kBfloat16: return f(Bfloat16{});
    case Type::kF8e4m3: return f(F8e4m3{});
    case Type::kF8e5m2: return f(F8e5m2{});
    case Type::kFloat: break;
  }
  return f(Float{});
}

// How many representable numbers lie between two finite values of one format.
template <class Format>
uint64_t distance_in_ulps(typename Format::Bits a, typename Format::Bits b) {
  using Bits = typename Format::Bits;
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const auto ordered = [](Bits bits) {
    const int64_t magnitude = static_cast<int64_t>(bits & static_cast<Bits>(~kSign));
    return bits & kSign ? -magnitude : magnitude;
  };
  const int64_t x = ordered(a);
  const int64_t y = ordered(b);
  return x > y ? static_cast<uint64_t>(x) - static_cast<uint64_t>(y)
               : static_cast<uint64_t>(y) - static_cast<uint64_t>(x);
}

}  // namespace tutti::perf
