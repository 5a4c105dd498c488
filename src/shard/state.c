/* The engine's tables: loading a module into them, changing them, writing them back.
 *
 * Between load and store no attribute is read or written but at borders of manual computations:
 * shardings are interned pointers by value number, so comparing two is comparing pointers, and a
 * step's result can be looked up by its inputs. That is what makes a hundred equal layers cost
 * one. */
#include "shard/state.h"

#include <stdlib.h>

#include "shard/calls.h"
#include "shard/flow.h"
#include "shard/traits.h"

/* ---- kinds ---- */

static const u8 kind_of[OP_COUNT] = {
    [OP_data_flow_edge] = KIND_EDGE | KIND_PASS_THROUGH,
    [OP_func_data_flow_edge] = KIND_EDGE | KIND_PASS_THROUGH,
    [OP_propagation_barrier] = KIND_BARRIER,
    [OP_reshape] = KIND_PASS_THROUGH,
    [OP_transpose] = KIND_PASS_THROUGH,
    [OP_dynamic_slice] = KIND_DYNAMIC,
    [OP_dynamic_update_slice] = KIND_DYNAMIC,
    [OP_broadcast_in_dim] = KIND_BROADCAST,
};

/* Copies between memories: pass-through, though custom calls. */
static bool is_offload(const op *o) {
  struct custom_call_attrs v;
  if (!op_is(o, custom_call) || !view_custom_call(o, &v)) return false;
  return str_is(v.call_target_name, "MoveToDevice") || str_is(v.call_target_name, "MoveToHost");
}

/* Asked once an op at loading; a rule is only looked for where shardings pass by one. */
static u8 kind_of_op(const engine *e, const op *o) {
  u8 kind = op_kind(o) < OP_COUNT ? kind_of[op_kind(o)] : 0;
  if (op_is_elementwise(o)) kind |= KIND_ELEMENTWISE | KIND_PASS_THROUGH;
  if (is_offload(o)) kind |= KIND_PASS_THROUGH;
  if (!(kind & (KIND_EDGE | KIND_BARRIER))) {
    if (rule_fn_in(&e->rules, o) || op_discardable(o, SDY_SHARDING_RULE)) kind |= KIND_RULE;
  }
  return kind;
}

/* ---- loading ---- */

static bool check_types(engine *e, const op *o) {
  for (u32 i = 0; i < o->num_results; i++) {
    const type *t = o->results[i].type;
    if ((type_is_tensor(t) || t->kind == TYPE_VECTOR) && !type_is_static(t))
      return op_error(e->m->ctx, o,
                      "Shardy propagation only supports ranked tensors with a static shape");
    if (t->kind == TYPE_TUPLE)
      return op_error(e->m->ctx, o, "Shardy propagation doesn't support tuples");
  }
  return true;
}

/* `holder` is the value that has the sharding for this one (an edge's result for what it stands
 * for); only holders have an entry in `of`. */
static void load_value(engine *e, value *v) {
  value *h = value_shardable(v);
  e->holder[v->num] = h;
  if (h == v) e->of[v->num] = shard_read(e->space, value_sharding(e->m->ctx, v));
}

static void load_results(engine *e, op *func) {
  size_t n = func_num(func, FUNC_RESULTS);
  const sharding **list = arena_zalloc(e->a, (n + 1) * sizeof *list);
  for (size_t i = 0; i < n; i++)
    list[i] = shard_read(e->space, func_sharding(func, FUNC_RESULTS, i));
  e->results[func->num] = list;
}

/* Arguments of a function all at once: one by one would be quadratic. */
static void load_args(engine *e, op *func) {
  const array_attr *l = attr_as(array, op_attr(func, SLOT_NAME(arg_attrs)));
  block *b = op_body(func, 0);
  for (u32 i = 0; b && i < b->num_args; i++) {
    value *v = b->args[i];
    e->holder[v->num] = v;
    if (l && i < l->elems.len)
      e->of[v->num] = shard_read(e->space, attr_dict_get(l->elems.data[i], SDY_SHARDING));
  }
}

