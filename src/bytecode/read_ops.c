/* The ops: their names and properties, the regions and values.
 *
 * A loop over a stack of frames, not recursion: a frame is an op whose regions are being read, and
 * knows its values, its blocks and what is left of the block at hand. Values are numbered within
 * the innermost isolated op; an operand may come before its definition, in which case a placeholder
 * is used and replaced. See "IR section" in BytecodeFormat.md for the parts of an op, whose
 * presence a mask says. */
#include <stdlib.h>

#include "bytecode/reader.h"
#include "bytecode/sections.h"

enum { MAX_REGION_DEPTH = 200 };

/* ---- ops: names and properties ---- */

static int by_slot_name(const void *a, const void *b) {
  return strcmp(((const slot_info *)a)->name, ((const slot_info *)b)->name);
}

/* The properties of native ops are on the wire in the order of their names. */
static void order_slots(reader *r, op_name *n) {
  u32 count = n->info->num_slots;
  slot_info *sorted = ARENA_ARRAY(r->arena, slot_info, count);
  n->order = arena_alloc(r->arena, count);
  if (!count) return;
  memcpy(sorted, n->info->slots, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, by_slot_name);
  for (u32 i = 0; i < count; i++) n->order[i] = (u8)op_slot(n->info, str_of(sorted[i].name));
}

static void resolve_name(reader *r, const u8 *from, op_name *n) {
  str d = r->dialects[n->dialect].name;
  if (r->dialects[n->dialect].kind == DIALECT_vhlo) n->vhlo = vhlo_find(n->name);
  if (n->vhlo) {
    vhlo_resolve(r, n);
    return;
  }
  str full = arena_printf(r->arena, STR_FMT "%s" STR_FMT, STR_ARG(d), n->name.len ? "." : "",
                          STR_ARG(n->name));
  n->info = op_info_find(full);
  if (!n->info) n->info = ir_op_info_unregistered(r->ctx, full);
  if (r->dialects[n->dialect].kind == DIALECT_vhlo)
    fail_at(r, from,
            "unregistered operation '" STR_FMT
            "' found in dialect ('vhlo') that does not allow unknown operations",
            STR_ARG(full));
  if (n->info->id != OP_unregistered || n->info->hooks) order_slots(r, n);
}

/* Resolved when an op first has it: files list names that they do not use. */
static op_name *get_op_name(reader *r, cursor *c) {
  const u8 *from = c->at;
  u64 i = get_uint(r, c);
  if (r->failed) return NULL;
  if (i >= r->num_ops)
    return fail_at(r, from, "expected an op below %zu, found %llu", r->num_ops,
                   (unsigned long long)i),
           NULL;
  op_name *n = &r->ops[i];
  if (!n->info) resolve_name(r, from, n);
  return n;
}

/* An enum without an attribute of its own (I32EnumAttr) is an integer on the wire. */
static const attr *slot_form(reader *r, const slot_info *s, const attr *a) {
  i64 v;
  if (!a || s->attr_id < 0 || !attr_infos[s->attr_id].cases || !attr_get_i64(a, &v)) return a;
  return v >= 0 && v < attr_infos[s->attr_id].num_cases ? attr_enum(r->ctx, s->attr_id, v) : a;
}

/* Before properties (version 5) inherent attributes stand in the dictionary, too. */
static void set_dict(reader *r, const u8 *from, op *o, const attr *a) {
  const dict_attr *d = attributes_of_op(r, from, a);
  if (!d) return;
  for (size_t i = 0; i < d->names.len; i++) {
    str name = ((const string_attr *)d->names.data[i])->value;
    int slot = op_slot(o->info, name);
    const attr *v =
        slot < 0 ? d->values.data[i] : slot_form(r, &o->info->slots[slot], d->values.data[i]);
    op_set_attr(r->module, o, name, v);
  }
}

/* Properties of an op by a writer that did not know its last optional attributes yet: from which
 * slot on they are left out. */
static u32 known_slots(const op_info *info, cursor c) {
  size_t numbers = 0;
  u32 known = info->num_slots, left = known;
  for (; c.at < c.end; numbers++)
    c.at += min_size(1 + (*c.at ? (size_t)__builtin_ctz(*c.at) : 8), cursor_left(&c));
  for (u32 i = 0; i < info->num_slots; i++)
    if (is_segments(&info->slots[i])) return known;
  for (; known > 0 && left > numbers; known--) left -= !(info->slots[known - 1].need & REQUIRED);
  return known;
}

