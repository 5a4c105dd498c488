/* Export passes on values: constants merged, edges sunk, shardings made fit for what follows.
 *
 * What propagation needed and nobody after it does is taken out: edges, groups, priorities, open
 * dimensions. Passes are Shardy's (transforms/export), by the names in the comments; each may be
 * run alone. */
#include "shard/calls.h"
#include "shard/debug_info.h"
#include "shard/flow.h"
#include "base/index.h"
#include "shard/passes.h"
#include "shard/traits.h"

/* ---- sdy-constant-or-scalar-merger ---- */

typedef struct merger {
  arena *a;
  hash_index seen;
} merger;

/* Large constants are not unique in the context, so their bytes are compared. */
static bool same_attr(const attr *a, const attr *b) {
  if (a == b) return true;
  const dense_attr *x = attr_as(dense, a), *y = attr_as(dense, b);
  return x && y && x->type == y->type && x->splat == y->splat && str_eq(x->data, y->data);
}

/* Of a large constant the beginning says enough. */
enum { HASHED_BYTES = 4096 };

static u64 hash_attr(const attr *a, u64 h) {
  const dense_attr *d = attr_as(dense, a);
  if (!d || a->unique) return hash_ptr(a, h);
  return hash_bytes(d->data.data, min_size(d->data.len, HASHED_BYTES), hash_ptr(d->type, h));
}

/* Shardings are among the attributes, so constants that differ in them stay apart. */
static u64 hash_op(const op *o) {
  u64 h = hash_ptr(o->info, 0);
  h = hash_ptr(o->parent->parent, h);
  h = hash_ptr(o->results[0].type, h);
  for (u32 i = 0; i < o->info->num_slots; i++) h = hash_attr(o->slots[i], h);
  for (u32 i = 0; i < o->num_attrs; i++) h = hash_ptr(o->attrs[i].value, h);
  for (u32 i = 0; i < o->num_operands; i++) h = hash_ptr(op_operand(o, i), h);
  return h;
}

static bool same_op(const op *a, const op *b) {
  if (a->info != b->info || a->parent->parent != b->parent->parent ||
      a->num_attrs != b->num_attrs || a->results[0].type != b->results[0].type ||
      a->num_operands != b->num_operands)
    return false;
  for (u32 i = 0; i < a->info->num_slots; i++)
    if (!same_attr(a->slots[i], b->slots[i])) return false;
  for (u32 i = 0; i < a->num_attrs; i++)
    if (a->attrs[i].name != b->attrs[i].name || a->attrs[i].value != b->attrs[i].value)
      return false;
  for (u32 i = 0; i < a->num_operands; i++)
    if (op_operand(a, i) != op_operand(b, i)) return false;
  return true;
}

/* Constants and broadcasts of scalars were split before propagation, so that each use could have
 * its own sharding; those that ended alike become one again. The walk meets the first of them
 * first, so the twin stands before. */
static walk_result merge_op(void *user, op *o) {
  merger *g = user;
  bool scalar = op_is(o, broadcast_in_dim) && !op_operand(o, 0)->type->dims.len;
  if (!op_has(o, CONSTANT) && !scalar) return WALK_ON;
  u64 h = hash_op(o);
  op *twin;
  for (size_t at = 0; (twin = index_next(&g->seen, h, &at));)
    if (same_op(twin, o)) {
      value_replace(op_result(o, 0), op_result(twin, 0));
      op_erase(o);
      return WALK_ON;
    }
  index_add(&g->seen, g->a, h, o);
  return WALK_ON;
}

bool pass_constant_merger(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  merger g = {.a = scratch};
  op_walk_post(m->root, merge_op, &g);
  return true;
}

/* ---- sdy-sink-data-flow-edges ---- */

/* Owners get the shardings that their edges ended with; all of one side at once. */
static void sink_side(ir_module *m, op *o, bool args) {
  block *b = args ? flow_owner_block(o) : NULL;
  size_t n = args ? (b ? b->num_args : 0) : o->num_results;
  const attr **list = ARENA_ARRAY(&m->arena, const attr *, n);
  if (n && edge_shardings(m, o, args, list)) owners_set_shardings(m, o, args, list, n);
}

