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

/* A number that instructions have in them, or one that is too long for that. */
static u32 number(writer *w, prog_loop *l, u32 *seed, dtype t) {
  static const double numbers[] = {3,   5,    9,     2,    -1,         4,   17, 127,
                                   128, -129, 65535, 1024, 1073741824, 1e9, 5e9};
  double x = numbers[pick(seed, dtype_size(t) == 8 ? 15 : dtype_size(t) == 4 ? 14 : 7)];
  return vm_const_f64(w->b, &l->code, t, x);
}

/* A remainder with the sign of b, as languages write it. */
static u32 add_floored(writer *w, prog_loop *l, dtype t, u32 a, u32 b) {
  vm_code *c = &l->code;
  u32 zero = vm_const_f64(w->b, c, t, 0), rem = vm_emit(w->b, c, VM_rem, t, a, b, 0);
  u32 below = vm_emit(w->b, c, VM_lt, DTYPE_pred, rem, zero, 0);
  u32 negative = vm_emit(w->b, c, VM_lt, DTYPE_pred, b, zero, 0);
  u32 differ = vm_emit(w->b, c, VM_ne, DTYPE_pred, below, negative, 0);
  u32 some = vm_emit(w->b, c, VM_ne, DTYPE_pred, rem, zero, 0);
  u32 p = vm_emit(w->b, c, VM_and, DTYPE_pred, differ, some, 0);
  return vm_emit(w->b, c, VM_select, t, p, vm_emit(w->b, c, VM_add, t, rem, b, 0), rem);
}

/* One variable becomes an operation of two, converted. */
static void add_operation(writer *w, u32 *seed) {
  static const vm_op ops[] = {
      VM_add,    VM_sub,       VM_mul,      VM_max, VM_min,   VM_and,       VM_or,
      VM_xor,    VM_div,       VM_shl,      VM_neg, VM_abs,   VM_tanh,      VM_rem,
      VM_sign,   VM_sqrt,      VM_sin,      VM_cos, VM_pow,   VM_exp,       VM_log,
      VM_atan2,  VM_cbrt,      VM_rsqrt,    VM_erf, VM_not,   VM_shr_arith, VM_shr_logic,
      VM_popcnt, VM_round_afz, VM_logistic, VM_clz, VM_floor, VM_tan};
  u32 to = pick(seed, VARIABLES), x = pick(seed, VARIABLES), y = pick(seed, VARIABLES);
  prog_loop *l = prog_add_loop(w->b, 1, (i64[]){w->n}, S, L);
  dtype t = types[to];
  vm_op op = ops[pick(seed, COUNT(ops))];
  if (!vm_takes(op, t)) op = VM_add;
  u32 a = vm_emit(w->b, &l->code, VM_convert, t, load(w, l, w->slot[x], types[x]), 0, 0);
  u32 b = pick(seed, 3)
              ? vm_emit(w->b, &l->code, VM_convert, t, load(w, l, w->slot[y], types[y]), 0, 0)
              : number(w, l, seed, t);
  u32 v = op == VM_rem && pick(seed, 2) ? add_floored(w, l, t, a, b)
                                        : vm_emit(w->b, &l->code, op, t, a, b, 0);
  if (pick(seed, 2)) {
    static const vm_op compares[] = {VM_eq, VM_ne, VM_lt, VM_le, VM_gt, VM_ge};
    u32 p = vm_emit(w->b, &l->code, compares[pick(seed, 6)], DTYPE_pred, a, b, 0);
    u32 other = vm_emit(w->b, &l->code, compares[pick(seed, 6)], DTYPE_pred, b, a, 0);
    if (pick(seed, 2)) p = vm_emit(w->b, &l->code, VM_not, DTYPE_pred, p, 0, 0);
    if (pick(seed, 2))
      p = vm_emit(w->b, &l->code, pick(seed, 2) ? VM_ne : VM_eq, DTYPE_pred, p, other, 0);
    v = vm_emit(w->b, &l->code, VM_select, t, p, v, b);
  }
  prog_loop_out(w->b, l, w->slot[to], 0, (i64[]){1}, v);
}

