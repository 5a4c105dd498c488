/* For a program that runs a session again and again and fails its Nth allocation, for every N: each
 * call gives an error or a result, nothing crashes, hangs, or (under ASan) leaks. The linker sends
 * malloc and its kin here (oom_args in meson.build), but for libc's own. */
#ifndef TESTS_OOM_H
#define TESTS_OOM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/unit.h"

static atomic_long oom_countdown; /* 1: the next one fails; 0 and below: none does */
static long oom_in_a_row = 1;     /* how many fail then */

static bool oom_now(void) {
  long n = atomic_fetch_sub(&oom_countdown, 1);
  return n <= 1 && n > 1 - oom_in_a_row;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
void *__wrap_malloc(size_t n) { return oom_now() ? NULL : __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t size) { return oom_now() ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *p, size_t n) { return oom_now() ? NULL : __real_realloc(p, n); }
void *__wrap_aligned_alloc(size_t align, size_t n) {
  return oom_now() ? NULL : __real_aligned_alloc(align, n);
}

/* Fails `in_a_row` allocations of a session from the Nth on, for every N; it returns whether all of
 * it went well. */
static inline void oom_each(bool (*session)(void), long in_a_row) {
  enum { IDLE = -1000 };
  long n = 1;
  int survived = 0;
  CHECK(session());
  atomic_store(&oom_countdown, IDLE);
  oom_in_a_row = in_a_row;
  for (; n < 100000 && !unit_failed; n++) {
    atomic_store(&oom_countdown, n);
    bool ok = session();
    if (atomic_exchange(&oom_countdown, IDLE) > 0) { /* there were fewer than n */
      CHECK(ok);
      break;
    }
    survived += ok; /* only a message or a cache was lost, or code is not compiled but called */
  }
  printf("failed each of %ld allocations, survived %d\n", n - 1, survived);
  CHECK(survived < 12 && n > 50 && n < 100000);
}

static inline int oom_test(bool (*session)(void)) {
  oom_each(session, 1);
  return UNIT_END();
}

#endif
