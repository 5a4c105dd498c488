/* Code over single elements (scalars.h), for those who run it: a list of operations on registers,
 * each of which is somewhere in memory. */
#ifndef EXEC_SCALAR_CODE_H
#define EXEC_SCALAR_CODE_H

#include "exec/step.h"

typedef struct scalar_op scalar_op;
typedef const scalar_op *scalar_fn(const scalar_op *at, void *const *reg);

/* What an operation does, for whoever makes something else of it. */
typedef enum scalar_kind {
  SCALAR_KERNEL,  /* u.kernel over one element; call: what of a vm_call, as it has `of` and `type`,
                     of which all operands and the result are of one type or two; 0: nothing is
                     known of it */
  SCALAR_BINARY,  /* of: vm_op; type: of the operands */
  SCALAR_UNARY,   /* the same */
  SCALAR_CONVERT, /* of: vm_rtype of the result; type: of the operand; pred to pred: any byte that
                     is not 0 to 1 */
  SCALAR_SELECT,  /* of: log2 of the width */
  SCALAR_COPY,    /* the same */
  SCALAR_JUMP,    /* to u.to */
  SCALAR_UNLESS,  /* to u.to, unless the pred a is true */
  SCALAR_BACK,    /* to u.to, unless the place's time is up; it takes c ticks */
  SCALAR_LEAVE,   /* for step u.pc */
  SCALAR_STEP,    /* all of u.step, which is step d of the program */
  SCALAR_FMA,     /* a * b + c, rounded once; type: of all. Only where it is compiled */
} scalar_kind;
enum { SCALAR_KINDS = SCALAR_FMA + 1 };
typedef struct scalar_is {
  u8 kind;
  u16 of;
  u8 type, call; /* call: vm_call_kind + 1 */
} scalar_is;

struct scalar_op {
  scalar_fn *fn;
  u32 d, a, b, c;
  scalar_is is;
  union {
    kern_fn *kernel;
    const scalar_op *to; /* of a jump */
    u32 pc;              /* of leave */
    const exec_step *step;
  } u;
};

enum { REG_PLACE, REG_NULL, REG_ENV, REG_FIRST }; /* registers that all code has */

u32 scalar_result_type(scalar_is is);    /* of what computes, or a kernel that is known */
u32 scalar_count_operands(scalar_is is); /* the same of a kernel */

/* Where a register points. */
typedef struct scalar_reg {
  const void *fixed; /* 16 bytes; NULL: in a slot, or in scratch where slot is PROG_NONE */
  u32 slot;
  size_t at;
} scalar_reg;

/* Of steps [first, end). Only that one is entered, those that jumps from elsewhere go to, and jumps
 * back whose time was up. start: by step, its first operation. */
typedef struct scalar_list {
  const scalar_op *ops;
  const scalar_reg *regs;
  u32 num_ops, num_regs;
  u32 first, end;
  const u32 *start;
} scalar_list;

/* The list as machine code: what is in memory is in registers and a frame from where it is entered
 * to where it leaves. Called with what is at an operation, found in `out_entries` by its number.
 * NULL: something in it is not known. Out of memory it jumps to the environment's arena's trap. */
typedef void scalar_run_fn(const exec_env *env, place *p, void *const *slots, const void *entry);
scalar_run_fn *jit_scalars(const lower_env *e, const scalar_list *l, const void ***out_entries);

#endif
