/* Names of values as MLIR's printer gives them.
 *
 * A region goes on with the counters of the one around it, taken after all of that one is named;
 * its siblings do the same. Names that an op suggests (%cst, %iterArg) get `_N` from a third
 * counter when they are taken in an enclosing scope; that counter only grows inwards, so a
 * suffixed name is never taken, and a set of the plain names in use is all there is to know.
 *
 * value.num is the kind in the low bits and a number above them. */
#include "text/names.h"

#include <stdio.h>

#include "text/lexer.h"
#include "text/parser.h"

typedef struct counters {
  u32 value, arg, conflict;
  u64 used; /* bit per kind */
} counters;

static u32 encode(u32 kind, u32 number) { return number << NAME_BITS | kind; }

/* ---- names from locations and of integers: any of them may meet any other ---- */

/* Which names are in use around a region, and the order in which they came. */
struct scope {
  name_map names;
  VEC(str) added;
};

/* As an identifier. */
static str clean(arena *a, str name) {
  static const char hex[] = "0123456789ABCDEF";
  char *out = arena_alloc(a, 2 * name.len + 1);
  size_t n = 0;
  if (char_is_digit(name.data[0])) out[n++] = '_';
  for (size_t i = 0; i < name.len; i++) {
    u8 ch = (u8)name.data[i];
    if (char_is_digit((char)ch) || ((ch | 32) >= 'a' && (ch | 32) <= 'z') || ch == '$' ||
        ch == '.' || ch == '_' || ch == '-') {
      out[n++] = (char)ch;
    } else if (ch == ' ') {
      out[n++] = '_';
    } else {
      if (ch >> 4) out[n++] = hex[ch >> 4];
      out[n++] = hex[ch & 15];
    }
  }
  return (str){out, n};
}

static bool is_taken(const struct scope *s, str name) { return name_map_get(&s->names, name); }

/* The name wanted, or the first free one with _N behind it; kept in `own`, whose index is the
 * number that value.num holds. */
static u32 own_name(printer *w, str wanted, counters *c) {
  arena *a = w->forms.a;
  struct scope *s = w->scope;
  str name = clean(a, wanted);
  if (is_taken(s, name)) {
    char *text = arena_alloc(a, name.len + 12);
    memcpy(text, name.data, name.len);
    size_t stem = name.len;
    do name.len = stem + (size_t)snprintf(text + stem, 12, "_%u", c->conflict++);
    while (name.data = text, is_taken(s, name));
  }
  *name_map_at(&s->names, a, name) = s;
  VEC_PUSH(a, s->added, name);
  VEC_PUSH(a, w->own, name);
  return encode(NAME_OWN, (u32)w->own.len - 1);
}

/* The first name within a location; NULL: none. */
static const loc_name_attr *name_in(const attr *loc) {
  const loc_callsite_attr *call = attr_as(loc_callsite, loc);
  const loc_fused_attr *fused = attr_as(loc_fused, loc);
  const loc_name_attr *found = attr_as(loc_name, loc);
  if (call) {
    found = name_in(call->callee);
    return found ? found : name_in(call->caller);
  }
  for (size_t i = 0; fused && !found && i < fused->locs.len; i++)
    found = name_in(fused->locs.data[i]);
  return found;
}

/* The location's name, where those are wanted, before the one that the op suggests, which may be
 * NULL; an empty one is a number. */
static u32 located_name(printer *w, const attr *loc, const char *suggested, counters *c) {
  const loc_name_attr *n = w->options.location_names ? name_in(loc) : NULL;
  str name = n ? n->name : suggested ? str_of(suggested) : STR("");
  return name.len ? own_name(w, name, c) : encode(NAME_NUMBER, c->value++);
}

/* ---- the usual way ---- */

/* The first of a kind in its scope has the bare name; 0 is no suffix. */
static u32 suggest(counters *c, u32 kind) {
  if (c->used >> kind & 1) return encode(kind, ++c->conflict);
  c->used |= 1ull << kind;
  return encode(kind, 0);
}

/* The kind of a plain name; NAME_NUMBER if there is no room for one more. */
static u32 kind_of(printer *w, const char *name) {
  for (u32 k = 0; k < w->num_plain; k++)
    if (strcmp(w->plain[k], name) == 0) return NAME_PLAIN + k;
  if (w->num_plain == MAX_PLAIN) return NAME_NUMBER;
  w->plain[w->num_plain] = name;
  return NAME_PLAIN + w->num_plain++;
}

/* Only custom printing names results one by one: for several single results, or where the row asks
 * for it. */
bool names_each_result(const printer *w, const op *o) {
  const op_info *info = o->info;
  bool named = info->num_results > 1 || (info->traits & NAMES_RESULT);
  if (w->options.generic || !named || o->num_results != info->num_results) return false;
  for (u32 i = 0; i < info->num_results; i++)
    if (info->results[i].arity != ONE) return false;
  return true;
}

static void name_result(printer *w, value *v, const char *suggested, counters *c) {
  if (w->options.location_names) {
    v->num = located_name(w, v->def.op->loc, suggested, c);
    return;
  }
  u32 kind = suggested ? kind_of(w, suggested) : NAME_NUMBER;
  v->num = kind == NAME_NUMBER ? encode(NAME_NUMBER, c->value++) : suggest(c, kind);
}

/* arith calls a constant of one integer %c5_i32, of an index %c5, of a flag %true. */
static const char *integer_name(printer *w, const integer_attr *i) {
  bool number = i->type->kind == TYPE_INDEX || i->type->width != 1;
  buf *out = w->out, text;
  buf_init(&text, out->mem);
  w->out = &text;
  if (number) put_char(w, 'c');
  printer_attr_bare(w, &i->base);
  if (number && i->type->kind == TYPE_INT) {
    put_char(w, '_');
    printer_type(w, i->type);
  }
  w->out = out;
  return buf_take(&text, w->forms.a).data;
}

