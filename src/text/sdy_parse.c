/* Attributes of sdy as text, in MLIR's way: each attribute reads its parameters one after the
 * other, and one that fails is reported after what made it fail. So an error in the axis of a
 * sharding is followed by a line for the sharding. */
#include <stdlib.h>

#include "text/parser.h"

/* ---- parameters ---- */

/* The second message of a failed parameter, in the words that MLIR's generated parsers use. */
static bool bad_param(parser *p, const char *of, const char *name, const char *type) {
  return parser_complain(p, &p->tok, "failed to parse %s parameter '%s' which is to be a `%s`", of,
                         name, type);
}

static bool int_param(parser *p, const char *of, const char *name, i64 *out) {
  return parser_i64(p, out) || bad_param(p, of, name, "int64_t");
}

static bool string_param(parser *p, const char *of, str *out) {
  return parser_string_value(p, out) || bad_param(p, of, "name", "::llvm::StringRef");
}

/* One of the kind `id`, in its short form or as #... */
const attr *parser_element(parser *p, attr_id id) {
  if (!at(p, TOK_HASH)) return parser_dialect_body(p, id);
  token t = p->tok;
  const attr *a = parser_attr(p, NULL);
  if (a && a->id != id) return parser_complain(p, &t, "invalid kind of attribute specified"), NULL;
  return a;
}

/* One or more with commas between. */
bool parser_elements(parser *p, attr_id id, attrs *out) {
  attr_vec v = {0};
  do {
    const attr *a = parser_element(p, id);
    if (!a) return false;
    VEC_PUSH(p->scratch, v, a);
  } while (parser_accept(p, ','));
  *out = (attrs){v.data, v.len};
  return true;
}

typedef struct list_param {
  attr_id id;
  const char *of, *name, *type; /* as messages have them */
} list_param;

static bool list(parser *p, const list_param *l, attrs *out) {
  return parser_elements(p, l->id, out) || bad_param(p, l->of, l->name, l->type);
}

/* Behind `open`: the list, or nothing, then `close`. */
static bool maybe_list(parser *p, const list_param *l, int open, int close, attrs *out) {
  char message[] = "expected 'x'";
  *out = (attrs){0};
  message[10] = (char)open;
  if (!parser_expect(p, open, message)) return false;
  if (parser_accept(p, close)) return true;
  message[10] = (char)close;
  return list(p, l, out) && parser_expect(p, close, message);
}

/* ---- meshes ---- */

static const attr *mesh_axis(parser *p) {
  token start = p->tok;
  i64 size;
  str name;
  if (!string_param(p, "Sdy_MeshAxis", &name) || !parser_expect(p, '=', "expected '='") ||
      !int_param(p, "Sdy_MeshAxis", "size", &size))
    return NULL;
  if (size <= 0) {
    parser_complain(p, &start, "axis size must be at least 1, got: %lld", (long long)size);
    return NULL;
  }
  return attr_make(p->ctx, mesh_axis, .name = name, .size = size);
}

static int by_value(const void *a, const void *b) {
  i64 x = *(const i64 *)a, y = *(const i64 *)b;
  return (x > y) - (x < y);
}

static bool is_iota(const i64 *v, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (v[i] != (i64)i) return false;
  return true;
}

/* Ids must be a permutation of 0 to n - 1; the ids in order were dropped before. */
static bool check_order(parser *p, const token *start, const i64_vec *ids) {
  i64_vec sorted = {arena_copy(p->scratch, ids->data, ids->len * sizeof(i64)), ids->len, ids->len};
  qsort(sorted.data, sorted.len, sizeof(i64), by_value);
  if (is_iota(sorted.data, sorted.len)) return true;
  return parser_complain(p, start, "sorted device ids must be iota(product(axes)), got: %s",
                         text_show_i64s(p->scratch, (i64s){sorted.data, sorted.len}));
}

/* What MeshAttr's verifier checks, in its order; the message stands at the start of the
 * attribute. */
