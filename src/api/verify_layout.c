#include "api/verify_look.h"

enum { MAX_RANK = 16, MAX_AXES = 16, MAX_PIECES = 64, MAX_LAYOUTS = 96 };

/* A part of an axis, along a dimension. */
typedef struct piece {
  u32 dim, axis;
  i64 pre, size;
} piece;

typedef struct searching {
  const i64 *axes;
  u32 num_axes, rank, tries;
  i64s whole, local;
  i64 devices;
  i64 front[MAX_AXES], back[MAX_AXES]; /* of each axis, what is taken from either end */
  piece pieces[MAX_PIECES];
  u32 num_pieces;
  u32 *slices; /* [devices][rank] */
  layout_fn *fn;
  void *user;
} searching;

static bool take_layout(searching *s) {
  for (i64 at = 0; at < s->devices; at++) {
    u32 *index = s->slices + (size_t)at * s->rank;
    memset(index, 0, s->rank * sizeof *index);
    for (u32 i = 0; i < s->num_pieces; i++) {
      const piece *p = &s->pieces[i];
      i64 inner = 1;
      for (u32 a = p->axis + 1; a < s->num_axes; a++) inner *= s->axes[a];
      i64 below = s->axes[p->axis] / (p->pre * p->size);
      i64 digit = at / inner % s->axes[p->axis] / below % p->size;
      index[p->dim] = index[p->dim] * (u32)p->size + (u32)digit;
    }
  }
  s->tries++;
  return s->fn(s->user, s->slices);
}

static i64 gcd(i64 a, i64 b) {
  while (b) {
    i64 c = a % b;
    a = b, b = c;
  }
  return a;
}

static bool next_dim(searching *s, u32 dim);

/* Cuts dimension `dim` into `parts` more. */
static bool cut(searching *s, u32 dim, i64 parts) {
  if (parts == 1) return next_dim(s, dim + 1);
  for (u32 a = 0; a < s->num_axes; a++) {
    i64 left = s->axes[a] / (s->front[a] * s->back[a]), size = gcd(left, parts);
    if (size == 1 || s->num_pieces == MAX_PIECES) continue;
    for (int k = 0; k < (size < left ? 2 : 1); k++) {
      i64 pre = k ? s->axes[a] / (s->back[a] * size) : s->front[a];
      i64 *end = k ? &s->back[a] : &s->front[a];
      s->pieces[s->num_pieces++] = (piece){dim, a, pre, size};
      *end *= size;
      if (cut(s, dim, parts / size)) return true;
      *end /= size;
      s->num_pieces--;
    }
  }
  return false;
}

/* true: that was it, or there have been enough. */
static bool next_dim(searching *s, u32 dim) {
  if (s->tries == MAX_LAYOUTS) return true;
  if (dim == s->rank) return take_layout(s);
  i64 whole = s->whole.data[dim], local = s->local.data[dim];
  for (i64 parts = 1; parts <= s->devices; parts++)
    if (s->devices % parts == 0 && whole / parts + (whole % parts != 0) == local &&
        cut(s, dim, parts))
      return true;
  return false;
}

bool each_layout(const why_mesh *m, i64s whole, i64s local, layout_fn *fn, void *user) {
  searching s = {.axes = m ? m->sizes.data : NULL,
                 .num_axes = m ? (u32)m->sizes.len : 0,
                 .rank = (u32)whole.len,
                 .whole = whole,
                 .local = local,
                 .devices = 1,
                 .fn = fn,
                 .user = user};
  if (whole.len != local.len || s.rank > MAX_RANK || s.num_axes > MAX_AXES) return false;
  for (u32 a = 0; a < s.num_axes; a++) {
    s.devices *= s.axes[a];
    s.front[a] = s.back[a] = 1;
  }
  s.slices = mem_zalloc(&mem_system, (size_t)s.devices * (s.rank + 1) * sizeof *s.slices);
  if (s.slices) next_dim(&s, 0);
  mem_free(&mem_system, s.slices, 0);
  return s.tries > 0;
}
