/* f80 and f128 as text: like float.c, on 128 bits and slower. */
#include "text/digits.h"
#include "text/float.h"
#include "text/wide.h"

__extension__ typedef unsigned __int128 u128;

/* Both have 15 bits of exponent. f80 writes out the bit that others hide. */
typedef struct format {
  int precision, stored; /* bits of the significand; of it in memory */
} format;
enum { BIAS = 16383, EXPONENTS = 0x7FFF };
static const format f80 = {64, 64}, f128 = {113, 112};
static const format *format_of(float_kind kind) { return kind == FLOAT_f80 ? &f80 : &f128; }

static u128 ones(int n) { return n >= 128 ? ~(u128)0 : ((u128)1 << n) - 1; }
static u128 infinity(const format *f) {
  return (u128)EXPONENTS << f->stored | (f->stored == 64 ? (u128)1 << 63 : 0);
}

static int leading_zeros(u128 v) {
  u64 high = (u64)(v >> 64);
  return high ? __builtin_clzll(high) : 64 + __builtin_clzll((u64)v);
}

/* The nearest of m * 2^e (and a bit more if `sticky`), ties to even. */
static u128 encode(const format *f, u128 m, int e, bool sticky) {
  if (m == 0) return 0;
  int up = leading_zeros(m), drop = 128 - f->precision;
  m <<= up;
  e -= up;
  int field = e + 127 + BIAS;
  if (field < 1) {
    drop += 1 - field;
    field = 0;
  }
  if (drop > 128) return 0;
  u128 kept = drop > 127 ? 0 : m >> drop, lost = m & ones(drop), half = (u128)1 << (drop - 1);
  if (lost > half || (lost == half && (sticky || (kept & 1)))) kept++;
  if (kept >> f->precision) {
    kept >>= 1;
    field++;
  }
  if (field == 0 && kept >> (f->precision - 1)) field = 1;
  if (field >= EXPONENTS) return infinity(f);
  return (u128)field << f->stored | (kept & ones(f->stored));
}

void float_wide_from_literal(float_kind kind, str text, bool negative, char *out) {
  const format *f = format_of(kind);
  u64 bits = float_from_text(FLOAT_f64, text, false), m = bits & ((1ull << 52) - 1);
  int exp = (int)(bits >> 52);
  if (exp) m |= 1ull << 52;
  u128 v = exp == 2047 ? infinity(f) : encode(f, m, (exp ? exp : 1) - 1075, false);
  if (negative) v |= (u128)1 << (f->stored + 15);
  memcpy(out, &v, kind == FLOAT_f80 ? 10 : 16);
}

/* ---- big integers, of all that these have ---- */

enum { LIMBS = 1400 };
typedef struct big {
  u32 limb[LIMBS];
  int len;
} big;

static void big_set(big *b, u128 v) {
  for (b->len = 0; v; v >>= 32) b->limb[b->len++] = (u32)v;
}

static void big_mul(big *b, u32 factor) {
  u64 carry = 0;
  for (int i = 0; i < b->len; i++) {
    carry += (u64)b->limb[i] * factor;
    b->limb[i] = (u32)carry;
    carry >>= 32;
  }
  if (carry && b->len < LIMBS) b->limb[b->len++] = (u32)carry;
}

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
  int limbs = n / 32;
  if (b->len == 0 || b->len + limbs >= LIMBS) return;
  if (n % 32) big_mul(b, 1u << n % 32);
  memmove(b->limb + limbs, b->limb, (size_t)b->len * sizeof(u32));
  memset(b->limb, 0, (size_t)limbs * sizeof(u32));
  b->len += limbs;
}

static void big_mul_pow5(big *b, int n) {
  for (; n >= 13; n -= 13) big_mul(b, 1220703125u);
  while (n-- > 0) big_mul(b, 5);
}

static bool big_div_pow(big *b, u32 base, u32 step, int steps, int n) {
  bool lost = false;
  for (; n >= steps; n -= steps) lost |= big_div(b, step) != 0;
  while (n-- > 0) lost |= big_div(b, base) != 0;
  return lost;
}

