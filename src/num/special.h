/* Mathematical functions that C has not, or has with global state, in f64. The f32 meaning is
 * the f64 result rounded. Poles and domains as XLA has them. All pure and thread-safe. */
#ifndef NUM_SPECIAL_H
#define NUM_SPECIAL_H

#include "base/base.h"

double num_lgamma(double x);              /* log |gamma(x)|; +inf at the poles */
double num_digamma(double x);             /* NaN at 0, -1, -2, ... */
double num_erf_inv(double x);             /* +-inf at +-1, NaN outside */
double num_zeta(double s, double q);      /* Hurwitz: sum (q + k)^-s, s > 1 */
double num_polygamma(double n, double x); /* n-th derivative of digamma */
double num_bessel_i1e(double x);          /* exp(-|x|) I_1(x) */

/* The next value after x towards y; x == y gives y. */
float num_next_after_f32(float x, float y);
double num_next_after_f64(double x, double y);

/* x^n over integers modulo 2^64; a negative n gives 0 except for bases 1 and -1. */
i64 num_ipow_s64(i64 x, i64 n);
u64 num_ipow_u64(u64 x, u64 n);

typedef struct num_complex {
  double re, im;
} num_complex;
num_complex num_cdiv(num_complex a, num_complex b);
num_complex num_cexp(num_complex a);
num_complex num_cexpm1(num_complex a);
num_complex num_clog(num_complex a);
num_complex num_clog1p(num_complex a);
num_complex num_clogistic(num_complex a);
num_complex num_csqrt(num_complex a);
num_complex num_crsqrt(num_complex a);
num_complex num_ccbrt(num_complex a); /* the principal one: of -1 it is no -1 */
num_complex num_csign(num_complex a);
num_complex num_cpow(num_complex a, num_complex b);
num_complex num_catan2(num_complex y, num_complex x);
num_complex num_csin(num_complex a);
num_complex num_ccos(num_complex a);
num_complex num_ctan(num_complex a);
num_complex num_ctanh(num_complex a);
num_complex num_csinh(num_complex a); /* where a part is infinite or a NaN, as chlo's formula */
num_complex num_ccosh(num_complex a);

#endif
