/* terrazzo-collectives-to-reshards: what the program says of sdy collectives, as reshards.
 * sdy-reshard-to-collectives: each reshard as the collectives of its plan (reshard.h).
 * terrazzo-fuse-collectives: what two of them do, one does. */
#include "dialect/effects.h"
#include "partition/env.h"
#include "partition/passes.h"
#include "partition/reshard.h"

static const attr *lists_attr(const part_env *e, const mesh *m, const axis_list *dims, u32 rank) {
  const attr **l = ARENA_ARRAY(e->a, const attr *, rank);
  for (u32 d = 0; d < rank; d++)
    l[d] = attr_make(e->c, axis_ref_list, .axes = part_axes_attrs(e, m, dims[d]));
  return attr_make(e->c, axis_ref_lists, .lists = {l, rank});
}

static value *emit_step(cursor *at, value *v, const reshard_step *s) {
  static const op_id op_of[] = {[STEP_ALL_SLICE] = OP_sdy_all_slice,
                                [STEP_PERMUTE] = OP_sdy_collective_permute,
                                [STEP_ALL_TO_ALL] = OP_sdy_all_to_all,
                                [STEP_ALL_GATHER] = OP_sdy_all_gather};
  const part_env *e = at->env;
  const mesh *m = s->out->mesh;
  value *r = emit(at, op_of[s->kind], &v, 1, v->type);
  op *o = r->def.op;
  op_set_any(o, out_sharding, part_attr(e, s->out));
  if (s->kind == STEP_ALL_SLICE)
    op_set(o, sdy_all_slice, slicing_axes, lists_attr(e, m, s->dim_axes, s->out->rank));
  if (s->kind == STEP_ALL_GATHER)
    op_set(o, sdy_all_gather, gathering_axes, lists_attr(e, m, s->dim_axes, s->out->rank));
  if (s->kind == STEP_ALL_TO_ALL) {
    const attr *p = attr_make(e->c, all_to_all_param, .axes = part_axes_attrs(e, m, s->axes),
                              .src_dim = s->src, .tgt_dim = s->dst);
    op_set(o, sdy_all_to_all, params, attr_make(e->c, all_to_all_params, .params = {&p, 1}));
  }
  return r;
}

/* A permute may change meshes; all others are on one (emit_on_mesh). */
static value *emit_steps(cursor *at, value *v, const reshard_steps *steps) {
  for (size_t i = 0; i < steps->len; i++) {
    const reshard_step *s = &steps->data[i];
    if (s->kind != STEP_PERMUTE) v = emit_on_mesh(at, v, s->out->mesh);
    v = emit_step(at, v, s);
  }
  return v;
}

/* Sums are no matter of reshards here: insert-explicit-reshards has made all-reduces of them
 * before. */
static bool lower_reshard(const part_env *e, op *o) {
  value *v = op_operand(o, 0);
  const sharding *out = part_sharding(e, op_result(o, 0)), *in = part_sharding(e, v);
  if (!out || !type_is_ranked(v->type) || out->rank != v->type->dims.len)
    return op_error(e->c, o, "has a sharding that does not fit its type");
  if (!in) in = sharding_make_replicated(e->a, out->mesh, out->rank, true);
  if (axes_difference(e->a, in->unreduced, out->unreduced).len ||
      axes_difference(e->a, out->unreduced, in->unreduced).len)
    return op_unimplemented(e->c, o, "between different unreduced axes");
  if (!sharding_divides(in, v->type->dims.data) || !sharding_divides(out, v->type->dims.data))
    return op_unimplemented(e->c, o, "of a dimension that its axes do not divide");
  reshard_steps steps = {0};
  if (!sharding_is_replicated(in) && !sharding_is_replicated(out) &&
      !mesh_same(in->mesh, out->mesh, true)) { /* nothing in common but the devices */
    const sharding *all = sharding_make_replicated(e->a, in->mesh, in->rank, true);
    reshard_plan(e->a, in, all, v->type->dims.data, &steps);
    in = sharding_make_replicated(e->a, out->mesh, out->rank, true);
  }
  reshard_plan(e->a, in, out, v->type->dims.data, &steps);
  cursor at = cursor_before(e, o);
  value_replace(op_result(o, 0), emit_steps(&at, v, &steps));
  op_erase(o);
  return true;
}

typedef struct reshards {
  arena *a;
  VEC(op *) list;
} reshards;

static walk_result collect(void *user, op *o) {
  reshards *r = user;
  if (op_is(o, reshard) || op_is(o, sharding_constraint)) VEC_PUSH(r->a, r->list, o);
  return WALK_ON;
}

bool part_reshard_to_collectives(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  part_env e = part_env_make(m, scratch);
  if (!part_has_mesh(&e)) return true;
  reshards r = {.a = scratch};
  op_walk(m->root, collect, &r);
  for (size_t i = 0; i < r.list.len; i++)
    if (!lower_reshard(&e, r.list.data[i])) return false;
  return shard_space_check(e.space);
}

/* ---- collectives of the program ---- */

