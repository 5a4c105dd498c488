/* Reductions that are better done otherwise than one after the other.
 *
 * Joined: those over the same dims that read the same memory and do not need one another, as sums
 * of x and of x * x are, become one loop of several results, which reads it once.
 * Cut: one of few results and many values becomes one of parts, which workers share, and one of
 * what the parts leave; so does one along memory whose rows are not in one piece. How many parts
 * there are, and with that the order in which values are combined, depends on shapes only. */
#include "num/convert.h"
#include "program/parts.h"

enum {
  WINDOW = 32,         /* steps that are looked at for one to join another */
  LEAST_JOINED = 1024, /* elements */
  MOST_JOINED = 4,     /* results */
  MOST_CODE = 96,      /* instructions of what is joined */
  MOST_PARTS = 16,     /* of one reduction */
  PART = 1 << 15,      /* elements that a part has at least; */
  MUCH = 1 << 18,      /* what is cut has so many, */
  MOST_CUT = 2048      /* and so many results at most */
};

typedef VEC(prog_step) step_list;

typedef struct former {
  arena *a;
  program *p;
  u32 *read, *written; /* by slot: the stamp */
  u32 stamp;
  size_t cap_slots;
  bool meets;
} former;

/* How many elements an access meets. */
static u64 footprint(const prog_loop *l, const prog_access *a) {
  u64 v = 1;
  for (u32 d = 0; d < l->rank; d++)
    if (a->stride[d]) v *= (u64)l->dims[d];
  return v;
}

u32 prog_loop_largest(const prog_loop *l) {
  u32 largest = 0;
  for (u32 i = 1; i < l->num_in; i++)
    if (footprint(l, &l->in[i]) > footprint(l, &l->in[largest])) largest = i;
  return largest;
}

i64 prog_loop_least_stride(const prog_loop *l, u32 first, u32 end) {
  const prog_access *in = l->num_in ? &l->in[prog_loop_largest(l)] : NULL;
  i64 least = INT64_MAX;
  for (u32 d = first; in && d < end; d++) {
    i64 s = abs_i64(in->stride[d]);
    if (s != 0 && l->dims[d] != 1 && s < least) least = s;
  }
  return least;
}

/* NULL: no reduction, or not by a known operation. */
static prog_loop *as_reduction(const prog_step *s) {
  prog_loop *l = s->kind == STEP_loop ? s->u.loop_ : NULL;
  return l && l->reduced && l->num_out && l->body.kind != REDUCE_CODE ? l : NULL;
}

/* ---- joined ---- */

static void mark_slot(void *user, u32 *slot, slot_use use) {
  former *f = user;
  u32 at = prog_slot_owner(f->p, *slot);
  if (use != USE_WRITE) f->read[at] = f->stamp;
  if (use != USE_READ) f->written[at] = f->stamp;
}
static void meet_slot(void *user, u32 *slot, slot_use use) {
  former *f = user;
  u32 at = prog_slot_owner(f->p, *slot);
  f->meets |= f->written[at] == f->stamp || (use != USE_READ && f->read[at] == f->stamp);
}
/* Whether s must stay behind the steps that are marked. */
static bool depends(former *f, prog_step *s) {
  f->meets = false;
  prog_step_slots(s, meet_slot, f);
  return f->meets;
}

static bool same_access(u32 rank, const prog_access *x, const prog_access *y) {
  return x->slot == y->slot && x->offset == y->offset &&
         (!rank || memcmp(x->stride, y->stride, rank * sizeof(i64)) == 0);
}
static u32 find_access(const prog_loop *l, const prog_access *a) {
  u32 i = 0;
  while (i < l->num_in && !same_access(l->rank, &l->in[i], a)) i++;
  return i;
}

/* Whether both go over the same elements, some of which lie in one memory, to results side by
 * side. */
