/* The line: source -> module -> shardings -> local module -> program -> executable. */
#include <stdlib.h>

#include "base/os.h"
#include "base/trace.h"
#include "bytecode/bytecode.h"
#include "compile/components.h"
#include "compile/constants.h"
#include "compile/decompose.h"
#include "compile/dump.h"
#include "compile/executable.h"
#include "compile/flatten.h"
#include "compile/invariant.h"
#include "compile/layout.h"
#include "compile/lower.h"
#include "compile/module.h"
#include "compile/one_device.h"
#include "compile/outside.h"
#include "compile/parallel.h"
#include "compile/plain.h"
#include "compile/signature.h"
#include "dialect/dialect.h"
#include "dialect/effects.h"
#include "partition/choose.h"
#include "partition/partition.h"
#include "partition/why.h"
#include "partition/wire.h"
#include "pass/pass.h"
#include "pass/passes.h"
#include "pass/refine.h"
#include "shard/shard.h"
#include "text/text.h"

/* One compilation. Lives outside of the function that sets the trap. */
typedef struct job {
  const compile_options *opt;
  str source, file;
  allocator owner_mem;
  oom_trap trap;
  buf messages;
  diag_sink sink;
  ir_ctx *ctx;
  arena *scratch;
  ir_module *m;
  op *main;
  bool spread; /* over several devices: shardings matter */
  u32 num_partitions, num_replicas;
  types global_params, global_results;
  struct executable_owner *owner;
  outside_list seen; /* by the program at hand */
  bool quiet;        /* a trial */
  bool first;        /* the one that all others differ from */
  bool again;        /* what that gave @main is given */
  bool enough;       /* there is to be no executable */
  status problem;    /* where a status says more than the messages */
  dump_folder folder;
  u64 since; /* where the stage under way began, for traces; 0: nobody records */
} job;

static const pass_info *const tables[] = {pass_generic, shard_passes, partition_passes};

/* Messages without a place still name the file. */
static void report(void *user, diag_kind kind, diag_pos pos, str text) {
  job *j = user;
  if (!pos.file.len) pos.file = j->file;
  diag_to_buf(&j->messages, kind, pos, text);
}

static void ignore(void *user, diag_kind kind, diag_pos pos, str text) {
  (void)user, (void)kind, (void)pos, (void)text;
}

/* ---- stages ---- */

static void tell(str stage, u64 begin) {
  u64 now = os_now_ns();
  if (begin) trace_tell(&(trace_span){TRACE_STAGE, TRACE_HOST, stage, {0}, begin, now});
}

static void dump(job *j, const char *stage) {
  if (j->since) {
    tell(str_of(stage), j->since);
    j->since = os_now_ns();
  }
  if ((!j->opt->dump && !*j->folder.path) || j->quiet) return;
  buf text;
  buf_init(&text, ir_mem(j->ctx));
  text_print(&text, j->m, &(text_print_options){.debuginfo = j->opt->dump_locations});
  if (buf_ok(&text) && j->opt->dump)
    j->opt->dump(j->opt->dump_user, str_of(stage), buf_view(&text));
  if (buf_ok(&text)) dump_file(&j->folder, str_of(stage), ".mlir", buf_view(&text));
  buf_deinit(&text);
}

/* What comes of it, at last. */
static void dump_end(job *j, bool compiled) {
  if (!*j->folder.path) return;
  if (j->messages.len) dump_file(&j->folder, STR("messages"), ".txt", buf_view(&j->messages));
  if (!compiled) return;
  buf text;
  buf_init(&text, &mem_system);
  program_dump(j->owner->exe.prog, &text);
  if (buf_ok(&text)) dump_file(&j->folder, STR("program"), ".txt", buf_view(&text));
  buf_deinit(&text);
}

static void dump_after(void *user, const pass_info *pass, ir_module *m) {
  (void)m;
  dump(user, pass->name);
}

/* Of trials nobody wants to know. */
static why_log *why_now(const job *j) { return j->quiet && !j->first ? NULL : j->opt->why; }

static void traced(void *user, const shard_trace *t) {
  job *j = user;
  why_traced(j->opt->why, t);
}

static pass_tables all_passes(job *j) {
  return (pass_tables){.tables = tables,
                       .count = COUNT(tables),
                       .after = dump_after,
                       .user = j,
                       .traced = why_now(j) ? traced : NULL,
                       .why = why_now(j),
                       .patterns = shard_patterns,
                       .num_patterns = SHARD_PATTERNS};
}

