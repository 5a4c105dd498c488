/* Code over single elements as machine code of x86-64. What it touches are cells: elements of
 * slots, constants and temporaries. Each has a place in the frame; those that are used most are in
 * registers instead. It is entered through a prologue that fills cells from memory, and where it
 * leaves, those that it writes go back. A kernel is called with places in the frame. */
#include <stddef.h>

#include "exec/jit_x86_cells.h"
#include "exec/launch.h"

/* RAX, RCX and RDX, and vectors 0, 1 and 15, are for the moment; R15 has what is left of the
 * place's time. */
enum { FIRST_CLOBBERED = 5, LEFT = R15 };
static const u8 cell_gprs[] = {RBX, RBP, R12, R13, R14, RSI, RDI, R8, R9, R10, R11};
static const u8 cell_floats[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};

/* The jump that has just been written goes to an operation. */
static void aim_at(writer *w, const scalar_op *to) {
  VEC_PUSH(w->e->a, w->jumps, (u32)w->code.bytes.len);
  VEC_PUSH(w->e->a, w->jumps, (u32)(to - w->l->ops));
}

/* ---- write_<kind>: operations; false: not known ---- */

static u32 condition_of(u32 op, bool is_signed) {
  static const u8 codes[][2] = {{4, 4}, {5, 5}, {2, 0xc}, {6, 0xe}, {7, 0xf}, {3, 0xd}};
  return codes[op - VM_eq][is_signed];
}

/* What the flags say where a comparison is true, right behind it: of floats that are equal or not
 * its bit is there. */
enum { NOT_EQUAL = 5 };
static u32 condition_left(const scalar_op *o) {
  bool is_signed = o->is.type == R_s32 || o->is.type == R_s64;
  if (!is_float(o->is.type)) return condition_of(o->is.of, is_signed);
  return o->is.of == VM_lt || o->is.of == VM_gt   ? X86_ABOVE
         : o->is.of == VM_le || o->is.of == VM_ge ? X86_NOT_BELOW
                                                  : NOT_EQUAL;
}

/* The second operand where instructions read it. */
static x86_rm integer_operand(writer *w, const cell *c, u32 width) {
  if (c->gpr != NO_REG && width >= 4) return x86_reg(c->gpr);
  if (c->real == NO_REG && c->gpr == NO_REG && width >= 4) return x86_home(w, c);
  x86_load_cell(w, RCX, c, width);
  return x86_reg(RCX);
}

/* Flags: condition_left. */
static void compare_integers(writer *w, const scalar_op *o) {
  const cell *x = cell_at(w, o->a);
  u32 width = vm_rtype_size((vm_rtype)o->is.type), from = RAX;
  i32 imm;
  if (x->gpr != NO_REG && width >= 4)
    from = x->gpr;
  else
    x86_load_cell(w, RAX, x, width);
  if (find_immediate(w, o, &imm))
    x86_immediate(&w->code, 7, width == 8, from, imm);
  else
    x86_plain(&w->code, 0, width == 8, 0x3b, from, integer_operand(w, cell_at(w, o->b), width));
}
static void compare(writer *w, const scalar_op *o) {
  if (is_float(o->is.type))
    x86_compare_floats(w, o);
  else
    compare_integers(w, o);
}

static void write_comparison(writer *w, const scalar_op *o) {
  const cell *d = cell_at(w, o->d);
  u32 to = d->gpr != NO_REG ? d->gpr : RAX;
  compare(w, o);
  x86_byte(&w->code, 0x40 | to >> 3); /* mov, or set would wait for the rest */
  x86_byte(&w->code, 0xb8 | (to & 7)), x86_u32(&w->code, 0);
  x86_pair(&w->code, 0, 0x0f90 | condition_left(o), 0, to);
  if (to == RAX) x86_store_cell(w, d, RAX, 1);
}

/* An operand that is a number. Products by 3, 5 and 9 are sums of two addresses; RBP and R13 would
 * bring a third part into them, which takes longer. */
