/* See one_device.h; lower_foreign.c makes the steps. */
#include "compile/one_device.h"

#include "shard/shard.h"
#include "shard/sharding_ir.h"

/* Each device makes these with what it has, whatever their sharding says. */
static bool is_of_each(const op *o) {
  struct custom_call_attrs v;
  return view_custom_call(o, &v) &&
         str_is(v.call_target_name, "xla_ffi_partitioned_python_cpu_callback");
}

static walk_result settle(void *user, op *o) {
  shard_space *space = user;
  ir_module *m = shard_space_module(space);
  const sharding_per_value_attr *all =
      op_is(o, custom_call) ? attr_as(sharding_per_value, op_attr(o, SDY_SHARDING)) : NULL;
  const tensor_sharding_attr *first =
      all && all->shardings.len ? attr_as(tensor_sharding, all->shardings.data[0]) : NULL;
  const mesh *at = first ? shard_mesh(space, first->mesh) : NULL;
  if (!at || !mesh_is_maximal(at)) return WALK_ON;
  op_set_attr(m, o, SDY_SHARDING, NULL);
  if (!is_of_each(o)) op_set_attr(m, o, CALL_DEVICE, attr_i64(m->ctx, at->device_ids.data[0]));
  return WALK_ON;
}

void calls_on_one_device(ir_module *m, arena *scratch) {
  op_walk_post(m->root, settle, shard_space_create(m, scratch));
}
