/* Attributes of stablehlo and chlo as text; dialect_parse.c reads them.
 *
 * Most are structs of named fields, printed from the field tables of ir/attrs.def; the few with a
 * notation of their own (conv, bounds, meshes) have functions. What is left out, and when, follows
 * StablehloAttrs.td and the printers in StablehloOps.cpp. */
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
  case FIELD_str:
    printer_quoted(w, *(const str *)at);
    break;
  case FIELD_attr:
    if (attr_is(hlo_sub_axis, *(const attr *const *)at))
      printer_dialect_body(w, *(const attr *const *)at, true);
    else
      printer_attr(w, *(const attr *const *)at, false);
    break;
  default:
    break;
  }
}

/* What `sparse` structs leave out. Booleans are always said. */
static bool is_empty(const field_info *f, const void *at) {
  if (f->kind == FIELD_i64) return *(const i64 *)at == 0;
  if (f->kind == FIELD_attr) return !*(const attr *const *)at;
  return f->kind == FIELD_i64s && ((const i64s *)at)->len == 0;
}

/* <name = value, ...>; sparse: without fields that say nothing. */
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

/* [b, 0, f]x[0, i, o]->[b, 0, f] */
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

static void body_sub_axis(printer *w, const attr *a, bool plain) {
  const hlo_sub_axis_attr *x = (const hlo_sub_axis_attr *)a;
  (void)plain;
  put_char(w, '(');
  printer_i64(w, x->pre_size);
  put_char(w, ')');
  printer_i64(w, x->size);
}

static void body_mesh(printer *w, const attr *a, bool plain) {
  const hlo_mesh_attr *m = (const hlo_mesh_attr *)a;
  (void)plain;
  PUT(w, "<axes=[");
  for (size_t i = 0; i < m->axes.len; i++) {
    if (i) PUT(w, ", ");
    structure(w, m->axes.data[i], false);
  }
  put_char(w, ']');
  if (m->device_ids) {
    PUT(w, ", device_ids=");
    printer_attr(w, m->device_ids, false);
  }
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
    [ATTR_ragged_dot] = body_sparse,
    [ATTR_hlo_sub_axis] = body_sub_axis,
    [ATTR_hlo_axis_ref] = body_sparse,
    [ATTR_hlo_mesh_axis] = body_full,
    [ATTR_hlo_mesh] = body_mesh,
    [ATTR_replica_group_mesh_axes] = body_full,
};

void printer_dialect_body(printer *w, const attr *a, bool plain) {
  if (body_of[a->id])
    body_of[a->id](w, a, plain);
  else if (printer_sdy_body(w, a, plain))
    return;
  else if (attr_infos[a->id].cases)
    put(w, attr_enum_name(a));
  else
    printer_attr(w, a, false); /* something else than was expected here */
}

/* #dialect.mnemonic<...>; #dialect<mnemonic ...> where the body is not in angle brackets. Which it
 * is can only be told from the body, so it is printed first and the text in front changed
 * afterwards; w->held keeps the buffer from being drained meanwhile. */
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
  w->held++;
  printer_dialect_body(w, a, false);
  w->held--;
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
