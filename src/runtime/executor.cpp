#include "runtime/executor.h"

namespace tutti::runtime {

using algorithms::Lane;
using algorithms::Operand;
using algorithms::Range;
using algorithms::Role;
using algorithms::Slicing;
using algorithms::Step;
using transport::RecvQueue;
using transport::SendQueue;
using transport::SlotHeader;

namespace {

// Elements that this slice moves, over the whole run of chunks.
size_t elements_of(const Slicing& slicing, const Step& step, const LaneCursor& cursor) {
  size_t total = 0;
  for (uint32_t i = 0; i < step.chunks; ++i)
    total += slicing.range(step.first_chunk + i, step.chunks, cursor.loop, cursor.slice).size;
  return total;
}

// Moves to the next slice, step or loop. Returns false when the lane is done.
bool next(const Slicing& slicing, const Lane& lane, LaneCursor& cursor) {
  const Step& step = lane.steps[cursor.step];
  if (++cursor.slice < slicing.slices_of(step.chunks)) return true;
  cursor.slice = 0;
  if (++cursor.step < lane.steps.size()) return true;
  cursor.step = 0;
  return ++cursor.loop < slicing.loops;
}

}  // namespace

void Executor::begin(Operation& op) {
  const BoundPlan& bound = *op.call->bound;
  if (sources_.size() < bound.max_operands) {
    sources_.resize(bound.max_operands);
    destinations_.resize(bound.max_operands);
  }
  op.lanes_left = 0;
  op.lanes_done = 0;
  for (uint32_t i = 0; i < bound.plan.lanes.size(); ++i) {
    op.cursors[i] = {};
    if (bound.plan.lanes[i].steps.empty() || op.call->slicing.loops == 0) {
      op.lanes_done |= uint64_t{1} << i;
    } else {
      ++op.lanes_left;
    }
  }
}

bool Executor::advance(Operation& op, Disagreement* found) {
  bool moved = false;
  const auto lanes = static_cast<uint32_t>(op.call->bound->plan.lanes.size());
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    if ((op.lanes_done >> lane & 1) == 0) moved |= advance_lane(op, lane, found);
  }
  return moved;
}

bool Executor::advance_lane(Operation& op, uint32_t lane_index, Disagreement* found) {
  const Lane& lane = op.call->bound->plan.lanes[lane_index];
  const Slicing& slicing = op.call->slicing;
  LaneCursor& cursor = op.cursors[lane_index];
  bool moved = false;
  for (;;) {
    const Step& step = lane.steps[cursor.step];
    if (step.dependences != 0 && !dependences_met(op, lane, step, cursor)) return moved;
    if (step.sources != 0) {
      const size_t elements = elements_of(slicing, step, cursor);
      if (elements != 0) {
        if (!peers_ready(op, lane_index, step, found)) return moved;
        fire(op, lane_index, step, cursor, elements);
        moved = true;
      }
    }
    if (!next(slicing, lane, cursor)) {
      op.lanes_done |= uint64_t{1} << lane_index;
      --op.lanes_left;
      return true;
    }
  }
}

bool Executor::dependences_met(const Operation& op, const Lane& lane, const Step& step,
                               const LaneCursor& cursor) const {
  const Slicing& slicing = op.call->slicing;
  for (uint32_t i = 0; i < step.dependences; ++i) {
    const auto& dependence = lane.dependences[step.first_dependence + i];
    if (op.lanes_done >> dependence.lane & 1) continue;
    const LaneCursor& other = op.cursors[dependence.lane];
    if (other.loop != cursor.loop) {
      if (other.loop < cursor.loop) return false;
      continue;
    }
    if (other.step > dependence.step) continue;
    if (other.step < dependence.step) return false;
    // The same step: what this slice covers must have been done there, which may use slices of another size.
    const Step& needed = op.call->bound->plan.lanes[dependence.lane].steps[dependence.step];
    const size_t need = std::min(slicing.piece, (cursor.slice + 1) * slicing.slice_of(step.chunks));
    const size_t done = std::min(slicing.piece, other.slice * slicing.slice_of(needed.chunks));
    if (done < need) return false;
  }
  return true;
}

bool Executor::peers_ready(Operation& op, uint32_t lane_index, const Step& step, Disagreement* found) {
  const Operand* operands = op.call->bound->plan.lanes[lane_index].operands.data() + step.first_source;
  BoundOperand* bound = op.call->bound->queues[op.flight][lane_index].data() + step.first_source;
  for (uint32_t i = 0; i < step.sources; ++i) {
    if (operands[i].role != Role::kPeer) continue;
    if (bound[i].recv == nullptr) [[unlikely]] {
      bound[i].recv = queues_.recv_queue(operands[i].index, op.flight, lane_index);
      if (bound[i].recv == nullptr) return false;
    }
    const SlotHeader* message = bound[i].recv->peek();
    if (message == nullptr) return false;
    if (message->fingerprint != op.fingerprint) [[unlikely]] {
      *found = Disagreement{static_cast<int>(operands[i].index), message->fingerprint};
      return false;
    }
  }
  for (uint32_t i = step.sources; i < uint32_t{step.sources} + step.destinations; ++i) {
    if (operands[i].role != Role::kPeer) continue;
    if (bound[i].send == nullptr) [[unlikely]] {
      bound[i].send = queues_.send_queue(operands[i].index, op.flight, lane_index);
      if (bound[i].send == nullptr) return false;
    }
    if (!bound[i].send->ready()) return false;
  }
  return true;
}

