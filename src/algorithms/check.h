// The checker: proves a plan by running it on symbols instead of numbers.
//
// What is proved, over the plans of all ranks together:
//   structure  every index is in range; headers are equal; operands belong to the chunks that their step names
//   messages   per (sender, receiver, lane) every message has its receive, in order, of the same chunks
//   waits      no circle of waits with queues of header.queue_depth slots and header.max_slices slices a step (0: with
//              twice the depth and one more). Fewer slices, and slices that are empty because a chunk is short, are
//              then safe too: they only take messages away, and whatever remains waits for less. Deeper queues as well
//   races      steps of different lanes of a rank that touch the same chunk, one of them writing, are ordered by lane
//              order, messages and dependences alone, without the help of full queues; for scratch that every loop uses
//              again also from one loop to the next; in place as well as out of place, where the header says so
//   lending    where the header allows it, no step writes memory that another rank may still be reading
//   symbols    every output chunk has every rank's contribution exactly once, finished exactly once; the expression
//              (operand order, rounding points) is equal on all ranks; nothing is read before it is written or after
//              an in-place result has overwritten it; and nothing is written to an output that lacks any rank's
//              contribution, so that outputs stay untouched when ranks disagree
//
// A rejection (kInvalidUsage) names plan, rank, lane and step, and the chunk, contribution or circle of waits.
#pragma once

#include <vector>

#include "algorithms/plan.h"
#include "base/status.h"

namespace tutti::algorithms {

// `plans`: those of all ranks, in order. Pure; time grows with the total number of steps times slices, memory with the
// number of steps.
Status check(const std::vector<Plan>& plans);

}  // namespace tutti::algorithms
