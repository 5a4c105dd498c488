/* What VHLO's operations become: rows of vhlo.def, applied to the rows of ir/ops.
 *
 * A property of the wire is an attribute of the op by its name; or, where the op's row has no such
 * slot, a part of a slot that is a struct: VHLO spells out dot_dimension_numbers as four
 * attributes. */
#include <stdlib.h>

#include "bytecode/vhlo.h"

const vhlo_row vhlo_rows[] = {
#define P(name, otherwise) {#name, otherwise},
#define V(major, minor) WRITE_V(major, minor)
#define NOW V(1, 20)
#define VHLO(name, min, max, target, props) {name, min, max, target, {props{NULL, KEEP}}},
#include "bytecode/vhlo.def"
#undef P
#undef V
#undef NOW
};
const size_t vhlo_num_rows = COUNT(vhlo_rows);

static int by_name(const void *key, const void *row) {
  return str_cmp(*(const str *)key, str_of(((const vhlo_row *)row)->name));
}

/* The rows are sorted by name. */
const vhlo_row *vhlo_find(str name) {
  return bsearch(&name, vhlo_rows, COUNT(vhlo_rows), sizeof *vhlo_rows, by_name);
}

/* ---- where the properties go ---- */

static const field_info *field_named(const slot_info *s, const char *name) {
  if (s->attr_id < 0 || attr_infos[s->attr_id].cases) return NULL;
  for (const field_info *f = attr_infos[s->attr_id].fields(); f->name; f++)
    if (strcmp(f->name, name) == 0) return f;
  return NULL;
}

/* The channel is the one part that goes by another name. */
static const char *part_name(const char *name) {
  if (strcmp(name, "channel_id") == 0) return "handle";
  return strcmp(name, "channel_type") == 0 ? "type" : name;
}

prop vhlo_place(const op_info *info, const char *name) {
  int slot = op_slot(info, str_of(name));
  if (slot >= 0) return (prop){slot, NULL};
  for (u32 i = 0; i < info->num_slots; i++) {
    const field_info *f = field_named(&info->slots[i], part_name(name));
    if (f) return (prop){(int)i, f};
  }
  return (prop){-1, NULL};
}

void vhlo_resolve(reader *r, op_name *name) {
  str target = str_of(name->vhlo->target);
  name->info = op_info_find(target);
  if (!name->info) name->info = ir_op_info_unregistered(r->ctx, target);
  name->props = arena_zalloc(r->arena, MAX_PROPS * sizeof *name->props);
  for (size_t i = 0; name->vhlo->props[i].name; i++)
    name->props[i] = vhlo_place(name->info, name->vhlo->props[i].name);
}

/* ---- defaults ---- */

static bool is_int(const attr *a, i64 v) {
  i64 n;
  return attr_get_i64(a, &n) && n == v;
}

static bool is_case(const attr *a, i64 v) {
  return a && attr_infos[a->id].cases && ((const precision_attr *)a)->value == v;
}

static bool is_empty(const attr *a) {
  const string_attr *s = attr_as(string, a);
  const array_attr *l = attr_as(array, a);
  const dict_attr *d = attr_as(dict, a);
  const dense_attr *e = attr_as(dense, a);
  return (s && !s->value.len) || (l && !l->elems.len) || (d && !d->names.len) ||
         (e && !e->data.len);
}

static bool is_splat(const attr *a, i64 v) {
  const dense_attr *e = attr_as(dense, a);
  return e && e->splat && e->type->elem->kind == TYPE_INT && attr_dense_int(a, 0) == v;
}

static bool all_case0(const attr *a) {
  const array_attr *l = attr_as(array, a);
  for (size_t i = 0; l && i < l->elems.len; i++)
    if (!is_case(l->elems.data[i], 0)) return false;
  return l != NULL;
}

static bool is_default_accuracy(const attr *a) {
  const result_accuracy_attr *x = attr_as(result_accuracy, a);
  return x && !(x->atol_bits & INT64_MAX) && !(x->rtol_bits & INT64_MAX) && !x->ulps &&
         is_case(x->mode, 0);
}

