/* terrazzo-combine-collectives: collectives of one kind over the same devices that do not need each
 * other's results become one, so that devices meet once instead of many times (combine.h says of
 * which kinds).
 *
 * Which go together is a schedule of the block's collectives, one group of a kind after the other,
 * each with all that are ready then. The group that most collectives in a row wait for is next:
 * others become larger meanwhile, as the gradients of a batch's parts do while the sums within
 * layers go their way. A group goes to the place of its last member, and what lies in between and
 * needs its results follows it. */
#include "partition/combine.h"
#include "dialect/effects.h"
#include "partition/passes.h"
#include "partition/why.h"
#include "partition/wire.h"

static const u32 OUTSIDE = UINT32_MAX;

typedef VEC(u32) numbers;

/* Collectives of one kind. */
typedef struct kind {
  combine_key key;
  numbers ready; /* by place */
  u32 left;      /* that are not ready yet */
} kind;

typedef struct group {
  const kind *of;
  combine_members members;
  op *all; /* NULL: there is but one */
} group;

/* A list of numbers for each op. */
typedef struct lists {
  u32 *begin, *end; /* of op i: in `all` */
  numbers all;
} lists;

typedef struct combine {
  part_env e;
  why_log *why; /* NULL: nobody asks */
  block *b;
  op *first, *end; /* the stretch of the block that matters: from the first to the last of them */
  u32 n;           /* ops of the stretch; op.num is a number below n, OUTSIDE of others */
  combine_member *member; /* of op i; o is NULL: it is none */
  u32 *kind;
  lists deps;  /* ops of the block that op i needs */
  lists users; /* and that need it */
  u32 *left;   /* how many of those that it needs are not done */
  u32 *height; /* how many collectives in a row begin with op i */
  numbers done;
  u32 *place, *now; /* now: the op that stands for op i: itself, or what it was combined into */
  bool *follows;    /* is the op at hand, or must go behind it */
  VEC(kind) kinds;
  VEC(group) groups;
} combine;

/* ---- what needs what ---- */

static walk_result add_deps(void *user, op *o) {
  combine *c = user;
  for (u32 i = 0; i < o->num_operands; i++) {
    const op *def = value_op(op_operand(o, i));
    if (def && def->parent == c->b && def->num != OUTSIDE) VEC_PUSH(c->e.a, c->deps.all, def->num);
  }
  return WALK_ON;
}

static void add_all_deps(combine *c, op *o) {
  if (o->num_regions)
    op_walk(o, add_deps, c);
  else
    add_deps(c, o);
}

/* These keep their order. */
static bool has_order(const op *o) {
  return op_is(o, custom_call) ||
         (!op_is_effect_free(o) && (op_kind(o) >= OP_COUNT || o->info->family != FAMILY_coll));
}

/* Dependences are of the stretch's own ops: what an op's regions use counts as used by the op. Ops
 * with effects depend on the one before. */
static void find_deps(combine *c) {
  arena *a = c->e.a;
  u32 effect = OUTSIDE;
  c->deps.begin = ARENA_ARRAY(a, u32, c->n);
  c->deps.end = ARENA_ARRAY(a, u32, c->n);
  for (op *o = c->first; o != c->end; o = o->next) {
    c->deps.begin[o->num] = (u32)c->deps.all.len;
    add_all_deps(c, o);
    if (has_order(o)) {
      if (effect != OUTSIDE) VEC_PUSH(a, c->deps.all, effect);
      effect = o->num;
    }
    c->deps.end[o->num] = (u32)c->deps.all.len;
  }
}

