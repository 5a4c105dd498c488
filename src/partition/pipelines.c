/* The pipelines: import, propagation, export, and from there to the local program. They are
 * Shardy's; where we go another way than its tools, an option of ours says so. They stand here,
 * above all whose passes they name. */
#include <stdio.h>

#include "dialect/dialect.h"
#include "partition/passes.h"
#include "shard/save.h"
#include "shard/traits.h"

/* ---- steps ---- */

typedef struct line {
  ir_module *m;
  arena *a;
  const pass_args *given;
  int dump_index;
  bool ok;
} line;

typedef VEC(pass_option) options;

/* Runs one pass with these options; nothing once a pass failed. */
static void step_with(line *l, const char *name, const pass_option *list, size_t n) {
  l->ok = l->ok && pass_run_named(l->m, l->given->tables, name, list, n);
}
static void step(line *l, const char *name) { step_with(l, name, NULL, 0); }

static str flag_text(bool on) { return on ? STR("true") : STR("false"); }

/* Those of the pipeline's own options that `names` lists. */
static options given(const line *l, const char *const *names) {
  options o = {0};
  for (; *names; names++)
    for (size_t i = 0; i < l->given->num_options; i++)
      if (str_is(l->given->options[i].name, *names)) VEC_PUSH(l->a, o, l->given->options[i]);
  return o;
}

static void step_given(line *l, const char *name, const char *const *names) {
  options o = given(l, names);
  step_with(l, name, o.data, o.len);
}

static void step_flag(line *l, const char *name, const char *option, bool on) {
  step_with(l, name, &(pass_option){str_of(option), flag_text(on)}, 1);
}

static bool flag(const line *l, const char *name, bool otherwise) {
  return pass_option_flag(l->given, str_of(name), otherwise);
}

static const char *const debug_options[] = {"debug-sharding-origins",
                                            "debug-propagation-edge-sharding",
                                            "debug-edge-source-sharding", NULL};

static bool wants_origins(const line *l) {
  return flag(l, "debug-sharding-origins", false) || flag(l, "dump-sharding-origins", false);
}
static bool wants_edges(const line *l) {
  return flag(l, "debug-propagation-edge-sharding", false) ||
         flag(l, "debug-edge-source-sharding", false) || flag(l, "dump-propagation-edges", false);
}

/* The module as it stands, as NN.NAME.mlir. */
static void dump(line *l, const char *name) {
  str to = pass_option_get(l->given, STR("module-dump-directory"), STR(""));
  if (!to.len) to = pass_option_get(l->given, STR("dump-directory"), STR(""));
  if (l->ok && to.len) save_numbered(l->m, l->given, to, l->dump_index, name);
  l->dump_index++;
}

/* ---- import ---- */

static void apply_constraints(line *l) {
  step_given(l, "sdy-apply-sharding-constraints", debug_options);
  step(l, "sdy-sharding-group-import");
}

/* The order of Shardy's import pipeline (openxla/shardy, sdy-import-pipeline). */
static void import_steps(line *l) {
  step(l, "symbol-dce");
  step(l, "sdy-lift-inlined-meshes");
  step(l, "sdy-remove-size-one-axes");
  step(l, "sdy-propagate-sharding-from-func-to-call");
  step(l, "sdy-constant-or-scalar-splitter");
  if (flag(l, "enable-explicit-gather-scatter-batching", false))
    step(l, "sdy-explicit-gather-scatter-batching");
  step(l, "symbol-dce");
  step(l, "sdy-manual-axes-cleanup");
  dump(l, "before_propagation");
  step_given(l, "sdy-add-data-flow-edges", (const char *const[]){"extra-rules", NULL});
  if (flag(l, "dedup-functions-fully", false)) apply_constraints(l);
}

bool pipeline_import(ir_module *m, arena *scratch, const pass_args *args) {
  line l = {m, scratch, args, 0, true};
  import_steps(&l);
  return l.ok;
}

/* ---- propagation ---- */

