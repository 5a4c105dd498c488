/* From SSA to calls of kernels: what the numbers of each type are in a register, where they round
 * or wrap, and which kernels an operation takes. */
#include "exec/vm_legalize.h"

#include <math.h>

#include "num/convert.h"

typedef struct value {
  u32 reg;
  bool scalar;
  bool stored; /* a small float as it lies in memory: what only moves keeps every bit of a NaN */
} value;

typedef struct lowering {
  vm_calls *out;
  const vm_kernels *k;
  const vm_spec *spec;
  const vm_instr *at; /* being legalized */
  value *values;      /* by SSA index; where l->out->parts, it may have no register yet */
  value (*parts)[2];  /* the same: of complex numbers, which may have none either */
} lowering;

u32 vm_add_const(vm_calls *l, const void *data, size_t n) {
  void *copy = arena_alloc_aligned(l->kept, n < 16 ? 16 : n, 16);
  memset(copy, 0, 16);
  memcpy(copy, data, n);
  VEC_PUSH(l->a, l->consts, (const void *)copy);
  return CONST_BASE + (u32)l->consts.len - 1;
}
static u32 add_temp(vm_calls *l, u32 width) {
  VEC_PUSH(l->a, l->width, (u8)width);
  return TEMP_BASE + (u32)l->width.len - 1;
}

static kern_fn *find_kernel(const vm_kernels *k, vm_what w) {
  switch ((vm_call_kind)w.kind) {
  case CALL_unary:
    return k->unary[w.of][w.type];
  case CALL_binary:
    return k->binary[w.of][w.type][w.ones == 0 ? FORM_VV : w.ones == 1 ? FORM_SV : FORM_VS];
  case CALL_convert:
    return k->convert[w.of][w.type];
  case CALL_select:
    return k->select[w.of][(w.ones & 2) | (w.ones >> 2 & 1)];
  case CALL_splat:
    return k->splat[w.of];
  case CALL_copy:
    return k->stride[w.of];
  case CALL_load:
    return k->load[w.of];
  case CALL_store:
    return k->store[w.of];
  case CALL_round:
    return k->round[w.of];
  case CALL_wrap:
    return k->wrap[w.of];
  case CALL_clean:
    return k->clean[w.of];
  case CALL_any:
    return k->any;
  case CALL_sum:
    return NULL;
  }
  return NULL;
}

u32 vm_add_call(vm_calls *l, vm_what is, u32 width, bool scalar, u32 a, u32 b) {
  vm_call c = {.fn = find_kernel(l->k, is),
               .d = add_temp(l, width),
               .a = a,
               .b = b,
               .c = PROG_NONE,
               .is = is,
               .scalar = scalar};
  VEC_PUSH(l->a, l->calls, c);
  return c.d;
}

static u32 add_const(lowering *l, const void *data, size_t n) {
  return vm_add_const(l->out, data, n);
}

static void note_fault(lowering *l) {
  const vm_op_info *op = &vm_op_infos[l->at->op];
  const vm_instr *typed = op->operands ? &l->spec->code->instrs[l->at->a] : l->at;
  *l->out->fault = (lower_fault){op->name, (dtype)typed->type};
}

/* What is made of constants is one, where it is the same whether denormals are flushed or not. */
static const void *const_at(const lowering *l, u32 reg) {
  return reg == PROG_NONE ? NULL : l->out->consts.data[reg - CONST_BASE];
}
static bool is_const(u32 reg) { return reg == PROG_NONE || (reg >= CONST_BASE && reg < TEMP_BASE); }
static bool folds(const lowering *l, vm_what is, u32 a, u32 b, u32 c) {
  bool computes = is.kind == CALL_unary || is.kind == CALL_binary || is.kind == CALL_convert;
  bool rounds = is.of == DTYPE_bf16 && (is.kind == CALL_load || is.kind == CALL_round);
  computes |= is.kind == CALL_any;
  if (!is_const(a) || !is_const(b) || !is_const(c) || !find_kernel(l->k, is)) return false;
  return is.kind == CALL_select || rounds || (computes && is.type <= R_u64);
}

