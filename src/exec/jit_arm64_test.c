/* The words of every primitive's instructions on aarch64, and of what loops take besides, as a
 * disassembler reads them (objdump, of binutils for aarch64). */
#include "exec/jit_arm64.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/unit.h"

#if !defined(__aarch64__) /* other processors' builds are without it */
#include "exec/jit_arm64.c"
#endif

/* imm; which of the row's instructions; its text, where d, n and m stand for vectors. */
typedef struct wanted {
  jit_prim prim;
  u32 imm, part;
  const char *text;
} wanted;
#define SAME_4S(name) name " d.4s, n.4s, m.4s"
#define SAME_2D(name) name " d.2d, n.2d, m.2d"
#define SAME_16B(name) name " d.16b, n.16b, m.16b"
#define UNARY_4S(name) name " d.4s, n.4s"
#define UNARY_2D(name) name " d.2d, n.2d"
static const wanted wants[] = {
    {JP_load16, 0, 0, "uxtl d.4s, n.4h"},
    {JP_load16s, 0, 0, "sxtl d.4s, n.4h"},
    {JP_load8, 0, 0, "uxtl d.8h, n.8b"},
    {JP_load8, 0, 1, "uxtl d.4s, n.4h"},
    {JP_load8s, 0, 0, "sxtl d.8h, n.8b"},
    {JP_load8s, 0, 1, "sxtl d.4s, n.4h"},
    {JP_load_words, 0, 0, "shll d.4s, n.4h, #16"},
    {JP_load_half, 0, 0, "fcvtl d.4s, n.4h"},
    {JP_store16, 0, 0, "xtn d.4h, n.4s"},
    {JP_store8, 0, 0, "xtn d.4h, n.4s"},
    {JP_store8, 0, 1, "xtn d.8b, n.8h"},
    {JP_storek, 0, 0, "ushr d.4s, n.4s, #31"},
    {JP_storek, 0, 1, "xtn d.4h, n.4s"},
    {JP_storek, 0, 2, "xtn d.8b, n.8h"},
    {JP_sumps, 0, 0, SAME_4S("fadd")},
    {JP_addps, 0, 0, SAME_4S("fadd")},
    {JP_mulps, 0, 0, SAME_4S("fmul")},
    {JP_subps, 0, 0, SAME_4S("fsub")},
    {JP_divps, 0, 0, SAME_4S("fdiv")},
    {JP_fminps, 0, 0, SAME_4S("fmin")},
    {JP_fmaxps, 0, 0, SAME_4S("fmax")},
    {JP_sqrtps, 0, 0, UNARY_4S("fsqrt")},
    {JP_rndscaleps, 10, 0, UNARY_4S("frintp")},
    {JP_rndscaleps, 8, 0, UNARY_4S("frintn")},
    {JP_rndscaleps, 9, 0, UNARY_4S("frintm")},
    {JP_rndscaleps, 11, 0, UNARY_4S("frintz")},
    {JP_fmaddps, 0, 0, SAME_4S("fmla")},
    {JP_fnmaddps, 0, 0, SAME_4S("fmls")},
    {JP_cmpps, 0, 0, SAME_4S("fcmeq")},
    {JP_cmpps, 1, 0, SAME_4S("fcmgt")},
    {JP_cmpps, 2, 0, SAME_4S("fcmge")},
    {JP_cmpps, 13, 0, SAME_4S("fcmge")},
    {JP_cmpps, 14, 0, SAME_4S("fcmgt")},
    {JP_cvtdq2ps, 0, 0, UNARY_4S("scvtf")},
    {JP_cvtudq2ps, 0, 0, UNARY_4S("ucvtf")},
    {JP_cvttps2dq, 0, 0, UNARY_4S("fcvtzs")},
    {JP_cvttps2udq, 0, 0, UNARY_4S("fcvtzu")},
    {JP_cvtph2ps, 0, 0, "fcvtl d.4s, n.4h"},
    {JP_cvtps2ph, 0, 0, "fcvtn d.4h, n.4s"},
    {JP_paddd, 0, 0, SAME_4S("add")},
    {JP_psubd, 0, 0, SAME_4S("sub")},
    {JP_pmulld, 0, 0, SAME_4S("mul")},
    {JP_mulhsd, 0, 0, "smull d.2d, n.2s, m.2s"},
    {JP_mulhud, 0, 0, "umull d.2d, n.2s, m.2s"},
    {JP_pandd, 0, 0, SAME_16B("and")},
    {JP_pord, 0, 0, SAME_16B("orr")},
    {JP_pandnd, 0, 0, SAME_16B("bic")},
    {JP_pxord, 0, 0, SAME_16B("eor")},
    {JP_pminsd, 0, 0, SAME_4S("smin")},
    {JP_pmaxsd, 0, 0, SAME_4S("smax")},
    {JP_pminud, 0, 0, SAME_4S("umin")},
    {JP_pmaxud, 0, 0, SAME_4S("umax")},
    {JP_psllvd, 0, 0, SAME_4S("ushl")},
    {JP_psrlvd, 0, 0, SAME_4S("ushl")},
    {JP_psravd, 0, 0, SAME_4S("sshl")},
    {JP_pslld, 0, 0, "shl d.4s, n.4s, #0"},
    {JP_pslld, 31, 0, "shl d.4s, n.4s, #31"},
    {JP_psrld, 1, 0, "ushr d.4s, n.4s, #1"},
    {JP_psrld, 31, 0, "ushr d.4s, n.4s, #31"},
    {JP_psrad, 1, 0, "sshr d.4s, n.4s, #1"},
    {JP_psrad, 31, 0, "sshr d.4s, n.4s, #31"},
    {JP_psllq, 52, 0, "shl d.2d, n.2d, #52"},
    {JP_pabsd, 0, 0, UNARY_4S("abs")},
    {JP_plzcntd, 0, 0, UNARY_4S("clz")},
    {JP_pmovzxwd, 0, 0, "uxtl d.4s, n.4h"},
    {JP_pmovdw, 0, 0, "xtn d.4h, n.4s"},
    {JP_cvtdq2pd, 0, 0, "sxtl d.2d, n.2s"},
    {JP_cvtdq2pd, 0, 1, UNARY_2D("scvtf")},
    {JP_cvtudq2pd, 0, 0, "uxtl d.2d, n.2s"},
    {JP_cvtudq2pd, 0, 1, UNARY_2D("ucvtf")},
    {JP_cvttpd2dq, 0, 0, UNARY_2D("fcvtzs")},
    {JP_cvttpd2dq, 0, 1, "xtn d.2s, n.2d"},
    {JP_cvttpd2udq, 0, 0, UNARY_2D("fcvtzu")},
    {JP_cvttpd2udq, 0, 1, "xtn d.2s, n.2d"},
    {JP_divpd, 0, 0, SAME_2D("fdiv")},
    {JP_cvtps2pd, 0, 0, "fcvtl d.2d, n.2s"},
    {JP_cvtpd2ps, 0, 0, "fcvtn d.2s, n.2d"},
    {JP_addpd, 0, 0, SAME_2D("fadd")},
    {JP_subpd, 0, 0, SAME_2D("fsub")},
    {JP_mulpd, 0, 0, SAME_2D("fmul")},
    {JP_minpd, 0, 0, SAME_2D("fminnm")},
    {JP_maxpd, 0, 0, SAME_2D("fmaxnm")},
    {JP_fmaddpd, 0, 0, SAME_2D("fmla")},
    {JP_paddq, 0, 0, SAME_2D("add")},
    {JP_extracti64x4, 1, 0, "dup d.2d, n.d[1]"},
    {JP_inserti64x4, 1, 0, SAME_2D("zip1")},
    {JP_pcmpd, 0, 0, SAME_4S("cmeq")},
    {JP_pcmpd, 1, 0, SAME_4S("cmgt")},
    {JP_pcmpd, 2, 0, SAME_4S("cmge")},
    {JP_pcmpd, 5, 0, SAME_4S("cmge")},
    {JP_pcmpd, 6, 0, SAME_4S("cmgt")},
    {JP_pcmpud, 0, 0, SAME_4S("cmeq")},
    {JP_pcmpud, 1, 0, SAME_4S("cmhi")},
    {JP_pcmpud, 2, 0, SAME_4S("cmhs")},
    {JP_pcmpud, 5, 0, SAME_4S("cmhs")},
    {JP_pcmpud, 6, 0, SAME_4S("cmhi")},
    {JP_ptestmd, 0, 0, SAME_4S("cmtst")},
    {JP_pblendmd, 0, 0, SAME_16B("bsl")},
    {JP_kandq, 0, 0, SAME_16B("and")},
    {JP_kandnq, 0, 0, SAME_16B("bic")},
    {JP_korq, 0, 0, SAME_16B("orr")},
    {JP_kxorq, 0, 0, SAME_16B("eor")},
    {JP_knotq, 0, 0, "mvn d.16b, n.16b"},
};

