/* The client: one counted block with its devices and their memories. */
#define _GNU_SOURCE
#include "device/client.h"

#include <unistd.h>

struct dev_client {
  atomic_int refs;
  u32 num_devices;
  i64 memory;
  atomic_llong taken; /* of it */
  executor *on;
  dev_errands *errands;
  dev_device devices[];
};

const char *const dev_kind_names[DEV_KIND_COUNT] = {"device", "pinned_host", "unpinned_host"};

bool dev_kind_from_name(str name, dev_kind *out) {
  for (int k = 0; k < DEV_KIND_COUNT; k++)
    if (str_is(name, dev_kind_names[k])) {
      *out = (dev_kind)k;
      return true;
    }
  return false;
}

static size_t client_bytes(u32 num_devices) {
  return sizeof(dev_client) + num_devices * sizeof(dev_device);
}

static void init_device(dev_client *c, u32 id) {
  dev_device *d = &c->devices[id];
  d->client = c;
  d->id = id;
  pthread_mutex_init(&d->lock, NULL); /* does not fail on Linux */
  for (u32 k = 0; k < DEV_KIND_COUNT; k++)
    d->memories[k] = (dev_memory){d, id * DEV_KIND_COUNT + k, (dev_kind)k};
}

static void trim(void *user) {
  dev_client *c = user;
  if (executor_trim(c->on)) dev_errand_later(c->errands);
}

status dev_client_create(const dev_client_options *o, dev_client **out) {
  *out = NULL;
  if (o->num_devices < 1 || o->num_devices > DEV_MAX_DEVICES)
    return status_make(STATUS_INVALID_ARGUMENT, "%u devices: expected 1 to %d", o->num_devices,
                       DEV_MAX_DEVICES);
  dev_client *c = mem_zalloc(&mem_system, client_bytes(o->num_devices));
  dev_errands *errands = dev_errands_create(trim, c);
  if (!c || !errands) {
    mem_free(&mem_system, c, client_bytes(o->num_devices));
    dev_errands_release(errands);
    return status_oom();
  }
  atomic_init(&c->refs, 1);
  c->num_devices = o->num_devices;
  c->on = executor_retain(o->on);
  c->errands = errands;
  c->memory = o->memory ? o->memory : (i64)sysconf(_SC_PHYS_PAGES) * (i64)sysconf(_SC_PAGESIZE);
  for (u32 i = 0; i < o->num_devices; i++) init_device(c, i);
  *out = c;
  return NULL;
}

dev_client *dev_client_retain(dev_client *c) {
  atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
  return c;
}

void dev_client_release(dev_client *c) {
  if (!c || atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1) return;
  executor *on = c->on;
  dev_errands_stop(c->errands);
  dev_errands_release(c->errands);
  for (u32 i = 0; i < c->num_devices; i++) pthread_mutex_destroy(&c->devices[i].lock);
  mem_free(&mem_system, c, client_bytes(c->num_devices));
  executor_release(on);
}

u32 dev_client_num_devices(const dev_client *c) { return c->num_devices; }
dev_device *dev_client_device(dev_client *c, u32 id) { return &c->devices[id]; }
dev_errands *dev_client_errands(const dev_client *c) { return c->errands; }
executor *dev_client_executor(const dev_client *c) { return c->on; }
i64 dev_client_bytes(const dev_client *c) { return c->memory; }
i64 dev_client_bytes_per_device(const dev_client *c) { return c->memory / (i64)c->num_devices; }
i64 dev_client_bytes_free(const dev_client *c) {
  return c->memory - (i64)atomic_load_explicit(&c->taken, memory_order_relaxed);
}

void dev_client_give(dev_client *c, size_t bytes) {
  atomic_fetch_sub_explicit(&c->taken, (long long)bytes, memory_order_relaxed);
}

/* Two that ask for the last bytes at once may both be refused. */
bool dev_client_take(dev_client *c, size_t bytes) {
  if (bytes > (size_t)c->memory) return false;
  long long before = atomic_fetch_add_explicit(&c->taken, (long long)bytes, memory_order_relaxed);
  if (before <= c->memory - (i64)bytes) return true;
  dev_client_give(c, bytes);
  return false;
}

status dev_read_count(const char *where, const char *of, str text, u32 *out) {
  u64 n = 0;
  bool ok = text.len > 0 && text.len <= 9;
  for (size_t i = 0; ok && i < text.len; i++) {
    ok = text.data[i] >= '0' && text.data[i] <= '9';
    n = n * 10 + (u64)(text.data[i] - '0');
  }
  if (!ok || n < 1 || n > DEV_MAX_DEVICES)
    return status_make(STATUS_INVALID_ARGUMENT,
                       "%s: '" STR_FMT "' %s: expected a number from 1 to %d", where, STR_ARG(text),
                       of, DEV_MAX_DEVICES);
  *out = (u32)n;
  return NULL;
}

/* The last occurrence counts, as in XLA. */
static str find_flag(const char *flags, str name) {
  str found = {0};
  for (const char *p = flags; p && (p = strstr(p, name.data)); p += name.len)
    if (p == flags || p[-1] == ' ' || p[-1] == '\t')
      found = (str){p + name.len, strcspn(p + name.len, " \t\n")};
  return found;
}

status dev_choose_num_devices(str option, const char *env, const char *xla_flags, u32 *out) {
  str flag = find_flag(xla_flags, STR("--xla_force_host_platform_device_count="));
  if (option.len) return dev_read_count("option num_devices", "devices", option, out);
  if (env && *env) return dev_read_count("TERRAZZO_NUM_DEVICES", "devices", str_of(env), out);
  if (flag.data)
    return dev_read_count("XLA_FLAGS --xla_force_host_platform_device_count", "devices", flag, out);
  *out = 1;
  return NULL;
}
