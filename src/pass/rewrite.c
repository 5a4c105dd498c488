/* The greedy driver: rewrite.h says in which order.
 *
 * Data: a stack with holes (op.num is an op's place), patterns by op id in the order of benefit,
 * and the constants of an iteration by value. Whatever changes an op pushes it, its users or its
 * producers again, so a region is done when the stack is empty; iterations repeat because moving
 * constants and dropping blocks is not announced. */
#include "pass/rewrite.h"

#include "base/index.h"
#include "dialect/effects.h"
#include "pass/passes.h"

typedef VEC(rewrite_pattern) pattern_list;

struct rewriter {
  ir_module *m;
  arena *a;
  const rewrite_config *config;
  region *scope;
  VEC(op *) work; /* a NULL: taken out again. op->num: place + 1, or 0 */
  pattern_list patterns[OP_COUNT];
  i64 rewrites;
  hash_index symbols; /* symbol_ref -> op, of those that were asked for */
  hash_index places;  /* op -> place in its block, from 1, when its block was first asked about */
};

ir_module *rewriter_module(const rewriter *r) { return r->m; }
arena *rewriter_scratch(const rewriter *r) { return r->a; }
void *rewriter_user(const rewriter *r) { return r->config->user; }

/* Remembered: a module may have thousands of functions in front of its meshes. */
op *rewriter_symbol(rewriter *r, const attr *ref) {
  op *o = index_get(&r->symbols, ref);
  if (!o && (o = symbol_find(r->m->root, symbol_of(ref)))) index_set(&r->symbols, r->a, ref, o);
  return o;
}

/* ---- which patterns ---- */

static bool named_in(str list, str name) {
  if (!name.len || !list.len) return false;
  for (size_t i = 0, begin = 0; i <= list.len; i++) {
    if (i < list.len && list.data[i] != ',') continue;
    if (str_eq((str){list.data + begin, i - begin}, name)) return true;
    begin = i + 1;
  }
  return false;
}

static bool is_enabled(const rewrite_config *c, const rewrite_pattern *p) {
  str name = str_of(p->name), label = p->label ? str_of(p->label) : (str){0};
  str dialect = op_infos[p->op].name;
  dialect.len = strcspn(dialect.data, ".");
  if (named_in(c->disabled, name) || named_in(c->disabled, label)) return false;
  if (c->dialects.len && !named_in(c->dialects, dialect)) return false;
  return !c->enabled.len || named_in(c->enabled, name) || named_in(c->enabled, label);
}

/* Behind all of at least its benefit. */
static void add_pattern(rewriter *r, const rewrite_pattern *p) {
  pattern_list *l = &r->patterns[p->op];
  VEC_PUSH(r->a, *l, *p);
  size_t i = l->len - 1;
  for (; i && l->data[i - 1].benefit < p->benefit; i--) l->data[i] = l->data[i - 1];
  l->data[i] = *p;
}

/* ---- the stack ---- */

static void push_one(rewriter *r, op *o) {
  if (o->num) return;
  VEC_PUSH(r->a, r->work, o);
  o->num = (u32)r->work.len;
}

/* An op and the ops around it, if they are inside the scope. */
static void push(rewriter *r, op *o) {
  op *top = o;
  for (; top; top = op_parent(top))
    if (top->parent && top->parent->parent == r->scope) break;
  if (!top) return;
  for (;; o = op_parent(o)) {
    push_one(r, o);
    if (o == top) return;
  }
}

static void take_out(rewriter *r, op *o) {
  if (o->num) r->work.data[o->num - 1] = NULL;
  o->num = 0;
}

static op *pop(rewriter *r) {
  while (r->work.len) {
    op *o = r->work.data[--r->work.len];
    if (!o) continue;
    o->num = 0;
    return o;
  }
  return NULL;
}

/* Filled in order and turned round, as addToWorklist and reverse do in MLIR. */
static void reverse(rewriter *r) {
  size_t n = r->work.len;
  for (size_t i = 0; i < n / 2; i++) {
    op *t = r->work.data[i];
    r->work.data[i] = r->work.data[n - 1 - i];
    r->work.data[n - 1 - i] = t;
  }
  for (size_t i = 0; i < n; i++)
    if (r->work.data[i]) r->work.data[i]->num = (u32)i + 1;
}

/* ---- changes ---- */

void rewrite_inserted(rewriter *r, op *o) { push(r, o); }
void rewrite_modified(rewriter *r, op *o) { push(r, o); }

op *rewrite_create(rewriter *r, op *before, op_id id, const attr *loc, value *const *operands,
                   size_t num_operands, const type *const *results, size_t num_results) {
  const op_info *info = &op_infos[id];
  size_t regions = info->num_regions == ANY_REGIONS ? 0 : info->num_regions;
  op *o = op_create(r->m, info, loc, operands, num_operands, results, num_results, regions);
  op_insert(o, before->parent, before);
  push(r, o);
  return o;
}

/* The order of the list of uses matters: each use moved comes to the front of the new value's. */
void rewrite_replace_value(rewriter *r, value *from, value *to) {
  if (from == to) return;
  for (use *u = from->uses, *next; u; u = next) {
    next = u->next;
    op *owner = u->owner;
    op_set_operand(owner, (size_t)(u - owner->operands), to);
    push(r, owner);
  }
}

