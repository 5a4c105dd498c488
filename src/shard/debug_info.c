/* What propagation did, written onto the module or handed to the API (debug_info.h).
 *
 * debug_info_begin before a propagation pass notes where shardings stand and who gave them; the
 * pass records an event for each axis that a value gets (trace.h); debug_info_end replays the
 * events. Attributes and their words are Shardy's
 * (transforms/propagation/debugging/source_sharding.cc), for its tools read them. */
#include "shard/debug_info.h"

#include <stdio.h>
#include <stdlib.h>

#include "shard/flow.h"

#define ORIGIN_NAME STR("sdy.sharding_origin_name")
#define ORIGINS STR("sdy.sharding_origins")
#define EDGES STR("sdy.propagation_edges")

/* ---- origins: what gave a value its axis in the first place ---- */

typedef struct origin {
  str axis; /* its name in the mesh */
  axis_ref ref;
  const attr *from; /* string: "input: 0" */
} origin;

typedef VEC(origin) origins;

struct debug_info {
  ir_module *m;
  arena *a;
  bool want_origins, want_edges;
  const pass_tables *told; /* whose `traced` is */
  shard_space *space;
  shard_trace trace;
  hash_index of; /* value -> origins */
  VEC(value *) order;
};

static str axis_name(const mesh *m, axis_ref r) { return m->axes[r.axis].name; }

/* Kept in the order of first mention, which is the order in which attributes are written. */
static origins *origins_of(debug_info *d, value *v) {
  origins *l = index_get(&d->of, v);
  if (l) return l;
  index_set(&d->of, d->a, v, l = ARENA_NEW(d->a, origins));
  VEC_PUSH(d->a, d->order, v);
  return l;
}

/* `exact`: this very part of the axis; else one that contains it or is in it, as parts are split
 * and merged on the way. Names are compared, not numbers, since meshes may differ. */
static const origin *find_origin(const origins *l, str axis, axis_ref r, bool exact) {
  for (size_t i = 0; l && i < l->len; i++) {
    const origin *o = &l->data[i];
    if (!str_eq(o->axis, axis)) continue;
    axis_ref own = {r.axis, o->ref.pre, o->ref.size};
    if (exact ? axis_eq(own, r) : axis_contains(own, r) || axis_contains(r, own)) return o;
  }
  return NULL;
}

static void add_origin(debug_info *d, value *v, str axis, axis_ref r, const attr *from) {
  origins *l = origins_of(d, v);
  if (!find_origin(l, axis, r, true)) VEC_PUSH(d->a, *l, ((origin){axis, r, from}));
}

