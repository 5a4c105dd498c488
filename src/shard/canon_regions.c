/* Canonicalization of reshards and manual computations. Source: openxla/shardy,
 * sdy/ir/canonicalization.cc, and isShardingEquivalentAcrossReshapes of sdy/ir/utils.cc. */
#include "shard/canon.h"
#include "shard/shard.h"
#include "shard/sharding_ir.h"

/* ---- a reshard that is already there ---- */

static bool moves_nothing(const op *o) { return op_is(o, reshape) || op_is(o, transpose); }

typedef struct axis_stride {
  const axis_ref_attr *axis;
  double stride; /* elements between neighbours along the axis, in row-major order */
} axis_stride;
typedef VEC(axis_stride) strides;

static bool is_near(double a, double b) { return a - b < 1e-6 && b - a < 1e-6; }

static void sort_strides(strides *s) {
  for (size_t i = 1; i < s->len; i++)
    for (size_t k = i; k && s->data[k].stride < s->data[k - 1].stride; k--) {
      axis_stride t = s->data[k];
      s->data[k] = s->data[k - 1];
      s->data[k - 1] = t;
    }
}

/* Sub-axes that follow each other, in the axis and in the strides, become one. */
static strides merge_strides(const rewriter *r, const mesh_attr *m, const strides *in) {
  strides out = {0};
  for (size_t i = 0; i < in->len; i++) {
    axis_stride now = in->data[i];
    axis_stride *last = out.len ? &out.data[out.len - 1] : NULL;
    i64 size = canon_size(m, now.axis);
    if (last && str_eq(last->axis->name, now.axis->name) &&
        canon_pre(now.axis) * size == canon_pre(last->axis) &&
        is_near(now.stride, last->stride * (double)canon_size(m, last->axis))) {
      i64 pre = min_i64(canon_pre(last->axis), canon_pre(now.axis));
      const attr *both = canon_axis(rewriter_module(r)->ctx, m, now.axis->name, pre,
                                    size * canon_size(m, last->axis));
      last->axis = attr_as(axis_ref, both);
    } else {
      VEC_PUSH(rewriter_scratch(r), out, now);
    }
  }
  return out;
}

/* A sharding as strides in the flat tensor: two shardings of different shapes mean the same pieces
 * where these lists agree. In doubles, as Shardy has them: an uneven dimension has no whole
 * stride. */
static strides axis_strides(const rewriter *r, const tensor_sharding_attr *s, const type *t,
                            const mesh_attr *m) {
  strides out = {0};
  double below = 1;
  for (size_t d = t->dims.len; d-- > 0;) {
    attrs axes = attr_as(dim_sharding, s->dims.data[d])->axes;
    i64 total = 1, dim = t->dims.data[d];
    for (size_t i = 0; i < axes.len; i++)
      if (!checked_mul(total, canon_size(m, attr_as(axis_ref, axes.data[i])), &total)) total = 1;
    double stride = below * (double)(dim / total + (dim % total > 0));
    for (size_t i = axes.len; i-- > 0;) {
      const axis_ref_attr *a = attr_as(axis_ref, axes.data[i]);
      VEC_PUSH(rewriter_scratch(r), out, (axis_stride){a, stride});
      stride *= (double)canon_size(m, a);
    }
    below *= (double)dim;
  }
  sort_strides(&out);
  return merge_strides(r, m, &out);
}

static bool same_list(attrs a, attrs b) {
  return a.len == b.len && (!a.len || memcmp(a.data, b.data, a.len * sizeof *a.data) == 0);
}

/* Do both mean the same pieces of the same bytes, seen in different shapes? */
static bool same_pieces(rewriter *r, const attr *x, const type *t, const attr *y, const type *u) {
  const tensor_sharding_attr *a = attr_as(tensor_sharding, x), *b = attr_as(tensor_sharding, y);
  if (x == y && t == u) return true;
  if (!a || !b || a->mesh != b->mesh || !same_list(a->replicated, b->replicated)) return false;
  if (!type_is_ranked(t) || !type_is_ranked(u) || t->encoding || u->encoding) return false;
  if (a->dims.len != t->dims.len || b->dims.len != u->dims.len) return false;
  const mesh_attr *m = canon_mesh(r, a->mesh);
  if (!m) return false;
  strides p = axis_strides(r, a, t, m), q = axis_strides(r, b, u, m);
  if (p.len != q.len) return false;
  for (size_t i = 0; i < p.len; i++)
    if (p.data[i].axis != q.data[i].axis || !is_near(p.data[i].stride, q.data[i].stride))
      return false;
  return true;
}

