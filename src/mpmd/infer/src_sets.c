/* mpmd-infer-mesh-populate-src-set: where values could be without another transfer, from
 * mpmd.unassign and arguments on to what is made of them. Source: openxla/shardy,
 * infer_mesh_assignment.cc. */
#include "mpmd/infer/infer.h"

static void fill_block(infer *n, block *b);

/* ---- where sets begin ---- */

/* Meshes of a use set, but put there by inference, not by who named the uses. */
static void add_inferred(const infer *n, mesh_set *src, const mesh_set *use) {
  for (size_t i = 0; i < use->meshes.len; i++)
    set_insert_named(n->ctx, n->a, src, use->meshes.data[i].mesh, ORIGIN_INFERRED_IN);
}

/* The mesh that it comes from, first as it is the best, and those that its operand is transferred
 * to. Arguments of programs may be transferred wherever they are used. */
static void begin_unassign(infer *n, op *o) {
  const value *v = op_operand(o, 0);
  mesh_set s = set_of_unassign(n, o);
  for (const use *u = v->uses; u; u = u->next)
    if (op_is(u->owner, mpmd_transfer))
      set_insert_named(n->ctx, n->a, &s, u->owner->results[0].type->text, ORIGIN_TRANSFER);
  if (v->is_arg && mpmd_is_entry_point(mpmd_func(o))) {
    mesh_set use = {.known = true};
    unite_uses(n, op_result(o, 0), &use);
    add_inferred(n, &s, &use);
  }
  put_src(n, o, &s);
}

/* Arguments of programs can be on all meshes that they are used on. */
static void begin_args(infer *n, op *func) {
  mesh_set *sets = arena_zalloc(n->a, num_args(func) * sizeof *sets);
  for (size_t i = 0; i < num_args(func); i++) {
    mesh_set use = use_of_arg(n, func, i);
    add_inferred(n, &sets[i], &use);
  }
  put_arg_sets(n, func, MPMD_SRC_SET, sets);
}

/* ---- reductions across meshes ---- */

static bool same_types(const op *o) {
  for (u32 i = 1; i < o->num_operands; i++)
    if (op_operand(o, i)->type != op_operand(o, 0)->type) return false;
  return true;
}

op *infer_reduce_of_concat(const op *o) {
  if (!op_is(o, concatenate) || !o->num_operands || !same_types(o)) return NULL;
  if (!value_has_one_use(&o->results[0])) return NULL;
  op *r = o->results[0].uses->owner;
  struct concatenate_attrs c;
  struct reduce_attrs d;
  if (!op_is(r, reduce) || r->num_operands != 2 || !view_concatenate(o, &c) ||
      !view_reduce(r, &d) || d.dimensions.len != 1 || d.dimensions.data[0] != c.dimension)
    return NULL;
  const type *t = op_operand(o, 0)->type;
  bool one = type_is_ranked(t) && c.dimension >= 0 && (size_t)c.dimension < t->dims.len &&
             t->dims.data[c.dimension] == 1;
  return one ? r : NULL;
}

/* An op that reduces operands of which no mesh has all, or what was already so reduced, can be done
 * in part on each of the meshes. A concatenation and the reduction of its dimension are one. */
static void note_reduction(infer *n, op *o) {
  op *pair = infer_reduce_of_concat(o);
  i64 kind = pair ? mpmd_reduction_of_body(op_body(pair, 0)) : mpmd_reduction_of(o);
  const attr *reduction = attr_enum(n->ctx, ATTR_mpmd_reduction, kind);
  mesh_set all = {0}, own = src_of(n, o);
  bool chained = false;
  if (!kind) return;
  for (u32 i = 0; i < o->num_operands; i++) {
    const value *v = op_operand(o, i);
    mesh_set s = src_of_value(n, v);
    const op *by = value_op(v);
    if (set_is_empty(&s)) return;
    set_unite(n->a, &all, &s);
    chained |= by && op_discardable(by, MPMD_REDUCE) == reduction;
  }
  if (!set_is_empty(&own) && !chained) return;
  op_set_attr(n->m, o, MPMD_REDUCE, reduction);
  if (pair) op_set_attr(n->m, pair, MPMD_REDUCE, reduction);
  put_src(n, o, &all);
}

/* ---- on to users ---- */

/* An op is where all its operands are. */
static void meet_operands(infer *n, op *o) {
  mesh_set s = src_of(n, o);
  for (u32 i = 0; i < o->num_operands; i++) {
    mesh_set of = src_of_value(n, op_operand(o, i));
    set_meet(n->a, &s, &of);
  }
  if (!s.known) return;
  put_src(n, o, &s);
  note_reduction(n, o);
}

static mesh_set *read_operands(const infer *n, const op *o, const op *func) {
  mesh_set *sets = arena_zalloc(n->a, num_args(func) * sizeof *sets);
  for (u32 i = 0; i < o->num_operands && i < num_args(func); i++)
    sets[i] = src_of_value(n, op_operand(o, i));
  return sets;
}

/* Arguments are where the operands of all calls are. A body that was gone over with the same
 * arguments has nothing new. */
static void fill_call(infer *n, op *call) {
  op *f = infer_callee(n, call);
  mesh_set *sets = read_operands(n, call, f);
  const attr *before = op_get(f, func, arg_attrs);
  for (size_t i = 0; i < num_args(f); i++) {
    mesh_set had = src_of_arg(n, f, i);
    set_meet(n->a, &sets[i], &had);
  }
  put_arg_sets(n, f, MPMD_SRC_SET, sets);
  bool first = infer_enter(n, f);
  if (first || op_get(f, func, arg_attrs) != before) fill_block(n, op_body(f, 0));
}

static void fill_op(infer *n, op *o) {
  if (op_is(o, mpmd_unassign)) {
    begin_unassign(n, o);
  } else if (op_is(o, mpmd_call)) {
    fill_call(n, o);
  } else if (op_is(o, mpmd_for)) {
    put_arg_sets(n, o, MPMD_SRC_SET, read_operands(n, o, o));
    fill_block(n, op_body(o, 0));
  } else if (is_meshless(o) || op_is(o, mpmd_assign)) {
    meet_operands(n, o);
  }
}

/* What is inside meshless ops is where they are. */
static void fill_block(infer *n, block *b) {
  arena *outer = n->a;
  for (op *o = b->first; o; o = o->next) {
    n->a = ir_scratch_push(n->ctx);
    fill_op(n, o);
    ir_scratch_pop(n->ctx);
  }
  n->a = outer;
}

bool pass_infer_src_sets(ir_module *m, arena *scratch, const pass_args *args) {
  infer n;
  (void)args;
  if (!infer_begin(&n, m, scratch)) return false;
  for (size_t i = 0; i < n.funcs.len; i++) {
    op *f = n.funcs.data[i];
    if (!mpmd_is_entry_point(f)) continue;
    begin_args(&n, f);
    fill_block(&n, op_body(f, 0));
  }
  return true;
}
