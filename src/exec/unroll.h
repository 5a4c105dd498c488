/* Reductions of a few elements as elementwise code. False: it is none, or better otherwise. The
 * values, and the order in which they are combined, are those of reduce.c and scan.c. */
#ifndef EXEC_UNROLL_H
#define EXEC_UNROLL_H

#include "exec/step.h"

/* The kept dims are not empty. columns: what is kept lies side by side, and is little. */
bool unroll_reduce(const lower_env *e, const prog_loop *l, bool columns, exec_step *out);
/* The loop that it becomes, in the environment's arena. */
bool unroll_loop(const lower_env *e, const prog_loop *l, bool columns, prog_loop *out);
/* The same of sums along rows of fewer than FOLD_RUNNING values, added as fold_order.h has it. */
bool unroll_rows(const lower_env *e, const prog_loop *l, prog_loop *out);
/* Windows that span dim `dim` to one side, as scan_lower has them. */
bool unroll_scan(const lower_env *e, const prog_window *w, u32 dim, bool backward, exec_step *out);

#endif
