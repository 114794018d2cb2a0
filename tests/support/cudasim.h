// Runs CUDA kernels on the CPU, so that their own source is tested where there is no GPU.
//
// Include this header before the kernel's source in a file that an ordinary C++ compiler compiles; nvcc never sees it.
// Each CUDA thread is a fiber, each block one OS thread (so that __shared__ is `static thread_local`). launch() runs
// the whole grid and returns when it has ended; all blocks run at once, as in a cooperative launch.
//
// What a kernel must keep to: it is started by launch(), never by <<<>>>; dynamic shared memory is declared with
// DYNAMIC_SHARED; a loop that waits for another block or rank calls spin_pause(). A block all of whose threads wait at
// barriers that cannot complete ends the program with a message. Warps are not in lockstep, and memory is that of the
// host: the simulation shows wrong arithmetic, indices and barriers, not missing fences.
//
// Environment: CUDASIM_STACK, bytes of stack a thread (65536); CUDASIM_WORKERS, OS threads a launch (one a block), only
// for kernels whose blocks do not wait for each other.
#pragma once

#ifdef __CUDACC__
#error "cudasim.h is for compilers that do not know CUDA"
#endif

#include <sched.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <type_traits>
#include <vector>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#define TUTTI_CUDASIM 1
#define __global__ static
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __constant__ static
#define __shared__ static thread_local
#define DYNAMIC_SHARED(T, name) T* name = reinterpret_cast<T*>(cudasim::block->shared_memory)

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_size = 1, unsigned y_size = 1, unsigned z_size = 1)  // NOLINT(google-explicit-constructor)
      : x(x_size), y(y_size), z(z_size) {}
  unsigned total() const { return x * y * z; }
};
struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};
using cudaStream_t = void*;

