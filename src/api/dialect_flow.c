/* Data flow of foreign ops.
 *
 * Fills shard's `flow` for an op with adapters from a tz_data_flow, as src/shard does for its own
 * loops and branches. Two lines of defence: what an adapter hands on is safe to use, whatever a
 * callback answers (a value of this op, of a rank that fits the edge); and the verifier asks all
 * methods beforehand and compares, so that answers that contradict each other are found at the op
 * and not in the middle of propagation. */
#include "api/dialect.h"
#include "dialect/dialect.h"
#include "shard/sharding_ir.h"

static const tz_data_flow *methods(const op *o) { return &def_of(o)->data_flow; }
static void *user_of(const op *o) { return def_of(o)->def.user; }

/* ---- what belongs to an op ---- */

/* Targets are results of the op and arguments of its blocks. */
static bool is_target(const op *o, const value *v) {
  return v && (v->is_arg ? v->def.block->parent && block_op(v->def.block) == o : v->def.op == o);
}

/* Sources are operands of the op or of terminators in its regions. The use is looked at before it
 * is known to be one: a callback has its handle from walking the op. */
static bool is_source(const op *o, const use *u) {
  if (!u || !u->owner || !u->value) return false;
  const op *at = u->owner;
  if (at != o && (op_parent(at) != o || at->next)) return false;
  return u >= at->operands && u < at->operands + at->num_operands;
}

/* Arguments own edges only in the region that the definition names, where shardings can be kept. */
static bool may_own(const op *o, const value *v) {
  return !v->is_arg || v->def.block == flow_owner_block(o);
}

static bool same_rank(const value *a, const value *b) {
  return type_is_ranked(a->type) && type_is_ranked(b->type) &&
         a->type->dims.len == b->type->dims.len;
}

/* ---- adapters ---- */

static value *checked_owner(op *o, const char *method, tz_value *answer, const value *like) {
  value *v = value_of(answer);
  if (!v) return NULL;
  if (!is_target(o, v) || !may_own(o, v)) {
    method_error(o, method, "answers with a value that cannot own an edge of the op");
    return NULL;
  }
  if (!same_rank(v, like)) {
    method_error(o, method, "puts values of different rank on one edge");
    return NULL;
  }
  return v;
}

static value *owner_of_target(op *o, value *target) {
  tz_value *v = methods(o)->owner_of_target(user_of(o), op_out(o), value_out(target));
  return checked_owner(o, "owner_of_target", v, target);
}

static value *owner_of_source(op *o, use *source, bool of_terminator) {
  (void)of_terminator;
  tz_use *u = (tz_use *)(void *)source;
  tz_value *v = methods(o)->owner_of_source(user_of(o), op_out(o), u);
  return checked_owner(o, "owner_of_source", v, source->value);
}

/* The list that a method gives, NULL-free or shorter: asked again where the room was too small. */
typedef size_t ask_fn(op *o, value *owner, void **out, size_t room);

static size_t ask_sources(op *o, value *owner, void **out, size_t room) {
  return methods(o)->sources(user_of(o), op_out(o), value_out(owner), (tz_use **)(void *)out, room);
}
static size_t ask_targets(op *o, value *owner, void **out, size_t room) {
  if (!methods(o)->other_targets) return 0;
  return methods(o)->other_targets(user_of(o), op_out(o), value_out(owner),
                                   (tz_value **)(void *)out, room);
}

enum { FEW = 32, MANY_MEMBERS = 1 << 20 };

/* Asks again where the room was too small: a callback says how many there are and fills what it has
 * room for; a second answer must be of the same length. */
static void **ask(op *o, value *owner, ask_fn *fn, const char *method, void **few, size_t *n) {
  void **list = few;
  memset(few, 0, FEW * sizeof *few);
  *n = fn(o, owner, few, FEW);
  if (*n > MANY_MEMBERS) {
    method_error(o, method, "answers with a number beyond all bounds");
    *n = 0;
  }
  if (*n > FEW) {
    list = arena_zalloc(ir_arena(def_of(o)->context->ir), *n * sizeof *list);
    if (fn(o, owner, list, *n) != *n) {
      method_error(o, method, "answers otherwise when asked again");
      *n = 0;
    }
  }
  return list;
}

