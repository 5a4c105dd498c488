/* Ops with dimension numbers: dot_general, convolution, gather, scatter; and windows. */
#include "dialect/verify.h"

static bool check_precision(checker *k, const op *o, attrs config) {
  if (config.len > 2) /* dot_general_c11, convolution_c24 */
    return op_error(k->c, o, "expects precision config to be empty or have <= 2 elements, got %zu",
                    config.len);
  for (size_t i = 0; i < config.len; i++)
    if (!attr_is(precision, config.data[i]))
      return op_error(k->c, o,
                      "attribute 'precision_config' failed to satisfy constraint: Precision Config "
                      "attribute");
  return true;
}

/* ---- dot_general ---- */

static bool check_algorithm(checker *k, const op *o, const dot_algorithm_attr *a, attrs config) {
  if (!a) return true;
  if (a->lhs_component_count < 1) /* dot_general_c22 */
    return op_error(k->c, o, "lhs component count must be positive");
  if (a->rhs_component_count < 1) /* dot_general_c23 */
    return op_error(k->c, o, "rhs component count must be positive");
  if (a->num_primitive_operations < 1) /* dot_general_c24 */
    return op_error(k->c, o, "num primitive operations must be positive");
  for (size_t i = 0; i < config.len; i++) /* dot_general_c21 */
    if (((const precision_attr *)config.data[i])->value != 0)
      return op_error(k->c, o, "must specify DEFAULT precision config when algorithm is set.");
  return true;
}

/* Sizes of paired dimensions agree. */
static bool pairs_agree(i64s a, i64s b, const type *x, const type *y) {
  for (size_t i = 0; i < a.len; i++)
    if (!dims_agree(x->dims.data[a.data[i]], y->dims.data[b.data[i]])) return false;
  return true;
}

bool check_dot_dims(checker *k, const op *o, const dot_attr *d, dim_set used[2]) {
  const type *l = in_type(o, 0), *r = in_type(o, 1);
  i64s lb = d->lhs_batching_dimensions, rb = d->rhs_batching_dimensions;
  i64s lc = d->lhs_contracting_dimensions, rc = d->rhs_contracting_dimensions;
  dim_set batch[2] = {0}, contract[2] = {0};
  if (lb.len != rb.len) /* dot_general_c1 */
    return op_error(k->c, o, "lhs and rhs should have the same number of batching dimensions");
  if (lc.len != rc.len) /* dot_general_c2 */
    return op_error(k->c, o, "lhs and rhs should have the same number of contracting dimensions");
  if (!check_disjoint(k, o, lb, lc, "lhs_batching_dimensions", "lhs_contracting_dimensions") ||
      !check_disjoint(k, o, rb, rc, "rhs_batching_dimensions", "rhs_contracting_dimensions"))
    return false; /* c3, c4 */
  if (!check_dims(k, o, lb, rank_of(l), "lhs_batching_dimensions", &batch[0]) ||
      !check_dims(k, o, lc, rank_of(l), "lhs_contracting_dimensions", &contract[0]) ||
      !check_dims(k, o, rb, rank_of(r), "rhs_batching_dimensions", &batch[1]) ||
      !check_dims(k, o, rc, rank_of(r), "rhs_contracting_dimensions", &contract[1]))
    return false;                 /* c5 to c8 */
  if (!pairs_agree(lb, rb, l, r)) /* c9 */
    return op_error(k->c, o, "batching dimension sizes must match for lhs/rhs");
  if (!pairs_agree(lc, rc, l, r)) /* c10 */
    return op_error(k->c, o, "contracting dimension sizes must match for lhs/rhs");
  for (int i = 0; i < 2; i++) used[i] = batch[i] | contract[i];
  return true;
}

