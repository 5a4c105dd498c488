/* Kernels of one element as code of primitives, as vectors have them (jit_ops.c). */
#include "exec/jit_short.h"
#include "exec/jit_values.h"
#include "exec/jit_x86_cells.h"
#include "exec/vm.h"

enum { RESULT = 2 }; /* behind the operands: what would be registers in memory */

/* A constant, or what is in a register. */
static jit_lanes read_cell(writer *w, jit_build *b, u32 reg, u32 k, u32 width, u8 *regs) {
  const cell *c = cell_at(w, reg);
  u64 bits = 0;
  if (c->fixed) memcpy(&bits, c->fixed, width);
  jit_value x = !c->fixed    ? jit_add(b, width == 8 ? JP_load64 : JP_load32, k, 0, 0, 0)
                : width == 8 ? jit_const64(b, bits)
                             : jit_add(b, JP_const32, (u32)bits, 0, 0, 0);
  if (c->fixed) return (jit_lanes){{x, x}};
  if (width < 4) { /* with zeros above */
    x86_load_cell(w, RAX, c, width);
    x86_vex(&w->code, x86_from_gpr, k, 0, x86_reg(RAX), -1);
  }
  regs[k] = (u8)(width < 4 ? k : x86_load_float(w, k, c, width));
  return (jit_lanes){{x, x}};
}

/* A jump for those that are not within a range, by the upper half but the sign; 0: there is none,
 * as it is known. */
static u32 jump_far(writer *w, const cell *x, u32 width, jit_range r) {
  jit_code *c = &w->code;
  u32 upper;
  if (x->fixed) {
    memcpy(&upper, (const char *)x->fixed + width - 4, sizeof upper);
    if ((upper & INT32_MAX) - r.least < r.end - r.least) return 0;
  }
  x86_load_cell(w, RAX, x, width);
  if (width == 8) {
    x86_pair(c, 1, 0xc1, 5, RAX); /* shr */
    x86_byte(c, 32);
  }
  x86_pair(c, 0, 0x81, 4, RAX); /* and */
  x86_u32(c, INT32_MAX);
  if (r.least) {
    x86_pair(c, 0, 0x81, 5, RAX); /* sub */
    x86_u32(c, r.least);
  }
  x86_pair(c, 0, 0x81, 7, RAX); /* cmp */
  x86_u32(c, r.end - r.least);
  return x86_jump(c, X86_NOT_BELOW);
}

/* Whether code of primitives gives what the kernel does. */
static bool is_made(jit_target target, scalar_is is) {
  if (is.call <= CALL_binary + 1) return is.call && jit_has_near((vm_op)is.of, (vm_rtype)is.type);
  if (is.call == CALL_convert + 1) return jit_converts(target, (vm_rtype)is.type, (vm_rtype)is.of);
  return jit_has_small((dtype)is.of);
}
static jit_lanes make(jit_build *b, scalar_is is, jit_lanes x, jit_lanes y) {
  vm_rtype t = (vm_rtype)is.type;
  V v = x.half[0];
  if (is.call == CALL_convert + 1) return jit_values_convert(b, x, t, (vm_rtype)is.of);
  if (is.call == CALL_load + 1)
    v = jit_load_small(b, (dtype)is.of, v);
  else if (is.call == CALL_store + 1)
    v = jit_store_small(b, (dtype)is.of, v);
  else if (is.call == CALL_round + 1)
    v = jit_round_small(b, (dtype)is.of, v);
  else
    return jit_values_op(b, (vm_op)is.of, t, x, y);
  return (jit_lanes){{v, v}};
}

/* Vectors that are not for the code: of what it reads, and what is wanted behind it. */
static u32 find_kept(const writer *w, const scalar_op *o) {
  u32 kept = 1u << 0 | 1u << 1;
  for (u32 i = 0; i < w->cells.len; i++) {
    const cell *c = &w->cells.data[i];
    bool wanted = cells_pass(w, o, c, true, false) || cells_pass(w, o, c, true, true);
    if (c->real != NO_REG && wanted) kept |= 1u << c->real;
  }
  return kept;
}

bool x86_write_between(writer *w, const scalar_op *o, u32 *out_far) {
  bool wide = strcmp(w->e->k->isa, "v4") == 0;
  jit_build b = {.a = w->e->a, .target = wide ? JIT_AVX512 : JIT_AVX2, .scalar = true};
  const cell *d = cell_at(w, o->d);
  u32 from = vm_rtype_size((vm_rtype)o->is.type), begin = (u32)w->code.bytes.len;
  u32 to = vm_rtype_size((vm_rtype)scalar_result_type(o->is)), n = scalar_count_operands(o->is);
  u32 operands[] = {o->a, o->b};
  u8 regs[RESULT + 1] = {0, 0, d->real != NO_REG ? d->real : 0};
  jit_lanes x[2] = {{{0}}};
  if (!is_made((jit_target)b.target, o->is)) return false;
  for (u32 k = 0; k < n && o->is.call <= CALL_binary + 1; k++) {
    jit_range r = jit_near((vm_op)o->is.of, (vm_rtype)o->is.type, k);
    if (r.end) out_far[k] = jump_far(w, cell_at(w, operands[k]), from, r);
  }
  for (u32 k = 0; k < n; k++) x[k] = read_cell(w, &b, operands[k], k, from, regs);
  x[0] = make(&b, o->is, x[0], x[1]);
  jit_add(&b, to == 8 ? JP_store64 : JP_store32, RESULT, x[0].half[0], 0, 0);
  b = jit_lower(&b);
  if (jit_emit_between(&b, regs, COUNT(regs), find_kept(w, o), &w->code)) {
    x86_store_float(w, d, regs[RESULT], to);
    return true;
  }
  w->code.bytes.len = begin, out_far[0] = out_far[1] = 0;
  return false;
}
