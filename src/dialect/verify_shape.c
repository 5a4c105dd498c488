/* Elementwise ops and those that move elements: inference and checks. */
#include "dialect/verify.h"

/* ---- elementwise ops ---- */

enum { ACCURACY_TOLERANCE = 2 };

static bool check_accuracy(checker *k, const op *o, const result_accuracy_attr *a) {
  if (!a) return true;
  bool zero = !(a->atol_bits & INT64_MAX) && !(a->rtol_bits & INT64_MAX) && a->ulps == 0;
  const result_accuracy_mode_attr *mode = attr_as(result_accuracy_mode, a->mode);
  if (!mode) return op_error(k->c, o, "result accuracy has no mode");
  if (a->ulps < 0 || (a->atol_bits < 0 && a->atol_bits != INT64_MIN) ||
      (a->rtol_bits < 0 && a->rtol_bits != INT64_MIN))
    return op_error(k->c, o, "Negative tolerance");
  if (mode->value == ACCURACY_TOLERANCE || zero) return true;
  return op_error(k->c, o,
                  "Invalid tolerances for ResultAccuracyAttr with mode %s, must be all zero.",
                  mode->value ? "HIGHEST" : "DEFAULT");
}

bool verify_elements(checker *k, const op *o) {
  int slot = op_slot(o->info, STR("result_accuracy"));
  if (slot >= 0 && !check_accuracy(k, o, attr_as(result_accuracy, o->slots[slot]))) return false;
  if (op_has(o, SAME_TYPE) || o->num_operands < 2 || o->info->family != FAMILY_cast) return true;
  for (u32 i = 1; i < o->num_operands; i++) /* compare_c1, complex_c1 */
    if (!types_agree(in_type(o, 0), in_type(o, i)))
      return op_error(k->c, o, "requires compatible types for all operands, but got %s",
                      show_types(k, (const type *[]){in_type(o, 0), in_type(o, i)}, 2));
  return true;
}

/* ---- inference for elementwise ops ---- */

bool infer_operand(checker *k, const op *o, const type **out) {
  (void)k;
  out[0] = in_type(o, 0);
  return true;
}

bool infer_operands(checker *k, const op *o, const type **out) {
  if (o->num_results != o->num_operands)
    return op_error(k->c, o, "expects as many results as operands, but got %u and %u",
                    o->num_results, o->num_operands);
  for (u32 i = 0; i < o->num_operands; i++) out[i] = in_type(o, i);
  return true;
}

static const type *with_element(checker *k, const type *t, const type *elem) {
  return type_tensor(k->c, t->dims, elem, t->encoding);
}

bool infer_abs(checker *k, const op *o, const type **out) { /* abs_c1, abs_c2 */
  const type *t = in_type(o, 0);
  out[0] = t->elem->kind == TYPE_COMPLEX ? with_element(k, t, t->elem->elem) : t;
  return true;
}

bool infer_real(checker *k, const op *o, const type **out) { return infer_abs(k, o, out); }

bool infer_complex(checker *k, const op *o, const type **out) { /* complex_c2, complex_c3 */
  const type *t = in_type(o, 0), *e = t->elem;
  out[0] = with_element(k, t, type_complex(k->c, e));
  return true;
}

bool infer_pred(checker *k, const op *o, const type **out) { /* compare_c2 */
  out[0] = with_element(k, in_type(o, 0), type_i1(k->c));
  return true;
}

bool infer_select(checker *k, const op *o, const type **out) {
  const type *p = in_type(o, 0), *t = in_type(o, 1), *f = in_type(o, 2);
  if (!types_agree(t, f)) /* select_c2 */
    return op_error(k->c, o, "requires compatible types for non-predicate operands");
  if (rank_of(p) && !shapes_agree(p, t)) /* select_c1 */
    return op_error(k->c, o, "requires the same shape for all operands");
  out[0] = t;
  return true;
}

