/* mpmd-uniquify-function-inputs-outputs: what is returned more than once, and arguments that are
 * returned, are copied, so that each result has a buffer of its own. Source: openxla/shardy,
 * shardy/dialect/mpmd/transforms/common/uniquify_function_inputs_outputs.cc. */
#include "base/index.h"
#include "mpmd/calls/passes.h"
#include "mpmd/util.h"

/* The first but for arguments stays: it is a value of its own. */
static void copy_by_transfers(ir_module *m, arena *a, op *ret) {
  hash_index seen = {0};
  for (u32 i = 0; i < ret->num_operands; i++) {
    value *v = op_operand(ret, i);
    bool first = !index_get(&seen, v);
    if (first) index_set(&seen, a, v, v);
    if (first && !v->is_arg) continue;
    op_set_operand(ret, i, mpmd_emit_transfer(m, ret, ret->loc, v, v->type));
  }
}

/* Something returned, and where it is. */
typedef struct returned {
  value *v;
  VEC(u32) at;
} returned;

/* In the order of their first ones: meshes, and what they return. */
typedef struct mesh_returns {
  str mesh;
  VEC(returned *) values;
  hash_index of; /* value -> returned */
} mesh_returns;
typedef VEC(mesh_returns *) returns_list;

static mesh_returns *returns_of(arena *a, returns_list *list, str mesh) {
  for (size_t i = 0; i < list->len; i++)
    if (str_eq(list->data[i]->mesh, mesh)) return list->data[i];
  mesh_returns *r = ARENA_NEW(a, mesh_returns);
  r->mesh = mesh;
  VEC_PUSH(a, *list, r);
  return r;
}

static bool collect(ir_module *m, arena *a, const op *ret, returns_list *list) {
  for (u32 i = 0; i < ret->num_operands; i++) {
    value *v = op_operand(ret, i);
    if (!type_is_mesh_tensor(v->type))
      return op_error(m->ctx, ret, "returns a value that lies on no mesh");
    mesh_returns *r = returns_of(a, list, v->type->text);
    returned *of = index_get(&r->of, v);
    if (!of) {
      of = ARENA_NEW(a, returned);
      of->v = v;
      index_set(&r->of, a, v, of);
      VEC_PUSH(a, r->values, of);
    }
    VEC_PUSH(a, of->at, i);
  }
  return true;
}

/* One fragment a mesh, which gives each value as often as it is returned. */
static void copy_by_fragment(ir_module *m, arena *a, op *ret, const mesh_returns *r) {
  value_list in = {0}, out = {0};
  type_list types = {0};
  VEC(u32) at = {0};
  for (size_t i = 0; i < r->values.len; i++) {
    const returned *of = r->values.data[i];
    if (of->at.len == 1 && !of->v->is_arg) continue;
    VEC_PUSH(a, in, of->v);
    for (size_t k = 0; k < of->at.len; k++) {
      VEC_PUSH(a, types, of->v->type);
      VEC_PUSH(a, at, of->at.data[k]);
    }
  }
  if (!in.len) return;
  const attr *none = attr_array(m->ctx, (attrs){0});
  op *f = fragment_create(m, ret, ret->loc, none, r->mesh, NULL, in.data, in.len, types.data,
                          types.len);
  mpmd_set_inferred_by(m, f, "uniquify");
  u32 arg = 0;
  for (size_t k = 0; k < at.len; k++) {
    if (op_operand(ret, at.data[k]) != in.data[arg]) arg++;
    VEC_PUSH(a, out, op_body(f, 0)->args[arg]);
  }
  fragment_return(m, f, out.data, out.len);
  for (size_t k = 0; k < at.len; k++) op_set_operand(ret, at.data[k], op_result(f, k));
}

static bool uniquify(ir_module *m, arena *a, op *f, bool by_transfers) {
  op *ret = op_body(f, 0) ? op_terminator(op_body(f, 0)) : NULL;
  if (!ret) return true;
  returns_list list = {0};
  if (!collect(m, a, ret, &list)) return false;
  if (by_transfers) {
    copy_by_transfers(m, a, ret);
    return true;
  }
  for (size_t i = 0; i < list.len; i++) copy_by_fragment(m, a, ret, list.data[i]);
  return true;
}

bool pass_mpmd_uniquify(ir_module *m, arena *scratch, const pass_args *args) {
  bool by_transfers = pass_option_flag(args, STR("use-transfer-instead-of-fragment"), false);
  op_list functions = {0};
  mpmd_functions(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++)
    if (!uniquify(m, scratch, functions.data[i], by_transfers)) return false;
  return true;
}