/* What a property holds where StableHLO's op has none, by the word in vhlo.def. */
static bool is_default(wire_default d, const attr *a) {
  switch (d) {
  case KEEP:
  case BLANK:
    return false;
  case ZERO:
  case FALSE:
    return is_int(a, 0);
  case MINUS1:
    return is_int(a, -1);
  case LAYOUTS:
  case EMPTY:
    return is_empty(a);
  case ONES:
    return is_splat(a, 1);
  case ZEROS:
    return is_splat(a, 0);
  case CASE0:
    return is_case(a, 0);
  case CASE1:
    return is_case(a, 1);
  case CASES0:
    return all_case0(a);
  case ACCURACY:
    return is_default_accuracy(a);
  }
  return false;
}

bool vhlo_is_default(const char *op_name, const char *prop_name, const attr *a) {
  for (size_t i = vhlo_num_rows; i-- > 0;)
    for (const wire_prop *p = vhlo_rows[i].props; p->name; p++)
      if (!strcmp(vhlo_rows[i].target, op_name) && !strcmp(p->name, prop_name))
        return is_default(p->otherwise, a);
  return false;
}

/* Layouts of operands and results are there together or not at all. */
static void drop_layouts(const vhlo_row *row, const attr **values) {
  size_t at[2], n = 0;
  for (size_t i = 0; row->props[i].name; i++)
    if (row->props[i].otherwise == LAYOUTS && n < 2) at[n++] = i;
  if (n < 2 || !is_empty(values[at[0]]) || !is_empty(values[at[1]])) return;
  values[at[0]] = values[at[1]] = NULL;
}

/* ---- values in the form of their slots ---- */

enum { MAX_INTS = 4096 }; /* no list of dimensions is longer */

/* Valid until the next call but MAX_LISTS. */
enum { MAX_LISTS = 8 };
static bool dense_ints(reader *r, const attr *a, i64s *out) {
  const dense_attr *e = attr_as(dense, a);
  i64 n;
  if (!e || e->type->kind != TYPE_TENSOR || e->type->elem->kind != TYPE_INT ||
      !type_num_elements(e->type, &n) || n > MAX_INTS)
    return false;
  r->next_list = (r->next_list + 1) % MAX_LISTS;
  i64 **list = &r->lists[r->next_list];
  if (!*list) *list = ARENA_ARRAY(r->arena, i64, MAX_INTS);
  for (i64 i = 0; i < n; i++) (*list)[i] = attr_dense_int(a, (size_t)i);
  *out = (i64s){*list, (size_t)n};
  return true;
}

static const attr *bool_array(reader *r, const attr *a) {
  const dense_attr *e = attr_as(dense, a);
  i64 n;
  if (!e || e->type->elem != type_i1(r->ctx) || !type_num_elements(e->type, &n) || n > MAX_INTS)
    return NULL;
  char data[MAX_INTS];
  for (i64 i = 0; i < n; i++) data[i] = (char)attr_dense_int(a, (size_t)i);
  return attr_make(r->ctx, dense_array, .elem = e->type->elem, .data = {data, (size_t)n});
}

static const attr *as_symbol(reader *r, const attr *a) {
  str s;
  return attr_get_str(a, &s) ? attr_symbol(r->ctx, s) : NULL;
}

static const attr *symbols(reader *r, const attr *a) {
  const array_attr *l = attr_as(array, a);
  if (!l) return NULL;
  const attr **list = ARENA_ARRAY(r->arena, const attr *, l->elems.len);
  for (size_t i = 0; i < l->elems.len; i++)
    if (!(list[i] = as_symbol(r, l->elems.data[i]))) return NULL;
  return attr_array(r->ctx, (attrs){list, l->elems.len});
}

/* The form that a slot of this kind has in StableHLO; NULL: it has another value. */
static const attr *slot_form(reader *r, const slot_info *s, const attr *a) {
  i64s ints;
  switch ((int)s->kind) {
  case SLOT_i64s:
    return dense_ints(r, a, &ints) ? attr_i64_array(r->ctx, ints) : NULL;
  case SLOT_bools:
    return bool_array(r, a);
  case SLOT_sym:
    return as_symbol(r, a);
  case SLOT_array:
    return strcmp(s->name, "called_computations") ? a : symbols(r, a);
  default:
    return a;
  }
}

static bool set_slot(reader *r, op *o, int slot, const attr *a) {
  const slot_info *s = &o->info->slots[slot];
  bool flag;
  if (s->kind == SLOT_unit) {
    if (!attr_get_bool(a, &flag)) return false;
    o->slots[slot] = flag ? attr_unit(r->ctx) : NULL;
    return true;
  }
  const attr *v = slot_form(r, s, a);
  if (v) o->slots[slot] = v;
  return v != NULL;
}

