/* Making, linking and changing ops. All memory is the module's arena.
 *
 * Everything is intrusive: an op lies in its block's list, an operand (a use) in the list of the
 * value it names. A use's `link` points at the pointer that points at it, so unlinking asks nothing
 * of the list. Nothing is freed: an op that is erased stays as memory until the module goes, so
 * pointers to it are stale, not dangling. */
#include "base/index.h"
#include "ir/ctx.h"

static ir_module *new_module(ir_ctx *c) {
  ir_module *m = ARENA_NEW(&c->arena, ir_module);
  m->ctx = c;
  arena_init(&m->arena, &c->mem, c->trap);
  arena_init(&m->ops, &c->mem, c->trap);
  return m;
}

ir_module *ir_module_create(ir_ctx *c) {
  ir_module *m = new_module(c);
  m->root = op_create(m, &op_infos[OP_module], loc_unknown(c), NULL, 0, NULL, 0, 1);
  region_append(&m->root->regions[0], block_create(m));
  return m;
}

void ir_module_destroy(ir_module *m) {
  if (!m) return;
  arena_deinit(&m->ops);
  arena_deinit(&m->arena);
}

/* ---- uses ---- */

/* In front, as MLIR does: the order of users is seen by what visits them (propagation, printing of
 * users), so it has to be the same. */
static void link_use(use *u, value *v) {
  u->value = v;
  u->next = v->uses;
  u->link = &v->uses;
  if (v->uses) v->uses->link = &u->next;
  v->uses = u;
}

static void unlink_use(use *u) {
  if (!u->value) return;
  *u->link = u->next;
  if (u->next) u->next->link = u->link;
  u->value = NULL;
}

/* Moves the uses of an op to other memory, keeping their places in the values' lists. */
static void move_uses(use *to, use *from, size_t n) {
  for (size_t i = 0; i < n; i++) {
    to[i] = from[i];
    if (!to[i].value) continue;
    *to[i].link = &to[i];
    if (to[i].next) to[i].next->link = &to[i].next;
  }
}

static void reserve_operands(ir_module *m, op *o, size_t n) {
  if (n <= o->cap_operands) return;
  size_t cap = max_size(n, o->cap_operands * 2u);
  use *u = ARENA_ARRAY(&m->arena, use, cap);
  move_uses(u, o->operands, o->num_operands);
  o->operands = u;
  o->cap_operands = (u32)cap;
}

void op_append_operand(ir_module *m, op *o, value *v) {
  reserve_operands(m, o, o->num_operands + 1u);
  use *u = &o->operands[o->num_operands++];
  u->owner = o;
  link_use(u, v);
}

void op_set_operand(op *o, size_t i, value *v) {
  if (o->operands[i].value == v) return;
  unlink_use(&o->operands[i]);
  link_use(&o->operands[i], v);
}

void op_reset_operands(op *o) {
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = o->operands[i].value;
    unlink_use(&o->operands[i]);
    link_use(&o->operands[i], v);
  }
}

void op_set_operands(ir_module *m, op *o, value *const *v, size_t n) {
  for (size_t i = 0; i < o->num_operands; i++) unlink_use(&o->operands[i]);
  o->num_operands = 0;
  for (size_t i = 0; i < n; i++) op_append_operand(m, o, v[i]);
}

void value_replace_except(value *from, value *to, const op *except) {
  for (use *u = from->uses, *next; u; u = next) {
    next = u->next;
    if (u->owner == except) continue;
    unlink_use(u);
    link_use(u, to);
  }
}

void value_replace(value *from, value *to) {
  if (from != to) value_replace_except(from, to, NULL);
}

bool value_has_one_use(const value *v) { return v->uses && !v->uses->next; }

/* Counts owners, not uses: one op may use it twice. */
bool value_is_nearly_unused(const value *v, const op *besides) {
  const op *other = NULL;
  for (const use *u = v->uses; u; u = u->next) {
    if (u->owner == besides || u->owner == other) continue;
    if (other) return false;
    other = u->owner;
  }
  return true;
}

op *value_parent(const value *v) { return v->is_arg ? block_op(v->def.block) : v->def.op; }

/* ---- ops ---- */

static u32 *live_count(ir_module *m, const op_info *info) {
  return info->id < OP_COUNT ? &m->live[info->id] : &m->live_other;
}

/* Counts the kind, for module_may_have. Operands are linked in their order, so that the last
 * operand is first in the value's list, as in MLIR. Aligned to a line of the cache: see op. */
