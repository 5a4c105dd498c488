/* From primitives to bytes of x86-64, of one loop (jit_regs.h has its registers). Its body is
 * written twice, for whole vectors and for what is left, in which a mask guards memory. */
#include "exec/fold_order.h"
#include "exec/jit_x86_regs.h"

/* AVX-512, and AVX2. */
static const vectors wide = {16, 31, 31, 4, 27, 80, 80, 2, 64};
static const vectors halved = {32, 31, 31, 0, NO_REG, 80, 80, 2, 64}; /* lanes of 16 bits, of 8 */
static const vectors quartered = {64, 31, 31, 0, NO_REG, 80, 80, 2, 64};
static const vectors narrow = {8, 14, 15, 8, NO_REG, 40, 20, 2, 32};
static const vectors narrow_halved = {16, 14, 15, 0, NO_REG, 40, 20, 2, 32};
static const vectors narrow_quartered = {32, 14, 15, 0, NO_REG, 40, 20, 2, 32};

/* Pointers of registers in memory: the first ones stay here; RSI has the list. */
static const u8 pointers[] = {RDX, R8, R9, R10, R11, RBX, R12, R13, R14, R15};
enum {
  FIRST_SAVED = 5, /* of these, the caller wants back */
  AHEAD = 32 << 10
};

static const x86_op move_bytes = {3, 1, 0, 0x6f, 0, 0, false}; /* vmovdqu8 of 128 bits */
static const x86_op test_bytes = {1, 2, 0, 0x26, 0, 0, false}; /* vptestmb */
static const x86_op abs_bytes = {1, 2, 0, 0x1c, 0, 0, false};  /* vpabsb */
static const x86_op to_gpr = {1, 1, 0, 0x7e, 0, 0, false};
static const x86_op one_float = {2, 1, 0, 0x10, 0, 0, false};         /* vmovss; 0x11 stores */
static const x86_op one_real = {3, 1, 1, 0x10, 0, 0, false};          /* the same: vmovsd */
static const x86_op masked_load = {1, 2, 0, 0x2c, X86_ALL, 0, false}; /* vmaskmovps; 0x2d pd */
static const x86_op masked_store = {1, 2, 0, 0x2e, X86_ALL, 0, false};
/* Bytes and words of vectors: vpinsrb, vpinsrw; vpextrb, vpextrw */
static const x86_op put_in[] = {{1, 3, 0, 0x20, 0, 0, false}, {1, 1, 0, 0xc4, 0, 0, false}};
static const x86_op take_out[] = {{1, 3, 0, 0x14, 0, 0, false}, {1, 3, 0, 0x15, 0, 0, false}};

static x86_op guarded(const emit *e, x86_op op, bool zero) {
  op.mask = e->rest ? REST_K : 0;
  op.zero = e->rest && zero;
  return op;
}

/* Of a mask's bytes. */
static x86_op of_bytes(const emit *e, x86_op op) {
  op.length = (u8)narrow_of(e);
  return op;
}

static bool is_upper(const jit_node *n) { return n->prim == JP_load64h || n->prim == JP_store64h; }

/* Of elements of 16 bytes. */
static u32 quarter_of(const jit_node *n) {
  return n->prim - (n->prim >= JP_store128 ? JP_store128 : JP_load128);
}

static x86_rm elements_of(emit *e, const jit_node *n, u32 width) {
  x86_rm m = regs_first(e, n->imm);
  if (e->scalar) return m;
  if (width == 16) { /* twice the index */
    m.index = RCX, m.scale = 3;
    x86_plain(&e->code, 0, 1, 0x8d, RAX, m); /* lea */
    m.base = RAX;
    m.disp = (i32)(n->part * 16 + quarter_of(n) * 4 * e->is->lanes);
    return m;
  }
  m.index = RCX;
  m.disp = (i32)(n->part * width);
  m.scale = width == 8 ? 3 : width == 4 ? 2 : width == 2 ? 1 : 0;
  if (is_upper(n)) m.disp += (i32)(e->is->lanes / 2 * width);
  return m;
}

/* ---- emit_<shape>: primitive `at` ---- */

#define PRIMITIVE emit *e, u32 at, const jit_node *n

static void emit_nothing(PRIMITIVE) { (void)e, (void)at, (void)n; }

/* The same of an upper half, whose mask is there only for it. */
static void move_upper(emit *e, x86_op op, u32 reg, x86_rm m, bool store) {
  static const x86_op shift = {1, 3, 1, 0x30, 0, 0, false}; /* kshiftrw */
  jit_code *c = &e->code;
  x86_vex(c, move_k, 0, 0, x86_reg(REST_K), -1);
  x86_vex(c, shift, REST_K, 0, x86_reg(REST_K), (i32)e->is->lanes / 2);
  regs_put(e, guarded(e, op, !store), reg, 0, m, -1);
  x86_vex(c, move_k, REST_K, 0, x86_reg(0), -1);
}
/* With AVX2: the mask of what is left, of all of a vector's lanes, half or a quarter of them; where
 * it is. */
