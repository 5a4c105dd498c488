/* One run of the line, and what of it outlives it. */
#include "explain/explain.h"

#include <pthread.h>

#include "partition/wire.h"

typedef struct asking {
  explain_run *run;
  const explain_edit *edits;
  size_t num_edits;
  bool whole;
} asking;

static bool change(void *user, ir_module *m) {
  asking *a = user;
  const explain_source *s = a->run->source;
  return explain_apply(&a->run->log, m, a->edits, a->num_edits) &&
         (!s->change || s->change(s->user, &a->run->log, m));
}

static str kind_of(const op *o) {
  str name = o->info->name;
  size_t dot = 0;
  while (dot < name.len && name.data[dot] != '.') dot++;
  return (str){name.data + dot + 1, name.len - dot - 1};
}

/* The groups that meet, or the pairs. */
static void note_devices(arena *a, const op *o, explain_collective *c) {
  const dense_attr *d = attr_as(dense, op_attr(o, SLOT_NAME(replica_groups)));
  if (!d) d = attr_as(dense, op_attr(o, SLOT_NAME(source_target_pairs)));
  i64s dims = d ? d->type->dims : (i64s){0};
  if (dims.len != 2) return;
  size_t n = (size_t)(dims.data[0] * dims.data[1]);
  i64 *ids = ARENA_ARRAY(a, i64, n + 1);
  for (size_t i = 0; i < n; i++) ids[i] = attr_dense_int(&d->base, i);
  c->devices = (i64s){ids, n};
  c->row = (u32)dims.data[1];
}

static void list(arena *to, ir_module *m, const why_log *w, explain_collectives *out) {
  wire_uses uses = wire_list(to, m);
  for (size_t i = 0; i < uses.len; i++) {
    const wire_use *u = &uses.data[i];
    explain_collective c = {.kind = arena_str(to, kind_of(u->op)),
                            .axes = u->axes,
                            .group = u->group,
                            .bytes = u->bytes,
                            .trips = u->trips,
                            .unknown = u->unknown,
                            .asked = u->asked,
                            .beside = u->beside};
    if (w) c.tags = why_read(w, to, u->op->loc);
    note_devices(to, u->op, &c);
    VEC_PUSH(to, *out, c);
  }
}

explain_collectives explain_list(arena *a, ir_module *m) {
  explain_collectives out = {0};
  list(a, m, NULL, &out);
  return out;
}

static bool partitioned(void *user, ir_module *m, str remarks) {
  asking *a = user;
  explain_run *r = a->run;
  r->remarks = arena_str(&r->log.a, remarks);
  list(&r->log.a, m, &r->log, &r->collectives);
  for (size_t i = 0; i < r->collectives.len; i++)
    r->bytes += r->collectives.data[i].bytes * r->collectives.data[i].trips;
  const explain_source *s = r->source;
  if (s->plant && !s->plant(s->user, &r->log, m)) return false;
  return a->whole;
}

status explain_line(const explain_source *s, const explain_edit *edits, size_t num_edits,
                    bool whole, explain_run *out) {
  memset(out, 0, sizeof *out);
  out->source = s;
  why_init(&out->log, &mem_system);
  asking a = {out, edits, num_edits, whole};
  compile_options c = {.file = s->file,
                       .num_partitions = s->devices,
                       .mesh_overrides = s->meshes,
                       .overrides_said = s->meshes_said,
                       .choose_from = s->as_propagated ? UINT64_MAX : 0,
                       .partitioned = partitioned,
                       .partitioned_user = &a,
                       .why = &out->log,
                       .edit = num_edits || s->change ? change : NULL,
                       .edit_user = &a};
  status result = compile_source(s->text, &c, &out->exe);
  out->log.a.trap = s->trap;
  return result;
}

typedef struct second_line {
  const explain_source *source;
  explain_run *run;
  status result;
} second_line;

static void *run_second(void *user) {
  second_line *s = user;
  s->result = explain_line(s->source, NULL, 0, true, s->run);
  return NULL;
}

status explain_both(const explain_source *a, const explain_source *b, explain_run *out_a,
                    explain_run *out_b) {
  second_line second = {b, out_b};
  pthread_t thread;
  bool runs = pthread_create(&thread, NULL, run_second, &second) == 0;
  status first = explain_line(a, NULL, 0, true, out_a);
  if (runs)
    pthread_join(thread, NULL);
  else
    run_second(&second);
  if (first) status_free(second.result);
  return first ? first : second.result;
}

void explain_end(explain_run *r) {
  executable_release(r->exe);
  arena_deinit(&r->log.a);
}
