/* Encodings, as in the processors' manuals: section "Instruction Format" of both makers'. */
#include "exec/jit_x86.h"

void x86_byte(jit_code *c, u32 byte) { VEC_PUSH(c->a, c->bytes, (u8)byte); }
void x86_u32(jit_code *c, u32 value) {
  for (u32 i = 0; i < 4; i++) x86_byte(c, value >> 8 * i & 0xff);
}

/* ModRM, SIB and displacement; `behind`: bytes of the instruction after them. A displacement is of
 * 4 bytes or none: that of one byte means something else under EVEX. */
static void put_rm(jit_code *c, u32 reg, x86_rm m, u32 behind) {
  u32 middle = (reg & 7) << 3, base = m.base & 7;
  if (!m.memory) {
    x86_byte(c, 0xc0 | middle | (m.reg & 7));
    return;
  }
  if (m.pooled) {
    x86_byte(c, middle | 5);
    VEC_PUSH(c->a, c->fixups, (u32)c->bytes.len);
    VEC_PUSH(c->a, c->fixups, (u32)m.disp);
    x86_u32(c, behind);
    return;
  }
  bool sib = m.index != GPR_NONE || base == RSP;
  u32 mode = m.disp ? 0x80 : base == RBP ? 0x40 : 0;
  x86_byte(c, mode | middle | (sib ? 4 : base));
  if (sib) x86_byte(c, (u32)m.scale << 6 | (m.index == GPR_NONE ? 4u : m.index & 7u) << 3 | base);
  if (m.disp)
    x86_u32(c, (u32)m.disp);
  else if (mode)
    x86_byte(c, 0);
}

/* The upper bits of r/m, or of base and index, which prefixes have upside down. */
static u32 bit_b(x86_rm m) { return (m.memory ? m.base : m.reg) >> 3 & (m.pooled ? 0 : 1); }
static u32 bit_x(x86_rm m) {
  if (!m.memory) return m.reg >> 4 & 1;
  return m.pooled || m.index == GPR_NONE ? 0 : m.index >> 3 & 1;
}

void x86_evex(jit_code *c, x86_op op, u32 reg, u32 v, x86_rm rm, i32 imm) {
  x86_byte(c, 0x62);
  x86_byte(c, !(reg & 8) << 7 | !bit_x(rm) << 6 | !bit_b(rm) << 5 | !(reg & 16) << 4 | op.map);
  x86_byte(c, (u32)op.w << 7 | (~v & 15) << 3 | 4 | op.prefix);
  x86_byte(c, (u32)op.zero << 7 | (u32)op.length << 5 | (u32)rm.broadcast << 4 | !(v & 16) << 3 |
                  op.mask);
  x86_byte(c, op.opcode);
  put_rm(c, reg, rm, imm >= 0);
  if (imm >= 0) x86_byte(c, (u32)imm);
}

void x86_vex(jit_code *c, x86_op op, u32 reg, u32 v, x86_rm rm, i32 imm) {
  x86_byte(c, 0xc4);
  x86_byte(c, !(reg & 8) << 7 | !bit_x(rm) << 6 | !bit_b(rm) << 5 | op.map);
  x86_byte(c, (u32)op.w << 7 | (~v & 15) << 3 | (u32)op.length << 2 | op.prefix);
  x86_byte(c, op.opcode);
  put_rm(c, reg, rm, imm >= 0);
  if (imm >= 0) x86_byte(c, (u32)imm);
}

/* A REX prefix always: without one, registers of 8 bits would be others. */
void x86_plain(jit_code *c, u32 prefix, u32 w, u32 opcode, u32 reg, x86_rm rm) {
  if (prefix) x86_byte(c, prefix == 1 ? 0x66 : 0xf3);
  x86_byte(c, 0x40 | w << 3 | (reg >> 3 & 1) << 2 | bit_x(rm) << 1 | bit_b(rm));
  if (opcode > 0xff) x86_byte(c, opcode >> 8);
  x86_byte(c, opcode & 0xff);
  put_rm(c, reg, rm, 0);
}

void x86_pair(jit_code *c, u32 w, u32 opcode, u32 reg, u32 other) {
  x86_plain(c, 0, w, opcode, reg, x86_reg(other));
}
void x86_arith(jit_code *c, u32 extension, u32 reg, i32 imm) {
  x86_pair(c, 1, 0x81, extension, reg);
  x86_u32(c, (u32)imm);
}
void x86_immediate(jit_code *c, u32 extension, bool wide, u32 reg, i32 imm) {
  bool small = imm == (i8)imm;
  x86_pair(c, wide, small ? 0x83 : 0x81, extension, reg);
  if (small)
    x86_byte(c, (u8)imm);
  else
    x86_u32(c, (u32)imm);
}
void x86_shift(jit_code *c, u32 extension, bool wide, u32 reg, u32 by) {
  x86_pair(c, wide, 0xc1, extension, reg);
  x86_byte(c, by);
}
void x86_number(jit_code *c, u32 reg, u64 bits) {
  x86_byte(c, 0x48 | reg >> 3);
  x86_byte(c, 0xb8 | (reg & 7));
  x86_u32(c, (u32)bits);
  x86_u32(c, (u32)(bits >> 32));
}
void x86_move(jit_code *c, u32 to, u32 from) { x86_pair(c, 1, 0x8b, to, from); }

u32 x86_jump(jit_code *c, u32 condition) {
  x86_byte(c, 0x0f);
  x86_byte(c, 0x80 | condition);
  x86_u32(c, 0);
  return (u32)c->bytes.len;
}
u32 x86_jump_on(jit_code *c) {
  x86_byte(c, 0xe9);
  x86_u32(c, 0);
  return (u32)c->bytes.len;
}
static void set_u32(jit_code *c, u32 at, u32 value) {
  for (u32 i = 0; i < 4; i++) c->bytes.data[at + i] = (u8)(value >> 8 * i);
}
void x86_aim(jit_code *c, u32 jump, u32 target) { set_u32(c, jump - 4, target - jump); }
void x86_land(jit_code *c, u32 jump) { x86_aim(c, jump, (u32)c->bytes.len); }
void x86_jump_back(jit_code *c, u32 condition, u32 target) {
  x86_aim(c, x86_jump(c, condition), target);
}

bool x86_finish(jit_code *c) {
  while (c->bytes.len % 64) x86_byte(c, 0xcc);
  u32 pool = (u32)c->bytes.len;
  for (u32 i = 0; i < c->pool.len; i++) x86_u32(c, c->pool.data[i]);
  for (u32 i = 0; i < c->fixups.len; i += 2) { /* the place holds what follows it */
    u32 at = c->fixups.data[i], behind = c->bytes.data[at];
    set_u32(c, at, pool + 4 * c->fixups.data[i + 1] - (at + 4 + behind));
  }
  return true;
}
