/* What we use of xla.CompileOptionsProto, which comes with every program. */
#ifndef PJRT_OPTIONS_H
#define PJRT_OPTIONS_H

#include "base/arena.h"
#include "base/status.h"

typedef struct api_options {
  u32 num_replicas, num_partitions; /* 0: not said */
  /* The device of (replica, partition) at [replica * num_partitions + partition]; NULL: none
   * given. Each occurs once. */
  const u32 *assignment;
  const char *dump_to; /* xla_dump_to; NULL: not said */
} api_options;

/* Bytes of no sense, an assignment that contradicts the counts, or a compiler option of the
 * user's that nobody knows: INVALID_ARGUMENT. Everything else is skipped. `a` must have its trap
 * set. */
bool api_flag_is_bool(str name); /* flags.c */
status api_options_read(arena *a, str bytes, api_options *out_options) MUST_USE;

#endif