static void find_users(combine *c) {
  arena *a = c->e.a;
  u32 *at = arena_zalloc(a, (c->n + 1) * sizeof *at);
  lists *u = &c->users;
  for (size_t k = 0; k < c->deps.all.len; k++) at[c->deps.all.data[k] + 1]++;
  for (u32 i = 0; i < c->n; i++) at[i + 1] += at[i];
  u->all.data = ARENA_ARRAY(a, u32, c->deps.all.len + 1);
  u->begin = arena_copy(a, at, c->n * sizeof *at);
  u->end = arena_copy(a, at + 1, c->n * sizeof *at);
  for (u32 i = 0; i < c->n; i++)
    for (u32 k = c->deps.begin[i]; k < c->deps.end[i]; k++)
      u->all.data[at[c->deps.all.data[k]]++] = i;
}

static void find_heights(combine *c) {
  c->height = arena_zalloc(c->e.a, c->n * sizeof *c->height);
  for (u32 i = c->n; i-- > 0;) {
    c->height[i] += c->member[i].o != NULL;
    for (u32 k = c->deps.begin[i]; k < c->deps.end[i]; k++) {
      u32 *h = &c->height[c->deps.all.data[k]];
      if (*h < c->height[i]) *h = c->height[i];
    }
  }
}

/* ---- the schedule ---- */

static void insert_by_place(combine *c, numbers *to, u32 id) {
  VEC_PUSH(c->e.a, *to, id);
  size_t i = to->len - 1;
  for (; i && to->data[i - 1] > id; i--) to->data[i] = to->data[i - 1];
  to->data[i] = id;
}

static void now_ready(combine *c, u32 id) {
  if (!c->member[id].o) {
    VEC_PUSH(c->e.a, c->done, id);
    return;
  }
  kind *k = &c->kinds.data[c->kind[id]];
  insert_by_place(c, &k->ready, id);
  k->left--;
}

/* And all that can be done then without another collective. */
static void finish_op(combine *c, u32 id) {
  VEC_PUSH(c->e.a, c->done, id);
  while (c->done.len) {
    u32 at = c->done.data[--c->done.len];
    for (u32 k = c->users.begin[at]; k < c->users.end[at]; k++)
      if (!--c->left[c->users.all.data[k]]) now_ready(c, c->users.all.data[k]);
  }
}

static u32 most_waiting(const combine *c, const kind *k) {
  u32 most = 0;
  for (size_t i = 0; i < k->ready.len; i++)
    if (c->height[k->ready.data[i]] > most) most = c->height[k->ready.data[i]];
  return most;
}

/* A kind of which no more are to come loses nothing by being next. */
static kind *choose_kind(combine *c) {
  kind *best = NULL;
  u32 most = 0;
  for (size_t i = 0; i < c->kinds.len; i++) {
    kind *k = &c->kinds.data[i];
    u32 h = most_waiting(c, k);
    if (!k->ready.len) continue;
    if (!k->left) return k;
    if (!best || h > most || (h == most && k->ready.data[0] < best->ready.data[0]))
      best = k, most = h;
  }
  return best;
}

static void take_group(combine *c, kind *k) {
  group g = {.of = k};
  numbers taken = {0};
  size_t kept = 0;
  bool full = false;
  for (size_t i = 0; i < k->ready.len; i++) {
    u32 id = k->ready.data[i];
    const combine_member *m = &c->member[id];
    combine_answer may = i ? combine_takes(&k->key, &g.members, m) : COMBINE_TAKES;
    full |= may == COMBINE_FULL;
    if (may != COMBINE_TAKES || (full && !m->turns)) {
      k->ready.data[kept++] = id;
      continue;
    }
    VEC_PUSH(c->e.a, g.members, *m);
    VEC_PUSH(c->e.a, taken, id);
  }
  k->ready.len = kept;
  for (size_t i = 0; i < taken.len; i++) finish_op(c, taken.data[i]);
  if (taken.len > 1) VEC_PUSH(c->e.a, c->groups, g);
}

