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

/* ---- big integers: enough for any double and 800 digits ---- */

enum { LIMBS = 136, MAX_DIGITS = 800 };
typedef struct big {
  u32 limb[LIMBS];
  int len;
} big;

static void big_set(big *b, u64 v) {
  b->limb[0] = (u32)v;
  b->limb[1] = (u32)(v >> 32);
  b->len = v >> 32 ? 2 : v ? 1 : 0;
}

static void big_mul_add(big *b, u32 factor, u32 addend) {
  u64 carry = addend;
  for (int i = 0; i < b->len; i++) {
    carry += (u64)b->limb[i] * factor;
    b->limb[i] = (u32)carry;
    carry >>= 32;
  }
  if (carry && b->len < LIMBS) b->limb[b->len++] = (u32)carry;
}

/* Returns the remainder. */
static u32 big_div(big *b, u32 divisor) {
  u64 rest = 0;
  for (int i = b->len; i-- > 0;) {
    rest = rest << 32 | b->limb[i];
    b->limb[i] = (u32)(rest / divisor);
    rest %= divisor;
  }
  while (b->len && !b->limb[b->len - 1]) b->len--;
  return (u32)rest;
}

static int big_bits(const big *b) {
  return b->len ? b->len * 32 - __builtin_clz(b->limb[b->len - 1]) : 0;
}

static void big_shift_left(big *b, int n) {
  int limbs = n / 32, bits = n % 32;
  if (b->len == 0 || b->len + limbs >= LIMBS) return;
  if (bits) big_mul_add(b, 1u << bits, 0);
  memmove(b->limb + limbs, b->limb, (size_t)b->len * sizeof(u32));
  memset(b->limb, 0, (size_t)limbs * sizeof(u32));
  b->len += limbs;
}

static void big_mul_pow5(big *b, int n) {
  for (; n >= 13; n -= 13) big_mul_add(b, 1220703125u, 0);
  u32 rest = 1;
  while (n-- > 0) rest *= 5;
  big_mul_add(b, rest, 0);
}

static bool big_div_pow(big *b, u32 base, u32 step, int steps, int n) {
  bool lost = false;
  for (; n >= steps; n -= steps) lost |= big_div(b, step) != 0;
  u32 rest = 1;
  while (n-- > 0) rest *= base;
  return lost | (big_div(b, rest) != 0);
}

/* The top 64 bits; *e is raised by what went, *sticky set if that was not zero. */
static u64 big_top(const big *b, int *e, bool *sticky) {
  int bits = big_bits(b), drop = bits > 64 ? bits - 64 : 0;
  u64 m = 0;
  for (int i = b->len; i-- > 0;) {
    int at = i * 32 - drop;
    if (at >= 0)
      m |= (u64)b->limb[i] << at;
    else if (at > -32)
      m |= b->limb[i] >> -at;
    if (at < 0 && (at <= -32 ? b->limb[i] != 0 : (b->limb[i] & ones((unsigned)-at)) != 0))
      *sticky = true;
  }
  *e += drop;
  return m;
}

/* ---- reading ---- */

typedef struct decimal {
  big digits;
  u64 small; /* the digits where there are at most 18 */
  int count, exp;
  bool more; /* digits other than 0 follow */
} decimal;

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
    if (point && d->exp > -100000) d->exp--;
    if (d->count == 0 && *p == '0') continue;
    if (d->count == MAX_DIGITS) {
      d->more |= *p != '0';
      if (d->exp < 100000) d->exp++;
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
      if (x < 100000) x = x * 10 + (*p - '0');
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
  bool sticky = d->more;
  int e = 0;
  if (d->exp >= 0) {
    big_mul_pow5(&d->digits, d->exp);
    e = d->exp;
  } else {
    int n = -d->exp, shift = 68 + n * 7 / 3 - big_bits(&d->digits);
    if (shift < 0) shift = 0;
    big_shift_left(&d->digits, shift);
    sticky |= big_div_pow(&d->digits, 5, 1220703125u, 13, n);
    e = d->exp - shift;
  }
  u64 m = big_top(&d->digits, &e, &sticky);
  return encode(f, m, e, sticky);
}

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

/* At most `want` digits of m * 2^e, zeros at the end left out. Digits beyond about `want` are
 * cut off before the rounding (half up), as APFloat does. */
