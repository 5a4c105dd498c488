/* Arenas, and the system allocator that all memory comes from in the end.
 *
 * An arena is a list of chunks, the newest first; memory is cut from the newest by moving `cur`.
 * Chunks double from 4 KiB to 2 MiB, so a small module costs one page and a large one few calls of
 * the allocator. Nothing is given back piecemeal: arena_deinit walks the list. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"

/* Blocks of OS_LARGE bytes and more come in large pages, because arenas and tensors fill them at
 * once. A block that is grown (p not NULL) goes through realloc, which cannot align; it may also
 * copy less, since the C library remaps pages. */
static void *system_fn(void *user, void *p, size_t old_size, size_t new_size) {
  (void)user, (void)old_size;
  if (new_size == 0) {
    free(p);
    return NULL;
  }
  return p || new_size < OS_LARGE ? realloc(p, new_size) : os_alloc_large(new_size);
}
const allocator mem_system = {system_fn, NULL};

/* Under ASan nothing may be touched but what was handed out: pieces have gaps between them. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN
#endif
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
enum { GAP = 16, LEAST_ALIGN = 8 };
#else
enum { GAP = 0, LEAST_ALIGN = 1 };
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

void *mem_zalloc(const allocator *a, size_t n) {
  void *p = mem_alloc(a, n);
  if (p) memset(p, 0, n);
  return p;
}

/* In front of each chunk. HEADER is its size rounded up, so that what follows can be aligned to
 * 64. */
struct arena_chunk {
  arena_chunk *next;
  size_t size; /* header included */
};
enum { FIRST_CHUNK = 4096, LAST_CHUNK = OS_LARGE, HEADER = 64 };

void arena_init(arena *a, const allocator *mem, oom_trap *trap) {
  *a = (arena){.mem = mem, .trap = trap};
}

void arena_deinit(arena *a) {
  for (arena_chunk *c = a->chunks, *next; c; c = next) {
    next = c->next;
    ASAN_UNPOISON_MEMORY_REGION(c, c->size);
    mem_free(a->mem, c, c->size);
  }
  arena_init(a, a->mem, a->trap);
}

void arena_reset(arena *a) {
  arena_chunk *last = a->chunks;
  if (!last) return;
  a->chunks = last->next;
  arena_deinit(a);
  last->next = NULL;
  a->chunks = last;
  a->cur = (char *)(last + 1) - GAP;
  a->end = (char *)last + last->size;
  ASAN_POISON_MEMORY_REGION(last + 1, last->size - sizeof *last);
}

void arena_oom(arena *a) {
  if (!a->trap) abort(); /* an arena without a trap is a bug of ours */
  longjmp(a->trap->at, 1);
}

/* One unsigned compare a chunk: an address below `c` wraps round to a large number. */
bool arena_owns(const arena *a, const void *p) {
  for (const arena_chunk *c = a->chunks; c; c = c->next)
    if ((uintptr_t)p - (uintptr_t)c < c->size) return true;
  return false;
}

/* Memory that the current chunk has no room for. A piece over half a chunk gets a chunk of its own,
 * linked behind the current one, so that what is left of that is not wasted. */
static void *new_chunk(arena *a, size_t n, size_t align) {
  size_t size = a->chunks ? min_size(a->chunks->size * 2, LAST_CHUNK) : FIRST_CHUNK;
  size_t need;
  if (!checked_add(n, (size_t)HEADER + align, &need)) arena_oom(a);
  bool own = need > size / 2; /* a large piece gets its own chunk; the current one goes on */
  if (own) size = need;
  arena_chunk *c = mem_alloc(a->mem, size);
  if (!c) arena_oom(a);
  c->size = size;
  char *begin = (char *)align_up((uintptr_t)c + sizeof *c, align);
  if (own && a->chunks) {
    c->next = a->chunks->next;
    a->chunks->next = c;
    return begin;
  }
  c->next = a->chunks;
  a->chunks = c;
  a->cur = begin + n;
  a->end = (char *)c + size;
  ASAN_POISON_MEMORY_REGION(a->cur, (size_t)(a->end - a->cur));
  return begin;
}

void *arena_alloc_aligned(arena *a, size_t n, size_t align) {
  if (align < LEAST_ALIGN) align = LEAST_ALIGN;
  char *p = (char *)align_up((uintptr_t)a->cur + GAP, align);
  a->used += n;
  if (a->cur && p <= a->end && n <= (size_t)(a->end - p)) {
    ASAN_UNPOISON_MEMORY_REGION(p, n);
    a->cur = p + n;
    return p;
  }
  return new_chunk(a, n, align);
}

/* What arena_alloc_aligned does, in the case that it mostly is. */
void *arena_alloc(arena *a, size_t n) {
  char *p = (char *)align_up((uintptr_t)a->cur, 8);
  if (GAP || !a->cur || p > a->end || n > (size_t)(a->end - p)) return arena_alloc_aligned(a, n, 8);
  a->used += n;
  a->cur = p + n;
  return p;
}

void *arena_zalloc(arena *a, size_t n) {
  void *p = arena_alloc(a, n);
  memset(p, 0, n);
  return p;
}

void *arena_array(arena *a, size_t count, size_t size) {
  size_t n;
  if (!checked_mul(count, size, &n)) arena_oom(a);
  return arena_alloc(a, n);
}

void *arena_copy(arena *a, const void *data, size_t n) {
  void *p = arena_alloc(a, n);
  if (n) memcpy(p, data, n);
  return p;
}

str arena_str(arena *a, str s) {
  char *p = arena_alloc_aligned(a, s.len + 1, 1);
  if (s.len) memcpy(p, s.data, s.len);
  p[s.len] = 0;
  return (str){p, s.len};
}

/* The first try's bytes stay in the arena where they were too few: at most once, 64 bytes. */
str arena_printf(arena *a, const char *fmt, ...) {
  va_list ap;
  size_t cap = 64, len = 0;
  char *p;
  do { /* a second turn knows the length */
    cap = max_size(cap, len + 1);
    p = arena_alloc_aligned(a, cap, 1);
    va_start(ap, fmt);
    len = (size_t)vsnprintf(p, cap, fmt, ap);
    va_end(ap);
  } while (len >= cap);
  if (a->cur == p + cap) a->cur = p + len + 1; /* what is over goes to who comes next */
  return (str){p, len};
}

/* The old block is left behind, not freed; doubling bounds what is lost by what is used. Most
 * arrays stay short, so the first block is about a line of the cache. */
void *arena_grow(arena *a, const void *data, size_t len, size_t *cap, size_t size) {
  enum { FIRST_BYTES = 64 };
  size_t n = *cap ? *cap * 2 : max_size(2, min_size(8, FIRST_BYTES / size));
  void *p = arena_array(a, n, size);
  if (len) memcpy(p, data, len * size);
  *cap = n;
  return p;
}
