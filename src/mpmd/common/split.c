/* Fragments cut in two, so that what others wait for, or what need not wait, comes first.
 *
 * Some results of the fragment are pulled: a second fragment behind it computes them, from all
 * that the first one has and from what the first one computed, its residuals. Of ops in the body,
 * op.num says where they go. What an op uses inside of its regions counts as its own. */
#include "base/index.h"
#include "mpmd/common/passes.h"
#include "mpmd/util.h"

enum { KEPT = 1, SEEN = 2 }; /* of op.num: it stays in the first; visited */

typedef struct splitter {
  ir_module *m;
  arena *a;
  op *fragment;
  block *body;
  u8 *pulled; /* by result */
  value_list residuals;
  hash_index is_residual;
} splitter;

static splitter split_begin(ir_module *m, arena *a, op *fragment) {
  splitter s = {.m = m, .a = a, .fragment = fragment, .body = op_body(fragment, 0)};
  s.pulled = arena_zalloc(a, fragment->num_results + 1u);
  for (op *o = s.body->first; o; o = o->next) o->num = 0;
  return s;
}

/* ---- what an op uses ---- */

typedef struct gatherer {
  arena *a;
  const op *root;
  value_list *out;
  hash_index seen;
} gatherer;

static walk_result gather(void *user, op *o) {
  gatherer *g = user;
  for (u32 i = 0; o != g->root && i < o->num_operands; i++) {
    value *v = op_operand(o, i);
    if (op_is_inside(value_parent(v), g->root) || index_pair(&g->seen, v)) continue;
    index_set(&g->seen, g->a, v, v);
    VEC_PUSH(g->a, *g->out, v);
  }
  return WALK_ON;
}

/* Operands, then what is used inside, each once. */
static void add_used(arena *a, op *o, value_list *out) {
  gatherer g = {.a = a, .root = o, .out = out};
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = op_operand(o, i);
    if (index_pair(&g.seen, v)) continue;
    index_set(&g.seen, a, v, v);
    VEC_PUSH(a, *out, v);
  }
  if (o->num_regions) op_walk_post(o, gather, &g);
}

/* ---- what stays and what is handed on ---- */

static void keep_for(splitter *s, value_list work) {
  while (work.len) {
    op *o = value_op(work.data[--work.len]);
    if (!o || o->num & KEPT) continue;
    o->num |= KEPT;
    add_used(s->a, o, &work);
  }
}

static void add_residual(splitter *s, value *v) {
  if (index_pair(&s->is_residual, v)) return;
  index_set(&s->is_residual, s->a, v, v);
  VEC_PUSH(s->a, s->residuals, v);
}

/* Where the computation of what is pulled begins; then what unused ops that go along need. */
static void find_residuals(splitter *s) {
  const op *ret = op_terminator(s->body);
  value_list work = {0};
  for (u32 i = 0; i < s->fragment->num_results; i++)
    if (s->pulled[i]) VEC_PUSH(s->a, work, op_operand(ret, i));
  while (work.len) {
    value *v = work.data[--work.len];
    op *o = value_op(v);
    if (!o || o->num & KEPT) {
      add_residual(s, v);
    } else if (!(o->num & SEEN)) {
      o->num |= SEEN;
      add_used(s->a, o, &work);
    }
  }
  for (op *o = s->body->first; o != ret; o = o->next) {
    work.len = 0;
    if (!o->num) add_used(s->a, o, &work); /* neither KEPT nor SEEN */
    for (size_t i = 0; i < work.len; i++)
      if (value_op(work.data[i]) && value_op(work.data[i])->num & KEPT)
        add_residual(s, work.data[i]);
  }
}

/* ---- the two ---- */

static const type *on_mesh(const splitter *s, const value *v) {
  if (!type_is_ranked(v->type)) return v->type;
  return type_mesh_tensor(s->m->ctx, fragment_mesh(s->fragment), v->type, NULL, NULL);
}

