/* Collectives: groups of positions in the launch from the ops' groups of ids. */
#include "compile/steps.h"
#include "shard/sharding_ir.h"

/* How the ids of replica_groups are meant (StableHLO spec, "Grouping"). */
typedef enum grouping {
  CROSS_REPLICA,               /* replica ids; once for every partition */
  CROSS_PARTITION,             /* partition ids; once for every replica */
  CROSS_REPLICA_AND_PARTITION, /* replica ids; each stands for all of its partitions */
  FLATTENED_IDS,               /* replica * num_partitions + partition */
} grouping;

/* all_gather, all_reduce and reduce_scatter, as their sections of the StableHLO specification
 * have it. Global ids ought to come with a channel; without one they are taken as what they say. */
static grouping grouping_of(const channel_handle_attr *channel, bool global_ids) {
  bool has_channel = channel && channel->handle > 0;
  if (!has_channel) return global_ids ? FLATTENED_IDS : CROSS_REPLICA;
  return global_ids ? FLATTENED_IDS : CROSS_REPLICA_AND_PARTITION;
}
/* all_to_all, collective_broadcast and collective_permute: those have no global ids. */
static grouping grouping_of_partitions(const channel_handle_attr *channel) {
  return channel && channel->handle > 0 ? CROSS_PARTITION : CROSS_REPLICA;
}

typedef struct groups {
  lower *L;
  prog_collective *out;
  VEC(u32) begin;
  VEC(u32) members;
} groups;

/* The executor knows positions only: row-major in (replica, partition), as run_partition_id of
 * exec/place.c takes them apart again. */
static u32 position(const lower *L, u32 replica, u32 partition) {
  return replica * L->num_partitions + partition;
}

/* The ids that one kind of grouping runs over, and how often it is done. */
typedef struct id_space {
  u32 ids, times;
} id_space;
static id_space space_of(const lower *L, grouping how) {
  switch (how) {
  case CROSS_REPLICA:
    return (id_space){L->num_replicas, L->num_partitions};
  case CROSS_PARTITION:
    return (id_space){L->num_partitions, L->num_replicas};
  case CROSS_REPLICA_AND_PARTITION:
    return (id_space){L->num_replicas, 1};
  case FLATTENED_IDS:
    break;
  }
  return (id_space){L->num_replicas * L->num_partitions, 1};
}

/* `round`: partition, where groups go over replicas and partitions. */
static void add_member(groups *g, grouping how, u32 id, u32 time, u32 round) {
  const lower *L = g->L;
  if (how == CROSS_REPLICA)
    VEC_PUSH(L->a, g->members, position(L, id, time));
  else if (how == CROSS_PARTITION)
    VEC_PUSH(L->a, g->members, position(L, time, id));
  else if (how == FLATTENED_IDS)
    VEC_PUSH(L->a, g->members, id);
  else
    VEC_PUSH(L->a, g->members, position(L, id, round));
}

/* Each id once: the executor counts arrivals by group, and a device that is in two of them, or
 * in one twice, would make meetings that never fill. */
static bool check_id(lower *L, const op *o, i64 id, id_space space, u8 *seen) {
  if (id < 0 || id >= (i64)space.ids)
    return op_error(L->ctx, o, "names device %lld, but there are only %u", (long long)id,
                    space.ids);
  if (seen[id]) return op_error(L->ctx, o, "names device %lld more than once", (long long)id);
  seen[id] = 1;
  return true;
}

/* All replicas of one partition, then those of the next (spec.md, cross_replica_and_partition). */
static u32 rounds_of(const lower *L, grouping how) {
  return how == CROSS_REPLICA_AND_PARTITION ? L->num_partitions : 1;
}

/* Rows of ids, -1 for none. */
typedef struct id_rows {
  size_t rows, cols;
  const dense_attr *dense; /* NULL: */
  const i64 *ids;
} id_rows;

