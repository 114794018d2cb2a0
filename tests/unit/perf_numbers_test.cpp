// The bits of the small floats.
#include "common/verify/numbers.h"

#include <gtest/gtest.h>

namespace tutti::perf {
namespace {

template <class Format>
void expect_round_trips() {
  constexpr uint32_t kAll = 1u << (8 * sizeof(typename Format::Bits));
  for (uint32_t value = 0; value < kAll; ++value) {
    const auto bits = static_cast<typename Format::Bits>(value);
    const double number = Format::decode(bits);
    if (std::isnan(number) || std::isinf(number)) continue;
    EXPECT_EQ(Format::encode(number), bits) << std::hex << value;
  }
}

TEST(NumbersTest, EveryFiniteValueRoundTrips) {
  expect_round_trips<Float16>();
  expect_round_trips<Bfloat16>();
  expect_round_trips<F8e4m3>();
  expect_round_trips<F8e5m2>();
}

// Every value half way between two neighbours goes to the even one, and a little more or less to the nearer.
template <class Format>
void expect_nearest_even() {
  for (uint32_t value = 0; value < 0x7b; ++value) {
    const auto bits = static_cast<typename Format::Bits>(value);
    const auto next = static_cast<typename Format::Bits>(value + 1);
    const double low = Format::decode(bits), high = Format::decode(next);
    const double middle = (low + high) / 2;
    EXPECT_EQ(Format::encode(middle), value % 2 == 0 ? bits : next) << value;
    EXPECT_EQ(Format::encode(middle + (high - low) / 64), next) << value;
    EXPECT_EQ(Format::encode(middle - (high - low) / 64), bits) << value;
  }
}

TEST(NumbersTest, RoundsToNearestEven) {
  expect_nearest_even<F8e4m3>();
  expect_nearest_even<F8e5m2>();
  expect_nearest_even<Float16>();  // the subnormal range
}

TEST(NumbersTest, KnownValues) {
  EXPECT_EQ(Float16::encode(65504), 0x7bff);
  EXPECT_EQ(Float16::encode(65519), 0x7bff);
  EXPECT_EQ(Float16::encode(65520), 0x7c00);  // infinity
  EXPECT_EQ(Float16::encode(-1), 0xbc00);
  EXPECT_EQ(Bfloat16::encode(1), 0x3f80);
  EXPECT_EQ(F8e4m3::encode(448), 0x7e);
  EXPECT_EQ(F8e4m3::encode(1e6), 0x7e);  // saturates, as CUDA's conversion
  EXPECT_EQ(F8e4m3::encode(-std::numeric_limits<double>::infinity()), 0xfe);
  EXPECT_EQ(F8e5m2::encode(57344), 0x7b);
  EXPECT_EQ(F8e5m2::encode(1e9), 0x7b);
  EXPECT_TRUE(std::isnan(F8e4m3::decode(0x7f)));
  EXPECT_TRUE(std::isinf(F8e5m2::decode(0x7c)));
  EXPECT_TRUE(std::isnan(F8e5m2::decode(0x7d)));
  EXPECT_EQ(F8e4m3::decode(0x01), std::ldexp(1.0, -9));
}

TEST(NumbersTest, ExactAgreesWithEncode) {
  for (int exponent = -6; exponent <= 7; ++exponent) {
    for (int eighth = 8; eighth < 16; ++eighth) {
      const double value = std::ldexp(eighth, exponent - 3);
      EXPECT_EQ(F8e4m3::exact(static_cast<float>(value)), F8e4m3::encode(value)) << value;
      EXPECT_EQ(Float16::exact(static_cast<float>(-value)), Float16::encode(-value)) << value;
      EXPECT_EQ(Bfloat16::exact(static_cast<float>(value)), Bfloat16::encode(value)) << value;
    }
  }
  EXPECT_EQ(Float16::exact(-0.0f), 0);
}

TEST(NumbersTest, DistanceCrossesZero) {
  EXPECT_EQ(distance_in_ulps<Float>(std::bit_cast<uint32_t>(1.0f), std::bit_cast<uint32_t>(1.0f)), 0u);
  EXPECT_EQ(distance_in_ulps<Float16>(0x3c00, 0x3c02), 2u);
  EXPECT_EQ(distance_in_ulps<Float16>(0x0001, 0x8001), 2u);
  EXPECT_EQ(distance_in_ulps<Double>(std::bit_cast<uint64_t>(-2.0), std::bit_cast<uint64_t>(-2.0) + 3), 3u);
}

}  // namespace
}  // namespace tutti::perf
