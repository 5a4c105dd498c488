/* Transposes by squares of vectors: every line that is read or written is so whole, at once. Built
 * once per instruction set and width (KERNELS_ISA, REAL_BITS); numbers are only moved. */
#include "exec/transpose_kernel.h"

#include "exec/lanes.h"

/* Rows of the result that are written side by side, from LANES rows that are read. */
enum { BAND = 64, WIDTH = REAL_BITS / 8 };

INLINE void square(char *to, i64 ts, const char *from, i64 fs, bool streams) {
  vec x[LANES];
  for (u32 j = 0; j < LANES; j++) x[j] = load_vec((const REAL *)(const void *)(from + j * fs));
  transpose_vecs(x);
  for (u32 i = 0; i < LANES; i++) {
    REAL *line = (REAL *)(void *)(to + i * ts);
    if (streams)
      stream_vec(line, x[i]);
    else
      store_vec(line, x[i]);
  }
}

/* At an edge. */
static void piece(size_t rows, size_t columns, char *to, i64 ts, const char *from, i64 fs) {
  vec x[LANES] = {0};
  for (u32 j = 0; j < columns; j++)
    x[j] = load_some((const REAL *)(const void *)(from + j * fs), rows);
  transpose_vecs(x);
  for (u32 i = 0; i < rows; i++) store_some((REAL *)(void *)(to + i * ts), x[i], columns);
}

INLINE void bands(size_t rows, size_t columns, char *to, i64 ts, const char *from, i64 fs,
                  bool streams) {
  for (size_t band = 0; band < rows; band += BAND) {
    size_t end = rows - band < BAND ? rows : band + BAND;
    for (size_t j = 0; j < columns; j += LANES)
      for (size_t i = band; i < end; i += LANES) {
        size_t r = end - i < LANES ? end - i : LANES, c = columns - j < LANES ? columns - j : LANES;
        char *d = to + (i64)i * ts + (i64)(j * WIDTH);
        const char *a = from + (i64)j * fs + (i64)(i * WIDTH);
        if (r == LANES && c == LANES)
          square(d, ts, a, fs, streams);
        else
          piece(r, c, d, ts, a, fs);
      }
  }
}

static void transpose(size_t rows, size_t columns, char *to, i64 ts, const char *from, i64 fs,
                      bool streams) {
  if (streams && (uintptr_t)to % LANE_BYTES == 0 && ts % LANE_BYTES == 0) {
    bands(rows, columns, to, ts, from, fs, true);
    lanes_fence();
  } else {
    bands(rows, columns, to, ts, from, fs, false);
  }
}

#if LANES == 2
#define BACKWARD 1, 0
#elif LANES == 4
#define BACKWARD 3, 2, 1, 0
#elif LANES == 8
#define BACKWARD 7, 6, 5, 4, 3, 2, 1, 0
#else
#define BACKWARD 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
#endif

static void reverse(size_t n, char *to, const char *from) {
  REAL *d = (REAL *)(void *)to;
  const REAL *a = (const REAL *)(const void *)from;
  size_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    vec x = load_vec(a - (i64)i - (LANES - 1));
    store_vec(d + i, PICK(x, x, BACKWARD));
  }
  for (; i < n; i++) memcpy(d + i, a - (i64)i, WIDTH);
}

const transpose_kernels FOR_LANES(transpose_) = {transpose, reverse};
