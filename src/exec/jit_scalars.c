/* Code over single elements as machine code. What it touches are cells: elements of slots,
 * constants and temporaries. Each has a place in the frame; those that are used most are in
 * registers instead. It is entered through a prologue that fills cells from memory, and where it
 * leaves, those that it writes go back. A kernel is called with places in the frame. */
#include <stddef.h>

#include "exec/jit.h"
#include "exec/jit_x86.h"
#include "exec/launch.h"
#include "exec/scalar_code.h"

enum { MAX_CELLS = 400, HOME = 16, NO_REG = 0xff };
/* RAX, RCX and RDX, and vectors 0 and 1, are for the moment. Behind the cells in the frame: */
enum { KEEP_SLOTS, KEEP_PLACE, KEEP_POISONED, KEPT };
static const u8 gprs[] = {RBX, RBP, R12, R13, R14, R15, RSI, RDI, R8, R9, R10, R11};
enum { FIRST_CLOBBERED = 6, FIRST_XMM = 2, END_XMM = 16 };

typedef struct cell {
  const void *fixed;
  u32 slot; /* PROG_NONE: a temporary or a constant */
  size_t at;
  u64 memory, address; /* of a slot's: equal memory and address are one cell */
  u32 widths;          /* bits: bytes of accesses */
  u32 width;           /* the most */
  u32 uses, floats, integers;
  bool called, written; /* a kernel takes it; it is to go back to memory */
  u8 gpr, xmm;
} cell;

typedef struct writer {
  const lower_env *e;
  const scalar_list *l;
  x86_code code;
  VEC(cell) cells;
  u32 *cell_of;   /* by register of the list */
  u32 *at;        /* by operation: where its code is */
  VEC(u32) jumps; /* pairs: the end of a jump, the operation it goes to */
} writer;

/* ---- cells ---- */

static void find_memory(const program *p, cell *c) {
  u32 home = prog_slot_home(p, c->slot);
  c->memory = home != PROG_NONE ? home : 1ull << 32 | c->slot;
  c->address = c->at + prog_slot_begin(&p->slots[c->slot]);
}

static u32 add_cell(writer *w, const scalar_reg *r) {
  cell c = {.fixed = r->fixed,
            .slot = r->fixed ? PROG_NONE : r->slot,
            .at = r->at,
            .gpr = NO_REG,
            .xmm = NO_REG};
  if (c.slot != PROG_NONE) find_memory(w->e->prog, &c);
  for (u32 i = 0; i < w->cells.len; i++) {
    const cell *k = &w->cells.data[i];
    bool same = c.slot != PROG_NONE && k->slot != PROG_NONE
                    ? k->memory == c.memory && k->address == c.address
                : c.fixed && k->fixed ? memcmp(c.fixed, k->fixed, 16) == 0
                                      : !c.fixed && !k->fixed && k->slot == c.slot && k->at == c.at;
    if (same) return i;
  }
  VEC_PUSH(w->e->a, w->cells, c);
  return (u32)w->cells.len - 1;
}

static cell *cell_at(const writer *w, u32 reg) { return &w->cells.data[w->cell_of[reg]]; }

static bool is_float(u32 type) { return type == R_f32 || type == R_f64; }

static void note(const writer *w, u32 reg, u32 width, bool is_real, bool write) {
  cell *c = cell_at(w, reg);
  c->uses++;
  c->widths |= width;
  if (width > c->width) c->width = width;
  c->floats += is_real, c->integers += !is_real;
  c->written |= write;
}
/* Moves are neither: as the other uses. */
static void note_moved(const writer *w, u32 reg, u32 width, bool write) {
  note(w, reg, width, false, write);
  cell_at(w, reg)->integers--;
}
static void note_called(const writer *w, u32 reg, bool write) {
  if (reg == REG_NULL) return;
  cell *c = cell_at(w, reg);
  c->called = true;
  c->written |= write;
  const scalar_reg *r = &w->l->regs[reg]; /* of the cell's slots, the one that is meant */
  bool plain = r->fixed || r->slot == PROG_NONE;
  u32 width = plain ? 16 : (u32)dtype_size(w->e->prog->slots[r->slot].type);
  c->widths |= width;
  if (width > c->width) c->width = width;
}

