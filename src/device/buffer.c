/* A buffer is a shape, an event and a block,
 * which may be taken from it (deleted, donated); its lock guards which block it has, never the
 * bytes. */
#include "device/buffer.h"

#include <assert.h>
#include <pthread.h>

#include "base/arena.h"
#include "device/copy.h"

struct dev_buffer {
  atomic_int refs;
  dtype type;
  dev_memory *memory;
  dev_event *ready;
  size_t bytes;
  pthread_mutex_t lock;
  dev_block *block;    /* under lock; NULL: deleted or donated */
  dev_block *donated;  /* under lock; what a donation took, while it may still be returned */
  dev_block *external; /* under lock; held while num_external > 0 */
  u32 num_external;
  bool permuted; /* not row-major */
  bool shares;   /* block is in use for as long as it is here */
  u32 rank;
  i64 dims[]; /* rank dims, then they from minor to major */
};

/* ---- making buffers ---- */

static size_t buffer_size(u32 rank) { return sizeof(dev_buffer) + 2 * rank * sizeof(i64); }

/* Without a block. */
static status make_handle(dev_memory *m, dtype type, i64s dims, dev_event *ready,
                          dev_buffer **out) {
  size_t bytes;
  char text[128];
  *out = NULL;
  if (dims.len > DEV_MAX_RANK)
    return status_make(STATUS_INVALID_ARGUMENT, "a buffer of %zu dimensions: at most %d", dims.len,
                       DEV_MAX_RANK);
  if (!dev_dense_bytes(dims, dtype_size(type), &bytes))
    return status_make(STATUS_INVALID_ARGUMENT, "a buffer of %s: sizes do not make sense",
                       dev_shape_text(type, dims, text, sizeof text));
  dev_buffer *b = mem_zalloc(&mem_system, buffer_size((u32)dims.len));
  if (!b) return status_oom();
  if (pthread_mutex_init(&b->lock, NULL)) {
    mem_free(&mem_system, b, buffer_size((u32)dims.len));
    return status_oom();
  }
  atomic_init(&b->refs, 1);
  b->type = type;
  b->memory = m;
  b->bytes = bytes;
  b->ready = dev_event_retain(ready);
  b->rank = (u32)dims.len;
  if (dims.len) memcpy(b->dims, dims.data, dims.len * sizeof(i64));
  for (u32 i = 0; i < b->rank; i++) b->dims[b->rank + i] = b->rank - 1 - i;
  dev_client_retain(m->device->client);
  *out = b;
  return NULL;
}

static dev_block_for block_of(const dev_buffer *b) {
  return (dev_block_for){b->memory, b->type, dev_buffer_dims(b), b->bytes};
}

status dev_buffer_create(dev_memory *m, dtype type, i64s dims, dev_event *ready, dev_block *block,
                         dev_buffer **out) {
  RETURN_IF_ERROR(make_handle(m, type, dims, ready, out));
  dev_buffer *b = *out;
  dev_block_for what = block_of(b);
  status s = NULL;
  if (block)
    b->block = dev_block_retain(block);
  else
    s = dev_block_create(&what, &b->block);
  if (!s) return NULL;
  dev_buffer_release(b);
  *out = NULL;
  return s;
}

void dev_buffer_lay_out(dev_buffer *b, i64s minor_to_major) {
  assert(minor_to_major.len == 0 || minor_to_major.len == b->rank);
  b->permuted = false;
  for (u32 i = 0; i < minor_to_major.len; i++) {
    b->dims[b->rank + i] = minor_to_major.data[i];
    b->permuted |= minor_to_major.data[i] != b->rank - 1 - i;
  }
}

status dev_buffer_view(dev_memory *m, dtype type, i64s dims, void *data, bool writable,
                       void (*on_delete)(void *data, void *arg), void *arg, dev_buffer **out) {
  dev_event *ready = dev_event_create();
  *out = NULL;
  if (!ready) return status_oom();
  dev_event_set(ready, NULL);
  status s = make_handle(m, type, dims, ready, out);
  dev_event_release(ready);
  RETURN_IF_ERROR(s);
  dev_block_for what = block_of(*out);
  (*out)->block = dev_block_view(&what, data ? data : "", on_delete, arg);
  if ((*out)->block) {
    if (writable) dev_block_let_write((*out)->block);
    return NULL;
  }
  dev_buffer_release(*out);
  *out = NULL;
  return status_oom();
}

dev_buffer *dev_buffer_retain(dev_buffer *b) {
  atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
  return b;
}

static status deleted_error(void) {
  return status_make(STATUS_INVALID_ARGUMENT, "the buffer has been deleted or donated");
}

static void end_use(dev_block *b) {
  dev_block_end_use(b);
  dev_block_release(b);
}

/* A block that was the buffer's own. */
static void drop_block(const dev_buffer *b, dev_block *block) {
  if (block && b->shares) dev_block_end_use(block);
  dev_block_release(block);
}

status dev_buffer_bitcast(dev_buffer *b, dtype type, i64s dims, i64s minor_to_major,
                          dev_buffer **out) {
  RETURN_IF_ERROR(make_handle(b->memory, type, dims, b->ready, out));
  status s =
      (*out)->bytes == b->bytes
          ? dev_buffer_use(b, &(*out)->block)
          : status_make(STATUS_INVALID_ARGUMENT, "%zu bytes seen as %zu", b->bytes, (*out)->bytes);
  if (s) {
    dev_buffer_release(*out);
    *out = NULL;
    return s;
  }
  (*out)->shares = true;
  dev_buffer_lay_out(*out, minor_to_major);
  return NULL;
}

