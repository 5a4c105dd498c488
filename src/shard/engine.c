/* The propagation engine: which op is visited next, with which rule and direction, and what a
 * change wakes.
 *
 * The order of visits is MLIR's greedy driver's; it decides which of two conflicting shardings
 * wins, so it is kept to the letter even where another would do less work. Memory of earlier visits
 * (settled, and the memo of state.c) only leaves out visits that cannot change anything. One run:
 * load (state.c), rounds by user priority, in each rounds by op priority, in each one or two greedy
 * runs; then store. */
#include "shard/engine.h"

#include "shard/calls.h"
#include "shard/flow.h"
#include "shard/op_priorities.h"
#include "shard/state.h"
#include "shard/traits.h"

/* ---- the stack ---- */

/* Numbers from 1, so that 0 means that the op is not in the stack. */
static void push_one(engine *e, op *o) {
  if (e->place[o->num]) return;
  e->stack[e->depth++] = o;
  e->place[o->num] = e->depth;
}

/* With all that is around it, up to the module. */
static void push(engine *e, op *o) {
  for (; o && o != e->m->root; o = op_parent(o)) push_one(e, o);
}

/* Ops taken out leave a hole instead of moving what is above them. */
static op *pop(engine *e) {
  while (e->depth) {
    op *o = e->stack[--e->depth];
    if (!o) continue;
    e->place[o->num] = 0;
    return o;
  }
  return NULL;
}

static void take_out(engine *e, op *o) {
  if (e->place[o->num]) e->stack[e->place[o->num] - 1] = NULL;
  e->place[o->num] = 0;
}

/* ---- erasing ---- */

/* Producers left with fewer than two users once `o` is gone may have become dead. */
static void push_producers(engine *e, op *o) {
  for (u32 i = 0; i < o->num_operands; i++) {
    const value *v = op_operand(o, i);
    op *producer = value_op(v);
    if (producer && value_is_nearly_unused(v, o)) push(e, producer);
  }
}

/* From the inside out: an op's users in the regions go before it. */
static void erase_tree(engine *e, op *o) {
  for (size_t r = o->num_regions; r-- > 0;)
    for (block *b = o->regions[r].last; b; b = b->prev)
      while (b->last) erase_tree(e, b->last);
  push_producers(e, o);
  take_out(e, o);
  if (e->options->trace) trace_erase(e->options->trace, o);
  e->ops[o->num] = NULL;
  op_erase(o);
}

/* ---- waking what a change touches ---- */

static void wake(engine *e, op *o) {
  e->settled[o->num] = 0;
  if (e->notify && o != e->current) push(e, o);
}

/* The value's func_data_flow_edge, or its users: what becomes of a value at a border. */
static void wake_border(engine *e, const value *v) {
  for (use *u = v->uses; u; u = u->next) wake(e, u->owner);
}

/* On the other side of calls, where func_data_flow_edges stand for them. */
static bool wake_across(engine *e, const use *u) {
  if (!e->calls) return false;
  size_t i = (size_t)(u - u->owner->operands);
  if (op_is(u->owner, call)) {
    op *f = call_callee(&e->calls->symbols, u->owner);
    block *b = f ? op_body(f, 0) : NULL;
    if (b && i < b->num_args) wake_border(e, b->args[i]);
    return b != NULL;
  }
  if (!op_is(u->owner, func_return)) return false;
  const call_list *calls = call_map_callers(e->calls, op_parent(u->owner));
  for (size_t k = 0; calls && k < calls->len; k++)
    if (i < calls->data[k]->num_results) wake_border(e, op_result(calls->data[k], (u32)i));
  return calls != NULL;
}

/* Who reads the value: the edge that it feeds, the other side of a call, the op around a
 * terminator, or the user itself. */
static void wake_users(engine *e, value *v) {
  for (use *u = v->uses; u; u = u->next) {
    op *edge = edge_of_source(u);
    if (edge)
      wake(e, edge);
    else if (!wake_across(e, u))
      wake(e, op_has(u->owner, TERMINATOR) ? op_parent(u->owner) : u->owner);
  }
}

static void wake_target(void *user, value *v) { wake_users(user, v); }

/* As Shardy's driver is told of a changed op: its own op, its users, and of an edge all targets. */
static void wake_around(engine *e, value *v) {
  op *o = value_parent(v);
  if (op_flow(o)) memset(e->settled, 0, e->num_ops); /* an owner without an edge op */
  if (!v->is_arg && op_is(o, data_flow_edge)) {
    value *owner = op_operand(o, 0);
    op *source = value_parent(owner);
    const flow *f = op_flow(source);
    if (f) f->each_other_target(source, owner, wake_target, e);
  }
  wake(e, o);
  wake_users(e, v);
}

