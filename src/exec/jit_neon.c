/* What Advanced SIMD has no instructions for, made of those that it has. A mask is a vector whose
 * lanes are all ones or zeros. */
#include "exec/jit_short.h"

enum { EQ = 0, LT = 1, UNORD = 3, NE = 4, GT = 14 }; /* of floats */

/* ---- make_<primitive>: n, whose operands are x, y and z ---- */

#define MAKE J *j, const jit_node *n, V x, V y, V z
#define MADE(name, expr)                                                                           \
  static V make_##name(MAKE) {                                                                     \
    (void)j, (void)n, (void)x, (void)y, (void)z;                                                   \
    return expr;                                                                                   \
  }

static V is_not_0(J *j, V x) { return OP2(ptestmd, x, x); }
MADE(onek, is_not_0(j, jit_add(j, JP_one8, n->imm, 0, 0, 0)))
MADE(loadk, is_not_0(j, jit_add(j, JP_load8, n->imm, 0, 0, 0)))
/* load_words brings words to where permw is to. */
MADE(permw, y)
MADE(uppers, CONST(0))

static bool find_inverted(const J *j, V x, V *of) {
  *of = j->nodes.data[x].arg[0];
  return j->nodes.data[x].prim == JP_knotq;
}
static V inverted(J *j, V x) {
  V of;
  return find_inverted(j, x, &of) ? of : OP1(knotq, x);
}
MADE(knotq, inverted(j, x))
MADE(kxnorq, inverted(j, OP2(kxorq, x, y)))
static V make_pblendmd(MAKE) { /* of an inverted mask: the other way round */
  V of;
  (void)n;
  return find_inverted(j, x, &of) ? OP3(pblendmd, of, z, y) : OP3(pblendmd, x, y, z);
}

static V make_pcmpd(MAKE) {
  (void)z;
  if (n->imm == I_NE) return inverted(j, IMM2(pcmpd, I_EQ, x, y));
  return IMM2(pcmpd, n->imm, x, y);
}
static V make_pcmpud(MAKE) {
  (void)z;
  if (n->imm == I_NE) return inverted(j, IMM2(pcmpud, I_EQ, x, y));
  return IMM2(pcmpud, n->imm, x, y);
}
static V make_cmpps(MAKE) {
  (void)z;
  if (n->imm == NE) return inverted(j, IMM2(cmpps, EQ, x, y));
  if (n->imm != UNORD) return IMM2(cmpps, n->imm, x, y);
  V ordered = IMM2(cmpps, EQ, x, x);
  return inverted(j, x == y ? ordered : OP2(kandq, ordered, IMM2(cmpps, EQ, y, y)));
}
/* y where one is NaN */
MADE(minps, OP3(pblendmd, IMM2(cmpps, LT, x, y), x, y))
MADE(maxps, OP3(pblendmd, IMM2(cmpps, GT, x, y), x, y))
MADE(fmsubps, OP3(fmaddps, x, y, OP2(pxord, z, CONST(1u << 31))))

/* A lane's lower byte says how far, to the right where it is negative. */
static V most(J *j, V x) { return OP2(pminud, x, CONST(32)); }
MADE(psllvd, OP2(psllvd, x, most(j, y)))
MADE(psrlvd, OP2(psrlvd, x, OP2(psubd, CONST(0), most(j, y))))
MADE(psravd, OP2(psravd, x, OP2(psubd, CONST(0), most(j, y))))
/* There are none to the right by 0. */
MADE(psrld, n->imm ? IMM1(psrld, n->imm, x) : x)
MADE(psrad, n->imm ? IMM1(psrad, n->imm, x) : x)

static jit_make_fn *const make_of[JP_COUNT_] = {
    [JP_onek] = make_onek,         [JP_loadk] = make_loadk,   [JP_permw] = make_permw,
    [JP_uppers] = make_uppers,     [JP_knotq] = make_knotq,   [JP_kxnorq] = make_kxnorq,
    [JP_pblendmd] = make_pblendmd, [JP_pcmpd] = make_pcmpd,   [JP_pcmpud] = make_pcmpud,
    [JP_cmpps] = make_cmpps,       [JP_minps] = make_minps,   [JP_maxps] = make_maxps,
    [JP_fmsubps] = make_fmsubps,   [JP_psllvd] = make_psllvd, [JP_psrlvd] = make_psrlvd,
    [JP_psravd] = make_psravd,     [JP_psrld] = make_psrld,   [JP_psrad] = make_psrad,
};

/* ---- least and greatest ---- */

/* Takes denormals for zeros where these are flushed. */
static const bool flushes[JP_COUNT_] = {
    [JP_addps] = true,   [JP_subps] = true,    [JP_mulps] = true,  [JP_divps] = true,
    [JP_fmaddps] = true, [JP_fnmaddps] = true, [JP_sqrtps] = true, [JP_cmpps] = true,
    [JP_fminps] = true,  [JP_fmaxps] = true,   [JP_sumps] = true};

/* Instructions of their own: as long as nobody sees that they flush denormals, and with a number
 * other than 0 as the first operand, since NaN as the second is what they give. */
static void use_extremes(jit_build *b) {
  u32 len = (u32)b->nodes.len;
  bool *seen = arena_zalloc(b->a, len + 1);
  for (u32 v = len; v-- > 0;) {
    jit_node *n = &b->nodes.data[v];
    u32 bits, is_least = n->prim == JP_minps;
    bool extreme = is_least || n->prim == JP_maxps;
    if (extreme && !seen[v] && jit_is_const(b, n->arg[0], &bits) &&
        (bits & 0x7fffffff) - 1 < 0x7f800000)
      n->prim = is_least ? JP_fminps : JP_fmaxps;
    for (u32 k = 0; k < jit_prim_infos[n->prim].operands; k++) seen[n->arg[k]] |= !flushes[n->prim];
  }
}

bool jit_is_lowered(const jit_build *b, u32 prim) {
  (void)b, (void)prim;
  return true;
}

jit_build jit_lower(const jit_build *b) {
  jit_build r = *b;
  r.nodes.data = arena_copy(b->a, b->nodes.data, b->nodes.len * sizeof(jit_node));
  use_extremes(&r);
  return jit_replace(&r, make_of);
}
