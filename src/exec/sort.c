/* Stable sorts along one dim: each line is sorted as a permutation, by merging.
 *
 * The comparator is a VM code on one pair of elements, which is slow to call. Most are one
 * comparison of the same function of both sides, f(left) < f(right): then f is computed for the
 * whole line in blocks, made into integers that order the same way, and those are sorted. */
#include "exec/step.h"
#include "exec/vm.h"

typedef struct sorting {
  const prog_sort *s;
  u32 *width;
  vm_unit *less; /* on one pair */
  vm_unit *key;  /* NULL: none; one line in, keys out */
  u32 key_operand, key_width;
  vm_rtype key_type;
  bool descending, total;
  size_t key_at, line_at, perm_at, spare_at, keys_at, spare_keys_at;
  size_t line_bytes;
} sorting;

/* ---- recognising f(left) < f(right) ---- */

/* Whether value x of one side and y of the other are the same function of operand k. */
static bool twins(const vm_code *c, u32 x, u32 y, u32 *operand, int depth) {
  const vm_instr *i = &c->instrs[x], *j = &c->instrs[y];
  if (depth > 64 || i->op != j->op || i->type != j->type) return false;
  if (i->op == VM_load) {
    if (i->a % 2 || j->a != i->a + 1) return false;
    if (*operand != PROG_NONE && *operand != i->a / 2) return false;
    *operand = i->a / 2;
    return true;
  }
  if (i->op == VM_constant)
    return c->consts[i->a].lo == c->consts[j->a].lo && c->consts[i->a].hi == c->consts[j->a].hi;
  u32 n = vm_op_infos[i->op].operands;
  if (n == 0 || i->op == VM_reduce_precision) return false;
  u32 a[] = {i->a, i->b, i->c}, b[] = {j->a, j->b, j->c};
  for (u32 k = 0; k < n; k++)
    if (!twins(c, a[k], b[k], operand, depth + 1)) return false;
  return true;
}

/* The code of f alone: loads of input 0. */
static vm_code key_code(arena *a, const vm_code *c, u32 value, u32 operand) {
  vm_code k = *c;
  k.instrs = ARENA_ARRAY(a, vm_instr, c->len + 1);
  k.len = 0;
  for (u32 i = 0; i <= value; i++) {
    vm_instr v = c->instrs[i];
    if (v.op == VM_store) v = (vm_instr){.op = VM_load, .type = c->instrs[v.a].type};
    if (v.op == VM_load) {
      /* other loads are dead here; any value of the right type will do */
      bool ours = v.a / 2 == operand;
      if (!ours) v = (vm_instr){.op = VM_constant, .type = v.type, .a = c->num_consts};
      v.a = ours ? 0 : v.a;
    }
    k.instrs[k.len++] = v;
  }
  k.consts = ARENA_ARRAY(a, vm_const, c->num_consts + 1);
  if (c->num_consts) memcpy(k.consts, c->consts, c->num_consts * sizeof(vm_const));
  k.consts[c->num_consts] = (vm_const){0, 0};
  k.num_consts = c->num_consts + 1;
  k.instrs[k.len++] = (vm_instr){.op = VM_store, .type = c->instrs[value].type, .a = value};
  return k;
}

static bool is_integer_register(vm_rtype r) { return r <= R_u64; }

static void find_key(const lower_env *e, sorting *r) {
  const vm_code *c = &r->s->less;
  const vm_instr *last = NULL;
  for (u32 i = 0; i < c->len; i++)
    if (c->instrs[i].op == VM_store) last = &c->instrs[c->instrs[i].a];
  if (!last) return;
  bool descending = last->op == VM_gt || last->op == VM_total_gt;
  bool total = last->op == VM_total_lt || last->op == VM_total_gt;
  if (!descending && last->op != VM_lt && last->op != VM_total_lt) return;
  u32 operand = PROG_NONE;
  dtype t = (dtype)c->instrs[last->a].type;
  if (!twins(c, last->a, last->b, &operand, 0) || operand == PROG_NONE) return;
  vm_rtype type = vm_rtype_of(t);
  if (!is_integer_register(type) && !total) return; /* NaNs are not ordered by < */
  vm_code code = key_code(e->a, c, last->a, operand);
  vm_spec spec = {.code = &code, .num_in = 1, .num_out = 1, .keep_registers = true};
  r->key = vm_lower(e, &spec);
  r->key_operand = operand;
  r->key_type = type;
  r->key_width = vm_rtype_size(type);
  r->descending = descending;
  r->total = total;
}

