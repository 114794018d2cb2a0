// The proof of every built-in algorithm, for every rank count, lane count and queue depth that is used.
#include <gtest/gtest.h>

#include "algorithms/check.h"
#include "make.h"

namespace tutti::algorithms {
namespace {

constexpr int kMostRanks = 33;

class Proof : public testing::TestWithParam<std::string> {};

TEST_P(Proof, HoldsForAllRankCounts) {
  const Generator& generator = *find_generator(Collective::kAllReduce, GetParam());
  for (int nranks = 1; nranks <= kMostRanks; ++nranks) {
    for (const topology::Topology& topology : spreads(nranks)) {
      for (const uint32_t lanes : {1u, 2u, 4u, 8u}) {
        for (const uint32_t depth : {2u, 4u, 8u}) {
          const auto plans = make_plans(generator, topology, depth, lanes);
          const Status status = check(plans);
          ASSERT_TRUE(status.ok()) << nranks << " ranks on " << topology.nodes() << " nodes, " << lanes
                                   << " lanes, depth " << depth << ": " << status.text();
          EXPECT_TRUE(plans[0].header.in_place);
        }
      }
      if (!generator.uses_nodes) break;
    }
  }
}

// The bound on slices that a generator states is not lower than need be.
TEST_P(Proof, StatesTheLargestNumberOfSlices) {
  const Generator& generator = *find_generator(Collective::kAllReduce, GetParam());
  for (const uint32_t depth : {2u, 4u, 8u}) {
    bool reached = false;
    for (const topology::Topology& topology : spreads(6)) {
      auto plans = make_plans(generator, topology, depth, 1);
      if (plans[0].header.max_slices == 0) return;
      for (Plan& plan : plans) ++plan.header.max_slices;
      reached = reached || !check(plans).ok();
    }
    EXPECT_TRUE(reached) << "depth " << depth;
  }
}

// Nor does a generator lend less than it could.
TEST_P(Proof, LendsWhereverThatIsSafe) {
  const Generator& generator = *find_generator(Collective::kAllReduce, GetParam());
  bool too_much = false;
  for (int nranks = 2; nranks <= 9; ++nranks) {
    for (const topology::Topology& topology : spreads(nranks)) {
      auto plans = make_plans(generator, topology, 8, 2);
      if (plans[0].header.lending == Lending::kAlways) return;
      const Lending more = plans[0].header.lending == Lending::kNever ? Lending::kOutOfPlace : Lending::kAlways;
      for (Plan& plan : plans) plan.header.lending = more;
      too_much = too_much || !check(plans).ok();
    }
  }
  EXPECT_TRUE(too_much);
}

TEST_P(Proof, ComputesOnceWhereItSaysSo) {
  const Generator& generator = *find_generator(Collective::kAllReduce, GetParam());
  bool more = false;
  for (int nranks = 1; nranks <= 9; ++nranks) {
    for (const topology::Topology& topology : spreads(nranks)) {
      const auto plans = make_plans(generator, topology, 8, 2);
      std::vector<int> computed(plans[0].header.chunks);
      for (const Plan& plan : plans) {
        for (const Lane& lane : plan.lanes) {
          for (const Step& step : lane.steps) {
            for (uint32_t i = 0; step.completes && i < step.chunks; ++i) ++computed[step.first_chunk + i];
          }
        }
      }
      for (const int times : computed) more = more || times != 1;
    }
  }
  EXPECT_EQ(more, !generator.computes_once);
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const Generator& generator : generators(Collective::kAllReduce)) result.emplace_back(generator.name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(AllReduce, Proof, testing::ValuesIn(names()), [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tutti::algorithms
