/* Vectors whose lanes' places are known (jit_build.placed), between registers and memory. */
#include "exec/jit_x86_regs.h"

enum { ALL_LANES = 0xffff };

/* Of all lanes that a mask names, and zeros in others; zero: 0 or 1. */
static void move_lanes(emit *e, x86_op op, u32 lanes, bool zero, u32 reg, u32 v, x86_rm m) {
  jit_code *c = &e->code;
  if (lanes != ALL_LANES && lanes != e->mask) {
    x86_pair(c, 0, 0xc7, 0, RCX); /* mov */
    x86_u32(c, lanes);
    x86_vex(c, mask_of, REST_K, 0, x86_reg(RCX), -1);
    e->mask = lanes;
  }
  op.mask = lanes != ALL_LANES ? REST_K : 0;
  op.zero = op.mask && zero;
  regs_put(e, op, reg, v, m, -1);
}
/* A window is as much of memory as a vector has: of each the lanes that are in it. */
void x86_load_lanes(emit *e, const jit_node *n, u32 d) {
  const jit_pattern *p = &e->b->patterns.data[n->part];
  const x86_op permute = regs_op(e, JP_permd);
  x86_rm m = regs_first(e, n->imm);
  u32 lanes = e->is->lanes, spare = e->is->spare, left = ALL_LANES, run = 0, inside = 0;
  for (u32 i = 0; i < lanes; i++) {
    run += p->at[i] == p->at[0] + (i32)i;
    inside += p->at[0] + (i32)i < p->end;
  }
  if (run == lanes) {
    m.disp = 4 * p->at[0];
    move_lanes(e, move_v, (1u << inside) - 1, true, d, 0, m);
    return;
  }
  while (left) {
    u32 index[JIT_LANES], to = left == ALL_LANES ? d : spare;
    i32 first;
    u32 here = jit_pattern_window(p, left, &first);
    for (u32 i = 0; i < lanes; i++) index[i] = here >> i & 1 ? (u32)(p->at[i] - first) : 0;
    m.disp = 4 * first;
    x86_rm from = m;
    if (p->end < (i32)lanes) { /* there is one window only */
      move_lanes(e, move_v, (1u << p->end) - 1, true, spare, 0, m);
      from = x86_reg(spare);
    }
    regs_put(e, move_v, to, 0, regs_pooled(e, index, lanes), -1);
    move_lanes(e, permute, to == d ? ALL_LANES : here, false, d, to, from);
    left &= ~here;
  }
}

void x86_store_lanes(emit *e, const jit_node *n, u32 from) {
  x86_rm m = regs_first(e, n->imm);
  m.disp = 4 * (i32)n->part;
  move_lanes(e, with_opcode(move_v, 0x11), n->arg[1], false, from, 0, m);
}
