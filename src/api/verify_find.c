#include "api/verify_look.h"

status found_begin(found_ops *f, const why_log *w) {
  f->num = (u32)w->ops.len;
  f->ops = mem_zalloc(&mem_system, f->num * sizeof *f->ops);
  f->stack = mem_zalloc(&mem_system, f->num * sizeof *f->stack);
  return f->ops && f->stack ? NULL : status_oom();
}

void found_end(found_ops *f) {
  mem_free(&mem_system, f->ops, 0);
  mem_free(&mem_system, f->stack, 0);
}

typedef struct tracing {
  found_ops *f;
  const why_log *w;
  u32 depth;
} tracing;

static bool is_function(const why_log *w, u32 op) {
  return str_is(w->ops.data[op].name, "func.func");
}

static bool is_manual(const why_log *w, u32 op) {
  return str_is(w->ops.data[op].name, "sdy.manual_computation");
}

/* What stands in a function or a manual computation, the op itself or the one around it. */
static u32 outermost(const why_log *w, u32 op) {
  for (u32 up = w->ops.data[op].parent; up && !is_function(w, up) && !is_manual(w, up);
       up = w->ops.data[up].parent)
    op = up;
  return op;
}

static void push_place(tracing *t, why_place p);

static void push(tracing *t, u32 op) {
  found_op *o = &t->f->ops[op = outermost(t->w, op)];
  if (!op || o->visited || o->is == OP_RIGHT) return;
  o->visited = true;
  t->f->stack[t->depth++] = op;
}

/* Operand `index` of each op of this kind; parent: that stands there; else that names the symbol.
 */
static void push_operand_of(tracing *t, const char *kind, u32 parent, str symbol, u32 index) {
  const why_log *w = t->w;
  for (u32 i = 1; i < w->ops.len; i++) {
    const why_op *o = &w->ops.data[i];
    bool is = parent ? o->parent == parent : str_eq(o->symbol, symbol);
    if (is && str_is(o->name, kind) && index < o->num_operands)
      push_place(t, w->operands.data[o->operands + index]);
  }
}

static void push_place(tracing *t, why_place p) {
  const why_log *w = t->w;
  bool inside = p.at == WHY_INSIDE, function = is_function(w, p.op);
  if (p.at == WHY_NOWHERE || (inside && function && w->ops.data[p.op].main)) return;
  if (inside && function)
    push_operand_of(t, "func.call", 0, w->ops.data[p.op].symbol, p.index);
  else if (inside && is_manual(w, p.op))
    push_place(t, w->operands.data[w->ops.data[p.op].operands + p.index]);
  else if (p.at == WHY_RESULT && is_manual(w, p.op))
    push_operand_of(t, "sdy.return", p.op, (str){0}, p.index);
  else
    push(t, p.op);
}

static void push_operands(tracing *t, u32 op) {
  const why_op *o = &t->w->ops.data[op];
  for (u32 i = 0; i < o->num_operands; i++) push_place(t, t->w->operands.data[o->operands + i]);
}

/* Of the function that a call names. */
static void push_returned(tracing *t, str symbol) {
  const why_log *w = t->w;
  for (u32 i = 1; i < w->ops.len; i++)
    if (str_is(w->ops.data[i].name, "func.return") &&
        str_eq(w->ops.data[w->ops.data[i].parent].symbol, symbol))
      push_operands(t, i);
}

/* Goes on until nothing is left; the first op that is `is`, 0: none. From op `but` on, which does
 * not count; parts: only by way of parts and what nobody has seen. */
static u32 walk(tracing *t, u32 but, int is) {
  u32 first = 0;
  while (t->depth) {
    u32 op = t->f->stack[--t->depth];
    if (op != but && (int)t->f->ops[op].is == is && (!first || op < first)) first = op;
    if (op != but && is == OP_PARTS && t->f->ops[op].is == OP_WRONG) continue;
    push_operands(t, op);
    for (u32 in = op + 1; in < t->w->ops.len && outermost(t->w, in) == op; in++)
      push_operands(t, in);
    if (str_is(t->w->ops.data[op].name, "func.call")) push_returned(t, t->w->ops.data[op].symbol);
  }
  return first;
}

static void forget(found_ops *f) {
  for (u32 i = 0; i < f->num; i++) f->ops[i].visited = false;
}

/* What @main returns as a result. */
static why_place returned(const why_log *w, u32 result) {
  for (u32 i = 1; i < w->ops.len; i++) {
    const why_op *o = &w->ops.data[i];
    if (str_is(o->name, "func.return") && w->ops.data[o->parent].main && result < o->num_operands)
      return w->operands.data[o->operands + result];
  }
  return (why_place){0};
}

static u32 walk_from(tracing *t, why_place at, int is) {
  forget(t->f);
  push_place(t, at);
  return walk(t, at.at == WHY_RESULT ? at.op : 0, is);
}

u32 found_first(found_ops *f, const why_log *w, u32 result) {
  tracing t = {f, w, 0};
  why_place end = returned(w, result), at = end;
  forget(f);
  push_place(&t, end);
  u32 op = walk(&t, 0, OP_WRONG);
  /* functions stand behind @main: until nothing wrong comes before */
  for (u32 next = op, n = 0; next && n < f->num; n++) {
    at = (why_place){WHY_RESULT, op = next, 0};
    next = walk_from(&t, at, OP_WRONG);
  }
  u32 parts = walk_from(&t, at, OP_PARTS);
  if (!op && !parts && end.at == WHY_RESULT && f->ops[end.op].is == OP_PARTS) parts = end.op;
  if (parts) return parts;
  bool unseen = end.at == WHY_RESULT && f->ops[end.op].is == OP_UNSEEN;
  return !op && unseen && !is_manual(w, end.op) && w->ops.data[end.op].num_operands ? end.op : op;
}
