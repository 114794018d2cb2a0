// Which of Highway's targets are compiled, the same in every file that includes Highway. Include before <hwy/...>.
//
// libtutti uses Highway's headers only and never links libhwy: the choice among the targets is ours (dispatch.cpp), and
// nothing here may call Highway's own CPU detection or its Abort().
#pragma once

// Its debug assertions would call hwy::Abort.
#define HWY_IS_DEBUG_BUILD 0

#if defined(__x86_64__) || defined(__i386__)
// A target costs compile time and library size; SSSE3 and those beyond AVX3 (whose bits are the lower ones) add nothing
// for loads, adds and conversions.
#ifdef TUTTI_SANITIZED
// Instrumented vector code takes the compiler minutes and gigabytes for each target: one is enough to find mistakes.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | (2 * HWY_AVX3 - 1))
#else
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | (HWY_AVX3 - 1))
#endif
#else
#define HWY_COMPILE_ONLY_STATIC  // Arm: NEON is in every 64-bit processor
#endif

#include <hwy/detect_targets.h>

// Targets for which the SIMD source has a body. Highway compiles it for its baseline too, which on x86 may be less than
// SSE4; our own SCALAR table serves the processors that have no more.
#if defined(__x86_64__) || defined(__i386__)
#define TUTTI_SIMD_BODY (HWY_TARGET & (HWY_AVX3 | HWY_AVX2 | HWY_SSE4))
#else
#define TUTTI_SIMD_BODY (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)
#endif
