/* What an op can do on shards alone: which dimensions it must see whole, and how the parts of
 * a sharded reduction combine. One handler per op, in a table by op id (whole.c). */
#ifndef PARTITION_WHOLE_H
#define PARTITION_WHOLE_H

#include "ir/op.h"
#include "mesh/mesh.h"

/* A bit per dimension; tensors of more than 64 dimensions are whole altogether. */
typedef u64 dim_set;
#define ALL_DIMS UINT64_MAX
static inline dim_set dim_bit(i64 d) { return d >= 0 && d < 64 ? (dim_set)1 << d : ALL_DIMS; }

/* Dimensions of each operand and result along which the op, run on shards with local shapes
 * (and the attributes that convert_global_to_local.c adapts), would not compute shards of its
 * result. Fills operands[num_operands] and results[num_results]. Sharded contracting or
 * reduced dimensions are not whole where part_reduction says how the parts combine. */
void part_whole_dims(const op *o, dim_set *operands, dim_set *results);

/* How partial results of the op combine when its reduction factors are sharded; false: they
 * do not. */
bool part_reduction(const op *o, unreduced_kind *out);

/* Whether, if the operands marked (`count` of them) are parts of a sum, the results are parts of
 * the op of the sums: linear ops, with what they need marked. */
bool part_passes_sums(const op *o, const bool *marked, u32 count);

/* Result i of a reduction body of n pairs is op(argument i, argument n + i), in any order. */
bool part_body_kind(const block *b, u32 i, u32 n, unreduced_kind *out);

#endif