static u32 rest_of(emit *e, const jit_node *n) {
  static const x86_op permute = {1, 2, 0, 0x36, X86_ALL, 0, false}; /* vpermd */
  static const u32 fours[] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3,
                              4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7};
  u32 spare = e->is->spare, width = jit_prim_infos[n->prim].more;
  bool upper = is_upper(n);
  if (width < 8) return REST_V;
  if (width == 16) {
    regs_put(e, move_v, spare, 0, regs_pooled(e, fours + 8 * quarter_of(n), 8), -1);
    regs_put(e, permute, spare, spare, x86_reg(REST_V), -1);
    return spare;
  }
  if (upper) regs_put(e, regs_op(e, JP_extracti64x4), REST_V, 0, x86_reg(spare), 1);
  regs_put(e, regs_op(e, JP_pmovsxdq), spare, 0, x86_reg(upper ? spare : REST_V), -1);
  return spare;
}

/* Between a register and memory, of what is left only that much. AVX2 has masks of memory for
 * numbers of 32 and 64 bits only; others go one by one. */
static void move_guarded(emit *e, x86_op op, u32 reg, x86_rm m, const jit_node *n, bool store) {
  jit_code *c = &e->code;
  u32 width = jit_prim_infos[n->prim].more;
  if (e->rest && !is_avx2(e) && is_upper(n)) {
    move_upper(e, op, reg, m, store);
    return;
  }
  if (!e->rest || !is_avx2(e)) {
    regs_put(e, guarded(e, op, !store), reg, 0, m, -1);
    return;
  }
  x86_arith(c, 7, RDI, (i32)e->is->lanes); /* cmp */
  u32 few = x86_jump(c, X86_BELOW), ends[8], lanes = width >= 4 ? 0 : e->is->lanes;
  regs_put(e, op, reg, 0, m, -1);
  u32 done = x86_jump(c, X86_NOT_BELOW);
  x86_land(c, few);
  if (width >= 4) {
    x86_op some = store ? masked_store : masked_load;
    some.opcode += width >= 8;
    regs_put(e, some, reg, rest_of(e, n), m, -1);
  } else if (!store)
    regs_put(e, regs_op(e, JP_pxord), reg, reg, x86_reg(reg), -1);
  for (u32 i = 0; i + 1 < lanes; i++, m.disp += (i32)width) {
    regs_put(e, (store ? take_out : put_in)[width - 1], reg, store ? 0 : reg, m, (i32)i);
    x86_arith(c, 7, RDI, (i32)i + 1);
    ends[i] = x86_jump(c, X86_EQUAL);
  }
  for (u32 i = 0; i + 1 < lanes; i++) x86_land(c, ends[i]);
  if (width < 4 && !store) regs_put(e, op, reg, 0, x86_reg(reg), -1);
  x86_land(c, done);
}

/* Which elements of a vector are left, of RDI. */
static void make_mask(emit *e) {
  static const u32 places[] = {0, 1, 2, 3, 4, 5, 6, 7};
  jit_code *c = &e->code;
  if (is_avx2(e)) {
    regs_put(e, from_gpr, REST_V, 0, x86_reg(RDI), -1);
    regs_put(e, spread, REST_V, 0, x86_reg(REST_V), -1);
    regs_put(e, regs_op(e, JP_pcmpgtd), REST_V, REST_V, regs_pooled(e, places, 8), -1);
    return;
  }
  x86_pair(c, 1, 0xc7, 0, RAX); /* mov rax, -1 */
  x86_u32(c, UINT32_MAX);
  x86_vex(c, (x86_op){0, 2, 1, 0xf5, 0, 0, false}, RAX, RDI, x86_reg(RAX), -1); /* bzhi */
  x86_vex(c, mask_of, REST_K, 0, x86_reg(RAX), -1);
}

/* The same of a quarter of elements of 16 bytes; make_mask takes it back. */
static void quarter_mask(emit *e, const jit_node *n) {
  jit_code *c = &e->code;
  if (is_avx2(e)) return;         /* rest_of makes it */
  x86_pair(c, 1, 0x03, RDI, RDI); /* add */
  make_mask(e);
  x86_pair(c, 1, 0xd1, 5, RDI); /* shr */
  x86_pair(c, 1, 0xc1, 5, RAX);
  x86_byte(c, quarter_of(n) * e->is->lanes / 2);
  x86_vex(c, mask_of, REST_K, 0, x86_reg(RAX), -1);
}