/* All numbers, or (flagged) those that are not zero with their places in their low bits. */
static const attr *read_segments(reader *r, cursor *c) {
  u64 n, bits, v;
  const u8 *from = c->at;
  i32 sizes[MAX_SEGMENTS] = {0};
  size_t len = 0;
  bool sparse = get_flagged(r, c, &n);
  bits = sparse && n ? get_uint(r, c) : 0;
  if (!r->failed && (n > MAX_SEGMENTS || bits > 4)) fail_at(r, from, "expected sizes of segments");
  for (u64 i = 0; i < n && !r->failed; i++) {
    v = get_uint(r, c);
    size_t at = sparse ? v & ((1u << bits) - 1) : i;
    sizes[at] = (i32)(v >> bits & INT32_MAX);
    len = max_size(len, at + 1);
  }
  if (r->failed) return NULL;
  return attr_make(r->ctx, dense_array, .elem = type_i32(r->ctx),
                   .data = {(const char *)sizes, len * sizeof *sizes});
}

static bool is_blank(const op *o) {
  bool blank = !o->num_attrs;
  for (u32 i = 0; i < o->info->num_slots; i++) blank &= !o->slots[i];
  return blank;
}

/* Equal ops share their properties, and what becomes of these. */
static void read_vhlo_properties(reader *r, cursor *p, known_props *k, const op_name *n, op *o) {
  size_t bytes = o->info->num_slots * sizeof *o->slots;
  bool blank = is_blank(o);
  if (blank && k->name == n && k->info == o->info) {
    if (bytes) memcpy(o->slots, k->slots, bytes);
    p->at = p->end;
    return;
  }
  vhlo_properties(r, p, n, o);
  if (blank && !r->failed && p->at == p->end && !o->num_attrs)
    *k = (known_props){n, o->info, arena_copy(r->arena, o->slots, bytes)};
}

static void read_op_properties(reader *r, cursor *c, const op_name *n, op *o) {
  const u8 *from = c->at;
  u64 i = get_uint(r, c);
  if (!r->failed && i >= r->num_props)
    fail_at(r, from, "expected properties below %zu, found %llu", r->num_props,
            (unsigned long long)i);
  if (r->failed) return;
  cursor p = r->props[i];
  if (n->vhlo) {
    read_vhlo_properties(r, &p, &r->known[i], n, o);
  } else if (!n->registered) {
    const attr *a = get_attr(r, &p);
    if (op_is_plain(o))
      o->slots[0] = a;
    else
      set_dict(r, from, o, a);
  } else if (n->order) {
    u32 known = known_slots(n->info, p);
    for (u32 k = 0; k < n->info->num_slots && !r->failed; k++) {
      u8 slot = n->order[k];
      if (r->version >= VERSION_SEGMENTS && is_segments(&n->info->slots[slot])) continue;
      bool required = n->info->slots[slot].need & REQUIRED;
      if (!required && slot >= known) continue;
      const attr *a = required ? get_attr(r, &p) : get_attr_or_null(r, &p);
      o->slots[slot] = slot_form(r, &n->info->slots[slot], a);
    }
    for (u32 k = 0; k < n->info->num_slots && r->version >= VERSION_SEGMENTS; k++)
      if (is_segments(&n->info->slots[n->order[k]])) o->slots[n->order[k]] = read_segments(r, &p);
  } else {
    fail_unimplemented(r, from, "properties of op '" STR_FMT "'", STR_ARG(n->info->name));
  }
  if (!r->failed && p.at != p.end)
    fail_at(r, p.at, "expected the end of the properties of '" STR_FMT "'", STR_ARG(n->info->name));
}

/* ---- ops ---- */

/* A region being read. Values are numbered from the innermost isolated op. */
typedef struct frame {
  op *op;
  u32 region; /* the one at hand */
  bool isolated;
  bool section; /* has a cursor of its own; else its parent's is read on */
  cursor cursor;
  block *block;   /* at hand; NULL: the region has not begun */
  block **blocks; /* of the region */
  size_t num_blocks;
  u64 ops_left;
  size_t scope;            /* first value of the isolated op */
  size_t first, next, end; /* values of the region */
} frame;

typedef struct body {
  reader *r;
  VEC(frame) frames;
  value **values;
  size_t num_values, cap_values;
  size_t pending; /* references to values that are not defined yet */
  u64 promised;   /* regions and blocks to come */
  u32 num_ops;
  VEC(value *) operands; /* of the op at hand */
} body;

static frame *top(body *b) { return &b->frames.data[b->frames.len - 1]; }

