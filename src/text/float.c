/* Decimal text of floats up to 64 bits, by tables of formats.
 *
 * Reading: the digits as a long integer and a power of ten, in doubles where those are exact
 * (Clinger's fast path), else in long arithmetic (digits.h), then `encode`, the one place that
 * rounds. Writing: six digits, read back to see whether they are enough, else as many as the
 * precision takes. num/convert.c has the same formats for elements of tensors; it does not know
 * text. */
#include <math.h>

#include "text/digits.h"
#include "text/float.h"
#include "text/lexer.h"

typedef enum special { IEEE, FN, FNUZ, FINITE, POWER } special;

/* precision counts the hidden bit. special: IEEE has inf and NaN where the exponent is all ones;
 * FN only a NaN of all ones; FNUZ only a NaN in place of -0; FINITE neither; POWER is a bare
 * exponent without sign or zero. */
typedef struct format {
  u8 bits, precision;
  i16 bias;
  u8 special;
} format;

static const format formats[FLOAT_COUNT] = {
    [FLOAT_f4E2M1FN] = {4, 2, 1, FINITE},   [FLOAT_f6E2M3FN] = {6, 4, 1, FINITE},
    [FLOAT_f6E3M2FN] = {6, 3, 3, FINITE},   [FLOAT_f8E3M4] = {8, 5, 3, IEEE},
    [FLOAT_f8E4M3] = {8, 4, 7, IEEE},       [FLOAT_f8E4M3B11FNUZ] = {8, 4, 11, FNUZ},
    [FLOAT_f8E4M3FN] = {8, 4, 7, FN},       [FLOAT_f8E4M3FNUZ] = {8, 4, 8, FNUZ},
    [FLOAT_f8E5M2] = {8, 3, 15, IEEE},      [FLOAT_f8E5M2FNUZ] = {8, 3, 16, FNUZ},
    [FLOAT_f8E8M0FNU] = {8, 1, 127, POWER}, [FLOAT_bf16] = {16, 8, 127, IEEE},
    [FLOAT_f16] = {16, 11, 15, IEEE},       [FLOAT_f32] = {32, 24, 127, IEEE},
    [FLOAT_tf32] = {19, 11, 127, IEEE},     [FLOAT_f64] = {64, 53, 1023, IEEE},
};

bool float_is_supported(float_kind kind) { return formats[kind].bits != 0; }

static u64 ones(unsigned n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }
static unsigned mantissa_bits(const format *f) { return f->precision - 1u; }
static unsigned exponent_bits(const format *f) {
  return f->special == POWER ? f->bits : f->bits - f->precision;
}
static u64 sign_bit(const format *f) { return f->special == POWER ? 0 : 1ull << (f->bits - 1); }

static bool is_special(const format *f, u64 bits) {
  u64 mag = bits & ~sign_bit(f) & ones(f->bits);
  switch ((special)f->special) {
  case IEEE:
    return mag >> mantissa_bits(f) == ones(exponent_bits(f));
  case FN:
  case POWER:
    return mag == ones(f->bits - (sign_bit(f) != 0));
  case FNUZ:
    return (bits & ones(f->bits)) == sign_bit(f);
  case FINITE:
    break;
  }
  return false;
}

/* value = m * 2^e of what is not special */
static void decode(const format *f, u64 bits, u64 *m, int *e) {
  u64 frac = bits & ones(mantissa_bits(f));
  int exp = (int)((bits & ~sign_bit(f)) >> mantissa_bits(f) & ones(exponent_bits(f)));
  bool hidden = exp != 0 || f->special == POWER;
  *m = frac | (hidden ? 1ull << mantissa_bits(f) : 0);
  if (!hidden) exp = 1;
  *e = exp - f->bias - (int)mantissa_bits(f);
}

bool float_is_zero(float_kind kind, u64 bits) {
  const format *f = &formats[kind];
  u64 m;
  int e;
  if (!f->bits || is_special(f, bits)) return false;
  decode(f, bits, &m, &e);
  return m == 0;
}