static bool read_rows(const lower *L, const op *o, const attr *groups, id_rows *out) {
  const dense_attr *d = attr_as(dense, groups);
  const mesh *m;
  axis_list axes;
  replica_groups g;
  if (d) {
    i64s dims = d->type->dims;
    *out = (id_rows){.dense = d};
    if (dims.len == 2) *out = (id_rows){(size_t)dims.data[0], (size_t)dims.data[1], d, NULL};
    return true;
  }
  if (!L->space || !shard_read_groups(L->space, groups, &m, &axes) ||
      !mesh_replica_groups(L->a, m, axes, &g))
    return op_unimplemented(L->ctx, o, "replica groups as axes of a mesh");
  *out = (id_rows){(size_t)g.num_groups, (size_t)g.group_size, NULL, g.ids};
  return true;
}

static i64 id_at(const id_rows *r, size_t i) {
  return r->dense ? attr_dense_int(&r->dense->base, i) : r->ids[i];
}

/* All devices, where no groups are listed. */
static void add_everyone(groups *g, grouping how, u32 ids, u32 time) {
  for (u32 k = 0; k < rounds_of(g->L, how) * ids; k++) add_member(g, how, k % ids, time, k / ids);
  VEC_PUSH(g->L->a, g->begin, (u32)g->members.len);
}

/* `time`: of those that the grouping is done. */
static bool add_rows(groups *g, const op *o, const id_rows *list, grouping how, u32 time) {
  lower *L = g->L;
  id_space space = space_of(L, how);
  u8 *seen = arena_zalloc(L->a, space.ids + 1);
  for (size_t r = 0; r < list->rows; r++) {
    for (size_t c = 0; c < rounds_of(L, how) * list->cols; c++) {
      i64 id = id_at(list, r * list->cols + c % list->cols);
      if (id == -1) continue;
      if (c < list->cols && !check_id(L, o, id, space, seen)) return false;
      add_member(g, how, (u32)id, time, (u32)(c / list->cols));
    }
    if (g->members.len > g->begin.data[g->begin.len - 1])
      VEC_PUSH(L->a, g->begin, (u32)g->members.len);
  }
  if (list->rows * list->cols == 0) add_everyone(g, how, space.ids, time);
  return true;
}

/* replica_groups: a tensor of groups x ids, or axes of a mesh; without ids, all are one group. */
static bool make_groups(lower *L, const op *o, grouping how, prog_collective *out) {
  const attr *listed = op_attr(o, SLOT_NAME(replica_groups));
  groups g = {.L = L, .out = out};
  id_rows list = {0};
  for (size_t i = 0; i < L->groups.len; i++) {
    const known_groups *k = &L->groups.data[i];
    if (k->groups != listed || k->how != (u32)how) continue;
    out->num_groups = k->num_groups;
    out->begin = k->begin;
    out->members = k->members;
    return true;
  }
  if (!read_rows(L, o, listed, &list)) return false;
  VEC_PUSH(L->a, g.begin, 0);
  for (u32 time = 0; time < space_of(L, how).times; time++)
    if (!add_rows(&g, o, &list, how, time)) return false;
  out->num_groups = (u32)g.begin.len - 1;
  out->begin = g.begin.data;
  out->members = g.members.data;
  VEC_PUSH(L->a, L->groups,
           ((known_groups){listed, how, out->num_groups, out->begin, out->members}));
  return true;
}

/* Whether n is the whole of its slot, its dims in whichever order. */
static bool fills_slot(const node *n) {
  i64 reached = 1;
  if (n->kind != NODE_MEM || n->offset || !n->count || (u64)n->count != n->slot_count) return false;
  for (u32 d = 0; d < n->rank && reached < n->count;) {
    bool next = n->dims[d] > 1 && n->stride[d] == reached;
    if (next) reached *= n->dims[d];
    d = next ? 0 : d + 1;
  }
  return reached == n->count;
}

/* Operands in, results out. With any_order an operand that fills its slot stays as it lies, and its
 * result, unless it is main's, lies like it. */
static bool make_operands(lower *L, op *o, bool any_order, prog_collective *c) {
  u32 n = c->n = o->num_operands;
  c->in = ARENA_ARRAY(L->a, u32, n);
  c->out = ARENA_ARRAY(L->a, u32, n);
  const i64 **order = arena_zalloc(L->a, n * sizeof *order + 1);
  for (u32 i = 0; i < n; i++) {
    node *x = lower_node(L, o, i);
    fuse_settle(L, x);
    if (any_order && L->result_of[op_result(o, i)->num] < 0 && fills_slot(x)) order[i] = x->stride;
    c->in[i] = order[i] ? x->slot : fuse_dense(L, x);
    lower_used(x);
  }
  for (u32 i = 0; i < n; i++) {
    node *r = lower_new_mem(L, o, i);
    if (!r) return false;
    c->out[i] = r->slot;
    if (!order[i]) continue;
    r->dense = lower_node(L, o, i)->dense;
    r->stride = order[i];
  }
  return true;
}

