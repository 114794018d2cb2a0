// 128 random bits that name one transport object, so that a peer of an earlier communicator is never taken for it.
#pragma once

#include <array>
#include <cstdint>

#include "base/status.h"

namespace tutti::transport {

using Identity = std::array<uint64_t, 2>;

Result<Identity> random_identity();

}  // namespace tutti::transport
