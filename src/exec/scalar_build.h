/* Lists of operations (scalar_code.h) while they are made of a program's steps. */
#ifndef EXEC_SCALAR_BUILD_H
#define EXEC_SCALAR_BUILD_H

#include "exec/scalar_code.h"
#include "exec/vm.h"

typedef struct scalar_builder {
  const lower_env *e;
  const exec_step *steps;
  VEC(scalar_op) ops;
  VEC(scalar_reg) regs;
  size_t temps, scratch; /* what operations and steps need */
  u32 *start;            /* by step: its first operation */
} scalar_builder;

static inline u32 scalar_add_reg(scalar_builder *b, scalar_reg r) {
  VEC_PUSH(b->e->a, b->regs, r);
  return (u32)b->regs.len - 1;
}
static inline void scalar_add_op(scalar_builder *b, scalar_op op) { VEC_PUSH(b->e->a, b->ops, op); }
/* Where an access has an element, of which nothing reads more than that. */
u32 scalar_add_access(scalar_builder *b, const prog_access *a, const i64 *index, u32 rank);
void scalar_add_copy(scalar_builder *b, u32 to, u32 from, u32 width);
/* Calls for one element. */
vm_unit *scalar_lower_loop(const lower_env *e, const prog_loop *l);
/* Whether a step touches a view: code over single elements knows where these lie before it runs. */
bool scalar_sees_views(const program *p, const prog_step *s);
/* Step `at` is of single elements, or a jump. */
bool scalar_is_single(const program *p, u32 at);
/* To the next element, in order; false: it was the last one. */
bool scalar_next_index(i64 *index, const i64 *dims, u32 rank);
/* What does for one element what the kernel does for many. */
scalar_fn *scalar_find_fast(const vm_kernels *k, kern_fn *fn, scalar_is *out);
scalar_fn *scalar_find_call(const vm_kernels *k, const vm_call *c, scalar_is *out);

/* few.c. Loops, sums, products and copies of a few elements as operations on each, in the order in
 * which the step itself would compute: only for code that is compiled, as nothing else knows
 * SCALAR_FMA. `in_loop`: the steps that are asked about. By step: it is one of them. One that is
 * called in little time is left as it is where it shares a slot with a step that is none, and
 * either writes it: elements would go from registers to memory and back. */
const bool *scalar_find_few(const lower_env *e, const exec_step *steps, const bool *in_loop);
void scalar_add_few(scalar_builder *b, const prog_step *s);

#endif
