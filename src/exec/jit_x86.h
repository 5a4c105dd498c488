/* Bytes of x86-64 instructions: EVEX for vectors, VEX for masks, what loops take of the rest. */
#ifndef EXEC_JIT_X86_H
#define EXEC_JIT_X86_H

#include "exec/jit_code.h"
#include "exec/jit_ir.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15, GPR_NONE };
enum { X86_ALL = 2 }; /* x86_op.length: 512 bits; 1: 256, 0: 128 or one element */

/* A register, or memory: of the pool, or at base + index << scale + disp. */
typedef struct x86_rm {
  bool memory, broadcast, pooled;
  u8 reg, base, index, scale;
  i32 disp; /* pooled: the constant's number */
} x86_rm;

typedef struct x86_op {
  u8 prefix, map, w, opcode, length, mask;
  bool zero; /* lanes that are masked out */
} x86_op;

static inline x86_rm x86_reg(u32 reg) { return (x86_rm){.reg = (u8)reg}; }
static inline x86_rm x86_mem(u32 base, i32 disp) {
  return (x86_rm){.memory = true, .base = (u8)base, .index = GPR_NONE, .disp = disp};
}

void x86_byte(jit_code *c, u32 byte);
void x86_u32(jit_code *c, u32 value);
/* reg and v name registers of whatever kind; imm: a byte behind, or -1. */
void x86_evex(jit_code *c, x86_op op, u32 reg, u32 v, x86_rm rm, i32 imm);
void x86_vex(jit_code *c, x86_op op, u32 reg, u32 v, x86_rm rm, i32 imm);
/* One or, below 256, two bytes of opcode: 0x8b, or 0x0fb6; prefix: 1 is 66, 2 is F3. */
void x86_plain(jit_code *c, u32 prefix, u32 w, u32 opcode, u32 reg, x86_rm rm);

/* The same of two registers, without a prefix. */
void x86_pair(jit_code *c, u32 w, u32 opcode, u32 reg, u32 other);

/* Of 64 bits, with an operation as in 0x83's extension: 0 add, 5 sub, 7 cmp, 4 and. */
void x86_arith(jit_code *c, u32 extension, u32 reg, i32 imm);
/* The same of 32 bits, too, and short where the number is. */
void x86_immediate(jit_code *c, u32 extension, bool wide, u32 reg, i32 imm);
void x86_shift(jit_code *c, u32 extension, bool wide, u32 reg, u32 by); /* 4 left, 5, 7 signed */
void x86_number(jit_code *c, u32 reg, u64 bits);
void x86_move(jit_code *c, u32 to, u32 from);
enum { X86_BELOW = 2, X86_NOT_BELOW = 3, X86_EQUAL = 4, X86_ABOVE = 7, X86_NOT_NEGATIVE = 9 };
/* A jump back to `target`; or one forward, landed by x86_land with what it returns. */
void x86_jump_back(jit_code *c, u32 condition, u32 target);
u32 x86_jump(jit_code *c, u32 condition);
u32 x86_jump_on(jit_code *c); /* the same, whatever the flags */
void x86_land(jit_code *c, u32 jump);
void x86_aim(jit_code *c, u32 jump, u32 target); /* the same, to any place */
/* Lays the pool behind the code and lets what reads it find it; true. */
bool x86_finish(jit_code *c);

/* Code of a lowered build of one element between other code, behind c, without a frame. What would
 * be registers in memory are vectors; it writes to others that are not `kept`, bits, but with
 * AVX-512 only from FIRST_BETWEEN on; general registers it leaves alone. False: too large; c is as
 * it was. */
enum { FIRST_BETWEEN = 15 };
bool jit_emit_between(const jit_build *b, const u8 *regs, u32 num, u32 kept, jit_code *c);

#endif
