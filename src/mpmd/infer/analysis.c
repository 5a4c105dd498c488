/* Sets of ops, arguments and results; what passes of mesh inference ask. infer.h has it. */
#include "mpmd/infer/infer.h"

/* ---- programs ---- */

typedef struct call_check {
  infer *n;
  bool entry; /* is the function one where programs begin? */
} call_check;

static walk_result check_call(void *user, op *o) {
  const call_check *c = user;
  infer *n = c->n;
  if (!op_is(o, mpmd_call)) return op_is(o, mpmd_fragment) ? WALK_SKIP : WALK_ON;
  const op *f = infer_callee(n, o);
  const block *b = f ? op_body(f, 0) : NULL;
  bool fits = c->entry && b && mpmd_is_function(f) && !mpmd_is_entry_point(f);
  if (fits) return WALK_ON;
  n->ok = op_error(n->ctx, o, "must be one of a private function with a topology");
  return WALK_STOP;
}

bool infer_begin(infer *n, ir_module *m, arena *scratch) {
  *n = (infer){.m = m, .ctx = m->ctx, .a = scratch, .scratch = scratch, .ok = true};
  n->symbols = symbol_map_build(m->root, scratch);
  mpmd_functions(scratch, m, &n->funcs);
  for (size_t i = 0; i < n->funcs.len && n->ok; i++) {
    op *f = n->funcs.data[i];
    const block *b = op_body(f, 0);
    if (!b || b->next || !op_is(op_terminator(b), func_return) || !mpmd_topology(f)->meshes.len)
      n->ok = op_error(m->ctx, f, "must have a body of one block, and a mesh in its topology");
    else
      op_walk(f, check_call, &(call_check){n, mpmd_is_entry_point(f)});
  }
  return n->ok;
}

op *infer_callee(const infer *n, const op *call) {
  op *f = symbol_map_find(n->symbols, symbol_of(op_get(call, mpmd_call, callee)));
  return f && op_is(f, func) ? f : NULL;
}

bool infer_enter(infer *n, op *func) {
  for (size_t i = 0; i < n->entered.len; i++)
    if (n->entered.data[i] == func) return false;
  VEC_PUSH(n->scratch, n->entered, func);
  return true;
}

str infer_first_mesh(const op *func) {
  const topology_attr *t = mpmd_topology(func);
  str best = {0};
  for (size_t i = 0; i < t->meshes.len; i++) {
    str name = ((const named_mesh_attr *)t->meshes.data[i])->name;
    if (!best.data || str_cmp(name, best) < 0) best = name;
  }
  return best;
}

/* ---- ops ---- */

static bool is_of_mpmd(const op *o) { return str_starts(o->info->name, STR("mpmd.")); }

bool is_meshless(const op *o) {
  if (op_has(o, TERMINATOR) || is_of_mpmd(o) || op_is(o, module) || op_is(o, func)) return false;
  for (const op *p = op_parent(o); p; p = op_parent(p))
    if (op_is(p, mpmd_fragment)) return false;
  return true;
}

bool is_in_call_chain(const op *call) {
  str callee = symbol_of(op_get(call, mpmd_call, callee));
  for (u32 i = 0; i < call->num_results; i++)
    for (const use *u = call->results[i].uses; u; u = u->next)
      if (op_is(u->owner, mpmd_call) &&
          str_eq(symbol_of(op_get(u->owner, mpmd_call, callee)), callee))
        return true;
  return false;
}

const attr *value_loc(const infer *n, const value *v) {
  const attr *loc = v->is_arg ? block_arg_loc(v->def.block, v->index) : value_op(v)->loc;
  return loc ? loc : loc_unknown(n->ctx);
}

size_t num_returned(const op *func) { return op_terminator(op_body(func, 0))->num_operands; }

/* ---- reading ---- */

static mesh_set use_set_of(const infer *n, const attr *a) {
  mesh_set s = set_of(n->a, a);
  s.known = true;
  return s;
}

mesh_set use_of(const infer *n, const op *o) {
  return use_set_of(n, o ? op_discardable(o, MPMD_USE_SET) : NULL);
}
mesh_set use_of_arg(const infer *n, const op *func, size_t i) {
  return use_set_of(n, mpmd_value_attr(func, MPMD_ARG_ATTRS, i, MPMD_USE_SET));
}
mesh_set use_of_result(const infer *n, const op *func, size_t i) {
  return use_set_of(n, mpmd_value_attr(func, MPMD_RES_ATTRS, i, MPMD_USE_SET));
}
mesh_set src_of_arg(const infer *n, const op *func, size_t i) {
  return set_of(n->a, mpmd_value_attr(func, MPMD_ARG_ATTRS, i, MPMD_SRC_SET));
}

/* What a result of a call or a loop is inside; NULL: it is of another op. */
static const value *returned_inside(const infer *n, const value *v) {
  const op *o = value_op(v);
  const op *inner = o && op_is(o, mpmd_call) ? infer_callee(n, o) : o;
  if (!inner || !(op_is(o, mpmd_call) || op_is(o, mpmd_for))) return NULL;
  const op *ret = op_terminator(op_body(inner, 0));
  return v->index < ret->num_operands ? op_operand(ret, v->index) : NULL;
}

