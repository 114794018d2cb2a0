#include "transport/tcp/connection.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>

#include "base/net/socket.h"
#include "transport/reference.h"
#include "transport/remote_error.h"

namespace tutti::transport::tcp {
namespace {

constexpr size_t kReadBudget = 1 << 20;  // bytes from one wire before the next has its turn
constexpr int kBurst = 1 << 20;          // bytes that a wire may hold for a reader that is late

}  // namespace

// One socket and what waits to be sent over it.
class Connection::Wire final : public Poller::Handler, private FrameReader::Sink {
 public:
  Wire(Connection& connection, net::Fd socket, uint32_t channels)
      : connection_(connection), socket_(std::move(socket)), waiting_(channels) {}
  ~Wire() { shut(); }

  Status start() { return connection_.engine_.poller().watch(socket_.get(), EPOLLIN | EPOLLRDHUP, this); }
  bool open() const { return socket_.get() >= 0; }

  void push(uint32_t channel) { waiting_.push(channel); }
  void flush();
  void farewell();
  void shut();

 private:
  void on_ready(uint32_t events) override;
  void read();
  void fill();
  void drop_waiting();
  bool write();  // false: the wire is lost
  void ended(const Outcome& outcome);
  bool accept(const FrameHeader& header, std::byte** payload) override {
    if (header.kind != FrameKind::kFarewell) return connection_.accept(header, payload);
    said_farewell_ = true;
    return header.bytes == 0;
  }
  void complete(const FrameHeader& header) override {
    if (header.kind != FrameKind::kFarewell) connection_.complete(header);
  }

