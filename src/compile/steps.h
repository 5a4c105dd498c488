/* Inside compile only: lower_<op> of the ops that are not elementwise, for select.c's table. */
#ifndef COMPILE_STEPS_H
#define COMPILE_STEPS_H

#include "compile/lower.h"

/* fuse-able */
lower_fn lower_elementwise, lower_reduce_precision, lower_bitcast_convert;
/* lower_view.c: no steps, another look at what is there */
lower_fn lower_constant, lower_iota, lower_broadcast_in_dim, lower_reshape, lower_transpose,
    lower_slice, lower_reverse, lower_identity;
/* The result of `o` is what of `in` begins at `start`, every `step` elements of a dim. */
bool lower_sliced(lower *L, op *o, node *in, const i64 *start, const i64 *step);
/* The result of `o` is `in`, no PIECES, from `start` of its dim `first` on: each dim is so many
 * elements of that dim of `in`. */
bool lower_seen(lower *L, op *o, node *in, u32 first, i64 start, const u32 *of, const i64 *step);
/* affine.c: what of its operand a gather sees so, whose indices are known; false: they are not. */
bool affine_gather(const op *o, u32 *first, i64 *start, u32 *of, i64 *step);
/* lower_data.c */
lower_fn lower_concatenate, lower_pad, lower_dynamic_slice, lower_dynamic_update_slice,
    lower_gather, lower_scatter, lower_sort, lower_chlo_top_k, lower_rng_bit_generator;
/* Fills n's slot, all its own, with `in`, whose use has been served: a move, which the planner
 * makes vanish where nobody needs `in` any longer, so that n can be changed in place. */
void data_start_from(lower *L, const node *n, node *in);
/* Before a loop whose body sees n, which nothing in it changes, as `arg`: where the body takes
 * parts of it that are not together, it is put in order here, once, and not in each round. */
void data_before_loop(lower *L, const value *v, node *n);
/* Pads `in`, a MEM, into the slot of `out`, which is all its own: low edge and between. The second
 * one only fills what is around so many elements, or more of it. */
void data_pad(lower *L, node *in, node *with, const node *out, const i64 *low, const i64 *interior);
void data_surround(lower *L, node *with, const node *out, const i64 *dims, const i64 *low,
                   const i64 *interior);
lower_fn lower_reduce; /* lower_reduce.c */
/* lower_math.c */
lower_fn lower_reduce_window, lower_select_and_scatter, lower_dot, lower_dot_general;
lower_fn lower_convolution; /* lower_conv.c */
/* lower_flow.c */
lower_fn lower_while, lower_case, lower_if;
/* lower_coll.c */
lower_fn lower_all_gather, lower_all_reduce, lower_all_to_all, lower_collective_broadcast,
    lower_collective_reduce, lower_collective_permute, lower_reduce_scatter, lower_partition_id,
    lower_replica_id;
/* lower_call.c */
lower_fn lower_custom_call;
/* A step that calls `target` (program/program.h, prog_call): operands and results of the op, dense.
 * Arrays and strings are copied. */
bool call_add(lower *L, op *o, str target, i64s params, str config, bool host);
/* lower_foreign.c: config: NULL, or what the call says: a dictionary, a string */
bool lower_lapack(lower *L, op *o, str target, const attr *config);
bool lower_handler(lower *L, op *o, str target, const attr *config);
/* A message to the host or from it: params are its channel, and as in lower_handler the partition
 * that makes the call, of how many. */
bool lower_transfer(lower *L, op *o, str target, i64 channel);
/* An op of another's dialect: a handler of the op's name, which gets its attributes. */
lower_fn lower_foreign;
/* lower_config.c: the config of a handler's call (ffi/site.h). device: the partition that makes it;
 * -1: all do. */
bool config_of_handler(lower *L, const op *o, const attr *given, i64 device, str *out);
/* lower_linalg.c */
lower_fn lower_fft, lower_cholesky, lower_triangular_solve;
/* lower.c: no way to run it */
lower_fn lower_none;

/* What flatten.c has put away, or partition should have. */
#define lower_module lower_none
#define lower_func lower_none
#define lower_expect_eq_const lower_none
#define lower_expect_almost_eq_const lower_none
#define lower_expect_eq lower_none
#define lower_expect_almost_eq lower_none
#define lower_expect_close lower_none
#define lower_expect_serialized_eq lower_none
#define lower_interpreter_print lower_none
#define lower_probe lower_none
#define lower_call lower_none
#define lower_composite lower_none
#define lower_batch_norm_inference lower_none
#define lower_cross_replica_sum lower_none
#define lower_manual_computation lower_none
#define lower_named_computation lower_none
#define lower_sdy_mesh lower_none
#define lower_sharding_group lower_none
#define lower_sdy_all_gather lower_none
#define lower_sdy_all_slice lower_none
#define lower_sdy_all_to_all lower_none
#define lower_sdy_collective_permute lower_none
#define lower_sdy_all_reduce lower_none
#define lower_sdy_reduce_scatter lower_none
#define lower_sharded_to_unreduced lower_none
#define lower_replicated_to_unreduced lower_none
/* The same value under another sharding: by now, the same value. */
#define lower_cast lower_identity
#define lower_sharding_constraint lower_identity
#define lower_reshard lower_identity
#define lower_data_flow_edge lower_identity
#define lower_func_data_flow_edge lower_identity
#define lower_propagation_barrier lower_identity
#define lower_optimization_barrier lower_identity
#define lower_sdy_constant lower_constant

#endif