/* Where the first of a vector's elements lies of which each is for 1 << shift lanes. */
static x86_rm first_of_few(emit *e, const jit_node *n, u32 shift, u32 width) {
  jit_code *c = &e->code;
  u32 scale = width == 4 ? 2 : width == 2 ? 1 : 0;
  x86_rm m = x86_mem(e->pointer[n->imm], 0);
  x86_pair(c, 0, 0x8b, RAX, RCX);
  x86_pair(c, 0, 0xc1, 5, RAX); /* shr */
  x86_byte(c, shift);
  if (m.base == NO_REG) {
    x86_pair(c, 1, 0xc1, 4, RAX); /* shl */
    x86_byte(c, scale);
    x86_plain(c, 0, 1, 0x03, RAX, x86_mem(RSI, (i32)(n->imm * sizeof(void *))));
    m.base = RAX;
  } else {
    m.index = RAX, m.scale = (u8)scale;
  }
  m.disp = (i32)((n->part >> shift) * width);
  return m;
}

/* The same elements to the first lanes; of what is left, those that there are. */
static void load_few(emit *e, const jit_node *n, u32 d, u32 few, x86_rm m, u32 width) {
  static const x86_op two = {2, 1, 1, 0x7e, 0, 0, false}; /* vmovq */
  x86_op op = regs_op(e, n->prim);
  op.length = few == 8;
  if (e->rest && few > 1) {
    regs_put(e, guarded(e, op, true), d, 0, m, -1);
  } else if (width == 4 && few == 2) {
    regs_put(e, two, d, 0, m, -1);
  } else if (width * few == 4 && width < 4 && few < 4) {
    regs_put(e, from_gpr, d, 0, m, -1);
    regs_put(e, op, d, 0, x86_reg(d), -1);
  } else if (few < 4 && width < 4) {
    x86_plain(&e->code, 0, 0, width * few == 2 ? 0x0fb7 : 0x0fb6, RAX, m);
    regs_put(e, from_gpr, d, 0, x86_reg(RAX), -1);
    regs_put(e, op, d, 0, x86_reg(d), -1);
  } else {
    regs_put(e, op, d, 0, m, -1);
  }
}

/* Elements of which each is for 1 << shift lanes: with AVX-512 only. */
static void load_spread(emit *e, const jit_node *n, u32 d, u32 shift, u32 width) {
  static const x86_op pick_bits = {2, 2, 0, 0xf5, 0, 0, false}; /* pext */
  jit_code *c = &e->code;
  u32 lanes = e->is->lanes, few = lanes >> shift ? lanes >> shift : 1, firsts = 0;
  for (u32 i = 0; i < few; i++) firsts |= 1u << (i << shift);
  if (e->rest && few > 1) { /* of each one's lanes the first says whether it is there */
    x86_vex(c, with_opcode(mask_of, 0x93), RAX, 0, x86_reg(REST_K), -1);
    x86_vex(c, pick_bits, RAX, RAX, regs_pooled(e, &firsts, 1), -1);
    x86_vex(c, mask_of, REST_K, 0, x86_reg(RAX), -1);
  }
  x86_rm m = first_of_few(e, n, shift, width);
  if (few == 1 && width == 4) {
    regs_put(e, spread, d, 0, m, -1);
    return;
  }
  load_few(e, n, d, few, m, width);
  if (e->rest && few > 1) make_mask(e);
  if (few == 1) regs_put(e, spread, d, 0, x86_reg(d), -1);
}

