/* Inside shard only: what the patterns of sdy's canonicalization share. */
#ifndef SHARD_CANON_H
#define SHARD_CANON_H

#include "pass/rewrite.h"

/* The mesh that a symbol_ref or an inlined mesh means; NULL: there is none. */
const mesh_attr *canon_mesh(rewriter *r, const attr *mesh_or_ref);
i64 canon_whole_size(const mesh_attr *m, str name); /* 1: no such axis */
static inline i64 canon_size(const mesh_attr *m, const axis_ref_attr *a) {
  return a->size ? a->size : canon_whole_size(m, a->name);
}
static inline i64 canon_pre(const axis_ref_attr *a) { return a->size ? a->pre_size : 1; }
/* An axis_ref in its one form. */
const attr *canon_axis(ir_ctx *c, const mesh_attr *m, str name, i64 pre, i64 size);

/* Each ends with a NULL fn. */
extern const rewrite_pattern canon_collectives[], canon_regions[];

#endif
