/* Which slots a step touches, and small questions about steps and bodies. */
#include <math.h>

#include "num/convert.h"
#include "program/lapack.h"
#include "program/parts.h"

static void slots_loop(prog_loop *l, slot_fn *fn, void *user) {
  for (u32 i = 0; i < l->num_in; i++) fn(user, &l->in[i].slot, USE_READ);
  if (l->reduced)
    for (u32 i = 0; i < l->num_out; i++) fn(user, &l->init[i], USE_READ);
  for (u32 i = 0; i < l->num_out; i++) fn(user, &l->out[i].slot, USE_WRITE);
}
static void slots_dot(prog_dot *d, slot_fn *fn, void *user) {
  fn(user, &d->lhs, USE_READ);
  fn(user, &d->rhs, USE_READ);
  if (d->by_tiles) fn(user, &d->taps, USE_READ);
  fn(user, &d->out, USE_WRITE);
}
static void slots_copy(prog_copy *c, slot_fn *fn, void *user) {
  fn(user, &c->src.slot, USE_READ);
  fn(user, &c->dst.slot, USE_WRITE);
}
static void slots_dynamic(prog_dynamic *d, slot_fn *fn, void *user) {
  for (u32 i = 0; i < d->rank; i++) fn(user, &d->start[i], USE_READ);
  if (d->update) {
    fn(user, &d->small, USE_READ);
    fn(user, &d->big, USE_UPDATE);
  } else {
    fn(user, &d->big, USE_READ);
    fn(user, &d->small, USE_WRITE);
  }
}
static void slots_gather(prog_gather *g, slot_fn *fn, void *user) {
  fn(user, &g->indices, USE_READ);
  for (u32 i = 0; i < g->n; i++) {
    if (g->scatter) {
      fn(user, &g->other[i], USE_READ);
      fn(user, &g->operand[i], USE_UPDATE);
    } else {
      fn(user, &g->operand[i], USE_READ);
      fn(user, &g->other[i], USE_WRITE);
    }
  }
}
static void slots_sort(prog_sort *s, slot_fn *fn, void *user) {
  for (u32 i = 0; i < s->n; i++)
    if (s->in[i] != PROG_NONE) fn(user, &s->in[i], USE_READ);
  for (u32 i = 0; i < s->n; i++) fn(user, &s->out[i], USE_WRITE);
}
static void slots_window(prog_window *w, slot_fn *fn, void *user) {
  for (u32 i = 0; i < w->n; i++) {
    fn(user, &w->in[i], USE_READ);
    fn(user, &w->init[i], USE_READ);
  }
  for (u32 i = 0; i < w->n; i++) fn(user, &w->out[i], USE_WRITE);
}
static void slots_select_scatter(prog_select_scatter *s, slot_fn *fn, void *user) {
  fn(user, &s->operand, USE_READ);
  fn(user, &s->source, USE_READ);
  fn(user, &s->init, USE_READ);
  fn(user, &s->out, USE_WRITE);
}
static void slots_rng(prog_rng *r, slot_fn *fn, void *user) {
  fn(user, &r->state, USE_READ);
  fn(user, &r->new_state, USE_WRITE);
  fn(user, &r->out, USE_WRITE);
}
static void slots_collective(prog_collective *c, slot_fn *fn, void *user) {
  for (u32 i = 0; i < c->n; i++) fn(user, &c->in[i], USE_READ);
  for (u32 i = 0; i < c->n; i++) fn(user, &c->out[i], USE_WRITE);
}
static void slots_jump(prog_jump *j, slot_fn *fn, void *user) { (void)j, (void)fn, (void)user; }
static void slots_jump_unless(prog_jump *j, slot_fn *fn, void *user) {
  fn(user, &j->slot, USE_READ);
}
static void slots_case(prog_jump *j, slot_fn *fn, void *user) { fn(user, &j->slot, USE_READ); }
static void slots_partition_id(prog_id *p, slot_fn *fn, void *user) {
  fn(user, &p->out, USE_WRITE);
}
static void slots_replica_id(prog_id *p, slot_fn *fn, void *user) { fn(user, &p->out, USE_WRITE); }
static bool call_reads(const prog_call *c, u32 slot) {
  for (u32 i = 0; i < c->num_in; i++)
    if (c->in[i].slot == slot) return true;
  return false;
}
static void slots_call(prog_call *c, slot_fn *fn, void *user) {
  for (u32 i = 0; i < c->num_in; i++) fn(user, &c->in[i].slot, USE_READ);
  for (u32 i = 0; i < c->num_out; i++)
    fn(user, &c->out[i].slot, call_reads(c, c->out[i].slot) ? USE_UPDATE : USE_WRITE);
}