/* Arguments of functions were loaded together; those of other regions are loaded one by one. */
static walk_result load_op(void *user, op *o) {
  engine *e = user;
  e->ops[o->num] = o;
  e->kind[o->num] = kind_of_op(e, o);
  rule_warn_unknown(&e->rules, o);
  if (!check_types(e, o)) return WALK_STOP;
  for (u32 i = 0; i < o->num_results; i++) load_value(e, op_result(o, i));
  if (op_is(o, func)) {
    load_args(e, o);
    load_results(e, o);
    return WALK_ON;
  }
  for (size_t r = 0; r < o->num_regions; r++)
    for (block *b = o->regions[r].first; b; b = b->next)
      for (u32 i = 0; i < b->num_args; i++) load_value(e, b->args[i]);
  return WALK_ON;
}

/* All tables are by number of value or of op. Numbers stay valid because propagation makes no ops
 * between load and store. */
static void allocate(engine *e) {
  e->num_values = module_number_all(e->m, &e->num_ops);
  size_t v = e->num_values, o = e->num_ops;
  e->of = arena_zalloc(e->a, v * sizeof *e->of);
  e->holder = arena_zalloc(e->a, v * sizeof *e->holder);
  e->changed = arena_zalloc(e->a, v);
  e->group = arena_zalloc(e->a, v * sizeof *e->group);
  e->ops = arena_zalloc(e->a, o * sizeof *e->ops);
  e->rule = arena_zalloc(e->a, o * sizeof *e->rule);
  e->rule_known = arena_zalloc(e->a, o);
  e->kind = arena_zalloc(e->a, o);
  e->settled = arena_zalloc(e->a, o);
  e->place = arena_zalloc(e->a, o * sizeof *e->place);
  e->results = arena_zalloc(e->a, o * sizeof *e->results);
  e->stack = arena_zalloc(e->a, (o + 1) * sizeof *e->stack);
}

/* ---- sharding groups ---- */

typedef struct membership {
  i64 id;
  size_t order;
  value *value;
} membership;
typedef struct memberships {
  arena *a;
  VEC(membership) all;
} memberships;

static walk_result collect_member(void *user, op *o) {
  memberships *g = user;
  struct sharding_group_attrs v;
  if (op_is(o, sharding_group) && view_sharding_group(o, &v))
    VEC_PUSH(g->a, g->all, ((membership){v.group_id, g->all.len, op_operand(o, 0)}));
  return WALK_ON;
}

static int by_id(const void *x, const void *y) {
  const membership *a = x, *b = y;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  return a->order < b->order ? -1 : 1;
}

static void collect_groups(engine *e) {
  memberships g = {.a = e->a};
  if (module_may_have(e->m, sharding_group)) op_walk(e->m->root, collect_member, &g);
  if (g.all.len) qsort(g.all.data, g.all.len, sizeof *g.all.data, by_id);
  for (size_t i = 0; i < g.all.len; i++) {
    const membership *k = &g.all.data[i];
    if (!i || k[-1].id != k->id) VEC_PUSH(e->a, e->groups, ((value_group){.id = k->id}));
    VEC_PUSH(e->a, e->groups.data[e->groups.len - 1].members, k->value);
  }
}

/* The first sharding of a member that says something; *conflict: another one says otherwise. */
static const attr *common_sharding(engine *e, const value_group *g, bool *conflict) {
  const attr *found = NULL;
  *conflict = false;
  if (g->members.len == 1) return value_sharding(e->m->ctx, g->members.data[0]);
  for (size_t i = 0; i < g->members.len; i++) {
    const attr *a = value_sharding(e->m->ctx, g->members.data[i]);
    const sharding *s = shard_read(e->space, a);
    bool open = true; /* unreduced axes don't count */
    for (u32 d = 0; s && d < s->rank; d++) open &= !s->dims[d].closed && !s->dims[d].axes.len;
    if (!s || open) continue;
    if (found && found != a) {
      op_warn(e->m->ctx, value_parent(g->members.data[0]),
              "The initial operand shardings on the sharding groups of groupID: %lld do not match. "
              "Inserting an open sharding constraint to all constrained values.",
              (long long)g->id);
      return *conflict = true, found;
    }
    found = a;
  }
  return found;
}

