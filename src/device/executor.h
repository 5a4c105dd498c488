/* The executor: what holds the memory of devices and runs programs on them, behind one table.
 *
 * Clients, buffers, the PJRT plugin and the C API know an executor by this header alone; src/exec
 * has two of them (exec/exec.h). Whoever writes another fills in an executor_ops and passes
 * src/exec/conformance_test.c.
 *
 * Devices are numbers: keys of queues and places of memory, given by the caller. A program runs at
 * positions, 0 .. program_num_devices - 1; a launch says which device plays which position.
 *
 * Memory is a handle, never an address: bytes go in and out through `write`, `read` and `copy`, and
 * an address is to be had from `map` alone. What lies in it is dense and row-major.
 *
 * Ownership: what a function puts out is the caller's until the function of the opposite name takes
 * it back; arrays that are handed in are copied, memories and images in them are not, and stay
 * valid as said below. An executor is counted; images and memories of it go before its last
 * reference does.
 *
 * Threads: every function may be called from any thread at any time, except where it says
 * otherwise. Callbacks run on a worker, or within `launch` on the thread that calls it where a
 * program is very short, with no lock held; they may launch, set events and release, and must not
 * wait (executor_on_worker). An executor belongs to the process that made it: in a
 * forked child launches fail, and stopping it does nothing.
 *
 * Errors: a `status`; out of memory is RESOURCE_EXHAUSTED, or NULL from a function that puts out a
 * handle. Misuse (a memory of another executor, offsets outside of one) is the caller's fault and
 * need not be told; the plain executor tells. */
#ifndef DEVICE_EXECUTOR_H
#define DEVICE_EXECUTOR_H

#include <stdatomic.h>

#include "base/buf.h"
#include "device/event.h"
#include "num/dtype.h"

typedef struct program program; /* program/program.h */
typedef struct executor executor;
typedef struct executor_memory executor_memory;
typedef struct executor_image executor_image;

/* How an array lies at the host: type, dimensions, byte strides of any sign (NULL: dense). */
typedef struct executor_array {
  dtype type;
  i64s dims;
  const i64 *byte_strides;
} executor_array;

/* How members of a collective meet that run on different executors, in this process or others. Each
 * has a part of the launch: positions of its own. The executor that does not share its launches
 * needs none. exec/hub.h has one for executors of one process. */
typedef struct executor_transport executor_transport;
typedef struct executor_exchange executor_exchange;

typedef struct executor_range { /* bytes [begin, end) */
  size_t begin, end;
} executor_range;

/* One meeting, as one executor sees it whose members have all come. */
struct executor_exchange {
  u64 launch;       /* executor_launch_args.id; with the next three, what the others call it too */
  u32 step, group;  /* of one group at one step there is at most one meeting at a time ... */
  u32 phase;        /* ... or one after the other, in phases */
  u32 first, count; /* the positions that are ours */
  u32 num_members;  /* of the group */
  const u32 *members;  /* their positions */
  u32 num_parts;       /* operands that each member hands in */
  const size_t *bytes; /* of each */
  /* What members [first, first + count) look at of an operand of `from`, or more than that; all
   * parts of the launch give the same answers. NULL: all of it. */
  executor_range (*needs)(const executor_exchange *x, u32 from, u32 part, u32 first, u32 count);
  const void *of; /* for `needs` */
  /* [member * num_parts + part], at the host. Ours are there to be read until `done`. The others'
   * are set by the transport when it calls that, and may be read until `release`: as if all of the
   * operand lay there, but only as far as ours need it. */
  void **parts;
  void (*done)(void *user, status error); /* `error` is borrowed */
  void *user;
  executor_exchange *next; /* these are the transport's */
  void *held;
};

/* What an executor says when nothing of its part of a launch goes on before a meeting is done. */
typedef struct executor_standstill {
  /* Of this part: meetings that were handed to `exchange` (a call may still be on its way), and
   * those of them that have been done. Where the transport has counted more, this is the past. */
  u64 begun, done;
  void (*describe)(const void *user, buf *out); /* appends a line for each device that waits */
  const void *user;                             /* both are good while this is the present */
} executor_standstill;

typedef struct executor_transport_ops {
  /* Positions [first, first + count) of all those of a launch run here. */
  status (*join)(executor_transport *t, u64 launch, u32 first, u32 count, u32 all) MUST_USE;
  /* Returns at once; done is called once, from any thread, maybe before that: when the others'
   * parts are there and ours are needed no longer, or it is known that this will not be. Until
   * then all that x points to stays. */
  void (*exchange)(executor_transport *t, executor_exchange *x);
  /* Once, after `done` of it: the others' parts are read no longer. */
  void (*release)(executor_transport *t, executor_exchange *x);
  /* The launch has failed on these positions: so do all its meetings, under way or to come. At most
   * once; `error` is borrowed. */
  void (*fail)(executor_transport *t, u64 launch, u32 first, status error);
  /* All of these positions that are not through wait, and for no other thing than meetings. When
   * that holds of every part of the launch that has not left, and no meeting is complete, it is a
   * deadlock: all of them fail with INTERNAL and every part's lines. */
  void (*stand)(executor_transport *t, u64 launch, u32 first, const executor_standstill *s);
  /* Who waits for meetings and has nothing else to do may look whether something has come, again
   * and again: others wake nobody where they know that somebody looks, from listen(true) to
   * listen(false), by any number of threads. NULL in the table: there is nothing to look at. */
  void (*listen)(executor_transport *t, bool on);
  void (*look)(executor_transport *t);
  /* These positions are through and come to no meeting any more: one that wants for them fails.
   * Once, the last call for them. */
  void (*leave)(executor_transport *t, u64 launch, u32 first);
} executor_transport_ops;

