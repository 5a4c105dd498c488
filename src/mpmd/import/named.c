/* Named computations and tensors: what is nested goes into what is around it, and what has a mesh
 * becomes a fragment, or a value of that mesh. */
#include "mpmd/assignment.h"
#include "mpmd/import/passes.h"

typedef struct named {
  ir_module *m;
  arena *a;
  assignment_list to;
  bool ok;
} named;

static str computation_name(const op *o) {
  const user_origin_attr *u = attr_as(user_origin, op_get(o, mpmd_named_computation, origin));
  return u ? u->name : (str){0};
}

static str tensor_name(const op *o) {
  str s = {0};
  attr_get_str(op_get(o, mpmd_named_tensor, name), &s);
  return s;
}

static void replace_results(op *o, value *const *with) {
  for (u32 i = 0; i < o->num_results; i++) value_replace(op_result(o, i), with[i]);
  op_erase(o);
}

static bool read_assignment(named *n, const pass_args *args) {
  str text = pass_option_get(args, STR("assignment"), STR(""));
  return assignments_named(n->m, n->a, text, &n->to);
}

static bool run_on_functions(ir_module *m, arena *scratch, const pass_args *args, walk_fn *fn) {
  named n = {m, scratch, {0}, true};
  if (!read_assignment(&n, args)) return false;
  op_list functions = {0};
  mpmd_distributed(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) op_walk_post(functions.data[i], fn, &n);
  return n.ok;
}

/* ---- mpmd-inline-nested-user-exposed-ops ---- */

static op *computation_around(const op *o) {
  op *p = op_parent(o);
  while (p && !op_is(p, mpmd_named_computation)) p = op_parent(p);
  return p;
}

static void inline_computation(op *o) {
  block *b = op_body(o, 0);
  op *ret = op_terminator(b);
  for (u32 i = 0; i < b->num_args; i++) value_replace(b->args[i], op_operand(o, i));
  block_move_ops(b, ret, o->parent, o);
  for (u32 i = 0; i < o->num_results; i++) value_replace(op_result(o, i), op_operand(ret, i));
  op_erase(o);
}

static bool same_place(const assignment *x, const assignment *y) {
  return str_eq(x->mesh, y->mesh) && x->stage == y->stage;
}

static walk_result lacks_mesh(named *n, const op *outer) {
  n->ok = loc_error(n->m->ctx, outer->loc,
                    "Parent NamedComputation '" STR_FMT
                    "' is not assigned to a mesh in the user-defined name-to-mesh assignment.",
                    STR_ARG(computation_name(outer)));
  return WALK_STOP;
}

static void differs(named *n, const op *o, const char *kind, str name, const op *outer,
                    const char *in_what) {
  n->ok = loc_error(n->m->ctx, o->loc,
                    "%s '" STR_FMT "' is nested in a NamedComputation '" STR_FMT
                    "' which has a different %s assignment.",
                    kind, STR_ARG(name), STR_ARG(computation_name(outer)), in_what);
}

static walk_result inline_nested(void *user, op *o) {
  named *n = user;
  bool computation = op_is(o, mpmd_named_computation), tensor = op_is(o, mpmd_named_tensor);
  bool other = op_is(o, mpmd_broadcast) || op_is(o, mpmd_reduce);
  if (!computation && !tensor && !other) return WALK_ON;
  op *outer = computation_around(o);
  if (!outer) return WALK_ON;
  const assignment *around = assignment_of(&n->to, computation_name(outer));
  if (!other && !around) return lacks_mesh(n, outer);
  if (computation) {
    const assignment *own = assignment_of(&n->to, computation_name(o));
    if (own && !same_place(own, around))
      differs(n, o, "NamedComputation", computation_name(o), outer, "mesh or stage");
    inline_computation(o);
    return WALK_ON;
  }
  if (tensor) {
    const assignment *own = assignment_of(&n->to, tensor_name(o));
    str kind;
    if (own && !str_eq(mpmd_split_mesh(own->mesh, &kind), around->mesh))
      differs(n, o, "NamedTensor", tensor_name(o), outer, "mesh");
  }
  if (o->num_operands) replace_results(o, (value *[]){op_operand(o, 0)});
  return WALK_ON;
}

