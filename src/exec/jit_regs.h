/* Registers of code that is written in one pass over primitives: values get them as they are
 * needed; of those that do not fit, the one that is needed last goes to memory. */
#ifndef EXEC_JIT_REGS_H
#define EXEC_JIT_REGS_H

#include "exec/jit_ir.h"
#include "exec/jit_x86.h"

enum {
  FIRST_K = 1, /* as a mask of an instruction, k0 means none */
  END_K = 7,
  REST_K = 7, /* the mask of what is left; with AVX2 it is a vector */
  REST_V = 14,
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
} vectors;

typedef struct emit {
  arena *a;
  const jit_build *b; /* of the body that is written; what is by value is of its values */
  x86_code code;
  const vectors *is;
  bool scalar, rest; /* one element; what is left */
  u32 vectors;       /* that there are, or more */
  u32 num_v, rounds; /* registers given out; as one in the loop */
  u32 sum;           /* where a sum goes, UINT32_MAX: there is none */
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
  u8 *pointer; /* by register in memory */
  u32 num_pointers;
} emit;

static inline const jit_node *node_of(const emit *e, u32 v) { return &e->b->nodes.data[v]; }
static inline const jit_prim_info *info_of(const emit *e, u32 v) {
  return &jit_prim_infos[node_of(e, v)->prim];
}
static inline u32 class_of(const emit *e, u32 v) {
  u32 class = info_of(e, v)->class;
  return class == JIT_K && e->b->avx2 ? JIT_V : class;
}
static inline bool is_invariant(const emit *e, u32 v) { return info_of(e, v)->shape <= JIT_ONE; }

static const x86_op move_v = {0, 1, 0, 0x10, X86_ALL, 0, false}; /* vmovups; 0x11 stores */
static const x86_op move_k = {0, 1, 0, 0x90, 0, 0, false};       /* kmovw; 0x91 stores */
static const x86_op from_gpr = {1, 1, 0, 0x6e, 0, 0, false};     /* vmovd */
static const x86_op spread = {1, 2, 0, 0x58, X86_ALL, 0, false}; /* vpbroadcastd */

static inline x86_op with_opcode(x86_op op, u32 opcode) {
  op.opcode = (u8)opcode;
  return op;
}

/* The encoding of a primitive; and an instruction on vectors: X86_ALL is half as long with AVX2. */
x86_op regs_op(const emit *e, const jit_prim_info *p);
void regs_put(emit *e, x86_op op, u32 reg, u32 v, x86_rm rm, i32 imm);

/* Finds out who is needed, and where. */
void regs_find_uses(emit *e);
/* A register for v; it is locked. */
u32 regs_take(emit *e, u32 v);
/* The register of v, which is brought into one; locked. */
u32 regs_need(emit *e, u32 v);
/* Of a vector that is not in a register: what can be read from memory. */
bool regs_in_memory(const emit *e, u32 v);
x86_rm regs_operand(emit *e, u32 v);
void regs_bring(emit *e, u32 v, u32 to); /* what is the same all the time */
/* After a primitive's operands are read: who is not needed again leaves its register. */
void regs_release(emit *e, u32 at);
bool regs_dies(const emit *e, u32 v, u32 at); /* v does, and has a register */

/* In memory: the first element of a register there, a slot of the frame, words behind the code. */
x86_rm regs_first(emit *e, u32 reg);
x86_rm regs_slot(const emit *e, u32 i);
static inline u32 regs_slot_bytes(const emit *e) { return e->is->lanes * 4; }
x86_rm regs_pooled(emit *e, const u32 *words, u32 n);

#endif
