/* Register-blocked tiles in GNU vectors; built once per instruction set (KERNELS_ISA). */
#include "exec/dot_kernel.h"

#if defined(__AVX512F__)
enum { BYTES = 64, ROWS = 12 };
#elif defined(__AVX2__)
enum { BYTES = 32, ROWS = 6 };
#else
enum { BYTES = 16, ROWS = 4 };
#endif

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 12")
#endif

/* Two vectors wide. With -ffp-contract=off the compiler would keep multiply and add apart; sums
 * of products are the one place where fusing them is meant. */
#if defined(__FMA__)
#ifdef __clang__
#define CONTRACT _Pragma("clang fp contract(fast)")
#define FUSED
#else
#define CONTRACT
#define FUSED __attribute__((optimize("fp-contract=fast")))
#endif
#else
#define CONTRACT
#define FUSED
#endif

#define VECTOR_TILE(name, T)                                                                       \
  typedef T name##_v __attribute__((vector_size(BYTES)));                                          \
  typedef T name##_m __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));           \
  enum { name##_lanes = BYTES / sizeof(T) };                                                       \
  FUSED static void tile_##name(size_t k, const void *av, const void *bv, void *cv, bool more) {   \
    CONTRACT                                                                                       \
    const T *a = av, *b = bv;                                                                      \
    name##_m *c = cv;                                                                              \
    name##_v s[ROWS][2] = {0};                                                                     \
    for (size_t p = 0; p < k; p++, a += ROWS, b += 2 * name##_lanes) {                             \
      name##_v b0 = *(const name##_m *)b, b1 = *(const name##_m *)(b + name##_lanes);              \
      UNROLL for (int i = 0; i < ROWS; i++) {                                                      \
        s[i][0] += a[i] * b0;                                                                      \
        s[i][1] += a[i] * b1;                                                                      \
      }                                                                                            \
    }                                                                                              \
    if (more)                                                                                      \
      for (int i = 0; i < ROWS; i++) s[i][0] += c[2 * i], s[i][1] += c[2 * i + 1];                 \
    for (int i = 0; i < ROWS; i++) c[2 * i] = s[i][0], c[2 * i + 1] = s[i][1];                     \
  }
VECTOR_TILE(f32, float)
VECTOR_TILE(f64, double)
VECTOR_TILE(s32, u32) /* modulo 2^32 */

enum { SMALL = 4 };
static void tile_s64(size_t k, const void *av, const void *bv, void *cv, bool more) {
  const u64 *a = av, *b = bv;
  u64 *c = cv;
  for (int i = 0; i < SMALL; i++)
    for (int j = 0; j < SMALL; j++) {
      u64 s = more ? c[i * SMALL + j] : 0;
      for (size_t p = 0; p < k; p++) s += a[p * SMALL + i] * b[p * SMALL + j];
      c[i * SMALL + j] = s;
    }
}
#define COMPLEX_TILE(name, T)                                                                      \
  static void tile_##name(size_t k, const void *av, const void *bv, void *cv, bool more) {         \
    const T *a = av, *b = bv;                                                                      \
    T *c = cv;                                                                                     \
    for (int i = 0; i < SMALL; i++)                                                                \
      for (int j = 0; j < SMALL; j++) {                                                            \
        T *to = &c[2 * (i * SMALL + j)], re = 0, im = 0;                                           \
        for (size_t p = 0; p < k; p++) {                                                           \
          const T *x = &a[2 * (p * SMALL + i)], *y = &b[2 * (p * SMALL + j)];                      \
          re += x[0] * y[0] - x[1] * y[1];                                                         \
          im += x[0] * y[1] + x[1] * y[0];                                                         \
        }                                                                                          \
        to[0] = more ? to[0] + re : re;                                                            \
        to[1] = more ? to[1] + im : im;                                                            \
      }                                                                                            \
  }
COMPLEX_TILE(c64, float)
COMPLEX_TILE(c128, double)

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
void PASTE(dot_kernels_fill_, KERNELS_ISA)(dot_kernels *k) {
  k->tile[DOT_F32] = (dot_tile){tile_f32, ROWS, 2 * f32_lanes};
  k->tile[DOT_F64] = (dot_tile){tile_f64, ROWS, 2 * f64_lanes};
  k->tile[DOT_S32] = (dot_tile){tile_s32, ROWS, 2 * s32_lanes};
  k->tile[DOT_S64] = (dot_tile){tile_s64, SMALL, SMALL};
  k->tile[DOT_C64] = (dot_tile){tile_c64, SMALL, SMALL};
  k->tile[DOT_C128] = (dot_tile){tile_c128, SMALL, SMALL};
}
