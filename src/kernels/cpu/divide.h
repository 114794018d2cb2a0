// Integer averages: no instruction set divides vectors of integers, so that the division is a pass of its own over the
// wrapped totals.
#pragma once

#include <cstring>

#include "kernels/arithmetic/operations.h"
#include "kernels/kernels.h"

namespace tutti::kernels {

// values[i] = values[i] / divisor, truncating; no alignment needed.
template <class Integer>
void divide_integers(void* values, size_t count, uint32_t divisor) {
  unsigned char* at = static_cast<unsigned char*>(values);
  for (size_t i = 0; i < count; ++i, at += sizeof(Integer)) {
    Integer value;
    std::memcpy(&value, at, sizeof(value));
    value = arithmetic::average(value, divisor);
    std::memcpy(at, &value, sizeof(value));
  }
}

// Reduces into dst[0] with `reduce`, which ignores the divisor, divides there, and copies to the other destinations
// (not before: one of them may be a source). Integer: the data type, which decides how the division truncates.
template <class Integer>
void reduce_then_divide(const ReduceCall& call, ReduceFunction reduce) {
  if (call.divisor == 0) return reduce(call);
  ReduceCall first = call;
  first.destinations = 1;
  first.streaming = false;  // it is read again at once
  reduce(first);
  divide_integers<Integer>(call.dst[0], call.count, call.divisor);
  for (int i = 1; i < call.destinations; ++i) std::memmove(call.dst[i], call.dst[0], call.count * sizeof(Integer));
}

}  // namespace tutti::kernels