/* An open constraint behind the value, that members of the group share from then on. */
static op *constrain(engine *e, value *v, const attr *sharding) {
  const type *t = v->type;
  op *def = value_parent(v);
  op *c = op_create(e->m, &op_infos[OP_sharding_constraint], def->loc, &v, 1, &t, 1, 0);
  op_set(c, sharding_constraint, sharding, sharding);
  op_insert(c, v->is_arg ? v->def.block : def->parent, v->is_arg ? v->def.block->first : def->next);
  value_replace_except(v, op_result(c, 0), c);
  return c;
}

/* Before numbering: members get the common sharding, or constraints where they disagree. */
static void sync_groups(engine *e) {
  collect_groups(e);
  for (size_t k = 0; k < e->groups.len; k++) {
    value_group *g = &e->groups.data[k];
    bool conflict;
    const attr *a = common_sharding(e, g, &conflict);
    for (size_t i = 0; a && i < g->members.len; i++) {
      value **v = &g->members.data[i];
      if (!conflict) {
        value_set_sharding(e->m, *v, a);
        continue;
      }
      size_t rank = attr_as(tensor_sharding, a)->dims.len;
      *v = op_result(constrain(e, *v, shard_attr_open_like(e->m->ctx, a, rank)), 0);
    }
  }
}

static void number_groups(engine *e) {
  for (size_t k = 0; k < e->groups.len; k++) {
    const value_vec *members = &e->groups.data[k].members;
    for (size_t i = 0; i < members->len; i++) e->group[members->data[i]->num] = (u32)k + 1;
  }
}

value_group *state_group(engine *e, const value *holder) {
  u32 g = e->group[holder->num];
  return g ? &e->groups.data[g - 1] : NULL;
}

static walk_result not_func_edge(void *user, op *o) {
  (void)user;
  return op_is(o, func_data_flow_edge) ? WALK_STOP : WALK_ON;
}

engine *state_load(ir_module *m, arena *a, arena *scratch, const engine_options *options) {
  engine *e = ARENA_NEW(a, engine);
  e->m = m;
  e->a = a;
  e->options = options;
  e->scratch = scratch;
  e->space = shard_space_create(m, a);
  rule_set_init(&e->rules, m->ctx, a, options->conservative);
  e->rules.scratch = scratch;
  e->rules.extra = options->extra_rules;
  sync_groups(e);
  if (module_may_have(m, func_data_flow_edge) && !op_walk(m->root, not_func_edge, NULL) &&
      !(e->calls = call_map_build(m, a)))
    return NULL;
  allocate(e);
  number_groups(e);
  e->main = module_main(m);
  if (!op_walk(m->root, load_op, e)) return NULL;
  return shard_space_check(e->space) ? e : NULL;
}

/* The first op of the text ends on top. */
void state_fill_stack(engine *e) {
  e->depth = 0;
  for (u32 i = e->num_ops; i-- > 1;) { /* 0 is the module itself */
    op *o = e->ops[i];
    e->place[i] = 0;
    if (!o) continue;
    e->stack[e->depth++] = o;
    e->place[i] = e->depth;
  }
}

const sharding **state_results(engine *e, const op *func) { return e->results[func->num]; }

/* ---- setting ---- */

/* As Shardy's setSharding: an op with several results has shardings for all or none. */
static void open_sibling(engine *e, value *v, const sharding *like) {
  if (e->of[v->num]) return;
  e->of[v->num] = shard_intern(
      e->space, sharding_make_replicated(e->scratch, like->mesh, (u32)type_rank(v->type), false));
}

void state_set(engine *e, value *holder, const sharding *s) {
  e->of[holder->num] = s;
  e->changed[holder->num] = true;
  op *o = value_parent(holder);
  if (op_is(o, func)) return;
  if (!holder->is_arg)
    for (u32 i = 0; o->num_results > 1 && i < o->num_results; i++)
      open_sibling(e, op_result(o, i), s);
  else
    for (u32 i = 0; i < holder->def.block->num_args; i++)
      open_sibling(e, holder->def.block->args[i], s);
}