namespace cudasim {

#if defined(__x86_64__)
// Saves the callee-saved registers on the old stack and takes up the new one.
extern "C" void cudasim_switch(void** from_stack, void* to_stack);
__asm__(
    ".pushsection .text.cudasim_switch,\"axG\",@progbits,cudasim_switch,comdat\n"
    ".weak cudasim_switch\n"
    ".type cudasim_switch,@function\n"
    "cudasim_switch:\n"
    "push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
    "mov %rsp,(%rdi); mov %rsi,%rsp\n"
    "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp; ret\n"
    ".popsection\n");
struct Context {
  void* stack = nullptr;
};
inline void switch_to(Context& from, Context& to) {
  cudasim_switch(&from.stack, to.stack);
}
#else
struct Context {
  ucontext_t state;
};
inline void switch_to(Context& from, Context& to) {
  swapcontext(&from.state, &to.state);
}
#endif

constexpr unsigned kWarpSize = 32;
constexpr unsigned kNamedBarriers = 16;
constexpr size_t kShuffleBytes = 16;

struct Fiber {
  Context context;
  dim3 thread_index;
  unsigned lane = 0;
  unsigned warp = 0;
  bool done = false;
  // Runs on when *waits_for is no longer `generation`.
  const unsigned* waits_for = nullptr;
  unsigned generation = 0;
};

struct Barrier {
  unsigned arrived = 0;
  unsigned generation = 0;
};

struct Warp {
  Barrier barrier[kWarpSize];  // one for each lowest lane of a mask: masks of divergent branches do not meet
  // Two slots a lane, used in turn: a fast lane may write its next value while a slow one reads the last.
  alignas(16) unsigned char slot[2][kWarpSize][kShuffleBytes] = {};
  unsigned live = 0;  // bit i: lane i has not returned
};

struct Block {
  dim3 index;
  dim3 size;
  dim3 grid;
  char* shared_memory = nullptr;
  unsigned live = 0;
  unsigned polls = 0;  // counts spin_pause
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  Barrier barrier[kNamedBarriers];
  const std::function<void()>* body = nullptr;
  Context scheduler;
};

inline thread_local Block* block = nullptr;
inline thread_local Fiber* self = nullptr;

inline void arrive_and_wait(Barrier& barrier, unsigned needed) {
  if (++barrier.arrived >= needed) {
    barrier.arrived = 0;
    ++barrier.generation;
    return;
  }
  self->waits_for = &barrier.generation;
  self->generation = barrier.generation;
  switch_to(self->context, block->scheduler);
}

[[noreturn]] inline void fiber_main() {
  (*block->body)();
  self->done = true;
  block->warps[self->warp].live &= ~(1u << self->lane);
  --block->live;
  // Threads that have returned do not hold __syncthreads up.
  Barrier& all = block->barrier[0];
  if (block->live != 0 && all.arrived == block->live) {
    all.arrived = 0;
    ++all.generation;
  }
  switch_to(self->context, block->scheduler);
  abort();
}

// Prepares a fiber to enter fiber_main on the `bytes` of stack that end at `top`.
inline void prepare(Fiber& fiber, char* top, size_t bytes) {
#if defined(__x86_64__)
  (void)bytes;
  constexpr int kSavedRegisters = 6;
  void** entry = reinterpret_cast<void**>(top) - 2;  // keeps the stack pointer at 8 modulo 16 at the entry
  *entry = reinterpret_cast<void*>(&fiber_main);
  fiber.context.stack = entry - kSavedRegisters;
#else
  getcontext(&fiber.context.state);
  fiber.context.state.uc_stack.ss_sp = top - bytes;
  fiber.context.state.uc_stack.ss_size = bytes;
  makecontext(&fiber.context.state, reinterpret_cast<void (*)()>(fiber_main), 0);
#endif
}

inline bool is_runnable(const Fiber& fiber) {
  return !fiber.done && (fiber.waits_for == nullptr || *fiber.waits_for != fiber.generation);
}

// Runs one block to its end on the calling OS thread. `stacks` has `stack_bytes` for each thread.
inline void run_block(Block& running, char* stacks, size_t stack_bytes) {
  block = &running;
  running.live = static_cast<unsigned>(running.fibers.size());
  for (unsigned i = 0; i < running.live; ++i) {
    Fiber& fiber = running.fibers[i];
    const dim3& size = running.size;
    fiber.thread_index = dim3(i % size.x, i / size.x % size.y, i / size.x / size.y);
    fiber.lane = i % kWarpSize;
    fiber.warp = i / kWarpSize;
    running.warps[fiber.warp].live |= 1u << fiber.lane;
    const size_t stagger = i % 61 * 128;  // equal offsets would share cache sets
    prepare(fiber, stacks + (i + 1) * stack_bytes - stagger, stack_bytes - stagger);
  }
  while (running.live != 0) {
    bool ran = false;
    const unsigned polls_before = running.polls;
    for (Fiber& fiber : running.fibers) {
      if (!is_runnable(fiber)) continue;
      fiber.waits_for = nullptr;
      self = &fiber;
      ran = true;
      switch_to(running.scheduler, fiber.context);
    }
    if (!ran) {
      fprintf(stderr, "cudasim: block (%u,%u,%u) is stuck: %u threads wait at barriers that cannot complete\n",
              running.index.x, running.index.y, running.index.z, running.live);
      abort();
    }
    if (running.polls != polls_before) sched_yield();  // somebody waits for another block or rank
  }
  block = nullptr;
  self = nullptr;
}

inline void sync_warp(unsigned mask) {
  Warp& warp = block->warps[self->warp];
  arrive_and_wait(warp.barrier[__builtin_ctz(mask)], static_cast<unsigned>(__builtin_popcount(mask & warp.live)));
}

// Every lane of the mask gives a value and gets that of `source`.
template <class T>
T exchange(unsigned mask, T value, unsigned source) {
  static_assert(sizeof(T) <= kShuffleBytes, "shuffle of a large type");
  Warp& warp = block->warps[self->warp];
  const unsigned turn = warp.barrier[__builtin_ctz(mask)].generation & 1;
  memcpy(warp.slot[turn][self->lane], &value, sizeof(value));
  sync_warp(mask);
  T result;
  memcpy(&result, warp.slot[turn][source], sizeof(result));
  return result;
}

inline size_t setting(const char* name, size_t otherwise) {
  const char* text = getenv(name);
  return text != nullptr ? static_cast<size_t>(atol(text)) : otherwise;
}

// The blocks first, first + step, ... of a launch, one after the other on this OS thread.
inline void run_blocks(unsigned first, unsigned step, dim3 grid, dim3 size, size_t shared_bytes,
                       const std::function<void()>& body) {
  const size_t stack_bytes = setting("CUDASIM_STACK", 64 << 10);
  const size_t all_bytes = stack_bytes * size.total();
  void* stacks = mmap(nullptr, all_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) {
    perror("cudasim: stacks");
    abort();
  }
  std::vector<uint4> shared(shared_bytes / sizeof(uint4) + 1);
  for (unsigned i = first; i < grid.total(); i += step) {
    Block running;
    running.index = dim3(i % grid.x, i / grid.x % grid.y, i / grid.x / grid.y);
    running.size = size;
    running.grid = grid;
    running.fibers.resize(size.total());
    running.warps.resize((size.total() + kWarpSize - 1) / kWarpSize);
    running.body = &body;
    running.shared_memory = reinterpret_cast<char*>(shared.data());
    run_block(running, static_cast<char*>(stacks), stack_bytes);
  }
  munmap(stacks, all_bytes);
}

}  // namespace cudasim

