/* Inside partition only: axes for an op's factors that cost less than those which common_axes
 * finds, as it looks at sizes and not at what is sent. Each device does no more under them. Not for
 * ops with windows. */
#ifndef PARTITION_AXES_CHOICE_H
#define PARTITION_AXES_CHOICE_H

#include "ir/op.h"
#include "partition/common_axes.h"

/* Axes on reduction factors: each device along them has a part of the result. */
axis_list axes_reduced(arena *a, const axes_problem *prob, const axis_list *axes);

/* A result on another mesh over the same devices had no say: the op computes as the result wants
 * it, where that sends less. sh: of all tensors. */
void axes_heed_result(arena *a, const op *o, const axes_problem *prob, const sharding *const *sh,
                      axis_list *axes);
/* Those of one tensor go first, where that costs less: bytes, and collectives. */
void axes_take_cheapest(arena *a, const op *o, const axes_problem *prob, const sharding *const *sh,
                        axis_list *axes);
/* Bits of the operands that nobody else uses, on which both depend besides: bit 31 of others. */
uintptr_t axes_own_operands(const op *o);

#endif
