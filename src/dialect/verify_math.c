/* Batch normalization, decompositions of matrices, Fourier transforms, random numbers. */
#include "dialect/verify.h"

/* ---- batch normalization ---- */

/* `whole` operands of one shape (the last one at the end), the others as long as its features. */
static bool check_batch_norm(checker *k, const op *o, bool two, i64 feature) {
  const type *t = in_type(o, 0);
  u32 end = o->num_operands - two;
  if (two && !shapes_agree(t, in_type(o, end))) /* batch_norm_grad_c3 */
    return plain_error(k, o, "expects multi-dimensional operands to have compatible shapes.");
  for (u32 i = 1; i < end; i++) /* batch_norm_grad_c4, inference_c3 to c6, training_c3, c4 */
    for (u32 j = 1; j < i; j++)
      if (!shapes_agree(in_type(o, i), in_type(o, j)))
        return plain_error(k, o, "expects single-dimensional operands to have compatible shapes.");
  if (feature >= rank_of(t)) /* c1 */
    return plain_error(k, o,
                       "expects featureIndex to be smaller than the rank of multi-dimensional "
                       "operands; got featureIndex %lld, and rank %lld.",
                       (long long)feature, (long long)rank_of(t));
  i64s size = {in_type(o, 1)->dims.data, 1}, count = {t->dims.data + feature, 1};
  if (dims_agree(size.data[0], count.data[0])) return true; /* batch_norm_grad_c5 */
  return plain_error(k, o,
                     "expects the size of single-dimensional operands to be compatible with "
                     "feature count, but the size of single-dimensional operands is %s and the "
                     "feature count is %s.",
                     show_dims(k, size), show_dims(k, count));
}

static bool infer_batch_norm(checker *k, const op *o, bool two, i64 feature, bool more,
                             inferred *out) {
  const type *t = in_type(o, 0);
  if (!check_batch_norm(k, o, two, feature)) return false;
  infer_push(k, out, t);
  shape s = {0};
  shape_push(k, o, &s, t->dims.data[feature], bound_at(t, (size_t)feature));
  for (int i = 0; i < 2 * more; i++) infer_push(k, out, shape_type(k, &s, t->elem));
  return true;
}

bool infer_batch_norm_grad(checker *k, const op *o, inferred *out) {
  struct batch_norm_grad_attrs a;
  return view_batch_norm_grad(o, &a) && infer_batch_norm(k, o, true, a.feature_index, true, out);
}
bool infer_batch_norm_inference(checker *k, const op *o, inferred *out) {
  struct batch_norm_inference_attrs a;
  return view_batch_norm_inference(o, &a) &&
         infer_batch_norm(k, o, false, a.feature_index, false, out);
}
bool infer_batch_norm_training(checker *k, const op *o, inferred *out) {
  struct batch_norm_training_attrs a;
  return view_batch_norm_training(o, &a) &&
         infer_batch_norm(k, o, false, a.feature_index, true, out);
}

/* ---- matrices ---- */

bool infer_cholesky(checker *k, const op *o, inferred *out) {
  const type *t = in_type(o, 0);
  size_t n = t->dims.len;
  if (n < 2) /* cholesky_c2 */
    return plain_error(k, o, "argument 'a' must have rank >= 2, got shape %s.",
                       show_ints(k, t->dims));
  if (!dims_agree(t->dims.data[n - 2], t->dims.data[n - 1])) /* cholesky_c3 */
    return plain_error(k, o, "minor dimensions of 'a' must have equal size, got shape %s.",
                       show_ints(k, t->dims));
  return infer_push(k, out, t); /* cholesky_c1 */
}

bool infer_triangular_solve(checker *k, const op *o, inferred *out) {
  struct triangular_solve_attrs v;
  if (!view_triangular_solve(o, &v)) return false;
  const type *a = in_type(o, 0), *b = in_type(o, 1);
  size_t n = a->dims.len;
  if (n < 2) return plain_error(k, o, "operand 'a' must have rank >= 2, but got '%s'", show(k, a));
  if (!dims_agree(a->dims.data[n - 2], a->dims.data[n - 1]))
    return plain_error(k, o, "two minor dimensions of operand 'a' must be compatible, but got '%s'",
                       show(k, a));
  if (b->dims.len != n)
    return plain_error(k, o, "operands must have equal rank, but got '%s' and '%s'", show(k, a),
                       show(k, b));
  if (!dims_agree(a->dims.data[n - 1], b->dims.data[n - (v.left_side ? 2 : 1)]))
    return plain_error(
        k, o, "shared dimension of operands 'a' and 'b' must be compatible, but got '%s' and '%s'",
        show(k, a), show(k, b));
  for (size_t i = 0; i + 2 < n; i++)
    if (!dims_agree(a->dims.data[i], b->dims.data[i]))
      return plain_error(
          k, o, "batch dimensions of the operands must be compatible, but got '%s' and '%s'",
          show(k, a), show(k, b));
  if (v.transpose_a->value == 0)
    return plain_error(k, o, "Invalid transpose option value for triangular solve");
  return infer_push(k, out, b);
}

