/* Import passes for control flow and calls: data-flow edges, flattening, named computations.
 *
 * Propagation knows one way in which shardings pass between ops' borders: the edge ops that are put
 * in here (sdy.data_flow_edge), one for each owner (flow.h). Functions become named computations,
 * whose bodies are propagated in place; export_values.c and export_calls.c undo all of it. Passes
 * are Shardy's (transforms/import), named by the comments above them. */
#include "dialect/dialect.h"
#include "shard/calls.h"
#include "shard/flow.h"
#include "shard/passes.h"
#include "shard/traits.h"

/* ---- sdy-add-data-flow-edges ---- */

/* The edge takes over all uses of the owner, and its sharding. Only static tensors have one:
 * Shardy's verifier of edges asks for it. */
static void add_edge(ir_module *m, value *owner) {
  if (!type_is_shardable(owner->type)) return;
  op *o = value_parent(owner);
  const flow *f = op_flow(o);
  if (f && f->owner_of_target(o, owner) != owner) return;
  const attr *sharding = value_sharding(m->ctx, owner);
  op *edge = op_create(m, &op_infos[OP_data_flow_edge], o->loc, &owner, 1, &owner->type, 1, 0);
  op_set(edge, data_flow_edge, sharding, sharding);
  if (owner->is_arg)
    op_insert(edge, owner->def.block, owner->def.block->first);
  else
    op_insert(edge, o->parent, o->next);
  value_replace_except(owner, op_result(edge, 0), edge);
}

/* From the last, as each goes in front. */
void add_edges_to_args(ir_module *m, op *o) {
  block *b = flow_owner_block(o);
  for (u32 i = b ? b->num_args : 0; i-- > 0;) add_edge(m, b->args[i]);
}
void add_edges_to_results(ir_module *m, op *o) {
  for (u32 i = o->num_results; i-- > 0;) add_edge(m, op_result(o, i));
}

typedef struct edge_adder {
  ir_module *m;
  bool extra; /* for stablehlo.if too */
} edge_adder;

static walk_result add_edges(void *user, op *o) {
  const edge_adder *e = user;
  const flow *f = op_flow(o);
  if (f && f->args_own) add_edges_to_args(e->m, o);
  if (f || (e->extra && op_is(o, if))) add_edges_to_results(e->m, o);
  return WALK_ON;
}

bool pass_add_data_flow_edges(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch;
  edge_adder e = {m, pass_option_flag(args, STR("extra-rules"), false)};
  if (module_may_flow(m)) op_walk_post(m->root, add_edges, &e);
  return true;
}

/* false: no edge of this side has one. Those without get open ones, for lists are all or
 * nothing. */
bool edge_shardings(ir_module *m, op *o, bool args, const attr **out) {
  block *b = args ? flow_owner_block(o) : NULL;
  size_t n = args ? (b ? b->num_args : 0) : o->num_results;
  const attr *first = NULL;
  for (size_t i = 0; i < n; i++) {
    op *edge = edge_of_target(args ? b->args[i] : op_result(o, i));
    out[i] = edge ? op_attr(edge, SLOT_NAME(sharding)) : NULL;
    if (!first) first = out[i];
  }
  for (size_t i = 0; first && i < n; i++)
    if (!out[i])
      out[i] = shard_attr_open_like(m->ctx, first,
                                    type_rank(args ? b->args[i]->type : op_result(o, i)->type));
  return first != NULL;
}

/* ---- calls ---- */

typedef struct call_walk {
  symbols symbols;
  arena *a;
  op_list calls;
} call_walk;

/* All calls of the module, those in callees before those in callers; false where copying what they
 * call would not end. */
static bool calls_in_order(ir_module *m, arena *a, call_walk *out) {
  op **funcs;
  size_t n;
  *out = (call_walk){.a = a};
  symbols_init(&out->symbols, m, a);
  if (!funcs_in_order(&out->symbols, false, &funcs, &n) || !dialect_check_calls(m, MAX_CALL_DEPTH))
    return false;
  for (size_t i = 0; i < n; i++) ops_of_kind(a, funcs[i], OP_call, &out->calls);
  return true;
}

static bool no_callee(ir_module *m, const op *call) {
  return op_error(m->ctx, call, "calls a function that does not exist");
}

/* sdy-flatten-call-graph: every call but the first of a function gets a copy of its own */
bool pass_flatten_call_graph(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  call_walk w;
  if (!module_may_have(m, call)) return true;
  if (!calls_in_order(m, scratch, &w)) return false;
  FOR_OPS(o, op_body(m->root, 0)) o->num = 0;
  for (size_t i = 0; i < w.calls.len; i++) {
    op *f = call_callee(&w.symbols, w.calls.data[i]);
    if (!f) return no_callee(m, w.calls.data[i]);
    if (!f->num++) continue;
    op *copy = func_clone_deep(&w.symbols, f);
    copy->num = 1;
    call_set_callee(m, w.calls.data[i], copy);
  }
  return true;
}

/* sdy-propagate-sharding-from-func-to-call */
bool pass_func_to_call(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  shard_space *s = shard_space_create(m, scratch);
  call_walk w = {.a = scratch};
  if (!module_may_have(m, call)) return true;
  symbols_init(&w.symbols, m, scratch);
  ops_of_kind(scratch, m->root, OP_call, &w.calls);
  for (size_t i = 0; i < w.calls.len; i++) {
    op *call = w.calls.data[i], *f = call_callee(&w.symbols, call);
    if (!f) return no_callee(m, call);
    const attr **list = ARENA_ARRAY(scratch, const attr *, func_num(f, FUNC_RESULTS));
    if (op_discardable(call, SDY_SHARDING) || !func_all_shardings(s, f, FUNC_RESULTS, list))
      continue;
    op_set_shardings(m, call, list, func_num(f, FUNC_RESULTS));
  }
  return shard_space_check(s);
}

