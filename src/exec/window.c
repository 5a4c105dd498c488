/* reduce_window: the initial value, then a window's elements in order (combine.h), padding and the
 * holes of dilation left out. One of five ways, by shape and body alone:
 *
 *   scan.c    a window that spans a dim to one side with stride 1 (a cumulative reduction, as JAX
 *             writes cumsum)
 *   slide.c   a long window along one dim whose body is known: sums of 1, 2, 4, ... elements
 *   separate.c  maxima, minima and sums of integers whose elements lie apart: down the rows, then
 *               along them
 *   rows      a piece of a row of windows at once: all their first elements, all their second ...
 *   single    what is left: long windows of any body, and holes along rows */
#include "exec/combine.h"
#include "exec/rows.h"
#include "exec/separate.h"
#include "exec/slide.h"

enum {
  MOST = 2 * COMBINE_RUN, /* elements that one accumulator takes: accumulators_levels */
  LINE = 16               /* lanes that are worth a call */
};

typedef struct windowing {
  const prog_window *w;
  combiner c;
  row_windows r;
  kern_fn *direct;      /* the body over elements as they are stored; NULL: by the combiner */
  kern_lines_fn *lines; /* the same over all elements of windows at once; NULL: there is none */
  i64 in_stride[PROG_MAX_DIMS];
  u64 window_volume;
  u32 levels;
  size_t acc_at, now_at, raw_at, room; /* room: of an operand */
} windowing;

/* ---- rows ---- */

typedef struct rows {
  void **reg;
  char *acc[COMBINE_OPERANDS], *now[COMBINE_OPERANDS], *raw;
  i64 lanes;
} rows;

static void begin_rows(const windowing *x, const exec_env *env, rows *s) {
  s->reg = vm_begin(x->c.unit, env->scratch, ROW_LANES);
  s->raw = env->scratch + x->raw_at;
  for (u32 o = 0; o < x->c.n; o++) s->now[o] = env->scratch + x->now_at + o * x->room;
}

/* n windows' elements, from lane `at` on: runs of s->lanes that begin at element `from`. */
static void take_rows(const windowing *x, const exec_env *env, rows *s, i64 at, i64 n, i64 from,
                      i64 apart) {
  char *acc[COMBINE_OPERANDS], *now[COMBINE_OPERANDS];
  for (u32 o = 0; o < x->c.n; o++) {
    i64 size = (i64)dtype_size(x->c.types[o]);
    const char *in = (const char *)env->slots[x->w->in[o]] + from * size;
    acc[o] = s->acc[o] + at * x->c.width[o];
    now[o] = (char *)(uintptr_t)rows_fetch(x->c.k, x->c.types[o], s->raw, s->now[o], in, n,
                                           s->lanes, apart);
  }
  if (x->direct)
    x->direct((size_t)(n * s->lanes), acc[0], acc[0], now[0], NULL);
  else
    combine(&x->c, s->reg, acc, acc, now, (size_t)(n * s->lanes));
}

/* Which windows of a row have their k-th element along it inside, and where window 0's would be. */
typedef struct reach {
  i64 first, end, off;
} reach;

/* Windows [first, end) of a row, each element of theirs in `of`: a line for each, in order. Windows
 * side by side that have the same ones inside are one. */
static void take_lines(const windowing *x, const exec_env *env, i64 lanes, i64 base, i64 first,
                       i64 end, const reach *of, char *out) {
  const row_windows *r = &x->r;
  i64 apart = r->step[r->rank - 1] * r->inner, width = x->c.width[0], n;
  const char *in = (const char *)env->slots[x->w->in[0]] + base * width;
  for (i64 i = first; i < end; i += n) {
    const void *lines[MOST];
    size_t num = 0;
    n = apart == lanes ? end - i : 1;
    for (i64 k = 0; k < r->volume; k++) {
      if (of[k].first > i) n = min_i64(n, of[k].first - i);
      if (of[k].first > i || of[k].end <= i) continue;
      n = min_i64(n, of[k].end - i);
      lines[num++] = in + (of[k].off + i * apart) * width;
    }
    x->lines((size_t)(n * lanes), out + (i - first) * r->inner * width, env->slots[x->w->init[0]],
             lines, num);
  }
}

