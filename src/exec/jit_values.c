#include "exec/jit_values.h"

#include "exec/jit_complex.h"
#include "exec/jit_short.h"
#include "num/convert.h"

enum { UNORD = 3, NE = 4, GE = 13 }; /* of floats */

static jit_lanes one(V x) { return (jit_lanes){{x, x}}; }
static V real(J *j, double x) { return jit_const64(j, num_f64_bits(x)); }
static bool is_signed(vm_rtype t) { return t >= R_s8 && t <= R_s64; }
static bool is_float(vm_rtype t) { return t == R_f32 || t == R_f64; }

jit_lanes jit_values_as(J *j, jit_lanes x, vm_rtype from, vm_rtype to) {
  if (from == R_c64) return to == R_c64 ? x : jit_halves_of(j, (jit_pair){x.half[0], x.half[1]});
  if (to == R_c64) {
    jit_pair p = jit_pair_of(j, x);
    return (jit_lanes){{p.re, p.im}};
  }
  return jit_is_wide(from) ? x : one(jit_as(j, x.half[0], from, to));
}

/* Of masks in halves, too, as long as all are. */
jit_lanes jit_values_op(J *j, vm_op op, vm_rtype t, jit_lanes x, jit_lanes y) {
  jit_lanes r;
  V a = x.half[0], b = y.half[0];
  bool wide = jit_is_wide(t), masks = vm_op_infos[op].result == VM_PRED || t == R_pred;
  bool in_halves = t == R_pred && jit_has_half_masks(j, a) &&
                   (vm_op_infos[op].operands < 2 || jit_has_half_masks(j, b));
  if (!wide && !in_halves) return one(jit_op(j, op, t, a, b));
  for (u32 i = 0; i < 2; i++) {
    V from = in_halves ? jit_half_mask(j, a, i) : x.half[i];
    V with = in_halves && vm_op_infos[op].operands > 1 ? jit_half_mask(j, b, i) : y.half[i];
    j->wide = wide;
    r.half[i] = jit_op(j, op, t, from, with);
    j->wide = false;
  }
  return masks ? one(jit_join_masks(j, r.half[0], r.half[1])) : r;
}

jit_lanes jit_values_select(J *j, V p, jit_lanes x, jit_lanes y, vm_rtype t) {
  jit_lanes r;
  bool wide = jit_is_wide(t);
  if (!wide && t != R_c64) return one(jit_select(j, p, x.half[0], y.half[0], t == R_pred));
  for (u32 i = 0; i < 2; i++) {
    V k = wide ? jit_half_mask(j, p, i) : p;
    j->wide = wide;
    r.half[i] = jit_select(j, k, x.half[i], y.half[i], false);
    j->wide = false;
  }
  return r;
}

/* ---- conversions; NaN is 0 as an integer, and beyond a range are its ends ---- */

/* AVX2 has none between integers of 64 bits and floats, but to f64 there is another way. */
bool jit_converts(jit_target target, vm_rtype from, vm_rtype to) {
  if (!jit_has_type(from) || !jit_has_type(to)) return false;
  bool to_integer = is_float(from) && jit_is_wide(to) && to != R_f64;
  bool to_real = to == R_f32 && jit_is_wide(from) && from != R_f64;
  return target == JIT_AVX512 || (!to_integer && !to_real);
}

