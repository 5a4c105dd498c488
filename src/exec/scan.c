/* Cumulative reductions: reduce_window as JAX writes cumsum, whose windows are all that lies before
 * an element, or after it. Along `dim`, of length n, each element of (outer, n, inner) gets the
 * combination of its line up to itself.
 *
 * Sums go by STEP values, by STEP of those sums, and so on, so that none has taken many others
 * (docs/semantics.md). Lines whose elements lie apart are scanned many at a time, a row of them
 * after the other. Of a single line a piece is transposed, so that the body works on every STEPth
 * element at once. */
#include "exec/combine.h"
#include "exec/extremes.h"
#include "exec/unroll.h"
#include "num/convert.h"

enum { STEP = 16, PIECE = STEP * STEP * STEP, COLUMNS = 256, STAIRS = 16 };
enum { LONG = 2048 }; /* lines whose largest so far are found sooner many elements at a time */

/* Each of n values combined with all before it and what came before those. total: of the values,
 * or, where every order is exact, with what came before. */
typedef void line_fn(size_t n, const void *from, void *to, const void *before, void *total);

typedef struct scanning {
  const prog_window *w;
  combiner c;
  bool backward;   /* from the end */
  bool init_apart; /* there, and the body may not commute: the initial value is combined last */
  bool columns;
  u32 levels;
  line_fn *fast; /* a line of a known body's common types; NULL: through the VM */
  bool exact;    /* fast: no order loses anything */
  i64 n, outer, inner;
  size_t block; /* the most elements of a register */
  size_t stairs_at, stair_bytes, buffers_at, buffer_bytes;
} scanning;

typedef char *operands[COMBINE_OPERANDS];

static void ordered(const scanning *r, void **reg, char *const *to, char *const *before,
                    char *const *here, size_t n) {
  combine(&r->c, reg, to, r->backward ? here : before, r->backward ? before : here, n);
}
static void move_on(const scanning *r, char *const *from, size_t elements, char **to) {
  for (u32 o = 0; o < r->c.n; o++) to[o] = from[o] + elements * r->c.width[o];
}

/* ---- what came before: of n lines ---- */

typedef struct stairs {
  const scanning *r;
  void **reg;
  char *mem;
  size_t n;
  u32 taken[STAIRS];
  bool begun[STAIRS]; /* there is something before */
} stairs;

/* A level's sum so far, or what came before that sum began, of level 0 to begin with the initial
 * value. */
static void stair(const stairs *s, u32 level, bool before, char **out) {
  for (u32 o = 0; o < s->r->c.n; o++)
    out[o] = s->mem + ((2 * level + before) * s->r->c.n + o) * s->r->stair_bytes;
}
/* The initial value, as often as there are lines. */
static void initial(const stairs *s, char **out) { stair(s, s->r->levels, false, out); }

static void begin_stairs(stairs *s, const scanning *r, const exec_env *env, void **reg, size_t n) {
  *s = (stairs){.r = r, .reg = reg, .mem = env->scratch + r->stairs_at, .n = n};
  operands first, before;
  initial(s, first);
  for (u32 o = 0; o < r->c.n; o++) {
    u64 init[2];
    combine_load(&r->c, o, 1, init, env->slots[r->w->init[o]]);
    r->c.k->splat[vm_log2_width(r->c.width[o])](n, first[o], init, NULL, NULL);
  }
  for (u32 l = 0; l < r->levels && !r->init_apart; l++) {
    stair(s, l, true, before);
    combine_copy(&r->c, before, first, n);
    s->begun[l] = true;
  }
}

/* to: what a level has before it and in its sum. */
static void sum_up(stairs *s, u32 level, char *const *to) {
  operands sum, before;
  stair(s, level, false, sum);
  stair(s, level, true, before);
  if (s->begun[level])
    ordered(s->r, s->reg, to, before, sum, s->n);
  else
    combine_copy(&s->r->c, to, sum, s->n);
}

