/* The Profiler extension: what JAX's profiler gets from us is a serialized XSpace.
 *
 * A profiler is a sink of base/trace.h from start to stop. Each device is a plane, and one the
 * host; a plane has a line for each kind of span, and a span is an event, whose name is the op's.
 *
 * Field numbers: XSpace { 1 planes, 3 warnings }, XPlane { 1 id, 2 name, 3 lines, 4 event_metadata:
 * a map of { 1 key, 2 value }, 5 stat_metadata: likewise }, XLine { 1 id, 2 name, 3 timestamp_ns, 4
 * events
 * }, XEvent { 1 metadata_id, 2 offset_ps, 3 duration_ps }, XEventMetadata { 1 id, 2 name, 5 stats
 * }, XStatMetadata { 1 id, 2 name }, XStat { 1 metadata_id, 5 str_value }, of openxla/xla's
 * xplane.proto. */
#include <stdio.h>

#include "base/index.h"
#include "base/trace.h"
#include "pjrt/api.h"
#include "pjrt/proto.h"
#include "pjrt/slots.h"

/* A trace that nobody stops ends here: past so many spans the rest are only counted. */
enum { MAX_SPANS = 1 << 22, SPANS_AT_ONCE = 1024 };

/* What events of one name and place share. */
typedef struct label {
  u64 id;
  str name, loc, op_name;
} label;

typedef struct event {
  const label *label;
  trace_kind kind;
  i64 device;
  u64 begin, end;
} event;

typedef struct chunk {
  struct chunk *next;
  u32 len;
  event events[SPANS_AT_ONCE];
} chunk;

struct PLUGIN_Profiler {
  handle head;
  trace_sink sink;
  pthread_mutex_t lock; /* start, stop, collect; spans come under the trace's own lock */
  bool running;
  oom_trap trap;
  arena memory; /* of what was recorded */
  hash_index labels;
  u64 num_labels, num_spans, num_lost;
  chunk *first, *last;
  i64 max_device;
  u64 to_wall; /* what makes a time of os_now_ns one of the clock */
  buf data;    /* once collected */
};

/* ---- recording ---- */

static const label *label_of(PLUGIN_Profiler *p, str name, str loc, str op_name) {
  u64 h = hash_bytes(loc.data, loc.len, hash_bytes(name.data, name.len, op_name.len));
  label *l;
  for (size_t at = 0; (l = index_next(&p->labels, h, &at));)
    if (str_eq(l->name, name) && str_eq(l->loc, loc) && str_eq(l->op_name, op_name)) return l;
  l = ARENA_NEW(&p->memory, label);
  *l = (label){++p->num_labels, arena_str(&p->memory, name), arena_str(&p->memory, loc),
               arena_str(&p->memory, op_name)};
  index_add(&p->labels, &p->memory, h, l);
  return l;
}

static void record(trace_sink *s, const trace_span *span) {
  PLUGIN_Profiler *p = (PLUGIN_Profiler *)(void *)((char *)s - offsetof(PLUGIN_Profiler, sink));
  p->num_lost++;
  if (p->num_spans == MAX_SPANS) return;
  if (setjmp(p->trap.at)) return;
  const label *l = label_of(p, span->name, span->loc, span->op_name);
  if (!p->last || p->last->len == SPANS_AT_ONCE) {
    chunk *c = ARENA_NEW(&p->memory, chunk);
    *(p->last ? &p->last->next : &p->first) = c;
    p->last = c;
  }
  p->last->events[p->last->len++] = (event){l, span->kind, span->device, span->begin, span->end};
  p->num_spans++;
  p->num_lost--;
  if (span->device > p->max_device) p->max_device = span->device;
}

/* ---- as bytes ---- */

static void put_message(buf *out, u32 number, buf *message) {
  proto_put_bytes(out, number, buf_view(message));
  out->failed |= !buf_ok(message);
  buf_deinit(message);
}

static void put_entry(buf *out, u32 number, u64 key, buf *value) {
  buf entry;
  buf_init(&entry, &mem_system);
  proto_put_int(&entry, 1, key);
  put_message(&entry, 2, value);
  put_message(out, number, &entry);
}

/* Under XLA's names for them. */
enum { LOC_STAT = 1, OP_NAME_STAT };

static void put_stat(buf *label, u64 id, str text) {
  buf stat;
  if (!text.len) return;
  buf_init(&stat, &mem_system);
  proto_put_int(&stat, 1, id);
  proto_put_bytes(&stat, 5, text);
  put_message(label, 5, &stat);
}

