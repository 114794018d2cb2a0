// What a verification is about and what it finds. Two modes: exact.h and real.h.
//
// Inputs are a function of (seed, position, rank), so that no rank needs another's data to know what should come out,
// and nothing but the send and receive buffers is kept: expected values are made element by element while comparing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/types.h"

namespace tutti::perf {

struct CheckSpec {
  Type type = Type::kFloat;
  Op op = Op::kSum;
  int ranks = 1;
  uint64_t seed = 0;
};

struct Wrong {
  int64_t count = 0;      // elements that are wrong
  size_t first = 0;       // index of the first of them in the checked range; these three only when count > 0
  uint64_t got = 0;       // its bits
  uint64_t expected = 0;  // the bits that should have been there (real mode: those of the rounded reference)

  void add(size_t index, uint64_t got_bits, uint64_t expected_bits) {
    if (count++ == 0) {
      first = index;
      got = got_bits;
      expected = expected_bits;
    }
  }
};

// A well-mixed 64-bit word for each input (the finalizer of the splitmix64 generator, with fresh constants' spacing).
inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The scalar of mulsum (PreMulSum) on `rank`.
constexpr int mulsum_scalar(int rank) {
  return 1 + rank % 2;
}

}  // namespace tutti::perf
