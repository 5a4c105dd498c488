#include "exec/scalars.h"

#include "exec/extremes.h"
#include "exec/launch.h"
#include "exec/scalar_build.h"

/* Scalar code: operations on what registers point to, made of the block VM's calls.
 *
 * An operation goes on with the next one by a call in tail position. Jumps return, so that the
 * stack is never deeper than the operations between two of them, however this is compiled. */
#define NEXT return at[1].fn(at + 1, reg)

typedef struct scalar_code {
  u32 num_slots, num_regs;
  const scalar_reg *regs;
  size_t temps; /* where they begin in scratch */
  size_t steps; /* the same of what steps need */
} scalar_code;

typedef struct scalar_entry {
  const scalar_code *code;
  const scalar_op *first;
  scalar_run_fn *run; /* compiled; NULL: it is not */
  const void *at;
} scalar_entry;

/* ---- operations ---- */

static const scalar_op *op_kernel(const scalar_op *at, void *const *reg) {
  at->u.kernel(1, reg[at->d], reg[at->a], reg[at->b], reg[at->c]);
  NEXT;
}
static const scalar_op *op_jump(const scalar_op *at, void *const *reg) {
  (void)reg;
  return at->u.to;
}
static const scalar_op *op_unless(const scalar_op *at, void *const *reg) {
  if (*(const u8 *)reg[at->a] == 0) return at->u.to;
  NEXT;
}
static const scalar_op *op_step(const scalar_op *at, void *const *reg) {
  const exec_step *x = at->u.step;
  x->run(x->data, reg[REG_ENV], 0, x->units);
  NEXT;
}
static const scalar_op *op_leave(const scalar_op *at, void *const *reg) {
  ((place *)reg[REG_PLACE])->pc = at->u.pc;
  return NULL;
}
/* at[1] leaves for this jump again. */
static const scalar_op *op_back(const scalar_op *at, void *const *reg) {
  place *p = reg[REG_PLACE];
  p->left -= (i32)at->c;
  return p->left < 0 ? at + 1 : at->u.to;
}

#define OP(name, T, R, expression)                                                                 \
  static const scalar_op *op_##name(const scalar_op *at, void *const *reg) {                       \
    T x = *(const T *)reg[at->a], y = *(const T *)reg[at->b];                                      \
    *(R *)reg[at->d] = (R)(expression);                                                            \
    NEXT;                                                                                          \
  }
/* Of x alone: there is no other one to be read. */
#define UNARY(name, T, R, expression)                                                              \
  static const scalar_op *op_##name(const scalar_op *at, void *const *reg) {                       \
    T x = *(const T *)reg[at->a];                                                                  \
    *(R *)reg[at->d] = (R)(expression);                                                            \
    NEXT;                                                                                          \
  }
