/* Affine maps and integer sets: read, simplified as MLIR does where it makes an expression, and
 * kept as the text that it prints.
 *
 *   affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 4)>
 *   affine_set<(d0) : (d0 - 1 >= 0, d0 == 0)> */
#include "text/parser.h"

typedef enum kind { ADD, MUL, MOD, FLOOR, CEIL, CONST, DIM, SYM } kind; /* in MLIR's order */

typedef struct expr {
  kind kind;
  bool symbolic; /* of symbols and constants only */
  u32 depth;
  i64 value; /* CONST; number of DIM and SYM */
  const struct expr *a, *b;
} expr;

typedef struct affine {
  parser *p;
  VEC(str) dims, syms;
  bool deep;    /* some expression is too deep to walk */
  bool negated; /* behind a minus, where 1 << 63 is as far as numbers go */
} affine;
enum { EXPR_DEPTH = 2048 };

/* Depth is bounded for the sake of same, divisor and put, which recurse; the parser reports it. */
static const expr *make(affine *f, kind k, i64 v, const expr *a, const expr *b) {
  expr *e = ARENA_NEW(f->p->scratch, expr);
  u32 depth = a ? 1 + (a->depth > b->depth ? a->depth : b->depth) : 1;
  bool symbolic = a ? a->symbolic && b->symbolic : k != DIM;
  *e = (expr){k, symbolic, depth, v, a, b};
  f->deep |= depth > EXPR_DEPTH;
  return e;
}
static const expr *number(affine *f, i64 v) { return make(f, CONST, v, NULL, NULL); }

/* By structure: expressions are not uniqued, and are small. */
static bool same(const expr *a, const expr *b) {
  if (a == b) return true;
  return a && b && a->kind == b->kind && a->value == b->value && same(a->a, b->a) &&
         same(a->b, b->b);
}

static bool symbolic(const expr *e) { return e->symbolic; }
static bool is_const(const expr *e) { return e->kind == CONST; }

/* The greatest number known to divide all values; 0: of zero. */
static u64 divisor(const expr *e) {
  u64 x, y;
  switch (e->kind) {
  case CONST:
    return e->value < 0 ? 0 - (u64)e->value : (u64)e->value;
  case ADD:
  case MOD:
    x = divisor(e->a), y = divisor(e->b);
    while (y) {
      u64 r = x % y;
      x = y, y = r;
    }
    return x;
  case MUL:
    x = divisor(e->a), y = divisor(e->b);
    return checked_mul(x, y, &x) ? x : 1;
  default:
    return 1;
  }
}

