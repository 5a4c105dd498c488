/* Propagation of shardings: the import, propagation and export passes under Shardy's names.
 *
 * Sources: openxla/shardy docs/sdy_import_passes.md, sdy_propagation_passes.md and
 * sdy_export_passes.md. */
#ifndef SHARD_SHARD_H
#define SHARD_SHARD_H

#include "pass/pass.h"

/* Ends with a NULL name. The pipelines of Shardy's name passes of partition too: they are there. */
extern const pass_info shard_passes[];

/* Whether the shardings of a module travel as frontend attributes, the form of
 * xla-sdy-round-trip-import-pipeline, and the import of such a module, which is verified. */
bool shard_in_frontend(const ir_module *m);
bool shard_from_frontend(ir_module *m, const pass_tables *tables);
/* The same of a module without meshes, whose shardings are GSPMD's mhlo.sharding. */
bool shard_in_gspmd(const ir_module *m);
bool shard_from_gspmd(ir_module *m, const pass_tables *tables);

/* The patterns of `canonicalize` for sdy ops, for pass_tables.patterns. The pass applies those of
 * collectives alone as canonicalize{enable-patterns=sdy-collective}. */
enum { SHARD_PATTERNS = 2 };
extern const rewrite_pattern *const shard_patterns[SHARD_PATTERNS];

/* How shardings go through an op, for `terrazzo ops`. */
typedef enum shard_way {
  SHARD_NO_WAY,     /* not: a warning says so once */
  SHARD_NEEDS_NONE, /* constants, terminators, symbols */
  SHARD_BY_RULE,
  SHARD_ON_DEMAND, /* a rule, or edges, with extra-rules=true, as Shardy has none */
  SHARD_BY_EDGES
} shard_way;
shard_way shard_way_of(op_id id);

#endif
