/* What the files of program share, and an executor asks of steps and bodies. */
#ifndef PROGRAM_PARTS_H
#define PROGRAM_PARTS_H

#include "program/program.h"

typedef struct vm_op_info {
  const char *name, *meaning;
  u8 operands;
  enum { VM_SAME, VM_PRED, VM_REAL, VM_COMPLEX, VM_ANY } result;
  u8 classes; /* VM_CLASS_ bits of operand 0 */
  u8 traits;  /* as in vm_ops.def */
} vm_op_info;
enum { VM_HEAVY = 1, VM_EXACT = 2, VM_ABOVE_SIGN = 4, VM_ABOVE_ZERO = 8 };
enum { VM_CLASS_B = 1, VM_CLASS_I = 2, VM_CLASS_F = 4, VM_CLASS_C = 8 };
extern const vm_op_info vm_op_infos[VM_OP_COUNT];

/* Every slot that a step touches, in reading order: fn(user, &slot, how). fn may change it. */
typedef enum slot_use { USE_READ, USE_WRITE, USE_UPDATE } slot_use;
typedef void slot_fn(void *user, u32 *slot, slot_use use);
void prog_step_slots(prog_step *s, slot_fn *fn, void *user);
void prog_step_rename(prog_step *s, u32 from, u32 to); /* it touches `to` in the place of `from` */

/* Where it may go but to the next step; NULL: nowhere. */
prog_jump *prog_step_jump(const prog_step *s);
/* The program has these n steps now; what went to step t, or, behind the last one, to the end, goes
 * to now[t]. */
void prog_set_steps(program *p, prog_step *steps, u32 n, const u32 *now);
/* Whether it may go to the next step. */
bool prog_step_goes_on(const prog_step *s);
/* A copy of one whole slot to another. */
bool prog_step_is_move(const program *p, const prog_step *s);
/* A loop that reads slot `in` only with the access it writes `out` with, and the like. */
bool prog_step_in_place(const program *p, const prog_step *s, u32 in, u32 out);
/* As prog_step_slots; of a collective, which may have very many, only those in whose place it could
 * write `out`. */
void prog_step_donors(prog_step *s, u32 out, slot_fn *fn, void *user);
/* The parameter that a result takes over, with whose slot it is one; else the slot itself; of a
 * view, that of what it lies in. */
u32 prog_slot_owner(const program *p, u32 slot);
/* Whose memory a slot lies in: 0: the workspace; then those of parameters, then of results.
 * PROG_NONE: one of its own, or none. Where it begins there. */
u32 prog_slot_home(const program *p, u32 slot);
u64 prog_slot_begin(const prog_slot *s);
/* Whether two slots may lie in the same memory. */
bool prog_slots_overlap(const program *p, u32 a, u32 b);

/* ---- touches.c ---- */

/* Who touches slot i: list[begin[i]] to list[begin[i + 1] - 1], in the order of steps. What is of a
 * result that takes over a parameter is the parameter's. */
typedef struct prog_touch {
  u32 step;
  slot_use use;
} prog_touch;
typedef struct prog_touches {
  const program *p;
  u32 *begin;
  prog_touch *list;
} prog_touches;
prog_touches prog_find_touches(arena *a, const program *p);
/* Whether a slot is touched, or written, in steps from first to last. */
bool prog_is_touched(const prog_touches *x, u32 slot, u32 first, u32 last, bool written);

/* ---- strips.c ---- */

/* How a loop, a dot, a copy or a gather touches a slot: as prog_access, over its first `rank` dims;
 * the others have no stride. */