static void climb(stairs *s) {
  const scanning *r = s->r;
  operands sum, next;
  u32 l = 0;
  for (; s->taken[l] == STEP && l + 1 < r->levels; l++) {
    stair(s, l, false, sum);
    stair(s, l + 1, false, next);
    if (s->taken[l + 1])
      ordered(r, s->reg, next, next, sum, s->n);
    else
      combine_copy(&r->c, next, sum, s->n);
    s->taken[l] = 0;
    s->taken[l + 1]++;
  }
  if (l == 0) return;
  stair(s, l - 1, true, next);
  sum_up(s, l, next);
  s->begun[l - 1] = true;
  for (u32 k = l - 1; k-- > 0;) {
    stair(s, k, true, sum);
    combine_copy(&r->c, sum, next, s->n);
    s->begun[k] = true;
  }
}

/* The next values; out: with all that came before. */
static void take_step(stairs *s, char *const *values, char *const *out) {
  operands sum;
  stair(s, 0, false, sum);
  if (s->taken[0])
    ordered(s->r, s->reg, sum, sum, values, s->n);
  else
    combine_copy(&s->r->c, sum, values, s->n);
  sum_up(s, 0, out);
  if (++s->taken[0] == STEP) climb(s);
}

/* ---- many lines ---- */

/* Values are in memory as in registers. */
static bool in_memory(const scanning *r, u32 o) {
  return !r->c.k->load[r->c.types[o]] && !r->c.k->clean[r->c.types[o]];
}
static char *element(const scanning *r, const exec_env *env, const u32 *slots, u32 o, i64 at) {
  return (char *)env->slots[slots[o]] + at * (i64)dtype_size(r->c.types[o]);
}
/* The i-th buffer of an operand. */
static char *buffer(const scanning *r, const exec_env *env, u32 i, u32 o) {
  return env->scratch + r->buffers_at + (i * r->c.n + o) * r->buffer_bytes;
}

static void scan_columns(const scanning *r, const exec_env *env, void **reg, i64 at, size_t n) {
  stairs s;
  operands first;
  begin_stairs(&s, r, env, reg, n);
  initial(&s, first);
  for (i64 k = 0; k < r->n; k++) {
    i64 row = at + (r->backward ? r->n - 1 - k : k) * r->inner;
    operands in, out;
    for (u32 o = 0; o < r->c.n; o++) {
      bool here = in_memory(r, o);
      in[o] = here ? element(r, env, r->w->in, o, row) : buffer(r, env, 0, o);
      out[o] = here ? element(r, env, r->w->out, o, row) : buffer(r, env, 1, o);
      if (!here) combine_load(&r->c, o, n, in[o], element(r, env, r->w->in, o, row));
    }
    take_step(&s, in, out);
    if (r->init_apart) combine(&r->c, reg, out, first, out, n);
    for (u32 o = 0; o < r->c.n; o++)
      if (!in_memory(r, o)) combine_store(&r->c, o, n, element(r, env, r->w->out, o, row), out[o]);
  }
}

/* ---- one line ---- */

/* to[i][j] = from[j][i], of rows x columns elements without gaps */
static void transpose(const scanning *r, char *const *to, char *const *from, size_t rows,
                      size_t columns) {
  for (u32 o = 0; o < r->c.n; o++) {
    u32 width = r->c.width[o], w = vm_log2_width(width);
    i64 step = (i64)rows;
    if (w < 4)
      r->c.k->transpose[w](rows, columns, to[o], (i64)(columns * width), from[o], step * width,
                           false);
    for (size_t i = 0; w == 4 && i < rows; i++)
      r->c.k->stride[w](columns, to[o] + i * columns * width, from[o] + i * width, &step, NULL);
  }
}

/* Each of n values in x combined with all before it. x has room for a multiple of STEP, and
 * `free` for the same and a STEPth more, again and again. */
