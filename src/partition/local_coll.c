/* sdy collectives as StableHLO's, with groups of partition indices.
 *
 * Which axes a collective moves is the difference between its operand's sharding and its own,
 * so that sub-axes and merged axes need no thought here. Groups list devices in the order of
 * the axes, first one major, which is the order of the shards along a dimension. */
#include "partition/local.h"

/* What most of them need. */
typedef struct coll {
  local *l;
  op *o;
  cursor at;
  value *in;
  const sharding *from, *to; /* NULL: replicated */
} coll;

static coll coll_of(local *l, op *o) {
  coll c = {l, o, cursor_before(&l->e, o), op_operand(o, 0), NULL, NULL};
  c.from = local_sharding(l, c.in);
  c.to = local_sharding(l, op_result(o, 0));
  return c;
}

/* A value that is there already, such as the operand, keeps its own number, by which its
 * sharding is found. */
static bool finish(coll *c, value *r) {
  value *old = op_result(c->o, 0);
  if (r->num == UINT32_MAX)
    part_replace(old, r);
  else
    value_replace(old, r);
  op_erase(c->o);
  return true;
}

static const mesh *mesh_of(const coll *c) { return c->to ? c->to->mesh : c->from->mesh; }

static axis_list dim_axes(const sharding *s, u32 d) { return s ? s->dims[d].axes : (axis_list){0}; }
/* The axes that dimension d has under x beyond those under y. */
static axis_list beyond(const coll *c, const sharding *x, const sharding *y, u32 d) {
  return axes_difference(c->l->e.a, dim_axes(x, d), dim_axes(y, d));
}

static const attr *groups_attr(coll *c, axis_list axes, bool *ok) {
  replica_groups g;
  *ok = mesh_replica_groups(c->l->e.a, mesh_of(c), axes, &g);
  if (!*ok) return NULL;
  i64s dims = {(i64[]){g.num_groups, g.group_size}, 2};
  return attr_dense_i64(c->l->e.c, dims, g.ids);
}

/* Sets groups and channel. Global ids: where the op has the attribute, so that ids count
 * partitions, as they do without it where the op lacks it. */
static bool set_groups(coll *c, op *o, axis_list axes) {
  bool ok;
  const attr *groups = groups_attr(c, axes, &ok);
  if (!ok) return op_error(c->l->e.c, c->o, "has too many devices");
  op_set_any(o, replica_groups, groups);
  op_set_any(o, channel_handle,
             attr_make(c->l->e.c, channel_handle, .handle = c->l->next_channel++, .type = 1));
  if (op_slot(o->info, SLOT_NAME(use_global_device_ids)) >= 0)
    op_set_any(o, use_global_device_ids, attr_unit(c->l->e.c));
  return true;
}

static const type *with_dim(coll *c, const type *t, u32 d, i64 size) {
  i64 *dims = arena_copy(c->l->e.a, t->dims.data, t->dims.len * sizeof(*dims));
  dims[d] = size;
  return type_with_dims(c->l->e.c, t, (i64s){dims, t->dims.len});
}

/* One collective a dimension: StableHLO's gathers along one. */
bool local_sdy_all_gather(local *l, op *o) {
  coll c = coll_of(l, o);
  value *v = c.in;
  for (u32 d = 0; c.from && d < c.from->rank; d++) {
    axis_list axes = beyond(&c, c.from, c.to, d);
    i64 n = axes_size(axes);
    if (n == 1) continue;
    const type *t = with_dim(&c, v->type, d, v->type->dims.data[d] * n);
    v = emit(&c.at, OP_all_gather, &v, 1, t);
    op_set(v->def.op, all_gather, all_gather_dim, attr_i64(l->e.c, d));
    if (!set_groups(&c, v->def.op, axes)) return false;
  }
  return finish(&c, v);
}

/* No communication: every device has what it needs. */
bool local_sdy_all_slice(local *l, op *o) {
  coll c = coll_of(l, o);
  if (!c.to) return finish(&c, c.in);
  axis_list *axes = ARENA_ARRAY(l->e.a, axis_list, c.to->rank);
  for (u32 d = 0; d < c.to->rank; d++) axes[d] = beyond(&c, c.to, c.from, d);
  i64s sizes = l->to[op_result(o, 0)->num]->dims;
  return finish(&c, local_slice(l, &c.at, c.in, c.to->mesh, axes, sizes));
}

