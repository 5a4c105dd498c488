/* From primitives to instructions of aarch64, of one loop (jit_regs.h has its registers). Its body
 * is written three times: for several vectors at once, for one, and for single elements of what is
 * left then, as memory is read and written to the element; these are computed as vectors whose
 * other lanes nobody looks at. */
#include "exec/fold_order.h"
#include "exec/jit_arm64.h"
#include "exec/jit_regs.h"

/* Vectors 8 to 15 are the caller's, of whom only the lower half is to be kept. */
enum { LANES = 4, SPARE = 31, FIRST_KEPT = 8, END_KEPT = 16, NO_ADDRESS = UINT32_MAX };
static const vectors neon = {LANES, SPARE, SPARE, FOLD_RUNNING / LANES, NO_REG, 32, 32, 4, 16};

/* Pointers of registers in memory: the first ones stay here. */
static const u8 pointers[] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* ---- memory ---- */

/* A register's first element is at the address in the register that this returns. */
static u32 first_of(emit *e, u32 reg) {
  if (e->pointer[reg] != NO_REG) return e->pointer[reg];
  arm64_imm(&e->code, A64_LDR_X, X16, X1, reg);
  e->address = NO_ADDRESS;
  return X16;
}
/* The same of the element that the loop has come to. */
static u32 element_of(emit *e, u32 reg, u32 width) {
  if (e->address == reg) return X16;
  u32 first = first_of(e, reg);
  if (!e->scalar) arm64_add_scaled(&e->code, X16, first, X2, (u32)__builtin_ctz(width));
  if (!e->scalar) e->address = reg;
  return e->scalar ? first : X16;
}
/* Bytes that elements of a width take. */
static u32 bytes_of(const emit *e, u32 width) {
  return e->scalar || e->rest ? width : width * LANES;
}

void regs_move(emit *e, u32 class, u32 reg, u32 slot, bool store) {
  (void)class;
  arm64_imm(&e->code, store ? A64_STR_Q : A64_LDR_Q, reg, SP, slot);
}

/* Words repeated to a vector. */
static u32 pooled(emit *e, u32 first, u32 second) {
  u32 words[] = {first, second, first, second}, i = 0;
  while (i < e->code.pool.len && memcmp(&e->code.pool.data[i], words, sizeof words) != 0) i += 4;
  for (u32 k = 0; i + k >= e->code.pool.len && k < 4; k++) VEC_PUSH(e->a, e->code.pool, words[k]);
  return i;
}

void regs_bring(emit *e, u32 v, u32 to) {
  static const u32 loads[JP_COUNT_] = {[JP_one16] = 0x79400000,
                                       [JP_one16s] = 0x79c00000,
                                       [JP_one8] = 0x39400000,
                                       [JP_one8s] = 0x39c00000};
  jit_code *c = &e->code;
  const jit_node *n = node_of(e, v);
  if (n->prim == JP_const32 && arm64_immediate(n->imm)) {
    arm64_word(c, arm64_immediate(n->imm) | to);
  } else if (n->prim == JP_const32 || n->prim == JP_const64) {
    arm64_literal(c, to, pooled(e, n->imm, n->prim == JP_const64 ? n->arg[0] : n->imm));
  } else if (n->prim == JP_one32) {
    arm64_3(c, A64_ONE32, to, first_of(e, n->imm), 0);
  } else {
    arm64_imm(c, loads[n->prim], X17, first_of(e, n->imm), 0);
    e->sums_ready = false;
    arm64_3(c, A64_DUP_GPR, to, X17, 0);
  }
}

/* ---- emit_<shape>: primitive `at` ---- */

#define PRIMITIVE emit *e, u32 at, const jit_node *n

static void emit_nothing(PRIMITIVE) { (void)e, (void)at, (void)n; }

static void emit_then(emit *e, arm64_row r, u32 d) {
  for (u32 i = 0; i < 2 && r.then[i]; i++) arm64_3(&e->code, r.then[i], d, d, 0);
}

