// The verification with real-valued inputs: rounding in any order is granted, more is not.
#include "common/verify/real.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "perf_reduce.h"

namespace tutti::perf {
namespace {

constexpr size_t kCount = 200;

template <class Format>
std::vector<std::vector<typename Format::Bits>> inputs_of(const CheckSpec& spec) {
  std::vector<std::vector<typename Format::Bits>> inputs;
  for (int rank = 0; rank < spec.ranks; ++rank) {
    inputs.emplace_back(kCount);
    fill_real(spec, rank, 5, inputs.back().data(), kCount);
  }
  return inputs;
}

class RealTest : public testing::TestWithParam<std::tuple<Type, Op>> {
 protected:
  CheckSpec spec(int ranks) const { return {std::get<0>(GetParam()), std::get<1>(GetParam()), ranks, 3}; }
};

TEST_P(RealTest, AnyOrderOfRoundingsIsWithinTheBound) {
  std::mt19937 random(1);
  for (int ranks : {1, 2, 3, 8, 33}) {
    const CheckSpec check = spec(ranks);
    with_format(check.type, [&](auto format) {
      using Format = decltype(format);
      const auto result = reduce_randomly<Format>(check.op, inputs_of<Format>(check), random);
      const Wrong wrong = check_real_reduced(check, 5, result.data(), kCount);
      EXPECT_EQ(wrong.count, 0) << ranks << " ranks, first at " << wrong.first << ": " << std::hex << wrong.got
                                << " instead of " << wrong.expected;
    });
  }
}

TEST_P(RealTest, AnotherRanksInputInsteadIsFound) {
  std::mt19937 random(2);
  const CheckSpec check = spec(2);
  with_format(check.type, [&](auto format) {
    using Format = decltype(format);
    auto inputs = inputs_of<Format>(check);
    inputs[1] = inputs[0];
    const auto result = reduce_randomly<Format>(check.op, inputs, random);
    EXPECT_GT(check_real_reduced(check, 5, result.data(), kCount).count, 20);
  });
}

TEST_P(RealTest, NotANumberIsWrong) {
  const CheckSpec check = spec(2);
  with_format(check.type, [&](auto format) {
    using Format = decltype(format);
    if constexpr (Format::kFloating) {
      std::mt19937 random(3);
      auto result = reduce_randomly<Format>(check.op, inputs_of<Format>(check), random);
      result[17] = Format::encode(std::numeric_limits<double>::quiet_NaN());
      const Wrong wrong = check_real_reduced(check, 5, result.data(), kCount);
      EXPECT_EQ(wrong.count, 1);
      EXPECT_EQ(wrong.first, 17u);
    }
  });
}

std::string name(const testing::TestParamInfo<std::tuple<Type, Op>>& info) {
  return std::string(name_of(std::get<0>(info.param))) + "_" + std::string(name_of(std::get<1>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(All, RealTest, testing::Combine(testing::ValuesIn(all_types()), testing::ValuesIn(all_ops())),
                         name);

TEST(RealBoundTest, AHundredUlpsOfFloatAreTooMany) {
  const CheckSpec check{Type::kFloat, Op::kSum, 4, 9};
  std::mt19937 random(4);
  auto result = reduce_randomly<Float>(check.op, inputs_of<Float>(check), random);
  for (uint32_t& bits : result) bits += 100;
  EXPECT_GT(check_real_reduced(check, 5, result.data(), kCount).count, static_cast<int64_t>(kCount) / 2);
}

TEST(HashTest, EveryBitCounts) {
  std::vector<unsigned char> data(61, 7);
  const uint64_t base = hash_bits(data.data(), data.size());
  for (size_t i = 0; i < data.size() * 8; ++i) {
    data[i / 8] = static_cast<unsigned char>(data[i / 8] ^ (1u << i % 8));
    EXPECT_NE(hash_bits(data.data(), data.size()), base) << "bit " << i;
    data[i / 8] = static_cast<unsigned char>(data[i / 8] ^ (1u << i % 8));
  }
  EXPECT_EQ(hash_bits(data.data(), data.size()), base);
  EXPECT_NE(hash_bits(data.data(), data.size() - 1), base);
}

}  // namespace
}  // namespace tutti::perf
