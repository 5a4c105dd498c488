/* Elements of a block that do not lie together: brought together, and apart again (loop.h). */
#include "exec/loop.h"
#include "exec/shuffle.h"

/* Visits the runs of a strided pattern: fn for each innermost run, in block order. */
#define FOR_RUNS(pt, count, run, offset, done, ...)                                                \
  do {                                                                                             \
    const pattern *q_ = (pt);                                                                      \
    u32 last_ = q_->rank - 1;                                                                      \
    i64 at_[PROG_MAX_DIMS] = {0}, head_ = (count)*q_->head;                                        \
    i64 run = last_ == 0 ? head_ : q_->dims[last_], offset = 0;                                    \
    size_t done = 0;                                                                               \
    for (;;) {                                                                                     \
      __VA_ARGS__                                                                                  \
      done += (size_t)run;                                                                         \
      u32 d_ = last_;                                                                              \
      for (; d_ > 0; d_--) {                                                                       \
        offset += q_->stride[d_ - 1];                                                              \
        if (++at_[d_ - 1] < (d_ == 1 ? head_ : q_->dims[d_ - 1])) break;                           \
        offset -= at_[d_ - 1] * q_->stride[d_ - 1];                                                \
        at_[d_ - 1] = 0;                                                                           \
      }                                                                                            \
      if (d_ == 0) break;                                                                          \
    }                                                                                              \
  } while (0)

static void gather_run(const vm_kernels *k, const shuffle_vector *every, i64 stride, i64 run,
                       u32 width, const char *from, char *to) {
  u32 w = vm_log2_width(width);
  if (every && run * (i64)width >= SHUFFLE_BYTES) {
    i64 times = run * (i64)width / SHUFFLE_BYTES, done = times * SHUFFLE_BYTES / (i64)width;
    k->shuffle(every, (size_t)times, to, SHUFFLE_BYTES, &from);
    to += times * SHUFFLE_BYTES, from += done * stride * (i64)width, run -= done;
  }
  if (stride == 1)
    memcpy(to, from, (size_t)run * width);
  else if (stride == 0)
    k->splat[w]((size_t)run, to, from, NULL, NULL);
  else
    k->stride[w]((size_t)run, to, from, &stride, NULL);
}

static void spread_rows(const vm_kernels *k, i64 rows, i64 run, u32 width, const char *from,
                        i64 row, char *to) {
  u32 w = vm_log2_width(width);
  i64 done = 0, bytes = run * (i64)width;
  if (row == 1 && width < 4 && run <= 8) { /* columns that are all the same one */
    k->transpose[w]((size_t)rows, (size_t)run, to, bytes, from, 0, false);
    return;
  }
  if (width == 4 && row == 1 && k->spread_few)
    done = (i64)k->spread_few((size_t)rows, (size_t)run, to, from);
  k->spread[w]((size_t)(rows - done), (size_t)run, to + done * bytes,
               from + done * row * (i64)width, row);
}

/* Rows of which each would be done before a kernel has begun. */
#define SHORT_ROWS(T)                                                                              \
  static void short_rows_##T(i64 rows, i64 run, T *to, const T *from, i64 row, i64 stride) {       \
    for (i64 i = 0; i < rows; i++, to += run, from += row)                                         \
      for (i64 j = 0; j < run; j++) to[j] = from[j * stride];                                      \
  }
SHORT_ROWS(u8)
SHORT_ROWS(u16)
SHORT_ROWS(u32)
SHORT_ROWS(u64)
static void short_rows(u32 width, i64 rows, i64 run, void *to, const void *from, i64 row,
                       i64 stride) {
  if (width == 1) short_rows_u8(rows, run, to, from, row, stride);
  if (width == 2) short_rows_u16(rows, run, to, from, row, stride);
  if (width == 4) short_rows_u32(rows, run, to, from, row, stride);
  if (width == 8) short_rows_u64(rows, run, to, from, row, stride);
}

/* The last two dims, of so many rows. */
static void gather_rows(const vm_kernels *k, const pattern *p, i64 rows, u32 width,
                        const char *from, char *to) {
  enum { SHORT = 16 };
  u32 w = vm_log2_width(width), last = p->rank - 1;
  i64 run = p->dims[last], row = p->stride[last - 1], stride = p->stride[last];
  i64 bytes = run * (i64)width;
  bool wide = stride == 1 && bytes <= 8 && (bytes & (bytes - 1)) == 0 && row % run == 0;
  if (wide && ((uintptr_t)from | (uintptr_t)to) % (uintptr_t)bytes == 0)
    gather_run(k, NULL, row / run, rows, (u32)bytes, from, to); /* elements of so many bytes */
  else if (stride == 1)
    k->move->rows((size_t)rows, (size_t)bytes, to, bytes, from, row * (i64)width, false);
  else if (stride == 0 && w < 4)
    spread_rows(k, rows, run, width, from, row, to);
  else if (row == 1 && stride > 1 && w < 4)
    step_transpose(k, width, (size_t)rows, (size_t)run, to, bytes, from, stride * (i64)width,
                   false);
  else if (run <= SHORT && w < 4)
    short_rows(width, rows, run, to, from, row, stride);
  else
    for (i64 i = 0; i < rows; i++, to += bytes, from += row * (i64)width)
      gather_run(k, p->every, stride, run, width, from, to);
}

void loop_gather(const vm_kernels *k, const pattern *p, i64 count, u32 width, const char *base,
                 char *out) {
  if (p->rank == 1) {
    gather_run(k, p->every, p->stride[0], count * p->head, width, base, out);
    return;
  }
  if (p->rank == 2) {
    gather_rows(k, p, count * p->head, width, base, out);
    return;
  }
  if (loop_lies_across(p)) {
    loop_gather_across(k, p, count, width, base, out);
    return;
  }
  pattern outer = *p;
  outer.rank--; /* runs of it are rows of the last two dims */
  FOR_RUNS(&outer, count, rows, offset, done, {
    gather_rows(k, p, rows, width, base + offset * (i64)width,
                out + (i64)done * p->dims[p->rank - 1] * (i64)width);
  });
}