static void emit_load(PRIMITIVE) {
  arm64_row r = arm64_row_of(n->prim, n->imm);
  u32 width = info_of(e, at)->more, d = regs_take(e, at);
  arm64_imm(&e->code, arm64_load(bytes_of(e, width)), d, element_of(e, n->imm, width),
            n->part / LANES);
  if (r.op) arm64_3(&e->code, r.op, d, d, 0);
  emit_then(e, r, d);
  regs_release(e, at);
}
static void emit_store(PRIMITIVE) {
  arm64_row r = arm64_row_of(n->prim, n->imm);
  u32 width = info_of(e, at)->more, from = regs_need(e, n->arg[0]);
  if (r.op) {
    arm64_3(&e->code, r.op, SPARE, from, 0);
    emit_then(e, r, SPARE);
    from = SPARE;
  }
  arm64_imm(&e->code, arm64_store(bytes_of(e, width)), from, element_of(e, n->imm, width),
            n->part / LANES);
  regs_release(e, at);
}

/* To the running sums in the frame. */
static void emit_sum(PRIMITIVE) {
  jit_code *c = &e->code;
  u32 a = regs_need(e, n->arg[0]), width = bytes_of(e, 4);
  if (!e->sums_ready) { /* x17 = sp + x2 % 64 * 4 */
    arm64_word(c, 0x92401400u | X2 << 5 | X17);
    arm64_imm(c, 0x8b206000u | X17 << 16, X17, SP, 2);
    e->sums_ready = true;
  }
  arm64_imm(c, arm64_load(width), SPARE, X17, n->part / LANES);
  arm64_3(c, A64_FADD, SPARE, SPARE, a);
  arm64_imm(c, arm64_store(width), SPARE, X17, n->part / LANES);
  regs_release(e, at);
}
_Static_assert(FOLD_RUNNING == 64, "it is in an instruction");

static void emit_x3(PRIMITIVE) {
  arm64_row r = arm64_row_of(n->prim, n->imm);
  u32 a = regs_need(e, n->arg[r.swaps]), b = regs_need(e, n->arg[!r.swaps]);
  bool high = n->prim == JP_mulhsd || n->prim == JP_mulhud;
  if (high) arm64_3(&e->code, r.op, SPARE, a, b);
  regs_release(e, at);
  u32 d = regs_take(e, at);
  arm64_3(&e->code, high ? r.op | A64_UPPER : r.op, d, a, b);
  if (high) arm64_3(&e->code, A64_UZP2, d, SPARE, d);
}
static void emit_x2(PRIMITIVE) {
  arm64_row r = arm64_row_of(n->prim, n->imm);
  u32 a = regs_need(e, n->arg[0]);
  regs_release(e, at);
  u32 d = regs_take(e, at);
  arm64_3(&e->code, r.op, d, a, 0);
  emit_then(e, r, d);
}
static void emit_shift(PRIMITIVE) {
  if (n->prim != JP_prold) {
    emit_x2(e, at, n);
    return;
  }
  u32 a = regs_need(e, n->arg[0]), d = regs_take(e, at);
  arm64_3(&e->code, A64_USHR - ((32 - n->imm) << 16), d, a, 0);
  arm64_3(&e->code, A64_SLI + (n->imm << 16), d, a, 0);
  regs_release(e, at);
}

/* A register for the result that begins as operand `from`, which keeps its own where it is needed
 * again. */
