/* The client and what it is made of: devices, their descriptions, memories, the topology. */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/trace.h"
#include "pjrt/api.h"
#include "pjrt/log.h"
#include "pjrt/slots.h"

/* ---- memories: the framework's data on them ---- */

static void *get_user_data(PJRT_Memory *handle, const void *key) {
  api_memory *m = api_memory_of(handle);
  void *value = NULL;
  pthread_mutex_lock(&m->lock);
  for (u32 i = 0; i < m->num_data; i++)
    if (m->data[i].key == key) value = m->data[i].value;
  pthread_mutex_unlock(&m->lock);
  return value;
}

/* There is room for eight keys; the framework uses two. The value of a ninth is dropped at
 * once, which reads as "not set". */
static void set_user_data(PJRT_Memory *handle, const void *key, void *value,
                          void (*destroy)(void *value)) {
  api_memory *m = api_memory_of(handle);
  api_user_data old = {key, value, destroy};
  pthread_mutex_lock(&m->lock);
  u32 i = 0;
  while (i < m->num_data && m->data[i].key != key) i++;
  if (i < COUNT(m->data)) {
    api_user_data new = old;
    old = i < m->num_data ? m->data[i] : (api_user_data){0};
    m->data[i] = new;
    if (i == m->num_data) m->num_data++;
  }
  pthread_mutex_unlock(&m->lock);
  if (old.destroy && old.value) old.destroy(old.value);
}

static const PJRT_Memory_FunctionTable memory_vtable = {
    .struct_size = PJRT_Memory_FunctionTable_END,
    .instance_struct_size = sizeof(api_memory),
    .get_user_data = get_user_data,
    .set_user_data = set_user_data,
};

PJRT_Memory *api_memory_handle(PJRT_Client *c, const dev_memory *m) {
  return c->memory_list[m->id];
}

status api_check_memory(PJRT_Client *c, PJRT_Memory *m) {
  const PJRT_DeviceDescription *d = &api_memory_of(m)->device->description;
  if (api_memory_of(m)->device->client != c)
    return status_make(STATUS_INVALID_ARGUMENT, "the memory is another client's");
  if (api_is_local(c, (u32)d->id)) return NULL;
  return status_make(STATUS_INVALID_ARGUMENT, "device %d is process %d's, and this is process %u",
                     d->id, d->process, c->process);
}

/* ---- making a client ---- */

typedef struct create_options {
  str num_devices;
  char digits[24];
  u32 threads;
  char executor[16]; /* "": not given */
  str dialects;      /* the caller's; data NULL: not given */
  i64 process, num_processes;
} create_options;

static status number_option(const PJRT_NamedValue *v, str *out, char *digits, size_t size) {
  if (v->type == PJRT_NamedValue_kString && v->string_value) {
    *out = (str){v->string_value, v->value_size};
  } else if (v->type == PJRT_NamedValue_kInt64) {
    *out = (str){digits, (size_t)snprintf(digits, size, "%lld", (long long)v->int64_value)};
  } else {
    return status_make(STATUS_INVALID_ARGUMENT, "option %.*s: expected a number", (int)v->name_size,
                       v->name);
  }
  if (out->len == 0)
    return status_make(STATUS_INVALID_ARGUMENT, "option %.*s: empty", (int)v->name_size, v->name);
  return NULL;
}

static status executor_option(const PJRT_NamedValue *v, create_options *o) {
  if (v->type != PJRT_NamedValue_kString || !v->string_value)
    return status_make(STATUS_INVALID_ARGUMENT, "option executor: expected a name");
  if (v->value_size >= sizeof o->executor)
    return status_make(STATUS_INVALID_ARGUMENT, "option executor: no executor '%.*s'",
                       (int)min_size(v->value_size, 64), v->string_value);
  memcpy(o->executor, v->string_value, v->value_size);
  o->executor[v->value_size] = 0;
  return NULL;
}

static status dialects_option(const PJRT_NamedValue *v, create_options *o) {
  if (v->type != PJRT_NamedValue_kString || !v->string_value)
    return status_make(STATUS_INVALID_ARGUMENT,
                       "option dialects: expected paths with colons between");
  o->dialects = (str){v->string_value, v->value_size};
  return NULL;
}