static void emit_load(PRIMITIVE) {
  const jit_prim_info *p = info_of(e, at);
  if (e->between) { /* where it is, and stays */
    e->place[at] = e->pointer[n->imm];
    return;
  }
  if (e->b->placed) {
    x86_load_lanes(e, n, regs_take(e, at));
    regs_release(e, at);
    return;
  }
  jit_code *c = &e->code;
  u32 spare = e->is->spare, d = regs_take(e, at), to = p->class == JIT_K ? spare : d;
  u32 shift = e->scalar ? 0 : jit_spread(e->b, n->imm);
  if (shift) {
    load_spread(e, n, d, shift, p->more);
    regs_release(e, at);
    return;
  }
  bool quarter = e->rest && p->more == 16;
  if (quarter) quarter_mask(e, n);
  x86_rm m = elements_of(e, n, p->more);
  if (e->scalar && p->more < 4) {
    u32 opcode = p->more == 1 ? (n->prim == JP_load8s ? 0x0fbe : 0x0fb6)
                              : (n->prim == JP_load16s ? 0x0fbf : 0x0fb7);
    x86_plain(c, 0, 0, opcode, RAX, m);
    regs_put(e, from_gpr, to, 0, x86_reg(RAX), -1);
    if (n->prim == JP_load_half) regs_put(e, regs_op(e, n->prim), d, 0, x86_reg(d), -1);
  } else if (e->scalar) {
    regs_put(e, p->more == 8 ? one_real : one_float, d, 0, m, -1);
  } else {
    x86_op op = p->class == JIT_K ? of_bytes(e, move_bytes) : regs_op(e, n->prim);
    if (n->prim == JP_load_words) op.length = 1;
    move_guarded(e, op, to, m, n, false);
  }
  if (quarter) make_mask(e);
  if (e->sum != UINT32_MAX && !e->rest && p->more >= 4) { /* of long rows, what comes later */
    m.disp += AHEAD;
    x86_plain(c, 0, 0, 0x0f18, 1, m); /* prefetcht0 */
  }
  if (p->class == JIT_K) regs_put(e, of_bytes(e, test_bytes), d, spare, x86_reg(spare), -1);
  regs_release(e, at);
}

/* A mask as bytes of 0 and 1, into the spare register. */
static void make_bytes(emit *e, u32 k) {
  u32 spare = e->is->spare;
  regs_put(e, of_bytes(e, regs_op(e, JP_storek)), spare, 0, x86_reg(k), -1);
  regs_put(e, of_bytes(e, abs_bytes), spare, 0, x86_reg(spare), -1);
}

static void emit_store(PRIMITIVE) {
  const jit_prim_info *p = info_of(e, at);
  jit_code *c = &e->code;
  u32 from = regs_need(e, n->arg[0]);
  bool mask = n->prim == JP_storek, quarter = e->rest && p->more == 16;
  if (e->between) {
    regs_put(e, regs_op(e, JP_load32), e->pointer[n->imm], 0, x86_reg(from), -1);
    regs_release(e, at);
    return;
  }
  if (e->b->placed) {
    x86_store_lanes(e, n, from);
    regs_release(e, at);
    return;
  }
  if (quarter) quarter_mask(e, n);
  if (mask) make_bytes(e, from), from = e->is->spare;
  x86_rm m = elements_of(e, n, p->more);
  x86_op op = mask ? of_bytes(e, with_opcode(move_bytes, 0x7f)) : regs_op(e, n->prim);
  if (e->scalar && p->more < 4) {
    regs_put(e, to_gpr, from, 0, x86_reg(RAX), -1);
    x86_plain(c, p->more == 2, 0, p->more == 2 ? 0x89 : 0x88, RAX, m);
  } else if (e->scalar) {
    regs_put(e, with_opcode(p->more == 8 ? one_real : one_float, 0x11), from, 0, m, -1);
  } else {
    if (n->prim == JP_store_half || (n->prim == JP_store8w && is_avx2(e))) op.length = 1;
    if (n->prim == JP_store_bytes) op.length = 0;
    move_guarded(e, op, from, m, n, true);
  }
  if (quarter) make_mask(e);
  regs_release(e, at);
}

/* Of f32, and behind it of f64. */
static const u32 minus_zero[2][8] = {
    {1u << 31, 1u << 31, 1u << 31, 1u << 31, 1u << 31, 1u << 31, 1u << 31, 1u << 31},
    {0, 1u << 31, 0, 1u << 31, 0, 1u << 31, 0, 1u << 31}};
static bool sums_wide(const emit *e) { return e->sums > e->is->sums; }
/* The running sum of a primitive, of those in the loop. */
static u32 running_of(const emit *e, const jit_node *n) {
  u32 vector = n->part / e->is->lanes;
  return sums_wide(e) ? 2 * vector + (n->prim == JP_sumpdh) : vector;
}
/* The mask of what is left becomes that of half a vector; make_mask takes it back. */
static void halve_mask(emit *e, bool upper) {
  static const x86_op shift = {1, 3, 1, 0x30, 0, 0, false}; /* kshiftrw */
  if (is_avx2(e)) {
    if (upper) regs_put(e, regs_op(e, JP_extracti64x4), REST_V, 0, x86_reg(REST_V), 1);
    regs_put(e, regs_op(e, JP_pmovsxdq), REST_V, 0, x86_reg(REST_V), -1);
  } else if (upper) {
    x86_vex(&e->code, shift, REST_K, 0, x86_reg(REST_K), (i32)e->is->lanes / 2);
  }
}
/* To the sums in the frame: of what is left, or with AVX2. Lanes that are not there add -0, which
 * changes nothing. */
