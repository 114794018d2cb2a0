// The table of generators.
#include <string>

#include "algorithms/allreduce/one_shot.h"
#include "algorithms/allreduce/ring.h"
#include "algorithms/allreduce/two_shot.h"
#include "algorithms/schedule.h"

namespace tutti::algorithms {
namespace {

constexpr Generator kAllReduce[] = {
    {"one_shot", "everyone sends all to everyone", false, allreduce::one_shot_shape, allreduce::one_shot_schedule},
    {"two_shot", "direct reduce-scatter, direct all-gather", false, allreduce::two_shot_shape,
     allreduce::two_shot_schedule},
    {"ring", "ring reduce-scatter and all-gather", false, allreduce::ring_shape, allreduce::ring_schedule},
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
