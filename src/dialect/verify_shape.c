/* Elementwise ops and those that move elements: inference and checks.
 *
 * Traits have said before that shapes and elements agree where an op asks for no more; these
 * functions are for the constraints of spec.md besides, whose labels stand beside the checks. Order
 * is the peers' (stablehlo/dialect/TypeInference.cpp): the first check that fails is the
 * message. */
#include "dialect/verify.h"

/* ---- elementwise ops ---- */

enum { ACCURACY_TOLERANCE = 2 };

/* result_accuracy: tolerances are for mode TOLERANCE only. Doubles are kept as bits, so the sign is
 * that of the integer and -0 is 0. */
static bool check_accuracy(checker *k, const op *o, const result_accuracy_attr *a) {
  if (!a) return true;
  bool zero = !(a->atol_bits & INT64_MAX) && !(a->rtol_bits & INT64_MAX) && a->ulps == 0;
  const result_accuracy_mode_attr *mode = attr_as(result_accuracy_mode, a->mode);
  if (!mode) return op_error(k->c, o, "result accuracy has no mode");
  if (a->ulps < 0 || a->atol_bits < 0 || a->rtol_bits < 0)
    return plain_error(k, o, "Negative tolerance");
  if (mode->value == ACCURACY_TOLERANCE || zero) return true;
  return plain_error(k, o,
                     "Invalid tolerances for ResultAccuracyAttr with mode %s, must be all zero.",
                     mode->value ? "HIGHEST" : "DEFAULT");
}

/* add_c1 to add_c7: elements of one type, or quantized alike. */
static bool check_add(checker *k, const op *o) {
  const type *l = in_type(o, 0)->elem, *r = in_type(o, 1)->elem, *t = out_type(o, 0)->elem;
  if (l->quant || r->quant || t->quant) return check_quant_sum(k, o, l, r, t);
  if (l == r && l == t) return true;
  return plain_error(k, o, "op requires the same element type for all operands and results");
}

/* Of all elementwise rows. add is alone in taking operands that are quantized in different ways,
 * hence its check in place of the trait. */
bool verify_elements(checker *k, const op *o) {
  int slot = op_slot(o->info, SLOT_NAME(result_accuracy));
  if (op_is(o, add)) return check_same_shape(k, o) && check_add(k, o);
  if (o->num_operands == 1 && !check_elementwise(k, o)) return false;
  return slot < 0 || check_accuracy(k, o, attr_as(result_accuracy, o->slots[slot]));
}

/* ---- inference for elementwise ops ---- */

static const type *with_element(checker *k, const type *t, const type *elem) {
  if (t->kind == TYPE_UNRANKED) return type_unranked(k->c, elem);
  return type_tensor(k->c, t->dims, elem, t->encoding);
}

bool infer_add(checker *k, const op *o, inferred *out) { return infer_same(k, o, out); }

bool infer_abs(checker *k, const op *o, inferred *out) { /* abs_c1, abs_c2, real_c2, imag_c2 */
  const type *t = in_type(o, 0);
  bool complex = t->elem->kind == TYPE_COMPLEX;
  return infer_push(k, out, complex ? with_element(k, t, t->elem->elem) : t);
}
bool infer_real(checker *k, const op *o, inferred *out) { return infer_abs(k, o, out); }
bool infer_imag(checker *k, const op *o, inferred *out) { return infer_abs(k, o, out); }

bool infer_complex(checker *k, const op *o, inferred *out) { /* complex_c2, complex_c3 */
  const type *t = in_type(o, 0);
  return infer_push(k, out, with_element(k, t, type_complex(k->c, t->elem)));
}

bool infer_is_finite(checker *k, const op *o, inferred *out) {
  return infer_push(k, out, with_element(k, in_type(o, 0), type_i1(k->c)));
}
bool infer_compare(checker *k, const op *o, inferred *out) { /* compare_c2 */
  return infer_is_finite(k, o, out);
}
bool infer_chlo_is_inf(checker *k, const op *o, inferred *out) {
  return infer_is_finite(k, o, out);
}
bool infer_chlo_is_neg_inf(checker *k, const op *o, inferred *out) {
  return infer_is_finite(k, o, out);
}
bool infer_chlo_is_pos_inf(checker *k, const op *o, inferred *out) {
  return infer_is_finite(k, o, out);
}

