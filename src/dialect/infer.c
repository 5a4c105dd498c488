/* Shapes with bounds: reading, merging, making them. Tables of inference and of traits. */
#include "dialect/verify.h"

infer_fn *const infer_of[OP_COUNT] = {
#define X(id) [OP_##id] = infer_##id,
    INFERRING(X)
#undef X
        [OP_chlo_broadcast_add] = infer_chlo_broadcast,
    [OP_chlo_broadcast_atan2] = infer_chlo_broadcast,
    [OP_chlo_broadcast_divide] = infer_chlo_broadcast,
    [OP_chlo_broadcast_maximum] = infer_chlo_broadcast,
    [OP_chlo_broadcast_minimum] = infer_chlo_broadcast,
    [OP_chlo_broadcast_multiply] = infer_chlo_broadcast,
    [OP_chlo_broadcast_next_after] = infer_chlo_broadcast,
    [OP_chlo_broadcast_polygamma] = infer_chlo_broadcast,
    [OP_chlo_broadcast_power] = infer_chlo_broadcast,
    [OP_chlo_broadcast_remainder] = infer_chlo_broadcast,
    [OP_chlo_broadcast_shift_left] = infer_chlo_broadcast,
    [OP_chlo_broadcast_shift_right_arithmetic] = infer_chlo_broadcast,
    [OP_chlo_broadcast_shift_right_logical] = infer_chlo_broadcast,
    [OP_chlo_broadcast_subtract] = infer_chlo_broadcast,
    [OP_chlo_broadcast_zeta] = infer_chlo_broadcast,
    [OP_chlo_broadcast_and] = infer_chlo_broadcast,
    [OP_chlo_broadcast_or] = infer_chlo_broadcast,
    [OP_chlo_broadcast_xor] = infer_chlo_broadcast,
    [OP_chlo_broadcast_complex] = infer_chlo_broadcast_complex,
    [OP_chlo_broadcast_compare] = infer_chlo_broadcast_compare,
    [OP_chlo_broadcast_select] = infer_chlo_broadcast_select,
    [OP_chlo_constant] = infer_constant,
    [OP_chlo_constant_like] = infer_chlo_constant_like,
    [OP_chlo_ragged_dot] = infer_chlo_ragged_dot,
    [OP_chlo_top_k] = infer_chlo_top_k,
    [OP_chlo_scan] = infer_chlo_scan,
};

/* ---- shapes ---- */

/* The bounds of a type; empty: it has none. */
i64s bounds_of(const type *t) {
  const bounds_attr *b = t->kind == TYPE_TENSOR ? attr_as(bounds, t->encoding) : NULL;
  return b && b->bounds.len == t->dims.len ? b->bounds : (i64s){0};
}

shape shape_of(const type *t) {
  i64s bounds = bounds_of(t);
  shape s = {.n = t->dims.len, .bounded = bounds.len != 0, .encoding = t->encoding};
  for (size_t i = 0; i < s.n; i++) s.size[i] = t->dims.data[i];
  for (size_t i = 0; i < s.n; i++) s.bound[i] = bounds.len ? bounds.data[i] : DYNAMIC;
  return s;
}

bool shape_push(checker *k, const op *o, shape *s, i64 size, i64 bound) {
  if (s->n == DIALECT_MAX_RANK)
    return op_unimplemented(k->c, o, "a result of more than %d dimensions", DIALECT_MAX_RANK);
  s->size[s->n] = size;
  s->bound[s->n++] = bound;
  if (bound != DYNAMIC) s->bounded = true;
  return true;
}

i64 bound_at(const type *t, size_t d) {
  i64s bounds = bounds_of(t);
  return bounds.len ? bounds.data[d] : DYNAMIC;
}

/* Without bounds an encoding (sparsity, say) stays; bounds that say nothing go. */
const type *shape_type(checker *k, const shape *s, const type *elem) {
  const attr *encoding = s->bounded ? NULL : s->encoding;
  for (size_t i = 0; s->bounded && i < s->n; i++)
    if (s->bound[i] != DYNAMIC) encoding = attr_make(k->c, bounds, .bounds = {s->bound, s->n});
  return type_tensor(k->c, (i64s){s->size, s->n}, elem, encoding);
}

