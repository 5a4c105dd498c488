/* Attributes of dialects: #dialect.mnemonic<...>, and what is inside for stablehlo and chlo;
 * sdy_parse.c has it for sdy.
 *
 * Most are a struct of named fields, read by the table of fields in ir/attrs.def; the others have
 * a function here. Where a form leaves out `#dialect.mnemonic`, the same functions read the rest.
 */
#include <stdio.h>

#include "text/float.h"
#include "text/parser.h"

/* ---- <name = value, ...> in any order ---- */

/* (2)4: the size 4 after 2 */
static const attr *sub_axis(parser *p, attr_id id) {
  i64 pre, size;
  (void)id;
  if (!parser_expect(p, '(', "expected '('") || !parser_i64(p, &pre) ||
      !parser_expect(p, ')', "expected ')'") || !parser_i64(p, &size))
    return NULL;
  return attr_make(p->ctx, hlo_sub_axis, .pre_size = pre, .size = size);
}

/* Parses one field by its kind; `to` is its place in the attribute being made. */
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
  case FIELD_str:
    return parser_string_value(p, to);
  case FIELD_attr:
    *(const attr **)to = str_is(str_of(f->name), "sub_axis_info") ? sub_axis(p, ATTR_hlo_sub_axis)
                                                                  : parser_attr(p, NULL);
    return *(const attr **)to != NULL;
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

/* What the peers' code says of a field it does not expect depends on how it was written: by hand,
 * in any order; by hand, in one order; or generated. */
typedef enum struct_style { ANY_ORDER, ONE_ORDER, GENERATED } struct_style;

static bool wrong_field(parser *p, const field_info *fields, const field_info *f,
                        struct_style style) {
  str name = p->tok.text;
  if (style == ANY_ORDER)
    return f->name ? parser_error(p, &p->tok, "duplicated `%s` entry", f->name)
                   : unknown_field(p, fields);
  if (!at(p, TOK_ID)) return parser_error(p, &p->tok, "expected valid keyword");
  parser_next(p);
  return parser_expect(p, '=', "expected '='") &&
         parser_error(p, &p->tok, "duplicate or unknown struct parameter name: " STR_FMT,
                      STR_ARG(name));
}

/* The attribute is put together in a block on the stack that is large enough for any row, zeroed so
 * that absent fields have their zero, then uniqued. `needed`: fields that must be there. */
static const attr *structure_in(parser *p, attr_id id, struct_style style) {
  u64 room[32] = {0};
  u32 seen = 0;
  const field_info *fields = attr_infos[id].fields();
  size_t total = 0, needed;
  while (fields[total].name) total++;
  needed = id == ATTR_hlo_axis_ref ? 1 : total;
  attr *a = (attr *)room;
  a->id = (u16)id;
  if (!parser_expect(p, '<', "expected '<'")) return NULL;
  for (size_t n = 0; style == ANY_ORDER ? !at(p, '>') : n < total; n++) {
    const field_info *f = style == ONE_ORDER ? fields + n : fields;
    if (style == ONE_ORDER && !at_word(p, f->name)) return parser_expect_word(p, f->name), NULL;
    while (f->name && !at_word(p, f->name)) f++;
    u32 bit = 1u << (f - fields);
    if (!f->name || seen & bit) return wrong_field(p, fields, f, style), NULL;
    seen |= bit;
    parser_next(p);
    if (!parser_expect(p, '=', "expected '='") || !field(p, f, (char *)room + f->offset))
      return NULL;
    if (style != ANY_ORDER && n + 1 < needed) {
      if (!parser_expect(p, ',', "expected ','")) return NULL;
    } else if ((style == ANY_ORDER || n + 1 < total) && !parser_accept(p, ',')) {
      break;
    }
  }
  if (!parser_expect(p, '>', "expected '>'")) return NULL;
  return attr_unique(p->ctx, a);
}

