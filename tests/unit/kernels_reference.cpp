#include "kernels_reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

namespace tutti::kernels::reference {
namespace {

struct Shape {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;
  bool saturates;
};

Shape shape_of(DataType type) {
  switch (type) {
    case DataType::kFloat16: return {5, 10, true, false};
    case DataType::kBfloat16: return {8, 7, true, false};
    case DataType::kFloat8e5m2: return {5, 2, true, true};
    default: return {4, 3, false, true};  // e4m3
  }
}

template <class T>
T from_pattern(uint64_t pattern) {
  T value;
  std::memcpy(&value, &pattern, sizeof(value));
  return value;
}
template <class T>
uint64_t to_pattern(T value) {
  uint64_t pattern = 0;
  std::memcpy(&pattern, &value, sizeof(value));
  return pattern;
}

// The finite, non-negative values of a small format in ascending order; the pattern of each is its index.
const std::vector<double>& magnitudes(DataType type) {
  static std::map<DataType, std::vector<double>> all;
  std::vector<double>& values = all[type];
  if (values.empty()) {
    for (uint32_t pattern = 0; pattern < patterns(type) / 2; ++pattern) {
      const double value = value_of(type, pattern);
      if (!std::isfinite(value)) break;
      values.push_back(value);
    }
  }
  return values;
}

template <class T>
T fold_one(ReduceOp op, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (op) {
      case ReduceOp::kProd: return a * b;
      case ReduceOp::kMax:
        if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
        if (a == 0 && b == 0) return std::signbit(a) && std::signbit(b) ? T(-0.0) : T(0.0);
        return std::max(a, b);
      case ReduceOp::kMin:
        if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
        if (a == 0 && b == 0) return std::signbit(a) || std::signbit(b) ? T(-0.0) : T(0.0);
        return std::min(a, b);
      default: return a + b;
    }
  } else {
    using Wide = unsigned __int128;
    switch (op) {
      case ReduceOp::kProd: return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
      case ReduceOp::kMax: return std::max(a, b);
      case ReduceOp::kMin: return std::min(a, b);
      default: return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
    }
  }
}

// `load` takes a pattern to T.
template <class T, class Load>
T fold_all(const Call& call, const std::vector<uint64_t>& operands, Load load) {
  T total{};
  for (size_t i = 0; i < operands.size(); ++i) {
    T operand = load(operands[i]);
    if (i < 64 && (call.scaled >> i & 1)) operand = fold_one<T>(ReduceOp::kProd, operand, load(call.factor));
    total = i == 0 ? operand : fold_one<T>(call.op, total, operand);
  }
  if (call.divisor != 0) {
    if constexpr (std::is_floating_point_v<T>) {
      total /= static_cast<T>(call.divisor);
    } else {
      total = static_cast<T>(static_cast<__int128>(total) / static_cast<__int128>(call.divisor));
    }
  }
  return total;
}

template <class T>
uint64_t reduce_plain(const Call& call, const std::vector<uint64_t>& operands) {
  const T total = fold_all<T>(call, operands, from_pattern<T>);
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(total)) return nan_pattern(call.type);
  return to_pattern(total);
}

}  // namespace

bool is_floating(DataType type) {
  return type >= DataType::kFloat16;
}

uint32_t patterns(DataType type) {
  return size_of(type) == 1 ? 256 : 65536;
}

double value_of(DataType type, uint32_t pattern) {
  const Shape shape = shape_of(type);
  const int bias = (1 << (shape.exponent_bits - 1)) - 1;
  const uint32_t mantissa = pattern & ((1u << shape.mantissa_bits) - 1);
  const uint32_t largest_exponent = (1u << shape.exponent_bits) - 1;
  const uint32_t exponent = pattern >> shape.mantissa_bits & largest_exponent;
  const double sign = pattern >> (shape.exponent_bits + shape.mantissa_bits) != 0 ? -1.0 : 1.0;
  if (exponent == largest_exponent) {
    if (shape.has_infinity && mantissa == 0) return sign * std::numeric_limits<double>::infinity();
    if (shape.has_infinity || mantissa == (1u << shape.mantissa_bits) - 1)
      return std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - shape.mantissa_bits);
  return sign *
         std::ldexp((1u << shape.mantissa_bits) + mantissa, static_cast<int>(exponent) - bias - shape.mantissa_bits);
}

uint64_t nan_pattern(DataType type) {
  return std::numeric_limits<uint64_t>::max() >> (64 - 8 * size_of(type)) >> 1;
}

