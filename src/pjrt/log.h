/* The call log: TERRAZZO_LOG=1 writes a line for each function of the API that is called, to
 * standard error; =2 also what it was given and what it put out; anything else names a file, which
 * is appended to ("2:FILE": the longer lines, "1:FILE": not those). Opened once a process. */
#ifndef PJRT_LOG_H
#define PJRT_LOG_H

#include "base/status.h"
#include "pjrt/abi.h"

typedef enum api_field_kind {
  API_FIELD_HANDLE,
  API_FIELD_POINTER,
  API_FIELD_I32,
  API_FIELD_U32,
  API_FIELD_I64,
  API_FIELD_U64,
  API_FIELD_BOOL,
  API_FIELD_TEXT,     /* `count` bytes, or with no count up to a NUL */
  API_FIELD_I64S,     /* `count` numbers */
  API_FIELD_POINTERS, /* `count` of them */
  API_FIELD_OTHER     /* structs, which are not shown */
} api_field_kind;

/* A field of a function's struct. */
typedef struct api_field {
  const char *name;
  api_field_kind kind;
  unsigned short at, end, count_at; /* offsets; count_at 0: none */
} api_field;

typedef struct api_function {
  const char *name;
  const api_field *fields;
  unsigned num_fields;
  PJRT_Error *(*call)(void *args); /* NULL where it went well */
} api_function;

extern int api_log_level;            /* 0: no log; written once, by api_log_begin */
void api_log_begin(void);            /* by whoever asks for the table */
status api_log_error(void) MUST_USE; /* why there is no log although it was asked for */

/* Calls it, and writes its line. */
PJRT_Error *api_logged(const api_function *f, void *args);
static inline PJRT_Error *api_call(const api_function *f, void *args) {
  return api_log_level ? api_logged(f, args) : f->call(args);
}

/* Lines that belong to no call, each once a process. */
void api_log_once(str lines);
/* From within a call: something for its line, behind what was said before. */
void api_note(const char *fmt, ...) PRINTF_LIKE(1, 2);

#endif
