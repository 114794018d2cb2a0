// Recursive doubling: in each round two halves of a growing group exchange their sums. log2(n) rounds with all of the
// data; any number of ranks: some first hand their contribution to a neighbour, who later returns the result.
#pragma once

#include "algorithms/allreduce/group.h"
#include "algorithms/schedule.h"

namespace tutti::algorithms::allreduce {

Shape recursive_doubling_shape(const Parameters& parameters);
Schedule recursive_doubling_schedule(const Parameters& parameters, int rank);

// AllReduce of `run` over a group of at least two; `contribution` is this rank's operand. Uses scratch chunks
// 0 .. run.chunks. The result is in the output of every member, finished.
void add_recursive_doubling(Schedule& schedule, const Group& group, Run run, Operand contribution);

}  // namespace tutti::algorithms::allreduce
