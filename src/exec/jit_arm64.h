/* Instructions of aarch64, words of 32 bits: of vectors (Advanced SIMD) what primitives take, and
 * what loops take of the rest. */
#ifndef EXEC_JIT_ARM64_H
#define EXEC_JIT_ARM64_H

#include "exec/jit_code.h"
#include "exec/jit_ir.h"

/* Registers by what they have: X0 and X1 are the function's arguments, n and the list of registers
 * in memory; X2 the first element's number; X16 and X17 are for the moment. */
enum { X0, X1, X2, X3, X16 = 16, X17 = 17, SP = 31 };

/* Vectors, 16 bytes, in groups as the manual has them: "Arm Architecture Reference Manual",
 * C4.1, Advanced SIMD. size: 0 to 3, elements of 8 to 64 bits; of floats bit 0 is 64 bits. */
#define A64_SAME(u, size, op) (0x4e200400u | (u) << 29 | (size) << 22 | (op) << 11)
#define A64_MISC(u, size, op) (0x4e200800u | (u) << 29 | (size) << 22 | (op) << 12)
#define A64_SHIFT(u, op, bits) (0x4f000400u | (u) << 29 | (u32)(bits) << 16 | (op) << 11)
#define A64_PERMUTE(size, op) (0x4e000800u | (size) << 22 | (op) << 12)
#define A64_LONG(u, op) (0x0ea00000u | (u) << 29 | (op) << 12) /* of the lower two lanes */
#define A64_UPPER (1u << 30)                                   /* of the upper ones */
#define A64_HALF(word) ((word) & ~(1u << 30))                  /* that end or begin in 8 bytes */

enum {
  A64_AND = A64_SAME(0, 0, 3),
  A64_ORR = A64_SAME(0, 2, 3),
  A64_BSL = A64_SAME(1, 1, 3), /* d ? n : m */
  A64_BIT = A64_SAME(1, 2, 3), /* m ? n : d */
  A64_BIF = A64_SAME(1, 3, 3), /* m ? d : n */
  A64_FADD = A64_SAME(0, 0, 26),
  A64_UMULL = A64_LONG(1, 12),
  A64_UZP2 = A64_PERMUTE(2, 5),
  A64_USHR = A64_SHIFT(1, 0, 64), /* less n */
  A64_SLI = A64_SHIFT(1, 10, 32), /* and n */
  A64_DUP_UPPER = 0x4e180400,     /* both halves: the upper one */
  A64_DUP_SECOND = 0x4e0c0400,    /* all lanes: number 1 */
  A64_DUP_GPR = 0x4e040c00,
  A64_ONE32 = 0x4d40c800, /* ld1r, without offset */
};
/* Memory at base + imm, a multiple of the size, which is in the instruction's place for it. */
#define A64_LDR_X 0xf9400000u
#define A64_LDR_Q 0x3dc00000u
#define A64_STR_Q 0x3d800000u
#define A64_STR_S 0xbd000000u
#define A64_STORE (1u << 22) /* what loads have and stores have not, but of 16 bytes bit 23 */
/* Of 64 bits: d = n op imm. */
#define A64_ADD 0x91000000u
#define A64_SUB 0xd1000000u
#define A64_ADDS 0xb1000000u
#define A64_SUBS 0xf1000000u
#define A64_SHIFTED (1u << 22) /* imm << 12 */
/* Of 32 bits, or with A64_WIDE of 64. */
enum {
  A64_ADD_R = 0x0b000000,
  A64_SUB_R = 0x4b000000,
  A64_SUBS_R = 0x6b000000,
  A64_AND_R = 0x0a000000,
  A64_ORR_R = 0x2a000000,
  A64_EOR_R = 0x4a000000,
  A64_MUL = 0x1b007c00,
  A64_CSEL = 0x1a800000,  /* with the condition << 12: n where it holds, else m */
  A64_CSINV = 0x5a800000, /* the same: n, or all bits of m the other way */
  A64_SDIV = 0x1ac00c00,
  A64_UDIV = 0x1ac00800,
  A64_MSUB = 0x1b008000,  /* the register << 10, less n * m */
  A64_CSET = 0x1a9f07e0,  /* with the inverse condition << 12 */
  A64_EOR_1 = 0x52000000, /* with the lowest bit */
  A64_EOR_SIGN = 0x52010000,
  A64_SCVTF = 0x1e220000,   /* to f32, or with A64_DOUBLE to f64 */
  A64_TO_REAL = 0x1e270000, /* the same bits; of 64: with A64_DOUBLE, too */
  A64_OF_REAL = 0x1e260000,
};
#define A64_WIDE (1u << 31)
#define A64_SXTW 0x93407c00u
#define A64_FLOOR_0 0x8aa0fc00u /* of 64 bits: n where it is not negative, else 0; m is n */
#define A64_MADD 0x9b000000u    /* of 64 bits: n * m + the register << 10 */
/* One f32, or with A64_DOUBLE f64. */
enum {
  A64_FADD_1 = 0x1e202800,
  A64_FMAX_1 = 0x1e204800,
  A64_FMIN_1 = 0x1e205800,
  A64_FSUB_1 = 0x1e203800,
  A64_FMUL_1 = 0x1e200800,
  A64_FDIV_1 = 0x1e201800,
  A64_FMADD_1 = 0x1f000000, /* n * m + the register << 10 */
  A64_FABS_1 = 0x1e20c000,
  A64_FSQRT_1 = 0x1e21c000,
  A64_FCMP_1 = 0x1e202000,
  A64_FMOV_1 = 0x1e204000,
  A64_DOUBLE = 1 << 22,
};
#define A64_BR 0xd61f0000u
#define A64_BLR 0xd63f0000u
#define A64_RET 0xd65f03c0u
#define A64_NOP 0xd503201fu

