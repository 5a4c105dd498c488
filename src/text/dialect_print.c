/* Attributes of stablehlo, chlo and sdy as text; dialect_parse.c reads them. */
#include "text/float.h"
#include "text/lexer.h"
#include "text/printer.h"

/* ---- structs of named fields ---- */

static void field(printer *w, const field_info *f, const void *at) {
  switch (f->kind) {
  case FIELD_i64:
    printer_i64(w, *(const i64 *)at);
    break;
  case FIELD_bool:
    put(w, *(const bool *)at ? STR("true") : STR("false"));
    break;
  case FIELD_i64s:
    printer_i64s(w, *(const i64s *)at, true);
    break;
  case FIELD_type:
    printer_type(w, *(const type *const *)at);
    break;
  case FIELD_attr:
    printer_attr(w, *(const attr *const *)at, false);
    break;
  default:
    break;
  }
}

static bool is_empty(const field_info *f, const void *at) {
  if (f->kind == FIELD_i64) return *(const i64 *)at == 0;
  return f->kind == FIELD_i64s && ((const i64s *)at)->len == 0;
}

static void structure(printer *w, const attr *a, bool sparse) {
  bool first = true;
  put_char(w, '<');
  for (const field_info *f = attr_infos[a->id].fields(); f->name; f++) {
    const void *at = (const char *)a + f->offset;
    if (sparse && is_empty(f, at)) continue;
    if (!first) PUT(w, ", ");
    first = false;
    put(w, str_of(f->name));
    PUT(w, " = ");
    field(w, f, at);
  }
  put_char(w, '>');
}

static void body_full(printer *w, const attr *a, bool plain) {
  (void)plain;
  structure(w, a, false);
}

static void body_sparse(printer *w, const attr *a, bool plain) {
  (void)plain;
  structure(w, a, true);
}

/* ---- stablehlo ---- */

/* [b, 0, f]; positions out of range are left out, as a verifier would refuse them */
static void conv_dims(printer *w, char first, i64 first_at, char second, i64 second_at,
                      i64s spatial) {
  i64 n = (i64)spatial.len + 2;
  put_char(w, '[');
  for (i64 at = 0; at < n; at++) {
    if (at) PUT(w, ", ");
    if (at == first_at)
      put_char(w, first);
    else if (at == second_at)
      put_char(w, second);
    else
      for (size_t k = 0; k < spatial.len; k++)
        if (spatial.data[k] == at) printer_i64(w, (i64)k);
  }
  put_char(w, ']');
}

static void body_conv(printer *w, const attr *a, bool plain) {
  const conv_attr *c = (const conv_attr *)a;
  if (!plain) put_char(w, '<');
  conv_dims(w, 'b', c->input_batch_dimension, 'f', c->input_feature_dimension,
            c->input_spatial_dimensions);
  put_char(w, 'x');
  conv_dims(w, 'i', c->kernel_input_feature_dimension, 'o', c->kernel_output_feature_dimension,
            c->kernel_spatial_dimensions);
  PUT(w, "->");
  conv_dims(w, 'b', c->output_batch_dimension, 'f', c->output_feature_dimension,
            c->output_spatial_dimensions);
  if (!plain) put_char(w, '>');
}

static void accuracy_field(printer *w, const char *name, i64 bits) {
  if (float_is_zero(FLOAT_f64, (u64)bits)) return;
  put(w, str_of(name));
  PUT(w, " = ");
  float_print(w->out, FLOAT_f64, (u64)bits);
  PUT(w, ", ");
}

static void body_accuracy(printer *w, const attr *a, bool plain) {
  const result_accuracy_attr *r = (const result_accuracy_attr *)a;
  (void)plain;
  put_char(w, '<');
  accuracy_field(w, "atol", r->atol_bits);
  accuracy_field(w, "rtol", r->rtol_bits);
  if (r->ulps) {
    PUT(w, "ulps = ");
    printer_i64(w, r->ulps);
    PUT(w, ", ");
  }
  PUT(w, "mode = ");
  printer_attr(w, r->mode, false);
  put_char(w, '>');
}

static void body_mode(printer *w, const attr *a, bool plain) {
  if (!plain) put_char(w, '<');
  put(w, attr_enum_name(a));
  if (!plain) put_char(w, '>');
}

static void body_bounds(printer *w, const attr *a, bool plain) {
  i64s b = ((const bounds_attr *)a)->bounds;
  (void)plain;
  put_char(w, '<');
  for (size_t i = 0; i < b.len; i++) {
    if (i) PUT(w, ", ");
    if (b.data[i] == DYNAMIC)
      put_char(w, '?');
    else
      printer_i64(w, b.data[i]);
  }
  put_char(w, '>');
}

/* ---- sdy ---- */

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

/* ---- by kind ---- */

typedef void body_fn(printer *w, const attr *a, bool plain);

static body_fn *const body_of[ATTR_COUNT] = {
    [ATTR_result_accuracy] = body_accuracy,
    [ATTR_result_accuracy_mode] = body_mode,
    [ATTR_channel_handle] = body_full,
    [ATTR_dot] = body_sparse,
    [ATTR_dot_algorithm] = body_full,
    [ATTR_gather_dims] = body_sparse,
    [ATTR_scatter_dims] = body_sparse,
    [ATTR_conv] = body_conv,
    [ATTR_output_operand_alias] = body_full,
    [ATTR_bounds] = body_bounds,
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
};

void printer_dialect_body(printer *w, const attr *a, bool plain) {
  if (body_of[a->id])
    body_of[a->id](w, a, plain);
  else if (attr_infos[a->id].cases)
    put(w, attr_enum_name(a));
  else
    printer_attr(w, a, false); /* something else than was expected here */
}

/* #dialect.mnemonic<...>; #dialect<mnemonic ...> where the body is not in angle brackets */
void printer_dialect_attr(printer *w, const attr *a) {
  str name = str_of(attr_infos[a->id].name);
  const char *dot = memchr(name.data, '.', name.len);
  size_t n = dot ? (size_t)(dot - name.data) : name.len;
  put_char(w, '#');
  put(w, (str){name.data, n});
  size_t at = w->out->len;
  put_char(w, '.');
  put(w, str_from(name, min_size(n + 1, name.len)));
  size_t body = w->out->len;
  printer_dialect_body(w, a, false);
  buf *b = w->out;
  if (b->failed || (b->len > body && b->data[body] == '<' && b->data[b->len - 1] == '>')) return;
  bool word = b->len > body && (char_is_alpha(b->data[body]) || b->data[body] == '_');
  b->data[at] = '<';
  if (word) {
    put_char(w, ' ');
    if (b->failed) return;
    memmove(b->data + body + 1, b->data + body, b->len - body - 1);
    b->data[body] = ' ';
  }
  put_char(w, '>');
}
