/* Why, for people: what is alike is said once. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/index.h"
#include "explain/alike.h"
#include "explain/why_text.h"

void explain_put_reason(buf *b, const why_log *w, const explain_collective *c, why_tag t) {
  const why_reason *r = &w->reasons.data[t.reason];
  static const char *const words[] = {
      [WHY_SUM] = "the op sums over a dimension that is cut, and each device has a part",
      [WHY_FLOW] = "operand %u goes on under another sharding inside",
      [WHY_END] = "value %u that is returned is to be under another sharding",
      [WHY_OPERAND] = "operand %u is not sharded as the op computes",
      [WHY_RESULT_OF] = "result %u is to be under another sharding than the op computes it",
      [WHY_CONSTRAINT] = "the program asks for another sharding there",
      [WHY_NEIGHBOURS] = "the op needs elements of other shards along a dimension that is cut"};
  if (!r->kind)
    buf_printf(b, c->asked ? "the program asks for it there" : "the op itself needs it");
  else
    buf_printf(b, words[r->kind], r->index);
}

const char *explain_root_words(root_kind kind) {
  static const char *const words[] = {[ROOT_ARGUMENT] = "which is annotated",
                                      [ROOT_RETURNED] = "which is annotated",
                                      [ROOT_CONSTRAINT] = "which is constrained",
                                      [ROOT_MANUAL] = "of a manual computation",
                                      [ROOT_CHOSEN] =
                                          "where this costs less than what propagation had",
                                      [ROOT_OP] = "",
                                      [ROOT_UNKNOWN] = "which had it from the start"};
  return words[kind];
}

/* ---- chains ---- */

static bool same_place(why_place a, why_place b) {
  return a.at == b.at && a.op == b.op && a.index == b.index;
}

static void put_says(buf *b, const why_log *w, const why_chain *c, why_place at) {
  buf_printf(b, ", %s", explain_root_words(c->kind));
  if (c->kind == ROOT_CONSTRAINT && c->by && (at.at != WHY_RESULT || at.op != c->by)) {
    BUF_LIT(b, " by ");
    explain_put_op(b, w, c->by);
  }
  if (c->says.len) BUF_LIT(b, ": ");
  explain_put_sharding(b, w, c->says);
}

/* Steps that lead from one value to another: within an op they are none to people. */
static size_t count_steps(const why_log *w, const why_chain *c, why_place holder, size_t *out) {
  size_t n = 0;
  for (size_t i = 0; i < c->events.len; i++) {
    const why_event *e = &w->events.data[c->events.data[i]];
    if (!same_place(e->from, holder)) out[n++] = c->events.data[i];
    holder = e->from;
  }
  return n;
}

/* An op between values that is neither of them is said too. */
static void put_step(buf *b, const why_log *w, const why_event *e) {
  BUF_LIT(b, "\n      from ");
  explain_put_place(b, w, e->from);
  if (!e->op) BUF_LIT(b, ", in one sharding group");
  if (e->op && e->op != e->from.op && e->op != e->to.op) {
    buf_printf(b, e->edge ? ", through " : ", across ");
    explain_put_op(b, w, e->op);
  }
  if (e->user_priority) buf_printf(b, ", priority %" PRId64, e->user_priority);
}

void why_put_cause(buf *b, explain_run *r, const why_cause *c, u32 steps_shown) {
  why_log *w = &r->log;
  const why_axis *x = &c->axis;
  why_place last = x->holder;
  str axis = why_axis_text(&w->a, x->axis, x->pre, x->size, x->whole);
  buf_printf(b, "    " STR_FMT " ", STR_ARG(axis));
  if (x->from_dim >= 0) buf_printf(b, "along dimension %d ", x->from_dim);
  if (x->to_dim >= 0 && x->to_dim != x->from_dim)
    buf_printf(b, "%salong dimension %d ", x->from_dim >= 0 ? "is wanted " : "wanted ", x->to_dim);
  buf_printf(b, "of ");
  explain_put_place(b, w, x->holder);
  size_t *steps = ARENA_ARRAY(&w->a, size_t, c->chain.events.len + 1);
  size_t n = count_steps(w, &c->chain, x->holder, steps);
  for (size_t i = 0; i < n; i++) {
    last = w->events.data[steps[i]].from;
    if (n > steps_shown && i == steps_shown / 2) {
      size_t skip = n - steps_shown;
      buf_printf(b, "\n      ... %zu more steps", skip);
      i += skip;
      last = w->events.data[steps[i]].from;
    }
    put_step(b, w, &w->events.data[steps[i]]);
  }
  if (c->chain.root.at && !same_place(last, c->chain.root)) {
    BUF_LIT(b, "\n      that is ");
    explain_put_place(b, w, last = c->chain.root);
  }
  put_says(b, w, &c->chain, last);
  BUF_LIT(b, "\n");
}

/* ---- parts ---- */

static void put_part_head(buf *b, explain_run *r, const why_answer *a, const why_part *p) {
  BUF_LIT(b, "  for ");
  explain_put_op(b, &r->log, p->tag.op);
  BUF_LIT(b, "\n  because ");
  explain_put_reason(b, &r->log, a->c, p->tag);
  BUF_LIT(b, "\n");
}

