/* A block is memory, counted by whoever needs its bytes. A buffer is a shape, an event and a block,
 * which may be taken from it (deleted, donated); its lock guards which block it has, never the
 * bytes. */
#include "device/buffer.h"

#include <pthread.h>
#include <stdio.h>

#include "base/arena.h"
#include "device/copy.h"

struct dev_block {
  atomic_int refs;
  atomic_uint uses;   /* see the header */
  dev_device *device; /* holds the client */
  executor_memory *memory;
  size_t bytes;
  void *view;                               /* what was imported; NULL: allocated */
  void (*on_delete)(void *data, void *arg); /* of a view */
  void *arg;
  dev_block *before, *after; /* of the device's live ones, under its lock */
  dtype type;                /* as the buffer that it was made for */
  u32 rank;
  i64 dims[];
};

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
  u32 rank;
  i64 dims[];
};

/* ---- blocks ---- */

static void count_alloc(dev_device *d, size_t bytes) {
  long long now = atomic_fetch_add(&d->bytes_in_use, (long long)bytes) + (long long)bytes;
  long long peak = atomic_load(&d->peak_bytes), largest = atomic_load(&d->largest_alloc);
  while (now > peak && !atomic_compare_exchange_weak(&d->peak_bytes, &peak, now)) {
  }
  while ((long long)bytes > largest &&
         !atomic_compare_exchange_weak(&d->largest_alloc, &largest, (long long)bytes)) {
  }
  atomic_fetch_add(&d->num_allocs, 1);
}

static executor *executor_of(const dev_block *b) { return dev_client_executor(b->device->client); }

static size_t block_size(u32 rank) { return sizeof(dev_block) + rank * sizeof(i64); }

static void block_list(dev_block *b) {
  dev_device *d = b->device;
  pthread_mutex_lock(&d->lock);
  b->after = d->live;
  if (b->after) b->after->before = b;
  d->live = b;
  pthread_mutex_unlock(&d->lock);
}

static void block_unlist(dev_block *b) {
  dev_device *d = b->device;
  pthread_mutex_lock(&d->lock);
  *(b->before ? &b->before->after : &d->live) = b->after;
  if (b->after) b->after->before = b->before;
  pthread_mutex_unlock(&d->lock);
}

static executor_memory *new_memory(dev_device *d, size_t bytes) {
  if (!dev_client_take(d->client, bytes)) return NULL;
  executor_memory *m = executor_alloc(dev_client_executor(d->client), d->id, bytes);
  if (!m) dev_client_give(d->client, bytes);
  return m;
}

/* For a buffer; view NULL: new memory. */
static dev_block *block_create(const dev_buffer *for_buffer, void *view) {
  dev_device *d = for_buffer->memory->device;
  size_t bytes = for_buffer->bytes;
  u32 rank = for_buffer->rank;
  dev_block *b = mem_zalloc(&mem_system, block_size(rank));
  if (!b) return NULL;
  b->view = view;
  b->memory = view ? executor_import(dev_client_executor(d->client), d->id, view, bytes)
                   : new_memory(d, bytes);
  if (!b->memory) {
    mem_free(&mem_system, b, block_size(rank));
    return NULL;
  }
  atomic_init(&b->refs, 1);
  b->device = d;
  b->bytes = bytes;
  b->type = for_buffer->type;
  b->rank = rank;
  if (rank) memcpy(b->dims, for_buffer->dims, rank * sizeof(i64));
  dev_client_retain(d->client);
  if (!view) {
    count_alloc(d, bytes);
    block_list(b);
  }
  return b;
}

executor_memory *dev_block_memory(const dev_block *b) { return b->memory; }

dev_block *dev_block_retain(dev_block *b) {
  atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
  return b;
}

/* The client goes last: this may be its last reference, and the executor's with it. */
void dev_block_release(dev_block *b) {
  if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1) return;
  dev_client *c = b->device->client;
  if (!b->view) {
    block_unlist(b);
    dev_client_give(c, b->bytes);
    atomic_fetch_sub(&b->device->bytes_in_use, (long long)b->bytes);
    executor_free(executor_of(b), b->memory, b->bytes);
  } else {
    executor_forget(executor_of(b), b->memory);
    if (b->on_delete) b->on_delete(b->view, b->arg);
  }
  mem_free(&mem_system, b, block_size(b->rank));
  dev_client_release(c);
}

