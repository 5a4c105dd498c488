/* Conversion of one element between any two types, and arithmetic on the bits of small formats.
 *
 * Reading gives a `number`, which holds every integer of 64 bits and every f64 exactly; writing
 * rounds once from that. So there is one reader and one writer a type instead of a function a pair.
 * The kernels of exec have loops of their own for the common pairs, which their tests compare with
 * this. The formats' codes: OCP "8-bit Floating Point Specification" (f8E4M3FN, f8E5M2), OCP
 * Microscaling (f4E2M1FN, f6*, f8E8M0FNU), Noune et al., "8-bit Numerical Formats for Deep Neural
 * Networks" (FNUZ); the rest is IEEE 754 with other widths. */
#include "num/convert.h"

#include <math.h>

typedef num_format format;
static const format formats[DTYPE_COUNT] = {
    [DTYPE_f16] = {16, 10, 15, 0x7bff, 0x7e00, NUM_TO_INF, true, true},
    [DTYPE_bf16] = {16, 7, 127, 0x7f7f, 0x7fc0, NUM_TO_INF, true, true},
    [DTYPE_f8e5m2] = {8, 2, 15, 0x7b, 0x7e, NUM_TO_INF, true, true},
    [DTYPE_f8e4m3] = {8, 3, 7, 0x77, 0x7c, NUM_TO_INF, true, true},
    [DTYPE_f8e3m4] = {8, 4, 3, 0x6f, 0x78, NUM_TO_INF, true, true},
    [DTYPE_f8e4m3fn] = {8, 3, 7, 0x7e, 0x7f, NUM_TO_NAN, true, true},
    [DTYPE_f8e4m3b11fnuz] = {8, 3, 11, 0x7f, 0x80, NUM_TO_NAN, true, false},
    [DTYPE_f8e4m3fnuz] = {8, 3, 8, 0x7f, 0x80, NUM_TO_NAN, true, false},
    [DTYPE_f8e5m2fnuz] = {8, 2, 16, 0x7f, 0x80, NUM_TO_NAN, true, false},
    [DTYPE_f8e8m0fnu] = {8, 0, 127, 0xfe, 0xff, NUM_TO_NAN, false, false},
    [DTYPE_f4e2m1fn] = {4, 1, 1, 0x7, 0, NUM_TO_MAX, true, true},
    [DTYPE_f6e2m3fn] = {6, 3, 1, 0x1f, 0, NUM_TO_MAX, true, true},
    [DTYPE_f6e3m2fn] = {6, 2, 3, 0x1f, 0, NUM_TO_MAX, true, true},
};

const num_format *num_format_of(dtype t) { return &formats[t]; }
u32 num_small_bits(dtype t) { return formats[t].bits; }

u32 num_int_bits(dtype t) {
  static const u8 bits[DTYPE_COUNT] = {
      [DTYPE_pred] = 1, [DTYPE_s2] = 2,   [DTYPE_u2] = 2,   [DTYPE_s4] = 4,   [DTYPE_u4] = 4,
      [DTYPE_s8] = 8,   [DTYPE_u8] = 8,   [DTYPE_s16] = 16, [DTYPE_u16] = 16, [DTYPE_s32] = 32,
      [DTYPE_u32] = 32, [DTYPE_s64] = 64, [DTYPE_u64] = 64,
  };
  return bits[t];
}

/* magnitude = significand * 2^(exponent - 52), significand below 2^53, to a code without sign */
static u32 encode_magnitude(const format *f, u64 significand, int exponent) {
  int least = 1 - f->bias; /* exponent of the subnormals */
  int shift = 52 - f->mantissa + (exponent < least ? least - exponent : 0);
  if (shift > 62) return 0;
  u64 q = significand >> shift, rest = significand & ((1ull << shift) - 1);
  u64 half = 1ull << (shift - 1);
  q += rest > half || (rest == half && (q & 1));
  i64 code = ((i64)(exponent > least ? exponent - least : 0) << f->mantissa) + (i64)q;
  return code > f->max ? (u32)f->max + 1 : (u32)code;
}