static const attr *structure(parser *p, attr_id id) { return structure_in(p, id, ANY_ORDER); }
static const attr *sequence(parser *p, attr_id id) { return structure_in(p, id, ONE_ORDER); }
static const attr *generated(parser *p, attr_id id) { return structure_in(p, id, GENERATED); }

/* The dimension numbers, of which a second message says what was read. */
static const attr *dimensions(parser *p, attr_id id) {
  const attr *a = structure(p, id);
  if (!a)
    parser_error(p, &p->tok, "failed parsing %s dimension numbers",
                 strchr(attr_infos[id].name, '.') + 1);
  return a;
}

/* ---- replica groups as axes of a mesh ---- */

static bool mesh_axis(parser *p, void *user) {
  attr_vec *list = user;
  const attr *a = at(p, '<') ? generated(p, ATTR_hlo_mesh_axis) : parser_attr(p, NULL);
  if (!attr_is(hlo_mesh_axis, a)) return a && parser_error(p, &p->tok, "expected a mesh axis");
  VEC_PUSH(p->scratch, *list, a);
  return true;
}

/* <axes=[<name = "x", size = 2>], device_ids=dense<...>> */
static const attr *hlo_mesh(parser *p, attr_id id) {
  attr_vec axes = {0};
  const attr *ids = NULL;
  (void)id;
  if (!parser_expect(p, '<', "expected '<'") || !parser_expect_word(p, "axes") ||
      !parser_expect(p, '=', "expected '='") || !parser_list(p, '[', ']', mesh_axis, &axes))
    return NULL;
  if (parser_accept(p, ',') &&
      (!parser_expect_word(p, "device_ids") || !parser_expect(p, '=', "expected '='") ||
       !(ids = parser_attr(p, NULL))))
    return NULL;
  if (!parser_expect(p, '>', "expected '>'")) return NULL;
  return attr_make(p->ctx, hlo_mesh, .axes = {axes.data, axes.len}, .device_ids = ids);
}

/* What the peers check when the attribute is built (replica_group_mesh_axes), here with the
 * position. */
static const attr *mesh_axes(parser *p, attr_id id) {
  token where = p->tok;
  const attr *a = generated(p, id);
  const replica_group_mesh_axes_attr *g = (const replica_group_mesh_axes_attr *)a;
  if (!a) return NULL;
  const hlo_mesh_attr *m = attr_as(hlo_mesh, g->mesh);
  const array_attr *list = attr_as(array, g->axes);
  if (!m && !attr_is(symbol_ref, g->mesh))
    return parser_error(p, &where, "mesh must be a FlatSymbolRefAttr or MeshAttr"), NULL;
  if (!list) return parser_error(p, &where, "expected an array of axes"), NULL;
  for (size_t i = 0; m && i < list->elems.len; i++) {
    const hlo_axis_ref_attr *r = attr_as(hlo_axis_ref, list->elems.data[i]);
    if (!r) return parser_error(p, &where, "expected AxisRefAttr in axes list"), NULL;
    size_t x = 0;
    while (x < m->axes.len && !str_eq(((const hlo_mesh_axis_attr *)m->axes.data[x])->name, r->name))
      x++;
    if (x == m->axes.len)
      return parser_error(p, &where, "axis '" STR_FMT "' not found in mesh definition",
                          STR_ARG(r->name)),
             NULL;
  }
  return a;
}

/* ---- the algorithm of a product ---- */

static const attr *dot_algorithm(parser *p, attr_id id) {
  token where = p->tok;
  const attr *a = sequence(p, id);
  const char *problem = a ? dot_algorithm_problem(p->ctx, (const dot_algorithm_attr *)a) : NULL;
  if (problem) return parser_error(p, &where, "%s", problem), NULL;
  return a;
}

/* ---- enums ---- */