/* C divides towards zero. */
static i64 floor_div(i64 a, i64 b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static const expr *mul(affine *f, const expr *a, const expr *b);

/* c in x * c; 1 for x alone */
static const expr *factor_of(affine *f, const expr *e, const expr **rest) {
  if (e->kind == MUL && is_const(e->b)) return *rest = e->a, e->b;
  return *rest = e, number(f, 1);
}

/* q where e is (q * c) * -1 or q * -c and q is x floordiv c: the second half of x mod c */
static bool is_floor_times(const expr *e, const expr *x, i64 *c) {
  if (e->kind != MUL || !is_const(e->b) || e->b->value >= 0) return false;
  i64 times = e->b->value;
  if (times == INT64_MIN) return false;
  const expr *q = e->a;
  if (q->kind == MUL && is_const(q->b) && times == -1 && q->b->value > INT64_MIN)
    times = -q->b->value, q = q->a;
  if (q->kind != FLOOR || !is_const(q->b) || q->b->value != -times || !same(q->a, x)) return false;
  return *c = -times, true;
}

/* Symbols and constants to the right, dims in their order, equal terms collected: what MLIR's
 * simplifyAdd does (mlir/lib/IR/AffineExpr.cpp), as the text that is printed shows it. What would
 * overflow is left as it is. */
static const expr *add(affine *f, const expr *a, const expr *b) {
  i64 sum, c;
  const expr *x, *y;
  if (is_const(a) && is_const(b) && checked_add(a->value, b->value, &sum)) return number(f, sum);
  bool order = (is_const(a) && !is_const(b)) || (symbolic(a) && !symbolic(b)) ||
               (a->kind == b->kind && (a->kind == DIM || a->kind == SYM) && a->value > b->value);
  if (order) x = a, a = b, b = x;
  if (is_const(b) && b->value == 0) return a;
  if (is_const(b) && a->kind == ADD && is_const(a->b) && checked_add(a->b->value, b->value, &sum))
    return add(f, a->a, number(f, sum));
  const expr *m = factor_of(f, a, &x), *n = factor_of(f, b, &y);
  if (same(x, y) && checked_add(m->value, n->value, &sum)) return mul(f, x, number(f, sum));
  /* constants go outwards: (x + 1) + y is (x + y) + 1 */
  if (a->kind == ADD && is_const(a->b) && !is_const(b)) return add(f, add(f, a->a, b), a->b);
  if (is_floor_times(b, a, &c)) return make(f, MOD, 0, a, number(f, c));
  return make(f, ADD, 0, a, b);
}

/* As simplifyMul. */
static const expr *mul(affine *f, const expr *a, const expr *b) {
  i64 v;
  const expr *x;
  if (is_const(a) && is_const(b) && checked_mul(a->value, b->value, &v)) return number(f, v);
  bool order = (symbolic(a) && !symbolic(b)) || (is_const(a) && !is_const(b)) ||
               (a->kind == SYM && b->kind == SYM && a->value > b->value);
  if (order) x = a, a = b, b = x;
  if (is_const(b) && b->value == 1) return a;
  if (is_const(b) && b->value == 0) return b;
  if (is_const(b) && a->kind == MUL && is_const(a->b) && checked_mul(a->b->value, b->value, &v))
    return mul(f, a->a, number(f, v));
  if (a->kind == MUL && is_const(a->b) && !is_const(b)) return mul(f, mul(f, a->a, b), a->b);
  return make(f, MUL, 0, a, b);
}

/* mod, floordiv and ceildiv, as simplifyMod, simplifyFloorDiv and simplifyCeilDiv: only by positive
 * constants, and where the greatest known divisor of the left side tells something. */
static const expr *divide(affine *f, kind k, const expr *a, const expr *b) {
  if (!is_const(b) && same(a, b)) return number(f, k != MOD);
  if (is_const(b) && b->value < 1) return make(f, k, 0, a, b);
  if (is_const(b) && is_const(a)) {
    i64 q = floor_div(a->value, b->value), r = a->value - q * b->value;
    return number(f, k == MOD ? r : k == FLOOR ? q : q + (r != 0));
  }
  if (is_const(b)) {
    u64 d = divisor(a);
    if (b->value == 1 && k != MOD) return a;
    if (k == MOD && d % (u64)b->value == 0) return number(f, 0);
    if (k != MOD && a->kind == MUL && is_const(a->b) && a->b->value % b->value == 0)
      return mul(f, a->a, number(f, a->b->value / b->value));
    if (k == MOD && a->kind == MOD && is_const(a->b) && a->b->value % b->value == 0)
      return divide(f, MOD, a->a, b);
    if (k != CEIL && a->kind == ADD) { /* what is divided evenly leaves the sum */
      bool left = divisor(a->a) % (u64)b->value == 0, right = divisor(a->b) % (u64)b->value == 0;
      if (k == MOD && left) return divide(f, MOD, a->b, b);
      if (k == MOD && right) return divide(f, MOD, a->a, b);
      if (k == FLOOR && (left || right))
        return add(f, divide(f, FLOOR, a->a, b), divide(f, FLOOR, a->b, b));
    }
  }
  return make(f, k, 0, a, b);
}

static const expr *minus(affine *f, const expr *a, const expr *b) {
  return add(f, a, mul(f, b, number(f, -1)));
}

/* ---- reading ---- */

static const expr *sum(affine *f);

/* A minus is remembered in `negated` until the literal behind it is read: -9223372036854775808 has
 * no positive twin. */
static const expr *leaf(affine *f) {
  parser *p = f->p;
  token t = p->tok;
  i64 v;
  if (parser_accept(p, '(')) {
    bool negated = f->negated;
    f->negated = false;
    const expr *e = sum(f);
    f->negated = negated;
    return e && parser_expect(p, ')', "expected ')'") ? e : NULL;
  }
  if (f->negated && str_is(t.text, "9223372036854775808")) {
    f->negated = false; /* the minus is in it */
    return parser_next(p) ? number(f, INT64_MIN) : NULL;
  }
  if (at(p, TOK_INT)) return parser_i64(p, &v) ? number(f, v) : NULL;
  if (parser_accept(p, '-')) {
    f->negated = true;
    const expr *e = parser_enter(p) ? leaf(f) : NULL;
    bool done = !f->negated;
    f->negated = false;
    parser_leave(p);
    if (done) return e;
    return e ? mul(f, number(f, -1), e) : NULL;
  }
  if (!parser_expect(p, TOK_ID, "expected affine expression")) return NULL;
  for (size_t i = 0; i < f->dims.len; i++)
    if (str_eq(f->dims.data[i], t.text)) return make(f, DIM, (i64)i, NULL, NULL);
  for (size_t i = 0; i < f->syms.len; i++)
    if (str_eq(f->syms.data[i], t.text)) return make(f, SYM, (i64)i, NULL, NULL);
  return parser_error(p, &t, "use of undeclared identifier"), NULL;
}

static const expr *product(affine *f) {
  parser *p = f->p;
  if (!parser_enter(p)) return NULL;
  const expr *e = leaf(f);
  while (e) {
    token t = p->tok;
    kind k = at(p, '*')               ? MUL
             : at_word(p, "mod")      ? MOD
             : at_word(p, "floordiv") ? FLOOR
             : at_word(p, "ceildiv")  ? CEIL
                                      : ADD;
    if (k == ADD) break;
    parser_next(p);
    const expr *r = leaf(f);
    if (!r) return NULL;
    if (k == MUL && !symbolic(e) && !symbolic(r))
      return parser_error(p, &t,
                          "non-affine expression: at least one of the multiply operands has to be "
                          "either a constant or symbolic"),
             NULL;
    if (k != MUL && !symbolic(r))
      return parser_error(p, &t,
                          "non-affine expression: right operand of %s has to be either a "
                          "constant or symbolic",
                          k == MOD     ? "mod"
                          : k == FLOOR ? "floordiv"
                                       : "ceildiv"),
             NULL;
    e = k == MUL ? mul(f, e, r) : divide(f, k, e, r);
    if (f->deep) return parser_error(p, &t, "expression is too long"), NULL;
  }
  parser_leave(p);
  return e;
}

static const expr *sum(affine *f) {
  parser *p = f->p;
  const expr *e = product(f), *r;
  while (e && (at(p, '+') || at(p, '-'))) {
    bool plus = at(p, '+');
    parser_next(p);
    f->negated = !plus;
    r = product(f);
    plus = plus || !f->negated;
    f->negated = false;
    if (!r) return NULL;
    e = plus ? add(f, e, r) : minus(f, e, r);
    if (f->deep) return parser_error(p, &p->tok, "expression is too long"), NULL;
  }
  return e;
}

static bool dim_item(parser *p, void *user) {
  affine *f = user;
  token t = p->tok;
  VEC_PUSH(p->scratch, f->dims, t.text);
  return parser_expect(p, TOK_ID, "expected bare identifier");
}
static bool sym_item(parser *p, void *user) {
  affine *f = user;
  token t = p->tok;
  VEC_PUSH(p->scratch, f->syms, t.text);
  return parser_expect(p, TOK_ID, "expected bare identifier");
}

/* ---- writing ---- */

static void put(buf *b, const expr *e, bool tight);

static void put_sum(buf *b, const expr *e) {
  const expr *r = e->b, *rest = r->a;
  put(b, e->a, false);
  if (r->kind == MUL && is_const(r->b) && r->b->value < 0) {
    BUF_LIT(b, " - ");
    if (r->b->value == -1) {
      put(b, rest, rest->kind == ADD);
    } else {
      put(b, rest, true);
      buf_printf(b, " * %llu", (unsigned long long)(0 - (u64)r->b->value));
    }
  } else if (is_const(r) && r->value < 0) {
    buf_printf(b, " - %llu", (unsigned long long)(0 - (u64)r->value));
  } else {
    BUF_LIT(b, " + ");
    put(b, r, false);
  }
}

/* tight: in parentheses if it has an operator */
static void put(buf *b, const expr *e, bool tight) {
  static const char *const words[] = {" + ", " * ", " mod ", " floordiv ", " ceildiv "};
  if (e->kind >= CONST) {
    buf_printf(b, "%s%lld", e->kind == DIM ? "d" : e->kind == SYM ? "s" : "", (long long)e->value);
    return;
  }
  if (tight) BUF_LIT(b, "(");
  if (e->kind == ADD) {
    put_sum(b, e);
  } else if (e->kind == MUL && is_const(e->b) && e->b->value == -1) {
    BUF_LIT(b, "-");
    put(b, e->a, true);
  } else {
    put(b, e->a, true);
    buf_printf(b, "%s", words[e->kind]);
    put(b, e->b, true);
  }
  if (tight) BUF_LIT(b, ")");
}

static void put_spaces(buf *b, const affine *f) {
  BUF_LIT(b, "(");
  for (size_t i = 0; i < f->dims.len; i++) buf_printf(b, "%sd%zu", i ? ", " : "", i);
  BUF_LIT(b, ")");
  for (size_t i = 0; i < f->syms.len; i++) buf_printf(b, "%ss%zu", i ? ", " : "[", i);
  if (f->syms.len) BUF_LIT(b, "]");
}

/* ---- the two attributes ---- */

typedef struct body {
  affine *f;
  buf out;
  bool set, any;
} body;

/* Of a map an expression; of a set a comparison, which is kept as `expression >= 0` or `== 0`. */
static bool item(parser *p, void *user) {
  body *k = user;
  const expr *e = sum(k->f);
  bool equal = false, less = false;
  if (!e) return false;
  if (k->set) {
    equal = parser_accept(p, '=');
    less = !equal && parser_accept(p, '<');
    if (!equal && !less && !parser_expect(p, '>', "expected '=='")) return false;
    if (!parser_expect(p, '=', "expected '=='")) return false;
    const expr *r = sum(k->f);
    if (!r) return false;
    e = less ? minus(k->f, r, e) : minus(k->f, e, r);
  }
  if (k->any) BUF_LIT(&k->out, ", ");
  k->any = true;
  put(&k->out, e, false);
  if (k->set) buf_printf(&k->out, " %s 0", equal ? "==" : ">=");
  return true;
}

/* After `<`; the result's text is in scratch. */
static bool parse(parser *p, body *k, str *out) {
  if (!parser_expect(p, '<', "expected '<'") ||
      !parser_list_in(p, '(', ')', dim_item, k->f, " in dimensional identifier list"))
    return false;
  if (at(p, '[') && !parser_list_in(p, '[', ']', sym_item, k->f, " in symbol list")) return false;
  put_spaces(&k->out, k->f);
  buf_printf(&k->out, k->set ? " : (" : " -> (");
  if (!(k->set ? parser_expect(p, ':', "expected '->' or ':'")
               : parser_expect(p, TOK_ARROW, "expected '->' or ':'")))
    return false;
  const char *in = k->set ? " in integer set constraint list" : " in affine map range";
  if (!parser_list_in(p, '(', ')', item, k, in) || !parser_expect(p, '>', "expected '>'"))
    return false;
  if (k->set && !k->any) BUF_LIT(&k->out, "0 == 0");
  BUF_LIT(&k->out, ")");
  *out = arena_str(p->scratch, buf_view(&k->out));
  return true;
}

const attr *parser_affine(parser *p, bool set) {
  affine f = {.p = p};
  body k = {.f = &f, .set = set};
  str text;
  buf_init(&k.out, ir_mem(p->ctx));
  bool ok = parse(p, &k, &text);
  buf_deinit(&k.out);
  if (!ok) return NULL;
  return set ? attr_make(p->ctx, affine_set, .text = text)
             : attr_make(p->ctx, affine_map, .text = text);
}
