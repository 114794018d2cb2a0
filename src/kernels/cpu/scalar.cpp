// The table without SIMD: the plain loop over elements that defines every result. The other tables equal it bit for
// bit, and so does the CUDA kernel, which is made of the same arithmetic.
#include <cstring>
#include <utility>

#include "kernels/arithmetic/operations.h"
#include "kernels/cpu/convert_scalar.h"
#include "kernels/cpu/tables.h"

namespace tutti::kernels {
namespace {

void copy(void* const* dst, int destinations, const void* src, size_t bytes, bool /*streaming*/) {
  if (bytes == 0) return;
  for (int i = 0; i < destinations; ++i)
    if (dst[i] != src) std::memcpy(dst[i], src, bytes);
}

template <class Storage>
Storage element(const void* buffer, size_t index) {
  Storage value;
  std::memcpy(&value, static_cast<const unsigned char*>(buffer) + index * sizeof(Storage), sizeof(Storage));
  return value;
}

template <DataType type, ReduceOp op>
void reduce(const ReduceCall& call) {
  using Fold = arithmetic::Fold<type, op>;
  using Storage = typename Fold::Storage;
  if (call.sources == 1 && (call.scaled | call.divisor) == 0)
    return copy(call.dst, call.destinations, call.src[0], call.count * sizeof(Storage), false);
  const auto factor = arithmetic::Format<type>::load(element<Storage>(call.scalar.bytes, 0));
  for (size_t i = 0; i < call.count; ++i) {
    auto total = Fold::first(element<Storage>(call.src[0], i), arithmetic::is_scaled(call.scaled, 0), factor);
    for (int s = 1; s < call.sources; ++s)
      total = Fold::next(total, element<Storage>(call.src[s], i), arithmetic::is_scaled(call.scaled, s), factor);
    const Storage result = Fold::finish(total, call.divisor);
    for (int d = 0; d < call.destinations; ++d)
      std::memcpy(static_cast<unsigned char*>(call.dst[d]) + i * sizeof(Storage), &result, sizeof(Storage));
  }
}

void convert(void* dst, DataType to, const void* src, DataType from, size_t count) {
  convert_with<ScalarConversion>(dst, to, src, from, count);
}

template <DataType type>
void fill_row(KernelTable* table) {
  ReduceFunction* row = table->reduce[static_cast<int>(type)];
  row[static_cast<int>(ReduceOp::kSum)] = reduce<type, ReduceOp::kSum>;
  row[static_cast<int>(ReduceOp::kAvg)] = reduce<type, ReduceOp::kSum>;
  row[static_cast<int>(ReduceOp::kPreMulSum)] = reduce<type, ReduceOp::kSum>;
  row[static_cast<int>(ReduceOp::kProd)] = reduce<type, ReduceOp::kProd>;
  row[static_cast<int>(ReduceOp::kMax)] = reduce<type, ReduceOp::kMax>;
  row[static_cast<int>(ReduceOp::kMin)] = reduce<type, ReduceOp::kMin>;
}

template <int... types>
void fill_rows(KernelTable* table, std::integer_sequence<int, types...>) {
  (fill_row<static_cast<DataType>(types)>(table), ...);
}

}  // namespace

KernelTable scalar_table() {
  KernelTable table{};
  table.target = "SCALAR";
  table.copy = copy;
  table.convert = convert;
  fill_rows(&table, std::make_integer_sequence<int, kDataTypes>());
  return table;
}

}  // namespace tutti::kernels
