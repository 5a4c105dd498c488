/* A program for other viewers: its graph as Model Explorer reads it, and an estimated run as
 * Chrome's trace viewer and Perfetto do. */
#include <inttypes.h>
#include <stdlib.h>

#include "explain/explain.h"
#include "mesh/describe.h"
#include "program/program.h"

/* ---- the graph ---- */

static void put_pair(buf *b, const char *key, str value, bool *any) {
  if (!value.len) return;
  buf_printf(b, "%s{\"key\":\"%s\",\"value\":", *any ? "," : "", key);
  json_string(b, value);
  BUF_LIT(b, "}");
  *any = true;
}

/* The scopes around an op: what stands before its own name. */
static str scopes_of(str what) {
  size_t end = what.len;
  int depth = 0;
  while (end > 0 && (what.data[end - 1] != '/' || depth)) {
    char c = what.data[--end];
    depth += c == ')' ? 1 : c == '(' ? -1 : 0;
  }
  return (str){what.data, end ? end - 1 : 0};
}

/* "main/jit(f)/layer0"; an op without scopes is where what it is inside of is. */
static str place_in(const why_log *w, arena *a, u32 op) {
  str scopes = scopes_of(w->ops.data[op].what), function = {0};
  u32 at = w->ops.data[op].parent;
  for (; at && !w->ops.data[at].symbol.len; at = w->ops.data[at].parent)
    if (!scopes.len) scopes = scopes_of(w->ops.data[at].what);
  function = w->ops.data[at].symbol;
  if (!function.len || !scopes.len) return function.len ? function : scopes;
  return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(function), STR_ARG(scopes));
}

static void put_edges(buf *b, const why_log *w, const why_op *o) {
  bool any = false;
  BUF_LIT(b, ",\"incomingEdges\":[");
  for (u32 i = 0; i < o->num_operands; i++) {
    why_place p = w->operands.data[o->operands + i];
    bool argument = p.at == WHY_INSIDE && w->ops.data[p.op].main;
    if (p.at != WHY_RESULT && !argument) continue;
    buf_printf(b, "%s{\"sourceNodeId\":\"%s%u\",\"sourceNodeOutputId\":\"%u\",", any ? "," : "",
               argument ? "arg" : "", argument ? p.index : p.op, argument ? 0 : p.index);
    buf_printf(b, "\"targetNodeInputId\":\"%u\"}", i);
    any = true;
  }
  BUF_LIT(b, "]");
}

static void put_output(buf *b, u32 index, str type, str sharding, bool first) {
  bool any = false;
  buf_printf(b, "%s{\"id\":\"%u\",\"attrs\":[", first ? "" : ",", index);
  put_pair(b, "tensor_shape", type, &any);
  put_pair(b, "sharding", sharding, &any);
  BUF_LIT(b, "]}");
}

static void put_head(buf *b, const char *prefix, u32 id, str label, str within) {
  buf_printf(b, "{\"id\":\"%s%u\",\"label\":", prefix, id);
  json_string(b, label);
  BUF_LIT(b, ",\"namespace\":");
  json_string(b, within);
}

/* How many collectives serve an op, and what they send. */
typedef struct sending {
  u32 last; /* the number of the latest of them */
  u64 count, bytes;
} sending;

static sending *add_sends(const explain_run *r, arena *a) {
  sending *of = arena_zalloc(a, (r->log.ops.len + 1) * sizeof *of);
  for (u32 i = 0; i < r->collectives.len; i++) {
    const explain_collective *c = &r->collectives.data[i];
    for (size_t k = 0; k < c->tags.len; k++) {
      sending *s = &of[c->tags.data[k].op];
      if (s->last == i + 1) continue;
      s->last = i + 1;
      s->count++;
      s->bytes += c->bytes * c->trips;
    }
  }
  return of;
}

static void put_node(buf *b, explain_run *r, u32 op, const sending *s, size_t *value) {
  const why_log *w = &r->log;
  const why_op *o = &w->ops.data[op];
  arena *a = &r->log.a;
  bool any = false, first = true;
  put_head(b, "", op, o->name, place_in(w, a, op));
  BUF_LIT(b, ",\"attrs\":[");
  put_pair(b, "name", o->what, &any);
  put_pair(b, "function", o->frames, &any);
  put_pair(b, "annotated", o->constraint, &any);
  if (o->pos.file.len)
    put_pair(b, "source", arena_printf(a, STR_FMT ":%u", STR_ARG(o->pos.file), o->pos.line), &any);
  if (s->count) {
    put_pair(b, "collectives", arena_printf(a, "%" PRIu64, s->count), &any);
    put_pair(b, "bytes_sent", arena_printf(a, "%" PRIu64, s->bytes), &any);
  }
  BUF_LIT(b, "]");
  put_edges(b, w, o);
  BUF_LIT(b, ",\"outputsMetadata\":[");
  for (; *value < w->values.len && w->values.data[*value].at.op <= op; ++*value, first = false) {
    const why_value *v = &w->values.data[*value];
    if (v->at.op == op) put_output(b, v->at.index, v->type, v->sharding, first);
  }
  BUF_LIT(b, "]}");
}

