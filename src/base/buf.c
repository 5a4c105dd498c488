/* The growing string that printers, writers and diagnostics fill.
 *
 * A buffer that could not grow or whose sink refused is `failed`, and every later write is a no-op,
 * so that writers of hundreds of pieces check once, at the end. */
#include "base/buf.h"

#include <stdio.h>

void buf_init(buf *b, const allocator *mem) { *b = (buf){.mem = mem}; }

void buf_init_sink(buf *b, const allocator *mem, size_t chunk, buf_sink_fn *sink, void *user) {
  *b = (buf){.mem = mem, .sink = sink, .user = user, .chunk = chunk};
}

void buf_deinit(buf *b) {
  mem_free(b->mem, b->data, b->cap);
  buf_init(b, b->mem);
}

/* Doubles; `need` stays below half the address space, so that the doubling cannot overflow. */
void buf_grow(buf *b, size_t more) {
  size_t need, cap = b->cap ? b->cap : 256;
  if (b->failed) return;
  if (!checked_add(b->len, more, &need) || need > SIZE_MAX / 2) {
    b->failed = true;
    return;
  }
  if (need <= b->cap) return;
  while (cap < need) cap *= 2;
  char *p = mem_resize(b->mem, b->data, b->cap, cap);
  if (!p) {
    b->failed = true;
    return;
  }
  b->data = p;
  b->cap = cap;
}

void buf_bytes(buf *b, const void *data, size_t n) {
  if (n > b->cap - b->len) buf_grow(b, n);
  if (b->failed || n == 0) return;
  memcpy(b->data + b->len, data, n);
  b->len += n;
}

static void pass_on(buf *b, str s) {
  if (!b->failed && !b->sink(b->user, s)) b->failed = true;
}

/* Calls the sink even with nothing to pass on, so that it hears of an empty text too. */
bool buf_flush(buf *b) {
  pass_on(b, buf_view(b));
  b->len = 0;
  return buf_ok(b);
}

/* What is larger than a chunk skips the buffer: a constant of gigabytes is not copied. The order
 * stays, as what is buffered goes first. */
void buf_stream(buf *b, str s) {
  if (!b->sink || s.len < b->chunk) {
    buf_str(b, s);
    buf_drain(b);
  } else {
    buf_flush(b);
    pass_on(b, s);
  }
}

/* Printed twice, first to measure. The NUL that vsnprintf writes needs a byte of room, which the
 * length does not count. */
void buf_vprintf(buf *b, const char *fmt, va_list ap) {
  va_list again;
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, ap);
  buf_grow(b, (size_t)n + 1);
  if (!b->failed) b->len += (size_t)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
  va_end(again);
}

void buf_printf(buf *b, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  buf_vprintf(b, fmt, ap);
  va_end(ap);
}

/* A failed buffer still gives text, since the callers are messages. */
const char *buf_cstr(buf *b) {
  buf_char(b, 0);
  if (b->failed) return "out of memory";
  b->len--;
  return b->data;
}

/* Where the buffer failed this jumps to the arena's trap, after releasing it: in arena code out of
 * memory has one way. */
str buf_take(buf *b, arena *a) {
  str s = {0};
  bool ok = buf_ok(b);
  if (ok) s = arena_str(a, buf_view(b));
  buf_deinit(b);
  if (!ok) arena_oom(a);
  return s;
}
