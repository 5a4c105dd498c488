/* Transforms as passes over vectors, each lane a line of its own (Stockham's order, so that nothing
 * is to be permuted); built once per instruction set and type (KERNELS_ISA, REAL_BITS).
 *
 * Many lines at once are the lanes as they come. A single line of n1 * n2 numbers is a matrix: its
 * columns are lanes of n2 transforms of n1, then its rows those of n1 transforms of n2, with
 * twiddle factors between. A length with a prime factor above MOST_RADIX becomes a convolution
 * (Bluestein) of a length without. Backward transforms are forward ones with real and imaginary
 * parts swapped on the way in and out; two real numbers lie in one complex number where n is even.
 */
#include "exec/fft_kernel.h"

#include "exec/fft_passes.h"

#ifdef __clang__
#define ANY_ORDER _Pragma("clang loop vectorize(assume_safety)")
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#define ANY_ORDER _Pragma("GCC ivdep")
#endif

/* ---- one line ---- */

typedef struct planar { /* arrays with room for LANES more */
  REAL *re, *im;
} planar;

typedef struct line_plan {
  u64 n1, n2, blocks; /* blocks: of columns */
  stages by_n1, by_n2;
  const pair *twiddle; /* blocks x n1 */
} line_plan;

/* What a line needs besides itself, as many pairs as plan_line counts. */
typedef struct line_work {
  pair *middle, *a, *b;
} line_work;

static u64 line_work_pairs(const line_plan *p, line_work *w, pair *at) {
  u64 most = p->n1 > p->blocks * LANES ? p->n1 : p->blocks * LANES;
  if (w)
    *w = (line_work){at, at + p->blocks * p->n1 + LANES, at + p->blocks * p->n1 + LANES + most};
  return p->blocks * p->n1 + LANES + 2 * most;
}

static void line_columns(const line_plan *p, const line_work *w, planar x) {
  for (u64 b = 0; b < p->blocks; b++) {
    for (u64 j = 0; j < p->n1; j++) {
      w->a[j].re = load_vec(x.re + j * p->n2 + b * LANES);
      w->a[j].im = load_vec(x.im + j * p->n2 + b * LANES);
    }
    const pair *r = run_stages(&p->by_n1, w->a, w->b), *t = p->twiddle + b * p->n1;
    pair *to = w->middle + b * p->n1;
    for (u64 k = 0; k < p->n1; k++) {
      to[k].re = r[k].re * t[k].re - r[k].im * t[k].im;
      to[k].im = r[k].re * t[k].im + r[k].im * t[k].re;
    }
  }
}

static void line_rows(const line_plan *p, const line_work *w, planar x) {
  for (u64 k = 0; k < p->n1; k += LANES) {
    u64 lanes = p->n1 - k < LANES ? p->n1 - k : LANES;
    for (u64 b = 0; b < p->blocks; b++) {
      vec re[LANES], im[LANES];
      const pair *from = w->middle + b * p->n1 + k;
      for (u32 i = 0; i < LANES; i++) re[i] = from[i].re, im[i] = from[i].im;
      transpose_vecs(re);
      transpose_vecs(im);
      for (u32 i = 0; i < LANES; i++) w->a[b * LANES + i] = (pair){re[i], im[i]};
    }
    const pair *r = run_stages(&p->by_n2, w->a, w->b);
    for (u64 i = 0; i < p->n2; i++) {
      store_some(x.re + i * p->n1 + k, r[i].re, lanes);
      store_some(x.im + i * p->n1 + k, r[i].im, lanes);
    }
  }
}

/* In place. */
static void run_line(const line_plan *p, const line_work *w, planar x) {
  line_columns(p, w, x);
  line_rows(p, w, x);
}

static void plan_line(arena *a, u64 n, line_plan *out) {
  u64 n1 = (u64)sqrtl((long double)n);
  while (n % n1) n1--;
  *out = (line_plan){.n1 = n1, .n2 = n / n1};
  if (out->n2 % LANES && n1 % LANES == 0) out->n1 = n / n1, out->n2 = n1;
  out->blocks = (out->n2 + LANES - 1) / LANES;
  plan_stages(a, out->n1, &out->by_n1);
  plan_stages(a, out->n2, &out->by_n2);
  roots r = roots_of(a, n);
  pair *t = arena_alloc_aligned(a, out->blocks * out->n1 * sizeof *t, 64);
  out->twiddle = t;
  for (u64 b = 0; b < out->blocks; b++)
    for (u64 k = 0; k < out->n1; k++)
      for (u64 l = 0; l < LANES; l++) {
        root x = roots_get(&r, (b * LANES + l) * k % n);
        t[b * out->n1 + k].re[l] = (REAL)x.re;
        t[b * out->n1 + k].im[l] = (REAL)x.im;
      }
}

