/* Code over single elements (jit_x86_scalars.c, jit_arm64_scalars.c): what it keeps where. */
#ifndef EXEC_JIT_CELLS_H
#define EXEC_JIT_CELLS_H

#include "exec/jit_code.h"
#include "exec/scalar_code.h"

enum { MAX_CELLS = 2000, MAX_DIRECT = 1000, HOME = 16, NO_REG = 0xff };
/* Behind the cells in the frame: */
enum { KEEP_ENV, KEEP_SLOTS, KEEP_PLACE, KEPT };

/* Registers for cells, of which calls leave the first ones alone. */
typedef struct cell_registers {
  const u8 *gprs, *floats;
  u32 num_gprs, num_floats;
} cell_registers;

/* An element of a slot, a constant or a temporary. */
typedef struct cell {
  const void *fixed;
  u32 slot; /* PROG_NONE: a temporary or a constant */
  size_t at;
  u64 memory, address; /* of a slot's: equal memory, address and size are one cell */
  u32 size;            /* of the slot's elements */
  u32 widths;          /* bits: bytes of accesses */
  u32 width;           /* the most */
  u32 uses, floats, integers; /* in loops they count more */
  bool called, written;       /* a kernel takes it; it is to go back to memory */
  u32 place;                  /* not 0: it is where slot `place` - 1 lies */
  u8 gpr, real;         /* its registers, or NO_REG */
} cell;

/* A dynamic step: part of a slot at an index of the run, read or written. Its few elements are
 * cells where others of the code are so; or all of it lies together in runs; or what it reads is
 * not brought anywhere, but where it lies becomes the slot's place. */
enum { MOST_PART = 16 };
typedef struct part {
  const prog_dynamic *d;
  u32 num, small[MOST_PART];                      /* cells; 0: there are none */
  i64 at[MOST_PART];                              /* bytes from the first element */
  u32 index[PROG_MAX_DIMS], place;                /* cells; 0: of the slot's place there is none */
  i64 most[PROG_MAX_DIMS], stride[PROG_MAX_DIMS]; /* bytes; most 0: there is no choice */
  u64 runs, run;                                  /* run: bytes */
  bool view;
} part;

/* An index that is outside, apart from where it is not. */
typedef struct index_fix {
  u32 jump, back; /* to it, and where that goes on */
  bool is_signed, wide;
  i32 most;
} index_fix;

typedef struct writer {
  const lower_env *e;
  const scalar_list *l;
  jit_code code;
  VEC(cell) cells;
  u32 *cell_of;               /* by register of the list */
  u32 *at;                    /* by operation: where its code is */
  part **part_of;             /* by operation; NULL: it is none */
  VEC(u32) jumps;             /* pairs: the end of a jump, the operation it goes to */
  const exec_direct **direct; /* by operation; NULL: it is none */
  u32 *direct_at;             /* by operation: where its registers are among all of them */
  u32 num_direct;             /* registers */
  bool *joined;               /* by operation: a jump that what stands before it does, too */
  u32 *asks;                  /* by operation: 1 + the comparison that is done there, too; or 0 */
  const bool *labels;         /* by operation: others may come to it than the one before it */
  VEC(u32) entries;           /* operations where the code may be entered */
  u64 *enters;                /* a set: cells that are wanted there */
  bool *later;                /* by operation: a comparison that is done where it is asked for */
  VEC(index_fix) fixes;
  u32 weight; /* of what uses cells */
  u32 words;                  /* of a set of cells */
  u64 *reads, *writes; /* sets, by operation: of cells; what comes from memory behind it, too */
  u64 *put, *fetch, *live;    /* sets, by operation: what goes to memory before it, what comes from
                                 there behind it, and what is wanted behind it, or to be put */
} writer;

/* The processor that is compiled for: what writes its code. */
typedef bool write_fn(writer *w, const scalar_op *o); /* false: it can not */
typedef struct cell_machine {
  cell_registers registers;
  bool (*has_part)(const writer *w, const part *x); /* it takes no call */
  bool waits;                                       /* it knows of `asks` and `place` */
  void (*begin)(writer *w);
  write_fn *write[SCALAR_KINDS];
  void (*write_entries)(writer *w); /* of jumps that are joined; what is apart */
  void (*aim)(jit_code *c, u32 jump, u32 target);
  bool (*finish)(jit_code *c);
} cell_machine;
extern const cell_machine cells_machine;

static inline bool is_comparison(u32 op) { return op >= VM_eq && op <= VM_ge; }
_Static_assert(VM_ne == VM_eq + 1 && VM_lt == VM_eq + 2 && VM_le == VM_eq + 3 &&
                   VM_gt == VM_eq + 4 && VM_ge == VM_eq + 5,
               "tables are in this order");

static inline cell *cell_at(const writer *w, u32 reg) { return &w->cells.data[w->cell_of[reg]]; }
static inline bool is_float(u32 type) { return type == R_f32 || type == R_f64; }
/* A second operand that instructions have in them; its value. */
bool find_immediate(const writer *w, const scalar_op *o, i32 *out);
/* The cells of the writer's list; false: it is not for us. */
bool cells_find(writer *w);
/* jit_asks.c: labels and entries; which comparisons wait for who asks. */
void cells_find_labels(writer *w);
void cells_find_asks(writer *w);
/* Then, what is used how often, and the registers (jit_cells_regs.c). */
void cells_count_uses(writer *w);
void cells_give_registers(writer *w, const cell_registers *r);
/* Whether it is fetched from memory where the code is entered. */
static inline bool cells_enter(const writer *w, u32 cell) {
  return w->enters[cell / 64] >> cell % 64 & 1;
}
/* What it computes is for nobody. */
bool cells_idle(const writer *w, const scalar_op *o);
/* Whether a cell that is in a register has to be in its place in the frame for the call of a kernel
 * or a step, which does to the register what it likes or not; or has to be fetched from there
 * behind it. */
bool cells_pass(const writer *w, const scalar_op *o, const cell *c, bool clobbered, bool back);
bool cells_touch_slot(const writer *w, u32 slot); /* whether any lies in it */
static inline bool cells_have(const writer *w, const u64 *sets, const scalar_op *o, u32 cell) {
  return sets[(size_t)(o - w->l->ops) * w->words + cell / 64] >> cell % 64 & 1;
}
/* Where run `which` of a part begins: bytes from its first one, in what it is part of. */
i64 part_run_at(const writer *w, const part *x, u64 which);
/* A step that copies bytes which lie together in both slots; false: it is none. */
typedef struct byte_copy {
  u32 from, to; /* slots */
  u64 from_at, to_at, bytes;
} byte_copy;
bool cells_find_copy(const writer *w, const scalar_op *o, byte_copy *out);
/* Steps that are called with the addresses of what they read and write. */
void cells_find_direct(writer *w);

#endif
