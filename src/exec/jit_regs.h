/* Registers of code that is written in one pass over primitives: values get them as they are
 * needed; of those that do not fit, the one that is needed last goes to memory. Of any processor:
 * its instructions are behind regs_move, regs_bring and regs_emit. */
#ifndef EXEC_JIT_REGS_H
#define EXEC_JIT_REGS_H

#include "exec/jit_code.h"
#include "exec/jit_ir.h"

enum {
  FIRST_K = 1, /* as a mask of an instruction, k0 means none */
  END_K = 7,
  NO_REG = 0xff,
  MOST_STACK = 1 << 13,
  MOST_NODES = 1 << 15
};

/* What vectors are there. */
typedef struct vectors {
  u32 lanes, num_v; /* registers that are given out */
  u32 spare;        /* the one for the moment */
  u32 sums;         /* vectors of running sums: in the frame's first slots */
  u32 sums_at;      /* and before that in registers from here on; NO_REG: in none */
  u32 many;         /* values at once, of which too many go to memory */
  u32 shallow;      /* and where few wait for one another */
  u32 apart;        /* registers that no value of the loop needs, but instructions may */
  u32 bytes;        /* of a vector */
} vectors;

typedef struct emit {
  arena *a;
  const jit_build *b; /* of the body that is written; what is by value is of its values */
  jit_code code;
  const vectors *is;
  bool scalar, rest; /* one element; what is left */
  bool between;      /* registers in memory are vectors: `pointer` has them */
  u32 vectors;       /* of 16 that there are, or more */
  u32 num_v, rounds; /* registers given out; as one in the loop */
  u32 sum;           /* where a sum goes, UINT32_MAX: there is none */
  u32 sums, sums_at; /* running ones, as `is` has them of 32 bits */
  bool *needed;
  u32 *use_begin, *uses, *next; /* by value: where it is used, and next */
  u8 *place;                    /* by value: its register */
  u32 *slot;                    /* by value: 1 + where it was spilled */
  u32 owner[2][32];             /* by class and register: value + 1 */
  u32 locked[2], pinned;
  jit_node pins[32]; /* by register that is pinned: the invariant in it */
  u32 slots, most_slots;
  VEC(u32) free; /* slots, of which the last ones, from num_free on, are still being read */
  u32 num_free;
  u8 *pointer; /* by register in memory: the one that has its address, or NO_REG */
  u32 num_in_memory, num_pointers;
  u32 used; /* vectors that were given out */
  /* of aarch64: the register in memory whose element's address is at hand, and whether that of
   * running sums is */
  u32 address;
  bool sums_ready;
  u32 mask; /* of x86-64, where vectors are placed: the lanes that are in the mask */
} emit;

static inline const jit_node *node_of(const emit *e, u32 v) { return &e->b->nodes.data[v]; }
static inline const jit_prim_info *info_of(const emit *e, u32 v) {
  return &jit_prim_infos[node_of(e, v)->prim];
}
static inline u32 class_of(const emit *e, u32 v) {
  u32 class = info_of(e, v)->class;
  return class == JIT_K && !jit_is_for(e->b, JIT_AVX512) ? JIT_V : class;
}
static inline bool is_invariant(const emit *e, u32 v) { return info_of(e, v)->shape <= JIT_ONE; }
static inline u32 regs_slot_bytes(const emit *e) { return e->is->bytes; }

/* False: too large. */
bool regs_init(emit *e, const jit_build *b, const vectors *is, u32 vectors);
/* Makes ready for the values of b: finds out who is needed, and where. */
void regs_begin(emit *e, const jit_build *b);
/* Registers for the addresses of registers in memory, as long as there are any; those that have not
 * come first, which are given out before. */
void regs_give_pointers(emit *e, const u8 *pointers, u32 n);
/* How many rounds are best done as one. */
u32 regs_choose_rounds(const emit *e);
/* What is the same all the time, and used most, keeps a register where there are enough. */
void regs_pin_invariants(emit *e);
/* All values that are needed, one after the other. */
void regs_emit_body(emit *e, bool rest);

/* ---- for who emits a value ---- */

/* A register for v; it is locked. */
u32 regs_take(emit *e, u32 v);
/* Register r, in which an operand dies, is that of v. */
void regs_take_over(emit *e, u32 v, u32 r);
/* The register of v, which is brought into one; locked. */
u32 regs_need(emit *e, u32 v);
/* After a primitive's operands are read: who is not needed again leaves its register. */
void regs_release(emit *e, u32 at);
bool regs_dies(const emit *e, u32 v, u32 at); /* v does, and has a register */

/* ---- of the processor that all is compiled for ---- */

void regs_move(emit *e, u32 class, u32 reg, u32 slot, bool store); /* from or to the frame */
void regs_bring(emit *e, u32 v, u32 to);                           /* an invariant */
void regs_emit(emit *e, u32 at);                                   /* a value, in instructions */

#endif
