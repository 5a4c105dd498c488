/* A kernel over blocks of an iteration space: what elementwise loops (loop.c) and reductions
 * (reduce.c) share.
 *
 * The dims are sorted so that the output is written in order, and neighbours that every access
 * walks as one are merged. A block is then as many of the last dims as fit, and a piece of the
 * next one. Of a block an input is contiguous (read where it lies), a scalar, or gathered into
 * scratch; an output likewise. */
#ifndef EXEC_LOOP_H
#define EXEC_LOOP_H

#include "exec/step.h"
#include "exec/vm.h"

typedef struct walk { /* an access, or an iota, of a plan's dims */
  i64 stride[PROG_MAX_DIMS];
} walk;

/* MODE_SPREAD: a power of two elements of a row have one, rows' lie together, and code reads it so
 */
typedef enum mode { MODE_CONTIGUOUS, MODE_SCALAR, MODE_SPREAD, MODE_STRIDED } mode;

typedef struct pattern { /* of one walk inside a block */
  mode mode;
  u32 rank;
  i64 head; /* dims[0] is this times the block's count of the cut dim */
  i64 dims[PROG_MAX_DIMS], stride[PROG_MAX_DIMS];
  const struct shuffle_vector *every; /* of the last dim's elements (shuffle_every); NULL: none */
} pattern;

/* Dims cut into blocks: outer ones, the cut one in pieces of `piece`, whole inner ones. */
typedef struct plan {
  u32 rank, cut;
  i64 dims[PROG_MAX_DIMS];
  u32 may_spread; /* of how many walks the patterns may be MODE_SPREAD */
  bool several;   /* rows a block, whatever is a strided access then */
  u32 across;     /* 1 + the dim to cut, in which an input is contiguous; 0: any */
  u32 num_walks;
  walk *walks;
  pattern *patterns;
  u64 inner, piece, pieces, blocks, max_elements;
} plan;

/* Where block b begins (outer indices) and how much of the cut dim it has. */
typedef struct block {
  i64 index[PROG_MAX_DIMS];
  i64 count;
  size_t elements;
} block;

typedef struct input {
  u32 slot, width;
  i64 offset;
  bool still;    /* gathered, and the same for all blocks */
  u32 pair;      /* 1 + another one, which has every second element, as this one the others */
  bool paired;   /* it is the other one of a pair, or one of a family */
  u32 family;    /* so many, of which it is the first, have elements side by side; 0: it is alone */
  size_t packed; /* where its gathered block lies in scratch; 0: never gathered */
} input;

typedef struct kernel {
  const vm_kernels *k;
  plan p;
  vm_unit *unit;
  u32 num_in, num_out, num_iota; /* walks: inputs, then outputs, then iotas */
  u32 num_heavy;                 /* instructions that take many times an addition's time */
  vm_sums sums;     /* that are wanted: of blocks where they are long enough and not too long */
  u32 length;       /* of rows of sums */
  const u32 *pitch; /* of columns that are in rows of their own: vm_spec's; NULL: a block has all */
  vm_unit *summing; /* of columns; NULL: none */
  bool streams;     /* rows of results go past the caches */
  input *in;
  input *out;
  size_t table_at; /* in scratch, where words are looked up; 0: never */
  i64 *steps;      /* of a map in place, by dim up to the cut one and walk: to the next block */
  size_t regs_bytes, scratch;
} kernel;

/* ---- plans ---- */

/* Largest stride of walk `by` first; stable. */
void loop_sort_dims(plan *p, u32 by);
static inline i64 loop_magnitude(i64 x) { return x < 0 ? -x : x; }
/* Merges neighbours that every walk walks as one. */
void loop_collapse(plan *p);
void loop_swap_dims(plan *p, u32 a, u32 b);
/* Cuts the dims so that a block has at most `target` elements, or one of the last dim's. */
void loop_cut(arena *a, plan *p, u64 target);
/* The same with pieces of the cut dim of up to so many elements. */
void loop_set_piece(plan *p, u64 target);
void loop_find_block(const plan *p, u64 b, block *out);
static inline i64 loop_block_offset(const plan *p, const block *b, u32 walk_index) {
  const i64 *s = p->walks[walk_index].stride;
  i64 at = 0;
  for (u32 d = 0; d <= p->cut; d++) at += b->index[d] * s[d];
  return at;
}

/* It is the same in all blocks, of which there are several. */
static inline bool loop_stays(const plan *p, u32 walk_index) {
  const i64 *stride = p->walks[walk_index].stride;
  for (u32 d = 0; d < p->cut; d++)
    if (stride[d] != 0) return false;
  return stride[p->cut] == 0 || (p->cut > 0 && p->pieces == 1);
}

/* ---- loops that read something across (loop_across.c) ---- */

/* Where an input is contiguous in another dim than the output, has blocks cut in that dim, of as
 * many whole dims behind it as have up to `most` elements. */
