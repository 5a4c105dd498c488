/* mpmd-infer-mesh-finalize: what is assigned to a mesh and taken from another becomes a transfer;
 * mpmd.broadcast and mpmd.reduce become transfers and fragments. Source: openxla/shardy,
 * infer_mesh_assignment.cc. */
#include "mpmd/chain.h"
#include "mpmd/infer/infer.h"
#include "text/text.h"

/* ---- arguments of programs ---- */

typedef struct arg_users {
  bool others; /* besides mpmd.assign */
  bool unsaid; /* one says no memory kind */
  const attr *kind;
  bool kinds; /* several say different ones */
  str mesh;   /* the first by name */
} arg_users;

static arg_users look_at_users(const value *v) {
  arg_users a = {0};
  for (const use *u = v->uses; u; u = u->next) {
    if (!op_is(u->owner, mpmd_assign)) {
      a.others = true;
      continue;
    }
    const type *t = u->owner->results[0].type;
    if (!a.mesh.data || str_cmp(t->text, a.mesh) < 0) a.mesh = t->text;
    if (!t->space) {
      a.unsaid = true;
    } else {
      a.kinds |= a.kind && a.kind != t->space;
      a.kind = t->space;
    }
  }
  return a;
}

/* Arguments that are not only assigned stay, for the last check to name. */
static bool place_arg(infer *n, const op *f, op *before, value *v) {
  arg_users a = look_at_users(v);
  if (a.others || !a.mesh.data) return true;
  if (a.unsaid && a.kind)
    return loc_error(n->ctx, f->loc,
                     "Argument %u has different memory kinds assigned to it. Found at least one "
                     "user with undefined memory kind and at least one user with a memory kind.",
                     v->index);
  if (a.kinds)
    return loc_error(n->ctx, f->loc, "Argument %u has different memory kinds assigned to it.",
                     v->index);
  v->type = type_mesh_tensor(n->ctx, a.mesh, v->type, NULL, a.kind);
  value *whole = mpmd_emit_unassign(n->m, before, value_loc(n, v), v, STR(""));
  value_replace_except(v, whole, value_op(whole));
  return true;
}

static bool place_args(infer *n, op *f) {
  const block *b = op_body(f, 0);
  op *before = b->first;
  for (u32 i = 0; i < b->num_args; i++)
    if (type_is_ranked(b->args[i]->type) && !place_arg(n, f, before, b->args[i])) return false;
  return true;
}

/* ---- transfers ---- */

/* What mpmd.assign takes is from mpmd.unassign; NULL: from elsewhere. */
static op *unassign_of(const op *o) {
  op *by = value_op(op_operand(o, 0));
  return by && op_is(by, mpmd_unassign) ? by : NULL;
}

static str mesh_of(const value *v) { return v->type->text; }

static bool stays(const op *assign, const op *unassign) {
  return str_eq(mesh_of(&assign->results[0]), mesh_of(op_operand(unassign, 0)));
}

static bool assign_stays(rewriter *r, op *o) {
  op *u = unassign_of(o);
  if (!u || !stays(o, u)) return false;
  value *v = op_operand(u, 0);
  rewrite_replace(r, o, &v);
  return true;
}

/* There is such a transfer already, where o can see it or could if it came earlier. */
static bool assign_as_transfer(rewriter *r, op *o) {
  const op *u = unassign_of(o);
  if (!u || stays(o, u)) return false;
  for (const use *x = op_operand(u, 0)->uses; x; x = x->next) {
    op *t = x->owner, *at = op_is(t, mpmd_transfer) ? mpmd_ancestor_in(t->parent, o) : NULL;
    if (!at || t->results[0].type != o->results[0].type) continue;
    if (rewrite_is_before(r, at, t)) {
      op_unlink(t);
      op_insert(t, at->parent, at);
    }
    value *v = op_result(t, 0);
    rewrite_replace(r, o, &v);
    return true;
  }
  return false;
}

/* All that assign the value in the op's block, but to its own mesh. */
static void list_assigns(rewriter *r, const value *v, const block *b, str besides, op_list *out) {
  for (const use *x = v->uses; x; x = x->next) {
    op *o = x->owner;
    if (op_is(o, mpmd_assign) && o->parent == b && !str_eq(mesh_of(&o->results[0]), besides))
      chain_add(rewriter_scratch(r), out, o);
  }
}

static bool chain_from(rewriter *r, op *o, op *u) {
  op_list assigns = {0};
  value *v = op_operand(u, 0);
  list_assigns(r, op_result(u, 0), o->parent, mesh_of(v), &assigns);
  chain_replace(r, &assigns, v);
  return true;
}