/* What steps before have written is not read from outside, and is written once. */
typedef struct strip_slots {
  slot_fn *fn;
  void *user;
  u32 num_written;
  u32 written[PROG_MAX_TOUCHES];
} strip_slots;

static void slot_in_strip(void *user, u32 *slot, slot_use use) {
  strip_slots *z = user;
  u32 i = 0;
  while (i < z->num_written && z->written[i] != *slot) i++;
  if (i < z->num_written) return;
  if (use != USE_READ && i < COUNT(z->written)) {
    z->num_written++;
    z->written[i] = *slot;
  }
  z->fn(z->user, slot, use);
}
static void slots_strips(prog_strips *r, slot_fn *fn, void *user) {
  strip_slots z = {.fn = fn, .user = user, .num_written = 0};
  for (u32 i = 0; i < r->n; i++) prog_step_slots(&r->steps[i], slot_in_strip, &z);
}

void prog_step_slots(prog_step *s, slot_fn *fn, void *user) {
  switch (s->kind) {
#define STEP(name, ...)                                                                            \
  case STEP_##name:                                                                                \
    slots_##name(s->u.name##_, fn, user);                                                          \
    break;
    PROG_STEPS(STEP)
#undef STEP
  case STEP_COUNT_:
    break;
  }
}

typedef struct renaming {
  u32 from, to;
} renaming;
static void rename_slot(void *user, u32 *slot, slot_use use) {
  (void)use;
  const renaming *r = user;
  if (*slot == r->from) *slot = r->to;
}
void prog_step_rename(prog_step *s, u32 from, u32 to) {
  prog_step_slots(s, rename_slot, &(renaming){from, to});
}

/* A row that goes anywhere else has a prog_jump, or does not build. */
#define TARGETS_ON(payload) NULL
#define TARGETS_AWAY(payload) payload
#define TARGETS_EITHER(payload) payload
prog_jump *prog_step_jump(const prog_step *s) {
  switch (s->kind) {
#define STEP(name, type, goes, doc)                                                                \
  case STEP_##name:                                                                                \
    return TARGETS_##goes(s->u.name##_);
    PROG_STEPS(STEP)
#undef STEP
  case STEP_COUNT_:
    break;
  }
  return NULL;
}

void prog_set_steps(program *p, prog_step *steps, u32 n, const u32 *now) {
  for (u32 t = 0; t < n; t++) {
    prog_jump *j = prog_step_jump(&steps[t]);
    for (u32 k = 0; j && k < j->n; k++) j->target[k] = now[j->target[k]];
  }
  p->steps = steps;
  p->num_steps = n;
}

bool prog_step_goes_on(const prog_step *s) {
  static const bool on[STEP_COUNT_] = {
#define ON true
#define AWAY false
#define EITHER true
#define STEP(name, type, goes, doc) [STEP_##name] = goes,
      PROG_STEPS(STEP)
#undef STEP
#undef ON
#undef AWAY
#undef EITHER
  };
  return s->kind < STEP_COUNT_ && on[s->kind];
}

bool prog_step_is_move(const program *p, const prog_step *s) {
  if (s->kind != STEP_copy) return false;
  const prog_copy *c = s->u.copy_;
  const prog_slot *src = &p->slots[c->src.slot], *dst = &p->slots[c->dst.slot];
  i64 n = 1;
  for (u32 d = c->rank; d-- > 0; n *= c->dims[d])
    if (c->dims[d] != 1 && (c->src.stride[d] != n || c->dst.stride[d] != n)) return false;
  return c->src.offset == 0 && c->dst.offset == 0 && (u64)n == src->count &&
         src->count == dst->count && dtype_size(src->type) == dtype_size(dst->type);
}

