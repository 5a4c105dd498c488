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

/* What has been joined loses its padding. A value that is there already, such as the operand, keeps
 * its own number, by which its sharding is found. */
static bool finish(coll *c, value *r) {
  value *old = op_result(c->o, 0);
  r = emit_resized(&c->at, r, c->l->to[old->num]->dims);
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

/* What is going to be cut is padded so that all parts are as long. */
static void pad_in(coll *c) {
  i64s to = c->l->to[op_result(c->o, 0)->num]->dims;
  i64 *dims = arena_copy(c->l->e.a, c->in->type->dims.data, to.len * sizeof(*dims));
  for (u32 d = 0; d < to.len; d++)
    if (!beyond(c, c->from, c->to, d).len)
      dims[d] = to.data[d] * axes_size(beyond(c, c->to, c->from, d));
  c->in = emit_resized(&c->at, c->in, (i64s){dims, to.len});
}

/* Groups as axes of the mesh that a symbol names; NULL: they must be written out. */
static const attr *axes_attr(const coll *c, axis_list axes) {
  ir_ctx *ctx = c->l->e.c;
  const mesh *m = mesh_of(c);
  const attr **refs = ARENA_ARRAY(c->l->e.a, const attr *, axes.len);
  if (!c->l->o.mesh_groups || !m->name.len) return NULL;
  for (size_t i = 0; i < axes.len; i++) {
    if (!axis_is_whole(m, axes.data[i])) return NULL;
    refs[i] = attr_make(ctx, hlo_axis_ref, .name = m->axes[axes.data[i].axis].name);
  }
  return attr_make(ctx, replica_group_mesh_axes, .mesh = shard_mesh_ref(c->l->e.space, m),
                   .axes = attr_array(ctx, (attrs){refs, axes.len}));
}

/* As lists of ids. */
static const attr *ids_attr(const coll *c, axis_list axes) {
  replica_groups g;
  if (!mesh_replica_groups(c->l->e.a, mesh_of(c), axes, &g)) return NULL;
  return attr_dense_i64(c->l->e.c, (i64s){(i64[]){g.num_groups, g.group_size}, 2}, g.ids);
}

/* Lists of many devices are large, and there are few of them: each is made once. */
static const attr *groups_attr(const coll *c, axis_list axes) {
  local *l = c->l;
  for (size_t i = 0; i < l->groups.len; i++)
    if (l->groups.data[i].mesh == mesh_of(c) && axes_eq(l->groups.data[i].axes, axes))
      return l->groups.data[i].groups;
  const attr *groups = axes_attr(c, axes);
  if (!groups && !(groups = ids_attr(c, axes))) return NULL;
  VEC_PUSH(l->e.a, l->groups, ((group_list){mesh_of(c), axes, groups}));
  return groups;
}

/* Sets groups and channel. Global ids: where the op has the attribute, so that ids count
 * partitions, as they do without it where the op lacks it. */
static bool set_groups(coll *c, op *o, axis_list axes) {
  const attr *groups = groups_attr(c, axes);
  if (!groups) return op_error(c->l->e.c, c->o, "has too many devices");
  group_slots *s = &c->l->group_slots;
  if (s->info != o->info)
    *s = (group_slots){o->info, op_slot(o->info, SLOT_NAME(replica_groups)),
                       op_slot(o->info, SLOT_NAME(channel_handle)),
                       op_slot(o->info, SLOT_NAME(use_global_device_ids))};
  o->slots[s->groups] = groups;
  o->slots[s->channel] =
      attr_make(c->l->e.c, channel_handle, .handle = c->l->next_channel++, .type = 1);
  if (s->global >= 0) o->slots[s->global] = attr_unit(c->l->e.c);
  return true;
}

static const type *with_dim(coll *c, const type *t, u32 d, i64 size) {
  i64 *dims = arena_copy(c->l->e.a, t->dims.data, t->dims.len * sizeof(*dims));
  dims[d] = size;
  return type_with_dims(c->l->e.c, t, (i64s){dims, t->dims.len});
}

/* ---- several dimensions at once ---- */

/* Which dimensions gain or lose axes, how many parts each has, and all axes. */
typedef struct split {
  axis_list *axes; /* per dimension */
  i64 *parts;
  u32 rank, n; /* n of them have axes */
  axis_list all;
} split;

static split split_of(const coll *c, const sharding *more, const sharding *less) {
  arena *a = c->l->e.a;
  u32 rank = more ? more->rank : 0;
  split s = {ARENA_ARRAY(a, axis_list, rank), ARENA_ARRAY(a, i64, rank), rank, 0, {0}};
  for (u32 d = 0; d < rank; d++) {
    s.axes[d] = beyond(c, more, less, d);
    s.parts[d] = axes_size(s.axes[d]);
    s.n += s.axes[d].len != 0;
    s.all = axes_concat(a, s.all, s.axes[d]);
  }
  return s;
}

/* Dimensions of any number, kept in the scratch of the pass. */
typedef struct dims {
  i64 *data;
  size_t len;
} dims;

static dims dims_make(const coll *c, size_t capacity) {
  return (dims){ARENA_ARRAY(c->l->e.a, i64, capacity), 0};
}
static void dims_add(dims *d, i64 v) { d->data[d->len++] = v; }

static value *reshape(coll *c, value *v, dims d) {
  return emit_reshape(&c->at, v, (i64s){d.data, d.len});
}

static value *transpose(coll *c, value *v, dims order) {
  dims to = dims_make(c, order.len);
  for (size_t i = 0; i < order.len; i++) dims_add(&to, v->type->dims.data[order.data[i]]);
  const type *t = type_with_dims(c->l->e.c, v->type, (i64s){to.data, to.len});
  v = emit(&c->at, OP_transpose, &v, 1, t);
  op_set(v->def.op, transpose, permutation,
         attr_i64_array(c->l->e.c, (i64s){order.data, order.len}));
  return v;
}

static value *gather_along(coll *c, value *v, u32 d, axis_list axes) {
  const type *t = with_dim(c, v->type, d, v->type->dims.data[d] * axes_size(axes));
  v = emit(&c->at, OP_all_gather, &v, 1, t);
  op_set(v->def.op, all_gather, all_gather_dim, attr_i64(c->l->e.c, d));
  return set_groups(c, v->def.op, axes) ? v : NULL;
}

/* As one gather along a dimension of its own, whose parts go to where they belong. */
static value *gather_all(coll *c, const split *s) {
  value *v = c->in;
  i64s shape = v->type->dims;
  dims one = dims_make(c, s->rank + 1), apart = dims_make(c, 2 * s->rank),
       order = dims_make(c, 2 * s->rank), whole = dims_make(c, s->rank);
  dims_add(&one, 1);
  for (u32 d = 0; d < s->rank; d++) dims_add(&one, shape.data[d]);
  v = gather_along(c, reshape(c, v, one), 0, s->all);
  if (!v) return NULL;
  for (u32 d = 0; d < s->rank; d++)
    if (s->axes[d].len) dims_add(&apart, s->parts[d]);
  for (u32 d = 0, next = 0; d < s->rank; d++) {
    dims_add(&apart, shape.data[d]);
    if (s->axes[d].len) dims_add(&order, next++);
    dims_add(&order, s->n + d);
    dims_add(&whole, shape.data[d] * s->parts[d]);
  }
  return reshape(c, transpose(c, reshape(c, v, apart), order), whole);
}

bool local_sdy_all_gather(local *l, op *o) {
  coll c = coll_of(l, o);
  split s = split_of(&c, c.from, c.to);
  value *v = c.in;
  if (s.n > 1 && !l->o.per_dim_gather)
    v = gather_all(&c, &s);
  else
    for (u32 d = s.rank; d-- > 0 && v;)
      if (s.axes[d].len) v = gather_along(&c, v, d, s.axes[d]);
  return v && finish(&c, v);
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

/* An axis list that goes from one dimension to another. */
typedef struct move {
  u32 src, dst;
  i64 parts;
  axis_list axes;
} move;

/* The dimension that gains axes is split, the one that loses them is put together (StableHLO,
 * all_to_all). */
static value *move_along(coll *c, value *v, const move *m) {
  i64 n = m->parts;
  const type *t = with_dim(c, v->type, m->src, v->type->dims.data[m->src] * n);
  t = with_dim(c, t, m->dst, t->dims.data[m->dst] / n);
  v = emit(&c->at, OP_all_to_all, &v, 1, t);
  op_set(v->def.op, all_to_all, split_dimension, attr_i64(c->l->e.c, m->dst));
  op_set(v->def.op, all_to_all, concat_dimension, attr_i64(c->l->e.c, m->src));
  op_set(v->def.op, all_to_all, split_count, attr_i64(c->l->e.c, n));
  return set_groups(c, v->def.op, m->axes) ? v : NULL;
}

/* The value with each dimension that moves fill cut, and these parts in front: to what the order
 * of dimensions then is. */
static value *parts_in_front(coll *c, value *v, const move *moves, size_t n) {
  size_t rank = v->type->dims.len;
  dims cut = dims_make(c, rank + n), front = dims_make(c, rank + n);
  dims rest = dims_make(c, rank + n);
  for (size_t d = 0, k = 0; d < rank; d++) {
    i64 size = v->type->dims.data[d];
    if (k < n && moves[k].dst == d) {
      dims_add(&front, (i64)cut.len);
      dims_add(&cut, moves[k].parts);
      size /= moves[k++].parts;
    }
    dims_add(&rest, (i64)cut.len);
    dims_add(&cut, size);
  }
  for (size_t i = 0; i < rest.len; i++) dims_add(&front, rest.data[i]);
  return transpose(c, reshape(c, v, cut), front);
}

/* Several at once, by target: one exchange of all parts, of which each then joins the dimension
 * that it came from. */
static value *move_all(coll *c, const move *moves, size_t n) {
  size_t rank = c->in->type->dims.len;
  value *v = parts_in_front(c, c->in, moves, n);
  const type *apart = v->type;
  axis_list all = {0};
  move m = {.parts = 1};
  for (size_t i = 0; i < n; i++) {
    all = axes_concat(c->l->e.a, all, moves[i].axes);
    m.parts *= moves[i].parts;
  }
  m.axes = all;
  dims one = dims_make(c, rank + 1), order = dims_make(c, rank + n), whole = dims_make(c, rank);
  dims_add(&one, m.parts);
  for (size_t d = 0; d < rank; d++) dims_add(&one, apart->dims.data[n + d]);
  v = move_along(c, reshape(c, v, one), &m);
  if (!v) return NULL;
  for (size_t d = 0; d < rank; d++) {
    i64 size = apart->dims.data[n + d];
    for (size_t i = 0; i < n; i++) {
      if (moves[i].src != d) continue;
      dims_add(&order, (i64)i);
      size *= moves[i].parts;
    }
    dims_add(&order, (i64)(n + d));
    dims_add(&whole, size);
  }
  return reshape(c, transpose(c, emit_reshape(&c->at, v, apart->dims), order), whole);
}

bool local_sdy_all_to_all(local *l, op *o) {
  coll c = coll_of(l, o);
  struct sdy_all_to_all_attrs a;
  if (!view_sdy_all_to_all(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  pad_in(&c);
  attrs params = a.params->params;
  move *moves = ARENA_ARRAY(l->e.a, move, params.len);
  for (size_t i = 0; i < params.len; i++) { /* in the order of targets */
    const all_to_all_param_attr *p = attr_as(all_to_all_param, params.data[i]);
    axis_list axes = part_read_axes(&l->e, mesh_of(&c), p->axes);
    move m = {(u32)p->src_dim, (u32)p->tgt_dim, axes_size(axes), axes};
    size_t k = i;
    for (; k > 0 && moves[k - 1].dst > m.dst; k--) moves[k] = moves[k - 1];
    moves[k] = m;
  }
  value *v = params.len == 1 ? move_along(&c, c.in, &moves[0]) : move_all(&c, moves, params.len);
  return v && finish(&c, v);
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

/* The axes of a sharding's dimensions in pieces that both have, then the rest of these: a number
 * for each device that is its own. */
static axis_list numbering(arena *a, const sharding *s, axis_list pieces) {
  axis_vec v = {0};
  for (u32 d = 0; d < s->rank; d++)
    for (size_t k = 0; k < s->dims[d].axes.len; k++)
      for (size_t i = 0; i < pieces.len; i++)
        if (axis_contains(s->dims[d].axes.data[k], pieces.data[i]) &&
            !axes_contain(axis_vec_list(&v), pieces.data[i]))
          VEC_PUSH(a, v, pieces.data[i]);
  for (size_t i = 0; i < pieces.len; i++)
    if (!axes_contain(axis_vec_list(&v), pieces.data[i])) VEC_PUSH(a, v, pieces.data[i]);
  return axis_vec_list(&v);
}

/* pairs[2 * device ...]: as Shardy pairs them (openxla/shardy, sdy-convert-global-to-local). false:
 * the meshes have other axes. */
static bool number_pairs(coll *c, i64 *pairs, i64 n) {
  arena *a = c->l->e.a;
  if (!mesh_same(c->from->mesh, c->to->mesh, true)) return false;
  axis_list used = {0};
  for (int i = 0; i < 2; i++) {
    const sharding *s = i ? c->to : c->from;
    used = axes_concat(a, used, sharding_used_axes(a, s));
    used = axes_concat(a, axes_concat(a, used, s->replicated), s->unreduced);
  }
  axis_list pieces = axes_ordered(a, c->to->mesh, used);
  axis_list in = numbering(a, c->from, pieces), out = numbering(a, c->to, pieces);
  i64 *device = ARENA_ARRAY(a, i64, n);
  for (i64 i = 0; i < n; i++)
    device[axes_index_at(c->to->mesh, out, i)] = mesh_device_at(c->to->mesh, i);
  for (i64 i = 0; i < n; i++) {
    i64 source = mesh_device_at(c->from->mesh, i);
    if (source >= n) return false;
    pairs[2 * source] = source;
    pairs[2 * source + 1] = device[axes_index_at(c->from->mesh, in, i)];
  }
  return true;
}

/* Device ids of the two meshes may be in different orders; positions are matched by id. */
bool local_sdy_collective_permute(local *l, op *o) {
  coll c = coll_of(l, o);
  if (!c.from || !c.to) return finish(&c, c.in);
  i64 n = c.to->mesh->size;
  bool moves = true, ok = c.from->mesh->size == n;
  size_t bytes;
  if (!checked_mul((size_t)n, 2 * sizeof(i64), &bytes))
    return op_error(l->e.c, o, "has too many devices");
  i64 *pairs = arena_alloc(l->e.a, bytes);
  ok = ok && (l->o.move_least ? permute_pairs(&c, pairs, n, &moves) : number_pairs(&c, pairs, n));
  if (!ok) return op_unimplemented(l->e.c, o, "between meshes of different devices");
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
  if (!axes.len) return finish(&c, c.in);
  op *r = emit_reduction(&c, OP_all_reduce, c.in, c.in->type, kind_of(a.reduction_op));
  return set_groups(&c, r, axes) && finish(&c, op_result(r, 0));
}

static value *scatter_along(coll *c, value *v, u32 d, axis_list axes, unreduced_kind kind) {
  const type *t = with_dim(c, v->type, d, v->type->dims.data[d] / axes_size(axes));
  op *r = emit_reduction(c, OP_reduce_scatter, v, t, kind);
  op_set(r, reduce_scatter, scatter_dimension, attr_i64(c->l->e.c, d));
  return set_groups(c, r, axes) ? op_result(r, 0) : NULL;
}

/* As one scatter along a dimension of its own, made of the parts of all. */
static value *scatter_all(coll *c, const split *s, unreduced_kind kind) {
  arena *a = c->l->e.a;
  move *moves = ARENA_ARRAY(a, move, s->n);
  dims one = dims_make(c, s->rank + 1), shard = dims_make(c, s->rank);
  size_t n = 0;
  dims_add(&one, axes_size(s->all));
  for (u32 d = 0; d < s->rank; d++) {
    if (s->axes[d].len) moves[n++] = (move){.dst = d, .parts = s->parts[d]};
    dims_add(&shard, c->in->type->dims.data[d] / s->parts[d]);
    dims_add(&one, shard.data[d]);
  }
  value *v = reshape(c, parts_in_front(c, c->in, moves, n), one);
  v = scatter_along(c, v, 0, s->all, kind);
  return v ? reshape(c, v, shard) : NULL;
}

/* Everything everywhere, of which each device takes its part. */
static value *reduce_and_slice(coll *c, const split *s, unreduced_kind kind) {
  op *r = emit_reduction(c, OP_all_reduce, c->in, c->in->type, kind);
  i64s sizes = c->l->to[op_result(c->o, 0)->num]->dims;
  if (!set_groups(c, r, s->all)) return NULL;
  return local_slice(c->l, &c->at, op_result(r, 0), c->to->mesh, s->axes, sizes);
}

bool local_sdy_reduce_scatter(local *l, op *o) {
  coll c = coll_of(l, o);
  struct sdy_reduce_scatter_attrs a;
  if (!view_sdy_reduce_scatter(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  pad_in(&c);
  split s = split_of(&c, c.to, c.from);
  unreduced_kind kind = kind_of(a.reduction_op);
  value *v = c.in;
  if (s.n > 1) {
    v = (l->o.combine_scatter ? scatter_all : reduce_and_slice)(&c, &s, kind);
  } else {
    for (u32 d = 0; d < s.rank && v; d++)
      if (s.axes[d].len) v = scatter_along(&c, v, d, s.axes[d], kind);
  }
  return v && finish(&c, v);
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
  const type *t = c.in->type;
  value **in = ARENA_ARRAY(l->e.a, value *, 2 + t->dims.len);
  for (u32 d = 0; d < c.in->type->dims.len; d++) {
    axis_list axes = beyond(&c, c.from, c.to, d);
    value *index = local_index_of(l, mesh_of(&c), axes);
    i64 n = c.in->type->dims.data[d];
    in[2 + d] = emit_binary(&c.at, OP_multiply, index, emit_int(&c.at, n));
    t = with_dim(&c, t, d, n * axes_size(axes));
  }
  in[0] = emit_no_addend(&c.at, t);
  in[1] = c.in;
  return finish(&c, emit(&c.at, OP_dynamic_update_slice, in, 2 + t->dims.len, t));
}
