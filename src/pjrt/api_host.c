/* Extensions about the host: memory of its that buffers can use where it is, streams of work for
 * whoever exchanges arrays, and callbacks that a client keeps for its user. */
#include "pjrt/api.h"
#include "pjrt/slots.h"

/* ---- HostAllocator, HostMemoryAllocator ---- */

enum { PREFERRED = 64 }; /* what is aligned so is used where it is (device/buffer.h) */

/* Stands in front of what is handed out, since who frees does not say how many bytes it is. */
typedef struct host_block {
  void *start;
  size_t bytes;
} host_block;

static status allocate(size_t size, size_t alignment, void **out) {
  size_t bytes;
  *out = NULL;
  if (!alignment) alignment = PREFERRED;
  if (alignment & (alignment - 1))
    return status_make(STATUS_INVALID_ARGUMENT, "an alignment of %zu", alignment);
  if (alignment < sizeof(host_block)) alignment = sizeof(host_block);
  char *start = NULL;
  if (checked_add(size, sizeof(host_block), &bytes) && checked_add(bytes, alignment, &bytes))
    start = mem_alloc(&mem_system, bytes);
  if (!start) return status_make(STATUS_RESOURCE_EXHAUSTED, "%zu bytes of host memory", size);
  host_block *p = (host_block *)align_up((uintptr_t)start + sizeof *p, alignment);
  p[-1] = (host_block){start, bytes};
  *out = p;
  return NULL;
}

static void give_back(void *p, void *arg) {
  (void)arg;
  if (!p) return;
  host_block b = ((host_block *)p)[-1];
  mem_free(&mem_system, b.start, b.bytes);
}

status
api_host_allocator_get_preferred_alignment(PJRT_HostAllocator_GetPreferredAlignment_Args *a) {
  a->preferred_alignment = PREFERRED;
  return NULL;
}

status api_host_allocator_allocate(PJRT_HostAllocator_Allocate_Args *a) {
  return allocate(a->size, a->alignment, &a->ptr);
}

status api_host_allocator_free(PJRT_HostAllocator_Free_Args *a) {
  give_back(a->ptr, NULL);
  return NULL;
}

/* All memory is as near to every processor. */
status api_host_memory_allocator_allocate(PJRT_HostMemoryAllocator_Allocate_Args *a) {
  void *p;
  status s = allocate(a->size, PREFERRED, &p);
  a->ptr = p;
  a->deleter = s ? NULL : give_back;
  a->deleter_arg = NULL;
  return s;
}

/* ---- Stream ---- */

/* A device's work for others is the host's: the one stream there is. */
status api_get_stream_for_external_ready_events(PJRT_Get_Stream_For_External_Ready_Events_Args *a) {
  a->stream = 0;
  return NULL;
}

status api_wait_until_buffer_ready_on_stream(PJRT_Wait_Until_Buffer_Ready_On_Stream_Args *a) {
  dev_event *ready = dev_buffer_ready(a->buffer->dev);
  if (a->stream) return status_make(STATUS_INVALID_ARGUMENT, "there is no such stream");
  if (!dev_event_is_ready(ready) && executor_on_worker())
    return status_make(STATUS_FAILED_PRECONDITION, "a callback may not wait for a buffer");
  return status_copy(dev_event_await(ready));
}

/* ---- Callback ---- */

struct api_callback {
  api_callback *next;
  PJRT_Callback_Type type;
  PJRT_Callback_Function *call;
  void *user;
};

/* We end no process, so that those before a fatal error are called by InvokeCallback alone. */
static status check_type(PJRT_Callback_Type type) {
  if (type == PJRT_Callback_Type_Prefatal) return NULL;
  return status_make(STATUS_UNIMPLEMENTED, "callbacks of type %d", (int)type);
}

status api_callback_register_callback(PJRT_Callback_RegisterCallback_Args *a) {
  PJRT_Client *c = a->client;
  RETURN_IF_ERROR(check_type(a->type));
  api_callback *new = mem_alloc(&mem_system, sizeof *new);
  if (!new) return status_oom();
  *new = (api_callback){.type = a->type, .call = a->callback, .user = a->user_arg};
  pthread_mutex_lock(&c->lock);
  api_callback **at = &c->callbacks;
  while (*at) at = &(*at)->next;
  *at = new;
  pthread_mutex_unlock(&c->lock);
  return NULL;
}

/* In the order in which they were registered. They stay as long as the client does. */
status api_callback_invoke_callback(PJRT_Callback_InvokeCallback_Args *a) {
  PJRT_Client *c = a->client;
  RETURN_IF_ERROR(check_type(a->type));
  pthread_mutex_lock(&c->lock);
  const api_callback *at = c->callbacks;
  while (at) {
    pthread_mutex_unlock(&c->lock);
    if (at->type == a->type) at->call(a->args, at->user);
    pthread_mutex_lock(&c->lock);
    at = at->next;
  }
  pthread_mutex_unlock(&c->lock);
  return NULL;
}

void api_client_forget_callbacks(PJRT_Client *c) {
  for (api_callback *k = c->callbacks, *next; k; k = next) {
    next = k->next;
    mem_free(&mem_system, k, sizeof *k);
  }
}