/* Around dimension `dim` of operands or results the executor needs no shapes, only outer x size x
 * inner with the dimension in the middle. For all_gather it is the operand's, for reduce_scatter
 * the result's: the smaller piece in both. */
static void split_around(lower *L, op *o, bool results, i64 dim, prog_collective *c) {
  i64 *outer = ARENA_ARRAY(L->a, i64, c->n), *size = ARENA_ARRAY(L->a, i64, c->n);
  i64 *inner = ARENA_ARRAY(L->a, i64, c->n);
  for (u32 i = 0; i < c->n; i++) {
    const node *n = results ? L->node_of[op_result(o, i)->num] : lower_node(L, o, i);
    outer[i] = inner[i] = size[i] = 1;
    for (u32 d = 0; d < n->rank; d++)
      lower_times((i64)d < dim ? &outer[i] : (i64)d > dim ? &inner[i] : &size[i], n->dims[d]);
  }
  c->outer = outer;
  c->size = size;
  c->inner = inner;
}

static void emit(lower *L, const prog_collective *c) {
  prog_add_collective(L->b, c, lower_name(L), lower_loc(L));
}

bool lower_all_reduce(lower *L, op *o) {
  struct all_reduce_attrs a;
  view_all_reduce(o, &a);
  prog_collective c = {.kind = COLL_ALL_REDUCE};
  grouping how = grouping_of(a.channel_handle, a.use_global_device_ids);
  if (!make_groups(L, o, how, &c) || !make_operands(L, o, true, &c) ||
      !select_body(L, o, op_body(o, 0), &c.body))
    return false;
  emit(L, &c);
  return true;
}

bool lower_all_gather(lower *L, op *o) {
  struct all_gather_attrs a;
  view_all_gather(o, &a);
  prog_collective c = {.kind = COLL_ALL_GATHER};
  grouping how = grouping_of(a.channel_handle, a.use_global_device_ids);
  if (!make_groups(L, o, how, &c) || !make_operands(L, o, false, &c)) return false;
  split_around(L, o, false, a.all_gather_dim, &c);
  emit(L, &c);
  return true;
}

bool lower_reduce_scatter(lower *L, op *o) {
  struct reduce_scatter_attrs a;
  view_reduce_scatter(o, &a);
  prog_collective c = {.kind = COLL_REDUCE_SCATTER};
  grouping how = grouping_of(a.channel_handle, a.use_global_device_ids);
  if (!make_groups(L, o, how, &c) || !make_operands(L, o, false, &c) ||
      !select_body(L, o, op_body(o, 0), &c.body))
    return false;
  split_around(L, o, true, a.scatter_dimension, &c);
  emit(L, &c);
  return true;
}

bool lower_all_to_all(lower *L, op *o) {
  struct all_to_all_attrs a;
  view_all_to_all(o, &a);
  prog_collective c = {.kind = COLL_ALL_TO_ALL};
  grouping how = grouping_of_partitions(a.channel_handle);
  if (!make_groups(L, o, how, &c) || !make_operands(L, o, false, &c)) return false;
  c.split_dim = (u32)a.split_dimension;
  c.concat_dim = (u32)a.concat_dimension;
  u32 begin = 0, n = c.n;
  for (u32 i = 1; i <= n; i++) { /* those of one shape at a time */
    const node *x = lower_node(L, o, begin), *y = i < n ? lower_node(L, o, i) : NULL;
    if (y && i64s_eq((i64s){x->dims, x->rank}, (i64s){y->dims, y->rank})) continue;
    prog_collective part = c;
    part.n = i - begin;
    part.in += begin;
    part.out += begin;
    part.rank = x->rank;
    if (x->rank) memcpy(part.dims, x->dims, x->rank * sizeof(i64));
    emit(L, &part);
    begin = i;
  }
  return true;
}

