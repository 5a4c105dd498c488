/* Windows that slide over tensors: convolution, dynamic_conv, reduce_window,
 * select_and_scatter. */
#include "dialect/verify.h"

/* One window of convolution, reduce_window or select_and_scatter: what they call by different
 * names. Lists of one number a windowed dimension, or empty for the usual (1; no padding); padding
 * has two, low and high by turns. */
typedef struct window {
  i64s size, strides, base_dilations, window_dilations, padding; /* empty: the usual */
  size_t num_reversal;
} window;

/* ---- windows ---- */

/* A {N, 2} attribute as a list. Bounded by what the ranks can be, for a splat of a huge type is
 * short in the text. convolution_c4, reduce_window_c12, select_and_scatter_c8 */
static bool read_padding(checker *k, const op *o, const dense_attr *p, i64s *out) {
  if (!p) return *out = (i64s){0}, true;
  i64s dims = p->type->dims;
  if (dims.len != 2 || dims.data[1] != 2)
    return plain_error(k, o, "expects the shape of padding-attribute to be {N, 2}, but got {%s}.",
                       show_ints(k, dims));
  i64 n = dims.data[0];
  if (n > 2 * DIALECT_MAX_RANK) n = 2 * DIALECT_MAX_RANK; /* is refused for its length */
  i64 *list = ARENA_ARRAY(k->scratch, i64, 2 * (size_t)n);
  for (i64 i = 0; i < 2 * n; i++) list[i] = attr_dense_int(&p->base, (size_t)i);
  *out = (i64s){list, 2 * (size_t)n};
  return true;
}

static bool check_length(checker *k, const op *o, size_t len, size_t n, const char *what) {
  if (len == 0 || len == n) return true;
  return plain_error(k, o,
                     "expects %s to have same dimension-size as size of window dimensions (%zu), "
                     "but got: %zu.",
                     what, n, len);
}

static bool check_positive(checker *k, const op *o, i64s l, size_t i, const char *what) {
  if (l.len == 0 || l.data[i] > 0) return true;
  return plain_error(
      k, o, "expects window to have positive %s for %zu-th window dimension, but got %lld.", what,
      i, (long long)l.data[i]);
}

/* convolution_c2 to c9, reduce_window_c5 to c12, select_and_scatter_c5 to c8 */
static bool check_window(checker *k, const op *o, const window *w) {
  size_t n = w->size.len;
  if (!check_length(k, o, w->strides.len, n, "window-strides") ||
      !check_length(k, o, w->base_dilations.len, n, "base-dilation factors") ||
      !check_length(k, o, w->window_dilations.len, n, "window-dilation factors") ||
      !check_length(k, o, w->padding.len / 2, n, "padding-entries") ||
      !check_length(k, o, w->num_reversal, n, "window-reversal"))
    return false;
  for (size_t i = 0; i < n; i++)
    if ((w->size.data[i] != DYNAMIC && !check_positive(k, o, w->size, i, "value")) ||
        !check_positive(k, o, w->strides, i, "stride") ||
        !check_positive(k, o, w->base_dilations, i, "base dilation factor") ||
        !check_positive(k, o, w->window_dilations, i, "window dilation factor"))
      return false;
  return true;
}

/* factor - 1 holes between neighbours: (size - 1) * factor + 1. false: overflow. */
static bool dilated(i64 size, i64 factor, i64 *out) {
  if (size <= 0) return *out = 0, true;
  return checked_mul(size - 1, factor, out) && checked_add(*out, 1, out);
}

static i64 item(i64s l, size_t i) { return l.len ? l.data[i] : 1; }

/* Output size of dimension i for this input size or bound; DYNAMIC stays. The input is dilated and
 * padded, the window dilated, and the result is how often it fits at steps of the stride (spec.md:
 * convolution_c25, reduce_window_c15). */
