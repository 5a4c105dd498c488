/* select_and_scatter: for each element of the source, in order, the operand's window is gone
 * through, each element against the one selected so far, and the source is combined into the
 * result where the one lies that is left. Of padding nothing is selected.
 *
 * Dims along which windows are single elements, at either end of the shape, are independent of
 * each other: the first ones make units, the last ones (features) lanes, with a piece of a row of
 * windows. So the selection is the body of the VM on blocks of lanes, a window's element at a
 * time. What is selected may coincide, so that lanes are combined in order, or where windows do
 * not overlap at once. */
#include "exec/combine.h"
#include "exec/rows.h"

typedef struct selecting {
  const vm_kernels *k;
  const prog_select_scatter *s;
  dtype type, sum_type; /* of the operand; of source, init and result */
  u32 width, sum_width;
  vm_unit *select;
  combiner c;
  row_windows w;         /* its results are the source's */
  bool disjoint, narrow; /* windows of a row do not overlap; offsets fit 32 bits */
  size_t regs_at, chosen_at, now_at, raw_at, off_at, have_at;
} selecting;

/* One unit at work. */
typedef struct selection {
  const selecting *r;
  void **reg, **combine_reg;
  char *chosen, *now, *raw, *off, *have;
  const char *operand;
  const char *source;
  char *out;
  i64 lanes; /* of this unit: its piece of inner */
} selection;

/* Lanes [at, at + n) take what is `now` there, but where the chosen one is selected again. */
static void choose(selection *x, size_t at, size_t n, const void *now, i64 off, bool none,
                   bool all) {
  const selecting *r = x->r;
  const vm_kernels *k = r->k;
  u32 wide = vm_rtype_size(vm_rtype_of(r->type)), log = r->narrow ? 2 : 3;
  i32 short_off = (i32)off;
  const void *offset = r->narrow ? (const void *)&short_off : &off;
  char *chosen = x->chosen + at * wide, *offs = x->off + (at << log), *have = x->have + at;
  if (none) {
    memcpy(chosen, now, n * wide);
    k->splat[log](n, offs, offset, NULL, NULL);
    memset(have, 1, n);
    return;
  }
  x->reg[0] = chosen;
  x->reg[1] = (void *)(uintptr_t)now;
  vm_run(r->select, x->reg, n);
  void *keep = x->reg[r->select->outputs[0].reg];
  if (!all) {
    k->binary[VM_and][R_pred][FORM_VV](n, have, have, keep, NULL);
    keep = have;
  }
  k->select[vm_log2_width(wide)][0](n, chosen, keep, chosen, now);
  k->select[log][1](n, offs, keep, offs, offset);
  memset(have, 1, n);
}

/* Of windows [first, first + count) of the row `at`: all of the window's elements in order. */
static void choose_row(selection *x, const i64 *at, i64 first, i64 count) {
  const selecting *r = x->r;
  const row_windows *w = &r->w;
  i64 in[PROG_MAX_DIMS] = {0}, apart = w->step[w->rank - 1] * w->inner;
  bool none = true, all = false;
  memset(x->have, 0, (size_t)(count * x->lanes));
  for (i64 k = 0; k < w->volume; k++, rows_next(w, in)) {
    i64 begin = first, end = first + count, off;
    if (!rows_inside(w, at, in, &begin, &end, &off)) continue;
    const void *now = rows_fetch(r->k, r->type, x->raw, x->now,
                                 x->operand + (off + begin * apart) * (i64)r->width, end - begin,
                                 x->lanes, apart);
    choose(x, (size_t)((begin - first) * x->lanes), (size_t)((end - begin) * x->lanes), now, off,
           none, all);
    none = false;
    all |= end - begin == count;
  }
}

static i64 offset_of(const selection *x, i64 lane) {
  return x->r->narrow ? ((const i32 *)x->off)[lane] : ((const i64 *)x->off)[lane];
}

