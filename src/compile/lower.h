/* Inside compile only: from a flat local module to program steps.
 *
 * Every value of the module becomes a node: what is known of it while steps are being made.
 *   MEM    it lies in a slot, seen through strides (transposes, slices, broadcasts, most
 *          reshapes are only other strides)
 *   INDEX  its element is its own address in such a view: iota, and views of it
 *   CONST  one element everywhere
 *   EXPR   elementwise of other nodes, not computed yet
 *   PIECES boxes of other nodes, not put together; only ops that take it apart and loops, which run
 *          over one box after the other, use it (pieces.c)
 * A step that needs an EXPR in memory makes it MEM; a loop that can compute it on the way
 * pulls its code in (fuse.c). Slots are written once (per turn of a loop), so that reading
 * late is as good as reading early; only while and case write theirs again, and they settle
 * everything inside first (lower_flow.c).
 *
 * pipeline.c calls lower_main once, when the module is local and flat (flatten.c); prog_finish then
 * plans and proves what the builder has been given. Ops are lowered in program order, each by its
 * lower_fn, which does three things in order:
 *
 *   1. asks for its operands as it needs them (fuse_settle, fuse_dense, fuse_pull) and serves
 *      their uses, one lower_used each; see fuse_close for why the order of the two matters
 *   2. makes nodes of its results, or binds them to nodes that there are
 *   3. adds its steps, which read what 1 has got
 *
 * A handler that returns false has reported why, at the op's location. Nothing is taken back: the
 * compilation ends there. Out of memory jumps to the trap of pipeline.c.
 *
 * All memory is the scratch arena's, or the program's. One thread. */
#ifndef COMPILE_LOWER_H
#define COMPILE_LOWER_H

#include "program/program.h"
#include "ir/op.h"
#include "shard/sharding_ir.h"

typedef enum node_kind { NODE_MEM, NODE_INDEX, NODE_CONST, NODE_EXPR, NODE_PIECES } node_kind;

typedef struct group group;
typedef struct node node;

/* A box of a PIECES: `of` has the dims of the box, whose first element is at `at`. */
typedef struct piece {
  node *of;
  i64 at[PROG_MAX_DIMS];
} piece;
typedef VEC(piece) pieces;

/* Values that are computed right into no result, and those that are moved later to where something
 * else is now (a donated parameter, what a loop carries), unless they are computed in its place. */
enum { NOWHERE = -1, LATER_MOVED = -2 };

struct node {
  u8 kind;      /* node_kind */
  u8 type;      /* dtype */
  bool dense;   /* MEM: the whole slot, row-major */
  bool heavy;   /* EXPR: has a transcendental in it */
  bool uniform; /* EXPR: of constants only, so the same everywhere */
  bool apart;   /* EXPR: of PIECES, when it was made */
  u32 rank;
  const i64 *dims;
  i64 count;   /* elements */
  u32 pending; /* uses that no step has served yet */
  i32 result;  /* of main: the one to be computed right into; NOWHERE, LATER_MOVED */
  /* MEM, INDEX */
  u32 slot;
  i64 offset;
  const i64 *stride;
  u64 slot_count;
  const node *padded; /* this with zeros around it, as a convolution read it; or NULL */
  const i64 *inside;  /* by dim: where in `padded` it begins */
  /* its bytes if it is the same everywhere by a constant, also once it lies in a slot */
  const void *element;
  /* EXPR */
  const op *op;
  node *in[3];
  u32 num_in;
  u32 cost, loads;  /* instructions and loads below it */
  const node *leaf; /* all that it loads, if that is one */
  bool pulled;      /* by all who use it, as they are elementwise */
  bool ahead;       /* a loop behind it wants it in memory */
  bool kept;        /* is about to be stored, so that who comes later may load it */
  group *group;     /* NULL: in none, or its group is closed */
  node *next;       /* in the group */
  /* PIECES: disjoint, and all of it; none of them is a PIECES */
  const pieces *boxes;
  /* the loop that pulled it last, and as which value */
  u32 stamp, vm;
};

/* EXPRs over one shape that will be computed in one loop, still open for more. No open group
 * reads what another open one computes: who needs a value of an open group either joins it or
 * closes it. So two can always become one. */
struct group {
  group *into; /* merged into this one */
  node *first, *last;
  u32 cost, loads;
  bool open;
  group *prev, *next; /* open ones of the block */
};

typedef struct saved_node {
  node *at, was;
} saved_node;

/* A constant that already has a slot; count 0: none. */
typedef struct const_slot {
  u8 type;
  u32 slot;
  i64 count;
  u64 bits[2];
} const_slot;

