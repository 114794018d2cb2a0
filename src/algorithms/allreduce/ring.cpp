#include "algorithms/allreduce/ring.h"

#include <algorithm>

namespace tutti::algorithms::allreduce {

void add_ring(Schedule& schedule, const Group& group, uint32_t first, Operand contribution) {
  const int n = group.size();
  const Operand next = peer(group.rank(group.me + 1));
  const Operand previous = peer(group.rank(group.me - 1));
  // Chunk c starts at member c+1 and is complete when it comes to member c.
  const auto chunk = [&](int step) { return static_cast<uint32_t>(((group.me - 1 - step) % n + n) % n); };
  const auto run = [&](int step) { return Run{first + chunk(step), 1}; };

  schedule.copy(run(0), advance(contribution, chunk(0)), {next});
  for (int step = 1; step < n; ++step) {
    const bool last = step == n - 1;
    const Operand mine = advance(contribution, chunk(step));
    // A partial sum only passes through: fusion removes the scratch.
    const Operand partial = mine.role == Role::kScratch ? mine : scratch(0);
    const Operand sum = last ? output(first + chunk(step)) : partial;
    schedule.combine(run(step), {previous, mine}, {sum}, last);
    schedule.copy(run(step), sum, {next});
  }
  for (int step = n; step < 2 * n - 1; ++step) {
    const Operand result = output(first + chunk(step));
    schedule.copy(run(step), previous, {result});
    if (step < 2 * n - 2) schedule.copy(run(step), result, {next});
  }
}

Shape ring_shape(const Parameters& parameters) {
  Shape shape;
  shape.chunks = static_cast<uint32_t>(parameters.nranks());
  // Every rank has all slices of a step under way and needs one free slot to hand one on.
  shape.max_slices = std::max<uint32_t>(1, parameters.queue_depth - 1);
  shape.lending = Lending::kAlways;
  return shape;
}

Schedule ring_schedule(const Parameters& parameters, int rank) {
  Schedule schedule;
  schedule.rank = rank;
  if (parameters.nranks() == 1) {
    add_alone(schedule, {0, 1});
  } else {
    add_ring(schedule, Group::all(parameters.nranks(), rank), 0, input(0));
  }
  return schedule;
}

}  // namespace tutti::algorithms::allreduce