bool infer_clamp(checker *k, const op *o, const type **out) {
  const type *t = in_type(o, 1);
  for (int i = 0; i < 3; i += 2) { /* clamp_c1, clamp_c2 */
    const type *bound = in_type(o, (size_t)i);
    if (rank_of(bound) && !shapes_agree(bound, t))
      return op_error(k->c, o,
                      "%s shape [%s] is not scalar and is not compatible to operand shape [%s]",
                      i ? "max" : "min", show_dims(k, bound->dims), show_dims(k, t->dims));
    if (bound->elem != t->elem) /* clamp_c3 */
      return op_error(k->c, o, "requires the same element type for all operands and results");
  }
  out[0] = t;
  return true;
}

static bool infer_value(checker *k, const op *o, const attr *value, const type **out) {
  const dense_attr *d = attr_as(dense, value);
  const dense_resource_attr *r = attr_as(dense_resource, value);
  const dense_string_attr *s = attr_as(dense_string, value);
  const type *t = d ? d->type : r ? r->type : s ? s->type : NULL;
  if (!t || t->kind != TYPE_TENSOR)
    return op_error(k->c, o, "attribute 'value' failed to satisfy constraint: constant tensor");
  out[0] = t;
  return true;
}

bool infer_constant(checker *k, const op *o, const type **out) {
  return infer_value(k, o, o->slots[0], out);
}
bool infer_sdy_constant(checker *k, const op *o, const type **out) {
  return infer_value(k, o, o->slots[0], out);
}

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
  if (!d && !r) return op_unimplemented(k->c, o, "a constant of strings");
  return true;
}

bool verify_constant(checker *k, const op *o) { return check_constant(k, o); }
bool verify_sdy_constant(checker *k, const op *o) { return check_constant(k, o); }

/* ---- shapes ---- */

bool verify_iota(checker *k, const op *o) {
  struct iota_attrs a;
  if (!view_iota(o, &a)) return false;
  i64 rank = rank_of(out_type(o, 0));
  if (rank == 0) return op_error(k->c, o, "does not support scalars.");
  if (a.iota_dimension < 0 || a.iota_dimension >= rank) /* iota_c1 */
    return op_error(k->c, o, "iota dimension cannot go beyond the output rank.");
  return true;
}

static i64 bits_of(const type *e) {
  if (e->quant) e = e->quant->storage;
  if (e->kind == TYPE_COMPLEX) return 2 * (i64)e->elem->width;
  return e->width;
}

bool verify_bitcast_convert(checker *k, const op *o) {
  const type *from = in_type(o, 0), *to = out_type(o, 0);
  if ((from->elem->kind == TYPE_COMPLEX) != (to->elem->kind == TYPE_COMPLEX)) /* c2 */
    return op_error(k->c, o,
                    "cannot convert between real and complex types, but got: '%s' and '%s'",
                    show(k, from), show(k, to));
  i64 a = bits_of(from->elem), b = bits_of(to->elem);
  const type *small = a < b ? from : to, *big = a < b ? to : from;
  i64 small_bits = min_i64(a, b), big_bits = max_i64(a, b);
  i64 rank = rank_of(small) - (a != b);
  if (rank != rank_of(big)) /* bitcast_convert_c1 */
    return op_error(k->c, o,
                    "rank of smaller element type (%lld) should be 1 more than rank of larger "
                    "element type (%lld), but %lld != %lld + 1.",
                    (long long)rank_of(small), (long long)rank_of(big), (long long)rank_of(small),
                    (long long)rank_of(big));
  i64 last = a != b ? small->dims.data[rank] : 1, product;
  if (a != b && last != DYNAMIC &&
      (!checked_mul(last, small_bits, &product) || product != big_bits))
    return op_error(
        k->c, o, "requires compatible bit widths. Got: '%s' and '%s', but %lld * %lld != %lld.",
        show(k, from), show(k, to), (long long)small_bits, (long long)last, (long long)big_bits);
  for (i64 i = 0; i < rank; i++)
    if (!dims_agree(small->dims.data[i], big->dims.data[i]))
      return op_error(k->c, o,
                      "operand and result shapes must match except for the innermost dimension of "
                      "the shape with the smaller element type. Got: '%s' and '%s'.",
                      show(k, from), show(k, to));
  return true;
}

