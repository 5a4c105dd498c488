/* Products of many small matrices whose elements lie side by side, as those of a convolution with
 * as many groups as features do: a vector has one element of each. */
#include "exec/dot.h"

enum { KC = DOT_TERMS, ROWS = DOT_ACROSS };

typedef struct lanes {
  const product *p;
  const dot_strips *strips;
  u64 rows;                                 /* of a unit */
  u64 matrices;                             /* that are done at once, at most */
  bool converts;                            /* as operands are of other types than sums */
  size_t total_at, line_at, lhs_at, rhs_at; /* scratch; sums stand at its beginning */
} lanes;

/* Elements of matrices [first, first + n). */
typedef struct lane_range {
  u64 first, n;
} lane_range;

/* Of an operand, as it lies, from the first of some matrices on. */
static const char *lies_at(const exec_env *env, u32 slot, i64 offset, dtype type, u64 first) {
  return (const char *)env->slots[slot] + offset + first * dtype_size(type);
}

/* Where terms [k, k + t->k) of n rows from m on are, or of the right side. */
static void see_lines(const lanes *x, const exec_env *env, lane_range of, u64 m, u64 n, u64 k,
                      dot_strip *t, i64 *row, i64 *ka) {
  const product *p = x->p;
  const char *lhs = lies_at(env, p->lhs, p->lhs_offset, p->lhs_type, of.first);
  const char *rhs = lies_at(env, p->rhs, p->rhs_offset, p->rhs_type, of.first);
  rhs += axis_at(&p->rhs_k, k) * (i64)dtype_size(p->rhs_type);
  char *to = env->scratch + x->lhs_at;
  for (u64 i = 0; i < t->k; i++) ka[i] = axis_at(&p->lhs_k, k + i);
  for (u64 i = 0; i < n; i++) row[i] = axis_at(&p->lhs_m, m + i);
  t->a = lhs;
  t->b = rhs;
  t->kb = p->rhs_k.step;
  if (!x->converts) return;
  t->a = to;
  for (u64 i = 0; i < n; row[i] = (i64)(i * t->k * of.n), i++)
    for (u64 j = 0; j < t->k; j++, to += of.n * p->size)
      dot_convert_row(p, p->lhs_type, of.n, to,
                      lhs + (row[i] + ka[j]) * (i64)dtype_size(p->lhs_type));
  t->b = to = env->scratch + x->rhs_at;
  t->kb = (i64)of.n;
  for (u64 j = 0; j < t->k; j++, to += of.n * p->size) {
    ka[j] = (i64)(j * of.n);
    dot_convert_row(p, p->rhs_type, of.n, to,
                    rhs + (i64)j * p->rhs_k.step * (i64)dtype_size(p->rhs_type));
  }
}

/* The last vector begins earlier, where there are not enough matrices. */
static u64 vector_at(u64 j, u64 count, u64 n) { return n - j < count ? n - count : j; }

/* Rows [m, m + n), all terms: sums, by vectors and their rows. */
static const char *sum_rows(const lanes *x, const exec_env *env, lane_range of, u64 m, u64 n) {
  const product *p = x->p;
  u64 count = x->strips->lanes, vectors = (of.n + count - 1) / count;
  char *sums = env->scratch, *total = sums + x->total_at;
  i64 row[ROWS], to[ROWS], ka[KC];
  dot_strip t = {.row = row, .ka = ka, .to = to};
  for (u64 i = 0; i < n; i++) to[i] = (i64)(i * count);
  for (u64 k = 0, done = 0; k < p->k; k += KC, done++) {
    t.k = p->k - k < KC ? p->k - k : KC;
    t.more = (p->groups ? done % DOT_GROUP : done) > 0;
    see_lines(x, env, of, m, n, k, &t, row, ka);
    for (u64 v = 0; v < vectors; v++) {
      dot_strip one = t;
      u64 at = vector_at(v * count, count, of.n) * p->size;
      one.a = (const char *)t.a + at;
      one.b = (const char *)t.b + at;
      one.c = sums + v * n * count * p->size;
      x->strips->across[n - 1](&one);
    }
    if (p->groups && (done % DOT_GROUP == DOT_GROUP - 1 || k + t.k == p->k))
      dot_add_group(p, done < DOT_GROUP, total, sums, vectors * n * count);
  }
  return p->groups ? total : sums;
}

static void store_rows(const lanes *x, const exec_env *env, lane_range of, u64 m, u64 n,
                       const char *sums) {
  const product *p = x->p;
  u64 count = x->strips->lanes;
  size_t vector = count * p->size;
  i64 size = (i64)dtype_size(p->out_type);
  for (u64 j = 0; j < of.n; j += count) {
    u64 at = of.first + vector_at(j, count, of.n);
    for (u64 i = 0; i < n; i++, sums += vector) {
      char *to = dot_result(p, env) + axis_at(&p->out_m, m + i) * size;
      if (x->converts)
        dot_store_row(p, &p->out_b, to, sums, at, count, env->scratch + x->line_at);
      else
        memcpy(to + (i64)at * size, sums, vector);
    }
  }
}

static void run_lanes(const void *data, const exec_env *env, u64 begin, u64 end) {
  const lanes *x = data;
  const product *p = x->p;
  u64 count = x->strips->lanes, last = end * x->rows < p->m ? end * x->rows : p->m;
  for (u64 m = begin * x->rows; m < last; m += ROWS) {
    u64 n = last - m < ROWS ? last - m : ROWS;
    for (u64 b = 0; b < p->batches; b += x->matrices) {
      u64 left = p->batches - b;
      lane_range of = {b, left < x->matrices ? left : x->matrices};
      if (left < count) of = (lane_range){p->batches - count, count};
      store_rows(x, env, of, m, n, sum_rows(x, env, of, m, n));
    }
  }
}

static bool is_lane(const axis *x) { return !x->table && x->step == 1; }

bool dot_lanes_lower(arena *a, const product *p, exec_step *out) {
  enum { ROWS_EACH = 8 * ROWS, VECTORS = 4, FEW = 64 };
  const dot_strips *strips = &p->k_->dot.strips[dot_strip_type(p->acc)];
  u64 cost, terms = p->k < KC ? p->k : KC;
  if (p->n != 1 || p->k == 0 || p->batches < strips->lanes || !strips->across[0]) return false;
  if (!is_lane(&p->lhs_b) || !is_lane(&p->rhs_b) || !is_lane(&p->out_b) || p->rhs_k.table)
    return false;
  lanes *x = ARENA_NEW(a, lanes);
  *x = (lanes){.p = p, .strips = strips, .rows = p->m < ROWS_EACH ? ROWS : ROWS_EACH};
  x->converts = p->lhs_type != p->acc || p->rhs_type != p->acc || p->out_type != p->acc;
  x->matrices = (x->converts && p->k > FEW ? 1 : VECTORS) * strips->lanes;
  size_t all = x->matrices * p->size, lines = x->converts ? terms * all : 0;
  x->total_at = ROWS * all;
  x->line_at = 2 * ROWS * all;
  x->lhs_at = x->line_at + all;
  x->rhs_at = x->lhs_at + ROWS * lines;
  if (!checked_mul(x->rows * p->batches, p->k, &cost)) cost = 1ull << 40;
  *out = (exec_step){.run = run_lanes,
                     .data = x,
                     .units = (p->m + x->rows - 1) / x->rows,
                     .cost = 100 + cost / 64,
                     .scratch = x->rhs_at + lines};
  return true;
}