static void each_source(op *o, value *owner, void (*fn)(void *user, use *source), void *user) {
  void *few[FEW];
  size_t n;
  void **list = ask(o, owner, ask_sources, "sources", few, &n);
  for (size_t i = 0; i < n; i++) {
    use *u = list[i];
    if (!is_source(o, u))
      method_error(o, "sources", "answers with what is no operand of the op or its terminators");
    else if (!same_rank(u->value, owner))
      method_error(o, "sources", "puts values of different rank on one edge");
    else
      fn(user, u);
  }
}

static void each_other_target(op *o, value *owner, void (*fn)(void *user, value *v), void *user) {
  void *few[FEW];
  size_t n;
  void **list = ask(o, owner, ask_targets, "other_targets", few, &n);
  for (size_t i = 0; i < n; i++) {
    value *v = list[i];
    if (!is_target(o, v) || v == owner)
      method_error(o, "other_targets", "answers with a value that is no other target of the op");
    else
      fn(user, v);
  }
}

/* ---- shardings of owners ---- */

static size_t num_owners(const op *o, bool args) {
  const block *b = args ? flow_owner_block(o) : NULL;
  return args ? (b ? b->num_args : 0) : o->num_results;
}

/* By callback, or else in an attribute of the op. */
static const attr *list_of(op *o, bool args) {
  const tz_data_flow *f = methods(o);
  if (f->get_shardings)
    return attr_of(f->get_shardings(user_of(o), def_of(o)->context, op_out(o), args));
  const char *name = args ? f->arg_shardings : f->result_shardings;
  return name ? op_attr(o, str_of(name)) : NULL;
}

static attrs get_shardings(op *o, bool args) {
  const attr *a = list_of(o, args);
  const sharding_per_value_attr *l = attr_as(sharding_per_value, a);
  if (a && (!l || l->shardings.len != num_owners(o, args))) {
    method_error(o, "get_shardings", "answers with something else than a sharding for each owner");
    return (attrs){0};
  }
  return l ? l->shardings : (attrs){0};
}

/* Read back at once: a dialect that loses shardings is found where it does so. */
static void set_shardings(ir_module *m, op *o, bool args, attrs list) {
  const tz_data_flow *f = methods(o);
  const attr *a = attr_make(m->ctx, sharding_per_value, .shardings = list);
  if (!f->set_shardings) {
    const char *name = args ? f->arg_shardings : f->result_shardings;
    if (name) op_set_attr(m, o, str_of(name), a);
    return;
  }
  tz_context *c = def_of(o)->context;
  tz_error *e = f->set_shardings(user_of(o), module_handle(c, m), op_out(o), args, attr_out(a));
  if (e) method_error(o, "set_shardings", "fails: %s", tz_error_message(e));
  tz_error_free(e);
  if (!e && list_of(o, args) != a)
    method_error(o, "get_shardings", "answers otherwise than was set");
}

static const attr *transform(ir_ctx *c, op *o, value *owner, const attr *sharding, bool outwards) {
  const tensor_sharding_attr *from = attr_as(tensor_sharding, sharding);
  tz_context *t = def_of(o)->context;
  (void)c;
  const attr *a = attr_of(methods(o)->transform(user_of(o), t, op_out(o), value_out(owner),
                                                attr_out(sharding), outwards));
  const tensor_sharding_attr *to = attr_as(tensor_sharding, a);
  if (to && from && to->dims.len == from->dims.len) return a;
  method_error(o, "transform", "answers with what is no sharding of the same rank");
  return sharding;
}

void flow_fill(foreign_def *d) {
  const tz_data_flow *f = &d->data_flow;
  d->flow = (flow){.args_own = f->arg_owner_region >= 0,
                   .owner_region = (u8)(f->arg_owner_region >= 0 ? f->arg_owner_region : 0),
                   .keeps_divisible = f->keep_divisible,
                   .owner_of_target = owner_of_target,
                   .owner_of_source = owner_of_source,
                   .each_source = each_source,
                   .each_other_target = each_other_target,
                   .get_shardings = get_shardings,
                   .set_shardings = set_shardings,
                   .transform = f->transform ? transform : NULL};
  d->hooks.flow = &d->flow;
}

/* ---- the verifier's questions ---- */

typedef struct edge_check {
  ir_module *m;
  op *o;
  value *owner;
  u32 errors; /* of the sink, at the beginning */
  bool failed;
  size_t seen;        /* of the targets that belong there */
  VEC(use *) sources; /* of all edges */
} edge_check;

static bool fail(edge_check *k, const char *method, const char *what) {
  if (!k->failed) method_error(k->o, method, "%s", what);
  k->failed = true;
  return false;
}

