/* Quantized types read: quant.any<...>, quant.uniform<...>, quant.calibrated<...>.
 *
 * MLIR's Dialect/Quant/IR/TypeParser.cpp, in its order of checks and with its messages; what holds
 * of a type however it was made is asked of quant_problem (ir/quant.c) at the end. */
#include "text/float.h"
#include "text/parser.h"

/* Lists grow in the parser's scratch; type_quant copies them. */
typedef struct reader {
  quant q;
  token name;
  i64_vec scales, zeros, dims, blocks, shape;
} reader;

/* No storage type is so wide; the number then cannot overflow. */
enum { FAR_TOO_WIDE = 1000 };

/* u8, or an integer or float type */
static bool storage(parser *p, reader *r) {
  token where = p->tok;
  bool bad;
  if (!at(p, TOK_ID)) return parser_error(p, &where, "expected valid keyword");
  str s = where.text;
  if (s.data[0] == 'u' && !(s.len > 1 && s.data[1] == 'i')) {
    u32 width = 0;
    for (size_t i = 1; i < s.len; i++) {
      if (!char_is_digit(s.data[i])) return parser_error(p, &where, "expected storage type width");
      width = min_size(width * 10 + (u32)(s.data[i] - '0'), FAR_TOO_WIDE);
    }
    if (s.len == 1) return parser_error(p, &where, "expected storage type width");
    r->q.storage = type_int(p->ctx, width, SIGNLESS);
    r->q.u_spelling = true;
    parser_next(p);
  } else {
    r->q.storage = parser_optional_type(p, &bad);
    if (bad) return false;
    if (!r->q.storage || (r->q.storage->kind != TYPE_INT && r->q.storage->kind != TYPE_FLOAT))
      return parser_error(p, &where, "illegal storage type prefix");
    r->q.is_signed = r->q.storage->kind == TYPE_FLOAT || r->q.storage->sign != UNSIGNED;
  }
  if (!quant_default_range(r->q.storage, r->q.is_signed, &r->q.min, &r->q.max))
    return parser_error(p, &where, "illegal storage type size: %u", r->q.storage->width);
  return true;
}

/* <min:max>, if it is there */
static bool range(parser *p, reader *r) {
  i64 least = r->q.min, most = r->q.max;
  if (!parser_accept(p, '<')) return true;
  token lo = p->tok;
  if (!parser_i64(p, &r->q.min) || !parser_expect(p, ':', "expected ':'")) return false;
  token hi = p->tok;
  if (!parser_i64(p, &r->q.max) || !parser_expect(p, '>', "expected '>'")) return false;
  if (r->q.min < least)
    return parser_error(p, &lo, "illegal storage type minimum: %lld", (long long)r->q.min);
  if (r->q.max > most)
    return parser_error(p, &hi, "illegal storage type maximum: %lld", (long long)r->q.max);
  return true;
}

static bool expressed(parser *p, reader *r) {
  token where = p->tok;
  r->q.expressed = parser_type(p);
  if (!r->q.expressed) return false;
  return r->q.expressed->kind == TYPE_FLOAT ||
         parser_error(p, &where, "invalid kind of type specified");
}

static bool number(parser *p, i64_vec *out) {
  bool minus = parser_accept(p, '-');
  token t = p->tok;
  u64 bits;
  if (!at(p, TOK_FLOAT) && !at(p, TOK_INT))
    return parser_expect(p, TOK_FLOAT, "expected floating point literal");
  if (!parser_float_bits(p, &t, minus, type_float(p->ctx, FLOAT_f64), &bits)) return false;
  VEC_PUSH(p->scratch, *out, (i64)bits);
  return parser_next(p);
}

/* scale, or scale:zero_point */
static bool params(parser *p, reader *r) {
  double least, most;
  i64 zero = 0;
  if (!number(p, &r->scales)) return false;
  double scale = quant_double(r->scales.data[r->scales.len - 1]);
  float_range((float_kind)r->q.expressed->flt, &least, &most);
  if (scale < least || scale > most)
    return parser_error(p, &p->tok, "scale %e out of expressed type range [%e, %e]", scale, least,
                        most);
  if (parser_accept(p, ':') && !parser_i64(p, &zero)) return false;
  VEC_PUSH(p->scratch, r->zeros, zero);
  return true;
}

/* { a, { ... } } after the brace; the lists of a level are of one shape, which goes to r->shape. */
static bool params_list(parser *p, reader *r, size_t level) {
  i64 n = 0;
  if (!parser_enter(p)) return false;
  if (level == r->shape.len) VEC_PUSH(p->scratch, r->shape, -1);
  size_t inner = 0; /* levels inside the first element */
  do {
    size_t before = r->shape.len;
    bool nested = parser_accept(p, '{');
    if (nested ? !params_list(p, r, level + 1) : !params(p, r)) return false;
    if (n++ == 0) inner = nested ? r->shape.len - level - 1 : 0;
    if ((nested && before > level + 1 && r->shape.len != before) || nested != (inner > 0) ||
        (!nested && r->shape.len > level + 1))
      return parser_error(p, &p->tok,
                          "tensor literal is invalid; ranks are not consistent between elements");
  } while (parser_accept(p, ','));
  if (!parser_expect(p, '}', "expected '}'")) return false;
  parser_leave(p);
  if (r->shape.data[level] >= 0 && r->shape.data[level] != n)
    return parser_error(p, &p->tok,
                        "tensor literal is invalid; ranks are not consistent between elements");
  r->shape.data[level] = n;
  return true;
}

