/* Traces of the public API: events of propagation in a form that outlives its passes.
 *
 * The passes call trace_record with what they recorded (shard/trace.h), while the edge ops that it
 * speaks of still stand; tz_module_run_traced then drops the handles of what has gone. Records are
 * in the module's arena, so a trace is valid as long as its module. */
#include "terrazzo/trace.h"

#include "api/context.h"
#include "shard/trace.h"

/* `earlier` chains the events of one target, the latest first: who asks where an axis came from
 * follows a few events instead of all. */
typedef struct record {
  tz_trace_event event;
  size_t earlier; /* event of the same target */
} record;

struct tz_trace {
  arena *a; /* the module's */
  VEC(record) records;
  hash_index last; /* by target: number of the latest event, and 1 */
  u32 next_step;
};

/* ---- recording ---- */

/* TZ_NO_EVENT where there is none: 0 minus 1. */
static size_t latest(const tz_trace *t, const value *v, bool returned) {
  return (size_t)(uintptr_t)index_get(&t->last, trace_key(v, returned)) - 1;
}

/* Parts of an axis that overlap; size 0 asks for any part. */
static bool gives(const tz_trace_event *e, const char *axis, i64 pre, i64 size) {
  return strcmp(e->axis, axis) == 0 &&
         (!size || axis_overlaps((axis_ref){0, e->pre, e->size}, (axis_ref){0, pre, size}));
}

static size_t find(const tz_trace *t, size_t at, const char *axis, i64 pre, i64 size) {
  while (at != TZ_NO_EVENT && !gives(&t->records.data[at].event, axis, pre, size))
    at = t->records.data[at].earlier;
  return at;
}

static const char *text(tz_trace *t, str s) { return arena_str(t->a, s).data; }

/* The cause is the latest event that gave the source this axis, looked up now: later ones may not
 * be causes. */
static void record_event(tz_trace *t, const trace_event *e, u32 step) {
  trace_ends x = trace_ends_of(e);
  tz_trace_event out = {.mesh = text(t, e->mesh->name),
                        .axis = text(t, e->mesh->axes[e->axis.axis].name),
                        .pre = e->axis.pre,
                        .size = e->axis.size,
                        .to = value_out(x.to),
                        .from = value_out(x.from),
                        .to_returned = x.to_returned,
                        .from_returned = x.from_returned,
                        .op = op_out(x.carrier),
                        .edge = x.edge,
                        .user_priority = e->user_priority,
                        .op_round = e->op_round,
                        .step = step};
  out.cause = find(t, latest(t, x.from, out.from_returned), out.axis, out.pre, out.size);
  size_t n = t->records.len;
  VEC_PUSH(t->a, t->records, ((record){out, latest(t, x.to, out.to_returned)}));
  index_set(&t->last, t->a, trace_key(x.to, out.to_returned), (void *)(uintptr_t)(n + 1));
}

/* A pipeline may propagate several times; steps go on counting from one to the next. */
void trace_record(void *user, const struct shard_trace *from) {
  tz_trace *t = user;
  u32 first = from->events.len ? from->events.data[0].step : 0, begin = t->next_step;
  for (size_t i = 0; i < from->events.len; i++) {
    const trace_event *e = &from->events.data[i];
    u32 step = begin + e->step - first;
    t->next_step = step + 1;
    record_event(t, e, step);
  }
}

/* ---- after the run: handles of what is gone become NULL ---- */

static void set_nums(const tz_trace_event *e, u32 num) {
  if (e->to) value_of(e->to)->num = num;
  if (e->from) value_of(e->from)->num = num;
  if (e->op) op_of(e->op)->num = num;
}

walk_result mark(void *user, op *o) {
  (void)user;
  o->num = 1;
  for (u32 i = 0; i < o->num_results; i++) o->results[i].num = 1;
  for (u32 r = 0; r < o->num_regions; r++)
    for (block *b = o->regions[r].first; b; b = b->next)
      for (u32 i = 0; i < b->num_args; i++) b->args[i]->num = 1;
  return WALK_ON;
}

/* A value that was freed cannot be told by looking at the handle, but arenas keep the memory: mark
 * what is in the module, and what stays unmarked has gone. */
static void settle(tz_trace *t, op *root) {
  for (size_t i = 0; i < t->records.len; i++) set_nums(&t->records.data[i].event, 0);
  op_walk(root, mark, NULL);
  for (size_t i = 0; i < t->records.len; i++) {
    tz_trace_event *e = &t->records.data[i].event;
    if (e->to && !value_of(e->to)->num) e->to = NULL;
    if (e->from && !value_of(e->from)->num) e->from = NULL;
    if (e->op && !op_of(e->op)->num) e->op = NULL;
  }
}

/* ---- the functions ---- */

static status run(tz_module *m, const char *pipeline, const tz_trace **out_trace) {
  tz_trace *t = ARENA_NEW(&m->ir->arena, tz_trace);
  t->a = &m->ir->arena;
  RETURN_IF_ERROR(module_run(m, pipeline, t));
  settle(t, m->ir->root);
  *out_trace = t;
  return NULL;
}

tz_error *tz_module_run_traced(tz_module *m, const char *pipeline, const tz_trace **out_trace) {
  if (!pipeline || !out_trace) return bad_handle();
  *out_trace = NULL;
  ENTER(live(m));
  return leave(&entry_, run(m, pipeline, out_trace));
}

size_t tz_trace_num_events(const tz_trace *t) { return t ? t->records.len : 0; }

bool tz_trace_event_at(const tz_trace *t, size_t i, tz_trace_event *out_event) {
  bool there = t && i < t->records.len;
  const tz_trace_event *e = there ? &t->records.data[i].event : NULL;
  return out_event ? sized_write(out_event, e, sizeof *e) && there : there;
}

size_t tz_trace_find(const tz_trace *t, const tz_value *v, const char *axis, int64_t pre,
                     int64_t size) {
  value *holder = t && v && axis ? trace_owner(value_shardable(value_of(v))) : NULL;
  return holder ? find(t, latest(t, holder, false), axis, pre, size) : TZ_NO_EVENT;
}
