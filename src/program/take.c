/* Elements by their place as NumPy counts: from the end where an index is negative, and where it is
 * out of range something else. JAX writes that as a loop over the indices, a gather or scatter, and
 * a loop that selects what is gathered; the gather does it all, in one pass over memory. */
#include "num/convert.h"
#include "program/parts.h"

enum { MOST_USERS = 8 };

typedef struct taker {
  program *p;
  const u32 *touches; /* by slot: how often it is touched */
  const bool *target; /* by step: somebody jumps there */
} taker;

/* ---- what a loop does ---- */

static const vm_instr *instr(const prog_loop *l, u32 v) { return &l->code.instrs[v]; }

static bool is_const(const prog_loop *l, u32 v, i64 *out) {
  const vm_instr *c = instr(l, v);
  u32 bits = num_int_bits((dtype)c->type);
  if (c->op != VM_constant || bits < 32) return false;
  u64 x = l->code.consts[c->a].lo;
  *out = bits == 32 ? (i64)(i32)(u32)x : (i64)x;
  return true;
}

/* All of the slot, in the order of the loop's dims. */
static bool is_whole(const program *p, const prog_loop *l, const prog_access *a) {
  u64 n = 1;
  for (u32 d = l->rank; d-- > 0; n *= (u64)l->dims[d])
    if (l->dims[d] > 1 && a->stride[d] != (i64)n) return false;
  return a->offset == 0 && n == p->slots[a->slot].count;
}

/* The loop, if it makes one whole slot of whole slots; *value is what it stores. */
static const prog_loop *as_map(const program *p, const prog_step *s, u32 num_in, u32 *value) {
  const prog_loop *l = s->kind == STEP_loop ? s->u.loop_ : NULL;
  if (!l || l->reduced || l->num_in != num_in || l->num_out != 1) return NULL;
  if (!is_whole(p, l, &l->out[0])) return NULL;
  for (u32 i = 0; i < num_in; i++)
    if (!is_whole(p, l, &l->in[i])) return NULL;
  *value = instr(l, l->code.len - 1)->a;
  return instr(l, l->code.len - 1)->op == VM_store ? l : NULL;
}

static bool loads(const prog_loop *l, u32 v, u32 slot) {
  return instr(l, v)->op == VM_load && l->in[instr(l, v)->a].slot == slot;
}

/* i < 0 ? i + by : i, of signed numbers */
static const prog_loop *as_wrap(const program *p, const prog_step *s, i64 *by) {
  u32 v;
  i64 zero;
  const prog_loop *l = as_map(p, s, 1, &v);
  if (!l || instr(l, v)->op != VM_select) return NULL;
  const vm_instr *select = instr(l, v), *less = instr(l, select->a), *sum = instr(l, select->b);
  bool is = loads(l, select->c, l->in[0].slot) && less->op == VM_lt && less->a == select->c &&
            is_const(l, less->b, &zero) && zero == 0 && sum->op == VM_add && sum->a == select->c &&
            is_const(l, sum->b, by) && *by >= 0;
  dtype t = (dtype)select->type;
  return is && (t == DTYPE_s32 || t == DTYPE_s64) ? l : NULL;
}

/* 0 <= i and i <= most ? x : a constant */
static const prog_loop *as_fill(const program *p, const prog_step *s, u32 i, u32 x, i64 most,
                                vm_const *fill) {
  u32 v;
  i64 zero, end;
  const prog_loop *l = as_map(p, s, 2, &v);
  if (!l || instr(l, v)->op != VM_select) return NULL;
  const vm_instr *select = instr(l, v), *and = instr(l, select->a);
  const vm_instr *otherwise = instr(l, select->c);
  if (and->op != VM_and || otherwise->op != VM_constant || !loads(l, select->b, x)) return NULL;
  const vm_instr *low = instr(l, and->a), *high = instr(l, and->b);
  *fill = l->code.consts[otherwise->a];
  return low->op == VM_ge && loads(l, low->a, i) && is_const(l, low->b, &zero) && zero == 0 &&
                 high->op == VM_le && loads(l, high->a, i) && is_const(l, high->b, &end) &&
                 end == most
             ? l
             : NULL;
}

/* ---- what takes by its result ---- */

/* Of one component, in this slot. */
static bool takes_by(const prog_step *s, u32 slot) {
  const prog_gather *g = s->kind == STEP_gather ? s->u.gather_ : NULL;
  return g && g->indices == slot && g->start_index_map.len == 1 && !g->wrap;
}

static bool is_single(const prog_gather *g) {
  for (size_t d = 0; d < g->slice_sizes.len; d++)
    if (g->slice_sizes.data[d] != 1) return false;
  return !g->scatter && g->offset_dims.len == 0;
}

typedef struct taken {
  prog_gather *g;
  prog_step *filled; /* NULL: what is out of range is not replaced */
  u32 out;
  vm_const fill;
} taken;