/* Exponents only, no zero, no sign: a power of two each; the mantissa decides the rounding. */
static u32 encode_e8m0(double x) {
  if (!(x > 0) || isinf(x)) return 0xff;
  int e;
  double m = frexp(x, &e); /* x = m * 2^e, 0.5 <= m < 1 */
  e += 126;                /* code of 2^(e - 1) */
  if (e < 0) return 0;
  if (m >= 0.75) e++; /* halfway goes up, as ml_dtypes has it */
  return e > 0xfe ? 0xff : (u32)e;
}

/* From the bits of the f64, so that neither the rounding mode nor a processor that flushes
 * subnormals matters. Rounding up may carry into the exponent, which is right as it lies next to
 * the mantissa: the code after the largest of one exponent is the smallest of the next. */
u32 num_encode_small(dtype t, double x) {
  const format *f = &formats[t];
  if (t == DTYPE_f8e8m0fnu) return encode_e8m0(x);
  u64 bits;
  memcpy(&bits, &x, 8);
  u32 sign_bit = 1u << (f->bits - 1), sign = bits >> 63 ? sign_bit : 0;
  int biased = (int)(bits >> 52 & 0x7ff);
  u64 fraction = bits & 0xfffffffffffffull;
  if (biased == 0x7ff && fraction) {
    if (!f->nan) return sign_bit; /* a zero, as XLA:CPU has it */
    return f->has_negative_zero ? f->nan | sign : f->nan;
  }
  u32 code;
  if (biased == 0x7ff)
    code = (u32)f->max + 1;
  else if (biased == 0)
    code = 0; /* an f64 subnormal is nothing in any of these */
  else
    code = encode_magnitude(f, fraction | 1ull << 52, biased - 1023);
  if (code > f->max) {
    if (f->over == NUM_TO_NAN) return f->has_negative_zero ? f->nan | sign : f->nan;
    code = f->over == NUM_TO_MAX ? f->max : (u32)f->max + 1; /* the code after max is infinity */
  }
  if (code == 0 && !f->has_negative_zero) return 0;
  return code | sign;
}

/* A normal number's bits with another bias, of which the lowest are rounded off; below these the
 * sum with a number that has the least denormal for its last bit. */
u32 num_encode_small_f32(dtype t, float x) {
  const format *f = &formats[t];
  u32 bits = num_f32_bits(x), a = bits & INT32_MAX, sign = bits >> 31 << (f->bits - 1);
  if (t == DTYPE_f8e8m0fnu || a > 0x7f800000) return num_encode_small(t, x);
  u32 drop = 23u - f->mantissa, least = (u32)(128 - f->bias) << 23;
  u32 magic = least + (drop << 23), r;
  if (a < least)
    r = num_f32_bits(num_f32_from_bits(a) + num_f32_from_bits(magic)) - magic;
  else
    r = (a - least + (1u << 23) + (1u << (drop - 1)) - 1 + (a >> drop & 1)) >> drop;
  if (r > f->max) r = f->over == NUM_TO_INF ? f->max + 1u : f->over == NUM_TO_MAX ? f->max : f->nan;
  return r || f->has_negative_zero ? r | sign : 0;
}

/* A quiet NaN. The payload lies below the quiet bit, so that NaNs keep their total order. */
static double nan_of(bool negative, u64 payload) {
  u64 bits = (u64)negative << 63 | 0x7ff8ull << 48 | payload;
  double x;
  memcpy(&x, &bits, 8);
  return x;
}