static bool check_mesh(parser *p, const token *start, attrs axes, i64_vec *ids) {
  i64 total = 1;
  bool fits = true;
  name_map names = {0};
  for (size_t i = 0; i < axes.len; i++)
    fits = fits && checked_mul(total, ((const mesh_axis_attr *)axes.data[i])->size, &total);
  /* device ids in order say nothing, so they are dropped */
  if (axes.len && fits && (i64)ids->len == total && is_iota(ids->data, ids->len)) ids->len = 0;
  for (size_t i = 0; i < ids->len; i++)
    if (ids->data[i] < 0)
      return parser_complain(p, start, "device id must be non-negative, got: %lld",
                             (long long)ids->data[i]);
  if (axes.len == 0 && ids->len > 1)
    return parser_complain(p, start, "axes is empty and device_ids has more than one element");
  for (size_t i = 0; i < axes.len; i++) {
    str name = ((const mesh_axis_attr *)axes.data[i])->name;
    void **place = name_map_at(&names, p->scratch, name.len ? name : STR("\""));
    if (*place)
      return parser_complain(p, start, "duplicate axis name: \"" STR_FMT "\"", STR_ARG(name));
    *place = p;
  }
  if (ids->len == 0 || axes.len == 0) return true;
  if (!fits || total != (i64)ids->len)
    return parser_complain(p, start,
                           "total product of axis sizes must match total number of device ids, "
                           "got: %lld != %zu",
                           (long long)total, ids->len);
  return check_order(p, start, ids);
}

/* <["x"=2, "y"=4], device_ids=[...]> */
static const attr *mesh(parser *p) {
  static const list_param param = {ATTR_mesh_axis, "Sdy_Mesh", "axes",
                                   "::llvm::ArrayRef<MeshAxisAttr>"};
  token start = p->tok;
  attrs axes;
  i64_vec ids = {0};
  if (!parser_expect(p, '<', "expected '<'") || !maybe_list(p, &param, '[', ']', &axes))
    return NULL;
  if (parser_accept(p, ',')) {
    if (!parser_expect_word(p, "device_ids") || !parser_expect(p, '=', "expected '='") ||
        !parser_expect(p, '[', "expected '['"))
      return NULL;
    do {
      i64 id;
      if (!parser_i64(p, &id)) {
        bad_param(p, "Sdy_Mesh", "device_ids", "::llvm::ArrayRef<int64_t>");
        return NULL;
      }
      VEC_PUSH(p->scratch, ids, id);
    } while (parser_accept(p, ','));
    if (!parser_expect(p, ']', "expected ']'")) return NULL;
  }
  if (!parser_expect(p, '>', "expected '>'") || !check_mesh(p, &start, axes, &ids)) return NULL;
  return attr_make(p->ctx, mesh, .axes = axes, .device_ids = {ids.data, ids.len});
}

/* ---- axes ---- */

static bool sub_axis(parser *p, i64 *pre, i64 *size) {
  static const char of[] = "Sdy_SubAxisInfo";
  return parser_expect(p, '(', "expected '('") && int_param(p, of, "pre_size", pre) &&
         parser_expect(p, ')', "expected ')'") && int_param(p, of, "size", size);
}

/* "x" or "x":(2)4 */
static const attr *axis_ref(parser *p) {
  i64 pre = 0, size = 0;
  str name;
  if (!string_param(p, "Sdy_AxisRef", &name)) return NULL;
  if (parser_accept(p, ':')) {
    token t = p->tok;
    if (!sub_axis(p, &pre, &size)) {
      bad_param(p, "Sdy_AxisRef", "sub_axis_info", "SubAxisInfoAttr");
      return NULL;
    }
    if (size == 0) /* which would stand for the whole axis */
      return parser_complain(p, &t,
                             "sub-axis sizes must be greater than 1: \"" STR_FMT "\":(%lld)0",
                             STR_ARG(name), (long long)pre),
             NULL;
  }
  return attr_make(p->ctx, axis_ref, .name = name, .pre_size = pre, .size = size);
}

static const attr *axis_ref_list(parser *p) {
  static const list_param param = {ATTR_axis_ref, "Sdy_AxisRefList", "value",
                                   "::llvm::ArrayRef<AxisRefAttr>"};
  attrs axes;
  return maybe_list(p, &param, '{', '}', &axes) ? attr_make(p->ctx, axis_ref_list, .axes = axes)
                                                : NULL;
}

