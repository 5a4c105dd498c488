/* Inside partition only: what the parts of sdy-convert-global-to-local share.
 *
 * local.c walks over each function in order and calls part_row.local of each op, once. Then the
 * op's operands are local already, and their whole types and shardings are found by number; a
 * handler sets its results' types, or replaces the op. All memory is the pass's scratch. */
#ifndef PARTITION_LOCAL_H
#define PARTITION_LOCAL_H

#include "partition/env.h"
#include "partition/record.h"

/* One module on its way from global to local types. Values that were there from the start are
 * numbered; `num` of a new value is that of the one it stands for, or UINT32_MAX. */
typedef struct local_index {
  const mesh *mesh;
  axis_list axes;
  value *v;
} local_index;

typedef struct group_list {
  const mesh *mesh;
  axis_list axes;
  const attr *groups;
} group_list;

/* Where the last kind of collective that was made has them. */
typedef struct group_slots {
  const op_info *info;
  int groups, channel, global; /* -1: it has none */
} group_slots;

/* Of the pass: Shardy's, then what our line wants otherwise. */
typedef struct local_options {
  bool per_dim_gather, combine_scatter, mesh_groups;
  bool by_records;   /* rows' handlers, after records were asked; else those of export/ first */
  bool global_types; /* are noted on the signature */
  bool drop_shardings;
  bool share_offsets; /* worked out once, where what is isolated begins */
  bool move_least;    /* permutations leave with each device what it has */
  op_id device_id;    /* the op that says which device this is */
} local_options;

typedef struct local {
  part_env e;
  local_options o;
  u32 num_values;
  const sharding **sh;        /* by value.num */
  const type **to;            /* local type, by value.num */
  const type **from;          /* global type */
  hash_index shards;          /* types of shards found so far */
  bool uneven;                /* some of them have padding */
  bool odd;                   /* or there are none, or of too many devices */
  block *prologue;            /* ops that go to the start of what is isolated */
  VEC(local_index) indices;   /* made so far */
  VEC(local_index) positions; /* the same, of whole meshes; `axes` is empty */
  VEC(group_list) groups;     /* made so far */
  group_slots group_slots;
  i64 next_channel;
} local;

/* Sharding of a value, by its number. */
static inline const sharding *local_sharding(const local *l, const value *v) {
  return v->num < l->num_values ? l->sh[v->num] : NULL;
}
static inline const type *local_whole_type(const local *l, const value *v) {
  return v->num < l->num_values ? l->from[v->num] : v->type;
}
/* In how many parts dimension d of the value is cut. */
static inline i64 local_parts(const local *l, const value *v, u32 d) {
  const sharding *s = local_sharding(l, v);
  return s && d < s->rank ? sharding_dim_size(s, d) : 1;
}

/* tensor<i64>: this partition's index along the axes (first one major), computed once at the
 * function's start. */
value *local_index_of(local *l, const mesh *m, axis_list axes);
/* tensor<i64>: index along the axes * size; NULL: there are no axes. */
value *local_offset(local *l, cursor *at, const mesh *m, axis_list axes, i64 size);
/* Slice sizes of `operand`: dimensions that are sharded are taken whole, so theirs are local. */
i64s local_sizes(const local *l, const value *operand, i64s sizes);
/* The part of a whole dimension-by-dimension tensor that this partition holds under the given
 * axes per dimension: offsets index * size. What lies behind the whole is zero. */
value *local_slice(local *l, cursor *at, value *v, const mesh *m, const axis_list *axes,
                   i64s sizes);

/* Users of result i, which is the whole and sharded, go on with this partition's shard. */
void local_use_shard(local *l, op *o, u32 i);
bool local_is_sharded(const local *l, const value *v);

/* Of part_row.local: conversion of one op whose operands are local already. Sets the types of its
 * results, or replaces it. false: an error was reported. */
local_fn local_types;   /* results get their local types, nothing else changes */
local_fn local_region;  /* and so has what is inside */
local_fn local_nothing; /* has no results */
local_fn local_foreign; /* as local_region; then what its dialect's make_local makes of it */
local_fn local_part;    /* is made as a whole everywhere; each device takes its part */
local_fn local_unresolved, local_propagation_barrier;

/* The same for those who run Shardy's pass by its name: ops of which it makes something else. NULL:
 * the row's. */
local_fn *local_export(const op *o);
/* tensor<1xELEMENT>, i64 or i1: what a table of entry(user, position in the mesh) has for the
 * device, tensor<i64>; NULL: this one. */
typedef i64 local_entry(const void *user, i64 position);
value *local_look_up(local *l, cursor *at, value *device, const mesh *m, const type *element,
                     local_entry *entry, const void *user);

/* Dimensions of a gather's array that may be sharded though it indexes them: each device gathers
 * what it has, and zeros for the rest, so that the parts sum up. And of a scatter's: what is not in
 * its shard it leaves out. */
dim_set local_gather_masks(const op *o, const struct gather_attrs *v);
dim_set local_scatter_masks(const struct scatter_attrs *v);

/* Along dimension d of local values: a type of another size, elements from low up to high, values
 * one after the other, and `size` elements from where a tensor<i64> says. */
const type *local_resized(local *l, const type *t, u32 d, i64 size);
value *local_cut(local *l, cursor *at, value *v, u32 d, i64 low, i64 high);
value *local_join(cursor *at, value *const *list, size_t n, u32 d);
value *local_take(local *l, cursor *at, value *v, u32 d, value *start, i64 size);

/* v, a shard of a value with sharding s, as its window of dimension d. `fill`: a scalar that stands
 * for what the window has outside of the dimension; NULL: that does not matter. NULL: cannot be. */
value *local_window(local *l, cursor *at, value *v, const sharding *s, u32 d, const shard_window *w,
                    value *fill);
/* tensor<i64>: where that window starts. */
value *local_window_start(local *l, cursor *at, const sharding *s, u32 d, const shard_window *w);
/* tensor<length x i1>: which of the places from `start`, a tensor<i64>, on are at least `first` and
 * less than `last`; and x where it is so along dimension d, else y, which may be a scalar. */
value *local_places_within(cursor *at, value *start, i64 length, i64 first, i64 last);
value *local_select_along(cursor *at, u32 d, value *within, value *x, value *y);
bool local_is_zero(const value *v); /* a scalar of zero bits */
/* Operand t as the windows that its op needs; `types`: local_whole_types, of before the first of
 * its operands was read. false: an error was reported. */
bool local_read(local *l, op *o, const type *const *types, windows_fn *windows, u32 t, value *fill);
/* Operands, then results. */
const type **local_whole_types(const local *l, const op *o);

local_fn local_constant, local_iota, local_rng, local_slice_op, local_dynamic_slice,
    local_dynamic_update_slice, local_gather, local_scatter, local_pad, local_reverse;
local_fn local_convolution, local_reduce_window, local_select_and_scatter; /* local_slide.c */
local_fn local_sdy_all_gather, local_sdy_all_slice, local_sdy_all_to_all,
    local_sdy_collective_permute, local_sdy_all_reduce, local_sdy_reduce_scatter,
    local_sharded_to_unreduced, local_replicated_to_unreduced;

#endif
