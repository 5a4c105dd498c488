/* Launches, their places and the queues of devices, of whatever executor of this module: pool.h has
 * the processors' one, plain.c another.
 *
 * One mutex an executor guards all scheduling: queues of devices, states of places, rendezvous
 * counts. It is held for a few dozen instructions at a time, never during work or callbacks.
 * The executor decides which ready place runs next, and on which worker; all else is here.
 *
 * A place parks for a reason. What is outside (an event, a callback of the host's, a transfer) is
 * counted by the launch, and wakes its place through place_resume. When all places are parked or
 * done, and nothing outside is pending, nobody will ever come: that is a deadlock. When all that is
 * pending are transfers, the transport is told, which knows whether anybody comes elsewhere.
 *
 * The life of a launch, and where:
 *
 *   launcher_launch   places queued by device; waits for events           any thread
 *   wake, place_run   steps, until one parks; again when it is woken      a worker
 *   place_finish      workspace back, the device's next launch wakes      a worker
 *   launch_release    the last one: transport left, `done`, memory back   a worker
 *
 * Ownership: a launch is one block, which `unfinished` counts: one each place, and one for whoever
 * else still looks at it. It holds its image, and the first error. A place belongs to the worker
 * that runs it, and to the lock while it does not. */
#ifndef EXEC_LAUNCH_H
#define EXEC_LAUNCH_H

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/os.h"
#include "base/trace.h"
#include "device/executor.h"
#include "device/heap.h"
#include "exec/image.h"

/* For asserts: somebody holds the launcher's lock. Where nobody does, the assert that takes it
 * fails. */
#define IS_LOCKED(on) (pthread_mutex_trylock(&(on)->lock) == EBUSY)

typedef struct launcher launcher;
typedef struct launch launch;
typedef struct message message; /* channel.c */
typedef struct worker worker;   /* a thread; each executor has its own */

typedef enum place_state {
  PLACE_QUEUED, /* behind another launch, or waiting for the launch's events */
  PLACE_READY,
  PLACE_RUNNING,
  PLACE_PARKED,  /* until its group has come */
  PLACE_MEETING, /* all have come, one does the work */
  PLACE_OUTSIDE, /* something outside has its buffers: no failure wakes it */
  PLACE_DONE
} place_state;

/* What a place that does not run waits for. */
typedef enum place_wait {
  WAIT_NOTHING,
  WAIT_QUEUE, /* another launch on its device */
  WAIT_EVENT, /* what the launch waits for */
  WAIT_COLLECTIVE,
  WAIT_CALLBACK, /* of the host's */
  WAIT_TRANSFER,
  WAIT_CHANNEL, /* parked, until somebody sends */
  WAIT_COUNT_
} place_wait;

/* A device of a launch: where it is in the program. */
struct place {
  launch *l;
  u32 position, device; /* in the program; the key of its queue */
  u32 pc;
  i32 left; /* until it lets others look, in ticks, of which jumps back take theirs */
  place_state state;
  place_wait outside;  /* while PLACE_OUTSIDE, or meeting with who is: what for; parked:
                          WAIT_CHANNEL,  or nothing at a collective */
  struct meeting *met; /* with members elsewhere; by who came last, until it is over */
  void **slots;
  void *workspace;
  place *next; /* in its queue */
  place *next_ready;
  /* Of a launch that is traced: when it began to run and to wait (0: it does not), and at which
   * step. */
  u64 began, waits;
  u32 waits_at;
};

typedef struct place_list {
  place *first, **end;
} place_list;

struct launch {
  launcher *on;
  void (*work)(worker *w, const exec_step *s, void *const *slots, bool flush); /* its ops' */
  launch *before, *after; /* of those alive, in the order of the calls */
  executor_image *image;
  const program *prog;
  u32 first, n;       /* the positions that run here, by number */
  const u32 *numbers; /* by position; NULL: each is its own */
  executor_transport *transport;
  u64 id;
  executor_host host;
  place *places;
  void **params, **results;
  u32 *arrived;        /* by group of the image */
  void *const **slots; /* by place, for collectives */
  u32 active;          /* places that are neither parked, outside nor done */
  u32 outside;         /* events, callbacks and transfers to come, and first the launch call */
  u64 begun;           /* transfers: all so far, */
  atomic_ullong met;   /* and those of them that have come */
  u32 unfinished;      /* places, and whoever else needs the launch alive */
  place_list *here;    /* where who is woken goes while the launching thread runs all of it */
  bool lasts;          /* longer than that thread has: whoever is there goes to a worker */
  bool ready;          /* all events are there */
  bool traced;         /* somebody recorded when it was launched */
  str name;            /* the program's */
  atomic_bool poisoned;
  status error;      /* the first */
  message *messages; /* sent and not received */
  void (*device_done)(void *user, u32 position, status error);
  void (*done)(void *user, status error);
  void *user;
  size_t bytes; /* of this allocation */
};

typedef struct queue {
  u32 device;
  place *head, *tail;
} queue;

