/* Operands that a process leaves for others of its machine, in memory that all of them see: what is
 * left there is read where it lies. Each has a count of who has still to read it, there as well;
 * when that is zero, the place is taken anew. */
#ifndef NET_WINDOW_H
#define NET_WINDOW_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/os_shared.h"

typedef struct window window;

/* NULL: no memory, or the system has none to share. */
window *window_create(const allocator *mem);
const char *window_name(const window *w);
void window_destroy(window *w); /* NULL is fine */

/* At the beginning of a window: by this its owner knows that others have put something where they
 * found place for that (lane.h), and they, whether anybody listens. */
typedef struct window_bell {
  _Alignas(64) atomic_uint listeners;
  _Alignas(64) atomic_uint rung;
} window_bell;
window_bell *window_own_bell(const window *w);

/* A place for one reader, and where the readers find it; NULL: there is no room. Under a lock of
 * the caller's. */
char *window_take(window *w, u64 bytes, u64 *out_at) MUST_USE;
/* One reader more, before any has been told. */
void window_add_reader(window *w, u64 at);

/* ---- of another process ---- */

window_bell *window_bell_of(const os_shared *theirs); /* NULL: there is no such window */
bool window_open(const char *name, os_shared *out) MUST_USE;
/* What lies there, until window_done; NULL: nothing can. */
char *window_find(const os_shared *theirs, u64 at, u64 bytes, atomic_uint **out_readers);
static inline void window_done(atomic_uint *readers) {
  atomic_fetch_sub_explicit(readers, 1, memory_order_release);
}

#endif
