// The inline payload of a kReference message (slot_queue.h): which memory of the producer is meant. `bytes` of the
// slot's header is the length of that memory, which may be larger than a slot where the transport says so.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/status.h"
#include "transport/slot_queue.h"

namespace tutti::transport {

struct Reference {
  uint64_t address = 0;  // in the producer's process
  uint64_t region = 0;   // Registration::handle, 0: not registered
};
static_assert(sizeof(Reference) == kInlineBytes);

inline void write_reference(SlotHeader* slot, const void* address, uint64_t region = 0) {
  const Reference reference{reinterpret_cast<uintptr_t>(address), region};
  std::memcpy(slot->inline_payload, &reference, sizeof reference);
}

inline Reference reference_of(const SlotHeader& slot) {
  Reference reference;
  std::memcpy(&reference, slot.inline_payload, sizeof reference);
  return reference;
}

// Whether `bytes` bytes at `offset` lie in the memory that `message` names.
inline Status check_reference(const SlotHeader& message, size_t offset, size_t bytes) {
  if ((message.flags & kReference) == 0)
    return error(Code::kInternalError, "a pull from a message of {} bytes that is no reference", message.bytes);
  if (offset > message.bytes || bytes > message.bytes - offset)
    return error(Code::kInternalError, "a pull of {} bytes at {} from a reference to {} bytes", bytes, offset,
                 message.bytes);
  return {};
}

}  // namespace tutti::transport
