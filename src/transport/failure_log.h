// What a transport has to report in failures(): the first failure with each peer, and a flag that is cheap to look at.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "transport/transport.h"

namespace tutti::transport {

// Thread safe.
class FailureLog {
 public:
  // Keeps the first failure with each peer. Rings `bell`, so that whoever waits for that peer looks up.
  void add(int peer, Status status, Doorbell& bell);
  bool any() const { return any_.load(std::memory_order_acquire); }
  bool has(int peer) const;
  std::vector<Failure> list() const;

 private:
  std::atomic<bool> any_{false};
  mutable std::mutex mutex_;
  std::vector<Failure> failures_;
};

}  // namespace tutti::transport