static void sum_in_frame(emit *e, const jit_node *n, u32 a, x86_op add) {
  u32 spare = e->is->spare, step = e->rounds * e->is->lanes;
  bool wide = sums_wide(e), halved = wide && e->rest;
  x86_rm m = regs_slot(e, running_of(e, n));
  if (e->rest || step < FOLD_RUNNING) {
    x86_move(&e->code, RAX, RCX);
    x86_arith(&e->code, 4, RAX, FOLD_RUNNING - 1);
    m.index = RAX, m.scale = wide ? 3 : 2;
  }
  if (halved) halve_mask(e, n->prim == JP_sumpdh);
  if (e->rest && is_avx2(e)) {
    regs_put(e, move_v, spare, 0, regs_pooled(e, minus_zero[wide], 8), -1);
    regs_put(e, regs_op(e, JP_pblendmd), spare, spare, x86_reg(a), REST_V << 4);
    a = spare;
  } else if (e->rest) {
    regs_put(e, move_v, spare, 0, m, -1);
    regs_put(e, guarded(e, add, false), spare, spare, x86_reg(a), -1);
  }
  if (is_avx2(e)) regs_put(e, add, spare, a, m, -1);
  regs_put(e, with_opcode(move_v, 0x11), spare, 0, m, -1);
  if (halved) make_mask(e);
}
static void emit_sum(PRIMITIVE) {
  u32 a = regs_need(e, n->arg[0]), to = e->sums_at + running_of(e, n) % e->sums;
  if (e->rest || e->sums_at == NO_REG)
    sum_in_frame(e, n, a, regs_op(e, n->prim));
  else
    regs_put(e, regs_op(e, n->prim), to, to, x86_reg(a), -1);
  regs_release(e, at);
}

static void emit_x3(PRIMITIVE) {
  const jit_prim_info *p = info_of(e, at);
  u32 x = n->arg[0], y = n->arg[1];
  if (p->more && regs_in_memory(e, x) && !regs_in_memory(e, y)) x = n->arg[1], y = n->arg[0];
  u32 a = regs_need(e, x);
  x86_op op = regs_op(e, n->prim);
  x86_rm b = regs_operand(e, y, op);
  regs_release(e, at);
  regs_put(e, op, regs_take(e, at), a, b, -1);
}
static void emit_x2(PRIMITIVE) {
  const jit_prim_info *p = info_of(e, at);
  u32 a = regs_need(e, n->arg[0]);
  regs_release(e, at);
  u32 d = regs_take(e, at);
  i32 imm = p->shape == JIT_X2I ? (i32)n->imm : -1;
  regs_put(e, regs_op(e, n->prim), p->more ? a : d, 0, x86_reg(p->more ? d : a), imm);
}
static void emit_shift(PRIMITIVE) {
  const jit_prim_info *p = info_of(e, at);
  u32 a = regs_need(e, n->arg[0]);
  regs_release(e, at);
  regs_put(e, regs_op(e, n->prim), p->more, regs_take(e, at), x86_reg(a), (i32)n->imm);
}

/* One operand at most is read from memory, and the result takes the place of another, best of one
 * that is not needed again: 213 has it in a factor's and adds r/m, 132 in a factor's and multiplies
 * by r/m, 231 in the sum's. */
static void emit_fma(PRIMITIVE) {
  u32 x = n->arg[0], y = n->arg[1], z = n->arg[2];
  x86_op op = regs_op(e, n->prim);
  if (regs_in_memory(e, x)) x = n->arg[1], y = n->arg[0];
  u32 a = regs_need(e, x);
  if (!regs_in_memory(e, y) || regs_in_memory(e, z)) {
    regs_need(e, y);
    if (regs_dies(e, y, at) && !regs_dies(e, x, at)) {
      u32 t = x;
      x = y, y = t;
      a = regs_need(e, x);
    }
  }
  bool by_memory = regs_in_memory(e, y);
  if (!regs_in_memory(e, z)) regs_need(e, z);
  bool sum_dies = !regs_in_memory(e, z) && regs_dies(e, z, at);
  if (!sum_dies && regs_dies(e, x, at)) { /* 213, or 132 where y is in memory */
    u32 v = regs_need(e, by_memory ? z : y);
    x86_rm m = regs_operand(e, by_memory ? y : z, op);
    if (by_memory) op.opcode = (u8)(op.opcode - 0x10);
    regs_release(e, at);
    regs_take_over(e, at, a);
    regs_put(e, op, a, v, m, -1);
    return;
  }
  x86_rm m = regs_operand(e, y, op), sum = regs_operand(e, z, op);
  u32 d = sum.reg;
  op.opcode = (u8)(op.opcode + 0x10);
  if (!sum_dies) {
    x86_op move = sum.broadcast ? regs_op(e, node_of(e, z)->prim) : move_v;
    sum.broadcast = false;
    d = regs_take(e, at);
    regs_put(e, move, d, 0, sum, -1);
  }
  regs_release(e, at);
  regs_take_over(e, at, d);
  regs_put(e, op, d, a, m, -1);
}

