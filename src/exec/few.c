/* Steps over a few elements, of loops of which all is short, as operations on single ones: a call
 * would take longer than they do. Bits are those of the step, so that it does not matter which of
 * the two runs: sums of fewer than FOLD_RUNNING values are added up as fold_order.h says, whose
 * running sums are then the values; a product's terms one after the other, as in dot_own.c. */
#include "exec/dot.h"
#include "exec/scalar_build.h"
#include "exec/unroll.h"

enum { MOST_ELEMENTS = 9, MOST_MOVED = 16, MOST_SUMMED = 16, MOST_OPS = 96 };

static u64 volume(const i64 *dims, u32 rank) {
  u64 n = 1;
  for (u32 d = 0; d < rank && n <= MOST_OPS; d++) n *= (u64)dims[d];
  return n;
}
bool scalar_next_index(i64 *index, const i64 *dims, u32 rank) {
  for (u32 d = rank; d-- > 0; index[d] = 0)
    if (++index[d] < dims[d]) return true;
  return false;
}

/* ---- loops ---- */

/* The registers of a unit's calls as those of the list. */
typedef struct mapped {
  const vm_unit *u;
  u32 *reg;
  u8 *class; /* by register: of what a temporary has last */
} mapped;

/* Temporaries that may be in the same register. */
enum { FLOATS = 8, DOUBLES, OTHERS, CLASSES }; /* else: by the logarithm of their width */
static u32 class_of(u32 type) {
  return type == R_f32   ? FLOATS
         : type == R_f64 ? DOUBLES
                         : vm_log2_width(vm_rtype_size((vm_rtype)type));
}

/* They are in the same place in all steps, which is none in memory. */
static u32 add_temporary(scalar_builder *b, u32 class, u32 number) {
  enum { APART = 1 << 24 }; /* from those in scratch */
  size_t at = APART + (number * CLASSES + class) * (size_t)16;
  return scalar_add_reg(b, (scalar_reg){.slot = PROG_NONE, .at = at});
}

/* Of what a call leaves; of what is only moved that of an operand. */
static u32 class_of_call(const mapped *m, const vm_call *c, scalar_is is) {
  if (is.kind == SCALAR_KERNEL && !is.call) return OTHERS;
  if (is.kind != SCALAR_SELECT && is.kind != SCALAR_COPY) return class_of(scalar_result_type(is));
  u32 from = is.kind == SCALAR_SELECT ? c->b : c->a;
  return m->class[from] ? m->class[from] : is.of;
}

static void add_call(scalar_builder *b, mapped *m, const vm_call *c) {
  const vm_unit *u = m->u;
  u32 none = u->num_regs - 1;
  scalar_op op = {.u.kernel = c->fn};
  op.fn = scalar_find_call(b->e->k, c, &op.is);
  op.a = c->a == none ? REG_NULL : m->reg[c->a];
  op.b = c->b == none ? REG_NULL : m->reg[c->b];
  op.c = c->c == none ? REG_NULL : m->reg[c->c];
  m->class[c->d] = (u8)class_of_call(m, c, op.is);
  if (c->d >= u->first_slot && c->d < u->first_slot + u->num_slots)
    m->reg[c->d] = add_temporary(b, m->class[c->d], c -> d - u -> first_slot);
  op.d = m->reg[c->d];
  scalar_add_op(b, op);
}

static void map_iota(scalar_builder *b, mapped *m, const vm_iota_use *use, const i64 *index) {
  char *value = arena_zalloc(b->e->a, 16);
  i64 at = index[use->dim], zero = 0;
  b->e->k->iota[use->type](1, value, &at, &zero, NULL);
  m->reg[use->reg] = scalar_add_reg(b, (scalar_reg){.fixed = value});
}

