/* mpmd-infer-mesh-assign-mesh-func-leaves: what nothing decides about gets a mesh: results of a
 * program, what is unused, and what goes into mpmd.broadcast and mpmd.reduce. All else flows into
 * one of these or into mpmd.assign. Source: openxla/shardy, infer_mesh_assignment.cc. */
#include "mpmd/infer/infer.h"

#include "dialect/effects.h"

typedef struct leaves {
  infer n;
  op *func;
  str first; /* the mesh for what could be on any */
  bool transfers;
  i64 errors, limit;
} leaves;

/* Counts an error; false: no more of them are wanted. */
static bool may_go_on(leaves *l) {
  l->n.ok = false;
  return ++l->errors != l->limit;
}

/* ---- choosing ---- */

/* A mesh that the value can be on; false: there is none. */
static bool choose(leaves *l, const value *v, const mesh_set *preferred, str *out) {
  mesh_set src = src_of_value(&l->n, v);
  if (set_is_empty(&src)) return false;
  *out = l->first;
  set_pick(src.known ? &src : preferred, src.known ? preferred : NULL, out);
  return true;
}

/* Of a source set; false: it is empty, and the first will do. */
static bool choose_of(const leaves *l, const mesh_set *src, str *out) {
  *out = l->first;
  return set_pick(src, NULL, out) || !src->known;
}

/* ---- a program's arguments and results ---- */

static void place_unused_args(leaves *l) {
  const block *b = op_body(l->func, 0);
  for (u32 i = 0; i < b->num_args; i++)
    if (type_is_ranked(b->args[i]->type) && !b->args[i]->uses)
      b->args[i]->type = type_mesh_tensor(l->n.ctx, l->first, b->args[i]->type, NULL, NULL);
}

const attr *result_loc(const infer *n, const op *func, size_t i, const value *v) {
  str name;
  const attr *info = mpmd_value_attr(func, MPMD_RES_ATTRS, i, MPMD_RESULT_INFO);
  if (!info || !attr_get_str(info, &name)) return value_loc(n, v);
  return attr_make(n->ctx, loc_name, .name = name, .child = loc_unknown(n->ctx));
}

/* False: no more errors are wanted. */
static bool place_results(leaves *l) {
  op *ret = op_terminator(op_body(l->func, 0));
  for (u32 i = 0; i < ret->num_operands; i++) {
    value *v = op_operand(ret, i);
    if (!type_is_ranked(v->type)) continue;
    str mesh;
    mesh_set use = use_of(&l->n, value_op(v));
    if (!choose(l, v, &use, &mesh)) {
      mesh = l->first;
      if (!l->transfers) {
        loc_error(l->n.ctx, ret->loc, "Func output %u has no mesh to be assigned to.", i);
        if (!may_go_on(l)) return false;
      }
    }
    const attr *loc = result_loc(&l->n, l->func, i, v);
    op_set_operand(ret, i, mpmd_emit_assign(l->n.m, ret, loc, v, mesh, ORIGIN_INFERRED_OUT));
  }
  return true;
}

/* ---- those of other functions ---- */

static void place_unused_callee_args(leaves *l) {
  const block *b = op_body(l->func, 0);
  mesh_set *sets = arena_zalloc(l->n.a, b->num_args * sizeof *sets);
  str mesh, name = symbol_name(l->func);
  for (u32 i = 0; i < b->num_args; i++) {
    if (b->args[i]->uses || !type_is_ranked(b->args[i]->type)) continue;
    mesh_set src = src_of_arg(&l->n, l->func, i);
    if (!choose_of(l, &src, &mesh) && !l->transfers) {
      loc_error(l->n.ctx, value_loc(&l->n, b->args[i]),
                "Callee @" STR_FMT " unused input %u has no mesh to be assigned to.", STR_ARG(name),
                i);
      may_go_on(l);
      return;
    }
    set_insert_named(l->n.ctx, l->n.a, &sets[i], mesh, ORIGIN_UNUSED_CALLEE_IN);
  }
  put_arg_sets(&l->n, l->func, MPMD_USE_SET, sets);
}

static bool is_result_used(const op_list *calls, u32 i) {
  for (size_t k = 0; k < calls->len; k++)
    if (i < calls->data[k]->num_results && calls->data[k]->results[i].uses) return true;
  return false;
}

static void place_unused_callee_results(leaves *l) {
  const op *ret = op_terminator(op_body(l->func, 0));
  mesh_set *sets = arena_zalloc(l->n.a, ret->num_operands * sizeof *sets);
  op_list calls = {0};
  str mesh, name = symbol_name(l->func);
  mpmd_calls_of(l->n.a, l->n.m, l->func, &calls);
  for (u32 i = 0; calls.len && i < ret->num_operands; i++) {
    const value *v = op_operand(ret, i);
    if (is_result_used(&calls, i) || type_is_mesh_tensor(v->type)) continue;
    mesh_set src = src_of_value(&l->n, v);
    if (!choose_of(l, &src, &mesh) && !l->transfers) {
      loc_error(l->n.ctx, ret->loc,
                "Callee @" STR_FMT " unused output %u has no mesh to be assigned to.",
                STR_ARG(name), i);
      may_go_on(l);
      return;
    }
    set_insert_named(l->n.ctx, l->n.a, &sets[i], mesh, ORIGIN_UNUSED_CALLEE_OUT);
  }
  put_result_sets(&l->n, l->func, sets);
}