/* Windows [first, end) of a row, lanes [c, c + lanes) of a leading place. */
static void run_block(const windowing *x, const exec_env *env, rows *s, i64 lead, i64 row, i64 c,
                      i64 first, i64 end) {
  const row_windows *r = &x->r;
  reach of[MOST];
  i64 at[PROG_MAX_DIMS] = {0}, in[PROG_MAX_DIMS] = {0}, size = r->out_dims[r->rank - 1];
  i64 apart = r->step[r->rank - 1] * r->inner, base = lead * r->plane * r->inner + c;
  i64 out = (lead * r->out_plane + row * size + first) * r->inner + c;
  i64 runs = s->lanes == r->inner ? 1 : end - first, run = (end - first) * s->lanes / runs;
  bool in_place = x->direct && runs == 1; /* the result is its own accumulator */
  bool by_lines = x->lines && (apart == s->lanes || s->lanes >= LINE);
  rows_at(r, row, at);
  for (u32 o = 0; o < x->c.n && !by_lines; o++) {
    u64 init[2];
    combine_load(&x->c, o, 1, init, env->slots[x->w->init[o]]);
    s->acc[o] = in_place ? (char *)env->slots[x->w->out[o]] + out * x->c.width[o]
                         : env->scratch + x->acc_at + o * x->room;
    x->c.k->splat[vm_log2_width(x->c.width[o])]((size_t)((end - first) * s->lanes), s->acc[o], init,
                                                NULL, NULL);
  }
  for (i64 k = 0; k < r->volume; k++, rows_next(r, in)) {
    reach *v = &of[k];
    *v = (reach){first, end, 0};
    bool inside = rows_inside(r, at, in, &v->first, &v->end, &v->off);
    if (!inside) v->end = v->first = end;
    if (!by_lines && inside)
      take_rows(x, env, s, (v->first - first) * s->lanes, v->end - v->first,
                base + v->off + v->first * apart, apart);
  }
  if (by_lines)
    take_lines(x, env, s->lanes, base, first, end, of,
               (char *)env->slots[x->w->out[0]] + out * x->c.width[0]);
  for (u32 o = 0; o < x->c.n && !in_place && !by_lines; o++) {
    i64 width = (i64)dtype_size(x->c.types[o]);
    char *to = (char *)env->slots[x->w->out[o]] + out * width;
    for (i64 i = 0; i < runs; i++)
      combine_store(&x->c, o, (size_t)run, to + i * r->inner * width,
                    s->acc[o] + i * run * x->c.width[o]);
  }
}

static void run_rows(const void *data, const exec_env *env, u64 begin, u64 end) {
  const windowing *x = data;
  const row_windows *r = &x->r;
  i64 size = r->out_dims[r->rank - 1], rows_each = r->out_plane / size;
  rows s;
  begin_rows(x, env, &s);
  for (u64 u = begin; u < end; u++) {
    i64 rest = (i64)u, block = rest % r->blocks * r->row;
    rest /= r->blocks;
    i64 c = rest % r->pieces * r->piece;
    rest /= r->pieces;
    s.lanes = min_i64(r->piece, r->inner - c);
    run_block(x, env, &s, rest / rows_each, rest % rows_each, c, block,
              min_i64(block + r->row, size));
  }
}

/* Sums and the like of floats. */
static kern_lines_fn *find_lines(const lower_env *e, prog_reducer kind, dtype t) {
  const fold_kernels *f = e->k->fold_rows[vm_rtype_of(t)];
  if (!f) return NULL;
  return kind == REDUCE_SUM   ? f->sum_lines
         : kind == REDUCE_MAX ? f->max_lines
         : kind == REDUCE_MIN ? f->min_lines
                              : NULL;
}

static void lower_rows(const lower_env *e, windowing *x, exec_step *out) {
  row_windows *r = &x->r;
  x->direct = x->c.n == 1 ? combine_direct(e->k, &x->w->body, x->c.types[0]) : NULL;
  if (x->direct) x->lines = find_lines(e, x->w->body.kind, x->c.types[0]);
  x->room = ROW_LANES * 16 + 64;
  x->acc_at = align_up(vm_scratch_bytes(x->c.unit, ROW_LANES), 64);
  x->now_at = x->acc_at + x->c.n * x->room;
  x->raw_at = x->now_at + x->c.n * x->room;
  i64 rows_each = r->out_plane / r->out_dims[r->rank - 1];
  *out = (exec_step){.run = run_rows,
                     .data = x,
                     .units = (u64)(r->lead * rows_each * r->pieces * r->blocks),
                     .cost = 50 + (u64)(r->volume * (8 + r->row * r->piece / 4)),
                     .scratch = x->raw_at + x->room};
}

/* ---- single ---- */

typedef struct state {
  accumulators a;
  u64 value[COMBINE_OPERANDS][2];
  char *values[COMBINE_OPERANDS];
} state;

static void begin_state(const windowing *r, const exec_env *env, state *s) {
  void **reg = vm_begin(r->c.unit, env->scratch, 1);
  accumulators_begin(&s->a, &r->c, reg, env->scratch + r->acc_at, r->levels, 1);
  for (u32 i = 0; i < r->c.n; i++) s->values[i] = (char *)s->value[i];
}
static void begin_element(const windowing *r, const exec_env *env, state *s) {
  memset(s->a.taken, 0, sizeof s->a.taken);
  for (u32 i = 0; i < r->c.n; i++)
    combine_load(&r->c, i, 1, s->a.acc[i], env->slots[r->w->init[i]]);
  s->a.taken[0] = 1;
}
static void take(const windowing *r, const exec_env *env, state *s, i64 at) {
  for (u32 i = 0; i < r->c.n; i++)
    combine_load(&r->c, i, 1, s->value[i],
                 (const char *)env->slots[r->w->in[i]] + at * (i64)dtype_size(r->c.types[i]));
  accumulators_take(&s->a, s->values, 1);
}
static void put(const windowing *r, const exec_env *env, state *s, i64 at) {
  char *acc[COMBINE_OPERANDS];
  accumulators_join(&s->a, 1, acc);
  for (u32 i = 0; i < r->c.n; i++)
    combine_store(&r->c, i, 1,
                  (char *)env->slots[r->w->out[i]] + at * (i64)dtype_size(r->c.types[i]), acc[i]);
}