static bool run_with(job *j, const char *name, const pass_option *options, size_t n) {
  pass_tables t = all_passes(j);
  pass_args args = {.options = options, .num_options = n, .tables = &t};
  const pass_info *p = pass_find(&t, str_of(name));
  if (!p) return loc_error(j->ctx, j->m->root->loc, "pass '%s' does not exist", name);
  return pass_run(j->m, p, &args);
}
static bool run_pass(job *j, const char *name) { return run_with(j, name, NULL, 0); }

/* Bytecode says so in its first bytes; all else is text. */
static bool read_source(job *j) {
  if (bytecode_is(j->source))
    j->m = bytecode_read(j->ctx, j->file, j->source);
  else
    j->m =
        text_parse(j->ctx, j->file, j->source, &(text_parse_options){.allow_unregistered = true});
  if (!j->m) return false;
  if (j->opt->extend) foreign_calls(j->m, j->scratch);
  if ((j->problem = dump_open(j->opt->dump_to, symbol_name(j->m->root), &j->folder))) return false;
  dump(j, "parse");
  return true;
}

/* @main; else the function that there is, if it is the only one, which becomes it. */
static op *find_entry(ir_module *m) {
  op *found = symbol_find(m->root, STR("main")), *only = NULL;
  for (op *o = op_body(m->root, 0)->first; o && !found; o = o->next) {
    if (!op_is(o, func)) continue;
    if (only) return NULL;
    only = o;
  }
  if (only) op_set(only, func, sym_name, attr_string(m->ctx, STR("main")));
  return found ? found : only;
}

/* Which function is called may be a value that comes through another call. Each round inlines
 * those, of which a program has no more than functions. */
static bool settle_calls(job *j) {
  op *left, *before = NULL;
  for (plain_calls(j->m, &left); dialect_check_runnable(j->m); plain_calls(j->m, &left)) {
    if (!left) return true;
    if (left == before) return op_unimplemented(j->ctx, left, "of a function that is not known");
    before = left;
    if (!run_pass(j, "terrazzo-inline-all")) return false;
  }
  return false;
}

/* Sizes that the source leaves open follow from the arguments, or nobody knows them. */
static bool settle_shapes(job *j) {
  size_t n = 0;
  if (!refine_wanted(j->m)) return true;
  while (j->opt->shapes && j->opt->shapes[n]) n++;
  if (j->opt->shapes && !refine_arguments(j->m, j->main, j->opt->shapes, n)) return false;
  return refine_shapes(j->m, j->scratch, j->main);
}

/* A program over a grid is written for its devices already. */
static bool settle_devices(job *j) {
  module_devices asked = {j->opt->num_partitions, j->opt->num_replicas}, found, grid;
  bool fed;
  if (!parallel_expand(j->m, j->scratch, j->main, &grid, &fed)) return false;
  channels_expand(j->m, j->scratch, fed);
  if (!plain_bundles(j->m, j->scratch) || !settle_shapes(j) || !plain_quantized(j->m, j->scratch))
    return false;
  if (grid.replicas) asked = grid;
  if (!module_count_devices(j->m, asked, j->opt->mesh_overrides != NULL, &found)) return false;
  j->num_partitions = found.partitions;
  j->num_replicas = found.replicas;
  j->spread = found.partitions > 1 && !grid.replicas;
  if (!j->spread) return true;
  calls_on_one_device(j->m, j->scratch);
  outside_batches(j->m, j->scratch, j->opt);
  return module_check_gspmd(j->m);
}

/* JAX may send shardings as frontend attributes, which become Shardy's before anything else
 * looks. Which devices there are is settled here, as everything after depends on it. */
static bool check_source(job *j) {
  pass_tables t = all_passes(j);
  module_name_calls(j->m);
  if (shard_in_frontend(j->m) && (!dialect_verify(j->m) || !shard_from_frontend(j->m, &t)))
    return false;
  if (shard_in_gspmd(j->m) && (!dialect_verify(j->m) || !shard_from_gspmd(j->m, &t))) return false;
  if (!module_override_meshes(j->m, j->opt->overrides_said, j->opt->mesh_overrides) ||
      !dialect_verify(j->m) || !module_check_one_mesh(j->m))
    return false;
  flatten_name_prints(j->m);
  j->main = find_entry(j->m);
  if (!j->main || !op_is(j->main, func) || !op_body(j->main, 0))
    return op_error(j->ctx, j->m->root, "has no function @main to run");
  op_set(j->main, func, sym_visibility, NULL); /* it stays, whoever calls it */
  return settle_calls(j) && settle_devices(j);
}

