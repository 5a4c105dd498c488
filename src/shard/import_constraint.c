/* sdy-apply-sharding-constraints and sdy-sharding-group-import.
 *
 * Shardy's transforms/import/apply_sharding_constraints.cc and sharding_group_import.cc. A
 * constraint becomes the sharding of the value it constrains where that is certain; elsewhere it
 * stays an op that propagation meets on its way. Function arguments are set at the end, for their
 * list is one attribute and setting one at a time would be quadratic. */
#include "shard/debug_info.h"
#include "shard/flow.h"
#include "shard/passes.h"
#include "shard/transfer.h"

typedef struct applying {
  ir_module *m;
  rule_set rules;
  arena *a;
  shard_space *space;
  shard_trace *trace; /* NULL: nobody asks */
  hash_index args;    /* arguments of functions -> new shardings: set at the end, all at once */
} applying;

static const attr *sharding_now(const applying *p, value *v) {
  const attr *set = index_get(&p->args, v);
  return set ? set : value_sharding(p->m->ctx, v);
}

static void set_sharding(applying *p, value *v, const attr *sharding) {
  if (v->is_arg && op_is(value_parent(v), func))
    index_set(&p->args, p->a, v, (void *)(uintptr_t)sharding);
  else
    value_set_sharding(p->m, v, sharding);
}

static void set_args(applying *p, op *func) {
  block *b = op_body(func, 0);
  size_t n = b ? b->num_args : 0;
  const attr **list = ARENA_ARRAY(p->a, const attr *, n);
  for (size_t i = 0; i < n; i++) {
    list[i] = index_get(&p->args, b->args[i]);
    if (!list[i]) list[i] = func_sharding(func, FUNC_ARGS, i);
  }
  func_set_shardings(p->m, func, FUNC_ARGS, list, n);
}

static const attr *constraint_of(const op *o) { return op_attr(o, SLOT_NAME(sharding)); }

static const attr *in_sharding(const op *manual, size_t i) {
  const sharding_per_value_attr *l =
      attr_as(sharding_per_value, op_attr(manual, SLOT_NAME(in_shardings)));
  return l && i < l->shardings.len ? l->shardings.data[i] : NULL;
}

/* By a constraint with another sharding, or as an operand of a manual computation with another. */
static bool constrained_otherwise(const value *v, const attr *sharding) {
  for (const use *u = v->uses; u; u = u->next) {
    const op *o = u->owner;
    if (op_is(o, sharding_constraint) && constraint_of(o) != sharding) return true;
    if (op_is(o, manual_computation) && in_sharding(o, (size_t)(u - o->operands)) != sharding)
      return true;
  }
  return false;
}

static bool constrained(const value *v, const op *except) {
  for (const use *u = v->uses; u; u = u->next)
    if (u->owner != except &&
        (op_is(u->owner, sharding_constraint) || op_is(u->owner, manual_computation)))
      return true;
  return false;
}

static bool fully_closed(const attr *a) {
  const tensor_sharding_attr *t = attr_as(tensor_sharding, a);
  for (size_t i = 0; t && i < t->dims.len; i++)
    if (!attr_as(dim_sharding, t->dims.data[i])->closed) return false;
  return t != NULL;
}

/* Only where the value has no sharding so far, everything is closed, and no other constraint says
 * otherwise: then the constraint is what the value has. */
static bool should_apply(applying *p, value *v, const attr *sharding) {
  return value_shardable(v) && !sharding_now(p, v) && fully_closed(sharding) &&
         !constrained_otherwise(v, sharding);
}

static void insert_after(op *o, value *v) {
  if (v->is_arg)
    op_insert(o, v->def.block, v->def.block->first);
  else
    op_insert(o, v->def.op->parent, v->def.op->next);
}

/* Unreduced axes don't propagate, so the edge itself must have them. */
static void keep_unreduced(applying *p, value *v, const attr *sharding) {
  const tensor_sharding_attr *t = attr_as(tensor_sharding, sharding);
  if (!t->unreduced.len) return;
  const attr *now = sharding_now(p, v);
  if (!now) now = shard_attr_replicated(p->m->ctx, t->mesh, type_rank(v->type), false);
  tensor_sharding_attr next = *attr_as(tensor_sharding, now);
  next.unreduced = t->unreduced;
  next.unreduced_kind = t->unreduced_kind;
  set_sharding(p, v, attr_unique(p->m->ctx, &next.base));
}

static bool is_edge_target(value *v) {
  op *def = value_op(v);
  return (def && op_is(def, data_flow_edge)) || edge_of_target(v);
}

