#include "transport/shm/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>

#include "transport/reference.h"
#include "transport/remote_error.h"

namespace tutti::transport::shm {

void Lifeline::watch(net::Fd socket, const std::atomic<uint32_t>* left) {
  socket_ = std::move(socket);
  left_ = left;
  if (Status status = engine_.poller().watch(socket_.get(), EPOLLIN | EPOLLRDHUP, this); !status.ok())
    engine_.fail(peer_.rank, std::move(status));
}

void Lifeline::on_ready(uint32_t) {
  std::byte unexpected[64];
  const ssize_t got = recv(socket_.get(), unexpected, sizeof unexpected, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  engine_.moved();
  cut();
  if (left_->load(std::memory_order_acquire) != 0) return;
  if (got > 0)
    engine_.fail(peer_.rank,
                 error(Code::kRemoteError, "lost {}: it sent {} bytes over an idle shm socket", peer_.name(), got));
  else
    engine_.fail(peer_.rank, closed_connection(peer_, "shm"));
}

void Lifeline::cut() {
  if (socket_.get() < 0) return;
  engine_.poller().forget(socket_.get());
  socket_.reset();
}

Sender::~Sender() {
  // Before the lifeline goes, so that the peer finds it set when it looks.
  if (ready()) memory_.header().sender_left.store(1, std::memory_order_release);
}

bool Sender::can_reference(const void*, size_t bytes, MemoryKind kind) const {
  return ready() && readable_ && kind != MemoryKind::kDevice && bytes <= UINT32_MAX;
}

void Sender::revoke() {
  if (!ready()) return;
  memory_.header().revoked.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void Sender::open(RingMemory memory, const QueueShape& shape, std::shared_ptr<DoorbellPage> peer_bell, net::Fd socket,
                  bool readable) {
  memory_ = std::move(memory);
  peer_bell_ = std::move(peer_bell);
  readable_ = readable;
  queues_ = QueueSet<SendQueue>(memory_, shape, &peer_bell_->doorbell(), nullptr);
  lifeline_.watch(std::move(socket), &memory_.header().receiver_left);
  ready_.store(true, std::memory_order_release);
}

Receiver::Receiver(Engine& engine, const Peer& peer, pid_t pid, RingMemory memory, const QueueShape& shape,
                   std::shared_ptr<DoorbellPage> peer_bell)
    : engine_(engine),
      peer_(peer),
      pid_(pid),
      memory_(std::move(memory)),
      peer_bell_(std::move(peer_bell)),
      queues_(memory_, shape, &peer_bell_->doorbell(), nullptr),
      lifeline_(engine, peer) {}

Receiver::~Receiver() {
  memory_.header().receiver_left.store(1, std::memory_order_release);
}

Status Receiver::pull(const SlotHeader& message, size_t offset, void* to, size_t bytes) {
  TUTTI_RETURN_IF_ERROR(check_reference(message, offset, bytes));
  Status status = read_process(pid_, reference_of(message).address + offset, to, bytes);
  // Pairs with the fence in revoke(): what was read after the memory was given back is not used.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (memory_.header().revoked.load(std::memory_order_relaxed) != 0)
    return error(Code::kRemoteError, "{} has taken its memory back", peer_.name());
  if (status.ok()) return {};
  status = error(Code::kRemoteError, "reading {} bytes of {}: {}", bytes, peer_.name(), status.text());
  engine_.fail(peer_.rank, status);
  return status;
}

Status read_process(pid_t pid, uint64_t address, void* to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    iovec local{static_cast<std::byte*>(to) + done, bytes - done};
    iovec remote{reinterpret_cast<void*>(address + done), bytes - done};
    const ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (got <= 0) return system_error(got < 0 ? errno : EFAULT, "process_vm_readv of pid {}", pid);
    done += static_cast<size_t>(got);
  }
  return {};
}

}  // namespace tutti::transport::shm
