/* mpmd-convert-sdy-shardings-to-mpmd-types: shardings go from attributes into types. */
#include "mpmd/propagation/passes.h"
#include "mpmd/util.h"
#include "shard/sharding_ir.h"
#include "text/text.h"

static void set_type(ir_module *m, value *v, const attr *sharding) {
  if (sharding && type_is_mesh_tensor(v->type)) v->type = mpmd_with_sharding(m, v->type, sharding);
}

static const attr *sharding_at(const attr *list, u32 i) {
  const sharding_per_value_attr *l = attr_as(sharding_per_value, list);
  return l && i < l->shardings.len ? l->shardings.data[i] : NULL;
}

static void from_fragment(ir_module *m, op *o) {
  const attr *in = op_get(o, mpmd_fragment, in_shardings);
  const attr *out = op_get(o, mpmd_fragment, out_shardings);
  for (u32 i = 0; i < o->num_operands; i++) set_type(m, op_operand(o, i), sharding_at(in, i));
  for (u32 i = 0; i < o->num_results; i++) set_type(m, op_result(o, i), sharding_at(out, i));
  op_set(o, mpmd_fragment, in_shardings, NULL);
  op_set(o, mpmd_fragment, out_shardings, NULL);
}

static void from_transfer(ir_module *m, op *o) {
  set_type(m, op_operand(o, 0), value_sharding(m->ctx, op_operand(o, 0)));
  set_type(m, op_result(o, 0), value_sharding(m->ctx, op_result(o, 0)));
}

/* Its arguments are what its operands are, which may have their types already. */
static void from_for(ir_module *m, op *o) {
  block *b = op_body(o, 0);
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = op_operand(o, i);
    const attr *a = value_sharding(m->ctx, v);
    if (!a && type_is_mesh_tensor(v->type)) a = v->type->encoding;
    set_type(m, v, a);
    set_type(m, b->args[i], a);
  }
  for (u32 i = 0; i < o->num_results; i++)
    set_type(m, op_result(o, i), value_sharding(m->ctx, op_result(o, i)));
}

/* What the host sends and gets keeps its sharding: it says which device does it. */
static walk_result from_op(void *user, op *o) {
  ir_module *m = user;
  if (op_is(o, mpmd_fragment)) from_fragment(m, o);
  if (op_is(o, mpmd_transfer)) from_transfer(m, o);
  if (op_is(o, mpmd_for)) from_for(m, o);
  if (!op_is(o, send) && !op_is(o, recv)) op_drop_attr(o, SDY_SHARDING);
  return WALK_ON;
}

static void from_func(ir_module *m, arena *a, op *f) {
  const block *b = op_body(f, 0);
  for (u32 i = 0; i < b->num_args; i++) set_type(m, b->args[i], func_sharding(f, FUNC_ARGS, i));
  for (int side = FUNC_ARGS; side <= FUNC_RESULTS; side++) {
    size_t n = func_num(f, side);
    func_set_shardings(m, f, side, arena_zalloc(a, (n + 1) * sizeof(const attr *)), n);
  }
  mpmd_update_type(m, f);
}

static walk_result check_transfer(void *user, op *o) {
  ir_module *m = user;
  if (!op_is(o, mpmd_transfer)) return WALK_ON;
  const attr *in = op_operand(o, 0)->type->encoding, *out = o->results[0].type->encoding;
  const tensor_sharding_attr *x = attr_as(tensor_sharding, in), *y = attr_as(tensor_sharding, out);
  if (!x || !y || x->mesh != y->mesh || shard_attr_equivalent(in, out)) return WALK_ON;
  arena *a = ir_scratch_push(m->ctx);
  loc_error(m->ctx, o->loc,
            "Transfer op has different shardings for the operand and result on the same mesh, "
            "operand sharding: %s, result sharding: %s",
            text_show_attr(a, in), text_show_attr(a, out));
  ir_scratch_pop(m->ctx);
  return WALK_STOP;
}

bool pass_mpmd_types_from_shardings(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0};
  mpmd_distributed(scratch, m, &functions);
  u32 errors = ir_sink(m->ctx)->errors;
  for (size_t i = 0; i < functions.len; i++) {
    op *f = functions.data[i];
    if (!op_body(f, 0)) continue;
    op_walk_post(f, from_op, m);
    from_func(m, scratch, f);
    op_walk_post(f, check_transfer, m);
  }
  ir_sink(m->ctx)->errors = errors; /* said, but no failure, as in Shardy */
  return true;
}

/* ---- mpmd-convert-sdy-constants ---- */

static walk_result convert_constant(void *user, op *o) {
  if (op_is(o, sdy_constant)) op_become(user, o, OP_constant);
  return WALK_ON;
}

bool pass_mpmd_convert_constants(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch, (void)args;
  if (module_may_have(m, sdy_constant)) op_walk(m->root, convert_constant, m);
  return true;
}