/* An unsigned integer that orders as the register value does. */
static u64 order_key(vm_rtype type, const char *p) {
  u8 b;
  i8 s8;
  u16 h;
  i16 s16;
  u32 w;
  u64 d;
  switch (type) {
  case R_s8:
    memcpy(&s8, p, 1);
    return (u64)((i64)s8 + 128);
  case R_s16:
    memcpy(&s16, p, 2);
    return (u64)((i64)s16 + 32768);
  case R_u16:
    memcpy(&h, p, 2);
    return h;
  case R_u32:
    memcpy(&w, p, 4);
    return w;
  case R_s32:
    memcpy(&w, p, 4);
    return w ^ 0x80000000u;
  case R_f32:
    memcpy(&w, p, 4);
    return w & 0x80000000u ? ~w : w | 0x80000000u;
  case R_u64:
    memcpy(&d, p, 8);
    return d;
  case R_s64:
    memcpy(&d, p, 8);
    return d ^ 1ull << 63;
  case R_f64:
    memcpy(&d, p, 8);
    return d >> 63 ? ~d : d | 1ull << 63;
  default:
    memcpy(&b, p, 1);
    return b;
  }
}

/* ---- sorting ---- */

/* Least significant digit first over the bytes that differ; stable. */
static void radix_sort(u64 *keys, u32 *perm, u64 *spare_keys, u32 *spare, size_t n) {
  u64 any = 0, all = ~0ull;
  for (size_t i = 0; i < n; i++) any |= keys[i], all &= keys[i];
  u64 *k = keys, *k2 = spare_keys;
  u32 *p = perm, *p2 = spare;
  for (u32 shift = 0; shift < 64; shift += 8) {
    if (((any ^ all) >> shift & 0xff) == 0) continue;
    size_t at[256] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++) at[k[i] >> shift & 0xff]++;
    for (int d = 0; d < 256; d++) {
      size_t count = at[d];
      at[d] = sum;
      sum += count;
    }
    for (size_t i = 0; i < n; i++) {
      size_t to = at[k[i] >> shift & 0xff]++;
      k2[to] = k[i];
      p2[to] = p[i];
    }
    u64 *tk = k;
    k = k2, k2 = tk;
    u32 *tp = p;
    p = p2, p2 = tp;
  }
  if (p != perm) memcpy(perm, p, n * sizeof(u32));
}

static void insertion_sort(u64 *keys, u32 *perm, size_t n) {
  for (size_t i = 1; i < n; i++) {
    u64 k = keys[i];
    u32 p = perm[i];
    size_t j = i;
    for (; j > 0 && keys[j - 1] > k; j--) keys[j] = keys[j - 1], perm[j] = perm[j - 1];
    keys[j] = k, perm[j] = p;
  }
}

typedef struct pair_less {
  const sorting *r;
  const char *const *line; /* by operand, gathered */
  void **reg;
} pair_less;

static bool goes_first(const pair_less *l, u32 x, u32 y) {
  const sorting *r = l->r;
  for (u32 i = 0; i < r->s->n; i++) {
    l->reg[2 * i] = (void *)(uintptr_t)(l->line[i] + (size_t)x * r->width[i]);
    l->reg[2 * i + 1] = (void *)(uintptr_t)(l->line[i] + (size_t)y * r->width[i]);
  }
  vm_run(r->less, l->reg, 1);
  return *(const u8 *)l->reg[r->less->outputs[0].reg] != 0;
}

static void merge_sort(const pair_less *l, u32 *perm, u32 *spare, size_t n) {
  u32 *from = perm, *to = spare;
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t i = 0; i < n; i += 2 * width) {
      size_t mid = i + width < n ? i + width : n, end = i + 2 * width < n ? i + 2 * width : n;
      size_t a = i, b = mid;
      for (size_t k = i; k < end; k++) {
        bool second = a == mid || (b < end && goes_first(l, from[b], from[a]));
        to[k] = second ? from[b++] : from[a++];
      }
    }
    u32 *t = from;
    from = to, to = t;
  }
  if (from != perm) memcpy(perm, from, n * sizeof(u32));
}

