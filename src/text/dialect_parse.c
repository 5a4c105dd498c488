/* Attributes of stablehlo, chlo and sdy: #dialect.mnemonic<...>.
 *
 * Most are a struct of named fields, read by the table of fields in ir/attrs.def; the others have
 * a function here. Where a form leaves out `#dialect.mnemonic`, the same functions read the rest.
 */
#include "text/float.h"
#include "text/parser.h"

typedef VEC(const attr *) attr_vec;

static attrs list_of(const attr_vec *v) { return (attrs){v->data, v->len}; }

/* ---- <name = value, ...> in any order ---- */

static bool field(parser *p, const field_info *f, void *to) {
  bool *flag = to;
  i64_vec list = {0};
  switch (f->kind) {
  case FIELD_i64:
    return parser_i64(p, to);
  case FIELD_bool:
    *flag = at_word(p, "true");
    return (*flag || at_word(p, "false")) ? parser_next(p)
                                          : parser_expect(p, TOK_EOF, "expected 'true' or 'false'");
  case FIELD_i64s:
    if (!parser_i64_list(p, &list)) return false;
    *(i64s *)to = (i64s){list.data, list.len};
    return true;
  case FIELD_type:
    return (*(const type **)to = parser_type(p)) != NULL;
  case FIELD_attr:
    return (*(const attr **)to = parser_attr(p, NULL)) != NULL;
  default:
    return parser_error(p, &p->tok, "this field has no text form");
  }
}

static bool unknown_field(parser *p, const field_info *fields) {
  buf b;
  buf_init(&b, ir_mem(p->ctx));
  for (const field_info *f = fields; f->name; f++)
    buf_printf(&b, "%s`%s`", f == fields ? "" : ", ", f->name);
  parser_error(p, &p->tok, "expected one of: %s", buf_cstr(&b));
  buf_deinit(&b);
  return false;
}

static const attr *structure(parser *p, attr_id id) {
  u64 room[32] = {0};
  u32 seen = 0;
  const field_info *fields = attr_infos[id].fields();
  attr *a = (attr *)room;
  a->id = (u16)id;
  if (!parser_expect(p, '<', "expected '<'")) return NULL;
  while (!at(p, '>')) {
    const field_info *f = fields;
    while (f->name && !at_word(p, f->name)) f++;
    if (!f->name) return unknown_field(p, fields), NULL;
    u32 bit = 1u << (f - fields);
    if (seen & bit) return parser_error(p, &p->tok, "duplicated `%s` entry", f->name), NULL;
    seen |= bit;
    parser_next(p);
    if (!parser_expect(p, '=', "expected '='") || !field(p, f, (char *)room + f->offset))
      return NULL;
    if (!parser_accept(p, ',')) break;
  }
  if (!parser_expect(p, '>', "expected '>'")) return NULL;
  return attr_unique(p->ctx, a);
}

/* ---- enums ---- */

static const attr *enumeration(parser *p, attr_id id) {
  i64 value;
  bool angle = parser_accept(p, '<');
  token t = p->tok;
  if (!parser_expect(p, TOK_ID, "expected keyword")) return NULL;
  if (!attr_enum_case(id, t.text, &value)) {
    buf b;
    buf_init(&b, ir_mem(p->ctx));
    for (u32 i = 0; i < attr_infos[id].num_cases; i++)
      buf_printf(&b, "%s%s", i ? ", " : "", attr_infos[id].cases[i]);
    parser_error(p, &t, "expected one of: %s", buf_cstr(&b));
    buf_deinit(&b);
    return NULL;
  }
  if (angle && !parser_expect(p, '>', "expected '>'")) return NULL;
  return attr_enum(p->ctx, id, value);
}

/* ---- stablehlo ---- */

