/* Attributes of sdy and mpmd as text; sdy_parse.c and mpmd_parse.c read them.
 *
 * The printers of Shardy (dialect/sdy/ir/printers.cc and the assembly formats of attrs.td),
 * character by character. body_* prints what stands behind the mnemonic; where the attribute is a
 * field of another, which says its kind, the body is all there is. `plain`: without the angle
 * brackets of the body. */
#include "text/lexer.h"
#include "text/printer.h"

static void list(printer *w, attrs v) {
  for (size_t i = 0; i < v.len; i++) {
    if (i) PUT(w, ", ");
    printer_dialect_body(w, v.data[i], false);
  }
}

static void braces(printer *w, attrs v) {
  put_char(w, '{');
  list(w, v);
  put_char(w, '}');
}

static void body_axis_ref(printer *w, const attr *a, bool plain) {
  const axis_ref_attr *r = (const axis_ref_attr *)a;
  (void)plain;
  printer_quoted(w, r->name);
  if (r->size == 0) return;
  PUT(w, ":(");
  printer_i64(w, r->pre_size);
  put_char(w, ')');
  printer_i64(w, r->size);
}

static void body_mesh_axis(printer *w, const attr *a, bool plain) {
  const mesh_axis_attr *m = (const mesh_axis_attr *)a;
  (void)plain;
  printer_quoted(w, m->name);
  put_char(w, '=');
  printer_i64(w, m->size);
}

static void body_mesh(printer *w, const attr *a, bool plain) {
  const mesh_attr *m = (const mesh_attr *)a;
  (void)plain;
  PUT(w, "<[");
  list(w, m->axes);
  put_char(w, ']');
  if (m->device_ids.len) {
    PUT(w, ", device_ids=");
    printer_i64s(w, m->device_ids, true);
  }
  put_char(w, '>');
}

static void body_dim_sharding(printer *w, const attr *a, bool plain) {
  const dim_sharding_attr *d = (const dim_sharding_attr *)a;
  (void)plain;
  put_char(w, '{');
  list(w, d->axes);
  if (!d->closed) put(w, d->axes.len ? STR(", ?") : STR("?"));
  put_char(w, '}');
  if (d->priority < 0) return;
  put_char(w, 'p');
  printer_i64(w, d->priority);
}

/* The kind of reduction comes before the braces and is left out for a sum. */
static void body_sharding(printer *w, const attr *a, bool plain) {
  static const char *const kinds[] = {"", "max", "min", "mul", "and", "or"};
  const tensor_sharding_attr *s = (const tensor_sharding_attr *)a;
  (void)plain;
  put_char(w, '<');
  if (attr_is(mesh, s->mesh)) {
    PUT(w, "mesh");
    body_mesh(w, s->mesh, true);
  } else {
    printer_attr(w, s->mesh, false);
  }
  PUT(w, ", [");
  list(w, s->dims);
  put_char(w, ']');
  if (s->replicated.len) {
    PUT(w, ", replicated=");
    braces(w, s->replicated);
  }
  if (s->unreduced.len) {
    const reduction_op_attr *k = attr_as(reduction_op, s->unreduced_kind);
    PUT(w, ", unreduced=");
    if (k && k->value > 0 && k->value < (i64)COUNT(kinds)) put(w, str_of(kinds[k->value]));
    braces(w, s->unreduced);
  }
  put_char(w, '>');
}

static void lists_in(printer *w, attrs v, bool plain) {
  if (!plain) put_char(w, '<');
  put_char(w, '[');
  list(w, v);
  put_char(w, ']');
  if (!plain) put_char(w, '>');
}

static void body_per_value(printer *w, const attr *a, bool plain) {
  lists_in(w, ((const sharding_per_value_attr *)a)->shardings, plain);
}

static void body_axis_ref_lists(printer *w, const attr *a, bool plain) {
  (void)plain;
  lists_in(w, ((const axis_ref_lists_attr *)a)->lists, true);
}

static void body_params(printer *w, const attr *a, bool plain) {
  (void)plain;
  lists_in(w, ((const all_to_all_params_attr *)a)->params, true);
}

static void body_axis_ref_list(printer *w, const attr *a, bool plain) {
  (void)plain;
  braces(w, ((const axis_ref_list_attr *)a)->axes);
}

static void body_manual_axes(printer *w, const attr *a, bool plain) {
  attrs v = ((const manual_axes_attr *)a)->axes;
  (void)plain;
  put_char(w, '{');
  for (size_t i = 0; i < v.len; i++) {
    if (i) PUT(w, ", ");
    printer_attr(w, v.data[i], false);
  }
  put_char(w, '}');
}

