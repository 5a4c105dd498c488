/* Code before it has registers: primitives (jit_prims.def) on values, each value named by the
 * number of the primitive that makes it. Equal primitives are one, and what no store needs is left
 * out when code is made of it. All memory is of the arena. */
#ifndef EXEC_JIT_IR_H
#define EXEC_JIT_IR_H

#include "base/arena.h"

typedef enum jit_prim {
#define PRIM(id, ...) JP_##id,
#include "exec/jit_prims.def"
#undef PRIM
  JP_COUNT_
} jit_prim;

typedef enum jit_shape {
  JIT_CONST,
  JIT_ONE,
  JIT_LOAD,
  JIT_STORE,
  JIT_SUM,
  JIT_X3,
  JIT_X2,
  JIT_X2I,
  JIT_X3I,
  JIT_SHIFT,
  JIT_FMA,
  JIT_CMP,
  JIT_TEST,
  JIT_BLEND,
  JIT_K3,
  JIT_K2,
  JIT_SHAPES_
} jit_shape;
/* Whether imm is a register in memory. */
static inline bool jit_in_memory(u32 shape) { return shape >= JIT_ONE && shape <= JIT_SUM; }
typedef enum jit_class { JIT_V, JIT_K, JIT_N } jit_class;

/* What processors' code is for. Where there is no AVX-512, masks are vectors whose lanes are all
 * ones or zeros. */
typedef enum jit_target { JIT_AVX512, JIT_AVX2, JIT_NEON } jit_target;

typedef struct jit_prim_info {
  u8 shape, class, more, operands;
  u8 wide; /* lanes are of 64 bits, or it moves such */
} jit_prim_info;
extern const jit_prim_info jit_prim_infos[JP_COUNT_];

typedef u32 jit_value;

typedef struct jit_node {
  u32 prim, imm;
  u32 part; /* of several rounds that are done as one: elements from the first on */
  u32 arg[3];
} jit_node;

/* v is x / by, or what it leaves, for a constant by from 2 on; bits: of x, without its
 * sign. */
typedef struct jit_divided {
  jit_value v, x;
  u64 by;
  u8 bits;
  bool rem;
} jit_divided;

/* By lane: the element of a register in memory that it has, of those from 0 to `end` that may be
 * read; or, where there are none, a number. */
enum { JIT_LANES = 16 };
typedef struct jit_pattern {
  i32 at[JIT_LANES], end;
} jit_pattern;

/* Of the lanes that are left, bits, those that are in one window of memory with the first element,
 * which is as much as a vector has; where it begins. */
u32 jit_pattern_window(const jit_pattern *p, u32 left, i32 *out_first);

typedef struct jit_build {
  arena *a;
  VEC(jit_node) nodes;
  u32 *table, table_size; /* node + 1 by hash; 0: none */
  VEC(jit_divided) divided;
  bool to_bf16; /* denormals are flushed, and there is cvtneps2bf16 */
  u8 target;    /* jit_target */
  bool scalar;  /* of one element: no upper halves */
  bool wide;    /* what is added of lanes of 32 bits is of 64 */
  u8 narrow;    /* lanes are of 32 bits, shifted down by that: 1 or 2 */
  u32 walks;    /* of a vm_rows_fn: registers that move on; 0: it is a vm_run_fn */
  /* By register in memory: 2 to that power lanes, one behind the other, have one element of it.
   * NULL: a lane has one of its own. */
  const u8 *spread;
  u32 step;   /* elements that it takes in a round; 0: a vector of them */
  u32 tail;   /* of these, where the vector begins that is not whole; 0: all are */
  bool whole; /* nothing is ever left of rounds */
  const struct jit_build *rest; /* of lanes of 32 bits, for what is left; NULL: this */
  /* It is all vectors of a step, one behind the other, and no loop. The part of a load is its
   * pattern, that of a store the element of its first lane, and its second operand bits: those of
   * its lanes that are stored. */
  bool placed;
  VEC(jit_pattern) patterns;
} jit_build;

/* Whether that is the target; of another processor it is not, without a look. */
static inline bool jit_is_for(const jit_build *b, jit_target t) {
#if defined(__aarch64__)
  (void)b;
  return t == JIT_NEON;
#else
  return t != JIT_NEON && b->target == t;
#endif
}

static inline u32 jit_spread(const jit_build *b, u32 reg) { return b->spread ? b->spread[reg] : 0; }

jit_value jit_add_node(jit_build *b, jit_node n);
/* Operands that the shape does not have may be anything. */
jit_value jit_add(jit_build *b, jit_prim prim, u32 imm, jit_value x, jit_value y, jit_value z);
/* The same in fewer words, as there are many calls. */
jit_value jit_const32(jit_build *b, u32 bits);
jit_value jit_add1(jit_build *b, jit_prim prim, u32 imm, jit_value x);
jit_value jit_add2(jit_build *b, jit_prim prim, jit_value x, jit_value y);
jit_value jit_add3(jit_build *b, jit_prim prim, jit_value x, jit_value y, jit_value z);
/* What jit_add makes of it: where the build is wide, the same of lanes of 64 bits. */
jit_prim jit_at_hand(const jit_build *b, jit_prim prim);
jit_value jit_const64(jit_build *b, u64 bits);
/* Whether x is a constant of 32 bits a lane, or of 64; its bits. */
bool jit_is_const(const jit_build *b, jit_value x, u32 *out_bits);
bool jit_is_const64(const jit_build *b, jit_value x, u64 *out_bits);

/* `times` rounds in one, primitive by primitive: what waits for a result has others beside it. A
 * round is of so many lanes. */
jit_build jit_unroll(const jit_build *b, u32 times, u32 lanes);
/* Of a lowered build, what it sums up summed up by rows of `length` values, or by FOLD_ROWS values
 * of which each is so many elements behind the other, by register up to `num` (vm_sums): of so many
 * lanes a vector. */
jit_build jit_sum_rows(const jit_build *b, u32 length, u32 lanes);
jit_build jit_sum_columns(const jit_build *b, const u32 *pitch, u32 num, u32 lanes);
/* What makes others of a primitive n, whose operands are x, y and z. */
typedef jit_value jit_make_fn(jit_build *j, const jit_node *n, jit_value x, jit_value y,
                              jit_value z);
/* The same with what others are made of some primitives; NULL: they stay. */
jit_build jit_replace(const jit_build *b, jit_make_fn *const make[JP_COUNT_]);

/* ---- of the processor that all is compiled for ---- */

/* The same of primitives that its target has. */
jit_build jit_lower(const jit_build *b);
/* Whether there is one then: of lanes of 16 and 8 bits, that is not so for all. */
bool jit_is_lowered(const jit_build *b, u32 prim);
/* From a lowered build to bytes that can run at any address, a vm_run_fn, which is best where there
 * are so many vectors of 16 or more; 0: for n = 1 only. False: too large. The bytes are in the
 * arena. */
bool jit_emit(const jit_build *b, u32 vectors, str *out_code);

#endif