/* Arguments of programs may always be transferred. */
static bool assign_of_arg(rewriter *r, op *o) {
  op *u = unassign_of(o);
  if (!u || stays(o, u)) return false;
  const value *v = op_operand(u, 0);
  const op *f = v->is_arg ? block_op(v->def.block) : NULL;
  return f && op_is(f, func) && mpmd_is_entry_point(f) && chain_from(r, o, u);
}

static bool assign_of_any(rewriter *r, op *o) {
  op *u = unassign_of(o);
  return u && !stays(o, u) && chain_from(r, o, u);
}

static bool broadcast_as_transfers(rewriter *r, op *o) {
  const op *u = unassign_of(o);
  op_list assigns = {0};
  if (!u) return false;
  list_assigns(r, op_result(o, 0), o->parent, STR(""), &assigns);
  if (!assigns.len) return false;
  chain_replace(r, &assigns, op_operand(u, 0));
  return true;
}

/* ---- reductions ---- */

typedef struct mesh_values {
  str mesh;
  value_list values;
} mesh_values;
typedef VEC(mesh_values) mesh_values_list;

static mesh_values *at_mesh(arena *a, mesh_values_list *l, str mesh) {
  for (size_t i = 0; i < l->len; i++)
    if (str_eq(l->data[i].mesh, mesh)) return &l->data[i];
  VEC_PUSH(a, *l, (mesh_values){.mesh = mesh});
  return &l->data[l->len - 1];
}

static const attr *loc_of(ir_ctx *c, const value *v) {
  const attr *loc = v->is_arg ? block_arg_loc(v->def.block, v->index) : value_op(v)->loc;
  return loc ? loc : loc_unknown(c);
}

/* A fragment that reduces values of one mesh, one after the other. */
static value *reduce_on(rewriter *r, op *before, str mesh, op_id kind, const value_list *in) {
  ir_module *m = rewriter_module(r);
  const attr *none = attr_array(m->ctx, (attrs){0});
  op *f = fragment_create(m, before, loc_of(m->ctx, in->data[0]), none, mesh, NULL, in->data,
                          in->len, &in->data[0]->type, 1);
  block *b = op_body(f, 0);
  value *sum = b->args[0];
  for (u32 i = 1; i < b->num_args; i++) {
    value *pair[] = {sum, b->args[i]};
    op *o = op_create(m, &op_infos[kind], f->loc, pair, 2, &sum->type, 1, 0);
    op_insert(o, b, NULL);
    sum = op_result(o, 0);
  }
  fragment_return(m, f, &sum, 1);
  mpmd_set_inferred_by(m, f, "infer_mesh_convert_reduce_ops");
  rewrite_inserted(r, f);
  return op_result(f, 0);
}

/* Sorted as meshes are, so that one program has one result. */
static bool values_by_mesh(arena *a, const op *o, mesh_values_list *out) {
  for (u32 i = 0; i < o->num_operands; i++) {
    const op *u = value_op(op_operand(o, i));
    if (!u || !op_is(u, mpmd_unassign)) return false;
    value *v = op_operand(u, 0);
    VEC_PUSH(a, at_mesh(a, out, mesh_of(v))->values, v);
  }
  for (size_t i = 1; i < out->len; i++)
    for (size_t k = i; k && mpmd_mesh_before(out->data[k].mesh, out->data[k - 1].mesh); k--) {
      mesh_values t = out->data[k];
      out->data[k] = out->data[k - 1];
      out->data[k - 1] = t;
    }
  return out->len != 0;
}

/* The parts together, on a mesh that uses the result. */
static void reduce_for(rewriter *r, const op *o, op *before, op_id kind, const value_list *parts,
                       str mesh) {
  arena *a = rewriter_scratch(r);
  op_list users = {0};
  value_list in = {0};
  for (const use *x = o->results[0].uses; x; x = x->next)
    if (op_is(x->owner, mpmd_assign) && str_eq(mesh_of(&x->owner->results[0]), mesh))
      VEC_PUSH(a, users, x->owner);
  if (!users.len) return;
  const type *t = users.data[0]->results[0].type;
  for (size_t i = 0; i < parts->len; i++) {
    value *v = parts->data[i];
    if (v->type != t) {
      const attr *loc = loc_of(rewriter_module(r)->ctx, v);
      v = op_result(rewrite_create(r, before, OP_mpmd_transfer, loc, &v, 1, &t, 1), 0);
    }
    VEC_PUSH(a, in, v);
  }
  value *sum = reduce_on(r, before, mesh, kind, &in);
  for (size_t i = 0; i < users.len; i++) rewrite_replace_value(r, op_result(users.data[i], 0), sum);
}

