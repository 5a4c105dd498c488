/* Shared by the files of ffi/ only. */
#ifndef FFI_INSIDE_H
#define FFI_INSIDE_H

#include "ffi/ffi.h"
#include "ffi/site.h"

/* registry.c: what serves a name */
typedef struct ffi_handler {
  XLA_FFI_Handler_Bundle bundle; /* typed */
  void *untyped;
} ffi_handler;
/* False: nobody has registered it. */
bool ffi_find(str name, bool typed, ffi_handler *out);
/* False: there is no such type. */
bool ffi_type_deleter(i64 id, void (**out)(void *object));

/* threads.c: as ffi_threads_run, where a thread is idle, or there are fewer than processors. */
bool ffi_threads_try(ffi_threads *t, ffi_task *task) MUST_USE;

/* What a stage has made. */
typedef struct ffi_state {
  i64 type;
  void *object;
  void (*deleter)(void *object);
  bool set;
} ffi_state;
void ffi_state_end(ffi_state *s);

/* frame.c: errors of the ABI; takes e */
status ffi_status(XLA_FFI_Error *e);
XLA_FFI_Error *ffi_error(status s); /* takes s; NULL for NULL */

/* What a handler knows as its execution context: of one call of it. */
struct XLA_FFI_ExecutionContext {
  ffi_state *states[3];       /* by stage; NULL: none is kept here */
  const ffi_context *context; /* NULL: nothing */
  ffi_threads *threads;       /* NULL: none, at `instantiate` */
  i64 run_id;
  i32 device;
};
bool ffi_context_get(const ffi_context *c, i64 type, void **out);

XLA_FFI_DataType ffi_data_type(dtype t);

#endif
