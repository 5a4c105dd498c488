/* Shardy's pipelines: import, propagation, export. */
#include "shard/pipelines.h"

#include <stdio.h>

#include "shard/traits.h"

/* ---- saving the module ---- */

str pipeline_number(char space[16], int n) {
  snprintf(space, 16, "%d", n);
  return str_of(space);
}

static void save(ir_module *m, const pass_args *args, str path) {
  const pass_tables *t = args->tables;
  if (t && t->save && !t->save(t->user, m, path))
    op_warn(m->ctx, m->root, "cannot write file '" STR_FMT "'", STR_ARG(path));
}

void pipeline_dump(ir_module *m, const pass_args *args, str directory, int index,
                   const char *name) {
  save(m, args, arena_printf(&m->arena, STR_FMT "/%02d.%s.mlir", STR_ARG(directory), index, name));
}

bool pass_save_module(ir_module *m, arena *scratch, const pass_args *args) {
  str directory = pass_option_get(args, STR("dump-directory"), STR(""));
  str name = pass_option_get(args, STR("file-name"), STR("module"));
  if (directory.len)
    save(m, args,
         arena_printf(scratch, STR_FMT "/" STR_FMT ".mlir", STR_ARG(directory), STR_ARG(name)));
  return true;
}

/* ---- steps ---- */

typedef struct line {
  ir_module *m;
  const pass_args *given;
  int dump_index;
  bool ok;
} line;

enum { MAX_STEP_OPTIONS = 8 };

/* Runs one pass with these options; nothing once a pass failed. */
static void step_with(line *l, const char *name, const pass_option *options, size_t n) {
  if (!l->ok) return;
  const pass_info *p = pass_find(l->given->tables, str_of(name));
  pass_args args = {.options = options, .num_options = n, .tables = l->given->tables};
  l->ok = p ? pass_run(l->m, p, &args)
            : loc_error(l->m->ctx, l->m->root->loc, "there is no pass '%s'", name);
}
static void step(line *l, const char *name) { step_with(l, name, NULL, 0); }

/* As `step`, with those of the pipeline's own options that `names` lists. */
static void step_given(line *l, const char *name, const char *const *names) {
  pass_option options[MAX_STEP_OPTIONS];
  size_t n = 0;
  for (; *names; names++)
    for (size_t i = 0; i < l->given->num_options; i++)
      if (str_is(l->given->options[i].name, *names) && n < MAX_STEP_OPTIONS)
        options[n++] = l->given->options[i];
  step_with(l, name, options, n);
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
  if (l->ok && to.len) pipeline_dump(l->m, l->given, to, l->dump_index, name);
  l->dump_index++;
}

/* ---- import ---- */

static void apply_constraints(line *l) {
  step_given(l, "sdy-apply-sharding-constraints", debug_options);
  step(l, "sdy-sharding-group-import");
}

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
  (void)scratch;
  line l = {m, args, 0, true};
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
  pass_option options[MAX_STEP_OPTIONS + 3];
  size_t n = 0;
  for (const char *const *name = passed; *name; name++)
    for (size_t i = 0; i < l->given->num_options; i++)
      if (str_is(l->given->options[i].name, *name) && n < MAX_STEP_OPTIONS)
        options[n++] = l->given->options[i];
  str to = pass_option_get(l->given, STR("module-dump-directory"), STR(""));
  char number[16];
  /* dumps show the rules; what comes later makes its own, and drops all but the user's. But what a
   * concatenation of slices may do must stay known when an all-reduce comes between. */
  bool rotations = module_may_have(l->m, concatenate) && module_may_have(l->m, slice);
  bool keep = to.len || rotations || flag(l, "keep-sharding-rules", false);
  options[n++] = (pass_option){STR("keep-sharding-rules"), keep ? STR("true") : STR("false")};
  if (to.len) {
    options[n++] = (pass_option){STR("module-dump-directory"), to};
    options[n++] = (pass_option){STR("dump-index"), pipeline_number(number, l->dump_index)};
  }
  step_with(l, "sdy-user-priority-propagate", options, n);
}

static void canonicalize(line *l, const char *label) {
  const pass_option o[] = {{STR("enable-patterns"), str_of(label)}};
  step_with(l, "canonicalize", o, 1);
}

static void reshard_steps(line *l) {
  bool collectives = flag(l, "enable-insert-explicit-collectives", false);
  if (!pass_find(l->given->tables, STR("sdy-insert-explicit-reshards"))) { /* no partition */
    step(l, "terrazzo-remove-dead-ops");
    return;
  }
  const pass_option full[] = {
      {STR("enable-full-version"), collectives ? STR("true") : STR("false")}};
  step_with(l, "sdy-insert-explicit-reshards", full, 1);
  if (collectives) {
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
      {STR("sink-debug-sharding-origins"), wants_origins(l) ? STR("true") : STR("false")},
      {STR("sink-debug-propagation-edge-sharding"), wants_edges(l) ? STR("true") : STR("false")}};
  bool partition = !flag(l, "avoid-export-for-partitioning", false);
  step(l, "sdy-constant-or-scalar-merger");
  step_with(l, "sdy-sink-data-flow-edges", sink, 2);
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
  if (partition) reshard_steps(l);
  if (flag(l, "dump-sharding-origins", false) || flag(l, "dump-propagation-edges", false))
    step(l, "sdy-remove-propagation-debug-info");
  if (!flag(l, "keep-sharding-rules", false)) step(l, "sdy-drop-sharding-rules");
  if (partition && flag(l, "inline-meshes", inline_meshes)) step(l, "sdy-inline-meshes");
}

bool pipeline_export(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch;
  line l = {m, args, 0, true};
  export_steps(&l, true);
  return l.ok;
}

static void propagation_steps(line *l) {
  import_steps(l);
  import_calls(l);
  propagate(l);
}

bool pipeline_propagate(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch;
  line l = {m, args, 1, true};
  propagation_steps(&l);
  bool dedup = flag(&l, "dedup-functions-fully", false);
  if (!dedup) step(&l, "sdy-export-named-computations");
  step(&l, "sdy-propagate-to-func-results");
  if (dedup) step(&l, "sdy-sink-func-data-flow-edges");
  step(&l, "sdy-unflatten-call-graph");
  step(&l, "symbol-dce");
  step(&l, "sdy-insert-func-call-reshards");
  export_steps(&l, false);
  return l.ok;
}

/* What compile runs: no calls are made only to be inlined again, and no reshards. */
bool pipeline_compile(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch;
  line l = {m, args, 1, true};
  propagation_steps(&l);
  step(&l, "sdy-constant-or-scalar-merger");
  step(&l, "sdy-sink-data-flow-edges");
  step(&l, "sdy-remove-sharding-groups");
  step(&l, "sdy-sharding-constraint-to-reshard");
  step(&l, "sdy-update-non-divisible-input-output-shardings");
  step(&l, "sdy-remove-sub-axes-in-input-output-shardings");
  step(&l, "sdy-close-shardings");
  step(&l, "terrazzo-remove-dead-ops");
  step(&l, "sdy-drop-sharding-rules");
  step(&l, "sdy-inline-named-computations");
  return l.ok;
}
