/* Reductions and cumulative ones of a few elements as elementwise code: each of these is an input,
 * or an output, of its own, so that what is in between stays in registers, and many rows, or
 * columns, are done at once. */
#include "exec/unroll.h"

#include "exec/combine.h"
#include "exec/fold_order.h"
#include "exec/loop.h"
#include "num/convert.h"

enum {
  MOST = COMBINE_FEW, /* elements */
  MOST_COLUMNS = 32,  /* the same by columns, which are in order up to COMBINE_RUN */
  MOST_INPUTS = 63,
  MOST_OUTPUTS = 32,
  MOST_CODE = 768, /* instructions; by columns twice as many */
  FEWEST = 64,     /* results of a reduction by rows */
  FEW = 1024       /* of one by columns */
};

/* An integer, or a truth, that is between two others. */
typedef struct range {
  bool known;
  i64 low, high;
} range;

typedef struct unrolled {
  const lower_env *e;
  prog_loop l; /* what becomes of it */
  range *of;   /* by value */
} unrolled;

static void begin(unrolled *u, const lower_env *e, u32 inputs, u32 outputs, u32 code) {
  *u = (unrolled){.e = e};
  u->l.in = ARENA_ARRAY(e->a, prog_access, inputs + 1);
  u->l.out = ARENA_ARRAY(e->a, prog_access, outputs + 1);
  u->l.code.instrs = ARENA_ARRAY(e->a, vm_instr, code);
  u->l.code.consts = ARENA_ARRAY(e->a, vm_const, code);
  u->l.code.cap = u->l.code.cap_consts = code;
  u->of = arena_zalloc(e->a, code * sizeof *u->of);
}

static u32 add(unrolled *u, vm_instr v) {
  u->l.code.instrs[u->l.code.len] = v;
  return u->l.code.len++;
}
static u32 add_const(unrolled *u, dtype t, vm_const bits) {
  vm_code *c = &u->l.code;
  dtype_class class = dtype_infos[t].kind;
  bool integer = class == DTYPE_CLASS_SINT || class == DTYPE_CLASS_UINT || t == DTYPE_pred;
  c->consts[c->num_consts] = bits;
  u32 v = add(u, (vm_instr){.op = VM_constant, .type = (u8)t, .a = c->num_consts++});
  i64 n = integer ? step_read_index(t, &bits, 0) : 0;
  u->of[v] = (range){integer && n < INT64_MAX, n, n}; /* that may stand for others */
  return v;
}
static u32 add_truth(unrolled *u, bool truth) {
  return add_const(u, DTYPE_pred, (vm_const){truth, 0});
}
static u32 add_load(unrolled *u, const prog_access *a) {
  dtype t = u->e->prog->slots[a->slot].type;
  u->l.in[u->l.num_in] = *a;
  u->l.code.num_in++;
  return add(u, (vm_instr){.op = VM_load, .type = (u8)t, .a = u->l.num_in++});
}
static void add_store(unrolled *u, const prog_access *a, u32 value) {
  u8 t = u->l.code.instrs[value].type;
  u->l.out[u->l.num_out] = *a;
  u->l.code.num_out++;
  add(u, (vm_instr){.op = VM_store, .type = t, .a = value, .b = u->l.num_out++});
}

/* The index that is the same in all rounds. */
static u32 add_iota(unrolled *u, vm_instr v) {
  for (u32 i = 0; i < u->l.code.len; i++)
    if (memcmp(&u->l.code.instrs[i], &v, sizeof v) == 0) return i;
  return add(u, v);
}

/* The one element of a slot. */
static u32 add_initial(unrolled *u, u32 slot) {
  const prog_slot *s = &u->e->prog->slots[slot];
  vm_const bits = {0, 0};
  if (s->kind != SLOT_CONST || !s->data) return add_load(u, &(prog_access){.slot = slot});
  memcpy(&bits, s->data, dtype_size(s->type));
  return add_const(u, s->type, bits);
}

/* ---- what is known before it runs: of indices, which of two comes first ---- */

/* 1 or 0: it is so, or not. */
static int compared(vm_op op, range x, range y) {
  bool below = x.high<y.low, above = x.low> y.high;
  if (!x.known || !y.known) return -1;
  if (op == VM_lt || op == VM_ge) {
    if (below || x.low >= y.high) return below == (op == VM_lt);
  } else if (op == VM_gt || op == VM_le) {
    if (above || x.high <= y.low) return above == (op == VM_gt);
  } else if (op == VM_eq || op == VM_ne) {
    if (below || above) return op == VM_ne;
  }
  return -1;
}