/* "ComparisonDirection" of "stablehlo.comparison_direction" */
static str class_name(parser *p, attr_id id, str *dialect) {
  const char *name = attr_infos[id].name, *from = strchr(name, '.');
  size_t n = 0;
  *dialect = (str){name, (size_t)(from - name)};
  char *out = arena_alloc(p->scratch, strlen(from));
  for (bool upper = true; *++from; upper = *from == '_')
    if (*from != '_') out[n++] = (char)(upper ? *from - 'a' + 'A' : *from);
  return (str){out, n};
}

static const attr *no_case(parser *p, attr_id id, const token *where, bool word) {
  str dialect, class = class_name(p, id, &dialect);
  if (word) {
    buf b;
    buf_init(&b, ir_mem(p->ctx));
    for (u32 i = 0; i < attr_infos[id].num_cases; i++)
      buf_printf(&b, "%s%s", i ? ", " : "", attr_infos[id].cases[i]);
    parser_complain(p, where, "expected ::mlir::" STR_FMT "::" STR_FMT " to be one of: %s",
                    STR_ARG(dialect), STR_ARG(class), buf_cstr(&b));
    buf_deinit(&b);
  } else {
    parser_complain(p, where, "expected valid keyword or string");
  }
  parser_complain(p, &p->tok,
                  "failed to parse %s_" STR_FMT "Attr parameter 'value' which is to be a "
                  "`::mlir::" STR_FMT "::" STR_FMT "`",
                  str_is(dialect, "stablehlo") ? "StableHLO" : "CHLO", STR_ARG(class),
                  STR_ARG(dialect), STR_ARG(class));
  return NULL;
}

/* In forms bare (EQ), elsewhere in angles (<EQ>) or as #dialect<enum EQ>. */
static const attr *enumeration(parser *p, attr_id id) {
  i64 value;
  bool angle = parser_accept(p, '<');
  token t = p->tok;
  str word;
  if (!at(p, TOK_ID) && !at(p, TOK_STRING)) return no_case(p, id, &t, false);
  parser_word_or_string(p, &word);
  if (!attr_enum_case(id, word, &value)) return no_case(p, id, &t, true);
  if (angle && !parser_expect(p, '>', "expected '>'")) return NULL;
  return attr_enum(p->ctx, id, value);
}

/* ---- stablehlo ---- */

/* Lists the letters that are still to come, as the peers' message does. */
static bool letters_missing(parser *p, const token *where, str got, const char *letters,
                            const i64 pos[2]) {
  char left[8];
  snprintf(left, sizeof left, "%c, %c", letters[0], letters[1]);
  if (pos[0] >= 0 || pos[1] >= 0) snprintf(left, sizeof left, "%c", letters[pos[0] >= 0]);
  if (!got.len) return parser_complain(p, where, "Expected dimensions %s not specified", left);
  return parser_complain(p, where, "Unexpected dimension " STR_FMT ", expecting %s", STR_ARG(got),
                         left);
}

static bool spatial_missing(parser *p, const i64_vec *spatial) {
  enum { MOST = 10 };
  buf b;
  buf_init(&b, ir_mem(p->ctx));
  for (size_t i = 0, n = 0; i < spatial->len && n < MOST; i++)
    if (spatial->data[i] < 0) buf_printf(&b, "%s%zu", n++ ? ", " : "", i);
  parser_complain(p, &p->tok, "Expected spatial dimensions %s not specified", buf_cstr(&b));
  buf_deinit(&b);
  return false;
}

/* [b, 0, 1, f]: positions of the two letters and of the spatial dimensions. A list as long as the
 * greatest one is made, so that is bounded. */
