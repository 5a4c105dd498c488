/* The program: what every device runs. A flat list of steps over buffer slots.
 *
 * A slot is a parameter, a result, a piece of the device's workspace, or a constant. Every
 * tensor in a slot is dense and row-major; a step may look at it through strides. Steps run
 * in order; jumps make loops and branches. compile/ makes a program with the builder at the
 * end of this file, and knows nothing of kernels; the executor knows nothing of the IR.
 *
 * A finished program is immutable and lives in the arena it was built in; any thread may read
 * it. `program_validate` proves that nothing a program says leads outside a slot, so a
 * serialized one may come from anywhere.
 *
 * Example, y = x + 1 over 4x8 f32:
 *   prog_builder *b = prog_begin(a, 1, 1);
 *   u32 x = prog_param(b, DTYPE_f32, 32), y = prog_result(b, DTYPE_f32, 32, -1);
 *   prog_loop *l = prog_add_loop(b, 1, (i64[]){32}, STR("add"), STR("f.mlir:3:8"));
 *   u32 in = prog_loop_in(b, l, x, 0, (i64[]){1});
 *   u32 one = vm_const_f64(b, &l->code, DTYPE_f32, 1.0);
 *   u32 sum = vm_emit(b, &l->code, VM_add, DTYPE_f32, vm_load(b, &l->code, DTYPE_f32, in), one, 0);
 *   prog_loop_out(b, l, y, 0, (i64[]){1}, sum);
 *   RETURN_IF_ERROR(prog_finish(b, &out_program)); */
#ifndef PROGRAM_PROGRAM_H
#define PROGRAM_PROGRAM_H

#include "base/buf.h"
#include "base/status.h"
#include "num/dtype.h"

#define PROG_MAX_DIMS 32u
#define PROG_MAX_SORTED 1024u /* operands of a sort */
#define PROG_NONE UINT32_MAX

/* ---- slots ---- */

/* STRIP: known to the steps of one prog_strips only; where it lies is the executor's affair.
 * VIEW: lies in another slot, where the dynamic slice that makes it says. As long as it is needed,
 * nobody writes what it lies in but through it, and that only where the other slot says so. */
typedef enum prog_slot_kind {
  SLOT_PARAM,
  SLOT_RESULT,
  SLOT_WORK,
  SLOT_CONST,
  SLOT_STRIP,
  SLOT_VIEW
} prog_slot_kind;

typedef struct prog_slot {
  prog_slot_kind kind;
  dtype type;
  u32 index;  /* PARAM, RESULT: which; VIEW: the slot in which it lies, which is none */
  i32 alias;  /* RESULT: the parameter whose buffer it is; -1: its own.
                 WORK: the result in whose buffer it lies before that is written, set by
                 prog_finish; -1: in the workspace */
  bool lent;  /* WORK, RESULT: steps write through a view of it */
  u64 count;  /* elements */
  u64 offset; /* WORK: where it lies there, set by prog_finish; a multiple of 64 */
  const void
      *data; /* CONST: count elements, aligned to 16 at least, owned by the arena or borrowed */
} prog_slot;

/* ---- code of the block VM ---- */

typedef enum vm_op {
#define VM(id, ...) VM_##id,
#include "program/vm_ops.def"
#undef VM
  VM_OP_COUNT
} vm_op;

/* Straight-line SSA: instruction i defines value i (a store defines none). Operands a, b, c
 * are earlier values, except where vm_ops.def says otherwise. bf16, f16 and the small floats
 * compute in f32 and round after each operation; in a reduction of bf16 or f16 only at its end. */
typedef struct vm_instr {
  u16 op;  /* vm_op */
  u8 type; /* dtype of the result; of a store: of the value */
  u8 unused;
  u32 a, b, c;
} vm_instr;

typedef struct vm_const {
  u64 lo, hi; /* the element's bytes, low first; c128 uses both */
} vm_const;

