/* What quantized operands and results must agree on, beyond shapes.
 *
 * Source: openxla/stablehlo docs/spec.md, the constraints named in comments. */
#include "dialect/verify.h"

static const quant *uniform(const type *t) { return quant_class(t->elem) ? t->elem->quant : NULL; }
static const quant *per_tensor(const type *t) {
  const quant *q = uniform(t);
  return q && q->form == QUANT_UNIFORM ? q : NULL;
}
static const quant *per_axis(const type *t) {
  const quant *q = uniform(t);
  return q && q->form == QUANT_PER_AXIS ? q : NULL;
}

static bool add(checker *k, const op *o) {
  const quant *l = uniform(in_type(o, 0)), *r = uniform(in_type(o, 1)),
              *t = uniform(out_type(o, 0));
  if (!l || !r || !t) /* add_c2 */
    return op_error(k->c, o,
                    "expects  all operands and results to be either quantized or non-quantized");
  if (l->storage != r->storage || l->storage != t->storage) /* add_c3 */
    return op_error(k->c, o, "mismatched operands and result quantization storage types");
  if (l->expressed != r->expressed || l->expressed != t->expressed) /* add_c4 */
    return op_error(k->c, o, "mismatched operands and result quantization expressed types");
  const quant *axis[] = {l, r};
  bool any = false;
  for (size_t i = 0; i < 2; i++) {
    if (axis[i]->form != QUANT_PER_AXIS) continue;
    any = true;
    if (t->form != QUANT_PER_AXIS) /* add_c5 */
      return op_error(k->c, o, "result is not per_axis quantized but lhs or rhs are");
    if (t->dims.data[0] != axis[i]->dims.data[0]) /* add_c6, add_c7 */
      return op_error(k->c, o, "quantization_dimension of %s and result are not same %s vs %s",
                      i ? "rhs" : "lhs", show(k, in_type(o, i)->elem),
                      show(k, out_type(o, 0)->elem));
  }
  if (t->form == QUANT_PER_AXIS && !any)
    return op_error(k->c, o,
                    "result per_axis quantized but none from rhs and lhs are per_axis quantized");
  return true;
}

/* convolution_c28, c31 to c34; dot_general_c14, c17 to c20 */
static bool product(checker *k, const op *o) {
  const type *le = in_type(o, 0)->elem, *te = out_type(o, 0)->elem;
  const quant *l = le->quant, *r = in_type(o, 1)->elem->quant, *t = te->quant;
  if (!r || !l != !t)
    return op_error(k->c, o,
                    "rhs should be quantized for quantized operations and "
                    "is_quantized(lhs)=is_quantized(result) should hold");
  if (!l)
    return (le == r->expressed && le == te) ||
           op_error(k->c, o,
                    "mismatched rhs quantization expressed type and lhs and result element type");
  if (l->storage != r->storage)
    return op_error(k->c, o, "mismatched lhs and rhs quantization storage types");
  if (l->expressed != r->expressed || l->expressed != t->expressed)
    return op_error(k->c, o, "mismatched lhs, rhs and result quantization expressed types");
  if (r->form == QUANT_UNIFORM && t->form != QUANT_UNIFORM)
    return op_error(k->c, o, "mismatched rhs and result quantization granularity");
  return true;
}

static bool convolve(checker *k, const op *o, const conv_attr *d) {
  const quant *r = per_axis(in_type(o, 1)), *t = per_axis(out_type(o, 0));
  if (r && r->dims.data[0] != d->kernel_output_feature_dimension) /* convolution_c29 */
    return op_error(k->c, o,
                    "quantization dimension of rhs should be same with "
                    "kernel_output_feature_dimension");
  if (t && t->dims.data[0] != d->output_feature_dimension) /* convolution_c30 */
    return op_error(k->c, o,
                    "quantization dimension of result should be same with "
                    "output_feature_dimension");
  return product(k, o);
}

static bool convolution(checker *k, const op *o) {
  struct convolution_attrs a;
  return view_convolution(o, &a) && convolve(k, o, a.dimension_numbers);
}

static bool dynamic_conv(checker *k, const op *o) {
  struct dynamic_conv_attrs a;
  return view_dynamic_conv(o, &a) && convolve(k, o, a.dimension_numbers);
}

static bool dot_general(checker *k, const op *o) {
  struct dot_general_attrs a;
  const quant *r = uniform(in_type(o, 1));
  if (!view_dot_general(o, &a)) return false;
  for (size_t i = 0; r && i < r->zero_points.len; i++)
    if (r->zero_points.data[i]) /* dot_general_c15 */
      return op_error(k->c, o, "Zero point%s of rhs should be 0",
                      r->form == QUANT_PER_AXIS ? "s" : "");
  i64s contracting = a.dot_dimension_numbers->rhs_contracting_dimensions;
  for (size_t i = 0; r && r->form == QUANT_PER_AXIS && i < contracting.len; i++)
    if (contracting.data[i] == r->dims.data[0]) /* dot_general_c16 */
      return op_error(k->c, o,
                      "Quantization dimension of rhs should not be in the contracting dimension "
                      "of rhs");
  return product(k, o);
}

