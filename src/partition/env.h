/* Inside partition only: what its passes share. */
#ifndef PARTITION_ENV_H
#define PARTITION_ENV_H

#include "pass/pass.h"
#include "shard/calls.h"

/* What a pass works on. */
typedef struct part_env {
  ir_module *m;
  ir_ctx *c;
  arena *a; /* the pass's scratch */
  shard_space *space;
  const attr *sharding_name; /* "sdy.sharding", as ops have it */
} part_env;

part_env part_env_make(ir_module *m, arena *scratch);

/* The module names a mesh with axes; otherwise there is nothing to do. */
bool part_has_mesh(const part_env *e);

/* The mesh of the module that is the same; the first, or else a new one by this name. */
const mesh *part_name_mesh(const part_env *e, symbols *s, const mesh *like, str name);

/* The op that makes v for nobody else, in the same block; NULL: there is none. */
op *part_private_op(const value *v, const block *b);

/* The sharding of a value where it stands: of its op, of the function's argument, of the loop
 * or manual computation around it (without the manual axes). NULL: none, so replicated.
 * Interned in the space. */
const sharding *part_sharding(const part_env *e, const value *v);
/* Sets the sharding of result i of an op that carries shardings in `sdy.sharding`; results
 * that had none get replicated ones. */
void part_set_sharding(const part_env *e, op *o, u32 i, const sharding *s);
/* No manual computation is around `o`, so that along an axis that a value does not name all have
 * the same. */
bool part_axes_are_free(const op *o);
/* A sharding without the axes that the manual computation takes for itself. */
const sharding *part_inside_manual(const part_env *e, const op *manual, const sharding *s);
/* What the sources of the edge of an owner must be under, as they see it: outside of the op, or
 * inside. NULL: replicated. */
const sharding *part_at_sources(const part_env *e, op *o, value *owner);
/* Whether the value, a result of the op or an argument of its, stands for an edge. */
bool part_owns_edge(op *o, value *v);
const attr *part_attr(const part_env *e, const sharding *s); /* interns; NULL: NULL */

/* #sdy axis references and back. */
axis_list part_read_axes(const part_env *e, const mesh *m, attrs axis_refs);
attrs part_axes_attrs(const part_env *e, const mesh *m, axis_list l);
const attr *part_lists_attr(const part_env *e, const mesh *m, const axis_list *dims, u32 rank);

/* The first channel that no collective of the program has. */
i64 part_next_channel(ir_module *m);

/* Replaces uses and takes over the number, by which passes keep side tables. */
void part_replace(value *from, value *to);

/* ---- making ops at a place ---- */

typedef struct cursor {
  const part_env *env;
  block *b;
  op *before; /* NULL: at the end of b */
  const attr *loc;
} cursor;

static inline cursor cursor_before(const part_env *e, op *o) {
  return (cursor){e, o->parent, o, o->loc};
}
static inline cursor cursor_after(const part_env *e, op *o) {
  return (cursor){e, o->parent, o->next, o->loc};
}

op *emit_op(cursor *at, op_id id, value *const *operands, size_t n, const type *const *types,
            size_t num_results, size_t num_regions);
value *emit(cursor *at, op_id id, value *const *operands, size_t n, const type *t);
/* A new value, under this sharding if there is one. */
value *emit_sharded(const part_env *e, value *v, const sharding *s);
value *emit_int(cursor *at, i64 v); /* constant tensor<i64> */
/* Constants whose elements are all these bytes, all zero. */
value *emit_splat(cursor *at, const type *t, const char *element);
value *emit_zeros(cursor *at, const type *t);
/* What a sum leaves as it is: zeros, negative where the element type has that. */
value *emit_no_addend(cursor *at, const type *t);
bool part_has_no_addend(const type *element);
value *emit_binary(cursor *at, op_id id, value *x, value *y);
value *emit_compare(cursor *at, value *x, value *y, i64 direction); /* 0: EQ */
value *emit_device_id(cursor *at, op_id id); /* tensor<i64> of partition_id or replica_id */
value *emit_dynamic_slice(cursor *at, value *v, value *const *starts, i64s sizes);
value *emit_broadcast(cursor *at, value *scalar, i64s dims);
value *emit_reshape(cursor *at, value *v, i64s dims);
value *emit_concatenate(cursor *at, value *const *parts, size_t n, u32 dim);
/* Lists of one entry a dimension; `inside` NULL: none. Sizes fit. */
value *emit_pad(cursor *at, value *v, value *fill, const i64 *low, const i64 *high,
                const i64 *inside);
value *emit_slice(cursor *at, value *v, const i64 *begin, const i64 *end); /* every element */
/* v with its end cut off, or zeros behind it, in each dimension. */
value *emit_resized(cursor *at, value *v, i64s dims);

value *emit_reshard(cursor *at, value *v, const sharding *to);

/* The same shards under a sharding that says so in other words (sharding_on_mesh); behind a
 * barrier, which is no op in the end. */
value *emit_as(cursor *at, value *v, const sharding *s);
/* A replicated value is the same on any mesh, yet a collective and its operand have one: behind
 * a barrier, which is no op in the end. */
value *emit_on_mesh(cursor *at, value *v, const mesh *m);

/* The op that says which device runs, by the options replica-count and partition-count; false:
 * reported. */
bool part_device_id(ir_module *m, const pass_args *args, op_id *out);

/* "stablehlo.add"-like body (x, y) -> op(x, y) in region r of o. */
void emit_reducer(cursor *at, op *o, op_id id, const type *element);
/* Op that combines under a reduction kind, for an element type. */
op_id reducer_of(unreduced_kind kind);

#endif
