#include "exec/jit_arm64.h"

enum { DOUBLE = 1 }; /* size of floats */

#define FMLA(size) A64_SAME(0, 0 | size, 25)
#define XTN(size) A64_HALF(A64_MISC(0, size, 18))
#define UXTL(bits) A64_HALF(A64_SHIFT(1, 20, bits))
#define SXTL(bits) A64_HALF(A64_SHIFT(0, 20, bits))
#define FCVTN(size) A64_HALF(A64_MISC(0, size, 22))
#define FCVTL(size) A64_HALF(A64_MISC(0, size, 23))
#define CVTF(u, size) A64_MISC(u, size, 29)
#define FCVTZ(u, size) A64_MISC(u, 2 | size, 27)
#define SHLL A64_HALF(A64_MISC(1, 1, 19))
#define BIC A64_SAME(0, 1, 3)
#define EOR A64_SAME(1, 0, 3)

static const arm64_row rows[JP_COUNT_] = {
    [JP_load16] = {UXTL(16), {0}, 0},
    [JP_load16s] = {SXTL(16), {0}, 0},
    [JP_load8] = {UXTL(8), {UXTL(16)}, 0},
    [JP_load8s] = {SXTL(8), {SXTL(16)}, 0},
    [JP_load_words] = {SHLL, {0}, 0},
    [JP_load_half] = {FCVTL(0), {0}, 0},
    [JP_store16] = {XTN(1), {0}, 0},
    [JP_store8] = {XTN(1), {XTN(0)}, 0},
    [JP_storek] = {A64_SHIFT(1, 0, 64 - 31), {XTN(1), XTN(0)}, 0},
    [JP_sumps] = {A64_FADD, {0}, 0},
    [JP_addps] = {A64_FADD, {0}, 0},
    [JP_mulps] = {A64_SAME(1, 0, 27), {0}, 0},
    [JP_subps] = {A64_SAME(0, 2, 26), {0}, 0},
    [JP_divps] = {A64_SAME(1, 0, 31), {0}, 0},
    [JP_fminps] = {A64_SAME(0, 2, 30), {0}, 0},
    [JP_fmaxps] = {A64_SAME(0, 0, 30), {0}, 0},
    [JP_sqrtps] = {A64_MISC(1, 2, 31), {0}, 0},
    [JP_fmaddps] = {FMLA(0), {0}, 0},
    [JP_fnmaddps] = {A64_SAME(0, 2, 25), {0}, 0},
    [JP_cvtdq2ps] = {CVTF(0, 0), {0}, 0},
    [JP_cvtudq2ps] = {CVTF(1, 0), {0}, 0},
    [JP_cvttps2dq] = {FCVTZ(0, 0), {0}, 0},
    [JP_cvttps2udq] = {FCVTZ(1, 0), {0}, 0},
    [JP_cvtph2ps] = {FCVTL(0), {0}, 0},
    [JP_cvtps2ph] = {FCVTN(0), {0}, 0},
    [JP_paddd] = {A64_SAME(0, 2, 16), {0}, 0},
    [JP_psubd] = {A64_SAME(1, 2, 16), {0}, 0},
    [JP_pmulld] = {A64_SAME(0, 2, 19), {0}, 0},
    [JP_mulhsd] = {A64_LONG(0, 12), {0}, 0},
    [JP_mulhud] = {A64_UMULL, {0}, 0},
    [JP_pandd] = {A64_AND, {0}, 0},
    [JP_pord] = {A64_ORR, {0}, 0},
    [JP_pandnd] = {BIC, {0}, true},
    [JP_pxord] = {EOR, {0}, 0},
    [JP_pminsd] = {A64_SAME(0, 2, 13), {0}, 0},
    [JP_pmaxsd] = {A64_SAME(0, 2, 12), {0}, 0},
    [JP_pminud] = {A64_SAME(1, 2, 13), {0}, 0},
    [JP_pmaxud] = {A64_SAME(1, 2, 12), {0}, 0},
    [JP_psllvd] = {A64_SAME(1, 2, 8), {0}, 0},
    [JP_psrlvd] = {A64_SAME(1, 2, 8), {0}, 0},
    [JP_psravd] = {A64_SAME(0, 2, 8), {0}, 0},
    [JP_prold] = {A64_USHR, {0}, 0},
    [JP_pabsd] = {A64_MISC(0, 2, 11), {0}, 0},
    [JP_plzcntd] = {A64_MISC(1, 2, 4), {0}, 0},
    [JP_pmovzxwd] = {UXTL(16), {0}, 0},
    [JP_pmovdw] = {XTN(1), {0}, 0},
    [JP_cvtdq2pd] = {SXTL(32), {CVTF(0, DOUBLE)}, 0},
    [JP_cvtudq2pd] = {UXTL(32), {CVTF(1, DOUBLE)}, 0},
    [JP_cvttpd2dq] = {FCVTZ(0, DOUBLE), {XTN(2)}, 0},
    [JP_cvttpd2udq] = {FCVTZ(1, DOUBLE), {XTN(2)}, 0},
    [JP_divpd] = {A64_SAME(1, 0 | DOUBLE, 31), {0}, 0},
    [JP_cvtps2pd] = {FCVTL(DOUBLE), {0}, 0},
    [JP_cvtpd2ps] = {FCVTN(DOUBLE), {0}, 0},
    [JP_addpd] = {A64_SAME(0, 0 | DOUBLE, 26), {0}, 0},
    [JP_subpd] = {A64_SAME(0, 2 | DOUBLE, 26), {0}, 0},
    [JP_mulpd] = {A64_SAME(1, 0 | DOUBLE, 27), {0}, 0},
    /* a number wins over NaN */
    [JP_minpd] = {A64_SAME(0, 2 | DOUBLE, 24), {0}, 0},
    [JP_maxpd] = {A64_SAME(0, 0 | DOUBLE, 24), {0}, 0},
    [JP_fmaddpd] = {FMLA(DOUBLE), {0}, 0},
    [JP_paddq] = {A64_SAME(0, 3, 16), {0}, 0},
    [JP_extracti64x4] = {A64_DUP_UPPER, {0}, 0},
    [JP_inserti64x4] = {A64_PERMUTE(3, 3), {0}, 0},
    [JP_ptestmd] = {A64_SAME(0, 2, 17), {0}, 0},
    [JP_pblendmd] = {A64_BSL, {0}, 0},
    [JP_kandq] = {A64_AND, {0}, 0},
    [JP_kandnq] = {BIC, {0}, true},
    [JP_korq] = {A64_ORR, {0}, 0},
    [JP_kxorq] = {EOR, {0}, 0},
    [JP_knotq] = {A64_MISC(1, 0, 5), {0}, 0},
};

