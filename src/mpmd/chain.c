/* Chains of transfers; chain.h has them. */
#include "mpmd/chain.h"

static bool comes_before(const op *a, const op *b) {
  return mpmd_mesh_before(a->results[0].type->text, b->results[0].type->text);
}

void chain_add(arena *a, op_list *assigns, op *o) {
  VEC_PUSH(a, *assigns, o);
  op **l = assigns->data;
  for (size_t i = assigns->len - 1; i && comes_before(l[i], l[i - 1]); i--) {
    op *t = l[i];
    l[i] = l[i - 1];
    l[i - 1] = t;
  }
}

value *chain_transfer(rewriter *r, op *before, const attr *loc, value *v, const type *to) {
  return op_result(rewrite_create(r, before, OP_mpmd_transfer, loc, &v, 1, &to, 1), 0);
}

void chain_replace(rewriter *r, const op_list *assigns, value *from) {
  op *before = assigns->data[0];
  for (size_t i = 1; i < assigns->len; i++)
    if (rewrite_is_before(r, assigns->data[i], before)) before = assigns->data[i];
  for (size_t i = 0; i < assigns->len; i++) {
    op *o = assigns->data[i];
    const type *to = o->results[0].type;
    if (from->type != to) from = chain_transfer(r, before, o->loc, from, to);
    if (o == before) before = o->next;
    rewrite_replace(r, o, &from);
  }
}