/* Composites and the like away; on the last time calls and all that speaks of shardings too. */
static bool flatten(job *j, bool last) {
  flatten_options o = {.manual = last, .shardings = last};
  if (last && !run_pass(j, "terrazzo-inline-all")) return false;
  return flatten_module(j->m, j->scratch, &o) && decompose_module(j->m, j->scratch, last);
}

static const tensor_sharding_attr *argument_sharding(const job *j, size_t i) {
  return attr_as(tensor_sharding, func_sharding(j->main, FUNC_ARGS, i));
}

/* Which of main's arguments come as parts of sums: those of which the source says it. A constraint
 * on another, which propagation hands to the argument, is about what becomes of it. */
static bool *arguments_in_parts(job *j) {
  size_t n = func_num(j->main, FUNC_ARGS);
  bool *parts = arena_zalloc(j->scratch, n + 1);
  for (size_t i = 0; i < n; i++) {
    const tensor_sharding_attr *s = argument_sharding(j, i);
    parts[i] = s && s->unreduced.len;
  }
  return parts;
}

static void keep_arguments_whole(job *j, const bool *parts) {
  for (size_t i = 0; i < func_num(j->main, FUNC_ARGS); i++) {
    const tensor_sharding_attr *s = argument_sharding(j, i);
    if (parts[i] || !s || !s->unreduced.len) continue;
    tensor_sharding_attr whole = *s;
    whole.unreduced = (attrs){0};
    whole.unreduced_kind = NULL;
    func_set_sharding(j->m, j->main, FUNC_ARGS, i, attr_unique(j->ctx, &whole.base));
  }
}

static bool propagate(job *j) {
  /* Calls need not become calls again, and terrazzo-partition begins with reshards. */
  const pass_option our_way[] = {{STR("inline-calls"), STR("true")},
                                 {STR("leave-reshards"), STR("true")}};
  const bool *parts = arguments_in_parts(j);
  if (why_now(j)) why_again(j->opt->why, j->m, j->again);
  if (!run_with(j, "sdy-propagation-pipeline", our_way, COUNT(our_way))) return false;
  keep_arguments_whole(j, parts);
  dump(j, "propagate");
  if (why_now(j)) why_values(j->opt->why, j->m);
  j->seen = (outside_list){0};
  return outside_partition(j->m, j->scratch, j->opt, &j->seen);
}

static bool tell_inspectors(job *j) {
  for (size_t i = 0; j->opt->inspect && i < j->seen.len && !j->problem; i++)
    j->problem =
        j->opt->inspect(j->opt->calls_user, j->seen.data[i].config, &j->seen.data[i].tiles);
  return !j->problem;
}

static bool wants_remarks(const job *j) { return j->opt->partitioned || j->opt->remark; }

/* Whether anybody sees the program of one device. */
static bool is_shown(const job *j) {
  return j->opt->dump || *j->folder.path || j->opt->partitioned;
}

/* The meshes are gone after partitioning, so they are read before. */
static bool partition(job *j, shard_space **out_space) {
  shard_space *space = *out_space = shard_space_create(j->m, j->scratch);
  for (op *o = op_body(j->m->root, 0)->first; o; o = o->next)
    if (op_is(o, sdy_mesh)) shard_mesh_named(space, symbol_name(o));
  const pass_option options[] = {
      {STR("remarks"), wants_remarks(j) ? STR("true") : STR("false")},
      {STR("unseen"), is_shown(j) ? STR("false") : STR("true")},
  };
  if (!run_with(j, "terrazzo-partition", options, COUNT(options))) return false;
  dump(j, "partition");
  return true;
}

/* ---- what costs less ---- */

enum { CHOOSE_FROM = 1 << 16, MAX_QUESTIONS = 12, MAX_TAKEN = 8 };

/* One program, and what is asked of it besides. */
typedef struct choice {
  ir_module *source;      /* as it was before propagation; only copies are changed */
  const attr **signature; /* what propagation first gave @main: arguments, then results */
  const conflict *taken[MAX_TAKEN];
  u32 num_taken;
  ir_module *best;    /* the program of one device with what was taken; NULL: there is none */
  shard_space *space; /* its own */
  outside_list seen;
} choice;