/* The sharding before the transposes that lead to v, as far up as ranks stay. */
static const attr *before_transposes(rewriter *r, const attr *sharding, const value *v) {
  for (const op *o; (o = value_op(v)) && moves_nothing(o); v = op_operand(o, 0)) {
    struct transpose_attrs t;
    if (op_is(o, reshape)) {
      if (op_operand(o, 0)->type->dims.len != o->results[0].type->dims.len) break;
      continue;
    }
    tensor_sharding_attr s = *attr_as(tensor_sharding, sharding);
    if (!view_transpose(o, &t) || t.permutation.len != s.dims.len) break;
    const attr **dims = ARENA_ARRAY(rewriter_scratch(r), const attr *, s.dims.len + 1);
    for (size_t i = 0; i < s.dims.len; i++) dims[t.permutation.data[i]] = s.dims.data[i];
    s.dims.data = dims;
    s.unreduced_kind = NULL;
    s.base = (attr){.id = ATTR_tensor_sharding};
    sharding = attr_unique(rewriter_module(r)->ctx, &s.base);
  }
  return sharding;
}

/* A reshard of root, or of reshapes of it, before o in its block, that gives the same pieces. */
static value *find_reshard(rewriter *r, value *root, const attr *target, const op *o) {
  VEC(value *) work = {0};
  VEC_PUSH(rewriter_scratch(r), work, root);
  while (work.len) { /* the uses of a value lead to no value twice */
    value *v = work.data[--work.len];
    for (use *u = v->uses; u; u = u->next) {
      op *user = u->owner;
      if (user == o) continue;
      if (op_is(user, reshape)) VEC_PUSH(rewriter_scratch(r), work, op_result(user, 0));
      if (op_is(user, reshard) && user->parent == o->parent && rewrite_is_before(r, user, o) &&
          same_pieces(r, op_attr(user, SLOT_NAME(sharding)), user->results[0].type, target,
                      o->results[0].type))
        return op_result(user, 0);
    }
  }
  return NULL;
}

static op *behind(const value *v) {
  const op *o = value_op(v);
  return o ? o->next : v->def.block->first;
}

/* The same reshards of the same value that come after o are o. Each of them would find o by itself,
 * but only behind all the others. */
static bool merge_equals(rewriter *r, op *o) {
  VEC(op *) equal = {0};
  for (const use *u = op_operand(o, 0)->uses; u; u = u->next)
    if (u->owner != o && op_is(u->owner, reshard) && u->owner->parent == o->parent &&
        op_attr(u->owner, SLOT_NAME(sharding)) == op_attr(o, SLOT_NAME(sharding)) &&
        rewrite_is_before(r, o, u->owner))
      VEC_PUSH(rewriter_scratch(r), equal, u->owner);
  value *v = op_result(o, 0);
  for (size_t i = equal.len; i-- > 0;) rewrite_replace(r, equal.data[i], &v);
  return equal.len != 0;
}

/* Looks through reshapes and transposes, which move nothing: a reshard of a transposed value may be
 * the transpose of a reshard that is there. */
static bool repeated_reshard(rewriter *r, op *o) {
  ir_module *m = rewriter_module(r);
  VEC(op *) path = {0}; /* from o's operand up to the root */
  value *root = op_operand(o, 0);
  for (op *d; (d = value_op(root)) && moves_nothing(d); root = op_operand(d, 0))
    VEC_PUSH(rewriter_scratch(r), path, d);
  const attr *target = before_transposes(r, op_attr(o, SLOT_NAME(sharding)), op_operand(o, 0));
  value *found = find_reshard(r, root, target, o);
  if (!found) return merge_equals(r, o);
  if (found->type != root->type) {
    op *n = rewrite_create(r, behind(found), OP_reshape, o->loc, &found, 1, &root->type, 1);
    found = op_result(n, 0);
  }
  while (path.len) {
    op *copy = op_clone(m, path.data[--path.len], NULL);
    op_set_operand(copy, 0, found);
    op *def = value_op(found);
    op_insert(copy, def ? def->parent : found->def.block, behind(found));
    rewrite_inserted(r, copy);
    found = op_result(copy, 0);
  }
  rewrite_replace(r, o, &found);
  return true;
}

