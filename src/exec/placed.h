/* Steps of a few vectors as code that knows where each of their elements lies (jit.h's places), so
 * that nothing brings them together first. Makes it what is called directly, and what is run; where
 * there is none, nothing changes. Bits are those of the step. */
#ifndef EXEC_PLACED_H
#define EXEC_PLACED_H

#include "exec/step.h"

void placed_loop(const lower_env *e, const prog_loop *l, exec_step *out); /* nothing is reduced */
/* One whose terms are added one after the other. */
void placed_dot(const lower_env *e, const prog_dot *d, exec_step *out);
void placed_copy(const lower_env *e, const prog_copy *c, exec_step *out);

#endif