/* Calls become named computations, one for each, unless edges across calls do. */
static void import_calls(line *l) {
  if (flag(l, "dedup-functions-fully", false)) {
    step(l, "sdy-add-func-data-flow-edges");
  } else {
    step(l, "sdy-flatten-call-graph");
    step(l, "symbol-dce");
    step(l, "sdy-import-func-calls");
    step(l, "symbol-dce");
    apply_constraints(l);
  }
  step(l, "sdy-pre-order-funcs");
}

static void propagate(line *l) {
  static const char *const passed[] = {"conservative-propagation",
                                       "debug-sharding-origins",
                                       "debug-propagation-edge-sharding",
                                       "debug-edge-source-sharding",
                                       "propagation-strategy",
                                       "run-op-priority-propagation",
                                       "extra-rules",
                                       NULL};
  options o = given(l, passed);
  str to = pass_option_get(l->given, STR("module-dump-directory"), STR(""));
  /* dumps show the rules; what comes later makes its own, and drops all but the user's. But what a
   * concatenation of slices may do must stay known when an all-reduce comes between. */
  bool rotations = module_may_have(l->m, concatenate) && module_may_have(l->m, slice);
  bool keep = to.len || rotations || flag(l, "keep-sharding-rules", false);
  VEC_PUSH(l->a, o, ((pass_option){STR("keep-sharding-rules"), flag_text(keep)}));
  if (to.len) {
    VEC_PUSH(l->a, o, ((pass_option){STR("module-dump-directory"), to}));
    VEC_PUSH(l->a, o, ((pass_option){STR("dump-index"), arena_printf(l->a, "%d", l->dump_index)}));
  }
  step_with(l, "sdy-user-priority-propagate", o.data, o.len);
}

/* ---- export ---- */

static void canonicalize(line *l, const char *label) {
  const pass_option o[] = {{STR("enable-patterns"), str_of(label)}};
  step_with(l, "canonicalize", o, 1);
}

static void partition_per_op(line *l) {
  options o = given(l, (const char *const[]){"replica-count", "partition-count", NULL});
  str filter = pass_option_get(l->given, STR("per-instruction-partitioning-filter"), STR(""));
  VEC_PUSH(l->a, o, ((pass_option){STR("filter"), filter}));
  step_with(l, "sdy-per-instruction-partitioning", o.data, o.len);
}

/* As Shardy has it: values that are not sharded as they are used become reshards, all of them as
 * collectives or only those that another partitioner could not make up for. */
static void reshard_steps(line *l) {
  bool collectives = flag(l, "enable-insert-explicit-collectives", false);
  bool per_op = flag(l, "enable-per-instruction-partitioning", false);
  step_flag(l, "sdy-insert-explicit-reshards", "enable-full-version", collectives || per_op);
  if (per_op) {
    dump(l, "before_per_instruction_partitioning");
    partition_per_op(l);
    dump(l, "after_per_instruction_partitioning");
  } else if (collectives) {
    dump(l, "after_explicit_reshards");
    canonicalize(l, "sdy-reshard");
    step(l, "sdy-reshard-to-collectives");
  }
  canonicalize(l, "sdy-collective");
  if (collectives && flag(l, "remove-all-gather-reduce-scatter-for-cmv1", false))
    step(l, "sdy-remove-all-gather-reduce-scatter-for-cmv1");
  dump(l, collectives ? "after_partitioner_with_global_shapes"
                      : "after_minimal_partitioner_with_global_shapes");
}