static status process_option(const PJRT_NamedValue *v, i64 least, i64 *out) {
  *out = v->int64_value;
  if (v->type == PJRT_NamedValue_kInt64 && *out >= least && *out <= DEV_MAX_DEVICES) return NULL;
  return status_make(STATUS_INVALID_ARGUMENT, "option %.*s: expected a number of processes",
                     (int)v->name_size, v->name);
}

static status read_option(const PJRT_NamedValue *v, create_options *o) {
  RETURN_IF_ERROR(api_check_size("PJRT_NamedValue", v, PJRT_NamedValue_END));
  if (!v->name) return api_missing("PJRT_NamedValue", "name");
  str name = {v->name, v->name_size}, text;
  char digits[24];
  if (str_is(name, "num_devices"))
    return number_option(v, &o->num_devices, o->digits, sizeof o->digits);
  if (str_is(name, "num_threads")) {
    RETURN_IF_ERROR(number_option(v, &text, digits, sizeof digits));
    return dev_read_count("option num_threads", "threads", text, &o->threads);
  }
  if (str_is(name, "executor")) return executor_option(v, o);
  if (str_is(name, "dialects")) return dialects_option(v, o);
  if (str_is(name, "num_nodes")) return process_option(v, 1, &o->num_processes);
  if (str_is(name, "node_id")) return process_option(v, 0, &o->process);
  if (str_is(name, "partition_index")) return NULL; /* there is one slice */
  return status_make(STATUS_INVALID_ARGUMENT,
                     "unknown option '" STR_FMT "' (known: num_devices, num_threads, executor, "
                     "dialects)",
                     STR_ARG(name));
}

static void init_device(PJRT_Client *c, u32 id) {
  PJRT_Device *d = &c->devices[id];
  PJRT_DeviceDescription *t = &d->description;
  d->head = handle_begin(API_DEVICE);
  u32 process = api_process_of(c, id);
  u32 slice = (u32)((u64)id * c->slices / c->num_devices);
  api_description_init(t, id, process, slice);
  d->client = c;
  d->dev = dev_client_device(c->dev, id);
  c->device_list[id] = d;
  c->description_list[id] = t;
  for (u32 k = 0; k < DEV_KIND_COUNT; k++) {
    dev_memory *dm = &d->dev->memories[k];
    api_memory *m = &c->memories[dm->id];
    m->base.vtable = &memory_vtable;
    m->head = handle_begin(API_MEMORY);
    m->dev = dm;
    m->device = d;
    snprintf(m->to_string, sizeof m->to_string, "TerrazzoMemory(id=%u, kind=%s)", dm->id,
             dev_kind_names[k]);
    snprintf(m->debug_string, sizeof m->debug_string, "%s memory of %s", dev_kind_names[k],
             t->debug_string);
    pthread_mutex_init(&m->lock, NULL);
    d->memories[k] = c->memory_list[dm->id] = &m->base;
  }
}

PJRT_Client *api_client_retain(PJRT_Client *c) {
  atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
  return c;
}

void api_client_release(PJRT_Client *c) {
  if (atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1) return;
  handle_end(&c->topology.head);
  for (size_t i = 0; c->memories && i < c->num_memories; i++) {
    api_memory *m = &c->memories[i];
    for (u32 k = 0; k < m->num_data; k++)
      if (m->data[k].destroy && m->data[k].value) m->data[k].destroy(m->data[k].value);
    handle_end(&m->head);
    pthread_mutex_destroy(&m->lock);
  }
  for (size_t i = 0; c->devices && i < c->num_devices; i++) {
    handle_end(&c->devices[i].head);
    handle_end(&c->devices[i].description.head);
  }
  size_t n = c->num_devices, nm = c->num_memories;
  mem_free(&mem_system, c->devices, n * sizeof *c->devices);
  mem_free(&mem_system, c->device_list, n * sizeof *c->device_list);
  mem_free(&mem_system, c->description_list, n * sizeof *c->description_list);
  mem_free(&mem_system, c->memories, nm * sizeof *c->memories);
  mem_free(&mem_system, c->memory_list, nm * sizeof *c->memory_list);
  dev_client_release(c->dev);
  ffi_threads_destroy(c->handlers);
  api_client_forget_mapped(c);
  api_client_forget_callbacks(c);
  api_processes_forget(c);
  if (c->dialects) mem_free(&mem_system, c->dialects, strlen(c->dialects) + 1);
  pthread_cond_destroy(&c->landed);
  pthread_mutex_destroy(&c->lock);
  mem_free(&mem_system, c, sizeof *c);
}