/* Comparisons of floats by numbers that instructions have, 0, 1, 2, 13 and 14, and of integers by
 * 0, 1, 2, 5 and 6: equal, less, not greater, not less, greater. */
static arm64_row comparison(u32 imm, u32 equal, u32 not_less, u32 greater) {
  bool swaps = imm == 1 || imm == 2;
  if (imm == 0) return (arm64_row){equal, {0}, false};
  bool strict = imm == 1 || imm == 6 || imm == 14;
  return (arm64_row){strict ? greater : not_less, {0}, swaps};
}

arm64_row arm64_row_of(u32 prim, u32 imm) {
  enum { NEAREST = 8, FLOOR = 9, CEIL = 10 };
  arm64_row r = rows[prim];
  switch ((jit_prim)prim) {
  case JP_cmpps:
    return comparison(imm, A64_SAME(0, 0, 28), A64_SAME(1, 0, 28), A64_SAME(1, 2, 28));
  case JP_pcmpd:
    return comparison(imm, A64_SAME(1, 2, 17), A64_SAME(0, 2, 7), A64_SAME(0, 2, 6));
  case JP_pcmpud:
    return comparison(imm, A64_SAME(1, 2, 17), A64_SAME(1, 2, 7), A64_SAME(1, 2, 6));
  case JP_rndscaleps:
    r.op = imm == NEAREST || imm == CEIL ? A64_MISC(0, imm == CEIL ? 2 : 0, 24)
                                         : A64_MISC(0, imm == FLOOR ? 0 : 2, 25);
    return r;
  case JP_pslld:
    r.op = A64_SHIFT(0, 10, 32 + imm);
    return r;
  case JP_psllq:
    r.op = A64_SHIFT(0, 10, 64 + imm);
    return r;
  case JP_psrld:
    r.op = A64_SHIFT(1, 0, 64 - imm);
    return r;
  case JP_psrad:
    r.op = A64_SHIFT(0, 0, 64 - imm);
    return r;
  default:
    return r;
  }
}

u32 arm64_load(u32 bytes) {
  static const u32 loads[] = {0x3d400000, 0x7d400000, 0xbd400000, 0xfd400000, A64_LDR_Q};
  return loads[__builtin_ctz(bytes)];
}
u32 arm64_store(u32 bytes) {
  static const u32 stores[] = {0x3d000000, 0x7d000000, A64_STR_S, 0xfd000000, A64_STR_Q};
  return stores[__builtin_ctz(bytes)];
}

/* One byte of four, or all but one inverted; or a float of few bits. */
u32 arm64_immediate(u32 bits) {
  for (u32 invert = 0; invert < 2; invert++)
    for (u32 k = 0; k < 4; k++) {
      u32 x = invert ? ~bits : bits, byte = x >> 8 * k & 0xff;
      if (x == byte << 8 * k)
        return 0x4f000400u | invert << 29 | (byte >> 5) << 16 | k << 13 | (byte & 31) << 5;
    }
  u32 small = bits >> 31 << 7 | (bits >> 29 & 1) << 6 | (bits >> 19 & 0x3f);
  u32 again = (small >> 7) << 31 | (small >> 6 & 1 ? 0x3e000000u : 0x40000000u);
  if ((again | (small & 0x3f) << 19) != bits) return 0;
  return 0x4f00f400u | (small >> 5) << 16 | (small & 31) << 5;
}

/* ---- words ---- */

