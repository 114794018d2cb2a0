// Two-shot: every rank owns one chunk, collects all contributions to it directly, adds them up in rank order with one
// rounding, and sends the result to everyone. As few bytes as a ring, in two rounds; every rank talks to every other.
#pragma once

#include "algorithms/schedule.h"

namespace tutti::algorithms::allreduce {

Shape two_shot_shape(const Parameters& parameters);
Schedule two_shot_schedule(const Parameters& parameters, int rank);

}  // namespace tutti::algorithms::allreduce
