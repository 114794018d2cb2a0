// The in-process bootstrap: all ranks of the communicator live in this process (ncclCommInitAll).
#pragma once

#include <memory>
#include <vector>

#include "bootstrap/bootstrap.h"

namespace tutti::bootstrap {

// One end for each rank; the ends may be used by different threads, or all by one (all_gather then only from
// different threads, since it blocks until all have called).
Result<std::vector<std::unique_ptr<Bootstrap>>> join_in_process(int nranks);

}  // namespace tutti::bootstrap
