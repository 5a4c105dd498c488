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
  u32 used; /* bit per plain name */
} counters;

static u32 encode(name_kind kind, u32 number) { return number << NAME_BITS | (u32)kind; }

static u32 suggest(counters *c, name_kind kind) {
  if (c->used >> kind & 1) return encode(kind, ++c->conflict);
  c->used |= 1u << kind;
  return encode(kind, 0);
}

/* What an op calls its first result. */
static name_kind result_name(const op *o) {
  if (!op_is(o, constant)) return NAME_NUMBER;
  return type_element(o->results[0].type)->kind == TYPE_INT ? NAME_c : NAME_cst;
}

static void name_region(const region *r, counters c, bool generic) {
  bool iter = !generic && r->parent && op_is(r->parent, while);
  u32 block_number = 0;
  for (block *b = r->first; b; b = b->next) {
    b->num = block_number++;
    for (u32 i = 0; i < b->num_args; i++)
      b->args[i]->num = iter && b == r->first ? suggest(&c, NAME_iterArg)
                        : b == r->first       ? encode(NAME_arg, c.arg++)
                                              : encode(NAME_NUMBER, c.value++);
    for (op *o = b->first; o; o = o->next) {
      if (o->num_results == 0) continue;
      name_kind kind = generic ? NAME_NUMBER : result_name(o);
      o->results[0].num = kind == NAME_NUMBER ? encode(NAME_NUMBER, c.value++) : suggest(&c, kind);
    }
  }
  for (const block *b = r->first; b; b = b->next)
    for (const op *o = b->first; o; o = o->next)
      for (u32 i = 0; i < o->num_regions; i++) name_region(&o->regions[i], c, generic);
}

void printer_number(const op *root, bool generic) {
  counters c = {0};
  if (root->num_results) {
    name_kind kind = generic ? NAME_NUMBER : result_name(root);
    root->results[0].num = kind == NAME_NUMBER ? encode(NAME_NUMBER, c.value++) : suggest(&c, kind);
  }
  for (u32 i = 0; i < root->num_regions; i++) name_region(&root->regions[i], c, generic);
}
