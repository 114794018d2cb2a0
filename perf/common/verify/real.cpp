#include "common/verify/real.h"

#include <cstring>

#include "common/verify/numbers.h"

namespace tutti::perf {

namespace {

// Ranks that hold something else than 1 in a product: few enough that no format over- or underflows.
constexpr uint64_t kFactors = 8;

// The bits of one input, and its value as the library sees it.
template <class Format>
struct Input {
  using Bits = typename Format::Bits;

  Input(const CheckSpec& spec) : op(spec.op), ranks(static_cast<uint64_t>(spec.ranks)), seed(mix(~spec.seed)) {
    if constexpr (Format::kFloating) {
      // Twice the sum of all magnitudes stays finite.
      amplitude = std::fmin(1.0, Format::max_finite() / (4.0 * spec.ranks));
    }
  }

  Bits at(uint64_t position, uint64_t rank) const {
    const uint64_t word = mix(seed + position * 0x100000001b3u + rank * 0x9ddfea08eb382d69u);
    if constexpr (Format::kFloating) {
      if (op == Op::kProd) return factor(word, position, rank);
      const double unit = std::ldexp(static_cast<double>(static_cast<int64_t>(word)), -63);
      return Format::encode(unit * amplitude);
    } else if (op == Op::kAvg) {
      // Not negative, and small enough that the sum does not overflow.
      const uint64_t most = static_cast<uint64_t>(std::numeric_limits<typename Format::Value>::max()) / ranks;
      return static_cast<Bits>(most == 0 ? 0 : word % most);
    } else {
      return static_cast<Bits>(word);
    }
  }

  Bits factor(uint64_t word, uint64_t position, uint64_t rank) const {
    if ((rank + position) % ranks >= kFactors) return Format::encode(1.0);
    const double magnitude = 0.75 + std::ldexp(static_cast<double>(word >> 12), -53);  // [0.75, 1.25)
    return Format::encode(word & 1 ? -magnitude : magnitude);
  }

  Op op;
  uint64_t ranks;
  uint64_t seed;
  double amplitude = 1.0;
};

// A sum with the error of each addition carried along.
struct CompensatedSum {
  double sum = 0, lost = 0;
  void add(double x) {
    const double next = sum + x;
    lost += std::fabs(sum) >= std::fabs(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
  }
  double value() const { return sum + lost; }
};

template <class Format>
void check_floating(const CheckSpec& spec, uint64_t position, const typename Format::Bits* data, size_t count,
                    Wrong& wrong) {
  const Input<Format> input(spec);
  const int n = spec.ranks;
  const bool scales = spec.op == Op::kAvg || spec.op == Op::kMulSum;
  const double roundings = n + (scales ? 1 : 0);
  // The reference itself is a rounded double; a few of its own roundings are granted to it.
  const double growth =
      std::expm1(roundings * std::log1p(std::ldexp(1.0, -Format::kPrecision))) + std::ldexp(roundings, -52);
  const double floor = roundings * Format::min_positive();
  for (size_t i = 0; i < count; ++i) {
    CompensatedSum sum;
    double magnitudes = 0, product = 1, extreme = 0;
    for (int rank = 0; rank < n; ++rank) {
      double x = Format::decode(input.at(position + i, static_cast<uint64_t>(rank)));
      if (spec.op == Op::kMulSum) x *= mulsum_scalar(rank);
      sum.add(x);
      magnitudes += std::fabs(x);
      product *= x;
      if (rank == 0 || (spec.op == Op::kMax ? x > extreme : x < extreme)) extreme = x;
    }
    double reference = sum.value();
    double allowed = growth * magnitudes + floor;
    if (spec.op == Op::kProd) {
      reference = product;
      allowed = growth * std::fabs(product) + floor;
    } else if (spec.op == Op::kMax || spec.op == Op::kMin) {
      reference = extreme;
      allowed = 0;
    } else if (spec.op == Op::kAvg) {
      reference /= n;
      allowed = growth * magnitudes / n + floor;
    }
    const double got = Format::decode(data[i]);
    if (!(std::fabs(got - reference) <= allowed)) wrong.add(i, data[i], Format::encode(reference));
  }
}

template <class Format>
void check_integer(const CheckSpec& spec, uint64_t position, const typename Format::Bits* data, size_t count,
                   Wrong& wrong) {
  using Bits = typename Format::Bits;
  using Value = typename Format::Value;
  const Input<Format> input(spec);
  for (size_t i = 0; i < count; ++i) {
    uint64_t total = input.at(position + i, 0);  // modulo 2^64, so also modulo 2^bits
    for (int rank = 1; rank < spec.ranks; ++rank) {
      const Bits next = input.at(position + i, static_cast<uint64_t>(rank));
      const bool greater = static_cast<Value>(next) > static_cast<Value>(static_cast<Bits>(total));
      switch (spec.op) {
        case Op::kSum:
        case Op::kAvg: total += next; break;
        case Op::kMulSum: total += static_cast<uint64_t>(mulsum_scalar(rank)) * next; break;
        case Op::kProd: total *= next; break;
        case Op::kMax:
          if (greater) total = next;
          break;
        case Op::kMin:
          if (!greater) total = next;
          break;
      }
    }
    if (spec.op == Op::kAvg) total /= static_cast<uint64_t>(spec.ranks);
    if (data[i] != static_cast<Bits>(total)) wrong.add(i, data[i], static_cast<Bits>(total));
  }
}

}  // namespace

void fill_real(const CheckSpec& spec, int rank, uint64_t position, void* out, size_t count) {
  with_format(spec.type, [&](auto format) {
    using Format = decltype(format);
    const Input<Format> input(spec);
    auto* bits = static_cast<typename Format::Bits*>(out);
    for (size_t i = 0; i < count; ++i) bits[i] = input.at(position + i, static_cast<uint64_t>(rank));
  });
}

Wrong check_real_reduced(const CheckSpec& spec, uint64_t position, const void* data, size_t count) {
  Wrong wrong;
  with_format(spec.type, [&](auto format) {
    using Format = decltype(format);
    const auto* bits = static_cast<const typename Format::Bits*>(data);
    if constexpr (Format::kFloating) {
      check_floating<Format>(spec, position, bits, count, wrong);
    } else {
      check_integer<Format>(spec, position, bits, count, wrong);
    }
  });
  return wrong;
}

uint64_t hash_bits(const void* data, size_t bytes, uint64_t start) {
  const auto* at = static_cast<const unsigned char*>(data);
  uint64_t hash = mix(start ^ bytes);
  for (; bytes >= 8; bytes -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * 0x9ddfea08eb382d69u;
    hash ^= hash >> 29;
  }
  uint64_t tail = 0;
  std::memcpy(&tail, at, bytes);
  return mix(hash ^ tail);
}

}  // namespace tutti::perf