/* The top 128 bits; *e is raised by what went, *sticky set if that was not zero. */
static u128 big_top(const big *b, int *e, bool *sticky) {
  int bits = big_bits(b), drop = bits > 128 ? bits - 128 : 0;
  u128 m = 0;
  for (int i = b->len; i-- > 0;) {
    int at = i * 32 - drop;
    if (at >= 0)
      m |= (u128)b->limb[i] << at;
    else if (at > -32)
      m |= b->limb[i] >> -at;
    if (at < 0 && (at <= -32 ? b->limb[i] != 0 : (b->limb[i] & ones(-at)) != 0)) *sticky = true;
  }
  *e += drop;
  return m;
}

/* ---- writing ---- */

static void to_digits(u128 m, int e, int want, digits *out) {
  big b;
  for (; !(m & 1); m >>= 1) e++;
  big_set(&b, m);
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
  u128 v = 0;
  for (int i = b.len > 4 ? 4 : b.len; i-- > 0;) v = v << 32 | b.limb[i];
  for (out->len = 0; v; v /= 10) {
    if (out->len == 0 && v % 10 == 0)
      out->exp++;
    else
      out->d[out->len++] = (char)('0' + (int)(v % 10));
  }
  digits_round(out, want);
}

/* What the digits, few of them, would be read as. */
static u128 from_digits(const format *f, const digits *d) {
  big b;
  u64 v = 0;
  int e = d->exp;
  bool sticky = false;
  for (int i = d->len; i-- > 0;) v = v * 10 + (u64)(d->d[i] - '0');
  big_set(&b, v);
  if (d->exp >= 0) {
    big_mul_pow5(&b, d->exp);
  } else {
    int shift = 132 - d->exp * 7 / 3;
    big_shift_left(&b, shift);
    sticky = big_div_pow(&b, 5, 1220703125u, 13, -d->exp);
    e -= shift;
  }
  u128 m = big_top(&b, &e, &sticky);
  return encode(f, m, e, sticky);
}

static void print_bits(buf *out, u128 bits) {
  u64 high = (u64)(bits >> 64), low = (u64)bits;
  if (high)
    buf_printf(out, "0x%llX%016llX", (unsigned long long)high, (unsigned long long)low);
  else
    buf_printf(out, "0x%llX", (unsigned long long)low);
}

void float_wide_print(buf *out, float_kind kind, const char *bytes) {
  const format *f = format_of(kind);
  u128 bits = 0;
  memcpy(&bits, bytes, kind == FLOAT_f80 ? 10 : 16);
  u128 sign = (u128)1 << (f->stored + 15), m = bits & ones(f->stored);
  int exp = (int)(bits >> f->stored) & EXPONENTS;
  if (kind == FLOAT_f80 && exp && !(m >> 63)) { /* no number: its processors take it for a NaN */
    exp = EXPONENTS;
    bits |= (u128)EXPONENTS << f->stored;
  }
  if (exp == EXPONENTS) {
    print_bits(out, bits);
    return;
  }
  if (bits & sign) buf_char(out, '-');
  if (exp && kind == FLOAT_f128) m |= (u128)1 << f->stored;
  if (m == 0) {
    BUF_LIT(out, "0.000000e+00");
    return;
  }
  digits d;
  char text[128];
  int e = (exp ? exp : 1) - BIAS - (f->precision - 1), precision = 2 + f->precision * 59 / 196;
  to_digits(m, e, 6, &d);
  size_t n = digits_six(&d, text);
  if (from_digits(f, &d) != (bits & ~sign)) {
    to_digits(m, e, precision, &d);
    n = digits_full(&d, precision, text);
  }
  if (memchr(text, '.', n)) {
    buf_bytes(out, text, n);
    return;
  }
  if (bits & sign) out->len--;
  print_bits(out, bits);
}