u32 dev_block_uses(const dev_block *b) {
  return atomic_load_explicit(&b->uses, memory_order_acquire);
}

static dev_block *use_begin(dev_block *b) { /* b is held by the caller */
  atomic_fetch_add_explicit(&b->uses, 1, memory_order_relaxed);
  return dev_block_retain(b);
}

void dev_block_end_use(dev_block *b) {
  atomic_fetch_sub_explicit(&b->uses, 1, memory_order_release);
}

static void use_end(dev_block *b) {
  dev_block_end_use(b);
  dev_block_release(b);
}

/* ---- making buffers ---- */

char *dev_shape_text(dtype type, i64s dims, char *out, size_t size) {
  static const char *const names[] = {
#define DT(id, ...) #id,
      DTYPES(DT)
#undef DT
  };
  size_t n = (size_t)snprintf(out, size, "%s[", names[type]);
  for (size_t i = 0; i < dims.len && n < size; i++)
    n += (size_t)snprintf(out + n, size - n, i ? ",%lld" : "%lld", (long long)dims.data[i]);
  if (n < size) snprintf(out + n, size - n, "]");
  return out;
}

static size_t buffer_size(u32 rank) { return sizeof(dev_buffer) + rank * sizeof(i64); }

enum { NAMED = 5 }; /* live blocks that an error names */

typedef struct live_block {
  size_t bytes;
  u32 device;
  char text[96];
} live_block;

/* The largest first. */
static u32 largest_blocks(dev_client *c, live_block top[NAMED]) {
  u32 n = 0;
  for (u32 i = 0; i < dev_client_num_devices(c); i++) {
    dev_device *d = dev_client_device(c, i);
    pthread_mutex_lock(&d->lock);
    for (const dev_block *b = d->live; b; b = b->after) {
      u32 at = n;
      while (at > 0 && top[at - 1].bytes < b->bytes) at--;
      if (at == NAMED) continue;
      if (n < NAMED) n++;
      memmove(&top[at + 1], &top[at], (n - 1 - at) * sizeof *top);
      top[at].bytes = b->bytes;
      top[at].device = i;
      dev_shape_text(b->type, (i64s){b->dims, b->rank}, top[at].text, sizeof top[at].text);
    }
    pthread_mutex_unlock(&d->lock);
  }
  return n;
}

static status no_memory(const dev_buffer *b) {
  dev_client *c = b->memory->device->client;
  live_block top[NAMED];
  char text[128];
  u32 n = largest_blocks(c, top);
  buf words;
  buf_init(&words, &mem_system);
  buf_printf(&words, "no memory for %s (%zu bytes) on device %u: %lld of %lld bytes are free",
             dev_shape_text(b->type, dev_buffer_dims(b), text, sizeof text), b->bytes,
             b->memory->device->id, (long long)dev_client_bytes_free(c),
             (long long)dev_client_bytes(c));
  for (u32 i = 0; i < n; i++)
    buf_printf(&words, "%s%s (%zu bytes, device %u)", i ? ", " : "; the largest live buffers are ",
               top[i].text, top[i].bytes, top[i].device);
  status s = buf_ok(&words)
                 ? status_make(STATUS_RESOURCE_EXHAUSTED, STR_FMT, STR_ARG(buf_view(&words)))
                 : status_oom();
  buf_deinit(&words);
  return s;
}

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
  dev_client_retain(m->device->client);
  *out = b;
  return NULL;
}

status dev_buffer_create(dev_memory *m, dtype type, i64s dims, dev_event *ready, dev_block *block,
                         dev_buffer **out) {
  RETURN_IF_ERROR(make_handle(m, type, dims, ready, out));
  dev_buffer *b = *out;
  b->block = block ? dev_block_retain(block) : block_create(b, NULL);
  if (b->block) return NULL;
  status s = no_memory(b);
  dev_buffer_release(b);
  *out = NULL;
  return s;
}

