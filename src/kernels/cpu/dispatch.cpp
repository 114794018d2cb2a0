// Which table this processor gets: detection is the compiler's own (which also asks whether the operating system saves
// the registers), since Highway's would need its library.
#include <array>
#include <cstring>

#include "base/config.h"
#include "kernels/cpu/tables.h"
#include "kernels/kernels.h"

namespace tutti::kernels {
namespace {

using FillFunction = void (*)(KernelTable*);

struct Target {
  const char* name;
  bool (*runs_here)();
  std::array<FillFunction, 5> fill;
};

#define TUTTI_FILL_FUNCTIONS(target_namespace)                                                          \
  {                                                                                                     \
    target_namespace::fill_copy, target_namespace::fill_convert, target_namespace::fill_reduce_integer, \
        target_namespace::fill_reduce_float, target_namespace::fill_reduce_small_float                  \
  }

#if defined(__x86_64__) || defined(__i386__)
// The instructions that Highway's targets of these names may use.
[[maybe_unused]] bool has_sse4() {
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes");
}
[[maybe_unused]] bool has_avx2() {
  return has_sse4() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}
[[maybe_unused]] bool has_avx3() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
}
#else
[[maybe_unused]] bool always() {
  return true;
}
#endif

// The best first.
constexpr Target kTargets[] = {
#if HWY_TARGETS & HWY_AVX3
    {"AVX3", has_avx3, TUTTI_FILL_FUNCTIONS(N_AVX3)},
#endif
#if HWY_TARGETS & HWY_AVX2
    {"AVX2", has_avx2, TUTTI_FILL_FUNCTIONS(N_AVX2)},
#endif
#if HWY_TARGETS & HWY_SSE4
    {"SSE4", has_sse4, TUTTI_FILL_FUNCTIONS(N_SSE4)},
#endif
#if HWY_TARGETS & HWY_NEON
    {"NEON", always, TUTTI_FILL_FUNCTIONS(N_NEON)},
#endif
#if HWY_TARGETS & HWY_NEON_WITHOUT_AES
    {"NEON", always, TUTTI_FILL_FUNCTIONS(N_NEON_WITHOUT_AES)},
#endif
};
constexpr size_t kSimdTargets = std::size(kTargets);

#undef TUTTI_FILL_FUNCTIONS

// The tables that run here, the best first; SCALAR is the last.
struct Tables {
  std::array<KernelTable, kSimdTargets + 1> table;
  size_t count = 0;

  Tables() {
    for (const Target& target : kTargets) {
      if (!target.runs_here()) continue;
      KernelTable& next = table[count++];
      next.target = target.name;
      for (FillFunction fill : target.fill) fill(&next);
    }
    table[count++] = scalar_table();
  }
};

const Tables& tables() {
  static const Tables all;
  return all;
}

const KernelTable& chosen() {
  const Result<Config>& config = process_config();
  if (config.ok() && config.value().simd.has_value()) {
    const KernelTable* wanted = host_kernels_for(config.value().simd->c_str());
    if (wanted != nullptr) return *wanted;
  }
  return tables().table[0];
}

}  // namespace

const KernelTable& host_kernels() {
  static const KernelTable& table = chosen();
  return table;
}

const KernelTable* host_kernels_for(const char* target) {
  const Tables& all = tables();
  for (size_t i = 0; i < all.count; ++i)
    if (std::strcmp(all.table[i].target, target) == 0) return &all.table[i];
  return nullptr;
}

}  // namespace tutti::kernels
