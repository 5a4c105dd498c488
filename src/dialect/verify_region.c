/* Ops with regions: reductions, sort, map, control flow, async. That every region is one block
 * which ends in the right terminator was checked before. */
#include "dialect/verify.h"

/* ---- reducers ---- */

bool same_but_precision(const type *a, const type *b) {
  if (!shapes_agree(a, b) || !type_is_tensor(a) || !type_is_tensor(b)) return false;
  return a->elem == b->elem || (a->elem->kind == TYPE_FLOAT && b->elem->kind == TYPE_FLOAT);
}

/* Of an element; those of quantized ones are their storage's. */
static i64 bits_of(const type *e) {
  if (e->kind == TYPE_COMPLEX) return 2 * bits_of(e->elem);
  return e->quant && e->quant->storage ? e->quant->storage->width : e->width;
}

/* Elements of one kind that do not shrink; floats may. */
static bool promotes(const type *a, const type *b) {
  if (!type_is_tensor(a) || !type_is_tensor(b) || a->elem->kind != b->elem->kind) return false;
  a = a->elem;
  b = b->elem;
  if (a->kind == TYPE_FLOAT) return true;
  if (a->quant && a->quant->expressed != b->quant->expressed) return false;
  return (a->kind == TYPE_INT || a->kind == TYPE_COMPLEX || a->quant) && bits_of(a) <= bits_of(b);
}

static bool check_parameter(checker *k, const op *o, const type *r, const type *arg, size_t i,
                            bool precise) {
  if (precise ? shapes_agree(r, arg) && type_is_tensor(arg) && r->elem == arg->elem
              : same_but_precision(r, arg))
    return true;
  return plain_error(k, o,
                     "The type of reduction-region's parameter at index %zu is different than the "
                     "corresponding result type: '%s' vs '%s'",
                     i, show(k, arg), show(k, r));
}

/* The argument's dimensions are some of those allowed, in order. */
static bool check_allowed(checker *k, const op *o, const type *arg, i64s allowed, size_t i,
                          size_t n) {
  size_t rank = arg->dims.len, at = 0;
  if (rank > allowed.len)
    return plain_error(
        k, o,
        "The rank of reduction-region's argument at index %zu is expected to be <= %zu, got "
        "%zu",
        n + i, allowed.len, rank);
  for (size_t d = 0; d < allowed.len && at < rank; d++)
    if (dims_agree(allowed.data[d], arg->dims.data[at])) at++;
  if (at == rank) return true;
  return plain_error(k, o,
                     "The shape of reduction-region's argument at index %zu is not compatible with "
                     "that of reduce-op's input-parameter at index %zu",
                     n + i, i);
}

/* all_reduce_c5, reduce_c6, reduce_scatter_c7, reduce_window_c13, scatter_c23,
 * select_and_scatter_c10 */
bool check_reducer(checker *k, const op *o, const block *b, size_t n, const type *const *inputs,
                   const type *const *inits, i64s allowed) {
  if (b->num_args != 2 * n)
    return plain_error(k, o, "Reduction-region must take %zu parameters, but takes %u parameter(s)",
                       2 * n, b->num_args);
  if (num_returned(b) == 0)
    return plain_error(k, o, "The reduction-region expected to return some value(s)");
  if (num_returned(b) != n)
    return plain_error(k, o,
                       "Reduction-region here must produce %zu tensors, but produces %zu instead",
                       n, num_returned(b));
  for (size_t i = 0; i < n; i++)
    if (!type_is_tensor(returned(b, i)))
      return plain_error(k, o,
                         "Reduction-region here must produce tensor-typed result(s), but produces "
                         "'%s' instead",
                         show(k, returned(b, i)));
  for (size_t i = 0; i < n; i++) {
    const type *r = returned(b, i), *arg = b->args[n + i]->type;
    if (!check_parameter(k, o, r, b->args[i]->type, i, true) ||
        !check_parameter(k, o, r, arg, n + i, false))
      return false;
    if (!shapes_agree(inits[i], r))
      return plain_error(k, o,
                         "The shape of reduction-region's result type at index %zu differs from "
                         "the op's corresponding init-value type: '%s' vs '%s'",
                         i, show(k, r), show(k, inits[i]));
    if (!promotes(inits[i], r))
      return plain_error(k, o,
                         "The element-type of reduction-region's result type at index %zu is "
                         "expected to be promotable from the op's corresponding init-value "
                         "element-type: '%s' vs '%s'",
                         i, show(k, r), show(k, inits[i]));
    if (!promotes(inputs[i], arg))
      return plain_error(k, o,
                         "The element-type of reduction-region's argument at index %zu is expected "
                         "to be promotable from '%s', but got '%s'",
                         n + i, show(k, inputs[i]->elem), show(k, arg->elem));
    if (!check_allowed(k, o, arg, allowed, i, n)) return false;
  }
  return true;
}

