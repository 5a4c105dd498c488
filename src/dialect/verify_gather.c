/* gather, dynamic_gather, scatter. The labels of dynamic_gather have gather's numbers.
 *
 * The dimension numbers are the hardest part of StableHLO to get right by hand, so every constraint
 * has a message of its own. Checks follow TypeInference.cpp in order; each later one may index by
 * the dimensions that an earlier one has found in range. */
#include "dialect/verify.h"

/* gather_c2, scatter_c22 */
static bool check_vector_dim(checker *k, const op *o, i64 d, i64 rank, const char *what) {
  if (d >= 0 && d <= rank) return true;
  return plain_error(k, o,
                     "Expects index_vector_dim to be in range [0, rank-of('%s')] i.e. [0, %lld]. "
                     "got: %lld.",
                     what, (long long)rank, (long long)d);
}

/* ---- gather ---- */

static bool check_sorted(checker *k, const op *o, i64s dims, const char *what) {
  if (is_sorted(dims)) return true;
  return plain_error(k, o, "expects %s to be sorted, got: [%s]", what, show_ints(k, dims));
}

static bool check_unique(checker *k, const op *o, i64s dims, const char *what) {
  if (is_unique(k, dims)) return true;
  return plain_error(k, o, "expects %s to not repeat, got: [%s]", what, show_ints(k, dims));
}

/* gather_c16, gather_c17 */
static bool check_batches(checker *k, const op *o, i64s batch, i64s index_batch) {
  const type *t = in_type(o, 0), *s = in_type(o, 1);
  if (batch.len != index_batch.len)
    return plain_error(
        k, o, "operand_batching_dims and start_indices_batching_dims should have the same size");
  for (size_t i = 0; i < batch.len; i++) {
    i64 x = t->dims.data[batch.data[i]], y = s->dims.data[index_batch.data[i]];
    if (!dims_agree(x, y))
      return plain_error(k, o,
                         "operand_batching_dims[%zu] and start_indices_batching_dims[%zu] must "
                         "have compatible sizes, but got %lld and %lld",
                         i, i, (long long)x, (long long)y);
  }
  return true;
}

/* In the peers' order, which is not that of the labels. */
static bool check_gather_dims(checker *k, const op *o, const gather_dims_attr *d) {
  const type *t = in_type(o, 0), *s = in_type(o, 1);
  i64s batch = d->operand_batching_dims, index_batch = d->start_indices_batching_dims;
  i64s offset = d->offset_dims, gone = d->collapsed_slice_dims;
  i64 rank = rank_of(t), v = d->index_vector_dim;
  if (offset.len + gone.len + batch.len != t->dims.len) /* gather_c1 */
    return plain_error(k, o,
                       "offset_dims size (%zu) plus collapse_slice_dims size (%zu) plus "
                       "operand_batching_dims size (%zu) is not equal to operand rank (%lld)",
                       offset.len, gone.len, batch.len, (long long)rank);
  if (!check_vector_dim(k, o, v, rank_of(s), "start_indices")) return false;
  i64 size = v == rank_of(s) ? 1 : s->dims.data[v];
  if (size != DYNAMIC && size != (i64)d->start_index_map.len) /* c3 */
    return plain_error(k, o,
                       "start_index_map size (%zu) is not equal to size of index dimension (%lld) "
                       "of start_indices (%lld)",
                       d->start_index_map.len, (long long)v, (long long)size);
  if (!check_sorted(k, o, offset, "offset_dims") || !check_unique(k, o, offset, "offset_dims") ||
      !check_disjoint(k, o, gone, batch, "collapsed_slice_dims", "operand_batching_dims") ||
      !check_sorted(k, o, gone, "collapsed_slice_dims") ||
      !check_bounds(k, o, gone, rank, "collapsed_slice_dims", "rank-of('operand')") ||
      !check_sorted(k, o, batch, "operand_batching_dims") ||
      !check_bounds(k, o, batch, rank, "operand_batching_dims", "rank-of('operand')") ||
      !check_unique(k, o, index_batch, "start_indices_batching_dims") ||
      !check_bounds(k, o, index_batch, rank_of(s), "start_indices_batching_dims",
                    "rank-of('start_indices')"))
    return false;               /* c4, c6, c7, c8, c10, c11, c13, c14 */
  if (contains(index_batch, v)) /* c15 */
    return plain_error(k, o,
                       "expects start_indices_batching_dims not to include index_vector_dim %lld",
                       (long long)v);
  return check_batches(k, o, batch, index_batch) &&
         check_disjoint(k, o, d->start_index_map, batch, "start_index_map",
                        "operand_batching_dims") && /* c18 */
         check_bounds(k, o, d->start_index_map, rank, "start_index_map",
                      "rank-of('operand')"); /* c19 */
}