typedef struct line {
  char text[96];
} line;
typedef struct lines {
  jit_code c;
  VEC(line) want;
} lines;

static void add_text(lines *l, const char *text) {
  line t;
  snprintf(t.text, sizeof t.text, "%s", text);
  VEC_PUSH(l->c.a, l->want, t);
}
/* A word and its text. */
static void add_word(lines *l, u32 word, const char *text) {
  arm64_word(&l->c, word);
  add_text(l, text);
}
/* d, n and m before a point are vectors. */
static void add_vectors(lines *l, u32 op, const char *text, u32 d, u32 n, u32 m) {
  char out[96];
  size_t at = 0;
  for (const char *p = text; *p && at + 4 < sizeof out; p++) {
    u32 reg = *p == 'd' ? d : *p == 'n' ? n : m;
    if (p[1] == '.' && p > text && p[-1] == ' ' && strchr("dnm", *p))
      at += (size_t)snprintf(out + at, sizeof out - at, "v%u", reg);
    else
      out[at++] = *p;
  }
  out[at] = 0;
  arm64_3(&l->c, op, d, n, strstr(text, ", m.") ? m : 0);
  add_text(l, out);
}

static void add_primitives(lines *l) {
  static const u8 numbers[] = {0, 1, 5, 8, 15, 16, 30, 31};
  bool seen[JP_COUNT_] = {[JP_prold] = true}; /* of two: below */
  for (u32 i = 0; i < COUNT(wants); i++) {
    const wanted *w = &wants[i];
    arm64_row r = arm64_row_of(w->prim, w->imm);
    bool has_swaps = w->prim == JP_pandnd || w->prim == JP_kandnq;
    bool compares = jit_prim_infos[w->prim].shape == JIT_CMP;
    CHECK(r.swaps == (has_swaps || (compares && (w->imm == 1 || w->imm == 2))));
    seen[w->prim] = true;
    for (u32 k = 0; k < COUNT(numbers); k++)
      add_vectors(l, w->part ? r.then[w->part - 1] : r.op, w->text, numbers[k],
                  numbers[(k + i) % COUNT(numbers)], numbers[(k + i + 1) % COUNT(numbers)]);
  }
  for (u32 p = 0; p < JP_COUNT_; p++) {
    if (arm64_row_of(p, 1).op && !seen[p]) fprintf(stderr, "primitive %u\n", p);
    CHECK(!arm64_row_of(p, 1).op == !seen[p]);
  }
}