static bool joins(const former *f, const prog_loop *l, const prog_loop *m) {
  u32 kept = l->rank - l->reduced;
  if (l->rank != m->rank || l->reduced != m->reduced || l->body.kind != m->body.kind) return false;
  if (memcmp(l->dims, m->dims, l->rank * sizeof(i64)) != 0) return false;
  if (kept && memcmp(l->out[0].stride, m->out[0].stride, kept * sizeof(i64)) != 0) return false;
  if (f->p->slots[l->out[0].slot].type != f->p->slots[m->out[0].slot].type) return false;
  if (l->num_out + m->num_out > MOST_JOINED || l->code.len + m->code.len > MOST_CODE) return false;
  if (l->num_in + m->num_in > 64 || vm_count_iotas(&l->code) + vm_count_iotas(&m->code) > 64)
    return false;
  u64 all = prog_volume(l->dims, l->rank);
  if (all < LEAST_JOINED) return false;
  for (u32 i = 0; i < m->num_in; i++)
    if (footprint(m, &m->in[i]) == all && find_access(l, &m->in[i]) < l->num_in) return true;
  return false;
}

static bool same_instr(const vm_code *c, const vm_instr *x, const vm_instr *y,
                       const vm_const *consts) {
  if (x->op != VM_constant || y->op != VM_constant) return memcmp(x, y, sizeof *x) == 0;
  return x->type == y->type && memcmp(&c->consts[x->a], &consts[y->a], sizeof *consts) == 0;
}

/* What m computes behind what l does; values that are there already are taken. */
static void append_code(prog_loop *l, const prog_loop *m, const u32 *input, u32 *now) {
  vm_code *c = &l->code;
  for (u32 i = 0; i < m->code.len; i++) {
    vm_instr v = m->code.instrs[i];
    u32 *args[] = {&v.a, &v.b, &v.c}, at = 0;
    u32 used = v.op == VM_store ? 1 : vm_op_infos[v.op].operands;
    for (u32 k = 0; k < used; k++) *args[k] = now[*args[k]];
    if (v.op == VM_load) v.a = input[v.a];
    if (v.op == VM_store) v.b += l->num_out;
    while (at < c->len && !same_instr(c, &c->instrs[at], &v, m->code.consts)) at++;
    now[i] = at;
    if (at < c->len) continue;
    if (v.op == VM_constant) {
      c->consts[c->num_consts] = m->code.consts[v.a];
      v.a = c->num_consts++;
    }
    c->instrs[c->len++] = v;
  }
}

/* l and m as one loop. */
static prog_loop *join(arena *a, const prog_loop *l, const prog_loop *m) {
  prog_loop *r = arena_copy(a, l, sizeof *l);
  u32 input[64], *now = ARENA_ARRAY(a, u32, m->code.len + 1);
  vm_code *c = &r->code;
  r->cap_in = l->num_in + m->num_in, r->cap_out = l->num_out + m->num_out;
  c->cap = l->code.len + m->code.len, c->cap_consts = l->code.num_consts + m->code.num_consts;
  r->in = ARENA_ARRAY(a, prog_access, r->cap_in + 1);
  r->out = ARENA_ARRAY(a, prog_access, r->cap_out);
  r->init = ARENA_ARRAY(a, u32, r->cap_out);
  c->instrs = ARENA_ARRAY(a, vm_instr, c->cap);
  c->consts = ARENA_ARRAY(a, vm_const, c->cap_consts + 1);
  if (l->num_in) memcpy(r->in, l->in, l->num_in * sizeof *l->in);
  memcpy(c->instrs, l->code.instrs, l->code.len * sizeof(vm_instr));
  if (c->num_consts) memcpy(c->consts, l->code.consts, c->num_consts * sizeof(vm_const));
  for (u32 i = 0; i < m->num_in; i++) {
    input[i] = find_access(r, &m->in[i]);
    if (input[i] == r->num_in) r->in[r->num_in++] = m->in[i];
  }
  append_code(r, m, input, now);
  memcpy(r->out, l->out, l->num_out * sizeof *l->out);
  memcpy(r->out + l->num_out, m->out, m->num_out * sizeof *m->out);
  memcpy(r->init, l->init, l->num_out * sizeof *l->init);
  memcpy(r->init + l->num_out, m->init, m->num_out * sizeof *m->init);
  r->num_out = c->num_out = r->cap_out;
  c->num_in = r->num_in;
  return r;
}

