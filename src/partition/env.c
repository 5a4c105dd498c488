/* Shardings of values, read and set as all passes of this module see them, and ops made at a place.
 */
#include "partition/env.h"

#include "partition/passes.h"
#include "shard/flow.h"

part_env part_env_make(ir_module *m, arena *scratch) {
  return (part_env){m, m->ctx, scratch, shard_space_create(m, scratch),
                    attr_string(m->ctx, SDY_SHARDING)};
}

/* Meshes that shardings spell out have names by now (sdy-lift-inlined-meshes). A module from JAX
 * on one device has an empty mesh, or none. */
bool part_has_mesh(const part_env *e) {
  for (op *o = op_body(e->m->root, 0)->first; o; o = o->next) {
    struct sdy_mesh_attrs v;
    if (op_is(o, sdy_mesh) && view_sdy_mesh(o, &v) && v.mesh->axes.len) return true;
  }
  return false;
}

static bool in_order(i64s ids) {
  for (size_t i = 0; i < ids.len; i++)
    if (ids.data[i] != (i64)i) return false;
  return true;
}

const mesh *part_name_mesh(const part_env *e, symbols *s, const mesh *like, str name) {
  block *body = op_body(e->m->root, 0);
  mesh plain = *like; /* the order of numbers is never spelled out */
  const mesh *m = &plain;
  if (m->num_axes && in_order(m->device_ids)) plain.device_ids = (i64s){0};
  FOR_OPS(o, body) {
    const mesh *known = op_is(o, sdy_mesh) ? shard_mesh_named(e->space, symbol_name(o)) : NULL;
    if (known && mesh_same(known, m, false)) return known;
  }
  const attr **list = ARENA_ARRAY(e->a, const attr *, m->num_axes);
  for (u32 i = 0; i < m->num_axes; i++)
    list[i] = attr_make(e->c, mesh_axis, .name = m->axes[i].name, .size = m->axes[i].size);
  op *o = op_create(e->m, &op_infos[OP_sdy_mesh], e->m->root->loc, NULL, 0, NULL, 0, 0);
  op_set(o, sdy_mesh, sym_name, attr_string(e->c, name));
  op_set(o, sdy_mesh, mesh,
         attr_make(e->c, mesh, .axes = {list, m->num_axes}, .device_ids = m->device_ids));
  symbols_insert(s, o, body->first);
  return shard_mesh_named(e->space, symbol_name(o));
}

/* ---- shardings of values ---- */

static bool is_manual(attrs manual, str name) {
  for (size_t i = 0; i < manual.len; i++) {
    str s;
    if (attr_get_str(manual.data[i], &s) && str_eq(s, name)) return true;
  }
  return false;
}

static axis_list drop_manual(const part_env *e, const mesh *m, axis_list l, attrs manual) {
  axis_vec v = {0};
  for (size_t i = 0; i < l.len; i++)
    if (!is_manual(manual, m->axes[l.data[i].axis].name)) VEC_PUSH(e->a, v, l.data[i]);
  return axis_vec_list(&v);
}

bool part_axes_are_free(const op *o) {
  while (o && !op_is(o, manual_computation)) o = op_parent(o);
  return !o;
}

/* Inside of a manual computation values are local along its manual axes (Shardy,
 * manual_computation). */
const sharding *part_inside_manual(const part_env *e, const op *manual, const sharding *s) {
  struct manual_computation_attrs v;
  if (!s || !view_manual_computation(manual, &v)) return s;
  attrs axes = v.manual_axes->axes;
  dim_sharding *dims = ARENA_ARRAY(e->a, dim_sharding, s->rank);
  for (u32 d = 0; d < s->rank; d++) {
    dims[d] = s->dims[d];
    dims[d].axes = drop_manual(e, s->mesh, s->dims[d].axes, axes);
  }
  sharding in = *s;
  in.dims = dims;
  in.replicated = drop_manual(e, s->mesh, s->replicated, axes);
  in.unreduced = drop_manual(e, s->mesh, s->unreduced, axes);
  return shard_intern(e->space, &in);
}

