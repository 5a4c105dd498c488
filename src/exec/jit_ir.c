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
  [JP_##id] = {#id, JIT_##shape, JIT_##class, more, OPERANDS(shape)},
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

jit_value jit_add(jit_build *b, jit_prim prim, u32 imm, jit_value x, jit_value y, jit_value z) {
  u32 operands = jit_prim_infos[prim].operands;
  return jit_add_node(
      b,
      (jit_node){prim, imm, 0, {operands > 0 ? x : 0, operands > 1 ? y : 0, operands > 2 ? z : 0}});
}
jit_value jit_add_node(jit_build *b, jit_node n) {
  if (b->nodes.len * 2 >= b->table_size) grow_table(b);
  u32 *place = find_place(b, &n);
  if (*place) return *place - 1;
  VEC_PUSH(b->a, b->nodes, n);
  *place = (u32)b->nodes.len;
  return *place - 1;
}

bool jit_is_const(const jit_build *b, jit_value x, u32 *out_bits) {
  const jit_node *n = &b->nodes.data[x];
  *out_bits = n->imm;
  return n->prim == JP_const32;
}

jit_build jit_unroll(const jit_build *b, u32 times) {
  jit_build r = {.a = b->a, .target = b->target, .spread = b->spread, .walks = b->walks};
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

/* Node v of a round, whose operands are among the round's copies, as part `part`. */
static jit_node copy_node(const jit_build *b, u32 v, const u32 *copies, u32 part) {
  jit_node x = b->nodes.data[v];
  const jit_prim_info *p = &jit_prim_infos[x.prim];
  for (u32 k = 0; k < p->operands; k++) x.arg[k] = copies[x.arg[k]];
  if (p->shape > JIT_ONE) x.part = part;
  return x;
}

/* Running sums as fold_order.h has it, down to 16 values, and stored. */
static void store_running(jit_build *r, u32 reg, u32 *sum, u32 running, u32 lanes) {
  enum { LEFT = 16 };
  for (u32 half = running / 2; half * lanes >= LEFT; half /= 2)
    for (u32 k = 0; k < half && sum[k + half]; k++)
      sum[k] = 1 + jit_add(r, JP_addps, 0, sum[k] - 1, sum[k + half] - 1, 0);
  for (u32 k = 0; k < LEFT / lanes; k++)
    jit_add_node(r, (jit_node){JP_store32, reg, k, {sum[k] - 1}});
}

jit_build jit_sum_rows(const jit_build *b, u32 length, u32 lanes) {
  jit_build r = {.a = b->a, .target = b->target, .step = length};
  u32 n = (u32)b->nodes.len, running = FOLD_RUNNING / lanes;
  u32 *copies = ARENA_ARRAY(b->a, u32, n + 1);
  u32 *sums = arena_zalloc(b->a, (n + 1) * running * sizeof(u32)); /* value + 1; 0: none yet */
  for (u32 t = 0; t < length / lanes; t++)
    for (u32 v = 0; v < n; v++) {
      jit_node x = copy_node(b, v, copies, t);
      u32 *sum = &sums[v * running + t % running];
      if (x.prim != JP_sumps)
        copies[v] = jit_add_node(&r, x);
      else
        *sum = 1 + (*sum ? jit_add(&r, JP_addps, 0, *sum - 1, x.arg[0], 0) : x.arg[0]);
    }
  for (u32 v = 0; v < n; v++)
    if (sums[v * running])
      store_running(&r, b->nodes.data[v].imm, &sums[v * running], running, lanes);
  return r;
}

jit_build jit_sum_columns(const jit_build *b, u32 length, u32 lanes) {
  jit_build r = {.a = b->a, .target = b->target, .step = lanes};
  u32 n = (u32)b->nodes.len, *copies = ARENA_ARRAY(b->a, u32, n + 1);
  u32 *sums = ARENA_ARRAY(b->a, u32, (n + 1) * FOLD_ROWS); /* by level of pairs */
  for (u32 t = 0; t < FOLD_ROWS; t++)
    for (u32 v = 0; v < n; v++) {
      jit_node x = copy_node(b, v, copies, t * (length / lanes));
      u32 *sum = &sums[v * FOLD_ROWS], level = 0, y = x.arg[0];
      if (x.prim != JP_sumps) {
        copies[v] = jit_add_node(&r, x);
        continue;
      }
      for (; t >> level & 1; level++) y = jit_add(&r, JP_addps, 0, sum[level], y, 0);
      sum[level] = y;
      if (t + 1 < FOLD_ROWS) continue;
      y = jit_add(&r, JP_addps, 0, jit_add(&r, JP_load32, x.imm, 0, 0, 0), y, 0);
      jit_add(&r, JP_store32, x.imm, y, 0, 0);
    }
  return r;
}

jit_build jit_replace(const jit_build *b, jit_make_fn *const make[JP_COUNT_]) {
  jit_build r = {.a = b->a, .target = b->target, .spread = b->spread, .walks = b->walks};
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
