/* Reductions of a few rows across memory as loops over what is kept: each element's values are
 * combined one after the other in one piece of code. */
#include "exec/loop.h"
#include "num/convert.h"

enum { ROWS = 16, ELEMENTS = 1024, INPUTS = 63, INSTRUCTIONS = 400 };

typedef struct writer {
  const lower_env *e;
  const prog_loop *l;
  u32 kept;
  i64 index[PROG_MAX_DIMS]; /* of the row, in the reduced dims */
  VEC(vm_instr) instrs;
  VEC(vm_const) consts;
  VEC(prog_access) in;
} writer;

static u32 add(writer *w, vm_instr i) {
  VEC_PUSH(w->e->a, w->instrs, i);
  return (u32)w->instrs.len - 1;
}
static u32 add_constant(writer *w, dtype t, vm_const c) {
  VEC_PUSH(w->e->a, w->consts, c);
  return add(w, (vm_instr){.op = VM_constant, .type = (u8)t, .a = (u32)w->consts.len - 1});
}

/* An element at the row; where it is the same in all rows it is read once. */
static u32 add_load(writer *w, const prog_access *x) {
  prog_access at = *x;
  for (u32 d = w->kept; d < w->l->rank; d++)
    at.offset += w->index[d] * x->stride[d], at.stride[d] = 0;
  u32 which = 0;
  while (which < w->in.len && memcmp(&w->in.data[which], &at, sizeof at) != 0) which++;
  if (which == w->in.len) VEC_PUSH(w->e->a, w->in, at);
  return add(w, (vm_instr){.op = VM_load, .type = (u8)w->e->prog->slots[x->slot].type, .a = which});
}
static u32 add_index(writer *w, const vm_instr *i) {
  vm_const c = {0, 0};
  if (i->a < w->kept) return add(w, *i);
  num_from_f64((dtype)i->type, (double)w->index[i->a], &c);
  return add_constant(w, (dtype)i->type, c);
}

/* The code once more. Loads are of the loop's inputs, or, of a body, the `given` values; what it
 * stores goes to `out`. */
static void add_code(writer *w, const vm_code *c, const u32 *given, u32 *out) {
  u32 *value = ARENA_ARRAY(w->e->a, u32, c->len + 1);
  for (u32 k = 0; k < c->len; k++) {
    vm_instr i = c->instrs[k];
    u32 operands = vm_op_infos[i.op].operands;
    if (i.op == VM_load) {
      value[k] = given ? given[i.a] : add_load(w, &w->l->in[i.a]);
    } else if (i.op == VM_constant) {
      value[k] = add_constant(w, (dtype)i.type, c->consts[i.a]);
    } else if (i.op == VM_iota) {
      value[k] = add_index(w, &i);
    } else if (i.op == VM_store) {
      out[i.b] = value[i.a];
    } else {
      if (operands > 0) i.a = value[i.a];
      if (operands > 1) i.b = value[i.b];
      if (operands > 2) i.c = value[i.c];
      value[k] = add(w, i);
    }
  }
}

static bool next_row(writer *w) {
  for (u32 d = w->l->rank; d-- > w->kept; w->index[d] = 0)
    if (++w->index[d] < w->l->dims[d]) return true;
  return false;
}

/* The initial values come first. */
static void add_rows(writer *w, const vm_code *body) {
  const prog_loop *l = w->l;
  u32 n = l->num_out, acc[64], *values = acc + n;
  for (u32 o = 0; o < n; o++) acc[o] = add_load(w, &(prog_access){.slot = l->init[o]});
  do {
    u32 next[32];
    add_code(w, &l->code, NULL, values);
    add_code(w, body, acc, next);
    memcpy(acc, next, n * sizeof *acc);
  } while (next_row(w));
  for (u32 o = 0; o < n; o++)
    add(w, (vm_instr){.op = VM_store, .type = w->instrs.data[acc[o]].type, .a = acc[o], .b = o});
}

/* In registers partial results are what they would be in memory. */
static bool is_whole(const vm_kernels *k, dtype t) {
  dtype_class class = dtype_infos[t].kind;
  return class != DTYPE_CLASS_COMPLEX && !num_is_small_float(t) && !k->wrap[t];
}

static u64 volume(const i64 *dims, u32 rank) {
  u64 n = 1;
  for (u32 d = 0; d < rank && n <= ELEMENTS; d++) n *= (u64)dims[d];
  return n;
}

bool reduce_lower_unrolled(const lower_env *e, const prog_loop *l, exec_step *out) {
  writer w = {.e = e, .l = l, .kept = l->rank - l->reduced};
  u64 rows = volume(l->dims + w.kept, l->reduced), kept = volume(l->dims, w.kept);
  vm_instr storage[4];
  dtype type = e->prog->slots[l->out[0].slot].type;
  vm_code body =
      l->body.kind == REDUCE_CODE ? l->body.code : prog_body_code(l->body.kind, type, storage);
  if (l->body.kind != REDUCE_CODE && l->num_out > 1) return false;
  if (!l->init || rows == 0 || rows > ROWS || kept > ELEMENTS) return false;
  if (rows * l->num_in + l->num_out > INPUTS || rows * (l->code.len + body.len) > INSTRUCTIONS)
    return false;
  for (u32 o = 0; o < l->num_out; o++)
    if (!is_whole(e->k, e->prog->slots[l->out[o].slot].type)) return false;
  add_rows(&w, &body);
  prog_loop *to = ARENA_NEW(e->a, prog_loop);
  *to = (prog_loop){.rank = w.kept,
                    .num_in = (u32)w.in.len,
                    .num_out = l->num_out,
                    .in = w.in.data,
                    .out = l->out,
                    .code = {.instrs = w.instrs.data,
                             .consts = w.consts.data,
                             .len = (u32)w.instrs.len,
                             .num_consts = (u32)w.consts.len,
                             .num_in = (u32)w.in.len,
                             .num_out = l->num_out}};
  memcpy(to->dims, l->dims, w.kept * sizeof(i64));
  loop_lower(e, to, out);
  return true;
}
