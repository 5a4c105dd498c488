/* "cholesky" and "triangular_solve", as StableHLO has them: batches of row-major matrices, a unit
 * each. What is narrower than f32 is worked out in f32. */
#include <math.h>

#include "exec/calls.h"
#include "num/convert.h"

typedef struct batches {
  u64 count, rows, columns; /* of the last operand */
} batches;

static bool split_batches(i64s dims, batches *out) {
  *out = (batches){.count = 1};
  if (dims.len < 2) return false;
  for (size_t d = 0; d + 2 < dims.len; d++)
    if (!checked_mul(out->count, (u64)dims.data[d], &out->count)) return false;
  out->rows = (u64)dims.data[dims.len - 2];
  out->columns = (u64)dims.data[dims.len - 1];
  return true;
}

/* ---- of a few real numbers, where they lie ---- */

enum { FEW = 8, FEW_COLUMNS = 8 };

/* As linalg_kernels' functions of these names. */
typedef struct few_kernels {
  u64 (*factor)(u64 n, strided a, strided out);
  void (*solve)(u64 n, u64 columns, bool unit, strided a, strided b, strided x);
} few_kernels;

#define AT(s, i, j) ((s).data)[(i64)(i) * (s).row + (i64)(j) * (s).column]
#define FEW_OF(T, root)                                                                            \
  typedef struct few_##T {                                                                         \
    T *data;                                                                                       \
    i64 row, column;                                                                               \
  } few_##T;                                                                                       \
  static T less_##T(T s, u64 n, few_##T a, u64 i, few_##T b, u64 j) {                              \
    for (u64 k = 0; k < n; k++) s -= AT(a, i, k) * AT(b, j, k);                                    \
    return s;                                                                                      \
  }                                                                                                \
  static u64 factor_##T(u64 n, strided from, strided to) {                                         \
    few_##T a = {from.data, from.row, from.column}, l = {to.data, to.row, to.column};              \
    for (u64 k = 0; k < n; k++) {                                                                  \
      T d = less_##T(AT(a, k, k), k, l, k, l, k);                                                  \
      if (!(d > 0)) return k + 1;                                                                  \
      AT(l, k, k) = d = root(d);                                                                   \
      for (u64 i = k + 1; i < n; i++) AT(l, i, k) = less_##T(AT(a, i, k), k, l, i, l, k) / d;      \
    }                                                                                              \
    return 0;                                                                                      \
  }                                                                                                \
  static void solve_##T(u64 n, u64 columns, bool unit, strided from, strided b, strided x) {       \
    few_##T a = {from.data, from.row, from.column}, y = {b.data, b.row, b.column},                 \
            to = {x.data, x.column, x.row};                                                        \
    for (u64 i = 0; i < n; i++)                                                                    \
      for (u64 j = 0; j < columns; j++) {                                                          \
        T s = less_##T(AT(y, i, j), i, a, i, to, j);                                               \
        AT(to, j, i) = unit ? s : s / AT(a, i, i);                                                 \
      }                                                                                            \
  }                                                                                                \
  static const few_kernels few_of_##T = {factor_##T, solve_##T};
FEW_OF(float, sqrtf)
FEW_OF(double, sqrt)

typedef struct linalg_call {
  const linalg_kernels *k;
  const few_kernels *few; /* NULL: there are more, or complex ones */
  dot_tile tile;
  triangle t;
  bool left;
  dtype type, as; /* as it lies in memory; as it is worked out */
  u64 rows, columns;
  u64 scratch;       /* of the kernel; */
  size_t a_at, b_at; /* behind it, wide copies; 0: none */
} linalg_call;

static status refuse(const char *what) {
  return status_make(STATUS_INVALID_ARGUMENT, "a triangular matrix of %s", what);
}

/* The type it is worked out in; false: there is none. */
static bool choose_type(call_plan *plan, linalg_call *l) {
  dtype t = l->type;
  bool narrow = num_is_small_float(t);
  if (!narrow && t != DTYPE_f32 && t != DTYPE_f64 && t != DTYPE_c64 && t != DTYPE_c128)
    return false;
  bool wide = t == DTYPE_f64 || t == DTYPE_c128;
  l->as = narrow ? DTYPE_f32 : t;
  l->t.complex = t == DTYPE_c64 || t == DTYPE_c128;
  l->k = plan->k->linalg[wide];
  l->tile = plan->k->dot.tile[wide ? DOT_F64 : DOT_F32];
  if (!l->t.complex && l->t.n <= FEW) l->few = wide ? &few_of_double : &few_of_float;
  return true;
}

