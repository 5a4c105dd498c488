/* Meetings between processes. Each sends what its members of a group hand in to every other process
 * that has members of it, and takes theirs; so all of them have all operands, and do the same work
 * in the same order as one process would.
 *
 * A process knows who runs which positions from JOIN, which each sends to all; what it has for
 * processes that have not joined waits for that. Operands that come before our own part of the
 * meeting does are kept. Messages of a process stay in order, so the next turn of a loop cannot be
 * taken for this one: a place that is filled is of this turn, and what comes for it is of the next.
 *
 * One mutex guards everything but what is sent (relay_lanes.c); neither the wire nor an executor is
 * called under it but `describe` of a part that stands still, which takes its launcher's lock,
 * below this one. */
#include "net/relay_state.h"

/* ---- messages of our own ---- */

void relay_note_sent(wire_message *m) {
  note *n = (note *)m;
  mem_free(n->mem, n, sizeof *n + m->head.bytes);
}

note *relay_make_note(relay *r, const wire_head *h, todo *t) {
  note *n = mem_alloc(r->mem, sizeof *n + h->bytes);
  t->cut |= !n;
  if (!n) return NULL;
  n->m = (wire_message){.head = *h, .data = n->data, .sent = relay_note_sent};
  n->mem = r->mem;
  n->next = NULL;
  n->waits = h->kind == JOIN || h->kind == LEAVE;
  return n;
}

void relay_tell(relay *r, u32 to, const wire_head *h, const void *data, todo *t) {
  note *n = relay_make_note(r, h, t);
  if (!n) return;
  n->to = to;
  if (data) memcpy(n->data, data, h->bytes);
  if (!t->notes) t->notes_end = &t->notes;
  *t->notes_end = n;
  t->notes_end = &n->next;
}

void relay_tell_all(relay *r, const wire_head *h, const void *data, todo *t) {
  for (u32 to = 0; to < r->w->size; to++)
    if (to != r->w->rank) relay_tell(r, to, h, data, t);
}

/* ---- parts ---- */

part *relay_part(const relay *r, u64 launch, u32 rank) {
  for (part *p = r->parts; p; p = p->next)
    if (p->launch == launch && p->rank == rank) return p;
  return NULL;
}
part *relay_owner(const relay *r, u64 launch, u32 position) {
  for (part *p = r->parts; p; p = p->next)
    if (p->launch == launch && position - p->first < p->count) return p;
  return NULL;
}

static void free_part(relay *r, part *p) {
  status_free(p->error);
  mem_free(r->mem, p->text, p->text_bytes);
  mem_free(r->mem, p, sizeof *p);
}

void relay_free_operand(relay *r, operand *o) {
  if (o->readers) window_done(o->readers);
  mem_free(r->mem, o, sizeof *o + o->head.bytes);
}

/* A launch all of whose parts have left is forgotten, with what came for it too late. */
void relay_forget(relay *r, u64 launch, u32 all) {
  for (const part *p = r->parts; p; p = p->next)
    if (p->launch == launch && p->left) all -= p->count;
  if (all) return;
  for (part **at = &r->parts, *p; (p = *at);)
    if (p->launch == launch) {
      *at = p->next;
      free_part(r, p);
    } else {
      at = &p->next;
    }
  r->early_end = &r->early;
  for (operand *o; (o = *r->early_end);)
    if (o->head.launch == launch) {
      *r->early_end = o->next;
      relay_free_operand(r, o);
    } else {
      r->early_end = &o->next;
    }
}

status relay_add_part(relay *r, u64 launch, u32 rank, u32 first, u32 count, u32 all) {
  part *p = mem_zalloc(r->mem, sizeof *p);
  if (!p) return status_oom();
  p->launch = launch;
  p->rank = rank;
  p->first = first;
  p->count = count;
  p->all = all;
  p->next = r->parts;
  r->parts = p;
  return NULL;
}

/* ---- meetings ---- */

