/* Manual computations that exchange shards with neighbours, by collective permutes of whole ones.
 * The order of ops is Shardy's. */
#include "partition/export/resolve.h"

/* ---- in front and behind ---- */

value *emit_padded(cursor *at, value *v, i64s shape, const sharding *s, value *fill) {
  const part_env *e = at->env;
  if (i64s_eq(v->type->dims, shape)) return v;
  i64 *high = ARENA_ARRAY(e->a, i64, shape.len);
  for (size_t d = 0; d < shape.len; d++) high[d] = shape.data[d] - v->type->dims.data[d];
  if (!fill) fill = emit_zeros(at, type_tensor(e->c, (i64s){0}, v->type->elem, NULL));
  const i64 *low = arena_zalloc(e->a, (shape.len + 1) * sizeof(i64));
  return emit_sharded(e, emit_pad(at, v, fill, low, high, NULL), s);
}

value *emit_cut(cursor *at, value *v, i64s shape, const sharding *s) {
  const part_env *e = at->env;
  if (i64s_eq(v->type->dims, shape)) return v;
  const i64 *begin = arena_zalloc(e->a, (shape.len + 1) * sizeof(i64));
  return emit_sharded(e, emit_slice(at, v, begin, shape.data), s);
}

/* ---- manual computations ---- */

static const attr *list_of(const part_env *e, const sharding *const *s, size_t n) {
  const attr **list = ARENA_ARRAY(e->a, const attr *, n);
  for (size_t i = 0; i < n; i++) list[i] = part_attr(e, s[i]);
  return attr_make(e->c, sharding_per_value, .shardings = {list, n});
}

/* A computation over the manual axes that takes v and, unless it is NULL, a scalar; *in is set to
 * its body, whose first argument is the shard. */
static op *begin_manual(cursor *at, const exchange *x, value *v, value *fill, cursor *in) {
  const part_env *e = at->env;
  value *operands[] = {v, fill};
  size_t n = fill ? 2 : 1;
  const type *result = type_with_dims(e->c, v->type, x->result);
  op *o = emit_op(at, OP_manual_computation, operands, n, &result, 1, 1);
  const sharding *from[] = {x->from, sharding_make_replicated(e->a, x->from->mesh, 0, false)};
  op_set(o, manual_computation, in_shardings, list_of(e, from, n));
  op_set(o, manual_computation, out_shardings, list_of(e, &x->to, 1));
  VEC(const attr *) axes = {0};
  for (u32 i = 0; i < x->from->mesh->num_axes; i++)
    if (x->manual[i]) VEC_PUSH(e->a, axes, attr_string(e->c, x->from->mesh->axes[i].name));
  op_set(o, manual_computation, manual_axes,
         attr_make(e->c, manual_axes, .axes = {axes.data, axes.len}));
  i64 *local = arena_copy(e->a, x->shape.data, x->shape.len * sizeof(*local));
  for (u32 d = 0; d < x->from->rank; d++) local[d] /= exchange_parts(x, x->from, d);
  block *b = block_create(e->m);
  block_add_arg(e->m, b, type_with_dims(e->c, v->type, (i64s){local, x->shape.len}));
  if (fill) block_add_arg(e->m, b, fill->type);
  for (u32 i = 0; i < b->num_args; i++) b->args[i]->num = UINT32_MAX;
  region_append(&o->regions[0], b);
  *in = (cursor){e, b, NULL, at->loc};
  return o;
}

static value *end_manual(op *o, cursor *in, value *v) {
  emit_op(in, OP_sdy_return, &v, 1, NULL, 0, 0);
  return op_result(o, 0);
}

/* ---- sending ---- */

