/* A wire over stream sockets. One thread reads all of them, and writes what could not be written at
 * once. Who sends tries to write first, where nothing waits before it: a message to a process that
 * listens costs no change of threads.
 *
 * A socket is never waited for with a lock held, and the thread never waits for a writer: so each
 * process reads at all times, and every write ends. */
#include <pthread.h>

#include "base/os.h"
#include "base/os_socket.h"
#include "net/wire.h"

enum { INPUT = 1 << 16 };
/* Of wire_head.kind: the last message; and that it came, so that closing cuts nothing off. */
#define BYE UINT32_MAX
#define BYE_CAME (UINT32_MAX - 1)

typedef struct peer {
  int fd; /* open until the wire is closed, since any thread may write to it */
  /* under the lock */
  wire_message *first, **last; /* to be sent */
  u64 at;                      /* bytes of the first, head included, that are out */
  bool writing;                /* by whom the messages belong to meanwhile */
  bool dead;                   /* nothing can be sent */
  wire_message bye, bye_came;
  /* the thread's */
  bool told;  /* the user knows that no more messages come */
  bool gone;  /* nothing can be read */
  bool acked; /* it has read all that we sent */
  char *input;
  size_t begin, end; /* of what was read and not yet looked at */
  wire_head head;
  bool in_body;
  char *room;
  u64 got; /* bytes of the body */
} peer;

typedef struct socket_wire {
  wire base; /* first */
  const allocator *mem;
  wire_user user;
  pthread_mutex_t lock;
  pthread_t thread;
  bool started, closing, ticking; /* the last two: under the lock */
  int wake[2];
  peer *peers;
  os_ready *ready; /* of each peer, and of `wake` */
} socket_wire;

static void wake(socket_wire *w) { os_pipe_poke(w->wake[1]); }

/* ---- out ---- */

static size_t message_size(const wire_message *m) { return sizeof m->head + m->head.bytes; }

/* Writes as much of a list as goes; *list is what is left, *at how much of its first is out.
 * *out_done: those that are. False: the socket is of no use any more. */
static bool write_some(int fd, wire_message **list, u64 *at, wire_message **out_done) {
  while (*list) {
    os_piece pieces[OS_MAX_PIECES];
    u32 n = 0;
    u64 skip = *at;
    for (const wire_message *m = *list; m && n + 2 <= OS_MAX_PIECES; m = m->next, skip = 0) {
      size_t head = sizeof m->head, in_head = skip < head ? skip : head, in_body = skip - in_head;
      pieces[n++] = (os_piece){(const char *)&m->head + in_head, head - in_head};
      pieces[n++] =
          (os_piece){m->data ? (const char *)m->data + in_body : NULL, m->head.bytes - in_body};
    }
    i64 out = os_socket_write(fd, pieces, n);
    if (out <= 0) return out == 0; /* full */
    *at += (u64)out;
    while (*list && *at >= message_size(*list)) {
      wire_message *m = *list;
      *at -= message_size(m);
      *list = m->next;
      m->next = NULL;
      *out_done = m;
      out_done = &m->next;
    }
  }
  return true;
}

static void tell_sent(wire_message *m) {
  for (wire_message *next; m; m = next) {
    next = m->next;
    m->sent(m);
  }
}

static wire_message *take_all(peer *p) {
  wire_message *m = p->first;
  p->first = NULL;
  p->last = &p->first;
  return m;
}

static void put_back(peer *p, wire_message *list) {
  wire_message **end = &list;
  while (*end) end = &(*end)->next;
  *end = p->first;
  if (!p->first) p->last = end == &list ? &p->first : end;
  p->first = list;
}

/* Writes until all is out or the socket is full; what another thread writes is left to it. The lock
 * is held, given up in between and at the end. True: messages wait for the socket. */
static bool flush(socket_wire *w, peer *p) {
  bool full = false;
  while (p->first && !p->writing && !full) {
    wire_message *list = take_all(p), *done = NULL;
    u64 at = p->at;
    bool dead = p->dead;
    p->writing = true;
    pthread_mutex_unlock(&w->lock);
    if (!dead) dead = !write_some(p->fd, &list, &at, &done);
    tell_sent(done);
    if (dead) tell_sent(list);
    pthread_mutex_lock(&w->lock);
    p->writing = false;
    p->dead = dead;
    p->at = dead ? 0 : at;
    full = !dead && list;
    if (full) put_back(p, list);
  }
  bool waits = p->first && !p->writing;
  pthread_mutex_unlock(&w->lock);
  return waits;
}