/* Reductions behind the first of these steps that may be done with it: their kind becomes `gone`.
 */
static void join_others(former *f, prog_step *s, u32 n, bool *gone) {
  prog_loop *l = as_reduction(s);
  f->stamp++;
  prog_step_slots(s, mark_slot, f);
  for (u32 k = 1; k < n; k++) {
    const prog_loop *m = gone[k] ? NULL : as_reduction(&s[k]);
    if (gone[k]) continue;
    if (m && joins(f, l, m) && !depends(f, &s[k])) {
      l = s->u.loop_ = join(f->a, l, m);
      gone[k] = true;
    }
    prog_step_slots(&s[k], mark_slot, f);
  }
}

/* ---- cut ---- */

static bool has_index(const prog_loop *l, u32 dim) {
  for (u32 i = 0; i < l->code.len; i++)
    if (l->code.instrs[i].op == VM_iota && l->code.instrs[i].a == dim) return true;
  return false;
}

/* The most parts of equal size that dim d has. */
static u32 count_parts(const prog_loop *l, u32 d, u64 most) {
  u32 n = most < MOST_PARTS ? (u32)most : MOST_PARTS;
  if (has_index(l, d)) return 1;
  while (n > 1 && l->dims[d] % n) n--;
  return n;
}

/* What is left of a part must be as exact as what is left of all. */
static bool keeps_parts(const program *p, const prog_loop *l, u64 neutral[2]) {
  dtype t = p->slots[l->out[0].slot].type;
  for (u32 o = 1; o < l->num_out; o++)
    if (p->slots[l->out[o].slot].type != t) return false;
  bool exact = num_int_bits(t) >= 8 || t == DTYPE_pred || t == DTYPE_f32 || t == DTYPE_f64 ||
               l->body.kind == REDUCE_MAX || l->body.kind == REDUCE_MIN;
  return exact && prog_reducer_neutral(l->body.kind, t, neutral);
}

/* As many as there are along a dim outside of one that is kept: what is left are rows in one piece,
 * or fewer pieces. */
static u32 parts_outside(const prog_loop *l, u32 *dim) {
  enum { FEWEST = 16 };
  u32 kept = l->rank - l->reduced, best = 1;
  const prog_access *in = &l->in[prog_loop_largest(l)];
  i64 least = prog_loop_least_stride(l, 0, kept), piece = 1;
  for (u32 d = kept; d < l->rank; d++) {
    bool outside = abs_i64(in->stride[d]) > least && !has_index(l, d);
    if (abs_i64(in->stride[d]) < least) piece *= l->dims[d];
    if (outside && l->dims[d] > best && l->dims[d] < UINT32_MAX) best = (u32)l->dims[ *dim = d];
  }
  return piece >= FEWEST ? best : 1;
}

static bool goes_along(const prog_loop *l) {
  u32 kept = l->rank - l->reduced;
  return prog_volume(l->dims, kept) >= MOST_PARTS &&
         prog_loop_least_stride(l, 0, kept) > prog_loop_least_stride(l, kept, l->rank);
}

/* How many parts, of which dim; 1: it is not cut. */
static u32 choose_parts(const prog_loop *l, u32 *dim) {
  u32 kept = l->rank - l->reduced, best = 1;
  u64 results = prog_volume(l->dims, kept), all = prog_volume(l->dims, l->rank);
  if (all < MUCH || l->rank == PROG_MAX_DIMS || l->num_in == 0) return 1;
  if (goes_along(l)) return parts_outside(l, dim);
  if (results > MOST_CUT) return 1;
  const prog_access *in = &l->in[prog_loop_largest(l)];
  for (u32 d = kept; d < l->rank; d++) {
    u32 n = count_parts(l, d, all / PART);
    bool farther = abs_i64(in->stride[d]) > abs_i64(in->stride[*dim]);
    if (n > best || (n == best && n > 1 && farther)) best = n, *dim = d;
  }
  return best;
}

