/* Inside partition only: a concatenation that takes its pieces out of its operands itself.
 *
 * The slices of a rotation are of uneven sizes, so that no device could have even shards of them.
 * So terrazzo-join-slices makes of a concatenation of slices a call of @terrazzo.pieces on what is
 * sliced; global-to-local makes windows of it, or the slices and the concatenation again. Its
 * attribute `terrazzo.pieces` is array<i64: dimension, start, size, cut, ...>, three numbers an
 * operand: the piece is elements start to start + size of the operand along the dimension, which
 * wrap around at its end; if not `cut`, the operand is whole along the dimension. */
#ifndef PARTITION_PIECES_H
#define PARTITION_PIECES_H

#include "partition/env.h"

typedef struct piece {
  i64 start, size;
  i64 at; /* in the result */
  bool cut;
} piece;

/* Whether the op is such a call, and all of it fits. */
bool pieces_is(const op *o);
u32 pieces_dim(const op *o);
piece pieces_get(const op *o, u32 i);
/* Does it go on behind the end of an operand of this size? */
static inline bool piece_wraps(const piece *p, i64 size) { return p->start + p->size > size; }

/* The same for the pads in front of windows that slide (join_pads.c). The attribute stands at a
 * select_and_scatter: what its padding holds, which may be selected then. */
void pieces_join_pads(const part_env *e, op *o);
#define PIECES_FILL "terrazzo.fill"

/* And for a scatter of one window (join_scatter.c). */
void pieces_join_scatter(const part_env *e, op *o);

#endif
