#include "transport/in_process/connection.h"

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

Receiver::Receiver(std::shared_ptr<Connection> connection, const QueueShape& shape)
    : connection_(std::move(connection)),
      queues_(connection_->memory, shape, &connection_->sender_bell->doorbell(), nullptr) {}

Status Receiver::pull(const SlotHeader& message, size_t offset, void* to, size_t bytes) {
  TUTTI_RETURN_IF_ERROR(check_reference(message, offset, bytes));
  std::memcpy(to, static_cast<const std::byte*>(view(message)) + offset, bytes);
  return {};
}

const void* Receiver::view(const SlotHeader& message) const {
  if ((message.flags & kReference) == 0) return nullptr;
  return reinterpret_cast<const void*>(reference_of(message).address);  // the same address space
}

}  // namespace tutti::transport::in_process
