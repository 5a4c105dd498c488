/* What a program's call of a handler says besides its operands: the config of a prog_call whose
 * target is a handler's name. compile/ writes it, ffi/ reads it when the program is loaded. */
#ifndef FFI_SITE_H
#define FFI_SITE_H

#include "base/arena.h"
#include "base/buf.h"
#include "num/dtype.h"

typedef enum ffi_attr_kind {
  FFI_ATTR_SCALAR, /* one element of `type` */
  FFI_ATTR_ARRAY,  /* any number of them */
  FFI_ATTR_STRING,
  FFI_ATTR_DICT,
  FFI_ATTR_COUNT_
} ffi_attr_kind;

typedef struct ffi_attr {
  str name; /* in its dictionary */
  u32 kind, type;
  str bytes;       /* elements, dense; text */
  u32 num_entries; /* DICT */
  struct ffi_attr *entries;
} ffi_attr;

/* StableHLO's custom_call_api_version: below TYPED a call is a plain function, see ffi/ffi.h. */
enum { FFI_API_ORIGINAL = 1, FFI_API_STATUS, FFI_API_STATUS_UNIFIED, FFI_API_TYPED };

typedef struct ffi_site {
  u32 api_version;
  str opaque;          /* of calls that are not typed */
  ffi_attr attrs;      /* a dictionary */
  u32 device, devices; /* only positions p with p % devices == device; devices 0: all */
  u32 num_tokens;      /* operands, and behind them results, that are tokens; in order */
  u32 *tokens;
} ffi_site;

/* False: nested too deeply. Out of memory shows in the buffer. */
bool ffi_site_write(const ffi_site *s, buf *out) MUST_USE;
/* Copies into the arena. False: these bytes are no site. */
bool ffi_site_read(arena *a, str bytes, ffi_site *out);
bool ffi_is_site(str bytes); /* by how they begin */

#endif
