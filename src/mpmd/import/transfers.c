/* mpmd-introduce-transfers: what comes off one mesh and goes on another is transferred. */
#include "mpmd/chain.h"
#include "mpmd/import/passes.h"
#include "mpmd/util.h"

static op *defined_by(const value *v, op_id id) {
  op *by = value_op(v);
  return by && op_kind(by) == id ? by : NULL;
}

/* ---- off one mesh, on another ---- */

/* Of v to another mesh, or into another memory; NULL: none to this type. */
static op *transfer_of(const value *v, const type *to) {
  for (const use *u = v->uses; u; u = u->next)
    if (op_is(u->owner, mpmd_transfer) && u->owner->results[0].type == to &&
        !mpmd_is_intra_mesh(u->owner))
      return u->owner;
  return NULL;
}

/* Assigns of what comes off `off`, to other meshes, by their meshes. */
static void assigns_elsewhere(rewriter *r, const op *off, op_list *out) {
  str from = op_operand(off, 0)->type->text;
  for (const use *u = off->results[0].uses; u; u = u->next) {
    op *o = u->owner;
    if (!op_is(o, mpmd_assign) || str_eq(o->results[0].type->text, from)) continue;
    chain_add(rewriter_scratch(r), out, o);
  }
}

static bool assign_of_unassign(rewriter *r, op *o) {
  const op *off = defined_by(op_operand(o, 0), OP_mpmd_unassign);
  if (!off) return false;
  value *v = op_operand(off, 0);
  const type *to = o->results[0].type;
  if (v->type == to) {
    rewrite_replace(r, o, &v);
    return true;
  }
  op *there = transfer_of(v, to);
  if (there) {
    if (op_before(o, there)) {
      op_unlink(there);
      op_insert(there, o->parent, o);
    }
    v = op_result(there, 0);
    rewrite_replace(r, o, &v);
    return true;
  }
  op_list assigns = {0};
  assigns_elsewhere(r, off, &assigns);
  if (assigns.len >= 2) {
    chain_replace(r, &assigns, v);
    return true;
  }
  v = chain_transfer(r, o, o->loc, v, to);
  rewrite_replace(r, o, &v);
  return true;
}

/* ---- sums of what is on meshes ---- */

/* Each sum that goes into it is used nowhere else. */
static bool adds_unassigned(rewriter *r, op *add) {
  op_list todo = {0};
  VEC_PUSH(rewriter_scratch(r), todo, add);
  while (todo.len) {
    const op *o = todo.data[--todo.len];
    if (!value_has_one_use(op_result(o, 0))) return false;
    for (u32 i = 0; i < o->num_operands; i++) {
      op *more = defined_by(op_operand(o, i), OP_add);
      if (more)
        VEC_PUSH(rewriter_scratch(r), todo, more);
      else if (!defined_by(op_operand(o, i), OP_mpmd_unassign))
        return false;
    }
  }
  return true;
}

/* A copy of the op in a fragment on the mesh takes its place. */
static void wrap(rewriter *r, op *o, str mesh) {
  ir_module *m = rewriter_module(r);
  arena *a = rewriter_scratch(r);
  ir_map *map = ir_map_create(a);
  value_list in = {0}, assigned = {0};
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = op_operand(o, i);
    if (ir_map_get(map, v) != v) continue;
    const type *t = type_mesh_tensor(m->ctx, mesh, v->type, NULL, NULL);
    value *on = op_result(rewrite_create(r, o, OP_mpmd_assign, o->loc, &v, 1, &t, 1), 0);
    ir_map_set(map, v, on);
    VEC_PUSH(a, in, v);
    VEC_PUSH(a, assigned, on);
  }
  const type *t = type_mesh_tensor(m->ctx, mesh, o->results[0].type, NULL, NULL);
  op *f = fragment_create(m, o, o->loc, attr_array(m->ctx, (attrs){0}), mesh, NULL, assigned.data,
                          assigned.len, &t, 1);
  rewrite_inserted(r, f);
  block *b = op_body(f, 0);
  for (size_t i = 0; i < in.len; i++) ir_map_set(map, in.data[i], b->args[i]);
  op *copy = op_clone(m, o, map);
  op_insert(copy, b, NULL);
  rewrite_inserted(r, copy);
  fragment_return(m, f, (value *[]){op_result(copy, 0)}, 1);
  rewrite_inserted(r, b->last);
  mpmd_set_inferred_by(m, f, "introduce_transfers");
  value *out = op_result(f, 0);
  op *off = rewrite_create(r, o, OP_mpmd_unassign, o->loc, &out, 1, &o->results[0].type, 1);
  rewrite_replace_value(r, op_result(o, 0), op_result(off, 0));
}