enum { MAX_SPATIAL = 1024 };
static bool conv_dims(parser *p, const char *letters, i64 pos[2], i64_vec *spatial) {
  i64 index = 0, n = 0;
  pos[0] = pos[1] = -1;
  spatial->len = 0;
  if (!parser_expect(p, '[', "expected '['")) return false;
  do {
    token t = p->tok;
    i64 dim;
    if (at(p, TOK_ID)) {
      if (t.text.len != 1 || (pos[0] >= 0 && pos[1] >= 0))
        return parser_complain(p, &t, "Unexpected keyword " STR_FMT, STR_ARG(t.text));
      int k = t.text.data[0] == letters[0] ? 0 : t.text.data[0] == letters[1] ? 1 : -1;
      if (k < 0 || pos[k] >= 0) return letters_missing(p, &t, t.text, letters, pos);
      pos[k] = index;
      parser_next(p);
    } else {
      if (!at(p, TOK_INT) && !at(p, '-')) return parser_complain(p, &t, "expected valid keyword");
      if (!parser_i64(p, &dim)) return false;
      if (dim < 0 || dim >= MAX_SPATIAL)
        return parser_complain(p, &t, "Unexpected dimension %lld", (long long)dim);
      while ((i64)spatial->len <= dim) VEC_PUSH(p->scratch, *spatial, -1);
      if (spatial->data[dim] >= 0)
        return parser_complain(p, &t, "Duplicate entries for spatial dimension %lld",
                               (long long)dim);
      spatial->data[dim] = index;
      n++;
    }
    index++;
  } while (parser_accept(p, ','));
  if (pos[0] < 0 || pos[1] < 0) return letters_missing(p, &p->tok, (str){0}, letters, pos);
  if (!parser_expect(p, ']', "expected ']'")) return false;
  return (i64)spatial->len == n || spatial_missing(p, spatial);
}