/* ---- lengths that are not smooth ---- */

typedef struct chirp_plan {
  u64 n, m; /* m: of the convolution */
  line_plan line;
  planar chirp, filter; /* exp(-pi i k^2 / n); the transform of its conjugate, divided by m */
} chirp_plan;

INLINE void multiply_planar(u64 n, planar to, planar x, planar y) {
  for (u64 i = 0; i < n; i++) {
    REAL re = x.re[i] * y.re[i] - x.im[i] * y.im[i];
    to.im[i] = x.re[i] * y.im[i] + x.im[i] * y.re[i];
    to.re[i] = re;
  }
}

/* In place, in arrays of m. */
static void run_chirp(const chirp_plan *p, const line_work *w, planar x) {
  multiply_planar(p->n, x, x, p->chirp);
  memset(x.re + p->n, 0, (p->m - p->n) * sizeof(REAL));
  memset(x.im + p->n, 0, (p->m - p->n) * sizeof(REAL));
  run_line(&p->line, w, x);
  multiply_planar(p->m, x, x, p->filter);
  run_line(&p->line, w, (planar){x.im, x.re});
  multiply_planar(p->n, x, x, p->chirp);
}

static planar alloc_planar(arena *a, u64 n) {
  REAL *to = arena_zalloc(a, 2 * (n + LANES) * sizeof(REAL));
  return (planar){to, to + n + LANES};
}

/* The least 2^i 3^j that a convolution of n numbers fits into. */
static u64 convolution_length(u64 n) {
  u64 best = 1;
  while (best < 2 * n - 1) best *= 2;
  for (u64 threes = 3; threes <= 27; threes *= 3) {
    u64 m = threes * 16;
    while (m < 2 * n - 1) m *= 2;
    if (m < best) best = m;
  }
  return best;
}

static void plan_chirp(arena *a, u64 n, chirp_plan *out) {
  *out = (chirp_plan){.n = n, .m = convolution_length(n)};
  plan_line(a, out->m, &out->line);
  out->chirp = alloc_planar(a, n);
  out->filter = alloc_planar(a, out->m);
  roots r = roots_of(a, 2 * n);
  REAL share = 1 / (REAL)out->m;
  for (u64 k = 0, square = 0; k < n; square = (square + 2 * k + 1) % (2 * n), k++) {
    root x = roots_get(&r, square);
    u64 back = k ? out->m - k : 0;
    out->chirp.re[k] = (REAL)x.re, out->chirp.im[k] = (REAL)x.im;
    out->filter.re[k] = out->filter.re[back] = (REAL)x.re * share;
    out->filter.im[k] = out->filter.im[back] = -(REAL)x.im * share;
  }
  line_work w;
  u64 pairs = line_work_pairs(&out->line, NULL, NULL);
  pair *work = arena_alloc_aligned(a, pairs * sizeof *work, 64);
  memset(work, 0, pairs * sizeof *work);
  line_work_pairs(&out->line, &w, work);
  run_line(&out->line, &w, out->filter);
}

/* ---- from memory, and back ---- */

typedef struct transform {
  fft_plan p;
  fft_shape s;
  u64 len, in, out; /* of the complex transform; what a line has in memory */
  bool half, swap;  /* two reals in a complex number; backwards */
  REAL scale;
  stages many;       /* LANES lines at once, */
  line_plan single;  /* or a line, */
  chirp_plan *chirp; /* or one whose length is not smooth */
  planar turn;       /* half: the roots of n */
  u64 cap;           /* of planar arrays */
} transform;

/* Where the complex numbers i of some lines lie: base + i * step, one line beside the other or
 * `line` apart. All in REALs. */
typedef struct lines {
  u64 step, line, count;
} lines;

/* Without a branch, for each side of which there would be a loop. */
INLINE void set_parts(pair *x, vec re, vec im, bool swap) {
  vec *parts = (vec *)x;
  parts[swap] = re, parts[!swap] = im;
}
INLINE pair scaled_parts(const pair *x, REAL scale, bool swap) {
  const vec *parts = (const vec *)x;
  return (pair){parts[swap] * scale, parts[!swap] * scale};
}

