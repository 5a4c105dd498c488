/* What loops of few elements read apart, round after round of a loop around them: brought together
 * once, in front of the outermost one in which it stays the same. So the columns of a matrix whose
 * rows are reduced, or a diagonal, lie as vectors take them, and such a loop is one call. */
#include "program/parts.h"

enum {
  LEAST = 17, /* elements of a loop: fewer are done one by one */
  MOST = 4096,
  MOST_REDUCED = 32, /* values of a result, */
  MOST_LOADS = 62,   /* and what it is made of: all side by side (exec/unroll.h) */
  MOST_PACKED = 16   /* of a program */
};

typedef struct packed {
  u32 at, slot; /* in front of which step; where it lies then */
  prog_copy *copy;
  const prog_step *of;
} packed;

typedef struct packer {
  arena *a;
  program *p;
  u32 *ends;   /* by step: where the loop that begins there ends; 0: none does */
  u32 *around; /* by step: where the innermost loop around it begins; PROG_NONE: none is */
  prog_touches touches;
  packed list[MOST_PACKED];
  u32 num;
} packer;

/* The loops that each step is in. */
static bool find_loops(packer *x) {
  u32 n = x->p->num_steps, inner = PROG_NONE;
  bool any = false;
  x->ends = arena_zalloc(x->a, (n + 1) * sizeof(u32));
  x->around = ARENA_ARRAY(x->a, u32, n + 1);
  for (u32 t = 0; t < n; t++) {
    const prog_jump *j = prog_step_jump(&x->p->steps[t]);
    for (u32 k = 0; j && k < j->n; k++)
      if (j->target[k] <= t) x->ends[j->target[k]] = t, any = true;
  }
  for (u32 t = 0; t < n; t++) {
    while (inner != PROG_NONE && x->ends[inner] < t) inner = x->around[inner];
    x->around[t] = inner;
    if (x->ends[t]) inner = t;
  }
  return any;
}

/* The first step of the outermost loop around step t in which nobody writes the slot; PROG_NONE:
 * there is none. */
static u32 find_place(const packer *x, u32 slot, u32 t) {
  u32 place = PROG_NONE;
  for (u32 first = x->around[t]; first != PROG_NONE; first = x->around[first]) {
    if (prog_is_touched(&x->touches, slot, first, x->ends[first], true)) break;
    place = first;
  }
  return place;
}

/* Dims of more than one element, from the outermost as the loop is to go: what is reduced, and then
 * results as they lie. */
static u32 order_dims(const prog_loop *l, u32 *dim) {
  u32 n = 0, kept = l->rank - l->reduced, reduced;
  for (u32 d = kept; d < l->rank; d++)
    if (l->dims[d] > 1) dim[n++] = d;
  reduced = n;
  for (u32 d = 0; d < kept; d++) {
    u32 k = n;
    if (l->dims[d] == 1) continue;
    for (; k > reduced; k--) {
      const i64 *s = l->out[0].stride;
      if (abs_i64(s[dim[k - 1]]) >= abs_i64(s[d])) break;
      dim[k] = dim[k - 1];
    }
    dim[k] = d, n++;
  }
  return n;
}

/* Whether a loop had better find together what it reads. */
static bool is_short(const prog_loop *l) {
  u32 kept = l->rank - l->reduced;
  u64 n = prog_volume(l->dims, l->rank), values = prog_volume(l->dims + kept, l->reduced);
  prog_reducer kind = l->body.kind;
  if (n < LEAST || n > MOST || l->num_out == 0) return false;
  if (!l->reduced) return true;
  return (kind == REDUCE_MAX || kind == REDUCE_MIN || kind == REDUCE_CODE) && values > 1 &&
         values <= MOST_REDUCED && values * l->num_in <= MOST_LOADS && n > values;
}

