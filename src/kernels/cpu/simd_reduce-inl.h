// Reductions in vectors: reduce<type, op> is what a table holds.
//
// Each output element depends on its operands only, so any vector may compute any element. That settles heads and
// tails: the last (and for aligned stores the first) vector overlaps its neighbours. It is computed before anything is
// stored, since a destination may be one of the sources.
#if defined(TUTTI_KERNELS_CPU_SIMD_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TUTTI_KERNELS_CPU_SIMD_REDUCE_INL_H_
#undef TUTTI_KERNELS_CPU_SIMD_REDUCE_INL_H_
#else
#define TUTTI_KERNELS_CPU_SIMD_REDUCE_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <type_traits>

#include "kernels/arithmetic/operations.h"
#include "kernels/cpu/divide.h"
#include "kernels/cpu/simd_formats-inl.h"
#include "kernels/cpu/simd_operations-inl.h"
#include "kernels/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace tutti::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void copy(void* const* dst, int destinations, const void* src, size_t bytes, bool streaming);

// A PreMulSum's factor and an average's divisor, as accumulators. Integers are divided afterwards (divide.h).
template <class Lane>
struct Extras {
  uint64_t scaled = 0;
  Lane factor{};
  Lane divisor{};  // 0: none
};

// kSources: 2, or 0 for as many as the call says. kExtra: with scaling and division.
template <DataType type, ReduceOp op, int kSources, bool kExtra>
class Reduction {
 public:
  using Format = VectorFormat<type>;
  using Storage = typename Format::Storage;
  using Lane = typename Format::Lane;

  static void run(const ReduceCall& call) {
    const Reduction reduction(call);
    if (call.count >= kLanes) {
      reduction.run_long();
    } else if constexpr (kCompact) {
      reduction.run_one_by_one();
    } else {
      reduction.template run_short<kLanes / 2>();
    }
  }

 private:
  static constexpr size_t kLanes = HWY_LANES(Lane);
  static constexpr size_t kStep = kLanes * sizeof(Storage);
  static constexpr size_t kUnroll = 4;
  // The rarer calls are compiled without the short and unrolled forms: those are most of the code.
  static constexpr bool kCompact = kExtra || op != ReduceOp::kSum;
  // Non-temporal stores end with a fence and work in whole vectors: below this many bytes they do not pay.
  static constexpr size_t kSmallestStream = 4096;
  static constexpr bool kCanStream = kStep >= 16;

  explicit HWY_INLINE Reduction(const ReduceCall& call)
      : dst_(static_cast<unsigned char*>(call.dst[0])),
        src0_(static_cast<const unsigned char*>(call.src[0])),
        src1_(static_cast<const unsigned char*>(call.src[kSources == 2 ? 1 : 0])),
        call_(call) {
    if constexpr (kExtra) {
      Storage factor;
      std::memcpy(&factor, call.scalar.bytes, sizeof(factor));
      extras_.scaled = call.scaled;
      extras_.factor = arithmetic::Format<type>::load(factor);
      if constexpr (hwy::IsFloat<Lane>()) extras_.divisor = static_cast<Lane>(call.divisor);
    }
  }

  template <class D>
  HWY_INLINE hn::VFromD<D> operand(D d, int source, size_t byte) const {
    const auto value = load<type>(d, static_cast<const unsigned char*>(call_.src[source]) + byte);
    if constexpr (kExtra) {
      if (arithmetic::is_scaled(extras_.scaled, source)) return product(d, value, hn::Set(d, extras_.factor));
    }
    return value;
  }

  template <class D>
  HWY_INLINE Stored<type, D> finish(D d, hn::VFromD<D> total) const {
    if constexpr (kExtra && hwy::IsFloat<Lane>()) {
      if (extras_.divisor != 0) total = hn::Div(total, hn::Set(d, extras_.divisor));
    }
    return Format::encode(d, total);
  }

  // The result for the lanes of D that begin at byte offset `byte` of every buffer.
  template <class D>
  HWY_INLINE Stored<type, D> reduced(D d, size_t byte) const {
    if constexpr (kSources == 2) {
      return finish(d, combine<op>(d, load<type>(d, src0_ + byte), load<type>(d, src1_ + byte)));
    } else {
      auto total = operand(d, 0, byte);
      for (int source = 1; source < call_.sources; ++source) total = combine<op>(d, total, operand(d, source, byte));
      return finish(d, total);
    }
  }

  template <class D>
  HWY_INLINE void store_all(D d, Stored<type, D> result, size_t byte) const {
    store<type>(d, result, dst_ + byte);
    store_others(d, result, byte);
  }
  template <class D>
  HWY_INLINE void store_others(D d, Stored<type, D> result, size_t byte) const {
    for (int i = 1; i < call_.destinations; ++i)
      store<type>(d, result, static_cast<unsigned char*>(call_.dst[i]) + byte);
  }

  // Fewer elements than a vector has: two overlapping vectors of the largest size that fits.
  template <size_t kWidth>
  HWY_INLINE void run_short() const {
    if constexpr (kWidth > 1) {
      if (call_.count < kWidth) return run_short<kWidth / 2>();
    }
    if constexpr (kWidth >= 1) {
      const hn::CappedTag<Lane, kWidth> d;
      const size_t last_byte = (call_.count - kWidth) * sizeof(Storage);
      const auto first = reduced(d, 0);
      const auto last = reduced(d, last_byte);
      store_all(d, first, 0);
      store_all(d, last, last_byte);
    }
  }

  HWY_INLINE void run_one_by_one() const {
    const hn::CappedTag<Lane, 1> d;
    for (size_t i = 0; i < call_.count; ++i) {
      const size_t byte = i * sizeof(Storage);
      store_all(d, reduced(d, byte), byte);
    }
  }