/* The last few of lines apart, such as the one that half a power of two leaves: number by number.
 */
enum { FEW = LANES / 4, NUMBER = 2 * sizeof(REAL) };
static void load_few(const REAL *from, const lines *at, u64 n, bool swap, pair *to) {
  vec x[2] = {{0}, {0}};
  for (u64 k = 0; k < n; k++) {
    for (u64 l = 0; l < at->count; l++)
      memcpy((char *)x + l * NUMBER, from + l * at->line + 2 * k, NUMBER);
    set_parts(&to[k], PICK(x[0], x[1], EVEN), PICK(x[0], x[1], ODD), swap);
  }
}
static void store_few(REAL *to, const lines *at, u64 n, bool swap, REAL scale, const pair *from) {
  for (u64 k = 0; k < n; k++) {
    pair y = scaled_parts(&from[k], scale, swap);
    vec x[2] = {PICK(y.re, y.im, LOWER), PICK(y.re, y.im, UPPER)};
    for (u64 l = 0; l < at->count; l++)
      memcpy(to + l * at->line + 2 * k, (char *)x + l * NUMBER, NUMBER);
  }
}

/* Of lines apart: n numbers, each line's contiguous, to pairs; and back. */
static void load_apart(const REAL *from, const lines *at, u64 n, bool swap, pair *to) {
  for (u64 i = 0; i < n; i += LANES) {
    u64 most = n - i < LANES ? n - i : LANES;
    if (most <= FEW) return load_few(from + 2 * i, at, most, swap, to + i);
    vec re[LANES], im[LANES];
    if (at->count < LANES) memset(re, 0, sizeof re), memset(im, 0, sizeof im);
    for (u64 l = 0; l < at->count; l++) {
      const REAL *x = from + l * at->line + 2 * i;
      __builtin_prefetch(x + LANES * at->line), __builtin_prefetch(x + LANES * at->line + LANES);
      vec low = load_some(x, 2 * most);
      vec high = 2 * most > LANES ? load_some(x + LANES, 2 * most - LANES) : (vec){0};
      re[l] = PICK(low, high, EVEN);
      im[l] = PICK(low, high, ODD);
    }
    transpose_vecs(re);
    transpose_vecs(im);
    for (u64 k = 0; k < most; k++) set_parts(&to[i + k], re[k], im[k], swap);
  }
}
static void store_apart(REAL *to, const lines *at, u64 n, bool swap, REAL scale, const pair *from) {
  for (u64 i = 0; i < n; i += LANES) {
    u64 most = n - i < LANES ? n - i : LANES;
    if (most <= FEW) return store_few(to + 2 * i, at, most, swap, scale, from + i);
    vec re[LANES], im[LANES];
    if (most < LANES) memset(re, 0, sizeof re), memset(im, 0, sizeof im);
    for (u64 k = 0; k < most; k++) {
      pair x = scaled_parts(&from[i + k], scale, swap);
      re[k] = x.re, im[k] = x.im;
    }
    transpose_vecs(re);
    transpose_vecs(im);
    for (u64 l = 0; l < at->count; l++) {
      REAL *x = to + l * at->line + 2 * i;
      store_some(x, PICK(re[l], im[l], LOWER), 2 * most);
      if (2 * most > LANES) store_some(x + LANES, PICK(re[l], im[l], UPPER), 2 * most - LANES);
    }
  }
}

/* Of lines beside each other. */
static void load_beside(const REAL *from, const lines *at, u64 n, bool swap, pair *to) {
  u64 c = 2 * at->count;
  for (u64 i = 0; i < n; i++, from += at->step) {
    vec low = load_some(from, c);
    vec high = c > LANES ? load_some(from + LANES, c - LANES) : (vec){0};
    vec re = PICK(low, high, EVEN), im = PICK(low, high, ODD);
    set_parts(&to[i], re, im, swap);
  }
}
static void store_beside(REAL *to, const lines *at, u64 n, bool swap, REAL scale,
                         const pair *from) {
  u64 c = 2 * at->count;
  for (u64 i = 0; i < n; i++, to += at->step) {
    pair x = scaled_parts(&from[i], scale, swap);
    store_some(to, PICK(x.re, x.im, LOWER), c);
    if (c > LANES) store_some(to + LANES, PICK(x.re, x.im, UPPER), c - LANES);
  }
}

