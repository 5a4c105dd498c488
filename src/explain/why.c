/* From a collective back to the annotations, and which of them to change. */
#include "explain/explain.h"

/* ---- chains ---- */

static bool same_place_of(why_place a, why_place b) {
  return a.at == b.at && a.op == b.op && a.index == b.index;
}

/* What gave a value of @main's signature the axis when all of it was first propagated. */
static size_t event_before(const why_log *w, why_place p, str axis) {
  for (size_t i = w->num_before; i-- > 0;) {
    const why_event *e = &w->events.data[i];
    if (same_place_of(e->to, p) && str_eq(e->axis, axis)) return i;
  }
  return WHY_NO_EVENT;
}

static bool end(why_chain *c, root_kind kind, u32 by, str says) {
  c->kind = kind;
  c->by = by;
  c->says = says;
  return true;
}

static bool is_named(const why_op *o, const char *name) { return str_is(o->name, name); }

static bool end_at_op(const why_log *w, why_chain *c, u32 op, str axis) {
  const why_op *o = &w->ops.data[op];
  if (is_named(o, "sdy.manual_computation")) return end(c, ROOT_MANUAL, op, o->constraint);
  if (o->chosen) return end(c, ROOT_CHOSEN, op, (str){0});
  return why_names(o->constraint, axis) && end(c, ROOT_CONSTRAINT, op, o->constraint);
}

/* Who says that the value at the chain's end has the axis; false: nobody. */
static bool find_root(const why_log *w, why_chain *c, str axis) {
  why_place p = c->root;
  if (!p.at || p.op >= w->ops.len) return false;
  if (w->ops.data[p.op].main) {
    bool back = p.at == WHY_RETURNED;
    str says = {0};
    if (p.index < (back ? w->results.len : w->args.len))
      says = back ? w->results.data[p.index].sharding : w->args.data[p.index].sharding;
    if (why_names(says, axis)) return end(c, back ? ROOT_RETURNED : ROOT_ARGUMENT, 0, says);
  } else if (end_at_op(w, c, p.op, axis)) {
    return true;
  }
  for (u32 i = 1; i < w->ops.len; i++)
    if (w->ops.data[i].operand.at && same_place_of(w->ops.data[i].operand, p) &&
        end_at_op(w, c, i, axis))
      return true;
  return false;
}

void explain_chain(explain_run *r, size_t event, why_place holder, str axis, why_chain *out) {
  const why_log *w = &r->log;
  *out = (why_chain){.root = holder, .kind = ROOT_UNKNOWN};
  for (;;) {
    for (; event != WHY_NO_EVENT; event = w->events.data[event].cause) {
      VEC_PUSH(&r->log.a, out->events, event);
      out->root = w->events.data[event].from;
    }
    if (find_root(w, out, axis)) return;
    event = event_before(w, out->root, axis);
    if (event == WHY_NO_EVENT || out->events.len > w->events.len) return;
  }
}

/* ---- answers ---- */

/* What the axes of the collective are; first those that it is about. */
static bool is_about(const explain_collective *c, const why_axis *x) {
  return why_names(c->axes, x->axis);
}

static bool has_cause(const why_part *p, const why_axis *x) {
  for (size_t i = 0; i < p->causes.len; i++) {
    const why_axis *y = &p->causes.data[i].axis;
    if (str_eq(x->axis, y->axis) && x->pre == y->pre && x->wanted == y->wanted &&
        same_place_of(x->holder, y->holder))
      return true;
  }
  return false;
}

static void add_causes(explain_run *r, const explain_collective *c, why_part *p, bool about,
                       bool wanted) {
  const why_reason *reason = &r->log.reasons.data[p->tag.reason];
  for (size_t i = 0; i < reason->axes.len; i++) {
    const why_axis *x = &reason->axes.data[i];
    if (is_about(c, x) != about || x->wanted != wanted || has_cause(p, x)) continue;
    why_cause cause = {.axis = *x};
    explain_chain(r, x->event, x->holder, x->axis, &cause.chain);
    VEC_PUSH(&r->log.a, p->causes, cause);
  }
}

why_answer explain_why(explain_run *r, u32 number) {
  const explain_collective *c = &r->collectives.data[number - 1];
  why_answer a = {.number = number, .c = c};
  for (size_t i = 0; i < c->tags.len; i++) {
    why_part p = {.tag = c->tags.data[i]};
    for (int k = 0; k < 4; k++) add_causes(r, c, &p, k < 2, k % 2);
    VEC_PUSH(&r->log.a, a.parts, p);
  }
  return a;
}

bool explain_same_edit(const explain_edit *x, const explain_edit *y) {
  return x->kind == y->kind && same_place_of(x->at, y->at) && str_eq(x->axis, y->axis) &&
         str_eq(x->sharding, y->sharding);
}

static bool is_known(const explain_edit *known, size_t n, const explain_edit *e) {
  for (size_t i = 0; i < n; i++)
    if (explain_same_edit(&known[i], e)) return true;
  return false;
}

bool explain_root_edit(const why_answer *a, const explain_edit *known, size_t n,
                       explain_edit *out) {
  for (size_t i = 0; i < a->parts.len; i++)
    for (size_t k = 0; k < a->parts.data[i].causes.len; k++) {
      const why_cause *c = &a->parts.data[i].causes.data[k];
      if (c->chain.kind > ROOT_CONSTRAINT) continue;
      why_place at = c->chain.kind == ROOT_CONSTRAINT ? (why_place){WHY_RESULT, c->chain.by, 0}
                                                      : c->chain.root;
      *out = (explain_edit){.kind = EDIT_DROP, .at = at, .axis = c->axis.axis};
      if (!is_known(known, n, out)) return true;
    }
  return false;
}
