/* The body of a reduction, run on blocks of values in register form, and many values combined in
 * order.
 *
 * A body need not commute, and a long sum must not lose what one accumulator loses. So values are
 * combined as StableHLO has it: in a binary tree whose leaves are the values in order, here one
 * whose shape depends on their number only (docs/semantics.md). */
#ifndef EXEC_COMBINE_H
#define EXEC_COMBINE_H

#include "exec/step.h"
#include "exec/vm.h"

enum {
  COMBINE_OPERANDS = 32,
  COMBINE_LEVELS = 16,
  COMBINE_FEW = 16, /* a cumulative reduction of so many rounds each step, and is in order */
  COMBINE_RUN = 128 /* values that one accumulator takes before it passes them on */
};

typedef struct combiner {
  const vm_kernels *k;
  vm_unit *unit; /* left values, right values -> results */
  u32 n;         /* operands */
  dtype *types;
  u32 *width; /* bytes of a register's element, by operand */
} combiner;

/* rounds: f16 and bf16 to their type after every step, as smaller formats always do. */
void combine_lower(const lower_env *e, const prog_body *body, u32 n, const dtype *types,
                   bool rounds, combiner *out);

/* Between memory and registers: n elements of operand o. */
void combine_load(const combiner *c, u32 o, size_t n, void *to, const void *from);
void combine_store(const combiner *c, u32 o, size_t n, void *to, const void *from);

/* to = body(left, right) for n values of every operand; `to` may be left, or right. */
static inline void combine(const combiner *c, void **reg, char *const *to, char *const *left,
                           char *const *right, size_t n) {
  for (u32 o = 0; o < c->n; o++) {
    reg[o] = left[o];
    reg[c->n + o] = right[o];
    reg[2 * c->n + o] = to[o];
  }
  vm_run(c->unit, reg, n);
  for (u32 o = 0; o < c->n; o++) {
    const vm_output *v = &c->unit->outputs[o];
    if (!v->in_place && reg[v->reg] != to[o]) memmove(to[o], reg[v->reg], n * v->width);
  }
}
static inline void combine_copy(const combiner *c, char *const *to, char *const *from, size_t n) {
  for (u32 o = 0; o < c->n; o++) memcpy(to[o], from[o], n * c->width[o]);
}

/* Accumulators of a block of n values, taken one block after the other: one that has taken
 * COMBINE_RUN of them empties itself into the next level's. */
typedef struct accumulators {
  const combiner *c;
  void **reg;
  char *acc[COMBINE_OPERANDS]; /* of level 0 */
  size_t bytes;                /* of an operand's on one level */
  u32 levels;
  u32 taken[COMBINE_LEVELS]; /* by level */
} accumulators;

/* How many levels that many values take. */
u32 accumulators_levels(u64 length);
/* Memory for all levels of n values. */
size_t accumulators_bytes(const combiner *c, u32 levels, size_t n);
/* Lays them out in mem; they are empty. */
void accumulators_begin(accumulators *a, const combiner *c, void **reg, char *mem, u32 levels,
                        size_t n);
void accumulators_pass_on(accumulators *a, size_t n);
static inline void accumulators_take(accumulators *a, char *const *values, size_t n) {
  if (a->taken[0])
    combine(a->c, a->reg, a->acc, a->acc, values, n);
  else
    combine_copy(a->c, a->acc, values, n);
  if (++a->taken[0] == COMBINE_RUN) accumulators_pass_on(a, n);
}
/* The first n of what is less than a block, behind blocks that are whole. */
void accumulators_take_short(accumulators *a, char *const *values, size_t n);
/* All that was taken, at least once, combined; where it lies in `out`. Ends their use. */
void accumulators_join(accumulators *a, size_t n, char **out);

/* The kernel that combines values by a known body, of a type that is its own register; or NULL. */
kern_fn *combine_direct(const vm_kernels *k, const prog_body *body, dtype t);

#endif
