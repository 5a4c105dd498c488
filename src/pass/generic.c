/* Passes that know no dialect but func: symbol-dce, inline, cse. */
#include "pass/pass.h"

/* ---- symbol-dce: private symbols that nothing reachable names are erased ---- */

typedef struct reach {
  op *table;
  arena *a;
  VEC(op *) work;
} reach;

static void reach_attr(reach *r, const attr *a, int depth);

static void reach_symbol(reach *r, str name) {
  op *o = symbol_find(r->table, name);
  if (!o || o->num) return;
  o->num = 1;
  VEC_PUSH(r->a, r->work, o);
}

static void reach_list(reach *r, attrs list, int depth) {
  for (size_t i = 0; i < list.len; i++) reach_attr(r, list.data[i], depth);
}

/* Finds symbol references at any depth, by the field kinds of the attribute's row. */
static void reach_attr(reach *r, const attr *a, int depth) {
  if (!a || depth > 64) return;
  const symbol_ref_attr *s = attr_as(symbol_ref, a);
  if (s) {
    reach_symbol(r, s->root);
    return;
  }
  for (const field_info *f = attr_infos[a->id].fields(); f->name; f++) {
    const char *at = (const char *)a + f->offset;
    if (f->kind == FIELD_attr) reach_attr(r, *(const attr *const *)(const void *)at, depth + 1);
    if (f->kind == FIELD_attrs) reach_list(r, *(const attrs *)(const void *)at, depth + 1);
  }
}

static walk_result reach_op(void *user, op *o) {
  reach *r = user;
  for (u32 i = 0; i < o->info->num_slots; i++) reach_attr(r, o->slots[i], 0);
  for (u32 i = 0; i < o->num_attrs; i++) reach_attr(r, o->attrs[i].value, 0);
  return WALK_ON;
}

static bool is_private(const op *o) {
  str v = {0};
  return op_has(o, SYMBOL) && attr_get_str(op_attr(o, STR("sym_visibility")), &v) &&
         str_is(v, "private");
}

static bool symbol_dce(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  reach r = {.table = m->root, .a = scratch};
  block *b = op_body(m->root, 0);
  for (op *o = b->first; o; o = o->next) o->num = 0;
  for (op *o = b->first; o; o = o->next)
    if (!is_private(o) && !o->num) {
      o->num = 1;
      VEC_PUSH(scratch, r.work, o);
    }
  while (r.work.len) op_walk(r.work.data[--r.work.len], reach_op, &r);
  FOR_OPS(o, b) if (!o->num) op_erase(o);
  return true;
}

/* ---- inline: every call of a function with a body, the callee copied in place ---- */

typedef struct inliner {
  ir_module *m;
  arena *scratch;
  VEC(op *) calls; /* callee order: bodies are inlined before they are copied */
  u64 budget;      /* ops that may still be copied */
  u32 depth;       /* of calls, which recursion follows */
} inliner;

enum { INLINE_BUDGET = 50 * 1000 * 1000, INLINE_DEPTH = 1000 };

static op *callee_of(ir_module *m, const op *call) {
  struct call_attrs v;
  op *f = view_call(call, &v) ? symbol_find(m->root, v.callee) : NULL;
  return f && op_is(f, func) && op_body(f, 0) ? f : NULL;
}

static bool inline_function(inliner *in, op *f);

static bool inline_call(inliner *in, op *call) {
  op *f = callee_of(in->m, call);
  if (!f) return op_unimplemented(in->m->ctx, call, "its callee has no body");
  if (!inline_function(in, f)) return false;
  block *body = op_body(f, 0);
  ir_map *map = ir_map_create(in->scratch);
  for (u32 i = 0; i < body->num_args && i < call->num_operands; i++)
    ir_map_set(map, body->args[i], op_operand(call, i));
  for (op *o = body->first; o != body->last; o = o->next) {
    if (in->budget-- == 0) return op_error(in->m->ctx, call, "calls expand to too many ops");
    op_insert(op_clone(in->m, o, map), call->parent, call);
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

/* f->num: 0 not begun, 1 under way, 2 done */
static bool inline_function(inliner *in, op *f) {
  if (f->num == 2) return true;
  if (f->num == 1) return op_error(in->m->ctx, f, "is recursive; recursion cannot be inlined");
  if (in->depth == INLINE_DEPTH) return op_error(in->m->ctx, f, "is called too deep to inline");
  in->depth++;
  f->num = 1;
  inliner calls = *in;
  memset(&calls.calls, 0, sizeof calls.calls);
  op_walk(f, collect_call, &calls);
  for (size_t i = 0; i < calls.calls.len; i++)
    if (!inline_call(in, calls.calls.data[i])) return false;
  in->depth--;
  f->num = 2;
  return true;
}

static bool inline_pass(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  inliner in = {.m = m, .scratch = scratch, .budget = INLINE_BUDGET};
  block *b = op_body(m->root, 0);
  for (op *o = b->first; o; o = o->next) o->num = 0;
  for (op *o = b->first; o; o = o->next)
    if (op_is(o, func) && op_body(o, 0) && !inline_function(&in, o)) return false;
  return symbol_dce(m, scratch, args);
}

const pass_info pass_generic[] = {
    {"symbol-dce", "Erases private symbols that nothing refers to", symbol_dce, NULL},
    {"inline", "Puts the bodies of called functions in the place of the calls", inline_pass, NULL},
    {NULL, NULL, NULL, NULL},
};
