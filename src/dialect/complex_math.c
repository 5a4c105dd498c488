/* Complex functions in terms of real ones, for backends that have no complex ones of their own
 * or less exact ones: formulas as formula.c reads them. Source: openxla/stablehlo
 * StablehloComplexMathExpanderPatterns.td, which is generated from functional_algorithms. */
#include "dialect/expand.h"

/* clang-format off */
/* log|1 + z| by a sum in twice the precision (Dekker's products, Neumaier's sums) near -1. */
static const char log1p_c[] =
    "complex(sel(gt(mx:max(ax:abs(x:real(z)), ay:abs(y:imag(z))), mul(sqrt(top:#max~x), "
    "0.01~x)), add(log(mx), mul(half:0.5~x, log1p(sel(eq(mn:min(ax, ay), mx), one:1~x, "
    "mul(r:div(mn, mx), r))))), sel(lt(add(abs(xp1:add(x, one)), ay), 0.2~x), mul(half, "
    "log(add(mul(xp1, xp1), yy:mul(y, y)))), mul(half, "
    "log1p(t0:add(t1:add(t2:add(t3:add(t4:add(x2h:add(x, x), yy), xx:mul(x, x)), "
    "yyl:add(add(add(add(neg(yy), mul(yh:add(t5:mul(t6:sel(gt(top, 1e+308~x), 134217729~x, "
    "sel(gt(top, 1e+38~x), 4097~x, 65~x)), y), sub(y, t5)), yh)), t7:mul(yh, yl:sub(y, yh))), "
    "t7), mul(yl, yl))), xxl:add(add(add(add(neg(xx), mul(xh:add(t8:mul(t6, x), sub(x, t8)), "
    "xh)), t9:mul(xh, xl:sub(x, xh))), t9), mul(xl, xl))), add(add(add(t10:add(sub(x2h, sub(t4, "
    "t11:sub(t4, x2h))), sub(yy, t11)), t12:add(sub(t4, sub(t3, t13:sub(t3, t4))), sub(xx, "
    "t13))), t14:add(sub(t3, sub(t2, t15:sub(t2, t3))), sub(yyl, t15))), t16:add(sub(t2, "
    "sub(t1, t17:sub(t1, t2))), sub(xxl, t17)))))))), atan2(y, xp1))";
/* Hull et al. */
static const char sqrt_c[] =
    "complex(sel(ge(x:real(z), zero:0~x), u:sel(t0:eq(ax:abs(x), ay:abs(y:imag(z))), "
    "div(mul(t1:sqrt(ax), 1.5537739740300374~x), sq_2:1.4142135623730951~x), "
    "sel(t2:or(eq(t3:sqrt(add(div(sel(eq(mx:max(ax, ay), mn:min(ax, ay)), mul(sq_2, mx), "
    "sel(and(eq(sqa:sqrt(add(one:1~x, r:mul(t4:div(mn, mx), t4))), one), gt(r, zero)), add(mx, "
    "div(mul(mx, r), two:2~x)), mul(mx, sqa))), two), div(ax, two))), zero), eq(t3, #inf~x)), "
    "sel(t5:gt(ax, ay), mul(t1, div(t6:sqrt(add(one, h:sel(eq(mx_0:max(one, t7:abs(r_0:sel(t0, "
    "one, sel(t8:lt(ax, ay), div(ax, ay), div(ay, ax))))), mn_0:min(one, t7)), mul(sq_2, mx_0), "
    "sel(and(eq(t9:sqrt(add(one, r_1:mul(t10:div(mn_0, mx_0), t10))), one), gt(r_1, zero)), "
    "add(mx_0, div(mul(mx_0, r_1), two)), mul(mx_0, t9))))), sq_2)), mul(t11:sqrt(ay), "
    "div(t12:sqrt(add(r_0, h)), sq_2))), t3)), t13:sel(t0, div(t11, 2.19736822693562~x), "
    "sel(t2, sel(t5, div(mul(t11, sel(t0, one, sel(t8, div(t1, t11), div(t11, t1)))), mul(t6, "
    "sq_2)), div(t11, mul(t12, sq_2))), div(ay, mul(t3, two))))), sel(lt(x, zero), "
    "sel(t14:lt(y, zero), neg(u), u), sel(t14, neg(t13), t13)))";
/* log|z| by such a sum near the unit circle. */
static const char log_c[] =
    "x = real(z); complex(sel(lt(abs(t0:add(t1:add(t2:add(t3:add(t4:add(t5:-1~x, "
    "mxh:sel(t6:gt(yy:mul(y:imag(z), y), xx:mul(x, x)), yy, xx)), mnh:sel(t6, xx, yy)), "
    "yyl:add(add(add(add(neg(yy), mul(yh:add(t7:mul(t8:sel(gt(top:#max~x, 1e+308~x), "
    "134217729~x, sel(gt(top, 1e+38~x), 4097~x, 65~x)), y), sub(y, t7)), yh)), t9:mul(yh, "
    "yl:sub(y, yh))), t9), mul(yl, yl))), xxl:add(add(add(add(neg(xx), mul(xh:add(t10:mul(t8, "
    "x), sub(x, t10)), xh)), t11:mul(xh, xl:sub(x, xh))), t11), mul(xl, xl))), "
    "add(add(add(t12:sub(mxh, sub(t4, t5)), t13:sub(mnh, sub(t3, t4))), t14:sub(yyl, sub(t2, "
    "t3))), t15:sub(xxl, sub(t1, t2))))), half:0.5~x), mul(half, log1p(t0)), "
    "add(log(mx:max(t16:abs(x), t17:abs(y))), mul(half, log1p(mul(t18:sel(eq(mn:min(t16, t17), "
    "mx), 1~x, div(mn, mx)), t18))))), atan2(y, x))";
/* exp(x) in two halves where it overflows and sin or cos is small. */
static const char exp_c[] =
    "complex(sel(t0:eq(e:exp(x:real(z)), #inf~x), mul(mul(e2:exp(mul(x, 0.5~x)), "
    "cs:cos(y:imag(z))), e2), mul(e, cs)), sel(eq(y, zero:0~x), zero, sel(t0, mul(mul(e2, "
    "sn:sin(y)), e2), mul(e, sn))))";
/* clang-format on */

static const char *const formulas[OP_COUNT] = {
    [OP_log_plus_one] = log1p_c,
    [OP_sqrt] = sqrt_c,
    [OP_log] = log_c,
    [OP_exponential] = exp_c,
};

/* Only what asks for no accuracy of its own. */
static bool is_default(const op *o) {
  const result_accuracy_attr *r = attr_as(result_accuracy, op_attr(o, SLOT_NAME(result_accuracy)));
  const result_accuracy_mode_attr *m = r ? attr_as(result_accuracy_mode, r->mode) : NULL;
  return !r || (m && m->value == 0);
}

bool expand_complex_math(expander *e, op *o, value **out) {
  const char *text = op_kind(o) < OP_COUNT ? formulas[op_kind(o)] : NULL;
  if (!text || type_element(op_operand(o, 0)->type)->kind != TYPE_COMPLEX || !is_default(o))
    return false;
  value *z = op_operand(o, 0);
  out[0] = formula_expand(e, text, "z", &z);
  return out[0] != NULL;
}