static bool same_elements(checker *k, const op *o) {
  if (elements_agree(in_type(o, 0)->elem, out_type(o, 0)->elem)) return true;
  return op_error(k->c, o, "requires compatible element types for all operands and results");
}

bool verify_broadcast_in_dim(checker *k, const op *o) {
  struct broadcast_in_dim_attrs a;
  if (!view_broadcast_in_dim(o, &a) || !same_elements(k, o)) return false;
  const type *from = in_type(o, 0), *to = out_type(o, 0);
  i64s dims = a.broadcast_dimensions;
  if ((i64)dims.len != rank_of(from)) /* broadcast_in_dim_c2 */
    return op_error(k->c, o, "broadcast_dimensions size (%zu) does not match operand rank (%lld)",
                    dims.len, (long long)rank_of(from));
  dim_set seen = 0;
  for (size_t i = 0; i < dims.len; i++) {
    i64 d = dims.data[i];
    if (d < 0 || d >= rank_of(to)) /* c3 */
      return op_error(k->c, o,
                      "broadcast_dimensions contains invalid value %lld for result with rank %lld",
                      (long long)d, (long long)rank_of(to));
    if (dim_in(seen, d)) /* c4 */
      return op_error(k->c, o, "broadcast_dimensions should not have duplicates");
    seen |= 1ull << d;
    i64 size = from->dims.data[i];
    if (size != 1 && !dims_agree(size, to->dims.data[d])) /* c5 */
      return op_error(k->c, o,
                      "size of operand dimension %zu (%lld) is not equal to 1 or size of result "
                      "dimension %lld (%lld)",
                      i, (long long)size, (long long)d, (long long)to->dims.data[d]);
  }
  return true;
}

bool verify_reshape(checker *k, const op *o) {
  i64 from, to;
  if (!same_elements(k, o)) return false;
  if (!type_num_elements(in_type(o, 0), &from) || !type_num_elements(out_type(o, 0), &to))
    return true;
  if (from == to) return true; /* reshape_c2 */
  return op_error(k->c, o,
                  "number of output elements (%lld) doesn't match expected number of elements "
                  "(%lld)",
                  (long long)to, (long long)from);
}

bool infer_transpose(checker *k, const op *o, const type **out) {
  struct transpose_attrs a;
  if (!view_transpose(o, &a)) return false;
  const type *t = in_type(o, 0);
  i64s p = a.permutation;
  if ((i64)p.len != rank_of(t)) /* transpose_c2 */
    return op_error(k->c, o, "TransposeOp operand rank %lld does not match permutation size %zu",
                    (long long)rank_of(t), p.len);
  i64 dims[DIALECT_MAX_RANK];
  dim_set seen = 0;
  for (size_t i = 0; i < p.len; i++) {
    i64 d = p.data[i];
    if (d < 0 || d >= rank_of(t) || dim_in(seen, d)) {
      i64 range[DIALECT_MAX_RANK];
      for (size_t j = 0; j < p.len; j++) range[j] = (i64)j;
      return op_error(k->c, o, "attribute permutation must be a permutation of [%s] but got %s",
                      show_dims(k, (i64s){range, p.len}), show_dims(k, p));
    }
    seen |= 1ull << d;
    dims[i] = t->dims.data[d];
  }
  out[0] = type_tensor(k->c, (i64s){dims, p.len}, t->elem, NULL); /* transpose_c3 */
  return true;
}
bool verify_transpose(checker *k, const op *o) { return (void)k, (void)o, true; }

