// Memory that a user registered with a communicator (ncclCommRegister).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "base/status.h"

namespace tutti::runtime {

class Registrations {
 public:
  struct Entry {
    void* address;
    size_t bytes;
  };
  // The handle; registrations of one range twice are two registrations.
  void* add(void* address, size_t bytes) {
    const std::lock_guard lock(mutex_);
    auto entry = std::make_unique<Entry>(Entry{address, bytes});
    void* handle = entry.get();
    entries_.emplace(handle, std::move(entry));
    return handle;
  }
  Status remove(void* handle) {
    const std::lock_guard lock(mutex_);
    if (entries_.erase(handle) == 0)
      return error(Code::kInvalidArgument, "ncclCommDeregister: {} is not a registration of this communicator", handle);
    return {};
  }

 private:
  std::mutex mutex_;
  std::map<void*, std::unique_ptr<Entry>> entries_;
};

}  // namespace tutti::runtime
