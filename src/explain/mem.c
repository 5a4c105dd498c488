/* What memory a device needs, and what is in it when it needs most. */
#include "explain/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "explain/alike.h"
#include "mesh/describe.h"
#include "program/parts.h"

typedef struct life {
  u32 first, last; /* PROG_NONE: never */
} life;

typedef struct watching {
  explain_run *r;
  const program *p;
  mem_answer *m;
  life *lives;
  u32 *alive, num_alive; /* slots of the workspace */
  bool *is_alive;
  u64 bytes; /* alive */
  u32 step;
} watching;

/* ---- over time ---- */

static u64 padded(const prog_slot *s) { return (prog_slot_bytes(s) + 63) & ~(u64)63; }

static bool overlap(const prog_slot *a, const prog_slot *b) {
  return a->offset < b->offset + padded(b) && b->offset < a->offset + padded(a);
}

/* Takes those out that are not alive any longer. */
static void sweep(watching *w) {
  u32 n = 0;
  w->bytes = 0;
  for (u32 i = 0; i < w->num_alive; i++) {
    if (!w->is_alive[w->alive[i]]) continue;
    w->bytes += padded(&w->p->slots[w->alive[i]]);
    w->alive[n++] = w->alive[i];
  }
  w->num_alive = n;
}

/* What lay where a slot is written now is over, or gave its memory to it. */
static void be_born(watching *w, u32 slot) {
  const prog_slot *s = &w->p->slots[slot];
  for (u32 i = 0; i < w->num_alive; i++)
    if (overlap(&w->p->slots[w->alive[i]], s)) w->is_alive[w->alive[i]] = false;
  w->is_alive[slot] = true;
  w->alive[w->num_alive++] = slot;
  sweep(w);
}

static void touch(void *user, u32 *slot, slot_use use) {
  watching *w = user;
  (void)use;
  prog_slot_kind kind = w->p->slots[*slot].kind;
  if (kind == SLOT_STRIP || kind == SLOT_VIEW) return; /* a worker's scratch; another's memory */
  life *l = &w->lives[*slot];
  if (l->first == PROG_NONE) l->first = w->step;
  l->last = w->step;
  const prog_slot *s = &w->p->slots[*slot];
  if (s->kind == SLOT_WORK && s->alias < 0 && !w->is_alive[*slot]) be_born(w, *slot);
}

static void bury(watching *w, const prog_deaths *d, u32 t) {
  if (d->begin[t] == d->begin[t + 1]) return;
  for (u32 k = d->begin[t]; k < d->begin[t + 1]; k++) w->is_alive[d->slots[k]] = false;
  sweep(w);
}

/* ---- names ---- */

/* file:line:col */
static diag_pos read_loc(str loc) {
  diag_pos p = {0};
  u32 *const numbers[] = {&p.col, &p.line};
  size_t end = loc.len;
  for (int k = 0; k < 2; k++) {
    u32 unit = 1;
    for (; end && loc.data[end - 1] != ':'; end--, unit *= 10)
      *numbers[k] += unit * (u32)(loc.data[end - 1] - '0');
    end -= end > 0;
  }
  p.file = (str){loc.data, end};
  return p;
}

static bool same_pos(diag_pos a, diag_pos b) {
  return a.line == b.line && a.col == b.col && str_eq(a.file, b.file);
}

/* What the source's op at a step's place gave; by name too where several stand there. */
static const why_value *value_of_step(watching *w, const prog_step *s) {
  const why_log *l = &w->r->log;
  const why_value *found = NULL;
  diag_pos pos = read_loc(s->loc);
  for (size_t i = 0; s->loc.len && i < l->values.len; i++) {
    const why_value *v = &l->values.data[i];
    const why_op *o = &l->ops.data[v->at.op];
    if (v->at.at != WHY_RESULT || !same_pos(o->pos, pos) || !str_eq(o->what, s->op_name)) continue;
    if (str_eq(o->name, s->name)) return v;
    if (!found) found = v;
  }
  return found;
}

static str border_name(const explain_run *r, const prog_slot *s) {
  bool argument = s->kind == SLOT_PARAM;
  size_t n = argument ? r->log.args.len : r->log.results.len;
  const why_border *list = argument ? r->log.args.data : r->log.results.data;
  return s->index < n ? list[s->index].name : (str){0};
}