/* [{"x"}, {}] */
static const attr *axis_ref_lists(parser *p) {
  static const list_param param = {ATTR_axis_ref_list, "Sdy_ListOfAxisRefLists", "value",
                                   "::llvm::ArrayRef<AxisRefListAttr>"};
  attrs lists;
  return maybe_list(p, &param, '[', ']', &lists) ? attr_make(p->ctx, axis_ref_lists, .lists = lists)
                                                 : NULL;
}

/* {"x"}: 0->1 */
static const attr *all_to_all_param(parser *p) {
  static const char of[] = "Sdy_AllToAllParamAttr";
  static const list_param param = {ATTR_axis_ref, of, "axes", "::llvm::ArrayRef<AxisRefAttr>"};
  attrs axes;
  i64 from, to;
  if (!parser_expect(p, '{', "expected '{'") || !list(p, &param, &axes) ||
      !parser_expect(p, '}', "expected '}'") || !parser_expect(p, ':', "expected ':'") ||
      !int_param(p, of, "src_dim", &from) || !parser_expect(p, TOK_ARROW, "expected '->'") ||
      !int_param(p, of, "tgt_dim", &to))
    return NULL;
  return attr_make(p->ctx, all_to_all_param, .axes = axes, .src_dim = from, .tgt_dim = to);
}

static const attr *all_to_all_params(parser *p) {
  static const list_param param = {ATTR_all_to_all_param, "Sdy_AllToAllParamList", "value",
                                   "::llvm::ArrayRef<AllToAllParamAttr>"};
  attrs params;
  return maybe_list(p, &param, '[', ']', &params)
             ? attr_make(p->ctx, all_to_all_params, .params = params)
             : NULL;
}

/* {"x", "y"}: names of whole axes */
static const attr *manual_axes(parser *p) {
  attr_vec v = {0};
  if (!parser_expect(p, '{', "expected '{'")) return NULL;
  if (parser_accept(p, '}')) return attr_make(p->ctx, manual_axes, .axes = {0});
  do {
    token t = p->tok;
    const attr *a = parser_attr(p, NULL);
    if (a && !attr_is(string, a))
      a = (parser_complain(p, &t, "invalid kind of attribute specified"), NULL);
    if (!a) return bad_param(p, "Sdy_ManualAxes", "value", "::llvm::ArrayRef<StringAttr>"), NULL;
    VEC_PUSH(p->scratch, v, a);
  } while (parser_accept(p, ','));
  if (!parser_expect(p, '}', "expected '}'")) return NULL;
  return attr_make(p->ctx, manual_axes, .axes = {v.data, v.len});
}

/* ---- shardings ---- */

/* p3 after the closing brace; -1: none */
static bool priority(parser *p, i64 *out) {
  *out = -1;
  if (!at(p, TOK_ID)) return true;
  str s = p->tok.text;
  i64 v = 0;
  bool good = s.len >= 2 && s.data[0] == 'p';
  for (size_t i = 1; good && i < s.len; i++) good = char_is_digit(s.data[i]);
  parser_next(p);
  if (!good)
    return parser_complain(p, &p->tok, "expecting priority in format 'p<number>', got: " STR_FMT,
                           STR_ARG(s));
  if (s.data[1] == '0' && s.len > 2)
    return parser_complain(
        p, &p->tok, "priorities with leading zeros are not allowed, got: " STR_FMT, STR_ARG(s));
  for (size_t i = 1; i < s.len; i++)
    if (!checked_mul(v, 10, &v) || !checked_add(v, s.data[i] - '0', &v))
      return parser_complain(p, &p->tok, "expecting integer priority, got: " STR_FMT, STR_ARG(s));
  *out = v;
  return true;
}

/* {"x", "y", ?}p1 */
static const attr *dim_sharding(parser *p) {
  attr_vec axes = {0};
  bool closed = true;
  i64 prio;
  if (!parser_expect(p, '{', "expected '{'")) return NULL;
  while (!parser_accept(p, '}')) {
    if (axes.len && !parser_expect(p, ',', "expected ','")) return NULL;
    if (parser_accept(p, '?')) {
      closed = false;
      if (!parser_expect(p, '}', "expected '}'")) return NULL;
      break;
    }
    const attr *a = axis_ref(p);
    if (!a) return NULL;
    VEC_PUSH(p->scratch, axes, a);
  }
  if (!priority(p, &prio)) return NULL;
  return attr_make(p->ctx, dim_sharding, .axes = {axes.data, axes.len}, .closed = closed,
                   .priority = prio);
}