static u32 new_slot(former *f, prog_slot s) {
  program *p = f->p;
  if (p->num_slots == f->cap_slots)
    p->slots = arena_grow(f->a, p->slots, p->num_slots, &f->cap_slots, sizeof *p->slots);
  p->slots[p->num_slots] = s;
  return p->num_slots++;
}

/* Which dim parts are: the first, or where memory has them if they are of one element each. */
static u32 place_of_parts(const prog_loop *l, u32 dim, u32 parts) {
  const i64 *stride = l->in[prog_loop_largest(l)].stride;
  u32 at = 0;
  while (l->dims[dim] == parts && at < l->rank - l->reduced &&
         abs_i64(stride[at]) > abs_i64(stride[dim]))
    at++;
  return at;
}

static void insert(i64 *out, const i64 *list, u32 n, u32 at, i64 x) {
  memcpy(out, list, at * sizeof *out);
  memcpy(out + at + 1, list + at, (n - at) * sizeof *out);
  out[at] = x;
}

/* An access of what has parts as dim `at`. */
static prog_access with_parts(const prog_loop *l, const prog_access *a, u32 dim, i64 inside,
                              u32 at) {
  prog_access r = {.slot = a->slot, .offset = a->offset};
  insert(r.stride, a->stride, l->rank, at, a->stride[dim] * inside);
  return r;
}

/* The results of so many parts of dim `dim`, each in a slot of its own. */
static prog_loop *reduce_parts(former *f, const prog_loop *l, u32 dim, u32 parts, u32 neutral) {
  arena *a = f->a;
  prog_loop *r = arena_copy(a, l, sizeof *l);
  u32 kept = l->rank - l->reduced, at = place_of_parts(l, dim, parts);
  i64 inside = l->dims[dim] / parts, n = 1;
  r->rank++;
  insert(r->dims, l->dims, l->rank, at, parts);
  r->dims[1 + dim] = inside;
  r->in = ARENA_ARRAY(a, prog_access, l->num_in + 1);
  r->out = arena_zalloc(a, l->num_out * sizeof *r->out);
  r->init = ARENA_ARRAY(a, u32, l->num_out);
  r->cap_in = l->num_in, r->cap_out = l->num_out;
  for (u32 i = 0; i < l->num_in; i++) r->in[i] = with_parts(l, &l->in[i], dim, inside, at);
  for (u32 d = kept + 1; d-- > 0; n *= r->dims[d]) r->out[0].stride[d] = n;
  for (u32 o = 0; o < l->num_out; o++) {
    dtype t = f->p->slots[l->out[o].slot].type;
    r->out[o] = r->out[0];
    r->out[o].slot =
        new_slot(f, (prog_slot){.kind = SLOT_WORK, .type = t, .alias = -1, .count = (u64)n});
    r->init[o] = neutral;
  }
  r->code.instrs = arena_copy(a, l->code.instrs, l->code.len * sizeof(vm_instr));
  for (u32 i = 0; i < r->code.len; i++)
    if (r->code.instrs[i].op == VM_iota && r->code.instrs[i].a >= at) r->code.instrs[i].a++;
  return r;
}

