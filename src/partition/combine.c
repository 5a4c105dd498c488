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

static const u32 OUTSIDE = UINT32_MAX;

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
  op *first, *end; /* the stretch of the block that matters: from the first of a kind to the last */
  u32 n;           /* ops of the stretch; op.num is a number below n, OUTSIDE of others */
  u32 *depth, *place;
  u32 *dep_begin, *dep_end; /* ops of the block that op i needs: deps[dep_begin[i] .. dep_end[i]) */
  VEC(u32) deps;
  u32 *now;      /* the op that stands for op i: itself, or what it was combined into */
  bool *follows; /* is the op at hand, or must go behind it */
  const group_key *key;
  VEC(group) groups;
} combine;

/* ---- what needs what ---- */

static walk_result add_deps(void *user, op *o) {
  combine *c = user;
  for (u32 i = 0; i < o->num_operands; i++) {
    const op *def = value_op(op_operand(o, i));
    if (def && def->parent == c->b && def->num != OUTSIDE) VEC_PUSH(c->e.a, c->deps, def->num);
  }
  return WALK_ON;
}

static void add_all_deps(combine *c, op *o) {
  if (o->num_regions)
    op_walk(o, add_deps, c);
  else
    add_deps(c, o);
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
  if (op_is(o, all_gather) && view_all_gather(o, &g)) {
    *out = (group_key){.op = OP_all_gather,
                       .groups = op_get(o, all_gather, replica_groups),
                       .global = op_get(o, all_gather, use_global_device_ids),
                       .channel = g.channel_handle && g.channel_handle->handle > 0,
                       .dim = g.all_gather_dim};
    return true;
  }
  if (!op_is(o, all_reduce) || !view_all_reduce(o, &r) || !op_body(o, 0)) return false;
  *out = (group_key){.op = OP_all_reduce,
                     .groups = op_get(o, all_reduce, replica_groups),
                     .global = op_get(o, all_reduce, use_global_device_ids),
                     .channel = r.channel_handle && r.channel_handle->handle > 0,
                     .element = op_operand(o, 0)->type->elem};
  return part_body_kind(op_body(o, 0), 0, 1, &out->kind);
}

/* The program's own groups may be the lists that axes stand for. */
static bool axes_list(const part_env *e, const attr *groups, const dense_attr *ids) {
  const mesh *m;
  axis_list axes;
  replica_groups g;
  i64s dims = ids->type->dims;
  if (!shard_read_groups(e->space, groups, &m, &axes) || dims.len != 2 ||
      dims.data[1] != axes_size(axes) || !mesh_replica_groups(e->a, m, axes, &g) ||
      dims.data[0] != g.num_groups)
    return false;
  for (i64 i = 0; i < m->size; i++)
    if (attr_dense_int(&ids->base, (size_t)i) != g.ids[i]) return false;
  return true;
}

/* Lists of many devices are too large to be unique. */
static bool same_groups(const part_env *e, const attr *x, const attr *y) {
  const dense_attr *a = attr_as(dense, x), *b = attr_as(dense, y);
  if (x == y) return true;
  if (a && b) return a->type == b->type && a->splat == b->splat && str_eq(a->data, b->data);
  return a ? axes_list(e, y, a) : b && axes_list(e, x, b);
}

