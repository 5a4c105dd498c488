/* Where the elements of a row's windows lie. For window.c, slide.c and select_scatter.c. */
#include "exec/rows.h"

static i64 or_one(const i64 *list, u32 d) { return list ? list[d] : 1; }

static bool is_single(const row_shape *s, u32 d) {
  return s->window[d] == 1 && s->step[d] == 1 && s->low[d] == 0 && s->dims[d] == s->out_dims[d] &&
         or_one(s->base, d) == 1;
}

void rows_find(const row_shape *s, i64 most, row_windows *out) {
  row_windows *r = out;
  u32 first = 0, end = s->rank;
  *r = (row_windows){.lead = 1, .inner = 1, .plane = 1, .out_plane = 1, .volume = 1};
  while (end > 0 && is_single(s, end - 1)) r->inner *= s->dims[--end];
  while (first < end && is_single(s, first)) r->lead *= s->dims[first++];
  r->rank = end > first ? end - first : 1;
  r->dims[0] = r->out_dims[0] = r->window[0] = r->step[0] = r->dilation[0] = r->base[0] = 1;
  for (u32 d = first, i = 0; d < end; d++, i++) {
    r->dims[i] = s->dims[d];
    r->out_dims[i] = s->out_dims[d];
    r->window[i] = s->window[d];
    r->step[i] = s->step[d];
    r->dilation[i] = or_one(s->dilation, d);
    r->base[i] = or_one(s->base, d);
    r->low[i] = s->low[d];
  }
  for (u32 d = r->rank; d-- > 0;) {
    r->stride[d] = r->plane * r->inner;
    r->plane *= r->dims[d];
    r->out_plane *= r->out_dims[d];
    r->volume *= r->window[d];
  }
  r->piece = r->inner > most ? most : r->inner;
  if (r->piece == 0) return;
  r->pieces = (r->inner + r->piece - 1) / r->piece;
  r->row = min_i64(ROW_LANES / r->piece, max_i64(r->out_dims[r->rank - 1], 1));
  r->blocks = (r->out_dims[r->rank - 1] + r->row - 1) / r->row;
}

bool rows_outer(const row_windows *r, const i64 *at, const i64 *in, i64 *off) {
  *off = 0;
  for (u32 d = 0; d + 1 < r->rank; d++) {
    i64 p = at[d] * r->step[d] + in[d] * r->dilation[d] - r->low[d];
    if (r->base[d] > 1) {
      if (p < 0 || p % r->base[d]) return false;
      p /= r->base[d];
    }
    if (p < 0 || p >= r->dims[d]) return false;
    *off += p * r->stride[d];
  }
  return true;
}

bool rows_inside(const row_windows *r, const i64 *at, const i64 *in, i64 *first, i64 *end,
                 i64 *off) {
  u32 last = r->rank - 1;
  i64 step = r->step[last], low = in[last] * r->dilation[last] - r->low[last];
  if (!rows_outer(r, at, in, off)) return false;
  *off += low * r->inner;
  /* windows i with 0 <= i * step + low < size */
  i64 begin = low >= 0 ? 0 : (-low + step - 1) / step, room = r->dims[last] - 1 - low;
  *first = max_i64(*first, begin);
  *end = min_i64(*end, room < 0 ? 0 : room / step + 1);
  return *first < *end;
}

const void *rows_fetch(const vm_kernels *k, dtype t, char *raw, char *to, const char *from, i64 n,
                       i64 length, i64 apart) {
  u32 width = (u32)dtype_size(t);
  bool as_stored = !k->load[t] && !k->clean[t];
  if (n > 1 && apart != length) {
    char *packed = as_stored ? to : raw;
    if (length == 1)
      k->stride[vm_log2_width(width)]((size_t)n, packed, from, &apart, NULL);
    else
      for (i64 i = 0; i < n; i++)
        memcpy(packed + i * length * width, from + i * apart * width, (size_t)length * width);
    from = packed;
  }
  if (as_stored) return from;
  vm_load_elements(k, t, (size_t)(n * length), to, from);
  return to;
}
