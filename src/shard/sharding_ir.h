/* Between attributes and plain values: the meshes of a module, #sdy.sharding as `sharding`.
 *
 * A space belongs to one module and one pass: it keeps what it has converted in the arena it
 * was given. Shardings that come out of a space are interned, so equal ones are one pointer.
 * Not thread-safe. While a space lives meshes may be added but must not change. */
#ifndef SHARD_SHARDING_IR_H
#define SHARD_SHARDING_IR_H

#include "ir/op.h"
#include "mesh/mesh.h"

typedef struct shard_space shard_space;

shard_space *shard_space_create(ir_module *m, arena *a);
arena *shard_space_arena(shard_space *s);
ir_module *shard_space_module(shard_space *s);

/* The mesh that a symbol_ref or an inlined mesh attribute means. NULL: there is none (or it is
 * malformed); shard_space_ok then says false, and a pass reports it and fails. */
const mesh *shard_mesh(shard_space *s, const attr *mesh_or_ref);
const mesh *shard_mesh_named(shard_space *s, str name);
/* Replica groups that name whole axes of a mesh. False: they are something else. */
bool shard_read_groups(shard_space *s, const attr *groups, const mesh **m, axis_list *axes);
/* The attribute by which shardings name this mesh. */
const attr *shard_mesh_ref(shard_space *s, const mesh *m);

/* #sdy.sharding to value. NULL in, NULL out; NULL also where it names what does not exist. */
const sharding *shard_read(shard_space *s, const attr *tensor_sharding);
/* The interned twin of a sharding whose mesh is one of the space's. */
const sharding *shard_intern(shard_space *s, const sharding *proto);
/* Value to attribute; NULL in, NULL out. `s` must be interned in the space. */
const attr *shard_write(shard_space *s, const sharding *sh);

/* Axes of the mesh as #sdy references, in the arena. */
attrs shard_write_axes(ir_ctx *c, arena *a, const mesh *m, axis_list l);

bool shard_space_ok(const shard_space *s);
/* Reports, if not ok, that a sharding is malformed; returns shard_space_ok. */
bool shard_space_check(shard_space *s);

/* #sdy.sharding attributes with other dims or axes; the rest is kept. */
const attr *shard_attr_open_like(ir_ctx *c, const attr *tensor_sharding, size_t rank);
/* Replicated with all dimensions closed or open. */
const attr *shard_attr_replicated(ir_ctx *c, const attr *mesh_or_ref, size_t rank, bool closed);
/* Axes of dims, replicated and unreduced all empty? NULL: yes. */
bool shard_attr_no_axes(const attr *tensor_sharding);
/* The same axes in every dimension; all else, unreduced axes too, doesn't count. */
bool shard_attr_equivalent(const attr *a, const attr *b);

/* ---- where values keep their shardings ---- */

/* Shardings of a function's arguments or results: reads into out[n], writes all. */
typedef enum func_side { FUNC_ARGS, FUNC_RESULTS } func_side;
const attr *func_sharding(const op *func, func_side side, size_t i);
void func_set_shardings(ir_module *m, op *func, func_side side, const attr *const *list, size_t n);
void func_set_sharding(ir_module *m, op *func, func_side side, size_t i, const attr *a);
/* Any other entry of one argument's or result's dictionary; NULL: none. */
const attr *func_named(const op *func, func_side side, size_t i, str name);
void func_set_named(ir_module *m, op *func, func_side side, size_t i, str name, const attr *a);
size_t func_num(const op *func, func_side side);
const type *func_type_of(const op *func, func_side side, size_t i);

/* The op's sharding_per_value ("sdy.sharding") entries; empty if it has none. */
attrs op_shardings(const op *o);
/* n attributes, none NULL. */
void op_set_shardings(ir_module *m, op *o, const attr *const *list, size_t n);

/* The op keeps the shardings of its results in slots rather than in "sdy.sharding". */
bool op_says_elsewhere(const op *o);

/* The value that holds the sharding for v: a data-flow edge's result, an edge owner, v itself.
 * NULL: no sharding can be attached (an argument of a reduction's body, say). */
value *value_shardable(value *v);
/* The sharding of v where it is kept, or NULL. */
const attr *value_sharding(ir_ctx *c, value *v);
/* The op's list of argument or result shardings as it stands, for edge owners. */
const attr *owner_sharding(ir_ctx *c, value *v);
/* Sets all owners of one side of a flow op, none NULL. */
void owners_set_shardings(ir_module *m, op *o, bool args, const attr *const *list, size_t n);
/* Sets it; a NULL shardable value is left alone. Siblings of an op with several results that
 * had no shardings get open ones, as the attribute holds all or none. */
void value_set_sharding(ir_module *m, value *v, const attr *a);

/* Maps every #sdy.sharding of the module: on arguments, results, ops and edges. NULL from fn (or
 * from reading) is a failure. */
typedef const attr *map_sharding_fn(void *user, const attr *tensor_sharding);
void map_shardings(ir_module *m, arena *scratch, map_sharding_fn *fn, void *user);

/* ---- the border of a manual computation ---- */

/* What the body sees of a sharding from outside: without the manual axes. */
const attr *manual_inner_sharding(ir_ctx *c, const attr *outer, const attr *manual_axes);
/* The manual axes of `outer` with the free ones of `inner` behind them; explicit replication
 * and unreduced axes are those of `outer`. */
const attr *manual_outer_sharding(ir_ctx *c, const attr *outer, const attr *inner,
                                  const attr *manual_axes);

/* Rank of a tensor, on a mesh of MPMD's or not; 0 of anything else. */
size_t type_rank(const type *t);
/* Such a tensor, of a shape that is known: only these are sharded. */
bool type_is_shardable(const type *t);

#endif
