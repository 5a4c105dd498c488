#include "api/verify_look.h"

#include "base/index.h"
#include "shard/sharding_ir.h"
#include "text/text.h"

/* ---- more results ---- */

static bool is_runnable(const type *t) {
  return type_is_ranked(t) && type_is_static(t) && t->elem->kind != TYPE_QUANT;
}

/* The function's type and attributes as what it returns has become; said: of the results that it
 * did not have, NULL where nothing is. */
static void fit_signature(ir_module *m, op *f, const op *end, const attr *const *said) {
  u32 n = end->num_operands, old = (u32)func_num(f, FUNC_RESULTS);
  const type **out = ARENA_ARRAY(&m->arena, const type *, n + 1);
  struct func_attrs v;
  view_func(f, &v);
  for (u32 i = 0; i < n; i++) out[i] = op_operand(end, i)->type;
  const array_attr *had = attr_as(array, op_attr(f, SLOT_NAME(res_attrs)));
  const attr **dicts = ARENA_ARRAY(&m->arena, const attr *, n + 1);
  for (u32 i = 0; i < n; i++)
    dicts[i] = had && i < old ? had->elems.data[i] : attr_dict(m->ctx, NULL, 0);
  const type *t = type_function(m->ctx, type_inputs(v.function_type), (types){out, n});
  op_set(f, func, function_type, attr_type(m->ctx, t));
  if (had || said) op_set(f, func, res_attrs, attr_array(m->ctx, (attrs){dicts, n}));
  for (u32 i = old; said && i < n; i++)
    if (said[i - old]) func_set_sharding(m, f, FUNC_RESULTS, i, said[i - old]);
}

/* ---- calls ---- */

/* What a call does, in its place. false: not to be opened. */
static bool open_call(why_log *w, ir_module *m, op *o) {
  struct call_attrs c;
  op *f = view_call(o, &c) ? symbol_find(m->root, c.callee) : NULL;
  block *b = f && op_is(f, func) ? op_body(f, 0) : NULL;
  if (!b || b->next || b->num_args != o->num_operands) return false;
  ir_map *map = ir_map_create(&w->a);
  for (u32 i = 0; i < b->num_args; i++) ir_map_set(map, b->args[i], op_operand(o, i));
  for (op *x = b->first; x != b->last; x = x->next) op_insert(op_clone(m, x, map), o->parent, o);
  for (u32 i = 0; i < o->num_results; i++) {
    value *v = op_operand(b->last, i), *to = ir_map_get(map, v);
    value_replace(op_result(o, i), to ? to : v);
  }
  op_erase(o);
  return true;
}

static void open_calls(why_log *w, ir_module *m, block *b) {
  for (op *o = b->first; o;) {
    op *before = o->prev, *after = o->next;
    bool opened = op_is(o, call) && open_call(w, m, o);
    o = !opened ? after : before ? before->next : b->first;
  }
}

/* ---- nobody shards ---- */

/* "mesh=x=1,y=1" */
static void note_meshes(looking *l, why_log *w, ir_module *m) {
  VEC(const char *) list = {0};
  FOR_OPS(o, op_body(m->root, 0)) {
    struct sdy_mesh_attrs v;
    if (!op_is(o, sdy_mesh) || !view_sdy_mesh(o, &v) || !v.mesh->axes.len) continue;
    str text = arena_printf(&w->a, STR_FMT "=", STR_ARG(symbol_name(o)));
    for (size_t i = 0; i < v.mesh->axes.len; i++)
      text = arena_printf(&w->a, STR_FMT "%s" STR_FMT "=1", STR_ARG(text), i ? "," : "",
                          STR_ARG(attr_as(mesh_axis, v.mesh->axes.data[i])->name));
    VEC_PUSH(&w->a, list, text.data);
  }
  VEC_PUSH(&w->a, list, NULL);
  l->meshes = list.data;
}

typedef struct freeing {
  ir_module *m;
  const attr *mesh; /* of manual computations */
  bool manual;
} freeing;

static walk_result find_manual(void *user, op *o) {
  freeing *f = user;
  struct manual_computation_attrs v;
  if (!op_is(o, manual_computation) || !view_manual_computation(o, &v)) return WALK_ON;
  attrs said =
      v.in_shardings->shardings.len ? v.in_shardings->shardings : v.out_shardings->shardings;
  if (said.len) f->mesh = attr_as(tensor_sharding, said.data[0])->mesh;
  f->manual = true;
  return WALK_ON;
}

static value *keep_whole(const freeing *f, value *v, const attr *loc, op *before, block *in) {
  op *x = op_create(f->m, &op_infos[OP_sharding_constraint], loc, &v, 1, &v->type, 1, 0);
  op_set(x, sharding_constraint, sharding,
         shard_attr_replicated(f->m->ctx, f->mesh, type_rank(v->type), true));
  op_insert(x, in, before);
  return op_result(x, 0);
}

