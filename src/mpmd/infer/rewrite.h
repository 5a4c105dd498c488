/* Inside mpmd/infer only: what gives meshless ops, calls and loops their meshes. */
#ifndef MPMD_INFER_REWRITE_H
#define MPMD_INFER_REWRITE_H

#include "mpmd/infer/infer.h"

/* All return false for what they reported. */

/* All ops of a block, the last one first: a meshless op becomes part of the fragments that use it
 * through mpmd.assign, copied into at most `max_clones` of them (small ones into all), or gets
 * fragments of its own. */
bool absorb_block(infer *n, block *b, i64 max_clones);

/* Of a callee: results on several meshes are returned for each of them, arguments taken for each;
 * both know by MPMD_COPIES where the further ones are. Its type stays. */
#define MPMD_COPIES STR("mpmd.copies")
bool place_callee_results(infer *n, op *func);
bool place_callee_args(infer *n, op *func);
/* A call of such a function. */
bool rewrite_call(infer *n, op *call);
bool rewrite_loop(infer *n, op *loop, i64 max_clones);
/* The type of what a function takes and returns now, with as many entries in its attributes. */
void update_func(infer *n, op *func);

/* Users that are mpmd.assign, by the meshes that they assign to. */
typedef struct mesh_users {
  str mesh;
  op_list users;
} mesh_users;
typedef VEC(mesh_users) mesh_users_list;
/* Sorted as meshes are. */
mesh_users_list users_by_mesh(const infer *n, const value *v);
/* In front of `before`: v as a tensor again, for these mpmd.assign. */
void use_unassigned(infer *n, op *before, value *v, const op_list *users);

#endif