static void write_with(writer *w, const scalar_op *o, i32 imm) {
  static const u8 extensions[VM_OP_COUNT] = {[VM_sub] = 5, [VM_and] = 4, [VM_or] = 1, [VM_xor] = 6};
  const cell *x = cell_at(w, o->a), *d = cell_at(w, o->d);
  u32 width = vm_rtype_size((vm_rtype)o->is.type), from = RAX;
  u32 to = d->gpr != NO_REG ? d->gpr : RAX;
  if (o->is.of != VM_mul) {
    if (to == RAX || d != x) x86_load_cell(w, to, x, width);
    x86_immediate(&w->code, extensions[o->is.of], width == 8, to, imm);
  } else {
    if (x->gpr != NO_REG && x->gpr % 8 != RBP)
      from = x->gpr;
    else
      x86_load_cell(w, RAX, x, width);
    x86_rm twice = x86_mem(from, 0);
    twice.index = (u8)from;
    twice.scale = imm == 3 ? 1 : imm == 5 ? 2 : 3;
    if (imm == 3 || imm == 5 || imm == 9) {
      x86_plain(&w->code, 0, width == 8, 0x8d, to, twice); /* lea */
    } else {
      x86_pair(&w->code, width == 8, 0x69, to, from);
      x86_u32(&w->code, (u32)imm);
    }
  }
  if (to == RAX) x86_store_cell(w, d, RAX, width);
}

static bool write_integers(writer *w, const scalar_op *o) {
  static const u16 opcodes[VM_OP_COUNT] = {
      [VM_add] = 0x03, [VM_sub] = 0x2b, [VM_mul] = 0x0faf, [VM_and] = 0x23,
      [VM_or] = 0x0b,  [VM_xor] = 0x33, [VM_max] = 0x3b,   [VM_min] = 0x3b};
  const cell *x = cell_at(w, o->a), *y = cell_at(w, o->b), *d = cell_at(w, o->d);
  u32 width = vm_rtype_size((vm_rtype)o->is.type), op = o->is.of;
  bool is_signed = o->is.type == R_s32 || o->is.type == R_s64, wide = width == 8;
  jit_code *c = &w->code;
  i32 imm;
  if (op == VM_div || op == VM_rem) {
    x86_write_division(w, o);
    return true;
  }
  if (!opcodes[op]) return false;
  if (find_immediate(w, o, &imm)) {
    write_with(w, o, imm);
    return true;
  }
  bool extreme = op == VM_max || op == VM_min;
  if (d == y && op != VM_sub) y = x, x = d;
  u32 to = d->gpr != NO_REG && d != y && width >= 4 ? d->gpr : RAX;
  x86_rm second = integer_operand(w, y, width);
  if (to == RAX || d != x) x86_load_cell(w, to, x, width);
  x86_plain(c, 0, wide, opcodes[op], to, second);
  if (extreme) /* y where x is below, or above */
    x86_plain(c, 0, wide, 0x0f40 | condition_of(op == VM_max ? VM_lt : VM_gt, is_signed), to,
              second);
  if (to == RAX) x86_store_cell(w, d, RAX, width);
  return true;
}

static bool write_binary(writer *w, const scalar_op *o) {
  if (is_comparison(o->is.of)) {
    write_comparison(w, o);
    return true;
  }
  return is_float(o->is.type) ? x86_write_floats(w, o) : write_integers(w, o);
}

/* 1, 0 or -1: the sign's bits, or the one that is above where -x is below 0. */
static void write_sign(writer *w, u32 width) {
  jit_code *c = &w->code;
  x86_move(c, RCX, RAX);
  x86_shift(&w->code, 7, width == 8, RCX, 8 * width - 1);
  x86_pair(c, width == 8, 0xf7, 3, RAX); /* neg */
  x86_shift(&w->code, 5, width == 8, RAX, 8 * width - 1);
  x86_pair(c, width == 8, 0x0b, RAX, RCX); /* or */
}

