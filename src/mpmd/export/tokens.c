/* Tokens stay inside of fragments: those that use one make one, and give none away. What they
 * ordered between fragments is ordered no longer. Source: openxla/shardy,
 * sink_create_token_into_fragments.cc. */
#include "mpmd/export/passes.h"
#include "mpmd/export/util.h"

static bool is_token(const value *v) { return v->type->kind == TYPE_TOKEN; }

/* Of sharding_per_value those that `drop` does not say. */
static const attr *kept_shardings(ir_module *m, const attr *list, const bool *drop, size_t n) {
  const sharding_per_value_attr *s = attr_as(sharding_per_value, list);
  if (!s) return list;
  const array_attr *kept = attr_as(array, mpmd_kept(m, attr_array(m->ctx, s->shardings), drop, n));
  return attr_make(m->ctx, sharding_per_value, .shardings = kept->elems);
}

static void keep_operands(ir_module *m, arena *a, op *o, const bool *drop) {
  value_list kept = {0};
  for (u32 i = 0; i < o->num_operands; i++)
    if (!drop[i]) VEC_PUSH(a, kept, op_operand(o, i));
  op_set_operands(m, o, kept.data, kept.len);
}

static void sink_inputs(ir_module *m, arena *a, op *o) {
  block *b = op_body(o, 0);
  op *first = b->first;
  u32 n = o->num_operands;
  bool *drop = ARENA_ARRAY(a, bool, n), any = false;
  for (u32 i = 0; i < n; i++) {
    drop[i] = is_token(op_operand(o, i));
    any |= drop[i];
    if (!drop[i]) continue;
    const type *t = type_token(m->ctx);
    op *token = mpmd_emit(m, first, OP_create_token, o->loc, NULL, 0, &t, 1);
    value_replace(b->args[i], op_result(token, 0));
  }
  if (!any) return;
  const attr *in = op_get(o, mpmd_fragment, in_shardings);
  op_set(o, mpmd_fragment, in_shardings, kept_shardings(m, in, drop, n));
  const attr *said = op_discardable(o, MPMD_ARG_ATTRS);
  if (said) op_set_attr(m, o, MPMD_ARG_ATTRS, mpmd_kept(m, said, drop, n));
  keep_operands(m, a, o, drop);
  for (u32 i = n; i-- > 0;)
    if (drop[i]) block_erase_arg(b, i);
}

static void move_body(op *from, op *to) {
  block *b = op_body(from, 0);
  block_unlink(b);
  region_append(&to->regions[0], b);
}

/* The same fragment without some results. */
static void drop_results(ir_module *m, arena *a, op *o, const bool *drop) {
  u32 n = o->num_results;
  type_list types = {0};
  value_list operands = {0};
  for (u32 i = 0; i < n; i++)
    if (!drop[i]) VEC_PUSH(a, types, o->results[i].type);
  for (u32 i = 0; i < o->num_operands; i++) VEC_PUSH(a, operands, op_operand(o, i));
  keep_operands(m, a, op_terminator(op_body(o, 0)), drop);
  op *kept =
      mpmd_emit(m, o, OP_mpmd_fragment, o->loc, operands.data, operands.len, types.data, types.len);
  mpmd_copy_attrs(m, o, kept);
  const attr *out = op_get(o, mpmd_fragment, out_shardings);
  op_set(kept, mpmd_fragment, out_shardings, kept_shardings(m, out, drop, n));
  const attr *said = op_discardable(o, MPMD_RES_ATTRS);
  if (said) op_set_attr(m, kept, MPMD_RES_ATTRS, mpmd_kept(m, said, drop, n));
  move_body(o, kept);
  for (u32 i = 0, k = 0; i < n; i++)
    if (!drop[i]) value_replace(op_result(o, i), op_result(kept, k++));
  op_erase(o);
}

static bool drop_outputs(ir_module *m, arena *a, op *o) {
  bool *drop = ARENA_ARRAY(a, bool, o->num_results), any = false;
  for (u32 i = 0; i < o->num_results; i++) {
    drop[i] = is_token(op_result(o, i));
    any |= drop[i];
    if (drop[i] && o->results[i].uses)
      return op_error(m->ctx, o, "has a token, result %u, that something but a fragment uses", i);
  }
  if (any) drop_results(m, a, o, drop);
  return true;
}

static bool sink_in(ir_module *m, arena *a, op *func) {
  block *b = op_body(func, 0);
  FOR_OPS(o, b)
  if (op_is(o, mpmd_fragment)) sink_inputs(m, a, o);
  FOR_OPS(o, b)
  if (op_is(o, mpmd_fragment) && !drop_outputs(m, a, o)) return false;
  return true;
}

bool pass_mpmd_sink_tokens(ir_module *m, arena *scratch, const pass_args *args) {
  op_list functions = {0};
  (void)args;
  mpmd_with_bodies(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++)
    if (!sink_in(m, scratch, functions.data[i])) return false;
  return true;
}