static void schedule(combine *c) {
  c->left = ARENA_ARRAY(c->e.a, u32, c->n);
  for (u32 i = 0; i < c->n; i++) c->left[i] = c->deps.end[i] - c->deps.begin[i];
  for (u32 i = 0; i < c->n; i++) {
    if (c->deps.end[i] != c->deps.begin[i]) continue;
    if (c->member[i].o)
      now_ready(c, i);
    else
      finish_op(c, i);
  }
  for (kind *k; (k = choose_kind(c));) take_group(c, k);
}

/* ---- moving ---- */

static op *make_combined(combine *c, const group *g, op *last) {
  arena *a = c->e.a;
  size_t n = g->members.len;
  const combine_key *key = &g->of->key;
  value **in = ARENA_ARRAY(a, value *, n);
  const type **types = ARENA_ARRAY(a, const type *, n);
  cursor at = cursor_before(&c->e, last);
  bool asked = true;
  for (size_t i = 0; i < n; i++) {
    const op *o = g->members.data[i].o;
    asked &= wire_is_asked(o);
    in[i] = op_operand(o, 0);
    types[i] = op_result(o, 0)->type;
    if (c->why) at.loc = why_join(c->why, c->e.c, i ? at.loc : o->loc, o->loc);
  }
  op *o = emit_op(&at, key->op, in, n, types, n, key->op == OP_all_reduce);
  memcpy(o->slots, g->members.data[0].o->slots, o->info->num_slots * sizeof *o->slots);
  if (asked) wire_set_asked(c->e.m, o);
  return o;
}

/* The combined op takes over the last member's number, and needs what any member needed. */
static void stand_for(combine *c, const group *g, op *all, const op *last) {
  u32 id = all->num = last->num, begin = (u32)c->deps.all.len;
  for (size_t i = 0; i < g->members.len; i++) {
    u32 member = g->members.data[i].o->num;
    for (u32 k = c->deps.begin[member]; k < c->deps.end[member]; k++) {
      u32 d = c->deps.all.data[k];
      VEC_PUSH(c->e.a, c->deps.all, d);
    }
    c->now[member] = id;
  }
  c->deps.begin[id] = begin;
  c->deps.end[id] = (u32)c->deps.all.len;
}

/* Ops from `from` up to `all` that need what is marked, directly or not, go behind `all`. */
static void move_behind(combine *c, op *from, op *all) {
  VEC(op *) moved = {0};
  op *end = all->next;
  for (op *o = from; o != all; o = o->next) {
    bool follows = false;
    for (u32 k = c->deps.begin[o->num]; k < c->deps.end[o->num]; k++)
      follows |= c->follows[c->now[c->deps.all.data[k]]];
    if (!follows) continue;
    c->follows[o->num] = true;
    VEC_PUSH(c->e.a, moved, o);
  }
  for (size_t i = 0; i < moved.len; i++) {
    op_unlink(moved.data[i]);
    op_insert(moved.data[i], c->b, end);
    c->follows[moved.data[i]->num] = false;
  }
}

static void bring_together(combine *c, group *g) {
  op *first = g->members.data[0].o, *last = first;
  for (size_t i = 1; i < g->members.len; i++) {
    op *o = g->members.data[i].o;
    if (c->place[o->num] < c->place[first->num]) first = o;
    if (c->place[o->num] > c->place[last->num]) last = o;
  }
  op *all = g->all = make_combined(c, g, last), *before = first->prev, *end = last->next;
  u32 place = c->place[first->num];
  stand_for(c, g, all, last);
  for (size_t i = 0; i < g->members.len; i++) {
    value_replace(op_result(g->members.data[i].o, 0), op_result(all, i));
    op_erase(g->members.data[i].o);
    g->members.data[i].o = NULL;
  }
  op *from = before ? before->next : c->b->first;
  c->follows[all->num] = true;
  move_behind(c, from, all);
  c->follows[all->num] = false;
  for (op *o = before ? before->next : c->b->first; o != end; o = o->next)
    c->place[o->num] = place++; /* there are fewer than before, so they fit */
}

/* ---- a block ---- */