/* The most common of all, and nothing but an addition an element. */
#define SUM_OF(T)                                                                                  \
  static void sum_##T(const selection *x, i64 first, i64 count, const char *source) {              \
    const selecting *r = x->r;                                                                     \
    for (i64 i = 0; i < count; i++) {                                                              \
      T *to = (T *)x->out + (first + i) * r->w.step[r->w.rank - 1] * r->w.inner;                   \
      const T *from = (const T *)source + i * r->w.inner;                                          \
      for (i64 c = 0, lane = i * x->lanes; c < x->lanes; c++, lane++)                              \
        if (x->have[lane]) to[offset_of(x, lane) + c] += from[c];                                  \
    }                                                                                              \
  }
SUM_OF(float)
SUM_OF(double)
SUM_OF(u32)
SUM_OF(u64)

/* Lanes [begin, end), which go to different places. */
static void combine_lanes(selection *x, i64 first, i64 begin, i64 end, const char *source) {
  const selecting *r = x->r;
  i64 width = r->sum_width, place[ROW_LANES];
  size_t n = 0;
  char *raw = x->raw, *acc = x->chosen, *with = x->now; /* what is selected is known by now */
  for (i64 lane = begin; lane < end; lane++) {
    i64 i = lane / x->lanes, c = lane % x->lanes;
    if (!x->have[lane]) continue;
    place[n] =
        ((first + i) * r->w.step[r->w.rank - 1] * r->w.inner + offset_of(x, lane) + c) * width;
    memcpy(raw + (i64)n++ * width, source + (i * r->w.inner + c) * width, (size_t)width);
  }
  if (n == 0) return;
  combine_load(&r->c, 0, n, with, raw);
  for (size_t i = 0; i < n; i++) memcpy(raw + (i64)i * width, x->out + place[i], (size_t)width);
  combine_load(&r->c, 0, n, acc, raw);
  combine(&r->c, x->combine_reg, &acc, &acc, &with, n);
  combine_store(&r->c, 0, n, raw, acc);
  for (size_t i = 0; i < n; i++) memcpy(x->out + place[i], raw + (i64)i * width, (size_t)width);
}

static void scatter_row(selection *x, i64 first, i64 count, const char *source) {
  const selecting *r = x->r;
  vm_rtype t = vm_rtype_of(r->sum_type);
  bool plain = r->s->scatter.kind == REDUCE_SUM && !r->k->load[r->sum_type];
  if (plain && t == R_f32) {
    sum_float(x, first, count, source);
  } else if (plain && t == R_f64) {
    sum_double(x, first, count, source);
  } else if (plain && (t == R_s32 || t == R_u32)) {
    sum_u32(x, first, count, source);
  } else if (plain && (t == R_s64 || t == R_u64)) {
    sum_u64(x, first, count, source);
  } else {
    i64 run = r->disjoint ? count * x->lanes : x->lanes;
    for (i64 at = 0; at < count * x->lanes; at += run)
      combine_lanes(x, first, at, at + run, source);
  }
}

static void begin_selection(const selecting *r, const exec_env *env, selection *x) {
  *x = (selection){.r = r,
                   .reg = vm_begin(r->select, env->scratch, ROW_LANES),
                   .combine_reg = vm_begin(r->c.unit, env->scratch + r->regs_at, ROW_LANES),
                   .chosen = env->scratch + r->chosen_at,
                   .now = env->scratch + r->now_at,
                   .raw = env->scratch + r->raw_at,
                   .off = env->scratch + r->off_at,
                   .have = env->scratch + r->have_at};
}

/* A piece of the features of one of the leading places; its memory is set. */
static void run_piece(selection *x) {
  const selecting *r = x->r;
  const row_windows *w = &r->w;
  i64 at[PROG_MAX_DIMS] = {0}, size = w->out_dims[w->rank - 1];
  for (i64 row = 0; row * size < w->out_plane; row++) {
    rows_at(w, row, at);
    for (i64 i = 0; i < size; i += w->row) {
      i64 count = min_i64(w->row, size - i);
      choose_row(x, at, i, count);
      scatter_row(x, i, count, x->source + (row * size + i) * w->inner * (i64)r->sum_width);
    }
  }
}