static u32 take_copy(emit *e, u32 at, u32 from) {
  u32 a = regs_need(e, from);
  if (regs_dies(e, from, at)) {
    regs_release(e, at);
    regs_take_over(e, at, a);
    return a;
  }
  u32 d = regs_take(e, at);
  arm64_3(&e->code, A64_ORR, d, a, a);
  regs_release(e, at);
  return d;
}
/* The result takes the place of the sum. */
static void emit_fma(PRIMITIVE) {
  u32 a = regs_need(e, n->arg[0]), b = regs_need(e, n->arg[1]);
  arm64_3(&e->code, arm64_row_of(n->prim, 0).op, take_copy(e, at, n->arg[2]), a, b);
}
/* It takes that of one of the three. */
static void emit_blend(PRIMITIVE) {
  u32 mask = n->arg[0], x = n->arg[1], y = n->arg[2];
  u32 k = regs_need(e, mask), a = regs_need(e, x), b = regs_need(e, y);
  bool dies = regs_dies(e, mask, at);
  if (!dies && regs_dies(e, y, at))
    arm64_3(&e->code, A64_BIT, take_copy(e, at, y), a, k);
  else if (!dies && regs_dies(e, x, at))
    arm64_3(&e->code, A64_BIF, take_copy(e, at, x), b, k);
  else
    arm64_3(&e->code, A64_BSL, take_copy(e, at, mask), a, b);
}

static void (*const emit_of[JIT_SHAPES_])(PRIMITIVE) = {
    [JIT_CONST] = emit_nothing, [JIT_ONE] = emit_nothing, [JIT_LOAD] = emit_load,
    [JIT_STORE] = emit_store,   [JIT_X3] = emit_x3,       [JIT_X2] = emit_x2,
    [JIT_X2I] = emit_x2,        [JIT_SHIFT] = emit_shift, [JIT_FMA] = emit_fma,
    [JIT_CMP] = emit_x3,        [JIT_TEST] = emit_x3,     [JIT_BLEND] = emit_blend,
    [JIT_K3] = emit_x3,         [JIT_K2] = emit_x2,       [JIT_X3I] = emit_x3,
    [JIT_SUM] = emit_sum,
};
void regs_emit(emit *e, u32 at) { emit_of[info_of(e, at)->shape](e, at, node_of(e, at)); }

/* ---- the loop ---- */

static void emit_body(emit *e, bool rest) {
  e->address = NO_ADDRESS;
  e->sums_ready = false;
  regs_emit_body(e, rest);
}

/* A body again and again while there are `step` elements, of x0; x2 goes with it. */
static void emit_while(emit *e, u32 step, bool rest) {
  jit_code *c = &e->code;
  arm64_imm(c, A64_SUBS, X0, X0, step);
  u32 few = arm64_jump(c, A64_LO), top = (u32)c->bytes.len;
  emit_body(e, rest);
  arm64_imm(c, A64_ADD, X2, X2, step);
  arm64_imm(c, A64_SUBS, X0, X0, step);
  arm64_jump_back(c, A64_HS, top);
  arm64_land(c, few);
  arm64_imm(c, A64_ADDS, X0, X0, step);
}

/* Running sums begin with -0, which changes nothing. */
static void begin_sums(emit *e) {
  arm64_word(&e->code, arm64_immediate(1u << 31) | SPARE);
  for (u32 i = 0; i < neon.sums; i++) regs_move(e, JIT_V, SPARE, i, true);
}
/* As fold_order.h has it. */
static void join_sums(emit *e) {
  jit_code *c = &e->code;
  u32 n = neon.sums / 2;
  for (u32 i = 0; i < n; i++) {
    regs_move(e, JIT_V, i, i, false);
    regs_move(e, JIT_V, SPARE, i + n, false);
    arm64_3(c, A64_FADD, i, i, SPARE);
  }
  while (n /= 2)
    for (u32 i = 0; i < n; i++) arm64_3(c, A64_FADD, i, i, i + n);
  arm64_3(c, A64_DUP_UPPER, 1, 0, 0);
  arm64_3(c, A64_FADD, 0, 0, 1);
  arm64_3(c, A64_DUP_SECOND, 1, 0, 0);
  arm64_3(c, A64_FADD, 0, 0, 1);
  arm64_imm(c, A64_STR_S, 0, first_of(e, e->sum), 0);
}