static void body_param(printer *w, const attr *a, bool plain) {
  const all_to_all_param_attr *t = (const all_to_all_param_attr *)a;
  (void)plain;
  braces(w, t->axes);
  PUT(w, ": ");
  printer_i64(w, t->src_dim);
  PUT(w, "->");
  printer_i64(w, t->tgt_dim);
}

/* Factors as letters from i: i .. z, then z_1, z_2, ... (the notation of Shardy's rules). */
static void symbol(printer *w, i64 factor) {
  if (factor < 18) {
    put_char(w, (char)('i' + (factor < 0 ? 0 : factor)));
    return;
  }
  PUT(w, "z_");
  printer_i64(w, factor - 17);
}

static void body_dim_mapping(printer *w, const attr *a, bool plain) {
  i64s f = ((const dim_mapping_attr *)a)->factors;
  (void)plain;
  for (size_t i = 0; i < f.len; i++) symbol(w, f.data[i]);
}

static void body_tensor_mapping(printer *w, const attr *a, bool plain) {
  (void)plain;
  put_char(w, '[');
  list(w, ((const tensor_mapping_attr *)a)->dims);
  put_char(w, ']');
}

static void factors(printer *w, const char *name, i64s f) {
  if (f.len == 0) return;
  put_char(w, ' ');
  put(w, str_of(name));
  PUT(w, "={");
  for (size_t i = 0; i < f.len; i++) {
    if (i) PUT(w, ", ");
    symbol(w, f.data[i]);
  }
  put_char(w, '}');
}

static void body_rule(printer *w, const attr *a, bool plain) {
  const op_sharding_rule_attr *r = (const op_sharding_rule_attr *)a;
  (void)plain;
  PUT(w, "<(");
  list(w, r->operands);
  PUT(w, ")->(");
  list(w, r->results);
  put_char(w, ')');
  for (size_t i = 0; i < r->factor_sizes.len; i++) {
    put(w, i ? STR(", ") : STR(" {"));
    symbol(w, (i64)i);
    put_char(w, '=');
    printer_i64(w, r->factor_sizes.data[i]);
  }
  if (r->factor_sizes.len) put_char(w, '}');
  factors(w, "reduction", r->reduction);
  factors(w, "need_replication", r->need_replication);
  factors(w, "permutation", r->permutation);
  factors(w, "blocked_propagation", r->blocked_propagation);
  if (r->custom) PUT(w, ", custom");
  put_char(w, '>');
}

/* ---- edges ---- */

static void body_edge_value_ref(printer *w, const attr *a, bool plain) {
  const edge_value_ref_attr *e = (const edge_value_ref_attr *)a;
  (void)plain;
  put(w, attr_enum_name(e->type));
  put_char(w, '-');
  printer_i64(w, e->index);
}

/* {"x" = operand-0 -> [result-0]}: the axis went from the source to the targets. */
static void body_axis_edge(printer *w, const attr *a, bool plain) {
  const axis_edge_attr *e = (const axis_edge_attr *)a;
  (void)plain;
  put_char(w, '{');
  printer_dialect_body(w, e->axis, true);
  PUT(w, " = ");
  printer_dialect_body(w, e->source, true);
  PUT(w, " -> [");
  list(w, e->targets);
  PUT(w, "]}");
}

static void body_step(printer *w, const attr *a, bool plain) {
  const propagation_step_attr *s = (const propagation_step_attr *)a;
  (void)plain;
  PUT(w, "{step-");
  printer_i64(w, s->step);
  PUT(w, " = [");
  list(w, s->entries);
  PUT(w, "]}");
}

static void body_edges(printer *w, const attr *a, bool plain) {
  (void)plain;
  lists_in(w, ((const propagation_edges_attr *)a)->steps, false);
}

/* ---- mpmd: its type, its attributes, and what stands in a fragment's angle brackets ---- */

void printer_mesh_tensor(printer *w, const type *t) {
  PUT(w, "!mpmd.mesh_tensor<");
  printer_quoted(w, t->text);
  PUT(w, ", ");
  printer_type(w, t->types.data[0]);
  if (t->encoding) {
    PUT(w, ", sharding=");
    printer_dialect_body(w, t->encoding, false);
  }
  if (t->space) {
    PUT(w, ", memory_kind=");
    printer_attr(w, t->space, false);
  }
  put_char(w, '>');
}

static void body_named_mesh(printer *w, const attr *a, bool plain) {
  (void)plain;
  const named_mesh_attr *m = (const named_mesh_attr *)a;
  put_char(w, '<');
  printer_quoted(w, m->name);
  PUT(w, " : ");
  printer_dialect_body(w, m->mesh, false);
  put_char(w, '>');
}

