/* dense<...> and array<...>: constants as bytes.
 *
 * The type stands after the elements, so the elements are first skipped over, the type is read,
 * and then the cursor goes back to read the elements straight into their storage. */
#include "text/parser.h"
#include "text/wide.h"

typedef struct dense {
  const type *type, *elem; /* elem: of complex its part */
  bool complex;
  size_t part, size; /* bytes of a number; of an element */
  char *out;
  char *spare;       /* for more elements than the type has: read, so that shapes can be compared */
  size_t count, cap; /* elements read; room */
  size_t total;      /* elements that the type has */
  bool scan;         /* no type yet: tokens are counted, and strings collected */
  token odd;         /* of those the first that is no string */
  VEC(const attr *) strings;
} dense;

/* What has to be put back to read a stretch of the text again. */
typedef struct cursor {
  lexer lex;
  token tok;
  u32 depth;
} cursor;

static void rewind_to(parser *p, const cursor *c) {
  p->lex = c->lex;
  p->tok = c->tok;
  p->depth = c->depth;
}

/* Of a number in a list, whatever the type says later. */
static bool number_token(parser *p, bool minus) {
  if (at(p, TOK_INT) || at(p, TOK_FLOAT)) return true;
  if (minus) return parser_error(p, &p->tok, "expected integer or floating point literal");
  return at(p, TOK_STRING) || at_word(p, "true") || at_word(p, "false") ||
         parser_error(p, &p->tok, "expected element literal of primitive type");
}

/* Into out[d->part]. The order of the questions decides which message is given, so it is MLIR's. */
static bool number(parser *p, const dense *d, char *out) {
  bool minus = parser_accept(p, '-');
  token t = p->tok;
  u64 bits;
  const type *e = d->elem;
  if (!number_token(p, minus)) return false;
  bool word = at(p, TOK_ID);
  if (e->kind == TYPE_FLOAT && (word || at(p, TOK_STRING))) {
    return parser_error(p, &t, "expected floating point literal");
  } else if (word) {
    if (e->kind != TYPE_INT || e->width != 1)
      return parser_error(p, &t, "expected i1 type for 'true' or 'false' values");
    bits = at_word(p, "true");
  } else if (at(p, TOK_STRING)) {
    return parser_error(p, &t, "integer constant out of range for type");
  } else if (t.kind == TOK_FLOAT && e->kind != TYPE_FLOAT) {
    return parser_error(p, &t, "expected integer elements, but parsed floating-point");
  } else if (minus && e->kind == TYPE_INT && e->sign == UNSIGNED) {
    return parser_error(p, &t, "expected unsigned integer elements, but parsed negative value");
  } else if (d->part > 8) {
    return parser_wide_number(p, &t, minus, e, "type", out) && parser_next(p);
  } else if (e->kind == TYPE_FLOAT) {
    if (!parser_float_bits(p, &t, minus, e, &bits)) return false;
  } else if (!parser_int_bits(t.text, minus, e, &bits)) {
    return parser_error(p, &t, "integer constant out of range for type");
  }
  memcpy(out, &bits, d->part); /* little-endian */
  return parser_next(p);
}

/* Numbers, or pairs of them in brackets, of whatever type. */
static bool scan_element(parser *p, dense *d) {
  if (parser_accept(p, '(')) {
    bool pair = parser_enter(p) && scan_element(p, d) &&
                parser_expect(p, ',', "expected ',' between complex elements") &&
                scan_element(p, d) && parser_expect(p, ')', "expected ')' after complex elements");
    parser_leave(p);
    return pair;
  }
  if (!number_token(p, parser_accept(p, '-'))) return false;
  if (at(p, TOK_STRING))
    VEC_PUSH(p->scratch, d->strings, attr_string(p->ctx, parser_string(p, &p->tok)));
  else if (d->strings.len == d->count)
    d->odd = p->tok;
  d->count++;
  return parser_next(p);
}

/* One element, into its place; into `spare` where there are more than the type has, which is
 * reported when the shapes are compared. */
