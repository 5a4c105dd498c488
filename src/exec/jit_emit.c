/* From primitives to bytes: registers as values need them, in one pass over the code; of values
 * that do not fit, the one that is needed last goes to memory. The loop's body is written twice,
 * for whole vectors and for what is left, in which a mask guards memory. */
#include "exec/jit_ir.h"
#include "exec/jit_x86.h"

enum {
  STEP = 16,  /* elements of a round */
  NUM_V = 31, /* vector registers that are given out; SPARE is for the moment */
  SPARE = 31,
  FIRST_K = 1, /* as a mask of an instruction, k0 means none */
  END_K = 7,
  REST = 7, /* the mask of what is left */
  NO_REG = 0xff,
  SLOT = 64,        /* bytes of a spilled value */
  MOST_SLOTS = 128, /* of stack */
  MOST_NODES = 1 << 15,
  SUMS = 4, /* vectors of running sums: the last registers; then the frame's first slots */
  SUMS_AT = NUM_V - SUMS
};

/* Pointers of registers in memory: the first ones stay here; RSI has the list. */
static const u8 pointers[] = {RDX, R8, R9, R10, R11, RBX, R12, R13, R14, R15};
enum { FIRST_SAVED = 5 }; /* of these, the caller wants back */

typedef struct emit {
  arena *a;
  const jit_build *b; /* of the body that is written; what is by value is of its values */
  x86_code code;
  bool scalar, rest; /* one element; what is left */
  u32 vectors;       /* that there are, or more */
  u32 num_v, sum;    /* registers given out; where a sum goes, UINT32_MAX: there is none */
  bool *needed;
  u32 *use_begin, *uses, *next; /* by value: where it is used, and next */
  u8 *place;                    /* by value: its register */
  u32 *slot;                    /* by value: 1 + where it was spilled */
  u32 owner[2][32];             /* by class and register: value + 1 */
  u32 locked[2], pinned;
  jit_node pins[32]; /* by register that is pinned: the invariant in it */
  u32 slots, most_slots;
  u8 *pointer; /* by register in memory */
  u32 num_pointers;
} emit;

static const jit_node *node_of(const emit *e, u32 v) { return &e->b->nodes.data[v]; }
static const jit_prim_info *info_of(const emit *e, u32 v) {
  return &jit_prim_infos[node_of(e, v)->prim];
}
static bool is_invariant(const emit *e, u32 v) { return info_of(e, v)->shape <= JIT_ONE; }

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

/* ---- memory ---- */

static x86_op op_of(const emit *e, const jit_prim_info *p) {
  /* there are none of less than a whole vector */
  bool halves = (p->map == 3 || p->shape == JIT_CONST) && p->w;
  u8 length = e->scalar && !halves ? 0 : X86_ALL;
  return (x86_op){p->prefix, p->map, p->w, p->opcode, length, 0, false};
}
static const x86_op move_v = {0, 1, 0, 0x10, X86_ALL, 0, false}; /* vmovups; 0x11 stores */
static const x86_op move_bytes = {3, 1, 0, 0x6f, 0, 0, false};   /* vmovdqu8 of 128 bits */
static const x86_op test_bytes = {1, 2, 0, 0x26, 0, 0, false};   /* vptestmb */
static const x86_op move_k = {0, 1, 0, 0x90, 0, 0, false};       /* kmovw; 0x91 stores */
static const x86_op from_gpr = {1, 1, 0, 0x6e, 0, 0, false};     /* vmovd */
static const x86_op to_gpr = {1, 1, 0, 0x7e, 0, 0, false};
static const x86_op spread_gpr = {1, 2, 0, 0x7c, X86_ALL, 0, false}; /* vpbroadcastd */

static x86_op with_opcode(x86_op op, u32 opcode) {
  op.opcode = (u8)opcode;
  return op;
}
static x86_op guarded(const emit *e, x86_op op, bool zero) {
  op.mask = e->rest ? REST : 0;
  op.zero = e->rest && zero;
  return op;
}