static bool is_zero(const lowering *l, u32 reg) {
  static const u64 none;
  return reg >= CONST_BASE && reg < TEMP_BASE && memcmp(const_at(l, reg), &none, sizeof none) == 0;
}
static value call(lowering *l, vm_what is, u32 width, bool scalar, u32 a, u32 b, u32 c) {
  if (scalar && folds(l, is, a, b, c)) {
    u64 result[2];
    find_kernel(l->k, is)(1, result, const_at(l, a), const_at(l, b), const_at(l, c));
    return (value){add_const(l, result, width), true, false};
  }
  value v = {vm_add_call(l->out, is, width, scalar, a, b), scalar, false};
  vm_call *last = &l->out->calls.data[l->out->calls.len - 1];
  last->c = c;
  if (!last->fn && !l->out->fault->op) note_fault(l);
  return v;
}
/* Of one operand. */
static value call_1(lowering *l, vm_what is, u32 width, value x) {
  return call(l, is, width, x.scalar, x.reg, PROG_NONE, PROG_NONE);
}
#define IS(does, ...) ((vm_what){CALL_##does, __VA_ARGS__})

static value splat(lowering *l, value v, u32 width) {
  if (!v.scalar) return v;
  vm_what is = IS(splat, (u8)vm_log2_width(width), 0, 1);
  return call(l, is, width, false, v.reg, PROG_NONE, PROG_NONE);
}

static dtype operand_type(const lowering *l, const vm_instr *i) {
  return (dtype)l->spec->code->instrs[i->a].type;
}
static bool has(u32 op, u32 trait) { return (vm_op_infos[op].traits & trait) != 0; }

/* ---- legalize_<op> of those that are OWN in vm_ops.def, and of all others by operands ---- */

static value wrap(lowering *l, dtype t, value v) {
  if (!l->k->wrap[t]) return v;
  return call_1(l, IS(wrap, (u8)t), 1, v);
}

/* Whether values of the type stay as they are stored until something computes with them. */
static bool stays_stored(dtype t) { return num_small_bits(t) >= 8; }

static value legalize_load(lowering *l, const vm_instr *i) {
  bool scalar = l->spec->in_scalar && l->spec->in_scalar[i->a];
  value v = {i->a, scalar, !l->spec->registers && stays_stored((dtype)i->type)};
  bool loads = l->k->load[i->type] != NULL;
  if (l->spec->registers || v.stored || (!loads && !l->k->clean[i->type])) return v;
  return call_1(l, loads ? IS(load, i->type) : IS(clean, i->type), vm_width_of((dtype)i->type), v);
}

static value binary_on(lowering *l, u32 op, vm_rtype r, u32 width, value x, value y, u32 c);
static value select_of(lowering *l, value p, value x, value y, u32 width);

/* The value of instruction `at`, which may only be there in parts. */
static value whole(lowering *l, u32 at) {
  value *v = &l->values[at], *part = l->parts[at];
  if (v->reg == PROG_NONE) *v = binary_on(l, VM_complex, R_f64, 16, part[0], part[1], PROG_NONE);
  return *v;
}
/* The real part of a c128, or the imaginary one. */
static value part_of(lowering *l, u32 at, u32 k) {
  value *part = &l->parts[at][k], v = l->values[at];
  if (part->reg != PROG_NONE) return *part;
  if (is_const(v.reg))
    *part = (value){add_const(l, (const char *)const_at(l, v.reg) + 8 * k, 8), true, false};
  else
    *part = call_1(l, IS(unary, k ? VM_imag : VM_real, R_c128), 8, v);
  return *part;
}

/* The value of instruction `at` in a register, where computations take it. */
static value loaded(lowering *l, u32 at) {
  const vm_instr *i = &l->spec->code->instrs[at];
  value *v = &l->values[at];
  whole(l, at);
  if (v->stored && i->op == VM_constant) {
    float f = (float)num_to_f64((dtype)i->type, &l->spec->code->consts[i->a]);
    *v = (value){add_const(l, &f, 4), true, false};
  }
  if (v->stored) *v = call_1(l, IS(load, i->type), 4, *v);
  return *v;
}

/* The call that makes a register; NULL: none does. */
static const vm_call *find_maker(const lowering *l, u32 reg) {
  for (size_t i = l->out->calls.len; i-- > 0;)
    if (l->out->calls.data[i].d == reg) return &l->out->calls.data[i];
  return NULL;
}

