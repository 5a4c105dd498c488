/* The propagation passes and the table of all passes of the module, under Shardy's names.
 *
 * A row says what a pass is called, what it does, its options and its scope; the functions are in
 * the files of the import (import_*), the engine, and the export (export_*). Shardy's pipelines are
 * rows elsewhere, since they name passes of partition, too. */
#include "shard/passes.h"

#include <stdio.h>

#include "shard/debug_info.h"
#include "shard/engine.h"
#include "shard/pass_options.h"
#include "shard/save.h"
#include "shard/shard.h"

/* ---- the propagation passes: one engine, more of it switched on each time ---- */

static bool strategy_option(ir_module *m, const pass_args *args, strategy *out) {
  str s = pass_option_get(args, STR("propagation-strategy"), STR("aggressive"));
  static const struct {
    const char *name;
    strategy value;
  } known[] = {{"aggressive", STRATEGY_AGGRESSIVE},
               {"basic", STRATEGY_BASIC},
               {"basic-then-aggressive", STRATEGY_BASIC_THEN_AGGRESSIVE}};
  for (size_t i = 0; i < COUNT(known); i++)
    if (str_is(s, known[i].name)) return *out = known[i].value, true;
  return loc_error(m->ctx, m->root->loc, "unknown propagation-strategy '" STR_FMT "'", STR_ARG(s));
}

/* All four passes are this one: basic, aggressive, by op priority, by user priority switch on one
 * thing more each. */
static bool propagate(ir_module *m, arena *scratch, const pass_args *args, engine_options o) {
  o.conservative = pass_option_flag(args, STR("conservative-propagation"), false);
  o.keep_rules = pass_option_flag(args, STR("keep-sharding-rules"), false);
  o.extra_rules = pass_option_flag(args, STR("extra-rules"), false);
  debug_info *debug = debug_info_begin(m, scratch, args);
  o.trace = debug_info_trace(debug);
  if (!engine_run(m, scratch, &o)) return false;
  if (!o.keep_rules && !pass_drop_rules(m, scratch, args)) return false;
  debug_info_end(debug);
  return true;
}

bool pass_basic_propagate(ir_module *m, arena *scratch, const pass_args *args) {
  return propagate(m, scratch, args, (engine_options){.strategy = STRATEGY_BASIC});
}

bool pass_aggressive_propagate(ir_module *m, arena *scratch, const pass_args *args) {
  engine_options o = {0};
  return strategy_option(m, args, &o.strategy) && propagate(m, scratch, args, o);
}

bool pass_op_priority_propagate(ir_module *m, arena *scratch, const pass_args *args) {
  engine_options o = {0};
  o.op_priorities = pass_option_flag(args, STR("run-op-priority-propagation"), true);
  return strategy_option(m, args, &o.strategy) && propagate(m, scratch, args, o);
}

/* Between priorities, into module-dump-directory. */
typedef struct dumping {
  ir_module *m;
  const pass_args *args;
  str directory;
  int index;
} dumping;

static bool dump_after_priority(void *user, i64 priority) {
  const dumping *d = user;
  char name[64];
  snprintf(name, sizeof name, "propagation_after_user_priority_%lld", (long long)priority);
  save_numbered(d->m, d->args, d->directory, d->index, name);
  return true;
}

bool pass_user_priority_propagate(ir_module *m, arena *scratch, const pass_args *args) {
  dumping d = {m, args, pass_option_get(args, STR("module-dump-directory"), STR("")),
               (int)pass_option_int(args, STR("dump-index"), 0)};
  engine_options o = {.user_priorities = true, .user = &d};
  if (d.directory.len) o.after_priority = dump_after_priority;
  o.op_priorities = pass_option_flag(args, STR("run-op-priority-propagation"), true);
  return strategy_option(m, args, &o.strategy) && propagate(m, scratch, args, o);
}

/* ---- sdy-populate-op-sharding-rules, sdy-drop-sharding-rules ---- */

typedef struct populating {
  ir_module *m;
  rule_set rules;
} populating;

static walk_result add_rule(void *user, op *o) {
  populating *p = user;
  rule_warn_unknown(&p->rules, o);
  if (op_discardable(o, SDY_SHARDING_RULE)) return WALK_ON;
  const rule *r = rule_of_op(&p->rules, o);
  if (r) op_set_attr(p->m, o, SDY_SHARDING_RULE, rule_to_attr(&p->rules, r));
  return WALK_ON;
}

