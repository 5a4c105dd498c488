/* Ops that must know which part of the whole they are: constants, iota, dynamic slices. */
#include "partition/local.h"

/* ---- the partition's place in the mesh ---- */

static cursor prologue_cursor(local *l) {
  return (cursor){&l->e, l->prologue, NULL, loc_unknown(l->e.c)};
}

value *local_look_up(local *l, cursor *at, value *device, const mesh *m, const type *element,
                     local_entry *entry, const void *user) {
  ir_ctx *c = l->e.c;
  if (!device) device = emit_device_id(at, l->o.device_id);
  i64 n = m->size, *table;
  for (size_t i = 0; i < m->device_ids.len; i++) n = max_i64(n, m->device_ids.data[i] + 1);
  table = arena_zalloc(l->e.a, (size_t)n * sizeof(*table));
  for (i64 i = 0; i < m->size; i++) table[mesh_device_at(m, i)] = entry(user, i);
  i64s dims = {&n, 1}, one = {(i64[]){1}, 1};
  value *all = emit(at, OP_constant, NULL, 0, type_tensor(c, dims, element, NULL));
  const attr *a = attr_dense_i64(c, dims, table);
  if (element->width == 1) {
    char *bits = ARENA_ARRAY(l->e.a, char, n);
    for (i64 i = 0; i < n; i++) bits[i] = table[i] != 0;
    a = attr_dense(c, all->type, (str){bits, (size_t)n}, false, false);
  }
  op_set(all->def.op, constant, value, a);
  return emit_dynamic_slice(at, all, &device, one);
}

static i64 entry_position(const void *user, i64 position) { return (void)user, position; }

/* tensor<i64>: the partition's position in the mesh: its id, unless the mesh has a device order of
 * its own. */
static value *position(local *l, const mesh *m) {
  for (size_t i = 0; i < l->positions.len; i++)
    if (mesh_same(l->positions.data[i].mesh, m, false)) return l->positions.data[i].v;
  cursor at = prologue_cursor(l);
  value *v;
  if (m->device_ids.len)
    v = emit_reshape(&at, local_look_up(l, &at, NULL, m, type_i64(l->e.c), entry_position, NULL),
                     (i64s){0});
  else
    v = emit_device_id(&at, l->o.device_id);
  VEC_PUSH(l->e.a, l->positions, ((local_index){.mesh = m, .v = v}));
  return v;
}

value *local_index_of(local *l, const mesh *m, axis_list axes) {
  for (size_t i = 0; i < l->indices.len; i++) {
    local_index *x = &l->indices.data[i];
    if (mesh_same(x->mesh, m, false) && axes_eq(x->axes, axes)) return x->v;
  }
  cursor at = prologue_cursor(l);
  value *v = NULL;
  for (size_t i = 0; i < axes.len;) {
    i64 size = axes.data[i].size, stride = mesh_stride(m, axes.data[i]);
    for (i++; i < axes.len && stride == mesh_stride(m, axes.data[i]) * axes.data[i].size; i++) {
      size *= axes.data[i].size; /* neighbours in the mesh's order are one number */
      stride = mesh_stride(m, axes.data[i]);
    }
    value *part = position(l, m);
    if (stride > 1) part = emit_binary(&at, OP_divide, part, emit_int(&at, stride));
    if (stride * size < m->size) part = emit_binary(&at, OP_remainder, part, emit_int(&at, size));
    if (v)
      part = emit_binary(&at, OP_add, emit_binary(&at, OP_multiply, v, emit_int(&at, size)), part);
    v = part;
  }
  if (!v) v = emit_int(&at, 0);
  VEC_PUSH(l->e.a, l->indices, ((local_index){m, axes, v}));
  return v;
}

typedef struct offset_of {
  const mesh *m;
  axis_list axes;
  i64 size;
} offset_of;

static i64 offset_at(const void *user, i64 position) {
  const offset_of *o = user;
  return axes_index_at(o->m, o->axes, position) * o->size;
}

value *local_offset(local *l, cursor *at, const mesh *m, axis_list axes, i64 size) {
  if (!axes.len) return NULL;
  if (!l->o.share_offsets) {
    const offset_of o = {m, axes, size};
    value *v = local_look_up(l, at, NULL, m, type_i64(l->e.c), offset_at, &o);
    return emit_reshape(at, v, (i64s){0});
  }
  if (axes_size(axes) == 1) return NULL;
  value *index = local_index_of(l, m, axes);
  return size == 1 ? index : emit_binary(at, OP_multiply, index, emit_int(at, size));
}

/* v, a slice that began too early where it would not have ended in time, and zeros behind it: from
 * where it should have begun. Along other dimensions there is but one place to begin. */
static value *moved_on(cursor *at, value *v, value *const *starts, i64s whole, const bool *uneven) {
  const part_env *e = at->env;
  i64s sizes = v->type->dims;
  value **by = ARENA_ARRAY(e->a, value *, sizes.len);
  i64 *dims = arena_copy(e->a, sizes.data, sizes.len * sizeof(*dims));
  for (size_t d = 0; d < sizes.len; d++) {
    by[d] = starts[d];
    if (!uneven[d]) continue;
    value *last = emit_int(at, whole.data[d] - sizes.data[d]);
    by[d] = emit_binary(at, OP_subtract, by[d], emit_binary(at, OP_minimum, by[d], last));
    dims[d] *= 2;
  }
  return emit_dynamic_slice(at, emit_resized(at, v, (i64s){dims, sizes.len}), by, sizes);
}