/* {dim:size, ...} after the brace */
static bool blocks(parser *p, reader *r) {
  if (parser_accept(p, '}')) return true;
  do {
    i64 dim, size;
    token where = p->tok;
    if (!parser_i64(p, &dim) || !parser_expect(p, ':', "expected ':'") || !parser_i64(p, &size))
      return false;
    if (dim != (i32)dim) return parser_error(p, &where, "integer value too large");
    VEC_PUSH(p->scratch, r->dims, dim);
    VEC_PUSH(p->scratch, r->blocks, size);
  } while (parser_accept(p, ','));
  return parser_expect(p, '}', "expected '}'");
}

static i64s list_of(const i64_vec *v) { return (i64s){v->data, v->len}; }

/* Scales and zero points as the types of the constants that MLIR keeps them in hold them. */
static void narrow(reader *r) {
  u32 width = r->q.storage->width;
  double d;
  for (size_t i = 0; i < r->scales.len; i++) {
    float_kind kind = (float_kind)r->q.expressed->flt;
    d = quant_double(r->scales.data[i]);
    if (float_is_supported(kind)) d = float_to_double(kind, float_from_double(kind, d));
    memcpy(&r->scales.data[i], &d, sizeof d);
    r->zeros.data[i] = (i64)((u64)r->zeros.data[i] << (64 - width)) >> (64 - width);
  }
}

static bool uniform(parser *p, reader *r) {
  i64 dim;
  r->q.form = QUANT_UNIFORM;
  if (!parser_expect(p, '<', "expected '<'") || !storage(p, r) || !range(p, r) ||
      !parser_expect(p, ':', "expected ':'") || !expressed(p, r))
    return false;
  if (parser_accept(p, ':')) {
    r->q.form = at(p, '{') ? QUANT_SUB_CHANNEL : QUANT_PER_AXIS;
    token where = p->tok;
    if (parser_accept(p, '{') ? !blocks(p, r) : !parser_i64(p, &dim)) return false;
    if (r->q.form == QUANT_PER_AXIS) {
      if (dim != (i32)dim) return parser_error(p, &where, "integer value too large");
      VEC_PUSH(p->scratch, r->dims, dim);
    }
  }
  if (!parser_expect(p, ',', "expected ','")) return false;
  if (r->q.form == QUANT_UNIFORM ? !params(p, r)
                                 : !parser_expect(p, '{', "expected '{'") || !params_list(p, r, 0))
    return false;
  if (r->q.form == QUANT_SUB_CHANNEL)
    narrow(r);
  else
    r->shape.len = 0;
  return parser_expect(p, '>', "expected '>'");
}

static bool any(parser *p, reader *r) {
  r->q.form = QUANT_ANY;
  return parser_expect(p, '<', "expected '<'") && storage(p, r) && range(p, r) &&
         (!parser_accept(p, ':') || expressed(p, r)) && parser_expect(p, '>', "expected '>'");
}

static bool calibrated(parser *p, reader *r) {
  r->q.form = QUANT_CALIBRATED;
  if (!parser_expect(p, '<', "expected '<'")) return false;
  token where = p->tok;
  if (!expressed(p, r)) return parser_error(p, &where, "expecting float expressed type");
  if (!parser_expect(p, '<', "expected '<'") || !number(p, &r->scales) ||
      !parser_expect(p, ':', "expected ':'") || !number(p, &r->scales) ||
      !parser_expect(p, '>', "expected '>'"))
    return parser_error(p, &where, "calibrated values must be present");
  return parser_expect(p, '>', "expected '>'");
}

const type *parser_quant(parser *p, const token *where, str name) {
  reader r = {.name = *where};
  bool ok = str_is(name, "uniform") ? uniform(p, &r)
            : str_is(name, "any")   ? any(p, &r)
            : str_is(name, "calibrated")
                ? calibrated(p, &r)
                : parser_error(p, where, "unknown quantized type " STR_FMT, STR_ARG(name));
  if (!ok) return NULL;
  r.q.scales = list_of(&r.scales);
  r.q.zero_points = list_of(&r.zeros);
  r.q.dims = list_of(&r.dims);
  r.q.block_sizes = list_of(&r.blocks);
  r.q.shape = list_of(&r.shape);
  const char *problem = quant_problem(p->ctx, &r.q);
  if (problem) return parser_error(p, where, "%s", problem), NULL;
  return type_quant(p->ctx, &r.q);
}
