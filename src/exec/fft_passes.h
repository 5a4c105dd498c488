/* Passes of a transform over vectors, each lane a line of its own, in Stockham's order, so that
 * nothing is to be permuted; and the roots of unity that they multiply with. For fft_kernel.c,
 * which is built once per instruction set and type. */
#ifndef EXEC_FFT_PASSES_H
#define EXEC_FFT_PASSES_H

#include <math.h>

#include "base/arena.h"
#include "exec/lanes.h"

enum { MOST_RADIX = 31, MOST_STAGES = 64 };

typedef struct pair {
  vec re, im;
} pair;

/* ---- roots of unity ---- */

typedef struct root {
  long double re, im;
} root;

/* exp(-2 pi i k / n), k < n, of the angle's distance from the nearest eighth of a turn */
static root root_at(u64 k, u64 n) {
  const long double tau = 6.283185307179586476925286766559005768L;
  u64 eighth = (u64)(((unsigned __int128)k * 8 + n / 2) / n);
  i64 rest = (i64)((__int128)k * 8 - (__int128)eighth * n);
  long double x = tau * (long double)rest / (8 * (long double)n), c = cosl(x), s = sinl(x);
  const long double half = 0.707106781186547524400844362104849039L;
  const long double at[8][2] = {{1, 0},  {half, half},   {0, 1},  {-half, half},
                                {-1, 0}, {-half, -half}, {0, -1}, {half, -half}};
  const long double *e = at[eighth % 8];
  return (root){e[0] * c - e[1] * s, -(e[0] * s + e[1] * c)};
}

/* All roots of one n, as products of two from tables of its square root. */
typedef struct roots {
  u64 n, step;
  root *fine, *coarse;
} roots;

