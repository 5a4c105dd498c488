/* Pieces of machine code: which calls they take, what goes between registers in memory and values,
 * and the memory that code is in. */
#include "exec/jit.h"

#include <stdlib.h>

#include "base/os.h"
#include "exec/jit_complex.h"
#include "exec/jit_divide.h"
#include "exec/jit_narrow.h"
#include "exec/jit_placed.h"
#include "exec/jit_values.h"
#include "exec/vm_legalize.h"

enum { CHUNK = 1 << 16 };

typedef struct chunk {
  char *base;
  size_t size, used;
} chunk;

typedef struct known {
  u64 hash;
  str key;
  vm_run_fn *run;
} known;

struct jit {
  const allocator *mem;
  oom_trap trap;
  arena kept, scratch;
  VEC(chunk) chunks;
  VEC(known) known;
  bool to_bf16;
  jit_target target;
};

/* ---- which calls ---- */

/* Whether it computes with complex numbers, or makes them. */
static bool is_complex(const vm_call *c) {
  vm_what w = c->is;
  if (w.kind == CALL_convert) return w.of == R_c64 && w.type == R_f32;
  if (w.kind != CALL_unary && w.kind != CALL_binary) return false;
  return w.type == R_c64 || (w.type == R_f32 && w.of == VM_complex);
}
/* Whether it takes a c128 apart, or puts one together. */
static bool is_wide_pair(const vm_call *c) {
  vm_what w = c->is;
  if (w.kind == CALL_binary) return w.type == R_f64 && w.of == VM_complex;
  return w.kind == CALL_unary && w.type == R_c128 && (w.of == VM_real || w.of == VM_imag);
}
bool jit_knows(const jit *j, const vm_call *c, const void *second) {
  vm_rtype t = (vm_rtype)c->is.type;
  u64 by = 0;
  if (is_wide_pair(c)) return jit_has_pairs() && !c->scalar;
  if (is_complex(c))
    return jit_has_pairs() && !c->scalar &&
           (c->is.kind == CALL_convert || jit_has_pair_op((vm_op)c->is.of));
  switch ((vm_call_kind)c->is.kind) {
  case CALL_unary:
  case CALL_binary:
    if (second && vm_rtype_size(t) == 8) memcpy(&by, second, sizeof by);
    if ((c->is.of == VM_div || c->is.of == VM_rem) && t != R_f64 && jit_is_wide(t))
      return jit_has_op((vm_op)c->is.of, t) && jit_divides_wide(t, by);
    return jit_has_op((vm_op)c->is.of, t);
  case CALL_convert:
    return jit_converts(j->target, t, (vm_rtype)c->is.of);
  case CALL_select:
  case CALL_splat:
  case CALL_copy:
    return c->is.of <= 2 || (c->is.of == 3 && jit_has_type(R_u64));
  case CALL_load:
  case CALL_store:
  case CALL_round:
    return jit_has_small((dtype)c->is.of);
  case CALL_wrap:
  case CALL_clean:
    return true;
  case CALL_sum:
    return jit_has_type(t);
  case CALL_any:
    return false;
  }
  return false;
}

/* No instruction shifts bytes, or divides them or words: kernels take one after the other; nor do
 * compilers find any that count bits. */
static bool takes_apart(const jit *j, const vm_call *calls, u32 n) {
  for (u32 i = 0; i < n; i++) {
    vm_what w = calls[i].is;
    bool shifts = w.of == VM_shl || w.of == VM_shr_arith || w.of == VM_shr_logic;
    bool divides = w.of == VM_div || w.of == VM_rem, narrow = vm_rtype_size((vm_rtype)w.type) < 4;
    if (w.kind != CALL_binary) continue;
    if (shifts && (w.type == R_s8 || (narrow && j->target == JIT_AVX2))) return true;
    if (divides && narrow) return true;
  }
  return false;
}
/* Kernels have 64 elements of a byte in a vector, or 32, compiled code 16 to 64, or 8; but it
 * keeps what several calls make, and begins once for a row. */
