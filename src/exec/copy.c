/* Copies through strides, slices at run-time offsets, random bits.
 *
 * A copy's dims are sorted by the destination and merged; the last one or two then are moved
 * by memcpy, by 16x16 tiles where the source is contiguous in another dim (a transpose), or
 * element by element. The other dims are the step's units. */
#include "exec/loop.h"
#include "exec/placed.h"
#include "num/convert.h"

static void swap(i64 *v, u32 a, u32 b) {
  i64 t = v[a];
  v[a] = v[b];
  v[b] = t;
}
static void swap_dims(step_shape *s, u32 a, u32 b) {
  swap(s->dims, a, b);
  swap(s->to, a, b);
  swap(s->from, a, b);
}
void step_shape_remove(step_shape *s, u32 d) {
  s->rank--;
  for (u32 k = d; k < s->rank; k++) {
    s->dims[k] = s->dims[k + 1];
    s->to[k] = s->to[k + 1];
    s->from[k] = s->from[k + 1];
  }
}

/* The dim in which the source is contiguous comes beside the last, where the destination is: the
 * two are a plane to be transposed. */
static void pair_contiguous(step_shape *s) {
  u32 last = s->rank - 1;
  if (s->rank < 3 || s->to[last] != s->width || s->from[last] == s->width) return;
  for (u32 d = 0; d < last; d++)
    if (s->from[d] == s->width)
      for (; d + 1 < last; d++) swap_dims(s, d, d + 1);
}

/* Dims of 1 go, the others are sorted by the destination, so that it is written in order, but for a
 * plane of both; neighbours that both sides walk as one are merged. At least one dim is left. */
void step_shape_simplify(step_shape *s) {
  for (u32 d = 0; d < s->rank;)
    if (s->dims[d] == 1)
      step_shape_remove(s, d);
    else
      d++;
  for (u32 i = 1; i < s->rank; i++)
    for (u32 k = i; k > 0 && abs_i64(s->to[k - 1]) < abs_i64(s->to[k]); k--)
      swap_dims(s, k - 1, k);
  for (u32 d = 0; d + 1 < s->rank;) {
    if (s->to[d] != s->to[d + 1] * s->dims[d + 1] ||
        s->from[d] != s->from[d + 1] * s->dims[d + 1]) {
      d++;
      continue;
    }
    s->dims[d + 1] *= s->dims[d];
    step_shape_remove(s, d);
  }
  if (s->rank > 0) {
    pair_contiguous(s);
    return;
  }
  s->rank = 1;
  s->dims[0] = 1;
  s->to[0] = s->from[0] = s->width;
}

/* One row: count elements, any strides. */
#define ROW(T)                                                                                     \
  for (i64 i = 0; i < n; i++) {                                                                    \
    T v;                                                                                           \
    memcpy(&v, from + i * fs, sizeof v);                                                           \
    memcpy(to + i * ts, &v, sizeof v);                                                             \
  }
static void copy_row(u32 width, i64 n, char *to, i64 ts, const char *from, i64 fs) {
  typedef struct w16 {
    u64 a, b;
  } w16;
  switch (width) {
  case 1:
    ROW(u8) break;
  case 2:
    ROW(u16) break;
  case 4:
    ROW(u32) break;
  case 8:
    ROW(u64) break;
  default:
    ROW(w16)
  }
}

/* The same, by a kernel where one side lies together. */
static void copy_line(const vm_kernels *k, u32 width, i64 n, char *to, i64 ts, const char *from,
                      i64 fs) {
  i64 step = (ts == width ? fs : ts) / width;
  if (ts == width && fs == 0)
    loop_fill(k, (size_t)n, width, to, from);
  else if (ts == width)
    k->stride[vm_log2_width(width)]((size_t)n, to, from, &step, NULL);
  else if (fs == width)
    k->scatter[vm_log2_width(width)]((size_t)n, to, from, &step, NULL);
  else
    copy_row(width, n, to, ts, from, fs);
}

/* Each element of one side is a row of the other, of more than a few. */
static bool spreads_rows(const step_shape *s) {
  enum { MOST_COLUMNS = 8 };
  u32 last = s->rank - 1;
  return s->width <= 8 && s->dims[last] > MOST_COLUMNS && s->to[last] == s->width &&
         s->from[last] == 0 && s->to[last - 1] == s->dims[last] * s->width;
}