const attr *parser_conv_dims(parser *p) {
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
  token less = p->tok;
  if (!parser_accept(p, '<')) return parser_conv_dims(p);
  if (at_word(p, "raw")) { /* what follows reads as a struct after its `<` */
    p->tok = less;
    return structure(p, id);
  }
  const attr *a = parser_conv_dims(p);
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

/* ---- by kind ---- */

typedef const attr *body_fn(parser *p, attr_id id);

static body_fn *const body_of[ATTR_COUNT] = {
    [ATTR_result_accuracy] = result_accuracy,
    [ATTR_channel_handle] = generated,
    [ATTR_dot] = dimensions,
    [ATTR_ragged_dot] = structure,
    [ATTR_dot_algorithm] = dot_algorithm,
    [ATTR_gather_dims] = dimensions,
    [ATTR_scatter_dims] = dimensions,
    [ATTR_conv] = conv,
    [ATTR_output_operand_alias] = sequence,
    [ATTR_bounds] = bounds,
    [ATTR_hlo_sub_axis] = sub_axis,
    [ATTR_hlo_axis_ref] = generated,
    [ATTR_hlo_mesh_axis] = generated,
    [ATTR_hlo_mesh] = hlo_mesh,
    [ATTR_replica_group_mesh_axes] = mesh_axes,
};

const attr *parser_dialect_body(parser *p, attr_id id) {
  if (!parser_enter(p)) return NULL;
  const attr *a;
  if (body_of[id])
    a = body_of[id](p, id);
  else if (!parser_mpmd_body(p, id, &a))
    a = attr_infos[id].cases ? enumeration(p, id) : parser_sdy_body(p, id);
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
  return str_is(dialect, "stablehlo") || str_is(dialect, "chlo") || str_is(dialect, "sdy") ||
         str_is(dialect, "mpmd");
}

/* Runs of white space become one space. */
static str one_line(parser *p, str s) {
  char *out = arena_alloc(p->scratch, s.len);
  size_t n = 0;
  for (size_t i = 0; i < s.len; i++) {
    bool space = s.data[i] == ' ' || s.data[i] == '\n' || s.data[i] == '\t' || s.data[i] == '\r';
    if (space && n && out[n - 1] == ' ') continue;
    out[n++] = space ? ' ' : s.data[i];
  }
  return (str){out, n};
}

/* : type */
static bool optional_type(parser *p, const type **t) {
  return !parser_accept(p, ':') || (*t = parser_type(p)) != NULL;
}

/* #dialect.name<...> or #dialect<...>, unread. */
static const attr *opaque(parser *p) {
  dialect_symbol s;
  const type *t = NULL;
  if (!parser_symbol_text(p, &s) || !optional_type(p, &t) || !parser_keep_symbol(p, &s, false, t))
    return NULL;
  if (str_is(s.dialect, "sparse_tensor")) s.body = one_line(p, s.body); /* as its printer has it */
  return attr_make(p->ctx, opaque, .dialect = s.dialect, .text = s.body,
                   .type = t && t->kind != TYPE_NONE ? t : NULL);
}

static const attr *unknown(parser *p, const token *where, str dialect, str mnemonic) {
  if (!mnemonic.len)
    parser_error(p, where, "expected valid keyword");
  else if (str_is(dialect, "sdy") || str_is(dialect, "mpmd"))
    parser_error(p, where, "unknown attribute `" STR_FMT "` in dialect `" STR_FMT "`",
                 STR_ARG(mnemonic), STR_ARG(dialect));
  else
    parser_error(p, where, "unknown %s attribute", str_is(dialect, "chlo") ? "chlo" : "StableHLO");
  return NULL;
}

/* #dialect<mnemonic ...> */
static const attr *long_form(parser *p, str dialect) {
  if (!parser_expect(p, '<', "expected '<'")) return NULL;
  token t = p->tok;
  if (!parser_expect(p, TOK_ID, "expected valid keyword")) return NULL;
  if (str_is(dialect, "stablehlo") && str_is(t.text, "type_extensions")) {
    const attr *old = type_extensions(p);
    return old && parser_expect(p, '>', "expected '>'") ? old : NULL;
  }
  attr_id id = find(dialect, t.text);
  if (id == ATTR_COUNT) return unknown(p, &t, dialect, t.text);
  const attr *a = parser_dialect_body(p, id);
  return a && parser_expect(p, '>', "expected '>'") ? a : NULL;
}

/* #dialect.mnemonic... */
static const attr *short_form(parser *p, const token *t, str dialect, str mnemonic) {
  attr_id id = find(dialect, mnemonic);
  if (id != ATTR_COUNT) return parser_dialect_body(p, id);
  if (str_is(dialect, "stablehlo") && str_is(mnemonic, "type_extensions"))
    return type_extensions(p);
  token where = *t;
  where.col += (u32)(mnemonic.data - t->text.data);
  return unknown(p, &where, dialect, mnemonic);
}

static const attr *written_out(parser *p) {
  token t = p->tok;
  str name = str_from(t.text, 1);
  const char *dot = memchr(name.data, '.', name.len);
  bool angle = p->lex.p < p->lex.end && *p->lex.p == '<';
  if (!dot && !angle) {
    const attr *alias = name_map_get(&p->attr_aliases, name);
    if (alias) return parser_room(p, alias->depth) && parser_next(p) ? alias : NULL;
    parser_next(p);
    parser_missing(p, "undefined symbol alias id '" STR_FMT "'", STR_ARG(name));
    return NULL;
  }
  str dialect = {name.data, dot ? (size_t)(dot - name.data) : name.len};
  if (!is_known(dialect)) return opaque(p);
  parser_next(p);
  const attr *a =
      dot ? short_form(p, &t, dialect, str_from(name, dialect.len + 1)) : long_form(p, dialect);
  const type *ignored;
  return a && optional_type(p, &ignored) ? a : NULL;
}

const attr *parser_dialect_attr(parser *p) {
  str outer = p->custom_op;
  p->custom_op = STR(""); /* no more the op's own code that reads */
  bool outermost = !p->symbol && p->lex.p < p->lex.end && *p->lex.p == '<';
  if (outermost) p->symbol = p->lex.p;
  const attr *a = written_out(p);
  if (outermost) p->symbol = NULL;
  p->custom_op = outer;
  return a;
}