bool infer_select(checker *k, const op *o, inferred *out) {
  const type *p = in_type(o, 0), *t = in_type(o, 1), *f = in_type(o, 2), *both;
  if (!shapes_agree(t, f) || t->elem != f->elem) /* select_c2 */
    return plain_error(k, o, "requires compatible types for non-predicate operands");
  if (rank_of(p) && !shapes_agree(p, t)) /* select_c1 */
    return plain_error(k, o, "requires the same shape for all operands");
  return merge_types(k, o, (const type *[]){t, f}, 2, false, &both) && infer_push(k, out, both);
}

bool infer_clamp(checker *k, const op *o, inferred *out) {
  const type *t = in_type(o, 1);
  for (size_t i = 0; i < 3; i += 2) { /* clamp_c1, clamp_c2 */
    const type *bound = in_type(o, i);
    if (rank_of(bound) && !shapes_agree(bound, t))
      return plain_error(k, o,
                         "%s shape [%s] is not scalar and is not compatible to operand shape [%s]",
                         i ? "max" : "min", show_ints(k, bound->dims), show_ints(k, t->dims));
  }
  return infer_push(k, out, t); /* clamp_c4 */
}

/* ---- constants ---- */

static bool infer_value(checker *k, const op *o, inferred *out) {
  const type *t = attr_type_of(o->slots[0]);
  if (t && t->kind == TYPE_TENSOR) return infer_push(k, out, t);
  return plain_error(k, o, "attribute 'value' failed to satisfy constraint: constant tensor");
}
bool infer_constant(checker *k, const op *o, inferred *out) { return infer_value(k, o, out); }
bool infer_sdy_constant(checker *k, const op *o, inferred *out) { return infer_value(k, o, out); }

/* Only constants with numbers that later stages can read: bytes in the text or a resource that was
 * loaded. Sizes of dense ones were checked with the slots. */
static bool check_constant(checker *k, const op *o) {
  const dense_attr *d = attr_as(dense, o->slots[0]);
  const dense_resource_attr *r = attr_as(dense_resource, o->slots[0]);
  str bytes;
  i64 n;
  if (r && !ir_resource_get(k->c, r->key, &bytes))
    return op_error(k->c, o, "resource '" STR_FMT "' has no contents", STR_ARG(r->key));
  if (r && (!type_num_elements(r->type, &n) || (u64)n * type_storage(r->type->elem) != bytes.len))
    return op_error(k->c, o, "resource '" STR_FMT "' has %zu bytes, which do not fit '%s'",
                    STR_ARG(r->key), bytes.len, show(k, r->type));
  if (attr_is(sparse, o->slots[0])) return true;
  if (!d && !r) return op_unimplemented(k->c, o, "a constant of strings");
  return true;
}

bool verify_constant(checker *k, const op *o) { return check_constant(k, o); }
bool verify_sdy_constant(checker *k, const op *o) { return check_constant(k, o); }

bool verify_arith_constant(checker *k, const op *o) {
  const attr *a = o->slots[0];
  const type *t = attr_type_of(a);
  if ((t ? t : type_none(k->c)) != out_type(o, 0))
    return op_error(k->c, o, "failed to verify that all of {value, result} have same type");
  return (!attr_is(string, a) && !attr_is(opaque, a)) ||
         op_error(k->c, o, "value must be an integer, float, or elements attribute");
}

bool verify_tensor_cast(checker *k, const op *o) {
  const type *a = in_type(o, 0), *b = out_type(o, 0);
  if (shapes_agree(a, b) && a->elem == b->elem) return true;
  return op_error(k->c, o, "operand type '%s' and result type '%s' are cast incompatible",
                  show(k, a), show(k, b));
}

/* ---- shapes ---- */

bool verify_iota(checker *k, const op *o) {
  struct iota_attrs a;
  if (!view_iota(o, &a)) return false;
  i64 rank = rank_of(out_type(o, 0));
  if (rank == 0) return plain_error(k, o, "does not support scalars.");
  if (a.iota_dimension < rank) return true; /* iota_c1 */
  return plain_error(k, o, "iota dimension cannot go beyond the output rank.");
}

/* Of an element, as bitcast_convert counts them. */
static i64 bits_of(const type *e) {
  if (e->kind == TYPE_COMPLEX) return 2 * bits_of(e->elem);
  return e->quant && e->quant->storage ? e->quant->storage->width : e->width;
}

