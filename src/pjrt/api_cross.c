/* The CrossHostTransfers extension: buffers that go from device to device by keys that both sides
 * name, or by descriptors that the receiver hands out. What goes to another process is mail of the
 * job's relay: row-major elements, or why there are none; there it meets who receives it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "pjrt/shape.h"
#include "pjrt/slots.h"

/* One side of a transfer, while the other has not come. */
struct api_transit {
  api_transit *next;
  i64 key;
  u32 device;            /* that receives */
  u32 process;           /* of `to`: who is to send it; ANYBODY: not known */
  dev_buffer *from, *to; /* one of them, or neither: it came by mail */
  dev_event *event;      /* of `from`: it is sent; of `to`: its own; of mail: NULL */
  void *mail;            /* the relay's */
  size_t bytes;
  status error; /* instead of mail */
};
enum { ANYBODY = UINT32_MAX };

static void drop(const api_transit *t) {
  dev_buffer_release(t->from);
  dev_buffer_release(t->to);
  dev_event_release(t->event);
  relay_free_mail(t->mail);
  status_free(t->error);
}

static void pass_on(void *user, status error) {
  dev_event *sent = user;
  dev_event_set(sent, status_copy(error));
  dev_event_release(sent);
}

static void mail_is_read(void *mail, status error) {
  (void)error;
  relay_free_mail(mail);
}

/* Takes both. */
static void deliver(api_transit *mail, const api_transit *receive) {
  status s = mail->error;
  mail->error = NULL;
  if (!s && mail->bytes != dev_buffer_bytes(receive->to))
    s = status_make(STATUS_INVALID_ARGUMENT,
                    "transfer %" PRId64 ": %zu bytes came for a buffer of %zu", mail->key,
                    mail->bytes, dev_buffer_bytes(receive->to));
  if (!s) s = dev_buffer_write(receive->to, mail->mail, NULL, true, receive->event);
  if (s)
    dev_event_set(receive->event, s);
  else if (dev_event_on_ready(receive->event, mail_is_read, mail->mail))
    mail->mail = NULL;
  else
    (void)dev_event_await(receive->event);
  drop(mail);
  drop(receive);
}

/* Takes both. */
static void transfer(const api_transit *send, const api_transit *receive) {
  status s = dev_buffer_is_like(send->from, receive->to)
                 ? dev_buffer_copy_to(send->from, receive->to, receive->event)
                 : status_make(STATUS_INVALID_ARGUMENT,
                               "transfer %" PRId64 ": sent in another shape than it is received",
                               send->key);
  if (s) dev_event_set(receive->event, s);
  dev_event *sent = dev_event_retain(send->event);
  if (!dev_event_on_ready(receive->event, pass_on, sent)) pass_on(sent, status_oom());
  drop(send);
  drop(receive);
}

/* Takes t, if it succeeds. Those of one key meet in their order. */
static status meet(PJRT_Client *c, const api_transit *t) {
  api_transit *own = mem_alloc(&mem_system, sizeof *own), *other, **at;
  if (!own) return status_oom();
  *own = *t;
  own->next = NULL;
  pthread_mutex_lock(&c->lock);
  for (at = &c->transits; (other = *at); at = &other->next)
    if (other->key == t->key && other->device == t->device && !other->to != !t->to) break;
  bool closed = c->closed;
  if (!closed) *at = other ? other->next : own;
  pthread_mutex_unlock(&c->lock);
  if (closed) {
    mem_free(&mem_system, own, sizeof *own);
    return status_make(STATUS_FAILED_PRECONDITION, "the client has been destroyed");
  }
  if (!other) return NULL;
  api_transit *send = t->to ? other : own, *receive = t->to ? own : other;
  if (send->from)
    transfer(send, receive);
  else
    deliver(send, receive);
  mem_free(&mem_system, own, sizeof *own);
  mem_free(&mem_system, other, sizeof *other);
  return NULL;
}

