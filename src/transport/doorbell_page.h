// The memory that a rank's doorbell lies in: created once for each rank of a communicator, before its transports, and
// handed to all of them. Whoever hands the rank something rings it (doorbell.h).
#pragma once

#include <memory>

#include "base/status.h"
#include "transport/doorbell.h"

namespace tutti::transport {

// Owns one mapped page and, when shareable, the descriptor of its memfd. Immutable after creation; all members may be
// called by any thread. Connections hold it by shared_ptr, so that a peer can ring for as long as it has a queue.
class DoorbellPage {
 public:
  enum class Sharing {
    kThreads,    // only threads of this process ring; needs no descriptor
    kProcesses,  // also other processes: the shm transport passes descriptor() to them
  };
  static Result<std::shared_ptr<DoorbellPage>> create(Sharing sharing = Sharing::kProcesses);
  // Maps a page that another process passed. Takes `descriptor` over and closes it in any case. Refuses one that its
  // owner could shrink, since that would crash whoever rings.
  static Result<std::shared_ptr<DoorbellPage>> adopt(int descriptor);

  ~DoorbellPage();
  DoorbellPage(const DoorbellPage&) = delete;
  DoorbellPage& operator=(const DoorbellPage&) = delete;

  Doorbell& doorbell() const { return *doorbell_; }
  int descriptor() const { return descriptor_; }  // -1: kThreads, or adopted. Stays owned by this object.

 private:
  DoorbellPage(Doorbell* doorbell, int descriptor) : doorbell_(doorbell), descriptor_(descriptor) {}

  Doorbell* doorbell_;
  int descriptor_;
};

}  // namespace tutti::transport