/* The value as it lies in memory; of one that was rounded so, what that went by. */
static value as_stored(lowering *l, dtype t, value v) {
  if (v.stored || !num_is_small_float(t)) return v;
  const vm_call *load = find_maker(l, v.reg), *store = load ? find_maker(l, load->a) : NULL;
  bool was = store && load->is.kind == CALL_load && load->is.of == t;
  if (was && store->is.kind == CALL_store && store->is.of == t)
    return (value){load->a, v.scalar, true};
  v = call_1(l, IS(store, (u8)t, R_f32), (u32)dtype_size(t), v);
  v.stored = true;
  return v;
}

static value legalize_constant(lowering *l, const vm_instr *i) {
  vm_const c = l->spec->code->consts[i->a], clean = c;
  if (num_is_small_float((dtype)i->type)) return (value){add_const(l, &c, 16), true, true};
  if (dtype_size((dtype)i->type) == 1) num_convert((dtype)i->type, &c, (dtype)i->type, &clean);
  return (value){add_const(l, &clean, 16), true, false};
}

/* Rounds an f32 register to a small format. */
static value round_small(lowering *l, dtype t, value v) {
  if (l->k->round[t]) return call_1(l, IS(round, (u8)t, R_f32), 4, v);
  value stored = call_1(l, IS(store, (u8)t, R_f32), (u32)dtype_size(t), v);
  return call_1(l, IS(load, (u8)t), 4, stored);
}
static u32 add_iota(lowering *l, vm_iota_use use) {
  use.dim = l->at->a;
  use.reg = add_temp(l->out, vm_rtype_size(use.type));
  VEC_PUSH(l->out->a, l->out->iotas, use);
  return use.reg;
}
/* What a block begins with and what its elements are beyond that, which stays for all blocks. */
static value add_ramp(lowering *l, vm_rtype r) {
  vm_rtype of = r == R_f32 ? R_s32 : r;
  value first = {add_iota(l, (vm_iota_use){.type = of, .scalar = true}), true};
  value ramp = {add_iota(l, (vm_iota_use){.type = of, .ramp = true}), false};
  value v = binary_on(l, VM_add, of, vm_rtype_size(of), ramp, first, PROG_NONE);
  return of == r ? v : call_1(l, IS(convert, (u8)r, (u8)of), vm_rtype_size(r), v);
}
static value legalize_iota(lowering *l, const vm_instr *i) {
  dtype t = (dtype)i->type;
  bool scalar = l->spec->dim_scalar && l->spec->dim_scalar[i->a];
  vm_rtype r = vm_rtype_of(t);
  bool is_complex = r == R_c64 || r == R_c128;
  if (is_complex) r = r == R_c64 ? R_f32 : R_f64;
  bool ramp = l->spec->dim_ramp && l->spec->dim_ramp[i->a] && vm_rtype_size(r) <= 4;
  value v = {0};
  if (ramp)
    v = add_ramp(l, r);
  else
    v = (value){add_iota(l, (vm_iota_use){.type = r, .scalar = scalar}), scalar};
  if (is_complex) {
    vm_rtype to = vm_rtype_of(t);
    return call_1(l, IS(convert, (u8)to, (u8)r), vm_rtype_size(to), v);
  }
  return num_is_small_float(t) ? round_small(l, t, v) : wrap(l, t, v);
}

/* The type an element has in a register. */
static dtype register_dtype(dtype t) {
  if (num_is_small_float(t)) return DTYPE_f32;
  if (t == DTYPE_s4 || t == DTYPE_s2) return DTYPE_s8;
  return t == DTYPE_u4 || t == DTYPE_u2 ? DTYPE_u8 : t;
}

static value convert_any(lowering *l, dtype from, dtype to, value v) {
  u8 types[2] = {(u8)register_dtype(from), (u8)to};
  vm_what is = IS(any, (u8)to, (u8)vm_rtype_of(from));
  return call(l, is, (u32)dtype_size(to), v.scalar, v.reg, add_const(l, types, 2), PROG_NONE);
}

static value bits_of(lowering *l, vm_rtype bits, u32 op, value v, u64 with) {
  value w = {add_const(l, &with, sizeof with), true, false};
  return binary_on(l, op, bits, op == VM_le ? 1 : vm_rtype_size(bits), v, w, PROG_NONE);
}
/* Without its lowest `n` bits, of which the next one says whether any was set: what takes two more
 * bits than a format has is then rounded to it as the whole would be. */
