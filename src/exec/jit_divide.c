#include "exec/jit_divide.h"

#include "exec/jit_short.h"

/* Products of even lanes and of odd ones; then their upper halves, in order. */
V jit_high(J *j, bool with_sign, V x, V y) {
  if (jit_is_for(j, JIT_NEON)) return with_sign ? OP2(mulhsd, x, y) : OP2(mulhud, x, y);
  jit_prim mul = with_sign ? JP_pmuldq : JP_pmuludq;
  u32 same; /* in all lanes */
  V other = jit_is_const(j, y, &same) ? y : IMM1(psrlq, 32, y);
  V even = jit_add(j, mul, 0, x, y, 0);
  V odd = jit_add(j, mul, 0, IMM1(psrlq, 32, x), other, 0);
  return IMM1(pshufd, 0xd8, IMM2(shufps, 0xdd, even, odd)); /* 1 3 1 3; 0 2 1 3 */
}

/* Of 64 bits: the upper half of x times a constant. */
static V high_wide(J *j, V x, u64 m) {
  V low = jit_const64(j, (u32)m), high = jit_const64(j, m >> 32), upper = IMM1(psrlq, 32, x);
  V t = OP2(paddq, OP2(pmuludq, upper, low), IMM1(psrlq, 32, OP2(pmuludq, x, low)));
  V u = OP2(paddq, OP2(pmuludq, x, high), OP2(pandq, t, jit_const64(j, UINT32_MAX)));
  V sum = OP2(paddq, OP2(pmuludq, upper, high), IMM1(psrlq, 32, t));
  return OP2(paddq, sum, IMM1(psrlq, 32, u));
}
/* By constants from 2 on: of numbers with a sign figure 4.1 for their magnitudes, up to 2^63, and
 * by powers of two a shift, of those below 0 after as much less 1 is added. */
static V divided_wide(J *j, bool with_sign, V x, u64 by) {
  u32 log = 64 - (u32)__builtin_clzll(by - 1);
  bool is_power = (by & (by - 1)) == 0;
  if (!with_sign) {
    if (is_power) return IMM1(psrlq, log, x);
    u64 m = (u64)(((((unsigned __int128)1 << log) - by) << 64) / by + 1);
    V high = high_wide(j, x, m);
    return IMM1(psrlq, log - 1, OP2(paddq, high, IMM1(psrlq, 1, OP2(psubq, x, high))));
  }
  V sign = IMM1(psraq, 63, x);
  if (is_power) return IMM1(psraq, log, OP2(paddq, x, IMM1(psrlq, 64 - log, sign)));
  u64 m = (u64)(((unsigned __int128)1 << (63 + log)) / by + 1);
  V q = IMM1(psrlq, log - 1, high_wide(j, OP2(psubq, OP2(pxorq, x, sign), sign), m));
  return OP2(psubq, OP2(pxorq, q, sign), sign);
}

/* Of numbers of so many bits without their sign, 16 at the most: the least factor, and shift from
 * 16 on, so that lanes of 16 bits have it in the upper half of their products; a factor from 2^16
 * on is of 16 bits without a sign only. */
static u32 few_factor(u32 bits, u64 by, u32 *shift) {
  for (u32 s = 16;; s++) {
    u64 m = (1ull << s) / by + 1;
    if (m * by - (1ull << s) > 1ull << (s - bits)) continue;
    *shift = s;
    return (u32)m;
  }
}
static bool is_signed(vm_rtype t) { return t >= R_s8 && t <= R_s64; }
static u32 bits_of(vm_rtype t) { return 8 * vm_rtype_size(t) - is_signed(t); } /* without it */
/* By constants from 2 on, of up to 16 bits: products that have 32. */
static V divided_few(J *j, vm_rtype t, V x, u32 by) {
  u32 log = 32 - (u32)__builtin_clz(by - 1), shift, m = few_factor(bits_of(t), by, &shift);
  V all = CONST(UINT16_MAX), sign = IMM1(psrad, 31, x);
  if (is_signed(t)) {
    if ((by & (by - 1)) == 0)
      return IMM1(psrad, log, OP2(paddd, x, OP2(pandd, sign, CONST(by - 1))));
    return OP2(psubd, IMM1(psrad, shift, OP2(pmulld, x, CONST(m))), sign);
  }
  if ((by & (by - 1)) == 0) return IMM1(psrld, log, x);
  if (m <= UINT16_MAX) return IMM1(psrld, shift, OP2(pmulld, x, CONST(m)));
  V high = IMM1(psrld, 16, OP2(pmulld, x, CONST(m - (1u << 16))));
  V half = IMM1(psrld, 1, OP2(pandd, OP2(psubd, x, high), all));
  return IMM1(psrld, shift - 17, OP2(pandd, OP2(paddd, high, half), all));
}

