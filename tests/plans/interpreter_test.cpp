// The plans on real numbers: results are right, equal bit for bit on all ranks, for awkward counts, small slots and
// short queues, in and out of place, whatever the order of events.
#include "interpreter.h"

#include <gtest/gtest.h>

#include <cstring>

#include "make.h"

namespace tutti::algorithms {
namespace {

struct Case {
  size_t count = 0;
  size_t slot_bytes = 256;
  uint32_t slices = 1;
};

std::vector<std::vector<float>> inputs(int nranks, size_t count, bool exact, std::mt19937& random) {
  std::vector<std::vector<float>> result(static_cast<size_t>(nranks), std::vector<float>(count));
  std::uniform_int_distribution<int> whole(-1000, 1000);
  std::uniform_real_distribution<float> real(-1, 1);
  for (auto& input : result) {
    for (float& value : input) value = exact ? static_cast<float>(whole(random)) : real(random);
  }
  return result;
}

void run_case(const std::vector<Plan>& plans, const Case& at, bool in_place, bool exact, uint32_t seed) {
  SCOPED_TRACE(fmt::format("{}: {} ranks, count {}, slots of {} bytes, {} slices, depth {}, {}, {}, seed {}",
                           plans[0].header.name, plans.size(), at.count, at.slot_bytes, at.slices,
                           plans[0].header.queue_depth, in_place ? "in place" : "out of place",
                           exact ? "whole numbers" : "real numbers", seed));
  std::mt19937 random(seed);
  const auto data = inputs(static_cast<int>(plans.size()), at.count, exact, random);
  const Slicing slicing = make_slicing(plans[0].header, at.count, sizeof(float), at.slot_bytes, at.slices);
  Interpreter interpreter(plans, slicing, data, in_place);
  ASSERT_TRUE(interpreter.run(seed));
  for (size_t e = 0; e < at.count; ++e) {
    double sum = 0;
    double size = 0;
    for (const auto& input : data) {
      sum += static_cast<double>(input[e]);
      size += std::abs(static_cast<double>(input[e]));
    }
    const double bound = exact ? 0 : size * static_cast<double>(plans.size()) * 6e-8;
    ASSERT_NEAR(static_cast<double>(interpreter.output(0)[e]), sum, bound) << "element " << e;
  }
  for (size_t rank = 1; rank < plans.size() && at.count > 0; ++rank) {
    ASSERT_EQ(std::memcmp(interpreter.output(rank).data(), interpreter.output(0).data(), at.count * sizeof(float)), 0)
        << "rank " << rank << " differs from rank 0";
  }
}

class Numbers : public testing::TestWithParam<std::string> {};

TEST_P(Numbers, AreRightAndEqualOnAllRanks) {
  const Generator& generator = *find_generator(Collective::kAllReduce, GetParam());
  const std::vector<Case> cases = {{0, 256, 4},   {1, 256, 4},    {2, 64, 1},   {7, 64, 9},       {31, 128, 2},
                                   {64, 64, 3},   {101, 256, 16}, {509, 64, 7}, {1000, 1024, 4},  {4099, 512, 100},
                                   {16, 4096, 1}, {8191, 256, 2}, {333, 68, 5}, {2048, 65536, 32}};
  uint32_t seed = 1;
  for (const int nranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 33}) {
    for (const topology::Topology& topology : spreads(nranks)) {
      for (const uint32_t depth : {2u, 8u}) {
        const auto plans = make_plans(generator, topology, depth, 1 + seed % 3);
        for (const Case& at : cases) {
          ++seed;
          if (nranks > 8 && at.count > 2048) continue;
          run_case(plans, at, seed % 2 == 0, seed % 3 == 0, seed);
          if (HasFatalFailure()) return;
        }
      }
      if (!generator.uses_nodes) break;
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const Generator& generator : generators(Collective::kAllReduce)) result.emplace_back(generator.name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(AllReduce, Numbers, testing::ValuesIn(names()), [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tutti::algorithms