/* The groups that replica_groups mean (lower_coll.c). */
typedef struct known_groups {
  const attr *groups;
  u32 how, num_groups;
  u32 *begin, *members;
} known_groups;

typedef struct lower {
  ir_ctx *ctx;
  arena *a; /* scratch */
  prog_builder *b;
  shard_space *space; /* of the meshes that groups name; NULL: nothing is sharded */
  u32 num_replicas, num_partitions;
  node **node_of; /* by value.num */
  u32 *scalar_of; /* by value.num: VM value inside a reduction body */
  i32 *result_of; /* by value.num: result of main, NOWHERE, LATER_MOVED */
  u32 *result_slot;
  group *open;                /* list */
  const_slot const_slots[64]; /* by hash; a newer one takes the place */
  u32 stamp, stamps;          /* the current one, and how many there have been */
  u32 moved_from, moved_to;   /* loops read the second slot, which has what the first had */
  u32 num_sites;              /* calls of handlers, so far */
  u32 in_region;              /* depth of regions that may run zero or many times */
  VEC(saved_node) undo;
  VEC(known_groups) groups; /* of collectives, made so far */
  const op *at;             /* op at hand: names the steps */
  str at_loc;               /* of `at`, made when first asked for */
  const op *at_loc_of;
} lower;

/* Emits the steps of @main. The builder has no slots yet. alias[i]: of result i, or NULL. */
bool lower_main(ir_ctx *ctx, arena *scratch, prog_builder *b, shard_space *space, op *main,
                const i32 *alias, u32 num_replicas, u32 num_partitions);
/* Element type as the executor has it; false: it has none. */
bool lower_dtype(const type *element, dtype *out);

/* The ops of a block but its terminator. */
bool lower_block(lower *L, block *b);
typedef bool lower_fn(lower *L, op *o);

/* Element i of an attribute that may be left out. */
static inline i64 int_or(i64s list, size_t i, i64 otherwise) {
  return i < list.len ? list.data[i] : otherwise;
}

/* ---- nodes (node.c) ---- */

static inline node *lower_node(lower *L, const op *o, size_t operand) {
  return L->node_of[op_operand(o, operand)->num];
}
/* A node of the value's type, kind still to be set. NULL: an error about `o`. */
node *lower_new_node(lower *L, const op *o, value *v);
void lower_bind(lower *L, value *v, node *n); /* adds the value's uses to n's */
u32 lower_new_slot(lower *L, node *n);        /* a fresh slot for all of it */
/* Whether n is the whole of its slot, whose elements it finds there by these strides. */
bool lower_fills(const node *n, const i64 *stride);
const i64 *lower_dense_strides(lower *L, u32 rank, const i64 *dims);
void lower_make_dense(lower *L, node *n, u32 slot); /* n is the whole of this slot now */
/* A result that gets a slot of its own; NULL: an error. */
node *lower_new_mem(lower *L, op *o, size_t result);
void lower_used(node *n); /* one use has been served */
bool lower_const_int(const node *n, i64 *out);
/* Another order of dims, those that are back to front, or a node whose dims it is to have; stored:
 * only what stores it uses it. */
typedef struct turned_how {
  i64s order, back;
  const node *to;
  bool stored;
} turned_how;
/* n so; NULL: it cannot be seen so. */
node *lower_turned(lower *L, node *n, const turned_how *how);
/* Strides of the same elements under other dims, where that is possible. */
bool lower_reshape_strides(const node *in, const node *out, i64 *stride);
/* Whether o is a product of v, an operand, and a vector, which may sum up what it computes
 * (reduces_product). */
bool lower_sums_up(const op *o, const value *v);

/* Of 32 bits, or 64, in which first + sum of stride[d] * index d is computed, to be of type t. */
dtype lower_index_type(dtype t, u32 rank, const i64 *dims, const i64 *stride, i64 first);

/* *n times a dimension. Too much only beside a dimension of 0, where any number will do. */
static inline void lower_times(i64 *n, i64 dim) {
  if (!checked_mul(*n, dim, n)) *n = 0;
}

str lower_name(lower *L);
str lower_loc(lower *L);

/* No node has a value in the loop that is built any longer. */
static inline void lower_new_stamp(lower *L) { L->stamp = ++L->stamps; }

/* ---- loops (fuse.c) ---- */

