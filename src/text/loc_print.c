/* Locations as text, and the aliases that stand for them.
 *
 * Aliases are numbered as MLIR numbers them: locations in the order in which printing comes upon
 * them, an op's before those inside it, and those that contain none first, then those that
 * contain these, and so on. Those that an argument needs stand above the module, the rest below. */
#include "text/printer.h"

typedef struct alias {
  const attr *loc;
  u32 depth; /* 1: contains no location */
  u32 number;
  bool deferred;
} alias;

struct aliases {
  arena *a;
  VEC(alias) all;
  u32 *table; /* index + 1 into all, by address of the location */
  size_t cap;
  bool numbered; /* false: still collecting */
};

static u32 *place_of(const struct aliases *t, const attr *loc) {
  size_t i = hash_ptr(loc, 0) & (t->cap - 1);
  while (t->table[i] && t->all.data[t->table[i] - 1].loc != loc) i = (i + 1) & (t->cap - 1);
  return &t->table[i];
}

static void grow(struct aliases *t) {
  if ((t->all.len + 1) * 2 <= t->cap) return;
  t->cap = t->cap ? t->cap * 2 : 256;
  t->table = arena_zalloc(t->a, t->cap * sizeof *t->table);
  for (u32 i = 0; i < t->all.len; i++) *place_of(t, t->all.data[i].loc) = i + 1;
}

static u32 visit(struct aliases *t, const attr *loc, bool deferred);

/* The locations inside one; the greatest of their depths. */
static u32 visit_parts(struct aliases *t, const attr *loc, bool deferred) {
  const loc_name_attr *n = attr_as(loc_name, loc);
  const loc_callsite_attr *s = attr_as(loc_callsite, loc);
  const loc_fused_attr *f = attr_as(loc_fused, loc);
  u32 depth = 0;
  if (n && !attr_is(loc_unknown, n->child)) depth = visit(t, n->child, deferred);
  if (s) {
    u32 a = visit(t, s->callee, deferred), b = visit(t, s->caller, deferred);
    depth = a > b ? a : b;
  }
  for (size_t i = 0; f && i < f->locs.len; i++) {
    u32 d = visit(t, f->locs.data[i], deferred);
    if (d > depth) depth = d;
  }
  return depth;
}

/* Depth of the location, which gets an alias if it has none so far. */
static u32 visit(struct aliases *t, const attr *loc, bool deferred) {
  grow(t);
  u32 *place = place_of(t, loc), at = *place;
  if (at == 0) {
    VEC_PUSH(t->a, t->all, (alias){loc, 0, 0, deferred});
    at = *place = (u32)t->all.len;
    u32 depth = visit_parts(t, loc, deferred) + 1;
    return t->all.data[at - 1].depth = depth;
  }
  if (!deferred && t->all.data[at - 1].deferred) {
    t->all.data[at - 1].deferred = false;
    visit_parts(t, loc, false);
  }
  return t->all.data[at - 1].depth;
}

void printer_visit_loc(printer *w, const attr *loc, bool deferred) {
  if (w->aliases && !w->aliases->numbered && loc) visit(w->aliases, loc, deferred);
}

struct aliases *printer_aliases_begin(arena *a) {
  struct aliases *t = ARENA_NEW(a, struct aliases);
  t->a = a;
  return t;
}

void printer_aliases_number(struct aliases *t) {
  u32 number = 0;
  t->numbered = true;
  for (u32 depth = 1; number < t->all.len; depth++)
    for (size_t i = 0; i < t->all.len; i++)
      if (t->all.data[i].depth == depth) t->all.data[i].number = number++;
}

static const alias *alias_of(const printer *w, const attr *loc) {
  const struct aliases *t = w->aliases;
  u32 at = t && t->numbered && t->cap ? *place_of(t, loc) : 0;
  return at ? &t->all.data[at - 1] : NULL;
}

static void put_alias(printer *w, const alias *a) {
  PUT(w, "#loc");
  if (a->number) printer_i64(w, a->number);
}

static void body(printer *w, const attr *loc);

/* A location inside another */
static void part(printer *w, const attr *loc) {
  const alias *a = alias_of(w, loc);
  if (a)
    put_alias(w, a);
  else
    body(w, loc);
}

static void file(printer *w, const loc_file_attr *f) {
  printer_quoted(w, loc_file_name(f));
  put_char(w, ':');
  printer_i64(w, f->line);
  put_char(w, ':');
  printer_i64(w, f->col);
  if ((f->end_line == 0 && f->end_col == 0) || (f->end_line == f->line && f->end_col == f->col))
    return;
  PUT(w, " to ");
  if (f->end_line != f->line) printer_i64(w, f->end_line);
  put_char(w, ':');
  printer_i64(w, f->end_col);
}

static void fused(printer *w, const loc_fused_attr *f) {
  PUT(w, "fused");
  if (f->metadata) {
    put_char(w, '<');
    printer_attr(w, f->metadata, false);
    put_char(w, '>');
  }
  put_char(w, '[');
  for (size_t i = 0; i < f->locs.len; i++) {
    if (i) PUT(w, ", ");
    part(w, f->locs.data[i]);
  }
  put_char(w, ']');
}

static void body(printer *w, const attr *loc) {
  const loc_file_attr *f = attr_as(loc_file, loc);
  const loc_name_attr *n = attr_as(loc_name, loc);
  const loc_callsite_attr *s = attr_as(loc_callsite, loc);
  const loc_fused_attr *u = attr_as(loc_fused, loc);
  if (f)
    file(w, f);
  else if (u)
    fused(w, u);
  else if (n) {
    printer_quoted(w, n->name);
    if (attr_is(loc_unknown, n->child)) return;
    put_char(w, '(');
    part(w, n->child);
    put_char(w, ')');
  } else if (s) {
    PUT(w, "callsite(");
    part(w, s->callee);
    PUT(w, " at ");
    part(w, s->caller);
    put_char(w, ')');
  } else
    PUT(w, "unknown");
}

void printer_loc(printer *w, const attr *loc) {
  PUT(w, "loc(");
  body(w, loc);
  put_char(w, ')');
}

void printer_trailing_loc(printer *w, const attr *loc, bool allow_alias) {
  if (!w->options.debuginfo || !loc) return;
  const alias *a = allow_alias ? alias_of(w, loc) : NULL;
  put_char(w, ' ');
  if (!a) {
    printer_loc(w, loc);
    return;
  }
  PUT(w, "loc(");
  put_alias(w, a);
  put_char(w, ')');
}

void printer_aliases_print(printer *w, bool deferred) {
  const struct aliases *t = w->aliases;
  const alias **by_number = t ? ARENA_ARRAY(t->a, const alias *, t->all.len) : NULL;
  for (size_t i = 0; t && i < t->all.len; i++) by_number[t->all.data[i].number] = &t->all.data[i];
  for (size_t i = 0; t && i < t->all.len; i++) {
    if (by_number[i]->deferred != deferred) continue;
    put_alias(w, by_number[i]);
    PUT(w, " = ");
    printer_loc(w, by_number[i]->loc);
    put_char(w, '\n');
  }
}