/* ---- slots of several parts ---- */

enum { MAX_STRUCTS = 2, MAX_STRUCT_SIZE = 256 };
typedef struct parts {
  int slot; /* -1: unused */
  bool absent;
  _Alignas(16) char proto[MAX_STRUCT_SIZE];
} parts;
#define ATTR(id, ...) _Static_assert(sizeof(id##_attr) <= MAX_STRUCT_SIZE, #id);
#define ENUM(id, ...)
#include "ir/attrs.def"

static parts *parts_of(parts *list, const op_info *info, int slot) {
  for (int i = 0; i < MAX_STRUCTS; i++) {
    if (list[i].slot == slot) return &list[i];
    if (list[i].slot >= 0) continue;
    list[i].slot = slot;
    list[i].absent = false;
    memset(list[i].proto, 0, sizeof list[i].proto);
    ((attr *)(void *)list[i].proto)->id = (u16)info->slots[slot].attr_id;
    return &list[i];
  }
  return NULL;
}

/* `none` in any part says that the whole is absent (the algorithm of a dot). */
static bool set_part(reader *r, parts *p, const field_info *f, const attr *a) {
  void *to = p->proto + f->offset;
  const type_ref_attr *t = attr_as(type_ref, a);
  if (t && t->type->kind == TYPE_NONE) return p->absent = true;
  switch (f->kind) {
  case FIELD_i64:
    return attr_get_i64(a, to);
  case FIELD_bool:
    return attr_get_bool(a, to);
  case FIELD_i64s:
    return dense_ints(r, a, to);
  case FIELD_type:
    return t && (*(const type **)to = t->type, true);
  default:
    return false;
  }
}

/* ---- an op ---- */

static bool set_prop(reader *r, op *o, prop where, const char *name, const attr *a, parts *list) {
  if (where.slot < 0) return op_set_attr(r->module, o, str_of(name), a), true;
  if (!where.field) return set_slot(r, o, where.slot, a);
  parts *p = parts_of(list, o->info, where.slot);
  return p && set_part(r, p, where.field, a);
}

/* values: in the order of the row, NULL where absent; changed */
static void set_props(reader *r, const u8 *from, const op_name *name, const attr **values, op *o) {
  const vhlo_row *row = name->vhlo;
  parts list[MAX_STRUCTS];
  for (int i = 0; i < MAX_STRUCTS; i++) list[i].slot = -1;
  drop_layouts(row, values);
  for (size_t i = 0; row->props[i].name; i++) {
    wire_default d = row->props[i].otherwise;
    if (!values[i] || (d != LAYOUTS && is_default(d, values[i]))) continue;
    if (!set_prop(r, o, name->props[i], row->props[i].name, values[i], list)) {
      fail_at(r, from, "expected a value for attribute '%s' of vhlo.%s, found %s",
              row->props[i].name, row->name, attr_infos[values[i]->id].name);
      return;
    }
  }
  for (int i = 0; i < MAX_STRUCTS; i++)
    if (list[i].slot >= 0 && !list[i].absent)
      o->slots[list[i].slot] = attr_unique(r->ctx, (const attr *)(void *)list[i].proto);
}

void vhlo_properties(reader *r, cursor *c, const op_name *name, op *o) {
  const attr *values[MAX_PROPS];
  const u8 *from = c->at;
  for (size_t i = 0; name->vhlo->props[i].name; i++) values[i] = get_attr(r, c);
  if (!r->failed) set_props(r, from, name, values, o);
}

void vhlo_attributes(reader *r, const u8 *from, const op_name *name, const attr *dict, op *o) {
  const dict_attr *d = attributes_of_op(r, from, dict);
  const attr *values[MAX_PROPS] = {NULL};
  if (!d) return;
  for (size_t i = 0; i < d->names.len; i++) {
    str key = ((const string_attr *)d->names.data[i])->value;
    size_t k = 0;
    while (name->vhlo->props[k].name && !str_is(key, name->vhlo->props[k].name)) k++;
    if (name->vhlo->props[k].name)
      values[k] = d->values.data[i];
    else
      op_set_attr(r->module, o, key, d->values.data[i]);
  }
  set_props(r, from, name, values, o);
}
