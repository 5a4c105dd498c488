/* What loops read, write and compute, while others that grow as well take over lists that became
 * too short; and what is the program's once scratch memory has gone. */
#include "program/parts.h"
#include "tests/unit.h"

static oom_trap trap;

enum { N = 8 };

/* out = ((in[0] + in[1]) + in[2]) + ... + 1 + 2 + ...: n inputs and n constants */
static void add_all(prog_builder *b, const u32 *in, u32 out, u32 n) {
  const i64 dims = N, one = 1;
  prog_loop *l = prog_add_loop(b, 1, &dims, STR("step"), STR("f:1:1"));
  u32 sum = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, in[0], 0, &one));
  for (u32 i = 1; i < n; i++) {
    u32 x = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, in[i], 0, &one));
    sum = vm_emit(b, &l->code, VM_add, DTYPE_f32, sum, x, 0);
  }
  for (u32 i = 1; i <= n; i++)
    sum = vm_emit(b, &l->code, VM_add, DTYPE_f32, sum, vm_const_f64(b, &l->code, DTYPE_f32, i), 0);
  prog_loop_out(b, l, out, 0, &one, sum);
}

static void check_loop(const prog_loop *l, const u32 *in, u32 out, u32 n) {
  CHECK(l->num_in == n && l->num_out == 1 && l->out[0].slot == out && l->out[0].stride[0] == 1);
  CHECK(l->code.num_consts == n && l->code.len == 4 * n);
  for (u32 i = 0; i < n; i++) {
    float f = (float)(i + 1);
    CHECK(l->in[i].slot == in[i] && l->in[i].stride[0] == 1);
    CHECK(memcmp(&l->code.consts[i].lo, &f, sizeof f) == 0);
  }
  CHECK(l->code.instrs[0].op == VM_load && l->code.instrs[4 * n - 1].op == VM_store);
  CHECK(l->code.instrs[4 * n - 1].a == 4 * n - 2 && l->code.instrs[4 * n - 2].op == VM_add);
}

/* The last copy turns a parameter round, which nothing makes vanish. */
static void test_program(arena *a) {
  enum { MOST = 20 };
  static const i64 dims = N, forward = 1, backward = -1;
  u32 in[MOST], out[MOST];
  arena scratch;
  arena_init(&scratch, &mem_system, &trap);
  prog_builder *b = prog_begin(a, 1, 1);
  prog_set_scratch(b, &scratch);
  for (u32 i = 0; i < MOST; i++) in[i] = prog_param(b, DTYPE_f32, N);
  for (u32 i = 0; i < MOST; i++) {
    out[i] = prog_result(b, DTYPE_f32, N, -1);
    add_all(b, in, out[i], i + 1);
  }
  u32 turned = prog_result(b, DTYPE_f32, N, -1);
  prog_add_copy(b, 1, &dims, in[1], N - 1, &backward, turned, 0, &forward, STR("step"), STR(""));
  const program *p;
  status s = prog_finish(b, &p);
  arena_deinit(&scratch);
  CHECK(!s);
  status_free(s);
  if (s) return;
  CHECK(p->num_steps == MOST + 1 && p->num_slots >= 2 * MOST + 1);
  for (u32 i = 0; i < MOST; i++) check_loop(p->steps[i].u.loop_, in, out[i], i + 1);
  const prog_copy *c = p->steps[MOST].u.copy_;
  CHECK(p->steps[MOST].kind == STEP_copy && c->src.slot == in[1] && c->src.offset == N - 1);
  CHECK(c->src.stride[0] == -1 && c->dst.slot == turned && c->dims[0] == N);
  CHECK(p->slots[turned].kind == SLOT_RESULT && p->slots[turned].count == N);
}

int main(void) {
  arena a;
  arena_init(&a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  test_program(&a);
  arena_deinit(&a);
  return UNIT_END();
}
