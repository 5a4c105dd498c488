/* Locations as text, and the aliases that stand for attributes.
 *
 * Aliases are numbered as MLIR numbers them: in the order in which printing comes upon the
 * attributes, an op's before those inside it, and those that contain none first, then those that
 * contain these, and so on; kind by kind. Locations that an argument needs stand above the module
 * with the other attributes, the rest below. */
#include "text/printer.h"

typedef struct alias {
  const attr *loc; /* or another attribute */
  u32 depth;       /* 1: contains none that has an alias */
  u32 number;      /* among those of its name */
  u8 name;
  bool deferred;
} alias;

/* In the order in which they are numbered. */
static const char *const names[] = {"distinct", "loc", "map", "set", "sparse"};

/* Index into names; -1: such attributes have no alias. */
static int name_of(const attr *a) {
  const opaque_attr *o = attr_as(opaque, a);
  const distinct_attr *d = attr_as(distinct, a);
  if (attr_is_loc(a)) return 1;
  if (d) return attr_is(unit, d->value) ? -1 : 0;
  if (a->id == ATTR_affine_map) return 2;
  if (a->id == ATTR_affine_set) return 3;
  return o && str_is(o->dialect, "sparse_tensor") && str_starts(o->text, STR("encoding")) ? 4 : -1;
}

struct aliases {
  arena *a;
  VEC(alias) all;
  u32 *table; /* index + 1 into all, by address of the location */
  size_t cap;
  alias **ordered;
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

/* Attributes at any depth in one; the greatest depth of their aliases. */
static u32 visit_attr(struct aliases *t, const attr *a, bool deferred) {
  u32 depth = 0, d;
  if (name_of(a) >= 0) return visit(t, a, deferred);
  for (const field_info *f = attr_infos[a->id].fields(); f->name; f++) {
    const void *at = (const char *)a + f->offset;
    const attr *one = f->kind == FIELD_attr ? *(const attr *const *)at : NULL;
    attrs many = f->kind == FIELD_attrs ? *(const attrs *)at : (attrs){&one, one != NULL};
    for (size_t i = 0; i < many.len; i++) {
      d = visit_attr(t, many.data[i], deferred);
      if (d > depth) depth = d;
    }
  }
  return depth;
}

/* The locations inside one; the greatest of their depths. */
static u32 visit_parts(struct aliases *t, const attr *loc, bool deferred) {
  const loc_name_attr *n = attr_as(loc_name, loc);
  const loc_callsite_attr *s = attr_as(loc_callsite, loc);
  const loc_fused_attr *f = attr_as(loc_fused, loc);
  const distinct_attr *x = attr_as(distinct, loc);
  u32 depth = 0;
  if (x) return visit_attr(t, x->value, deferred);
  if (f && f->metadata) depth = visit_attr(t, f->metadata, deferred);
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
    VEC_PUSH(t->a, t->all, ((alias){loc, 0, 0, (u8)name_of(loc), deferred}));
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
  if (w->options.debuginfo && w->aliases && !w->aliases->numbered && loc)
    visit(w->aliases, loc, deferred);
}

bool printer_collects(const printer *w) { return w->aliases && !w->aliases->numbered; }

struct aliases *printer_aliases_begin(arena *a) {
  struct aliases *t = ARENA_NEW(a, struct aliases);
  t->a = a;
  return t;
}

/* Those of less depth come first, then by name. */
static size_t rank_of(const alias *a) { return (size_t)a->depth * COUNT(names) + a->name; }

void printer_aliases_number(struct aliases *t) {
  size_t n = t->all.len, ranks = 0;
  for (size_t i = 0; i < n; i++)
    if (rank_of(&t->all.data[i]) >= ranks) ranks = rank_of(&t->all.data[i]) + 1;
  size_t *at = arena_zalloc(t->a, (ranks + 1) * sizeof *at); /* where those of a rank go */
  for (size_t i = 0; i < n; i++) at[rank_of(&t->all.data[i]) + 1]++;
  for (size_t r = 0; r < ranks; r++) at[r + 1] += at[r];
  t->ordered = ARENA_ARRAY(t->a, alias *, n);
  for (size_t i = 0; i < n; i++) t->ordered[at[rank_of(&t->all.data[i])]++] = &t->all.data[i];
  u32 numbers[COUNT(names)] = {0};
  for (size_t i = 0; i < n; i++) t->ordered[i]->number = numbers[t->ordered[i]->name]++;
  t->numbered = true;
}

static const alias *alias_of(const printer *w, const attr *loc) {
  const struct aliases *t = w->aliases;
  u32 at = t && t->numbered && t->cap ? *place_of(t, loc) : 0;
  return at ? &t->all.data[at - 1] : NULL;
}

/* #loc, #loc1, #loc2: the first has no number. */
static void put_alias(printer *w, const alias *a) {
  put_char(w, '#');
  put(w, str_of(names[a->name]));
  if (a->number) printer_i64(w, a->number);
}

bool printer_alias(printer *w, const attr *a) {
  if (!w->aliases || name_of(a) < 0) return false;
  if (!w->aliases->numbered) return visit(w->aliases, a, false), false;
  const alias *known = alias_of(w, a);
  if (known) put_alias(w, known);
  return known != NULL;
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
  for (size_t i = 0; t && i < t->all.len; i++) {
    if (t->ordered[i]->deferred != deferred) continue;
    put_alias(w, t->ordered[i]);
    PUT(w, " = ");
    printer_attr_itself(w, t->ordered[i]->loc);
    put_char(w, '\n');
    printer_drain(w);
  }
}
