/* Random loops over a few elements: matrices, vectors, sums and products of them, parts of tables,
 * branches; and copies of lines that are longer. The bits are those of the steps one by one,
 * without compiled code. */
#include "num/convert.h"
#include "tests/exec.h"

enum {
  SIDE = 3,
  SQUARE = SIDE * SIDE,
  ROWS = 5,
  TURNS = 6,
  STEPS = 10,
  MATRICES = 3,
  VECTORS = 2,
  LINES = 3
};

typedef struct writer {
  prog_builder *b;
  dtype t;
  u32 seed;
  u32 matrix[MATRICES], vector[VECTORS], number, places, table, read, counter, yes, zero, bytes;
  u32 line[LINES], lines; /* of `length` elements; so many of them */
  i64 length;
} writer;

static u32 pick(writer *w, u32 n) {
  w->seed = w->seed * 1664525 + 1013904223;
  return (w->seed >> 16) % n;
}
static u32 any_matrix(writer *w) { return w->matrix[pick(w, MATRICES)]; }
static u32 any_vector(writer *w) { return w->vector[pick(w, VECTORS)]; }

static u32 load(writer *w, prog_loop *l, u32 slot, const i64 *stride) {
  return vm_load(w->b, &l->code, w->t, prog_loop_in(w->b, l, slot, 0, stride));
}
static u32 emit(writer *w, prog_loop *l, vm_op op, u32 x, u32 y) {
  return vm_emit(w->b, &l->code, op, w->t, x, y, 0);
}

/* All of x in place: x / (1 + x^2), which keeps it small; or its tanh, which is called. */
static void add_bound(writer *w, u32 slot, i64 n) {
  prog_loop *l = prog_add_loop(w->b, 1, &n, S, L);
  u32 x = load(w, l, slot, (i64[]){1}), one = vm_const_f64(w->b, &l->code, w->t, 1);
  u32 v = pick(w, 6) ? emit(w, l, VM_div, x, emit(w, l, VM_add, one, emit(w, l, VM_mul, x, x)))
                     : emit(w, l, VM_tanh, x, 0);
  prog_loop_out(w->b, l, slot, 0, (i64[]){1}, v);
}

/* A matrix becomes a function of itself and a row or a column. */
static void add_loop(writer *w) {
  static const vm_op ops[] = {VM_add, VM_sub, VM_mul};
  u32 to = any_matrix(w);
  i64 other[][2] = {{0, 1}, {1, 0}};
  prog_loop *l = prog_add_loop(w->b, 2, (i64[]){SIDE, SIDE}, S, L);
  u32 x = load(w, l, to, (i64[]){SIDE, 1}), y = load(w, l, any_vector(w), other[pick(w, 2)]);
  u32 v = emit(w, l, ops[pick(w, 3)], x, y);
  if (pick(w, 2)) {
    u32 i = vm_emit(w->b, &l->code, VM_iota, DTYPE_s32, pick(w, 2), 0, 0);
    v = emit(w, l, VM_add, v, vm_emit(w->b, &l->code, VM_convert, w->t, i, 0, 0));
    u32 p = vm_emit(w->b, &l->code, VM_lt, DTYPE_pred, v, y, 0);
    if (pick(w, 2)) v = vm_emit(w->b, &l->code, VM_select, w->t, p, v, x);
  }
  prog_loop_out(w->b, l, to, 0, (i64[]){SIDE, 1}, v);
  add_bound(w, to, SQUARE);
}

/* Of matrices; a matrix and a vector; vectors: columns of the right one, or rows; and of two
 * vectors each of one with each of the other. */
static void add_product(writer *w) {
  u32 kind = pick(w, 4), first = pick(w, MATRICES);
  bool turned = pick(w, 2);
  i64 m = kind < 2 ? SIDE : 1, n = kind < 1 ? SIDE : 1, dims[] = {m, n, SIDE};
  i64 ls[] = {turned ? 1 : SIDE, 0, kind < 2 && turned ? SIDE : 1};
  i64 rs[] = {0, turned ? SIDE : 1, kind < 1 && !turned ? SIDE : 1}, os[] = {n, 1, 0};
  prog_dot d = {.nm = 1, .nn = 1, .nk = 1, .dims = dims};
  d.lhs_stride = ls, d.rhs_stride = rs, d.out_stride = os;
  d.lhs = kind < 2 ? w->matrix[first] : w->vector[0];
  d.rhs = kind < 1 ? w->matrix[(first + 1) % MATRICES] : w->vector[1];
  d.out = kind < 1 ? w->matrix[(first + 2) % MATRICES] : kind < 2 ? w->vector[0] : w->number;
  if (kind == 3) {
    m = n = dims[0] = dims[1] = SIDE, dims[2] = 1;
    ls[0] = rs[1] = 1, rs[2] = 0, os[0] = SIDE, ls[2] = 0;
    d.out = w->matrix[first];
  }
  prog_add_dot(w->b, &d, S, L);
  add_bound(w, d.out, m * n);
}

