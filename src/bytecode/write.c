/* The file: the ops, then the sections around what they refer to.
 *
 * The ops are written first, into a rope, which fills the tables; then the sections in the order of
 * their ids. Op numbers, value numbers and block numbers are the scratch fields of the IR. For a
 * target, ops of stablehlo and func become VHLO's, and where a value crosses between them and
 * others a cast stands behind its definition (value_place). Sections that may be absent are, where
 * they would be empty. */
#include <stdlib.h>

#include "bytecode/bytecode.h"
#include "bytecode/sections.h"
#include "bytecode/writer.h"

/* ---- values ---- */

/* Values are numbered within the innermost isolated op: first those of a region, then those of
 * the regions inside. Where ops of VHLO meet others, a value has its own form and, behind a cast
 * after its definition, the other. */
typedef struct value_place {
  u32 number, other; /* other: of the cast's result */
  bool vhlo;         /* its own form */
  bool needs_cast;
} value_place;

typedef struct body {
  writer *w;
  value_place *places; /* by value.num */
  bool mixed;
} body;

static bool is_vhlo(const op *o) {
  return str_starts(o->info->name, STR("stablehlo.")) || str_starts(o->info->name, STR("func."));
}

static bool op_in_vhlo(const body *b, const op *o) { return b->w->target && is_vhlo(o); }

/* First pass: which form each value is defined in; the second (mark_casts): which are used in the
 * other one as well. */
static walk_result mark_results(void *user, op *o) {
  body *b = user;
  bool vhlo = op_in_vhlo(b, o);
  for (u32 i = 0; i < o->num_results; i++) b->places[op_result(o, i)->num].vhlo = vhlo;
  for (u32 r = 0; r < o->num_regions; r++)
    for (block *k = o->regions[r].first; k; k = k->next)
      for (u32 i = 0; i < k->num_args; i++) b->places[k->args[i]->num].vhlo = vhlo;
  return WALK_ON;
}

static walk_result mark_casts(void *user, op *o) {
  body *b = user;
  bool vhlo = op_in_vhlo(b, o);
  for (u32 i = 0; i < o->num_operands; i++) {
    value_place *p = &b->places[op_operand(o, i)->num];
    p->needs_cast |= p->vhlo != vhlo;
  }
  return WALK_ON;
}

static u32 number_value(body *b, const value *v, u32 next) {
  b->places[v->num].number = next;
  return next + 1;
}

static u32 number_cast(body *b, const value *v, u32 next) {
  value_place *p = &b->places[v->num];
  if (!p->needs_cast) return next;
  p->other = next;
  return next + 1;
}

/* The values of a region itself; returns the number after the last. */
static u32 number_region(body *b, const region *r, u32 next) {
  for (const block *k = r->first; k; k = k->next) {
    for (u32 i = 0; i < k->num_args; i++) next = number_value(b, k->args[i], next);
    for (u32 i = 0; i < k->num_args; i++) next = number_cast(b, k->args[i], next);
    for (const op *o = k->first; o; o = o->next) {
      for (u32 i = 0; i < o->num_results; i++) next = number_value(b, op_result(o, i), next);
      for (u32 i = 0; i < o->num_results; i++) next = number_cast(b, op_result(o, i), next);
    }
  }
  return next;
}

/* ---- names ---- */

/* Ops are numbered as they are met; names of one dialect that follow each other share a group. */
static u32 op_name_number(writer *w, str dialect, str name, bool registered) {
  u32 tag = intern_dialect(w, dialect) << 1 | registered;
  return intern_bytes(w, &w->ops, name, tag, NULL);
}

static u32 native_name(writer *w, const op *o) {
  str n = o->info->name;
  const char *dot = memchr(n.data, '.', n.len);
  str dialect = {n.data, dot ? (size_t)(dot - n.data) : n.len};
  str name = dot ? str_from(n, dialect.len + 1) : (str){"", 0};
  return op_name_number(w, dialect, name, op_kind(o) < OP_COUNT);
}

/* ---- uses ---- */

typedef struct use_place {
  u64 id;
  u32 at;
} use_place;

