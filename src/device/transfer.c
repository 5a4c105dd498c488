/* Bytes into buffers and out of them: at once, when the buffer is ready, or on the client's thread
 * where there are so many that the caller would notice. */
#include "base/arena.h"
#include "device/buffer.h"
#include "device/copy.h"
#include "device/errand.h"

enum { SHARED_ALIGN = 64 };
#define MANY_BYTES ((size_t)512 << 10)

static void end_use(dev_block *b) {
  dev_block_end_use(b);
  dev_block_release(b);
}

/* ---- how arrays lie ---- */

/* by_dim as the dimensions stand in memory, the major one first. */
static void outwards(i64s order, const i64 *by_dim, i64 *out) {
  for (size_t k = 0; k < order.len; k++) out[k] = by_dim[order.data[order.len - 1 - k]];
}

/* Strides of dense elements in this order, by dimension. */
static void strides_of(i64s order, i64s dims, size_t element, i64 *out) {
  u64 stride = element;
  for (size_t i = 0; i < dims.len; i++) {
    size_t d = order.len ? (size_t)order.data[i] : dims.len - 1 - i;
    out[d] = (i64)stride;
    stride *= (u64)dims.data[d];
  }
}

/* ---- from the host ---- */

typedef struct upload {
  dev_block *block;
  dev_event *done;
  size_t offset;
  dtype type;
  const void *data;
  u32 rank;
  i64 dims_strides[]; /* as they lie in the block */
} upload;

static size_t upload_size(u32 rank) { return sizeof(upload) + 2 * rank * sizeof(i64); }

static void upload_run(void *user) {
  upload *u = user;
  executor_array a = {u->type, {u->dims_strides, u->rank}, u->dims_strides + u->rank};
  status s = executor_write(dev_block_executor(u->block), dev_block_memory(u->block), u->offset, &a,
                            u->data);
  dev_event *done = u->done;
  dev_block_release(u->block);
  mem_free(&mem_system, u, upload_size(u->rank));
  dev_event_set(done, s);
  dev_event_release(done);
}

static status upload_create(dev_buffer *b, dtype type, const void *data, size_t rank,
                            dev_event *done, upload **out) {
  upload *u = *out = mem_zalloc(&mem_system, upload_size((u32)rank));
  if (!u) return status_oom();
  status s = dev_buffer_hold(b, &u->block);
  if (s) {
    mem_free(&mem_system, u, upload_size((u32)rank));
    return s;
  }
  u->done = dev_event_retain(done);
  u->type = type;
  u->data = data;
  u->rank = (u32)rank;
  return NULL;
}

/* Now, or later if it may be and pays. */
static void upload_begin(const dev_buffer *b, upload *u, size_t bytes, bool lasting) {
  dev_errands *errands = dev_client_errands(dev_buffer_memory(b)->device->client);
  if (!lasting || bytes < MANY_BYTES || !dev_errand_run(errands, upload_run, u)) upload_run(u);
}

status dev_buffer_write(dev_buffer *b, const void *data, const i64 *byte_strides, bool lasting,
                        dev_event *done) {
  i64 dense[DEV_MAX_RANK];
  i64s dims = dev_buffer_dims(b), order = dev_buffer_order(b);
  upload *u;
  RETURN_IF_ERROR(upload_create(b, dev_buffer_type(b), data, dims.len, done, &u));
  dev_dense_strides(dims, dtype_size(u->type), dense);
  outwards(order, dims.data, u->dims_strides);
  outwards(order, byte_strides ? byte_strides : dense, u->dims_strides + dims.len);
  upload_begin(b, u, dev_buffer_bytes(b), lasting);
  return NULL;
}

status dev_buffer_write_bytes(dev_buffer *b, size_t offset, size_t size, const void *data,
                              dev_event *done) {
  upload *u;
  size_t have = dev_buffer_bytes(b);
  if (offset > have || size > have - offset)
    return status_make(STATUS_INVALID_ARGUMENT, "%zu bytes at %zu of a buffer of %zu bytes", size,
                       offset, have);
  RETURN_IF_ERROR(upload_create(b, DTYPE_u8, data, 1, done, &u));
  u->offset = offset;
  u->dims_strides[0] = (i64)size;
  u->dims_strides[1] = 1;
  upload_begin(b, u, size, true);
  return NULL;
}