static void run_select_scatter(const void *data, const exec_env *env, u64 begin, u64 end) {
  const selecting *r = data;
  const prog_select_scatter *s = r->s;
  const row_windows *w = &r->w;
  kern_fn *splat = r->k->splat[vm_log2_width(r->sum_width)];
  const void *init = env->slots[s->init];
  selection x;
  begin_selection(r, env, &x);
  for (u64 u = begin; u < end; u++) {
    i64 lead = (i64)u / w->pieces, c = (i64)u % w->pieces * w->piece, width = r->sum_width;
    i64 base = lead * w->plane * w->inner + c;
    x.lanes = min_i64(w->piece, w->inner - c);
    x.operand = (const char *)env->slots[s->operand] + base * (i64)r->width;
    x.out = (char *)env->slots[s->out] + base * width;
    x.source = (const char *)env->slots[s->source] + (lead * w->out_plane * w->inner + c) * width;
    if (x.lanes == w->inner)
      splat((size_t)(w->plane * x.lanes), x.out, init, NULL, NULL);
    else
      for (i64 i = 0; i < w->plane; i++)
        splat((size_t)x.lanes, x.out + i * w->inner * width, init, NULL, NULL);
    run_piece(&x);
  }
}

/* ---- lowering ---- */

static void lower_bodies(const lower_env *e, selecting *r, exec_step *out) {
  vm_spec spec = {
      .code = &r->s->select, .num_in = 2, .num_out = 1, .registers = true, .keep_registers = true};
  r->select = vm_lower(e, &spec);
  combine_lower(e, &r->s->scatter, 1, &r->sum_type, false, &r->c);
  size_t room = ROW_LANES * 16 + 64;
  r->regs_at = align_up(vm_scratch_bytes(r->select, ROW_LANES), 64);
  r->chosen_at = r->regs_at + align_up(vm_scratch_bytes(r->c.unit, ROW_LANES), 64);
  r->now_at = r->chosen_at + room;
  r->raw_at = r->now_at + room;
  r->off_at = r->raw_at + room;
  r->have_at = r->off_at + ROW_LANES * 8;
  out->scratch = r->have_at + ROW_LANES;
}

/* A unit is a piece of the features of one of the leading places. */
void select_scatter_lower(const lower_env *e, const prog_select_scatter *s, exec_step *out) {
  enum { PIECE = 128 };
  selecting *r = ARENA_NEW(e->a, selecting);
  row_windows *w = &r->w;
  *out = (exec_step){.run = run_select_scatter, .data = r};
  *r = (selecting){.k = e->k,
                   .s = s,
                   .type = e->prog->slots[s->operand].type,
                   .sum_type = e->prog->slots[s->out].type};
  r->width = (u32)dtype_size(r->type);
  r->sum_width = (u32)dtype_size(r->sum_type);
  row_shape shape = {.rank = s->rank,
                     .dims = s->dims,
                     .out_dims = s->source_dims,
                     .window = s->window,
                     .step = s->stride,
                     .low = s->pad_low};
  rows_find(&shape, PIECE, w);
  if (w->lead == 0 || w->inner == 0 || w->plane == 0) return;
  u32 last = w->rank - 1;
  i64 reach = w->step[last] * w->out_dims[last];
  r->disjoint = w->window[last] <= w->step[last];
  r->narrow = w->plane * w->inner <= INT32_MAX / 4 && reach <= INT32_MAX / 4 / w->inner;
  lower_bodies(e, r, out);
  out->units = (u64)(w->lead * w->pieces);
  out->cost = 100 + (u64)(w->plane + w->out_plane * (w->volume + 2)) * (u64)w->piece;
}
