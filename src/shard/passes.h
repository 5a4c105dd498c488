/* Inside shard only: the functions of the rows of shard_passes, and what they share. */
#ifndef SHARD_PASSES_H
#define SHARD_PASSES_H

#include "pass/pass.h"
#include "shard/sharding_ir.h"

pass_fn pass_lift_inlined_meshes, pass_remove_size_one_axes, pass_func_to_call,
    pass_constant_splitter, pass_gather_scatter_batching, pass_manual_axes_cleanup,
    pass_add_data_flow_edges, pass_add_func_data_flow_edges, pass_flatten_call_graph,
    pass_import_func_calls, pass_apply_sharding_constraints, pass_sharding_group_import,
    pass_pre_order_funcs;
pass_fn pass_round_trip_attrs, pass_shard_map_import, pass_import_sdy_custom_calls,
    pass_import_gspmd;
pass_fn pass_basic_propagate, pass_aggressive_propagate, pass_op_priority_propagate,
    pass_user_priority_propagate, pass_populate_rules;
pass_fn pass_export_named_computations, pass_propagate_to_func_results, pass_unflatten_call_graph,
    pass_insert_func_call_reshards, pass_constant_merger, pass_sink_data_flow_edges,
    pass_sink_func_data_flow_edges, pass_remove_sharding_groups, pass_constraint_to_reshard,
    pass_update_non_divisible, pass_remove_sub_axes, pass_close_shardings, pass_drop_rules,
    pass_inline_named_computations, pass_remove_dead_ops, pass_inline_meshes,
    pass_drop_sharding_and_mesh;

/* Puts an sdy.data_flow_edge on each owner with a static shape, before all else in the block or
 * behind the op. */
void add_edges_to_args(ir_module *m, op *o);
void add_edges_to_results(ir_module *m, op *o);
/* Shardings of the edges on o's block arguments or results, open where one has none. False: there
 * is none at all. */
bool edge_shardings(ir_module *m, op *o, bool args, const attr **out);
/* Moves the body of `from` into the empty region of `to`, its terminator becoming `info`. */
void move_body(ir_module *m, region *to, region *from, const op_info *info);

#endif
