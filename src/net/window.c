#include "net/window.h"

/* Bytes in all, of which nobody pays for what has not been written; and of a place's count. */
enum { WINDOW = 1 << 28, HEAD = 64, BELL = HEAD, FIRST = BELL + sizeof(window_bell) };
enum { MOST_PLACES = 1024 };

/* They lie one behind the other, and keep their sizes. */
typedef struct spot {
  u64 at, bytes;
} spot;

struct window {
  const allocator *mem;
  os_shared shared;
  u64 used;
  u32 n;
  spot spots[MOST_PLACES];
};

static atomic_uint *readers_at(const os_shared *s, u64 at) {
  return (atomic_uint *)(void *)(s->at + at);
}

window *window_create(const allocator *mem) {
  window *w = mem_zalloc(mem, sizeof *w);
  if (!w) return NULL;
  w->mem = mem;
  w->used = FIRST;
  if (os_shared_create(WINDOW, &w->shared)) return w;
  mem_free(mem, w, sizeof *w);
  return NULL;
}

static window_bell *bell_of(const os_shared *s) { return (window_bell *)(void *)(s->at + BELL); }
window_bell *window_own_bell(const window *w) { return bell_of(&w->shared); }
window_bell *window_bell_of(const os_shared *theirs) { return theirs->at ? bell_of(theirs) : NULL; }

const char *window_name(const window *w) { return w->shared.name; }

void window_destroy(window *w) {
  if (!w) return;
  os_shared_close(&w->shared);
  mem_free(w->mem, w, sizeof *w);
}

static bool is_free(const window *w, const spot *s, u64 bytes) {
  return s->bytes >= bytes &&
         atomic_load_explicit(readers_at(&w->shared, s->at), memory_order_acquire) == 0;
}

/* The smallest that is free; a new one where that would waste more than half of it. */
static const spot *find_spot(window *w, u64 bytes) {
  const spot *best = NULL;
  for (u32 i = 0; i < w->n; i++)
    if ((!best || w->spots[i].bytes < best->bytes) && is_free(w, &w->spots[i], bytes))
      best = &w->spots[i];
  bool fits = w->n < MOST_PLACES && bytes <= WINDOW - HEAD - w->used;
  if ((best && best->bytes / 2 <= bytes) || !fits) return best;
  spot *s = &w->spots[w->n++];
  *s = (spot){w->used, bytes};
  w->used += HEAD + bytes;
  return s;
}

char *window_take(window *w, u64 bytes, u64 *out_at) {
  if (bytes > WINDOW - 2 * HEAD) return NULL;
  const spot *s = find_spot(w, align_up(bytes, HEAD));
  if (!s) return NULL;
  atomic_store_explicit(readers_at(&w->shared, s->at), 1, memory_order_relaxed);
  *out_at = s->at;
  return w->shared.at + s->at + HEAD;
}

void window_add_reader(window *w, u64 at) {
  atomic_fetch_add_explicit(readers_at(&w->shared, at), 1, memory_order_relaxed);
}

bool window_open(const char *name, os_shared *out) { return os_shared_open(name, WINDOW, out); }

char *window_find(const os_shared *theirs, u64 at, u64 bytes, atomic_uint **out_readers) {
  if (!theirs->at || at < FIRST || at % HEAD || at > WINDOW - HEAD || bytes > WINDOW - HEAD - at)
    return NULL;
  *out_readers = readers_at(theirs, at);
  return theirs->at + at + HEAD;
}