std::byte* Executor::local(const Operation& op, const Operand& operand, const Place& place) const {
  const Slicing& slicing = op.call->slicing;
  const algorithms::PlanHeader& header = op.call->bound->plan.header;
  const uint32_t index = operand.index + place.offset_in_run;
  if (operand.role == Role::kScratch) {
    const size_t size = header.scratch_per_loop ? slicing.piece : slicing.chunk;
    const size_t offset = place.in_chunk - (header.scratch_per_loop ? place.loop * slicing.piece : 0);
    return op.scratch + (index * size + offset) * slicing.element_bytes;
  }
  // The first block, which is all that an AllReduce has, without a division.
  const size_t block = index < header.chunks ? 0 : index / header.chunks;
  const size_t element = block * slicing.count + place.in_block;
  std::byte* base = operand.role == Role::kInput ? const_cast<std::byte*>(op.input) : op.output;
  return base + element * slicing.element_bytes;
}

void Executor::compute(const Operation& op, const Step& step, uint64_t scaled, size_t elements) {
  const PreparedCall& call = *op.call;
  const uint32_t divisor = step.completes ? call.divisor : 0;
  if (step.sources == 1 && scaled == 0 && divisor == 0) {
    table_.copy(destinations_.data(), step.destinations, sources_[0], elements * call.slicing.element_bytes,
                call.streaming);
    return;
  }
  kernels::ReduceCall reduce;
  reduce.dst = destinations_.data();
  reduce.destinations = step.destinations;
  reduce.src = sources_.data();
  reduce.sources = step.sources;
  reduce.count = elements;
  reduce.scaled = scaled;
  reduce.divisor = divisor;
  reduce.streaming = call.streaming;
  if (scaled != 0) reduce.scalar = op.scalar;
  call.reduce(reduce);
}

void Executor::fire(Operation& op, uint32_t lane_index, const Step& step, const LaneCursor& cursor, size_t elements) {
  const Slicing& slicing = op.call->slicing;
  const Operand* operands = op.call->bound->plan.lanes[lane_index].operands.data() + step.first_source;
  BoundOperand* bound = op.call->bound->queues[op.flight][lane_index].data() + step.first_source;
  const uint32_t all = uint32_t{step.sources} + step.destinations;

  const auto bytes = static_cast<uint32_t>(elements * slicing.element_bytes);
  uint64_t scaled = 0;
  if (op.call->op == ReduceOp::kPreMulSum) {
    for (uint32_t i = 0; i < step.sources; ++i)
      if (operands[i].role == Role::kInput) scaled |= uint64_t{1} << i;
  }
  size_t done = 0;  // bytes of the message that earlier chunks of the run took
  for (uint32_t chunk = 0; chunk < step.chunks; ++chunk) {
    const Range range = slicing.range(step.first_chunk + chunk, step.chunks, cursor.loop, cursor.slice);
    if (range.size == 0) continue;
    const Place place{chunk, cursor.loop, range.begin, range.begin - (step.first_chunk + chunk) * slicing.chunk};
    for (uint32_t i = 0; i < step.sources; ++i) {
      sources_[i] = operands[i].role == Role::kPeer ? transport::payload_of(bound[i].recv->peek()) + done
                                                    : local(op, operands[i], place);
    }
    for (uint32_t i = step.sources; i < all; ++i) {
      destinations_[i - step.sources] = operands[i].role == Role::kPeer
                                            ? transport::payload_of(bound[i].send->slot(), bytes) + done
                                            : local(op, operands[i], place);
    }
    compute(op, step, scaled, range.size);
    done += range.size * slicing.element_bytes;
  }
  for (uint32_t i = step.sources; i < all; ++i)
    if (bound[i].send != nullptr) bound[i].send->publish(bytes, op.fingerprint);
  for (uint32_t i = 0; i < step.sources; ++i)
    if (bound[i].recv != nullptr) bound[i].recv->release();
}

int Executor::waits_for(const Operation& op, const char** what) {
  const BoundPlan& bound = *op.call->bound;
  for (uint32_t lane_index = 0; lane_index < bound.plan.lanes.size(); ++lane_index) {
    if (op.lanes_done >> lane_index & 1) continue;
    const Lane& lane = bound.plan.lanes[lane_index];
    const Step& step = lane.steps[op.cursors[lane_index].step];
    const Operand* operands = lane.operands.data() + step.first_source;
    const BoundOperand* queues = bound.queues[op.flight][lane_index].data() + step.first_source;
    for (uint32_t i = 0; i < uint32_t{step.sources} + step.destinations; ++i) {
      if (operands[i].role != Role::kPeer) continue;
      const bool source = i < step.sources;
      if (source && queues[i].recv != nullptr && queues[i].recv->peek() != nullptr) continue;
      if (!source && queues[i].send != nullptr && queues[i].send->outstanding() < queues[i].send->ring().depth)
        continue;
      *what = source ? "a message from" : (queues[i].send == nullptr ? "a connection to" : "room in the queue to");
      return static_cast<int>(operands[i].index);
    }
  }
  return -1;
}

}  // namespace tutti::runtime