/* [b, 0, 1, f]: positions of the two letters and of the spatial dimensions */
static bool conv_dims(parser *p, const char *letters, i64 pos[2], i64_vec *spatial) {
  i64 index = 0, n = 0;
  pos[0] = pos[1] = -1;
  spatial->len = 0;
  if (!parser_expect(p, '[', "expected '['")) return false;
  do {
    token t = p->tok;
    i64 dim;
    if (at(p, TOK_ID)) {
      int k = t.text.len == 1 && t.text.data[0] == letters[0]   ? 0
              : t.text.len == 1 && t.text.data[0] == letters[1] ? 1
                                                                : -1;
      if (k < 0 || pos[k] >= 0)
        return parser_error(p, &t, "Unexpected dimension " STR_FMT, STR_ARG(t.text));
      pos[k] = index;
      parser_next(p);
    } else {
      if (!parser_i64(p, &dim)) return false;
      if (dim < 0 || dim >= 1024)
        return parser_error(p, &t, "Unexpected dimension %lld", (long long)dim);
      while ((i64)spatial->len <= dim) VEC_PUSH(p->scratch, *spatial, -1);
      if (spatial->data[dim] >= 0)
        return parser_error(p, &t, "Duplicate entries for spatial dimension %lld", (long long)dim);
      spatial->data[dim] = index;
      n++;
    }
    index++;
  } while (parser_accept(p, ','));
  if (pos[0] < 0 || pos[1] < 0)
    return parser_error(p, &p->tok, "Expected dimensions %c not specified",
                        letters[pos[0] < 0 ? 0 : 1]);
  if ((i64)spatial->len != n)
    return parser_error(p, &p->tok, "Expected spatial dimensions not specified");
  return parser_expect(p, ']', "expected ']'");
}

static const attr *conv_body(parser *p) {
  i64 in[2], kernel[2], out[2];
  i64_vec a = {0}, b = {0}, c = {0};
  if (!conv_dims(p, "bf", in, &a) || !parser_expect_word(p, "x") ||
      !conv_dims(p, "io", kernel, &b) || !parser_expect(p, TOK_ARROW, "expected '->'") ||
      !conv_dims(p, "bf", out, &c))
    return NULL;
  return attr_make(
      p->ctx, conv, .input_batch_dimension = in[0], .input_feature_dimension = in[1],
      .input_spatial_dimensions = {a.data, a.len}, .kernel_input_feature_dimension = kernel[0],
      .kernel_output_feature_dimension = kernel[1], .kernel_spatial_dimensions = {b.data, b.len},
      .output_batch_dimension = out[0], .output_feature_dimension = out[1],
      .output_spatial_dimensions = {c.data, c.len});
}

/* <[b, 0, f]x[0, i, o]->[b, 0, f]> or <raw input_batch_dimension = 0, ...>; in a form bare */
static const attr *conv(parser *p, attr_id id) {
  lexer back = p->lex;
  token less = p->tok;
  if (!parser_accept(p, '<')) return conv_body(p);
  if (at_word(p, "raw")) { /* what follows reads as a struct after its `<` */
    p->tok = less;
    return structure(p, id);
  }
  (void)back;
  const attr *a = conv_body(p);
  return a && parser_expect(p, '>', "expected '>'") ? a : NULL;
}

static bool double_field(parser *p, const char *name, i64 *bits) {
  const attr *a;
  if (!parser_accept_word(p, name)) return true;
  if (!parser_expect(p, '=', "expected '='")) return false;
  bool minus = parser_accept(p, '-');
  a = parser_number(p, type_float(p->ctx, FLOAT_f64), minus);
  if (!a || !parser_expect(p, ',', "expected ','")) return false;
  *bits = ((const float_attr *)a)->bits;
  return true;
}

static const attr *result_accuracy(parser *p, attr_id id) {
  i64 atol = 0, rtol = 0, ulps = 0;
  (void)id;
  if (!parser_expect(p, '<', "expected '<'") || !double_field(p, "atol", &atol) ||
      !double_field(p, "rtol", &rtol))
    return NULL;
  if (parser_accept_word(p, "ulps") &&
      (!parser_expect(p, '=', "expected '='") || !parser_i64(p, &ulps) ||
       !parser_expect(p, ',', "expected ','")))
    return NULL;
  if (!parser_expect_word(p, "mode") || !parser_expect(p, '=', "expected '='")) return NULL;
  const attr *mode = parser_attr(p, NULL);
  if (!mode || !parser_expect(p, '>', "expected '>'")) return NULL;
  return attr_make(p->ctx, result_accuracy, .atol_bits = atol, .rtol_bits = rtol, .ulps = ulps,
                   .mode = mode);
}

