/* Formulas: elementwise decompositions as text.
 *
 *   formula    := [name = expr ;]* expr          ops are made from left to right, inside out
 *   expr       := name                           a parameter, or what was named before
 *               | [name :] function(expr, ...)   named, for later
 *               | [name :] number [~ name]       a constant in the shape and element type of the
 *                                                value named, else of the first parameter
 *   number     := 1.5, -3e-10, and of the element type: #inf #ninf #nan, #max (largest finite),
 *                 #tiny (smallest normal), #least (smallest), #pi, #width (bits),
 *                 #sign (the sign bit alone), #magnitude (all but it)
 *
 * Functions are those of `functions`, chlo's other formulas by name, and
 *   poly(x, [a b c])   a x^2 + b x + c by Horner's rule
 *   cheb(x, [a b c])   a Chebyshev series, by Clenshaw's recurrence */
#include <math.h>
#include <stdlib.h>

#include "dialect/expand.h"

/* A later name hides an earlier one: names are looked up from the end, and parameters are the
 * first. */
typedef struct binding {
  str name;
  value *v;
} binding;

/* Text is read and ops are made in one pass, without a tree between: what the text says first is
 * made first, and that order is the peers'. Formulas are constants of this program, so errors are
 * bugs in them and give NULL without a word. */
typedef struct reader {
  expander *e;
  const char *at;
  VEC(binding) names;
  value *like; /* of constants */
} reader;

static value *read_expr(reader *r);

static void skip_space(reader *r) {
  while (*r->at == ' ') r->at++;
}

static bool accept(reader *r, char c) {
  skip_space(r);
  if (*r->at != c) return false;
  r->at++;
  return true;
}

static bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

static str read_word(reader *r) {
  const char *begin = r->at;
  while (is_word(*r->at)) r->at++;
  return (str){begin, (size_t)(r->at - begin)};
}

static value *look_up(const reader *r, str name) {
  for (size_t i = r->names.len; i-- > 0;)
    if (str_eq(r->names.data[i].name, name)) return r->names.data[i].v;
  return NULL;
}

static void bind(reader *r, str name, value *v) { VEC_PUSH(r->e->a, r->names, (binding){name, v}); }

/* ---- numbers ---- */

static double largest(const type *t) {
  switch ((float_kind)t->flt) {
  case FLOAT_f64:
    return 0x1.fffffffffffffp1023;
  case FLOAT_f32:
    return 0x1.fffffep127;
  case FLOAT_bf16:
    return 0x1.fep127;
  case FLOAT_f16:
    return 65504;
  default:
    return NAN;
  }
}

static int lowest_exponent(const type *t) {
  return t->flt == FLOAT_f64 ? -1022 : t->flt == FLOAT_f16 ? -14 : -126;
}

static int mantissa_bits(const type *t) {
  return t->flt == FLOAT_f64 ? 52 : t->flt == FLOAT_f32 ? 23 : t->flt == FLOAT_f16 ? 10 : 7;
}

/* Do we know the limits of this type? No decomposition is for the small ones (f8 and below): those
 * are computed in f32. */
static bool has_limits(const type *elem) {
  const type *t = elem->kind == TYPE_COMPLEX ? elem->elem : elem;
  return t->kind != TYPE_FLOAT || t->flt == FLOAT_f64 || t->flt == FLOAT_f32 ||
         t->flt == FLOAT_f16 || t->flt == FLOAT_bf16;
}

static number special(str name, const type *elem) {
  const type *t = elem->kind == TYPE_COMPLEX ? elem->elem : elem;
  u64 sign = 1ull << (t->width ? t->width - 1 : 0);
  if (str_is(name, "inf")) return number_float((double)INFINITY);
  if (str_is(name, "ninf")) return number_float((double)-INFINITY);
  if (str_is(name, "nan")) return number_float((double)NAN);
  if (str_is(name, "pi")) return number_float(3.14159265358979323846);
  if (str_is(name, "max")) return number_float(largest(t));
  if (str_is(name, "tiny")) return number_float(ldexp(1, lowest_exponent(t)));
  if (str_is(name, "least")) return number_float(ldexp(1, lowest_exponent(t) - mantissa_bits(t)));
  if (str_is(name, "width")) return number_int(t->width);
  if (str_is(name, "sign")) return number_int((i64)sign);
  return number_int((i64)(sign - 1)); /* magnitude */
}

/* Read as each of the three, since the type that it takes is only known at the constant; see
 * `number`. */