static void run_single(const void *data, const exec_env *env, u64 begin, u64 end) {
  const windowing *r = data;
  const prog_window *w = r->w;
  state s;
  begin_state(r, env, &s);
  for (u64 u = begin; u < end; u++) {
    i64 out[PROG_MAX_DIMS], in[PROG_MAX_DIMS] = {0};
    u64 rest = u;
    for (u32 d = w->rank; d-- > 0;) {
      out[d] = (i64)(rest % (u64)w->out_dims[d]);
      rest /= (u64)w->out_dims[d];
    }
    begin_element(r, env, &s);
    for (u64 k = 0; k < r->window_volume; k++) {
      i64 at = 0;
      bool inside = true;
      for (u32 d = 0; d < w->rank && inside; d++) {
        i64 p = out[d] * w->stride[d] + in[d] * w->window_dilation[d] - w->pad_low[d];
        inside = p >= 0 && p % w->base_dilation[d] == 0 && p / w->base_dilation[d] < w->dims[d];
        at += inside ? p / w->base_dilation[d] * r->in_stride[d] : 0;
      }
      if (inside) take(r, env, &s, at);
      for (u32 d = w->rank; d-- > 0;) {
        if (++in[d] < w->window[d]) break;
        in[d] = 0;
      }
    }
    put(r, env, &s, (i64)u);
  }
}

/* One dim whose window is the whole dim, padded on one side only; all others trivial. The dim, or
 * PROG_NONE. */
static u32 find_running(const prog_window *w, bool *backward) {
  u32 found = PROG_NONE;
  for (u32 d = 0; d < w->rank; d++) {
    if (w->stride[d] != 1 || w->base_dilation[d] != 1 || w->window_dilation[d] != 1 ||
        w->out_dims[d] != w->dims[d])
      return PROG_NONE;
    if (w->window[d] == 1 && w->pad_low[d] == 0) continue;
    bool forward = w->pad_low[d] == w->dims[d] - 1;
    if (found != PROG_NONE || w->window[d] != w->dims[d] || !(forward || w->pad_low[d] == 0))
      return PROG_NONE;
    found = d;
    *backward = !forward;
  }
  return found;
}

/* A unit is an element of the result. */
static void lower_single(windowing *r, u64 volume, exec_step *out) {
  const prog_window *w = r->w;
  r->acc_at = align_up(vm_scratch_bytes(r->c.unit, 1), 64);
  i64 stride = 1;
  for (u32 d = w->rank; d-- > 0;) {
    r->in_stride[d] = stride;
    stride *= w->dims[d];
  }
  r->levels = accumulators_levels(r->window_volume);
  *out = (exec_step){.run = run_single,
                     .data = r,
                     .units = volume,
                     .cost = 20 + 20 * r->window_volume,
                     .scratch = r->acc_at + accumulators_bytes(&r->c, r->levels, 1)};
}

void window_lower(const lower_env *e, const prog_window *w, exec_step *out) {
  windowing *r = ARENA_NEW(e->a, windowing);
  dtype *types = ARENA_ARRAY(e->a, dtype, w->n);
  bool backward = false;
  u32 running = find_running(w, &backward);
  u64 volume = 1;
  for (u32 d = 0; d < w->rank; d++) volume *= (u64)w->out_dims[d];
  *out = (exec_step){.run = run_single, .data = r};
  if (volume == 0) return;
  bool few = running != PROG_NONE && w->dims[running] <= COMBINE_FEW;
  if (running != PROG_NONE && !(few && backward && w->body.kind == REDUCE_CODE)) {
    scan_lower(e, w, running, backward, out);
    return;
  }
  row_shape shape = {.rank = w->rank,
                     .dims = w->dims,
                     .out_dims = w->out_dims,
                     .window = w->window,
                     .step = w->stride,
                     .dilation = w->window_dilation,
                     .base = w->base_dilation,
                     .low = w->pad_low};
  rows_find(&shape, ROW_LANES, &r->r);
  if (slide_lower(e, w, &r->r, out)) return;
  r->w = w;
  for (u32 i = 0; i < w->n; i++) types[i] = e->prog->slots[w->in[i]].type;
  combine_lower(e, &w->body, w->n, types, few, &r->c);
  r->window_volume = (u64)r->r.volume;
  if (separate_lower(e, w, &r->r, w->n == 1 ? combine_direct(e->k, &w->body, types[0]) : NULL, out))
    return;
  if (r->r.volume <= MOST && r->r.base[r->r.rank - 1] == 1 && r->r.inner > 0)
    lower_rows(e, r, out);
  else
    lower_single(r, volume, out);
}
