/* Where values keep their shardings: arguments of functions, slots of sdy ops, sdy.sharding.
 *
 * In the IR a sharding is an attribute, and which attribute it is depends on who owns the value;
 * everything else in src/shard goes through value_sharding and value_set_sharding. Attributes are
 * immutable, so setting one of a list makes a new list: callers with many set them all at once
 * (func_set_shardings, owners_set_shardings). */
#include "shard/flow.h"
#include "shard/sharding_ir.h"

/* ---- functions ---- */

static str side_slot(func_side side) {
  return side == FUNC_ARGS ? SLOT_NAME(arg_attrs) : SLOT_NAME(res_attrs);
}

static types side_types(const op *func, func_side side) {
  const type_ref_attr *t = attr_as(type_ref, op_attr(func, SLOT_NAME(function_type)));
  if (!t || t->type->kind != TYPE_FUNCTION) return (types){0};
  return side == FUNC_ARGS ? type_inputs(t->type) : type_results(t->type);
}

size_t func_num(const op *func, func_side side) { return side_types(func, side).len; }
const type *func_type_of(const op *func, func_side side, size_t i) {
  return side_types(func, side).data[i];
}

static const attr *dict_at(const op *func, func_side side, size_t i) {
  const array_attr *l = attr_as(array, op_attr(func, side_slot(side)));
  return l && i < l->elems.len ? l->elems.data[i] : NULL;
}

const attr *func_sharding(const op *func, func_side side, size_t i) {
  return attr_dict_get(dict_at(func, side, i), SDY_SHARDING);
}

/* The dictionary with the entry set, or removed if it is NULL. */
static const attr *dict_with(ir_module *m, const attr *dict, str name, const attr *value) {
  const attr *key = attr_string(m->ctx, name);
  const dict_attr *d = attr_as(dict, dict);
  size_t n = d ? d->names.len : 0, k = 0;
  named_attr few[8], *list = n < 8 ? few : ARENA_ARRAY(&m->arena, named_attr, n + 1);
  for (size_t i = 0; i < n; i++)
    if (d->names.data[i] != key) list[k++] = (named_attr){d->names.data[i], d->values.data[i]};
  if (value) list[k++] = (named_attr){key, value};
  return attr_dict(m->ctx, list, k);
}

/* Functions without any stay without a list, as parsed. */
void func_set_shardings(ir_module *m, op *func, func_side side, const attr *const *list, size_t n) {
  const attr *slot = op_attr(func, side_slot(side));
  bool any = slot != NULL;
  for (size_t i = 0; i < n; i++) any |= list[i] != NULL;
  if (!any) return;
  const attr **dicts = ARENA_ARRAY(&m->arena, const attr *, n);
  for (size_t i = 0; i < n; i++) {
    dicts[i] = dict_at(func, side, i);
    if (!dicts[i] || func_sharding(func, side, i) != list[i])
      dicts[i] = dict_with(m, dicts[i], SDY_SHARDING, list[i]);
  }
  op_set_named(func, side_slot(side), attr_array(m->ctx, (attrs){dicts, n}));
}

void func_set_sharding(ir_module *m, op *func, func_side side, size_t i, const attr *a) {
  size_t n = func_num(func, side);
  const attr **list = ARENA_ARRAY(&m->arena, const attr *, n);
  for (size_t k = 0; k < n; k++) list[k] = k == i ? a : func_sharding(func, side, k);
  func_set_shardings(m, func, side, list, n);
}

const attr *func_named(const op *func, func_side side, size_t i, str name) {
  return attr_dict_get(dict_at(func, side, i), name);
}

void func_set_named(ir_module *m, op *func, func_side side, size_t i, str name, const attr *a) {
  size_t n = func_num(func, side);
  const attr **dicts = ARENA_ARRAY(&m->arena, const attr *, n);
  for (size_t k = 0; k < n; k++) {
    dicts[k] = dict_at(func, side, k);
    if (!dicts[k]) dicts[k] = attr_dict(m->ctx, NULL, 0);
  }
  dicts[i] = dict_with(m, dicts[i], name, a);
  op_set_named(func, side_slot(side), attr_array(m->ctx, (attrs){dicts, n}));
}

/* ---- ops ---- */

/* sharding_per_value slots of ops that own block arguments' edges */
typedef struct side_slots {
  const char *args, *results;
} side_slots;
static const side_slots slots_of[OP_COUNT] = {
    [OP_manual_computation] = {SLOT_TEXT(in_shardings), SLOT_TEXT(out_shardings)},
    [OP_named_computation] = {SLOT_TEXT(in_shardings), SLOT_TEXT(out_shardings)},
    [OP_mpmd_fragment] = {SLOT_TEXT(in_shardings), SLOT_TEXT(out_shardings)},
};
/* slots with the one sharding of the op's result */
static const char *const single_of[OP_COUNT] = {
    [OP_sharding_constraint] = SLOT_TEXT(sharding),
    [OP_reshard] = SLOT_TEXT(sharding),
    [OP_data_flow_edge] = SLOT_TEXT(sharding),
    [OP_sdy_all_gather] = SLOT_TEXT(out_sharding),
    [OP_sdy_all_slice] = SLOT_TEXT(out_sharding),
    [OP_sdy_all_to_all] = SLOT_TEXT(out_sharding),
    [OP_sdy_collective_permute] = SLOT_TEXT(out_sharding),
    [OP_sdy_all_reduce] = SLOT_TEXT(out_sharding),
    [OP_sdy_reduce_scatter] = SLOT_TEXT(out_sharding),
    [OP_sharded_to_unreduced] = SLOT_TEXT(out_sharding),
    [OP_replicated_to_unreduced] = SLOT_TEXT(out_sharding),
};

