/* reduce_window, one result element after the other: the window's elements in order, padding
 * and the holes of dilation left out, the initial value first.
 *
 * A window that spans a dim to one side with stride 1 (a cumulative reduction, as JAX writes
 * cumsum) would cost n^2 so; there the sums run on from one element to the next. */
#include "exec/step.h"
#include "exec/vm.h"

typedef void running_fn(i64 n, i64 step, const char *init, const char *from, char *to);

typedef struct windowing {
  const prog_window *w;
  vm_unit *body;
  const vm_kernels *k;
  dtype *types;
  i64 in_stride[PROG_MAX_DIMS];
  u64 window_volume;
  u32 running;   /* cumulative along this dim; PROG_NONE: no */
  bool backward; /* from the end */
  i64 outer, inner;
  running_fn *fast; /* NULL: through the VM */
  size_t acc_at, value_at;
} windowing;

typedef struct state {
  void **reg;
  char *acc, *value; /* 16 bytes an operand */
  const exec_env *env;
} state;

static state begin_state(const windowing *r, const exec_env *env) {
  return (state){.reg = vm_begin(r->body, env->scratch, 1),
                 .acc = env->scratch + r->acc_at,
                 .value = env->scratch + r->value_at,
                 .env = env};
}
static void begin_element(const windowing *r, state *s) {
  for (u32 i = 0; i < r->w->n; i++)
    vm_load_elements(r->k, r->types[i], 1, s->acc + 16 * i, s->env->slots[r->w->init[i]]);
}
/* acc = body(acc, operand at element `at`) */
static void take(const windowing *r, state *s, i64 at) {
  const prog_window *w = r->w;
  for (u32 i = 0; i < w->n; i++) {
    size_t width = dtype_size(r->types[i]);
    vm_load_elements(r->k, r->types[i], 1, s->value + 16 * i,
                     (const char *)s->env->slots[w->in[i]] + at * (i64)width);
    s->reg[i] = s->reg[2 * w->n + i] = s->acc + 16 * i;
    s->reg[w->n + i] = s->value + 16 * i;
  }
  vm_run(r->body, s->reg, 1);
  for (u32 i = 0; i < w->n; i++) {
    const vm_output *v = &r->body->outputs[i];
    if (!v->in_place && s->reg[v->reg] != s->acc + 16 * i)
      memmove(s->acc + 16 * i, s->reg[v->reg], v->width);
  }
}
static void put(const windowing *r, state *s, i64 at) {
  for (u32 i = 0; i < r->w->n; i++)
    vm_store_elements(r->k, r->types[i], 1,
                      (char *)s->env->slots[r->w->out[i]] + at * (i64)dtype_size(r->types[i]),
                      s->acc + 16 * i);
}

static void run_window(const void *data, const exec_env *env, u64 begin, u64 end) {
  const windowing *r = data;
  const prog_window *w = r->w;
  state s = begin_state(r, env);
  for (u64 u = begin; u < end; u++) {
    i64 out[PROG_MAX_DIMS], in[PROG_MAX_DIMS] = {0};
    u64 rest = u;
    for (u32 d = w->rank; d-- > 0;) {
      out[d] = (i64)(rest % (u64)w->out_dims[d]);
      rest /= (u64)w->out_dims[d];
    }
    begin_element(r, &s);
    for (u64 k = 0; k < r->window_volume; k++) {
      i64 at = 0;
      bool inside = true;
      for (u32 d = 0; d < w->rank && inside; d++) {
        i64 p = out[d] * w->stride[d] + in[d] * w->window_dilation[d] - w->pad_low[d];
        inside = p >= 0 && p % w->base_dilation[d] == 0 && p / w->base_dilation[d] < w->dims[d];
        at += inside ? p / w->base_dilation[d] * r->in_stride[d] : 0;
      }
      if (inside) take(r, &s, at);
      for (u32 d = w->rank; d-- > 0;) {
        if (++in[d] < w->window[d]) break;
        in[d] = 0;
      }
    }
    put(r, &s, (i64)u);
  }
}

/* The plain cumulative reductions of the common types, without calls. */
#define RUNNING(name, T, expr)                                                                     \
  static void name(i64 n, i64 step, const char *init, const char *from, char *to) {                \
    const T *a = (const T *)from;                                                                  \
    T *d = (T *)to, x = *(const T *)init;                                                          \
    for (i64 i = 0; i < n; i++, a += step, d += step) {                                            \
      T y = *a;                                                                                    \
      *d = x = expr;                                                                               \
    }                                                                                              \
  }
