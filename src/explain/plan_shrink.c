/* A program of many layers that are alike, with a few of them: to search on. */
#include <stdlib.h>

#include "explain/plan.h"
#include "shard/sharding_ir.h"
#include "text/text.h"

enum { MIN_LAYERS = 8, ENDS = PLAN_ENDS, MIN_OPS = 4000 };

typedef struct member {
  u64 kind;
  u32 order;
  op *op;
  bool kept;
} member;

typedef struct shrinking {
  plan_answer *p;
  ir_module *m;
  arena *a;
  op *main;
  u32 layers;
  bool *keep_arg;
} shrinking;

static int by_kind(const void *a, const void *b) {
  const member *x = a, *y = b;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

/* How many of n alike there are in a layer; 0: they are of no layer. */
static u32 per_layer(const shrinking *s, size_t n) {
  return (u32)((n + s->layers / 2) / s->layers);
}

/* Which of n alike stands for number i. */
static size_t stand_in(const shrinking *s, size_t n, size_t i) {
  size_t per = per_layer(s, n), end = per * ENDS;
  if (!per || n <= 2 * end || i < end || i >= n - end) return i;
  return end - per + i % per;
}

/* As many as most groups of arguments have members. */
static u32 count_layers(const plan_answer *p) {
  u32 best = 0, votes = 0;
  for (size_t g = 0; g < p->groups.len; g++) {
    u32 n = (u32)p->groups.data[g].args.len, same = 0;
    for (size_t k = 0; k < p->groups.len; k++) same += p->groups.data[k].args.len == n;
    if (n >= MIN_LAYERS && same > votes) best = n, votes = same;
  }
  return best;
}

static void replace_arguments(shrinking *s) {
  const block *b = op_body(s->main, 0);
  for (size_t g = 0; g < s->p->groups.len; g++) {
    const plan_group *x = &s->p->groups.data[g];
    for (size_t i = 0; i < x->args.len; i++) {
      size_t k = stand_in(s, x->args.len, i);
      s->keep_arg[x->args.data[i]] = k == i;
      if (k != i) value_replace(b->args[x->args.data[i]], b->args[x->args.data[k]]);
    }
  }
}

static const type *function_type(const op *main) {
  struct func_attrs f;
  return view_func(main, &f) ? f.function_type : NULL;
}

static bool is_dropped(const value *v) {
  const op *o = value_op(v);
  return o && o->num == 0;
}

/* Results of layers that go go, too: *index of each that stays. */
static void drop_results(shrinking *s, const attr **attrs_of, i32 *index) {
  op *end = op_terminator(op_body(s->main, 0));
  value **list = ARENA_ARRAY(s->a, value *, end->num_operands + 1);
  const type **kinds = ARENA_ARRAY(s->a, const type *, end->num_operands + 1);
  const array_attr *old = attr_as(array, op_attr(s->main, SLOT_NAME(res_attrs)));
  u32 n = 0;
  for (u32 i = 0; i < end->num_operands; i++) {
    value *v = op_operand(end, i);
    index[i] = -1;
    if (is_dropped(v) || (v->is_arg && !s->keep_arg[v->index])) continue;
    attrs_of[n] = old ? old->elems.data[i] : attr_dict(s->m->ctx, NULL, 0);
    kinds[n] = v->type;
    index[i] = (i32)n;
    list[n++] = v;
  }
  op_set_operands(s->m, end, list, n);
  const type *f = type_function(s->m->ctx, type_inputs(function_type(s->main)), (types){kinds, n});
  op_set(s->main, func, function_type, attr_type(s->m->ctx, f));
  if (old) op_set(s->main, func, res_attrs, attr_array(s->m->ctx, (attrs){attrs_of, n}));
}

/* The member of each kind that stands for those that go has their users. */
static void replace_ops(shrinking *s, member *list, size_t n) {
  if (n) qsort(list, n, sizeof *list, by_kind);
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i; end < n && list[end].kind == list[i].kind;) end++;
    for (size_t k = i; k < end; k++) list[k].kept = stand_in(s, end - i, k - i) == k - i;
  }
  for (size_t i = 0; i < n; i++) list[i].op->num = list[i].kept;
}