static bool window_output(checker *k, const op *o, const window *w, size_t i, i64 input, i64 *out) {
  i64 base, view, size = w->size.data[i];
  i64 low = w->padding.len ? w->padding.data[2 * i] : 0;
  i64 high = w->padding.len ? w->padding.data[2 * i + 1] : 0;
  if (input == DYNAMIC || size == DYNAMIC) return *out = DYNAMIC, true;
  if (!dilated(input, item(w->base_dilations, i), &base) || !checked_add(base, low, &base) ||
      !checked_add(base, high, &base) || !dilated(size, item(w->window_dilations, i), &view))
    return plain_error(k, o, "window is too large for dimension %zu", i);
  *out = base <= 0 || view > base ? 0 : (base - view) / item(w->strides, i) + 1;
  return true;
}

static bool window_shape(checker *k, const op *o, const window *w, const type *t, shape *s) {
  s->bounded = bounds_of(t).len != 0;
  for (size_t i = 0; i < w->size.len; i++) {
    i64 size = 0, bound = 0;
    if (!window_output(k, o, w, i, t->dims.data[i], &size) ||
        !window_output(k, o, w, i, bound_at(t, i), &bound) || !shape_push(k, o, s, size, bound))
      return false;
  }
  return true;
}

/* ---- convolution ---- */

/* What convolution and dynamic_conv have alike. */
typedef struct conv_parts {
  const conv_attr *dims;
  i64s strides, lhs_dilation, rhs_dilation;
  size_t num_reversal;
  i64 features, batches; /* group counts */
  attrs precision;
} conv_parts;

static i64s special_first(checker *k, i64 a, i64 b, i64s rest) {
  i64 *all = ARENA_ARRAY(k->scratch, i64, rest.len + 2);
  all[0] = a;
  all[1] = b;
  for (size_t i = 0; i < rest.len; i++) all[i + 2] = rest.data[i];
  return (i64s){all, rest.len + 2};
}

static bool in_range(i64s dims, i64 rank) {
  for (size_t i = 0; i < dims.len; i++)
    if (dims.data[i] < 0 || dims.data[i] >= rank) return false;
  return true;
}

/* The dimension numbers of each tensor: two special ones and the spatial ones, all different. */
static bool check_conv_dims(checker *k, const op *o, const conv_attr *d) {
  i64s in = d->input_spatial_dimensions, ker = d->kernel_spatial_dimensions,
       out = d->output_spatial_dimensions;
  i64 rank = rank_of(in_type(o, 0));
  if (in.len != ker.len || in.len != out.len) /* convolution_c17, c19 */
    return plain_error(k, o,
                       "expects the same size for input, kernel and output spatial-dimensions, but "
                       "got %zu, %zu, and %zu resp.",
                       in.len, ker.len, out.len);
  i64s all[] = {
      special_first(k, d->input_batch_dimension, d->input_feature_dimension, in),
      special_first(k, d->kernel_input_feature_dimension, d->kernel_output_feature_dimension, ker),
      special_first(k, d->output_batch_dimension, d->output_feature_dimension, out)};
  static const char *const names[] = {"input", "kernel", "output"};
  for (int i = 0; i < 3; i++) /* c13, c18, c20 */
    if (!in_range(all[i], rank))
      return plain_error(
          k, o, "expects input, kernel, and output dimension-numbers to be in-range [0, %lld).",
          (long long)rank);
  for (int i = 0; i < 3; i++)
    if (!is_unique(k, all[i]))
      return plain_error(k, o, "expects %s dimension-numbers to be unique, got {%s}.", names[i],
                         show_ints(k, all[i]));
  return true;
}

static bool divides(i64 factor, i64 size) { return size == DYNAMIC || size % factor == 0; }

/* Sizes of batch and feature dimensions against the group counts, of which one is 1. Divisions are
 * by positive numbers: attributes of counts were checked with the slots. */
