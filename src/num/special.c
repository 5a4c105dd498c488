/* Special functions in f64, and complex ones.
 *
 * Ours because C's are missing (digamma, zeta, Bessel), not thread-safe (lgamma), or differ from
 * XLA where the two disagree about poles and infinities (complex division and power). The kernels
 * of exec call them element by element. */
#include "num/special.h"

#include <complex.h>
#include <math.h>

/* <math.h> declares it only under _DEFAULT_SOURCE; plain lgamma writes a global. */
extern double lgamma_r(double x, int *sign);

static const double PI = 3.14159265358979323846;

/* The reentrant form; the sign is of no interest here. */
double num_lgamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

/* Taylor's series at the zero, whose place is the sum of two numbers. */
static double digamma_near_zero(double from_high) {
  static const double c[] = {-0.007204534386356869, 0.010538791616612175, -0.01542476590494896,
                             0.022597648232218104,  -0.03316112647484736, 0.04880428816414311,
                             -0.07219956125645471,  0.10782405069126237,  -0.16394270544240652,
                             0.258499760955651,     -0.4427631689835921,  0.9676722454476212};
  double x = from_high - 9.549995429965697e-17, p = c[0];
  for (size_t i = 1; i < COUNT(c); i++) p = p * x + c[i];
  return p * x;
}

/* Reflection below 0, recurrence up to 10, then the asymptotic series with Bernoulli numbers
 * (Abramowitz and Stegun 6.3.7, 6.3.5, 6.3.18). */
double num_digamma(double x) {
  if (isnan(x) || x == -INFINITY) return NAN;
  if (x == INFINITY) return INFINITY;
  static const double zero = 1.4616321449683622;
  if (fabs(x - zero) < 0.0625) return digamma_near_zero(x - zero);
  double r = 0;
  if (x <= 0) {
    if (x == floor(x)) return NAN;
    double fraction = x - round(x); /* tan has period pi; small x stays exact */
    r = -PI / tan(PI * fraction);
    x = 1 - x;
  }
  for (; x < 10; x++) r -= 1 / x;
  double y = 1 / (x * x);
  double series =
      y *
      (1. / 12 -
       y * (1. / 120 -
            y * (1. / 252 - y * (1. / 240 - y * (1. / 132 - y * (691. / 32760 - y * (1. / 12)))))));
  return r + log(x) - 0.5 / x - series;
}

/* M. Giles, "Approximating the erfinv function", gives a start good to f32; Halley's iteration
 * on erfc (whose argument 1 - x is exact for x >= 1/2) does the rest. */
static double erf_inv_start(double x) {
  static const double near[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                -0.00417768164,  0.246640727,    1.50140941};
  static const double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                -0.00367342844,  0.00573950773,  -0.0076224613,
                                0.00943887047,   1.00167406,     2.83297682};
  double w = -log1p(-x * x);
  const double *c = w < 5 ? near : tail;
  w = w < 5 ? w - 2.5 : sqrt(w) - 3;
  double p = c[0];
  for (int i = 1; i < 9; i++) p = p * w + c[i];
  return p * x;
}

double num_erf_inv(double x) {
  double a = fabs(x);
  if (!(a <= 1)) return NAN;
  if (a == 1) return copysign(INFINITY, x);
  if (a < 1e-8) return x * 0.88622692545275801365; /* sqrt(pi) / 2 */
  double z = erf_inv_start(a);
  for (int i = 0; i < 12; i++) {
    double error = a < 0.5 ? erf(z) - a : (1 - a) - erfc(z);
    double slope = 1.1283791670955125739 * exp(-z * z); /* 2 / sqrt(pi) */
    double newton = error / slope;
    z -= newton / (1 + z * newton);
    if (fabs(newton) < 1e-10 * z) break; /* the next step would be below an ulp */
  }
  return copysign(z, x);
}

