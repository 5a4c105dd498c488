#include "exec/jit_regs.h"

/* ---- who is needed when ---- */

static void find_uses(emit *e) {
  u32 n = (u32)e->b->nodes.len, total = 0;
  e->needed = arena_zalloc(e->a, n + 1);
  e->use_begin = arena_zalloc(e->a, (n + 2) * sizeof(u32));
  for (u32 v = n; v-- > 0;) {
    e->needed[v] |= info_of(e, v)->class == JIT_N;
    for (u32 k = 0; e->needed[v] && k < info_of(e, v)->operands; k++) {
      e->needed[node_of(e, v)->arg[k]] = true;
      e->use_begin[node_of(e, v)->arg[k]]++;
    }
  }
  for (u32 v = 0; v <= n; v++) { /* from counts to ends */
    total += e->use_begin[v];
    e->use_begin[v] = total;
  }
  e->uses = ARENA_ARRAY(e->a, u32, total + 1);
  for (u32 v = n; v-- > 0;)
    for (u32 k = 0; e->needed[v] && k < info_of(e, v)->operands; k++)
      e->uses[--e->use_begin[node_of(e, v)->arg[k]]] = v;
  e->use_begin[n] = total;
}

static u32 next_use(const emit *e, u32 v) {
  return e->next[v] < e->use_begin[v + 1] ? e->uses[e->next[v]] : UINT32_MAX;
}

/* ---- registers ---- */

static u32 take_slot(emit *e) {
  if (e->num_free == 0) return ++e->slots;
  u32 slot = e->free.data[--e->num_free];
  e->free.data[e->num_free] = e->free.data[--e->free.len];
  return slot;
}
static void spill(emit *e, u32 v, u32 class, u32 reg) {
  e->owner[class][reg] = 0;
  e->place[v] = NO_REG;
  if (is_invariant(e, v) || e->slot[v] || next_use(e, v) == UINT32_MAX) return;
  e->slot[v] = take_slot(e);
  if (e->slots > e->most_slots) e->most_slots = e->slots;
  regs_move(e, class, reg, e->slot[v] - 1, true);
}

u32 regs_take(emit *e, u32 v) {
  u32 class = class_of(e, v), best = NO_REG, farthest = 0;
  u32 begin = class == JIT_V ? 0 : FIRST_K, end = class == JIT_V ? e->num_v : END_K;
  for (u32 r = begin; r < end && farthest < UINT32_MAX; r++) {
    if (e->locked[class] >> r & 1) continue;
    u32 at = e->owner[class][r] ? next_use(e, e->owner[class][r] - 1) : UINT32_MAX;
    if (best == NO_REG || at > farthest) best = r, farthest = at;
  }
  if (e->owner[class][best]) spill(e, e->owner[class][best] - 1, class, best);
  e->owner[class][best] = v + 1;
  e->place[v] = (u8)best;
  e->locked[class] |= 1u << best;
  if (class == JIT_V) e->used |= 1u << best;
  return best;
}

void regs_take_over(emit *e, u32 v, u32 r) {
  e->place[v] = (u8)r;
  e->owner[JIT_V][r] = v + 1;
}

u32 regs_need(emit *e, u32 v) {
  u32 class = class_of(e, v);
  if (e->place[v] == NO_REG) {
    u32 to = regs_take(e, v);
    if (is_invariant(e, v))
      regs_bring(e, v, to);
    else
      regs_move(e, class, to, e->slot[v] - 1, false);
  }
  e->locked[class] |= 1u << e->place[v];
  return e->place[v];
}

