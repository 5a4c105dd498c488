/* The type and the attributes of mpmd as text, and what stands in a fragment's angle brackets;
 * sdy_print.c writes them. Syntax and messages are Shardy's (dialect/mpmd/ir). */
#include "text/parser.h"

/* ---- !mpmd.mesh_tensor<"m", tensor<8xf32>, sharding=<@mesh, [{}]>, memory_kind="device"> ---- */

static const type *ranked(parser *p) {
  token where = p->tok;
  const type *t = parser_type(p);
  if (!t || type_is_ranked(t)) return t;
  parser_complain(p, &where,
                  "invalid kind of type specified: expected builtin.tensor, but found '%s'",
                  text_show_type(p->scratch, t));
  return NULL;
}

/* The last of the parameters, so it closes the type. */
static bool memory_kind(parser *p, const attr **out) {
  str kind;
  if (!parser_expect_word(p, "memory_kind") || !parser_expect(p, '=', "expected '='") ||
      !parser_string_value(p, &kind))
    return false;
  *out = attr_string(p->ctx, kind);
  return true;
}

/* At `<`. */
const type *parser_mesh_tensor(parser *p) {
  str mesh;
  const type *t;
  const attr *sharding = NULL, *kind = NULL;
  if (!parser_expect(p, '<', "expected '<'") || !parser_string_value(p, &mesh) ||
      !parser_expect(p, ',', "expected ','") || !(t = ranked(p)))
    return NULL;
  bool more = parser_accept(p, ',');
  if (more && parser_accept_word(p, "sharding")) {
    if (!parser_expect(p, '=', "expected '='") ||
        !(sharding = parser_element(p, ATTR_tensor_sharding)))
      return NULL;
    more = parser_accept(p, ',');
  }
  if (more && !memory_kind(p, &kind)) return NULL;
  if (!parser_expect(p, '>', "expected '>'")) return NULL;
  return type_mesh_tensor(p->ctx, mesh, t, sharding, kind);
}

/* ---- attributes, behind #mpmd.name ---- */

/* <"m" : <["x"=2]>> */
static const attr *named_mesh(parser *p) {
  str name;
  const attr *mesh;
  if (!parser_expect(p, '<', "expected '<'") || !parser_string_value(p, &name) ||
      !parser_expect(p, ':', "expected ':'") || !(mesh = parser_element(p, ATTR_mesh)) ||
      !parser_expect(p, '>', "expected '>'"))
    return NULL;
  return attr_make(p->ctx, named_mesh, .name = name, .mesh = mesh);
}

static const attr *topology(parser *p) {
  attrs meshes = {0};
  token start = p->tok;
  if (!parser_expect(p, '<', "expected '<'")) return NULL;
  if (at(p, '>'))
    return parser_complain(p, &start, "TopologyAttr must have at least one mesh."), NULL;
  if (!parser_elements(p, ATTR_named_mesh, &meshes) || !parser_expect(p, '>', "expected '>'"))
    return NULL;
  return attr_make(p->ctx, topology, .meshes = meshes);
}

/* "f" or "f"(1) */
static const attr *short_origin(parser *p) {
  str name;
  i64 count = 0;
  if (!parser_string_value(p, &name)) {
    parser_complain(p, &p->tok, "could not parse user origin.");
    return NULL;
  }
  if (parser_accept(p, '(') && (!parser_i64(p, &count) || !parser_expect(p, ')', "expected ')'"))) {
    parser_complain(p, &p->tok, "could not parse transpose count value.");
    return NULL;
  }
  return attr_make(p->ctx, user_origin, .name = name, .transpose_count = count);
}

static const attr *user_origin(parser *p) {
  if (!parser_expect(p, '<', "expected '<'")) return NULL;
  const attr *a = short_origin(p);
  return a && parser_expect(p, '>', "expected '>'") ? a : NULL;
}

static const attr *mesh_origin(parser *p) {
  str label;
  return parser_string_value(p, &label) ? attr_make(p->ctx, mesh_origin, .label = label) : NULL;
}