/* Lines a power of two apart, and more than it has, push one another out of a first-level cache
 * before all of their elements are used. */
static bool push_out(size_t rows, size_t columns, i64 ts, i64 fs) {
  enum { MANY = 8, LINE = 64, SETS = 1 << 12 }; /* bytes that have places of their own */
  i64 apart = ts & -ts;
  if (rows <= MANY || columns <= MANY) return false;
  apart = apart < LINE ? LINE : apart > SETS ? SETS : apart;
  return (i64)rows * apart > MANY * SETS || fs % SETS == 0;
}

/* Squares of lines are brought together then, and whole lines of them apart. */
void step_transpose(const vm_kernels *k, u32 width, size_t rows, size_t columns, char *to, i64 ts,
                    const char *from, i64 fs, bool streams) {
  enum { LINE = 64 };
  kern_transpose_fn *across = k->transpose[vm_log2_width(width)];
  _Alignas(LINE) char in[LINE * LINE], out[LINE * LINE];
  size_t side = LINE / width;
  if (width > 2 || !push_out(rows, columns, ts, fs)) {
    across(rows, columns, to, ts, from, fs, streams);
    return;
  }
  for (size_t j = 0; j < columns; j += side)
    for (size_t i = 0; i < rows; i += side) {
      size_t r = rows - i < side ? rows - i : side, c = columns - j < side ? columns - j : side;
      const char *a = from + (i64)j * fs + (i64)(i * width);
      k->move->rows(c, r * width, in, LINE, a, fs, false);
      across(r, c, out, LINE, in, LINE, false);
      k->move->rows(r, c * width, to + (i64)i * ts + (i64)(j * width), ts, out, LINE, false);
    }
}

/* The last two dims (or one). Memory is only shared where every element stays where it is. */
static void copy_plane(const vm_kernels *k, const step_shape *s, char *to, const char *from) {
  u32 last = s->rank - 1;
  if (s->to[last] == s->width && s->from[last] == s->width) {
    u32 row = last ? last - 1 : 0;
    if (to != from)
      k->move->rows(last ? (size_t)s->dims[row] : 1, (size_t)s->dims[last] * s->width, to,
                    s->to[row], from, s->from[row], s->streams);
  } else if (s->rank == 1) {
    copy_line(k, s->width, s->dims[0], to, s->to[0], from, s->from[0]);
  } else if (spreads_rows(s)) {
    k->spread[vm_log2_width(s->width)]((size_t)s->dims[last - 1], (size_t)s->dims[last], to, from,
                                       s->from[last - 1] / s->width);
  } else if (s->to[last] == s->width && s->from[last] != s->width &&
             s->from[last - 1] == s->width && s->width <= 8) {
    step_transpose(k, s->width, (size_t)s->dims[last - 1], (size_t)s->dims[last], to,
                   s->to[last - 1], from, s->from[last], s->streams);
  } else {
    for (i64 i = 0; i < s->dims[last - 1]; i++)
      copy_line(k, s->width, s->dims[last], to + i * s->to[last - 1], s->to[last],
                from + i * s->from[last - 1], s->from[last]);
  }
}

u64 step_shape_planes(const step_shape *s) {
  u64 n = 1;
  for (u32 d = 0; d + 2 < s->rank; d++) n *= (u64)s->dims[d];
  for (u32 d = 0; d < s->rank; d++)
    if (s->dims[d] == 0) n = 0;
  return n;
}

/* Whether more is written than caches keep, so that it had better not push out what they have.
 * Lines that a transpose writes, a row apart, push out one another much earlier. Each plane waits
 * in the end until all is written, which small ones had better not. */
static bool streams(const step_shape *s) {
  enum { IN_ORDER = 16 << 20, ACROSS = 1 << 20, PLANE = 1 << 14 };
  i64 bytes = s->width, plane = s->width;
  for (u32 d = 0; d < s->rank; d++) {
    bytes *= s->dims[d];
    if (d + 2 >= s->rank) plane *= s->dims[d];
  }
  bool in_order = s->from[s->rank - 1] == s->width;
  return in_order ? bytes >= IN_ORDER && plane >= PLANE : bytes >= ACROSS;
}

