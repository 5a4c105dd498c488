/* Floats of 4 to 16 bits, in those of a lane as they lie in memory, and f32 rounded to them. */
#include "exec/jit_ops.h"
#include "exec/jit_short.h"
#include "num/convert.h"

bool jit_is_computed(const J *j, V x) {
  static const bool computes[JP_COUNT_] = {
      [JP_addps] = true,      [JP_subps] = true,      [JP_mulps] = true,     [JP_divps] = true,
      [JP_sqrtps] = true,     [JP_fmaddps] = true,    [JP_fnmaddps] = true,  [JP_fmsubps] = true,
      [JP_rndscaleps] = true, [JP_cvtdq2ps] = true,   [JP_cvtudq2ps] = true, [JP_fminps] = true,
      [JP_fmaxps] = true,     [JP_rangeps] = true,    [JP_rangepd] = true,   [JP_addpd] = true,
      [JP_subpd] = true,      [JP_mulpd] = true,      [JP_divpd] = true,     [JP_sqrtpd] = true,
      [JP_fmaddpd] = true,    [JP_rndscalepd] = true, [JP_cvtps2pd] = true,  [JP_cvtdq2pd] = true,
      [JP_cvtudq2pd] = true,
  };
  return computes[j->nodes.data[x].prim];
}

enum { UNORDERED = 3 }; /* a comparison of floats */

bool jit_has_small(dtype t) { return num_small_bits(t) != 0; }

/* ---- 8 bits and fewer: exponents have another bias, and denormals are counted ---- */

enum { F_INF = 0x7f800000, F_NAN = 0x7fc00000, F_LEAST = 0x00800000 };

/* Exponents alone, without a zero; the least is a denormal. encode_e8m0 */
static V exponent_loaded(J *j, V x) {
  V r = OP3(pblendmd, IMM2(pcmpd, I_EQ, x, CONST(0)), CONST(F_LEAST / 2), IMM1(pslld, 23, x));
  return OP3(pblendmd, IMM2(pcmpd, I_EQ, x, CONST(0xff)), CONST(F_NAN), r);
}
static V exponent_stored(J *j, V x) {
  V is_denormal = IMM2(pcmpd, I_LT, x, CONST(F_LEAST));
  V half = OP3(pblendmd, is_denormal, CONST(F_LEAST / 4), CONST(F_LEAST / 2));
  V r = IMM1(psrld, 23, OP2(paddd, x, half));
  r = OP3(pblendmd, IMM2(pcmpd, I_LT, x, CONST(1)), CONST(0xff), r);
  return OP3(pblendmd, IMM2(pcmpd, I_GT, x, CONST(F_INF - 1)), CONST(0xff), r);
}
static V byte_loaded(J *j, const num_format *f, V x) {
  if (!f->has_sign) return exponent_loaded(j, x);
  u32 m = f->mantissa, fraction = (1u << m) - 1, sign_bit = 1u << (f->bits - 1);
  V code = OP2(pandd, x, CONST(sign_bit - 1));
  V sign = IMM1(pslld, 32 - f->bits, OP2(pandd, x, CONST(sign_bit)));
  V normal = OP2(paddd, IMM1(pslld, 23 - m, code), CONST((127 - f->bias) << 23));
  V denormal = OP2(mulps, OP1(cvtdq2ps, code), CONST((128 - f->bias - (i32)m) << 23));
  V r = OP3(pblendmd, IMM2(pcmpd, I_GT, code, CONST(fraction)), normal, denormal);
  if (f->max <
      sign_bit - 1) { /* the payload lies below the quiet bit, as num_decode_small has it */
    V payload = IMM1(pslld, 22 - m, OP2(pandd, code, CONST(fraction)));
    V nan = OP2(pord, payload, CONST(F_NAN));
    r = OP3(pblendmd, IMM2(pcmpd, I_GT, code, CONST(f->max)), nan, r);
    if (f->over == NUM_TO_INF)
      r = OP3(pblendmd, IMM2(pcmpd, I_EQ, code, CONST(f->max + 1)), CONST(F_INF), r);
  }
  r = OP2(pord, r, sign);
  if (f->has_negative_zero) return r;
  return OP3(pblendmd, IMM2(pcmpd, I_EQ, x, CONST(sign_bit)), CONST(F_NAN | 1u << 31), r);
}
/* num_encode_small_f32 */
static V byte_stored(J *j, const num_format *f, V x) {
  if (!f->has_sign) return exponent_stored(j, x);
  u32 drop = 23 - f->mantissa, least = (u32)(128 - f->bias) << 23, magic = least + (drop << 23);
  V a = OP2(pandd, x, CONST(INT32_MAX));
  V sign = IMM1(psrld, 32 - f->bits, OP2(pandd, x, CONST(1u << 31)));
  V odd = OP2(pandd, IMM1(psrld, drop, a), CONST(1));
  V up = CONST((1u << 23) - least + (1u << (drop - 1)) - 1);
  V normal = IMM1(psrld, drop, OP2(paddd, OP2(paddd, a, up), odd));
  V denormal = OP2(psubd, OP2(addps, a, CONST(magic)), CONST(magic));
  V r = OP3(pblendmd, IMM2(pcmpd, I_LT, a, CONST(least)), denormal, normal);
  u32 nan = f->nan ? f->nan : 1u << (f->bits - 1);
  u32 over = f->over == NUM_TO_INF ? f->max + 1u : f->over == NUM_TO_MAX ? f->max : nan;
  r = OP3(pblendmd, IMM2(pcmpd, I_GT, r, CONST(f->max)), CONST(over), r);
  r = OP3(pblendmd, IMM2(cmpps, UNORDERED, x, x), CONST(nan), r);
  V both = OP2(pord, r, sign);
  if (f->has_negative_zero) return both;
  return OP3(pblendmd, IMM2(pcmpd, I_EQ, r, CONST(0)), r, both);
}

