/* Programs over several meshes: Shardy's MPMD dialect, its passes and pipelines under their names.
 *
 * The dialect's ops are rows as all others (ir/ops/mpmd.def), verified and printed as they; what is
 * here makes, of a program whose parts have names, fragments that each run on a mesh. It is linked
 * into the tool only. Source: openxla/shardy, shardy/dialect/mpmd. */
#ifndef MPMD_MPMD_H
#define MPMD_MPMD_H

#include "shard/shard.h"

/* Each ends with a NULL name: which mesh what is computed on; the rest of import; fragments merged,
 * split and dropped; functions over meshes, and loops; schedules; what the runtime is told; and
 * shardings of values on meshes. */
extern const pass_info mpmd_infer_passes[], mpmd_import_passes[], mpmd_common_passes[],
    mpmd_calls_passes[], mpmd_optimize_passes[], mpmd_export_passes[], mpmd_propagation_passes[];
#define MPMD_PASSES                                                                                \
  mpmd_infer_passes, mpmd_import_passes, mpmd_common_passes, mpmd_calls_passes,                    \
      mpmd_optimize_passes, mpmd_export_passes, mpmd_propagation_passes
/* The patterns of `canonicalize` for ops of sdy and mpmd, for pass_tables.patterns. */
enum { MPMD_PATTERNS = SHARD_PATTERNS + 1 };
extern const rewrite_pattern *const mpmd_patterns[MPMD_PATTERNS];

#endif