/* ---- roots that are values ---- */

static u32 scalar_slot(lower *L, dtype t) { return prog_work(L->b, t, 1); }

/* A scalar: which member of its group the device is; -1: none. */
static u32 own_rank(lower *L, const prog_collective *c) {
  u32 devices = L->num_replicas * L->num_partitions;
  i32 *ranks = ARENA_ARRAY(L->a, i32, devices);
  for (u32 d = 0; d < devices; d++) ranks[d] = -1;
  for (u32 g = 0; g < c->num_groups; g++)
    for (u32 m = c->begin[g]; m < c->begin[g + 1]; m++)
      ranks[c->members[m]] = (i32)(m - c->begin[g]);
  prog_dynamic look = {.big = prog_const(L->b, DTYPE_s32, devices, ranks),
                       .small = scalar_slot(L, DTYPE_s32),
                       .rank = 2,
                       .big_dims = {L->num_replicas, L->num_partitions},
                       .small_dims = {1, 1},
                       .start = {scalar_slot(L, DTYPE_u32), scalar_slot(L, DTYPE_u32)}};
  prog_add_replica_id(L->b, look.start[0], lower_name(L), lower_loc(L));
  prog_add_partition_id(L->b, look.start[1], lower_name(L), lower_loc(L));
  prog_add_dynamic(L->b, &look, lower_name(L), lower_loc(L));
  return look.small;
}

/* from where the device's rank is the root (of a vector, element `at`; PROG_NONE: 0), else 0. */
static void keep_at_root(lower *L, u32 from, const node *to, u32 rank, u32 roots, i64 at) {
  static const u64 zeros[2];
  const i64 one = 1, none = 0;
  dtype t = (dtype)to->type;
  prog_loop *l = prog_add_loop(L->b, 1, &to->count, lower_name(L), lower_loc(L));
  vm_code *c = &l->code;
  u32 v = vm_load(L->b, c, t, prog_loop_in(L->b, l, from, 0, &one));
  u32 mine = vm_load(L->b, c, DTYPE_s32, prog_loop_in(L->b, l, rank, 0, &none));
  u32 root = roots == PROG_NONE
                 ? vm_const_bits(L->b, c, DTYPE_s32, zeros)
                 : vm_load(L->b, c, DTYPE_s32, prog_loop_in(L->b, l, roots, at, &none));
  u32 is_root = vm_emit(L->b, c, VM_eq, DTYPE_pred, mine, root, 0);
  v = vm_emit(L->b, c, VM_select, t, is_root, v, vm_const_bits(L->b, c, t, zeros));
  prog_loop_out(L->b, l, to->slot, 0, &one, v);
}

static void use_all(lower *L, op *o) {
  for (u32 i = 0; i < o->num_operands; i++) lower_used(lower_node(L, o, i));
}

/* Everybody has the sum, and all but the root forget it. */
bool lower_collective_reduce(lower *L, op *o) {
  struct collective_reduce_attrs a;
  view_collective_reduce(o, &a);
  prog_collective c = {.kind = COLL_ALL_REDUCE, .n = o->num_results};
  if (!make_groups(L, o, grouping_of_partitions(a.channel_handle), &c) ||
      !select_body(L, o, op_body(o, 0), &c.body))
    return false;
  c.in = ARENA_ARRAY(L->a, u32, c.n);
  c.out = ARENA_ARRAY(L->a, u32, c.n);
  for (u32 i = 0; i < c.n; i++) {
    const node *x = lower_node(L, o, i);
    c.in[i] = fuse_dense(L, lower_node(L, o, i));
    c.out[i] = prog_work(L->b, (dtype)x->type, (u64)x->count);
  }
  u32 roots = a.has_dynamic_root ? fuse_dense(L, lower_node(L, o, c.n)) : PROG_NONE;
  emit(L, &c);
  u32 rank = own_rank(L, &c);
  for (u32 i = 0; i < c.n; i++) {
    node *r = lower_new_mem(L, o, i);
    if (!r) return false;
    if (r->type != lower_node(L, o, i)->type)
      return op_unimplemented(L->ctx, o, "in another type than the operands'");
    keep_at_root(L, c.out[i], r, rank, roots, i);
  }
  use_all(L, o);
  return true;
}