bool infer_push(checker *k, inferred *out, const type *t) {
  VEC_PUSH(k->scratch, *out, t);
  return true;
}

/* ---- merging ---- */

/* X, X: X; X, ?: X; ?, ? B: ? B; ? B, ? C: ? min */
static bool merge_most(checker *k, const op *o, size_t i, extent a, extent b, extent *out) {
  *out = (extent){DYNAMIC, DYNAMIC};
  if (a.size == DYNAMIC && b.size == DYNAMIC) {
    out->bound = a.bound == DYNAMIC   ? b.bound
                 : b.bound == DYNAMIC ? a.bound
                                      : min_i64(a.bound, b.bound);
    return true;
  }
  if (a.size != DYNAMIC && b.size != DYNAMIC && a.size != b.size)
    return plain_error(k, o, "Mismatched dimension sizes %lld and %lld in dimension %zu",
                       (long long)a.size, (long long)b.size, i);
  out->size = a.size != DYNAMIC ? a.size : b.size;
  i64 bound = a.bound != DYNAMIC ? a.bound : b.bound;
  if (bound == DYNAMIC || out->size <= bound) return true;
  return plain_error(k, o, "Mismatched dimension size %lld and bound %lld in dimension %zu",
                     (long long)out->size, (long long)bound, i);
}

/* X, X: X; X, ?: ?; X, ? B: ? max; ?, ? B: ?; ? B, ? C: ? max */
static bool merge_least(checker *k, const op *o, size_t i, extent a, extent b, extent *out) {
  *out = (extent){DYNAMIC, DYNAMIC};
  if (a.size != DYNAMIC && b.size != DYNAMIC) {
    if (a.size != b.size)
      return plain_error(k, o, "Mismatched dimension sizes %lld and %lld in dimension %zu",
                         (long long)a.size, (long long)b.size, i);
    out->size = a.size;
    return true;
  }
  i64 x = a.size != DYNAMIC ? a.size : a.bound, y = b.size != DYNAMIC ? b.size : b.bound;
  if (x != DYNAMIC && y != DYNAMIC) out->bound = max_i64(x, y);
  return true;
}

bool infer_extent(checker *k, const op *o, size_t i, extent a, extent b, extent *out) {
  return merge_most(k, o, i, a, b, out);
}

static bool merge_tensors(checker *k, const op *o, const type *const *t, size_t n, bool least,
                          const type **out) {
  shape s = shape_of(t[0]);
  for (size_t i = 1; i < n; i++) {
    shape other = shape_of(t[i]);
    if (other.n != s.n)
      return plain_error(k, o, "Mismatched ranks of types%zu vs %zu", s.n, other.n);
    for (size_t d = 0; d < s.n; d++) {
      extent e, a = {s.size[d], s.bound[d]}, b = {other.size[d], other.bound[d]};
      if (!(least ? merge_least : merge_most)(k, o, d, a, b, &e)) return false;
      s.size[d] = e.size;
      s.bound[d] = e.bound;
    }
  }
  *out = shape_type(k, &s, t[0]->elem);
  return true;
}

/* One type that stands for all n, which agree: the most or the least that is known. */
bool merge_types(checker *k, const op *o, const type *const *t, size_t n, bool least,
                 const type **out) {
  size_t ranked = 0;
  const type **list = ARENA_ARRAY(k->scratch, const type *, n);
  *out = t[0];
  for (size_t i = 0; i < n; i++) {
    if (t[i]->kind == TYPE_TENSOR)
      list[ranked++] = t[i];
    else if (least)
      return *out = t[i], true;
  }
  return !ranked || merge_tensors(k, o, list, ranked, least, out);
}

bool infer_same(checker *k, const op *o, inferred *out) {
  const type *t, **in = ARENA_ARRAY(k->scratch, const type *, o->num_operands);
  for (u32 i = 0; i < o->num_operands; i++) in[i] = in_type(o, i);
  return merge_types(k, o, in, o->num_operands, false, &t) && infer_push(k, out, t);
}

