// The table of generators.
#include <string>

#include "algorithms/allreduce/halving_doubling.h"
#include "algorithms/allreduce/hierarchy.h"
#include "algorithms/allreduce/one_shot.h"
#include "algorithms/allreduce/recursive_doubling.h"
#include "algorithms/allreduce/ring.h"
#include "algorithms/allreduce/tree.h"
#include "algorithms/allreduce/two_shot.h"
#include "algorithms/schedule.h"

namespace tutti::algorithms {
namespace {

// Name, about, uses_nodes, computes_once, shape, schedule.
constexpr Generator kAllReduce[] = {
    {"one_shot", "everyone sends all to everyone", false, false, allreduce::one_shot_shape,
     allreduce::one_shot_schedule},
    {"two_shot", "direct reduce-scatter, direct all-gather", false, true, allreduce::two_shot_shape,
     allreduce::two_shot_schedule},
    {"recursive_doubling", "halves of a growing group exchange sums", false, false, allreduce::recursive_doubling_shape,
     allreduce::recursive_doubling_schedule},
    {"halving_doubling", "recursive halving, then recursive doubling", false, true, allreduce::halving_doubling_shape,
     allreduce::halving_doubling_schedule},
    {"tree", "double binary tree", false, true, allreduce::tree_shape, allreduce::tree_schedule},
    {"ring", "ring reduce-scatter and all-gather", false, true, allreduce::ring_shape, allreduce::ring_schedule},
    {"hierarchy", "rails: reduce in the node, ring across nodes", true, true, allreduce::hierarchy_shape,
     allreduce::hierarchy_schedule},
    {"hierarchy_leaders", "reduce in the node, recursive doubling across nodes", true, false,
     allreduce::hierarchy_leaders_shape, allreduce::hierarchy_leaders_schedule},
};

}  // namespace

std::span<const Generator> generators(Collective collective) {
  if (collective == Collective::kAllReduce) return kAllReduce;
  return {};
}

const Generator* find_generator(Collective collective, std::string_view name) {
  for (const Generator& generator : generators(collective)) {
    if (generator.name == name) return &generator;
  }
  return nullptr;
}

std::string generator_names(Collective collective) {
  std::string names;
  for (const Generator& generator : generators(collective)) {
    if (!names.empty()) names += ", ";
    names += generator.name;
  }
  return names;
}

}  // namespace tutti::algorithms
