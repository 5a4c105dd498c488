#include "shard/flow.h"

static value *result(op *o, size_t i) { return i < o->num_results ? op_result(o, i) : NULL; }

static use *terminator_use(op *o, size_t region, size_t i) {
  block *b = region < o->num_regions ? op_body(o, region) : NULL;
  op *t = b ? op_terminator(b) : NULL;
  return t && i < t->num_operands ? &t->operands[i] : NULL;
}

static void call_if(void (*fn)(void *, use *), void *user, use *u) {
  if (u) fn(user, u);
}

static value *itself(op *o, value *target) {
  (void)o;
  return target;
}

/* Both operands of the op and of its terminators, by number. */
static size_t number(const use *u) { return (size_t)(u - u->owner->operands); }
static value *result_of_source(op *o, use *source, bool of_terminator) {
  (void)of_terminator;
  return result(o, number(source));
}

static void no_targets(op *o, value *owner, void (*fn)(void *, value *), void *user) {
  (void)o, (void)owner, (void)fn, (void)user;
}

/* ---- while: operand and body result flow to the result and both regions' arguments ---- */

static value *while_owner(op *o, value *target) {
  return target->is_arg ? result(o, target->index) : target;
}
static void while_sources(op *o, value *owner, void (*fn)(void *, use *), void *user) {
  if (owner->index < o->num_operands) fn(user, &o->operands[owner->index]);
  call_if(fn, user, terminator_use(o, 1, owner->index));
}
static void while_targets(op *o, value *owner, void (*fn)(void *, value *), void *user) {
  for (size_t r = 0; r < 2; r++) {
    block *b = op_body(o, r);
    if (b && owner->index < b->num_args) fn(user, b->args[owner->index]);
  }
}
static const flow while_flow = {
    .owner_of_target = while_owner,
    .owner_of_source = result_of_source,
    .each_source = while_sources,
    .each_other_target = while_targets,
};

/* ---- case: the branches' results flow to the op's ---- */

static value *result_owner(op *o, value *target) {
  (void)o;
  return target->is_arg ? NULL : target;
}
static void case_sources(op *o, value *owner, void (*fn)(void *, use *), void *user) {
  for (size_t r = 0; r < o->num_regions; r++) call_if(fn, user, terminator_use(o, r, owner->index));
}
static const flow case_flow = {
    .owner_of_target = result_owner,
    .owner_of_source = result_of_source,
    .each_source = case_sources,
    .each_other_target = no_targets,
};

/* ---- optimization_barrier: operand i is result i ---- */

static void barrier_sources(op *o, value *owner, void (*fn)(void *, use *), void *user) {
  if (owner->index < o->num_operands) fn(user, &o->operands[owner->index]);
}
static const flow barrier_flow = {
    .owner_of_target = result_owner,
    .owner_of_source = result_of_source,
    .each_source = barrier_sources,
    .each_other_target = no_targets,
};

/* ---- manual and named computations: operand to argument, terminator to result ---- */

/* Shardy answers with the operand, which no edge is on, where one would expect the argument: a
 * change of the operand thus never wakes the argument's edge. The answer depends on the order
 * of visits, so we must agree. */
static value *body_owner_of_source(op *o, use *source, bool of_terminator) {
  return of_terminator ? result(o, number(source)) : source->value;
}
static void body_sources(op *o, value *owner, void (*fn)(void *, use *), void *user) {
  if (!owner->is_arg)
    call_if(fn, user, terminator_use(o, 0, owner->index));
  else if (owner->index < o->num_operands)
    fn(user, &o->operands[owner->index]);
}
#define BODY_FLOW                                                                                  \
  .args_own = true, .owner_of_target = itself, .owner_of_source = body_owner_of_source,            \
  .each_source = body_sources, .each_other_target = no_targets
static const flow manual_flow = {BODY_FLOW, .keeps_divisible = true};
static const flow named_flow = {BODY_FLOW};

/* ---- fragments: the same, but that changes of operands wake the arguments' edges ---- */

static value *fragment_owner_of_source(op *o, use *source, bool of_terminator) {
  block *b = op_body(o, 0);
  size_t i = number(source);
  if (of_terminator) return result(o, i);
  return b && i < b->num_args ? b->args[i] : NULL;
}
static const flow fragment_flow = {
    .args_own = true,
    .keeps_divisible = true,
    .owner_of_target = itself,
    .owner_of_source = fragment_owner_of_source,
    .each_source = body_sources,
    .each_other_target = no_targets,
};

/* ---- mpmd.for: while without a condition; its last argument, which counts, has no edge ---- */

static void for_sources(op *o, value *owner, void (*fn)(void *, use *), void *user) {
  if (owner->index < o->num_operands) fn(user, &o->operands[owner->index]);
  call_if(fn, user, terminator_use(o, 0, owner->index));
}
static void for_targets(op *o, value *owner, void (*fn)(void *, value *), void *user) {
  block *b = op_body(o, 0);
  if (b && owner->index < b->num_args) fn(user, b->args[owner->index]);
}
static const flow for_flow = {
    .owner_of_target = while_owner,
    .owner_of_source = result_of_source,
    .each_source = for_sources,
    .each_other_target = for_targets,
};

static const flow *const flow_of[OP_COUNT] = {
    [OP_while] = &while_flow,
    [OP_case] = &case_flow,
    [OP_optimization_barrier] = &barrier_flow,
    [OP_manual_computation] = &manual_flow,
    [OP_named_computation] = &named_flow,
    [OP_mpmd_fragment] = &fragment_flow,
    [OP_mpmd_for] = &for_flow,
};

bool flow_known(op_id id) { return flow_of[id] != NULL; }

static op *edge_on(value *owner);

/* Shardy has no edges for stablehlo.if: it has flow where extra-rules put some, as case has. */
static const flow *if_flow(const op *o) {
  for (u32 i = 0; i < o->num_results; i++)
    if (edge_on(&((op *)(uintptr_t)o)->results[i])) return &case_flow;
  return NULL;
}

const flow *op_flow(const op *o) {
  if (op_is(o, if)) return if_flow(o);
  if (op_kind(o) < OP_COUNT) return flow_of[op_kind(o)];
  return o->info->hooks ? o->info->hooks->flow : NULL;
}

/* Foreign ops count as possible: their hooks are asked op by op. */
bool module_may_flow(const ir_module *m) {
  for (int i = 0; i < OP_COUNT; i++)
    if (flow_of[i] && m->live[i]) return true;
  return m->live_other || m->live[OP_if];
}

block *flow_owner_block(const op *o) {
  const flow *f = op_flow(o);
  return f && f->args_own && f->owner_region < o->num_regions ? op_body(o, f->owner_region) : NULL;
}

static op *edge_on(value *owner) {
  if (!owner || !value_has_one_use(owner)) return NULL;
  op *user = owner->uses->owner;
  return op_is(user, data_flow_edge) ? user : NULL;
}

/* From any target to the edge op that stands for all of them; by way of its owner. */
op *edge_of_target(value *target) {
  op *o = value_parent(target);
  const flow *f = o ? op_flow(o) : NULL;
  return f ? edge_on(f->owner_of_target(o, target)) : NULL;
}

op *edge_of_source(use *source) {
  op *o = source->owner;
  bool terminator = op_has(o, TERMINATOR);
  if (terminator) o = op_parent(o);
  const flow *f = o ? op_flow(o) : NULL;
  return f ? edge_on(f->owner_of_source(o, source, terminator)) : NULL;
}
