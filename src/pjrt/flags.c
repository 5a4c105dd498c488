/* Which of XLA's flags are true or false: those of xla.DebugOptions in the protobuf descriptors of
 * jaxlib 0.10.2, without the ones for GPUs. They mean nothing to us, but a value that is wrong for
 * one is told. */
#include "pjrt/options.h"

static const char bools[] =
    "xla_allow_excess_precision xla_allow_h2h_copy_when_automatic_host_compute_offload_disabled "
    "xla_allow_scalar_index_dynamic_ops xla_cpu_copy_insertion_use_region_analysis "
    "xla_cpu_enable_concurrency_optimized_scheduler xla_cpu_enable_fast_math "
    "xla_cpu_enable_fast_min_max xla_cpu_enable_platform_dependent_math "
    "xla_cpu_enable_xprof_traceme xla_cpu_experimental_enable_tiling_propagation "
    "xla_cpu_experimental_onednn_custom_call xla_cpu_fast_math_honor_division "
    "xla_cpu_fast_math_honor_functions xla_cpu_fast_math_honor_infs "
    "xla_cpu_fast_math_honor_nans xla_cpu_ftz "
    "xla_cpu_generate_unique_c_style_kernel_entry_points xla_cpu_multi_thread_eigen "
    "xla_cpu_strict_dot_conv_math xla_cpu_use_acl xla_cpu_use_fusion_emitters "
    "xla_cpu_use_onednn xla_cpu_use_xnnpack xla_detailed_logging xla_disable_all_hlo_passes "
    "xla_disable_automatic_host_compute_offload xla_dump_buffer_assignment_analysis "
    "xla_dump_compress_protos xla_dump_disable_metadata xla_dump_enable_mlir_pretty_form "
    "xla_dump_full_hlo_config xla_dump_fusion_visualization xla_dump_hlo_as_dot "
    "xla_dump_hlo_as_html xla_dump_hlo_as_long_text xla_dump_hlo_as_proto xla_dump_hlo_as_text "
    "xla_dump_hlo_as_url xla_dump_hlo_snapshots xla_dump_hlo_to_subfolder "
    "xla_dump_hlo_unoptimized_snapshots xla_dump_include_timestamp xla_dump_large_constants "
    "xla_dump_latency_hiding_schedule xla_dump_module_metadata xla_early_exit_with_layouts "
    "xla_eliminate_hlo_implicit_broadcast xla_embed_ir_in_executable "
    "xla_enable_command_buffers_during_profiling xla_enable_dumping xla_enable_enzyme_comms_opt "
    "xla_enable_fast_math xla_enable_hlo_sharding_v3 xla_enable_rgv3_materialization "
    "xla_enable_scoped_logging_timers xla_flags_reset xla_hlo_evaluator_use_fast_path "
    "xla_hlo_graph_addresses xla_hlo_graph_sharding_color xla_hlo_pass_fix_detect_cycles "
    "xla_hlo_print_inline_stack_frames xla_hlo_profile xla_keep_shardings_after_spmd "
    "xla_llvm_disable_expensive_passes xla_llvm_enable_alias_scope_metadata "
    "xla_llvm_enable_invariant_load_metadata xla_llvm_enable_noalias_metadata "
    "xla_llvm_force_inline_before_split xla_pjrt_allow_auto_layout_in_hlo "
    "xla_sdy_export_all_reduce_scatter xla_syntax_sugar_async_ops "
    "xla_test_add_command_buffer_mode xla_test_all_input_layouts xla_test_all_output_layouts "
    "xla_unsupported_crash_on_hlo_pass_fix_max_iterations "
    "xla_unsupported_crash_on_hlo_pass_noop_change "
    "xla_unsupported_crash_on_hlo_pass_silent_hlo_change ";

bool api_flag_is_bool(str name) {
  for (const char *at = bools; *at;) {
    size_t n = strcspn(at, " ");
    if (str_eq(name, (str){at, n})) return true;
    at += n + 1;
  }
  return false;
}
