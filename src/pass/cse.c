/* cse: an op equal to one that dominates it is replaced by it; dead ops go. MLIR's rules: regions
 * first, scopes by block, only ops without effects, those with regions of several blocks never.
 * Uses of what dies count until the end, so a chain of dead ops takes one run each. */
#include "base/index.h"
#include "dialect/effects.h"
#include "pass/passes.h"
#include "pass/rewrite.h"

typedef struct known {
  struct known *next; /* in its bucket, latest first */
  u64 hash;
  op *o;
} known;

/* A stack of known ops with a hash table over it: a scope ends by popping. */
typedef struct scope_table {
  known **buckets;
  size_t cap;
  VEC(known *) stack;
} scope_table;

typedef struct cse {
  arena *a;
  VEC(op *) dead;
} cse;

static void table_link(scope_table *t, known *k) {
  known **b = &t->buckets[k->hash & (t->cap - 1)];
  k->next = *b;
  *b = k;
}

/* Doubles the table and links everything anew; popping later entries first keeps buckets right. */
static void known_push(cse *c, scope_table *t, u64 hash, op *o) {
  if (t->stack.len >= t->cap) {
    t->cap = t->cap ? t->cap * 2 : 64;
    t->buckets = arena_zalloc(c->a, t->cap * sizeof *t->buckets);
    for (size_t i = 0; i < t->stack.len; i++) table_link(t, t->stack.data[i]);
  }
  known *k = ARENA_NEW(c->a, known);
  k->hash = hash;
  k->o = o;
  VEC_PUSH(c->a, t->stack, k);
  table_link(t, k);
}

static void known_pop(scope_table *t, size_t len) {
  while (t->stack.len > len) {
    known *k = t->stack.data[--t->stack.len];
    t->buckets[k->hash & (t->cap - 1)] = k->next;
  }
}

/* ---- equality ---- */

/* How far into regions hashes look: enough to tell bodies of reductions and branches apart, and
 * yet no op is looked at once for each of the many that it may be nested in. */
enum { LEVELS = 2 };

static bool is_inside(const value *v, const op *top) {
  const op *p = value_parent(v);
  for (int n = 0; p && n <= LEVELS; n++, p = op_parent(p))
    if (p == top) return true;
  return false;
}

/* top: the values inside of it count by their types alone; those of its twin are others. */
static u64 hash_op(const op *o, const op *top, int levels) {
  u64 h = hash_ptr(o->info, o->num_operands);
  for (u32 i = 0; i < o->info->num_slots; i++)
    if (o->slots[i]) h = hash_u64(attr_hash(o->slots[i]), h + i);
  for (u32 i = 0; i < o->num_attrs; i++) h = hash_u64(attr_hash(o->attrs[i].value), h);
  for (u32 i = 0; i < o->num_results; i++) h = hash_ptr(o->results[i].type, h);
  u64 sum = 0; /* without order, for ops that commute */
  for (u32 i = 0; i < o->num_operands; i++) {
    const value *x = op_operand(o, i);
    u64 v = hash_ptr(top && is_inside(x, top) ? (const void *)x->type : x, 0);
    if (op_commutes(o))
      sum += v;
    else
      h = hash_u64(v, h);
  }
  for (u32 k = 0; levels && k < o->num_regions; k++)
    for (const block *b = o->regions[k].first; b; b = b->next)
      for (const op *x = b->first; x; x = x->next) h = hash_u64(hash_op(x, top, levels - 1), h);
  return hash_u64(sum, h);
}

static bool same_attrs(const op *a, const op *b) {
  for (u32 i = 0; i < a->info->num_slots; i++)
    if (!attr_same(a->slots[i], b->slots[i])) return false;
  if (a->num_attrs != b->num_attrs) return false;
  for (u32 i = 0; i < a->num_attrs; i++)
    if (a->attrs[i].name != b->attrs[i].name || !attr_same(a->attrs[i].value, b->attrs[i].value))
      return false;
  return true;
}

static const value *mapped(const ir_map *map, const value *v) {
  return map ? ir_map_get(map, v) : v;
}

static bool same_operands(const op *a, const op *b, const ir_map *map) {
  if (a->num_operands != b->num_operands) return false;
  if (op_commutes(a) && a->num_operands == 2) {
    const value *x = mapped(map, op_operand(a, 0)), *y = mapped(map, op_operand(a, 1));
    if (x == op_operand(b, 1) && y == op_operand(b, 0)) return true;
  }
  for (u32 i = 0; i < a->num_operands; i++)
    if (mapped(map, op_operand(a, i)) != op_operand(b, i)) return false;
  return true;
}