static bool element(parser *p, dense *d) {
  if (d->count == d->cap && d->count < d->total) /* wide ones only, see elements */
    d->out = arena_grow(ir_arena(p->ctx), d->out, d->count, &d->cap, d->size);
  char *to = d->count < d->total ? d->out + d->count * d->size : d->spare;
  if (d->scan) return scan_element(p, d);
  d->count++;
  if (!d->complex) return number(p, d, to);
  return parser_expect(p, '(', "expected '(' in complex literal") && number(p, d, to) &&
         parser_expect(p, ',', "expected ',' between complex elements") &&
         number(p, d, to + d->part) && parser_expect(p, ')', "expected ')' after complex elements");
}

/* [..] lists of one shape, which is added to dims. */
static bool list(parser *p, dense *d, i64_vec *dims) {
  i64 n = 0, few[2][4];
  i64_vec first = {few[0], 0, COUNT(few[0])}, next = {few[1], 0, COUNT(few[1])};
  if (!parser_enter(p) || !parser_expect(p, '[', "expected '['")) return false;
  if (!at(p, ']')) {
    do {
      i64_vec *shape = n ? &next : &first;
      shape->len = 0;
      if (at(p, '[') ? !list(p, d, shape) : !element(p, d)) return false;
      if (n++ && !i64s_eq((i64s){first.data, first.len}, (i64s){next.data, next.len}))
        return parser_error(p, &p->tok,
                            "tensor literal is invalid; ranks are not consistent between elements");
    } while (parser_accept(p, ','));
  }
  if (!parser_expect(p, ']', "expected ']'")) return false;
  parser_leave(p);
  VEC_PUSH(p->scratch, *dims, n);
  for (size_t i = 0; i < first.len; i++) VEC_PUSH(p->scratch, *dims, first.data[i]);
  return true;
}

static bool shape_mismatch(parser *p, const token *where, const i64_vec *dims, const type *t) {
  return parser_error(p, where,
                      "inferred shape of elements literal ([%s]) does not match type ([%s])",
                      text_show_i64s(p->scratch, (i64s){dims->data, dims->len}),
                      text_show_i64s(p->scratch, t->dims));
}

/* The bytes as they are in memory, little-endian; a single element's worth is a splat. */
static const attr *from_hex(parser *p, dense *d, const token *where, i64 n) {
  str bytes;
  size_t want, size = type_is_empty(d->type->elem) ? 0 : d->size;
  if (!parser_hex(p, &p->tok, &bytes, true))
    return parser_error(p, &p->tok, "expected string containing hex digits starting with `0x`"),
           NULL;
  if (!checked_mul((size_t)n, size, &want) || (bytes.len != want && bytes.len != size))
    return parser_error(p, where, "elements hex data size is invalid for provided type: '%s'",
                        text_show_type(p->scratch, d->type)),
           NULL;
  parser_next(p);
  if (d->elem->kind == TYPE_INT && d->elem->width == 1) /* any bit is true */
    for (size_t i = 0; i < bytes.len; i++) ((char *)bytes.data)[i] = bytes.data[i] != 0;
  if (n > 0 && !memcmp(bytes.data, bytes.data + size, bytes.len - size)) bytes.len = size;
  return attr_dense(p->ctx, d->type, bytes, bytes.len == size, true);
}

/* Fills *d from the type, and *n with its elements. */
static bool prepare(parser *p, const token *where, const type *t, dense *d, i64 *n) {
  if (!type_is_shaped(t)) return parser_error(p, where, "elements literal must be a shaped type");
  if (!type_is_static_shape(t))
    return parser_error(p, where, "elements literal type must have static shape");
  if (!type_num_elements(t, n))
    return parser_error(p, where, "elements literal type has too many elements");
  *d = (dense){.type = t, .elem = t->elem};
  d->complex = d->elem->kind == TYPE_COMPLEX;
  d->size = d->part = type_storage(d->elem);
  if (d->complex) {
    d->elem = d->elem->elem;
    d->part = d->size / 2;
  }
  return true;
}

/* Elements all alike become a splat, as MLIR's uniquing makes them. */
static bool all_same(const dense *d) {
  for (size_t i = 1; i < d->count; i++)
    if (memcmp(d->out, d->out + i * d->size, d->size) != 0) return false;
  return d->count > 0;
}

/* Reads over what may be an element or a list of them, whatever the type. */
static bool scan(parser *p, dense *d, i64_vec *dims) {
  d->scan = true;
  bool ok = at(p, '>') || (at(p, '[') ? list(p, d, dims) : element(p, d));
  d->scan = false;
  return ok;
}

