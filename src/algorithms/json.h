// Plans and snapshots as JSON: to keep them, to look at them with other tools, and to hand a snapshot to all ranks.
// The only place that knows the JSON library. Output is stable: equal inputs give equal text.
#pragma once

#include <string>
#include <string_view>

#include "algorithms/plan.h"
#include "algorithms/select.h"
#include "base/status.h"

namespace tutti::algorithms {

std::string to_json(const Plan& plan);
// Reads what to_json wrote. Errors (kInvalidArgument) name the field. A plan that was read must pass check() with those
// of the other ranks before it is run.
Result<Plan> plan_from_json(std::string_view text);

std::string to_json(const Snapshot& snapshot);
// The snapshot has passed validate().
Result<Snapshot> snapshot_from_json(std::string_view text);

}  // namespace tutti::algorithms