static u32 result_of(scalar_is is) {
  if (is.kind == SCALAR_CONVERT) return is.of;
  return vm_op_infos[is.of].result == VM_PRED ? R_pred : is.type;
}

/* Of what computes: operands and the result. */
static void note_computed(const writer *w, const scalar_op *o) {
  u32 from = vm_rtype_size((vm_rtype)o->is.type), to = result_of(o->is);
  note(w, o->a, from, is_float(o->is.type), false);
  if (o->is.kind == SCALAR_BINARY) note(w, o->b, from, is_float(o->is.type), false);
  note(w, o->d, vm_rtype_size((vm_rtype)to), is_float(to), true);
}

static void note_uses(const writer *w, const scalar_op *o) {
  u32 width = 1u << (o->is.of & 7);
  switch ((scalar_kind)o->is.kind) {
  case SCALAR_BINARY:
  case SCALAR_UNARY:
  case SCALAR_CONVERT:
    note_computed(w, o);
    break;
  case SCALAR_SELECT:
    note(w, o->a, 1, false, false);
    note_moved(w, o->c, width, false);
    note_moved(w, o->b, width, false);
    note_moved(w, o->d, width, true);
    break;
  case SCALAR_COPY:
    note_moved(w, o->a, width, false);
    note_moved(w, o->d, width, true);
    break;
  case SCALAR_UNLESS:
    note(w, o->a, 1, false, false);
    break;
  case SCALAR_KERNEL:
    note_called(w, o->a, false), note_called(w, o->b, false), note_called(w, o->c, false);
    note_called(w, o->d, true);
    break;
  case SCALAR_JUMP:
  case SCALAR_BACK:
  case SCALAR_LEAVE:
    break;
  }
}

/* Where lives of slots in one place differ in width, a byte is written into what is there, as
 * memory would have it; what reaches into another cell is not for us. */
static bool cells_are_apart(const writer *w) {
  for (u32 i = 0; i < w->cells.len; i++)
    for (u32 k = 0; k < i; k++) {
      const cell *x = &w->cells.data[i], *y = &w->cells.data[k];
      if (x->slot == PROG_NONE || y->slot == PROG_NONE || x->memory != y->memory) continue;
      if (x->address < y->address + y->width && y->address < x->address + x->width) return false;
    }
  return true;
}

/* The cell that is used most of those that may have such a register. */
static cell *find_best(const writer *w, bool xmm) {
  cell *best = NULL;
  for (u32 i = 0; i < w->cells.len; i++) {
    cell *c = &w->cells.data[i];
    u32 wide = c->widths & ~1u;
    bool uniform = wide == 4 || wide == 8 || (wide == 0 && !xmm);
    bool fits = xmm ? c->floats && !c->integers && !(c->widths & 1) : !(c->floats && !c->integers);
    if (!c->called && c->uses && uniform && fits && c->gpr == NO_REG && c->xmm == NO_REG &&
        (!best || c->uses > best->uses))
      best = c;
  }
  return best;
}
static void give_registers(const writer *w) {
  cell *c;
  for (u32 i = 0; i < COUNT(gprs) && (c = find_best(w, false)); i++) c->gpr = gprs[i];
  for (u32 i = FIRST_XMM; i < END_XMM && (c = find_best(w, true)); i++) c->xmm = (u8)i;
}

/* ---- moves ---- */

static const x86_op from_gpr = {1, 1, 0, 0x6e, 0, 0, false}, to_gpr = {1, 1, 0, 0x7e, 0, 0, false};
static const x86_op move_16 = {0, 1, 0, 0x10, 0, 0, false}; /* 0x11 stores */

