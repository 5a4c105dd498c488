/* Triangular factors and solves of every kind, by what is left over when they are multiplied back;
 * for each instruction set that runs here. */
#include "exec/linalg_kernel.h"

#include <math.h>

#include "base/arena.h"
#include "tests/unit.h"

typedef struct number {
  long double re, im;
} number;

typedef struct checked {
  const linalg_kernels *k;
  dot_tile real;
  bool wide; /* f64 */
} checked;

static double next_random(u64 *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(i64)(*state >> 11) / (double)(1ull << 52) - 1;
}

static number get(const checked *c, bool complex, strided m, u64 i, u64 j) {
  i64 at = ((i64)i * m.row + (i64)j * m.column) * (complex ? 2 : 1);
  if (c->wide) {
    const double *p = (const double *)m.data + at;
    return (number){p[0], complex ? p[1] : 0};
  }
  const float *p = (const float *)m.data + at;
  return (number){p[0], complex ? p[1] : 0};
}
static void put(const checked *c, bool complex, strided m, u64 i, u64 j, number x) {
  i64 at = ((i64)i * m.row + (i64)j * m.column) * (complex ? 2 : 1);
  for (int k = 0; k < (complex ? 2 : 1); k++) {
    if (c->wide)
      ((double *)m.data)[at + k] = (double)(k ? x.im : x.re);
    else
      ((float *)m.data)[at + k] = (float)(k ? x.im : x.re);
  }
}
static number times(number x, number y) {
  return (number){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/* Row-major or column-major. */
static strided new_matrix(arena *a, u64 rows, u64 columns, bool by_columns) {
  void *p = arena_zalloc(a, rows * columns * 16);
  return by_columns ? (strided){p, 1, (i64)rows} : (strided){p, (i64)columns, 1};
}
static char *new_scratch(arena *a, const checked *c, const triangle *t, u64 columns) {
  u64 bytes = 0;
  CHECK(c->k->scratch(t, columns, &bytes));
  char *p = arena_alloc_aligned(a, bytes, 64);
  memset(p, 0xff, bytes);
  return p;
}

static const number nothing = {12345, 0}; /* in what is not to be read, nor written */

static void check_factor(arena *a, const checked *c, u64 n, bool complex, bool lower,
                         bool by_columns) {
  arena_reset(a);
  triangle t = {.n = n, .complex = complex, .lower = lower};
  strided m = new_matrix(a, n, n, by_columns), l = new_matrix(a, n, n, by_columns);
  u64 state = n;
  for (u64 i = 0; i < n; i++)
    for (u64 j = 0; j < n; j++) {
      number x = {next_random(&state), complex && i != j ? next_random(&state) : 0};
      if (i == j) x.re += (long double)n;
      put(c, complex, m, i, j, (lower ? j <= i : j >= i) ? x : nothing);
      put(c, complex, l, i, j, nothing);
    }
  CHECK(c->k->factor(&c->real, &t, m, l, new_scratch(a, c, &t, 0)) == 0);
  long double worst = 0;
  bool touched = false;
  for (u64 i = 0; i < n; i++)
    for (u64 j = 0; j < n; j++) {
      if (lower ? j > i : j < i) {
        touched |= get(c, complex, l, i, j).re != nothing.re;
        continue;
      }
      number want = get(c, complex, m, i, j), sum = {0};
      for (u64 k = 0; k <= (lower ? j : i); k++) {
        number x = lower ? get(c, complex, l, i, k) : get(c, complex, l, k, j);
        number y = lower ? get(c, complex, l, j, k) : get(c, complex, l, k, i);
        y.im = -y.im;
        number p = times(x, y);
        sum.re += p.re, sum.im += p.im;
      }
      long double e = fabsl(sum.re - want.re) + fabsl(sum.im - want.im);
      if (!(e <= worst)) worst = e;
    }
  CHECK(!touched);
  /* a complex product is four real ones */
  CHECK(worst <= (long double)(n + 4) * (c->wide ? 0x1p-52L : 0x1p-23L) * (complex ? 8 : 4));
  u64 at = n / 2; /* a minor that is not positive */
  put(c, complex, m, at, at, (number){-1, 0});
  CHECK(c->k->factor(&c->real, &t, m, l, new_scratch(a, c, &t, 0)) == at + 1);
  put(c, complex, m, at, at, (number){NAN, 0});
  CHECK(c->k->factor(&c->real, &t, m, m, new_scratch(a, c, &t, 0)) == at + 1);
}

/* op(a)(i, j) as the triangle says. */
static number operand(const checked *c, const triangle *t, strided a, u64 i, u64 j) {
  u64 row = t->transposed ? j : i, column = t->transposed ? i : j;
  if (row == column && t->unit) return (number){1, 0};
  if (t->lower ? column > row : column < row) return (number){0};
  number x = get(c, t->complex, a, row, column);
  if (t->conjugated) x.im = -x.im;
  return x;
}

static void check_solve(arena *a, const checked *c, triangle t, u64 columns, bool by_columns) {
  arena_reset(a);
  strided m = new_matrix(a, t.n, t.n, by_columns), b = new_matrix(a, t.n, columns, by_columns);
  strided x = new_matrix(a, t.n, columns, !by_columns);
  u64 state = t.n;
  for (u64 i = 0; i < t.n; i++) {
    for (u64 j = 0; j < t.n; j++) {
      number y = {next_random(&state) / (double)t.n,
                  t.complex ? next_random(&state) / (double)t.n : 0};
      if (i == j) y.re += 2;
      put(c, t.complex, m, i, j, (t.lower ? j <= i : j >= i) && !(t.unit && i == j) ? y : nothing);
    }
    for (u64 j = 0; j < columns; j++)
      put(c, t.complex, b, i, j, (number){next_random(&state), next_random(&state)});
  }
  c->k->solve(&c->real, &t, columns, m, b, x, new_scratch(a, c, &t, columns));
  long double worst = 0;
  for (u64 i = 0; i < t.n; i++)
    for (u64 j = 0; j < columns; j += 1 + columns / 8) {
      number want = get(c, t.complex, b, i, j), sum = {0};
      for (u64 k = 0; k < t.n; k++) {
        number p = times(operand(c, &t, m, i, k), get(c, t.complex, x, k, j));
        sum.re += p.re, sum.im += p.im;
      }
      long double e = fabsl(sum.re - want.re) + fabsl(sum.im - want.im);
      if (!(e <= worst)) worst = e;
    }
  CHECK(worst <= (c->wide ? 0x1p-52L : 0x1p-23L) * 16);
}

static void check_all(arena *a, const checked *c) {
  static const u8 sizes[] = {1, 2, 3, 5, 17, 31, 32, 33, 64, 65, 100, 200};
  for (size_t s = 0; s < COUNT(sizes); s++) {
    for (int bits = 0; bits < 8; bits++) check_factor(a, c, sizes[s], bits & 1, bits & 2, bits & 4);
    for (int bits = 0; bits < 64; bits++) {
      triangle t = {.n = sizes[s],
                    .complex = bits & 1,
                    .lower = bits & 2,
                    .unit = bits & 4,
                    .transposed = bits & 8,
                    .conjugated = bits & 16};
      check_solve(a, c, t, s % 3 == 0 ? 1 : s % 3 == 1 ? 7 : 300, bits & 32);
      check_solve(a, c, t, 1 + s % 4, bits & 32);
    }
  }
}

int main(void) {
  oom_trap trap;
  arena a;
  arena_init(&a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  dot_kernels k;
  dot_kernels_fill_base(&k);
  check_all(&a, &(checked){&linalg_base_f32, k.tile[DOT_F32], false});
  check_all(&a, &(checked){&linalg_base_f64, k.tile[DOT_F64], true});
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    dot_kernels_fill_v3(&k);
    check_all(&a, &(checked){&linalg_v3_f32, k.tile[DOT_F32], false});
    check_all(&a, &(checked){&linalg_v3_f64, k.tile[DOT_F64], true});
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
    dot_kernels_fill_v4(&k);
    check_all(&a, &(checked){&linalg_v4_f32, k.tile[DOT_F32], false});
    check_all(&a, &(checked){&linalg_v4_f64, k.tile[DOT_F64], true});
  }
#elif defined(__aarch64__)
  dot_kernels_fill_neon(&k);
  check_all(&a, &(checked){&linalg_neon_f32, k.tile[DOT_F32], false});
  check_all(&a, &(checked){&linalg_neon_f64, k.tile[DOT_F64], true});
#endif
  arena_deinit(&a);
  return UNIT_END();
}