static bool check_sizes_one(checker *k, const op *o, i64s dims, i64s sizes, const char *what) {
  for (size_t i = 0; i < dims.len; i++) /* gather_c9, gather_c12 */
    if (sizes.data[dims.data[i]] > 1)
      return plain_error(
          k, o, "Expects that for each dim in %s, slice_sizes[dim] should be <= 1, but got %lld",
          what, (long long)sizes.data[dims.data[i]]);
  return true;
}

static bool check_slice_sizes(checker *k, const op *o, const gather_dims_attr *d, i64s sizes) {
  if (!check_sizes_one(k, o, d->collapsed_slice_dims, sizes, "collapsed_slice_dims") ||
      !check_sizes_one(k, o, d->operand_batching_dims, sizes, "operand_batching_dims"))
    return false;
  for (size_t i = 0; i < sizes.len; i++) { /* c21 */
    i64 n = sizes.data[i], size = in_type(o, 0)->dims.data[i];
    if (n < 0 || (size != DYNAMIC && n > size))
      return plain_error(
          k, o, "slice size (%lld) is out of bounds for operand dimension (%lld) at index %zu",
          (long long)n, (long long)size, i);
  }
  return true;
}

/* gather_c5, gather_c22. Without sizes, those of slices are not known. */
static bool gather_shape(checker *k, const op *o, const gather_dims_attr *d, const i64s *sizes,
                         shape *out) {
  const type *s = in_type(o, 1);
  size_t index_rank = s->dims.len - (d->index_vector_dim < rank_of(s));
  size_t rank = d->offset_dims.len + index_rank, slice = 0, index = 0;
  if (!check_bounds(k, o, d->offset_dims, (i64)rank, "offset_dims", "implied-result-rank"))
    return false;
  out->bounded = bounds_of(s).len != 0;
  out->encoding = s->encoding;
  for (size_t i = 0; i < rank; i++) {
    extent e = {DYNAMIC, DYNAMIC};
    if (contains(d->offset_dims, (i64)i)) {
      while (contains(d->collapsed_slice_dims, (i64)slice) ||
             contains(d->operand_batching_dims, (i64)slice))
        slice++;
      if (sizes) e.size = sizes->data[slice];
      slice++;
    } else {
      if ((i64)index == d->index_vector_dim) index++;
      e = (extent){s->dims.data[index], bound_at(s, index)};
      index++;
    }
    if (!shape_push(k, o, out, e.size, e.bound)) return false;
  }
  return true;
}

static bool infer_slices(checker *k, const op *o, const gather_dims_attr *d, size_t num_sizes,
                         const i64s *sizes, inferred *out) {
  shape s = {0};
  if (!check_gather_dims(k, o, d)) return false;
  if (num_sizes != in_type(o, 0)->dims.len) /* c20 */
    return plain_error(k, o, "slice_sizes size (%zu) not equal to operand rank (%zu)", num_sizes,
                       in_type(o, 0)->dims.len);
  if ((sizes && !check_slice_sizes(k, o, d, *sizes)) || !gather_shape(k, o, d, sizes, &s))
    return false;
  if (!s.bounded) s.encoding = NULL;
  return infer_push(k, out, shape_type(k, &s, in_type(o, 0)->elem)); /* c23 */
}

bool infer_gather(checker *k, const op *o, inferred *out) {
  struct gather_attrs a;
  return view_gather(o, &a) &&
         infer_slices(k, o, a.dimension_numbers, a.slice_sizes.len, &a.slice_sizes, out);
}

bool infer_dynamic_gather(checker *k, const op *o, inferred *out) {
  struct dynamic_gather_attrs a;
  i64s sizes;
  bool known = constant_ints(k, op_operand(o, 2), &sizes);
  return view_dynamic_gather(o, &a) &&
         infer_slices(k, o, a.dimension_numbers, (size_t)in_type(o, 2)->dims.data[0],
                      known ? &sizes : NULL, out);
}

/* ---- scatter ---- */

