/* Ops that become calls of a function by name. */
#include "compile/steps.h"
#include "dialect/dialect.h"

static prog_operand operand_of(const node *n) {
  return (prog_operand){n->slot, {n->dims, n->rank}};
}

bool call_add(lower *L, op *o, str target, i64s params, str config, bool host) {
  prog_call c = {.target = target,
                 .config = config,
                 .host = host,
                 .num_in = o->num_operands,
                 .num_out = o->num_results,
                 .in = ARENA_ARRAY(L->a, prog_operand, o->num_operands + 1),
                 .out = ARENA_ARRAY(L->a, prog_operand, o->num_results + 1),
                 .params = params};
  for (u32 i = 0; i < o->num_operands; i++) {
    node *in = lower_node(L, o, i);
    fuse_dense(L, in);
    c.in[i] = operand_of(in);
  }
  for (u32 i = 0; i < o->num_results; i++) {
    node *out = lower_new_mem(L, o, i);
    if (!out) return false;
    c.out[i] = operand_of(out);
  }
  prog_add_call(L->b, &c, lower_name(L), lower_loc(L));
  for (u32 i = 0; i < o->num_operands; i++) lower_used(lower_node(L, o, i));
  return true;
}

bool lower_custom_call(lower *L, op *o) {
  struct custom_call_attrs a;
  if (!view_custom_call(o, &a)) return false;
  op_unimplemented(L->ctx, o, "calls '" STR_FMT "', and there is no function of that name",
                   STR_ARG(a.call_target_name));
  return false;
}