static void send_message(wire *base, u32 to, wire_message *m) {
  socket_wire *w = (socket_wire *)base;
  peer *p = &w->peers[to];
  wire_message *last = m;
  while (last->next) last = last->next;
  pthread_mutex_lock(&w->lock);
  *p->last = m;
  p->last = &last->next;
  if (m->late && w->ticking)
    pthread_mutex_unlock(&w->lock);
  else if (flush(w, p))
    wake(w);
}

static void begin_ticks(wire *base) {
  socket_wire *w = (socket_wire *)base;
  pthread_mutex_lock(&w->lock);
  bool new = !w->ticking;
  w->ticking = true;
  pthread_mutex_unlock(&w->lock);
  if (new) wake(w);
}

static void cut(wire *base, u32 to) { os_socket_end(((socket_wire *)base)->peers[to].fd); }

/* ---- in ---- */

static void said(wire_message *m) { m->data = NULL; }

static void say(socket_wire *w, u32 r, wire_message *m, u32 kind) {
  *m = (wire_message){.head = {.kind = kind}, .sent = said};
  send_message(&w->base, r, m);
}

static void tell_gone(socket_wire *w, u32 r, status why) {
  if (w->peers[r].told) return;
  w->peers[r].told = true;
  w->user.gone(w->user.user, r, why);
}

static void message_came(socket_wire *w, u32 r) {
  peer *p = &w->peers[r];
  p->in_body = false;
  if (p->head.kind == BYE_CAME) {
    p->acked = true;
  } else if (p->head.kind == BYE) {
    say(w, r, &p->bye_came, BYE_CAME);
    tell_gone(w, r, NULL);
  } else if (!p->told) {
    w->user.came(w->user.user, r, &p->head, p->room);
  }
}

/* What was read, as far as it goes. */
static void take_input(socket_wire *w, u32 r) {
  peer *p = &w->peers[r];
  for (;;) {
    size_t have = p->end - p->begin;
    if (!p->in_body) {
      if (have < sizeof p->head) return;
      memcpy(&p->head, p->input + p->begin, sizeof p->head);
      p->begin += sizeof p->head;
      p->in_body = true;
      p->got = 0;
      p->room = p->head.bytes ? w->user.room(w->user.user, r, &p->head) : NULL;
      continue;
    }
    size_t n = min_size(have, p->head.bytes - p->got);
    if (p->room && n) memcpy(p->room + p->got, p->input + p->begin, n);
    p->begin += n;
    p->got += n;
    if (p->got < p->head.bytes) return;
    message_came(w, r);
  }
}

/* Large bodies are read where they go; all else by way of `input`. */
static i64 read_some(peer *p) {
  u64 left = p->in_body ? p->head.bytes - p->got : 0;
  if (left >= INPUT && p->room) {
    i64 n = os_socket_read(p->fd, p->room + p->got, left);
    if (n > 0) p->got += (u64)n;
    return n;
  }
  memmove(p->input, p->input + p->begin, p->end - p->begin);
  p->end -= p->begin;
  p->begin = 0;
  i64 n = os_socket_read(p->fd, p->input + p->end, INPUT - p->end);
  if (n > 0) p->end += (size_t)n;
  return n;
}

static void read_peer(socket_wire *w, u32 r) {
  peer *p = &w->peers[r];
  i64 n;
  while ((n = read_some(p)) > 0) take_input(w, r);
  if (n == 0) return;
  p->gone = true;
  os_socket_end(p->fd);
  pthread_mutex_lock(&w->lock);
  p->dead = true;
  (void)flush(w, p);
  status why = status_make(STATUS_UNAVAILABLE, "process %u of %u has ended", r, w->base.size);
  tell_gone(w, r, why);
  status_free(why);
}

/* ---- the thread ---- */

static bool wants_to_write(socket_wire *w, u32 r, bool *out_closing) {
  const peer *p = &w->peers[r];
  pthread_mutex_lock(&w->lock);
  bool wants = p->first && !p->writing;
  *out_closing = w->closing;
  pthread_mutex_unlock(&w->lock);
  return wants;
}

/* How long to wait for the next tick. It ends before the user is asked, who may begin anew. */
static int tick(socket_wire *w, u64 *last) {
  pthread_mutex_lock(&w->lock);
  bool ticking = w->ticking, due = ticking && os_now_ns() - *last >= WIRE_TICK_MS * 1000000ull;
  if (due) w->ticking = false;
  pthread_mutex_unlock(&w->lock);
  if (!due) return ticking ? WIRE_TICK_MS : -1;
  *last = os_now_ns();
  if (!w->user.tick(w->user.user)) return 0;
  pthread_mutex_lock(&w->lock);
  w->ticking = true;
  pthread_mutex_unlock(&w->lock);
  return WIRE_TICK_MS;
}