static bool write_unary(writer *w, const scalar_op *o) {
  u32 width = vm_rtype_size((vm_rtype)o->is.type);
  jit_code *c = &w->code;
  if (o->is.of == VM_sqrt) return x86_write_root(w, o);
  if (is_float(o->is.type)) return x86_write_signed(w, o);
  x86_load_cell(w, RAX, cell_at(w, o->a), width);
  if (o->is.of == VM_not && o->is.type == R_pred) {
    x86_pair(c, 0, 0x83, 6, RAX); /* xor eax, 1 */
    x86_byte(c, 1);
  } else if (o->is.of == VM_sign) {
    write_sign(w, width);
  } else if (o->is.of == VM_neg) {
    x86_pair(c, width == 8, 0xf7, 3, RAX);
  } else {
    return false;
  }
  x86_store_cell(w, cell_at(w, o->d), RAX, width);
  return true;
}

static void move_cell(writer *w, const cell *d, const cell *x, u32 width) {
  if (d->real != NO_REG) {
    x86_store_float(w, d, x86_load_float(w, d->real, x, width), width);
  } else if (d->gpr != NO_REG && width >= 4) {
    x86_load_cell(w, d->gpr, x, width);
  } else {
    x86_load_cell(w, RAX, x, width);
    x86_store_cell(w, d, RAX, width);
  }
}

/* Between integers of 4 and 8 bytes, and of these and pred to floats: pred has zeros above. Of pred
 * what memory has of it becomes 0 or 1. */
static bool write_convert(writer *w, const scalar_op *o) {
  u32 from = vm_rtype_size((vm_rtype)o->is.type), to = vm_rtype_size((vm_rtype)o->is.of);
  const cell *d = cell_at(w, o->d);
  if (from == to && from >= 4 && !is_float(o->is.of)) { /* of another sign */
    move_cell(w, d, cell_at(w, o->a), from);
    return true;
  }
  x86_load_cell(w, RAX, cell_at(w, o->a), from);
  if (o->is.type == R_s32 && to == 8 && !is_float(o->is.of))
    x86_pair(&w->code, 1, 0x63, RAX, RAX); /* movsxd */
  if (o->is.of == R_pred) {
    x86_pair(&w->code, 0, 0x85, RAX, RAX); /* test */
    x86_pair(&w->code, 0, 0x0f90 | NOT_EQUAL, 0, RAX);
  }
  if (!is_float(o->is.of)) {
    x86_store_cell(w, d, RAX, to);
    return true;
  }
  u32 reg = d->real != NO_REG ? d->real : 0;
  x86_vex(&w->code, (x86_op){0, 1, 0, 0x57, 0, 0, false}, reg, reg, x86_reg(reg), -1); /* zeros */
  x86_op op = x86_of_float(to, 0x2a);
  op.w = from == 8;
  x86_vex(&w->code, op, reg, reg, x86_reg(RAX), -1);
  x86_store_float(w, d, reg, to);
  return true;
}

/* The comparison that is done where an operation asks for it; NULL: it has been done. */
static const scalar_op *find_asked(const writer *w, const scalar_op *o) {
  u32 at = w->asks[o - w->l->ops];
  return at ? &w->l->ops[at - 1] : NULL;
}

/* Flags that say what a choice goes by; returns the condition. */
static u32 find_condition(writer *w, const scalar_op *o) {
  const scalar_op *before = o - 1, *asked = find_asked(w, o);
  if (asked) {
    compare(w, asked);
    return condition_left(asked);
  }
  bool compared = o > w->l->ops && before->is.kind == SCALAR_BINARY &&
                  is_comparison(before->is.of) && before->d == o->a;
  if (compared && cell_at(w, o->a)->slot == PROG_NONE) /* of the same step: nobody enters here */
    return condition_left(before);
  x86_test_cell(w, cell_at(w, o->a));
  return NOT_EQUAL;
}