/* Is what is assigned to these meshes used, and is that all that is done with v? */
static bool is_wanted(const value *v, const mesh_set *on) {
  bool used = false;
  for (const use *u = v->uses; u; u = u->next) {
    const value *out = &u->owner->results[0];
    if (!op_is(u->owner, mpmd_assign)) return false;
    used |= out->uses && set_has(on, mesh_of(out));
  }
  return used;
}

/* Each mesh reduces its own values; those that use the result then reduce what these made. */
static bool lower_reduce(rewriter *r, op *o) {
  arena *a = rewriter_scratch(r);
  const mpmd_reduction_attr *x = attr_as(mpmd_reduction, op_get(o, mpmd_reduce, reduction));
  op_id kind = mpmd_reduction_op(x ? x->value : 0);
  mesh_set on = set_of(a, op_discardable(o, MPMD_USE_SET));
  mesh_values_list by_mesh = {0};
  value_list parts = {0};
  op *before = o->next;
  if ((kind == OP_COUNT && o->num_operands != 1) || !is_wanted(op_result(o, 0), &on) ||
      !values_by_mesh(a, o, &by_mesh))
    return false;
  for (size_t i = 0; i < by_mesh.len; i++) {
    const mesh_values *m = &by_mesh.data[i];
    bool one = m->values.len == 1;
    VEC_PUSH(a, parts, one ? m->values.data[0] : reduce_on(r, before, m->mesh, kind, &m->values));
  }
  for (size_t i = 0; i < on.meshes.len; i++)
    reduce_for(r, o, before, kind, &parts, on.meshes.data[i].mesh);
  return true;
}

/* ---- the end ---- */

static const rewrite_pattern cleanups[] = {
    {OP_mpmd_assign, 1, assign_stays, "mpmd-assign-stays", "mpmd"},
    {OP_mpmd_assign, 1, assign_as_transfer, "mpmd-assign-as-transfer", "mpmd"},
    {OP_mpmd_assign, 1, assign_of_arg, "mpmd-assign-of-argument", "mpmd"},
    {OP_mpmd_broadcast, 1, broadcast_as_transfers, "mpmd-broadcast-as-transfers", "mpmd"},
    {OP_mpmd_reduce, 1, lower_reduce, "mpmd-lower-reduce", "mpmd"},
    {0},
};
static const rewrite_pattern transfers[] = {
    {OP_mpmd_assign, 1, assign_of_any, "mpmd-assign-of-unassign", "mpmd"},
    {0},
};

static walk_result check_op(void *user, op *o) {
  infer *n = user;
  if (op_is(o, mpmd_assign) || op_is(o, mpmd_unassign) || op_is(o, mpmd_broadcast))
    n->ok = loc_error(n->ctx, o->loc,
                      "assigns, unassigns or broadcasts are not allowed after mesh inference.");
  if (is_meshless(o))
    n->ok = loc_error(n->ctx, o->loc, "no more meshless ops are expected at this point.");
  drop_sets(n, o);
  return WALK_ON;
}

static void check_types(infer *n, const op *f, types t, const char *what) {
  for (size_t i = 0; i < t.len; i++)
    if (!type_is_mesh_tensor(t.data[i]))
      n->ok = loc_error(n->ctx, f->loc, "function %s %zu is not a MeshTensorType, but a %s", what,
                        i, text_show_type(n->a, t.data[i]));
}

static void check_func(infer *n, op *f) {
  const type *t = attr_as(type_ref, op_get(f, func, function_type))->type;
  check_types(n, f, type_inputs(t), "input");
  check_types(n, f, type_results(t), "output");
  op_walk_post(f, check_op, n);
}

bool pass_infer_finalize(ir_module *m, arena *scratch, const pass_args *args) {
  infer n;
  bool all = pass_option_flag(args, STR("infer-transfers"), false), converged;
  const rewrite_pattern *const sets[] = {cleanups, transfers};
  rewrite_config config = {.sets = sets,
                           .num_sets = all ? 2 : 1,
                           .only_patterns = true,
                           .bottom_up = true,
                           REWRITE_DEFAULTS};
  if (!infer_begin(&n, m, scratch)) return false;
  for (size_t i = 0; i < n.funcs.len; i++)
    if (mpmd_is_entry_point(n.funcs.data[i]) && !place_args(&n, n.funcs.data[i])) return false;
  rewrite_greedily(m, scratch, m->root, &config, &converged);
  if (!converged) return loc_error(m->ctx, m->root->loc, "assignments to meshes find no end");
  for (size_t i = 0; i < n.funcs.len; i++) {
    mpmd_update_type(m, n.funcs.data[i]);
    check_func(&n, n.funcs.data[i]);
  }
  return n.ok;
}