static cursor *cursor_of(body *b) {
  size_t i = b->frames.len - 1;
  while (!b->frames.data[i].section) i--;
  return &b->frames.data[i].cursor;
}

/* Every value takes a byte of the file, so more at once cannot be. Places are NULL before they are
 * defined or used, and again when their region has ended. */
static void push_values(body *b, frame *f, const u8 *from, u64 n) {
  reader *r = b->r;
  if (r->failed) return;
  if (n > r->bytes.len - b->num_values) {
    fail_at(r, from, "expected fewer values, found %llu", (unsigned long long)n);
    return;
  }
  while (b->num_values + n > b->cap_values) {
    size_t old = b->cap_values;
    b->values = arena_grow(r->arena, b->values, old, &b->cap_values, sizeof *b->values);
    memset(b->values + old, 0, (b->cap_values - old) * sizeof *b->values);
  }
  f->first = f->next = b->num_values;
  b->num_values += (size_t)n;
  f->end = b->num_values;
}

static void pop_values(body *b, frame *f, const u8 *at) {
  if (f->next != f->end)
    fail_at(b->r, at, "expected %zu values in the region, found %zu", f->end - f->first,
            f->next - f->first);
  if (f->next != f->first)
    memset(b->values + f->first, 0, (f->next - f->first) * sizeof *b->values);
  b->num_values = f->first;
  f->next = f->end = f->first;
}

/* What is announced takes at least a byte each, so that no memory is made for regions inside
 * regions that never come. Counted down as they do come. */
static bool promise(body *b, const u8 *from, u64 n) {
  b->promised += n;
  return b->promised <= b->r->bytes.len || fail_at(b->r, from, "expected fewer regions and blocks");
}

/* A value used before its definition is the result of a detached op until then. */
enum { PLACEHOLDER = 0xFFFFFFFF };
static value *make_placeholder(body *b) {
  reader *r = b->r;
  const type *t = type_none(r->ctx);
  op *o = op_create(r->module, &op_infos[OP_cast], loc_unknown(r->ctx), NULL, 0, &t, 1, 0);
  o->num = PLACEHOLDER;
  b->pending++;
  return op_result(o, 0);
}

static bool is_placeholder(const value *v) {
  const op *o = value_op(v);
  return o && o->num == PLACEHOLDER;
}

/* Values come in the order of their numbers, so the next place of the region is this value's. A
 * placeholder there has been used: its uses move over, in an order that may not be the natural one,
 * hence the entry in r->orders. */
static void define(body *b, const u8 *from, value *v) {
  frame *f = top(b);
  if (b->r->failed) return;
  if (f->next >= f->end) {
    fail_at(b->r, from, "expected at most %zu values in the region", f->end - f->first);
    return;
  }
  value *before = b->values[f->next];
  if (before) {
    value_replace(before, v);
    b->pending--;
    VEC_PUSH(b->r->arena, b->r->orders, (use_order){.value = v, .from = from});
  }
  b->values[f->next++] = v;
}

/* Numbers count from the innermost isolated op; a place that is not defined yet gets a
 * placeholder. */
static value *get_operand(body *b, cursor *c) {
  const u8 *from = c->at;
  size_t scope = top(b)->scope;
  u64 i = get_uint(b->r, c);
  if (b->r->failed) return NULL;
  if (i >= b->num_values - scope)
    return fail_at(b->r, from, "expected a value below %zu, found %llu", b->num_values - scope,
                   (unsigned long long)i),
           NULL;
  value **v = &b->values[scope + i];
  if (!*v) *v = make_placeholder(b);
  return *v;
}

/* Since version 4 (VERSION_ARG_LOCS) a flag says whether there is a location. */
static void read_block_args(body *b, cursor *c) {
  reader *r = b->r;
  size_t n = get_count(r, c);
  for (size_t i = 0; i < n && !r->failed; i++) {
    const u8 *from = c->at;
    u64 index = 0;
    bool has_loc = true;
    if (r->version >= VERSION_ARG_LOCS)
      has_loc = get_flagged(r, c, &index);
    else
      index = get_uint(r, c);
    const type *t = type_at(r, from, index);
    const attr *loc = has_loc ? get_loc(r, c) : NULL;
    if (r->failed) return;
    block *to = top(b)->block;
    define(b, from, block_add_arg(r->module, to, t));
    if (loc) block_set_arg_loc(r->module, to, i, loc);
  }
  if (r->version < VERSION_USES || !get_byte(r, c)) return;
  size_t first = r->orders.len;
  read_use_orders(r, c, n);
  for (size_t i = first; i < r->orders.len && !r->failed; i++)
    r->orders.data[i].value = top(b)->block->args[r->orders.data[i].place];
}