/* By constants from 2 on: figures 4.2 and 5.2. */
static V divided_by(J *j, vm_rtype t, V x, u32 by) {
  u32 log = 32 - (u32)__builtin_clz(by - 1);
  if (vm_rtype_size(t) < 4) return divided_few(j, t, x, by);
  if (t == R_u32) {
    u32 m = (u32)((((1ull << log) - by) << 32) / by + 1);
    V high = jit_high(j, false, x, CONST(m));
    return IMM1(psrld, log - 1, OP2(paddd, high, IMM1(psrld, 1, OP2(psubd, x, high))));
  }
  u32 m = (u32)((1ull << (31 + log)) / by + 1);
  V q = OP2(paddd, x, jit_high(j, true, x, CONST(m)));
  return OP2(psubd, IMM1(psrad, log - 1, q), IMM1(psrad, 31, x));
}

static V noted(J *j, vm_rtype t, V v, V x, u64 by, bool rem) {
  VEC_PUSH(j->a, j->divided, (jit_divided){v, x, by, (u8)bits_of(t), rem});
  return v;
}

/* Of 32 bits in 53 a quotient is never rounded to the next integer. Beyond the range it comes out
 * as the least number, and by 0 it is -1. */
V jit_divide(J *j, vm_rtype t, V x, V y) {
  u32 by;
  u64 wide;
  if (jit_is_const64(j, y, &wide)) {
    V q = divided_wide(j, t == R_s64, x, wide);
    return t == R_s64 ? noted(j, t, q, x, wide, false) : q;
  }
  if (jit_is_const(j, y, &by) && (i32)by >= 2) {
    V q = divided_by(j, t, x, by);
    return is_signed(t) ? noted(j, t, q, x, by, false) : q;
  }
  jit_prim widen = t == R_u32 ? JP_cvtudq2pd : JP_cvtdq2pd;
  jit_prim narrow = t == R_u32 ? JP_cvttpd2udq : JP_cvttpd2dq;
  V half[2];
  for (u32 i = 0; i < 2; i++) {
    V a = i ? IMM1(extracti64x4, 1, x) : x, b = i ? IMM1(extracti64x4, 1, y) : y;
    V q = OP2(divpd, jit_add(j, widen, 0, a, 0, 0), jit_add(j, widen, 0, b, 0, 0));
    half[i] = jit_add(j, narrow, 0, q, 0, 0);
  }
  V q = IMM2(inserti64x4, 1, half[0], half[1]);
  return OP3(pblendmd, IMM2(pcmpd, I_EQ, y, CONST(0)), CONST(-1), q);
}

/* By 0 this is x, as the quotient is times 0. */
V jit_remainder(J *j, vm_rtype t, V x, V y) {
  u32 by;
  u64 wide;
  V r = OP2(psubd, x, OP2(pmulld, jit_divide(j, t, x, y), y));
  if (jit_is_const64(j, y, &wide)) return t == R_s64 ? noted(j, t, r, x, wide, true) : r;
  bool notes = is_signed(t) && jit_is_const(j, y, &by) && (i32)by >= 2;
  return notes ? noted(j, t, r, x, by, true) : r;
}

/* ---- rounded down; of the lanes at hand ---- */

static V number(J *j, u64 x) { return j->wide ? jit_const64(j, x) : CONST(x); }
static bool is_number(const J *j, V v, u64 x) {
  u32 bits;
  u64 wide;
  return jit_is_const64(j, v, &wide) ? wide == x : jit_is_const(j, v, &bits) && bits == (u32)x;
}