static int by_descending_id(const void *a, const void *b) {
  u64 x = ((const use_place *)a)->id, y = ((const use_place *)b)->id;
  return (x < y) - (x > y);
}

/* Later uses have larger ids: the op's number in the file, then the operand's. */
static u64 use_id(const use *u) { return (u64)u->owner->num << 32 | (u64)(u - u->owner->operands); }

/* Readers make lists of uses with the last use first; another order is written down. */
static bool is_natural(const value *v) {
  for (const use *u = v->uses; u && u->next; u = u->next)
    if (use_id(u) < use_id(u->next)) return false;
  return true;
}

/* As a permutation: for the uses sorted as a reader has them, where each is in our list. */
static void write_order(body *b, rope *out, const value *v) {
  VEC(use_place) list = {0};
  arena *a = b->w->arena;
  for (const use *u = v->uses; u; u = u->next) {
    use_place here = {use_id(u), (u32)list.len};
    VEC_PUSH(a, list, here);
  }
  qsort(list.data, list.len, sizeof *list.data, by_descending_id);
  rope_uint(out, (u64)list.len << 1);
  for (size_t i = 0; i < list.len; i++) rope_uint(out, list.data[i].at);
}

/* Of n values in a row, whose uses are in another order: how many. */
static size_t count_orders(const body *b, value *const *values, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i < n && !b->mixed; i++) count += !is_natural(values[i]);
  return count;
}

static void write_orders(body *b, rope *out, value *const *values, size_t n, size_t count) {
  if (n != 1) rope_uint(out, count);
  for (size_t i = 0; i < n; i++) {
    if (is_natural(values[i])) continue;
    if (n != 1) rope_uint(out, i);
    write_order(b, out, values[i]);
  }
}

/* ---- an op ---- */

static void write_region(body *b, rope *out, const region *r, u32 *next);

/* Properties are entries of their own section, shared by ops that have the same. */
static u32 properties_number(writer *w, size_t begin) {
  str bytes = {(const char *)w->stack.data + begin, w->stack.len - begin};
  u32 n = intern_bytes(w, &w->props, bytes, 0, NULL);
  w->stack.len = begin;
  return n;
}

static int by_slot_name(const void *a, const void *b) {
  return strcmp((*(const slot_info *const *)a)->name, (*(const slot_info *const *)b)->name);
}

enum { MAX_SLOTS = 32 };
static void put_segments(writer *w, const attr *a) {
  const dense_array_attr *list = attr_as(dense_array, a);
  i32 v;
  if (!list || list->elem != type_i32(w->ctx) || list->data.len > MAX_SEGMENTS * sizeof v) {
    cannot_write(w, "sizes of segments that are no list of i32");
    return;
  }
  put_flagged(w, list->data.len / sizeof v, false);
  for (size_t i = 0; i < list->data.len; i += sizeof v) {
    memcpy(&v, list->data.data + i, sizeof v);
    put_uint(w, (u64)(u32)v);
  }
}

/* Attributes that jaxlib's version of the op does not know: not even that they are absent is said.
 */
static bool is_new(const op *o, const slot_info *s) {
  return op_is(o, chlo_top_k) && strcmp(s->name, "is_stable") == 0;
}

/* Inherent attributes, in the order of their names: of a native op. */
static u32 native_properties(writer *w, const op *o) {
  const slot_info *sorted[MAX_SLOTS];
  size_t begin = w->stack.len, n = o->info->num_slots;
  if (n > MAX_SLOTS) return cannot_write(w, "an op with %zu attributes", n);
  for (size_t i = 0; i < n; i++) sorted[i] = &o->info->slots[i];
  qsort(sorted, n, sizeof *sorted, by_slot_name);
  for (size_t i = 0; i < n; i++) {
    const attr *a = o->slots[sorted[i] - o->info->slots];
    if (!a && is_new(o, sorted[i])) continue;
    if (w->format >= VERSION_SEGMENTS && is_segments(sorted[i])) continue;
    u32 number = a ? attr_number(w, native_slot_value(w->ctx, a), MODE_native) : 0;
    if (!(sorted[i]->need & REQUIRED))
      put_flagged(w, number, a != NULL);
    else if (a)
      put_uint(w, number);
    else
      return lacks(w, sorted[i]->name);
  }
  for (size_t i = 0; i < n && w->format >= VERSION_SEGMENTS; i++)
    if (is_segments(sorted[i])) put_segments(w, o->slots[sorted[i] - o->info->slots]);
  return properties_number(w, begin);
}