/* What waits for this key, or (key NULL) what this process is to send, or (ANYBODY) all, hears
 * `why`, which is borrowed. */
static bool cancel(PJRT_Client *c, const i64 *key, u32 process, status why) {
  api_transit *gone = NULL, *t;
  pthread_mutex_lock(&c->lock);
  for (api_transit **at = &c->transits; (t = *at);) {
    if (key ? t->to && t->key == *key : process == ANYBODY || (t->to && t->process == process)) {
      *at = t->next;
      t->next = gone;
      gone = t;
    } else {
      at = &t->next;
    }
  }
  pthread_mutex_unlock(&c->lock);
  bool any = gone != NULL;
  while ((t = gone)) {
    gone = t->next;
    if (t->event) dev_event_set(t->event, status_copy(why));
    drop(t);
    mem_free(&mem_system, t, sizeof *t);
  }
  return any;
}

void api_client_cancel_transits(PJRT_Client *c) {
  status why = status_make(STATUS_CANCELLED, "the client has been destroyed");
  cancel(c, NULL, ANYBODY, why);
  status_free(why);
}

/* ---- by mail ---- */

/* head.launch is the key, head.member the device, head.step a code where it is an error's text. */
static void mail_came(void *user, u32 from, const wire_head *h, void *data) {
  api_transit t = {.key = (i64)h->launch, .device = h->member, .mail = data, .bytes = h->bytes};
  (void)from;
  if (h->step)
    t.error = status_make((status_code)h->step, "%.*s", (int)h->bytes, data ? (char *)data : "");
  else if (h->bytes && !data)
    t.error = status_oom();
  status s = meet(user, &t);
  if (s) drop(&t);
  status_free(s);
}

static void sender_gone(void *user, u32 from, status why) { cancel(user, NULL, from, why); }

relay_mail api_cross_mail(PJRT_Client *c) { return (relay_mail){mail_came, sender_gone, c}; }

typedef struct letter {
  wire_message m; /* first */
  PJRT_Client *client;
  dev_event *sent;
  u32 to;
  size_t room;
  char data[];
} letter;

static void letter_sent(wire_message *m) {
  letter *t = (letter *)m;
  dev_event_set(t->sent, NULL);
  dev_event_release(t->sent);
  mem_free(&mem_system, t, sizeof *t + t->room);
}

/* The elements are in it, or `error` is why not, which the receiver hears too. */
static void letter_written(void *user, status error) {
  letter *t = user;
  PJRT_Client *c = t->client;
  if (error) {
    str text = status_message(error);
    t->m.head.step = (u32)status_get_code(error);
    t->m.head.bytes = min_size(text.len, t->room);
    memcpy(t->data, text.data, t->m.head.bytes);
  }
  relay_send_mail(c->job, t->to, &t->m);
  api_client_land(c);
  api_client_release(c);
}

/* `sent` is retained. */
static status send_mail(PJRT_Client *c, dev_buffer *from, u32 device, i64 key, dev_event *sent) {
  enum { LEAST = 512 }; /* of an error's text */
  size_t bytes = dev_buffer_bytes(from), room = bytes < LEAST ? LEAST : bytes;
  u32 to = api_process_of(c, device);
  status gone = relay_why_gone(c->job, to);
  if (gone) return gone;
  letter *t = mem_alloc(&mem_system, sizeof *t + room);
  if (!t) return status_oom();
  status closed = api_client_take_off(c);
  if (closed) {
    mem_free(&mem_system, t, sizeof *t + room);
    return closed;
  }
  *t = (letter){{.head = {.launch = (u64)key, .member = device, .bytes = bytes},
                 .data = t->data,
                 .sent = letter_sent},
                api_client_retain(c),
                dev_event_retain(sent),
                to,
                room};
  dev_event *written = NULL;
  status s = dev_buffer_to_host(from, t->data, NULL, &written);
  if (s) {
    letter_written(t, s);
    return s;
  }
  if (!dev_event_on_ready(written, letter_written, t)) letter_written(t, dev_event_await(written));
  dev_event_release(written);
  return NULL;
}