/* Rows of whole lines that go past the caches had better be read in order: they are fetched ahead
 * then, and what is written waits for nobody. */
static void read_in_order(step_shape *s) {
  enum { LINE = 64 };
  u32 last = s->rank - 1;
  if (!s->streams || s->to[last] != s->width || s->from[last] != s->width ||
      s->dims[last] * s->width % LINE)
    return;
  for (u32 d = 0; d < last; d++)
    if (s->from[d] <= 0) return;
  for (u32 i = 1; i < last; i++)
    for (u32 k = i; k > 0 && s->from[k - 1] < s->from[k]; k--) swap_dims(s, k - 1, k);
}

void step_shape_copy(const vm_kernels *k, const step_shape *s, char *to, const char *from,
                     u64 begin, u64 end) {
  i64 at[PROG_MAX_DIMS] = {0};
  u32 outer = s->rank > 2 ? s->rank - 2 : 0;
  u64 rest = begin;
  if (begin == end) return; /* dims may be 0 */
  for (u32 d = outer; d-- > 0; rest /= (u64)s->dims[d]) {
    at[d] = (i64)(rest % (u64)s->dims[d]);
    to += at[d] * s->to[d];
    from += at[d] * s->from[d];
  }
  for (u64 p = begin; p < end; p++) {
    copy_plane(k, s, to, from);
    for (u32 d = outer; d-- > 0;) {
      to += s->to[d], from += s->from[d];
      if (++at[d] < s->dims[d]) break;
      to -= at[d] * s->to[d], from -= at[d] * s->from[d];
      at[d] = 0;
    }
  }
  if (s->streams) step_fence();
}

/* ---- copy ---- */

typedef struct copying {
  const vm_kernels *k;
  step_shape s;
  u32 src, dst;
  i64 src_at, dst_at;
} copying;

static void run_copy(const void *data, const exec_env *env, u64 begin, u64 end) {
  const copying *c = data;
  step_shape_copy(c->k, &c->s, (char *)env->slots[c->dst] + c->dst_at,
                  (const char *)env->slots[c->src] + c->src_at, begin, end);
}

/* Where planes have a few rows only, those of some planes that lie one after the other become one
 * plane of many. */
static void widen_planes(step_shape *s) {
  enum { FEW = 9, MANY = 64, LONG = 512 };
  u32 last = s->rank - 1, far = last - 2;
  if (s->rank < 3 || s->rank == PROG_MAX_DIMS || s->to[last] != s->width ||
      s->from[last] != s->width || s->dims[last - 1] >= FEW ||
      (s->from[last - 1] == 0 && s->dims[last] * s->width >= LONG)) /* one row again and again */
    return;
  i64 rows = s->dims[far] < MANY ? s->dims[far] : MANY;
  while (s->dims[far] % rows) rows--;
  if (rows <= s->dims[last - 1]) return;
  s->dims[s->rank] = s->dims[last], s->to[s->rank] = s->from[s->rank] = s->width;
  s->rank++;
  s->dims[last] = rows, s->to[last] = s->to[far], s->from[last] = s->from[far];
  s->dims[far] /= rows, s->to[far] *= rows, s->from[far] *= rows;
}

/* Makes a dim to share a large contiguous copy by. */
static void cut_row(step_shape *s) {
  enum { PIECE = 1 << 18 };
  while (s->rank < 3) { /* the last two dims belong to one unit */
    i64 n = s->dims[0];
    if (n * s->width < 2 * PIECE) return;
    i64 parts = n < 64 ? n : 64;
    while (n % parts) parts--;
    if (parts == 1) return;
    if (s->rank == PROG_MAX_DIMS) return;
    for (u32 d = s->rank; d > 0; d--) {
      s->dims[d] = s->dims[d - 1];
      s->to[d] = s->to[d - 1];
      s->from[d] = s->from[d - 1];
    }
    s->rank++;
    s->dims[1] = n / parts;
    s->dims[0] = parts;
    s->to[0] = s->to[1] * s->dims[1];
    s->from[0] = s->from[1] * s->dims[1];
    if (s->rank == 2) { /* a row: make the parts planes of one row */
      s->dims[2] = s->dims[1], s->to[2] = s->to[1], s->from[2] = s->from[1];
      s->dims[1] = 1;
      s->rank = 3;
    }
  }
}