static void scan_values(const scanning *r, void **reg, char *const *x, char *const *free,
                        size_t n) {
  operands at, before, sums, rest;
  if (n <= STEP) {
    for (size_t i = 1; i < n; i++) {
      move_on(r, x, i - 1, before);
      move_on(r, x, i, at);
      ordered(r, reg, at, before, at, 1);
    }
    return;
  }
  size_t columns = (n + STEP - 1) / STEP;
  for (u32 o = 0; o < r->c.n; o++)
    memset(x[o] + n * r->c.width[o], 0, (columns * STEP - n) * r->c.width[o]);
  transpose(r, free, x, STEP, columns);
  for (size_t i = 1; i < STEP; i++) {
    move_on(r, free, (i - 1) * columns, before);
    move_on(r, free, i * columns, at);
    ordered(r, reg, at, before, at, columns);
  }
  move_on(r, free, STEP * columns, sums);
  move_on(r, sums, columns + STEP, rest);
  combine_copy(&r->c, sums, at, columns);
  scan_values(r, reg, sums, rest, columns);
  for (size_t i = 0; i < STEP; i++) {
    move_on(r, free, i * columns + 1, at);
    ordered(r, reg, at, sums, at, columns - 1);
  }
  transpose(r, x, free, columns, STEP);
}

/* The common ones without calls: sums of STEP values, of STEP of those, of STEP of those. */
#define LINE(name, T, expr)                                                                        \
  static T name##_of(T x, T y) { return expr; }                                                    \
  static void name(size_t n, const void *from, void *to, const void *before, void *total) {        \
    const T *a = from, *end = a + n;                                                               \
    T *d = to, first = *(const T *)before, sum2 = 0;                                               \
    for (const T *piece = a; a < end;) {                                                           \
      T before2 = a == piece ? first : name##_of(first, sum2), sum1 = 0;                           \
      for (const T *row = a; a < end && a < row + STEP * STEP;) {                                  \
        T before1 = a == row ? before2 : name##_of(before2, sum1), sum0 = *a;                      \
        const T *run = a, *stop = end - a < STEP ? end : a + STEP;                                 \
        for (*d++ = name##_of(before1, *a++); a < stop; a++) {                                     \
          sum0 = name##_of(sum0, *a);                                                              \
          *d++ = name##_of(before1, sum0);                                                         \
        }                                                                                          \
        sum1 = run == row ? sum0 : name##_of(sum1, sum0);                                          \
        if (a == end || a == row + STEP * STEP)                                                    \
          sum2 = row == piece ? sum1 : name##_of(sum2, sum1);                                      \
      }                                                                                            \
    }                                                                                              \
    memcpy(total, &sum2, sizeof sum2);                                                             \
  }
LINE(sum_f32, float, x + y)
LINE(sum_f64, double, x + y)
LINE(prod_f32, float, x *y)
LINE(prod_f64, double, x *y)
/* Where no order loses anything. */
#define EXACT_LINE(name, T, expr)                                                                  \
  static void name(size_t n, const void *from, void *to, const void *before, void *total) {        \
    const T *a = from;                                                                             \
    T *d = to, x = *(const T *)before, zero = (T)minus_zero;                                       \
    (void)zero;                                                                                    \
    for (size_t i = 0; i < n; i++) {                                                               \
      T y = a[i];                                                                                  \
      d[i] = x = expr;                                                                             \
    }                                                                                              \
    memcpy(total, &x, sizeof x);                                                                   \
  }