static void note(debug_info *d, value *v, const attr *sharding_attr, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
/* The axes of this sharding were there from the beginning: they come from what fmt says. */
static void note(debug_info *d, value *v, const attr *sharding_attr, const char *fmt, ...) {
  const sharding *s = shard_read(d->space, sharding_attr);
  v = value_shardable(v);
  if (!s || !v) return;
  char text[64];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  const attr *from = attr_string(d->m->ctx, str_of(text));
  for (u32 i = 0; i < s->rank; i++)
    for (size_t k = 0; k < s->dims[i].axes.len; k++)
      add_origin(d, v, axis_name(s->mesh, s->dims[i].axes.data[k]), s->dims[i].axes.data[k], from);
}

/* ---- before the pass ---- */

/* In post-order, which numbers constraints and manual computations as Shardy does. */
typedef struct op_collector {
  arena *a;
  VEC(op *) constraints, manual;
  i64 last_step;
} op_collector;

static walk_result collect(void *user, op *o) {
  op_collector *c = user;
  if (op_is(o, sharding_constraint)) VEC_PUSH(c->a, c->constraints, o);
  if (op_is(o, manual_computation)) VEC_PUSH(c->a, c->manual, o);
  const propagation_edges_attr *e = attr_as(propagation_edges, op_discardable(o, EDGES));
  for (size_t i = 0; e && i < e->steps.len; i++)
    c->last_step = max_i64(c->last_step, attr_as(propagation_step, e->steps.data[i])->step);
  return WALK_ON;
}

static void set_name(debug_info *d, op *o, const char *fmt, size_t i) {
  op_set_attr(d->m, o, ORIGIN_NAME, attr_string(d->m->ctx, arena_printf(d->a, fmt, i)));
}

static void note_constraint(debug_info *d, op *o, size_t i) {
  ir_ctx *c = d->m->ctx;
  note(d, op_result(o, 0), op_attr(o, SLOT_NAME(sharding)), "constraint_%zu", i);
  note(d, op_operand(o, 0), value_sharding(c, op_operand(o, 0)), "constraint_%zu", i);
  set_name(d, o, "constraint_%zu", i);
}

static attrs shardings_at(const op *o, const char *slot) {
  const sharding_per_value_attr *l = attr_as(sharding_per_value, op_attr(o, str_of(slot)));
  return l ? l->shardings : (attrs){0};
}

static void note_manual(debug_info *d, op *o, size_t i) {
  attrs in = shardings_at(o, "in_shardings"), out = shardings_at(o, "out_shardings");
  block *b = op_body(o, 0);
  for (u32 k = 0; b && k < b->num_args && k < in.len && k < o->num_operands; k++) {
    value *from = op_operand(o, k);
    note(d, b->args[k], in.data[k], "mc_%zu_input: %u", i, k);
    note(d, from, value_sharding(d->m->ctx, from), "mc_%zu_input: %u", i, k);
  }
  for (u32 k = 0; k < o->num_results && k < out.len; k++)
    note(d, op_result(o, k), out.data[k], "mc_%zu_output: %u", i, k);
  set_name(d, o, "mc_%zu", i);
}

static void note_func(debug_info *d, op *f) {
  block *b = op_body(f, 0);
  op *ret = b ? op_terminator(b) : NULL;
  for (u32 i = 0; b && i < b->num_args; i++)
    note(d, b->args[i], func_sharding(f, FUNC_ARGS, i), "input: %u", i);
  for (u32 i = 0; ret && i < ret->num_operands; i++)
    note(d, op_operand(ret, i), func_sharding(f, FUNC_RESULTS, i), "output: %u", i);
}

/* Steps are numbered on from those of earlier passes, which the module has. */
debug_info *debug_info_begin(ir_module *m, arena *a, const pass_args *args) {
  bool want_origins = pass_option_flag(args, STR("debug-sharding-origins"), false);
  bool edges = pass_option_flag(args, STR("debug-propagation-edge-sharding"), false) ||
               pass_option_flag(args, STR("debug-edge-source-sharding"), false);
  const pass_tables *told = args->tables && args->tables->traced ? args->tables : NULL;
  if (!want_origins && !edges && !told) return NULL;
  debug_info *d = ARENA_NEW(a, debug_info);
  *d =
      (debug_info){.m = m, .a = a, .want_origins = want_origins, .want_edges = edges, .told = told};
  d->space = shard_space_create(m, a);
  op_collector c = {.a = a, .last_step = -1};
  op_walk_post(m->root, collect, &c);
  d->trace = (shard_trace){.a = a, .next_step = (u32)(c.last_step + 1), .op_round = -1};
  if (!want_origins) return d;
  for (size_t i = 0; i < c.constraints.len; i++) note_constraint(d, c.constraints.data[i], i);
  for (size_t i = 0; i < c.manual.len; i++) note_manual(d, c.manual.data[i], i);
  FOR_OPS(f, op_body(m->root, 0)) if (op_is(f, func)) note_func(d, f);
  return d;
}

shard_trace *debug_info_trace(debug_info *d) { return d ? &d->trace : NULL; }

/* ---- origins onto the module ---- */

/* Passes erase ops that events speak of; the trace knows which, and nothing else of them is looked
 * at. */
static bool is_erased(const debug_info *d, const op *o) {
  return index_get(&d->trace.erased, o) != NULL;
}

/* In the order of the events: an axis that a value got is known before it passes it on. */
static void replay(debug_info *d) {
  for (size_t i = 0; i < d->trace.events.len; i++) {
    const trace_event *e = &d->trace.events.data[i];
    str name = axis_name(e->mesh, e->axis);
    const origins *l = index_get(&d->of, e->from.value);
    const origin *o = find_origin(l, name, e->axis, true);
    if (!o) o = find_origin(l, name, e->axis, false); /* split or merged since */
    if (o) add_origin(d, e->to.value, name, e->axis, o->from);
  }
}

static bool is_whole(const debug_info *d, const origin *o, const mesh *m) {
  (void)d;
  int k = m ? mesh_axis_find(m, o->axis) : -1;
  return k >= 0 && o->ref.pre == 1 && o->ref.size == m->axes[k].size;
}

static const attr *origins_dict(debug_info *d, const origins *l, const mesh *m) {
  named_attr *entries = ARENA_ARRAY(d->a, named_attr, l->len);
  for (size_t i = 0; i < l->len; i++) {
    const origin *o = &l->data[i];
    str name = o->axis;
    if (!is_whole(d, o, m))
      name = arena_printf(d->a, STR_FMT ":(%lld)%lld", STR_ARG(name), (long long)o->ref.pre,
                          (long long)o->ref.size);
    entries[i] = (named_attr){attr_string(d->m->ctx, name), o->from};
  }
  return attr_dict(d->m->ctx, entries, l->len);
}

/* The use by which the function returns the value: the one added last. */
static const use *returned(const value *v, const op *f) {
  block *b = op_body(f, 0);
  op *ret = b ? op_terminator(b) : NULL;
  for (const use *u = v->uses; u && ret; u = u->next)
    if (u->owner == ret) return u;
  return NULL;
}

static op *func_around(op *o) {
  while (o && !op_is(o, func)) o = op_parent(o);
  return o;
}

static void set_in_array(debug_info *d, op *o, u32 i, const attr *dict) {
  const array_attr *old = attr_as(array, op_discardable(o, ORIGINS));
  const attr **list = ARENA_ARRAY(d->a, const attr *, o->num_results);
  for (u32 k = 0; k < o->num_results; k++)
    list[k] = old && k < old->elems.len ? old->elems.data[k] : attr_dict(d->m->ctx, NULL, 0);
  list[i] = dict;
  op_set_attr(d->m, o, ORIGINS, attr_array(d->m->ctx, (attrs){list, o->num_results}));
}

/* Where Shardy puts it: on the argument's or result's dictionary, on the op that holds one value,
 * or in an array on an op with several. */
static void save_origins(debug_info *d, value *v) {
  op *o = value_parent(v), *f = func_around(o);
  const sharding *s = shard_read(d->space, value_sharding(d->m->ctx, v));
  const attr *dict = origins_dict(d, index_get(&d->of, v), s ? s->mesh : NULL);
  const use *u = f ? returned(v, f) : NULL;
  if (u) func_set_named(d->m, f, FUNC_RESULTS, (size_t)(u - u->owner->operands), ORIGINS, dict);
  if (op_is(o, func))
    func_set_named(d->m, o, FUNC_ARGS, v->index, ORIGINS, dict);
  else if (op_is(o, sharding_constraint) || op_is(o, data_flow_edge))
    op_set_attr(d->m, o, ORIGINS, dict);
  else if (!v->is_arg)
    set_in_array(d, o, v->index, dict);
}

/* Axes that are there because the thing itself says so are its own. */
static const attr *own_as_self(debug_info *d, const attr *dict, str own) {
  const dict_attr *l = attr_as(dict, dict);
  if (!l) return dict;
  named_attr *entries = ARENA_ARRAY(d->a, named_attr, l->names.len);
  const attr *name = attr_string(d->m->ctx, own), *self = attr_string(d->m->ctx, STR("self"));
  for (size_t i = 0; i < l->names.len; i++)
    entries[i] =
        (named_attr){l->names.data[i], l->values.data[i] == name ? self : l->values.data[i]};
  return attr_dict(d->m->ctx, entries, l->names.len);
}

static void op_own_as_self(debug_info *d, op *o, str own) {
  const attr *dict = o ? op_discardable(o, ORIGINS) : NULL;
  if (dict) op_set_attr(d->m, o, ORIGINS, own_as_self(d, dict, own));
}

static walk_result self_of_op(void *user, op *o) {
  debug_info *d = user;
  str name;
  if (!attr_get_str(op_discardable(o, ORIGIN_NAME), &name)) return WALK_ON;
  if (op_is(o, sharding_constraint)) op_own_as_self(d, o, name);
  if (!op_is(o, manual_computation)) return WALK_ON;
  block *b = op_body(o, 0);
  for (u32 i = 0; b && i < b->num_args; i++)
    op_own_as_self(d, edge_of_target(b->args[i]),
                   arena_printf(d->a, STR_FMT "_input: %u", STR_ARG(name), i));
  for (u32 i = 0; i < o->num_results; i++)
    op_own_as_self(d, edge_of_target(op_result(o, i)),
                   arena_printf(d->a, STR_FMT "_output: %u", STR_ARG(name), i));
  return WALK_ON;
}

static void self_of_func(debug_info *d, op *f) {
  static const char *const names[] = {[FUNC_ARGS] = "input: %zu", [FUNC_RESULTS] = "output: %zu"};
  for (int side = FUNC_ARGS; side <= FUNC_RESULTS; side++)
    for (size_t i = 0; i < func_num(f, side); i++) {
      const attr *dict = func_named(f, side, i, ORIGINS);
      str own = arena_printf(d->a, names[side], i);
      if (dict) func_set_named(d->m, f, side, i, ORIGINS, own_as_self(d, dict, own));
    }
}

static void write_origins(debug_info *d) {
  replay(d);
  for (size_t i = 0; i < d->order.len; i++) {
    op *o = value_parent(d->order.data[i]);
    if (!is_erased(d, o)) save_origins(d, d->order.data[i]);
  }
  op_walk_post(d->m->root, self_of_op, d);
  FOR_OPS(f, op_body(d->m->root, 0)) if (op_is(f, func)) self_of_func(d, f);
}

/* ---- edges onto the module ---- */

static int node_cmp(const trace_node *a, const trace_node *b) {
  if (a->result != b->result) return a->result ? 1 : -1;
  return a->index < b->index ? -1 : a->index > b->index;
}

/* By step, axis, source, target. */
static int event_cmp(const void *x, const void *y) {
  const trace_event *a = *(const trace_event *const *)x, *b = *(const trace_event *const *)y;
  if (a->step != b->step) return a->step < b->step ? -1 : 1;
  int c = str_cmp(axis_name(a->mesh, a->axis), axis_name(b->mesh, b->axis));
  if (!c) c = (a->axis.pre > b->axis.pre) - (a->axis.pre < b->axis.pre);
  if (!c) c = (a->axis.size > b->axis.size) - (a->axis.size < b->axis.size);
  if (!c) c = node_cmp(&a->from, &b->from);
  return c ? c : node_cmp(&a->to, &b->to);
}

typedef VEC(const trace_event *) event_list;

static bool same_axis(const trace_event *a, const trace_event *b) {
  return str_eq(axis_name(a->mesh, a->axis), axis_name(b->mesh, b->axis)) &&
         a->axis.pre == b->axis.pre && a->axis.size == b->axis.size;
}

/* Of events with one axis, source and target only the first counts. */
static void add_event(debug_info *d, event_list *l, const trace_event *e) {
  for (size_t i = 0; i < l->len; i++)
    if (same_axis(l->data[i], e) && !node_cmp(&l->data[i]->from, &e->from) &&
        !node_cmp(&l->data[i]->to, &e->to))
      return;
  VEC_PUSH(d->a, *l, e);
}

static const attr *node_attr(ir_ctx *c, const trace_node *n) {
  return attr_make(c, edge_value_ref, .type = attr_enum(c, ATTR_edge_node_type, n->result),
                   .index = n->index);
}

/* events[0..n) differ in their targets only */
static const attr *entry_attr(debug_info *d, const trace_event *const *events, size_t n) {
  ir_ctx *c = d->m->ctx;
  const trace_event *e = events[0];
  bool whole = axis_is_whole(e->mesh, e->axis);
  const attr *axis =
      attr_make(c, axis_ref, .name = axis_name(e->mesh, e->axis),
                .pre_size = whole ? 0 : e->axis.pre, .size = whole ? 0 : e->axis.size);
  const attr **targets = ARENA_ARRAY(d->a, const attr *, n);
  for (size_t i = 0; i < n; i++) targets[i] = node_attr(c, &events[i]->to);
  return attr_make(c, axis_edge, .axis = axis, .source = node_attr(c, &e->from),
                   .targets = {targets, n});
}

/* Sorted, so that steps are in order and entries of one axis and source side by side, then
 * grouped. */
static const attr *edges_attr(debug_info *d, event_list *l) {
  ir_ctx *c = d->m->ctx;
  VEC(const attr *) steps = {0};
  qsort(l->data, l->len, sizeof *l->data, event_cmp);
  for (size_t i = 0; i < l->len;) {
    VEC(const attr *) entries = {0};
    u32 step = l->data[i]->step;
    while (i < l->len && l->data[i]->step == step) {
      size_t n = 1;
      while (i + n < l->len && l->data[i + n]->step == step &&
             same_axis(l->data[i], l->data[i + n]) &&
             !node_cmp(&l->data[i]->from, &l->data[i + n]->from))
        n++;
      VEC_PUSH(d->a, entries, entry_attr(d, l->data + i, n));
      i += n;
    }
    VEC_PUSH(d->a, steps,
             attr_make(c, propagation_step, .step = step, .entries = {entries.data, entries.len}));
  }
  return attr_make(c, propagation_edges, .steps = {steps.data, steps.len});
}

static void write_edges(debug_info *d) {
  hash_index by_op = {0};
  VEC(op *) ops = {0};
  for (size_t i = 0; i < d->trace.events.len; i++) {
    const trace_event *e = &d->trace.events.data[i];
    if (!e->op || is_erased(d, e->op)) continue;
    event_list *l = index_get(&by_op, e->op);
    if (!l) {
      index_set(&by_op, d->a, e->op, l = ARENA_NEW(d->a, event_list));
      VEC_PUSH(d->a, ops, e->op);
    }
    add_event(d, l, e);
  }
  for (size_t i = 0; i < ops.len; i++) {
    const attr *a = edges_attr(d, index_get(&by_op, ops.data[i]));
    if (op_is(ops.data[i], func)) /* of all results, on the first, as in Shardy */
      func_set_named(d->m, ops.data[i], FUNC_RESULTS, 0, EDGES, a);
    else
      op_set_attr(d->m, ops.data[i], EDGES, a);
  }
}

void debug_info_end(debug_info *d) {
  if (d && d->want_origins) write_origins(d);
  if (d && d->want_edges) write_edges(d);
  if (d && d->told) d->told->traced(d->told->user, &d->trace);
}

/* ---- sinking, and removing all of it ---- */

static void sink_one(ir_module *m, op *o, bool args, str from, str to) {
  block *b = args ? flow_owner_block(o) : NULL;
  u32 n = args ? (b ? b->num_args : 0) : o->num_results;
  const attr **list = ARENA_ARRAY(&m->arena, const attr *, n);
  size_t k = 0;
  for (u32 i = 0; i < n; i++) {
    op *edge = edge_of_target(args ? b->args[i] : op_result(o, i));
    const attr *a = edge ? op_discardable(edge, from) : NULL;
    if (a) list[k++] = a;
  }
  op_set_attr(m, o, to, attr_array(m->ctx, (attrs){list, k}));
}

void debug_info_sink(ir_module *m, op *o, bool args, bool want_origins, bool edges) {
  if (want_origins)
    sink_one(m, o, args, ORIGINS,
             args ? STR("sdy.block_arg_sharding_origins") : STR("sdy.result_sharding_origins"));
  if (edges)
    sink_one(m, o, args, EDGES,
             args ? STR("sdy.block_arg_propagation_edges") : STR("sdy.result_propagation_edges"));
}

static const char *const debug_attrs[] = {
    "sdy.propagation_edges", "sdy.block_arg_propagation_edges", "sdy.result_propagation_edges",
    "sdy.sharding_origins",  "sdy.block_arg_sharding_origins",  "sdy.result_sharding_origins"};

static walk_result remove_from(void *user, op *o) {
  ir_module *m = user;
  for (size_t i = 0; i < COUNT(debug_attrs); i++) {
    str name = str_of(debug_attrs[i]);
    if (op_discardable(o, name)) op_set_attr(m, o, name, NULL);
    for (int side = FUNC_ARGS; op_is(o, func) && side <= FUNC_RESULTS; side++)
      for (size_t k = 0; k < func_num(o, side); k++)
        if (func_named(o, side, k, name)) func_set_named(m, o, side, k, name, NULL);
  }
  return WALK_ON;
}

bool pass_remove_debug_info(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch, (void)args;
  op_walk(m->root, remove_from, m);
  return true;
}
