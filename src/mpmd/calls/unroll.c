/* mpmd-unroll-for-loops and mpmd-from-unroll-to-call-counter: each iteration of a loop as ops of
 * its own, which say which one they are of. Source: openxla/shardy,
 * shardy/dialect/mpmd/transforms/common/unroll_for_loops.cc and call_rewrites.cc. */
#include "dialect/dialect.h"
#include "mpmd/calls/passes.h"
#include "mpmd/util.h"

static const attr *counter(ir_module *m, i64 n) {
  return attr_int(m->ctx, type_int(m->ctx, 32, UNSIGNED), n);
}

static value *emit_index(ir_module *m, op *loop, i64 index, i64 number) {
  const type *t = type_tensor(m->ctx, (i64s){0}, type_int(m->ctx, 32, UNSIGNED), NULL);
  u32 v = (u32)index;
  op *o = mpmd_emit(m, loop, OP_constant, loop->loc, NULL, 0, &t, 1);
  op_set(o, constant, value, attr_dense(m->ctx, t, (str){(char *)&v, sizeof v}, true, false));
  op_set_attr(m, o, MPMD_UNROLL_COUNTER, counter(m, number));
  return op_result(o, 0);
}

/* values: what goes into the iteration, then what comes out of it. */
static void emit_iteration(ir_module *m, arena *a, op *loop, i64 index, i64 number,
                           value **values) {
  const block *b = op_body(loop, 0);
  ir_map *map = ir_map_create(a);
  u32 n = b->num_args - 1;
  ir_map_set(map, b->args[n], emit_index(m, loop, index, number));
  for (u32 i = 0; i < n; i++) ir_map_set(map, b->args[i], values[i]);
  for (const op *o = b->first; o != b->last; o = o->next) {
    op *copy = op_clone(m, o, map);
    op_insert(copy, loop->parent, loop);
    op_set_attr(m, copy, MPMD_UNROLL_COUNTER, counter(m, number));
  }
  for (u32 i = 0; i < n; i++) values[i] = ir_map_get(map, op_operand(b->last, i));
}

typedef struct unroller {
  ir_module *m;
  arena *a;
  u64 limit, budget; /* ops that the module may become; that may still be made */
  i64 number;        /* of the next iteration, in all loops of a function: no two are equal */
} unroller;

static bool can_unroll(unroller *r, op *loop, i64 count) {
  ir_ctx *c = r->m->ctx;
  if (op_get(loop, mpmd_for, unroll_factor) != op_get(loop, mpmd_for, iterations))
    return op_error(c, loop,
                    "the unroll factor is required to be the same as the number of iterations");
  for (const op *o = op_parent(loop); o; o = op_parent(o))
    if (op_is(o, mpmd_for))
      return op_error(c, loop,
                      "Nested fori loops aren't supported. Please contact OWNERs if you need this "
                      "feature.");
  u64 ops = dialect_count_ops(loop);
  if ((u64)count > r->budget / ops)
    return op_unimplemented(c, loop, "expected at most %llu ops once loops are unrolled",
                            (unsigned long long)r->limit);
  r->budget -= (u64)count * ops;
  return true;
}

static bool unroll(unroller *r, op *loop) {
  i64 count = 0;
  attr_get_i64(op_get(loop, mpmd_for, iterations), &count);
  if (!can_unroll(r, loop, count)) return false;
  value **values = ARENA_ARRAY(r->a, value *, loop->num_operands);
  for (u32 i = 0; i < loop->num_operands; i++) values[i] = op_operand(loop, i);
  for (i64 i = 0; i < count; i++) emit_iteration(r->m, r->a, loop, i, r->number++, values);
  for (u32 i = 0; i < loop->num_results; i++) value_replace(op_result(loop, i), values[i]);
  op_erase(loop);
  return true;
}

bool pass_mpmd_unroll(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  u64 limit = dialect_inlined_limit(dialect_count_ops(m->root));
  unroller r = {m, scratch, limit, limit, 0};
  op_list functions = {0};
  mpmd_distributed(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) {
    op_list loops = {0};
    r.number = 0;
    ops_of_kind(scratch, functions.data[i], OP_mpmd_for, &loops);
    for (size_t k = 0; k < loops.len; k++)
      if (!unroll(&r, loops.data[k])) return false;
  }
  return true;
}

bool pass_mpmd_unroll_to_call(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0}, calls = {0};
  mpmd_distributed(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++)
    ops_of_kind(scratch, functions.data[i], OP_mpmd_call, &calls);
  for (size_t i = 0; i < calls.len; i++) {
    const attr *n = op_discardable(calls.data[i], MPMD_UNROLL_COUNTER);
    if (!attr_is(integer, n)) continue;
    op_set_attr(m, calls.data[i], MPMD_CALL_COUNTER, n);
    op_drop_attr(calls.data[i], MPMD_UNROLL_COUNTER);
  }
  return true;
}
