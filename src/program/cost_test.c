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

static void add_product(prog_builder *b, u32 x, u32 y, u32 r, i64 k) {
  prog_dot d = {.lhs = x, .rhs = y, .out = r, .nm = 1, .nn = 1, .nk = 1};
  d.dims = (i64[]){4, 6, k};
  d.lhs_stride = (i64[]){8, 0, 1};
  d.rhs_stride = (i64[]){0, 1, 6};
  d.out_stride = (i64[]){6, 1, 0};
  prog_add_dot(b, &d, STR("dot"), STR("f:1:1"));
}

/* Three branches, the middle one a choice in turn; around them a loop, of which all counts. */
static void test_branches(arena *a) {
  prog_builder *b = prog_begin(a, 1, 1);
  u32 x = prog_param(b, DTYPE_f32, 32), y = prog_param(b, DTYPE_f32, 48);
  u32 at = prog_param(b, DTYPE_s32, 1), more = prog_param(b, DTYPE_pred, 1);
  u32 r = prog_result(b, DTYPE_f32, 24, -1);
  u32 top = prog_label(b), end = prog_label(b), labels[3], done = prog_label(b);
  u32 other = prog_label(b), both = prog_label(b);
  for (u32 i = 0; i < 3; i++) labels[i] = prog_label(b);
  add_product(b, x, y, r, 8);
  prog_place(b, top);
  prog_add_jump_unless(b, more, end, STR("while"), STR("f:1:1"));
  prog_add_case(b, at, 3, labels, STR("case"), STR("f:1:1"));
  prog_place(b, labels[0]);
  add_product(b, x, y, r, 1);
  prog_add_jump(b, done, STR("case"), STR("f:1:1"));
  prog_place(b, labels[1]);
  prog_add_jump_unless(b, more, other, STR("if"), STR("f:1:1"));
  add_product(b, x, y, r, 2);
  prog_add_jump(b, both, STR("if"), STR("f:1:1"));
  prog_place(b, other);
  add_product(b, x, y, r, 4);
  prog_place(b, both);
  prog_add_jump(b, done, STR("case"), STR("f:1:1"));
  prog_place(b, labels[2]);
  add_product(b, x, y, r, 3);
  prog_place(b, done);
  prog_add_jump(b, top, STR("while"), STR("f:1:1"));
  prog_place(b, end);
  CHECK(finish(b).flops == 2 * 4 * 6 * (8 + 4));
}

int main(void) {
  arena a;
  arena_init(&a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  test_loop(&a);
  test_reduction(&a);
  test_product_and_a_slice(&a);
  test_branches(&a);
  arena_deinit(&a);
  return UNIT_END();
}
