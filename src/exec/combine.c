/* Bodies on blocks, and the levels of accumulators. For reduce.c, scan.c and window.c; all memory
 * is the caller's scratch. */
#include "exec/combine.h"

/* A known operation on each operand by itself. */
static vm_code code_of_each(arena *a, prog_reducer kind, u32 n, const dtype *types) {
  vm_code all = {.instrs = ARENA_ARRAY(a, vm_instr, 4 * n), .len = 4 * n, .cap = 4 * n};
  for (u32 o = 0; o < n; o++) {
    vm_instr *i = all.instrs + 4 * o;
    prog_body_code(kind, types[o], i);
    i[0].a = o, i[1].a = n + o;
    i[2].a += 4 * o, i[2].b += 4 * o;
    i[3].a += 4 * o, i[3].b = o;
  }
  all.num_in = 2 * n, all.num_out = n;
  return all;
}

void combine_lower(const lower_env *e, const prog_body *body, u32 n, const dtype *types,
                   bool rounds, combiner *out) {
  vm_code code = body->code;
  if (body->kind != REDUCE_CODE) code = code_of_each(e->a, body->kind, n, types);
  bool direct[COMBINE_OPERANDS];
  u64 overlaps[COMBINE_OPERANDS];
  for (u32 o = 0; o < n; o++) {
    direct[o] = true;
    overlaps[o] = 1ull << o | 1ull << (n + o);
  }
  vm_spec spec = {.code = &code,
                  .num_in = 2 * n,
                  .num_out = n,
                  .out_direct = direct,
                  .out_overlaps = overlaps,
                  .registers = true,
                  .rounds = rounds,
                  .keep_registers = true};
  *out = (combiner){.k = e->k, .unit = vm_lower(e, &spec), .n = n};
  out->types = arena_copy(e->a, types, n * sizeof *types);
  out->width = ARENA_ARRAY(e->a, u32, n);
  for (u32 o = 0; o < n; o++) out->width[o] = vm_rtype_size(vm_rtype_of(types[o]));
}

void combine_load(const combiner *c, u32 o, size_t n, void *to, const void *from) {
  vm_load_elements(c->k, c->types[o], n, to, from);
}
void combine_store(const combiner *c, u32 o, size_t n, void *to, const void *from) {
  vm_store_elements(c->k, c->types[o], n, to, from);
}

/* ---- accumulators ---- */

/* The last level passes nothing on; it takes at most 2 * COMBINE_RUN. */
u32 accumulators_levels(u64 length) {
  u32 levels = 1;
  for (; length > 2 * COMBINE_RUN; length /= COMBINE_RUN) levels++;
  return levels;
}
static size_t operand_bytes(const combiner *c, size_t n) {
  u32 widest = 1;
  for (u32 o = 0; o < c->n; o++) widest = c->width[o] > widest ? c->width[o] : widest;
  return align_up(n * widest, 64) + 64;
}
size_t accumulators_bytes(const combiner *c, u32 levels, size_t n) {
  return levels * c->n * operand_bytes(c, n);
}

void accumulators_begin(accumulators *a, const combiner *c, void **reg, char *mem, u32 levels,
                        size_t n) {
  *a = (accumulators){.c = c, .reg = reg, .bytes = operand_bytes(c, n), .levels = levels};
  for (u32 o = 0; o < c->n; o++) a->acc[o] = mem + o * a->bytes;
}
static void find_level(const accumulators *a, u32 level, char **out) {
  for (u32 o = 0; o < a->c->n; o++) out[o] = a->acc[o] + level * a->c->n * a->bytes;
}

/* Like a carry: a level that is full is one value of the next, which may be full with that. */
void accumulators_pass_on(accumulators *a, size_t n) {
  char *from[COMBINE_OPERANDS], *to[COMBINE_OPERANDS];
  for (u32 l = 0; a->taken[l] >= COMBINE_RUN && l + 1 < a->levels; l++) {
    find_level(a, l, from);
    find_level(a, l + 1, to);
    if (a->taken[l + 1])
      combine(a->c, a->reg, to, to, from, n);
    else
      combine_copy(a->c, to, from, n);
    a->taken[l] = 0;
    a->taken[l + 1]++;
  }
}

void accumulators_take_short(accumulators *a, char *const *values, size_t n) {
  char *acc[COMBINE_OPERANDS];
  u32 level = 0;
  while (!a->taken[level]) level++;
  find_level(a, level, acc);
  combine(a->c, a->reg, acc, acc, values, n);
}

void accumulators_join(accumulators *a, size_t n, char **out) {
  char *acc[COMBINE_OPERANDS];
  u32 at = 0;
  while (!a->taken[at]) at++;
  find_level(a, at, out);
  for (u32 l = at + 1; l < a->levels; l++) { /* the later values are in the lower levels */
    if (!a->taken[l]) continue;
    find_level(a, l, acc);
    combine(a->c, a->reg, acc, acc, out, n);
    for (u32 o = 0; o < a->c->n; o++) out[o] = acc[o];
  }
}

kern_fn *combine_direct(const vm_kernels *k, const prog_body *body, dtype t) {
  if (body->kind == REDUCE_CODE || k->load[t] || k->clean[t]) return NULL;
  return k->binary[prog_body_op(body->kind)][vm_rtype_of(t)][FORM_VV];
}
