// Plan: what each rank does for a collective, as data. Immutable, without pointers or sockets; buffers are named by
// role.
//
// Executed by runtime/executor, proved by algorithms/check, priced, printed and saved by their namesakes.
//
// Geometry. The user's buffers consist of blocks of `count` elements (one for AllReduce; one for each rank on the
// gathered or scattered side of other collectives). Each block is divided into `chunks` chunks, the unit that a plan
// speaks of: chunk c of a role is chunk c % chunks of block c / chunks. A chunk may be short or empty when count is
// small.
//
// Loops, steps, slices. A lane runs its steps in order, once for each loop; loop t works on the t-th piece of every
// chunk. A step moves its piece in slices, each of which is one message in one slot; slice s of a step waits only for
// its own messages, so that data is handed on while the rest of the piece is still on its way. How many slices a step
// has depends on the size of the call and is at most `max_slices` (0: the plan is proved for any number). An empty
// slice is no message; both sides know that, since both know count. See slices.h for the exact partition.
//
// Waiting. A slice of a step fires when every source message is there, every destination queue has a free slot and
// every dependence is met. It then consumes, computes and publishes as one. Loops need no proof of their own: whatever
// a slice waits for in another loop lies in an earlier one (queue order and credits never point forward), hence a
// circle would lie within one loop, which check() unrolls.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace tutti::algorithms {

enum class Role : uint8_t { kInput, kOutput, kScratch, kPeer };

// One operand of a step: a run of chunks in a buffer of this rank, or the queue from or to another rank.
struct Operand {
  Role role = Role::kInput;
  uint32_t index = 0;  // first chunk; for kPeer: the other rank
  friend bool operator==(const Operand&, const Operand&) = default;
};

// Waits until the step `step` of lane `lane` of the same rank has finished the same slice range of the same loop.
struct Dependence {
  uint32_t lane = 0;
  uint32_t step = 0;
  friend bool operator==(const Dependence&, const Dependence&) = default;
};

// destination[*] = combine(source[0], source[1], ...), in that order, accumulated at full width and rounded once.
//
//   source            destination            NCCL/MSCCL name
//   local             peer                   send
//   peer              local                  recv
//   peer              local, peer            recvCopySend (rcs)
//   peer, local       local                  recvReduceCopy (rrc)
//   peer, local       peer                   recvReduceSend (rrs)
//   peer, local       local, peer            recvReduceCopySend (rrcs)
//   local             local                  copy (cpy)
//   local, local      local                  reduce (re)
//   none              none                   nop: only carries dependences
//   local, peer x k   local, peer x m        many-to-one reduction, multicast
//
// Scratch chunks have the size of a full chunk (a full piece when scratch_per_loop), each.
// At most one operand of a side may name a given peer. Without reduction operands are copied bit by bit.
struct Step {
  uint32_t first_source = 0;  // into Lane::operands; sources, then destinations
  uint16_t sources = 0;
  uint16_t destinations = 0;
  uint32_t first_dependence = 0;  // into Lane::dependences
  uint16_t dependences = 0;
  uint16_t chunks = 1;  // length of the run that every operand covers
  uint32_t first_chunk =
      0;  // the run within a block, first_chunk .. first_chunk + chunks, that this step's data belongs to:
          // it decides how many elements move (chunks at the end may be short or empty). Local operands of roles
          // input and output have index % chunks == first_chunk; a peer or scratch operand has no lengths of its own
  bool completes = false;  // the result is a finished reduction: kAvg divides here, and only here
  bool depended_on = false;
  friend bool operator==(const Step&, const Step&) = default;
};

// An independent stream of steps: what NCCL calls a channel and MSCCL a threadblock. Queues are per lane.
struct Lane {
  std::vector<Step> steps;
  std::vector<Operand> operands;
  std::vector<Dependence> dependences;
  friend bool operator==(const Lane&, const Lane&) = default;
};

// Whether steps that send what lies in the input or output may hand out that memory itself, for the receiver to read
// when it comes to it, instead of a copy.
enum class Lending : uint8_t {
  kNever,
  kOutOfPlace,  // only while input and output are different memory
  kAlways,
};

std::string_view name_of(Lending lending);  // "never", "out_of_place", "always"

// The operand whose memory such a step may lend: what it copies, else a result that it also keeps. nullptr: none.
inline const Operand* lent_operand(std::span<const Operand> sources, std::span<const Operand> destinations,
                                   bool completes) {
  const auto lasts = [](const Operand& operand) {
    return operand.role == Role::kInput || operand.role == Role::kOutput;
  };
  for (const Operand& to : destinations)
    if (lasts(to)) return &to;
  return sources.size() == 1 && !completes && lasts(sources[0]) ? &sources[0] : nullptr;
}

// What all ranks know of a plan without looking at any rank's steps.
struct PlanHeader {
  std::string name;   // "ring", "tree", ...; with parameters: "ring(lanes=2)"
  uint64_t hash = 0;  // equal on all ranks, differs between plans that could not talk to each other
  Collective collective = Collective::kAllReduce;
  int nranks = 1;
  int root = -1;
  uint32_t chunks = 1;  // chunks in a block
  uint32_t input_blocks = 1;
  uint32_t output_blocks = 1;
  uint32_t scratch_chunks = 0;   // scratch of a rank, in chunks
  bool scratch_per_loop = true;  // scratch holds one loop's pieces and is used again by the next loop; it then belongs
                                 // to one lane, or check() proves that dependences order its uses. Else: whole chunks
  uint32_t lanes = 1;
  uint32_t max_chunks = 1;   // largest Step::chunks on any rank
  uint32_t max_slices = 1;   // see above; 0: any
  uint32_t queue_depth = 0;  // slots a queue that the proof assumed (a deeper queue is always safe)
  Lending lending = Lending::kNever;
  bool in_place = true;  // proved with output block of this rank == input
  friend bool operator==(const PlanHeader&, const PlanHeader&) = default;
};

// One rank's part.
struct Plan {
  PlanHeader header;
  int rank = 0;
  std::vector<Lane> lanes;
};

}  // namespace tutti::algorithms
