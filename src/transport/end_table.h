// Ends by rank: found with one load, made under a lock, kept until the transport goes.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

namespace tutti::transport {

// find() and ranks(): any thread. publish(): one thread at a time (the owner's lock or claim).
template <class End>
class EndTable {
 public:
  // Once, before any other call.
  void resize(size_t ranks) { ends_ = std::vector<std::atomic<End*>>(ranks); }
  ~EndTable() {
    for (auto& end : ends_) delete end.load(std::memory_order_relaxed);
  }

  End* find(int rank) const {
    return valid(rank) ? ends_[static_cast<size_t>(rank)].load(std::memory_order_acquire) : nullptr;
  }
  // `rank` must be valid and have no end yet.
  End* publish(int rank, std::unique_ptr<End> end) {
    End* raw = end.release();
    ends_[static_cast<size_t>(rank)].store(raw, std::memory_order_release);
    return raw;
  }
  std::vector<int> ranks() const {
    std::vector<int> present;
    for (size_t rank = 0; rank < ends_.size(); ++rank)
      if (ends_[rank].load(std::memory_order_acquire) != nullptr) present.push_back(static_cast<int>(rank));
    return present;
  }
  bool valid(int rank) const { return rank >= 0 && static_cast<size_t>(rank) < ends_.size(); }

 private:
  std::vector<std::atomic<End*>> ends_;
};

}  // namespace tutti::transport