/* ---- sdy-import-func-calls ---- */

static void replace_terminator(ir_module *m, block *b, const op_info *info) {
  op *old = op_terminator(b);
  if (!old) return;
  value **v = ARENA_ARRAY(&m->arena, value *, old->num_operands);
  for (u32 i = 0; i < old->num_operands; i++) v[i] = op_operand(old, i);
  op *new = op_create(m, info, old->loc, v, old->num_operands, NULL, 0, 0);
  op_insert(new, b, NULL);
  op_erase(old);
}

void move_body(ir_module *m, region *to, region *from, const op_info *info) {
  for (block *b; (b = from->first);) {
    block_unlink(b);
    region_append(to, b);
    replace_terminator(m, b, info);
  }
}

/* Attributes of the call stay; shardings of arguments come from the function, those of results from
 * the call. */
static op *make_named(ir_module *m, shard_space *s, arena *a, op *call, op *f) {
  const type **types = ARENA_ARRAY(a, const type *, call->num_results);
  value **operands = ARENA_ARRAY(a, value *, call->num_operands);
  for (u32 i = 0; i < call->num_results; i++) types[i] = op_result(call, i)->type;
  for (u32 i = 0; i < call->num_operands; i++) operands[i] = op_operand(call, i);
  op *n = op_create(m, &op_infos[OP_named_computation], call->loc, operands, call->num_operands,
                    types, call->num_results, 1);
  op_set(n, named_computation, name, func_original_name(f));
  const attr **in = ARENA_ARRAY(a, const attr *, func_num(f, FUNC_ARGS));
  if (func_all_shardings(s, f, FUNC_ARGS, in))
    op_set(n, named_computation, in_shardings,
           attr_make(m->ctx, sharding_per_value, .shardings = {in, func_num(f, FUNC_ARGS)}));
  op_set(n, named_computation, out_shardings, op_discardable(call, SDY_SHARDING));
  for (u32 i = 0; i < call->num_attrs; i++) {
    str name;
    if (attr_get_str(call->attrs[i].name, &name) && !str_is(name, "sdy.sharding"))
      op_set_attr(m, n, name, call->attrs[i].value);
  }
  const attr *thread = op_discardable(f, EXECUTION_THREAD);
  if (thread) op_set_attr(m, n, EXECUTION_THREAD, thread);
  op_insert(n, call->parent, call);
  for (u32 i = 0; i < call->num_results; i++) value_replace(op_result(call, i), op_result(n, i));
  op_erase(call);
  return n;
}

static void copy_body(ir_module *m, arena *a, op *to, op *from) {
  op *copy = op_clone(m, from, ir_map_create(a));
  move_body(m, &to->regions[0], &copy->regions[0], &op_infos[OP_sdy_return]);
  op_erase(copy);
}

static walk_result add_named_edges(void *user, op *o) {
  if (!op_is(o, named_computation)) return WALK_ON;
  add_edges_to_args(user, o);
  add_edges_to_results(user, o);
  return WALK_ON;
}

/* The first call takes the body itself, others copies of it, by then inside a named computation. */
bool pass_import_func_calls(ir_module *m, arena *scratch, const pass_args *args) {
  call_walk w;
  shard_space *s = shard_space_create(m, scratch);
  if (!module_may_have(m, call) && !module_may_have(m, named_computation)) return true;
  if (!calls_in_order(m, scratch, &w)) return false;
  u32 numbered = 0;
  FOR_OPS(o, op_body(m->root, 0)) o->num = numbered++;
  op **moved = arena_zalloc(scratch, (numbered + 1) * sizeof *moved); /* who has the body now */
  for (size_t i = 0; i < w.calls.len; i++) {
    op *f = call_callee(&w.symbols, w.calls.data[i]);
    if (!f) return no_callee(m, w.calls.data[i]);
    if (!moved[f->num] && !op_body(f, 0))
      return op_unimplemented(m->ctx, w.calls.data[i], "its callee has no body");
    op *n = make_named(m, s, scratch, w.calls.data[i], f);
    if (moved[f->num]) {
      if (diag_first(ir_sink(m->ctx), ONCE_CALLED_TWICE))
        op_warn(m->ctx, n,
                "function @" STR_FMT " has multiple call ops, we need to clone the "
                "function body for each call",
                STR_ARG(symbol_name(f)));
      copy_body(m, scratch, n, moved[f->num]);
    } else {
      move_body(m, &n->regions[0], &f->regions[0], &op_infos[OP_sdy_return]);
      moved[f->num] = n;
    }
  }
  FOR_OPS(o, op_body(m->root, 0)) if (op_is(o, func) && moved[o->num]) op_erase(o);
  if (pass_option_flag(args, STR("add-data-flow-edges-on-named-computations"), true))
    op_walk_post(m->root, add_named_edges, m);
  return shard_space_check(s);
}

/* sdy-pre-order-funcs: callers before callees */
bool pass_pre_order_funcs(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  symbols t;
  op **funcs;
  size_t n;
  symbols_init(&t, m, scratch);
  if (!funcs_in_order(&t, true, &funcs, &n)) return false;
  for (size_t i = 0; i < n; i++) {
    op_unlink(funcs[i]);
    op_insert(funcs[i], op_body(m->root, 0), NULL);
  }
  return true;
}