EXACT_LINE(sum_32, u32, x + y)
EXACT_LINE(sum_64, u64, x + y)
EXACT_LINE(max_s32, i32, x > y ? x : y)
EXACT_LINE(min_s32, i32, x < y ? x : y)
EXACT_LINE(max_f32, float, maximum_f32(x, y, zero))
EXACT_LINE(min_f32, float, minimum_f32(x, y, zero))
EXACT_LINE(max_f64, double, maximum_f64(x, y, zero))
EXACT_LINE(min_f64, double, minimum_f64(x, y, zero))
static line_fn *find_fast(prog_reducer kind, vm_rtype t) {
  static const struct {
    prog_reducer kind;
    vm_rtype type;
    line_fn *fn;
  } table[] = {
      {REDUCE_SUM, R_f32, sum_f32},   {REDUCE_SUM, R_f64, sum_f64},   {REDUCE_SUM, R_s32, sum_32},
      {REDUCE_SUM, R_u32, sum_32},    {REDUCE_SUM, R_s64, sum_64},    {REDUCE_SUM, R_u64, sum_64},
      {REDUCE_PROD, R_f32, prod_f32}, {REDUCE_PROD, R_f64, prod_f64}, {REDUCE_MAX, R_s32, max_s32},
      {REDUCE_MIN, R_s32, min_s32},   {REDUCE_MAX, R_f32, max_f32},   {REDUCE_MIN, R_f32, min_f32},
      {REDUCE_MAX, R_f64, max_f64},   {REDUCE_MIN, R_f64, min_f64}};
  for (size_t i = 0; i < COUNT(table); i++)
    if (table[i].kind == kind && table[i].type == t) return table[i].fn;
  return NULL;
}

/* n elements of a line from element `at` on, in the line's order, between memory and x. */
static void move_piece(const scanning *r, const exec_env *env, bool out, i64 at, char *const *x,
                       size_t n) {
  i64 step = r->backward ? -r->inner : r->inner;
  for (u32 o = 0; o < r->c.n; o++) {
    u32 w = vm_log2_width((u32)dtype_size(r->c.types[o]));
    char *line = element(r, env, out ? r->w->out : r->w->in, o, at), *raw = buffer(r, env, 2, o);
    if (out) {
      combine_store(&r->c, o, n, step == 1 ? line : raw, x[o]);
      if (step != 1) r->c.k->scatter[w](n, line, raw, &step, NULL);
    } else {
      if (step != 1) r->c.k->stride[w](n, raw, line, &step, NULL);
      combine_load(&r->c, o, n, x[o], step == 1 ? line : raw);
    }
  }
}

static void end_piece(stairs *s, char *const *total, char *const *carry) {
  if (s->r->exact)
    combine_copy(&s->r->c, carry, total, 1);
  else
    take_step(s, total, carry);
}

/* x combined with one value before it, or after it if that is the order; free: as long as x. */
static void combine_one(const scanning *r, void **reg, bool before, char *const *one,
                        char *const *x, char *const *free, size_t n) {
  for (u32 o = 0; o < r->c.n; o++)
    r->c.k->splat[vm_log2_width(r->c.width[o])](n, free[o], one[o], NULL, NULL);
  combine(&r->c, reg, x, before ? free : x, before ? x : free, n);
}

static void scan_line(const scanning *r, const exec_env *env, void **reg, i64 at) {
  operands x, free, carry, first, total, next;
  stairs s;
  for (u32 o = 0; o < r->c.n; o++) {
    x[o] = buffer(r, env, 0, o);
    free[o] = buffer(r, env, 1, o);
    carry[o] = buffer(r, env, 3, o);
  }
  begin_stairs(&s, r, env, reg, 1);
  initial(&s, first);
  combine_copy(&r->c, carry, first, 1);
  if (r->backward) at += (r->n - 1) * r->inner;
  for (i64 k = 0; k < r->n; k += PIECE) {
    size_t n = r->n - k < PIECE ? (size_t)(r->n - k) : PIECE;
    i64 here = at + (r->backward ? -k : k) * r->inner;
    if (r->fast && r->inner == 1 && !r->backward && in_memory(r, 0)) {
      r->fast(n, element(r, env, r->w->in, 0, here), element(r, env, r->w->out, 0, here), carry[0],
              free[0]);
      if (k + PIECE < r->n) end_piece(&s, free, carry);
      continue;
    }
    move_piece(r, env, false, here, x, n);
    if (r->fast) {
      r->fast(n, x[0], x[0], carry[0], free[0]);
      if (k + PIECE < r->n) end_piece(&s, free, carry);
    } else {
      scan_values(r, reg, x, free, n);
      move_on(r, free, n, total); /* behind what is about to be overwritten */
      move_on(r, x, n - 1, next);
      combine_copy(&r->c, total, next, 1);
      if (k > 0 || !r->init_apart) combine_one(r, reg, !r->backward, carry, x, free, n);
      take_step(&s, total, carry);
      if (r->init_apart) combine_one(r, reg, true, first, x, free, n);
    }
    move_piece(r, env, true, here, x, n);
  }
}

