/* Workers, queues and launches: private to cpu.c, pool.c, run.c and meet.c.
 *
 * One mutex guards all scheduling: queues of devices, the list of who is ready, rendezvous
 * counts. It is held for a few dozen instructions at a time, never during work or callbacks. */
#ifndef EXEC_POOL_H
#define EXEC_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/executor.h"
#include "device/heap.h"
#include "exec/accel.h"
#include "exec/image.h"

typedef struct exec_pool exec_pool;
typedef struct launch launch;

typedef enum place_state {
  PLACE_QUEUED, /* behind another launch, or waiting for the launch's events */
  PLACE_READY,
  PLACE_RUNNING,
  PLACE_PARKED,
  PLACE_MEETING, /* all have come, one does the work */
  PLACE_DONE
} place_state;

/* A device of a launch: where it is in the program. */
typedef struct place {
  launch *l;
  u32 position, device; /* in the launch; the key of its queue */
  u32 pc;
  place_state state;
  void **slots;
  void *workspace;
  struct place *next; /* in its queue */
  struct place *next_ready;
} place;

struct launch {
  exec_pool *pool;
  executor_image *image;
  const program *prog;
  u32 n;
  place *places;
  void **params, **results;
  u32 *arrived;        /* by group of the image */
  void *const **slots; /* by position, for collectives */
  u32 active;          /* places neither parked nor done */
  u32 unfinished;
  u32 events_left; /* and one for the launch call itself */
  bool ready;      /* all events are there */
  atomic_bool poisoned;
  status error; /* the first */
  void (*device_done)(void *user, u32 position, status error);
  void (*done)(void *user, status error);
  void *user;
  size_t bytes; /* of this allocation */
};

typedef struct queue {
  u32 device;
  place *head, *tail;
} queue;

/* A step shared out among workers; lives on the owner's stack. */
typedef struct job {
  step_fn *run;
  const void *data;
  exec_env env; /* its scratch and accelerator are the owner's: helpers use their own */
  size_t scratch;
  u64 units, chunk;
  bool flush;
  atomic_ullong next;
  u32 helpers;
  struct job *next_job;
} job;

typedef struct worker {
  exec_pool *pool;
  pthread_t thread;
  char *scratch;
  size_t scratch_size;
  bool flushing; /* denormals, in this thread's control word */
  accel_thread accel;
  u64 steps;
} worker;

struct exec_pool {
  executor base; /* first */
  const allocator *mem;
  dev_heap *heap;
  pthread_mutex_t lock;
  pthread_cond_t wake; /* something is ready, or a job open, or closing */
  pthread_cond_t idle; /* a launch ended; a helper left a job */
  place *ready, **ready_end;
  queue *queues; /* open addressing by device */
  u32 num_queues, cap_queues;
  job *jobs;
  u32 launches;           /* alive */
  atomic_uint sleeping;   /* workers in cond_wait */
  atomic_uint unemployed; /* those, and workers about to */
  atomic_uint num_jobs;
  atomic_uint num_ready;
  bool stopping; /* no launches any more */
  bool closing;  /* workers are to go */
  bool poisons;  /* see device/heap.h */
  u32 forks;     /* os_forks() of the process that has the workers */
  exec_accelerator accel;
  u32 num_workers;
  worker *workers;
  atomic_ullong stat_launches, stat_steps, stat_rendezvous;
};

/* run.c: runs a place until it parks, or is done. */
void place_run(worker *w, place *p);
/* In tests: fills what nobody needs after the step that p is at. */
void place_poison(place *p);
/* Memory for a step; false: none. */
bool worker_reserve(worker *w, size_t bytes);
/* A step's units, on this worker and whoever is idle. */
void worker_do(worker *w, const exec_step *s, void *const *slots, bool flush);
void worker_set_flush(worker *w, bool on);
/* Helps with an open job, if there is one; called and returns with the lock held. */
bool worker_help(worker *w);

/* pool.c: the launch of the executor's table, and a worker's thread. */
status pool_launch(executor *x, const executor_launch_args *args) MUST_USE;
void *worker_main(void *arg);

/* pool.c; the lock is held */
void pool_push_ready(exec_pool *pool, place *p);
/* Takes the status. Without the lock. */
void launch_fail(launch *l, status error);
/* The same, by who found the deadlock and holds the launch for it. */
void launch_deadlocked(launch *l, status error);
void place_finish(place *p);

/* meet.c: true: go on with the next step; false: parked (p may already run elsewhere). */
bool place_meet(worker *w, place *p);
/* Everyone is parked: the error that says who waits where. The lock is held. */
status launch_deadlock(launch *l);

#endif