/* With a body that has the fragment's arguments. */
static op *create_half(const splitter *s, op *before, const value_list *operands,
                       const type_list *results, str mark) {
  const op *f = s->fragment;
  op *o = op_create(s->m, f->info, f->loc, operands->data, operands->len, results->data,
                    results->len, 1);
  block *b = block_create(s->m);
  mpmd_copy_attrs(s->m, f, o);
  op_set_attr(s->m, o, mark, attr_unit(s->m->ctx));
  region_append(&o->regions[0], b);
  for (u32 i = 0; i < s->body->num_args; i++) block_add_arg(s->m, b, s->body->args[i]->type);
  op_insert(o, f->parent, before);
  return o;
}

/* The ops of one half, and a return of these values in terms of the old body. */
static void fill_half(const splitter *s, op *half, ir_map *map, bool kept,
                      const value_list *returned) {
  value_list out = {0};
  block *b = op_body(half, 0);
  for (op *o = s->body->first; o != s->body->last; o = o->next)
    if (((o->num & KEPT) != 0) == kept) op_insert(op_clone(s->m, o, map), b, NULL);
  for (size_t i = 0; i < returned->len; i++)
    VEC_PUSH(s->a, out, ir_map_get(map, returned->data[i]));
  fragment_return(s->m, half, out.data, out.len);
}

static op *create_first(const splitter *s, op *before) {
  const op *ret = op_terminator(s->body);
  value_list in = {0}, out = {0};
  type_list types = {0};
  ir_map *map = ir_map_create(s->a);
  for (u32 i = 0; i < s->fragment->num_operands; i++)
    VEC_PUSH(s->a, in, op_operand(s->fragment, i));
  for (u32 i = 0; i < s->fragment->num_results; i++) {
    if (s->pulled[i]) continue;
    VEC_PUSH(s->a, out, op_operand(ret, i));
    VEC_PUSH(s->a, types, s->fragment->results[i].type);
  }
  for (size_t i = 0; i < s->residuals.len; i++) {
    VEC_PUSH(s->a, out, s->residuals.data[i]);
    VEC_PUSH(s->a, types, on_mesh(s, s->residuals.data[i]));
  }
  op *o = create_half(s, before, &in, &types, MPMD_SPLIT_KEEP);
  for (u32 i = 0; i < s->body->num_args; i++)
    ir_map_set(map, s->body->args[i], op_body(o, 0)->args[i]);
  fill_half(s, o, map, true, &out);
  return o;
}

static op *create_second(const splitter *s, op *before, op *first) {
  const op *ret = op_terminator(s->body);
  value_list in = {0}, out = {0};
  type_list types = {0};
  ir_map *map = ir_map_create(s->a);
  for (u32 i = 0; i < s->fragment->num_operands; i++)
    VEC_PUSH(s->a, in, op_operand(s->fragment, i));
  for (size_t i = 0; i < s->residuals.len; i++)
    VEC_PUSH(s->a, in, op_result(first, first->num_results - s->residuals.len + i));
  for (u32 i = 0; i < s->fragment->num_results; i++) {
    if (!s->pulled[i]) continue;
    VEC_PUSH(s->a, out, op_operand(ret, i));
    VEC_PUSH(s->a, types, s->fragment->results[i].type);
  }
  op *o = create_half(s, before, &in, &types, MPMD_SPLIT_DROP);
  block *b = op_body(o, 0);
  for (u32 i = 0; i < s->body->num_args; i++) ir_map_set(map, s->body->args[i], b->args[i]);
  for (size_t i = 0; i < s->residuals.len; i++)
    ir_map_set(map, s->residuals.data[i], block_add_arg(s->m, b, s->residuals.data[i]->type));
  fill_half(s, o, map, false, &out);
  return o;
}

static bool all_kept(const splitter *s) {
  const op *o = s->body->first;
  while (o != s->body->last && o->num & KEPT) o = o->next;
  return o == s->body->last;
}