static x86_rm home_of(const writer *w, const cell *c) {
  return x86_mem(RSP, (i32)((size_t)(c - w->cells.data) * HOME));
}
static x86_rm kept(const writer *w, u32 which) {
  return x86_mem(RSP, (i32)(w->cells.len * HOME + which * 8));
}
static x86_op with(x86_op op, u32 width, u32 opcode) {
  op.w = width == 8;
  op.opcode = (u8)opcode;
  return op;
}
/* Of 4 or 8 bytes: movss, movsd and what has their prefixes. */
static x86_op of_float(u32 width, u32 opcode) {
  return (x86_op){width == 8 ? 3 : 2, 1, 0, (u8)opcode, 0, 0, false};
}

static void load_from(writer *w, u32 reg, x86_rm m, u32 width) {
  static const u16 opcodes[] = {0, 0x0fb6, 0x0fb7, 0, 0x8b, 0, 0, 0, 0x8b};
  x86_plain(&w->code, 0, width == 8, opcodes[width], reg, m);
}
static void store_to(writer *w, u32 reg, x86_rm m, u32 width) {
  x86_plain(&w->code, width == 2, width == 8, width == 1 ? 0x88 : 0x89, reg, m);
}

/* The cell, of up to 8 bytes, to a register with zeros above, and back. */
static void load_cell(writer *w, u32 reg, const cell *c, u32 width) {
  if (c->xmm != NO_REG)
    x86_vex(&w->code, with(to_gpr, width, 0x7e), c->xmm, 0, x86_reg(reg));
  else
    load_from(w, reg, c->gpr != NO_REG ? x86_reg(c->gpr) : home_of(w, c), width);
}
static void store_cell(writer *w, const cell *c, u32 reg, u32 width) {
  if (c->xmm != NO_REG)
    x86_vex(&w->code, with(from_gpr, width, 0x6e), c->xmm, 0, x86_reg(reg));
  else
    store_to(w, reg, c->gpr != NO_REG ? x86_reg(c->gpr) : home_of(w, c), width);
}
/* A vector register that has it: the cell's own, or `to`. */
static u32 load_float(writer *w, u32 to, const cell *c, u32 width) {
  if (c->xmm != NO_REG) return c->xmm;
  if (c->gpr != NO_REG)
    x86_vex(&w->code, with(from_gpr, width, 0x6e), to, 0, x86_reg(c->gpr));
  else
    x86_vex(&w->code, of_float(width, 0x10), to, 0, home_of(w, c));
  return to;
}
static void store_float(writer *w, const cell *c, u32 from, u32 width) {
  if (c->xmm == from) return;
  if (c->xmm != NO_REG)
    x86_vex(&w->code, (x86_op){0, 1, 0, 0x28, 0, 0, false}, c->xmm, 0, x86_reg(from));
  else if (c->gpr != NO_REG)
    x86_vex(&w->code, with(to_gpr, width, 0x7e), from, 0, x86_reg(c->gpr));
  else
    x86_vex(&w->code, of_float(width, 0x11), from, 0, home_of(w, c));
}

/* Between a register and its place in the frame. */
static void spill(writer *w, const cell *c, bool back) {
  if (c->gpr != NO_REG && back) load_from(w, c->gpr, home_of(w, c), 8);
  if (c->gpr != NO_REG && !back) store_to(w, c->gpr, home_of(w, c), 8);
  if (c->xmm != NO_REG)
    x86_vex(&w->code, of_float(8, back ? 0x10 : 0x11), c->xmm, 0, home_of(w, c));
}

/* ---- write_<kind>: operations; false: not known ---- */

typedef bool write_fn(writer *w, const scalar_op *o);

static u32 condition_of(u32 op, bool is_signed) {
  static const u8 codes[][2] = {{4, 4}, {5, 5}, {2, 0xc}, {6, 0xe}, {7, 0xf}, {3, 0xd}};
  return codes[op - VM_eq][is_signed];
}
_Static_assert(VM_ne == VM_eq + 1 && VM_lt == VM_eq + 2 && VM_le == VM_eq + 3 &&
                   VM_gt == VM_eq + 4 && VM_ge == VM_eq + 5,
               "tables are in this order");
static bool is_comparison(u32 op) { return op >= VM_eq && op <= VM_ge; }

