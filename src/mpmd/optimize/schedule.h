/* Inside mpmd only: schedules of pipelines, which say what fragment of a mesh is to run before what
 * other one. Source: openxla/shardy, shardy/dialect/mpmd/transforms/optimize/pipeline_schedule.cc
 * and utils.cc. */
#ifndef MPMD_OPTIMIZE_SCHEDULE_H
#define MPMD_OPTIMIZE_SCHEDULE_H

#include "mpmd/util.h"

/* The names of a function's meshes but those of CPUs, which are no part of a pipeline. */
typedef VEC(str) mesh_list;
mesh_list mpmd_scheduled_meshes(arena *a, const op *func);

/* A scheduling unit (fragment_is_unit), as schedules see it. */
typedef struct unit {
  op *o;
  u32 at; /* in its block */
  str mesh_name;
  i64 mesh, meshes; /* its place in the pipeline, -1: it has none; how many there are */
  i64 call;
  bool backward, splits; /* splits: it computes what is not transferred, see split-bwd-fragments */
  bool has_stage;
  i64 stage;
} unit;
unit unit_of(op *o, u32 at, const mesh_list *meshes);

/* Must a, of the same mesh, run before b? *problem: why that cannot be said; else as it was. */
typedef bool schedule_fn(const unit *a, const unit *b, const char **problem);
typedef struct schedule {
  const char *name;
  schedule_fn *before;
} schedule;
const schedule *schedule_find(str name); /* whatever its case; NULL: none */

#endif
