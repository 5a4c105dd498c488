/* Spans of time that somebody wants to hear of: stages of compilations, programs, steps and
 * collectives of devices, and what they wait for.
 *
 * Who records is a sink; there may be several, of the whole process, as a profiler asks for
 * everything that happens. Where there is none, asking trace_on is all that it costs. Thread-safe;
 * a forked child has no sinks. */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include <stdatomic.h>

#include "base/status.h"

typedef enum trace_kind {
  TRACE_STAGE,      /* of a compilation */
  TRACE_PROGRAM,    /* a device's whole run of it */
  TRACE_STEP,       /* of a device's program */
  TRACE_COLLECTIVE, /* the work of one meeting, by the device that came last */
  TRACE_WAIT,       /* a device that could not go on; the name says what for */
  TRACE_KINDS_
} trace_kind;
extern const char *const trace_kind_names[TRACE_KINDS_]; /* "stage", ... */

enum { TRACE_HOST = -1 }; /* for a device: the calling thread */

typedef struct trace_span {
  trace_kind kind;
  i64 device;
  str name, loc;  /* loc: where in the user's program; empty: not known */
  u64 begin, end; /* os_now_ns() */
  str op_name;    /* what the program calls it; empty: nothing */
} trace_span;

typedef struct trace_sink trace_sink;
struct trace_sink {
  /* One call at a time; what `span` points to is good until it returns. It does not call trace_. */
  void (*span)(trace_sink *s, const trace_span *span);
  trace_sink *next; /* trace.c's */
};

void trace_add(trace_sink *s);    /* which stays until it is removed */
void trace_remove(trace_sink *s); /* once it returns, no call is under way */

extern atomic_int trace_sinks; /* how many there are */
static inline bool trace_on(void) {
  return atomic_load_explicit(&trace_sinks, memory_order_relaxed) != 0;
}
void trace_tell(const trace_span *span);

/* Records into a file as Chrome's trace events (chrome://tracing, Perfetto), whole whenever it is
 * flushed, which also the end of the process does. Once a process: later calls, and those with
 * NULL or "", do nothing. */
status trace_to_file(const char *path) MUST_USE;
void trace_flush(void);

#endif