static bool is_ours(const executor_exchange *x, u32 member) {
  return x->members[member] - x->first < x->count;
}

bool relay_is_of(const meeting *m, const wire_head *h) {
  const executor_exchange *x = m->x;
  return x->launch == h->launch && x->step == h->step && x->group == h->group &&
         x->phase == h->first;
}

executor_range relay_needs(const executor_exchange *x, const part *of, u32 member, u32 k) {
  u32 first = UINT32_MAX, end = 0;
  if (!x->needs) return (executor_range){0, x->bytes[k]};
  for (u32 i = 0; i < x->num_members; i++) {
    if (x->members[i] - of->first >= of->count) continue;
    if (first > i) first = i;
    end = i + 1;
  }
  return x->needs(x, member, k, first, end - first);
}

static bool lacks(const meeting *m, u32 member) {
  const executor_exchange *x = m->x;
  for (u32 k = 0; k < x->num_parts; k++)
    if (!m->have[(size_t)member * x->num_parts + k]) return true;
  return false;
}

/* Why this meeting will never be; NULL: it may. */
static status hopeless(const relay *r, const meeting *m) {
  const executor_exchange *x = m->x;
  if (r->broken) return status_copy(r->broken);
  for (const part *p = r->parts; p; p = p->next)
    if (p->launch == x->launch && p->error) return status_copy(p->error);
  for (u32 i = 0; i < x->num_members; i++) {
    if (is_ours(x, i) || !lacks(m, i)) continue;
    const part *p = relay_owner(r, x->launch, x->members[i]);
    if (p && p->left)
      return status_make(STATUS_INTERNAL,
                         "deadlock: a collective (step %u) waits for device %u (finished)", x->step,
                         x->members[i]);
    if (p && r->gone[p->rank]) return status_copy(r->gone[p->rank]);
    for (u32 q = 0; !p && q < r->w->size; q++)
      if (r->gone[q] && !relay_part(r, x->launch, q)) return status_copy(r->gone[q]);
  }
  return NULL;
}

static void batch_sent(wire_message *message);

/* Into our window, where the other sees it and it is not so small that sending is as good (which by
 * a lane it never is). What is
 * on its way to another process, from this call on, is not left there twice. */
static void use_window(relay *r, u32 to, const batch *before, leaving *l, u32 at) {
  const u64 least = r->routes[to].lent ? 1 : 4096;
  wire_head *h = &l->m.head;
  const leaving *same = before ? &before->operands[at] : NULL;
  if (h->bytes < least) return;
  if (same && same->m.head.count && same->from == l->from && same->m.head.received == h->bytes) {
    h->sent = same->m.head.sent;
    window_add_reader(r->window, h->sent);
  } else if (!(l->room = window_take(r->window, h->bytes, &h->sent))) {
    return;
  }
  h->count = 1;
  h->received = h->bytes;
  h->bytes = 0;
}

/* Our operands for process `to`, which has members of the group. */
static status add_batch(relay *r, meeting *m, const part *to, todo *t) {
  const executor_exchange *x = m->x;
  const batch *before = t->send && t->send->m == m && r->sees[t->send->to] ? t->send : NULL;
  u32 ours = 0;
  m->served[to->rank] = true;
  for (u32 i = 0; i < x->num_members; i++) ours += is_ours(x, i);
  size_t size = sizeof(batch) + (size_t)ours * x->num_parts * sizeof(leaving);
  batch *b = mem_alloc(r->mem, size);
  if (!b) return status_oom();
  *b = (batch){.r = r, .m = m, .to = to->rank, .size = size, .next = t->send};
  for (u32 i = 0; i < x->num_members; i++)
    for (u32 k = 0; is_ours(x, i) && k < x->num_parts; k++) {
      executor_range n = relay_needs(x, to, i, k);
      leaving *l = &b->operands[b->count];
      *l = (leaving){.m = {.head = {.kind = PART,
                                    .launch = x->launch,
                                    .step = x->step,
                                    .group = x->group,
                                    .first = x->phase,
                                    .member = i,
                                    .part = k,
                                    .bytes = n.end - n.begin},
                           .sent = batch_sent,
                           .user = b},
                     .from = (char *)x->parts[(size_t)i * x->num_parts + k] + n.begin};
      if (r->sees[to->rank]) use_window(r, to->rank, before, l, b->count);
      l->m.data = l->m.head.bytes ? l->from : NULL;
      b->count++;
    }
  b->left = b->count;
  m->unsent += b->count;
  relay_part(r, x->launch, r->w->rank)->sent += b->count;
  t->send = b;
  return NULL;
}

