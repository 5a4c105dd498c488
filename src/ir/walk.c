/* Reading: walks, symbols, operand groups, diagnostics. */
#include "base/index.h"
#include "ir/ctx.h"

/* Nesting is bounded by the readers (text, bytecode), so recursion is too. */
static walk_result walk(op *o, walk_fn *fn, void *user, bool post) {
  if (!post) {
    walk_result r = fn(user, o);
    if (r != WALK_ON) return r == WALK_STOP ? WALK_STOP : WALK_ON;
  }
  for (size_t i = 0; i < o->num_regions; i++)
    for (block *b = o->regions[i].first, *next; b; b = next) {
      next = b->next;
      FOR_OPS(inner, b) {
        bool leaf = !inner->num_regions; /* most are: a call less */
        walk_result r = leaf ? fn(user, inner) : walk(inner, fn, user, post);
        if (r == WALK_STOP) return WALK_STOP;
      }
    }
  return post ? fn(user, o) : WALK_ON;
}

bool op_walk(op *o, walk_fn *fn, void *user) { return walk(o, fn, user, false) != WALK_STOP; }
bool op_walk_post(op *o, walk_fn *fn, void *user) { return walk(o, fn, user, true) != WALK_STOP; }

typedef struct kind_walk {
  arena *a;
  op_id id;
  op_list *list;
} kind_walk;

static walk_result add_of_kind(void *user, op *o) {
  const kind_walk *w = user;
  if (op_kind(o) == w->id) VEC_PUSH(w->a, *w->list, o);
  return WALK_ON;
}

void ops_of_kind(arena *a, op *o, op_id id, op_list *list) {
  op_walk_post(o, add_of_kind, &(kind_walk){a, id, list});
}

str symbol_name(const op *o) {
  str s = {0};
  if (!op_has(o, SYMBOL)) return s;
  attr_get_str(op_attr(o, SLOT_NAME(sym_name)), &s);
  return s;
}

/* Linear; symbol_map for many names. */
op *symbol_find(const op *table, str name) {
  block *b = table->num_regions ? table->regions[0].first : NULL;
  if (b)
    for (op *o = b->first; o; o = o->next)
      if (str_eq(symbol_name(o), name)) return o;
  return NULL;
}

struct symbol_map {
  hash_index by_name;
};

/* The first op of a name counts, as in symbol_find. */
symbol_map *symbol_map_build(const op *table, arena *a) {
  symbol_map *m = ARENA_NEW(a, symbol_map);
  const block *b = table->num_regions ? table->regions[0].first : NULL;
  for (op *o = b ? b->first : NULL; o; o = o->next) {
    str name = symbol_name(o);
    if (name.len && !symbol_map_find(m, name))
      index_add(&m->by_name, a, hash_bytes(name.data, name.len, 0), o);
  }
  return m;
}

op *symbol_map_find(const symbol_map *m, str name) {
  op *o;
  u64 h = hash_bytes(name.data, name.len, 0);
  for (size_t at = 0; (o = index_next(&m->by_name, h, &at));)
    if (str_eq(symbol_name(o), name)) return o;
  return NULL;
}

op *op_module(op *o) {
  while (o && !op_has(o, SYMBOL_TABLE)) o = op_parent(o);
  return o;
}

/* An op is inside itself. */
bool op_is_inside(const op *o, const op *ancestor) {
  while (o && o != ancestor) o = op_parent(o);
  return o != NULL;
}

/* From attribute operandSegmentSizes, an array of i32. */
static bool segment(const op *o, size_t g, size_t *begin, size_t *count) {
  const dense_array_attr *sizes = attr_as(dense_array, op_attr(o, SLOT_NAME(operandSegmentSizes)));
  size_t all = 0;
  if (!sizes || sizes->elem->kind != TYPE_INT || sizes->elem->width != 32 ||
      sizes->data.len != o->info->num_operands * 4)
    return false;
  for (size_t i = 0; i < o->info->num_operands; i++) {
    u32 n;
    memcpy(&n, sizes->data.data + i * 4, 4);
    if (n > o->num_operands) return false;
    if (i == g) {
      *begin = all;
      *count = n;
    }
    all += n;
  }
  return all == o->num_operands;
}

