/* What propagation did, a step at a time: from the axes before and after a step it follows which
 * tensor gave which axis to which. Only where somebody asks; see trace.h. */
#include "shard/trace.h"

/* ---- one tensor of a step ---- */

typedef struct tracing {
  shard_trace *t;
  op *op;
  const rule *rule;
  const mesh *mesh;
  value *const *values;
  const axis_list *before, *after;
  size_t begin; /* of the events of the tensor at hand */
} tracing;

static axis_list at(const axis_list *l, const rule *r, u32 t, u32 f) {
  return l[(size_t)t * r->num_factors + f];
}

static bool has_factor(const rule *r, u32 t, u32 f) {
  for (u32 k = r->dim_begin[r->tensor_begin[t]]; k < r->dim_begin[r->tensor_begin[t + 1]]; k++)
    if (r->places[k] == f) return true;
  return false;
}

/* The first tensor that had all of these axes along the factor; num_tensors: none. */
static u32 find_source(const tracing *p, u32 f, axis_list axes) {
  u32 n = rule_num_tensors(p->rule);
  for (u32 t = 0; t < n; t++)
    if (has_factor(p->rule, t, f) &&
        axes_prefix_of(axes, at(p->before, p->rule, t, f)) != AXES_NOT_PREFIX)
      return t;
  return n;
}

static trace_node node_of(const tracing *p, u32 t) {
  u32 n = p->rule->num_operands;
  return (trace_node){t >= n, t >= n ? t - n : t, p->values[t]};
}

static size_t find_axis(const tracing *p, axis_ref axis) {
  size_t i = p->begin;
  while (i < p->t->events.len && !axis_eq(p->t->events.data[i].axis, axis)) i++;
  return i;
}

static void add(const tracing *p, u32 from, u32 to, axis_ref axis) {
  shard_trace *t = p->t;
  if (find_axis(p, axis) < t->events.len) return;
  VEC_PUSH(t->a, t->events,
           ((trace_event){p->op, p->mesh, axis, node_of(p, from), node_of(p, to), t->next_step,
                          t->user_priority, t->op_round}));
}

static void forget(const tracing *p, axis_ref axis) {
  shard_trace *t = p->t;
  size_t i = find_axis(p, axis);
  if (i == t->events.len) return;
  memmove(t->events.data + i, t->events.data + i + 1, (--t->events.len - i) * sizeof(trace_event));
}

/* Axes that the dimension's factors got anew; a sub-axis that goes on from the factor before is
 * one axis with it. `last`: of the factor that changed before this one in the dimension. */
static void trace_factor(tracing *p, u32 t, u32 f, axis_ref *last) {
  axis_list old = at(p->before, p->rule, t, f), now = at(p->after, p->rule, t, f);
  if (axes_eq(old, now) || !now.len) return;
  axis_ref end = now.data[now.len - 1], merged = end;
  if (last->size && axis_can_merge(*last, end)) {
    forget(p, *last);
    merged = axis_merge(*last, end);
  }
  *last = end;
  u32 from = find_source(p, f, now);
  if (from == rule_num_tensors(p->rule)) return;
  for (size_t i = old.len ? old.len - 1 : 0; i < now.len; i++) {
    axis_ref axis = i + 1 == now.len ? merged : now.data[i];
    if (i >= old.len || !axis_eq(old.data[i], axis)) add(p, from, t, axis);
  }
}

void trace_step(shard_trace *t, op *o, const rule *r, const mesh *m, value *const *values,
                const axis_list *before, const axis_list *after) {
  tracing p = {t, o, r, m, values, before, after, 0};
  for (u32 i = 0; i < rule_num_tensors(r); i++) {
    p.begin = t->events.len;
    for (u32 d = r->tensor_begin[i]; d < r->tensor_begin[i + 1]; d++) {
      axis_ref last = {0};
      for (u32 k = r->dim_begin[d]; k < r->dim_begin[d + 1]; k++)
        trace_factor(&p, i, r->places[k], &last);
    }
  }
  t->next_step++;
}

void trace_group(shard_trace *t, value *from, value *to, const sharding *s) {
  for (u32 d = 0; d < s->rank; d++)
    for (size_t i = 0; i < s->dims[d].axes.len; i++)
      if (!trace_find(t, to, s->mesh, s->dims[d].axes.data[i], t->events.len))
        VEC_PUSH(t->a, t->events,
                 ((trace_event){NULL,
                                s->mesh,
                                s->dims[d].axes.data[i],
                                {false, 0, from},
                                {true, 0, to},
                                t->next_step,
                                t->user_priority,
                                t->op_round}));
}

void trace_erase(shard_trace *t, op *o) { index_set(&t->erased, t->a, o, o); }

const trace_event *trace_find(const shard_trace *t, const value *v, const mesh *m, axis_ref axis,
                              size_t end) {
  for (size_t i = min_size(end, t->events.len); i-- > 0;) {
    const trace_event *e = &t->events.data[i];
    if (e->to.value == v && e->mesh == m && axis_overlaps(e->axis, axis)) return e;
  }
  return NULL;
}

/* ---- without edge ops ---- */

static bool is_edge(const op *o) {
  return op_is(o, data_flow_edge) || op_is(o, func_data_flow_edge);
}

/* Edge ops go away after propagation; the sharding then is the owner's. */
value *trace_owner(value *v) {
  op *o = v ? value_op(v) : NULL;
  value *owner = o && is_edge(o) && o->num_operands ? op_operand(o, 0) : NULL;
  return owner ? owner : v;
}

trace_ends trace_ends_of(const trace_event *e) {
  bool edge = e->op && is_edge(e->op), func = e->op && op_is(e->op, func);
  value *owner = edge ? op_operand(e->op, 0) : NULL;
  return (trace_ends){.to = trace_owner(e->to.value),
                      .from = trace_owner(e->from.value),
                      .to_returned = func && e->to.result,
                      .from_returned = func && e->from.result,
                      .edge = edge,
                      .carrier = owner ? value_parent(owner) : e->op};
}
