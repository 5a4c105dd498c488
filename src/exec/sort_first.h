/* The first few of a line of numbers of 4 bytes. */
#ifndef EXEC_SORT_FIRST_H
#define EXEC_SORT_FIRST_H

#include "exec/sort_words.h"

enum { SORT_FIRST_MOST = 8, SORT_SHORT = 64, SORT_SHORT_KEEP = 4 };

/* The places of the first `keep`, SORT_SHORT_KEEP at most, of a short line in their order, equal
 * ones in the line's. */
void sort_short(const word_turn *t, const char *from, size_t n, size_t keep, u32 *perm);
/* The line comes in parts: n numbers, of which the first is the line's element `begin`; at the
 * first part `held` is all ones. After the last one held[k] has the place of the k-th in its lower
 * half, equal ones in the line's order. keep: how many are wanted. `words` has room for n, and for
 * 16 at least, a multiple of 16. */
void sort_first(const word_turn *t, const char *from, size_t n, size_t begin, size_t keep,
                i32 *words, u64 held[SORT_FIRST_MOST]);

#endif
