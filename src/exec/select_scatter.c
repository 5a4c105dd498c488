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

enum { LANES = 1024, PIECE = 128 };

typedef struct selecting {
  const vm_kernels *k;
  const prog_select_scatter *s;
  dtype type, sum_type; /* of the operand; of source, init and result */
  u32 width, sum_width;
  vm_unit *select;
  combiner c;
  bool disjoint, narrow; /* windows of a row do not overlap; offsets fit 32 bits */
  u32 rank;              /* the dims in the middle, merged at both ends; the last is a row's */
  i64 dims[PROG_MAX_DIMS], source_dims[PROG_MAX_DIMS], window[PROG_MAX_DIMS];
  i64 step[PROG_MAX_DIMS], low[PROG_MAX_DIMS], stride[PROG_MAX_DIMS]; /* stride: in operand */
  i64 inner, piece, pieces; /* lanes: of all, of a unit; units along them */
  i64 plane, source_plane;  /* elements of the middle dims */
  i64 row, volume;          /* windows of a block; elements of a window */
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

/* Rows of n elements, `apart` from each other, as registers. */
static const void *fetch(const vm_kernels *k, dtype t, char *raw, char *to, const char *from,
                         i64 rows, i64 n, i64 apart) {
  u32 width = (u32)dtype_size(t);
  bool as_stored = !k->load[t] && !k->clean[t];
  if (rows > 1 && apart != n) {
    char *packed = as_stored ? to : raw;
    if (n == 1)
      k->stride[vm_log2_width(width)]((size_t)rows, packed, from, &apart, NULL);
    else
      for (i64 i = 0; i < rows; i++)
        memcpy(packed + i * n * width, from + i * apart * width, (size_t)n * width);
    from = packed;
  }
  if (as_stored) return from;
  vm_load_elements(k, t, (size_t)(rows * n), to, from);
  return to;
}

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

/* Of windows [first, first + count) of a row: all of the window's elements in order. `at` is where
 * the row's windows begin in the outer dims. */
static void choose_row(selection *x, const i64 *at, i64 first, i64 count) {
  const selecting *r = x->r;
  u32 last = r->rank - 1;
  i64 in[PROG_MAX_DIMS] = {0}, step = r->step[last];
  bool none = true, all = false;
  memset(x->have, 0, (size_t)(count * x->lanes));
  for (i64 k = 0; k < r->volume; k++) {
    i64 off = 0, low = in[last] - r->low[last];
    bool inside = true;
    for (u32 d = 0; d < last && inside; d++) {
      i64 p = at[d] * r->step[d] + in[d] - r->low[d];
      inside = p >= 0 && p < r->dims[d];
      off += p * r->stride[d];
    }
    /* windows i with 0 <= i * step + low < size */
    i64 begin = low >= 0 ? 0 : (-low + step - 1) / step, end = r->dims[last] - 1 - low;
    end = end < 0 ? 0 : end / step + 1;
    begin = max_i64(begin, first);
    end = min_i64(end, first + count);
    if (inside && begin < end) {
      const void *now = fetch(r->k, r->type, x->raw, x->now,
                              x->operand + (off + (begin * step + low) * r->inner) * (i64)r->width,
                              end - begin, x->lanes, step * r->inner);
      choose(x, (size_t)((begin - first) * x->lanes), (size_t)((end - begin) * x->lanes), now,
             off + low * r->inner, none, all);
      none = false;
      all |= end - begin == count;
    }
    for (u32 d = r->rank; d-- > 0;) {
      if (++in[d] < r->window[d]) break;
      in[d] = 0;
    }
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
      T *to = (T *)x->out + (first + i) * r->step[r->rank - 1] * r->inner;                         \
      const T *from = (const T *)source + i * r->inner;                                            \
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
  i64 width = r->sum_width, place[LANES];
  size_t n = 0;
  char *raw = x->raw, *acc = x->chosen, *with = x->now; /* what is selected is known by now */
  for (i64 lane = begin; lane < end; lane++) {
    i64 i = lane / x->lanes, c = lane % x->lanes;
    if (!x->have[lane]) continue;
    place[n] = ((first + i) * r->step[r->rank - 1] * r->inner + offset_of(x, lane) + c) * width;
    memcpy(raw + (i64)n++ * width, source + (i * r->inner + c) * width, (size_t)width);
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
                   .reg = vm_begin(r->select, env->scratch, LANES),
                   .combine_reg = vm_begin(r->c.unit, env->scratch + r->regs_at, LANES),
                   .chosen = env->scratch + r->chosen_at,
                   .now = env->scratch + r->now_at,
                   .raw = env->scratch + r->raw_at,
                   .off = env->scratch + r->off_at,
                   .have = env->scratch + r->have_at};
}

/* A unit is a piece of the features of one of the leading places. */
static void run_select_scatter(const void *data, const exec_env *env, u64 begin, u64 end) {
  const selecting *r = data;
  const prog_select_scatter *s = r->s;
  selection x;
  begin_selection(r, env, &x);
  for (u64 u = begin; u < end; u++) {
    i64 lead = (i64)u / r->pieces, c = (i64)u % r->pieces * r->piece, at[PROG_MAX_DIMS] = {0};
    i64 base = lead * r->plane * r->inner + c, last = r->rank - 1;
    x.lanes = min_i64(r->piece, r->inner - c);
    x.operand = (const char *)env->slots[s->operand] + base * (i64)r->width;
    x.out = (char *)env->slots[s->out] + base * (i64)r->sum_width;
    x.source = (const char *)env->slots[s->source] +
               (lead * r->source_plane * r->inner + c) * (i64)r->sum_width;
    i64 rows = x.lanes == r->inner ? 1 : r->plane;
    for (i64 i = 0; i < rows; i++)
      r->k->splat[vm_log2_width(r->sum_width)]((size_t)(rows == 1 ? r->plane * x.lanes : x.lanes),
                                               x.out + i * r->inner * (i64)r->sum_width,
                                               env->slots[s->init], NULL, NULL);
    i64 size = r->source_dims[last];
    for (i64 i = 0; i < r->source_plane; i += size) {
      for (i64 w = 0; w < size; w += r->row) {
        i64 count = min_i64(r->row, size - w);
        choose_row(&x, at, w, count);
        scatter_row(&x, w, count, x.source + (i + w) * r->inner * (i64)r->sum_width);
      }
      for (i64 d = last; d-- > 0;) {
        if (++at[d] < r->source_dims[d]) break;
        at[d] = 0;
      }
    }
  }
}

/* ---- lowering ---- */

static bool is_single(const prog_select_scatter *s, u32 d) {
  return s->window[d] == 1 && s->stride[d] == 1 && s->pad_low[d] == 0 &&
         s->dims[d] == s->source_dims[d];
}

/* The dims in the middle; one at least. Returns how many places the leading ones have. */
static i64 find_middle(selecting *r, const prog_select_scatter *s) {
  u32 first = 0, end = s->rank;
  i64 lead = 1;
  while (end > 0 && is_single(s, end - 1)) r->inner *= s->dims[--end];
  while (first < end && is_single(s, first)) lead *= s->dims[first++];
  for (u32 d = first; d < end; d++) {
    u32 i = r->rank++;
    r->dims[i] = s->dims[d];
    r->source_dims[i] = s->source_dims[d];
    r->window[i] = s->window[d];
    r->step[i] = s->stride[d];
    r->low[i] = s->pad_low[d];
  }
  if (r->rank == 0) {
    r->dims[0] = r->source_dims[0] = r->window[0] = r->step[0] = 1;
    r->rank = 1;
  }
  return lead;
}

static void lower_bodies(const lower_env *e, selecting *r, exec_step *out) {
  vm_spec spec = {
      .code = &r->s->select, .num_in = 2, .num_out = 1, .registers = true, .keep_registers = true};
  r->select = vm_lower(e, &spec);
  combine_lower(e, &r->s->scatter, 1, &r->sum_type, &r->c);
  size_t room = LANES * 16 + 64;
  r->regs_at = align_up(vm_scratch_bytes(r->select, LANES), 64);
  r->chosen_at = r->regs_at + align_up(vm_scratch_bytes(r->c.unit, LANES), 64);
  r->now_at = r->chosen_at + room;
  r->raw_at = r->now_at + room;
  r->off_at = r->raw_at + room;
  r->have_at = r->off_at + LANES * 8;
  out->scratch = r->have_at + LANES;
}

void select_scatter_lower(const lower_env *e, const prog_select_scatter *s, exec_step *out) {
  selecting *r = ARENA_NEW(e->a, selecting);
  *out = (exec_step){.run = run_select_scatter, .data = r};
  *r = (selecting){.k = e->k,
                   .s = s,
                   .type = e->prog->slots[s->operand].type,
                   .sum_type = e->prog->slots[s->out].type,
                   .inner = 1,
                   .plane = 1,
                   .source_plane = 1,
                   .volume = 1};
  r->width = (u32)dtype_size(r->type);
  r->sum_width = (u32)dtype_size(r->sum_type);
  i64 lead = find_middle(r, s);
  u32 last = r->rank - 1;
  for (u32 d = r->rank; d-- > 0;) {
    r->stride[d] = r->plane * r->inner;
    r->plane *= r->dims[d];
    r->source_plane *= r->source_dims[d];
    r->volume *= r->window[d];
  }
  if (lead == 0 || r->inner == 0 || r->plane == 0) return;
  r->piece = min_i64(r->inner, lead < 8 ? PIECE : LANES);
  r->pieces = (r->inner + r->piece - 1) / r->piece;
  r->row = LANES / r->piece;
  r->disjoint = r->window[last] <= r->step[last];
  i64 reach = r->step[last] * r->source_dims[last];
  r->narrow = r->plane * r->inner <= INT32_MAX / 4 && reach <= INT32_MAX / 4 / r->inner;
  lower_bodies(e, r, out);
  out->units = (u64)(lead * r->pieces);
  u64 cost = (u64)(r->plane + r->source_plane * (r->volume + 2)) * (u64)r->piece;
  out->cost = 100 + cost;
}