/* Matrices of the table, each by a row of one, or by a column: what is read of both lies along the
 * terms, or not. */
static void add_products(writer *w) {
  u32 first = pick(w, MATRICES);
  i64 batches = 2 + pick(w, SIDE - 1), terms = 2 + pick(w, SIDE - 1);
  bool turned = pick(w, 2), column = pick(w, 2);
  i64 dims[] = {batches, SIDE, 1, terms}, os[] = {SIDE, 1, 1, 0};
  i64 ls[] = {SQUARE, turned ? 1 : terms, 0, turned ? SIDE : 1};
  i64 rs[] = {column ? 1 : SIDE, 0, 0, column ? SIDE : 1};
  prog_dot d = {.nb = 1, .nm = 1, .nn = 1, .nk = 1, .dims = dims};
  d.lhs_stride = ls, d.rhs_stride = rs, d.out_stride = os;
  d.lhs = pick(w, 2) ? w->table : w->read, d.rhs = w->matrix[first];
  d.out = w->matrix[(first + 1) % MATRICES];
  prog_add_dot(w->b, &d, S, L);
  add_bound(w, d.out, SQUARE);
}

/* A matrix becomes another one where bytes are not 0. */
static void add_masked(writer *w) {
  u32 to = any_matrix(w);
  prog_loop *l = prog_add_loop(w->b, 2, (i64[]){SIDE, SIDE}, S, L);
  u32 p = vm_load(w->b, &l->code, DTYPE_pred,
                  prog_loop_in(w->b, l, w->bytes, 0, (i64[]){SIDE, pick(w, 2)}));
  u32 x = load(w, l, to, (i64[]){SIDE, 1}), y = load(w, l, any_matrix(w), (i64[]){SIDE, 1});
  u32 v = vm_emit(w->b, &l->code, VM_select, w->t, p, x, y);
  if (pick(w, 2)) v = emit(w, l, VM_add, v, vm_emit(w->b, &l->code, VM_convert, w->t, p, 0, 0));
  prog_loop_out(w->b, l, to, 0, (i64[]){SIDE, 1}, v);
  add_bound(w, to, SQUARE);
}

/* Of each row, or of all, of a function of it: the sum, the largest or the smallest. */
static void add_sum(writer *w) {
  static const prog_reducer kinds[] = {REDUCE_SUM, REDUCE_SUM, REDUCE_MAX, REDUCE_MIN};
  bool all = pick(w, 2);
  i64 rows[] = {SIDE, SIDE}, whole[] = {1, SQUARE}, in[] = {all ? 0 : SIDE, 1};
  prog_loop *l = prog_add_loop(w->b, 2, all ? whole : rows, S, L);
  u32 x = load(w, l, any_matrix(w), in), to = all ? w->number : any_vector(w);
  u32 v = pick(w, 2) ? emit(w, l, VM_mul, x, load(w, l, any_matrix(w), in)) : x;
  prog_loop_out(w->b, l, to, 0, (i64[]){all ? 0 : 1, 0}, v);
  prog_loop_reduce(w->b, l, 1, &w->zero, (prog_body){.kind = kinds[pick(w, COUNT(kinds))]});
  add_bound(w, to, all ? 1 : SIDE);
}