static bool bound_item(parser *p, void *user) {
  i64_vec *v = user;
  i64 x = DYNAMIC;
  if (!parser_accept(p, '?') && !parser_i64(p, &x)) return false;
  VEC_PUSH(p->scratch, *v, x);
  return true;
}

static const attr *bounds_list(parser *p, int open, int close) {
  i64_vec v = {0};
  if (!parser_list(p, open, close, bound_item, &v)) return NULL;
  return attr_make(p->ctx, bounds, .bounds = {v.data, v.len});
}

static const attr *bounds(parser *p, attr_id id) {
  (void)id;
  return bounds_list(p, '<', '>');
}

/* ---- sdy ---- */

/* "x" or "x":(2)4 */
static const attr *axis_ref(parser *p, attr_id id) {
  token t = p->tok;
  i64 pre = 0, size = 0;
  (void)id;
  if (!parser_expect(p, TOK_STRING, "expected string")) return NULL;
  if (parser_accept(p, ':') && (!parser_expect(p, '(', "expected '('") || !parser_i64(p, &pre) ||
                                !parser_expect(p, ')', "expected ')'") || !parser_i64(p, &size)))
    return NULL;
  return attr_make(p->ctx, axis_ref, .name = parser_string(p, &t), .pre_size = pre, .size = size);
}

/* Items of one attribute kind in brackets; `user` of items. */
typedef struct items {
  attr_vec v;
  attr_id id;
} items;

static bool dialect_item(parser *p, void *user) {
  items *it = user;
  const attr *a = parser_dialect_body(p, it->id);
  if (!a) return false;
  VEC_PUSH(p->scratch, it->v, a);
  return true;
}

static bool bracketed(parser *p, int open, int close, attr_id id, attrs *out) {
  items it = {.id = id};
  if (!parser_list(p, open, close, dialect_item, &it)) return false;
  *out = list_of(&it.v);
  return true;
}

static const attr *mesh_axis(parser *p, attr_id id) {
  token t = p->tok;
  i64 size;
  (void)id;
  if (!parser_expect(p, TOK_STRING, "expected string") || !parser_expect(p, '=', "expected '='") ||
      !parser_i64(p, &size))
    return NULL;
  return attr_make(p->ctx, mesh_axis, .name = parser_string(p, &t), .size = size);
}

/* <["x"=2, "y"=4], device_ids=[...]> */
/* Device ids in order say nothing, so they are dropped, as Shardy does. */
static bool is_iota(const i64_vec *ids, attrs axes) {
  i64 total = 1;
  for (size_t i = 0; i < axes.len; i++)
    if (!checked_mul(total, ((const mesh_axis_attr *)axes.data[i])->size, &total)) return false;
  for (size_t i = 0; i < ids->len; i++)
    if (ids->data[i] != (i64)i) return false;
  return axes.len > 0 && (i64)ids->len == total;
}

static const attr *mesh(parser *p, attr_id id) {
  attrs axes;
  i64_vec ids = {0};
  (void)id;
  if (!parser_expect(p, '<', "expected '<'") || !bracketed(p, '[', ']', ATTR_mesh_axis, &axes))
    return NULL;
  if (parser_accept(p, ',') &&
      (!parser_expect_word(p, "device_ids") || !parser_expect(p, '=', "expected '='") ||
       !parser_i64_list(p, &ids)))
    return NULL;
  if (!parser_expect(p, '>', "expected '>'")) return NULL;
  if (is_iota(&ids, axes)) ids.len = 0;
  return attr_make(p->ctx, mesh, .axes = axes, .device_ids = {ids.data, ids.len});
}