static void split(splitter *s) {
  op *o = s->fragment, *before = o->next;
  if (all_kept(s)) return;
  find_residuals(s);
  op *first = create_first(s, before), *second = create_second(s, before, first);
  for (u32 i = 0, k = 0, p = 0; i < o->num_results; i++)
    value_replace(op_result(o, i), s->pulled[i] ? op_result(second, p++) : op_result(first, k++));
  op_erase(o);
}

/* Not one that was made by such a split, nor one under an order that was asked for. */
static bool can_split(const op *o) {
  return !op_discardable(o, MPMD_SPLIT_KEEP) && !op_discardable(o, MPMD_SPLIT_DROP) &&
         op_body(o, 0)->num_args == o->num_operands;
}

/* ---- transferred results first ---- */

static bool is_transferred(const value *v) {
  for (const use *u = v->uses; u; u = u->next)
    if (op_is(u->owner, mpmd_transfer)) return true;
  return false;
}

static void split_backward(ir_module *m, arena *a, op *o) {
  splitter s = split_begin(m, a, o);
  const op *ret = op_terminator(s.body);
  value_list kept = {0};
  for (u32 i = 0; i < o->num_results; i++) {
    s.pulled[i] = !is_transferred(op_result(o, i));
    if (!s.pulled[i]) VEC_PUSH(a, kept, op_operand(ret, i));
  }
  if (!kept.len || kept.len == o->num_results) return;
  keep_for(&s, kept);
  split(&s);
}

typedef void split_fn(ir_module *m, arena *a, op *o);

static void split_each(ir_module *m, arena *scratch, split_fn *fn) {
  op_list fragments = {0};
  ops_of_kind(scratch, m->root, OP_mpmd_fragment, &fragments);
  for (size_t i = 0; i < fragments.len; i++) {
    if (!can_split(fragments.data[i])) continue;
    fn(m, ir_scratch_push(m->ctx), fragments.data[i]);
    ir_scratch_pop(m->ctx);
  }
}

static void split_if_backward(ir_module *m, arena *a, op *o) {
  if (fragment_is_backward(o)) split_backward(m, a, o);
}

bool pass_mpmd_split_bwd(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  split_each(m, scratch, split_if_backward);
  return true;
}

/* ---- what waits for no transfer first ---- */

/* All ops of the body that some of the values flow to are not KEPT. */
static void keep_besides(splitter *s, value_list work) {
  for (op *o = s->body->first; o; o = o->next) o->num = KEPT;
  while (work.len) {
    const value *v = work.data[--work.len];
    for (const use *u = v->uses; u; u = u->next) {
      op *o = mpmd_ancestor_in(s->body, u->owner);
      if (!o || !o->num) continue;
      o->num = 0;
      for (u32 i = 0; i < o->num_results; i++) VEC_PUSH(s->a, work, op_result(o, i));
    }
  }
}

static bool flows_to(const splitter *s, const value *v, const value_list *from) {
  const op *o = value_op(v);
  if (o) return o->parent == s->body && !o->num;
  for (size_t i = 0; i < from->len; i++)
    if (from->data[i] == v) return true;
  return false;
}

static void split_late(ir_module *m, arena *a, op *o) {
  splitter s = split_begin(m, a, o);
  const op *ret = op_terminator(s.body);
  value_list late = {0};
  for (u32 i = 0; i < o->num_operands; i++) {
    const op *by = value_op(op_operand(o, i));
    if (by && op_is(by, mpmd_transfer)) VEC_PUSH(a, late, s.body->args[i]);
  }
  if (!late.len || late.len == o->num_operands) return;
  keep_besides(&s, late);
  bool some = false;
  for (u32 i = 0; i < o->num_results; i++) {
    s.pulled[i] = flows_to(&s, op_operand(ret, i), &late);
    some |= !s.pulled[i];
  }
  for (const op *i = s.body->first; i != ret; i = i->next) some |= i->num != 0;
  if (some) split(&s);
}

bool pass_mpmd_split_late(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  split_each(m, scratch, split_late);
  return true;
}
