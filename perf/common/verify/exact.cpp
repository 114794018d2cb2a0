#include "common/verify/exact.h"

#include <algorithm>
#include <type_traits>

#include "common/verify/numbers.h"

namespace tutti::perf {

namespace {

// The contributors at one position are the ranks from `first` on, circularly: slot j is rank (first + j) mod ranks.
struct Spread {
  uint32_t ranks;
  uint32_t contributors;
  uint64_t bound;  // largest magnitude of a contribution, in units
  uint64_t seed;
};

template <class Format, Op kOp>
Spread spread_of(const CheckSpec& spec) {
  Spread spread;
  spread.ranks = static_cast<uint32_t>(spec.ranks);
  spread.seed = mix(spec.seed ^ static_cast<uint64_t>(kOp) << 8 ^ static_cast<uint64_t>(spec.type));
  constexpr size_t kSize = sizeof(typename Format::Bits);
  uint32_t most = kSize <= 2 ? 8 : 16;
  uint64_t budget = 0;  // of the magnitudes of all contributions together
  if constexpr (Format::kFloating) {
    budget = uint64_t{1} << Format::kPrecision;
    if constexpr (kOp == Op::kAvg) most = 2;
    if constexpr (kOp == Op::kProd) most = kSize == 1 ? 6 : 8;  // exponents add up to at most that many
    if constexpr (kOp == Op::kMulSum) budget /= 2;
  } else {
    budget = static_cast<uint64_t>(std::numeric_limits<typename Format::Value>::max());
  }
  most = static_cast<uint32_t>(std::min<uint64_t>(most, budget));
  spread.contributors = std::min(spread.ranks, most);
  const bool adds = kOp == Op::kSum || kOp == Op::kAvg || kOp == Op::kMulSum;
  spread.bound = std::min<uint64_t>(adds ? budget / spread.contributors : budget, uint64_t{1} << 31);
  return spread;
}

// What the hash says about one position.
struct Place {
  uint64_t hash;
  uint32_t first;
};

inline Place place_at(const Spread& spread, uint64_t position) {
  const uint64_t hash = mix(spread.seed + position);
  return {hash, static_cast<uint32_t>((hash >> 32) * spread.ranks >> 32)};
}

inline uint64_t slot_word(uint64_t hash, uint32_t slot) {
  const uint64_t x = (hash ^ slot * 0xd6e8feb86659fd93u) * 0xff51afd7ed558ccdu;
  return x ^ (x >> 32);
}

inline uint64_t magnitude(uint64_t word, uint64_t bound) {
  return 1 + ((word & 0xffffffffu) * bound >> 32);
}

// Contributions are computed with in a type of their own: integers as unsigned words, floats as a number of units
// (sum) or as a double (the rest). `to_bits` turns the final one into the bits of the type.
template <class Format, Op kOp>
struct Exact {
  using Bits = typename Format::Bits;
  static constexpr bool kFloating = Format::kFloating;
  static constexpr bool kByUnits = kFloating && kOp != Op::kProd;
  using Value = std::conditional_t<kByUnits, int64_t, std::conditional_t<kFloating, double, uint64_t>>;

  static constexpr Value neutral() { return kOp == Op::kProd ? Value{1} : Value{0}; }

  static Value contribution(const Spread& spread, uint64_t hash, uint32_t slot) {
    const uint64_t word = slot_word(hash, slot);
    if constexpr (kByUnits) {
      const int64_t units = static_cast<int64_t>(magnitude(word, spread.bound));
      if constexpr (kOp == Op::kAvg) return units;
      const int64_t sign = -static_cast<int64_t>(word >> 63);  // no branch: it would be mispredicted half of the time
      return (units ^ sign) - sign;
    } else if constexpr (kFloating) {
      const int exponent = static_cast<int>((word & 0xffff) % 3) - 1;
      const double power = exponent < 0 ? 0.5 : exponent > 0 ? 2.0 : 1.0;
      constexpr int kFraction = Format::kPrecision - 1;
      const uint64_t fraction = slot == 0 ? word >> 1 & ((uint64_t{1} << kFraction) - 1) : 0;
      const double mantissa = 1.0 + static_cast<double>(fraction) / static_cast<double>(uint64_t{1} << kFraction);
      return (word >> 63 ? -mantissa : mantissa) * power;
    } else if constexpr (kOp == Op::kAvg) {
      return magnitude(word, spread.bound) - 1;
    } else if constexpr (kOp == Op::kProd) {
      return word | 1;  // odd: a product of even numbers soon is 0 and hides what is missing
    } else {
      return word;
    }
  }

  static void combine(Value& total, Value next) {
    if constexpr (kOp == Op::kProd) {
      total *= next;
    } else if constexpr (kOp == Op::kMax) {
      total = less(total, next) ? next : total;
    } else if constexpr (kOp == Op::kMin) {
      total = less(next, total) ? next : total;
    } else {
      total += next;
    }
  }

  static bool less(Value a, Value b) {
    if constexpr (kFloating) {
      return a < b;
    } else {
      using Integer = typename Format::Value;
      return static_cast<Integer>(a) < static_cast<Integer>(b);
    }
  }

