/* Ops with regions: reductions, sort, control flow. That every region is one block which ends in
 * the right terminator was checked before. */
#include "dialect/verify.h"

/* The element types agree, or both are floats (or both complex), whose precision may differ, or
 * integers that grow. */
static bool promotes(const type *from, const type *to) {
  int a = element_kind(from), b = element_kind(to);
  if (a == b && (a & EL_INT)) return from->width <= to->width;
  return from == to || (a == b && (a & (EL_FLOAT | EL_COMPLEX)));
}

/* all_reduce_c5, reduce_c6, reduce_scatter_c7, reduce_window_c13, scatter_c23 */
bool check_reducer(checker *k, const op *o, const block *b, size_t n, const type *const *inputs,
                   const type *const *inits) {
  if (b->num_args != 2 * n)
    return op_error(k->c, o, "Reduction-region must take %zu parameters, but takes %u parameter(s)",
                    2 * n, b->num_args);
  if (num_returned(b) == 0)
    return op_error(k->c, o, "The reduction-region expected to return some value(s)");
  if (num_returned(b) != n)
    return op_error(k->c, o,
                    "Reduction-region here must produce %zu tensors, but produces %zu instead", n,
                    num_returned(b));
  for (size_t i = 0; i < n; i++) {
    const type *r = returned(b, i);
    if (r->kind != TYPE_TENSOR)
      return op_error(
          k->c, o,
          "Reduction-region here must produce tensor-typed result(s), but produces '%s' "
          "instead",
          show(k, r));
    if (rank_of(r) != 0)
      return op_unimplemented(k->c, o, "a reduction-region over '%s'; only scalars are",
                              show(k, r));
    for (size_t j = i; j < 2 * n; j += n) {
      const type *arg = b->args[j]->type;
      bool same =
          j == i ? types_agree(r, arg) : shapes_agree(r, arg) && promotes(r->elem, arg->elem);
      if (!same)
        return op_error(k->c, o,
                        "The type of reduction-region's parameter at index %zu is different than "
                        "the corresponding result type: '%s' vs '%s'",
                        j, show(k, arg), show(k, r));
    }
    if (!shapes_agree(inits[i], r))
      return op_error(k->c, o,
                      "The shape of reduction-region's result type at index %zu differs from the "
                      "op's corresponding init-value type: '%s' vs '%s'",
                      i, show(k, r), show(k, inits[i]));
    if (!promotes(inits[i]->elem, r->elem))
      return op_error(k->c, o,
                      "The element-type of reduction-region's result type at index %zu is expected "
                      "to be promotable from the op's corresponding init-value element-type: '%s' "
                      "vs '%s'",
                      i, show(k, r), show(k, inits[i]));
    if (!promotes(inputs[i]->elem, r->elem))
      return op_error(k->c, o,
                      "The element-type of reduction-region's argument at index %zu is expected to "
                      "be promotable from '%s', but got '%s'",
                      n + i, show(k, inputs[i]->elem), show(k, r->elem));
  }
  return true;
}

/* Inputs and initial values of reduce and reduce_window: n of each, inputs of one shape. */
static bool check_reduction(checker *k, const op *o) {
  size_t n = o->num_operands / 2;
  arena *mem = ir_arena(k->c);
  if (n == 0) return op_error(k->c, o, "requires at least 1 input value");
  if (o->num_results != n)
    return op_error(k->c, o, "expects as many results as inputs, but got %u and %zu",
                    o->num_results, n);
  const type **inputs = ARENA_ARRAY(mem, const type *, n),
             **inits = ARENA_ARRAY(mem, const type *, n);
  for (size_t i = 0; i < n; i++) {
    inputs[i] = in_type(o, i);
    inits[i] = in_type(o, n + i);
    if (!shapes_agree(inputs[0], inputs[i])) /* reduce_c1, reduce_window_c2 */
      return op_error(k->c, o,
                      "expects all inputs to have compatible shapes. Shape at input-index %zu is "
                      "not compatible with shape at input-index 0",
                      i);
  }
  return check_reducer(k, o, op_body(o, 0), n, inputs, inits);
}

bool verify_reduce(checker *k, const op *o) { return check_reduction(k, o); }

