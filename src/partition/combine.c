/* terrazzo-combine-collectives: all-reduces over the same groups that do not need each other's
 * results become one with several operands, so that devices meet once instead of many times; and so
 * do all-gathers along one dimension, of which no more than a bucket become one, those that follow
 * one another: what is gathered is there as a whole until its last user is done.
 *
 * Collectives of one kind over the same devices share a key. The depth of an op is the largest
 * number of them on a path to it; two of one depth are independent, and stay so when others
 * are combined. Keys are treated one after the other, each on the block as it then is, as two
 * keys at once could need each other. A group goes to the place of its last member, and what lies
 * in between and needs its results follows it. Where an operand takes long by itself, one meeting
 * more does not show. */
#include "dialect/effects.h"
#include "partition/env.h"
#include "partition/passes.h"
#include "partition/record.h"
#include "partition/why.h"

enum { MAX_BYTES = 1 << 25, MAX_MEMBERS = 256 };

typedef struct group_key {
  op_id op;
  const attr *groups, *global;
  bool channel;        /* without one, ids are of replicas alone */
  const type *element; /* of all-reduces */
  unreduced_kind kind;
  i64 dim; /* of all-gathers */
} group_key;

typedef struct group {
  u32 depth;
  i64 bytes;         /* of the results of all-gathers */
  VEC(op *) members; /* by order of their first appearance */
} group;

typedef struct combine {
  part_env e;
  why_log *why; /* NULL: nobody asks */
  block *b;
  u32 n; /* ops of the block; op.num is a number below n */
  u32 *depth, *place;
  u32 *dep_begin, *dep_end; /* ops of the block that op i needs: deps[dep_begin[i] .. dep_end[i]) */
  VEC(u32) deps;
  u32 *now;      /* the op that stands for op i: itself, or what it was combined into */
  bool *follows; /* is the op at hand, or must go behind it */
  group_key key;
  VEC(group) groups;
} combine;

/* ---- what needs what ---- */

static walk_result add_deps(void *user, op *o) {
  combine *c = user;
  for (u32 i = 0; i < o->num_operands; i++) {
    const op *def = value_op(op_operand(o, i));
    if (def && def->parent == c->b) VEC_PUSH(c->e.a, c->deps, def->num);
  }
  return WALK_ON;
}

static bool bytes_of(const type *t, i64 *out) {
  i64 count;
  return type_is_ranked(t) && type_num_elements(t, &count) &&
         checked_mul(count, (i64)type_storage(t->elem), out) && *out <= MAX_BYTES;
}

static bool key_of(const op *o, group_key *out) {
  struct all_reduce_attrs r;
  struct all_gather_attrs g;
  i64 bytes;
  if ((!op_is(o, all_gather) && !op_is(o, all_reduce)) || o->num_operands != 1 ||
      !bytes_of(op_result(o, 0)->type, &bytes))
    return false;
  const attr *global = op_attr(o, SLOT_NAME(use_global_device_ids));
  if (op_is(o, all_gather) && view_all_gather(o, &g)) {
    *out = (group_key){.op = OP_all_gather,
                       .groups = &g.replica_groups->base,
                       .global = global,
                       .channel = g.channel_handle && g.channel_handle->handle > 0,
                       .dim = g.all_gather_dim};
    return true;
  }
  if (!op_is(o, all_reduce) || !view_all_reduce(o, &r) || !op_body(o, 0)) return false;
  *out = (group_key){.op = OP_all_reduce,
                     .groups = &r.replica_groups->base,
                     .global = global,
                     .channel = r.channel_handle && r.channel_handle->handle > 0,
                     .element = op_operand(o, 0)->type->elem};
  return part_body_kind(op_body(o, 0), 0, 1, &out->kind);
}

/* Lists of many devices are too large to be unique. */
static bool same_groups(const attr *x, const attr *y) {
  const dense_attr *a = attr_as(dense, x), *b = attr_as(dense, y);
  return x == y ||
         (a && b && a->type == b->type && a->splat == b->splat && str_eq(a->data, b->data));
}

