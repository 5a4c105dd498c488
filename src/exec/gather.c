/* StableHLO gather and scatter in full generality: index vectors name a corner in the operand,
 * a window of it is moved.
 *
 * Gather clamps the corner so that the window fits; scatter skips a window that does not fit.
 * A window is moved plane by plane (step_shape); scatter combines runs that are contiguous in
 * both tensors through the VM. Scatter goes through its updates in order, so it is one unit and
 * its sums are always the same. */
#include "exec/combine.h"
#include "exec/gather.h"
#include "exec/vm.h"
#include "num/convert.h"

static bool contains(i64s list, i64 v, size_t *at) {
  for (size_t i = 0; i < list.len; i++)
    if (list.data[i] == v) return *at = i, true;
  return false;
}

/* ---- any ---- */

/* A batch's window, offsets in elements. `inside`: it fits; clamped so that it does, where it is
 * gathered. */
typedef struct window_at {
  i64 operand, other;
  bool inside;
} window_at;

static window_at find_window(const gathering *r, const exec_env *env, u64 b) {
  const void *indices = env->slots[r->g->indices];
  window_at w = {.inside = true};
  i64 index;
  gather_find_batch(r, b, &index, &w.other, &w.operand);
  for (u32 k = 0; k < r->index_size; k++) {
    i64 start = step_read_index(r->index_type, indices, (u64)(index + k * r->component_stride));
    start = take_wrapped(&r->rule, start);
    i64 clamped = start < 0 ? 0 : start > r->most[k] ? r->most[k] : start;
    w.inside &= start == clamped;
    w.operand += clamped * r->operand_stride[k];
  }
  return w;
}

/* Batch b's, if there is one, while the one before is worked on: no processor could guess where it
 * begins. */
static window_at find_next(const gathering *r, const exec_env *env, u64 b, u64 end) {
  enum { LINE = 64 };
  if (b >= end) return (window_at){0};
  window_at w = find_window(r, env, b);
  const char *at = (const char *)env->slots[r->g->operand[0]] + w.operand * (i64)r->width[0];
  for (i64 i = 0; i < r->ahead; i += LINE) __builtin_prefetch(at + i);
  return w;
}

/* A unit is a batch: one index vector and the window that it names. */
static void run_gather(const void *data, const exec_env *env, u64 begin, u64 end) {
  const gathering *r = data;
  const prog_gather *g = r->g;
  const char *operand = env->slots[g->operand[0]];
  char *result = env->slots[g->other[0]];
  i64 width = r->width[0];
  window_at w = find_next(r, env, begin, end);
  while (begin < end) {
    window_at next = find_next(r, env, ++begin, end);
    bool blank = r->rule.fill && !w.inside;
    step_shape_copy(r->k, blank ? &r->blank : &r->window, result + w.other * width,
                    blank ? r->rule.fill : operand + w.operand * width, 0, r->window_planes);
    w = next;
  }
}

/* One run of n elements at the given element offsets, for every operand. */
static void combine_run(const gathering *r, const exec_env *env, void **reg, i64 to, i64 from,
                        size_t n) {
  const prog_gather *g = r->g;
  for (u32 i = 0; i < g->n; i++) {
    char *target = (char *)env->slots[g->operand[i]] + to * (i64)r->width[i];
    reg[i] = reg[2 * g->n + i] = target;
    reg[g->n + i] = (char *)env->slots[g->other[i]] + from * (i64)r->width[i];
  }
  vm_run(r->body, reg, n);
  for (u32 i = 0; i < g->n; i++) {
    const vm_output *v = &r->body->outputs[i];
    char *target = (char *)env->slots[g->operand[i]] + to * (i64)r->width[i];
    if (v->in_place || reg[v->reg] == target) continue;
    if (v->scalar)
      for (size_t k = 0; k < n; k++) memcpy(target + k * v->width, reg[v->reg], v->width);
    else
      memmove(target, reg[v->reg], n * v->width);
  }
}

