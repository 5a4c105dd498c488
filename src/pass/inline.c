/* inline: calls become the bodies of their functions.
 *
 * As MLIR's inliner (Inliner.cpp, InliningUtils.cpp): functions that call each other are one group,
 * callees come first; a group is simplified, calls in it are replaced, those that come with a body
 * as well, and that again while there were calls; functions that nobody outside can name and that
 * nothing names any more are erased. Who is called is found once, at the start. */
#include "base/index.h"
#include "dialect/dialect.h"
#include "pass/passes.h"

typedef struct node node;
typedef struct named {
  node *what;
  i64 times;
} named;

/* A function with a body. */
struct node {
  op *f;
  VEC(node *) calls;
  u32 visit, low, next;   /* of the search for groups; visit 0: not seen */
  bool discardable, gone; /* gone: to be erased */
  i64 uses;               /* of one that is discardable */
  VEC(named) names;       /* discardable ones that the body names; times add up */
  VEC(node *) own;        /* that the function's attributes name, each once */
};

typedef struct edge {
  const node *from, *to;
} edge;

typedef struct call_site {
  op *call;
  node *in, *to;
  size_t history; /* place in inliner.history, from 1, of the body that it came with */
} call_site;

typedef struct history {
  const node *of;
  size_t before;
} history;

typedef VEC(node *) nodes;

typedef struct inliner {
  ir_module *m;
  arena *scratch;
  const pass_args *args;
  nodes functions;
  hash_index of_op;  /* function -> node */
  hash_index tables; /* symbol table -> its symbol_map */
  hash_index edges;
  u32 visits;               /* of the search for groups */
  nodes path, pending;      /* likewise: where it is, and what has no group yet */
  VEC(call_site) calls;     /* of the group at hand */
  VEC(history) history;     /* of the group, likewise */
  hash_index came;          /* call -> its history */
  u64 limit, budget;        /* ops that a group may become; that may still be copied into it */
  i64 rounds;               /* at most, a group */
  i64 threshold;            /* ops of a callee in percent of its caller's at most */
  const pass_node *between; /* the pipeline for each function; NULL: none */
  bool hidden;              /* nothing outside can name what is in the module */
  bool must;                /* an error if a call stays */
} inliner;

enum { GROUPED = UINT32_MAX };

/* ---- who calls and names whom ---- */

static op *resolve(inliner *in, op *table, const symbol_ref_attr *ref) {
  symbol_map *names = index_get(&in->tables, table);
  if (!names) {
    names = symbol_map_build(table, in->scratch);
    index_set(&in->tables, in->scratch, table, names);
  }
  op *o = symbol_map_find(names, ref->root);
  for (size_t i = 0; o && i < ref->nested.len; i++)
    o = op_has(o, SYMBOL_TABLE) ? symbol_find(o, symbol_of(ref->nested.data[i])) : NULL;
  return o;
}

static node *node_named(inliner *in, op *table, const symbol_ref_attr *ref) {
  op *f = table && ref ? resolve(in, table, ref) : NULL;
  return f ? index_get(&in->of_op, f) : NULL;
}

/* NULL: no function with a body. */
static node *callee_of(inliner *in, op *call) {
  return node_named(in, op_module(call), attr_as(symbol_ref, op_attr(call, SLOT_NAME(callee))));
}

static bool calls(const inliner *in, const node *from, const node *to) {
  const edge *e;
  for (size_t at = 0; (e = index_next(&in->edges, hash_ptr(from, hash_ptr(to, 0)), &at));)
    if (e->from == from && e->to == to) return true;
  return false;
}

typedef struct walker {
  inliner *in;
  node *n; /* NULL: what is outside of functions; what it names stays */
  op *table;
  bool own; /* at the function itself */
} walker;

