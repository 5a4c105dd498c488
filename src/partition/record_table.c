/* The rows of partition records: a family's ops share one, ops of their own have theirs. */
#include "partition/local.h"

/* Linear ops of families; the others are not (linear in the columns of the rest). */
#define IS_LINEAR_add _, LINEAR_ALL
#define IS_LINEAR_subtract _, LINEAR_ALL
#define IS_LINEAR_negate _, LINEAR_ALL
#define IS_LINEAR_real _, LINEAR_ALL
#define IS_LINEAR_imag _, LINEAR_ALL
#define IS_LINEAR_convert _, LINEAR_WIDER
#define IS_LINEAR_divide _, LINEAR_RATIO
#define IS_LINEAR_multiply _, LINEAR_ONE
#define SECOND(a, b, ...) b
#define SECOND_OF(...) SECOND(__VA_ARGS__)
#define LINEAR_OF(id) SECOND_OF(IS_LINEAR_##id, LINEAR_NOT, _)

#define ROW(...)                                                                                   \
  { __VA_ARGS__ }
/* What needs nothing but its shards: computed on them as it stands. */
#define SPLIT(linear_) PARTS(linear_, PADDING_ANY, NULL)
/* Makes parts of results along reduction factors; they combine as combines_... says, and padding
 * must hold this for it. */
#define PARTS(linear_, padding_, combines_)                                                        \
  ROW(PLACED_BY_RULE, CUT_FREELY, linear_, padding_, NULL, combines_, local_types)
/* Cut along some dimensions only: the rule's, as needs_... refines it (NULL: as they are). */
#define PARTLY(linear_, needs_, local_) PARTLY_PARTS(linear_, PADDING_ANY, needs_, NULL, local_)
/* Both. */
#define PARTLY_PARTS(linear_, padding_, needs_, combines_, local_)                                 \
  ROW(PLACED_BY_RULE, CUT_AS_RULED, linear_, padding_, needs_, combines_, local_)