/* ---- 16 bits ---- */

static V to_uppers(J *j, V words) { return OP2(permw, jit_add(j, JP_uppers, 0, 0, 0, 0), words); }
V jit_load_small(J *j, dtype t, V x) {
  const jit_node *n = &j->nodes.data[x];
  if (num_small_bits(t) <= 8) return byte_loaded(j, num_format_of(t), x);
  if (t == DTYPE_bf16 && n->prim == JP_load16 && !jit_spread(j, n->imm))
    return to_uppers(j, jit_add(j, JP_load_words, n->imm, 0, 0, 0));
  if (t == DTYPE_bf16) return IMM1(pslld, 16, x);
  if (n->prim == JP_load16) return jit_add(j, JP_load_half, n->imm, 0, 0, 0);
  return OP1(cvtph2ps, OP1(pmovdw, x));
}
/* num_f32_to_bf16 */
static V bf16_rounded(J *j, V x) {
  V odd = OP2(pandd, IMM1(psrld, 16, x), CONST(1));
  V r = OP2(paddd, x, OP2(paddd, odd, CONST(0x7fff)));
  return OP3(pblendmd, IMM2(cmpps, UNORDERED, x, x), OP2(pord, x, CONST(0x400000)), r);
}
/* Whether all of it is in bf16: a constant, or one of two. */
static bool is_bf16_const(const J *j, V x) {
  u32 bits;
  return jit_is_const(j, x, &bits) && !(bits & 0xffff) && (bits & INT32_MAX) <= 0x7f800000;
}
static bool is_bf16(const J *j, V x) {
  const jit_node *n = &j->nodes.data[x];
  if (n->prim == JP_pblendmd) return is_bf16_const(j, n->arg[1]) && is_bf16_const(j, n->arg[2]);
  return is_bf16_const(j, x);
}
/* Of what has been rounded to the type before, its 16 bits. */
static bool find_rounded(J *j, dtype t, V x, V *out) {
  const jit_node *n = &j->nodes.data[x], *of = &j->nodes.data[n->arg[0]];
  u32 bits;
  if (t == DTYPE_f16) {
    if (n->prim != JP_cvtph2ps || of->prim != JP_cvtps2ph) return false;
    *out = OP1(pmovzxwd, n->arg[0]);
  } else if (n->prim == JP_permw) {
    if (j->nodes.data[n->arg[1]].prim != JP_cvtneps2bf16) return false;
    *out = OP1(pmovzxwd, n->arg[1]);
  } else if (is_bf16(j, x)) {
    *out = IMM1(psrld, 16, x);
  } else {
    if (n->prim != JP_pandd || of->prim != JP_pblendmd) return false;
    if (!jit_is_const(j, n->arg[1], &bits) || bits != 0xffff0000) return false;
    *out = IMM1(psrld, 16, x);
  }
  return true;
}
V jit_store_small(J *j, dtype t, V x) {
  V half;
  if (num_small_bits(t) <= 8) return byte_stored(j, num_format_of(t), x);
  if (find_rounded(j, t, x, &half)) return half;
  if (t == DTYPE_bf16 && j->to_bf16 && jit_is_computed(j, x))
    return OP1(pmovzxwd, OP1(cvtneps2bf16, x));
  if (t == DTYPE_bf16) return IMM1(psrld, 16, bf16_rounded(j, x));
  return OP1(pmovzxwd, IMM1(cvtps2ph, 0, x));
}
V jit_round_small(J *j, dtype t, V x) {
  V half;
  if (find_rounded(j, t, x, &half)) return x;
  if (t == DTYPE_bf16 && j->to_bf16 && jit_is_computed(j, x))
    return to_uppers(j, OP1(cvtneps2bf16, x));
  if (t == DTYPE_bf16) return OP2(pandd, bf16_rounded(j, x), CONST(0xffff0000));
  return OP1(cvtph2ps, IMM1(cvtps2ph, 0, x));
}