struct executor_transport {
  const executor_transport_ops *ops;
};

/* A call of the program's that the host does (program/program.h, prog_call). */
typedef struct executor_operand {
  dtype type;
  i64s dims;
  void *data; /* at the host, dense, row-major */
} executor_operand;

typedef struct executor_call executor_call;
struct executor_call {
  str target, config;
  i64s params;
  u32 position; /* who calls */
  u32 num_in, num_out;
  const executor_operand *in, *out;
  /* To be called once, from any thread, when every output is written and the operands are needed no
   * longer. Takes the error, which fails the launch, and ends the executor_call. */
  void (*done)(executor_call *call, status error);
};

typedef struct executor_host {
  /* On a worker: it may begin and return. NULL: there are no functions, and calls fail. */
  void (*call)(void *user, executor_call *call);
  void *user;
} executor_host;

typedef struct executor_launch_args {
  executor_image *image; /* this executor's; retained until done */
  /* The positions that run here: `count` from `first` on; count 0: all. The others run on the
   * executors that `transport` reaches, under the same id, which no other launch of the transport
   * has. It outlives the launch. NULL: there are none, or none that wait for each other
   * (program_meets). */
  u32 first, count;
  /* By position: its number, where positions that run together are not in a row. `first`, `devices`
   * and all that follows, and what the transport and device_done are told, then count numbers; each
   * is some position's, and all parts have the same. Copied. NULL: a position is its own number. */
  const u32 *numbers;
  executor_transport *transport;
  u64 id;
  executor_host host; /* valid until done */
  str name;           /* the program's, for traces (base/trace.h); valid until done */
  /* One each position that runs here: devices[i] is who plays position first + i. Any numbers,
   * distinct; they are the keys of the queues: launches on one device run in the order of the
   * calls. */
  const u32 *devices;
  /* [i * num_params + k] and [i * num_results + k]: memory of each argument and result of position
   * first + i, valid until `done`. A result with an alias gets the same memory as its parameter;
   * where a caller cannot give that up (not donated), it copies the argument into the result's
   * memory first and passes that for both. */
  executor_memory *const *params;
  executor_memory *const *results;
  /* Events that must be ready before any device starts; retained. An error in one fails the
   * launch with it. */
  dev_event *const *wait_for;
  u32 num_wait;
  /* Once per position that runs here, as soon as its results are there (or it failed); then done,
   * once, after the last. `error` is borrowed, NULL when fine. Either may be NULL. */
  void (*device_done)(void *user, u32 position, status error);
  void (*done)(void *user, status error);
  void *user;
} executor_launch_args;

/* Counters since the executor was made. */
typedef struct executor_stats {
  u64 images, launches, steps, rendezvous;
} executor_stats;