/* The second operand where instructions read it. */
static x86_rm integer_operand(writer *w, const cell *c, u32 width) {
  if (c->gpr != NO_REG && width >= 4) return x86_reg(c->gpr);
  if (c->xmm == NO_REG && c->gpr == NO_REG && width >= 4) return home_of(w, c);
  load_cell(w, RCX, c, width);
  return x86_reg(RCX);
}

static bool write_integers(writer *w, const scalar_op *o) {
  static const u16 opcodes[VM_OP_COUNT] = {
      [VM_add] = 0x03, [VM_sub] = 0x2b, [VM_mul] = 0x0faf, [VM_and] = 0x23,
      [VM_or] = 0x0b,  [VM_xor] = 0x33, [VM_max] = 0x3b,   [VM_min] = 0x3b};
  const cell *x = cell_at(w, o->a), *y = cell_at(w, o->b), *d = cell_at(w, o->d);
  u32 width = vm_rtype_size((vm_rtype)o->is.type), op = o->is.of;
  bool is_signed = o->is.type == R_s32 || o->is.type == R_s64, wide = width == 8;
  x86_code *c = &w->code;
  if (is_comparison(op)) {
    load_cell(w, RAX, x, width);
    x86_plain(c, 0, wide, 0x3b, RAX, integer_operand(w, y, width));
    x86_plain(c, 0, 0, 0x0f90 | condition_of(op, is_signed), 0, x86_reg(RAX));
    store_cell(w, d, RAX, 1);
    return true;
  }
  if (!opcodes[op]) return false;
  bool extreme = op == VM_max || op == VM_min;
  u32 to = d->gpr != NO_REG && d != y && width >= 4 && !extreme ? d->gpr : RAX;
  x86_rm second = integer_operand(w, y, width);
  if (to == RAX || d != x) load_cell(w, to, x, width);
  x86_plain(c, 0, wide, opcodes[op], to, second);
  if (extreme) /* y where x is below, or above */
    x86_plain(c, 0, wide, 0x0f40 | condition_of(op == VM_max ? VM_lt : VM_gt, is_signed), to,
              second);
  if (to == RAX) store_cell(w, d, RAX, width);
  return true;
}

static bool write_floats(writer *w, const scalar_op *o) {
  static const u8 opcodes[VM_OP_COUNT] = {
      [VM_add] = 0x58, [VM_sub] = 0x5c, [VM_mul] = 0x59, [VM_div] = 0x5e};
  static const u8 predicates[] = {0, 4, 1, 2, 14, 13}; /* in the order of comparisons */
  const cell *d = cell_at(w, o->d);
  u32 width = vm_rtype_size((vm_rtype)o->is.type), op = o->is.of;
  u32 x = load_float(w, 0, cell_at(w, o->a), width), y = load_float(w, 1, cell_at(w, o->b), width);
  if (is_comparison(op)) {
    x86_vex(&w->code, of_float(width, 0xc2), 0, x, x86_reg(y));
    x86_byte(&w->code, predicates[op - VM_eq]);
    x86_vex(&w->code, to_gpr, 0, 0, x86_reg(RAX));
    x86_plain(&w->code, 0, 0, 0x83, 4, x86_reg(RAX)); /* and eax, 1 */
    x86_byte(&w->code, 1);
    store_cell(w, d, RAX, 1);
    return true;
  }
  if (!opcodes[op]) return false;
  u32 to = d->xmm != NO_REG ? d->xmm : 0;
  x86_vex(&w->code, of_float(width, opcodes[op]), to, x, x86_reg(y));
  store_float(w, d, to, width);
  return true;
}

static bool write_binary(writer *w, const scalar_op *o) {
  return is_float(o->is.type) ? write_floats(w, o) : write_integers(w, o);
}