/* The gather whose result s fills, by the same indices. */
static bool find_filled(const taker *t, prog_step *s, u32 slot, taken *list, u32 n) {
  for (u32 i = 0; i < n; i++) {
    taken *k = &list[i];
    if (!is_single(k->g) || k->filled || t->touches[k->g->other[0]] != 2) continue;
    i64 most = k->g->operand_dims.data[k->g->start_index_map.data[0]] - 1;
    const prog_loop *l = as_fill(t->p, s, slot, k->g->other[0], most, &k->fill);
    if (!l || t->p->slots[k->g->other[0]].kind != SLOT_WORK) continue;
    k->filled = s;
    k->out = l->out[0].slot;
    return true;
  }
  return false;
}

/* A copy of what is there to where it is. */
static void become_idle(arena *a, const program *p, prog_step *s, u32 slot) {
  prog_copy *c = ARENA_NEW(a, prog_copy);
  c->rank = 1;
  c->dims[0] = (i64)p->slots[slot].count;
  c->src = c->dst = (prog_access){.slot = slot, .stride = {1}};
  s->kind = STEP_copy;
  s->u.copy_ = c;
}

typedef struct probe {
  u32 slot;
  bool written, any;
} probe;
static void probe_slot(void *user, u32 *slot, slot_use use) {
  probe *q = user;
  q->any |= *slot == q->slot;
  q->written |= *slot == q->slot && use != USE_READ;
}
static probe look(prog_step *s, u32 slot) {
  probe q = {.slot = slot};
  prog_step_slots(s, probe_slot, &q);
  return q;
}

/* All that touches the slot that step `at` wraps indices into, if that is what is known here. */
static u32 find_users(const taker *t, u32 at, u32 from, u32 slot, taken *list) {
  const program *p = t->p;
  u32 n = 0, left = t->touches[slot] - 1;
  for (u32 i = at + 1; left && i < p->num_steps; i++) {
    prog_step *s = &p->steps[i];
    if (t->target[i] || prog_step_jump(s) || look(s, from).written) return 0;
    for (u32 k = 0; k < n; k++) /* nobody may miss what is written sooner now */
      if (list[k].filled && look(s, list[k].out).written) return 0;
    if (takes_by(s, slot) && n < MOST_USERS)
      list[n++] = (taken){.g = s->u.gather_};
    else if (!find_filled(t, s, slot, list, n))
      continue;
    left--;
  }
  return left ? 0 : n;
}

static void take_from(arena *a, const taker *t, u32 at) {
  program *p = t->p;
  taken list[MOST_USERS];
  i64 by;
  const prog_loop *l = as_wrap(p, &p->steps[at], &by);
  if (!l || p->slots[l->out[0].slot].kind != SLOT_WORK) return;
  u32 from = l->in[0].slot, n = find_users(t, at, from, l->out[0].slot, list);
  for (u32 i = 0; i < n; i++) {
    prog_gather *g = list[i].g;
    g->indices = from;
    g->wrap = by;
    if (!list[i].filled) continue;
    become_idle(a, p, list[i].filled, g->other[0]);
    g->other[0] = list[i].out;
    g->fills = true;
    g->fill = list[i].fill;
  }
  if (n) become_idle(a, p, &p->steps[at], l->out[0].slot);
}

static void count_touch(void *user, u32 *slot, slot_use use) {
  (void)use;
  ((u32 *)user)[*slot]++;
}

static void forget_touch(void *user, u32 *slot, slot_use use) {
  (void)use;
  ((u32 *)user)[*slot]--;
}
/* Integers that nobody reads, as indices of places that are known otherwise, are not computed. */
static void leave_out(arena *a, const program *p, prog_step *s, u32 *touches) {
  if (s->kind != STEP_loop) return;
  const prog_loop *l = s->u.loop_;
  for (u32 i = 0; i < l->num_out; i++) {
    const prog_slot *out = &p->slots[l->out[i].slot];
    if (touches[l->out[i].slot] != 1 || out->kind != SLOT_WORK || !num_int_bits(out->type)) return;
  }
  prog_step_slots(s, forget_touch, touches);
  if (l->num_out) become_idle(a, p, s, l->out[0].slot);
}

void prog_take_wrapped(arena *a, arena *scratch, program *p) {
  u32 *touches = arena_zalloc(scratch, (p->num_slots + 1) * sizeof(u32));
  bool *target = arena_zalloc(scratch, p->num_steps + 1), any = false;
  for (u32 i = 0; i < p->num_steps; i++) {
    const prog_jump *j = prog_step_jump(&p->steps[i]);
    for (u32 k = 0; j && k < j->n; k++) target[j->target[k]] = true;
    any |= p->steps[i].kind == STEP_gather;
    prog_step_slots(&p->steps[i], count_touch, touches);
  }
  for (u32 i = 0; any && i < p->num_steps; i++) take_from(a, &(taker){p, touches, target}, i);
  for (u32 i = p->num_steps; i-- > 0;) leave_out(a, p, &p->steps[i], touches);
}
