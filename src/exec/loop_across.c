/* Loops that read an operand transposed: a strip of it, some lines wide, is brought into scratch in
 * the order of the results, which are then computed and written as they lie (loop.h). */
#include "exec/loop.h"

/* The dim in which an input is contiguous that is not so in the last one; PROG_NONE: there is none.
 */
static u32 find_across(const plan *p, u32 num_in) {
  enum { LEAST = 5 };
  u32 last = p->rank - 1;
  for (u32 w = 0; w < num_in; w++) {
    const i64 *stride = p->walks[w].stride;
    for (u32 d = 0; d < last && loop_magnitude(stride[last]) > 1; d++)
      if (stride[d] == 1 && p->dims[d] >= LEAST) return d;
  }
  return PROG_NONE;
}

/* How much of a dim is one of several equal parts of up to `most`; 0: too little. */
static i64 find_part(i64 dim, i64 most) {
  enum { LEAST = 16 };
  i64 n = most;
  while (n >= LEAST && dim % n) n--;
  return n < LEAST ? 0 : n;
}

void loop_cut_across(plan *p, u32 num_in, u64 most) {
  u32 at = find_across(p, num_in), last = p->rank - 1;
  u64 inner = 1;
  p->across = 0;
  if (at == PROG_NONE) return;
  for (u32 d = at + 1; d <= last; d++) inner *= (u64)p->dims[d];
  for (; inner > most && at + 1 < last; at++) {
    loop_swap_dims(p, at, at + 1);
    inner /= (u64)p->dims[at];
  }
  if (inner > most) { /* (at, last) -> (last / part, at, part) */
    i64 part = find_part(p->dims[last], (i64)most);
    if (part == 0 || p->rank == PROG_MAX_DIMS) return;
    p->dims[p->rank] = part;
    p->dims[last] /= part;
    for (u32 w = 0; w < p->num_walks; w++) {
      i64 *s = p->walks[w].stride;
      s[p->rank] = s[last];
      s[last] *= part;
    }
    p->rank++;
    loop_swap_dims(p, at++, last);
  }
  p->across = at + 1;
}

void loop_set_lines(plan *p, u32 width) {
  enum { LINES = 128, MOST = 1 << 18 }; /* bytes: of each row, of a strip */
  u64 lines = LINES / width;
  if (lines * p->inner * width > MOST) lines /= 2;
  loop_set_piece(p, p->max_elements > lines * p->inner ? p->max_elements : lines * p->inner);
}

bool loop_lies_across(const pattern *p) {
  for (u32 d = 0; d + 2 < p->rank; d++)
    if (p->stride[d] == 1) return true;
  return false;
}

void loop_gather_across(const vm_kernels *k, const pattern *p, i64 count, u32 width,
                        const char *base, char *out) {
  step_shape s = {.width = width, .rank = p->rank};
  i64 step = width;
  for (u32 d = p->rank; d-- > 0; step *= s.dims[d]) {
    s.dims[d] = d ? p->dims[d] : count * p->head;
    s.to[d] = step;
    s.from[d] = p->stride[d] * (i64)width;
  }
  step_shape_simplify(&s);
  step_shape_copy(k, &s, out, base, 0, step_shape_planes(&s));
}