static void move_users(shrinking *s, const member *list, size_t n) {
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i; end < n && list[end].kind == list[i].kind;) end++;
    for (size_t k = i; k < end; k++) {
      op *o = list[k].op, *to = list[i + stand_in(s, end - i, k - i)].op;
      for (u32 r = 0; o != to && r < o->num_results; r++)
        value_replace(op_result(o, r), op_result(to, r));
    }
  }
}

static void drop_arguments(shrinking *s, const i32 *index) {
  plan_answer *p = s->p;
  ir_module *m = s->m;
  block *b = op_body(s->main, 0);
  const type *f = function_type(s->main);
  const type **kinds = ARENA_ARRAY(s->a, const type *, p->num_args + 1);
  p->kept = ARENA_ARRAY(&p->a, u32, p->num_args + 1);
  for (u32 i = 0; i < p->num_args; i++) {
    i64 k;
    str alias = STR("tf.aliasing_output");
    if (attr_get_i64(func_named(s->main, FUNC_ARGS, i, alias), &k))
      func_set_named(m, s->main, FUNC_ARGS, i, alias,
                     index[k] < 0 ? NULL
                                  : attr_int(m->ctx, type_int(m->ctx, 32, SIGNLESS), index[k]));
  }
  const array_attr *old = attr_as(array, op_attr(s->main, SLOT_NAME(arg_attrs)));
  const attr **dicts = ARENA_ARRAY(s->a, const attr *, p->num_args + 1);
  for (u32 i = 0; i < p->num_args; i++) {
    if (!s->keep_arg[i]) continue;
    if (old) dicts[p->num_kept] = old->elems.data[i];
    kinds[p->num_kept] = b->args[i]->type;
    p->kept[p->num_kept++] = i;
  }
  for (u32 i = p->num_args; i-- > 0;)
    if (!s->keep_arg[i]) block_erase_arg(b, i);
  f = type_function(m->ctx, (types){kinds, p->num_kept}, type_results(f));
  op_set(s->main, func, function_type, attr_type(m->ctx, f));
  if (old) op_set(s->main, func, arg_attrs, attr_array(m->ctx, (attrs){dicts, p->num_kept}));
}

void plan_shrink(plan_answer *p, ir_module *m, const u64 *kinds) {
  shrinking s = {p, m, &m->arena, plan_entry(m), count_layers(p)};
  if (p->num_ops < MIN_OPS || s.layers < MIN_LAYERS) return;
  block *b = op_body(s.main, 0);
  size_t n = 0;
  for (op *o = b->first; o; o = o->next) n++;
  member *list = ARENA_ARRAY(s.a, member, n + 1);
  n = 0;
  for (op *o = b->first; o; o = o->next, n++)
    list[n] = (member){.kind = kinds[o->num], .order = (u32)n, .op = o};
  op *end = op_terminator(b);
  const attr **dicts = ARENA_ARRAY(s.a, const attr *, end->num_operands + 1);
  i32 *index = ARENA_ARRAY(s.a, i32, end->num_operands + 1);
  s.keep_arg = arena_zalloc(s.a, p->num_args + 1);
  replace_ops(&s, list, n);
  end->num = 1;
  for (size_t g = 0; g < p->groups.len; g++)
    for (size_t i = 0; i < p->groups.data[g].args.len; i++)
      s.keep_arg[p->groups.data[g].args.data[i]] = stand_in(&s, p->groups.data[g].args.len, i) == i;
  drop_results(&s, dicts, index);
  replace_arguments(&s);
  move_users(&s, list, n);
  for (op *o = b->last, *before; o; o = before) {
    before = o->prev;
    if (!o->num) op_erase(o);
  }
  drop_arguments(&s, index);
  buf text;
  buf_init(&text, &mem_system);
  if (text_print(&text, m, &(text_print_options){.debuginfo = true}))
    p->small = buf_take(&text, &p->a);
  p->layers = s.layers;
}