static void emit_cmp(PRIMITIVE) {
  const jit_prim_info *p = info_of(e, at);
  u32 a = regs_need(e, n->arg[0]);
  x86_op op = regs_op(e, n->prim);
  x86_rm b = regs_operand(e, n->arg[1], op);
  regs_release(e, at);
  regs_put(e, op, regs_take(e, at), a, b, p->shape == JIT_CMP ? (i32)n->imm : -1);
}
static void emit_x3i(PRIMITIVE) {
  u32 a = regs_need(e, n->arg[0]), b = regs_need(e, n->arg[1]);
  regs_release(e, at);
  regs_put(e, regs_op(e, n->prim), regs_take(e, at), a, x86_reg(b), (i32)n->imm);
}
static void emit_blend(PRIMITIVE) {
  x86_op op = regs_op(e, n->prim);
  u32 mask = regs_need(e, n->arg[0]), otherwise = regs_need(e, n->arg[2]);
  x86_rm then = regs_operand(e, n->arg[1], op);
  op.mask = (u8)mask;
  regs_release(e, at);
  regs_put(e, op, regs_take(e, at), otherwise, then, is_avx2(e) ? (i32)mask << 4 : -1);
}
static void emit_k3(PRIMITIVE) {
  x86_op op = regs_op(e, n->prim);
  op.length = 1;
  u32 a = regs_need(e, n->arg[0]), b = regs_need(e, n->arg[1]);
  regs_release(e, at);
  x86_vex(&e->code, op, regs_take(e, at), a, x86_reg(b), -1);
}
static void emit_k2(PRIMITIVE) {
  x86_op op = regs_op(e, n->prim);
  op.length = 0;
  u32 a = regs_need(e, n->arg[0]);
  regs_release(e, at);
  x86_vex(&e->code, op, regs_take(e, at), 0, x86_reg(a), n->imm ? (i32)n->imm : -1);
}

static void (*const emit_of[JIT_SHAPES_])(PRIMITIVE) = {
    [JIT_CONST] = emit_nothing, [JIT_ONE] = emit_nothing, [JIT_LOAD] = emit_load,
    [JIT_STORE] = emit_store,   [JIT_X3] = emit_x3,       [JIT_X2] = emit_x2,
    [JIT_X2I] = emit_x2,        [JIT_SHIFT] = emit_shift, [JIT_FMA] = emit_fma,
    [JIT_CMP] = emit_cmp,       [JIT_TEST] = emit_cmp,    [JIT_BLEND] = emit_blend,
    [JIT_K3] = emit_k3,         [JIT_K2] = emit_k2,       [JIT_X3I] = emit_x3i,
    [JIT_SUM] = emit_sum,
};

void regs_emit(emit *e, u32 at) {
  const jit_node *n = node_of(e, at);
  if (e->b->tail) e->rest = n->part >= e->b->tail;
  emit_of[info_of(e, at)->shape](e, at, n);
}

/* ---- the loop ---- */

/* Running sums begin with -0, which changes nothing. */
static void begin_sums(emit *e) {
  bool wide = sums_wide(e);
  for (u32 i = 0; i < e->sums; i++) {
    u32 to = e->sums_at == NO_REG ? e->is->spare : e->sums_at + i;
    regs_put(e, regs_op(e, wide ? JP_const64 : JP_const32), to, 0,
             regs_pooled(e, minus_zero[wide], 1 + wide), -1);
    if (to == e->is->spare) regs_put(e, with_opcode(move_v, 0x11), to, 0, regs_slot(e, i), -1);
  }
}
static void keep_sums(emit *e) {
  for (u32 i = 0; i < e->sums && e->sums_at != NO_REG; i++)
    regs_put(e, with_opcode(move_v, 0x11), e->sums_at + i, 0, regs_slot(e, i), -1);
}
/* As fold_order.h has it. */
static void join_sums(emit *e) {
  static const x86_op quarter = {1, 3, 0, 0x39, X86_ALL, 0, false}; /* vextract[if]32x4 */
  static const x86_op shuffle = {1, 1, 0, 0x70, X86_ALL, 0, false}; /* vpshufd */
  static const x86_op half = {1, 3, 1, 0x3b, X86_ALL, 0, false};    /* vextracti64x4 */
  bool wide = sums_wide(e);
  x86_op add = regs_op(e, wide ? JP_sumpd : JP_sumps);
  u32 n = e->sums / 2;
  for (u32 i = 0; i < n; i++) {
    regs_put(e, move_v, i, 0, regs_slot(e, i), -1);
    regs_put(e, add, i, i, regs_slot(e, i + n), -1);
  }
  while (n /= 2)
    for (u32 i = 0; i < n; i++) regs_put(e, add, i, i, x86_reg(i + n), -1);
  if (!is_avx2(e)) {
    regs_put(e, half, 0, 0, x86_reg(1), 1);
    regs_put(e, add, 0, 0, x86_reg(1), -1);
  }
  regs_put(e, quarter, 0, 0, x86_reg(1), 1);
  regs_put(e, add, 0, 0, x86_reg(1), -1);
  regs_put(e, shuffle, 1, 0, x86_reg(0), 0xee);
  regs_put(e, add, 0, 0, x86_reg(1), -1);
  if (!wide) {
    regs_put(e, shuffle, 1, 0, x86_reg(0), 0x55);
    regs_put(e, add, 0, 0, x86_reg(1), -1);
  }
  regs_put(e, with_opcode(wide ? one_real : one_float, 0x11), 0, 0, regs_first(e, e->sum), -1);
}