node *fuse_add(lower *L, op *o); /* a new EXPR for elementwise op o */
/* n, a view of `in`, becomes the same EXPR over its own dims, if that is as good. */
bool fuse_as_uniform(const node *in, node *n);
/* n, which is `in` without its last dims, all of size 1, becomes the same, if that is as good. */
bool fuse_without_ones(lower *L, node *in, node *n);
/* Where both are computed later, in one loop, if they may and that is good. */
void fuse_together(lower *L, const node *a, const node *b);
/* An EXPR that may as well be computed wherever it is used, as what it loads may be read there. */
bool fuse_is_small(const node *n);
/* n, which is `in` with dims of size 1 behind its own, becomes the same, if nobody else wants `in`,
 * whose uses are served. Only what stores it may use n. */
bool fuse_with_ones(lower *L, node *in, node *n);
/* n, which is `in` turned, which nobody else wants, becomes the same of turned operands, so that it
 * is computed in the order in which it is wanted. Serves in's use if so. */
bool fuse_turned(lower *L, node *in, node *n, const turned_how *how);
/* n becomes what `in` is of its one operand, but of `of`. Serves in's use. */
void fuse_computed_of(lower *L, node *in, node *n, node *of);
void fuse_close(lower *L, group *g);   /* computes what is still needed of it */
void fuse_close_of(lower *L, node *n); /* n's group, if it is in an open one */
void fuse_close_all(lower *L);
void fuse_drop_all(lower *L);        /* at the end of a block, when all it returns is computed */
void fuse_settle(lower *L, node *n); /* no EXPR any more */
u32 fuse_dense(lower *L, node *n);   /* its slot, row-major; makes one if need be */
/* n's operands in PIECES are written, so that a loop over all of it may pull it. */
void fuse_join(lower *L, node *n);
/* Stores n into part of a slot. */
void fuse_store(lower *L, node *n, u32 slot, i64 offset, const i64 *strides);
/* Nodes of the same dims, none of which is in pieces, by one loop; whether so many, and each of
 * them so many times, are not too much for one. */
void fuse_store_all(lower *L, node *const *n, const prog_access *to, u32 num);
bool fuse_store_together(node *const *n, u32 num, u32 times);

/* A loop under construction. perm[d]: dim of the nodes that loop dim d runs over. */
typedef struct pull {
  lower *L;
  prog_loop *loop;
  u32 rank;
  const u32 *perm; /* NULL: the same */
  const i64 *at;   /* where in the nodes the loop begins; NULL: with their first element */
  u32 loaded[64];  /* value that loads input i */
} pull;
pull fuse_begin(lower *L, u32 rank, const i64 *dims, const u32 *perm);
u32 fuse_pull(pull *p, node *n); /* its value in the loop's code */

/* ---- values in pieces (pieces.c) ---- */

/* Whether all that use o's result take boxes of it apart again, so that it need not be written. */
bool pieces_pay(const op *o);
/* Whether o is a dynamic slice of a value with itself behind it, and of later dims has all. */
bool pieces_turn(const op *o);
/* Whether o is a convolution that reads v, its input, with zeros around it, or cut. */
bool pieces_padded_by(const op *o, const value *v);
/* Whether o is used by loops alone. */
bool pieces_computed_on(const op *o);
/* Puts it together, in a slot, or where n, by now a MEM, says. */
void pieces_write(lower *L, node *n);
void pieces_put(lower *L, node *n);
/* Boxes in which what is of these PIECES is of one box of each: where they begin along each dim,
 * and, behind the last of the `n` of a dim, where it ends. */
enum { PIECES_CUTS = 16 };
typedef struct cuts {
  u32 n[PROG_MAX_DIMS];
  i64 at[PROG_MAX_DIMS][PIECES_CUTS + 1];
} cuts;
/* Adds those of n; false: too many. */
bool pieces_cut(const node *n, cuts *c);
/* The box of n that has what begins at `at`. */
const piece *pieces_find(const node *n, const i64 *at);
/* in, whose first element is at `at`, as boxes of a value of these dims: what is outside of it is
 * left out. */
void pieces_add(lower *L, pieces *to, node *in, const i64 *at, const i64 *dims);
/* The result of o, of those boxes: seen in what it is of, in pieces if that pays, else in memory.
 * NULL: an error. */
node *pieces_result(lower *L, op *o, const pieces *boxes, bool pays);

/* ---- scalar code (select.c) ---- */

/* Emits elementwise op o over VM values v; types are those of o. */
u32 select_emit(lower *L, vm_code *c, const op *o, const u32 *v);
bool select_is_elementwise(const op *o);
/* false: no instruction computes this op on such elements, which is reported. */
bool select_takes(lower *L, const op *o);
bool select_is_heavy(const op *o);
/* A region of scalar ops as code: block arguments are loads, returned values stores. */
bool select_code(lower *L, const op *o, block *body, vm_code *out);
bool select_body(lower *L, const op *o, block *body, prog_body *out);
extern lower_fn *const lower_of[OP_COUNT];

#endif