/* To all that have members of the group and have joined. */
status relay_serve(relay *r, meeting *m, todo *t) {
  const executor_exchange *x = m->x;
  for (u32 i = 0; i < x->num_members; i++) {
    if (is_ours(x, i)) continue;
    const part *p = relay_owner(r, x->launch, x->members[i]);
    if (p && !m->served[p->rank]) RETURN_IF_ERROR(add_batch(r, m, p, t));
  }
  return NULL;
}

/* Takes it out where nothing of it is under way: it has come about, or never will. */
void relay_settle(relay *r, meeting *m, todo *t) {
  if (m->unsent || (m->missing && !m->error)) return;
  for (u32 i = 0; !m->error && i < m->x->num_members; i++)
    if (!is_ours(m->x, i) && !relay_owner(r, m->x->launch, m->x->members[i])) return;
  for (meeting **at = &r->meetings; *at; at = &(*at)->next)
    if (*at == m) {
      *at = m->next;
      break;
    }
  relay_part(r, m->x->launch, r->w->rank)->done++;
  m->next = t->over;
  t->over = m;
}

/* All meetings anew, after what may have ended them. */
void relay_review(relay *r, todo *t) {
  for (meeting *m = r->meetings, *next; m; m = next) {
    next = m->next;
    if (!m->error) m->error = hopeless(r, m);
    relay_settle(r, m, t);
  }
}

/* Called with the lock, which it gives up. */
void relay_do(relay *r, todo *t) {
  pthread_mutex_unlock(&r->lock);
  for (batch *b = t->send; b; b = b->next) /* all, before any of them is told of */
    for (u32 i = 0; i < b->count; i++)
      if (b->operands[i].room)
        memcpy(b->operands[i].room, b->operands[i].from, b->operands[i].m.head.received);
  for (note *n = t->notes, *next; n; n = next) {
    next = n->next;
    relay_send(r, n->to, &n->m, n->waits);
  }
  for (u32 to = 0; t->cut && to < r->w->size; to++)
    if (to != r->w->rank) wire_cut(r->w, to);
  for (batch *b = t->send, *next; b; b = next) {
    next = b->next; /* once all are sent it is freed */
    for (u32 i = 1; i < b->count; i++) b->operands[i - 1].m.next = &b->operands[i].m;
    if (b->count) relay_send(r, b->to, &b->operands[0].m, false);
  }
  for (meeting *m = t->over, *next; m; m = next) {
    next = m->next;
    executor_exchange *x = m->x;
    status error = m->error;
    mem_free(r->mem, m, m->size);
    x->done(x->user, error);
    status_free(error);
  }
}

static void batch_sent(wire_message *message) {
  batch *b = message->user;
  relay *r = b->r;
  meeting *m = b->m;
  todo t = {0};
  pthread_mutex_lock(&r->lock);
  m->unsent--;
  if (--b->left == 0) mem_free(r->mem, b, b->size);
  relay_settle(r, m, &t);
  relay_do(r, &t);
}

/* ---- the table ---- */