void copy_lower(const lower_env *e, const prog_copy *c, exec_step *out) {
  copying *r = ARENA_NEW(e->a, copying);
  i64 width = (i64)dtype_size(e->prog->slots[c->src.slot].type);
  *out = (exec_step){.run = run_copy, .data = r};
  r->k = e->k;
  r->s.width = (u32)width;
  r->s.rank = c->rank;
  for (u32 d = 0; d < c->rank; d++) {
    r->s.dims[d] = c->dims[d];
    r->s.to[d] = c->dst.stride[d] * width;
    r->s.from[d] = c->src.stride[d] * width;
    if (c->dims[d] == 0) return;
  }
  if (width == 0) return;
  r->src = c->src.slot;
  r->dst = c->dst.slot;
  r->src_at = c->src.offset * width;
  r->dst_at = c->dst.offset * width;
  placed_copy(e, c, out);
  if (out->direct) return;
  step_shape_simplify(&r->s);
  if (shuffle_copy(e, &r->s, r->dst, r->dst_at, r->src, r->src_at, out)) return;
  r->s.streams = streams(&r->s);
  read_in_order(&r->s);
  widen_planes(&r->s);
  cut_row(&r->s);
  out->units = step_shape_planes(&r->s);
  u32 last = r->s.rank - 1;
  out->cost = 10 + (u64)(r->s.dims[last] * (last ? r->s.dims[last - 1] : 1)) * r->s.width / 48;
}

/* ---- dynamic slices ---- */

typedef struct slicing {
  const vm_kernels *k;
  const prog_dynamic *d;
  step_shape s;
  dtype index_type[PROG_MAX_DIMS];
  i64 stride[PROG_MAX_DIMS]; /* of big, bytes */
  size_t whole;              /* bytes, where they lie together in both; 0: they do not */
} slicing;

i64 step_read_index(dtype t, const void *slot, u64 at) {
  const char *p = (const char *)slot + at * dtype_size(t);
  i64 v = 0;
  if (t == DTYPE_s32) return ((const i32 *)slot)[at];
  if (t == DTYPE_s64) return ((const i64 *)slot)[at];
  if (t == DTYPE_u64) {
    u64 u;
    memcpy(&u, p, 8);
    return u > INT64_MAX ? INT64_MAX : (i64)u;
  }
  num_convert(t, p, DTYPE_s64, &v);
  return v;
}

/* Bytes from the beginning of the larger one. */
static i64 slice_begin(const slicing *r, const exec_env *env) {
  const prog_dynamic *d = r->d;
  i64 at = 0;
  for (u32 k = 0; k < d->rank; k++) {
    i64 start = step_read_index(r->index_type[k], env->slots[d->start[k]], 0);
    i64 most = d->big_dims[k] - d->small_dims[k];
    start = start < 0 ? 0 : start > most ? most : start;
    at += start * r->stride[k];
  }
  return at;
}

static void run_slice(const void *data, const exec_env *env, u64 begin, u64 end) {
  const slicing *r = data;
  const prog_dynamic *d = r->d;
  char *big = (char *)env->slots[d->big] + slice_begin(r, env), *small = env->slots[d->small];
  if (r->whole)
    memcpy(d->update ? big : small, d->update ? small : big, r->whole);
  else if (d->update)
    step_shape_copy(r->k, &r->s, big, small, begin, end);
  else
    step_shape_copy(r->k, &r->s, small, big, begin, end);
}

/* The slots are the place's own. */
static void run_view(const void *data, const exec_env *env, u64 begin, u64 end) {
  const slicing *r = data;
  void **slots = (void **)(uintptr_t)env->slots;
  (void)begin, (void)end;
  slots[r->d->small] = (char *)slots[r->d->big] + slice_begin(r, env);
}

/* A unit is an element of the dims up to the one that turns, with all of those behind that: so many
 * as lie together are moved at once. */
