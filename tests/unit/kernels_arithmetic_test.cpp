// The scalar arithmetic against definitions: every pattern of the small formats, every rounding boundary between them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/arithmetic/operations.h"
#include "kernels_reference.h"

namespace tutti::kernels {
namespace {

using arithmetic::Format;
using reference::nearest_pattern;
using reference::value_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <DataType type>
void check_small_format() {
  SCOPED_TRACE(std::string(name_of(type)));
  using Storage = typename Format<type>::Storage;
  int failures = 0;
  const auto check_narrow = [&](float value) {
    const Storage got = Format<type>::store(value);
    const uint32_t want = nearest_pattern(type, value);
    if (got != want && ++failures < 10) {
      ADD_FAILURE() << "narrowing " << std::hexfloat << value << ": got " << uint32_t{got} << ", want " << want;
    }
  };
  for (uint32_t pattern = 0; pattern < reference::patterns(type); ++pattern) {
    const double want = value_of(type, pattern);
    const float got = Format<type>::load(static_cast<Storage>(pattern));
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got)) << pattern;
    } else {
      ASSERT_EQ(got, want) << pattern;
      ASSERT_EQ(std::signbit(got), std::signbit(want)) << pattern;
    }
    check_narrow(got);
    // The boundary to the next larger magnitude and its neighbours.
    const double next = value_of(type, pattern + 1 < reference::patterns(type) ? pattern + 1 : pattern);
    const float middle = static_cast<float>((want + next) / 2);
    if (!std::isfinite(middle)) continue;
    check_narrow(middle);
    check_narrow(std::nextafterf(middle, 1e38f));
    check_narrow(std::nextafterf(middle, -1e38f));
  }
  std::mt19937 random(7);
  for (int i = 0; i < 200000; ++i) {
    const uint32_t bits = static_cast<uint32_t>(random());
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    check_narrow(value);
  }
  for (float value : {0.0f, -0.0f, 448.0f, 464.0f, 464.1f, 480.0f, 57344.0f, 61440.0f, 65504.0f, 65519.99f, 65520.0f,
                      3e38f, std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity(),
                      -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::denorm_min()})
    check_narrow(value);
  EXPECT_EQ(failures, 0);
}

TEST(KernelsArithmetic, EveryPatternAndBoundaryOfHalf) {
  check_small_format<DataType::kFloat16>();
}
TEST(KernelsArithmetic, EveryPatternAndBoundaryOfBfloat16) {
  check_small_format<DataType::kBfloat16>();
}
TEST(KernelsArithmetic, EveryPatternAndBoundaryOfE4m3) {
  check_small_format<DataType::kFloat8e4m3>();
}
TEST(KernelsArithmetic, EveryPatternAndBoundaryOfE5m2) {
  check_small_format<DataType::kFloat8e5m2>();
}

TEST(KernelsArithmetic, Fp8SaturatesAlsoInfinity) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Format<DataType::kFloat8e4m3>::store(infinity), 0x7e);
  EXPECT_EQ(Format<DataType::kFloat8e4m3>::store(-infinity), 0xfe);
  EXPECT_EQ(Format<DataType::kFloat8e4m3>::load(0x7e), 448.0f);
  EXPECT_EQ(Format<DataType::kFloat8e5m2>::store(infinity), 0x7b);
  EXPECT_EQ(Format<DataType::kFloat8e5m2>::load(0x7b), 57344.0f);
  EXPECT_EQ(Format<DataType::kFloat8e4m3>::store(std::nanf("")), 0x7f);
  EXPECT_EQ(Format<DataType::kFloat8e5m2>::store(-std::nanf("")), 0x7f);
}

#if defined(__FLT16_MANT_DIG__)
TEST(KernelsArithmetic, HalfAgreesWithTheCompiler) {
  for (uint32_t pattern = 0; pattern < 65536; ++pattern) {
    const uint16_t bits = static_cast<uint16_t>(pattern);
    _Float16 half;
    std::memcpy(&half, &bits, sizeof(half));
    const float want = static_cast<float>(half);
    const float got = Format<DataType::kFloat16>::load(bits);
    ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << pattern;
  }
}
#endif