static void export_steps(line *l, bool inline_meshes) {
  const pass_option sink[] = {
      {STR("sink-debug-sharding-origins"), flag_text(wants_origins(l))},
      {STR("sink-debug-propagation-edge-sharding"), flag_text(wants_edges(l))}};
  bool partition = !flag(l, "avoid-export-for-partitioning", false);
  step(l, "sdy-constant-or-scalar-merger");
  step_with(l, "sdy-sink-data-flow-edges", sink, COUNT(sink));
  if (partition) {
    step(l, "sdy-remove-sharding-groups");
    step(l, "sdy-sharding-constraint-to-reshard");
  }
  if (flag(l, "update-non-divisible-input-output-shardings", true)) {
    step(l, "sdy-update-non-divisible-input-output-shardings");
    step(l, "sdy-remove-sub-axes-in-input-output-shardings");
  }
  step(l, "sdy-close-shardings");
  dump(l, "after_propagation");
  if (flag(l, "leave-reshards", false))
    step(l, "terrazzo-remove-dead-ops");
  else if (partition)
    reshard_steps(l);
  if (flag(l, "dump-sharding-origins", false) || flag(l, "dump-propagation-edges", false))
    step(l, "sdy-remove-propagation-debug-info");
  if (!flag(l, "keep-sharding-rules", false)) step(l, "sdy-drop-sharding-rules");
  if (partition && flag(l, "inline-meshes", inline_meshes)) step(l, "sdy-inline-meshes");
}

bool pipeline_export(ir_module *m, arena *scratch, const pass_args *args) {
  line l = {m, scratch, args, 0, true};
  export_steps(&l, true);
  return l.ok;
}

/* ---- all of it ---- */

/* Functions again, where propagation saw a computation for each call. */
static void export_calls(line *l) {
  bool dedup = flag(l, "dedup-functions-fully", false);
  if (!dedup) step(l, "sdy-export-named-computations");
  step(l, "sdy-propagate-to-func-results");
  if (dedup) step(l, "sdy-sink-func-data-flow-edges");
  step(l, "sdy-unflatten-call-graph");
  step(l, "symbol-dce");
  step(l, "sdy-insert-func-call-reshards");
}

bool pipeline_propagate(ir_module *m, arena *scratch, const pass_args *args) {
  line l = {m, scratch, args, 1, true};
  bool inlines = flag(&l, "inline-calls", false);
  import_steps(&l);
  import_calls(&l);
  propagate(&l);
  if (!inlines) export_calls(&l);
  export_steps(&l, false);
  if (inlines) step(&l, "sdy-inline-named-computations");
  return l.ok;
}

/* Called by compile after pipeline_propagate with `leave-reshards`. partition.h says what each
 * is for; each relies on the one before it. */
bool pipeline_partition(ir_module *m, arena *scratch, const pass_args *args) {
  line l = {m, scratch, args, 0, true};
  bool meshes = module_may_have(m, sdy_mesh);
  step(&l, "terrazzo-collectives-to-reshards");
  step(&l, "terrazzo-join-slices");
  step(&l, "terrazzo-drop-indivisible-axes");
  /* Groups may give a value a sharding that its op cannot have. The program's own collectives,
   * which say more of what their operands have, are gone by now. */
  l.ok = l.ok && dialect_verify_shardings(m);
  step(&l, "terrazzo-batch-products");
  step(&l, "terrazzo-drop-stacks");
  step(&l, "terrazzo-reduce-in-parts");
  step_given(&l, "terrazzo-insert-reshards", (const char *const[]){"remarks", NULL});
  step(&l, "terrazzo-gather-operands");
  step(&l, "terrazzo-hoist-reshards");
  step(&l, "terrazzo-join-sums");
  if (meshes) step(&l, "cse");
  step_flag(&l, "sdy-reshard-to-collectives", "leave-none", true);
  step(&l, "terrazzo-fuse-collectives");
  const char *const ours[] = {
      "per-dim-all-gather", "combine-multi-dimension-reduce-scatter",
      "by-records",         flag(&l, "unseen", false) ? "enable-rgv3" : "record-global-types",
      "drop-shardings",     "share-offsets",
      "move-least"};
  pass_option on[COUNT(ours)];
  for (size_t i = 0; i < COUNT(ours); i++) on[i] = (pass_option){str_of(ours[i]), STR("true")};
  step_with(&l, "sdy-convert-global-to-local", on, COUNT(ours));
  if (meshes) step(&l, "cse");
  step(&l, "terrazzo-combine-collectives");
  return l.ok;
}