/* What is to say of an op's attributes. */
typedef struct op_attrs {
  bool has_dict, has_props;
  u32 dict, props;
} op_attrs;

/* Before format 5 inherent attributes are in the dictionary. */
static void finish_attrs(writer *w, op_attrs *out, const named_attr *list, size_t n,
                         wire_mode mode) {
  out->has_dict = n > 0;
  if (n) out->dict = dict_number(w, list, n, mode);
}

static op_attrs native_attrs(writer *w, const op *o) {
  op_attrs out = {0};
  size_t n = 0;
  named_attr *list = ARENA_ARRAY(w->arena, named_attr, o->num_attrs + o->info->num_slots);
  for (u32 i = 0; i < o->num_attrs; i++) list[n++] = o->attrs[i];
  if (w->format >= VERSION_PROPERTIES && op_kind(o) < OP_COUNT) {
    out.has_props = o->info->num_slots > 0;
    if (out.has_props) out.props = native_properties(w, o);
  } else if (op_is_plain(o)) {
    size_t begin = w->stack.len;
    out.has_props = o->slots[0] != NULL;
    if (out.has_props && w->format < VERSION_PROPERTIES)
      cannot_write(w, "properties in version %d of the encoding", w->format);
    if (out.has_props) put_attr(w, o->slots[0], MODE_native);
    if (out.has_props) out.props = properties_number(w, begin);
  } else {
    for (u32 i = 0; i < o->info->num_slots; i++)
      if (o->slots[i])
        list[n++] = (named_attr){attr_string(w->ctx, str_of(o->info->slots[i].name)),
                                 native_slot_value(w->ctx, o->slots[i])};
  }
  finish_attrs(w, &out, list, n, MODE_native);
  return out;
}

static op_attrs vhlo_attrs(writer *w, const op *o, const vhlo_plan *p) {
  op_attrs out = {0};
  const attr *values[MAX_PROPS];
  size_t n = 0, begin = w->stack.len;
  named_attr *list =
      ARENA_ARRAY(w->arena, named_attr, o->num_attrs + o->info->num_slots + p->count);
  for (u32 i = 0; i < o->num_attrs; i++) list[n++] = o->attrs[i];
  vhlo_values(w, o, p, values, list, &n);
  if (w->failed) return out;
  if (w->format >= VERSION_PROPERTIES) {
    out.has_props = p->count > 0;
    for (size_t i = 0; i < p->count; i++) put_attr(w, values[i], MODE_vhlo);
    if (out.has_props) out.props = properties_number(w, begin);
  } else {
    for (size_t i = 0; i < p->count; i++)
      list[n++] = (named_attr){attr_string(w->ctx, str_of(vhlo_prop_name(p, i))), values[i]};
  }
  finish_attrs(w, &out, list, n, MODE_vhlo);
  return out;
}

/* Behind the definition of a value that is used in the other form. The reader takes casts between
 * equal types away. */
static void write_cast(body *b, rope *out, const value *v, const attr *loc) {
  writer *w = b->w;
  const value_place *p = &b->places[v->num];
  if (!p->needs_cast) return;
  rope_uint(out, op_name_number(w, STR("builtin"), STR("unrealized_conversion_cast"), true));
  rope_bytes(out, &(u8){HAS_RESULTS | HAS_OPERANDS}, 1);
  rope_uint(out, attr_number(w, loc, MODE_native));
  rope_uint(out, 1);
  rope_uint(out, type_number(w, v->type, p->vhlo ? MODE_native : MODE_vhlo));
  rope_uint(out, 1);
  rope_uint(out, p->number);
}

