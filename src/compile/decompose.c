/* Which function makes other ops of each op of family `made`, and of some that have more than that
 * in the stages before. One of the family without a function does not compile. */
#include "compile/decompose.h"

#include "dialect/dialect.h"
#include "dialect/effects.h"
#include "dialect/expand.h"

#define MAKE_batch_norm_grad expand_batch_norm_grad
#define MAKE_batch_norm_training expand_batch_norm_training
/* plain.c has put them away */
#define MAKE_create_token NULL
#define MAKE_uniform_quantize NULL
#define MAKE_uniform_dequantize NULL
#define MAKE_after_all NULL
#define MAKE_get_tuple_element NULL
#define MAKE_tuple NULL
#define MAKE_async_start NULL
#define MAKE_async_done NULL
#define MAKE_call_indirect NULL
#define MAKE_func_constant NULL

#define MAKE_broadcast expand_broadcast_sizes
#define MAKE_einsum expand_einsum
#define MAKE_unary_einsum expand_einsum
#define MAKE_get_dimension_size expand_get_dimension_size
#define MAKE_set_dimension_size expand_set_dimension_size
#define MAKE_map expand_map
#define MAKE_torch_index_select expand_torch_index_select
#define MAKE_rng expand_rng
#define MAKE_real_dynamic_slice expand_real_dynamic_slice
#define MAKE_dynamic_reshape expand_dynamic_reshape
#define MAKE_dynamic_iota expand_dynamic_iota
#define MAKE_dynamic_broadcast_in_dim expand_dynamic_broadcast_in_dim
#define MAKE_dynamic_pad expand_dynamic_pad
#define MAKE_dynamic_gather expand_dynamic_gather
#define MAKE_dynamic_conv expand_dynamic_conv
#define MAKE_chlo_broadcast_add expand_by_chlo
#define MAKE_chlo_broadcast_atan2 expand_by_chlo
#define MAKE_chlo_broadcast_divide expand_by_chlo
#define MAKE_chlo_broadcast_maximum expand_by_chlo
#define MAKE_chlo_broadcast_minimum expand_by_chlo
#define MAKE_chlo_broadcast_multiply expand_by_chlo
#define MAKE_chlo_broadcast_next_after expand_by_chlo
#define MAKE_chlo_broadcast_polygamma expand_by_chlo
#define MAKE_chlo_broadcast_power expand_by_chlo
#define MAKE_chlo_broadcast_remainder expand_by_chlo
#define MAKE_chlo_broadcast_shift_left expand_by_chlo
#define MAKE_chlo_broadcast_shift_right_arithmetic expand_by_chlo
#define MAKE_chlo_broadcast_shift_right_logical expand_by_chlo
#define MAKE_chlo_broadcast_subtract expand_by_chlo
#define MAKE_chlo_broadcast_zeta expand_by_chlo
#define MAKE_chlo_broadcast_and expand_by_chlo
#define MAKE_chlo_broadcast_or expand_by_chlo
#define MAKE_chlo_broadcast_xor expand_by_chlo
#define MAKE_chlo_broadcast_complex expand_by_chlo
#define MAKE_chlo_broadcast_compare expand_by_chlo
#define MAKE_chlo_broadcast_select expand_by_chlo
#define MAKE_chlo_asin_acos_kernel expand_by_chlo
#define MAKE_chlo_constant expand_by_chlo
#define MAKE_chlo_constant_like expand_by_chlo
#define MAKE_chlo_ragged_dot expand_by_chlo
#define MAKE_chlo_scan expand_by_chlo

/* by parallel.c and channels.c, before all else */
#define MAKE_run_parallel NULL
#define MAKE_infeed NULL
#define MAKE_outfeed NULL
#define MAKE_send NULL
#define MAKE_recv NULL

/* by pass/refine.c */
#define MAKE_shape_of NULL
#define MAKE_const_shape NULL
#define MAKE_cstr_broadcastable NULL
#define MAKE_shape_broadcast NULL
#define MAKE_assuming NULL
#define MAKE_tensor_dim NULL
#define MAKE_from_elements NULL
#define MAKE_tensor_extract NULL
#define MAKE_tensor_cast NULL
#define MAKE_addi NULL
#define MAKE_subi NULL
#define MAKE_muli NULL
#define MAKE_divsi NULL
#define MAKE_maxsi NULL
#define MAKE_cmpi NULL
#define MAKE_arith_select NULL

#define MAKE_arith_constant expand_arith_constant

#define MAKE_ew(id) NULL
#define MAKE_cast(id) NULL
#define MAKE_bcast(id) NULL
#define MAKE_region(id) NULL
#define MAKE_coll(id) NULL
#define MAKE_term(id) NULL
#define MAKE_own(id) NULL
#define MAKE_later(id) NULL
#define MAKE_made(id) MAKE_##id
static expand_fn *const made_of[OP_COUNT] = {
#define OP(id, name, family, ...) [OP_##id] = MAKE_##family(id),
#include "ir/ops.def"
};

/* Ops of family `own`, which propagation and partitioning know. */
static expand_fn *const local_of[OP_COUNT] = {
    [OP_batch_norm_inference] = expand_batch_norm_inference,
    [OP_cross_replica_sum] = expand_cross_replica_sum,
};

bool decompose_knows(op_id id) { return made_of[id] || local_of[id]; }

