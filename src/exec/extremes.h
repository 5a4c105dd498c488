/* The greater and the lesser of two floats, as all kernels have them. */
#ifndef EXEC_EXTREMES_H
#define EXEC_EXTREMES_H

#include "num/convert.h"

/* -0, to be added: that changes no value but a denormal, and only where denormals are flushed.
 * Volatile, or compilers would leave the addition out. Every kernel reads it once, as `zero`. */
static const volatile double minus_zero = -0.0;

/* maximum and minimum: NaN wins, -0 < +0; denormals that are flushed equal each other and zeros */
static inline float maximum_f32(float x, float y, float zero) {
  float r = x > y ? x : y;
  r = x == y ? num_f32_from_bits(num_f32_bits(x) & num_f32_bits(y)) : r;
  return x != x ? x : r + zero;
}
static inline float minimum_f32(float x, float y, float zero) {
  float r = x < y ? x : y;
  r = x == y ? num_f32_from_bits(num_f32_bits(x) | num_f32_bits(y)) : r;
  return x != x ? x : r + zero;
}
static inline double maximum_f64(double x, double y, double zero) {
  double r = x > y ? x : y;
  r = x == y ? num_f64_from_bits(num_f64_bits(x) & num_f64_bits(y)) : r;
  return x != x ? x : r + zero;
}
static inline double minimum_f64(double x, double y, double zero) {
  double r = x < y ? x : y;
  r = x == y ? num_f64_from_bits(num_f64_bits(x) | num_f64_bits(y)) : r;
  return x != x ? x : r + zero;
}

#endif