bool pass_populate_rules(ir_module *m, arena *scratch, const pass_args *args) {
  populating p = {.m = m};
  bool conservative = pass_option_flag(args, STR("conservative-propagation"), false);
  rule_set_init(&p.rules, m->ctx, scratch, conservative);
  p.rules.extra = pass_option_flag(args, STR("extra-rules"), false);
  op_walk_post(m->root, add_rule, &p);
  return true;
}

static walk_result drop_rule(void *user, op *o) {
  const op_sharding_rule_attr *r = attr_as(op_sharding_rule, op_discardable(o, SDY_SHARDING_RULE));
  if (r && !r->custom) op_set_attr(user, o, SDY_SHARDING_RULE, NULL);
  return WALK_ON;
}

bool pass_drop_rules(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch, (void)args;
  if (ir_may_have_string(m->ctx, SDY_SHARDING_RULE)) op_walk(m->root, drop_rule, m);
  return true;
}

/* ---- the rows ---- */

static const char *const round_trip_pipeline[] = {"xla-sdy-round-trip-import-shardy-attrs",
                                                  "xla-sdy-round-trip-shard-map-import",
                                                  "xla-sdy-import-sdy-custom-calls", NULL};

OPTIONS(save, SAVE("dump-directory"), {"file-name", PASS_STRING, "module", "Its name, less .mlir"});
OPTIONS(extra, EXTRA);
OPTIONS(import_calls, FLAG("add-data-flow-edges-on-named-computations", "true", "Add those too"));
OPTIONS(debug, ORIGINS, EDGES, OLD_EDGES);
OPTIONS(basic, BASIC);
OPTIONS(aggressive, BASIC, STRATEGY);
OPTIONS(priority, BASIC, STRATEGY, BY_OP);
OPTIONS(user, BASIC, STRATEGY, BY_OP, {"dump-index", PASS_INT, "0", NULL});
OPTIONS(rules, CONSERVATIVE, EXTRA);
OPTIONS(calls, DEDUP);
OPTIONS(sink, FLAG("sink-debug-sharding-origins", "false", "Move what tells origins as well"),
        FLAG("sink-debug-propagation-edge-sharding", "false", "Move what tells edges as well"));
