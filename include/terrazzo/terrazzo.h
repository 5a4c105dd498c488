/* Terrazzo's C API: compile a StableHLO program with Shardy shardings, and run it on N virtual
 * devices of this machine.
 *
 *   tz_program *p;
 *   tz_compile_options o = {TZ_SIZED(tz_compile_options), .devices = 8};
 *   tz_error *e = tz_compile(text, length, &o, &p);
 *   if (e) { puts(tz_error_message(e)); tz_error_free(e); return; }
 *   tz_runtime *r;
 *   e = tz_runtime_create(0, &r);
 *   const void *in[] = {x, w};  void *out[] = {y};   global arrays, row-major
 *   e = tz_run(r, p, in, out);
 *
 * Ownership: what a function puts out through `out_...` is the caller's, until the _free of its
 * kind. Strings and arrays that a getter returns belong to the object and live as long as it.
 * Errors: NULL means fine; otherwise the error is the caller's to free, and what was to be put out
 * is NULL. A handle that is NULL is an error; getters answer 0, "" or NULL to it, and to a number
 * out of range.
 *
 * The head of each part of these headers says which threads may call its functions, and for which
 * of them it is otherwise; docs/threads.md lists all. Where it is any, no lock of the caller's is
 * needed.
 *
 * Threads: any, several at once. */
#ifndef TERRAZZO_TERRAZZO_H
#define TERRAZZO_TERRAZZO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "terrazzo/version.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TZ_API __attribute__((visibility("default")))

TZ_API const char *tz_version(void); /* "0.1.0" */

/* ---- errors ----
 *
 * Threads: any; one error, which belongs to whoever got it, by one at a time. */

typedef struct tz_error tz_error;
/* absl's and PJRT's codes: 1 cancelled, 3 invalid argument, 8 out of memory, 12 not implemented, 13
 * a fault of Terrazzo's own, ...; 0 of NULL. */
TZ_API int tz_error_code(const tz_error *e);
/* Lines of `file:line:col: error: ...` where the program is at fault; "" of NULL. */
TZ_API const char *tz_error_message(const tz_error *e);
TZ_API void tz_error_free(tz_error *e); /* NULL is fine */

/* ---- compiling ----
 *
 * Threads: any, several at once; a program is immutable, so that they may share it. `dump` is
 * called by the thread that compiles.
 * Threads, tz_program_free: any, as the last call on the program.
 * Threads, tz_free: any, several at once. */

/* A message about one of these begins with the field's name. */
typedef struct tz_compile_options {
  size_t struct_size;        /* TZ_SIZED(tz_compile_options) */
  const char *file;          /* the name that diagnostics use; NULL: "-" */
  uint32_t devices;          /* 0: as many as the module says */
  const char *const *meshes; /* "mesh=x=2,y=2" replaces @mesh; NULL-terminated; NULL: none */
  const char *const *shapes; /* of the arguments, "2x3" ("" for a scalar) one each, for a program
                                that leaves sizes open; NULL-terminated; NULL: not given */
  bool flush_denormals;      /* as XLA:CPU does; StableHLO keeps them */
  /* Called after each stage with its name and the module as text; NULL: never. */
  void (*dump)(void *user, const char *stage, const char *text, size_t length);
  void *dump_user;
  /* Where propagation could have taken an axis along another dimension of a result that has at
   * least so many bytes, the choice that costs less is taken; @main's own shardings stay those of
   * Shardy's propagation. 0: 65536; UINT64_MAX: never. */
  uint64_t choose_from;
  /* Shared objects with dialects (terrazzo/dialect.h); NULL-terminated; NULL: none. An op of theirs
   * without regions runs by the handler of its name, which gets its attributes. */
  const char *const *dialects;
  /* Which ops propagate first, as tz_context_set_op_priorities takes it (terrazzo/dialect.h); NULL:
   * the usual order. */
  const char *op_priorities;
} tz_compile_options;

typedef struct tz_program tz_program;

/* Compiles MLIR text, MLIR bytecode or a portable artifact; options may be NULL. */
TZ_API tz_error *tz_compile(const char *source, size_t length, const tz_compile_options *options,
                            tz_program **out_program);
TZ_API void tz_program_free(tz_program *p); /* NULL is fine; runs under way keep it */

/* How a global array lies on the devices. */
typedef struct tz_tensor {
  size_t struct_size;
  const char *type;    /* element type as MLIR spells it: "f32" */
  size_t element_size; /* bytes */
  uint32_t rank;
  const int64_t *dims;       /* of the global array */
  const int64_t *local_dims; /* of each device's piece */
  const char *sharding;      /* "#sdy.sharding<...>"; "" if replicated */
  size_t bytes;              /* of the global array */
} tz_tensor;

TZ_API uint32_t tz_program_devices(const tz_program *p);
TZ_API uint32_t tz_program_num_params(const tz_program *p);
TZ_API uint32_t tz_program_num_results(const tz_program *p);
/* False: there is no such parameter or result, or struct_size is not set. */
TZ_API bool tz_program_param(const tz_program *p, uint32_t i, tz_tensor *out_tensor);
TZ_API bool tz_program_result(const tz_program *p, uint32_t i, tz_tensor *out_tensor);