static void put_stat_name(buf *plane, u64 id, str name) {
  buf stat;
  buf_init(&stat, &mem_system);
  proto_put_int(&stat, 1, id);
  proto_put_bytes(&stat, 2, name);
  put_entry(plane, 5, id, &stat);
}

static void put_label(buf *plane, const label *l) {
  buf m;
  buf_init(&m, &mem_system);
  proto_put_int(&m, 1, l->id);
  proto_put_bytes(&m, 2, l->name);
  put_stat(&m, LOC_STAT, l->loc);
  put_stat(&m, OP_NAME_STAT, l->op_name);
  put_entry(plane, 4, l->id, &m);
}

static void put_event(buf *line, const event *e, u64 start) {
  buf m;
  buf_init(&m, &mem_system);
  proto_put_int(&m, 1, e->label->id);
  proto_put_int(&m, 2, (e->begin - start) * 1000);
  proto_put_int(&m, 3, (e->end > e->begin ? e->end - e->begin : 0) * 1000);
  put_message(line, 4, &m);
}

/* False: the device has no event of this kind. */
static bool put_line(PLUGIN_Profiler *p, i64 device, trace_kind kind, bool *used, buf *plane) {
  static const char *const names[TRACE_KINDS_] = {"Compilation", "XLA Modules", "XLA Ops",
                                                  "Collectives", "Waits"};
  buf line;
  u64 start = UINT64_MAX;
  for (const chunk *c = p->first; c; c = c->next)
    for (u32 i = 0; i < c->len; i++) {
      const event *e = &c->events[i];
      if (e->device == device && e->kind == kind && e->begin < start) start = e->begin;
    }
  if (start == UINT64_MAX) return false;
  buf_init(&line, &mem_system);
  proto_put_int(&line, 1, (u64)kind + 1);
  proto_put_bytes(&line, 2, str_of(names[kind]));
  proto_put_int(&line, 3, start + p->to_wall);
  for (const chunk *c = p->first; c; c = c->next)
    for (u32 i = 0; i < c->len; i++) {
      const event *e = &c->events[i];
      if (e->device != device || e->kind != kind) continue;
      used[e->label->id] = true;
      put_event(&line, e, start);
    }
  put_message(plane, 3, &line);
  return true;
}

static void put_plane(PLUGIN_Profiler *p, i64 device, bool *used, buf *space) {
  char name[64];
  buf plane;
  bool any = false;
  memset(used, 0, (size_t)p->num_labels + 1);
  buf_init(&plane, &mem_system);
  proto_put_int(&plane, 1, (u64)(device - TRACE_HOST) + 1);
  int n = device == TRACE_HOST
              ? snprintf(name, sizeof name, "/device:CUSTOM:" API_PLATFORM_NAME ":host")
              : snprintf(name, sizeof name, "/device:CUSTOM:" API_PLATFORM_NAME ":%lld",
                         (long long)device);
  proto_put_bytes(&plane, 2, (str){name, (size_t)n});
  for (trace_kind k = 0; k < TRACE_KINDS_; k++) any |= put_line(p, device, k, used, &plane);
  for (size_t i = 0; i < p->labels.cap; i++) {
    const label *l = p->labels.slots[i].entry;
    if (l && used[l->id]) put_label(&plane, l);
  }
  put_stat_name(&plane, LOC_STAT, STR("source"));
  put_stat_name(&plane, OP_NAME_STAT, STR("tf_op"));
  if (any)
    put_message(space, 1, &plane);
  else
    buf_deinit(&plane);
}

static status find_data(PLUGIN_Profiler *p) {
  char text[96];
  p->data.len = 0;
  if (setjmp(p->trap.at)) return status_oom();
  bool *used = arena_zalloc(&p->memory, (size_t)p->num_labels + 1);
  for (i64 device = TRACE_HOST; device <= p->max_device; device++)
    put_plane(p, device, used, &p->data);
  if (p->num_lost) {
    int n = snprintf(text, sizeof text, "terrazzo: %llu events had no room",
                     (unsigned long long)p->num_lost);
    proto_put_bytes(&p->data, 3, (str){text, (size_t)n});
  }
  return buf_ok(&p->data) ? NULL : status_oom();
}

/* ---- the table ----
 *
 * Its errors are ours under another name. Callers do not fill in struct_size. */

