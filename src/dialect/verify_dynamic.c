/* Ops whose shapes are values: dynamic_*, sizes of dimensions. */
#include "dialect/verify.h"

/* dynamic_broadcast_in_dim_c7, dynamic_iota_c2, dynamic_reshape_c4: a constant says the result */
static bool check_output_shape(checker *k, const op *o, const value *v) {
  const type *t = out_type(o, 0);
  i64s dims;
  if (!constant_ints(k, v, &dims)) return true;
  bool ok = true;
  for (size_t i = 0; i < dims.len; i++) ok = ok && dims.data[i] >= 0;
  if (ok && types_agree(type_tensor(k->c, dims, t->elem, NULL), t)) return true;
  return plain_error(k, o, "output shape [%s] is incompatible with return type of operation '%s'",
                     show_ints(k, dims), show(k, t));
}

static bool check_elements_alike(checker *k, const op *o) {
  const type *a = in_type(o, 0), *b = out_type(o, 0);
  if (a->elem->quant || b->elem->quant || a->elem == b->elem) return true;
  return plain_error(
      k, o, "expects operand and result to have compatible element type. Got: '%s' and '%s'",
      show(k, a), show(k, b));
}

bool verify_dynamic_iota(checker *k, const op *o) {
  struct dynamic_iota_attrs a;
  if (!view_dynamic_iota(o, &a)) return false;
  if (a.iota_dimension >= rank_of(out_type(o, 0))) /* dynamic_iota_c1 */
    return plain_error(k, o, "iota dimension cannot go beyond the output rank.");
  return check_output_shape(k, o, op_operand(o, 0));
}

/* ---- dynamic_broadcast_in_dim ---- */

static bool check_broadcast_dims(checker *k, const op *o, i64s dims) {
  const type *from = in_type(o, 0), *to = out_type(o, 0);
  if ((i64)dims.len != rank_of(from)) /* dynamic_broadcast_in_dim_c2 */
    return plain_error(k, o, "broadcast_dimensions size (%zu) does not match operand rank (%lld)",
                       dims.len, (long long)rank_of(from));
  if (rank_of(to) < rank_of(from)) /* c3 */
    return plain_error(k, o, "result rank (%lld) is less than operand rank (%lld)",
                       (long long)rank_of(to), (long long)rank_of(from));
  if (!is_unique(k, dims)) /* c4 */
    return plain_error(k, o, "broadcast_dimensions should not have duplicates");
  for (size_t i = 0; i < dims.len; i++) { /* c5 */
    i64 d = dims.data[i];
    if (d < 0 || d >= rank_of(to))
      return plain_error(
          k, o, "broadcast_dimensions contains invalid value %lld for result with rank %lld",
          (long long)d, (long long)rank_of(to));
    i64 size = from->dims.data[i], want = to->dims.data[d];
    if (size != 1 && !dims_agree(size, want))
      return plain_error(k, o,
                         "size of operand dimension %zu (%lld) is not compatible with size of "
                         "result dimension %lld (%lld)",
                         i, (long long)size, (long long)d, (long long)want);
  }
  return true;
}

/* c8, c9, c10: hints name dimensions of the operand, none twice */
static bool check_hints(checker *k, const op *o, i64s expanding, i64s not_expanding) {
  size_t n = expanding.len + not_expanding.len;
  i64 *all = ARENA_ARRAY(k->scratch, i64, n);
  for (size_t i = 0; i < n; i++)
    all[i] = i < expanding.len ? expanding.data[i] : not_expanding.data[i - expanding.len];
  if (!is_unique(k, (i64s){all, n}))
    return plain_error(k, o, "duplicate expansion hint for at least one operand dimension");
  for (size_t i = 0; i < n; i++)
    if (all[i] < 0 || all[i] >= rank_of(in_type(o, 0)))
      return plain_error(
          k, o, "hint for expanding dimension %lld does not refer to a valid operand dimension",
          (long long)all[i]);
  return true;
}

bool verify_dynamic_broadcast_in_dim(checker *k, const op *o) {
  struct dynamic_broadcast_in_dim_attrs a;
  if (!view_dynamic_broadcast_in_dim(o, &a)) return false;
  const type *from = in_type(o, 0);
  i64s dims = a.broadcast_dimensions, known;
  if (!check_elements_alike(k, o) || !check_broadcast_dims(k, o, dims) || /* c1 */
      !check_output_shape(k, o, op_operand(o, 1)) ||
      !check_hints(k, o, a.known_expanding_dimensions, a.known_nonexpanding_dimensions))
    return false;
  if (type_is_static(from) && constant_ints(k, op_operand(o, 1), &known))
    for (size_t i = 0; i < dims.len; i++) {
      i64 size = from->dims.data[i], want = known.data[dims.data[i]];
      if (size != 1 && size != want)
        return plain_error(k, o,
                           "size of operand dimension %zu (%lld) is not equal to 1 or value of "
                           "shape at index %lld (%lld)",
                           i, (long long)size, (long long)dims.data[i], (long long)want);
    }
  return check_quant_broadcast(k, o, dims); /* c6 */
}

/* ---- dynamic_reshape ---- */