static u64 overflowed(const format *f) {
  switch ((special)f->special) {
  case IEEE:
    return ones(exponent_bits(f)) << mantissa_bits(f);
  case FN:
  case POWER:
    return ones(f->bits - (sign_bit(f) != 0));
  case FNUZ:
    return sign_bit(f);
  case FINITE:
    break;
  }
  return ones(f->bits - 1u);
}

/* The nearest of m * 2^e (and a bit more if `sticky`), ties to even; without the sign. */
static u64 encode(const format *f, u64 m, int e, bool sticky) {
  if (m == 0) return 0;
  int up = __builtin_clzll(m);
  m <<= up;
  e -= up; /* m has bit 63: the value is in [2^(e+63), 2^(e+64)) */
  int drop = 64 - f->precision, emin = f->special == POWER ? -f->bias : 1 - f->bias;
  int field = e + 63 + f->bias; /* what the exponent field would be */
  if (e + 63 < emin) {
    drop += emin - (e + 63);
    field = 0;
  }
  u64 kept = drop > 63 ? 0 : m >> drop;
  u64 lost = drop > 63 ? m : m & ones((unsigned)drop);
  u64 half = drop > 64 ? 0 : 1ull << (drop - 1);
  bool more = drop > 64 ? false : lost > half || (lost == half && (sticky || (kept & 1)));
  if (more) kept++;
  if (kept >> f->precision) {
    kept >>= 1;
    field++;
  }
  if (f->special != POWER && field == 0 && kept >> mantissa_bits(f))
    field = 1; /* rounded up to the smallest normal */
  u64 bits = field <= 0 && f->special != POWER
                 ? kept
                 : ((u64)field << mantissa_bits(f)) | (kept & ones(mantissa_bits(f)));
  bool fits = field <= (int)ones(exponent_bits(f)) && !is_special(f, bits);
  return fits ? bits : overflowed(f);
}

/* ---- reading ---- */

/* Digits behind MAX_DIGITS decide no rounding; an exponent beyond FAR is zero or infinity. */
enum { MAX_DIGITS = 800, FAR = 100000 };
typedef struct decimal {
  big digits;
  u64 small; /* the digits where there are at most 18 */
  int count, exp;
  bool more; /* digits other than 0 follow */
} decimal;

/* More than MAX_DIGITS digits cannot change the rounding but for being there (`more`). Exponents
 * are clamped to where every format over- or underflows. */
static void scan(str text, decimal *d) {
  const char *p = text.data, *end = p + text.len;
  bool point = false;
  d->count = d->exp = 0;
  d->small = 0;
  d->more = false;
  big_set(&d->digits, 0);
  for (; p < end && (char_is_digit(*p) || *p == '.'); p++) {
    if (*p == '.') {
      point = true;
      continue;
    }
    if (point && d->exp > -FAR) d->exp--;
    if (d->count == 0 && *p == '0') continue;
    if (d->count == MAX_DIGITS) {
      d->more |= *p != '0';
      if (d->exp < FAR) d->exp++;
      continue;
    }
    d->count++;
    u32 digit = (u32)(*p - '0');
    if (d->count <= 18) d->small = d->small * 10 + digit;
    if (d->count == 19) big_set(&d->digits, d->small);
    if (d->count >= 19) big_mul_add(&d->digits, 10, digit);
  }
  if (d->count <= 18) big_set(&d->digits, d->small);
  if (p < end && (*p == 'e' || *p == 'E')) {
    bool minus = ++p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    int x = 0;
    for (; p < end && char_is_digit(*p); p++)
      if (x < FAR) x = x * 10 + (*p - '0');
    d->exp += minus ? -x : x;
  }
}