/* `map` says which values inside a's regions stand for which of b's. */
static bool same_op(cse *c, const op *a, const op *b, ir_map **map);

static bool same_block(cse *c, const block *a, const block *b, ir_map **map) {
  if (a->num_args != b->num_args) return false;
  for (u32 i = 0; i < a->num_args; i++) {
    if (a->args[i]->type != b->args[i]->type) return false;
    ir_map_set(*map, a->args[i], b->args[i]);
  }
  const op *x = a->first, *y = b->first;
  for (; x && y; x = x->next, y = y->next) {
    if (!same_op(c, x, y, map)) return false;
    for (u32 i = 0; i < x->num_results; i++)
      ir_map_set(*map, &x->results[i], (value *)&y->results[i]);
  }
  return !x && !y;
}

static bool same_region(cse *c, const region *a, const region *b, ir_map **map) {
  const block *x = a->first, *y = b->first;
  for (; x && y; x = x->next, y = y->next)
    if (!same_block(c, x, y, map)) return false;
  return !x && !y;
}

static bool same_op(cse *c, const op *a, const op *b, ir_map **map) {
  if (a->info != b->info || a->num_results != b->num_results || a->num_regions != b->num_regions ||
      a->num_successors || b->num_successors)
    return false;
  for (u32 i = 0; i < a->num_results; i++)
    if (a->results[i].type != b->results[i].type) return false;
  if (!*map && a->num_regions) *map = ir_map_create(c->a);
  if (!same_attrs(a, b)) return false;
  if (!same_operands(a, b, *map)) return false;
  for (u32 k = 0; k < a->num_regions; k++)
    if (!same_region(c, &a->regions[k], &b->regions[k], map)) return false;
  return true;
}

bool region_same(arena *a, const region *x, const region *y) {
  ir_map *map = ir_map_create(a);
  return same_region(&(cse){.a = a}, x, y, &map);
}

u64 region_hash(const region *g) {
  u64 h = 0;
  for (const block *b = g->first; b; b = b->next)
    for (const op *o = b->first; o; o = o->next)
      h = hash_u64(hash_op(o, region_op(g), LEVELS - 1), h);
  return h;
}

static op *find_equal(cse *c, const scope_table *t, u64 hash, const op *o) {
  if (!t->cap) return NULL;
  for (known *k = t->buckets[hash & (t->cap - 1)]; k; k = k->next) {
    ir_map *map = NULL;
    if (k->hash == hash && same_op(c, k->o, o, &map)) return k->o;
  }
  return NULL;
}

/* ---- the walk ---- */

/* A region of several blocks would need dominance within; MLIR leaves those alone, too. */
static void simplify_op(cse *c, scope_table *t, op *o) {
  if (op_has(o, TERMINATOR)) return;
  for (u32 k = 0; k < o->num_regions; k++)
    if (o->regions[k].first != o->regions[k].last) return;
  if (!op_is_effect_free(o)) return;
  u64 h = hash_op(o, o->num_regions ? o : NULL, LEVELS);
  op *same = find_equal(c, t, h, o);
  if (!same) {
    known_push(c, t, h, o);
    return;
  }
  for (u32 i = 0; i < o->num_results; i++) value_replace(op_result(o, i), op_result(same, i));
  if (attr_is(loc_unknown, same->loc)) same->loc = o->loc;
  VEC_PUSH(c->a, c->dead, o);
}

static void simplify_region(cse *c, scope_table *t, const region *g) {
  for (const block *b = g->first; b; b = b->next) {
    size_t before = t->stack.len;
    for (op *o = b->first; o; o = o->next) {
      if (op_is_dead(o)) { /* and what is in it is not looked at */
        VEC_PUSH(c->a, c->dead, o);
        continue;
      }
      scope_table own = {0};
      bool apart = op_has(o, ISOLATED) || op_kind(o) == OP_unregistered;
      for (u32 k = 0; k < o->num_regions; k++) simplify_region(c, apart ? &own : t, &o->regions[k]);
      simplify_op(c, t, o);
    }
    known_pop(t, before);
  }
}

bool cse_region(arena *scratch, const region *g) {
  cse c = {.a = scratch};
  scope_table t = {0};
  simplify_region(&c, &t, g);
  for (size_t i = 0; i < c.dead.len; i++) op_erase(c.dead.data[i]);
  return c.dead.len != 0;
}

bool pass_cse(ir_module *m, arena *scratch, const pass_args *args) {
  const op *root = pass_root(m, args);
  for (u32 k = 0; k < root->num_regions; k++) cse_region(scratch, &root->regions[k]);
  return true;
}
