#include "exec/placed.h"

#include "exec/jit.h"
#include "exec/scalar_build.h"

enum { MOST_ELEMENTS = 256, FEWEST_ELEMENTS = 3 };

/* Registers in memory, and where their elements lie. */
typedef struct placing {
  const lower_env *e;
  arena *a; /* of what is not kept */
  u32 num, num_regs, num_slots;
  i32 *at, *end;
  u32 *pointer, *slot; /* slot: by pointer */
} placing;

/* Elements of a slot that may be read: places in the workspace begin with a line of memory and have
 * all of it. */
static i32 readable(const prog_slot *s) {
  u64 n = s->kind == SLOT_WORK && s->alias < 0 ? align_up(s->count, 64 / 4) : s->count;
  return n < INT32_MAX / 8 ? (i32)n : INT32_MAX / 8;
}

static u32 find_pointer(placing *p, u32 slot) {
  for (u32 i = 0; i < p->num_slots; i++)
    if (p->slot[i] == slot) return i;
  p->slot[p->num_slots] = slot;
  return p->num_slots++;
}

/* False: it is of a kind that has no place of its own, or of another width. */
static bool place_access(placing *p, u32 reg, const prog_access *a, const i64 *dims, u32 rank) {
  const prog_slot *s = &p->e->prog->slots[a->slot];
  i64 index[PROG_MAX_DIMS] = {0};
  i32 *at = p->at + (size_t)reg * p->num;
  if (s->kind == SLOT_STRIP || s->kind == SLOT_VIEW || s->lent || dtype_size(s->type) != 4)
    return false;
  p->end[reg] = readable(s);
  p->pointer[reg] = find_pointer(p, a->slot);
  do {
    i64 place = a->offset;
    for (u32 d = 0; d < rank; d++) place += index[d] * a->stride[d];
    if (place > INT32_MAX / 8) return false;
    *at++ = (i32)place;
  } while (scalar_next_index(index, dims, rank));
  return true;
}

/* Of how many elements it is; 0: of too many, or too few, or there is no code. */
static u32 count_elements(const lower_env *e, const i64 *dims, u32 rank) {
  u64 n = 1;
  for (u32 d = 0; d < rank && n <= MOST_ELEMENTS; d++) n *= (u64)dims[d];
  bool few = n >= FEWEST_ELEMENTS && n <= MOST_ELEMENTS;
  return few && e->jit && jit_has_places(e->jit) ? (u32)n : 0;
}
static placing begin(const lower_env *e, u32 num, u32 num_regs) {
  arena *a = e->scratch ? e->scratch : e->a;
  placing p = {.e = e, .a = a, .num = num, .num_regs = num_regs};
  p.at = ARENA_ARRAY(a, i32, (size_t)num_regs * num + 1);
  p.end = arena_zalloc(a, (num_regs + 1) * sizeof(i32));
  p.pointer = ARENA_ARRAY(a, u32, num_regs + 1);
  p.slot = ARENA_ARRAY(e->a, u32, num_regs + 1);
  for (u32 r = 0; r < num_regs; r++) p.pointer[r] = PROG_NONE;
  return p;
}

/* In the order in which register reg has them. */
static void sort_places(placing *p, u32 reg) {
  const i32 *by = p->at + (size_t)reg * p->num;
  u32 *order = ARENA_ARRAY(p->a, u32, p->num);
  i32 *sorted = ARENA_ARRAY(p->a, i32, p->num);
  for (u32 i = 0; i < p->num; i++) {
    u32 k = i;
    for (; k > 0 && by[order[k - 1]] > by[i]; k--) order[k] = order[k - 1];
    order[k] = i;
  }
  for (u32 r = 0; r < p->num_regs; r++) {
    i32 *at = p->at + (size_t)r * p->num;
    for (u32 i = 0; i < p->num; i++) sorted[i] = at[order[i]];
    memcpy(at, sorted, p->num * sizeof *at);
  }
}

static void run_placed(const void *data, const exec_env *env, u64 begin, u64 end) {
  const exec_direct *d = data;
  void **reg = (void **)(void *)env->scratch;
  (void)begin, (void)end;
  for (u32 i = 0; i < d->num; i++) reg[i] = env->slots[d->slot[i]];
  d->call(d->n, reg);
}

/* num_in: of its registers, the first ones, which outputs follow. */
static void finish(placing *p, jit_piece piece, u32 num_in, u32 num_out, exec_step *out) {
  enum { CALL = 20, LANES = 16 }; /* no less than what scalars.c takes off */
  sort_places(p, num_in);
  jit_places places = {p->num, p->num_regs, num_out, p->at, p->end, p->pointer};
  piece.num_in = num_in;
  piece.places = &places;
  piece.vectors = 1;
  exec_direct d = {.n = 1, .num = p->num_slots, .slot = p->slot, .placed = true};
  if (!(d.call = jit_compile(p->e->jit, p->e->a, &piece))) return;
  d.at = arena_zalloc(p->e->a, (p->num_slots + 1) * sizeof(i64));
  out->direct = arena_copy(p->e->a, &d, sizeof d);
  if (piece.terms) return; /* who asks about products knows them by what is run */
  out->run = run_placed;
  out->data = out->direct;
  out->units = 1;
  out->cost = CALL + (u64)piece.num_calls * p->num / LANES / 4;
  out->narrows = 0;
  out->scratch = p->num_slots * sizeof(void *);
}