bool infer_reduce(checker *k, const op *o, const type **out) {
  struct reduce_attrs a;
  if (!view_reduce(o, &a)) return false;
  const type *t = in_type(o, 0);
  dim_set gone = 0;
  for (size_t i = 0; i < a.dimensions.len; i++) {
    i64 d = a.dimensions.data[i];
    if (d < 0 || d >= rank_of(t)) /* reduce_c4 */
      return op_error(k->c, o, "Out-of-bounds dimension %lld, expected to be in range [0, %lld)",
                      (long long)d, (long long)rank_of(t));
    if (dim_in(gone, d)) /* reduce_c5 */
      return op_error(k->c, o, "Duplicate reduction dimension: %lld", (long long)d);
    gone |= 1ull << d;
  }
  i64 dims[DIALECT_MAX_RANK];
  size_t n = 0;
  for (i64 i = 0; i < rank_of(t); i++)
    if (!dim_in(gone, i)) dims[n++] = t->dims.data[i];
  for (u32 i = 0; i < o->num_results; i++) /* reduce_c3, c7, c8 */
    out[i] = type_tensor(k->c, (i64s){dims, n}, returned(op_body(o, 0), i)->elem, NULL);
  return true;
}

bool verify_reduce_window(checker *k, const op *o) { return check_reduction(k, o); }

bool infer_reduce_window(checker *k, const op *o, const type **out) {
  struct reduce_window_attrs a;
  if (!view_reduce_window(o, &a)) return false;
  const type *t = in_type(o, 0);
  window w = {a.window_dimensions, a.window_strides, a.base_dilations, a.window_dilations,
              a.padding};
  if ((i64)w.size.len != rank_of(t)) /* reduce_window_c4 */
    return op_error(k->c, o,
                    "expects window-dimensions size == input rank, but got window-dimensions size: "
                    "%zu and input: '%s' with rank = %lld.",
                    w.size.len, show(k, t), (long long)rank_of(t));
  if (!check_window(k, o, &w)) return false;
  i64 dims[DIALECT_MAX_RANK];
  for (size_t i = 0; i < w.size.len; i++)
    if (!window_output(&w, i, t->dims.data[i], &dims[i]))
      return op_error(k->c, o, "window is too large for dimension %zu", i);
  for (u32 i = 0; i < o->num_results; i++)
    out[i] = type_tensor(k->c, (i64s){dims, w.size.len}, returned(op_body(o, 0), i)->elem, NULL);
  return true;
}

bool verify_sort(checker *k, const op *o) {
  struct sort_attrs a;
  if (!view_sort(o, &a)) return false;
  if (o->num_operands == 0) return op_error(k->c, o, "requires at least 1 input value");
  i64 rank = rank_of(in_type(o, 0)), d = a.present & 1 ? a.dimension : -1;
  if (d < -rank || d >= rank) /* sort_c4 */
    return op_error(k->c, o,
                    "dimension attribute value must be in range [-%lld, %lld), but found %lld",
                    (long long)rank, (long long)rank, (long long)d);
  const block *b = op_body(o, 0);
  if (b->num_args != 2 * o->num_operands) /* sort_c5 */
    return op_error(k->c, o, "comparator block should have %u arguments", 2 * o->num_operands);
  for (u32 i = 0; i < o->num_operands; i++) {
    const type *t = in_type(o, i);
    if (!shapes_agree(in_type(o, 0), t)) /* sort_c3 */
      return op_error(k->c, o, "requires the same shape for all operands and results");
    for (u32 j = 2 * i; j < 2 * i + 2; j++)
      if (!is_scalar_of(b->args[j]->type, t->elem))
        return op_error(
            k->c, o, "comparator block argument #%u should be of type '%s' but got '%s'", j,
            show(k, type_tensor(k->c, (i64s){0}, t->elem, NULL)), show(k, b->args[j]->type));
  }
  if (num_returned(b) != 1)
    return op_error(k->c, o, "comparator must return single output but got %zu", num_returned(b));
  if (!is_scalar_of(returned(b, 0), type_i1(k->c)))
    return op_error(k->c, o, "comparator must return tensor<i1> but got '%s'",
                    show(k, returned(b, 0)));
  return true;
}

/* ---- control flow ---- */

static bool args_agree(const op *o, const block *b) {
  bool same = b->num_args == o->num_operands;
  for (u32 i = 0; same && i < b->num_args; i++) same = types_agree(in_type(o, i), b->args[i]->type);
  return same;
}

static const char *show_operands(checker *k, const op *o) {
  const type **t = ARENA_ARRAY(ir_arena(k->c), const type *, o->num_operands);
  for (u32 i = 0; i < o->num_operands; i++) t[i] = in_type(o, i);
  return show_types(k, t, o->num_operands);
}

