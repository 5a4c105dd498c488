/* symbol-dce: private symbols that nothing reachable names are erased. strip-debuginfo. */
#include "pass/passes.h"

void symbol_index_init(symbol_index *t, arena *a, const op *table) {
  memset(t, 0, sizeof *t);
  const block *b = table->num_regions ? table->regions[0].first : NULL;
  for (op *o = b ? b->first : NULL; o; o = o->next) {
    str name = symbol_name(o);
    if (name.len && !symbol_index_find(t, name))
      index_add(&t->by_name, a, hash_bytes(name.data, name.len, 0), o);
  }
}

op *symbol_index_find(const symbol_index *t, str name) {
  op *o;
  u64 h = hash_bytes(name.data, name.len, 0);
  for (size_t at = 0; (o = index_next(&t->by_name, h, &at));)
    if (str_eq(symbol_name(o), name)) return o;
  return NULL;
}

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
  symbol_index names;
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
  op *o = symbol_index_find(&r->names, name);
  if (o) reach_op(r, o);
}

static walk_result reach_refs(void *user, op *o) {
  each_symbol_ref(o, reach_symbol, user);
  return WALK_ON;
}

bool pass_symbol_dce(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  reach r = {.a = scratch};
  symbol_index_init(&r.names, scratch, m->root);
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