  Connection& connection_;
  net::Fd socket_;
  ChannelFifo waiting_;
  FrameReader reader_;
  FrameWriter writer_;
  bool blocked_ = false;      // the kernel takes no more
  bool watches_out_ = false;  // EPOLLOUT is watched
  bool said_farewell_ = false;
};

void Connection::Wire::on_ready(uint32_t events) {
  if ((events & ~uint32_t{EPOLLOUT}) != 0) read();
  if (!open()) return;
  if ((events & EPOLLOUT) != 0) blocked_ = false;
  // Also after reading: credits may have come.
  connection_.flush_all();
}

void Connection::Wire::read() {
  const Outcome outcome = reader_.read(socket_.get(), kReadBudget, *this);
  if (outcome.moved) connection_.engine_.moved();
  if (outcome.state != Outcome::State::kOpen) ended(outcome);
}

void Connection::Wire::fill() {
  while (!waiting_.empty() && !writer_.full()) {
    const uint32_t channel = waiting_.pop();
    FrameHeader header;
    const std::byte* payload = nullptr;
    if (!connection_.next_frame(channel, &header, &payload)) continue;
    writer_.add(header, payload);
    waiting_.push(channel);  // behind the others
  }
}

bool Connection::Wire::write() {
  const Outcome outcome = writer_.write(socket_.get(), [this](const FrameHeader& header) {
    if (header.kind != FrameKind::kFarewell) connection_.frame_written(header);
  });
  if (outcome.moved) connection_.engine_.moved();
  if (outcome.state == Outcome::State::kOpen) return true;
  // What the peer said before it closed tells whether this is a failure.
  const Outcome last = reader_.read(socket_.get(), kReadBudget, *this);
  ended(last.state == Outcome::State::kCorrupt ? last : outcome);
  return false;
}

void Connection::Wire::flush() {
  if (!open()) return drop_waiting();
  while (open() && !blocked_) {
    if (writer_.idle()) fill();
    if (!open() || writer_.idle()) break;
    if (!write()) return;
    blocked_ = !writer_.idle();
  }
  if (!open() || blocked_ == watches_out_) return;
  watches_out_ = blocked_;
  connection_.engine_.poller().change(socket_.get(), EPOLLIN | EPOLLRDHUP | (blocked_ ? EPOLLOUT : 0u));
}

void Connection::Wire::drop_waiting() {
  bool lost = !writer_.idle();
  while (!waiting_.empty()) {
    FrameHeader header;
    const std::byte* payload = nullptr;
    lost = connection_.next_frame(waiting_.pop(), &header, &payload) || lost;
  }
  if (lost && said_farewell_ && connection_.must_deliver())
    connection_.lose(error(Code::kRemoteError, "{} has left the communicator before it took all messages",
                           connection_.peer_.name()));
}

void Connection::Wire::ended(const Outcome& outcome) {
  if (said_farewell_ && outcome.state != Outcome::State::kCorrupt) {
    shut();
    return drop_waiting();  // what still waits to be sent makes it a failure after all
  }
  const Peer& peer = connection_.peer_;
  switch (outcome.state) {
    case Outcome::State::kOpen: return;
    case Outcome::State::kClosed: return connection_.lose(closed_connection(peer, "tcp"));
    case Outcome::State::kError: return connection_.lose(broken_connection(peer, "tcp", outcome.cause));
    case Outcome::State::kCorrupt:
      return connection_.lose(error(Code::kRemoteError,
                                    "lost {}: its tcp connection carried something that is no frame of this protocol",
                                    peer.name()));
  }
}

void Connection::Wire::farewell() {
  if (!open() || !writer_.idle()) return;  // in the middle of a frame no word can be said
  FrameHeader header;
  header.kind = FrameKind::kFarewell;
  writer_.add(header, nullptr);
  writer_.write(socket_.get(), [](const FrameHeader&) {});
  // Bytes that nobody has read would make the kernel reset the connection, farewell included.
  std::byte unread[4096];
  while (recv(socket_.get(), unread, sizeof unread, MSG_DONTWAIT) > 0) {
  }
}

void Connection::Wire::shut() {
  if (!open()) return;
  connection_.engine_.poller().forget(socket_.get());
  socket_.reset();
}

Connection::Connection(Engine& engine, Peer peer, const QueueShape& shape, RingMemory memory)
    : engine_(engine),
      peer_(std::move(peer)),
      shape_(shape),
      memory_(std::move(memory)),
      marks_((shape.channels() + 63) / 64) {}

Connection::~Connection() = default;

void Connection::leave() {
  serve();
  for (auto& wire : wires_) wire->farewell();
}

bool Connection::severed() const {
  return !wires_.empty() && std::none_of(wires_.begin(), wires_.end(), [](const auto& wire) { return wire->open(); });
}

void Connection::attach(std::vector<net::Fd> sockets) {
  for (auto& socket : sockets) {
    // Credits are small and each may be what the peer waits for.
    net::set_no_delay(socket.get());
    net::expect_bursts(socket.get(), kBurst);
    wires_.push_back(std::make_unique<Wire>(*this, std::move(socket), shape_.channels()));
  }
  for (auto& wire : wires_)
    if (Status status = wire->start(); !status.ok()) return lose(std::move(status));
}

void Connection::shut() {
  for (auto& wire : wires_) wire->shut();
}

void Connection::lose(Status status) {
  shut();
  engine_.fail(peer_.rank, std::move(status));
}

void Connection::serve() {
  if (wires_.empty()) return;  // marks stay for attach()
  for (size_t word = 0; word < marks_.size(); ++word) {
    uint64_t bits = marks_[word].exchange(0, std::memory_order_seq_cst);
    for (; bits != 0; bits &= bits - 1) requeue(static_cast<uint32_t>(word * 64 + std::countr_zero(bits)));
  }
  flush_all();
}

void Connection::requeue(uint32_t channel) {
  wires_[wire_of(channel)]->push(channel);
}

void Connection::flush_all() {
  for (auto& wire : wires_) wire->flush();
}

Sender::Sender(Engine& engine, Peer peer, const QueueShape& shape, RingMemory memory)
    : Connection(engine, std::move(peer), shape, std::move(memory)),
      channels_(shape.channels()),
      queues_(memory_, shape, nullptr, this) {
  for (uint32_t channel = 0; channel < shape.channels(); ++channel) {
    channels_[channel].ring = memory_.ring(channel);
    channels_[channel].granted = shape.depth;
  }
}

bool Sender::can_reference(const void*, size_t bytes, MemoryKind kind) const {
  return kind != MemoryKind::kDevice && bytes <= shape_.slot_bytes;
}

void Sender::revoke() {
  // Whoever has the claim is in a call that does not block.
  while (!engine_.with_claim([this] { shut(); })) sched_yield();
}

void Sender::set_ready() {
  ready_.store(true, std::memory_order_release);
  engine_.bell().ring();
}

bool Sender::drained() const {
  if (severed()) return true;
  for (const Channel& channel : channels_) {
    const bool more = channel.ring.slot(channel.carried)->ready.load(std::memory_order_acquire) == channel.carried + 1;
    if (more || channel.granted != channel.carried + shape_.depth) return false;
  }
  return true;
}

void Sender::published(uint32_t channel) {
  engine_.add_output();
  mark(channel);
  engine_.run_soon(task_);
}

bool Sender::next_frame(uint32_t number, FrameHeader* header, const std::byte** payload) {
  Channel& channel = channels_[number];
  if (channel.carried >= channel.granted) return false;
  const SlotHeader* slot = channel.ring.slot(channel.carried);
  if (slot->ready.load(std::memory_order_acquire) != channel.carried + 1) return false;
  if (slot->bytes > channel.ring.capacity) {
    lose(error(Code::kInternalError, "a message of {} bytes for {} does not fit into a slot of {}", slot->bytes,
               peer_.name(), channel.ring.capacity));
    return false;
  }
  header->channel = number;
  header->number = channel.carried++;
  header->bytes = slot->bytes;
  header->fingerprint = slot->fingerprint;
  const bool reference = (slot->flags & kReference) != 0;
  *payload = reference ? reinterpret_cast<const std::byte*>(reference_of(*slot).address) : payload_of(slot);
  return true;
}

void Sender::frame_written(const FrameHeader& header) {
  engine_.output_done();
  channels_[header.channel].ring.credits->consumed.store(header.number + 1, std::memory_order_release);
  engine_.bell().ring();
}

bool Sender::accept(const FrameHeader& header, std::byte**) {
  if (header.kind != FrameKind::kCredit || header.channel >= channels_.size() || header.bytes != 0) return false;
  Channel& channel = channels_[header.channel];
  if (header.number > channel.carried || header.number + shape_.depth < channel.granted) return false;
  channel.granted = header.number + shape_.depth;
  requeue(header.channel);
  return true;
}

Receiver::Receiver(Engine& engine, Peer peer, const QueueShape& shape, RingMemory memory)
    : Connection(engine, std::move(peer), shape, std::move(memory)),
      channels_(shape.channels()),
      queues_(memory_, shape, nullptr, this) {
  for (uint32_t channel = 0; channel < shape.channels(); ++channel) channels_[channel].ring = memory_.ring(channel);
}

Status Receiver::pull(const SlotHeader& message, size_t, void*, size_t) {
  return error(Code::kInternalError, "a pull over tcp from {}, whose messages carry their payload ({} bytes)",
               peer_.name(), message.bytes);
}

void Receiver::released(uint32_t number) {
  const Channel& channel = channels_[number];
  const uint64_t owed =
      channel.ring.credits->consumed.load(std::memory_order_relaxed) - channel.credited.load(std::memory_order_relaxed);
  mark(number);
  // Half of the queue at once keeps the sender going; the rest may wait for a quiet moment.
  if (owed * 2 >= shape_.depth)
    engine_.run_soon(soon_);
  else
    engine_.run_later(later_);
}

bool Receiver::next_frame(uint32_t number, FrameHeader* header, const std::byte**) {
  Channel& channel = channels_[number];
  const uint64_t consumed = channel.ring.credits->consumed.load(std::memory_order_acquire);
  if (consumed == channel.credited.load(std::memory_order_relaxed)) return false;
  header->kind = FrameKind::kCredit;
  header->channel = number;
  header->number = consumed;
  channel.credited.store(consumed, std::memory_order_relaxed);
  return true;
}

bool Receiver::accept(const FrameHeader& header, std::byte** payload) {
  if (header.kind != FrameKind::kMessage || header.channel >= channels_.size()) return false;
  Channel& channel = channels_[header.channel];
  const uint64_t consumed = channel.ring.credits->consumed.load(std::memory_order_acquire);
  if (header.number != channel.arrived || header.bytes > channel.ring.capacity ||
      channel.arrived - consumed >= channel.ring.depth)
    return false;
  SlotHeader* slot = channel.ring.slot(channel.arrived);
  slot->bytes = header.bytes;
  slot->flags = 0;
  slot->fingerprint = header.fingerprint;
  *payload = payload_of(slot, header.bytes);
  return true;
}

void Receiver::complete(const FrameHeader& header) {
  Channel& channel = channels_[header.channel];
  channel.ring.slot(channel.arrived)->ready.store(channel.arrived + 1, std::memory_order_release);
  ++channel.arrived;
  engine_.bell().ring();
}

}  // namespace tutti::transport::tcp
