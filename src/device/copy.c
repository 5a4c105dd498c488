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

void dev_copy_strided(void *dst, const i64 *dst_strides, const void *src, const i64 *src_strides,
                      i64s dims, size_t element) {
  loop loops[DEV_MAX_RANK + 1];
  i64 at[DEV_MAX_RANK] = {0};
  for (size_t i = 0; i < dims.len; i++)
    if (dims.data[i] == 0) return;
  size_t n = collapse(loops, dims, dst_strides, src_strides);
  if (n == 0) loops[n++] = (loop){1, (i64)element, (i64)element};
  loop inner = loops[--n];
  char *d = dst;
  const char *s = src;
  for (;;) {
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