static void set_module(job *j, ir_module *m) {
  j->m = m;
  j->main = symbol_find(m->root, STR("main"));
}

static void begin_copy(job *j, const choice *c) { set_module(j, ir_module_clone(c->source)); }

static void drop_module(ir_module **m) {
  ir_module_destroy(*m);
  *m = NULL;
}

/* Callers were promised these, or would find others than Shardy gives. */
static const attr **read_signature(job *j) {
  size_t n[] = {func_num(j->main, FUNC_ARGS), func_num(j->main, FUNC_RESULTS)};
  const attr **list = ARENA_ARRAY(j->scratch, const attr *, n[0] + n[1] + 1);
  for (size_t i = 0; i < n[0] + n[1]; i++) {
    func_side side = i < n[0] ? FUNC_ARGS : FUNC_RESULTS;
    list[i] = func_sharding(j->main, side, side == FUNC_ARGS ? i : i - n[0]);
  }
  return list;
}

static void keep_signature(job *j, const attr *const *list) {
  size_t n[] = {func_num(j->main, FUNC_ARGS), func_num(j->main, FUNC_RESULTS)};
  op *mesh = op_body(j->m->root, 0)->first;
  while (mesh && !op_is(mesh, sdy_mesh)) mesh = mesh->next;
  for (size_t i = 0; mesh && i < n[0] + n[1]; i++) {
    func_side side = i < n[0] ? FUNC_ARGS : FUNC_RESULTS;
    size_t k = side == FUNC_ARGS ? i : i - n[0];
    const attr *ref = attr_symbol(j->ctx, symbol_name(mesh));
    const attr *whole =
        shard_attr_replicated(j->ctx, ref, type_rank(func_type_of(j->main, side, k)), true);
    func_set_sharding(j->m, j->main, side, k, list[i] ? list[i] : whole);
  }
}

/* From the source to one device's program, with what was taken. *next: what can be asked then. */
static bool run_choice(job *j, const choice *c, shard_space **space, conflicts *next) {
  begin_copy(j, c);
  j->again = c->num_taken != 0;
  if (j->again) keep_signature(j, c->signature);
  for (u32 i = 0; i < c->num_taken; i++) choose_apply(j->scratch, j->m, c->taken[i]);
  if (!propagate(j)) return false;
  if (next) *next = choose_conflicts(j->scratch, j->m);
  return partition(j, space);
}

/* Nobody hears of what does not work out. */
static bool try_choice(job *j, const choice *c, double *cost, conflicts *next,
                       shard_space **space) {
  diag_sink loud = j->sink;
  j->sink = (diag_sink){.fn = ignore, .user = j};
  j->quiet = true;
  bool ok = run_choice(j, c, space, next);
  j->quiet = false;
  j->sink = loud;
  if (ok) *cost = wire_cost(j->scratch, j->m);
  return ok;
}

static bool was_asked(const conflict *const *asked, u32 n, const conflict *q) {
  for (u32 i = 0; i < n; i++)
    if (asked[i]->kind == q->kind) return true;
  return false;
}

static void keep_best(job *j, choice *c, shard_space *space) {
  drop_module(&c->best);
  c->best = j->m;
  c->space = space;
  c->seen = j->seen;
}

/* Takes it if the program costs less than that: *best, and *next to ask then. */
static bool take(job *j, choice *c, const conflict *q, double below, double *best,
                 conflicts *next) {
  conflicts others;
  shard_space *space;
  double cost;
  c->taken[c->num_taken++] = q;
  if (!try_choice(j, c, &cost, &others, &space) || cost >= below) {
    drop_module(&j->m);
    c->num_taken--;
    return false;
  }
  keep_best(j, c, space);
  *best = cost;
  *next = others;
  return true;
}

/* Each question on top of what was taken before; what is taken raises others. Of the places of a
 * sum the best is taken; that each device computes less may be little beside what it sends. */
static void take_what_costs_less(job *j, choice *c, conflicts questions) {
  const conflict *asked[MAX_QUESTIONS];
  u32 num_asked = 0;
  double best;
  shard_space *space;
  if (!try_choice(j, c, &best, NULL, &space)) return;
  keep_best(j, c, space);
  conflicts next;
  for (size_t i = 0; i < questions.len;) {
    const conflict *q = &questions.data[i++];
    if (was_asked(asked, num_asked, q)) continue;
    if (num_asked == MAX_QUESTIONS || c->num_taken == MAX_TAKEN) return;
    asked[num_asked++] = q;
    if (!take(j, c, q, (q->sum ? .99 : .95) * best, &best, &next)) continue;
    for (; q->sum && i < questions.len && questions.data[i].sum == q->sum; i++) {
      const conflict *one = c->taken[--c->num_taken];
      if (!take(j, c, &questions.data[i], best, &best, &next)) c->taken[c->num_taken++] = one;
    }
    questions = next;
    i = 0;
  }
}