/* The sum is computed where it is used; its operands are transferred there. */
static bool assign_of_sum(rewriter *r, op *o) {
  op *add = defined_by(op_operand(o, 0), OP_add);
  if (!add || !adds_unassigned(r, add)) return false;
  wrap(r, add, o->results[0].type->text);
  return true;
}

static const rewrite_pattern patterns[] = {
    {OP_mpmd_assign, 1, assign_of_unassign, "mpmd-assign-of-unassign", "mpmd"},
    {OP_mpmd_assign, 1, assign_of_sum, "mpmd-assign-of-sum", "mpmd"},
    {0},
};

/* ---- arguments of functions that mpmd.call calls ---- */

/* What takes v off a mesh: in the function that a call gets it from, too. */
static const op *unassign_of(const ir_module *m, const value *v) {
  const op *call = defined_by(v, OP_mpmd_call);
  if (!call) return defined_by(v, OP_mpmd_unassign);
  const op *f = mpmd_callee(m, call);
  const op *ret = f && op_body(f, 0) ? op_terminator(op_body(f, 0)) : NULL;
  if (!ret || v->index >= ret->num_operands) return NULL;
  return defined_by(op_operand(ret, v->index), OP_mpmd_unassign);
}

static bool is_assigned(const value *v) {
  for (const use *u = v->uses; u; u = u->next)
    if (op_is(u->owner, mpmd_assign)) return true;
  return false;
}

/* The type on the mesh that all callers take the argument off; NULL: they differ, or the function
 * puts it on none. */
static const type *type_off(const ir_module *m, const op_list *calls, u32 i, const value *arg) {
  const type *t = NULL;
  for (size_t k = 0; k < calls->len; k++) {
    if (i >= calls->data[k]->num_operands) return NULL;
    const op *off = unassign_of(m, op_operand(calls->data[k], i));
    if (!off || (t && !str_eq(op_operand(off, 0)->type->text, t->text))) return NULL;
    if (!t) t = op_operand(off, 0)->type;
  }
  return is_assigned(arg) ? t : NULL;
}

/* In the callee the argument goes on its mesh and off again, so that assigns there become
 * transfers. */
static void push_into(ir_module *m, arena *a, op *f) {
  op_list calls = {0};
  block *b = op_body(f, 0);
  mpmd_calls_of(a, m, f, &calls);
  for (u32 i = 0; b && i < b->num_args; i++) {
    value *arg = b->args[i];
    const type *t = type_off(m, &calls, i, arg);
    const attr *loc = block_arg_loc(b, i);
    if (!t || mpmd_whole(t) != arg->type) continue;
    op *first = b->first;
    op *on = mpmd_emit(m, first, OP_mpmd_assign, loc ? loc : f->loc, &arg, 1, &t, 1);
    value *off = mpmd_emit_unassign(m, first, on->loc, op_result(on, 0), (str){0});
    value_replace_except(arg, off, on);
  }
}

bool pass_mpmd_introduce_transfers(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0};
  mpmd_functions(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++)
    if (!mpmd_is_entry_point(functions.data[i])) push_into(m, scratch, functions.data[i]);
  const rewrite_pattern *sets[] = {patterns};
  rewrite_config config = {.sets = sets,
                           .num_sets = 1,
                           .only_patterns = true,
                           .keep_regions = true,
                           .bottom_up = true,
                           REWRITE_DEFAULTS};
  rewrite_greedily(m, scratch, m->root, &config, NULL);
  return true;
}
