/* What the last shards of a dimension have behind its end does not count.
 *
 * Nobody says what is there, but for zeros where a whole was cut; most ops make of it what nobody
 * reads (PADDING_ANY). Where an op combines elements along the dimension, an operand becomes
 *
 *   select(index along the dimension < its size, operand, fill)
 *
 * which is the operand itself, in the program about wholes; sdy-convert-global-to-local, which
 * begins with this, makes the index that of the whole in each shard. */
#include "partition/mask.h"

#include "partition/passes.h"
#include "partition/record.h"

/* ---- making masks ---- */

static value *spread(cursor *at, value *scalar, i64s dims, const sharding *s) {
  return emit_sharded(at->env, emit_broadcast(at, scalar, dims), s);
}

enum { LT = 5 }; /* of #stablehlo<comparison_direction> */

/* Whether the index along d is below size. */
static value *in_range(cursor *at, i64s dims, u32 d, i64 size, const sharding *s) {
  const part_env *e = at->env;
  const type *count = dims.data[d] <= INT32_MAX ? type_i32(e->c) : type_i64(e->c);
  const type *t = type_tensor(e->c, dims, count, NULL);
  value *iota = emit_sharded(e, emit(at, OP_iota, NULL, 0, t), s);
  op_set(iota->def.op, iota, iota_dimension, attr_i64(e->c, d));
  value *limit = emit_splat(at, type_tensor(e->c, (i64s){0}, count, NULL), (const char *)&size);
  return emit_sharded(e, emit_compare(at, iota, spread(at, limit, dims, s), LT), s);
}

value *emit_masked(cursor *at, value *v, const i64 *sizes, const bool *dims, value *fill) {
  const part_env *e = at->env;
  const sharding *s = part_sharding(e, v);
  value *mask = NULL;
  for (u32 d = 0; d < v->type->dims.len; d++) {
    if (!dims[d]) continue;
    value *here = in_range(at, v->type->dims, d, sizes[d], s);
    mask = mask ? emit_sharded(e, emit_binary(at, OP_and, mask, here), s) : here;
  }
  value *in[] = {mask, v, spread(at, fill, v->type->dims, s)};
  return emit_sharded(e, emit(at, OP_select, in, 3, v->type), s);
}

/* ---- what is zero anyway ---- */

static bool is_whole(const part_env *e, const value *v, u32 d) {
  const sharding *s = part_sharding(e, v);
  return !s || sharding_dim_size(s, d) == 1;
}

/* Was dimension d cut by ops that put zeros behind it, and that was all? */
static bool has_zeros(const part_env *e, const value *v, u32 d) {
  for (int depth = 0; depth < 16; depth++) {
    const op *o = value_op(v);
    struct transpose_attrs t;
    if (!o || op_kind(o) >= OP_COUNT || o->num_operands != 1) return false;
    if (op_is(o, transpose)) {
      if (!view_transpose(o, &t)) return false;
      d = (u32)t.permutation.data[d];
    } else if (!op_is(o, sdy_all_slice) && !op_is(o, sdy_all_to_all) && !op_is(o, sdy_all_gather) &&
               !op_is(o, sdy_collective_permute)) {
      return false;
    }
    v = op_operand(o, 0);
    if (is_whole(e, v, d)) return true;
  }
  return false;
}

/* ---- the pass ---- */

typedef struct mask_pass {
  part_env e;
  rule_set rules;
  bool ok;
} mask_pass;

static bool is_uneven(const part_env *e, const value *v, u32 d) {
  const sharding *s = part_sharding(e, v);
  if (!s || !type_is_ranked(v->type) || v->type->dims.data[d] < 0) return false;
  return v->type->dims.data[d] % sharding_dim_size(s, d) != 0;
}

static u32 rank_of(const value *v) { return type_is_ranked(v->type) ? (u32)v->type->dims.len : 0; }

static bool has_uneven(const part_env *e, const value *v) {
  const sharding *s = part_sharding(e, v);
  for (u32 d = 0; s && d < rank_of(v); d++)
    if (v->type->dims.data[d] > 0 && v->type->dims.data[d] % sharding_dim_size(s, d)) return true;
  return false;
}