static void write_operands(body *b, rope *out, const op *o, bool vhlo) {
  rope_uint(out, o->num_operands);
  for (u32 i = 0; i < o->num_operands; i++) {
    const value_place *p = &b->places[op_operand(o, i)->num];
    rope_uint(out, p->vhlo == vhlo ? p->number : p->other);
  }
}

static value **results_of(writer *w, const op *o) {
  value **list = ARENA_ARRAY(w->arena, value *, o->num_results);
  for (u32 i = 0; i < o->num_results; i++) list[i] = op_result(o, i);
  return list;
}

static void write_regions(body *b, rope *out, const op *o, u32 next) {
  bool isolated = op_has(o, ISOLATED);
  rope_uint(out, (u64)o->num_regions << 1 | isolated);
  for (u32 i = 0; i < o->num_regions; i++) {
    u32 first = isolated ? 0 : next;
    if (!isolated || b->w->format < VERSION_SECTIONS) {
      write_region(b, out, &o->regions[i], &first);
      continue;
    }
    rope inner = {.arena = b->w->arena};
    write_region(b, &inner, &o->regions[i], &first);
    rope_section(out, SECTION_ir, &inner);
  }
}

static op_attrs attrs_of(writer *w, const op *o, const vhlo_plan *p, u32 *name) {
  *name = p ? op_name_number(w, STR("vhlo"), p->name, true) : native_name(w, o);
  return p ? vhlo_attrs(w, o, p) : native_attrs(w, o);
}

/* next: the number of the first value inside, if the op's regions see those around it */
static void write_op(body *b, rope *out, const op *o, u32 next) {
  writer *w = b->w;
  const vhlo_plan *plan = vhlo_plan_of(w, o);
  bool vhlo = op_in_vhlo(b, o);
  u32 name;
  w->at = o;
  if ((!plan && vhlo) || (w->strict && !vhlo && !op_is(o, module))) {
    w->failed = true;
    op_error(w->ctx, o, "cannot be expressed in StableHLO " STR_FMT, STR_ARG(w->target_text));
    return;
  }
  op_attrs a = attrs_of(w, o, plan, &name);
  value **results = results_of(w, o);
  size_t orders = w->format >= VERSION_USES ? count_orders(b, results, o->num_results) : 0;
  u8 mask = (u8)((a.has_dict ? HAS_ATTRS : 0) | (a.has_props ? HAS_PROPERTIES : 0) |
                 (o->num_results ? HAS_RESULTS : 0) | (o->num_operands ? HAS_OPERANDS : 0) |
                 (o->num_successors ? HAS_SUCCESSORS : 0) | (o->num_regions ? HAS_REGIONS : 0) |
                 (orders ? HAS_USES : 0));
  rope_uint(out, name);
  rope_bytes(out, &mask, 1);
  rope_uint(out, attr_number(w, o->loc, MODE_native));
  if (a.has_dict) rope_uint(out, a.dict);
  if (a.has_props) rope_uint(out, a.props);
  if (o->num_results) rope_uint(out, o->num_results);
  for (u32 i = 0; i < o->num_results; i++)
    rope_uint(out, type_number(w, results[i]->type, vhlo ? MODE_vhlo : MODE_native));
  if (o->num_operands) write_operands(b, out, o, vhlo);
  if (o->num_successors) rope_uint(out, o->num_successors);
  for (u32 i = 0; i < o->num_successors; i++) rope_uint(out, o->successors[i]->num);
  if (orders) write_orders(b, out, results, o->num_results, orders);
  if (o->num_regions) write_regions(b, out, o, next);
  for (u32 i = 0; i < o->num_results; i++) write_cast(b, out, results[i], o->loc);
}

/* ---- blocks and regions ---- */

static void write_args(body *b, rope *out, const block *k) {
  writer *w = b->w;
  bool vhlo = block_op(k) && op_in_vhlo(b, block_op(k));
  rope_uint(out, k->num_args);
  for (u32 i = 0; i < k->num_args; i++) {
    const attr *loc = block_arg_loc(k, i);
    u32 t = type_number(w, k->args[i]->type, vhlo ? MODE_vhlo : MODE_native);
    bool known = loc && !attr_is(loc_unknown, loc);
    if (w->format >= VERSION_ARG_LOCS) {
      rope_uint(out, (u64)t << 1 | known);
    } else {
      rope_uint(out, t);
      known = true;
    }
    if (known) rope_uint(out, attr_number(w, loc ? loc : loc_unknown(w->ctx), MODE_native));
  }
  if (w->format < VERSION_USES) return;
  size_t orders = count_orders(b, k->args, k->num_args);
  rope_bytes(out, &(u8){orders ? 1 : 0}, 1);
  if (orders) write_orders(b, out, k->args, k->num_args, orders);
}

