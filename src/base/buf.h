/* A growing string of bytes on the allocator: what printers and writers fill. Out of memory
 * is sticky: later writes are dropped and buf_ok says false. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>

#include "base/arena.h"

typedef struct buf {
  const allocator *mem;
  char *data; /* owned; NUL-terminated by buf_str only */
  size_t len, cap;
  bool failed;
} buf;

void buf_init(buf *b, const allocator *mem);
void buf_deinit(buf *b);
void buf_bytes(buf *b, const void *data, size_t n);
void buf_printf(buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(buf *b, const char *fmt, va_list ap);
void buf_grow(buf *b, size_t more); /* makes room for `more` bytes */
static inline void buf_str(buf *b, str s) { buf_bytes(b, s.data, s.len); }
static inline void buf_char(buf *b, char c) {
  if (b->len == b->cap) buf_grow(b, 1);
  if (!b->failed) b->data[b->len++] = c;
}
static inline bool buf_ok(const buf *b) { return !b->failed; }
static inline str buf_view(const buf *b) { return (str){b->data, b->len}; }
const char *buf_cstr(buf *b); /* NUL-terminated view, valid until the next write */

#define BUF_LIT(b, literal) buf_bytes((b), "" literal, sizeof(literal) - 1)

#endif
