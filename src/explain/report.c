/* A report: the page of explain/page with everything that the other answers know, as one object.
 *
 * Ops are columns of numbers by the log's numbers, text is kept once and referred to by number: a
 * page of 20,000 ops is to open at once. A place of a value is three numbers: where (why_at), op,
 * index. page/data.js reads it. */
#include <inttypes.h>

#include "explain/explain.h"
#include "explain/page.h"
#include "mesh/describe.h"

typedef struct text_entry {
  str text;
  u32 number;
} text_entry;

typedef struct writer {
  explain_run *r;
  const why_log *w;
  arena *a;
  buf *b;
  hash_index known;
  VEC(str) texts;
} writer;

/* ---- pieces ---- */

static u32 number_of(writer *j, str s) {
  u64 h = hash_bytes(s.data, s.len, 0);
  text_entry *e;
  for (size_t at = 0; (e = index_next(&j->known, h, &at));)
    if (str_eq(e->text, s)) return e->number;
  e = ARENA_NEW(j->a, text_entry);
  *e = (text_entry){arena_str(j->a, s), (u32)j->texts.len};
  index_add(&j->known, j->a, h, e);
  VEC_PUSH(j->a, j->texts, e->text);
  return e->number;
}

static void put_text(writer *j, const char *key, str s) {
  buf_printf(j->b, ",\"%s\":%u", key, number_of(j, s));
}

static void put_place(writer *j, why_place p) {
  buf_printf(j->b, "[%u,%u,%u]", (u32)p.at, p.op, p.index);
}

/* One column of a table of n rows. */
typedef u64 cell_fn(writer *j, size_t row);
typedef struct column {
  const char *name;
  cell_fn *cell;
} column;

static void put_table(writer *j, const char *name, const column *columns, size_t num, size_t n) {
  buf_printf(j->b, "\"%s\":{", name);
  for (size_t c = 0; c < num; c++) {
    buf_printf(j->b, "%s\"%s\":[", c ? "," : "", columns[c].name);
    for (size_t i = 0; i < n; i++)
      buf_printf(j->b, "%s%" PRIu64, i ? "," : "", columns[c].cell(j, i));
    BUF_LIT(j->b, "]");
  }
  BUF_LIT(j->b, "},\n");
}

/* ---- the program ---- */

static u64 op_name(writer *j, size_t i) { return number_of(j, j->w->ops.data[i].name); }
static u64 op_what(writer *j, size_t i) { return number_of(j, j->w->ops.data[i].what); }
static u64 op_file(writer *j, size_t i) { return number_of(j, j->w->ops.data[i].pos.file); }
static u64 op_line(writer *j, size_t i) { return j->w->ops.data[i].pos.line; }
static u64 op_column(writer *j, size_t i) { return j->w->ops.data[i].pos.col; }
static u64 op_parent_of(writer *j, size_t i) { return j->w->ops.data[i].parent; }
static u64 op_symbol(writer *j, size_t i) { return number_of(j, j->w->ops.data[i].symbol); }
static u64 op_says(writer *j, size_t i) { return number_of(j, j->w->ops.data[i].constraint); }
static u64 op_frames(writer *j, size_t i) { return number_of(j, j->w->ops.data[i].frames); }
static u64 op_uses(writer *j, size_t i) { return j->w->ops.data[i].num_operands; }
static const column op_columns[] = {
    {"name", op_name},     {"what", op_what},        {"file", op_file}, {"line", op_line},
    {"column", op_column}, {"parent", op_parent_of}, {"uses", op_uses}, {"symbol", op_symbol},
    {"says", op_says},     {"frames", op_frames}};

static u64 use_at(writer *j, size_t i) { return j->w->operands.data[i].at; }
static u64 use_op(writer *j, size_t i) { return j->w->operands.data[i].op; }
static u64 use_index(writer *j, size_t i) { return j->w->operands.data[i].index; }
static const column use_columns[] = {{"at", use_at}, {"op", use_op}, {"index", use_index}};

static u64 value_op_of(writer *j, size_t i) { return j->w->values.data[i].at.op; }
static u64 value_index(writer *j, size_t i) { return j->w->values.data[i].at.index; }
static u64 value_type(writer *j, size_t i) { return number_of(j, j->w->values.data[i].type); }
static u64 value_cut(writer *j, size_t i) { return number_of(j, j->w->values.data[i].sharding); }
static u64 value_bytes(writer *j, size_t i) { return j->w->values.data[i].bytes; }
static const column value_columns[] = {{"op", value_op_of},
                                       {"index", value_index},
                                       {"type", value_type},
                                       {"sharding", value_cut},
                                       {"bytes", value_bytes}};