/* Euler-Maclaurin: terms up to a base of nine, the integral of the rest, corrections by Bernoulli
 * numbers. Of q above 0, or not far below. */
static long double zeta_by_terms(double s, long double q) {
  /* (2k)! / B_2k */
  static const double bernoulli[] = {12,
                                     -720,
                                     30240,
                                     -1209600,
                                     47900160,
                                     -1.8924375803183791606e9,
                                     7.47242496e10,
                                     -2.950130727918164224e12,
                                     1.1646782814350067249e14,
                                     -4.5979787224074726105e15,
                                     1.8152105401943546773e17,
                                     -7.1661652561756670113e18};
  long double sum = 0, a = q; /* powers of dozens of places, and sums of as many */
  for (int k = 0; k < 9 || a <= 9; k++, a++) {
    long double term = powl(a, -s);
    sum += term;
    if (k > 9 && fabsl(term) < 1e-19L * fabsl(sum)) return sum;
  }
  long double power = powl(a, -s);
  sum += power * a / (s - 1) + 0.5L * power;
  long double factor = s, step = power / a;
  for (int k = 0; k < 12; k++) {
    long double term = factor * step / bernoulli[k];
    sum += term;
    if (fabsl(term) < 1e-19L * fabsl(sum)) break;
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2);
    step /= a * a;
  }
  return sum;
}

/* Far left of 0, where s is an integer, what lies below 0 is minus or plus the zeta of its mirror
 * image, less that of what would follow: as many terms as elsewhere, however far it is. */
double num_zeta(double s, double q) {
  if (isnan(s) || isnan(q)) return NAN;
  if (s == 1) return INFINITY;
  if (q <= 0 && q == floor(q)) return fmod(s, 2) == 0 ? INFINITY : NAN; /* as chlo has the poles */
  if (s < 1 || (q <= 0 && s != floor(s))) return NAN;
  if (q > -64) return (double)zeta_by_terms(s, q);
  long double r = q - floor(q);
  long double mirror = zeta_by_terms(s, 1 - r) - zeta_by_terms(s, 1 - (long double)q);
  return (double)(zeta_by_terms(s, r) + (fmod(s, 2) == 0 ? mirror : -mirror));
}

/* psi_n(x) = (-1)^(n+1) n! zeta(n + 1, x) (Abramowitz and Stegun 6.4.10); n! by lgamma, so that it
 * overflows no earlier than the product. */
double num_polygamma(double n, double x) {
  if (n < 0 || n != floor(n)) return NAN;
  if (n == 0) return num_digamma(x);
  double v = (n < 170 ? tgamma(n + 1) : exp(num_lgamma(n + 1))) * num_zeta(n + 1, x);
  return fmod(n, 2) == 0 ? -v : v;
}

double num_bessel_i1e(double x) {
  if (isnan(x)) return x;
  double a = fabs(x), r;
  if (a < 32) { /* power series, all terms positive */
    long double half = a / 2, term = half, sum = half;
    for (int k = 1; term > 1e-20L * sum && k < 200; k++) {
      term *= half / k * (half / (k + 1));
      sum += term;
    }
    r = (double)(sum * expl(-(long double)a));
  } else { /* Hankel's asymptotic series */
    double term = 1, sum = 1;
    for (int k = 1; k < 40; k++) {
      double odd = 2 * k - 1, next = -term * (4 - odd * odd) / (8 * k * a);
      if (fabs(next) > fabs(term) || fabs(next) < 1e-18) break;
      sum += term = next;
    }
    r = isinf(a) ? 0 : sum / (sqrt(2 * PI) * sqrt(a));
  }
  return copysign(r, x);
}

float num_next_after_f32(float x, float y) { return nextafterf(x, y); }
double num_next_after_f64(double x, double y) { return nextafter(x, y); }

