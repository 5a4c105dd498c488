/* A name that somebody may have meant by another one. */
#ifndef BASE_SPELLING_H
#define BASE_SPELLING_H

#include "base/base.h"

/* Begin with {.wanted = WORD}, try the names that there are; `best` is then the closest of those
 * that differ in few letters, the first where several do, or empty. It points into what was
 * tried. */
typedef struct spelling {
  str wanted, best;
  size_t distance;
} spelling;

void spelling_try(spelling *s, str name);

/* For messages: "; did you mean 'NAME'?", or "" if nothing is close. */
typedef struct spelling_hint {
  char text[96];
} spelling_hint;
spelling_hint spelling_say(const spelling *s);

#endif