static bool plan_scratch(call_plan *plan, linalg_call *l, u64 columns) {
  u64 a, b, all;
  if (!l->k->scratch(&l->t, columns, &l->scratch)) return false;
  all = align_up(l->scratch, 64);
  if (l->as != l->type) {
    if (!checked_mul(l->t.n, l->t.n * 4, &a) || !checked_mul(l->rows, l->columns * 4, &b) ||
        a >> 60 || b >> 60)
      return false;
    l->a_at = all;
    l->b_at = l->a_at + align_up(a, 64);
    all = l->b_at + align_up(b, 64);
  }
  plan->scratch = all;
  plan->data = l;
  u64 cost = 0;
  bool fits = checked_mul(l->t.n * l->t.n, columns + 1, &cost);
  plan->cost = 1000 + (fits ? cost / 8 : 1ull << 40);
  return true;
}

/* Matrix u of a slot, as it is or as a wide copy. */
static void *matrix_in(const call_plan *plan, const linalg_call *l, const void *slot, u64 u,
                       u64 count, char *copy) {
  const char *from = (const char *)slot + u * count * dtype_size(l->type);
  if (l->as == l->type) return (void *)(uintptr_t)from;
  vm_load_elements(plan->k, l->type, count, copy, from);
  return copy;
}

/* ---- cholesky: parameter: lower ---- */

static status prepare_cholesky(call_plan *plan) {
  const prog_call *c = plan->c;
  batches b;
  if (c->num_in != 1 || c->num_out != 1 || c->params.len != 1 ||
      !split_batches(c->in[0].dims, &b) || b.rows != b.columns ||
      call_in_count(plan, 0) != call_out_count(plan, 0))
    return refuse("another shape");
  linalg_call *l = ARENA_NEW(plan->a, linalg_call);
  l->t = (triangle){.n = b.rows, .lower = c->params.data[0] != 0};
  l->type = call_in_type(plan, 0);
  l->rows = l->columns = b.rows;
  if (call_out_type(plan, 0) != l->type || !choose_type(plan, l))
    return refuse("elements that cannot be factored");
  if (call_in_count(plan, 0) == 0) return NULL;
  plan->units = b.count;
  return plan_scratch(plan, l, 0) ? NULL : refuse("more elements than memory can have");
}

static strided flip_if(bool flips, strided s) {
  return flips ? (strided){s.data, s.column, s.row} : s;
}

/* One triangle becomes 0. A matrix that is not positive definite becomes NaN, the whole of it, as
 * XLA has it. */
static void finish_factor(const linalg_call *l, bool ok, char *to) {
  u64 n = l->t.n, size = dtype_size(l->as);
  char nan[16] = {0};
  if (l->as == DTYPE_f64 || l->as == DTYPE_c128)
    memcpy(nan, &(double){(double)NAN}, 8);
  else
    memcpy(nan, &(float){NAN}, 4);
  for (u64 i = 0; i < n * n && !ok; i++) memcpy(to + i * size, nan, size);
  for (u64 i = 0; i < n && ok; i++) {
    u64 first = l->t.lower ? i + 1 : 0, count = l->t.lower ? n - first : i;
    memset(to + (i * n + first) * size, 0, count * size);
  }
}

static void run_cholesky(const call_plan *plan, const exec_env *env, u64 begin, u64 end) {
  const linalg_call *l = plan->data;
  u64 n = l->t.n, count = n * n;
  for (u64 u = begin; u < end; u++) {
    void *a = matrix_in(plan, l, call_in(plan, env->slots, 0), u, count, env->scratch + l->a_at);
    char *out = (char *)call_out(plan, env->slots, 0) + u * count * dtype_size(l->type);
    bool copied = l->as != l->type;
    strided from = {a, (i64)n, 1}, to = {copied ? a : out, (i64)n, 1};
    u64 bad = l->few ? l->few->factor(n, flip_if(!l->t.lower, from), flip_if(!l->t.lower, to))
                     : l->k->factor(&l->tile, &l->t, from, to, env->scratch);
    finish_factor(l, bad == 0, to.data);
    if (copied) vm_store_elements(plan->k, l->type, count, out, to.data);
  }
}

