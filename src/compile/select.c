/* Which VM instruction computes an elementwise op; one without does not compile. */
#include "dialect/dialect.h"
#include "compile/lower.h"
#include "compile/steps.h"
#include "num/convert.h"

/* ---- elementwise ops ---- */

enum {
  SELECT_compare = VM_OP_COUNT, /* made by hand below */
  SELECT_chlo_square,
  SELECT_chlo_conj,
  SELECT_chlo_mulhi,
  SELECT_reduce_precision,
  SELECT_COUNT,
  SELECT_NONE = 0xffff,
};

/* op id -> instruction */
enum {
  VM_OF_abs = VM_abs,
  VM_OF_add = VM_add,
  VM_OF_and = VM_and,
  VM_OF_atan2 = VM_atan2,
  VM_OF_cbrt = VM_cbrt,
  VM_OF_ceil = VM_ceil,
  VM_OF_clamp = VM_clamp,
  VM_OF_compare = SELECT_compare,
  VM_OF_complex = VM_complex,
  VM_OF_convert = VM_convert,
  VM_OF_cosine = VM_cos,
  VM_OF_count_leading_zeros = VM_clz,
  VM_OF_divide = VM_div,
  VM_OF_exponential = VM_exp,
  VM_OF_exponential_minus_one = VM_expm1,
  VM_OF_floor = VM_floor,
  VM_OF_imag = VM_imag,
  VM_OF_is_finite = VM_is_finite,
  VM_OF_log = VM_log,
  VM_OF_log_plus_one = VM_log1p,
  VM_OF_logistic = VM_logistic,
  VM_OF_maximum = VM_max,
  VM_OF_minimum = VM_min,
  VM_OF_multiply = VM_mul,
  VM_OF_negate = VM_neg,
  VM_OF_not = VM_not,
  VM_OF_or = VM_or,
  VM_OF_popcnt = VM_popcnt,
  VM_OF_power = VM_pow,
  VM_OF_real = VM_real,
  VM_OF_remainder = VM_rem,
  VM_OF_round_nearest_afz = VM_round_afz,
  VM_OF_round_nearest_even = VM_round_even,
  VM_OF_rsqrt = VM_rsqrt,
  VM_OF_select = VM_select,
  VM_OF_shift_left = VM_shl,
  VM_OF_shift_right_arithmetic = VM_shr_arith,
  VM_OF_shift_right_logical = VM_shr_logic,
  VM_OF_sign = VM_sign,
  VM_OF_sine = VM_sin,
  VM_OF_sqrt = VM_sqrt,
  VM_OF_subtract = VM_sub,
  VM_OF_tan = VM_tan,
  VM_OF_tanh = VM_tanh,
  VM_OF_xor = VM_xor,
  VM_OF_chlo_acos = VM_acos,
  VM_OF_chlo_acosh = VM_acosh,
  VM_OF_chlo_asin = VM_asin,
  VM_OF_chlo_asinh = VM_asinh,
  VM_OF_chlo_atan = VM_atan,
  VM_OF_chlo_atanh = VM_atanh,
  VM_OF_chlo_bessel_i1e = VM_bessel_i1e,
  VM_OF_chlo_conj = SELECT_chlo_conj,
  VM_OF_chlo_cosh = VM_cosh,
  VM_OF_chlo_digamma = VM_digamma,
  VM_OF_chlo_erf = VM_erf,
  VM_OF_chlo_erf_inv = VM_erf_inv,
  VM_OF_chlo_erfc = VM_erfc,
  VM_OF_chlo_is_inf = VM_is_inf,
  VM_OF_chlo_is_neg_inf = VM_is_neg_inf,
  VM_OF_chlo_is_pos_inf = VM_is_pos_inf,
  VM_OF_chlo_lgamma = VM_lgamma,
  VM_OF_chlo_mulhi = SELECT_chlo_mulhi,
  VM_OF_chlo_next_after = VM_next_after,
  VM_OF_chlo_polygamma = VM_polygamma,
  VM_OF_chlo_sinh = VM_sinh,
  VM_OF_chlo_square = SELECT_chlo_square,
  VM_OF_chlo_tan = VM_tan,
  VM_OF_chlo_zeta = VM_zeta,
};