/* {"x", "y"}, at least one */
static bool braced_axes(parser *p, attrs *out) {
  if (!parser_expect(p, '{', "expected '{'")) return false;
  if (!parser_elements(p, ATTR_axis_ref, out))
    return parser_complain(p, &p->tok,
                           "failed to parse axis list which is expected to be an "
                           "`ArrayRef<AxisRefAttr>`");
  return parser_expect(p, '}', "expected '}'");
}

/* `unreduced={...}` sums, `unreduced=max{...}` says otherwise; of the kinds Shardy has the first
 * three, see reduction_op in ir/attrs.def. */
static bool unreduced(parser *p, tensor_sharding_attr *s) {
  i64 kind = 0;
  if (parser_accept(p, '=') && at(p, TOK_ID) &&
      attr_enum_case(ATTR_reduction_op, p->tok.text, &kind))
    parser_next(p);
  s->unreduced_kind = kind ? attr_enum(p->ctx, ATTR_reduction_op, kind) : NULL;
  return braced_axes(p, &s->unreduced);
}

/* , replicated={...}, unreduced={...} in any order */
static bool named_axes(parser *p, tensor_sharding_attr *s) {
  while (parser_accept(p, ',')) {
    bool ok;
    const char *name = NULL;
    if (!s->replicated.len && parser_accept_word(p, "replicated")) {
      name = "replicated_axes";
      ok = parser_expect(p, '=', "expected '='") && braced_axes(p, &s->replicated);
    } else if (!s->unreduced.len && parser_accept_word(p, "unreduced")) {
      name = "unreduced_axes";
      ok = unreduced(p, s);
    } else {
      return parser_complain(p, &p->tok,
                             "failed to parse Sdy_TensorSharding, expected valid named axis list "
                             "after comma");
    }
    if (!ok)
      return parser_complain(p, &p->tok, "failed to parse Sdy_TensorSharding parameter '%s'", name);
  }
  return true;
}

/* Inlined meshes stand without #sdy. */
static const attr *mesh_or_ref(parser *p) {
  if (parser_accept_word(p, "mesh")) {
    const attr *a = mesh(p);
    if (!a) parser_complain(p, &p->tok, "failed to parse MeshAttr");
    return a;
  }
  token t = p->tok;
  const attr *a = parser_attr(p, NULL);
  const symbol_ref_attr *r = attr_as(symbol_ref, a);
  if (r && r->nested.len == 0) return a;
  if (a) parser_complain(p, &t, "invalid kind of attribute specified");
  parser_complain(p, &p->tok, "expecting MeshAttr or FlatSymbolRefAttr, got: <<NULL ATTRIBUTE>>");
  return NULL;
}

/* <@mesh, [{...}, ...], replicated={...}, unreduced={...}> */
static const attr *tensor_sharding(parser *p) {
  static const list_param param = {ATTR_dim_sharding, "Sdy_TensorSharding", "dim_shardings",
                                   "::llvm::ArrayRef<DimensionShardingAttr>"};
  tensor_sharding_attr s = {.base = {.id = (u16)ATTR_tensor_sharding}};
  if (!parser_expect(p, '<', "expected '<'") || !(s.mesh = mesh_or_ref(p)) ||
      !parser_expect(p, ',', "expected ','") || !maybe_list(p, &param, '[', ']', &s.dims) ||
      !named_axes(p, &s) || !parser_expect(p, '>', "expected '>'"))
    return NULL;
  return attr_unique(p->ctx, &s.base);
}

