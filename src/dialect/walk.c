/* The verifier's walk, in MLIR's order: an op before what is inside it, and where something is
 * wrong nothing after it, except that ops whose regions see no values from above (functions) are
 * checked each for itself, after the others of their block. So a run reports an error a function.
 * What needs symbols comes when all of a symbol table has passed, dominance at the end. */
#include "dialect/verify.h"

/* ---- dominance ---- */

/* A block's place in the tree of dominators of its region. */
typedef struct place {
  u32 at;   /* preorder; NOWHERE: nothing gets to the block */
  u32 size; /* of the subtree */
} place;
enum { NOWHERE = UINT32_MAX };

/* What finding dominators knows of a block that is reached, all in preorder of the walk to them. */
typedef struct vertex {
  const block *b;
  u32 parent; /* in the walk, later an ancestor further up */
  u32 label;  /* of those from here to below `parent` the one with the least `semi` */
  u32 semi, idom;
  u32 edge;      /* the first into it, plus one; the others follow */
  u32 size, in;  /* of the subtree of dominators; where what is next in it goes */
  u16 successor; /* to go to */
} vertex;
typedef struct edge {
  u32 from, next;
} edge;

static u16 successors(const block *b) { return b->last ? b->last->num_successors : 0; }

/* Numbers the reachable blocks in preorder of a depth-first walk and returns how many; *edges: of
 * them, at most. The way back is in `parent`, not on the C stack: a text may chain a million
 * blocks. */
static u32 walk_blocks(const region *r, place *places, vertex *v, size_t *edges) {
  u32 n = 1, at = 0;
  v[0] = (vertex){.b = r->first, .size = 1};
  places[0].at = 0;
  *edges = successors(r->first);
  for (;;) {
    vertex *x = &v[at];
    if (x->successor < successors(x->b)) {
      const block *s = x->b->last->successors[x->successor++];
      if (s->parent != r || places[s->num].at != NOWHERE) continue;
      places[s->num].at = n;
      *edges += successors(s);
      v[n] = (vertex){.b = s, .parent = at, .idom = at, .semi = n, .label = n, .size = 1};
      at = n++;
    } else if (at == 0) {
      return n;
    } else {
      at = x->parent;
    }
  }
}

static void list_edges(const region *r, const place *places, vertex *v, u32 n, edge *e) {
  u32 k = 0;
  for (u32 i = 0; i < n; i++)
    for (u16 s = 0; s < successors(v[i].b); s++) {
      const block *to = v[i].b->last->successors[s];
      if (to->parent != r) continue;
      vertex *x = &v[places[to->num].at];
      e[k] = (edge){i, x->edge};
      x->edge = ++k;
    }
}

/* The label of x once the way up to the first below `linked` is one step. */
static u32 compress(vertex *v, u32 *stack, u32 x, u32 linked) {
  u32 depth = 0;
  for (; v[x].parent >= linked; x = v[x].parent) stack[depth++] = x;
  while (depth) {
    vertex *above = &v[x], *below = &v[x = stack[--depth]];
    if (v[above->label].semi < v[below->label].semi) below->label = above->label;
    below->parent = above->parent;
  }
  return v[x].label;
}

/* Georgiadis: Linear-Time Algorithms for Dominators and Related Problems, 2.2: SEMI-NCA, as in
 * LLVM. Overwrites block.num, the index into what it returns. Vertices have preorder numbers, so a
 * loop from the end meets descendants before ancestors and one from the start the other way round.
 * The last loop makes intervals of the tree: the blocks that b dominates are those whose `at` lies
 * in [at of b, at + size of b). */
