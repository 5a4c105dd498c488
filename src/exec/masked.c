#include "exec/masked.h"

/* ---- running ---- */

enum { WORD = 8 };

/* Whether any of n bytes is other than those of `dead`. */
static bool any_lives(const u8 *at, u64 n, u64 dead) {
  u64 seen = 0, word, i = 0;
  for (; i + WORD <= n; i += WORD) {
    memcpy(&word, at + i, WORD);
    seen |= word ^ dead;
  }
  for (; i < n; i++) seen |= at[i] ^ (u8)dead;
  return seen != 0;
}

void masked_range(const masked *m, const void *mask, const i64 *index, u32 cut, u64 rows,
                  masked_span *out) {
  enum { STEP = 32, ORDER = 64, VECTOR = 16 }; /* ORDER: sums begin where they would */
  const u8 *row = (const u8 *)mask + m->offset;
  u64 dead = m->dead * (UINT64_MAX / UINT8_MAX), first = m->columns / STEP, last = 0;
  for (u32 d = 0; d <= cut; d++) row += index[d] * m->stride[d];
  if (m->stride[cut] == 0) rows = 1;
  for (u64 i = 0; i < rows; i++, row += m->stride[cut]) {
    u64 k = 0, end = m->columns / STEP;
    while (k < first && !any_lives(row + k * STEP, STEP, dead)) k++;
    first = k;
    while (end > last && !any_lives(row + (end - 1) * STEP, STEP, dead)) end--;
    last = end;
  }
  u64 whole = m->columns / STEP * STEP;
  if (first > last) first = last;
  out->some[0] = first * STEP;
  out->some[1] = whole < m->columns ? m->columns : last * STEP;
  u64 begin = out->some[0], end = out->some[1];
  bool right = end<m->columns, left = begin> 0;
  begin = (begin - (left && !right)) / ORDER * ORDER;
  out->dead = m->columns % ORDER ? m->columns : right ? end : left ? begin : m->columns;
  end = align_up(end + right, VECTOR);
  if (end < begin + ORDER) end = begin + ORDER;
  out->wide[0] = begin;
  out->wide[1] = end;
}

bool masked_zeros(const masked_even *e, const char *at, u64 rows, u32 dim, u64 dead) {
  u64 seen = 0, value = 0;
  at += dead * e->width;
  for (u64 i = 0; i < rows; i++, at += e->stride[dim] * (i64)e->width) {
    memcpy(&value, at, e->width);
    seen |= value;
  }
  return !seen;
}

void masked_spread(const masked *m, u32 even, char *at, u64 rows, u32 dim, const masked_span *x) {
  const masked_even *e = &m->even[even];
  u64 value = 0;
  for (u64 i = 0; i < rows; i++, at += e->stride[dim] * (i64)e->width) {
    memcpy(&value, at + x->dead * e->width, e->width);
    if (!value) {
      memset(at, 0, x->wide[0] * e->width);
      memset(at + x->wide[1] * e->width, 0, (m->columns - x->wide[1]) * e->width);
      continue;
    }
    for (u64 k = 0; k < m->columns; k++)
      if (k < x->wide[0] || k >= x->wide[1]) memcpy(at + k * e->width, &value, e->width);
  }
}

/* ---- lowering ---- */

typedef struct search {
  arena *a;
  const program *p;
  const prog_strips *r;
  masked *m;
  u32 num_hidden, hidden[8]; /* slots whose dead columns do not matter so far */
  u32 num_all, all[16];      /* the same, of all products */
} search;

static bool is_local(const search *s, u32 slot) { return s->p->slots[slot].kind == SLOT_STRIP; }

/* Of a loop over rows and columns: elements of a row that lie side by side. */
static bool by_columns(const search *s, const prog_loop *l, const prog_access *x) {
  u32 rank = s->r->rank;
  return l->rank == rank + 1 && (u64)l->dims[rank] == s->m->columns && x->stride[rank] == 1;
}

static bool is_there_before(const search *s, u32 slot) {
  for (u32 i = 0; i < s->r->n; i++)
    if (prog_step_touches(&s->r->steps[i], slot, true)) return false;
  return !is_local(s, slot);
}

static bool is_mask(const search *s, const prog_loop *l, const vm_instr *v) {
  const prog_access *x = &l->in[v->a];
  return v->op == VM_load && x->slot == s->m->slot && x->offset == s->m->offset &&
         by_columns(s, l, x) && memcmp(x->stride, s->m->stride, s->r->rank * sizeof(i64)) == 0;
}