static bool write_select(writer *w, const scalar_op *o) {
  u32 width = 1u << o->is.of;
  const cell *d = cell_at(w, o->d), *yes = cell_at(w, o->b), *no = cell_at(w, o->c);
  const scalar_op *asked = find_asked(w, o);
  if (width > 8) return false;
  if (asked && x86_write_choice(w, o, asked)) return true;
  u32 condition = find_condition(w, o), to = d->gpr != NO_REG ? d->gpr : RAX;
  if (d == yes) yes = no, no = d, condition ^= 1;
  x86_load_cell(w, to, no, width < 4 ? 4 : width);
  if (yes->real != NO_REG) x86_load_cell(w, RCX, yes, width);
  x86_rm from = yes->real != NO_REG  ? x86_reg(RCX)
                : yes->gpr != NO_REG ? x86_reg(yes->gpr)
                                     : x86_home(w, yes);
  x86_plain(&w->code, 0, width == 8, 0x0f40 | condition, to, from); /* cmov */
  if (to == RAX) x86_store_cell(w, d, RAX, width);
  return true;
}

static bool write_copy(writer *w, const scalar_op *o) {
  u32 width = 1u << o->is.of;
  const cell *d = cell_at(w, o->d), *x = cell_at(w, o->a);
  if (width == 16) {
    x86_vex(&w->code, x86_move_16, 0, 0, x86_home(w, x), -1);
    x86_vex(&w->code, x86_with(x86_move_16, 0, 0x11), 0, 0, x86_home(w, d), -1);
  } else {
    move_cell(w, d, x, width);
  }
  return true;
}

static void jump_to(writer *w, const scalar_op *to) {
  x86_jump_on(&w->code);
  aim_at(w, to);
}
static bool write_jump(writer *w, const scalar_op *o) {
  jump_to(w, o->u.to);
  return true;
}
static bool write_unless(writer *w, const scalar_op *o) {
  const scalar_op *asked = find_asked(w, o);
  if (asked)
    compare(w, asked);
  else
    x86_test_cell(w, cell_at(w, o->a));
  x86_jump(&w->code, (asked ? condition_left(asked) : NOT_EQUAL) ^ 1);
  aim_at(w, o->u.to);
  return true;
}
static bool write_back(writer *w, const scalar_op *o) {
  x86_immediate(&w->code, 5, false, LEFT, (i32)o->c); /* sub */
  x86_jump(&w->code, X86_NOT_NEGATIVE);
  aim_at(w, o->u.to);
  return true;
}

static void pass(writer *w, u32 argument, u32 reg) {
  const cell *c = reg == REG_NULL ? NULL : cell_at(w, reg);
  if (!c)
    x86_pair(&w->code, 0, 0x33, argument, argument); /* xor */
  else
    x86_plain(&w->code, 0, 1, 0x8d, argument, x86_home(w, c)); /* lea */
}
static bool is_clobbered(const cell *c) {
  for (u32 i = 0; i < FIRST_CLOBBERED; i++)
    if (c->gpr == cell_gprs[i]) return false;
  return true;
}
static void spill_for(writer *w, const scalar_op *o, bool back) {
  for (u32 i = 0; i < w->cells.len; i++) {
    const cell *c = &w->cells.data[i];
    if (cells_pass(w, o, c, is_clobbered(c), back)) x86_spill(w, c, back);
  }
}
static void call_kernel(writer *w, const scalar_op *o) {
  const void *kernel;
  spill_for(w, o, false);
  x86_pair(&w->code, 1, 0xc7, 0, RDI); /* mov rdi, 1 */
  x86_u32(&w->code, 1);
  pass(w, RSI, o->d), pass(w, RDX, o->a), pass(w, RCX, o->b), pass(w, R8, o->c);
  memcpy(&kernel, &o->u.kernel, sizeof kernel);
  x86_number(&w->code, RAX, (u64)(uintptr_t)kernel);
  x86_pair(&w->code, 0, 0xff, 2, RAX); /* call */
  spill_for(w, o, true);
}
/* Integers, by an instruction or two. */
static bool write_bits(writer *w, const scalar_op *o) {
  static const u8 shifts[VM_OP_COUNT] = {[VM_shl] = 4, [VM_shr_logic] = 5, [VM_shr_arith] = 7};
  static const u16 counts[VM_OP_COUNT] = {[VM_popcnt] = 0x0fb8, [VM_clz] = 0x0fbd};
  u32 op = o->is.of, width = vm_rtype_size((vm_rtype)o->is.type);
  const void *by = shifts[op] ? w->l->regs[o->b].fixed : NULL;
  bool wide = width == 8, turns = op == VM_not || op == VM_abs;
  const cell *x = cell_at(w, o->a);
  u64 n = 0;
  if (o->is.call > CALL_binary + 1 || is_float(o->is.type) || (!by && !turns && !counts[op]))
    return false;
  if (by) memcpy(&n, by, width);
  if (n >= 8 * width) return false;
  x86_load_cell(w, RAX, x, width);
  if (by)
    x86_shift(&w->code, shifts[op], wide, RAX, (u32)n);
  else if (counts[op])
    x86_plain(&w->code, 2, wide, counts[op], RAX, x86_reg(RAX));
  else if (op == VM_not)
    x86_pair(&w->code, wide, 0xf7, 2, RAX);
  else if (o->is.type == R_s32 || o->is.type == R_s64) {
    x86_move(&w->code, RCX, RAX);
    x86_pair(&w->code, wide, 0xf7, 3, RAX);     /* neg */
    x86_pair(&w->code, wide, 0x0f48, RAX, RCX); /* cmovs */
  }
  x86_store_cell(w, cell_at(w, o->d), RAX, width);
  return true;
}
static bool write_kernel(writer *w, const scalar_op *o) {
  u32 far[2] = {0};
  if (write_bits(w, o)) return true;
  bool near = x86_write_between(w, o, far);
  if (near && !far[0] && !far[1]) return true;
  u32 end = near ? x86_jump_on(&w->code) : 0;
  for (u32 i = 0; i < COUNT(far); i++)
    if (far[i]) x86_land(&w->code, far[i]);
  call_kernel(w, o);
  if (near) x86_land(&w->code, end);
  return true;
}

