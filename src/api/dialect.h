/* Inside api only: ops of foreign dialects, between their callbacks and the compiler's hooks. */
#ifndef API_DIALECT_H
#define API_DIALECT_H

#include "api/context.h"
#include "partition/record.h"
#include "shard/flow.h"
#include "terrazzo/dialect.h"

/* What was registered, in the context's arena; op_hooks.user points to it. */
typedef struct foreign_def {
  tz_context *context;
  struct foreign_def *next; /* of the context */
  tz_op_def def;            /* all in it is copied */
  tz_data_flow data_flow;
  tz_collective_def collective;
  tz_partition_def partition;
  op_info info;
  op_hooks hooks;
  flow flow;
  part_row record;
  const op *said_of; /* the last error: said once, however often the method is asked */
  const char *said_method;
} foreign_def;

typedef struct foreign_symbol {
  tz_context *context;
  struct foreign_symbol *next;
  tz_symbol_def def;
  ir_symbol symbol;
} foreign_symbol;

static inline const foreign_def *def_of(const op *o) { return o->info->hooks->user; }
/* "'mine.while' op METHOD of its dialect MESSAGE"; false */
bool method_error(const op *o, const char *method, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* dialect_flow.c */
void flow_fill(foreign_def *d);
/* Asks every method and compares. */
bool flow_verify(ir_module *m, op *o);

#endif
