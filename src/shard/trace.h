/* Where shardings came from: one event for each axis that a step of propagation gave a value.
 *
 * A trace is filled by engine_run where its options name one, and costs nothing elsewhere. To
 * follow an axis back: look for the last event whose `to.value` is the value that holds the
 * sharding (value_shardable) and whose axis overlaps, go on with `from.value`, and end at a value
 * without such an event, which had the axis from the start. */
#ifndef SHARD_TRACE_H
#define SHARD_TRACE_H

#include "base/index.h"
#include "shard/rule.h"

typedef struct trace_node {
  bool result; /* of the op; else an operand. Sources of an edge count as its operands. */
  u32 index;
  value *value; /* that holds the sharding */
} trace_node;

typedef struct trace_event {
  op *op; /* whose rule or edge carried the axis; a func.func: between a result of it and what it
           * returns; NULL: a sharding group did */
  const mesh *mesh;
  axis_ref axis;
  trace_node from, to;
  u32 step;          /* counts the visits that changed something */
  i64 user_priority; /* 0 where priorities play no part */
  int op_round;      /* of the rounds of op priorities, from 0; -1: there were none */
} trace_event;

typedef struct shard_trace {
  arena *a;
  VEC(trace_event) events; /* in order of time */
  u32 next_step;
  i64 user_priority;
  int op_round;
  hash_index erased; /* ops that propagation erased as dead: events of theirs mean nothing */
} shard_trace;

/* What an event is about once the edge ops are gone: a value that one stands for is its owner. */
typedef struct trace_ends {
  value *to, *from;
  bool to_returned, from_returned; /* the function's result that the value is returned as */
  bool edge;                       /* carried by an edge of `carrier`, not by its rule */
  const op *carrier;               /* NULL: a sharding group */
} trace_ends;
trace_ends trace_ends_of(const trace_event *e);
value *trace_owner(value *v); /* NULL of NULL */
/* For maps by value, or by the result that it is returned as: values are aligned, so the address
 * plus one is no other value's. */
static inline const void *trace_key(const value *v, bool returned) {
  return (const char *)v + returned;
}

/* A rule was applied to the tensors `values` (as many as the rule has, operands first): axes of
 * factor f of tensor t at [t * num_factors + f] became those in `after`. */
void trace_step(shard_trace *t, op *o, const rule *r, const mesh *m, value *const *values,
                const axis_list *before, const axis_list *after);
/* A group gave `to` all axes of `s`. */
void trace_group(shard_trace *t, value *from, value *to, const sharding *s);
void trace_erase(shard_trace *t, op *o);
/* The latest event that gave `v` (which holds a sharding) a part of this axis, before event
 * `end`; NULL: none, it had it from the start. */
const trace_event *trace_find(const shard_trace *t, const value *v, const mesh *m, axis_ref axis,
                              size_t end);

#endif
