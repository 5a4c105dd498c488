/* Operations and bytes of programs that are counted by hand. */
#include "program/program.h"
#include "tests/unit.h"

static oom_trap trap;

static program_cost finish(prog_builder *b) {
  const program *p = NULL;
  program_cost c = {0};
  status s = prog_finish(b, &p);
  CHECK(!s);
  status_free(s);
  if (p) program_find_cost(p, &c);
  return c;
}

/* exp(x + y broadcast) over 4x8 */
static void test_loop(arena *a) {
  prog_builder *b = prog_begin(a, 1, 1);
  u32 x = prog_param(b, DTYPE_f32, 32), y = prog_param(b, DTYPE_f32, 8);
  u32 r = prog_result(b, DTYPE_f32, 32, -1);
  prog_loop *l = prog_add_loop(b, 2, (i64[]){4, 8}, STR("add"), STR("f:1:1"));
  u32 v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, x, 0, (i64[]){8, 1}));
  u32 w = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, y, 0, (i64[]){0, 1}));
  u32 sum = vm_emit(b, &l->code, VM_add, DTYPE_f32, v, w, 0);
  u32 e = vm_emit(b, &l->code, VM_exp, DTYPE_f32, sum, 0, 0);
  prog_loop_out(b, l, r, 0, (i64[]){8, 1}, e);
  program_cost c = finish(b);
  CHECK(c.flops == 32 && c.transcendentals == 32 && c.bytes == 4 * (32 + 8 + 32));
}

/* the sums of the rows of 4x8: the first element of each costs nothing */
static void test_reduction(arena *a) {
  prog_builder *b = prog_begin(a, 1, 1);
  u32 x = prog_param(b, DTYPE_f32, 32), r = prog_result(b, DTYPE_f32, 4, -1);
  float zero = 0;
  u32 init = prog_const(b, DTYPE_f32, 1, &zero);
  prog_loop *l = prog_add_loop(b, 2, (i64[]){4, 8}, STR("reduce"), STR("f:1:1"));
  u32 v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, x, 0, (i64[]){8, 1}));
  prog_loop_out(b, l, r, 0, (i64[]){1, 0}, v);
  prog_loop_reduce(b, l, 1, &init, (prog_body){.kind = REDUCE_SUM});
  program_cost c = finish(b);
  CHECK(c.flops == 28 && c.transcendentals == 0 && c.bytes == 4 * (32 + 4));
}

/* 4x8 by 8x6, and a row of the product */
static void test_product_and_a_slice(arena *a) {
  prog_builder *b = prog_begin(a, 1, 1);
  u32 x = prog_param(b, DTYPE_f32, 32), y = prog_param(b, DTYPE_f32, 48);
  u32 at = prog_param(b, DTYPE_s32, 1), m = prog_work(b, DTYPE_f32, 24);
  u32 r = prog_result(b, DTYPE_f32, 6, -1);
  prog_dot d = {.lhs = x, .rhs = y, .out = m, .nm = 1, .nn = 1, .nk = 1};
  d.dims = (i64[]){4, 6, 8};
  d.lhs_stride = (i64[]){8, 0, 1};
  d.rhs_stride = (i64[]){0, 1, 6};
  d.out_stride = (i64[]){6, 1, 0};
  prog_add_dot(b, &d, STR("dot"), STR("f:1:1"));
  prog_dynamic s = {.big = m, .small = r, .rank = 1, .start = {at}};
  s.big_dims[0] = 24;
  s.small_dims[0] = 6;
  prog_add_dynamic(b, &s, STR("slice"), STR("f:2:1"));
  program_cost c = finish(b);
  CHECK(c.flops == 2 * 4 * 6 * 8 && c.bytes == 4 * (32 + 48 + 24) + 2 * 4 * 6);
}

int main(void) {
  arena a;
  arena_init(&a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  test_loop(&a);
  test_reduction(&a);
  test_product_and_a_slice(&a);
  arena_deinit(&a);
  return UNIT_END();
}
