#include "common/session.h"

#include <tutti/tutti.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/format.h"
#include "common/nccl_calls.h"

namespace tutti::perf {

void fail_nccl(ncclResult_t result, const char* what, const char* file, int line) {
  const char* name = std::strrchr(file, '/');
  fail(kExitNcclError, "Test NCCL failure %s:%d '%s / %s' in %s", name == nullptr ? file : name + 1, line,
       ncclGetErrorString(result), ncclGetLastError(nullptr), what);
}

Buffer::Buffer(size_t bytes, size_t unalign_bytes, Memory memory)
    : memory_(memory), base_bytes_((bytes + unalign_bytes + 2 * kGuard + 63) / 64 * 64), bytes_(bytes) {
  if (memory == Memory::kNccl) {
    TUTTI_PERF_NCCL(ncclMemAlloc(&base_, base_bytes_));
  } else {
    base_ = std::aligned_alloc(64, base_bytes_);
    if (base_ == nullptr)
      fail(kExitInternalError, "%zu bytes of memory for one buffer are not to be had; a smaller -e needs less",
           base_bytes_);
  }
  std::memset(base_, 0, base_bytes_);
  data_ = static_cast<char*>(base_) + kGuard + unalign_bytes;
}

Buffer::~Buffer() {
  if (memory_ == Memory::kNccl) {
    TUTTI_PERF_NCCL(ncclMemFree(base_));
  } else {
    std::free(base_);
  }
}

ncclUniqueId shared_id(World& world) {
  ncclUniqueId id{};
  const bool agreed = std::getenv("NCCL_COMM_ID") != nullptr;
  if (agreed || world.rank() == 0) TUTTI_PERF_NCCL(ncclGetUniqueId(&id));
  if (agreed) return id;
  const std::string bytes = world.broadcast(std::string(reinterpret_cast<const char*>(&id), sizeof id));
  std::memcpy(&id, bytes.data(), sizeof id);
  return id;
}

void init_ranks(std::vector<Rank*> ranks, int total, const ncclUniqueId& id) {
  TUTTI_PERF_NCCL(ncclGroupStart());
  for (Rank* rank : ranks) TUTTI_PERF_NCCL(ncclCommInitRank(&rank->comm, total, id, rank->rank));
  TUTTI_PERF_NCCL(ncclGroupEnd());
}

void prepare(Rank& rank, const Args& args, size_t send_bytes, size_t receive_bytes, size_t unalign_bytes) {
  if (args.stream == StreamKind::kHost) TUTTI_PERF_NCCL(tuttiStreamCreate(&rank.stream));
  rank.send = std::make_unique<Buffer>(send_bytes, unalign_bytes, args.memory);
  rank.receive = std::make_unique<Buffer>(receive_bytes, unalign_bytes, args.memory);
  for (Buffer* buffer : {rank.send.get(), rank.receive.get()}) {
    if (args.local_register == 1) {
      void* handle = nullptr;
      TUTTI_PERF_NCCL(ncclCommRegister(rank.comm, buffer->base(), buffer->base_bytes(), &handle));
      rank.registrations.push_back(handle);
    } else if (args.local_register == 2) {
      ncclWindow_t window = nullptr;
      TUTTI_PERF_NCCL(
          ncclCommWindowRegister(rank.comm, buffer->base(), buffer->base_bytes(), &window, NCCL_WIN_COLL_SYMMETRIC));
      rank.windows.push_back(window);
    }
  }
}

void synchronize(const Rank& rank) {
  if (rank.stream != nullptr) TUTTI_PERF_NCCL(tuttiStreamSynchronize(rank.stream));
}

void release(std::vector<Rank>& ranks) {
  for (Rank& rank : ranks) {
    for (void* handle : rank.registrations) TUTTI_PERF_NCCL(ncclCommDeregister(rank.comm, handle));
    for (ncclWindow_t window : rank.windows) TUTTI_PERF_NCCL(ncclCommWindowDeregister(rank.comm, window));
    rank.send.reset();
    rank.receive.reset();
  }
  TUTTI_PERF_NCCL(ncclGroupStart());
  for (Rank& rank : ranks) TUTTI_PERF_NCCL(ncclCommDestroy(rank.comm));
  TUTTI_PERF_NCCL(ncclGroupEnd());
  for (Rank& rank : ranks)
    if (rank.stream != nullptr) TUTTI_PERF_NCCL(tuttiStreamDestroy(rank.stream));
}

}  // namespace tutti::perf