/* Where widths differ the smaller elements have a dimension more, at the end, which makes up for
 * it: tensor<4xf32> is tensor<4x4xi8>. */
bool verify_bitcast_convert(checker *k, const op *o) {
  const type *from = in_type(o, 0), *to = out_type(o, 0);
  if ((from->elem->kind == TYPE_COMPLEX) != (to->elem->kind == TYPE_COMPLEX)) /* c2 */
    return plain_error(k, o,
                       "cannot convert between real and complex types, but got: '%s' and '%s'",
                       show(k, from), show(k, to));
  i64 a = bits_of(from->elem), b = bits_of(to->elem);
  const type *small = a < b ? from : to, *big = a < b ? to : from;
  i64 small_bits = min_i64(a, b), big_bits = max_i64(a, b);
  if (a != b && rank_of(small) != rank_of(big) + 1) /* bitcast_convert_c1 */
    return plain_error(k, o,
                       "rank of smaller element type (%lld) should be 1 more than rank of larger "
                       "element type (%lld), but %lld != %lld + 1.",
                       (long long)rank_of(small), (long long)rank_of(big),
                       (long long)rank_of(small), (long long)rank_of(big));
  i64 rank = rank_of(small) - (a != b), last = a != b ? small->dims.data[rank] : 1, product;
  if (a != b && last != DYNAMIC &&
      (!checked_mul(last, small_bits, &product) || product != big_bits))
    return plain_error(
        k, o, "requires compatible bit widths. Got: '%s' and '%s', but %lld * %lld != %lld.",
        show(k, from), show(k, to), (long long)small_bits, (long long)last, (long long)big_bits);
  bool same = rank == rank_of(big);
  for (i64 i = 0; i < rank && same; i++) same = dims_agree(small->dims.data[i], big->dims.data[i]);
  return same ||
         plain_error(k, o,
                     "operand and result shapes must match except for the innermost dimension of "
                     "the shape with the smaller element type. Got: '%s' and '%s'.",
                     show(k, from), show(k, to));
}

bool verify_broadcast_in_dim(checker *k, const op *o) {
  struct broadcast_in_dim_attrs a;
  if (!view_broadcast_in_dim(o, &a)) return false;
  const type *from = in_type(o, 0), *to = out_type(o, 0);
  i64s dims = a.broadcast_dimensions;
  if (!check_quant_same(k, o, from, to)) return false; /* broadcast_in_dim_c1 */
  if ((i64)dims.len != rank_of(from))                  /* c2 */
    return plain_error(k, o, "broadcast_dimensions size (%zu) does not match operand rank (%lld)",
                       dims.len, (long long)rank_of(from));
  if (!is_unique(k, dims)) /* c4 */
    return plain_error(k, o, "broadcast_dimensions should not have duplicates");
  for (size_t i = 0; i < dims.len; i++) {
    i64 d = dims.data[i];
    if (d < 0 || d >= rank_of(to)) /* c3 */
      return plain_error(
          k, o, "broadcast_dimensions contains invalid value %lld for result with rank %lld",
          (long long)d, (long long)rank_of(to));
    i64 size = from->dims.data[i], want = to->dims.data[d];
    if (size != DYNAMIC && size != 1 && size != want) /* c5 */
      return plain_error(k, o,
                         "size of operand dimension %zu (%lld) is not equal to 1 or size of result "
                         "dimension %lld (%lld)",
                         i, (long long)size, (long long)d, (long long)want);
  }
  return check_quant_broadcast(k, o, dims); /* c6 */
}

bool infer_broadcast(checker *k, const op *o, inferred *out) { /* broadcast_c1, c2 */
  struct broadcast_attrs a;
  if (!view_broadcast(o, &a)) return false;
  const type *t = in_type(o, 0);
  shape s = {0};
  for (size_t i = 0; i < a.broadcast_sizes.len; i++) {
    i64 n = a.broadcast_sizes.data[i];
    if (n < 0)
      return plain_error(k, o, "Broadcast with negative dimension size %lld", (long long)n);
    if (!shape_push(k, o, &s, n, DYNAMIC)) return false;
  }
  for (size_t i = 0; i < t->dims.len; i++)
    if (!shape_push(k, o, &s, t->dims.data[i], DYNAMIC)) return false;
  return infer_push(k, out, shape_type(k, &s, t->elem));
}