const call_row call_cholesky = {.target = "cholesky",
                                .doc = "triangular factors of positive definite matrices",
                                .prepare = prepare_cholesky,
                                .run = run_cholesky};

/* ---- triangular_solve: parameters: left_side, lower, unit_diagonal, and 1 more than the number
 * of no transposition, transposition, adjoint ---- */

enum { LEFT, LOWER, UNIT, TRANSPOSE, SOLVE_PARAMS };

static status prepare_solve(call_plan *plan) {
  const prog_call *c = plan->c;
  batches a, b;
  if (c->num_in != 2 || c->num_out != 1 || c->params.len != SOLVE_PARAMS ||
      !split_batches(c->in[0].dims, &a) || !split_batches(c->in[1].dims, &b) ||
      a.count != b.count || a.rows != a.columns ||
      call_in_count(plan, 1) != call_out_count(plan, 0))
    return refuse("another shape");
  linalg_call *l = ARENA_NEW(plan->a, linalg_call);
  const i64 *p = c->params.data;
  bool transposed = p[TRANSPOSE] > 1;
  l->left = p[LEFT] != 0;
  if (a.rows != (l->left ? b.rows : b.columns)) return refuse("another order");
  /* x op(a) = b is op(a)^T x^T = b^T */
  l->t = (triangle){.n = a.rows,
                    .lower = p[LOWER] != 0,
                    .unit = p[UNIT] != 0,
                    .transposed = transposed == l->left,
                    .conjugated = p[TRANSPOSE] > 2};
  l->type = call_in_type(plan, 0);
  l->rows = b.rows;
  l->columns = b.columns;
  if (call_in_type(plan, 1) != l->type || call_out_type(plan, 0) != l->type ||
      !choose_type(plan, l))
    return refuse("elements that cannot be divided by");
  if (call_out_count(plan, 0) == 0) return NULL;
  plan->units = b.count;
  return plan_scratch(plan, l, l->left ? b.columns : b.rows)
             ? NULL
             : refuse("more elements than memory can have");
}

static strided reversed(const linalg_call *l, strided s, bool columns) {
  i64 size = (i64)dtype_size(l->as), last = (i64)l->t.n - 1;
  char *at = (char *)s.data + last * (s.row + (columns ? s.column : 0)) * size;
  return (strided){at, -s.row, columns ? -s.column : s.column};
}
static void solve_few(const linalg_call *l, u64 columns, strided a, strided b, strided x) {
  a = flip_if(l->t.transposed, a);
  if (l->t.lower == l->t.transposed) /* from the last row on */
    a = reversed(l, a, true), b = reversed(l, b, false), x = reversed(l, x, false);
  l->few->solve(l->t.n, columns, l->t.unit, a, b, x);
}

static void run_solve(const call_plan *plan, const exec_env *env, u64 begin, u64 end) {
  const linalg_call *l = plan->data;
  i64 n = (i64)l->t.n, columns = (i64)l->columns;
  u64 count = l->rows * l->columns, right = l->left ? l->columns : l->rows;
  for (u64 u = begin; u < end; u++) {
    void *a =
        matrix_in(plan, l, call_in(plan, env->slots, 0), u, (u64)(n * n), env->scratch + l->a_at);
    void *b = matrix_in(plan, l, call_in(plan, env->slots, 1), u, count, env->scratch + l->b_at);
    char *out = (char *)call_out(plan, env->slots, 0) + u * count * dtype_size(l->type);
    bool copied = l->as != l->type;
    strided y = {b, l->left ? columns : 1, l->left ? 1 : columns}, x = y;
    x.data = copied ? b : out;
    if (l->few && right <= FEW_COLUMNS)
      solve_few(l, right, (strided){a, n, 1}, y, x);
    else
      l->k->solve(&l->tile, &l->t, right, (strided){a, n, 1}, y, x, env->scratch);
    if (copied) vm_store_elements(plan->k, l->type, count, out, b);
  }
}

const call_row call_triangular_solve = {.target = "triangular_solve",
                                        .doc = "systems of equations with triangular matrices",
                                        .prepare = prepare_solve,
                                        .run = run_solve};
