/* Fourier transforms of one dimension, per instruction set and type of number.
 *
 * A tensor is seen as (outer, n, inner) around the dimension. A plan knows its twiddle factors and
 * lies in an arena; it is never written again, so any threads may run it. A run needs scratch of
 * its own, aligned to 64, and does units begin..end of `units`: each transforms some lines, alone.
 * Out is not in. What a line becomes depends on the shape and the instruction set only. */
#ifndef EXEC_FFT_KERNEL_H
#define EXEC_FFT_KERNEL_H

#include "base/arena.h"

/* In StableHLO's order. RFFT: n reals to n / 2 + 1 complex numbers; IRFFT: the way back, which
 * takes the first number, and where n is even the last, for real. Both have inner == 1. IFFT and
 * IRFFT divide by n. */
typedef enum fft_kind { FFT_FORWARD, FFT_BACKWARD, FFT_FROM_REAL, FFT_TO_REAL } fft_kind;

typedef struct fft_shape {
  fft_kind kind;
  u64 outer, n, inner;
} fft_shape;

typedef struct fft_plan fft_plan;
struct fft_plan {
  void (*run)(const fft_plan *p, char *scratch, const void *in, void *out, u64 begin, u64 end);
  u64 units, cost; /* of a unit, about nanoseconds */
  size_t scratch;
};

/* No size is 0. NULL: sizes beyond what memory could hold. Out of memory jumps to the trap. */
typedef const fft_plan *fft_plan_fn(arena *a, const fft_shape *s);

fft_plan_fn fft_plan_base_f32, fft_plan_base_f64, fft_plan_v3_f32, fft_plan_v3_f64, fft_plan_v4_f32,
    fft_plan_v4_f64, fft_plan_neon_f32, fft_plan_neon_f64;

#endif
