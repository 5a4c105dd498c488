/* What AVX2 has no instructions for, made of those that it has. A mask is a vector there, whose
 * lanes are all ones or zeros. */
#include <math.h>

#include "exec/jit_short.h"
#include "exec/jit_x86_regs.h"
#include "num/convert.h"

#define NUM(x) CONST(num_f32_bits(x))

/* What x is the inverse of. */
static bool find_inverted(const J *j, V x, V *of) {
  const jit_node *n = &j->nodes.data[x];
  u32 bits;
  *of = n->arg[0];
  return n->prim == JP_pxord && jit_is_const(j, n->arg[1], &bits) && bits == UINT32_MAX;
}
static V inverted(J *j, V x) {
  V of;
  bool wide = j->wide;
  j->wide = false; /* the same bits of any lanes */
  of = find_inverted(j, x, &of) ? of : OP2(pxord, x, CONST(UINT32_MAX));
  j->wide = wide;
  return of;
}
/* Of the lanes at hand. */
static V equals(J *j, V x, V y) {
  static const u8 prims[] = {JP_pcmpeqd, JP_pcmpeqw, JP_pcmpeqb};
  return jit_add2(j, (jit_prim)prims[j->narrow], x, y);
}
static V exceeds(J *j, V x, V y) {
  static const u8 prims[] = {JP_pcmpgtd, JP_pcmpgtw, JP_pcmpgtb};
  return jit_add2(j, (jit_prim)prims[j->narrow], x, y);
}
static V is_not_0(J *j, V x) { return inverted(j, equals(j, x, CONST(0))); }
/* A number of each lane. */
static V in_lanes(J *j, u32 x) {
  return CONST(x * (j->narrow == 2 ? 0x01010101u : j->narrow ? 0x10001u : 1));
}

/* ---- make_<primitive>: n, whose operands are x, y and z ---- */

#define MAKE J *j, const jit_node *n, V x, V y, V z
#define MADE(name, expr)                                                                           \
  static V make_##name(MAKE) {                                                                     \
    (void)j, (void)n, (void)x, (void)y, (void)z;                                                   \
    return expr;                                                                                   \
  }

MADE(onek, is_not_0(j, jit_add(j, JP_one8, n->imm, 0, 0, 0)))
static V make_loadk(MAKE) {
  static const u8 prims[] = {JP_load8, JP_load8w, JP_load8b};
  (void)x, (void)y, (void)z;
  return is_not_0(j, jit_add(j, (jit_prim)prims[j->narrow], n->imm, 0, 0, 0));
}
/* Words that permw would bring to upper halves of lanes. */
MADE(load_words, IMM1(pslld, 16, jit_add(j, JP_load16, n->imm, 0, 0, 0)))
MADE(permw, y)
MADE(uppers, CONST(0))
/* Of lanes in twos the two in the middle change places. */
MADE(permd, IMM1(permq, 0xd8, y))
MADE(halves, CONST(0))

/* Lanes' lower words, or bytes, next to one another: in each half of the vector, then of both.
 * Upper words that were shifted down, and cleared below, are taken where they were. */
static V words(J *j, V x) {
  const jit_node *n = &j->nodes.data[x];
  bool upper = (n->prim == JP_psrld || n->prim == JP_psrad) && n->imm == 16;
  u64 from = upper ? 0x0f0e0b0a07060302 : 0x0d0c090805040100;
  u32 bits;
  if (upper) x = n->arg[0], n = &j->nodes.data[x];
  if (upper && n->prim == JP_pandd && jit_is_const(j, n->arg[1], &bits) && bits >> 16 == 0xffff)
    x = n->arg[0];
  return IMM1(permq, 8, OP2(pshufb, x, jit_const64(j, from)));
}
static V bytes(J *j, V x) {
  return IMM1(pshufd, 8, IMM1(permq, 8, OP2(pshufb, x, CONST(0x0c080400))));
}
MADE(pmovdw, words(j, x))
MADE(store16, jit_add(j, JP_store_half, n->imm, words(j, x), 0, 0))
MADE(store8, jit_add(j, JP_store_bytes, n->imm, bytes(j, x), 0, 0))
/* Of words their bytes; what is above is cleared. */
static V word_bytes(J *j, V x) { return IMM1(permq, 8, OP2(packuswb, x, x)); }
MADE(store8w, jit_add(j, JP_store8w, n->imm, word_bytes(j, OP2(pandd, x, CONST(0xff00ff))), 0, 0))
static V make_storek(MAKE) {
  V one = OP2(pandd, x, in_lanes(j, 1));
  (void)y, (void)z;
  if (j->narrow == 2) return jit_add(j, JP_store8b, n->imm, one, 0, 0);
  return j->narrow ? jit_add(j, JP_store8w, n->imm, word_bytes(j, one), 0, 0)
                   : jit_add(j, JP_store_bytes, n->imm, bytes(j, one), 0, 0);
}

