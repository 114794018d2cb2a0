// Lowering: from a schedule to one rank's plan, by named passes. Each is a pure function that can be tested alone;
// lower() runs them in the order in which they stand here. Time and memory: proportional to the rank's own steps.
#pragma once

#include "algorithms/plan.h"
#include "algorithms/schedule.h"
#include "base/status.h"

namespace tutti::algorithms {

// fuse: an operation and the copy that hands its result on become one step ("receive and reduce", "send" ->
// "receive, reduce, send"), so that a slice is sent on in the moment in which it is computed. Scratch that nobody reads
// afterwards is then not written either.
void pass_fuse(Schedule& schedule);

// depend: an operation that touches a chunk that another stream of this rank has written or read before (in program
// order; reads beside reads excepted) waits for it. Input and output count as different buffers here: what in-place
// calls need in addition is ordered by the messages themselves, which check() proves.
void pass_depend(Schedule& schedule);

// lanes: `lanes` copies of the schedule side by side, each on its own part of every block, in streams of its own.
void pass_lanes(Schedule& schedule, Shape& shape, uint32_t lanes);

// number: streams become lanes, operations become steps. An error is a defect of the generator.
Result<Plan> pass_number(const Schedule& schedule, const PlanHeader& header);

// The header of the plan that `generator` makes; the same on all ranks. `lanes`: copies, at least 1.
PlanHeader make_header(const Generator& generator, const Parameters& parameters, Collective collective, int root,
                       uint32_t lanes);

// All of it. Errors: kInvalidArgument for a rank, root, lane count or queue depth out of range.
Result<Plan> lower(const Generator& generator, const Parameters& parameters, Collective collective, int root,
                   uint32_t lanes, int rank);

}  // namespace tutti::algorithms
