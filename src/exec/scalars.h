/* Steps over single elements, and the jumps between them, as one piece of code: a loop that counts
 * takes nanoseconds an operation, not a step's way through the executor. In a loop of which all is
 * short, steps of other kinds are called from it.
 *
 * What other steps stand between cuts the code: it ends where one follows, and is entered again
 * at the step after it. */
#ifndef EXEC_SCALARS_H
#define EXEC_SCALARS_H

#include "exec/step.h"

/* By step of the program, which are these: the code from there on; run NULL where the step is by
 * itself. NULL: all are. A run takes the place from slots[num_slots] and leaves its pc at the next
 * step. */
const exec_step *scalars_lower(const lower_env *e, const exec_step *steps);

#endif