/* A collective of sdy changes where the elements of a tensor are, and never the tensor: that an
 * op makes parts of a sum is not seen, and they are summed up behind it by explicit.c anyway, in
 * the op's own way and along the axes that it really has there. Summing again would count twice.
 * Only sums that a sharding names as unreduced are for the collective to end, and a reshard
 * between two such shardings does that. Source: openxla/xla, stablehlo_round_trip/export_ops.cc,
 * which drops or copies. */
static const bool only_moves[OP_COUNT] = {
    [OP_sdy_all_gather] = true,          [OP_sdy_all_slice] = true,
    [OP_sdy_all_to_all] = true,          [OP_sdy_collective_permute] = true,
    [OP_sdy_all_reduce] = true,          [OP_sdy_reduce_scatter] = true,
    [OP_replicated_to_unreduced] = true, [OP_sharded_to_unreduced] = true,
};

static walk_result to_reshard(void *user, op *o) {
  const part_env *e = user;
  if (op_kind(o) >= OP_COUNT || !only_moves[op_kind(o)]) return WALK_ON;
  value *v = op_operand(o, 0);
  cursor at = cursor_before(e, o);
  value *r = emit(&at, OP_reshard, &v, 1, v->type);
  op_set(r->def.op, reshard, sharding, op_attr(o, SLOT_NAME(out_sharding)));
  value_replace(op_result(o, 0), r);
  op_erase(o);
  return WALK_ON;
}

bool part_collectives_to_reshards(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  part_env e = part_env_make(m, scratch);
  if (part_has_mesh(&e)) op_walk_post(m->root, to_reshard, &e);
  return true;
}

/* ---- fusing ---- */

typedef struct fusion {
  const part_env *e;
  op *reduce, *slice;
  const mesh *mesh;
  axis_vec left;       /* reduced axes that no dimension is sliced along */
  axis_list *scatter;  /* per dimension */
  axis_list *residual; /* sliced, not reduced */
  bool any, any_residual;
} fusion;

static bool take(axis_vec *from, axis_ref r) {
  for (size_t i = 0; i < from->len; i++) {
    if (!axis_eq(from->data[i], r)) continue;
    memmove(from->data + i, from->data + i + 1, (from->len - i - 1) * sizeof(r));
    from->len--;
    return true;
  }
  return false;
}

/* Splits the sliced axes of every dimension in those reduced too, first, and the rest. */
static bool match_axes(fusion *f) {
  const part_env *e = f->e;
  struct sdy_all_reduce_attrs r;
  const sharding *in = part_sharding(e, op_operand(f->slice, 0));
  const sharding *out = part_sharding(e, op_result(f->slice, 0));
  if (!view_sdy_all_reduce(f->reduce, &r) || !out) return false;
  f->mesh = out->mesh;
  f->scatter = arena_zalloc(e->a, out->rank * sizeof(*f->scatter));
  f->residual = arena_zalloc(e->a, out->rank * sizeof(*f->residual));
  axis_list reduced = part_read_axes(e, f->mesh, r.reduction_axes->axes);
  axis_vec all = {0};
  for (u32 d = 0; d < out->rank; d++) {
    axis_list l = axes_difference(e->a, out->dims[d].axes, in ? in->dims[d].axes : (axis_list){0});
    for (size_t i = 0; i < l.len; i++) VEC_PUSH(e->a, all, l.data[i]);
    f->residual[d] = l;
  }
  /* a reduced axis may be sliced in parts: cut it where slices begin and end */
  for (size_t i = 0; i < all.len; i++)
    for (size_t k = 0; k < reduced.len; k++)
      if (axis_contains(reduced.data[k], all.data[i]) &&
          axis_can_coexist(reduced.data[k], all.data[i])) {
        axis_list rest = axes_difference(e->a, reduced, (axis_list){&all.data[i], 1});
        reduced = axes_concat(e->a, rest, (axis_list){&all.data[i], 1});
        break;
      }
  for (size_t i = 0; i < reduced.len; i++) VEC_PUSH(e->a, f->left, reduced.data[i]);
  for (u32 d = 0; d < out->rank; d++) {
    axis_list l = f->residual[d];
    size_t n = 0;
    while (n < l.len && take(&f->left, l.data[n])) n++;
    f->scatter[d] = axes_slice(l, 0, n);
    f->residual[d] = axes_slice(l, n, l.len - n);
    f->any |= n != 0;
    f->any_residual |= n != l.len;
  }
  return f->any;
}

/* What the reduce-scatter makes: the slice's operand, cut along the axes that both have. */
static const sharding *scattered(const fusion *f) {
  const part_env *e = f->e;
  const sharding *in = part_sharding(e, op_operand(f->slice, 0));
  const sharding *out = part_sharding(e, op_result(f->slice, 0));
  axis_list *dims = ARENA_ARRAY(e->a, axis_list, out->rank);
  for (u32 d = 0; d < out->rank; d++) {
    axis_list have = in ? in->dims[d].axes : (axis_list){0};
    dims[d] = axes_merge(e->a, axes_concat(e->a, have, f->scatter[d]));
  }
  sharding *s = arena_copy(e->a, sharding_make_closed(e->a, f->mesh, dims, out->rank), sizeof(*s));
  s->unreduced = out->unreduced;
  s->unreduced_kind = out->unreduced_kind;
  return s;
}