static void write_block(body *b, rope *out, const block *k, u32 next) {
  u64 count = 0;
  for (const op *o = k->first; o; o = o->next) {
    count++;
    for (u32 i = 0; i < o->num_results; i++) count += b->places[op_result(o, i)->num].needs_cast;
  }
  for (u32 i = 0; i < k->num_args; i++) count += b->places[k->args[i]->num].needs_cast;
  rope_uint(out, count << 1 | (k->num_args > 0));
  if (k->num_args) write_args(b, out, k);
  for (u32 i = 0; i < k->num_args; i++)
    write_cast(b, out, k->args[i],
               block_arg_loc(k, i) ? block_arg_loc(k, i) : loc_unknown(b->w->ctx));
  for (const op *o = k->first; o && !b->w->failed; o = o->next) write_op(b, out, o, next);
}

enum { MAX_WRITE_REGIONS = 200 };
static void write_region(body *b, rope *out, const region *r, u32 *next) {
  u32 blocks = 0, first = *next;
  writer *w = b->w;
  for (block *k = r->first; k; k = k->next) k->num = blocks++;
  rope_uint(out, blocks);
  if (!blocks) return;
  if (++w->regions > MAX_WRITE_REGIONS) {
    cannot_write(w, "an op nested more than %d deep", MAX_WRITE_REGIONS);
    return;
  }
  *next = number_region(b, r, first);
  rope_uint(out, *next - first);
  for (const block *k = r->first; k && !w->failed; k = k->next) write_block(b, out, k, *next);
  w->regions--;
}

static void write_ir(writer *w, ir_module *m, rope *out) {
  body b = {.w = w};
  u32 values = module_number(m);
  b.places = arena_zalloc(w->arena, values * sizeof *b.places);
  mark_results(&b, m->root);
  op_walk(m->root, mark_results, &b);
  if (w->target) op_walk(m->root, mark_casts, &b);
  for (u32 i = 0; i < values && !b.mixed; i++) b.mixed = b.places[i].needs_cast;
  rope_uint(out, 1u << 1);
  write_op(&b, out, m->root, 0);
}

/* ---- sections ---- */

static void write_strings(const writer *w, rope *out) {
  size_t n = w->strings.items.len;
  rope_uint(out, n);
  for (size_t i = n; i-- > 0;) rope_uint(out, w->strings.items.data[i].bytes.len + 1);
  for (size_t i = 0; i < n; i++) {
    rope_bytes(out, w->strings.items.data[i].bytes.data, w->strings.items.data[i].bytes.len);
    rope_bytes(out, "", 1);
  }
}

/* The items from `i` on that are of one dialect. */
static size_t run_length(const interner *t, size_t i) {
  size_t n = 1;
  while (i + n < t->items.len && t->items.data[i + n].tag >> 1 == t->items.data[i].tag >> 1) n++;
  return n;
}

static void write_dialects(writer *w, rope *out) {
  const interner *d = &w->dialects, *o = &w->ops;
  rope_uint(out, d->items.len);
  for (size_t i = 0; i < d->items.len; i++)
    rope_uint(out, (u64)intern_string(w, d->items.data[i].bytes)
                       << (w->format >= VERSION_DIALECTS)); /* no version of the dialect */
  if (w->format >= VERSION_ARG_LOCS) rope_uint(out, o->items.len);
  for (size_t i = 0; i < o->items.len;) {
    size_t n = run_length(o, i);
    rope_uint(out, o->items.data[i].tag >> 1);
    rope_uint(out, n);
    for (; n > 0; n--, i++) {
      u64 name = intern_string(w, o->items.data[i].bytes);
      bool flagged = w->format >= VERSION_PROPERTIES;
      rope_uint(out, flagged ? name << 1 | (o->items.data[i].tag & 1) : name);
    }
  }
}

