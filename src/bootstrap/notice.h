// Notices as bytes.
#pragma once

#include <span>

#include "bootstrap/bootstrap.h"

namespace tutti::bootstrap {

Bytes encode(const Notice& notice);
// Only proved members send notices; a damaged one is a defect or another version.
Result<Notice> decode_notice(std::span<const std::byte> bytes, int nranks);

}  // namespace tutti::bootstrap