static bool is_of(const vm_instr *i, vm_op op, u32 x, u32 y) {
  return i->op == op && i->a == x && i->b == y;
}
/* What is greater or equal by one comparison, and the greater of two integers by none. */
static void make_less(const vm_code *c, vm_instr *v, dtype of) {
  static const struct {
    u16 than, or_equal, choice;
  } ops[] = {{VM_gt, VM_ge, VM_max}, {VM_lt, VM_le, VM_min}};
  const vm_instr *p = &c->instrs[v->a];
  dtype_class class = dtype_infos[v->type].kind;
  bool integers = class == DTYPE_CLASS_SINT || class == DTYPE_CLASS_UINT;
  for (u32 k = 0; k < COUNT(ops); k++) {
    if (p->op != ops[k].than) continue;
    if (v->op == VM_or && of == DTYPE_pred && is_of(&c->instrs[v->b], VM_eq, p->a, p->b))
      *v = (vm_instr){.op = ops[k].or_equal, .type = v->type, .a = p->a, .b = p->b};
    else if (v->op == VM_select && integers && p->a == v->b && p->b == v->c)
      *v = (vm_instr){.op = ops[k].choice, .type = v->type, .a = p->a, .b = p->b};
    return;
  }
}

/* An instruction, or a value that is the same. */
static u32 add_known(unrolled *u, vm_instr v) {
  static const range unknown = {0};
  u32 n = vm_op_infos[v.op].operands;
  range x = u->of[v.a], y = n > 1 ? u->of[v.b] : unknown, z = n > 2 ? u->of[v.c] : unknown;
  dtype t = (dtype)u->l.code.instrs[v.a].type;
  dtype_class class = dtype_infos[t].kind;
  bool of_float = class == DTYPE_CLASS_FLOAT || class == DTYPE_CLASS_COMPLEX;
  if (vm_op_infos[v.op].result == VM_PRED && n == 2) {
    int truth = compared((vm_op)v.op, x, y);
    if (truth < 0 && v.op == VM_ne && v.a == v.b && !of_float) truth = 0;
    if (truth >= 0) return add_truth(u, truth);
  }
  if (t == DTYPE_pred && (v.op == VM_and || v.op == VM_or)) {
    bool neutral = v.op == VM_and;
    if (x.known && x.low == x.high) return (x.low != 0) == neutral ? v.b : v.a;
    if (y.known && y.low == y.high) return (y.low != 0) == neutral ? v.a : v.b;
  }
  if (v.op == VM_select && x.known && x.low == x.high) return x.low ? v.b : v.c;
  make_less(&u->l.code, &v, t);
  u32 value = add(u, v);
  if (n == 3 && v.op == VM_select && y.known && z.known)
    u->of[value] = (range){true, min_i64(y.low, z.low), max_i64(y.high, z.high)};
  return value;
}

/* ---- code once more ---- */

/* With values for its loads, and with index[d] in dim first + d; what it stores. */
static void splice(unrolled *u, const vm_code *from, const u32 *loads, u32 first, const i64 *index,
                   u32 *stores) {
  u32 *now = ARENA_ARRAY(u->e->a, u32, from->len + 1);
  for (u32 i = 0; i < from->len; i++) {
    vm_instr v = from->instrs[i];
    u32 *args[] = {&v.a, &v.b, &v.c}, used = vm_op_infos[v.op].operands;
    vm_const bits = {0, 0};
    if (v.op == VM_load) {
      now[i] = loads[v.a];
    } else if (v.op == VM_store) {
      stores[v.b] = now[v.a];
    } else if (v.op == VM_constant) {
      now[i] = add_const(u, (dtype)v.type, from->consts[v.a]);
    } else if (v.op == VM_iota && v.a >= first) {
      num_from_f64((dtype)v.type, (double)index[v.a - first], &bits);
      now[i] = add_const(u, (dtype)v.type, bits);
    } else {
      for (u32 k = 0; k < used; k++) *args[k] = now[*args[k]];
      now[i] = v.op == VM_iota ? add_iota(u, v) : add_known(u, v);
    }
  }
}

typedef struct joint {
  const vm_code *code;
  u32 n; /* operands */
} joint;