static void *run(void *data) {
  socket_wire *w = data;
  u32 n = w->base.size;
  for (u64 last = 0;;) {
    int wait = tick(w, &last);
    bool closing = false, busy = false;
    for (u32 r = 0; r < n; r++) {
      const peer *p = &w->peers[r];
      bool out = r != w->base.rank && wants_to_write(w, r, &closing);
      busy |= out || (r != w->base.rank && !p->gone && !p->acked);
      w->ready[r] = (os_ready){r == w->base.rank || p->gone ? -1 : p->fd,
                               (short)(OS_IN | (out ? OS_OUT : 0)), 0};
    }
    if (closing && !busy) return NULL;
    w->ready[n] = (os_ready){w->wake[0], OS_IN, 0};
    os_wait(w->ready, n + 1, wait);
    if (w->ready[n].is) os_pipe_drain(w->wake[0]);
    for (u32 r = 0; r < n; r++) {
      if (w->ready[r].fd < 0 || !w->ready[r].is) continue;
      if (w->ready[r].is & OS_IN) read_peer(w, r);
      if (!(w->ready[r].is & OS_OUT)) continue;
      pthread_mutex_lock(&w->lock);
      (void)flush(w, &w->peers[r]);
    }
  }
}

static status start(wire *base, const wire_user *user) {
  socket_wire *w = (socket_wire *)base;
  w->user = *user;
  if (pthread_create(&w->thread, NULL, run, w))
    return status_make(STATUS_RESOURCE_EXHAUSTED, "cannot start a thread");
  w->started = true;
  return NULL;
}

/* ---- beginning and end ---- */

static void destroy(socket_wire *w) {
  for (u32 r = 0; w->peers && r < w->base.size; r++) {
    os_close(w->peers[r].fd);
    mem_free(w->mem, w->peers[r].input, INPUT);
  }
  os_close(w->wake[0]);
  os_close(w->wake[1]);
  mem_free(w->mem, w->peers, w->base.size * sizeof *w->peers);
  mem_free(w->mem, w->ready, (w->base.size + 1) * sizeof *w->ready);
  pthread_mutex_destroy(&w->lock);
  mem_free(w->mem, w, sizeof *w);
}

/* The thread ends when all is written and read, or nobody is there to read. */
static void close_wire(wire *base) {
  socket_wire *w = (socket_wire *)base;
  for (u32 r = 0; w->started && r < base->size; r++)
    if (r != base->rank) say(w, r, &w->peers[r].bye, BYE);
  pthread_mutex_lock(&w->lock);
  w->closing = true;
  pthread_mutex_unlock(&w->lock);
  wake(w);
  if (w->started) pthread_join(w->thread, NULL);
  destroy(w);
}

static const wire_ops socket_ops = {
    .start = start, .send = send_message, .tick = begin_ticks, .cut = cut, .close = close_wire};

static status make(const allocator *mem, u32 rank, u32 size, const int *fds, socket_wire **out) {
  socket_wire *w = *out = mem_zalloc(mem, sizeof *w);
  if (!w) return status_oom();
  w->base = (wire){&socket_ops, rank, size};
  w->mem = mem;
  w->wake[0] = w->wake[1] = -1;
  pthread_mutex_init(&w->lock, NULL); /* does not fail on Linux */
  w->peers = mem_zalloc(mem, size * sizeof *w->peers);
  w->ready = mem_zalloc(mem, (size + 1) * sizeof *w->ready);
  if (!w->peers || !w->ready) return status_oom();
  for (u32 r = 0; r < size; r++) {
    peer *p = &w->peers[r];
    p->fd = r == rank ? -1 : fds[r];
    p->last = &p->first;
    p->gone = r == rank;
  }
  for (u32 r = 0; r < size; r++)
    if (r != rank && !(w->peers[r].input = mem_alloc(mem, INPUT))) return status_oom();
  return os_pipe(w->wake) ? NULL : status_make(STATUS_RESOURCE_EXHAUSTED, "cannot make a pipe");
}

status wire_of_sockets(const allocator *mem, u32 rank, u32 size, const int *fds, wire **out_wire) {
  socket_wire *w;
  status s = make(mem ? mem : &mem_system, rank, size, fds, &w);
  *out_wire = s ? NULL : &w->base;
  if (!s) return NULL;
  for (u32 r = 0; (!w || !w->peers) && r < size; r++)
    if (r != rank) os_close(fds[r]);
  if (w) destroy(w);
  return s;
}