/* Nothing comes into a manual computation or out of it that is not whole. */
static void wall_in(const freeing *f, op *o) {
  for (u32 i = 0; i < o->num_operands; i++)
    if (type_is_ranked(op_operand(o, i)->type))
      op_set_operand(o, i, keep_whole(f, op_operand(o, i), o->loc, o, o->parent));
  for (u32 i = 0; i < o->num_results; i++) {
    value *v = op_result(o, i);
    if (!type_is_ranked(v->type)) continue;
    value *to = keep_whole(f, v, o->loc, o->next, o->parent);
    value_replace_except(v, to, value_parent(to));
  }
}

/* Constraints of the program are nobody's, save in what is written for the mesh. */
static void free_block(const freeing *f, block *b) {
  for (op *o = b->first, *next; o; o = next) {
    next = o->next;
    if (op_is(o, manual_computation)) {
      wall_in(f, o);
      continue;
    }
    for (u32 r = 0; r < o->num_regions; r++)
      for (block *in = o->regions[r].first; in; in = in->next) free_block(f, in);
    if (!op_is(o, sharding_constraint)) continue;
    value_replace(op_result(o, 0), op_operand(o, 0));
    op_erase(o);
  }
}

static void keep_rest_whole(const freeing *f) {
  if (!f->mesh) return;
  free_block(f, op_body(f->m->root, 0));
  op *main = symbol_find(f->m->root, STR("main"));
  for (int k = 0; main && k < 2; k++) {
    func_side side = k ? FUNC_RESULTS : FUNC_ARGS;
    for (size_t i = 0; i < func_num(main, side); i++) {
      const type *t = func_type_of(main, side, i);
      if (type_is_ranked(t))
        func_set_sharding(f->m, main, side, i,
                          shard_attr_replicated(f->m->ctx, f->mesh, type_rank(t), true));
    }
  }
}

/* ---- looking ---- */

static bool in_range(const looking *l, u32 number) {
  return number >= l->first && number - l->first < l->count;
}

static void add_value(looking *l, ir_module *m, op *end, value *v, u32 number) {
  VEC_PUSH(l->a, l->values, ((why_place){WHY_RESULT, number, v->index}));
  op_append_operand(m, end, v);
}

static void add_values(looking *l, why_log *w, ir_module *m, block *b) {
  op *end = op_terminator(b);
  for (op *o = b->first; o != end; o = o->next) {
    const why_tag *t = index_get(&w->tags, o->loc);
    if (!t || !in_range(l, t->op) || op_has(o, CONSTANT) || op_kind(o) >= OP_COUNT) continue;
    for (u32 i = 0; i < o->num_results; i++)
      if (is_runnable(op_result(o, i)->type)) add_value(l, m, end, op_result(o, i), t->op);
  }
}

static block *main_block(ir_module *m, op **out_main) {
  *out_main = symbol_find(m->root, STR("main"));
  block *b = *out_main ? op_body(*out_main, 0) : NULL;
  return b && !b->next ? b : NULL;
}

bool look_at_source(void *user, why_log *w, ir_module *m) {
  looking *l = user;
  op *main;
  block *b = main_block(m, &main);
  freeing f = {.m = m};
  l->a = &w->a;
  l->values.len = l->values.cap = 0;
  l->pieces.len = l->pieces.cap = 0;
  op_walk(m->root, find_manual, &f);
  l->manual = f.manual;
  if (!l->reference) note_meshes(l, w, m);
  if (!l->reference || !b) return true;
  if (f.manual) keep_rest_whole(&f);
  if (!l->count) return true;
  open_calls(w, m, b);
  add_values(l, w, m, b);
  fit_signature(m, main, op_terminator(b), NULL);
  return true;
}

const why_mesh *first_mesh(const why_log *w) { return w->meshes.len ? &w->meshes.data[0] : NULL; }

bool in_manual(const why_log *w, u32 op) {
  while (op && !str_is(w->ops.data[op].name, "sdy.manual_computation")) op = w->ops.data[op].parent;
  return op != 0;
}

/* A value of the program of one device, and what it could be pieces of. */
typedef struct piece {
  value *v;
  why_place of;
} piece;

typedef struct cutting {
  looking *l;
  const why_log *w;
  ir_module *m;
  op *end;
  const why_mesh *mesh;
  VEC(piece) list;
} cutting;

/* Along the first dimension over all axes. */
static const attr *pieces_sharding(const cutting *c, size_t rank) {
  if (!c->mesh) return NULL;
  arena *a = &c->m->arena;
  str axes = {0}, dims = {0};
  for (size_t i = 0; i < c->mesh->axes.len; i++)
    axes = arena_printf(a, STR_FMT "%s\"" STR_FMT "\"", STR_ARG(axes), i ? ", " : "",
                        STR_ARG(c->mesh->axes.data[i]));
  for (size_t d = 1; d < rank; d++) dims = arena_printf(a, STR_FMT ", {}", STR_ARG(dims));
  str text = arena_printf(a, "#sdy.sharding<@" STR_FMT ", [{" STR_FMT "}" STR_FMT "]>",
                          STR_ARG(c->mesh->name), STR_ARG(axes), STR_ARG(dims));
  return text_parse_attr(c->m->ctx, text, NULL);
}