static void call_step(writer *w, const scalar_op *o) {
  jit_code *c = &w->code;
  const exec_step *x = o->u.step;
  const exec_direct *d = w->direct[o - w->l->ops];
  const void *call;
  memcpy(&call, d ? (const void *)&d->call : (const void *)&x->run, sizeof call);
  if (d) {
    x86_number(&w->code, RDI, d->n);
    x86_plain(c, 0, 1, 0x8d, RSI, x86_direct(w, w->direct_at[o - w->l->ops])); /* lea */
  } else {
    x86_number(&w->code, RDI, (u64)(uintptr_t)x->data);
    x86_load(w, RSI, x86_kept(w, KEEP_ENV), 8);
    x86_pair(c, 0, 0x33, RDX, RDX); /* xor */
    x86_number(&w->code, RCX, x->units);
  }
  x86_number(&w->code, RAX, (u64)(uintptr_t)call);
  x86_pair(c, 0, 0xff, 2, RAX); /* call */
}

static bool write_copied(writer *w, const scalar_op *o) {
  byte_copy c;
  if (!cells_find_copy(w, o, &c) || !x86_is_moved(1, c.bytes)) return false;
  x86_load(w, RDX, x86_kept(w, KEEP_SLOTS), 8);
  x86_load(w, RCX, x86_mem(RDX, (i32)(c.from * sizeof(void *))), 8);
  x86_load(w, RDX, x86_mem(RDX, (i32)(c.to * sizeof(void *))), 8);
  x86_move_bytes(w, x86_mem(RDX, (i32)c.to_at), x86_mem(RCX, (i32)c.from_at), c.bytes);
  x86_end_moves(w, c.bytes);
  return true;
}

/* A step finds in memory what the cells have, and they what it leaves there. */
static void move_cells(writer *w, const u64 *set, const scalar_op *o,
                       void (*move)(writer *w, const cell *k)) {
  bool any = false;
  for (u32 i = 0; i < w->cells.len; i++) {
    if (!cells_have(w, set, o, i)) continue;
    if (!any) x86_load(w, RDX, x86_kept(w, KEEP_SLOTS), 8);
    any = true;
    move(w, &w->cells.data[i]);
  }
}
static bool write_step(writer *w, const scalar_op *o) {
  const part *part = w->part_of[o - w->l->ops];
  move_cells(w, w->put, o, x86_put_back);
  if (part) {
    x86_write_part(w, part);
  } else if (!write_copied(w, o)) {
    spill_for(w, o, false);
    call_step(w, o);
    spill_for(w, o, true);
  }
  move_cells(w, w->fetch, o, x86_fetch);
  return true;
}

