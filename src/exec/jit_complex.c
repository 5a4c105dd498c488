/* Parts lie in memory in turn. Of two vectors of them shufps takes every other lane, and unpcklps
 * and unpckhps bring them back, but each within 16 bytes: the order of 8 bytes between is mended.
 */
#include "exec/jit_complex.h"

#include "exec/jit_short.h"

enum { REAL_LANES = 0x88, IMAGINARY_LANES = 0xdd };

static V in_order(J *j, bool back, V x) {
  const jit_node *n = &j->nodes.data[x], *by = &j->nodes.data[n->arg[0]];
  if (back && n->prim == JP_permd && by->prim == JP_halves) return n->arg[1];
  return OP2(permd, jit_add(j, JP_halves, back, 0, 0, 0), x);
}

jit_pair jit_pair_of(J *j, jit_lanes x) {
  V low = x.half[0], high = x.half[1];
  u64 bits;
  if (jit_is_const64(j, low, &bits) && low == high)
    return (jit_pair){CONST(bits), CONST(bits >> 32)};
  if (low == high) return (jit_pair){IMM1(pshufd, 0xa0, low), IMM1(pshufd, 0xf5, low)};
  return (jit_pair){in_order(j, false, IMM2(shufps, REAL_LANES, low, high)),
                    in_order(j, false, IMM2(shufps, IMAGINARY_LANES, low, high))};
}
jit_lanes jit_halves_of(J *j, jit_pair x) {
  V re = in_order(j, true, x.re), im = in_order(j, true, x.im);
  return (jit_lanes){{OP2(unpcklps, re, im), OP2(unpckhps, re, im)}};
}

jit_lanes jit_read_part(J *j, u32 reg, bool imaginary) {
  jit_lanes r;
  for (u32 i = 0; i < 2; i++) {
    V low = jit_add(j, (jit_prim)(JP_load128 + 2 * i), reg, 0, 0, 0);
    V high = jit_add(j, (jit_prim)(JP_load128b + 2 * i), reg, 0, 0, 0);
    r.half[i] = in_order(j, false, imaginary ? OP2(unpckhpd, low, high) : OP2(unpcklpd, low, high));
  }
  return r;
}
void jit_write_parts(J *j, u32 reg, jit_lanes re, jit_lanes im) {
  for (u32 i = 0; i < 2; i++) {
    V x = in_order(j, true, re.half[i]), y = in_order(j, true, im.half[i]);
    jit_add(j, (jit_prim)(JP_store128 + 2 * i), reg, OP2(unpcklpd, x, y), 0, 0);
    jit_add(j, (jit_prim)(JP_store128b + 2 * i), reg, OP2(unpckhpd, x, y), 0, 0);
  }
}

/* ---- a row an operation ---- */

#define PAIRS(name, first, second)                                                                 \
  static jit_pair name(J *j, jit_pair x, jit_pair y) {                                             \
    (void)j, (void)x, (void)y;                                                                     \
    return (jit_pair){first, second};                                                              \
  }
PAIRS(add, OP2(addps, x.re, y.re), OP2(addps, x.im, y.im))
PAIRS(subtract, OP2(subps, x.re, y.re), OP2(subps, x.im, y.im))
PAIRS(multiply, OP2(subps, OP2(mulps, x.re, y.re), OP2(mulps, x.im, y.im)),
      OP2(addps, OP2(mulps, x.re, y.im), OP2(mulps, x.im, y.re)))
PAIRS(negate, OP2(pxord, x.re, CONST(0x80000000)), OP2(pxord, x.im, CONST(0x80000000)))
PAIRS(equal, OP2(kandq, IMM2(cmpps, 0, x.re, y.re), IMM2(cmpps, 0, x.im, y.im)), 0)
PAIRS(differ, OP1(knotq, equal(j, x, y).re), 0)
PAIRS(real, x.re, 0)
PAIRS(imaginary, x.im, 0)
PAIRS(join, x.re, y.re)

static jit_pair (*const rows[VM_OP_COUNT])(J *j, jit_pair x, jit_pair y) = {
    [VM_add] = add,    [VM_sub] = subtract,   [VM_mul] = multiply,
    [VM_neg] = negate, [VM_eq] = equal,       [VM_ne] = differ,
    [VM_real] = real,  [VM_imag] = imaginary, [VM_complex] = join};

bool jit_has_pairs(void) {
#if defined(__aarch64__)
  return false;
#else
  return true;
#endif
}
bool jit_has_pair_op(vm_op op) { return rows[op] != NULL; }
jit_pair jit_pair_op(J *j, vm_op op, jit_pair x, jit_pair y) { return rows[op](j, x, y); }
