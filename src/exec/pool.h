/* The workers of the processors' executor: private to cpu.c, pool.c and share.c. The launcher's
 * lock guards what is shared. */
#ifndef EXEC_POOL_H
#define EXEC_POOL_H

#include "exec/accel.h"
#include "exec/launch.h"

typedef struct exec_pool exec_pool;

/* A step shared out among workers; lives on the owner's stack. */
typedef struct job {
  step_fn *run;
  const void *data;
  exec_env env; /* its scratch and accelerator are the owner's: helpers use their own */
  size_t scratch;
  u64 units, chunk;
  bool flush;
  atomic_ullong next;
  atomic_uint helpers; /* changes under the lock */
  struct job *next_job;
} job;

struct worker {
  exec_pool *pool;
  pthread_t thread;
  char *scratch;
  size_t scratch_size;
  bool flushing; /* denormals, in this thread's control word */
  accel_thread accel;
};

struct exec_pool {
  launcher on;         /* first; its `idle` also says that a helper left a job */
  pthread_cond_t wake; /* something is ready, or a job open, or closing */
  place *ready, **ready_end;
  job *jobs;
  atomic_uint sleeping;   /* workers in cond_wait */
  atomic_uint unemployed; /* those, and workers about to */
  atomic_uint num_jobs;
  atomic_uint num_ready;
  atomic_uint watching; /* workers that look for transfers, and go on with what is ready */
  bool closing;         /* workers are to go */
  bool poisons;         /* see device/heap.h */
  exec_accelerator accel;
  u32 num_workers;
  worker *workers;
  worker guest; /* a thread that launches a short program */
  atomic_bool has_guest;
};

/* How long one looks again before sleeping, in ns: to be woken takes as long as the second. */
enum { SPIN_IDLE = 5000, SPIN_BUSY = 50000 };
static inline void cpu_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/* pool.c */
void pool_push_ready(place *p); /* the lock is held */
void pool_watch(launch *l, u64 met);
void *worker_main(void *arg); /* a worker's thread */

/* share.c */
/* Memory for a step; false: none. */
bool worker_reserve(worker *w, size_t bytes);
/* A step's units, on this worker and whoever is idle. */
void worker_do(worker *w, const exec_step *s, void *const *slots, bool flush);
void worker_rest(worker *w);
worker *worker_come(launcher *on);
void worker_leave(launcher *on, worker *w);
/* Helps with an open job, if there is one; called and returns with the lock held. */
bool worker_help(worker *w);

#endif