/* p3 after the closing brace; -1: none */
static bool priority(parser *p, i64 *out) {
  token t = p->tok;
  *out = -1;
  if (!at(p, TOK_ID)) return true;
  str s = t.text;
  i64 v = 0;
  bool good = s.len >= 2 && s.data[0] == 'p';
  for (size_t i = 1; good && i < s.len; i++) good = char_is_digit(s.data[i]);
  if (!good)
    return parser_error(p, &t, "expecting priority in format 'p<number>', got: " STR_FMT,
                        STR_ARG(s));
  if (s.data[1] == '0' && s.len > 2)
    return parser_error(p, &t, "priorities with leading zeros are not allowed, got: " STR_FMT,
                        STR_ARG(s));
  for (size_t i = 1; i < s.len; i++)
    if (!checked_mul(v, 10, &v) || !checked_add(v, s.data[i] - '0', &v))
      return parser_error(p, &t, "expecting integer priority, got: " STR_FMT, STR_ARG(s));
  *out = v;
  return parser_next(p);
}

/* {"x", "y", ?}p1 */
static const attr *dim_sharding(parser *p, attr_id id) {
  attr_vec axes = {0};
  bool closed = true;
  i64 prio;
  (void)id;
  if (!parser_expect(p, '{', "expected '{'")) return NULL;
  while (!at(p, '}')) {
    if (axes.len && !parser_expect(p, ',', "expected ','")) return NULL;
    if (parser_accept(p, '?')) {
      closed = false;
      break;
    }
    const attr *a = axis_ref(p, ATTR_axis_ref);
    if (!a) return NULL;
    VEC_PUSH(p->scratch, axes, a);
  }
  if (!parser_expect(p, '}', "expected '}'") || !priority(p, &prio)) return NULL;
  return attr_make(p->ctx, dim_sharding, .axes = list_of(&axes), .closed = closed,
                   .priority = prio);
}

static const char *const kinds[] = {"sum", "max", "min", "mul", "and", "or"};

static bool unreduced(parser *p, tensor_sharding_attr *s) {
  s->unreduced_kind = NULL;
  if (parser_accept(p, '=')) {
    for (u32 k = 0; k < COUNT(kinds); k++) {
      if (!parser_accept_word(p, kinds[k])) continue;
      if (k) s->unreduced_kind = attr_enum(p->ctx, ATTR_reduction_op, k);
      break;
    }
  }
  return bracketed(p, '{', '}', ATTR_axis_ref, &s->unreduced);
}

/* <@mesh, [{...}, ...], replicated={...}, unreduced={...}> */
static const attr *tensor_sharding(parser *p, attr_id id) {
  tensor_sharding_attr s = {.base = {.id = (u16)id}};
  if (!parser_expect(p, '<', "expected '<'")) return NULL;
  if (parser_accept_word(p, "mesh"))
    s.mesh = mesh(p, ATTR_mesh);
  else
    s.mesh = parser_symbol(p);
  if (!s.mesh || !parser_expect(p, ',', "expected ','") ||
      !bracketed(p, '[', ']', ATTR_dim_sharding, &s.dims))
    return NULL;
  while (parser_accept(p, ',')) {
    bool ok;
    if (!s.replicated.len && parser_accept_word(p, "replicated"))
      ok = parser_expect(p, '=', "expected '='") &&
           bracketed(p, '{', '}', ATTR_axis_ref, &s.replicated);
    else if (!s.unreduced.len && parser_accept_word(p, "unreduced"))
      ok = unreduced(p, &s);
    else
      ok = parser_error(p, &p->tok,
                        "failed to parse Sdy_TensorSharding, expected valid named axis list after "
                        "comma");
    if (!ok) return NULL;
  }
  if (!parser_expect(p, '>', "expected '>'")) return NULL;
  return attr_unique(p->ctx, &s.base);
}

/* <[<...>, <...>]>; in a form [<...>, <...>] */
static const attr *sharding_per_value(parser *p, attr_id id) {
  attrs list;
  (void)id;
  bool angle = parser_accept(p, '<');
  if (!bracketed(p, '[', ']', ATTR_tensor_sharding, &list)) return NULL;
  if (angle && !parser_expect(p, '>', "expected '>'")) return NULL;
  return attr_make(p->ctx, sharding_per_value, .shardings = list);
}