enum { PROG_MAX_TOUCHES = 256 }; /* of all steps of a prog_strips */
typedef struct step_access {
  u32 slot;
  bool write;
  u32 rank;
  i64 offset;
  const i64 *dims, *stride;
} step_access;
typedef void access_fn(void *user, const step_access *a);
/* The same product with its operands the other way round. */
prog_dot prog_dot_turned(arena *a, const prog_dot *d);
void prog_step_accesses(const prog_step *s, access_fn *fn, void *user);
/* How many first dims of such a step may be rows, and which; of other steps, none. */
u32 prog_step_row_dims(const prog_step *s, const i64 **out_dims);
/* How often. */
u32 prog_step_touches(const prog_step *s, u32 slot, bool write);
/* Whether it is the same to do the steps of `r`, which are sound, by strips. NULL: it is, else what
 * is wrong. out_bytes (NULL: nobody asks): of the slots that several of the steps touch. */
typedef struct strips_bytes {
  u64 all, written, largest; /* largest: of those that are only read */
} strips_bytes;
const char *prog_strips_check(const program *p, const prog_strips *r, strips_bytes *out_bytes);
bool prog_strips_in_place(const program *p, const prog_strips *r, u32 in, u32 out);

/* strips_form.c: makes strips of steps that follow one another where that saves memory traffic. Of
 * a program not laid out yet; true: steps have changed. */
bool prog_form_strips(arena *a, arena *scratch, program *p);

/* tiles.c: what a convolution by tiles is: n images of h x w results of k features each, from c
 * features, or the kernel's gradient by such results. An image has high x wide tiles of 2x2
 * results, and `panel` of the k are multiplied at once. `from`, `to`: strides of images, rows,
 * columns and features of the input and of the results. The kernel's 16 numbers for each c and k
 * lie in the slot `taps` as [16][k / panel][c][panel]. */
typedef struct prog_tiles {
  bool gradient;
  i64 n, h, w, k, c, panel, high, wide, all;
  i64 from[4], to[4];
} prog_tiles;
/* False: *d is none, or of a shape that is not worth it. */
bool prog_find_tiles(const prog_dot *d, prog_tiles *t);

/* take.c: gathers and scatters by indices as they are before a loop has wrapped them, which leaves
 * idle moves. Of a program of which nothing is planned. */
void prog_take_wrapped(arena *a, arena *scratch, program *p);

/* reductions.c: those that read the same become one, and large ones parts. Of a sound program of
 * which nothing is planned. */
void prog_form_reductions(arena *a, program *p);
/* Of a loop, the input that meets the most elements, and the least stride that it has in dims
 * [first, end); INT64_MAX: none there, or there is no input. */
u32 prog_loop_largest(const prog_loop *l);
i64 prog_loop_least_stride(const prog_loop *l, u32 first, u32 end);

/* pack.c: what short loops in loops read apart is brought together in front of them. Of a sound
 * program of which nothing is planned. */
void prog_pack_fixed(arena *a, program *p);

static inline u32 vm_count_iotas(const vm_code *c) {
  u32 n = 0;
  for (u32 i = 0; i < c->len; i++) n += c->instrs[i].op == VM_iota;
  return n;
}

/* Fills in body->kind where the code is one known operation on one operand. */
void prog_body_recognize(prog_body *body);
/* The 16 bytes at `element` begin with what a known kind leaves as it is; false: of this type there
 * is nothing such, as of products of complex numbers: 1 times infinity has a NaN. For formats that
 * round after each step, or lack infinities, it is not to be asked. */
bool prog_reducer_neutral(prog_reducer kind, dtype type, void *element);
/* The code of a known kind over elements of `type`: four instructions in `storage`. */
vm_code prog_body_code(prog_reducer kind, dtype type, vm_instr storage[4]);
vm_op prog_body_op(prog_reducer kind); /* what combines its two values */

/* program_validate; before planning no slot has its place in the workspace yet. */
status prog_check(const program *p, bool planned) MUST_USE;

/* plan.c: merges moves, keeps aliased parameters apart, lays out the workspace. */
void prog_plan(arena *a, arena *scratch, program *p);

