/* Transforms of every kind and many lengths, against sums in long double; for each instruction set
 * that runs here. */
#include <math.h>

#include "exec/fft_kernel.h"
#include "tests/unit.h"

typedef struct number {
  long double re, im;
} number;

static double next_random(u64 *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(i64)(*state >> 11) / (double)(1ull << 52) - 1;
}

/* Of long lines some numbers only. */
static u64 every(u64 n) { return 1 + n / 50; }

/* Sums of n products: e(sign j k / n) of each. */
static void transform_slowly(u64 n, int sign, const number *x, const number *roots, number *y) {
  for (u64 k = 0; k < n; k += every(n)) {
    y[k] = (number){0};
    for (u64 j = 0, at = 0; j < n; j++, at = (at + k) % n) {
      number w = {roots[at].re, sign * roots[at].im};
      y[k].re += x[j].re * w.re - x[j].im * w.im;
      y[k].im += x[j].re * w.im + x[j].im * w.re;
    }
  }
}

typedef struct checked {
  fft_plan_fn *plan;
  bool wide; /* f64 */
} checked;

static double element(const checked *c, const void *p, u64 i) {
  return c->wide ? ((const double *)p)[i] : (double)((const float *)p)[i];
}

static u64 reals_in(const fft_shape *s) {
  return s->kind == FFT_FROM_REAL ? s->n : s->kind == FFT_TO_REAL ? s->n / 2 * 2 + 2 : 2 * s->n;
}
static u64 reals_out(const fft_shape *s) {
  return s->kind == FFT_FROM_REAL ? s->n / 2 * 2 + 2 : s->kind == FFT_TO_REAL ? s->n : 2 * s->n;
}

/* What line `line` has, as n complex numbers. */
static void read_line(const checked *c, const fft_shape *s, const void *in, u64 line, number *x) {
  u64 first = line / s->inner * s->inner * reals_in(s) + line % s->inner * 2;
  for (u64 i = 0; i < s->n; i++) {
    if (s->kind == FFT_FROM_REAL) {
      x[i] = (number){element(c, in, first + i), 0};
    } else if (s->kind == FFT_TO_REAL) {
      bool back = i > s->n / 2;
      u64 at = first + 2 * (back ? s->n - i : i);
      x[i] = (number){element(c, in, at), (back ? -1 : 1) * element(c, in, at + 1)};
      if (i == 0 || 2 * i == s->n) x[i].im = 0;
    } else {
      u64 at = first + 2 * i * s->inner;
      x[i] = (number){element(c, in, at), element(c, in, at + 1)};
    }
  }
}

/* The largest difference from the exact transform of a line, in parts of its largest number. */
static long double error_of_line(const checked *c, const fft_shape *s, const void *out, u64 line,
                                 const number *y) {
  u64 first = line / s->inner * s->inner * reals_out(s) + line % s->inner * 2;
  bool back = s->kind == FFT_BACKWARD || s->kind == FFT_TO_REAL;
  long double largest = 0, error = 0, share = back ? (long double)s->n : 1;
  for (u64 i = 0; i < reals_out(s); i++) {
    bool real = s->kind == FFT_TO_REAL;
    u64 at = real ? first + i : first + i / 2 * 2 * s->inner + i % 2;
    const number *exact = &y[real ? i : i / 2];
    if ((real ? i : i / 2) % every(s->n)) continue;
    long double want = (!real && i % 2 ? exact->im : exact->re) / share;
    long double e = fabsl((long double)element(c, out, at) - want);
    if (fabsl(want) > largest) largest = fabsl(want);
    if (!(e <= error)) error = e;
  }
  return largest ? error / largest : error;
}

static number *numbers(arena *a, u64 n) {
  return arena_alloc_aligned(a, n * sizeof(number), _Alignof(number));
}

static void check_shape(arena *a, const checked *c, fft_shape s) {
  arena_reset(a);
  const fft_plan *p = c->plan(a, &s);
  size_t size = c->wide ? 8 : 4;
  u64 lines = s.outer * s.inner, state = s.n;
  char *in = arena_alloc(a, lines * reals_in(&s) * size);
  char *out = arena_alloc(a, lines * reals_out(&s) * size);
  for (u64 i = 0; i < lines * reals_in(&s); i++) {
    double x = next_random(&state);
    if (c->wide)
      ((double *)in)[i] = x;
    else
      ((float *)in)[i] = (float)x;
  }
  char *scratch = arena_alloc_aligned(a, p->scratch, 64);
  memset(scratch, 0xff, p->scratch);
  for (u64 u = 0; u < p->units; u++) p->run(p, scratch, in, out, u, u + 1);
  number *x = numbers(a, s.n), *y = numbers(a, s.n), *roots = numbers(a, s.n);
  for (u64 k = 0; k < s.n; k++) {
    long double t = 6.283185307179586476925286766559L * (long double)k / (long double)s.n;
    roots[k] = (number){cosl(t), sinl(t)};
  }
  long double worst = 0, most = (c->wide ? 0x1p-53L : 0x1p-24L) * (4 + 2 * log2l((long double)s.n));
  for (u64 line = 0; line < lines; line += 1 + lines / 2) {
    read_line(c, &s, in, line, x);
    transform_slowly(s.n, s.kind == FFT_FORWARD || s.kind == FFT_FROM_REAL ? -1 : 1, x, roots, y);
    long double e = error_of_line(c, &s, out, line, y);
    if (!(e <= worst)) worst = e;
  }
  if (!(worst <= most))
    fprintf(stderr, "kind %d, %llu x %llu x %llu, f%d: error %Lg of %Lg\n", s.kind,
            (unsigned long long)s.outer, (unsigned long long)s.n, (unsigned long long)s.inner,
            c->wide ? 64 : 32, worst, most);
  CHECK(worst <= most);
}

/* Never within main: gcc takes what is live there at calls for lost after longjmp. */
static __attribute__((noinline)) void check_lengths(arena *a, const checked *c) {
  static const u16 more[] = {45,  49,  64,  77,  97,  100,  121,  127,  128,  210,  243,
                             256, 331, 500, 512, 625, 1001, 1009, 1024, 2048, 2310, 3000};
  static const u8 layouts[][2] = {{1, 1}, {3, 1}, {33, 1}, {1, 5}, {2, 40}};
  for (u32 n = 1; n <= 40 + COUNT(more); n++)
    for (size_t l = 0; l < COUNT(layouts); l++)
      for (int kind = 0; kind < (layouts[l][1] == 1 ? 4 : 2); kind++)
        check_shape(
            a, c,
            (fft_shape){(fft_kind)kind, layouts[l][0], n > 40 ? more[n - 41] : n, layouts[l][1]});
}

int main(void) {
  oom_trap trap;
  arena a;
  arena_init(&a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  checked all[6] = {{fft_plan_base_f32, false}, {fft_plan_base_f64, true}};
  u32 n = 2;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    all[n++] = (checked){fft_plan_v3_f32, false};
    all[n++] = (checked){fft_plan_v3_f64, true};
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
    all[n++] = (checked){fft_plan_v4_f32, false};
    all[n++] = (checked){fft_plan_v4_f64, true};
  }
#elif defined(__aarch64__)
  all[n++] = (checked){fft_plan_neon_f32, false};
  all[n++] = (checked){fft_plan_neon_f64, true};
#endif
  for (u32 i = 0; i < n; i++) check_lengths(&a, &all[i]);
  arena_deinit(&a);
  return UNIT_END();
}
