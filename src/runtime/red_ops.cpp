#include "runtime/red_ops.h"

#include <cstring>

namespace tutti::runtime {

namespace {
constexpr int kFirstHandle = 5;  // ncclNumOps
}

int RedOps::create(DataType type, const void* scalar, bool read_later) {
  Entry entry;
  entry.live = true;
  entry.type = type;
  entry.spec.op = ReduceOp::kPreMulSum;
  if (read_later) {
    entry.scalar = scalar;
  } else {
    std::memcpy(entry.spec.scalar, scalar, size_of(type));
  }
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].live) continue;
    entries_[i] = entry;
    return kFirstHandle + static_cast<int>(i);
  }
  entries_.push_back(entry);
  return kFirstHandle + static_cast<int>(entries_.size()) - 1;
}

Status RedOps::lookup(int handle, DataType type, ReduceSpec* out) const {
  const std::lock_guard lock(mutex_);
  const int index = handle - kFirstHandle;
  if (index < 0 || index >= static_cast<int>(entries_.size()) || !entries_[static_cast<size_t>(index)].live)
    return error(Code::kInvalidArgument, "reduction operator {} was not made for this communicator", handle);
  const Entry& entry = entries_[static_cast<size_t>(index)];
  if (entry.type != type)
    return error(Code::kInvalidArgument, "reduction operator {} was made for {}, the operation is on {}", handle,
                 name_of(entry.type), name_of(type));
  *out = entry.spec;
  if (entry.scalar != nullptr) std::memcpy(out->scalar, entry.scalar, size_of(type));
  return {};
}

Status RedOps::destroy(int handle) {
  const std::lock_guard lock(mutex_);
  const int index = handle - kFirstHandle;
  if (index < 0 || index >= static_cast<int>(entries_.size()) || !entries_[static_cast<size_t>(index)].live)
    return error(Code::kInvalidArgument, "reduction operator {} was not made for this communicator, or is destroyed",
                 handle);
  entries_[static_cast<size_t>(index)].live = false;
  return {};
}

}  // namespace tutti::runtime