static void write_offsets(const interner *t, const u64 *sizes, rope *out) {
  for (size_t i = 0; i < t->items.len;) {
    size_t n = run_length(t, i);
    rope_uint(out, t->items.data[i].tag >> 1);
    rope_uint(out, n);
    for (; n > 0; n--, i++) rope_uint(out, sizes[i]);
  }
}

static void write_props(const writer *w, rope *out) {
  rope_uint(out, w->props.items.len);
  for (size_t i = 0; i < w->props.items.len; i++) {
    str bytes = w->props.items.data[i].bytes;
    rope_uint(out, bytes.len);
    rope_bytes(out, bytes.data, bytes.len);
  }
}

/* A blob is aligned in the file, so that a reader may leave it there. */
static size_t put_resource_data(const writer *w, str key, rope *out, u64 file_at, u32 *max_align) {
  static const char padding[] = "\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB"
                                "\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB"
                                "\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB"
                                "\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB\xCB";
  str bytes;
  u64 begin = out->size;
  if (!ir_resource_get(w->ctx, key, &bytes)) return 0;
  u32 align = ir_resource_align(w->ctx, key);
  if (align == 0 || (align & (align - 1)) || align > sizeof padding - 1) align = 4;
  if (align > *max_align) *max_align = align;
  rope_uint(out, align);
  rope_uint(out, bytes.len);
  rope_bytes(out, padding, (size_t)(-(file_at + out->size) & (align - 1)));
  rope_bytes(out, bytes.data, bytes.len);
  return (size_t)(out->size - begin);
}

/* file_at: a multiple of 64, where the data begins */
static void write_resources(writer *w, rope *data, rope *offsets, u32 *max_align) {
  size_t n = w->resources.items.len;
  rope_uint(offsets, 0); /* of no tool outside */
  rope_uint(offsets, intern_dialect(w, STR("builtin")));
  rope_uint(offsets, n);
  for (size_t i = 0; i < n; i++) {
    str key = w->resources.items.data[i].bytes;
    rope_uint(offsets, intern_string(w, key));
    rope_uint(offsets, put_resource_data(w, key, data, 0, max_align));
    rope_bytes(offsets, "", 1); /* a blob */
  }
}

/* A section whose contents begin at a multiple of `align`. */
static void aligned_section(rope *out, u8 id, const rope *contents, u32 align) {
  u8 head[32];
  size_t n = 0;
  head[n++] = id | 0x80;
  n += encode_uint(head + n, contents->size);
  n += encode_uint(head + n, align);
  rope_bytes(out, head, n);
  while (out->size & (align - 1)) rope_bytes(out, "\xCB", 1);
  rope_append(out, contents);
}

static void write_file(writer *w, ir_module *m, rope *out) {
  rope s[SECTION_COUNT];
  u32 align = 1;
  for (int i = 0; i < SECTION_COUNT; i++) s[i] = (rope){.arena = w->arena};
  write_ir(w, m, &s[SECTION_ir]);
  if (w->failed) return;
  if (w->resources.items.len)
    write_resources(w, &s[SECTION_resources], &s[SECTION_resource_offsets], &align);
  rope_uint(&s[SECTION_attr_offsets], w->attrs.items.len);
  rope_uint(&s[SECTION_attr_offsets], w->types.items.len);
  write_offsets(&w->attrs, w->attr_sizes.data, &s[SECTION_attr_offsets]);
  write_offsets(&w->types, w->type_sizes.data, &s[SECTION_attr_offsets]);
  rope_append(&s[SECTION_attrs], &w->attr_data);
  rope_append(&s[SECTION_attrs], &w->type_data);
  write_dialects(w, &s[SECTION_dialects]);
  write_props(w, &s[SECTION_properties]);
  write_strings(w, &s[SECTION_strings]);
  rope_bytes(out, "ML\xEFR", 4);
  rope_uint(out, (u64)w->format);
  if (w->target) rope_bytes(out, "StableHLO_v", 11);
  str producer = w->target ? w->target_text : STR("Terrazzo");
  rope_bytes(out, producer.data, producer.len);
  rope_bytes(out, "", 1);
  for (int i = 0; i < SECTION_COUNT; i++) {
    bool optional = i == SECTION_resources || i == SECTION_resource_offsets;
    if (i == SECTION_versions || (optional && !s[SECTION_resource_offsets].size)) continue;
    if (i == SECTION_properties && w->format < VERSION_PROPERTIES) continue;
    if (i == SECTION_resources && align > 1)
      aligned_section(out, (u8)i, &s[i], align);
    else
      rope_section(out, (u8)i, &s[i]);
  }
}