/* to = body(left, right); `to` may be one of them. */
static void join(unrolled *u, joint j, const u32 *left, const u32 *right, u32 *to) {
  u32 loads[2 * COMBINE_OPERANDS], stores[COMBINE_OPERANDS];
  memcpy(loads, left, j.n * sizeof *left);
  memcpy(loads + j.n, right, j.n * sizeof *right);
  splice(u, j.code, loads, 0, NULL, stores);
  memcpy(to, stores, j.n * sizeof *to);
}

/* ---- reductions ---- */

/* Small floats are rounded where a reduction would not, unless there is nothing to round. */
static bool is_exact(const vm_code *c) {
  for (u32 i = 0; i < c->len; i++) {
    const vm_instr *v = &c->instrs[i];
    bool moves = v->op == VM_load || v->op == VM_store || v->op == VM_select;
    bool small = num_is_small_float((dtype)v->type);
    if (small && !vm_reduces_wide((dtype)v->type)) return false;
    if (small && !moves && !(vm_op_infos[v->op].traits & VM_EXACT)) return false;
    if (v->op == VM_iota) return false;
  }
  return true;
}

/* The values of element k: its index, and of each input the place of it. */
static void find_index(const prog_loop *l, u64 k, i64 *index) {
  u32 kept = l->rank - l->reduced;
  for (u32 d = l->reduced; d-- > 0; k /= (u64)l->dims[kept + d])
    index[d] = (i64)(k % (u64)l->dims[kept + d]);
}

/* Loads of all elements of an input, those of one behind those of another. */
static void load_input(unrolled *u, const prog_loop *l, u32 in, u64 n, u32 *loads) {
  u32 kept = l->rank - l->reduced;
  for (u64 k = 0; k < n; k++) {
    prog_access a = l->in[in];
    i64 index[PROG_MAX_DIMS], at = 0;
    find_index(l, k, index);
    for (u32 d = 0; d < l->reduced; d++) at += index[d] * a.stride[kept + d];
    a.offset += at;
    bool again = k > 0 && at == 0;
    loads[k * l->num_in + in] = again ? loads[in] : add_load(u, &a);
  }
}

/* Whether rows as they are stored take less so than side by side, with what is there for rows. */
static bool are_few(const lower_env *e, const prog_loop *l, u64 n) {
  enum { FEW = 8 };
  dtype t = e->prog->slots[l->out[0].slot].type;
  prog_reducer kind = l->body.kind;
  bool has_rows = e->k->fold_rows[vm_rtype_of(t)] &&
                  (kind == REDUCE_SUM || kind == REDUCE_MAX || kind == REDUCE_MIN);
  return reduce_goes_along(l) && !num_is_small_float(t) && (n <= FEW || !has_rows);
}

