/* The fields' functions, for serialize.c and compile/executable.c. The header has the contract. */
#include "program/archive.h"

void put(archive *ar, void *data, size_t n) {
  if (ar->out) {
    buf_bytes(ar->out, data, n);
  } else if (ar->bad || (size_t)(ar->end - ar->cur) < n) {
    ar->bad = true;
    memset(data, 0, n);
  } else {
    memcpy(data, ar->cur, n);
    ar->cur += n;
  }
}
void put_u32(archive *ar, u32 *v) { put(ar, v, 4); }
void put_u64(archive *ar, u64 *v) { put(ar, v, 8); }
void put_i64(archive *ar, i64 *v) { put(ar, v, 8); }
void put_bool(archive *ar, bool *v) {
  u32 x = *v;
  put_u32(ar, &x);
  *v = x != 0;
}
/* Makes room for n elements that take at least `least` bytes each in the stream. */
void *archive_room(archive *ar, u64 n, size_t size, size_t least) {
  if (n > (u64)(ar->end - ar->cur) / least) {
    ar->bad = true;
    n = 0;
  }
  void *p = arena_array(ar->a, n ? n : 1, size);
  memset(p, 0, (n ? n : 1) * size);
  return p;
}

void put_u32s(archive *ar, u32 **v, u32 n) {
  ARRAY(ar, *v, n, 4);
  put(ar, *v, (size_t)n * 4);
}
void put_i64_array(archive *ar, i64 **v, u32 n) {
  ARRAY(ar, *v, n, 8);
  put(ar, *v, (size_t)n * 8);
}
void put_i64s(archive *ar, i64s *v) {
  u32 n = (u32)v->len;
  put_u32(ar, &n);
  i64 *data = (i64 *)(uintptr_t)v->data;
  ARRAY(ar, data, n, 8);
  put(ar, data, (size_t)n * 8);
  *v = (i64s){data, n};
}
void put_str(archive *ar, str *s) {
  u32 n = (u32)s->len;
  put_u32(ar, &n);
  char *data = (char *)(uintptr_t)s->data;
  ARRAY(ar, data, n, 1);
  put(ar, data, n);
  *s = (str){data, n};
}
void put_padding(archive *ar) {
  static const char zeros[64];
  if (ar->out) {
    size_t at = ar->out->len - ar->start;
    buf_bytes(ar->out, zeros, align_up(at, 64) - at);
  } else {
    size_t at = (size_t)(ar->cur - ar->begin), skip = align_up(at, 64) - at;
    if ((size_t)(ar->end - ar->cur) < skip)
      ar->bad = true;
    else
      ar->cur += skip;
  }
}
