/* Inside partition only: which collectives can be one, and how one is made of them. */
#ifndef PARTITION_COMBINE_H
#define PARTITION_COMBINE_H

#include "partition/env.h"

/* Of collectives that one could do together. */
typedef struct combine_key {
  op_id op;
  const attr *groups, *global; /* of permutations: their pairs */
  bool channel;                /* without one, ids are of replicas alone */
  const type *element;         /* NULL: each may have its own */
  unreduced_kind kind;         /* of those that reduce */
} combine_key;

/* Where a collective cuts or joins its operand. */
typedef struct combine_form {
  i64 dim, to; /* gathered, scattered, or split along dim; exchanged: joined along `to` */
  i64 parts;
} combine_form;

typedef struct combine_member {
  op *o; /* NULL once it is part of another */
  combine_form form;
  i64 bytes;
  bool turns; /* it can take another form, as it is so small that it may be copied for that */
} combine_member;

typedef VEC(combine_member) combine_members;

/* false: it stays alone. */
bool combine_key_of(const op *o, combine_key *key, combine_member *member);
bool combine_same_key(const part_env *e, const combine_key *x, const combine_key *y);
/* May one more of the key come to these? Where they are full, none that follows may. */
typedef enum combine_answer { COMBINE_TAKES, COMBINE_LEAVES, COMBINE_FULL } combine_answer;
combine_answer combine_takes(const combine_key *key, const combine_members *all,
                             const combine_member *more);

/* `all` has operands and results of the members, and attributes of the first. It becomes what there
 * is such an op for, and may go. */
void combine_finish(const part_env *e, const combine_key *key, const combine_members *members,
                    op *all);

#endif