static bool same_access(const prog_loop *l, const prog_access *a, const prog_access *b) {
  if (a->offset != b->offset) return false;
  for (u32 d = 0; d < l->rank; d++)
    if (l->dims[d] > 1 && a->stride[d] != b->stride[d]) return false;
  return true;
}

/* An all-reduce writes a block of a result when it is done with that block of the operand. */
static bool reduces_in_place(const prog_collective *c, u32 in, u32 out) {
  for (u32 i = 0; i < c->n; i++)
    if ((c->in[i] == in) != (c->out[i] == out)) return false;
  return true;
}

/* LAPACK's routines overwrite an operand, which is copied to where the first result lies; our own
 * read a whole matrix, or what is left of it, before they write. */
static u32 overwritten(const prog_call *c) {
  if (c->host) return c->num_in;
  if (str_is(c->target, "cholesky")) return 0;
  if (str_is(c->target, "triangular_solve")) return 1;
  return lapack_overwritten(c->target, c->num_in);
}
static bool overwrites(const program *p, const prog_call *c, u32 in, u32 out) {
  u32 which = overwritten(c);
  if (which >= c->num_in || c->in[which].slot != in || c->out[0].slot != out) return false;
  for (u32 i = 0; i < c->num_in; i++)
    if (i != which && c->in[i].slot == in) return false;
  return p->slots[in].count == p->slots[out].count && p->slots[in].type == p->slots[out].type;
}

bool prog_step_in_place(const program *p, const prog_step *s, u32 in, u32 out) {
  if (s->kind == STEP_strips) return prog_strips_in_place(p, s->u.strips_, in, out);
  if (s->kind == STEP_collective && s->u.collective_->kind == COLL_ALL_REDUCE)
    return reduces_in_place(s->u.collective_, in, out);
  /* A line of all operands is read before any of it is written. */
  if (s->kind == STEP_sort) return s->u.sort_->keep == s->u.sort_->size;
  if (s->kind == STEP_call) return overwrites(p, s->u.call_, in, out);
  if (s->kind != STEP_loop || s->u.loop_->reduced) return false;
  const prog_loop *l = s->u.loop_;
  for (u32 o = 0; o < l->num_out; o++) {
    if (l->out[o].slot != out) continue;
    for (u32 i = 0; i < l->num_in; i++)
      if (l->in[i].slot == in && !same_access(l, &l->in[i], &l->out[o])) return false;
  }
  return true;
}

void prog_step_donors(prog_step *s, u32 out, slot_fn *fn, void *user) {
  prog_collective *c = s->kind == STEP_collective ? s->u.collective_ : NULL;
  if (!c) prog_step_slots(s, fn, user);
  for (u32 i = 0; c && i < c->n; i++)
    if (c->out[i] == out) fn(user, &c->in[i], USE_READ);
}

u32 prog_slot_owner(const program *p, u32 slot) {
  const prog_slot *s = &p->slots[slot];
  if (s->kind == SLOT_VIEW) s = &p->slots[slot = s->index];
  return s->kind == SLOT_RESULT && s->alias >= 0 ? p->param_slot[s->alias] : slot;
}

static u32 home_of_result(const program *p, const prog_slot *s) {
  return s->alias >= 0 ? 1 + (u32)s->alias : 1 + p->num_params + s->index;
}

u32 prog_slot_home(const program *p, u32 slot) {
  const prog_slot *s = &p->slots[slot];
  switch (s->kind) {
  case SLOT_PARAM:
    return 1 + s->index;
  case SLOT_RESULT:
    return home_of_result(p, s);
  case SLOT_WORK:
    return s->alias < 0 ? 0 : home_of_result(p, &p->slots[p->result_slot[s->alias]]);
  case SLOT_CONST:
  case SLOT_STRIP:
  case SLOT_VIEW:
    break;
  }
  return PROG_NONE;
}

u64 prog_slot_begin(const prog_slot *s) { return s->kind == SLOT_WORK ? s->offset : 0; }

bool prog_slots_overlap(const program *p, u32 a, u32 b) {
  if (p->slots[a].kind == SLOT_VIEW) a = p->slots[a].index;
  if (p->slots[b].kind == SLOT_VIEW) b = p->slots[b].index;
  if (a == b) return true;
  u32 home = prog_slot_home(p, a);
  if (home == PROG_NONE || home != prog_slot_home(p, b)) return false;
  const prog_slot *x = &p->slots[a], *y = &p->slots[b];
  u64 from = prog_slot_begin(x), other = prog_slot_begin(y);
  return from < other + prog_slot_bytes(y) && other < from + prog_slot_bytes(x);
}