#define VM_FOR_ew(id) VM_OF_##id
#define VM_FOR_cast(id) VM_OF_##id
#define VM_FOR_bcast(id) VM_OF_##id
#define VM_FOR_region(id) SELECT_NONE
#define VM_FOR_coll(id) SELECT_NONE
#define VM_FOR_term(id) SELECT_NONE
#define VM_FOR_made(id) SELECT_NONE
#define VM_FOR_later(id) SELECT_NONE
#define VM_FOR_own(id)                                                                             \
  OP_##id == OP_reduce_precision  ? SELECT_reduce_precision                                        \
  : OP_##id == OP_bitcast_convert ? VM_bitcast /* between equal widths */                          \
                                  : SELECT_NONE
static const u16 vm_of[OP_COUNT] = {
#define OP(id, name, family, ...) [OP_##id] = VM_FOR_##family(id),
#include "ir/ops.def"
};

bool select_is_elementwise(const op *o) {
  return op_kind(o) < OP_COUNT && vm_of[op_kind(o)] != SELECT_NONE;
}
bool select_is_heavy(const op *o) { return vm_is_heavy((vm_op)vm_of[op_kind(o)]); }

static dtype type_of(const value *v) {
  dtype t = DTYPE_f32;
  lower_dtype(type_element(v->type), &t);
  return t;
}

typedef u32 emit_fn(lower *L, vm_code *c, const op *o, const u32 *v);

/* Directions are in the order of StableHLO's enum. A total order is asked for only of floats; of
 * integers it is the plain one. */
static u32 emit_compare(lower *L, vm_code *c, const op *o, const u32 *v) {
  static const u16 plain[] = {VM_eq, VM_ne, VM_ge, VM_gt, VM_le, VM_lt};
  static const u16 total[] = {VM_total_eq, VM_total_ne, VM_total_ge,
                              VM_total_gt, VM_total_le, VM_total_lt};
  enum { TOTALORDER = 2 };
  struct compare_attrs a;
  view_compare(o, &a);
  bool is_total = a.compare_type && a.compare_type->value == TOTALORDER &&
                  dtype_infos[type_of(op_operand(o, 0))].kind == DTYPE_CLASS_FLOAT;
  size_t way = (size_t)a.comparison_direction->value % COUNT(plain);
  return vm_emit(L->b, c, (vm_op)(is_total ? total : plain)[way], DTYPE_pred, v[0], v[1], 0);
}

static u32 emit_chlo_square(lower *L, vm_code *c, const op *o, const u32 *v) {
  return vm_emit(L->b, c, VM_mul, type_of(op_result(o, 0)), v[0], v[0], 0);
}

static u32 emit_chlo_conj(lower *L, vm_code *c, const op *o, const u32 *v) {
  dtype t = type_of(op_result(o, 0));
  if (dtype_infos[t].kind != DTYPE_CLASS_COMPLEX) return v[0];
  dtype part = t == DTYPE_c128 ? DTYPE_f64 : DTYPE_f32;
  u32 re = vm_emit(L->b, c, VM_real, part, v[0], 0, 0);
  u32 im = vm_emit(L->b, c, VM_imag, part, v[0], 0, 0);
  im = vm_emit(L->b, c, VM_neg, part, im, 0, 0);
  return vm_emit(L->b, c, VM_complex, t, re, im, 0);
}

/* Products of sub-byte integers fit a byte. */
static u32 emit_chlo_mulhi(lower *L, vm_code *c, const op *o, const u32 *v) {
  dtype t = type_of(op_result(o, 0));
  u32 bits = num_int_bits(t);
  if (bits >= 8) return vm_emit(L->b, c, VM_mulhi, t, v[0], v[1], 0);
  bool sign = dtype_infos[t].kind == DTYPE_CLASS_SINT;
  dtype wide = sign ? DTYPE_s8 : DTYPE_u8;
  u32 x = vm_emit(L->b, c, VM_convert, wide, v[0], 0, 0);
  u32 y = vm_emit(L->b, c, VM_convert, wide, v[1], 0, 0);
  x = vm_emit(L->b, c, VM_mul, wide, x, y, 0);
  y = vm_const_bits(L->b, c, wide, &bits);
  x = vm_emit(L->b, c, sign ? VM_shr_arith : VM_shr_logic, wide, x, y, 0);
  return vm_emit(L->b, c, VM_convert, t, x, 0, 0);
}

static u32 emit_reduce_precision(lower *L, vm_code *c, const op *o, const u32 *v) {
  struct reduce_precision_attrs a;
  view_reduce_precision(o, &a);
  u32 exponent = a.exponent_bits > 11 ? 11 : (u32)a.exponent_bits; /* no type has more */
  u32 mantissa = a.mantissa_bits > 52 ? 52 : (u32)a.mantissa_bits;
  return vm_emit(L->b, c, VM_reduce_precision, type_of(op_result(o, 0)), v[0], exponent, mantissa);
}