/* ---- sending ---- */

static status check_device(const PJRT_Client *c, i64 device) {
  if (device >= 0 && (u64)device < c->num_devices) return NULL;
  return status_make(STATUS_INVALID_ARGUMENT, "there is no device %" PRId64 ": the client has %zu",
                     device, c->num_devices);
}

/* `sent`, which is retained, is set when the buffer's bytes are needed no longer. */
static status send_buffer(PJRT_Client *c, dev_buffer *of, i64 device, i64 key, dev_event *sent) {
  dev_buffer *from;
  RETURN_IF_ERROR(check_device(c, device));
  if (!api_is_local(c, (u32)device)) return send_mail(c, of, (u32)device, key, sent);
  RETURN_IF_ERROR(dev_buffer_bitcast(of, dev_buffer_type(of), dev_buffer_dims(of),
                                     dev_buffer_order(of), &from));
  api_transit t = {
      .key = key, .device = (u32)device, .from = from, .event = dev_event_retain(sent)};
  status s = meet(c, &t);
  if (s) drop(&t);
  return s;
}

static status send_one(const PJRT_Transfers_PJRT_Client_CrossHostSendBuffers_Args *a, size_t i) {
  RETURN_IF_ERROR(api_check_handle("CrossHostSendBuffers", "a buffer", a->buffers[i], API_BUFFER));
  dev_event *sent = dev_event_create();
  if (!sent) return status_oom();
  status s = send_buffer(a->client, a->buffers[i]->dev, a->dst_global_device_ids[i],
                         a->transfer_keys[i], sent);
  a->send_events[i] = s ? NULL : api_event(sent);
  if (s) dev_event_release(sent);
  return s;
}

/* Where one cannot be sent, its event says so. */
status api_transfers_client_cross_host_send_buffers(
    PJRT_Transfers_PJRT_Client_CrossHostSendBuffers_Args *a) {
  for (size_t i = 0; i < a->num_buffers; i++) {
    status s = send_one(a, i);
    if (!s) continue;
    dev_event *failed = dev_event_create();
    a->send_events[i] = api_event(failed);
    if (!failed) return s;
    dev_event_set(failed, s);
  }
  return NULL;
}

/* ---- receiving ---- */

typedef struct shapes {
  PJRT_Client *client;
  PJRT_Device *device;
  size_t n;
  const size_t *ranks;
  const int64_t *const *dims;
  const PJRT_Buffer_Type *types;
  PJRT_Buffer_MemoryLayout *const *layouts; /* NULL: row-major */
  const int64_t *from;                      /* the sending devices; NULL: not known */
  PJRT_Buffer **buffers;                    /* out */
} shapes;

static status receive_one(const shapes *r, size_t i, i64 key) {
  api_shape shape;
  api_shape_args args = {NULL,       r->device,   r->types[i],
                         r->dims[i], r->ranks[i], r->layouts ? r->layouts[i] : NULL};
  RETURN_IF_ERROR(api_shape_read(r->client, &args, &shape));
  i64 from = r->from ? r->from[i] : -1;
  api_transit t = {.key = key,
                   .device = (u32)r->device->description.id,
                   .process = from >= 0 && (u64)from < r->client->num_devices
                                  ? api_process_of(r->client, (u32)from)
                                  : (u32)ANYBODY};
  if (r->client->job && t.process != ANYBODY)
    RETURN_IF_ERROR(relay_why_gone(r->client->job, t.process));
  t.event = dev_event_create();
  status s = t.event ? api_shape_buffer(&shape, t.event, NULL, &t.to) : status_oom();
  if (!s) s = api_buffer_wrap(r->client, dev_buffer_retain(t.to), &r->buffers[i]);
  if (!s) s = meet(r->client, &t);
  if (s) drop(&t);
  return s;
}