static V make_pcmpd(MAKE) {
  (void)z;
  V equal = equals(j, x, y);
  switch (n->imm) {
  case I_EQ:
    return equal;
  case I_NE:
    return inverted(j, equal);
  case I_GT:
    return exceeds(j, x, y);
  case I_LE:
    return inverted(j, exceeds(j, x, y));
  case I_LT:
    return exceeds(j, y, x);
  default:
    return inverted(j, exceeds(j, y, x));
  }
}
/* In the order of numbers with a sign. */
static V turned(J *j, V x) {
  u32 bits, sign = j->narrow == 2 ? 0x80808080u : j->narrow ? 0x80008000u : 1u << 31;
  if (j->wide) return OP2(pxord, x, jit_const64(j, 1ull << 63));
  return jit_is_const(j, x, &bits) ? CONST(bits ^ sign) : OP2(pxord, x, CONST(sign));
}
MADE(pcmpud, make_pcmpd(j, n, turned(j, x), turned(j, y), z))
static V make_pcmpq(MAKE) {
  j->wide = true;
  V r = n->prim == JP_pcmpuq ? make_pcmpud(j, n, x, y, z) : make_pcmpd(j, n, x, y, z);
  j->wide = false;
  return r;
}
static V make_pminq(MAKE) {
  bool least = n->prim == JP_pminsq || n->prim == JP_pminuq;
  bool bare = n->prim == JP_pminuq || n->prim == JP_pmaxuq;
  V a = bare ? OP2(pxorq, x, jit_const64(j, 1ull << 63)) : x;
  V b = bare ? OP2(pxorq, y, jit_const64(j, 1ull << 63)) : y;
  (void)z;
  return OP3(pblendmq, OP2(pcmpgtq, least ? b : a, least ? a : b), x, y);
}
MADE(ptestmd, is_not_0(j, OP2(pandd, x, y)))
static V make_pblendmd(MAKE) { /* of an inverted mask: the other way round */
  V of;
  bool swaps = find_inverted(j, x, &of);
  return jit_add(j, (jit_prim)n->prim, 0, swaps ? of : x, swaps ? z : y, swaps ? y : z);
}
/* Lanes of 64 bits of two vectors as lanes of 32 of one. */
MADE(kunpckbw, IMM1(permq, 0xd8, IMM2(shufps, 0x88, y, x)))
MADE(kandq, OP2(pandd, x, y))
MADE(kandnq, OP2(pandnd, x, y))
MADE(korq, OP2(pord, x, y))
MADE(kxorq, OP2(pxord, x, y))
MADE(kxnorq, inverted(j, OP2(pxord, x, y)))
MADE(knotq, inverted(j, x))

MADE(prold, OP2(pord, IMM1(pslld, n->imm, x), IMM1(psrld, 32 - n->imm, x)))
/* From the exponent, without what would round it up; of 0 and what is negative that is off. */
static V make_plzcntd(MAKE) {
  (void)n, (void)y, (void)z;
  V alone = OP2(pandnd, IMM1(psrld, 1, x), x);
  V zeros = OP2(psubd, CONST(158), IMM1(psrld, 23, OP1(cvtdq2ps, alone)));
  return OP2(pmaxsd, OP2(pminsd, zeros, CONST(32)), CONST(0));
}

/* Unsigned numbers: the upper 16 bits and the lower ones are exact, their sum is rounded once. */
MADE(cvtudq2ps, OP3(fmaddps, OP1(cvtdq2ps, IMM1(psrld, 16, x)), NUM(0x1p16f),
                    OP1(cvtdq2ps, OP2(pandd, x, CONST(0xffff)))))
/* Of what is not negative. From 2^31 on less that much; from 2^32 on all ones. */
static V make_cvttps2udq(MAKE) {
  enum { GE = 13 };
  (void)n, (void)y, (void)z;
  V big = IMM2(cmpps, GE, x, NUM(0x1p31f)), off = OP2(pandd, big, NUM(0x1p31f));
  V r = OP2(pxord, OP1(cvttps2dq, OP2(subps, x, off)), OP2(pandd, big, CONST(1u << 31)));
  return OP2(pord, r, IMM2(cmpps, GE, x, NUM(0x1p32f)));
}
/* Of 64 bits: of numbers below 0 the other bits, shifted. */
static V below_0(J *j, V x) { return OP2(pcmpgtq, jit_const64(j, 0), x); }
static V make_psraq(MAKE) {
  V sign = below_0(j, x), bits = OP2(pxorq, x, sign);
  (void)z;
  V r = n->prim == JP_psravq ? OP2(psrlvq, bits, y) : IMM1(psrlq, n->imm, bits);
  return OP2(pxorq, sign, r);
}
static V make_pmullq(MAKE) {
  (void)n, (void)z;
  V mixed = OP2(paddq, OP2(pmuludq, IMM1(psrlq, 32, x), y), OP2(pmuludq, x, IMM1(psrlq, 32, y)));
  return OP2(paddq, OP2(pmuludq, x, y), IMM1(psllq, 32, mixed));
}
/* In the bits of 2^52 and it, the lower 32 bits; in those of 2^84, and of a number with a sign 2^63
 * and it, the upper ones. What these are more than is exact, and the sum is rounded once. */