bool jit_pays(const jit *j, const vm_call *calls, u32 n) {
  if (calls->scalar && n == 1) return false;
  if (n > 1 && j->target == JIT_AVX512) return true;
  if (j->target != JIT_NEON && takes_apart(j, calls, n)) return true;
  for (u32 i = 0; i < n; i++) {
    vm_what w = calls[i].is;
    bool computes = w.kind == CALL_unary || w.kind == CALL_binary;
    if (computes && vm_rtype_size((vm_rtype)w.type) >= 4) return true;
    if (w.kind == CALL_unary && (w.of == VM_popcnt || w.of == VM_clz)) return true;
    if (w.kind == CALL_convert &&
        (vm_rtype_size((vm_rtype)w.type) >= 4 || vm_rtype_size((vm_rtype)w.of) >= 4))
      return true;
    if (w.kind == CALL_select && w.of >= 2) return true;
    if (w.kind == CALL_load || w.kind == CALL_store || w.kind == CALL_round) return true;
  }
  return false;
}

/* ---- calls to primitives ---- */

typedef struct typed {
  jit_lanes v;
  u8 type; /* vm_rtype */
  bool there;
} typed;

typedef struct translation {
  jit_build b;
  const jit_piece *p;
  typed *temps, *regs; /* what calls before have made */
  bool refused;
} translation;

static const jit_prim loads[5] = {JP_load32, JP_load16, JP_load16s, JP_load8, JP_load8s};
static jit_prim pick_by_type(vm_rtype t, const jit_prim by[5]) {
  u32 size = vm_rtype_size(t);
  if (size == 4) return by[0];
  if (size == 2) return t == R_s16 ? by[2] : by[1];
  return t == R_s8 ? by[4] : by[3];
}
/* Of a register in memory each element is for 1 << shift lanes. */
static jit_value read_spread(translation *t, u32 reg, vm_rtype type, u32 shift) {
  jit_build *b = &t->b;
  bool pred = type == R_pred;
  jit_prim prim = pred ? JP_load8 : pick_by_type(type, loads);
  jit_value v = jit_add(b, prim, reg, 0, 0, 0);
  if (shift < 4) v = jit_add(b, JP_permd, 0, jit_add(b, JP_places, shift, 0, 0, 0), v, 0);
  return pred ? jit_as(b, v, R_u8, R_pred) : v;
}
/* The same of 64 bits. */
static jit_lanes read_wide(translation *t, u32 reg, bool one) {
  jit_build *b = &t->b;
  u32 at = reg - t->p->first_const;
  u64 bits = 0;
  if (at < t->p->num_consts) memcpy(&bits, t->p->consts[at], sizeof bits);
  jit_value x = at < t->p->num_consts ? jit_const64(b, bits)
                                      : jit_add(b, one ? JP_one64 : JP_load64, reg, 0, 0, 0);
  t->refused |= jit_spread(b, reg) != 0; /* the caller lays it out */
  bool same = one || b->scalar || at < t->p->num_consts;
  return (jit_lanes){{x, same ? x : jit_add(b, JP_load64h, reg, 0, 0, 0)}};
}
/* A register in memory of other types; one: it has one element for all. */
static jit_value read_memory(translation *t, u32 reg, vm_rtype type, bool one) {
  static const jit_prim ones[5] = {JP_one32, JP_one16, JP_one16s, JP_one8, JP_one8s};
  const jit_piece *p = t->p;
  u32 at = reg - p->first_const, bits = 0, shift = jit_spread(&t->b, reg);
  jit_prim prim =
      type == R_pred ? (one ? JP_onek : JP_loadk) : pick_by_type(type, one ? ones : loads);
  if (shift) return read_spread(t, reg, type, shift);
  if (at >= p->num_consts) return jit_add(&t->b, prim, reg, 0, 0, 0);
  memcpy(&bits, p->consts[at], vm_rtype_size(type));
  jit_value c = jit_add(&t->b, JP_const32, bits, 0, 0, 0);
  bool narrow = vm_rtype_size(type) < 4;
  return narrow ? jit_as(&t->b, c, type == R_pred ? R_u8 : R_u32, type) : c;
}
static typed *made(translation *t, u32 reg) {
  return reg >= TEMP_BASE ? &t->temps[reg - TEMP_BASE] : &t->regs[reg];
}
/* Operand k of a call, as a type; and where it is not of 64 bits. */
static jit_lanes read_operand(translation *t, const vm_call *c, u32 k, vm_rtype type) {
  u32 reg = k == 0 ? c->a : k == 1 ? c->b : c->c;
  const typed *m = made(t, reg);
  if (m->there) return jit_values_as(&t->b, m->v, (vm_rtype)m->type, type);
  bool one = !t->p->scalar && c->is.ones >> k & 1;
  if (jit_is_wide(type)) return read_wide(t, reg, one);
  if (type == R_c64) return jit_values_as(&t->b, read_wide(t, reg, one), R_u64, R_c64);
  return (jit_lanes){{read_memory(t, reg, type, one)}};
}
static jit_value read_narrow(translation *t, const vm_call *c, u32 k, vm_rtype type) {
  return read_operand(t, c, k, type).half[0];
}
static bool is_made(translation *t, u32 reg, vm_rtype type) {
  const typed *m = made(t, reg);
  return m->there && m->type == type;
}

