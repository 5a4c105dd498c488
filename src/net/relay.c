/* Meetings between processes. Each sends what its members of a group hand in to every other process
 * that has members of it, and takes theirs; so all of them have all operands, and do the same work
 * in the same order as one process would.
 *
 * A process knows who runs which positions from JOIN, which each sends to all; what it has for
 * processes that have not joined waits for that. Operands that come before our own part of the
 * meeting does are kept. Messages of a process stay in order, so the next turn of a loop cannot be
 * taken for this one: a place that is filled is of this turn, and what comes for it is of the next.
 *
 * One mutex guards everything; neither the wire nor an executor is called under it but `describe`
 * of a part that stands still, which takes its launcher's lock, below this one. */
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
  for (early *e; (e = *r->early_end);)
    if (e->head.launch == launch) {
      *r->early_end = e->next;
      mem_free(r->mem, e, sizeof *e + e->head.bytes);
    } else {
      r->early_end = &e->next;
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
  return x->launch == h->launch && x->step == h->step && x->group == h->group;
}

/* Whether process `from` may say this of that meeting. */
bool relay_fits(const relay *r, const executor_exchange *x, u32 from, const wire_head *h) {
  if (h->member >= x->num_members || h->part >= x->num_parts || h->bytes != x->bytes[h->part])
    return false;
  const part *p = relay_owner(r, x->launch, x->members[h->member]);
  return p && p->rank == from;
}

size_t relay_place(const executor_exchange *x, const wire_head *h) {
  return (size_t)h->member * x->num_parts + h->part;
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

/* Our operands for process `to`, which has members of the group. */
static status add_batch(relay *r, meeting *m, u32 to, todo *t) {
  const executor_exchange *x = m->x;
  u32 ours = 0;
  m->served[to] = true;
  for (u32 i = 0; i < x->num_members; i++) ours += is_ours(x, i);
  size_t size = sizeof(batch) + (size_t)ours * x->num_parts * sizeof(wire_message);
  batch *b = mem_alloc(r->mem, size);
  if (!b) return status_oom();
  *b = (batch){.r = r, .m = m, .to = to, .size = size, .next = t->send};
  for (u32 i = 0; i < x->num_members; i++)
    for (u32 k = 0; is_ours(x, i) && k < x->num_parts; k++)
      b->messages[b->count++] = (wire_message){.head = {.kind = PART,
                                                        .launch = x->launch,
                                                        .step = x->step,
                                                        .group = x->group,
                                                        .member = i,
                                                        .part = k,
                                                        .bytes = x->bytes[k]},
                                               .data = x->parts[(size_t)i * x->num_parts + k],
                                               .sent = batch_sent,
                                               .user = b};
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
    if (p && !m->served[p->rank]) RETURN_IF_ERROR(add_batch(r, m, p->rank, t));
  }
  return NULL;
}

/* Takes it out where nothing of it is under way: it has come about, or never will. */
void relay_settle(relay *r, meeting *m, todo *t) {
  if (m->unsent || m->receiving || (m->missing && !m->error)) return;
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
  for (note *n = t->notes, *next; n; n = next) {
    next = n->next;
    wire_send(r->w, n->to, &n->m);
  }
  for (u32 to = 0; t->cut && to < r->w->size; to++)
    if (to != r->w->rank) wire_cut(r->w, to);
  for (batch *b = t->send, *next; b; b = next) {
    next = b->next;
    u32 n = b->count, to = b->to; /* once all are sent it is freed */
    for (u32 i = 0; i < n; i++) wire_send(r->w, to, &b->messages[i]);
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
  u64 launch = m->x->launch;
  bool last = --m->unsent == 0;
  if (--b->left == 0) mem_free(r->mem, b, b->size);
  relay_settle(r, m, &t);
  if (last) relay_report(r, launch, &t);
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
    for (const early *e = r->early; e; e = e->next) r->parts->received += e->head.launch == launch;
    relay_tell_all(
        r, &(wire_head){.kind = JOIN, .launch = launch, .first = first, .count = count, .all = all},
        NULL, &t);
  }
  relay_do(r, &t);
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
  part *p = relay_part(r, x->launch, r->w->rank);
  meeting *m = make_meeting(r, x);
  p->begun++;
  if (!m) {
    p->done++;
    pthread_mutex_unlock(&r->lock);
    x->done(x->user, status_oom());
    return;
  }
  m->next = r->meetings;
  r->meetings = m;
  relay_take_early(r, m);
  m->error = hopeless(r, m);
  if (!m->error) m->error = relay_serve(r, m, &t);
  relay_settle(r, m, &t);
  relay_report(r, x->launch, &t);
  relay_do(r, &t);
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
  todo t = {0};
  (void)first;
  pthread_mutex_lock(&r->lock);
  part *p = relay_part(r, launch, r->w->rank);
  if (s->begun + s->done >= p->stand.begun + p->stand.done) p->stand = *s;
  relay_report(r, launch, &t);
  relay_do(r, &t);
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
  relay_report(r, launch, &t);
  relay_forget(r, launch, all);
  relay_do(r, &t);
}

static const executor_transport_ops relay_ops = {
    .join = join, .exchange = exchange, .fail = fail, .stand = stand, .leave = leave};

static void destroy(relay *r, u32 size) {
  for (part *p = r->parts, *next; p; p = next) {
    next = p->next;
    free_part(r, p);
  }
  for (early *e = r->early, *next; e; e = next) {
    next = e->next;
    mem_free(r->mem, e, sizeof *e + e->head.bytes);
  }
  for (u32 i = 0; r->gone && i < size; i++) status_free(r->gone[i]);
  status_free(r->broken);
  mem_free(r->mem, r->gone, size * sizeof *r->gone);
  mem_free(r->mem, r->incoming, size * sizeof *r->incoming);
  pthread_mutex_destroy(&r->lock);
  mem_free(r->mem, r, sizeof *r);
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
  pthread_mutex_init(&r->lock, NULL); /* does not fail on Linux */
  status s = r->gone && r->incoming ? NULL : status_oom();
  wire_user user = {.room = relay_room, .came = relay_came, .gone = relay_gone, .user = r};
  if (!s) s = wire_start(w, &user);
  if (s) {
    wire_close(w);
    destroy(r, size);
    return s;
  }
  *out_relay = &r->base;
  return NULL;
}

void relay_send_mail(executor_transport *base, u32 to, wire_message *m) {
  m->head.kind = MAIL;
  wire_send(((relay *)base)->w, to, m);
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