static mem_buffer describe(watching *w, u32 slot) {
  static const u8 kinds[] = {[SLOT_PARAM] = MEM_ARGUMENT,
                             [SLOT_RESULT] = MEM_RESULT,
                             [SLOT_WORK] = MEM_WORK,
                             [SLOT_CONST] = MEM_CONSTANT,
                             [SLOT_STRIP] = MEM_WORK,
                             [SLOT_VIEW] = MEM_WORK};
  const prog_slot *s = &w->p->slots[slot];
  const executable *e = w->r->exe;
  life l = w->lives[slot];
  mem_buffer b = {.kind = kinds[s->kind],
                  .index = s->index,
                  .bytes = prog_slot_bytes(s),
                  .type = str_of(dtype_infos[s->type].name),
                  .first = l.first == PROG_NONE ? 0 : l.first,
                  .last = l.last};
  if (s->kind == SLOT_PARAM) b.sharding = e->params[s->index].sharding;
  if (s->kind == SLOT_RESULT) b.sharding = e->results[s->index].sharding;
  if (s->kind == SLOT_PARAM || s->kind == SLOT_RESULT) b.name = border_name(w->r, s);
  if (s->kind == SLOT_PARAM || l.first == PROG_NONE) return b;
  const prog_step *by = &w->p->steps[l.first];
  const why_value *v = s->kind == SLOT_WORK ? value_of_step(w, by) : NULL;
  b.made_by = by->name;
  b.loc = by->loc;
  if (s->kind == SLOT_WORK) b.name = by->op_name;
  if (v) b.sharding = v->sharding;
  return b;
}

static int largest_first(const void *a, const void *b) {
  const mem_buffer *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  if (x->kind != y->kind) return (int)x->kind - (int)y->kind;
  return x->first < y->first ? -1 : x->first > y->first;
}

/* ---- the answer ---- */

static void add_up(mem_answer *m, const program *p) {
  for (u32 i = 0; i < p->num_slots; i++) {
    const prog_slot *s = &p->slots[i];
    u64 bytes = prog_slot_bytes(s);
    if (s->kind == SLOT_PARAM) m->arguments += bytes;
    if (s->kind == SLOT_RESULT) *(s->alias < 0 ? &m->results : &m->donated) += bytes;
    if (s->kind == SLOT_CONST) m->constants += bytes;
  }
  m->workspace = p->workspace;
  m->total = m->arguments + m->results + m->workspace;
}

u64 explain_total(const program *p) {
  mem_answer m = {0};
  add_up(&m, p);
  return m.total;
}

/* Twice through the steps: to find the peak, and to see what is there at it. */
static void pass(watching *w, const prog_deaths *d, bool find) {
  const program *p = w->p;
  w->num_alive = 0;
  w->bytes = 0;
  memset(w->is_alive, 0, p->num_slots);
  for (w->step = 0; w->step < p->num_steps; w->step++) {
    prog_step copy = p->steps[w->step]; /* touch changes nothing */
    prog_step_slots(&copy, touch, w);
    if (!find && w->step == w->m->peak_step) return;
    if (find && (w->m->over_time[w->step] = w->bytes) > w->m->peak) {
      w->m->peak = w->bytes;
      w->m->peak_step = w->step;
    }
    bury(w, d, w->step);
  }
}

mem_answer explain_mem(explain_run *r) {
  const program *p = r->exe->prog;
  arena *a = &r->log.a;
  mem_answer m = {.devices = program_num_devices(p), .num_steps = p->num_steps};
  watching w = {r, p, &m};
  w.lives = ARENA_ARRAY(a, life, p->num_slots + 1);
  for (u32 i = 0; i < p->num_slots; i++) w.lives[i] = (life){PROG_NONE, 0};
  w.alive = ARENA_ARRAY(a, u32, p->num_slots + 1);
  w.is_alive = arena_zalloc(a, p->num_slots + 1);
  m.over_time = arena_zalloc(a, (p->num_steps + 1) * sizeof(u64));
  add_up(&m, p);
  prog_deaths d = prog_find_deaths(a, p);
  pass(&w, &d, true);
  pass(&w, &d, false);
  if (p->num_steps) {
    m.peak_name = p->steps[m.peak_step].name;
    m.peak_loc = p->steps[m.peak_step].loc;
  }
  for (u32 i = 0; i < w.num_alive; i++) VEC_PUSH(a, m.alive, describe(&w, w.alive[i]));
  for (u32 i = 0; i < p->num_slots; i++) {
    const prog_slot *s = &p->slots[i];
    if (s->kind == SLOT_PARAM || (s->kind == SLOT_RESULT && s->alias < 0))
      VEC_PUSH(a, m.alive, describe(&w, i));
  }
  if (m.alive.len) qsort(m.alive.data, m.alive.len, sizeof *m.alive.data, largest_first);
  return m;
}

/* ---- for people ---- */

static const char *const kind_words[] = {"argument", "result", "temporary", "constant"};

static void put_row(buf *b, const char *what, u64 bytes) {
  buf_printf(b, "%-12s", what);
  explain_put_bytes(b, bytes);
  buf_printf(b, " (%" PRIu64 ")\n", bytes);
}