static void to_digits(u64 m, int e, int want, digits *out) {
  big b;
  int zeros = __builtin_ctzll(m);
  big_set(&b, m >> zeros);
  e += zeros;
  out->exp = 0;
  if (e > 0) big_shift_left(&b, e);
  if (e < 0) {
    big_mul_pow5(&b, -e);
    out->exp = e;
  }
  int enough = (want * 196 + 58) / 59, bits = big_bits(&b);
  int cut = bits > enough ? (bits - enough) * 59 / 196 : 0;
  if (cut) big_div_pow(&b, 10, 1000000000u, 9, cut);
  out->exp += cut;
  u64 v = (b.len > 1 ? (u64)b.limb[1] << 32 : 0) | (b.len ? b.limb[0] : 0);
  out->len = 0;
  for (; v; v /= 10) {
    if (out->len == 0 && v % 10 == 0)
      out->exp++;
    else
      out->d[out->len++] = (char)('0' + v % 10);
  }
  digits_round(out, want);
}

void digits_round(digits *out, int want) {
  if (out->len <= want) return;
  int first = out->len - want;
  if (out->d[first - 1] < '5') {
    while (first < out->len && out->d[first] == '0') first++;
  } else {
    while (first < out->len && out->d[first] == '9') first++;
    if (first == out->len) {
      out->exp += first;
      out->d[0] = '1';
      out->len = 1;
      return;
    }
    out->d[first]++;
  }
  out->exp += first;
  out->len -= first;
  memmove(out->d, out->d + first, (size_t)out->len);
}

static char *put_exponent(char *p, int exp, bool two) {
  *p++ = exp < 0 ? '-' : '+';
  if (exp < 0) exp = -exp;
  if (exp >= 1000) *p++ = (char)('0' + exp / 1000);
  if (exp >= 100) *p++ = (char)('0' + exp / 100 % 10);
  if (exp >= 10 || two) *p++ = (char)('0' + exp / 10 % 10);
  *p++ = (char)('0' + exp % 10);
  return p;
}

/* d.ddddde+dd, six digits after the point */
size_t digits_six(const digits *d, char *p) {
  char *begin = p;
  *p++ = d->d[d->len - 1];
  *p++ = '.';
  for (int i = 1; i < 7; i++) *p++ = i < d->len ? d->d[d->len - 1 - i] : '0';
  *p++ = 'e';
  return (size_t)(put_exponent(p, d->exp + d->len - 1, true) - begin);
}

/* Plain notation for moderate exponents, else d.ddE+d. */
size_t digits_full(const digits *d, int precision, char *p) {
  char *begin = p;
  int exp = d->exp, n = d->len, whole = exp + n;
  bool scientific = exp >= 0    ? exp > 3 || n + exp > precision
                    : whole > 0 ? false
                                : -(whole - 1) > 3;
  if (scientific) {
    *p++ = d->d[n - 1];
    *p++ = '.';
    if (n == 1) *p++ = '0';
    for (int i = 1; i < n; i++) *p++ = d->d[n - 1 - i];
    *p++ = 'E';
    return (size_t)(put_exponent(p, exp + n - 1, false) - begin);
  }
  if (exp >= 0) {
    for (int i = 0; i < n; i++) *p++ = d->d[n - 1 - i];
    for (int i = 0; i < exp; i++) *p++ = '0';
    return (size_t)(p - begin);
  }
  int i = 0;
  if (whole > 0) {
    for (; i < whole; i++) *p++ = d->d[n - 1 - i];
    *p++ = '.';
  } else {
    *p++ = '0';
    *p++ = '.';
    for (int z = 0; z < -whole; z++) *p++ = '0';
  }
  for (; i < n; i++) *p++ = d->d[n - 1 - i];
  return (size_t)(p - begin);
}

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
  to_digits(m, e, 6, &d);
  size_t n = digits_six(&d, text);
  if (float_from_text(kind, (str){text, n}, negative) == bits) {
    buf_bytes(out, text, n);
    return;
  }
  int precision = 2 + f->precision * 59 / 196;
  to_digits(m, e, precision, &d);
  n = digits_full(&d, precision, text);
  if (memchr(text, '.', n)) {
    buf_bytes(out, text, n);
    return;
  }
  if (negative) out->len--;
  buf_printf(out, "0x%llX", (unsigned long long)bits);
}