bool pass_mpmd_inline_nested(ir_module *m, arena *scratch, const pass_args *args) {
  return run_on_functions(m, scratch, args, inline_nested);
}

/* ---- mpmd-map-named-ops-to-mpmd-ops ---- */

static bool check_mesh(named *n, const op *o, str mesh) {
  if (mpmd_mesh(o, mesh)) return true;
  n->ok = loc_error(n->m->ctx, o->loc, "mesh '" STR_FMT "' is not in the topology", STR_ARG(mesh));
  return false;
}

static bool check_ranked(named *n, const op *o, const type *t) {
  if (type_is_ranked(t)) return true;
  n->ok = op_error(n->m->ctx, o, "has a value on a mesh that is no ranked tensor");
  return false;
}

/* Tokens are on no mesh. */
static bool can_be_fragment(named *n, const op *o) {
  u32 tensors = o->num_operands + o->num_results;
  for (u32 i = 0; i < tensors; i++) {
    const type *t = op_tensor(o, i)->type;
    if (t->kind != TYPE_TOKEN && !check_ranked(n, o, t)) return false;
  }
  return true;
}

/* Each operand on the mesh, one that comes twice only once. */
static value **assign_operands(named *n, op *o, str mesh) {
  value **out = ARENA_ARRAY(n->a, value *, o->num_operands + 1u);
  ir_map *assigned = ir_map_create(n->a);
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = op_operand(o, i);
    out[i] = ir_map_get(assigned, v);
    if (out[i] != v || !type_is_ranked(v->type)) continue;
    out[i] = mpmd_emit_assign(n->m, o, o->loc, v, mesh, computation_name(o));
    ir_map_set(assigned, v, out[i]);
  }
  return out;
}

static op *make_fragment(named *n, op *o, const assignment *to, str mesh) {
  ir_ctx *c = n->m->ctx;
  value **operands = assign_operands(n, o, mesh);
  const type **types = ARENA_ARRAY(n->a, const type *, o->num_results + 1u);
  for (u32 i = 0; i < o->num_results; i++) {
    types[i] = o->results[i].type;
    if (type_is_ranked(types[i])) types[i] = type_mesh_tensor(c, mesh, types[i], NULL, NULL);
  }
  const attr *origin = op_get(o, mpmd_named_computation, origin);
  op *f = mpmd_emit(n->m, o, OP_mpmd_fragment, o->loc, operands, o->num_operands, types,
                    o->num_results);
  op_set(f, mpmd_fragment, origin, attr_array(c, (attrs){&origin, 1}));
  op_set(f, mpmd_fragment, mesh_name, attr_string(c, mesh));
  if (to->stage >= 0) op_set(f, mpmd_fragment, stage_id, attr_i64(c, to->stage));
  mpmd_take_body(f, o);
  return f;
}

static void map_computation(named *n, op *o) {
  str name = computation_name(o), kind;
  const assignment *to = assignment_of(&n->to, name);
  if (!to) {
    n->ok = loc_error(n->m->ctx, o->loc,
                      "Top-level NamedComputation '" STR_FMT
                      "' is not assigned to a mesh in the user-defined named-to-mesh assignment.",
                      STR_ARG(name));
    return;
  }
  str mesh = mpmd_split_mesh(to->mesh, &kind);
  if (!check_mesh(n, o, mesh) || !can_be_fragment(n, o)) return;
  op *f = make_fragment(n, o, to, mesh);
  value **results = ARENA_ARRAY(n->a, value *, o->num_results + 1u);
  for (u32 i = 0; i < o->num_results; i++) {
    results[i] = op_result(f, i);
    if (type_is_mesh_tensor(results[i]->type))
      results[i] = mpmd_emit_unassign(n->m, o, o->loc, results[i], name);
  }
  replace_results(o, results);
}