static bool reshard_of_reshard(rewriter *r, op *o) {
  ir_module *m = rewriter_module(r);
  op *inner = value_op(op_operand(o, 0));
  if (!inner || !op_is(inner, reshard) || !value_has_one_use(op_result(inner, 0))) return false;
  value *in = op_operand(inner, 0), *out;
  op *n =
      rewrite_create(r, o, OP_reshard, loc_fuse(m->ctx, o->loc, inner->loc), &in, 1, &in->type, 1);
  op_set(n, reshard, sharding, op_attr(o, SLOT_NAME(sharding)));
  out = op_result(n, 0);
  rewrite_replace(r, o, &out);
  return true;
}

/* ---- manual computations ---- */

/* The verifier has seen that lists and arguments fit; here it is asked again, as patterns run on
 * what other patterns leave. */
static bool unused_inputs(rewriter *r, op *o) {
  ir_module *m = rewriter_module(r);
  struct manual_computation_attrs v;
  block *b = op_body(o, 0);
  if (!b || !view_manual_computation(o, &v) || b->num_args != o->num_operands ||
      v.in_shardings->shardings.len != o->num_operands)
    return false;
  VEC(value *) kept = {0};
  VEC(const attr *) in = {0};
  for (u32 i = 0; i < o->num_operands; i++)
    if (b->args[i]->uses) {
      VEC_PUSH(rewriter_scratch(r), kept, op_operand(o, i));
      VEC_PUSH(rewriter_scratch(r), in, v.in_shardings->shardings.data[i]);
    }
  if (kept.len == o->num_operands) return false;
  op_set_operands(m, o, kept.data, kept.len);
  for (size_t i = b->num_args; i-- > 0;)
    if (!b->args[i]->uses) block_erase_arg(b, i);
  op_set(o, manual_computation, in_shardings,
         attr_make(m->ctx, sharding_per_value, .shardings = {in.data, in.len}));
  return true;
}

/* Devices along the manual axes; 0: not known. */
static i64 manual_devices(rewriter *r, const struct manual_computation_attrs *v) {
  attrs in = v->in_shardings->shardings, out = v->out_shardings->shardings;
  if (!in.len && !out.len) return 1;
  i64 n = 1;
  const mesh_attr *m = NULL;
  for (size_t i = 0; i < in.len + out.len && (!m || !m->axes.len); i++)
    m = canon_mesh(r,
                   attr_as(tensor_sharding, i < in.len ? in.data[i] : out.data[i - in.len])->mesh);
  for (size_t i = 0; m && i < v->manual_axes->axes.len; i++) {
    str name = {0};
    attr_get_str(v->manual_axes->axes.data[i], &name);
    if (!checked_mul(n, canon_whole_size(m, name), &n)) return 0;
  }
  return m ? n : 0;
}

/* The body in its place; the driver learns of it in its next round, as MLIR's does. */
static bool redundant_manual(rewriter *r, op *o) {
  struct manual_computation_attrs v;
  block *b = op_body(o, 0);
  if (!b || !b->last || !view_manual_computation(o, &v)) return false;
  bool no_values = !v.in_shardings->shardings.len && !v.out_shardings->shardings.len;
  if (no_values && op_is(b->first, sdy_return)) {
    rewrite_erase(r, o);
    return true;
  }
  if (manual_devices(r, &v) != 1 || b->last->num_operands != o->num_results) return false;
  ir_map *map = ir_map_create(rewriter_scratch(r));
  for (u32 i = 0; i < b->num_args; i++) ir_map_set(map, b->args[i], op_operand(o, i));
  for (op *i = b->first; i != b->last; i = i->next)
    op_insert(op_clone(rewriter_module(r), i, map), o->parent, o);
  for (u32 i = 0; i < o->num_results; i++)
    value_replace(op_result(o, i), ir_map_get(map, op_operand(b->last, i)));
  rewrite_erase(r, o);
  return true;
}

const rewrite_pattern canon_regions[] = {
    {OP_reshard, 1, repeated_reshard, "ReshardCommonSubexpressionEliminationPattern", NULL},
    {OP_reshard, 2, reshard_of_reshard, "ReshardOfReshardPattern", "sdy-reshard"},
    {OP_manual_computation, 1, unused_inputs, "ManualComputationUnusedInputsPattern", NULL},
    {OP_manual_computation, 1, redundant_manual, "RedundantManualComputationPattern", NULL},
    {0},
};

const rewrite_pattern *const shard_patterns[SHARD_PATTERNS] = {canon_collectives, canon_regions};
