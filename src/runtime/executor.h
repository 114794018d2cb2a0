// Walks the lanes of an operation's plan. Never blocks, allocates, locks or formats text on the good path.
#pragma once

#include <vector>

#include "runtime/operation.h"

namespace tutti::runtime {

// How the executor finds a queue that a step touches for the first time. Implemented by the communicator.
class QueueSource {
 public:
  // nullptr while the connection is still being made.
  virtual transport::SendQueue* send_queue(uint32_t peer, uint32_t flight, uint32_t lane) = 0;
  virtual transport::RecvQueue* recv_queue(uint32_t peer, uint32_t flight, uint32_t lane) = 0;

 protected:
  ~QueueSource() = default;
};

// A message that belongs to another operation than the one that expected it.
struct Disagreement {
  int peer = -1;
  Fingerprint theirs;
};

class Executor {
 public:
  explicit Executor(QueueSource& queues) : queues_(queues), table_(kernels::host_kernels()) {}

  // Prepares `op` (call, buffers, flight, fingerprint are set) to run from its first step.
  void begin(Operation& op);
  // Runs every lane as far as it goes. Returns true when anything moved. `found` is set and the operation stops for
  // good when a message of another operation stands where one of this operation was expected.
  bool advance(Operation& op, Disagreement* found);
  bool finished(const Operation& op) const { return op.lanes_left == 0; }

  // The first rank that a lane of `op` waits for, with what it waits for ("a message from", "room in the queue to"); -1
  // if none. For messages about slow or failed operations.
  int waits_for(const Operation& op, const char** what);

 private:
  bool advance_lane(Operation& op, uint32_t lane, Disagreement* found);
  bool dependences_met(const Operation& op, const algorithms::Lane& lane, const algorithms::Step& step,
                       const LaneCursor& cursor) const;
  bool peers_ready(Operation& op, uint32_t lane_index, const algorithms::Step& step, Disagreement* found);
  // `elements`: what the slice moves, over all chunks of the run; not 0.
  void fire(Operation& op, uint32_t lane_index, const algorithms::Step& step, const LaneCursor& cursor,
            size_t elements);
  // Where the elements of one chunk lie that a slice works on.
  struct Place {
    uint32_t offset_in_run = 0;  // of the chunk
    size_t loop = 0;
    size_t in_block = 0;  // elements before it in its block
    size_t in_chunk = 0;  // elements before it in its chunk
  };
  std::byte* local(const Operation& op, const algorithms::Operand& operand, const Place& place) const;
  void compute(const Operation& op, const algorithms::Step& step, uint64_t scaled, size_t elements);

  QueueSource& queues_;
  const kernels::KernelTable& table_;
  std::vector<const void*> sources_;
  std::vector<void*> destinations_;
};

}  // namespace tutti::runtime