/* n inputs, then as many initial values. */
bool check_reduction(checker *k, const op *o, const block *b, size_t n, i64s allowed) {
  const type **inputs = ARENA_ARRAY(k->scratch, const type *, n);
  const type **inits = ARENA_ARRAY(k->scratch, const type *, n);
  for (size_t i = 0; i < n; i++) {
    inputs[i] = in_type(o, i);
    inits[i] = in_type(o, n + i);
  }
  return check_reducer(k, o, b, n, inputs, inits, allowed);
}

/* Inference comes before the region is checked, so it may hold anything. */
const type *accumulator(checker *k, const op *o, const block *b, size_t i) {
  if (i < num_returned(b) && type_is_tensor(returned(b, i))) return returned(b, i)->elem;
  if (num_returned(b) == 0)
    plain_error(k, o, "The reduction-region expected to return some value(s)");
  else if (i >= num_returned(b))
    plain_error(k, o, "Reduction-region here must produce %zu tensors, but produces %zu instead",
                i + 1, num_returned(b));
  else
    plain_error(
        k, o,
        "Reduction-region here must produce tensor-typed result(s), but produces '%s' instead",
        show(k, returned(b, i)));
  return NULL;
}

/* ---- reduce ---- */

/* reduce_c1, reduce_c4, reduce_c5, reduce_i3 */
static bool reduced_shape(checker *k, const op *o, shape *s) {
  struct reduce_attrs a;
  if (!view_reduce(o, &a)) return false;
  /* without inputs, which the reducer's check refuses: a scalar */
  const type *scalar = type_tensor(k->c, (i64s){0}, type_i1(k->c), NULL);
  const type *t = o->num_operands > 1 ? in_type(o, 0) : scalar;
  for (u32 i = 1; i < o->num_operands / 2; i++)
    if (!shapes_agree(t, in_type(o, i)))
      return plain_error(k, o,
                         "expects all inputs to have compatible shapes. Shape at input-index %u is "
                         "not compatible with shape at input-index 0",
                         i);
  dim_set gone = 0;
  for (size_t i = 0; i < a.dimensions.len; i++) {
    i64 d = a.dimensions.data[i];
    if (d < 0 || d >= rank_of(t))
      return plain_error(k, o, "Out-of-bounds dimension %lld, expected to be in range [0, %lld)",
                         (long long)d, (long long)rank_of(t));
    if (dim_in(gone, d))
      return plain_error(k, o, "Duplicate reduction dimension: %lld", (long long)d);
    gone |= 1ull << d;
  }
  s->bounded = bounds_of(t).len != 0;
  for (size_t i = 0; i < t->dims.len; i++)
    if (!dim_in(gone, (i64)i) && !shape_push(k, o, s, t->dims.data[i], bound_at(t, i)))
      return false;
  return true;
}

bool infer_reduce(checker *k, const op *o, inferred *out) { /* reduce_c3, c7, c8 */
  shape s = {0};
  if (!reduced_shape(k, o, &s)) return false;
  for (u32 i = 0; i < o->num_operands / 2; i++) {
    const type *elem = accumulator(k, o, op_body(o, 0), i);
    if (!elem) return false;
    infer_push(k, out, shape_type(k, &s, elem));
  }
  return true;
}