uint32_t nearest_pattern(DataType type, double value) {
  if (std::isnan(value)) return static_cast<uint32_t>(nan_pattern(type));
  const Shape shape = shape_of(type);
  const std::vector<double>& values = magnitudes(type);
  const uint32_t sign = std::signbit(value) ? patterns(type) / 2 : 0;
  const double magnitude = std::fabs(value);
  const size_t above = static_cast<size_t>(std::lower_bound(values.begin(), values.end(), magnitude) - values.begin());
  if (above < values.size()) {
    if (values[above] == magnitude || above == 0) return sign | static_cast<uint32_t>(above);
    const double down = magnitude - values[above - 1];
    const double up = values[above] - magnitude;
    const bool take_up = up < down || (up == down && above % 2 == 0);
    return sign | static_cast<uint32_t>(take_up ? above : above - 1);
  }
  const uint32_t largest = static_cast<uint32_t>(values.size() - 1);
  if (shape.saturates) return sign | largest;
  // As if there were one more value after the largest, which is even and stands for infinity.
  const double step = values[largest] - values[largest - 1];
  return sign | (magnitude - values[largest] < step / 2 ? largest : largest + 1);
}

uint64_t pattern_at(DataType type, const unsigned char* buffer, size_t index) {
  uint64_t pattern = 0;
  std::memcpy(&pattern, buffer + index * size_of(type), size_of(type));
  return pattern;
}
void set_pattern(DataType type, unsigned char* buffer, size_t index, uint64_t pattern) {
  std::memcpy(buffer + index * size_of(type), &pattern, size_of(type));
}

uint64_t reduce(const Call& call, const std::vector<uint64_t>& operands) {
  if (operands.size() == 1 && call.scaled == 0 && call.divisor == 0) return operands[0];
  switch (call.type) {
    case DataType::kInt8: return reduce_plain<int8_t>(call, operands);
    case DataType::kUint8: return reduce_plain<uint8_t>(call, operands);
    case DataType::kInt32: return reduce_plain<int32_t>(call, operands);
    case DataType::kUint32: return reduce_plain<uint32_t>(call, operands);
    case DataType::kInt64: return reduce_plain<int64_t>(call, operands);
    case DataType::kUint64: return reduce_plain<uint64_t>(call, operands);
    case DataType::kFloat32: return reduce_plain<float>(call, operands);
    case DataType::kFloat64: return reduce_plain<double>(call, operands);
    default: break;
  }
  const float total = fold_all<float>(call, operands, [&](uint64_t pattern) {
    return static_cast<float>(value_of(call.type, static_cast<uint32_t>(pattern)));
  });
  return nearest_pattern(call.type, total);
}

uint64_t convert(DataType to, DataType from, uint64_t pattern) {
  if (to == from) return pattern;
  double value = 0;
  if (from == DataType::kFloat64) {
    value = from_pattern<double>(pattern);
  } else if (from == DataType::kFloat32) {
    value = from_pattern<float>(pattern);
  } else {
    value = value_of(from, static_cast<uint32_t>(pattern));
  }
  if (std::isnan(value)) return nan_pattern(to);
  if (to == DataType::kFloat64) return to_pattern(value);
  if (to == DataType::kFloat32) return to_pattern(static_cast<float>(value));
  return nearest_pattern(to, value);
}

Bytes awkward_values(DataType type, size_t count, uint32_t seed) {
  std::mt19937_64 random(seed * 977 + static_cast<uint32_t>(type));
  std::normal_distribution<double> ordinary(0.0, 3.0);
  Bytes bytes(count * size_of(type));
  for (size_t i = 0; i < count; ++i) {
    uint64_t pattern = random();  // any bits: NaNs, infinities, subnormals, extremes
    const uint64_t kind = random() % 8;
    if (kind == 0) {  // zeros of both signs; the smallest integer
      pattern = random() % 2 == 0 ? 0 : uint64_t{1} << (8 * size_of(type) - 1);
    } else if (kind == 1 && is_floating(type)) {
      const double infinity = std::numeric_limits<double>::infinity();
      pattern = convert(type, DataType::kFloat64, to_pattern(random() % 2 == 0 ? infinity : -infinity));
    } else if (kind >= 4 && is_floating(type)) {
      const double value = ordinary(random);
      pattern = convert(type, DataType::kFloat64, to_pattern(value));
    }
    set_pattern(type, bytes.data(), i, pattern);
  }
  return bytes;
}

Scalar factor_of(DataType type) {
  const uint64_t pattern = is_floating(type) ? convert(type, DataType::kFloat64, to_pattern(2.5)) : 3;
  Scalar scalar;
  set_pattern(type, scalar.bytes, 0, pattern);
  return scalar;
}

std::string describe(const Call& call) {
  return std::string(name_of(call.type)) + " " + std::string(name_of(call.op)) + " scaled " +
         std::to_string(call.scaled) + " divisor " + std::to_string(call.divisor);
}

}  // namespace tutti::kernels::reference
