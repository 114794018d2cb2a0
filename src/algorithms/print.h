// Plans as text for people. Stable enough to compare by eye, not meant to be read back (json.h does that).
#pragma once

#include <string>

#include "algorithms/plan.h"

namespace tutti::algorithms {

// "input 3", "output 0..3", "scratch 2", "rank 5".
std::string to_text(const Operand& operand, uint32_t chunks);
// "rank 5 + input 3 -> output 3, rank 6 (completes) after lane 0 step 1".
std::string to_text(const Lane& lane, const Step& step);
// Header and all lanes of one rank.
std::string to_text(const Plan& plan);

}  // namespace tutti::algorithms