static bool write_unary(writer *w, const scalar_op *o) {
  u32 width = vm_rtype_size((vm_rtype)o->is.type);
  x86_code *c = &w->code;
  load_cell(w, RAX, cell_at(w, o->a), width);
  if (o->is.of == VM_not && o->is.type == R_pred) {
    x86_plain(c, 0, 0, 0x83, 6, x86_reg(RAX)); /* xor eax, 1 */
    x86_byte(c, 1);
  } else if (o->is.of == VM_neg && is_float(o->is.type)) { /* btc: the sign */
    x86_plain(c, 0, width == 8, 0x0fba, 7, x86_reg(RAX));
    x86_byte(c, 8 * width - 1);
  } else if (o->is.of == VM_neg) {
    x86_plain(c, 0, width == 8, 0xf7, 3, x86_reg(RAX));
  } else {
    return false;
  }
  store_cell(w, cell_at(w, o->d), RAX, width);
  return true;
}

/* Between integers of 4 and 8 bytes, and of these and pred to floats: pred has zeros above. */
static bool write_convert(writer *w, const scalar_op *o) {
  u32 from = vm_rtype_size((vm_rtype)o->is.type), to = vm_rtype_size((vm_rtype)o->is.of);
  const cell *d = cell_at(w, o->d);
  load_cell(w, RAX, cell_at(w, o->a), from);
  if (o->is.type == R_s32 && to == 8 && !is_float(o->is.of))
    x86_plain(&w->code, 0, 1, 0x63, RAX, x86_reg(RAX)); /* movsxd */
  if (!is_float(o->is.of)) {
    store_cell(w, d, RAX, to);
    return true;
  }
  u32 reg = d->xmm != NO_REG ? d->xmm : 0;
  x86_vex(&w->code, (x86_op){0, 1, 0, 0x57, 0, 0, false}, reg, reg, x86_reg(reg)); /* zeros */
  x86_op op = of_float(to, 0x2a);
  op.w = from == 8;
  x86_vex(&w->code, op, reg, reg, x86_reg(RAX));
  store_float(w, d, reg, to);
  return true;
}

static bool write_select(writer *w, const scalar_op *o) {
  u32 width = 1u << o->is.of;
  if (width > 8) return false;
  load_cell(w, RAX, cell_at(w, o->c), width);
  load_cell(w, RCX, cell_at(w, o->b), width);
  load_cell(w, RDX, cell_at(w, o->a), 1);
  x86_plain(&w->code, 0, 0, 0x85, RDX, x86_reg(RDX));   /* test */
  x86_plain(&w->code, 0, 1, 0x0f45, RAX, x86_reg(RCX)); /* cmovne */
  store_cell(w, cell_at(w, o->d), RAX, width);
  return true;
}

static bool write_copy(writer *w, const scalar_op *o) {
  u32 width = 1u << o->is.of;
  const cell *d = cell_at(w, o->d), *x = cell_at(w, o->a);
  if (width == 16) {
    x86_vex(&w->code, move_16, 0, 0, home_of(w, x));
    x86_vex(&w->code, with(move_16, 0, 0x11), 0, 0, home_of(w, d));
  } else if (d->xmm != NO_REG) {
    store_float(w, d, load_float(w, d->xmm, x, width), width);
  } else if (d->gpr != NO_REG && width >= 4) {
    load_cell(w, d->gpr, x, width);
  } else {
    load_cell(w, RAX, x, width);
    store_cell(w, d, RAX, width);
  }
  return true;
}

/* An unconditional jump, or one if al is 0, to an operation. */
static void jump_to(writer *w, const scalar_op *to, bool if_zero) {
  if (if_zero) {
    x86_plain(&w->code, 0, 0, 0x84, RAX, x86_reg(RAX)); /* test al, al */
    x86_jump(&w->code, X86_EQUAL);
  } else {
    x86_byte(&w->code, 0xe9);
    x86_u32(&w->code, 0);
  }
  VEC_PUSH(w->e->a, w->jumps, (u32)w->code.bytes.len);
  VEC_PUSH(w->e->a, w->jumps, (u32)(to - w->l->ops));
}
static bool write_jump(writer *w, const scalar_op *o) {
  jump_to(w, o->u.to, false);
  return true;
}
static bool write_unless(writer *w, const scalar_op *o) {
  load_cell(w, RAX, cell_at(w, o->a), 1);
  jump_to(w, o->u.to, true);
  return true;
}
static bool write_back(writer *w, const scalar_op *o) {
  _Static_assert(sizeof(((struct launch *)0)->poisoned) == 1, "one byte is read");
  load_from(w, RAX, kept(w, KEEP_POISONED), 8);
  load_from(w, RAX, x86_mem(RAX, 0), 1);
  jump_to(w, o->u.to, true);
  return true;
}

