#include "algorithms/allreduce/halving_doubling.h"

#include <algorithm>

#include "algorithms/allreduce/fold.h"
#include "algorithms/allreduce/group.h"

namespace tutti::algorithms::allreduce {
namespace {

// Leaves chunk `place` of the core, finished, in this rank's output. `sum` is the operand of chunk 0.
void add_halving(Schedule& schedule, const Fold& fold, int place, Operand sum) {
  int first = 0;  // of the run that this rank still works on
  for (int distance = fold.core / 2; distance > 0; distance /= 2) {
    const int other = place ^ distance;
    const Operand partner = peer(fold.member(other));
    const bool upper = (place & distance) != 0;
    const auto keep = static_cast<uint32_t>(first + (upper ? distance : 0));
    const auto give = static_cast<uint32_t>(first + (upper ? 0 : distance));
    const auto chunks = static_cast<uint32_t>(distance);
    const Operand mine = advance(sum, keep);
    schedule.copy({give, chunks}, advance(sum, give), {partner});
    std::vector<Operand> halves =
        place < other ? std::vector<Operand>{mine, partner} : std::vector<Operand>{partner, mine};
    schedule.combine({keep, chunks}, std::move(halves), {distance == 1 ? output(keep) : scratch(keep)}, distance == 1);
    sum = scratch(0);
    first = static_cast<int>(keep);
  }
}

void add_doubling(Schedule& schedule, const Fold& fold, int place) {
  for (int distance = 1; distance < fold.core; distance *= 2) {
    const auto chunks = static_cast<uint32_t>(distance);
    const auto mine = static_cast<uint32_t>(place & ~(distance - 1));
    const uint32_t theirs = mine ^ chunks;
    const Operand partner = peer(fold.member(place ^ distance));
    schedule.copy({mine, chunks}, output(mine), {partner});
    schedule.copy({theirs, chunks}, partner, {output(theirs)});
  }
}

}  // namespace

Shape halving_doubling_shape(const Parameters& parameters) {
  const Fold fold(parameters.nranks());
  Shape shape;
  shape.chunks = static_cast<uint32_t>(fold.core);
  shape.max_chunks = std::max(1u, fold.extra > 0 ? shape.chunks : shape.chunks / 2);
  shape.scratch_chunks = parameters.nranks() > 2 ? shape.chunks : 0;
  // The last halving step sends its result to the rank it hears from: what is under way must leave a slot free.
  shape.max_slices = std::max<uint32_t>(1, parameters.queue_depth - 1);
  shape.lending = Lending::kAlways;
  return shape;
}

Schedule halving_doubling_schedule(const Parameters& parameters, int rank) {
  Schedule schedule;
  schedule.rank = rank;
  const Fold fold(parameters.nranks());
  const Run all{0, static_cast<uint32_t>(fold.core)};
  if (parameters.nranks() == 1) {
    add_alone(schedule, all);
  } else if (fold.waits(rank)) {
    schedule.copy(all, input(0), {peer(rank + 1)});
    schedule.copy(all, peer(rank + 1), {output(0)});
  } else {
    if (fold.paired(rank)) schedule.combine(all, {peer(rank - 1), input(0)}, {scratch(0)}, false);
    add_halving(schedule, fold, fold.place(rank), fold.paired(rank) ? scratch(0) : input(0));
    add_doubling(schedule, fold, fold.place(rank));
    if (fold.paired(rank)) schedule.copy(all, output(0), {peer(rank - 1)});
  }
  return schedule;
}

}  // namespace tutti::algorithms::allreduce