/* Shifts of both ways that are a rotation, and others of an emitter's own. */
static void add_others(lines *l) {
  add_word(l, A64_ORR | 4 << 16 | 4 << 5 | 3, "mov v3.16b, v4.16b");
  add_vectors(l, A64_BIT, SAME_16B("bit"), 1, 17, 31);
  add_vectors(l, A64_BIF, SAME_16B("bif"), 1, 17, 31);
  add_vectors(l, A64_UMULL | A64_UPPER, "umull2 d.2d, n.4s, m.4s", 1, 17, 31);
  add_vectors(l, A64_UZP2, SAME_4S("uzp2"), 1, 17, 31);
  add_vectors(l, A64_USHR - (13 << 16), "ushr d.4s, n.4s, #13", 1, 17, 0);
  add_vectors(l, A64_SLI + (19 << 16), "sli d.4s, n.4s, #19", 1, 17, 0);
  add_vectors(l, A64_DUP_SECOND, "dup d.4s, n.s[1]", 1, 17, 0);
  add_word(l, A64_DUP_GPR | X17 << 5 | 9, "dup v9.4s, w17");
  add_word(l, A64_ONE32 | 5 << 5 | 9, "ld1r {v9.4s}, [x5]");
  add_word(l, arm64_immediate(0) | 7, "movi v7.4s, #0x0");
  add_word(l, arm64_immediate(0x80000000) | 7, "movi v7.4s, #0x80, lsl #24");
  add_word(l, arm64_immediate(0x7f00) | 7, "movi v7.4s, #0x7f, lsl #8");
  add_word(l, arm64_immediate(0x7fffffff) | 7, "mvni v7.4s, #0x80, lsl #24");
  add_word(l, arm64_immediate(UINT32_MAX) | 7, "mvni v7.4s, #0x0");
  add_word(l, arm64_immediate(0x3f800000) | 7, "fmov v7.4s, #1.000000000000000000e+00");
  add_word(l, arm64_immediate(0xbf400000) | 7, "fmov v7.4s, #-7.500000000000000000e-01");
  add_word(l, arm64_immediate(0x41f80000) | 7, "fmov v7.4s, #3.100000000000000000e+01");
  CHECK(!arm64_immediate(0x12345678) && !arm64_immediate(0x3f810000));
  CHECK(!arm64_immediate(0x42800000 | 1 << 18));
}