bool verify_dot_general(checker *k, const op *o) {
  struct dot_general_attrs a;
  if (!view_dot_general(o, &a)) return false;
  const type *sides[] = {in_type(o, 0), in_type(o, 1)}, *t = out_type(o, 0);
  dim_set used[2] = {0};
  if (!check_precision(k, o, a.precision_config) ||
      !check_dot_dims(k, o, a.dot_dimension_numbers, used) ||
      !check_algorithm(k, o, a.algorithm, a.precision_config))
    return false;
  i64 dims[2 * DIALECT_MAX_RANK];
  size_t n = 0;
  i64s lb = a.dot_dimension_numbers->lhs_batching_dimensions;
  for (size_t i = 0; i < lb.len; i++) dims[n++] = sides[0]->dims.data[lb.data[i]];
  for (int s = 0; s < 2; s++)
    for (i64 i = 0; i < rank_of(sides[s]); i++)
      if (!dim_in(used[s], i)) dims[n++] = sides[s]->dims.data[i];
  const type *want = type_tensor(k->c, (i64s){dims, n}, t->elem, NULL);
  if (!shapes_agree(want, t)) /* dot_general_c12 */
    return op_error(k->c, o,
                    "inferred shape '[%s]' is incompatible with return type of operation '%s'",
                    show_dims(k, want->dims), show(k, t));
  bool complex[] = {sides[0]->elem->kind == TYPE_COMPLEX, sides[1]->elem->kind == TYPE_COMPLEX};
  if (complex[0] != complex[1] || complex[0] != (t->elem->kind == TYPE_COMPLEX))
    return op_error(k->c, o, "cannot mix real and complex elements: %s",
                    show_types(k, (const type *[]){sides[0], sides[1], t}, 3));
  return true;
}

/* ---- windows ---- */

static bool check_window_list(checker *k, const op *o, i64s l, size_t n, const char *list,
                              const char *one) {
  if (l.len != 0 && l.len != n)
    return op_error(k->c, o,
                    "expects %s to have same dimension-size as size of window dimensions (%zu), "
                    "but got: %zu.",
                    list, n, l.len);
  for (size_t i = 0; i < l.len; i++)
    if (l.data[i] <= 0)
      return op_error(k->c, o,
                      "expects window to have positive %s for %zu-th window dimension, but got "
                      "%lld.",
                      one, i, (long long)l.data[i]);
  return true;
}

bool check_window(checker *k, const op *o, const window *w) {
  size_t n = w->size.len;
  if (!check_window_list(k, o, w->strides, n, "window-strides", "stride") ||
      !check_window_list(k, o, w->base_dilations, n, "base-dilation factors",
                         "base dilation factor") ||
      !check_window_list(k, o, w->window_dilations, n, "window-dilation factors",
                         "window dilation factor"))
    return false;
  for (size_t i = 0; i < n; i++)
    if (w->size.data[i] <= 0 && w->size.data[i] != DYNAMIC)
      return op_error(k->c, o,
                      "expects window to have positive value for %zu-th window dimension, but got "
                      "%lld.",
                      i, (long long)w->size.data[i]);
  const dense_attr *p = w->padding;
  if (!p) return true;
  const type *t = p->type;
  if (t->kind != TYPE_TENSOR || t->elem != type_i64(k->c) || t->dims.len != 2 ||
      t->dims.data[1] != 2)
    return op_error(k->c, o, "expects the shape of padding-attribute to be {N, 2}, but got {%s}.",
                    show_dims(k, t->dims));
  if (t->dims.data[0] != 0 && t->dims.data[0] != (i64)n)
    return op_error(k->c, o,
                    "expects padding-entries to have same dimension-size as size of window "
                    "dimensions (%zu), but got: %lld.",
                    n, (long long)t->dims.data[0]);
  return true;
}

static bool dilated(i64 size, i64 factor, i64 *out) {
  if (size <= 0) return *out = 0, true;
  return checked_mul(size - 1, factor, out) && checked_add(*out, 1, out);
}

static i64 item(i64s l, size_t i) { return l.len ? l.data[i] : 1; }

bool window_output(const window *w, size_t i, i64 input, i64 *out) {
  i64 base, view, low = 0, high = 0, size = w->size.data[i];
  if (input == DYNAMIC || size == DYNAMIC) return *out = DYNAMIC, true;
  if (w->padding && w->padding->type->dims.data[0]) {
    low = attr_dense_int(&w->padding->base, 2 * i);
    high = attr_dense_int(&w->padding->base, 2 * i + 1);
  }
  if (!dilated(input, item(w->base_dilations, i), &base) || !checked_add(base, low, &base) ||
      !checked_add(base, high, &base) || !dilated(size, item(w->window_dilations, i), &view))
    return false;
  *out = base <= 0 || view > base ? 0 : (base - view) / item(w->strides, i) + 1;
  return true;
}

/* ---- convolution ---- */