static walk_result add_edge(void *user, op *o) {
  walker *w = user;
  inliner *in = w->in;
  node *to = op_is(o, call) ? callee_of(in, o) : NULL;
  if (!to || calls(in, w->n, to)) return WALK_ON;
  edge *e = ARENA_NEW(in->scratch, edge);
  *e = (edge){w->n, to};
  index_add(&in->edges, in->scratch, hash_ptr(w->n, hash_ptr(to, 0)), e);
  VEC_PUSH(in->scratch, w->n->calls, to);
  return WALK_ON;
}

static void add_names(inliner *in, node *n, node *what, i64 times) {
  VEC_PUSH(in->scratch, n->names, ((named){what, times}));
  what->uses += times;
}

static void name_symbol(void *user, const symbol_ref_attr *ref) {
  walker *w = user;
  node *what = node_named(w->in, w->table, ref);
  if (!what || !w->n) {
    if (what) what->discardable = false;
  } else if (!w->own) {
    if (what->discardable) add_names(w->in, w->n, what, 1);
  } else if (what->discardable) {
    for (size_t i = 0; i < w->n->own.len; i++)
      if (w->n->own.data[i] == what) return;
    VEC_PUSH(w->in->scratch, w->n->own, what);
    what->uses++;
  }
}

static walk_result name_symbols(void *user, op *o) {
  walker *w = user;
  w->own = w->n && o == w->n->f;
  each_symbol_ref(o, name_symbol, user);
  return op_has(o, SYMBOL_TABLE) ? WALK_SKIP : WALK_ON;
}

static void forget_names(node *n) {
  for (size_t i = 0; i < n->names.len; i++) n->names.data[i].what->uses -= n->names.data[i].times;
  for (size_t i = 0; i < n->own.len; i++) n->own.data[i]->uses--;
  n->names.len = n->own.len = 0;
}

/* Counted anew in each round, since passes in between may have erased uses. */
static void count_names(inliner *in, node *n) {
  forget_names(n);
  op_walk(n->f, name_symbols, &(walker){in, n, op_parent(n->f), false});
}

static void forget_name(void *user, const symbol_ref_attr *ref) {
  walker *w = user;
  node *what = node_named(w->in, w->table, ref);
  if (what && what->discardable) add_names(w->in, w->n, what, -1);
}

static walk_result find_function(void *user, op *o) {
  inliner *in = user;
  if (!op_is(o, func)) return WALK_ON;
  if (!op_body(o, 0)) return WALK_SKIP;
  node *n = ARENA_NEW(in->scratch, node);
  n->f = o;
  n->discardable = symbol_is(o, "private") || (in->hidden && symbol_is(o, "nested"));
  index_set(&in->of_op, in->scratch, o, n);
  VEC_PUSH(in->scratch, in->functions, n);
  return WALK_SKIP;
}

/* What is in a symbol table and no function names things for ever. */
static walk_result name_outside(void *user, op *o) {
  inliner *in = user;
  if (!op_has(o, SYMBOL_TABLE)) return op_is(o, func) ? WALK_SKIP : WALK_ON;
  for (op *i = op_body(o, 0)->first; i; i = i->next)
    if (!index_get(&in->of_op, i)) op_walk(i, name_symbols, &(walker){in, NULL, o, false});
  return WALK_ON;
}

static void find_functions(inliner *in, op *root) {
  op_walk(root, find_function, in);
  op_walk(root, name_outside, in);
  for (size_t i = 0; i < in->functions.len; i++) {
    node *n = in->functions.data[i];
    op_walk(n->f, add_edge, &(walker){in, n, NULL, false});
    count_names(in, n);
  }
}

/* ---- what can be inlined ---- */

static bool has_inliner(const op *o) {
  str name = o->info->name;
  return op_kind(o) != OP_unregistered && !str_starts(name, STR("check.")) &&
         !str_starts(name, STR("interpreter."));
}

static walk_result stop_at_others(void *user, op *o) {
  (void)user;
  return has_inliner(o) ? WALK_ON : WALK_STOP;
}