/* Ops around v must be looked at when they come up, without being called for. */
static void settle_anew(engine *e, value *v) {
  bool notify = e->notify;
  e->notify = false;
  wake_around(e, v);
  e->notify = notify;
}

/* ---- updates ---- */

/* `seen`: as the step sees it, which differs at the border of manual computations. That is what
 * other members of a group get, as in Shardy. */
static void update_seen(engine *e, value *holder, const sharding *s, const sharding *seen) {
  state_set(e, holder, s);
  wake_around(e, holder);
  value_group *g = state_group(e, holder);
  for (size_t i = 0; g && i < g->members.len; i++) {
    value *other = g->members.data[i];
    if (other == holder) continue;
    value *at = state_holder(e, other);
    if (at) state_set(e, at, seen);
    if (at && e->options->trace) trace_group(e->options->trace, holder, at, seen);
    wake_around(e, other);
    if (at && at != other) settle_anew(e, at);
  }
}

static void update(engine *e, value *holder, const sharding *s) { update_seen(e, holder, s, s); }

/* ---- directions ---- */

/* Operands with several uses would spread a conflict to each of them. */
static direction by_uses(const op *o, bool many_too) {
  if (many_too) return DIR_BOTH;
  for (u32 i = 0; i < o->num_operands; i++) {
    const value *v = op_operand(o, i);
    if (!value_has_one_use(v) && !value_is_scalar(v)) return DIR_NONE;
  }
  return DIR_BOTH;
}

static direction pass_through(const op *o, u8 kind, bool many_too) {
  if (kind & KIND_PASS_THROUGH) return by_uses(o, many_too);
  if (kind & KIND_DYNAMIC) return direction_intersection(by_uses(o, many_too), DIR_FORWARD);
  return DIR_NONE;
}

/* The directions that round `priority` adds to those of the rounds before. Of which uses an op has
 * only round 0 asks. */
static void add_round(int priority, const op *o, u8 kind, direction *pass, direction *other) {
  direction p = DIR_BOTH, q = DIR_BOTH;
  if (priority < 2) p = q = pass_through(o, kind, priority == 1);
  if ((priority == 2 || priority == 3) && (kind & KIND_BROADCAST)) p = q = DIR_BACKWARD;
  if (priority == 2) q = DIR_NONE;
  *pass = direction_union(*pass, p);
  *other = direction_union(*other, q);
}

enum { ROUNDS = 5, ANY_ROUND = -1 };

/* Edges are in every round. */
static direction given_direction(const engine *e, const op_priorities *given, const op *o) {
  u8 kind = e->kind[o->num];
  if (kind & KIND_EDGE) return DIR_BOTH;
  return op_priorities_direction(given, o, (kind & KIND_ELEMENTWISE) != 0, e->round);
}

/* In which directions ops go in this round, which after round 0 their kind alone decides. */
static directions directions_of(engine *e, const op *o) {
  u8 kind = e->kind[o->num];
  direction pass = DIR_NONE, other = DIR_NONE;
  if (e->round == 0) {
    if (kind & (KIND_PASS_THROUGH | KIND_DYNAMIC)) add_round(0, o, kind, &pass, &other);
    return (directions){(u8)pass, (u8)other};
  }
  for (u8 k = 0; e->modes_of != e->round && k < COUNT(e->modes); k++) {
    pass = other = DIR_NONE;
    for (int i = 1; i <= e->round; i++) /* 1 includes 0 */
      add_round(i, o, (u8)(k * KIND_PASS_THROUGH), &pass, &other);
    e->modes[k] = (directions){(u8)pass, (u8)other};
  }
  e->modes_of = e->round;
  return e->modes[kind / KIND_PASS_THROUGH % COUNT(e->modes)];
}

static transfer_mode mode_of(engine *e, const op *o, bool elementwise) {
  directions d = {DIR_BOTH, DIR_BOTH};
  const op_priorities *given = op_priorities_of(e->m->ctx);
  if (e->round != ANY_ROUND && given)
    d.pass = d.other = (u8)given_direction(e, given, o);
  else if (e->round != ANY_ROUND)
    d = directions_of(e, o);
  return (transfer_mode){.pass = d.pass,
                         .other = d.other,
                         .aggressive = e->aggressive,
                         .elementwise = elementwise,
                         .conservative = false};
}

/* ---- visits ---- */

/* A step in no direction changes nothing; asking saves the memo's memory. */
static bool step(engine *e, const rule *r, transfer_mode mode, const sharding *const *in,
                 const sharding ***out) {
  if (mode.pass == DIR_NONE && mode.other == DIR_NONE) return false;
  return state_transfer(e, r, mode, in, out);
}