static packed *add_packed(packer *x, const prog_step *s, u32 at, const prog_copy *c) {
  program *p = x->p;
  for (u32 i = 0; i < x->num; i++) {
    const prog_copy *k = x->list[i].copy;
    bool same = x->list[i].at == at && k->rank == c->rank && k->src.slot == c->src.slot &&
                k->src.offset == c->src.offset &&
                memcmp(k->dims, c->dims, c->rank * sizeof *c->dims) == 0 &&
                memcmp(k->src.stride, c->src.stride, c->rank * sizeof *c->dims) == 0;
    if (same) return &x->list[i];
  }
  if (x->num == MOST_PACKED) return NULL;
  prog_slot to = {.kind = SLOT_WORK, .type = p->slots[c->src.slot].type, .alias = -1};
  to.count = prog_volume(c->dims, c->rank);
  prog_slot *slots = ARENA_ARRAY(x->a, prog_slot, p->num_slots + 1);
  memcpy(slots, p->slots, p->num_slots * sizeof *slots);
  slots[p->num_slots] = to;
  p->slots = slots;
  packed *k = &x->list[x->num++];
  *k = (packed){at, p->num_slots++, arena_copy(x->a, c, sizeof *c), s};
  k->copy->dst.slot = k->slot;
  return k;
}

/* Input i of a loop, whose dims are in order, from where it lies together. */
static void pack(packer *x, u32 t, u32 i, const u32 *dim, u32 n) {
  const prog_step *s = &x->p->steps[t];
  prog_access *in = &s->u.loop_->in[i], now = {0};
  prog_copy c = {.src = {.slot = in->slot, .offset = in->offset}};
  i64 next = 1;
  u32 at = find_place(x, in->slot, t);
  if (at == PROG_NONE) return;
  for (u32 k = 0; k < n; k++) {
    if (in->stride[dim[k]] == 0) continue;
    c.dims[c.rank] = s->u.loop_->dims[dim[k]];
    c.src.stride[c.rank++] = in->stride[dim[k]];
  }
  for (u32 k = c.rank; k-- > 0; next *= c.dims[k]) c.dst.stride[k] = next;
  for (u32 k = 0, r = 0; k < n; k++)
    if (in->stride[dim[k]]) now.stride[dim[k]] = c.dst.stride[r++];
  const packed *to = add_packed(x, s, at, &c);
  if (!to) return;
  now.slot = to->slot;
  *in = now;
}

/* Other inputs lie together as they are, or are one element for all. */
static void pack_inputs(packer *x, u32 t) {
  const prog_loop *l = x->p->steps[t].u.loop_;
  u32 dim[PROG_MAX_DIMS], n = order_dims(l, dim), last = dim[n - 1];
  bool apart[MOST_LOADS + 1] = {false};
  if (l->num_in > MOST_LOADS || last >= l->rank - l->reduced) return;
  for (u32 i = 0; i < l->num_in; i++) {
    i64 stride = l->in[i].stride[last];
    apart[i] = stride != 0 && stride != 1;
    if (apart[i] && l->reduced && find_place(x, l->in[i].slot, t) == PROG_NONE) return;
  }
  for (u32 i = 0; i < l->num_in; i++)
    if (apart[i]) pack(x, t, i, dim, n);
}

/* Who comes from in front of a loop does what is there, who goes back does not. */
static void put_in(packer *x) {
  program *p = x->p;
  u32 n = p->num_steps, len = 0;
  u32 *first = ARENA_ARRAY(x->a, u32, n + 1), *itself = ARENA_ARRAY(x->a, u32, n + 1);
  prog_step *steps = ARENA_ARRAY(x->a, prog_step, n + x->num + 1);
  for (u32 t = 0; t < n; t++) {
    first[t] = len;
    for (u32 i = 0; i < x->num; i++) {
      if (x->list[i].at != t) continue;
      steps[len] = *x->list[i].of;
      steps[len].kind = STEP_copy;
      steps[len++].u.copy_ = x->list[i].copy;
    }
    itself[t] = len;
    steps[len++] = p->steps[t];
  }
  first[n] = len;
  for (u32 t = 0; t < n; t++) {
    prog_jump *j = prog_step_jump(&p->steps[t]);
    for (u32 k = 0; j && k < j->n; k++)
      j->target[k] = (j->target[k] > t ? first : itself)[j->target[k]];
  }
  p->steps = steps;
  p->num_steps = len;
}

void prog_pack_fixed(arena *a, program *p) {
  packer x = {.a = a, .p = p};
  if (!find_loops(&x)) return;
  x.touches = prog_find_touches(a, p);
  for (u32 t = 0; t < p->num_steps; t++)
    if (p->steps[t].kind == STEP_loop && is_short(p->steps[t].u.loop_)) pack_inputs(&x, t);
  if (x.num) put_in(&x);
}