static walk_result count_op(void *user, op *o) {
  (void)o;
  ++*(i64 *)user;
  return WALK_ON;
}

static i64 count_ops(op *f) {
  i64 n = -1; /* the function itself */
  op_walk(f, count_op, &n);
  return n;
}

/* inlining-threshold in MLIR's arithmetic: a callee of so many per cent of its caller's ops. */
static bool pays(const inliner *in, const call_site *c) {
  if (in->threshold == 0 || in->threshold == UINT32_MAX) return in->threshold != 0;
  i64 ops = count_ops(c->in->f);
  return ops == 0 || count_ops(c->to->f) * 100 / ops <= in->threshold;
}

/* One block that ends in a return, and as many values as the call has: anything else has no meaning
 * in the place of a call. */
static bool returns_plainly(const op *f, const op *call) {
  const block *b = op_body(f, 0);
  return !b->next && b->last && op_is(b->last, func_return) &&
         b->last->num_operands == call->num_results && b->num_args == call->num_operands;
}

/* Whether the call came, by however many bodies, out of the function that it calls: recursion
 * through inlined bodies ends here. */
static bool came_with(const inliner *in, const call_site *c) {
  for (size_t h = c->history; h; h = in->history.data[h - 1].before)
    if (in->history.data[h - 1].of == c->to) return true;
  return false;
}

static bool can_inline(const inliner *in, const call_site *c) {
  if (!returns_plainly(c->to->f, c->call)) return false;
  if (in->must) return true;
  return c->to != c->in && !came_with(in, c) && !calls(in, c->to, c->to) &&
         !calls(in, c->to, c->in) && pays(in, c) && !op_attr(c->call, SLOT_NAME(no_inline)) &&
         !op_attr(c->to->f, SLOT_NAME(no_inline)) && has_inliner(op_parent(c->call)) &&
         op_walk(c->to->f, stop_at_others, NULL);
}

/* ---- inlining ---- */

typedef struct relocation {
  inliner *in;
  const attr *caller;
  hash_index moved; /* location -> as seen from the caller */
} relocation;

/* The caller comes at the end of the chain of calls; where nobody looks, around it. */
static const attr *move_location(relocation *r, const attr *loc) {
  ir_ctx *c = r->in->m->ctx;
  const loc_callsite_attr *at = r->in->must ? NULL : attr_as(loc_callsite, loc);
  const attr *moved = r->in->must ? NULL : index_get(&r->moved, loc);
  if (moved) return moved;
  const attr *callee = at ? at->callee : loc;
  const attr *caller = at ? move_location(r, at->caller) : r->caller;
  moved = attr_make(c, loc_callsite, .callee = callee, .caller = caller);
  if (!r->in->must) index_set(&r->moved, r->in->scratch, loc, (void *)(uintptr_t)moved);
  return moved;
}

static walk_result relocate(void *user, op *o) {
  relocation *r = user;
  o->loc = move_location(r, o->loc);
  for (u32 k = 0; k < o->num_regions; k++)
    for (block *b = o->regions[k].first; b; b = b->next)
      for (u32 i = 0; i < b->num_args; i++) {
        const attr *loc = block_arg_loc(b, i);
        block_set_arg_loc(r->in->m, b, i, move_location(r, loc ? loc : loc_unknown(r->in->m->ctx)));
      }
  return WALK_ON;
}

static void collect_call(inliner *in, node *n, op *call, size_t history) {
  node *to = callee_of(in, call);
  if (!to && !in->must) return;
  if (history) index_set(&in->came, in->scratch, call, (void *)(uintptr_t)history);
  history = (size_t)(uintptr_t)index_get(&in->came, call); /* of an earlier round */
  VEC_PUSH(in->scratch, in->calls, ((call_site){call, n, to, history}));
}

