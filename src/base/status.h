/* The error channel of device, exec and pjrt: one pointer-sized value, NULL is OK. Codes are
 * PJRT's (and absl's) 1 to 16. A status that is not OK is owned by whoever holds it and ends
 * in status_free, or is passed on. (text to compile use base/diag.h instead; compile turns
 * diagnostics into one status at its boundary.) */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include "base/base.h"

typedef enum status_code {
  STATUS_OK = 0,
  STATUS_CANCELLED = 1,
  STATUS_UNKNOWN = 2,
  STATUS_INVALID_ARGUMENT = 3,
  STATUS_DEADLINE_EXCEEDED = 4,
  STATUS_NOT_FOUND = 5,
  STATUS_ALREADY_EXISTS = 6,
  STATUS_PERMISSION_DENIED = 7,
  STATUS_RESOURCE_EXHAUSTED = 8,
  STATUS_FAILED_PRECONDITION = 9,
  STATUS_ABORTED = 10,
  STATUS_OUT_OF_RANGE = 11,
  STATUS_UNIMPLEMENTED = 12,
  STATUS_INTERNAL = 13,
  STATUS_UNAVAILABLE = 14,
  STATUS_DATA_LOSS = 15,
  STATUS_UNAUTHENTICATED = 16,
} status_code;

typedef const struct status_payload *status;

/* Makes a status. If there is no memory for the message, a shared static RESOURCE_EXHAUSTED
 * comes back; it too may be given to status_free. Thread-safe. */
status status_make(status_code code, const char *fmt, ...) PRINTF_LIKE(2, 3) MUST_USE;
status status_oom(void) MUST_USE;               /* the static one */
status status_copy(status s) MUST_USE;          /* another owner of the same text */
/* Adds a value under a key, which callers may look at, to what its only owner has just made. Where
 * there is no memory for it, it is left out. */
void status_attach(status s, str key, str value);
typedef void status_visitor(const char *key, size_t key_size, const char *value, size_t value_size,
                            void *user);
void status_visit(status s, status_visitor *visit, void *user); /* in the order of attaching */
void status_free(status s);                     /* NULL is fine */
status_code status_get_code(status s);          /* STATUS_OK for NULL */
str status_message(status s);                   /* borrowed; NUL-terminated */
const char *status_code_name(status_code code); /* "INVALID_ARGUMENT" */

/* Returns early; only where nothing needs releasing. */
#define RETURN_IF_ERROR(expr)                                                                      \
  do {                                                                                             \
    status status_ = (expr);                                                                       \
    if (status_) return status_;                                                                   \
  } while (0)

#endif
