/* What a sort compares, and how it is done. */
#include "exec/sort_first.h"
#include "exec/sorting.h"

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

/* One comparison by < or >; *equal, the op that says whether both sides are equal. */
static bool add_key(const lower_env *e, sorting *r, const vm_instr *i, vm_op *equal) {
  const vm_code *c = &r->s->less;
  bool descending = i->op == VM_gt || i->op == VM_total_gt;
  bool total = i->op == VM_total_lt || i->op == VM_total_gt;
  u32 operand = PROG_NONE;
  if (!descending && i->op != VM_lt && i->op != VM_total_lt) return false;
  if (!twins(c, i->a, i->b, &operand, 0) || operand == PROG_NONE) return false;
  vm_rtype type = vm_rtype_of((dtype)c->instrs[i->a].type);
  if (!is_integer_register(type) && !total) return false; /* NaNs are not ordered by < */
  if (r->s->in[operand] == PROG_NONE || r->num_keys == SORT_KEYS) return false;
  vm_code code = key_code(e->a, c, i->a, operand);
  vm_spec spec = {.code = &code, .num_in = 1, .num_out = 1, .keep_registers = true};
  r->keys[r->num_keys++] = (sort_key){.unit = vm_lower(e, &spec),
                                      .operand = operand,
                                      .width = vm_rtype_size(type),
                                      .type = type,
                                      .descending = descending};
  *equal = total ? VM_total_eq : VM_eq;
  return true;
}

/* x < y, or x < y || (x == y && the same of the rest). */
static bool add_keys(const lower_env *e, sorting *r, u32 value) {
  const vm_instr *in = r->s->less.instrs, *i = &in[value];
  vm_op equal;
  if (i->op != VM_or) return add_key(e, r, i, &equal);
  const vm_instr *first = &in[i->a], *rest = &in[i->b];
  if (rest->op != VM_and || !add_key(e, r, first, &equal)) return false;
  const vm_instr *same = &in[rest->a];
  return same->op == equal && same->a == first->a && same->b == first->b && add_keys(e, r, rest->b);
}

static void find_keys(const lower_env *e, sorting *r) {
  const vm_code *c = &r->s->less;
  u32 last = PROG_NONE;
  for (u32 i = 0; i < c->len; i++)
    if (c->instrs[i].op == VM_store) last = c->instrs[i].a;
  if (last == PROG_NONE || !add_keys(e, r, last)) r->num_keys = 0;
}

static word_turn turn_of(const sort_key *k) {
  bool f = k->type == R_f32 || k->type == R_f64, is_signed = k->type == R_s32 || k->type == R_s64;
  u64 top = 1ull << (8 * k->width - 1), all = top | (top - 1);
  return (word_turn){f || is_signed ? top : 0, f ? top - 1 : 0, k->descending ? all : 0};
}

/* Several lines at once. A heap is as good where few of many are kept. */
static bool strip_pays(const vm_kernels *k, const sorting *r) {
  const prog_sort *s = r->s;
  if (!k->net[0] || r->num_keys != 1 || s->size < 2 || s->size > SORT_STRIP_LONGEST || s->runs ||
      s->inner == 2 || s->inner == 3)
    return false;
  for (u32 i = 0; i < s->n; i++)
    if (r->width[i] > 8) return false;
  i64 heap = !r->few ? 0 : s->size > SORT_SHORT ? SORT_FIRST_MOST : SORT_SHORT_KEEP;
  return r->alone || (r->keys->width == 4 && !r->in_place && s->keep > heap);
}

void sort_lower(const lower_env *e, const prog_sort *s, exec_step *out) {
  sorting *r = ARENA_NEW(e->a, sorting);
  *out = (exec_step){.run = sort_run, .data = r};
  r->s = s;
  r->width = ARENA_ARRAY(e->a, u32, s->n);
  u32 widest = 1;
  for (u32 i = 0; i < s->n; i++) {
    r->width[i] = (u32)dtype_size(e->prog->slots[s->out[i]].type);
    if (r->width[i] > widest) widest = r->width[i];
    for (u32 k = 0; k < s->n && s->in[i] != PROG_NONE; k++)
      r->in_place |= prog_slots_overlap(e->prog, s->in[i], s->out[k]);
  }
  vm_spec spec = {.code = &s->less, .num_in = 2 * s->n, .num_out = 1};
  r->less = vm_lower(e, &spec);
  find_keys(e, r);
  if (r->num_keys) r->turn = turn_of(r->keys);
  r->few = r->num_keys == 1 && s->keep <= s->size / 2;
  r->alone = r->num_keys == 1 && s->n == 1 && !r->few && r->keys->width == r->width[0] &&
             r->keys->width >= 4;
  r->k = e->k;
  if (strip_pays(e->k, r)) r->lanes = KERN_NET_BYTES / (r->alone ? r->keys->width : 8);
  size_t n = (size_t)s->size, at = align_up(vm_scratch_bytes(r->less, 1), 64);
  for (u32 i = 0; i < r->num_keys; i++) {
    r->keys[i].at = at;
    at = align_up(at + vm_scratch_bytes(r->keys[i].unit, SORT_BLOCK), 64);
  }
  r->line_at = at;
  r->line_bytes = align_up(n * widest, 64);
  at += s->n * r->line_bytes;
  r->perm_at = at;
  at += align_up(n * 4, 64);
  r->spare_at = at;
  at += align_up(n * 4, 64);
  r->keys_at = at;
  at += align_up(n * sizeof(sort_kept), 64);
  r->spare_keys_at = at;
  at += align_up(n * 8, 64);
  r->strip_at = at;
  if (r->lanes) at += 3 * KERN_NET_BYTES * n;
  out->scratch = at;
  out->units = s->size && s->keep ? (u64)(s->outer * s->inner) : 0;
  out->cost = 50 + n * (r->few || r->lanes ? 4 : 40);
}
