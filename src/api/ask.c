/* The questions of terrazzo/dialect.h, asked of any op: of the tables of ours, or by way of its
 * dialect's methods. */
#include "api/context.h"
#include "shard/flow.h"
#include "shard/rule.h"
#include "terrazzo/dialect.h"

/* What methods and tables take for granted. A callback asks while the verifier still looks. */
static status begin(tz_module *m, bool there) {
  if (!there) return wrong("an op or a value is NULL, or of another module");
  if (m->context->depth > 1) return wrong("nothing is asked from within a callback");
  if (m->verified) return NULL;
  return (status)(const void *)tz_module_verify(m);
}

static bool has_op(const tz_module *m, const tz_op *o) { return o && !op_foreign(m, op_of(o)); }
static bool has_value(const tz_module *m, const tz_value *v) {
  return v && !value_foreign(m, value_of(v));
}
static use *use_of(const tz_use *u) { return (use *)(uintptr_t)u; }

/* ---- rules ---- */

static status ask_rule(tz_module *m, tz_op *o, const tz_attr **out) {
  RETURN_IF_ERROR(begin(m, has_op(m, o)));
  rule_set s;
  u32 before = m->context->sink->errors;
  rule_set_init(&s, m->context->ir, ir_scratch_push(m->context->ir), false);
  const rule *r = rule_of_op(&s, op_of(o));
  if (r) *out = attr_out(rule_to_attr(&s, r));
  ir_scratch_pop(m->context->ir);
  return m->context->sink->errors != before ? reported(m->context) : NULL;
}

tz_error *tz_op_sharding_rule(tz_module *m, tz_op *o, const tz_attr **out_rule) {
  if (!out_rule) return bad_handle();
  *out_rule = NULL;
  ENTER(live(m));
  return leave(&entry_, ask_rule(m, o, out_rule));
}

/* ---- edges ---- */

/* The op whose edges a value may be on, and what it says of them; NULL: nobody, or nothing. */
static op *flow_op(const value *v, const flow **out) {
  op *o = v->is_arg ? block_op(v->def.block) : v->def.op;
  *out = o ? op_flow(o) : NULL;
  return *out ? o : NULL;
}

static status ask_target(tz_module *m, tz_value *v, tz_value **out) {
  const flow *f;
  RETURN_IF_ERROR(begin(m, has_value(m, v)));
  op *o = flow_op(value_of(v), &f);
  if (o) *out = value_out(f->owner_of_target(o, value_of(v)));
  return NULL;
}

tz_error *tz_edge_of_target(tz_module *m, tz_value *target, tz_value **out_owner) {
  if (!out_owner) return bad_handle();
  *out_owner = NULL;
  ENTER(live(m));
  return leave(&entry_, ask_target(m, target, out_owner));
}

static status ask_source(tz_module *m, tz_use *u, tz_value **out) {
  RETURN_IF_ERROR(begin(m, u && use_of(u)->owner && !op_foreign(m, use_of(u)->owner)));
  op *o = use_of(u)->owner;
  bool terminator = op_has(o, TERMINATOR);
  if (terminator) o = op_parent(o);
  const flow *f = o ? op_flow(o) : NULL;
  if (f) *out = value_out(f->owner_of_source(o, use_of(u), terminator));
  return NULL;
}

tz_error *tz_edge_of_source(tz_module *m, tz_use *source, tz_value **out_owner) {
  if (!out_owner) return bad_handle();
  *out_owner = NULL;
  ENTER(live(m));
  return leave(&entry_, ask_source(m, source, out_owner));
}

typedef struct listing {
  void **out;
  size_t room, n;
} listing;

static void list_one(listing *l, void *handle) {
  if (l->n < l->room) l->out[l->n] = handle;
  l->n++;
}
static void list_use(void *user, use *u) { list_one(user, u); }
static void list_value(void *user, value *v) { list_one(user, v); }

/* Only an owner has an edge to ask about. */
static status list_edge(tz_module *m, tz_value *owner, bool sources, listing *l) {
  const flow *f;
  RETURN_IF_ERROR(begin(m, has_value(m, owner)));
  op *o = flow_op(value_of(owner), &f);
  if (!o || f->owner_of_target(o, value_of(owner)) != value_of(owner))
    return wrong("the value owns no edge");
  if (sources)
    f->each_source(o, value_of(owner), list_use, l);
  else if (f->each_other_target)
    f->each_other_target(o, value_of(owner), list_value, l);
  return NULL;
}

static tz_error *ask_list(tz_module *m, tz_value *owner, bool sources, void **out, size_t room,
                          size_t *out_count) {
  if (!out_count) return bad_handle();
  *out_count = 0;
  listing l = {out, out ? room : 0, 0};
  ENTER(live(m));
  status s = list_edge(m, owner, sources, &l);
  if (!s) *out_count = l.n;
  return leave(&entry_, s);
}

tz_error *tz_edge_sources(tz_module *m, tz_value *owner, tz_use **out, size_t room,
                          size_t *out_count) {
  return ask_list(m, owner, true, (void **)(void *)out, room, out_count);
}

tz_error *tz_edge_other_targets(tz_module *m, tz_value *owner, tz_value **out, size_t room,
                                size_t *out_count) {
  return ask_list(m, owner, false, (void **)(void *)out, room, out_count);
}

/* ---- shardings ---- */

static status ask_sharding(tz_module *m, tz_value *v, const tz_attr **out) {
  RETURN_IF_ERROR(begin(m, has_value(m, v)));
  *out = attr_out(value_sharding(m->context->ir, value_of(v)));
  return NULL;
}

tz_error *tz_value_sharding(tz_module *m, tz_value *v, const tz_attr **out_sharding) {
  if (!out_sharding) return bad_handle();
  *out_sharding = NULL;
  ENTER(live(m));
  return leave(&entry_, ask_sharding(m, v, out_sharding));
}

static status set_sharding(tz_module *m, tz_value *v, const attr *a) {
  RETURN_IF_ERROR(begin(m, has_value(m, v)));
  const tensor_sharding_attr *s = attr_as(tensor_sharding, a);
  const type *t = value_of(v)->type;
  if (!s) return wrong("a sharding is a #sdy.sharding");
  if (!type_is_ranked(t) || s->dims.len != t->dims.len)
    return wrong("a sharding of %zu dimensions is given to a value of another rank", s->dims.len);
  if (!value_shardable(value_of(v))) return wrong("nobody keeps a sharding of this value");
  touch(m);
  value_set_sharding(m->ir, value_of(v), a);
  return NULL;
}

tz_error *tz_value_set_sharding(tz_module *m, tz_value *v, const tz_attr *sharding) {
  ENTER(live(m));
  return leave(&entry_, set_sharding(m, v, attr_of(sharding)));
}

bool tz_op_is_collective(const tz_op *h) {
  const op *o = h ? op_of(h) : NULL;
  if (!o) return false;
  if (op_kind(o) == OP_unregistered) return o->info->hooks && o->info->hooks->out_sharding;
  return str_starts(o->info->name, STR("sdy.")) && op_attr(o, SLOT_NAME(out_sharding));
}
