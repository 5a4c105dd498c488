#include "exec/jit_placed.h"

#include "program/program.h"

/* What register reg has in lanes from element `first` on; the last ones of those that are none are
 * the last element. */
static jit_pattern find_pattern(const jit_places *s, u32 reg, u32 first) {
  jit_pattern p = {.end = s->end[reg]};
  const i32 *at = s->at + (size_t)reg * s->num;
  bool run = true;
  for (u32 i = 0; i < JIT_LANES; i++) {
    bool is = first + i < s->num;
    if (is && i) run &= at[first + i] == at[first] + (i32)i;
    p.at[i] = is ? at[first + i] : run && i > 1 ? p.at[i - 1] + 1 : p.at[i - 1];
  }
  return p;
}
u32 jit_pattern_window(const jit_pattern *p, u32 left, i32 *out_first) {
  i32 first = INT32_MAX, last = p->end - JIT_LANES;
  u32 here = 0;
  for (u32 i = 0; i < JIT_LANES; i++)
    if (left >> i & 1 && p->at[i] < first) first = p->at[i];
  if (first > last) first = last > 0 ? last : 0;
  for (u32 i = 0; i < JIT_LANES; i++)
    here |= (u32)(p->at[i] < first + JIT_LANES || p->at[i] >= p->end) << i;
  *out_first = first;
  return here & left; /* what is behind all that may be read is of no lane that matters */
}
static u32 add_pattern(jit_build *r, const jit_pattern *p) {
  for (u32 i = 0; i < r->patterns.len; i++)
    if (memcmp(&r->patterns.data[i], p, sizeof *p) == 0) return i;
  VEC_PUSH(r->a, r->patterns, *p);
  return (u32)r->patterns.len - 1;
}

static u32 count_windows(const jit_pattern *p) {
  u32 n = 0;
  i32 first;
  for (u32 left = 0xffff; left; n++) left &= ~jit_pattern_window(p, left, &first);
  return n;
}

static jit_value add_load(jit_build *r, const jit_places *s, u32 reg, u32 first, u32 *work) {
  jit_pattern p = find_pattern(s, reg, first);
  bool same = true;
  if (s->pointer[reg] != PROG_NONE) *work += 5 * (count_windows(&p) - 1);
  for (u32 i = 1; i < JIT_LANES; i++) same &= p.at[i] == p.at[0];
  if (s->pointer[reg] == PROG_NONE)
    return jit_add_node(r, (jit_node){.prim = JP_numbers, .imm = add_pattern(r, &p)});
  if (same) return jit_add_node(r, (jit_node){JP_one32, s->pointer[reg], (u32)p.at[0], {0}});
  return jit_add_node(r, (jit_node){JP_load32, s->pointer[reg], add_pattern(r, &p), {0}});
}

/* What lies side by side goes together: lanes before it are as if they lay there, too. */
static void add_stores(jit_build *r, const jit_places *s, u32 reg, u32 first, jit_value v) {
  const i32 *at = s->at + (size_t)reg * s->num + first;
  u32 n = s->num - first < JIT_LANES ? s->num - first : JIT_LANES;
  for (u32 i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && at[end] == at[end - 1] + 1;) end++;
    u32 mask = (1u << end) - (1u << i);
    jit_add_node(r, (jit_node){JP_store32, s->pointer[reg], (u32)(at[i] - (i32)i), {v, mask}});
  }
}

bool jit_place_lanes(const jit_build *b, const jit_places *s, jit_build *out) {
  enum { MOST = 1500, A_LANE = 10 };
  u32 work = 0;
  jit_build r = {.a = b->a, .target = b->target, .placed = true};
  u32 len = (u32)b->nodes.len, *copies = ARENA_ARRAY(b->a, u32, len + 1);
  for (u32 first = 0; first < s->num; first += JIT_LANES)
    for (u32 v = 0; v < len; v++) {
      jit_node n = b->nodes.data[v];
      const jit_prim_info *p = &jit_prim_infos[n.prim];
      for (u32 k = 0; k < p->operands; k++) n.arg[k] = copies[n.arg[k]];
      if (n.prim == JP_load32)
        copies[v] = add_load(&r, s, n.imm, first, &work);
      else if (n.prim == JP_store32)
        add_stores(&r, s, n.imm, first, n.arg[0]);
      else if (jit_in_memory(p->shape))
        return false;
      else
        copies[v] = jit_add_node(&r, n);
    }
  *out = r;
  return r.nodes.len <= MOST && work <= A_LANE * s->num;
}