static bool check_order(checker *k, const op *o, i64s dims, bool sorted, bool unique,
                        const char *what) {
  if (sorted && !is_sorted(dims))
    return plain_error(k, o, "Expects %s to be sorted; got: [%s].", what, show_ints(k, dims));
  if (unique && !is_unique(k, dims))
    return plain_error(k, o, "Expects %s to not repeat; got: [%s].", what, show_ints(k, dims));
  return true;
}

/* scatter_c17, scatter_c18 */
static bool check_scatter_batches(checker *k, const op *o, i64s batch, i64s index_batch,
                                  const type *t, const shape *s) {
  if (batch.len != index_batch.len)
    return plain_error(
        k, o, "input_batching_dims and scatter_indices_batching_dims should have the same size.");
  for (size_t i = 0; i < batch.len; i++) {
    i64 x = t->dims.data[batch.data[i]], y = s->size[index_batch.data[i]];
    if (!dims_agree(x, y))
      return plain_error(k, o,
                         "input_batching_dims[%zu] and scatter_indices_batching_dims[%zu] must "
                         "have compatible sizes, but got %lld and %lld.",
                         i, i, (long long)x, (long long)y);
  }
  return true;
}

/* `s`: the shape of the indices, with a last 1 if the row says so */
static bool check_scatter_dims(checker *k, const op *o, const scatter_dims_attr *d, const type *t,
                               const shape *s, const type *u) {
  i64s batch = d->input_batching_dims, index_batch = d->scatter_indices_batching_dims;
  i64s window = d->update_window_dims, gone = d->inserted_window_dims;
  i64s map = d->scatter_dims_to_operand_dims;
  i64 rank = rank_of(t), v = d->index_vector_dim;
  if (t->dims.len != window.len + gone.len + batch.len) /* scatter_c2 */
    return plain_error(k, o,
                       "Expects rank-of operand to match size-of('update_window_dims') + "
                       "size-of('inserted_window_dims') + size-of('input_batching_dims') i.e. %zu "
                       "but got %lld.",
                       window.len + gone.len + batch.len, (long long)rank);
  if (!check_order(k, o, window, true, true, "update_window_dims") || /* c7, c8 */
      !check_bounds(k, o, window, rank_of(u), "update_window_dims", "rank-of('updates')") ||
      !check_disjoint(k, o, gone, batch, "inserted_window_dims", "input_batching_dims") ||
      !check_order(k, o, gone, true, false, "inserted_window_dims") ||
      !check_bounds(k, o, gone, rank, "inserted_window_dims", "rank-of('operand')") ||
      !check_order(k, o, batch, true, false, "input_batching_dims") ||
      !check_bounds(k, o, batch, rank, "input_batching_dims", "rank-of('operand')") ||
      !check_order(k, o, index_batch, false, true, "scatter_indices_batching_dims") ||
      !check_bounds(k, o, index_batch, (i64)s->n, "scatter_indices_batching_dims",
                    "rank-of('scatter_indices')"))
    return false;               /* c9 to c15 */
  if (contains(index_batch, v)) /* c16 */
    return plain_error(
        k, o, "expects scatter_indices_batching_dims not to include index_vector_dim %lld.",
        (long long)v);
  if (!check_scatter_batches(k, o, batch, index_batch, t, s)) return false;
  if (s->size[v] != DYNAMIC && s->size[v] != (i64)map.len) /* c19 */
    return plain_error(k, o,
                       "Scatter op has %zu elements in scatter_dims_to_operand_dims and the bound "
                       "of dimension index_vector_dim=%lld of scatter_indices is %lld. These two "
                       "numbers must be equal.",
                       map.len, (long long)v, (long long)s->size[v]);
  return check_disjoint(k, o, map, batch, "scatter_dims_to_operand_dims",
                        "input_batching_dims") && /* c20 */
         check_bounds(k, o, map, rank, "scatter_dims_to_operand_dims",
                      "rank-of('operand')"); /* c21 */
}

/* scatter_c4: the windows fit the operand */
static bool check_update_windows(checker *k, const op *o, const scatter_dims_attr *d, const type *t,
                                 const type *u) {
  size_t at = 0;
  for (size_t i = 0; i < d->update_window_dims.len; i++, at++) {
    while (contains(d->inserted_window_dims, (i64)at) || contains(d->input_batching_dims, (i64)at))
      at++;
    i64 dim = d->update_window_dims.data[i], size = u->dims.data[dim], bound = t->dims.data[at];
    if (size != DYNAMIC && bound != DYNAMIC && size > bound)
      return plain_error(k, o,
                         "expects bounds of the window dimensions of updates to not exceed the "
                         "bounds of the corresponding dimensions of operand. For dimension %lld, "
                         "updates bound is %lld, operand bound is %lld.",
                         (long long)dim, (long long)size, (long long)bound);
  }
  return true;
}