bool infer_concatenate(checker *k, const op *o, const type **out) {
  struct concatenate_attrs a;
  if (!view_concatenate(o, &a)) return false;
  if (o->num_operands == 0) /* concatenate_c3 */
    return op_error(k->c, o, "expected 1 or more operands, but found 0");
  const type *first = in_type(o, 0);
  i64 dims[DIALECT_MAX_RANK], rank = rank_of(first), d = a.dimension;
  if (rank == 0) return op_error(k->c, o, "rank-0 values cannot be concatenated");
  if (d < 0 || d >= rank) /* concatenate_c4 */
    return op_error(k->c, o, "dimension %lld is out-of-bounds for input rank %lld", (long long)d,
                    (long long)rank);
  for (i64 i = 0; i < rank; i++) dims[i] = i == d ? 0 : first->dims.data[i];
  for (u32 i = 0; i < o->num_operands; i++) {
    const type *t = in_type(o, i);
    if (t->elem != first->elem) /* concatenate_c1 */
      return op_error(k->c, o, "requires the same element type for all operands and results");
    if (rank_of(t) != rank) return op_error(k->c, o, "operands (0) and (%u) do not match rank", i);
    for (i64 j = 0; j < rank; j++) { /* concatenate_c2 */
      i64 size = t->dims.data[j];
      if (j == d) {
        if (dims[j] == DYNAMIC || size == DYNAMIC)
          dims[j] = DYNAMIC;
        else if (!checked_add(dims[j], size, &dims[j]))
          return op_error(k->c, o, "result is too large");
      } else if (!dims_agree(dims[j], size)) {
        return op_error(k->c, o,
                        "shapes of operand (0) and (%u) are not compatible at non-concat index "
                        "%lld: (%s) != (%s)",
                        i, (long long)j, show_dims(k, first->dims), show_dims(k, t->dims));
      } else if (dims[j] == DYNAMIC) {
        dims[j] = size;
      }
    }
  }
  out[0] = type_tensor(k->c, (i64s){dims, (size_t)rank}, first->elem, NULL);
  return true;
}
bool verify_concatenate(checker *k, const op *o) { return (void)k, (void)o, true; }

bool infer_slice(checker *k, const op *o, const type **out) {
  struct slice_attrs a;
  if (!view_slice(o, &a)) return false;
  const type *t = in_type(o, 0);
  i64 dims[DIALECT_MAX_RANK], rank = rank_of(t);
  i64s lists[] = {a.start_indices, a.limit_indices, a.strides};
  static const char *const names[] = {"start_indices", "limit_indices", "strides"};
  for (int i = 0; i < 3; i++)
    if ((i64)lists[i].len != rank) /* slice_c2 */
      return op_error(k->c, o,
                      "the number of elements in %s (%zu) does not match the rank of the operand "
                      "(%lld)",
                      names[i], lists[i].len, (long long)rank);
  for (i64 i = 0; i < rank; i++) { /* slice_c3, slice_c4, slice_c5 */
    i64 start = lists[0].data[i], limit = lists[1].data[i], stride = lists[2].data[i];
    i64 size = t->dims.data[i];
    if (start < 0)
      return op_error(k->c, o, "negative start index %lld in dimension %lld", (long long)start,
                      (long long)i);
    if (size != DYNAMIC && limit > size)
      return op_error(k->c, o,
                      "limit index %lld is larger than dimension size %lld in dimension %lld",
                      (long long)limit, (long long)size, (long long)i);
    if (start > limit)
      return op_error(k->c, o, "start index %lld is larger than limit index %lld in dimension %lld",
                      (long long)start, (long long)limit, (long long)i);
    if (stride <= 0)
      return op_error(k->c, o, "stride must be positive but got %lld in dimension %lld",
                      (long long)stride, (long long)i);
    dims[i] = (limit - start) / stride + ((limit - start) % stride != 0);
  }
  out[0] = type_tensor(k->c, (i64s){dims, (size_t)rank}, t->elem, NULL);
  return true;
}
bool verify_slice(checker *k, const op *o) { return (void)k, (void)o, true; }

