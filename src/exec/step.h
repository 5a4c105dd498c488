/* A step made ready to run, and how it may be cut up.
 *
 * run(data, slots, scratch, begin, end) does units begin..end of a step; units are independent
 * of each other, so that several workers can share a step, and what a unit computes does not
 * depend on how they were cut. Nothing fails at run time: `scratch` bytes of memory are there
 * before a step begins.
 *
 * Order: image.c calls <kind>_lower for each step when an image is made; run is called from then on
 * by place.c, from any worker, for many devices at once. So what `data` points to is in the image's
 * arena and never written after lowering; what a run needs to write is in its scratch. A lowering
 * fails in two ways only: no memory jumps to the arena's trap, what is missing is noted in `fault`
 * and the image is refused. */
#ifndef EXEC_STEP_H
#define EXEC_STEP_H

#include "program/parts.h"
#include "exec/kernels.h"

/* Terms of a product's right operand that have been seen to be finite. */
enum { EXEC_FINITE = 4 };
typedef struct exec_finite {
  const void *of;
  u64 first, end;
} exec_finite;

typedef struct exec_env {
  char *scratch;              /* at least what the step asked for; aligned to 64 */
  void *const *slots;         /* memory of each slot, for one device */
  struct accel_thread *accel; /* the worker's own */
  const u64 *columns;         /* NULL: all; else those of a step that matter: first, end */
  const u64 *terms;           /* NULL: all; else those that are likely not zero on the left */
  bool zeros;          /* all others are, but are not written: they may be whatever is there */
  exec_finite *finite; /* where there are `zeros`: what is known, by part of all terms */
} exec_env;

typedef void step_fn(const void *data, const exec_env *env, u64 begin, u64 end);

/* A step that something outside does, such as a callback of the host's: starts it and does not
 * wait. Whoever ends it calls place_resume(p, error) (exec/launch.h), once, from any thread. */
typedef struct place place;
typedef void step_start_fn(const void *data, void *const *slots, place *p);

/* A step that is one piece of machine code over n elements: call(n, reg), with the address of byte
 * at[i] of slot[i] in reg[i]. */
typedef struct exec_direct {
  void (*call)(size_t n, void **reg);
  size_t n;
  u32 num;
  const u32 *slot;
  const i64 *at;
  bool placed; /* it is of placed.h, and takes longer than a few elements in registers */
} exec_direct;

typedef struct exec_step {
  step_fn *run;         /* NULL: control flow or a collective */
  step_start_fn *start; /* not NULL: instead of run */
  const void *data;
  const exec_direct *direct; /* NULL: it is none */
  u64 units;
  u64 cost;    /* of a unit, about nanoseconds; of a jump back, of what it does once more */
  u64 narrows; /* how many columns it has, or terms, if it leaves out what does not matter; 0: no */
  size_t scratch;
} exec_step;

/* What a jump back takes of a place's time (launch.h): nanoseconds in TICKS, never more than half a
 * slice, so that each slice gets on. */
enum { TICKS = 4, MOST_TICKS = 1 << 19, SLICE = 2 * MOST_TICKS };
static inline i32 step_ticks(u64 cost) {
  return cost < MOST_TICKS / TICKS ? (i32)cost * TICKS : MOST_TICKS;
}

/* What a step needs and the executor has not; its name is the first one's, NULL: nothing. Or, in
 * words, why a call cannot be. */
typedef struct lower_fault {
  const char *op;
  dtype type;
  status words;
} lower_fault;

/* Offsets of a list of dims whose strides do not merge, known by what they are made of. */
typedef struct offset_table {
  struct offset_table *next;
  u32 rank;
  const i64 *dims, *stride, *at;
} offset_table;

typedef struct lower_env {
  arena *a;
  arena *scratch;        /* vm_lower's, which resets it; NULL: it takes `a` */
  offset_table **tables; /* steps of one shape share theirs; NULL: they do not */
  const program *prog;
  const vm_kernels *k;
  lower_fault *fault;
  struct jit *jit; /* NULL: nothing is compiled */
} lower_env;

void loop_lower(const lower_env *e, const prog_loop *l, exec_step *out);
void copy_lower(const lower_env *e, const prog_copy *c, exec_step *out);
void dynamic_lower(const lower_env *e, const prog_dynamic *d, exec_step *out);
void dot_lower(const lower_env *e, const prog_dot *d, exec_step *out);
void gather_lower(const lower_env *e, const prog_gather *g, exec_step *out);
void sort_lower(const lower_env *e, const prog_sort *s, exec_step *out);
void window_lower(const lower_env *e, const prog_window *w, exec_step *out);
void scan_lower(const lower_env *e, const prog_window *w, u32 dim, bool backward, exec_step *out);
void select_scatter_lower(const lower_env *e, const prog_select_scatter *s, exec_step *out);
void call_lower(const lower_env *e, const prog_call *c, exec_step *out);
void strips_lower(const lower_env *e, const prog_strips *r, exec_step *out);
void rng_lower(const lower_env *e, const prog_rng *r, exec_step *out);

/* Whether what is reduced lies nearer together in the largest operand than what is kept. */
bool reduce_goes_along(const prog_loop *l);

/* A strided copy: strides in bytes. Simplify once (sorts by destination, merges); the planes of
 * its last two dims can be copied independently. copy.c. */
typedef struct step_shape {
  u32 rank, width;
  bool streams; /* its rows go past the caches */
  i64 dims[PROG_MAX_DIMS + 1], to[PROG_MAX_DIMS + 1], from[PROG_MAX_DIMS + 1];
} step_shape;
/* After what went past the caches, whose writes others see then. It waits for them, a hundred
 * nanoseconds or more: once for all of a unit. */
static inline void step_fence(void) {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}
void step_shape_remove(step_shape *s, u32 d); /* dim d goes */
void step_shape_simplify(step_shape *s);
u64 step_shape_planes(const step_shape *s);
void step_shape_copy(const vm_kernels *k, const step_shape *s, char *to, const char *from,
                     u64 begin, u64 end);

/* A copy of narrow rows, by vectors of the destination (shuffle.h). False: there is none of it, or
 * it does not pay. */
bool shuffle_copy(const lower_env *e, const step_shape *s, u32 dst, i64 dst_at, u32 src, i64 src_at,
                  exec_step *out);
/* The same of n such copies of a gather's operand, of elements of `width` bytes; shape and places
 * in elements. */
bool shuffle_rows(const lower_env *e, const step_shape *s, u32 width, const prog_gather *g, u32 n,
                  const i64 *to, const i64 *from, exec_step *out);
/* How many of the first of these steps are done so as one: they make rows of one slot together, as
 * a concatenation does; 0: none. */
u32 shuffle_steps(const lower_env *e, const prog_step *steps, u32 most, exec_step *out);

/* What makes a vector of elements that lie so far apart. NULL: kernels are as good. */
const struct shuffle_vector *shuffle_every(const lower_env *e, i64 stride, u32 width);

/* vm_kernels' transposes, by way of scratch where rows' places in caches are the same. */
void step_transpose(const vm_kernels *k, u32 width, size_t rows, size_t columns, char *to, i64 ts,
                    const char *from, i64 fs, bool streams);

/* Reads an integer element of any integer type, as i64 (u64 above 2^63 saturates). */
i64 step_read_index(dtype t, const void *slot, u64 at);

#endif