/* reshape_c1, transpose_c1, broadcast_in_dim_c1. Per axis, the shorter list decides. */
static bool same_params(checker *k, const op *o, bool axes) {
  const type *a = in_type(o, 0), *b = out_type(o, 0);
  if (per_tensor(a) && per_tensor(b) && a->elem != b->elem)
    return op_error(k->c, o, "expect same quantization scale and zero_point but got %s vs %s",
                    show(k, a), show(k, b));
  const quant *x = per_axis(a), *y = per_axis(b);
  if (!axes || !x || !y) return true;
  for (size_t i = 0; i < min_size(x->scales.len, y->scales.len); i++)
    if (x->scales.data[i] != y->scales.data[i] || x->zero_points.data[i] != y->zero_points.data[i])
      return op_error(k->c, o, "expect same quantization scales and zero_points but got %s vs %s",
                      show(k, a), show(k, b));
  return true;
}

static bool transpose(checker *k, const op *o) {
  struct transpose_attrs a;
  if (!same_params(k, o, true) || !view_transpose(o, &a)) return false;
  const quant *from = per_axis(in_type(o, 0)), *to = per_axis(out_type(o, 0));
  if (!from || !to) return true;
  i64 d = to->dims.data[0];
  if ((size_t)d < a.permutation.len && a.permutation.data[d] != from->dims.data[0])
    return op_error(k->c, o, /* transpose_c4 */
                    "operand quantization_dimension %lld is not same as permutation[%lld] = %lld",
                    (long long)from->dims.data[0], (long long)d, (long long)a.permutation.data[d]);
  return true;
}

static u64 product_before(const type *t, i64 d) {
  u64 n = 1;
  for (i64 i = 0; i < d; i++) n *= (u64)(int32_t)t->dims.data[i];
  return n;
}

static bool reshape(checker *k, const op *o) {
  const type *a = in_type(o, 0), *b = out_type(o, 0);
  if (!same_params(k, o, true)) return false;
  const quant *x = per_axis(a), *y = per_axis(b);
  if (!x || !y) return true;
  i64 from = x->dims.data[0], to = y->dims.data[0];
  if (!dims_agree(a->dims.data[from], b->dims.data[to])) /* reshape_c3 */
    return op_error(k->c, o,
                    "expect same quantization dimension size for operand and result %s and %s",
                    show(k, a), show(k, b));
  if (!type_is_static(a) || !type_is_static(b)) return true;
  u64 p = product_before(a, from), q = product_before(b, to);
  return p == q || op_error(k->c, o,
                            "product of dimensions before quantization dimension must match "
                            "between operand and result for %llu and %llu",
                            (unsigned long long)p, (unsigned long long)q);
}

/* broadcast_in_dim_c1, broadcast_in_dim_c6 */
static bool broadcast(checker *k, const op *o, i64s dims) {
  const type *a = in_type(o, 0), *b = out_type(o, 0);
  if (!same_params(k, o, false)) return false;
  const quant *x = per_axis(a), *y = per_axis(b);
  if (!x || !y) return true;
  i64 from = x->dims.data[0], to = y->dims.data[0];
  if ((size_t)from >= dims.len) return true;
  if (to != dims.data[from])
    return op_error(k->c, o,
                    "result quantization_dimension %lld not same as broadcast_dimensions[%lld] = "
                    "%lld",
                    (long long)to, (long long)from, (long long)dims.data[from]);
  if (a->dims.data[from] != 1) return true;
  for (size_t i = 0; i < y->scales.len; i++) {
    if (y->scales.data[i] != x->scales.data[0])
      return op_error(k->c, o, "mismatch result scale %zu (%e) and operand scale 0 (%e)", i,
                      quant_double(y->scales.data[i]), quant_double(x->scales.data[0]));
    if (y->zero_points.data[i] != x->zero_points.data[0])
      return op_error(k->c, o,
                      "mismatch result zero_point %zu (%lld) and operand zero_point 0 (%lld)", i,
                      (long long)y->zero_points.data[i], (long long)x->zero_points.data[0]);
  }
  return true;
}

static bool broadcast_in_dim(checker *k, const op *o) {
  struct broadcast_in_dim_attrs a;
  return view_broadcast_in_dim(o, &a) && broadcast(k, o, a.broadcast_dimensions);
}

static bool dynamic_broadcast_in_dim(checker *k, const op *o) {
  struct dynamic_broadcast_in_dim_attrs a;
  return view_dynamic_broadcast_in_dim(o, &a) && broadcast(k, o, a.broadcast_dimensions);
}

static bool uniform_quantize(checker *k, const op *o) {
  const type *e = in_type(o, 0)->elem, *got = out_type(o, 0)->elem->quant->expressed;
  const type *want = e->quant ? e->quant->expressed : e;
  return want == got || /* uniform_quantize_c2 */
         op_error(k->c, o, "Expressed type of result expected to be '%s', but got '%s'",
                  show(k, want), show(k, got));
}

static verify_fn *const quant_of[OP_COUNT] = {
    [OP_add] = add,
    [OP_convolution] = convolution,
    [OP_dynamic_conv] = dynamic_conv,
    [OP_dot_general] = dot_general,
    [OP_transpose] = transpose,
    [OP_reshape] = reshape,
    [OP_dynamic_reshape] = reshape,
    [OP_broadcast_in_dim] = broadcast_in_dim,
    [OP_dynamic_broadcast_in_dim] = dynamic_broadcast_in_dim,
    [OP_uniform_quantize] = uniform_quantize,
};

bool check_quantized(checker *k, const op *o) {
  bool any = false;
  if (!quant_of[op_kind(o)]) return true;
  for (u32 i = 0; i < o->num_operands; i++) any |= type_element(in_type(o, i))->quant != NULL;
  for (u32 i = 0; i < o->num_results; i++) any |= type_element(out_type(o, i))->quant != NULL;
  return !any || quant_of[op_kind(o)](k, o);
}