/* Axes of the constraint's tensors by factor; false: they have no mesh in common. */
static bool factors_now(applying *p, op *o, const rule *r, axis_list **out, const mesh **m) {
  const sharding *in[2] = {shard_read(p->space, sharding_now(p, op_operand(o, 0))),
                           shard_read(p->space, constraint_of(o))};
  *m = shardings_common_mesh(in, 2);
  return rule_num_tensors(r) == 2 &&
         transfer_factors(p->space, p->a, r, (transfer_mode){0}, in, out, NULL);
}

/* Also fixes the rule and records the step, as if propagation had gone backwards over the
 * constraint. */
static void set_directly(applying *p, op *o, value *v, const attr *sharding) {
  const rule *r = rule_of_op(&p->rules, o);
  if (r && !op_discardable(o, SDY_SHARDING_RULE))
    op_set_attr(p->m, o, SDY_SHARDING_RULE, rule_to_attr(&p->rules, r));
  axis_list *before, *after;
  const mesh *m;
  bool traced = p->trace && r && factors_now(p, o, r, &before, &m);
  set_sharding(p, v, sharding);
  if (!traced || !factors_now(p, o, r, &after, &m)) return;
  value *values[2] = {value_shardable(v), op_result(o, 0)};
  bool any = false;
  for (size_t i = 0; i < 2 * (size_t)r->num_factors; i++) any |= !axes_eq(before[i], after[i]);
  if (any) trace_step(p->trace, o, r, m, values, before, after);
}

/* The last of a chain of constraints of one use each whose first is `head`, if nothing else says
 * how head's input is sharded. */
static op *chain_tail(applying *p, op *head) {
  value *v = op_operand(head, 0);
  op *def = value_op(v);
  if ((def && op_is(def, sharding_constraint)) || sharding_now(p, v) || constrained(v, head))
    return NULL;
  op *tail = head;
  while (value_has_one_use(op_result(tail, 0)) &&
         op_is(op_result(tail, 0)->uses->owner, sharding_constraint))
    tail = op_result(tail, 0)->uses->owner;
  return tail == head || constrained(op_result(tail, 0), NULL) ? NULL : tail;
}

/* Uses of the chain's input behind the chain use its end. */
static void reroute(op *head, op *tail) {
  value *v = op_operand(head, 0);
  for (use *u = v->uses, *next; u; u = next) {
    next = u->next;
    op *o = u->owner;
    if (o == head || op_is(o, func_return) || o->parent != tail->parent || !op_before(tail, o))
      continue;
    op_set_operand(o, (size_t)(u - o->operands), op_result(tail, 0));
  }
}

/* On the target of an edge the constraint moves behind the value instead, so that all users see it;
 * the edge's own sharding is found by propagation. */
static void apply_constraint(applying *p, op *o) {
  op *tail = chain_tail(p, o);
  if (tail) reroute(o, tail);
  value *v = op_operand(o, 0);
  const attr *sharding = constraint_of(o);
  if (!should_apply(p, v, sharding)) return;
  if (!is_edge_target(v)) {
    set_directly(p, o, v, sharding);
    return;
  }
  op_unlink(o);
  insert_after(o, v);
  value_replace_except(v, op_result(o, 0), o);
  keep_unreduced(p, v, sharding);
}

/* As for constraints, since a manual computation says how its operands are sharded; on the target
 * of an edge it needs a constraint of its own. */
static void apply_manual(applying *p, op *o) {
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = op_operand(o, i);
    const attr *sharding = in_sharding(o, i);
    if (!sharding || !should_apply(p, v, sharding)) continue;
    if (!is_edge_target(v)) {
      set_directly(p, o, v, sharding);
      continue;
    }
    op *c = op_create(p->m, &op_infos[OP_sharding_constraint], o->loc, &v, 1, &v->type, 1, 0);
    op_set(c, sharding_constraint, sharding, sharding);
    insert_after(c, v);
    value_replace_except(v, op_result(c, 0), c);
    keep_unreduced(p, v, sharding);
  }
}

static walk_result collect(void *user, op *o) {
  struct {
    arena *a;
    VEC(op *) list;
  } *w = user;
  if (op_is(o, sharding_constraint) || op_is(o, manual_computation)) VEC_PUSH(w->a, w->list, o);
  return WALK_ON;
}

