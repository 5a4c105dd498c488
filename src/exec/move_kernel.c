/* Built once per instruction set (KERNELS_ISA); bytes are only moved. */
#include "exec/move_kernel.h"

#define REAL_BITS 32
#include "exec/lanes.h"

/* ---- rows ---- */

typedef REAL line __attribute__((vector_size(LANE_BYTES), aligned(1), may_alias));

INLINE vec get(const char *p) { return *(const line *)p; }
INLINE void put(char *p, vec x, bool past) {
  if (past)
    stream_vec((REAL *)(void *)p, x);
  else
    *(line *)p = x;
}

/* From byte i on, of LANE_BYTES and more, past the caches or not: the last vector may move again
 * what the one before it did. */
INLINE void move_row(char *to, const char *from, size_t i, size_t n, bool past) {
  for (; i + 4 * LANE_BYTES <= n; i += 4 * LANE_BYTES) {
    vec a = get(from + i), b = get(from + i + LANE_BYTES);
    vec c = get(from + i + 2 * LANE_BYTES), d = get(from + i + 3 * LANE_BYTES);
    put(to + i, a, past), put(to + i + LANE_BYTES, b, past);
    put(to + i + 2 * LANE_BYTES, c, past), put(to + i + 3 * LANE_BYTES, d, past);
  }
  for (; i + LANE_BYTES <= n; i += LANE_BYTES) put(to + i, get(from + i), past);
  if (i < n) put(to + n - LANE_BYTES, get(from + n - LANE_BYTES), false);
}
INLINE void long_row(char *to, const char *from, size_t n) { move_row(to, from, 0, n, false); }
static void streamed_row(char *to, const char *from, size_t n) {
  size_t head = -(uintptr_t)to % LANE_BYTES;
  if (n < head + LANE_BYTES) {
    memcpy(to, from, n);
    return;
  }
  put(to, get(from), false); /* what is of it beyond the head comes again */
  move_row(to, from, head, n, true);
}

/* Of `half` to twice that many bytes: its first and its last ones. */
#define SHORT_ROWS(half)                                                                           \
  for (size_t i = 0; i < rows; i++, to += ts, from += fs) {                                        \
    char a[half], b[half];                                                                         \
    memcpy(a, from, half), memcpy(b, from + n - (half), half);                                     \
    memcpy(to, a, half), memcpy(to + n - (half), b, half);                                         \
  }

static void copy_rows(size_t rows, size_t n, char *to, i64 ts, const char *from, i64 fs,
                      bool streams) {
  enum { BY_LIBRARY = 1 << 16 };
  if (streams && n >= 2 * LANE_BYTES) {
    for (size_t i = 0; i < rows; i++, to += ts, from += fs) streamed_row(to, from, n);
    lanes_fence();
  } else if (n >= BY_LIBRARY) {
    for (size_t i = 0; i < rows; i++, to += ts, from += fs) memcpy(to, from, n);
  } else if (n >= LANE_BYTES) {
    for (size_t i = 0; i < rows; i++, to += ts, from += fs) long_row(to, from, n);
  } else if (n >= 32) {
    SHORT_ROWS(32)
  } else if (n >= 16) {
    SHORT_ROWS(16)
  } else if (n >= 8) {
    SHORT_ROWS(8)
  } else if (n >= 4) {
    SHORT_ROWS(4)
  } else if (n >= 2) {
    SHORT_ROWS(2)
  } else if (n) {
    for (size_t i = 0; i < rows; i++, to += ts, from += fs) *to = *from;
  }
}

/* ---- single elements ---- */

/* Indices are clamped a block at a time, in vectors. */
#define TAKE(I, MOST, T)                                                                           \
  INLINE void take_block_##I##_##T(size_t n, T *to, const T *from, const I *at, I most) {          \
    I inside[BLOCK];                                                                               \
    for (size_t i = 0; i < n; i++) {                                                               \
      I x = at[i] > 0 ? at[i] : 0;                                                                 \
      inside[i] = x < most ? x : most;                                                             \
    }                                                                                              \
    for (size_t i = 0; i < n; i++) to[i] = from[inside[i]];                                        \
  }                                                                                                \
  static void take_##I##_##T(size_t n, void *to, const void *from, const void *at, i64 most) {     \
    I end = most > (i64)(MOST) ? MOST : (I)most;                                                   \
    size_t i = 0;                                                                                  \
    for (; i + BLOCK <= n; i += BLOCK)                                                             \
      take_block_##I##_##T(BLOCK, (T *)to + i, from, (const I *)at + i, end);                      \
    take_block_##I##_##T(n - i, (T *)to + i, from, (const I *)at + i, end);                        \
  }
#define TAKES(I, MOST) TAKE(I, MOST, u8) TAKE(I, MOST, u16) TAKE(I, MOST, u32) TAKE(I, MOST, u64)
enum { BLOCK = 64 };
TAKES(i32, INT32_MAX)
TAKES(u32, UINT32_MAX)
TAKES(i64, INT64_MAX)

#define TAKES_OF(I)                                                                                \
  { take_##I##_u8, take_##I##_u16, take_##I##_u32, take_##I##_u64 }
const move_kernels PASTE(move_, KERNELS_ISA) = {copy_rows,
                                                {TAKES_OF(i32), TAKES_OF(u32), TAKES_OF(i64)}};