static emit_fn *const emit_of[SELECT_COUNT - VM_OP_COUNT] = {
    [SELECT_compare - VM_OP_COUNT] = emit_compare,
    [SELECT_chlo_square - VM_OP_COUNT] = emit_chlo_square,
    [SELECT_chlo_conj - VM_OP_COUNT] = emit_chlo_conj,
    [SELECT_chlo_mulhi - VM_OP_COUNT] = emit_chlo_mulhi,
    [SELECT_reduce_precision - VM_OP_COUNT] = emit_reduce_precision,
};

u32 select_emit(lower *L, vm_code *c, const op *o, const u32 *v) {
  u16 vm = vm_of[op_kind(o)];
  if (vm >= VM_OP_COUNT) return emit_of[vm - VM_OP_COUNT](L, c, o, v);
  return vm_emit(L->b, c, (vm_op)vm, type_of(op_result(o, 0)), v[0], v[1], v[2]);
}

/* Asked first, since select_emit cannot fail. */
bool select_takes(lower *L, const op *o) {
  u16 vm = vm_of[op_kind(o)];
  if (vm >= VM_OP_COUNT || vm_takes((vm_op)vm, type_of(op_operand(o, 0)))) return true;
  return op_unimplemented(L->ctx, o, "over elements of '%s'",
                          dialect_show_type(L->ctx, type_element(op_operand(o, 0)->type)));
}

/* ---- regions of scalar ops: reducers, comparators ---- */

/* stablehlo.constant, sdy.constant: the value is the first slot of both. */
static bool code_constant(lower *L, const op *o, vm_code *c, u32 *out) {
  const dense_attr *d = attr_as(dense, o->slots[0]);
  dtype t;
  if (!d || !lower_dtype(type_element(op_result(o, 0)->type), &t) || d->data.len < dtype_size(t))
    return op_unimplemented(L->ctx, o, "a constant of this type in a region");
  *out = vm_const_bits(L->b, c, t, d->data.data);
  return true;
}

/* A value from outside of the region: only constants can be there. */
static bool code_operand(lower *L, const op *o, const block *body, vm_code *c, value *v, u32 *out) {
  const block *home = v->is_arg ? v->def.block : v->def.op->parent;
  *out = L->scalar_of[v->num];
  if (home == body) return true;
  const node *n = L->node_of[v->num];
  if (!n || !n->element) return op_unimplemented(L->ctx, o, "a value from outside of the region");
  *out = vm_const_bits(L->b, c, (dtype)n->type, n->element);
  return true;
}

static bool code_op(lower *L, const op *o, const block *body, vm_code *c) {
  u32 v[3] = {0, 0, 0};
  dtype t;
  value *result = o->num_results == 1 ? op_result(o, 0) : NULL;
  if (op_has(o, CONSTANT) && result) return code_constant(L, o, c, &L->scalar_of[result->num]);
  if (!select_is_elementwise(o) || !result || o->num_operands > COUNT(v) ||
      !lower_dtype(type_element(result->type), &t))
    return op_unimplemented(L->ctx, o, "inside a reduction or comparator");
  for (u32 i = 0; i < o->num_operands; i++)
    if (!code_operand(L, o, body, c, op_operand(o, i), &v[i])) return false;
  if (!select_takes(L, o)) return false;
  L->scalar_of[result->num] = select_emit(L, c, o, v);
  return true;
}

bool select_code(lower *L, const op *o, block *body, vm_code *out) {
  *out = (vm_code){0};
  for (u32 i = 0; i < body->num_args; i++) {
    const value *arg = body->args[i];
    dtype t;
    i64 count;
    if (!type_is_ranked(arg->type) || !type_num_elements(arg->type, &count) || count != 1 ||
        !lower_dtype(type_element(arg->type), &t))
      return op_unimplemented(L->ctx, o, "a region over more than scalars");
    L->scalar_of[arg->num] = vm_load(L->b, out, t, i);
  }
  op *end = op_terminator(body);
  for (const op *k = body->first; k != end; k = k->next)
    if (!code_op(L, k, body, out)) return false;
  for (u32 i = 0; i < end->num_operands; i++) {
    u32 v;
    if (!code_operand(L, end, body, out, op_operand(end, i), &v)) return false;
    vm_store(L->b, out, i, v);
  }
  return true;
}

bool select_body(lower *L, const op *o, block *body, prog_body *out) {
  *out = (prog_body){.kind = REDUCE_CODE}; /* the program recognizes known ones itself */
  return select_code(L, o, body, &out->code);
}