static const sharding **gather(engine *e, size_t n) {
  if (n > e->cap_in) {
    e->cap_in = n * 2;
    e->in = ARENA_ARRAY(e->a, const sharding *, e->cap_in);
  }
  return e->in;
}

/* What the step that was just made brought: values of the rule's tensors come from value_at. */
static void trace(engine *e, op *o, const rule *r, transfer_mode mode, const sharding *const *in,
                  value *(*value_at)(engine *e, op *o, u32 i)) {
  shard_trace *t = e->options->trace;
  axis_list *before, *after;
  u32 n = rule_num_tensors(r);
  if (!t || !transfer_factors(e->space, e->scratch, r, mode, in, &before, &after)) return;
  value **values = ARENA_ARRAY(e->scratch, value *, n);
  for (u32 i = 0; i < n; i++) {
    value *v = value_at(e, o, i), *holder = state_holder(e, v);
    values[i] = holder ? holder : v;
  }
  trace_step(t, o, r, shardings_common_mesh(in, n), values, before, after);
}

static value *tensor_at(engine *e, op *o, u32 i) {
  (void)e;
  return i < o->num_operands ? op_operand(o, i) : op_result(o, i - o->num_operands);
}
static value *source_at(engine *e, op *o, u32 i) {
  return i < e->sources.len ? e->sources.data[i] : op_result(o, 0);
}
static value *returned_at(engine *e, op *o, u32 i) {
  (void)o, (void)i;
  return e->sources.data[0];
}

/* An op whose tensors are as they were when it was last visited, in this mode, has nothing to say;
 * if it has, it is marked as visited so. */
static bool is_settled(engine *e, const op *o, transfer_mode mode) {
  u8 key = (u8)(1 | mode.pass << 1 | mode.other << 3 | mode.aggressive << 5);
  if (e->settled[o->num] == key) return true;
  e->settled[o->num] = key;
  return false;
}

static void visit_rule(engine *e, op *o) {
  transfer_mode mode = mode_of(e, o, (e->kind[o->num] & KIND_ELEMENTWISE) != 0);
  mode.conservative = e->options->conservative;
  if ((mode.pass == DIR_NONE && mode.other == DIR_NONE) || is_settled(e, o, mode)) return;
  const rule *r = state_rule(e, o);
  if (!r) return;
  u32 n = o->num_operands, all = n + o->num_results;
  const sharding **in = gather(e, all), **out;
  bool any = false;
  for (u32 i = 0; i < n; i++) any |= (in[i] = state_get(e, op_operand(o, i))) != NULL;
  for (u32 i = 0; i < o->num_results; i++)
    any |= (in[n + i] = state_get(e, op_result(o, i))) != NULL;
  if (!any) return;
  if (!step(e, r, mode, in, &out)) return;
  trace(e, o, r, mode, in, tensor_at);
  for (u32 i = 0; i < all; i++) {
    value *v = i < n ? op_operand(o, i) : op_result(o, i - n);
    value *holder = out[i] ? state_holder(e, v) : NULL;
    if (holder) update(e, holder, out[i]);
  }
}

static void add_source(void *user, use *u) {
  engine *e = user;
  VEC_PUSH(e->a, e->sources, u->value);
}

/* sdy.data_flow_edge and sdy.func_data_flow_edge */
static void visit_edge(engine *e, op *edge) {
  value *owner = op_operand(edge, 0), *target = op_result(edge, 0);
  op *o = value_parent(owner);
  const flow *f = op_flow(o);
  e->sources.len = 0;
  if (op_is(edge, func_data_flow_edge))
    func_edge_sources(e->calls, edge, add_source, e);
  else if (f)
    f->each_source(o, owner, add_source, e);
  size_t n = e->sources.len;
  if (!n || !type_is_shardable(target->type)) return;
  const sharding **in = gather(e, n + 1), **out;
  for (size_t i = 0; i < n; i++) in[i] = state_get(e, e->sources.data[i]);
  in[n] = state_outside(e, owner, state_get(e, target));
  transfer_mode mode = mode_of(e, edge, false);
  if (!step(e, state_identity(e, edge, n), mode, in, &out)) return;
  trace(e, edge, state_identity(e, edge, n), mode, in, source_at);
  for (size_t i = 0; i < n; i++) {
    value *holder = out[i] ? state_holder(e, e->sources.data[i]) : NULL;
    if (holder) update(e, holder, out[i]);
  }
  if (out[n]) update_seen(e, target, state_inside(e, owner, out[n]), out[n]);
}