static const attr *entry(const attr *per_value, u32 i) {
  const sharding_per_value_attr *list = attr_as(sharding_per_value, per_value);
  return list && i < list->shardings.len ? list->shardings.data[i] : NULL;
}

op *part_private_op(const value *v, const block *b) {
  op *def = value_op(v);
  return def && def->parent == b && value_has_one_use(v) ? def : NULL;
}

const sharding *part_sharding(const part_env *e, const value *v) {
  const op *o = value_op(v);
  if (!o || op_kind(o) >= OP_COUNT) return shard_read(e->space, value_sharding(e->c, (value *)v));
  const op_info *info = o->info;
  for (u32 k = 0; k < info->num_slots; k++) { /* reshards and collectives say it in a slot */
    if (info->slots[k].attr_id == ATTR_tensor_sharding) return shard_read(e->space, o->slots[k]);
    if (info->slots[k].attr_id == ATTR_sharding_per_value &&
        str_is(str_of(info->slots[k].name), "out_shardings"))
      return shard_read(e->space, entry(o->slots[k], v->index));
  }
  for (u32 k = 0; k < o->num_attrs; k++)
    if (o->attrs[k].name == e->sharding_name)
      return shard_read(e->space, entry(o->attrs[k].value, v->index));
  return NULL;
}

bool part_owns_edge(op *o, value *v) {
  const flow *f = op_flow(o);
  return f && type_is_ranked(v->type) && f->owner_of_target(o, v) == v;
}

const sharding *part_at_sources(const part_env *e, op *o, value *owner) {
  const attr *manual = op_is(o, manual_computation) ? op_attr(o, SLOT_NAME(manual_axes)) : NULL;
  if (manual && owner->is_arg)
    return shard_read(e->space, entry(op_attr(o, SLOT_NAME(in_shardings)), owner->index));
  const flow *f = op_flow(o);
  const attr *a = owner_sharding(e->c, owner);
  if (manual && a) a = manual_inner_sharding(e->c, a, manual);
  if (a && f->transform) a = f->transform(e->c, o, owner, a, true);
  return shard_read(e->space, a);
}

const attr *part_attr(const part_env *e, const sharding *s) {
  return s ? shard_write(e->space, shard_intern(e->space, s)) : NULL;
}

/* `sdy.sharding` has an entry a result or none at all, so that the others need one too. */
void part_set_sharding(const part_env *e, op *o, u32 i, const sharding *s) {
  if (op_kind(o) >= OP_COUNT && (op_flow(o) || op_says_elsewhere(o))) {
    value_set_sharding(e->m, op_result(o, i), part_attr(e, s));
    return;
  }
  const attr **list = ARENA_ARRAY(e->a, const attr *, o->num_results);
  for (u32 k = 0; k < o->num_results; k++) {
    const sharding *old = k == i ? s : part_sharding(e, op_result(o, k));
    if (!old) {
      u32 rank = (u32)type_rank(op_result(o, k)->type);
      old = sharding_make_replicated(e->a, s->mesh, rank, true);
    }
    list[k] = part_attr(e, old);
  }
  op_set_shardings(e->m, o, list, o->num_results);
}

axis_list part_read_axes(const part_env *e, const mesh *m, attrs axis_refs) {
  axis_vec v = {0};
  for (size_t i = 0; i < axis_refs.len; i++) {
    const axis_ref_attr *r = attr_as(axis_ref, axis_refs.data[i]);
    int k = r ? mesh_axis_find(m, r->name) : -1;
    if (k < 0) continue;
    axis_ref whole = axis_whole(m, (u32)k);
    VEC_PUSH(e->a, v, r->size ? (axis_ref){whole.axis, r->pre_size, r->size} : whole);
  }
  return axis_vec_list(&v);
}

