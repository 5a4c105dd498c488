/* What quantized operands and results ask of each other. Everything else passes.
 *
 * spec.md: "per-tensor" is one scale and zero point (QUANT_UNIFORM), "per-axis" one for each
 * position of quantization_dimension (QUANT_PER_AXIS). quant_class has said that a type is one of
 * these before. Element types are interned, so the same parameters are the same pointer. */
#include "dialect/verify.h"

static bool is_axis(const quant *q) { return q && q->form == QUANT_PER_AXIS; }
static i64 axis_of(const quant *q) { return q->dims.data[0]; }

/* All per-tensor, or per-axis along one dimension; scales may differ. Two spaces in the first
 * message are the peers'. */
bool check_quant_sum(checker *k, const op *o, const type *l, const type *r, const type *t) {
  const quant *a = l->quant, *b = r->quant, *c = t->quant;
  if (!a || !b || !c) /* add_c2 */
    return plain_error(k, o,
                       "expects  all operands and results to be either quantized or non-quantized");
  if (a->storage != b->storage || a->storage != c->storage) /* add_c3 */
    return plain_error(k, o, "mismatched operands and result quantization storage types");
  if (a->expressed != b->expressed || a->expressed != c->expressed) /* add_c4 */
    return plain_error(k, o, "mismatched operands and result quantization expressed types");
  if (!is_axis(a) && !is_axis(b)) {
    if (!is_axis(c)) return true;
    return plain_error(
        k, o, "result per_axis quantized but none from rhs and lhs are per_axis quantized");
  }
  if (!is_axis(c)) /* add_c5 */
    return plain_error(k, o, "result is not per_axis quantized but lhs or rhs are");
  if (is_axis(a) && axis_of(a) != axis_of(c)) /* add_c6 */
    return plain_error(k, o, "quantization_dimension of lhs and result are not same '%s' vs '%s'",
                       show(k, l), show(k, t));
  if (is_axis(b) && axis_of(b) != axis_of(c)) /* add_c7 */
    return plain_error(k, o, "quantization_dimension of rhs and result are not same '%s' vs '%s'",
                       show(k, r), show(k, t));
  return true;
}

static bool is_uniform(const quant *q) { return q && q->form == QUANT_UNIFORM; }

bool check_quant_same(checker *k, const op *o, const type *a, const type *b) {
  if (!is_uniform(a->elem->quant) || !is_uniform(b->elem->quant) || a->elem == b->elem) return true;
  return plain_error(k, o, "expect same quantization scale and zero_point but got '%s' vs '%s'",
                     show(k, a), show(k, b));
}

static bool check_scales(checker *k, const op *o, const type *a, const type *b) {
  const quant *p = a->elem->quant, *q = b->elem->quant;
  if (!is_axis(p) || !is_axis(q)) return true;
  bool same = true; /* as many as the shorter list has */
  for (size_t i = 0; i < p->scales.len && i < q->scales.len && same; i++)
    same = p->scales.data[i] == q->scales.data[i];
  for (size_t i = 0; i < p->zero_points.len && i < q->zero_points.len && same; i++)
    same = p->zero_points.data[i] == q->zero_points.data[i];
  return same ||
         plain_error(k, o, "expect same quantization scales and zero_points but got '%s' vs '%s'",
                     show(k, a), show(k, b));
}

static i64 product_before(const type *t, i64 d) {
  i64 n = 1;
  for (i64 i = 0; i < d; i++) n *= t->dims.data[i]; /* below the number of elements, or 0 */
  return n;
}

/* Reshape keeps elements in row-major order, so a per-axis scale stays with its elements if as many
 * elements come before its dimension as did before. */
bool check_quant_reshape(checker *k, const op *o, const type *a, const type *b) {
  const quant *p = a->elem->quant, *q = b->elem->quant;
  if (!check_quant_same(k, o, a, b) || !check_scales(k, o, a, b)) return false;
  if (!is_axis(p) || !is_axis(q)) return true;
  i64 x = axis_of(p), y = axis_of(q);
  if (!dims_agree(a->dims.data[x], b->dims.data[y]))
    return plain_error(
        k, o, "expect same quantization dimension size for operand and result '%s' and '%s'",
        show(k, a), show(k, b));
  if (!type_is_static(a) || !type_is_static(b) || product_before(a, x) == product_before(b, y))
    return true;
  return plain_error(k, o,
                     "product of dimensions before quantization dimension must match between "
                     "operand and result for %lld and %lld",
                     (long long)product_before(a, x), (long long)product_before(b, y));
}

bool check_quant_transpose(checker *k, const op *o, i64s permutation) {
  const type *a = in_type(o, 0), *b = out_type(o, 0);
  const quant *p = a->elem->quant, *q = b->elem->quant;
  if (!check_quant_same(k, o, a, b) || !check_scales(k, o, a, b)) return false; /* transpose_c1 */
  if (!is_axis(p) || !is_axis(q)) return true;
  i64 d = axis_of(q);
  if (axis_of(p) == permutation.data[d]) return true; /* transpose_c4 */
  return plain_error(k, o,
                     "operand quantization_dimension %lld is not same as permutation[%lld] = %lld",
                     (long long)axis_of(p), (long long)d, (long long)permutation.data[d]);
}

