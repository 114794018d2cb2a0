// Copies, for each instruction set.
#include <cstring>

#include "kernels/cpu/highway_config.h"
#include "kernels/cpu/tables.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/copy.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if TUTTI_SIMD_BODY
HWY_BEFORE_NAMESPACE();
namespace tutti::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

// What stays in the first cache between the copies to several destinations.
constexpr size_t kBlock = 8192;
// Below this non-temporal stores do not pay for their fence.
constexpr size_t kSmallestStream = 4096;

void copy_plain(void* dst, const void* src, size_t bytes) {
  if (dst != src) std::memcpy(dst, src, bytes);
}

// Non-temporal stores. bytes >= kSmallestStream; dst is not src.
void copy_streaming(unsigned char* dst, const unsigned char* src, size_t bytes) {
  const hn::ScalableTag<uint8_t> d;
  constexpr size_t kStep = HWY_LANES(uint8_t);
  const size_t head = (kStep - reinterpret_cast<uintptr_t>(dst) % kStep) % kStep;
  std::memcpy(dst, src, head);
  size_t at = head;
  for (; at + 4 * kStep <= bytes; at += 4 * kStep) {
    const auto v0 = hn::LoadU(d, src + at);
    const auto v1 = hn::LoadU(d, src + at + kStep);
    const auto v2 = hn::LoadU(d, src + at + 2 * kStep);
    const auto v3 = hn::LoadU(d, src + at + 3 * kStep);
    hn::Stream(v0, d, dst + at);
    hn::Stream(v1, d, dst + at + kStep);
    hn::Stream(v2, d, dst + at + 2 * kStep);
    hn::Stream(v3, d, dst + at + 3 * kStep);
  }
  std::memcpy(dst + at, src + at, bytes - at);
}

}  // namespace

// Not static: the reductions of this target call it for a single source.
void copy(void* const* dst, int destinations, const void* src, size_t bytes, bool streaming) {
  const bool stream = streaming && bytes >= kSmallestStream && dst[0] != src;
  if (destinations == 1 && !stream) return copy_plain(dst[0], src, bytes);
  for (size_t at = 0; at < bytes; at += kBlock) {
    const size_t size = HWY_MIN(kBlock, bytes - at);
    const unsigned char* from = static_cast<const unsigned char*>(src) + at;
    unsigned char* first = static_cast<unsigned char*>(dst[0]) + at;
    if (stream && size >= kSmallestStream) {
      copy_streaming(first, from, size);
    } else {
      copy_plain(first, from, size);
    }
    for (int i = 1; i < destinations; ++i) copy_plain(static_cast<unsigned char*>(dst[i]) + at, from, size);
  }
  if (stream) hwy::FlushStream();
}

void fill_copy(KernelTable* table) {
  table->copy = copy;
}

}  // namespace tutti::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