static u32 operands(const vm_instr *v) {
  return v->op == VM_store ? 1 : vm_op_infos[v->op].operands;
}

/* A constant, or made of one. */
static bool is_fixed(const vm_code *c, u32 at) {
  const vm_instr *v = &c->instrs[at];
  while (v->op == VM_convert) v = &c->instrs[v->a];
  return v->op == VM_constant;
}

/* The first select between a constant and something else by a mask that was there before. */
static bool see_mask(search *s, const prog_loop *l) {
  u32 rank = s->r->rank;
  for (u32 i = 0; i < l->code.len && l->rank == rank + 1; i++) {
    const vm_instr *v = &l->code.instrs[i];
    if (v->op != VM_select || is_fixed(&l->code, v->b) == is_fixed(&l->code, v->c)) continue;
    const vm_instr *by = &l->code.instrs[v->a];
    const prog_access *x = &l->in[by->a];
    if (by->op != VM_load || s->p->slots[x->slot].type != DTYPE_pred) continue;
    *s->m = (masked){.slot = x->slot, .offset = x->offset, .columns = (u64)l->dims[rank]};
    memcpy(s->m->stride, x->stride, rank * sizeof(i64));
    s->m->dead = is_fixed(&l->code, v->b);
    if (is_mask(s, l, by) && is_there_before(s, x->slot)) return true;
  }
  return false;
}

static bool is_among(const u32 *list, u32 n, u32 slot) {
  u32 i = 0;
  while (i < n && list[i] != slot) i++;
  return i < n;
}

/* Whether dead columns of what is hidden are in no sum and in no result but hidden ones. */
static bool loop_hides(search *s, const prog_loop *l) {
  bool *hidden = arena_zalloc(s->a, l->code.len + 1);
  for (u32 i = 0; i < l->code.len; i++) {
    const vm_instr *v = &l->code.instrs[i];
    u32 of[] = {v->a, v->b, v->c};
    for (u32 k = 0; k < operands(v); k++) hidden[i] |= hidden[of[k]];
    if (v->op == VM_load && is_among(s->hidden, s->num_hidden, l->in[v->a].slot)) {
      if (!by_columns(s, l, &l->in[v->a])) return false;
      hidden[i] = true;
    }
    if (v->op == VM_select && is_mask(s, l, &l->code.instrs[v->a]))
      hidden[i] = hidden[s->m->dead ? v->b : v->c];
    if (v->op != VM_store || !hidden[i]) continue;
    const prog_access *x = &l->out[v->b];
    if (l->reduced || !is_local(s, x->slot) || !by_columns(s, l, x)) return false;
    if (s->num_hidden == COUNT(s->hidden)) return false;
    s->hidden[s->num_hidden++] = x->slot;
  }
  return true;
}

static bool hides_columns(search *s, u32 at) {
  const prog_dot *d = s->r->steps[at].u.dot_;
  u32 n = d->nb + d->nm;
  if (d->nn != 1 || (u64)d->dims[n] != s->m->columns || d->out_stride[n] != 1) return false;
  if (!is_local(s, d->out)) return false;
  s->num_hidden = 1;
  s->hidden[0] = d->out;
  for (u32 i = at + 1; i < s->r->n; i++) {
    const prog_step *t = &s->r->steps[i];
    bool reads = false;
    for (u32 k = 0; k < s->num_hidden; k++) reads |= prog_step_touches(t, s->hidden[k], false) > 0;
    if (reads && (t->kind != STEP_loop || !loop_hides(s, t->u.loop_))) return false;
  }
  for (u32 k = 0; k < s->num_hidden && s->num_all < COUNT(s->all); k++)
    s->all[s->num_all++] = s->hidden[k];
  return true;
}

/* ---- what is the same in all dead columns of a row ---- */

enum { SAME, HIDDEN, OTHER };

static u32 find_even(const search *s, u32 slot) {
  u32 i = 0;
  while (i < s->m->num_even && s->m->even[i].slot != slot) i++;
  return i;
}