static void body_topology(printer *w, const attr *a, bool plain) {
  (void)plain;
  put_char(w, '<');
  list(w, ((const topology_attr *)a)->meshes);
  put_char(w, '>');
}

static void short_origin(printer *w, const attr *a) {
  const user_origin_attr *u = attr_as(user_origin, a);
  if (!u) {
    printer_attr(w, a, false);
    return;
  }
  printer_quoted(w, u->name);
  if (u->transpose_count <= 0) return;
  put_char(w, '(');
  printer_i64(w, u->transpose_count);
  put_char(w, ')');
}

static void body_user_origin(printer *w, const attr *a, bool plain) {
  (void)plain;
  put_char(w, '<');
  short_origin(w, a);
  put_char(w, '>');
}

static void body_mesh_origin(printer *w, const attr *a, bool plain) {
  (void)plain;
  printer_quoted(w, ((const mesh_origin_attr *)a)->label);
}

static void body_mesh_with_origins(printer *w, const attr *a, bool plain) {
  (void)plain;
  const mesh_with_origins_attr *m = (const mesh_with_origins_attr *)a;
  printer_quoted(w, m->mesh_name);
  if (!m->origins.len) return;
  put_char(w, '[');
  list(w, m->origins);
  put_char(w, ']');
}

static void body_meshes_with_origins(printer *w, const attr *a, bool plain) {
  (void)plain;
  put_char(w, '<');
  list(w, ((const meshes_with_origins_attr *)a)->meshes);
  put_char(w, '>');
}

static void body_reduction(printer *w, const attr *a, bool plain) {
  (void)plain;
  put_char(w, '<');
  put(w, attr_enum_name(a));
  put_char(w, '>');
}

void printer_placed(printer *w, const op *o, const i8 *slots) {
  static const char *const words[] = {", stage=", ", in_shardings=", ", out_shardings="};
  const attr *mesh = o->slots[slots[0]];
  const array_attr *origins = attr_as(array, o->slots[slots[1]]);
  PUT(w, "<mesh=");
  if (mesh) printer_attr(w, mesh, false);
  PUT(w, ", origin=[");
  for (size_t i = 0; origins && i < origins->elems.len; i++) {
    if (i) PUT(w, ", ");
    short_origin(w, origins->elems.data[i]);
  }
  put_char(w, ']');
  for (int k = 0; k < 3; k++) {
    const attr *a = slots[k + 2] < 0 ? NULL : o->slots[slots[k + 2]];
    if (!a) continue;
    put(w, str_of(words[k]));
    if (k)
      printer_dialect_body(w, a, true);
    else
      printer_attr_bare(w, a);
  }
  put_char(w, '>');
}

/* ---- by kind ---- */

typedef void body_fn(printer *w, const attr *a, bool plain);

static body_fn *const body_of[ATTR_COUNT] = {
    [ATTR_mesh_axis] = body_mesh_axis,
    [ATTR_mesh] = body_mesh,
    [ATTR_axis_ref] = body_axis_ref,
    [ATTR_dim_sharding] = body_dim_sharding,
    [ATTR_tensor_sharding] = body_sharding,
    [ATTR_sharding_per_value] = body_per_value,
    [ATTR_axis_ref_list] = body_axis_ref_list,
    [ATTR_axis_ref_lists] = body_axis_ref_lists,
    [ATTR_manual_axes] = body_manual_axes,
    [ATTR_all_to_all_param] = body_param,
    [ATTR_all_to_all_params] = body_params,
    [ATTR_dim_mapping] = body_dim_mapping,
    [ATTR_tensor_mapping] = body_tensor_mapping,
    [ATTR_op_sharding_rule] = body_rule,
    [ATTR_edge_value_ref] = body_edge_value_ref,
    [ATTR_axis_edge] = body_axis_edge,
    [ATTR_propagation_step] = body_step,
    [ATTR_propagation_edges] = body_edges,
    [ATTR_named_mesh] = body_named_mesh,
    [ATTR_topology] = body_topology,
    [ATTR_user_origin] = body_user_origin,
    [ATTR_mesh_origin] = body_mesh_origin,
    [ATTR_mesh_with_origins] = body_mesh_with_origins,
    [ATTR_meshes_with_origins] = body_meshes_with_origins,
    [ATTR_mpmd_reduction] = body_reduction,
};

bool printer_sdy_body(printer *w, const attr *a, bool plain) {
  if (!body_of[a->id]) return false;
  body_of[a->id](w, a, plain);
  return true;
}