/* A producer left with at most one user may be dead, or match anew. */
static void push_producers(rewriter *r, const op *o) {
  enum { FEW = 16 };
  hash_index seen = {0}; /* where going through all uses of a value for each might be much */
  for (u32 i = 0; i < o->num_operands; i++) {
    const value *v = op_operand(o, i);
    op *def = v ? value_op(v) : NULL;
    if (!def || (o->num_operands > FEW && index_pair(&seen, v))) continue;
    if (o->num_operands > FEW) index_set(&seen, r->a, v, NULL);
    if (value_is_nearly_unused(v, o)) push(r, def);
  }
}

static void erase_inside(rewriter *r, op *o) {
  for (size_t k = o->num_regions; k-- > 0;)
    for (block *b = o->regions[k].last; b; b = b->prev)
      for (op *i = b->last, *prev; i; i = prev) {
        prev = i->prev;
        rewrite_erase(r, i);
      }
}

void rewrite_erase(rewriter *r, op *o) {
  erase_inside(r, o);
  push_producers(r, o);
  take_out(r, o);
  op_erase(o);
}

void rewrite_replace(rewriter *r, op *o, value *const *with) {
  for (u32 i = 0; i < o->num_results; i++) rewrite_replace_value(r, op_result(o, i), with[i]);
  rewrite_erase(r, o);
}

/* ---- order ---- */

/* Numbers of constants are not used: those move. */
static void number_block(rewriter *r, const block *b) {
  uintptr_t n = 1;
  for (const op *o = b->first; o; o = o->next)
    if (!op_has(o, CONSTANT)) index_set(&r->places, r->a, o, (void *)n++);
}

/* Of the last op at or before o that has a number; *steps from there to o. */
static uintptr_t place_of(const rewriter *r, const op *o, size_t *steps) {
  for (*steps = 0; o; o = o->prev, ++*steps) {
    uintptr_t n = (uintptr_t)index_get(&r->places, o);
    if (n) return n;
  }
  return 0;
}

/* Numbers of a block are made once; ops that came later are found by walking back to one that has
 * one, which is short as patterns insert near what they replace. */
bool rewrite_is_before(rewriter *r, const op *a, const op *b) {
  size_t x, y;
  if (a->parent != b->parent) return false;
  if (!index_get(&r->places, a->parent)) {
    index_set(&r->places, r->a, a->parent, r);
    number_block(r, a->parent);
  }
  uintptr_t m = place_of(r, a, &x), n = place_of(r, b, &y);
  return m != n ? m < n : x < y;
}

/* ---- constants: one of each, at the front ---- */

const attr *value_constant(const value *v) {
  const op *o = value_op(v);
  return o && op_has(o, CONSTANT) && !op_is(o, sdy_constant) ? op_attr(o, SLOT_NAME(value)) : NULL;
}

static bool is_constant(const op *o) {
  return op_has(o, CONSTANT) && !op_is(o, sdy_constant) && o->num_results == 1 &&
         o->num_operands == 0 && op_attr(o, SLOT_NAME(value));
}

typedef struct constants {
  rewriter *r;
  hash_index by_value; /* of op */
  hash_index owned;
} constants;

bool attr_same(const attr *a, const attr *b) {
  if (a == b) return true;
  const dense_attr *x = attr_as(dense, a), *y = attr_as(dense, b);
  return x && y && (!a->unique || !b->unique) && x->type == y->type && x->splat == y->splat &&
         str_eq(x->data, y->data);
}

u64 attr_hash(const attr *a) {
  const dense_attr *d = attr_as(dense, a);
  return d ? hash_bytes(d->data.data, d->data.len, hash_ptr(d->type, 0)) : hash_ptr(a, 0);
}

/* The region at whose front constants of a block are kept. */
static region *constant_region(const block *b) {
  for (;; b = b->parent->parent->parent) {
    const op *o = block_op(b);
    if (!o->parent || op_has(o, ISOLATED) || op_kind(o) == OP_unregistered) return b->parent;
  }
}

static bool is_owned(const constants *c, const op *o) {
  return o && index_get(&c->owned, o) != NULL;
}

/* false: merged with one there is. */
static bool keep_constant(constants *c, op *o) {
  rewriter *r = c->r;
  const attr *v = op_attr(o, SLOT_NAME(value));
  region *into = constant_region(o->parent);
  const type *t = o->results[0].type;
  u64 h = hash_u64(attr_hash(v), hash_ptr(into, hash_ptr(t, hash_ptr(o->info, 0))));
  op *e;
  for (size_t at = 0; (e = index_next(&c->by_value, h, &at));)
    if (e->info == o->info && e->results[0].type == t && constant_region(e->parent) == into &&
        attr_same(op_attr(e, SLOT_NAME(value)), v)) {
      value *with = op_result(e, 0);
      rewrite_replace(r, o, &with);
      e->loc = loc_unknown(r->m->ctx);
      return false;
    }
  block *front = into->first;
  if (o->parent != front || (front->first != o && !is_owned(c, o->prev))) {
    if (o->parent != front) o->loc = loc_unknown(r->m->ctx);
    op *first = front->first;
    op_unlink(o);
    op_insert(o, front, first);
  }
  index_add(&c->by_value, r->a, h, o);
  index_set(&c->owned, r->a, o, o);
  return true;
}