bool prog_collective_reduces(prog_collective_kind kind) {
  static const bool reduces[COLL_COUNT_] = {
#define COLL(id, name, reduces, ...) [COLL_##id] = (reduces),
      PROG_COLLECTIVES(COLL)
#undef COLL
  };
  return kind < COLL_COUNT_ && reduces[kind];
}

static const u16 reducer_ops[REDUCE_COUNT_] = {
#define REDUCER(id, op, name) [REDUCE_##id] = VM_##op,
    PROG_REDUCERS(REDUCER)
#undef REDUCER
};

void prog_body_recognize(prog_body *body) {
  const vm_code *c = &body->code;
  if (body->kind != REDUCE_CODE || c->len != 4) return;
  const vm_instr *i = c->instrs;
  if (i[0].op != VM_load || i[1].op != VM_load || i[0].a + i[1].a != 1 || i[3].op != VM_store)
    return;
  if (i[3].a != 2 || i[2].a + i[2].b != 1 || i[2].a > 1) return;
  for (prog_reducer k = REDUCE_SUM; k < REDUCE_COUNT_; k++)
    if (reducer_ops[k] == i[2].op) body->kind = k;
  if (body->kind != REDUCE_CODE) body->code = (vm_code){0};
}

vm_op prog_body_op(prog_reducer kind) { return (vm_op)reducer_ops[kind]; }
vm_code prog_body_code(prog_reducer kind, dtype type, vm_instr storage[4]) {
  u8 t = (u8)type;
  storage[0] = (vm_instr){.op = VM_load, .type = t, .a = 0};
  storage[1] = (vm_instr){.op = VM_load, .type = t, .a = 1};
  storage[2] = (vm_instr){.op = reducer_ops[kind], .type = t, .a = 0, .b = 1};
  storage[3] = (vm_instr){.op = VM_store, .type = t, .a = 2, .b = 0};
  return (vm_code){.instrs = storage, .len = 4, .cap = 4, .num_in = 2, .num_out = 1};
}

bool prog_reducer_neutral(prog_reducer kind, dtype type, void *element) {
  dtype_class class = dtype_infos[type].kind;
  u32 bits = class == DTYPE_CLASS_BOOL ? 1 : num_int_bits(type), size = dtype_size(type);
  u64 ones = bits >= 64 ? ~0ull : (1ull << bits) - 1, low = 0, high = ones;
  bool is_float = class == DTYPE_CLASS_FLOAT, is_complex = class == DTYPE_CLASS_COMPLEX;
  dtype part = type == DTYPE_c64 ? DTYPE_f32 : type == DTYPE_c128 ? DTYPE_f64 : type;
  if (class == DTYPE_CLASS_SINT) low = ~(ones >> 1), high = ones >> 1;
  memset(element, 0, 16);
  switch (kind) {
  case REDUCE_SUM: /* -0: the sum of nothing but -0 is one */
    if (is_float || is_complex) num_from_f64(part, -0.0, element);
    if (is_complex) num_from_f64(part, -0.0, (char *)element + size / 2);
    return true;
  case REDUCE_PROD:
    num_from_f64(type, 1, element);
    return !is_complex;
  case REDUCE_MAX:
  case REDUCE_MIN:
    if (is_float)
      num_from_f64(type, kind == REDUCE_MAX ? -INFINITY : INFINITY, element);
    else
      memcpy(element, kind == REDUCE_MAX ? &low : &high, 8);
    return !is_complex;
  case REDUCE_AND:
    memcpy(element, &ones, 8);
    return !is_float && !is_complex;
  case REDUCE_OR:
  case REDUCE_XOR:
    return !is_float && !is_complex;
  default:
    return false;
  }
}

bool program_meets(const program *p) {
  for (u32 i = 0; i < p->num_steps; i++) {
    const prog_step *s = &p->steps[i];
    if (s->kind == STEP_collective) return true;
    if (s->kind == STEP_call && !s->u.call_->host &&
        str_starts(s->u.call_->target, STR("channel.")))
      return true;
  }
  return false;
}