static void emit_loop(emit *e) {
  jit_code *c = &e->code;
  const jit_build *b = e->b;
  u32 rounds = e->rounds = regs_choose_rounds(e), ends[2];
  bool sums = e->sum != UINT32_MAX;
  jit_build many = jit_unroll(b, rounds, LANES);
  regs_begin(e, &many);
  regs_pin_invariants(e);
  if (sums) begin_sums(e);
  arm64_word(c, 0xd2800000u | X2); /* x2 = 0 */
  emit_while(e, rounds * LANES, false);
  ends[0] = arm64_jump(c, A64_EQ);
  regs_begin(e, b);
  if (rounds > 1) emit_while(e, LANES, false);
  ends[1] = arm64_jump(c, A64_EQ);
  regs_begin(e, b);
  emit_while(e, 1, true);
  for (u32 i = 0; i < 2; i++) arm64_land(c, ends[i]);
  if (sums) join_sums(e);
}

/* Vectors that are the caller's, to the stack and back, where any is used: instructions that do so,
 * or as many that do nothing. */
static void keep_vectors(emit *e, u32 at, bool back) {
  static const u32 keep[] = {0x6dbc27e8, 0x6d012fea, 0x6d0237ec, 0x6d033fee};
  static const u32 bring[] = {0x6d433fee, 0x6d4237ec, 0x6d412fea, 0x6cc427e8};
  u32 kept = (1u << END_KEPT) - (1u << FIRST_KEPT);
  for (u32 i = 0; i < 4; i++) {
    u32 word = e->used & kept ? (back ? bring : keep)[i] : A64_NOP;
    memcpy(&e->code.bytes.data[at + 4 * i], &word, 4);
  }
}
/* Room for `bytes` in the frame, or it back: 12 bits of them and 12 more. */
static void set_frame(emit *e, u32 at, u32 op, u32 bytes) {
  u32 words[] = {op | (bytes & 0xfff) << 10 | SP << 5 | SP,
                 op | A64_SHIFTED | bytes >> 12 << 10 | SP << 5 | SP};
  memcpy(&e->code.bytes.data[at], words, sizeof words);
}

static void emit_function(emit *e) {
  enum { KEEP = 16, FRAME = 8 };
  jit_code *c = &e->code;
  for (u32 i = 0; i < KEEP + FRAME; i += 4) arm64_word(c, A64_NOP);
  if (!e->scalar) regs_give_pointers(e, pointers, COUNT(pointers));
  for (u32 reg = 0; reg < e->num_in_memory; reg++)
    if (e->pointer[reg] != NO_REG) arm64_imm(c, A64_LDR_X, e->pointer[reg], X1, reg);
  if (e->scalar)
    emit_body(e, false);
  else
    emit_loop(e);
  u32 end = (u32)c->bytes.len, bytes = e->most_slots * regs_slot_bytes(e);
  for (u32 i = 0; i < FRAME + KEEP; i += 4) arm64_word(c, A64_NOP);
  keep_vectors(e, 0, false);
  set_frame(e, KEEP, A64_SUB, bytes);
  set_frame(e, end, A64_ADD, bytes);
  keep_vectors(e, end + FRAME, true);
  arm64_word(c, A64_RET);
}

/* Of what is not memory or a constant: whether there are instructions for it. */
static bool is_known(const jit_node *n) {
  return jit_prim_infos[n->prim].shape < JIT_SUM || arm64_row_of(n->prim, n->imm).op;
}

bool jit_emit(const jit_build *b, u32 vectors, str *out_code) {
  enum { MOST_IN_MEMORY = 1 << 12 }; /* of which instructions have the number */
  emit e;
  if (!regs_init(&e, b, &neon, vectors) || e.num_in_memory > MOST_IN_MEMORY) return false;
  for (u32 v = 0; v < b->nodes.len; v++)
    if (e.needed[v] && !is_known(&b->nodes.data[v])) return false;
  emit_function(&e);
  if (!arm64_finish(&e.code)) return false;
  *out_code = (str){(const char *)e.code.bytes.data, e.code.bytes.len};
  return e.most_slots * regs_slot_bytes(&e) <= MOST_STACK;
}
