/* Products of many small matrices whose elements lie side by side, as those of a convolution with
 * as many groups as features do: a vector has one element of each. */
#include "exec/dot.h"

enum { KC = DOT_TERMS, ROWS = DOT_ACROSS };

typedef struct lanes {
  const product *p;
  u64 rows;   /* of a unit */
  size_t row; /* bytes of a vector */
} lanes;

/* Rows [m, m + n) of matrices [j, j + a vector), all terms: sums to `sums`, by row. */
static char *sum_strip(const lanes *x, const exec_env *env, u64 m, u64 n, u64 j) {
  const product *p = x->p;
  char *sums = env->scratch, *total = sums + ROWS * x->row, *at = p->groups ? total : sums;
  const char *lhs = (const char *)env->slots[p->lhs] + p->lhs_offset + j * p->size;
  const char *rhs = (const char *)env->slots[p->rhs] + p->rhs_offset + j * p->size;
  i64 row[ROWS], to[ROWS], ka[KC];
  dot_strip t = {.a = lhs, .row = row, .ka = ka, .kb = p->rhs_k.step, .c = sums, .to = to};
  for (u64 i = 0; i < n; i++) {
    row[i] = axis_at(&p->lhs_m, m + i);
    to[i] = (i64)(i * x->row / p->size);
  }
  for (u64 k = 0, done = 0; k < p->k; k += KC, done++) {
    t.k = p->k - k < KC ? p->k - k : KC;
    t.b = rhs + axis_at(&p->rhs_k, k) * (i64)p->size;
    t.more = done % DOT_GROUP > 0;
    for (u64 i = 0; i < t.k; i++) ka[i] = axis_at(&p->lhs_k, k + i);
    p->strips->across[n - 1](&t);
    if (p->groups && (done % DOT_GROUP == DOT_GROUP - 1 || k + t.k == p->k))
      dot_add_group(p, done < DOT_GROUP, total, sums, n * x->row / p->size);
  }
  return at;
}

/* The last vector begins earlier, where there are not enough matrices. */
static void run_lanes(const void *data, const exec_env *env, u64 begin, u64 end) {
  const lanes *x = data;
  const product *p = x->p;
  u64 count = p->strips->lanes, first = begin * x->rows;
  u64 last = end * x->rows < p->m ? end * x->rows : p->m;
  for (u64 m = first; m < last; m += ROWS) {
    u64 n = last - m < ROWS ? last - m : ROWS;
    for (u64 j = 0; j < p->batches; j += count) {
      u64 at = p->batches - j < count ? p->batches - count : j;
      const char *sums = sum_strip(x, env, m, n, at);
      for (u64 i = 0; i < n; i++)
        memcpy(dot_result(p, env) + (axis_at(&p->out_m, m + i) + (i64)at) * (i64)p->size,
               sums + i * x->row, x->row);
    }
  }
}

static bool is_lane(const axis *x) { return !x->table && x->step == 1; }

bool dot_lanes_lower(arena *a, const product *p, exec_step *out) {
  enum { ROWS_EACH = 8 * ROWS };
  u64 cost;
  if (p->n != 1 || p->k == 0 || p->batches < p->strips->lanes || !p->strips->across[0])
    return false;
  if (p->lhs_type != p->acc || p->rhs_type != p->acc || p->out_type != p->acc) return false;
  if (!is_lane(&p->lhs_b) || !is_lane(&p->rhs_b) || !is_lane(&p->out_b) || p->rhs_k.table)
    return false;
  lanes *x = ARENA_NEW(a, lanes);
  *x = (lanes){p, p->m < ROWS_EACH ? ROWS : ROWS_EACH, p->strips->lanes * p->size};
  if (!checked_mul(x->rows * p->batches, p->k, &cost)) cost = 1ull << 40;
  *out = (exec_step){.run = run_lanes,
                     .data = x,
                     .units = (p->m + x->rows - 1) / x->rows,
                     .cost = 100 + cost / 64,
                     .scratch = 2 * ROWS * x->row};
  return true;
}