static void add_memory(lines *l) {
  static const char letters[] = "bhsdq";
  jit_code *c = &l->c;
  for (u32 k = 0; k < 5; k++) {
    char text[2][96];
    snprintf(text[0], sizeof text[0], "ldr %c21, [x13, #%u]", letters[k], 7u << k);
    snprintf(text[1], sizeof text[1], "str %c21, [x13, #%u]", letters[k], 7u << k);
    arm64_imm(c, arm64_load(1u << k), 21, 13, 7);
    add_text(l, text[0]);
    arm64_imm(c, arm64_store(1u << k), 21, 13, 7);
    add_text(l, text[1]);
  }
  arm64_imm(c, A64_LDR_X, X16, X1, 4095);
  add_text(l, "ldr x16, [x1, #32760]");
  arm64_imm(c, A64_STR_Q, 3, SP, 511);
  add_text(l, "str q3, [sp, #8176]");
  arm64_imm(c, A64_SUBS, X0, X0, 32);
  add_text(l, "subs x0, x0, #0x20");
  arm64_imm(c, A64_ADDS, X0, X0, 32);
  add_text(l, "adds x0, x0, #0x20");
  arm64_imm(c, A64_SUB, SP, SP, 4080);
  add_text(l, "sub sp, sp, #0xff0");
  arm64_imm(c, A64_ADD | A64_SHIFTED, SP, SP, 2);
  add_text(l, "add sp, sp, #0x2, lsl #12");
  arm64_add_scaled(c, X16, X3, X2, 2);
  add_text(l, "add x16, x3, x2, lsl #2");
  add_word(l, A64_RET, "ret");
  add_word(l, A64_NOP, "nop");
}

