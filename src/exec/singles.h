/* Single elements that scatters put or combine where they belong, in order. */
#ifndef EXEC_SINGLES_H
#define EXEC_SINGLES_H

#include "exec/vm.h"

/* to[places[i]] becomes that combined with from[i * step], for n of them; nothing where the place
 * is more than `most`, as one below zero is, and is so yet with `wrap` added. */
typedef struct single_run {
  size_t n;
  void *to;
  const i32 *places;
  const void *from;
  i64 step;
  u32 most, wrap;
  bool far; /* they lie where fetching them some elements ahead pays */
} single_run;
typedef void single_fn(const single_run *r);
/* kind REDUCE_CODE: what comes takes the place, whatever the type. NULL: there is none. */
single_fn *single_find(prog_reducer kind, vm_rtype t, u32 log2_width);
/* The same of a type that no register holds. */
single_fn *single_find_bf16(prog_reducer kind);

#endif
