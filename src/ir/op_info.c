/* The rows of ir/ops as tables, and the typed views of attributes.
 *
 * The rows are read several times with other macros: lists of operands, results and slots;
 * op_infos; one view_<op> each. Names that rows have not are kept in the context: ops of dialects
 * that nobody registered, and of foreign ones. */
#include "ir/ctx.h"

#define IN(...) __VA_ARGS__
#define OUT(...) __VA_ARGS__
#define ATTRS(...) __VA_ARGS__
#define T(name, ...) {#name, ONE, IS_##__VA_ARGS__},
#define Q(name, ...) {#name, MAYBE, IS_##__VA_ARGS__},
#define V(name, ...) {#name, MANY, IS_##__VA_ARGS__},
#define A(kind, field, need) {#field, SLOT_##kind, -1, need},
#define S(kind, field, need) {#field, SLOTA_##kind, ATTR_##kind, need},

/* the lists of each row, each with a last one that does not count */
#define OP(id_, name_, family_, traits_, in, att, out, regions_, form_, section_, meaning_)        \
  static const value_info ins_##id_[] = {in{NULL, ONE, IS_any}};                                   \
  static const value_info outs_##id_[] = {out{NULL, ONE, IS_any}};                                 \
  static const slot_info slots_##id_[] = {att{NULL, SLOT_any, -1, OPTIONAL}};
#include "ir/ops.def"

