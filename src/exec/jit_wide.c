#include "exec/jit_wide.h"

#include "exec/jit_short.h"
#include "num/convert.h"

V jit_half(J *j, V x, u32 i) {
  const jit_node *n = &j->nodes.data[x];
  i = i && !j->scalar;
  if (n->prim == JP_inserti64x4) return n->arg[i];
  return i && jit_prim_infos[n->prim].shape > JIT_ONE ? IMM1(extracti64x4, 1, x) : x;
}
V jit_join(J *j, V low, V high) { return j->scalar ? low : IMM2(inserti64x4, 1, low, high); }

bool jit_has_half_masks(const J *j, V k) { return j->nodes.data[k].prim == JP_kunpckbw; }
V jit_half_mask(J *j, V k, u32 i) {
  if (jit_has_half_masks(j, k)) return j->nodes.data[k].arg[!i];
  if (!jit_is_for(j, JIT_AVX512)) return OP1(pmovsxdq, jit_half(j, k, i));
  return i && !j->scalar ? IMM1(kshiftrw, 8, k) : k;
}
V jit_join_masks(J *j, V low, V high) { return j->scalar ? low : OP2(kunpckbw, high, low); }

jit_lanes jit_widen(J *j, V x) {
  jit_lanes r;
  u32 bits;
  if (jit_is_const(j, x, &bits) && (bits & 0x7fffffff) - 1 >= 0x7fffff) { /* no denormal */
    V c = jit_const64(j, num_f64_bits((double)num_f32_from_bits(bits)));
    return (jit_lanes){{c, c}};
  }
  for (u32 i = 0; i < 2; i++) r.half[i] = OP1(cvtps2pd, jit_half(j, x, i));
  return r;
}
V jit_narrow(J *j, jit_lanes x) {
  return jit_join(j, OP1(cvtpd2ps, x.half[0]), OP1(cvtpd2ps, x.half[1]));
}
/* AVX2 has them next to one another in each half of a vector, then in order. */
V jit_lower_words(J *j, jit_lanes x) {
  enum { EVEN = 0x88, CROSSED = 0xd8 };
  if (jit_is_for(j, JIT_AVX512)) return jit_join(j, OP1(pmovqd, x.half[0]), OP1(pmovqd, x.half[1]));
  return j->scalar ? x.half[0] : IMM1(permq, CROSSED, IMM2(shufps, EVEN, x.half[0], x.half[1]));
}