mesh_set src_of_value(const infer *n, const value *v) {
  for (const value *in; (in = returned_inside(n, v));) v = in;
  const op *o = value_op(v);
  if (o) return op_is(o, mpmd_assign) ? (mesh_set){0} : src_of(n, o);
  o = block_op(v->def.block);
  return op_is(o, func) || op_is(o, mpmd_for) ? src_of_arg(n, o, v->index) : (mesh_set){0};
}

static mesh_set set_of_one(const infer *n, const type *t, const attr *origin) {
  mesh_set s = {0};
  str label = {0};
  if (origin) attr_get_str(origin, &label);
  set_insert_named(n->ctx, n->a, &s, t->text, label);
  return s;
}
mesh_set set_of_assign(const infer *n, const op *o) {
  return set_of_one(n, o->results[0].type, op_get(o, mpmd_assign, origin));
}
mesh_set set_of_unassign(const infer *n, const op *o) {
  return set_of_one(n, op_operand(o, 0)->type, op_get(o, mpmd_unassign, origin));
}

/* ---- writing ---- */

void put_use(infer *n, op *o, const mesh_set *s) {
  if (!set_is_empty(s)) op_set_attr(n->m, o, MPMD_USE_SET, set_attr(n->ctx, n->a, s));
}
void put_src(infer *n, op *o, const mesh_set *s) {
  op_set_attr(n->m, o, MPMD_SRC_SET, set_attr(n->ctx, n->a, s));
}

static void put_sets(infer *n, op *func, str list, str name, const mesh_set *sets, size_t count) {
  const attr **values = ARENA_ARRAY(n->a, const attr *, count);
  bool any = false, use = str_eq(name, MPMD_USE_SET);
  for (size_t i = 0; i < count; i++) {
    bool keep = !sets[i].known || (use && !sets[i].meshes.len);
    values[i] = keep ? mpmd_value_attr(func, list, i, name) : set_attr(n->ctx, n->a, &sets[i]);
    any |= !keep;
  }
  if (any) mpmd_set_value_attrs(n->m, func, list, count, name, values);
}

void put_arg_sets(infer *n, op *func, str name, const mesh_set *sets) {
  put_sets(n, func, MPMD_ARG_ATTRS, name, sets, num_args(func));
}
void put_result_sets(infer *n, op *func, const mesh_set *sets) {
  put_sets(n, func, MPMD_RES_ATTRS, MPMD_USE_SET, sets, num_returned(func));
}

static bool drop_attr(op *o, str name) {
  bool had = op_discardable(o, name) != NULL;
  op_drop_attr(o, name);
  return had;
}

static void drop_value_attrs(infer *n, op *o, str list, str name) {
  const array_attr *old = attr_as(array, op_attr(o, list));
  size_t count = old ? old->elems.len : 0;
  if (!count) return;
  arena *s = ir_scratch_push(n->ctx);
  const attr **none = arena_zalloc(s, count * sizeof *none);
  mpmd_set_value_attrs(n->m, o, list, count, name, none);
  ir_scratch_pop(n->ctx);
}

bool drop_sets(infer *n, op *o) {
  bool use = drop_attr(o, MPMD_USE_SET), src = drop_attr(o, MPMD_SRC_SET);
  if (!op_is(o, func) && !op_is(o, mpmd_for)) return use || src;
  const str names[] = {MPMD_USE_SET, MPMD_SRC_SET};
  for (size_t i = 0; i < COUNT(names); i++) {
    drop_value_attrs(n, o, MPMD_ARG_ATTRS, names[i]);
    if (op_is(o, func)) drop_value_attrs(n, o, MPMD_RES_ATTRS, names[i]);
  }
  return use || src;
}

void drop_uses(infer *n, op *func) { drop_value_attrs(n, func, MPMD_ARG_ATTRS, MPMD_USE_SET); }

/* ---- users ---- */

/* The use set that is said where v is used. */
static void unite_use(const infer *n, const block *home, const use *u, mesh_set *s) {
  op *o = u->owner, *top = mpmd_ancestor_in(home, o);
  size_t at = (size_t)(u - o->operands);
  const op *by = value_op(u->value), *in = op_parent(o);
  mesh_set more;
  if (is_terminal(o) && !(by && op_is(by, mpmd_broadcast))) return;
  if (op_is(o, mpmd_unassign)) return;
  if (top != o)
    more = use_of(n, top);
  else if (op_is(o, mpmd_call))
    more = use_of_arg(n, infer_callee(n, o), at);
  else if (op_is(o, func_return) && !mpmd_is_entry_point(in))
    more = use_of_result(n, in, at);
  else if (op_is(o, mpmd_for))
    more = use_of_arg(n, o, at);
  else
    more = use_of(n, o);
  set_unite(n->a, s, &more);
}

void unite_uses(const infer *n, const value *v, mesh_set *s) {
  const block *home = v->is_arg ? v->def.block : value_op(v)->parent;
  for (const use *u = v->uses; u; u = u->next) unite_use(n, home, u, s);
}

void unite_uses_of(const infer *n, const op *o, mesh_set *s) {
  for (u32 i = 0; i < o->num_results; i++) unite_uses(n, &o->results[i], s);
}
