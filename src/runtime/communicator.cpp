#include "runtime/communicator.h"

#include <algorithm>

#include "base/log.h"
#include "runtime/progress.h"

namespace tutti::runtime {

Communicator::Communicator(int rank, int nranks, int device, CommOptions options)
    : rank_(rank), nranks_(nranks), device_(device), options_(std::move(options)) {}

Communicator::~Communicator() = default;

void Communicator::finish_initialising(const Status& status) {
  if (!status.ok()) fail(status, Tell::kNobody);
  initialising_.store(false, std::memory_order_release);
}

Status Communicator::usable() const {
  if (broken()) [[unlikely]]
    return error_status();
  if (initialising()) [[unlikely]]
    return Status(Code::kInvalidUsage, "the communicator is still initialising: poll ncclCommGetAsyncError first");
  if (finalized_.load(std::memory_order_relaxed)) [[unlikely]]
    return Status(Code::kInvalidUsage, "the communicator has been finalized");
  return {};
}

// --- issuing

bool Communicator::run_now(const Call& call, Status* status) {
  if (!options_.blocking || !try_claim()) return false;
  const uint32_t flight = next_sequence_ & (shape_.flights - 1);
  if (!pending_.empty() || inbox_full_.load(std::memory_order_acquire) ||
      (nranks_ > 1 && flights_[flight].state != OperationState::kFree)) {
    unclaim();
    return false;
  }
  unfinished_.fetch_add(1, std::memory_order_relaxed);
  *status = start(call, nullptr);
  if (status->ok() && nranks_ > 1) {
    Operation& op = flights_[flight];
    drive(op);
    if (!executor_.finished(op)) *status = error_status();
  }
  const bool others = busy();
  unclaim();
  if (others) progress_wake();
  return true;
}

void Communicator::drive(Operation& op) {
  uint32_t round = 0;
  attend();
  while (op.state == OperationState::kActive) {
    if (advance_operations() || carry_transports()) {
      round = 0;
      continue;
    }
    if (waiter_.pause(&round)) inspect();
    sleep_if_due(round, [this] { return !broken() && !advance_operations() && !carry_transports(); });
  }
  unattend(false);
}

void Communicator::unattend(bool asleep) {
  if (!carried_ || attendants_.fetch_sub(1, std::memory_order_seq_cst) != 1) return;
  const auto has_output = [](const auto& transport) { return transport->has_output(); };
  // What comes in can wait until somebody asks for it; what this rank still owes to others cannot.
  if (asleep ? unwatched.load(std::memory_order_seq_cst)
             : std::any_of(transports_.begin(), transports_.end(), has_output))
    progress_wake();
}

std::shared_ptr<Ticket> Communicator::issue(const Call& call, uint64_t stream_ticket) {
  Pending pending;
  pending.call = call;
  pending.stream_ticket = stream_ticket;
  pending.ticket = std::make_shared<Ticket>();
  std::shared_ptr<Ticket> ticket = pending.ticket;
  {
    const std::lock_guard lock(inbox_mutex_);
    inbox_.push_back(std::move(pending));
    unfinished_.fetch_add(1, std::memory_order_relaxed);
    inbox_full_.store(true, std::memory_order_release);
  }
  return ticket;
}

// --- running

bool Communicator::progress() {
  if (!busy() || !try_claim()) return false;
  if (broken()) [[unlikely]]
    end_all(error_status());
  const bool moved = start_pending() | advance_operations() | carry_transports();
  unclaim();
  return moved;
}

bool Communicator::start_pending() {
  if (inbox_full_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(inbox_mutex_);
    for (Pending& pending : inbox_) pending_.push_back(std::move(pending));
    inbox_.clear();
    inbox_full_.store(false, std::memory_order_release);
  }
  bool started = false;
  while (!pending_.empty() && can_start(pending_.front())) {
    const Pending pending = std::move(pending_.front());
    pending_.pop_front();
    // A call that cannot be planned ends by itself; the others go on.
    static_cast<void>(start(pending.call, pending.ticket));
    started = true;
  }
  return started;
}

bool Communicator::can_start(const Pending& pending) {
  if (nranks_ > 1 && flights_[next_sequence_ & (shape_.flights - 1)].state != OperationState::kFree) return false;
  return pending.call.stream == nullptr || pending.call.stream->reached(pending.stream_ticket);
}

Status Communicator::start(const Call& call, std::shared_ptr<Ticket> ticket) {
  if (nranks_ == 1) {
    run_alone(call);
    finish(call.stream, ticket, Status());
    return {};
  }
  if (active_ == 0) plans_.trim();
  Result<const PreparedCall*> prepared = plans_.prepare(call.kind, call.count, call.type, call.reduce.op, call.root);
  if (!prepared.ok()) [[unlikely]] {
    finish(call.stream, ticket, prepared.status());
    return prepared.status();
  }
  const uint32_t flight = next_sequence_ & (shape_.flights - 1);
  Operation& op = flights_[flight];
  op.call = *prepared;
  op.fingerprint = op.call->fingerprint;
  op.fingerprint.sequence = next_sequence_++;
  op.flight = flight;
  op.input = static_cast<const std::byte*>(call.send);
  op.output = static_cast<std::byte*>(call.recv);
  op.scratch = op.call->scratch_bytes == 0 ? nullptr : scratch(flight, op.call->scratch_bytes);
  if (call.reduce.op == ReduceOp::kPreMulSum)
    std::copy(std::begin(call.reduce.scalar), std::end(call.reduce.scalar), op.scalar.bytes);
  op.stream = call.stream;
  op.ticket = std::move(ticket);
  op.deadline = {};
  op.streaming = op.call->streaming && op.input != op.output;
  op.may_lend = lending_ && may_lend(op);
  executor_.begin(op);
  op.state = OperationState::kActive;
  ++active_;
  if (executor_.finished(op)) end(op, Status());
  return {};
}

// Whether results may lie where contributions still do.
bool Communicator::may_lend(const Operation& op) {
  const algorithms::PlanHeader& header = op.call->bound->plan.header;
  const algorithms::Slicing& slicing = op.call->slicing;
  if (header.lending != algorithms::Lending::kOutOfPlace) return header.lending == algorithms::Lending::kAlways;
  const size_t block = slicing.count * slicing.element_bytes;
  return op.input + header.input_blocks * block <= op.output || op.output + header.output_blocks * block <= op.input;
}

void Communicator::run_alone(const Call& call) {
  const kernels::KernelTable& table = kernels::host_kernels();
  void* destination = call.recv;
  const void* source = call.send;
  if (call.reduce.op == ReduceOp::kPreMulSum) {
    kernels::ReduceCall reduce;
    reduce.dst = &destination;
    reduce.src = &source;
    reduce.count = call.count;
    reduce.scaled = 1;
    std::copy(std::begin(call.reduce.scalar), std::end(call.reduce.scalar), reduce.scalar.bytes);
    table.reduce[static_cast<int>(call.type)][static_cast<int>(call.reduce.op)](reduce);
  } else if (source != destination) {
    table.copy(&destination, 1, source, call.count * size_of(call.type), false);
  }
}

bool Communicator::advance_operations() {
  if (active_ == 0) return false;
  bool moved = false;
  for (Operation& op : flights_) {
    if (op.state != OperationState::kActive) continue;
    Disagreement found;
    moved |= executor_.advance(op, &found);
    if (found.peer >= 0) [[unlikely]] {
      disagree(op, found);
      end_all(error_status());
      return true;
    }
    if (executor_.finished(op)) end(op, Status());
  }
  return moved;
}

void Communicator::end(Operation& op, const Status& status) {
  op.state = OperationState::kFree;
  --active_;
  const std::shared_ptr<Stream> stream = std::move(op.stream);
  const std::shared_ptr<Ticket> ticket = std::move(op.ticket);
  op.stream.reset();
  op.ticket.reset();
  finish(stream, ticket, status);
}

void Communicator::finish(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Ticket>& ticket,
                          const Status& status) {
  unfinished_.fetch_sub(1, std::memory_order_release);
  if (ticket != nullptr) {
    ticket->status = status;
    ticket->done.store(true, std::memory_order_release);
    waiter_.wake();  // whoever waits for the ticket while another thread holds the claim
  }
  if (stream != nullptr) stream->complete(status);
}

void Communicator::end_all(const Status& status) {
  for (Operation& op : flights_)
    if (op.state == OperationState::kActive) {
      executor_.take_back(op);
      end(op, status);
    }
  {
    const std::lock_guard lock(inbox_mutex_);
    for (Pending& pending : inbox_) pending_.push_back(std::move(pending));
    inbox_.clear();
    inbox_full_.store(false, std::memory_order_release);
  }
  while (!pending_.empty()) {
    const Pending pending = std::move(pending_.front());
    pending_.pop_front();
    finish(pending.call.stream, pending.ticket, status);
  }
}

std::byte* Communicator::scratch(uint32_t flight, size_t bytes) {
  std::vector<std::byte>& memory = scratch_[flight];
  if (memory.size() < bytes) memory = std::vector<std::byte>(bytes);
  return memory.data();
}

// --- queues

transport::SendEnd* Communicator::send_end(uint32_t peer) {
  transport::SendEnd* end = route_[peer]->sender(static_cast<int>(peer));
  return end != nullptr && end->ready() ? end : nullptr;
}

transport::RecvEnd* Communicator::recv_end(uint32_t peer) {
  return route_[peer]->receiver(static_cast<int>(peer));
}

bool Communicator::carry_transports() {
  bool moved = false;
  for (const auto& transport : transports_)
    if (transport->needs_progress()) moved |= transport->progress();
  return moved;
}

}  // namespace tutti::runtime