static value round_to_odd(lowering *l, vm_rtype bits, value v, u32 n) {
  u64 low = (1ull << n) - 1;
  value carry = bits_of(l, bits, VM_add, bits_of(l, bits, VM_and, v, low), low);
  v = binary_on(l, VM_or, bits, vm_rtype_size(bits), v, carry, PROG_NONE);
  return bits_of(l, bits, VM_and, v, ~low);
}
/* An integer so rounded that a float of its width has all of it. */
static value int_to_odd(lowering *l, vm_rtype r, value v) {
  u32 width = 8 * vm_rtype_size(r), spare = width == 64 ? 11 : 8;
  vm_rtype bits = width == 64 ? R_u64 : R_u32;
  u64 most = 1ull << (width - spare);
  value above = r == bits ? v : bits_of(l, bits, VM_add, v, most);
  value fits = bits_of(l, bits, VM_le, above, r == bits ? most : 2 * most);
  return select_of(l, fits, v, round_to_odd(l, bits, v, spare), width / 8);
}
/* What is wider than that, as an f32 that rounds to f16 and bf16 as the value itself does. Integers
 * that are not exact are infinite in f16. Of an f64 13 bits, so that what counts of a denormal of
 * bf16 is one of f32, too. */
static value before_rounding(lowering *l, dtype from, dtype to, value v) {
  enum { BEYOND = 52 - 12 };
  vm_rtype r = vm_rtype_of(from);
  if (r != R_f64 && to == DTYPE_bf16) {
    v = int_to_odd(l, r, v);
    if (num_int_bits(from) == 64) v = call_1(l, IS(convert, R_f64, (u8)r), 8, v), r = R_f64;
  }
  if (r == R_f64) v = round_to_odd(l, R_u64, v, BEYOND);
  return call_1(l, IS(convert, R_f32, (u8)r), 4, v);
}

/* The nearest that a type narrower than a byte has of one in a byte. */
static value within(lowering *l, dtype to, value v) {
  bool sign = dtype_infos[to].kind == DTYPE_CLASS_SINT;
  u64 most = (1ull << (num_int_bits(to) - sign)) - 1;
  v = bits_of(l, vm_rtype_of(to), VM_min, v, most);
  return sign ? bits_of(l, vm_rtype_of(to), VM_max, v, ~most) : v;
}

static value legalize_convert(lowering *l, const vm_instr *i) {
  dtype from = operand_type(l, i), to = (dtype)i->type;
  value v = loaded(l, i->a);
  vm_rtype rf = vm_rtype_of(from), rt = vm_rtype_of(to);
  bool exact_in_f32 = rf == R_f32 || (num_int_bits(from) && num_int_bits(from) <= 16);
  if (from == to) return v;
  if (num_is_small_float(to)) {
    if (l->k->round[to] && (rf == R_f64 || num_int_bits(from) > 16))
      return round_small(l, to, before_rounding(l, from, to, v));
    if (!exact_in_f32) {
      value stored = convert_any(l, from, to, v);
      return call_1(l, IS(load, (u8)to), 4, stored);
    }
    if (rf != R_f32) v = call_1(l, IS(convert, R_f32, (u8)rf), 4, v);
    return round_small(l, to, v);
  }
  bool to_subbyte = l->k->wrap[to] != NULL;
  if (to_subbyte && (rf == R_f32 || rf == R_f64))
    return within(l, to, call_1(l, IS(convert, (u8)rt, (u8)rf), 1, v));
  if (to_subbyte && !num_int_bits(from)) return convert_any(l, from, to, v);
  if (rf == rt) return wrap(l, to, v);
  v = call_1(l, IS(convert, (u8)rt, (u8)rf), vm_rtype_size(rt), v);
  return wrap(l, to, v);
}

static value legalize_bitcast(lowering *l, const vm_instr *i) {
  dtype to = (dtype)i->type;
  value v = as_stored(l, operand_type(l, i), whole(l, i->a));
  v.stored = stays_stored(to);
  if (num_is_small_float(to) && !v.stored) return call_1(l, IS(load, (u8)to), 4, v);
  return v.stored ? v : wrap(l, to, v);
}

/* That makes a register, which compares with 0; NULL: none does. */
static const vm_call *find_sign(const lowering *l, u32 reg, vm_op op) {
  const vm_call *c = find_maker(l, reg);
  return c && c->is.kind == CALL_binary && c->is.of == op && is_zero(l, c->b) ? c : NULL;
}
/* What is one of the operands, or known: p is not false, x is below 0 without a sign, and x is
 * below 0 and is not 0. Languages write remainders so. */
