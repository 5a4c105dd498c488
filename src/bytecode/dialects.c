/* The attributes of sdy, stablehlo and chlo in their own encodings.
 *
 * Rows by code: [code] = how it is read and written. Codes never change; what came later has a new
 * one, and the writer chooses the oldest that can say it, so that older readers understand most
 * files. Sources: SdyDialectBytecode (Shardy), StablehloBytecode.cpp, ChloBytecode.cpp
 * (StableHLO). */
#include "bytecode/writer.h"

/* ---- sdy ---- */

/* A sub-axis is an attribute of its own on the wire; here it is a part of the axis reference. */
static void read_sub_axis(reader *r, const u8 *from, u64 index, i64 *pre_size, i64 *size) {
  if (r->failed) return;
  if (index >= r->num_attrs || r->dialects[r->attrs[index].dialect].kind != DIALECT_sdy ||
      !r->attrs[index].custom) {
    fail_at(r, from, "expected a sub-axis");
    return;
  }
  cursor c = r->attrs[index].bytes;
  if (get_uint(r, &c) != 3) fail_at(r, from, "expected a sub-axis");
  *pre_size = get_int(r, &c);
  *size = get_int(r, &c);
  if (!r->failed && (c.at != c.end || !*size))
    fail_at(r, from, "expected a sub-axis whose size is not 0");
}

static const attr *read_axis_ref(reader *r, cursor *c) {
  str name = get_string(r, c);
  const u8 *from = c->at;
  u64 sub;
  i64 pre_size = 0, size = 0;
  if (get_flagged(r, c, &sub)) read_sub_axis(r, from, sub, &pre_size, &size);
  return r->failed ? NULL
                   : attr_make(r->ctx, axis_ref, .name = name, .pre_size = pre_size, .size = size);
}

static const attr *read_lone_sub_axis(reader *r, cursor *c) {
  return fail_at(r, c->at, "unexpected sub-axis outside of an axis reference"), NULL;
}

static const attr *check_sharding(reader *r, const u8 *from, tensor_sharding_attr *s) {
  if (!r->failed && !attr_is(symbol_ref, s->mesh) && !attr_is(mesh, s->mesh))
    fail_at(r, from, "expected a mesh or its name");
  return r->failed ? NULL : attr_unique(r->ctx, &s->base);
}

static attrs read_list(reader *r, cursor *c, attr_id id) {
  const u8 *from = c->at;
  attrs list = get_attrs(r, c);
  for (size_t i = 0; i < list.len && !r->failed; i++)
    if (list.data[i]->id != id) fail_at(r, from, "expected %s attributes", attr_infos[id].name);
  return list;
}

static tensor_sharding_attr read_sharding_start(reader *r, cursor *c) {
  tensor_sharding_attr s = {.base = {.id = ATTR_tensor_sharding}};
  s.mesh = get_attr(r, c);
  s.dims = read_list(r, c, ATTR_dim_sharding);
  s.replicated = read_list(r, c, ATTR_axis_ref);
  return s;
}

static const attr *read_sharding(reader *r, cursor *c) {
  const u8 *from = c->at;
  tensor_sharding_attr s = read_sharding_start(r, c);
  return check_sharding(r, from, &s);
}

static const attr *read_unreduced_sharding(reader *r, cursor *c) {
  const u8 *from = c->at;
  tensor_sharding_attr s = read_sharding_start(r, c);
  s.unreduced = read_list(r, c, ATTR_axis_ref);
  return check_sharding(r, from, &s);
}

static const attr *read_kind_sharding(reader *r, cursor *c) {
  const u8 *from = c->at;
  tensor_sharding_attr s = read_sharding_start(r, c);
  s.unreduced = read_list(r, c, ATTR_axis_ref);
  i64 kind = get_int(r, c);
  if (!r->failed && (kind < 0 || kind >= attr_infos[ATTR_reduction_op].num_cases))
    fail_at(r, from, "expected a reduction kind, found %lld", (long long)kind);
  if (!r->failed && kind) s.unreduced_kind = attr_enum(r->ctx, ATTR_reduction_op, kind);
  return check_sharding(r, from, &s);
}