/* How an executor runs its places. */
typedef struct launcher_ops {
  /* Why these memories cannot be; NULL: they can. May be NULL. */
  status (*check)(launcher *on, const executor_launch_args *args);
  /* A memory's address. NULL: the handle itself. */
  void *(*address)(executor_memory *m);
  /* The place is ready: to be run by place_run, once. The lock is held. */
  void (*wake)(place *p);
  /* Scratch memory for the steps of an image; false: none. */
  bool (*reserve)(worker *w, size_t bytes);
  /* A worker that has handed in a meeting may look a while whether it comes about, until `met`
   * changes. NULL: it does not. */
  void (*watch)(launch *l, u64 met);
  /* A step's units, with denormals flushed or not. */
  void (*work)(worker *w, const exec_step *s, void *const *slots, bool flush);
  /* The thread will run what is not ours: its control word back. */
  void (*rest)(worker *w);
  /* The calling thread may be a worker until it leaves; NULL: not now. Both may be NULL. */
  worker *(*come)(launcher *on);
  void (*leave)(launcher *on, worker *w);
} launcher_ops;

/* What the executors of this module begin with. */
struct launcher {
  executor base; /* first */
  const launcher_ops *ops;
  const allocator *mem;
  dev_heap *heap;
  pthread_mutex_t lock;
  pthread_cond_t idle; /* a launch ended */
  queue *queues;       /* open addressing by device */
  u32 num_queues, cap_queues;
  launch *first, *last;
  u32 launches;  /* alive */
  bool stopping; /* no launches any more */
  u64 brief;     /* ns: a program that takes no longer runs on the thread that launches it, */
  u64 meetings;  /* and this long in meetings, which workers then share */
  u32 forks;     /* os_forks() of the process that has the threads */
  atomic_ullong stat_images, stat_launches, stat_steps, stat_rendezvous;
};

/* A launch that stands still. */
typedef struct launch_halted {
  status deadlock; /* nobody will ever come: who waits where */
  bool waits;      /* for members elsewhere, to be told to the transport */
  u64 begun, met;
} launch_halted;

/* launch.c: parts of the executor's table, and what it is made of. False: no memory. */
bool launcher_begin(launcher *on, const executor_ops *table, const launcher_ops *ops,
                    const allocator *mem);
void launcher_end(launcher *on);
bool launcher_is_here(const launcher *on); /* not in a forked child */
/* Refuses launches from now on, and waits for those under way. True: the first time. */
bool launcher_close(launcher *on);
status launcher_launch(executor *x, const executor_launch_args *args) MUST_USE;
bool launcher_fail(executor *x, void *user, status error);
void launcher_get_stats(executor *x, executor_stats *out_stats);
status launcher_image_create(executor *x, const program *prog, void (*release)(void *user),
                             void *user, executor_image **out_image) MUST_USE;
executor_image *launcher_image_retain(executor *x, executor_image *image);
void launcher_image_release(executor *x, executor_image *image);

/* The rows of an executor's table that are the same for all of this module. */
#define LAUNCHER_ROWS                                                                              \
  .trim = launcher_trim, .image_create = launcher_image_create,                                    \
  .image_retain = launcher_image_retain, .image_release = launcher_image_release,                  \
  .launch = launcher_launch, .get_stats = launcher_get_stats, .describe = launcher_describe,       \
  .fail = launcher_fail

/* Takes the status; wakes who is parked. Without the lock. */
void launch_fail(launch *l, status error);
/* By who took the last active place away, without the lock, with what launch_check found under it:
 * a deadlock fails the launch, a standstill is told to the transport. */
void launch_end_halt(launch *l, const launch_halted *h);
/* By one of those that keep the launch, without the lock; the last ends it. */
void launch_release(launch *l);
static inline void launch_halt(launch *l, const launch_halted *h) {
  if (h->deadlock || h->waits) launch_end_halt(l, h);
}
void place_finish(place *p);

/* place.c: of a launch that is traced, what p has done since `begin`; name empty: its step's. */
void place_tell(const place *p, trace_kind kind, str name, u64 begin);
/* Where p stops until somebody wakes it: while it is still the caller's, or under the lock. */
static inline void place_waits(place *p, u32 step) {
  if (!p->l->traced) return;
  p->waits = os_now_ns();
  p->waits_at = step;
}

/* channel.c: at the launch's end. */
void launch_drop_messages(launch *l);

/* place.c: runs a place until it parks, or is done. */
bool place_run(worker *w, place *p);
/* In tests, where the image has deaths: fills what nobody needs after the step that p is at. */
void place_poison(place *p);
/* What was outside is there: the place goes on, in its executor. Takes the error, which fails the
 * launch. Without the lock, from any thread, once. */
void place_resume(place *p, status error);

/* The place of a position; NULL: it runs elsewhere. */
static inline place *launch_place(const launch *l, u32 position) {
  u32 at = (l->numbers ? l->numbers[position] : position) - l->first;
  return at < l->n ? &l->places[at] : NULL;
}

/* p goes on: on the thread that runs its launch, or by the executor. The lock is held. */
void launch_wake(place *p);

/* meet.c: by a place that comes back from a transfer, which has been done or has failed. As
 * place_meet. */
bool place_met(worker *w, place *p, bool failed);
/* True: go on with the next step; false: parked (p may already run elsewhere). */
bool place_meet(worker *w, place *p);

/* wait.c; the lock is held */
/* Whether nobody is active, and nothing will come but from the transport. If so the launch is kept
 * alive until launch_halt has been called. */
launch_halted launch_stopped(launch *l);
static inline launch_halted launch_check(launch *l) {
  return l->active || l->error ? (launch_halted){0} : launch_stopped(l);
}
/* A line for each device of a launch that waits. */
void launch_describe(const launch *l, buf *out);
bool launcher_trim(executor *x);
void launcher_describe(executor *x, buf *out); /* of the executor's table; takes the lock */

#endif