/* Large results go straight into the context's arena and are borrowed by the attribute. */
static const attr *numbers(parser *p, dense *d, i64 n) {
  i64_vec dims = {0};
  const type *t = d->type;
  d->count = 0;
  d->total = (size_t)n;
  d->spare = arena_alloc(p->scratch, d->size);
  if (at(p, '>')) return n ? NULL : attr_dense(p->ctx, t, (str){0}, false, false);
  if (!at(p, '[')) {
    d->total = 0;
    return element(p, d) ? attr_dense(p->ctx, t, (str){d->spare, d->size}, true, false) : NULL;
  }
  /* No more than the text can hold, whatever the type claims; grown on demand where an element of a
   * few characters may take a million bytes. */
  d->cap = min_size((size_t)n, d->size > 16 ? 1 : p->source_len);
  d->out = arena_array(d->cap * d->size > 256 ? ir_arena(p->ctx) : p->scratch, d->cap, d->size);
  if (!list(p, d, &dims) || !i64s_eq((i64s){dims.data, dims.len}, t->dims)) return NULL;
  bool splat = all_same(d);
  return attr_dense(p->ctx, t, (str){d->out, (splat ? 1 : d->count) * d->size}, splat, true);
}

/* dense<"text"> or dense<["a", "b"]> of a type that is not a number, once it is scanned */
static const attr *strings(parser *p, const dense *d, const token *where) {
  size_t n = d->strings.len;
  const attr *const *list = d->strings.data;
  if (n != d->count)
    return parser_error(p, where, "expected string token, got " STR_FMT, STR_ARG(d->odd.text)),
           NULL;
  bool same = n > 0;
  for (size_t i = 1; i < n; i++) same = same && list[i] == list[0];
  return attr_make(p->ctx, dense_string, .type = d->type, .elems = {list, same ? 1 : n},
                   .splat = same);
}

/* What MLIR finds wrong with elements of whatever kind, once they are scanned. */
static bool check_count(parser *p, const dense *d, const i64_vec *dims, i64 n, const token *where) {
  bool listed = dims->len > 0;
  u64 want = listed ? (u64)n : 1;
  const char *of = text_show_type(p->scratch, listed || !d->complex ? d->type : d->type->elem);
  if (listed && !i64s_eq((i64s){dims->data, dims->len}, d->type->dims))
    return shape_mismatch(p, where, dims, d->type);
  if (!d->count)
    return !n ||
           parser_error(p, where, "parsed zero elements, but type ('%s') expected at least 1", of);
  if (d->complex && d->count != 2 * want)
    return parser_error(p, where, "parsed %zu elements, but type ('%s') expected %llu elements",
                        d->count, of, (unsigned long long)(2 * want));
  return true;
}

/* Reads them at once where they are right, and again to say what is wrong. */
static const attr *elements_of(parser *p, const type *t, const token *where) {
  dense d;
  i64 n;
  i64_vec dims = {0};
  if (!prepare(p, where, t, &d, &n)) return NULL;
  bool of_numbers = d.size > 0 && d.elem->kind != TYPE_OPAQUE;
  if (of_numbers && at(p, TOK_STRING)) return from_hex(p, &d, where, n);
  cursor begin = {p->lex, p->tok, p->depth};
  bool muted = p->muted;
  p->muted = true;
  const attr *a = of_numbers ? numbers(p, &d, n) : NULL;
  p->muted = muted;
  if (a) return a;
  rewind_to(p, &begin);
  d.count = 0;
  if (!scan(p, &d, &dims) || !check_count(p, &d, &dims, n, where)) return NULL;
  if (!of_numbers) return strings(p, &d, where);
  rewind_to(p, &begin);
  return numbers(p, &d, n);
}

static const attr *elements(parser *p, const type *t, const token *where) {
  i64 n;
  i64_vec dims = {0};
  dense any = {0};
  bool fixed = type_is_static_shape(t) && type_num_elements(t, &n);
  if (!fixed && (!scan(p, &any, &dims) || !parser_expect(p, '>', "expected '>'"))) return NULL;
  return elements_of(p, t, where);
}

/* Says what is wrong with a constant whose end or type was not found. */
static const attr *broken(parser *p, const lexer *begin) {
  p->lex = *begin;
  parser_next(p);
  dense any = {0};
  i64_vec dims = {0};
  if (!scan(p, &any, &dims)) return NULL;
  if (parser_expect(p, '>', "expected '>'") && parser_expect(p, ':', "expected ':'"))
    parser_error(p, &p->tok, "brackets of elements are not balanced");
  return NULL;
}

