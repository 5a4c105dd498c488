/* Machine code for the calls of a unit (vm.h): a run of them becomes one loop that keeps values in
 * vector registers from the first call to the last, 16 elements at a time, 8 with AVX2 or 4 on
 * aarch64; on x86-64, of narrow integers only, up to four times as many.
 *
 * It gives the same bits as the kernels do, except that where several NaNs meet it may be another
 * one that comes through. So a unit runs with it or without: where the processor, the system or an
 * operation is not one that it knows, kernels are called. vecmath.h is compiled for both.
 *
 * The way of a run: jit_ops.c says what each call is in primitives, values of SSA (jit_ir.h), of
 * which jit_narrow.c leaves out what changes nothing and may make others of narrower lanes, and for
 * AVX2 jit_avx2.c and for aarch64 jit_neon.c makes those that it lacks of others; jit_regs.c
 * gives them registers, and jit_x86_emit.c or jit_arm64_emit.c, of which a build has one, writes
 * their bytes (jit_prims.def, jit_arm64.c); jit.c keeps the code, one piece where two runs are the
 * same. An image has one jit: jit_begin, jit_compile as often as wanted, jit_seal, and only then
 * may any of it run; jit_end when nothing runs any longer. Memory is written to before it is
 * sealed, and executed after, never both. */
#ifndef EXEC_JIT_H
#define EXEC_JIT_H

#include "exec/vm.h"

typedef struct jit jit;

/* Of a step of few elements, where each lies: code of no loop then, a vector behind the other.
 * Registers in memory are of 32 bits; of `num` elements, register r's are those at[r * num] and on
 * of pointer[r], of which as many as end[r] may be read; PROG_NONE: they are numbers. Lanes that
 * are stored are in order of the first output's places. */
typedef struct jit_places {
  u32 num, num_regs, num_out;
  const i32 *at, *end;
  const u32 *pointer;
} jit_places;

/* flushes: code runs where denormals are flushed (denormals.h), or else where they are not. NULL:
 * there is none for this processor, or TERRAZZO_JIT=0 turned it off, or no memory. */
jit *jit_begin(const allocator *mem, const vm_kernels *k, bool flushes);
/* False: the system does not allow it. All code is as if it had not been compiled. */
bool jit_seal(jit *j) MUST_USE;
void jit_end(jit *j); /* NULL: nothing */

/* Calls of one kind, scalar or not, one after the other. */
typedef struct jit_piece {
  const vm_call *calls; /* registers from TEMP_BASE on are between them, others are in memory */
  u32 num_calls, num_temps, num_regs;
  u32 first_const, num_consts; /* registers that are constants */
  const void *const *consts;
  const u8 *spread; /* by register: jit_build's; NULL: none */
  u32 walks;        /* not 0: it is a vm_rows_fn, for so many inputs and outputs */
  bool scalar;
  vm_sums sums; /* of the calls that are sums */
  u32 length;
  const u32 *pitch; /* of columns: vm_spec's, of so many inputs */
  u32 num_in;
  const jit_places *places; /* NULL: it is a loop */
  u32 terms;   /* not 0: instead of calls sums of so many products, of registers from 0 on and those
                  behind them, one after the other from 0 on */
  u32 vectors; /* whole ones that a block has, one at least, as far as that matters */
} jit_piece;
static inline u32 jit_vectors(u64 elements) {
  enum { LANES = 16, MANY = 8 };
  u32 whole = elements && elements < MANY * LANES ? (u32)elements / LANES : MANY;
  return whole ? whole : 1;
}

/* Whether code can read registers of which an element is for several lanes. */
bool jit_can_spread(const jit *j);
bool jit_has_rows(const jit *j);
bool jit_has_places(const jit *j);
/* second: its second operand, where that is a constant. */
bool jit_knows(const jit *j, const vm_call *c, const void *second);
/* Whether so many calls, all known, are better compiled. */
bool jit_pays(const jit *j, const vm_call *calls, u32 n);
/* Whether sums of other parts than whole blocks are compiled; of rows of so many values. */
bool jit_sums_parts(const jit *j);
bool jit_sums_rows(const jit *j, u32 length, vm_rtype t);
/* NULL: too large, or there are no pages for code. Out of memory it jumps to the trap of `a`. */
vm_run_fn *jit_compile(jit *j, arena *a, const jit_piece *p);
/* Where code that somebody else has written is, to run at any address. NULL and out of memory: the
 * same. */
const char *jit_place(jit *j, arena *a, str code);

#endif
