/* In which order a block's values are summed up, for whoever does so beside fold_kernel.c: of
 * FOLD_RUNNING <= n < FOLD_LONG values, value i is added to running sum i modulo FOLD_RUNNING.
 * Then, of these as four rows, the third is added to the first, the fourth to the second and that
 * to the first, and of what is left again and again the second half to the first. */
#ifndef EXEC_FOLD_ORDER_H
#define EXEC_FOLD_ORDER_H

enum { FOLD_RUNNING = 64, FOLD_LONG = 8192 };

#endif
