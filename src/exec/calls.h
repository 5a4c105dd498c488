/* The executor's functions over whole tensors, for the steps that call one by name.
 *
 * A row a function. When an image is made its `prepare` looks at types, dimensions and parameters,
 * which may come from anywhere (a serialized program), and refuses what `run` or `finish` could not
 * do: INVALID_ARGUMENT, or UNIMPLEMENTED. It says how many units the work has, or leaves 0 where
 * `finish` does all of it. To add one: a file with its `call_row`, and a line in calls.c. */
#ifndef EXEC_CALLS_H
#define EXEC_CALLS_H

#include "exec/step.h"
#include "program/lapack.h"

typedef struct call_plan {
  const struct call_row *row;
  const prog_call *c;
  const program *prog;
  const vm_kernels *k;
  arena *a;         /* the image's; while preparing */
  const void *data; /* the row's own, from the arena */
  u64 units, cost;  /* as in exec_step */
  size_t scratch;   /* bytes, for `run` */
} call_plan;

typedef struct call_row {
  const char *target, *doc;
  status (*prepare)(call_plan *plan);
  /* Units begin..end, which are independent of each other. NULL: there is `finish`. */
  void (*run)(const call_plan *plan, const exec_env *env, u64 begin, u64 end);
  /* All of it at once, without scratch, and it may fail the launch. */
  status (*finish)(const call_plan *plan, void *const *slots, u32 position);
  step_start_fn *start; /* not NULL: instead of both, with the plan as its data (exec/step.h) */
} call_row;

static inline dtype call_in_type(const call_plan *p, u32 i) {
  return p->prog->slots[p->c->in[i].slot].type;
}
static inline dtype call_out_type(const call_plan *p, u32 i) {
  return p->prog->slots[p->c->out[i].slot].type;
}
static inline u64 call_in_count(const call_plan *p, u32 i) {
  return p->prog->slots[p->c->in[i].slot].count;
}
static inline u64 call_out_count(const call_plan *p, u32 i) {
  return p->prog->slots[p->c->out[i].slot].count;
}
static inline const void *call_in(const call_plan *p, void *const *slots, u32 i) {
  return slots[p->c->in[i].slot];
}
static inline void *call_out(const call_plan *p, void *const *slots, u32 i) {
  return slots[p->c->out[i].slot];
}

extern const call_row call_fft, call_cholesky, call_triangular_solve;

/* call_lapack.c */
#define X(letter, routine, ...) extern const call_row call_lapack_##letter##routine;
LAPACK_CALLS(X)
#undef X

/* NULL: there is none of that name. */
const call_row *call_find(str target);

#endif
