/* Operations on single floats as machine code of x86-64. */
#include "exec/jit_x86_cells.h"

static const x86_op ones = {1, 1, 0, 0x76, 0, 0, false};
static void put_minus_zero(writer *w, u32 reg, u32 width) {
  x86_op shift = {1, 1, 0, width == 8 ? 0x73 : 0x72, 0, 0, false};
  x86_vex(&w->code, ones, reg, reg, x86_reg(reg), -1);
  x86_vex(&w->code, shift, 6, reg, x86_reg(reg), 8 * (i32)width - 1);
}
static const x86_op choose = {1, 3, 0, 0x4a, 0, 0, false};

/* Whether what has computed it, in the same step, leaves no denormals where these are flushed. */
static bool is_flushed(const writer *w, const scalar_op *o, const cell *x) {
  while (x->slot == PROG_NONE && o-- > w->l->ops) {
    u32 kind = o->is.kind;
    if (kind >= SCALAR_JUMP && kind != SCALAR_FMA) return false;
    if (cell_at(w, o->d) == x)
      return kind == SCALAR_FMA || (kind == SCALAR_BINARY && is_float(o->is.type));
  }
  return false;
}
/* With a constant but 0 that is a number: equal is the same, and the instruction's answer to NaN is
 * its second operand. */
static bool write_bound(writer *w, const scalar_op *o, u32 bound, u32 by, x86_op most, x86_op add) {
  const cell *x = cell_at(w, by), *d = cell_at(w, o->d);
  const void *fixed = w->l->regs[bound].fixed;
  u32 width = vm_rtype_size((vm_rtype)o->is.type), upper;
  u32 infinite = width == 8 ? 0x7ff00000 : 0x7f800000, least = width == 8 ? 0x100000 : 0x800000;
  if (!fixed) return false;
  memcpy(&upper, (const char *)fixed + width - 4, sizeof upper);
  if ((upper & INT32_MAX) - least >= infinite - least) return false;
  u32 to = d->real != NO_REG ? d->real : 0;
  x86_rm second = x86_reg(x86_load_float(w, 1, x, width));
  x86_vex(&w->code, most, to, x86_load_float(w, 0, cell_at(w, bound), width), second, -1);
  if (!is_flushed(w, o, x)) {
    put_minus_zero(w, 15, width);
    x86_vex(&w->code, add, to, to, x86_reg(15), -1);
  }
  x86_store_float(w, d, to, width);
  return true;
}

/* Maxima, of which -0 is less than +0, are the bits that both orders of the operands give: of equal
 * ones an instruction takes the second, and where one is a NaN, too. Minima are the bits of either.
 * A sum of the two is NaN just where one of them is. */
static void write_extreme(writer *w, const scalar_op *o) {
  bool least = o->is.of == VM_min;
  u32 width = vm_rtype_size((vm_rtype)o->is.type);
  x86_op add = x86_of_float(width, 0x58), most = x86_of_float(width, least ? 0x5d : 0x5f);
  x86_op both = {0, 1, 0, least ? 0x56 : 0x54, 0, 0, false}; /* or, and */
  jit_code *c = &w->code;
  const cell *d = cell_at(w, o->d);
  if (write_bound(w, o, o->a, o->b, most, add) || write_bound(w, o, o->b, o->a, most, add)) return;
  u32 to = d->real != NO_REG ? d->real : 0;
  u32 x = x86_load_float(w, 0, cell_at(w, o->a), width),
      y = x86_load_float(w, 1, cell_at(w, o->b), width);
  x86_vex(c, most, 15, x, x86_reg(y), -1);
  x86_vex(c, most, 0, y, x86_reg(x), -1);
  x86_vex(c, add, 1, 15, x86_reg(0), -1);
  x86_vex(c, both, 0, 0, x86_reg(15), -1);
  put_minus_zero(w, 15, width);
  x86_vex(c, add, 0, 0, x86_reg(15), -1); /* -0: a denormal becomes a zero where they are flushed */
  x86_vex(c, x86_of_float(width, 0xc2), 15, 1, x86_reg(1), 3); /* unordered */
  x86_vex(c, choose, to, 0, x86_reg(1), 15 << 4);
  x86_store_float(w, d, to, width);
}

static const u8 predicates[] = {0, 4, 1, 2, 14, 13}; /* in the order of comparisons */

