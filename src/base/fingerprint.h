// What a rank believes that an operation is. It travels in the header of every message of the operation, so that ranks
// that disagree find out at the first message that they exchange, on any connection, and both sides can be shown.
#pragma once

#include <cstdint>
#include <string>

#include "base/types.h"

namespace tutti {

// Copied byte for byte between ranks of one machine architecture (little endian, checked when ranks meet).
struct Fingerprint {
  uint64_t count = 0;     // elements, as the API function counts them
  uint64_t plan = 0;      // Plan::hash
  uint32_t sequence = 0;  // number of the operation in its communicator, from 0, wraps
  uint32_t snapshot = 0;  // number of the snapshot that the plan was selected from
  int32_t root = -1;      // -1 when the collective has none
  Collective kind = Collective::kAllReduce;
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  uint8_t reserved = 0;

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};
static_assert(sizeof(Fingerprint) == 32);

// "AllReduce #7 of 1024 float, sum" (with root, plan and snapshot only where `other` differs in them).
std::string describe(const Fingerprint& mine, const Fingerprint& other);

}  // namespace tutti