bool verify_reduce(checker *k, const op *o) {
  shape s = {0};
  return reduced_shape(k, o, &s) && /* reduce_c2, c6 */
         check_reduction(k, o, op_body(o, 0), o->num_operands / 2, (i64s){s.size, s.n});
}

/* ---- sort ---- */

/* Results are as the operands; regions were checked in the op's own check. */
static bool infer_operands(checker *k, const op *o, inferred *out) {
  for (u32 i = 0; i < o->num_operands; i++) infer_push(k, out, in_type(o, i));
  return true;
}
bool infer_sort(checker *k, const op *o, inferred *out) { return infer_operands(k, o, out); }
bool infer_while(checker *k, const op *o, inferred *out) { return infer_operands(k, o, out); }
bool infer_optimization_barrier(checker *k, const op *o, inferred *out) {
  return infer_operands(k, o, out);
}

/* sort_c4 takes negative dimensions from the end; without an attribute it is the last. */
bool verify_sort(checker *k, const op *o) {
  struct sort_attrs a;
  if (!view_sort(o, &a)) return false;
  if (o->num_operands == 0) return plain_error(k, o, "requires at least 1 input value");
  i64 rank = rank_of(in_type(o, 0)), d = a.present & 1 ? a.dimension : -1;
  if (d < -rank || d >= rank) /* sort_c4 */
    return plain_error(k, o,
                       "dimension attribute value must be in range [-%lld, %lld), but found %lld",
                       (long long)rank, (long long)rank, (long long)d);
  const block *b = op_body(o, 0);
  if (b->num_args != 2 * o->num_operands) /* sort_c5 */
    return plain_error(k, o, "comparator block should have %u arguments", 2 * o->num_operands);
  for (u32 j = 0; j < b->num_args; j++) {
    const type *want = type_tensor(k->c, (i64s){0}, in_type(o, j / 2)->elem, NULL);
    if (b->args[j]->type != want)
      return plain_error(k, o, "comparator block argument #%u should be of type '%s' but got '%s'",
                         j, show(k, want), show(k, b->args[j]->type));
  }
  if (num_returned(b) != 1)
    return plain_error(k, o, "comparator must return single output but got %zu", num_returned(b));
  if (is_scalar_of(returned(b, 0), type_i1(k->c))) return true;
  return plain_error(k, o, "comparator must return tensor<i1> but got '%s'",
                     show(k, returned(b, 0)));
}

/* ---- map ---- */

/* map_c4: scalars in, a scalar out */
static bool check_map(checker *k, const op *o, const block *b) {
  if (b->num_args != o->num_operands)
    return plain_error(k, o,
                       "expects number of operands to match the arity of map computation, but got: "
                       "%u and %u",
                       o->num_operands, b->num_args);
  for (u32 i = 0; i < b->num_args; i++) {
    const type *t = b->args[i]->type;
    if (t->kind != TYPE_TENSOR || rank_of(t) != 0)
      return plain_error(
          k, o, "computation arguments must be 0-rank tensor, but got: arg #%u of type '%s'", i,
          show(k, t));
    if (t->elem != in_type(o, i)->elem)
      return plain_error(k, o,
                         "element type of operands and computation arguments must match, but got: "
                         "'%s' and '%s'",
                         show(k, in_type(o, i)->elem), show(k, t->elem));
  }
  if (num_returned(b) != 1)
    return plain_error(k, o, "computation must return single output, but got: %zu",
                       num_returned(b));
  const type *r = returned(b, 0);
  if (r->kind == TYPE_TENSOR && rank_of(r) == 0) return true;
  return plain_error(k, o, "computation must return 0-rank tensor, but got: '%s'", show(k, r));
}

