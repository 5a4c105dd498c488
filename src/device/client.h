/* The client: N virtual devices in this process, each with three memories.
 *
 * All memories are the executor's, of the host's bytes; the kinds exist so that a program's
 * placement can be told apart, as JAX's memory kinds ask, and only those of kind "device" count as
 * the device's. Devices and memories are parts of the client: their addresses stand for them and
 * live as long as it. Buffers hold the client, and the client its executor. Thread-safe. */
#ifndef DEVICE_CLIENT_H
#define DEVICE_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/errand.h"
#include "device/executor.h"

enum { DEV_MAX_DEVICES = 65536 };

typedef struct dev_client dev_client;
typedef struct dev_device dev_device;

typedef enum dev_kind {
  DEV_KIND_DEVICE,
  DEV_KIND_PINNED_HOST,
  DEV_KIND_UNPINNED_HOST,
  DEV_KIND_COUNT
} dev_kind;
extern const char *const dev_kind_names[DEV_KIND_COUNT]; /* "device", "pinned_host", ... */
bool dev_kind_from_name(str name, dev_kind *out);

typedef struct dev_memory {
  dev_device *device;
  u32 id; /* of the client's memories: device id * DEV_KIND_COUNT + kind */
  dev_kind kind;
} dev_memory;

struct dev_device {
  dev_client *client;
  u32 id;
  dev_memory memories[DEV_KIND_COUNT]; /* the first is the default */
  /* what buffers in device memory hold; kept by device/block.c */
  atomic_llong bytes_in_use, peak_bytes, num_allocs, largest_alloc;
  pthread_mutex_t lock;
  struct dev_block *live; /* under the lock; those with memory of their own */
};

typedef struct dev_client_options {
  u32 num_devices; /* 1 to DEV_MAX_DEVICES */
  executor *on;    /* retained */
  i64 memory;      /* bytes that all buffers together may have; 0: as much as the machine has */
} dev_client_options;

status dev_client_create(const dev_client_options *options, dev_client **out_client) MUST_USE;
dev_client *dev_client_retain(dev_client *c);
void dev_client_release(dev_client *c); /* NULL is fine */

u32 dev_client_num_devices(const dev_client *c);
dev_device *dev_client_device(dev_client *c, u32 id); /* id < num_devices */
executor *dev_client_executor(const dev_client *c);   /* borrowed */
dev_errands *dev_client_errands(const dev_client *c); /* borrowed; they end with the client */
/* The client's memory, shared out evenly: what MemoryStats calls the limit. Devices draw on all of
 * it, so that one may have more. */
i64 dev_client_bytes_per_device(const dev_client *c);
/* Takes bytes out of the client's memory; false: there are not so many. give: they are back. */
bool dev_client_take(dev_client *c, size_t bytes);
void dev_client_give(dev_client *c, size_t bytes);
i64 dev_client_bytes_free(const dev_client *c);
i64 dev_client_bytes(const dev_client *c);

/* The number of devices asked for: `option` (the client's own; empty: not given), else `env`
 * (TERRAZZO_NUM_DEVICES; NULL: not set), else --xla_force_host_platform_device_count in
 * `xla_flags` (may be NULL), else 1. Anything but 1 to DEV_MAX_DEVICES is INVALID_ARGUMENT. */
status dev_choose_num_devices(str option, const char *env, const char *xla_flags,
                              u32 *out_count) MUST_USE;

/* A number from 1 to DEV_MAX_DEVICES; the error says `where` it stood and what it is a number `of`.
 */
status dev_read_count(const char *where, const char *of, str text, u32 *out_count) MUST_USE;

#endif