/* scatter_c4: the rest is the shape of the indices */
static bool check_update_indices(checker *k, const op *o, const scatter_dims_attr *d,
                                 const shape *s, const type *u) {
  size_t at = 0;
  for (size_t i = 0; i < u->dims.len; i++) {
    if (contains(d->update_window_dims, (i64)i)) continue;
    if ((i64)at == d->index_vector_dim) at++;
    if (!dims_agree(u->dims.data[i], s->size[at]))
      return plain_error(k, o,
                         "expects bounds of the scatter dimensions of updates to be same as the "
                         "bounds of the corresponding dimensions of scatter indices. For scatter "
                         "dimension %zu, updates bound is %lld , scatter_indices bound is %lld.",
                         i, (long long)u->dims.data[i], (long long)s->size[at]);
    at++;
  }
  return true;
}

static size_t num_inputs(const op *o) { return (o->num_operands - 1u) / 2; }

/* scatter_c1, c3, c22, c6, c23 */
static bool check_scatter(checker *k, const op *o, const scatter_dims_attr *d) {
  size_t n = num_inputs(o);
  arena *mem = k->scratch;
  const type **inputs = ARENA_ARRAY(mem, const type *, n);
  const type **inits = ARENA_ARRAY(mem, const type *, n);
  for (size_t i = 0; i < n; i++) {
    inputs[i] = in_type(o, i);
    inits[i] = type_tensor(k->c, (i64s){0}, in_type(o, n + 1 + i)->elem, NULL);
    if (!shapes_agree(inputs[0], inputs[i]))
      return plain_error(k, o, "Not all inputs have compatible shapes.");
  }
  for (size_t i = 0; i < n; i++)
    if (!shapes_agree(in_type(o, n + 1), in_type(o, n + 1 + i)))
      return plain_error(k, o, "Not all updates have compatible shapes.");
  return check_vector_dim(k, o, d->index_vector_dim, rank_of(in_type(o, n)), "scatter_indices") &&
         check_reducer(k, o, op_body(o, 0), n, inputs, inits, (i64s){0});
}

bool verify_scatter(checker *k, const op *o) {
  struct scatter_attrs a;
  if (!view_scatter(o, &a)) return false;
  const scatter_dims_attr *d = a.scatter_dimension_numbers;
  size_t n = num_inputs(o);
  if (!check_scatter(k, o, d)) return false;
  shape s = shape_of(in_type(o, n));
  if ((i64)s.n == d->index_vector_dim && !shape_push(k, o, &s, 1, DYNAMIC)) return false;
  size_t rank = s.n - 1 + d->update_window_dims.len;
  for (size_t i = 0; i < n; i++)
    if (in_type(o, n + 1 + i)->dims.len != rank)
      return plain_error(k, o,
                         "expects updates tensor must be of rank %zu ( == "
                         "rank-of('scatter_indices') - 1 + size-of('update_window_dims'), where "
                         "'scatter_indices' is expanded by a trailing 1 dimension if "
                         "'index_vector_dim' == rank-of('scatter_indices')), but got %zu.",
                         rank, in_type(o, n + 1 + i)->dims.len);
  for (size_t i = 0; i < n; i++)
    if (!check_scatter_dims(k, o, d, in_type(o, i), &s, in_type(o, n + 1 + i))) return false;
  for (size_t i = 0; i < n; i++)
    if (!check_update_windows(k, o, d, in_type(o, i), in_type(o, n + 1 + i)) ||
        !check_update_indices(k, o, d, &s, in_type(o, n + 1 + i)))
      return false;
  return true;
}

bool infer_scatter(checker *k, const op *o, inferred *out) { /* scatter_c24, c25 */
  for (size_t i = 0; i < num_inputs(o); i++) {
    const type *t = in_type(o, i), *elem = accumulator(k, o, op_body(o, 0), i);
    if (!elem) return false;
    infer_push(k, out, type_tensor(k->c, t->dims, elem, t->encoding));
  }
  return true;
}
