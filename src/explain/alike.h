/* Inside explain only: what is said once of many. */
#ifndef EXPLAIN_ALIKE_H
#define EXPLAIN_ALIKE_H

#include "explain/explain.h"

typedef struct alike_text {
  u64 key;
  str text;   /* of the first */
  u32 number; /* its own */
  u32 count;
  u64 bytes; /* of all */
} alike_text;
typedef VEC(alike_text) alike_texts;

/* The same for texts that differ in numbers only, of layers and arguments; those of lines and
 * columns count. */
u64 alike_key(str text);
/* One more of those with its key, or, with a copy of its text, the first. */
void alike_add(arena *a, alike_texts *l, alike_text t);

#endif
