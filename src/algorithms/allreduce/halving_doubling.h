// Halving-doubling (Rabenseifner): reduce-scatter by recursive halving, all-gather by recursive doubling. 2 log2(n)
// rounds and, for a power of two, as few bytes as a ring; other counts fold (fold.h).
#pragma once

#include "algorithms/schedule.h"

namespace tutti::algorithms::allreduce {

Shape halving_doubling_shape(const Parameters& parameters);
Schedule halving_doubling_schedule(const Parameters& parameters, int rank);

}  // namespace tutti::algorithms::allreduce
