/* A wire over MPI: messages between processes of one machine go through its shared memory, others
 * by whatever network it was built for. Of this file is libterrazzo_mpi.so, the one thing that is
 * linked with MPI.
 *
 * All calls are one thread's, so that an MPI without MPI_THREAD_MULTIPLE will do; others leave
 * their messages in a list. Heads go under one tag and bodies under another; of each, MPI keeps the
 * order between two processes. A process that dies ends the job, as MPI has it. */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "base/os.h"
#include "net/wire.h"

enum { HEAD = 1, BODY = 2 }; /* tags */
enum { BYE = 1u << 30 };     /* of wire_head.kind */
enum { MOST = 1 << 30 };     /* bytes of one call */

/* A message under way. */
typedef struct leaving {
  struct leaving *next;
  wire_message *m;
  MPI_Request head, body;
  u64 begun; /* bytes of the body */
} leaving;

typedef struct mpi_wire {
  wire base; /* first */
  const allocator *mem;
  wire_user user;
  MPI_Comm comm;
  bool ours; /* MPI was not begun before */
  int key;   /* otherwise: MPI's, by which we hear that it ends */
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t more;                  /* something waits to be sent */
  wire_message *waiting, **waiting_end; /* under the lock */
  bool started, closing;                /* under the lock */
  bool ticking;                         /* so is this */
  /* the thread's */
  leaving *leaving, **leaving_end;
  wire_head head;
  MPI_Request coming; /* a head; or the rest of `body`, which `from` sends */
  bool in_body, drops;
  char *body;
  u64 got;
  u32 from, left; /* left: how many have said BYE */
} mpi_wire;

static int chunk(u64 left) { return left < MOST ? (int)left : MOST; }

/* MPI ends the process on errors, so that its calls have none to tell. */
static bool is_done(MPI_Request *r, MPI_Status *out) {
  int done = 0;
  MPI_Test(r, &done, out);
  return done;
}

/* ---- out ---- */

static void send_message(wire *base, u32 to, wire_message *m) {
  mpi_wire *w = (mpi_wire *)base;
  wire_message *last = m;
  for (last->to = to; last->next; last->to = to) last = last->next;
  pthread_mutex_lock(&w->lock);
  *w->waiting_end = m;
  w->waiting_end = &last->next;
  pthread_cond_signal(&w->more);
  pthread_mutex_unlock(&w->lock);
}

static void cut(wire *base, u32 to) {
  (void)to;
  MPI_Abort(((mpi_wire *)base)->comm, EXIT_FAILURE);
}

static void send_chunk(mpi_wire *w, leaving *l) {
  const wire_message *m = l->m;
  int n = chunk(m->head.bytes - l->begun);
  MPI_Isend((const char *)m->data + l->begun, n, MPI_BYTE, (int)m->to, BODY, w->comm, &l->body);
  l->begun += (u64)n;
}

static bool take_waiting(mpi_wire *w) {
  pthread_mutex_lock(&w->lock);
  wire_message *m = w->waiting;
  w->waiting = NULL;
  w->waiting_end = &w->waiting;
  pthread_mutex_unlock(&w->lock);
  bool any = m != NULL;
  for (wire_message *next; m; m = next) {
    next = m->next;
    leaving *l = mem_alloc(w->mem, sizeof *l);
    if (!l) MPI_Abort(w->comm, EXIT_FAILURE);
    *l = (leaving){.m = m, .head = MPI_REQUEST_NULL, .body = MPI_REQUEST_NULL};
    MPI_Isend(&m->head, sizeof m->head, MPI_BYTE, (int)m->to, HEAD, w->comm, &l->head);
    if (m->head.bytes) send_chunk(w, l);
    *w->leaving_end = l;
    w->leaving_end = &l->next;
  }
  return any;
}

static bool push_leaving(mpi_wire *w) {
  bool any = false;
  for (leaving **at = &w->leaving, *l; (l = *at);) {
    bool body = is_done(&l->body, MPI_STATUS_IGNORE);
    if (body && l->begun < l->m->head.bytes) {
      send_chunk(w, l);
      body = false;
    }
    if (!body || !is_done(&l->head, MPI_STATUS_IGNORE)) {
      at = &l->next;
      continue;
    }
    *at = l->next;
    if (!*at) w->leaving_end = at;
    l->m->sent(l->m);
    mem_free(w->mem, l, sizeof *l);
    any = true;
  }
  return any;
}