static void combine_window(const gathering *r, const exec_env *env, void **reg, i64 to, i64 from) {
  enum { MOST = 2048 };
  const step_shape *s = &r->window;
  i64 at[PROG_MAX_DIMS] = {0};
  u32 outer = r->run ? s->rank - 1 : s->rank;
  for (;;) {
    for (i64 i = 0; i < r->run_length; i += MOST)
      combine_run(r, env, reg, to + i, from + i,
                  (size_t)(r->run_length - i < MOST ? r->run_length - i : MOST));
    u32 d = outer;
    for (; d > 0; d--) {
      from += s->to[d - 1];
      to += s->from[d - 1];
      if (++at[d - 1] < s->dims[d - 1]) break;
      from -= at[d - 1] * s->to[d - 1];
      to -= at[d - 1] * s->from[d - 1];
      at[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

/* Windows may overlap, so that all batches are one unit, in order. Out of range, nothing is
 * written (StableHLO, scatter). */
static void run_scatter(const void *data, const exec_env *env, u64 begin, u64 end) {
  const gathering *r = data;
  void **reg = vm_begin(r->body, env->scratch, 2048);
  (void)begin, (void)end;
  window_at w = find_next(r, env, 0, r->batches);
  for (u64 b = 0; b < r->batches; b++) {
    window_at next = find_next(r, env, b + 1, r->batches);
    if (w.inside) combine_window(r, env, reg, w.operand, w.other);
    w = next;
  }
}

/* ---- windows that are rows ---- */

enum { ROWS = 128 };

/* Where rows are, in bytes from one index and one row to the next. */
typedef struct row_line {
  char *from;
  i64 index_step, operand_step, row;
  bool clamp;
} row_line;

#define ROWS_AT(I, READ)                                                                           \
  static void rows_at_##I(const gathering *r, const row_line *l, const void *indices, u64 n,       \
                          char **out) {                                                            \
    const row_line z = *l;                                                                         \
    const take_rule rule = r->rule;                                                                \
    const I *at = indices;                                                                         \
    for (i64 i = 0; i < (i64)n; i++) {                                                             \
      i64 start = take_wrapped(&rule, READ), inside = take_clamped(&rule, start);                  \
      char *row = z.from + i * z.operand_step + inside * z.row;                                    \
      __builtin_prefetch(row);                                                                     \
      out[i] = z.clamp || start == inside ? row : NULL;                                            \
    }                                                                                              \
  }
ROWS_AT(i32, (i64)at[i * z.index_step])
ROWS_AT(i64, at[i * z.index_step])
ROWS_AT(void, step_read_index(r->index_type, at, (u64)(i *z.index_step)))

/* Where those rows of the operand are that batches b and on name, some of a line: clamped, or NULL
 * where that is outside. How many. */
static u64 find_rows(const gathering *r, const exec_env *env, u64 b, u64 end, bool clamp,
                     batch_line *l, char **at) {
  const char *indices = env->slots[r->g->indices];
  i64 width = r->width[0];
  u64 n = gather_along_last(r, b, end);
  if (n > ROWS) n = ROWS;
  *l = gather_line_from(r, b);
  row_line z = {.from = (char *)env->slots[r->g->operand[0]] + l->operand * width,
                .index_step = l->index_step,
                .operand_step = l->operand_step * width,
                .row = r->operand_stride[0] * width,
                .clamp = clamp};
  if (r->index_size > 1) {
    i32 place[ROWS];
    const i32 *of = gather_find_places(r, env, l, 0, n, place);
    for (u64 i = 0; i < n; i++) __builtin_prefetch(at[i] = z.from + of[i] * width);
    return n;
  }
  indices += l->index * (i64)dtype_size(r->index_type);
  if (r->index_type == DTYPE_s32)
    rows_at_i32(r, &z, indices, n, at);
  else if (r->index_type == DTYPE_s64)
    rows_at_i64(r, &z, indices, n, at);
  else
    rows_at_void(r, &z, indices, n, at);
  return n;
}

/* The same of rows that are short. */
static void run_few_rows(const void *data, const exec_env *env, u64 begin, u64 end) {
  const gathering *r = data;
  const prog_gather *g = r->g;
  i64 width = r->width[0];
  if (g->scatter) end = r->batches; /* one unit */
  for (u64 n; begin < end; begin += n) {
    batch_line l = gather_line_from(r, begin);
    n = gather_along_last(r, begin, end);
    few_rows z = {.at = (const i32 *)env->slots[g->indices] + l.index,
                  .operand = (char *)env->slots[g->operand[0]] + l.operand * width,
                  .other = (char *)env->slots[g->other[0]] + l.other * width,
                  .bytes = r->row * (u64)width,
                  .takes = !g->scatter,
                  .rule = r->rule};
    few_rows_run(r->few, &z, n);
  }
}

static void run_gather_rows(const void *data, const exec_env *env, u64 begin, u64 end) {
  const gathering *r = data;
  i64 width = r->width[0];
  char *at[ROWS], *result = env->slots[r->g->other[0]];
  batch_line l;
  for (u64 n; begin < end; begin += n) {
    n = find_rows(r, env, begin, end, !r->rule.fill, &l, at);
    for (u64 i = 0; r->rule.fill && i < n; i++)
      if (!at[i]) at[i] = r->filled;
    r->k->move->pick(n, r->row * (u64)width, result + l.other * width, l.other_step * width, at);
  }
}

static void run_scatter_rows(const void *data, const exec_env *env, u64 begin, u64 end) {
  const gathering *r = data;
  i64 width = r->width[0];
  char *at[ROWS];
  batch_line l;
  end = r->batches; /* one unit */
  for (u64 n; begin < end; begin += n) {
    n = find_rows(r, env, begin, end, false, &l, at);
    const char *from = (const char *)env->slots[r->g->other[0]] + l.other * width;
    if (r->add_rows) r->add_rows(n, r->row, (void *const *)at, from, l.other_step);
    for (u64 i = 0; i < n && !r->add_rows; i++, from += l.other_step * width) {
      if (!at[i]) continue;
      if (r->add)
        r->add(r->row, at[i], at[i], from, NULL);
      else
        memcpy(at[i], from, r->row * (u64)width);
    }
  }
}

static char *row_of_fill(arena *a, const gathering *r) {
  u64 width = r->width[0];
  char *row = arena_alloc(a, r->row * width);
  for (u64 i = 0; i < r->row; i++) memcpy(row + i * width, r->rule.fill, width);
  return row;
}

/* Whether windows are rows that are moved, or added as they lie in memory; by more than one index,
 * whether they are moved out. */
static bool find_row(const lower_env *e, gathering *r, dtype t) {
  enum { MOST = 1 << 12 }; /* bytes; of longer ones the next is brought while one is moved */
  const step_shape *s = &r->window;
  const prog_gather *g = r->g;
  bool many = r->index_size != 1;
  if (g->n != 1 || (many && (g->scatter || !gather_has_places(g))) || s->rank != 1 ||
      s->to[0] != 1 || s->from[0] != 1 || s->dims[0] * (i64)r->width[0] > MOST)
    return false;
  static const few_how joins[REDUCE_COUNT_] = {
      [REDUCE_SUM] = FEW_ADD, [REDUCE_MAX] = FEW_MAX, [REDUCE_MIN] = FEW_MIN};
  bool moves = !g->scatter || gather_is_put(&g->body);
  few_how how = moves ? (few_how)g->scatter : joins[g->body.kind];
  r->row = (u64)s->dims[0];
  u32 last = r->batch_rank - 1;
  bool dense = r->batch_rank && r->batch_index[last] == 1 && r->batch_other[last] == s->dims[0] &&
               r->batch_operand[last] == 0 && r->operand_stride[0] == s->dims[0];
  bool any = strcmp(r->k->isa, "base") == 0; /* for which these are not compiled */
  bool known = !any && !many && r->index_type == DTYPE_s32 && r->rule.most < INT32_MAX;
  if (g->fills) r->filled = row_of_fill(e->a, r);
  known &= !g->fills;
  if (dense && known && (moves || how)) r->few = few_rows_find(how, t, r->row * r->width[0]);
  if (r->few) return true;
  if (!moves) {
    r->add = combine_direct(r->k, &g->body, t);
    if (!r->add) return false;
    const fold_kernels *f = r->k->fold_rows[vm_rtype_of(t)];
    r->add_rows = f && g->body.kind == REDUCE_SUM ? f->add_rows : NULL;
  }
  return true;
}

/* ---- lowering ---- */

static void strides_of(i64s dims, i64 *stride) {
  i64 s = 1;
  for (size_t d = dims.len; d-- > 0;) {
    stride[d] = s;
    s *= dims.data[d];
  }
}

static void lower_batches(gathering *r, const prog_gather *g, const i64 *index_stride,
                          const i64 *other_stride, const i64 *operand_stride) {
  size_t at, index_dim = 0;
  r->batches = 1;
  for (size_t d = 0; d < g->other_dims.len; d++) {
    if (contains(g->offset_dims, (i64)d, &at)) continue;
    if ((i64)index_dim == g->index_vector_dim) index_dim++;
    if (g->other_dims.data[d] == 1) { /* not walked */
      index_dim++;
      continue;
    }
    u32 k = r->batch_rank++;
    r->batch_dims[k] = g->other_dims.data[d];
    r->batch_index[k] = index_stride[index_dim];
    r->batch_other[k] = other_stride[d];
    r->batch_operand[k] = contains(g->indices_batching, (i64)index_dim, &at)
                              ? operand_stride[g->operand_batching.data[at]]
                              : 0;
    r->batches *= (u64)g->other_dims.data[d];
    index_dim++;
  }
}

/* Batches that lie one behind the other in all that they have are of one dim. */
static void merge_batches(gathering *r) {
  i64 *steps[] = {r->batch_index, r->batch_other, r->batch_operand};
  for (u32 d = 0; d + 1 < r->batch_rank;) {
    bool one = true;
    for (u32 i = 0; i < COUNT(steps); i++)
      one &= steps[i][d] == steps[i][d + 1] * r->batch_dims[d + 1];
    if (!one) {
      d++;
      continue;
    }
    r->batch_dims[d] *= r->batch_dims[d + 1];
    r->batch_rank--;
    for (u32 i = 0; i < COUNT(steps); i++)
      for (u32 k = d; k < r->batch_rank; k++) steps[i][k] = steps[i][k + 1];
    for (u32 k = d + 1; k < r->batch_rank; k++) r->batch_dims[k] = r->batch_dims[k + 1];
  }
}

/* The window's dims, in operand order; slice[d] is its size in every operand dim. */
static void lower_window(gathering *r, const prog_gather *g, const i64 *other_stride,
                         const i64 *operand_stride, i64 *slice) {
  size_t at, next = 0;
  r->window.width = 1;
  for (size_t d = 0; d < g->operand_dims.len; d++) {
    bool hidden = contains(g->collapsed, (i64)d, &at) || contains(g->operand_batching, (i64)d, &at);
    slice[d] = g->scatter ? 1 : g->slice_sizes.data[d];
    if (hidden) continue;
    i64 other_dim = g->offset_dims.data[next++];
    slice[d] = g->other_dims.data[other_dim];
    u32 k = r->window.rank++;
    r->window.dims[k] = slice[d];
    r->window.to[k] = other_stride[other_dim];
    r->window.from[k] = operand_stride[d];
  }
}

/* Windows of one index each that is known by now: copies from known places. */
static bool lower_known(const lower_env *e, const gathering *r, exec_step *out) {
  enum { MOST = 64 };
  const prog_slot *at = &e->prog->slots[r->g->indices];
  i64 to[MOST], from[MOST], k;
  bool known = at->kind == SLOT_CONST && at->data && r->index_size == 1;
  if (r->g->scatter || !known || r->rule.fill || r->batches > MOST) return false;
  for (u64 b = 0; b < r->batches; b++) {
    gather_find_batch(r, b, &k, &to[b], &from[b]);
    k = take_wrapped(&r->rule, step_read_index(r->index_type, at->data, (u64)k));
    from[b] += take_clamped(&r->rule, k) * r->operand_stride[0];
  }
  return shuffle_rows(e, &r->window, r->width[0], r->g, (u32)r->batches, to, from, out);
}

static void lower_scatter_body(const lower_env *e, gathering *r, exec_step *out) {
  const prog_gather *g = r->g;
  vm_instr storage[4];
  vm_code code = g->body.code;
  if (g->body.kind != REDUCE_CODE)
    code = prog_body_code(g->body.kind, e->prog->slots[g->operand[0]].type, storage);
  bool direct[32];
  u64 overlaps[32];
  for (u32 i = 0; i < g->n; i++) direct[i] = true, overlaps[i] = 1ull << i;
  vm_spec spec = {.code = &code,
                  .num_in = 2 * g->n,
                  .num_out = g->n,
                  .out_direct = direct,
                  .out_overlaps = overlaps};
  r->body = vm_lower(e, &spec);
  u32 last = r->window.rank - 1;
  r->run = r->window.to[last] == 1 && r->window.from[last] == 1;
  r->run_length = r->run ? r->window.dims[last] : 1;
  out->run = run_scatter;
  out->units = r->batches > 0;
  out->scratch = vm_scratch_bytes(r->body, 2048);
}

/* Windows whose elements, or short rows, lie apart in the operand, and where nothing is looked up,
 * as batches: outer ones, of which each takes single elements or rows along the rows of the others.
 * An element of a result or an operand is reached through one element of the window only, so that
 * updates stay in order. */
static bool unroll_window(gathering *r, const prog_gather *g, const i64 *slice, bool rows) {
  enum { LINE = 8, ROW = 1024 };
  step_shape *s = &r->window;
  u32 rank = s->rank - rows, last = r->batch_rank - 1;
  if (!r->batch_rank || r->batch_dims[last] < LINE || r->batch_rank + rank > PROG_MAX_DIMS)
    return false;
  if (rows && (s->from[rank] != 1 || s->to[rank] != 1 || s->dims[rank] * (i64)r->width[0] > ROW))
    return false;
  for (u32 d = 0; d < rank; d++)
    if (s->from[d] == 1 && s->dims[d] > 1) return false;
  for (u32 k = 0; k < r->index_size; k++)
    if (slice[g->start_index_map.data[k]] != 1) return false;
  for (u32 d = r->batch_rank; d-- > 0;) {
    r->batch_dims[d + rank] = r->batch_dims[d];
    r->batch_index[d + rank] = r->batch_index[d];
    r->batch_other[d + rank] = r->batch_other[d];
    r->batch_operand[d + rank] = r->batch_operand[d];
  }
  for (u32 d = 0; d < rank; d++) {
    r->batch_dims[d] = s->dims[d];
    r->batch_index[d] = 0;
    r->batch_other[d] = s->to[d];
    r->batch_operand[d] = s->from[d];
    r->batches *= (u64)s->dims[d];
  }
  r->batch_rank += rank;
  merge_batches(r);
  for (u32 d = 0; d < rank && rows; d++) step_shape_remove(s, 0);
  return true;
}

/* The rest of a row comes by itself. */
static void look_ahead(const program *p, gathering *r) {
  enum { MOST = 1024, NEAR = 4 << 20 };
  const step_shape *s = &r->window;
  bool row = s->rank > 0 && s->from[s->rank - 1] == 1;
  i64 bytes = (row ? s->dims[s->rank - 1] : 1) * r->width[0];
  r->ahead = bytes < MOST ? bytes : MOST;
  r->far = prog_slot_bytes(&p->slots[r->g->operand[0]]) > NEAR;
}

/* In bytes; and the same of one element everywhere. */
static void measure_window(gathering *r) {
  for (u32 d = 0; d < r->window.rank; d++) {
    r->window.to[d] *= r->width[0];
    r->window.from[d] *= r->width[0];
  }
  r->window.width = r->width[0];
  r->window_planes = step_shape_planes(&r->window);
  r->blank = r->window;
  for (u32 d = 0; d < r->window.rank; d++) r->blank.from[d] = 0;
}

void gather_lower(const lower_env *e, const prog_gather *g, exec_step *out) {
  gathering *r = ARENA_NEW(e->a, gathering);
  i64 index_stride[PROG_MAX_DIMS + 1] = {0}, other_stride[PROG_MAX_DIMS + 1] = {0};
  i64 operand_stride[PROG_MAX_DIMS + 1] = {0}, slice[PROG_MAX_DIMS + 1] = {0};
  *out = (exec_step){.run = run_gather, .data = r};
  r->g = g, r->k = e->k, r->index_type = e->prog->slots[g->indices].type;
  r->width = ARENA_ARRAY(e->a, u32, g->n);
  for (u32 i = 0; i < g->n; i++) r->width[i] = (u32)dtype_size(e->prog->slots[g->operand[i]].type);
  strides_of(g->indices_dims, index_stride);
  strides_of(g->other_dims, other_stride);
  strides_of(g->operand_dims, operand_stride);
  r->index_size = (u32)g->start_index_map.len;
  r->component_stride =
      g->index_vector_dim < (i64)g->indices_dims.len ? index_stride[g->index_vector_dim] : 0;
  lower_batches(r, g, index_stride, other_stride, operand_stride);
  merge_batches(r);
  lower_window(r, g, other_stride, operand_stride, slice);
  for (u32 k = 0; k < r->index_size; k++) {
    i64 d = g->start_index_map.data[k];
    r->operand_stride[k] = operand_stride[d];
    r->most[k] = g->operand_dims.data[d] - slice[d];
  }
  r->rule = (take_rule){r->most[0], g->wrap, g->fills ? &g->fill : NULL};
  u64 elements = 1;
  for (u32 d = 0; d < r->window.rank; d++) elements *= (u64)r->window.dims[d];
  if (elements == 0 || r->batches == 0) return;
  /* An empty operand has no element to gather; StableHLO forbids it, a program may not. */
  for (size_t d = 0; d < g->operand_dims.len; d++)
    if (g->operand_dims.data[d] < slice[d]) return;
  step_shape_simplify(&r->window);
  if (lower_known(e, r, out)) return;
  look_ahead(e->prog, r);
  out->cost = 30 + 10 * r->index_size + elements * (g->scatter ? 2 : 1);
  dtype type = e->prog->slots[g->operand[0]].type;
  if (gather_find_single(r, type) && (elements == 1 || unroll_window(r, g, slice, false))) {
    *out = (exec_step){.run = gather_run_singles, .data = r, .units = r->batches, .cost = 3};
    if (!g->scatter) return;
    out->units = 1;
    out->cost *= r->batches;
    return;
  }
  if (r->window.rank > 1) unroll_window(r, g, slice, true);
  if (find_row(e, r, type)) {
    out->run = r->few ? run_few_rows : g->scatter ? run_scatter_rows : run_gather_rows;
    out->units = g->scatter ? 1 : r->batches;
    if (g->scatter) out->cost *= r->batches;
    return;
  }
  if (g->scatter) {
    lower_scatter_body(e, r, out);
    return;
  }
  measure_window(r);
  out->units = r->batches;
}