/* ---- sdy, written ---- */

static void put_sub_axis(writer *w, const void *axis) {
  const axis_ref_attr *a = axis;
  put_uint(w, 3);
  put_int(w, a->pre_size);
  put_int(w, a->size);
}

static void put_axis_ref(writer *w, const attr *a, u64 code, wire_mode mode) {
  const axis_ref_attr *x = (const axis_ref_attr *)a;
  (void)mode;
  put_uint(w, code);
  put_uint(w, intern_string(w, x->name));
  put_flagged(w, x->size ? entry_number(w, STR("sdy"), put_sub_axis, x) : 0, x->size != 0);
}

static void put_list(writer *w, attrs list) {
  put_uint(w, list.len);
  for (size_t i = 0; i < list.len; i++) put_attr(w, list.data[i], MODE_native);
}

/* The oldest form that can say it. */
static void put_sharding(writer *w, const attr *a, u64 code, wire_mode mode) {
  const tensor_sharding_attr *s = (const tensor_sharding_attr *)a;
  bool kind = s->unreduced_kind && ((const reduction_op_attr *)s->unreduced_kind)->value;
  (void)mode;
  put_uint(w, kind ? 17 : s->unreduced.len ? 15 : code);
  put_attr(w, s->mesh, MODE_native);
  put_list(w, s->dims);
  put_list(w, s->replicated);
  if (kind || s->unreduced.len) put_list(w, s->unreduced);
  if (kind) put_int(w, ((const reduction_op_attr *)s->unreduced_kind)->value);
}

static void put_shardings(writer *w, const attr *a, u64 code, wire_mode mode) {
  const sharding_per_value_attr *s = (const sharding_per_value_attr *)a;
  bool unreduced = false;
  (void)mode;
  for (size_t i = 0; i < s->shardings.len; i++)
    unreduced |= ((const tensor_sharding_attr *)s->shardings.data[i])->unreduced.len > 0;
  put_uint(w, unreduced ? 16 : code);
  put_list(w, s->shardings);
}

static const attr_code sdy_attrs[] = {
    [0] = BY_FIELDS(manual_axes, {'A', WIRE(string)}),
    [1] = BY_FIELDS(mesh_axis, {'s', 0}, {'i', 0}),
    [2] = BY_FIELDS(mesh, {'A', WIRE(mesh_axis)}, {'I', 0}),
    [3] = BY_FN(read_lone_sub_axis),
    [4] = BOTH(read_axis_ref, axis_ref, put_axis_ref),
    [5] = BY_FIELDS(dim_sharding, {'A', WIRE(axis_ref)}, {'b', 0}, {'p', 0}),
    [6] = BOTH(read_sharding, tensor_sharding, put_sharding),
    [7] = {.put = put_shardings,
           .known = true,
           .id = ATTR_sharding_per_value,
           .fields = {{'A', WIRE(tensor_sharding)}}},
    [8] = BY_FIELDS(dim_mapping, {'I', 0}),
    [9] = BY_FIELDS(tensor_mapping, {'A', WIRE(dim_mapping)}),
    [10] = BY_FIELDS(op_sharding_rule, {'I', 0}, {'A', WIRE(tensor_mapping)},
                     {'A', WIRE(tensor_mapping)}, {'I', 0}, {'I', 0}, {'I', 0}, {'I', 0}, {'b', 0}),
    [11] = BY_FIELDS(axis_ref_list, {'A', WIRE(axis_ref)}),
    [12] = BY_FIELDS(axis_ref_lists, {'A', WIRE(axis_ref_list)}),
    [13] = BY_FIELDS(all_to_all_param, {'A', WIRE(axis_ref)}, {'i', 0}, {'i', 0}),
    [14] = BY_FIELDS(all_to_all_params, {'A', WIRE(all_to_all_param)}),
    [15] = BY_FN(read_unreduced_sharding),
    [16] = BY_FIELDS(sharding_per_value, {'A', WIRE(tensor_sharding)}),
    [17] = BY_FN(read_kind_sharding),
};

