/* Random loops over single elements, against the same loops over many equal ones. */
#include "num/convert.h"
#include "tests/exec.h"


static u32 pick(u32 *seed, u32 n) {
  *seed = *seed * 1664525 + 1013904223;
  return (*seed >> 16) % n;
}

static const dtype types[] = {DTYPE_s32, DTYPE_u32, DTYPE_s64, DTYPE_u64, DTYPE_f32,
                              DTYPE_f64, DTYPE_s8,  DTYPE_u16, DTYPE_bf16};
enum { VARIABLES = COUNT(types), STEPS = 12, TURNS = 7 };

typedef struct writer {
  prog_builder *b;
  i64 n; /* elements of a variable */
  u32 slot[VARIABLES], counter, yes, flag;
} writer;

static u32 load(writer *w, prog_loop *l, u32 slot, dtype t) {
  return vm_load(w->b, &l->code, t, prog_loop_in(w->b, l, slot, 0, (i64[]){1}));
}

/* One variable becomes an operation of two, converted. */
static void add_operation(writer *w, u32 *seed) {
  static const vm_op ops[] = {VM_add, VM_sub, VM_mul, VM_max, VM_min, VM_and, VM_or,
                              VM_xor, VM_div, VM_shl, VM_neg, VM_abs, VM_tanh};
  u32 to = pick(seed, VARIABLES), x = pick(seed, VARIABLES), y = pick(seed, VARIABLES);
  prog_loop *l = prog_add_loop(w->b, 1, (i64[]){w->n}, S, L);
  dtype t = types[to];
  vm_op op = ops[pick(seed, COUNT(ops))];
  if (!vm_takes(op, t)) op = VM_add;
  u32 a = vm_emit(w->b, &l->code, VM_convert, t, load(w, l, w->slot[x], types[x]), 0, 0);
  u32 b = vm_emit(w->b, &l->code, VM_convert, t, load(w, l, w->slot[y], types[y]), 0, 0);
  u32 v = vm_emit(w->b, &l->code, op, t, a, b, 0);
  if (pick(seed, 2)) {
    static const vm_op compares[] = {VM_eq, VM_ne, VM_lt, VM_le, VM_gt, VM_ge};
    u32 p = vm_emit(w->b, &l->code, compares[pick(seed, 6)], DTYPE_pred, a, b, 0);
    if (pick(seed, 2)) p = vm_emit(w->b, &l->code, VM_not, DTYPE_pred, p, 0, 0);
    v = vm_emit(w->b, &l->code, VM_select, t, p, v, b);
  }
  prog_loop_out(w->b, l, w->slot[to], 0, (i64[]){1}, v);
}

/* Steps that are left out in every second turn. */
static void add_branch(writer *w, u32 *seed) {
  u32 other = prog_label(w->b), end = prog_label(w->b);
  prog_loop *l = prog_add_loop(w->b, 0, NULL, S, L);
  u32 in = prog_loop_in(w->b, l, w->counter, 0, NULL),
      one = vm_const_f64(w->b, &l->code, DTYPE_s32, 1);
  u32 odd =
      vm_emit(w->b, &l->code, VM_and, DTYPE_s32, vm_load(w->b, &l->code, DTYPE_s32, in), one, 0);
  prog_loop_out(w->b, l, w->flag, 0, NULL, vm_emit(w->b, &l->code, VM_eq, DTYPE_pred, odd, one, 0));
  prog_add_jump_unless(w->b, w->flag, other, S, L);
  add_operation(w, seed);
  prog_add_jump(w->b, end, S, L);
  prog_place(w->b, other);
  add_operation(w, seed);
  prog_place(w->b, end);
}

static void add_count(writer *w) {
  prog_loop *l = prog_add_loop(w->b, 0, NULL, S, L);
  u32 in = prog_loop_in(w->b, l, w->counter, 0, NULL);
  u32 one = vm_const_f64(w->b, &l->code, DTYPE_s32, 1);
  u32 v =
      vm_emit(w->b, &l->code, VM_add, DTYPE_s32, vm_load(w->b, &l->code, DTYPE_s32, in), one, 0);
  prog_loop_out(w->b, l, w->counter, 0, NULL, v);
}

static void add_test(writer *w) {
  prog_loop *l = prog_add_loop(w->b, 0, NULL, S, L);
  u32 in = prog_loop_in(w->b, l, w->counter, 0, NULL);
  u32 most = vm_const_f64(w->b, &l->code, DTYPE_s32, TURNS);
  u32 v =
      vm_emit(w->b, &l->code, VM_lt, DTYPE_pred, vm_load(w->b, &l->code, DTYPE_s32, in), most, 0);
  prog_loop_out(w->b, l, w->yes, 0, NULL, v);
}

/* All of it over n elements; the variables' first elements to `out`. */
static void run_over(arena *a, i64 n, u32 seed, char (*out)[8]) {
  writer w = {.b = prog_begin(a, 1, 1), .n = n};
  void *params[VARIABLES], *results[VARIABLES];
  i32 zero = 0;
  for (u32 i = 0; i < VARIABLES; i++) {
    size_t size = dtype_size(types[i]);
    u32 p = prog_param(w.b, types[i], (u64)n);
    w.slot[i] = prog_result(w.b, types[i], (u64)n, -1);
    prog_add_move(w.b, p, w.slot[i], S, L);
    params[i] = malloc((size_t)n * size), results[i] = calloc((size_t)n, size);
    double x = (double)pick(&seed, 200) - 50;
    for (i64 k = 0; k < n; k++) num_from_f64(types[i], x, (char *)params[i] + (size_t)k * size);
  }
  w.counter = prog_work(w.b, DTYPE_s32, 1);
  w.yes = prog_work(w.b, DTYPE_pred, 1), w.flag = prog_work(w.b, DTYPE_pred, 1);
  u32 top = prog_label(w.b), end = prog_label(w.b);
  prog_add_fill(w.b, w.counter, &zero, S, L);
  prog_place(w.b, top);
  add_test(&w);
  prog_add_jump_unless(w.b, w.yes, end, S, L);
  for (u32 i = 0; i < STEPS; i++)
    if (pick(&seed, 4))
      add_operation(&w, &seed);
    else
      add_branch(&w, &seed);
  add_count(&w);
  prog_add_jump(w.b, top, S, L);
  prog_place(w.b, end);
  const char *error = run(w.b, params, results);
  CHECK(!*error);
  for (u32 i = 0; i < VARIABLES; i++) {
    memset(out[i], 0, 8);
    memcpy(out[i], results[i], dtype_size(types[i]));
    free(params[i]), free(results[i]);
  }
}

static void run_tests(arena *a, const exec_options *options) {
  status s = exec_create(options, &pool);
  CHECK(!s);
  for (u32 seed = 0; seed < 300; seed++) {
    char one[VARIABLES][8], many[VARIABLES][8];
    run_over(a, 1, seed, one);
    run_over(a, 33, seed, many);
    for (u32 i = 0; i < VARIABLES; i++) CHECK(memcmp(one[i], many[i], 8) == 0);
  }
  executor_release(pool);
}

int main(void) { return exec_tests(run_tests); }
