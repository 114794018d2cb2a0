// Who and where this process is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

const std::string& hostname();
// Equal for processes that share memory: hash of `override` (NCCL_HOSTID) if given, else of host name and boot id.
uint64_t host_identity(const std::optional<std::string>& override);
// Drawn at random at the first call. redraw_process_identity: for the handler of a fork, in the child.
uint64_t process_identity();
void redraw_process_identity();
// Processors that this process may run on.
uint32_t usable_cores();
// FNV-1a, 64 bits: for identities and hashes that must be equal on all ranks.
uint64_t stable_hash(std::string_view text, uint64_t seed = 0xcbf29ce484222325u);

}  // namespace tutti
