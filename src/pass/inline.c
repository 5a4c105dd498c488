/* inline: calls become the bodies of their functions.
 *
 * As MLIR's inliner: callees first; each function is canonicalized, its calls are replaced, and
 * that again while there were calls; private functions that nothing names any more are erased. */
#include "base/index.h"
#include "pass/passes.h"

typedef struct inliner {
  ir_module *m;
  arena *scratch;
  const pass_args *args;
  symbol_map *names;
  hash_index marks; /* function -> progress */
  VEC(op *) calls;  /* of the function at hand */
  u64 budget;       /* ops that may still be copied */
  u32 depth;        /* of calls, which recursion follows */
  i64 rounds;       /* at most, a function */
  str between;      /* the pipeline for each function */
  bool must;        /* an error if a call stays */
} inliner;

enum { INLINE_BUDGET = 50 * 1000 * 1000, INLINE_DEPTH = 1000, INLINE_ROUNDS = 4 };

static walk_result find_unregistered(void *user, op *o) {
  (void)user;
  return op_kind(o) == OP_unregistered ? WALK_STOP : WALK_ON;
}

static bool forbids(const op *o) { return op_attr(o, STR("no_inline")) != NULL; }

/* NULL: the call stays. */
static op *callee_of(const inliner *in, const op *call) {
  struct call_attrs v;
  op *f = view_call(call, &v) ? symbol_map_find(in->names, v.callee) : NULL;
  if (!f || !op_is(f, func) || !op_body(f, 0)) return NULL;
  if (in->must) return f;
  if (forbids(call) || forbids(f) || op_body(f, 0)->next) return NULL;
  return op_walk(f, find_unregistered, NULL) ? f : NULL;
}

typedef enum progress { NOT_YET, UNDER_WAY, DONE } progress;

static void mark(inliner *in, const op *f, progress p) {
  index_set(&in->marks, in->scratch, f, (void *)(uintptr_t)p);
}

static bool inline_function(inliner *in, op *f);

/* Does the callee call itself, or f? Then the call stays, or copies would go on for ever. */
typedef struct way_back {
  const inliner *in;
  const op *f, *callee;
} way_back;

static walk_result find_way_back(void *user, op *o) {
  const way_back *w = user;
  struct call_attrs v;
  if (!op_is(o, call) || !view_call(o, &v)) return WALK_ON;
  const op *next = symbol_map_find(w->in->names, v.callee);
  return next && (next == w->f || next == w->callee) ? WALK_STOP : WALK_ON;
}

static bool returns_plainly(const op *f, const op *call) {
  const op *last = op_body(f, 0)->last;
  return last && op_is(last, func_return) && last->num_operands == call->num_results;
}

typedef struct relocation {
  ir_ctx *c;
  const attr *caller;
} relocation;

static walk_result relocate(void *user, op *o) {
  relocation *r = user;
  o->loc = attr_make(r->c, loc_callsite, .callee = o->loc, .caller = r->caller);
  return WALK_ON;
}

static bool copy_body(inliner *in, op *call, op *f) {
  const block *body = op_body(f, 0);
  ir_map *map = ir_map_create(in->scratch);
  relocation r = {in->m->ctx, call->loc};
  for (u32 i = 0; i < body->num_args && i < call->num_operands; i++)
    ir_map_set(map, body->args[i], op_operand(call, i));
  for (op *o = body->first; o != body->last; o = o->next) {
    if (in->budget-- == 0) return op_error(in->m->ctx, call, "calls expand to too many ops");
    op *copy = op_clone(in->m, o, map);
    op_insert(copy, call->parent, call);
    op_walk(copy, relocate, &r);
  }
  for (u32 i = 0; i < call->num_results; i++)
    value_replace(op_result(call, i), ir_map_get(map, op_operand(body->last, i)));
  op_erase(call);
  return true;
}

static walk_result collect_call(void *user, op *o) {
  inliner *in = user;
  if (op_is(o, call)) VEC_PUSH(in->scratch, in->calls, o);
  return WALK_ON;
}