static bool reported_since(const edge_check *k) { return ir_sink(k->m->ctx)->errors != k->errors; }

static void check_source(void *user, use *u) {
  edge_check *k = user;
  for (size_t i = 0; i < k->sources.len; i++)
    if (k->sources.data[i] == u) fail(k, "sources", "has a source twice");
  VEC_PUSH(ir_arena(k->m->ctx), k->sources, u);
  if (k->o->info->hooks->flow->owner_of_source(k->o, u, u->owner != k->o) != k->owner)
    fail(k, "owner_of_source", "does not answer with the owner whose source it is");
}

static void check_target(void *user, value *v) {
  edge_check *k = user;
  k->seen++;
  if (owner_of_target(k->o, v) != k->owner)
    fail(k, "other_targets", "answers with a target that another owner has");
}

/* An owner owns itself, and each of its sources names it. */
static bool check_edge(edge_check *k, value *owner) {
  k->owner = owner;
  k->seen = 0;
  if (owner_of_target(k->o, owner) != owner)
    return fail(k, "owner_of_target", "answers with a value that is not its own owner");
  each_source(k->o, owner, check_source, k);
  return !k->failed && !reported_since(k);
}

/* Each target that `of` owns must have been among its other targets. */
static bool check_members(edge_check *k, value *owner, size_t owned) {
  k->owner = owner;
  k->seen = 0;
  each_other_target(k->o, owner, check_target, k);
  if (!k->failed && k->seen != owned)
    fail(k, "other_targets", "leaves out targets, or has one twice");
  return !k->failed && !reported_since(k);
}

typedef VEC(value *) value_list;

static void all_targets(op *o, arena *a, value_list *out) {
  for (u32 i = 0; i < o->num_results; i++) VEC_PUSH(a, *out, op_result(o, i));
  for (u16 r = 0; r < o->num_regions; r++)
    for (block *b = o->regions[r].first; b; b = b->next)
      for (u32 i = 0; i < b->num_args; i++) VEC_PUSH(a, *out, b->args[i]);
}

static bool check_lists(edge_check *k) {
  for (int args = 0; args < 2; args++) {
    const attr *a = list_of(k->o, args);
    size_t n = num_owners(k->o, args);
    if (!a) continue;
    if (!attr_is(sharding_per_value, a))
      return fail(k, "get_shardings", "answers with what is no sdy.sharding_per_value");
    const type **t = ARENA_ARRAY(ir_arena(k->m->ctx), const type *, n);
    const block *b = flow_owner_block(k->o);
    for (size_t i = 0; i < n; i++) t[i] = args ? b->args[i]->type : k->o->results[i].type;
    if (!dialect_check_shardings(k->m, k->o, a, t, n, args ? "block argument" : "result"))
      return false;
  }
  return true;
}

/* Every target has an owner or none; owners own themselves; sources and other targets say the same
 * from the other side. Quadratic in the op's targets, of which there are few. */
bool flow_verify(ir_module *m, op *o) {
  edge_check k = {.m = m, .o = o, .errors = ir_sink(m->ctx)->errors};
  arena *a = ir_arena(m->ctx);
  value_list targets = {0};
  int region = methods(o)->arg_owner_region;
  if (region >= o->num_regions)
    return op_error(m->ctx, o, "has no region #%d whose arguments could own edges", region);
  all_targets(o, a, &targets);
  value **owners = ARENA_ARRAY(a, value *, targets.len);
  size_t *owned = arena_zalloc(a, (targets.len + 1) * sizeof *owned);
  for (size_t i = 0; i < targets.len; i++) {
    value *v = targets.data[i];
    owners[i] = type_is_ranked(v->type) ? owner_of_target(o, v) : NULL;
    if (reported_since(&k)) return false;
    if (owners[i] && owners[i] != v && owner_of_target(o, owners[i]) != owners[i])
      return fail(&k, "owner_of_target", "answers with a value that is not its own owner");
    if (owners[i] == v && !check_edge(&k, v)) return false;
  }
  for (size_t i = 0; i < targets.len; i++)
    for (size_t j = 0; j < targets.len && owners[i] && owners[i] != targets.data[i]; j++)
      owned[j] += targets.data[j] == owners[i];
  for (size_t i = 0; i < targets.len; i++)
    if (owners[i] == targets.data[i] && !check_members(&k, targets.data[i], owned[i])) return false;
  return check_lists(&k);
}
