/* mpmd.for, once it is known on which mesh each of its values is. rewrite.h has it; source:
 * openxla/shardy, infer_mesh_assignment.cc. */
#include "mpmd/infer/rewrite.h"

static bool place_returned(infer *n, op *loop) {
  op *ret = op_terminator(op_body(loop, 0));
  for (u32 i = 0; i < ret->num_operands; i++) {
    value *v = op_operand(ret, i);
    if (!type_is_ranked(v->type)) continue;
    mesh_set use = use_of(n, value_op(v));
    if (use.meshes.len != 1)
      return op_error(n->ctx, loop, "has result %u on %zu meshes, and not on one", i,
                      use.meshes.len);
    op_set_operand(ret, i, assign_to(n, ret, value_loc(n, v), v, use.meshes.data[0].mesh));
  }
  return true;
}

static bool place_body(infer *n, block *b, i64 max_clones) {
  for (const op *o = b->first; o; o = o->next)
    if (op_is(o, mpmd_for)) return op_error(n->ctx, o, "is not implemented inside another");
  return absorb_block(n, b, max_clones);
}

static bool place_args(infer *n, op *loop) {
  block *b = op_body(loop, 0);
  op *before = b->first;
  for (u32 i = 0; i < b->num_args; i++) {
    value *v = b->args[i];
    if (!type_is_ranked(v->type)) continue;
    mesh_users_list on = users_by_mesh(n, v);
    if (on.len > 1)
      return op_error(n->ctx, loop, "has argument %u on %zu meshes, and not on one", i, on.len);
    if (!on.len) continue;
    v->type = type_mesh_tensor(n->ctx, on.data[0].mesh, v->type, NULL, NULL);
    use_unassigned(n, before, v, &on.data[0].users);
  }
  return true;
}

static bool place_operands(infer *n, op *loop) {
  const block *b = op_body(loop, 0);
  for (u32 i = 0; i < loop->num_operands; i++) {
    value *v = op_operand(loop, i);
    const type *t = b->args[i]->type;
    if (!type_is_ranked(v->type)) continue;
    if (!type_is_mesh_tensor(t))
      return op_error(n->ctx, loop, "has an argument %u that nothing assigns to a mesh", i);
    op_set_operand(loop, i, assign_to(n, loop, value_loc(n, v), v, t->text));
  }
  return true;
}

static void place_results(infer *n, op *loop) {
  const op *ret = op_terminator(op_body(loop, 0));
  op *before = loop->next;
  for (u32 i = 0; i < loop->num_results; i++) {
    value *v = op_result(loop, i);
    v->type = op_operand(ret, i)->type;
    for (use *u = v->uses, *next; u; u = next) {
      next = u->next;
      op *user = u->owner;
      if (op_is(user, mpmd_assign))
        op_set_operand(user, 0, mpmd_emit_unassign(n->m, before, user->loc, v, STR("")));
    }
  }
}

bool rewrite_loop(infer *n, op *loop, i64 max_clones) {
  if (!place_returned(n, loop) || !place_body(n, op_body(loop, 0), max_clones) ||
      !place_args(n, loop) || !place_operands(n, loop))
    return false;
  place_results(n, loop);
  drop_sets(n, loop);
  return true;
}
