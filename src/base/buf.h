/* A growing string of bytes on the allocator: what printers and writers fill. Out of memory
 * is sticky: later writes are dropped and buf_ok says false.
 *
 * With a sink, the string is what was not passed on yet: where a writer will not look back it says
 * so, and from `chunk` bytes on they go to the sink. One that refuses is a failure too. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>

#include "base/arena.h"

typedef bool buf_sink_fn(void *user, str bytes); /* false: it takes no more */

typedef struct buf {
  const allocator *mem;
  char *data; /* owned; NUL-terminated by buf_cstr only */
  size_t len, cap;
  bool failed;
  buf_sink_fn *sink; /* NULL: none */
  void *user;
  size_t chunk;
} buf;

/* `mem` is borrowed for the life of the buffer. One thread at a time. */
void buf_init(buf *b, const allocator *mem);
void buf_init_sink(buf *b, const allocator *mem, size_t chunk, buf_sink_fn *sink, void *user);
void buf_deinit(buf *b); /* what was not passed on is dropped */
/* Appending; `data` must not lie in the buffer itself. */
void buf_bytes(buf *b, const void *data, size_t n);
void buf_printf(buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(buf *b, const char *fmt, va_list ap);
void buf_grow(buf *b, size_t more); /* makes room for `more` bytes */
static inline void buf_str(buf *b, str s) { buf_bytes(b, s.data, s.len); }
static inline void buf_char(buf *b, char c) {
  if (b->len == b->cap) buf_grow(b, 1);
  if (!b->failed) b->data[b->len++] = c;
}
void buf_stream(buf *b, str s); /* large ones go to the sink uncopied; nobody looks back */
bool buf_flush(buf *b);         /* all to the sink, even if it is nothing; false: a failure */
static inline void buf_drain(buf *b) { /* here nobody looks back */
  if (b->sink && b->len >= b->chunk) buf_flush(b);
}
static inline bool buf_ok(const buf *b) { return !b->failed; }
static inline str buf_view(const buf *b) { return (str){b->data, b->len}; }
const char *buf_cstr(buf *b); /* NUL-terminated view, valid until the next write */
/* A copy in the arena, with a NUL behind it; the buffer is released. */
str buf_take(buf *b, arena *a);

#define BUF_LIT(b, literal) buf_bytes((b), "" literal, sizeof(literal) - 1)

#endif
