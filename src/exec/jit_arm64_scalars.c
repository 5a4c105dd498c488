/* Code over single elements on aarch64, as jit_x86_scalars.c has it for x86-64: cells in the frame
 * or in registers, a prologue that fills them from memory, and where it leaves, those that it
 * writes go back. A kernel is called with places in the frame. */
#include <stddef.h>

#include "exec/jit_arm64.h"
#include "exec/jit_cells.h"
#include "exec/launch.h"

/* X0 to X3, X16 and X17, and vectors 0 to 2, are for the moment; X28 has what is left of the
 * place's time. Calls leave the first registers alone, of vectors their lower halves. */
enum { TEMP = X0, OTHER = X1, SLOTS = X2, ENTRY = X3, LEFT = 28, ZERO = 31 };
enum { FIRST_KEPT = 19, END_KEPT_V = 16 };
static const u8 cell_gprs[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 4, 5,
                               6,  7,  8,  9,  10, 11, 12, 13, 14, 15};
static const u8 cell_floats[] = {8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
                                 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

static bool is_clobbered(const cell *c) {
  return (c->gpr != NO_REG && c->gpr < FIRST_KEPT) || (c->real != NO_REG && c->real >= END_KEPT_V);
}

/* ---- moves ---- */

static u64 home_of(const writer *w, const cell *c) { return (u64)(c - w->cells.data) * HOME; }
static u64 kept(const writer *w, u32 which) { return w->cells.len * HOME + which * 8; }
/* Registers of steps that are called directly are behind what is kept. */
static u64 direct_register(const writer *w, u32 at) { return kept(w, KEPT + at); }

static void load(writer *w, u32 reg, u32 base, u64 at, u32 width) {
  arm64_memory(&w->code, A64_GET, reg, base, at, width);
}
static void store(writer *w, u32 reg, u32 base, u64 at, u32 width) {
  arm64_memory(&w->code, A64_PUT, reg, base, at, width);
}
static u32 wide_if(u32 width) { return width == 8 ? A64_WIDE : 0; }
static u32 double_if(u32 width) { return width == 8 ? A64_DOUBLE : 0; }
static void move_bits(writer *w, u32 op, u32 d, u32 n, u32 width) {
  arm64_3(&w->code, op | wide_if(width) | double_if(width), d, n, 0);
}

/* The cell, of up to 8 bytes, to a register with zeros above, and back. */
static void load_cell(writer *w, u32 reg, const cell *c, u32 width) {
  if (c->real != NO_REG)
    move_bits(w, A64_OF_REAL, reg, c->real, width);
  else if (c->gpr != NO_REG)
    arm64_extend(&w->code, reg, c->gpr, width);
  else
    load(w, reg, SP, home_of(w, c), width);
}
static void store_cell(writer *w, const cell *c, u32 reg, u32 width) {
  if (c->real != NO_REG)
    move_bits(w, A64_TO_REAL, c->real, reg, width);
  else if (c->gpr == NO_REG)
    store(w, reg, SP, home_of(w, c), width);
  else if (c->gpr != reg)
    arm64_insert(&w->code, c->gpr, reg, width);
}
/* A register that has it: the cell's own, or `to`. */
static u32 find_cell(writer *w, u32 to, const cell *c, u32 width) {
  if (c->gpr != NO_REG && width >= 4) return c->gpr;
  load_cell(w, to, c, width);
  return to;
}
static u32 find_float(writer *w, u32 to, const cell *c, u32 width) {
  if (c->real != NO_REG) return c->real;
  if (c->gpr != NO_REG)
    move_bits(w, A64_TO_REAL, to, c->gpr, width);
  else
    arm64_memory(&w->code, A64_GET_V, to, SP, home_of(w, c), width);
  return to;
}
static void store_float(writer *w, const cell *c, u32 from, u32 width) {
  if (c->real == from) return;
  if (c->real != NO_REG)
    arm64_3(&w->code, A64_FMOV_1 | double_if(width), c->real, from, 0);
  else if (c->gpr != NO_REG)
    move_bits(w, A64_OF_REAL, c->gpr, from, width);
  else
    arm64_memory(&w->code, A64_PUT_V, from, SP, home_of(w, c), width);
}

/* Between a register and its place in the frame. */
static void spill(writer *w, const cell *c, bool back) {
  u64 home = home_of(w, c);
  if (c->gpr != NO_REG) arm64_memory(&w->code, back ? A64_GET : A64_PUT, c->gpr, SP, home, 8);
  if (c->real != NO_REG)
    arm64_memory(&w->code, back ? A64_GET_V : A64_PUT_V, c->real, SP, home, c->width);
}
static void spill_for(writer *w, const scalar_op *o, bool back) {
  for (u32 i = 0; i < w->cells.len; i++) {
    const cell *c = &w->cells.data[i];
    if (cells_pass(w, o, c, is_clobbered(c), back)) spill(w, c, back);
  }
}

/* Of a slot's cell, between it and memory; SLOTS has the slots. */
static void fetch(writer *w, const cell *k) {
  load(w, TEMP, SLOTS, k->slot * sizeof(void *), 8);
  if (k->width == 16) {
    arm64_memory(&w->code, A64_GET_V, 0, TEMP, k->at, 16);
    arm64_memory(&w->code, A64_PUT_V, 0, SP, home_of(w, k), 16);
  } else {
    load(w, TEMP, TEMP, k->at, k->width);
    store_cell(w, k, TEMP, k->width);
  }
}
static void put_back(writer *w, const cell *k) {
  load(w, OTHER, SLOTS, k->slot * sizeof(void *), 8);
  if (k->width == 16) {
    arm64_memory(&w->code, A64_GET_V, 0, SP, home_of(w, k), 16);
    arm64_memory(&w->code, A64_PUT_V, 0, OTHER, k->at, 16);
  } else {
    load_cell(w, TEMP, k, k->width);
    store(w, TEMP, OTHER, k->at, k->width);
  }
}

/* A jump goes to an operation. */
static void aim_at(writer *w, u32 jump, const scalar_op *to) {
  VEC_PUSH(w->e->a, w->jumps, jump);
  VEC_PUSH(w->e->a, w->jumps, (u32)(to - w->l->ops));
}

/* ---- write_<kind>: operations; false: not known ---- */

/* A jump that comes right after what it asks for, and nothing else goes there but who enters: it
 * is done with the flags, and once more, apart, for who enters. */
static void join_jump(writer *w, const scalar_op *o, u32 condition) {
  const scalar_op *jump = o + 1;
  u32 at = (u32)(jump - w->l->ops);
  if (at >= w->l->num_ops || jump->is.kind != SCALAR_UNLESS) return;
  if (cell_at(w, jump->a) != cell_at(w, o->d)) return;
  aim_at(w, arm64_jump(&w->code, condition ^ 1), jump->u.to);
  w->joined[at] = true;
}
/* What flags say, to a cell. */
static void keep_condition(writer *w, const scalar_op *o, u32 condition) {
  arm64_3(&w->code, A64_CSET | (condition ^ 1) << 12, TEMP, 0, 0);
  store_cell(w, cell_at(w, o->d), TEMP, 1);
  join_jump(w, o, condition);
}

static u32 condition_of(u32 op, bool is_signed) {
  static const u8 codes[][2] = {{A64_EQ, A64_EQ}, {A64_NE, A64_NE}, {A64_LO, A64_LT},
                                {A64_LS, A64_LE}, {A64_HI, A64_GT}, {A64_HS, A64_GE}};
  return codes[op - VM_eq][is_signed];
}

/* The second operand, a number or a cell's, in a register. */
static u32 second_operand(writer *w, const scalar_op *o, u32 width) {
  i32 imm;
  if (!find_immediate(w, o, &imm)) return find_cell(w, OTHER, cell_at(w, o->b), width);
  arm64_number(&w->code, OTHER, width == 8 ? (u64)(i64)imm : (u32)imm);
  return OTHER;
}
/* Sums, differences and comparisons with small numbers. */
static bool is_small(const writer *w, const scalar_op *o, i32 *imm) {
  return find_immediate(w, o, imm) && *imm >= 0 && *imm < 4096 && o->is.of != VM_mul &&
         o->is.of != VM_and && o->is.of != VM_or && o->is.of != VM_xor;
}

/* By 0 the instruction's quotient is 0. */
static void write_division(writer *w, const scalar_op *o) {
  jit_code *c = &w->code;
  u32 width = vm_rtype_size((vm_rtype)o->is.type), wide = wide_if(width);
  bool is_signed = o->is.type == R_s32 || o->is.type == R_s64;
  u32 x = find_cell(w, TEMP, cell_at(w, o->a), width), y = second_operand(w, o, width);
  arm64_3(c, (is_signed ? A64_SDIV : A64_UDIV) | wide, X3, x, y);
  if (o->is.of == VM_rem) {
    arm64_3(c, A64_MSUB | wide | x << 10, TEMP, X3, y);
  } else {
    arm64_3(c, A64_SUBS_R | wide, ZERO, y, ZERO);
    arm64_3(c, A64_CSINV | wide | A64_NE << 12, TEMP, X3, ZERO);
  }
  store_cell(w, cell_at(w, o->d), TEMP, width);
}

static bool write_integers(writer *w, const scalar_op *o) {
  static const u32 ops[VM_OP_COUNT] = {
      [VM_add] = A64_ADD_R, [VM_sub] = A64_SUB_R, [VM_mul] = A64_MUL,  [VM_and] = A64_AND_R,
      [VM_or] = A64_ORR_R,  [VM_xor] = A64_EOR_R, [VM_max] = A64_CSEL, [VM_min] = A64_CSEL};
  const cell *d = cell_at(w, o->d);
  u32 width = vm_rtype_size((vm_rtype)o->is.type), op = o->is.of, wide = wide_if(width);
  bool is_signed = o->is.type == R_s32 || o->is.type == R_s64;
  bool extreme = op == VM_max || op == VM_min;
  jit_code *c = &w->code;
  i32 imm;
  if (op == VM_div || op == VM_rem) {
    write_division(w, o);
    return true;
  }
  if (!is_comparison(op) && !ops[op]) return false;
  u32 x = find_cell(w, TEMP, cell_at(w, o->a), width);
  u32 to = d->gpr != NO_REG && width >= 4 ? d->gpr : TEMP;
  if (is_small(w, o, &imm)) {
    u32 with = op == VM_add ? A64_ADD : op == VM_sub ? A64_SUB : A64_SUBS;
    to = is_comparison(op) ? ZERO : to;
    arm64_imm(c, (with & ~A64_WIDE) | wide, to, x, (u32)imm);
  } else {
    u32 y = second_operand(w, o, width);
    if (is_comparison(op) || extreme) arm64_3(c, A64_SUBS_R | wide, ZERO, x, y);
    u32 op_word = ops[op] | wide;
    if (extreme) op_word |= condition_of(op == VM_max ? VM_gt : VM_lt, is_signed) << 12;
    if (!is_comparison(op)) arm64_3(c, op_word, to, x, y);
  }
  if (is_comparison(op))
    keep_condition(w, o, condition_of(op, is_signed));
  else
    store_cell(w, d, to, width);
  return true;
}

static bool write_floats(writer *w, const scalar_op *o) {
  static const u32 ops[VM_OP_COUNT] = {
      [VM_add] = A64_FADD_1, [VM_sub] = A64_FSUB_1, [VM_mul] = A64_FMUL_1,
      [VM_div] = A64_FDIV_1, [VM_max] = A64_FMAX_1, [VM_min] = A64_FMIN_1};
  /* in the order of comparisons; false but for the second where one is NaN */
  static const u8 conditions[] = {A64_EQ, A64_NE, A64_MI, A64_LS, A64_GT, A64_GE};
  const cell *d = cell_at(w, o->d);
  u32 width = vm_rtype_size((vm_rtype)o->is.type), op = o->is.of;
  if (!is_comparison(op) && !ops[op]) return false;
  u32 x = find_float(w, 0, cell_at(w, o->a), width), y = find_float(w, 1, cell_at(w, o->b), width);
  if (is_comparison(op)) {
    arm64_3(&w->code, A64_FCMP_1 | double_if(width), 0, x, y);
    keep_condition(w, o, conditions[op - VM_eq]);
    return true;
  }
  u32 to = d->real != NO_REG ? d->real : 0;
  arm64_3(&w->code, ops[op] | double_if(width), to, x, y);
  store_float(w, d, to, width);
  return true;
}

static bool write_binary(writer *w, const scalar_op *o) {
  return is_float(o->is.type) ? write_floats(w, o) : write_integers(w, o);
}

static bool write_fma(writer *w, const scalar_op *o) {
  const cell *d = cell_at(w, o->d);
  u32 width = vm_rtype_size((vm_rtype)o->is.type), to = d->real != NO_REG ? d->real : 0;
  u32 c = find_float(w, 0, cell_at(w, o->c), width), x = find_float(w, 1, cell_at(w, o->a), width);
  u32 y = find_float(w, 2, cell_at(w, o->b), width);
  arm64_3(&w->code, A64_FMADD_1 | double_if(width) | c << 10, to, x, y);
  store_float(w, d, to, width);
  return true;
}

static bool write_root(writer *w, const scalar_op *o) {
  const cell *d = cell_at(w, o->d);
  u32 width = vm_rtype_size((vm_rtype)o->is.type), to = d->real != NO_REG ? d->real : 0;
  u32 x = find_float(w, 1, cell_at(w, o->a), width);
  u32 op = o->is.of == VM_sqrt ? A64_FSQRT_1 : A64_FABS_1;
  arm64_3(&w->code, op | double_if(width), to, x, 0);
  store_float(w, d, to, width);
  return true;
}

static bool write_unary(writer *w, const scalar_op *o) {
  if (is_float(o->is.type) && o->is.of != VM_neg) return write_root(w, o);
  u32 width = vm_rtype_size((vm_rtype)o->is.type), n = width == 8 ? 1u << 22 : 0;
  u32 x = find_cell(w, TEMP, cell_at(w, o->a), width);
  if (o->is.of == VM_not && o->is.type == R_pred)
    arm64_3(&w->code, A64_EOR_1, TEMP, x, 0);
  else if (o->is.of == VM_neg && is_float(o->is.type)) /* with N, 64 bits */
    arm64_3(&w->code, A64_EOR_SIGN | wide_if(width) | n, TEMP, x, 0);
  else if (o->is.of == VM_neg)
    arm64_3(&w->code, A64_SUB_R | wide_if(width), TEMP, ZERO, x);
  else if (o->is.of == VM_sign) {
    arm64_3(&w->code, A64_SUBS_R | wide_if(width), ZERO, x, ZERO);
    arm64_3(&w->code, A64_CSET | A64_LE << 12, TEMP, 0, 0); /* where it is above */
    arm64_3(&w->code, A64_CSINV | wide_if(width) | A64_GE << 12, TEMP, TEMP, ZERO);
  } else
    return false;
  store_cell(w, cell_at(w, o->d), TEMP, width);
  return true;
}

/* Between integers of 4 and 8 bytes, and of these and pred to floats: pred has zeros above. */
static bool write_convert(writer *w, const scalar_op *o) {
  u32 from = vm_rtype_size((vm_rtype)o->is.type), to = vm_rtype_size((vm_rtype)o->is.of);
  const cell *d = cell_at(w, o->d);
  load_cell(w, TEMP, cell_at(w, o->a), from);
  if (!is_float(o->is.of)) {
    if (o->is.type == R_s32 && to == 8) arm64_3(&w->code, A64_SXTW, TEMP, TEMP, 0);
    if (o->is.of == R_pred) {
      arm64_imm(&w->code, A64_SUBS & ~A64_WIDE, ZERO, TEMP, 0);
      arm64_3(&w->code, A64_CSET | A64_EQ << 12, TEMP, 0, 0);
    }
    store_cell(w, d, TEMP, to);
    return true;
  }
  u32 reg = d->real != NO_REG ? d->real : 0;
  arm64_3(&w->code, A64_SCVTF | wide_if(from) | double_if(to), reg, TEMP, 0);
  store_float(w, d, reg, to);
  return true;
}

static bool write_select(writer *w, const scalar_op *o) {
  u32 width = 1u << o->is.of;
  if (width > 8) return false;
  load_cell(w, TEMP, cell_at(w, o->a), 1);
  arm64_imm(&w->code, A64_SUBS & ~A64_WIDE, ZERO, TEMP, 0);
  load_cell(w, TEMP, cell_at(w, o->c), width);
  load_cell(w, OTHER, cell_at(w, o->b), width);
  arm64_3(&w->code, A64_CSEL | A64_WIDE | A64_NE << 12, TEMP, OTHER, TEMP);
  store_cell(w, cell_at(w, o->d), TEMP, width);
  return true;
}

static bool write_copy(writer *w, const scalar_op *o) {
  u32 width = 1u << o->is.of;
  const cell *d = cell_at(w, o->d), *x = cell_at(w, o->a);
  if (width == 16) {
    arm64_memory(&w->code, A64_GET_V, 0, SP, home_of(w, x), 16);
    arm64_memory(&w->code, A64_PUT_V, 0, SP, home_of(w, d), 16);
  } else if (d->real != NO_REG) {
    store_float(w, d, find_float(w, d->real, x, width), width);
  } else if (d->gpr != NO_REG && width >= 4) {
    load_cell(w, d->gpr, x, width);
  } else {
    load_cell(w, TEMP, x, width);
    store_cell(w, d, TEMP, width);
  }
  return true;
}

static bool write_jump(writer *w, const scalar_op *o) {
  aim_at(w, arm64_jump_always(&w->code), o->u.to);
  return true;
}
static void jump_unless(writer *w, const scalar_op *o) {
  load_cell(w, TEMP, cell_at(w, o->a), 1);
  aim_at(w, arm64_jump_zero(&w->code, TEMP), o->u.to);
}
static bool write_unless(writer *w, const scalar_op *o) {
  if (!w->joined[o - w->l->ops]) jump_unless(w, o);
  return true;
}
/* Of those that are done with what stands before them, what is entered. */
static void write_entries(writer *w) {
  for (u32 i = 0; i < w->l->num_ops; i++) {
    if (!w->joined[i]) continue;
    w->at[i] = (u32)w->code.bytes.len;
    jump_unless(w, &w->l->ops[i]);
    aim_at(w, arm64_jump_always(&w->code), &w->l->ops[i + 1]);
  }
}
static bool write_back(writer *w, const scalar_op *o) {
  arm64_number(&w->code, X17, o->c);
  arm64_3(&w->code, A64_SUBS_R, LEFT, LEFT, X17);
  aim_at(w, arm64_jump(&w->code, A64_PL), o->u.to);
  return true;
}

/* ---- calls ---- */

static void pass(writer *w, u32 argument, u32 reg) {
  if (reg == REG_NULL)
    arm64_number(&w->code, argument, 0);
  else
    arm64_add(&w->code, argument, SP, home_of(w, cell_at(w, reg)));
}
static void call(writer *w, const void *address) {
  arm64_number(&w->code, X17, (u64)(uintptr_t)address);
  arm64_3(&w->code, A64_BLR, 0, X17, 0);
}
static bool write_kernel(writer *w, const scalar_op *o) {
  const void *kernel;
  spill_for(w, o, false);
  arm64_number(&w->code, X0, 1);
  pass(w, X1, o->d), pass(w, X2, o->a), pass(w, X3, o->b), pass(w, X3 + 1, o->c);
  memcpy(&kernel, &o->u.kernel, sizeof kernel);
  call(w, kernel);
  spill_for(w, o, true);
  return true;
}

/* The index, moved into its range, to TEMP. */
static void load_index(writer *w, const cell *index, dtype t, i64 most) {
  jit_code *c = &w->code;
  load_cell(w, TEMP, index, (u32)dtype_size(t));
  if (t == DTYPE_s32) arm64_3(c, A64_SXTW, TEMP, TEMP, 0);
  arm64_3(c, A64_FLOOR_0, TEMP, TEMP, TEMP);
  arm64_number(c, OTHER, (u64)most);
  arm64_3(c, A64_SUBS_R | A64_WIDE, ZERO, TEMP, OTHER);
  arm64_3(c, A64_CSEL | A64_WIDE | A64_LT << 12, TEMP, TEMP, OTHER);
}
/* Where a part begins, to X3. */
static void find_place(writer *w, const part *x) {
  const prog_dynamic *d = x->d;
  jit_code *c = &w->code;
  load(w, X3, SP, kept(w, KEEP_SLOTS), 8);
  load(w, X3, X3, d->big * sizeof(void *), 8);
  for (u32 k = 0; k < d->rank; k++) {
    if (x->most[k] == 0) continue;
    dtype t = w->e->prog->slots[d->start[k]].type;
    load_index(w, &w->cells.data[x->index[k]], t, x->most[k]);
    arm64_number(c, OTHER, (u64)x->stride[k]);
    arm64_3(c, A64_MADD | X3 << 10, X3, TEMP, OTHER);
  }
}
static void write_elements(writer *w, const part *x) {
  u32 width = (u32)dtype_size(w->e->prog->slots[x->d->big].type);
  for (u32 i = 0; i < x->num; i++) {
    const cell *small = &w->cells.data[x->small[i]];
    u64 at = (u64)x->at[i];
    if (small->real != NO_REG) {
      arm64_memory(&w->code, x->d->update ? A64_PUT_V : A64_GET_V, small->real, X3, at, width);
    } else if (x->d->update) {
      load_cell(w, TEMP, small, width);
      store(w, TEMP, X3, at, width);
    } else {
      load(w, TEMP, X3, at, width);
      store_cell(w, small, TEMP, width);
    }
  }
}

/* The slot is from here on what it is to be a copy of. */
static void write_view(writer *w, const part *x) {
  u32 slot = x->d->small;
  load(w, TEMP, SP, kept(w, KEEP_SLOTS), 8);
  store(w, X3, TEMP, slot * sizeof(void *), 8);
  for (u32 i = 0; i < w->l->num_ops; i++) {
    const exec_direct *d = w->direct[i];
    for (u32 k = 0; d && k < d->num; k++) {
      if (d->slot[k] != slot) continue;
      arm64_add(&w->code, TEMP, X3, (u64)d->at[k]);
      store(w, TEMP, SP, direct_register(w, w->direct_at[i] + k), 8);
    }
  }
}

/* False: it takes a call. */
static bool has_part(const writer *w, const part *x) {
  return (x->num || x->view) && !cells_touch_slot(w, x->d->big);
}
static void write_part(writer *w, const part *x) {
  find_place(w, x);
  (x->num ? write_elements : write_view)(w, x);
}

static void call_step(writer *w, const scalar_op *o) {
  jit_code *c = &w->code;
  const exec_step *x = o->u.step;
  const exec_direct *d = w->direct[o - w->l->ops];
  const void *address;
  memcpy(&address, d ? (const void *)&d->call : (const void *)&x->run, sizeof address);
  if (d) {
    arm64_number(c, X0, d->n);
    arm64_add(c, X1, SP, direct_register(w, w->direct_at[o - w->l->ops]));
  } else {
    arm64_number(c, X0, (u64)(uintptr_t)x->data);
    load(w, X1, SP, kept(w, KEEP_ENV), 8);
    arm64_number(c, X2, 0);
    arm64_number(c, X3, x->units);
  }
  call(w, address);
}

/* A step finds in memory what the cells have, and they what it leaves there. */
static void put_cells(writer *w, const scalar_op *o) {
  load(w, SLOTS, SP, kept(w, KEEP_SLOTS), 8);
  for (u32 i = 0; i < w->cells.len; i++)
    if (cells_have(w, w->put, o, i)) put_back(w, &w->cells.data[i]);
}
static bool write_step(writer *w, const scalar_op *o) {
  const part *part = w->part_of[o - w->l->ops];
  if (part) {
    write_part(w, part);
    return true;
  }
  put_cells(w, o);
  spill_for(w, o, false);
  call_step(w, o);
  spill_for(w, o, true);
  load(w, SLOTS, SP, kept(w, KEEP_SLOTS), 8);
  for (u32 i = 0; i < w->cells.len; i++)
    if (cells_have(w, w->fetch, o, i)) fetch(w, &w->cells.data[i]);
  return true;
}

/* ---- in and out ---- */

static u64 frame_of(const writer *w) {
  return align_up(w->cells.len * HOME + (KEPT + w->num_direct) * 8, 16);
}

/* Pairs of the caller's registers: X19 to X30, and the lower halves of V8 to V15. */
enum { PAIRS = 6, PAIRS_V = 4, SAVED = 16 * (PAIRS + PAIRS_V) };
static void keep_registers(writer *w, bool back) {
  u32 load_bit = back ? A64_STORE : 0;
  for (u32 i = 0; i < PAIRS + PAIRS_V; i++) {
    bool vector = i >= PAIRS;
    u32 reg = vector ? 8 + 2 * (i - PAIRS) : FIRST_KEPT + 2 * i;
    u32 op = (vector ? 0x6d000000u : 0xa9000000u) | load_bit | 2 * i << 15;
    arm64_word(&w->code, op | (reg + 1) << 10 | SP << 5 | reg);
  }
}

/* Where the slots that direct steps read and write are; SLOTS has the slots. */
static void load_registers(writer *w) {
  for (u32 i = 0; i < w->l->num_ops; i++) {
    const exec_direct *d = w->direct[i];
    for (u32 k = 0; d && k < d->num; k++) {
      load(w, TEMP, SLOTS, d->slot[k] * sizeof(void *), 8);
      if (d->at[k]) arm64_add(&w->code, TEMP, TEMP, (u64)d->at[k]);
      store(w, TEMP, SP, direct_register(w, w->direct_at[i] + k), 8);
    }
  }
}

static void begin_code(writer *w) {
  arm64_imm(&w->code, A64_SUB, SP, SP, SAVED);
  keep_registers(w, false);
  arm64_number(&w->code, X17, frame_of(w));
  arm64_imm(&w->code, 0xcb206000u | X17 << 16, SP, SP, 0);
  store(w, X0, SP, kept(w, KEEP_ENV), 8);
  store(w, X1, SP, kept(w, KEEP_PLACE), 8);
  store(w, SLOTS, SP, kept(w, KEEP_SLOTS), 8);
  load(w, LEFT, X1, offsetof(struct place, left), 4);
  load_registers(w);
  for (u32 i = 0; i < w->cells.len; i++) {
    const cell *k = &w->cells.data[i];
    u64 bits[2] = {0};
    if (k->fixed) {
      memcpy(bits, k->fixed, sizeof bits);
      for (u32 half = 0; half < 2; half++) {
        arm64_number(&w->code, TEMP, bits[half]);
        store(w, TEMP, SP, home_of(w, k) + 8 * half, 8);
      }
      spill(w, k, true);
    } else if (k->slot != PROG_NONE && cells_enter(w, i)) {
      fetch(w, k);
    }
  }
  arm64_3(&w->code, A64_BR, 0, ENTRY, 0);
}

static bool write_leave(writer *w, const scalar_op *o) {
  put_cells(w, o);
  load(w, TEMP, SP, kept(w, KEEP_PLACE), 8);
  arm64_number(&w->code, OTHER, o->u.pc);
  store(w, OTHER, TEMP, offsetof(struct place, pc), 4);
  store(w, LEFT, TEMP, offsetof(struct place, left), 4);
  arm64_add(&w->code, SP, SP, frame_of(w));
  keep_registers(w, true);
  arm64_imm(&w->code, A64_ADD, SP, SP, SAVED);
  arm64_word(&w->code, A64_RET);
  return true;
}

const cell_machine cells_machine = {
    .registers = {cell_gprs, cell_floats, COUNT(cell_gprs), COUNT(cell_floats)},
    .has_part = has_part,
    .begin = begin_code,
    .write =
        {
            [SCALAR_KERNEL] = write_kernel,
            [SCALAR_BINARY] = write_binary,
            [SCALAR_UNARY] = write_unary,
            [SCALAR_CONVERT] = write_convert,
            [SCALAR_SELECT] = write_select,
            [SCALAR_COPY] = write_copy,
            [SCALAR_JUMP] = write_jump,
            [SCALAR_UNLESS] = write_unless,
            [SCALAR_BACK] = write_back,
            [SCALAR_LEAVE] = write_leave,
            [SCALAR_STEP] = write_step,
            [SCALAR_FMA] = write_fma,
        },
    .write_entries = write_entries,
    .aim = arm64_aim,
    .finish = arm64_finish,
};