/* The first of the largest of each row, or of all, and where it is. */
static void add_largest(writer *w) {
  bool all = pick(w, 2);
  i64 rows[] = {SIDE, SIDE}, whole[] = {1, SQUARE}, out[] = {all ? 0 : 1, 0};
  prog_loop *l = prog_add_loop(w->b, 2, all ? whole : rows, S, L);
  u32 x = load(w, l, any_matrix(w), (i64[]){all ? 0 : SIDE, 1});
  prog_loop_out(w->b, l, all ? w->number : any_vector(w), 0, out, x);
  prog_loop_out(w->b, l, w->places, 0, out, vm_iota(w->b, &l->code, DTYPE_s32, 1));
  prog_body body = {.kind = REDUCE_CODE};
  vm_code *c = &body.code;
  u32 y = vm_load(w->b, c, w->t, 0), i = vm_load(w->b, c, DTYPE_s32, 1);
  u32 best = vm_load(w->b, c, w->t, 2), at = vm_load(w->b, c, DTYPE_s32, 3);
  u32 more = vm_emit(w->b, c, VM_gt, DTYPE_pred, y, best, 0);
  u32 first = vm_emit(w->b, c, VM_lt, DTYPE_pred, i, at, 0);
  u32 tie = vm_emit(w->b, c, VM_and, DTYPE_pred, vm_emit(w->b, c, VM_eq, DTYPE_pred, y, best, 0),
                    first, 0);
  u32 keep = vm_emit(w->b, c, VM_or, DTYPE_pred, more, tie, 0);
  vm_store(w->b, c, 0, vm_emit(w->b, c, VM_select, w->t, more, y, best));
  vm_store(w->b, c, 1, vm_emit(w->b, c, VM_select, DTYPE_s32, keep, i, at));
  prog_loop_reduce(w->b, l, 1, (u32[]){w->zero, w->counter}, body);
}

static void add_copy(writer *w) {
  u32 first = pick(w, MATRICES);
  prog_add_copy(w->b, 2, (i64[]){SIDE, SIDE}, w->matrix[first], 0, (i64[]){1, SIDE},
                w->matrix[(first + 1) % MATRICES], 0, (i64[]){SIDE, 1}, S, L);
}

/* A row of a table that is read only, or of one that is written too; or a column of some rows. */
static void add_part(writer *w) {
  bool update = pick(w, 2), column = pick(w, 2);
  prog_dynamic d = {.update = update, .big = update || pick(w, 2) ? w->table : w->read, .rank = 2};
  d.small = column ? any_vector(w) : any_matrix(w);
  d.big_dims[0] = ROWS, d.big_dims[1] = SQUARE;
  d.small_dims[0] = column ? SIDE : 1, d.small_dims[1] = column ? 1 : SQUARE;
  d.start[0] = d.start[1] = w->counter;
  prog_add_dynamic(w->b, &d, S, L);
}

/* Some of a line to another one, all of one of many or back, or its elements changed. */
static void add_line(writer *w) {
  u32 first = pick(w, LINES), second = (first + 1) % LINES, kind = pick(w, 3);
  if (kind == 0) {
    i64 n = w->length - pick(w, 4), from = pick(w, (u32)(w->length - n + 1));
    prog_add_copy(w->b, 1, &n, w->line[first], from, (i64[]){1}, w->line[second],
                  w->length - n - from, (i64[]){1}, S, L);
  } else if (kind == 1) {
    prog_dynamic d = {.update = pick(w, 2), .big = w->lines, .small = w->line[first], .rank = 2};
    d.big_dims[0] = LINES, d.big_dims[1] = w->length;
    d.small_dims[0] = 1, d.small_dims[1] = w->length;
    d.start[0] = d.start[1] = w->counter;
    prog_add_dynamic(w->b, &d, S, L);
  } else {
    add_bound(w, w->line[first], w->length);
  }
}

static void add_step(writer *w) {
  static void (*const adds[])(writer *) = {add_loop,   add_product, add_products,
                                           add_masked, add_sum,     add_largest,
                                           add_copy,   add_part,    add_line};
  adds[pick(w, COUNT(adds))](w);
}

/* One of three steps, by an index that may be none of theirs. */
static void add_case(writer *w) {
  u32 end = prog_label(w->b), labels[3];
  for (u32 i = 0; i < COUNT(labels); i++) labels[i] = prog_label(w->b);
  prog_add_case(w->b, w->counter, COUNT(labels), labels, S, L);
  for (u32 i = 0; i < COUNT(labels); i++) {
    prog_place(w->b, labels[i]);
    add_step(w);
    prog_add_jump(w->b, end, S, L);
  }
  prog_place(w->b, end);
}

static void add_count(writer *w, u32 end) {
  prog_loop *l = prog_add_loop(w->b, 0, NULL, S, L);
  u32 x = vm_load(w->b, &l->code, DTYPE_s32, prog_loop_in(w->b, l, w->counter, 0, NULL));
  u32 one = vm_const_f64(w->b, &l->code, DTYPE_s32, 1);
  u32 most = vm_const_f64(w->b, &l->code, DTYPE_s32, TURNS - 1);
  u32 next = vm_emit(w->b, &l->code, VM_add, DTYPE_s32, x, one, 0);
  prog_loop_out(w->b, l, w->counter, 0, NULL, next);
  prog_loop_out(w->b, l, w->yes, 0, NULL,
                vm_emit(w->b, &l->code, VM_lt, DTYPE_pred, next, most, 0));
  prog_add_jump_unless(w->b, w->yes, end, S, L);
}