static const char *single_slot(const op *o) {
  if (op_kind(o) < OP_COUNT) return single_of[op_kind(o)];
  return o->info->hooks ? o->info->hooks->out_sharding : NULL;
}

/* sdy.sharding is discardable and for results of any op without a slot of its own. */
static str list_slot(const op *o, bool args) {
  const side_slots *s = op_kind(o) < OP_COUNT ? &slots_of[op_kind(o)] : NULL;
  if (s && s->results) return str_of(args ? s->args : s->results);
  return SDY_SHARDING;
}

bool op_says_elsewhere(const op *o) {
  return single_slot(o) || !str_eq(list_slot(o, false), SDY_SHARDING);
}

static attrs list_of(op *o, bool args) {
  const flow *f = op_flow(o);
  if (f && f->get_shardings) return f->get_shardings(o, args);
  const side_slots *s = op_kind(o) < OP_COUNT ? &slots_of[op_kind(o)] : NULL;
  if (!s || !s->results) return op_shardings(o); /* that no slot is called so is known */
  const sharding_per_value_attr *l = attr_as(sharding_per_value, op_attr(o, list_slot(o, args)));
  return l ? l->shardings : (attrs){0};
}

attrs op_shardings(const op *o) {
  const sharding_per_value_attr *l = attr_as(sharding_per_value, op_discardable(o, SDY_SHARDING));
  return l ? l->shardings : (attrs){0};
}

void op_set_shardings(ir_module *m, op *o, const attr *const *list, size_t n) {
  op_set_attr(m, o, SDY_SHARDING, attr_make(m->ctx, sharding_per_value, .shardings = {list, n}));
}

/* ---- values ---- */

/* In this order: an edge, the value itself, a function's argument, an owner of edges. */
value *value_shardable(value *v) {
  op *edge = edge_of_target(v);
  if (edge) return op_result(edge, 0);
  if (!v->is_arg) return v;
  op *o = value_parent(v);
  if (!o) return NULL;
  if (op_is(o, func)) return v;
  const flow *f = op_flow(o);
  return f ? f->owner_of_target(o, v) : NULL;
}

static const attr *manual_axes_of(const op *o) {
  return op_is(o, manual_computation) ? op_attr(o, SLOT_NAME(manual_axes)) : NULL;
}

/* Arguments of manual computations are shown as the body sees them, without the manual axes. */
const attr *owner_sharding(ir_ctx *c, value *v) {
  op *o = value_parent(v);
  attrs l = list_of(o, v->is_arg);
  if (v->index >= l.len) return NULL;
  const attr *manual = v->is_arg ? manual_axes_of(o) : NULL;
  return manual ? manual_inner_sharding(c, l.data[v->index], manual) : l.data[v->index];
}

const attr *value_sharding(ir_ctx *c, value *v) {
  v = value_shardable(v);
  if (!v) return NULL;
  op *o = value_parent(v);
  if (op_is(o, func)) return func_sharding(o, FUNC_ARGS, v->index);
  const char *slot = single_slot(o);
  return slot ? op_attr(o, str_of(slot)) : owner_sharding(c, v);
}

void owners_set_shardings(ir_module *m, op *o, bool args, const attr *const *list, size_t n) {
  const attr *manual = args ? manual_axes_of(o) : NULL;
  const flow *f = op_flow(o);
  if (f && f->set_shardings) {
    f->set_shardings(m, o, args, (attrs){list, n});
    return;
  }
  attrs old = list_of(o, args);
  const attr **outer = ARENA_ARRAY(&m->arena, const attr *, n);
  for (size_t i = 0; i < n; i++)
    outer[i] = manual && i < old.len ? manual_outer_sharding(m->ctx, old.data[i], list[i], manual)
                                     : list[i];
  op_set_attr(m, o, list_slot(o, args),
              attr_make(m->ctx, sharding_per_value, .shardings = {outer, n}));
}

/* A list has a sharding for each value, so the others get open ones, which say nothing. */
static void set_in_list(ir_module *m, op *o, value *v, const attr *a) {
  size_t n = v->is_arg ? v->def.block->num_args : o->num_results;
  const attr *few[16];
  const attr **list = n <= COUNT(few) ? few : ARENA_ARRAY(&m->arena, const attr *, n);
  for (size_t i = 0; i < n; i++) {
    value *at = v->is_arg ? v->def.block->args[i] : &o->results[i];
    list[i] = owner_sharding(m->ctx, at);
    if (!list[i]) list[i] = shard_attr_open_like(m->ctx, a, type_rank(at->type));
  }
  list[v->index] = a;
  owners_set_shardings(m, o, v->is_arg, list, n);
}

void value_set_sharding(ir_module *m, value *v, const attr *a) {
  v = value_shardable(v);
  if (!v) return;
  op *o = value_parent(v);
  const char *slot = single_slot(o);
  if (op_is(o, func))
    func_set_sharding(m, o, FUNC_ARGS, v->index, a);
  else if (slot)
    op_set_attr(m, o, str_of(slot), a);
  else
    set_in_list(m, o, v, a);
}