/* ---- in and out ---- */

static i32 frame_of(const writer *w) { /* so that calls find it aligned to 16 */
  return (i32)(align_up(w->cells.len * HOME + (KEPT + w->num_direct) * 8, 16) + 8);
}

/* Where the slots that direct steps read and write are; RDX has the slots. */
static void load_registers(writer *w) {
  for (u32 i = 0; i < w->l->num_ops; i++) {
    const exec_direct *d = w->direct[i];
    for (u32 k = 0; d && k < d->num; k++) {
      x86_load(w, RAX, x86_mem(RDX, (i32)(d->slot[k] * sizeof(void *))), 8);
      if (d->at[k]) x86_arith(&w->code, 0, RAX, (i32)d->at[k]);
      x86_store(w, RAX, x86_direct(w, w->direct_at[i] + k), 8);
    }
  }
}

static void begin_code(writer *w) {
  jit_code *c = &w->code;
  x86_pair(c, 0, 0xff, 6, LEFT); /* push */
  for (u32 i = 0; i < FIRST_CLOBBERED; i++) x86_plain(c, 0, 0, 0xff, 6, x86_reg(cell_gprs[i]));
  x86_arith(c, 5, RSP, frame_of(w));
  x86_store(w, RDI, x86_kept(w, KEEP_ENV), 8);
  x86_store(w, RSI, x86_kept(w, KEEP_PLACE), 8);
  x86_store(w, RDX, x86_kept(w, KEEP_SLOTS), 8);
  load_registers(w);
  x86_load(w, LEFT, x86_mem(RSI, (i32)offsetof(struct place, left)), 4);
  for (u32 i = 0; i < w->cells.len; i++) {
    const cell *k = &w->cells.data[i];
    u64 bits[2] = {0};
    if (k->fixed) {
      memcpy(bits, k->fixed, sizeof bits);
      for (u32 half = 0; half < 2; half++) {
        x86_rm to = x86_home(w, k);
        to.disp += 8 * (i32)half;
        x86_number(&w->code, RAX, bits[half]);
        x86_store(w, RAX, to, 8);
      }
      x86_spill(w, k, true);
    } else if (k->place) {
      x86_load(w, RAX, x86_mem(RDX, (i32)((k->place - 1) * sizeof(void *))), 8);
      x86_store(w, RAX, x86_home(w, k), 8);
      x86_spill(w, k, true);
    } else if (k->slot != PROG_NONE && cells_enter(w, i)) {
      x86_fetch(w, k);
    }
  }
  x86_pair(c, 0, 0xff, 4, RCX); /* jmp */
}

static bool write_leave(writer *w, const scalar_op *o) {
  jit_code *c = &w->code;
  move_cells(w, w->put, o, x86_put_back);
  x86_load(w, RAX, x86_kept(w, KEEP_PLACE), 8);
  x86_plain(c, 0, 0, 0xc7, 0, x86_mem(RAX, (i32)offsetof(struct place, pc)));
  x86_u32(c, o->u.pc);
  x86_store(w, LEFT, x86_mem(RAX, (i32)offsetof(struct place, left)), 4);
  x86_arith(c, 0, RSP, frame_of(w));
  for (u32 i = FIRST_CLOBBERED; i-- > 0;)
    x86_plain(c, 0, 0, 0x8f, 0, x86_reg(cell_gprs[i])); /* pop */
  x86_pair(c, 0, 0x8f, 0, LEFT);
  x86_byte(c, 0xc3);
  return true;
}

const cell_machine cells_machine = {
    .registers = {cell_gprs, cell_floats, COUNT(cell_gprs), COUNT(cell_floats)},
    .has_part = x86_has_part,
    .waits = true,
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
            [SCALAR_FMA] = x86_write_fma,
        },
    .write_entries = x86_write_fixes,
    .aim = x86_aim,
    .finish = x86_finish,
};
