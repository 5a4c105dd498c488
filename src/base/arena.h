/* Memory: one allocator hook, and arenas over it.
 *
 * The compiler (text, bytecode, ir, dialect, pass, shard, partition, compile) keeps all it
 * makes in arenas, so nothing is freed piecemeal and nothing leaks on an error path. An
 * arena that cannot grow does not return NULL: it jumps to its trap, which the entry point
 * set with setjmp before it began; there the arenas are released whole. Code between holds
 * only arena memory, or registers what else it holds elsewhere. exec, device and pjrt call
 * mem_alloc and check for NULL. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <setjmp.h>

#include "base/base.h"

/* Memory that was freed may be kept for who asks next; not under ASan and MSan, so that a use after
 * free is seen. */
#if defined(__SANITIZE_ADDRESS__)
#define MEM_CACHES false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define MEM_CACHES false
#endif
#endif
#ifndef MEM_CACHES
#define MEM_CACHES true
#endif

/* The one way to memory, as in Lua: new_size 0 frees; p NULL allocates; old_size is what was
 * asked for. Returns NULL on failure, p then still stands. Memory is aligned to 16 bytes. */
typedef struct allocator {
  void *(*fn)(void *user, void *p, size_t old_size, size_t new_size);
  void *user;
} allocator;

extern const allocator mem_system; /* malloc, realloc, free */

static inline void *mem_alloc(const allocator *a, size_t n) { return a->fn(a->user, NULL, 0, n); }
static inline void *mem_resize(const allocator *a, void *p, size_t old_size, size_t new_size) {
  return a->fn(a->user, p, old_size, new_size);
}
static inline void mem_free(const allocator *a, void *p, size_t n) {
  if (p) a->fn(a->user, p, n, 0);
}
/* Of one block; NULL: no memory. The others return what the hook does. */
void *mem_zalloc(const allocator *a, size_t n); /* zeroed */

/* Where an arena goes when memory is out: if (setjmp(trap.at)) { release; report }. */
typedef struct oom_trap {
  jmp_buf at;
} oom_trap;

typedef struct arena_chunk arena_chunk;
/* Not for several threads at once. Fields are its own, but `used` may be read. */
typedef struct arena {
  const allocator *mem;
  oom_trap *trap;
  arena_chunk *chunks;
  char *cur, *end;
  size_t used; /* bytes handed out, padding included */
} arena;

/* Both pointers are borrowed for the life of the arena. */
void arena_init(arena *a, const allocator *mem, oom_trap *trap);
void arena_deinit(arena *a); /* frees all; the arena can be used again */
/* Nothing that was handed out counts any longer; the latest memory is kept for what comes next. */
void arena_reset(arena *a);

/* n bytes aligned to `align` (a power of two, at most 64). Never NULL, n may be 0. */
void *arena_alloc_aligned(arena *a, size_t n, size_t align);
void *arena_alloc(arena *a, size_t n); /* aligned to 8, as most is */
/* Aligned to 8, like arena_alloc; these and all below jump to the trap and never return NULL. */
void *arena_zalloc(arena *a, size_t n);
/* count * size with overflow treated as out of memory; not zeroed. */
void *arena_array(arena *a, size_t count, size_t size);
void *arena_copy(arena *a, const void *data, size_t n);
str arena_str(arena *a, str s); /* a copy, NUL-terminated besides */
str arena_printf(arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
_Noreturn void arena_oom(arena *a);             /* jumps to the trap */
bool arena_owns(const arena *a, const void *p); /* looks at the latest memory first */

/* A type that wants more than 8 does not build: arena_alloc_aligned is for it. */
#define ARENA_SIZE(type) (sizeof(type) * sizeof(char[_Alignof(type) > 8 ? -1 : 1]))
#define ARENA_NEW(a, type) ((type *)arena_zalloc((a), ARENA_SIZE(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_array((a), (n), ARENA_SIZE(type)))

/* Growing arrays in an arena: VEC(i64) v = {0}; VEC_PUSH(a, v, 3); v.data[0]. The old block
 * stays in the arena, at most doubling the cost. */
#define VEC(type)                                                                                  \
  struct {                                                                                         \
    type *data;                                                                                    \
    size_t len, cap;                                                                               \
  }
#define VEC_PUSH(a, v, ...)                                                                        \
  do {                                                                                             \
    if ((v).len == (v).cap)                                                                        \
      (v).data = arena_grow((a), (v).data, (v).len, &(v).cap, sizeof(*(v).data));                  \
    (v).data[(v).len++] = (__VA_ARGS__);                                                           \
  } while (0)
/* What VEC_PUSH calls: the same elements with room for at least one more; *cap is updated. */
void *arena_grow(arena *a, const void *data, size_t len, size_t *cap, size_t size);

#endif
