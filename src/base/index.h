/* A hash index in an arena. Entries are pointers; the caller compares. */
#ifndef BASE_INDEX_H
#define BASE_INDEX_H

#include "base/arena.h"

typedef struct index_slot {
  u64 hash;
  void *entry; /* NULL: free */
} index_slot;

/* Zeroed: empty. Open addressing with linear steps, at most half full; entries are never removed,
 * so a probe that meets a free slot is done. Memory of smaller tables stays in the arena. */
typedef struct hash_index {
  index_slot *slots;
  size_t count, cap; /* cap is 0 or a power of two */
} hash_index;

static inline void index_put_slot(hash_index *t, u64 hash, void *entry) {
  size_t i = hash & (t->cap - 1);
  while (t->slots[i].entry) i = (i + 1) & (t->cap - 1);
  t->slots[i] = (index_slot){hash, entry};
}

/* Adds an entry that is not there yet. */
static inline void index_add(hash_index *t, arena *a, u64 hash, void *entry) {
  if (t->count * 2 >= t->cap) {
    hash_index old = *t;
    t->cap = old.cap ? old.cap * 2 : 16;
    t->slots = arena_zalloc(a, t->cap * sizeof *t->slots);
    for (size_t i = 0; i < old.cap; i++)
      if (old.slots[i].entry) index_put_slot(t, old.slots[i].hash, old.slots[i].entry);
  }
  index_put_slot(t, hash, entry);
  t->count++;
}

/* Walks the entries with a hash: for (size_t at = 0; (e = index_next(t, hash, &at));) */
static inline void *index_next(const hash_index *t, u64 hash, size_t *at) {
  if (!t->cap) return NULL;
  for (; *at < t->cap; ++*at) {
    const index_slot *s = &t->slots[(hash + *at) & (t->cap - 1)];
    if (!s->entry) return NULL;
    if (s->hash == hash) return ++*at, s->entry;
  }
  return NULL;
}

/* Maps pointers to pointers. */
typedef struct ptr_pair {
  const void *key;
  void *value;
} ptr_pair;
static inline ptr_pair *index_pair(const hash_index *t, const void *key) {
  ptr_pair *p;
  u64 h = hash_ptr(key, 0);
  for (size_t at = 0; (p = index_next(t, h, &at));)
    if (p->key == key) return p;
  return NULL;
}
static inline void *index_get(const hash_index *t, const void *key) {
  ptr_pair *p = index_pair(t, key);
  return p ? p->value : NULL;
}
/* Sets or replaces; the pointers themselves are the keys. */
static inline void index_set(hash_index *t, arena *a, const void *key, void *value) {
  ptr_pair *p = index_pair(t, key);
  if (!p) {
    p = ARENA_NEW(a, ptr_pair);
    p->key = key;
    index_add(t, a, hash_ptr(key, 0), p);
  }
  p->value = value;
}

/* A set of pairs of pointers. */
static inline bool pairs_have(const hash_index *t, const void *x, const void *y) {
  ptr_pair *p;
  u64 h = hash_ptr(y, hash_ptr(x, 0));
  for (size_t at = 0; (p = index_next(t, h, &at));)
    if (p->key == x && p->value == y) return true;
  return false;
}
static inline void pairs_add(hash_index *t, arena *a, const void *x, const void *y) {
  ptr_pair *p = ARENA_NEW(a, ptr_pair);
  *p = (ptr_pair){x, (void *)(uintptr_t)y};
  index_add(t, a, hash_ptr(y, hash_ptr(x, 0)), p);
}

#endif
