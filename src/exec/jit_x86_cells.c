#include "exec/jit_x86_cells.h"

void x86_load(writer *w, u32 reg, x86_rm m, u32 width) {
  static const u16 opcodes[] = {0, 0x0fb6, 0x0fb7, 0, 0x8b, 0, 0, 0, 0x8b};
  x86_plain(&w->code, 0, width == 8, opcodes[width], reg, m);
}
void x86_store(writer *w, u32 reg, x86_rm m, u32 width) {
  x86_plain(&w->code, width == 2, width == 8, width == 1 ? 0x88 : 0x89, reg, m);
}

void x86_load_cell(writer *w, u32 reg, const cell *c, u32 width) {
  if (c->real != NO_REG)
    x86_vex(&w->code, x86_with(x86_to_gpr, width, 0x7e), c->real, 0, x86_reg(reg), -1);
  else if (c->gpr != reg || width < 4)
    x86_load(w, reg, c->gpr != NO_REG ? x86_reg(c->gpr) : x86_home(w, c), width);
}
void x86_test_cell(writer *w, const cell *c) {
  if (c->gpr != NO_REG) {
    x86_pair(&w->code, 0, 0x84, c->gpr, c->gpr); /* test */
  } else {
    x86_plain(&w->code, 0, 0, 0x80, 7, x86_home(w, c)); /* cmp */
    x86_byte(&w->code, 0);
  }
}
void x86_store_cell(writer *w, const cell *c, u32 reg, u32 width) {
  if (c->real != NO_REG)
    x86_vex(&w->code, x86_with(x86_from_gpr, width, 0x6e), c->real, 0, x86_reg(reg), -1);
  else if (c->gpr != NO_REG) /* what is above does not matter, and need not be waited for */
    x86_store(w, reg, x86_reg(c->gpr), width < 4 ? 4 : width);
  else
    x86_store(w, reg, x86_home(w, c), width);
}
u32 x86_load_float(writer *w, u32 to, const cell *c, u32 width) {
  if (c->real != NO_REG) return c->real;
  if (c->gpr != NO_REG)
    x86_vex(&w->code, x86_with(x86_from_gpr, width, 0x6e), to, 0, x86_reg(c->gpr), -1);
  else
    x86_vex(&w->code, x86_of_float(width, 0x10), to, 0, x86_home(w, c), -1);
  return to;
}
void x86_store_float(writer *w, const cell *c, u32 from, u32 width) {
  if (c->real == from) return;
  if (c->real != NO_REG)
    x86_vex(&w->code, x86_move_real, c->real, 0, x86_reg(from), -1);
  else if (c->gpr != NO_REG)
    x86_vex(&w->code, x86_with(x86_to_gpr, width, 0x7e), from, 0, x86_reg(c->gpr), -1);
  else
    x86_vex(&w->code, x86_of_float(width, 0x11), from, 0, x86_home(w, c), -1);
}

void x86_spill(writer *w, const cell *c, bool back) {
  if (c->gpr != NO_REG && back) x86_load(w, c->gpr, x86_home(w, c), 8);
  if (c->gpr != NO_REG && !back) x86_store(w, c->gpr, x86_home(w, c), 8);
  if (c->real != NO_REG)
    x86_vex(&w->code, x86_of_float(c->width, back ? 0x10 : 0x11), c->real, 0, x86_home(w, c), -1);
}

void x86_fetch(writer *w, const cell *k) {
  x86_rm from = x86_mem(RAX, (i32)k->at);
  x86_load(w, RAX, x86_mem(RDX, (i32)(k->slot * sizeof(void *))), 8);
  if (k->width == 16) {
    x86_vex(&w->code, x86_move_16, 0, 0, from, -1);
    x86_vex(&w->code, x86_with(x86_move_16, 0, 0x11), 0, 0, x86_home(w, k), -1);
  } else {
    x86_load(w, RAX, from, k->width);
    x86_store_cell(w, k, RAX, k->width);
  }
}
void x86_put_back(writer *w, const cell *k) {
  x86_load(w, RCX, x86_mem(RDX, (i32)(k->slot * sizeof(void *))), 8);
  if (k->width == 16) {
    x86_vex(&w->code, x86_move_16, 0, 0, x86_home(w, k), -1);
    x86_vex(&w->code, x86_with(x86_move_16, 0, 0x11), 0, 0, x86_mem(RCX, (i32)k->at), -1);
  } else {
    x86_load_cell(w, RAX, k, k->width);
    x86_store(w, RAX, x86_mem(RCX, (i32)k->at), k->width);
  }
}