/* The dimension numbers of one tensor: two special ones and the spatial ones, all different. */
static bool check_conv_side(checker *k, const op *o, i64 a, i64 b, i64s spatial, i64 rank,
                            const char *what) {
  i64 all[DIALECT_MAX_RANK + 2] = {a, b};
  dim_set seen = 0;
  memcpy(all + 2, spatial.data, spatial.len * sizeof(i64));
  for (size_t i = 0; i < spatial.len + 2; i++) { /* convolution_c13, c18, c20 */
    if (all[i] < 0 || all[i] >= rank)
      return op_error(k->c, o,
                      "expects input, kernel, and output dimension-numbers to be in-range [0, "
                      "%lld).",
                      (long long)rank);
    if (dim_in(seen, all[i]))
      return op_error(k->c, o, "expects %s dimension-numbers to be unique, got {%s}.", what,
                      show_dims(k, (i64s){all, spatial.len + 2}));
    seen |= 1ull << all[i];
  }
  return true;
}

static bool check_conv_dims(checker *k, const op *o, const conv_attr *d) {
  i64 rank = rank_of(in_type(o, 0));
  i64s in = d->input_spatial_dimensions, ker = d->kernel_spatial_dimensions,
       out = d->output_spatial_dimensions;
  if (rank < 2)
    return op_error(k->c, o,
                    "expects convolution arguments to have >= 2 dimensions. Got: '%s' and '%s'.",
                    show(k, in_type(o, 0)), show(k, in_type(o, 1)));
  if (rank != rank_of(in_type(o, 1))) /* convolution_c1 */
    return op_error(k->c, o,
                    "expects convolution arguments to have same number of dimensions. Got: '%s' "
                    "and '%s'.",
                    show(k, in_type(o, 0)), show(k, in_type(o, 1)));
  if (in.len != ker.len || in.len != out.len) /* c17, c19 */
    return op_error(k->c, o,
                    "expects the same size for input, kernel and output spatial-dimensions, but "
                    "got %zu, %zu, and %zu resp.",
                    in.len, ker.len, out.len);
  if ((i64)in.len + 2 != rank) /* c12 */
    return op_error(k->c, o, "expects convolution arguments to have %zu dimensions. Got: %lld",
                    in.len + 2, (long long)rank);
  return check_conv_side(k, o, d->input_batch_dimension, d->input_feature_dimension, in, rank,
                         "input") &&
         check_conv_side(k, o, d->kernel_input_feature_dimension,
                         d->kernel_output_feature_dimension, ker, rank, "kernel") &&
         check_conv_side(k, o, d->output_batch_dimension, d->output_feature_dimension, out, rank,
                         "output");
}

static bool divides(i64 factor, i64 size) { return size == DYNAMIC || size % factor == 0; }

static bool check_conv_groups(checker *k, const op *o, const conv_attr *d, i64 features,
                              i64 batches) {
  const i64 *in = in_type(o, 0)->dims.data, *ker = in_type(o, 1)->dims.data;
  i64 batch = in[d->input_batch_dimension], feature = in[d->input_feature_dimension];
  i64 ker_in = ker[d->kernel_input_feature_dimension];
  i64 ker_out = ker[d->kernel_output_feature_dimension];
  if (features < 1) /* c21 */
    return op_error(k->c, o, "expects feature_group_count to be a positive number, got %lld.",
                    (long long)features);
  if (batches < 1) /* c22 */
    return op_error(k->c, o, "expects batch_group_count to be a positive number, got %lld.",
                    (long long)batches);
  if (batches > 1 && features > 1) /* c23 */
    return op_error(k->c, o,
                    "expects batch_group_count and feature_group_count not to be both greater than "
                    "1. Got %lld and %lld resp.",
                    (long long)batches, (long long)features);
  if (!divides(batches, batch)) /* c10 */
    return op_error(
        k->c, o,
        "expects input batch dimension (%lld) to be divisible by batch_group_count. Got "
        "batch_group_count = %lld.",
        (long long)batch, (long long)batches);
  if (!divides(features, feature)) /* c11 */
    return op_error(k->c, o,
                    "expects input feature dimension (%lld) to be a multiple of "
                    "feature_group_count. Got feature_group_count = %lld.",
                    (long long)feature, (long long)features);
  if (feature != DYNAMIC && ker_in != DYNAMIC && feature / features != ker_in) /* c14 */
    return op_error(k->c, o,
                    "expects input feature dimension (%lld) / feature_group_count = kernel input "
                    "feature dimension (%lld). Got feature_group_count = %lld.",
                    (long long)feature, (long long)ker_in, (long long)features);
  if (!divides(batches, ker_out)) /* c15 */
    return op_error(k->c, o,
                    "expects output feature dimension size (%lld) to be a multiple of "
                    "batch_group_count. Got batch_group_count = %lld.",
                    (long long)ker_out, (long long)batches);
  if (!divides(features, ker_out)) /* c16 */
    return op_error(k->c, o,
                    "expects kernel output feature dimension (%lld) to be divisible by "
                    "feature_group_count. For feature_group_count = %lld.",
                    (long long)ker_out, (long long)features);
  return true;
}