/* What code over single elements takes besides. */
typedef struct scalar {
  u32 op;
  const char *text;
} scalar;
static const scalar words[] = {
    {A64_ADD_R, "add w1, w2, w3"},
    {A64_ADD_R | A64_WIDE, "add x1, x2, x3"},
    {A64_SUB_R, "sub w1, w2, w3"},
    {A64_SUB_R | A64_WIDE, "sub x1, x2, x3"},
    {A64_SUBS_R, "subs w1, w2, w3"},
    {A64_SUBS_R | A64_WIDE, "subs x1, x2, x3"},
    {A64_AND_R, "and w1, w2, w3"},
    {A64_ORR_R | A64_WIDE, "orr x1, x2, x3"},
    {A64_EOR_R, "eor w1, w2, w3"},
    {A64_MUL, "mul w1, w2, w3"},
    {A64_MUL | A64_WIDE, "mul x1, x2, x3"},
    {A64_MADD | 9 << 10, "madd x1, x2, x3, x9"},
    {A64_CSEL | A64_GT << 12, "csel w1, w2, w3, gt"},
    {A64_CSEL | A64_WIDE | A64_LO << 12, "csel x1, x2, x3, cc"},
    {A64_FADD_1, "fadd s1, s2, s3"},
    {A64_FADD_1 | A64_DOUBLE, "fadd d1, d2, d3"},
    {A64_FMAX_1, "fmax s1, s2, s3"},
    {A64_FMIN_1 | A64_DOUBLE, "fmin d1, d2, d3"},
    {A64_FSUB_1, "fsub s1, s2, s3"},
    {A64_FMUL_1, "fmul s1, s2, s3"},
    {A64_FDIV_1 | A64_DOUBLE, "fdiv d1, d2, d3"},
};
static const scalar unary[] = {
    {A64_CSET | A64_LO << 12, "cset w1, cs"},
    {A64_EOR_1, "eor w1, w2, #0x1"},
    {A64_EOR_SIGN, "eor w1, w2, #0x80000000"},
    {A64_EOR_SIGN | A64_WIDE | 1 << 22, "eor x1, x2, #0x8000000000000000"},
    {A64_SCVTF, "scvtf s1, w2"},
    {A64_SCVTF | A64_WIDE, "scvtf s1, x2"},
    {A64_SCVTF | A64_WIDE | A64_DOUBLE, "scvtf d1, x2"},
    {A64_SCVTF | A64_DOUBLE, "scvtf d1, w2"},
    {A64_TO_REAL, "fmov s1, w2"},
    {A64_TO_REAL | A64_WIDE | A64_DOUBLE, "fmov d1, x2"},
    {A64_OF_REAL, "fmov w1, s2"},
    {A64_OF_REAL | A64_WIDE | A64_DOUBLE, "fmov x1, d2"},
    {A64_FMOV_1, "fmov s1, s2"},
    {A64_FMOV_1 | A64_DOUBLE, "fmov d1, d2"},
    {A64_SXTW, "sxtw x1, w2"},
};
static void add_scalars(lines *l) {
  jit_code *c = &l->c;
  for (u32 i = 0; i < COUNT(words); i++) {
    arm64_3(c, words[i].op, 1, 2, 3);
    add_text(l, words[i].text);
  }
  for (u32 i = 0; i < COUNT(unary); i++) {
    arm64_3(c, unary[i].op, 1, (unary[i].op & ~0xf000u) == (A64_CSET & ~0xf000u) ? 0 : 2, 0);
    add_text(l, unary[i].text);
  }
  arm64_3(c, A64_FCMP_1 | A64_DOUBLE, 0, 2, 3);
  add_text(l, "fcmp d2, d3");
  arm64_3(c, A64_FLOOR_0, 1, 2, 2);
  add_text(l, "bic x1, x2, x2, asr #63");
  arm64_3(c, A64_BR, 0, 3, 0);
  add_text(l, "br x3");
  arm64_3(c, A64_BLR, 0, 17, 0);
  add_text(l, "blr x17");
  static const char *const moves[] = {
      "uxtb w1, w2",          "uxth w1, w2",           "mov w1, w2", "mov x1, x2",
      "bfxil x1, x2, #0, #8", "bfxil x1, x2, #0, #16", "mov w1, w2"};
  for (u32 i = 0; i < 4; i++) arm64_extend(c, 1, 2, 1u << i);
  for (u32 i = 0; i < 3; i++) arm64_insert(c, 1, 2, 1u << i);
  for (u32 i = 0; i < COUNT(moves); i++) add_text(l, moves[i]);
}

static void add_numbers(lines *l) {
  static const char *const texts[] = {
      "mov x9, #0x0",
      "mov x9, #0x1000",
      "mov x9, #0xffffffffffffffff",
      "mov x9, #0xfffffffffffffffe",
      "mov x9, #0x10000",
      "mov x9, #0x5678",
      "movk x9, #0x1234, lsl #16",
      "mov x9, #0x1234000000000000",
      "mov x9, #0x3",
      "movk x9, #0x1, lsl #48",
      "mov x9, #0xffffffffffff5678",
      "movk x9, #0x1234, lsl #16",
      "mov x17, #0x1004",
      "add x17, sp, x17",
      "ldr x5, [x17]",
      "strb w5, [sp, #4095]",
      "mov x17, #0x3",
      "add x17, x2, x17, uxtx",
      "ldr d5, [x17]",
      "str q5, [x2, #32]",
      "add x1, sp, #0xfff",
      "mov x17, #0x1000",
      "add sp, sp, x17",
  };
  static const u64 numbers[] = {0,
                                4096,
                                UINT64_MAX,
                                UINT64_MAX - 1,
                                65536,
                                0x12345678,
                                0x1234ull << 48,
                                3 | 1ull << 48,
                                0xffffffff12345678};
  jit_code *c = &l->c;
  for (u32 i = 0; i < COUNT(numbers); i++) arm64_number(c, 9, numbers[i]);
  arm64_memory(c, A64_GET, 5, SP, 4100, 8);
  arm64_memory(c, A64_PUT, 5, SP, 4095, 1);
  arm64_memory(c, A64_GET_V, 5, X2, 3, 8);
  arm64_memory(c, A64_PUT_V, 5, X2, 32, 16);
  arm64_add(c, X1, SP, 4095);
  arm64_add(c, SP, SP, 4096);
  for (u32 i = 0; i < COUNT(texts); i++) add_text(l, texts[i]);
}