static status make_client(const dev_client_options *options, PJRT_Client *c) {
  RETURN_IF_ERROR(dev_client_create(options, &c->dev));
  c->on = dev_client_executor(c->dev);
  c->handlers = ffi_threads_create();
  if (!c->handlers) return status_oom();
  size_t n = c->num_devices = options->num_devices;
  size_t nm = c->num_memories = n * DEV_KIND_COUNT;
  c->devices = mem_zalloc(&mem_system, n * sizeof *c->devices);
  c->device_list = mem_zalloc(&mem_system, n * sizeof *c->device_list);
  c->description_list = mem_zalloc(&mem_system, n * sizeof *c->description_list);
  api_memory *memories = mem_zalloc(&mem_system, nm * sizeof *memories);
  c->memory_list = mem_zalloc(&mem_system, nm * sizeof *c->memory_list);
  if (!c->devices || !c->device_list || !c->description_list || !memories || !c->memory_list) {
    mem_free(&mem_system, memories, nm * sizeof *memories); /* its locks are not made yet */
    return status_oom();
  }
  c->memories = memories;
  c->topology = (PJRT_TopologyDescription){
      .head = handle_begin(API_TOPOLOGY), .num_devices = n, .descriptions = c->description_list};
  for (u32 i = 0; i < n; i++) init_device(c, i);
  return NULL;
}

static status read_options(const PJRT_NamedValue *options, size_t n, create_options *o,
                           u32 *num_devices) {
  for (size_t i = 0; i < n; i++) RETURN_IF_ERROR(read_option(&options[i], o));
  return dev_choose_num_devices(o->num_devices, getenv("TERRAZZO_NUM_DEVICES"), getenv("XLA_FLAGS"),
                                num_devices);
}

status api_choose_num_devices(const PJRT_NamedValue *options, size_t n, u32 *out) {
  create_options o = {0};
  return read_options(options, n, &o, out);
}

static status keep_dialects(PJRT_Client *c, str paths) {
  c->dialects = mem_alloc(&mem_system, paths.len + 1);
  if (!c->dialects) return status_oom();
  memcpy(c->dialects, paths.data, paths.len);
  c->dialects[paths.len] = 0;
  return NULL;
}

/* As many slices, by which the framework can tell hosts apart in one process: it wants all devices
 * that a process can address to be of that process. */
static status read_hosts(const char *text, u32 num_devices, u32 *out) {
  if (!text || !*text) return NULL;
  RETURN_IF_ERROR(dev_read_count("TERRAZZO_HOSTS", "hosts", str_of(text), out));
  if (*out <= num_devices) return NULL;
  return status_make(STATUS_INVALID_ARGUMENT, "TERRAZZO_HOSTS: %u hosts of %u devices", *out,
                     num_devices);
}

/* *n: devices of this process, and then of all; *threads: where nobody has said, this process's
 * share. */
static status share_devices(const PJRT_Client_Create_Args *a, u32 *n, PJRT_Client *c,
                            u32 *threads) {
  c->num_local = *n;
  c->slices = 1;
  if (c->num_processes > 1) {
    relay_mail mail = api_cross_mail(c);
    u32 sharing;
    RETURN_IF_ERROR(api_processes_join(a, &mail, c, n, &sharing));
    if (!*threads) *threads = os_cpu_share(sharing);
    c->first_local = c->first_of[c->process];
  }
  return read_hosts(getenv("TERRAZZO_HOSTS"), *n, &c->slices);
}