/* Operands from `from` on are scalar indices of one integer type. */
static bool check_indices(checker *k, const op *o, u32 from) {
  for (u32 i = from; i < o->num_operands; i++) {
    const type *t = in_type(o, i);
    if (rank_of(t) != 0 || !(element_kind(t->elem) & EL_INT))
      return op_error(k->c, o, "operand #%u must be a 0D tensor of integer values, but got '%s'", i,
                      show(k, t));
    if (t->elem != in_type(o, from)->elem)
      return op_error(k->c, o, "start indices must have same element type");
  }
  return true;
}

bool infer_dynamic_slice(checker *k, const op *o, const type **out) {
  struct dynamic_slice_attrs a;
  if (!view_dynamic_slice(o, &a)) return false;
  const type *t = in_type(o, 0);
  i64s sizes = a.slice_sizes;
  size_t indices = o->num_operands - 1u;
  if (indices != sizes.len) /* dynamic_slice_c2 */
    return op_error(k->c, o,
                    "has mismatched number of slice sizes (%zu) and number of start indices (%zu)",
                    sizes.len, indices);
  if ((i64)indices != rank_of(t))
    return op_error(k->c, o,
                    "has mismatched number of start indices (%zu) and the rank of operand (%lld)",
                    indices, (long long)rank_of(t));
  if (!check_indices(k, o, 1)) return false; /* dynamic_slice_c3 */
  for (size_t i = 0; i < sizes.len; i++) {   /* dynamic_slice_c4 */
    i64 n = sizes.data[i], size = t->dims.data[i];
    if (n < 0)
      return op_error(k->c, o, "has negative size index to dynamic slice: %lld", (long long)n);
    if (size != DYNAMIC && n > size)
      return op_error(k->c, o,
                      "has slice size %lld greater than dimension size %lld in dimension %zu of "
                      "operand",
                      (long long)n, (long long)size, i);
  }
  out[0] = type_tensor(k->c, sizes, t->elem, NULL); /* dynamic_slice_c5 */
  return true;
}
bool verify_dynamic_slice(checker *k, const op *o) { return (void)k, (void)o, true; }

bool infer_dynamic_update_slice(checker *k, const op *o, const type **out) {
  const type *t = in_type(o, 0), *u = in_type(o, 1);
  size_t indices = o->num_operands - 2u;
  if (u->elem != t->elem) /* dynamic_update_slice_c2 */
    return op_error(k->c, o, "requires the same element type for operand and update");
  if (rank_of(t) != rank_of(u)) /* c3 */
    return op_error(k->c, o, "update rank does not match operand rank: %lld vs %lld.",
                    (long long)rank_of(u), (long long)rank_of(t));
  if ((i64)indices != rank_of(t)) /* c4 */
    return op_error(k->c, o, "expects number of start_indices to match operand rank: %zu vs %lld.",
                    indices, (long long)rank_of(t));
  if (!check_indices(k, o, 2)) return false; /* c5 */
  for (size_t i = 0; i < t->dims.len; i++) { /* c6 */
    i64 n = u->dims.data[i], size = t->dims.data[i];
    if (n != DYNAMIC && size != DYNAMIC && n > size)
      return op_error(
          k->c, o, "expects size at dimension %zu of update to be in range [0, %lld]. Got: %lld.",
          i, (long long)size, (long long)n);
  }
  out[0] = t;
  return true;
}
bool verify_dynamic_update_slice(checker *k, const op *o) { return (void)k, (void)o, true; }

/* size + low + high + max(size - 1, 0) * interior */
static bool padded_size(i64 size, i64 low, i64 high, i64 interior, i64 *out) {
  i64 gaps = 0;
  return checked_mul(size > 0 ? size - 1 : 0, interior, &gaps) && checked_add(size, gaps, out) &&
         checked_add(*out, low, out) && checked_add(*out, high, out);
}