/* By squaring; overflow wraps. */
u64 num_ipow_u64(u64 x, u64 n) {
  u64 r = 1;
  for (; n; n >>= 1, x *= x)
    if (n & 1) r *= x;
  return r;
}
i64 num_ipow_s64(i64 x, i64 n) {
  if (n >= 0) return (i64)num_ipow_u64((u64)x, (u64)n);
  if (x == 1) return 1;
  if (x == -1) return n & 1 ? -1 : 1;
  return 0;
}

static double complex in(num_complex a) { return __builtin_complex(a.re, a.im); }
static num_complex out(double complex z) { return (num_complex){creal(z), cimag(z)}; }
/* Of what loses many places in f64: an exponent of a power, the poles of a tangent. */
static num_complex narrow(long double complex z) {
  return (num_complex){(double)creall(z), (double)cimagl(z)};
}

/* For Annex G of C, an infinity as a one with its sign, what is finite as a zero. */
static double boxed(double x) { return copysign(isinf(x) ? 1 : 0, x); }

/* As Annex G of C has it: the divisor is scaled, so that only the quotient overflows, and
 * infinities are found again where both parts came out as NaN. Compilers' own divisions differ
 * there. */
num_complex num_cdiv(num_complex x, num_complex y) {
  double a = x.re, b = x.im, c = y.re, d = y.im, size = logb(fmax(fabs(c), fabs(d)));
  int e = isfinite(size) ? (int)size : 0;
  c = scalbn(c, -e);
  d = scalbn(d, -e);
  if (fmax(fabs(a), fabs(b)) >= 0x1p1022) a /= 4, b /= 4, e -= 2;
  double square = c * c + d * d;
  num_complex q = {scalbn((a * c + b * d) / square, -e), scalbn((b * c - a * d) / square, -e)};
  if (!isnan(q.re) || !isnan(q.im)) return q;
  if (square == 0 && (!isnan(a) || !isnan(b)))
    return (num_complex){copysign(INFINITY, c) * a, copysign(INFINITY, c) * b};
  if ((isinf(a) || isinf(b)) && isfinite(c) && isfinite(d)) {
    a = boxed(a), b = boxed(b);
    return (num_complex){INFINITY * (a * c + b * d), INFINITY * (b * c - a * d)};
  }
  if (isinf(size) && size > 0 && isfinite(a) && isfinite(b)) {
    c = boxed(c), d = boxed(d);
    return (num_complex){0 * (a * c + b * d), 0 * (b * c - a * d)};
  }
  return q;
}
/* Where sines and cosines are NaNs, both parts are, as XLA has it: C has an infinity or zeros. */
num_complex num_cexp(num_complex a) {
  return isfinite(a.im) ? out(cexp(in(a))) : (num_complex){NAN, NAN};
}
/* Not every C library's takes sizes that overflow: log z = log 2 + log(z / 2). */
num_complex num_clog(num_complex a) {
  bool huge = isfinite(a.re) && isfinite(a.im) && isinf(hypot(a.re, a.im));
  if (!huge) return out(clog(in(a)));
  num_complex half = out(clog(in((num_complex){a.re / 2, a.im / 2})));
  return (num_complex){half.re + log(2), half.im};
}
num_complex num_csqrt(num_complex a) { return out(csqrt(in(a))); }
/* What C's product of an exponent and a logarithm makes NaNs of is as XLA has it: whatever to the
 * power 0 is 1, as is 1 to any power, and 0 and +infinity to a positive power are themselves. */
