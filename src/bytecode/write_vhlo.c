/* Ops in VHLO: the rows of vhlo.def, the other way. */
#include "bytecode/vhlo.h"

/* By op id, for the target. func.return and stablehlo.return are one. */
static void fill_plans(writer *w) {
  w->plans = arena_zalloc(w->arena, OP_COUNT * sizeof *w->plans);
  for (size_t i = 0; i < vhlo_num_rows; i++) {
    const vhlo_row *row = &vhlo_rows[i];
    const op_info *info = op_info_find(str_of(row->target));
    if (!info || w->target < row->min || row->max < w->target) continue;
    vhlo_plan *p = ARENA_NEW(w->arena, vhlo_plan);
    p->row = row;
    p->name = str_of(row->name);
    for (; row->props[p->count].name; p->count++)
      p->places[p->count] = vhlo_place(info, row->props[p->count].name);
    w->plans[info->id] = p;
  }
  w->plans[OP_func_return] = w->plans[OP_return];
}

const vhlo_plan *vhlo_plan_of(writer *w, const op *o) {
  if (!w->target) return NULL;
  if (!w->plans) fill_plans(w);
  return op_kind(o) < OP_COUNT ? w->plans[op_kind(o)] : NULL;
}

/* ---- defaults ---- */

/* The number of spatial or window dimensions, which lists of ones and zeros have. */
static size_t num_windows(ir_ctx *c, const op *o) {
  i64s dims;
  for (u32 i = 0; i < o->info->num_slots; i++) {
    const conv_attr *conv = attr_as(conv, o->slots[i]);
    if (conv) return conv->input_spatial_dimensions.len;
  }
  return attr_get_i64s(c, op_attr(o, SLOT_NAME(window_dimensions)), &dims) ? dims.len : 0;
}

static const attr *ones(writer *w, const op *o) {
  i64 n = (i64)num_windows(w->ctx, o);
  i64 *list = ARENA_ARRAY(w->arena, i64, n);
  for (i64 i = 0; i < n; i++) list[i] = 1;
  return attr_dense_i64(w->ctx, (i64s){&n, 1}, list);
}

/* Of a convolution's window_reversal flags, else padding. */
static const attr *zeros(writer *w, const op *o, bool flags) {
  i64 dims[2] = {(i64)num_windows(w->ctx, o), 2};
  const type *elem = flags ? type_i1(w->ctx) : type_i64(w->ctx);
  const type *t = type_tensor(w->ctx, (i64s){dims, flags ? 1 : 2}, elem, NULL);
  return attr_dense(w->ctx, t, (str){"\0\0\0\0\0\0\0", dims[0] ? type_storage(elem) : 0},
                    dims[0] > 0, false);
}

static const attr *empty(writer *w, const op *o, int slot, const char *name) {
  static const i64 none = 0;
  const custom_call_api_version_attr *v =
      attr_as(custom_call_api_version, op_attr(o, SLOT_NAME(api_version)));
  if (strcmp(name, "backend_config") == 0)
    return v && v->value == 4 ? attr_dict(w->ctx, NULL, 0) : attr_string(w->ctx, STR(""));
  switch (slot < 0 ? SLOT_array : (int)o->info->slots[slot].kind) {
  case SLOT_str:
    return attr_string(w->ctx, STR(""));
  case SLOT_dict:
    return attr_dict(w->ctx, NULL, 0);
  case SLOT_array:
  case SLOT_dicts:
    return attr_array(w->ctx, (attrs){NULL, 0});
  default:
    return attr_dense_i64(w->ctx, (i64s){&none, 1}, &none);
  }
}

/* The attribute that an absent one stands for: VHLO spells out every default (vhlo.def). */
static const attr *otherwise(writer *w, const op *o, const wire_prop *p, int slot) {
  ir_ctx *c = w->ctx;
  const attr *precision[2];
  switch (p->otherwise) {
  case KEEP:
    return NULL;
  case ZERO:
    return attr_i64(c, 0);
  case MINUS1:
    return attr_i64(c, -1);
  case FALSE:
    return attr_bool(c, false);
  case BLANK:
    return attr_string(c, STR(""));
  case LAYOUTS:
    return attr_array(c, (attrs){NULL, 0});
  case EMPTY:
    return empty(w, o, slot, p->name);
  case ONES:
    return ones(w, o);
  case ZEROS:
    return zeros(w, o, strcmp(p->name, "window_reversal") == 0);
  case CASE0:
  case CASE1:
    return slot < 0 ? NULL
                    : attr_enum(c, (attr_id)o->info->slots[slot].attr_id, p->otherwise == CASE1);
  case CASES0:
    precision[0] = precision[1] = attr_enum(c, ATTR_precision, 0);
    return attr_array(c, (attrs){precision, 2});
  case ACCURACY:
    return attr_make(c, result_accuracy, .mode = attr_enum(c, ATTR_result_accuracy_mode, 0));
  }
  return NULL;
}