static void read_block_header(body *b) {
  cursor *c = cursor_of(b);
  b->promised--;
  if (get_flagged(b->r, c, &top(b)->ops_left)) read_block_args(b, c);
}

/* The blocks of the region at hand; it may have none. */
static void begin_region(body *b) {
  reader *r = b->r;
  frame *f = top(b);
  cursor *c = cursor_of(b);
  size_t blocks = get_count(r, c);
  b->promised--;
  if (r->failed || blocks == 0) return;
  const u8 *from = c->at;
  if (!promise(b, from, blocks)) return;
  u64 n = get_uint(r, c);
  push_values(b, f, from, n);
  region *reg = &f->op->regions[f->region];
  if (r->failed) return;
  f->blocks = ARENA_ARRAY(r->arena, block *, blocks);
  f->num_blocks = blocks;
  for (size_t i = 0; i < blocks; i++) {
    f->blocks[i] = block_create(r->module);
    region_append(reg, f->blocks[i]);
  }
  f->block = reg->first;
  read_block_header(b);
}

/* What an op says before it is made. */
typedef struct op_parts {
  const op_name *name;
  const attr *loc, *dict;
  value **operands;
  types results;
  block **successors;
  size_t num_operands, num_successors, num_regions;
  u8 mask;
  bool isolated;
  size_t first_order; /* of the uses of its results */
  const u8 *from;
  cursor props; /* where the properties are referred to */
} op_parts;

static void read_successors(body *b, cursor *c, op_parts *p) {
  reader *r = b->r;
  p->num_successors = get_count(r, c);
  p->successors = ARENA_ARRAY(&r->module->arena, block *, p->num_successors);
  const frame *f = top(b);
  for (size_t i = 0; i < p->num_successors && !r->failed; i++) {
    const u8 *from = c->at;
    u64 n = get_uint(r, c);
    if (!r->failed && n >= f->num_blocks)
      fail_at(r, from, "expected a block below %zu, found %llu", f->num_blocks,
              (unsigned long long)n);
    if (!r->failed) p->successors[i] = f->blocks[n];
  }
}

/* In the order of the wire. Properties are only located here, since they are set on an op that does
 * not exist yet. */
static void read_op_parts(body *b, cursor *c, op_parts *p) {
  reader *r = b->r;
  *p = (op_parts){.from = c->at};
  p->name = get_op_name(r, c);
  p->mask = get_byte(r, c);
  p->loc = get_loc(r, c);
  if (p->mask & 128) fail_at(r, p->from, "unknown parts of an op");
  if (p->mask & HAS_ATTRS) p->dict = get_attr(r, c);
  if (p->mask & HAS_PROPERTIES) {
    p->props = *c;
    if (r->version < VERSION_PROPERTIES) fail_at(r, c->at, "unexpected properties");
    get_uint(r, c);
  }
  if (p->mask & HAS_RESULTS) p->results = get_types(r, c);
  if (p->mask & HAS_OPERANDS) {
    p->num_operands = get_count(r, c);
    b->operands.len = 0;
    for (size_t i = 0; i < p->num_operands && !r->failed; i++)
      VEC_PUSH(r->arena, b->operands, get_operand(b, c));
    p->operands = b->operands.data;
  }
  if (p->mask & HAS_SUCCESSORS) read_successors(b, c, p);
  p->first_order = r->orders.len;
  if ((p->mask & HAS_USES) && r->version >= VERSION_USES) read_use_orders(r, c, p->results.len);
  if (p->mask & HAS_REGIONS) {
    const u8 *from = c->at;
    u64 n;
    p->isolated = get_flagged(r, c, &n);
    if (n > cursor_left(c) || n > UINT16_MAX) fail_at(r, from, "expected fewer regions");
    p->num_regions = promise(b, from, n) ? (size_t)n : 0;
  }
  if (p->num_successors > UINT16_MAX) fail_at(r, p->from, "expected fewer successors");
}

/* A cast whose types are the same now that VHLO's are gone: its results are its operands. */
static bool is_void_cast(const op_parts *p) {
  if (p->name->info->id != OP_cast || p->num_operands != p->results.len) return false;
  for (size_t i = 0; i < p->num_operands; i++)
    if (is_placeholder(p->operands[i]) || p->operands[i]->type != p->results.data[i]) return false;
  return p->num_operands > 0;
}