/* One of one to three, by the turn. */
static void add_case(writer *w, u32 *seed) {
  u32 labels[3], n = 1 + pick(seed, COUNT(labels)), end = prog_label(w->b);
  for (u32 i = 0; i < n; i++) labels[i] = prog_label(w->b);
  prog_add_case(w->b, w->counter, n, labels, S, L);
  for (u32 i = 0; i < n; i++) {
    prog_place(w->b, labels[i]);
    add_operation(w, seed);
    prog_add_jump(w->b, end, S, L);
  }
  prog_place(w->b, end);
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
    else if (pick(&seed, 3))
      add_branch(&w, &seed);
    else
      add_case(&w, &seed);
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

/* ---- loops with steps of other kinds in them: as without compiled code ---- */

enum { ROWS = 6, LONG = 9 };

typedef struct mixed {
  writer w;
  u32 table, row, element[3]; /* a table of rows; what is taken from it */
  u32 index, natural;         /* where; of u32 */
} mixed;

/* The next part of the table: an element or a row, read or written. */
static void add_dynamic(mixed *m, u32 *seed) {
  bool update = pick(seed, 2), whole = pick(seed, 2);
  prog_dynamic d = {.update = update, .big = m->table, .rank = 2};
  d.small = whole ? m->row : m->element[pick(seed, 3)];
  d.big_dims[0] = ROWS, d.big_dims[1] = LONG;
  d.small_dims[0] = 1, d.small_dims[1] = whole ? LONG : 1;
  d.start[0] = pick(seed, 2) ? m->w.counter : m->index;
  u32 other = pick(seed, 3) ? m->w.slot[0] : m->natural;
  d.start[1] = pick(seed, 2) ? other : m->index;
  prog_add_dynamic(m->w.b, &d, S, L);
}
/* All of a row becomes a function of it and of an element; or an element of two of them, which may
 * be in the row, or in the table. */
static void add_mixed(mixed *m, u32 *seed) {
  bool whole = pick(seed, 2), inside = !whole && pick(seed, 2), within = !whole && pick(seed, 2);
  u32 from = inside ? pick(seed, 4) ? m->row : m->table : m->element[pick(seed, 3)];
  u32 to = whole || within ? m->row : m->element[pick(seed, 3)];
  if (within && pick(seed, 4) == 0) to = m->table;
  i64 from_at = inside ? pick(seed, 3) : 0, to_at = within ? pick(seed, 3) : 0;
  prog_loop *l = prog_add_loop(m->w.b, 1, (i64[]){whole ? LONG : 1}, S, L);
  u32 x = vm_load(m->w.b, &l->code, DTYPE_f32, prog_loop_in(m->w.b, l, to, to_at, (i64[]){1}));
  u32 y = vm_load(m->w.b, &l->code, DTYPE_f32, prog_loop_in(m->w.b, l, from, from_at, (i64[]){0}));
  u32 v = vm_emit(m->w.b, &l->code,
                  pick(seed, 2)   ? VM_sub
                  : pick(seed, 2) ? VM_max
                                  : VM_min,
                  DTYPE_f32, x, y, 0);
  prog_loop_out(m->w.b, l, to, to_at, (i64[]){1}, v);
}
/* Three numbers of a type that live for as long as it takes to read them, in a place where others
 * of other widths do so, too; with other steps between them. They go to an element or to all of
 * the table. */
static void add_lives(mixed *m, u32 *seed) {
  static const dtype of[] = {DTYPE_pred, DTYPE_f32, DTYPE_f64, DTYPE_s32, DTYPE_s64};
  prog_builder *b = m->w.b;
  dtype t = of[pick(seed, COUNT(of))];
  u32 slot = prog_work(b, t, 3), all = pick(seed, 2), v = PROG_NONE;
  for (u32 k = 0; k < 3; k++) {
    prog_loop *l = prog_add_loop(b, 1, (i64[]){1}, S, L);
    u32 x = m->element[pick(seed, 3)], y = m->element[pick(seed, 3)];
    x = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, x, 0, (i64[]){0}));
    y = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, y, 0, (i64[]){0}));
    v = t == DTYPE_pred ? vm_emit(b, &l->code, VM_lt, t, x, y, 0)
                        : vm_emit(b, &l->code, VM_convert, t, x, 0, 0);
    prog_loop_out(b, l, slot, k, (i64[]){1}, v);
    if (pick(seed, 4) == 0) add_mixed(m, seed);
  }
  u32 to = all ? m->table : m->element[pick(seed, 3)];
  prog_loop *l = prog_add_loop(b, 1, (i64[]){all ? ROWS * LONG : 1}, S, L);
  u32 other = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, to, 0, (i64[]){1}));
  u32 half = vm_const_f64(b, &l->code, DTYPE_f32, .5);
  for (u32 k = 0; k < 3; k++) {
    u32 x = vm_load(b, &l->code, t, prog_loop_in(b, l, slot, k, (i64[]){0}));
    x = t == DTYPE_pred ? vm_emit(b, &l->code, VM_select, DTYPE_f32, x, half, other)
                        : vm_emit(b, &l->code, VM_convert, DTYPE_f32, x, 0, 0);
    v = k ? vm_emit(b, &l->code, VM_sub, DTYPE_f32, v, x, 0) : x;
  }
  prog_loop_out(b, l, to, 0, (i64[]){1}, v);
}
static void add_index(mixed *m, u32 *seed) {
  prog_loop *l = prog_add_loop(m->w.b, 0, NULL, S, L);
  u32 x = vm_load(m->w.b, &l->code, DTYPE_s32, prog_loop_in(m->w.b, l, m->index, 0, NULL));
  u32 y = vm_const_f64(m->w.b, &l->code, DTYPE_s32, (double)pick(seed, 7) - 3);
  u32 v = vm_emit(m->w.b, &l->code, VM_add, DTYPE_s32, x, y, 0);
  prog_loop_out(m->w.b, l, m->index, 0, NULL, v);
  v = vm_emit(m->w.b, &l->code, VM_convert, DTYPE_u32, v, 0, 0);
  prog_loop_out(m->w.b, l, m->natural, 0, NULL, v);
}