bool verify_convolution(checker *k, const op *o) {
  struct convolution_attrs a;
  if (!view_convolution(o, &a)) return false;
  const conv_attr *d = a.dimension_numbers;
  const type *in = in_type(o, 0), *ker = in_type(o, 1), *t = out_type(o, 0);
  bool quantized = in->elem->quant || ker->elem->quant || t->elem->quant;
  if (in->elem != ker->elem && !quantized) /* convolution_c27 */
    return op_error(k->c, o,
                    "expects lhs and rhs to have compatible element type. Got: '%s' and '%s'",
                    show(k, in->elem), show(k, ker->elem));
  if (!check_precision(k, o, a.precision_config) || !check_conv_dims(k, o, d) ||
      !check_conv_groups(k, o, d, a.feature_group_count, a.batch_group_count))
    return false;
  i64 sizes[DIALECT_MAX_RANK], dims[DIALECT_MAX_RANK];
  size_t n = d->kernel_spatial_dimensions.len;
  for (size_t i = 0; i < n; i++) sizes[i] = ker->dims.data[d->kernel_spatial_dimensions.data[i]];
  window w = {{sizes, n}, a.window_strides, a.lhs_dilation, a.rhs_dilation, a.padding};
  if (!check_window(k, o, &w)) return false;
  if (a.window_reversal.len && a.window_reversal.len != n) /* convolution_c9 */
    return op_error(k->c, o,
                    "expects window-reversal to have same dimension-size as size of window "
                    "dimensions (%zu), but got: %zu.",
                    n, a.window_reversal.len);
  for (size_t i = 0; i < n; i++)
    if (!window_output(&w, i, in->dims.data[d->input_spatial_dimensions.data[i]],
                       &dims[d->output_spatial_dimensions.data[i]]))
      return op_error(k->c, o, "window is too large for dimension %zu", i);
  i64 batch = in->dims.data[d->input_batch_dimension];
  dims[d->output_batch_dimension] = batch == DYNAMIC ? DYNAMIC : batch / a.batch_group_count;
  dims[d->output_feature_dimension] = ker->dims.data[d->kernel_output_feature_dimension];
  const type *want = type_tensor(k->c, (i64s){dims, n + 2}, t->elem, NULL);
  if (!shapes_agree(want, t)) /* c25 */
    return op_error(k->c, o,
                    "inferred shape '[%s]' is incompatible with return type of operation '%s'",
                    show_dims(k, want->dims), show(k, t));
  return true;
}

/* ---- gather ---- */

static bool check_sizes_one(checker *k, const op *o, i64s dims, i64s sizes, const char *what) {
  for (size_t i = 0; i < dims.len; i++) /* gather_c9, gather_c12 */
    if (sizes.data[dims.data[i]] > 1)
      return op_error(k->c, o,
                      "Expects that for each dim in %s, slice_sizes[dim] should be <= 1, but got "
                      "%lld",
                      what, (long long)sizes.data[dims.data[i]]);
  return true;
}

static bool check_batching(checker *k, const op *o, i64s dims, i64s index_dims, const type *t,
                           const type *indices, const char *what, const char *index_what) {
  if (dims.len != index_dims.len) /* gather_c16, scatter_c17 */
    return op_error(k->c, o, "%s and %s should have the same size", what, index_what);
  for (size_t i = 0; i < dims.len; i++) { /* gather_c17, scatter_c18 */
    i64 x = t->dims.data[dims.data[i]], y = indices->dims.data[index_dims.data[i]];
    if (!dims_agree(x, y))
      return op_error(k->c, o,
                      "%s[%zu] and %s[%zu] must have compatible sizes, but got %lld and %lld", what,
                      i, index_what, i, (long long)x, (long long)y);
  }
  return true;
}