bool verify_dynamic_reshape(checker *k, const op *o) {
  const type *from = in_type(o, 0), *to = out_type(o, 0);
  i64 a, b, n = 1;
  i64s known;
  if (!check_elements_alike(k, o)) return false; /* dynamic_reshape_c1 */
  bool sized = type_num_elements(from, &a);
  if (sized && type_num_elements(to, &b) && a != b) /* c2 */
    return plain_error(k, o,
                       "number of output elements (%lld) doesn't match expected number of elements "
                       "(%lld)",
                       (long long)b, (long long)a);
  if (!check_output_shape(k, o, op_operand(o, 1))) return false; /* c4 */
  if (in_type(o, 1)->dims.data[0] != rank_of(to))
    return plain_error(k, o,
                       "result should have a rank equal to the number of elements in output_shape");
  if (sized && constant_ints(k, op_operand(o, 1), &known)) {
    bool fits = true;
    for (size_t i = 0; i < known.len; i++) fits = fits && checked_mul(n, known.data[i], &n);
    if (!fits || n != a)
      return plain_error(k, o,
                         "output_shape is incompatible with input type of operation: input has "
                         "%lld elements, but output_shape has %lld",
                         (long long)a, (long long)n);
  }
  return check_quant_reshape(k, o, from, to); /* c1, c3 */
}

/* ---- dynamic_pad ---- */

bool verify_dynamic_pad(checker *k, const op *o) {
  const type *from = in_type(o, 0), *to = out_type(o, 0);
  i64s low, high, interior;
  i64 n = in_type(o, 2)->dims.data[0];
  if (n != rank_of(from)) /* dynamic_pad_c2 */
    return plain_error(k, o, "padding operands size (%lld) must match operand rank (%lld)",
                       (long long)n, (long long)rank_of(from));
  if (!constant_ints(k, op_operand(o, 4), &interior)) return true;
  for (size_t i = 0; i < interior.len; i++) /* c3 */
    if (interior.data[i] < 0)
      return plain_error(k, o, "interior_padding must be non-negative, but got %s",
                         show_ints(k, interior));
  if (!type_is_static(from) || !type_is_static(to) || !constant_ints(k, op_operand(o, 2), &low) ||
      !constant_ints(k, op_operand(o, 3), &high))
    return true;
  for (i64 i = 0; i < n; i++) { /* c4 */
    i64 size = from->dims.data[i], want;
    if (!checked_mul(max_i64(size - 1, 0), interior.data[i], &want) ||
        !checked_add(want, size, &want) || !checked_add(want, low.data[i], &want) ||
        !checked_add(want, high.data[i], &want))
      return plain_error(k, o, "Padding is too large for dimension %lld", (long long)i);
    if (to->dims.data[i] != want)
      return plain_error(k, o,
                         "expected output dimension at index %lld to equal %lld, but got %lld",
                         (long long)i, (long long)want, (long long)to->dims.data[i]);
  }
  return true;
}

/* ---- real_dynamic_slice ---- */

bool verify_real_dynamic_slice(checker *k, const op *o) {
  static const char *const names[] = {"start_indices", "limit_indices", "strides"};
  i64 rank = rank_of(in_type(o, 0));
  for (size_t i = 0; i < 3; i++) {
    i64 n = in_type(o, i + 1)->dims.data[0];
    if (n != rank && n != DYNAMIC)
      return plain_error(k, o, "has mismatched number of operand rank (%lld) and %s size (%lld)",
                         (long long)rank, names[i], (long long)n);
  }
  return true;
}

/* ---- sizes ---- */

static bool check_dimension(checker *k, const op *o, i64 d) {
  i64 rank = rank_of(in_type(o, 0));
  if (d < rank) return true; /* get_dimension_size_c1 */
  return plain_error(k, o, "requires dimension attribute in range [0, %lld); found (%lld)",
                     (long long)rank, (long long)d);
}

bool infer_get_dimension_size(checker *k, const op *o, inferred *out) {
  struct get_dimension_size_attrs a;
  return view_get_dimension_size(o, &a) && check_dimension(k, o, a.dimension) &&
         infer_push(k, out, type_tensor(k->c, (i64s){0}, type_i32(k->c), NULL));
}

bool infer_set_dimension_size(checker *k, const op *o, inferred *out) {
  struct set_dimension_size_attrs a;
  i64s known;
  if (!view_set_dimension_size(o, &a)) return false;
  if (rank_of(in_type(o, 1)) != 0) return plain_error(k, o, "size operand should be of rank-0");
  if (!check_dimension(k, o, a.dimension)) return false;
  const type *t = in_type(o, 0);
  shape s = shape_of(t);
  i64 d = a.dimension;
  if (s.size[d] != DYNAMIC) s.bound[d] = s.size[d];
  s.size[d] = DYNAMIC;
  s.bounded = true;
  if (constant_ints(k, op_operand(o, 1), &known) && known.data[0] == s.bound[d]) {
    s.size[d] = known.data[0];
    s.bound[d] = DYNAMIC;
  }
  return infer_push(k, out, shape_type(k, &s, t->elem));
}
