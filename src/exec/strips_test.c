/* Steps done by strips, against plain C: rows that no strip divides, indices of rows, a step that
 * has to go before, a donated parameter, gathers; and programs whose strips are wrong. */
#include <math.h>

#include "program/parts.h"
#include "tests/exec.h"

enum { ROWS = 1021, COLUMNS = 500, ALL = ROWS * COLUMNS };

static float x[ALL], y[ALL], want[ALL];

/* e = exp(x - max) * (row + column), w = 1 / (1 + column), y = e / sum(e * w) */
static const program *make(arena *a, bool donated) {
  static const float low = -INFINITY, zero = 0;
  static const i64 dims[] = {ROWS, COLUMNS}, dense[] = {COLUMNS, 1}, row[] = {1, 0}, col[] = {0, 1};
  prog_builder *b = prog_begin(a, 1, 1);
  u32 in = prog_param(b, DTYPE_f32, ALL), out = prog_result(b, DTYPE_f32, ALL, donated ? 0 : -1);
  u32 max = prog_work(b, DTYPE_f32, ROWS), e = prog_work(b, DTYPE_f32, ALL);
  u32 w = prog_work(b, DTYPE_f32, COLUMNS), sum = prog_work(b, DTYPE_f32, ROWS);
  u32 c_low = prog_const(b, DTYPE_f32, 1, &low), c_zero = prog_const(b, DTYPE_f32, 1, &zero);
  prog_loop *l = prog_add_loop(b, 2, dims, STR("max"), L);
  u32 v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, in, 0, dense));
  prog_loop_out(b, l, max, 0, row, v);
  prog_loop_reduce(b, l, 1, &c_low, (prog_body){.kind = REDUCE_MAX});
  l = prog_add_loop(b, 2, dims, STR("exp"), L);
  v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, in, 0, dense));
  u32 m = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, max, 0, row));
  v = vm_emit(b, &l->code, VM_exp, DTYPE_f32, vm_emit(b, &l->code, VM_sub, DTYPE_f32, v, m, 0), 0,
              0);
  u32 i = vm_iota(b, &l->code, DTYPE_s32, 0), j = vm_iota(b, &l->code, DTYPE_s32, 1);
  i = vm_emit(b, &l->code, VM_add, DTYPE_s32, i, j, 0);
  i = vm_emit(b, &l->code, VM_convert, DTYPE_f32, i, 0, 0);
  prog_loop_out(b, l, e, 0, dense, vm_emit(b, &l->code, VM_mul, DTYPE_f32, v, i, 0));
  l = prog_add_loop(b, 1, (i64[]){COLUMNS}, STR("weight"), L);
  v = vm_emit(b, &l->code, VM_add, DTYPE_f32, vm_iota(b, &l->code, DTYPE_f32, 0),
              vm_const_f64(b, &l->code, DTYPE_f32, 1), 0);
  v = vm_emit(b, &l->code, VM_div, DTYPE_f32, vm_const_f64(b, &l->code, DTYPE_f32, 1), v, 0);
  prog_loop_out(b, l, w, 0, (i64[]){1}, v);
  l = prog_add_loop(b, 2, dims, STR("sum"), L);
  v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, e, 0, dense));
  m = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, w, 0, col));
  prog_loop_out(b, l, sum, 0, row, vm_emit(b, &l->code, VM_mul, DTYPE_f32, v, m, 0));
  prog_loop_reduce(b, l, 1, &c_zero, (prog_body){.kind = REDUCE_SUM});
  l = prog_add_loop(b, 2, dims, STR("divide"), L);
  v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, e, 0, dense));
  m = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, sum, 0, row));
  prog_loop_out(b, l, out, 0, dense, vm_emit(b, &l->code, VM_div, DTYPE_f32, v, m, 0));
  return finish(b);
}

