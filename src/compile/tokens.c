/* Tokens become pred[0] (plain.c), whose one dimension those that speak of them do not know of:
 * here layouts and shardings get it, and calls and signatures are told which values are tokens. */
#include "compile/plain.h"
#include "shard/shard.h"
#include "shard/sharding_ir.h"

typedef struct tokens {
  ir_module *m;
  arena *a;
  shard_space *space;
} tokens;

typedef const attr *widen_fn(tokens *t, const attr *of_token);

static const attr *widen_layout(tokens *t, const attr *old) {
  (void)old;
  i64 dims = 1, zero = 0;
  const type *type = type_tensor(t->m->ctx, (i64s){&dims, 1}, type_index(t->m->ctx), NULL);
  return attr_dense(t->m->ctx, type, (str){(const char *)&zero, sizeof zero}, true, false);
}

/* One of a maximal mesh never has dimensions. */
static const attr *widen_sharding(tokens *t, const attr *old) {
  const tensor_sharding_attr *s = attr_as(tensor_sharding, old);
  const mesh *m = s ? shard_mesh(t->space, s->mesh) : NULL;
  if (!m || s->dims.len || mesh_is_maximal(m)) return old;
  const attr *whole = attr_make(t->m->ctx, dim_sharding, .closed = true, .priority = -1);
  tensor_sharding_attr wide = *s;
  wide.dims = (attrs){&whole, 1};
  return attr_unique(t->m->ctx, &wide.base);
}

static bool is_token(const value *v) { return v->type->kind == TYPE_TOKEN; }

/* One a result, or one an operand. */
static attrs widen_list(tokens *t, const op *o, attrs list, bool results, widen_fn *widen) {
  const attr **out = ARENA_ARRAY(t->a, const attr *, list.len + 1);
  for (size_t i = 0; i < list.len; i++) {
    bool there = i < (results ? o->num_results : o->num_operands);
    bool token = there && is_token(results ? op_result(o, i) : op_operand(o, i));
    out[i] = token ? widen(t, list.data[i]) : list.data[i];
  }
  return (attrs){out, list.len};
}

static void widen_slot(tokens *t, op *o, str name, bool results) {
  const array_attr *list = attr_as(array, op_attr(o, name));
  const sharding_per_value_attr *shardings = attr_as(sharding_per_value, op_attr(o, name));
  if (list)
    op_set_attr(t->m, o, name,
                attr_array(t->m->ctx, widen_list(t, o, list->elems, results, widen_layout)));
  if (shardings)
    op_set_attr(
        t->m, o, name,
        attr_make(t->m->ctx, sharding_per_value,
                  .shardings = widen_list(t, o, shardings->shardings, results, widen_sharding)));
}

static void widen_signature(tokens *t, op *f) {
  struct func_attrs v;
  if (!view_func(f, &v) || v.function_type->kind != TYPE_FUNCTION) return;
  types all[] = {
      [FUNC_ARGS] = type_inputs(v.function_type), [FUNC_RESULTS] = type_results(v.function_type)};
  for (int side = FUNC_ARGS; side <= FUNC_RESULTS; side++)
    for (size_t i = 0; i < all[side].len; i++) {
      const attr *s = func_sharding(f, (func_side)side, i);
      if (all[side].data[i]->kind != TYPE_TOKEN) continue;
      func_set_named(t->m, f, (func_side)side, i, VALUE_IS_TOKEN, attr_unit(t->m->ctx));
      if (s) func_set_sharding(t->m, f, (func_side)side, i, widen_sharding(t, s));
    }
}

static void note(tokens *t, op *o) {
  VEC(i64) at = {0};
  for (u32 i = 0; i < o->num_operands + o->num_results; i++) {
    const value *v = i < o->num_operands ? op_operand(o, i) : op_result(o, i - o->num_operands);
    if (is_token(v)) VEC_PUSH(t->a, at, i);
  }
  if (!at.len) return;
  op_set_attr(t->m, o, CALL_TOKENS, attr_i64_array(t->m->ctx, (i64s){at.data, at.len}));
  widen_slot(t, o, SLOT_NAME(operand_layouts), false);
  widen_slot(t, o, SLOT_NAME(result_layouts), true);
}

static walk_result visit(void *user, op *o) {
  tokens *t = user;
  if (op_is(o, custom_call)) note(t, o);
  if (op_is(o, func)) widen_signature(t, o);
  if (op_is(o, manual_computation)) {
    widen_slot(t, o, SLOT_NAME(in_shardings), false);
    widen_slot(t, o, SLOT_NAME(out_shardings), true);
  } else if (o->num_results) {
    widen_slot(t, o, SDY_SHARDING, true);
  }
  return WALK_ON;
}

void tokens_widen(ir_module *m, arena *scratch) {
  tokens t = {m, scratch, shard_space_create(m, scratch)};
  op_walk_post(m->root, visit, &t);
}