void x86_compare_floats(writer *w, const scalar_op *o) {
  u32 width = vm_rtype_size((vm_rtype)o->is.type), op = o->is.of;
  u32 x = x86_load_float(w, 0, cell_at(w, o->a), width),
      y = x86_load_float(w, 1, cell_at(w, o->b), width);
  bool less = op == VM_lt || op == VM_le;
  if (op == VM_eq || op == VM_ne) {
    x86_vex(&w->code, x86_of_float(width, 0xc2), 0, x, x86_reg(y), predicates[op - VM_eq]);
    x86_vex(&w->code, x86_to_gpr, 0, 0, x86_reg(RAX), -1);
    x86_pair(&w->code, 0, 0x83, 4, RAX); /* and eax, 1 */
    x86_byte(&w->code, 1);
  } else { /* NaN is below and equal */
    x86_op flags = {width == 8, 1, 0, 0x2e, 0, 0, false};
    x86_vex(&w->code, flags, less ? y : x, 0, x86_reg(less ? x : y), -1);
  }
}

bool x86_write_choice(writer *w, const scalar_op *o, const scalar_op *asked) {
  u32 width = 1u << o->is.of, by = vm_rtype_size((vm_rtype)asked->is.type);
  const cell *d = cell_at(w, o->d);
  if (d->real == NO_REG || !is_float(asked->is.type) || by < width) return false;
  u32 x = x86_load_float(w, 0, cell_at(w, asked->a), by),
      y = x86_load_float(w, 1, cell_at(w, asked->b), by);
  x86_vex(&w->code, x86_of_float(by, 0xc2), 15, x, x86_reg(y), predicates[asked->is.of - VM_eq]);
  u32 yes = x86_load_float(w, 0, cell_at(w, o->b), width),
      no = x86_load_float(w, 1, cell_at(w, o->c), width);
  x86_vex(&w->code, choose, d->real, no, x86_reg(yes), 15 << 4);
  return true;
}

bool x86_write_floats(writer *w, const scalar_op *o) {
  static const u8 opcodes[VM_OP_COUNT] = {
      [VM_add] = 0x58, [VM_sub] = 0x5c, [VM_mul] = 0x59, [VM_div] = 0x5e};
  const cell *d = cell_at(w, o->d);
  u32 width = vm_rtype_size((vm_rtype)o->is.type), op = o->is.of;
  if (op == VM_max || op == VM_min) {
    write_extreme(w, o);
    return true;
  }
  if (!opcodes[op]) return false;
  u32 x = x86_load_float(w, 0, cell_at(w, o->a), width),
      y = x86_load_float(w, 1, cell_at(w, o->b), width);
  u32 to = d->real != NO_REG ? d->real : 0;
  x86_vex(&w->code, x86_of_float(width, opcodes[op]), to, x, x86_reg(y), -1);
  x86_store_float(w, d, to, width);
  return true;
}

bool x86_write_fma(writer *w, const scalar_op *o) {
  const cell *a = cell_at(w, o->a), *b = cell_at(w, o->b), *c = cell_at(w, o->c);
  const cell *d = cell_at(w, o->d);
  u32 width = vm_rtype_size((vm_rtype)o->is.type);
  u32 to = d->real != NO_REG && d != a && d != b ? d->real : 0;
  u32 from = x86_load_float(w, to, c, width), x = x86_load_float(w, 1, a, width);
  if (from != to) x86_vex(&w->code, x86_move_real, to, 0, x86_reg(from), -1);
  x86_rm y = b->real == NO_REG && b->gpr == NO_REG ? x86_home(w, b)
                                                   : x86_reg(x86_load_float(w, 15, b, width));
  x86_op multiply = {1, 2, width == 8, 0xb9, 0, 0, false}; /* vfmadd231ss, vfmadd231sd */
  x86_vex(&w->code, multiply, to, x, y, -1);
  x86_store_float(w, d, to, width);
  return true;
}

bool x86_write_root(writer *w, const scalar_op *o) {
  const cell *d = cell_at(w, o->d);
  u32 width = vm_rtype_size((vm_rtype)o->is.type), to = d->real != NO_REG ? d->real : 0;
  u32 x = x86_load_float(w, 1, cell_at(w, o->a), width);
  x86_vex(&w->code, x86_of_float(width, 0x51), to, x, x86_reg(x), -1);
  x86_store_float(w, d, to, width);
  return true;
}
/* Of a float, the sign turned or taken off. */
bool x86_write_signed(writer *w, const scalar_op *o) {
  bool turned = o->is.of == VM_neg;
  const cell *d = cell_at(w, o->d);
  u32 width = vm_rtype_size((vm_rtype)o->is.type), to = d->real != NO_REG ? d->real : 0;
  u32 x = x86_load_float(w, 0, cell_at(w, o->a), width);
  x86_vex(&w->code, ones, 15, 15, x86_reg(15), -1);
  x86_vex(&w->code, x86_with(ones, 0, width == 8 ? 0x73 : 0x72), turned ? 6 : 2, 15, x86_reg(15),
          turned ? 8 * (i32)width - 1 : 1);
  x86_vex(&w->code, (x86_op){0, 1, 0, turned ? 0x57 : 0x54, 0, 0, false}, to, x, x86_reg(15), -1);
  x86_store_float(w, d, to, width);
  return true;
}