static const place *find_dominators(arena *a, const region *r) {
  u32 n = 0;
  for (block *b = r->first; b; b = b->next) b->num = n++;
  place *places = ARENA_ARRAY(a, place, n);
  for (u32 i = 0; i < n; i++) places[i] = (place){NOWHERE, 0};
  vertex *v = ARENA_ARRAY(a, vertex, n);
  u32 *stack = ARENA_ARRAY(a, u32, n);
  size_t edges;
  n = walk_blocks(r, places, v, &edges);
  edge *e = ARENA_ARRAY(a, edge, edges);
  list_edges(r, places, v, n, e);
  for (u32 i = n; --i > 0;) {
    v[i].semi = v[i].parent;
    for (u32 k = v[i].edge; k; k = e[k - 1].next) {
      u32 semi = v[compress(v, stack, e[k - 1].from, i + 1)].semi;
      if (semi < v[i].semi) v[i].semi = semi;
    }
  }
  for (u32 i = 1; i < n; i++)
    while (v[i].idom > v[i].semi) v[i].idom = v[v[i].idom].idom;
  for (u32 i = n; --i > 0;) v[v[i].idom].size += v[i].size;
  for (u32 i = 0; i < n; i++) {
    place *p = &places[v[i].b->num];
    *p = (place){i ? v[v[i].idom].in : 0, v[i].size};
    v[i].in = p->at + 1;
    if (i) v[v[i].idom].in += v[i].size;
  }
  return places;
}

/* The region has several blocks. Found once a region and kept: asking is then two comparisons,
 * where walking up the tree for every operand would be quadratic in a long chain of blocks. */
static const place *dominators(checker *k, const region *r) {
  const place *p = index_get(&k->dominators, r);
  if (!p) index_set(&k->dominators, k->scratch, r, (void *)(p = find_dominators(k->scratch, r)));
  return p;
}

/* Of a block that nothing reaches `size` is 0, so it dominates nothing. */
static bool block_dominates(checker *k, const block *a, const block *b) {
  const place *places = dominators(k, a->parent), *p = &places[a->num], *q = &places[b->num];
  return q->at != NOWHERE && q->at - p->at < p->size;
}

/* In MLIR a module's body is a graph region: its ops have no order, so any value there may be used
 * anywhere in it. */
static bool is_graph(const region *r) { return op_is(r->parent, module); }

/* Does `v` come before `o`? Walks up from o to the op of it that stands in v's region: what is
 * inside an op sees what comes before that op, and not its own results. *isolated: an op between
 * them sees no values from above. Relies on op.num, which module_number set, for order in a
 * block. */
static bool dominates(checker *k, const value *v, const op *o, bool *isolated) {
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
  if (at->parent != home) return block_dominates(k, home, at->parent);
  return v->is_arg || v->def.op->num < at->num;
}

/* Where the definition stands as seen from the use, in the words of MLIR's verifier. */
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

/* After all else has passed and over the whole module, as in MLIR: its errors would be misleading
 * where ops are malformed. In blocks that nothing reaches every use is right, since none is ever
 * executed (LLVM's rule). */
static bool check_dominance(checker *k, const op *o) {
  for (u16 r = 0; r < o->num_regions; r++) {
    const region *g = &o->regions[r];
    const place *places = g->first && g->first->next ? dominators(k, g) : NULL;
    for (block *b = g->first; b; b = b->next) {
      if (places && places[b->num].at == NOWHERE) continue; /* nothing gets there */
      for (const op *x = b->first; x; x = x->next) {
        for (u32 i = 0; i < x->num_operands; i++) {
          bool isolated;
          if (dominates(k, op_operand(x, i), x, &isolated)) continue;
          if (!isolated) return not_dominated(k, x, i);
          op_error(k->c, x, "using value defined outside the region");
          const op *p = isolating(x);
          if (p) loc_note(k->c, p->loc, "required by region isolation constraints");
          return false;
        }
        if (x->num_regions && !check_dominance(k, x)) return false;
      }
    }
  }
  return true;
}

/* ---- symbols ---- */

/* symbol_map_find gives the first op of a name, so any other op of that name is the
 * redefinition. */
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

/* Blocks that control flow joins need terminators, whatever op they are in; a lone block does not
 * where its op says so, or where nobody knows its op. */
static bool needs_terminator(const block *b) {
  const region *r = b->parent;
  if (r->first->next) return true;
  return !is_unknown(r->parent) && !op_has(r->parent, NO_TERMINATOR);
}

/* OperationVerifier::verifyOnEntrance of MLIR, for blocks; leave_block is verifyOnExit. What an op
 * says itself comes between them. */
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

