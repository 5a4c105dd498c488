/* One element from any type to any other, with StableHLO's meaning of convert.
 *
 * Rounds once, to nearest even, from the exact source value. Out of range: to an integer
 * saturates (NaN gives 0); to a float gives infinity, or NaN where the format has none, or the
 * largest value where it has neither. Integer to integer wraps. To pred: not equal to zero.
 * What is read may have any upper bits where its type is narrower than a byte; what is written
 * has the sign's, or zeros. Complex to real takes the real part. Checked against ml_dtypes over all
 * 16-bit patterns. */
#ifndef NUM_CONVERT_H
#define NUM_CONVERT_H

#include "num/dtype.h"

/* The formats that are computed in f32: f16, bf16, f8*, f6*, f4*. */
static inline bool num_is_small_float(dtype t) {
  return dtype_infos[t].kind == DTYPE_CLASS_FLOAT && t != DTYPE_f32 && t != DTYPE_f64;
}
/* Bits of a sub-byte or ordinary integer type: 2, 4, 8, 16, 32, 64; 1 for pred; 0 otherwise. */
u32 num_int_bits(dtype t);

/* Bits of a small float as it is written: 4, 6, 8 or 16; 0 for other types. */
u32 num_small_bits(dtype t);

/* What happens above the largest finite value, and which codes are special. */
typedef struct num_format {
  u8 bits, mantissa;
  i16 bias;
  u16 max; /* code of the largest finite value, without sign */
  u16 nan; /* the NaN that encode makes; 0: the format has none */
  enum { NUM_TO_INF, NUM_TO_NAN, NUM_TO_MAX } over;
  bool has_sign, has_negative_zero;
} num_format;
/* Of other types all is 0. */
const num_format *num_format_of(dtype t);

/* `t` is a small float (num_is_small_float); bits in the low end of the result. Encoding rounds
 * once, so x must be exact: a value that was rounded to f32 before may come out wrong. */
u32 num_encode_small(dtype t, double x);
u32 num_encode_small_f32(dtype t, float x); /* the same, in less time */
double num_decode_small(dtype t, u32 bits);

/* Reads / writes one element; the f64 views lose bits of 64-bit integers and imaginary parts. */
double num_to_f64(dtype t, const void *element);
void num_from_f64(dtype t, double x, void *out_element);

/* One element of `from` at src, unaligned is fine; both sides in the machine's byte order. */
void num_convert(dtype from, const void *src, dtype to, void *out_dst);

/* Rounds to a format of `exponent` (1 or more) and `mantissa` bits (StableHLO reduce_precision);
 * more of either than the format of x has change nothing. */
double num_reduce_precision_f64(double x, u32 exponent, u32 mantissa);
float num_reduce_precision_f32(float x, u32 exponent, u32 mantissa);
double num_reduce_precision_small(dtype t, double x, u32 exponent, u32 mantissa);

/* The next value of the small format `t` after x, which is one, towards y; x == y gives y. */
double num_next_after_small(dtype t, double x, double y);

/* Floats as bits; bf16 and f16 quickly, from and to f32. */
static inline float num_f32_from_bits(u32 bits) {
  float f;
  memcpy(&f, &bits, 4);
  return f;
}
static inline u32 num_f32_bits(float f) {
  u32 bits;
  memcpy(&bits, &f, 4);
  return bits;
}
static inline double num_f64_from_bits(u64 bits) {
  double d;
  memcpy(&d, &bits, 8);
  return d;
}
static inline u64 num_f64_bits(double d) {
  u64 bits;
  memcpy(&bits, &d, 8);
  return bits;
}
static inline float num_bf16_to_f32(u16 x) { return num_f32_from_bits((u32)x << 16); }
/* To nearest even: half of what is dropped is added, less one where the rest is even. */
static inline u16 num_f32_to_bf16(float f) {
  u32 x = num_f32_bits(f);
  u32 rounded = (x + 0x7fff + ((x >> 16) & 1)) >> 16;
  u32 nan = (x >> 16) | 0x40; /* stays a NaN when the payload's low half goes */
  return (u16)((x & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}
/* Integer arithmetic throughout, so that a processor that flushes subnormals does not lose them. */
static inline float num_f16_to_f32(u16 h) {
  u32 sign = (u32)(h & 0x8000) << 16, a = h & 0x7fff;
  u32 normal = (a << 13) + (a >= 0x7c00 ? 0x70000000u : 0x38000000u); /* infinity, NaN: top */
  normal |= a > 0x7c00 ? 0x400000 : 0; /* a NaN that signals becomes quiet, as processors have it */
  float small = (float)(i32)a * 0x1p-24f;
  return num_f32_from_bits((a < 0x400 ? num_f32_bits(small) : normal) | sign);
}
static inline u16 num_f32_to_f16(float f) {
  u32 x = num_f32_bits(f), sign = (x >> 16) & 0x8000, a = x & 0x7fffffff;
  /* normal: rebias and round by adding half of the dropped part, less one if even */
  u32 normal = (a - 0x38000000 + 0xfff + ((a >> 13) & 1)) >> 13;
  /* subnormal: adding 0.5 puts the ulp where the f16 subnormal ulp is (f32 subnormals are 0) */
  u32 subnormal = num_f32_bits(num_f32_from_bits(a) + 0.5f) - 0x3f000000;
  u32 r = a < 0x38800000 ? subnormal : normal;
  r = a >= 0x477ff000 ? 0x7c00 : r;
  r = a > 0x7f800000 ? 0x7e00 | ((a >> 13) & 0x3ff) : r;
  return (u16)(r | sign);
}

#endif