/* Calls from `first` to before `end`, then those inside, last block first. */
static void collect_calls(inliner *in, node *n, op *first, const op *end, size_t history) {
  VEC(op *) work = {0};
  VEC_PUSH(in->scratch, work, first);
  while (work.len) {
    for (op *o = work.data[--work.len]; o && o != end; o = o->next) {
      if (op_is(o, call)) collect_call(in, n, o, history);
      for (u32 k = 0; k < o->num_regions; k++)
        for (block *b = o->regions[k].first; b; b = b->next)
          if (b->first) VEC_PUSH(in->scratch, work, b->first);
    }
  }
}

static bool too_many(const inliner *in, const op *call) {
  return op_unimplemented(in->m->ctx, call, "expected at most %llu ops once calls are inlined",
                          (unsigned long long)in->limit);
}

static bool inline_call(inliner *in, call_site c) {
  const block *body = op_body(c.to->f, 0);
  ir_map *map = ir_map_create(in->scratch);
  relocation r = {in, c.call->loc, {0}};
  op *before = c.call->prev;
  for (u32 i = 0; i < body->num_args; i++) ir_map_set(map, body->args[i], op_operand(c.call, i));
  for (op *o = body->first; o != body->last; o = o->next) {
    if (in->budget-- == 0) return too_many(in, c.call);
    op *copy = op_clone(in->m, o, map);
    op_insert(copy, c.call->parent, c.call);
    if (!attr_is(loc_unknown, r.caller)) op_walk(copy, relocate, &r);
  }
  for (u32 i = 0; i < c.call->num_results; i++)
    value_replace(op_result(c.call, i), ir_map_get(map, op_operand(body->last, i)));
  if (!in->must) {
    VEC_PUSH(in->scratch, in->history, ((history){c.to, c.history}));
    collect_calls(in, c.in, before ? before->next : c.call->parent->first, c.call, in->history.len);
    each_symbol_ref(c.call, forget_name, &(walker){in, c.in, op_module(c.call), false});
    for (size_t i = 0; i < c.to->names.len; i++)
      add_names(in, c.in, c.to->names.data[i].what, c.to->names.data[i].times);
  }
  op_erase(c.call);
  return true;
}

/* *changed: a call went. */
static bool inline_calls(inliner *in, nodes *group, bool *changed) {
  in->calls.len = 0;
  for (size_t i = 0; i < group->len; i++) {
    node *n = group->data[i];
    if (n->discardable && n->uses == 0 && !in->must)
      n->gone = true;
    else
      for (block *b = op_body(n->f, 0); b; b = b->next) collect_calls(in, n, b->first, NULL, 0);
  }
  for (size_t i = 0; i < in->calls.len; i++) {
    call_site c = in->calls.data[i];
    if (!c.to) return op_unimplemented(in->m->ctx, c.call, "its callee has no body");
    if (c.in->gone || !can_inline(in, &c)) continue;
    bool last = c.to->discardable && c.to->uses == 1 && !in->must;
    if (!inline_call(in, c)) return false;
    *changed = true;
    if (!last) continue;
    forget_names(c.to);
    c.to->gone = true;
    c.to->discardable = false;
  }
  size_t kept = 0;
  for (size_t i = 0; i < group->len; i++)
    if (!group->data[i]->gone) group->data[kept++] = group->data[i];
  group->len = kept;
  return true;
}