op *op_create(ir_module *m, const op_info *info, const attr *loc, value *const *operands,
              size_t num_operands, const type *const *result_types, size_t num_results,
              size_t num_regions) {
  arena *a = &m->arena;
  op *o = arena_alloc_aligned(&m->ops, sizeof *o, 64);
  *o = (op){0};
  ++*live_count(m, info);
  m->tables += (info->traits & SYMBOL_TABLE) != 0;
  o->info = info;
  o->loc = loc;
  o->num_regions = (u16)num_regions;
  o->num_results = (u32)num_results;
  if (info->num_slots) o->slots = arena_zalloc(a, info->num_slots * sizeof *o->slots);
  if (num_results) o->results = arena_zalloc(a, num_results * sizeof *o->results);
  if (num_regions) o->regions = arena_zalloc(a, num_regions * sizeof *o->regions);
  for (size_t i = 0; i < num_regions; i++) o->regions[i].parent = o;
  for (size_t i = 0; i < num_results; i++) {
    o->results[i].type = result_types[i];
    o->results[i].def.op = o;
    o->results[i].index = (u32)i;
  }
  if (num_operands) {
    o->operands = arena_zalloc(a, num_operands * sizeof *o->operands);
    o->cap_operands = (u32)num_operands;
    for (size_t i = 0; i < num_operands; i++) op_append_operand(m, o, operands[i]);
  }
  return o;
}

void op_become(ir_module *m, op *o, op_id id) {
  assert(o->info->num_slots == op_infos[id].num_slots);
  --*live_count(m, o->info);
  o->info = &op_infos[id];
  ++*live_count(m, o->info);
}

void op_insert(op *o, block *b, op *before) {
  o->parent = b;
  o->next = before;
  o->prev = before ? before->prev : b->last;
  *(o->prev ? &o->prev->next : &b->first) = o;
  *(before ? &before->prev : &b->last) = o;
}

void op_unlink(op *o) {
  block *b = o->parent;
  if (!b) return;
  *(o->prev ? &o->prev->next : &b->first) = o->next;
  *(o->next ? &o->next->prev : &b->last) = o->prev;
  o->parent = NULL;
  o->prev = o->next = NULL;
}

void block_move_ops(block *from, op *end, block *to, op *before) {
  for (op *o; (o = from->first) != end;) {
    op_unlink(o);
    op_insert(o, to, before);
  }
}

static walk_result drop_uses(void *user, op *o) {
  ir_module *m = user;
  if (m && !o->erased) --*live_count(m, o->info);
  o->erased = true;
  for (size_t i = 0; i < o->num_operands; i++) unlink_use(&o->operands[i]);
  o->num_operands = 0;
  return WALK_ON;
}

/* Walks what is inside as well, since ops in the regions use values outside. That the results have
 * no uses left is the caller's to know; erasing a whole group takes its users first. One that is in
 * no block stays counted. */
void op_erase(op *o) {
  ir_module *m = o->parent ? o->parent->module : NULL;
  op_unlink(o);
  op_walk(o, drop_uses, m);
}

/* ---- blocks ---- */

block *block_create(ir_module *m) {
  block *b = ARENA_NEW(&m->arena, block);
  b->module = m;
  return b;
}

/* Values are allocated one by one, so that a pointer to an argument survives the list's growth. */
value *block_add_arg(ir_module *m, block *b, const type *t) {
  if (b->num_args == b->cap_args) {
    size_t cap = b->cap_args;
    b->args = arena_grow(&m->arena, b->args, b->num_args, &cap, sizeof *b->args);
    b->cap_args = (u32)cap;
    if (b->arg_locs) {
      const attr **locs = arena_zalloc(&m->arena, cap * sizeof *locs);
      memcpy(locs, b->arg_locs, b->num_args * sizeof *locs);
      b->arg_locs = locs;
    }
  }
  value *v = ARENA_NEW(&m->arena, value);
  v->type = t;
  v->def.block = b;
  v->index = b->num_args;
  v->is_arg = 1;
  return b->args[b->num_args++] = v;
}

void block_erase_arg(block *b, size_t i) {
  memmove(b->args + i, b->args + i + 1, (b->num_args - i - 1) * sizeof *b->args);
  if (b->arg_locs) {
    memmove(b->arg_locs + i, b->arg_locs + i + 1, (b->num_args - i - 1) * sizeof *b->arg_locs);
    b->arg_locs[b->num_args - 1] = NULL;
  }
  b->num_args--;
  for (; i < b->num_args; i++) b->args[i]->index = (u32)i;
}

