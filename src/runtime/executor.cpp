#include "runtime/executor.h"

#include "transport/reference.h"

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
    payloads_.resize(bound.max_operands);
  }
  op.lent.clear();
  if (op.may_lend) op.lent.reserve(bound.peer_operands);
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
        if (!fire(op, lane_index, step, cursor, elements)) return moved;
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
      bound[i].recv_end = queues_.recv_end(operands[i].index);
      if (bound[i].recv_end == nullptr) return false;
      bound[i].recv = &bound[i].recv_end->queue(op.flight, lane_index);
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
      bound[i].send_end = queues_.send_end(operands[i].index);
      if (bound[i].send_end == nullptr) return false;
      bound[i].send = &bound[i].send_end->queue(op.flight, lane_index);
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

const std::byte* Executor::lendable(const Firing& firing, const Place& place) const {
  const Step& step = firing.step;
  // The chunks of a run do not lie one after the other.
  if (!firing.op.may_lend || step.chunks != 1) return nullptr;
  const std::span sources(firing.operands, step.sources);
  const std::span destinations(firing.operands + step.sources, step.destinations);
  const Operand* lent = algorithms::lent_operand(sources, destinations, step.completes);
  if (lent == nullptr || (lent == sources.data() && firing.scaled != 0)) return nullptr;
  return local(firing.op, *lent, place);
}

bool Executor::lends(const Firing& firing, uint32_t destination, const std::byte* lent) const {
  const transport::SendEnd& end = *firing.bound[destination].send_end;
  return firing.bytes >= end.lend_from() && end.can_reference(lent, firing.bytes, MemoryKind::kHost);
}

bool Executor::open_messages(const Firing& firing, std::byte* straight) {
  for (uint32_t i = 0; i < firing.step.sources; ++i) {
    if (!firing.is_peer(i)) continue;
    const SlotHeader& message = *firing.bound[i].recv->peek();
    if ((message.flags & transport::kReference) == 0) {
      payloads_[i] = transport::payload_of(&message);
      continue;
    }
    transport::RecvEnd& end = *firing.bound[i].recv_end;
    payloads_[i] = static_cast<const std::byte*>(end.view(message));
    if (payloads_[i] != nullptr) continue;
    std::byte* to = straight;
    if (to == nullptr) {
      if (staging_.size() < payloads_.size() * slot_bytes_) staging_.resize(payloads_.size() * slot_bytes_);
      to = staging_.data() + i * slot_bytes_;
    }
    if (!end.pull(message, 0, to, message.bytes).ok()) {
      close_messages(firing, i);
      return false;
    }
    payloads_[i] = to;
  }
  return true;
}

void Executor::close_messages(const Firing& firing, uint32_t sources) {
  for (uint32_t i = 0; i < sources; ++i) {
    if (firing.is_peer(i) && (firing.bound[i].recv->peek()->flags & transport::kReference) != 0)
      firing.bound[i].recv_end->end_view();
  }
}

void Executor::compute(const Firing& firing, size_t elements) {
  const PreparedCall& call = *firing.op.call;
  const uint32_t divisor = firing.step.completes ? call.divisor : 0;
  if (firing.step.sources == 1 && firing.scaled == 0 && divisor == 0) {
    // A payload that was fetched went to the first destination at once.
    const uint16_t there = sources_[0] == destinations_[0] ? 1 : 0;
    if (destination_count_ == there) return;
    table_.copy(destinations_.data() + there, destination_count_ - there, sources_[0],
                elements * call.slicing.element_bytes, firing.op.streaming);
    return;
  }
  kernels::ReduceCall reduce;
  reduce.dst = destinations_.data();
  reduce.destinations = destination_count_;
  reduce.src = sources_.data();
  reduce.sources = firing.step.sources;
  reduce.count = elements;
  reduce.scaled = firing.scaled;
  reduce.divisor = divisor;
  reduce.streaming = firing.op.streaming;
  if (firing.scaled != 0) reduce.scalar = firing.op.scalar;
  call.reduce(reduce);
}