/* ---- ops ---- */

/* An unused op is where it can be. False: nowhere. */
static bool place_unused_op(leaves *l, op *o) {
  mesh_set src = src_of(&l->n, o);
  str mesh;
  if (!choose_of(l, &src, &mesh) && !l->transfers) {
    l->n.ok = loc_error(l->n.ctx, o->loc,
                        "src_set must not be empty for this op. Try setting "
                        "`mpmd_infer_transfers` in the partitioning options.");
    return false;
  }
  op *before = o->next;
  for (u32 i = 0; i < o->num_results; i++)
    if (type_is_ranked(o->results[i].type))
      mpmd_emit_assign(l->n.m, before, o->loc, op_result(o, i), mesh, ORIGIN_UNUSED);
  op_drop_attr(o, MPMD_USE_SET);
  return true;
}

/* What is done for its effects is done on each mesh that it may be on. */
static bool place_resultless_op(leaves *l, op *o) {
  mesh_set src = src_of(&l->n, o);
  if (set_is_empty(&src)) {
    l->n.ok = loc_error(l->n.ctx, o->loc, "src_set must not be empty for resultless ops.");
    return false;
  }
  size_t count = src.known ? src.meshes.len : 1;
  str *names = ARENA_ARRAY(l->n.a, str, count);
  for (size_t i = 0; i < count; i++) names[i] = src.known ? src.meshes.data[i].mesh : l->first;
  sort_meshes(names, count);
  drop_sets(&l->n, o);
  for (size_t i = 0; i < count; i++) {
    if (!mpmd_mesh(l->func, names[i]))
      return l->n.ok = op_error(l->n.ctx, o, "is on the mesh '" STR_FMT "', which does not exist",
                                STR_ARG(names[i]));
    wrap_op(&l->n, o, names[i], "infer_mesh_wrap_resultless_ops", STR(""));
    if (op_is_effect_free(o)) break;
  }
  op_erase(o);
  return true;
}

/* Meshes on which the result is used save transfers. */
static void place_operands(leaves *l, op *o) {
  mesh_set use = use_of(&l->n, o);
  str origin = op_is(o, mpmd_broadcast) ? ORIGIN_BROADCAST : ORIGIN_REDUCE;
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = op_operand(o, i);
    const attr *loc = value_loc(&l->n, v);
    str mesh = l->first;
    if (!choose(l, v, &use, &mesh)) set_pick(&use, NULL, &mesh);
    value *on = mpmd_emit_assign(l->n.m, o, loc, v, mesh, origin);
    op_set_operand(o, i, mpmd_emit_unassign(l->n.m, o, loc, on, STR("")));
  }
  op_drop_attr(o, MPMD_USE_SET);
}

static bool has_tensor(const op *o) {
  for (u32 i = 0; i < o->num_results; i++)
    if (type_is_ranked(o->results[i].type)) return true;
  return false;
}
static bool is_unused(const op *o) {
  for (u32 i = 0; i < o->num_results; i++)
    if (o->results[i].uses) return false;
  return true;
}

static bool place_op(leaves *l, op *o) {
  if (is_terminal(o)) {
    place_operands(l, o);
    return true;
  }
  if (!is_meshless(o)) return true;
  if (!has_tensor(o)) return place_resultless_op(l, o);
  if (is_unused(o)) return place_unused_op(l, o);
  op_drop_attr(o, MPMD_USE_SET);
  return true;
}

static bool place_ops(leaves *l, block *b) {
  FOR_OPS(o, b) {
    if (op_is(o, mpmd_for) ? !place_ops(l, op_body(o, 0)) : !place_op(l, o)) return false;
  }
  return true;
}

/* ---- the pass ---- */

static bool place_func(leaves *l) {
  bool entry = mpmd_is_entry_point(l->func);
  l->first = infer_first_mesh(l->func);
  if (entry) place_unused_args(l);
  if (entry && !place_results(l)) return false;
  if (!place_ops(l, op_body(l->func, 0))) return false;
  drop_uses(&l->n, l->func);
  if (entry) {
    mpmd_update_type(l->n.m, l->func);
  } else {
    place_unused_callee_args(l);
    place_unused_callee_results(l);
  }
  return l->errors != l->limit;
}

bool infer_error_limit(const infer *n, const pass_args *args, i64 *limit) {
  *limit = pass_option_int(args, STR("error-limit"), 5);
  return *limit != 0 || loc_error(n->ctx, n->m->root->loc, "error-limit must not be 0");
}

bool pass_infer_leaves(ir_module *m, arena *scratch, const pass_args *args) {
  leaves l = {.transfers = pass_option_flag(args, STR("infer-transfers"), false)};
  if (!infer_begin(&l.n, m, scratch) || !infer_error_limit(&l.n, args, &l.limit)) return false;
  for (size_t i = 0; i < l.n.funcs.len; i++) {
    l.func = l.n.funcs.data[i];
    if (!place_func(&l) && l.errors == l.limit) break;
  }
  return l.n.ok;
}
