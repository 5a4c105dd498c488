/* A block is memory, counted by whoever needs its bytes. */
#include "device/block.h"

#include <stdio.h>

#include "base/arena.h"

enum { LARGE = 1 << 18 };

struct dev_block {
  atomic_int refs;
  atomic_uint uses; /* see the header */
  dev_memory *on;   /* holds the client */
  executor_memory *memory;
  size_t bytes;
  void *view;                               /* what was imported; NULL: allocated */
  bool writable;                            /* a view that may be written */
  void (*on_delete)(void *data, void *arg); /* of a view */
  void *arg;
  dev_block *before, *after; /* of the device's live ones, under its lock */
  dtype type;                /* as the buffer that it was made for */
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

executor *dev_block_executor(const dev_block *b) {
  return dev_client_executor(b->on->device->client);
}

static size_t block_size(u32 rank) { return sizeof(dev_block) + rank * sizeof(i64); }

static void block_list(dev_block *b) {
  dev_device *d = b->on->device;
  pthread_mutex_lock(&d->lock);
  b->after = d->live;
  if (b->after) b->after->before = b;
  d->live = b;
  pthread_mutex_unlock(&d->lock);
}

static void block_unlist(dev_block *b) {
  dev_device *d = b->on->device;
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

static dev_block *block_begin(const dev_block_for *what, executor_memory *m) {
  u32 rank = (u32)what->dims.len;
  dev_block *b = m ? mem_zalloc(&mem_system, block_size(rank)) : NULL;
  if (!b) return NULL;
  atomic_init(&b->refs, 1);
  b->on = what->memory;
  b->memory = m;
  b->bytes = what->bytes;
  b->type = what->type;
  b->rank = rank;
  if (rank) memcpy(b->dims, what->dims.data, rank * sizeof(i64));
  dev_client_retain(b->on->device->client);
  return b;
}

dev_block *dev_block_view(const dev_block_for *what, void *data,
                          void (*on_delete)(void *data, void *arg), void *arg) {
  dev_device *d = what->memory->device;
  executor *on = dev_client_executor(d->client);
  executor_memory *m = executor_import(on, d->id, data, what->bytes);
  dev_block *b = block_begin(what, m);
  if (!b) {
    if (m) executor_forget(on, m);
    return NULL;
  }
  b->view = data;
  b->on_delete = on_delete;
  b->arg = arg;
  return b;
}

executor_memory *dev_block_memory(const dev_block *b) { return b->memory; }
bool dev_block_is_writable(const dev_block *b) { return !b->view || b->writable; }
void dev_block_let_write(dev_block *b) { b->writable = true; }

dev_block *dev_block_retain(dev_block *b) {
  atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
  return b;
}

/* The client goes last: this may be its last reference, and the executor's with it. */
void dev_block_release(dev_block *b) {
  if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1) return;
  dev_client *c = b->on->device->client;
  if (!b->view) {
    block_unlist(b);
    dev_client_give(c, b->bytes);
    if (b->on->kind == DEV_KIND_DEVICE)
      atomic_fetch_sub(&b->on->device->bytes_in_use, (long long)b->bytes);
    executor_free(dev_block_executor(b), b->memory, b->bytes);
    if (b->bytes >= LARGE) dev_errand_later(dev_client_errands(c)); /* to give it back */
  } else {
    executor_forget(dev_block_executor(b), b->memory);
    if (b->on_delete) b->on_delete(b->view, b->arg);
  }
  mem_free(&mem_system, b, block_size(b->rank));
  dev_client_release(c);
}

bool dev_block_is_alone(const dev_block *b) {
  return atomic_load_explicit(&b->refs, memory_order_acquire) == 1;
}

u32 dev_block_uses(const dev_block *b) {
  return atomic_load_explicit(&b->uses, memory_order_acquire);
}

dev_block *dev_block_use(dev_block *b) { /* b is held by the caller */
  atomic_fetch_add_explicit(&b->uses, 1, memory_order_relaxed);
  return dev_block_retain(b);
}

void dev_block_end_use(dev_block *b) {
  atomic_fetch_sub_explicit(&b->uses, 1, memory_order_release);
}

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

static status no_memory(const dev_block_for *what) {
  dev_client *c = what->memory->device->client;
  live_block top[NAMED];
  char text[128];
  u32 n = largest_blocks(c, top);
  buf words;
  buf_init(&words, &mem_system);
  buf_printf(&words, "no memory for %s (%zu bytes) on device %u: %lld of %lld bytes are free",
             dev_shape_text(what->type, what->dims, text, sizeof text), what->bytes,
             what->memory->device->id, (long long)dev_client_bytes_free(c),
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

status dev_block_create(const dev_block_for *what, dev_block **out) {
  dev_device *d = what->memory->device;
  executor_memory *m = new_memory(d, what->bytes);
  dev_block *b = *out = block_begin(what, m);
  if (!b) {
    if (m) {
      dev_client_give(d->client, what->bytes);
      executor_free(dev_client_executor(d->client), m, what->bytes);
    }
    return no_memory(what);
  }
  if (b->on->kind == DEV_KIND_DEVICE) count_alloc(d, b->bytes);
  block_list(b);
  return NULL;
}
