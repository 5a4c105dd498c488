/* einsum and unary_einsum as what they stand for: diagonals as sums of what a mask leaves, sums of
 * dimensions that only one operand has, a product with batches, and a transpose.
 *
 * Equations are NumPy's, with `...`; dimensions of size 1 are stretched where both operands have
 * the label. */
#include "dialect/expand.h"

enum { DOTS = 256 }; /* labels of the dimensions that "..." stands for, from the last one back */

bool einsum_labels(str *text, bool last, i64s shape, i64 *labels) {
  size_t n = 0, dots = SIZE_MAX;
  for (; text->len && text->data[0] != ',' && text->data[0] != '-'; *text = str_from(*text, 1)) {
    u8 c = (u8)text->data[0];
    if (c == ' ') continue;
    if (str_starts(*text, STR("...")) && dots == SIZE_MAX) {
      dots = n;
      *text = str_from(*text, 2);
    } else if ((c | 32) < 'a' || (c | 32) > 'z' || n == shape.len) {
      return false;
    } else {
      labels[n++] = c;
    }
  }
  if (dots == SIZE_MAX ? n != shape.len : n > shape.len) return false;
  if (dots != SIZE_MAX) {
    size_t stands_for = shape.len - n;
    memmove(labels + dots + stands_for, labels + dots, (n - dots) * sizeof *labels);
    for (size_t i = 0; i < stands_for; i++) labels[dots + i] = (i64)(DOTS + stands_for - i);
  }
  size_t cut = last ? 0 : str_starts(*text, STR("->")) ? 2 : str_starts(*text, STR(",")) ? 1 : 0;
  *text = str_from(*text, cut);
  return last ? !text->len : cut > 0;
}

/* A value and the label of each dimension, none twice once diagonals are taken. */
typedef struct labelled {
  value *v;
  i64 *labels;
  size_t rank;
} labelled;

static i64 place_of(const labelled *x, i64 label) {
  for (size_t i = 0; i < x->rank; i++)
    if (x->labels[i] == label) return (i64)i;
  return -1;
}

static i64 size_of(const labelled *x, size_t d) { return x->v->type->dims.data[d]; }

static void drop_label(labelled *x, size_t d) {
  for (size_t i = d + 1; i < x->rank; i++) x->labels[i - 1] = x->labels[i];
  x->rank--;
}

/* ---- one operand ---- */

static void sum_out(expander *e, labelled *x, size_t d) {
  x->v = expand_sum(e, x->v, &(i64){(i64)d}, 1);
  drop_label(x, d);
}

/* Where dimensions a and b, of one size, are at the same place. */
static bool take_diagonal(expander *e, labelled *x, size_t a, size_t b) {
  const type *t = x->v->type;
  if (size_of(x, a) != size_of(x, b)) return false;
  const type *index = expand_with_elem(e->c, t, type_i64(e->c));
  value *i = expand_iota(e, index, (i64)a), *k = expand_iota(e, index, (i64)b);
  value *zero = expand_constant(e, t, number_int(0));
  if (!zero) return false;
  x->v = expand_select(e, expand_compare(e, COMPARE_EQ, i, k), x->v, zero);
  sum_out(e, x, b);
  return true;
}

/* Each label once, and those only that `other` or the result has; a dimension of size 1 that is
 * stretched is left to the other. */
static bool reduce_operand(expander *e, labelled *x, const labelled *other, const labelled *out) {
  for (size_t i = 0; i < x->rank; i++)
    for (size_t k = x->rank; k-- > i + 1;)
      if (x->labels[i] == x->labels[k] && !take_diagonal(e, x, i, k)) return false;
  for (size_t i = x->rank; i-- > 0;) {
    i64 there = other ? place_of(other, x->labels[i]) : -1;
    bool stretched = there >= 0 && size_of(x, i) == 1 && size_of(other, (size_t)there) != 1;
    if (stretched || (there < 0 && place_of(out, x->labels[i]) < 0)) sum_out(e, x, i);
  }
  return true;
}

/* ---- both ---- */

typedef struct product {
  i64 *lhs_batch, *rhs_batch, *lhs_sum, *rhs_sum; /* dimensions */
  size_t batches, sums;
  labelled result;
  i64 *dims; /* of the result */
} product;

static void add_dim(product *p, const labelled *x, size_t d) {
  p->dims[p->result.rank] = size_of(x, d);
  p->result.labels[p->result.rank++] = x->labels[d];
}