static int by_op(const void *a, const void *b) {
  why_place x = ((const why_value *)a)->at, y = ((const why_value *)b)->at;
  if (x.op != y.op) return x.op < y.op ? -1 : 1;
  return x.index < y.index ? -1 : x.index > y.index;
}

void explain_put_graph(explain_run *r, buf *out) {
  why_log *w = &r->log;
  BUF_LIT(out, "{\"label\":");
  json_string(out, r->source->file);
  BUF_LIT(out, ",\"graphs\":[{\"id\":\"main\",\"nodes\":[");
  for (u32 i = 0; i < w->args.len; i++) {
    const why_border *x = &w->args.data[i];
    str after = i < r->exe->num_params ? r->exe->params[i].sharding : x->sharding;
    str name = x->name.len ? x->name : arena_printf(&w->a, "argument %u", i);
    if (i) BUF_LIT(out, ",\n");
    put_head(out, "arg", i, name, STR("main/arguments"));
    BUF_LIT(out, ",\"attrs\":[],\"incomingEdges\":[],\"outputsMetadata\":[");
    put_output(out, 0, x->type, after, true);
    BUF_LIT(out, "]}");
  }
  if (w->values.len) qsort(w->values.data, w->values.len, sizeof *w->values.data, by_op);
  const sending *sends = add_sends(r, &w->a);
  size_t value = 0;
  bool any = w->args.len > 0;
  for (u32 op = 1; op < w->ops.len; op++) {
    const why_op *o = &w->ops.data[op];
    if (o->symbol.len && !str_is(o->name, "func.call")) continue; /* functions, meshes */
    if (any) BUF_LIT(out, ",\n");
    put_node(out, r, op, &sends[op], &value);
    any = true;
  }
  BUF_LIT(out, "]}]}\n");
}

/* ---- the run ---- */

typedef struct timeline {
  explain_run *r;
  const topology *links;
  buf *b;
  double now;      /* seconds */
  size_t next;     /* the collectives before it have been met */
  const char *gap; /* before the next event */
} timeline;

static void put_event(timeline *t, const prog_step *s, u32 track, double seconds) {
  str name = s->op_name.len ? s->op_name : s->name;
  buf_printf(t->b,
             "%s{\"ph\":\"X\",\"pid\":0,\"tid\":%u,\"ts\":%.4f,\"dur\":%.4f,\"name\":", t->gap,
             track, t->now * 1e6, seconds * 1e6);
  json_string(t->b, name);
  BUF_LIT(t->b, ",\"args\":{\"op\":");
  json_string(t->b, s->name);
  BUF_LIT(t->b, ",\"location\":");
  json_string(t->b, s->loc);
  t->gap = ",\n";
  t->now += seconds;
}

/* Steps meet in the order of the module's collectives, but for what a link answers by itself. */
static const explain_collective *meet(timeline *t, const prog_step *s) {
  const char *kind = prog_collective_name(s->u.collective_->kind);
  for (size_t i = t->next; i < t->r->collectives.len; i++)
    if (str_is(t->r->collectives.data[i].kind, kind)) {
      t->next = i + 1;
      return &t->r->collectives.data[i];
    }
  return NULL;
}

static void put_step(timeline *t, const prog_step *s) {
  const explain_collective *c = s->kind == STEP_collective ? meet(t, s) : NULL;
  if (c) {
    str link;
    double seconds = comms_seconds(t->links, c, &link);
    put_event(t, s, 1, seconds);
    BUF_LIT(t->b, ",\"link\":");
    json_string(t->b, link);
    BUF_LIT(t->b, ",\"along\":");
    json_string(t->b, c->axes);
    buf_printf(t->b, ",\"bytes\":%" PRIu64 ",\"times\":%" PRIu64 "}}", c->bytes, c->trips);
    return;
  }
  program_cost cost = {0};
  program_add_cost(t->r->exe->prog, s, &cost);
  double seconds = 0, moving = 0;
  if (t->links->flops > 0) seconds = (cost.flops + cost.transcendentals) / t->links->flops;
  if (t->links->memory > 0) moving = cost.bytes / t->links->memory;
  if (moving > seconds) seconds = moving;
  if (seconds <= 0) return;
  put_event(t, s, 0, seconds);
  buf_printf(t->b, ",\"flops\":%.6g,\"bytes\":%.6g}}", cost.flops, cost.bytes);
}

void explain_put_timeline(explain_run *r, const topology *links, buf *out) {
  static const char *const tracks[] = {"compute", "collectives"};
  timeline t = {.r = r, .links = links, .b = out, .gap = ",\n"};
  BUF_LIT(out,
          "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
          "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"each device, "
          "estimated\"}}");
  for (u32 i = 0; i < COUNT(tracks); i++)
    buf_printf(out,
               ",\n{\"ph\":\"M\",\"pid\":0,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":"
               "\"%s\"}}",
               i, tracks[i]);
  const program *p = r->exe->prog;
  for (u32 i = 0; i < p->num_steps; i++) put_step(&t, &p->steps[i]);
  BUF_LIT(out, "\n]}\n");
}