// 1 + 2^-11 + 2^-60 lies just above the middle of two halves; through float32 it would be the middle, and go down.
TEST(KernelsArithmetic, Float64IsNotRoundedTwice) {
  const double above_middle = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -50);
  const auto half = arithmetic::convert_element<DataType::kFloat16, DataType::kFloat64>(above_middle);
  EXPECT_EQ(half, nearest_pattern(DataType::kFloat16, above_middle));
  EXPECT_EQ(half, 0x3c01);
  std::mt19937_64 random(3);
  for (DataType type : reference::kSmallFloats) {
    for (uint32_t pattern = 0; pattern + 1 < reference::patterns(type) / 2; ++pattern) {
      const double middle = (value_of(type, pattern) + value_of(type, pattern + 1)) / 2;
      if (!std::isfinite(middle)) continue;
      for (double value : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, kInfinity), -middle}) {
        uint64_t got = 0;
        if (type == DataType::kFloat16)
          got = arithmetic::convert_element<DataType::kFloat16, DataType::kFloat64>(value);
        else if (type == DataType::kBfloat16)
          got = arithmetic::convert_element<DataType::kBfloat16, DataType::kFloat64>(value);
        else if (type == DataType::kFloat8e4m3)
          got = arithmetic::convert_element<DataType::kFloat8e4m3, DataType::kFloat64>(value);
        else
          got = arithmetic::convert_element<DataType::kFloat8e5m2, DataType::kFloat64>(value);
        ASSERT_EQ(got, nearest_pattern(type, value)) << name_of(type) << " " << std::hexfloat << value;
      }
    }
  }
  EXPECT_EQ((arithmetic::convert_element<DataType::kFloat16, DataType::kFloat64>(1e300)), 0x7c00);
  EXPECT_EQ((arithmetic::convert_element<DataType::kBfloat16, DataType::kFloat64>(-1e300)), 0xff80);
  EXPECT_EQ((arithmetic::convert_element<DataType::kFloat8e4m3, DataType::kFloat64>(1e300)), 0x7e);
  EXPECT_EQ((arithmetic::convert_element<DataType::kFloat16, DataType::kFloat64>(-1e-300)), 0x8000);
}

TEST(KernelsArithmetic, IntegersWrap) {
  EXPECT_EQ(arithmetic::sum<int32_t>(std::numeric_limits<int32_t>::max(), 1), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(arithmetic::sum<int64_t>(std::numeric_limits<int64_t>::min(), -1), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(arithmetic::product<int8_t>(-128, -1), -128);
  EXPECT_EQ(arithmetic::product<uint8_t>(255, 255), 1);
  EXPECT_EQ(arithmetic::product<int32_t>(65536, 65536), 0);
  EXPECT_EQ(arithmetic::average<int32_t>(-7, 2), -3);
  EXPECT_EQ(arithmetic::average<int8_t>(-128, 1), -128);
  EXPECT_EQ(arithmetic::average<uint64_t>(std::numeric_limits<uint64_t>::max(), 2), 0x7fffffffffffffffull);
}

TEST(KernelsArithmetic, ExtremesKnowNanAndSignedZero) {
  const float nan = std::nanf("");
  EXPECT_TRUE(std::isnan(arithmetic::maximum(nan, 1.0f)));
  EXPECT_TRUE(std::isnan(arithmetic::maximum(1.0f, nan)));
  EXPECT_TRUE(std::isnan(arithmetic::minimum(1.0, std::nan(""))));
  EXPECT_FALSE(std::signbit(arithmetic::maximum(-0.0f, 0.0f)));
  EXPECT_FALSE(std::signbit(arithmetic::maximum(0.0f, -0.0f)));
  EXPECT_TRUE(std::signbit(arithmetic::minimum(0.0, -0.0)));
  EXPECT_TRUE(std::signbit(arithmetic::minimum(-0.0, 0.0)));
}

}  // namespace
}  // namespace tutti::kernels
