/* Long windows along one dim: reduce_window by sums of 1, 2, 4, ... elements. */
#ifndef EXEC_SLIDE_H
#define EXEC_SLIDE_H

#include "exec/rows.h"

/* False: this is not one, or shorter ways are better. */
bool slide_lower(const lower_env *e, const prog_window *w, const row_windows *r, exec_step *out);

#endif