static void run_turned(const void *data, const exec_env *env, u64 begin, u64 end) {
  const slicing *r = data;
  const prog_dynamic *d = r->d;
  u32 turns = d->turns - 1;
  i64 start[PROG_MAX_DIMS], all = d->big_dims[turns], line = d->small_dims[turns];
  for (u32 k = 0; k <= turns; k++) {
    i64 most = d->big_dims[k] - d->small_dims[k] + (k == turns ? all : 0);
    i64 at = step_read_index(r->index_type[k], env->slots[d->start[k]], 0);
    start[k] = at < 0 ? 0 : at > most ? most : at;
  }
  i64 row = r->stride[turns];
  char *small = (char *)env->slots[d->small] + (i64)begin * row;
  for (i64 i = (i64)begin, n; i < (i64)end; i += n, small += n * row) {
    i64 first = (start[turns] + i % line) % all, from = first * row, rest = i / line;
    n = min_i64(min_i64((i64)end - i, line - i % line), all - first);
    for (u32 k = turns; k-- > 0; rest /= d->small_dims[k])
      from += (start[k] + rest % d->small_dims[k]) * r->stride[k];
    const char *big = (const char *)env->slots[d->big] + from;
    r->k->move->rows(1, (size_t)(n * row), small, n * row, big, n * row, false);
  }
}

/* All of it, as elements of another width. */
static bool is_whole(const program *p, const prog_dynamic *d) {
  return d->rank == 0 && dtype_size(p->slots[d->big].type) != dtype_size(p->slots[d->small].type);
}
static void copy_whole(const lower_env *e, slicing *r, exec_step *out) {
  u64 bytes = prog_slot_bytes(&e->prog->slots[r->d->small]);
  r->s = (step_shape){.rank = 1, .width = 1, .dims = {(i64)bytes}, .to = {1}, .from = {1}};
  cut_row(&r->s);
  out->units = bytes ? step_shape_planes(&r->s) : 0;
  out->cost = 50 + (out->units ? bytes / 48 / out->units : 0);
}

void dynamic_lower(const lower_env *e, const prog_dynamic *d, exec_step *out) {
  slicing *r = ARENA_NEW(e->a, slicing);
  i64 big = (i64)dtype_size(e->prog->slots[d->big].type), small = big, bytes = big;
  *out = (exec_step){.run = run_slice, .data = r};
  r->d = d;
  r->k = e->k;
  r->s.width = (u32)big;
  r->s.rank = d->rank;
  for (u32 k = d->rank; k-- > 0;) {
    r->s.dims[k] = d->small_dims[k];
    r->s.to[k] = d->update ? big : small;
    r->s.from[k] = d->update ? small : big;
    r->stride[k] = big;
    r->index_type[k] = e->prog->slots[d->start[k]].type;
    big *= d->big_dims[k];
    small *= d->small_dims[k];
    if (d->small_dims[k] == 0) return;
    bytes *= d->small_dims[k];
  }
  if (r->s.width == 0) return;
  if (d->turns) {
    out->run = run_turned;
    out->units = prog_volume(d->small_dims, d->turns);
    out->cost = 2 + (u64)r->stride[d->turns - 1] / 48;
    return;
  }
  enum { FEW = 1024, CALL = 50 }; /* bytes: what is more is copied otherwise */
  if (d->view) {
    *out = (exec_step){.run = run_view, .data = r, .units = 1, .cost = CALL};
    return;
  }
  if (is_whole(e->prog, d)) {
    copy_whole(e, r, out);
    return;
  }
  step_shape_simplify(&r->s);
  out->units = step_shape_planes(&r->s);
  bool together = r->s.rank == 1 && r->s.to[0] == r->s.width && r->s.from[0] == r->s.width;
  if (together && bytes <= FEW && out->units == 1) r->whole = (size_t)bytes;
  out->cost = CALL + (out->units ? (u64)bytes / 48 / out->units : 0);
}

/* ---- random bits ---- */

typedef struct rng {
  const prog_rng *r;
  u64 count;
  u32 width, state_words;
  bool pred;
} rng;

static u32 rotate(u32 x, u32 n) { return x << n | x >> (32 - n); }

/* Threefry-2x32, 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"). */
static void threefry(const u32 key[2], u32 x[2]) {
  static const u8 turns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  u32 k[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1bd11bda};
  x[0] += k[0];
  x[1] += k[1];
  for (u32 round = 0; round < 5; round++) {
    for (u32 i = 0; i < 4; i++) {
      x[0] += x[1];
      x[1] = rotate(x[1], turns[round & 1][i]) ^ x[0];
    }
    x[0] += k[(round + 1) % 3];
    x[1] += k[(round + 2) % 3] + round + 1;
  }
}

