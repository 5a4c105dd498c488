/* Replica groups by the axes of a mesh: stablehlo's attributes, and VHLO's.
 *
 * The two have the same parts in different wrapping: stablehlo's flags are bytes and names are
 * strings of the file, VHLO's are numbers and attributes. Read by functions for each that meet in
 * three that check; written by one with the mode. */
#include "bytecode/writer.h"

static bool is_name(reader *r, const u8 *from, const attr *a, str *out) {
  return !r->failed && (attr_get_str(a, out) || fail_at(r, from, "expected a name"));
}

static const attr *axis_ref(reader *r, const u8 *from, str name, const attr *sub) {
  if (!r->failed && sub && !attr_is(hlo_sub_axis, sub)) fail_at(r, from, "expected a sub-axis");
  return r->failed ? NULL : attr_make(r->ctx, hlo_axis_ref, .name = name, .sub_axis_info = sub);
}

static const attr *mesh(reader *r, const u8 *from, const attr *axes, const attr *ids) {
  const array_attr *list = attr_as(array, axes);
  bool ok = list && (!ids || attr_is(dense, ids));
  for (size_t i = 0; ok && i < list->elems.len; i++)
    ok = attr_is(hlo_mesh_axis, list->elems.data[i]);
  if (!r->failed && !ok) fail_at(r, from, "expected the axes of a mesh");
  return r->failed ? NULL : attr_make(r->ctx, hlo_mesh, .axes = list->elems, .device_ids = ids);
}

/* VHLO writes the symbol of a mesh as a string. */
static const attr *groups(reader *r, const u8 *from, const attr *in, const attr *axes) {
  str name;
  if (!r->failed && attr_get_str(in, &name)) in = attr_symbol(r->ctx, name);
  if (!r->failed && ((!attr_is(symbol_ref, in) && !attr_is(hlo_mesh, in)) || !attr_is(array, axes)))
    fail_at(r, from, "expected a mesh and its axes");
  return r->failed ? NULL : attr_make(r->ctx, replica_group_mesh_axes, .mesh = in, .axes = axes);
}

/* ---- stablehlo ---- */

const attr *read_hlo_axis_ref(reader *r, cursor *c) {
  const u8 *from = c->at;
  str name = get_string(r, c);
  const attr *sub = get_byte(r, c) ? get_attr(r, c) : NULL;
  return axis_ref(r, from, name, sub);
}

const attr *read_hlo_mesh(reader *r, cursor *c) {
  const u8 *from = c->at;
  const attr *axes = get_attr(r, c), *ids = get_byte(r, c) ? get_attr(r, c) : NULL;
  return mesh(r, from, axes, ids);
}

const attr *read_hlo_groups(reader *r, cursor *c) {
  const u8 *from = c->at;
  const attr *in = get_attr(r, c);
  attrs axes = get_attrs(r, c);
  return groups(r, from, in, r->failed ? NULL : attr_array(r->ctx, axes));
}

/* ---- VHLO: names are attributes ---- */

const attr *read_vhlo_axis_ref(reader *r, cursor *c) {
  const u8 *from = c->at;
  str name = {"", 0};
  is_name(r, from, get_attr(r, c), &name);
  const attr *sub = get_uint(r, c) ? get_attr(r, c) : NULL;
  return axis_ref(r, from, name, sub);
}

const attr *read_vhlo_mesh(reader *r, cursor *c) {
  const u8 *from = c->at;
  const attr *axes = get_attr(r, c), *ids = get_attr_or_null(r, c);
  return mesh(r, from, axes, ids);
}

const attr *read_vhlo_groups(reader *r, cursor *c) {
  const u8 *from = c->at;
  const attr *in = get_attr(r, c), *axes = get_attr(r, c);
  return groups(r, from, in, axes);
}

/* ---- written ---- */

void put_hlo_axis_ref(writer *w, const attr *a, u64 code, wire_mode mode) {
  const hlo_axis_ref_attr *x = (const hlo_axis_ref_attr *)a;
  put_uint(w, code);
  if (mode == MODE_vhlo) {
    put_attr(w, attr_string(w->ctx, x->name), mode);
    put_uint(w, x->sub_axis_info != NULL);
  } else {
    put_uint(w, intern_string(w, x->name));
    put_byte(w, x->sub_axis_info != NULL);
  }
  if (x->sub_axis_info) put_attr(w, x->sub_axis_info, mode);
}

void put_hlo_mesh(writer *w, const attr *a, u64 code, wire_mode mode) {
  const hlo_mesh_attr *m = (const hlo_mesh_attr *)a;
  put_uint(w, code);
  put_attr(w, attr_array(w->ctx, m->axes), mode);
  if (mode == MODE_vhlo) {
    put_flagged(w, m->device_ids ? attr_number(w, m->device_ids, mode) : 0, m->device_ids != NULL);
    return;
  }
  put_byte(w, m->device_ids != NULL);
  if (m->device_ids) put_attr(w, m->device_ids, mode);
}

void put_hlo_groups(writer *w, const attr *a, u64 code, wire_mode mode) {
  const replica_group_mesh_axes_attr *g = (const replica_group_mesh_axes_attr *)a;
  const array_attr *axes = attr_as(array, g->axes);
  put_uint(w, code);
  put_attr(w, g->mesh, mode);
  if (mode == MODE_vhlo || !axes) {
    put_attr(w, g->axes, mode);
    return;
  }
  put_uint(w, axes->elems.len);
  for (size_t i = 0; i < axes->elems.len; i++) put_attr(w, axes->elems.data[i], mode);
}