/* What is left of narrow lanes. Of what keeps registers, only constants are the same there. */
static void begin_rest(emit *e) {
  e->is = &narrow;
  for (u32 r = 0; r < COUNT(e->pins); r++)
    if (jit_prim_infos[e->pins[r].prim].shape != JIT_CONST) e->pins[r].prim = JP_COUNT_;
}

/* Whole rounds while there are enough elements, then vectors one by one behind a mask, of which the
 * last is not full. */
static void emit_loop(emit *e) {
  jit_code *c = &e->code;
  const jit_build *b = e->b;
  u32 lanes = e->is->lanes, rounds = e->rounds = b->step ? b->step / lanes : regs_choose_rounds(e);
  u32 round = b->step ? b->step : rounds * lanes;
  bool sums = e->sum != UINT32_MAX;
  jit_build many = b->step ? *b : jit_unroll(b, rounds, lanes);
  regs_begin(e, &many);
  regs_pin_invariants(e);
  if (sums) begin_sums(e);
  if (b->tail) {
    x86_number(c, RAX, (1u << (b->step - b->tail)) - 1);
    x86_vex(c, mask_of, REST_K, 0, x86_reg(RAX), -1);
  }
  x86_pair(c, 0, 0x33, RCX, RCX); /* xor */
  x86_arith(c, 5, RDI, (i32)round);
  u32 few = x86_jump(c, X86_BELOW);
  while (c->bytes.len % 32) x86_byte(c, 0x90);
  u32 top = (u32)c->bytes.len;
  regs_emit_body(e, false);
  x86_arith(c, 0, RCX, (i32)round);
  x86_arith(c, 5, RDI, (i32)round);
  x86_jump_back(c, X86_NOT_BELOW, top);
  x86_land(c, few);
  if (b->whole) return;
  if (sums) keep_sums(e);
  x86_arith(c, 0, RDI, (i32)round);
  u32 none = x86_jump(c, X86_EQUAL);
  if (b->rest) begin_rest(e), b = b->rest, lanes = e->is->lanes;
  top = (u32)c->bytes.len;
  make_mask(e);
  regs_begin(e, b);
  regs_emit_body(e, true);
  x86_arith(c, 0, RCX, (i32)lanes);
  x86_arith(c, 5, RDI, (i32)lanes);
  x86_jump_back(c, X86_ABOVE, top);
  x86_land(c, none);
  if (sums) join_sums(e);
}

/* Arguments of a vm_rows_fn that are kept behind what the caller wants back. */
static const u8 rows_args[] = {RDI, RDX, RCX};

/* Every address moves on, and again, unless that was the last row. */
static void next_row(emit *e, u32 saved, u32 walks, u32 top) {
  enum { NOT_EQUAL = 5 };
  jit_code *c = &e->code;
  i32 args = -8 * (i32)saved;
  x86_plain(c, 0, 1, 0x8b, RAX, x86_mem(RBP, args - 24));
  for (u32 w = 0; w < walks && w < e->num_in_memory; w++)
    if (e->pointer[w] != NO_REG)
      x86_plain(c, 0, 1, 0x03, e->pointer[w], x86_mem(RAX, (i32)(w * sizeof(i64))));
  x86_plain(c, 0, 1, 0x8b, RDI, x86_mem(RBP, args - 8));
  x86_plain(c, 0, 1, 0xff, 1, x86_mem(RBP, args - 16)); /* dec */
  x86_jump_back(c, NOT_EQUAL, top);
}