  // One power of two for each position, so that exponents vary.
  static Bits to_bits(Value value, uint64_t hash) {
    if constexpr (kByUnits) {
      constexpr float kScales[4] = {0.5f, 1.0f, 2.0f, 4.0f};
      if constexpr (std::is_same_v<Format, Double>) {
        return Format::exact(static_cast<double>(value) * kScales[hash & 3]);
      } else {
        return Format::exact(static_cast<float>(value) * kScales[hash & 3]);
      }
    } else if constexpr (std::is_same_v<Format, Double>) {
      return Format::exact(value);
    } else if constexpr (kFloating) {
      return Format::exact(static_cast<float>(value));
    } else {
      return static_cast<Bits>(value);
    }
  }

  static Value input(const Spread& spread, const Place& place, uint32_t rank) {
    uint32_t slot = rank - place.first;
    slot += spread.ranks & -(slot >> 31);  // around the circle, without a branch
    if (slot >= spread.contributors) {
      if constexpr (kOp != Op::kMax && kOp != Op::kMin) return neutral();
      slot %= spread.contributors;
    }
    return contribution(spread, place.hash, slot);
  }

  static Value reduced(const Spread& spread, const Place& place) {
    Value total = scaled(contribution(spread, place.hash, 0), spread, place, 0);
    for (uint32_t slot = 1; slot < spread.contributors; ++slot)
      combine(total, scaled(contribution(spread, place.hash, slot), spread, place, slot));
    return total;
  }

  static Value scaled(Value value, const Spread& spread, const Place& place, uint32_t slot) {
    if constexpr (kOp == Op::kMulSum) {
      const uint32_t rank = place.first + slot < spread.ranks ? place.first + slot : place.first + slot - spread.ranks;
      return value * static_cast<Value>(mulsum_scalar(static_cast<int>(rank)));
    }
    return value;
  }

  static void fill(const CheckSpec& spec, uint32_t rank, uint64_t position, Bits* out, size_t count) {
    const Spread spread = spread_of<Format, kOp>(spec);
    for (size_t i = 0; i < count; ++i) {
      const Place place = place_at(spread, position + i);
      out[i] = to_bits(input(spread, place, rank), place.hash);
    }
  }

  static Wrong check(const CheckSpec& spec, uint64_t position, const Bits* data, size_t count) {
    const Spread spread = spread_of<Format, kOp>(spec);
    Wrong wrong;
    for (size_t i = 0; i < count; ++i) {
      const Place place = place_at(spread, position + i);
      const Value total = reduced(spread, place);
      if constexpr (kOp == Op::kAvg) {
        const Bits expected = mean_bits(total, place.hash, spread.ranks);
        const uint64_t allowed = kFloating ? 2 : 0;
        if (data[i] != expected && distance(data[i], expected) > allowed) wrong.add(i, data[i], expected);
      } else {
        const Bits expected = to_bits(total, place.hash);
        if (data[i] != expected) wrong.add(i, data[i], expected);
      }
    }
    return wrong;
  }

  static Bits mean_bits(Value total, uint64_t hash, uint32_t ranks) {
    if constexpr (kFloating) {
      const double scale = static_cast<double>(1 << (hash & 3)) / 2;
      return Format::encode(static_cast<double>(total) * scale / ranks);
    } else {
      return static_cast<Bits>(total / ranks);
    }
  }

  static uint64_t distance(Bits a, Bits b) {
    if constexpr (kFloating) {
      return distance_in_ulps<Format>(a, b);
    } else {
      return a == b ? 0 : 1;
    }
  }
};

template <class F>
decltype(auto) with_op(Op op, F&& f) {
  switch (op) {
    case Op::kProd: return f(std::integral_constant<Op, Op::kProd>{});
    case Op::kMax: return f(std::integral_constant<Op, Op::kMax>{});
    case Op::kMin: return f(std::integral_constant<Op, Op::kMin>{});
    case Op::kAvg: return f(std::integral_constant<Op, Op::kAvg>{});
    case Op::kMulSum: return f(std::integral_constant<Op, Op::kMulSum>{});
    case Op::kSum: break;
  }
  return f(std::integral_constant<Op, Op::kSum>{});
}

}  // namespace

void fill_exact(const CheckSpec& spec, int rank, uint64_t position, void* out, size_t count) {
  with_format(spec.type, [&](auto format) {
    with_op(spec.op, [&](auto op) {
      using Maker = Exact<decltype(format), decltype(op)::value>;
      Maker::fill(spec, static_cast<uint32_t>(rank), position, static_cast<typename Maker::Bits*>(out), count);
    });
  });
}

Wrong check_exact_reduced(const CheckSpec& spec, uint64_t position, const void* data, size_t count) {
  return with_format(spec.type, [&](auto format) {
    return with_op(spec.op, [&](auto op) {
      using Maker = Exact<decltype(format), decltype(op)::value>;
      return Maker::check(spec, position, static_cast<const typename Maker::Bits*>(data), count);
    });
  });
}

}  // namespace tutti::perf
