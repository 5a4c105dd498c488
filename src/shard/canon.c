/* sdy's canonicalization: reshards and collectives that do nothing or that one of fewer ops does,
 * manual computations without need. Source: openxla/shardy, sdy/ir/canonicalization.{td,cc}. */
#include "shard/canon.h"

#include "shard/sharding_ir.h"

/* ---- axes as attributes ---- */

const mesh_attr *canon_mesh(rewriter *r, const attr *mesh_or_ref) {
  if (!attr_is(symbol_ref, mesh_or_ref)) return attr_as(mesh, mesh_or_ref);
  const op *o = rewriter_symbol(r, mesh_or_ref);
  struct sdy_mesh_attrs v;
  return o && op_is(o, sdy_mesh) && view_sdy_mesh(o, &v) ? v.mesh : NULL;
}

/* Number of the axis in the mesh; the number of axes: none. */
static size_t axis_number(const mesh_attr *m, str name) {
  size_t i = 0;
  while (i < m->axes.len && !str_eq(attr_as(mesh_axis, m->axes.data[i])->name, name)) i++;
  return i;
}

i64 canon_whole_size(const mesh_attr *m, str name) {
  size_t i = axis_number(m, name);
  return i < m->axes.len ? attr_as(mesh_axis, m->axes.data[i])->size : 1;
}

const attr *canon_axis(ir_ctx *c, const mesh_attr *m, str name, i64 pre, i64 size) {
  if (pre == 1 && size == canon_whole_size(m, name)) return attr_make(c, axis_ref, .name = name);
  return attr_make(c, axis_ref, .name = name, .pre_size = pre, .size = size);
}

typedef VEC(const attr *) attr_vec;
static attrs vec_attrs(const attr_vec *v) { return (attrs){v->data, v->len}; }

/* Appends, or lengthens the last if that is directly major to `a` in one axis. */
static void add_or_merge(const rewriter *r, const mesh_attr *m, attr_vec *v, const attr *a) {
  const axis_ref_attr *next = attr_as(axis_ref, a);
  const axis_ref_attr *last = v->len ? attr_as(axis_ref, v->data[v->len - 1]) : NULL;
  if (last && last->size && next->size && str_eq(last->name, next->name) &&
      last->pre_size * last->size == next->pre_size)
    v->data[v->len - 1] =
        canon_axis(rewriter_module(r)->ctx, m, last->name, last->pre_size, last->size * next->size);
  else
    VEC_PUSH(rewriter_scratch(r), *v, a);
}

static bool is_after(const mesh_attr *m, const attr *x, const attr *y) {
  const axis_ref_attr *a = attr_as(axis_ref, x), *b = attr_as(axis_ref, y);
  size_t i = axis_number(m, a->name), k = axis_number(m, b->name);
  return i != k ? i > k : canon_pre(a) > canon_pre(b);
}

/* In mesh order, neighbours merged. */
static attrs sort_merge(const rewriter *r, const mesh_attr *m, attr_vec *v) {
  for (size_t i = 1; i < v->len; i++)
    for (size_t k = i; k && is_after(m, v->data[k - 1], v->data[k]); k--) {
      const attr *t = v->data[k];
      v->data[k] = v->data[k - 1];
      v->data[k - 1] = t;
    }
  attr_vec out = {0};
  for (size_t i = 0; i < v->len; i++) add_or_merge(r, m, &out, v->data[i]);
  return vec_attrs(&out);
}

static bool same_list(attrs a, attrs b) {
  return a.len == b.len && (!a.len || memcmp(a.data, b.data, a.len * sizeof *a.data) == 0);
}

static bool all_empty(const axis_ref_lists_attr *l) {
  for (size_t i = 0; i < l->lists.len; i++)
    if (attr_as(axis_ref_list, l->lists.data[i])->axes.len) return false;
  return true;
}

static attrs dim_axes(const tensor_sharding_attr *s, size_t d) {
  return attr_as(dim_sharding, s->dims.data[d])->axes;
}

static bool is_replicated(const tensor_sharding_attr *s) {
  if (s && s->unreduced.len) return false;
  for (size_t i = 0; s && i < s->dims.len; i++)
    if (dim_axes(s, i).len) return false;
  return true;
}

/* The same placement, whatever is open or explicitly replicated. */
static bool is_equivalent(const tensor_sharding_attr *a, const tensor_sharding_attr *b) {
  if (is_replicated(a)) return is_replicated(b);
  if (!b || a->mesh != b->mesh || a->dims.len != b->dims.len ||
      !same_list(a->unreduced, b->unreduced))
    return false;
  for (size_t i = 0; i < a->dims.len; i++)
    if (!same_list(dim_axes(a, i), dim_axes(b, i))) return false;
  return true;
}

