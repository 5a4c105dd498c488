/* What an object begins with that callers know by an opaque pointer only: which kind it is, so
 * that a wrong one or a destroyed one is told from a good one (as far as memory that is not ours
 * any more can tell), and the process that it belongs to. */
#ifndef BASE_HANDLE_H
#define BASE_HANDLE_H

#include "base/os.h"

/* Checked where PJRT functions begin (pjrt/api_error.c): first `kind`, then that `forks` is still
 * os_forks(), as threads and locks do not survive a fork. */
typedef struct handle {
  u32 kind;
  u32 forks; /* os_forks() where it was made */
} handle;

static inline handle handle_begin(u32 kind) { return (handle){kind, os_forks()}; }
static inline void handle_end(handle *h) { h->kind = 0; }

#endif
