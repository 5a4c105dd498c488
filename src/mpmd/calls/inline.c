/* mpmd-call-inline: calls become the bodies of their functions, whose fragments get the attributes
 * of the call. One level deep: calls in such a body stay. Source: openxla/shardy,
 * shardy/dialect/mpmd/transforms/common/call_rewrites.cc. */
#include "dialect/dialect.h"
#include "mpmd/calls/passes.h"
#include "mpmd/util.h"

typedef struct inliner {
  ir_module *m;
  const op *call;
  u64 limit, budget; /* ops that the module may become; that may still be copied */
} inliner;

/* The caller comes at the end of a chain of calls. */
static const attr *move_location(ir_ctx *c, const attr *loc, const attr *caller) {
  const loc_callsite_attr *at = attr_as(loc_callsite, loc);
  if (!at) return attr_make(c, loc_callsite, .callee = loc, .caller = caller);
  return attr_make(c, loc_callsite, .callee = at->callee,
                   .caller = move_location(c, at->caller, caller));
}

static walk_result mark_inlined(void *user, op *o) {
  const inliner *in = user;
  if (op_is(o, mpmd_fragment) || op_is(o, mpmd_fragment_call)) mpmd_copy_attrs(in->m, in->call, o);
  if (!attr_is(loc_unknown, in->call->loc))
    o->loc = move_location(in->m->ctx, o->loc, in->call->loc);
  return WALK_ON;
}

/* One block, as many values as the call has, and not the function that the call is in: a body
 * cannot stand in itself. */
static bool can_inline(const op *f, const op *call) {
  const block *b = f ? op_body(f, 0) : NULL;
  return b && !b->next && b->last && op_is(b->last, func_return) && !op_is_inside(call, f) &&
         b->num_args == call->num_operands && b->last->num_operands == call->num_results;
}

static bool inline_call(inliner *in, arena *a, op *call) {
  op *f = mpmd_callee(in->m, call);
  if (!can_inline(f, call))
    return op_error(in->m->ctx, call, "failed to inline '" STR_FMT "'",
                    STR_ARG(symbol_of(op_get(call, mpmd_call, callee))));
  u64 ops = dialect_count_ops(f);
  if (ops > in->budget)
    return op_unimplemented(in->m->ctx, call, "expected at most %llu ops once calls are inlined",
                            (unsigned long long)in->limit);
  in->budget -= ops;
  in->call = call;
  const block *body = op_body(f, 0);
  ir_map *map = ir_map_create(a);
  for (u32 i = 0; i < body->num_args; i++) ir_map_set(map, body->args[i], op_operand(call, i));
  for (op *o = body->first; o != body->last; o = o->next) {
    op *copy = op_clone(in->m, o, map);
    op_insert(copy, call->parent, call);
    op_walk(copy, mark_inlined, in);
  }
  for (u32 i = 0; i < call->num_results; i++)
    value_replace(op_result(call, i), ir_map_get(map, op_operand(body->last, i)));
  op_erase(call);
  return true;
}

bool pass_mpmd_call_inline(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  u64 limit = dialect_inlined_limit(dialect_count_ops(m->root));
  inliner in = {m, NULL, limit, limit};
  op_list calls = {0};
  ops_of_kind(scratch, m->root, OP_mpmd_call, &calls);
  for (size_t i = 0; i < calls.len; i++)
    if (!inline_call(&in, scratch, calls.data[i])) return false;
  return true;
}