/* What all members have, one after the other; the root's is taken. */
static bool broadcast_from_roots(lower *L, op *o, prog_collective c) {
  static const i32 zero;
  const i64 one = 1;
  u32 size = c.num_groups ? c.begin[1] : 0, roots = fuse_dense(L, lower_node(L, o, o->num_results));
  for (u32 g = 0; g < c.num_groups; g++)
    if (c.begin[g + 1] - c.begin[g] != size)
      return op_unimplemented(L->ctx, o, "a root that is a value in groups of several sizes");
  c.kind = COLL_ALL_GATHER;
  c.n = 1;
  for (u32 i = 0; i < o->num_results; i++) {
    node *x = lower_node(L, o, i);
    u32 in = fuse_dense(L, x), all = prog_work(L->b, (dtype)x->type, (u64)x->count * size);
    node *r = lower_new_mem(L, o, i);
    if (!r) return false;
    c.in = &in;
    c.out = &all;
    c.outer = c.size = (i64 *)(uintptr_t)&one;
    c.inner = &x->count;
    emit(L, &c);
    prog_dynamic pick = {
        .big = all,
        .small = r->slot,
        .rank = 2,
        .big_dims = {size, x->count},
        .small_dims = {1, x->count},
        .start = {scalar_slot(L, DTYPE_s32), prog_const(L->b, DTYPE_s32, 1, &zero)}};
    prog_add_copy(L->b, 1, &one, roots, i, &one, pick.start[0], 0, &one, lower_name(L),
                  lower_loc(L));
    prog_add_dynamic(L->b, &pick, lower_name(L), lower_loc(L));
  }
  use_all(L, o);
  return true;
}

bool lower_collective_broadcast(lower *L, op *o) {
  struct collective_broadcast_attrs a;
  view_collective_broadcast(o, &a);
  prog_collective c = {.kind = COLL_BROADCAST};
  if (!make_groups(L, o, grouping_of_partitions(a.channel_handle), &c)) return false;
  if (a.has_dynamic_root) return broadcast_from_roots(L, o, c);
  if (!make_operands(L, o, false, &c)) return false;
  emit(L, &c);
  return true;
}

/* Pairs need not cover all devices; one that nobody sends to gets zeros when it runs. A source
 * sends once and a target receives once, so that the two columns are checked apart. */
bool lower_collective_permute(lower *L, op *o) {
  struct collective_permute_attrs a;
  view_collective_permute(o, &a);
  prog_collective c = {.kind = COLL_PERMUTE};
  grouping how = grouping_of_partitions(a.channel_handle);
  id_space space = space_of(L, how);
  i64s dims = a.source_target_pairs->type->dims;
  size_t n = dims.len == 2 && dims.data[1] == 2 ? (size_t)dims.data[0] : 0;
  u32 *pairs = ARENA_ARRAY(L->a, u32, 2 * n * space.times);
  for (u32 time = 0; time < space.times; time++) {
    u8 *seen[2] = {arena_zalloc(L->a, space.ids + 1), arena_zalloc(L->a, space.ids + 1)};
    for (size_t i = 0; i < 2 * n; i++) {
      i64 id = attr_dense_int(&a.source_target_pairs->base, i);
      if (!check_id(L, o, id, space, seen[i % 2])) return false;
      u32 at = how == CROSS_REPLICA ? position(L, (u32)id, time) : position(L, time, (u32)id);
      pairs[2 * n * time + i] = at;
    }
  }
  c.num_pairs = (u32)(n * space.times);
  c.pairs = pairs;
  if (!make_operands(L, o, false, &c)) return false;
  emit(L, &c);
  return true;
}

bool lower_partition_id(lower *L, op *o) {
  node *n = lower_new_mem(L, o, 0);
  if (!n) return false;
  prog_add_partition_id(L->b, n->slot, lower_name(L), lower_loc(L));
  return true;
}

bool lower_replica_id(lower *L, op *o) {
  node *n = lower_new_mem(L, o, 0);
  if (!n) return false;
  prog_add_replica_id(L->b, n->slot, lower_name(L), lower_loc(L));
  return true;
}