/* ---- traits ---- */

static const type *type_at(const op *o, u32 i) {
  return i < o->num_operands ? in_type(o, i) : out_type(o, i - o->num_operands);
}

/* SameOperandsAndResultElementType */
static bool same_elements(checker *k, const op *o) {
  if (!o->num_operands) return op_error(k->c, o, "expected 1 or more operands, but found 0");
  const type *e = type_element(type_at(o, 0));
  for (u32 i = 1; i < o->num_operands + o->num_results; i++)
    if (type_element(type_at(o, i)) != e)
      return op_error(k->c, o, "requires the same element type for all operands and results");
  return true;
}

static bool compatible_elements(checker *k, const op *o) {
  const type *e = type_element(type_at(o, 0));
  for (u32 i = 1; i < o->num_operands + o->num_results; i++)
    if (!elements_agree(type_element(type_at(o, i)), e))
      return op_error(k->c, o, "requires compatible element types for all operands and results");
  return true;
}

static bool equal_elements(checker *k, const op *o, const type *a, const type *b,
                           const char *names) {
  if (a->elem == b->elem) return true;
  return op_error(k->c, o, "failed to verify that all of {%s} have same element type", names);
}

static bool equal_sizes(checker *k, const op *o, i64s a, i64s b, i64s c, const char *names) {
  if (a.len == b.len && b.len == c.len) return true;
  return op_error(k->c, o, "failed to verify that all of {%s} have same size", names);
}

static bool equal_types(checker *k, const op *o, u32 from, const char *names) {
  if (in_type(o, from) == in_type(o, from + 1) && in_type(o, from) == in_type(o, from + 2))
    return true;
  return op_error(k->c, o, "failed to verify that all of {%s} have same type", names);
}

static bool no_traits(checker *k, const op *o) { return (void)k, (void)o, true; }

/* Elementwise: the first trait of some */
bool check_elementwise(checker *k, const op *o) {
  for (u32 i = 1; i < o->num_operands + o->num_results; i++)
    if (type_at(o, 0)->kind != type_at(o, i)->kind || !shapes_agree(type_at(o, 0), type_at(o, i)))
      return op_error(k->c, o,
                      "all non-scalar operands/results must have the same shape and base type");
  return true;
}

static bool elementwise_types(checker *k, const op *o) {
  return check_elementwise(k, o) && check_same_type(k, o);
}

static bool compare_traits(checker *k, const op *o) { /* compare_c1 */
  if (!check_elementwise(k, o)) return false;
  if (!elements_agree(in_type(o, 0)->elem, in_type(o, 1)->elem))
    return op_error(k->c, o, "requires compatible element types for all operands");
  return check_same_shape(k, o);
}

static bool complex_traits(checker *k, const op *o) { /* complex_c1 */
  if (in_type(o, 0)->elem != in_type(o, 1)->elem)
    return op_error(k->c, o, "requires the same element type for all operands");
  return check_same_shape(k, o);
}

static bool slice_traits(checker *k, const op *o) {
  struct slice_attrs a;
  return same_elements(k, o) && view_slice(o, &a) &&
         equal_sizes(k, o, a.start_indices, a.limit_indices, a.strides,
                     "start_indices, limit_indices, strides");
}

static bool pad_traits(checker *k, const op *o) {
  struct pad_attrs a;
  return same_elements(k, o) && view_pad(o, &a) &&
         equal_sizes(k, o, a.edge_padding_low, a.edge_padding_high, a.interior_padding,
                     "edge_padding_low, edge_padding_high, interior_padding");
}

static bool operand_result(checker *k, const op *o) {
  return equal_elements(k, o, in_type(o, 0), out_type(o, 0), "operand, result");
}

static bool update_traits(checker *k, const op *o) { /* dynamic_update_slice_c1, c2 */
  static const char names[] = "operand, update, result";
  return equal_elements(k, o, in_type(o, 0), in_type(o, 1), names) &&
         equal_elements(k, o, in_type(o, 0), out_type(o, 0), names);
}