static void pass(writer *w, u32 argument, u32 reg) {
  const cell *c = reg == REG_NULL ? NULL : cell_at(w, reg);
  if (!c)
    x86_plain(&w->code, 0, 0, 0x33, argument, x86_reg(argument)); /* xor */
  else
    x86_plain(&w->code, 0, 1, 0x8d, argument, home_of(w, c)); /* lea */
}
static void put_address(writer *w, u32 reg, const void *p) {
  u64 bits = (u64)(uintptr_t)p;
  x86_byte(&w->code, 0x48 | reg >> 3);
  x86_byte(&w->code, 0xb8 | (reg & 7));
  x86_u32(&w->code, (u32)bits);
  x86_u32(&w->code, (u32)(bits >> 32));
}
static bool is_clobbered(const cell *c) {
  for (u32 i = 0; i < FIRST_CLOBBERED; i++)
    if (c->gpr == gprs[i]) return false;
  return true;
}
static bool write_kernel(writer *w, const scalar_op *o) {
  const void *kernel;
  for (u32 i = 0; i < w->cells.len; i++)
    if (is_clobbered(&w->cells.data[i])) spill(w, &w->cells.data[i], false);
  x86_plain(&w->code, 0, 1, 0xc7, 0, x86_reg(RDI)); /* mov rdi, 1 */
  x86_u32(&w->code, 1);
  pass(w, RSI, o->d), pass(w, RDX, o->a), pass(w, RCX, o->b), pass(w, R8, o->c);
  memcpy(&kernel, &o->u.kernel, sizeof kernel);
  put_address(w, RAX, kernel);
  x86_plain(&w->code, 0, 0, 0xff, 2, x86_reg(RAX)); /* call */
  for (u32 i = 0; i < w->cells.len; i++)
    if (is_clobbered(&w->cells.data[i])) spill(w, &w->cells.data[i], true);
  return true;
}

/* ---- in and out ---- */

static i32 frame_of(const writer *w) { /* so that calls find it aligned to 16 */
  return (i32)(align_up(w->cells.len * HOME + KEPT * 8, 16) + 8);
}

static void begin_code(writer *w) {
  x86_code *c = &w->code;
  for (u32 i = 0; i < FIRST_CLOBBERED; i++)
    x86_plain(c, 0, 0, 0xff, 6, x86_reg(gprs[i])); /* push */
  x86_arith(c, 5, RSP, frame_of(w));
  store_to(w, RDI, kept(w, KEEP_SLOTS), 8);
  store_to(w, RSI, kept(w, KEEP_PLACE), 8);
  store_to(w, RDX, kept(w, KEEP_POISONED), 8);
  x86_move(c, RDX, RDI);
  for (u32 i = 0; i < w->cells.len; i++) {
    const cell *k = &w->cells.data[i];
    u64 bits[2] = {0};
    if (k->fixed) {
      memcpy(bits, k->fixed, sizeof bits);
      for (u32 half = 0; half < 2; half++) {
        x86_rm to = home_of(w, k);
        to.disp += 8 * (i32)half;
        put_address(w, RAX, (const void *)(uintptr_t)bits[half]);
        store_to(w, RAX, to, 8);
      }
      spill(w, k, true);
    } else if (k->slot != PROG_NONE) {
      x86_rm from = x86_mem(RAX, (i32)k->at);
      load_from(w, RAX, x86_mem(RDX, (i32)(k->slot * sizeof(void *))), 8);
      if (k->width == 16) {
        x86_vex(c, move_16, 0, 0, from);
        x86_vex(c, with(move_16, 0, 0x11), 0, 0, home_of(w, k));
      } else {
        load_from(w, RAX, from, k->width);
        store_cell(w, k, RAX, k->width);
      }
    }
  }
  x86_plain(c, 0, 0, 0xff, 4, x86_reg(RCX)); /* jmp */
}

