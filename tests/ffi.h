/* Handlers in XLA's FFI C ABI, for test programs: what all of them have to do, and registering. */
#ifndef TESTS_FFI_H
#define TESTS_FFI_H

#include "ffi/abi.h"
#include "tests/pjrt.h"

/* Every handler answers which version of the ABI it is built for. */
static inline bool asks_version(XLA_FFI_CallFrame *f) {
  if (!f->extension_start || f->extension_start->type != XLA_FFI_Extension_Metadata) return false;
  XLA_FFI_Metadata *m = ((XLA_FFI_Metadata_Extension *)f->extension_start)->metadata;
  m->api_version.major_version = XLA_FFI_API_MAJOR;
  m->api_version.minor_version = XLA_FFI_API_MINOR;
  return true;
}

static inline XLA_FFI_Buffer *arg(XLA_FFI_CallFrame *f, int i) { return f->args.args[i]; }
static inline XLA_FFI_Buffer *ret(XLA_FFI_CallFrame *f, int i) { return f->rets.rets[i]; }

static inline void *pointer_of(XLA_FFI_Handler *h) {
  void *p;
  memcpy(&p, &h, sizeof p);
  return p;
}

static inline PJRT_Error *add_handler(const char *name, const char *platform, XLA_FFI_Handler *h) {
  PJRT_FFI_Register_Handler_Args a = {.struct_size = PJRT_FFI_Register_Handler_Args_END,
                                      .target_name = name,
                                      .target_name_size = strlen(name),
                                      .handler = pointer_of(h),
                                      .platform_name = platform,
                                      .platform_name_size = strlen(platform)};
  return EXTENSION(FFI)->PJRT_FFI_Register_Handler(&a);
}

#endif
