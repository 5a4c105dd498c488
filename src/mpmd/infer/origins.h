/* Inside mpmd/infer only: what messages of mesh inference say of where meshes come from. */
#ifndef MPMD_INFER_ORIGINS_H
#define MPMD_INFER_ORIGINS_H

#include "mpmd/infer/infer.h"

#define MESSAGE_RULE "\n---------------------------------------------------\n"

/* A place in the user's program, and the meshes that come from there. */
typedef struct loc_origins {
  const attr *loc;
  mesh_set meshes;
} loc_origins;
typedef VEC(loc_origins) loc_origins_list;

/* Where the source set of v comes from, behind what the list has; and the uses of v. */
void list_sources(infer *n, value *v, loc_origins_list *out);
void list_uses(infer *n, value *v, loc_origins_list *out);
/* A line each. */
void say_origins(infer *n, buf *b, const loc_origins_list *l, const char *prefix, bool inputs);
void say_meshes(buf *b, const mesh_set *s); /* "m1[origin,origin], m2[]" */
/* The calls of a location and where they are, each in a line. */
void say_stack(buf *b, const attr *loc);
void say_op(infer *n, buf *b, const op *o);
/* The name without what JAX puts in front of it. */
str callee_name(const op *func);

#endif