static bool check_index_vector(checker *k, const op *o, i64 dim, const type *indices,
                               const char *what) {
  i64 rank = rank_of(indices);
  if (dim >= 0 && dim <= rank) return true; /* gather_c2, scatter_c22 */
  return op_error(k->c, o,
                  "Expects index_vector_dim to be in range [0, rank-of('%s')] i.e. [0, %lld]. got: "
                  "%lld.",
                  what, (long long)rank, (long long)dim);
}

/* How many numbers make an index. */
static i64 index_size(const type *indices, i64 dim) {
  return dim == rank_of(indices) ? 1 : indices->dims.data[dim];
}

static bool check_gather_dims(checker *k, const op *o, const gather_dims_attr *d, dim_set *gone) {
  const type *t = in_type(o, 0), *s = in_type(o, 1);
  i64s batch = d->operand_batching_dims, index_batch = d->start_indices_batching_dims;
  dim_set a = 0, b = 0;
  if (d->offset_dims.len + d->collapsed_slice_dims.len + batch.len != t->dims.len) /* c1 */
    return op_error(k->c, o,
                    "offset_dims size (%zu) plus collapse_slice_dims size (%zu) plus "
                    "operand_batching_dims size (%zu) is not equal to operand rank (%lld)",
                    d->offset_dims.len, d->collapsed_slice_dims.len, batch.len,
                    (long long)rank_of(t));
  if (!check_index_vector(k, o, d->index_vector_dim, s, "start_indices")) return false;
  i64 size = index_size(s, d->index_vector_dim);
  if (size != DYNAMIC && size != (i64)d->start_index_map.len) /* c3 */
    return op_error(k->c, o,
                    "start_index_map size (%zu) is not equal to size of index dimension (%lld) of "
                    "start_indices (%lld)",
                    d->start_index_map.len, (long long)d->index_vector_dim, (long long)size);
  if (!check_ordered(k, o, d->offset_dims, "offset_dims", false) || /* c4 */
      !check_disjoint(k, o, d->collapsed_slice_dims, batch, "collapsed_slice_dims",
                      "operand_batching_dims") ||                                    /* c6 */
      !check_ordered(k, o, d->collapsed_slice_dims, "collapsed_slice_dims", true) || /* c7, c8 */
      !check_bounds(k, o, d->collapsed_slice_dims, rank_of(t), "collapsed_slice_dims",
                    "rank-of('operand')", &a) ||
      !check_ordered(k, o, batch, "operand_batching_dims", true) || /* c10, c11 */
      !check_bounds(k, o, batch, rank_of(t), "operand_batching_dims", "rank-of('operand')", &b) ||
      !check_unique(k, o, index_batch, "start_indices_batching_dims") || /* c13, c14 */
      !check_bounds(k, o, index_batch, rank_of(s), "start_indices_batching_dims",
                    "rank-of('start_indices')", NULL))
    return false;
  for (size_t i = 0; i < index_batch.len; i++) /* c15 */
    if (index_batch.data[i] == d->index_vector_dim)
      return op_error(k->c, o,
                      "expects start_indices_batching_dims not to include index_vector_dim %lld",
                      (long long)d->index_vector_dim);
  *gone = a | b;
  return check_batching(k, o, batch, index_batch, t, s, "operand_batching_dims",
                        "start_indices_batching_dims") &&
         check_disjoint(k, o, d->start_index_map, batch, "start_index_map",
                        "operand_batching_dims") && /* c18 */
         check_bounds(k, o, d->start_index_map, rank_of(t), "start_index_map", "rank-of('operand')",
                      NULL); /* c19 */
}

