#include "exec/jit_regs.h"

/* ---- who is needed when ---- */

void regs_find_uses(emit *e) {
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

/* ---- memory ---- */

x86_op regs_op(const emit *e, const jit_prim_info *p) {
  /* there are none of less than a whole vector */
  bool halves = (p->map == 3 || p->shape == JIT_CONST) && p->w;
  u8 length = e->scalar && !halves ? 0 : X86_ALL;
  x86_op op = {p->prefix, p->map, p->w, p->opcode, length, 0, false};
  if (e->b->avx2 && p->vex > 1)
    op = (x86_op){(u8)(p->vex >> 11), p->vex >> 8 & 3, p->vex >> 10 & 1, (u8)p->vex, length};
  return op;
}
void regs_put(emit *e, x86_op op, u32 reg, u32 v, x86_rm rm, i32 imm) {
  if (!e->b->avx2) {
    x86_evex(&e->code, op, reg, v, rm, imm);
    return;
  }
  op.length -= op.length > 0;
  x86_vex(&e->code, op, reg, v, rm, imm);
}
/* The first element of a register in memory. */
x86_rm regs_first(emit *e, u32 reg) {
  if (e->pointer[reg] != GPR_NONE) return x86_mem(e->pointer[reg], 0);
  u32 to = e->scalar ? RDI : RAX;
  x86_plain(&e->code, 0, 1, 0x8b, to, x86_mem(RSI, (i32)(reg * sizeof(void *))));
  return x86_mem(to, 0);
}
x86_rm regs_slot(const emit *e, u32 i) { return x86_mem(RSP, (i32)(i * regs_slot_bytes(e))); }
static x86_rm slot_of(const emit *e, u32 v) { return regs_slot(e, e->slot[v] - 1); }
x86_rm regs_pooled(emit *e, const u32 *words, u32 n) {
  u32 i = 0;
  while (i + n <= e->code.pool.len && memcmp(&e->code.pool.data[i], words, n * 4) != 0) i++;
  if (i + n > e->code.pool.len) {
    i = (u32)e->code.pool.len;
    for (u32 k = 0; k < n; k++) VEC_PUSH(e->a, e->code.pool, words[k]);
  }
  return (x86_rm){.memory = true, .pooled = true, .disp = (i32)i};
}

static x86_rm pooled_const(emit *e, u32 v) {
  enum {
    ZERO = 31,
    MOST = 16
  }; /* a word of the upper half; of the shortest vectors the last one */
  const jit_node *n = node_of(e, v);
  u32 words[MOST], period = info_of(e, v)->more / 4;
  for (u32 i = 0; i < MOST; i++)
    words[i] = n->prim == JP_uppers ? i << 16 | ZERO : i % period ? n->arg[0] : n->imm;
  return regs_pooled(e, words,
                     e->b->avx2 ? e->is->lanes : period); /* only EVEX repeats what it reads */
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
  if (class == JIT_V)
    regs_put(e, with_opcode(move_v, 0x11), reg, 0, slot_of(e, v), -1);
  else
    x86_vex(&e->code, with_opcode(move_k, 0x91), reg, 0, slot_of(e, v), -1);
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
  return best;
}

void regs_bring(emit *e, u32 v, u32 to) {
  const jit_prim_info *p = info_of(e, v);
  if (p->shape == JIT_CONST) {
    regs_put(e, regs_op(e, p), to, 0, pooled_const(e, v), -1);
    return;
  }
  x86_rm m = regs_first(e, node_of(e, v)->imm);
  if (node_of(e, v)->prim == JP_one32) {
    regs_put(e, regs_op(e, p), to, 0, m, -1);
    return;
  }
  x86_plain(&e->code, 0, 0, 0x0f00u | p->opcode, RAX, m);
  u32 spare = e->is->spare, vector = p->class == JIT_V ? to : spare;
  regs_put(e, from_gpr, vector, 0, x86_reg(RAX), -1);
  regs_put(e, spread, vector, 0, x86_reg(vector), -1);
  if (p->class == JIT_K)
    regs_put(e, regs_op(e, &jit_prim_infos[JP_ptestmd]), to, spare, x86_reg(spare), -1);
}

u32 regs_need(emit *e, u32 v) {
  u32 class = class_of(e, v);
  if (e->place[v] == NO_REG) {
    u32 to = regs_take(e, v);
    if (is_invariant(e, v))
      regs_bring(e, v, to);
    else if (class == JIT_V)
      regs_put(e, move_v, to, 0, slot_of(e, v), -1);
    else
      x86_vex(&e->code, move_k, to, 0, slot_of(e, v), -1);
  }
  e->locked[class] |= 1u << e->place[v];
  return e->place[v];
}

bool regs_in_memory(const emit *e, u32 v) {
  u32 prim = node_of(e, v)->prim;
  if (e->place[v] != NO_REG) return false;
  if (prim == JP_one32) return !e->b->avx2;
  return prim == JP_const32 || prim == JP_const64 || !is_invariant(e, v);
}
x86_rm regs_operand(emit *e, u32 v) {
  if (!regs_in_memory(e, v)) return x86_reg(regs_need(e, v));
  if (!is_invariant(e, v)) return slot_of(e, v);
  x86_rm m =
      info_of(e, v)->shape == JIT_CONST ? pooled_const(e, v) : regs_first(e, node_of(e, v)->imm);
  m.broadcast = !e->b->avx2;
  return m;
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