/* The dimension that gains axes is split, the one that loses them is put together (StableHLO,
 * all_to_all). */
bool local_sdy_all_to_all(local *l, op *o) {
  coll c = coll_of(l, o);
  struct sdy_all_to_all_attrs a;
  if (!view_sdy_all_to_all(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  value *v = c.in;
  for (size_t i = 0; i < a.params->params.len; i++) {
    const all_to_all_param_attr *p = attr_as(all_to_all_param, a.params->params.data[i]);
    axis_list axes = part_read_axes(&l->e, mesh_of(&c), p->axes);
    i64 n = axes_size(axes);
    if (n == 1) continue;
    u32 src = (u32)p->src_dim, dst = (u32)p->tgt_dim;
    const type *t = with_dim(&c, v->type, src, v->type->dims.data[src] * n);
    t = with_dim(&c, t, dst, t->dims.data[dst] / n);
    v = emit(&c.at, OP_all_to_all, &v, 1, t);
    op_set(v->def.op, all_to_all, split_dimension, attr_i64(l->e.c, dst));
    op_set(v->def.op, all_to_all, concat_dimension, attr_i64(l->e.c, src));
    op_set(v->def.op, all_to_all, split_count, attr_i64(l->e.c, n));
    if (!set_groups(&c, v->def.op, axes)) return false;
  }
  return finish(&c, v);
}

/* Number of the shard that the device at a position holds: its indices in mixed radix. */
static i64 shard_number(const sharding *s, i64 position) {
  i64 n = axes_index_at(s->mesh, s->unreduced, position);
  for (u32 d = 0; d < s->rank; d++)
    n = n * sharding_dim_size(s, d) + sharding_shard_index(s, d, position);
  return n;
}

/* pairs[2 * target ...]: every device gets the shard it shall hold, from itself if it can,
 * otherwise from a device that holds it and has not sent yet. As both shardings have equally
 * many holders of every shard, each device sends once. */
static bool permute_pairs(coll *c, i64 *pairs, i64 n, bool *moves) {
  arena *a = c->l->e.a;
  const sharding *from = c->from, *to = c->to;
  i64 *next = ARENA_ARRAY(a, i64, n), *first = ARENA_ARRAY(a, i64, n);
  bool *sent = arena_zalloc(a, (size_t)n);
  *moves = false;
  for (i64 i = 0; i < n; i++) first[i] = -1;
  for (i64 i = n; i-- > 0;) { /* lists of senders by shard */
    i64 shard = shard_number(from, i);
    next[i] = first[shard];
    first[shard] = i;
  }
  i64 *want = ARENA_ARRAY(a, i64, n), *source = ARENA_ARRAY(a, i64, n);
  for (i64 t = 0; t < n; t++) {
    i64 same = mesh_position_of(from->mesh, mesh_device_at(to->mesh, t));
    if (same < 0) return false;
    want[t] = shard_number(to, t);
    source[t] = shard_number(from, same) == want[t] ? same : -1;
    if (source[t] >= 0) sent[same] = true;
  }
  for (i64 t = 0; t < n; t++) {
    i64 *at = &first[want[t]];
    while (source[t] < 0 && *at >= 0) {
      if (!sent[*at]) {
        source[t] = *at;
        *moves = true;
      }
      *at = next[*at];
    }
    if (source[t] < 0) return false;
    pairs[2 * t] = mesh_device_at(from->mesh, source[t]);
    pairs[2 * t + 1] = mesh_device_at(to->mesh, t);
  }
  return true;
}

/* Device ids of the two meshes may be in different orders; positions are matched by id. */
bool local_sdy_collective_permute(local *l, op *o) {
  coll c = coll_of(l, o);
  if (!c.from || !c.to) return finish(&c, c.in);
  i64 n = c.to->mesh->size;
  bool moves;
  size_t bytes;
  if (!checked_mul((size_t)n, 2 * sizeof(i64), &bytes))
    return op_error(l->e.c, o, "has too many devices");
  i64 *pairs = arena_alloc(l->e.a, bytes);
  if (c.from->mesh->size != n || !permute_pairs(&c, pairs, n, &moves))
    return op_unimplemented(l->e.c, o, "between meshes of different devices");
  if (!moves) /* the same shards by other names: its users go by these */
    return finish(&c, emit_reshape(&c.at, c.in, c.in->type->dims));
  value *v = emit(&c.at, OP_collective_permute, &c.in, 1, c.in->type);
  op_set(v->def.op, collective_permute, source_target_pairs,
         attr_dense_i64(l->e.c, (i64s){(i64[]){n, 2}, 2}, pairs));
  op_set(v->def.op, collective_permute, channel_handle,
         attr_make(l->e.c, channel_handle, .handle = l->next_channel++, .type = 1));
  return finish(&c, v);
}

static unreduced_kind kind_of(const reduction_op_attr *a) {
  return a ? (unreduced_kind)a->value : UNREDUCED_SUM;
}

static op *emit_reduction(coll *c, op_id id, value *v, const type *t, unreduced_kind kind) {
  op *o = emit_op(&c->at, id, &v, 1, &t, 1, 1);
  emit_reducer(&c->at, o, reducer_of(kind), type_element(t));
  return o;
}

bool local_sdy_all_reduce(local *l, op *o) {
  coll c = coll_of(l, o);
  struct sdy_all_reduce_attrs a;
  if (!view_sdy_all_reduce(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  axis_list axes = part_read_axes(&l->e, mesh_of(&c), a.reduction_axes->axes);
  if (axes_size(axes) == 1) return finish(&c, c.in);
  op *r = emit_reduction(&c, OP_all_reduce, c.in, c.in->type, kind_of(a.reduction_op));
  return set_groups(&c, r, axes) && finish(&c, op_result(r, 0));
}

bool local_sdy_reduce_scatter(local *l, op *o) {
  coll c = coll_of(l, o);
  struct sdy_reduce_scatter_attrs a;
  if (!view_sdy_reduce_scatter(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  value *v = c.in;
  for (u32 d = 0; d < c.to->rank; d++) {
    axis_list axes = beyond(&c, c.to, c.from, d);
    i64 n = axes_size(axes);
    if (n == 1) continue;
    const type *t = with_dim(&c, v->type, d, v->type->dims.data[d] / n);
    op *r = emit_reduction(&c, OP_reduce_scatter, v, t, kind_of(a.reduction_op));
    op_set(r, reduce_scatter, scatter_dimension, attr_i64(l->e.c, d));
    if (!set_groups(&c, r, axes)) return false;
    v = op_result(r, 0);
  }
  return finish(&c, v);
}

/* ---- to unreduced: parts that sum up to the whole ---- */

/* A device that is not the first along the new axes has zeros. */
bool local_replicated_to_unreduced(local *l, op *o) {
  coll c = coll_of(l, o);
  struct replicated_to_unreduced_attrs a;
  if (!view_replicated_to_unreduced(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  if (c.to->unreduced_kind != UNREDUCED_SUM)
    return op_unimplemented(l->e.c, o, "with another reduction than a sum");
  axis_list axes = part_read_axes(&l->e, mesh_of(&c), a.axes->axes);
  value *index = local_index_of(l, mesh_of(&c), axes), *zero = emit_int(&c.at, 0);
  value *first = emit_compare(&c.at, index, zero, 0);
  value *r = emit(&c.at, OP_select, (value *[]){first, c.in, emit_no_addend(&c.at, c.in->type)}, 3,
                  c.in->type);
  return finish(&c, r);
}

/* A device has its shard where it was and zeros elsewhere. */
bool local_sharded_to_unreduced(local *l, op *o) {
  coll c = coll_of(l, o);
  if (c.to->unreduced_kind != UNREDUCED_SUM)
    return op_unimplemented(l->e.c, o, "with another reduction than a sum");
  const type *t = l->to[op_result(o, 0)->num];
  value **in = ARENA_ARRAY(l->e.a, value *, 2 + t->dims.len);
  in[0] = emit_no_addend(&c.at, t);
  in[1] = c.in;
  for (u32 d = 0; d < t->dims.len; d++) {
    value *index = local_index_of(l, mesh_of(&c), beyond(&c, c.from, c.to, d));
    in[2 + d] = emit_binary(&c.at, OP_multiply, index, emit_int(&c.at, c.in->type->dims.data[d]));
  }
  return finish(&c, emit(&c.at, OP_dynamic_update_slice, in, 2 + t->dims.len, t));
}