status dev_buffer_from_host(dev_memory *m, dtype type, i64s dims, const void *data,
                            const i64 *byte_strides, dev_buffer **out) {
  dev_event *ready = dev_event_create();
  *out = NULL;
  if (!ready) return status_oom();
  status s = dev_buffer_create(m, type, dims, ready, NULL, out);
  if (!s) {
    dev_block *block = (*out)->block;
    s = executor_write(executor_of(block), block->memory, 0,
                       &(executor_array){type, dims, byte_strides}, data);
    dev_event_set(ready, NULL);
  }
  if (s) {
    dev_buffer_release(*out);
    *out = NULL;
  }
  dev_event_release(ready);
  return s;
}

status dev_buffer_view(dev_memory *m, dtype type, i64s dims, void *data,
                       void (*on_delete)(void *data, void *arg), void *arg, dev_buffer **out) {
  dev_event *ready = dev_event_create();
  *out = NULL;
  if (!ready) return status_oom();
  dev_event_set(ready, NULL);
  status s = make_handle(m, type, dims, ready, out);
  dev_event_release(ready);
  RETURN_IF_ERROR(s);
  (*out)->block = block_create(*out, data ? data : "");
  if (!(*out)->block) {
    dev_buffer_release(*out);
    *out = NULL;
    return status_oom();
  }
  (*out)->block->on_delete = on_delete;
  (*out)->block->arg = arg;
  return NULL;
}

dev_buffer *dev_buffer_retain(dev_buffer *b) {
  atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
  return b;
}

void dev_buffer_release(dev_buffer *b) {
  if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1) return;
  dev_client *c = b->memory->device->client;
  dev_block_release(b->block);
  dev_block_release(b->donated);
  for (; b->num_external; b->num_external--) use_end(b->external);
  dev_event_release(b->ready);
  pthread_mutex_destroy(&b->lock);
  mem_free(&mem_system, b, buffer_size(b->rank));
  dev_client_release(c);
}

/* ---- questions ---- */

dtype dev_buffer_type(const dev_buffer *b) { return b->type; }
i64s dev_buffer_dims(const dev_buffer *b) { return (i64s){b->dims, b->rank}; }
size_t dev_buffer_bytes(const dev_buffer *b) { return b->bytes; }
dev_memory *dev_buffer_memory(const dev_buffer *b) { return b->memory; }
dev_event *dev_buffer_ready(const dev_buffer *b) { return b->ready; }

void dev_buffer_delete(dev_buffer *b) {
  pthread_mutex_lock(&b->lock);
  dev_block *block = b->block ? b->block : b->donated;
  b->block = b->donated = NULL;
  pthread_mutex_unlock(&b->lock);
  dev_block_release(block);
}

