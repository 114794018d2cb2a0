// One operation in flight: a bound plan, the caller's buffers, and how far each lane has come.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/plan.h"
#include "algorithms/slices.h"
#include "base/fingerprint.h"
#include "base/status.h"
#include "kernels/kernels.h"
#include "transport/slot_queue.h"
#include "transport/transport.h"

namespace tutti::runtime {

class Stream;

inline constexpr uint32_t kMaxLanes = 64;

// A plan whose peers have been found: for each flight and lane, the queue behind every kPeer operand (same index as in
// Lane::operands), filled in when a step first touches it. Owned by the communicator's plan cache; its queues belong to
// whoever has claimed the communicator.
struct BoundOperand {
  transport::SendQueue* send = nullptr;
  transport::SendEnd* send_end = nullptr;
  transport::RecvQueue* recv = nullptr;
  transport::RecvEnd* recv_end = nullptr;
  uint64_t lent_until = 0;  // messages of `send` that must be released before the operation's memory is its own again
};
struct BoundPlan {
  algorithms::Plan plan;
  std::vector<std::vector<std::vector<BoundOperand>>> queues;  // [flight][lane][operand]
  size_t max_operands = 0;                                     // sources or destinations of one step
  size_t peer_operands = 0;                                    // in all lanes together
};

// What is the same for every call of one shape; kept so that a repeated call does no planning.
struct PreparedCall {
  Fingerprint fingerprint;  // sequence is filled in for each call
  ReduceOp op = ReduceOp::kSum;
  std::shared_ptr<BoundPlan> bound;
  algorithms::Slicing slicing;
  size_t scratch_bytes = 0;
  kernels::ReduceFunction reduce = nullptr;
  uint32_t divisor = 0;
  bool streaming = false;
};

struct LaneCursor {
  uint32_t step = 0;
  size_t loop = 0;
  size_t slice = 0;
};

// How whoever issued an operation learns of its end. `status` is written before `done`.
struct Ticket {
  std::atomic<bool> done{false};
  Status status;
};

enum class OperationState : uint8_t { kFree, kActive };

struct Operation {
  OperationState state = OperationState::kFree;
  const PreparedCall* call = nullptr;
  Fingerprint fingerprint;
  uint32_t flight = 0;
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::byte* scratch = nullptr;
  bool streaming = false;           // write results past the caches
  bool may_lend = false;            // the plan and the buffers allow references to input and output
  std::vector<BoundOperand*> lent;  // through which that was done
  kernels::Scalar scalar;
  uint32_t lanes_left = 0;
  uint64_t lanes_done = 0;  // bit per lane
  LaneCursor cursors[kMaxLanes];
  std::shared_ptr<Stream> stream;  // told about the end; null: none
  std::shared_ptr<Ticket> ticket;  // likewise; null when the calling thread runs the operation to its end
  std::chrono::steady_clock::time_point deadline;
};

}  // namespace tutti::runtime
