// Verification with real-valued inputs (--check-mode real): rounding happens, so what is checked is
//   - that each element is within the bound that n-1 roundings to the type allow, whatever the order:
//       |result - reference| <= ((1+u)^m - 1) * sum|x_i| + m * (smallest positive number),   u = 2^-p, m = n (+1 where
//     scaling rounds too); prod: relative to |product|. Max, min and integers must be exact.
//   - that all ranks hold the same bits: hash_bits() of the outputs are compared by the caller.
// The reference is made in float64 with Neumaier's compensation. Cost: one hash per element and rank.
#pragma once

#include "common/verify/check.h"

namespace tutti::perf {

void fill_real(const CheckSpec& spec, int rank, uint64_t position, void* out, size_t count);
Wrong check_real_reduced(const CheckSpec& spec, uint64_t position, const void* data, size_t count);

// A 64-bit hash of the bytes; equal outputs have equal hashes, different ones differ but for chance.
uint64_t hash_bits(const void* data, size_t bytes, uint64_t start = 0);

}  // namespace tutti::perf