/* <[<...>, <...>]> */
static const attr *sharding_per_value(parser *p) {
  static const list_param param = {ATTR_tensor_sharding, "Sdy_TensorShardingPerValue", "shardings",
                                   "::llvm::ArrayRef<TensorShardingAttr>"};
  attrs list;
  if (!parser_expect(p, '<', "expected '<'") || !maybe_list(p, &param, '[', ']', &list) ||
      !parser_expect(p, '>', "expected '>'"))
    return NULL;
  return attr_make(p->ctx, sharding_per_value, .shardings = list);
}

/* ---- sharding rules: factors are i .. z, then z_1, z_2, ... ---- */

enum { FACTOR_Z = 'z' - 'i' };

/* Takes the first symbol off. */
static bool factor(parser *p, str *s, i64 *out) {
  if (!str_starts(*s, STR("z_"))) {
    char c = s->data[0];
    if (c < 'i' || c > 'z')
      return parser_complain(p, &p->tok, "expecting symbol from 'i' to 'z'. Received: '%c'", c);
    *s = str_from(*s, 1);
    *out = c - 'i';
    return true;
  }
  size_t n = 2;
  i64 z = 0;
  bool fits = true;
  while (n < s->len && char_is_digit(s->data[n])) n++;
  str digits = {s->data + 2, n - 2};
  if (n == 2)
    return parser_complain(p, &p->tok, "expecting integer after 'z_'. Received: '" STR_FMT "'",
                           STR_ARG(*s));
  if (digits.data[0] == '0')
    return parser_complain(
        p, &p->tok, "expecting positive integer without leading zeros. Received: '" STR_FMT "'",
        STR_ARG(digits));
  for (size_t i = 0; fits && i < digits.len; i++)
    fits = checked_mul(z, 10, &z) && checked_add(z, digits.data[i] - '0', &z);
  if (!fits) {
    parser_complain(p, &p->tok, "expecting symbol index <=2^63-1. Received: '" STR_FMT "'",
                    STR_ARG(digits));
    z = 0; /* and on, as Shardy does */
  }
  *s = str_from(*s, n);
  *out = checked_add(z, FACTOR_Z, &z) ? z : -1; /* -1: refused by the verifier */
  return true;
}

static bool keyword(parser *p, str *out) {
  *out = p->tok.text;
  if (at(p, TOK_ID)) return parser_next(p);
  return parser_complain(p, &p->tok, "expected valid keyword");
}

/* Symbols are written without anything between them: "ij" is two factors, "z_1k" too. */
static const attr *dim_mapping(parser *p) {
  i64_vec v = {0};
  if (at(p, TOK_ID)) {
    str s = p->tok.text;
    parser_next(p);
    while (s.len) {
      i64 index = 0;
      if (!factor(p, &s, &index)) return NULL;
      VEC_PUSH(p->scratch, v, index);
    }
  }
  return attr_make(p->ctx, dim_mapping, .factors = {v.data, v.len});
}

static const attr *tensor_mapping(parser *p) {
  static const list_param param = {ATTR_dim_mapping, "Sdy_TensorMapping", "dim_mappings",
                                   "::llvm::ArrayRef<DimMappingAttr>"};
  attrs dims;
  return maybe_list(p, &param, '[', ']', &dims) ? attr_make(p->ctx, tensor_mapping, .dims = dims)
                                                : NULL;
}

static const char *factor_name(parser *p, i64 index) {
  if (index < 0) return "?"; /* one that does not fit */
  if (index <= FACTOR_Z) return arena_printf(p->scratch, "%c", (char)('i' + index)).data;
  return arena_printf(p->scratch, "z_%lld", (long long)(index - FACTOR_Z)).data;
}

/* i=2 */
static bool size_item(parser *p, void *user) {
  i64_vec *sizes = user;
  i64 index, v;
  str s;
  if (!keyword(p, &s) || !factor(p, &s, &index)) return false;
  if (index != (i64)sizes->len)
    return parser_complain(p, &p->tok,
                           "expecting factor indices to be ordered like an iota ([0,1,2,...], e.g. "
                           "{i=#, j=#, ...}). Expecting factor index symbol '%s', received: '%s'",
                           factor_name(p, (i64)sizes->len), factor_name(p, index));
  if (s.len)
    return parser_complain(p, &p->tok, "expecting single factor symbol: " STR_FMT, STR_ARG(s));
  if (!parser_expect(p, '=', "expected '='") || !parser_i64(p, &v)) return false;
  VEC_PUSH(p->scratch, *sizes, v);
  return true;
}