status api_client_create(PJRT_Client_Create_Args *a) {
  create_options o = {0};
  dev_client_options d = {0};
  a->client = NULL;
  RETURN_IF_ERROR(api_log_error());
  RETURN_IF_ERROR(read_options(a->create_options, a->num_options, &o, &d.num_devices));
  const char *threads = getenv("TERRAZZO_NUM_THREADS");
  if (!o.threads && threads && *threads)
    RETURN_IF_ERROR(dev_read_count("TERRAZZO_NUM_THREADS", "threads", str_of(threads), &o.threads));
  PJRT_Client *c = mem_zalloc(&mem_system, sizeof *c);
  if (!c) return status_oom();
  c->head = handle_begin(API_CLIENT);
  atomic_init(&c->refs, 1);
  pthread_mutex_init(&c->lock, NULL); /* neither fails on Linux */
  pthread_cond_init(&c->landed, NULL);
  c->process = (u32)o.process;
  c->num_processes = o.num_processes > 1 ? (u32)o.num_processes : 1;
  status s = share_devices(a, &d.num_devices, c, &o.threads);
  exec_options e = {.kind = *o.executor ? o.executor : NULL, .threads = o.threads};
  if (!s) s = exec_create(&e, &d.on);
  if (!s) s = make_client(&d, c);
  if (!s && o.dialects.data) s = keep_dialects(c, o.dialects);
  executor_release(d.on); /* the client holds it */
  if (s) {
    api_client_release(c);
    return s;
  }
  api_note("%u devices", d.num_devices);
  a->client = c;
  return NULL;
}

/* Waits for what runs. */
status api_client_destroy(PJRT_Client_Destroy_Args *a) {
  PJRT_Client *c = a->client;
  if (executor_on_worker())
    return status_make(STATUS_FAILED_PRECONDITION, "a callback cannot destroy a client");
  pthread_mutex_lock(&c->lock);
  bool first = !c->closed;
  c->closed = true;
  pthread_cond_broadcast(&c->landed);
  pthread_mutex_unlock(&c->lock);
  api_client_cancel_transits(c);
  pthread_mutex_lock(&c->lock);
  while (first && c->in_flight) pthread_cond_wait(&c->landed, &c->lock);
  pthread_mutex_unlock(&c->lock);
  if (!first) return status_make(STATUS_FAILED_PRECONDITION, "the client is being destroyed");
  dev_errands_stop(dev_client_errands(c->dev));
  executor_stop(c->on);
  api_processes_leave(c);
  ffi_threads_destroy(c->handlers);
  c->handlers = NULL;
  handle_end(&c->head);
  api_client_release(c);
  return NULL;
}

/* ---- questions about the client ---- */

status api_client_platform_name(PJRT_Client_PlatformName_Args *a) {
  return API_TEXT(a, platform_name, API_PLATFORM_NAME);
}

status api_client_platform_version(PJRT_Client_PlatformVersion_Args *a) {
  return API_TEXT(a, platform_version, API_PLATFORM_VERSION);
}

status api_client_process_index(PJRT_Client_ProcessIndex_Args *a) {
  a->process_index = (int)a->client->process;
  return NULL;
}

status api_client_devices(PJRT_Client_Devices_Args *a) {
  a->devices = a->client->device_list;
  a->num_devices = a->client->num_devices;
  return NULL;
}

status api_client_addressable_devices(PJRT_Client_AddressableDevices_Args *a) {
  a->addressable_devices = a->client->device_list + a->client->first_local;
  a->num_addressable_devices = a->client->num_local;
  return NULL;
}

status api_client_addressable_memories(PJRT_Client_AddressableMemories_Args *a) {
  a->addressable_memories = a->client->memory_list + a->client->first_local * DEV_KIND_COUNT;
  a->num_addressable_memories = (size_t)a->client->num_local * DEV_KIND_COUNT;
  return NULL;
}

