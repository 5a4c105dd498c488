/* Inside export only: the parts of sdy-insert-explicit-reshards as Shardy has it. */
#ifndef PARTITION_EXPORT_RESHARDS_H
#define PARTITION_EXPORT_RESHARDS_H

#include "partition/place.h"
#include "shard/calls.h"
#include "shard/rule.h"

typedef struct reshards {
  part_env e;
  rule_set rules;
  symbols symbols;
  VEC(op *) ops;
  hash_index closed; /* lists of shardings without open sums */
  hash_index dots;   /* products that stay as they are */
  const mesh *all;   /* of all devices: the first with axes; NULL: none */
  bool any_single;   /* some mesh is one device */
  bool full;         /* all ops are brought where their tensors agree */
  bool open;         /* the function at hand may have ops that must be looked at */
  bool ok;
} reshards;

/* Reports it; false. */
bool reshards_refuse(reshards *p, op *o, const char *what);
const sharding *reshards_closed_like(reshards *p, const sharding *s);
/* The sharding of what barriers pass on. */
const sharding *reshards_behind_barriers(reshards *p, value *v);
/* No dimension is sharded; sums may be open. NULL: so. */
bool reshards_is_whole(const sharding *s);

/* reshards_move.c: one use, operand i of `user` */

/* Sums up axes that the target doesn't leave open. */
void reshards_close_sums(reshards *p, op *user, u32 i, const sharding *to, cursor *at);
/* Opens sums that the target has and the operand has not. True: it did. */
bool reshards_open_sums(reshards *p, op *user, u32 i, const sharding *to, cursor *at);
/* Both, and `full`: a reshard, where the operand still is elsewhere. Made in front of the user, or
 * behind what made the operand. */
void reshards_move(reshards *p, op *user, u32 i, const sharding *to, bool behind_value, bool full);

/* reshards_rule.c: an op with a rule; `full`: it is brought where all its tensors agree. */
void reshards_by_rule(reshards *p, op *o, const rule *r, bool full);

/* reshards_single.c */

/* No function takes or gives what is on one device. */
bool reshards_check_func(reshards *p, op *f);
/* An op with results on one device: its operands are brought there, its results to all devices.
 * False: it is none. */
bool reshards_on_one_device(reshards *p, op *o);

#endif
