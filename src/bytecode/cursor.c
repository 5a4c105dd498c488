/* The primitives of the encoding: bytes, varints, strings, sections; see "Fundamental components"
 * in BytecodeFormat.md. Each checks the bytes that are left; after a failure all return zeros. */
#include <stdarg.h>
#include <stdio.h>

#include "bytecode/reader.h"

/* The first failure only: what follows are zeros that were never in the file. */
static void report(reader *r, const u8 *at, const char *fmt, va_list ap) {
  if (r->failed) return;
  r->failed = true;
  char text[256];
  vsnprintf(text, sizeof text, fmt, ap);
  diag_error(ir_sink(r->ctx), (diag_pos){.file = r->file}, "invalid bytecode at byte %zu: %s",
             (size_t)(at - (const u8 *)r->bytes.data), text);
}

bool fail_at(reader *r, const u8 *at, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  report(r, at, fmt, ap);
  va_end(ap);
  return false;
}

/* For files that are right but ask for what is not here: codes of newer versions, say. */
bool fail_unimplemented(reader *r, const u8 *at, const char *fmt, ...) {
  if (r->failed) return false;
  r->failed = true;
  char text[256];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  ir_sink(r->ctx)->unimplemented = true;
  return diag_error(ir_sink(r->ctx), (diag_pos){.file = r->file},
                    "UNIMPLEMENTED: bytecode at byte %zu: %s",
                    (size_t)(at - (const u8 *)r->bytes.data), text);
}

u8 get_byte(reader *r, cursor *c) {
  if (r->failed) return 0;
  if (c->at == c->end) return fail_at(r, c->at, "expected a byte, found the end");
  return *c->at++;
}

/* The number of zero bits at the end of the first byte is the number of bytes that follow. */
u64 get_uint(reader *r, cursor *c) {
  u8 first = get_byte(r, c);
  if (first & 1) return first >> 1;
  if (r->failed) return 0;
  size_t more = first ? (size_t)__builtin_ctz(first) : 8;
  if (cursor_left(c) < more) {
    fail_at(r, c->at - 1, "expected a number of %zu bytes, found the end", more + 1);
    return 0;
  }
  u64 v = 0;
  for (size_t i = more; i-- > 0;) v = v << 8 | c->at[i];
  c->at += more;
  return first ? (v << 8 | first) >> (more + 1) : v;
}

/* Zigzag: the sign is the lowest bit. */
i64 get_int(reader *r, cursor *c) {
  u64 v = get_uint(r, c);
  return (i64)((v >> 1) ^ (~(v & 1) + 1));
}

/* A number whose lowest bit is a flag. */
bool get_flagged(reader *r, cursor *c, u64 *out) {
  u64 v = get_uint(r, c);
  *out = v >> 1;
  return v & 1;
}

/* An element takes a byte at least, so a count beyond the bytes that are left is wrong, and nothing
 * that a few bytes say makes us allocate much. */
size_t get_count(reader *r, cursor *c) {
  const u8 *from = c->at;
  u64 n = get_uint(r, c);
  if (n <= cursor_left(c)) return r->failed ? 0 : (size_t)n;
  fail_at(r, from, "expected at most %zu elements, as many as bytes are left, found %llu",
          cursor_left(c), (unsigned long long)n);
  return 0;
}

str get_bytes(reader *r, cursor *c, u64 n) {
  if (r->failed) return (str){"", 0};
  if (n > cursor_left(c)) {
    fail_at(r, c->at, "expected %llu bytes, found %zu", (unsigned long long)n, cursor_left(c));
    return (str){"", 0};
  }
  str s = {(const char *)c->at, (size_t)n};
  c->at += n;
  return s;
}

str get_blob(reader *r, cursor *c) { return get_bytes(r, c, get_uint(r, c)); }

str get_string(reader *r, cursor *c) {
  const u8 *from = c->at;
  u64 i = get_uint(r, c);
  if (!r->failed && i < r->num_strings) return r->strings[i];
  fail_at(r, from, "expected a string below %zu, found %llu", r->num_strings,
          (unsigned long long)i);
  return (str){"", 0};
}

/* At most 64 bits are sign-extended; more are given as bytes in the reader's scratch. */
i64 get_bits(reader *r, cursor *c, u32 width, str *wide) {
  *wide = (str){"", 0};
  u64 v;
  if (width <= 8) {
    v = get_byte(r, c);
  } else if (width <= 64) {
    v = (u64)get_int(r, c);
  } else {
    size_t words = get_count(r, c), bytes = ((size_t)width + 7) / 8;
    if (words > (bytes + 7) / 8) return fail_at(r, c->at, "too many words for i%u", width);
    char *data = arena_zalloc(r->arena, (bytes + 7) / 8 * 8);
    for (size_t i = 0; i < words; i++) {
      u64 w = (u64)get_int(r, c);
      memcpy(data + 8 * i, &w, 8);
    }
    *wide = (str){data, bytes};
    return 0;
  }
  if (width == 0 || width >= 64) return (i64)v;
  return (i64)(v << (64 - width)) >> (64 - width);
}

/* Padding brings the contents to an alignment in the file, with 0xCB bytes, which are checked. */
cursor get_section(reader *r, cursor *c, u8 *id) {
  const u8 *from = c->at;
  u8 head = get_byte(r, c);
  u64 length = get_uint(r, c);
  *id = head & 127;
  if (head & 128) {
    u64 align = get_uint(r, c);
    if (!r->failed && (align == 0 || (align & (align - 1)) || align > r->bytes.len)) {
      fail_at(r, from, "expected an alignment that is a power of two, found %llu",
              (unsigned long long)align);
    }
    while (!r->failed && ((size_t)(c->at - (const u8 *)r->bytes.data) & (align - 1)))
      if (get_byte(r, c) != 0xCB) fail_at(r, c->at, "expected padding");
  }
  str data = get_bytes(r, c, length);
  return (cursor){(const u8 *)data.data, (const u8 *)data.data + data.len};
}