/* With s = -1 below 0 and else 0, s ^ ((s ^ x) / by), where s ^ x has 31 or 63 bits: figure 4.1 for
 * these, whose factor has 32 or 64; or fewer bits. */
static V floored(J *j, u32 bits, V x, u64 by) {
  u32 log = 64 - (u32)__builtin_clzll(by - 1), top = j->wide ? 63 : 31, shift;
  if ((by & (by - 1)) == 0) return IMM1(psrad, log, x);
  if (bits < 31) {
    V s = IMM1(psrad, top, x), m = CONST(few_factor(bits, by, &shift));
    return OP2(pxord, s, IMM1(psrld, shift, OP2(pmulld, OP2(pxord, x, s), m)));
  }
  u64 m = (u64)(((unsigned __int128)1 << (top + log)) / by + 1);
  V s = IMM1(psrad, top, x), bare = OP2(pxord, x, s);
  V high = j->wide ? high_wide(j, bare, m) : jit_high(j, false, bare, CONST(m));
  return OP2(pxord, s, IMM1(psrld, log - 1, high));
}

/* What is wrapped into a type with a sign. */
static V bare(const J *j, V v) {
  const jit_node *n = &j->nodes.data[v], *left = &j->nodes.data[n->arg[0]];
  bool wraps = n->prim == JP_psrad && left->prim == JP_pslld && n->imm == left->imm;
  return wraps && !j->wide ? left->arg[0] : v;
}
static const jit_divided *find_divided(const J *j, V v) {
  v = bare(j, v);
  for (u32 i = 0; i < j->divided.len; i++)
    if (j->divided.data[i].v == v) return &j->divided.data[i];
  return NULL;
}

/* Comparison `how` of x with a constant. */
static bool compares(const J *j, V k, u32 how, u64 to, V *x) {
  const jit_node *n = &j->nodes.data[k];
  *x = n->arg[0];
  return n->prim == jit_at_hand(j, JP_pcmpd) && n->imm == how && is_number(j, n->arg[1], to);
}
static bool is_remainder(const J *j, V v, const jit_divided *d) {
  const jit_divided *r = find_divided(j, v);
  return r && r->rem && r->x == d->x && r->by == d->by;
}
/* Whether x, or its remainder, is below 0, or below 1 where the remainder is not 0. */
static bool is_below(const J *j, V k, const jit_divided *d) {
  V v;
  if (compares(j, k, I_LT, 0, &v)) return v == d->x || is_remainder(j, v, d);
  if (!compares(j, k, I_NE, 1, &v)) return false; /* its sign: max(min(x, 1), -1) */
  const jit_node *n = &j->nodes.data[bare(j, v)];
  const jit_node *least = &j->nodes.data[bare(j, n->arg[0])];
  return n->prim == jit_at_hand(j, JP_pmaxsd) && least->prim == jit_at_hand(j, JP_pminsd) &&
         least->arg[0] == d->x && is_number(j, n->arg[1], UINT64_MAX) &&
         is_number(j, least->arg[1], 1);
}
static bool is_corrected(const J *j, V p, const jit_divided *d) {
  const jit_node *n = &j->nodes.data[p];
  V v;
  if (n->prim != JP_kandq) return false;
  for (u32 k = 0; k < 2; k++)
    if (compares(j, n->arg[k], I_NE, 0, &v) && is_remainder(j, v, d) && is_below(j, n->arg[!k], d))
      return true;
  return false;
}

bool jit_find_floor(J *j, V p, V x, V y, V *out) {
  const jit_divided *d = find_divided(j, y);
  const jit_node *n = &j->nodes.data[bare(j, x)];
  if (!d || n->arg[0] != y || n->prim != jit_at_hand(j, d->rem ? JP_paddd : JP_psubd)) return false;
  if (!is_number(j, n->arg[1], d->rem ? d->by : 1)) return false;
  if (!is_corrected(j, p, d)) return false;
  V of = d->x;
  u64 by = d->by;
  if (!d->rem)
    *out = floored(j, d->bits, of, by);
  else if ((by & (by - 1)) == 0)
    *out = OP2(pandd, of, number(j, by - 1));
  else
    *out = OP2(psubd, of, OP2(pmulld, floored(j, d->bits, of, by), number(j, by)));
  return true;
}
