/* The verifier's walk, in MLIR's order: an op before what is inside it, and where something is
 * wrong nothing after it, except that ops whose regions see no values from above (functions) are
 * checked each for itself, after the others of their block. So a run reports an error a function.
 * What needs symbols comes when all of a symbol table has passed, dominance at the end. */
#include "dialect/verify.h"

/* ---- dominance ---- */

/* Immediate dominators of the blocks of a region, by block.num; of a block that cannot be
 * reached: NOWHERE. */
typedef struct dominators {
  const region *region;
  u32 *idom;
} dominators;
enum { NOWHERE = UINT32_MAX };

static u32 number_blocks(const region *r) {
  u32 n = 0;
  for (block *b = r->first; b; b = b->next) b->num = n++;
  return n;
}

/* Reverse post-order of the blocks that are reached, first one first; returns how many. */
static u32 order_blocks(arena *a, const region *r, u32 n, block **order, u32 *place) {
  typedef struct frame {
    block *b;
    u16 next;
  } frame;
  frame *stack = ARENA_ARRAY(a, frame, n);
  u32 depth = 0, at = n;
  for (u32 i = 0; i < n; i++) place[i] = NOWHERE;
  stack[depth++] = (frame){r->first, 0};
  place[0] = 0;
  while (depth) {
    frame *f = &stack[depth - 1];
    const op *end = f->b->last;
    if (end && f->next < end->num_successors) {
      block *s = end->successors[f->next++];
      if (s->parent != r || place[s->num] != NOWHERE) continue;
      place[s->num] = 0;
      stack[depth++] = (frame){s, 0};
    } else {
      order[--at] = f->b;
      depth--;
    }
  }
  memmove(order, order + at, (n - at) * sizeof *order);
  for (u32 i = 0; i < n - at; i++) place[order[i]->num] = i;
  return n - at;
}

/* Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm. idom holds places in `order`. */
static void find_dominators(arena *a, const region *r, dominators *d) {
  u32 n = number_blocks(r);
  block **order = ARENA_ARRAY(a, block *, n);
  u32 *place = ARENA_ARRAY(a, u32, n), *idom = ARENA_ARRAY(a, u32, n);
  u32 reached = order_blocks(a, r, n, order, place);
  for (u32 i = 0; i < n; i++) idom[i] = NOWHERE;
  idom[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (u32 i = 0; i < reached; i++) { /* push i along its edges */
      const op *end = order[i]->last;
      for (u16 s = 0; end && idom[i] != NOWHERE && s < end->num_successors; s++) {
        if (end->successors[s]->parent != r) continue;
        u32 to = place[end->successors[s]->num], x = i, y = idom[to];
        if (to == 0) continue;
        while (y != NOWHERE && x != y) {
          while (x > y) x = idom[x];
          while (y > x) y = idom[y];
        }
        if (x != idom[to]) changed = true;
        idom[to] = x;
      }
    }
  }
  d->region = r;
  d->idom = ARENA_ARRAY(a, u32, n);
  for (u32 b = 0; b < n; b++) d->idom[b] = NOWHERE;
  for (u32 i = 0; i < reached; i++) d->idom[order[i]->num] = order[idom[i]]->num;
}

static bool block_dominates(checker *k, dominators *d, const block *a, const block *b) {
  if (a == b) return true;
  if (d->region != a->parent) find_dominators(k->scratch, a->parent, d);
  u32 at = b->num;
  while (at != a->num && d->idom[at] != NOWHERE && d->idom[at] != at) at = d->idom[at];
  return at == a->num;
}

static bool is_graph(const region *r) { return op_is(r->parent, module); }

/* Does `v` come before `o`? *isolated: an op between them sees no values from above. */
static bool dominates(checker *k, dominators *d, const value *v, const op *o, bool *isolated) {
  const block *home = v->is_arg ? v->def.block : v->def.op->parent;
  const op *at = o;
  *isolated = false;
  while (at && at->parent->parent != home->parent) {
    at = op_parent(at);
    if (at && op_has(at, ISOLATED)) *isolated = true;
    if (at && !at->parent) at = NULL;
  }
  if (!at || *isolated) return false;
  if (is_graph(home->parent)) return true;
  if (at->parent != home) return block_dominates(k, d, home, at->parent);
  return v->is_arg || v->def.op->num < at->num;
}

static const char *relation(const block *use, const block *def, bool arg) {
  if (use == def) return arg ? "" : " (op in the same block)";
  if (use->parent == def->parent) return arg ? " in the same region)" : " (op in the same region)";
  for (const op *p = block_op(use); p; p = op_parent(p))
    if (p->parent && p->parent->parent == def->parent)
      return arg ? " in a parent region)" : " (op in a parent region)";
  for (const op *p = block_op(def); p; p = op_parent(p))
    if (p->parent && p->parent->parent == use->parent)
      return arg ? " in a child region)" : " (op in a child region)";
  return arg ? " neither in a parent nor in a child region)"
             : " (op is neither in a parent nor in a child region)";
}

static bool not_dominated(checker *k, const op *o, u32 i) {
  const value *v = op_operand(o, i);
  loc_error(k->c, o->loc, "operand #%u does not dominate this use", i);
  if (!v->is_arg) {
    loc_note(k->c, v->def.op->loc, "operand defined here%s",
             relation(o->parent, v->def.op->parent, false));
    return false;
  }
  u32 index = 0;
  for (const block *b = v->def.block->prev; b; b = b->prev) index++;
  loc_note(k->c, block_op(v->def.block)->loc, "operand defined as a block argument (block #%u%s",
           index, relation(o->parent, v->def.block, true));
  return false;
}

static const op *isolating(const op *o) {
  do {
    o = op_parent(o);
  } while (o && !op_has(o, ISOLATED));
  return o;
}

