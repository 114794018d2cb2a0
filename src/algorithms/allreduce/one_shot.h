// One-shot: everyone sends everything to everyone and adds up all contributions in rank order, in one combine with one
// rounding. The fewest steps possible; (n-1) times the data each way.
#pragma once

#include "algorithms/schedule.h"

namespace tutti::algorithms::allreduce {

Shape one_shot_shape(const Parameters& parameters);
Schedule one_shot_schedule(const Parameters& parameters, int rank);

}  // namespace tutti::algorithms::allreduce