const op_info op_infos[OP_COUNT] = {
#define OP(id_, name_, family_, traits_, in, att, out, regions_, form_, section_, meaning_)        \
  [OP_##id_] = {.name = {name_, sizeof(name_) - 1},                                                \
                .id = OP_##id_,                                                                    \
                .family = FAMILY_##family_,                                                        \
                .traits = traits_,                                                                 \
                .num_slots = COUNT(slots_##id_) - 1,                                               \
                .num_operands = COUNT(ins_##id_) - 1,                                              \
                .num_results = COUNT(outs_##id_) - 1,                                              \
                .num_regions = regions_,                                                           \
                .slots = slots_##id_,                                                              \
                .operands = ins_##id_,                                                             \
                .results = outs_##id_,                                                             \
                .form = form_,                                                                     \
                .section = section_,                                                               \
                .meaning = meaning_},
#include "ir/ops.def"
};

#undef A
#undef S

/* Linear: length and last byte tell nearly all rows apart. Readers keep what they found. */
const op_info *op_info_find(str name) {
  for (int i = 0; i < OP_COUNT; i++)
    if (op_infos[i].name.len == name.len && name.len &&
        op_infos[i].name.data[name.len - 1] == name.data[name.len - 1] &&
        str_eq(op_infos[i].name, name))
      return &op_infos[i];
  return NULL;
}

static str dialect_of(str name) {
  const char *dot = name.len ? memchr(name.data, '.', name.len) : NULL;
  return (str){name.data, dot ? (size_t)(dot - name.data) : name.len};
}

bool op_dialect_known(str name) {
  str dialect = dialect_of(name);
  for (int i = 0; i < OP_COUNT; i++)
    if (str_eq(dialect_of(op_infos[i].name), dialect)) return true;
  return str_is(dialect, "llvm"); /* the peers' tools know it, and tests of theirs name an op */
}

static bool same_info(const void *entry, const void *key) {
  return str_eq(((const op_info *)entry)->name, *(const str *)key);
}

static size_t slot_of(const table *t, const void *entry, u64 hash) {
  size_t i = hash & (t->cap - 1);
  while (t->slots[i] != entry) i = (i + 1) & (t->cap - 1);
  return i;
}

/* One op_info a name, so that ops of one name share it and compare. Their properties are one
 * attribute in one slot without a name. */
const op_info *ir_op_info_unregistered(ir_ctx *c, str name) {
  static const slot_info properties = {"", SLOT_any, -1, OPTIONAL};
  size_t slot;
  u64 h = hash_bytes(name.data, name.len, 0);
  op_info *info = table_find(&c->infos, &c->arena, h, &name, same_info, &slot);
  if (info) return info;
  info = ARENA_NEW(&c->arena, op_info);
  *info = (op_info){.name = arena_str(&c->arena, name),
                    .id = OP_unregistered,
                    .family = FAMILY_own,
                    .num_slots = 1,
                    .num_regions = ANY_REGIONS,
                    .slots = &properties};
  table_put(&c->infos, slot, h, info);
  return info;
}

bool op_is_plain(const op *o) { return o->info->id == OP_unregistered && !o->info->hooks; }

/* What was read under the name before keeps its old info, which is why registering comes first. */
bool ir_op_info_register(ir_ctx *c, const op_info *info) {
  size_t slot;
  u64 h = hash_bytes(info->name.data, info->name.len, 0);
  op_info *old = table_find(&c->infos, &c->arena, h, &info->name, same_info, &slot);
  if (op_info_find(info->name) || (old && old->hooks)) return false;
  foreign_op *f = ARENA_NEW(&c->arena, foreign_op);
  if (old) /* an op without a row has been read under this name */
    c->infos.slots[slot_of(&c->infos, old, h)] = (void *)(uintptr_t)info;
  else
    table_put(&c->infos, slot, h, (void *)(uintptr_t)info);
  *f = (foreign_op){c->foreign, info};
  c->foreign = f;
  return true;
}

void ir_foreign_ops(const ir_ctx *c, void (*each)(void *user, const op_info *info), void *user) {
  for (const foreign_op *f = c->foreign; f; f = f->next) each(user, f->info);
}

const op_info *ir_op_info_find(ir_ctx *c, str name) {
  const op_info *row = op_info_find(name);
  if (row) return row;
  for (const foreign_op *f = c->foreign; f; f = f->next)
    if (str_eq(f->info->name, name)) return f->info;
  return NULL;
}

/* ---- decoding: get_<kind>(handle, out) ---- */

/* No checks of ranges or shapes here: those are the verifier's. A view fails only where the C type
 * could not hold what is there. */
static bool get_any(const attr *a, const attr **out) { return *out = a, true; }
static bool get_typed(const attr *a, const attr **out) { return get_any(a, out); }
static bool get_i64(const attr *a, i64 *out) { return attr_get_i64(a, out); }
static bool get_i32(const attr *a, i64 *out) { return attr_get_i64(a, out); }
static bool get_ui32(const attr *a, i64 *out) { return attr_get_i64(a, out); }
static bool get_f32(const attr *a, const attr **out) { return *out = a, attr_is(float, a); }
static bool get_bool(const attr *a, bool *out) { return attr_get_bool(a, out); }
static bool get_unit(const attr *a, bool *out) { return *out = true, attr_is(unit, a); }
static bool get_str(const attr *a, str *out) { return attr_get_str(a, out); }
static bool get_sym(const attr *a, str *out) { return attr_get_symbol(a, out); }
static bool get_function_type(const attr *a, const type **out) {
  const type_ref_attr *t = attr_as(type_ref, a);
  return t && (*out = t->type, true);
}
static const dense_array_attr *packed(const attr *a, u32 width) {
  const dense_array_attr *d = attr_as(dense_array, a);
  return d && d->elem->kind == TYPE_INT && d->elem->width == width ? d : NULL;
}
static bool get_i64s(const attr *a, i64s *out) {
  const dense_array_attr *d = packed(a, 64);
  return d && (*out = (i64s){(const i64 *)(const void *)d->data.data, d->data.len / 8}, true);
}
static bool get_bools(const attr *a, str *out) {
  const dense_array_attr *d = packed(a, 1);
  return d && (*out = d->data, true);
}
static bool get_elements(const attr *a, const dense_attr **out) {
  return *out = attr_as(dense, a), attr_is(dense, a) || attr_is(dense_resource, a) ||
                                       attr_is(dense_string, a) || attr_is(sparse, a);
}
static bool get_i64_elements(const attr *a, const dense_attr **out) {
  const dense_attr *d = attr_as(dense, a);
  return d && (*out = d, d->type->elem->kind == TYPE_INT && d->type->elem->width == 64);
}
static bool get_groups(const attr *a, const dense_attr **out) {
  const dense_attr *d = attr_as(dense, a);
  if (attr_is(replica_group_mesh_axes, a)) return *out = NULL, true;
  if (!d || d->type->kind != TYPE_TENSOR) return false;
  const type *e = d->type->elem;
  return *out = d, e->kind == TYPE_INT && e->width == 64;
}
static bool get_array(const attr *a, attrs *out) {
  const array_attr *l = attr_as(array, a);
  return l && (*out = l->elems, true);
}
static bool get_precisions(const attr *a, attrs *out) { return get_array(a, out); }
static bool get_dicts(const attr *a, attrs *out) { return get_array(a, out); }
static bool get_origins(const attr *a, attrs *out) { return get_array(a, out); }
static bool get_dict(const attr *a, const attr **out) { return *out = a, attr_is(dict, a); }

#define A(kind, field, need)                                                                       \
  if (slot[0]) {                                                                                   \
    if (!get_##kind(slot[0], &out->field)) return false;                                           \
    out->present |= bit;                                                                           \
  } else if ((need)&REQUIRED) {                                                                    \
    return false;                                                                                  \
  }                                                                                                \
  slot++, bit <<= 1;
#define S(kind, field, need)                                                                       \
  if (slot[0]) {                                                                                   \
    out->field = attr_as(kind, slot[0]);                                                           \
    if (!out->field) return false;                                                                 \
    out->present |= bit;                                                                           \
  } else if ((need)&REQUIRED) {                                                                    \
    return false;                                                                                  \
  }                                                                                                \
  slot++, bit <<= 1;
#define OP(id, name, family, traits, operands, attributes, ...)                                    \
  bool view_##id(const op *o, struct id##_attrs *out) {                                            \
    const attr *const *slot = o->slots;                                                            \
    u32 bit = 1;                                                                                   \
    *out = (struct id##_attrs){0};                                                                 \
    attributes(void) slot, (void)bit;                                                              \
    return true;                                                                                   \
  }
#include "ir/ops.def"