static roots roots_of(arena *a, u64 n) {
  roots r = {.n = n, .step = (u64)sqrtl((long double)n) + 1};
  r.fine = arena_alloc_aligned(a, r.step * sizeof(root), _Alignof(root));
  r.coarse = arena_alloc_aligned(a, r.step * sizeof(root), _Alignof(root));
  for (u64 i = 0; i < r.step; i++) {
    r.fine[i] = root_at(i % n, n);
    r.coarse[i] = root_at(i * r.step % n, n);
  }
  return r;
}
static root roots_get(const roots *r, u64 k) {
  root x = r->coarse[k / r->step], y = r->fine[k % r->step];
  return (root){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/* ---- butterflies: transforms of r numbers in place ---- */

typedef void butterfly(pair *x, const REAL *w);

INLINE pair add(pair x, pair y) { return (pair){x.re + y.re, x.im + y.im}; }
INLINE pair sub(pair x, pair y) { return (pair){x.re - y.re, x.im - y.im}; }
/* x - i y, x + i y */
INLINE pair sub_i(pair x, pair y) { return (pair){x.re + y.im, x.im - y.re}; }
INLINE pair add_i(pair x, pair y) { return (pair){x.re - y.im, x.im + y.re}; }
INLINE pair scaled(pair x, REAL f) { return (pair){x.re * f, x.im * f}; }
INLINE pair turned(pair x, REAL re, REAL im) {
  return (pair){x.re * re - x.im * im, x.re * im + x.im * re};
}

INLINE void butterfly2(pair *x, const REAL *w) {
  (void)w;
  pair a = x[0], b = x[1];
  x[0] = add(a, b);
  x[1] = sub(a, b);
}
INLINE void butterfly3(pair *x, const REAL *w) {
  (void)w;
  const REAL sine = (REAL)0.866025403784438646763723170752936183L;
  pair sum = add(x[1], x[2]), difference = scaled(sub(x[1], x[2]), sine);
  pair middle = sub(x[0], scaled(sum, (REAL)0.5));
  x[0] = add(x[0], sum);
  x[1] = sub_i(middle, difference);
  x[2] = add_i(middle, difference);
}
INLINE void butterfly4(pair *x, const REAL *w) {
  (void)w;
  pair a = add(x[0], x[2]), b = sub(x[0], x[2]), c = add(x[1], x[3]), d = sub(x[1], x[3]);
  x[0] = add(a, c);
  x[1] = sub_i(b, d);
  x[2] = sub(a, c);
  x[3] = add_i(b, d);
}
INLINE void butterfly5(pair *x, const REAL *w) {
  (void)w;
  const REAL c1 = (REAL)0.309016994374947424102293417182819059L,
             c2 = (REAL)-0.809016994374947424102293417182819059L,
             s1 = (REAL)0.951056516295153572116439333379382143L,
             s2 = (REAL)0.587785252292473129168705954639072769L;
  pair a = add(x[1], x[4]), b = add(x[2], x[3]), c = sub(x[1], x[4]), d = sub(x[2], x[3]);
  pair m1 = add(x[0], add(scaled(a, c1), scaled(b, c2)));
  pair m2 = add(x[0], add(scaled(a, c2), scaled(b, c1)));
  pair n1 = add(scaled(c, s1), scaled(d, s2)), n2 = sub(scaled(c, s2), scaled(d, s1));
  x[0] = add(x[0], add(a, b));
  x[1] = sub_i(m1, n1);
  x[4] = add_i(m1, n1);
  x[2] = sub_i(m2, n2);
  x[3] = add_i(m2, n2);
}
INLINE void butterfly8(pair *x, const REAL *w) {
  const REAL half = (REAL)0.707106781186547524400844362104849039L;
  pair e[4] = {x[0], x[2], x[4], x[6]}, o[4] = {x[1], x[3], x[5], x[7]};
  butterfly4(e, w);
  butterfly4(o, w);
  pair o1 = {(o[1].re + o[1].im) * half, (o[1].im - o[1].re) * half};
  pair o3 = {(o[3].im - o[3].re) * half, -(o[3].re + o[3].im) * half};
  x[0] = add(e[0], o[0]), x[4] = sub(e[0], o[0]);
  x[1] = add(e[1], o1), x[5] = sub(e[1], o1);
  x[2] = sub_i(e[2], o[2]), x[6] = add_i(e[2], o[2]);
  x[3] = add(e[3], o3), x[7] = sub(e[3], o3);
}
/* Any odd r, from numbers `step` apart; w: cosine and sine of each multiple of its angle. */
INLINE void butterfly_odd(u32 r, const pair *in, u64 step, pair *x, const REAL *w) {
  pair sum[MOST_RADIX / 2 + 1], difference[MOST_RADIX / 2 + 1], first = in[0], all = in[0];
  for (u32 j = 1; j <= r / 2; j++) {
    sum[j] = add(in[step * j], in[step * (r - j)]);
    difference[j] = sub(in[step * j], in[step * (r - j)]);
    all = add(all, sum[j]);
  }
  for (u32 k = 1; k <= r / 2; k++) {
    pair m = first, n = {0};
    for (u32 j = 1, at = k; j <= r / 2; j++, at = (at + k) % r) {
      m = add(m, scaled(sum[j], w[2 * at]));
      n = sub(n, scaled(difference[j], w[2 * at + 1]));
    }
    x[k] = sub_i(m, n);
    x[r - k] = add_i(m, n);
  }
  x[0] = all;
}
INLINE void butterfly7(pair *x, const REAL *w) { butterfly_odd(7, x, 1, x, w); }

/* ---- passes ---- */

/* out[q + s (r p + k)] = w[p, k] sum over j of in[q + s (p + m j)] e(j k / r), for p < m, q < s */
typedef struct stage {
  u32 radix;
  u64 m;
  const REAL *twiddle; /* m x (radix - 1) */
  const REAL *angle;   /* of a radix without a butterfly of its own: radix roots */
} stage;

typedef struct stages {
  u64 n;
  u32 len;
  stage at[MOST_STAGES];
} stages;

INLINE void pass(u32 r, butterfly *f, const stage *t, u64 s, const pair *in, pair *out) {
  for (u64 p = 0; p < t->m; p++) {
    const REAL *w = t->twiddle + 2 * p * (r - 1);
    for (u64 q = 0; q < s; q++) {
      pair x[MOST_RADIX];
      for (u32 j = 0; j < r; j++) x[j] = in[q + s * (p + t->m * j)];
      f(x, t->angle);
      pair *to = out + q + s * r * p;
      to[0] = x[0];
      if (t->m == 1)
        for (u32 k = 1; k < r; k++) to[s * k] = x[k];
      else
        for (u32 k = 1; k < r; k++) to[s * k] = turned(x[k], w[2 * k - 2], w[2 * k - 1]);
    }
  }
}

static void pass2(const stage *t, u64 s, const pair *in, pair *out) {
  pass(2, butterfly2, t, s, in, out);
}
static void pass3(const stage *t, u64 s, const pair *in, pair *out) {
  pass(3, butterfly3, t, s, in, out);
}
static void pass4(const stage *t, u64 s, const pair *in, pair *out) {
  pass(4, butterfly4, t, s, in, out);
}
static void pass5(const stage *t, u64 s, const pair *in, pair *out) {
  pass(5, butterfly5, t, s, in, out);
}
static void pass7(const stage *t, u64 s, const pair *in, pair *out) {
  pass(7, butterfly7, t, s, in, out);
}
static void pass8(const stage *t, u64 s, const pair *in, pair *out) {
  pass(8, butterfly8, t, s, in, out);
}
static void pass_odd(const stage *t, u64 s, const pair *in, pair *out) {
  u32 r = t->radix;
  for (u64 p = 0; p < t->m; p++) {
    const REAL *w = t->twiddle + 2 * p * (r - 1);
    for (u64 q = 0; q < s; q++) {
      pair x[MOST_RADIX];
      butterfly_odd(r, in + q + s * p, s * t->m, x, t->angle);
      pair *to = out + q + s * r * p;
      to[0] = x[0];
      for (u32 k = 1; k < r; k++) to[s * k] = turned(x[k], w[2 * k - 2], w[2 * k - 1]);
    }
  }
}

/* Transforms what is in a; b is as large. The result is in one of them, which is returned. */
static pair *run_stages(const stages *t, pair *a, pair *b) {
  typedef void pass_fn(const stage *, u64, const pair *, pair *);
  static pass_fn *const passes[9] = {
      [2] = pass2, [3] = pass3, [4] = pass4, [5] = pass5, [7] = pass7, [8] = pass8};
  u64 s = 1;
  for (u32 i = 0; i < t->len; i++) {
    u32 r = t->at[i].radix;
    pass_fn *f = r < COUNT(passes) ? passes[r] : pass_odd;
    f(&t->at[i], s, a, b);
    s *= r;
    pair *swap = a;
    a = b, b = swap;
  }
  return a;
}

/* Whether it has no prime factor above MOST_RADIX. */
static bool is_smooth(u64 n) {
  for (u64 f = 2; f <= MOST_RADIX; f++)
    while (n % f == 0) n /= f;
  return n == 1;
}

static u32 next_radix(u64 n) {
  static const u8 first[] = {8, 4, 2, 3, 5, 7};
  if (n == 16) return 4; /* as 4 x 4 */
  for (size_t i = 0; i < COUNT(first); i++)
    if (n % first[i] == 0) return first[i];
  u32 r = 11;
  while (n % r != 0) r += 2;
  return r;
}

static REAL *roots_up_to(arena *a, u64 n, u64 count) {
  roots r = roots_of(a, n);
  REAL *to = ARENA_ARRAY(a, REAL, 2 * count);
  for (u64 k = 0; k < count; k++) {
    root w = roots_get(&r, k % n);
    to[2 * k] = (REAL)w.re, to[2 * k + 1] = (REAL)w.im;
  }
  return to;
}

static void plan_stages(arena *a, u64 n, stages *out) {
  *out = (stages){.n = n};
  for (u64 left = n; left > 1;) {
    stage *t = &out->at[out->len++];
    *t = (stage){.radix = next_radix(left), .m = left / next_radix(left)};
    u32 r = t->radix;
    t->angle = roots_up_to(a, r, r);
    roots w = roots_of(a, left);
    REAL *to = ARENA_ARRAY(a, REAL, 2 * t->m * (r - 1));
    t->twiddle = to;
    for (u64 p = 0; p < t->m; p++)
      for (u32 k = 1; k < r; k++) {
        root x = roots_get(&w, p * k);
        *to++ = (REAL)x.re, *to++ = (REAL)x.im;
      }
    left = t->m;
  }
}

#endif
