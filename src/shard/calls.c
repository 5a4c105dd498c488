/* Functions and calls: symbols by name for one pass, the order of the call graph, copies.
 *
 * Passes of the import and the export are about calls: they flatten the call graph (a copy a call),
 * turn calls into regions, and back. Recursion is refused where an order is asked for
 * (funcs_in_order), so that walks along calls end; the depth is bounded besides, as they
 * recurse. */
#include "shard/calls.h"

op *module_main(ir_module *m) {
  op *only = NULL;
  size_t n = 0;
  FOR_OPS(o, op_body(m->root, 0)) if (op_is(o, func)) only = o, n++;
  if (n == 1) return only;
  op *o = symbol_find(m->root, STR("main"));
  return o && op_is(o, func) ? o : NULL;
}

/* ---- symbols ---- */

static u64 name_hash(str name) { return hash_bytes(name.data, name.len, 0); }

static void note_symbol(symbols *t, op *o) {
  str name = symbol_name(o);
  if (name.len) index_add(&t->by_name, t->a, name_hash(name), o);
}

void symbols_init(symbols *t, ir_module *m, arena *a) {
  *t = (symbols){.m = m, .a = a};
  FOR_OPS(o, op_body(m->root, 0)) note_symbol(t, o);
}

op *symbols_find(const symbols *t, str name) {
  op *o;
  u64 h = name_hash(name);
  for (size_t at = 0; (o = index_next(&t->by_name, h, &at));)
    if (str_eq(symbol_name(o), name)) return o;
  return NULL;
}

/* The counter goes on from name to name, so that a thousand copies are not a thousand searches
 * each. */
void symbols_insert(symbols *t, op *o, op *before) {
  str name = symbol_name(o);
  if (symbols_find(t, name))
    for (;;) {
      str other = arena_printf(t->a, STR_FMT "_%u", STR_ARG(name), t->counter++);
      if (symbols_find(t, other)) continue;
      op_set_any(o, sym_name, attr_string(t->m->ctx, other));
      break;
    }
  note_symbol(t, o);
  op_insert(o, op_body(t->m->root, 0), before);
}

op *call_callee(const symbols *t, const op *call) {
  struct call_attrs v;
  op *f = view_call(call, &v) ? symbols_find(t, v.callee) : NULL;
  return f && op_is(f, func) ? f : NULL;
}

void call_set_callee(ir_module *m, op *call, const op *func) {
  op_set(call, call, callee, attr_symbol(m->ctx, symbol_name(func)));
}

/* ---- call-graph order ---- */

typedef struct ordering {
  const symbols *t;
  op **out; /* callees first */
  size_t n;
  u32 depth;
  bool ok;
} ordering;

static void order_func(ordering *r, op *func);

static walk_result order_callee(void *user, op *o) {
  ordering *r = user;
  op *f = op_is(o, call) ? call_callee(r->t, o) : NULL;
  if (f) order_func(r, f);
  return r->ok ? WALK_ON : WALK_STOP;
}

/* func->num: 0 not begun, 1 under way, 2 done */
static void order_func(ordering *r, op *func) {
  if (func->num == 2) return;
  if (func->num == 1 || r->depth == MAX_CALL_DEPTH) {
    r->ok = op_error(r->t->m->ctx, func, "is recursive or called too deep");
    return;
  }
  func->num = 1;
  r->depth++;
  if (module_may_have(r->t->m, call)) op_walk(func, order_callee, r);
  r->depth--;
  func->num = 2;
  r->out[r->n++] = func;
}

/* By depth first; a function is behind all that it calls. Where callers come first the list is
 * turned round. Uses func->num, which is scratch. */
bool funcs_in_order(const symbols *t, bool callers_first, op ***out, size_t *n) {
  ordering r = {.t = t, .ok = true};
  block *body = op_body(t->m->root, 0);
  size_t count = 0;
  FOR_OPS(o, body) if (op_is(o, func)) o->num = 0, count++;
  r.out = ARENA_ARRAY(t->a, op *, count);
  FOR_OPS(o, body) if (op_is(o, func) && r.ok) order_func(&r, o);
  *out = r.out;
  *n = r.n;
  for (size_t i = 0, k = r.n; callers_first && i + 1 < k; i++) {
    op *t = r.out[i];
    r.out[i] = r.out[--k];
    r.out[k] = t;
  }
  return r.ok;
}

const attr *func_original_name(const op *func) {
  const attr *a = op_discardable(func, SDY_ORIGINAL_FUNC_NAME);
  return a ? a : op_attr(func, SLOT_NAME(sym_name));
}

/* ---- cloning ---- */

static walk_result clone_callee(void *user, op *o) {
  symbols *t = user;
  op *f = op_is(o, call) ? call_callee(t, o) : NULL;
  if (f) call_set_callee(t->m, o, func_clone_deep(t, f));
  return WALK_ON;
}

/* Copies share nothing: what is called twice in the copy is copied twice. Who calls it bounds the
 * sum first (dialect_check_calls). */
op *func_clone_deep(symbols *t, op *func) {
  op *copy = op_clone(t->m, func, ir_map_create(t->a));
  op_set_attr(t->m, copy, SDY_ORIGINAL_FUNC_NAME, func_original_name(func));
  op_walk(copy, clone_callee, t);
  symbols_insert(t, copy, NULL);
  return copy;
}

/* All or none, since the attribute of an op has one entry for each result. */
bool func_all_shardings(shard_space *s, const op *func, func_side side, const attr **out) {
  size_t n = func_num(func, side);
  const attr *first = NULL;
  for (size_t i = 0; i < n && !first; i++) {
    const attr *a = func_sharding(func, side, i);
    const sharding *sh = shard_read(s, a);
    if (sh && !mesh_is_maximal(sh->mesh)) first = a;
  }
  for (size_t i = 0; first && i < n; i++) {
    out[i] = func_sharding(func, side, i);
    if (!out[i])
      out[i] = shard_attr_open_like(shard_space_module(s)->ctx, first,
                                    type_rank(func_type_of(func, side, i)));
  }
  return first != NULL;
}
