/* The table of primitives, and numbering values so that equal ones are one. */
#include "exec/jit_ir.h"

#include "exec/fold_kernel.h"
#include "exec/fold_order.h"

#define OPERANDS(shape)                                                                            \
  (JIT_##shape == JIT_FMA || JIT_##shape == JIT_BLEND ? 3                                          \
   : JIT_##shape == JIT_X3 || JIT_##shape == JIT_CMP || JIT_##shape == JIT_TEST ||                 \
           JIT_##shape == JIT_K3 || JIT_##shape == JIT_X3I                                         \
       ? 2                                                                                         \
   : JIT_##shape == JIT_CONST || JIT_##shape == JIT_ONE || JIT_##shape == JIT_LOAD ? 0             \
                                                                                   : 1)
const jit_prim_info jit_prim_infos[JP_COUNT_] = {
#define PRIM(id, shape, class, prefix, map, w, opcode, more, vex)                                  \
  [JP_##id] = {JIT_##shape, JIT_##class, more, OPERANDS(shape), w},
#include "exec/jit_prims.def"
#undef PRIM
};

static u32 hash_node(const jit_node *n) {
  u64 h = n->prim | (u64)n->part << 32;
  h = (h ^ n->imm) * 0x9e3779b97f4a7c15u;
  for (u32 i = 0; i < 3; i++) h = (h ^ (h >> 29) ^ n->arg[i]) * 0x9e3779b97f4a7c15u;
  return (u32)(h >> 32);
}

/* Where the node is, or would be. */
static u32 *find_place(const jit_build *b, const jit_node *n) {
  u32 at = hash_node(n) & (b->table_size - 1);
  while (b->table[at] && memcmp(&b->nodes.data[b->table[at] - 1], n, sizeof *n) != 0)
    at = (at + 1) & (b->table_size - 1);
  return &b->table[at];
}

static void grow_table(jit_build *b) {
  b->table_size = b->table_size ? b->table_size * 2 : 256;
  b->table = arena_zalloc(b->a, b->table_size * sizeof(u32));
  for (u32 i = 0; i < b->nodes.len; i++) *find_place(b, &b->nodes.data[i]) = i + 1;
}

/* The same of lanes of 64 bits. */
static const u8 twins[JP_COUNT_] = {
    [JP_addps] = JP_addpd,
    [JP_subps] = JP_subpd,
    [JP_mulps] = JP_mulpd,
    [JP_divps] = JP_divpd,
    [JP_minps] = JP_minpd,
    [JP_maxps] = JP_maxpd,
    [JP_sqrtps] = JP_sqrtpd,
    [JP_rangeps] = JP_rangepd,
    [JP_rsqrt14ps] = JP_rsqrt14pd,
    [JP_fmaddps] = JP_fmaddpd,
    [JP_rndscaleps] = JP_rndscalepd,
    [JP_fmsubps] = JP_fmsubpd,
    [JP_cmpps] = JP_cmppd,
    [JP_fnmaddps] = JP_fnmaddpd,
    [JP_pminsd] = JP_pminsq,
    [JP_pmaxsd] = JP_pmaxsq,
    [JP_pminud] = JP_pminuq,
    [JP_pmaxud] = JP_pmaxuq,
    [JP_paddd] = JP_paddq,
    [JP_psubd] = JP_psubq,
    [JP_pmulld] = JP_pmullq,
    [JP_pandd] = JP_pandq,
    [JP_pord] = JP_porq,
    [JP_pxord] = JP_pxorq,
    [JP_psllvd] = JP_psllvq,
    [JP_psrlvd] = JP_psrlvq,
    [JP_psravd] = JP_psravq,
    [JP_pslld] = JP_psllq,
    [JP_psrld] = JP_psrlq,
    [JP_psrad] = JP_psraq,
    [JP_pcmpd] = JP_pcmpq,
    [JP_pcmpud] = JP_pcmpuq,
    [JP_pblendmd] = JP_pblendmq,
    [JP_pcmpeqd] = JP_pcmpeqq,
    [JP_pcmpgtd] = JP_pcmpgtq,
};

jit_prim jit_at_hand(const jit_build *b, jit_prim prim) {
  return b->wide && twins[prim] ? (jit_prim)twins[prim] : prim;
}
jit_value jit_add(jit_build *b, jit_prim prim, u32 imm, jit_value x, jit_value y, jit_value z) {
  if (b->wide && prim == JP_const32) return jit_const64(b, (u64)(i64)(i32)imm);
  prim = jit_at_hand(b, prim);
  u32 operands = jit_prim_infos[prim].operands;
  return jit_add_node(
      b,
      (jit_node){prim, imm, 0, {operands > 0 ? x : 0, operands > 1 ? y : 0, operands > 2 ? z : 0}});
}
jit_value jit_const32(jit_build *b, u32 bits) { return jit_add(b, JP_const32, bits, 0, 0, 0); }
jit_value jit_add1(jit_build *b, jit_prim prim, u32 imm, jit_value x) {
  return jit_add(b, prim, imm, x, 0, 0);
}
jit_value jit_add2(jit_build *b, jit_prim prim, jit_value x, jit_value y) {
  return jit_add(b, prim, 0, x, y, 0);
}
jit_value jit_add3(jit_build *b, jit_prim prim, jit_value x, jit_value y, jit_value z) {
  return jit_add(b, prim, 0, x, y, z);
}
jit_value jit_add_node(jit_build *b, jit_node n) {
  if (b->nodes.len * 2 >= b->table_size) grow_table(b);
  u32 *place = find_place(b, &n);
  if (*place) return *place - 1;
  VEC_PUSH(b->a, b->nodes, n);
  *place = (u32)b->nodes.len;
  return *place - 1;
}

jit_value jit_const64(jit_build *b, u64 bits) {
  return jit_add_node(b, (jit_node){JP_const64, (u32)bits, 0, {(u32)(bits >> 32), 0, 0}});
}

bool jit_is_const(const jit_build *b, jit_value x, u32 *out_bits) {
  const jit_node *n = &b->nodes.data[x];
  *out_bits = n->imm;
  return n->prim == JP_const32;
}
bool jit_is_const64(const jit_build *b, jit_value x, u64 *out_bits) {
  const jit_node *n = &b->nodes.data[x];
  *out_bits = n->imm | (u64)n->arg[0] << 32;
  return n->prim == JP_const64;
}

/* Node v of a round, whose operands are among the round's copies, so many elements on. */
static jit_node copy_node(const jit_build *b, u32 v, const u32 *copies, u32 part) {
  jit_node x = b->nodes.data[v];
  const jit_prim_info *p = &jit_prim_infos[x.prim];
  for (u32 k = 0; k < p->operands; k++) x.arg[k] = copies[x.arg[k]];
  if (p->shape > JIT_ONE) x.part = part;
  return x;
}

/* How many nodes from v on go together: halves of what lies in memory, in its order. */
static u32 count_together(const jit_build *b, u32 v) {
  const jit_node *n = &b->nodes.data[v];
  bool low = n->prim == JP_load64 || n->prim == JP_store64;
  return low && v + 1 < b->nodes.len && n[1].prim == n->prim + 1 && n[1].imm == n->imm ? 2 : 1;
}
/* Whether all lanes of so many have the same element. */
static bool has_one(const jit_build *b, const jit_node *n, u32 lanes) {
  return jit_prim_infos[n->prim].shape == JIT_LOAD && 1ull << jit_spread(b, n->imm) >= lanes;
}
jit_build jit_unroll(const jit_build *b, u32 times, u32 lanes) {
  jit_build r = {.a = b->a, .target = b->target, .spread = b->spread, .walks = b->walks};
  u32 n = (u32)b->nodes.len, together;
  u32 *copies = ARENA_ARRAY(b->a, u32, (size_t)n * times + 1);
  for (u32 v = 0; v < n; v += together) {
    together = count_together(b, v);
    bool one = has_one(b, &b->nodes.data[v], times * lanes);
    for (u32 t = 0; t < times; t++)
      for (u32 i = 0; i < together; i++)
        copies[t * n + v + i] =
            jit_add_node(&r, copy_node(b, v + i, &copies[t * n], one ? 0 : t * lanes));
  }
  return r;
}

/* What sums are made of. */
typedef struct sum_prims {
  jit_prim add, load, store;
} sum_prims;
static bool is_sum(u32 prim) { return jit_prim_infos[prim].shape == JIT_SUM; }
static sum_prims prims_of(u32 sum) {
  if (sum == JP_sumps) return (sum_prims){JP_addps, JP_load32, JP_store32};
  bool upper = sum == JP_sumpdh;
  return (sum_prims){JP_addpd, upper ? JP_load64h : JP_load64, upper ? JP_store64h : JP_store64};
}

/* Running sums as fold_order.h has it, down to 16 values, and stored. */
static void store_running(jit_build *r, const jit_node *of, u32 *sum, u32 running, u32 lanes) {
  enum { LEFT = 16 };
  sum_prims p = prims_of(of->prim);
  for (u32 half = running / 2; half * lanes >= LEFT; half /= 2)
    for (u32 k = 0; k < half && sum[k + half]; k++)
      sum[k] = 1 + jit_add(r, p.add, 0, sum[k] - 1, sum[k + half] - 1, 0);
  for (u32 k = 0; k < LEFT / lanes; k++)
    jit_add_node(r, (jit_node){p.store, of->imm, k * lanes, {sum[k] - 1}});
}

/* The first lanes of x, and -0 in the others, which changes no sum. */
static jit_value keep_first(jit_build *r, jit_value x, u32 lanes) {
  enum { LESS = 1, MINUS_ZERO = 1u << 31 };
  jit_value lane = jit_add(r, JP_places, 0, 0, 0, 0);
  jit_value mask = jit_add(r, JP_pcmpud, LESS, lane, jit_const32(r, lanes), 0);
  return jit_add3(r, JP_pblendmd, mask, x, jit_const32(r, MINUS_ZERO));
}

jit_build jit_sum_rows(const jit_build *b, u32 length, u32 lanes) {
  jit_build r = {.a = b->a, .target = b->target, .step = length, .whole = true};
  r.tail = length % lanes ? length / lanes * lanes : 0;
  u32 n = (u32)b->nodes.len, running = FOLD_RUNNING / lanes;
  u32 *copies = ARENA_ARRAY(b->a, u32, n + 1);
  u32 *sums = arena_zalloc(b->a, (n + 1) * running * sizeof(u32)); /* value + 1; 0: none yet */
  for (u32 t = 0; t * lanes < length; t++)
    for (u32 v = 0; v < n; v++) {
      jit_node x = copy_node(b, v, copies, t * lanes);
      u32 *sum = &sums[v * running + t % running];
      if (is_sum(x.prim) && r.tail == t * lanes && t)
        x.arg[0] = keep_first(&r, x.arg[0], length % lanes);
      if (!is_sum(x.prim))
        copies[v] = jit_add_node(&r, x);
      else
        *sum = 1 + (*sum ? jit_add(&r, prims_of(x.prim).add, 0, *sum - 1, x.arg[0], 0) : x.arg[0]);
    }
  for (u32 v = 0; v < n; v++)
    if (sums[v * running]) store_running(&r, &b->nodes.data[v], &sums[v * running], running, lanes);
  return r;
}

jit_build jit_sum_columns(const jit_build *b, const u32 *pitch, u32 num, u32 lanes) {
  jit_build r = {.a = b->a, .target = b->target, .step = lanes};
  u32 len = (u32)b->nodes.len, *copies = ARENA_ARRAY(b->a, u32, len + 1);
  u32 *sums = ARENA_ARRAY(b->a, u32, (len + 1) * FOLD_ROWS); /* by level of pairs */
  for (u32 t = 0; t < FOLD_ROWS; t++)
    for (u32 v = 0; v < len; v++) {
      const jit_node *n = &b->nodes.data[v];
      bool memory = jit_in_memory(jit_prim_infos[n->prim].shape);
      jit_node x = copy_node(b, v, copies, 0);
      if (memory && n->imm < num) x.part = t * pitch[n->imm];
      u32 *sum = &sums[v * FOLD_ROWS], level = 0, y = x.arg[0];
      if (!is_sum(x.prim)) {
        copies[v] = jit_add_node(&r, x);
        continue;
      }
      sum_prims p = prims_of(x.prim);
      for (; t >> level & 1; level++) y = jit_add(&r, p.add, 0, sum[level], y, 0);
      sum[level] = y;
      if (t + 1 < FOLD_ROWS) continue;
      y = jit_add(&r, p.add, 0, jit_add(&r, p.load, x.imm, 0, 0, 0), y, 0);
      jit_add(&r, p.store, x.imm, y, 0, 0);
    }
  return r;
}

jit_build jit_replace(const jit_build *b, jit_make_fn *const make[JP_COUNT_]) {
  jit_build r = {
      .a = b->a, .target = b->target, .spread = b->spread, .walks = b->walks, .narrow = b->narrow};
  u32 len = (u32)b->nodes.len;
  jit_value *of = ARENA_ARRAY(b->a, jit_value, len + 1);
  for (u32 v = 0; v < len; v++) {
    jit_node n = b->nodes.data[v];
    bool is_const = jit_prim_infos[n.prim].shape == JIT_CONST; /* whose operand is none */
    jit_value arg[3] = {0};
    for (u32 k = 0; k < jit_prim_infos[n.prim].operands; k++) arg[k] = of[n.arg[k]];
    if (!is_const) memcpy(n.arg, arg, sizeof arg);
    jit_make_fn *f = make[n.prim];
    of[v] = f ? f(&r, &n, arg[0], arg[1], arg[2]) : jit_add_node(&r, n);
  }
  return r;
}
