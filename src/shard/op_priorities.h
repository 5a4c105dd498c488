/* Op-priority groups that the user gives instead of GSPMD's: which ops propagate in which round.
 *
 * A text, a line a group; include/terrazzo/dialect.h says how it is written. The list belongs to
 * a context, whose every op-priority propagation follows it. */
#ifndef SHARD_OP_PRIORITIES_H
#define SHARD_OP_PRIORITIES_H

#include "shard/transfer.h"

typedef struct op_priorities op_priorities;

/* Parses and keeps the text; empty text: GSPMD's groups again. False: reported, with the place. */
bool op_priorities_set(ir_ctx *c, str file, str text);
/* NULL: none were given. */
const op_priorities *op_priorities_of(const ir_ctx *c);
/* Groups, and the last round with all ops. */
int op_priorities_rounds(const op_priorities *p);
/* In which direction shardings go through an op in this round, the ones before it included. */
direction op_priorities_direction(const op_priorities *p, const op *o, bool elementwise, int round);

#endif