double num_decode_small(dtype t, u32 bits) {
  const format *f = &formats[t];
  if (t == DTYPE_f8e8m0fnu) return bits == 0xff ? NAN : ldexp(1.0, (int)bits - 127);
  u32 sign_bit = 1u << (f->bits - 1), code = bits & (sign_bit - 1);
  bool negative = bits & sign_bit;
  if (!f->has_negative_zero && bits == f->nan) return -NAN; /* it has the bit of the sign */
  if (code > f->max) {
    if (f->over == NUM_TO_INF && code == f->max + 1u) return negative ? -INFINITY : INFINITY;
    return nan_of(negative, (u64)(code & ((1u << f->mantissa) - 1)) << (51 - f->mantissa));
  }
  u32 field = code >> f->mantissa, fraction = code & ((1u << f->mantissa) - 1);
  int exponent = (int)(field ? field : 1) - f->bias - f->mantissa;
  double v = ldexp((double)(field ? fraction | 1u << f->mantissa : fraction), exponent);
  return negative ? -v : v;
}

/* An element as read: exactly one of the views holds it. */
typedef struct number {
  enum { AS_SINT, AS_UINT, AS_FLOAT } kind;
  i64 s;
  u64 u;
  double re, im;
} number;

#define READ(type, field, tag)                                                                     \
  {                                                                                                \
    type v;                                                                                        \
    memcpy(&v, p, sizeof v);                                                                       \
    return (number){.kind = tag, .field = v};                                                      \
  }

/* Of a type narrower than a byte only its own bits count; of pred, whether there are any. */
static number read_narrow(dtype t, u8 byte) {
  u32 unused = 8 - num_int_bits(t);
  if (t == DTYPE_pred) return (number){.kind = AS_UINT, .u = byte != 0};
  byte = (u8)(byte << unused);
  if (dtype_infos[t].kind == DTYPE_CLASS_SINT)
    return (number){.kind = AS_SINT, .s = (i8)byte >> unused};
  return (number){.kind = AS_UINT, .u = (u64)(byte >> unused)};
}

/* memcpy throughout: elements of packed buffers need not be aligned. */
static number read_int(dtype t, const void *p) {
  switch (t) {
  case DTYPE_s8:
    READ(i8, s, AS_SINT)
  case DTYPE_s16:
    READ(i16, s, AS_SINT)
  case DTYPE_s32:
    READ(i32, s, AS_SINT)
  case DTYPE_s64:
    READ(i64, s, AS_SINT)
  case DTYPE_u16:
    READ(u16, u, AS_UINT)
  case DTYPE_u32:
    READ(u32, u, AS_UINT)
  case DTYPE_u64:
    READ(u64, u, AS_UINT)
  case DTYPE_u8:
    READ(u8, u, AS_UINT)
  default:
    return read_narrow(t, *(const u8 *)p);
  }
}

static number read_number(dtype t, const void *p) {
  number n = {.kind = AS_FLOAT};
  switch (t) {
  case DTYPE_f32:
    READ(float, re, AS_FLOAT)
  case DTYPE_f64:
    READ(double, re, AS_FLOAT)
  case DTYPE_c64: {
    float v[2];
    memcpy(v, p, sizeof v);
    n.re = v[0], n.im = v[1];
    return n;
  }
  case DTYPE_c128: {
    memcpy(&n.re, p, 8);
    memcpy(&n.im, (const char *)p + 8, 8);
    return n;
  }
  case DTYPE_token:
    return n;
  default:
    break;
  }
  if (dtype_infos[t].kind != DTYPE_CLASS_FLOAT) return read_int(t, p);
  u32 bits = 0;
  if (dtype_size(t) == 2) {
    u16 h;
    memcpy(&h, p, 2);
    bits = h;
  } else {
    bits = *(const u8 *)p;
  }
  n.re = num_decode_small(t, bits);
  return n;
}

/* A 64-bit magnitude as a double whose last bit says whether anything was dropped: rounding it
 * again to fewer bits then gives what rounding once would have. */