static void visit(rewriter *r, constants *c, region *g);

static void visit_op(rewriter *r, constants *c, op *o) {
  bool post = r->config->bottom_up;
  if (post)
    for (u32 k = 0; k < o->num_regions; k++) visit(r, c, &o->regions[k]);
  if (!r->config->only_patterns && is_constant(o) && !keep_constant(c, o)) return;
  push(r, o);
  if (!post)
    for (u32 k = 0; k < o->num_regions; k++) visit(r, c, &o->regions[k]);
}

static void visit(rewriter *r, constants *c, region *g) {
  for (block *b = g->first; b; b = b->next) FOR_OPS(o, b) visit_op(r, c, o);
}

/* ---- the loop ---- */

/* Constants that stand for the attributes among the results; false: one cannot be made. */
static bool materialize(rewriter *r, op *o, const fold_result *f, value **out) {
  str name = o->info->name;
  bool chlo = str_starts(name, STR("chlo.")), hlo = str_starts(name, STR("stablehlo."));
  for (u32 i = 0; i < o->num_results; i++) {
    out[i] = f[i].value;
    if (out[i]) continue;
    const type *t = o->results[i].type;
    const dense_attr *d = attr_as(dense, f[i].attr);
    const op_info *info = chlo ? op_info_find(STR("chlo.constant")) : &op_infos[OP_constant];
    if (!(chlo || hlo) || !info || !d || d->type != t) return false;
    op *k = rewrite_create(r, o, info->id, o->loc, NULL, 0, &t, 1);
    op_set_any(k, value, f[i].attr);
    out[i] = op_result(k, 0);
  }
  return true;
}

static bool try_fold(rewriter *r, op *o) {
  if (op_has(o, CONSTANT)) return false;
  enum { FEW = 8 };
  fold_result few[FEW] = {{0}};
  fold_result *f = o->num_results <= FEW ? few : ARENA_ARRAY(r->a, fold_result, o->num_results);
  switch (op_fold(r->m->ctx, o, f)) {
  case FOLD_NOT:
    return false;
  case FOLD_IN_PLACE:
    push(r, o);
    return true;
  case FOLD_REPLACED:
    break;
  }
  value **with = ARENA_ARRAY(r->a, value *, o->num_results + 1u);
  if (!materialize(r, o, f, with)) return false;
  rewrite_replace(r, o, with);
  return true;
}

static bool try_patterns(rewriter *r, op *o) {
  if (op_kind(o) >= OP_COUNT) return false;
  const pattern_list *l = &r->patterns[op_kind(o)];
  for (size_t i = 0; i < l->len; i++)
    if (l->data[i].fn(r, o)) return r->rewrites++, true;
  return false;
}

/* The limit leaves the rest of the stack undone: op.num is cleared all the same. */
static bool process(rewriter *r) {
  bool changed = false;
  i64 limit = r->config->max_rewrites;
  for (op *o; (limit == -1 || r->rewrites < limit) && (o = pop(r));) {
    if (op_is_dead(o)) {
      rewrite_erase(r, o);
      changed = true;
    } else {
      bool folds = !r->config->only_patterns && !r->config->no_folds;
      changed |= (folds && try_fold(r, o)) || try_patterns(r, o);
    }
  }
  while (pop(r)) continue;
  return changed;
}

static bool rewrite_region(rewriter *r, region *g) {
  i64 limit = r->config->max_iterations;
  r->scope = g;
  for (i64 n = 0; limit == -1 || n < limit; n++) {
    constants c = {.r = r};
    r->rewrites = 0;
    visit(r, &c, g);
    if (!r->config->bottom_up) reverse(r);
    bool changed = regions_drop_unreached(r, g);
    changed |= process(r);
    if (!r->config->keep_regions) changed |= regions_erase_unneeded(r->a, g);
    if (r->config->cse) changed |= cse_region(r->a, g);
    if (!changed) return true;
  }
  return false;
}

static walk_result clear_num(void *user, op *o) {
  (void)user;
  o->num = 0;
  return WALK_ON;
}

void rewrite_greedily(ir_module *m, arena *scratch, op *root, const rewrite_config *config,
                      bool *converged) {
  rewriter *r = ARENA_NEW(scratch, rewriter);
  r->m = m;
  r->a = scratch;
  r->config = config;
  for (size_t i = 0; i < config->num_sets; i++)
    for (const rewrite_pattern *p = config->sets[i]; p->fn; p++)
      if (is_enabled(config, p)) add_pattern(r, p);
  op_walk(root, clear_num, NULL);
  bool ended = true;
  for (u32 k = 0; k < root->num_regions; k++)
    if (root->regions[k].first) ended &= rewrite_region(r, &root->regions[k]);
  if (converged) *converged = ended;
}