/* Truth values have to be 0 or 1. */
static bool is_clean(const dev_host_array *a, size_t bytes) {
  u8 all = 0;
  if (a->type != DTYPE_pred) return true;
  for (size_t i = 0; i < bytes; i++) all |= ((const u8 *)a->data)[i];
  return all <= 1;
}

static bool can_share(const dev_host_array *a, size_t bytes) {
  i64 strides[DEV_MAX_RANK];
  if (!a->shared || !bytes || (uintptr_t)a->data % SHARED_ALIGN) return false;
  if (!a->byte_strides && !a->minor_to_major.len) return is_clean(a, bytes);
  strides_of(a->minor_to_major, a->dims, dtype_size(a->type), strides);
  i64 dense[DEV_MAX_RANK];
  dev_dense_strides(a->dims, dtype_size(a->type), dense);
  const i64 *have = a->byte_strides ? a->byte_strides : dense;
  for (size_t d = 0; d < a->dims.len; d++)
    if (a->dims.data[d] > 1 && have[d] != strides[d]) return false;
  return is_clean(a, bytes);
}

static void end_share(void *data, void *arg) {
  dev_event *done = arg;
  (void)data;
  dev_event_set(done, NULL);
  dev_event_release(done);
}

static status share(dev_memory *m, const dev_host_array *a, dev_event *done, dev_buffer **out) {
  status s = dev_buffer_view(m, a->type, a->dims, (void *)(uintptr_t)a->data, a->writable,
                             end_share, dev_event_retain(done), out);
  if (s)
    dev_event_release(done);
  else
    dev_buffer_lay_out(*out, a->minor_to_major);
  return s;
}

/* `done` says that it is there, too. */
static status copy_in(dev_memory *m, const dev_host_array *a, dev_event *done, dev_buffer **out) {
  RETURN_IF_ERROR(dev_buffer_create(m, a->type, a->dims, done, NULL, out));
  dev_buffer_lay_out(*out, a->minor_to_major);
  status s = dev_buffer_write(*out, a->data, a->byte_strides, a->lasting, done);
  if (!s) return NULL;
  dev_buffer_release(*out);
  *out = NULL;
  return s;
}

status dev_buffer_from_array(dev_memory *m, const dev_host_array *a, dev_buffer **out,
                             dev_event **out_done) {
  size_t bytes;
  dev_event *done = dev_event_create();
  *out = NULL;
  if (out_done) *out_done = NULL;
  if (!done) return status_oom();
  bool sensible =
      a->dims.len <= DEV_MAX_RANK && dev_dense_bytes(a->dims, dtype_size(a->type), &bytes);
  status s = sensible && can_share(a, bytes) ? share(m, a, done, out) : copy_in(m, a, done, out);
  if (out_done && !s)
    *out_done = done;
  else
    dev_event_release(done);
  return s;
}

status dev_buffer_from_host(dev_memory *m, dtype type, i64s dims, const void *data,
                            const i64 *byte_strides, dev_buffer **out) {
  dev_host_array a = {.type = type, .dims = dims, .data = data, .byte_strides = byte_strides};
  return dev_buffer_from_array(m, &a, out, NULL);
}

/* ---- copies that wait for their source ---- */

/* One copy: a range of bytes, or (rank > 0) all to a strided array at the host. */
typedef struct transfer {
  dev_block *src;     /* in use */
  dev_block *target;  /* held, or NULL: host memory */
  dev_client *client; /* the source's block holds it */
  dev_event *done;
  void *dst; /* at the host */
  size_t offset, size;
  dtype type;
  u32 rank;
  i64 dims_strides[]; /* as they lie in src: rank dims, then rank strides of dst */
} transfer;

static size_t transfer_size(u32 rank) { return sizeof(transfer) + 2 * rank * sizeof(i64); }