/* all_reduce, all_slice -> reduce_scatter, then what is left of either, on smaller shards. */
static bool fuse_reduce_scatter(const part_env *e, op *slice) {
  op *reduce = value_op(op_operand(slice, 0));
  if (!reduce || !op_is(reduce, sdy_all_reduce) || !value_has_one_use(op_result(reduce, 0)))
    return false;
  fusion f = {.e = e, .reduce = reduce, .slice = slice};
  if (!match_axes(&f)) return false;
  const attr *kind = op_attr(reduce, SLOT_NAME(reduction_op));
  const sharding *mid = scattered(&f);
  cursor at = cursor_before(e, slice);
  value *v = op_operand(reduce, 0);
  v = emit(&at, OP_sdy_reduce_scatter, &v, 1, v->type);
  op_set(v->def.op, sdy_reduce_scatter, reduce_scatter_axes,
         lists_attr(e, f.mesh, f.scatter, mid->rank));
  op_set(v->def.op, sdy_reduce_scatter, out_sharding, part_attr(e, mid));
  op_set(v->def.op, sdy_reduce_scatter, reduction_op, kind);
  if (f.left.len) {
    axis_list l = axes_sort_merge(e->a, axis_vec_list(&f.left));
    v = emit(&at, OP_sdy_all_reduce, &v, 1, v->type);
    op_set(v->def.op, sdy_all_reduce, reduction_axes,
           attr_make(e->c, axis_ref_list, .axes = part_axes_attrs(e, f.mesh, l)));
    op_set(v->def.op, sdy_all_reduce, out_sharding, part_attr(e, mid));
    op_set(v->def.op, sdy_all_reduce, reduction_op, kind);
  }
  if (f.any_residual) {
    v = emit(&at, OP_sdy_all_slice, &v, 1, v->type);
    op_set(v->def.op, sdy_all_slice, slicing_axes, lists_attr(e, f.mesh, f.residual, mid->rank));
    op_set(v->def.op, sdy_all_slice, out_sharding, op_attr(slice, SLOT_NAME(out_sharding)));
  }
  value_replace(op_result(slice, 0), v);
  op_erase(slice);
  op_erase(reduce);
  return true;
}

/* A slice that undoes a gather. */
static bool fuse_slice_of_gather(const part_env *e, op *slice) {
  op *gather = value_op(op_operand(slice, 0));
  if (!gather || !op_is(gather, sdy_all_gather)) return false;
  value *v = op_operand(gather, 0);
  const sharding *in = part_sharding(e, v), *out = part_sharding(e, op_result(slice, 0));
  if (!in || !out || !sharding_equivalent(in, out) || !mesh_same(in->mesh, out->mesh, false))
    return false;
  value_replace(op_result(slice, 0), v);
  op_erase(slice);
  return true;
}

/* all_reduce, convert, all_slice: converts the slice instead, and the two collectives meet. */
static op *slice_before_convert(const part_env *e, op *slice) {
  op *convert = value_op(op_operand(slice, 0));
  if (!convert || !op_is(convert, convert) || !value_has_one_use(op_result(convert, 0)))
    return slice;
  value *v = op_operand(convert, 0);
  if (!value_op(v) || !op_is(value_op(v), sdy_all_reduce) || !value_has_one_use(v)) return slice;
  const sharding *out = part_sharding(e, op_result(slice, 0));
  cursor at = cursor_before(e, slice);
  value *cut = emit(&at, OP_sdy_all_slice, &v, 1, v->type);
  op_set(cut->def.op, sdy_all_slice, slicing_axes, op_attr(slice, SLOT_NAME(slicing_axes)));
  op_set(cut->def.op, sdy_all_slice, out_sharding, op_attr(slice, SLOT_NAME(out_sharding)));
  value *r = emit(&at, OP_convert, &cut, 1, op_result(slice, 0)->type);
  part_set_sharding(e, r->def.op, 0, out);
  value_replace(op_result(slice, 0), r);
  op_erase(slice);
  op_erase(convert);
  return cut->def.op;
}

/* After sdy-reshard-to-collectives, which makes what is fused here. Nothing of it is needed for
 * a right program, only for a faster one. */
static void fuse_block(const part_env *e, block *b) {
  FOR_OPS(o, b) {
    for (u32 r = 0; r < o->num_regions; r++)
      for (block *in = o->regions[r].first; in; in = in->next) fuse_block(e, in);
    if (op_is(o, sdy_all_slice) && !fuse_slice_of_gather(e, o))
      fuse_reduce_scatter(e, slice_before_convert(e, o));
  }
}

bool part_fuse_collectives(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  part_env e = part_env_make(m, scratch);
  if (!part_has_mesh(&e)) return true;
  fuse_block(&e, op_body(m->root, 0));
  ops_erase_dead(m->root, DEAD_BY_ROW);
  return shard_space_check(e.space);
}
