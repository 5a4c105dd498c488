/* The executor: N devices run one program on one pool of workers.
 *
 * A device is not a thread: it is a position in a program that any worker resumes. At a
 * collective it parks until its group has arrived; the last to arrive does the work on the
 * members' buffers. So any number of devices runs on any number of workers, and results do
 * not depend on either.
 *
 * All functions are thread-safe. Callbacks run on a worker with no lock held; they may launch,
 * set events and release, and must not block. A pool belongs to the process that made it: in a
 * forked child launches fail and destroying it does nothing. */
#ifndef EXEC_EXEC_H
#define EXEC_EXEC_H

#include "base/status.h"
#include "device/event.h"
#include "program/program.h"

typedef struct exec_pool exec_pool;
typedef struct exec_image exec_image;

typedef struct exec_pool_options {
  const allocator *mem; /* NULL: mem_system; must outlive the pool */
  u32 threads;          /* 0: os_cpu_count() */
} exec_pool_options;

/* Starts the workers. Reads TERRAZZO_ONEDNN (0: never load oneDNN). */
status exec_pool_create(const exec_pool_options *options, exec_pool **out_pool) MUST_USE;
/* Waits until every launch is done, stops the workers, frees. Not from a callback. */
void exec_pool_destroy(exec_pool *pool);
u32 exec_pool_threads(const exec_pool *pool);
/* The calling thread is a worker of some pool: it runs a callback and must not wait for one. */
bool exec_on_worker(void);

/* A program made ready to run: kernels chosen, loops flattened. Refcounted, immutable. It
 * borrows the program until its last reference goes; then release(user) is called (may be
 * NULL). On failure release is not called. */
status exec_image_create(const allocator *mem, const program *prog, void (*release)(void *user),
                         void *user, exec_image **out_image) MUST_USE;
exec_image *exec_image_retain(exec_image *image);
void exec_image_release(exec_image *image);
const program *exec_image_program(const exec_image *image);

typedef struct exec_launch_args {
  exec_image *image; /* retained until done */
  /* program_num_devices() of them: devices[i] is who plays position i. Any numbers, distinct;
   * they are the keys of the queues: launches on one device run in the order of exec_launch. */
  const u32 *devices;
  /* [position * num_params + k] and [position * num_results + k]: memory of each argument and
   * result, aligned to 16 bytes at least, valid until `done`. A result with an alias gets the
   * same pointer as its parameter; where a caller cannot give that up (not donated), it copies
   * the argument into the result's memory first and passes that for both. */
  void *const *params;
  void *const *results;
  /* Events that must be ready before any device starts; retained. An error in one fails the
   * launch with it. */
  dev_event *const *wait_for;
  u32 num_wait;
  /* Once per position, as soon as its results are there (or it failed); then done, once, after
   * the last. `error` is borrowed, NULL when fine. Either may be NULL. */
  void (*device_done)(void *user, u32 position, status error);
  void (*done)(void *user, status error);
  void *user;
} exec_launch_args;

/* Enqueues on all its devices at once, so that any two launches meet everywhere in one order;
 * returns at once. All arrays are copied. If it returns an error no callback is called.
 *
 * Errors of the run: a device that fails poisons its launch; everyone parked is a deadlock, at
 * once reported as INTERNAL with a line per device that says where it waits. */
status exec_launch(exec_pool *pool, const exec_launch_args *args) MUST_USE;

/* Counters since the pool was created. */
typedef struct exec_pool_stats {
  u64 launches, steps, rendezvous;
} exec_pool_stats;
void exec_pool_get_stats(exec_pool *pool, exec_pool_stats *out_stats);

#endif
