#include "algorithms/allreduce/one_shot.h"

#include "algorithms/allreduce/group.h"

namespace tutti::algorithms::allreduce {

Shape one_shot_shape(const Parameters& parameters) {
  Shape shape;
  shape.max_sources = static_cast<uint32_t>(parameters.nranks());
  shape.max_slices = parameters.queue_depth;  // all are sent before the first is taken
  shape.lending = Lending::kOutOfPlace;
  return shape;
}

Schedule one_shot_schedule(const Parameters& parameters, int rank) {
  Schedule schedule;
  schedule.rank = rank;
  const int n = parameters.nranks();
  if (n == 1) {
    add_alone(schedule, {0, 1});
    return schedule;
  }
  const Group group = Group::all(n, rank);
  std::vector<Operand> others;
  std::vector<Operand> contributions;
  for (int i = 1; i < n; ++i) others.push_back(peer(group.rank(rank + i)));
  for (int i = 0; i < n; ++i) contributions.push_back(i == rank ? input(0) : peer(i));
  schedule.copy({0, 1}, input(0), std::move(others));
  schedule.combine({0, 1}, std::move(contributions), {output(0)}, true);
  return schedule;
}

}  // namespace tutti::algorithms::allreduce