/* Element `index`; where its values are is in m then. */
static void add_element(scalar_builder *b, mapped *m, const prog_loop *l, const i64 *index) {
  const vm_unit *u = m->u;
  const prog_slot *slots = b->e->prog->slots;
  for (u32 i = 0; i < l->num_in; i++) {
    m->reg[i] = scalar_add_access(b, &l->in[i], index, l->rank);
    m->class[i] = (u8)class_of(vm_rtype_of(slots[l->in[i].slot].type));
  }
  for (u32 o = 0; o < l->num_out && !l->reduced; o++)
    m->reg[l->num_in + o] = scalar_add_access(b, &l->out[o], index, l->rank);
  for (u32 i = 0; i < u->num_iotas; i++) map_iota(b, m, &u->iotas[i], index);
  for (u32 i = 0; i < u->num_calls; i++) add_call(b, m, &u->calls[i]);
}
static mapped begin_elements(scalar_builder *b, const prog_loop *l) {
  mapped m = {.u = scalar_lower_loop(b->e, l)};
  const vm_unit *u = m.u;
  m.reg = ARENA_ARRAY(b->e->a, u32, u->num_regs + 1);
  m.class = arena_zalloc(b->e->a, u->num_regs + 1);
  for (u32 i = 0; i < u->num_consts; i++)
    m.reg[u->first_const + i] = scalar_add_reg(b, (scalar_reg){.fixed = u->consts[i]});
  return m;
}

static void add_elements(scalar_builder *b, const prog_loop *l) {
  i64 index[PROG_MAX_DIMS] = {0};
  mapped m = begin_elements(b, l);
  do {
    add_element(b, &m, l, index);
    for (u32 o = 0; o < l->num_out; o++) {
      const vm_output *out = &m.u->outputs[o];
      if (!out->in_place && out->reg != l->num_in + o)
        scalar_add_copy(b, m.reg[l->num_in + o], m.reg[out->reg], out->width);
    }
  } while (scalar_next_index(index, l->dims, l->rank));
}

/* ---- sums ---- */

static void add_binary(scalar_builder *b, vm_op op, dtype t, u32 d, u32 x, u32 y) {
  scalar_op o = {.d = d, .a = x, .b = y, .c = REG_NULL};
  o.fn = scalar_find_fast(b->e->k, b->e->k->binary[op][vm_rtype_of(t)][FORM_VV], &o.is);
  scalar_add_op(b, o);
}
static u32 add_zero(scalar_builder *b) {
  return scalar_add_reg(b, (scalar_reg){.fixed = arena_zalloc(b->e->a, 16)});
}

/* What n registers, temporaries but where there is one only, add up to; then of `first` and it. */
static void add_sum(scalar_builder *b, dtype t, u32 *value, u32 n, u32 first, u32 to) {
  for (u32 half = MOST_SUMMED / 2; half > 0; half /= 2) {
    for (u32 i = 0; i < half && half + i < n; i++)
      add_binary(b, VM_add, t, value[i], value[i], value[half + i]);
    if (n > half) n = half;
  }
  add_binary(b, VM_add, t, to, first, value[0]);
}

/* Temporaries that the operations of an element do not use. */
static u32 add_summed(scalar_builder *b, dtype t, u32 which) {
  enum { BEHIND = 2 * MOST_OPS };
  return add_temporary(b, class_of(vm_rtype_of(t)), BEHIND + which);
}

static void add_sums(scalar_builder *b, const prog_loop *l) {
  i64 index[PROG_MAX_DIMS] = {0};
  u32 kept = l->rank - l->reduced, value[MOST_SUMMED], n;
  dtype t = b->e->prog->slots[l->out[0].slot].type;
  mapped m = begin_elements(b, l);
  u32 first = l->init ? scalar_add_reg(b, (scalar_reg){.slot = l->init[0]}) : add_zero(b);
  do {
    n = 0;
    do {
      add_element(b, &m, l, index);
      value[n] = add_summed(b, t, n);
      scalar_add_copy(b, value[n++], m.reg[m.u->outputs[0].reg], (u32)dtype_size(t));
    } while (scalar_next_index(index + kept, l->dims + kept, l->reduced));
    add_sum(b, t, value, n, first, scalar_add_access(b, &l->out[0], index, l->rank));
  } while (scalar_next_index(index, l->dims, kept));
}

/* ---- products ---- */

/* The operand's element, by the dims of the product. */
static u32 add_factor(scalar_builder *b, u32 slot, i64 offset, const i64 *stride, const i64 *index,
                      u32 rank) {
  prog_access a = {.slot = slot, .offset = offset};
  memcpy(a.stride, stride, rank * sizeof(i64));
  return scalar_add_access(b, &a, index, rank);
}

