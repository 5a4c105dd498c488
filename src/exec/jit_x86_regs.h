/* Operands of x86-64's instructions: registers, or memory for what is in none. */
#ifndef EXEC_JIT_X86_REGS_H
#define EXEC_JIT_X86_REGS_H

#include "exec/jit_regs.h"
#include "exec/jit_x86.h"

enum {
  REST_K = 7, /* the mask of what is left; with AVX2 it is a vector */
  REST_V = 14
};

static const x86_op move_v = {0, 1, 0, 0x10, X86_ALL, 0, false}; /* vmovups; 0x11 stores */
static const x86_op move_k = {0, 1, 1, 0x90, 0, 0, false};       /* kmovq; 0x91 stores */
static const x86_op mask_of = {3, 1, 1, 0x92, 0, 0, false};  /* of a general register; 0x93 to */
static const x86_op from_gpr = {1, 1, 0, 0x6e, 0, 0, false}; /* vmovd */
static const x86_op spread = {1, 2, 0, 0x58, X86_ALL, 0, false}; /* vpbroadcastd */

static inline x86_op with_opcode(x86_op op, u32 opcode) {
  op.opcode = (u8)opcode;
  return op;
}
static inline bool is_avx2(const emit *e) { return jit_is_for(e->b, JIT_AVX2); }
/* jit_build's. */
static inline u32 narrow_of(const emit *e) { return e->is->lanes * 2 / e->is->bytes; }

/* The encoding of a primitive, and whether AVX2 has one; and an instruction on vectors: X86_ALL is
 * half as long with AVX2. */
x86_op regs_op(const emit *e, u32 prim);
bool regs_has_vex(u32 prim);
void regs_put(emit *e, x86_op op, u32 reg, u32 v, x86_rm rm, i32 imm);

/* Of a vector that is not in a register: what can be read from memory; what is the same for all
 * lanes only by an instruction for lanes of its width. */
bool regs_in_memory(const emit *e, u32 v);
x86_rm regs_operand(emit *e, u32 v, x86_op op);

/* In memory: the first element of a register there, a slot of the frame, words behind the code. */
x86_rm regs_first(emit *e, u32 reg);
x86_rm regs_slot(const emit *e, u32 i);
x86_rm regs_pooled(emit *e, const u32 *words, u32 n);

/* Of code whose vectors are placed: a load's to register d, a store's from one. */
void x86_load_lanes(emit *e, const jit_node *n, u32 d);
void x86_store_lanes(emit *e, const jit_node *n, u32 from);

#endif