/* What is printed on the way is of the program as it will be. */
static bool propagate_and_partition(job *j, shard_space **space) {
  u64 least = j->opt->choose_from ? j->opt->choose_from : CHOOSE_FROM;
  if (least == UINT64_MAX || !choose_number(j->m, least))
    return propagate(j) && partition(j, space);
  choice c = {.source = j->m};
  begin_copy(j, &c);
  j->quiet = j->first = true;
  bool ok = propagate(j);
  j->quiet = j->first = false;
  if (!ok) return false;
  conflicts questions = choose_conflicts(j->scratch, j->m);
  if (questions.len) {
    c.signature = read_signature(j);
    drop_module(&j->m);
    take_what_costs_less(j, &c, questions);
  }
  bool told = j->opt->dump || *j->folder.path || wants_remarks(j) ||
              j->opt->why; /* what nobody heard of a trial */
  if (c.best && !told) {
    set_module(j, c.best);
    *space = c.space;
    j->seen = c.seen;
    drop_module(&c.source);
  } else if (questions.len || told) {
    if (!run_choice(j, &c, space, NULL)) return false;
  } else {
    drop_module(&c.source);
    if (!partition(j, space)) return false;
  }
  choose_end(j->m);
  return true;
}

/* ---- the executable ---- */

/* Signatures first: they decide which results take over which parameters, and the planner wants to
 * hear of that when a result gets its slot. */
static bool build_program(job *j, shard_space *space) {
  executable *e = &j->owner->exe;
  arena *out = &j->owner->arena;
  compile_tensor *params, *results;
  if (!signature_tensors(j->ctx, j->scratch, out, space, j->main, false, j->global_params,
                         j->num_partitions, &params) ||
      !signature_tensors(j->ctx, j->scratch, out, space, j->main, true, j->global_results,
                         j->num_partitions, &results))
    return false;
  e->params = params;
  e->results = results;
  e->num_params = (u32)j->global_params.len;
  e->num_results = (u32)func_num(j->main, FUNC_RESULTS);
  i32 *alias = ARENA_ARRAY(j->scratch, i32, e->num_results);
  signature_alias(j->main, params, e->num_params, results, e->num_results, alias);
  if (j->opt->layouts && !layout_apply(j->m, j->scratch, out, j->main, params, results))
    return false;
  empty_values(j->m, j->scratch);
  components_split(j->m, j->scratch, j->main);
  invariant_hoist(j->m, j->scratch, j->main);
  cse_region(j->scratch, &j->main->regions[0]);
  ops_erase_dead(j->main, DEAD_WITHOUT_EFFECTS);
  prog_builder *b = prog_begin(out, j->num_replicas, j->num_partitions);
  prog_set_flush_denormals(b, !j->opt->keep_denormals);
  prog_set_scratch(b, ir_scratch_push(j->ctx));
  arena *nodes = ir_scratch_push(j->ctx);
  if (!lower_main(j->ctx, nodes, b, space, j->main, alias, j->num_replicas, j->num_partitions))
    return false;
  ir_scratch_pop(j->ctx);
  drop_module(&j->m); /* what plans takes its memory */
  j->problem = prog_finish(b, &e->prog);
  ir_scratch_pop(j->ctx);
  return j->problem == NULL;
}

static void describe(job *j) {
  executable *e = &j->owner->exe;
  str name = symbol_name(j->m->root);
  e->name = arena_str(&j->owner->arena, name.len ? name : STR("main"));
  e->num_replicas = j->num_replicas;
  e->num_partitions = j->num_partitions;
  u64 seed = hash_u64(((u64)j->num_partitions << 32) | j->num_replicas, j->opt->keep_denormals);
  seed = hash_u64(j->opt->choose_from, hash_u64(j->opt->layouts, seed));
  for (const char *const *o = j->opt->mesh_overrides; o && *o; o++)
    seed = hash_bytes(*o, strlen(*o), seed);
  for (const char *const *o = j->opt->shapes; o && *o; o++)
    seed = hash_bytes(*o, strlen(*o) + 1, seed);
  e->fingerprint = hash_bytes(j->source.data, j->source.len, seed);
}

