/* terrazzo-fuse-collectives: what two collectives do, one does. */
#include "dialect/effects.h"
#include "partition/env.h"
#include "partition/passes.h"
#include "partition/reshard.h"
#include "partition/why.h"

typedef struct fusion {
  const part_env *e;
  op *reduce, *slice;
  const mesh *mesh;
  axis_vec left; /* reduced axes that no dimension is sliced along */
  /* Per dimension, in the order in which it is done: what is sliced alone needs less to be sent
   * later; what is both; what is sliced inside of that. */
  axis_list *before, *scatter, *after;
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

/* A reduced axis may be sliced in parts: cut it where slices begin and end. */
static axis_list cut_as(arena *a, axis_list reduced, axis_list slices) {
  for (size_t i = 0; i < slices.len; i++)
    for (size_t k = 0; k < reduced.len; k++) {
      axis_ref slice = slices.data[i];
      if (!axis_contains(reduced.data[k], slice) || !axis_can_coexist(reduced.data[k], slice))
        continue;
      axis_list rest = axes_difference(a, reduced, (axis_list){&slices.data[i], 1});
      reduced = axes_concat(a, rest, (axis_list){&slices.data[i], 1});
      break;
    }
  return reduced;
}

/* false: the slice can only come after the sum. */
static bool match_axes(fusion *f) {
  const part_env *e = f->e;
  struct sdy_all_reduce_attrs r;
  const sharding *in = part_sharding(e, op_operand(f->slice, 0));
  const sharding *out = part_sharding(e, op_result(f->slice, 0));
  if (!view_sdy_all_reduce(f->reduce, &r) || !out) return false;
  f->mesh = out->mesh;
  f->before = arena_zalloc(e->a, out->rank * sizeof(*f->before));
  f->scatter = arena_zalloc(e->a, out->rank * sizeof(*f->scatter));
  f->after = arena_zalloc(e->a, out->rank * sizeof(*f->after));
  axis_list *cut = ARENA_ARRAY(e->a, axis_list, out->rank), all = {0};
  for (u32 d = 0; d < out->rank; d++) {
    cut[d] = axes_difference(e->a, out->dims[d].axes, in ? in->dims[d].axes : (axis_list){0});
    all = axes_concat(e->a, all, cut[d]);
  }
  axis_list reduced = cut_as(e->a, part_read_axes(e, f->mesh, r.reduction_axes->axes), all);
  for (size_t i = 0; i < reduced.len; i++) VEC_PUSH(e->a, f->left, reduced.data[i]);
  bool any = false;
  for (u32 d = 0; d < out->rank; d++) {
    size_t n = 0;
    while (n < cut[d].len && take(&f->left, cut[d].data[n])) n++;
    f->scatter[d] = axes_slice(cut[d], 0, n);
    *(n ? &f->after[d] : &f->before[d]) = axes_slice(cut[d], n, cut[d].len - n);
    if (axes_clash(f->before[d], reduced)) return false;
    any |= cut[d].len != 0;
  }
  return any;
}

/* Cut further along these. */
static const sharding *cut_more(const fusion *f, const sharding *s, const axis_list *more) {
  const part_env *e = f->e;
  const sharding *out = part_sharding(e, op_result(f->slice, 0));
  axis_list *dims = ARENA_ARRAY(e->a, axis_list, out->rank);
  for (u32 d = 0; d < out->rank; d++)
    dims[d] = axes_merge(e->a, axes_concat(e->a, s ? s->dims[d].axes : (axis_list){0}, more[d]));
  sharding *r = arena_copy(e->a, sharding_make_closed(e->a, f->mesh, dims, out->rank), sizeof *r);
  r->unreduced = out->unreduced;
  r->unreduced_kind = out->unreduced_kind;
  return r;
}

static bool any_axes(const axis_list *dims, u32 rank) {
  for (u32 d = 0; d < rank; d++)
    if (dims[d].len) return true;
  return false;
}

/* Slices v along these axes; *s is where it is, and will be. */
static value *slice_more(const fusion *f, cursor *at, value *v, const axis_list *axes,
                         const sharding **s) {
  const part_env *e = f->e;
  const sharding *to = cut_more(f, *s, axes);
  if (!any_axes(axes, to->rank)) return v;
  v = emit(at, OP_sdy_all_slice, &v, 1, v->type);
  op_set(v->def.op, sdy_all_slice, slicing_axes, part_lists_attr(e, f->mesh, axes, to->rank));
  op_set(v->def.op, sdy_all_slice, out_sharding, part_attr(e, to));
  *s = to;
  return v;
}

/* Each step leaves shards that the next one can cut. */
static bool steps_hold(const fusion *f) {
  const value *v = op_result(f->slice, 0);
  const sharding *from = part_sharding(f->e, op_operand(f->slice, 0));
  const sharding *before = cut_more(f, from, f->before), *mid = cut_more(f, before, f->scatter);
  i64s shape = v->type->dims;
  return sharding_steps(from, before, shape.data) && sharding_steps(before, mid, shape.data) &&
         sharding_steps(mid, part_sharding(f->e, v), shape.data);
}

static bool is_only_sliced(const value *v) {
  for (const use *u = v->uses; u; u = u->next)
    if (!op_is(u->owner, sdy_all_slice)) return false;
  return true;
}

static bool is_before(const op *x, const op *y) {
  while (x && x != y) x = x->next;
  return x != NULL;
}

/* The same sum is wanted whole elsewhere: its slice is one of that. */
static bool fuse_equal_sums(op *reduce) {
  for (use *u = op_operand(reduce, 0)->uses; u; u = u->next) {
    op *other = u->owner;
    if (other == reduce || !op_is(other, sdy_all_reduce) || other->parent != reduce->parent ||
        is_only_sliced(op_result(other, 0)) ||
        memcmp(other->slots, reduce->slots, reduce->info->num_slots * sizeof *reduce->slots) != 0)
      continue;
    if (is_before(reduce, other))
      value_replace(op_result(other, 0), op_result(reduce, 0));
    else
      value_replace(op_result(reduce, 0), op_result(other, 0));
    return true; /* what is unused goes in the end */
  }
  return false;
}

/* all_reduce, all_slice -> all_slice, reduce_scatter, all_reduce, all_slice, or what it takes of
 * these. */
static bool fuse_reduce_scatter(const part_env *e, op *slice, why_log *why) {
  op *reduce = value_op(op_operand(slice, 0));
  if (!reduce || !op_is(reduce, sdy_all_reduce) || !value_has_one_use(op_result(reduce, 0)))
    return false;
  fusion f = {.e = e, .reduce = reduce, .slice = slice};
  if (fuse_equal_sums(reduce)) return true;
  if (!match_axes(&f) || !steps_hold(&f)) return false;
  const attr *kind = op_attr(reduce, SLOT_NAME(reduction_op));
  const sharding *s = part_sharding(e, op_result(reduce, 0));
  cursor at = cursor_before(e, slice);
  at.loc = why_join(why, e->c, why ? reduce->loc : at.loc, slice->loc);
  value *v = slice_more(&f, &at, op_operand(reduce, 0), f.before, &s);
  const sharding *mid = cut_more(&f, s, f.scatter);
  if (any_axes(f.scatter, mid->rank)) {
    v = emit(&at, OP_sdy_reduce_scatter, &v, 1, v->type);
    op_set(v->def.op, sdy_reduce_scatter, reduce_scatter_axes,
           part_lists_attr(e, f.mesh, f.scatter, mid->rank));
    op_set(v->def.op, sdy_reduce_scatter, out_sharding, part_attr(e, mid));
    op_set(v->def.op, sdy_reduce_scatter, reduction_op, kind);
    s = mid;
  }
  if (f.left.len) {
    axis_list l = axes_sort_merge(e->a, axis_vec_list(&f.left));
    v = emit(&at, OP_sdy_all_reduce, &v, 1, v->type);
    op_set(v->def.op, sdy_all_reduce, reduction_axes,
           attr_make(e->c, axis_ref_list, .axes = part_axes_attrs(e, f.mesh, l)));
    op_set(v->def.op, sdy_all_reduce, out_sharding, part_attr(e, mid));
    op_set(v->def.op, sdy_all_reduce, reduction_op, kind);
  }
  v = slice_more(&f, &at, v, f.after, &s);
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
static void fuse_block(const part_env *e, block *b, why_log *why) {
  FOR_OPS(o, b) {
    for (u32 r = 0; r < o->num_regions; r++)
      for (block *in = o->regions[r].first; in; in = in->next) fuse_block(e, in, why);
    if (op_is(o, sdy_all_slice) && !fuse_slice_of_gather(e, o))
      fuse_reduce_scatter(e, slice_before_convert(e, o), why);
  }
}

bool part_fuse_collectives(ir_module *m, arena *scratch, const pass_args *args) {
  part_env e = part_env_make(m, scratch);
  if (!part_has_mesh(&e) || !module_may_have(m, sdy_all_slice)) return true;
  fuse_block(&e, op_body(m->root, 0), why_of(args));
  ops_erase_dead(m->root, DEAD_BY_ROW);
  return shard_space_check(e.space);
}
