/* sdy-insert-explicit-reshards, as Shardy has it (explicit.c is our own line's).
 *
 * In full: every op's tensors are brought where they agree. Otherwise only what nobody else could
 * make up for: sums that are left open where a user wants them closed, and the reverse; calls and
 * concatenations whose operands are elsewhere; the one product whose result is better moved than
 * its operands. Everything else is left to the partitioner that comes after.
 * Source: openxla/shardy, sdy-insert-explicit-reshards. */
#include "partition/export/reshards.h"

#include "partition/passes.h"
#include "shard/flow.h"

bool reshards_refuse(reshards *p, op *o, const char *what) {
  return p->ok = op_error(p->e.c, o, "%s", what);
}

const sharding *reshards_closed_like(reshards *p, const sharding *s) {
  return sharding_make_replicated(p->e.a, s->mesh, s->rank, true);
}

const sharding *reshards_behind_barriers(reshards *p, value *v) {
  for (op *def; (def = value_op(v)) && op_is(def, propagation_barrier);) v = op_operand(def, 0);
  return part_sharding(&p->e, v);
}

bool reshards_is_whole(const sharding *s) {
  for (u32 d = 0; s && d < s->rank; d++)
    if (s->dims[d].axes.len) return false;
  return true;
}

/* ---- regions, calls, returns ---- */

typedef struct source_visit {
  reshards *p;
  const sharding *to;
} source_visit;

static void move_source(void *user, use *u) {
  source_visit *s = user;
  reshards_move(s->p, u->owner, (u32)(u - u->owner->operands), s->to, true, s->p->full);
}

static void move_to_owner(reshards *p, op *o, const flow *f, value *owner) {
  source_visit s = {p, part_at_sources(&p->e, o, owner)};
  f->each_source(o, owner, move_source, &s);
}

static void fix_flow(reshards *p, op *o, const flow *f) {
  for (u32 i = 0; i < o->num_results && p->ok; i++) move_to_owner(p, o, f, op_result(o, i));
  block *b = flow_owner_block(o);
  for (u32 i = 0; b && i < b->num_args && p->ok; i++) move_to_owner(p, o, f, b->args[i]);
}

static void fix_call(reshards *p, op *o) {
  op *f = call_callee(&p->symbols, o);
  if (!f) {
    reshards_refuse(p, o, "calls a function that does not exist");
    return;
  }
  const attr **list = ARENA_ARRAY(p->e.a, const attr *, o->num_operands);
  if (func_num(f, FUNC_ARGS) != o->num_operands) return;
  const sharding *some = NULL;
  bool says = func_all_shardings(p->e.space, f, FUNC_ARGS, list);
  for (u32 i = 0; !says && !some && i < o->num_operands; i++) {
    const sharding *s = part_sharding(&p->e, op_operand(o, i));
    if (s && !mesh_is_maximal(s->mesh)) some = s;
  }
  if (!says && !some) return;
  for (u32 i = 0; i < o->num_operands && p->ok; i++) {
    u32 rank = (u32)type_rank(op_operand(o, i)->type);
    const sharding *to = says ? shard_read(p->e.space, list[i])
                              : sharding_make_replicated(p->e.a, some->mesh, rank, true);
    reshards_move(p, o, i, to, true, true);
  }
}

static void fix_return(reshards *p, op *f) {
  block *b = op_body(f, 0);
  op *ret = b ? op_terminator(b) : NULL;
  for (u32 i = 0; ret && op_is(ret, func_return) && i < ret->num_operands && p->ok; i++)
    reshards_move(p, ret, i, shard_read(p->e.space, func_sharding(f, FUNC_RESULTS, i)), false,
                  p->full);
}

/* A reshard that opens sums is done once it did. */
static bool fix_reshard(reshards *p, op *o) {
  cursor at = cursor_before(&p->e, o);
  if (!reshards_open_sums(p, o, 0, part_sharding(&p->e, op_result(o, 0)), &at)) return false;
  value_replace(op_result(o, 0), op_operand(o, 0));
  op_erase(o);
  return true;
}

/* Operands' sums that the results don't leave open are closed in front of the op. */
static void close_operands(reshards *p, op *o) {
  if (!o->num_results) {
    for (u32 i = 0; i < o->num_operands && p->ok; i++) {
      const sharding *s = part_sharding(&p->e, op_operand(o, i));
      if (s && s->unreduced.len)
        reshards_refuse(p, o, "has an operand with unreduced axes and no results");
    }
    return;
  }
  const sharding *first = part_sharding(&p->e, op_result(o, 0));
  axis_list unreduced = first ? first->unreduced : (axis_list){0};
  for (u32 i = 1; i < o->num_results; i++) {
    const sharding *s = part_sharding(&p->e, op_result(o, i));
    if (!axes_eq(unreduced, s ? s->unreduced : (axis_list){0})) {
      reshards_refuse(p, o, "has results with different unreduced axes");
      return;
    }
  }
  cursor at = cursor_before(&p->e, o);
  for (u32 i = 0; i < o->num_operands && p->ok; i++) {
    value *v = op_operand(o, i);
    at.loc = v->is_arg ? o->loc : v->def.op->loc;
    reshards_close_sums(p, o, i, first, &at);
  }
}