/* Nothing of `before` and `after` is told of passes in between: they are part of this one. */
static bool inline_group(inliner *in, nodes *group) {
  const pass_tables *t = in->args->tables;
  pass_tables quiet = {0};
  if (t)
    quiet = (pass_tables){.tables = t->tables,
                          .count = t->count,
                          .patterns = t->patterns,
                          .num_patterns = t->num_patterns};
  if (in->must && (group->len > 1 || calls(in, group->data[0], group->data[0])))
    return op_error(in->m->ctx, group->data[0]->f, "is recursive; recursion cannot be inlined");
  in->history.len = 0;
  in->budget = in->limit;
  memset(&in->came, 0, sizeof in->came);
  bool changed = true;
  for (i64 n = 0; changed && (n == 0 || n < in->rounds); n++) {
    changed = false;
    for (size_t i = 0; in->between && i < group->len; i++)
      if (!pass_run_nodes(in->m, group->data[i]->f, in->between, &quiet)) return false;
    for (size_t i = 0; !in->must && i < group->len; i++) count_names(in, group->data[i]);
    if (!inline_calls(in, group, &changed)) return false;
  }
  return true;
}

/* ---- groups: Tarjan's strongly connected components, each when it is complete ---- */

static void enter(inliner *in, node *n) {
  n->visit = n->low = ++in->visits;
  VEC_PUSH(in->scratch, in->path, n);
  VEC_PUSH(in->scratch, in->pending, n);
}

static bool leave(inliner *in, node *n) {
  in->path.len--;
  if (in->path.len) {
    node *from = in->path.data[in->path.len - 1];
    from->low = n->low < from->low ? n->low : from->low;
  }
  if (n->low != n->visit) return true;
  nodes group = {0};
  for (node *k = NULL; k != n;) {
    k = in->pending.data[--in->pending.len];
    k->visit = GROUPED;
    VEC_PUSH(in->scratch, group, k);
  }
  return inline_group(in, &group);
}

static bool inline_from(inliner *in, node *start) {
  if (!start->visit) enter(in, start);
  while (in->path.len) {
    node *n = in->path.data[in->path.len - 1];
    if (n->next == n->calls.len) {
      if (!leave(in, n)) return false;
      continue;
    }
    node *to = n->calls.data[n->next++];
    if (!to->visit) enter(in, to);
    n->low = to->visit < n->low ? to->visit : n->low;
  }
  return true;
}

static bool inline_module(inliner *in, op *root) {
  in->limit = dialect_inlined_limit(dialect_count_ops(root));
  in->hidden = symbols_are_hidden(root);
  find_functions(in, root);
  for (size_t i = 0; i < in->functions.len; i++)
    if (!inline_from(in, in->functions.data[i])) return false;
  for (size_t i = 0; i < in->functions.len; i++)
    if (in->functions.data[i]->gone) op_erase(in->functions.data[i]->f);
  return true;
}

/* The first pipeline of the option for functions, or the default one. */
static bool read_pipeline(inliner *in) {
  const pass_args *args = in->args;
  const pass_node *n =
      pass_parse(in->m->ctx, in->scratch, "", pass_option_get(args, STR("op-pipelines"), STR("")),
                 args->tables);
  if (!n) return false;
  for (n = n->first; n && !(n->first && str_is(n->name, "func.func")); n = n->next) continue;
  str text = pass_option_get(args, STR("default-pipeline"), STR("canonicalize"));
  if (!n) n = pass_parse(in->m->ctx, in->scratch, "func.func", text, args->tables);
  in->between = n;
  return n != NULL;
}

bool pass_inline(ir_module *m, arena *scratch, const pass_args *args) {
  op *root = pass_root(m, args);
  inliner in = {.m = m,
                .scratch = scratch,
                .args = args,
                .rounds = pass_option_int(args, STR("max-iterations"), 4),
                .threshold = pass_option_int(args, STR("inlining-threshold"), UINT32_MAX)};
  if (!op_has(root, SYMBOL_TABLE))
    return op_error(m->ctx, root,
                    " was scheduled to run under the inliner, but does not define a symbol table");
  return read_pipeline(&in) && inline_module(&in, root);
}

bool pass_inline_all(ir_module *m, arena *scratch, const pass_args *args) {
  inliner in = {.m = m, .scratch = scratch, .args = args, .rounds = 1, .must = true};
  return inline_module(&in, m->root) && pass_symbol_dce(m, scratch, args);
}
