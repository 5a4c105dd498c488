/* f80 and f128 as text: like float.c, on 128 bits and slower. */
#include "text/digits.h"
#include "text/float.h"
#include "text/wide.h"

/* Both have 15 bits of exponent. f80 writes out the bit that others hide. */
typedef struct format {
  int precision, stored; /* bits of the significand; of it in memory */
} format;
enum { BIAS = 16383, EXPONENTS = 0x7FFF };
static const format f80 = {64, 64}, f128 = {113, 112};
static const format *format_of(float_kind kind) { return kind == FLOAT_f80 ? &f80 : &f128; }

static u128 ones(int n) { return n >= 128 ? ~(u128)0 : ((u128)1 << n) - 1; }
/* f80 writes out the integer bit of infinity too. */
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

/* What the digits, few of them, would be read as. */
static u128 from_digits(const format *f, const digits *d) {
  big b = {.len = 0};
  int e;
  bool sticky = false;
  for (int i = d->len; i-- > 0;) big_mul_add(&b, 10, (u32)(d->d[i] - '0'));
  u128 m = big_times_tens(&b, d->exp, 128, &e, &sticky);
  return encode(f, m, e, sticky);
}

/* As 0x..., without leading zeros: infinities, NaN and what no decimal text gives. */
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
  digits_of(m, e, 6, &d);
  size_t n = digits_six(&d, text);
  if (from_digits(f, &d) != (bits & ~sign)) {
    digits_of(m, e, precision, &d);
    n = digits_full(&d, precision, text);
  }
  if (memchr(text, '.', n)) {
    buf_bytes(out, text, n);
    return;
  }
  if (bits & sign) out->len--;
  print_bits(out, bits);
}
