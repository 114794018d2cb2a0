#include "algorithms/allreduce/two_shot.h"

#include <algorithm>

#include "algorithms/allreduce/group.h"

namespace tutti::algorithms::allreduce {

Shape two_shot_shape(const Parameters& parameters) {
  Shape shape;
  shape.max_sources = static_cast<uint32_t>(parameters.nranks());
  shape.chunks = static_cast<uint32_t>(parameters.nranks());
  // An owner takes a contribution and sends a result in one go: all contributions under way must leave a slot free.
  shape.max_slices = std::max<uint32_t>(1, parameters.queue_depth - 1);
  shape.lending = Lending::kAlways;
  return shape;
}

Schedule two_shot_schedule(const Parameters& parameters, int rank) {
  Schedule schedule;
  schedule.rank = rank;
  const int n = parameters.nranks();
  if (n == 1) {
    add_alone(schedule, {0, 1});
    return schedule;
  }
  const Group group = Group::all(n, rank);
  const auto mine = static_cast<uint32_t>(rank);
  std::vector<Operand> others;
  // Each rank begins with its right neighbour's chunk, so that no owner is everybody's first.
  for (int i = 1; i < n; ++i) {
    const int owner = group.rank(rank + i);
    schedule.copy({static_cast<uint32_t>(owner), 1}, input(static_cast<uint32_t>(owner)), {peer(owner)});
    others.push_back(peer(owner));
  }
  std::vector<Operand> contributions;
  for (int i = 0; i < n; ++i) contributions.push_back(i == rank ? input(mine) : peer(i));
  schedule.combine({mine, 1}, std::move(contributions), {output(mine)}, true);
  schedule.copy({mine, 1}, output(mine), std::move(others));
  for (int i = 1; i < n; ++i) {
    const int owner = group.rank(rank - i);
    schedule.copy({static_cast<uint32_t>(owner), 1}, peer(owner), {output(static_cast<uint32_t>(owner))});
  }
  return schedule;
}

}  // namespace tutti::algorithms::allreduce