bool dev_buffer_adopt(dev_buffer *b, dev_buffer *from) {
  dev_block *theirs, *ours = NULL;
  if (b->memory != from->memory) return false;
  status s = dev_buffer_use(from, &theirs);
  if (s) {
    status_free(s);
    return false;
  }
  pthread_mutex_lock(&b->lock); /* whoever wants the block takes it too */
  if (b->block && !b->shares && dev_block_is_alone(b->block)) {
    ours = b->block;
    b->block = theirs;
    b->shares = true;
  }
  pthread_mutex_unlock(&b->lock);
  if (!ours) end_use(theirs);
  dev_block_release(ours);
  return ours != NULL;
}

status dev_buffer_move(dev_buffer *b, dev_event *ready, dev_buffer **out) {
  RETURN_IF_ERROR(make_handle(b->memory, b->type, dev_buffer_dims(b), ready, out));
  dev_buffer_lay_out(*out, dev_buffer_order(b));
  pthread_mutex_lock(&b->lock);
  (*out)->block = b->block;
  (*out)->shares = b->shares;
  b->block = NULL;
  pthread_mutex_unlock(&b->lock);
  if ((*out)->block) return NULL;
  dev_buffer_release(*out);
  *out = NULL;
  return deleted_error();
}

void dev_buffer_release(dev_buffer *b) {
  if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1) return;
  dev_client *c = b->memory->device->client;
  drop_block(b, b->block);
  dev_block_release(b->donated);
  for (; b->num_external; b->num_external--) end_use(b->external);
  dev_event_release(b->ready);
  pthread_mutex_destroy(&b->lock);
  mem_free(&mem_system, b, buffer_size(b->rank));
  dev_client_release(c);
}

/* ---- questions ---- */

dtype dev_buffer_type(const dev_buffer *b) { return b->type; }
i64s dev_buffer_dims(const dev_buffer *b) { return (i64s){b->dims, b->rank}; }
i64s dev_buffer_order(const dev_buffer *b) { return (i64s){b->dims + b->rank, b->rank}; }
bool dev_buffer_is_permuted(const dev_buffer *b) { return b->permuted; }
bool dev_buffer_is_like(const dev_buffer *a, const dev_buffer *b) {
  return a->type == b->type && i64s_eq(dev_buffer_dims(a), dev_buffer_dims(b)) &&
         i64s_eq(dev_buffer_order(a), dev_buffer_order(b));
}
size_t dev_buffer_bytes(const dev_buffer *b) { return b->bytes; }
dev_memory *dev_buffer_memory(const dev_buffer *b) { return b->memory; }
dev_event *dev_buffer_ready(const dev_buffer *b) { return b->ready; }

void dev_buffer_delete(dev_buffer *b) {
  pthread_mutex_lock(&b->lock);
  dev_block *block = b->block ? b->block : b->donated;
  b->block = b->donated = NULL;
  pthread_mutex_unlock(&b->lock);
  drop_block(b, block);
}

bool dev_buffer_donate(dev_buffer *b) {
  pthread_mutex_lock(&b->lock); /* whoever begins a use takes it too */
  bool ok = b->block && dev_block_is_writable(b->block) && dev_block_uses(b->block) == 1;
  if (ok) {
    b->donated = b->block;
    b->block = NULL;
  }
  pthread_mutex_unlock(&b->lock);
  return ok;
}

void dev_buffer_return(dev_buffer *b) {
  pthread_mutex_lock(&b->lock);
  if (b->donated) b->block = b->donated;
  b->donated = NULL;
  pthread_mutex_unlock(&b->lock);
}

bool dev_buffer_is_deleted(dev_buffer *b) {
  pthread_mutex_lock(&b->lock);
  bool deleted = b->block == NULL;
  pthread_mutex_unlock(&b->lock);
  return deleted;
}

status dev_buffer_hold(dev_buffer *b, dev_block **out) {
  pthread_mutex_lock(&b->lock);
  *out = b->block ? dev_block_retain(b->block) : NULL;
  pthread_mutex_unlock(&b->lock);
  return *out ? NULL : deleted_error();
}

status dev_buffer_use(dev_buffer *b, dev_block **out) {
  pthread_mutex_lock(&b->lock);
  *out = b->block ? dev_block_use(b->block) : NULL;
  pthread_mutex_unlock(&b->lock);
  return *out ? NULL : deleted_error();
}

status dev_buffer_map(dev_buffer *b, void **out_data) {
  dev_block *block;
  *out_data = NULL;
  RETURN_IF_ERROR(dev_buffer_hold(b, &block));
  *out_data = executor_map(dev_block_executor(block), dev_block_memory(block));
  dev_block_release(block); /* the buffer keeps it */
  return *out_data ? NULL
                   : status_make(STATUS_UNIMPLEMENTED, "the device's memory has no address here");
}

status dev_buffer_add_external(dev_buffer *b) {
  pthread_mutex_lock(&b->lock);
  dev_block *block = b->num_external ? b->external : b->block;
  if (block) {
    b->external = dev_block_use(block);
    b->num_external++;
  }
  pthread_mutex_unlock(&b->lock);
  return block ? NULL : deleted_error();
}

status dev_buffer_drop_external(dev_buffer *b) {
  pthread_mutex_lock(&b->lock);
  dev_block *block = b->num_external ? b->external : NULL;
  if (block && --b->num_external == 0) b->external = NULL;
  pthread_mutex_unlock(&b->lock);
  if (!block)
    return status_make(STATUS_INVALID_ARGUMENT, "the buffer has no external reference to drop");
  end_use(block);
  return NULL;
}
