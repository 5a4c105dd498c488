/* Block VM: a vm_code made into a list of kernel calls over registers.
 *
 * Registers are pointers: inputs and outputs that the caller sets for each block, constants,
 * and blocks of scratch memory. A value that is the same for all of a block is a scalar: one
 * element, computed once. Inputs already of register type are read where they lie, and a value
 * is written where its output lies, unless that would overwrite an input still to be read.
 *
 * Order: vm_lower when the image is made; vm_scratch_bytes and vm_block_size say what a run will
 * take. A run calls vm_begin once, and for each block sets the registers of its inputs and outputs
 * and calls vm_run. A unit is not written after vm_lower: workers share it, each with registers in
 * its own scratch. */
#ifndef EXEC_VM_H
#define EXEC_VM_H

#include "exec/step.h"

/* What a call does, for whoever makes something else of it (jit.h). */
typedef enum vm_call_kind {
  CALL_unary,   /* of: vm_op; type: of the operands */
  CALL_binary,  /* the same */
  CALL_convert, /* of: vm_rtype of the result */
  CALL_select,  /* of: log2 of the width; type: PRED, of a */
  CALL_splat,   /* the same */
  CALL_copy,    /* the same; b: the stride, 1 */
  CALL_load,    /* of: dtype, and of all below */
  CALL_store,
  CALL_round,
  CALL_wrap,
  CALL_clean,
  CALL_any, /* b: two dtypes */
  CALL_sum, /* type: f32 or f64; d: what vm_sums leaves; only compiled */
} vm_call_kind;

typedef struct vm_what {
  u8 kind, of, type; /* vm_call_kind, see there; vm_rtype */
  u8 ones;           /* bits: operands a, b, c of which all of a block has one element */
} vm_what;

/* What code that is compiled may leave of f32 or f64 values that are only to be summed up, in the
 * order that kernels add them in (fold_order.h, fold_kernel.h). */
typedef enum vm_sums {
  SUMS_NONE,
  SUMS_BLOCK,  /* of a block of FOLD_RUNNING values at least and fewer than FOLD_LONG, their sum:
                  in the output's memory */
  SUMS_ROWS,   /* of each row, of `length` values, its first 16, whose sum is that of the row */
  SUMS_COLUMNS /* of n values and as many in each of the next rows, FOLD_ROWS in all, what sum_rows
                  adds to what is in the output's memory */
} vm_sums;

/* Several calls made one: over n elements, with what is in the registers. */
typedef void vm_run_fn(size_t n, void **reg);

/* The same for so many rows: from one to the next each input and output is so many bytes further;
 * what is in the registers stays. */
typedef void vm_rows_fn(size_t n, void **reg, size_t rows, const i64 *step);

typedef struct vm_call {
  kern_fn *fn;
  vm_run_fn *run; /* not NULL: instead of fn */
  u32 d, a, b, c; /* registers; PROG_NONE: NULL */
  vm_what is;
  bool scalar; /* over one element */
} vm_call;

typedef struct vm_iota_use {
  u32 dim, reg;
  vm_rtype type;
  bool scalar; /* one element: all of a block has it, or it is the first */
  bool ramp;   /* as if a block began with 0 */
} vm_iota_use;

typedef struct vm_output {
  u32 reg;       /* where the value is after the calls */
  bool scalar;   /* it is one element */
  bool in_place; /* it is already in the output's memory */
  u32 width;     /* bytes an element */
} vm_output;

typedef struct vm_unit {
  vm_call *calls;
  u32 num_calls;
  vm_rows_fn *rows;              /* all of them; NULL: there is none */
  u32 num_regs, num_in, num_out; /* registers: inputs, outputs, then all others */
  u32 first_const, num_consts;
  const void **consts; /* of registers first_const... */
  u32 first_slot, num_slots;
  u32 width;    /* of a scratch slot, bytes an element */
  u32 block;    /* elements that a block should have */
  u32 work;     /* calls before some were made one */
  vm_sums sums; /* the spec's, if code does so */
  vm_iota_use *iotas;
  u32 num_iotas;
  vm_output *outputs;
} vm_unit;

typedef struct vm_spec {
  const vm_code *code;
  u32 num_in, num_out;
  const bool *in_scalar; /* by input; NULL: none */
  /* By input: 2 to that power elements, one behind the other, have one of it; a block has whole
   * such rows. NULL: an element has one of its own. */
  const u8 *in_spread;
  const bool *dim_scalar;  /* by dim, for iota; NULL: none */
  const bool *dim_ramp;    /* the same: it grows by 1, by far fewer than 2^31; NULL: none */
  const bool *out_direct;  /* by output: contiguous, may be written directly; NULL: none */
  const u64 *out_overlaps; /* by output: inputs that lie in the same memory; NULL: none */
  bool registers;          /* inputs are of register type, not as stored */
  bool rounds;             /* what vm_reduces_wide holds for rounds after every operation too */
  bool keep_registers;     /* outputs are of register type, and never scalars */
  bool rows;               /* vm_unit.rows is wanted */
  u64 elements;            /* of a block, about; 0: many */
  vm_sums sums;            /* only sums of outputs are wanted, floats in registers */
  u32 length;       /* of rows of sums */
  const u32 *pitch; /* by input, of columns of sums: elements to the next row, 0: it has the same */
} vm_spec;

/* The code must be valid. An instruction that no kernel does for its type shows in e->fault: the
 * unit is then not to be run. NULL: code was not made of all that reads what in_spread names. */
vm_unit *vm_lower(const lower_env *e, const vm_spec *spec);

/* Bytes of scratch memory for blocks of n elements, registers included. */
size_t vm_scratch_bytes(const vm_unit *u, size_t n);
/* How many elements a block should have to stay in the first-level cache; a multiple of 64. */
size_t vm_block_size(const vm_unit *u);
/* Lays the registers out in `scratch` for blocks of up to n elements and returns them. */
void **vm_begin(const vm_unit *u, char *scratch, size_t n);
static inline void vm_run(const vm_unit *u, void **reg, size_t n) {
  for (u32 i = 0; i < u->num_calls; i++) {
    const vm_call *c = &u->calls[i];
    if (c->run)
      c->run(n, reg);
    else
      c->fn(c->scalar ? 1 : n, reg[c->d], reg[c->a], reg[c->b], reg[c->c]);
  }
}

#endif
