/* mpmd-remat-fragment: backward fragments use a forward fragment that runs once more right in front
 * of them, so that what it gives need not be kept meanwhile. Source: openxla/shardy,
 * shardy/dialect/mpmd/transforms/optimize/remat_fragment.cc. */
#include "mpmd/merge.h"
#include "mpmd/optimize/passes.h"

static bool can_remat(const op *forward, const op *backward) {
  return fragment_is_forward(forward) && fragment_is_backward(backward) &&
         mpmd_call_counter(forward) >= 0 &&
         mpmd_call_counter(forward) == mpmd_call_counter(backward) &&
         !fragment_directly_after(forward, backward) &&
         fragment_stage(forward) == fragment_stage(backward);
}

/* In their order; each once. */
static void add_user(arena *a, op_list *users, op *o) {
  size_t at = users->len;
  while (at && op_before(o, users->data[at - 1])) at--;
  if (at && users->data[at - 1] == o) return;
  VEC_PUSH(a, *users, o);
  memmove(users->data + at + 1, users->data + at, (users->len - 1 - at) * sizeof o);
  users->data[at] = o;
}

static bool remat(ir_module *m, op *forward, op *backward, bool merge) {
  op *again = op_clone(m, forward, NULL);
  op_insert(again, backward->parent, backward);
  for (u32 i = 0; i < backward->num_operands; i++) {
    const value *v = op_operand(backward, i);
    if (value_op(v) == forward) op_set_operand(backward, i, op_result(again, v->index));
  }
  if (merge) {
    const attr *counter = op_discardable(backward, MPMD_CALL_COUNTER);
    again = fragments_merge(m, NULL, again, backward);
    if (!again) return false;
    op_set_attr(m, again, MPMD_CALL_COUNTER, counter);
  }
  op_set_attr(m, again, MPMD_REMAT, attr_unit(m->ctx));
  return true;
}

static bool remat_for_users(ir_module *m, arena *a, op *forward, bool merge) {
  op_list users = {0};
  for (u32 i = 0; i < forward->num_results; i++)
    for (const use *u = forward->results[i].uses; u; u = u->next)
      if (u->owner->parent == forward->parent && mpmd_is_fragment(u->owner) &&
          can_remat(forward, u->owner))
        add_user(a, &users, u->owner);
  for (size_t i = 0; i < users.len; i++)
    if (!remat(m, forward, users.data[i], merge)) return false;
  return true;
}

bool pass_mpmd_remat_fragment(ir_module *m, arena *scratch, const pass_args *args) {
  bool merge = pass_option_flag(args, STR("merge-remat-fragments"), false);
  op_list functions = {0}, forward = {0};
  mpmd_distributed(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) {
    const block *b = op_body(functions.data[i], 0);
    for (op *o = b ? b->first : NULL; o; o = o->next)
      if (op_is(o, mpmd_fragment) && fragment_is_forward(o)) VEC_PUSH(scratch, forward, o);
  }
  for (size_t i = 0; i < forward.len; i++)
    if (!remat_for_users(m, scratch, forward.data[i], merge)) return false;
  return true;
}