typedef struct vm_code {
  vm_instr *instrs;
  vm_const *consts;
  u32 len, cap, num_consts, cap_consts;
  u32 num_in, num_out; /* loads of 0..num_in-1, one store of each of 0..num_out-1 */
} vm_code;

/* How a step reads or writes a slot: element offset + sum index[d] * stride[d], in elements.
 * Stride 0 broadcasts, a negative one reverses. */
typedef struct prog_access {
  u32 slot;
  i64 offset;
  i64 stride[PROG_MAX_DIMS];
} prog_access;

/* REDUCER(id, its VM operation, its name) */
#define PROG_REDUCERS(REDUCER)                                                                     \
  REDUCER(SUM, add, "sum")                                                                         \
  REDUCER(PROD, mul, "prod")                                                                       \
  REDUCER(MAX, max, "max")                                                                         \
  REDUCER(MIN, min, "min")                                                                         \
  REDUCER(AND, and, "and")                                                                         \
  REDUCER(OR, or, "or")                                                                            \
  REDUCER(XOR, xor, "xor")

/* What combines two values. REDUCE_CODE: a vm_code. */
typedef enum prog_reducer {
  REDUCE_CODE,
#define REDUCER(id, ...) REDUCE_##id,
  PROG_REDUCERS(REDUCER)
#undef REDUCER
      REDUCE_COUNT_
} prog_reducer;

/* A reduction body over n values at once: loads 0..n-1 are the left (accumulated) values,
 * n..2n-1 the right ones; stores 0..n-1 the results. `kind` names it where n is 1 and it is
 * one of the known ones (program_validate fills `kind` in for a code that is just one op). */
typedef struct prog_body {
  prog_reducer kind;
  vm_code code; /* empty unless REDUCE_CODE */
} prog_body;

/* ---- steps ---- */

/* An elementwise kernel over an iteration space, or (reduced > 0) a reduction over its last
 * `reduced` dims: then store i is the i-th value to be reduced, init[i] a scalar slot with its
 * initial value, and out[i] has stride 0 in the reduced dims; a body of a known kind reduces each
 * output's values by themselves. Each output element is written exactly once. An output may be an
 * input's memory only with the very same access. */
typedef struct prog_loop {
  u32 rank, reduced;
  i64 dims[PROG_MAX_DIMS];
  u32 num_in, num_out, cap_in, cap_out;
  prog_access *in, *out;
  vm_code code;
  u32 *init; /* reduced > 0: num_out scalar slots */
  prog_body body;
} prog_loop;

/* out[b,m,n] = sum_k lhs[b,m,k] * rhs[b,n,k], each of b, m, n, k any number of dims. Strides in
 * elements; all of one list: first nb batch dims, then nm, nn, nk. Accumulates in f32 for
 * f32 and smaller floats, in the result's type otherwise. Operands may differ in type from
 * each other and from the result: values are converted. parts: slots of complex numbers are seen as
 * their parts, in turn: offsets and strides count these. */
typedef struct prog_dot {
  u32 lhs, rhs, out;
  u32 nb, nm, nn, nk;
  i64 *dims;                                 /* nb + nm + nn + nk */
  i64 *lhs_stride, *rhs_stride, *out_stride; /* same length; 0 where a dim is absent */
  i64 lhs_offset, rhs_offset, out_offset;    /* elements into the slot */
  bool by_tiles;                             /* prog_add_tiles */
  u32 taps;                                  /* of these: rhs as it is multiplied */
  bool parts;
} prog_dot;
/* What the elements of a slot are to it, and how many there are. */
static inline dtype prog_dot_type(const prog_dot *d, const prog_slot *s) {
  if (!d->parts || (s->type != DTYPE_c64 && s->type != DTYPE_c128)) return s->type;
  return s->type == DTYPE_c64 ? DTYPE_f32 : DTYPE_f64;
}
static inline u64 prog_dot_count(const prog_dot *d, const prog_slot *s) {
  return prog_dot_type(d, s) == s->type ? s->count : 2 * s->count;
}