static bool string_item(parser *p, void *user) {
  attr_vec *v = user;
  token t = p->tok;
  if (!parser_expect(p, TOK_STRING, "expected string")) return false;
  VEC_PUSH(p->scratch, *v, attr_string(p->ctx, parser_string(p, &t)));
  return true;
}

static const attr *manual_axes(parser *p, attr_id id) {
  attr_vec v = {0};
  (void)id;
  if (!parser_list(p, '{', '}', string_item, &v)) return NULL;
  return attr_make(p->ctx, manual_axes, .axes = list_of(&v));
}

static const attr *axis_ref_list(parser *p, attr_id id) {
  attrs list;
  (void)id;
  if (!bracketed(p, '{', '}', ATTR_axis_ref, &list)) return NULL;
  return attr_make(p->ctx, axis_ref_list, .axes = list);
}

/* [{"x"}, {}]; as an attribute of its own in < > */
static const attr *axis_ref_lists(parser *p, attr_id id) {
  attrs list;
  (void)id;
  bool angle = parser_accept(p, '<');
  if (!bracketed(p, '[', ']', ATTR_axis_ref_list, &list)) return NULL;
  if (angle && !parser_expect(p, '>', "expected '>'")) return NULL;
  return attr_make(p->ctx, axis_ref_lists, .lists = list);
}

static const attr *all_to_all_param(parser *p, attr_id id) {
  attrs axes;
  i64 src, tgt;
  (void)id;
  if (!bracketed(p, '{', '}', ATTR_axis_ref, &axes) || !parser_expect(p, ':', "expected ':'") ||
      !parser_i64(p, &src) || !parser_expect(p, TOK_ARROW, "expected '->'") || !parser_i64(p, &tgt))
    return NULL;
  return attr_make(p->ctx, all_to_all_param, .axes = axes, .src_dim = src, .tgt_dim = tgt);
}

static const attr *all_to_all_params(parser *p, attr_id id) {
  attrs list;
  (void)id;
  bool angle = parser_accept(p, '<');
  if (!bracketed(p, '[', ']', ATTR_all_to_all_param, &list)) return NULL;
  if (angle && !parser_expect(p, '>', "expected '>'")) return NULL;
  return attr_make(p->ctx, all_to_all_params, .params = list);
}

/* ---- sharding rules: factors are i .. z, then z_1, z_2, ... ---- */

static bool bad_symbol(parser *p, const token *t) {
  return parser_error(p, t, "expecting symbol from 'i' to 'z'. Received: '" STR_FMT "'",
                      STR_ARG(t->text));
}

static bool symbols(parser *p, i64_vec *out) {
  token t = p->tok;
  str s = t.text;
  while (s.len) {
    i64 index = s.data[0] - 'i', z = 0;
    size_t n = 1;
    if (index < 0 || index > 17) return bad_symbol(p, &t);
    if (index == 17 && s.len > 2 && s.data[1] == '_') {
      for (n = 2; n < s.len && char_is_digit(s.data[n]) && z < 1 << 20; n++)
        z = z * 10 + (s.data[n] - '0');
      if (n == 2)
        return parser_error(p, &t, "expecting integer after 'z_'. Received: '" STR_FMT "'",
                            STR_ARG(s));
    }
    VEC_PUSH(p->scratch, *out, index + z);
    s = str_from(s, n);
  }
  return parser_next(p);
}

static const attr *dim_mapping(parser *p, attr_id id) {
  i64_vec v = {0};
  (void)id;
  if (at(p, TOK_ID) && !symbols(p, &v)) return NULL;
  return attr_make(p->ctx, dim_mapping, .factors = {v.data, v.len});
}

static const attr *tensor_mapping(parser *p, attr_id id) {
  attrs dims;
  (void)id;
  if (!bracketed(p, '[', ']', ATTR_dim_mapping, &dims)) return NULL;
  return attr_make(p->ctx, tensor_mapping, .dims = dims);
}