static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static u64 double_bits(double v) {
  u64 bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

/* Both factors are exact doubles, so one operation rounds once. */
static bool quick_double(const decimal *d, double *out) {
  if (d->count > 15 || d->exp < -22 || d->exp > 22) return false;
  *out = d->exp < 0 ? (double)d->small / tens[-d->exp] : (double)d->small * tens[d->exp];
  return true;
}

/* From the quick double where rounding it again is safe: not when it is halfway between two values
 * of the format, as it may have been rounded to there. */
static u64 convert(decimal *d, const format *f) {
  double quick;
  if (d->count == 0) return 0;
  if (quick_double(d, &quick)) {
    u64 bits = double_bits(quick), m, low = ones(53u - f->precision);
    int e;
    if (f->bits == 64) return bits;
    /* A double halfway between two values may have been rounded to there. */
    decode(&formats[FLOAT_f64], bits, &m, &e);
    if ((m & low) != (low >> 1) + 1 && f->special == IEEE && f->bias >= 127)
      return encode(f, m, e, false);
  }
  if (d->count + d->exp > 400) return overflowed(f);
  if (d->count + d->exp < -400) return 0;
  int e;
  bool sticky = d->more;
  u64 m = (u64)big_times_tens(&d->digits, d->exp, 64, &e, &sticky);
  return encode(f, m, e, sticky);
}

/* FNUZ has no -0, and its NaN is where that would be; POWER has no signs. */
static u64 with_sign(const format *f, u64 bits, bool negative) {
  if (!negative || f->special == POWER) return bits;
  if (f->special == FNUZ && (bits == 0 || bits == sign_bit(f))) return bits;
  return bits | sign_bit(f);
}

u64 float_from_text(float_kind kind, str text, bool negative) {
  decimal d;
  scan(text, &d);
  return with_sign(&formats[kind], convert(&d, &formats[kind]), negative);
}

u64 float_from_literal(float_kind kind, str text, bool negative) {
  const format *f = &formats[kind], *f64 = &formats[FLOAT_f64];
  u64 bits = float_from_text(FLOAT_f64, text, false), m;
  int e;
  if (kind == FLOAT_f64) return with_sign(f, bits, negative);
  if (is_special(f64, bits)) return with_sign(f, overflowed(f), negative);
  decode(f64, bits, &m, &e);
  return with_sign(f, encode(f, m, e, false), negative);
}

/* Exact: every format here is within f64. */
double float_to_double(float_kind kind, u64 bits) {
  const format *f = &formats[kind];
  u64 m, wide;
  int e;
  double v;
  if (is_special(f, bits)) return NAN;
  decode(f, bits, &m, &e);
  wide = encode(&formats[FLOAT_f64], m, e, false);
  memcpy(&v, &wide, sizeof v);
  return bits & sign_bit(f) ? -v : v;
}

void float_range(float_kind kind, double *smallest, double *largest) {
  const format *f = &formats[kind];
  *smallest = 0;
  *largest = INFINITY;
  if (!f->bits) return;
  bool whole = f->special == FINITE || f->special == FNUZ;
  u64 top = whole ? ones(f->bits - 1u) : overflowed(f) - 1;
  *smallest = float_to_double(kind, f->special == POWER ? 0 : 1);
  *largest = float_to_double(kind, top);
}

u64 float_from_double(float_kind kind, double v) {
  const format *f = &formats[kind], *f64 = &formats[FLOAT_f64];
  u64 bits = double_bits(v), m;
  int e;
  bool negative = bits >> 63;
  bits &= ones(63);
  if (is_special(f64, bits)) return with_sign(f, overflowed(f), negative);
  decode(f64, bits, &m, &e);
  return with_sign(f, encode(f, m, e, false), negative);
}

/* ---- writing ---- */

void float_print(buf *out, float_kind kind, u64 bits) {
  const format *f = &formats[kind];
  bits &= ones(f->bits);
  if (is_special(f, bits)) {
    buf_printf(out, "0x%llX", (unsigned long long)bits);
    return;
  }
  u64 m;
  int e;
  char text[64];
  decode(f, bits, &m, &e);
  bool negative = (bits & sign_bit(f)) != 0;
  if (negative) buf_char(out, '-');
  if (m == 0) {
    BUF_LIT(out, "0.000000e+00");
    return;
  }
  digits d;
  digits_of(m, e, 6, &d);
  size_t n = digits_six(&d, text);
  if (float_from_text(kind, (str){text, n}, negative) == bits) {
    buf_bytes(out, text, n);
    return;
  }
  int precision = 2 + f->precision * 59 / 196;
  digits_of(m, e, precision, &d);
  n = digits_full(&d, precision, text);
  if (memchr(text, '.', n)) {
    buf_bytes(out, text, n);
    return;
  }
  if (negative) out->len--;
  buf_printf(out, "0x%llX", (unsigned long long)bits);
}