const pass_info shard_passes[] = {
    {"xla-sdy-round-trip-import-pipeline",
     "Reads shardings that travel as xla.sdy frontend attributes and custom calls.", NULL,
     round_trip_pipeline},
    {"xla-sdy-round-trip-import-shardy-attrs", "Makes meshes and shardings of xla.sdy attributes.",
     pass_round_trip_attrs, NULL},
    {"xla-sdy-round-trip-shard-map-import",
     "Makes manual computations of calls between changes of shape.", pass_shard_map_import, NULL},
    {"xla-sdy-import-sdy-custom-calls", "Makes ops of sdy of @Sharding and the like custom calls.",
     pass_import_sdy_custom_calls, NULL},
    {"sdy-lift-inlined-meshes", "Gives every mesh in a sharding a name, and equal meshes one.",
     pass_lift_inlined_meshes, .any_module = true},
    {"sdy-remove-size-one-axes", "Removes axes of size 1 from all shardings.",
     pass_remove_size_one_axes, NULL},
    {"sdy-propagate-sharding-from-func-to-call",
     "Gives calls without shardings those of their function's results.", pass_func_to_call, NULL},
    {"sdy-constant-or-scalar-splitter", "Gives every use of a constant its own constant.",
     pass_constant_splitter, NULL},
    {"sdy-explicit-gather-scatter-batching",
     "Makes batching dimensions of those that gathers and scatters index row by row.",
     pass_gather_scatter_batching, .scope = PASS_ON_FUNCS},
    {"sdy-manual-axes-cleanup", "Sorts manual axes and reserves those that aren't used.",
     pass_manual_axes_cleanup, NULL},
    {"sdy-save-module", "Saves the module in dump-directory.", pass_save_module,
     .options = save_options},
    {"sdy-add-data-flow-edges", "Puts an edge op on every value that flows through regions.",
     pass_add_data_flow_edges, .options = extra_options},
    {"sdy-add-func-data-flow-edges", "Puts an edge op on what flows in and out of functions.",
     pass_add_func_data_flow_edges, NULL},
    {"sdy-flatten-call-graph", "Copies functions until each is called once.",
     pass_flatten_call_graph, NULL},
    {"sdy-import-func-calls", "Turns calls into named computations.", pass_import_func_calls,
     .options = import_calls_options},
    {"sdy-apply-sharding-constraints", "Gives constraints' inputs their shardings.",
     pass_apply_sharding_constraints, .options = debug_options},
    {"sdy-sharding-group-import", "Merges sharding groups with common members.",
     pass_sharding_group_import, NULL},
    {"sdy-pre-order-funcs", "Puts callers before callees.", pass_pre_order_funcs, NULL},
    {"sdy-basic-propagate", "Propagates shardings where nothing conflicts.", pass_basic_propagate,
     .options = basic_options},
    {"sdy-aggressive-propagate", "Propagates shardings, resolving conflicts within an op.",
     pass_aggressive_propagate, .options = aggressive_options},
    {"sdy-op-priority-propagate", "Propagates shardings, pass-through ops first.",
     pass_op_priority_propagate, .options = priority_options},
    {"sdy-user-priority-propagate", "Propagates shardings in the order of their priorities.",
     pass_user_priority_propagate, .options = user_options},
    {"sdy-populate-op-sharding-rules", "Attaches to every op its sharding rule.",
     pass_populate_rules, .options = rules_options, .scope = PASS_ON_FUNCS},
    {"sdy-export-named-computations", "Turns named computations into functions and calls.",
     pass_export_named_computations, NULL},
    {"sdy-propagate-to-func-results", "Gives functions' results the shardings of what they return.",
     pass_propagate_to_func_results, .any_module = true},
    {"sdy-unflatten-call-graph", "Merges copies of a function with the same shardings.",
     pass_unflatten_call_graph, .options = calls_options},
    {"sdy-insert-func-call-reshards", "Reshards results of calls whose function says otherwise.",
     pass_insert_func_call_reshards, NULL},
    {"sdy-constant-or-scalar-merger", "Merges equal constants with equal shardings.",
     pass_constant_merger, .scope = PASS_ON_FUNCS},
    {"sdy-sink-data-flow-edges", "Moves shardings from edge ops to where the values are made.",
     pass_sink_data_flow_edges, .options = sink_options, .scope = PASS_ON_FUNCS},
    {"sdy-sink-func-data-flow-edges", "Moves shardings from the edge ops of functions and calls.",
     pass_sink_func_data_flow_edges, .scope = PASS_ON_FUNCS},
    {"sdy-remove-sharding-groups", "Removes sharding groups.", pass_remove_sharding_groups, NULL},
    {"sdy-sharding-constraint-to-reshard", "Turns constraints into reshards.",
     pass_constraint_to_reshard, .scope = PASS_ON_FUNCS, .any_module = true},
    {"sdy-update-non-divisible-input-output-shardings",
     "Makes the shardings of inputs and outputs divide their shapes.", pass_update_non_divisible,
     NULL},
    {"sdy-remove-sub-axes-in-input-output-shardings",
     "Removes sub-axes from open shardings of inputs and outputs.", pass_remove_sub_axes, NULL},
    {"sdy-close-shardings", "Closes all shardings and drops explicit replication.",
     pass_close_shardings, NULL},
    {"sdy-remove-propagation-debug-info", "Removes what the debugging options left.",
     pass_remove_debug_info, NULL},
    {"sdy-drop-sharding-rules", "Removes sharding rules that aren't custom.", pass_drop_rules,
     .scope = PASS_ON_FUNCS},
    {"terrazzo-remove-dead-ops", "Removes ops without effects whose results are unused.",
     pass_remove_dead_ops, NULL},
    {"sdy-inline-meshes", "Spells meshes out where they are named, and removes the names.",
     pass_inline_meshes, .any_module = true},
    {"sdy-drop-sharding-and-mesh", "Removes shardings of values, and meshes.",
     pass_drop_sharding_and_mesh, .any_module = true},
    {"terrazzo-import-gspmd", "Makes shardings of mhlo.sharding, and manual computations.",
     pass_import_gspmd, NULL},
    {"sdy-inline-named-computations", "Puts the bodies of named computations in their place.",
     pass_inline_named_computations, NULL},
    {0},
};

bool shard_from_frontend(ir_module *m, const pass_tables *tables) {
  pass_args args = {.tables = tables};
  return pass_run(m, pass_find(tables, STR("xla-sdy-round-trip-import-pipeline")), &args);
}

bool shard_from_gspmd(ir_module *m, const pass_tables *tables) {
  pass_args args = {.tables = tables};
  return pass_run(m, pass_find(tables, STR("terrazzo-import-gspmd")), &args);
}

bool shard_in_frontend(const ir_module *m) {
  const attr *frontend = op_discardable(m->root, FRONTEND_ATTRIBUTES);
  return attr_dict_get(frontend, STR("xla.sdy.meshes")) != NULL;
}