void regs_release(emit *e, u32 at) {
  const jit_node *n = node_of(e, at);
  e->num_free = (u32)e->free.len;
  for (u32 k = 0; k < info_of(e, at)->operands; k++) {
    u32 v = n->arg[k], class = class_of(e, v);
    while (next_use(e, v) <= at) e->next[v]++;
    if (next_use(e, v) != UINT32_MAX) continue;
    if (e->slot[v]) VEC_PUSH(e->a, e->free, e->slot[v]);
    e->slot[v] = 0;
    if (e->place[v] == NO_REG) continue;
    if (class == JIT_V && e->pinned >> e->place[v] & 1) continue;
    e->owner[class][e->place[v]] = 0;
    e->place[v] = NO_REG;
  }
  e->locked[JIT_V] = e->pinned;
  e->locked[JIT_K] = 0;
}
bool regs_dies(const emit *e, u32 v, u32 at) {
  u32 i = e->next[v];
  while (i < e->use_begin[v + 1] && e->uses[i] <= at) i++;
  return i == e->use_begin[v + 1] && e->place[v] != NO_REG && !(e->pinned >> e->place[v] & 1);
}

/* ---- bodies ---- */

void regs_begin(emit *e, const jit_build *b) {
  u32 n = (u32)b->nodes.len;
  e->b = b;
  e->place = arena_alloc(e->a, n + 1);
  memset(e->place, NO_REG, n + 1);
  e->slot = arena_zalloc(e->a, (n + 1) * sizeof(u32));
  find_uses(e);
  e->next = arena_copy(e->a, e->use_begin, (n + 1) * sizeof(u32));
  memset(e->owner, 0, sizeof e->owner);
  e->slots = e->sum == UINT32_MAX ? 0 : e->sums;
  e->free.len = e->num_free = 0;
  if (e->most_slots < e->slots) e->most_slots = e->slots;
}

bool regs_init(emit *e, const jit_build *b, const vectors *is, u32 vectors) {
  u32 n = (u32)b->nodes.len, regs = 0, sum = UINT32_MAX, wide = 0;
  if (n > MOST_NODES) return false;
  for (u32 v = 0; v < n; v++) {
    u32 shape = jit_prim_infos[b->nodes.data[v].prim].shape, imm = b->nodes.data[v].imm;
    bool memory = jit_in_memory(shape);
    if (memory && imm >= regs) regs = imm + 1;
    if (shape == JIT_SUM) sum = imm, wide = jit_prim_infos[b->nodes.data[v].prim].wide;
  }
  *e = (emit){.a = b->a, .b = b, .code.a = b->a, .is = is, .sum = sum, .vectors = vectors};
  e->num_v = is->num_v;
  e->scalar = vectors == 0;
  e->sums = is->sums << wide;
  e->sums_at = is->sums_at == NO_REG ? NO_REG : is->sums_at + is->sums - e->sums;
  if (sum != UINT32_MAX && e->sums_at != NO_REG) e->num_v = e->sums_at;
  e->num_in_memory = regs;
  e->pointer = arena_alloc(b->a, regs + 1);
  memset(e->pointer, NO_REG, regs + 1);
  regs_begin(e, b);
  return true;
}

void regs_emit_body(emit *e, bool rest) {
  e->rest = rest;
  for (u32 v = 0; v < e->b->nodes.len; v++)
    for (u32 reg = 0; reg < e->num_v && is_invariant(e, v); reg++)
      if (e->pinned >> reg & 1 && memcmp(&e->pins[reg], node_of(e, v), sizeof(jit_node)) == 0)
        e->place[v] = (u8)reg;
  for (u32 v = 0; v < e->b->nodes.len; v++) {
    e->locked[JIT_V] = e->pinned;
    e->locked[JIT_K] = 0;
    if (e->needed[v]) regs_emit(e, v);
  }
}

/* How many registers of a class values of the body take at once. */
static u32 count_pressure(const emit *e, u32 class) {
  u32 live = 0, most = 0;
  for (u32 v = 0; v < e->b->nodes.len; v++) {
    if (!e->needed[v] || is_invariant(e, v)) continue;
    live += class_of(e, v) == class;
    if (live > most) most = live;
    const jit_node *n = node_of(e, v);
    for (u32 k = 0; k < info_of(e, v)->operands; k++) {
      u32 x = n->arg[k];
      bool again = (k > 0 && x == n->arg[0]) || (k > 1 && x == n->arg[1]);
      bool last = e->uses[e->use_begin[x + 1] - 1] == v;
      live -= last && !again && !is_invariant(e, x) && class_of(e, x) == class;
    }
  }
  return most;
}

