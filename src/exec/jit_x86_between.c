/* Kernels of one element as code of primitives, as vectors have them (jit_ops.c). */
#include "exec/jit_values.h"
#include "exec/jit_x86_cells.h"

enum { RESULT = 2 }; /* behind the operands: what would be registers in memory */

/* A constant, or what is in a register. */
static jit_lanes read_cell(writer *w, jit_build *b, u32 reg, u32 k, u32 width, u8 *regs) {
  const cell *c = cell_at(w, reg);
  u64 bits = 0;
  if (c->fixed) memcpy(&bits, c->fixed, width);
  jit_value x = !c->fixed    ? jit_add(b, width == 8 ? JP_load64 : JP_load32, k, 0, 0, 0)
                : width == 8 ? jit_const64(b, bits)
                             : jit_add(b, JP_const32, (u32)bits, 0, 0, 0);
  if (!c->fixed) regs[k] = (u8)x86_load_float(w, k, c, width);
  return (jit_lanes){{x, x}};
}

/* A jump for those that are not below, by the upper half but the sign. */
static u32 jump_far(writer *w, const cell *x, u32 width, u32 least) {
  jit_code *c = &w->code;
  x86_load_cell(w, RAX, x, width);
  if (width == 8) {
    x86_plain(c, 0, 1, 0xc1, 5, x86_reg(RAX)); /* shr */
    x86_byte(c, 32);
  }
  x86_plain(c, 0, 0, 0x81, 4, x86_reg(RAX)); /* and */
  x86_u32(c, INT32_MAX);
  x86_plain(c, 0, 0, 0x81, 7, x86_reg(RAX)); /* cmp */
  x86_u32(c, least);
  return x86_jump(c, X86_NOT_BELOW);
}

bool x86_write_between(writer *w, const scalar_op *o, u32 *out_far) {
  vm_op op = (vm_op)o->is.of;
  vm_rtype t = (vm_rtype)o->is.type;
  u32 width = vm_rtype_size(t), near = jit_has_near(op, t), begin = (u32)w->code.bytes.len;
  const cell *d = cell_at(w, o->d);
  u8 regs[RESULT + 1] = {0, 0, d->real != NO_REG ? d->real : 0};
  jit_build b = {.a = w->e->a, .target = JIT_AVX512, .scalar = true};
  jit_lanes x, y = {{0, 0}};
  if (!near || strcmp(w->e->k->isa, "v4") != 0) return false;
  if (near != UINT32_MAX) *out_far = jump_far(w, cell_at(w, o->a), width, near);
  x = read_cell(w, &b, o->a, 0, width, regs);
  if (vm_op_infos[op].operands > 1) y = read_cell(w, &b, o->b, 1, width, regs);
  x = jit_values_op(&b, op, t, x, y);
  jit_add(&b, width == 8 ? JP_store64 : JP_store32, RESULT, x.half[0], 0, 0);
  b = jit_lower(&b);
  if (jit_emit_between(&b, regs, COUNT(regs), &w->code)) {
    x86_store_float(w, d, regs[RESULT], width);
    return true;
  }
  w->code.bytes.len = begin, *out_far = 0;
  return false;
}