/* All or none. */
static status receive(const shapes *r, const int64_t *keys) {
  status s = NULL;
  size_t i = 0;
  if (r->device->client != r->client)
    return status_make(STATUS_INVALID_ARGUMENT, "the device is another client's");
  for (size_t k = 0; k < r->n; k++) r->buffers[k] = NULL;
  for (; i < r->n && !s; i++) s = receive_one(r, i, keys[i]);
  if (!s) return NULL;
  for (size_t k = 0; k < i; k++) {
    if (k + 1 < i) cancel(r->client, &keys[k], ANYBODY, s);
    if (r->buffers[k]) api_buffer_free(r->buffers[k]);
    r->buffers[k] = NULL;
  }
  return s;
}

status api_transfers_client_cross_host_receive_buffers(
    PJRT_Transfers_PJRT_Client_CrossHostReceiveBuffers_Args *a) {
  return receive(&(shapes){a->client, a->device, a->num_shapes, a->shape_num_dims, a->num_dims,
                           a->element_types, a->layouts, a->src_global_device_ids, a->buffers},
                 a->transfer_keys);
}

/* ---- by descriptor ---- */

enum { DESCRIPTOR = 64, MOST = 1 << 16 };
#define DESCRIPTOR_FORMAT "terrazzo:%" PRId64 ":%u"

/* Keys that no caller names: below all that they count up from. */
static i64 fresh_key(PJRT_Client *c) {
  pthread_mutex_lock(&c->lock);
  i64 key = INT64_MIN + (i64)c->transit_keys++;
  pthread_mutex_unlock(&c->lock);
  return key;
}

static bool read_descriptor(const char *text, size_t size, i64 *key, u32 *device) {
  char copy[DESCRIPTOR], again[DESCRIPTOR];
  if (!text || size >= sizeof copy) return false;
  memcpy(copy, text, size);
  copy[size] = 0;
  if (sscanf(copy, "terrazzo:%" SCNd64 ":%u", key, device) != 2) return false;
  snprintf(again, sizeof again, DESCRIPTOR_FORMAT, *key, *device);
  return strcmp(copy, again) == 0;
}

static void cancel_one(const char *text, size_t size, PJRT_Error_Code code, const char *message,
                       size_t message_size, PJRT_Transfers_CrossHostOnCanceledCallback on_canceled,
                       void *on_canceled_user, void *user) {
  i64 key;
  u32 device;
  status why = api_status(code, message, message_size), s = NULL;
  if (!why) why = status_make(STATUS_CANCELLED, "the sender has cancelled");
  if (!read_descriptor(text, size, &key, &device) || !cancel(user, &key, ANYBODY, why))
    s = status_make(STATUS_NOT_FOUND, "no transfer waits by this descriptor");
  status_free(why);
  PJRT_Error *e = api_error(s);
  if (on_canceled) on_canceled(e, on_canceled_user);
  status_free(api_error_take(e));
}

typedef struct descriptor {
  i64 key;
  size_t size;
  const char *at;
  char text[DESCRIPTOR];
} descriptor;

static status announce(PJRT_Transfers_PJRT_Client_MakeCrossHostReceiveBuffers_Args *a,
                       descriptor *list, int64_t *keys, const char **texts, size_t *sizes) {
  u32 device = (u32)a->device->description.id;
  for (size_t i = 0; i < a->num_shapes; i++) {
    keys[i] = fresh_key(a->client);
    sizes[i] =
        (size_t)snprintf(list[i].text, sizeof list[i].text, DESCRIPTOR_FORMAT, keys[i], device);
    texts[i] = list[i].text;
  }
  RETURN_IF_ERROR(receive(&(shapes){a->client, a->device, a->num_shapes, a->shape_num_dims,
                                    a->num_dims, a->element_types, a->layouts, NULL, a->buffers},
                          keys));
  a->num_buffers = a->num_shapes;
  a->notifier.notifier(NULL, texts, sizes, a->num_shapes, a->notifier.user_arg, cancel_one,
                       a->client);
  return NULL;
}

