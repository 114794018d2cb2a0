// The exact verification: right in any order, and every kind of wrong is found.
#include "common/verify/exact.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "perf_reduce.h"

namespace tutti::perf {
namespace {

constexpr size_t kCount = 257;
constexpr uint64_t kPosition = 1000003;  // of the first element

template <class Format>
std::vector<std::vector<typename Format::Bits>> inputs_of(const CheckSpec& spec) {
  std::vector<std::vector<typename Format::Bits>> inputs;
  for (int rank = 0; rank < spec.ranks; ++rank) {
    inputs.emplace_back(kCount);
    fill_exact(spec, rank, kPosition, inputs.back().data(), kCount);
  }
  return inputs;
}

class ExactTest : public testing::TestWithParam<std::tuple<Type, Op>> {
 protected:
  CheckSpec spec(int ranks) const { return {std::get<0>(GetParam()), std::get<1>(GetParam()), ranks, 42}; }
};

TEST_P(ExactTest, AnyOrderGivesTheExpectedBits) {
  std::mt19937 random(7);
  for (int ranks : {1, 2, 3, 4, 5, 8, 17, 33, 200}) {
    const CheckSpec check = spec(ranks);
    with_format(check.type, [&](auto format) {
      using Format = decltype(format);
      for (int repeat = 0; repeat < 3; ++repeat) {
        const auto result = reduce_randomly<Format>(check.op, inputs_of<Format>(check), random);
        const Wrong wrong = check_exact_reduced(check, kPosition, result.data(), kCount);
        EXPECT_EQ(wrong.count, 0) << ranks << " ranks, first at " << wrong.first << ": " << std::hex << wrong.got
                                  << " instead of " << wrong.expected;
      }
    });
  }
}

TEST_P(ExactTest, EachDamagedElementIsCountedOnce) {
  std::mt19937 random(8);
  const CheckSpec check = spec(5);
  with_format(check.type, [&](auto format) {
    using Format = decltype(format);
    using Bits = typename Format::Bits;
    const auto right = reduce_randomly<Format>(check.op, inputs_of<Format>(check), random);
    for (size_t at : {size_t{0}, size_t{1}, kCount / 2, kCount - 1}) {
      auto damaged = right;
      damaged[at] = static_cast<Bits>(damaged[at] ^ (check.op == Op::kAvg && Format::kFloating ? 16 : 1));
      const Wrong wrong = check_exact_reduced(check, kPosition, damaged.data(), kCount);
      EXPECT_EQ(wrong.count, 1);
      EXPECT_EQ(wrong.first, at);
      EXPECT_EQ(wrong.got, damaged[at]);
    }
    auto several = right;
    for (size_t at = 10; at < 20; ++at) several[at] = static_cast<Bits>(~several[at]);
    EXPECT_EQ(check_exact_reduced(check, kPosition, several.data(), kCount).count, 10);
  });
}

TEST_P(ExactTest, ALostADoubledAndAMisplacedContributionAreFound) {
  std::mt19937 random(9);
  const CheckSpec check = spec(4);
  const bool idempotent = check.op == Op::kMax || check.op == Op::kMin;
  with_format(check.type, [&](auto format) {
    using Format = decltype(format);
    const auto inputs = inputs_of<Format>(check);
    const auto wrong_with = [&](const auto& changed) {
      auto result = reduce_randomly<Format>(check.op, changed, random);
      return check_exact_reduced(check, kPosition, result.data(), kCount).count;
    };
    for (size_t rank = 0; rank < 4; ++rank) {
      auto replaced = inputs;  // rank's share is lost, its neighbour's counted twice
      replaced[rank] = inputs[(rank + 1) % 4];
      EXPECT_GT(wrong_with(replaced), 10) << "rank " << rank;
      auto shifted = inputs;  // one element further
      std::rotate(shifted[rank].begin(), shifted[rank].begin() + 1, shifted[rank].end());
      EXPECT_GT(wrong_with(shifted), 10) << "rank " << rank;
    }
    if (!idempotent) {
      auto doubled = inputs;
      doubled[1] = reduce_randomly<Format>(check.op == Op::kMulSum || check.op == Op::kAvg ? Op::kSum : check.op,
                                           {inputs[1], inputs[1]}, random);
      EXPECT_GT(wrong_with(doubled), 10);
    }
  });
}

TEST_P(ExactTest, InputsDependOnRankPositionAndSeed) {
  CheckSpec check = spec(3);
  with_format(check.type, [&](auto format) {
    using Bits = typename decltype(format)::Bits;
    std::vector<Bits> base(kCount), other(kCount);
    fill_exact(check, 0, 0, base.data(), kCount);
    fill_exact(check, 1, 0, other.data(), kCount);
    EXPECT_NE(base, other);
    check.seed++;
    fill_exact(check, 0, 0, other.data(), kCount);
    EXPECT_NE(base, other);
    check.seed--;
    // A block in the middle is what the whole has there.
    fill_exact(check, 0, 100, other.data(), 50);
    EXPECT_TRUE(std::equal(other.begin(), other.begin() + 50, base.begin() + 100));
  });
}

std::string name(const testing::TestParamInfo<std::tuple<Type, Op>>& info) {
  return std::string(name_of(std::get<0>(info.param))) + "_" + std::string(name_of(std::get<1>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(All, ExactTest, testing::Combine(testing::ValuesIn(all_types()), testing::ValuesIn(all_ops())),
                         name);

TEST(ExactNothingTest, NothingIsRight) {
  EXPECT_EQ(check_exact_reduced({Type::kFloat, Op::kSum, 2, 0}, 0, nullptr, 0).count, 0);
}

}  // namespace
}  // namespace tutti::perf
