/* Where propagation had to choose, and what the other choice costs.
 *
 * An axis may come to one op along two of its factors: a token's embedding along the batch from the
 * tokens, and along its features from the table. Propagation takes one by its order of visits, and
 * never asks what it costs: all of a layer's sums, or a gather of its weights. And what is summed
 * up goes to all devices, who may all compute the same with it. compile asks: it brings the program
 * to its end once with each of the other choices, as a constraint on what these ops make, and keeps
 * what costs least (cost in wire.h). Ops that meet in the same way, such as those of all layers,
 * are asked about together.
 *
 *   choose_number     before propagation: names the ops that may be asked about
 *   choose_conflicts  after it: the questions
 *   choose_apply      before propagation of a copy: a constraint for each question taken
 *   choose_end        when all is done: the names go */
#ifndef PARTITION_CHOOSE_H
#define PARTITION_CHOOSE_H

#include "ir/op.h"

/* Ops that meet in the same way. */
typedef struct conflict {
  u64 kind;             /* hash of how they meet */
  u64 bytes;            /* of all their results together */
  const attr *sharding; /* the other choice, for the result */
  u64 sum;              /* 0, or the same for all places where that sum's parts may go */
  size_t order;         /* among the questions */
  VEC(i64) numbers;
} conflict;

typedef VEC(conflict) conflicts;

/* false: there is nothing to ask. Results of fewer bytes are not worth a question. */
bool choose_number(ir_module *m, u64 least_bytes);
/* Those with the most bytes first; sums last, as they could be in the way of others. In the arena.
 */
conflicts choose_conflicts(arena *a, ir_module *m);
void choose_apply(arena *a, ir_module *m, const conflict *c);
void choose_end(ir_module *m);

#endif