bool infer_gather(checker *k, const op *o, const type **out) {
  struct gather_attrs a;
  if (!view_gather(o, &a)) return false;
  const gather_dims_attr *d = a.dimension_numbers;
  const type *t = in_type(o, 0), *s = in_type(o, 1);
  dim_set gone = 0, offset = 0;
  if (!check_gather_dims(k, o, d, &gone)) return false;
  if ((i64)a.slice_sizes.len != rank_of(t)) /* c20 */
    return op_error(k->c, o, "slice_sizes size (%zu) not equal to operand rank (%lld)",
                    a.slice_sizes.len, (long long)rank_of(t));
  if (!check_sizes_one(k, o, d->collapsed_slice_dims, a.slice_sizes, "collapsed_slice_dims") ||
      !check_sizes_one(k, o, d->operand_batching_dims, a.slice_sizes, "operand_batching_dims"))
    return false;
  for (size_t i = 0; i < a.slice_sizes.len; i++) { /* c21 */
    i64 n = a.slice_sizes.data[i], size = t->dims.data[i];
    if (n < 0 || (size != DYNAMIC && n > size))
      return op_error(
          k->c, o, "slice size (%lld) is out of bounds for operand dimension (%lld) at index %zu",
          (long long)n, (long long)size, i);
  }
  i64 index_rank = rank_of(s) - (d->index_vector_dim < rank_of(s));
  i64 rank = (i64)d->offset_dims.len + index_rank, dims[DIALECT_MAX_RANK];
  if (rank > DIALECT_MAX_RANK)
    return op_unimplemented(k->c, o, "a result of rank %lld", (long long)rank);
  if (!check_bounds(k, o, d->offset_dims, rank, "offset_dims", "implied-result-rank", &offset))
    return false; /* c5 */
  i64 slice = 0, index = 0;
  for (i64 i = 0; i < rank; i++) { /* c22 */
    if (dim_in(offset, i)) {
      while (dim_in(gone, slice)) slice++;
      dims[i] = a.slice_sizes.data[slice++];
    } else {
      if (index == d->index_vector_dim) index++;
      dims[i] = s->dims.data[index++];
    }
  }
  out[0] = type_tensor(k->c, (i64s){dims, (size_t)rank}, t->elem, NULL);
  return true;
}
bool verify_gather(checker *k, const op *o) { return (void)k, (void)o, true; }

/* ---- scatter ---- */

static bool check_scatter_dims(checker *k, const op *o, const scatter_dims_attr *d, const type *t,
                               const type *s, const type *u, dim_set *gone, dim_set *windows) {
  i64s batch = d->input_batching_dims, index_batch = d->scatter_indices_batching_dims;
  dim_set a = 0, b = 0;
  size_t all = d->update_window_dims.len + d->inserted_window_dims.len + batch.len;
  if (t->dims.len != all) /* scatter_c2 */
    return op_error(k->c, o,
                    "Expects rank-of operand to match size-of('update_window_dims') + "
                    "size-of('inserted_window_dims') + size-of('input_batching_dims') i.e. %zu but "
                    "got %lld.",
                    all, (long long)rank_of(t));
  if (!check_ordered(k, o, d->update_window_dims, "update_window_dims", false) || /* c7, c8 */
      !check_bounds(k, o, d->update_window_dims, rank_of(u), "update_window_dims",
                    "rank-of('updates')", windows) ||
      !check_disjoint(k, o, d->inserted_window_dims, batch, "inserted_window_dims",
                      "input_batching_dims") ||                                      /* c9 */
      !check_ordered(k, o, d->inserted_window_dims, "inserted_window_dims", true) || /* c10, c11 */
      !check_bounds(k, o, d->inserted_window_dims, rank_of(t), "inserted_window_dims",
                    "rank-of('operand')", &a) ||
      !check_ordered(k, o, batch, "input_batching_dims", true) || /* c12, c13 */
      !check_bounds(k, o, batch, rank_of(t), "input_batching_dims", "rank-of('operand')", &b) ||
      !check_unique(k, o, index_batch, "scatter_indices_batching_dims") || /* c14, c15 */
      !check_bounds(k, o, index_batch, rank_of(s), "scatter_indices_batching_dims",
                    "rank-of('scatter_indices')", NULL))
    return false;
  for (size_t i = 0; i < index_batch.len; i++) /* c16 */
    if (index_batch.data[i] == d->index_vector_dim)
      return op_error(k->c, o,
                      "expects scatter_indices_batching_dims not to include index_vector_dim %lld.",
                      (long long)d->index_vector_dim);
  *gone = a | b;
  if (!check_batching(k, o, batch, index_batch, t, s, "input_batching_dims",
                      "scatter_indices_batching_dims"))
    return false;
  i64 size = index_size(s, d->index_vector_dim);
  if (size != DYNAMIC && size != (i64)d->scatter_dims_to_operand_dims.len) /* c19 */
    return op_error(k->c, o,
                    "Scatter op has %zu elements in scatter_dims_to_operand_dims and the bound of "
                    "dimension index_vector_dim=%lld of scatter_indices is %lld. These two numbers "
                    "must be equal.",
                    d->scatter_dims_to_operand_dims.len, (long long)d->index_vector_dim,
                    (long long)size);
  return check_disjoint(k, o, d->scatter_dims_to_operand_dims, batch,
                        "scatter_dims_to_operand_dims", "input_batching_dims") && /* c20 */
         check_bounds(k, o, d->scatter_dims_to_operand_dims, rank_of(t),
                      "scatter_dims_to_operand_dims", "rank-of('operand')", NULL); /* c21 */
}

