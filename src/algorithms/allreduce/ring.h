// Ring: n chunks travel round; each is reduced on its way to its owner, then copied on to everybody. Moves the fewest
// bytes possible per rank, 2(n-1)/n of the data each way, in 2(n-1) steps.
#pragma once

#include "algorithms/allreduce/group.h"
#include "algorithms/schedule.h"

namespace tutti::algorithms::allreduce {

Shape ring_shape(const Parameters& parameters);
Schedule ring_schedule(const Parameters& parameters, int rank);

// AllReduce of the chunks first .. first + group.size() of a block over a group of at least two. `contribution` is
// this rank's operand of chunk `first`. The result is in the output of every member, finished.
void add_ring(Schedule& schedule, const Group& group, uint32_t first, Operand contribution);

}  // namespace tutti::algorithms::allreduce