static double round_to_odd(u64 v) {
  int spare = v ? __builtin_clzll(v) : 64;
  if (spare >= 11) return (double)v;
  int drop = 11 - spare;
  u64 kept = v >> drop;
  if (v & ((1ull << drop) - 1)) kept |= 1;
  return ldexp((double)kept, drop);
}

/* What num_encode_small rounds again. A 64-bit integer rounded to f64 first could land halfway
 * between two small values and go the wrong way; rounding to odd keeps it off the middle. */
static double number_odd(number n) {
  if (n.kind == AS_FLOAT) return n.re;
  if (n.kind == AS_UINT) return round_to_odd(n.u);
  return n.s < 0 ? -round_to_odd(0 - (u64)n.s) : round_to_odd((u64)n.s);
}
static double number_f64(number n) {
  return n.kind == AS_FLOAT ? n.re : n.kind == AS_UINT ? (double)n.u : (double)n.s;
}
static float number_f32(number n) {
  return n.kind == AS_FLOAT ? (float)n.re : n.kind == AS_UINT ? (float)n.u : (float)n.s;
}

/* The integer's low bits; floats saturate first. */
static u64 number_int(number n, dtype to) {
  u32 width = num_int_bits(to);
  bool is_signed = dtype_infos[to].kind == DTYPE_CLASS_SINT;
  if (n.kind == AS_UINT) return n.u;
  if (n.kind == AS_SINT) return (u64)n.s;
  if (isnan(n.re)) return 0;
  double low = is_signed ? -ldexp(1, (int)width - 1) : 0;
  double end = ldexp(1, (int)width - is_signed); /* one above the largest */
  if (n.re <= low) return is_signed ? ~0ull << (width - 1) : 0;
  if (n.re >= end) return width - is_signed == 64 ? ~0ull : (1ull << (width - is_signed)) - 1;
  return is_signed ? (u64)(i64)n.re : (u64)n.re;
}

/* Narrow types are stored a byte an element with the sign's bits or zeros above, as JAX sends
 * them. */
static void write_int(dtype t, u64 v, void *out) {
  u32 width = num_int_bits(t);
  if (width < 8) {
    v &= (1u << width) - 1;
    if (dtype_infos[t].kind == DTYPE_CLASS_SINT && v >> (width - 1)) v |= ~0ull << width;
  }
  u8 b = (u8)v;
  u16 h = (u16)v;
  u32 w = (u32)v;
  switch (dtype_size(t)) {
  case 1:
    memcpy(out, &b, 1);
    break;
  case 2:
    memcpy(out, &h, 2);
    break;
  case 4:
    memcpy(out, &w, 4);
    break;
  default:
    memcpy(out, &v, 8);
    break;
  }
}

static bool number_nonzero(number n) {
  if (n.kind == AS_FLOAT) return n.re != 0; /* of complex numbers too the real part converts */
  return n.kind == AS_UINT ? n.u != 0 : n.s != 0;
}

static void write_number(dtype t, number n, void *out) {
  switch (dtype_infos[t].kind) {
  case DTYPE_CLASS_BOOL:
    *(u8 *)out = number_nonzero(n);
    return;
  case DTYPE_CLASS_SINT:
  case DTYPE_CLASS_UINT:
    write_int(t, number_int(n, t), out);
    return;
  case DTYPE_CLASS_TOKEN:
    return;
  default:
    break;
  }
  float f32[2] = {number_f32(n), (float)n.im};
  double f64[2] = {number_f64(n), n.im};
  if (t == DTYPE_f32 || t == DTYPE_c64) {
    memcpy(out, f32, dtype_size(t));
  } else if (t == DTYPE_f64 || t == DTYPE_c128) {
    memcpy(out, f64, dtype_size(t));
  } else {
    u32 bits = num_encode_small(t, number_odd(n));
    u16 h = (u16)bits;
    if (dtype_size(t) == 2)
      memcpy(out, &h, 2);
    else
      *(u8 *)out = (u8)bits;
  }
}