/* All that is checked of it, but for discardable attributes, are its slots and types. */
static bool says_all(const op *o) {
  op_id id = op_kind(o);
  return id < OP_COUNT && !o->num_regions && !o->num_successors && !symbol_use_of[id] &&
         o->info->family != FAMILY_coll && !op_has(o, TERMINATOR | SYMBOL) &&
         str_starts(o->info->name, STR("stablehlo."));
}

static u64 hash_row(const op *o) {
  u64 h = hash_ptr(o->info, o->num_operands);
  for (u32 i = 0; i < o->num_operands; i++) h = hash_ptr(op_operand(o, i)->type, h);
  for (u32 i = 0; i < o->num_results; i++) h = hash_ptr(op_result(o, i)->type, h);
  for (u32 i = 0; i < o->info->num_slots; i++) h = hash_ptr(o->slots[i], h);
  return h;
}

static bool same_row(const op *a, const op *b) {
  if (a->info != b->info || a->num_operands != b->num_operands || a->num_results != b->num_results)
    return false;
  for (u32 i = 0; i < a->num_operands + a->num_results; i++)
    if (op_tensor(a, i)->type != op_tensor(b, i)->type) return false;
  for (u32 i = 0; i < a->info->num_slots; i++)
    if (a->slots[i] != b->slots[i]) return false;
  return true;
}

/* Of the equal ops of equal layers one is looked at. */
static bool verify_row(checker *k, const op *o) {
  if (!says_all(o)) return check_row(k, o) && check_row_end(k, o);
  u64 h = hash_row(o);
  op *other;
  for (size_t at = 0; (other = index_next(&k->rows, h, &at));)
    if (same_row(o, other)) return true;
  if (!check_row(k, o) || !check_row_end(k, o)) return false;
  index_add(&k->rows, k->scratch, h, (op *)(uintptr_t)o);
  return true;
}

/* Isolated ops wait until the others of the block have passed, then each is checked though one
 * before failed: MLIR does so to check functions in parallel, and its users have come to see one
 * error a function. */
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

/* Discardable attributes, the row, the regions, names and uses of symbols, inference: each relies
 * on those before it. Meshes are of the innermost module, so that outside counts again
 * afterwards. */
static bool verify_op(checker *k, const op *o) {
  if (o->num_attrs && !check_discardable(k, o)) return false;
  if (!o->num_regions) return verify_row(k, o);
  if (!check_row(k, o)) return false;
  bool table = op_is(o, module);
  const hash_index outer = k->meshes, fitted = k->shardings;
  if (table) k->shardings = (hash_index){0};
  bool ok = !table || checker_enter_module(k, o);
  for (u16 r = 0; ok && r < o->num_regions; r++)
    for (const block *b = o->regions[r].first; b && ok; b = b->next) ok = verify_block(k, b);
  if (table) ok = ok && check_names(k, o) && check_symbol_uses(k, o);
  k->meshes = outer;
  if (table) k->shardings = fitted;
  return ok && check_row_end(k, o);
}

static bool verify_shardings(checker *k, const op *o) {
  if (o->num_attrs && !check_discardable(k, o)) return false;
  bool says = op_is(o, func) || o->info->hooks || str_starts(o->info->name, STR("sdy."));
  if (says && !check_row(k, o)) return false;
  bool ok = true;
  for (u16 r = 0; ok && r < o->num_regions; r++)
    for (const block *b = o->regions[r].first; b && ok; b = b->next)
      for (const op *x = b->first; x && ok; x = x->next) ok = verify_shardings(k, x);
  return ok && (!says || check_row_end(k, o));
}

bool dialect_verify_shardings(ir_module *m) {
  checker k = {.m = m, .c = m->ctx, .scratch = ir_scratch_push(m->ctx)};
  bool ok = checker_enter_module(&k, m->root) && verify_shardings(&k, m->root) &&
            check_symbol_uses(&k, m->root);
  ir_scratch_pop(k.c);
  return ok;
}

bool dialect_verify(ir_module *m) {
  checker k = {.m = m, .c = m->ctx};
  if (!op_is(m->root, module)) return op_error(k.c, m->root, "expected a module");
  k.scratch = ir_scratch_push(k.c);
  module_number(m);
  bool ok = verify_op(&k, m->root) && check_dominance(&k, m->root);
  ir_scratch_pop(k.c);
  return ok;
}
