/* Values that are made a second time rather than kept.
 *
 * Where most memory is in use, some values only wait for steps far below. Of those that a loop
 * makes with few operations, of what is there anyhow when they are needed again, a loop of their
 * own makes a copy right before, and the first one need not last so long. As nothing else is kept
 * for it, no step has more memory in use than before. What was written is no longer in a cache, so
 * that it takes no more time to make it than to read it. */
#include "program/parts.h"

enum {
  LEAST_PEAK = 4 << 20,    /* bytes: with less in use, caches have it all */
  LEAST_VALUE = 32 << 10,  /* bytes of a value, */
  SHARE = 1 << 11,         /* and which part of the peak */
  LEAST_BETWEEN = 2 << 20, /* bytes written since it was last touched */
  MOST_INPUTS = 4,
  MOST_WORK = 12 /* operations */
};

typedef struct added {
  u32 at; /* the step in front of which it goes */
  prog_step step;
} added;

typedef struct remaking {
  arena *a, *out;
  program *p;
  prog_touches touches;
  u64 *written; /* by step: bytes, by all in front of it */
  bool *remade, *read_again;
  u32 run_begin, run_end, step;
  u64 least;
  VEC(prog_slot) slots;
  VEC(added) added;
} remaking;

/* ---- who touches what ---- */

static void count_written(void *user, u32 *slot, slot_use use) {
  remaking *z = user;
  if (use != USE_READ) z->written[z->step + 1] += prog_slot_bytes(&z->p->slots[*slot]);
}

static void find_touches(remaking *z) {
  program *p = z->p;
  z->touches = prog_find_touches(z->a, p);
  z->written = arena_zalloc(z->a, (p->num_steps + 2) * sizeof(u64));
  for (z->step = 0; z->step < p->num_steps; z->step++) {
    prog_step_slots(&p->steps[z->step], count_written, z);
    z->written[z->step + 1] += z->written[z->step];
  }
}

/* The steps around `peak` that are done in order. */
static void find_run(remaking *z, u32 peak) {
  const program *p = z->p;
  z->run_end = p->num_steps;
  for (u32 t = 0; t < p->num_steps; t++) {
    const prog_jump *j = prog_step_jump(&p->steps[t]);
    if (!j) continue;
    if (t < peak && t >= z->run_begin) z->run_begin = t + 1;
    if (t >= peak && t < z->run_end) z->run_end = t;
    for (u32 k = 0; k < j->n; k++) {
      if (j->target[k] <= peak && j->target[k] > z->run_begin) z->run_begin = j->target[k];
      if (j->target[k] > peak && j->target[k] < z->run_end) z->run_end = j->target[k];
    }
  }
}

/* Whether a slot has in front of step `at` what it has at step t, which may have made it, and that
 * anyhow. */
static bool is_there(const remaking *z, u32 slot, u32 t, u32 at) {
  u32 owner = prog_slot_owner(z->p, slot);
  prog_slot_kind kind = z->p->slots[slot].kind;
  bool reads = false, lasts = kind != SLOT_WORK;
  if (kind == SLOT_STRIP || z->remade[owner]) return false;
  for (u32 i = z->touches.begin[owner]; i < z->touches.begin[owner + 1]; i++) {
    const prog_touch *x = &z->touches.list[i];
    if (x->step < t) continue;
    if (x->step >= at && !lasts) return x->step < z->run_end && x->use != USE_WRITE;
    if (x->step < at && x->use != USE_READ && (reads || x->step > t)) return false;
    reads = true;
  }
  return lasts;
}

/* ---- the loop that makes it again ---- */

typedef struct copying {
  const prog_loop *from;
  prog_loop *to;
  u32 t, at; /* the steps of both */
  u32 *now;  /* by instruction: its number there; before, whether it is needed */
} copying;

static u32 emit(prog_loop *l, vm_instr i) {
  l->code.instrs[l->code.len] = i;
  return l->code.len++;
}
static u32 emit_load(const remaking *z, prog_loop *l, const prog_access *from) {
  l->in[l->num_in] = *from;
  z->read_again[prog_slot_owner(z->p, from->slot)] = true;
  return emit(
      l, (vm_instr){.op = VM_load, .type = (u8)z->p->slots[from->slot].type, .a = l->num_in++});
}