double num_to_f64(dtype t, const void *element) { return number_f64(read_number(t, element)); }
void num_from_f64(dtype t, double x, void *out_element) {
  write_number(t, (number){.kind = AS_FLOAT, .re = x}, out_element);
}
void num_convert(dtype from, const void *src, dtype to, void *out_dst) {
  write_number(to, read_number(from, src), out_dst);
}

/* ---- on the bits of a format ---- */

/* A finite magnitude of a format with `e` exponent and `m` mantissa bits, rounded to fewer of
 * either: the mantissa's bits go as they lie, denormal or not; what is out of a smaller range of
 * exponents becomes infinity above and zero below its normals. */
static u64 reduce_magnitude(u64 a, u32 e, u32 m, u32 exponent, u32 mantissa, u64 infinity) {
  u64 bias = (1ull << (e - 1)) - 1;
  if (mantissa < m) {
    u32 drop = m - mantissa;
    a = (a + ((1ull << (drop - 1)) - 1) + ((a >> drop) & 1)) >> drop << drop;
  }
  if (exponent < e) {
    u64 reach = (1ull << (exponent - 1)) - 1;
    if (a >> m > bias + reach) a = infinity;
    if (a >> m <= bias - reach) a = 0;
  }
  return a;
}

double num_reduce_precision_f64(double x, u32 exponent, u32 mantissa) {
  u64 bits, sign = 1ull << 63;
  if (!isfinite(x)) return mantissa || !isnan(x) ? x : INFINITY; /* nothing to tell NaN by */
  memcpy(&bits, &x, 8);
  bits = (bits & sign) | reduce_magnitude(bits & ~sign, 11, 52, exponent, mantissa, 0x7ffull << 52);
  memcpy(&x, &bits, 8);
  return x;
}

float num_reduce_precision_f32(float x, u32 exponent, u32 mantissa) {
  u32 bits = num_f32_bits(x), sign = bits & 0x80000000;
  if ((bits ^ sign) >= 0x7f800000) return mantissa || !isnan(x) ? x : INFINITY;
  return num_f32_from_bits(
      (u32)reduce_magnitude(bits ^ sign, 8, 23, exponent, mantissa, 0x7f800000) | sign);
}

double num_reduce_precision_small(dtype t, double x, u32 exponent, u32 mantissa) {
  const format *f = &formats[t];
  u32 e = f->bits - f->mantissa - f->has_sign;
  if (isnan(x) && !mantissa && f->mantissa)
    return num_decode_small(t, num_encode_small(t, INFINITY));
  if (isnan(x) || (exponent >= e && mantissa >= f->mantissa)) return x;
  if (!f->has_negative_zero && f->has_sign) { /* XLA:CPU has these as f16 */
    x = num_reduce_precision_small(DTYPE_f16, x, exponent, mantissa);
    return num_decode_small(t, num_encode_small(t, x));
  }
  u32 code = num_encode_small(t, fabs(x));
  if (code > f->max) return x;
  u64 a = reduce_magnitude(code, e, f->mantissa, exponent, mantissa, f->max + 1);
  double r = a > f->max ? INFINITY : num_decode_small(t, (u32)a);
  return num_decode_small(t, num_encode_small(t, copysign(r, x)));
}

double num_next_after_small(dtype t, double x, double y) {
  const format *f = &formats[t];
  if (isnan(x) || isnan(y) || x == y) return isnan(x) ? x : y;
  u32 code = num_encode_small(t, fabs(x));
  bool away = (x < y) == (x > 0) || x == 0, negative = x == 0 ? y < 0 : x < 0;
  if (away && code == f->max && f->over == NUM_TO_MAX) return x;
  if (!away && code == 0) return x; /* a format without zero */
  double r = num_decode_small(t, away ? code + 1 : code - 1);
  return num_decode_small(t, num_encode_small(t, negative ? -r : r));
}