static status lookup(PJRT_Client *c, int id, PJRT_Device **out) {
  *out = NULL;
  if (id < 0 || (size_t)id >= c->num_devices)
    return status_make(STATUS_INVALID_ARGUMENT, "no device %d: there are %zu", id, c->num_devices);
  *out = &c->devices[id];
  return NULL;
}

status api_client_lookup_device(PJRT_Client_LookupDevice_Args *a) {
  return lookup(a->client, a->id, &a->device);
}

status api_client_lookup_addressable_device(PJRT_Client_LookupAddressableDevice_Args *a) {
  PJRT_Client *c = a->client;
  a->addressable_device = NULL;
  if (a->local_hardware_id < 0 || (u32)a->local_hardware_id >= c->num_local)
    return status_make(STATUS_INVALID_ARGUMENT, "no device %d: this process has %u",
                       a->local_hardware_id, c->num_local);
  return lookup(c, (int)c->first_local + a->local_hardware_id, &a->addressable_device);
}

status api_client_default_device_assignment(PJRT_Client_DefaultDeviceAssignment_Args *a) {
  i64 n;
  if (a->num_replicas < 1 || a->num_partitions < 1 ||
      !checked_mul((i64)a->num_replicas, a->num_partitions, &n) || (u64)n > a->client->num_devices)
    return status_make(STATUS_INVALID_ARGUMENT, "%d replicas of %d partitions on %zu devices",
                       a->num_replicas, a->num_partitions, a->client->num_devices);
  if (a->default_assignment_size < (size_t)n)
    return status_make(STATUS_INVALID_ARGUMENT, "room for %zu devices, %lld are needed",
                       a->default_assignment_size, (long long)n);
  u32 first = api_first_of(a->client, (u64)n);
  for (i64 i = 0; i < n; i++) a->default_assignment[i] = (int)(first + i);
  return NULL;
}

/* That one is gone its connection says. */
status api_client_update_global_process_info(PJRT_Client_UpdateGlobalProcessInfo_Args *a) {
  (void)a;
  return NULL;
}

/* ---- devices and their descriptions ---- */

status api_device_get_description(PJRT_Device_GetDescription_Args *a) {
  a->device_description = &a->device->description;
  return NULL;
}

status api_device_is_addressable(PJRT_Device_IsAddressable_Args *a) {
  a->is_addressable = api_is_local(a->device->client, (u32)a->device->description.id);
  return NULL;
}

status api_device_local_hardware_id(PJRT_Device_LocalHardwareId_Args *a) {
  const PJRT_Client *c = a->device->client;
  int id = a->device->description.id;
  a->local_hardware_id = api_is_local(c, (u32)id) ? id - (int)c->first_local : -1;
  return NULL;
}

status api_device_addressable_memories(PJRT_Device_AddressableMemories_Args *a) {
  a->memories = a->device->memories;
  a->num_memories = DEV_KIND_COUNT;
  return NULL;
}

status api_device_default_memory(PJRT_Device_DefaultMemory_Args *a) {
  a->memory = a->device->memories[DEV_KIND_DEVICE];
  return NULL;
}

status api_device_memory_stats(PJRT_Device_MemoryStats_Args *a) {
  dev_device *d = a->device->dev;
  size_t begin = offsetof(PJRT_Device_MemoryStats_Args, bytes_in_use);
  memset((char *)a + begin, 0, PJRT_Device_MemoryStats_Args_END - begin);
#define SET(field, value) (a->field = (value), a->field##_is_set = true)
  a->bytes_in_use = atomic_load(&d->bytes_in_use);
  SET(peak_bytes_in_use, atomic_load(&d->peak_bytes));
  SET(num_allocs, atomic_load(&d->num_allocs));
  SET(largest_alloc_size, atomic_load(&d->largest_alloc));
  SET(bytes_limit, dev_client_bytes_per_device(d->client));
  SET(bytes_reserved, 0);
  SET(bytes_reservable_limit, a->bytes_limit);
#undef SET
  return NULL;
}

status api_device_clear_memory_stats(PJRT_Device_ClearMemoryStats_Args *a) {
  dev_device *d = a->device->dev;
  atomic_store(&d->peak_bytes, atomic_load(&d->bytes_in_use));
  atomic_store(&d->num_allocs, 0);
  atomic_store(&d->largest_alloc, 0);
  return NULL;
}

