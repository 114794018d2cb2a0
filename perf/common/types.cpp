#include "common/types.h"

#include <array>

namespace tutti::perf {

namespace {

struct TypeFacts {
  Type type;
  std::string_view name;
  size_t size;
  bool floating;
};

constexpr std::array kTypes = {
    TypeFacts{Type::kInt8, "int8", 1, false},    TypeFacts{Type::kUint8, "uint8", 1, false},
    TypeFacts{Type::kInt32, "int32", 4, false},  TypeFacts{Type::kUint32, "uint32", 4, false},
    TypeFacts{Type::kInt64, "int64", 8, false},  TypeFacts{Type::kUint64, "uint64", 8, false},
    TypeFacts{Type::kHalf, "half", 2, true},     TypeFacts{Type::kFloat, "float", 4, true},
    TypeFacts{Type::kDouble, "double", 8, true}, TypeFacts{Type::kBfloat16, "bfloat16", 2, true},
    TypeFacts{Type::kF8e4m3, "f8e4m3", 1, true}, TypeFacts{Type::kF8e5m2, "f8e5m2", 1, true},
};
constexpr std::array<std::string_view, 6> kOps = {"sum", "prod", "max", "min", "avg", "mulsum"};

const TypeFacts& facts(Type type) {
  return kTypes[static_cast<size_t>(type)];
}

}  // namespace

size_t size_of(Type type) {
  return facts(type).size;
}
bool is_floating(Type type) {
  return facts(type).floating;
}
std::string_view name_of(Type type) {
  return facts(type).name;
}
std::string_view name_of(Op op) {
  return kOps[static_cast<size_t>(op)];
}

const std::vector<Type>& all_types() {
  static const std::vector<Type> types = [] {
    std::vector<Type> list;
    for (const TypeFacts& entry : kTypes) list.push_back(entry.type);
    return list;
  }();
  return types;
}

const std::vector<Op>& all_ops() {
  static const std::vector<Op> ops = {Op::kSum, Op::kProd, Op::kMax, Op::kMin, Op::kAvg, Op::kMulSum};
  return ops;
}

std::optional<std::vector<Type>> types_named(std::string_view name) {
  if (name == "all") return all_types();
  for (const TypeFacts& entry : kTypes)
    if (entry.name == name) return std::vector<Type>{entry.type};
  return std::nullopt;
}

std::optional<std::vector<Op>> ops_named(std::string_view name) {
  if (name == "all") return all_ops();
  for (Op op : all_ops())
    if (name_of(op) == name) return std::vector<Op>{op};
  return std::nullopt;
}

}  // namespace tutti::perf