/* Jumps over a word, and what reads the pool: second of two entries. */
static void add_jumps(lines *l) {
  jit_code *c = &l->c;
  u32 top = (u32)c->bytes.len, jump = arm64_jump(c, A64_LO);
  char text[96];
  arm64_word(c, A64_NOP);
  arm64_land(c, jump);
  snprintf(text, sizeof text, "b.cc 0x%x", top + 8);
  add_text(l, text);
  add_text(l, "nop");
  u32 always = arm64_jump_always(c), zero = arm64_jump_zero(c, 7);
  arm64_aim(c, always, top);
  arm64_land(c, zero);
  snprintf(text, sizeof text, "b 0x%x", top);
  add_text(l, text);
  snprintf(text, sizeof text, "cbz w7, 0x%x", top + 16);
  add_text(l, text);
  arm64_jump_back(c, A64_HS, top);
  snprintf(text, sizeof text, "b.cs 0x%x", top);
  add_text(l, text);
  arm64_literal(c, 23, 4);
  for (u32 i = 0; i < 8; i++) VEC_PUSH(c->a, c->pool, A64_NOP);
  CHECK(arm64_finish(c));
  snprintf(text, sizeof text, "ldr q23, 0x%x", (u32)c->bytes.len - 16);
  add_text(l, text);
}

/* The disassembler's lines in order, with one space and without comments. */
static int compare_lines(FILE *f, const lines *l) {
  char in[512];
  size_t at = 0;
  int bad = 0;
  while (at < l->want.len && fgets(in, sizeof in, f)) {
    char *text = strchr(in, ':'), out[256];
    if (in[0] != ' ' || !text) continue;
    size_t n = 0;
    for (text += 1 + strspn(text + 1, "\t "); *text && *text != '\n' && n + 1 < sizeof out;
         text++) {
      if (text[0] == '/' && text[1] == '/') break;
      char ch = *text == '\t' ? ' ' : *text;
      if (ch != ' ' || (n && out[n - 1] != ' ')) out[n++] = ch;
    }
    while (n && out[n - 1] == ' ') n--;
    out[n] = 0;
    const char *want = l->want.data[at++].text;
    if (strcmp(out, want) != 0 && bad++ < 5) fprintf(stderr, "%s: want %s\n", out, want);
  }
  return bad + (at != l->want.len);
}

static const char *find_objdump(void) {
  static const char *const names[] = {"aarch64-linux-gnu-objdump", "objdump"};
  for (u32 i = 0; i < COUNT(names); i++) {
    char command[160];
    snprintf(command, sizeof command, "%s --info 2>/dev/null | grep -q aarch64", names[i]);
    if (system(command) == 0) return names[i];
  }
  return NULL;
}

int main(void) {
  oom_trap trap;
  arena a;
  const char *objdump = find_objdump();
  if (setjmp(trap.at)) return 1;
  if (!objdump) {
    printf("there is no objdump for aarch64\n0 passed, 0 failed, 1 skipped\n");
    return 0;
  }
  arena_init(&a, &mem_system, &trap);
  lines l = {.c.a = &a};
  add_primitives(&l);
  add_others(&l);
  add_memory(&l);
  add_scalars(&l);
  add_numbers(&l);
  add_jumps(&l);
  char path[] = "/tmp/jit_arm64_XXXXXX", command[160];
  int fd = mkstemp(path);
  CHECK(fd >= 0 && write(fd, l.c.bytes.data, l.c.bytes.len) == (ssize_t)l.c.bytes.len);
  close(fd);
  snprintf(command, sizeof command, "%s -D -b binary -m aarch64 --no-show-raw-insn %s", objdump,
           path);
  FILE *f = popen(command, "r");
  CHECK(f && compare_lines(f, &l) == 0);
  if (f) pclose(f);
  unlink(path);
  printf("%zu instructions\n", l.want.len);
  arena_deinit(&a);
  return UNIT_END();
}