/* The first element of a register in memory. */
static x86_rm first_of(emit *e, u32 reg) {
  if (e->pointer[reg] != GPR_NONE) return x86_mem(e->pointer[reg], 0);
  u32 to = e->scalar ? RDI : RAX;
  x86_plain(&e->code, 0, 1, 0x8b, to, x86_mem(RSI, (i32)(reg * sizeof(void *))));
  return x86_mem(to, 0);
}
static x86_rm elements_of(emit *e, const jit_node *n, u32 width) {
  x86_rm m = first_of(e, n->imm);
  if (e->scalar) return m;
  m.index = RCX;
  m.disp = (i32)(n->part * STEP * width);
  m.scale = width == 4 ? 2 : width == 2 ? 1 : 0;
  return m;
}
static x86_rm slot_of(const emit *e, u32 v) { return x86_mem(RSP, (i32)((e->slot[v] - 1) * SLOT)); }
static x86_rm pooled(emit *e, const u32 *words, u32 n) {
  u32 i = 0;
  while (i + n <= e->code.pool.len && memcmp(&e->code.pool.data[i], words, n * 4) != 0) i++;
  if (i + n > e->code.pool.len) {
    i = (u32)e->code.pool.len;
    for (u32 k = 0; k < n; k++) VEC_PUSH(e->a, e->code.pool, words[k]);
  }
  return (x86_rm){.memory = true, .pooled = true, .disp = (i32)i};
}

static x86_rm pooled_const(emit *e, u32 v) {
  enum { ZERO = 31 }; /* a word of the upper half; of the shortest vectors the last one */
  u32 words[STEP] = {node_of(e, v)->imm, node_of(e, v)->arg[0]};
  for (u32 i = 0; i < STEP && node_of(e, v)->prim == JP_uppers; i++) words[i] = i << 16 | ZERO;
  return pooled(e, words, info_of(e, v)->more / 4);
}

/* ---- registers ---- */

static void spill(emit *e, u32 v, u32 class, u32 reg) {
  e->owner[class][reg] = 0;
  e->place[v] = NO_REG;
  if (is_invariant(e, v) || e->slot[v] || next_use(e, v) == UINT32_MAX) return;
  e->slot[v] = ++e->slots;
  if (e->slots > e->most_slots) e->most_slots = e->slots;
  if (class == JIT_V)
    x86_evex(&e->code, with_opcode(move_v, 0x11), reg, 0, slot_of(e, v), -1);
  else
    x86_vex(&e->code, with_opcode(move_k, 0x91), reg, 0, slot_of(e, v));
}