attrs part_axes_attrs(const part_env *e, const mesh *m, axis_list l) {
  return shard_write_axes(e->c, e->a, m, l);
}

const attr *part_lists_attr(const part_env *e, const mesh *m, const axis_list *dims, u32 rank) {
  const attr **l = ARENA_ARRAY(e->a, const attr *, rank);
  for (u32 d = 0; d < rank; d++)
    l[d] = attr_make(e->c, axis_ref_list, .axes = part_axes_attrs(e, m, dims[d]));
  return attr_make(e->c, axis_ref_lists, .lists = {l, rank});
}

static walk_result above_channel(void *user, op *o) {
  i64 *next = user;
  for (u32 i = 0; i < o->info->num_slots; i++) {
    const channel_handle_attr *h = attr_as(channel_handle, o->slots[i]);
    if (h && h->handle >= *next && h->handle < INT64_MAX) *next = h->handle + 1;
  }
  return WALK_ON;
}

i64 part_next_channel(ir_module *m) {
  i64 next = 1;
  op_walk(m->root, above_channel, &next);
  return next;
}

void part_replace(value *from, value *to) {
  to->num = from->num;
  value_replace(from, to);
}

/* ---- making ops ---- */

/* New values have no number: tables by number (local.h) do not know them. */
op *emit_op(cursor *at, op_id id, value *const *operands, size_t n, const type *const *types,
            size_t num_results, size_t num_regions) {
  op *o =
      op_create(at->env->m, &op_infos[id], at->loc, operands, n, types, num_results, num_regions);
  for (size_t i = 0; i < num_results; i++) op_result(o, i)->num = UINT32_MAX;
  op_insert(o, at->b, at->before);
  return o;
}

value *emit(cursor *at, op_id id, value *const *operands, size_t n, const type *t) {
  return op_result(emit_op(at, id, operands, n, &t, 1, 0), 0);
}

value *emit_sharded(const part_env *e, value *v, const sharding *s) {
  if (s) part_set_sharding(e, v->def.op, 0, s);
  return v;
}

value *emit_int(cursor *at, i64 v) {
  ir_ctx *c = at->env->c;
  const type *t = type_tensor(c, (i64s){0}, type_i64(c), NULL);
  value *r = emit(at, OP_constant, NULL, 0, t);
  op_set(r->def.op, constant, value,
         attr_dense(c, t, (str){(const char *)&v, sizeof v}, false, false));
  return r;
}

value *emit_splat(cursor *at, const type *t, const char *element) {
  value *v = emit(at, OP_constant, NULL, 0, t);
  str bytes = {element, type_storage(type_element(t))};
  op_set(v->def.op, constant, value, attr_dense(at->env->c, t, bytes, true, false));
  return v;
}

value *emit_zeros(cursor *at, const type *t) { return emit_splat(at, t, (char[32]){0}); }

static bool has_negative_zero(const type *t) {
  static const bool unsigned_zero[FLOAT_COUNT] = {
      [FLOAT_f8E4M3FNUZ] = true,
      [FLOAT_f8E5M2FNUZ] = true,
      [FLOAT_f8E4M3B11FNUZ] = true,
      [FLOAT_f8E8M0FNU] = true,
  };
  return t->kind == TYPE_FLOAT && !unsigned_zero[t->flt];
}

bool part_has_no_addend(const type *t) {
  return t->kind != TYPE_FLOAT || t->flt != FLOAT_f8E8M0FNU;
}

value *emit_no_addend(cursor *at, const type *t) {
  char element[32] = {0};
  const type *e = type_element(t), *part = e->kind == TYPE_COMPLEX ? e->elem : e;
  size_t n = type_storage(part), all = type_storage(e);
  if (has_negative_zero(part)) /* little-endian: the sign is at the end of each part */
    for (size_t end = n; end <= all; end += n)
      element[end - 1] = (char)(1 << (part->width - 1) % 8);
  return emit_splat(at, t, element);
}