/* ---- values ---- */

/* A part of a struct; that of an absent algorithm is the type `none`. */
static const attr *part_value(writer *w, const attr *whole, const field_info *f) {
  if (!whole) return attr_type(w->ctx, type_none(w->ctx));
  const void *from = (const char *)whole + f->offset;
  switch (f->kind) {
  case FIELD_i64:
    return attr_i64(w->ctx, *(const i64 *)from);
  case FIELD_bool:
    return attr_bool(w->ctx, *(const bool *)from);
  case FIELD_type:
    return attr_type(w->ctx, *(const type *const *)from);
  case FIELD_i64s: {
    const i64s *list = from;
    i64 n = (i64)list->len;
    return attr_dense_i64(w->ctx, (i64s){&n, 1}, list->data);
  }
  default:
    return NULL;
  }
}

static const attr *prop_value(writer *w, const op *o, const wire_prop *p, prop where) {
  const attr *a = where.slot < 0 ? op_attr(o, str_of(p->name)) : o->slots[where.slot];
  if (where.field && (a || p->otherwise == KEEP)) return part_value(w, a, where.field);
  if (!a) return otherwise(w, o, p, where.slot);
  if (where.slot >= 0 && o->info->slots[where.slot].kind == SLOT_unit)
    return attr_bool(w->ctx, true);
  return a;
}

/* A part that the row does not have, as batching dimensions before 1.1, must say nothing. */
static bool part_is_empty(const attr *whole, const field_info *f) {
  const void *from = (const char *)whole + f->offset;
  return f->kind != FIELD_i64s || ((const i64s *)from)->len == 0;
}

static bool has_prop(const vhlo_plan *p, int slot, const field_info *f) {
  for (size_t i = 0; i < p->count; i++)
    if (p->places[i].slot == slot && (!f || !p->places[i].field || p->places[i].field == f))
      return true;
  return false;
}

/* What is in slots that the row lacks: func's are kept as discardable; StableHLO's are lost. */
static void check_rest(writer *w, const op *o, const vhlo_plan *p, named_attr *rest,
                       size_t *num_rest) {
  for (u32 i = 0; i < o->info->num_slots && !w->failed; i++) {
    const slot_info *s = &o->info->slots[i];
    const attr *a = o->slots[i];
    if (!a) continue;
    if (!has_prop(p, (int)i, NULL)) {
      if (str_starts(o->info->name, STR("func.")))
        rest[(*num_rest)++] = (named_attr){attr_string(w->ctx, str_of(s->name)), a};
      else if (!vhlo_is_default(p->row->target, s->name, a))
        cannot_write(w, "attribute '%s'", s->name);
      continue;
    }
    if (s->attr_id < 0 || attr_infos[s->attr_id].cases || a->id != s->attr_id) continue;
    for (const field_info *f = attr_infos[a->id].fields(); f->name; f++)
      if (!has_prop(p, (int)i, f) && !part_is_empty(a, f))
        cannot_write(w, "attribute '%s' of '%s'", f->name, s->name);
  }
}

void vhlo_values(writer *w, const op *o, const vhlo_plan *p, const attr **values, named_attr *rest,
                 size_t *num_rest) {
  for (size_t i = 0; i < p->count && !w->failed; i++) {
    values[i] = prop_value(w, o, &p->row->props[i], p->places[i]);
    if (!values[i]) lacks(w, p->row->props[i].name);
  }
  check_rest(w, o, p, rest, num_rest);
}

const char *vhlo_prop_name(const vhlo_plan *p, size_t i) { return p->row->props[i].name; }

bool bytecode_has_vhlo(op_id id) {
  for (size_t i = 0; i < vhlo_num_rows; i++)
    if (str_is(op_infos[id].name, vhlo_rows[i].target)) return true;
  return id == OP_func_return; /* one with stablehlo.return */
}