static void put_border(writer *j, const char *name, const why_border *list, size_t n,
                       const compile_tensor *after, u32 num_after) {
  buf_printf(j->b, "\"%s\":[", name);
  for (size_t i = 0; i < n; i++) {
    const why_border *x = &list[i];
    buf_printf(j->b, "%s{\"donated\":%d", i ? ",\n" : "", x->donated);
    put_text(j, "name", x->name);
    put_text(j, "type", x->type);
    put_text(j, "before", x->sharding);
    put_text(j, "after", i < num_after ? after[i].sharding : x->sharding);
    put_text(j, "file", x->pos.file);
    buf_printf(j->b, ",\"line\":%u}", x->pos.line);
  }
  BUF_LIT(j->b, "],\n");
}

static void put_meshes(writer *j) {
  BUF_LIT(j->b, "\"meshes\":[");
  for (size_t i = 0; i < j->w->meshes.len; i++) {
    const why_mesh *m = &j->w->meshes.data[i];
    buf_printf(j->b, "%s{\"axes\":[", i ? "," : "");
    for (size_t k = 0; k < m->axes.len; k++)
      buf_printf(j->b, "%s[%u,%" PRId64 "]", k ? "," : "", number_of(j, m->axes.data[k]),
                 m->sizes.data[k]);
    BUF_LIT(j->b, "]");
    put_text(j, "name", m->name);
    BUF_LIT(j->b, "}");
  }
  BUF_LIT(j->b, "],\n");
}

/* ---- collectives ---- */

static void put_chain(writer *j, const why_chain *c) {
  size_t n = c->events.len, skipped = n > EXPLAIN_SHOWN ? n - EXPLAIN_SHOWN : 0;
  buf_printf(j->b, ",\"skipped\":%zu,\"steps\":[", skipped);
  for (size_t i = 0; i < n; i++) {
    if (skipped && i == EXPLAIN_SHOWN / 2) i += skipped;
    const why_event *e = &j->w->events.data[c->events.data[i]];
    buf_printf(j->b, "%s[%u,%u,%u,%u,%d,%" PRId64 "]", i ? "," : "", (u32)e->from.at, e->from.op,
               e->from.index, e->op, e->edge, e->user_priority);
  }
  BUF_LIT(j->b, "],\"root\":");
  put_place(j, c->root);
  put_text(j, "rooted", str_of(explain_root_words(c->kind)));
  put_text(j, "says", c->says);
  buf_printf(j->b, ",\"by\":%u", c->by);
}

static void put_part(writer *j, const explain_collective *c, const why_part *p) {
  buf words;
  buf_init(&words, &mem_system);
  explain_put_reason(&words, j->w, c, p->tag);
  buf_printf(j->b, "{\"op\":%u", p->tag.op);
  put_text(j, "because", buf_view(&words));
  buf_deinit(&words);
  BUF_LIT(j->b, ",\"axes\":[");
  for (size_t i = 0; i < p->causes.len; i++) {
    const why_axis *x = &p->causes.data[i].axis;
    buf_printf(j->b, "%s{\"from\":%d,\"to\":%d", i ? "," : "", x->from_dim, x->to_dim);
    put_text(j, "axis", why_axis_text(j->a, x->axis, x->pre, x->size, x->whole));
    BUF_LIT(j->b, ",\"of\":");
    put_place(j, x->holder);
    put_chain(j, &p->causes.data[i].chain);
    BUF_LIT(j->b, "}");
  }
  BUF_LIT(j->b, "]}");
}

static void put_fixes(writer *j, const why_answer *a) {
  BUF_LIT(j->b, "],\"tried\":[");
  for (size_t i = 0; i < a->fixes.len && a->fixes.data[i].bytes < j->r->bytes; i++) {
    buf words;
    buf_init(&words, &mem_system);
    explain_put_edits(&words, j->w, &a->fixes.data[i]);
    buf_printf(j->b, "%s{\"bytes\":%" PRIu64, i ? "," : "", a->fixes.data[i].bytes);
    put_text(j, "change", buf_view(&words));
    buf_deinit(&words);
    BUF_LIT(j->b, "}");
  }
  BUF_LIT(j->b, "]}");
}

static status put_collective(writer *j, const report_question *q, u32 number) {
  why_answer a = explain_why(j->r, number);
  const explain_collective *c = a.c;
  if (q->tries) RETURN_IF_ERROR(explain_fix(j->r, &a, q->tries));
  buf_printf(j->b, "%s{\"devices\":%u,\"bytes\":%" PRIu64 ",\"times\":%" PRIu64 ",\"known\":%d",
             number > 1 ? ",\n" : "", c->group, c->bytes, c->trips, !c->unknown);
  put_text(j, "kind", c->kind);
  put_text(j, "along", c->axes);
  if (q->links) {
    str link;
    buf_printf(j->b, ",\"seconds\":%.6g", comms_seconds(q->links, c, &link));
    put_text(j, "link", link);
  }
  BUF_LIT(j->b, ",\"parts\":[");
  for (size_t i = 0; i < a.parts.len; i++) {
    if (i) BUF_LIT(j->b, ",");
    put_part(j, c, &a.parts.data[i]);
  }
  put_fixes(j, &a);
  return NULL;
}