bool infer_pad(checker *k, const op *o, const type **out) {
  struct pad_attrs a;
  if (!view_pad(o, &a)) return false;
  const type *t = in_type(o, 0);
  i64 dims[DIALECT_MAX_RANK], rank = rank_of(t);
  if (!is_scalar_of(in_type(o, 1), t->elem)) /* pad_i2, pad_c1 */
    return op_error(k->c, o, "padding value must be a scalar of '%s', but got '%s'",
                    show(k, t->elem), show(k, in_type(o, 1)));
  if ((i64)a.edge_padding_low.len != rank || (i64)a.edge_padding_high.len != rank ||
      (i64)a.interior_padding.len != rank) /* pad_c2 */
    return op_error(k->c, o, "edge_padding_low length (%zu) must match operand rank (%lld)",
                    (i64)a.edge_padding_low.len != rank    ? a.edge_padding_low.len
                    : (i64)a.edge_padding_high.len != rank ? a.edge_padding_high.len
                                                           : a.interior_padding.len,
                    (long long)rank);
  for (i64 i = 0; i < rank; i++) {
    i64 interior = a.interior_padding.data[i], size = t->dims.data[i];
    if (interior < 0) /* pad_c3 */
      return op_error(k->c, o, "Interior padding cannot be negative: %lld", (long long)interior);
    if (size == DYNAMIC) {
      dims[i] = DYNAMIC;
      continue;
    }
    if (!padded_size(size, a.edge_padding_low.data[i], a.edge_padding_high.data[i], interior,
                     &dims[i]))
      return op_error(k->c, o, "Padding is too large for dimension %lld", (long long)i);
    if (dims[i] < 0) /* pad_c4 */
      return op_error(k->c, o, "Padding result in negative size for dimension %lld", (long long)i);
  }
  out[0] = type_tensor(k->c, (i64s){dims, (size_t)rank}, t->elem, NULL);
  return true;
}
bool verify_pad(checker *k, const op *o) { return (void)k, (void)o, true; }

bool verify_reverse(checker *k, const op *o) {
  struct reverse_attrs a;
  if (!view_reverse(o, &a)) return false;
  i64 rank = rank_of(in_type(o, 0));
  dim_set seen = 0;
  for (size_t i = 0; i < a.dimensions.len; i++) {
    i64 d = a.dimensions.data[i];
    if (d < 0) /* reverse_c3 */
      return op_error(k->c, o, "all dimensions should be non-negative. Got dimension: %lld.",
                      (long long)d);
    if (d >= rank)
      return op_error(k->c, o, "all dimensions should be between [0, %lld). Got dimension: %lld.",
                      (long long)rank, (long long)d);
    if (dim_in(seen, d)) /* reverse_c2 */
      return op_error(k->c, o, "dimensions should be unique. Got: %s", show_dims(k, a.dimensions));
    seen |= 1ull << d;
  }
  return true;
}

bool verify_reduce_precision(checker *k, const op *o) { return (void)k, (void)o, true; }

bool verify_rng_bit_generator(checker *k, const op *o) {
  if (!types_agree(in_type(o, 0), out_type(o, 0))) /* rng_bit_generator_c1 */
    return op_error(k->c, o,
                    "output state shape must be compatible with initial state shape. Got: '%s' and "
                    "'%s'",
                    show(k, in_type(o, 0)), show(k, out_type(o, 0)));
  if (!(element_kind(in_type(o, 0)->elem) & EL_INT) || rank_of(in_type(o, 0)) != 1)
    return op_error(k->c, o, "operand #0 must be a 1D tensor of integer values, but got '%s'",
                    show(k, in_type(o, 0)));
  return true;
}

bool verify_optimization_barrier(checker *k, const op *o) { return (void)k, (void)o, true; }
bool verify_partition_id(checker *k, const op *o) { return (void)k, (void)o, true; }
bool verify_replica_id(checker *k, const op *o) { return (void)k, (void)o, true; }

bool infer_device_id(checker *k, const op *o, const type **out) {
  (void)o;
  out[0] = type_tensor(k->c, (i64s){0}, type_int(k->c, 32, UNSIGNED), NULL);
  return true;
}
