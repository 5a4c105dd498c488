/* One step of propagation: the shardings of an op's tensors, made to agree as far as they can.
 *
 * Dimension shardings are projected to factors, each factor takes what its tensors have in
 * common, and the factors are projected back. Sources: openxla/shardy docs/propagation.md and
 * its basic and aggressive strategies, whose answers this must equal. */
#ifndef SHARD_TRANSFER_H
#define SHARD_TRANSFER_H

#include "shard/rule.h"

typedef enum direction { DIR_NONE, DIR_FORWARD, DIR_BACKWARD, DIR_BOTH } direction;
static inline direction direction_union(direction a, direction b) {
  return (a ^ b) == DIR_BOTH && a && b ? DIR_BOTH : a > b ? a : b;
}
static inline direction direction_intersection(direction a, direction b) {
  return (a ^ b) == DIR_BOTH && a && b ? DIR_NONE : a < b ? a : b;
}

typedef struct transfer_mode {
  u8 pass, other;    /* direction along pass-through factors, and along the others */
  bool aggressive;   /* else basic */
  bool elementwise;  /* the op is elementwise: breaks ties as such */
  bool conservative; /* no splitting of axes */
} transfer_mode;

/* Finds what in[rule_num_tensors] (NULL: no sharding) become. out[t] is NULL where tensor t
 * stays, else an interned sharding that isn't in[t]. False: nothing changes (out unspecified).
 * Scratch memory is dropped by the caller. */
bool transfer(shard_space *s, arena *scratch, const rule *r, transfer_mode mode,
              const sharding *const *in, const sharding **out);

/* The same step as seen by factors, for those who want to know why: axes of factor f of tensor t
 * at [t * num_factors + f], before and after. `after` NULL: only before. False: they have no mesh
 * in common. */
bool transfer_factors(shard_space *s, arena *scratch, const rule *r, transfer_mode mode,
                      const sharding *const *in, axis_list **before, axis_list **after);

/* What an op's tensors have by factor, for passes that decide themselves what it becomes. `in` as
 * above; where a tensor has none its dimensions are closed. NULL: they have no mesh in common. */
typedef struct projection projection;
projection *projection_make(shard_space *s, arena *a, const rule *r, const sharding *const *in);
/* Axes of factor f of tensor t, and those behind them that do not divide it and shut out the minor
 * factors of the dimension. `present`: the tensor has the factor, and nothing shuts it out. */
typedef struct projected {
  axis_list axes, overflow;
  bool present;
} projected;
projected projection_get(const projection *p, u32 t, u32 f);
/* Nothing where the tensor does not have the factor. True: that changed it. */
bool projection_set(projection *p, u32 t, u32 f, axis_list axes, axis_list overflow);
const sharding *projection_sharding(projection *p, u32 t); /* interned */

/* The mesh that all agree on (empty meshes agree with any); NULL: none, or they don't. */
const mesh *shardings_common_mesh(const sharding *const *list, size_t n);

#endif