/* A sharding that the op was given is its value's, whatever makes that. */
static void hand_on_shardings(expander *e, const op *o, value **out) {
  const sharding_per_value_attr *l = attr_as(sharding_per_value, op_discardable(o, SDY_SHARDING));
  for (u32 i = 0; l && i < o->num_results && i < l->shardings.len; i++) {
    value *v = expand_1(e, OP_sharding_constraint, out[i], out[i]->type);
    op_set(v->def.op, sharding_constraint, sharding, l->shardings.data[i]);
    out[i] = v;
  }
}

/* What the verifier asks less of than of what they become: sizes that were values, indices of any
 * type. */
static const bool unproven[OP_COUNT] = {
    [OP_dynamic_reshape] = true,    [OP_dynamic_iota] = true,
    [OP_dynamic_pad] = true,        [OP_dynamic_gather] = true,
    [OP_dynamic_conv] = true,       [OP_dynamic_broadcast_in_dim] = true,
    [OP_real_dynamic_slice] = true, [OP_torch_index_select] = true,
};

static bool is_proven(expander *e, const op *o, value *const *out) {
  for (u32 i = 0; unproven[op_kind(o)] && i < o->num_results; i++)
    if (!out[i]->is_arg && !dialect_verify_op(e->m, out[i]->def.op)) return false;
  return true;
}

/* Of someone else's dialect, who says what stands for it. */
static bool is_foreign(const op *o) { return o->info->hooks && o->info->hooks->decompose; }

static bool decompose_foreign(expander *e, op *o, value **out) {
  op *before = o->prev;
  if (!o->info->hooks->decompose(e->m, o, out)) return false;
  for (op *made = before ? before->next : e->block->first; made != o; made = made->next)
    if (made->info == o->info)
      return op_error(e->c, o, "method 'decompose' of its dialect makes the same op again");
  hand_on_shardings(e, o, out);
  return true;
}

/* Ops that others do in less time; the first row that applies. */
static const struct {
  u32 id;
  bool (*applies)(const op *o);
  expand_fn *fn;
} simpler_rows[] = {
    {OP_scatter, expand_is_window, expand_window},
    {OP_scatter, expand_is_indexed, expand_indexed},
    {OP_gather, expand_is_window, expand_window},
    {OP_gather, expand_is_indexed, expand_indexed},
    {OP_reduce, expand_is_stacked, expand_stacked},
    {OP_select, expand_is_settled, expand_settled},
    {OP_select, expand_is_kept_update, expand_kept_update},
    {OP_convolution, expand_is_halves, expand_halves},
    {OP_dot_general, expand_is_outer, expand_outer},
};
static expand_fn *simpler(const op *o, bool *any) {
  for (size_t i = 0; i < COUNT(simpler_rows); i++)
    if (op_kind(o) == simpler_rows[i].id && simpler_rows[i].applies(o)) {
      *any = true;
      return simpler_rows[i].fn;
    }
  return NULL;
}

static bool decompose(expander *e, op *o, value **out) {
  expand_fn *fn = made_of[op_kind(o)];
  if (!fn) fn = local_of[op_kind(o)];
  if (!fn && expand_is_top_k_call(o)) fn = expand_top_k_call;
  if (!fn) fn = expand_by_chlo;
  u32 said = (u32)ir_sink(e->c)->errors;
  if (!fn(e, o, out))
    return ir_sink(e->c)->errors == said && op_unimplemented(e->c, o, "as it stands");
  if (op_kind(o) < OP_COUNT && !is_proven(e, o, out)) return false;
  hand_on_shardings(e, o, out);
  return true;
}

/* Numbers of one call of a function, or round of a loop, are others than those of the next: not
 * before calls are inlined. Bodies that call may be elementwise then. */
static expand_fn *before_propagation(void *user, const op *o) {
  (void)user;
  if (is_foreign(o)) return decompose_foreign;
  if (op_kind(o) >= OP_COUNT || op_is(o, rng)) return NULL;
  if (op_is(o, map) && !expand_map_is_elementwise(o)) return NULL;
  return made_of[op_kind(o)] ? decompose : NULL;
}

/* chlo's functions of complex numbers are its formulas: branch cuts and what becomes of infinities
 * are theirs. Those of real numbers are instructions, and so are some whose formula loses places.
 */
static bool is_complex_formula(const op *o) {
  if (o->num_results != 1 || type_element(o->results[0].type)->kind != TYPE_COMPLEX) return false;
  if (op_is(o, chlo_conj) || op_is(o, chlo_cosh) || op_is(o, chlo_sinh)) return false;
  return expand_chlo(NULL, o);
}

static expand_fn *after_partitioning(void *user, const op *o) {
  if (is_foreign(o)) return decompose_foreign;
  if (op_kind(o) >= OP_COUNT) return NULL;
  return decompose_knows(op_kind(o)) || is_complex_formula(o) ? decompose : simpler(o, user);
}

static expand_fn *call_lookup(void *user, const op *o) {
  (void)user;
  return expand_is_top_k_call(o) ? decompose : NULL;
}

bool decompose_calls(ir_module *m, arena *scratch) {
  return !module_may_have(m, custom_call) || expand_all(m, scratch, m->root, call_lookup, NULL);
}

bool decompose_module(ir_module *m, arena *scratch, bool last) {
  bool any = false;
  if (!expand_all(m, scratch, m->root, last ? after_partitioning : before_propagation, &any))
    return false;
  if (any) ops_erase_dead(m->root, DEAD_WITHOUT_EFFECTS); /* what simpler ones do not read */
  return true;
}