/* ---- ops that do nothing ---- */

static bool replace_by_operand(rewriter *r, op *o) {
  value *v = op_operand(o, 0);
  rewrite_replace(r, o, &v);
  return true;
}

static op *defined_by(const op *o, op_id id) {
  op *def = value_op(op_operand(o, 0));
  return def && op_kind(def) == id ? def : NULL;
}

static bool empty_gather(rewriter *r, op *o) {
  struct sdy_all_gather_attrs v;
  return view_sdy_all_gather(o, &v) && all_empty(v.gathering_axes) && replace_by_operand(r, o);
}

static bool empty_slice(rewriter *r, op *o) {
  struct sdy_all_slice_attrs v;
  return view_sdy_all_slice(o, &v) && all_empty(v.slicing_axes) && replace_by_operand(r, o);
}

static bool empty_reduce(rewriter *r, op *o) {
  struct sdy_all_reduce_attrs v;
  return view_sdy_all_reduce(o, &v) && !v.reduction_axes->axes.len && replace_by_operand(r, o);
}

static bool empty_scatter(rewriter *r, op *o) {
  struct sdy_reduce_scatter_attrs v;
  return view_sdy_reduce_scatter(o, &v) && all_empty(v.reduce_scatter_axes) &&
         replace_by_operand(r, o);
}

static bool same_permute(rewriter *r, op *o) {
  struct sdy_collective_permute_attrs v;
  const attr *in = value_sharding(rewriter_module(r)->ctx, op_operand(o, 0));
  return view_sdy_collective_permute(o, &v) &&
         is_equivalent(attr_as(tensor_sharding, in), v.out_sharding) && replace_by_operand(r, o);
}

/* Only the very same axes: the slice then takes what the device gave to the gather. */
static bool slice_of_gather(rewriter *r, op *o) {
  op *inner = defined_by(o, OP_sdy_all_gather);
  if (!inner || op_attr(inner, SLOT_NAME(gathering_axes)) != op_attr(o, SLOT_NAME(slicing_axes)))
    return false;
  value *v = op_operand(inner, 0);
  rewrite_replace(r, o, &v);
  return true;
}

/* ---- all-reduces ---- */

static bool reduce_of_replicated(rewriter *r, op *o) {
  op *inner = defined_by(o, OP_replicated_to_unreduced);
  if (!inner || op_attr(inner, SLOT_NAME(axes)) != op_attr(o, SLOT_NAME(reduction_axes)))
    return false;
  value *v = op_operand(inner, 0);
  rewrite_replace(r, o, &v);
  return true;
}

/* The axes moved from dimensions to unreduced ones, and are summed at once: each device had
 * different pieces, so the sum is the whole, which a gather gives. */
static bool reduce_of_sharded(rewriter *r, op *o) {
  op *inner = defined_by(o, OP_sharded_to_unreduced);
  struct sharded_to_unreduced_attrs s;
  struct sdy_all_reduce_attrs a;
  if (!inner || !view_sharded_to_unreduced(inner, &s) || !view_sdy_all_reduce(o, &a)) return false;
  const mesh_attr *m = canon_mesh(r, s.out_sharding->mesh);
  if (!m) return false;
  attr_vec axes = {0};
  for (size_t i = 0; i < s.axes->lists.len; i++) {
    attrs l = attr_as(axis_ref_list, s.axes->lists.data[i])->axes;
    for (size_t k = 0; k < l.len; k++) VEC_PUSH(rewriter_scratch(r), axes, l.data[k]);
  }
  if (!same_list(sort_merge(r, m, &axes), a.reduction_axes->axes)) return false;
  value *in = op_operand(inner, 0), *out;
  op *g = rewrite_create(r, o, OP_sdy_all_gather, o->loc, &in, 1, &in->type, 1);
  op_set(g, sdy_all_gather, gathering_axes, &s.axes->base);
  op_set(g, sdy_all_gather, out_sharding, &a.out_sharding->base);
  out = op_result(g, 0);
  rewrite_replace(r, o, &out);
  return true;
}

/* ---- an all-slice of an all-reduce: a reduce-scatter, and a slice of what is left ---- */

typedef struct scatter_plan {
  const mesh_attr *mesh;
  attr_vec left; /* reduced axes that no dimension has taken */
  const attr *scatter, *residual;
  bool any_residual;
} scatter_plan;

static bool take_axis(attr_vec *from, const attr *a) {
  for (size_t i = 0; i < from->len; i++) {
    if (from->data[i] != a) continue;
    from->data[i] = from->data[--from->len];
    return true;
  }
  return false;
}

