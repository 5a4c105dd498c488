/* What is free of a piece of memory: plan.c's. */
#ifndef PROGRAM_HOLES_H
#define PROGRAM_HOLES_H

#include "program/program.h"

typedef struct hole {
  u64 offset, bytes;
} hole;
typedef struct holes {
  VEC(hole) list; /* sorted by offset, never touching */
  u64 end;
} holes;

/* The smallest that is large enough, of what is there; PROG_NONE: none. */
static inline u32 find_hole(const holes *l, u64 bytes) {
  u32 best = PROG_NONE;
  for (u32 i = 0; i < l->list.len; i++)
    if (l->list.data[i].bytes >= bytes &&
        (best == PROG_NONE || l->list.data[i].bytes < l->list.data[best].bytes))
      best = i;
  return best;
}

static inline u64 take(holes *l, u32 which, u64 bytes) {
  hole *h = &l->list.data[which];
  u64 at = h->offset;
  h->offset += bytes;
  h->bytes -= bytes;
  if (h->bytes == 0) {
    memmove(h, h + 1, (l->list.len - which - 1) * sizeof(hole));
    l->list.len--;
  }
  return at;
}

/* Behind everything; a hole at the end grows rather than stay. */
static inline u64 take_more(holes *l, u64 bytes) {
  size_t n = l->list.len;
  if (n && l->list.data[n - 1].offset + l->list.data[n - 1].bytes == l->end) {
    hole h = l->list.data[--l->list.len];
    l->end = h.offset + bytes;
    return h.offset;
  }
  u64 at = l->end;
  if (!checked_add(l->end, bytes, &l->end)) l->end = UINT64_MAX;
  return at;
}

static inline void give(arena *a, holes *l, hole h) {
  if (h.bytes == 0) return;
  VEC_PUSH(a, l->list, h);
  size_t i = l->list.len - 1;
  for (; i > 0 && l->list.data[i - 1].offset > h.offset; i--) l->list.data[i] = l->list.data[i - 1];
  l->list.data[i] = h;
  hole *v = l->list.data;
  if (i + 1 < l->list.len && v[i].offset + v[i].bytes == v[i + 1].offset) {
    v[i].bytes += v[i + 1].bytes;
    memmove(&v[i + 1], &v[i + 2], (l->list.len - i - 2) * sizeof(hole));
    l->list.len--;
  }
  if (i > 0 && v[i - 1].offset + v[i - 1].bytes == v[i].offset) {
    v[i - 1].bytes += v[i].bytes;
    memmove(&v[i], &v[i + 1], (l->list.len - i - 1) * sizeof(hole));
    l->list.len--;
  }
}

#endif