static jit_pair read_pair(translation *t, const vm_call *c, u32 k) {
  jit_lanes x = read_operand(t, c, k, (vm_rtype)c->is.type);
  return (jit_pair){x.half[0], x.half[1]};
}
static typed translate_pairs(translation *t, const vm_call *c) {
  jit_build *b = &t->b;
  jit_pair x = read_pair(t, c, 0), y = {0};
  if (c->is.kind == CALL_convert)
    return (typed){{{x.re, jit_add(b, JP_const32, 0, 0, 0, 0)}}, R_c64, true};
  if (c->is.kind == CALL_binary) y = read_pair(t, c, 1);
  u8 result = vm_op_infos[c->is.of].result;
  x = jit_pair_op(b, (vm_op)c->is.of, x, y);
  u8 to = result == VM_PRED ? R_pred : result == VM_REAL ? R_f32 : R_c64;
  return (typed){{{x.re, x.im}}, to, true};
}

static typed translate_wide_pairs(translation *t, const vm_call *c) {
  jit_build *b = &t->b;
  if (c->is.of == VM_complex) {
    t->refused |= c->d >= TEMP_BASE; /* it is in memory, for others */
    if (!t->refused)
      jit_write_parts(b, c->d, read_operand(t, c, 0, R_f64), read_operand(t, c, 1, R_f64));
    return (typed){0};
  }
  t->refused |= made(t, c->a)->there || c->a >= TEMP_BASE || jit_spread(b, c->a) || c->is.ones;
  if (t->refused) return (typed){0};
  return (typed){jit_read_part(b, c->a, c->is.of == VM_imag), R_f64, true};
}

static typed select_of(translation *t, const vm_call *c, vm_rtype raw) {
  bool masks = is_made(t, c->b, R_pred) && is_made(t, c->c, R_pred);
  bool pairs = raw == R_u64 && (is_made(t, c->b, R_c64) || is_made(t, c->c, R_c64));
  vm_rtype type = masks ? R_pred : pairs ? R_c64 : raw;
  jit_value p = read_narrow(t, c, 0, R_pred);
  jit_lanes x = read_operand(t, c, 1, type), y = read_operand(t, c, 2, type);
  return (typed){jit_values_select(&t->b, p, x, y, type), (u8)type, true};
}
static typed moved(translation *t, const vm_call *c, vm_rtype raw) {
  const typed *m = made(t, c->a);
  if (m->there) return *m;
  return (typed){read_operand(t, c, 0, raw), (u8)raw, true};
}
static typed computed(translation *t, const vm_call *c) {
  vm_op op = (vm_op)c->is.of;
  vm_rtype type = (vm_rtype)c->is.type;
  jit_lanes x = read_operand(t, c, 0, type), y = {0};
  if (c->is.kind == CALL_binary) y = read_operand(t, c, 1, type);
  vm_rtype to = vm_op_infos[op].result == VM_PRED ? R_pred : type;
  return (typed){jit_values_op(&t->b, op, type, x, y), (u8)to, true};
}
static typed narrow(jit_value v, vm_rtype type) { return (typed){{{v}}, (u8)type, true}; }
static typed cleaned(translation *t, const vm_call *c) {
  vm_rtype to = vm_rtype_of((dtype)c->is.of);
  jit_value x = read_narrow(t, c, 0, to);
  if (to != R_pred) x = jit_wrap_narrow(&t->b, (dtype)c->is.of, x);
  return narrow(x, to);
}

