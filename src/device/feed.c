/* Who comes last, of the pieces under way and the last one's announcement, sets the event. */
#include "device/feed.h"

#include "base/arena.h"

struct dev_feed {
  atomic_int refs;
  dev_buffer *buffer;
  dev_event *ready;
  pthread_mutex_t lock;
  u32 under_way; /* under lock, as what follows */
  bool over;     /* there comes no other piece */
  bool told;     /* `ready` is set, or about to be */
};

dev_feed *dev_feed_create(dev_buffer *b, dev_event *ready) {
  dev_feed *f = mem_zalloc(&mem_system, sizeof *f);
  if (!f) return NULL;
  atomic_init(&f->refs, 1);
  f->buffer = dev_buffer_retain(b);
  f->ready = dev_event_retain(ready);
  pthread_mutex_init(&f->lock, NULL);
  return f;
}

static void release(dev_feed *f) {
  if (atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel) != 1) return;
  dev_buffer_release(f->buffer);
  dev_event_release(f->ready);
  pthread_mutex_destroy(&f->lock);
  mem_free(&mem_system, f, sizeof *f);
}

/* The lock is held; `error` is taken over. True: the caller sets `ready` to *out. */
static bool is_last_word(dev_feed *f, status error, status *out) {
  bool speak = !f->told && (error || (f->over && f->under_way == 0));
  *out = error;
  if (speak) f->told = f->over = true;
  if (error && !speak) status_free(error);
  return speak;
}

static void piece_done(void *user, status error) {
  dev_feed *f = user;
  status s;
  pthread_mutex_lock(&f->lock);
  f->under_way--;
  bool speak = is_last_word(f, status_copy(error), &s);
  pthread_mutex_unlock(&f->lock);
  if (speak) dev_event_set(f->ready, s);
  release(f);
}

static status too_late(void) {
  return status_make(STATUS_FAILED_PRECONDITION,
                     "the buffer has had its last transfer, or is in error");
}

/* Counts a piece that is about to be, and holds the feed for it. */
static status begin(dev_feed *f, bool last, dev_event **out_done) {
  *out_done = dev_event_create();
  if (!*out_done) return status_oom();
  pthread_mutex_lock(&f->lock);
  bool over = f->over;
  if (!over) f->under_way++;
  f->over |= last;
  pthread_mutex_unlock(&f->lock);
  if (!over) {
    atomic_fetch_add_explicit(&f->refs, 1, memory_order_relaxed);
    return NULL;
  }
  dev_event_release(*out_done);
  *out_done = NULL;
  return too_late();
}

/* s: whether somebody writes the piece, who then sets its event. */
static status follow(dev_feed *f, status s, dev_event **done) {
  if (!s && dev_event_on_ready(*done, piece_done, f)) return NULL;
  if (!s) {
    (void)dev_event_await(*done); /* it comes */
    s = status_oom();
  }
  piece_done(f, s);
  dev_event_release(*done);
  *done = NULL;
  return s;
}

status dev_feed_bytes(dev_feed *f, const void *data, size_t offset, size_t size, bool last,
                      dev_event **out_done) {
  size_t have = dev_buffer_bytes(f->buffer);
  *out_done = NULL;
  if (offset > have || size > have - offset)
    return status_make(STATUS_INVALID_ARGUMENT, "%zu bytes at %zu of a buffer of %zu bytes", size,
                       offset, have);
  RETURN_IF_ERROR(begin(f, last, out_done));
  return follow(f, dev_buffer_write_bytes(f->buffer, offset, size, data, *out_done), out_done);
}

status dev_feed_array(dev_feed *f, const void *data, const i64 *byte_strides,
                      dev_event **out_done) {
  RETURN_IF_ERROR(begin(f, true, out_done));
  return follow(f, dev_buffer_write(f->buffer, data, byte_strides, true, *out_done), out_done);
}

status dev_feed_fail(dev_feed *f, status error) {
  status s;
  pthread_mutex_lock(&f->lock);
  bool late = f->over;
  bool speak = !late && is_last_word(f, error, &s);
  pthread_mutex_unlock(&f->lock);
  if (speak) dev_event_set(f->ready, s);
  if (!late) return NULL;
  status_free(error);
  return too_late();
}

void dev_feed_close(dev_feed *f) {
  status s =
      dev_feed_fail(f, status_make(STATUS_CANCELLED, "the buffer was not filled to its end"));
  status_free(s);
  release(f);
}