static const char *show_results(checker *k, const op *o) {
  const type **t = ARENA_ARRAY(ir_arena(k->c), const type *, o->num_results);
  for (u32 i = 0; i < o->num_results; i++) t[i] = out_type(o, i);
  return show_types(k, t, o->num_results);
}

static const char *show_args(checker *k, const block *b) {
  const type **t = ARENA_ARRAY(ir_arena(k->c), const type *, b->num_args);
  for (u32 i = 0; i < b->num_args; i++) t[i] = b->args[i]->type;
  return show_types(k, t, b->num_args);
}

/* Do the values that o's body returns agree with o's results? */
static bool returns_results(const op *o, const block *b) {
  bool same = num_returned(b) == o->num_results;
  for (u32 i = 0; same && i < o->num_results; i++)
    same = types_agree(returned(b, i), out_type(o, i));
  return same;
}

bool verify_while(checker *k, const op *o) {
  const block *cond = op_body(o, 0), *body = op_body(o, 1);
  if (!args_agree(o, cond)) /* while_c1 */
    return op_error(k->c, o,
                    "expect operands to be compatible with condition block arguments but got %s vs "
                    "%s",
                    show_operands(k, o), show_args(k, cond));
  if (!args_agree(o, body)) /* while_c2 */
    return op_error(k->c, o,
                    "expect operands to be compatible with body block arguments but got %s vs %s",
                    show_operands(k, o), show_args(k, body));
  bool same = o->num_results == o->num_operands;
  for (u32 i = 0; same && i < o->num_results; i++)
    same = types_agree(in_type(o, i), out_type(o, i));
  if (!same) /* while_c3 */
    return op_error(k->c, o,
                    "inferred type(s) %s are incompatible with return type(s) of operation",
                    show_operands(k, o));
  if (!returns_results(o, body))
    return op_error(
        k->c, o, "expect operands to be compatible with body block return types but got %s vs %s",
        show_operands(k, o), show_operands(k, body->last));
  if (num_returned(cond) != 1)
    return op_error(k->c, o, "expect condition body returns a single value but got %zu",
                    num_returned(cond));
  if (!is_scalar_of(returned(cond, 0), type_i1(k->c)))
    return op_error(k->c, o,
                    "expect condition block return a zero-ranked tensor of i1 but got '%s'",
                    show(k, returned(cond, 0)));
  return true;
}

static bool same_returns(const block *a, const block *b) {
  bool same = num_returned(a) == num_returned(b);
  for (size_t i = 0; same && i < num_returned(a); i++)
    same = types_agree(returned(a, i), returned(b, i));
  return same;
}

static bool infer_branches(checker *k, const op *o, const type *elem) {
  if (rank_of(in_type(o, 0)) != 0)
    return op_error(k->c, o, "operand should be rank 0 tensor but got rank %lld",
                    (long long)rank_of(in_type(o, 0)));
  if (in_type(o, 0)->elem != elem) /* case_i1, if_i1 */
    return op_error(k->c, o, "operand #0 must be tensor<%s>, but got '%s'", show(k, elem),
                    show(k, in_type(o, 0)));
  if (o->num_regions == 0) /* case_c1 */
    return op_error(k->c, o, "expect at least one branch");
  const block *first = op_body(o, 0);
  for (u16 i = 0; i < o->num_regions; i++) {
    const block *b = op_body(o, i);
    if (b->num_args) /* case_c2, if_c1 */
      return op_error(k->c, o, "branch %u must have 0 arguments, but found %u", i, b->num_args);
    if (!same_returns(first, b)) /* case_c3, if_c2 */
      return op_error(k->c, o, "branch 0 and branch %u have mismatched return types: %s vs %s", i,
                      show_operands(k, first->last), show_operands(k, b->last));
  }
  if (returns_results(o, first)) return true; /* case_c4, if_c3 */
  return op_error(k->c, o,
                  "inferred type(s) %s are incompatible with return type(s) of operation %s",
                  show_operands(k, first->last), show_results(k, o));
}

static bool check_branches(checker *k, const op *o, const type *elem) {
  return infer_branches(k, o, elem) || op_error(k->c, o, "failed to infer returned types");
}

bool verify_case(checker *k, const op *o) { return check_branches(k, o, type_i32(k->c)); }
bool verify_if(checker *k, const op *o) { return check_branches(k, o, type_i1(k->c)); }