static typed translate_call(translation *t, const vm_call *c) {
  static const u8 raw_types[] = {R_u8, R_u16, R_u32, R_u64};
  vm_what w = c->is;
  vm_rtype from = (vm_rtype)w.type, raw = (vm_rtype)raw_types[w.of < 4 ? w.of : 3];
  dtype small = (dtype)w.of;
  vm_rtype code = w.kind >= CALL_load && dtype_size(small) == 1 ? R_u8 : R_u16;
  jit_build *b = &t->b;
  if (is_wide_pair(c)) return translate_wide_pairs(t, c);
  if (is_complex(c)) return translate_pairs(t, c);
  switch ((vm_call_kind)w.kind) {
  case CALL_unary:
  case CALL_binary:
    return computed(t, c);
  case CALL_convert:
    return (typed){jit_values_convert(b, read_operand(t, c, 0, from), from, (vm_rtype)w.of), w.of,
                   true};
  case CALL_select:
    return select_of(t, c, raw);
  case CALL_splat:
  case CALL_copy:
    return moved(t, c, raw);
  case CALL_load:
    return narrow(jit_load_small(b, small, read_narrow(t, c, 0, code)), R_f32);
  case CALL_store:
    return narrow(jit_store_small(b, small, read_narrow(t, c, 0, R_f32)), code);
  case CALL_round:
    return narrow(jit_round_small(b, small, read_narrow(t, c, 0, R_f32)), R_f32);
  case CALL_wrap:
  case CALL_clean:
    return cleaned(t, c);
  case CALL_sum:
  case CALL_any:
    break;
  }
  return (typed){0};
}

static void write_wide(jit_build *b, u32 reg, jit_lanes v) {
  jit_add(b, JP_store64, reg, v.half[0], 0, 0);
  if (!b->scalar) jit_add(b, JP_store64h, reg, v.half[1], 0, 0);
}
static void write_memory(jit_build *b, u32 reg, jit_value v, vm_rtype type) {
  static const jit_prim stores[5] = {JP_store32, JP_store16, JP_store16, JP_store8, JP_store8};
  const jit_node *n = &b->nodes.data[v];
  jit_prim prim = type == R_pred ? JP_storek : pick_by_type(type, stores);
  if (prim == JP_store16 && n->prim == JP_pmovzxwd) prim = JP_store_half, v = n->arg[0];
  jit_add(b, prim, reg, v, 0, 0);
}

/* ---- the code of an image ---- */

static void add_sum(translation *t, const vm_call *c) {
  bool wide = c->is.type == R_f64;
  jit_lanes x = read_operand(t, c, 0, (vm_rtype)c->is.type);
  jit_add(&t->b, wide ? JP_sumpd : JP_sumps, c->d, x.half[0], 0, 0);
  if (wide) jit_add(&t->b, JP_sumpdh, c->d, x.half[1], 0, 0);
}

static void add_terms(translation *t) {
  jit_value sum = jit_const32(&t->b, 0);
  for (u32 i = 0; i < t->p->terms; i++) {
    jit_value x = jit_add(&t->b, JP_load32, i, 0, 0, 0);
    jit_value y = jit_add(&t->b, JP_load32, t->p->terms + i, 0, 0, 0);
    sum = jit_add3(&t->b, JP_fmaddps, x, y, sum);
  }
  jit_add1(&t->b, JP_store32, 2 * t->p->terms, sum);
}

