/* What no fragment needs: operands, results, ops in bodies, whole fragments, transfers; and the
 * same value more than once. */
#include "dialect/effects.h"
#include "mpmd/common/passes.h"
#include "mpmd/simplify.h"

/* ---- dead code ---- */

/* A fragment without the results that nobody uses, all of them if need be: its body may have
 * effects. */
static op *drop_results(ir_module *m, arena *a, op *o) {
  op *ret = op_terminator(op_body(o, 0));
  value_list returned = {0};
  type_list types = {0};
  for (u32 i = 0; i < o->num_results; i++) {
    if (!o->results[i].uses) continue;
    VEC_PUSH(a, returned, op_operand(ret, i));
    VEC_PUSH(a, types, o->results[i].type);
  }
  if (types.len == o->num_results) return o;
  value_list in = {0};
  for (u32 i = 0; i < o->num_operands; i++) VEC_PUSH(a, in, op_operand(o, i));
  op *n = op_create(m, o->info, o->loc, in.data, in.len, types.data, types.len, 1);
  block *b = op_body(o, 0);
  mpmd_copy_attrs(m, o, n);
  op_set_operands(m, ret, returned.data, returned.len);
  op_insert(n, o->parent, o);
  block_unlink(b);
  region_append(&n->regions[0], b);
  for (u32 i = 0, to = 0; i < o->num_results; i++)
    if (o->results[i].uses) value_replace(op_result(o, i), op_result(n, to++));
  op_erase(o);
  return n;
}

static void drop_operands(ir_module *m, arena *a, op *o) {
  block *b = op_body(o, 0);
  value_list kept = {0};
  for (u32 i = 0; i < o->num_operands; i++)
    if (i >= b->num_args || b->args[i]->uses) VEC_PUSH(a, kept, op_operand(o, i));
  if (kept.len == o->num_operands) return;
  for (u32 i = b->num_args; i-- > 0;)
    if (!b->args[i]->uses) block_erase_arg(b, i);
  op_set_operands(m, o, kept.data, kept.len);
}

/* Users before what they use. */
static void drop_dead(ir_module *m, arena *a, block *b) {
  for (op *o = b->last, *prev; o; o = prev) {
    prev = o->prev;
    if (op_is(o, mpmd_for)) drop_dead(m, a, op_body(o, 0));
    if (op_is(o, mpmd_transfer) && op_is_dead(o)) op_erase(o);
    if (!mpmd_is_fragment(o)) continue;
    op *n = drop_results(m, a, o);
    region_erase_dead(NULL, &n->regions[0]);
    drop_operands(m, a, n);
    const block *body = op_body(n, 0);
    if (!n->num_results && !n->num_operands && body->first == body->last) op_erase(n);
  }
}

bool pass_mpmd_fragment_dce(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0};
  mpmd_distributed(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++)
    for (block *b = op_body(functions.data[i], 0); b; b = b->next) drop_dead(m, scratch, b);
  return true;
}

/* ---- what comes twice ---- */

static void merge_equal(arena *a, op *o) {
  const block *b = op_body(o, 0);
  u32 n = b->num_args < o->num_operands ? b->num_args : o->num_operands;
  values_merge_equal(NULL, a, o->operands, b->args, n, NULL);
  values_merge_equal(NULL, a, op_terminator(b)->operands, op_result_list(a, o), o->num_results,
                     NULL);
}

bool pass_mpmd_fragment_dedup(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0}, fragments = {0};
  mpmd_distributed(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++)
    ops_of_kind(scratch, functions.data[i], OP_mpmd_fragment, &fragments);
  for (size_t i = 0; i < fragments.len; i++) merge_equal(scratch, fragments.data[i]);
  return true;
}
