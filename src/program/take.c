/* Elements and rows by their place as NumPy counts: from the end where an index is negative, and
 * where it is out of range something else. JAX writes that as a loop over the indices, one that
 * says which are inside, a gather or scatter, and a loop that selects what is gathered; the gather
 * does it all, in one pass over memory. */
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

/* 0 <= i and i <= most, of the elements of a slot */
static bool is_inside(const prog_loop *l, u32 v, u32 i, i64 *most) {
  const vm_instr *and = instr(l, v), *low = instr(l, and->a), *high = instr(l, and->b);
  i64 zero;
  return and->op == VM_and && low->op == VM_ge && loads(l, low->a, i) &&
         is_const(l, low->b, &zero) && zero == 0 && high->op == VM_le && loads(l, high->a, i) &&
         is_const(l, high->b, most);
}

/* That alone, for each index. */
static const prog_loop *as_mask(const program *p, const prog_step *s, u32 i, i64 *most) {
  u32 v;
  const prog_loop *l = as_map(p, s, 1, &v);
  return l && is_inside(l, v, i, most) ? l : NULL;
}

/* One element for each row of so many elements, as those of a loop's output follow. */
static bool is_of_rows(const prog_loop *l, const prog_access *a, i64 row) {
  i64 n = 1;
  for (u32 d = l->rank; d-- > 0; n *= l->dims[d]) {
    bool within = n < row;
    if (l->dims[d] > 1 && (a->stride[d] != (within ? 0 : n / row) || (!within && n % row)))
      return false;
  }
  return a->offset == 0;
}

/* A loop that selects the gathered slot x, or a constant: by the indices, slot i of them, or, where
 * rows are gathered, by what a loop has said of each before. */
typedef struct filling {
  u32 i, mask, x; /* mask: PROG_NONE: there is none */
  i64 most, row;
} filling;

static const prog_loop *as_fill(const program *p, const prog_step *s, const filling *f,
                                vm_const *fill) {
  const prog_loop *l = s->kind == STEP_loop ? s->u.loop_ : NULL;
  if (!l || l->reduced || l->num_in != 2 || l->num_out != 1 || !is_whole(p, l, &l->out[0]))
    return NULL;
  const vm_instr *store = instr(l, l->code.len - 1), *select = instr(l, store->a);
  if (store->op != VM_store || select->op != VM_select || !loads(l, select->b, f->x)) return NULL;
  const vm_instr *otherwise = instr(l, select->c);
  if (otherwise->op != VM_constant || !is_whole(p, l, &l->in[instr(l, select->b)->a])) return NULL;
  *fill = l->code.consts[otherwise->a];
  if (f->mask != PROG_NONE)
    return loads(l, select->a, f->mask) && is_of_rows(l, &l->in[instr(l, select->a)->a], f->row)
               ? l
               : NULL;
  i64 most;
  return is_inside(l, select->a, f->i, &most) && most == f->most &&
                 is_whole(p, l, &l->in[l->in[0].slot == f->x])
             ? l
             : NULL;
}

/* ---- what takes by its result ---- */

/* Of one component, in this slot. */
static bool takes_by(const prog_step *s, u32 slot) {
  const prog_gather *g = s->kind == STEP_gather ? s->u.gather_ : NULL;
  return g && g->indices == slot && g->start_index_map.len == 1 && !g->wrap;
}

/* How many elements a result has of each index one behind the other, if it is of such rows of all
 * the other dims; 0: it is not. */
static i64 row_of(const prog_gather *g) {
  size_t batches = g->other_dims.len - g->offset_dims.len;
  i64 row = 1;
  for (size_t d = 0; d < g->offset_dims.len; d++) {
    if (g->offset_dims.data[d] != (i64)(batches + d)) return 0;
    row *= g->other_dims.data[batches + d];
  }
  i64 dim = g->start_index_map.data[0];
  return g->scatter || g->slice_sizes.data[dim] != 1 ? 0 : row;
}

typedef struct taken {
  prog_gather *g;
  prog_step *filled; /* NULL: what is out of range is not replaced */
  u32 out;
  vm_const fill;
} taken;

/* What a loop says of whether indices are inside. */
typedef struct mask {
  prog_step *step;
  u32 slot; /* PROG_NONE: there is none */
  i64 most;
} mask;

/* The gather whose result s fills, by the same indices, or by what a loop has said of them. */
static bool find_filled(const taker *t, prog_step *s, u32 slot, const mask *m, taken *list, u32 n) {
  for (u32 i = 0; i < n; i++) {
    taken *k = &list[i];
    if (k->g->scatter || k->filled || t->touches[k->g->other[0]] != 2) continue;
    filling f = {.i = slot,
                 .mask = m->slot,
                 .x = k->g->other[0],
                 .most = k->g->operand_dims.data[k->g->start_index_map.data[0]] - 1,
                 .row = row_of(k->g)};
    if (!f.row || (m->slot == PROG_NONE ? f.row > 1 : m->most != f.most)) continue;
    const prog_loop *l = as_fill(t->p, s, &f, &k->fill);
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
static u32 find_users(const taker *t, u32 at, u32 from, u32 slot, taken *list, mask *m) {
  const program *p = t->p;
  const prog_loop *l;
  u32 n = 0, left = t->touches[slot] - 1;
  for (u32 i = at + 1; left && i < p->num_steps; i++) {
    prog_step *s = &p->steps[i];
    if (t->target[i] || prog_step_jump(s) || look(s, from).written) return 0;
    for (u32 k = 0; k < n; k++) /* nobody may miss what is written sooner now */
      if (list[k].filled && look(s, list[k].out).written) return 0;
    if (takes_by(s, slot) && n < MOST_USERS)
      list[n++] = (taken){.g = s->u.gather_};
    else if (!m->step && (l = as_mask(p, s, slot, &m->most)) &&
             p->slots[l->out[0].slot].kind == SLOT_WORK)
      m->step = s, m->slot = l->out[0].slot, left += t->touches[m->slot] - 1;
    else if (!find_filled(t, s, slot, m, list, n))
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
  mask m = {.slot = PROG_NONE};
  u32 from = l->in[0].slot, n = find_users(t, at, from, l->out[0].slot, list, &m);
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
  if (n && m.step) become_idle(a, p, m.step, m.slot);
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