/* Of each dimension's sliced axes, those reduced come first. */
static bool plan_scatter(rewriter *r, scatter_plan *p, attrs reduced, attrs sliced) {
  ir_ctx *c = rewriter_module(r)->ctx;
  arena *a = rewriter_scratch(r);
  attr_vec scatter = {0}, residual = {0};
  for (size_t i = 0; i < reduced.len; i++) VEC_PUSH(a, p->left, reduced.data[i]);
  for (size_t d = 0; d < sliced.len; d++) {
    attrs l = attr_as(axis_ref_list, sliced.data[d])->axes;
    size_t n = 0;
    while (n < l.len && take_axis(&p->left, l.data[n])) n++;
    attrs rest = {n < l.len ? l.data + n : NULL, l.len - n};
    VEC_PUSH(a, scatter, attr_make(c, axis_ref_list, .axes = {l.data, n}));
    VEC_PUSH(a, residual, attr_make(c, axis_ref_list, .axes = rest));
    p->any_residual |= rest.len != 0;
  }
  p->scatter = attr_make(c, axis_ref_lists, .lists = vec_attrs(&scatter));
  p->residual = attr_make(c, axis_ref_lists, .lists = vec_attrs(&residual));
  return p->left.len == 0;
}

static const attr *scattered_sharding(rewriter *r, const scatter_plan *p, op *reduce,
                                      const tensor_sharding_attr *sliced, const attr *mesh_ref) {
  ir_ctx *c = rewriter_module(r)->ctx;
  arena *a = rewriter_scratch(r);
  const tensor_sharding_attr *in =
      attr_as(tensor_sharding, value_sharding(c, op_operand(reduce, 0)));
  attrs lists = attr_as(axis_ref_lists, p->scatter)->lists;
  attr_vec dims = {0};
  for (size_t d = 0; d < lists.len; d++) {
    attr_vec axes = {0};
    attrs have = in && d < in->dims.len ? dim_axes(in, d) : (attrs){0};
    attrs more = attr_as(axis_ref_list, lists.data[d])->axes;
    for (size_t i = 0; i < have.len; i++) VEC_PUSH(a, axes, have.data[i]);
    for (size_t i = 0; i < more.len; i++) add_or_merge(r, p->mesh, &axes, more.data[i]);
    VEC_PUSH(a, dims,
             attr_make(c, dim_sharding, .axes = vec_attrs(&axes), .closed = true,
                       .priority = PRIORITY_NONE));
  }
  tensor_sharding_attr s = *sliced; /* what it says of replicated and unreduced axes stays */
  s.mesh = mesh_ref;
  s.dims = vec_attrs(&dims);
  s.base = (attr){.id = ATTR_tensor_sharding};
  return attr_unique(c, &s.base);
}

/* All users are slices like this one, and this is the first. */
static bool is_first_of_equals(rewriter *r, const op *reduce, const op *o) {
  const attr *axes = op_attr(o, SLOT_NAME(slicing_axes));
  for (const use *u = reduce->results[0].uses; u; u = u->next)
    if (!op_is(u->owner, sdy_all_slice) || op_attr(u->owner, SLOT_NAME(slicing_axes)) != axes ||
        (u->owner != o && rewrite_is_before(r, u->owner, o)))
      return false;
  return true;
}

/* All users must be slices like it, since the reduction would otherwise be done as well as the
 * scatter. */
static bool slice_of_reduce(rewriter *r, op *o) {
  op *reduce = defined_by(o, OP_sdy_all_reduce);
  struct sdy_all_reduce_attrs a;
  struct sdy_all_slice_attrs s;
  if (!reduce || !is_first_of_equals(r, reduce, o) || !view_sdy_all_reduce(reduce, &a) ||
      !view_sdy_all_slice(o, &s))
    return false;
  scatter_plan p = {.mesh = canon_mesh(r, a.out_sharding->mesh)};
  if (!p.mesh || !plan_scatter(r, &p, a.reduction_axes->axes, s.slicing_axes->lists)) return false;
  value *v = op_operand(reduce, 0);
  op *n = rewrite_create(r, o, OP_sdy_reduce_scatter, reduce->loc, &v, 1, &v->type, 1);
  op_set(n, sdy_reduce_scatter, reduce_scatter_axes, p.scatter);
  op_set(n, sdy_reduce_scatter, reduction_op, op_attr(reduce, SLOT_NAME(reduction_op)));
  op_set(n, sdy_reduce_scatter, out_sharding,
         scattered_sharding(r, &p, reduce, s.out_sharding, a.out_sharding->mesh));
  v = op_result(n, 0);
  if (p.any_residual) {
    n = rewrite_create(r, o, OP_sdy_all_slice, o->loc, &v, 1, &v->type, 1);
    op_set(n, sdy_all_slice, slicing_axes, p.residual);
    op_set(n, sdy_all_slice, out_sharding, &s.out_sharding->base);
    v = op_result(n, 0);
  }
  for (use *u = reduce->results[0].uses; u; u = reduce->results[0].uses)
    rewrite_replace(r, u->owner, &v);
  rewrite_erase(r, reduce);
  return true;
}

