/* Divisions of single integers as machine code of x86-64. */
#include "exec/jit_x86_cells.h"

/* Of x in RAX by y in RCX, where y is 0: -1, or x is left; or, of signed numbers, -1. */
static void write_odd_division(writer *w, bool wide, bool is_signed, bool left) {
  jit_code *c = &w->code;
  if (is_signed && !left) x86_pair(c, wide, 0xf7, 3, RAX); /* neg */
  if (!is_signed && left) return;
  x86_pair(c, 1, 0xc7, 0, RDX); /* mov */
  x86_u32(c, left ? 0 : UINT32_MAX);
  x86_pair(c, wide, 0x85, RCX, RCX); /* test */
  x86_pair(c, 1, left ? 0x0f45 : 0x0f44, RAX, RDX);
}
/* Of x in RAX by a power of two from 2 on, to RAX: towards 0, so what is below that has as much
 * added as is left. */
static void divide_power(writer *w, bool wide, bool is_signed, bool left, i32 by) {
  jit_code *c = &w->code;
  u32 bits = wide ? 64 : 32, power = (u32)__builtin_ctz((u32)by);
  if (!is_signed) {
    if (left)
      x86_immediate(&w->code, 4, wide, RAX, by - 1); /* and */
    else
      x86_shift(&w->code, 5, wide, RAX, power);
    return;
  }
  x86_move(c, RDX, RAX);
  x86_shift(&w->code, 7, wide, RDX, bits - 1);
  x86_shift(&w->code, 5, wide, RDX, bits - power);
  x86_pair(c, wide, 0x03, RDX, RAX); /* add */
  if (!left) {
    x86_shift(&w->code, 7, wide, RDX, power);
    x86_move(c, RAX, RDX);
    return;
  }
  x86_immediate(&w->code, 4, wide, RDX, -by);
  x86_pair(c, wide, 0x2b, RAX, RDX); /* sub */
}

/* The same of 32 bits by other constants: a product with 2^64 / by, which is as much too large as
 * is cut off again. */
static void divide_known(writer *w, bool is_signed, bool left, i32 by) {
  jit_code *c = &w->code;
  if (is_signed) x86_pair(c, 1, 0x63, RAX, RAX); /* movsxd */
  x86_move(c, RCX, RAX);
  x86_number(c, RDX, UINT64_MAX / (u32)by + 1);
  x86_pair(c, 1, 0xf7, is_signed ? 5 : 4, RDX); /* imul, mul */
  x86_move(c, RAX, RDX);
  if (is_signed) {
    x86_move(c, RDX, RCX);
    x86_shift(c, 5, true, RDX, 63);
    x86_pair(c, 0, 0x03, RAX, RDX); /* add */
  }
  if (!left) return;
  x86_pair(c, 0, 0x69, RAX, RAX); /* imul */
  x86_u32(c, (u32)by);
  x86_pair(c, 0, 0x2b, RCX, RAX); /* sub */
  x86_move(c, RAX, RCX);
}

void x86_write_division(writer *w, const scalar_op *o) {
  jit_code *c = &w->code;
  u32 width = vm_rtype_size((vm_rtype)o->is.type), jump = 0, end;
  bool is_signed = o->is.type == R_s32 || o->is.type == R_s64, wide = width == 8;
  bool left = o->is.of == VM_rem;
  i32 imm;
  x86_load_cell(w, RAX, cell_at(w, o->a), width);
  bool known = find_immediate(w, o, &imm);
  bool power = known && (imm & (imm - 1)) == 0;
  if (known && imm > 1 && (power || !wide)) {
    if (power)
      divide_power(w, wide, is_signed, left, imm);
    else
      divide_known(w, is_signed, left, imm);
    x86_store_cell(w, cell_at(w, o->d), RAX, width);
    return;
  }
  if (known) {
    x86_pair(c, 1, 0xc7, 0, RCX); /* mov */
    x86_u32(c, (u32)imm);
  } else {
    x86_load_cell(w, RCX, cell_at(w, o->b), width);
    imm = 0;
  }
  if (imm == 0 || imm == -1) {
    x86_plain(c, 0, 1, 0x8d, RDX, x86_mem(RCX, is_signed)); /* lea: 0 or 1 of those that are odd */
    x86_pair(c, wide, 0x83, 7, RDX);                        /* cmp */
    x86_byte(c, is_signed);
    jump = x86_jump(c, X86_ABOVE);
    write_odd_division(w, wide, is_signed, left);
    end = x86_jump_on(&w->code);
    x86_land(c, jump);
  }
  if (is_signed)
    x86_byte(c, 0x40 | (u32)wide << 3), x86_byte(c, 0x99); /* cdq, cqo */
  else
    x86_pair(c, 0, 0x33, RDX, RDX);
  x86_pair(c, wide, 0xf7, is_signed ? 7 : 6, RCX);
  if (left) x86_move(c, RAX, RDX);
  if (jump) x86_land(c, end);
  x86_store_cell(w, cell_at(w, o->d), RAX, width);
}