static bool same_key(const part_env *e, const group_key *x, const group_key *y) {
  return x->op == y->op && x->global == y->global && x->channel == y->channel &&
         x->element == y->element && x->kind == y->kind && x->dim == y->dim &&
         same_groups(e, x->groups, y->groups);
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

/* Numbers the stretch. */
static void number(combine *c, op *const *alike, size_t num_alike) {
  const u32 wanted = 0;
  for (op *o = c->b->first; o; o = o->next) o->num = OUTSIDE;
  for (size_t i = 0; i < num_alike; i++) alike[i]->num = wanted;
  for (c->first = c->b->first; c->first->num != wanted;) c->first = c->first->next;
  for (c->end = c->first; num_alike; c->end = c->end->next) {
    num_alike -= c->end->num == wanted;
    c->end->num = c->n++;
  }
}

/* Places, dependences and depths of one stretch for one key. Dependences are of the stretch's own
 * ops: what an op's regions use counts as used by the op. Ops with effects depend on the one
 * before. */
static void study(combine *c, op *const *alike, size_t num_alike) {
  arena *a = c->e.a;
  number(c, alike, num_alike);
  c->depth = arena_zalloc(a, c->n * sizeof(u32));
  c->place = ARENA_ARRAY(a, u32, c->n);
  c->follows = arena_zalloc(a, c->n);
  c->dep_begin = ARENA_ARRAY(a, u32, c->n);
  c->dep_end = ARENA_ARRAY(a, u32, c->n);
  c->now = ARENA_ARRAY(a, u32, c->n);
  bool *counts = arena_zalloc(a, c->n);
  for (size_t i = 0; i < num_alike; i++) counts[alike[i]->num] = true;
  u32 effect = UINT32_MAX;
  for (op *o = c->first; o != c->end; o = o->next) {
    u32 id = o->num;
    c->place[id] = c->now[id] = id;
    c->dep_begin[id] = (u32)c->deps.len;
    add_all_deps(c, o);
    if (has_order(o)) {
      if (effect != UINT32_MAX) VEC_PUSH(a, c->deps, effect);
      effect = id;
    }
    c->dep_end[id] = (u32)c->deps.len;
    for (u32 k = c->dep_begin[id]; k < c->dep_end[id]; k++) {
      u32 d = c->deps.data[k], below = c->depth[d] + counts[d];
      if (below > c->depth[id]) c->depth[id] = below;
    }
    if (counts[id]) add_member(c, o);
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
  bool gathers = c->key->op == OP_all_gather;
  op *o = emit_op(&at, c->key->op, in, n, types, n, !gathers);
  memcpy(o->slots, g->members.data[0]->slots, o->info->num_slots * sizeof *o->slots);
  if (!gathers) emit_reducer(&at, o, reducer_of(c->key->kind), c->key->element);
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

/* Collectives of one kind. */
typedef struct alike {
  group_key key;
  VEC(op *) ops;
} alike;

/* The tables are made anew for each key, as the block has changed with the one before. */
static void combine_alike(const part_env *e, why_log *why, block *b, const alike *k) {
  combine c = {.e = *e, .why = why, .b = b, .key = &k->key};
  study(&c, k->ops.data, k->ops.len);
  for (size_t i = 0; i < c.groups.len; i++)
    if (c.groups.data[i].members.len > 1) combine_group(&c, &c.groups.data[i]);
}

static void combine_block(const part_env *e, why_log *why, block *b) {
  VEC(alike) kinds = {0}; /* those that occur */
  for (op *o = b->first; o; o = o->next) {
    group_key key;
    if (op_kind(o) < OP_COUNT && o->info->family == FAMILY_coll && key_of(o, &key)) {
      size_t k = 0;
      while (k < kinds.len && !same_key(e, &kinds.data[k].key, &key)) k++;
      if (k == kinds.len) VEC_PUSH(e->a, kinds, ((alike){.key = key}));
      VEC_PUSH(e->a, kinds.data[k].ops, o);
    } else if (!op_is(o, all_reduce)) {
      for (u32 r = 0; r < o->num_regions; r++)
        for (block *in = o->regions[r].first; in; in = in->next) combine_block(e, why, in);
    }
  }
  for (size_t k = 0; k < kinds.len; k++)
    if (kinds.data[k].ops.len > 1) combine_alike(e, why, b, &kinds.data[k]);
}

bool part_combine_collectives(ir_module *m, arena *scratch, const pass_args *args) {
  part_env e = part_env_make(m, scratch);
  if (part_has_mesh(&e)) combine_block(&e, why_of(args), op_body(m->root, 0));
  return true;
}
