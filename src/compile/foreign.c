/* Ops of foreign dialects, as those write them who can only write custom calls: JAX's ffi_call. */
#include "compile/plain.h"

static const op_info *named(ir_module *m, const op *o) {
  struct custom_call_attrs a;
  if (!op_is(o, custom_call) || !view_custom_call(o, &a)) return NULL;
  const op_info *info = ir_op_info_find(m->ctx, a.call_target_name);
  return info && info->hooks ? info : NULL;
}

/* The dictionary of the call is the op's attributes; what else stands at it, stays. */
static void replace(ir_module *m, arena *a, op *call, const op_info *info) {
  u32 n = call->num_operands, num_out = call->num_results;
  value **in = ARENA_ARRAY(a, value *, n + 1);
  const type **out = ARENA_ARRAY(a, const type *, num_out + 1);
  for (u32 i = 0; i < n; i++) in[i] = op_operand(call, i);
  for (u32 i = 0; i < num_out; i++) out[i] = op_result(call, i)->type;
  op *o = op_create(m, info, call->loc, in, n, out, num_out, 0);
  struct custom_call_attrs v;
  view_custom_call(call, &v);
  const attr *own = op_discardable(call, MHLO_BACKEND_CONFIG);
  const dict_attr *config = attr_as(dict, own ? own : v.backend_config);
  for (size_t i = 0; config && i < config->names.len; i++) {
    str name = {0};
    if (attr_get_str(config->names.data[i], &name)) op_set_attr(m, o, name, config->values.data[i]);
  }
  for (u32 i = 0; i < call->num_attrs; i++) {
    str name = {0};
    if (attr_get_str(call->attrs[i].name, &name) && !str_eq(name, MHLO_BACKEND_CONFIG))
      op_set_attr(m, o, name, call->attrs[i].value);
  }
  op_insert(o, call->parent, call);
  for (u32 i = 0; i < num_out; i++) value_replace(op_result(call, i), op_result(o, i));
  op_erase(call);
}

void foreign_calls(ir_module *m, arena *scratch) {
  op_list calls = {0};
  ops_of_kind(scratch, m->root, OP_custom_call, &calls);
  for (size_t i = 0; i < calls.len; i++) {
    const op_info *info = named(m, calls.data[i]);
    if (info) replace(m, scratch, calls.data[i], info);
  }
}