/* Reals: the same of pairs, and of a line as it is. */
static void load_reals(const REAL *from, const lines *at, u64 n, pair *to) {
  for (u64 i = 0; i < n; i++) to[i] = (pair){0};
  for (u64 l = 0; l < at->count; l++)
    for (u64 i = 0; i < n; i++) to[i].re[l] = from[l * at->line + i];
}
static void store_reals(REAL *to, const lines *at, u64 n, REAL scale, const pair *from) {
  for (u64 l = 0; l < at->count; l++)
    for (u64 i = 0; i < n; i++) to[l * at->line + i] = from[i].im[l] * scale;
}

static void load_planar(const REAL *from, u64 step, u64 n, planar to) {
  u64 i = 0;
  for (; step == 2 && i + LANES <= n; i += LANES) {
    vec low = load_vec(from + 2 * i), high = load_vec(from + 2 * i + LANES);
    store_vec(to.re + i, PICK(low, high, EVEN));
    store_vec(to.im + i, PICK(low, high, ODD));
  }
  for (; i < n; i++) to.re[i] = from[i * step], to.im[i] = from[i * step + 1];
}
static void store_planar(REAL *to, u64 step, u64 n, REAL scale, planar from) {
  u64 i = 0;
  for (; step == 2 && i + LANES <= n; i += LANES) {
    vec re = load_vec(from.re + i) * scale, im = load_vec(from.im + i) * scale;
    store_vec(to + 2 * i, PICK(re, im, LOWER));
    store_vec(to + 2 * i + LANES, PICK(re, im, UPPER));
  }
  for (; i < n; i++) to[i * step] = from.re[i] * scale, to[i * step + 1] = from.im[i] * scale;
}

/* ---- reals, two in one complex number ----
 * z = even + i odd reals, and Z its transform of h: E[k] = (Z[k] + conj Z[h-k]) / 2 is that of the
 * even ones, O[k] = (Z[k] - conj Z[h-k]) / 2i of the odd ones, X[k] = E[k] + w^k O[k], and
 * X[h-k] = conj(E[k] - w^k O[k]). Back, twice that, with z's parts swapped. Of lanes that are lines
 * of their own, and of one line. */

static void split_pairs(const transform *t, const pair *z, pair *x) {
  u64 h = t->len;
  x[0] = (pair){z[0].re + z[0].im, (vec){0}};
  x[h] = (pair){z[0].re - z[0].im, (vec){0}};
  for (u64 k = 1; 2 * k <= h; k++) {
    pair a = z[k], b = z[h - k];
    pair even = {(a.re + b.re) / 2, (a.im - b.im) / 2},
         odd = {(a.im + b.im) / 2, (b.re - a.re) / 2};
    odd = turned(odd, t->turn.re[k], t->turn.im[k]);
    x[k] = add(even, odd);
    x[h - k] = (pair){even.re - odd.re, odd.im - even.im};
  }
}
static void join_pairs(const transform *t, const pair *x, pair *z) {
  u64 h = t->len;
  z[0] = (pair){x[0].re - x[h].re, x[0].re + x[h].re};
  for (u64 k = 1; 2 * k <= h; k++) {
    pair a = x[k], b = x[h - k];
    pair even = {a.re + b.re, a.im - b.im};
    pair odd = turned((pair){a.re - b.re, a.im + b.im}, t->turn.re[k], -t->turn.im[k]);
    z[k] = (pair){even.im + odd.re, even.re - odd.im};
    z[h - k] = (pair){odd.re - even.im, even.re + odd.im};
  }
}
/* All n numbers from the first half, parts swapped. */
static void mirror_pairs(u64 n, const pair *x, pair *z) {
  z[0] = (pair){(vec){0}, x[0].re};
  for (u64 k = 1; k <= n / 2; k++) {
    z[k] = (pair){x[k].im, x[k].re};
    z[n - k] = (pair){-x[k].im, x[k].re};
  }
}

