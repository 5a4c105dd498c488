/* Structs as flat bytes, with one description for both ways: put_...(ar, &field) writes the field,
 * or reads it.
 *
 * Fields in order, little endian, 32- and 64-bit; arrays as their elements after their counts;
 * strings as length and bytes. A reader checks every length against what is left, so that nothing
 * larger than a few times the input is allocated. Failure is sticky: then `bad` is set and what is
 * read is zero. A writer does not change what it writes, but assigns it to itself: give it copies
 * of what other threads may read. */
#ifndef PROGRAM_ARCHIVE_H
#define PROGRAM_ARCHIVE_H

#include "base/buf.h"

typedef struct archive {
  buf *out;     /* writing */
  size_t start; /* where in it */
  arena *a;     /* reading: where arrays and strings go */
  const char *begin, *cur, *end;
  bool bad;
} archive;

static inline archive archive_write(buf *out) { return (archive){.out = out, .start = out->len}; }
static inline archive archive_read(arena *a, str bytes) {
  return (archive){.a = a, .begin = bytes.data, .cur = bytes.data, .end = bytes.data + bytes.len};
}

void put(archive *ar, void *data, size_t n);
void put_u32(archive *ar, u32 *v);
void put_u64(archive *ar, u64 *v);
void put_i64(archive *ar, i64 *v);
void put_bool(archive *ar, bool *v);
void put_u32s(archive *ar, u32 **v, u32 n);
void put_i64_array(archive *ar, i64 **v, u32 n);
void put_i64s(archive *ar, i64s *v);
void put_str(archive *ar, str *s);
void put_padding(archive *ar); /* to a multiple of 64 bytes from the start */
/* Makes room for n elements that take at least `least` bytes each in the stream. */
void *archive_room(archive *ar, u64 n, size_t size, size_t least);

#define PUT_ENUM(ar, v)                                                                            \
  do {                                                                                             \
    u32 x_ = (u32)(v);                                                                             \
    put_u32((ar), &x_);                                                                            \
    (v) = x_;                                                                                      \
  } while (0)

/* Of n elements: when reading, makes room for them, and n 0 where there are not so many. */
#define ARRAY(ar, ptr, n, least)                                                                   \
  do {                                                                                             \
    if (!(ar)->out) {                                                                              \
      (ptr) = archive_room((ar), (n), sizeof(*(ptr)), (least));                                    \
      if ((ar)->bad) (n) = 0;                                                                      \
    }                                                                                              \
  } while (0)

#endif