status api_transfers_client_make_cross_host_receive_buffers(
    PJRT_Transfers_PJRT_Client_MakeCrossHostReceiveBuffers_Args *a) {
  size_t n = a->num_shapes;
  a->num_buffers = 0;
  if (!a->notifier.notifier) return api_missing("MakeCrossHostReceiveBuffers", "notifier");
  if (n > MOST) return status_make(STATUS_INVALID_ARGUMENT, "%zu buffers at once", n);
  size_t bytes = n * (sizeof(descriptor) + sizeof(i64) + sizeof(char *) + sizeof(size_t));
  descriptor *list = mem_alloc(&mem_system, bytes + 1);
  if (!list) return status_oom();
  int64_t *keys = (int64_t *)(list + n);
  const char **texts = (const char **)(keys + n);
  status s = announce(a, list, keys, texts, (size_t *)(texts + n));
  mem_free(&mem_system, list, bytes + 1);
  return s;
}

/* A send that waits for its descriptor, and then for its end. */
typedef struct remote {
  PJRT_Client *client;
  dev_buffer *from;
  char **text;
  size_t *size;
  PJRT_Transfers_CrossHostRemoteSendCallbackInfo on_done;
  PJRT_Transfers_DescriptorDestructor destructor;
} remote;

/* `error` is borrowed. */
static void end_remote(remote *r, status error, bool enqueued) {
  PJRT_Error *e = api_error(status_copy(error));
  if (r->on_done.on_done) r->on_done.on_done(e, enqueued, r->on_done.user_arg);
  status_free(api_error_take(e));
  dev_buffer_release(r->from);
  api_client_release(r->client);
  mem_free(&mem_system, r, sizeof *r);
}

static void remote_sent(void *user, status error) { end_remote(user, error, true); }

static status send_by_descriptor(remote *r, dev_event *sent) {
  i64 key;
  u32 device;
  bool known = r->text && r->size && read_descriptor(*r->text, *r->size, &key, &device);
  if (!sent) return status_oom();
  if (!known) return status_make(STATUS_INVALID_ARGUMENT, "a descriptor that is not ours");
  return send_buffer(r->client, r->from, device, key, sent);
}

static void remote_ready(void *user, status error) {
  remote *r = user;
  dev_event *sent = dev_event_create();
  status s = error ? status_copy(error) : send_by_descriptor(r, sent);
  if (!error && r->destructor) r->destructor(r->text, r->size);
  if (s) {
    end_remote(r, s, false);
    status_free(s);
  } else if (!dev_event_on_ready(sent, remote_sent, r)) {
    status none = status_oom();
    end_remote(r, none, true);
    status_free(none);
  }
  dev_event_release(sent);
}

/* Whatever is wrong, on_done hears it. */
void api_transfers_buffer_copy_to_remote_device(
    PJRT_Transfers_PJRT_Buffer_CopyToRemoteDevice_Args *a) {
  dev_event *ready = api_event_of(a->event);
  remote *r = mem_alloc(&mem_system, sizeof *r);
  status s = api_check_handle("CopyToRemoteDevice", "buffer", a->buffer, API_BUFFER);
  if (!s && ready) s = api_check_handle("CopyToRemoteDevice", "event", ready, DEV_EVENT_KIND);
  if (!s && !r) s = status_oom();
  if (s) {
    PJRT_Error *e = api_error(s);
    if (a->on_done.on_done) a->on_done.on_done(e, false, a->on_done.user_arg);
    status_free(api_error_take(e));
    mem_free(&mem_system, r, sizeof *r);
    return;
  }
  *r = (remote){api_client_retain(a->buffer->client),
                dev_buffer_retain(a->buffer->dev),
                a->serialized_descriptor,
                a->serialized_descriptor_size,
                a->on_done,
                a->descriptor_destructor};
  if (!ready)
    remote_ready(r, NULL);
  else if (!dev_event_on_ready(ready, remote_ready, r))
    remote_ready(r, dev_event_await(ready));
}
