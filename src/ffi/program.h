/* Shared by the files of ffi/ only: what a loaded program keeps of its calls. */
#ifndef FFI_PROGRAM_H
#define FFI_PROGRAM_H

#include "ffi/inside.h"

typedef struct ffi_call_site {
  ffi_handler handler;
  u32 api_version;
  str opaque;
  XLA_FFI_Attrs attrs;
  u32 device, devices; /* see ffi_site */
  u32 num_tokens;
  const u32 *tokens; /* operands, and behind them results */
  ffi_state state;   /* of `instantiate` */
} ffi_call_site;

struct ffi_program {
  atomic_int refs;
  arena memory; /* holds what follows */
  u32 num_sites;
  ffi_call_site *sites;
  bool keeps; /* some handler has stages of a launch */
};

/* One of the stages without operands; NULL where the handler has none. */
status ffi_stage(const ffi_call_site *site, XLA_FFI_ExecutionStage stage,
                 XLA_FFI_ExecutionContext *ctx) MUST_USE;

#endif