static bool same_key(const group_key *x, const group_key *y) {
  return x->op == y->op && same_groups(x->groups, y->groups) && x->global == y->global &&
         x->channel == y->channel && x->element == y->element && x->kind == y->kind &&
         x->dim == y->dim;
}

static void add_member(combine *c, op *o) {
  u32 depth = c->depth[o->num];
  i64 bytes = 0;
  if (op_is(o, all_gather)) bytes_of(op_result(o, 0)->type, &bytes);
  for (size_t i = c->groups.len; i-- > 0;) {
    group *g = &c->groups.data[i];
    if (g->depth != depth) continue;
    if (g->members.len == MAX_MEMBERS || g->bytes + bytes > MAX_BYTES) break;
    g->bytes += bytes;
    VEC_PUSH(c->e.a, g->members, o);
    return;
  }
  VEC_PUSH(c->e.a, c->groups, ((group){.depth = depth, .bytes = bytes}));
  VEC_PUSH(c->e.a, c->groups.data[c->groups.len - 1].members, o);
}

/* These keep their order. */
static bool has_order(const op *o) {
  return op_is(o, custom_call) ||
         (!op_is_effect_free(o) && (op_kind(o) >= OP_COUNT || o->info->family != FAMILY_coll));
}

/* Places, dependences and depths of one block for one key. Dependences are of the block's own
 * ops: what an op's regions use counts as used by the op. Ops with effects depend on the one
 * before. */
static void study(combine *c) {
  arena *a = c->e.a;
  c->n = 0;
  for (op *o = c->b->first; o; o = o->next) o->num = c->n++;
  c->depth = arena_zalloc(a, c->n * sizeof(u32));
  c->place = arena_zalloc(a, c->n * sizeof(u32));
  c->follows = arena_zalloc(a, c->n);
  c->dep_begin = arena_zalloc(a, c->n * sizeof(u32));
  c->dep_end = arena_zalloc(a, c->n * sizeof(u32));
  c->now = arena_zalloc(a, c->n * sizeof(u32));
  bool *reduces = arena_zalloc(a, c->n);
  u32 effect = UINT32_MAX;
  for (op *o = c->b->first; o; o = o->next) {
    u32 id = o->num;
    c->place[id] = c->now[id] = id;
    c->dep_begin[id] = (u32)c->deps.len;
    op_walk(o, add_deps, c);
    if (has_order(o)) {
      if (effect != UINT32_MAX) VEC_PUSH(a, c->deps, effect);
      effect = id;
    }
    c->dep_end[id] = (u32)c->deps.len;
    for (u32 k = c->dep_begin[id]; k < c->dep_end[id]; k++) {
      u32 d = c->deps.data[k], below = c->depth[d] + reduces[d];
      if (below > c->depth[id]) c->depth[id] = below;
    }
    group_key key;
    reduces[id] = key_of(o, &key) && same_key(&key, &c->key);
    if (reduces[id]) add_member(c, o);
  }
}

/* ---- moving ---- */

static op *make_combined(combine *c, const group *g, op *last) {
  arena *a = c->e.a;
  size_t n = g->members.len;
  value **in = ARENA_ARRAY(a, value *, n);
  const type **types = ARENA_ARRAY(a, const type *, n);
  for (size_t i = 0; i < n; i++) {
    in[i] = op_operand(g->members.data[i], 0);
    types[i] = op_result(g->members.data[i], 0)->type;
  }
  cursor at = cursor_before(&c->e, last);
  for (size_t i = 0; c->why && i < n; i++)
    at.loc =
        why_join(c->why, c->e.c, i ? at.loc : g->members.data[i]->loc, g->members.data[i]->loc);
  bool gathers = c->key.op == OP_all_gather;
  op *o = emit_op(&at, c->key.op, in, n, types, n, !gathers);
  memcpy(o->slots, g->members.data[0]->slots, o->info->num_slots * sizeof *o->slots);
  if (!gathers) emit_reducer(&at, o, reducer_of(c->key.kind), c->key.element);
  return o;
}