static bool serves(const cutting *c, const op *o, u32 number) {
  why_tags tags = why_read(c->w, &c->m->arena, o->loc);
  for (size_t k = 0; k < tags.len; k++)
    if (tags.data[k].op == number) return true;
  return false;
}

/* What only goes on to other ops that serve the same one is on its way. */
static bool leaves(const cutting *c, const value *v, u32 number) {
  for (const use *u = v->uses; u; u = u->next)
    if (!serves(c, u->owner, number)) return true;
  return false;
}

/* How many results op `number` of the source has; 0: one of them is parts of a sum, as it should
 * be.
 */
static u32 count_results(const why_log *w, u32 number) {
  u32 n = 0;
  for (size_t i = 0; i < w->values.len; i++) {
    const why_value *v = &w->values.data[i];
    if (v->at.op != number) continue;
    if (v->sharding.len && strstr(v->sharding.data, "unreduced=")) return 0;
    if (v->at.index >= n) n = v->at.index + 1;
  }
  return n;
}

/* Of the tags of an op that is several in one, is the k-th for its result i? They come in the order
 * of the results; where one of these has several they are told by the reason. */
static bool is_for(const why_log *w, why_tags tags, size_t k, u32 i, u32 num_results) {
  why_kind kind = w->reasons.data[tags.data[k].reason].kind;
  u32 before = 0, alike = 0;
  if (tags.len == num_results) return k == i;
  for (size_t j = 0; j < tags.len; j++) {
    bool is = w->reasons.data[tags.data[j].reason].kind == kind;
    alike += is;
    before += is && j < k;
  }
  return alike == num_results && before == i;
}

/* Which result of the source's op result i of o is that has its k-th tag; WHY_NOWHERE: one of them,
 * if any. */
static why_place place_of(const cutting *c, const op *o, u32 i, why_tags tags, size_t k) {
  why_tag t = tags.data[k];
  const why_reason *r = &c->w->reasons.data[t.reason];
  u32 n = count_results(c->w, t.op);
  why_place p = {WHY_RESULT, t.op, i};
  if (!r->kind && o->num_results == n && str_eq(o->info->name, c->w->ops.data[t.op].name)) return p;
  if (r->kind == WHY_RESULT_OF && o->num_results == 1) return p.index = r->index, p;
  if (n == 1 && o->num_results == 1) return p;
  p.index = r->kind == WHY_RESULT_OF ? r->index : 0;
  bool known = (n == 1 || r->kind == WHY_RESULT_OF) && is_for(c->w, tags, k, i, o->num_results);
  if (!known) p.at = WHY_NOWHERE;
  return p;
}

/* What moves an operand is never what the op makes. */
static void find_pieces(cutting *c, op *o) {
  why_tags tags = why_read(c->w, &c->m->arena, o->loc);
  for (size_t k = 0; k < tags.len; k++) {
    u32 number = tags.data[k].op;
    why_kind kind = c->w->reasons.data[tags.data[k].reason].kind;
    if (!in_range(c->l, number) || kind == WHY_OPERAND || kind == WHY_FLOW || kind == WHY_END ||
        !count_results(c->w, number) || (c->l->reference && !in_manual(c->w, number)))
      continue;
    for (u32 i = 0; i < o->num_results; i++) {
      value *v = op_result(o, i);
      piece p = {v, place_of(c, o, i, tags, k)};
      if (is_runnable(v->type) && leaves(c, v, number)) VEC_PUSH(&c->m->arena, c->list, p);
    }
  }
}

/* With a dimension of one element before the others. */
static const attr *add_piece(cutting *c, piece p) {
  VEC(i64) dims = {0};
  VEC_PUSH(&c->m->arena, dims, 1);
  for (size_t d = 0; d < p.v->type->dims.len; d++)
    VEC_PUSH(&c->m->arena, dims, p.v->type->dims.data[d]);
  const type *t = type_with_dims(c->m->ctx, p.v->type, (i64s){dims.data, dims.len});
  op *x = op_create(c->m, &op_infos[OP_reshape], c->end->loc, &p.v, 1, &t, 1, 0);
  op_insert(x, c->end->parent, c->end);
  op_append_operand(c->m, c->end, op_result(x, 0));
  VEC_PUSH(c->l->a, c->l->pieces, p.of);
  return pieces_sharding(c, dims.len);
}

bool look_at_pieces(void *user, const why_log *w, ir_module *m) {
  looking *l = user;
  op *main;
  if (!l->reference && l->s->plant && !l->s->plant(l->s->user, w, m)) return false;
  block *b = main_block(m, &main);
  if (!b || !l->count || (l->reference && !l->manual)) return true;
  cutting c = {l, w, m, op_terminator(b), first_mesh(w)};
  for (op *o = b->first; o != c.end; o = o->next)
    if (!op_has(o, CONSTANT) && op_kind(o) < OP_COUNT) find_pieces(&c, o);
  const attr **said = ARENA_ARRAY(&m->arena, const attr *, c.list.len + 1);
  for (size_t i = 0; i < c.list.len; i++) said[i] = add_piece(&c, c.list.data[i]);
  fit_signature(m, main, c.end, said);
  return true;
}