value *emit_binary(cursor *at, op_id id, value *x, value *y) {
  return emit(at, id, (value *[]){x, y}, 2, x->type);
}

value *emit_compare(cursor *at, value *x, value *y, i64 direction) {
  ir_ctx *c = at->env->c;
  const type *t = type_tensor(c, x->type->dims, type_i1(c), NULL);
  value *v = emit(at, OP_compare, (value *[]){x, y}, 2, t);
  op_set(v->def.op, compare, comparison_direction,
         attr_enum(c, ATTR_comparison_direction, direction));
  return v;
}

value *emit_device_id(cursor *at, op_id id) {
  ir_ctx *c = at->env->c;
  value *v = emit(at, id, NULL, 0, type_tensor(c, (i64s){0}, type_int(c, 32, UNSIGNED), NULL));
  return emit(at, OP_convert, &v, 1, type_tensor(c, (i64s){0}, type_i64(c), NULL));
}

value *emit_dynamic_slice(cursor *at, value *v, value *const *starts, i64s sizes) {
  const part_env *e = at->env;
  value **in = ARENA_ARRAY(e->a, value *, 1 + sizes.len);
  in[0] = v;
  if (sizes.len) memcpy(in + 1, starts, sizes.len * sizeof(*in));
  value *r = emit(at, OP_dynamic_slice, in, 1 + sizes.len, type_with_dims(e->c, v->type, sizes));
  op_set(r->def.op, dynamic_slice, slice_sizes, attr_i64_array(e->c, sizes));
  return r;
}

value *emit_broadcast(cursor *at, value *scalar, i64s dims) {
  ir_ctx *c = at->env->c;
  value *v = emit(at, OP_broadcast_in_dim, &scalar, 1, type_with_dims(c, scalar->type, dims));
  op_set(v->def.op, broadcast_in_dim, broadcast_dimensions, attr_i64_array(c, (i64s){0}));
  return v;
}

value *emit_reshape(cursor *at, value *v, i64s dims) {
  return emit(at, OP_reshape, &v, 1, type_with_dims(at->env->c, v->type, dims));
}

value *emit_concatenate(cursor *at, value *const *parts, size_t n, u32 dim) {
  const part_env *e = at->env;
  i64s dims = parts[0]->type->dims;
  i64 *sizes = arena_copy(e->a, dims.data, dims.len * sizeof(*sizes));
  for (size_t i = 1; i < n; i++) sizes[dim] += parts[i]->type->dims.data[dim];
  const type *t = type_with_dims(e->c, parts[0]->type, (i64s){sizes, dims.len});
  value *r = emit(at, OP_concatenate, parts, n, t);
  op_set(r->def.op, concatenate, dimension, attr_i64(e->c, dim));
  return r;
}

value *emit_pad(cursor *at, value *v, value *fill, const i64 *low, const i64 *high,
                const i64 *inside) {
  const part_env *e = at->env;
  i64s dims = v->type->dims;
  i64 *sizes = ARENA_ARRAY(e->a, i64, dims.len);
  if (!inside) inside = arena_zalloc(e->a, (dims.len + 1) * sizeof(i64));
  for (size_t d = 0; d < dims.len; d++)
    sizes[d] = dims.data[d] + max_i64(0, dims.data[d] - 1) * inside[d] + low[d] + high[d];
  const type *t = type_with_dims(e->c, v->type, (i64s){sizes, dims.len});
  value *r = emit(at, OP_pad, (value *[]){v, fill}, 2, t);
  op_set(r->def.op, pad, edge_padding_low, attr_i64_array(e->c, (i64s){low, dims.len}));
  op_set(r->def.op, pad, edge_padding_high, attr_i64_array(e->c, (i64s){high, dims.len}));
  op_set(r->def.op, pad, interior_padding, attr_i64_array(e->c, (i64s){inside, dims.len}));
  return r;
}