bool infer_map(checker *k, const op *o, inferred *out) {
  struct map_attrs a;
  const block *b = op_body(o, 0);
  if (!view_map(o, &a) || !check_map(k, o, b)) return false;
  i64s d = a.dimensions, dims = {0};
  for (size_t i = 0; i < d.len; i++) /* map_c3 */
    if (d.data[i] != (i64)i)
      return plain_error(k, o, "requires monotonically increasing dimension numbers, but got: %s",
                         show_ints(k, d));
  for (u32 i = 0; i < o->num_operands; i++) {
    dims = in_type(o, i)->dims;
    if (d.len != dims.len)
      return plain_error(k, o,
                         "applied to a subset of dimensions currently not supported: operand "
                         "dimensions = %zu, requested map dimensions size = %zu",
                         dims.len, d.len);
  }
  return infer_push(k, out, type_tensor(k->c, dims, returned(b, 0)->elem, NULL));
}

/* ---- control flow ---- */

/* Up to compatibility: a loop may carry a value whose size it does not know. */
static bool args_agree(const op *o, const block *b) {
  bool same = b->num_args == o->num_operands;
  for (u32 i = 0; same && i < b->num_args; i++) same = types_agree(in_type(o, i), b->args[i]->type);
  return same;
}

bool verify_while(checker *k, const op *o) {
  const block *cond = op_body(o, 0), *body = op_body(o, 1);
  if (!args_agree(o, cond)) /* while_c1 */
    return plain_error(
        k, o, "expect operands to be compatible with condition block arguments but got %s vs %s",
        show_operands(k, o), show_args(k, cond));
  if (!args_agree(o, body)) /* while_c2 */
    return plain_error(
        k, o, "expect operands to be compatible with body block arguments but got %s vs %s",
        show_operands(k, o), show_args(k, body));
  bool same = num_returned(body) == o->num_operands;
  for (u32 i = 0; same && i < o->num_operands; i++)
    same = types_agree(in_type(o, i), returned(body, i));
  if (!same)
    return plain_error(
        k, o, "expect operands to be compatible with body block return types but got %s vs %s",
        show_operands(k, o), show_operands(k, body->last));
  if (num_returned(cond) != 1)
    return plain_error(k, o, "expect condition body returns a single value but got %zu",
                       num_returned(cond));
  if (is_scalar_of(returned(cond, 0), type_i1(k->c))) return true;
  return plain_error(k, o, "expect condition block return a zero-ranked tensor of i1 but got '%s'",
                     show(k, returned(cond, 0)));
}

static bool same_returns(const block *a, const block *b) {
  bool same = num_returned(a) == num_returned(b);
  for (size_t i = 0; same && i < num_returned(a); i++)
    same = types_agree(returned(a, i), returned(b, i));
  return same;
}

/* Result types are the least that is known of any branch, because any may be taken. */
static bool infer_branches(checker *k, const op *o, inferred *out) {
  if (rank_of(in_type(o, 0)) != 0) /* case_i1, if_i1 */
    return plain_error(k, o, "operand should be rank 0 tensor but got rank %lld",
                       (long long)rank_of(in_type(o, 0)));
  if (o->num_regions == 0) /* case_c1 */
    return plain_error(k, o, "expect at least one branch");
  const block *first = op_body(o, 0);
  for (u16 i = 0; i < o->num_regions; i++) {
    const block *b = op_body(o, i);
    if (b->num_args) /* case_c2, if_c1 */
      return plain_error(k, o, "branch %u must have 0 arguments, but found %u", i, b->num_args);
    if (!same_returns(first, b)) /* case_c3, if_c2 */
      return plain_error(k, o, "branch 0 and branch %u have mismatched return types: %s vs %s", i,
                         show_operands(k, first->last), show_operands(k, b->last));
  }
  for (size_t i = 0; i < num_returned(first); i++) { /* case_c4, if_c3 */
    const type *t, **all = ARENA_ARRAY(k->scratch, const type *, o->num_regions);
    for (u16 r = 0; r < o->num_regions; r++) all[r] = returned(op_body(o, r), i);
    if (!merge_types(k, o, all, o->num_regions, true, &t)) return false;
    infer_push(k, out, t);
  }
  return true;
}
bool infer_case(checker *k, const op *o, inferred *out) { return infer_branches(k, o, out); }
bool infer_if(checker *k, const op *o, inferred *out) { return infer_branches(k, o, out); }
