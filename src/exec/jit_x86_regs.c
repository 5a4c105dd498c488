#include "exec/jit_x86_regs.h"

/* By primitive: how instructions are encoded. */
typedef struct encoding {
  u8 prefix, map, w, opcode;
  u16 vex; /* 0: none; 1: the same; else opcode | map << 8 | W << 10 | prefix << 11 */
} encoding;
static const encoding encodings[JP_COUNT_] = {
#define NONE 0
#define SAME 1
#define VEX(prefix, map, w, opcode) ((opcode) | (map) << 8 | (w) << 10 | (prefix) << 11)
#define PRIM(id, shape, class, prefix, map, w, opcode, more, vex)                                  \
  [JP_##id] = {prefix, map, w, opcode, vex},
#include "exec/jit_prims.def"
#undef PRIM
};

bool regs_has_vex(u32 prim) { return encodings[prim].vex != NONE; }

x86_op regs_op(const emit *e, u32 prim) {
  encoding p = encodings[prim];
  /* there are none of less than a whole vector */
  bool halves = (p.map == 3 || jit_prim_infos[prim].shape == JIT_CONST) && p.w;
  u8 length = e->scalar && !halves ? 0 : X86_ALL;
  x86_op op = {p.prefix, p.map, p.w, p.opcode, length, 0, false};
  if (is_avx2(e) && p.vex > 1)
    op = (x86_op){(u8)(p.vex >> 11), p.vex >> 8 & 3, p.vex >> 10 & 1, (u8)p.vex, length};
  return op;
}
void regs_put(emit *e, x86_op op, u32 reg, u32 v, x86_rm rm, i32 imm) {
  if (!is_avx2(e)) {
    x86_evex(&e->code, op, reg, v, rm, imm);
    return;
  }
  op.length -= op.length > 0;
  x86_vex(&e->code, op, reg, v, rm, imm);
}
/* The first element of a register in memory. */
x86_rm regs_first(emit *e, u32 reg) {
  if (e->pointer[reg] != NO_REG) return x86_mem(e->pointer[reg], 0);
  u32 to = e->scalar ? RDI : RAX;
  x86_plain(&e->code, 0, 1, 0x8b, to, x86_mem(RSI, (i32)(reg * sizeof(void *))));
  return x86_mem(to, 0);
}
x86_rm regs_slot(const emit *e, u32 i) { return x86_mem(RSP, (i32)(i * regs_slot_bytes(e))); }
x86_rm regs_pooled(emit *e, const u32 *words, u32 n) {
  u32 i = 0;
  while (i + n <= e->code.pool.len && memcmp(&e->code.pool.data[i], words, n * 4) != 0) i++;
  if (i + n > e->code.pool.len) {
    i = (u32)e->code.pool.len;
    for (u32 k = 0; k < n; k++) VEC_PUSH(e->a, e->code.pool, words[k]);
  }
  return (x86_rm){.memory = true, .pooled = true, .disp = (i32)i};
}

/* Lanes in twos: shufps leaves those of the lower half at even places. */
static u32 pair_lane(u32 i, bool back) {
  u32 two = i / 2, from = back ? two / 2 + two % 2 * 4 : two % 4 * 2 + two / 4;
  return 2 * from + i % 2;
}

static x86_rm pooled_const(emit *e, u32 v) {
  enum {
    ZERO = 31,
    MOST = 16
  }; /* a word of the upper half; of the shortest vectors the last one */
  const jit_node *n = node_of(e, v);
  u32 words[MOST], period = info_of(e, v)->more / 4;
  for (u32 i = 0; i < MOST; i++)
    words[i] = n->prim == JP_uppers    ? i << 16 | ZERO
               : n->prim == JP_places  ? i >> n->imm
               : n->prim == JP_halves  ? pair_lane(i, n->imm)
               : n->prim == JP_numbers ? (u32)e->b->patterns.data[n->imm].at[i]
               : i % period            ? n->arg[0]
                                       : n->imm;
  return regs_pooled(e, words,
                     is_avx2(e) ? e->is->bytes / 4 : period); /* only EVEX repeats what it reads */
}

/* ---- what is not in registers ---- */

void regs_move(emit *e, u32 class, u32 reg, u32 slot, bool store) {
  x86_op op = class == JIT_V ? move_v : move_k;
  op.opcode += store;
  if (class == JIT_V)
    regs_put(e, op, reg, 0, regs_slot(e, slot), -1);
  else
    x86_vex(&e->code, op, reg, 0, regs_slot(e, slot), -1);
}

/* What is the same all the time. */
static x86_rm one_at(emit *e, u32 v) {
  x86_rm m = regs_first(e, node_of(e, v)->imm);
  m.disp += (i32)(node_of(e, v)->part * info_of(e, v)->more);
  return m;
}
void regs_bring(emit *e, u32 v, u32 to) {
  const jit_prim_info *p = info_of(e, v);
  u32 prim = node_of(e, v)->prim;
  if (p->shape == JIT_CONST) {
    regs_put(e, regs_op(e, prim), to, 0, pooled_const(e, v), -1);
    return;
  }
  x86_rm m = one_at(e, v);
  if (prim == JP_one32 || prim == JP_one64) {
    regs_put(e, regs_op(e, prim), to, 0, m, -1);
    return;
  }
  x86_plain(&e->code, 0, 0, 0x0f00u | encodings[prim].opcode, RAX, m);
  u32 spare = e->is->spare, vector = p->class == JIT_V ? to : spare;
  regs_put(e, from_gpr, vector, 0, x86_reg(RAX), -1);
  static const u8 spreads[] = {0x58, 0x79, 0x78}, tests[] = {JP_ptestmd, JP_ptestmw, JP_ptestmb};
  u32 narrow = narrow_of(e);
  regs_put(e, with_opcode(spread, spreads[narrow]), vector, 0, x86_reg(vector), -1);
  if (p->class == JIT_K) regs_put(e, regs_op(e, tests[narrow]), to, spare, x86_reg(spare), -1);
}

bool regs_in_memory(const emit *e, u32 v) {
  u32 prim = node_of(e, v)->prim;
  if (e->place[v] != NO_REG) return false;
  if (prim == JP_one32 || prim == JP_one64) return !is_avx2(e);
  return prim == JP_const32 || prim == JP_const64 || !is_invariant(e, v);
}
x86_rm regs_operand(emit *e, u32 v, x86_op op) {
  bool other = is_invariant(e, v) && info_of(e, v)->more != (op.w ? 8 : 4);
  other |= is_invariant(e, v) && narrow_of(e) && op.map != 1 && !is_avx2(e); /* but for bits */
  if (other || !regs_in_memory(e, v)) return x86_reg(regs_need(e, v));
  if (!is_invariant(e, v)) return regs_slot(e, e->slot[v] - 1);
  x86_rm m = info_of(e, v)->shape == JIT_CONST ? pooled_const(e, v) : one_at(e, v);
  m.broadcast = !is_avx2(e);
  return m;
}
