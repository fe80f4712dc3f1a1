/*
 * simd.h - compiling a file for instructions that not every processor has
 *
 *     #define SIMD_TARGET "avx2,fma,f16c"
 *     SIMD_BEGIN ... functions that use them ... SIMD_END
 *
 * Only these functions are compiled so; whoever calls one has asked the processor first. Nothing else in the
 * program depends on flags of the compiler.
 */
#pragma once

/* PLAIN_BEGIN ... PLAIN_END: one number at a time is meant, and the compiler is not to make vectors of it. */
#define SIMD_PRAGMA(x) _Pragma(#x)
#if defined __clang__
#define SIMD_BEGIN(target_names) \
    SIMD_PRAGMA(clang attribute push(__attribute__((target(target_names))), apply_to = function))
#define SIMD_END SIMD_PRAGMA(clang attribute pop)
#define UNROLLED SIMD_PRAGMA(clang loop unroll(full))
#define PLAIN_BEGIN /* clang knows this only as a flag for whole files */
#define PLAIN_END
#else
#define SIMD_BEGIN(target_names) SIMD_PRAGMA(GCC push_options) SIMD_PRAGMA(GCC target(target_names))
#define SIMD_END SIMD_PRAGMA(GCC pop_options)
#define UNROLLED SIMD_PRAGMA(GCC unroll 32)
#define PLAIN_BEGIN SIMD_PRAGMA(GCC push_options) SIMD_PRAGMA(GCC optimize("no-tree-vectorize", "no-tree-slp-vectorize"))
#define PLAIN_END SIMD_PRAGMA(GCC pop_options)
#endif