void loop_gather_pairs(const vm_kernels *k, const pattern *p, i64 count, u32 width,
                       const char *base, char *first, char *second) {
  u32 w = vm_log2_width(width);
  FOR_RUNS(p, count, run, offset, done, {
    k->unzip[w]((size_t)run, first + done * width, second + done * width,
                base + offset * (i64)width);
  });
}
void loop_scatter_pairs(const vm_kernels *k, const pattern *p, i64 count, u32 width, char *base,
                        const char *first, const char *second) {
  u32 w = vm_log2_width(width);
  FOR_RUNS(p, count, run, offset, done, {
    k->zip[w]((size_t)run, base + offset * (i64)width, first + done * width, second + done * width);
  });
}

void loop_gather_family(const vm_kernels *k, const pattern *p, i64 count, u32 width, u32 n,
                        const char *base, char *out, i64 apart) {
  i64 step = p->stride[p->rank - 1] * (i64)width;
  FOR_RUNS(p, count, run, offset, done, {
    k->transpose[vm_log2_width(width)](n, (size_t)run, out + done * width, apart,
                                       base + offset * (i64)width, step, false);
  });
}
void loop_scatter_family(const vm_kernels *k, const pattern *p, i64 count, u32 width, u32 n,
                         char *base, const char *values, i64 apart) {
  i64 step = p->stride[p->rank - 1] * (i64)width;
  FOR_RUNS(p, count, run, offset, done, {
    k->transpose[vm_log2_width(width)]((size_t)run, n, base + offset * (i64)width, step,
                                       values + done * width, apart, false);
  });
}

void loop_scatter(const vm_kernels *k, const pattern *p, i64 count, u32 width, char *base,
                  const char *values, bool streams) {
  u32 w = vm_log2_width(width), last = p->rank - 1;
  const i64 *stride = &p->stride[last];
  if (last > 0 && *stride == 1) {
    i64 bytes = p->dims[last] * (i64)width;
    pattern outer = *p;
    outer.rank--;
    FOR_RUNS(&outer, count, rows, offset, done, {
      k->move->rows((size_t)rows, (size_t)bytes, base + offset * (i64)width,
                    p->stride[last - 1] * (i64)width, values + (i64)done * bytes, bytes, streams);
    });
    return;
  }
  FOR_RUNS(p, count, run, offset, done, {
    char *to = base + offset * (i64)width;
    const char *from = values + done * width;
    if (*stride == 1)
      memcpy(to, from, (size_t)run * width);
    else
      k->scatter[w]((size_t)run, to, from, stride, NULL);
  });
}

void loop_iota(const vm_kernels *k, const pattern *p, i64 count, vm_rtype type, i64 base,
               char *out) {
  u32 width = vm_rtype_size(type);
  const i64 *stride = &p->stride[p->rank - 1];
  FOR_RUNS(p, count, run, offset, done, {
    i64 first = base + offset;
    k->iota[type]((size_t)run, out + done * width, &first, stride, NULL);
  });
}

u32 loop_walk_in_order(const lower_env *e, const prog_loop *l) {
  enum { LINE = 64 };
  u32 last = l->rank - 1, d = 0;
  const prog_access *in = l->in, *out = l->out;
  i64 width = (i64)dtype_size(e->prog->slots[out->slot].type);
  if (l->num_in != 1 || l->num_out != 1 || l->rank < 2 ||
      prog_slot_bytes(&e->prog->slots[out->slot]) < LOOP_STREAMED || in->stride[last] != 1 ||
      out->stride[last] != 1 || l->dims[last] * width % LINE)
    return l->num_in;
  while (d < last && in->stride[d] >= l->dims[last]) d++;
  return d == last ? 0 : l->num_in;
}

#if defined(__x86_64__)
#define HAS_FAR_FILL
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#undef HAS_FAR_FILL /* which would not see what is written */
#endif
#endif
#endif
/* Much more than second-level caches hold the processor writes by lines that it need not read,
 * which stores do not tell it. */
void loop_fill(const vm_kernels *k, size_t n, u32 width, char *to, const char *value) {
  u32 w = vm_log2_width(width);
#if defined(HAS_FAR_FILL)
  if (n * width >= LOOP_FAR_FILL && width <= 8) {
    u64 word;
    size_t words = n * width / 8;
    k->splat[w](8 >> w, &word, value, NULL, NULL);
    __asm__ volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(word) : "memory");
    n %= 8 >> w;
  }
#endif
  k->splat[w](n, to, value, NULL, NULL);
}

void loop_splat(const vm_kernels *k, const pattern *p, i64 count, u32 width, char *base,
                const char *value) {
  enum { AT_ONCE = 64 };
  u32 w = vm_log2_width(width);
  i64 stride = p->stride[p->rank - 1];
  _Alignas(64) char same[AT_ONCE * 16];
  if (stride != 1) k->splat[w](AT_ONCE, same, value, NULL, NULL);
  FOR_RUNS(p, count, run, offset, done, {
    char *to = base + offset * (i64)width;
    if (stride == 1) k->splat[w]((size_t)run, to, value, NULL, NULL);
    for (i64 i = 0; stride != 1 && i < run; i += AT_ONCE)
      k->scatter[w]((size_t)(run - i < AT_ONCE ? run - i : AT_ONCE), to + i * stride * (i64)width,
                    same, &stride, NULL);
    (void)done;
  });
}