typedef struct sinking {
  ir_module *m;
  bool origins, edges; /* debug information too */
} sinking;

/* The edge's value is the owner's again. In pre-order owners are met before the edges behind them
 * are erased. */
static walk_result sink(void *user, op *o) {
  const sinking *s = user;
  ir_module *m = s->m;
  if (op_is(o, data_flow_edge)) {
    value_replace(op_result(o, 0), op_operand(o, 0));
    op_erase(o);
    return WALK_SKIP;
  }
  const flow *f = op_flow(o);
  if (f) debug_info_sink(m, o, true, s->origins, s->edges);
  if (f) debug_info_sink(m, o, false, s->origins, s->edges);
  if (f && f->args_own) sink_side(m, o, true);
  if (f) sink_side(m, o, false);
  return WALK_ON;
}

bool pass_sink_data_flow_edges(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch;
  sinking s = {m, pass_option_flag(args, STR("sink-debug-sharding-origins"), false),
               pass_option_flag(args, STR("sink-debug-propagation-edge-sharding"), false)};
  if (module_may_have(m, data_flow_edge) || module_may_flow(m)) op_walk(m->root, sink, &s);
  return true;
}

/* ---- small ones ---- */

static walk_result remove_group(void *user, op *o) {
  (void)user;
  if (op_is(o, sharding_group)) op_erase(o);
  return WALK_ON;
}

bool pass_remove_sharding_groups(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch, (void)args;
  if (module_may_have(m, sharding_group)) op_walk_post(m->root, remove_group, NULL);
  return true;
}

static walk_result to_reshard(void *user, op *o) {
  if (op_is(o, sharding_constraint)) op_become(user, o, OP_reshard);
  return WALK_ON;
}

bool pass_constraint_to_reshard(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch, (void)args;
  if (!module_may_have(m, sharding_constraint)) return true;
  op_walk(m->root, to_reshard, m);
  return true;
}

/* Nobody may add axes any more; replicated axes were there to forbid that and go. */
static const attr *close_sharding(void *user, const attr *a) {
  shard_space *s = user;
  const sharding *from = shard_read(s, a);
  if (!from) return a;
  sharding out = *from;
  dim_sharding *dims = arena_copy(shard_space_arena(s), from->dims, from->rank * sizeof *dims);
  for (u32 d = 0; d < from->rank; d++) dims[d].closed = true;
  out.dims = dims;
  out.replicated = (axis_list){0};
  return shard_write(s, shard_intern(s, &out));
}

bool pass_close_shardings(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  shard_space *s = shard_space_create(m, scratch);
  map_shardings(m, scratch, close_sharding, s);
  return shard_space_check(s);
}

/* ---- sdy-update-non-divisible-input-output-shardings ---- */

/* The major axes that divide the dimension, the last one in part. */
static axis_list dividing(arena *a, axis_list axes, i64 size) {
  axis_vec out = {0};
  for (size_t i = 0; i < axes.len; i++) {
    axis_ref r = axes.data[i];
    i64 g = gcd_i64(r.size, size);
    if (g == 1) break;
    bool whole = g == r.size;
    r.size = g;
    VEC_PUSH(a, out, r);
    if (!whole) break;
    size /= g;
  }
  return axis_vec_list(&out);
}

/* Inputs and outputs of a program are laid out by its caller, who cannot pad: what does not divide
 * is cut off at the minor end. */
static const attr *evenly(shard_space *s, const attr *a, const type *t) {
  const sharding *from = shard_read(s, a);
  if (!from || !type_is_shardable(t) || from->rank != t->dims.len) return a;
  arena *mem = shard_space_arena(s);
  sharding out = *from;
  dim_sharding *dims = arena_copy(mem, from->dims, from->rank * sizeof *dims);
  for (u32 d = 0; d < from->rank; d++) {
    i64 size = t->dims.data[d];
    if (size % sharding_dim_size(from, d) == 0) continue;
    dims[d].axes = dividing(mem, dims[d].axes, size);
    dims[d].priority = PRIORITY_NONE;
  }
  out.dims = dims;
  const sharding *interned = shard_intern(s, &out);
  return interned == from ? a : shard_write(s, interned);
}