/* ---- the entry ---- */

#define CURRENT "1.20.0" /* the newest that vhlo.def has */

static bool parse_target(ir_ctx *c, str text, u32 *out) {
  u32 parts[3] = {0};
  size_t n = 0, digits = 0;
  for (size_t i = 0; i < text.len && n < 3; i++) {
    char ch = text.data[i];
    if (ch == '.' && digits) {
      n++;
      digits = 0;
    } else if (ch >= '0' && ch <= '9' && digits < 3) {
      parts[n] = parts[n] * 10 + (u32)(ch - '0');
      digits++;
    } else {
      n = 3;
    }
  }
  if (n != 2 || !digits)
    return diag_error(ir_sink(c), (diag_pos){0},
                      "target: invalid target version '" STR_FMT
                      "': it must be of the form `#.#.#`",
                      STR_ARG(text));
  *out = WRITE_V(parts[0], parts[1]);
  if (*out < WRITE_V(0, 9) || *out > WRITE_V(1, 20))
    return diag_error(ir_sink(c), (diag_pos){0},
                      "target: version " STR_FMT " is not between 0.9.0 and " CURRENT,
                      STR_ARG(text));
  return true;
}

/* The newest encoding that readers of that StableHLO release know. */
static int format_of(u32 target) {
  if (!target || target >= WRITE_V(0, 15)) return BYTECODE_NEWEST;
  return target >= WRITE_V(0, 14) ? 4 : target >= WRITE_V(0, 12) ? 3 : target >= WRITE_V(0, 10);
}

static void index_codec(writer *w, dialect_kind kind, const codec *k) {
  u8 *codes = arena_zalloc(w->arena, ATTR_COUNT);
  for (size_t i = 0; i < k->num_attrs; i++) {
    const attr_code *a = &k->attrs[i];
    if (a->known && a->id < ATTR_COUNT && !codes[a->id]) codes[a->id] = (u8)(i + 1);
  }
  if (kind == DIALECT_vhlo) { /* these go as others do */
    codes[ATTR_symbol_ref] = codes[ATTR_string];
    codes[ATTR_dense_array] = codes[ATTR_dense];
  }
  w->codes[kind] = codes;
}

bool bytecode_write(ir_module *m, const bytecode_write_options *options, buf *out) {
  static const bytecode_write_options defaults = {0};
  writer w = {.ctx = m->ctx, .at = m->root};
  if (!options) options = &defaults;
  w.target_text = str_is(options->target, "current") ? STR(CURRENT) : options->target;
  w.strict = options->strict;
  if (w.target_text.len && !parse_target(m->ctx, w.target_text, &w.target)) return false;
  w.format = options->format > 0 ? options->format : format_of(w.target);
  if (w.format > BYTECODE_NEWEST)
    return diag_error(ir_sink(m->ctx), (diag_pos){0}, "format: bytecode version %d is not known",
                      w.format);
  w.arena = ir_scratch_push(m->ctx);
  w.attr_data.arena = w.type_data.arena = w.arena;
  w.codecs = codecs;
  for (dialect_kind k = 0; k < DIALECT_other; k++) index_codec(&w, k, codecs[k]);
  rope file = {.arena = w.arena};
  write_file(&w, m, &file);
  if (!w.failed) rope_flush(&file, out);
  ir_scratch_pop(m->ctx);
  return !w.failed && buf_ok(out);
}
