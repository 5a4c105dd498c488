/* Functions over meshes, calls of them, and loops, once it is known on which meshes what is in them
 * is. rewrite.h has it; source: openxla/shardy, infer_mesh_assignment.cc. */
#include "mpmd/infer/rewrite.h"

/* ---- users by mesh ---- */

static int by_mesh(const mesh_users *a, const mesh_users *b) {
  return mpmd_mesh_before(a->mesh, b->mesh) ? -1 : mpmd_mesh_before(b->mesh, a->mesh) ? 1 : 0;
}

mesh_users_list users_by_mesh(const infer *n, const value *v) {
  mesh_users_list out = {0};
  for (const use *u = v->uses; u; u = u->next) {
    if (!op_is(u->owner, mpmd_assign)) continue;
    str mesh = u->owner->results[0].type->text;
    size_t k = 0;
    while (k < out.len && !str_eq(out.data[k].mesh, mesh)) k++;
    if (k == out.len) VEC_PUSH(n->a, out, (mesh_users){.mesh = mesh});
    VEC_PUSH(n->a, out.data[k].users, u->owner);
  }
  for (size_t i = 1; i < out.len; i++)
    for (size_t k = i; k && by_mesh(&out.data[k], &out.data[k - 1]) < 0; k--) {
      mesh_users t = out.data[k];
      out.data[k] = out.data[k - 1];
      out.data[k - 1] = t;
    }
  return out;
}

void use_unassigned(infer *n, op *before, value *v, const op_list *users) {
  value *whole = mpmd_emit_unassign(n->m, before, value_loc(n, v), v, STR(""));
  for (size_t i = 0; i < users->len; i++) op_set_operand(users->data[i], 0, whole);
}

/* ---- callees ---- */

/* Further ones stand behind all that are there. */
static void note_copies(infer *n, op *f, str list, size_t count, size_t i, size_t begin,
                        size_t copies) {
  i64 *at = ARENA_ARRAY(n->a, i64, copies);
  for (size_t k = 0; k < copies; k++) at[k] = (i64)(begin + k);
  mpmd_set_value_attr(n->m, f, list, count, i, MPMD_COPIES,
                      attr_i64_array(n->ctx, (i64s){at, copies}));
}

static i64s copies_of(const infer *n, const op *f, str list, size_t i) {
  i64s at = {0};
  const attr *a = mpmd_value_attr(f, list, i, MPMD_COPIES);
  if (a) attr_get_i64s(n->ctx, a, &at);
  return at;
}

/* An unused result is where it can be. */
static bool result_meshes(infer *n, const op *f, size_t i, const value *v, mesh_set *out) {
  *out = use_of_result(n, f, i);
  if (out->meshes.len) return true;
  const op *by = value_op(v);
  str mesh = infer_first_mesh(f);
  if (!by) return op_error(n->ctx, f, "returns an argument as result %zu, which nothing uses", i);
  mesh_set src = src_of(n, by);
  set_pick(&src, NULL, &mesh);
  set_insert(n->a, out, mesh, (attrs){0});
  return true;
}

bool place_callee_results(infer *n, op *f) {
  op *ret = op_terminator(op_body(f, 0));
  size_t count = ret->num_operands;
  value_list out = {0};
  for (size_t i = 0; i < count; i++) VEC_PUSH(n->a, out, op_operand(ret, i));
  for (size_t i = 0; i < count; i++) {
    value *v = op_operand(ret, i);
    mesh_set on;
    if (!type_is_ranked(v->type)) continue;
    if (!result_meshes(n, f, i, v, &on)) return false;
    if (on.meshes.len > 1) note_copies(n, f, MPMD_RES_ATTRS, count, i, out.len, on.meshes.len - 1);
    for (size_t k = 0; k < on.meshes.len; k++) {
      value *a = assign_to(n, ret, value_loc(n, v), v, on.meshes.data[k].mesh);
      if (k)
        VEC_PUSH(n->a, out, a);
      else
        out.data[i] = a;
    }
  }
  op_set_operands(n->m, ret, out.data, out.len);
  return true;
}

bool place_callee_args(infer *n, op *f) {
  block *b = op_body(f, 0);
  op *before = b->first;
  size_t count = b->num_args;
  for (size_t i = 0; i < count; i++) {
    value *v = b->args[i];
    const type *t = v->type;
    if (!type_is_ranked(t)) continue;
    mesh_users_list on = users_by_mesh(n, v);
    if (!on.len)
      return op_error(n->ctx, f, "has an argument %zu that nothing assigns to a mesh", i);
    if (on.len > 1) note_copies(n, f, MPMD_ARG_ATTRS, count, i, b->num_args, on.len - 1);
    for (size_t k = 0; k < on.len; k++) {
      const type *placed = type_mesh_tensor(n->ctx, on.data[k].mesh, t, NULL, NULL);
      value *arg = v;
      if (k) {
        arg = block_add_arg(n->m, b, placed);
        block_set_arg_loc(n->m, b, arg->index, value_loc(n, v));
      }
      arg->type = placed;
      use_unassigned(n, before, arg, &on.data[k].users);
    }
  }
  return true;
}