/* All terms of an element of the result. */
static void add_terms(scalar_builder *b, const prog_dot *d, i64 *index, u32 zero) {
  u32 kept = d->nb + d->nm + d->nn, rank = kept + d->nk, value[MOST_SUMMED], n = 0;
  dtype t = b->e->prog->slots[d->out].type;
  u64 terms = volume(d->dims + kept, d->nk);
  u32 to = add_factor(b, d->out, d->out_offset, d->out_stride, index, kept);
  bool vectors = volume(d->dims, kept) == 1;
  u32 sum = add_summed(b, t, MOST_SUMMED);
  do {
    u32 x = add_factor(b, d->lhs, d->lhs_offset, d->lhs_stride, index, rank);
    u32 y = add_factor(b, d->rhs, d->rhs_offset, d->rhs_stride, index, rank);
    if (vectors) {
      value[n] = add_summed(b, t, n);
      add_binary(b, VM_mul, t, value[n++], x, y);
      continue;
    }
    scalar_op op = {.a = x, .b = y, .c = n == 0 ? zero : sum};
    op.d = ++n == terms ? to : sum;
    op.is = (scalar_is){SCALAR_FMA, VM_mul, (u8)vm_rtype_of(t), 0};
    scalar_add_op(b, op);
  } while (scalar_next_index(index + kept, d->dims + kept, d->nk));
  if (vectors) add_sum(b, t, value, n, zero, to);
}
static void add_product(scalar_builder *b, const prog_dot *d) {
  i64 index[PROG_MAX_DIMS] = {0};
  u32 zero = add_zero(b);
  do add_terms(b, d, index, zero);
  while (scalar_next_index(index, d->dims, d->nb + d->nm + d->nn));
}

static void add_copies(scalar_builder *b, const prog_copy *c) {
  i64 index[PROG_MAX_DIMS] = {0};
  u32 width = (u32)dtype_size(b->e->prog->slots[c->src.slot].type);
  do {
    u32 to = scalar_add_access(b, &c->dst, index, c->rank);
    scalar_add_copy(b, to, scalar_add_access(b, &c->src, index, c->rank), width);
  } while (scalar_next_index(index, c->dims, c->rank));
}

/* ---- which ---- */

static bool is_real(dtype t) { return t == DTYPE_f32 || t == DTYPE_f64; }

/* Each operation is known, and not too many are. */
static bool is_fast(const lower_env *e, const prog_loop *l) {
  u64 n = volume(l->dims, l->rank);
  lower_fault fault = {0};
  lower_env asking = *e;
  asking.fault = &fault;
  if (l->num_out == 0 || l->num_out > 64 || n * l->code.len > 4 * MOST_OPS) return false;
  const vm_unit *u = scalar_lower_loop(&asking, l); /* loads and stores are no operations then */
  if (n * u->num_calls > MOST_OPS) return false;
  for (u32 i = 0; i < u->num_calls; i++) {
    scalar_is is;
    scalar_find_fast(e->k, u->calls[i].fn, &is);
    if (is.kind == SCALAR_KERNEL) return false;
  }
  return !fault.op && !fault.words;
}

/* The step adds rows up, each by itself (reduce.c). */
static bool is_sum_of_rows(const lower_env *e, const prog_loop *l) {
  enum { ROWS = 8 };
  u32 kept = l->rank - l->reduced;
  u64 rows = volume(l->dims, kept);
  if (l->num_out != 1 || l->body.kind != REDUCE_SUM || rows >= ROWS) return false;
  return is_real(e->prog->slots[l->out[0].slot].type) &&
         volume(l->dims + kept, l->reduced) <= MOST_SUMMED && (rows == 1 || reduce_goes_along(l));
}

/* A reduction to the largest or the smallest, whose bits no order changes, or by code, which the
 * step does in this order as well, as elements of code that is not reduced. */
static bool unroll_few(const lower_env *e, const prog_loop *l, prog_loop *out) {
  bool any =
      l->body.kind == REDUCE_CODE || l->body.kind == REDUCE_MAX || l->body.kind == REDUCE_MIN;
  return any && unroll_loop(e, l, true, out);
}

static bool is_few_loop(const lower_env *e, const prog_loop *l) {
  u64 n = volume(l->dims, l->rank), most = l->reduced ? MOST_SUMMED : MOST_ELEMENTS;
  prog_loop unrolled;
  if (n == 0 || n > most) return false;
  if (!l->reduced || is_sum_of_rows(e, l)) return is_fast(e, l);
  return unroll_few(e, l, &unrolled) && is_fast(e, &unrolled);
}