bool dev_buffer_donate(dev_buffer *b) {
  pthread_mutex_lock(&b->lock); /* whoever begins a use takes it too */
  bool ok = b->block && !b->block->view && dev_block_uses(b->block) == 1;
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

static status deleted_error(void) {
  return status_make(STATUS_INVALID_ARGUMENT, "the buffer has been deleted or donated");
}

status dev_buffer_hold(dev_buffer *b, dev_block **out) {
  pthread_mutex_lock(&b->lock);
  *out = b->block ? dev_block_retain(b->block) : NULL;
  pthread_mutex_unlock(&b->lock);
  return *out ? NULL : deleted_error();
}

status dev_buffer_use(dev_buffer *b, dev_block **out) {
  pthread_mutex_lock(&b->lock);
  *out = b->block ? use_begin(b->block) : NULL;
  pthread_mutex_unlock(&b->lock);
  return *out ? NULL : deleted_error();
}

status dev_buffer_map(dev_buffer *b, void **out_data) {
  dev_block *block;
  *out_data = NULL;
  RETURN_IF_ERROR(dev_buffer_hold(b, &block));
  *out_data = executor_map(executor_of(block), block->memory);
  dev_block_release(block); /* the buffer keeps it */
  return *out_data ? NULL
                   : status_make(STATUS_UNIMPLEMENTED, "the device's memory has no address here");
}

status dev_buffer_add_external(dev_buffer *b) {
  pthread_mutex_lock(&b->lock);
  dev_block *block = b->num_external ? b->external : b->block;
  if (block) {
    b->external = use_begin(block);
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
  use_end(block);
  return NULL;
}

/* ---- copies that wait for their source ---- */

/* One copy: a range of bytes, or (rank > 0) all to a strided array at the host. */
typedef struct transfer {
  dev_block *src;    /* in use */
  dev_block *target; /* held, or NULL: host memory */
  dev_event *done;
  void *dst; /* at the host */
  size_t offset, size;
  dtype type;
  u32 rank;
  i64 dims_strides[]; /* rank dims, then rank strides of dst */
} transfer;

static size_t transfer_size(u32 rank) { return sizeof(transfer) + 2 * rank * sizeof(i64); }

static void transfer_run(void *user, status error) {
  transfer *t = user;
  executor *on = executor_of(t->src);
  i64 bytes = (i64)t->size;
  executor_array a = {DTYPE_u8, {&bytes, 1}, NULL};
  if (t->rank) a = (executor_array){t->type, {t->dims_strides, t->rank}, t->dims_strides + t->rank};
  status s;
  if (error)
    s = status_copy(error);
  else if (t->target)
    s = executor_copy(on, t->target->memory, t->src->memory, t->size);
  else
    s = executor_read(on, t->src->memory, t->offset, &a, t->dst);
  use_end(t->src);
  dev_block_release(t->target);
  dev_event *done = t->done;
  mem_free(&mem_system, t, transfer_size(t->rank));
  dev_event_set(done, s);
  dev_event_release(done);
}

/* Takes nothing over. To `target`, or (NULL) to dst; strides NULL: a range of bytes. */
static status transfer_begin(dev_buffer *b, void *dst, dev_block *target, size_t offset,
                             size_t size, const i64 *strides, dev_event *done) {
  u32 rank = strides ? b->rank : 0;
  dev_block *src;
  status deleted = dev_buffer_use(b, &src);
  if (!src) return deleted;
  transfer *t = mem_zalloc(&mem_system, transfer_size(rank));
  if (!t) {
    use_end(src);
    return status_oom();
  }
  *t = (transfer){
      .src = src, .dst = dst, .offset = offset, .size = size, .type = b->type, .rank = rank};
  t->target = target ? dev_block_retain(target) : NULL;
  t->done = dev_event_retain(done);
  if (rank) {
    memcpy(t->dims_strides, b->dims, rank * sizeof(i64));
    memcpy(t->dims_strides + rank, strides, rank * sizeof(i64));
  }
  if (dev_event_on_ready(b->ready, transfer_run, t)) return NULL;
  use_end(src);
  dev_block_release(t->target);
  dev_event_release(t->done);
  mem_free(&mem_system, t, transfer_size(rank));
  return status_oom();
}

static status read_into(dev_buffer *b, void *dst, size_t offset, size_t size, const i64 *strides,
                        dev_event **out_done) {
  *out_done = dev_event_create();
  if (!*out_done) return status_oom();
  status s = transfer_begin(b, dst, NULL, offset, size, strides, *out_done);
  if (s) {
    dev_event_release(*out_done);
    *out_done = NULL;
  }
  return s;
}

status dev_buffer_read(dev_buffer *b, void *dst, size_t offset, size_t size, dev_event **out_done) {
  *out_done = NULL;
  if (offset > b->bytes || size > b->bytes - offset)
    return status_make(STATUS_INVALID_ARGUMENT, "bytes %zu to %zu of a buffer of %zu bytes", offset,
                       offset + size, b->bytes);
  return read_into(b, dst, offset, size, NULL, out_done);
}

status dev_buffer_to_host(dev_buffer *b, void *dst, const i64 *byte_strides, dev_event **out_done) {
  return read_into(b, dst, 0, b->bytes, byte_strides, out_done);
}

status dev_buffer_copy(dev_buffer *src, dev_memory *m, dev_buffer **out) {
  dev_event *ready = dev_event_create();
  *out = NULL;
  if (!ready) return status_oom();
  status s = dev_buffer_create(m, src->type, dev_buffer_dims(src), ready, NULL, out);
  if (!s) {
    dev_block *target = (*out)->block;
    s = transfer_begin(src, NULL, target, 0, src->bytes, NULL, ready);
  }
  if (s) {
    dev_buffer_release(*out);
    *out = NULL;
  }
  dev_event_release(ready);
  return s;
}