/* Onto its mesh and off again; a name that nobody gave a mesh says nothing. */
static void map_tensor(named *n, op *o) {
  str name = tensor_name(o), kind;
  value *v = op_operand(o, 0);
  const assignment *to = assignment_of(&n->to, name);
  if (to) {
    str mesh = mpmd_split_mesh(to->mesh, &kind);
    if (!check_mesh(n, o, mesh) || !check_ranked(n, o, v->type)) return;
    const attr *space = kind.len ? attr_string(n->m->ctx, kind) : NULL;
    const type *t = type_mesh_tensor(n->m->ctx, mesh, v->type, NULL, space);
    op *on = mpmd_emit(n->m, o, OP_mpmd_assign, o->loc, &v, 1, &t, 1);
    op_set(on, mpmd_assign, origin, attr_string(n->m->ctx, name));
    v = mpmd_emit_unassign(n->m, o, o->loc, op_result(on, 0), name);
  }
  replace_results(o, &v);
}

static walk_result map_named(void *user, op *o) {
  if (op_is(o, mpmd_named_computation)) map_computation(user, o);
  if (op_is(o, mpmd_named_tensor)) map_tensor(user, o);
  return WALK_ON;
}

bool pass_mpmd_map_named(ir_module *m, arena *scratch, const pass_args *args) {
  return run_on_functions(m, scratch, args, map_named);
}

/* ---- mpmd-validate-named-ops-in-mpmd-func ---- */

static walk_result check_named(void *user, op *o) {
  named *n = user;
  bool computation = op_is(o, mpmd_named_computation);
  if (!computation && !op_is(o, mpmd_named_tensor)) return WALK_ON;
  const op *p = op_parent(o);
  bool fine = op_is(p, func) ? mpmd_is_function(p) : str_starts(p->info->name, STR("mpmd."));
  if (!fine)
    loc_error(n->m->ctx, o->loc, "Named %s can only be nested in mpmd functions or mpmd ops.",
              computation ? "computations" : "tensors");
  return WALK_ON;
}

bool pass_mpmd_validate_named(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  named n = {m, scratch, {0}, true};
  u32 errors = ir_sink(m->ctx)->errors;
  op_walk_post(m->root, check_named, &n);
  ir_sink(m->ctx)->errors = errors; /* said, but no failure, as in Shardy */
  return true;
}

/* ---- mpmd-insert-nameless-clone-of-negligible-ops ---- */

/* What makes result i, if it has no operands: cheap enough to be made again wherever it is used. */
static op *negligible(const op *ret, u32 i) {
  op *by = value_op(op_operand(ret, i));
  return by && !by->num_operands && by->num_results == 1 ? by : NULL;
}

/* A function's own results stay the computation's: they may be what says on which mesh they are. */
static void replace_in_ops(value *from, value *to) {
  for (use *u = from->uses, *next; u; u = next) {
    next = u->next;
    if (!op_is(u->owner, func_return))
      op_set_operand(u->owner, (size_t)(u - u->owner->operands), to);
  }
}

static walk_result clone_negligible(void *user, op *o) {
  named *n = user;
  if (!op_is(o, mpmd_named_computation)) return WALK_ON;
  const op *ret = op_terminator(op_body(o, 0));
  op *before = o->next;
  for (u32 i = 0; i < o->num_results; i++) {
    op *by = negligible(ret, i);
    if (!by) continue;
    op *copy = op_clone(n->m, by, NULL);
    op_insert(copy, o->parent, before);
    replace_in_ops(op_result(o, i), op_result(copy, 0));
  }
  return WALK_ON;
}

bool pass_mpmd_clone_negligible(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  named n = {m, scratch, {0}, true};
  op_list functions = {0};
  mpmd_distributed(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) op_walk_post(functions.data[i], clone_negligible, &n);
  return true;
}