static void fit_attrs(infer *n, op *f, str list, size_t count) {
  const array_attr *old = attr_as(array, op_attr(f, list));
  if (!old || old->elems.len == count) return;
  const attr **dicts = ARENA_ARRAY(n->a, const attr *, count);
  for (size_t i = 0; i < count; i++)
    dicts[i] = i < old->elems.len ? old->elems.data[i] : attr_dict(n->ctx, NULL, 0);
  op_set_attr(n->m, f, list, attr_array(n->ctx, (attrs){dicts, count}));
}

void update_func(infer *n, op *f) {
  mpmd_update_type(n->m, f);
  fit_attrs(n, f, MPMD_ARG_ATTRS, num_args(f));
  fit_attrs(n, f, MPMD_RES_ATTRS, num_returned(f));
}

/* ---- calls ---- */

/* What the function takes now, where position i of the call and its copies are. False: it is no
 * mesh tensor. */
static bool assign_operand(infer *n, op *before, const op *f, size_t at, value *v, value **in) {
  const block *b = op_body(f, 0);
  const type *t = at < b->num_args ? b->args[at]->type : NULL;
  if (!t || !type_is_mesh_tensor(t)) return false;
  in[at] = assign_to(n, before, value_loc(n, v), v, t->text);
  return true;
}

static bool assign_operands(infer *n, op *call, const op *f, value **in) {
  op *before = call->next;
  bool ok = call->num_operands <= num_args(f);
  for (size_t i = 0; ok && i < call->num_operands; i++) {
    value *v = op_operand(call, i);
    in[i] = v;
    if (!type_is_ranked(v->type)) continue;
    i64s copies = copies_of(n, f, MPMD_ARG_ATTRS, i);
    ok = assign_operand(n, before, f, i, v, in);
    for (size_t k = 0; ok && k < copies.len; k++)
      ok = copies.data[k] >= 0 && assign_operand(n, before, f, (size_t)copies.data[k], v, in);
  }
  for (size_t i = 0; ok && i < num_args(f); i++) ok = in[i] != NULL;
  return ok;
}

/* The result of the new call that stands for result i on the mesh that u assigns it to; NULL: none.
 */
static value *result_on(const infer *n, op *call, const op *f, size_t i, const op *u) {
  const type *want = u->results[0].type;
  i64s copies = copies_of(n, f, MPMD_RES_ATTRS, i);
  if (i < call->num_results && op_result(call, i)->type == want) return op_result(call, i);
  for (size_t k = 0; k < copies.len; k++) {
    i64 at = copies.data[k];
    if (at >= 0 && at < call->num_results && op_result(call, (size_t)at)->type == want)
      return op_result(call, (size_t)at);
  }
  return NULL;
}

static bool replace_results(infer *n, op *call, op *fresh, const op *f, op *before) {
  for (u32 i = 0; i < call->num_results; i++) {
    for (use *u = call->results[i].uses, *next; u; u = next) {
      next = u->next;
      op *user = u->owner;
      value *v = op_is(user, mpmd_assign) ? result_on(n, fresh, f, i, user) : NULL;
      if (!v) return op_error(n->ctx, call, "has result %u used where the function has it not", i);
      op_set_operand(user, 0, mpmd_emit_unassign(n->m, before, user->loc, v, STR("")));
    }
  }
  return true;
}

bool rewrite_call(infer *n, op *call) {
  const op *f = infer_callee(n, call);
  const op *ret = op_terminator(op_body(f, 0));
  op *before = call->next;
  value **in = arena_zalloc(n->a, (num_args(f) + 1) * sizeof *in);
  const type **out = ARENA_ARRAY(n->a, const type *, ret->num_operands);
  if (!assign_operands(n, call, f, in))
    return op_error(n->ctx, call, "has no operand on a mesh for each argument of the function");
  for (u32 i = 0; i < ret->num_operands; i++) out[i] = op_operand(ret, i)->type;
  op *fresh =
      mpmd_emit(n->m, before, OP_mpmd_call, call->loc, in, num_args(f), out, ret->num_operands);
  mpmd_copy_attrs(n->m, call, fresh);
  if (!replace_results(n, call, fresh, f, before)) return false;
  op_erase(call);
  return true;
}
