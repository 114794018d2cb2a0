#include "base/types.h"

namespace tutti {

std::string_view name_of(DataType type) {
  static constexpr std::string_view names[kDataTypes] = {"int8", "uint8", "int32",  "uint32",   "int64",  "uint64",
                                                         "half", "float", "double", "bfloat16", "f8e4m3", "f8e5m2"};
  return static_cast<int>(type) < kDataTypes ? names[static_cast<int>(type)] : "unknown type";
}

std::string_view name_of(ReduceOp op) {
  static constexpr std::string_view names[kReduceOps] = {"sum", "prod", "max", "min", "avg", "mulsum"};
  return static_cast<int>(op) < kReduceOps ? names[static_cast<int>(op)] : "unknown op";
}

std::string_view name_of(Collective collective) {
  static constexpr std::string_view names[] = {"AllReduce", "Broadcast", "Reduce",  "AllGather", "ReduceScatter",
                                               "AllToAll",  "Gather",    "Scatter", "SendRecv",  "Barrier"};
  return static_cast<size_t>(collective) < std::size(names) ? names[static_cast<size_t>(collective)]
                                                            : "unknown collective";
}

}  // namespace tutti