/* Batches first, then what only one of them has. false: sizes differ. */
static bool plan_product(expander *e, const labelled *x, const labelled *y, const labelled *out,
                         product *p) {
  size_t most = x->rank + y->rank + 1;
  i64 **lists[] = {&p->lhs_batch, &p->rhs_batch,     &p->lhs_sum,
                   &p->rhs_sum,   &p->result.labels, &p->dims};
  for (size_t i = 0; i < COUNT(lists); i++) *lists[i] = ARENA_ARRAY(e->a, i64, most);
  for (size_t d = 0; d < x->rank; d++) {
    i64 at = place_of(y, x->labels[d]);
    if (at < 0) continue;
    if (size_of(x, d) != size_of(y, (size_t)at)) return false;
    bool kept = place_of(out, x->labels[d]) >= 0;
    (kept ? p->lhs_batch : p->lhs_sum)[kept ? p->batches : p->sums] = (i64)d;
    (kept ? p->rhs_batch : p->rhs_sum)[kept ? p->batches++ : p->sums++] = at;
    if (kept) add_dim(p, x, d);
  }
  for (size_t d = 0; d < x->rank; d++)
    if (place_of(y, x->labels[d]) < 0) add_dim(p, x, d);
  for (size_t d = 0; d < y->rank; d++)
    if (place_of(x, y->labels[d]) < 0) add_dim(p, y, d);
  return true;
}

static bool multiply(expander *e, const labelled *x, const labelled *y, const labelled *out,
                     const type *elem, labelled *result) {
  product p = {0};
  if (!plan_product(e, x, y, out, &p)) return false;
  p.result.v =
      expand_2(e, OP_dot_general, x->v, y->v, expand_tensor(e, p.dims, p.result.rank, elem));
  op_set(p.result.v->def.op, dot_general, dot_dimension_numbers,
         attr_make(e->c, dot, .lhs_batching_dimensions = {p.lhs_batch, p.batches},
                   .rhs_batching_dimensions = {p.rhs_batch, p.batches},
                   .lhs_contracting_dimensions = {p.lhs_sum, p.sums},
                   .rhs_contracting_dimensions = {p.rhs_sum, p.sums}));
  *result = p.result;
  return true;
}

/* In the result's order. false: it has other labels, or sizes. */
static bool put_in_order(expander *e, const labelled *x, const labelled *out, const type *want,
                         value **result) {
  i64 *permutation = ARENA_ARRAY(e->a, i64, out->rank + 1);
  if (x->rank != out->rank) return false;
  bool same = true;
  for (size_t d = 0; d < out->rank; d++) {
    i64 at = permutation[d] = place_of(x, out->labels[d]);
    if (at < 0 || size_of(x, (size_t)at) != want->dims.data[d]) return false;
    for (size_t k = 0; k < d; k++)
      if (permutation[k] == at) return false;
    same &= at == (i64)d;
  }
  if (type_element(x->v->type) != type_element(want)) return false;
  *result = x->v;
  if (same) return true;
  *result = expand_1(e, OP_transpose, x->v, want);
  op_set((*result)->def.op, transpose, permutation,
         attr_i64_array(e->c, (i64s){permutation, out->rank}));
  return true;
}

bool expand_einsum(expander *e, op *o, value **out) {
  str text = {0};
  labelled x[3];
  const type *want = o->results[0].type;
  u32 n = o->num_operands + 1;
  if (n > COUNT(x) || !attr_get_str(op_attr(o, SLOT_NAME(einsum_config)), &text)) return false;
  for (u32 t = 0; t < n; t++) {
    const type *have = t + 1 == n ? want : op_operand(o, t)->type;
    if (!type_is_static(have)) return false;
    x[t] = (labelled){t + 1 == n ? NULL : op_operand(o, t),
                      ARENA_ARRAY(e->a, i64, have->dims.len + 1), have->dims.len};
    if (!einsum_labels(&text, t + 1 == n, have->dims, x[t].labels))
      return op_error(e->c, o, "has an equation that does not fit its operands and result");
  }
  labelled *result = &x[n - 1], first;
  for (u32 t = 0; t + 1 < n; t++)
    if (!reduce_operand(e, &x[t], n == 3 ? &x[1 - t] : NULL, result)) return false;
  first = x[0];
  if (n == 3 && !multiply(e, &x[0], &x[1], result, type_element(want), &first)) return false;
  return put_in_order(e, &first, result, want, out) ||
         op_error(e->c, o, "has an equation that does not fit its operands and result");
}