INLINE void split_one(const transform *t, u64 k, planar z, u64 a, u64 b, planar x) {
  REAL er = (z.re[a] + z.re[b]) / 2, ei = (z.im[a] - z.im[b]) / 2;
  REAL or = (z.im[a] + z.im[b]) / 2, oi = (z.re[b] - z.re[a]) / 2;
  x.re[k] = er + (t->turn.re[k] * or -t->turn.im[k] * oi);
  x.im[k] = ei + (t->turn.re[k] * oi + t->turn.im[k] * or);
}
static void split_line(const transform *t, planar z, planar x) {
  u64 h = t->len;
  split_one(t, 0, z, 0, 0, x), split_one(t, h, z, 0, 0, x);
  ANY_ORDER for (u64 k = 1; k < h; k++) split_one(t, k, z, k, h - k, x);
}
static void join_line(const transform *t, planar x, planar z) {
  u64 h = t->len;
  x.im[0] = x.im[h] = 0;
  ANY_ORDER for (u64 k = 0; k < h; k++) {
    REAL wr = t->turn.re[k], wi = -t->turn.im[k];
    REAL er = x.re[k] + x.re[h - k], ei = x.im[k] - x.im[h - k];
    REAL dr = x.re[k] - x.re[h - k], di = x.im[k] + x.im[h - k];
    z.im[k] = er - (dr * wi + di * wr);
    z.re[k] = ei + (dr * wr - di * wi);
  }
}
static void mirror_line(u64 n, planar x, planar z) {
  z.im[0] = x.re[0], z.re[0] = 0;
  for (u64 k = 1; k <= n / 2; k++) {
    z.im[k] = z.im[n - k] = x.re[k];
    z.re[k] = x.im[k], z.re[n - k] = -x.im[k];
  }
}

/* ---- runs ---- */

static void run_together(const transform *t, pair *a, pair *b, const lines *in, const lines *out,
                         const REAL *from, REAL *to) {
  bool to_real = t->s.kind == FFT_TO_REAL, from_real = t->s.kind == FFT_FROM_REAL;
  if (t->s.inner > 1) {
    load_beside(from, in, t->len, t->swap, a);
  } else if (to_real) {
    load_apart(from, in, t->in / 2, false, b);
    if (t->half)
      join_pairs(t, b, a);
    else
      mirror_pairs(t->s.n, b, a);
  } else if (from_real && !t->half) {
    load_reals(from, in, t->len, a);
  } else {
    load_apart(from, in, t->len, t->swap, a);
  }
  pair *r = run_stages(&t->many, a, b), *other = r == a ? b : a;
  if (t->s.inner > 1) {
    store_beside(to, out, t->len, t->swap, t->scale, r);
  } else if (from_real) {
    if (t->half) split_pairs(t, r, other);
    store_apart(to, out, t->out / 2, false, 1, t->half ? other : r);
  } else if (to_real && !t->half) {
    store_reals(to, out, t->len, t->scale, r);
  } else {
    store_apart(to, out, t->len, t->swap, t->scale, r);
  }
}

static void run_many(const fft_plan *plan, char *scratch, const void *in, void *out, u64 begin,
                     u64 end) {
  const transform *t = (const transform *)plan;
  pair *a = (pair *)scratch, *b = a + t->cap;
  u64 inner = t->s.inner, blocks = (inner + LANES - 1) / LANES;
  for (u64 u = begin; u < end; u++) {
    u64 first = inner > 1 ? u % blocks * LANES : u * LANES;
    u64 left = (inner > 1 ? inner : t->s.outer) - first, count = left < LANES ? left : LANES;
    u64 at = inner > 1 ? (u / blocks * t->s.n * inner + first) * 2 : 0;
    lines from = {2 * inner, t->in, count}, to = {2 * inner, t->out, count};
    run_together(t, a, b, &from, &to, (const REAL *)in + (inner > 1 ? at : first * t->in),
                 (REAL *)out + (inner > 1 ? at : first * t->out));
  }
}

static void run_core(const transform *t, pair *work, planar x) {
  const line_plan *line = t->chirp ? &t->chirp->line : &t->single;
  line_work w;
  line_work_pairs(line, &w, work);
  if (t->chirp)
    run_chirp(t->chirp, &w, x);
  else
    run_line(line, &w, x);
}

static void run_alone(const transform *t, pair *work, planar x, planar y, u64 step,
                      const REAL *from, REAL *to) {
  planar back = {x.im, x.re};
  if (t->s.kind == FFT_TO_REAL) {
    load_planar(from, 2, t->in / 2, y);
    if (t->half)
      join_line(t, y, x);
    else
      mirror_line(t->s.n, y, x);
  } else if (t->s.kind == FFT_FROM_REAL && !t->half) {
    memcpy(x.re, from, t->len * sizeof(REAL));
    memset(x.im, 0, t->len * sizeof(REAL));
  } else {
    load_planar(from, step, t->len, t->swap ? back : x);
  }
  run_core(t, work, x);
  if (t->s.kind == FFT_FROM_REAL) {
    if (t->half) split_line(t, x, y);
    store_planar(to, 2, t->out / 2, 1, t->half ? y : x);
  } else if (t->s.kind == FFT_TO_REAL && !t->half) {
    for (u64 i = 0; i < t->len; i++) to[i] = x.im[i] * t->scale;
  } else {
    store_planar(to, step, t->len, t->scale, t->swap ? back : x);
  }
}

