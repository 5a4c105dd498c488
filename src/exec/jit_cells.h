/* Code over single elements (jit_scalars.c): what it keeps where. */
#ifndef EXEC_JIT_CELLS_H
#define EXEC_JIT_CELLS_H

#include "exec/jit_x86.h"
#include "exec/scalar_code.h"

enum { MAX_CELLS = 400, MAX_DIRECT = 1000, HOME = 16, NO_REG = 0xff };
/* RAX, RCX and RDX, and vectors 0 and 1, are for the moment; R15 has what is left of the place's
 * time. */
static const u8 cell_gprs[] = {RBX, RBP, R12, R13, R14, RSI, RDI, R8, R9, R10, R11};
enum { FIRST_CLOBBERED = 5, FIRST_XMM = 2, END_XMM = 16, LEFT = R15 };

/* An element of a slot, a constant or a temporary. */
typedef struct cell {
  const void *fixed;
  u32 slot; /* PROG_NONE: a temporary or a constant */
  size_t at;
  u64 memory, address; /* of a slot's: equal memory and address are one cell */
  u32 widths;          /* bits: bytes of accesses */
  u32 width;           /* the most */
  u32 uses, floats, integers;
  bool called, written; /* a kernel takes it; it is to go back to memory */
  u8 gpr, xmm;
} cell;

/* An element at an index of the run, read or written: cells of it and of the index. */
typedef struct element {
  const prog_dynamic *d;
  u32 small, index[PROG_MAX_DIMS];
  i64 most[PROG_MAX_DIMS], stride[PROG_MAX_DIMS]; /* bytes; most 0: there is no choice */
} element;

typedef struct writer {
  const lower_env *e;
  const scalar_list *l;
  jit_code code;
  VEC(cell) cells;
  u32 *cell_of;               /* by register of the list */
  u32 *at;                    /* by operation: where its code is */
  element **element_of;       /* by operation; NULL: it is none */
  VEC(u32) jumps;             /* pairs: the end of a jump, the operation it goes to */
  const exec_direct **direct; /* by operation; NULL: it is none */
  u32 *direct_at;             /* by operation: where its registers are among all of them */
  u32 num_direct;             /* registers */
  bool *joined;               /* by operation: a jump that what stands before it does, too */
} writer;

static inline cell *cell_at(const writer *w, u32 reg) { return &w->cells.data[w->cell_of[reg]]; }
static inline bool is_float(u32 type) { return type == R_f32 || type == R_f64; }
u32 scalar_result_type(scalar_is is);
/* A second operand that instructions have in them; its value. */
bool find_immediate(const writer *w, const scalar_op *o, i32 *out);
/* Fills in the memory of a cell whose slot is set. */
void cell_find_memory(const program *p, cell *c);
/* The cells of the writer's list, and their registers; false: it is not for us. */
bool cells_find(writer *w);

#endif