static void put_buffer(buf *b, const why_log *w, const mem_buffer *x) {
  buf_printf(b, "  ");
  explain_put_bytes(b, x->bytes);
  buf_printf(b, " %s %s", x->type.data, kind_words[x->kind]);
  if (x->kind == MEM_ARGUMENT || x->kind == MEM_RESULT) buf_printf(b, " %u", x->index);
  if (x->name.len) buf_printf(b, " '" STR_FMT "'", STR_ARG(x->name));
  if (x->made_by.len && x->kind == MEM_WORK) buf_printf(b, " of " STR_FMT, STR_ARG(x->made_by));
  if (x->loc.len && x->kind == MEM_WORK) buf_printf(b, " at " STR_FMT, STR_ARG(x->loc));
  if (x->sharding.len) BUF_LIT(b, ", ");
  explain_put_sharding(b, w, x->sharding);
}

/* Layers' buffers are alike. */
static void put_buffers(buf *b, why_log *w, const mem_answer *m, u32 most) {
  alike_texts rows = {0};
  buf one;
  buf_init(&one, &mem_system);
  for (size_t i = 0; i < m->alive.len; i++) {
    one.len = 0;
    put_buffer(&one, w, &m->alive.data[i]);
    str text = buf_view(&one);
    u64 bytes = m->alive.data[i].bytes, key = hash_u64(bytes, alike_key(text));
    alike_add(&w->a, &rows, (alike_text){.key = key, .text = text, .count = 1, .bytes = bytes});
  }
  buf_deinit(&one);
  for (size_t i = 0; i < rows.len && i < most; i++) {
    const alike_text *x = &rows.data[i];
    buf_str(b, x->text);
    if (x->count > 1) {
      buf_printf(b, "; %u alike, ", x->count);
      explain_put_bytes(b, x->bytes);
    }
    BUF_LIT(b, "\n");
  }
  if (rows.len > most) buf_printf(b, "  and %zu more\n", rows.len - most);
}

static void put_text(buf *b, why_log *w, const mem_answer *m, u32 most) {
  buf_printf(b, "of each of %u devices:\n", m->devices);
  put_row(b, "arguments", m->arguments);
  put_row(b, "results", m->results);
  put_row(b, "workspace", m->workspace);
  put_row(b, "in all", m->total);
  if (m->donated) put_row(b, "donated", m->donated);
  put_row(b, "constants", m->constants);
  if (!m->num_steps) return;
  BUF_LIT(b, "peak of the workspace: ");
  explain_put_bytes(b, m->peak);
  buf_printf(b, " alive at step %u of %u, " STR_FMT, m->peak_step, m->num_steps,
             STR_ARG(m->peak_name));
  if (m->peak_loc.len) buf_printf(b, " at " STR_FMT, STR_ARG(m->peak_loc));
  BUF_LIT(b, "\nthen there are\n");
  put_buffers(b, w, m, most);
}

/* ---- JSON ---- */

static void json_buffer(buf *b, const mem_buffer *x) {
  buf_printf(b, "{\"kind\": \"%s\", \"index\": %u, \"bytes\": %" PRIu64 ", \"type\": \"%s\"",
             kind_words[x->kind], x->index, x->bytes, x->type.data);
  const struct {
    const char *key;
    str text;
  } rows[] = {
      {"name", x->name}, {"sharding", x->sharding}, {"op", x->made_by}, {"location", x->loc}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    buf_printf(b, ", \"%s\": ", rows[i].key);
    json_string(b, rows[i].text);
  }
  buf_printf(b, ", \"first\": %u, \"last\": %u}", x->first, x->last);
}

static void put_json(buf *b, const mem_answer *m) {
  buf_printf(b,
             "{\"devices\": %u, \"arguments\": %" PRIu64 ", \"results\": %" PRIu64
             ", \"donated\": %" PRIu64 ", \"workspace\": %" PRIu64 ", \"constants\": %" PRIu64
             ", \"total\": %" PRIu64 ", \"peak\": %" PRIu64 ", \"peak_step\": %u, \"steps\": %u",
             m->devices, m->arguments, m->results, m->donated, m->workspace, m->constants, m->total,
             m->peak, m->peak_step, m->num_steps);
  BUF_LIT(b, ",\n\"alive\": [");
  for (size_t i = 0; i < m->alive.len; i++) {
    if (i) BUF_LIT(b, ",\n");
    json_buffer(b, &m->alive.data[i]);
  }
  BUF_LIT(b, "],\n\"over_time\": [");
  for (u32 i = 0; i < m->num_steps; i++)
    buf_printf(b, "%s%" PRIu64, i ? ", " : "", m->over_time[i]);
  BUF_LIT(b, "]}\n");
}

void explain_mem_print(explain_run *r, const mem_answer *m, bool json, u32 most, buf *out) {
  if (json)
    put_json(out, m);
  else
    put_text(out, &r->log, m, most);
}
