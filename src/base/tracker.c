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
    mem_free(t->mem, b, old_size + sizeof *b);
    return NULL;
  }
  tracker_block *r =
      b ? mem_resize(t->mem, b, old_size + sizeof *b, total) : mem_alloc(t->mem, total);
  if (r) link_in(t, r, new_size);
  if (!r && b) link_in(t, b, old_size);
  return r ? r + 1 : NULL;
}

allocator tracker_allocator(tracker *t) { return (allocator){tracked, t}; }

void tracker_free_all(tracker *t) {
  while (t->blocks) {
    tracker_block *b = t->blocks;
    unlink_from(t, b);
    mem_free(t->mem, b, b->size + sizeof *b);
  }
}