static bool check_conv_groups(checker *k, const op *o, const conv_parts *p) {
  const i64 *in = in_type(o, 0)->dims.data, *ker = in_type(o, 1)->dims.data;
  i64 batch = in[p->dims->input_batch_dimension], feature = in[p->dims->input_feature_dimension];
  i64 ker_in = ker[p->dims->kernel_input_feature_dimension];
  i64 ker_out = ker[p->dims->kernel_output_feature_dimension];
  if (p->batches > 1 && p->features > 1) /* convolution_c23 */
    return plain_error(k, o,
                       "expects batch_group_count and feature_group_count not to be both greater "
                       "than 1. Got %lld and %lld resp.",
                       (long long)p->batches, (long long)p->features);
  if (!divides(p->batches, batch)) /* c10 */
    return plain_error(k, o,
                       "expects input batch dimension (%lld) to be divisible by batch_group_count. "
                       "Got batch_group_count = %lld.",
                       (long long)batch, (long long)p->batches);
  if (!divides(p->features, feature)) /* c11 */
    return plain_error(k, o,
                       "expects input feature dimension (%lld) to be a multiple of "
                       "feature_group_count. Got feature_group_count = %lld.",
                       (long long)feature, (long long)p->features);
  if (feature != DYNAMIC && ker_in != DYNAMIC && feature / p->features != ker_in) /* c14 */
    return plain_error(k, o,
                       "expects input feature dimension (%lld) / feature_group_count = kernel "
                       "input feature dimension (%lld). Got feature_group_count = %lld.",
                       (long long)feature, (long long)ker_in, (long long)p->features);
  if (!divides(p->batches, ker_out)) /* c15 */
    return plain_error(k, o,
                       "expects output feature dimension size (%lld) to be a multiple of "
                       "batch_group_count. Got batch_group_count = %lld.",
                       (long long)ker_out, (long long)p->batches);
  if (!divides(p->features, ker_out)) /* c16 */
    return plain_error(k, o,
                       "expects kernel output feature dimension (%lld) to be divisible by "
                       "feature_group_count. For feature_group_count = %lld.",
                       (long long)ker_out, (long long)p->features);
  return true;
}

/* All but windows. The labels of dynamic_conv have the same numbers. */
static bool check_conv(checker *k, const op *o, const conv_parts *p) {
  const type *l = in_type(o, 0), *r = in_type(o, 1);
  if (rank_of(l) < 2) /* convolution_c13 */
    return plain_error(k, o,
                       "expects convolution arguments to have >= 2 dimensions. Got: '%s' and '%s'.",
                       show(k, l), show(k, r));
  if (rank_of(l) != rank_of(r)) /* c1 */
    return plain_error(k, o,
                       "expects convolution arguments to have same number of dimensions. Got: '%s' "
                       "and '%s'.",
                       show(k, l), show(k, r));
  if (!l->elem->quant && !r->elem->quant && l->elem != r->elem) /* c27 */
    return plain_error(k, o,
                       "expects lhs and rhs to have compatible element type. Got: '%s' and '%s'",
                       show(k, l->elem), show(k, r->elem));
  if (!check_conv_dims(k, o, p->dims) || !check_conv_groups(k, o, p) ||
      !check_precision(k, o, p->precision)) /* c24 */
    return false;
  size_t spatial = p->dims->input_spatial_dimensions.len;
  if (rank_of(l) == (i64)spatial + 2) return true; /* c12 */
  return plain_error(k, o, "expects convolution arguments to have %zu dimensions. Got: %lld",
                     spatial + 2, (long long)rank_of(l));
}

/* Window sizes are the kernel's spatial ones; padding is an attribute or, for dynamic_conv, an
 * operand if it is constant. */
static window conv_window(checker *k, const op *o, const conv_parts *p, i64s padding) {
  const conv_attr *d = p->dims;
  size_t n = d->kernel_spatial_dimensions.len;
  i64 *sizes = ARENA_ARRAY(k->scratch, i64, n);
  for (size_t i = 0; i < n; i++)
    sizes[i] = in_type(o, 1)->dims.data[d->kernel_spatial_dimensions.data[i]];
  return (window){{sizes, n},      p->strides, p->lhs_dilation,
                  p->rhs_dilation, padding,    p->num_reversal};
}