/* ---- the other answers ---- */

static u64 step_name(writer *j, size_t i) { return number_of(j, j->r->exe->prog->steps[i].name); }
static u64 step_loc(writer *j, size_t i) { return number_of(j, j->r->exe->prog->steps[i].loc); }
static u64 step_what(writer *j, size_t i) {
  return number_of(j, j->r->exe->prog->steps[i].op_name);
}
static const column step_columns[] = {{"name", step_name}, {"at", step_loc}, {"what", step_what}};

static void put_answers(writer *j, const report_question *q) {
  buf *b = j->b;
  mem_answer m = explain_mem(j->r);
  check_answer c = explain_check(j->r, q->large);
  BUF_LIT(b, "\"mem\":");
  explain_mem_print(j->r, &m, true, UINT32_MAX, b);
  BUF_LIT(b, ",\"check\":");
  explain_check_print(j->r, &c, true, UINT32_MAX, b);
  if (q->links) {
    comms_answer x = explain_comms(j->r, q->links);
    BUF_LIT(b, ",\"comms\":");
    explain_comms_print(&x, true, b);
  }
  if (q->other) {
    diff_answer d = explain_diff(q->other, j->r);
    BUF_LIT(b, ",\"diff\":");
    explain_diff_print(q->other, j->r, &d, true, UINT32_MAX, b);
    buf_printf(b, ",\"other\":%u", number_of(j, q->other->source->file));
  }
  BUF_LIT(b, ",\n");
}

static status put_data(writer *j, const report_question *q) {
  buf *b = j->b;
  const why_log *w = j->w;
  const executable *exe = j->r->exe;
  u32 main = 0;
  for (u32 i = 1; i < w->ops.len && !main; i++) main = w->ops.data[i].main ? i : 0;
  (void)number_of(j, (str){"", 0}); /* 0 */
  buf_printf(b, "{\"main\":%u,\"bytes\":%" PRIu64 ",\"file\":%u,\n", main, j->r->bytes,
             number_of(j, j->r->source->file));
  put_meshes(j);
  put_table(j, "ops", op_columns, COUNT(op_columns), w->ops.len);
  put_table(j, "uses", use_columns, COUNT(use_columns), w->operands.len);
  put_table(j, "values", value_columns, COUNT(value_columns), w->values.len);
  put_table(j, "steps", step_columns, COUNT(step_columns), exe->prog->num_steps);
  put_border(j, "arguments", w->args.data, w->args.len, exe->params, exe->num_params);
  put_border(j, "results", w->results.data, w->results.len, exe->results, exe->num_results);
  put_answers(j, q);
  BUF_LIT(b, "\"collectives\":[");
  for (u32 i = 1; i <= j->r->collectives.len; i++) RETURN_IF_ERROR(put_collective(j, q, i));
  BUF_LIT(b, "],\n\"texts\":[");
  for (size_t i = 0; i < j->texts.len; i++) {
    if (i) BUF_LIT(b, ",");
    json_string(b, j->texts.data[i]);
  }
  BUF_LIT(b, "]}");
  return NULL;
}

/* Within a script of HTML: nothing may look like its end. */
static void put_escaped(buf *out, str s) {
  size_t from = 0;
  for (size_t i = 0; i < s.len; i++) {
    if (s.data[i] != '<') continue;
    buf_bytes(out, s.data + from, i - from);
    BUF_LIT(out, "\\u003c");
    from = i + 1;
  }
  buf_bytes(out, s.data + from, s.len - from);
}

static status put_page(explain_run *r, const report_question *q, buf *out) {
  buf data;
  buf_init(&data, &mem_system);
  writer j = {.r = r, .w = &r->log, .a = &r->log.a, .b = &data};
  status s = put_data(&j, q);
  if (!s && !buf_ok(&data)) s = status_oom();
  if (!s) {
    buf_bytes(out, page_head, page_head_len);
    put_escaped(out, buf_view(&data));
    buf_bytes(out, page_tail, page_tail_len);
  }
  buf_deinit(&data);
  return s;
}

status explain_report(explain_run *r, const report_question *q, buf *out) {
  writer j = {.r = r, .w = &r->log, .a = &r->log.a, .b = out};
  if (q->form == REPORT_PAGE) return put_page(r, q, out);
  if (q->form == REPORT_TRACE && !q->links)
    return status_make(STATUS_INVALID_ARGUMENT, "times of steps want a topology");
  if (q->form == REPORT_TRACE) explain_put_timeline(r, q->links, out);
  if (q->form == REPORT_GRAPH) explain_put_graph(r, out);
  if (q->form != REPORT_DATA) return NULL;
  RETURN_IF_ERROR(put_data(&j, q));
  BUF_LIT(out, "\n");
  return NULL;
}