/* dst = src element by element: slice, transpose, concatenate, reverse, broadcast. The types'
 * widths are equal. A whole-slot copy costs nothing where the planner gives both one memory. */
typedef struct prog_copy {
  u32 rank;
  i64 dims[PROG_MAX_DIMS];
  prog_access src, dst;
} prog_copy;

/* Part of a tensor at run-time offsets, clamped as StableHLO says.
 * slice: small = big[start...]; update: big[start...] = small, in place; view: small, a VIEW, is
 * big[start...] from there on.
 * Without dims a slice is all of big, whose elements may be of another width than small's.
 * turns: 1 + a dim along which a slice is of big with itself behind it, with all of later ones. */
typedef struct prog_dynamic {
  bool update, view;
  u32 big, small, rank, turns;
  i64 big_dims[PROG_MAX_DIMS], small_dims[PROG_MAX_DIMS];
  u32 start[PROG_MAX_DIMS]; /* scalar integer slots */
} prog_dynamic;

/* StableHLO gather and scatter, attribute for attribute. For scatter: offset_dims are
 * update_window_dims, collapsed are inserted_window_dims, start_index_map is
 * scatter_dims_to_operand_dims; it updates operand[i] in place with updates[i]. */
typedef struct prog_gather {
  bool scatter;
  u32 n;                /* operands; gather: 1 */
  u32 *operand, *other; /* gather: result; scatter: updates */
  u32 indices;          /* an integer slot */
  i64s operand_dims, indices_dims, other_dims;
  i64s offset_dims, collapsed, operand_batching, indices_batching, start_index_map;
  i64 index_vector_dim;
  i64s slice_sizes; /* gather only; scatter: derived */
  i64 wrap;         /* of indices of one component: what is added to negative ones; 0: nothing */
  bool fills;       /* of such a gather: what an index out of range names is `fill` */
  vm_const fill;
  prog_body body; /* scatter only: (operand, update) */
} prog_gather;

/* Stable sort of n operands along the middle of (outer, size, inner), of which the first `keep` are
 * written: results are (outer, keep, inner). The comparator's loads 2i and 2i+1 are left and right
 * of operand i; its one store, pred, is "left goes first". An operand that is PROG_NONE is each
 * element's place in its line, an s32. A line is made of `runs` sorted ones, as far as is known; 0:
 * it is not. */
typedef struct prog_sort {
  u32 n;
  u32 *in, *out;
  i64 outer, size, inner, keep, runs;
  vm_code less;
} prog_sort;

/* StableHLO reduce_window over n operands of equal shape; init: scalar slots. */
typedef struct prog_window {
  u32 n, rank;
  u32 *in, *init, *out;
  i64 dims[PROG_MAX_DIMS], out_dims[PROG_MAX_DIMS];
  i64 window[PROG_MAX_DIMS], stride[PROG_MAX_DIMS];
  i64 base_dilation[PROG_MAX_DIMS], window_dilation[PROG_MAX_DIMS];
  i64 pad_low[PROG_MAX_DIMS];
  prog_body body;
} prog_window;

/* StableHLO select_and_scatter: out, of the operand's shape, begins as init everywhere; for each
 * element of the source in order, `select` (its loads: the one selected so far and the next; its
 * store, pred: keep) chooses in the operand's window where `scatter` combines it (out, source).
 * Source, init and out are of one type, which `select` need not be of. */
typedef struct prog_select_scatter {
  u32 operand, source, init, out, rank;
  i64 dims[PROG_MAX_DIMS], source_dims[PROG_MAX_DIMS];
  i64 window[PROG_MAX_DIMS], stride[PROG_MAX_DIMS], pad_low[PROG_MAX_DIMS];
  vm_code select;
  prog_body scatter;
} prog_select_scatter;