/* "m" or "m"["f", "g"] */
static const attr *mesh_with_origins(parser *p) {
  str mesh;
  attrs origins = {0};
  if (!parser_string_value(p, &mesh)) return NULL;
  if (parser_accept(p, '[') &&
      (!parser_elements(p, ATTR_mesh_origin, &origins) || !parser_expect(p, ']', "expected ']'")))
    return NULL;
  return attr_make(p->ctx, mesh_with_origins, .mesh_name = mesh, .origins = origins);
}

static const attr *meshes_with_origins(parser *p) {
  attrs meshes = {0};
  if (!parser_expect(p, '<', "expected '<'")) return NULL;
  if (!parser_accept(p, '>') && (!parser_elements(p, ATTR_mesh_with_origins, &meshes) ||
                                 !parser_expect(p, '>', "expected '>'")))
    return NULL;
  return attr_make(p->ctx, meshes_with_origins, .meshes = meshes);
}

static const attr *reduction(parser *p) {
  i64 value;
  if (!parser_expect(p, '<', "expected '<'")) return NULL;
  if (!at(p, TOK_ID) || !attr_enum_case(ATTR_mpmd_reduction, p->tok.text, &value)) {
    parser_complain(p, &p->tok, "expected one of none, add, max, min, mul, or, and");
    return NULL;
  }
  parser_next(p);
  if (!parser_expect(p, '>', "expected '>'")) return NULL;
  return attr_enum(p->ctx, ATTR_mpmd_reduction, value);
}

typedef const attr *body_fn(parser *p);

static body_fn *const body_of[ATTR_COUNT] = {
    [ATTR_named_mesh] = named_mesh,
    [ATTR_topology] = topology,
    [ATTR_user_origin] = user_origin,
    [ATTR_mesh_origin] = mesh_origin,
    [ATTR_mesh_with_origins] = mesh_with_origins,
    [ATTR_meshes_with_origins] = meshes_with_origins,
    [ATTR_mpmd_reduction] = reduction,
};

bool parser_mpmd_body(parser *p, attr_id id, const attr **out) {
  return body_of[id] && (*out = body_of[id](p), true);
}

/* ---- <mesh="m", origin=["f"(1)], stage=1, in_shardings=[..], out_shardings=[..]> of an op ---- */

static bool origin_item(parser *p, void *user) {
  attr_vec *v = user;
  const attr *a = short_origin(p);
  if (!a) return false;
  VEC_PUSH(p->scratch, *v, a);
  return true;
}

/* What may follow, in this order: slots 2 and on of the directive. */
static bool placed_more(parser *p, op_state *st, const i8 *slots) {
  static const char *const words[] = {"stage", "in_shardings", "out_shardings"};
  for (int next = 0; parser_accept(p, ',');) {
    int k = next;
    while (k < 3 && (slots[k] < 0 || !at_word(p, words[k]))) k++;
    if (k == 3) return parser_expect(p, '>', "expected '>'");
    parser_next(p);
    if (!parser_expect(p, '=', "expected '='")) return false;
    const attr *a = k ? parser_sharding_list(p) : parser_attr(p, type_i64(p->ctx));
    if (!a) return false;
    st->slots[slots[k]] = a;
    next = k + 1;
  }
  return true;
}

bool parser_placed(parser *p, op_state *st, const i8 *slots) {
  attr_vec origins = {0};
  str mesh;
  if (!parser_expect(p, '<', "expected '<'") || !parser_expect_word(p, "mesh") ||
      !parser_expect(p, '=', "expected '='") || !parser_string_value(p, &mesh) ||
      !parser_expect(p, ',', "expected ','") || !parser_expect_word(p, "origin") ||
      !parser_expect(p, '=', "expected '='") || !parser_list(p, '[', ']', origin_item, &origins))
    return false;
  st->slots[slots[0]] = attr_string(p->ctx, mesh);
  st->slots[slots[1]] = attr_array(p->ctx, (attrs){origins.data, origins.len});
  return placed_more(p, st, slots + 2) && parser_expect(p, '>', "expected '>'");
}
