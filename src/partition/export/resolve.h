/* Inside partition/export only: ops whose shards need elements of other shards, for
 * sdy-resolve-permutation-factors and those who run it.
 *
 * What has to be exchanged is data, an `exchange` (exchange.c, resolve_reshape.c); what is emitted
 * of it is the same for all ops (exchange_emit.c). Source: openxla/shardy,
 * sdy-resolve-permutation-factors. */
#ifndef PARTITION_EXPORT_RESOLVE_H
#define PARTITION_EXPORT_RESOLVE_H

#include "partition/env.h"
#include "shard/calls.h"
#include "shard/rule.h"

typedef struct resolver {
  part_env e;
  rule_set rules;
  symbols symbols;
  bool exchanges; /* else what must be exchanged is replicated */
  op_id device_id;
  i64 next_channel;
  bool ok;
} resolver;

/* One dimension. A shard of the result is cut out of a buffer: `left` shards in front of this
 * device's own one, that one, `right` shards behind it, all of the padded operand, `dilation`
 * elements of the result from one element to the next, with as much filling at both ends as a
 * whole shard of the result. */
typedef struct dim_exchange {
  u32 dim;
  axis_list axes;    /* shards are numbered along these */
  i64 count;         /* of shards */
  i64 in, out;       /* elements of a shard of operand and result */
  i64 low, dilation; /* element i of the operand is element low + i * dilation of the result */
  i64 left, right;
  bool moves;        /* some shard of the result is no shard of the operand */
  bool near;         /* fewer shards are sent than there are, or neighbours only */
  const i64 *begins; /* where shard k begins in its buffer; NULL: as `low` says */
} dim_exchange;

typedef struct exchange {
  const sharding *from, *to;
  i64s shape, result; /* of operand and result, such that the axes divide them */
  bool *manual;       /* by axis of the mesh: those of dimensions that are exchanged */
  VEC(dim_exchange) dims;
  bool moves, near; /* any does; all are */
} exchange;

/* Shards, counted in elements or devices, beyond which nothing is exchanged. */
enum { EXCHANGE_MAX_DEVICES = 1 << 20 };

/* The exchange for a result whose elements are those of the operand at an offset: element i of
 * dimension d is element low[d] + i * (inside[d] + 1) (NULL: i) of the result. */
exchange exchange_of_window(arena *a, const sharding *s, i64s in, i64s out, const i64 *low,
                            const i64 *inside);
/* Parts of dimension d along the manual axes. */
i64 exchange_parts(const exchange *x, const sharding *s, u32 d);
/* Without the manual axes. */
const sharding *exchange_inside(arena *a, const exchange *x, const sharding *s);
/* Elements of the largest of so many parts. */
i64 exchange_shard(i64 size, i64 parts);

/* v, filled up at its end until the sharding's parts divide it (fill NULL: with zeros). */
value *emit_padded(cursor *at, value *v, i64s shape, const sharding *s, value *fill);
/* v cut to a shape. */
value *emit_cut(cursor *at, value *v, i64s shape, const sharding *s);
/* What is done on shards after an exchange. */
typedef value *exchange_after(const void *user, cursor *at, const exchange *x, value *v,
                              value *fill);
/* The manual computation: v is of x->shape, the result of x->result. */
value *emit_exchange(resolver *r, cursor *at, const exchange *x, value *v, value *fill,
                     exchange_after *after, const void *user);
/* Every shard's elements moved by `by[d]` elements towards the end, in a manual computation over
 * the manual axes of x: the last of each neighbour come first. Dimensions with 0 stay. */
value *emit_shift(resolver *r, cursor *at, const exchange *x, value *v, const i64 *by);

bool resolve_reshape(resolver *r, op *o); /* false: reported */

#endif
