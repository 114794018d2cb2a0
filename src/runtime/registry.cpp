#include "runtime/registry.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace tutti::runtime {

namespace {

struct Registry {
  std::mutex mutex;
  std::unordered_map<const void*, std::unique_ptr<Communicator>> live;
  std::atomic<uint64_t> generation{1};  // changes whenever a handle dies
};

// Never destroyed: other threads may still be inside calls when the process ends. Replaced in a forked child.
std::atomic<Registry*>& current() {
  static std::atomic<Registry*> instance{new Registry};
  return instance;
}
Registry& registry() {
  return *current().load(std::memory_order_acquire);
}

// The handle that this thread found last, so that a loop of calls on one communicator takes no lock.
struct LastFound {
  const void* handle = nullptr;
  uint64_t generation = 0;
};
thread_local LastFound last_found;

}  // namespace

Communicator* registry_add(std::unique_ptr<Communicator> communicator) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  Communicator* handle = communicator.get();
  r.live.emplace(handle, std::move(communicator));
  return handle;
}

bool registry_contains(const void* handle) {
  Registry& r = registry();
  if (last_found.handle == handle && handle != nullptr &&
      last_found.generation == r.generation.load(std::memory_order_acquire)) [[likely]]
    return true;
  const std::lock_guard lock(r.mutex);
  if (!r.live.contains(handle)) return false;
  last_found = {handle, r.generation.load(std::memory_order_relaxed)};
  return true;
}

std::unique_ptr<Communicator> registry_remove(Communicator* communicator) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto it = r.live.find(communicator);
  if (it == r.live.end()) return nullptr;
  std::unique_ptr<Communicator> owned = std::move(it->second);
  r.live.erase(it);
  r.generation.fetch_add(1, std::memory_order_seq_cst);
  return owned;
}

Use::Use(Communicator* handle) {
  Registry& r = registry();
  if (last_found.handle == handle && handle != nullptr &&
      last_found.generation == r.generation.load(std::memory_order_acquire)) [[likely]] {
    // The count goes up before the generation is looked at again: whoever removes the handle changes the generation
    // first and reads the count afterwards, so one of the two sees the other. The memory itself outlives that look,
    // because a removed communicator is buried only after a pause (see comm_abort).
    handle->users.fetch_add(1, std::memory_order_seq_cst);
    if (last_found.generation == r.generation.load(std::memory_order_seq_cst)) [[likely]] {
      communicator_ = handle;
      return;
    }
    handle->users.fetch_sub(1, std::memory_order_release);
  }
  const std::lock_guard lock(r.mutex);
  if (!r.live.contains(handle)) return;
  last_found = {handle, r.generation.load(std::memory_order_relaxed)};
  handle->users.fetch_add(1, std::memory_order_seq_cst);
  communicator_ = handle;
}

std::mutex& registry_mutex() {
  return registry().mutex;
}

void registry_forget() {
  Registry& parents = registry();
  for (const auto& [handle, communicator] : parents.live)
    if (communicator->control() != nullptr) communicator->control()->abandon();
  // The parent's objects stay as they are: destroying them would act on memory that is shared with other ranks.
  auto* mine = new Registry;
  mine->generation = parents.generation.load() + 1;
  current().store(mine, std::memory_order_release);
}

Status dead_handle(const void* handle) {
  return error(Code::kInvalidArgument, "communicator {} is not alive: never initialised, or destroyed or aborted",
               handle);
}

}  // namespace tutti::runtime