/* At the `<`: the type, which stands behind the `>` unless it is expected, and the cursor behind
 * both. *begin is where the elements start. NULL: reported. */
static const type *type_behind(parser *p, const type *expected, lexer *begin) {
  *begin = p->lex;
  if (!lexer_skip_nested(&p->lex) || *p->lex.p != '>') return broken(p, begin), NULL;
  p->lex.p++;
  parser_next(p);
  if (expected) return expected;
  if (!at(p, ':')) return broken(p, begin), NULL;
  parser_next(p);
  return parser_type(p);
}

typedef const attr *body_fn(parser *p, const type *t, const token *where);

/* `word` is at hand. */
static const attr *with_type(parser *p, const type *expected, const char *problem, body_fn *body) {
  token where = p->tok;
  lexer begin;
  parser_next(p);
  if (!at(p, '<')) return parser_expect(p, '<', problem), NULL;
  const type *t = type_behind(p, expected, &begin);
  if (!t) return NULL;
  lexer after = p->lex;
  token next = p->tok;
  p->lex = begin;
  parser_next(p);
  const attr *a = body(p, t, &where);
  if (!a || !parser_expect(p, '>', "expected '>'")) return NULL;
  p->lex = after;
  p->tok = next;
  return a;
}

static const attr *dense_body(parser *p, const type *t, const token *where) {
  return elements(p, t, where);
}

const attr *parser_dense(parser *p, const type *expected) {
  return with_type(p, expected, "expected '<' after 'dense'", dense_body);
}

/* ---- sparse<indices, values> ---- */

/* A literal that says its shape itself; of one element that is no list, `single` has it. */
static const attr *shaped(parser *p, const type *elem, i64s single) {
  dense any = {0};
  i64_vec dims = {0};
  cursor begin = {p->lex, p->tok, p->depth};
  if (!scan(p, &any, &dims)) return NULL;
  rewind_to(p, &begin);
  i64s shape = dims.len ? (i64s){dims.data, dims.len} : single;
  return elements_of(p, type_tensor(p->ctx, shape, elem, NULL), &begin.tok);
}

static bool wrong_shapes(parser *p, const token *where, const type *t, const type *indices,
                         const type *values) {
  return parser_error(p, where,
                      "expected shape ([%s]); inferred shape of indices literal ([%s]); inferred "
                      "shape of values literal ([%s])",
                      text_show_i64s(p->scratch, t->dims),
                      text_show_i64s(p->scratch, indices->dims),
                      text_show_i64s(p->scratch, values->dims));
}

static bool index_outside(parser *p, const token *where, const type *t, const attr *indices,
                          i64 n) {
  buf b;
  buf_init(&b, ir_mem(p->ctx));
  for (size_t k = 0, rank = t->dims.len; k < rank; k++)
    buf_printf(&b, "%s%llu", k ? ", " : "",
               (unsigned long long)attr_dense_int(indices, (size_t)n * rank + k));
  return parser_error(p, where,
                      "sparse index #%lld is not contained within the value shape, with "
                      "index=[%s], and type='%s'",
                      (long long)n, buf_take(&b, p->scratch).data, text_show_type(p->scratch, t));
}

static bool check_sparse(parser *p, const token *where, const type *t, const attr *indices,
                         const attr *values) {
  i64 n;
  switch (attr_sparse_fault(t, indices, values, &n)) {
  case SPARSE_VALUES:
    return parser_error(p, where, "expected 1-d tensor for sparse element values");
  case SPARSE_SHAPES:
    return wrong_shapes(p, where, t, attr_dense_type(indices), attr_dense_type(values));
  case SPARSE_INDEX:
    return index_outside(p, where, t, indices, n);
  case SPARSE_FITS:
    break;
  }
  return true;
}