/* The combined op takes over the last member's number, and needs what any member needed. */
static void stand_for(combine *c, const group *g, op *all, const op *last) {
  u32 id = all->num = last->num, begin = (u32)c->deps.len;
  for (size_t i = 0; i < g->members.len; i++) {
    u32 member = g->members.data[i]->num;
    for (u32 k = c->dep_begin[member]; k < c->dep_end[member]; k++) {
      u32 d = c->deps.data[k];
      VEC_PUSH(c->e.a, c->deps, d);
    }
    c->now[member] = id;
  }
  c->dep_begin[id] = begin;
  c->dep_end[id] = (u32)c->deps.len;
}

/* Ops from `from` up to `all` that need what is marked, directly or not, go behind `all`. */
static void move_behind(combine *c, op *from, op *all) {
  VEC(op *) moved = {0};
  op *end = all->next;
  for (op *o = from; o != all; o = o->next) {
    bool follows = false;
    for (u32 k = c->dep_begin[o->num]; k < c->dep_end[o->num]; k++)
      follows |= c->follows[c->now[c->deps.data[k]]];
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

static void combine_group(combine *c, const group *g) {
  op *first = g->members.data[0], *last = first;
  for (size_t i = 1; i < g->members.len; i++) {
    op *o = g->members.data[i];
    if (c->place[o->num] < c->place[first->num]) first = o;
    if (c->place[o->num] > c->place[last->num]) last = o;
  }
  op *all = make_combined(c, g, last), *before = first->prev, *end = last->next;
  u32 place = c->place[first->num];
  stand_for(c, g, all, last);
  for (size_t i = 0; i < g->members.len; i++) {
    value_replace(op_result(g->members.data[i], 0), op_result(all, i));
    op_erase(g->members.data[i]);
  }
  op *from = before ? before->next : c->b->first;
  c->follows[all->num] = true;
  move_behind(c, from, all);
  c->follows[all->num] = false;
  for (op *o = before ? before->next : c->b->first; o != end; o = o->next)
    c->place[o->num] = place++; /* there are fewer than before, so they fit */
}

/* The tables are made anew for each key, as the block has changed with the one before. */
static void combine_key(const part_env *e, why_log *why, block *b, group_key key) {
  combine c = {.e = *e, .why = why, .b = b, .key = key};
  study(&c);
  for (size_t i = 0; i < c.groups.len; i++)
    if (c.groups.data[i].members.len > 1) combine_group(&c, &c.groups.data[i]);
}

static void combine_block(const part_env *e, why_log *why, block *b) {
  VEC(group_key) keys = {0}; /* those that occur */
  VEC(u32) counts = {0};
  for (op *o = b->first; o; o = o->next) {
    group_key key;
    if (key_of(o, &key)) {
      size_t k = 0;
      while (k < keys.len && !same_key(&keys.data[k], &key)) k++;
      if (k == keys.len) {
        VEC_PUSH(e->a, keys, key);
        VEC_PUSH(e->a, counts, 0);
      }
      counts.data[k]++;
    } else if (!op_is(o, all_reduce)) {
      for (u32 r = 0; r < o->num_regions; r++)
        for (block *in = o->regions[r].first; in; in = in->next) combine_block(e, why, in);
    }
  }
  for (size_t k = 0; k < keys.len; k++)
    if (counts.data[k] > 1) combine_key(e, why, b, keys.data[k]);
}

bool part_combine_collectives(ir_module *m, arena *scratch, const pass_args *args) {
  part_env e = part_env_make(m, scratch);
  if (part_has_mesh(&e)) combine_block(&e, why_of(args), op_body(m->root, 0));
  return true;
}