static bool write_leave(writer *w, const scalar_op *o) {
  x86_code *c = &w->code;
  load_from(w, RDX, kept(w, KEEP_SLOTS), 8);
  for (u32 i = 0; i < w->cells.len; i++) {
    const cell *k = &w->cells.data[i];
    if (k->slot == PROG_NONE || !k->written) continue;
    load_from(w, RCX, x86_mem(RDX, (i32)(k->slot * sizeof(void *))), 8);
    if (k->width == 16) {
      x86_vex(c, move_16, 0, 0, home_of(w, k));
      x86_vex(c, with(move_16, 0, 0x11), 0, 0, x86_mem(RCX, (i32)k->at));
    } else {
      load_cell(w, RAX, k, k->width);
      store_to(w, RAX, x86_mem(RCX, (i32)k->at), k->width);
    }
  }
  load_from(w, RAX, kept(w, KEEP_PLACE), 8);
  x86_plain(c, 0, 0, 0xc7, 0, x86_mem(RAX, (i32)offsetof(struct place, pc)));
  x86_u32(c, o->u.pc);
  x86_arith(c, 0, RSP, frame_of(w));
  for (u32 i = FIRST_CLOBBERED; i-- > 0;) x86_plain(c, 0, 0, 0x8f, 0, x86_reg(gprs[i])); /* pop */
  x86_byte(c, 0xc3);
  return true;
}

static write_fn *const write_of[] = {
    [SCALAR_KERNEL] = write_kernel,   [SCALAR_BINARY] = write_binary, [SCALAR_UNARY] = write_unary,
    [SCALAR_CONVERT] = write_convert, [SCALAR_SELECT] = write_select, [SCALAR_COPY] = write_copy,
    [SCALAR_JUMP] = write_jump,       [SCALAR_UNLESS] = write_unless, [SCALAR_BACK] = write_back,
    [SCALAR_LEAVE] = write_leave,
};

static bool find_cells(writer *w) {
  const scalar_list *l = w->l;
  w->cell_of = arena_zalloc(w->e->a, (l->num_regs + 1) * sizeof(u32));
  for (u32 i = REG_FIRST; i < l->num_regs; i++) {
    const scalar_reg *r = &l->regs[i];
    if (!r->fixed && r->slot != PROG_NONE &&
        (w->e->prog->slots[r->slot].kind == SLOT_STRIP || r->at > INT32_MAX - 16))
      return false;
    w->cell_of[i] = add_cell(w, r);
    if (w->cells.len > MAX_CELLS) return false;
  }
  for (u32 i = 0; i < l->num_ops; i++) note_uses(w, &l->ops[i]);
  if (!cells_are_apart(w)) return false;
  give_registers(w);
  return true;
}

scalar_run_fn *jit_scalars(const lower_env *e, const scalar_list *l, const void ***out_entries) {
  writer w = {.e = e, .l = l, .code.a = e->a};
  scalar_run_fn *run;
  if (!e->jit || !find_cells(&w)) return NULL;
  begin_code(&w);
  w.at = ARENA_ARRAY(e->a, u32, l->num_ops + 1);
  for (u32 i = 0; i < l->num_ops; i++) {
    w.at[i] = (u32)w.code.bytes.len;
    if (!write_of[l->ops[i].is.kind](&w, &l->ops[i])) return NULL;
  }
  for (u32 i = 0; i < w.jumps.len; i += 2)
    x86_aim(&w.code, w.jumps.data[i], w.at[w.jumps.data[i + 1]]);
  const char *base =
      jit_place(e->jit, e->a, (str){(const char *)w.code.bytes.data, w.code.bytes.len});
  if (!base) return NULL;
  *out_entries = ARENA_ARRAY(e->a, const void *, l->num_ops + 1);
  for (u32 i = 0; i < l->num_ops; i++) (*out_entries)[i] = base + w.at[i];
  memcpy(&run, &base, sizeof run);
  return run;
}