/* Where value i may be read; NULL: nowhere. */
static const prog_access *access_of(const remaking *z, const copying *c, u32 i) {
  const vm_code *code = &c->from->code;
  const vm_instr *v = &code->instrs[i];
  const prog_access *x = v->op == VM_load ? &c->from->in[v->a] : NULL;
  if (x) return is_there(z, x->slot, c->t, c->at) ? x : NULL;
  for (u32 k = i + 1; k < code->len; k++) {
    const vm_instr *s = &code->instrs[k];
    if (s->op == VM_store && s->a == i && is_there(z, c->from->out[s->b].slot, c->t, c->at))
      return &c->from->out[s->b];
  }
  return NULL;
}

/* Which values are needed for one; false: it takes too much, or what is not there. */
static bool find_needed(const remaking *z, copying *c, u32 value, const prog_access **reads) {
  u32 inputs = 0, work = 0;
  c->now[value] = 1;
  for (u32 i = value + 1; i-- > 0;) {
    const vm_instr *v = &c->from->code.instrs[i];
    if (!c->now[i]) continue;
    if ((reads[i] = access_of(z, c, i)) != NULL) {
      if (++inputs > MOST_INPUTS) return false;
      continue;
    }
    if (v->op == VM_load || vm_is_heavy(v->op)) return false;
    u32 args[] = {v->a, v->b, v->c}, n = vm_op_infos[v->op].operands;
    if (n && ++work > MOST_WORK) return false;
    for (u32 k = 0; k < n; k++) c->now[args[k]] = 1;
  }
  return true;
}

/* Output o of a loop of step t by a loop in front of step `at`; NULL: better not. */
static prog_loop *copy_loop(remaking *z, const prog_loop *from, u32 t, u32 o, u32 at, u32 slot) {
  u32 n = from->code.len, value = PROG_NONE;
  copying c = {.from = from, .t = t, .at = at, .now = arena_zalloc(z->a, (n + 1) * sizeof(u32))};
  const prog_access **reads = arena_zalloc(z->a, (n + 1) * sizeof *reads);
  for (u32 i = 0; i < n; i++)
    if (from->code.instrs[i].op == VM_store && from->code.instrs[i].b == o)
      value = from->code.instrs[i].a;
  if (value == PROG_NONE || !find_needed(z, &c, value, reads)) return NULL;
  prog_loop *l = arena_copy(z->out, from, sizeof *from);
  l->code.instrs = ARENA_ARRAY(z->out, vm_instr, n + 1);
  l->in = ARENA_ARRAY(z->out, prog_access, MOST_INPUTS);
  l->num_in = l->code.len = 0;
  for (u32 i = 0; i <= value; i++) {
    if (!c.now[i]) continue;
    vm_instr v = from->code.instrs[i];
    u32 *args[] = {&v.a, &v.b, &v.c};
    for (u32 k = 0; !reads[i] && k < vm_op_infos[v.op].operands; k++) *args[k] = c.now[*args[k]];
    c.now[i] = reads[i] ? emit_load(z, l, reads[i]) : emit(l, v);
  }
  emit(l, (vm_instr){.op = VM_store, .type = from->code.instrs[value].type, .a = c.now[value]});
  l->out = arena_copy(z->out, &from->out[o], sizeof *l->out);
  l->out->slot = slot;
  l->num_out = l->code.num_out = 1;
  l->code.num_in = l->num_in;
  l->cap_in = l->cap_out = l->code.cap = 0;
  return l;
}

/* ---- which values ---- */

/* The step in front of which a slot that step t writes is to be made again, so that it need not
 * last beyond `peak`; PROG_NONE: nowhere. */
static u32 find_place(const remaking *z, u32 slot, u32 t, u32 peak) {
  u32 last = PROG_NONE;
  for (u32 i = z->touches.begin[slot]; i < z->touches.begin[slot + 1]; i++) {
    const prog_touch *x = &z->touches.list[i];
    if (x->step < z->run_begin || x->step >= z->run_end) return PROG_NONE;
    if (x->step == t ? x->use != USE_WRITE || i > z->touches.begin[slot] : x->use != USE_READ)
      return PROG_NONE;
    if (x->step <= peak) last = x->step;
  }
  for (u32 i = z->touches.begin[slot]; i < z->touches.begin[slot + 1]; i++) {
    u32 at = z->touches.list[i].step;
    if (at <= peak) continue;
    bool used = last != t || z->p->steps[t].kind == STEP_strips;
    return used && z->written[at] - z->written[last] >= LEAST_BETWEEN ? at : PROG_NONE;
  }
  return PROG_NONE;
}