static const attr *sparse_body(parser *p, const type *t, const token *where) {
  const type *i64_type = type_int(p->ctx, 64, SIGNLESS);
  i64 n, one[2] = {at(p, '>') ? 0 : 1, (i64)t->dims.len};
  if (!type_is_shaped(t))
    return parser_error(p, where, "elements literal must be a shaped type"), NULL;
  if (!type_is_static_shape(t) || !type_num_elements(t, &n))
    return parser_error(p, where, "elements literal type must have static shape"), NULL;
  const attr *indices, *values;
  if (at(p, '>')) {
    indices = attr_dense(p->ctx, type_tensor(p->ctx, (i64s){one, 2}, i64_type, NULL), (str){0},
                         false, false);
    values = attr_dense(p->ctx, type_tensor(p->ctx, (i64s){one, 1}, t->elem, NULL), (str){0}, false,
                        false);
  } else {
    if (at(p, TOK_STRING))
      return parser_error(p, &p->tok, "expected element literal of primitive type"), NULL;
    indices = shaped(p, i64_type, (i64s){one, 2});
    if (!indices || !parser_expect(p, ',', "expected ','")) return NULL;
    const i64s counted = {((const dense_attr *)indices)->type->dims.data, 1};
    values = shaped(p, t->elem, counted);
  }
  if (!values || !check_sparse(p, where, t, indices, values)) return NULL;
  return attr_make(p->ctx, sparse, .type = t, .indices = indices, .values = values);
}

const attr *parser_sparse(parser *p, const type *expected) {
  return with_type(p, expected, "Expected '<' after 'sparse'", sparse_body);
}

typedef struct packed {
  const type *elem;
  char *one; /* an element */
  VEC(char) out;
} packed;

static bool packed_float(parser *p, const packed *k) {
  bool minus = parser_accept(p, '-');
  token t = p->tok;
  u64 bits;
  if (!at(p, TOK_INT) && !at(p, TOK_FLOAT))
    return parser_error(p, &t, "expected floating point literal");
  if (wide_is(k->elem))
    return parser_wide_number(p, &t, minus, k->elem, "type", k->one) && parser_next(p);
  if (!parser_float_bits(p, &t, minus, k->elem, &bits)) return false;
  memcpy(k->one, &bits, type_storage(k->elem));
  return parser_next(p);
}

static bool packed_int(parser *p, const packed *k) {
  bool minus = parser_accept(p, '-'), yes = at_word(p, "true"), bit = k->elem->width == 1;
  token t = p->tok;
  u64 bits = yes;
  if (yes || at_word(p, "false")) {
    if (!bit) return parser_error(p, &t, "expected i1 type for 'true' or 'false' values");
    *k->one = yes;
    return parser_next(p);
  }
  if (!parser_accept(p, TOK_INT)) return parser_error(p, &t, "expected integer literal");
  if (bit) return parser_error(p, &p->tok, "expected 'true' or 'false' values for i1 type");
  if (wide_is(k->elem) ? !wide_int_from_literal(p->scratch, t.text, minus, k->elem, k->one)
                       : !parser_int_bits(t.text, minus, k->elem, &bits))
    return parser_error(p, &p->tok, "integer constant out of range");
  if (!wide_is(k->elem)) memcpy(k->one, &bits, type_storage(k->elem));
  return true;
}

/* array<i64: 1, 2> */
const attr *parser_dense_array(parser *p) {
  packed k = {0};
  if (!parser_expect(p, '<', "expected '<' after 'array'")) return NULL;
  token where = p->tok;
  k.elem = parser_type(p);
  if (!k.elem) return NULL;
  bool is_float = k.elem->kind == TYPE_FLOAT;
  size_t size = type_storage(k.elem);
  if ((k.elem->kind != TYPE_INT && !is_float) || size == 0)
    return parser_error(p, &where, "expected integer or float type, got: '%s'",
                        text_show_type(p->scratch, k.elem)),
           NULL;
  if (k.elem->width != 1 && k.elem->width % 8)
    return parser_error(p, &where, "element type bitwidth must be a multiple of 8"), NULL;
  if (!at(p, '>')) {
    if (!parser_expect(p, ':', "expected ':' after dense array type")) return NULL;
    k.one = arena_alloc(p->scratch, size);
    do {
      if (is_float ? !packed_float(p, &k) : !packed_int(p, &k)) return NULL;
      for (size_t i = 0; i < size; i++) VEC_PUSH(p->scratch, k.out, k.one[i]);
    } while (parser_accept(p, ','));
  }
  if (!parser_expect(p, '>', "expected '>' to close an array attribute")) return NULL;
  return attr_make(p->ctx, dense_array, .elem = k.elem, .data = {k.out.data, k.out.len});
}
