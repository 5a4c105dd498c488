/* Errors of device, exec and pjrt: one block with a count of owners and the text behind it.
 *
 * Statuses cross threads (a worker's error ends in the caller's), so the count is atomic. The one
 * for out of memory is static and not counted: making it must not need memory. */
#include "base/status.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct note {
  struct note *next;
  size_t key_size, value_size;
  char bytes[]; /* the key, then the value */
} note;

struct status_payload {
  atomic_uint refs;
  status_code code;
  note *notes;
  str text; /* the bytes follow the struct in one allocation */
};

static const struct status_payload out_of_memory = {
    .refs = 1, .code = STATUS_RESOURCE_EXHAUSTED, .text = {"out of memory", 13}};

status status_oom(void) { return &out_of_memory; }

/* Measured first, so that message and header are one allocation. */
status status_make(status_code code, const char *fmt, ...) {
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, ap);
  struct status_payload *s = malloc(sizeof *s + (size_t)n + 1);
  if (s) {
    atomic_init(&s->refs, 1);
    s->code = code;
    s->notes = NULL;
    s->text = (str){(char *)(s + 1), (size_t)n};
    vsnprintf((char *)(s + 1), (size_t)n + 1, fmt, again);
  }
  va_end(again);
  va_end(ap);
  return s ? s : status_oom();
}

/* The handle is const for its users; the count is ours. */
static struct status_payload *own(status s) { return (struct status_payload *)(uintptr_t)s; }

status status_copy(status s) {
  if (s && s != status_oom()) atomic_fetch_add(&own(s)->refs, 1);
  return s;
}

void status_free(status s) {
  if (!s || s == status_oom() || atomic_fetch_sub(&own(s)->refs, 1) != 1) return;
  for (note *n = s->notes, *next; n; n = next) {
    next = n->next;
    free(n);
  }
  free(own(s));
}

void status_attach(status s, str key, str value) {
  if (!s || s == status_oom()) return;
  note *n = malloc(sizeof *n + key.len + value.len), **end = &own(s)->notes;
  if (!n) return;
  *n = (note){.key_size = key.len, .value_size = value.len};
  if (key.len) memcpy(n->bytes, key.data, key.len);
  if (value.len) memcpy(n->bytes + key.len, value.data, value.len);
  while (*end) end = &(*end)->next;
  *end = n;
}

void status_visit(status s, status_visitor *visit, void *user) {
  for (const note *n = s ? s->notes : NULL; n; n = n->next)
    visit(n->bytes, n->key_size, n->bytes + n->key_size, n->value_size, user);
}

status_code status_get_code(status s) { return s ? s->code : STATUS_OK; }

str status_message(status s) { return s ? s->text : STR(""); }

const char *status_code_name(status_code code) {
  static const char *const names[] = {"OK",
                                      "CANCELLED",
                                      "UNKNOWN",
                                      "INVALID_ARGUMENT",
                                      "DEADLINE_EXCEEDED",
                                      "NOT_FOUND",
                                      "ALREADY_EXISTS",
                                      "PERMISSION_DENIED",
                                      "RESOURCE_EXHAUSTED",
                                      "FAILED_PRECONDITION",
                                      "ABORTED",
                                      "OUT_OF_RANGE",
                                      "UNIMPLEMENTED",
                                      "INTERNAL",
                                      "UNAVAILABLE",
                                      "DATA_LOSS",
                                      "UNAUTHENTICATED"};
  return (unsigned)code < COUNT(names) ? names[code] : "UNKNOWN";
}