static bool size_item(parser *p, void *user) {
  i64_vec *sizes = user, index = {0};
  token t = p->tok;
  i64 v;
  if (!at(p, TOK_ID)) return parser_expect(p, TOK_ID, "expected valid keyword");
  if (!symbols(p, &index)) return false;
  if (index.len != 1 || index.data[0] != (i64)sizes->len)
    return parser_error(p, &t,
                        "expecting factor indices to be ordered like an iota ([0,1,2,...], e.g. "
                        "{i=#, j=#, ...})");
  if (!parser_expect(p, '=', "expected '='") || !parser_i64(p, &v)) return false;
  VEC_PUSH(p->scratch, *sizes, v);
  return true;
}

static bool factor_item(parser *p, void *user) {
  if (!at(p, TOK_ID)) return parser_expect(p, TOK_ID, "expected valid keyword");
  return symbols(p, user);
}

static bool factors(parser *p, const char *name, i64s *out) {
  i64_vec v = {0};
  if (!parser_accept_word(p, name)) return true;
  if (!parser_expect(p, '=', "expected '='") || !parser_list(p, '{', '}', factor_item, &v))
    return false;
  *out = (i64s){v.data, v.len};
  return true;
}

/* <([i, j])->([j, i]) {i=2, j=4} reduction={j}, custom> */
static const attr *op_sharding_rule(parser *p, attr_id id) {
  op_sharding_rule_attr r = {.base = {.id = (u16)id}};
  i64_vec sizes = {0};
  if (!parser_expect(p, '<', "expected '<'") ||
      !bracketed(p, '(', ')', ATTR_tensor_mapping, &r.operands) ||
      !parser_expect(p, TOK_ARROW, "expected '->'") ||
      !bracketed(p, '(', ')', ATTR_tensor_mapping, &r.results))
    return NULL;
  if (at(p, '{') && !parser_list(p, '{', '}', size_item, &sizes)) return NULL;
  r.factor_sizes = (i64s){sizes.data, sizes.len};
  if (!factors(p, "reduction", &r.reduction) ||
      !factors(p, "need_replication", &r.need_replication) ||
      !factors(p, "permutation", &r.permutation) ||
      !factors(p, "blocked_propagation", &r.blocked_propagation))
    return NULL;
  if (parser_accept(p, ',')) {
    if (!parser_expect_word(p, "custom")) return NULL;
    r.custom = true;
  }
  if (!parser_expect(p, '>', "expected '>'")) return NULL;
  return attr_unique(p->ctx, &r.base);
}

/* ---- by kind ---- */

typedef const attr *body_fn(parser *p, attr_id id);

static body_fn *const body_of[ATTR_COUNT] = {
    [ATTR_result_accuracy] = result_accuracy,
    [ATTR_channel_handle] = structure,
    [ATTR_dot] = structure,
    [ATTR_dot_algorithm] = structure,
    [ATTR_gather_dims] = structure,
    [ATTR_scatter_dims] = structure,
    [ATTR_conv] = conv,
    [ATTR_output_operand_alias] = structure,
    [ATTR_bounds] = bounds,
    [ATTR_mesh_axis] = mesh_axis,
    [ATTR_mesh] = mesh,
    [ATTR_axis_ref] = axis_ref,
    [ATTR_dim_sharding] = dim_sharding,
    [ATTR_tensor_sharding] = tensor_sharding,
    [ATTR_sharding_per_value] = sharding_per_value,
    [ATTR_axis_ref_list] = axis_ref_list,
    [ATTR_axis_ref_lists] = axis_ref_lists,
    [ATTR_manual_axes] = manual_axes,
    [ATTR_all_to_all_param] = all_to_all_param,
    [ATTR_all_to_all_params] = all_to_all_params,
    [ATTR_dim_mapping] = dim_mapping,
    [ATTR_tensor_mapping] = tensor_mapping,
    [ATTR_op_sharding_rule] = op_sharding_rule,
};

const attr *parser_dialect_body(parser *p, attr_id id) {
  if (!parser_enter(p)) return NULL;
  const attr *a = body_of[id] ? body_of[id](p, id) : enumeration(p, id);
  parser_leave(p);
  return a;
}

