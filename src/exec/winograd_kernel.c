/* winograd_kernel.h; built once per instruction set (KERNELS_ISA). */
#include "exec/winograd_kernel.h"

#define REAL_BITS 32
#include "exec/lanes.h"

/* One dimension of a tile becomes the four numbers that are multiplied, x[step] apart. */
INLINE void take_four(vec *x, u32 step) {
  vec a = x[0], b = x[step], c = x[2 * step], d = x[3 * step];
  x[0] = a - c, x[step] = b + c, x[2 * step] = c - b, x[3 * step] = b - d;
}

/* Four products become two results. */
INLINE void give_two(vec *x, u32 step) {
  vec a = x[0], b = x[step], c = x[2 * step], d = x[3 * step];
  x[0] = a + 0.5f * (b + c), x[step] = 0.5f * (b - c) - d;
}

static void take(size_t features, const float *const *pixel, float *to, i64 next) {
  for (size_t f = 0; f < features; f += LANES) {
    vec x[16];
    for (u32 i = 0; i < 16; i++) x[i] = load_vec(pixel[i] + f);
    for (u32 i = 0; i < 4; i++) take_four(x + i, 4);
    for (u32 i = 0; i < 4; i++) take_four(x + 4 * i, 1);
    for (u32 i = 0; i < 16; i++) store_vec(to + i * next + f, x[i]);
  }
}

static void give(size_t features, const float *from, i64 next, float *const *to, float *wrong) {
  vec *bad = (vec *)(void *)wrong;
  for (size_t f = 0; f < features; f += LANES) {
    vec x[16];
    for (u32 i = 0; i < 16; i++) x[i] = load_vec(from + i * next + f);
    for (u32 i = 0; i < 4; i++) give_two(x + i, 4);
    for (u32 i = 0; i < 2; i++) give_two(x + 4 * i, 1);
    for (u32 i = 0; i < 4; i++) {
      vec y = x[i / 2 * 4 + i % 2];
      store_vec(to[i] + f, y);
      *bad += y - y;
    }
  }
}

const winograd_kernels FOR_LANES(winograd_) = {take, give};
