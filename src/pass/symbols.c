/* symbol-dce: private symbols that nothing reachable names are erased. strip-debuginfo. */
#include "pass/passes.h"

bool symbol_is_private(const op *o) {
  str v = {0};
  return op_has(o, SYMBOL) && attr_get_str(op_attr(o, STR("sym_visibility")), &v) &&
         str_is(v, "private");
}

/* ---- references ---- */

typedef struct ref_visitor {
  void (*fn)(void *user, str name);
  void *user;
} ref_visitor;

enum { MAX_DEPTH = 64 };

/* By the field kinds of the attribute's row. */
static void visit_attr(const ref_visitor *r, const attr *a, int depth) {
  if (!a || depth > MAX_DEPTH) return;
  const symbol_ref_attr *s = attr_as(symbol_ref, a);
  if (s) {
    r->fn(r->user, s->root);
    return;
  }
  for (const field_info *f = attr_infos[a->id].fields(); f->name; f++) {
    const char *at = (const char *)a + f->offset;
    if (f->kind == FIELD_attr) visit_attr(r, *(const attr *const *)(const void *)at, depth + 1);
    if (f->kind != FIELD_attrs) continue;
    attrs list = *(const attrs *)(const void *)at;
    for (size_t i = 0; i < list.len; i++) visit_attr(r, list.data[i], depth + 1);
  }
}

void each_symbol_ref(const op *o, void (*fn)(void *user, str name), void *user) {
  ref_visitor r = {fn, user};
  for (u32 i = 0; i < o->info->num_slots; i++) visit_attr(&r, o->slots[i], 0);
  for (u32 i = 0; i < o->num_attrs; i++) visit_attr(&r, o->attrs[i].value, 0);
}

/* ---- symbol-dce ---- */

typedef struct reach {
  symbol_map *names;
  arena *a;
  VEC(op *) work;
} reach;

static void reach_op(reach *r, op *o) {
  if (o->num) return;
  o->num = 1;
  VEC_PUSH(r->a, r->work, o);
}

static void reach_symbol(void *user, str name) {
  reach *r = user;
  op *o = symbol_map_find(r->names, name);
  if (o) reach_op(r, o);
}

static walk_result reach_refs(void *user, op *o) {
  each_symbol_ref(o, reach_symbol, user);
  return WALK_ON;
}

bool pass_symbol_dce(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  reach r = {.names = symbol_map_build(m->root, scratch), .a = scratch};
  block *b = op_body(m->root, 0);
  for (op *o = b->first; o; o = o->next) o->num = 0;
  for (op *o = b->first; o; o = o->next)
    if (!symbol_is_private(o)) reach_op(&r, o);
  while (r.work.len) op_walk(r.work.data[--r.work.len], reach_refs, &r);
  FOR_OPS(o, b) if (!o->num) op_erase(o);
  return true;
}

/* ---- strip-debuginfo ---- */

static walk_result strip(void *user, op *o) {
  o->loc = loc_unknown(user);
  for (u32 k = 0; k < o->num_regions; k++)
    for (block *b = o->regions[k].first; b; b = b->next) b->arg_locs = NULL;
  return WALK_ON;
}

bool pass_strip_debuginfo(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch;
  op_walk(pass_root(m, args), strip, m->ctx);
  return true;
}