/* The first, where dimensions are read in windows. */
#define WINDOWED(linear_, needs_, name_, local_)                                                   \
  ROW(PLACED_BY_RULE, CUT_AS_RULED, linear_, PADDING_ANY, needs_, NULL, local_, windows_##name_)
/* Nobody knows what it does, or it depends on the place in the whole. */
#define WHOLE(placed_, local_) ROW(PLACED_##placed_, CUT_NOWHERE, .local = local_)
/* Other than by a rule. */
#define AT(placed_, local_)                                                                        \
  ROW(PLACED_##placed_, CUT_FREELY, LINEAR_NOT, PADDING_ANY, NULL, NULL, local_)
/* Becomes other ops, or nothing. */
#define REPLACED(placed_, local_)                                                                  \
  ROW(PLACED_##placed_, CUT_REPLACED, LINEAR_NOT, PADDING_ANY, NULL, NULL, local_)

#define RECORD_module AT(AS_IS, local_nothing)
#define RECORD_func AT(AS_IS, local_nothing)
#define RECORD_cast WHOLE(BY_RULE, local_types)
#define RECORD_call WHOLE(BY_RULE, local_unresolved)

#define RECORD_sdy_mesh AT(AS_IS, local_nothing)
#define RECORD_sdy_constant AT(MADE, local_constant)
#define RECORD_sharding_constraint REPLACED(ON_REQUEST, local_unresolved)
#define RECORD_reshard REPLACED(ON_REQUEST, local_unresolved)
#define RECORD_sharding_group REPLACED(AS_IS, local_unresolved)
#define RECORD_data_flow_edge REPLACED(AS_IS, local_unresolved)
#define RECORD_func_data_flow_edge REPLACED(AS_IS, local_unresolved)
#define RECORD_propagation_barrier REPLACED(AS_RESULT, local_propagation_barrier)
#define RECORD_sdy_all_gather REPLACED(AS_IS, local_sdy_all_gather)
#define RECORD_sdy_all_slice REPLACED(AS_IS, local_sdy_all_slice)
#define RECORD_sdy_all_to_all REPLACED(AS_IS, local_sdy_all_to_all)
#define RECORD_sdy_collective_permute REPLACED(AS_IS, local_sdy_collective_permute)
#define RECORD_sdy_all_reduce REPLACED(AS_IS, local_sdy_all_reduce)
#define RECORD_sdy_reduce_scatter REPLACED(AS_IS, local_sdy_reduce_scatter)
#define RECORD_sharded_to_unreduced REPLACED(AS_IS, local_sharded_to_unreduced)
#define RECORD_replicated_to_unreduced REPLACED(AS_IS, local_replicated_to_unreduced)

#define RECORD_expect_eq REPLACED(AS_IS, local_unresolved)
#define RECORD_expect_eq_const REPLACED(AS_IS, local_unresolved)
#define RECORD_expect_almost_eq REPLACED(AS_IS, local_unresolved)
#define RECORD_expect_almost_eq_const REPLACED(AS_IS, local_unresolved)
#define RECORD_expect_close REPLACED(AS_IS, local_unresolved)
#define RECORD_expect_serialized_eq REPLACED(AS_IS, local_unresolved)
#define RECORD_interpreter_print REPLACED(AS_IS, local_unresolved)
#define RECORD_probe REPLACED(AS_IS, local_unresolved)

#define RECORD_constant AT(MADE, local_constant)
#define RECORD_iota AT(MADE, local_iota)
#define RECORD_partition_id SPLIT(LINEAR_NOT)
#define RECORD_replica_id SPLIT(LINEAR_NOT)
#define RECORD_rng_bit_generator PARTLY(LINEAR_NOT, NULL, local_rng)
#define RECORD_custom_call PARTLY(LINEAR_NOT, needs_custom_call, local_types)
#define RECORD_composite WHOLE(BY_RULE, local_types)
#define RECORD_optimization_barrier AT(BY_EDGES, local_types)

#define RECORD_reduce_precision SPLIT(LINEAR_NOT)
#define RECORD_broadcast_in_dim SPLIT(LINEAR_ALL)
#define RECORD_transpose SPLIT(LINEAR_ALL)
#define RECORD_bitcast_convert PARTLY(LINEAR_NOT, NULL, local_types)
#define RECORD_reshape PARTLY(LINEAR_ALL, needs_reshape, local_types)
#define RECORD_batch_norm_inference SPLIT(LINEAR_NOT)
#define RECORD_concatenate PARTLY(LINEAR_ALL, NULL, local_types)
#define RECORD_slice WINDOWED(LINEAR_ALL, needs_slice, slice, local_slice_op)
#define RECORD_dynamic_slice                                                                       \
  PARTLY_PARTS(LINEAR_FIRST, PADDING_NEUTRAL, needs_dynamic_slice, combines_as_sum,                \
               local_dynamic_slice)
#define RECORD_dynamic_update_slice                                                                \
  PARTLY(LINEAR_TWO, needs_dynamic_update_slice, local_dynamic_update_slice)
#define RECORD_pad WINDOWED(LINEAR_NOT, needs_pad, pad, local_pad)
#define RECORD_reverse WINDOWED(LINEAR_ALL, NULL, reverse, local_reverse)
#define RECORD_sort PARTLY(LINEAR_NOT, NULL, local_types)
#define RECORD_chlo_top_k PARTLY(LINEAR_NOT, NULL, local_types)

#define RECORD_dot_general PARTS(LINEAR_ONE, PADDING_ZERO, combines_as_sum)
#define RECORD_dot PARTS(LINEAR_ONE, PADDING_ZERO, combines_as_sum)
#define RECORD_convolution                                                                         \
  ROW(PLACED_BY_RULE, CUT_AS_RULED, LINEAR_ONE, PADDING_ZERO, needs_convolution, combines_as_sum,  \
      local_convolution, windows_convolution)
#define RECORD_reduce                                                                              \
  PARTLY_PARTS(LINEAR_FIRST, PADDING_INITIAL, NULL, combines_as_body, local_types)
#define RECORD_reduce_window                                                                       \
  WINDOWED(LINEAR_NOT, needs_reduce_window, reduce_window, local_reduce_window)
#define RECORD_select_and_scatter                                                                  \
  ROW(PLACED_BY_RULE, CUT_AS_RULED, LINEAR_NOT, PADDING_ANY, NULL, NULL, local_select_and_scatter, \
      windows_scatter, rule_windows_scatter)
#define RECORD_fft PARTLY(LINEAR_ALL, NULL, local_types)
#define RECORD_cholesky PARTLY(LINEAR_NOT, NULL, local_types)
#define RECORD_triangular_solve PARTLY(LINEAR_NOT, needs_triangular_solve, local_types)
#define RECORD_gather                                                                              \
  PARTLY_PARTS(LINEAR_FIRST, PADDING_NEUTRAL, needs_gather, combines_as_sum, local_gather)
#define RECORD_scatter                                                                             \
  PARTLY_PARTS(LINEAR_NOT, PADDING_NEUTRAL, needs_scatter, combines_as_update, local_scatter)

#define RECORD_all_gather PARTLY(LINEAR_NOT, NULL, local_types)
#define RECORD_reduce_scatter PARTLY(LINEAR_NOT, NULL, local_types)
#define RECORD_all_to_all PARTLY(LINEAR_NOT, NULL, local_types)
/* treat all elements alike */
#define RECORD_all_reduce SPLIT(LINEAR_NOT)
#define RECORD_cross_replica_sum SPLIT(LINEAR_NOT)
#define RECORD_collective_broadcast SPLIT(LINEAR_NOT)
#define RECORD_collective_reduce SPLIT(LINEAR_NOT)
#define RECORD_collective_permute SPLIT(LINEAR_NOT)

#define OF_ew(id, traits) SPLIT(LINEAR_OF(id))
#define OF_cast(id, traits) SPLIT(LINEAR_OF(id))
#define OF_bcast(id, traits) SPLIT(LINEAR_NOT)
#define OF_region(id, traits) AT(BY_EDGES, local_region)
#define OF_term(id, traits) AT(AT_END, local_nothing)
#define OF_coll(id, traits) RECORD_##id
#define OF_own(id, traits) RECORD_##id
#define OF_made(id, traits) OF_later(id, traits)
#define OF_later(id, traits)                                                                       \
  ROW((traits)&CONSTANT ? PLACED_MADE : PLACED_BY_RULE, CUT_NOWHERE, .local = local_types)
const part_row part_apart_row = AT(WHEREVER, local_types);
const part_row part_rows[OP_COUNT] = {
#define OP(id, name, family, traits, ...) [OP_##id] = OF_##family(id, traits),
#include "ir/ops.def"
};