typedef enum prog_rng_kind { RNG_THREEFRY, RNG_PHILOX } prog_rng_kind;

/* rng_bit_generator: bits of `out`'s type from `state` (u64[2] or u64[3]), and the next one. Two
 * words of up to 32 bits each that threefry makes at a time are neighbours along the middle one of
 * three dimensions of out, as XLA has it. */
typedef struct prog_rng {
  prog_rng_kind kind;
  u32 state, new_state, out;
  i64 outer, size, inner;
} prog_rng;

/* COLL(id, name, whether it has a body that reduces, whether its groups may differ in size)
 * As with PROG_STEPS, what must know every kind does not build without it: check_<id> in
 * validate.c, run_<id> in exec/collective.c. */
#define PROG_COLLECTIVES(COLL)                                                                     \
  COLL(ALL_REDUCE, "all_reduce", true, true)                                                       \
  COLL(ALL_GATHER, "all_gather", false, false)                                                     \
  COLL(REDUCE_SCATTER, "reduce_scatter", true, false)                                              \
  COLL(ALL_TO_ALL, "all_to_all", false, false)                                                     \
  COLL(PERMUTE, "collective_permute", false, false)                                                \
  COLL(BROADCAST, "collective_broadcast", false, true) /* from each group's first member */

typedef enum prog_collective_kind {
#define COLL(id, ...) COLL_##id,
  PROG_COLLECTIVES(COLL)
#undef COLL
      COLL_COUNT_
} prog_collective_kind;

/* Devices are positions in the launch, 0..num_replicas*num_partitions-1 (replica-major:
 * replica * num_partitions + partition). Group g is members[begin[g]] .. members[begin[g+1]-1],
 * in that order; a device is in one group at most. A device in no group gets zeros. permute:
 * pairs[2i] -> pairs[2i+1]; a target that nobody sends to gets zeros; devices that send to each
 * other, directly or through others, meet. */
typedef struct prog_collective {
  prog_collective_kind kind;
  u32 n;         /* operands, handled alike */
  u32 *in, *out; /* slots */
  u32 num_groups;
  u32 *begin, *members;
  u32 num_pairs;
  u32 *pairs;
  prog_body body; /* all_reduce, reduce_scatter; one operand at a time */
  /* Operand i seen as (outer[i], size[i], inner[i]) around its dimension.
   * all_gather: result (outer, group * size, inner); reduce_scatter: operand
   * (outer, group * size, inner), result (outer, size, inner). */
  i64 *outer, *size, *inner;
  /* all_to_all: local operand shape (equal for all operands), split into the group's size. */
  u32 rank, split_dim, concat_dim;
  i64 dims[PROG_MAX_DIMS];
} prog_collective;

typedef struct prog_jump {
  u32 slot;    /* JUMP_UNLESS: a pred; CASE: an s32, out of range means the last */
  u32 n;       /* targets: 1, or CASE: the branches */
  u32 *target; /* step indices (labels while building) */
} prog_jump;

typedef struct prog_id {
  u32 out; /* a u32 scalar */
} prog_id;

/* A whole slot, dense and row-major, and how it is shaped. */
typedef struct prog_operand {
  u32 slot;
  i64s dims;
} prog_operand;

/* A function over whole tensors: the executor's own of that name (exec/calls.h), or, where `host`
 * is set, one that whoever launches the program brings. Each output is written whole. What params
 * and config say is the function's. */
typedef struct prog_call {
  str target, config;
  bool host;
  u32 num_in, num_out;
  prog_operand *in, *out;
  i64s params;
} prog_call;

/* Steps that are done one after the other on some rows, then on the next ones, so that what is
 * between them stays in a cache. The first `rank` dims of each are these: its rows (a loop's are
 * among the dims that it keeps, a dot's among batches and m, a gather's among those of the indices
 * that its result begins with). A slot that one step writes and
 * another touches has as many elements for each row, in the order of rows, and a row's steps touch
 * no others of it. What a step reads of such a slot the steps before have written. */