num_complex num_cpow(num_complex a, num_complex b) {
  if ((b.re == 0 && b.im == 0) || (a.re == 1 && a.im == 0)) return (num_complex){1, 0};
  if (b.re > 0 && a.im == 0 && (a.re == 0 || (b.im == 0 && isinf(a.re) && a.re > 0)))
    return (num_complex){a.re == 0 ? 0 : a.re, 0};
  long double complex wide = cpowl(in(a), in(b));
  bool finite = isfinite(creall(wide)) && isfinite(cimagl(wide));
  return finite ? narrow(wide) : out(cpow(in(a), in(b)));
}
num_complex num_csin(num_complex a) { return out(csin(in(a))); }
num_complex num_ccos(num_complex a) { return out(ccos(in(a))); }
/* The same; C leaves a zero as it is. */
static bool is_lost(double zero, double angle) { return zero == 0 && !isfinite(angle); }
num_complex num_ctan(num_complex a) {
  return is_lost(a.im, a.re) ? (num_complex){NAN, NAN} : narrow(ctanl(in(a)));
}
num_complex num_ctanh(num_complex a) {
  return is_lost(a.re, a.im) ? (num_complex){NAN, NAN} : out(ctanh(in(a)));
}

/* exp(x + iy) - 1 = expm1(x) cos(y) - 2 sin(y/2)^2 + i exp(x) sin(y): nothing cancels. A real
 * number's is real where exp(x) is infinite or a NaN, too. */
num_complex num_cexpm1(num_complex a) {
  if (a.im == 0) return (num_complex){expm1(a.re), a.im};
  double s = sin(a.im / 2);
  return (num_complex){expm1(a.re) * cos(a.im) - 2 * s * s, exp(a.re) * sin(a.im)};
}
/* Near 1 the real part is log1p(|1 + z|^2 - 1) / 2, where nothing cancels as it would in 1 + z. */
num_complex num_clog1p(num_complex a) {
  num_complex far = num_clog((num_complex){1 + a.re, a.im});
  if (!(fabs(a.re) < 0.5 && fabs(a.im) < 0.5)) return far;
  return (num_complex){0.5 * log1p(a.re * (2 + a.re) + a.im * a.im), far.im};
}
/* (e^(z + log 1/2) +- e^(log 1/2 - z)) */
static num_complex halves(num_complex a, double sign) {
  num_complex e = num_cexp((num_complex){a.re + log(0.5), a.im});
  num_complex f = num_cexp((num_complex){log(0.5) - a.re, -a.im});
  return (num_complex){e.re + sign * f.re, e.im + sign * f.im};
}
static bool is_finite(num_complex a) { return isfinite(a.re) && isfinite(a.im); }
num_complex num_csinh(num_complex a) { return is_finite(a) ? out(csinh(in(a))) : halves(a, -1); }
num_complex num_ccosh(num_complex a) { return is_finite(a) ? out(ccosh(in(a))) : halves(a, 1); }
/* exp of the side where it does not overflow: e / (1 + e) left of 0, 1 / (1 + e) right of it. Near
 * a pole 1 + e cancels, but 1 - e^x + e^x (1 + cos y) does not: both terms are positive. */
num_complex num_clogistic(num_complex a) {
  double x = -fabs(a.re), y = a.re < 0 ? a.im : -a.im;
  double complex e = cexp(__builtin_complex(x, y)), sum = 1 + e;
  if (creal(e) < 0) {
    double c = cos(y / 2);
    sum = __builtin_complex(2 * exp(x) * c * c - expm1(x), cimag(e));
  }
  return out(a.re < 0 ? e / sum : 1 / sum);
}
num_complex num_crsqrt(num_complex a) { return out(1 / csqrt(in(a))); }
num_complex num_ccbrt(num_complex a) {
  double r = cbrt(hypot(a.re, a.im)), turn = atan2(a.im, a.re) / 3;
  return r == 0 ? a : (num_complex){r * cos(turn), r * sin(turn)};
}
num_complex num_csign(num_complex a) {
  double r = hypot(a.re, a.im);
  if (r == 0) return (num_complex){0, 0};
  return (num_complex){a.re / r, a.im / r};
}
/* -i log((x + iy) / sqrt(x^2 + y^2)) */
num_complex num_catan2(num_complex y, num_complex x) {
  double complex a = in(x), b = in(y);
  return out(-I * clog((a + I * b) / csqrt(a * a + b * b)));
}