/* ---- all-to-alls ---- */

static bool unused_exchange(rewriter *r, op *o) {
  return !o->results[0].uses && replace_by_operand(r, o);
}

static bool takes_dims(u64 *seen, attrs params) {
  for (size_t i = 0; i < params.len; i++) {
    const all_to_all_param_attr *p = attr_as(all_to_all_param, params.data[i]);
    for (int k = 0; k < 2; k++) {
      i64 d = k ? p->tgt_dim : p->src_dim;
      if (d < 0 || d >= 64 || (*seen >> d & 1)) return false;
      *seen |= (u64)1 << d;
    }
  }
  return true;
}

/* One that follows another, of other dimensions: both at once, by source dimension. */
static bool exchange_of_exchange(rewriter *r, op *o) {
  ir_module *m = rewriter_module(r);
  op *inner = defined_by(o, OP_sdy_all_to_all);
  struct sdy_all_to_all_attrs a, b;
  if (!inner || !value_has_one_use(op_result(inner, 0)) || !view_sdy_all_to_all(inner, &a) ||
      !view_sdy_all_to_all(o, &b))
    return false;
  u64 seen = 0;
  if (!takes_dims(&seen, a.params->params) || !takes_dims(&seen, b.params->params)) return false;
  attr_vec all = {0};
  for (size_t i = 0; i < a.params->params.len + b.params->params.len; i++) {
    size_t n = a.params->params.len;
    const attr *p = i < n ? a.params->params.data[i] : b.params->params.data[i - n];
    VEC_PUSH(rewriter_scratch(r), all, p);
    for (size_t k = all.len - 1; k; k--) {
      const all_to_all_param_attr *x = attr_as(all_to_all_param, all.data[k - 1]);
      if (x->src_dim <= attr_as(all_to_all_param, p)->src_dim) break;
      all.data[k] = all.data[k - 1];
      all.data[k - 1] = p;
    }
  }
  value *in = op_operand(inner, 0), *out;
  op *n = rewrite_create(r, o, OP_sdy_all_to_all, loc_fuse(m->ctx, o->loc, inner->loc), &in, 1,
                         &in->type, 1);
  op_set(n, sdy_all_to_all, params,
         attr_make(m->ctx, all_to_all_params, .params = vec_attrs(&all)));
  op_set(n, sdy_all_to_all, out_sharding, &b.out_sharding->base);
  out = op_result(n, 0);
  rewrite_replace(r, o, &out);
  return true;
}

#define COLLECTIVE "sdy-collective"

const rewrite_pattern canon_collectives[] = {
    {OP_sdy_all_gather, 1, empty_gather, "AllGatherNoopPattern", COLLECTIVE},
    {OP_sdy_all_slice, 2, slice_of_gather, "AllSliceOfAllGatherPattern", COLLECTIVE},
    {OP_sdy_all_slice, 1, empty_slice, "AllSliceNoopPattern", COLLECTIVE},
    {OP_sdy_all_slice, 1, slice_of_reduce, "ReduceScatterFusion", COLLECTIVE},
    {OP_sdy_all_reduce, 1, empty_reduce, "AllReduceNoopPattern", COLLECTIVE},
    {OP_sdy_all_reduce, 2, reduce_of_replicated, "AllReduceOfReplicatedToUnreducedPattern",
     COLLECTIVE},
    {OP_sdy_all_reduce, 1, reduce_of_sharded, "AllReduceOfShardedToUnreducedPattern", COLLECTIVE},
    {OP_sdy_all_to_all, 2, exchange_of_exchange, "AllToAllFusionPattern", COLLECTIVE},
    {OP_sdy_all_to_all, 1, unused_exchange, "AllToAllNoUsePattern", COLLECTIVE},
    {OP_sdy_collective_permute, 1, same_permute, "CollectivePermuteNoopPattern", COLLECTIVE},
    {OP_sdy_reduce_scatter, 1, empty_scatter, "ReduceScatterNoopPattern", COLLECTIVE},
    {0},
};