/* Shard k of each group goes to shard k + by. NULL: nobody gets any. */
static value *emit_sent(resolver *r, cursor *at, value *v, const mesh *m, axis_list axes, i64 by) {
  const part_env *e = &r->e;
  i64 *pairs = ARENA_ARRAY(e->a, i64, 2 * (size_t)m->size), n = 0, count = axes_size(axes);
  for (i64 p = 0; p < m->size; p++) {
    i64 k = axes_index_at(m, axes, p) + by;
    if (k < 0 || k >= count) continue;
    pairs[2 * n] = mesh_device_at(m, p);
    pairs[2 * n++ + 1] = mesh_device_at(m, axes_position_at(m, axes, p, k));
  }
  if (!n) return NULL;
  value *s = emit(at, OP_collective_permute, &v, 1, v->type);
  op_set(s->def.op, collective_permute, source_target_pairs,
         attr_dense_i64(e->c, (i64s){(i64[]){n, 2}, 2}, pairs));
  op_set(s->def.op, collective_permute, channel_handle,
         attr_make(e->c, channel_handle, .handle = r->next_channel++, .type = 1));
  return s;
}

/* ---- which shard this is ---- */

static value *emit_entry(cursor *at, const i64 *table, i64 n, value *index) {
  ir_ctx *c = at->env->c;
  i64s dims = {&n, 1}, one = {(i64[]){1}, 1};
  value *all = emit(at, OP_constant, NULL, 0, type_tensor(c, dims, type_i64(c), NULL));
  op_set(all->def.op, constant, value, attr_dense_i64(c, dims, table));
  return emit_reshape(at, emit_dynamic_slice(at, all, &index, one), (i64s){0});
}

/* The number of this device's shard along the axes. */
static value *emit_shard(resolver *r, cursor *at, const mesh *m, axis_list axes) {
  value *id = emit_device_id(at, r->device_id), *index = NULL;
  if (m->device_ids.len) {
    i64 *table = arena_zalloc(r->e.a, (size_t)m->size * sizeof(*table));
    for (i64 p = 0; p < m->size; p++) table[mesh_device_at(m, p)] = axes_index_at(m, axes, p);
    return emit_entry(at, table, m->size, id);
  }
  for (size_t i = 0; i < axes.len; i++) {
    i64 stride = mesh_stride(m, axes.data[i]), size = axes.data[i].size;
    value *v = id;
    if (stride > 1) v = emit_binary(at, OP_divide, v, emit_int(at, stride));
    if (size < m->size) v = emit_binary(at, OP_remainder, v, emit_int(at, size));
    if (index)
      v = emit_binary(at, OP_add, emit_binary(at, OP_multiply, index, emit_int(at, size)), v);
    index = v;
  }
  return index ? index : emit_int(at, 0);
}

/* Where this device's part of the buffer begins; *zero is for the other dimensions. */
static value *emit_begin(resolver *r, cursor *at, const mesh *m, const dim_exchange *d,
                         value **zero) {
  value *shard = emit_shard(r, at, m, d->axes);
  if (d->begins) {
    value *begin = emit_entry(at, d->begins, d->count, shard);
    *zero = emit_int(at, 0);
    return begin;
  }
  i64 dilated = d->in * d->dilation;
  value *step = emit_int(at, d->out - dilated);
  value *first = emit_int(at, d->left * dilated + d->out * d->dilation - d->low);
  value *begin = emit_binary(at, OP_add, emit_binary(at, OP_multiply, shard, step), first);
  *zero = emit_int(at, 0);
  return emit_binary(at, OP_maximum, begin, *zero);
}

/* ---- one dimension ---- */

static value *emit_buffer(resolver *r, cursor *at, const exchange *x, const dim_exchange *d,
                          value *v, value *fill, const sharding *inside) {
  const part_env *e = &r->e;
  VEC(value *) parts = {0};
  for (i64 by = d->left; by >= -d->right; by--) {
    value *part = by ? emit_sent(r, at, v, x->from->mesh, d->axes, by) : v;
    VEC_PUSH(e->a, parts, part);
  }
  v = emit_sharded(e, emit_concatenate(at, parts.data, parts.len, d->dim), inside);
  size_t rank = v->type->dims.len;
  i64 *edge = arena_zalloc(e->a, rank * sizeof(*edge));
  i64 *between = arena_zalloc(e->a, rank * sizeof(*between));
  edge[d->dim] = d->out * d->dilation;
  between[d->dim] = d->dilation - 1;
  return emit_sharded(e, emit_pad(at, v, fill, edge, edge, between), inside);
}

