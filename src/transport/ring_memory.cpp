#include "transport/ring_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

namespace tutti::transport {
namespace {

constexpr size_t kPage = 4096;
// Processors fetch cache lines in pairs; the first slot keeps out of the credits' pair.
constexpr size_t kSlotsOffset = 2 * kCacheLine;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

size_t ring_bytes(const QueueShape& shape) {
  const size_t used = kSlotsOffset + size_t{shape.depth} * shape.stride();
  return (used + kPage - 1) / kPage * kPage;
}

}  // namespace

Status check(const QueueShape& shape) {
  if (shape.flights == 0 || shape.lanes == 0)
    return error(Code::kInvalidArgument, "queue shape with {} flights and {} lanes: both must be at least 1",
                 shape.flights, shape.lanes);
  if (!std::has_single_bit(shape.depth))
    return error(Code::kInvalidArgument, "queue depth {} is not a power of two", shape.depth);
  if (shape.slot_bytes == 0 || shape.slot_bytes % kCacheLine != 0)
    return error(Code::kInvalidArgument, "slot size of {} bytes is not a positive multiple of {}", shape.slot_bytes,
                 kCacheLine);
  return {};
}

size_t RingMemory::bytes_for(const QueueShape& shape) {
  return kPage + shape.channels() * ring_bytes(shape);
}

Result<RingMemory> RingMemory::map(const QueueShape& shape, int descriptor) {
  const size_t bytes = bytes_for(shape);
  const int flags = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED | MAP_NORESERVE;
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (base == MAP_FAILED) return system_error(errno, "mmap of {} bytes for the queues of a connection", bytes);
  // A huge page would make every first touch of a slot cost 2 MB; refusal of the advice does no harm.
  madvise(base, bytes, MADV_NOHUGEPAGE);
  return RingMemory(static_cast<std::byte*>(base), shape);
}

Result<RingMemory> RingMemory::anonymous(const QueueShape& shape) {
  return map(shape, -1);
}

Result<RingMemory> RingMemory::shareable(const QueueShape& shape, int* descriptor) {
  const int fd = memfd_create("tutti-queues", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return system_error(errno, "memfd_create for the queues of a connection");
  if (ftruncate(fd, static_cast<off_t>(bytes_for(shape))) != 0 || fcntl(fd, F_ADD_SEALS, kSeals) != 0) {
    const int cause = errno;
    close(fd);
    return system_error(cause, "sizing {} bytes of shared memory for the queues of a connection", bytes_for(shape));
  }
  auto memory = map(shape, fd);
  if (memory.ok())
    *descriptor = fd;
  else
    close(fd);
  return memory;
}

Result<RingMemory> RingMemory::adopt(const QueueShape& shape, int descriptor) {
  struct stat info {};
  const int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    return error(Code::kRemoteError, "the shared memory that was passed could shrink under its reader (seals {:#x})",
                 seals);
  if (fstat(descriptor, &info) != 0) return system_error(errno, "fstat of passed shared memory");
  if (static_cast<size_t>(info.st_size) != bytes_for(shape))
    return error(Code::kRemoteError, "the shared memory that was passed has {} bytes instead of {}", info.st_size,
                 bytes_for(shape));
  return map(shape, descriptor);
}

RingMemory::~RingMemory() {
  if (base_ != nullptr) munmap(base_, bytes_for(shape_));
}

Ring RingMemory::ring(uint32_t channel) const {
  std::byte* base = base_ + kPage + channel * ring_bytes(shape_);
  Ring ring;
  ring.slots = base + kSlotsOffset;
  ring.stride = shape_.stride();
  ring.capacity = shape_.slot_bytes;
  ring.depth = shape_.depth;
  ring.credits = reinterpret_cast<RingCredits*>(base);
  return ring;
}

}  // namespace tutti::transport
