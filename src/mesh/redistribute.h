/* From one layout of a tensor to another: which collectives do it, and what each rank needs.
 *
 * Two plans are made, and the one in which a rank receives less is taken. By axes: both layouts are
 * seen over the finest device matrices that fit both; a dimension's axes leave from the minor end
 * and come at the minor end, until they are the target's. Slicing goes first, as it makes the rest
 * smaller; an axis that one dimension loses and another wants next is an all-to-all; what is left,
 * and what only one of the matrices can say, is gathered. By pieces: ranks that hold the same slice
 * keep different pieces of it, so fine that they make the target's slices too; pieces move to the
 * ranks that need them and are gathered. That is cheap between matrices such as 2x3 and 3x2, which
 * have no common one, and where only the order of ranks differs. */
#ifndef MESH_REDISTRIBUTE_H
#define MESH_REDISTRIBUTE_H

#include "mesh/layout.h"

typedef enum redistribute_op {
  REDISTRIBUTE_SLICE,      /* keep the piece of `dim` that is one's place in the group */
  REDISTRIBUTE_ALL_GATHER, /* concatenate along `dim` in the order of the group */
  REDISTRIBUTE_ALL_TO_ALL, /* cut along `to_dim`, a piece to each; concatenate along `dim` */
  REDISTRIBUTE_PERMUTE     /* groups are pairs: the first sends all it has to the second */
} redistribute_op;

typedef struct redistribute_step {
  redistribute_op op;
  u32 dim, to_dim;
  replica_groups groups;
} redistribute_step;

typedef struct redistribution {
  const layout *from, *to;
  i64 num_ranks;
  const mesh *ranks; /* the ranks in the order of the larger layout */
  const redistribute_step *steps;
  size_t num_steps;
} redistribution;

/* Layouts of tensors of one rank over the same ranks; or one over fewer, 0 to n-1 where n divides
 * the other's, which then repeats. In the arena. NULL: said so. */
const redistribution *redistribute_plan(arena *a, const layout *from, const layout *to,
                                        diag_sink *sink) MUST_USE;

/* The shape fits both layouts, and its bytes can be counted; elements have 1 to 4096. */
bool redistribute_check_shape(const layout *from, const layout *to, i64s shape, i64 element_size,
                              diag_sink *sink) MUST_USE;

/* The position in one of the two layouts of the rank at a position of `ranks`; a smaller layout
 * repeats. */
i64 redistribute_position(const redistribution *r, const layout *l, i64 position);

/* A part of the tensor that a rank needs, and a rank that has it: itself where it can be. */
typedef struct redistribute_piece {
  i64 source;
  index_range *ranges; /* a dimension each */
  i64 elements;
} redistribute_piece;
typedef VEC(redistribute_piece) redistribute_pieces;

/* What the rank at a position of `ranks` needs; together the pieces are its slice of the target.
 * The shape has been checked against both layouts, and its elements can be counted. */
void redistribute_pieces_of(arena *a, const redistribution *r, i64s shape, i64 position,
                            redistribute_pieces *out);

#endif
