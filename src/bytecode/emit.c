/* The writer's primitives: bytes, numbers, tables.
 *
 * Three places for bytes: the stack, where entries are put together, innermost last; ropes, which
 * sections are made of without copying what is large; and interners, tables of different byte
 * strings in the order of their numbers. */
#include <stdarg.h>
#include <stdio.h>

#include "bytecode/writer.h"

enum { ROPE_CHUNK = 1 << 16, ROPE_LARGE = 1 << 12 };

/* ---- numbers ---- */

/* The zero bits at the end of the first byte say how many bytes follow; see get_uint. */
size_t encode_uint(u8 *to, u64 v) {
  size_t bits = 64 - (size_t)__builtin_clzll(v | 1), n = (bits + 6) / 7;
  if (n > 8) {
    to[0] = 0;
    for (size_t i = 0; i < 8; i++) to[1 + i] = (u8)(v >> (8 * i));
    return 9;
  }
  v = ((v << 1) | 1) << (n - 1);
  for (size_t i = 0; i < n; i++) to[i] = (u8)(v >> (8 * i));
  return n;
}

/* ---- ropes ---- */

/* Large pieces are borrowed: they are the module's or in the writer's arena, and outlive it. */
void rope_bytes(rope *r, const void *data, size_t n) {
  if (n == 0) return;
  r->size += n;
  if (n >= ROPE_LARGE) {
    VEC_PUSH(r->arena, r->pieces, (str){data, n});
    r->open = false;
    return;
  }
  if (r->cap - r->used < n) {
    r->cap = max_size(n, min_size(ROPE_CHUNK, max_size(256, 2 * r->cap)));
    r->chunk = arena_alloc(r->arena, r->cap);
    r->used = 0;
    r->open = false;
  }
  if (!r->open) VEC_PUSH(r->arena, r->pieces, (str){r->chunk + r->used, 0});
  r->open = true;
  memcpy(r->chunk + r->used, data, n);
  r->used += n;
  r->pieces.data[r->pieces.len - 1].len += n;
}

void rope_append(rope *r, const rope *other) {
  for (size_t i = 0; i < other->pieces.len; i++)
    rope_bytes(r, other->pieces.data[i].data, other->pieces.data[i].len);
}

void rope_uint(rope *r, u64 v) {
  u8 bytes[9];
  rope_bytes(r, bytes, encode_uint(bytes, v));
}

void rope_section(rope *r, u8 id, const rope *contents) {
  rope_bytes(r, &id, 1);
  rope_uint(r, contents->size);
  rope_append(r, contents);
}

void rope_flush(const rope *r, buf *out) {
  for (size_t i = 0; i < r->pieces.len; i++) buf_stream(out, r->pieces.data[i]);
}

/* ---- tables ---- */

static void rehash(writer *w, interner *t) {
  size_t cap = t->cap ? 2 * t->cap : 64;
  u32 *slots = arena_zalloc(w->arena, cap * sizeof *slots);
  for (size_t i = 0; i < t->cap; i++) {
    if (!t->slots[i]) continue;
    size_t at = t->items.data[t->slots[i] - 1].hash & (cap - 1);
    while (slots[at]) at = (at + 1) & (cap - 1);
    slots[at] = t->slots[i];
  }
  t->slots = slots;
  t->cap = cap;
}

/* The tag (dialect, flags) tells apart equal bytes that mean different things. */
u32 intern_bytes(writer *w, interner *t, str bytes, u32 tag, bool *added) {
  u64 hash = hash_bytes(bytes.data, bytes.len, tag);
  if (2 * t->used >= t->cap) rehash(w, t);
  size_t at = hash & (t->cap - 1);
  for (; t->slots[at]; at = (at + 1) & (t->cap - 1)) {
    const interned *i = &t->items.data[t->slots[at] - 1];
    if (i->hash == hash && i->tag == tag && str_eq(i->bytes, bytes)) return t->slots[at] - 1;
  }
  str copy = {arena_copy(w->arena, bytes.data, bytes.len), bytes.len};
  VEC_PUSH(w->arena, t->items, (interned){copy, hash, tag});
  t->slots[at] = (u32)t->items.len;
  t->used++;
  if (added) *added = true;
  return (u32)t->items.len - 1;
}