/* One a kind of executor, constant. */
typedef struct executor_ops {
  const char *name; /* as options and TERRAZZO_EXECUTOR spell it */

  /* Waits until every launch is done and ends the threads; launches that come later fail with
   * FAILED_PRECONDITION. Images and memories stay good. Once more is fine. Not from a callback. */
  void (*stop)(executor *x);
  void (*destroy)(executor *x); /* by the last reference, after stop */

  /* ---- memory ---- */

  /* Bytes on a device, not cleared, 0 of them is fine. */
  executor_memory *(*alloc)(executor *x, u32 device, size_t bytes);
  void (*free)(executor *x, executor_memory *m, size_t bytes); /* as many as were asked for */
  /* Memory of the host's, aligned to 16, as a device's, until it is forgotten; it stays its
   * owner's. NULL: none to be had, or a device cannot use it. */
  executor_memory *(*import)(executor *x, u32 device, void *data, size_t bytes);
  void (*forget)(executor *x, executor_memory *m);
  /* A host's array into memory at an offset in bytes, and out of it; done when they return. Of
   * pred, what is not 0 becomes 1 on the way in. */
  status (*write)(executor *x, executor_memory *to, size_t offset, const executor_array *a,
                  const void *from) MUST_USE;
  status (*read)(executor *x, executor_memory *from, size_t offset, const executor_array *a,
                 void *to) MUST_USE;
  /* The first bytes of one memory to another that it does not overlap, on whatever devices. */
  status (*copy)(executor *x, executor_memory *to, executor_memory *from, size_t bytes) MUST_USE;
  /* Where the host sees the bytes, for as long as the memory lives. It may look while no launch
   * writes them, and write while no launch uses them. NULL in the table: this executor cannot. */
  void *(*map)(executor *x, executor_memory *m);

  /* Gives memory back to the system that is kept for later and has not been asked for in a second.
   * true: more may go in another one. NULL in the table: none is kept. */
  bool (*trim)(executor *x);

  /* ---- images ---- */

  /* A program made ready to run. Counted, immutable. It borrows the program until its last
   * reference goes; then release(user) is called (may be NULL). UNIMPLEMENTED names a step that
   * this executor cannot run. On failure release is not called. */
  status (*image_create)(executor *x, const program *prog, void (*release)(void *user), void *user,
                         executor_image **out_image) MUST_USE;
  executor_image *(*image_retain)(executor *x, executor_image *image); /* returns image */
  void (*image_release)(executor *x, executor_image *image);           /* NULL is fine */

  /* ---- launches, events and collectives ---- */

  /* Enqueues on all its devices at once, so that any two launches meet everywhere in one order;
   * returns at once. If it returns an error no callback is called.
   *
   * Devices that are members of a collective meet in it; what it computes does not depend on who
   * comes when. Errors of the run: a device that fails poisons its launch; all of those that are
   * not through waiting for each other is a deadlock, at once reported as INTERNAL with a line per
   * device that says where it waits. */
  status (*launch)(executor *x, const executor_launch_args *args) MUST_USE;
  /* The launch under way that was given this `user` fails, as if one of its devices had; those that
   * wait for events hear of it when they have come. True: there is one that had not failed, nor was
   * through on every device. Takes the error. */
  bool (*fail)(executor *x, void *user, status error);
  /* Appends a line for each device of a launch under way that waits, and what for: a launch ahead
   * of it, an event, a collective and who is missing there, the host, a transfer. For people. */
  void (*describe)(executor *x, buf *out);
  void (*get_stats)(executor *x, executor_stats *out_stats);
} executor_ops;

/* What every executor begins with. */
struct executor {
  const executor_ops *ops;
  atomic_int refs;
};

void executor_begin(executor *x, const executor_ops *ops); /* one reference */
executor *executor_retain(executor *x);                    /* returns x */
void executor_release(executor *x); /* NULL is fine; the last stops it: not from a callback */

/* The calling thread is a worker of some executor, if only while it runs what it launched: there it
 * runs a callback and must not wait. */
bool executor_on_worker(void);
void executor_set_worker(bool is); /* by a thread that becomes one, or was one */

/* What memory at the host's own addresses does for `write` and `read`. */
void executor_host_write(void *to, const executor_array *a, const void *from);
void executor_host_read(const void *from, const executor_array *a, void *to);

/* ---- the table's functions ---- */

static inline void executor_stop(executor *x) { x->ops->stop(x); }
static inline executor_memory *executor_alloc(executor *x, u32 device, size_t bytes) {
  return x->ops->alloc(x, device, bytes);
}
static inline void executor_free(executor *x, executor_memory *m, size_t bytes) {
  x->ops->free(x, m, bytes);
}
static inline executor_memory *executor_import(executor *x, u32 device, void *data, size_t bytes) {
  return x->ops->import(x, device, data, bytes);
}
static inline void executor_forget(executor *x, executor_memory *m) { x->ops->forget(x, m); }
static inline status executor_write(executor *x, executor_memory *to, size_t offset,
                                    const executor_array *a, const void *from) {
  return x->ops->write(x, to, offset, a, from);
}
static inline status executor_read(executor *x, executor_memory *from, size_t offset,
                                   const executor_array *a, void *to) {
  return x->ops->read(x, from, offset, a, to);
}
static inline status executor_copy(executor *x, executor_memory *to, executor_memory *from,
                                   size_t bytes) {
  return x->ops->copy(x, to, from, bytes);
}
static inline bool executor_can_map(const executor *x) { return x->ops->map != NULL; }
static inline void *executor_map(executor *x, executor_memory *m) {
  return x->ops->map ? x->ops->map(x, m) : NULL;
}
static inline bool executor_trim(executor *x) { return x->ops->trim && x->ops->trim(x); }
static inline status executor_image_create(executor *x, const program *prog,
                                           void (*release)(void *user), void *user,
                                           executor_image **out_image) {
  return x->ops->image_create(x, prog, release, user, out_image);
}
static inline executor_image *executor_image_retain(executor *x, executor_image *image) {
  return x->ops->image_retain(x, image);
}
static inline void executor_image_release(executor *x, executor_image *image) {
  x->ops->image_release(x, image);
}
static inline status executor_launch(executor *x, const executor_launch_args *args) {
  return x->ops->launch(x, args);
}
static inline bool executor_fail(executor *x, void *user, status error) {
  return x->ops->fail(x, user, error);
}
static inline void executor_describe(executor *x, buf *out) { x->ops->describe(x, out); }
static inline void executor_get_stats(executor *x, executor_stats *out_stats) {
  x->ops->get_stats(x, out_stats);
}

#endif