const rule *state_rule(engine *e, const op *o) {
  if (!e->rule_known[o->num]) {
    e->rule_known[o->num] = true;
    e->rule[o->num] = rule_of_op(&e->rules, o);
  }
  return e->rule[o->num];
}

const rule *state_identity(engine *e, const op *o, size_t n) {
  if (!e->rule_known[o->num]) {
    e->rule_known[o->num] = true;
    e->rule[o->num] = rule_identity(&e->rules, o->results[0].type, n);
  }
  return e->rule[o->num];
}

/* ---- memoized steps ---- */

typedef struct memo_entry {
  const rule *rule;
  transfer_mode mode;
  bool changes;
  const sharding **in, **out;
} memo_entry;

/* Field by field, since padding is not compared. */
static bool same_mode(transfer_mode a, transfer_mode b) {
  return a.pass == b.pass && a.other == b.other && a.aggressive == b.aggressive &&
         a.elementwise == b.elementwise && a.conservative == b.conservative;
}

/* Bytes of scratch that are kept for the next transfer. */
enum { MOST_KEPT = 1 << 20 };

/* The inputs are interned, so the key is a few pointers. Results are kept for ever: there are as
 * many as different steps, which are few. */
bool state_transfer(engine *e, const rule *r, transfer_mode mode, const sharding *const *in,
                    const sharding ***out) {
  size_t n = rule_num_tensors(r);
  u64 bits = (u64)mode.pass | (u64)mode.other << 2 | (u64)mode.aggressive << 4 |
             (u64)mode.elementwise << 5 | (u64)mode.conservative << 6;
  u64 h = hash_ptr(r, bits);
  for (size_t i = 0; i < n; i++) h = hash_ptr(in[i], h);
  memo_entry *m;
  for (size_t at = 0; (m = index_next(&e->memo, h, &at));)
    if (m->rule == r && same_mode(m->mode, mode) && !memcmp(m->in, in, n * sizeof *in))
      return *out = m->out, m->changes;
  m = ARENA_NEW(e->a, memo_entry);
  *m = (memo_entry){.rule = r, .mode = mode};
  m->in = arena_copy(e->a, in, n * sizeof *in);
  const sharding **result = arena_zalloc(e->a, (n + 1) * sizeof *result);
  m->changes = transfer(e->space, e->scratch, r, mode, in, result);
  m->out = *out = result;
  index_add(&e->memo, e->a, h, m);
  if (e->scratch->used > MOST_KEPT) arena_reset(e->scratch);
  return m->changes;
}

/* ---- edges at the border of manual computations ---- */

static const attr *manual_axes_at(const value *owner, op **o) {
  *o = value_parent(owner);
  return op_is(*o, manual_computation) ? op_attr(*o, SLOT_NAME(manual_axes)) : NULL;
}

static const attr *border_sharding(const op *o, const value *owner) {
  const sharding_per_value_attr *l =
      attr_as(sharding_per_value,
              op_attr(o, owner->is_arg ? SLOT_NAME(in_shardings) : SLOT_NAME(out_shardings)));
  return l && owner->index < l->shardings.len ? l->shardings.data[owner->index] : NULL;
}

/* Inside a manual computation the manual axes are not part of a value's sharding, outside they are:
 * crossing the border adds or takes them. Foreign ops say themselves how (transform). */
static const sharding *cross(engine *e, value *owner, const sharding *s, bool outwards) {
  op *o;
  const attr *manual = manual_axes_at(owner, &o);
  const flow *f = op_flow(o);
  if (f && f->transform && s)
    return shard_read(e->space,
                      f->transform(e->m->ctx, o, owner, shard_write(e->space, s), outwards));
  const attr *border = manual && s ? border_sharding(o, owner) : NULL;
  if (!border) return s;
  ir_ctx *c = e->m->ctx;
  const attr *a = shard_write(e->space, s);
  /* an argument's edge keeps the inner form, a result's the outer one */
  bool add = owner->is_arg == outwards;
  return shard_read(e->space, add ? manual_outer_sharding(c, border, a, manual)
                                  : manual_inner_sharding(c, a, manual));
}

