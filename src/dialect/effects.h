/* What an op does besides giving results: who may erase, move or merge it. */
#ifndef DIALECT_EFFECTS_H
#define DIALECT_EFFECTS_H

#include "ir/op.h"

/* Has no effect but its results: may be erased when they are unused, and merged with its like.
 * Looks inside regions. An op without a row has effects. */
bool op_is_effect_free(const op *o);
/* Nothing uses its results, it has no effects, and it is neither a terminator nor a symbol. */
bool op_is_dead(const op *o);

/* Which of the ops whose results nothing uses are erased; ops without results never are. */
typedef enum dead_policy {
  DEAD_WITHOUT_EFFECTS, /* op_is_dead */
  /* Those with trait PURE, whatever is said of them here: sdy collectives too, which what turns
   * reshards into them leaves behind, and no op for what is in its regions. */
  DEAD_BY_ROW,
} dead_policy;
/* Of all that is inside `root`. What only dead ops used goes as well, but for circles through the
 * arguments of blocks. */
void ops_erase_dead(op *root, dead_policy policy);

#endif