static number read_number(reader *r) {
  number n = {.f = strtod(r->at, NULL), .f32 = strtof(r->at, NULL)};
  char *end;
  n.i = strtoll(r->at, &end, 10);
  n.is_int = *end != '.' && *end != 'e';
  if (!n.is_int) strtod(r->at, &end);
  r->at = end;
  return n;
}

static value *read_constant(reader *r) {
  str name = {0};
  number n = {0};
  if (accept(r, '#'))
    name = read_word(r);
  else
    n = read_number(r);
  value *like = accept(r, '~') ? look_up(r, read_word(r)) : r->like;
  if (!like || (name.len && !has_limits(type_element(like->type)))) return NULL;
  if (name.len) n = special(name, type_element(like->type));
  return expand_constant_like(r->e, n, like, NULL);
}

/* ---- functions ---- */

typedef enum result_kind {
  SAME,    /* the type of the first operand */
  SECOND,  /* of the second */
  FLAG,    /* i1 */
  PART,    /* the element type of the complex one; abs of others: the same */
  WHOLE,   /* complex */
  COMPARE, /* i1, with a direction */
  WIDE,    /* integers of twice the width */
  UNSIGN,  /* unsigned integers */
  BITS,    /* integers of the same width */
  LIKE,    /* the type of the second, which is no operand */
} result_kind;

typedef struct function {
  const char *name;
  op_id op;
  int arity;
  result_kind kind;
  int direction; /* COMPARE */
} function;

static const function functions[] = {
    {"add", OP_add, 2, SAME, 0},
    {"sub", OP_subtract, 2, SAME, 0},
    {"mul", OP_multiply, 2, SAME, 0},
    {"div", OP_divide, 2, SAME, 0},
    {"rem", OP_remainder, 2, SAME, 0},
    {"pow", OP_power, 2, SAME, 0},
    {"max", OP_maximum, 2, SAME, 0},
    {"min", OP_minimum, 2, SAME, 0},
    {"atan2", OP_atan2, 2, SAME, 0},
    {"and", OP_and, 2, SAME, 0},
    {"or", OP_or, 2, SAME, 0},
    {"shr", OP_shift_right_logical, 2, SAME, 0},
    {"sar", OP_shift_right_arithmetic, 2, SAME, 0},
    {"not", OP_not, 1, SAME, 0},
    {"neg", OP_negate, 1, SAME, 0},
    {"abs", OP_abs, 1, PART, 0},
    {"sign", OP_sign, 1, SAME, 0},
    {"floor", OP_floor, 1, SAME, 0},
    {"sqrt", OP_sqrt, 1, SAME, 0},
    {"exp", OP_exponential, 1, SAME, 0},
    {"expm1", OP_exponential_minus_one, 1, SAME, 0},
    {"log", OP_log, 1, SAME, 0},
    {"log1p", OP_log_plus_one, 1, SAME, 0},
    {"cos", OP_cosine, 1, SAME, 0},
    {"sin", OP_sine, 1, SAME, 0},
    {"tan", OP_tan, 1, SAME, 0},
    {"real", OP_real, 1, PART, 0},
    {"imag", OP_imag, 1, PART, 0},
    {"complex", OP_complex, 2, WHOLE, 0},
    {"finite", OP_is_finite, 1, FLAG, 0},
    {"sel", OP_select, 3, SECOND, 0},
    {"clamp", OP_clamp, 3, SECOND, 0},
    {"eq", OP_compare, 2, COMPARE, 0},
    {"ne", OP_compare, 2, COMPARE, 1},
    {"ge", OP_compare, 2, COMPARE, 2},
    {"gt", OP_compare, 2, COMPARE, 3},
    {"le", OP_compare, 2, COMPARE, 4},
    {"lt", OP_compare, 2, COMPARE, 5},
    {"wide", OP_convert, 1, WIDE, 0},
    {"unsign", OP_convert, 1, UNSIGN, 0},
    {"convert", OP_convert, 2, LIKE, 0},
    {"bits", OP_bitcast_convert, 1, BITS, 0},
    {"unbits", OP_bitcast_convert, 2, LIKE, 0},
};

static const type *result_elem(ir_ctx *c, result_kind kind, const type *x) {
  switch (kind) {
  case FLAG:
  case COMPARE:
    return type_i1(c);
  case PART:
    return x->kind == TYPE_COMPLEX ? x->elem : x;
  case WHOLE:
    return type_complex(c, x);
  case WIDE:
    return type_int(c, x->width * 2, (signedness)x->sign);
  case UNSIGN:
    return type_int(c, x->width, UNSIGNED);
  case BITS:
    return type_int(c, x->width, SIGNLESS);
  default:
    return x;
  }
}

