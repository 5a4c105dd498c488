/* Handlers: functions of others that programs call by name, in XLA's FFI C ABI (ffi/abi.h).
 *
 * Registered in the process, as the ABI has it. A program that is loaded looks its handlers up and
 * lets them make their state (ffi_program); a launch of it brings ffi_call as the host's function
 * (device/executor.h). A handler may block, on Python's lock for one: it runs on a thread of the
 * client's ffi_threads while the place that called it is outside, so that neither a worker nor
 * another device waits for it. What it returns, or sets its future to, ends the call; an error
 * fails the launch.
 *
 *   register ... ffi_program_create ... per launch: ffi_run_begin, ffi_call *, ffi_run_end
 *
 * Stages: `instantiate` when the program is loaded, without operands; `prepare` and `initialize` at
 * a device's first call from that place of the program in a launch; `execute` at each. State that
 * the first makes lives as long as the program, that of the other two as long as the launch.
 *
 * A call of an API version below 4 is of a function void(void *out, const void **in), which from
 * version 2 on takes a status, and from 3 on its opaque text and length in front of that. `out` is
 * the result, or where there are several (or none) a list of them.
 *
 * Threads: everything may be called from any thread. */
#ifndef FFI_FFI_H
#define FFI_FFI_H

#include "device/executor.h"
#include "ffi/abi.h"
#include "program/program.h"

/* ---- the process's registry ---- */

/* Platforms are ours, or the CPU by XLA's names; others are INVALID_ARGUMENT. A name that is taken
 * by something else is ALREADY_EXISTS. A typed handler is asked for the version it was built for.
 */
status ffi_register(str name, str platform, const XLA_FFI_Handler_Bundle *bundle) MUST_USE;
status ffi_register_untyped(str name, str platform, void *function) MUST_USE;
bool ffi_serves(str name); /* a typed handler of that name is registered */
/* Of objects that handlers keep as state. *id 0 is replaced by a fresh one. `deleter` may be NULL.
 */
status ffi_register_type(str name, i64 *id, void (*deleter)(void *object)) MUST_USE;
const XLA_FFI_Api *ffi_api(void); /* the table that handlers get */

/* ---- what who executes tells its handlers ---- */

typedef struct ffi_context ffi_context;          /* counted */
ffi_context *ffi_context_create(void);           /* NULL: no memory */
ffi_context *ffi_context_retain(ffi_context *c); /* NULL is fine; returns c */
void ffi_context_release(ffi_context *c);        /* NULL is fine */
/* A pointer by type; ALREADY_EXISTS. It stays its owner's. */
status ffi_context_add(ffi_context *c, i64 type, void *data) MUST_USE;

/* ---- threads ---- */

typedef struct ffi_threads ffi_threads;
ffi_threads *ffi_threads_create(void); /* none yet; NULL: no memory */
/* When no call is under way; waits for the threads, which are idle. NULL is fine. In a forked child
 * there are none. */
void ffi_threads_destroy(ffi_threads *t);

/* A task is its owner's, who may free it from within `run`. */
typedef struct ffi_task {
  void (*run)(struct ffi_task *task);
  struct ffi_task *next;
} ffi_task;
/* On a thread of its own: an idle one, else a new one. It runs later where there can be no more
 * threads. RESOURCE_EXHAUSTED: there is none at all. */
status ffi_threads_run(ffi_threads *t, ffi_task *task) MUST_USE;

/* ---- a program's handlers ---- */

typedef struct ffi_program ffi_program; /* counted */
/* NOT_FOUND names the call and the handler that nobody registered; what `instantiate` says comes
 * back. *out is NULL for a program that calls none, which the functions below take. */
status ffi_program_create(const program *p, ffi_program **out) MUST_USE;
ffi_program *ffi_program_retain(ffi_program *p); /* returns p */
void ffi_program_release(ffi_program *p);

/* ---- a launch ---- */

typedef struct ffi_run ffi_run;
typedef struct ffi_run_args {
  ffi_program *program;
  ffi_threads *threads; /* outlives the run */
  ffi_context *context; /* NULL: nothing */
  i64 id;
  u32 num_positions;
  const u32 *devices; /* by position; copied */
  executor_host host; /* for calls that are of no handler */
} ffi_run_args;
/* *out_host: what the launch brings. *out_run is NULL for a program that calls no handlers. */
status ffi_run_begin(const ffi_run_args *args, ffi_run **out_run, executor_host *out_host) MUST_USE;
void ffi_run_end(ffi_run *r); /* when the launch is done, or was not to be; NULL is fine */

#endif