/* Philox-4x32, 10 rounds (the same paper). */
static void philox(const u32 key[2], u32 x[4]) {
  u32 k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; round++) {
    u64 a = 0xd2511f53ull * x[0], b = 0xcd9e8d57ull * x[2];
    u32 y[4] = {(u32)(b >> 32) ^ x[1] ^ k0, (u32)b, (u32)(a >> 32) ^ x[3] ^ k1, (u32)a};
    memcpy(x, y, sizeof y);
    k0 += 0x9e3779b9;
    k1 += 0xbb67ae85;
  }
}

static void put_bits(const rng *g, char *out, u64 at, u64 bits) {
  if (g->pred) bits &= 1;
  memcpy(out + at * g->width, &bits, g->width); /* little endian */
}

/* Two words at a time, up to 32 bits of each. */
static u64 threefry_halves(const rng *g, char *out, const u32 key[2], u64 counter) {
  const prog_rng *r = g->r;
  for (i64 o = 0; o < r->outer; o++)
    for (i64 j = 0; j < r->size; j += 2)
      for (i64 c = 0; c < r->inner; c++, counter++) {
        u32 x[2] = {(u32)counter, (u32)(counter >> 32)};
        i64 at = (o * r->size + j) * r->inner + c;
        threefry(key, x);
        put_bits(g, out, (u64)at, x[0]);
        if (j + 1 < r->size) put_bits(g, out, (u64)(at + r->inner), x[1]);
      }
  return counter;
}

static u64 threefry_wholes(const rng *g, char *out, const u32 key[2], u64 counter) {
  for (u64 i = 0; i < g->count; i++, counter++) {
    u32 x[2] = {(u32)counter, (u32)(counter >> 32)};
    threefry(key, x);
    put_bits(g, out, i, x[0] | (u64)x[1] << 32);
  }
  return counter;
}

/* Four words at a time; the counter has 128 bits. */
static void philox_all(const rng *g, char *out, const u32 key[2], u64 counter[2]) {
  bool wide = g->width > 4;
  u32 per = wide ? 2 : 4;
  for (u64 i = 0; i < g->count; i += per) {
    u32 x[4] = {(u32)counter[0], (u32)(counter[0] >> 32), (u32)counter[1], (u32)(counter[1] >> 32)};
    philox(key, x);
    if (++counter[0] == 0) counter[1]++;
    for (u32 k = 0; k < per && i + k < g->count; k++)
      put_bits(g, out, i + k, wide ? x[2 * k] | (u64)x[2 * k + 1] << 32 : x[k]);
  }
}

static void run_rng(const void *data, const exec_env *env, u64 begin, u64 end) {
  const rng *g = data;
  (void)begin, (void)end;
  u64 state[3] = {0, 0, 0};
  memcpy(state, env->slots[g->r->state], g->state_words * 8);
  char *out = env->slots[g->r->out];
  u32 key[2] = {(u32)state[0], (u32)(state[0] >> 32)};
  if (g->state_words == 2) state[2] = state[0]; /* XLA's counter is then the state, reversed */
  if (g->r->kind == RNG_PHILOX)
    philox_all(g, out, key, state + 1);
  else
    state[1] = (g->width > 4 ? threefry_wholes : threefry_halves)(g, out, key, state[1]);
  memcpy(env->slots[g->r->new_state], state, g->state_words * 8);
}

void rng_lower(const lower_env *e, const prog_rng *r, exec_step *out) {
  rng *g = ARENA_NEW(e->a, rng);
  const prog_slot *s = &e->prog->slots[r->out];
  u64 words = e->prog->slots[r->state].count;
  *g = (rng){.r = r,
             .count = s->count,
             .width = (u32)dtype_size(s->type),
             .state_words = r->kind == RNG_THREEFRY || words < 3 ? 2 : 3,
             .pred = s->type == DTYPE_pred};
  *out = (exec_step){.run = run_rng, .data = g, .units = 1, .cost = 20 + 10 * g->count};
}