value *local_slice(local *l, cursor *at, value *v, const mesh *m, const axis_list *axes,
                   i64s sizes) {
  value **starts = ARENA_ARRAY(l->e.a, value *, sizes.len), *zero = NULL;
  bool any = false, pads = false, *uneven = ARENA_ARRAY(l->e.a, bool, sizes.len);
  i64s whole = v->type->dims;
  for (size_t d = 0; d < sizes.len; d++) {
    starts[d] = local_offset(l, at, m, axes[d], sizes.data[d]);
    uneven[d] = sizes.data[d] * axes_size(axes[d]) > whole.data[d];
    any |= starts[d] != NULL;
    pads |= uneven[d];
    if (!starts[d] && (!zero || !l->o.share_offsets)) zero = emit_int(at, 0);
    if (!starts[d]) starts[d] = zero;
  }
  if (any) v = emit_dynamic_slice(at, v, starts, sizes);
  return pads ? moved_on(at, v, starts, whole, uneven) : v;
}

/* ---- ops ---- */

bool local_types(local *l, op *o) {
  for (u32 i = 0; i < o->num_results; i++) {
    value *v = op_result(o, i);
    if (v->num < l->num_values) v->type = l->to[v->num];
  }
  return true;
}

static value *shard_of(local *l, cursor *at, value *v) {
  const sharding *s = local_sharding(l, v);
  axis_list *axes = ARENA_ARRAY(l->e.a, axis_list, s->rank);
  for (u32 k = 0; k < s->rank; k++) axes[k] = s->dims[k].axes;
  return local_slice(l, at, v, s->mesh, axes, l->to[v->num]->dims);
}

void local_use_shard(local *l, op *o, u32 i) {
  value *v = op_result(o, i);
  cursor at = cursor_after(&l->e, o);
  value *r = shard_of(l, &at, v);
  const op *taker = r->def.op; /* of the whole; others may have worked on what it took */
  while (op_operand(taker, 0) != v) taker = value_op(op_operand(taker, 0));
  r->num = v->num;
  value_replace_except(v, r, taker);
}

bool local_is_sharded(const local *l, const value *v) {
  return v->num < l->num_values && l->to[v->num] != l->from[v->num];
}

/* A splat is a smaller splat; of other constants each device takes its part. */
bool local_constant(local *l, op *o) {
  value *v = op_result(o, 0);
  const attr *all = op_attr(o, SLOT_NAME(value));
  const dense_attr *d = attr_as(dense, all);
  const type *to = l->to[v->num];
  cursor at = cursor_before(&l->e, o);
  value *r;
  if (local_is_sharded(l, v) && d && d->splat) {
    r = emit(&at, OP_constant, NULL, 0, to);
    op_set(r->def.op, constant, value, attr_dense(l->e.c, to, d->data, true, true));
  } else if (local_is_sharded(l, v)) {
    r = emit(&at, OP_constant, NULL, 0, v->type);
    op_set(r->def.op, constant, value, all);
    r->num = v->num;
    r = shard_of(l, &at, r);
  } else if (op_is(o, sdy_constant)) {
    r = emit(&at, OP_constant, NULL, 0, v->type);
    op_set(r->def.op, constant, value, all);
  } else {
    return true;
  }
  part_replace(v, r);
  op_erase(o);
  return true;
}

/* The local iota plus where the part begins, in integers that hold it exactly. */
bool local_iota(local *l, op *o) {
  struct iota_attrs a;
  value *v = op_result(o, 0);
  const type *to = l->to[v->num];
  if (!view_iota(o, &a) || local_parts(l, v, (u32)a.iota_dimension) == 1) return local_types(l, o);
  ir_ctx *c = l->e.c;
  const sharding *s = local_sharding(l, v);
  i64 size = to->dims.data[a.iota_dimension];
  const type *elem = to->elem, *in = elem;
  if (elem->kind != TYPE_INT)
    in = v->type->dims.data[a.iota_dimension] <= INT32_MAX ? type_i32(c) : type_i64(c);
  cursor at = cursor_before(&l->e, o);
  const type *wide = type_tensor(c, to->dims, in, NULL);
  value *iota = emit(&at, OP_iota, NULL, 0, wide);
  op_set(iota->def.op, iota, iota_dimension, attr_i64(c, a.iota_dimension));
  value *begin = local_offset(l, &at, s->mesh, s->dims[a.iota_dimension].axes, size);
  begin = emit(&at, OP_convert, &begin, 1, type_tensor(c, (i64s){0}, in, NULL));
  value *r = emit_binary(&at, OP_add, iota, emit_broadcast(&at, begin, to->dims));
  if (in != elem) r = emit(&at, OP_convert, &r, 1, to);
  part_replace(v, r);
  op_erase(o);
  return true;
}

i64s local_sizes(const local *l, const value *operand, i64s sizes) {
  i64 *out = arena_copy(l->e.a, sizes.data, sizes.len * sizeof(*out));
  for (size_t d = 0; d < sizes.len; d++)
    if (local_parts(l, operand, (u32)d) > 1) out[d] = operand->type->dims.data[d];
  return (i64s){out, sizes.len};
}

bool local_part(local *l, op *o) {
  bool cut = false;
  for (u32 i = 0; i < o->num_results; i++) cut |= local_is_sharded(l, op_result(o, i));
  if (!cut) return true;
  if (o->num_operands || o->num_regions || o->num_results != 1)
    return op_unimplemented(l->e.c, o,
                            "makes a part of itself in no known way: its dialect has no "
                            "make_local");
  local_use_shard(l, o, 0);
  return true;
}