bool verify_reshape(checker *k, const op *o) {
  const type *from = in_type(o, 0), *to = out_type(o, 0);
  i64 a, b;
  if (!type_num_elements(from, &a) || !type_num_elements(to, &b)) return true;
  if (a != b) /* reshape_c2 */
    return plain_error(k, o,
                       "number of output elements (%lld) doesn't match expected number of elements "
                       "(%lld)",
                       (long long)b, (long long)a);
  return check_quant_reshape(k, o, from, to); /* reshape_c1, c3 */
}

bool infer_transpose(checker *k, const op *o, inferred *out) {
  struct transpose_attrs a;
  if (!view_transpose(o, &a)) return false;
  const type *t = in_type(o, 0);
  i64s p = a.permutation;
  if ((i64)p.len != rank_of(t))
    return plain_error(k, o, "TransposeOp operand rank %lld does not match permutation size %zu",
                       (long long)rank_of(t), p.len);
  dim_set seen = 0;
  shape s = {.bounded = bounds_of(t).len != 0, .encoding = t->encoding};
  for (size_t i = 0; i < p.len; i++) {
    i64 d = p.data[i];
    if (d < 0 || d >= rank_of(t) || dim_in(seen, d)) { /* transpose_c2 */
      i64 range[DIALECT_MAX_RANK];
      for (size_t j = 0; j < p.len; j++) range[j] = (i64)j;
      return plain_error(k, o, "attribute permutation must be a permutation of [%s] but got %s",
                         show_ints(k, (i64s){range, p.len}), show_ints(k, p));
    }
    seen |= 1ull << d;
    if (!shape_push(k, o, &s, t->dims.data[d], bound_at(t, (size_t)d))) return false;
  }
  return infer_push(k, out, shape_type(k, &s, t->elem)); /* transpose_c3 */
}

bool verify_transpose(checker *k, const op *o) {
  struct transpose_attrs a;
  return view_transpose(o, &a) && check_quant_transpose(k, o, a.permutation);
}

/* ---- concatenate ---- */

/* The rest of concatenate's constraints is merging the other dimensions. */
static bool check_concatenated(checker *k, const op *o, i64 d) {
  const type *first = in_type(o, 0);
  i64 rank = rank_of(first);
  if (rank == 0) return plain_error(k, o, "rank-0 values cannot be concatenated");
  if (d >= rank) /* concatenate_c4 */
    return plain_error(k, o, "dimension %lld is out-of-bounds for input rank %lld", (long long)d,
                       (long long)rank);
  for (u32 i = 0; i < o->num_operands; i++) { /* concatenate_c2 */
    const type *t = in_type(o, i);
    if (rank_of(t) != rank) return plain_error(k, o, "operands (0) and (%u) do not match rank", i);
    for (i64 j = 0; j < rank; j++)
      if (j != d && !dims_agree(first->dims.data[j], t->dims.data[j]))
        return plain_error(k, o,
                           "shapes of operand (0) and (%u) are not compatible at non-concat index "
                           "%lld: (%s) != (%s)",
                           i, (long long)j, show_ints(k, first->dims), show_ints(k, t->dims));
  }
  return true;
}

/* X, Y: X+Y; X, ?: ?; X, ? B: ? X+B; ? B, ? C: ? B+C */
static bool add_extents(extent a, extent b, extent *out) {
  i64 x = a.size != DYNAMIC ? a.size : a.bound, y = b.size != DYNAMIC ? b.size : b.bound, sum;
  *out = (extent){DYNAMIC, DYNAMIC};
  if (x == DYNAMIC || y == DYNAMIC) return true;
  if (!checked_add(x, y, &sum)) return false;
  *(a.size != DYNAMIC && b.size != DYNAMIC ? &out->size : &out->bound) = sum;
  return true;
}