/* Its own direction, whatever round it is. */
static void visit_barrier(engine *e, op *o) {
  struct propagation_barrier_attrs v;
  value *from = op_operand(o, 0), *to = op_result(o, 0);
  if (!view_propagation_barrier(o, &v) || !type_is_shardable(to->type)) return;
  const sharding *in[2] = {state_get(e, from), state_get(e, to)}, **out;
  u8 dir = (u8)v.allowed_direction->value;
  transfer_mode mode = {
      .pass = dir, .other = dir, .aggressive = e->aggressive, .elementwise = true};
  if (!step(e, state_identity(e, o, 1), mode, in, &out)) return;
  trace(e, o, state_identity(e, o, 1), mode, in, tensor_at);
  value *holder = out[0] ? state_holder(e, from) : NULL;
  if (holder) update(e, holder, out[0]);
  if (out[1]) update(e, to, out[1]);
}

static void visit(engine *e, op *o) {
  e->current = o;
  u8 kind = e->kind[o->num];
  if (kind & KIND_EDGE)
    visit_edge(e, o);
  else if (kind & KIND_BARRIER)
    visit_barrier(e, o);
  else if (kind & KIND_RULE)
    visit_rule(e, o);
}

/* ---- rounds ---- */

/* Between what main returns and its result attributes; nothing is woken. */
static void visit_results(engine *e) {
  if (!e->main) return;
  block *body = op_body(e->main, 0);
  op *ret = body ? op_terminator(body) : NULL;
  const sharding **results = state_results(e, e->main);
  e->notify = false;
  u32 n = ret ? (u32)min_size(ret->num_operands, func_num(e->main, FUNC_RESULTS)) : 0;
  if (!e->returned) e->returned = arena_zalloc(e->a, (n + (size_t)1) * sizeof *e->returned);
  for (u32 i = 0; i < n; i++) {
    value *v = op_operand(ret, i);
    if (!type_is_shardable(v->type)) continue;
    const sharding *in[2] = {state_get(e, v), results[i]}, **out;
    transfer_mode mode = {.pass = DIR_BOTH, .other = DIR_BOTH, .aggressive = e->aggressive};
    const rule *r = e->returned[i];
    if (!r) r = e->returned[i] = rule_identity(&e->rules, v->type, 1);
    if (!step(e, r, mode, in, &out)) continue;
    e->sources.len = 0;
    VEC_PUSH(e->a, e->sources, v);
    trace(e, e->main, r, mode, in, returned_at);
    value *holder = out[0] ? state_holder(e, v) : NULL;
    if (holder) update(e, holder, out[0]);
    if (out[1]) results[i] = out[1];
  }
}

/* Dead ops go when they come up, as in MLIR's driver: their operands then have fewer uses, which
 * some directions depend on. */
static void run_greedy(engine *e, bool aggressive) {
  e->aggressive = aggressive;
  visit_results(e);
  e->notify = true;
  state_fill_stack(e);
  for (op *o; (o = pop(e));) {
    if (op_is_dead(o))
      erase_tree(e, o);
    else
      visit(e, o);
  }
  visit_results(e);
}

static void run_strategies(engine *e) {
  strategy s = e->options->strategy;
  if (s != STRATEGY_AGGRESSIVE) run_greedy(e, false);
  if (s != STRATEGY_BASIC) run_greedy(e, true);
}

static void run_rounds(engine *e) {
  const op_priorities *given = op_priorities_of(e->m->ctx);
  int rounds = given ? op_priorities_rounds(given) : ROUNDS;
  e->round = e->options->op_priorities ? 0 : ANY_ROUND;
  do {
    if (e->options->trace) e->options->trace->op_round = e->round;
    run_strategies(e);
  } while (e->round != ANY_ROUND && ++e->round < rounds);
}

/* One run for each priority, from the highest. */
static bool run_priorities(engine *e) {
  priority_plan *plan = state_plan_priorities(e);
  const engine_options *o = e->options;
  i64 priority = 0;
  run_rounds(e);
  for (size_t i = 0; i < plan->count; i++) {
    if (o->after_priority && !(state_store(e) && o->after_priority(o->user, priority)))
      return false;
    priority = state_priority(plan, i);
    if (o->trace) o->trace->user_priority = priority;
    state_raise_priority(e, plan, i);
    memset(e->settled, 0, e->num_ops);
    run_rounds(e);
  }
  return true;
}

static bool run_all(engine *e) {
  if (e->options->user_priorities) return run_priorities(e);
  run_rounds(e);
  return true;
}

bool engine_run(ir_module *m, arena *a, const engine_options *options) {
  engine *e = state_load(m, a, ir_scratch_push(m->ctx), options);
  bool ok = e && run_all(e) && state_store(e);
  ir_scratch_pop(m->ctx);
  return ok;
}
