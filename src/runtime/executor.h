// Walks the lanes of an operation's plan. Never blocks, allocates, locks or formats text on the good path.
#pragma once

#include <vector>

#include "runtime/operation.h"

namespace tutti::runtime {

// How the executor finds the connection that a step touches for the first time. Implemented by the communicator.
class QueueSource {
 public:
  // nullptr while the connection is still being made.
  virtual transport::SendEnd* send_end(uint32_t peer) = 0;
  virtual transport::RecvEnd* recv_end(uint32_t peer) = 0;

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

  // slot_bytes: of every queue.
  void configure(size_t slot_bytes) { slot_bytes_ = slot_bytes; }
  // Prepares `op` (call, buffers, flight, fingerprint are set) to run from its first step.
  void begin(Operation& op);
  // Runs every lane as far as it goes. Returns true when anything moved. `found` is set and the operation stops for
  // good when a message of another operation stands where one of this operation was expected.
  bool advance(Operation& op, Disagreement* found);
  // All steps are done, and what was lent has come back.
  bool finished(Operation& op) const;
  // For an operation that ends otherwise: nobody reads its memory any more. The connections concerned are then useless.
  void take_back(Operation& op);

  // The first rank that `op` waits for, with what it waits for ("a message from", "room in the queue to"); -1 if none.
  // For messages about slow or failed operations.
  int waits_for(const Operation& op, const char** what);

 private:
  bool advance_lane(Operation& op, uint32_t lane, Disagreement* found);
  bool dependences_met(const Operation& op, const algorithms::Lane& lane, const algorithms::Step& step,
                       const LaneCursor& cursor) const;
  bool peers_ready(Operation& op, uint32_t lane_index, const algorithms::Step& step, Disagreement* found);
  // What one firing works on: a slice of a step.
  struct Firing {
    Operation& op;
    const algorithms::Step& step;
    const algorithms::Operand* operands;  // sources, then destinations
    BoundOperand* bound;                  // likewise
    uint32_t bytes = 0;                   // of each message, over all chunks of the run
    uint64_t scaled = 0;                  // bit i: source i is multiplied by the scalar
    uint32_t all() const { return uint32_t{step.sources} + step.destinations; }
    bool is_peer(uint32_t i) const { return operands[i].role == algorithms::Role::kPeer; }
  };
  // `elements`: what the slice moves, over all chunks of the run; not 0. False when a sender has taken back what this
  // step was to read: the operation will not end well.
  bool fire(Operation& op, uint32_t lane_index, const algorithms::Step& step, const LaneCursor& cursor,
            size_t elements);
  // Where the elements of one chunk lie that a slice works on.
  struct Place {
    uint32_t offset_in_run = 0;  // of the chunk
    size_t loop = 0;
    size_t in_block = 0;  // elements before it in its block
    size_t in_chunk = 0;  // elements before it in its chunk
  };
  std::byte* local(const Operation& op, const algorithms::Operand& operand, const Place& place) const;
  // The memory that the firing's messages may refer to instead of carrying a copy; nullptr: none.
  const std::byte* lendable(const Firing& firing, const Place& place) const;
  bool lends(const Firing& firing, uint32_t destination, const std::byte* lent) const;
  // Fills payloads_[i] for every source that is a message: where its payload lies. `straight`: where a payload that has
  // to be fetched may go at once.
  bool open_messages(const Firing& firing, std::byte* straight);
  void close_messages(const Firing& firing, uint32_t sources);
  void compute(const Firing& firing, size_t elements);
  void put(const Firing& firing, uint32_t destination, const std::byte* lent);
  int waits_for_return(const Operation& op, const char** what);

  QueueSource& queues_;
  const kernels::KernelTable& table_;
  size_t slot_bytes_ = 0;
  // Of the step that is being fired.
  std::vector<const void*> sources_;
  std::vector<void*> destinations_;
  uint16_t destination_count_ = 0;
  std::vector<const std::byte*> payloads_;
  std::vector<std::byte> staging_;  // a slot's bytes for every source of the largest step
};

}  // namespace tutti::runtime