#define COMPARE(type, T)                                                                           \
  OP(eq_##type, T, u8, x == y)                                                                     \
  OP(ne_##type, T, u8, x != y)                                                                     \
  OP(lt_##type, T, u8, x < y)                                                                      \
  OP(le_##type, T, u8, x <= y)                                                                     \
  OP(gt_##type, T, u8, x > y)                                                                      \
  OP(ge_##type, T, u8, x >= y)
#define INTEGER(type, T, U)                                                                        \
  COMPARE(type, T)                                                                                 \
  OP(add_##type, T, T, (U)x + (U)y)                                                                \
  OP(sub_##type, T, T, (U)x - (U)y)                                                                \
  OP(mul_##type, T, T, (U)x *(U)y)                                                                 \
  OP(and_##type, T, T, x &y)                                                                       \
  OP(or_##type, T, T, x | y)                                                                       \
  OP(xor_##type, T, T, x ^ y)                                                                      \
  OP(max_##type, T, T, x > y ? x : y)                                                              \
  OP(min_##type, T, T, x < y ? x : y)                                                              \
  UNARY(neg_##type, T, T, 0 - (U)x)
/* As kernels have it where y is 0, or -1 and x the least. */
#define DIVIDE(type, T, U)                                                                         \
  OP(div_##type, T, T, y == 0 ? (T)-1 : y == (T)-1 && (T)-1 < (T)1 ? (T)(0 - (U)x) : x / y)        \
  OP(rem_##type, T, T, y == 0 ? x : y == (T)-1 && (T)-1 < (T)1 ? 0 : x % y)
#define FLOAT(type, T)                                                                             \
  COMPARE(type, T)                                                                                 \
  OP(add_##type, T, T, x + y)                                                                      \
  OP(sub_##type, T, T, x - y)                                                                      \
  OP(mul_##type, T, T, x *y)                                                                       \
  OP(div_##type, T, T, x / y)                                                                      \
  OP(max_##type, T, T, maximum_##type(x, y, (T)minus_zero))                                        \
  OP(min_##type, T, T, minimum_##type(x, y, (T)minus_zero))                                        \
  UNARY(neg_##type, T, T, -x)                                                                      \
  UNARY(abs_##type, T, T, (T)__builtin_fabs(x))
INTEGER(s32, i32, u32)
INTEGER(u32, u32, u32)
INTEGER(s64, i64, u64)
INTEGER(u64, u64, u64)
FLOAT(f32, float)
FLOAT(f64, double)
DIVIDE(s32, i32, u32)
DIVIDE(u32, u32, u32)
DIVIDE(s64, i64, u64)
DIVIDE(u64, u64, u64)
UNARY(sign_s32, i32, i32, (x > 0) - (x < 0))
UNARY(sign_s64, i64, i64, (x > 0) - (x < 0))
UNARY(sqrt_f32, float, float, __builtin_sqrtf(x))
UNARY(sqrt_f64, double, double, __builtin_sqrt(x))
OP(and_pred, u8, u8, x &y)
OP(or_pred, u8, u8, x | y)
OP(xor_pred, u8, u8, x ^ y)
UNARY(not_pred, u8, u8, x ^ 1)
UNARY(pred_of_pred, u8, u8, x != 0) /* of memory, which may have any byte */
OP(eq_pred, u8, u8, x == y)

#define CONVERTS(C)                                                                                \
  C(s64, i64, s32, i32)                                                                            \
  C(s32, i32, s64, i64)                                                                            \
  C(u64, u64, u32, u32)                                                                            \
  C(u32, u32, u64, u64)                                                                            \
  C(u32, u32, s32, i32)                                                                            \
  C(s32, i32, u32, u32)                                                                            \
  C(f32, float, s32, i32)                                                                          \
  C(f64, double, s32, i32)                                                                         \
  C(f32, float, s64, i64)                                                                          \
  C(f64, double, s64, i64)                                                                         \
  C(s32, i32, pred, u8)                                                                            \
  C(f32, float, pred, u8)
#define CONVERT(to, TO, from, FROM) UNARY(to##_of_##from, FROM, TO, x)
CONVERTS(CONVERT)

#define BY_WIDTH(W) W(0, u8) W(1, u16) W(2, u32) W(3, u64)
#define MOVE(log, T)                                                                               \
  static const scalar_op *op_select_##log(const scalar_op *at, void *const *reg) {                 \
    const void *from = *(const u8 *)reg[at->a] ? reg[at->b] : reg[at->c];                          \
    memcpy(reg[at->d], from, sizeof(T));                                                           \
    NEXT;                                                                                          \
  }                                                                                                \
  static const scalar_op *op_copy_##log(const scalar_op *at, void *const *reg) {                   \
    memcpy(reg[at->d], reg[at->a], sizeof(T));                                                     \
    NEXT;                                                                                          \
  }
BY_WIDTH(MOVE)
static const scalar_op *op_copy_4(const scalar_op *at, void *const *reg) {
  memcpy(reg[at->d], reg[at->a], 16);
  NEXT;
}
static scalar_fn *const copies[] = {op_copy_0, op_copy_1, op_copy_2, op_copy_3, op_copy_4};

typedef struct known {
  u16 op;
  u8 to, type;
  scalar_fn *fn;
} known;
#define ROW(op, type)                                                                              \
  { VM_##op, R_##type, R_##type, op_##op##_##type }
#define COMPARE_ROWS(type)                                                                         \
  ROW(eq, type), ROW(ne, type), ROW(lt, type), ROW(le, type), ROW(gt, type), ROW(ge, type),        \
      ROW(add, type), ROW(sub, type), ROW(mul, type)
#define INTEGER_ROWS(type)                                                                         \
  COMPARE_ROWS(type), ROW(and, type), ROW(or, type), ROW(xor, type), ROW(max, type),               \
      ROW(min, type), ROW(div, type), ROW(rem, type)
#define FLOAT_ROWS(type) COMPARE_ROWS(type), ROW(div, type), ROW(max, type), ROW(min, type)
static const known binaries[] = {INTEGER_ROWS(s32),
                                 INTEGER_ROWS(u32),
                                 INTEGER_ROWS(s64),
                                 INTEGER_ROWS(u64),
                                 FLOAT_ROWS(f32),
                                 FLOAT_ROWS(f64),
                                 ROW(and, pred),
                                 ROW(or, pred),
                                 ROW(xor, pred),
                                 ROW(eq, pred),
                                 {VM_ne, R_pred, R_pred, op_xor_pred}};
static const known unaries[] = {ROW(neg, s32),  ROW(neg, u32), ROW(neg, s64),  ROW(neg, u64),
                                ROW(neg, f32),  ROW(neg, f64), ROW(not, pred), ROW(sign, s32),
                                ROW(sign, s64), ROW(abs, f32), ROW(abs, f64),  ROW(sqrt, f32),
                                ROW(sqrt, f64)};
#define CONVERT_ROW(to, TO, from, FROM) {VM_convert, R_##to, R_##from, op_##to##_of_##from},
static const known converts[] = {CONVERTS(CONVERT_ROW)};

scalar_fn *scalar_find_fast(const vm_kernels *k, kern_fn *fn, scalar_is *out) {
#define FAST(how, what, typed, with)                                                               \
  do {                                                                                             \
    *out = (scalar_is){SCALAR_##how, (u16)(what), (u8)(typed), 0};                                 \
    return with;                                                                                   \
  } while (0)
#define SELECT(log, T)                                                                             \
  for (u32 form = 0; form < 4; form++)                                                             \
    if (k->select[log][form] == fn) FAST(SELECT, log, 0, op_select_##log);
  BY_WIDTH(SELECT)
  for (u32 i = 0; i < COUNT(copies); i++)
    if (k->splat[i] == fn) FAST(COPY, i, 0, copies[i]);
  for (u32 i = 0; i < COUNT(binaries); i++)
    for (u32 form = 0; form < FORM_COUNT; form++)
      if (k->binary[binaries[i].op][binaries[i].type][form] == fn)
        FAST(BINARY, binaries[i].op, binaries[i].type, binaries[i].fn);
  for (u32 i = 0; i < COUNT(unaries); i++)
    if (k->unary[unaries[i].op][unaries[i].type] == fn)
      FAST(UNARY, unaries[i].op, unaries[i].type, unaries[i].fn);
  for (u32 i = 0; i < COUNT(converts); i++)
    if (k->convert[converts[i].to][converts[i].type] == fn)
      FAST(CONVERT, converts[i].to, converts[i].type, converts[i].fn);
  if (k->clean[DTYPE_pred] == fn) FAST(CONVERT, R_pred, R_pred, op_pred_of_pred);
  FAST(KERNEL, 0, 0, op_kernel);
}

static bool is_plain(u32 t) {
  return vm_rtype_size((vm_rtype)t) == 4 || t == R_f64 || t == R_s64 || t == R_u64;
}
scalar_fn *scalar_find_call(const vm_kernels *k, const vm_call *c, scalar_is *out) {
  scalar_fn *fn = scalar_find_fast(k, c->fn, out);
  scalar_is is = {SCALAR_KERNEL, c->is.of, c->is.type, (u8)(c->is.kind + 1)};
  bool known = is_plain(is.type);
  if (c->is.kind == CALL_unary || c->is.kind == CALL_binary)
    known = known && (vm_op_infos[is.of].result == VM_SAME || is.of == VM_abs);
  else if (c->is.kind == CALL_convert)
    known = known && is_plain(is.of);
  else if (c->is.kind == CALL_load || c->is.kind == CALL_store || c->is.kind == CALL_round)
    known = num_small_bits((dtype)is.of) == 16, is.type = c->is.kind == CALL_load ? R_u16 : R_f32;
  else
    known = false;
  if (out->kind == SCALAR_KERNEL && known) *out = is;
  return fn;
}

/* ---- running ---- */

static void run_compiled(const void *data, const exec_env *env, u64 begin, u64 end) {
  const scalar_entry *entry = data;
  place *p = env->slots[entry->code->num_slots];
  (void)begin, (void)end;
  entry->run(env, p, env->slots, entry->at);
}

static void run_scalars(const void *data, const exec_env *env, u64 begin, u64 end) {
  const scalar_entry *entry = data;
  const scalar_code *c = entry->code;
  void **reg = (void **)(void *)env->scratch;
  exec_env of_steps = *env;
  (void)begin, (void)end;
  of_steps.scratch += c->steps;
  reg[REG_ENV] = &of_steps;
  reg[REG_PLACE] = env->slots[c->num_slots];
  reg[REG_NULL] = NULL;
  for (u32 i = REG_FIRST; i < c->num_regs; i++) {
    const scalar_reg *r = &c->regs[i];
    reg[i] = r->fixed               ? (void *)(uintptr_t)r->fixed
             : r->slot == PROG_NONE ? env->scratch + r->at
                                    : (char *)env->slots[r->slot] + r->at;
  }
  for (const scalar_op *at = entry->first; at;) at = at->fn(at, reg);
}

/* ---- lowering ---- */

static bool is_one(const i64 *dims, u32 rank) {
  for (u32 d = 0; d < rank; d++)
    if (dims[d] != 1) return false;
  return true;
}

static bool is_scalar_loop(const prog_loop *l) {
  if (l->reduced || !is_one(l->dims, l->rank) || l->num_out == 0 || l->num_out > 64) return false;
  for (u32 i = 0; i < l->code.len; i++)
    if (l->code.instrs[i].op == VM_iota) return false;
  return true;
}

static bool is_small_case(const prog_jump *j, u32 at) {
  enum { MOST = 8 };
  for (u32 k = 0; k < j->n; k++)
    if (j->target[k] <= at) return false;
  return j->n > 0 && j->n <= MOST;
}

static void note_view(void *user, u32 *slot, slot_use use) {
  const program **p = user;
  (void)use;
  if (*p && ((*p)->slots[*slot].kind == SLOT_VIEW || (*p)->slots[*slot].lent)) *p = NULL;
}
bool scalar_sees_views(const program *p, const prog_step *s) {
  const program *unseen = p;
  prog_step_slots((prog_step *)(uintptr_t)s, note_view, &unseen);
  return !unseen;
}

bool scalar_is_single(const program *p, u32 at) {
  const prog_step *s = &p->steps[at];
  switch (s->kind) {
  case STEP_loop:
    return is_scalar_loop(s->u.loop_) && !scalar_sees_views(p, s);
  case STEP_copy:
    return is_one(s->u.copy_->dims, s->u.copy_->rank) &&
           dtype_size(p->slots[s->u.copy_->src.slot].type) > 0 && !scalar_sees_views(p, s);
  case STEP_jump:
    return true;
  case STEP_jump_unless:
    return s->u.jump_unless_->target[0] > at;
  case STEP_case:
    return is_small_case(s->u.case_, at);
  default:
    return false;
  }
}

/* Whether a step may be called from a loop: it is done before others could share it. */
static bool is_short(const exec_step *x) {
  enum { SHORT = 40000 }; /* ns */
  u64 cost;
  return x->run && !x->start && !__builtin_mul_overflow(x->units, x->cost, &cost) && cost <= SHORT;
}

/* By step: it is of a loop in which nothing takes long. */
static const bool *find_short_loops(const lower_env *e, const exec_step *steps) {
  const program *p = e->prog;
  bool *in_loop = arena_zalloc(e->a, p->num_steps + 1);
  u32 *others = arena_zalloc(e->a, (p->num_steps + 1) * sizeof(u32));
  for (u32 i = 0; i < p->num_steps; i++)
    others[i + 1] = others[i] + !(scalar_is_single(p, i) || is_short(&steps[i]));
  for (u32 i = p->num_steps; i-- > 0;) { /* outer loops come first */
    const prog_jump *j = prog_step_jump(&p->steps[i]);
    if (!j || p->steps[i].kind != STEP_jump || j->target[0] > i) continue;
    u32 first = j->target[0];
    if (others[i + 1] != others[first] || in_loop[i]) continue;
    for (u32 k = first; k <= i; k++) in_loop[k] = true;
  }
  return in_loop;
}

u32 scalar_add_access(scalar_builder *b, const prog_access *a, const i64 *index, u32 rank) {
  i64 at = a->offset;
  for (u32 d = 0; d < rank; d++) at += index[d] * a->stride[d];
  size_t size = dtype_size(b->e->prog->slots[a->slot].type);
  return scalar_add_reg(b, (scalar_reg){.slot = a->slot, .at = (size_t)at * size});
}
static u32 add_access(scalar_builder *b, const prog_access *a) {
  return scalar_add_access(b, a, NULL, 0);
}
static void add_leave(scalar_builder *b, u32 pc) {
  scalar_add_op(b, (scalar_op){.fn = op_leave, .u.pc = pc, .is.kind = SCALAR_LEAVE});
}
static void add_call(scalar_builder *b, u32 step) {
  const exec_step *x = &b->steps[step];
  if (x->scratch > b->scratch) b->scratch = x->scratch;
  if (x->units)
    scalar_add_op(b, (scalar_op){.fn = op_step, .d = step, .u.step = x, .is.kind = SCALAR_STEP});
}
void scalar_add_copy(scalar_builder *b, u32 to, u32 from, u32 width) {
  u32 log = vm_log2_width(width);
  scalar_add_op(
      b, (scalar_op){.fn = copies[log], .d = to, .a = from, .is = {SCALAR_COPY, (u16)log, 0, 0}});
}

vm_unit *scalar_lower_loop(const lower_env *e, const prog_loop *l) {
  bool direct[64];
  u64 overlaps[64] = {0};
  for (u32 o = 0; o < l->num_out; o++) {
    direct[o] = true;
    for (u32 i = 0; i < l->num_in; i++)
      if (prog_slots_overlap(e->prog, l->in[i].slot, l->out[o].slot)) overlaps[o] |= 1ull << i;
  }
  lower_env calls = *e; /* compiled code is for blocks */
  calls.jit = NULL;
  return vm_lower(&calls, &(vm_spec){.code = &l->code,
                                     .num_in = l->num_in,
                                     .num_out = l->num_out,
                                     .out_direct = l->reduced ? NULL : direct,
                                     .out_overlaps = overlaps,
                                     .keep_registers = l->reduced > 0});
}

/* The kernel calls that a block of one element takes. */
static void add_loop(scalar_builder *b, const prog_loop *l) {
  const lower_env *e = b->e;
  vm_unit *u = scalar_lower_loop(e, l);
  u32 base = (u32)b->regs.len;
  for (u32 i = 0; i < l->num_in; i++) add_access(b, &l->in[i]);
  for (u32 o = 0; o < l->num_out; o++) add_access(b, &l->out[o]);
  for (u32 i = 0; i < u->num_consts; i++) scalar_add_reg(b, (scalar_reg){.fixed = u->consts[i]});
  for (u32 i = 0; i < u->num_slots; i++, b->temps += 64)
    scalar_add_reg(b, (scalar_reg){.slot = PROG_NONE, .at = b->temps});
  for (u32 i = 0; i < u->num_calls; i++) {
    const vm_call *c = &u->calls[i];
    u32 none = u->num_regs - 1;
    scalar_is is;
    scalar_fn *fn = scalar_find_call(e->k, c, &is);
    scalar_add_op(b, (scalar_op){.fn = fn,
                                 .is = is,
                                 .d = c->d == none ? REG_NULL : base + c->d,
                                 .a = c->a == none ? REG_NULL : base + c->a,
                                 .b = c->b == none ? REG_NULL : base + c->b,
                                 .c = c->c == none ? REG_NULL : base + c->c,
                                 .u.kernel = c->fn});
  }
  for (u32 o = 0; o < l->num_out; o++)
    if (!u->outputs[o].in_place && u->outputs[o].reg != l->num_in + o)
      scalar_add_copy(b, base + l->num_in + o, base + u->outputs[o].reg, u->outputs[o].width);
}

/* A jump's target is a step until all are there: find_targets. */
static void add_jump(scalar_builder *b, const prog_jump *j, u32 step, bool unless) {
  bool back = j->target[0] <= step;
  if (unless) {
    u32 pred = scalar_add_reg(b, (scalar_reg){.slot = j->slot});
    scalar_add_op(
        b, (scalar_op){.fn = op_unless, .a = pred, .d = j->target[0], .is.kind = SCALAR_UNLESS});
  } else {
    u8 kind = back ? SCALAR_BACK : SCALAR_JUMP;
    scalar_add_op(b,
                  (scalar_op){.fn = back ? op_back : op_jump, .d = j->target[0], .is.kind = kind});
    if (back) add_leave(b, step);
  }
}

/* By one index after the other; what is none of them is the last. */
static void add_case(scalar_builder *b, const prog_jump *j) {
  u32 which = scalar_add_reg(b, (scalar_reg){.slot = j->slot}), last = j->n - 1;
  u32 other = scalar_add_reg(b, (scalar_reg){.slot = PROG_NONE, .at = b->temps});
  b->temps += 64;
  for (u32 k = 0; k < last; k++) {
    i32 *number = arena_zalloc(b->e->a, 16);
    *number = (i32)k;
    scalar_op op = {.d = other, .a = which, .c = REG_NULL};
    op.b = scalar_add_reg(b, (scalar_reg){.fixed = number});
    op.fn = scalar_find_fast(b->e->k, b->e->k->binary[VM_ne][R_s32][FORM_VV], &op.is);
    scalar_add_op(b, op);
    scalar_add_op(
        b, (scalar_op){.fn = op_unless, .a = other, .d = j->target[k], .is.kind = SCALAR_UNLESS});
  }
  scalar_add_op(b, (scalar_op){.fn = op_jump, .d = j->target[last], .is.kind = SCALAR_JUMP});
}

static void add_step(scalar_builder *b, u32 i, const bool *few) {
  const prog_step *s = &b->e->prog->steps[i];
  const prog_copy *c = s->u.copy_;
  b->start[i] = (u32)b->ops.len;
  if (few && (few[i] || (s->kind == STEP_loop && scalar_is_single(b->e->prog, i))))
    scalar_add_few(b, s);
  else if (!scalar_is_single(b->e->prog, i))
    add_call(b, i);
  else if (s->kind == STEP_loop)
    add_loop(b, s->u.loop_);
  else if (s->kind == STEP_copy)
    scalar_add_copy(b, add_access(b, &c->dst), add_access(b, &c->src),
                    (u32)dtype_size(b->e->prog->slots[c->src.slot].type));
  else if (s->kind == STEP_case)
    add_case(b, s->u.case_);
  else
    add_jump(b, s->kind == STEP_jump ? s->u.jump_ : s->u.jump_unless_, i,
             s->kind == STEP_jump_unless);
}

static bool is_jump(const scalar_op *op) {
  return op->fn == op_jump || op->fn == op_back || op->fn == op_unless;
}

/* What operations [first, end) take, in ticks. */
static u32 count_ticks(const scalar_builder *b, size_t first, size_t end) {
  enum { INTERPRETED = 8, KERNEL = 40, TO_STEP = 15, TO_PART = 45 }; /* the last two in ns */
  i64 ticks = 0;
  for (size_t i = first; i < end; i++) {
    const scalar_op *op = &b->ops.data[i];
    const exec_step *x = op->is.kind == SCALAR_STEP ? op->u.step : NULL;
    bool part = x && b->e->jit && b->e->prog->steps[op->d].kind == STEP_dynamic;
    if (x)
      ticks += step_ticks(x->units * x->cost - (x->direct ? TO_STEP : part ? TO_PART : 0));
    else
      ticks += op->is.kind == SCALAR_KERNEL ? KERNEL : 1;
    if (!b->e->jit) ticks += INTERPRETED;
  }
  return ticks < MOST_TICKS ? (u32)ticks : MOST_TICKS;
}

/* Targets outside steps [first, end) leave the code. */
static void find_targets(scalar_builder *b, u32 first, u32 end) {
  size_t n = b->ops.len;
  u32 last = b->e->prog->num_steps;
  add_leave(b, end);
  u32 *at = ARENA_ARRAY(b->e->a, u32, n);
  for (size_t i = 0; i < n; i++) {
    u32 to = b->ops.data[i].d < last ? b->ops.data[i].d : last;
    if (!is_jump(&b->ops.data[i])) continue;
    at[i] = to >= first && to < end ? b->start[to] : (u32)b->ops.len;
    if (to < first || to >= end) add_leave(b, to);
  }
  for (size_t i = 0; i < n; i++) {
    scalar_op *op = &b->ops.data[i];
    if (is_jump(op)) op->u.to = &b->ops.data[at[i]];
    if (op->is.kind == SCALAR_BACK) op->c = count_ticks(b, at[i] < i ? at[i] : 0, i + 1);
  }
}

/* The operations of steps [first, end), `few` of them as those of each element. */
static scalar_builder make_list(const lower_env *e, const exec_step *steps, u32 first, u32 end,
                                const bool *few) {
  scalar_builder b = {
      .e = e, .steps = steps, .start = ARENA_ARRAY(e->a, u32, e->prog->num_steps + 1)};
  for (u32 i = 0; i < REG_FIRST; i++) scalar_add_reg(&b, (scalar_reg){0});
  for (u32 i = first; i < end; i++) add_step(&b, i, few);
  find_targets(&b, first, end);
  return b;
}

/* few: NULL where nothing is compiled. */
static void lower_range(const lower_env *e, const exec_step *steps, u32 first, u32 end,
                        const bool *few, exec_step *out) {
  scalar_builder b = make_list(e, steps, first, end, few);
  scalar_code *c = ARENA_NEW(e->a, scalar_code);
  *c = (scalar_code){e->prog->num_slots, (u32)b.regs.len, b.regs.data,
                     align_up(b.regs.len * sizeof(void *), 64), 0};
  c->steps = align_up(c->temps + b.temps + 64, 64);
  for (u32 i = 0; i < b.regs.len; i++)
    if (!b.regs.data[i].fixed && b.regs.data[i].slot == PROG_NONE) b.regs.data[i].at += c->temps;
  scalar_list list = {b.ops.data, b.regs.data, (u32)b.ops.len, (u32)b.regs.len,
                      first,      end,         b.start};
  const void **at;
  scalar_run_fn *run = jit_scalars(e, &list, &at);
  if (!run && few) {
    lower_range(e, steps, first, end, NULL, out);
    return;
  }
  for (u32 i = first; i < end; i++) {
    scalar_entry *entry = ARENA_NEW(e->a, scalar_entry);
    *entry = (scalar_entry){c, &b.ops.data[b.start[i]], run, run ? at[b.start[i]] : NULL};
    out[i] = (exec_step){.run = run ? run_compiled : run_scalars,
                         .data = entry,
                         .units = 1,
                         .cost = 1,
                         .scratch = c->steps + b.scratch};
  }
}

static bool is_plain_jump(const prog_step *s) {
  return s->kind == STEP_jump || s->kind == STEP_jump_unless || s->kind == STEP_case;
}

const exec_step *scalars_lower(const lower_env *e, const exec_step *steps) {
  enum { WORTH = 2 }; /* steps that are more than a jump */
  const program *p = e->prog;
  const bool *in_loop = find_short_loops(e, steps);
  const bool *few = e->jit ? scalar_find_few(e, steps, in_loop) : NULL;
  exec_step *out = NULL;
  for (u32 first = 0, end; first < p->num_steps; first = end) {
    u32 work = 0;
    for (end = first; end < p->num_steps && (scalar_is_single(p, end) || in_loop[end]); end++)
      work += !is_plain_jump(&p->steps[end]);
    if (work >= WORTH) {
      if (!out) out = arena_zalloc(e->a, (p->num_steps + 1) * sizeof *out);
      lower_range(e, steps, first, end, few, out);
    }
    if (end == first) end++;
  }
  return out;
}
