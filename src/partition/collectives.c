/* terrazzo-collectives-to-reshards: what the program says of sdy collectives, as reshards.
 * sdy-reshard-to-collectives: each reshard as the collectives of its plan (reshard.h). */
#include "partition/env.h"
#include "partition/passes.h"
#include "partition/reshard.h"

/* made (may be NULL): an op for each step so far, as plans serve many reshards. */
static value *emit_step(cursor *at, value *v, const reshard_step *s, hash_index *made) {
  static const op_id op_of[] = {[STEP_ALL_SLICE] = OP_sdy_all_slice,
                                [STEP_PERMUTE] = OP_sdy_collective_permute,
                                [STEP_ALL_TO_ALL] = OP_sdy_all_to_all,
                                [STEP_ALL_GATHER] = OP_sdy_all_gather};
  const part_env *e = at->env;
  const mesh *m = s->out->mesh;
  value *r = emit(at, op_of[s->kind], &v, 1, v->type);
  op *o = r->def.op, *before = made ? index_get(made, s) : NULL;
  if (before) {
    memcpy(o->slots, before->slots, o->info->num_slots * sizeof *o->slots);
    return r;
  }
  if (made) index_set(made, e->a, s, o);
  op_set_any(o, out_sharding, part_attr(e, s->out));
  if (s->kind == STEP_ALL_SLICE)
    op_set(o, sdy_all_slice, slicing_axes, part_lists_attr(e, m, s->dim_axes, s->out->rank));
  if (s->kind == STEP_ALL_GATHER)
    op_set(o, sdy_all_gather, gathering_axes, part_lists_attr(e, m, s->dim_axes, s->out->rank));
  if (s->kind == STEP_ALL_TO_ALL) {
    const attr **params = ARENA_ARRAY(e->a, const attr *, s->num_moves);
    for (u32 i = 0; i < s->num_moves; i++)
      params[i] = attr_make(e->c, all_to_all_param, .axes = part_axes_attrs(e, m, s->moves[i].axes),
                            .src_dim = s->moves[i].src, .tgt_dim = s->moves[i].dst);
    op_set(o, sdy_all_to_all, params,
           attr_make(e->c, all_to_all_params, .params = {params, s->num_moves}));
  }
  return r;
}

/* A permute may change meshes; all others are on one (emit_on_mesh). */
static value *emit_steps(cursor *at, value *v, const reshard_steps *steps, hash_index *made) {
  for (size_t i = 0; i < steps->len; i++) {
    const reshard_step *s = &steps->data[i];
    if (s->kind != STEP_PERMUTE) v = emit_on_mesh(at, v, s->out->mesh);
    v = emit_step(at, v, s, made);
  }
  return v;
}

typedef struct reshards {
  const part_env *e;
  arena *a;
  bool constraints;
  VEC(op *) list;
  hash_index plans; /* plan */
  hash_index made;  /* ops by their step */
} reshards;

typedef struct plan {
  const sharding *in, *out;
  const type *t;
  bool others;
  reshard_steps steps;
} plan;

/* Many reshards are between the same shardings; those are interned. */
static const reshard_steps *plan_of(reshards *r, const op *o, const sharding *in,
                                    const sharding *out, const type *t) {
  bool others = part_axes_are_free(o);
  u64 h = hash_ptr(t, hash_ptr(out, hash_ptr(in, others)));
  plan *p;
  for (size_t at = 0; (p = index_next(&r->plans, h, &at));)
    if (p->in == in && p->out == out && p->t == t && p->others == others) return &p->steps;
  p = ARENA_NEW(r->a, plan);
  *p = (plan){.in = in, .out = out, .t = t, .others = others};
  reshard_plan(r->a, in, out, t->dims.data, others, &p->steps);
  index_add(&r->plans, r->a, h, p);
  return &p->steps;
}

/* Sums are no matter of reshards here: insert-explicit-reshards has made all-reduces of them
 * before. */
