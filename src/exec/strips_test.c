/* Steps done by strips, against plain C: rows that no strip divides, indices of rows, a step that
 * has to go before, a donated parameter; and programs whose strips are wrong. */
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
    double max = -INFINITY, sum = 0;
    for (u32 j = 0; j < COLUMNS; j++) max = fmax(max, x[i * COLUMNS + j]);
    for (u32 j = 0; j < COLUMNS; j++) sum += exp(x[i * COLUMNS + j] - max) * (i + j) / (1 + j);
    for (u32 j = 0; j < COLUMNS; j++)
      want[i * COLUMNS + j] = (float)(exp(x[i * COLUMNS + j] - max) * (i + j) / sum);
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
  executor_release(pool);
}

int main(void) { return exec_tests(all); }