static void keep_attributes(PJRT_Device_Attributes *a) { (void)a; }

status api_device_get_attributes(PJRT_Device_GetAttributes_Args *a) {
  a->attributes = a->device->description.attributes;
  a->num_attributes = COUNT(a->device->description.attributes);
  a->device_attributes = NULL;
  a->attributes_deleter = keep_attributes; /* the framework insists on one */
  return NULL;
}

/* Nothing but a span of the device's time, for traces: what somebody waits for there. */
struct PJRT_AsyncTrackingEvent {
  handle head;
  u32 device;
  u64 begin;
  size_t size;
  char text[];
};

status api_device_create_async_tracking_event(PJRT_Device_CreateAsyncTrackingEvent_Args *a) {
  PJRT_AsyncTrackingEvent *e = mem_alloc(&mem_system, sizeof *e + a->description_size);
  a->event = e;
  if (!e) return status_oom();
  *e = (PJRT_AsyncTrackingEvent){.head = handle_begin(API_TRACKING),
                                 .device = (u32)a->device->description.id,
                                 .begin = os_now_ns(),
                                 .size = a->description_size};
  if (e->size) memcpy(e->text, a->description, e->size);
  return NULL;
}

status api_async_tracking_event_destroy(PJRT_AsyncTrackingEvent_Destroy_Args *a) {
  PJRT_AsyncTrackingEvent *e = a->event;
  trace_tell(&(trace_span){.kind = TRACE_WAIT,
                           .device = e->device,
                           .name = {e->text, e->size},
                           .begin = e->begin,
                           .end = os_now_ns()});
  handle_end(&e->head);
  mem_free(&mem_system, e, sizeof *e + e->size);
  return NULL;
}

status api_device_description_id(PJRT_DeviceDescription_Id_Args *a) {
  a->id = a->device_description->id;
  return NULL;
}

status api_device_description_process_index(PJRT_DeviceDescription_ProcessIndex_Args *a) {
  a->process_index = a->device_description->process;
  return NULL;
}

status api_device_description_attributes(PJRT_DeviceDescription_Attributes_Args *a) {
  a->attributes = a->device_description->attributes;
  a->num_attributes = COUNT(a->device_description->attributes);
  return NULL;
}

status api_device_description_kind(PJRT_DeviceDescription_Kind_Args *a) {
  return API_TEXT(a, device_kind, API_DEVICE_KIND);
}

status api_device_description_debug_string(PJRT_DeviceDescription_DebugString_Args *a) {
  return API_TEXT(a, debug_string, a->device_description->debug_string);
}

status api_device_description_to_string(PJRT_DeviceDescription_ToString_Args *a) {
  return API_TEXT(a, to_string, a->device_description->to_string);
}

/* ---- memories ---- */

status api_memory_id(PJRT_Memory_Id_Args *a) {
  a->id = (int)api_memory_of(a->memory)->dev->id;
  return NULL;
}

status api_memory_kind(PJRT_Memory_Kind_Args *a) {
  return API_TEXT(a, kind, dev_kind_names[api_memory_of(a->memory)->dev->kind]);
}

status api_memory_kind_id(PJRT_Memory_Kind_Id_Args *a) {
  a->kind_id = (int)api_memory_of(a->memory)->dev->kind;
  return NULL;
}

status api_memory_debug_string(PJRT_Memory_DebugString_Args *a) {
  return API_TEXT(a, debug_string, api_memory_of(a->memory)->debug_string);
}

status api_memory_to_string(PJRT_Memory_ToString_Args *a) {
  return API_TEXT(a, to_string, api_memory_of(a->memory)->to_string);
}

status api_memory_addressable_by_devices(PJRT_Memory_AddressableByDevices_Args *a) {
  PJRT_Device *d = api_memory_of(a->memory)->device;
  a->devices = &d->client->device_list[d->description.id];
  a->num_devices = 1;
  return NULL;
}