static bool find_known(lowering *l, u32 op, vm_rtype r, value x, value y, value *out) {
  *out = x;
  if (op == VM_ne && r == R_pred && is_zero(l, y.reg)) return true;
  if (op == VM_lt && r >= R_u8 && r <= R_u64 && is_zero(l, y.reg)) {
    *out = (value){y.reg, true, false};
    return true;
  }
  if (op != VM_and || r != R_pred) return false;
  if (is_zero(l, x.reg)) return true;
  const vm_call *below = find_sign(l, x.reg, VM_lt), *other = find_sign(l, y.reg, VM_ne);
  return below && other && below->a == other->a && below->is.type == other->is.type;
}
static value binary_on(lowering *l, u32 op, vm_rtype r, u32 width, value x, value y, u32 c) {
  kern_fn *const *forms = l->k->binary[op][r];
  bool scalar = x.scalar && y.scalar;
  value known;
  if (find_known(l, op, r, x, y, &known)) return known;
  if (!scalar && x.scalar && !forms[FORM_SV]) x = splat(l, x, vm_rtype_size(r));
  if (!scalar && y.scalar && !forms[FORM_VS]) y = splat(l, y, vm_rtype_size(r));
  u8 ones = x.scalar == y.scalar ? 0 : x.scalar ? 1 : 2;
  return call(l, IS(binary, (u8)op, (u8)r, ones), width, scalar, x.reg, y.reg, c);
}

/* Brings a result into its type: sub-byte integers wrap, small floats round after every
 * operation, as XLA:CPU and StableHLO have it. (Reductions may keep f32: vm_reduces_wide.)
 * Where there is no -0, or the largest number is no integer, what is exact elsewhere rounds too. */
static value settle(lowering *l, const vm_instr *i, value v) {
  static const bool never_exact[DTYPE_COUNT] = {[DTYPE_f8e4m3fnuz] = true,
                                                [DTYPE_f8e5m2fnuz] = true,
                                                [DTYPE_f8e4m3b11fnuz] = true,
                                                [DTYPE_f8e3m4] = true,
                                                [DTYPE_f6e2m3fn] = true};
  dtype t = (dtype)i->type;
  bool wide = l->spec->registers && !l->spec->rounds && vm_reduces_wide(t);
  if (num_is_small_float(t) && !wide && (!has(i->op, VM_EXACT) || never_exact[t]))
    return round_small(l, t, v);
  return wrap(l, t, v);
}

/* The operand of an operation that looks at bits above its type's: as the type of the same width
 * whose values have there what the operation expects. */
static value spread(lowering *l, u32 op, dtype t, value x) {
  static const dtype with_sign[DTYPE_COUNT] = {[DTYPE_u4] = DTYPE_s4, [DTYPE_u2] = DTYPE_s2};
  static const dtype with_zeros[DTYPE_COUNT] = {[DTYPE_s4] = DTYPE_u4, [DTYPE_s2] = DTYPE_u2};
  dtype as = has(op, VM_ABOVE_SIGN) ? with_sign[t] : has(op, VM_ABOVE_ZERO) ? with_zeros[t] : 0;
  return as == DTYPE_pred ? x : wrap(l, as, x);
}

static value binary_of(lowering *l, const vm_instr *i, u32 c) {
  dtype t = operand_type(l, i);
  value x = loaded(l, i->a), y = loaded(l, i->b);
  x = spread(l, i->op, t, x);
  return settle(l, i, binary_on(l, i->op, vm_rtype_of(t), vm_width_of((dtype)i->type), x, y, c));
}
static value legalize_2(lowering *l, const vm_instr *i) { return binary_of(l, i, PROG_NONE); }

/* The kernel is told which type's values the registers hold. */
static value legalize_next_after(lowering *l, const vm_instr *i) {
  dtype t = operand_type(l, i);
  return binary_of(l, i, add_const(l, &t, sizeof t));
}

/* A constant from 1 on of which floats are a power, so that products with it and with its inverse,
 * and what is left of a number below its multiple, are exact; 0: it is none. */