/* convolution_c25, c26 */
static bool conv_shape(checker *k, const op *o, const conv_parts *p, const window *w, shape *s) {
  const conv_attr *d = p->dims;
  const i64 *in = in_type(o, 0)->dims.data;
  s->n = in_type(o, 0)->dims.len;
  for (size_t i = 0; i < w->size.len; i++)
    if (!window_output(k, o, w, i, in[d->input_spatial_dimensions.data[i]],
                       &s->size[d->output_spatial_dimensions.data[i]]))
      return false;
  i64 batch = in[d->input_batch_dimension];
  s->size[d->output_batch_dimension] = batch == DYNAMIC ? DYNAMIC : batch / p->batches;
  s->size[d->output_feature_dimension] =
      in_type(o, 1)->dims.data[d->kernel_output_feature_dimension];
  return true;
}

bool verify_convolution(checker *k, const op *o) {
  struct convolution_attrs a;
  if (!view_convolution(o, &a)) return false;
  conv_parts p = {a.dimension_numbers, a.window_strides,      a.lhs_dilation,
                  a.rhs_dilation,      a.window_reversal.len, a.feature_group_count,
                  a.batch_group_count, a.precision_config};
  i64s padding;
  shape s = {0};
  if (!check_conv(k, o, &p) || !read_padding(k, o, a.padding, &padding)) return false;
  window w = conv_window(k, o, &p, padding);
  return check_window(k, o, &w) && conv_shape(k, o, &p, &w, &s) && check_shape(k, o, &s) &&
         check_quant_conv(k, o, p.dims);
}

bool verify_dynamic_conv(checker *k, const op *o) {
  struct dynamic_conv_attrs a;
  if (!view_dynamic_conv(o, &a)) return false;
  conv_parts p = {a.dimension_numbers, a.window_strides,      a.lhs_dilation,
                  a.rhs_dilation,      a.window_reversal.len, a.feature_group_count,
                  a.batch_group_count, a.precision_config};
  if (!check_conv(k, o, &p)) return false;
  i64s shape_ = in_type(o, 2)->dims, padding;
  if (shape_.len != 2) /* dynamic_conv_c4 */
    return plain_error(k, o, "expects padding to be of rank 2 but got %zu", shape_.len);
  i64 n = rank_of(in_type(o, 0)) - 2;
  if (shape_.data[0] != n || shape_.data[1] != 2)
    return plain_error(k, o, "expects padding to be of shape [%lld, 2], but got [%s]", (long long)n,
                       show_ints(k, shape_));
  if (constant_ints(k, op_operand(o, 2), &padding)) {
    window w = conv_window(k, o, &p, padding);
    if (!check_window(k, o, &w)) return false;
  }
  return check_quant_conv(k, o, p.dims);
}

/* ---- reduce_window ---- */

static bool read_reduce_window(checker *k, const op *o, window *w) {
  struct reduce_window_attrs a;
  if (!view_reduce_window(o, &a)) return false;
  size_t n = o->num_operands / 2;
  if (n == 0) return plain_error(k, o, "requires at least 1 input value"); /* reduce_window_c1 */
  i64s padding;
  for (size_t i = 1; i < n; i++) /* reduce_window_c2 */
    if (!shapes_agree(in_type(o, 0), in_type(o, i)))
      return plain_error(k, o,
                         "expects all inputs to have compatible shapes. Shape at input-index %zu "
                         "is not compatible with shape at input-index 0",
                         i);
  if (!read_padding(k, o, a.padding, &padding)) return false;
  *w = (window){a.window_dimensions, a.window_strides, a.base_dilations,
                a.window_dilations,  padding,          0};
  for (size_t i = 0; i < n; i++) /* reduce_window_c4 */
    if (rank_of(in_type(o, i)) != (i64)w->size.len)
      return plain_error(k, o,
                         "expects window-dimensions size == input rank, but got window-dimensions "
                         "size: %zu and input: '%s' with rank = %lld.",
                         w->size.len, show(k, in_type(o, i)), (long long)rank_of(in_type(o, i)));
  return check_window(k, o, w);
}

