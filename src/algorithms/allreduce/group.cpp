#include "algorithms/allreduce/group.h"

#include <numeric>

namespace tutti::algorithms::allreduce {

Group Group::all(int nranks, int me) {
  Group group;
  group.ranks.resize(static_cast<size_t>(nranks));
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  group.me = me;
  return group;
}

void add_alone(Schedule& schedule, Run run) {
  schedule.combine(run, {input(run.first)}, {output(run.first)}, true);
}

}  // namespace tutti::algorithms::allreduce