value *emit_slice(cursor *at, value *v, const i64 *begin, const i64 *end) {
  const part_env *e = at->env;
  size_t rank = v->type->dims.len;
  i64 *sizes = ARENA_ARRAY(e->a, i64, rank), *ones = ARENA_ARRAY(e->a, i64, rank);
  for (size_t d = 0; d < rank; d++) {
    sizes[d] = end[d] - begin[d];
    ones[d] = 1;
  }
  value *r = emit(at, OP_slice, &v, 1, type_with_dims(e->c, v->type, (i64s){sizes, rank}));
  op_set(r->def.op, slice, start_indices, attr_i64_array(e->c, (i64s){begin, rank}));
  op_set(r->def.op, slice, limit_indices, attr_i64_array(e->c, (i64s){end, rank}));
  op_set(r->def.op, slice, strides, attr_i64_array(e->c, (i64s){ones, rank}));
  return r;
}

value *emit_reshard(cursor *at, value *v, const sharding *to) {
  value *r = emit(at, OP_reshard, &v, 1, v->type);
  op_set(r->def.op, reshard, sharding, part_attr(at->env, to));
  return r;
}

value *emit_as(cursor *at, value *v, const sharding *s) {
  const part_env *e = at->env;
  v = emit(at, OP_propagation_barrier, &v, 1, v->type);
  op_set(v->def.op, propagation_barrier, allowed_direction,
         attr_enum(e->c, ATTR_propagation_direction, 0));
  part_set_sharding(e, v->def.op, 0, s);
  return v;
}

value *emit_resized(cursor *at, value *v, i64s dims) {
  const part_env *e = at->env;
  i64s from = v->type->dims;
  i64 *none = arena_zalloc(e->a, (dims.len + 1) * sizeof(*none));
  i64 *more = ARENA_ARRAY(e->a, i64, dims.len);
  bool grows = false;
  for (size_t d = 0; d < dims.len; d++) {
    more[d] = dims.data[d] - from.data[d];
    grows |= more[d] > 0;
  }
  if (i64s_eq(from, dims)) return v;
  if (!grows) return emit_slice(at, v, none, dims.data);
  value *zero = emit_zeros(at, type_tensor(e->c, (i64s){0}, v->type->elem, NULL));
  return emit_pad(at, v, zero, none, more, NULL);
}

value *emit_on_mesh(cursor *at, value *v, const mesh *m) {
  const part_env *e = at->env;
  const sharding *now = part_sharding(e, v);
  if (!now || mesh_same(now->mesh, m, false)) return v;
  return emit_as(at, v, sharding_make_replicated(e->a, m, now->rank, true));
}

bool part_device_id(ir_module *m, const pass_args *args, op_id *out) {
  bool replicas = pass_option_int(args, STR("replica-count"), 1) > 1;
  if (replicas && pass_option_int(args, STR("partition-count"), 1) > 1)
    return op_unimplemented(m->ctx, m->root, "replicas of partitions");
  *out = replicas ? OP_replica_id : OP_partition_id;
  return true;
}

op_id reducer_of(unreduced_kind kind) {
  static const op_id of[] = {OP_add, OP_maximum, OP_minimum, OP_multiply, OP_and, OP_or};
  return of[kind];
}

void emit_reducer(cursor *at, op *o, op_id id, const type *element) {
  ir_module *m = at->env->m;
  const type *scalar = type_tensor(at->env->c, (i64s){0}, element, NULL);
  block *b = block_create(m);
  value *args[2];
  for (int i = 0; i < 2; i++) (args[i] = block_add_arg(m, b, scalar))->num = UINT32_MAX;
  region_append(&o->regions[0], b);
  cursor in = {at->env, b, NULL, at->loc};
  value *r = emit(&in, id, args, 2, scalar);
  emit_op(&in, OP_return, &r, 1, NULL, 0, 0);
}
