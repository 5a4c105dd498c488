#define _GNU_SOURCE
#include "device/heap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "base/os.h"

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

#define SPARE ((size_t)64 << 20) /* that may be cached beyond what was needed lately */
#define PERIOD_NS ((u64)1000000000)
enum { KEPT = 16 }; /* periods that a block is cached at most */
enum { TIMED = 1 << 16 }; /* bytes of a block from which on it pays to look at the clock */

/* In two lists: of its class, and of all, by age. */
typedef struct free_block {
  struct free_block *next, *prev;
  struct free_block *newer, *older;
  size_t rounded;
  u64 period; /* in which it was freed */
  unsigned class;
} free_block;
_Static_assert(sizeof(free_block) <= ALIGN, "it lies in the smallest block");

struct dev_heap {
  atomic_int refs;
  u64 poison; /* 0: none */
  atomic_ullong filled;
  pthread_mutex_t lock;
  size_t live, cached;      /* under lock, as what follows */
  size_t most, most_before; /* live ones in this period and the one before */
  u64 began, period;        /* this one, of how many */
  free_block *lists[CLASSES];
  free_block *oldest, *newest;
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

/* ---- blocks of the system ---- */

static void *fresh_large(size_t rounded) {
  char *p =
      mmap(NULL, rounded + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return NULL;
  size_t before = (size_t)(-(uintptr_t)p % HUGE_PAGE), after = HUGE_PAGE - before;
  if (before) munmap(p, before);
  if (after) munmap(p + before + rounded, after);
  madvise(p + before, rounded, MADV_HUGEPAGE); /* advice only: no matter whether it is taken */
  FORGET(p + before, rounded);
  return p + before;
}

/* What goes back to malloc() stays in the process, more with every peak. Blocks from PAGED on are
 * whole pages: rounded is a multiple of a quarter of it. Where errors in memory are looked for,
 * those who look have malloc()'s blocks. */
#define PAGED (MEM_CACHES ? (size_t)128 << 10 : HUGE_PAGE)

static void *fresh_pages(size_t rounded) {
  void *p = mmap(NULL, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static void *fresh(size_t rounded) {
  return rounded >= HUGE_PAGE ? fresh_large(rounded)
         : rounded >= PAGED   ? fresh_pages(rounded)
                              : aligned_alloc(ALIGN, rounded);
}

static void give_back(void *p, size_t rounded) {
  if (rounded >= PAGED)
    munmap(p, rounded);
  else
    free(p);
}

/* ---- the cache; the lock is held ---- */

static void cache_add(dev_heap *h, free_block *b, size_t rounded, unsigned class) {
  *b = (free_block){.next = h->lists[class],
                    .older = h->newest,
                    .rounded = rounded,
                    .period = h->period,
                    .class = class};
  if (b->next) b->next->prev = b;
  h->lists[class] = b;
  *(b->older ? &b->older->newer : &h->oldest) = b;
  h->newest = b;
  h->cached += rounded;
}

static void cache_remove(dev_heap *h, free_block *b) {
  *(b->prev ? &b->prev->next : &h->lists[b->class]) = b->next;
  if (b->next) b->next->prev = b->prev;
  *(b->older ? &b->older->newer : &h->oldest) = b->newer;
  *(b->newer ? &b->newer->older : &h->newest) = b->older;
  h->cached -= b->rounded;
}

/* Takes the oldest ones out, those that nobody asked for in KEPT periods, and more until no more
 * than `limit` bytes are live and cached; they are returned as a list, to be given back without the
 * lock. */
static free_block *cache_cut(dev_heap *h, size_t limit) {
  free_block *cut = NULL;
  while (h->oldest &&
         (h->live + h->cached > limit || h->period - h->oldest->period >= KEPT)) {
    free_block *b = h->oldest;
    cache_remove(h, b);
    b->next = cut;
    cut = b;
  }
  return cut;
}

static void give_back_all(free_block *b) {
  for (free_block *next; b; b = next) {
    next = b->next;
    give_back(b, b->rounded);
  }
}

/* What was live at once lately will be again: so much may lie about. */
static size_t limit_of(const dev_heap *h) {
  return (h->most > h->most_before ? h->most : h->most_before) + SPARE;
}

static void next_period(dev_heap *h, u64 now) {
  h->most_before = h->most;
  h->most = h->live;
  h->began = now;
  h->period++;
}

static void look_at_clock(dev_heap *h, size_t rounded) {
  if (rounded < TIMED) return;
  u64 now = os_now_ns();
  if (now - h->began >= PERIOD_NS) next_period(h, now);
}

bool dev_heap_trim(dev_heap *h) {
  pthread_mutex_lock(&h->lock);
  next_period(h, os_now_ns());
  free_block *cut = cache_cut(h, limit_of(h));
  bool more = h->cached > 0;
  pthread_mutex_unlock(&h->lock);
  give_back_all(cut);
  return more;
}

static void drop_cached(dev_heap *h) {
  pthread_mutex_lock(&h->lock);
  free_block *cut = cache_cut(h, 0);
  pthread_mutex_unlock(&h->lock);
  give_back_all(cut);
}

void dev_heap_release(dev_heap *h) {
  if (!h || atomic_fetch_sub_explicit(&h->refs, 1, memory_order_acq_rel) != 1) return;
  drop_cached(h);
  pthread_mutex_destroy(&h->lock);
  mem_free(&mem_system, h, sizeof *h);
}

static void *take(dev_heap *h, size_t rounded, unsigned class) {
  pthread_mutex_lock(&h->lock);
  look_at_clock(h, rounded);
  free_block *b = h->lists[class];
  if (b) cache_remove(h, b);
  h->live += rounded;
  if (h->live > h->most) h->most = h->live;
  free_block *cut = b ? NULL : cache_cut(h, limit_of(h)); /* other sizes are in the way */
  pthread_mutex_unlock(&h->lock);
  give_back_all(cut);
  if (b) return b;
  void *p = fresh(rounded);
  if (p) return p;
  drop_cached(h); /* what is cached in other sizes may make room */
  p = fresh(rounded);
  if (p) return p;
  pthread_mutex_lock(&h->lock);
  h->live -= rounded;
  pthread_mutex_unlock(&h->lock);
  return NULL;
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
  look_at_clock(h, rounded);
  h->live -= rounded;
  if (MEM_CACHES) cache_add(h, p, rounded, class);
  free_block *cut = cache_cut(h, limit_of(h));
  pthread_mutex_unlock(&h->lock);
  give_back_all(cut);
  if (!MEM_CACHES) give_back(p, rounded);
}

size_t dev_heap_cached(dev_heap *h) {
  pthread_mutex_lock(&h->lock);
  size_t cached = h->cached;
  pthread_mutex_unlock(&h->lock);
  return cached;
}

bool dev_heap_reserve(dev_heap *heap, char **p, size_t *size, size_t bytes) {
  if (bytes <= *size) return true;
  dev_heap_free(heap, *p, *size);
  *p = dev_heap_alloc(heap, bytes);
  *size = *p ? bytes : 0;
  return *p != NULL;
}