/* Results: the table, a row, elements, the index. Some are work, whose places others share. */
static void run_mixed(arena *a, u32 seed, bool lives, char *out, size_t room) {
  mixed m = {.w = {.b = prog_begin(a, 1, 1), .n = 1}};
  prog_builder *b = m.w.b;
  float table[ROWS * LONG], row[LONG], element[3];
  i32 index = 1, first = (i32)pick(&seed, 9) - 2, zero = 0;
  for (u32 i = 0; i < ROWS * LONG; i++) table[i] = (float)pick(&seed, 100) - 50;
  for (u32 i = 0; i < LONG; i++) row[i] = (float)i;
  u32 params[] = {prog_param(b, DTYPE_f32, ROWS * LONG), prog_param(b, DTYPE_f32, LONG),
                  prog_param(b, DTYPE_s32, 1)};
  u32 results[] = {prog_result(b, DTYPE_f32, ROWS * LONG, -1), prog_result(b, DTYPE_f32, LONG, -1),
                   prog_result(b, DTYPE_f32, 1, -1), prog_result(b, DTYPE_s32, 1, -1)};
  m.table = results[0], m.row = results[1], m.element[0] = results[2], m.index = results[3];
  prog_add_move(b, params[0], m.table, S, L);
  prog_add_move(b, params[1], m.row, S, L);
  prog_add_fill(b, m.index, &index, S, L);
  m.natural = prog_work(b, DTYPE_u32, 1);
  prog_add_fill(b, m.natural, &index, S, L);
  for (u32 i = 0; i < 3; i++) {
    element[i] = (float)i + 2;
    if (i) m.element[i] = prog_work(b, DTYPE_f32, 1);
    prog_add_fill(b, m.element[i], &element[i], S, L);
  }
  m.w.slot[0] = params[2];
  m.w.counter = prog_work(b, DTYPE_s32, 1), m.w.yes = prog_work(b, DTYPE_pred, 1);
  u32 top = prog_label(b), end = prog_label(b);
  prog_add_fill(b, m.w.counter, &zero, S, L);
  prog_place(b, top);
  add_test(&m.w);
  prog_add_jump_unless(b, m.w.yes, end, S, L);
  for (u32 i = 0; i < STEPS; i++) {
    u32 kind = pick(&seed, lives ? 7 : 5);
    if (kind < 2)
      add_dynamic(&m, &seed);
    else if (kind > 4)
      add_lives(&m, &seed);
    else if (kind < 4)
      add_mixed(&m, &seed);
    else
      add_index(&m, &seed);
  }
  add_count(&m.w);
  prog_add_jump(b, top, S, L);
  prog_place(b, end);
  prog_loop *l = prog_add_loop(b, 1, (i64[]){1}, S, L); /* all elements, so that they live */
  u32 v = PROG_NONE;
  for (u32 i = 0; i < 3; i++) {
    u32 x = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, m.element[i], 0, (i64[]){0}));
    v = i ? vm_emit(b, &l->code, VM_add, DTYPE_f32, v, x, 0) : x;
  }
  prog_loop_out(b, l, m.element[0], 0, (i64[]){1}, v);
  char *at[] = {out, out + sizeof table, out + sizeof table + sizeof row,
                out + sizeof table + sizeof row + 4};
  CHECK(at[3] + 4 <= out + room);
  const char *error =
      run(b, (void *[]){table, row, &first}, (void *[]){at[0], at[1], at[2], at[3]});
  CHECK(!*error);
}

