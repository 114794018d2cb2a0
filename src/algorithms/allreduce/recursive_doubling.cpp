#include "algorithms/allreduce/recursive_doubling.h"

#include "algorithms/allreduce/fold.h"

namespace tutti::algorithms::allreduce {

void add_recursive_doubling(Schedule& schedule, const Group& group, Run run, Operand contribution) {
  const Fold fold(group.size());
  const Operand result = output(run.first);
  if (fold.waits(group.me)) {
    const Operand partner = peer(group.rank(group.me + 1));
    schedule.copy(run, contribution, {partner});
    schedule.copy(run, partner, {result});
    return;
  }
  Operand sum = contribution;
  if (fold.paired(group.me)) {
    schedule.combine(run, {peer(group.rank(group.me - 1)), sum}, {scratch(0)}, false);
    sum = scratch(0);
  }
  const int place = fold.place(group.me);
  for (int distance = 1; distance < fold.core; distance *= 2) {
    const int other = place ^ distance;
    const Operand partner = peer(group.rank(fold.member(other)));
    const bool last = distance * 2 == fold.core;
    schedule.copy(run, sum, {partner});
    // Both partners add the lower ranks' sum first: equal bits.
    std::vector<Operand> halves =
        place < other ? std::vector<Operand>{sum, partner} : std::vector<Operand>{partner, sum};
    schedule.combine(run, std::move(halves), {last ? result : scratch(0)}, last);
    sum = scratch(0);
  }
  if (fold.paired(group.me)) schedule.copy(run, result, {peer(group.rank(group.me - 1))});
}

Shape recursive_doubling_shape(const Parameters& parameters) {
  Shape shape;
  shape.scratch_chunks = parameters.nranks() > 2 ? 1 : 0;
  shape.max_slices = parameters.queue_depth;  // partners send all before they take the first
  shape.lending = Lending::kOutOfPlace;
  return shape;
}

Schedule recursive_doubling_schedule(const Parameters& parameters, int rank) {
  Schedule schedule;
  schedule.rank = rank;
  if (parameters.nranks() == 1) {
    add_alone(schedule, {0, 1});
  } else {
    add_recursive_doubling(schedule, Group::all(parameters.nranks(), rank), {0, 1}, input(0));
  }
  return schedule;
}

}  // namespace tutti::algorithms::allreduce