static u8 see_load(const search *s, const prog_loop *l, const vm_instr *v) {
  const prog_access *x = &l->in[v->a];
  u32 rank = s->r->rank, i = find_even(s, x->slot);
  const masked_even *e = &s->m->even[i];
  if (i < s->m->num_even)
    return by_columns(s, l, x) && x->offset == e->offset &&
                   !memcmp(x->stride, e->stride, rank * sizeof(i64))
               ? SAME
               : OTHER;
  if (is_among(s->all, s->num_all, x->slot)) return HIDDEN;
  return x->stride[rank] == 0 || is_mask(s, l, v) ? SAME : OTHER;
}

/* The worst of what it stores. */
static u8 see_code(const search *s, const prog_loop *l) {
  u8 *is = arena_zalloc(s->a, l->code.len + 1), worst = SAME;
  for (u32 i = 0; i < l->code.len; i++) {
    const vm_instr *v = &l->code.instrs[i];
    u32 of[] = {v->a, v->b, v->c};
    for (u32 k = 0; k < operands(v); k++)
      if (is[of[k]] > is[i]) is[i] = is[of[k]];
    if (v->op == VM_load) is[i] = see_load(s, l, v);
    if (v->op == VM_iota && v->a == s->r->rank) is[i] = OTHER;
    if (v->op == VM_select && is_mask(s, l, &l->code.instrs[v->a]))
      is[i] = is[s->m->dead ? v->b : v->c];
    if (v->op == VM_store && is[i] > worst) worst = is[i];
  }
  return worst;
}

static bool is_written_once(const search *s, u32 slot) {
  u32 n = 0;
  for (u32 i = 0; i < s->r->n; i++) n += prog_step_touches(&s->r->steps[i], slot, true) > 0;
  return n == 1;
}

static void see_loop(search *s, const prog_loop *l, masked_step *m) {
  u32 rank = s->r->rank;
  prog_reducer kind = l->body.kind;
  const prog_access *x = &l->out[0];
  if (l->rank != rank + 1 || (u64)l->dims[rank] != s->m->columns || l->num_out != 1) return;
  u8 worst = see_code(s, l);
  if (worst == OTHER || (worst == HIDDEN && l->reduced)) return;
  if (l->reduced) {
    if (kind == REDUCE_MAX || kind == REDUCE_MIN) m->role = MASKED_EVEN;
    if (kind == REDUCE_SUM && m->reads && l->code.len == 2) m->role = MASKED_SUMS;
    return;
  }
  if (!by_columns(s, l, x) || !is_written_once(s, x->slot)) return;
  if (worst == SAME) {
    if (s->m->num_even == MASKED_EVENS) return;
    masked_even *e = &s->m->even[s->m->num_even++];
    *e = (masked_even){.slot = x->slot, .offset = x->offset};
    e->width = (u32)dtype_size(s->p->slots[x->slot].type);
    memcpy(e->stride, x->stride, rank * sizeof(i64));
    if (!is_local(s, x->slot)) m->makes = 1u << (s->m->num_even - 1);
  }
  m->role = MASKED_EVEN;
}

static u32 find_reads(const search *s, const prog_step *t) {
  u32 bits = 0;
  for (u32 k = 0; k < s->m->num_even; k++)
    bits |= (u32)(prog_step_touches(t, s->m->even[k].slot, false) > 0) << k;
  return bits;
}

masked *masked_find(arena *a, const program *p, const prog_strips *r) {
  search s = {.a = a, .p = p, .r = r, .m = ARENA_NEW(a, masked)};
  u32 i = 0, found = 0;
  while (i < r->n && !(r->steps[i].kind == STEP_loop && see_mask(&s, r->steps[i].u.loop_))) i++;
  if (i == r->n) return NULL;
  s.m->steps = arena_zalloc(a, r->n * sizeof *s.m->steps);
  for (i = 0; i < r->n; i++) {
    const prog_dot *d = r->steps[i].u.dot_;
    masked_step *m = &s.m->steps[i];
    m->reads = find_reads(&s, &r->steps[i]);
    if (r->steps[i].kind == STEP_loop) see_loop(&s, r->steps[i].u.loop_, m);
    if (r->steps[i].kind != STEP_dot) continue;
    if (hides_columns(&s, i))
      m->role = MASKED_COLUMNS;
    else if (d->nk == 1 && (u64)d->dims[d->nb + d->nm + d->nn] == s.m->columns &&
             !is_local(&s, d->rhs) &&
             (is_local(&s, d->lhs) || find_even(&s, d->lhs) < s.m->num_even))
      m->role = MASKED_TERMS;
    found += m->role != MASKED_NOT;
  }
  return found ? s.m : NULL;
}