static bool translate(const jit *j, arena *a, const jit_piece *p, str *out_code) {
  translation t = {.b = {.a = a,
                         .to_bf16 = j->to_bf16,
                         .target = (u8)j->target,
                         .scalar = p->scalar,
                         .spread = p->spread,
                         .walks = p->walks},
                   .p = p};
  t.temps = arena_zalloc(a, (p->num_temps + 1) * sizeof(typed));
  t.regs = arena_zalloc(a, (p->num_regs + 1) * sizeof(typed));
  for (u32 i = 0; i < p->num_calls && !t.refused; i++) {
    const vm_call *c = &p->calls[i];
    if (c->is.kind == CALL_sum) {
      add_sum(&t, c);
      continue;
    }
    typed v = translate_call(&t, c);
    *made(&t, c->d) = v;
    bool kept = p->places && c->d - p->num_in >= p->places->num_out; /* for others of it only */
    if (c->d >= TEMP_BASE || !v.there || kept) continue;
    if (vm_rtype_size((vm_rtype)v.type) == 8)
      write_wide(&t.b, c->d, jit_values_as(&t.b, v.v, (vm_rtype)v.type, R_u64));
    else
      write_memory(&t.b, c->d, v.v.half[0], (vm_rtype)v.type);
  }
  if (p->terms) add_terms(&t);
  if (t.refused) return false;
  t.b = jit_simplify(&t.b);
  jit_build *plain = ARENA_NEW(a, jit_build);
  *plain = jit_lower(&t.b);
  if (!p->places)
    t.b = jit_narrow_lanes(&t.b, &t.b) ? jit_lower(&t.b) : *plain;
  else if (!jit_place_lanes(plain, p->places, &t.b))
    return false;
  if (t.b.narrow && j->target == JIT_AVX2) t.b.rest = plain;
  u32 lanes = j->target == JIT_AVX512 ? 16 : 8;
  if (p->sums == SUMS_ROWS) t.b = jit_sum_rows(&t.b, p->length, lanes);
  for (u32 v = 0; t.b.tail && v < t.b.nodes.len; v++) /* the mask is not of quarters of lanes */
    if (jit_prim_infos[t.b.nodes.data[v].prim].more == 16) return false;
  if (p->sums == SUMS_COLUMNS) t.b = jit_sum_columns(&t.b, p->pitch, p->num_in, lanes);
  return jit_emit(&t.b, p->scalar ? 0 : p->vectors, out_code);
}

/* False: there is no code for these kernels, or it is not wanted. */
static bool find_target(const vm_kernels *k, jit_target *out) {
  const char *want = getenv("TERRAZZO_JIT");
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
  return false; /* which would not see what is written */
#endif
#endif
#if defined(__aarch64__)
  bool known = strcmp(k->isa, "neon") == 0;
  *out = JIT_NEON;
#else
  *out = strcmp(k->isa, "v3") == 0 ? JIT_AVX2 : JIT_AVX512;
  bool known = *out == JIT_AVX2 || strcmp(k->isa, "v4") == 0;
#endif
  return known && !(want && strcmp(want, "0") == 0);
}

