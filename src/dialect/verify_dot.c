/* Products: dot, dot_general. */
#include "dialect/verify.h"
#include "text/text.h"

bool check_precision(checker *k, const op *o, attrs config) {
  if (config.len <= 2) return true; /* dot_general_c11, convolution_c24 */
  return plain_error(k, o, "expects precision config to be empty or have <= 2 elements, got %zu",
                     config.len);
}

/* Does the result have the shape that was inferred? */
bool check_shape(checker *k, const op *o, const shape *s) {
  const type *t = out_type(o, 0), *want = type_tensor(k->c, (i64s){s->size, s->n}, t->elem, NULL);
  if (shapes_agree(want, t)) return true;
  return plain_error(k, o,
                     "inferred shape '[%s]' is incompatible with return type of operation '%s'",
                     show_dims(k, want->dims), show(k, t));
}

/* ---- dot ---- */

/* Vectors and matrices only; the last of lhs is contracted with the first of rhs. */
bool verify_dot(checker *k, const op *o) {
  struct dot_attrs a;
  if (!view_dot(o, &a) || !check_precision(k, o, a.precision_config)) return false;
  const type *l = in_type(o, 0), *r = in_type(o, 1);
  size_t m = l->dims.len, n = r->dims.len;
  shape s = {0};
  if (m < 1 || m > 2 || n < 1 || n > 2 || !dims_agree(l->dims.data[m - 1], r->dims.data[0]))
    return plain_error(k, o, "expected both lhs/rhs ranks to be either 1 or 2");
  if (m == 2) s.size[s.n++] = l->dims.data[0];
  if (n == 2) s.size[s.n++] = r->dims.data[1];
  return check_shape(k, o, &s);
}

/* ---- dot_general ---- */

static bool check_algorithm(checker *k, const op *o, const dot_algorithm_attr *a) {
  const char *problem = a ? dot_algorithm_problem(k->c, a) : NULL;
  return !problem || plain_error(k, o, "%s", problem);
}

/* Sizes of paired dimensions agree. */
static bool pairs_agree(i64s a, i64s b, const type *x, const type *y) {
  for (size_t i = 0; i < a.len; i++)
    if (!dims_agree(x->dims.data[a.data[i]], y->dims.data[b.data[i]])) return false;
  return true;
}

bool check_dot_dims(checker *k, const op *o, const dot_attr *d) {
  const type *l = in_type(o, 0), *r = in_type(o, 1);
  i64s lb = d->lhs_batching_dimensions, rb = d->rhs_batching_dimensions;
  i64s lc = d->lhs_contracting_dimensions, rc = d->rhs_contracting_dimensions;
  if (lb.len != rb.len) /* dot_general_c1 */
    return plain_error(k, o, "lhs and rhs should have the same number of batching dimensions");
  if (lc.len != rc.len) /* dot_general_c2 */
    return plain_error(k, o, "lhs and rhs should have the same number of contracting dimensions");
  if (!check_disjoint(k, o, lb, lc, "lhs_batching_dimensions", "lhs_contracting_dimensions") ||
      !check_disjoint(k, o, rb, rc, "rhs_batching_dimensions", "rhs_contracting_dimensions"))
    return false; /* c3, c4 */
  if (!check_range(k, o, lb, rank_of(l), "lhs_batching_dimensions") ||
      !check_range(k, o, lc, rank_of(l), "lhs_contracting_dimensions") ||
      !check_range(k, o, rb, rank_of(r), "rhs_batching_dimensions") ||
      !check_range(k, o, rc, rank_of(r), "rhs_contracting_dimensions"))
    return false;                 /* c5 to c8 */
  if (!pairs_agree(lb, rb, l, r)) /* c9 */
    return plain_error(k, o, "batching dimension sizes must match for lhs/rhs");
  if (!pairs_agree(lc, rc, l, r)) /* c10 */
    return plain_error(k, o, "contracting dimension sizes must match for lhs/rhs");
  return true;
}

/* Batching dimensions, then those of each side that are neither (dot_general_c12). Batching
 * dimensions are on both sides, so what either says of their sizes holds. */
static bool dot_shape(checker *k, const op *o, const dot_attr *d, shape *s) {
  i64s batch[] = {d->lhs_batching_dimensions, d->rhs_batching_dimensions};
  i64s contract[] = {d->lhs_contracting_dimensions, d->rhs_contracting_dimensions};
  for (size_t i = 0; i < batch[0].len; i++) {
    const type *l = in_type(o, 0), *r = in_type(o, 1);
    size_t x = (size_t)batch[0].data[i], y = (size_t)batch[1].data[i];
    extent e, a = {l->dims.data[x], bound_at(l, x)}, b = {r->dims.data[y], bound_at(r, y)};
    if (!infer_extent(k, o, i, a, b, &e) || !shape_push(k, o, s, e.size, e.bound)) return false;
  }
  for (size_t side = 0; side < 2; side++) {
    const type *t = in_type(o, side);
    for (size_t i = 0; i < t->dims.len; i++)
      if (!contains(batch[side], (i64)i) && !contains(contract[side], (i64)i) &&
          !shape_push(k, o, s, t->dims.data[i], bound_at(t, i)))
        return false;
  }
  return true;
}

const type *dialect_infer_product(ir_module *m, const op *o) {
  checker k = {.m = m, .c = m->ctx, .scratch = ir_arena(m->ctx)};
  struct dot_general_attrs a = {0};
  i64 last = rank_of(in_type(o, 0)) - 1, first = 0;
  const dot_attr plain = {.lhs_contracting_dimensions = {&last, 1},
                          .rhs_contracting_dimensions = {&first, 1}};
  shape s = {0};
  if (op_is(o, dot_general) && !view_dot_general(o, &a)) return NULL;
  const dot_attr *d = op_is(o, dot_general) ? a.dot_dimension_numbers : &plain;
  return dot_shape(&k, o, d, &s) ? shape_type(&k, &s, type_index(m->ctx)) : NULL;
}

/* Element types of the result are free (accumulation may be wider), so it is checked, not
 * inferred. */
bool verify_dot_general(checker *k, const op *o) {
  struct dot_general_attrs a;
  if (!view_dot_general(o, &a)) return false;
  const dot_attr *d = a.dot_dimension_numbers;
  shape s = {0};
  if (!check_algorithm(k, o, a.algorithm) || !check_precision(k, o, a.precision_config) ||
      !check_dot_dims(k, o, d) || !dot_shape(k, o, d, &s) || !check_shape(k, o, &s)) /* c12 */
    return false;
  for (size_t i = 0; a.algorithm && i < a.precision_config.len; i++) /* c21 */
    if (((const precision_attr *)a.precision_config.data[i])->value != 0)
      return plain_error(k, o, "must specify DEFAULT precision config when algorithm is set.");
  return check_quant_dot(k, o, d->rhs_contracting_dimensions);
}