static void try_output(remaking *z, const prog_step *loop, u32 t, u32 o, u32 peak) {
  program *p = z->p;
  const prog_loop *l = loop->u.loop_;
  u32 slot = l->out[o].slot, again = (u32)z->slots.len;
  const prog_slot *s = &p->slots[slot];
  if (s->kind != SLOT_WORK || prog_slot_bytes(s) < z->least || z->read_again[slot]) return;
  u32 at = s->count == prog_volume(l->dims, l->rank) ? find_place(z, slot, t, peak) : PROG_NONE;
  prog_step made = *loop;
  if (at == PROG_NONE) return;
  z->remade[slot] = true; /* what it has is not to be read for it */
  made.u.loop_ = copy_loop(z, l, t, o, at, again);
  z->remade[slot] = made.u.loop_ != NULL;
  if (!made.u.loop_) return;
  VEC_PUSH(z->a, z->slots, *s);
  VEC_PUSH(z->a, z->added, ((added){at, made}));
  bool whole = loop == &p->steps[t];
  for (u32 i = z->touches.begin[slot]; i < z->touches.begin[slot + 1]; i++) {
    u32 step = z->touches.list[i].step;
    if (step >= at) prog_step_rename(&p->steps[step], slot, again);
    whole |= step != t && step < at;
  }
  if (whole) return;
  p->slots[slot].kind = SLOT_STRIP; /* no other step reads it now */
  if (prog_strips_check(p, p->steps[t].u.strips_, NULL)) p->slots[slot].kind = SLOT_WORK;
  z->slots.data[slot].kind = p->slots[slot].kind;
}

static void try_step(remaking *z, const prog_step *s, u32 t, u32 peak) {
  const prog_strips *r = s->kind == STEP_strips ? s->u.strips_ : NULL;
  for (u32 i = 0; r && i < r->n; i++) try_step(z, &r->steps[i], t, peak);
  for (u32 o = 0; s->kind == STEP_loop && o < s->u.loop_->num_out; o++)
    if (!s->u.loop_->reduced) try_output(z, s, t, o, peak);
}

static void put_in(remaking *z) {
  program *p = z->p;
  u32 *first = arena_zalloc(z->a, (p->num_steps + 2) * sizeof(u32)), n = p->num_steps;
  prog_step *steps = ARENA_ARRAY(z->a, prog_step, n + z->added.len + 1);
  for (size_t i = 0; i < z->added.len; i++) first[z->added.data[i].at + 1]++;
  for (u32 t = 0; t < n; t++) first[t + 1] += first[t] + 1; /* of step t: it, or what it needs */
  for (u32 t = 0; t < n; t++) {
    prog_jump *j = prog_step_jump(&p->steps[t]);
    for (u32 k = 0; j && k < j->n; k++) j->target[k] = first[j->target[k]];
    steps[first[t + 1] - 1] = p->steps[t];
  }
  for (size_t i = 0; i < z->added.len; i++)
    steps[first[z->added.data[i].at]++] = z->added.data[i].step;
  p->steps = steps;
  p->num_steps += (u32)z->added.len;
  p->slots = z->slots.data;
  p->num_slots = (u32)z->slots.len;
}

bool prog_remake(arena *out, arena *a, program *p, u32 peak, u64 bytes) {
  if (bytes < LEAST_PEAK) return false;
  remaking z = {.a = a, .out = out, .p = p, .least = max_size(LEAST_VALUE, bytes / SHARE)};
  z.remade = arena_zalloc(a, p->num_slots + 1);
  z.read_again = arena_zalloc(a, p->num_slots + 1);
  for (u32 i = 0; i < p->num_slots; i++) VEC_PUSH(a, z.slots, p->slots[i]);
  find_touches(&z);
  find_run(&z, peak);
  for (u32 t = z.run_begin; t < peak && t < z.run_end; t++) try_step(&z, &p->steps[t], t, peak);
  if (z.added.len) put_in(&z);
  return z.added.len > 0;
}
