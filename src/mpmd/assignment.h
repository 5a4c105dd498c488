/* Inside mpmd only: options that say on which mesh something goes.
 *
 * "f1@m1,f2@m2/1" gives computations and tensors by name a mesh, and perhaps a stage;
 * "0@m1,1@m2#pinned_host" gives them to arguments or results by number; "0:1,2:2" keeps argument
 * and result of these numbers where the other is. Source: openxla/shardy,
 * mpmd/transforms/import/mesh_assignment_map.cc and sharding_constraints.cc. */
#ifndef MPMD_ASSIGNMENT_H
#define MPMD_ASSIGNMENT_H

#include "mpmd/util.h"

typedef struct assignment {
  str name;  /* of named ones */
  i64 index; /* of numbered ones */
  str mesh;  /* perhaps with a memory kind, see mpmd_split_mesh */
  i64 stage; /* -1: none */
} assignment;
typedef VEC(assignment) assignment_list;

/* Of an option's value; each name once, the last time counts. False: reported. */
bool assignments_named(ir_module *m, arena *a, str text, assignment_list *out);
/* The same by number, in ascending order. */
bool assignments_indexed(ir_module *m, arena *a, str text, assignment_list *out);
/* NULL: it has none. */
const assignment *assignment_of(const assignment_list *l, str name);

typedef struct equisharding {
  i64 input, output;
} equisharding;
typedef VEC(equisharding) equisharding_list;
bool equishardings_read(ir_module *m, arena *a, str text, equisharding_list *out);

#endif