/* *changed: a call went. */
static bool inline_calls(inliner *in, op *f, bool *changed) {
  inliner own = *in; /* its own list of calls */
  memset(&own.calls, 0, sizeof own.calls);
  op_walk(f, collect_call, &own);
  for (size_t i = 0; i < own.calls.len; i++) {
    op *call = own.calls.data[i], *callee = callee_of(in, call);
    if (!callee && in->must) return op_unimplemented(in->m->ctx, call, "its callee has no body");
    if (!callee || !returns_plainly(callee, call)) continue;
    if (!in->must && index_get(&in->marks, callee) == (void *)(uintptr_t)UNDER_WAY) continue;
    if (!inline_function(in, callee)) return false;
    if (!in->must && !op_walk(callee, find_way_back, &(way_back){in, f, callee})) continue;
    if (!copy_body(in, call, callee)) return false;
    *changed = true;
  }
  return true;
}

static bool simplify(const inliner *in, op *f) {
  if (!in->between.len) return true;
  const pass_info *p = pass_find(in->args->tables, in->between);
  if (!p)
    return loc_error(in->m->ctx, NULL, "inline: there is no pass '" STR_FMT "'",
                     STR_ARG(in->between));
  const pass_tables *t = in->args->tables;
  pass_tables quiet = {.tables = t->tables,
                       .count = t->count,
                       .patterns = t->patterns,
                       .num_patterns = t->num_patterns};
  return pass_run(in->m, p, &(pass_args){.tables = &quiet, .root = f});
}

static bool inline_function(inliner *in, op *f) {
  progress p = (progress)(uintptr_t)index_get(&in->marks, f);
  if (p == DONE) return true;
  if (p == UNDER_WAY) return op_error(in->m->ctx, f, "is recursive; recursion cannot be inlined");
  if (in->depth == INLINE_DEPTH)
    return !in->must || op_error(in->m->ctx, f, "is called too deep to inline");
  in->depth++;
  mark(in, f, UNDER_WAY);
  bool changed = true;
  for (i64 n = 0; changed && n < in->rounds; n++) {
    changed = false;
    if (!simplify(in, f) || !inline_calls(in, f, &changed)) return false;
  }
  in->depth--;
  mark(in, f, DONE);
  return true;
}

/* ---- functions that nothing names any more ---- */

typedef struct counter {
  inliner *in;
  hash_index uses; /* function -> number of references */
  bool down;
  VEC(op *) dead;
} counter;

static void count_ref(void *user, const symbol_ref_attr *ref) {
  counter *c = user;
  op *f = symbol_map_find(c->in->names, ref->root);
  if (!f) return;
  uintptr_t n = (uintptr_t)index_get(&c->uses, f);
  n = c->down ? n - 1 : n + 1;
  index_set(&c->uses, c->in->scratch, f, (void *)n);
  if (c->down && n == 0) VEC_PUSH(c->in->scratch, c->dead, f);
}

static walk_result count_refs(void *user, op *o) {
  each_symbol_ref(o, count_ref, user);
  return WALK_ON;
}

static void erase_unused(inliner *in) {
  counter c = {.in = in};
  op_walk(in->m->root, count_refs, &c);
  c.down = true;
  block *b = op_body(in->m->root, 0);
  for (op *o = b->first; o; o = o->next)
    if (!index_get(&c.uses, o)) VEC_PUSH(in->scratch, c.dead, o);
  for (size_t i = 0; i < c.dead.len; i++) {
    op *f = c.dead.data[i];
    if (!op_is(f, func) || !op_body(f, 0) || !symbol_is(f, "private") || !f->parent) continue;
    op_walk(f, count_refs, &c);
    op_erase(f);
  }
}

static bool inline_module(inliner *in) {
  in->names = symbol_map_build(in->m->root, in->scratch);
  block *b = op_body(in->m->root, 0);
  for (op *o = b->first; o; o = o->next)
    if (op_is(o, func) && op_body(o, 0) && !inline_function(in, o)) return false;
  erase_unused(in);
  return true;
}

bool pass_inline(ir_module *m, arena *scratch, const pass_args *args) {
  inliner in = {.m = m,
                .scratch = scratch,
                .args = args,
                .budget = INLINE_BUDGET,
                .rounds = pass_option_int(args, STR("max-iterations"), INLINE_ROUNDS),
                .between = pass_option_get(args, STR("default-pipeline"), STR("canonicalize"))};
  return inline_module(&in);
}

bool pass_inline_all(ir_module *m, arena *scratch, const pass_args *args) {
  inliner in = {
      .m = m, .scratch = scratch, .args = args, .budget = INLINE_BUDGET, .rounds = 1, .must = true};
  return inline_module(&in) && pass_symbol_dce(m, scratch, args);
}