/* From the counts alone where that is possible: at most one group of free length, or several of one
 * length (SAME_SEGMENTS). Ops that do not verify are asked too, by the printer. */
bool op_operand_group(const op *o, size_t g, size_t *begin, size_t *count) {
  const op_info *info = o->info;
  size_t many = 0, single = 0;
  for (u32 i = 0; i < info->num_operands; i++)
    *(info->operands[i].arity == ONE ? &single : &many) += 1;
  if (g >= info->num_operands || o->num_operands < single) return false;
  size_t rest = o->num_operands - single, each = rest;
  if (many > 1) {
    if (!op_has(o, SAME_SEGMENTS)) return segment(o, g, begin, count);
    each = rest / many; /* what is over belongs to none */
  }
  if (many == 0 && rest) return false;
  *begin = 0;
  for (size_t i = 0; i < g; i++) *begin += info->operands[i].arity == ONE ? 1 : each;
  *count = info->operands[g].arity == ONE ? 1 : each;
  return info->operands[g].arity != MAYBE || *count <= 1;
}

typedef struct numbering {
  u32 values, ops;
} numbering;

/* Ops, results and block arguments in the order of the text; blocks are numbered by whoever needs
 * it. */
static walk_result number(void *user, op *o) {
  numbering *n = user;
  o->num = n->ops++;
  for (u32 i = 0; i < o->num_results; i++) o->results[i].num = n->values++;
  for (size_t r = 0; r < o->num_regions; r++)
    for (block *b = o->regions[r].first; b; b = b->next)
      for (u32 i = 0; i < b->num_args; i++) b->args[i]->num = n->values++;
  return WALK_ON;
}

/* Numbers are scratch of whoever asked last: a pass that numbers must not call one that numbers too
 * while it still reads them. */
u32 module_number_all(ir_module *m, u32 *num_ops) {
  numbering n = {0};
  op_walk(m->root, number, &n);
  *num_ops = n.ops;
  return n.values;
}

u32 module_number(ir_module *m) {
  u32 num_ops;
  return module_number_all(m, &num_ops);
}

/* ---- diagnostics ---- */

/* The text is made first and then given as one "%s": a message may contain per cent signs of
 * input. */
static void emit_at(ir_ctx *c, diag_kind kind, const attr *loc, str prefix, const char *fmt,
                    va_list ap) {
  buf b;
  buf_init(&b, &c->mem);
  buf_str(&b, prefix);
  buf_vprintf(&b, fmt, ap);
  diag_pos pos = loc_pos(loc);
  if (kind == DIAG_ERROR)
    diag_error(c->sink, pos, "%s", buf_cstr(&b));
  else
    diag_note(c->sink, pos, "%s", buf_cstr(&b));
  buf_deinit(&b);
}

bool loc_error(ir_ctx *c, const attr *loc, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  emit_at(c, DIAG_ERROR, loc, STR(""), fmt, ap);
  va_end(ap);
  return false;
}

void loc_note(ir_ctx *c, const attr *loc, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  emit_at(c, DIAG_NOTE, loc, STR(""), fmt, ap);
  va_end(ap);
}

static void op_emit(ir_ctx *c, const op *o, const char *what, const char *fmt, va_list ap) {
  buf b;
  buf_init(&b, &c->mem);
  buf_printf(&b, "'" STR_FMT "' op %s", STR_ARG(o->info->name), what);
  emit_at(c, DIAG_ERROR, o->loc, buf_view(&b), fmt, ap);
  buf_deinit(&b);
}

bool op_error(ir_ctx *c, const op *o, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  op_emit(c, o, "", fmt, ap);
  va_end(ap);
  return false;
}

bool op_unimplemented(ir_ctx *c, const op *o, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  c->sink->unimplemented = true;
  op_emit(c, o, "is not implemented: ", fmt, ap);
  va_end(ap);
  return false;
}