static bool lower_reshard(reshards *r, op *o) {
  const part_env *e = r->e;
  value *v = op_operand(o, 0);
  const sharding *out = part_sharding(e, op_result(o, 0)), *in = part_sharding(e, v);
  if (!out || !type_is_ranked(v->type) || out->rank != v->type->dims.len)
    return op_error(e->c, o, "has a sharding that does not fit its type");
  if (!in) in = sharding_make_replicated(e->a, out->mesh, out->rank, true);
  if (axes_difference(e->a, in->unreduced, out->unreduced).len ||
      axes_difference(e->a, out->unreduced, in->unreduced).len)
    return op_unimplemented(e->c, o, "between different unreduced axes");
  cursor at = cursor_before(e, o);
  bool cut = !sharding_is_replicated(in) && !sharding_is_replicated(out);
  if (cut && !mesh_same(in->mesh, out->mesh, true)) {
    const sharding *there = sharding_on_mesh(e->a, in, out->mesh);
    if (there) {
      v = emit_as(&at, v, there);
    } else { /* nothing in common but the devices */
      there = sharding_make_replicated(e->a, in->mesh, in->rank, true);
      v = emit_steps(&at, v, plan_of(r, o, in, there, v->type), &r->made);
      there = sharding_make_replicated(e->a, out->mesh, out->rank, true);
    }
    in = there;
  }
  value_replace(op_result(o, 0), emit_steps(&at, v, plan_of(r, o, in, out, v->type), &r->made));
  op_erase(o);
  return true;
}

/* ---- as Shardy does it ---- */

static value *before_barriers(value *v) {
  while (value_op(v) && op_is(value_op(v), propagation_barrier)) v = op_operand(value_op(v), 0);
  return v;
}

static bool cuts_nothing(const sharding *s) {
  for (u32 d = 0; d < s->rank; d++)
    if (s->dims[d].axes.len) return false;
  return true;
}

/* Reshards from or to one device, or between meshes of other axes, stay. */
static bool lower_as_shardy(const part_env *e, op *o, bool keep_redundant) {
  value *v = before_barriers(op_operand(o, 0));
  const sharding *out = part_sharding(e, op_result(o, 0)), *in = part_sharding(e, v);
  if (!out || !type_is_ranked(v->type) || out->rank != v->type->dims.len) return true;
  if (!in) in = sharding_make_replicated(e->a, out->mesh, out->rank, true);
  bool same_mesh = str_eq(in->mesh->name, out->mesh->name) && mesh_same(in->mesh, out->mesh, false);
  if (keep_redundant && sharding_equivalent(in, out) && (same_mesh || cuts_nothing(out)))
    return true;
  if (mesh_is_maximal(in->mesh) || mesh_is_maximal(out->mesh)) return true;
  bool whole = cuts_nothing(out);
  if (!whole && !mesh_same(in->mesh, out->mesh, true)) return true;
  if (axes_difference(e->a, in->unreduced, out->unreduced).len ||
      axes_difference(e->a, out->unreduced, in->unreduced).len)
    return op_error(e->c, o, "is between different unreduced axes");
  reshard_steps steps = {0};
  if (whole && cuts_nothing(in)) {
    value_replace(op_result(o, 0), op_operand(o, 0));
  } else {
    sharding to = *out;
    if (whole) to.mesh = in->mesh;
    reshard_plan_anyhow(e->a, in, &to, v->type->dims.data, &steps);
    cursor at = cursor_before(e, o);
    value_replace(op_result(o, 0), emit_steps(&at, v, &steps, NULL));
  }
  op_erase(o);
  return true;
}

static walk_result collect(void *user, op *o) {
  reshards *r = user;
  if (op_is(o, reshard) || (r->constraints && op_is(o, sharding_constraint)))
    VEC_PUSH(r->a, r->list, o);
  return WALK_ON;
}

bool part_reshard_to_collectives(ir_module *m, arena *scratch, const pass_args *args) {
  bool all = pass_option_flag(args, STR("leave-none"), false);
  bool keep = pass_option_flag(args, STR("keep-redundant-reshards"), false);
  part_env e = part_env_make(m, scratch);
  if (!part_has_mesh(&e)) return true;
  reshards r = {.e = &e, .a = scratch, .constraints = all};
  op_walk(m->root, collect, &r);
  for (size_t i = 0; i < r.list.len; i++) {
    op *o = r.list.data[i];
    if (!(all ? lower_reshard(&r, o) : lower_as_shardy(&e, o, keep))) return false;
  }
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