const sharding *state_outside(engine *e, value *owner, const sharding *edge) {
  return cross(e, owner, edge, true);
}
const sharding *state_inside(engine *e, value *owner, const sharding *outside) {
  return cross(e, owner, outside, false);
}

/* ---- user priorities ---- */

typedef struct priority_ref {
  const sharding **at; /* the entry of the table */
  bool *changed;
  const sharding *original;
} priority_ref;

typedef struct priority_round {
  i64 priority;
  VEC(priority_ref) refs;
} priority_round;

static i64 priority_of(const dim_sharding *d) { return max_i64(d->priority, 0); }

/* Rounds are kept sorted by priority; there are as many as a user wrote different numbers. */
static void add_ref(engine *e, priority_plan *p, i64 priority, priority_ref ref) {
  size_t i = 0;
  while (i < p->count && p->rounds[i].priority < priority) i++;
  if (i == p->count || p->rounds[i].priority != priority) {
    priority_round *rounds = ARENA_ARRAY(e->a, priority_round, p->count + 1);
    if (i) memcpy(rounds, p->rounds, i * sizeof *rounds);
    rounds[i] = (priority_round){.priority = priority};
    if (i < p->count) memcpy(rounds + i + 1, p->rounds + i, (p->count - i) * sizeof *rounds);
    p->rounds = rounds;
    p->count++;
  }
  priority_round *r = &p->rounds[i];
  if (r->refs.len && r->refs.data[r->refs.len - 1].at == ref.at) return;
  VEC_PUSH(e->a, r->refs, ref);
}

/* Dimensions of priority 0 only; the axes of others are reserved by explicit replication. */
static const sharding *initial(engine *e, const sharding *s) {
  sharding out = *s;
  dim_sharding *dims = arena_copy(e->a, s->dims, s->rank * sizeof *dims);
  axis_list replicated = s->replicated;
  for (u32 d = 0; d < s->rank; d++) {
    dims[d].priority = PRIORITY_NONE;
    if (priority_of(&s->dims[d]) == 0) continue;
    replicated = axes_concat(e->a, replicated, s->dims[d].axes);
    dims[d] = (dim_sharding){.closed = true, .priority = PRIORITY_NONE};
  }
  out.dims = dims;
  out.replicated = axes_sort(e->a, replicated);
  return shard_intern(e->space, &out);
}

static void plan_entry(engine *e, priority_plan *p, const sharding **at, bool *changed) {
  const sharding *s = *at;
  if (!s) return;
  for (u32 d = 0; d < s->rank; d++)
    if (priority_of(&s->dims[d]) > 0)
      add_ref(e, p, priority_of(&s->dims[d]), (priority_ref){at, changed, s});
  const sharding *first = initial(e, s);
  if (first == s) return;
  *at = first;
  if (changed) *changed = true;
}

/* Takes everything of a priority above 0 out of the tables; state_raise_priority puts it back round
 * by round. */
priority_plan *state_plan_priorities(engine *e) {
  priority_plan *p = ARENA_NEW(e->a, priority_plan);
  for (u32 v = 0; v < e->num_values; v++) plan_entry(e, p, &e->of[v], &e->changed[v]);
  for (u32 i = 0; i < e->num_ops; i++) {
    if (!e->results[i]) continue;
    size_t n = func_num(e->ops[i], FUNC_RESULTS);
    for (size_t k = 0; k < n; k++) plan_entry(e, p, &e->results[i][k], NULL);
  }
  return p;
}

i64 state_priority(const priority_plan *p, size_t round) { return p->rounds[round].priority; }

