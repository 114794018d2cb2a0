// What a library might do to inputs: reduce them in some order, rounding to the type after each step.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "common/verify/check.h"
#include "common/verify/numbers.h"

namespace tutti::perf {

template <class Format>
typename Format::Bits combine_bits(Op op, typename Format::Bits a, typename Format::Bits b) {
  using Bits = typename Format::Bits;
  if constexpr (Format::kFloating) {
    const double x = Format::decode(a), y = Format::decode(b);
    switch (op) {
      case Op::kProd: return Format::encode(x * y);
      case Op::kMax: return x < y ? b : a;
      case Op::kMin: return y < x ? b : a;
      default: return Format::encode(x + y);
    }
  } else {
    using Value = typename Format::Value;
    switch (op) {
      case Op::kProd: return static_cast<Bits>(static_cast<uint64_t>(a) * b);
      case Op::kMax: return static_cast<Value>(a) < static_cast<Value>(b) ? b : a;
      case Op::kMin: return static_cast<Value>(b) < static_cast<Value>(a) ? b : a;
      default: return static_cast<Bits>(static_cast<uint64_t>(a) + b);
    }
  }
}

template <class Format>
typename Format::Bits scale_bits(typename Format::Bits bits, int factor) {
  if constexpr (Format::kFloating) {
    return Format::encode(Format::decode(bits) * factor);
  } else {
    return static_cast<typename Format::Bits>(bits * static_cast<uint64_t>(factor));
  }
}

template <class Format>
typename Format::Bits divide_bits(typename Format::Bits bits, int divisor) {
  if constexpr (Format::kFloating) {
    return Format::encode(Format::decode(bits) / divisor);
  } else {
    return static_cast<typename Format::Bits>(bits / static_cast<uint64_t>(divisor));  // inputs are not negative
  }
}

// inputs[rank][position], as bytes of the type. Two random neighbours in a random arrangement are combined until one
// is left: any order and any association can come up.
template <class Format>
std::vector<typename Format::Bits> reduce_randomly(Op op, std::vector<std::vector<typename Format::Bits>> inputs,
                                                   std::mt19937& random) {
  using Bits = typename Format::Bits;
  const int ranks = static_cast<int>(inputs.size());
  std::vector<Bits> result(inputs[0].size());
  for (size_t i = 0; i < result.size(); ++i) {
    std::vector<Bits> left;
    for (int rank = 0; rank < ranks; ++rank) {
      const Bits bits = inputs[static_cast<size_t>(rank)][i];
      left.push_back(op == Op::kMulSum ? scale_bits<Format>(bits, mulsum_scalar(rank)) : bits);
    }
    std::shuffle(left.begin(), left.end(), random);
    while (left.size() > 1) {
      const size_t at = random() % (left.size() - 1);
      left[at] = combine_bits<Format>(op, left[at], left[at + 1]);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    result[i] = op == Op::kAvg ? divide_bits<Format>(left[0], ranks) : left[0];
  }
  return result;
}

}  // namespace tutti::perf
