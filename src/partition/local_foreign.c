/* Ops of foreign dialects on shards: types first, then what their dialect makes of them. */
#include "partition/local.h"

typedef VEC(use *) use_list;

static void take_over(use_list users, const value *from, value *to) {
  to->num = from->num;
  for (size_t i = 0; i < users.len; i++) {
    use *u = users.data[i];
    if (u->value == from) op_set_operand(u->owner, (size_t)(u - u->owner->operands), to);
  }
}

bool local_foreign(local *l, op *o) {
  const op_hooks *h = o->info->hooks;
  value *v = o->num_results ? op_result(o, 0) : NULL, *out = NULL;
  use_list users = {0};
  if (!local_region(l, o)) return false;
  if (!h || !h->make_local) return true;
  for (use *u = v ? v->uses : NULL; u; u = u->next) VEC_PUSH(l->e.a, users, u);
  if (!h->make_local(l, l->e.m, o, &out)) return false;
  if (out && out != v) take_over(users, v, out);
  return true;
}

value *part_shard_begin(struct local *l, op *o, const value *v, u32 d) {
  const sharding *s = local_sharding(l, v);
  cursor at = cursor_before(&l->e, o);
  if (local_parts(l, v, d) == 1) return NULL;
  return local_offset(l, &at, s->mesh, s->dims[d].axes, l->to[v->num]->dims.data[d]);
}

const type *part_whole_type(const struct local *l, const value *v) {
  return v->num < l->num_values ? l->from[v->num] : v->type;
}
