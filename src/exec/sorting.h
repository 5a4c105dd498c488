/* A sort as it is run. sort_lower.c makes it, sort.c runs it line by line, sort_strip.c several
 * lines at once. */
#ifndef EXEC_SORTING_H
#define EXEC_SORTING_H

#include "exec/sort_words.h"
#include "exec/vm.h"

/* A part of what is compared: f of an operand, where the comparator is f(left) < f(right), or
 * several of those, of which the next one counts where both sides are equal. */
typedef struct sort_key {
  vm_unit *unit; /* one line in, values out */
  u32 operand, width;
  vm_rtype type;
  bool descending;
  size_t at; /* of its scratch */
} sort_key;

/* An element and its place, in a heap. */
typedef struct sort_kept {
  u64 key;
  u32 at;
} sort_kept;

enum { SORT_KEYS = 16, SORT_BLOCK = 2048, SORT_STRIP_LONGEST = 4096 };

typedef struct sorting {
  const prog_sort *s;
  const vm_kernels *k;
  u32 *width;
  vm_unit *less; /* on one pair */
  sort_key keys[SORT_KEYS];
  u32 num_keys; /* 0: the comparator is none of those */
  bool few, in_place;
  bool alone;     /* the one operand, of 4 or 8 bytes, is the key */
  word_turn turn; /* of the first key */
  u32 lanes;      /* how many lines are sorted at once; 0: each by itself */
  size_t line_at, perm_at, spare_at, keys_at, spare_keys_at, strip_at;
  size_t line_bytes;
} sorting;

step_fn sort_run;

/* f of n elements, SORT_BLOCK at most: in registers, or where they lie. */
const char *sort_key_values(const sort_key *key, void **reg, const char *line, size_t n);

/* Lines side by side, each in a lane of vectors, by the one key: it is what is sorted, or has 4
 * bytes, and the elements' places go with it in a word of 8. How many lines from `line` on, before
 * `end`, it has sorted; 0: they are too few, or the key does not say what the elements are, and
 * nothing was done. reg: of the key's unit, for SORT_BLOCK. */
u32 sort_strip_run(const sorting *r, const exec_env *env, void **reg, u64 line, u64 end);

#endif
