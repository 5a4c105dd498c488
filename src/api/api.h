/* What the command line wants of the public API beyond it: an IR context that somebody else has
 * made, and functions of the host. */
#ifndef API_API_H
#define API_API_H

#include "device/executor.h"
#include "ir/op.h"
#include "net/wire.h"
#include "terrazzo/dialect.h"
#include "terrazzo/terrazzo.h"

/* A tz_context that lives in the arena of `ir` and uses its trap and its sink. Not to be freed. */
tz_context *api_context_of(ir_ctx *ir);
/* True if there is no error; otherwise it goes to the sink and is freed. */
bool api_report(ir_ctx *ir, tz_error *e);
bool api_report_of(ir_ctx *ir, const char *option, tz_error *e); /* "NAME: " goes before it */

/* For compile_options.extend: loads the dialects of a NULL-terminated list of paths. */
bool api_load_dialects(void *paths, ir_ctx *c);

/* Registers the ops of a context in another one. */
bool api_register_again(const tz_context *from, ir_ctx *c);

/* tz_run with functions of the host (device/executor.h), which may be NULL. */
tz_error *api_run(tz_runtime *r, const tz_program *p, const void *const *inputs,
                  void *const *outputs, const executor_host *host);

/* By value, for callers that are of one version with the library. */
static inline tz_tensor api_param(const tz_program *p, u32 i) {
  tz_tensor t = {TZ_SIZED(tz_tensor)};
  return tz_program_param(p, i, &t), t;
}
static inline tz_tensor api_result(const tz_program *p, u32 i) {
  tz_tensor t = {TZ_SIZED(tz_tensor)};
  return tz_program_result(p, i, &t), t;
}
static inline tz_stats api_stats(const tz_program *p) {
  tz_stats s = {TZ_SIZED(tz_stats)};
  return tz_program_stats(p, &s), s;
}

/* The runtime runs a part of every program's devices: that of this process, of those that the wire
 * joins, each of which calls tz_run with the same programs and inputs in the same order. All get
 * all results. Takes the wire, also where it fails. Before the first run. */
tz_error *api_join(tz_runtime *r, wire *w);

#endif