/* A register for v; it is locked. */
static u32 take(emit *e, u32 v) {
  u32 class = info_of(e, v)->class, best = NO_REG, farthest = 0;
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

static void bring_invariant(emit *e, u32 v, u32 to) {
  const jit_prim_info *p = info_of(e, v);
  if (p->shape == JIT_CONST) {
    x86_evex(&e->code, op_of(e, p), to, 0, pooled_const(e, v), -1);
    return;
  }
  x86_rm m = first_of(e, node_of(e, v)->imm);
  if (node_of(e, v)->prim == JP_one32) {
    x86_evex(&e->code, op_of(e, p), to, 0, m, -1);
    return;
  }
  x86_plain(&e->code, 0, 0, 0x0f00u | p->opcode, RAX, m);
  u32 vector = p->class == JIT_V ? to : SPARE;
  x86_evex(&e->code, spread_gpr, vector, 0, x86_reg(RAX), -1);
  if (p->class == JIT_K)
    x86_evex(&e->code, op_of(e, &jit_prim_infos[JP_ptestmd]), to, SPARE, x86_reg(SPARE), -1);
}

/* The register of v, which is brought into one; locked. */
static u32 need(emit *e, u32 v) {
  u32 class = info_of(e, v)->class;
  if (e->place[v] == NO_REG) {
    u32 to = take(e, v);
    if (is_invariant(e, v))
      bring_invariant(e, v, to);
    else if (class == JIT_V)
      x86_evex(&e->code, move_v, to, 0, slot_of(e, v), -1);
    else
      x86_vex(&e->code, move_k, to, 0, slot_of(e, v));
  }
  e->locked[class] |= 1u << e->place[v];
  return e->place[v];
}

/* Of a vector that is not in a register: what can be read from memory. */
static bool is_in_memory(const emit *e, u32 v) {
  u32 prim = node_of(e, v)->prim;
  if (e->place[v] != NO_REG) return false;
  return prim == JP_const32 || prim == JP_const64 || prim == JP_one32 || !is_invariant(e, v);
}
static x86_rm operand(emit *e, u32 v) {
  if (!is_in_memory(e, v)) return x86_reg(need(e, v));
  if (!is_invariant(e, v)) return slot_of(e, v);
  x86_rm m =
      info_of(e, v)->shape == JIT_CONST ? pooled_const(e, v) : first_of(e, node_of(e, v)->imm);
  m.broadcast = true;
  return m;
}

/* After a primitive's operands are read: who is not needed again leaves its register. */
static void release_operands(emit *e, u32 at) {
  const jit_node *n = node_of(e, at);
  for (u32 k = 0; k < info_of(e, at)->operands; k++) {
    u32 v = n->arg[k], class = info_of(e, v)->class;
    while (next_use(e, v) <= at) e->next[v]++;
    if (next_use(e, v) != UINT32_MAX || e->place[v] == NO_REG) continue;
    if (class == JIT_V && e->pinned >> e->place[v] & 1) continue;
    e->owner[class][e->place[v]] = 0;
    e->place[v] = NO_REG;
  }
  e->locked[JIT_V] = e->pinned;
  e->locked[JIT_K] = 0;
}
static bool dies(const emit *e, u32 v, u32 at) {
  u32 i = e->next[v];
  while (i < e->use_begin[v + 1] && e->uses[i] <= at) i++;
  return i == e->use_begin[v + 1] && e->place[v] != NO_REG && !(e->pinned >> e->place[v] & 1);
}

/* ---- emit_<shape>: primitive `at` ---- */

#define PRIMITIVE emit *e, u32 at, const jit_node *n, const jit_prim_info *p

static void emit_nothing(PRIMITIVE) { (void)e, (void)at, (void)n, (void)p; }

static void emit_load(PRIMITIVE) {
  x86_code *c = &e->code;
  u32 d = take(e, at), to = p->class == JIT_K ? SPARE : d;
  x86_rm m = elements_of(e, n, p->more);
  if (e->scalar && p->more < 4) {
    u32 opcode = p->more == 1 ? (n->prim == JP_load8s ? 0x0fbe : 0x0fb6)
                              : (n->prim == JP_load16s ? 0x0fbf : 0x0fb7);
    x86_plain(c, 0, 0, opcode, RAX, m);
    x86_evex(c, from_gpr, to, 0, x86_reg(RAX), -1);
    if (n->prim == JP_load_half) x86_evex(c, op_of(e, p), d, 0, x86_reg(d), -1);
  } else if (e->scalar) {
    x86_evex(c, (x86_op){2, 1, 0, 0x10, 0, 0, false}, d, 0, m, -1); /* vmovss */
  } else {
    x86_op op = p->class == JIT_K ? move_bytes : op_of(e, p);
    if (n->prim == JP_load_words) op.length = 1;
    x86_evex(c, guarded(e, op, true), to, 0, m, -1);
  }
  if (p->class == JIT_K) x86_evex(c, test_bytes, d, SPARE, x86_reg(SPARE), -1);
  release_operands(e, at);
}

/* A mask as bytes of 0 and 1, into SPARE. */
static void make_bytes(emit *e, const jit_prim_info *p, u32 k) {
  x86_op op = op_of(e, p);
  op.length = 0;
  x86_evex(&e->code, op, SPARE, 0, x86_reg(k), -1);
  x86_evex(&e->code, (x86_op){1, 2, 0, 0x1c, 0, 0, false}, SPARE, 0, x86_reg(SPARE), -1);
}

static void emit_store(PRIMITIVE) {
  x86_code *c = &e->code;
  u32 from = need(e, n->arg[0]);
  bool mask = n->prim == JP_storek;
  if (mask) make_bytes(e, p, from), from = SPARE;
  x86_rm m = elements_of(e, n, p->more);
  x86_op op = mask ? with_opcode(move_bytes, 0x7f) : op_of(e, p);
  if (e->scalar && p->more < 4) {
    x86_evex(c, to_gpr, from, 0, x86_reg(RAX), -1);
    x86_plain(c, p->more == 2, 0, p->more == 2 ? 0x89 : 0x88, RAX, m);
  } else if (e->scalar) {
    x86_evex(c, (x86_op){2, 1, 0, 0x11, 0, 0, false}, from, 0, m, -1);
  } else {
    if (n->prim == JP_store_half) op.length = 1;
    x86_evex(c, guarded(e, op, false), from, 0, m, -1);
  }
  release_operands(e, at);
}

/* What is left is added to the sums in the frame. */
static void emit_sum(PRIMITIVE) {
  x86_code *c = &e->code;
  u32 a = need(e, n->arg[0]), to = SUMS_AT + n->part % SUMS;
  if (!e->rest) {
    x86_evex(c, op_of(e, p), to, to, x86_reg(a), -1);
  } else {
    x86_rm m = {.memory = true, .base = RSP, .index = RAX, .scale = 2};
    x86_move(c, RAX, RCX);
    x86_arith(c, 4, RAX, SUMS * STEP - 1);
    x86_evex(c, move_v, SPARE, 0, m, -1);
    x86_evex(c, guarded(e, op_of(e, p), false), SPARE, SPARE, x86_reg(a), -1);
    x86_evex(c, with_opcode(move_v, 0x11), SPARE, 0, m, -1);
  }
  release_operands(e, at);
}

static void emit_x3(PRIMITIVE) {
  u32 x = n->arg[0], y = n->arg[1];
  if (p->more && is_in_memory(e, x) && !is_in_memory(e, y)) x = n->arg[1], y = n->arg[0];
  u32 a = need(e, x);
  x86_rm b = operand(e, y);
  release_operands(e, at);
  x86_evex(&e->code, op_of(e, p), take(e, at), a, b, -1);
}
static void emit_x2(PRIMITIVE) {
  u32 a = need(e, n->arg[0]);
  release_operands(e, at);
  u32 d = take(e, at);
  i32 imm = p->shape == JIT_X2I ? (i32)n->imm : -1;
  x86_evex(&e->code, op_of(e, p), p->more ? a : d, 0, x86_reg(p->more ? d : a), imm);
}
static void emit_shift(PRIMITIVE) {
  u32 a = need(e, n->arg[0]);
  release_operands(e, at);
  x86_evex(&e->code, op_of(e, p), p->more, take(e, at), x86_reg(a), (i32)n->imm);
}

/* One operand at most is read from memory, and the result takes the place of another, best of one
 * that is not needed again: 213 has it in a factor's and adds r/m, 132 in a factor's and multiplies
 * by r/m, 231 in the sum's. */
static void emit_fma(PRIMITIVE) {
  u32 x = n->arg[0], y = n->arg[1], z = n->arg[2];
  x86_op op = op_of(e, p);
  if (is_in_memory(e, x)) x = n->arg[1], y = n->arg[0];
  u32 a = need(e, x);
  if (!is_in_memory(e, y) || is_in_memory(e, z)) {
    need(e, y);
    if (dies(e, y, at) && !dies(e, x, at)) {
      u32 t = x;
      x = y, y = t;
      a = need(e, x);
    }
  }
  bool by_memory = is_in_memory(e, y);
  if (!is_in_memory(e, z)) need(e, z);
  bool sum_dies = !is_in_memory(e, z) && dies(e, z, at);
  if (!sum_dies && dies(e, x, at)) { /* 213, or 132 where y is in memory */
    u32 v = need(e, by_memory ? z : y);
    x86_rm m = operand(e, by_memory ? y : z);
    if (by_memory) op.opcode = (u8)(op.opcode - 0x10);
    release_operands(e, at);
    e->place[at] = (u8)a;
    e->owner[JIT_V][a] = at + 1;
    x86_evex(&e->code, op, a, v, m, -1);
    return;
  }
  x86_rm m = operand(e, y), sum = operand(e, z);
  u32 d = sum.reg;
  op.opcode = (u8)(op.opcode + 0x10);
  if (!sum_dies) {
    x86_op move = sum.broadcast ? op_of(e, info_of(e, z)) : move_v;
    sum.broadcast = false;
    d = take(e, at);
    x86_evex(&e->code, move, d, 0, sum, -1);
  }
  release_operands(e, at);
  e->place[at] = (u8)d;
  e->owner[JIT_V][d] = at + 1;
  x86_evex(&e->code, op, d, a, m, -1);
}

static void emit_cmp(PRIMITIVE) {
  u32 a = need(e, n->arg[0]);
  x86_rm b = operand(e, n->arg[1]);
  release_operands(e, at);
  x86_evex(&e->code, op_of(e, p), take(e, at), a, b, p->shape == JIT_CMP ? (i32)n->imm : -1);
}
static void emit_x3i(PRIMITIVE) {
  u32 a = need(e, n->arg[0]), b = need(e, n->arg[1]);
  release_operands(e, at);
  x86_evex(&e->code, op_of(e, p), take(e, at), a, x86_reg(b), (i32)n->imm);
}
static void emit_blend(PRIMITIVE) {
  x86_op op = op_of(e, p);
  op.mask = (u8)need(e, n->arg[0]);
  u32 otherwise = need(e, n->arg[2]);
  x86_rm then = operand(e, n->arg[1]);
  release_operands(e, at);
  x86_evex(&e->code, op, take(e, at), otherwise, then, -1);
}
static void emit_k3(PRIMITIVE) {
  x86_op op = op_of(e, p);
  op.length = 1;
  u32 a = need(e, n->arg[0]), b = need(e, n->arg[1]);
  release_operands(e, at);
  x86_vex(&e->code, op, take(e, at), a, x86_reg(b));
}
static void emit_k2(PRIMITIVE) {
  x86_op op = op_of(e, p);
  op.length = 0;
  u32 a = need(e, n->arg[0]);
  release_operands(e, at);
  x86_vex(&e->code, op, take(e, at), 0, x86_reg(a));
}

static void (*const emit_of[JIT_SHAPES_])(PRIMITIVE) = {
    [JIT_CONST] = emit_nothing, [JIT_ONE] = emit_nothing, [JIT_LOAD] = emit_load,
    [JIT_STORE] = emit_store,   [JIT_X3] = emit_x3,       [JIT_X2] = emit_x2,
    [JIT_X2I] = emit_x2,        [JIT_SHIFT] = emit_shift, [JIT_FMA] = emit_fma,
    [JIT_CMP] = emit_cmp,       [JIT_TEST] = emit_cmp,    [JIT_BLEND] = emit_blend,
    [JIT_K3] = emit_k3,         [JIT_K2] = emit_k2,       [JIT_X3I] = emit_x3i,
    [JIT_SUM] = emit_sum,
};

/* ---- the loop ---- */

/* Makes ready for the values of b. */
static void begin_body(emit *e, const jit_build *b) {
  u32 n = (u32)b->nodes.len;
  e->b = b;
  e->place = arena_alloc(e->a, n + 1);
  memset(e->place, NO_REG, n + 1);
  e->slot = arena_zalloc(e->a, (n + 1) * sizeof(u32));
  find_uses(e);
  e->next = arena_copy(e->a, e->use_begin, (n + 1) * sizeof(u32));
  memset(e->owner, 0, sizeof e->owner);
  e->slots = e->sum == UINT32_MAX ? 0 : SUMS;
  if (e->most_slots < e->slots) e->most_slots = e->slots;
}

static void emit_body(emit *e, bool rest) {
  e->rest = rest;
  for (u32 v = 0; v < e->b->nodes.len; v++)
    for (u32 reg = 0; reg < e->num_v && is_invariant(e, v); reg++)
      if (e->pinned >> reg & 1 && memcmp(&e->pins[reg], node_of(e, v), sizeof(jit_node)) == 0)
        e->place[v] = (u8)reg;
  for (u32 v = 0; v < e->b->nodes.len; v++) {
    e->locked[JIT_V] = e->pinned;
    e->locked[JIT_K] = 0;
    if (e->needed[v]) emit_of[info_of(e, v)->shape](e, v, node_of(e, v), info_of(e, v));
  }
}

/* How many registers of a class values of the body take at once. */
static u32 count_pressure(const emit *e, u32 class) {
  u32 live = 0, most = 0;
  for (u32 v = 0; v < e->b->nodes.len; v++) {
    if (!e->needed[v] || is_invariant(e, v)) continue;
    live += info_of(e, v)->class == class;
    if (live > most) most = live;
    const jit_node *n = node_of(e, v);
    for (u32 k = 0; k < info_of(e, v)->operands; k++) {
      u32 x = n->arg[k];
      bool again = (k > 0 && x == n->arg[0]) || (k > 1 && x == n->arg[1]);
      bool last = e->uses[e->use_begin[x + 1] - 1] == v;
      live -= last && !again && !is_invariant(e, x) && info_of(e, x)->class == class;
    }
  }
  return most;
}

/* What is the same all the time, and used most, keeps a register where there are enough. */
static void pin_invariants(emit *e) {
  u32 used = count_pressure(e, JIT_V) + 2;
  for (u32 reg = e->num_v; reg-- > used;) {
    u32 best = UINT32_MAX, most = 0;
    for (u32 v = 0; v < e->b->nodes.len; v++) {
      if (!e->needed[v] || !is_invariant(e, v) || info_of(e, v)->class != JIT_V) continue;
      u32 uses = e->use_begin[v + 1] - e->use_begin[v];
      if (e->place[v] == NO_REG && uses > most) best = v, most = uses;
    }
    if (best == UINT32_MAX) return;
    bring_invariant(e, best, reg);
    e->place[best] = (u8)reg;
    e->pins[reg] = *node_of(e, best);
    e->pinned |= 1u << reg;
  }
}

static void load_pointers(emit *e) {
  for (u32 v = 0; v < e->b->nodes.len; v++) {
    const jit_node *n = node_of(e, v);
    u32 shape = info_of(e, v)->shape;
    bool memory = shape == JIT_ONE || shape == JIT_LOAD || shape == JIT_STORE;
    if (!memory || !e->needed[v] || e->pointer[n->imm] != GPR_NONE) continue;
    if (e->num_pointers == COUNT(pointers)) return;
    e->pointer[n->imm] = pointers[e->num_pointers++];
  }
}

/* `times` rounds in one, primitive by primitive: what waits for a result has others beside it. */
static jit_build unrolled(const jit_build *b, u32 times) {
  jit_build r = {.a = b->a};
  u32 n = (u32)b->nodes.len;
  u32 *copies = ARENA_ARRAY(b->a, u32, (size_t)n * times + 1);
  for (u32 v = 0; v < n; v++)
    for (u32 t = 0; t < times; t++) {
      jit_node x = b->nodes.data[v];
      const jit_prim_info *p = &jit_prim_infos[x.prim];
      for (u32 k = 0; k < p->operands; k++) x.arg[k] = copies[x.arg[k] * times + t];
      if (p->shape > JIT_ONE) x.part = t;
      copies[v * times + t] = jit_add_node(&r, x);
    }
  return r;
}

/* Several rounds at once, so that there is enough to do while results are waited for: more than fit
 * into registers, as what goes to memory and back costs less; but masks cost more. */
static u32 choose_rounds(const emit *e) {
  enum { MANY = 80, LONG = 1024 };
  u32 pressure = count_pressure(e, JIT_V), length = 0, rounds = 8;
  for (u32 v = 0; v < e->b->nodes.len; v++) length += e->needed[v] && !is_invariant(e, v);
  if (length < 24 || count_pressure(e, JIT_K) > 1) rounds = 4;
  while (rounds > e->vectors) rounds /= 2;
  u32 least = e->sum == UINT32_MAX ? 1 : SUMS; /* so that each has a running sum of its own */
  while (rounds > least && (rounds * pressure > MANY || rounds * length > LONG)) rounds /= 2;
  return rounds;
}

/* Running sums begin with -0, which changes nothing. */
static void begin_sums(emit *e) {
  const u32 zero = 0x80000000;
  for (u32 i = 0; i < SUMS; i++)
    x86_evex(&e->code, op_of(e, &jit_prim_infos[JP_const32]), SUMS_AT + i, 0, pooled(e, &zero, 1),
             -1);
}
static x86_rm sums_home(u32 i) { return x86_mem(RSP, (i32)(i * SLOT)); }
static void keep_sums(emit *e) {
  for (u32 i = 0; i < SUMS; i++)
    x86_evex(&e->code, with_opcode(move_v, 0x11), SUMS_AT + i, 0, sums_home(i), -1);
}
/* As fold_order.h has it. */
static void join_sums(emit *e) {
  static const x86_op quarter = {1, 3, 0, 0x39, X86_ALL, 0, false}; /* vextracti32x4 */
  static const x86_op shuffle = {1, 1, 0, 0x70, X86_ALL, 0, false}; /* vpshufd */
  static const x86_op half = {1, 3, 1, 0x3b, X86_ALL, 0, false};    /* vextracti64x4 */
  x86_code *c = &e->code;
  x86_op add = op_of(e, &jit_prim_infos[JP_sumps]);
  for (u32 i = 0; i < 2; i++) {
    x86_evex(c, move_v, i, 0, sums_home(i), -1);
    x86_evex(c, add, i, i, sums_home(i + 2), -1);
  }
  x86_evex(c, add, 0, 0, x86_reg(1), -1);
  x86_evex(c, half, 0, 0, x86_reg(1), 1);
  x86_evex(c, add, 0, 0, x86_reg(1), -1);
  x86_evex(c, quarter, 0, 0, x86_reg(1), 1);
  x86_evex(c, add, 0, 0, x86_reg(1), -1);
  x86_evex(c, shuffle, 1, 0, x86_reg(0), 0xee);
  x86_evex(c, add, 0, 0, x86_reg(1), -1);
  x86_evex(c, shuffle, 1, 0, x86_reg(0), 0x55);
  x86_evex(c, add, 0, 0, x86_reg(1), -1);
  x86_evex(c, (x86_op){2, 1, 0, 0x11, 0, 0, false}, 0, 0, first_of(e, e->sum), -1);
}

/* Whole rounds while there are enough elements, then vectors one by one behind a mask, of which the
 * last is not full. */
static void emit_loop(emit *e) {
  x86_code *c = &e->code;
  const jit_build *b = e->b;
  u32 rounds = choose_rounds(e);
  bool sums = e->sum != UINT32_MAX;
  jit_build many = unrolled(b, rounds);
  begin_body(e, &many);
  pin_invariants(e);
  if (sums) begin_sums(e);
  x86_plain(c, 0, 0, 0x33, RCX, x86_reg(RCX)); /* xor */
  x86_arith(c, 5, RDI, (i32)(rounds * STEP));
  u32 few = x86_jump(c, X86_BELOW);
  while (c->bytes.len % 32) x86_byte(c, 0x90);
  u32 top = (u32)c->bytes.len;
  emit_body(e, false);
  x86_arith(c, 0, RCX, (i32)(rounds * STEP));
  x86_arith(c, 5, RDI, (i32)(rounds * STEP));
  x86_jump_back(c, X86_NOT_BELOW, top);
  x86_land(c, few);
  if (sums) keep_sums(e);
  x86_arith(c, 0, RDI, (i32)(rounds * STEP));
  u32 none = x86_jump(c, X86_EQUAL);
  top = (u32)c->bytes.len;
  x86_plain(c, 0, 1, 0xc7, 0, x86_reg(RAX)); /* mov rax, -1 */
  x86_u32(c, UINT32_MAX);
  x86_vex(c, (x86_op){0, 2, 0, 0xf5, 0, 0, false}, RAX, RDI, x86_reg(RAX)); /* bzhi */
  x86_vex(c, with_opcode(move_k, 0x92), REST, 0, x86_reg(RAX));
  begin_body(e, b);
  emit_body(e, true);
  x86_arith(c, 0, RCX, STEP);
  x86_arith(c, 5, RDI, STEP);
  x86_jump_back(c, X86_ABOVE, top);
  x86_land(c, none);
  if (sums) join_sums(e);
}

/* The frame is aligned for vectors; RBP knows where it began. */
static void emit_function(emit *e) {
  x86_code *c = &e->code;
  if (!e->scalar) load_pointers(e);
  u32 saved = e->num_pointers > FIRST_SAVED ? e->num_pointers - FIRST_SAVED : 0;
  x86_byte(c, 0x55); /* push rbp */
  x86_move(c, RBP, RSP);
  for (u32 i = 0; i < saved; i++) x86_plain(c, 0, 0, 0xff, 6, x86_reg(pointers[FIRST_SAVED + i]));
  x86_arith(c, 4, RSP, -SLOT);
  x86_arith(c, 5, RSP, 0);
  u32 frame = (u32)c->bytes.len - 4;
  for (u32 i = 0; !e->scalar && i < e->b->nodes.len; i++) { /* each pointer once */
    u32 reg = node_of(e, i)->imm, shape = info_of(e, i)->shape;
    bool memory = shape == JIT_ONE || shape == JIT_LOAD || shape == JIT_STORE;
    if (memory && e->needed[i] && e->pointer[reg] != GPR_NONE)
      x86_plain(c, 0, 1, 0x8b, e->pointer[reg], x86_mem(RSI, (i32)(reg * sizeof(void *))));
  }
  if (e->scalar)
    emit_body(e, false);
  else
    emit_loop(e);
  for (u32 i = 0; i < 4; i++) c->bytes.data[frame + i] = (u8)(e->most_slots * SLOT >> 8 * i);
  x86_byte(c, 0xc5), x86_byte(c, 0xf8), x86_byte(c, 0x77); /* vzeroupper */
  x86_plain(c, 0, 1, 0x8d, RSP, x86_mem(RBP, -8 * (i32)saved));
  for (u32 i = saved; i-- > 0;) x86_plain(c, 0, 0, 0x8f, 0, x86_reg(pointers[FIRST_SAVED + i]));
  x86_byte(c, 0x5d); /* pop rbp */
  x86_byte(c, 0xc3); /* ret */
  x86_finish(c);
}

bool jit_x86_emit(const jit_build *b, u32 vectors, str *out_code) {
  u32 n = (u32)b->nodes.len, regs = 0, sum = UINT32_MAX;
  if (n > MOST_NODES) return false;
  for (u32 v = 0; v < n; v++) {
    u32 shape = jit_prim_infos[b->nodes.data[v].prim].shape, imm = b->nodes.data[v].imm;
    bool memory = shape == JIT_ONE || (shape >= JIT_LOAD && shape <= JIT_SUM);
    if (memory && imm >= regs) regs = imm + 1;
    if (shape == JIT_SUM) sum = imm;
  }
  emit e = {.a = b->a, .b = b, .code.a = b->a, .num_v = NUM_V, .sum = sum, .vectors = vectors};
  e.scalar = vectors == 0;
  if (sum != UINT32_MAX) e.num_v = SUMS_AT;
  e.pointer = arena_alloc(b->a, regs + 1);
  memset(e.pointer, GPR_NONE, regs + 1);
  begin_body(&e, b);
  emit_function(&e);
  *out_code = (str){(const char *)e.code.bytes.data, e.code.bytes.len};
  return e.most_slots <= MOST_SLOTS;
}