typedef struct prog_strips {
  u32 rank;
  i64 dims[PROG_MAX_DIMS];
  u32 n;
  struct prog_step *steps; /* loops, dots, copies, gathers */
} prog_strips;

/* STEP(name, payload struct, where it goes, what it does)
 *   goes: ON to the next step | AWAY to a target of its prog_jump | EITHER of them
 * What must know every kind is made of these rows without a default, by names that end in the
 * kind's: check_ in validate.c, slots_ in slots.c, written_ in flow.c, dump_ in dump.c, put_ in
 * serialize.c; prepare_ in exec/image.c, run_ in exec/place.c. What is missing does not build. */
#define PROG_STEPS(STEP)                                                                           \
  STEP(loop, prog_loop, ON, "elementwise code over an iteration space, or a reduction")            \
  STEP(dot, prog_dot, ON, "sums of products of two tensors, over any dims")                        \
  STEP(copy, prog_copy, ON, "elements moved from one strided place to another")                    \
  STEP(dynamic, prog_dynamic, ON, "a part read, or overwritten, at offsets of the run")            \
  STEP(gather, prog_gather, ON, "slices taken at indices, or combined into a tensor there")        \
  STEP(sort, prog_sort, ON, "a stable sort along one dim, of several tensors alike")               \
  STEP(window, prog_window, ON, "reductions of windows that slide over a tensor")                  \
  STEP(select_scatter, prog_select_scatter, ON,                                                    \
       "values added where windows have what is selected")                                         \
  STEP(rng, prog_rng, ON, "random bits and the generator's next state")                            \
  STEP(collective, prog_collective, ON, "data exchanged by a group's devices, which meet here")    \
  STEP(jump, prog_jump, AWAY, "goes to its target")                                                \
  STEP(jump_unless, prog_jump, EITHER, "goes to its target unless a pred is true")                 \
  STEP(case, prog_jump, AWAY, "goes to the target that an index names, else to the last")          \
  STEP(partition_id, prog_id, ON, "the device's number in its replica")                            \
  STEP(replica_id, prog_id, ON, "the number of the device's replica")                              \
  STEP(call, prog_call, ON, "a function over whole tensors, of the executor's or the host's")      \
  STEP(strips, prog_strips, ON, "other steps, all of them on a few rows at a time")

typedef enum prog_step_kind {
#define STEP(name, ...) STEP_##name,
  PROG_STEPS(STEP)
#undef STEP
      STEP_COUNT_
} prog_step_kind;

typedef struct prog_step {
  prog_step_kind kind;
  str name; /* for people: the op, and where it came from ("file:line:col") */
  str loc;
  str op_name; /* what the source calls it: "jit(f)/layer1/dot_general"; empty: nothing */
  union {
    void *any;
#define STEP(name, type, ...) type *name##_;
    PROG_STEPS(STEP)
#undef STEP
  } u;
} prog_step;

typedef struct program {
  u32 num_replicas, num_partitions;
  bool flush_denormals; /* FTZ and DAZ around every step, as XLA:CPU does */
  u32 num_params, num_results, num_slots, num_steps;
  prog_slot *slots;
  prog_step *steps;
  u32 *param_slot, *result_slot; /* slot of parameter / result i */
  u64 workspace;                 /* bytes a device needs */
} program;

static inline u32 program_num_devices(const program *p) {
  return p->num_replicas * p->num_partitions;
}
/* Whether positions wait for each other: collectives, and messages from one to another. */
bool program_meets(const program *p);
/* Elements of so many dims; without them, 1. */
static inline u64 prog_volume(const i64 *dims, u32 rank) {
  u64 n = 1;
  for (u32 d = 0; d < rank; d++) n *= (u64)dims[d];
  return n;
}
static inline u64 prog_slot_bytes(const prog_slot *s) { return s->count * dtype_size(s->type); }