u32 intern_string(writer *w, str s) { return intern_bytes(w, &w->strings, s, 0, NULL); }
u32 intern_dialect(writer *w, str name) { return intern_bytes(w, &w->dialects, name, 0, NULL); }
u32 intern_resource(writer *w, str key) { return intern_bytes(w, &w->resources, key, 0, NULL); }

u32 ptr_map_get(const ptr_map *m, u64 key) {
  if (!m->cap) return UINT32_MAX;
  for (size_t at = hash_u64(key, 0) & (m->cap - 1); m->keys[at]; at = (at + 1) & (m->cap - 1))
    if (m->keys[at] == key) return m->values[at];
  return UINT32_MAX;
}

static void insert(ptr_map *m, u64 key, u32 value) {
  size_t at = hash_u64(key, 0) & (m->cap - 1);
  while (m->keys[at]) at = (at + 1) & (m->cap - 1);
  m->keys[at] = key;
  m->values[at] = value;
}

void ptr_map_set(writer *w, ptr_map *m, u64 key, u32 value) {
  if (2 * m->count >= m->cap) {
    ptr_map old = *m;
    m->cap = old.cap ? 2 * old.cap : 64;
    m->keys = arena_zalloc(w->arena, m->cap * sizeof *m->keys);
    m->values = ARENA_ARRAY(w->arena, u32, m->cap);
    for (size_t i = 0; i < old.cap; i++)
      if (old.keys[i]) insert(m, old.keys[i], old.values[i]);
  }
  insert(m, key, value);
  m->count++;
}

/* ---- the stack ---- */

void put_bytes(writer *w, const void *data, size_t n) {
  while (w->stack.cap - w->stack.len < n)
    w->stack.data = arena_grow(w->arena, w->stack.data, w->stack.len, &w->stack.cap, 1);
  if (n) memcpy(w->stack.data + w->stack.len, data, n);
  w->stack.len += n;
}

void put_byte(writer *w, u8 b) { put_bytes(w, &b, 1); }

void put_uint(writer *w, u64 v) {
  u8 bytes[9];
  put_bytes(w, bytes, encode_uint(bytes, v));
}

void put_int(writer *w, i64 v) { put_uint(w, zigzag(v)); }
void put_flagged(writer *w, u64 v, bool flag) { put_uint(w, v << 1 | flag); }

void put_bits(writer *w, u32 width, i64 v, str wide) {
  u8 word[8];
  if (width <= 8) {
    put_byte(w, (u8)v);
  } else if (width <= 64) {
    put_int(w, v);
  } else {
    size_t words = (wide.len + 7) / 8;
    while (words > 1 && wide.len >= 8 * (words - 1)) { /* only the words that are not zero */
      size_t from = 8 * (words - 1), n = min_size(8, wide.len - from), i = 0;
      while (i < n && !wide.data[from + i]) i++;
      if (i < n) break;
      words--;
    }
    put_uint(w, words);
    for (size_t i = 0; i < words; i++) {
      memset(word, 0, 8);
      memcpy(word, wide.data + 8 * i, min_size(8, wide.len - 8 * i));
      memcpy(&v, word, 8);
      put_int(w, v);
    }
  }
}

/* One an entry: what is behind it would have to be copied. */
void put_tail(writer *w, str bytes) {
  if (bytes.len < ROPE_LARGE) {
    put_bytes(w, bytes.data, bytes.len);
  } else {
    w->tail = bytes;
    w->alone = true; /* has no twin that we would look for */
  }
}

/* Says which version cannot, where there is a target. */
bool cannot_write(writer *w, const char *fmt, ...) {
  char text[256];
  va_list ap;
  if (w->failed) return false;
  w->failed = true;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  if (w->target)
    return op_error(w->ctx, w->at, "uses %s, which cannot be expressed in StableHLO " STR_FMT, text,
                    STR_ARG(w->target_text));
  return op_error(w->ctx, w->at, "uses %s, which cannot be expressed in bytecode", text);
}

bool lacks(writer *w, const char *attribute) {
  if (!w->failed) op_error(w->ctx, w->at, "requires attribute '%s'", attribute);
  w->failed = true;
  return false;
}