/* ---- Fourier transforms ---- */

enum { FFT_RFFT = 2, FFT_IRFFT = 3 };

/* fft_c5, c7: the last dimensions are those of the transform, the very last aside if complex */
static bool check_lengths(checker *k, const op *o, i64s length, bool complex) {
  const type *t = in_type(o, 0);
  size_t n = length.len, first = t->dims.len - n;
  for (size_t i = 0; i + complex < n; i++) {
    i64 size = t->dims.data[first + i];
    if (dims_agree(size, length.data[i])) continue;
    const char *got = show_ints(k, t->dims), *want = show_ints(k, length);
    if (!complex)
      return plain_error(k, o,
                         "RFFT requires innermost dimensions to be compatible with fft_length. "
                         "Got: %s but wanted %s.",
                         got, want);
    return plain_error(k, o,
                       "IRFFT requires non-final dimensions to be compatible with fft_length. Got: "
                       "%s but wanted %s, and %lld != %lld.",
                       got, want, (long long)size, (long long)length.data[i]);
  }
  i64 size = t->dims.data[t->dims.len - 1], last = length.data[n - 1];
  if (!complex || (dims_agree(size, 0) && last == 0) || dims_agree(size, last / 2 + 1)) return true;
  return plain_error(k, o,
                     "IRFFT requires innermost dimension to be compatible with fft_length[-1]/2+1. "
                     "Got: %lld but fft_length is %s.",
                     (long long)size, show_ints(k, length));
}

/* RFFT makes last / 2 + 1 complex numbers of `last` real ones, IRFFT the other way round; the rest
 * of a real signal's transform follows by symmetry. */
bool infer_fft(checker *k, const op *o, inferred *out) {
  struct fft_attrs a;
  if (!view_fft(o, &a)) return false;
  const type *t = in_type(o, 0), *elem = t->elem;
  size_t n = a.fft_length.len;
  bool real = a.fft_type->value == FFT_RFFT, to_real = a.fft_type->value == FFT_IRFFT;
  if (n < 1 || n > 3) /* fft_c3 */
    return plain_error(k, o, "rank must be between 1 and 3, but got %zu.", n);
  if (real && (elem->kind != TYPE_FLOAT || (elem->flt != FLOAT_f32 && elem->flt != FLOAT_f64)))
    return plain_error(k, o, "RFFT requires f32 or f64 input type, but is given '%s'.",
                       show(k, elem)); /* fft_c2 */
  if (!real && elem->kind != TYPE_COMPLEX)
    return plain_error(k, o, "FFT/IFFT/IRFFT take a complex tensor as input, but is given '%s'.",
                       show(k, t));
  if (t->dims.len < n) /* fft_c1 */
    return plain_error(
        k, o, "operand rank must not be less than fft rank of %zu for operand of type '%s'.", n,
        show(k, t));
  if ((real || to_real) && !check_lengths(k, o, a.fft_length, to_real)) return false;
  shape s = shape_of(t);
  i64 last = a.fft_length.data[n - 1];
  if (real && last != 0) s.size[s.n - 1] = last / 2 + 1;
  if (to_real) s.size[s.n - 1] = last;
  if (real || to_real) s.bound[s.n - 1] = DYNAMIC;
  if (real) elem = type_complex(k->c, elem);
  if (to_real) elem = elem->elem;
  return infer_push(k, out, shape_type(k, &s, elem));
}

/* ---- random numbers ---- */

enum { RNG_UNIFORM = 1 };

bool infer_rng(checker *k, const op *o, inferred *out) {
  struct rng_attrs a;
  if (!view_rng(o, &a)) return false;
  const type *elem = in_type(o, 1)->elem;
  if (a.rng_distribution->value != RNG_UNIFORM &&
      (in_type(o, 0)->elem->kind != TYPE_FLOAT || elem->kind != TYPE_FLOAT))
    return plain_error(k, o, "mu and sigma must be floats");
  i64s known;
  i64 n = in_type(o, 2)->dims.data[0];
  shape s = {0};
  bool constant = constant_ints(k, op_operand(o, 2), &known);
  for (i64 i = 0; i < n; i++)
    if (!shape_push(k, o, &s, constant ? known.data[i] : DYNAMIC, DYNAMIC)) return false;
  return infer_push(k, out, shape_type(k, &s, elem));
}

bool verify_rng_bit_generator(checker *k, const op *o) { /* rng_bit_generator_c1 */
  if (shapes_agree(in_type(o, 0), out_type(o, 0))) return true;
  return plain_error(k, o,
                     "output state shape must be compatible with initial state shape. Got: '%s' "
                     "and '%s'",
                     show(k, in_type(o, 0)), show(k, out_type(o, 0)));
}