static bool check_dominance(checker *k, const op *o, dominators *d) {
  for (u16 r = 0; r < o->num_regions; r++) {
    const region *g = &o->regions[r];
    dominators inner = {0};
    for (block *b = g->first; b; b = b->next) {
      if (b != g->first && g->first->next) {
        if (d->region != g) find_dominators(k->scratch, g, d);
        if (d->idom[b->num] == NOWHERE) continue; /* nothing gets there */
      }
      for (const op *x = b->first; x; x = x->next) {
        for (u32 i = 0; i < x->num_operands; i++) {
          bool isolated;
          if (dominates(k, d, op_operand(x, i), x, &isolated)) continue;
          if (!isolated) return not_dominated(k, x, i);
          op_error(k->c, x, "using value defined outside the region");
          const op *p = isolating(x);
          if (p) loc_note(k->c, p->loc, "required by region isolation constraints");
          return false;
        }
        if (x->num_regions && !check_dominance(k, x, &inner)) return false;
      }
    }
  }
  return true;
}

/* ---- symbols ---- */

const op *checker_symbol(checker *k, const op *table, str name) {
  if (k->symbols_of != table) {
    k->symbols = symbol_map_build(table, k->scratch);
    k->symbols_of = table;
  }
  return symbol_map_find(k->symbols, name);
}

static bool check_names(checker *k, const op *table) {
  for (const op *o = op_body(table, 0)->first; o; o = o->next) {
    str name = symbol_name(o);
    const op *first = name.len ? checker_symbol(k, table, name) : o;
    if (first == o) continue;
    loc_error(k->c, o->loc, "redefinition of symbol named '" STR_FMT "'", STR_ARG(name));
    loc_note(k->c, first->loc, "see existing symbol definition here");
    return false;
  }
  return true;
}

/* The ops inside that are not in a symbol table of their own. */
static bool check_symbol_uses(checker *k, const op *o) {
  for (u16 r = 0; r < o->num_regions; r++)
    for (const block *b = o->regions[r].first; b; b = b->next)
      for (const op *x = b->first; x; x = x->next) {
        op_id id = op_kind(x);
        if (id < OP_COUNT && symbol_use_of[id] && !symbol_use_of[id](k, x)) return false;
        if (x->num_regions && !op_has(x, SYMBOL_TABLE) && !check_symbol_uses(k, x)) return false;
      }
  return true;
}

/* ---- blocks ---- */

static bool is_unknown(const op *o) { return op_kind(o) == OP_unregistered && !o->info->hooks; }

static bool needs_terminator(const block *b) {
  const region *r = b->parent;
  if (r->first->next) return true;
  return !is_unknown(r->parent) && !op_has(r->parent, NO_TERMINATOR);
}

static bool enter_block(checker *k, const block *b) {
  if (!b->last && needs_terminator(b))
    return loc_error(k->c, block_op(b)->loc, "empty block: expect at least a terminator");
  for (const op *o = b->first; o; o = o->next) {
    if (o->num_successors && o != b->last)
      return loc_error(k->c, o->loc,
                       "operation with block successors must terminate its parent block");
    for (u16 s = 0; s < o->num_successors; s++)
      if (o->successors[s] == b->parent->first)
        return loc_error(k->c, block_op(b)->loc, "entry block of region may not have predecessors");
  }
  return true;
}

static bool leave_block(checker *k, const block *b) {
  if (!b->last) return true;
  for (u16 s = 0; s < b->last->num_successors; s++)
    if (b->last->successors[s]->parent != b->parent)
      return op_error(k->c, b->last, "branching to block of a different region");
  if (!needs_terminator(b) || is_unknown(b->last) || op_has(b->last, TERMINATOR)) return true;
  return loc_error(k->c, b->last->loc, "block with no terminator, has '" STR_FMT "'",
                   STR_ARG(b->last->info->name));
}

/* ---- ops ---- */

static bool verify_op(checker *k, const op *o);

static bool verify_block(checker *k, const block *b) {
  if (!enter_block(k, b)) return false;
  bool ok = true, any_isolated = false;
  for (const op *o = b->first; o; o = o->next) {
    if (o->num_regions && op_has(o, ISOLATED))
      any_isolated = true;
    else if (!verify_op(k, o))
      return false;
  }
  if (!leave_block(k, b)) return false;
  for (const op *o = b->first; any_isolated && o; o = o->next)
    if (o->num_regions && op_has(o, ISOLATED) && !verify_op(k, o)) ok = false;
  return ok;
}

static bool verify_op(checker *k, const op *o) {
  if (o->num_attrs && !check_discardable(k, o)) return false;
  if (!check_row(k, o)) return false;
  if (!o->num_regions) return check_row_end(k, o);
  bool table = op_is(o, module);
  const hash_index outer = k->meshes;
  bool ok = !table || checker_enter_module(k, o);
  for (u16 r = 0; ok && r < o->num_regions; r++)
    for (const block *b = o->regions[r].first; b && ok; b = b->next) ok = verify_block(k, b);
  if (table) ok = ok && check_names(k, o) && check_symbol_uses(k, o);
  k->meshes = outer;
  return ok && check_row_end(k, o);
}

bool dialect_verify(ir_module *m) {
  checker k = {.m = m, .c = m->ctx};
  dominators none = {0};
  if (!op_is(m->root, module) || (m->root->num_regions == 1 && !op_body(m->root, 0)))
    return op_error(k.c, m->root, "expected a module");
  k.scratch = ir_scratch_push(k.c);
  module_number(m);
  bool ok = verify_op(&k, m->root) && check_dominance(&k, m->root, &none);
  ir_scratch_pop(k.c);
  return ok;
}
