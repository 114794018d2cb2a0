// The composition root: the one place that names concrete bootstraps and transports.
#pragma once

#include <array>
#include <vector>

#include "bootstrap/bootstrap.h"
#include "runtime/communicator.h"

namespace tutti::runtime {

Result<std::array<char, 128>> make_unique_id();

// Make `communicator` (rank and size are set) usable: find the other ranks, exchange what each must know, choose and
// start transports. Block until all ranks have come, the deadline, or the communicator's stop flag.
Status join_by_id(Communicator& communicator, const std::array<char, 128>& id, bootstrap::Deadline deadline);
// The same for all ranks of a communicator that lives in this process.
Status join_in_this_process(const std::vector<Communicator*>& communicators, bootstrap::Deadline deadline);

}  // namespace tutti::runtime
