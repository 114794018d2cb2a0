// Copy, reduce and convert: the one table of functions through which everything above touches data.
//
// Arithmetic (DESIGN section 4): 8- and 16-bit floats are widened to float32, all operands of one call are accumulated
// there in operand order (((s0 + s1) + s2) ...), and the result is rounded once (to nearest even; fp8 overflow becomes
// the largest finite value, as in CUDA's __NV_SATFINITE conversions). Integers wrap. max and min return NaN when an
// operand is NaN, and order -0 before +0, so that they do not depend on the order of operands. A NaN that is computed
// has all bits but the sign set (CUDA's canonical one), whatever the operands' were; a call with one source, no scaling
// and no divisor copies bits. The same call on the same bytes gives the same bits whatever the instruction set,
// alignment, count or position in the buffer: tails and unaligned heads use the same arithmetic as vectors.
//
// Pointers need no alignment at all. A destination may be identical to a source (same address), but must not overlap
// one otherwise. Threads: all functions are pure; the table is immutable after the first call of host_kernels().
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace tutti::kernels {

// The factor of a PreMulSum, already in the data type (bit pattern in the low bytes, as the API received it).
struct Scalar {
  alignas(8) unsigned char bytes[8] = {};
};

// dst[0..destinations) = post( combine( pre(src[0]), pre(src[1]), ... ) ), elementwise. With one source the combination
// is the source itself.
struct ReduceCall {
  void* const* dst = nullptr;
  int destinations = 1;  // >= 1; all receive the same bits
  const void* const* src = nullptr;
  int sources = 1;      // >= 1
  size_t count = 0;     // elements
  uint64_t scaled = 0;  // bit i: src[i] is multiplied by `scalar` first (PreMulSum; at most 64 sources then)
  Scalar scalar;
  uint32_t divisor = 0;    // 0: none; else the combination is divided by it before rounding (kAvg's last step);
                           // integers divide after wrapping, truncating toward zero
  bool streaming = false;  // hint: dst[0] is large and not read again soon, so that stores may bypass the caches
};

using ReduceFunction = void (*)(const ReduceCall&);

struct KernelTable {
  const char* target;  // "AVX3", "AVX2", "SSE4", "NEON", "SCALAR": for the log
  // [type][op]: kAvg and kPreMulSum have the combination of kSum.
  ReduceFunction reduce[kDataTypes][kReduceOps];
  // memcpy with several destinations: dst[i] = src for every i.
  void (*copy)(void* const* dst, int destinations, const void* src, size_t bytes, bool streaming);
  // Converts between any two floating types (round to nearest even, once, also from float64; fp8 saturates). dst may be
  // src if `to` is not the larger type. Other types: nothing happens.
  void (*convert)(void* dst, DataType to, const void* src, DataType from, size_t count);
};

// The table for the best instruction set of this processor; TUTTI_SIMD (SCALAR, SSE4, AVX2, AVX3, ...) lowers it.
// The first call chooses; never fails (an unknown name is reported by the configuration, not here).
const KernelTable& host_kernels();
// A given target's table, or nullptr when it is not compiled in or not runnable here. For tests.
const KernelTable* host_kernels_for(const char* target);

}  // namespace tutti::kernels
