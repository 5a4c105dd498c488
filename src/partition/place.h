/* Inside partition only: bringing a value under another sharding. */
#ifndef PARTITION_PLACE_H
#define PARTITION_PLACE_H

#include "partition/env.h"
#include "base/index.h"

typedef struct placer {
  const part_env *e;
  arena *keep;     /* for what outlives e->a */
  hash_index done; /* what was made for users, by value and sharding */
  const attr *loc; /* of what place_for makes; NULL: the user's */
} placer;

/* The same elements on the same devices (which, if replicated, are all). */
bool same_place(const sharding *a, const sharding *b);

/* The mesh that most of the shardings are on, the first of them; NULL: all are replicated. */
const mesh *most_common_mesh(const sharding *const *s, size_t n);

/* Constants, iota and broadcast scalars are made again where moving them would cost more. */
bool is_made_again(const op *o);

/* v under `to` (NULL: replicated): what isn't unreduced in `to` is summed up, the rest resharded,
 * and new unreduced axes begin with the value on the first device along them. Makes nothing
 * where v is there already. place_for makes it before `user`, or takes what an earlier user
 * got; place_at makes it at the cursor. */
value *place_for(placer *p, value *v, const sharding *to, op *user);
value *place_at(placer *p, cursor *at, value *v, const sharding *to);

value *emit_all_reduce(cursor *at, value *v, const mesh *m, axis_list axes, unreduced_kind kind,
                       const sharding *out);

#endif