static void fill(void) {
  u32 seed = 3;
  for (u32 i = 0; i < ALL; i++) x[i] = noise(&seed);
  for (u32 i = 0; i < ROWS; i++) {
    double sum = 0;
    float max = x[i * COLUMNS]; /* gcc 12 for aarch64 fails on a double's */
    for (u32 j = 0; j < COLUMNS; j++) max = fmaxf(max, x[i * COLUMNS + j]);
    for (u32 j = 0; j < COLUMNS; j++)
      sum += exp((double)x[i * COLUMNS + j] - max) * (i + j) / (1 + j);
    for (u32 j = 0; j < COLUMNS; j++)
      want[i * COLUMNS + j] = (float)(exp((double)x[i * COLUMNS + j] - max) * (i + j) / sum);
  }
}

static void check_values(const float *got) {
  int bad = 0;
  for (u32 i = 0; i < ALL; i++) bad += !(fabsf(got[i] - want[i]) <= 2e-5f * fabsf(want[i]) + 1e-9f);
  CHECK(bad == 0);
}

static void run_it(const program *p, void *to) {
  executor_image *im = make_image(p);
  CHECK(!*run_image(pool, im, (void *[]){x}, (void *[]){to}));
  exec_image_release(im);
}

static void test_values(arena *a) {
  buf bytes;
  const program *again = NULL, *p = make(a, false);
  CHECK(p->num_steps == 2 && p->steps[0].kind == STEP_loop && p->steps[1].kind == STEP_strips);
  CHECK(p->workspace <= 4096); /* the weights: all else is never whole */
  fill();
  run_it(p, y);
  check_values(y);
  buf_init(&bytes, &mem_system);
  program_serialize(p, &bytes);
  CHECK(!program_deserialize(a, (str){bytes.data, bytes.len}, &again));
  memset(y, 0, sizeof y);
  run_it(again, y);
  check_values(y);
  run_it(make(a, true), x); /* over its parameter */
  check_values(x);
  CHECK(memcmp(x, y, sizeof x) == 0);
  buf_deinit(&bytes);
}

/* y = table at (3 * index - 50) + row: an index for each of so many elements `each` of a row, and
 * for all of `width` behind it; batched: a row has a table of its own. */
typedef struct taking {
  i64 rows, each, width, table;
  bool batched, flat; /* flat: indices are computed as one line */
} taking;

static u32 add_indices(prog_builder *b, const taking *t, u32 in) {
  i64 n = t->rows * t->each;
  u32 out = prog_work(b, DTYPE_s32, (u64)n);
  prog_loop *l =
      prog_add_loop(b, t->flat ? 1 : 2, t->flat ? &n : (i64[]){t->rows, t->each}, STR("index"), L);
  const i64 *stride = t->flat ? (i64[]){1} : (i64[]){t->each, 1};
  u32 v = vm_load(b, &l->code, DTYPE_s32, prog_loop_in(b, l, in, 0, stride));
  v = vm_emit(b, &l->code, VM_mul, DTYPE_s32, v, vm_const_f64(b, &l->code, DTYPE_s32, 3), 0);
  v = vm_emit(b, &l->code, VM_sub, DTYPE_s32, v, vm_const_f64(b, &l->code, DTYPE_s32, 50), 0);
  prog_loop_out(b, l, out, 0, stride, v);
  return out;
}