bool infer_reduce_window(checker *k, const op *o, inferred *out) {
  window w;
  if (!read_reduce_window(k, o, &w)) return false;
  const block *b = op_body(o, 0);
  for (size_t i = 0; i < o->num_operands / 2; i++) { /* reduce_window_c14 to c16 */
    const type *elem = accumulator(k, o, b, i);
    shape s = {0};
    if (!elem || !window_shape(k, o, &w, in_type(o, i), &s)) return false;
    infer_push(k, out, shape_type(k, &s, elem));
  }
  return true;
}

bool verify_reduce_window(checker *k, const op *o) {
  window w;
  return read_reduce_window(k, o, &w) && /* reduce_window_c3, c13, i2 */
         check_reduction(k, o, op_body(o, 0), o->num_operands / 2, w.size);
}

/* ---- select_and_scatter ---- */

static const type *scalar_of(checker *k, const type *t) {
  return type_tensor(k->c, (i64s){0}, t->elem, NULL);
}

/* select_and_scatter_c9 */
static bool check_select(checker *k, const op *o, const block *b) {
  const type *want = scalar_of(k, in_type(o, 0));
  if (b->num_args != 2)
    return plain_error(k, o, "expects the select-region to take 2 parameters, but takes %u",
                       b->num_args);
  for (u32 i = 0; i < 2; i++)
    if (!same_but_precision(want, b->args[i]->type))
      return plain_error(
          k, o,
          "expects the type of select-region's parameter at index %u to be '%s', but got '%s'", i,
          show(k, want), show(k, b->args[i]->type));
  if (num_returned(b) != 1)
    return plain_error(k, o, "expects select-region to return single value, but got: %zu",
                       num_returned(b));
  const type *t = returned(b, 0);
  if (is_scalar_of(t, type_i1(k->c))) return true;
  return plain_error(
      k, o, "expects the return-type of select-region to be tensor<i1>, but got: '%s'", show(k, t));
}

bool infer_select_and_scatter(checker *k, const op *o, inferred *out) { /* c11, c12 */
  const type *t = in_type(o, 0), *elem = accumulator(k, o, op_body(o, 1), 0);
  return elem && infer_push(k, out, type_tensor(k->c, t->dims, elem, t->encoding));
}

bool verify_select_and_scatter(checker *k, const op *o) {
  struct select_and_scatter_attrs a;
  if (!view_select_and_scatter(o, &a)) return false;
  const type *t = in_type(o, 0), *source = in_type(o, 1), *init = in_type(o, 2);
  const type *scalar = scalar_of(k, source);
  i64s padding;
  if (!check_select(k, o, op_body(o, 0)) ||
      !check_reducer(k, o, op_body(o, 1), 1, &scalar, &init, (i64s){0})) /* c10 */
    return false;
  if (rank_of(t) != (i64)a.window_dimensions.len) /* c4 */
    return plain_error(k, o,
                       "expects window-dimensions size == operand rank, but got window-dimensions "
                       "size: %zu and operand-type: '%s' with rank = %lld.",
                       a.window_dimensions.len, show(k, t), (long long)rank_of(t));
  if (!read_padding(k, o, a.padding, &padding)) return false;
  window w = {.size = a.window_dimensions, .strides = a.window_strides, .padding = padding};
  shape s = {0};
  if (!check_window(k, o, &w) || !window_shape(k, o, &w, t, &s)) return false;
  s.bounded = false;
  const type *want = shape_type(k, &s, t->elem);
  if (same_but_precision(want, source)) return true; /* c1, c2 */
  return plain_error(k, o, "expects source-type to be '%s', but got'%s'", show(k, want),
                     show(k, source));
}