bool Executor::fire(Operation& op, uint32_t lane_index, const Step& step, const LaneCursor& cursor, size_t elements) {
  const Slicing& slicing = op.call->slicing;
  Firing firing{op, step, op.call->bound->plan.lanes[lane_index].operands.data() + step.first_source,
                op.call->bound->queues[op.flight][lane_index].data() + step.first_source,
                static_cast<uint32_t>(elements * slicing.element_bytes)};
  if (op.call->op == ReduceOp::kPreMulSum) {
    for (uint32_t i = 0; i < step.sources; ++i)
      if (firing.operands[i].role == Role::kInput) firing.scaled |= uint64_t{1} << i;
  }
  const std::byte* lent = nullptr;
  size_t done = 0;  // bytes of the message that earlier chunks of the run took
  for (uint32_t chunk = 0; chunk < step.chunks; ++chunk) {
    const Range range = slicing.range(step.first_chunk + chunk, step.chunks, cursor.loop, cursor.slice);
    if (range.size == 0) continue;
    const Place place{chunk, cursor.loop, range.begin, range.begin - (step.first_chunk + chunk) * slicing.chunk};
    lent = lendable(firing, place);
    destination_count_ = 0;
    for (uint32_t i = step.sources; i < firing.all(); ++i) {
      if (!firing.is_peer(i)) {
        destinations_[destination_count_++] = local(op, firing.operands[i], place);
      } else if (lent == nullptr || !lends(firing, i, lent)) {
        destinations_[destination_count_++] = transport::payload_of(firing.bound[i].send->slot(), firing.bytes) + done;
      }
    }
    if (done == 0) {
      const bool is_copy = step.sources == 1 && firing.scaled == 0 && !(step.completes && op.call->divisor != 0);
      const bool fetch = is_copy && step.chunks == 1 && destination_count_ != 0;
      if (!open_messages(firing, fetch ? static_cast<std::byte*>(destinations_[0]) : nullptr)) return false;
    }
    for (uint32_t i = 0; i < step.sources; ++i)
      sources_[i] = firing.is_peer(i) ? payloads_[i] + done : local(op, firing.operands[i], place);
    if (destination_count_ != 0) compute(firing, range.size);
    done += range.size * slicing.element_bytes;
  }
  close_messages(firing, step.sources);
  for (uint32_t i = step.sources; i < firing.all(); ++i)
    if (firing.is_peer(i)) put(firing, i, lent);
  for (uint32_t i = 0; i < step.sources; ++i)
    if (firing.is_peer(i)) firing.bound[i].recv->give_back();
  transport::Doorbell::fence();
  for (uint32_t i = step.sources; i < firing.all(); ++i)
    if (firing.is_peer(i)) firing.bound[i].send->tell();
  for (uint32_t i = 0; i < step.sources; ++i)
    if (firing.is_peer(i)) firing.bound[i].recv->tell();
  return true;
}

void Executor::put(const Firing& firing, uint32_t destination, const std::byte* lent) {
  BoundOperand& bound = firing.bound[destination];
  if (lent == nullptr || !lends(firing, destination, lent)) {
    bound.send->put(firing.bytes, firing.op.fingerprint);
    return;
  }
  transport::write_reference(bound.send->slot(), lent);
  bound.send->put(firing.bytes, firing.op.fingerprint, transport::kReference);
  if (bound.lent_until == 0) firing.op.lent.push_back(&bound);
  bound.lent_until = bound.send->published();
}

bool Executor::finished(Operation& op) const {
  if (op.lanes_left != 0) return false;
  while (!op.lent.empty()) {
    BoundOperand& bound = *op.lent.back();
    if (!bound.send->released(bound.lent_until)) return false;
    bound.lent_until = 0;
    op.lent.pop_back();
  }
  return true;
}

void Executor::take_back(Operation& op) {
  for (BoundOperand* bound : op.lent) bound->send_end->revoke();
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
  return waits_for_return(op, what);
}

// The bound operand of a peer has the place of the operand that names it.
int Executor::waits_for_return(const Operation& op, const char** what) {
  if (op.lent.empty()) return -1;
  const BoundOperand* wanted = op.lent.back();
  const BoundPlan& bound = *op.call->bound;
  for (uint32_t lane = 0; lane < bound.plan.lanes.size(); ++lane) {
    const std::vector<BoundOperand>& queues = bound.queues[op.flight][lane];
    if (wanted < queues.data() || wanted >= queues.data() + queues.size()) continue;
    *what = "the end of the reading by";
    return static_cast<int>(bound.plan.lanes[lane].operands[static_cast<size_t>(wanted - queues.data())].index);
  }
  return -1;
}

}  // namespace tutti::runtime
