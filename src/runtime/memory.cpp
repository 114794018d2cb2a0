// Memory that other processes can map, and registrations of user memory.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <unordered_map>

#include "runtime/registry.h"
#include "runtime/runtime.h"

namespace tutti::runtime {

namespace {

struct Allocations {
  std::mutex mutex;
  std::unordered_map<void*, size_t> sizes;
};
Allocations& allocations() {
  static auto* instance = new Allocations;
  return *instance;
}

}  // namespace

Result<void*> mem_alloc(size_t bytes) {
  if (bytes == 0) return static_cast<void*>(nullptr);
  const int descriptor = memfd_create("tutti-memory", MFD_CLOEXEC);
  if (descriptor < 0) return system_error(errno, "ncclMemAlloc of {} bytes: memfd_create", bytes);
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    const int why = errno;
    close(descriptor);
    return system_error(why, "ncclMemAlloc of {} bytes: ftruncate", bytes);
  }
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  const int why = errno;
  close(descriptor);
  if (address == MAP_FAILED) return system_error(why, "ncclMemAlloc of {} bytes: mmap", bytes);
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  all.sizes.emplace(address, bytes);
  return address;
}

Status mem_free(void* address) {
  if (address == nullptr) return {};
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  const auto it = all.sizes.find(address);
  if (it == all.sizes.end())
    return error(Code::kInvalidArgument, "ncclMemFree: {} does not come from ncclMemAlloc", address);
  munmap(address, it->second);
  all.sizes.erase(it);
  return {};
}

Status comm_register(Communicator* communicator, void* address, size_t bytes, void** handle) {
  const Use use(communicator);
  if (!use) return dead_handle(communicator);
  if (address == nullptr || bytes == 0)
    return error(Code::kInvalidArgument, "ncclCommRegister: nothing to register at {} ({} bytes)", address, bytes);
  *handle = use->registrations().add(address, bytes);
  return {};
}

Status comm_deregister(Communicator* communicator, void* handle) {
  const Use use(communicator);
  if (!use) return dead_handle(communicator);
  return use->registrations().remove(handle);
}

}  // namespace tutti::runtime
