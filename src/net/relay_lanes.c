/* A relay's messages by way of memory, for processes of its machine.
 *
 * What has no bytes goes by a lane where the other listens, or where it may wait for the next that
 * does not; all else by the wire, which wakes. Each message says how many had gone the other way
 * before it, and is not looked at sooner, so that both are one sequence. (Of two that are sent at
 * once, neither because of the other, either may come first.) */
#include "net/relay_state.h"

/* Once, when the other has opened our window. */
void relay_lend(relay *r, u32 to, todo *t) {
  u64 at;
  route *way = &r->routes[to];
  if (way->lent) return;
  lane *l = (lane *)(void *)window_take(r->window, sizeof(lane), &at);
  if (!l) return;
  memset(l, 0, sizeof *l); /* the place may have been another's */
  way->lent = l;
  relay_tell(r, to, &(wire_head){.kind = LANE, .sent = at}, NULL, t);
}

void relay_lane_came(relay *r, u32 from, const wire_head *h, str text, todo *t) {
  atomic_uint *readers;
  (void)text, (void)t;
  route *way = &r->routes[from];
  if (!way->in)
    way->in = (lane *)(void *)window_find(&r->theirs[from], h->sent, sizeof(lane), &readers);
}

/* ---- out ---- */

static bool listens(const relay *r, u32 to) {
  return atomic_load(&window_bell_of(&r->theirs[to])->listeners) > 0;
}

/* Which lane, if any, one may go by. */
static lane *lane_to(const relay *r, u32 to, const wire_message *m, bool waits) {
  const route *way = &r->routes[to];
  if (!way->out || m->head.bytes || m->head.kind == MAIL) return NULL;
  return waits || listens(r, to) ? way->out : NULL;
}

static bool lay(relay *r, u32 to, wire_message *m, bool waits) {
  route *way = &r->routes[to];
  pthread_mutex_lock(&r->sending);
  lane *l = lane_to(r, to, m, waits);
  m->head.before = way->wired;
  bool laid = l && lane_put(l, &m->head);
  way->laid += laid;
  pthread_mutex_unlock(&r->sending);
  return laid;
}

/* The rest, in one. The lane is used from the message on that names it. */
static void send_by_wire(relay *r, u32 to, wire_message *list) {
  route *way = &r->routes[to];
  if (!list) return;
  pthread_mutex_lock(&r->sending);
  for (wire_message *m = list; m; m = m->next) {
    m->head.before = way->laid;
    way->wired++;
    if (m->head.kind == LANE) way->out = way->lent;
  }
  pthread_mutex_unlock(&r->sending);
  wire_send(r->w, to, list);
}

static void sent(wire_message *m) { mem_free(m->user, m, sizeof *m); }

/* Nobody listens any more, and may have stopped before the bell rang. */
static void poke(relay *r, u32 to) {
  wire_message *m = mem_zalloc(r->mem, sizeof *m);
  if (!m) {
    wire_cut(r->w, to);
    return;
  }
  *m = (wire_message){.head = {.kind = POKE}, .sent = sent, .user = (void *)(uintptr_t)r->mem};
  send_by_wire(r, to, m);
}

void relay_send(relay *r, u32 to, wire_message *list, bool waits) {
  wire_message *m = list;
  for (wire_message *next; m; m = next) {
    next = m->next;
    if (!lay(r, to, m, waits)) break;
    m->sent(m);
  }
  if (m != list) {
    atomic_fetch_add(&window_bell_of(&r->theirs[to])->rung, 1);
    if (!waits && !m && !listens(r, to)) poke(r, to);
  }
  send_by_wire(r, to, m);
}

/* ---- in ---- */

/* What lies in a lane, as far as its turn has come: what the wire was to bring before it has come,
 * or what came by the wire comes after the first `until`. */
void relay_drain(relay *r, u32 from, u64 until, todo *t) {
  route *way = &r->routes[from];
  const wire_head *first;
  while (way->in && (first = lane_first(way->in))) {
    if (way->taken >= until && first->before > way->came) return;
    wire_head h = *first;
    lane_take(way->in);
    way->taken++;
    relay_hear(r, from, &h, (str){"", 0}, NULL, t);
  }
}

/* The bell is read first: what is put in after that rings it again. */
void relay_drain_all(relay *r, todo *t) {
  if (!r->window) return;
  u32 rung = atomic_load(&window_own_bell(r->window)->rung);
  if (rung == atomic_load_explicit(&r->heard, memory_order_relaxed)) return;
  atomic_store_explicit(&r->heard, rung, memory_order_relaxed);
  for (u32 from = 0; from < r->w->size; from++) relay_drain(r, from, 0, t);
}

/* ---- the table ---- */

void relay_look(executor_transport *base) {
  relay *r = (relay *)base;
  todo t = {0};
  if (!r->window || atomic_load_explicit(&window_own_bell(r->window)->rung, memory_order_relaxed) ==
                        atomic_load_explicit(&r->heard, memory_order_relaxed))
    return;
  pthread_mutex_lock(&r->lock);
  relay_drain_all(r, &t);
  relay_do(r, &t);
}

void relay_listen(executor_transport *base, bool on) {
  relay *r = (relay *)base;
  if (!r->window) return;
  if (on)
    atomic_fetch_add(&window_own_bell(r->window)->listeners, 1);
  else
    atomic_fetch_sub(&window_own_bell(r->window)->listeners, 1);
  atomic_thread_fence(memory_order_seq_cst);
  if (!on) relay_look(base);
}