static double power_of_two(const lowering *l, vm_rtype r, value y) {
  enum { MOST = 60 };
  double x = 0;
  float narrow;
  int e;
  if (!is_const(y.reg)) return 0;
  if (r == R_f64) memcpy(&x, const_at(l, y.reg), sizeof x);
  if (r == R_f32) memcpy(&narrow, const_at(l, y.reg), sizeof narrow), x = (double)narrow;
  x = fabs(x);
  return x >= 1 && x <= ldexp(1, MOST) && frexp(x, &e) == 0.5 ? x : 0;
}
static value number(lowering *l, vm_rtype r, double x) {
  float narrow = (float)x;
  u32 reg = r == R_f64 ? add_const(l, &x, sizeof x) : add_const(l, &narrow, sizeof narrow);
  return (value){reg, true, false};
}
/* By such a constant: of the magnitude, with the sign of x. */
static value legalize_rem(lowering *l, const vm_instr *i) {
  vm_rtype r = vm_rtype_of(operand_type(l, i)), bits = r == R_f64 ? R_u64 : R_u32;
  u32 width = vm_rtype_size(r);
  value x = loaded(l, i->a);
  double by = power_of_two(l, r, loaded(l, i->b));
  if (by == 0) return legalize_2(l, i);
  value a = call_1(l, IS(unary, VM_abs, (u8)r), width, x);
  value q = binary_on(l, VM_mul, r, width, a, number(l, r, 1 / by), PROG_NONE);
  q = call_1(l, IS(unary, VM_floor, (u8)r), width, q);
  q = binary_on(l, VM_mul, r, width, q, number(l, r, by), PROG_NONE);
  a = binary_on(l, VM_sub, r, width, a, q, PROG_NONE);
  value sign = binary_on(l, VM_and, bits, width, x, number(l, r, -0.0), PROG_NONE);
  return settle(l, i, binary_on(l, VM_or, bits, width, a, sign, PROG_NONE));
}

static value unary_of(lowering *l, const vm_instr *i, u32 b) {
  dtype t = operand_type(l, i);
  value x = spread(l, i->op, t, loaded(l, i->a));
  vm_what is = IS(unary, (u8)i->op, (u8)vm_rtype_of(t));
  return call(l, is, vm_width_of((dtype)i->type), x.scalar, x.reg, b, PROG_NONE);
}
static value legalize_1(lowering *l, const vm_instr *i) {
  return settle(l, i, unary_of(l, i, PROG_NONE));
}

/* Zeros of a type narrower than a byte are counted in the byte. */
static value legalize_clz(lowering *l, const vm_instr *i) {
  dtype t = operand_type(l, i);
  value v = unary_of(l, i, PROG_NONE);
  if (l->k->wrap[t]) {
    u8 above = (u8)(8 - num_int_bits(t));
    value n = {add_const(l, &above, 1), true};
    v = binary_on(l, VM_sub, vm_rtype_of(t), 1, v, n, PROG_NONE);
  }
  return settle(l, i, v);
}

/* A real number is its own real part, as it is stored. */
static value legalize_real(lowering *l, const vm_instr *i) {
  return i->type == operand_type(l, i) ? whole(l, i->a) : legalize_1(l, i);
}

static value select_of(lowering *l, value p, value x, value y, u32 width) {
  bool scalar = p.scalar && x.scalar && y.scalar;
  if (!scalar) p = splat(l, p, 1);
  u8 ones = scalar ? 0 : (u8)(x.scalar * 2 + y.scalar * 4);
  vm_what is = IS(select, (u8)vm_log2_width(width), R_pred, ones);
  return call(l, is, width, scalar, p.reg, x.reg, y.reg);
}