/* From its first touch to its last, in step order, and as long as loops need it. */
typedef struct slot_life {
  u32 first, last; /* PROG_NONE, 0: never touched */
  bool read_first;
} slot_life;

/* join.c: whether r, which steps begin to end of a loop move to c, may be c. */
bool prog_may_join(arena *scratch, const program *p, u32 begin, u32 end, const slot_life *lives,
                   u32 r, u32 c);

/* stacks.c: what a loop stacks takes over the memory of what it reads by the same rows. Of a
 * program of which nothing is planned. True: this became so of one, steps have changed. */
bool prog_join_stacks(arena *a, arena *scratch, program *p, const slot_life *lives);

/* views.c: of a program not laid out yet, but for that in order. First, large parts that are taken,
 * changed and put back have one slot for all that; true: some have. Then large parts are made in
 * the place where an update would put them; true: steps have changed, whose payloads are from `a`.
 * Then large slices that nobody writes to, of what stays as it is, are read where they lie: what is
 * seen whole lives as long as they do. */
bool prog_join_parts(arena *scratch, program *p, const slot_life *lives);
bool prog_view_updates(arena *a, arena *scratch, program *p, const slot_life *lives);
void prog_view_slices(arena *scratch, program *p, slot_life *lives);
/* Whether elements of such slots are of one width, or one is all of the other. */
bool prog_may_slice(const prog_slot *big, const prog_slot *small, const prog_dynamic *d);
/* Of the same dims, at the same place. */
bool prog_same_part(const prog_dynamic *a, const prog_dynamic *b);
/* Whether a slot is no view, or lies in one that is none. */
bool prog_lies_somewhere(const program *p, const prog_slot *s);
/* Whether steps may write there: what is in memory that the caller keeps is not to be. */
bool prog_may_write(const program *p, u32 slot);
/* Whether the slice's slot is a view of this one; that its elements lie together, too. */
bool prog_makes_view(const program *p, const prog_dynamic *d);

/* sink.c: the steps in an order in which what is large is made later. NULL: as they are. Of a
 * program not laid out yet, each of whose values is merged with all that it can be. */
prog_step *prog_sink(arena *a, program *p);

/* gaps.c: steps from `from` on and before `until`, which writes it whole, while nobody needs what
 * is in a result; from scratch. */
typedef struct prog_gap {
  u32 slot, from, until;
} prog_gap;
typedef VEC(prog_gap) prog_gaps;
prog_gaps prog_find_gaps(arena *scratch, const program *p);

/* save.c: `slot = parameter` in front of everything, and all steps use that slot. */
void prog_save_param(arena *out, arena *scratch, program *p, u32 q);

/* remake.c: values that live while step `peak` runs, with `bytes` in use, and could be made again
 * later, of what is there then. Of a program as prog_sink has it; true: steps have changed. Steps
 * and slots from `scratch`, what steps have from `a`. */
bool prog_remake(arena *a, arena *scratch, program *p, u32 peak, u64 bytes);

/* flow.c: proves that the plan of a valid program keeps every value as long as it is needed, and
 * that nothing is read before it is written. The error (INVALID_ARGUMENT) names the step. */
status prog_check_flow(arena *a, const program *p) MUST_USE;
/* How many elements of a slot that it writes a step writes. */
u64 prog_step_writes(const program *p, const prog_step *s, u32 slot);
/* After step t nobody needs slots[begin[t]] .. slots[begin[t + 1] - 1], all of the workspace, nor
 * anything else that lies there. */
typedef struct prog_deaths {
  u32 *begin, *slots;
} prog_deaths;
prog_deaths prog_find_deaths(arena *a, const program *p);

/* vm code: checks types and references; num_in values may be loaded, of the given types
 * (NULL: any), and stores must be num_out of the given types. NULL: fine, else what is wrong. */
const char *vm_code_check(const vm_code *c, u32 num_in, const dtype *in_types, u32 num_out,
                          const dtype *out_types, u32 rank);

#endif
