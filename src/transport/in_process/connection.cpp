#include "transport/in_process/connection.h"

#include <sched.h>

#include <cstring>

#include "transport/reference.h"

namespace tutti::transport::in_process {

Sender::Sender(std::shared_ptr<Connection> connection, const QueueShape& shape) : connection_(std::move(connection)) {
  if (connection_ != nullptr)
    queues_ = QueueSet<SendQueue>(connection_->memory, shape, &connection_->receiver_bell->doorbell(), nullptr);
}

bool Sender::can_reference(const void*, size_t bytes, MemoryKind kind) const {
  return kind != MemoryKind::kDevice && bytes <= UINT32_MAX;
}

void Sender::revoke() {
  if (connection_ == nullptr) return;
  connection_->revoked.store(true, std::memory_order_seq_cst);
  // The reader is a thread of this process within one slice of a kernel.
  while (connection_->reading.load(std::memory_order_seq_cst)) sched_yield();
}

Receiver::Receiver(std::shared_ptr<Connection> connection, const QueueShape& shape)
    : connection_(std::move(connection)),
      queues_(connection_->memory, shape, &connection_->sender_bell->doorbell(), nullptr) {}

const void* Receiver::view(const SlotHeader& message) {
  if ((message.flags & kReference) == 0) return nullptr;
  connection_->reading.store(true, std::memory_order_seq_cst);
  if (!connection_->revoked.load(std::memory_order_seq_cst))
    return reinterpret_cast<const void*>(reference_of(message).address);  // the same address space
  end_view();
  return nullptr;
}

Status Receiver::pull(const SlotHeader& message, size_t offset, void* to, size_t bytes) {
  TUTTI_RETURN_IF_ERROR(check_reference(message, offset, bytes));
  const void* from = view(message);
  if (from == nullptr) return Status(Code::kRemoteError, "the sender has taken its memory back");
  std::memcpy(to, static_cast<const std::byte*>(from) + offset, bytes);
  end_view();
  return {};
}

}  // namespace tutti::transport::in_process