/* Whether all addresses that move on are in registers. */
static bool has_pointers(const emit *e) {
  for (u32 v = 0; v < e->b->nodes.len; v++) {
    const jit_node *n = node_of(e, v);
    u32 shape = info_of(e, v)->shape;
    bool memory = jit_in_memory(shape);
    if (memory && e->needed[v] && n->imm < e->b->walks && e->pointer[n->imm] == NO_REG)
      return false;
  }
  return true;
}

/* The frame is aligned for vectors; RBP knows where it began. */
static bool emit_function(emit *e) {
  jit_code *c = &e->code;
  u32 walks = e->b->walks;
  if (!e->scalar) regs_give_pointers(e, pointers, COUNT(pointers));
  if (walks && !has_pointers(e)) return false;
  u32 saved = e->num_pointers > FIRST_SAVED ? e->num_pointers - FIRST_SAVED : 0;
  x86_byte(c, 0x55); /* push rbp */
  x86_move(c, RBP, RSP);
  for (u32 i = 0; i < saved; i++) x86_plain(c, 0, 0, 0xff, 6, x86_reg(pointers[FIRST_SAVED + i]));
  for (u32 i = 0; walks && i < COUNT(rows_args); i++)
    x86_plain(c, 0, 0, 0xff, 6, x86_reg(rows_args[i])); /* push */
  x86_arith(c, 4, RSP, -(i32)regs_slot_bytes(e));
  x86_arith(c, 5, RSP, 0);
  u32 frame = (u32)c->bytes.len - 4;
  u32 there = 0; /* each pointer once */
  for (u32 i = 0; !e->scalar && i < e->b->nodes.len; i++) {
    u32 reg = node_of(e, i)->imm, shape = info_of(e, i)->shape;
    if (!jit_in_memory(shape) || !e->needed[i] || e->pointer[reg] == NO_REG) continue;
    if (!(there >> e->pointer[reg] & 1))
      x86_plain(c, 0, 1, 0x8b, e->pointer[reg], x86_mem(RSI, (i32)(reg * sizeof(void *))));
    there |= 1u << e->pointer[reg];
  }
  u32 top = (u32)c->bytes.len;
  if (e->scalar || e->b->placed)
    regs_emit_body(e, false);
  else
    emit_loop(e);
  if (walks) next_row(e, saved, walks, top);
  for (u32 i = 0; i < 4; i++)
    c->bytes.data[frame + i] = (u8)(e->most_slots * regs_slot_bytes(e) >> 8 * i);
  x86_byte(c, 0xc5), x86_byte(c, 0xf8), x86_byte(c, 0x77); /* vzeroupper */
  x86_plain(c, 0, 1, 0x8d, RSP, x86_mem(RBP, -8 * (i32)saved));
  for (u32 i = saved; i-- > 0;) x86_plain(c, 0, 0, 0x8f, 0, x86_reg(pointers[FIRST_SAVED + i]));
  x86_byte(c, 0x5d); /* pop rbp */
  x86_byte(c, 0xc3); /* ret */
  x86_finish(c);
  return true;
}

bool jit_emit(const jit_build *b, u32 vectors, str *out_code) {
  emit e;
  static const struct vectors *const of[] = {&wide, &halved, &quartered};
  static const struct vectors *const few[] = {&narrow, &narrow_halved, &narrow_quartered};
  const struct vectors *is = (jit_is_for(b, JIT_AVX2) ? few : of)[b->narrow];
  if (!regs_init(&e, b, is, vectors)) return false;
  if (!emit_function(&e)) return false;
  *out_code = (str){(const char *)e.code.bytes.data, e.code.bytes.len};
  return e.most_slots * regs_slot_bytes(&e) <= MOST_STACK;
}

bool jit_emit_between(const jit_build *b, const u8 *regs, u32 num, u32 kept, jit_code *c) {
  enum { LEAST = 5 }; /* of one value */
  emit e;
  u32 len = (u32)c->bytes.len, fixups = (u32)c->fixups.len;
  bool few = jit_is_for(b, JIT_AVX2);
  if (!regs_init(&e, b, few ? &narrow : &wide, 0)) return false;
  if (!few) kept = (1u << FIRST_BETWEEN) - 1;
  if (e.num_v < (u32)__builtin_popcount(kept) + LEAST) return false;
  e.between = true;
  e.code = *c;
  memcpy(e.pointer, regs, num);
  for (u32 r = 0; r < COUNT(e.pins); r++) e.pins[r].prim = JP_COUNT_;
  e.pinned = kept;
  regs_emit_body(&e, false);
  *c = e.code;
  if (e.most_slots == 0) return true;
  c->bytes.len = len, c->fixups.len = fixups; /* there is no frame for it */
  return false;
}