/* In lanes of 32 bits, half of them. */
static V real_to_int(J *j, V x, vm_rtype to) {
  u32 bits = 8 * vm_rtype_size(to);
  double most = (double)((1ull << (bits - is_signed(to))) - 1);
  if (!is_signed(to)) {
    V in = OP2(minpd, real(j, most), OP2(maxpd, x, real(j, 0)));
    return bits == 32 ? OP1(cvttpd2udq, in) : OP1(cvttpd2dq, in);
  }
  /* NaN stays, becomes the least number of 32 bits, and is wrapped to 0 */
  V in = OP2(maxpd, real(j, -most - 1), OP2(minpd, real(j, most), x));
  if (bits == 32) in = OP3(pblendmq, IMM2(cmppd, UNORD, x, x), real(j, 0), in);
  return OP1(cvttpd2dq, in);
}
static V real_to_long(J *j, V x, vm_rtype to) {
  if (to == R_u64) return OP1(cvttpd2uqq, OP2(maxpd, x, real(j, 0)));
  V above = IMM2(cmppd, GE, x, real(j, 0x1p63)), nan = IMM2(cmppd, UNORD, x, x);
  V r = OP3(pblendmq, above, jit_const64(j, INT64_MAX), OP1(cvttpd2qq, x));
  return OP3(pblendmq, nan, jit_const64(j, 0), r);
}
/* Half of a value of up to 32 bits, as one of 64. */
static V widened(J *j, V x, u32 i, vm_rtype from, vm_rtype to) {
  if (from == R_pred) {
    V truth = jit_const64(j, to == R_f64 ? num_f64_bits(1) : 1);
    return OP3(pblendmq, jit_half_mask(j, x, i), truth, jit_const64(j, 0));
  }
  V half = jit_half(j, x, i);
  if (to == R_f64) return from == R_u32 ? OP1(cvtudq2pd, half) : OP1(cvtdq2pd, half);
  return is_signed(from) ? OP1(pmovsxdq, half) : OP1(pmovzxdq, half);
}
static V between_wide(J *j, V x, vm_rtype from, vm_rtype to) {
  if (from == R_f64 && to != R_f64) return real_to_long(j, x, to);
  if (to != R_f64 || from == R_f64) return x;
  return from == R_u64 ? OP1(cvtuqq2pd, x) : OP1(cvtqq2pd, x);
}
static V long_to_float(J *j, V x, vm_rtype from) {
  return from == R_u64 ? OP1(cvtuqq2ps, x) : OP1(cvtqq2ps, x);
}
static V truth_of(J *j, V x, vm_rtype from) {
  return from == R_f64 ? IMM2(cmppd, NE, x, real(j, 0)) : IMM2(pcmpq, I_NE, x, jit_const64(j, 0));
}

static V narrowed(J *j, jit_lanes x, vm_rtype from, vm_rtype to) {
  V half[2];
  if (from == R_f64 && to == R_f32) return jit_narrow(j, x);
  if (from != R_f64 && to != R_f32 && to != R_pred)
    return jit_as(j, jit_lower_words(j, x), R_u32, to);
  for (u32 i = 0; i < 2; i++)
    half[i] = to == R_pred    ? truth_of(j, x.half[i], from)
              : from == R_f64 ? real_to_int(j, x.half[i], to)
                              : long_to_float(j, x.half[i], from);
  if (to == R_pred) return jit_join_masks(j, half[0], half[1]);
  V r = jit_join(j, half[0], half[1]);
  return to == R_f32 ? r : jit_as(j, r, R_u32, to);
}

jit_lanes jit_values_convert(J *j, jit_lanes x, vm_rtype from, vm_rtype to) {
  jit_lanes r = x;
  bool was_wide = jit_is_wide(from);
  if (!jit_is_wide(to))
    return one(was_wide ? narrowed(j, x, from, to) : jit_convert(j, x.half[0], from, to));
  if (from == R_f32) r = jit_widen(j, x.half[0]);
  for (u32 i = 0; i < 2; i++)
    r.half[i] = was_wide || from == R_f32 ? between_wide(j, r.half[i], was_wide ? from : R_f64, to)
                                          : widened(j, x.half[0], i, from, to);
  return r;
}

V jit_wrap_narrow(J *j, dtype t, V x) {
  static const u8 bits[DTYPE_COUNT] = {
      [DTYPE_s4] = 4, [DTYPE_u4] = 4, [DTYPE_s2] = 2, [DTYPE_u2] = 2};
  u32 unused = 32 - bits[t];
  if (t == DTYPE_u4 || t == DTYPE_u2) return OP2(pandd, x, CONST(UINT32_MAX >> unused));
  return IMM1(psrad, unused, IMM1(pslld, unused, x));
}