static bool open_at(reshards *p, value *v) {
  const tensor_sharding_attr *s = attr_as(tensor_sharding, value_sharding(p->e.c, v));
  return s && s->unreduced.len;
}

static bool any_open(reshards *p, op *o) {
  for (u32 i = 0; i < o->num_operands; i++)
    if (open_at(p, op_operand(o, i))) return true;
  for (u32 i = 0; i < o->num_results; i++)
    if (open_at(p, op_result(o, i))) return true;
  return false;
}

/* Some operand is not where the result is, open sums included. */
static bool parts_differ(reshards *p, op *o) {
  for (u32 t = 0; t < o->num_operands; t++)
    if (part_sharding(&p->e, op_operand(o, t)) != part_sharding(&p->e, op_result(o, 0)))
      return true;
  return false;
}

/* Unless all are moved, most ops have no open sums and are not of the few kinds that are. */
static void fix_op(reshards *p, op *o) {
  bool open = any_open(p, o);
  bool full = p->full || (op_is(o, concatenate) && parts_differ(p, o));
  if (open) close_operands(p, o);
  if (!p->ok || (p->any_single && reshards_on_one_device(p, o))) return;
  if (!open && !full && !op_is(o, dot_general) && !op_is(o, dot)) return;
  const rule *r = rule_of_op(&p->rules, o);
  if (r && !r->custom) reshards_by_rule(p, o, r, full);
}

/* ---- the pass ---- */

/* Some sharding in a list has open sums. Most ops share few lists. */
static bool list_open(reshards *p, const attr *a) {
  const sharding_per_value_attr *l = attr_as(sharding_per_value, a);
  if (!l || index_get(&p->closed, a)) return false;
  for (size_t i = 0; i < l->shardings.len; i++) {
    const tensor_sharding_attr *s = attr_as(tensor_sharding, l->shardings.data[i]);
    if (s && s->unreduced.len) return true;
  }
  index_set(&p->closed, p->e.a, a, p);
  return false;
}

static bool says_open(reshards *p, op *o) {
  if (list_open(p, op_discardable(o, SDY_SHARDING))) return true;
  for (u32 i = 0; i < o->info->num_slots; i++) {
    const tensor_sharding_attr *s = attr_as(tensor_sharding, o->slots[i]);
    if ((s && s->unreduced.len) || list_open(p, o->slots[i])) return true;
  }
  return op_kind(o) >= OP_COUNT;
}

/* Ops that are looked at whatever the shardings; notes whether all must be. */
static walk_result collect_few(void *user, op *o) {
  reshards *p = user;
  p->open = p->open || says_open(p, o);
  if (op_is(o, call) || op_is(o, dot) || op_is(o, dot_general) || op_is(o, concatenate))
    VEC_PUSH(p->e.a, p->ops, o);
  return WALK_ON;
}

static walk_result collect_all(void *user, op *o) {
  reshards *p = user;
  if (!op_has(o, TERMINATOR) && !op_is(o, func)) VEC_PUSH(p->e.a, p->ops, o);
  return WALK_ON;
}

static void collect(reshards *p, op *f) {
  p->ops.len = 0;
  p->open = p->full || p->any_single;
  for (int side = FUNC_ARGS; side <= FUNC_RESULTS; side++)
    for (size_t i = 0; i < func_num(f, side); i++) {
      const tensor_sharding_attr *s = attr_as(tensor_sharding, func_sharding(f, side, i));
      p->open = p->open || (s && s->unreduced.len);
    }
  if (!p->open) op_walk_post(f, collect_few, p);
  if (!p->open) return;
  p->ops.len = 0;
  op_walk_post(f, collect_all, p);
}

static void fix(reshards *p, op *o) {
  const flow *f = op_flow(o);
  if (f)
    fix_flow(p, o, f);
  else if (op_is(o, call))
    fix_call(p, o);
  else if (!op_is(o, reshard) || !fix_reshard(p, o))
    fix_op(p, o);
}

static void find_meshes(reshards *p) {
  FOR_OPS(o, op_body(p->e.m->root, 0)) {
    const mesh *m = op_is(o, sdy_mesh) ? shard_mesh_named(p->e.space, symbol_name(o)) : NULL;
    if (m && m->num_axes && !p->all) p->all = m;
    p->any_single |= m && mesh_is_maximal(m);
  }
}

static bool run(ir_module *m, arena *scratch, bool full) {
  reshards p = {.e = part_env_make(m, scratch), .full = full, .ok = true};
  rule_set_init(&p.rules, m->ctx, scratch, false);
  symbols_init(&p.symbols, m, scratch);
  find_meshes(&p);
  FOR_OPS(f, op_body(m->root, 0)) {
    if (!op_is(f, func)) continue;
    if (p.any_single && !reshards_check_func(&p, f)) return false;
    collect(&p, f);
    for (size_t i = 0; i < p.ops.len && p.ok; i++) fix(&p, p.ops.data[i]);
    if (p.ok && p.open) fix_return(&p, f);
    if (!p.ok) return false;
  }
  return shard_space_check(p.e.space);
}

bool part_insert_full_reshards(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  return run(m, scratch, true);
}

bool part_insert_minimal_reshards(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  return run(m, scratch, false);
}
