/* Sorts words by their unsigned value. Equal words are the same, so that nothing goes along. */
#ifndef EXEC_SORT_WORDS_H
#define EXEC_SORT_WORDS_H

#include "base/base.h"

/* How numbers of 4 or 8 bytes become words that order as they do: the bits `flip`, of negative ones
 * those of `fold` too, then all of `turn`. */
typedef struct word_turn {
  u64 flip, fold, turn;
} word_turn;
void sort_to_words(const word_turn *t, u32 width, const char *from, size_t n, void *words);
/* Back, `step` bytes from one number to the next. */
void sort_from_words(const word_turn *t, u32 width, const void *words, size_t n, char *to,
                     i64 step);

/* n words of 4 or 8 bytes; both memories are written. Returns the one that has the result. */
void *sort_words(void *words, void *spare, size_t n, u32 width);

#endif