/* Checks everything: the error (INVALID_ARGUMENT) names the step. Sizes derive from slots. */
status program_validate(const program *p) MUST_USE;
/* Readable text, one line a step. */
void program_dump(const program *p, buf *out);
/* Per collective kind: how many steps, and bytes one device hands in (a loop counts once). */
typedef struct program_stats {
  u32 steps;
  u32 collectives[COLL_COUNT_];
  u64 collective_bytes[COLL_COUNT_];
  u64 workspace, constants;
} program_stats;
void program_count(const program *p, program_stats *out_stats);
/* What one device does in a run, from the steps' shapes; a loop's body counts once, and of branches
 * the one that does most. A product with its sum is two flops. Calls count by their bytes alone. */
typedef struct program_cost {
  double flops;           /* arithmetic and comparisons, of whatever type */
  double transcendentals; /* those that cost many times an addition */
  double bytes;           /* read and written, each step's own */
} program_cost;
void program_find_cost(const program *p, program_cost *out_cost);
void program_add_cost(const program *p, const prog_step *s, program_cost *sum); /* one step's */
const char *prog_collective_name(prog_collective_kind kind);                    /* "all_reduce" */
bool prog_collective_reduces(prog_collective_kind kind);                        /* it has a body */
const char *prog_step_kind_name(prog_step_kind kind);
const char *prog_step_kind_doc(prog_step_kind kind); /* what it does */
const char *vm_op_name(vm_op op);
bool vm_takes(vm_op op, dtype t); /* may operand 0 be of this type? */
bool vm_is_heavy(vm_op op);       /* costs many times an addition: not to be computed twice */

/* Flat bytes, versioned. Deserializing copies everything into the arena and validates:
 * INVALID_ARGUMENT where the bytes are no program, FAILED_PRECONDITION for another version. */
void program_serialize(const program *p, buf *out);
status program_deserialize(arena *a, str bytes, const program **out_program) MUST_USE;

/* ---- builder ----
 * Never fails: misuse shows in prog_finish. Memory from the arena, OOM to its trap. Names and
 * locations are borrowed and must live as long as the program. Arrays given are copied. */

typedef struct prog_builder prog_builder;
prog_builder *prog_begin(arena *a, u32 num_replicas, u32 num_partitions);
void prog_set_flush_denormals(prog_builder *b, bool on);
/* Right after prog_begin: where to put what nobody needs after prog_finish. Without it that lies in
 * the program's arena, too. */
void prog_set_scratch(prog_builder *b, arena *scratch);
arena *prog_arena(prog_builder *b);
void prog_set_op_name(prog_builder *b, str name); /* of the steps that follow; borrowed */

/* Slots. Parameters and results are numbered in the order of these calls. */
u32 prog_param(prog_builder *b, dtype type, u64 count);
/* alias: the parameter whose (donated) buffer the result takes over, -1 for none. The caller
 * of the launch then passes one pointer for both; no step may read the parameter after the
 * result's first write other than through the same access. */
u32 prog_result(prog_builder *b, dtype type, u64 count, i32 alias);
u32 prog_work(prog_builder *b, dtype type, u64 count);
u32 prog_const(prog_builder *b, dtype type, u64 count, const void *data);          /* copied */
u32 prog_const_borrowed(prog_builder *b, dtype type, u64 count, const void *data); /* kept */
dtype prog_slot_type(const prog_builder *b, u32 slot);
bool prog_slot_is_param(const prog_builder *b, u32 slot);

/* Steps, each in order after the one before. Strides are in elements, one per dim. */
prog_loop *prog_add_loop(prog_builder *b, u32 rank, const i64 *dims, str name, str loc);
u32 prog_loop_in(prog_builder *b, prog_loop *l, u32 slot, i64 offset, const i64 *strides);
/* Adds the output and the store of `value` to it. */
void prog_loop_out(prog_builder *b, prog_loop *l, u32 slot, i64 offset, const i64 *strides,
                   u32 value);