/* Where somebody asks why, the source is as passes first see it from here on. */
static bool ask_why(job *j) {
  if (!j->opt->why) return true;
  why_begin(j->opt->why, j->m);
  return !j->opt->edit || j->opt->edit(j->opt->edit_user, j->m);
}

static bool compile(job *j) {
  shard_space *space = NULL;
  struct func_attrs f;
  if (!read_source(j)) return false;
  j->enough = j->opt->read && !j->opt->read(j->opt->read_user, j->m);
  if (j->enough) return true;
  if (!check_source(j)) return false;
  describe(j);
  if (!decompose_calls(j->m, j->scratch)) return false;
  if (j->opt->partitioned) wire_mark_asked(j->m);
  if (j->spread && !flatten(j, false)) return false;
  if (!ask_why(j)) return false;
  view_func(j->main, &f);
  j->global_params = type_inputs(f.function_type);
  j->global_results = type_results(f.function_type);
  if (j->spread && !propagate_and_partition(j, &space)) return false;
  if (!tell_inspectors(j)) return false;
  j->enough = j->opt->partitioned &&
              !j->opt->partitioned(j->opt->partitioned_user, j->m, buf_view(&j->messages));
  if (j->enough) return true;
  if (!flatten(j, true)) return false;
  constants_fold(j->m, j->scratch, j->main, j->opt);
  if (!j->spread && !run_pass(j, "terrazzo-batch-products")) return false;
  if (!run_pass(j, "terrazzo-drop-stacks")) return false;
  dump(j, "flatten");
  bool ok = build_program(j, space);
  tell(STR("lower"), j->since);
  return ok;
}

/* ---- entry ---- */

/* Out of memory jumps back here. */
static bool compile_trapped(job *j) {
  if (setjmp(j->trap.at)) {
    status_free(j->problem);
    j->problem = status_oom();
    return false;
  }
  j->ctx = ir_ctx_create(&j->owner_mem, &j->trap, &j->sink);
  j->owner = executable_new(&j->owner_mem, &j->trap);
  if (!j->ctx || !j->owner) longjmp(j->trap.at, 1);
  if (j->opt->why) j->opt->why->a.trap = &j->trap;
  j->scratch = ir_scratch_push(j->ctx);
  if (j->opt->extend && !j->opt->extend(j->opt->extend_user, j->ctx)) return false;
  return compile(j);
}

static status failure(job *j) {
  if (j->problem) return j->problem;
  if (!buf_ok(&j->messages)) return status_oom();
  str text = buf_view(&j->messages);
  while (text.len && text.data[text.len - 1] == '\n') text.len--;
  if (!text.len) return status_make(STATUS_INTERNAL, "compilation failed without a message");
  return status_make(j->sink.unimplemented ? STATUS_UNIMPLEMENTED : STATUS_INVALID_ARGUMENT,
                     STR_FMT, STR_ARG(text));
}

status compile_source(str source, const compile_options *options, executable **out_executable) {
  static const compile_options defaults;
  job j = {.opt = options ? options : &defaults, .source = source};
  *out_executable = NULL;
  j.owner_mem = j.opt->mem ? *j.opt->mem : mem_system;
  j.file = j.opt->file.len ? j.opt->file : STR("-");
  buf_init(&j.messages, &j.owner_mem);
  j.sink = (diag_sink){.fn = report, .user = &j};
  status result = trace_to_file(getenv("TERRAZZO_TRACE"));
  u64 begin = j.since = trace_on() ? os_now_ns() : 0;
  if (!result && compile_trapped(&j) && !j.enough) {
    *out_executable = &j.owner->exe;
    j.owner->arena.trap = NULL;
    tell(j.owner->exe.name, begin);
    dump_end(&j, true);
    if (j.opt->remark && j.messages.len && buf_ok(&j.messages))
      j.opt->remark(j.opt->remark_user, buf_view(&j.messages));
  } else {
    if (!j.enough && !result) result = failure(&j);
    dump_end(&j, false);
    executable_drop(j.owner);
  }
  buf_deinit(&j.messages);
  if (j.opt->why) j.opt->why->a.trap = NULL;
  ir_ctx_destroy(j.ctx); /* and the module */
  return result;
}