bool infer_concatenate(checker *k, const op *o, inferred *out) {
  struct concatenate_attrs a;
  if (!view_concatenate(o, &a)) return false;
  if (o->num_operands == 0) /* concatenate_c3 */
    return plain_error(k, o, "expected 1 or more operands, but found 0");
  i64 d = a.dimension;
  if (!check_concatenated(k, o, d)) return false;
  shape s = {.n = in_type(o, 0)->dims.len};
  for (size_t j = 0; j < s.n; j++) s.size[j] = s.bound[j] = DYNAMIC;
  s.size[d] = 0;
  for (u32 i = 0; i < o->num_operands; i++) {
    const type *t = in_type(o, i);
    s.bounded |= bounds_of(t).len != 0;
    if (!s.encoding) s.encoding = t->encoding;
    for (size_t j = 0; j < s.n; j++) {
      extent e, x = {s.size[j], s.bound[j]}, y = {t->dims.data[j], bound_at(t, j)};
      bool ok = (i64)j == d ? add_extents(x, y, &e) || plain_error(k, o, "result is too large")
                            : infer_extent(k, o, j, x, y, &e);
      if (!ok) return false;
      s.size[j] = e.size;
      s.bound[j] = e.bound;
    }
  }
  return infer_push(k, out, shape_type(k, &s, in_type(o, 0)->elem)); /* concatenate_c5, c6 */
}

/* ---- slices ---- */

bool infer_slice(checker *k, const op *o, inferred *out) {
  struct slice_attrs a;
  if (!view_slice(o, &a)) return false;
  const type *t = in_type(o, 0);
  if (a.start_indices.len != t->dims.len) /* slice_c2 */
    return plain_error(k, o,
                       "the number of elements in start_indices (%zu) does not match the rank of "
                       "the operand (%zu)",
                       a.start_indices.len, t->dims.len);
  shape s = {.bounded = bounds_of(t).len != 0, .encoding = t->encoding};
  for (size_t i = 0; i < t->dims.len; i++) { /* slice_c3, slice_c4, slice_c5 */
    i64 start = a.start_indices.data[i], limit = a.limit_indices.data[i],
        stride = a.strides.data[i];
    bool dynamic = t->dims.data[i] == DYNAMIC;
    i64 size = dynamic ? bound_at(t, i) : t->dims.data[i];
    if (start < 0)
      return plain_error(k, o, "negative start index %lld in dimension %zu", (long long)start, i);
    if (size != DYNAMIC && limit > size)
      return plain_error(k, o, "limit index %lld is larger than dimension %s %lld in dimension %zu",
                         (long long)limit, dynamic ? "bound" : "size", (long long)size, i);
    if (start > limit)
      return plain_error(k, o, "start index %lld is larger than limit index %lld in dimension %zu",
                         (long long)start, (long long)limit, i);
    if (stride <= 0)
      return plain_error(k, o, "stride must be positive but got %lld in dimension %zu",
                         (long long)stride, i);
    i64 n = (limit - start) / stride + ((limit - start) % stride != 0);
    if (!shape_push(k, o, &s, n, DYNAMIC)) return false;
  }
  return infer_push(k, out, shape_type(k, &s, t->elem));
}

/* Operands from `from` on have one element type; of floats, not one precision. */
static bool check_indices(checker *k, const op *o, u32 from) {
  for (u32 i = from + 1; i < o->num_operands; i++)
    if (in_type(o, i)->elem != in_type(o, from)->elem)
      return plain_error(k, o, "start indices must have same element type");
  return true;
}

bool infer_dynamic_slice(checker *k, const op *o, inferred *out) {
  struct dynamic_slice_attrs a;
  if (!view_dynamic_slice(o, &a)) return false;
  const type *t = in_type(o, 0);
  i64s sizes = a.slice_sizes;
  size_t indices = o->num_operands - 1u;
  if (indices != sizes.len) /* dynamic_slice_c2 */
    return plain_error(
        k, o, "has mismatched number of slice sizes (%zu) and number of start indices (%zu)",
        sizes.len, indices);
  if ((i64)indices != rank_of(t))
    return plain_error(
        k, o, "has mismatched number of start indices (%zu) and the rank of operand (%lld)",
        indices, (long long)rank_of(t));
  if (!check_indices(k, o, 1)) return false; /* dynamic_slice_c3 */
  for (size_t i = 0; i < sizes.len; i++) {   /* dynamic_slice_c4 */
    i64 n = sizes.data[i], size = t->dims.data[i];
    if (n < 0)
      return plain_error(k, o, "has negative size index to dynamic slice: %lld", (long long)n);
    if (size != DYNAMIC && n > size)
      return plain_error(
          k, o, "has slice size %lld greater than dimension size %lld in dimension %zu of operand",
          (long long)n, (long long)size, i);
  }
  return infer_push(k, out, type_tensor(k->c, sizes, t->elem, NULL)); /* dynamic_slice_c5 */
}