bool pass_apply_sharding_constraints(ir_module *m, arena *scratch, const pass_args *args) {
  if (!module_may_have(m, sharding_constraint) && !module_may_have(m, manual_computation) &&
      !pass_option_flag(args, STR("debug-sharding-origins"), false))
    return true;
  debug_info *debug = debug_info_begin(m, scratch, args);
  applying p = {.m = m, .a = scratch, .trace = debug_info_trace(debug)};
  p.space = shard_space_create(m, scratch);
  rule_set_init(&p.rules, m->ctx, scratch, false);
  struct {
    arena *a;
    VEC(op *) list;
  } w = {.a = scratch};
  op_walk_post(m->root, collect, &w);
  for (size_t i = 0; i < w.list.len; i++) {
    if (op_is(w.list.data[i], manual_computation))
      apply_manual(&p, w.list.data[i]);
    else
      apply_constraint(&p, w.list.data[i]);
  }
  FOR_OPS(f, op_body(m->root, 0)) if (op_is(f, func) && p.args.count) set_args(&p, f);
  debug_info_end(debug);
  return true;
}

/* ---- groups: ids that share a value become one, and count from 0 ---- */

typedef struct group_entry {
  op *op;
  value *value;
  i64 id;
} group_entry;

typedef struct grouping {
  ir_module *m;
  arena *a;
  VEC(group_entry) entries;
  hash_index first; /* id -> the first op with it */
  bool ok;
} grouping;

static const op *manual_around(const op *o) {
  for (o = op_parent(o); o && !op_is(o, manual_computation);) o = op_parent(o);
  return o;
}

static const void *id_key(i64 id) { return (const void *)(uintptr_t)id; }

static walk_result collect_groups(void *user, op *o) {
  grouping *g = user;
  struct sharding_group_attrs v;
  if (!op_is(o, sharding_group) || !view_sharding_group(o, &v)) return WALK_ON;
  value *in = op_operand(o, 0);
  op *first = index_get(&g->first, id_key(v.group_id));
  if (!first) {
    index_set(&g->first, g->a, id_key(v.group_id), o);
  } else { /* all earlier ones agree with the first */
    if (manual_around(first) != manual_around(o))
      g->ok = op_error(g->m->ctx, o,
                       "ShardingGroupOps values cannot cross ManualComputationOp boundaries for "
                       "groupId: %lld",
                       (long long)v.group_id);
    else if (!i64s_eq(op_operand(first, 0)->type->dims, in->type->dims))
      g->ok = op_error(g->m->ctx, o,
                       "ShardingGroupOps values must have the same shape for groupId: %lld",
                       (long long)v.group_id);
  }
  VEC_PUSH(g->a, g->entries, ((group_entry){o, in, v.group_id}));
  return g->ok ? WALK_ON : WALK_STOP;
}

/* Number of the first entry that stands for i's class: entries with one id or one value unite. */
static size_t find(size_t *up, size_t i) {
  while (up[i] != i) i = up[i] = up[up[i]];
  return i;
}

static void unite(grouping *g, size_t *up) {
  hash_index by_value = {0};
  hash_index by_id = {0};
  for (size_t i = 0; i < g->entries.len; i++) {
    up[i] = i;
    const void *keys[] = {g->entries.data[i].value, id_key(g->entries.data[i].id)};
    hash_index *maps[] = {&by_value, &by_id};
    for (int k = 0; k < 2; k++) {
      size_t *first = index_get(maps[k], keys[k]);
      if (!first) {
        first = ARENA_NEW(g->a, size_t);
        *first = i;
        index_set(maps[k], g->a, keys[k], first);
      }
      size_t a = find(up, *first), b = find(up, i);
      up[a < b ? b : a] = a < b ? a : b;
    }
  }
}

bool pass_sharding_group_import(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  grouping g = {.m = m, .a = scratch, .ok = true};
  if (!module_may_have(m, sharding_group)) return true;
  op_walk_post(m->root, collect_groups, &g);
  size_t n = g.entries.len;
  if (!g.ok || !n) return g.ok;
  size_t *up = ARENA_ARRAY(scratch, size_t, n);
  i64 *id = ARENA_ARRAY(scratch, i64, n), next = 0;
  unite(&g, up);
  hash_index seen = {0};
  for (size_t i = 0; i < n; i++) {
    op *o = g.entries.data[i].op;
    size_t root = find(up, i);
    if (root == i) id[i] = next++;
    op_set(o, sharding_group, group_id, attr_i64(m->ctx, id[root]));
    /* a value is in one class only, so a second mention says nothing */
    if (index_get(&seen, g.entries.data[i].value)) op_erase(o);
    index_set(&seen, scratch, g.entries.data[i].value, o);
  }
  return true;
}
