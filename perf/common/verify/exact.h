// Exact verification: every partial result of the reduction, over any subset of the ranks in any order, is exactly
// representable in the type. So the result has one right bit pattern, whatever the algorithm, and is compared as bits.
//
// How the inputs are made. At each position a hash picks up to 16 of the ranks, the contributors (all of them where
// there are no more), and a value for each; the other ranks hold the neutral element. With p significant bits,
//   sum, mulsum: signed multiples of one power of two whose absolute values add up to at most 2^p;
//   prod:        signed powers of two, one of them with a full mantissa, exponents that cannot leave the range;
//   max, min:    any value (the other ranks repeat the contributors');
//   avg:         the division rounds. Two contributors, and 2 ulp are allowed (floating types).
// Integers take part with random values modulo 2^bits; for avg they are not negative and do not overflow.
#pragma once

#include "common/verify/check.h"

namespace tutti::perf {

// Writes the inputs of `rank` at positions [position, position + count). `out` is aligned to the type.
void fill_exact(const CheckSpec& spec, int rank, uint64_t position, void* out, size_t count);

// Compares `data` with the reduction over all ranks at these positions.
Wrong check_exact_reduced(const CheckSpec& spec, uint64_t position, const void* data, size_t count);

}  // namespace tutti::perf