typedef enum way { BY_ROWS, BY_COLUMNS, FOLDED } way;
static bool unroll(const lower_env *e, const prog_loop *l, way by, prog_loop *out) {
  bool columns = by != BY_ROWS;
  u32 kept = l->rank - l->reduced;
  u64 n = prog_volume(l->dims + kept, l->reduced), results = prog_volume(l->dims, kept);
  vm_instr storage[4];
  vm_code known;
  joint j = {&l->body.code, l->num_out};
  unrolled u;
  u32 left[COMBINE_OPERANDS], right[COMBINE_OPERANDS], value[FOLD_RUNNING];
  if (!l->init || n < 2 || n > (columns ? MOST_COLUMNS : MOST) || j.n > COMBINE_OPERANDS)
    return false;
  if (l->body.kind != REDUCE_CODE) {
    if (l->num_out > 1 || (l->code.len == 2 && !columns && !are_few(e, l, n))) return false;
    known = prog_body_code(l->body.kind, e->prog->slots[l->out[0].slot].type, storage);
    j.code = &known;
  }
  u64 code = (n + 1) * (l->num_in + l->code.len + 2 * j.code->len + 2 * j.n);
  if (n * l->num_in + j.n > MOST_INPUTS || j.n > MOST_OUTPUTS || code > (u64)MOST_CODE << columns)
    return false;
  if ((columns ? results > FEW : results < FEWEST) || !is_exact(j.code)) return false;
  begin(&u, e, (u32)n * l->num_in + j.n, j.n, (u32)code);
  u.l.rank = kept;
  memcpy(u.l.dims, l->dims, kept * sizeof *l->dims);
  u32 *loads = ARENA_ARRAY(e->a, u32, n * l->num_in + 1);
  for (u32 i = 0; i < l->num_in; i++) load_input(&u, l, i, n, loads);
  for (u32 o = 0; o < j.n; o++) left[o] = add_initial(&u, l->init[o]);
  for (u64 k = 0; k < n; k++) {
    i64 index[PROG_MAX_DIMS];
    find_index(l, k, index);
    splice(&u, &l->code, loads + k * l->num_in, kept, index, right);
    if (by == FOLDED)
      value[k] = right[0];
    else
      join(&u, j, left, right, left);
  }
  for (u64 half = FOLD_RUNNING / 2; by == FOLDED && half > 0; half /= 2)
    for (u64 k = 0; k < half && k + half < n; k++)
      join(&u, j, &value[k], &value[k + half], &value[k]);
  if (by == FOLDED) join(&u, j, left, value, left);
  for (u32 o = 0; o < j.n; o++) add_store(&u, &l->out[o], left[o]);
  *out = u.l;
  return true;
}
bool unroll_loop(const lower_env *e, const prog_loop *l, bool columns, prog_loop *out) {
  return unroll(e, l, columns ? BY_COLUMNS : BY_ROWS, out);
}
bool unroll_rows(const lower_env *e, const prog_loop *l, prog_loop *out) {
  return l->num_out == 1 && l->body.kind != REDUCE_CODE && unroll(e, l, FOLDED, out);
}
bool unroll_reduce(const lower_env *e, const prog_loop *l, bool columns, exec_step *out) {
  prog_loop unrolled;
  if (!unroll_loop(e, l, columns, &unrolled)) return false;
  loop_lower(e, &unrolled, out);
  return true;
}

/* ---- cumulative ones ---- */

bool unroll_scan(const lower_env *e, const prog_window *w, u32 dim, bool backward, exec_step *out) {
  u64 n = (u64)w->dims[dim], lines = prog_volume(w->dims, w->rank) / n;
  vm_instr storage[4];
  vm_code known;
  joint j = {&w->body.code, w->n};
  if (w->body.kind != REDUCE_CODE) {
    known = prog_body_code(w->body.kind, e->prog->slots[w->in[0]].type, storage);
    j.code = &known;
  }
  unrolled u;
  u64 code = (n + 1) * (4 * j.code->len + 3 * j.n);
  if (n < 2 || n > MOST || lines < FEWEST || code > MOST_CODE) return false;
  if ((n + 1) * j.n > MOST_INPUTS || n * j.n > MOST_OUTPUTS || w->rank == 1) return false;
  begin(&u, e, (u32)(n + 1) * j.n, (u32)n * j.n, (u32)code);
  prog_access at = {0};
  i64 next = 1, step = 1;
  for (u32 d = w->rank, k = w->rank - 1; d-- > 0; next *= w->dims[d]) {
    if (d == dim) {
      step = next;
      continue;
    }
    at.stride[--k] = next;
    u.l.dims[k] = w->dims[d];
  }
  u.l.rank = w->rank - 1;
  u32 *value = ARENA_ARRAY(e->a, u32, n * j.n), *result = ARENA_ARRAY(e->a, u32, n * j.n);
  u32 first[COMBINE_OPERANDS], acc[COMBINE_OPERANDS];
  for (u32 o = 0; o < j.n; o++)
    for (u64 k = 0; k < n; k++) {
      at.slot = w->in[o], at.offset = (i64)k * step;
      value[k * j.n + o] = add_load(&u, &at);
    }
  for (u32 o = 0; o < j.n; o++) first[o] = add_initial(&u, w->init[o]);
  for (u64 i = 0; i < n; i++) {
    u64 k = backward ? n - 1 - i : i;
    const u32 *here = value + k * j.n;
    if (i == 0)
      memcpy(acc, here, j.n * sizeof *acc);
    else
      join(&u, j, backward ? here : acc, backward ? acc : here, acc);
    join(&u, j, backward ? acc : first, backward ? first : acc, result + k * j.n);
  }
  for (u32 o = 0; o < j.n; o++)
    for (u64 k = 0; k < n; k++) {
      at.slot = w->out[o], at.offset = (i64)k * step;
      add_store(&u, &at, result[k * j.n + o]);
    }
  loop_lower(e, &u.l, out);
  return true;
}