RUNNING(sum_f32, float, x + y)
RUNNING(sum_f64, double, x + y)
RUNNING(sum_32, u32, x + y)
RUNNING(sum_64, u64, x + y)
RUNNING(prod_f32, float, x *y)
RUNNING(max_s32, i32, x > y ? x : y)
RUNNING(min_s32, i32, x < y ? x : y)
static running_fn *find_fast(prog_reducer kind, dtype t) {
  static const struct {
    prog_reducer kind;
    dtype type;
    running_fn *fn;
  } table[] = {{REDUCE_SUM, DTYPE_f32, sum_f32},   {REDUCE_SUM, DTYPE_f64, sum_f64},
               {REDUCE_SUM, DTYPE_s32, sum_32},    {REDUCE_SUM, DTYPE_u32, sum_32},
               {REDUCE_SUM, DTYPE_s64, sum_64},    {REDUCE_SUM, DTYPE_u64, sum_64},
               {REDUCE_PROD, DTYPE_f32, prod_f32}, {REDUCE_MAX, DTYPE_s32, max_s32},
               {REDUCE_MIN, DTYPE_s32, min_s32}};
  for (size_t i = 0; i < COUNT(table); i++)
    if (table[i].kind == kind && table[i].type == t) return table[i].fn;
  return NULL;
}

static void run_fast(const void *data, const exec_env *env, u64 begin, u64 end) {
  const windowing *r = data;
  i64 n = r->w->dims[r->running], width = (i64)dtype_size(r->types[0]);
  for (u64 u = begin; u < end; u++) {
    i64 at = (i64)u / r->inner * n * r->inner + (i64)u % r->inner;
    if (r->backward) at += (n - 1) * r->inner;
    r->fast(n, r->backward ? -r->inner : r->inner, env->slots[r->w->init[0]],
            (const char *)env->slots[r->w->in[0]] + at * width,
            (char *)env->slots[r->w->out[0]] + at * width);
  }
}

static void run_running(const void *data, const exec_env *env, u64 begin, u64 end) {
  const windowing *r = data;
  i64 n = r->w->dims[r->running];
  state s = begin_state(r, env);
  for (u64 u = begin; u < end; u++) {
    i64 base = (i64)u / r->inner * n * r->inner + (i64)u % r->inner;
    begin_element(r, &s);
    for (i64 k = 0; k < n; k++) {
      i64 at = base + (r->backward ? n - 1 - k : k) * r->inner;
      take(r, &s, at);
      put(r, &s, at);
    }
  }
}

/* One dim whose window is the whole dim, padded on one side only; all others trivial. */
static void find_running(windowing *r) {
  const prog_window *w = r->w;
  r->running = PROG_NONE;
  u32 found = PROG_NONE;
  for (u32 d = 0; d < w->rank; d++) {
    if (w->stride[d] != 1 || w->base_dilation[d] != 1 || w->window_dilation[d] != 1 ||
        w->out_dims[d] != w->dims[d])
      return;
    if (w->window[d] == 1 && w->pad_low[d] == 0) continue;
    bool forward = w->pad_low[d] == w->dims[d] - 1, backward = w->pad_low[d] == 0;
    if (found != PROG_NONE || w->window[d] != w->dims[d] || !(forward || backward)) return;
    found = d;
    r->backward = !forward;
  }
  if (found == PROG_NONE) return;
  r->running = found;
  r->outer = r->inner = 1;
  for (u32 d = 0; d < w->rank; d++)
    if (d < found)
      r->outer *= w->dims[d];
    else if (d > found)
      r->inner *= w->dims[d];
}

void window_lower(const lower_env *e, const prog_window *w, exec_step *out) {
  windowing *r = ARENA_NEW(e->a, windowing);
  r->w = w;
  r->k = e->k;
  r->types = ARENA_ARRAY(e->a, dtype, w->n);
  for (u32 i = 0; i < w->n; i++) r->types[i] = e->prog->slots[w->in[i]].type;
  vm_instr storage[4];
  vm_code code = w->body.code;
  if (w->body.kind != REDUCE_CODE) code = prog_body_code(w->body.kind, r->types[0], storage);
  bool direct[32];
  u64 overlaps[32];
  for (u32 i = 0; i < w->n; i++) direct[i] = true, overlaps[i] = 1ull << i;
  vm_spec spec = {.code = &code,
                  .num_in = 2 * w->n,
                  .num_out = w->n,
                  .out_direct = direct,
                  .out_overlaps = overlaps,
                  .registers = true,
                  .keep_registers = true};
  r->body = vm_lower(e, &spec);
  r->acc_at = align_up(vm_scratch_bytes(r->body, 1), 64);
  r->value_at = r->acc_at + align_up(16 * w->n, 64);
  r->window_volume = 1;
  i64 stride = 1;
  u64 volume = 1;
  for (u32 d = w->rank; d-- > 0;) {
    r->in_stride[d] = stride;
    stride *= w->dims[d];
    r->window_volume *= (u64)w->window[d];
    volume *= (u64)w->out_dims[d];
  }
  find_running(r);
  *out = (exec_step){.run = run_window,
                     .data = r,
                     .units = volume,
                     .cost = 20 + 20 * r->window_volume,
                     .scratch = r->value_at + align_up(16 * w->n, 64)};
  if (r->running == PROG_NONE || volume == 0) return;
  out->run = run_running;
  out->units = (u64)(r->outer * r->inner);
  out->cost = 20 + 30 * (u64)w->dims[r->running];
  if (w->n == 1) r->fast = find_fast(w->body.kind, r->types[0]);
  if (!r->fast) return;
  out->run = run_fast;
  out->cost = 20 + 2 * (u64)w->dims[r->running];
}