static u32 add_value(writer *w, bool is_result, u64 n, double x) {
  u64 bits[2] = {0};
  u32 slot = is_result ? prog_result(w->b, w->t, n, -1) : prog_work(w->b, w->t, n);
  num_from_f64(w->t, x, bits);
  prog_add_fill(w->b, slot, bits, S, L);
  return slot;
}

enum { RESULTS = 4 + MATRICES + LINES, ROOM = 4096 };

/* Results: a table, the matrices, the number, the places, the lines; vectors are work, whose places
 * others share. */
static void run_few(arena *a, u32 seed, char (*out)[ROOM]) {
  writer w = {.b = prog_begin(a, 1, 1), .t = seed % 2 ? DTYPE_f64 : DTYPE_f32, .seed = seed};
  u64 size = dtype_size(w.t), zeros[2] = {0};
  i32 first = -1;
  char table[ROWS * SQUARE * 8];
  u8 bytes[SQUARE];
  for (u32 i = 0; i < ROWS * SQUARE; i++)
    num_from_f64(w.t, (double)pick(&w, 100) / 50 - 1, table + i * size);
  for (u32 i = 0; i < SQUARE; i++) bytes[i] = (u8)(pick(&w, 3) * pick(&w, 256));
  u32 param = prog_param(w.b, w.t, ROWS * SQUARE);
  w.bytes = prog_param(w.b, DTYPE_pred, SQUARE);
  w.read = pick(&w, 2) ? prog_work(w.b, w.t, ROWS * SQUARE) : param;
  w.table = prog_result(w.b, w.t, ROWS * SQUARE, -1);
  if (w.read != param) prog_add_move(w.b, param, w.read, S, L);
  prog_add_move(w.b, param, w.table, S, L);
  for (u32 i = 0; i < MATRICES; i++) w.matrix[i] = add_value(&w, true, SQUARE, 0.3 + 0.2 * i);
  for (u32 i = 0; i < VECTORS; i++) w.vector[i] = add_value(&w, false, SIDE, 0.5 - i);
  w.number = add_value(&w, true, 1, 0.7);
  w.places = prog_result(w.b, DTYPE_s32, SIDE, -1);
  prog_add_fill(w.b, w.places, zeros, S, L);
  w.length = 10 + pick(&w, 140);
  for (u32 i = 0; i < LINES; i++) w.line[i] = add_value(&w, true, (u64)w.length, 0.2 + i);
  w.lines = add_value(&w, true, (u64)(LINES * w.length), 0.4);
  w.zero = prog_const(w.b, w.t, 1, zeros);
  w.counter = prog_work(w.b, DTYPE_s32, 1), w.yes = prog_work(w.b, DTYPE_pred, 1);
  u32 top = prog_label(w.b), end = prog_label(w.b);
  prog_add_fill(w.b, w.counter, &first, S, L);
  prog_place(w.b, top);
  for (u32 i = 0; i < STEPS; i++)
    if (pick(&w, 8))
      add_step(&w);
    else
      add_case(&w);
  add_count(&w, end);
  prog_add_jump(w.b, top, S, L);
  prog_place(w.b, end);
  void *results[RESULTS];
  for (u32 i = 0; i < COUNT(results); i++) results[i] = out[i];
  CHECK(!*run(w.b, (void *[]){table, bytes}, results));
}

static char compiled[RESULTS][ROOM], plain[RESULTS][ROOM];

static void run_tests(arena *a, const exec_options *options) {
  status s = exec_create(options, &pool);
  CHECK(!s);
  for (u32 seed = 0; seed < 400; seed++) {
    memset(compiled, 0, sizeof compiled), memset(plain, 0, sizeof plain);
    run_few(a, seed, compiled);
    setenv("TERRAZZO_JIT", "0", 1);
    run_few(a, seed, plain);
    unsetenv("TERRAZZO_JIT");
    CHECK(memcmp(compiled, plain, sizeof plain) == 0);
  }
  executor_release(pool);
}

int main(void) { return exec_tests(run_tests); }