const codec codec_sdy = {sdy_attrs, NULL, COUNT(sdy_attrs)};

/* ---- stablehlo ---- */

static const attr_code stablehlo_attrs[] = {
    [1] = BY_FIELDS(channel_handle, {'i', 0}, {'i', 0}),
    [2] = BY_FIELDS(comparison_direction, {'e', 0}),
    [3] = BY_FIELDS(comparison_type, {'e', 0}),
    [4] = BY_FIELDS(conv, {'i', 0}, {'i', 0}, {'I', 0}, {'i', 0}, {'i', 0}, {'I', 0}, {'i', 0},
                    {'i', 0}, {'I', 0}),
    [5] = BY_FIELDS(dot, {'I', 0}, {'I', 0}, {'I', 0}, {'I', 0}),
    [6] = BY_FIELDS(fft_type, {'e', 0}),
    [7] = BY_FIELDS(gather_dims, {'I', 0}, {'I', 0}, {'I', 0}, {'I', 0}, {'I', 0}, {'i', 0}),
    [8] = BY_FIELDS(precision, {'e', 0}),
    [9] = BY_FIELDS(rng_algorithm, {'e', 0}),
    [10] = BY_FIELDS(rng_distribution, {'e', 0}),
    [11] = BY_FIELDS(scatter_dims, {'I', 0}, {'I', 0}, {'I', 0}, {'I', 0}, {'I', 0}, {'i', 0}),
    [12] = BY_FIELDS(transpose_kind, {'e', 0}),
    [13] = BY_FIELDS(bounds, {'I', 0}),
    [14] = BY_FIELDS(output_operand_alias, {'I', 0}, {'i', 0}, {'I', 0}),
    [15] = BY_FIELDS(dot_algorithm, {'t', 0}, {'t', 0}, {'t', 0}, {'i', 0}, {'i', 0}, {'i', 0},
                     {'b', 0}),
    [16] = BY_FIELDS(result_accuracy_mode, {'e', 0}),
    [17] =
        BY_FIELDS(result_accuracy, {'f', 0}, {'f', 0}, {'i', 0}, {'a', WIRE(result_accuracy_mode)}),
    [18] = BOTH(read_hlo_groups, replica_group_mesh_axes, put_hlo_groups),
    [19] = BY_FIELDS(hlo_sub_axis, {'i', 0}, {'i', 0}),
    [20] = BOTH(read_hlo_axis_ref, hlo_axis_ref, put_hlo_axis_ref),
    [21] = BY_FIELDS(hlo_mesh_axis, {'s', 0}, {'i', 0}),
    [22] = BOTH(read_hlo_mesh, hlo_mesh, put_hlo_mesh),
};

static const type *stablehlo_type(reader *r, cursor *c, u64 code) {
  if (code == 0) return type_token(r->ctx);
  return code == 1 ? read_future_type(r, c) : NULL;
}

const codec codec_stablehlo = {stablehlo_attrs, stablehlo_type, COUNT(stablehlo_attrs),
                               put_stablehlo_type};

/* ---- chlo ---- */

static const attr_code chlo_attrs[] = {
    [0] = BY_FIELDS(chlo_comparison_direction, {'e', 0}),
    [1] = BY_FIELDS(chlo_comparison_type, {'e', 0}),
};

const codec codec_chlo = {chlo_attrs, NULL, COUNT(chlo_attrs)};

/* ---- quant ---- */

const codec codec_quant = {NULL, read_quant_type, 0};