static vm_call copy_of(u32 to, u32 from) {
  return (vm_call){.d = to, .a = from, .is = {CALL_copy, 2, 0, 0}};
}

/* False: there is a call that no code is for. */
static bool add_calls(placing *p, const prog_loop *l, const vm_unit *u, jit_piece *out) {
  vm_call *calls = ARENA_ARRAY(p->a, vm_call, u->num_calls + l->num_out + 1);
  u32 n = 0;
  for (u32 i = 0; i < u->num_calls; i++) {
    const vm_call *c = &u->calls[i];
    u32 second = c->b - u->first_const;
    if (!jit_knows(p->e->jit, c, second < u->num_consts ? u->consts[second] : NULL)) return false;
    calls[n] = *c;
    calls[n++].scalar = false;
  }
  for (u32 o = 0; o < l->num_out; o++)
    if (!u->outputs[o].in_place) calls[n++] = copy_of(l->num_in + o, u->outputs[o].reg);
  *out = (jit_piece){.calls = calls,
                     .num_calls = n,
                     .num_regs = u->num_regs,
                     .first_const = u->first_const,
                     .num_consts = u->num_consts,
                     .consts = u->consts};
  return true;
}

static void place_iota(placing *p, const vm_iota_use *use, const i64 *dims, u32 rank) {
  i64 index[PROG_MAX_DIMS] = {0}, zero = 0;
  i32 *at = p->at + (size_t)use->reg * p->num;
  do p->e->k->iota[use->type](1, at++, &index[use->dim], &zero, NULL);
  while (scalar_next_index(index, dims, rank));
}

void placed_loop(const lower_env *e, const prog_loop *l, exec_step *out) {
  enum { MOST_WORK = 1024 };
  jit_piece piece;
  lower_fault fault = {0};
  lower_env asking = *e;
  asking.fault = &fault;
  u32 n = count_elements(e, l->dims, l->rank);
  if (n == 0 || l->num_out == 0 || l->num_out > 32 || l->num_in > 63) return;
  vm_unit *u = scalar_lower_loop(&asking, l);
  if (fault.op || fault.words || u->num_calls * ((n + 15) / 16) > MOST_WORK) return;
  placing p = begin(e, n, u->num_regs);
  if (!add_calls(&p, l, u, &piece)) return;
  for (u32 i = 0; i < l->num_in; i++)
    if (!place_access(&p, i, &l->in[i], l->dims, l->rank)) return;
  for (u32 o = 0; o < l->num_out; o++)
    if (!place_access(&p, l->num_in + o, &l->out[o], l->dims, l->rank)) return;
  for (u32 i = 0; i < u->num_iotas; i++) {
    if (vm_rtype_size(u->iotas[i].type) != 4) return;
    place_iota(&p, &u->iotas[i], l->dims, l->rank);
  }
  finish(&p, piece, l->num_in, l->num_out, out);
}

void placed_copy(const lower_env *e, const prog_copy *c, exec_step *out) {
  vm_call call = copy_of(1, 0);
  jit_piece piece = {.calls = &call, .num_calls = 1, .num_regs = 2, .first_const = 2};
  u32 n = count_elements(e, c->dims, c->rank);
  if (n == 0) return;
  placing p = begin(e, n, 2);
  if (!place_access(&p, 0, &c->src, c->dims, c->rank)) return;
  if (!place_access(&p, 1, &c->dst, c->dims, c->rank)) return;
  finish(&p, piece, 1, 1, out);
}

/* Places of an operand's elements at a term. */
static bool place_factor(placing *p, u32 reg, prog_access a, const i64 *stride, const prog_dot *d,
                         u64 term) {
  u32 kept = d->nb + d->nm + d->nn;
  memcpy(a.stride, stride, kept * sizeof(i64));
  for (u32 k = kept + d->nk; k-- > kept; term /= (u64)d->dims[k])
    a.offset += (i64)(term % (u64)d->dims[k]) * stride[k];
  return place_access(p, reg, &a, d->dims, kept);
}

void placed_dot(const lower_env *e, const prog_dot *d, exec_step *out) {
  enum { MOST_TERMS = 16 };
  u32 kept = d->nb + d->nm + d->nn;
  u32 n = kept + d->nk <= PROG_MAX_DIMS ? count_elements(e, d->dims, kept) : 0;
  u64 terms = prog_volume(d->dims + kept, d->nk);
  prog_access lhs = {.slot = d->lhs, .offset = d->lhs_offset};
  prog_access rhs = {.slot = d->rhs, .offset = d->rhs_offset};
  prog_access to = {.slot = d->out, .offset = d->out_offset};
  const prog_slot *s = e->prog->slots; /* whose types are the same */
  if (n == 0 || s[d->out].type != DTYPE_f32 || terms == 0 || terms > MOST_TERMS || d->parts) return;
  u32 last = 2 * (u32)terms;
  placing p = begin(e, n, last + 1);
  for (u32 k = 0; k < terms; k++)
    if (!place_factor(&p, k, lhs, d->lhs_stride, d, k) ||
        !place_factor(&p, (u32)terms + k, rhs, d->rhs_stride, d, k))
      return;
  memcpy(to.stride, d->out_stride, kept * sizeof(i64));
  if (!place_access(&p, last, &to, d->dims, kept)) return;
  jit_piece piece = {.terms = (u32)terms, .num_regs = last + 1, .first_const = last + 1};
  finish(&p, piece, last, 1, out);
}