/* VHLO has one return, func and stablehlo one each: the op around decides. */
static const op_info *info_of(const body *b, const op_parts *p) {
  const op_info *i = p->name->info;
  bool in_func =
      i->id == OP_return && p->name->vhlo && op_is(b->frames.data[b->frames.len - 1].op, func);
  return in_func ? &op_infos[OP_func_return] : i;
}

/* Before its regions are read, so that values inside can be defined under it. op.num is the op's
 * place in the file, which the order of uses is told by. */
static op *make_op(body *b, const op_parts *p) {
  reader *r = b->r;
  op *o = op_create(r->module, info_of(b, p), p->loc, p->operands, p->num_operands, p->results.data,
                    p->results.len, p->num_regions);
  o->successors = p->successors;
  o->num_successors = (u16)p->num_successors;
  o->num = b->num_ops++;
  op_insert(o, top(b)->block, NULL);
  if (p->dict && p->name->vhlo)
    vhlo_attributes(r, p->from, p->name, p->dict, o);
  else if (p->dict)
    set_dict(r, p->from, o, p->dict);
  if (p->mask & HAS_PROPERTIES) {
    cursor c = p->props;
    read_op_properties(r, &c, p->name, o);
  }
  return o;
}

/* Goes on with the regions of `o`, after which the frame below is resumed. */
static void enter(body *b, op *o, bool isolated) {
  reader *r = b->r;
  frame f = {.op = o, .isolated = isolated, .scope = isolated ? b->num_values : top(b)->scope};
  cursor *c = cursor_of(b);
  if (b->frames.len >= MAX_REGION_DEPTH) {
    fail_at(r, c->at, "regions nested more than %d deep", MAX_REGION_DEPTH);
    return;
  }
  if (isolated && r->version >= VERSION_SECTIONS) {
    u8 id;
    const u8 *from = c->at;
    f.section = true;
    f.cursor = get_section(r, c, &id);
    if (!r->failed && id != SECTION_ir) fail_at(r, from, "expected the ops of a region");
  }
  f.first = f.next = f.end = b->num_values;
  VEC_PUSH(r->arena, b->frames, f);
}

/* Results are defined before the regions are read. The outermost op's results have no numbers:
 * nothing is there to use them. */
static void read_op(body *b) {
  reader *r = b->r;
  cursor *c = cursor_of(b);
  op_parts p;
  read_op_parts(b, c, &p);
  if (r->failed) return;
  bool outermost = b->frames.len == 1;
  size_t orders = r->orders.len;
  if (is_void_cast(&p)) {
    r->has_casts = true;
    r->orders.len = p.first_order;
    for (size_t i = 0; i < p.num_operands; i++) define(b, p.from, p.operands[i]);
    return;
  }
  op *o = make_op(b, &p);
  for (size_t i = 0; i < p.results.len && !outermost; i++) define(b, p.from, op_result(o, i));
  for (size_t i = p.first_order; i < orders && !r->failed; i++)
    r->orders.data[i].value = op_result(o, r->orders.data[i].place);
  if (!r->failed && p.num_regions) enter(b, o, p.isolated);
}

/* One step: an op, the next block, the next region, or the end of the innermost frame. */
static void step(body *b) {
  frame *f = top(b);
  if (!f->block) {
    if (f->region == f->op->num_regions) {
      b->frames.len--;
      return;
    }
    begin_region(b);
    if (!top(b)->block) top(b)->region++;
  } else if (f->ops_left > 0) {
    f->ops_left--;
    read_op(b);
  } else if (f->block->next) {
    f->block = f->block->next;
    read_block_header(b);
  } else {
    pop_values(b, f, cursor_of(b)->at);
    f->block = NULL;
    f->region++;
  }
}

/* A file is one module, or ops that we put into one. */
static void adopt_root(reader *r) {
  op *first = op_body(r->module->root, 0)->first;
  if (!first || first->next || !op_is(first, module)) return;
  op_unlink(first);
  r->module->root = first;
}

/* The frame at the bottom is our own module, whose block takes what the file has; the section has
 * one block and, in files by MLIR, one op. */
void read_ops(reader *r, cursor c) {
  body b = {.r = r, .promised = 1};
  frame f = {.op = r->module->root,
             .isolated = true,
             .section = true,
             .cursor = c,
             .block = op_body(r->module->root, 0)};
  VEC_PUSH(r->arena, b.frames, f);
  read_block_header(&b);
  while (!r->failed && b.frames.len > 0) step(&b);
  if (!r->failed && b.pending)
    fail_at(r, c.end, "%zu values are used but never defined", b.pending);
  if (!r->failed) apply_use_orders(r);
  if (!r->failed) adopt_root(r);
}
