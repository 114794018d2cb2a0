// The ranks of one thread: their communicators, streams and buffers.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "common/args.h"
#include "common/world.h"

namespace tutti::perf {

// A buffer between two guards, so that writes beyond its ends are seen.
class Buffer {
 public:
  static constexpr size_t kGuard = 64;
  // Touches every page; the start is aligned to 64 bytes plus `unalign_bytes`. Ends the process when memory is short.
  Buffer(size_t bytes, size_t unalign_bytes, Memory memory);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }  // usable from data() on
  void* base() const { return base_; }
  size_t base_bytes() const { return base_bytes_; }

 private:
  Memory memory_;
  void* base_ = nullptr;
  size_t base_bytes_;
  char* data_;
  size_t bytes_;
};

struct Rank {
  int rank = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  std::unique_ptr<Buffer> send;
  std::unique_ptr<Buffer> receive;
  std::vector<void*> registrations;
  std::vector<ncclWindow_t> windows;
};

// One id for the run. Where NCCL_COMM_ID is set each process makes it for itself, so that the secret never travels.
ncclUniqueId shared_id(World& world);

// Initialises the communicators of `ranks` (whose `rank` is set) in one group.
void init_ranks(std::vector<Rank*> ranks, int total, const ncclUniqueId& id);

// Streams, buffers of `send_bytes` and `receive_bytes`, registrations.
void prepare(Rank& rank, const Args& args, size_t send_bytes, size_t receive_bytes, size_t unalign_bytes);
// Waits for the stream (nothing to do for the NULL stream, whose calls have blocked).
void synchronize(const Rank& rank);
// Everything that prepare() and init_ranks() made. Communicators of one thread are destroyed in one group.
void release(std::vector<Rank>& ranks);

}  // namespace tutti::perf
