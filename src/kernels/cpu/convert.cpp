// Conversions between floating types, for each instruction set. Float64 is converted one by one: it must not be rounded
// twice on its way to the small types.
#include "kernels/cpu/convert_scalar.h"
#include "kernels/cpu/highway_config.h"
#include "kernels/cpu/tables.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/convert.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if TUTTI_SIMD_BODY
#include "kernels/cpu/simd_formats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tutti::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <DataType to, DataType from>
struct VectorConversion {
  using To = typename VectorFormat<to>::Storage;
  using From = typename VectorFormat<from>::Storage;

  static void run(void* dst, const void* src, size_t count) {
    const hn::ScalableTag<float> d;
    constexpr size_t kLanes = HWY_LANES(float);
    unsigned char* out = static_cast<unsigned char*>(dst);
    const unsigned char* in = static_cast<const unsigned char*>(src);
    if (count < kLanes) return ScalarConversion<to, from>::run(dst, src, count);
    // The last vector overlaps the one before it. It is computed first, since dst may be src.
    const auto last = VectorFormat<to>::encode(d, load<from>(d, in + (count - kLanes) * sizeof(From)));
    for (size_t i = 0; i + kLanes < count; i += kLanes)
      store<to>(d, VectorFormat<to>::encode(d, load<from>(d, in + i * sizeof(From))), out + i * sizeof(To));
    store<to>(d, last, out + (count - kLanes) * sizeof(To));
  }
};

template <DataType to, DataType from>
struct Conversion : std::conditional_t<to == DataType::kFloat64 || from == DataType::kFloat64,
                                       ScalarConversion<to, from>, VectorConversion<to, from>> {};

void convert(void* dst, DataType to, const void* src, DataType from, size_t count) {
  convert_with<Conversion>(dst, to, src, from, count);
}

void fill_convert(KernelTable* table) {
  table->convert = convert;
}

}  // namespace tutti::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
