/* Where shardings come from: for each axis that propagation gave a value, the value that it came
 * from, the op or edge that carried it, and at which priority.
 *
 *   const tz_trace *t;
 *   tz_trace_event e = {TZ_SIZED(tz_trace_event)};
 *   tz_error *bad = tz_module_run_traced(m, "sdy-propagation-pipeline", &t);
 *   size_t i = bad ? TZ_NO_EVENT : tz_trace_find(t, value, "x", 0, 0);
 *   for (; tz_trace_event_at(t, i, &e); i = e.cause) ...   // back to who had "x" at first
 *
 * Ownership. A trace belongs to its module: it is borrowed, and freed with the module. Of the
 * handles in it the same holds as of others: an op that is erased later is of no use. Strings are
 * NUL-terminated and live as long. Getters cannot fail. A run without a trace costs nothing more
 * for there being traces.
 *
 * Threads: that of the context, one at a time, for reading too. */
#ifndef TERRAZZO_TRACE_H
#define TERRAZZO_TRACE_H

#include "terrazzo/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tz_trace tz_trace;

#define TZ_NO_EVENT SIZE_MAX

/* In one step, `to` got this axis along some dimension because `from` had it. */
typedef struct tz_trace_event {
  size_t struct_size;
  const char *mesh, *axis; /* names; "" of a mesh that has none */
  int64_t pre, size;       /* of a part of an axis, "axis":(pre)size; the whole is (1)size */
  /* Where the sharding is kept: an argument or a result. Values of one data-flow edge, such as a
   * loop's result and its body's argument, have one sharding, and its owner stands for them all.
   * NULL: a later pass of the run removed it. */
  tz_value *to, *from;
  /* Not the value itself, but the result of the function that it is returned as. */
  bool to_returned, from_returned;
  /* The op whose rule carried the axis; where `edge`, the op whose data-flow edge did, or whose
   * results or arguments are on an edge between functions. A func.func: between what it returns and
   * its results. NULL: a sharding group did, or it was removed. */
  tz_op *op;
  bool edge;
  int64_t user_priority; /* 0 where shardings name none */
  int op_round;          /* of the rounds of op priorities, from 0; -1: there were none */
  uint32_t step;         /* events of one visit of an op have the same; later ones a larger */
  size_t cause;          /* the event that gave `from` the axis; TZ_NO_EVENT: it had it before */
} tz_trace_event;

/* tz_module_run that also records what each propagation of the pipeline does, and what
 * sdy-apply-sharding-constraints does. Events are in order of time. On failure *out_trace is
 * NULL. */
TZ_API tz_error *tz_module_run_traced(tz_module *m, const char *pipeline,
                                      const tz_trace **out_trace);
TZ_API size_t tz_trace_num_events(const tz_trace *t);
/* False: there is no such event, or struct_size is not set; what is known is zero then. */
TZ_API bool tz_trace_event_at(const tz_trace *t, size_t i, tz_trace_event *out_event);
/* The latest event that gave `v` this part of the axis, or some of it; size 0: any part.
 * TZ_NO_EVENT: it had the axis before the run, or does not have it. */
TZ_API size_t tz_trace_find(const tz_trace *t, const tz_value *v, const char *axis, int64_t pre,
                            int64_t size);

#ifdef __cplusplus
}
#endif
#endif