static void set_word(jit_code *c, u32 at, u32 word) { memcpy(&c->bytes.data[at], &word, 4); }
static u32 word_at(const jit_code *c, u32 at) {
  u32 word;
  memcpy(&word, &c->bytes.data[at], 4);
  return word;
}
void arm64_word(jit_code *c, u32 word) {
  for (u32 i = 0; i < 4; i++) VEC_PUSH(c->a, c->bytes, (u8)(word >> 8 * i));
}
void arm64_add_scaled(jit_code *c, u32 d, u32 n, u32 m, u32 shift) {
  arm64_imm(c, 0x8b000000u | m << 16, d, n, shift);
}

void arm64_extend(jit_code *c, u32 d, u32 n, u32 bytes) {
  if (bytes < 4)
    arm64_3(c, bytes == 1 ? 0x53001c00 : 0x53003c00, d, n, 0);
  else
    arm64_3(c, A64_ORR_R | (bytes == 8 ? A64_WIDE : 0), d, 31, n);
}
void arm64_insert(jit_code *c, u32 d, u32 n, u32 bytes) {
  if (bytes < 4)
    arm64_3(c, bytes == 1 ? 0xb3401c00 : 0xb3403c00, d, n, 0);
  else
    arm64_extend(c, d, n, bytes);
}
/* 16 bits at a time, of what differs from zeros or from ones. */
void arm64_number(jit_code *c, u32 d, u64 number) {
  bool inverted = (i64)number < 0, begun = false;
  u32 plain = inverted ? 0xffff : 0, first = inverted ? 0x92800000 : 0xd2800000;
  for (u32 k = 0; k < 4; k++) {
    u32 part = number >> 16 * k & 0xffff;
    if (part == plain) continue;
    u32 op = begun ? 0xf2800000 | part << 5 : first | (part ^ plain) << 5;
    arm64_word(c, op | k << 21 | d);
    begun = true;
  }
  if (!begun) arm64_word(c, first | d);
}

void arm64_memory(jit_code *c, arm64_move how, u32 reg, u32 base, u64 at, u32 bytes) {
  static const u32 loads[] = {0x39400000, 0x79400000, 0xb9400000, A64_LDR_X};
  bool vector = how == A64_GET_V || how == A64_PUT_V;
  u32 log = (u32)__builtin_ctz(bytes), op = vector ? arm64_load(bytes) : loads[log];
  if (how == A64_PUT) op -= A64_STORE;
  if (how == A64_PUT_V) op = arm64_store(bytes);
  if (at % bytes || at >> log > 0xfff) {
    arm64_number(c, X17, at);
    arm64_imm(c, 0x8b206000u | X17 << 16, X17, base, 0); /* base may be SP */
    base = X17, at = 0;
  }
  arm64_imm(c, op, reg, base, (u32)(at >> log));
}
void arm64_add(jit_code *c, u32 d, u32 n, u64 number) {
  if (number > 0xfff) {
    arm64_number(c, X17, number);
    arm64_imm(c, 0x8b206000u | X17 << 16, d, n, 0);
  } else {
    arm64_imm(c, A64_ADD, d, n, (u32)number);
  }
}

/* 19 bits of words away, as of conditional jumps and what reads the pool; without condition 26 */
void arm64_aim(jit_code *c, u32 at, u32 target) {
  u32 word = word_at(c, at), words = (target - at) >> 2;
  bool always = word == 0x14000000;
  set_word(c, at, word | (always ? words & 0x3ffffff : (words & 0x7ffff) << 5));
}
u32 arm64_jump_always(jit_code *c) {
  arm64_word(c, 0x14000000);
  return (u32)c->bytes.len - 4;
}
u32 arm64_jump_zero(jit_code *c, u32 reg) {
  arm64_word(c, 0x34000000 | reg);
  return (u32)c->bytes.len - 4;
}
u32 arm64_jump(jit_code *c, u32 condition) {
  arm64_word(c, 0x54000000u | condition);
  return (u32)c->bytes.len - 4;
}
void arm64_land(jit_code *c, u32 jump) { arm64_aim(c, jump, (u32)c->bytes.len); }
void arm64_jump_back(jit_code *c, u32 condition, u32 target) {
  arm64_aim(c, arm64_jump(c, condition), target);
}
void arm64_literal(jit_code *c, u32 reg, u32 at) {
  VEC_PUSH(c->a, c->fixups, (u32)c->bytes.len);
  VEC_PUSH(c->a, c->fixups, at);
  arm64_word(c, 0x9c000000u | reg);
}

bool arm64_finish(jit_code *c) {
  enum { REACH = 1 << 20 };
  while (c->bytes.len % 16) arm64_word(c, 0); /* not an instruction */
  u32 pool = (u32)c->bytes.len;
  for (u32 i = 0; i < c->pool.len; i++) arm64_word(c, c->pool.data[i]);
  for (u32 i = 0; i < c->fixups.len; i += 2)
    arm64_aim(c, c->fixups.data[i], pool + 4 * c->fixups.data[i + 1]);
  return c->bytes.len < REACH;
}
