/* Sizes and strides of dense arrays, and copies between strided ones. Pure functions. */
#include "device/copy.h"

bool dev_dense_bytes(i64s dims, size_t element, size_t *out) {
  size_t n = element;
  bool empty = false, ok = true;
  for (size_t i = 0; i < dims.len; i++) {
    if (dims.data[i] < 0) return false;
    if (dims.data[i] == 0)
      empty = true;
    else
      ok = ok && checked_mul(n, (size_t)dims.data[i], &n);
  }
  *out = empty ? 0 : n;
  return empty || (ok && n <= PTRDIFF_MAX);
}

void dev_dense_strides(i64s dims, size_t element, i64 *out) {
  u64 stride = element;
  for (size_t i = dims.len; i-- > 0;) {
    out[i] = (i64)stride;
    stride *= (u64)dims.data[i];
  }
}

typedef struct loop {
  i64 n, dst, src; /* extent and byte strides */
} loop;

/* One run of n elements. The sizes of elements are known at compile time in each case. */
static void copy_run(char *d, const char *s, loop l, size_t element) {
#define RUN(bytes)                                                                                 \
  for (i64 i = 0; i < l.n; i++) memcpy(d + i * l.dst, s + i * l.src, bytes)
  if (l.dst == (i64)element && l.src == (i64)element)
    memcpy(d, s, (size_t)l.n * element);
  else if (element == 1)
    RUN(1);
  else if (element == 2)
    RUN(2);
  else if (element == 4)
    RUN(4);
  else if (element == 8)
    RUN(8);
  else
    RUN(element);
#undef RUN
}

/* Drops extents of 1 and merges neighbours that are one run on both sides. */
static size_t collapse(loop *loops, i64s dims, const i64 *ds, const i64 *ss) {
  size_t n = 0;
  for (size_t i = 0; i < dims.len; i++) {
    if (dims.data[i] == 1) continue;
    loop l = {dims.data[i], ds[i], ss[i]};
    if (n && loops[n - 1].dst == l.n * l.dst && loops[n - 1].src == l.n * l.src)
      loops[n - 1] = (loop){loops[n - 1].n * l.n, l.dst, l.src};
    else
      loops[n++] = l;
  }
  return n;
}

enum { SQUARE = 32, WIDEST = 16 };

/* Two loops, whose elements are neighbours along `a` in src and mostly along `b` in dst: by
 * squares, which pass through memory of our own, as lines of src that are far apart push each other
 * out of the caches. */
static void copy_plane(char *d, const char *s, loop a, loop b, size_t element) {
  char square[SQUARE * SQUARE * WIDEST];
  for (i64 i = 0; i < a.n; i += SQUARE)
    for (i64 k = 0; k < b.n; k += SQUARE) {
      i64 na = a.n - i < SQUARE ? a.n - i : SQUARE, nb = b.n - k < SQUARE ? b.n - k : SQUARE;
      size_t line = (size_t)na * element;
      for (i64 y = 0; y < nb; y++)
        memcpy(square + y * (i64)line, s + i * a.src + (k + y) * b.src, line);
      for (i64 x = 0; x < na; x++)
        copy_run(d + (i + x) * a.dst + k * b.dst, square + x * (i64)element,
                 (loop){nb, b.dst, (i64)line}, element);
    }
}

static void swap_loops(loop *a, loop *b) {
  loop t = *a;
  *a = *b;
  *b = t;
}

/* Brings the loop along which src's elements are neighbours next to the innermost one, if that is
 * another and both are worth it. */
static bool make_plane(loop *loops, size_t n, size_t element) {
  if (n < 2 || element > WIDEST) return false;
  if (loops[n - 1].src == (i64)element || loops[n - 1].n < 8) return false;
  for (size_t i = 0; i + 1 < n; i++)
    if (loops[i].src == (i64)element && loops[i].n >= 8) {
      swap_loops(&loops[i], &loops[n - 2]);
      return true;
    }
  return false;
}

void dev_copy_strided(void *dst, const i64 *dst_strides, const void *src, const i64 *src_strides,
                      i64s dims, size_t element) {
  loop loops[DEV_MAX_RANK + 1];
  i64 at[DEV_MAX_RANK] = {0};
  for (size_t i = 0; i < dims.len; i++)
    if (dims.data[i] == 0) return;
  size_t n = collapse(loops, dims, dst_strides, src_strides);
  if (n == 0) loops[n++] = (loop){1, (i64)element, (i64)element};
  bool plane = make_plane(loops, n, element);
  loop inner = loops[--n], outer = {1, 0, 0};
  if (plane) outer = loops[--n];
  char *d = dst;
  const char *s = src;
  for (;;) {
    if (plane)
      copy_plane(d, s, outer, inner, element);
    else
      copy_run(d, s, inner, element);
    size_t i = n;
    while (i > 0) {
      loop l = loops[--i];
      d += l.dst, s += l.src;
      if (++at[i] < l.n) break;
      at[i] = 0;
      d -= l.n * l.dst, s -= l.n * l.src;
      if (i == 0) return;
    }
    if (n == 0) return;
  }
}