/* num_reduce_precision_f32 of a mantissa that is not empty. */
static value reduce_f32(lowering *l, value v, u32 exponent, u32 mantissa) {
  enum { SIGN = 1u << 31, INF = 0x7f800000, BIAS = 127, BITS = 23 };
  u32 drop = mantissa < BITS ? BITS - mantissa : 0, reach = (1u << (exponent - 1)) - 1;
  value a = bits_of(l, R_u32, VM_and, v, ~(u32)SIGN), r = a, inf = {0, true, false}, zero = inf;
  if (drop) {
    value odd = bits_of(l, R_u32, VM_and, bits_of(l, R_u32, VM_shr_logic, a, drop), 1);
    r = bits_of(l, R_u32, VM_add, r, (1u << (drop - 1)) - 1);
    r = binary_on(l, VM_add, R_u32, 4, r, odd, PROG_NONE);
    r = bits_of(l, R_u32, VM_and, r, ~((1u << drop) - 1));
  }
  if (reach < BIAS) {
    static const u64 none, infinity = INF;
    inf.reg = add_const(l, &infinity, sizeof infinity), zero.reg = add_const(l, &none, sizeof none);
    value low = bits_of(l, R_u32, VM_le, r, ((BIAS - reach + 1u) << BITS) - 1);
    value fits = bits_of(l, R_u32, VM_le, r, ((BIAS + reach + 1u) << BITS) - 1);
    r = select_of(l, low, zero, select_of(l, fits, r, inf, 4), 4);
  }
  value sign = bits_of(l, R_u32, VM_and, v, SIGN);
  r = binary_on(l, VM_or, R_u32, 4, r, sign, PROG_NONE);
  return select_of(l, bits_of(l, R_u32, VM_le, a, INF - 1), r, v, 4);
}

static value legalize_reduce_precision(lowering *l, const vm_instr *i) {
  static const struct {
    u8 exponent, mantissa;
  } of[DTYPE_COUNT] = {[DTYPE_f64] = {11, 52}, [DTYPE_f32] = {8, 23}, [DTYPE_bf16] = {8, 7},
                       [DTYPE_f16] = {5, 10}};
  dtype t = operand_type(l, i);
  u32 bits[3] = {i->b, i->c, t};
  if (of[t].exponent && i->b >= of[t].exponent && i->c >= of[t].mantissa) return whole(l, i->a);
  if (t == DTYPE_f32 && i->c && i->b <= of[t].exponent)
    return settle(l, i, reduce_f32(l, spread(l, i->op, t, loaded(l, i->a)), i->b, i->c));
  return settle(l, i, unary_of(l, i, add_const(l, bits, sizeof bits)));
}
static value legalize_select(lowering *l, const vm_instr *i) {
  value p = loaded(l, i->a), x = whole(l, i->b), y = whole(l, i->c);
  if (is_zero(l, p.reg)) return y;
  dtype t = (dtype)i->type;
  bool stored = (x.stored || y.stored) && (x.stored || x.scalar) && (y.stored || y.scalar);
  x = stored ? as_stored(l, t, x) : loaded(l, i->b);
  y = stored ? as_stored(l, t, y) : loaded(l, i->c);
  value v = select_of(l, p, x, y, stored ? (u32)dtype_size(t) : vm_width_of(t));
  v.stored = stored;
  return v;
}

static value legalize_clamp(lowering *l, const vm_instr *i) {
  vm_rtype r = vm_rtype_of((dtype)i->type);
  u32 width = vm_rtype_size(r);
  value low = loaded(l, i->a), x = loaded(l, i->b), high = loaded(l, i->c);
  value v = binary_on(l, VM_max, r, width, x, low, PROG_NONE);
  return binary_on(l, VM_min, r, width, v, high, PROG_NONE);
}

static value legalize_store(lowering *l, const vm_instr *i) {
  dtype t = (dtype)i->type;
  bool keep = l->spec->keep_registers;
  value v = keep ? loaded(l, i->a) : as_stored(l, t, whole(l, i->a));
  u32 width = v.stored ? (u32)dtype_size(t) : vm_width_of(t);
  if (keep && v.scalar) v = splat(l, v, width);
  l->out->outputs[i->b] = (vm_output){.reg = v.reg, .scalar = v.scalar, .width = width};
  return v;
}

/* ---- c128 as two values of f64: the parts, or what is no complex number ---- */

typedef void parts_fn(lowering *l, const vm_instr *i, value *to);