/* ---- in ---- */

static void await_head(mpi_wire *w) {
  w->in_body = false;
  MPI_Irecv(&w->head, sizeof w->head, MPI_BYTE, MPI_ANY_SOURCE, HEAD, w->comm, &w->coming);
}

static void message_came(mpi_wire *w) {
  if (w->head.kind == BYE) {
    w->left++;
    w->user.gone(w->user.user, w->from, NULL);
  } else if (!w->drops) {
    w->user.came(w->user.user, w->from, &w->head, w->body);
  }
  if (w->drops) mem_free(w->mem, w->body, (size_t)chunk(w->head.bytes));
  w->drops = false;
  w->body = NULL;
  await_head(w);
}

static void receive_chunk(mpi_wire *w) {
  int n = chunk(w->head.bytes - w->got);
  MPI_Irecv(w->drops ? w->body : w->body + w->got, n, MPI_BYTE, (int)w->from, BODY, w->comm,
            &w->coming);
  w->got += (u64)n;
}

/* What nobody wants has to be received as well. */
static void begin_body(mpi_wire *w) {
  w->in_body = true;
  w->got = 0;
  w->body = w->user.room(w->user.user, w->from, &w->head);
  w->drops = !w->body;
  if (w->drops && !(w->body = mem_alloc(w->mem, (size_t)chunk(w->head.bytes))))
    MPI_Abort(w->comm, EXIT_FAILURE);
  receive_chunk(w);
}

static bool receive(mpi_wire *w) {
  MPI_Status s;
  if (!is_done(&w->coming, &s)) return false;
  if (!w->in_body) w->from = (u32)s.MPI_SOURCE;
  if (!w->in_body && w->head.bytes)
    begin_body(w);
  else if (w->in_body && w->got < w->head.bytes)
    receive_chunk(w);
  else
    message_came(w);
  return true;
}

/* ---- the thread ---- */

/* MPI tells nobody when something comes, so that it has to be asked. In between, processors are
 * left to those who compute, and what is to be sent does not wait. */
static void wait_a_little(mpi_wire *w, u32 idle) {
  struct timespec t;
  if (idle < 64) {
    sched_yield();
    return;
  }
  clock_gettime(CLOCK_MONOTONIC, &t);
  t.tv_nsec += idle < 2000 ? 20000 : 200000;
  if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
  pthread_mutex_lock(&w->lock);
  if (!w->waiting && !w->closing) pthread_cond_timedwait(&w->more, &w->lock, &t);
  pthread_mutex_unlock(&w->lock);
}

static bool is_over(mpi_wire *w) {
  pthread_mutex_lock(&w->lock);
  bool over = w->closing && !w->waiting && !w->leaving && w->left + 1 == w->base.size;
  pthread_mutex_unlock(&w->lock);
  return over;
}

static void begin_ticks(wire *base) {
  mpi_wire *w = (mpi_wire *)base;
  pthread_mutex_lock(&w->lock);
  w->ticking = true;
  pthread_mutex_unlock(&w->lock);
}

static u64 now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

/* It ends before the user is asked, who may begin anew. */
static void tick(mpi_wire *w, u64 *last) {
  u64 now = now_ns();
  if (now - *last < WIRE_TICK_MS * 1000000ull) return;
  *last = now;
  pthread_mutex_lock(&w->lock);
  bool ticking = w->ticking;
  w->ticking = false;
  pthread_mutex_unlock(&w->lock);
  if (ticking && w->user.tick(w->user.user)) begin_ticks(&w->base);
}

static void *run(void *data) {
  mpi_wire *w = data;
  u64 last = 0;
  await_head(w);
  for (u32 idle = 0; !is_over(w); idle ? wait_a_little(w, idle) : (void)0) {
    bool any = take_waiting(w);
    any |= push_leaving(w);
    any |= receive(w);
    tick(w, &last);
    idle = any ? 0 : idle + 1;
  }
  MPI_Cancel(&w->coming);
  MPI_Wait(&w->coming, MPI_STATUS_IGNORE);
  return NULL;
}

static status start(wire *base, const wire_user *user) {
  mpi_wire *w = (mpi_wire *)base;
  w->user = *user;
  if (pthread_create(&w->thread, NULL, run, w))
    return status_make(STATUS_RESOURCE_EXHAUSTED, "cannot start a thread");
  w->started = true;
  return NULL;
}