/* broadcast_in_dim_c6, dynamic_broadcast_in_dim_c6 */
bool check_quant_broadcast(checker *k, const op *o, i64s dims) {
  const type *a = in_type(o, 0), *b = out_type(o, 0);
  const quant *p = a->elem->quant, *q = b->elem->quant;
  if (!is_axis(p) || !is_axis(q)) return true;
  i64 x = axis_of(p), y = axis_of(q);
  if (y != dims.data[x])
    return plain_error(
        k, o, "result quantization_dimension %lld not same as broadcast_dimensions[%lld] = %lld",
        (long long)y, (long long)x, (long long)dims.data[x]);
  if (a->dims.data[x] != 1) return true;
  for (size_t i = 0; i < q->scales.len; i++) {
    double s = quant_double(q->scales.data[i]), s0 = quant_double(p->scales.data[0]);
    if (s != s0)
      return plain_error(k, o, "mismatch result scale %zu (%e) and operand scale 0 (%e)", i, s, s0);
    if (q->zero_points.data[i] != p->zero_points.data[0])
      return plain_error(k, o,
                         "mismatch result zero_point %zu (%lld) and operand zero_point 0 (%lld)", i,
                         (long long)q->zero_points.data[i], (long long)p->zero_points.data[0]);
  }
  return true;
}

/* convolution_c28, c31 to c34, dot_general_c14, c17 to c20, dynamic_conv_c28, c31 to c34 */
static bool check_quant_product(checker *k, const op *o) {
  const type *l = in_type(o, 0)->elem, *t = out_type(o, 0)->elem;
  const quant *a = l->quant, *b = in_type(o, 1)->elem->quant, *c = t->quant;
  if (!b || !a != !c)
    return plain_error(k, o,
                       "rhs should be quantized for quantized operations and "
                       "is_quantized(lhs)=is_quantized(result) should hold");
  if (!a) {
    if (l == b->expressed && l == t) return true;
    return plain_error(
        k, o, "mismatched rhs quantization expressed type and lhs and result element type");
  }
  if (a->storage != b->storage)
    return plain_error(k, o, "mismatched lhs and rhs quantization storage types");
  if (a->expressed != b->expressed || a->expressed != c->expressed)
    return plain_error(k, o, "mismatched lhs, rhs and result quantization expressed types");
  if (is_uniform(b) && !is_uniform(c))
    return plain_error(k, o, "mismatched rhs and result quantization granularity");
  return true;
}

static bool any_quant(const op *o) {
  return in_type(o, 0)->elem->quant || in_type(o, 1)->elem->quant || out_type(o, 0)->elem->quant;
}

bool check_quant_dot(checker *k, const op *o, i64s contracting) {
  const quant *b = in_type(o, 1)->elem->quant;
  if (!any_quant(o)) return true;
  for (size_t i = 0; b && i < b->zero_points.len; i++) /* dot_general_c15 */
    if (b->zero_points.data[i])
      return plain_error(k, o, "Zero point%s of rhs should be 0", is_axis(b) ? "s" : "");
  if (is_axis(b) && contains(contracting, axis_of(b))) /* dot_general_c16 */
    return plain_error(
        k, o, "Quantization dimension of rhs should not be in the contracting dimension of rhs");
  return check_quant_product(k, o);
}

bool check_quant_conv(checker *k, const op *o, const conv_attr *d) {
  const quant *b = in_type(o, 1)->elem->quant, *c = out_type(o, 0)->elem->quant;
  if (!any_quant(o)) return true;
  if (is_axis(b) && axis_of(b) != d->kernel_output_feature_dimension) /* convolution_c29 */
    return plain_error(
        k, o, "quantization dimension of rhs should be same with kernel_output_feature_dimension");
  if (is_axis(c) && axis_of(c) != d->output_feature_dimension) /* convolution_c30 */
    return plain_error(
        k, o, "quantization dimension of result should be same with output_feature_dimension");
  return check_quant_product(k, o);
}

bool infer_uniform_dequantize(checker *k, const op *o, inferred *out) {
  const type *t = in_type(o, 0); /* uniform_dequantize_c1, c2 */
  return infer_push(k, out, type_tensor(k->c, t->dims, t->elem->quant->expressed, NULL));
}

bool verify_uniform_quantize(checker *k, const op *o) { /* uniform_quantize_c2 */
  const type *from = in_type(o, 0)->elem, *to = out_type(o, 0)->elem->quant->expressed;
  const type *want = from->quant ? from->quant->expressed : from;
  if (want == to) return true;
  return plain_error(k, o, "Expressed type of result expected to be '%s', but got '%s'",
                     show(k, want), show(k, to));
}
