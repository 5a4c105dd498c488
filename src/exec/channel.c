/* Channels between the devices of a launch: what one sends waits until another receives it. Rows of
 * calls.h: channel.send and channel.recv, params[0] the channel's number.
 *
 * Messages of a channel are received in the order in which they came. Who receives and finds
 * nothing parks, and runs the same step again when something has come; so a channel that nobody
 * sends to is a deadlock as a collective is that nobody comes to. */
#include "exec/calls.h"
#include "exec/launch.h"

struct message {
  message *next;
  i64 channel;
  size_t bytes, size; /* of the data, of the allocation */
  char data[];
};

static status prepare(call_plan *p, bool sends) {
  if (p->c->params.len == 1 && (sends ? p->c->num_out : p->c->num_in) == 0) return NULL;
  return status_make(STATUS_INVALID_ARGUMENT, "a channel's number, and tensors that go one way");
}
static status prepare_send(call_plan *p) { return prepare(p, true); }
static status prepare_recv(call_plan *p) { return prepare(p, false); }

static size_t bytes_of(const call_plan *p, const prog_operand *o) {
  return (size_t)prog_slot_bytes(&p->prog->slots[o->slot]);
}

static i64 channel_of(const call_plan *p) { return p->c->params.data[0]; }

/* The lock is held. */
static void wake_receivers(launch *l, i64 channel) {
  for (u32 i = 0; i < l->n; i++) {
    place *p = &l->places[i];
    if (p->state != PLACE_PARKED || p->outside != WAIT_CHANNEL) continue;
    if (l->prog->steps[p->pc].u.call_->params.data[0] != channel) continue;
    p->outside = WAIT_NOTHING;
    l->active++;
    l->on->ops->wake(p);
  }
}

static void start_send(const void *data, void *const *slots, place *p) {
  const call_plan *plan = data;
  launch *l = p->l;
  size_t bytes = 0;
  for (u32 i = 0; i < plan->c->num_in; i++) bytes += bytes_of(plan, &plan->c->in[i]);
  message *m = mem_alloc(l->on->mem, sizeof *m + bytes);
  if (!m) {
    place_resume(p, status_oom());
    return;
  }
  *m = (message){.channel = channel_of(plan), .bytes = bytes, .size = sizeof *m + bytes};
  char *to = m->data;
  for (u32 i = 0; i < plan->c->num_in; i++) {
    size_t n = bytes_of(plan, &plan->c->in[i]);
    if (n) memcpy(to, call_in(plan, slots, i), n);
    to += n;
  }
  pthread_mutex_lock(&l->on->lock);
  message **end = &l->messages;
  while (*end) end = &(*end)->next;
  *end = m;
  wake_receivers(l, m->channel);
  pthread_mutex_unlock(&l->on->lock);
  place_resume(p, NULL);
}

/* The lock is held. */
static message *take(launch *l, i64 channel) {
  message **at = &l->messages;
  while (*at && (*at)->channel != channel) at = &(*at)->next;
  message *m = *at;
  if (m) *at = m->next;
  return m;
}

/* Takes the message. */
static status receive(const call_plan *plan, void *const *slots, message *m) {
  size_t bytes = 0;
  for (u32 i = 0; i < plan->c->num_out; i++) bytes += bytes_of(plan, &plan->c->out[i]);
  if (bytes != m->bytes)
    return status_make(STATUS_INVALID_ARGUMENT, "expected %zu bytes on channel %lld, found %zu",
                       bytes, (long long)m->channel, m->bytes);
  const char *from = m->data;
  for (u32 i = 0; i < plan->c->num_out; i++) {
    size_t n = bytes_of(plan, &plan->c->out[i]);
    if (n) memcpy(call_out(plan, slots, i), from, n);
    from += n;
  }
  return NULL;
}

/* Parking and the look for what is there are one critical section, or a message could come in
 * between. A launch that has failed wakes nobody who parks now. */
static void start_recv(const void *data, void *const *slots, place *p) {
  const call_plan *plan = data;
  launch *l = p->l;
  pthread_mutex_lock(&l->on->lock);
  message *m = take(l, channel_of(plan));
  if (!m && !atomic_load_explicit(&l->poisoned, memory_order_relaxed)) {
    p->state = PLACE_PARKED;
    p->outside = WAIT_CHANNEL;
    l->outside--;
    launch_halted halted = launch_check(l);
    pthread_mutex_unlock(&l->on->lock);
    /* from here on p belongs to whoever wakes it */
    launch_halt(l, &halted);
    return;
  }
  pthread_mutex_unlock(&l->on->lock);
  status error = m ? receive(plan, slots, m) : NULL;
  if (m) mem_free(l->on->mem, m, m->size);
  place_resume(p, error);
}

void launch_drop_messages(launch *l) {
  for (message *m = l->messages, *next; m; m = next) {
    next = m->next;
    mem_free(l->on->mem, m, m->size);
  }
}

const call_row call_send = {"channel.send", "hands tensors to channel params[0] of the launch",
                            prepare_send,   NULL,
                            NULL,           start_send};
const call_row call_recv = {
    "channel.recv", "waits for tensors from channel params[0] of the launch",
    prepare_recv,   NULL,
    NULL,           start_recv};
