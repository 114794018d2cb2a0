// The reduce kernel: each thread computes packs of 16 bytes (or single elements where a pointer is not aligned) from
// all sources, and stores them to all destinations.
#include "kernels/cuda/reduce.cuh"

#include "kernels/arithmetic/operations.h"

namespace tutti::kernels::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr size_t kPackBytes = 16;

// A ReduceCall by value: kernel arguments are copied, pointers to host arrays would not be readable.
struct Arguments {
  void* dst[kMostDestinations];
  const void* src[kMostSources];
  int destinations;
  int sources;
  size_t count;
  uint64_t scaled;
  Scalar scalar;
  uint32_t divisor;
};

// kElements of a type that are read and written at once; aligned to `kAlignment` bytes in memory.
template <class Storage, size_t kElements, size_t kAlignment>
struct alignas(kAlignment) Pack {
  Storage element[kElements];
};
// An element at any address.
template <class Storage>
struct UnalignedPack {
  unsigned char bytes[sizeof(Storage)];
};

template <class Storage>
struct Aligned {
  static constexpr size_t kElements = kPackBytes / sizeof(Storage);
  using Packed = Pack<Storage, kElements, kPackBytes>;
  __device__ static Storage get(const Packed& pack, size_t i) { return pack.element[i]; }
  __device__ static void set(Packed& pack, size_t i, Storage value) { pack.element[i] = value; }
};
template <class Storage>
struct Unaligned {
  static constexpr size_t kElements = 1;
  using Packed = UnalignedPack<Storage>;
  __device__ static Storage get(const Packed& pack, size_t) {
    Storage value;
    memcpy(&value, pack.bytes, sizeof(value));
    return value;
  }
  __device__ static void set(Packed& pack, size_t, Storage value) { memcpy(pack.bytes, &value, sizeof(value)); }
};

// Packs first, first + step, ... below `packs`, counted from element `begin`.
template <DataType type, ReduceOp op, class Access>
__device__ void reduce_packs(const Arguments& arguments, size_t begin, size_t packs, size_t first, size_t step) {
  using Fold = arithmetic::Fold<type, op>;
  using Storage = typename Fold::Storage;
  using Accumulator = typename Fold::Accumulator;
  using Packed = typename Access::Packed;
  constexpr size_t kElements = Access::kElements;

  Storage stored_factor;
  memcpy(&stored_factor, arguments.scalar.bytes, sizeof(stored_factor));
  const Accumulator factor = arithmetic::Format<type>::load(stored_factor);
  const bool plain_copy = arguments.sources == 1 && arguments.scaled == 0 && arguments.divisor == 0;
  const size_t offset = begin * sizeof(Storage);

  for (size_t at = first; at < packs; at += step) {
    const auto source = [&](int s) {
      return reinterpret_cast<const Packed*>(static_cast<const unsigned char*>(arguments.src[s]) + offset)[at];
    };
    Packed result = source(0);
    if (!plain_copy) {
      Accumulator total[kElements];
      const bool scaled = arithmetic::is_scaled(arguments.scaled, 0);
      for (size_t i = 0; i < kElements; ++i) total[i] = Fold::first(Access::get(result, i), scaled, factor);
      for (int s = 1; s < arguments.sources; ++s) {
        const Packed operand = source(s);
        const bool scaled_too = arithmetic::is_scaled(arguments.scaled, s);
        for (size_t i = 0; i < kElements; ++i)
          total[i] = Fold::next(total[i], Access::get(operand, i), scaled_too, factor);
      }
      for (size_t i = 0; i < kElements; ++i) Access::set(result, i, Fold::finish(total[i], arguments.divisor));
    }
    for (int d = 0; d < arguments.destinations; ++d)
      reinterpret_cast<Packed*>(static_cast<unsigned char*>(arguments.dst[d]) + offset)[at] = result;
  }
}

template <DataType type, ReduceOp op>
__global__ void __launch_bounds__(kThreads) reduce_kernel(Arguments arguments, bool aligned) {
  using Storage = typename arithmetic::Format<type>::Storage;
  const size_t first = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const size_t step = size_t{gridDim.x} * blockDim.x;
  size_t done = 0;
  if (aligned) {
    constexpr size_t kElements = Aligned<Storage>::kElements;
    const size_t packs = arguments.count / kElements;
    reduce_packs<type, op, Aligned<Storage>>(arguments, 0, packs, first, step);
    done = packs * kElements;
  }
  reduce_packs<type, op, Unaligned<Storage>>(arguments, done, arguments.count - done, first, step);
}

using Kernel = void (*)(Arguments, bool);

template <DataType type>
Kernel kernel_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kProd: return reduce_kernel<type, ReduceOp::kProd>;
    case ReduceOp::kMax: return reduce_kernel<type, ReduceOp::kMax>;
    case ReduceOp::kMin: return reduce_kernel<type, ReduceOp::kMin>;
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
    case ReduceOp::kPreMulSum: break;
  }
  return reduce_kernel<type, ReduceOp::kSum>;
}

Kernel kernel_of(DataType type, ReduceOp op) {
  switch (type) {
    case DataType::kInt8: return kernel_of<DataType::kInt8>(op);
    case DataType::kUint8: return kernel_of<DataType::kUint8>(op);
    case DataType::kInt32: return kernel_of<DataType::kInt32>(op);
    case DataType::kUint32: return kernel_of<DataType::kUint32>(op);
    case DataType::kInt64: return kernel_of<DataType::kInt64>(op);
    case DataType::kUint64: return kernel_of<DataType::kUint64>(op);
    case DataType::kFloat16: return kernel_of<DataType::kFloat16>(op);
    case DataType::kFloat32: return kernel_of<DataType::kFloat32>(op);
    case DataType::kFloat64: return kernel_of<DataType::kFloat64>(op);
    case DataType::kBfloat16: return kernel_of<DataType::kBfloat16>(op);
    case DataType::kFloat8e4m3: return kernel_of<DataType::kFloat8e4m3>(op);
    case DataType::kFloat8e5m2: return kernel_of<DataType::kFloat8e5m2>(op);
  }
  return nullptr;
}

bool is_aligned(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % kPackBytes == 0;
}

}  // namespace

bool launch_reduce(DataType type, ReduceOp op, const ReduceCall& call, unsigned blocks, cudaStream_t stream) {
  if (call.sources > kMostSources || call.destinations > kMostDestinations) return false;
  if (call.count == 0) return true;  // CUDA refuses empty grids
  Arguments arguments{};
  arguments.destinations = call.destinations;
  arguments.sources = call.sources;
  arguments.count = call.count;
  arguments.scaled = call.scaled;
  arguments.scalar = call.scalar;
  arguments.divisor = call.divisor;
  bool aligned = true;
  for (int i = 0; i < call.destinations; ++i) {
    arguments.dst[i] = call.dst[i];
    aligned = aligned && is_aligned(call.dst[i]);
  }
  for (int i = 0; i < call.sources; ++i) {
    arguments.src[i] = call.src[i];
    aligned = aligned && is_aligned(call.src[i]);
  }
  const size_t elements_a_block = kThreads * (aligned ? kPackBytes / size_of(type) : 1);
  const size_t useful = (call.count + elements_a_block - 1) / elements_a_block;
  const dim3 grid(static_cast<unsigned>(useful < blocks ? useful : blocks));
  launch(kernel_of(type, op), grid, dim3(kThreads), 0, stream, arguments, aligned);
  return true;
}

}  // namespace tutti::kernels::cuda
