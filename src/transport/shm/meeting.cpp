#include "transport/shm/meeting.h"

#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/net/socket.h"
#include "transport/shm/connection.h"

namespace tutti::transport::shm {
namespace {

// Pid of the process at the other end, in this process's numbering.
pid_t peer_pid(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 ? credentials.pid : -1;
}

bool can_read(pid_t pid, const Offer& offer) {
  uint64_t found = 0;
  return pid > 0 && read_process(pid, offer.probe_address, &found, sizeof found).ok() && found == offer.probe;
}

// One whole message with `count` descriptors. Code::kInProgress: it has not come yet.
template <class Message>
Status receive(int socket, Message& message, size_t count, std::vector<net::Fd>* descriptors) {
  size_t size = 0;
  const auto bytes = std::as_writable_bytes(std::span(&message, 1));
  TUTTI_RETURN_IF_ERROR(net::receive_with_fds(socket, bytes, &size, descriptors));
  if (size == 0) return error(Code::kRemoteError, "closed while the memory was to change hands");
  if (size != bytes.size() || descriptors->size() != count)
    return error(Code::kRemoteError, "{} bytes and {} descriptors came instead of {} and {}", size, descriptors->size(),
                 bytes.size(), count);
  return {};
}

}  // namespace

Offering::Offering(Engine& engine, net::Fd socket, const QueueShape& shape, Done done)
    : engine_(engine),
      socket_(std::move(socket)),
      shape_(shape),
      done_(std::move(done)),
      probe_(std::make_unique<uint64_t>()) {}

Offering::~Offering() {
  if (socket_.get() >= 0) engine_.poller().forget(socket_.get());
}

void Offering::start() {
  if (Status status = prepare(); !status.ok()) return finish(std::move(status));
  offer();
}

Status Offering::prepare() {
  if (getrandom(probe_.get(), sizeof *probe_, 0) != sizeof *probe_) return system_error(errno, "getrandom");
  int descriptor = -1;
  TUTTI_ASSIGN_OR_RETURN(memory_, RingMemory::shareable(shape_, &descriptor));
  memory_descriptor_ = net::Fd(descriptor);
  return engine_.poller().watch(socket_.get(), EPOLLOUT, this);
}

void Offering::offer() {
  const Offer offer{reinterpret_cast<uintptr_t>(probe_.get()), *probe_};
  const std::array<int, 2> descriptors{memory_descriptor_.get(), engine_.bell_page()->descriptor()};
  const Status sent = net::send_with_fds(socket_.get(), std::as_bytes(std::span(&offer, 1)), descriptors);
  if (sent.code() == Code::kInProgress) return;  // EPOLLOUT calls again
  if (!sent.ok()) return finish(sent);
  offered_ = true;
  memory_descriptor_.reset();
  engine_.poller().change(socket_.get(), EPOLLIN);
}

void Offering::on_ready(uint32_t) {
  if (offered_)
    take_answer();
  else
    offer();
}

void Offering::take_answer() {
  Answer answer;
  std::vector<net::Fd> descriptors;
  const Status got = receive(socket_.get(), answer, 1, &descriptors);
  if (got.code() == Code::kInProgress) return;
  if (!got.ok()) return finish(got);
  auto bell = DoorbellPage::adopt(descriptors[0].release());
  if (!bell.ok()) return finish(bell.status());
  finish(Taken{std::move(memory_), std::move(bell).value(), std::move(socket_), answer.readable != 0});
}

void Offering::finish(Result<Taken> result) {
  engine_.poller().forget(result.ok() ? result->socket.get() : socket_.get());
  engine_.moved();
  done_(std::move(result));
}

Taking::Taking(Engine& engine, net::Fd socket, const QueueShape& shape, Done done)
    : engine_(engine), socket_(std::move(socket)), shape_(shape), done_(std::move(done)) {}

Taking::~Taking() {
  if (socket_.get() >= 0) engine_.poller().forget(socket_.get());
}

void Taking::start() {
  if (Status status = engine_.poller().watch(socket_.get(), EPOLLIN, this); !status.ok()) finish(std::move(status));
}

void Taking::on_ready(uint32_t) {
  Offer offer;
  std::vector<net::Fd> descriptors;
  const Status got = receive(socket_.get(), offer, 2, &descriptors);
  if (got.code() == Code::kInProgress) return;
  if (!got.ok()) return finish(got);
  finish(accept(offer, std::move(descriptors[0]), std::move(descriptors[1])));
}

Result<Taking::Given> Taking::accept(const Offer& offer, net::Fd memory, net::Fd bell) {
  Given given;
  TUTTI_ASSIGN_OR_RETURN(given.memory, RingMemory::adopt(shape_, memory.get()));
  TUTTI_ASSIGN_OR_RETURN(given.peer_bell, DoorbellPage::adopt(bell.release()));
  given.pid = peer_pid(socket_.get());
  const Answer answer{can_read(given.pid, offer) ? 1u : 0u};
  const std::array<int, 1> descriptors{engine_.bell_page()->descriptor()};
  // Cannot block: all that was sent before over this socket is the handshake, which the peer has read.
  TUTTI_RETURN_IF_ERROR(net::send_with_fds(socket_.get(), std::as_bytes(std::span(&answer, 1)), descriptors));
  given.socket = std::move(socket_);
  return given;
}

void Taking::finish(Result<Given> result) {
  engine_.poller().forget(result.ok() ? result->socket.get() : socket_.get());
  engine_.moved();
  done_(std::move(result));
}

}  // namespace tutti::transport::shm
