/* The smallest harness: CHECK counts, UNIT_END prints the line that `make test` adds up. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <stdio.h>

static _Atomic int unit_passed, unit_failed; /* threads may check too */

#define CHECK(cond)                                                                                \
  do {                                                                                             \
    if (cond) {                                                                                    \
      unit_passed++;                                                                               \
    } else {                                                                                       \
      unit_failed++;                                                                               \
      fprintf(stderr, "%s:%d: error: CHECK(%s) failed\n", __FILE__, __LINE__, #cond);              \
    }                                                                                              \
  } while (0)

#define UNIT_END()                                                                                 \
  (printf("%d passed, %d failed, 0 skipped\n", unit_passed, unit_failed), unit_failed != 0)

#endif
