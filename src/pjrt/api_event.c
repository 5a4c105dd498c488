/* Events. A handle is a reference to a device event; the callback of OnReady outlives it. */
#include "base/arena.h"
#include "pjrt/api.h"
#include "pjrt/slots.h"

status api_event_destroy(PJRT_Event_Destroy_Args *a) {
  dev_event_release(api_event_of(a->event));
  return NULL;
}

status api_event_is_ready(PJRT_Event_IsReady_Args *a) {
  a->is_ready = dev_event_is_ready(api_event_of(a->event));
  return NULL;
}

status api_event_error(PJRT_Event_Error_Args *a) {
  dev_event *e = api_event_of(a->event);
  if (!dev_event_is_ready(e))
    return status_make(STATUS_FAILED_PRECONDITION, "the event is not ready");
  return status_copy(dev_event_error(e));
}

/* A callback that waits could hold the very thread that has to do the work. */
status api_event_await(PJRT_Event_Await_Args *a) {
  if (!dev_event_is_ready(api_event_of(a->event)) && executor_on_worker())
    return status_make(STATUS_FAILED_PRECONDITION, "a callback cannot wait for an event");
  return status_copy(dev_event_await(api_event_of(a->event)));
}

typedef struct callback {
  PJRT_Event_OnReadyCallback fn;
  void *user;
} callback;

static void run_callback(void *user, status error) {
  callback c = *(callback *)user;
  mem_free(&mem_system, user, sizeof c);
  c.fn(api_error(status_copy(error)), c.user); /* which owns the error */
}

status api_event_on_ready(PJRT_Event_OnReady_Args *a) {
  callback *c = mem_alloc(&mem_system, sizeof *c);
  if (!c) return status_oom();
  *c = (callback){a->callback, a->user_arg};
  if (dev_event_on_ready(api_event_of(a->event), run_callback, c)) return NULL;
  mem_free(&mem_system, c, sizeof *c);
  return status_oom();
}

status api_event_create(PJRT_Event_Create_Args *a) {
  a->event = api_event(dev_event_create_open());
  return a->event ? NULL : status_oom();
}

status api_event_set(PJRT_Event_Set_Args *a) {
  return dev_event_try_set(api_event_of(a->event),
                           api_status(a->error_code, a->error_message, a->error_message_size));
}
