/* What an op does besides giving results: who may erase, move or merge it. */
#ifndef DIALECT_EFFECTS_H
#define DIALECT_EFFECTS_H

#include "ir/op.h"

/* Has no effect but its results: may be erased when they are unused, and merged with its like.
 * Looks inside regions. An op without a row has effects. */
bool op_is_effect_free(const op *o);
/* Nothing uses its results, it has no effects, and it is neither a terminator nor a symbol. */
bool op_is_dead(const op *o);

#endif