  HWY_INLINE void run_long() const {
    const hn::ScalableTag<Lane> d;
    const size_t end = (call_.count - kLanes) * sizeof(Storage);  // where the last vector begins
    const bool stream = kCanStream && call_.streaming && end >= kSmallestStream &&
                        reinterpret_cast<uintptr_t>(dst_) % sizeof(Storage) == 0;
    const auto last = reduced(d, end);
    if (stream) {
      const auto first = reduced(d, 0);
      run_body(d, kStep - reinterpret_cast<uintptr_t>(dst_) % kStep, end, true);
      hwy::FlushStream();
      store_all(d, first, 0);
    } else {
      run_body(d, 0, end, false);
    }
    store_all(d, last, end);
  }

  // Everything from `byte` up to `end`, where the last vector takes over; the last store may reach into that.
  template <class D>
  HWY_NOINLINE void run_body(D d, size_t byte, size_t end, bool stream) const {
    if constexpr (!kExtra) {
      for (; byte + (kUnroll - 1) * kStep < end; byte += kUnroll * kStep) {
        const auto block = reduced_block(d, byte);
        put(d, block.v0, byte, stream);
        put(d, block.v1, byte + kStep, stream);
        put(d, block.v2, byte + 2 * kStep, stream);
        put(d, block.v3, byte + 3 * kStep, stream);
      }
    }
    for (; byte < end; byte += kStep) put(d, reduced(d, byte), byte, stream);
  }

  // Stores past the caches if told to; dst_ + byte is then a multiple of the vector's size.
  template <class D>
  HWY_INLINE void put(D d, Stored<type, D> result, size_t byte, bool stream) const {
    if (kCanStream && stream) {
      hn::Stream(result, StorageTag<type, D>(), reinterpret_cast<Storage*>(dst_ + byte));
      store_others(d, result, byte);
    } else {
      store_all(d, result, byte);
    }
  }

  // kUnroll vectors at once: the pointer of each source is read once for all, and the additions overlap.
  template <class D>
  struct Block {
    Stored<type, D> v0, v1, v2, v3;
  };
  template <class D>
  HWY_INLINE Block<D> reduced_block(D d, size_t byte) const {
    if constexpr (kSources == 2) {
      return {reduced(d, byte), reduced(d, byte + kStep), reduced(d, byte + 2 * kStep), reduced(d, byte + 3 * kStep)};
    } else {
      auto t0 = operand(d, 0, byte);
      auto t1 = operand(d, 0, byte + kStep);
      auto t2 = operand(d, 0, byte + 2 * kStep);
      auto t3 = operand(d, 0, byte + 3 * kStep);
      for (int source = 1; source < call_.sources; ++source) {
        t0 = combine<op>(d, t0, operand(d, source, byte));
        t1 = combine<op>(d, t1, operand(d, source, byte + kStep));
        t2 = combine<op>(d, t2, operand(d, source, byte + 2 * kStep));
        t3 = combine<op>(d, t3, operand(d, source, byte + 3 * kStep));
      }
      return {finish(d, t0), finish(d, t1), finish(d, t2), finish(d, t3)};
    }
  }

  unsigned char* const dst_;
  const unsigned char* const src0_;
  const unsigned char* const src1_;
  const ReduceCall& call_;
  Extras<Lane> extras_;
};

// Sums and products of signed integers are those of unsigned ones: one instance for both.
template <DataType type, ReduceOp op>
constexpr DataType computed_as() {
  if constexpr (op == ReduceOp::kSum || op == ReduceOp::kProd) {
    switch (type) {
      case DataType::kInt8: return DataType::kUint8;
      case DataType::kInt32: return DataType::kUint32;
      case DataType::kInt64: return DataType::kUint64;
      default: return type;
    }
  }
  return type;
}

template <DataType type, ReduceOp op>
void reduce(const ReduceCall& call) {
  constexpr DataType kType = computed_as<type, op>();
  using Storage = typename VectorFormat<type>::Storage;
  if (call.count == 0) return;
  if ((call.scaled | call.divisor) == 0) {
    if constexpr (op == ReduceOp::kSum)
      if (call.sources == 2) return Reduction<kType, op, 2, false>::run(call);
    if (call.sources == 1)
      return copy(call.dst, call.destinations, call.src[0], call.count * sizeof(Storage), call.streaming);
    return Reduction<kType, op, 0, false>::run(call);
  }
  if constexpr (arithmetic::Format<type>::kFloating) {
    Reduction<kType, op, 0, true>::run(call);
  } else {
    reduce_then_divide<Storage>(call, &Reduction<kType, op, 0, true>::run);
  }
}

template <DataType type>
void fill_reduce(KernelTable* table) {
  ReduceFunction* row = table->reduce[static_cast<int>(type)];
  const auto set = [row](ReduceOp op, ReduceFunction function) { row[static_cast<int>(op)] = function; };
  set(ReduceOp::kSum, reduce<type, ReduceOp::kSum>);
  set(ReduceOp::kAvg, reduce<type, ReduceOp::kSum>);
  set(ReduceOp::kPreMulSum, reduce<type, ReduceOp::kSum>);
  set(ReduceOp::kProd, reduce<type, ReduceOp::kProd>);
  set(ReduceOp::kMax, reduce<type, ReduceOp::kMax>);
  set(ReduceOp::kMin, reduce<type, ReduceOp::kMin>);
}

}  // namespace tutti::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TUTTI_KERNELS_CPU_SIMD_REDUCE_INL_H_
