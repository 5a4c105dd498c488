/* Maxima and minima of windows, and sums of integers, by parts: down the rows first, then along
 * them. */
#ifndef EXEC_SEPARATE_H
#define EXEC_SEPARATE_H

#include "exec/rows.h"

/* Where elements of a row are lanes already (inner > 1), or an element counts once only, it is not
 * for this: false. `direct`: the body over elements as they are stored; NULL: none. */
bool separate_lower(const lower_env *e, const prog_window *w, const row_windows *r, kern_fn *direct,
                    exec_step *out);

#endif
