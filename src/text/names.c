/* Names of values as MLIR's printer gives them.
 *
 * A region goes on with the counters of the one around it, taken after all of that one is named;
 * its siblings do the same. Names that an op suggests (%cst, %iterArg) get `_N` from a third
 * counter when they are taken in an enclosing scope; that counter only grows inwards, so a
 * suffixed name is never taken, and a set of the plain names in use is all there is to know.
 *
 * value.num is the kind in the low bits and a number above them. */
#include "text/names.h"

typedef struct counters {
  u32 value, arg, conflict;
  u64 used; /* bit per kind */
} counters;

static u32 encode(u32 kind, u32 number) { return number << NAME_BITS | kind; }

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

bool names_each_result(const printer *w, const op *o) {
  const op_info *info = o->info;
  if (w->options.generic || info->num_results < 2 || o->num_results != info->num_results)
    return false;
  for (u32 i = 0; i < info->num_results; i++)
    if (info->results[i].arity != ONE) return false;
  return true;
}

static void name_result(printer *w, value *v, const char *suggested, counters *c) {
  u32 kind = suggested ? kind_of(w, suggested) : NAME_NUMBER;
  v->num = kind == NAME_NUMBER ? encode(NAME_NUMBER, c->value++) : suggest(c, kind);
}

static void name_results(printer *w, op *o, counters *c) {
  if (o->num_results == 0) return;
  if (names_each_result(w, o)) {
    for (u32 i = 0; i < o->num_results; i++)
      name_result(w, &o->results[i], o->info->results[i].name, c);
    return;
  }
  const char *name = NULL;
  if (!w->options.generic && (op_is(o, constant) || op_is(o, arith_constant)))
    name = type_element(o->results[0].type)->kind == TYPE_INT ? "c" : "cst";
  name_result(w, &o->results[0], name, c);
}

/* What the op of the region calls argument i of its first block; NULL: %argN. */
static const char *arg_name(printer *w, const op *o, u32 i) {
  size_t begin, count;
  if (w->options.generic || !o) return NULL;
  if (op_is(o, while)) return "iterArg";
  if (op_is(o, chlo_scan))
    return op_operand_group(o, 0, &begin, &count) && i < count ? "input" : "carry";
  return NULL;
}

static void name_args(printer *w, const region *r, block *b, counters *c) {
  for (u32 i = 0; i < b->num_args; i++) {
    const char *name = b == r->first ? arg_name(w, r->parent, i) : NULL;
    b->args[i]->num = name            ? suggest(c, kind_of(w, name))
                      : b == r->first ? encode(NAME_ARG, c->arg++)
                                      : encode(NAME_NUMBER, c->value++);
  }
}

static void name_blocks(printer *w, const region *r, counters *c) {
  u32 block_number = 0;
  for (block *b = r->first; b; b = b->next) {
    b->num = block_number++;
    name_args(w, r, b, c);
    for (op *o = b->first; o; o = o->next) name_results(w, o, c);
  }
}

static void name_region(printer *w, const region *r, counters c) {
  name_blocks(w, r, &c);
  for (const block *b = r->first; b; b = b->next)
    for (const op *o = b->first; o; o = o->next)
      for (u32 i = 0; i < o->num_regions; i++) name_region(w, &o->regions[i], c);
}

/* In generic form no number is used twice; regions come last first, as from MLIR's stack. */
static void name_uniquely(printer *w, const region *r, counters *c) {
  const block *last = NULL;
  name_blocks(w, r, c);
  for (const block *b = r->first; b; b = b->next) last = b;
  for (const block *b = last; b; b = b->prev)
    for (const op *o = b->last; o; o = o->prev)
      for (u32 i = o->num_regions; i-- > 0;) name_uniquely(w, &o->regions[i], c);
}

void printer_number(printer *w, const op *root) {
  counters c = {0};
  w->num_plain = 0;
  name_results(w, (op *)root, &c);
  if (w->options.generic)
    for (u32 i = root->num_regions; i-- > 0;) name_uniquely(w, &root->regions[i], &c);
  else
    for (u32 i = 0; i < root->num_regions; i++) name_region(w, &root->regions[i], c);
}