static status join(executor_transport *base, u64 launch, u32 first, u32 count, u32 all) {
  relay *r = (relay *)base;
  todo t = {0};
  pthread_mutex_lock(&r->lock);
  status s = relay_part(r, launch, r->w->rank)
                 ? status_make(STATUS_INVALID_ARGUMENT, "a process has one part of a launch")
                 : relay_add_part(r, launch, r->w->rank, first, count, all);
  if (!s) {
    for (const operand *o = r->early; o; o = o->next)
      r->parts->received += o->head.launch == launch;
    relay_tell_all(
        r, &(wire_head){.kind = JOIN, .launch = launch, .first = first, .count = count, .all = all},
        NULL, &t);
  }
  relay_do(r, &t);
  if (!s) wire_tick(r->w);
  return s;
}

static meeting *make_meeting(relay *r, executor_exchange *x) {
  size_t places = (size_t)x->num_members * x->num_parts, size;
  size = sizeof(meeting) + (places + r->w->size) * sizeof(bool);
  meeting *m = mem_zalloc(r->mem, size);
  if (!m) return NULL;
  m->x = x;
  m->size = size;
  m->have = (bool *)(m + 1);
  m->served = m->have + places;
  m->served[r->w->rank] = true;
  for (u32 i = 0; i < x->num_members; i++) m->missing += is_ours(x, i) ? 0 : x->num_parts;
  return m;
}

static void exchange(executor_transport *base, executor_exchange *x) {
  relay *r = (relay *)base;
  todo t = {0};
  pthread_mutex_lock(&r->lock);
  relay_drain_all(r, &t); /* others may wait in there to join */
  part *p = relay_part(r, x->launch, r->w->rank);
  meeting *m = make_meeting(r, x);
  p->begun++;
  if (!m) {
    p->done++;
    relay_do(r, &t);
    x->done(x->user, status_oom());
    return;
  }
  m->next = r->meetings;
  r->meetings = m;
  relay_take_early(r, m);
  m->error = hopeless(r, m);
  if (!m->error) m->error = relay_serve(r, m, &t);
  relay_settle(r, m, &t);
  relay_do(r, &t);
}

static void release(executor_transport *base, executor_exchange *x) {
  for (operand *o = x->held, *next; o; o = next) {
    next = o->next;
    relay_free_operand((relay *)base, o);
  }
  x->held = NULL;
}

static void fail(executor_transport *base, u64 launch, u32 first, status error) {
  relay *r = (relay *)base;
  str text = status_message(error);
  todo t = {0};
  (void)first;
  pthread_mutex_lock(&r->lock);
  part *p = relay_part(r, launch, r->w->rank);
  if (!p->error) p->error = status_copy(error);
  relay_tell_all(
      r,
      &(wire_head){
          .kind = FAIL, .launch = launch, .step = (u32)status_get_code(error), .bytes = text.len},
      text.data, &t);
  relay_review(r, &t);
  relay_do(r, &t);
}

static void stand(executor_transport *base, u64 launch, u32 first, const executor_standstill *s) {
  relay *r = (relay *)base;
  (void)first;
  pthread_mutex_lock(&r->lock);
  part *p = relay_part(r, launch, r->w->rank);
  if (s->begun + s->done >= p->stand.begun + p->stand.done) p->stand = *s;
  pthread_mutex_unlock(&r->lock);
}

static void leave(executor_transport *base, u64 launch, u32 first) {
  relay *r = (relay *)base;
  todo t = {0};
  (void)first;
  pthread_mutex_lock(&r->lock);
  part *p = relay_part(r, launch, r->w->rank);
  u32 all = p->all;
  p->left = true;
  wire_head h = relay_numbers(p, LEAVE);
  relay_tell_all(r, &h, NULL, &t);
  for (note *n = t.notes; n; n = n->next) n->m.late = true;
  relay_forget(r, launch, all);
  relay_do(r, &t);
}

static const executor_transport_ops relay_ops = {.join = join,
                                                 .exchange = exchange,
                                                 .release = release,
                                                 .fail = fail,
                                                 .stand = stand,
                                                 .listen = relay_listen,
                                                 .look = relay_look,
                                                 .leave = leave};

