// Plans of all ranks, for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "algorithms/lower.h"
#include "algorithms/schedule.h"

namespace tutti::algorithms {

inline std::vector<Plan> make_plans(const Generator& generator, const topology::Topology& topology, uint32_t depth,
                                    uint32_t lanes) {
  std::vector<Plan> plans;
  for (int rank = 0; rank < topology.nranks(); ++rank) {
    Result<Plan> plan = lower(generator, {topology, depth}, Collective::kAllReduce, -1, lanes, rank);
    EXPECT_TRUE(plan.ok()) << plan.status().text();
    if (plan.ok()) plans.push_back(std::move(plan).value());
  }
  return plans;
}

inline std::vector<Plan> make_plans(std::string_view name, int nranks, uint32_t depth = 8, uint32_t lanes = 1) {
  return make_plans(*find_generator(Collective::kAllReduce, name), topology::Topology::single_node(nranks), depth,
                    lanes);
}

// Ways to spread ranks over nodes: one node, one rank a node, pairs, uneven blocks, and dealt out like cards.
inline std::vector<topology::Topology> spreads(int nranks) {
  std::vector<topology::Topology> result{topology::Topology::single_node(nranks)};
  if (nranks == 1) return result;
  const auto add = [&](auto node_of) {
    topology::Topology topology;
    for (int rank = 0; rank < nranks; ++rank) topology.node.push_back(node_of(rank));
    result.push_back(topology);
  };
  add([](int rank) { return rank; });
  add([](int rank) { return rank / 2; });
  add([&](int rank) { return rank < nranks * 2 / 5 + (nranks == 2 ? 1 : 0) ? 0 : 1; });
  add([](int rank) { return rank % 2; });
  if (nranks > 2) add([](int rank) { return rank % 3; });
  if (nranks > 4) add([](int rank) { return rank == 0 ? 0 : 1 + (rank - 1) / 4; });
  return result;
}

}  // namespace tutti::algorithms