/* Makes it a reduction of the last `reduced` dims; one init scalar slot per output. `body` is
 * copied by value; give (prog_body){.kind = REDUCE_SUM} or one made with vm_* calls. */
void prog_loop_reduce(prog_builder *b, prog_loop *l, u32 reduced, const u32 *init, prog_body body);

/* Code. Loop code is &loop->code; a body's or comparator's is a zeroed vm_code. */
u32 vm_load(prog_builder *b, vm_code *c, dtype type, u32 input);
u32 vm_const_bits(prog_builder *b, vm_code *c, dtype type, const void *element);
u32 vm_const_f64(prog_builder *b, vm_code *c, dtype type, double value); /* converted to type */
u32 vm_iota(prog_builder *b, vm_code *c, dtype type, u32 dim);
u32 vm_emit(prog_builder *b, vm_code *c, vm_op op, dtype type, u32 v0, u32 v1, u32 v2);
void vm_store(prog_builder *b, vm_code *c, u32 output, u32 value);

void prog_add_dot(prog_builder *b, const prog_dot *dot, str name, str loc); /* arrays copied */
/* Where *d is a convolution of a shape that takes fewer products by tiles (tiles.c), adds the step
 * that transforms its kernel for that and notes it in *d. */
void prog_add_tiles(prog_builder *b, prog_dot *d, str name, str loc);
void prog_add_copy(prog_builder *b, u32 rank, const i64 *dims, u32 src, i64 src_offset,
                   const i64 *src_strides, u32 dst, i64 dst_offset, const i64 *dst_strides,
                   str name, str loc);
/* dst = src, whole slots of equal bytes; free if the planner can make them one. */
void prog_add_move(prog_builder *b, u32 src, u32 dst, str name, str loc);
/* Fills a whole slot with one element (of the slot's type). */
void prog_add_fill(prog_builder *b, u32 dst, const void *element, str name, str loc);
void prog_add_dynamic(prog_builder *b, const prog_dynamic *d, str name, str loc);
void prog_add_gather(prog_builder *b, const prog_gather *g, str name, str loc);
void prog_add_sort(prog_builder *b, const prog_sort *s, str name, str loc);
void prog_add_window(prog_builder *b, const prog_window *w, str name, str loc);
void prog_add_select_scatter(prog_builder *b, const prog_select_scatter *s, str name, str loc);
void prog_add_rng(prog_builder *b, const prog_rng *r, str name, str loc);
void prog_add_collective(prog_builder *b, const prog_collective *c, str name, str loc);
void prog_add_partition_id(prog_builder *b, u32 out, str name, str loc);
void prog_add_replica_id(prog_builder *b, u32 out, str name, str loc);
void prog_add_call(prog_builder *b, const prog_call *c, str name, str loc); /* arrays copied */

/* Labels: make one, jump to it from anywhere, place it before the next step to be added (a
 * label at the end is the program's end). A while loop is
 *   move init -> carried; place(top); condition steps; jump_unless(cond, end); body steps;
 *   move body results -> carried; jump(top); place(end). */
u32 prog_label(prog_builder *b);
void prog_place(prog_builder *b, u32 label);
void prog_add_jump(prog_builder *b, u32 label, str name, str loc);
void prog_add_jump_unless(prog_builder *b, u32 pred_slot, u32 label, str name, str loc);
void prog_add_case(prog_builder *b, u32 index_slot, u32 n, const u32 *labels, str name, str loc);

/* Plans the workspace (liveness over the steps, moves made free, in-place loops), validates.
 * INTERNAL with the step's name if the program is wrong. */
status prog_finish(prog_builder *b, const program **out_program) MUST_USE;

#endif