static void destroy(relay *r, u32 size) {
  for (part *p = r->parts, *next; p; p = next) {
    next = p->next;
    free_part(r, p);
  }
  for (operand *o = r->early, *next; o; o = next) {
    next = o->next;
    relay_free_operand(r, o);
  }
  for (u32 i = 0; r->gone && i < size; i++) status_free(r->gone[i]);
  for (u32 i = 0; r->theirs && i < size; i++) os_shared_close(&r->theirs[i]);
  window_destroy(r->window);
  status_free(r->broken);
  mem_free(r->mem, r->theirs, size * sizeof *r->theirs);
  mem_free(r->mem, r->sees, size * sizeof *r->sees);
  mem_free(r->mem, r->routes, size * sizeof *r->routes);
  mem_free(r->mem, r->gone, size * sizeof *r->gone);
  mem_free(r->mem, r->incoming, size * sizeof *r->incoming);
  pthread_mutex_destroy(&r->lock);
  pthread_mutex_destroy(&r->sending);
  mem_free(r->mem, r, sizeof *r);
}

/* Who does not see it, on another machine or behind a wall on this one, gets messages only. */
static void show_window(relay *r) {
  todo t = {0};
  r->window = window_create(r->mem);
  if (!r->window) return;
  pthread_mutex_lock(&r->lock);
  str name = str_of(window_name(r->window));
  relay_tell_all(r, &(wire_head){.kind = WINDOW, .bytes = name.len + 1}, name.data, &t);
  relay_do(r, &t);
}

status relay_create(const allocator *mem, wire *w, const relay_mail *mail,
                    executor_transport **out_relay) {
  if (!mem) mem = &mem_system;
  relay *r = mem_zalloc(mem, sizeof *r);
  *out_relay = NULL;
  if (!r) {
    wire_close(w);
    return status_oom();
  }
  u32 size = w->size;
  r->base.ops = &relay_ops;
  r->mem = mem;
  r->w = w;
  if (mail) r->mail = *mail;
  r->early_end = &r->early;
  r->gone = mem_zalloc(mem, size * sizeof *r->gone);
  r->incoming = mem_zalloc(mem, size * sizeof *r->incoming);
  r->theirs = mem_zalloc(mem, size * sizeof *r->theirs);
  r->sees = mem_zalloc(mem, size * sizeof *r->sees);
  r->routes = mem_zalloc(mem, size * sizeof *r->routes);
  pthread_mutex_init(&r->lock, NULL); /* neither fails on Linux */
  pthread_mutex_init(&r->sending, NULL);
  bool all = r->gone && r->incoming && r->theirs && r->sees && r->routes;
  status s = all ? NULL : status_oom();
  wire_user user = {
      .room = relay_room, .came = relay_came, .gone = relay_gone, .tick = relay_tick, .user = r};
  if (!s) s = wire_start(w, &user);
  if (s) {
    wire_close(w);
    destroy(r, size);
    return s;
  }
  *out_relay = &r->base;
  if (size > 1) show_window(r);
  return NULL;
}

void relay_send_mail(executor_transport *base, u32 to, wire_message *m) {
  m->head.kind = MAIL;
  relay_send((relay *)base, to, m, false);
}

void relay_free_mail(void *data) {
  if (data) relay_note_sent((wire_message *)(void *)((char *)data - offsetof(note, data)));
}

status relay_why_gone(executor_transport *base, u32 rank) {
  relay *r = (relay *)base;
  pthread_mutex_lock(&r->lock);
  status s = r->gone[rank] ? status_copy(r->gone[rank]) : NULL;
  pthread_mutex_unlock(&r->lock);
  return s;
}

void relay_destroy(executor_transport *base) {
  relay *r = (relay *)base;
  if (!r) return;
  u32 size = r->w->size;
  wire_close(r->w);
  destroy(r, size);
}