static bool factor_item(parser *p, void *user) {
  i64_vec *v = user;
  i64 index;
  str s;
  if (!keyword(p, &s) || !factor(p, &s, &index)) return false;
  VEC_PUSH(p->scratch, *v, index);
  return true;
}

static bool factors(parser *p, const char *name, i64s *out) {
  i64_vec v = {0};
  if (!parser_accept_word(p, name)) return true;
  if (!parser_expect(p, '=', "expected '='")) return false;
  if (at(p, '{') && !parser_list(p, '{', '}', factor_item, &v)) return false;
  *out = (i64s){v.data, v.len};
  return true;
}

static bool mappings(parser *p, const char *name, attrs *out) {
  list_param param = {ATTR_tensor_mapping, "Sdy_OpShardingRule", name,
                      "::llvm::ArrayRef<TensorMappingAttr>"};
  return parser_expect(p, '(', "expected '('") && list(p, &param, out) &&
         parser_expect(p, ')', "expected ')'");
}

/* <([i, j])->([j, i]) {i=2, j=4} reduction={j}, custom> */
static const attr *op_sharding_rule(parser *p) {
  op_sharding_rule_attr r = {.base = {.id = (u16)ATTR_op_sharding_rule}};
  i64_vec sizes = {0};
  if (!parser_expect(p, '<', "expected '<'") || !mappings(p, "operand_mappings", &r.operands) ||
      !parser_expect(p, TOK_ARROW, "expected '->'") || !mappings(p, "result_mappings", &r.results))
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

/* ---- edges ---- */

static const attr *node_type(parser *p) {
  i64 v;
  str s;
  token t = p->tok;
  if (!at(p, TOK_ID) && !at(p, TOK_STRING))
    return parser_complain(p, &t, "expected valid keyword or string"), NULL;
  parser_word_or_string(p, &s);
  if (attr_enum_case(ATTR_edge_node_type, s, &v)) return attr_enum(p->ctx, ATTR_edge_node_type, v);
  parser_complain(p, &t, "expected ::mlir::sdy::EdgeNodeType to be one of: operand, result");
  return NULL;
}

/* operand-1 */
static const attr *edge_value_ref(parser *p) {
  static const char of[] = "Sdy_EdgeValueRef";
  i64 index;
  const attr *type = node_type(p);
  if (!type) return bad_param(p, of, "type", "::mlir::sdy::EdgeNodeType"), NULL;
  if (!parser_expect(p, '-', "expected '-'") || !int_param(p, of, "index", &index)) return NULL;
  return attr_make(p->ctx, edge_value_ref, .type = type, .index = index);
}

/* {"x" = operand-1 -> [operand-0, result-0]} */
static const attr *axis_edge(parser *p) {
  static const char of[] = "Sdy_AxisToPropagationDetails";
  static const list_param param = {ATTR_edge_value_ref, of, "targets",
                                   "::llvm::ArrayRef<EdgeValueRefAttr>"};
  const attr *axis, *source;
  attrs targets;
  if (!parser_expect(p, '{', "expected '{'")) return NULL;
  if (!(axis = parser_element(p, ATTR_axis_ref)))
    return bad_param(p, of, "axis_name", "::mlir::sdy::AxisRefAttr"), NULL;
  if (!parser_expect(p, '=', "expected '='")) return NULL;
  if (!(source = parser_element(p, ATTR_edge_value_ref)))
    return bad_param(p, of, "source", "::mlir::sdy::EdgeValueRefAttr"), NULL;
  if (!parser_expect(p, TOK_ARROW, "expected '->'") || !parser_expect(p, '[', "expected '['") ||
      !list(p, &param, &targets) || !parser_expect(p, ']', "expected ']'") ||
      !parser_expect(p, '}', "expected '}'"))
    return NULL;
  return attr_make(p->ctx, axis_edge, .axis = axis, .source = source, .targets = targets);
}

/* {step-2 = [...]} */
static const attr *propagation_step(parser *p) {
  static const char of[] = "Sdy_PropagationOneStep";
  static const list_param param = {ATTR_axis_edge, of, "axis_entries",
                                   "::llvm::ArrayRef<AxisToPropagationDetailsAttr>"};
  i64 step;
  attrs entries;
  if (!parser_expect(p, '{', "expected '{'") || !parser_expect_word(p, "step") ||
      !parser_expect(p, '-', "expected '-'") || !int_param(p, of, "step_index", &step) ||
      !parser_expect(p, '=', "expected '='") || !parser_expect(p, '[', "expected '['") ||
      !list(p, &param, &entries) || !parser_expect(p, ']', "expected ']'") ||
      !parser_expect(p, '}', "expected '}'"))
    return NULL;
  return attr_make(p->ctx, propagation_step, .step = step, .entries = entries);
}

/* Whether something with these bytes, which stay where they are, was there before. */
static bool seen_before(parser *p, name_map *seen, const void *bytes, size_t n) {
  void **at = name_map_at(seen, p->scratch, (str){bytes, n});
  bool seen_it = *at != NULL;
  *at = p;
  return seen_it;
}

static bool check_targets(parser *p, const token *start, i64 step, const axis_edge_attr *e) {
  name_map seen = {0};
  for (size_t i = 0; i < e->targets.len; i++) {
    if (e->targets.data[i] == e->source)
      return parser_complain(p, start,
                             "propagation edges have a source that is the same as a target");
    if (seen_before(p, &seen, &e->targets.data[i], sizeof e->targets.data[i]))
      return parser_complain(
          p, start,
          "propagation edges have duplicate targets for step index: %lld and axis: " STR_FMT,
          (long long)step, STR_ARG(((const axis_ref_attr *)e->axis)->name));
  }
  return true;
}

static bool check_steps(parser *p, const token *start, attrs steps) {
  name_map seen = {0};
  for (size_t i = 0; i < steps.len; i++) {
    const propagation_step_attr *s = (const propagation_step_attr *)steps.data[i];
    if (s->step < 0)
      return parser_complain(p, start, "propagation edges have negative step index: %lld",
                             (long long)s->step);
    if (seen_before(p, &seen, &s->step, sizeof s->step))
      return parser_complain(p, start, "propagation edges have duplicate step index: %lld",
                             (long long)s->step);
    for (size_t j = 0; j < s->entries.len; j++)
      if (!check_targets(p, start, s->step, (const axis_edge_attr *)s->entries.data[j]))
        return false;
  }
  return true;
}

/* <[{step-0 = ...}, ...]> */
static const attr *propagation_edges(parser *p) {
  static const list_param param = {ATTR_propagation_step, "Sdy_PropagationEdges", "value",
                                   "::llvm::ArrayRef<PropagationOneStepAttr>"};
  token start = p->tok;
  attrs steps;
  if (!parser_expect(p, '<', "expected '<'") || !parser_expect(p, '[', "expected '['") ||
      !list(p, &param, &steps) || !parser_expect(p, ']', "expected ']'") ||
      !parser_expect(p, '>', "expected '>'") || !check_steps(p, &start, steps))
    return NULL;
  return attr_make(p->ctx, propagation_edges, .steps = steps);
}

/* ---- by kind ---- */

typedef const attr *body_fn(parser *p);

static body_fn *const body_of[ATTR_COUNT] = {
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
    [ATTR_edge_value_ref] = edge_value_ref,
    [ATTR_axis_edge] = axis_edge,
    [ATTR_propagation_step] = propagation_step,
    [ATTR_propagation_edges] = propagation_edges,
};

const attr *parser_sdy_body(parser *p, attr_id id) {
  if (body_of[id]) return body_of[id](p);
  return parser_error(p, &p->tok, "this attribute has no text form"), NULL;
}

/* [<...>, <...>] */
const attr *parser_sharding_list(parser *p) {
  attrs list = {0};
  if (!parser_expect(p, '[', "expected '['")) return NULL;
  if (!parser_accept(p, ']') &&
      (!parser_elements(p, ATTR_tensor_sharding, &list) || !parser_expect(p, ']', "expected ']'")))
    return NULL;
  return attr_make(p->ctx, sharding_per_value, .shardings = list);
}