static u32 kind_of(combine *c, const combine_key *key) {
  u32 k = 0;
  while (k < c->kinds.len && !combine_same_key(&c->e, &c->kinds.data[k].key, key)) k++;
  if (k == c->kinds.len) VEC_PUSH(c->e.a, c->kinds, ((kind){.key = *key}));
  return k;
}

typedef struct found {
  combine_members all;
  numbers kinds;
} found;

/* What does the same before it, as for two users of a neighbour's elements; NULL: nothing. Those
 * that were found have their numbers. */
static op *find_equal(const found *f, u32 kind, const combine_member *m) {
  for (const use *u = op_operand(m->o, 0)->uses; u; u = u->next) {
    const op *o = u->owner;
    if (o->parent != m->o->parent || o->num == OUTSIDE || f->kinds.data[o->num] != kind) continue;
    const combine_form *x = &f->all.data[o->num].form, *y = &m->form;
    if (x->dim == y->dim && x->to == y->to) return u->owner;
  }
  return NULL;
}

static void add_found(combine *c, found *f, const combine_key *key, const combine_member *m) {
  u32 k = kind_of(c, key);
  op *same = find_equal(f, k, m);
  if (same) {
    value_replace(op_result(m->o, 0), op_result(same, 0));
    op_erase(m->o);
    return;
  }
  m->o->num = (u32)f->all.len;
  c->kinds.data[k].left++;
  VEC_PUSH(c->e.a, f->all, *m);
  VEC_PUSH(c->e.a, f->kinds, k);
}

/* Numbers the stretch from the first collective to the last, of which there are some. */
static void number(combine *c, const found *f) {
  arena *a = c->e.a;
  const combine_members *all = &f->all;
  for (op *o = c->b->first; o; o = o->next) o->num = OUTSIDE;
  c->first = all->data[0].o;
  c->end = all->data[all->len - 1].o->next;
  for (op *o = c->first; o != c->end; o = o->next) o->num = c->n++;
  c->member = arena_zalloc(a, c->n * sizeof *c->member);
  c->kind = ARENA_ARRAY(a, u32, c->n);
  c->place = ARENA_ARRAY(a, u32, c->n);
  c->now = ARENA_ARRAY(a, u32, c->n);
  c->follows = arena_zalloc(a, c->n);
  for (u32 i = 0; i < c->n; i++) c->place[i] = c->now[i] = i;
  for (size_t i = 0; i < all->len; i++) {
    c->member[all->data[i].o->num] = all->data[i];
    c->kind[all->data[i].o->num] = f->kinds.data[i];
  }
}

static void combine_block(const part_env *e, why_log *why, block *b) {
  combine c = {.e = *e, .why = why, .b = b};
  found f = {0};
  for (op *o = b->first; o; o = o->next) o->num = OUTSIDE;
  FOR_OPS(o, b) {
    combine_key key;
    combine_member m;
    bool known = op_kind(o) < OP_COUNT && o->info->family == FAMILY_coll;
    if (known && combine_key_of(o, &key, &m)) add_found(&c, &f, &key, &m);
    for (u32 r = 0; r < o->num_regions && !known; r++)
      for (block *in = o->regions[r].first; in; in = in->next) combine_block(e, why, in);
  }
  if (c.kinds.len == f.all.len) return;
  number(&c, &f);
  find_deps(&c);
  find_users(&c);
  find_heights(&c);
  schedule(&c);
  for (size_t i = 0; i < c.groups.len; i++) bring_together(&c, &c.groups.data[i]);
  for (size_t i = 0; i < c.groups.len; i++) {
    group *g = &c.groups.data[i];
    combine_finish(e, &g->of->key, &g->members, g->all);
  }
}

bool part_combine_collectives(ir_module *m, arena *scratch, const pass_args *args) {
  part_env e = part_env_make(m, scratch);
  if (part_has_mesh(&e)) combine_block(&e, why_of(args), op_body(m->root, 0));
  return true;
}