/* Collective operations of the program. A loop's body counts once. */
typedef struct tz_collective {
  const char *kind; /* "all_reduce" */
  uint32_t count;
  uint64_t bytes; /* that one device hands in */
} tz_collective;
typedef struct tz_stats {
  size_t struct_size;
  uint32_t steps;
  uint64_t workspace, constants; /* bytes a device */
  tz_collective collectives[8];
  uint32_t num_collectives; /* kinds that occur */
  uint64_t params, results; /* bytes a device; donated ones count as both */
  /* Of one run on one device, from shapes; a loop's body counts once, and both sides of a branch.
   */
  double flops;           /* arithmetic and comparisons; a product with its sum is two */
  double transcendentals; /* those that cost many times an addition */
  double bytes;           /* read and written by the steps */
} tz_stats;
TZ_API bool tz_program_stats(const tz_program *p, tz_stats *out_stats); /* false: as above */
/* The steps that every device runs, as text; NULL: no memory. Free with tz_free. */
TZ_API char *tz_program_text(const tz_program *p);
TZ_API void tz_free(void *p); /* NULL is fine */

/* ---- running ----
 *
 * Threads: any, several at once on one runtime, which locks for itself; also on one program.
 * Threads, tz_runtime_free: any, as the last call on the runtime. */

typedef struct tz_runtime tz_runtime;
TZ_API tz_error *tz_runtime_create(uint32_t threads /* 0: one a processor */,
                                   tz_runtime **out_runtime);
/* By the name of an executor: "cpu", or "plain", which takes one device after the other on one
 * thread and is for debugging. NULL, and above: what TERRAZZO_EXECUTOR says, else "cpu". */
TZ_API tz_error *tz_runtime_create_on(const char *executor, uint32_t threads,
                                      tz_runtime **out_runtime);
TZ_API void tz_runtime_free(tz_runtime *r); /* waits for its runs; NULL is fine */

/* Shards the inputs, runs, puts the outputs together; returns when done. Arrays are global,
 * row-major, dense, of tz_program_param(i).bytes. A failed collective names who waits where. */
TZ_API tz_error *tz_run(tz_runtime *r, const tz_program *p, const void *const *inputs,
                        void *const *outputs);

/* ---- arrays that stay on the devices, and runs that do not wait ----
 *
 * A buffer is an array in the pieces in which a program takes or gives it. It belongs to the
 * devices of one runtime; any thread may use it, and it may be freed when the caller needs it no
 * longer, whoever still computes with it.
 *
 * Threads: any, several at once on one runtime, program and buffer.
 * Threads, tz_start: any, several at once; but what it is given, nobody else uses meanwhile.
 * Threads, tz_buffer_free: any, as the last call of the caller's on the buffer. */

typedef struct tz_buffer tz_buffer;

/* A global array, as for tz_run, laid out as p takes parameter i. The array is read before this
 * returns; NULL: it has no elements. */
TZ_API tz_error *tz_buffer_create(tz_runtime *r, const tz_program *p, uint32_t i, const void *data,
                                  tz_buffer **out_buffer);
TZ_API void tz_buffer_free(tz_buffer *b);                                /* NULL is fine */
TZ_API bool tz_buffer_tensor(const tz_buffer *b, tz_tensor *out_tensor); /* as tz_program_param */

/* Hands a run in, and returns: it begins when the inputs are there, in the order of the calls where
 * several want the same devices. outputs[k] becomes result k, to be used as an input, or read, at
 * once. An error in the run is that of all its results, and of the runs that take these.
 * Inputs must lie as the program takes them, else the message says how they do.
 *
 * give (NULL: nothing) says which inputs the caller needs no longer: a program that takes over a
 * parameter's memory for a result writes there, and the buffer is of no use any more but to be
 * freed. Where such an input is not given, the result gets a copy, for which the call waits until
 * the input is there. Nobody else may be reading what is given. */
TZ_API tz_error *tz_start(tz_runtime *r, const tz_program *p, tz_buffer *const *inputs,
                          const bool *give, tz_buffer **outputs);

TZ_API bool tz_buffer_is_ready(const tz_buffer *b); /* or failed; true of NULL */
TZ_API tz_error *tz_buffer_await(tz_buffer *b);     /* how its run went */
/* Waits for it, and puts the global array together in `data` (tz_buffer_tensor's bytes). */
TZ_API tz_error *tz_buffer_read(tz_buffer *b, void *data);

/* ---- functions of the host ----
 *
 * Threads: any, several at once. A handler is called by threads of the runtime, several at once,
 * too. */

/* A function that programs call by name, with stablehlo.custom_call of API version 4: an
 * XLA_FFI_Handler of XLA's FFI C ABI (xla/ffi/api/c_api.h, which jaxlib ships), which may block. In
 * the process, for good; by when a program that calls it is run for the first time. */
TZ_API tz_error *tz_register_handler(const char *name, void *handler);

#ifdef __cplusplus
}
#endif
#endif