static V make_cvtqq2pd(MAKE) {
  (void)y, (void)z;
  u64 low = 0x433ull << 52, high = 0x453ull << 52 | (n->prim == JP_cvtqq2pd ? 1ull << 31 : 0);
  V lower = OP2(porq, OP2(pandq, x, jit_const64(j, UINT32_MAX)), jit_const64(j, low));
  V upper = OP2(pxorq, IMM1(psrlq, 32, x), jit_const64(j, high));
  return OP2(addpd, OP2(subpd, upper, jit_const64(j, high | 1ull << 20)), lower);
}
MADE(cvtudq2pd, OP2(addpd, OP1(cvtdq2pd, turned(j, x)), jit_const64(j, num_f64_bits(0x1p31))))
/* Cut off, it is in the lower halves of 2^52 and it. */
static V make_cvttpd2udq(MAKE) {
  enum { TRUNCATE = 11 };
  (void)n, (void)y, (void)z;
  V sum = OP2(addpd, IMM1(rndscalepd, TRUNCATE, x), jit_const64(j, num_f64_bits(0x1p52)));
  return IMM2(shufps, 0x88, sum, IMM1(extracti64x4, 1, sum));
}

/* By primitive that there is no encoding of, but for those that jit_ops.c has other ways for. */
static jit_make_fn *const make_of[JP_COUNT_] = {
    [JP_onek] = make_onek,
    [JP_loadk] = make_loadk,
    [JP_load_words] = make_load_words,
    [JP_permw] = make_permw,
    [JP_uppers] = make_uppers,
    [JP_permd] = make_permd,
    [JP_halves] = make_halves,
    [JP_pmovdw] = make_pmovdw,
    [JP_store16] = make_store16,
    [JP_store8] = make_store8,
    [JP_storek] = make_storek,
    [JP_store8w] = make_store8w,
    [JP_pcmpw] = make_pcmpd,
    [JP_pcmpuw] = make_pcmpud,
    [JP_ptestmw] = make_ptestmd,
    [JP_pblendmw] = make_pblendmd,
    [JP_pcmpb] = make_pcmpd,
    [JP_pcmpub] = make_pcmpud,
    [JP_ptestmb] = make_ptestmd,
    [JP_pblendmb] = make_pblendmd,
    [JP_pcmpd] = make_pcmpd,
    [JP_pcmpud] = make_pcmpud,
    [JP_ptestmd] = make_ptestmd,
    [JP_pblendmd] = make_pblendmd,
    [JP_pblendmq] = make_pblendmd,
    [JP_pcmpq] = make_pcmpq,
    [JP_pcmpuq] = make_pcmpq,
    [JP_kunpckbw] = make_kunpckbw,
    [JP_pminsq] = make_pminq,
    [JP_pmaxsq] = make_pminq,
    [JP_pminuq] = make_pminq,
    [JP_pmaxuq] = make_pminq,
    [JP_psraq] = make_psraq,
    [JP_psravq] = make_psraq,
    [JP_pmullq] = make_pmullq,
    [JP_cvtqq2pd] = make_cvtqq2pd,
    [JP_cvtuqq2pd] = make_cvtqq2pd,
    [JP_kandq] = make_kandq,
    [JP_kandnq] = make_kandnq,
    [JP_korq] = make_korq,
    [JP_kxorq] = make_kxorq,
    [JP_kxnorq] = make_kxnorq,
    [JP_knotq] = make_knotq,
    [JP_prold] = make_prold,
    [JP_plzcntd] = make_plzcntd,
    [JP_cvtudq2ps] = make_cvtudq2ps,
    [JP_cvttps2udq] = make_cvttps2udq,
    [JP_cvtudq2pd] = make_cvtudq2pd,
    [JP_cvttpd2udq] = make_cvttpd2udq,
};

bool jit_is_lowered(const jit_build *b, u32 prim) {
  return !jit_is_for(b, JIT_AVX2) || make_of[prim] || regs_has_vex(prim);
}

jit_build jit_lower(const jit_build *b) {
  return jit_is_for(b, JIT_AVX2) ? jit_replace(b, make_of) : *b;
}