/* What earlier rounds found out of the dimensions at hand was none: they were closed. */
void state_raise_priority(engine *e, const priority_plan *p, size_t round) {
  const priority_round *r = &p->rounds[round];
  for (size_t i = 0; i < r->refs.len; i++) {
    const priority_ref *ref = &r->refs.data[i];
    const sharding *now = *ref->at;
    sharding out = *now;
    dim_sharding *dims = arena_copy(e->a, now->dims, now->rank * sizeof *dims);
    axis_vec replicated = {0}, given = {0};
    for (u32 d = 0; d < now->rank; d++) {
      const dim_sharding *from = &ref->original->dims[d];
      if (priority_of(from) != r->priority) continue;
      dims[d] = *from;
      dims[d].priority = PRIORITY_NONE;
      for (size_t k = 0; k < from->axes.len; k++) VEC_PUSH(e->a, given, from->axes.data[k]);
    }
    for (size_t k = 0; k < now->replicated.len; k++)
      if (!axes_contain(axis_vec_list(&given), now->replicated.data[k]))
        VEC_PUSH(e->a, replicated, now->replicated.data[k]);
    out.dims = dims;
    out.replicated = axis_vec_list(&replicated);
    *ref->at = shard_intern(e->space, &out);
    if (ref->changed) *ref->changed = true;
  }
}

/* ---- writing back ---- */

/* All arguments, changed or not: a function's list is one attribute. */
static void store_func(engine *e, op *func) {
  size_t n = func_num(func, FUNC_RESULTS);
  const attr **list = ARENA_ARRAY(e->a, const attr *, n);
  for (size_t i = 0; i < n; i++) list[i] = shard_write(e->space, e->results[func->num][i]);
  func_set_shardings(e->m, func, FUNC_RESULTS, list, n);
  block *b = op_body(func, 0);
  if (!b) return;
  list = ARENA_ARRAY(e->a, const attr *, b->num_args);
  for (u32 i = 0; i < b->num_args; i++) list[i] = shard_write(e->space, e->of[b->args[i]->num]);
  func_set_shardings(e->m, func, FUNC_ARGS, list, b->num_args);
}

/* Block arguments that own edges and have no data_flow_edge on them. */
static void store_block_args(engine *e, op *o) {
  block *b = flow_owner_block(o);
  for (u32 i = 0; b && i < b->num_args; i++)
    if (e->changed[b->args[i]->num] && e->holder[b->args[i]->num] == b->args[i])
      value_set_sharding(e->m, b->args[i], shard_write(e->space, e->of[b->args[i]->num]));
}

/* The sharding of an op's only result. Most ops keep it in one attribute, and few differ. */
static void store_only(engine *e, op *o) {
  const sharding *s = e->of[o->results[0].num];
  if (op_says_elsewhere(o)) {
    value_set_sharding(e->m, op_result(o, 0), shard_write(e->space, s));
    return;
  }
  const attr *list = index_get(&e->lists, s);
  if (!list) {
    const attr *a = shard_write(e->space, s);
    list = attr_make(e->m->ctx, sharding_per_value, .shardings = {&a, 1});
    index_set(&e->lists, e->a, s, (void *)(uintptr_t)list);
  }
  op_set_attr(e->m, o, SDY_SHARDING, list);
}

static void store_results(engine *e, op *o) {
  store_block_args(e, o);
  bool any = false;
  for (u32 i = 0; i < o->num_results; i++) any |= e->changed[o->results[i].num];
  if (!any) return;
  if (o->num_results == 1) {
    store_only(e, o);
    return;
  }
  for (u32 i = 0; i < o->num_results; i++)
    if (e->holder[o->results[i].num] == op_result(o, i) && e->of[o->results[i].num])
      value_set_sharding(e->m, op_result(o, i), shard_write(e->space, e->of[o->results[i].num]));
}

/* Scratch goes here; what was interned stays in the pass's arena. */
bool state_store(engine *e) {
  for (u32 i = 1; i < e->num_ops; i++) {
    op *o = e->ops[i];
    if (!o) continue;
    if (op_is(o, func))
      store_func(e, o);
    else
      store_results(e, o);
    if (e->options->keep_rules && e->rule[i] && (e->kind[i] & KIND_RULE) &&
        !op_discardable(o, SDY_SHARDING_RULE))
      op_set_attr(e->m, o, SDY_SHARDING_RULE, rule_to_attr(&e->rules, e->rule[i]));
  }
  arena_reset(e->scratch);
  return shard_space_check(e->space);
}
