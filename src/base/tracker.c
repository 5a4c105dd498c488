/* The tracking allocator: each block has a header that links it into the tracker's list.
 *
 * A context (ir/ctx.c) puts all its memory through one, so that after a jump to the trap it can
 * free what only dead stack frames knew of. */
#include "base/tracker.h"

/* In front of each block; keeps its alignment of 16. */
struct tracker_block {
  tracker_block *prev, *next;
  size_t size;
  size_t unused;
};

enum { KEEP_FROM = 1 << 19, KEEP_AT_MOST = 1 << 26 }; /* bytes: of a block, of all */

static bool keep(tracker *t, tracker_block *b) {
  if (!MEM_CACHES || b->size < KEEP_FROM || b->size > KEEP_AT_MOST - t->spare_bytes) return false;
  t->spare_bytes += b->size;
  b->next = t->spare;
  t->spare = b;
  return true;
}

static tracker_block *take_spare(tracker *t, size_t size) {
  if (size < KEEP_FROM) return NULL;
  for (tracker_block **at = &t->spare, *b; (b = *at); at = &b->next) {
    if (b->size != size) continue;
    *at = b->next;
    t->spare_bytes -= size;
    return b;
  }
  return NULL;
}

static void link_in(tracker *t, tracker_block *b, size_t size) {
  b->size = size;
  b->prev = NULL;
  b->next = t->blocks;
  if (t->blocks) t->blocks->prev = b;
  t->blocks = b;
}

static void unlink_from(tracker *t, tracker_block *b) {
  if (b->prev)
    b->prev->next = b->next;
  else
    t->blocks = b->next;
  if (b->next) b->next->prev = b->prev;
}

/* The block leaves the list before it is resized, since it may move, and comes back where it could
 * not grow: the caller still owns it then. */
static void *tracked(void *user, void *p, size_t old_size, size_t new_size) {
  tracker *t = user;
  tracker_block *b = p ? (tracker_block *)p - 1 : NULL;
  size_t total;
  if (!checked_add(new_size, sizeof *b, &total)) return NULL;
  if (b) unlink_from(t, b);
  if (new_size == 0) {
    if (b && !keep(t, b)) mem_free(t->mem, b, old_size + sizeof *b);
    return NULL;
  }
  tracker_block *r =
      b ? mem_resize(t->mem, b, old_size + sizeof *b, total) : take_spare(t, new_size);
  if (!r && !b) r = mem_alloc(t->mem, total);
  if (r) link_in(t, r, new_size);
  if (!r && b) link_in(t, b, old_size);
  return r ? r + 1 : NULL;
}

allocator tracker_allocator(tracker *t) { return (allocator){tracked, t}; }

void tracker_free_all(tracker *t) {
  while (t->spare) {
    tracker_block *b = t->spare;
    t->spare = b->next;
    mem_free(t->mem, b, b->size + sizeof *b);
  }
  t->spare_bytes = 0;
  while (t->blocks) {
    tracker_block *b = t->blocks;
    unlink_from(t, b);
    mem_free(t->mem, b, b->size + sizeof *b);
  }
}