static void said(wire_message *m) { m->data = NULL; }

/* All processes come here, each once: ending MPI waits for all. */
static void leave(mpi_wire *w) {
  size_t bytes = w->base.size * sizeof(wire_message);
  if (!w->started) return;
  wire_message *bye = mem_alloc(w->mem, bytes);
  if (!bye) MPI_Abort(w->comm, EXIT_FAILURE);
  for (u32 r = 0; r < w->base.size; r++) {
    bye[r] = (wire_message){.head = {.kind = BYE}, .sent = said};
    if (r != w->base.rank) send_message(&w->base, r, &bye[r]);
  }
  pthread_mutex_lock(&w->lock);
  w->closing = true;
  pthread_mutex_unlock(&w->lock);
  pthread_join(w->thread, NULL);
  w->started = false;
  mem_free(w->mem, bye, bytes);
}

/* Somebody else ends MPI. */
static int leave_before_the_end(MPI_Comm comm, int key, void *w, void *unused) {
  (void)comm, (void)key, (void)unused;
  leave(w);
  return MPI_SUCCESS;
}

/* That which began MPI, until it is closed: a process may end before that. */
static mpi_wire *beginner;
static void end_at_exit(void) {
  if (!beginner) return;
  leave(beginner);
  MPI_Finalize();
}

static void close_wire(wire *base) {
  mpi_wire *w = (mpi_wire *)base;
  leave(w);
  if (!w->ours) MPI_Comm_delete_attr(MPI_COMM_SELF, w->key);
  MPI_Comm_free(&w->comm);
  if (w->ours) MPI_Finalize();
  if (w->ours) beginner = NULL;
  pthread_cond_destroy(&w->more);
  pthread_mutex_destroy(&w->lock);
  mem_free(w->mem, w, sizeof *w);
}

static const wire_ops mpi_ops = {
    .start = start, .send = send_message, .tick = begin_ticks, .cut = cut, .close = close_wire};

/* How many processes may run on the processors of this one, itself among them. */
static u32 count_sharing(const mpi_wire *w) {
  char ours[OS_PROCESSORS] = "";
  u32 n = 0;
  char(*all)[OS_PROCESSORS] = mem_alloc(w->mem, w->base.size * sizeof *all);
  if (!all) MPI_Abort(w->comm, EXIT_FAILURE);
  os_name_processors(ours);
  MPI_Allgather(ours, sizeof ours, MPI_BYTE, all, sizeof ours, MPI_BYTE, w->comm);
  for (u32 r = 0; r < w->base.size; r++) n += !strcmp(all[r], ours);
  mem_free(w->mem, all, w->base.size * sizeof *all);
  return n;
}

static void init_lock(mpi_wire *w) {
  pthread_condattr_t clock;
  pthread_mutex_init(&w->lock, NULL); /* does not fail on Linux */
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&w->more, &clock);
  pthread_condattr_destroy(&clock);
}

__attribute__((visibility("default"))) status tz_mpi_join(const allocator *mem, u32 place,
                                                          wire **out_wire, u32 *out_sharing) {
  int begun, given, rank, size;
  mpi_wire *w = mem_alloc(mem, sizeof *w);
  if (!w) return status_oom();
  *w = (mpi_wire){.mem = mem};
  MPI_Initialized(&begun);
  if (!begun) MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given);
  MPI_Query_thread(&given);
  if (given < (begun ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED)) {
    if (!begun) MPI_Finalize();
    mem_free(mem, w, sizeof *w);
    return status_make(STATUS_FAILED_PRECONDITION, "expected an MPI that threads may use");
  }
  MPI_Comm_split(MPI_COMM_WORLD, 0, (int)place, &w->comm);
  MPI_Comm_rank(w->comm, &rank);
  MPI_Comm_size(w->comm, &size);
  w->ours = !begun;
  if (w->ours) {
    beginner = w;
    atexit(end_at_exit);
  } else {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, leave_before_the_end, &w->key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, w->key, w);
  }
  w->base = (wire){&mpi_ops, (u32)rank, (u32)size};
  w->waiting_end = &w->waiting;
  w->leaving_end = &w->leaving;
  init_lock(w);
  *out_sharing = count_sharing(w);
  *out_wire = &w->base;
  return NULL;
}
