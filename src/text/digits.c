/* Arithmetic on long natural numbers, for decimal digits that no machine number holds.
 *
 * A value m * 2^e is an integer times a power of ten once multiplied by 5^-e or shifted by e;
 * digits are taken off by dividing by ten. That is slow and exact; float.c comes here only when a
 * double cannot decide. */
#include "text/digits.h"

void big_set(big *b, u128 v) {
  for (b->len = 0; v; v >>= 32) b->limb[b->len++] = (u32)v;
}

/* What does not fit the limbs is dropped: BIG_LIMBS covers all that callers make. */
void big_mul_add(big *b, u32 factor, u32 addend) {
  u64 carry = addend;
  for (int i = 0; i < b->len; i++) {
    carry += (u64)b->limb[i] * factor;
    b->limb[i] = (u32)carry;
    carry >>= 32;
  }
  if (carry && b->len < BIG_LIMBS) b->limb[b->len++] = (u32)carry;
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
  if (b->len == 0 || b->len + limbs >= BIG_LIMBS) return;
  if (bits) big_mul_add(b, 1u << bits, 0);
  memmove(b->limb + limbs, b->limb, (size_t)b->len * sizeof(u32));
  memset(b->limb, 0, (size_t)limbs * sizeof(u32));
  b->len += limbs;
}

/* 5^13 is the largest power in 32 bits. */
static void big_mul_pow5(big *b, int n) {
  for (; n >= 13; n -= 13) big_mul_add(b, 1220703125u, 0);
  u32 rest = 1;
  while (n-- > 0) rest *= 5;
  big_mul_add(b, rest, 0);
}

/* By base^n, `steps` at a time as step = base^steps; true: a remainder was lost. */
static bool big_div_pow(big *b, u32 base, u32 step, int steps, int n) {
  bool lost = false;
  for (; n >= steps; n -= steps) lost |= big_div(b, step) != 0;
  u32 rest = 1;
  while (n-- > 0) rest *= base;
  return lost | (big_div(b, rest) != 0);
}

/* The top `want` bits; *e is raised by what went, *sticky set if that was not zero. */
static u128 big_top(const big *b, int want, int *e, bool *sticky) {
  int bits = big_bits(b), drop = bits > want ? bits - want : 0;
  u128 m = 0;
  for (int i = b->len; i-- > 0;) {
    int at = i * 32 - drop;
    if (at >= 0)
      m |= (u128)b->limb[i] << at;
    else if (at > -32)
      m |= b->limb[i] >> -at;
    if (at < 0 && (at <= -32 ? b->limb[i] != 0 : (b->limb[i] & ((1u << -at) - 1)) != 0))
      *sticky = true;
  }
  *e += drop;
  return m;
}

/* Of a negative power the number is first shifted left, so that the quotient has `want` bits and
 * some to spare for the rounding. */
u128 big_times_tens(big *b, int exp, int want, int *e, bool *sticky) {
  *e = exp;
  if (exp >= 0) {
    big_mul_pow5(b, exp);
  } else {
    int shift = want + 4 - exp * 7 / 3 - big_bits(b);
    if (shift < 0) shift = 0;
    big_shift_left(b, shift);
    *sticky |= big_div_pow(b, 5, 1220703125u, 13, -exp);
    *e -= shift;
  }
  return big_top(b, want, e, sticky);
}

/* To at most `want`, half up. */
static void digits_round(digits *out, int want) {
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

/* 59/196 is just below log10(2), 196/59 just above its inverse: APFloat estimates with the same
 * fractions, and where it cuts digits off decides the last one printed. */
void digits_of(u128 m, int e, int want, digits *out) {
  big b;
  for (; !(u64)m; m >>= 64) e += 64;
  int zeros = __builtin_ctzll((u64)m);
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
  for (out->len = 0; b.len;) {
    char digit = (char)('0' + big_div(&b, 10));
    if (out->len == 0 && digit == '0')
      out->exp++;
    else
      out->d[out->len++] = digit;
  }
  digits_round(out, want);
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

/* Like %e with six digits after the point. */
size_t digits_six(const digits *d, char *p) {
  char *begin = p;
  *p++ = d->d[d->len - 1];
  *p++ = '.';
  for (int i = 1; i < 7; i++) *p++ = i < d->len ? d->d[d->len - 1 - i] : '0';
  *p++ = 'e';
  return (size_t)(put_exponent(p, d->exp + d->len - 1, true) - begin);
}

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