static bool rng_traits(checker *k, const op *o) {
  return equal_elements(k, o, in_type(o, 0), in_type(o, 1), "a, b, result") &&
         equal_elements(k, o, in_type(o, 0), out_type(o, 0), "a, b, result");
}

static bool real_dynamic_slice_traits(checker *k, const op *o) {
  return operand_result(k, o) && equal_types(k, o, 1, "start_indices, limit_indices, strides");
}

static bool dynamic_pad_traits(checker *k, const op *o) {
  static const char names[] = "operand, padding_value, result";
  if (!equal_elements(k, o, in_type(o, 0), in_type(o, 1), names) ||
      !equal_elements(k, o, in_type(o, 0), out_type(o, 0), names) ||
      !equal_types(k, o, 2, "edge_padding_low, edge_padding_high, interior_padding"))
    return false;
  if (rank_of(in_type(o, 0)) == rank_of(out_type(o, 0))) return true;
  return op_error(k->c, o, "failed to verify that all of {operand, result} have same rank");
}

static bool pairwise(checker *k, const op *o, bool whole) {
  if (o->num_operands != o->num_results)
    return op_error(k->c, o, "requires the same number of operands and results");
  for (u32 i = 0; i < o->num_operands; i++)
    if (whole ? in_type(o, i) != out_type(o, i)
              : type_element(in_type(o, i)) != type_element(out_type(o, i)))
      return op_error(k->c, o, "requires the same %s for operand and result at index %u",
                      whole ? "type" : "element type", i);
  return true;
}
static bool pairwise_types(checker *k, const op *o) { return pairwise(k, o, true); }
static bool pairwise_elements(checker *k, const op *o) { return pairwise(k, o, false); }

static bool some_same_elements(checker *k, const op *o) {
  if (o->num_operands == 0) return op_error(k->c, o, "expected 1 or more operands, but found 0");
  return same_elements(k, o);
}

verify_fn *const traits_of[OP_COUNT] = {
    [OP_add] = no_traits,
    [OP_collective_broadcast] = no_traits,
    [OP_compare] = compare_traits,
    [OP_abs] = check_elementwise,
    [OP_cross_replica_sum] = check_same_type,
    [OP_chlo_is_inf] = check_elementwise,
    [OP_chlo_is_neg_inf] = check_elementwise,
    [OP_chlo_is_pos_inf] = check_elementwise,
    [OP_real] = check_elementwise,
    [OP_imag] = check_elementwise,
    [OP_is_finite] = check_elementwise,
    [OP_uniform_quantize] = check_elementwise,
    [OP_uniform_dequantize] = check_elementwise,
    [OP_reduce_precision] = elementwise_types,
    [OP_complex] = complex_traits,
    [OP_transpose] = compatible_elements,
    [OP_reshape] = compatible_elements,
    [OP_broadcast_in_dim] = compatible_elements,
    [OP_batch_norm_grad] = compatible_elements,
    [OP_batch_norm_inference] = compatible_elements,
    [OP_batch_norm_training] = compatible_elements,
    [OP_cholesky] = compatible_elements,
    [OP_clamp] = compatible_elements,
    [OP_triangular_solve] = compatible_elements,
    [OP_slice] = slice_traits,
    [OP_pad] = pad_traits,
    [OP_concatenate] = some_same_elements,
    [OP_reverse] = same_elements,
    [OP_broadcast] = same_elements,
    [OP_collective_permute] = same_elements,
    [OP_gather] = operand_result,
    [OP_dynamic_slice] = operand_result,
    [OP_dynamic_update_slice] = update_traits,
    [OP_rng] = rng_traits,
    [OP_real_dynamic_slice] = real_dynamic_slice_traits,
    [OP_dynamic_pad] = dynamic_pad_traits,
    [OP_all_gather] = pairwise_elements,
    [OP_all_to_all] = pairwise_elements,
    [OP_optimization_barrier] = pairwise_types,
    [OP_sort] = check_same_shape,
    [OP_map] = check_same_shape,
};
