// The reduction operators that a user made for one communicator (ncclRedOpCreatePreMulSum).
#pragma once

#include <mutex>
#include <vector>

#include "base/status.h"
#include "base/types.h"
#include "runtime/runtime.h"

namespace tutti::runtime {

class RedOps {
 public:
  // Returns a handle >= 5. Handles of destroyed operators are used again.
  // read_later: the scalar is read at each lookup; else it is copied now.
  int create(DataType type, const void* scalar, bool read_later);
  Status lookup(int handle, DataType type, ReduceSpec* out) const;
  Status destroy(int handle);

 private:
  struct Entry {
    bool live = false;
    DataType type = DataType::kFloat32;
    ReduceSpec spec;
    const void* scalar = nullptr;  // to be read at each lookup; null: spec has it
  };
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace tutti::runtime