static value on_parts(lowering *l, u32 op, value x, value y) {
  return binary_on(l, op, R_f64, 8, x, y, PROG_NONE);
}
static void parts_each(lowering *l, const vm_instr *i, value *to) {
  for (u32 k = 0; k < 2; k++) to[k] = on_parts(l, i->op, part_of(l, i->a, k), part_of(l, i->b, k));
}
static void parts_mul(lowering *l, const vm_instr *i, value *to) {
  value a = part_of(l, i->a, 0), b = part_of(l, i->a, 1);
  value c = part_of(l, i->b, 0), d = part_of(l, i->b, 1);
  to[0] = on_parts(l, VM_sub, on_parts(l, VM_mul, a, c), on_parts(l, VM_mul, b, d));
  to[1] = on_parts(l, VM_add, on_parts(l, VM_mul, a, d), on_parts(l, VM_mul, b, c));
}
static void parts_neg(lowering *l, const vm_instr *i, value *to) {
  for (u32 k = 0; k < 2; k++) to[k] = call_1(l, IS(unary, VM_neg, R_f64), 8, part_of(l, i->a, k));
}
static void parts_compare(lowering *l, const vm_instr *i, value *to) {
  value same[2];
  for (u32 k = 0; k < 2; k++)
    same[k] = binary_on(l, i->op, R_f64, 1, part_of(l, i->a, k), part_of(l, i->b, k), PROG_NONE);
  *to = binary_on(l, i->op == VM_eq ? VM_and : VM_or, R_pred, 1, same[0], same[1], PROG_NONE);
}
static void parts_real(lowering *l, const vm_instr *i, value *to) { *to = part_of(l, i->a, 0); }
static void parts_imag(lowering *l, const vm_instr *i, value *to) { *to = part_of(l, i->a, 1); }
static void parts_complex(lowering *l, const vm_instr *i, value *to) {
  to[0] = loaded(l, i->a), to[1] = loaded(l, i->b);
}
static void parts_select(lowering *l, const vm_instr *i, value *to) {
  value p = loaded(l, i->a);
  for (u32 k = 0; k < 2; k++) to[k] = select_of(l, p, part_of(l, i->b, k), part_of(l, i->c, k), 8);
}
static parts_fn *const parts_of[VM_OP_COUNT] = {
    [VM_add] = parts_each,      [VM_sub] = parts_each,   [VM_mul] = parts_mul,
    [VM_neg] = parts_neg,       [VM_eq] = parts_compare, [VM_ne] = parts_compare,
    [VM_real] = parts_real,     [VM_imag] = parts_imag,  [VM_complex] = parts_complex,
    [VM_select] = parts_select,
};
static bool in_parts(const lowering *l, const vm_instr *i) {
  if (!l->out->parts || !parts_of[i->op]) return false;
  return i->type == DTYPE_c128 || operand_type(l, i) == DTYPE_c128;
}

/* ---- all of a code ---- */

typedef value legalize_fn(lowering *l, const vm_instr *i);
#define LEGALIZE_CALL(id, operands) legalize_##operands
#define LEGALIZE_OWN(id, operands) legalize_##id
static legalize_fn *const legalize_of[VM_OP_COUNT] = {
#define VM(id, operands, how, ...) [VM_##id] = LEGALIZE_##how(id, operands),
#include "program/vm_ops.def"
#undef VM
};

/* Which instructions a store depends on. */
static const bool *find_needed(arena *a, const vm_code *code) {
  bool *needed = arena_zalloc(a, code->len + 1);
  for (u32 i = code->len; i-- > 0;) {
    const vm_instr *v = &code->instrs[i];
    u32 args[] = {v->a, v->b, v->c};
    /* an iota is kept: the caller counts them */
    needed[i] |= v->op == VM_store || v->op == VM_iota;
    for (u32 k = 0; needed[i] && k < vm_op_infos[v->op].operands; k++) needed[args[k]] = true;
  }
  return needed;
}

void vm_legalize(vm_calls *out) {
  const vm_code *code = out->spec->code;
  lowering l = {.out = out, .k = out->k, .spec = out->spec};
  l.values = ARENA_ARRAY(out->a, value, code->len + 1);
  l.parts = arena_alloc(out->a, (code->len + 1) * sizeof *l.parts);
  memset(l.parts, 0xff, (code->len + 1) * sizeof *l.parts); /* PROG_NONE */
  out->outputs = arena_zalloc(out->a, (out->spec->num_out + 1) * sizeof(vm_output));
  const bool *needed = find_needed(out->a, code);
  for (u32 i = 0; i < code->len; i++) {
    if (!needed[i]) continue;
    l.at = &code->instrs[i];
    if (!in_parts(&l, l.at)) {
      l.values[i] = legalize_of[l.at->op](&l, l.at);
      continue;
    }
    value to[2];
    parts_of[l.at->op](&l, l.at, to);
    bool both = l.at->type == DTYPE_c128;
    l.values[i] = both ? (value){PROG_NONE, false, false} : to[0];
    if (both) memcpy(l.parts[i], to, sizeof to);
  }
}
