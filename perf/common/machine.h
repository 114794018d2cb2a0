// Facts about the machine that a run needs.
#pragma once

#include <cstdint>
#include <string>

namespace tutti::perf {

std::string host_name();       // up to the first dot
std::string host_identity();   // equal for processes that share this machine's memory
std::string processor_name();  // "AMD EPYC ..." or "unknown processor"

// Bytes that this process and its neighbours can still allocate: the kernel's estimate and the control group's limit,
// whichever is less.
int64_t available_memory();
int64_t peak_resident_memory();  // of this process, bytes

// The largest buffer size of at most `wanted` with which `ranks_here` ranks fit into `available` bytes: two buffers
// and 64 MiB each, and a twentieth left to the system. At least 1 byte.
int64_t buffer_limit(int64_t wanted, int64_t available, int64_t ranks_here);

}  // namespace tutti::perf
