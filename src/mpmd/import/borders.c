/* Arguments and results of programs: on which mesh each is, as whoever calls wants it. */
#include "mpmd/assignment.h"
#include "mpmd/import/passes.h"
#include "shard/sharding_ir.h"

/* ---- mpmd-map-input-output-to-mesh ---- */

typedef struct mapper {
  ir_module *m;
  assignment_list in, out;
} mapper;

static bool misplaced(mapper *w, const op *f, const char *what, i64 index) {
  return loc_error(w->m->ctx, f->loc, "%s index %lld is out of bounds", what, (long long)index);
}

/* NULL: reported. */
static const type *on_mesh(mapper *w, const op *f, const type *t, const assignment *to) {
  str kind, mesh = mpmd_split_mesh(to->mesh, &kind);
  if (!mpmd_mesh(f, mesh)) {
    loc_error(w->m->ctx, f->loc, "mesh '" STR_FMT "' is not in the topology", STR_ARG(mesh));
    return NULL;
  }
  if (!type_is_ranked(t)) {
    loc_error(w->m->ctx, f->loc, "what goes on mesh '" STR_FMT "' is no ranked tensor",
              STR_ARG(mesh));
    return NULL;
  }
  return type_mesh_tensor(w->m->ctx, mesh, t, NULL, kind.len ? attr_string(w->m->ctx, kind) : NULL);
}

/* The body goes on with what comes off the mesh, in front of its first op. */
static bool map_inputs(mapper *w, op *f) {
  block *b = op_body(f, 0);
  op *first = b->first;
  for (size_t i = 0; i < w->in.len; i++) {
    const assignment *to = &w->in.data[i];
    if (to->index < 0 || to->index >= b->num_args) return misplaced(w, f, "input", to->index);
    value *v = b->args[to->index];
    const type *t = on_mesh(w, f, v->type, to);
    if (!t) return false;
    v->type = t;
    const attr *loc = block_arg_loc(b, (size_t)to->index);
    value *off = mpmd_emit_unassign(w->m, first, loc ? loc : f->loc, v, STR("user_in"));
    value_replace_except(v, off, value_op(off));
  }
  return true;
}

/* As JAX calls the result, where it says so. */
static const attr *result_loc(ir_module *m, const op *f, size_t i, const value *v) {
  str name;
  if (attr_get_str(func_named(f, FUNC_RESULTS, i, MPMD_RESULT_INFO), &name))
    return attr_make(m->ctx, loc_name, .name = name, .child = loc_unknown(m->ctx));
  const op *by = value_op(v);
  const attr *loc = by ? by->loc : block_arg_loc(v->def.block, v->index);
  return loc ? loc : f->loc;
}

static bool map_outputs(mapper *w, op *f) {
  op *ret = op_terminator(op_body(f, 0));
  for (size_t i = 0; i < w->out.len; i++) {
    const assignment *to = &w->out.data[i];
    if (to->index < 0 || to->index >= ret->num_operands)
      return misplaced(w, f, "output", to->index);
    size_t at = (size_t)to->index;
    value *v = op_operand(ret, at);
    const type *t = on_mesh(w, f, v->type, to);
    if (!t) return false;
    op *on = mpmd_emit(w->m, ret, OP_mpmd_assign, result_loc(w->m, f, at, v), &v, 1, &t, 1);
    op_set(on, mpmd_assign, origin, attr_string(w->m->ctx, STR("user_out")));
    op_set_operand(ret, at, op_result(on, 0));
  }
  return true;
}

static const attr *without(ir_ctx *c, arena *a, const attr *dict, str name) {
  const dict_attr *d = attr_as(dict, dict);
  VEC(named_attr) kept = {0};
  for (size_t i = 0; d && i < d->names.len; i++)
    if (!str_eq(attr_as(string, d->names.data[i])->value, name))
      VEC_PUSH(a, kept, ((named_attr){d->names.data[i], d->values.data[i]}));
  return attr_dict(c, kept.data, kept.len);
}

/* A type that says the memory says it alone. */
static void drop_memory_kinds(ir_module *m, arena *a, op *f, func_side side) {
  const attr *old = side == FUNC_ARGS ? op_get(f, func, arg_attrs) : op_get(f, func, res_attrs);
  const array_attr *l = attr_as(array, old);
  if (!l) return;
  const attr **dicts = arena_copy(a, l->elems.data, l->elems.len * sizeof *dicts);
  for (size_t i = 0; i < l->elems.len && i < func_num(f, side); i++) {
    const type *t = func_type_of(f, side, i);
    bool said = attr_is(string, func_named(f, side, i, MPMD_MEMORY_KIND));
    if (said && type_is_mesh_tensor(t) && t->space)
      dicts[i] = without(m->ctx, a, dicts[i], MPMD_MEMORY_KIND);
  }
  const attr *now = attr_array(m->ctx, (attrs){dicts, l->elems.len});
  if (side == FUNC_ARGS)
    op_set(f, func, arg_attrs, now);
  else
    op_set(f, func, res_attrs, now);
}

bool pass_mpmd_map_input_output(ir_module *m, arena *scratch, const pass_args *args) {
  mapper w = {m, {0}, {0}};
  str in = pass_option_get(args, STR("input-assignment"), STR(""));
  str out = pass_option_get(args, STR("output-assignment"), STR(""));
  if (!assignments_indexed(m, scratch, in, &w.in)) return false;
  if (!assignments_indexed(m, scratch, out, &w.out)) return false;
  op_list functions = {0};
  mpmd_functions(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) {
    op *f = functions.data[i];
    if (!mpmd_is_entry_point(f) || !op_body(f, 0)) continue;
    if (!map_inputs(&w, f) || !map_outputs(&w, f)) return false;
    mpmd_update_type(m, f);
    drop_memory_kinds(m, scratch, f, FUNC_ARGS);
    drop_memory_kinds(m, scratch, f, FUNC_RESULTS);
  }
  return true;
}

/* ---- mpmd-enforce-input-output-equisharding ---- */

static bool enforce(ir_module *m, op *f, const equisharding_list *all) {
  const block *b = op_body(f, 0);
  op *ret = op_terminator(b);
  for (size_t i = 0; i < all->len; i++) {
    equisharding e = all->data[i];
    if (e.input < 0 || e.input >= b->num_args || e.output < 0 || e.output >= ret->num_operands)
      return loc_error(m->ctx, f->loc, "constraint %lld:%lld is out of bounds", (long long)e.input,
                       (long long)e.output);
    const type *in = b->args[e.input]->type, *out = func_type_of(f, FUNC_RESULTS, (size_t)e.output);
    value *v = op_operand(ret, (size_t)e.output);
    if (in == out) continue;
    if (!type_is_mesh_tensor(in) || !type_is_mesh_tensor(v->type))
      return loc_error(m->ctx, f->loc, "constraint %lld:%lld is about a value on no mesh",
                       (long long)e.input, (long long)e.output);
    op_set_operand(ret, (size_t)e.output, mpmd_emit_transfer(m, ret, ret->loc, v, in));
  }
  mpmd_update_type(m, f);
  return true;
}

bool pass_mpmd_enforce_equisharding(ir_module *m, arena *scratch, const pass_args *args) {
  equisharding_list all = {0};
  str text = pass_option_get(args, STR("constraints"), STR(""));
  if (!equishardings_read(m, scratch, text, &all)) return false;
  op_list functions = {0};
  mpmd_functions(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) {
    op *f = functions.data[i];
    if (mpmd_is_entry_point(f) && op_body(f, 0) && !enforce(m, f, &all)) return false;
  }
  return true;
}
