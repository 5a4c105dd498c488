/* Vectors of REAL, as wide as the instruction set's, for files that are built once per instruction
 * set (KERNELS_ISA) and type (REAL_BITS). */
#ifndef EXEC_LANES_H
#define EXEC_LANES_H

#include "base/base.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if REAL_BITS == 64
typedef double REAL;
#else
typedef float REAL;
#endif

#if defined(__AVX512F__)
#define LANE_BYTES 64
#elif defined(__AVX2__)
#define LANE_BYTES 32
#else
#define LANE_BYTES 16
#endif
#define LANES (LANE_BYTES * 8 / REAL_BITS)

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define ONE_COPY __attribute__((noinline))
#else
#define ONE_COPY __attribute__((noinline, noclone))
#endif
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
/* The name of this instruction set's and type's, such as fft_plan_v3_f32. */
#define FOR_LANES(name) PASTE(PASTE(PASTE(name, KERNELS_ISA), _f), REAL_BITS)

typedef REAL vec __attribute__((vector_size(LANE_BYTES)));
typedef REAL vec_anywhere
    __attribute__((vector_size(LANE_BYTES), aligned(REAL_BITS / 8), may_alias));

INLINE vec load_vec(const REAL *p) { return *(const vec_anywhere *)p; }
INLINE void store_vec(REAL *p, vec x) { *(vec_anywhere *)p = x; }
/* Past the caches: p is a multiple of LANE_BYTES, and others see it after lanes_fence. */
INLINE void stream_vec(REAL *p, vec x) {
#if defined(__AVX512F__)
  _mm512_stream_si512((__m512i *)(void *)p, (__m512i)x);
#elif defined(__AVX2__)
  _mm256_stream_si256((__m256i *)(void *)p, (__m256i)x);
#elif defined(__SSE2__)
  _mm_stream_si128((__m128i *)(void *)p, (__m128i)x);
#else
  store_vec(p, x);
#endif
}
INLINE void lanes_fence(void) {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}
/* The first n lanes; the others are 0. */
INLINE vec load_some(const REAL *p, u64 n) {
  if (n >= LANES) return load_vec(p);
  vec x = {0};
  memcpy(&x, p, n * sizeof(REAL));
  return x;
}
INLINE void store_some(REAL *p, vec x, u64 n) {
  if (n >= LANES)
    store_vec(p, x);
  else
    memcpy(p, &x, n * sizeof(REAL));
}

/* Of two vectors' lanes: one of each in turn, of the lower halves and of the upper ones; every
 * second one, from the first and from the second on. */
#if LANES == 2
#define LOWER 0, 2
#define UPPER 1, 3
#define EVEN 0, 2
#define ODD 1, 3
#elif LANES == 4
#define LOWER 0, 4, 1, 5
#define UPPER 2, 6, 3, 7
#define EVEN 0, 2, 4, 6
#define ODD 1, 3, 5, 7
#elif LANES == 8
#define LOWER 0, 8, 1, 9, 2, 10, 3, 11
#define UPPER 4, 12, 5, 13, 6, 14, 7, 15
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD 1, 3, 5, 7, 9, 11, 13, 15
#else
#define LOWER 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define UPPER 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#endif
#define PICK(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)

/* Rows of a square become its columns: as often as halving takes, row i and row i + LANES / 2 make
 * rows 2i and 2i + 1. */
INLINE void transpose_vecs(vec x[LANES]) {
  for (u32 round = 1; round < LANES; round *= 2) {
    vec y[LANES];
    for (u32 i = 0; i < LANES / 2; i++) {
      y[2 * i] = PICK(x[i], x[i + LANES / 2], LOWER);
      y[2 * i + 1] = PICK(x[i], x[i + LANES / 2], UPPER);
    }
    for (u32 i = 0; i < LANES; i++) x[i] = y[i];
  }
}

#endif