static void compute_keys(const sorting *r, const exec_env *env, const char *line, u64 *keys) {
  enum { BLOCK = 2048 };
  void **reg = vm_begin(r->key, env->scratch + r->key_at, BLOCK);
  size_t n = (size_t)r->s->size;
  for (size_t i = 0; i < n; i += BLOCK) {
    size_t m = n - i < BLOCK ? n - i : BLOCK;
    reg[0] = (void *)(uintptr_t)(line + i * r->width[r->key_operand]);
    vm_run(r->key, reg, m);
    const char *v = reg[r->key->outputs[0].reg];
    for (size_t k = 0; k < m; k++) {
      u64 key = order_key(r->key_type, v + k * r->key_width);
      keys[i + k] = r->descending ? ~key : key;
    }
  }
}

static void move_line(u32 width, i64 n, char *to, i64 ts, const char *from, i64 fs) {
  for (i64 i = 0; i < n; i++) memcpy(to + i * ts, from + i * fs, width);
}

static void run_sort(const void *data, const exec_env *env, u64 begin, u64 end) {
  const sorting *r = data;
  const prog_sort *s = r->s;
  size_t n = (size_t)s->size;
  u32 *perm = (u32 *)(env->scratch + r->perm_at), *spare = (u32 *)(env->scratch + r->spare_at);
  u64 *keys = (u64 *)(env->scratch + r->keys_at);
  const char *line[32];
  void **reg = vm_begin(r->less, env->scratch, 1);
  for (u64 u = begin; u < end; u++) {
    i64 outer = (i64)u / s->inner, inner = (i64)u % s->inner,
        at = outer * s->size * s->inner + inner;
    for (u32 i = 0; i < s->n; i++) {
      i64 w = r->width[i];
      char *to = env->scratch + r->line_at + i * r->line_bytes;
      line[i] = to;
      move_line((u32)w, s->size, to, w, (const char *)env->slots[s->in[i]] + at * w, w * s->inner);
    }
    for (size_t i = 0; i < n; i++) perm[i] = (u32)i;
    if (r->key) {
      compute_keys(r, env, line[r->key_operand], keys);
      if (n <= 48)
        insertion_sort(keys, perm, n);
      else
        radix_sort(keys, perm, (u64 *)(env->scratch + r->spare_keys_at), spare, n);
    } else {
      merge_sort(&(pair_less){r, line, reg}, perm, spare, n);
    }
    for (u32 i = 0; i < s->n; i++) {
      i64 w = r->width[i];
      char *to = (char *)env->slots[s->out[i]] + at * w;
      for (size_t k = 0; k < n; k++)
        memcpy(to + (i64)k * w * s->inner, line[i] + (size_t)perm[k] * (size_t)w, (size_t)w);
    }
  }
}

void sort_lower(const lower_env *e, const prog_sort *s, exec_step *out) {
  sorting *r = ARENA_NEW(e->a, sorting);
  *out = (exec_step){.run = run_sort, .data = r};
  r->s = s;
  r->width = ARENA_ARRAY(e->a, u32, s->n);
  for (u32 i = 0; i < s->n; i++) r->width[i] = (u32)dtype_size(e->prog->slots[s->in[i]].type);
  vm_spec spec = {.code = &s->less, .num_in = 2 * s->n, .num_out = 1};
  r->less = vm_lower(e, &spec);
  find_key(e, r);
  size_t n = (size_t)s->size, at = align_up(vm_scratch_bytes(r->less, 1), 64);
  r->key_at = at;
  if (r->key) at = align_up(at + vm_scratch_bytes(r->key, 2048), 64);
  r->line_at = at;
  r->line_bytes = align_up(n * 16, 64);
  at += s->n * r->line_bytes;
  r->perm_at = at;
  at += align_up(n * 4, 64);
  r->spare_at = at;
  at += align_up(n * 4, 64);
  r->keys_at = at;
  at += align_up(n * 8, 64);
  r->spare_keys_at = at;
  at += align_up(n * 8, 64);
  out->scratch = at;
  out->units = s->size ? (u64)(s->outer * s->inner) : 0;
  out->cost = 50 + n * 40;
}