static void run_scan(const void *data, const exec_env *env, u64 begin, u64 end) {
  const scanning *r = data;
  void **reg = vm_begin(r->c.unit, env->scratch, r->block);
  for (u64 u = begin; u < end; u++) {
    if (!r->columns) {
      scan_line(r, env, reg, (i64)u / r->inner * r->n * r->inner + (i64)u % r->inner);
      continue;
    }
    i64 blocks = (r->inner + COLUMNS - 1) / COLUMNS, first = (i64)u % blocks * COLUMNS;
    i64 n = r->inner - first < COLUMNS ? r->inner - first : COLUMNS;
    scan_columns(r, env, reg, (i64)u / blocks * r->n * r->inner + first, (size_t)n);
  }
}

void scan_lower(const lower_env *e, const prog_window *w, u32 dim, bool backward, exec_step *out) {
  if (unroll_scan(e, w, dim, backward, out)) return;
  scanning *r = ARENA_NEW(e->a, scanning);
  *r = (scanning){.w = w, .backward = backward, .n = w->dims[dim], .outer = 1, .inner = 1};
  dtype *types = ARENA_ARRAY(e->a, dtype, w->n);
  for (u32 o = 0; o < w->n; o++) types[o] = e->prog->slots[w->in[o]].type;
  bool rounds = r->n <= COMBINE_FEW;
  combine_lower(e, &w->body, w->n, types, rounds, &r->c);
  for (u32 d = 0; d < w->rank; d++)
    if (d != dim) *(d < dim ? &r->outer : &r->inner) *= w->dims[d];
  r->columns = r->inner >= STEP;
  r->init_apart = backward && w->body.kind == REDUCE_CODE;
  if (w->n == 1 && (!num_is_small_float(types[0]) || (vm_reduces_wide(types[0]) && !rounds)))
    r->fast = find_fast(w->body.kind, vm_rtype_of(types[0]));
  bool floats = dtype_infos[types[0]].kind == DTYPE_CLASS_FLOAT;
  bool sums = w->body.kind == REDUCE_SUM || w->body.kind == REDUCE_PROD;
  if (floats && !sums && r->n >= LONG) r->fast = NULL;
  r->exact = !floats || !sums;
  i64 piece = r->n < PIECE ? (i64)align_up((size_t)r->n, STEP) : PIECE;
  i64 steps = r->columns ? r->n : (r->n + PIECE - 1) / PIECE;
  r->block = (size_t)(r->columns ? COLUMNS : piece);
  for (r->levels = 1; steps > STEP; steps /= STEP) r->levels++;
  u32 widest = 1;
  for (u32 o = 0; o < w->n; o++) widest = r->c.width[o] > widest ? r->c.width[o] : widest;
  r->stair_bytes = align_up((r->columns ? COLUMNS : 1) * widest, 64);
  r->stairs_at = align_up(vm_scratch_bytes(r->c.unit, r->block), 64);
  r->buffers_at = r->stairs_at + (2 * r->levels + 1) * w->n * r->stair_bytes;
  r->buffer_bytes = align_up((r->block + r->block / 8 + 8 * STEP) * widest, 64);
  u64 lines =
      (u64)(r->columns ? r->outer * ((r->inner + COLUMNS - 1) / COLUMNS) : r->outer * r->inner);
  *out = (exec_step){.run = run_scan,
                     .data = r,
                     .units = lines,
                     .cost = 20 + (u64)r->n * (r->columns ? COLUMNS / 4 : 1),
                     .scratch = r->buffers_at + 4 * w->n * r->buffer_bytes};
}