static const program *make_taking(arena *a, const taking *t) {
  i64 all = t->rows * t->each * t->width, dims[] = {t->rows, t->each, t->width};
  i64 stride[] = {t->each * t->width, t->width, 1}, row = 0, one = 1, two = 2;
  i64 operand[] = {t->batched ? t->rows : t->table, t->batched ? t->table : t->width};
  i64 indices[] = {t->rows, t->each, 1}, sizes[] = {1, t->batched ? 1 : t->width};
  prog_builder *b = prog_begin(a, 1, 1);
  u32 table = prog_param(b, DTYPE_f32, (u64)(operand[0] * operand[1]));
  u32 at = prog_param(b, DTYPE_s32, (u64)(t->rows * t->each));
  u32 out = prog_result(b, DTYPE_f32, (u64)all, -1), taken = prog_work(b, DTYPE_f32, (u64)all);
  prog_gather g = {.n = 1,
                   .operand = &table,
                   .other = &taken,
                   .indices = add_indices(b, t, at),
                   .operand_dims = {operand, 2},
                   .indices_dims = {indices, 3},
                   .other_dims = {dims, t->batched ? 2 : 3},
                   .offset_dims = {&two, !t->batched},
                   .collapsed = {t->batched ? &one : &row, 1},
                   .operand_batching = {&row, t->batched},
                   .indices_batching = {&row, t->batched},
                   .start_index_map = {t->batched ? &one : &row, 1},
                   .index_vector_dim = 2,
                   .slice_sizes = {sizes, 2}};
  prog_add_gather(b, &g, STR("take"), L);
  prog_loop *l = prog_add_loop(b, 3, dims, STR("use"), L);
  u32 v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, taken, 0, stride));
  v = vm_emit(b, &l->code, VM_add, DTYPE_f32, v, vm_iota(b, &l->code, DTYPE_f32, 0), 0);
  prog_loop_out(b, l, out, 0, stride, v);
  return finish(b);
}

static void check_taking(arena *a, taking t) {
  static i32 at[ALL];
  const program *p = make_taking(a, &t);
  executor_image *im = make_image(p);
  int bad = 0;
  CHECK(p->num_steps == 1 && p->steps[0].kind == STEP_strips);
  for (i64 i = 0; i < t.rows * t.each; i++) at[i] = (i32)(i * 7919 % (t.table / 2));
  for (u32 i = 0; i < ALL; i++) x[i] = (float)(i % 65537);
  CHECK(!*run_image(pool, im, (void *[]){x, at}, (void *[]){y}));
  for (i64 i = 0; i < t.rows * t.each * t.width; i++) {
    i64 r = i / t.width / t.each, k = 3 * at[i / t.width] - 50;
    k = k < 0 ? 0 : k > t.table - 1 ? t.table - 1 : k;
    bad += y[i] != x[t.batched ? r * t.table + k : k * t.width + i % t.width] + (float)r;
  }
  CHECK(bad == 0);
  exec_image_release(im);
}

static void test_gathers(arena *a) {
  check_taking(a, (taking){.rows = 1021, .each = 300, .width = 1, .table = 333, .batched = true});
  check_taking(a, (taking){.rows = 1021, .each = 300, .width = 1, .table = 1000, .flat = true});
  check_taking(a, (taking){.rows = 241, .each = 300, .width = 7, .table = 1000, .flat = true});
  check_taking(a, (taking){.rows = 241, .each = 300, .width = 7, .table = 1000});
}

static void refused(const program *p, const char *why) {
  status s = program_validate(p);
  CHECK(s && strstr(status_message(s).data, why));
  status_free(s);
}

static void test_wrong(arena *a) {
  const program *p = make(a, false);
  prog_strips *r = p->steps[1].u.strips_;
  prog_step first = r->steps[0], second = r->steps[1];
  CHECK(!program_validate(p));
  r->dims[0]--;
  refused(p, "step of other rows");
  r->dims[0]++;
  r->steps[0] = second, r->steps[1] = first;
  refused(p, "row read before it is written");
  r->steps[0] = first, r->steps[1] = second;
  r->steps[0].kind = STEP_strips, r->steps[0].u.strips_ = r;
  refused(p, "step that has no rows");
  r->steps[0] = first;
  second.u.loop_->in[1].stride[0] = 0;
  refused(p, "slot of strips touched across rows");
  second.u.loop_->in[1].stride[0] = 1;
  p->steps[0].u.loop_->out[0].slot = first.u.loop_->out[0].slot;
  refused(p, "slot of strips elsewhere");
}

static void all(arena *a, const exec_options *options) {
  CHECK(!exec_create(options, &pool));
  test_values(a);
  test_wrong(a);
  test_gathers(a);
  executor_release(pool);
}

int main(void) { return exec_tests(all); }