bool infer_dynamic_update_slice(checker *k, const op *o, inferred *out) {
  const type *t = in_type(o, 0), *u = in_type(o, 1);
  size_t indices = o->num_operands - 2u;
  if (rank_of(t) != rank_of(u)) /* dynamic_update_slice_c3 */
    return plain_error(k, o, "update rank does not match operand rank: %lld vs %lld.",
                       (long long)rank_of(u), (long long)rank_of(t));
  if ((i64)indices != rank_of(t)) /* c4 */
    return plain_error(k, o, "expects number of start_indices to match operand rank: %zu vs %lld.",
                       indices, (long long)rank_of(t));
  if (!check_indices(k, o, 2)) return false; /* c5 */
  for (size_t i = 0; i < t->dims.len; i++) { /* c6 */
    i64 n = u->dims.data[i], size = t->dims.data[i];
    if (n != DYNAMIC && size != DYNAMIC && n > size)
      return plain_error(
          k, o, "expects size at dimension %zu of update to be in range [0, %lld]. Got: %lld.", i,
          (long long)size, (long long)n);
  }
  return infer_push(k, out, t); /* c1 */
}

/* size + low + high + max(size - 1, 0) * interior */
static bool padded_size(i64 size, i64 low, i64 high, i64 interior, i64 *out) {
  i64 gaps = 0;
  return checked_mul(size > 0 ? size - 1 : 0, interior, &gaps) && checked_add(size, gaps, out) &&
         checked_add(*out, low, out) && checked_add(*out, high, out);
}

bool infer_pad(checker *k, const op *o, inferred *out) {
  struct pad_attrs a;
  if (!view_pad(o, &a)) return false;
  const type *t = in_type(o, 0);
  if (a.edge_padding_low.len != t->dims.len) /* pad_c2 */
    return plain_error(k, o, "edge_padding_low length (%zu) must match operand rank (%zu)",
                       a.edge_padding_low.len, t->dims.len);
  shape s = {.bounded = bounds_of(t).len != 0, .encoding = t->encoding};
  for (size_t i = 0; i < t->dims.len; i++) {
    i64 interior = a.interior_padding.data[i], size = t->dims.data[i], n = DYNAMIC;
    if (interior < 0) /* pad_c3 */
      return plain_error(k, o, "Interior padding cannot be negative: %lld", (long long)interior);
    bool dynamic = size == DYNAMIC;
    if (dynamic) size = bound_at(t, i);
    if (size != DYNAMIC &&
        !padded_size(size, a.edge_padding_low.data[i], a.edge_padding_high.data[i], interior, &n))
      return plain_error(k, o, "Padding is too large for dimension %zu", i);
    if (n < 0 && n != DYNAMIC) /* pad_c4 */
      return plain_error(k, o, "Padding result in negative %s for dimension %zu",
                         dynamic ? "bound" : "size", i);
    if (!shape_push(k, o, &s, dynamic ? DYNAMIC : n, dynamic ? n : DYNAMIC)) return false;
  }
  return infer_push(k, out, shape_type(k, &s, t->elem)); /* pad_c1 */
}

bool infer_reverse(checker *k, const op *o, inferred *out) {
  return infer_push(k, out, in_type(o, 0));
}

bool verify_reverse(checker *k, const op *o) {
  struct reverse_attrs a;
  if (!view_reverse(o, &a)) return false;
  i64 rank = rank_of(in_type(o, 0));
  if (!is_unique(k, a.dimensions)) /* reverse_c2 */
    return plain_error(k, o, "dimensions should be unique. Got: %s", show_ints(k, a.dimensions));
  for (size_t i = 0; i < a.dimensions.len; i++) { /* reverse_c3 */
    i64 d = a.dimensions.data[i];
    if (d < 0)
      return plain_error(k, o, "all dimensions should be non-negative. Got dimension: %lld.",
                         (long long)d);
    if (d >= rank)
      return plain_error(k, o, "all dimensions should be between [0, %lld). Got dimension: %lld.",
                         (long long)rank, (long long)d);
  }
  return true;
}
