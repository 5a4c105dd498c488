/* The error channel of text, bytecode, ir, dialect, pass, shard, partition and compile:
 * messages with a source position go to a sink; functions return false. */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stdarg.h>

#include "base/base.h"
#include "base/buf.h"

typedef enum diag_kind { DIAG_ERROR, DIAG_WARNING, DIAG_REMARK, DIAG_NOTE } diag_kind;

/* line and column count from 1; line 0 means that only the file is known. */
typedef struct diag_pos {
  str file;
  u32 line, col;
} diag_pos;

/* A note belongs to the message before it. `fn` must not keep `text`. */
typedef struct diag_sink {
  void (*fn)(void *user, diag_kind kind, diag_pos pos, str text);
  void *user;
  u32 errors;         /* errors seen so far */
  bool unimplemented; /* some error was "not implemented" rather than "wrong" */
  u32 said; /* bits of warnings that are given once, however many modules share the sink */
} diag_sink;

/* Always false, so that callers can `return diag_error(...)`. */
bool diag_error(diag_sink *sink, diag_pos pos, const char *fmt, ...) PRINTF_LIKE(3, 4);
void diag_note(diag_sink *sink, diag_pos pos, const char *fmt, ...) PRINTF_LIKE(3, 4);
void diag_emit(diag_sink *sink, diag_kind kind, diag_pos pos, const char *fmt, va_list ap);

/* Warnings that are given once a sink. diag_first: true the first time. */
typedef enum diag_once {
  ONCE_UNKNOWN_OP,
  ONCE_UNKNOWN_CALL,
  ONCE_CALLED_TWICE,
  ONCE_SUB_AXES_IN,
  ONCE_SUB_AXES_OUT,
  ONCE_RESHARDING_TRANSFER,
} diag_once;
static inline bool diag_first(diag_sink *sink, diag_once what) {
  bool said = sink->said >> what & 1;
  sink->said |= 1u << what;
  return !said;
}

/* A sink that writes `file:line:col: error: text` lines to a buf (user: buf *). */
void diag_to_buf(void *user, diag_kind kind, diag_pos pos, str text);
/* The same to standard error. */
void diag_to_stderr(void *user, diag_kind kind, diag_pos pos, str text);

#endif
