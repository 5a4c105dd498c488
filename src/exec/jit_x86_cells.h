/* Cells (jit_cells.h) on x86-64: what moves them between registers, their places in the frame and
 * memory. */
#ifndef EXEC_JIT_X86_CELLS_H
#define EXEC_JIT_X86_CELLS_H

#include "exec/jit_cells.h"
#include "exec/jit_x86.h"

static const x86_op x86_from_gpr = {1, 1, 0, 0x6e, 0, 0, false},
                    x86_to_gpr = {1, 1, 0, 0x7e, 0, 0, false};
static const x86_op x86_move_real = {0, 1, 0, 0x28, 0, 0, false};
static const x86_op x86_move_16 = {0, 1, 0, 0x10, 0, 0, false}; /* 0x11 stores */

static inline x86_rm x86_home(const writer *w, const cell *c) {
  return x86_mem(RSP, (i32)((size_t)(c - w->cells.data) * HOME));
}
static inline x86_rm x86_kept(const writer *w, u32 which) {
  return x86_mem(RSP, (i32)(w->cells.len * HOME + which * 8));
}
/* Registers of steps that are called directly are behind what is kept. */
static inline x86_rm x86_direct(const writer *w, u32 at) { return x86_kept(w, KEPT + at); }
static inline x86_op x86_with(x86_op op, u32 width, u32 opcode) {
  op.w = width == 8;
  op.opcode = (u8)opcode;
  return op;
}
/* Of 4 or 8 bytes: movss, movsd and what has their prefixes. */
static inline x86_op x86_of_float(u32 width, u32 opcode) {
  return (x86_op){width == 8 ? 3 : 2, 1, 0, (u8)opcode, 0, 0, false};
}

void x86_load(writer *w, u32 reg, x86_rm m, u32 width);
void x86_store(writer *w, u32 reg, x86_rm m, u32 width);
/* The cell, of up to 8 bytes, to a register with zeros above, and back. */
void x86_load_cell(writer *w, u32 reg, const cell *c, u32 width);
void x86_store_cell(writer *w, const cell *c, u32 reg, u32 width);
/* A vector register that has it: the cell's own, or `to`. */
u32 x86_load_float(writer *w, u32 to, const cell *c, u32 width);
void x86_store_float(writer *w, const cell *c, u32 from, u32 width);
/* Between a register and its place in the frame. */
void x86_spill(writer *w, const cell *c, bool back);
/* Of a slot's cell, between it and memory; RDX has the slots. */
void x86_fetch(writer *w, const cell *k);
void x86_put_back(writer *w, const cell *k);

/* Flags: whether a pred is true, not equal. */
void x86_test_cell(writer *w, const cell *c);

/* Dynamic steps (jit_x86_parts.c). */
bool x86_has_part(const writer *w, const part *x);
void x86_write_part(writer *w, const part *x);
void x86_write_fixes(writer *w); /* of indices, behind all other code */
/* Bytes that lie together; the last ones may be moved twice. How many are moved without a call. */
void x86_move_bytes(writer *w, x86_rm to, x86_rm from, u64 n);
void x86_end_moves(writer *w, u64 run);
bool x86_is_moved(u64 runs, u64 run);

void x86_write_division(writer *w, const scalar_op *o); /* jit_x86_divide.c */
/* Operations on floats (jit_x86_reals.c); false: not known. */
bool x86_write_floats(writer *w, const scalar_op *o); /* of two */
/* Flags as of unsigned integers; of == and != the answer is what is not equal to zero. */
void x86_compare_floats(writer *w, const scalar_op *o);
/* Of two floats, by such a comparison, which is done here. */
bool x86_write_choice(writer *w, const scalar_op *o, const scalar_op *asked);
bool x86_write_fma(writer *w, const scalar_op *o);
bool x86_write_root(writer *w, const scalar_op *o);
bool x86_write_signed(writer *w, const scalar_op *o); /* the sign turned or taken off */

/* A call of a kernel as code between what stands around it. False: it is not known. out_far: jumps
 * from the numbers that the kernel has to see to, behind the code, by operand, or 0. */
bool x86_write_between(writer *w, const scalar_op *o, u32 *out_far);

#endif