static bool is_few_product(const lower_env *e, const prog_dot *d, const exec_step *x) {
  enum { TERMS = 64 };
  const prog_slot *s = e->prog->slots;
  u32 kept = d->nb + d->nm + d->nn, long_dims = 0;
  dtype t = s[d->out].type;
  u64 results = volume(d->dims, kept), terms = volume(d->dims + kept, d->nk);
  if (!is_real(t) || s[d->lhs].type != t || s[d->rhs].type != t || kept + d->nk > PROG_MAX_DIMS)
    return false;
  for (u32 i = 0; i < d->nk; i++) long_dims += d->dims[kept + i] != 1;
  return (volume(d->dims, d->nb) == 1 || dot_small_is_in_order(x)) && results > 0 &&
         long_dims <= 1 && d->nk > 0 && results * terms <= TERMS &&
         (results > 1 || terms <= MOST_SUMMED);
}

static bool is_few_copy(const lower_env *e, const prog_copy *c) {
  u64 n = volume(c->dims, c->rank), width = dtype_size(e->prog->slots[c->src.slot].type);
  return n > 1 && n <= MOST_MOVED && (width == 4 || width == 8);
}

static bool is_few(const lower_env *e, const prog_step *s, const exec_step *x) {
  if (scalar_sees_views(e->prog, s)) return false;
  return s->kind == STEP_loop   ? is_few_loop(e, s->u.loop_)
         : s->kind == STEP_dot  ? is_few_product(e, s->u.dot_, x)
         : s->kind == STEP_copy ? is_few_copy(e, s->u.copy_)
                                : false;
}

/* Which steps use a slot, and how. */
enum { FEW_READ = 1, FEW_WRITE = 2, OTHER_READ = 4, OTHER_WRITE = 8, SHIFT_OTHER = 2 };
typedef struct slot_users {
  u8 *of; /* by slot */
  bool other, apart;
} slot_users;
static void note_user(void *user, u32 *slot, slot_use use) {
  slot_users *s = user;
  u8 bits = use == USE_READ ? FEW_READ : FEW_READ | FEW_WRITE;
  s->of[*slot] |= (u8)(s->other ? bits << SHIFT_OTHER : bits);
}
static void check_users(void *user, u32 *slot, slot_use use) {
  slot_users *s = user;
  u8 x = s->of[*slot];
  (void)use;
  if (((x & FEW_WRITE) && (x & OTHER_READ)) || ((x & FEW_READ) && (x & OTHER_WRITE)))
    s->apart = false;
}

const bool *scalar_find_few(const lower_env *e, const exec_step *steps, const bool *in_loop) {
  const program *p = e->prog;
  bool *few = arena_zalloc(e->a, p->num_steps + 1), changed = true;
  for (u32 i = 0; i < p->num_steps; i++) few[i] = in_loop[i] && is_few(e, &p->steps[i], &steps[i]);
  while (changed) {
    slot_users users = {.of = arena_zalloc(e->a, p->num_slots + 1)};
    changed = false;
    for (u32 i = 0; i < p->num_steps; i++) {
      bool moves = p->steps[i].kind == STEP_dynamic;
      users.other = !few[i] && !scalar_is_single(p, i);
      if (in_loop[i] && !moves) prog_step_slots(&p->steps[i], note_user, &users);
    }
    for (u32 i = 0; i < p->num_steps; i++) {
      bool called = steps[i].direct && !steps[i].direct->placed;
      if (!few[i] || (!called && p->steps[i].kind != STEP_copy)) continue;
      users.apart = true;
      prog_step_slots(&p->steps[i], check_users, &users);
      if (!users.apart) few[i] = false, changed = true;
    }
  }
  return few;
}

void scalar_add_few(scalar_builder *b, const prog_step *s) {
  prog_loop unrolled;
  if (s->kind == STEP_dot)
    add_product(b, s->u.dot_);
  else if (s->kind == STEP_copy)
    add_copies(b, s->u.copy_);
  else if (s->u.loop_->reduced && unroll_few(b->e, s->u.loop_, &unrolled))
    add_elements(b, &unrolled);
  else if (s->u.loop_->reduced)
    add_sums(b, s->u.loop_);
  else
    add_elements(b, s->u.loop_);
}