/* The older spelling of bounds: type_extensions<bounds = [4, ?]> */
static const attr *type_extensions(parser *p) {
  if (!parser_expect(p, '<', "expected '<'") || !parser_expect_word(p, "bounds") ||
      !parser_expect(p, '=', "expected '='") || !at(p, '['))
    return parser_expect(p, '[', "expected '['"), NULL;
  const attr *a = bounds_list(p, '[', ']');
  return a && parser_expect(p, '>', "expected '>'") ? a : NULL;
}

/* By dialect and mnemonic; ATTR_COUNT: none. */
static attr_id find(str dialect, str mnemonic) {
  for (int i = ATTR_comparison_direction; i < ATTR_COUNT; i++) {
    str name = str_of(attr_infos[i].name);
    if (name.len == dialect.len + 1 + mnemonic.len && str_starts(name, dialect) &&
        name.data[dialect.len] == '.' && str_eq(str_from(name, dialect.len + 1), mnemonic))
      return (attr_id)i;
  }
  return ATTR_COUNT;
}

static bool is_known(str dialect) {
  return str_is(dialect, "stablehlo") || str_is(dialect, "chlo") || str_is(dialect, "sdy");
}

/* The text between the brackets, unread: p->tok is `<`. */
static const attr *opaque(parser *p, str dialect, const char *begin) {
  token open = p->tok;
  if (at(p, '<') && p->lex.p[-1] == '<') {
    if (!lexer_skip_nested(&p->lex) || *p->lex.p != '>')
      return parser_error(p, &open, "expected '>' at the end of a dialect attribute"), NULL;
    p->lex.p++;
    parser_next(p);
  }
  const char *end = open.text.data;
  if (open.kind == '<') {
    end = p->tok.text.data;
    while (end > begin && end[-1] != '>') end--;
  }
  return attr_make(p->ctx, opaque, .dialect = dialect, .text = {begin, (size_t)(end - begin)});
}

/* #dialect<mnemonic ...> */
static const attr *long_form(parser *p, str dialect) {
  token open = p->tok;
  if (!is_known(dialect)) return opaque(p, dialect, open.text.data);
  if (!parser_expect(p, '<', "expected '<'")) return NULL;
  token t = p->tok;
  if (!parser_expect(p, TOK_ID, "expected valid keyword")) return NULL;
  if (str_is(dialect, "stablehlo") && str_is(t.text, "type_extensions")) {
    const attr *old = type_extensions(p);
    return old && parser_expect(p, '>', "expected '>'") ? old : NULL;
  }
  attr_id id = find(dialect, t.text);
  if (id == ATTR_COUNT)
    return parser_error(p, &t, "unknown attribute `" STR_FMT "` in dialect `" STR_FMT "`",
                        STR_ARG(t.text), STR_ARG(dialect)),
           NULL;
  const attr *a = parser_dialect_body(p, id);
  return a && parser_expect(p, '>', "expected '>'") ? a : NULL;
}

const attr *parser_dialect_attr(parser *p) {
  token t = p->tok;
  str name = str_from(t.text, 1);
  const char *dot = memchr(name.data, '.', name.len);
  bool angle = p->lex.p < p->lex.end && *p->lex.p == '<';
  if (!dot && !angle) {
    const attr *alias = name_map_get(&p->attr_aliases, name);
    if (alias) return parser_next(p), alias;
    parser_error(p, &t, "undefined symbol alias id '" STR_FMT "'", STR_ARG(name));
    return NULL;
  }
  parser_next(p);
  if (!dot) return long_form(p, name);
  str dialect = {name.data, (size_t)(dot - name.data)};
  str mnemonic = str_from(name, dialect.len + 1);
  attr_id id = find(dialect, mnemonic);
  if (id != ATTR_COUNT) return parser_dialect_body(p, id);
  if (str_is(name, "stablehlo.type_extensions")) return type_extensions(p);
  if (!is_known(dialect)) return opaque(p, dialect, mnemonic.data);
  parser_error(p, &t, "unknown attribute `" STR_FMT "` in dialect `" STR_FMT "`", STR_ARG(mnemonic),
               STR_ARG(dialect));
  return NULL;
}