static void run_mixed_tests(arena *a) {
  for (u32 seed = 0; seed < 800; seed++) {
    char compiled[400] = {0}, plain[400] = {0};
    run_mixed(a, seed, seed % 2, compiled, sizeof compiled);
    setenv("TERRAZZO_JIT", "0", 1);
    run_mixed(a, seed, seed % 2, plain, sizeof plain);
    unsetenv("TERRAZZO_JIT");
    CHECK(memcmp(compiled, plain, sizeof plain) == 0);
  }
}

/* A case of one branch, whose index nobody reads: between two loops, a number doubled twice. */
static void run_one_branch(arena *a) {
  prog_builder *b = prog_begin(a, 1, 1);
  u32 index = prog_param(b, DTYPE_s32, 1), r = prog_result(b, DTYPE_f32, 1, -1);
  float one = 1, result = 0;
  i32 numbers[8] = {0}; /* whose addresses, but for one, have no byte of 0 in front */
  prog_add_fill(b, r, &one, S, L);
  for (u32 i = 0; i < 2; i++) {
    prog_loop *l = prog_add_loop(b, 0, NULL, S, L);
    u32 x = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, r, 0, NULL));
    prog_loop_out(b, l, r, 0, NULL, vm_emit(b, &l->code, VM_add, DTYPE_f32, x, x, 0));
    u32 branch = prog_label(b);
    if (i == 0) prog_add_case(b, index, 1, &branch, S, L);
    prog_place(b, branch);
  }
  const program *p = finish(b);
  executor_image *im = make_image(p);
  for (u32 i = 0; i < COUNT(numbers); i++) {
    const char *error = run_image(pool, im, (void *[]){&numbers[i]}, (void *[]){&result});
    CHECK(!*error && result == 4);
  }
  for (u32 i = 0; i < COUNT(numbers); i++) CHECK(numbers[i] == 0);
  exec_image_release(im);
}

/* Of n elements each becomes a function of itself and another one, again and again: more than code
 * keeps in its frame, or almost as many. */
enum { MOST_ELEMENTS = 2100 };
static void run_elements(arena *a, u32 n, float *out) {
  prog_builder *b = prog_begin(a, 1, 1);
  writer w = {.b = b, .n = 1, .slot = {prog_param(b, DTYPE_s32, 1)}};
  u32 all = prog_result(b, DTYPE_f32, n, -1), top = prog_label(b), end = prog_label(b);
  i32 zero = 0, first = 0;
  float one = 1;
  w.counter = prog_work(b, DTYPE_s32, 1), w.yes = prog_work(b, DTYPE_pred, 1);
  prog_add_fill(b, all, &one, S, L);
  prog_add_fill(b, w.counter, &zero, S, L);
  prog_place(b, top);
  add_test(&w);
  prog_add_jump_unless(b, w.yes, end, S, L);
  for (u32 i = 0; i < n; i++) {
    prog_loop *l = prog_add_loop(b, 0, NULL, S, L);
    u32 x = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, all, i, NULL));
    u32 y = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, all, i * 7 % n, NULL));
    u32 k = vm_const_f64(b, &l->code, DTYPE_f32, 0.3 + i % 5 * 0.1);
    x = vm_emit(b, &l->code, VM_add, DTYPE_f32, vm_emit(b, &l->code, VM_mul, DTYPE_f32, x, k, 0), y,
                0);
    prog_loop_out(b, l, all, i, NULL, x);
  }
  add_count(&w);
  prog_add_jump(b, top, S, L);
  prog_place(b, end);
  CHECK(!*run(b, (void *[]){&first}, (void *[]){out}));
}
static void run_many_elements(arena *a) {
  static const u32 counts[] = {300, 500, 1900, MOST_ELEMENTS};
  static float compiled[MOST_ELEMENTS], plain[MOST_ELEMENTS];
  for (u32 i = 0; i < COUNT(counts); i++) {
    run_elements(a, counts[i], compiled);
    setenv("TERRAZZO_JIT", "0", 1);
    run_elements(a, counts[i], plain);
    unsetenv("TERRAZZO_JIT");
    CHECK(compiled[1] > 1 && memcmp(compiled, plain, counts[i] * sizeof *plain) == 0);
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
  run_mixed_tests(a);
  run_one_branch(a);
  run_many_elements(a);
  executor_release(pool);
}

int main(void) { return exec_tests(run_tests); }