static void evenly_func(shard_space *s, op *f, func_side side) {
  size_t n = func_num(f, side);
  const attr **list = ARENA_ARRAY(shard_space_arena(s), const attr *, n);
  bool any = false;
  for (size_t i = 0; i < n; i++) {
    list[i] = evenly(s, func_sharding(f, side, i), func_type_of(f, side, i));
    any |= list[i] != NULL;
  }
  if (any) func_set_shardings(shard_space_module(s), f, side, list, n);
}

static void evenly_owners(shard_space *s, op *o, bool args) {
  block *b = args ? flow_owner_block(o) : NULL;
  size_t n = args ? (b ? b->num_args : 0) : o->num_results;
  ir_module *m = shard_space_module(s);
  const attr **list = ARENA_ARRAY(shard_space_arena(s), const attr *, n);
  for (size_t i = 0; i < n; i++) {
    value *v = args ? b->args[i] : op_result(o, i);
    list[i] = evenly(s, owner_sharding(m->ctx, v), v->type);
    if (!list[i]) return;
  }
  if (n) owners_set_shardings(m, o, args, list, n);
}

static walk_result evenly_op(void *user, op *o) {
  shard_space *s = user;
  if (op_is(o, func)) {
    evenly_func(s, o, FUNC_ARGS);
    evenly_func(s, o, FUNC_RESULTS);
  }
  const flow *f = op_flow(o);
  if (op_is(o, call) || op_is(o, mpmd_transfer) ||
      (o->info->hooks && o->info->hooks->keeps_divisible))
    evenly_owners(s, o, false);
  if (f && f->keeps_divisible) {
    evenly_owners(s, o, true);
    evenly_owners(s, o, false);
  }
  return WALK_ON;
}

bool pass_update_non_divisible(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  shard_space *s = shard_space_create(m, scratch);
  if (module_may_flow(m) || module_may_have(m, call))
    op_walk(m->root, evenly_op, s);
  else
    FOR_OPS(o, op_body(m->root, 0)) evenly_op(s, o);
  return shard_space_check(s);
}

/* ---- sdy-remove-sub-axes-in-input-output-shardings ---- */

/* Only of open dimensions: a closed one is what the user wrote. */
static const attr *without_parts(shard_space *s, const attr *a) {
  const sharding *from = shard_read(s, a);
  if (!from) return a;
  sharding out = *from;
  dim_sharding *dims = arena_copy(shard_space_arena(s), from->dims, from->rank * sizeof *dims);
  for (u32 d = 0; d < from->rank; d++) {
    size_t n = 0;
    axis_list l = from->dims[d].axes;
    while (n < l.len && (from->dims[d].closed || axis_is_whole(from->mesh, l.data[n]))) n++;
    dims[d].axes = axes_slice(l, 0, n);
  }
  out.dims = dims;
  const sharding *interned = shard_intern(s, &out);
  return interned == from ? a : shard_write(s, interned);
}

bool pass_remove_sub_axes(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  shard_space *s = shard_space_create(m, scratch);
  op *main = module_main(m);
  for (int side = FUNC_ARGS; main && side <= FUNC_RESULTS; side++) {
    size_t n = func_num(main, side);
    const attr **list = ARENA_ARRAY(scratch, const attr *, n);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
      list[i] = without_parts(s, func_sharding(main, side, i));
      any |= list[i] != NULL;
    }
    if (any) func_set_shardings(m, main, side, list, n);
  }
  return shard_space_check(s);
}

/* ---- terrazzo-remove-dead-ops ---- */

bool pass_remove_dead_ops(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch, (void)args;
  ops_erase_dead(m->root, DEAD_WITHOUT_EFFECTS);
  return true;
}