/* Types follow from the operands as the kind of function says; nothing infers them again. */
static value *apply(expander *e, const function *f, value **in) {
  if (f->kind == COMPARE) return expand_compare(e, f->direction, in[0], in[1]);
  const type *from = f->kind == SECOND || f->kind == LIKE ? in[1]->type : in[0]->type;
  const type *t = expand_with_elem(e->c, from, result_elem(e->c, f->kind, type_element(from)));
  int n = f->kind == LIKE ? 1 : f->arity;
  return op_result(expand_op(e, f->op, in, (size_t)n, &t, 1), 0);
}

/* ---- series ---- */

/* x * sum + c from the highest coefficient down: one multiplication less than there are
 * coefficients. */
static value *poly(reader *r, value *x) {
  expander *e = r->e;
  value *sum = NULL;
  for (;;) {
    skip_space(r);
    if (accept(r, ']')) return sum;
    if (sum) sum = expand_2(e, OP_multiply, sum, x, x->type);
    value *c = expand_constant_like(e, read_number(r), x, NULL);
    if (!c) return NULL;
    sum = sum ? expand_2(e, OP_add, sum, c, x->type) : c;
  }
}

/* b0 = x b1 - b2 + c, then (b0 - b2) / 2: x is twice the argument, as Cephes has it. The three
 * zeros and each of the ops are made even where they could be folded, because the peers' are there
 * too. */
static value *cheb(reader *r, value *x) {
  expander *e = r->e;
  value *b0 = expand_constant_like(e, number_float(0), x, NULL);
  value *b1 = expand_constant_like(e, number_float(0), x, NULL);
  value *b2 = expand_constant_like(e, number_float(0), x, NULL);
  for (;;) {
    skip_space(r);
    if (accept(r, ']')) break;
    b2 = b1;
    b1 = b0;
    b0 = expand_2(e, OP_multiply, x, b1, x->type);
    b0 = expand_2(e, OP_subtract, b0, b2, x->type);
    b0 = expand_2(e, OP_add, b0, expand_constant_like(e, read_number(r), x, NULL), x->type);
  }
  b0 = expand_2(e, OP_subtract, b0, b2, x->type);
  return expand_2(e, OP_multiply, b0, expand_constant_like(e, number_float(0.5), x, NULL), x->type);
}

static value *read_series(reader *r, bool is_cheb) {
  value *x = read_expr(r);
  if (!x || !accept(r, ',') || !accept(r, '[')) return NULL;
  value *v = is_cheb ? cheb(r, x) : poly(r, x);
  return accept(r, ')') ? v : NULL;
}

/* ---- expressions ---- */

static value *read_call(reader *r, str name) {
  enum { MOST = 3 };
  value *in[MOST];
  int n = 0;
  if (str_is(name, "poly") || str_is(name, "cheb")) return read_series(r, str_is(name, "cheb"));
  do {
    if (n == MOST || !(in[n++] = read_expr(r))) return NULL;
  } while (accept(r, ','));
  if (!accept(r, ')')) return NULL;
  for (size_t i = 0; i < COUNT(functions); i++)
    if (str_is(name, functions[i].name))
      return functions[i].arity == n ? apply(r->e, &functions[i], in) : NULL;
  return chlo_formula(r->e, name, in, (size_t)n);
}

/* Recursive descent; formulas are as deep as somebody wrote them. */
static value *read_expr(reader *r) {
  skip_space(r);
  char c = *r->at;
  if (c == '#' || c == '-' || (c >= '0' && c <= '9')) return read_constant(r);
  str name = read_word(r);
  if (accept(r, '(')) return read_call(r, name);
  if (!accept(r, ':')) return look_up(r, name);
  value *v = read_expr(r);
  bind(r, name, v);
  return v;
}

/* `name =` before an expression; empty: none. */
static str read_target(reader *r) {
  const char *begin = r->at;
  skip_space(r);
  str name = read_word(r);
  if (name.len && accept(r, '=')) return name;
  r->at = begin;
  return (str){0};
}

value *formula_expand(expander *e, const char *formula, const char *params, value *const *args) {
  reader r = {.e = e, .at = params, .like = args[0]};
  for (size_t i = 0; skip_space(&r), *r.at; i++) bind(&r, read_word(&r), args[i]);
  r.at = formula;
  for (;;) {
    str target = read_target(&r);
    value *v = read_expr(&r);
    if (!v || !target.len) return v;
    bind(&r, target, v);
    if (!accept(&r, ';')) return NULL;
  }
}
