/* symbol-dce: symbols that nothing reachable names are erased. strip-debuginfo. */
#include "dialect/dialect.h"
#include "pass/passes.h"

bool symbol_is(const op *o, const char *visibility) {
  str v = STR("public");
  attr_get_str(op_attr(o, SLOT_NAME(sym_visibility)), &v);
  return op_has(o, SYMBOL) && str_is(v, visibility);
}

/* ---- references ---- */

typedef struct ref_visitor {
  ref_fn *fn;
  void *user;
} ref_visitor;

enum { MAX_DEPTH = 64 };

/* By the field kinds of the attribute's row. */
static void visit_attr(const ref_visitor *r, const attr *a, int depth) {
  if (!a || depth > MAX_DEPTH) return;
  const symbol_ref_attr *s = attr_as(symbol_ref, a);
  if (s) {
    r->fn(r->user, s);
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

void each_symbol_ref(const op *o, ref_fn *fn, void *user) {
  ref_visitor r = {fn, user};
  for (u32 i = 0; i < o->info->num_slots; i++) visit_attr(&r, o->slots[i], 0);
  for (u32 i = 0; i < o->num_attrs; i++) visit_attr(&r, o->attrs[i].value, 0);
}

/* ---- symbol-dce ---- */

/* op.num: is it known to live? */
typedef struct reach {
  ir_ctx *c;
  arena *a;
  const op *table;
  symbol_map *names; /* of the table */
  VEC(op *) work;
  bool only;   /* there is no other table: it is enough to know of all its symbols that they live */
  size_t left; /* symbols of the table of which that is not known */
} reach;

static void reach_op(reach *r, op *o) {
  if (o->num) return;
  o->num = 1;
  if (op_has(o, SYMBOL)) r->left--;
  VEC_PUSH(r->a, r->work, o);
}

static bool is_enough(const reach *r) { return r->only && !r->left; }

/* The map of the last table is kept, as symbols of one table are mostly looked up in a row. */
static void reach_names(reach *r, const op *table) {
  if (r->table != table) r->names = symbol_map_build(table, r->a);
  r->table = table;
}

/* Each symbol of the path, if there is the last; what is private is seen in its own table only. */
static void reach_symbol(void *user, const symbol_ref_attr *ref) {
  reach *r = user;
  op *path[MAX_DEPTH] = {symbol_map_find(r->names, ref->root)}, *o = path[0];
  size_t n = 1;
  for (size_t i = 0; o && i < ref->nested.len && n < MAX_DEPTH; i++) {
    o = op_has(o, SYMBOL_TABLE) ? symbol_find(o, symbol_of(ref->nested.data[i])) : NULL;
    if (o && symbol_is(o, "private")) o = NULL;
    path[n++] = o;
  }
  for (size_t i = 0; o && i < n; i++) reach_op(r, path[i]);
}

static walk_result reach_refs(void *user, op *o) {
  if (op_kind(o) == OP_unregistered && !o->info->hooks && o->num_regions == 1 &&
      !op_dialect_known(o->info->name))
    return WALK_STOP;
  each_symbol_ref(o, reach_symbol, user);
  if (is_enough(user)) return WALK_STOP;
  return op_has(o, SYMBOL_TABLE) ? WALK_SKIP : WALK_ON;
}

static bool reach_table(ir_ctx *c, arena *a, op *table, bool hidden, bool only);

bool symbols_are_hidden(const op *table) {
  return !table->parent || !symbol_name(table).len || symbol_is(table, "private");
}

/* The tables inside of an op, however deep. */
static bool reach_inside(reach *r, const op *o, bool hidden) {
  for (u32 k = 0; k < o->num_regions; k++)
    for (block *b = o->regions[k].first; b; b = b->next)
      for (op *i = b->first; i; i = i->next)
        if (i->num_regions && !(op_has(i, SYMBOL_TABLE) ? reach_table(r->c, r->a, i, hidden, false)
                                                        : reach_inside(r, i, hidden)))
          return false;
  return true;
}

/* `hidden`: nothing outside of the table can name what is in it. */
static bool reach_table(ir_ctx *c, arena *a, op *table, bool hidden, bool only) {
  reach r = {.c = c, .a = a, .only = only};
  for (op *o = op_body(table, 0)->first; o; o = o->next) r.left += op_has(o, SYMBOL);
  for (op *o = op_body(table, 0)->first; o; o = o->next) {
    bool stays = symbol_is(o, "public") || (symbol_is(o, "nested") && !hidden);
    if (!op_has(o, SYMBOL) || stays) reach_op(&r, o);
  }
  while (r.work.len && !is_enough(&r)) {
    op *o = r.work.data[--r.work.len];
    bool inside = op_has(o, SYMBOL_TABLE)
                      ? reach_table(c, a, o, hidden || symbols_are_hidden(o), false)
                      : only || reach_inside(&r, o, hidden);
    if (!inside) return false;
    reach_names(&r, op_parent(o)); /* as a rule the table: what a path names may be of another */
    if (!op_walk(o, reach_refs, &r) && !is_enough(&r))
      return loc_error(c, o->loc,
                       "operation contains potentially unknown symbol table, meaning that we can't "
                       "reliable compute symbol uses");
  }
  return true;
}

static walk_result erase_unreached(void *user, op *o) {
  (void)user;
  if (!op_has(o, SYMBOL_TABLE)) return WALK_ON;
  FOR_OPS(i, op_body(o, 0)) if (op_has(i, SYMBOL) && !i->num) op_erase(i);
  return WALK_ON;
}

static walk_result clear_num(void *user, op *o) {
  (void)user;
  o->num = 0;
  return WALK_ON;
}

/* The module has no other symbol table, nor anything that could be one. */
static bool is_only_table(const ir_module *m, const op *root) {
  return root == m->root && m->tables <= 1 && !m->live_other;
}

/* Nothing can be erased. */
static bool all_stay(const op *root) {
  for (const op *o = op_body(root, 0)->first; o; o = o->next)
    if (op_has(o, SYMBOL) && !symbol_is(o, "public")) return false;
  return true;
}

/* op.num says what is reached; everything is marked first and erased after, so that circles of
 * private functions go too. Of a module's only table the ops inside are gone through once, until
 * all symbols are found: as a rule the first layer names what the others do. */
bool pass_symbol_dce(ir_module *m, arena *scratch, const pass_args *args) {
  op *root = pass_root(m, args);
  if (!op_has(root, SYMBOL_TABLE))
    return op_error(m->ctx, root,
                    " was scheduled to run under SymbolDCE, but does not define a symbol table");
  bool only = is_only_table(m, root);
  if (only && all_stay(root)) return true;
  if (only)
    for (op *o = op_body(root, 0)->first; o; o = o->next) o->num = 0;
  else
    op_walk(root, clear_num, NULL);
  if (!reach_table(m->ctx, scratch, root, symbols_are_hidden(root), only)) return false;
  if (only)
    erase_unreached(NULL, root);
  else
    op_walk_post(root, erase_unreached, NULL);
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