/* How many values of the body wait for one another at most. */
static u32 count_depth(const emit *e) {
  u32 most = 0, *depth = ARENA_ARRAY(e->a, u32, e->b->nodes.len);
  for (u32 v = 0; v < e->b->nodes.len; v++) {
    depth[v] = 0;
    if (!e->needed[v] || is_invariant(e, v)) continue;
    for (u32 k = 0; k < info_of(e, v)->operands; k++) {
      u32 before = depth[node_of(e, v)->arg[k]];
      if (depth[v] < before) depth[v] = before;
    }
    if (++depth[v] > most) most = depth[v];
  }
  return most;
}

void regs_pin_invariants(emit *e) {
  u32 used = count_pressure(e, JIT_V) + e->is->apart;
  for (u32 reg = e->num_v; reg-- > used;) {
    u32 best = UINT32_MAX, most = 0;
    for (u32 v = 0; v < e->b->nodes.len; v++) {
      if (!e->needed[v] || !is_invariant(e, v) || info_of(e, v)->class != JIT_V) continue;
      u32 uses = e->use_begin[v + 1] - e->use_begin[v];
      if (e->place[v] == NO_REG && uses > most) best = v, most = uses;
    }
    if (best == UINT32_MAX) return;
    regs_bring(e, best, reg);
    e->place[best] = (u8)reg;
    e->pins[reg] = *node_of(e, best);
    e->pinned |= 1u << reg;
    e->used |= 1u << reg;
  }
}

void regs_give_pointers(emit *e, const u8 *pointers, u32 num) {
  for (u32 v = 0; v < e->b->nodes.len; v++) {
    const jit_node *n = node_of(e, v);
    u32 shape = info_of(e, v)->shape;
    bool memory = jit_in_memory(shape);
    if (!memory || !e->needed[v] || e->pointer[n->imm] != NO_REG) continue;
    if (e->num_pointers == num) return;
    e->pointer[n->imm] = pointers[e->num_pointers++];
  }
}

/* Several rounds at once, so that there is enough to do while results are waited for: more than fit
 * into registers, as what goes to memory and back costs less; but masks cost more, and elements of
 * 8 bytes are two vectors anyway. Where few values wait for one another, the processor itself
 * begins the next rounds in the meantime. */
u32 regs_choose_rounds(const emit *e) {
  enum { LONG = 1024, WIDE = 16, MOST = 256 /* elements that bits of a byte count */, DEEP = 20 };
  u32 pressure = count_pressure(e, JIT_V), length = 0, wide = 0, rounds = 8;
  bool halves = false, pairs = false;
  for (u32 v = 0; v < e->b->nodes.len; v++) {
    u32 prim = node_of(e, v)->prim;
    bool counts = e->needed[v] && !is_invariant(e, v);
    length += counts;
    wide += counts && info_of(e, v)->wide;
    bool quarters = prim == JP_load128 || prim == JP_store128;
    halves |= prim == JP_load64h || prim == JP_store64h || quarters;
    pairs |= prim == JP_unpcklps || quarters;
  }
  halves = halves && (pairs || 4 * wide > length); /* not of a few among others */
  if (length < 24 || count_pressure(e, JIT_K) > 1) rounds = 4;
  if (halves) rounds = pairs ? 2 : rounds / 2;
  while (rounds * e->is->lanes > e->vectors * WIDE || rounds * e->is->lanes > MOST) rounds /= 2;
  bool in_registers = e->sum != UINT32_MAX && e->sums_at != NO_REG;
  u32 least = in_registers ? e->is->sums : 1; /* so that each has a running sum of its own */
  u32 many = count_depth(e) > DEEP ? e->is->many : e->is->shallow;
  while (rounds > least && (rounds * pressure > many || rounds * length > LONG)) rounds /= 2;
  return rounds < least ? least : rounds;
}