/* The results of l, of those of its parts, which are dim `at`. */
static prog_loop *reduce_results(former *f, const prog_loop *l, const prog_loop *of, u32 at) {
  arena *a = f->a;
  prog_loop *r = arena_copy(a, l, sizeof *l);
  u32 kept = l->rank - l->reduced, n = l->num_out;
  dtype t = f->p->slots[l->out[0].slot].type;
  r->rank = kept + 1, r->reduced = 1;
  r->dims[kept] = of->dims[at];
  r->in = arena_zalloc(a, n * sizeof *r->in);
  r->num_in = r->cap_in = n;
  r->code = (vm_code){.instrs = ARENA_ARRAY(a, vm_instr, 2 * n), .len = 2 * n, .cap = 2 * n};
  r->code.num_in = r->code.num_out = n;
  for (u32 o = 0; o < n; o++) {
    r->in[o].slot = of->out[o].slot;
    const i64 *stride = of->out[o].stride;
    for (u32 d = 0; d < kept; d++) r->in[o].stride[d] = stride[d + (d >= at)];
    r->in[o].stride[kept] = stride[at];
    r->code.instrs[2 * o] = (vm_instr){.op = VM_load, .type = (u8)t, .a = o};
    r->code.instrs[2 * o + 1] = (vm_instr){.op = VM_store, .type = (u8)t, .a = 2 * o, .b = o};
  }
  return r;
}

static void cut(former *f, const prog_step *s, step_list *out) {
  const prog_loop *l = as_reduction(s);
  u64 neutral[2];
  u32 dim = l ? l->rank - l->reduced : 0;
  u32 parts = l && keeps_parts(f->p, l, neutral) ? choose_parts(l, &dim) : 1;
  if (parts == 1) {
    VEC_PUSH(f->a, *out, *s);
    return;
  }
  prog_step first = *s, second = *s;
  dtype t = f->p->slots[l->out[0].slot].type;
  u64 *element = arena_alloc_aligned(f->a, sizeof neutral, 64);
  memcpy(element, neutral, sizeof neutral);
  u32 init = new_slot(
      f, (prog_slot){.kind = SLOT_CONST, .type = t, .alias = -1, .count = 1, .data = element});
  first.u.loop_ = reduce_parts(f, l, dim, parts, init);
  second.u.loop_ = reduce_results(f, l, first.u.loop_, place_of_parts(l, dim, parts));
  if (goes_along(l)) /* there may be more such dims */
    cut(f, &first, out);
  else
    VEC_PUSH(f->a, *out, first);
  VEC_PUSH(f->a, *out, second);
}

/* ---- all of a program ---- */

/* How many steps from t on may change places: none jumps, or is jumped to, or meets others. */
static u32 straight(const program *p, u32 t, const bool *target) {
  u32 n = 1;
  while (n < WINDOW && t + n < p->num_steps && !target[t + n]) {
    const prog_step *s = &p->steps[t + n - 1];
    if (prog_step_jump(s) || s->kind == STEP_collective || s->kind == STEP_call) break;
    n++;
  }
  return n;
}

void prog_form_reductions(arena *a, program *p) {
  u32 n = p->num_steps;
  former f = {.a = a, .p = p, .cap_slots = p->num_slots};
  step_list out = {0};
  f.read = arena_zalloc(a, (p->num_slots + 1) * sizeof(u32));
  f.written = arena_zalloc(a, (p->num_slots + 1) * sizeof(u32));
  bool *target = arena_zalloc(a, n + 1), *gone = arena_zalloc(a, n + 1);
  u32 *now = ARENA_ARRAY(a, u32, n + 1);
  for (u32 t = 0; t < n; t++) {
    const prog_jump *j = prog_step_jump(&p->steps[t]);
    for (u32 k = 0; j && k < j->n; k++) target[j->target[k]] = true;
  }
  for (u32 t = 0; t < n; t++)
    if (!gone[t] && as_reduction(&p->steps[t]))
      join_others(&f, &p->steps[t], straight(p, t, target), gone + t);
  for (u32 t = 0; t < n; t++) {
    now[t] = (u32)out.len;
    if (!gone[t]) cut(&f, &p->steps[t], &out);
  }
  now[n] = (u32)out.len;
  prog_set_steps(p, out.data, (u32)out.len, now);
}