/* By primitive: an instruction, 0 where there is none, and up to two more on its result. */
typedef struct arm64_row {
  u32 op, then[2];
  bool swaps; /* the operands */
} arm64_row;
arm64_row arm64_row_of(u32 prim, u32 imm);
/* A vector register's load of so many bytes, 1 to 16, and its store. */
u32 arm64_load(u32 bytes);
u32 arm64_store(u32 bytes);
/* One instruction that fills lanes with a number; 0: there is none. */
u32 arm64_immediate(u32 bits);

void arm64_word(jit_code *c, u32 word);
static inline void arm64_3(jit_code *c, u32 op, u32 d, u32 n, u32 m) {
  arm64_word(c, op | m << 16 | n << 5 | d);
}
/* reg, base and what is between them: memory, or d = n op imm */
static inline void arm64_imm(jit_code *c, u32 op, u32 reg, u32 base, u32 imm) {
  arm64_word(c, op | imm << 10 | base << 5 | reg);
}
/* Between registers of up to 8 bytes: with zeros above, or the lower bytes alone. */
void arm64_extend(jit_code *c, u32 d, u32 n, u32 bytes);
void arm64_insert(jit_code *c, u32 d, u32 n, u32 bytes);
void arm64_number(jit_code *c, u32 d, u64 number);
/* Loads and stores of general registers, with zeros above, and of vectors: anywhere from base on;
 * X17 may be lost. */
typedef enum arm64_move { A64_GET, A64_PUT, A64_GET_V, A64_PUT_V } arm64_move;
void arm64_memory(jit_code *c, arm64_move how, u32 reg, u32 base, u64 at, u32 bytes);
/* d = n + number */
void arm64_add(jit_code *c, u32 d, u32 n, u64 number);
void arm64_add_scaled(jit_code *c, u32 d, u32 n, u32 m, u32 shift); /* n + m << shift; n not SP */

enum { A64_EQ, A64_NE, A64_HS, A64_LO, A64_MI, A64_PL };
enum { A64_HI = 8, A64_LS, A64_GE, A64_LT, A64_GT, A64_LE };
/* A jump back to `target`; or one forward, landed by arm64_land with what it returns. */
void arm64_jump_back(jit_code *c, u32 condition, u32 target);
u32 arm64_jump(jit_code *c, u32 condition);
void arm64_land(jit_code *c, u32 jump);
/* The same without a condition, or where the lower 32 bits of a register are 0. */
u32 arm64_jump_always(jit_code *c);
u32 arm64_jump_zero(jit_code *c, u32 reg);
void arm64_aim(jit_code *c, u32 jump, u32 target);
/* Loads 16 bytes that are in the pool from word number `at` on. */
void arm64_literal(jit_code *c, u32 reg, u32 at);
/* Lays the pool behind the code and lets what reads it find it. False: too far away. */
bool arm64_finish(jit_code *c) MUST_USE;

#endif