static void run_single(const fft_plan *plan, char *scratch, const void *in, void *out, u64 begin,
                       u64 end) {
  const transform *t = (const transform *)plan;
  REAL *at = (REAL *)scratch;
  planar x = {at, at + t->cap}, y = {at + 2 * t->cap, at + 3 * t->cap};
  u64 inner = t->s.inner;
  for (u64 u = begin; u < end; u++) {
    u64 first = inner > 1 ? (u / inner * t->s.n * inner + u % inner) * 2 : 0;
    run_alone(t, (pair *)(at + 4 * t->cap), x, y, 2 * inner,
              (const REAL *)in + (inner > 1 ? first : u * t->in),
              (REAL *)out + (inner > 1 ? first : u * t->out));
  }
}

/* ---- plans ---- */

/* Lanes pay where there are lines for them: for short ones, and where lines lie beside each other.
 * A line alone stays in a nearer cache, if its own lanes are full and it needs no work on reals. */
static bool goes_together(const transform *t) {
  enum { SHORT = 256, LONG = 2048, BESIDE = 1 << 14 };
  u64 lines = t->s.inner > 1 ? t->s.inner : t->s.outer;
  u64 most = t->half || t->len % (LANES * LANES) ? LONG : SHORT;
  if (!is_smooth(t->len)) return false;
  return t->len <= 4 || (4 * lines >= LANES && t->len <= most) ||
         (2 * t->s.inner >= LANES && t->len <= BESIDE);
}

static void plan_alone(arena *a, transform *t) {
  t->p.run = run_single;
  t->p.units = t->s.outer * t->s.inner;
  t->cap = t->len + 1;
  if (is_smooth(t->len)) {
    plan_line(a, t->len, &t->single);
  } else {
    t->chirp = ARENA_NEW(a, chirp_plan);
    plan_chirp(a, t->len, t->chirp);
    t->cap = t->chirp->m;
  }
  t->cap = align_up(t->cap + LANES, LANES);
  u64 work = line_work_pairs(t->chirp ? &t->chirp->line : &t->single, NULL, NULL);
  t->p.scratch = 4 * t->cap * sizeof(REAL) + work * sizeof(pair);
}

const fft_plan *FOR_LANES(fft_plan_)(arena *a, const fft_shape *s) {
  u64 all;
  if (s->n >> 40 || !checked_mul(s->n, s->outer, &all) || !checked_mul(all, s->inner, &all) ||
      all >> 56)
    return NULL;
  transform *t = ARENA_NEW(a, transform);
  bool from_real = s->kind == FFT_FROM_REAL, to_real = s->kind == FFT_TO_REAL;
  t->s = *s;
  t->half = (from_real || to_real) && s->n % 2 == 0;
  t->len = t->half ? s->n / 2 : s->n;
  t->in = from_real ? s->n : to_real ? s->n / 2 * 2 + 2 : 2 * s->n;
  t->out = to_real ? s->n : from_real ? s->n / 2 * 2 + 2 : 2 * s->n;
  t->swap = to_real || s->kind == FFT_BACKWARD;
  t->scale = t->swap ? 1 / (REAL)s->n : 1;
  if (t->half) {
    const REAL *w = roots_up_to(a, s->n, t->len + 1);
    t->turn = alloc_planar(a, t->len + 1);
    for (u64 k = 0; k <= t->len; k++) t->turn.re[k] = w[2 * k], t->turn.im[k] = w[2 * k + 1];
  }
  u64 log = 1, lines = 1;
  while (t->len >> log) log++;
  if (goes_together(t)) {
    plan_stages(a, t->len, &t->many);
    t->p.run = run_many;
    t->cap = t->len + 2;
    t->p.scratch = 2 * t->cap * sizeof(pair);
    lines = LANES;
    t->p.units =
        s->inner > 1 ? s->outer * ((s->inner + LANES - 1) / LANES) : (s->outer + LANES - 1) / LANES;
  } else {
    plan_alone(a, t);
  }
  t->p.cost = 100 + t->len * log * lines / 4 * (t->chirp ? 8 : 1);
  return &t->p;
}