/* scatter_c4: the shape of updates. */
static bool check_updates(checker *k, const op *o, const scatter_dims_attr *d, const type *t,
                          const type *s, const type *u) {
  i64 index_rank = rank_of(s) - (d->index_vector_dim < rank_of(s));
  i64 rank = index_rank + (i64)d->update_window_dims.len;
  if (rank_of(u) != rank)
    return op_error(k->c, o,
                    "expects updates tensor must be of rank %lld ( == rank-of('scatter_indices') - "
                    "1 + size-of('update_window_dims'), where 'scatter_indices' is expanded by a "
                    "trailing 1 dimension if 'index_vector_dim' == rank-of('scatter_indices')), "
                    "but got %lld.",
                    (long long)rank, (long long)rank_of(u));
  dim_set gone = 0, windows = 0;
  if (!check_scatter_dims(k, o, d, t, s, u, &gone, &windows)) return false;
  i64 slice = 0, index = 0;
  for (i64 i = 0; i < rank; i++) {
    i64 size = u->dims.data[i];
    if (dim_in(windows, i)) {
      while (dim_in(gone, slice)) slice++;
      i64 bound = t->dims.data[slice++];
      if (size != DYNAMIC && bound != DYNAMIC && size > bound)
        return op_error(k->c, o,
                        "expects bounds of the window dimensions of updates to not exceed the "
                        "bounds of the corresponding dimensions of operand. For dimension %lld, "
                        "updates bound is %lld, operand bound is %lld.",
                        (long long)i, (long long)size, (long long)bound);
    } else {
      if (index == d->index_vector_dim) index++;
      i64 bound = s->dims.data[index++];
      if (!dims_agree(size, bound))
        return op_error(k->c, o,
                        "expects bounds of the scatter dimensions of updates to be same as the "
                        "bounds of the corresponding dimensions of scatter indices. For scatter "
                        "dimension %lld, updates bound is %lld , scatter_indices bound is %lld.",
                        (long long)i, (long long)size, (long long)bound);
    }
  }
  return true;
}

bool verify_scatter(checker *k, const op *o) {
  struct scatter_attrs a;
  if (!view_scatter(o, &a)) return false;
  const scatter_dims_attr *d = a.scatter_dimension_numbers;
  size_t n = (o->num_operands - 1u) / 2;
  if (n == 0) return op_error(k->c, o, "expects at least one input");
  const type *s = in_type(o, n);
  if (!check_index_vector(k, o, d->index_vector_dim, s, "scatter_indices")) return false;
  arena *mem = ir_arena(k->c);
  const type **inputs = ARENA_ARRAY(mem, const type *, n),
             **inits = ARENA_ARRAY(mem, const type *, n);
  for (size_t i = 0; i < n; i++) {
    inputs[i] = in_type(o, i);
    inits[i] = type_tensor(k->c, (i64s){0}, in_type(o, n + 1 + i)->elem, NULL);
    if (!shapes_agree(inputs[0], inputs[i])) /* scatter_c1 */
      return op_error(k->c, o, "Not all inputs have compatible shapes.");
    if (!shapes_agree(in_type(o, n + 1), in_type(o, n + 1 + i))) /* scatter_c3 */
      return op_error(k->c, o, "Not all updates have compatible shapes.");
  }
  return check_reducer(k, o, op_body(o, 0), n, inputs, inits) &&
         check_updates(k, o, d, inputs[0], s, in_type(o, n + 1));
}

bool infer_scatter(checker *k, const op *o, const type **out) { /* scatter_c24, c25 */
  size_t n = (o->num_operands - 1u) / 2;
  const block *b = op_body(o, 0);
  if (o->num_results != n)
    return op_error(k->c, o, "expects as many results as inputs, but got %u and %zu",
                    o->num_results, n);
  for (size_t i = 0; i < n; i++)
    out[i] = type_tensor(k->c, in_type(o, i)->dims, returned(b, i)->elem, in_type(o, i)->encoding);
  return true;
}
