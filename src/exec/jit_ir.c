/* The table of primitives, and numbering values so that equal ones are one. */
#include "exec/jit_ir.h"

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