static void transfer_end(transfer *t, status s) {
  end_use(t->src);
  dev_block_release(t->target);
  dev_event *done = t->done;
  mem_free(&mem_system, t, transfer_size(t->rank));
  dev_event_set(done, s);
  dev_event_release(done);
}

static void transfer_run(void *user) {
  transfer *t = user;
  executor *on = dev_block_executor(t->src);
  executor_memory *from = dev_block_memory(t->src);
  i64 bytes = (i64)t->size;
  executor_array a = {DTYPE_u8, {&bytes, 1}, NULL};
  if (t->rank) a = (executor_array){t->type, {t->dims_strides, t->rank}, t->dims_strides + t->rank};
  transfer_end(t, t->target ? executor_copy(on, dev_block_memory(t->target), from, t->size)
                            : executor_read(on, from, t->offset, &a, t->dst));
}

/* The source is ready. */
static void transfer_ready(void *user, status error) {
  transfer *t = user;
  if (error)
    transfer_end(t, status_copy(error));
  else if (t->size < MANY_BYTES || !dev_errand_run(dev_client_errands(t->client), transfer_run, t))
    transfer_run(t);
}

/* Takes nothing over. To `target`, or (NULL) to dst; strides NULL: a range of bytes. */
static status transfer_begin(dev_buffer *b, void *dst, dev_block *target, size_t offset,
                             size_t size, const i64 *strides, dev_event *done) {
  i64s dims = dev_buffer_dims(b), order = dev_buffer_order(b);
  u32 rank = strides ? (u32)dims.len : 0;
  dev_block *src;
  status deleted = dev_buffer_use(b, &src);
  if (!src) return deleted;
  transfer *t = mem_zalloc(&mem_system, transfer_size(rank));
  if (!t) {
    end_use(src);
    return status_oom();
  }
  *t = (transfer){.src = src, .dst = dst, .offset = offset, .size = size, .rank = rank};
  t->type = dev_buffer_type(b);
  t->client = dev_buffer_memory(b)->device->client;
  t->target = target ? dev_block_retain(target) : NULL;
  t->done = dev_event_retain(done);
  if (rank) {
    outwards(order, dims.data, t->dims_strides);
    outwards(order, strides, t->dims_strides + rank);
  }
  if (dev_event_on_ready(dev_buffer_ready(b), transfer_ready, t)) return NULL;
  end_use(src);
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
  size_t have = dev_buffer_bytes(b);
  if (offset > have || size > have - offset)
    return status_make(STATUS_INVALID_ARGUMENT, "%zu bytes at %zu of a buffer of %zu bytes", size,
                       offset, have);
  return read_into(b, dst, offset, size, NULL, out_done);
}

status dev_buffer_to_host(dev_buffer *b, void *dst, const i64 *byte_strides, dev_event **out_done) {
  i64 dense[DEV_MAX_RANK];
  i64s dims = dev_buffer_dims(b);
  dev_dense_strides(dims, dtype_size(dev_buffer_type(b)), dense);
  if (!byte_strides && dev_buffer_is_permuted(b)) byte_strides = dense;
  return read_into(b, dst, 0, dev_buffer_bytes(b), byte_strides, out_done);
}

status dev_buffer_copy_to(dev_buffer *src, dev_buffer *dst, dev_event *ready) {
  dev_block *target;
  RETURN_IF_ERROR(dev_buffer_hold(dst, &target));
  status s = transfer_begin(src, NULL, target, 0, dev_buffer_bytes(src), NULL, ready);
  dev_block_release(target);
  return s;
}

status dev_buffer_copy(dev_buffer *src, dev_memory *m, dev_buffer **out) {
  dev_event *ready = dev_event_create();
  *out = NULL;
  if (!ready) return status_oom();
  status s = dev_buffer_create(m, dev_buffer_type(src), dev_buffer_dims(src), ready, NULL, out);
  if (!s) {
    dev_buffer_lay_out(*out, dev_buffer_order(src));
    s = dev_buffer_copy_to(src, *out, ready);
  }
  if (s) {
    dev_buffer_release(*out);
    *out = NULL;
  }
  dev_event_release(ready);
  return s;
}
