/* What the steps of gathers and scatters share: the index vectors, which are batches, and where the
 * windows are that they name. */
#ifndef EXEC_GATHER_H
#define EXEC_GATHER_H

#include "exec/few_rows.h"
#include "exec/singles.h"
#include "exec/step.h"

typedef struct gathering {
  const vm_kernels *k;
  const prog_gather *g;
  dtype index_type;
  u64 batches;
  u32 index_size; /* components of an index vector */
  i64 component_stride;
  /* by batch dim of the other tensor: size, strides in indices, other, and operand (batching) */
  u32 batch_rank;
  i64 batch_dims[PROG_MAX_DIMS], batch_index[PROG_MAX_DIMS], batch_other[PROG_MAX_DIMS];
  i64 batch_operand[PROG_MAX_DIMS];
  i64 operand_stride[PROG_MAX_DIMS], most[PROG_MAX_DIMS]; /* by index component */
  take_rule rule;                                         /* of the only one */
  char *filled;     /* a row of what is out of range, where rows are gathered and rule.fill is */
  step_shape blank; /* or, of any other, a window of one such element */
  step_shape window; /* elements moved; strides in elements (width 1): to other, from operand */
  u64 window_planes;
  i64 ahead;  /* bytes of the operand that are brought before a window is worked on */
  bool far;   /* the operand is more than caches have to spare */
  u32 *width; /* by operand */
  /* scatter */
  vm_unit *body; /* inputs: operands then updates; outputs: operands */
  bool run;      /* the window's last dim is contiguous in both */
  i64 run_length;
  size_t temp_at;
  kern_take_fn *take;    /* windows of one element where all else lies side by side; NULL: none */
  single_fn *combine;    /* scatter: the same, wherever they lie */
  u64 row;               /* elements of windows that are rows; 0: they are not */
  kern_fn *add;          /* scatter: what combines such a row; NULL: it takes the place */
  kern_add_fn *add_rows; /* the same, for several; NULL: one after the other */
  few_rows_fn *few;      /* for all of a line, where rows are short; NULL: by one of the others */
} gathering;

/* Offsets in elements of batch b: index vector, other tensor, operand by its batching dims. */
void gather_find_batch(const gathering *r, u64 b, i64 *index, i64 *other, i64 *operand);
/* How many of batches b .. end - 1 lie along the last batch dim. */
u64 gather_along_last(const gathering *r, u64 b, u64 end);

/* Where batch b lies, and how far it is to the next one of its line. */
typedef struct batch_line {
  i64 index, other, operand, index_step, other_step, operand_step;
} batch_line;
batch_line gather_line_from(const gathering *r, u64 b);

enum { GATHER_BLOCK = 256 };
/* Where in the operand the windows of batches i and on of a line are, n of at most GATHER_BLOCK:
 * clamped where elements are taken, unless something stands for what is outside; else negative
 * there. */
const i32 *gather_find_places(const gathering *r, const exec_env *env, const batch_line *l, u64 i,
                              u64 n, i32 *to);
/* Whether gather_find_places can say where in the operand something is. */
bool gather_has_places(const prog_gather *g);
/* The body's result is the update. */
bool gather_is_put(const prog_body *body);

/* Whether windows of one element, of type t, can be moved or combined by gather_run_singles: a step
 * of r->batches units, or one where it scatters. */
bool gather_find_single(gathering *r, dtype t);
void gather_run_singles(const void *data, const exec_env *env, u64 begin, u64 end);

#endif