static value *emit_dim(resolver *r, cursor *at, const exchange *x, const dim_exchange *d, value *v,
                       value *fill, const sharding *inside) {
  const part_env *e = &r->e;
  v = emit_buffer(r, at, x, d, v, fill, inside);
  size_t rank = v->type->dims.len;
  value *zero, *begin = emit_begin(r, at, x->from->mesh, d, &zero);
  value **begins = ARENA_ARRAY(e->a, value *, rank);
  i64 *sizes = arena_copy(e->a, v->type->dims.data, rank * sizeof(*sizes));
  for (size_t i = 0; i < rank; i++) begins[i] = i == d->dim ? begin : zero;
  sizes[d->dim] = d->out;
  return emit_sharded(e, emit_dynamic_slice(at, v, begins, (i64s){sizes, rank}), inside);
}

value *emit_exchange(resolver *r, cursor *at, const exchange *x, value *v, value *fill,
                     exchange_after *after, const void *user) {
  cursor in;
  op *o = begin_manual(at, x, v, fill, &in);
  const sharding *inside = exchange_inside(r->e.a, x, x->from);
  value **args = op_body(o, 0)->args;
  v = args[0];
  for (size_t i = 0; i < x->dims.len; i++)
    v = emit_dim(r, &in, x, &x->dims.data[i], v, args[1], inside);
  return end_manual(o, &in, after(user, &in, x, v, args[1]));
}

/* ---- shifts ---- */

/* What comes from so many shards before: the shard itself, a neighbour's, zeros. */
static value *emit_before(resolver *r, cursor *at, const exchange *x, value *v, u32 dim, i64 hops,
                          const sharding *inside) {
  if (!hops) return v;
  value *s = emit_sent(r, at, v, x->from->mesh, x->from->dims[dim].axes, hops);
  if (!s) {
    value *zero = emit_zeros(at, type_tensor(r->e.c, (i64s){0}, v->type->elem, NULL));
    s = emit_broadcast(at, zero, v->type->dims);
  }
  return emit_sharded(&r->e, s, inside);
}

static value *emit_part(cursor *at, value *v, u32 dim, i64 begin, i64 end, const sharding *inside) {
  const part_env *e = at->env;
  size_t rank = v->type->dims.len;
  i64 *from = arena_zalloc(e->a, rank * sizeof(*from));
  i64 *to = arena_copy(e->a, v->type->dims.data, rank * sizeof(*to));
  from[dim] = begin;
  to[dim] = end;
  return emit_sharded(e, emit_slice(at, v, from, to), inside);
}

value *emit_shift(resolver *r, cursor *at, const exchange *x, value *v, const i64 *by) {
  cursor in;
  op *o = begin_manual(at, x, v, NULL, &in);
  const sharding *inside = exchange_inside(r->e.a, x, x->from);
  v = op_body(o, 0)->args[0];
  for (u32 d = 0; d < x->from->rank; d++) {
    if (!by[d]) continue;
    i64 size = v->type->dims.data[d], hops = by[d] / size, rest = by[d] % size;
    value *head = emit_before(r, &in, x, v, d, hops, inside);
    value *tail = emit_before(r, &in, x, v, d, hops + 1, inside);
    value *parts[2];
    parts[0] = emit_part(&in, tail, d, size - rest, size, inside);
    parts[1] = emit_part(&in, head, d, 0, size - rest, inside);
    v = emit_sharded(&r->e, emit_concatenate(&in, parts, 2, d), inside);
  }
  return end_manual(o, &in, v);
}