static PLUGIN_Profiler_Error *error(status s) { return (PLUGIN_Profiler_Error *)api_error(s); }

static void error_destroy(PLUGIN_Profiler_Error_Destroy_Args *a) {
  PJRT_Error_Destroy_Args d = {.struct_size = PJRT_Error_Destroy_Args_END};
  d.error = (PJRT_Error *)a->error;
  api_error_destroy(&d);
}

static void error_message(PLUGIN_Profiler_Error_Message_Args *a) {
  PJRT_Error_Message_Args m = {.struct_size = PJRT_Error_Message_Args_END};
  m.error = (const PJRT_Error *)a->error;
  api_error_message(&m);
  a->message = m.message;
  a->message_size = m.message_size;
}

static PLUGIN_Profiler_Error *error_get_code(PLUGIN_Profiler_Error_GetCode_Args *a) {
  PJRT_Error_GetCode_Args c = {.struct_size = PJRT_Error_GetCode_Args_END};
  c.error = (const PJRT_Error *)a->error;
  api_error_get_code(&c);
  a->code = (int)c.code;
  return NULL;
}

static status check(const PLUGIN_Profiler *p) {
  return api_check_handle("PLUGIN_Profiler", "profiler", p, API_PROFILER);
}

static PLUGIN_Profiler_Error *create(PLUGIN_Profiler_Create_Args *a) {
  PLUGIN_Profiler *p = a->profiler = mem_zalloc(&mem_system, sizeof *p);
  if (!p) return error(status_oom());
  p->head = handle_begin(API_PROFILER);
  p->sink.span = record;
  p->max_device = TRACE_HOST;
  pthread_mutex_init(&p->lock, NULL);
  arena_init(&p->memory, &mem_system, &p->trap);
  buf_init(&p->data, &mem_system);
  return NULL;
}

static void set_running(PLUGIN_Profiler *p, bool on) {
  pthread_mutex_lock(&p->lock);
  if (on && !p->running) {
    p->to_wall = os_wall_ns() - os_now_ns();
    trace_add(&p->sink);
  }
  if (!on && p->running) trace_remove(&p->sink);
  p->running = on;
  pthread_mutex_unlock(&p->lock);
}

static PLUGIN_Profiler_Error *start(PLUGIN_Profiler_Start_Args *a) {
  status s = check(a->profiler);
  if (!s) set_running(a->profiler, true);
  return error(s);
}

static PLUGIN_Profiler_Error *stop(PLUGIN_Profiler_Stop_Args *a) {
  status s = check(a->profiler);
  if (!s) set_running(a->profiler, false);
  return error(s);
}

static PLUGIN_Profiler_Error *destroy(PLUGIN_Profiler_Destroy_Args *a) {
  PLUGIN_Profiler *p = a->profiler;
  bool ours;
  status s = api_check_end("PLUGIN_Profiler_Destroy", p, API_PROFILER, &ours);
  if (!ours) return error(s);
  set_running(p, false);
  handle_end(&p->head);
  buf_deinit(&p->data);
  arena_deinit(&p->memory);
  pthread_mutex_destroy(&p->lock);
  mem_free(&mem_system, p, sizeof *p);
  return NULL;
}

/* Without a buffer the caller gets ours, which lives as long as the profiler: XLA reads it there.
 * By its header it would call again with a buffer of its own to be filled. */
static PLUGIN_Profiler_Error *collect_data(PLUGIN_Profiler_CollectData_Args *a) {
  PLUGIN_Profiler *p = a->profiler;
  status s = check(p);
  if (s) return error(s);
  pthread_mutex_lock(&p->lock);
  if (p->running)
    s = status_make(STATUS_FAILED_PRECONDITION, "the profiler is running");
  else if (!a->buffer || !p->data.len)
    s = find_data(p);
  if (!s && a->buffer && p->data.len)
    memcpy(a->buffer, p->data.data, p->data.len);
  else if (!s)
    a->buffer = (uint8_t *)p->data.data;
  if (!s) a->buffer_size_in_bytes = p->data.len;
  pthread_mutex_unlock(&p->lock);
  return error(s);
}

const PLUGIN_Profiler_Api api_profiler = {
    .struct_size = PLUGIN_Profiler_Api_END,
    .error_destroy = error_destroy,
    .error_message = error_message,
    .error_get_code = error_get_code,
    .create = create,
    .destroy = destroy,
    .start = start,
    .stop = stop,
    .collect_data = collect_data,
};