static void name_results(printer *w, op *o, counters *c) {
  if (o->num_results == 0) {
    if (w->options.users) o->num = c->value++;
    return;
  }
  if (names_each_result(w, o)) {
    for (u32 i = 0; i < o->num_results; i++)
      name_result(w, &o->results[i], o->info->results[i].name, c);
    return;
  }
  value *v = &o->results[0];
  const char *name = NULL;
  if (!w->options.generic && op_is(o, constant))
    name = type_element(v->type)->kind == TYPE_INT ? "c" : "cst";
  if (!w->options.generic && op_is(o, func_constant)) name = "f";
  if (!w->options.generic && op_is(o, arith_constant)) {
    const integer_attr *i = attr_as(integer, o->slots[0]);
    if (i) {
      v->num = located_name(w, o->loc, integer_name(w, i), c);
      return;
    }
    name = "cst";
  }
  name_result(w, v, name, c);
}

/* What the op of the region calls argument i of its first block; NULL: %argN. */
static const char *arg_name(printer *w, const op *o, u32 i) {
  size_t begin, count;
  if (w->options.generic || !o) return NULL;
  if (op_is(o, while)) return "iterArg";
  if (op_is(o, mpmd_for) && i == o->num_operands) return "index";
  if (op_is(o, chlo_scan))
    return op_operand_group(o, 0, &begin, &count) && i < count ? "input" : "carry";
  return NULL;
}

static u32 name_arg(printer *w, const block *b, u32 i, const char *suggested, counters *c) {
  char text[16];
  bool entry = b == b->parent->first;
  bool located = w->options.location_names;
  if (suggested && !located) return suggest(c, kind_of(w, suggested));
  if (!located) return entry ? encode(NAME_ARG, c->arg++) : encode(NAME_NUMBER, c->value++);
  if (entry && !suggested) {
    snprintf(text, sizeof text, "arg%u", c->arg++);
    suggested = text;
  }
  return located_name(w, block_arg_loc(b, i), suggested, c);
}

/* Entry arguments are %argN, those of other blocks take numbers as results do, as in MLIR. */
static void name_args(printer *w, const region *r, block *b, counters *c) {
  for (u32 i = 0; i < b->num_args; i++)
    b->args[i]->num = name_arg(w, b, i, b == r->first ? arg_name(w, r->parent, i) : NULL, c);
}

static void name_blocks(printer *w, const region *r, counters *c) {
  u32 block_number = 0;
  for (block *b = r->first; b; b = b->next) {
    b->num = block_number++;
    name_args(w, r, b, c);
    for (op *o = b->first; o; o = o->next) name_results(w, o, c);
  }
}

/* The names that came since there were `n` are free again. */
static void leave_scope(printer *w, size_t n) {
  struct scope *s = w->scope;
  while (s->added.len > n)
    *name_map_at(&s->names, w->forms.a, s->added.data[--s->added.len]) = NULL;
}

/* counters by value: what one region uses up is free for its siblings. */
static void name_region(printer *w, const region *r, counters c) {
  size_t names = w->scope->added.len;
  name_blocks(w, r, &c);
  for (const block *b = r->first; b; b = b->next)
    for (const op *o = b->first; o; o = o->next)
      for (u32 i = 0; i < o->num_regions; i++) name_region(w, &o->regions[i], c);
  leave_scope(w, names);
}

/* No number is used twice; regions come last first, as from MLIR's stack. The names in use are
 * still those of the regions around. */
static void name_uniquely(printer *w, const region *r, counters *c) {
  const block *last = NULL;
  u64 used = c->used;
  size_t names = w->scope->added.len;
  name_blocks(w, r, c);
  for (const block *b = r->first; b; b = b->next) last = b;
  for (const block *b = last; b; b = b->prev)
    for (const op *o = b->last; o; o = o->prev)
      for (u32 i = o->num_regions; i-- > 0;) name_uniquely(w, &o->regions[i], c);
  c->used = used;
  leave_scope(w, names);
}

static void forget_name(op *o) {
  for (u32 i = 0; i < o->num_results; i++) o->results[i].num = NAME_UNKNOWN;
}

static void forget_users(const value *v) {
  for (const use *u = v->uses; u; u = u->next) forget_name(u->owner);
}

/* Of operands, and of those who use the values, whether they have a place or not. */
static walk_result forget_names(void *user, op *o) {
  (void)user;
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = op_operand(o, i);
    if (v->is_arg)
      v->num = NAME_UNKNOWN;
    else
      forget_name(v->def.op);
  }
  for (u32 i = 0; i < o->num_results; i++) forget_users(&o->results[i]);
  for (u16 r = 0; r < o->num_regions; r++)
    for (const block *b = o->regions[r].first; b; b = b->next)
      for (u32 i = 0; i < b->num_args; i++) forget_users(b->args[i]);
  return WALK_ON;
}

/* Values may be used where they do not stand (strays): those are marked first, so that they print
 * as unknown rather than under an old number. */
void printer_number(printer *w, const op *root) {
  counters c = {0};
  struct scope scope = {0};
  w->num_plain = 0;
  w->scope = &scope;
  if (w->options.strays) op_walk((op *)root, forget_names, NULL);
  name_results(w, (op *)root, &c);
  if (w->options.generic || w->options.unique_names)
    for (u32 i = root->num_regions; i-- > 0;) name_uniquely(w, &root->regions[i], &c);
  else
    for (u32 i = 0; i < root->num_regions; i++) name_region(w, &root->regions[i], c);
  w->scope = NULL;
}