#define threadIdx (cudasim::self->thread_index)
#define blockIdx (cudasim::block->index)
#define blockDim (cudasim::block->size)
#define gridDim (cudasim::block->grid)
constexpr int warpSize = cudasim::kWarpSize;

inline void spin_pause() {
  ++cudasim::block->polls;
  cudasim::switch_to(cudasim::self->context, cudasim::block->scheduler);
}
inline void __nanosleep(unsigned) {
  spin_pause();
}
inline void __syncthreads() {
  cudasim::arrive_and_wait(cudasim::block->barrier[0], cudasim::block->live);
}
// bar.sync id, threads
inline void bar_sync(int id, int threads) {
  cudasim::arrive_and_wait(cudasim::block->barrier[id], static_cast<unsigned>(threads));
}
inline void __syncwarp(unsigned mask = ~0u) {
  cudasim::sync_warp(mask);
}
inline void __threadfence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence_system() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence_block() {}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
  const unsigned within = static_cast<unsigned>(width) - 1;
  return cudasim::exchange(mask, value, (cudasim::self->lane & ~within) | (static_cast<unsigned>(source) & within));
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const unsigned lane = cudasim::self->lane;
  const unsigned size = static_cast<unsigned>(width);
  return cudasim::exchange(mask, value, (lane & (size - 1)) + delta < size ? lane + delta : lane);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const unsigned lane = cudasim::self->lane;
  return cudasim::exchange(mask, value, (lane & (static_cast<unsigned>(width) - 1)) >= delta ? lane - delta : lane);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes) {
  return cudasim::exchange(mask, value, cudasim::self->lane ^ static_cast<unsigned>(lanes));
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const unsigned mine = predicate != 0;
  unsigned votes = 0;
  for (unsigned i = 0; i < cudasim::kWarpSize; ++i)
    if (mask >> i & 1) votes |= __shfl_sync(mask, mine, static_cast<int>(i)) << i;
  return votes;
}
inline int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) == mask;
}

template <class T>
T atomicAdd(T* at, T value) {
  if constexpr (std::is_integral_v<T>) {
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
  } else {
    T old;
    __atomic_load(at, &old, __ATOMIC_RELAXED);
    T next = old + value;
    while (!__atomic_compare_exchange(at, &old, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) next = old + value;
    return old;
  }
}
template <class T>
T atomicCAS(T* at, T expected, T value) {
  __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
template <class T>
T atomicExch(T* at, T value) {
  return __atomic_exchange_n(at, value, __ATOMIC_RELAXED);
}

// Runs the whole grid and returns when it has ended.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 size, size_t shared_bytes, cudaStream_t /*stream*/,
            Arguments... arguments) {
  const std::function<void()> body = [&] { kernel(Parameters(arguments)...); };
  const unsigned workers = static_cast<unsigned>(cudasim::setting("CUDASIM_WORKERS", grid.total()));
  std::vector<std::thread> threads;
  for (unsigned worker = 0; worker < workers && worker < grid.total(); ++worker)
    threads.emplace_back(cudasim::run_blocks, worker, workers, grid, size, shared_bytes, std::cref(body));
  for (std::thread& thread : threads) thread.join();
}