void loop_cut_across(plan *p, u32 num_in, u64 most);
/* Pieces of whole lines of that input. */
void loop_set_lines(plan *p, u32 width);
/* A block's elements, where they lie together in another than the last dims of its pattern. */
bool loop_lies_across(const pattern *p);
void loop_gather_across(const vm_kernels *k, const pattern *p, i64 count, u32 width,
                        const char *base, char *out);

/* ---- kernels ---- */

input loop_input(const lower_env *e, const prog_access *a);
/* The walks over dims [first, first + rank) of the loop, in order inputs, outputs, iotas. */
void loop_make_walks(const lower_env *e, kernel *kn, const prog_loop *l, u32 first, u32 rank);
/* Cuts the plan into blocks of up to `target` elements, fewer where the code needs much scratch,
 * and lowers the code for them. registers: outputs stay values of register type. */
enum { LOOP_BLOCK = 2048 };
void loop_lower_unit(const lower_env *e, kernel *kn, const prog_loop *l, bool registers,
                     u64 target);
void loop_lower_inputs(const lower_env *e, kernel *kn, const prog_loop *l);
u64 loop_cost(const kernel *kn, u64 elements);
/* Inputs and iotas of a block into registers. extra: offsets of the inputs and iotas beyond the
 * block's own, or NULL. again: with the same ones, so that what is still is there. */
void loop_fetch(const kernel *kn, const exec_env *env, void **reg, char *packed, const block *b,
                const i64 *extra, bool again);

/* ---- accesses that go together (loop_together.c) ---- */

/* Several whose elements lie one behind the other, again and again. */
void loop_mark_families(const lower_env *e, kernel *kn, const prog_access *accesses, input *list,
                        u32 num, u32 first_walk);
/* What has every second element of one row of memory, and what has the others. */
void loop_find_pairs(const kernel *kn, input *list, u32 num, u32 first_walk, bool outputs);
/* Which outputs' values may be computed where they go, or where their family is in scratch. */
void loop_find_places(const lower_env *e, const plan *p, const prog_loop *l, bool families,
                      bool *out);

/* ---- elements that do not lie together (loop_move.c) ---- */

/* A block's elements from where its pattern says; or numbers that are `base` and where. */
void loop_gather(const vm_kernels *k, const pattern *p, i64 count, u32 width, const char *base,
                 char *out);
void loop_iota(const vm_kernels *k, const pattern *p, i64 count, vm_rtype type, i64 base,
               char *out);
/* A block's values, or one value, to where its pattern says; past the caches, or not. */
void loop_scatter(const vm_kernels *k, const pattern *p, i64 count, u32 width, char *base,
                  const char *values, bool streams);
/* n elements side by side; bytes of which these are many. */
enum { LOOP_FAR_FILL = 1 << 20 };

/* The walk by whose strides dims are sorted: results' (num_in), but where one large array of rows
 * of whole lines stays such rows. That is read in order, fetched ahead, and written apart, past the
 * caches. */
enum { LOOP_STREAMED = 16 << 20 }; /* bytes of a result: more than caches keep */
u32 loop_walk_in_order(const lower_env *e, const prog_loop *l);
void loop_fill(const vm_kernels *k, size_t n, u32 width, char *to, const char *value);
void loop_splat(const vm_kernels *k, const pattern *p, i64 count, u32 width, char *base,
                const char *value);
/* Two blocks, of which the pattern, whose last stride is 2, is the first one's, and the elements in
 * between are the second's. */
void loop_gather_pairs(const vm_kernels *k, const pattern *p, i64 count, u32 width,
                       const char *base, char *first, char *second);
/* Blocks, `apart` bytes from one to the next, of n accesses of which each has the elements right
 * behind those of the one before, whose pattern is the first one's. */
void loop_gather_family(const vm_kernels *k, const pattern *p, i64 count, u32 width, u32 n,
                        const char *base, char *out, i64 apart);
void loop_scatter_family(const vm_kernels *k, const pattern *p, i64 count, u32 width, u32 n,
                         char *base, const char *values, i64 apart);
void loop_scatter_pairs(const vm_kernels *k, const pattern *p, i64 count, u32 width, char *base,
                        const char *first, const char *second);

/* ---- some columns only (loop_narrow.c) ---- */

/* exec_step.narrows of a map in place. */
u64 loop_narrows(const kernel *kn);
/* Those that env->columns says, of all rows. */
void loop_run_narrow(const kernel *kn, const exec_env *env);

/* ---- words looked up (loop_table.c) ---- */

enum { LOOP_TABLE = 1 << 19 }; /* fewer elements are sooner computed */
/* How much scratch a map in place takes that may be done so; 0: it may not. */
size_t loop_table_bytes(const kernel *kn);
void loop_run_table(const kernel *kn, const exec_env *env, u64 begin, u64 end);

/* reduce.c; the kept dims are not empty. No list of initial values: zeros. */
void reduce_lower(const lower_env *e, const prog_loop *l, exec_step *out);

#endif
