/* reduce_window, one result element after the other: the initial value, then the window's elements
 * in order (combine.h), padding and the holes of dilation left out.
 *
 * A window that spans a dim to one side with stride 1 (a cumulative reduction, as JAX writes
 * cumsum) would cost n^2 so; those are scans (scan.c). */
#include "exec/combine.h"

typedef struct windowing {
  const prog_window *w;
  combiner c;
  i64 in_stride[PROG_MAX_DIMS];
  u64 window_volume;
  u32 levels;
  size_t acc_at;
} windowing;

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

static void run_window(const void *data, const exec_env *env, u64 begin, u64 end) {
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
void window_lower(const lower_env *e, const prog_window *w, exec_step *out) {
  windowing *r = ARENA_NEW(e->a, windowing);
  dtype *types = ARENA_ARRAY(e->a, dtype, w->n);
  bool backward = false;
  u32 running = find_running(w, &backward);
  u64 volume = 1;
  for (u32 d = 0; d < w->rank; d++) volume *= (u64)w->out_dims[d];
  if (running != PROG_NONE && volume > 0) {
    scan_lower(e, w, running, backward, out);
    return;
  }
  r->w = w;
  for (u32 i = 0; i < w->n; i++) types[i] = e->prog->slots[w->in[i]].type;
  combine_lower(e, &w->body, w->n, types, &r->c);
  r->acc_at = align_up(vm_scratch_bytes(r->c.unit, 1), 64);
  r->window_volume = 1;
  i64 stride = 1;
  for (u32 d = w->rank; d-- > 0;) {
    r->in_stride[d] = stride;
    stride *= w->dims[d];
    r->window_volume *= (u64)w->window[d];
  }
  r->levels = accumulators_levels(r->window_volume);
  *out = (exec_step){.run = run_window,
                     .data = r,
                     .units = volume,
                     .cost = 20 + 20 * r->window_volume,
                     .scratch = r->acc_at + accumulators_bytes(&r->c, r->levels, 1)};
}
