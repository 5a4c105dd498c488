/* The public API over an IR context that somebody else has made, for the command line. */
#ifndef API_API_H
#define API_API_H

#include "ir/op.h"
#include "terrazzo/dialect.h"

/* A tz_context that lives in the arena of `ir` and uses its trap and its sink. Not to be freed. */
tz_context *api_context_of(ir_ctx *ir);
/* True if there is no error; otherwise it goes to the sink and is freed. */
bool api_report(ir_ctx *ir, tz_error *e);

#endif