static bool has_to_bf16(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

jit *jit_begin(const allocator *mem, const vm_kernels *k, bool flushes) {
  jit_target target;
  if (!find_target(k, &target)) return NULL;
  jit *j = mem_zalloc(mem, sizeof *j);
  if (!j) return NULL;
  j->mem = mem;
  j->target = target;
  j->to_bf16 = flushes && target == JIT_AVX512 && has_to_bf16();
  arena_init(&j->kept, mem, &j->trap);
  arena_init(&j->scratch, mem, &j->trap);
  return j;
}

bool jit_sums_parts(const jit *j) { return j->target != JIT_NEON; }
bool jit_sums_rows(const jit *j, u32 length, vm_rtype t) {
  bool whole = length % 16 == 0, masks = j->target == JIT_AVX512 && t == R_f32;
  return jit_sums_parts(j) && length >= 16 && (whole || masks);
}

bool jit_seal(jit *j) {
  for (size_t i = 0; i < j->chunks.len; i++)
    if (!os_seal_code(j->chunks.data[i].base, j->chunks.data[i].size)) return false;
  return true;
}

void jit_end(jit *j) {
  if (!j) return;
  for (size_t i = 0; i < j->chunks.len; i++)
    os_free_code(j->chunks.data[i].base, j->chunks.data[i].size);
  arena_deinit(&j->scratch);
  arena_deinit(&j->kept);
  mem_free(j->mem, j, sizeof *j);
}

bool jit_has_places(const jit *j) { return j->target == JIT_AVX512; }
bool jit_has_rows(const jit *j) { return j->target != JIT_NEON; }
bool jit_can_spread(const jit *j) { return j->target == JIT_AVX512; }

static const char *place_code(jit *j, str code) {
  chunk *c = j->chunks.len ? &j->chunks.data[j->chunks.len - 1] : NULL;
  if (!c || c->size - c->used < code.len) {
    size_t size = align_up(code.len, CHUNK);
    VEC_PUSH(&j->kept, j->chunks, (chunk){0}); /* may jump: before there is anything to lose */
    c = &j->chunks.data[--j->chunks.len];
    c->base = os_alloc_code(size);
    if (!c->base) return NULL;
    c->size = size;
    c->used = 0;
    j->chunks.len++;
  }
  char *at = c->base + c->used;
  memcpy(at, code.data, code.len);
  c->used += align_up(code.len, 64);
  if (c->used > c->size) c->used = c->size;
  return at;
}

/* All that code depends on. */
static str make_key(arena *a, const jit_piece *p) {
  VEC(u32) k = {0};
  VEC_PUSH(a, k, p->walks);
  VEC_PUSH(a, k, p->scalar | (u32)(p->spread != NULL) << 1 | p->vectors << 2);
  for (u32 r = 0; p->spread && r < p->num_regs; r++) VEC_PUSH(a, k, p->spread[r]);
  VEC_PUSH(a, k, p->sums ? p->sums | p->length << 2 : 0);
  for (u32 i = 0; p->sums == SUMS_COLUMNS && i < p->num_in; i++) VEC_PUSH(a, k, p->pitch[i]);
  const jit_places *s = p->places;
  if (s) VEC_PUSH(a, k, p->terms);
  for (u32 i = 0; s && i < s->num_regs * (s->num + 2); i++)
    VEC_PUSH(a, k,
             i < s->num_regs       ? (u32)s->end[i]
             : i < 2 * s->num_regs ? s->pointer[i - s->num_regs]
                                   : (u32)s->at[i - 2 * s->num_regs]);
  for (u32 i = 0; i < p->num_calls; i++) {
    const vm_call *c = &p->calls[i];
    u32 regs[] = {c->d, c->a, c->b, c->c};
    VEC_PUSH(a, k, c->is.kind | (u32)c->is.of << 8 | (u32)c->is.type << 16 | (u32)c->is.ones << 24);
    for (u32 r = 0; r < 4; r++) {
      u32 at = regs[r] - p->first_const, bits[2] = {0};
      if (at < p->num_consts) memcpy(bits, p->consts[at], sizeof bits);
      VEC_PUSH(a, k, at < p->num_consts ? CONST_BASE : regs[r]);
      VEC_PUSH(a, k, bits[0]);
      VEC_PUSH(a, k, bits[1]);
    }
  }
  return (str){(const char *)k.data, k.len * sizeof(u32)};
}

static vm_run_fn *compile(jit *j, const jit_piece *p) {
  str key = make_key(&j->scratch, p), code;
  u64 hash = hash_bytes(key.data, key.len, 0);
  for (size_t i = 0; i < j->known.len; i++)
    if (j->known.data[i].hash == hash && str_eq(j->known.data[i].key, key))
      return j->known.data[i].run;
  if (!translate(j, &j->scratch, p, &code)) return NULL;
  vm_run_fn *run;
  const char *at = place_code(j, code);
  memcpy(&run, &at, sizeof run);
  if (run) VEC_PUSH(&j->kept, j->known, (known){hash, arena_str(&j->kept, key), run});
  return run;
}

vm_run_fn *jit_compile(jit *j, arena *a, const jit_piece *p) {
  arena_reset(&j->scratch);
  if (setjmp(j->trap.at)) arena_oom(a);
  return compile(j, p);
}

const char *jit_place(jit *j, arena *a, str code) {
  if (setjmp(j->trap.at)) arena_oom(a);
  return place_code(j, code);
}