static bool any_uneven(const part_env *e, const op *o) {
  for (u32 t = 0; t < o->num_operands + o->num_results; t++)
    if (has_uneven(e, op_tensor(o, t))) return true;
  return false;
}

/* What goes where operand i has padding; NULL: nothing need. */
static value *fill_of(cursor *at, const part_record *r, const op *o, u32 i) {
  const type *elem = op_operand(o, i)->type->elem;
  const type *scalar = type_tensor(at->env->c, (i64s){0}, elem, NULL);
  switch ((padding)r->row->padding) {
  case PADDING_ZERO:
    return emit_zeros(at, scalar);
  case PADDING_INITIAL:
    if (i >= o->num_operands / 2) return NULL;
    if (!part_same_element(op_operand(o, i), op_operand(o, o->num_operands / 2 + i)))
      return emit_no_addend(at, scalar); /* only a sum is cut so */
    return op_operand(o, o->num_operands / 2 + i);
  case PADDING_NEUTRAL:
    return i > o->num_operands / 2 ? emit_no_addend(at, scalar) : NULL;
  case PADDING_NONE:
  case PADDING_ANY:
    break;
  }
  return NULL;
}

static void mask_operand(mask_pass *p, op *o, const part_record *r, u32 i) {
  const part_env *e = &p->e;
  value *v = op_operand(o, i);
  bool *dims = arena_zalloc(e->a, rank_of(v)), any = false;
  for (u32 d = 0; d < rank_of(v); d++) {
    if (!is_uneven(e, v, d)) continue;
    u32 f = r->rule->places[r->rule->dim_begin[r->rule->tensor_begin[i] + d]];
    dims[d] = r->needs[f].kind == NEED_REDUCE;
    if (r->row->padding == PADDING_ZERO) dims[d] = dims[d] && !has_zeros(e, v, d);
    any |= dims[d];
  }
  cursor at = cursor_before(e, o);
  value *fill = any ? fill_of(&at, r, o, i) : NULL;
  if (fill) op_set_operand(o, i, emit_masked(&at, v, v->type->dims.data, dims, fill));
}

/* What explicit.c left uneven that may not be is a gap, and said to be one. */
static bool may_be_uneven(mask_pass *p, const op *o, const part_record *r) {
  for (u32 t = 0; t < o->num_operands + o->num_results; t++)
    for (u32 d = 0; d < rank_of(op_tensor(o, t)); d++) {
      if (!is_uneven(&p->e, op_tensor(o, t), d)) continue;
      const rule *by = r->rule;
      u32 at = by ? by->dim_begin[by->tensor_begin[t] + d] : 0;
      if (!by || at == by->dim_begin[by->tensor_begin[t] + d + 1] ||
          !part_may_pad(r, o, by->places[at]))
        return op_unimplemented(p->e.c, o, "with padding along dimension %u of its %s %u", d,
                                t < o->num_operands ? "operand" : "result",
                                t < o->num_operands ? t : t - o->num_operands);
    }
  return true;
}

static walk_result mask_op(void *user, op *o) {
  mask_pass *p = user;
  part_record r;
  if (part_row_of(o)->placed != PLACED_BY_RULE || !any_uneven(&p->e, o)) return WALK_ON;
  p->ok = part_record_make(p->e.a, &p->rules, o, &r) && may_be_uneven(p, o, &r);
  for (u32 i = 0; p->ok && i < o->num_operands; i++) mask_operand(p, o, &r, i);
  return p->ok ? WALK_ON : WALK_STOP;
}

bool mask_padding(ir_module *m, arena *scratch) {
  mask_pass p = {.e = part_env_make(m, scratch), .ok = true};
  rule_set_init(&p.rules, m->ctx, scratch, false);
  p.rules.extra = true; /* whatever propagation made of them */
  p.rules.apart = true;
  op_walk(m->root, mask_op, &p);
  return p.ok && shard_space_check(p.e.space);
}