void block_take_args(block *to, block *from) {
  to->args = from->args;
  to->arg_locs = from->arg_locs;
  to->num_args = from->num_args;
  to->cap_args = from->cap_args;
  for (u32 i = 0; i < to->num_args; i++) to->args[i]->def.block = to;
  from->args = NULL;
  from->arg_locs = NULL;
  from->num_args = from->cap_args = 0;
}

void block_set_arg_loc(ir_module *m, block *b, size_t i, const attr *loc) {
  if (!b->arg_locs) b->arg_locs = arena_zalloc(&m->arena, b->cap_args * sizeof *b->arg_locs);
  b->arg_locs[i] = loc;
}

const attr *block_arg_loc(const block *b, size_t i) { return b->arg_locs ? b->arg_locs[i] : NULL; }

void region_append(region *r, block *b) {
  b->parent = r;
  b->next = NULL;
  b->prev = r->last;
  *(r->last ? &r->last->next : &r->first) = b;
  r->last = b;
}

void block_unlink(block *b) {
  region *r = b->parent;
  *(b->prev ? &b->prev->next : &r->first) = b->next;
  *(b->next ? &b->next->prev : &r->last) = b->prev;
  b->parent = NULL;
  b->prev = b->next = NULL;
}

/* Each op is moved by itself, since it keeps a pointer to its block. */
void block_splice(block *to, block *from) {
  FOR_OPS(o, from) {
    op_unlink(o);
    op_insert(o, to, NULL);
  }
}

op *op_terminator(const block *b) { return b->last; }

/* Linear in the distance to the end of the block. */
bool op_before(const op *a, const op *b) {
  for (a = a->next; a; a = a->next)
    if (a == b) return true;
  return false;
}

/* ---- attributes ---- */

static str attr_name(const named_attr *n) { return ((const string_attr *)n->name)->value; }

static bool is_named(const char *s, str name) {
  size_t i = 0;
  while (i < name.len && s[i] && s[i] == name.data[i]) i++;
  return i == name.len && !s[i];
}

int op_slot(const op_info *info, str name) {
  for (u32 i = 0; i < info->num_slots; i++)
    if (is_named(info->slots[i].name, name)) return (int)i;
  return -1;
}

/* For ops of several kinds; the name is one that the row has, which SLOT_NAME cannot check. */
void op_set_named(op *o, str name, const attr *a) {
  int slot = op_slot(o->info, name);
  assert(slot >= 0);
  if (slot >= 0) o->slots[slot] = a;
}

const attr *op_discardable(const op *o, str name) {
  for (u32 i = 0; i < o->num_attrs; i++)
    if (str_eq(attr_name(&o->attrs[i]), name)) return o->attrs[i].value;
  return NULL;
}

void op_drop_attr(op *o, str name) {
  for (u32 i = 0; i < o->num_attrs; i++) {
    if (!str_eq(attr_name(&o->attrs[i]), name)) continue;
    o->num_attrs--;
    for (; i < o->num_attrs; i++) o->attrs[i] = o->attrs[i + 1];
    return;
  }
}

const attr *op_attr(const op *o, str name) {
  int slot = op_slot(o->info, name);
  return slot >= 0 ? o->slots[slot] : op_discardable(o, name);
}

/* Slots by position, the rest by binary search in the sorted list. Setting NULL removes. */
void op_set_attr(ir_module *m, op *o, str name, const attr *a) {
  int slot = op_slot(o->info, name);
  if (slot >= 0) {
    o->slots[slot] = a;
    return;
  }
  u32 at = 0;
  for (u32 end = o->num_attrs; at < end;) {
    u32 mid = at + (end - at) / 2;
    if (str_cmp(attr_name(&o->attrs[mid]), name) < 0)
      at = mid + 1;
    else
      end = mid;
  }
  bool there = at < o->num_attrs && str_eq(attr_name(&o->attrs[at]), name);
  if (there && a) {
    o->attrs[at].value = a;
  } else if (there) {
    op_drop_attr(o, name);
  } else if (a) {
    if (o->num_attrs == o->cap_attrs) {
      u32 cap = o->cap_attrs ? o->cap_attrs * 2 : 2;
      named_attr *n = ARENA_ARRAY(&m->arena, named_attr, cap);
      if (o->num_attrs) memcpy(n, o->attrs, o->num_attrs * sizeof *n);
      o->attrs = n;
      o->cap_attrs = cap;
    }
    memmove(o->attrs + at + 1, o->attrs + at, (o->num_attrs - at) * sizeof *o->attrs);
    o->attrs[at] = (named_attr){attr_string(m->ctx, name), a};
    o->num_attrs++;
  }
}

/* ---- copying ---- */