/* What it is for and where that begins; not by which steps. */
static u64 part_key(buf *b, explain_run *r, const why_answer *a, const why_part *p) {
  b->len = 0;
  put_part_head(b, r, a, p);
  for (size_t k = 0; k < p->causes.len; k++) {
    const why_chain *c = &p->causes.data[k].chain;
    buf_printf(b, STR_FMT, STR_ARG(p->causes.data[k].axis.axis));
    explain_put_place(b, &r->log, c->root);
    put_says(b, &r->log, c, c->root);
  }
  return alike_key(buf_view(b));
}

/* *out_key: of all of them, in any order. */
static void put_parts(buf *b, explain_run *r, const why_answer *a, u32 steps_shown, u64 *out_key) {
  alike_texts parts = {0};
  buf one;
  if (!a->parts.len) BUF_LIT(b, "  because the program asks for it\n");
  buf_init(&one, &mem_system);
  *out_key = 0;
  for (size_t i = 0; i < a->parts.len; i++) {
    const why_part *p = &a->parts.data[i];
    u64 key = part_key(&one, r, a, p);
    one.len = 0;
    put_part_head(&one, r, a, p);
    for (size_t k = 0; k < p->causes.len; k++)
      why_put_cause(&one, r, &p->causes.data[k], steps_shown);
    *out_key += key;
    alike_add(&r->log.a, &parts, (alike_text){.key = key, .text = buf_view(&one), .count = 1});
  }
  buf_deinit(&one);
  for (size_t i = 0; i < parts.len; i++) {
    buf_str(b, parts.data[i].text);
    if (parts.data[i].count > 1)
      buf_printf(b, "    and for %u more alike\n", parts.data[i].count - 1);
  }
}

/* ---- answers ---- */

static void put_head(buf *b, const why_answer *a, const topology *links) {
  const explain_collective *c = a->c;
  buf_printf(b, "#%u " STR_FMT, a->number, STR_ARG(c->kind));
  if (c->axes.len) buf_printf(b, " along " STR_FMT, STR_ARG(c->axes));
  buf_printf(b, ", %u devices: ", c->group);
  explain_put_bytes(b, c->bytes);
  BUF_LIT(b, " a device");
  if (links) {
    str link;
    BUF_LIT(b, " in ");
    explain_put_seconds(b, comms_seconds(links, c, &link));
    buf_printf(b, " over " STR_FMT, STR_ARG(link));
  }
  if (c->trips != 1) {
    buf_printf(b, ", %" PRIu64 "%s times: ", c->trips, c->unknown ? " or more" : "");
    explain_put_bytes(b, c->bytes * c->trips);
  }
  BUF_LIT(b, "\n");
}

void explain_put_edits(buf *b, const why_log *w, const why_fix *f) {
  for (size_t i = 0; i < f->num_edits; i++) {
    if (i) BUF_LIT(b, " and ");
    explain_put_edit(b, w, &f->edits[i]);
  }
}

static void put_fixes(buf *b, const explain_run *r, const why_answer *a) {
  for (size_t i = 0; i < a->fixes.len && a->fixes.data[i].bytes < r->bytes; i++) {
    const why_fix *f = &a->fixes.data[i];
    buf_printf(b, "%s", i ? "  or    " : "  could ");
    explain_put_edits(b, &r->log, f);
    BUF_LIT(b, ": ");
    explain_put_bytes(b, r->bytes);
    BUF_LIT(b, " -> ");
    explain_put_bytes(b, f->bytes);
    buf_printf(b, " in all%s\n", f->gone ? ", without this collective" : "");
  }
}

void why_put_answer(buf *b, explain_run *r, const why_answer *a, const topology *links) {
  u64 key;
  put_head(b, a, links);
  put_parts(b, r, a, EXPLAIN_SHOWN, &key);
  put_fixes(b, r, a);
}

static int most_bytes(const void *a, const void *b) {
  const alike_text *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x->number < y->number ? -1 : x->number > y->number;
}

void why_put_groups(buf *b, explain_run *r, const topology *links, u32 most) {
  alike_texts groups = {0};
  buf one;
  buf_init(&one, &mem_system);
  for (u32 i = 1; i <= r->collectives.len; i++) {
    why_answer a = explain_why(r, i);
    one.len = 0;
    put_head(&one, &a, links);
    u64 key;
    put_parts(&one, r, &a, 2, &key);
    key = hash_u64(key, hash_u64(a.c->bytes, a.c->trips));
    key = hash_bytes(a.c->kind.data, a.c->kind.len, key);
    key = hash_bytes(a.c->axes.data, a.c->axes.len, key);
    alike_add(&r->log.a, &groups, (alike_text){key, buf_view(&one), i, 1, a.c->bytes * a.c->trips});
  }
  buf_deinit(&one);
  if (groups.len) qsort(groups.data, groups.len, sizeof *groups.data, most_bytes);
  for (u32 i = 0; i < groups.len && i < most; i++) {
    const alike_text *g = &groups.data[i];
    buf_str(b, g->text);
    if (g->count == 1) continue;
    buf_printf(b, "  and %u more alike, ", g->count - 1);
    explain_put_bytes(b, g->bytes);
    BUF_LIT(b, " a device in all\n");
  }
  if (groups.len > most) buf_printf(b, "and %zu kinds more (--most)\n", groups.len - most);
}
