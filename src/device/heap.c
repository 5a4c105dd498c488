#define _GNU_SOURCE
#include "device/heap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/arena.h"

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define FORGET(p, n) __msan_allocated_memory(p, n)
#endif
#endif
#ifndef FORGET
#define FORGET(p, n) ((void)0)
#endif

enum { ALIGN = 64, CLASSES = 4 * 64 };
#define HUGE_PAGE ((size_t)2 << 20)

/* Under ASan and MSan nothing is cached, so that a use after free is seen. */
#if defined(__SANITIZE_ADDRESS__)
#define CACHE_LIMIT ((size_t)0)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define CACHE_LIMIT ((size_t)0)
#endif
#endif
#ifndef CACHE_LIMIT
#define CACHE_LIMIT ((size_t)2 << 30)
#endif

typedef struct free_block {
  struct free_block *next;
} free_block;

struct dev_heap {
  atomic_int refs;
  u64 poison; /* 0: none */
  atomic_ullong filled;
  pthread_mutex_t lock;
  size_t cached; /* under lock, as the lists */
  free_block *lists[CLASSES];
};

/* Rounds up to m * 2^e with m in {4, 5, 6, 7}: wastes a quarter at most. False: too big. */
static bool size_class(size_t bytes, size_t *out_rounded, unsigned *out_class) {
  if (bytes < ALIGN) bytes = ALIGN;
  if (bytes > SIZE_MAX / 4) return false;
  unsigned top = 63u - (unsigned)__builtin_clzll(bytes);
  size_t step = (size_t)1 << (top - 2);
  size_t rounded = align_up(bytes, step > ALIGN ? step : ALIGN);
  top = 63u - (unsigned)__builtin_clzll(rounded);
  *out_rounded = rounded;
  *out_class = top * 4 + (unsigned)((rounded >> (top - 2)) & 3);
  return true;
}

u64 dev_poison_wanted(void) {
  const char *seed = getenv("TERRAZZO_POISON");
  return seed ? strtoull(seed, NULL, 10) : 0;
}

dev_heap *dev_heap_create(void) {
  dev_heap *h = mem_zalloc(&mem_system, sizeof *h);
  if (!h) return NULL;
  if (pthread_mutex_init(&h->lock, NULL)) {
    mem_free(&mem_system, h, sizeof *h);
    return NULL;
  }
  atomic_init(&h->refs, 1);
  h->poison = dev_poison_wanted();
  return h;
}

dev_heap *dev_heap_retain(dev_heap *h) {
  atomic_fetch_add_explicit(&h->refs, 1, memory_order_relaxed);
  return h;
}

void dev_heap_poison(dev_heap *h, void *p, size_t bytes) {
  if (!h->poison || !bytes) return;
  u64 n = atomic_fetch_add_explicit(&h->filled, 1, memory_order_relaxed);
  memset(p, (int)(hash_u64(n, h->poison) | 1), bytes);
  FORGET(p, bytes);
}

static void drop_cached(dev_heap *h) {
  for (unsigned i = 0; i < CLASSES; i++)
    for (free_block *b = h->lists[i], *next; b; b = next) {
      next = b->next;
      free(b);
    }
  memset(h->lists, 0, sizeof h->lists);
  h->cached = 0;
}

void dev_heap_release(dev_heap *h) {
  if (!h || atomic_fetch_sub_explicit(&h->refs, 1, memory_order_acq_rel) != 1) return;
  drop_cached(h);
  pthread_mutex_destroy(&h->lock);
  mem_free(&mem_system, h, sizeof *h);
}

static void *fresh(size_t rounded) {
  if (rounded < HUGE_PAGE) return aligned_alloc(ALIGN, rounded);
  void *p;
  if (posix_memalign(&p, HUGE_PAGE, rounded)) return NULL;
  madvise(p, rounded, MADV_HUGEPAGE); /* advice only: no matter whether it is taken */
  return p;
}

static void *take(dev_heap *h, size_t rounded, unsigned class) {
  pthread_mutex_lock(&h->lock);
  free_block *b = h->lists[class];
  if (b) {
    h->lists[class] = b->next;
    h->cached -= rounded;
  }
  pthread_mutex_unlock(&h->lock);
  if (b) return b;
  void *p = fresh(rounded);
  if (p) return p;
  pthread_mutex_lock(&h->lock); /* what is cached in other sizes may make room */
  drop_cached(h);
  pthread_mutex_unlock(&h->lock);
  return fresh(rounded);
}

void *dev_heap_alloc(dev_heap *h, size_t bytes) {
  size_t rounded;
  unsigned class;
  if (!size_class(bytes, &rounded, &class)) return NULL;
  void *p = take(h, rounded, class);
  if (p) dev_heap_poison(h, p, bytes);
  return p;
}

void dev_heap_free(dev_heap *h, void *p, size_t bytes) {
  size_t rounded;
  unsigned class;
  if (!p || !size_class(bytes, &rounded, &class)) return;
  dev_heap_poison(h, p, bytes);
  pthread_mutex_lock(&h->lock);
  bool keep = rounded <= CACHE_LIMIT && h->cached <= CACHE_LIMIT - rounded;
  if (keep) {
    free_block *b = p;
    b->next = h->lists[class];
    h->lists[class] = b;
    h->cached += rounded;
  }
  pthread_mutex_unlock(&h->lock);
  if (!keep) free(p);
}

bool dev_heap_reserve(dev_heap *heap, char **p, size_t *size, size_t bytes) {
  if (bytes <= *size) return true;
  dev_heap_free(heap, *p, *size);
  *p = dev_heap_alloc(heap, bytes);
  *size = *p ? bytes : 0;
  return *p != NULL;
}