struct ir_map {
  arena *a;
  hash_index to;  /* by value */
  value **by_num; /* instead, where all values have numbers; else NULL */
};

ir_map *ir_map_create(arena *a) {
  ir_map *m = ARENA_NEW(a, ir_map);
  m->a = a;
  return m;
}

void ir_map_set(ir_map *m, const value *from, value *to) {
  if (!m) return;
  if (m->by_num)
    m->by_num[from->num] = to;
  else
    index_set(&m->to, m->a, from, to);
}

value *ir_map_get(const ir_map *m, const value *from) {
  value *to = !m ? NULL : m->by_num ? m->by_num[from->num] : index_get(&m->to, from);
  return to ? to : (value *)from;
}

static op *clone(ir_module *m, const op *o, ir_map *map);

/* What stands in `to` where b stands in `from`. */
static block *twin_of(block *b, const region *from, const region *to) {
  block *twin = to->first;
  for (const block *at = from->first; at; at = at->next, twin = twin->next)
    if (at == b) return twin;
  return b;
}

static void clone_region(ir_module *m, const region *from, region *to, ir_map *map) {
  for (const block *b = from->first; b; b = b->next) {
    block *copy = block_create(m);
    for (u32 i = 0; i < b->num_args; i++) {
      ir_map_set(map, b->args[i], block_add_arg(m, copy, b->args[i]->type));
      if (b->arg_locs) block_set_arg_loc(m, copy, i, b->arg_locs[i]);
    }
    region_append(to, copy);
    for (const op *o = b->first; o; o = o->next) op_insert(clone(m, o, map), copy, NULL);
  }
}

/* In two passes: this one makes everything, with operands from the map where it has them;
 * clone_rest then mends what refers forwards. A module with registered ops only has no forward
 * references, and skips it. */
static op *clone(ir_module *m, const op *o, ir_map *map) {
  op *n = op_create(m, o->info, o->loc, NULL, 0, NULL, 0, o->num_regions);
  reserve_operands(m, n, o->num_operands);
  for (size_t i = 0; i < o->num_operands; i++)
    op_append_operand(m, n, ir_map_get(map, op_operand(o, i)));
  n->num_results = o->num_results;
  if (o->num_results) n->results = arena_zalloc(&m->arena, o->num_results * sizeof *n->results);
  for (u32 i = 0; i < o->num_results; i++) {
    n->results[i] = (value){.type = o->results[i].type, .def.op = n, .index = i};
    ir_map_set(map, &o->results[i], &n->results[i]);
  }
  if (o->info->num_slots) memcpy(n->slots, o->slots, o->info->num_slots * sizeof *n->slots);
  n->attrs = arena_copy(&m->arena, o->attrs, o->num_attrs * sizeof *n->attrs);
  n->num_attrs = n->cap_attrs = o->num_attrs;
  for (size_t i = 0; i < o->num_regions; i++) clone_region(m, &o->regions[i], &n->regions[i], map);
  return n;
}

/* What only ops without a row have: operands whose values stand behind them, and successors. */
static void clone_rest(ir_module *m, const op *o, op *n, const ir_map *map) {
  for (u32 i = 0; i < o->num_operands; i++) op_set_operand(n, i, ir_map_get(map, op_operand(o, i)));
  n->num_successors = o->num_successors;
  n->successors = arena_copy(&m->arena, o->successors, o->num_successors * sizeof *o->successors);
  for (u16 i = 0; n->parent && i < o->num_successors; i++)
    n->successors[i] = twin_of(o->successors[i], o->parent->parent, n->parent->parent);
  for (u16 r = 0; r < o->num_regions; r++) {
    const block *to = n->regions[r].first;
    for (const block *from = o->regions[r].first; from; from = from->next, to = to->next) {
      op *twin = to->first;
      for (const op *i = from->first; i; i = i->next, twin = twin->next)
        clone_rest(m, i, twin, map);
    }
  }
}

ir_module *ir_module_clone(ir_module *from) {
  arena *scratch = ir_scratch_push(from->ctx);
  ir_map map = {.a = scratch};
  map.by_num = arena_zalloc(scratch, (module_number(from) + (size_t)1) * sizeof *map.by_num);
  ir_module *m = new_module(from->ctx);
  m->root = op_clone(m, from->root, &map);
  ir_scratch_pop(from->ctx);
  return m;
}

op *op_clone(ir_module *m, const op *o, ir_map *map) {
  if (!map && (o->num_regions || m->live_other)) map = ir_map_create(&m->arena);
  op *n = clone(m, o, map);
  if (m->live_other) clone_rest(m, o, n, map);
  return n;
}
