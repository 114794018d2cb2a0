// Which communicator handles are alive. A handle that a user passes in is never dereferenced before it was found here.
#pragma once

#include <memory>
#include <mutex>

#include "runtime/communicator.h"

namespace tutti::runtime {

// Takes ownership; the address is the handle.
Communicator* registry_add(std::unique_ptr<Communicator> communicator);
bool registry_contains(const void* handle);
// The handle is invalid from now on; nullptr when it was already. The object dies once no thread uses it any more.
std::unique_ptr<Communicator> registry_remove(Communicator* communicator);

// A call's hold on a communicator: null when the handle is not alive. While held, the object exists (though it may be
// released by an abort meanwhile, after which every operation fails).
class Use {
 public:
  explicit Use(Communicator* handle);
  ~Use() {
    if (communicator_ != nullptr) communicator_->users.fetch_sub(1, std::memory_order_release);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  explicit operator bool() const { return communicator_ != nullptr; }
  Communicator* operator->() const { return communicator_; }
  Communicator* get() const { return communicator_; }

 private:
  Communicator* communicator_ = nullptr;
};

// For fork.h. registry_forget: in a forked child no handle is alive, and the connections that it has inherited are
// closed on its side, or peers would take it for the parent when that dies.
std::mutex& registry_mutex();
void registry_forget();
// Guards the communicators whose handles are dead but whose memory is kept for a while (runtime.cpp).
std::mutex& graveyard_mutex();

Status dead_handle(const void* handle);

}  // namespace tutti::runtime
