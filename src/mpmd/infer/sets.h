/* Inside mpmd/infer only: sets of meshes, and for each mesh who put it there.
 *
 * An attribute #mpmd.meshes_with_origins is such a set; none at all is one that is not known, which
 * a value has that may be on any mesh. Order is that of insertion, as it shows in the text. Source:
 * openxla/shardy, shardy/dialect/mpmd/transforms/import/meshes_with_origins.h. */
#ifndef MPMD_INFER_SETS_H
#define MPMD_INFER_SETS_H

#include "ir/attr.h"

/* Who puts meshes into sets besides the user's names. */
#define ORIGIN_INFERRED_IN STR("inferred_in")
#define ORIGIN_INFERRED_OUT STR("inferred_out")
#define ORIGIN_UNUSED STR("inferred_unused")
#define ORIGIN_UNUSED_CALLEE_IN STR("inferred_unused_callee_in")
#define ORIGIN_UNUSED_CALLEE_OUT STR("inferred_unused_callee_out")
#define ORIGIN_CONSTRAINT_IN STR("io_constraint_in")
#define ORIGIN_CONSTRAINT_OUT STR("io_constraint_out")
#define ORIGIN_TRANSFER STR("transfer")
#define ORIGIN_BROADCAST_IN STR("broadcast_in") /* of these meshes others are preferred */
#define ORIGIN_BROADCAST STR("broadcast")
#define ORIGIN_REDUCE STR("reduce")

typedef VEC(const attr *) origin_list; /* of mesh_origin, each once */

typedef struct mesh_entry {
  str mesh;
  origin_list origins;
} mesh_entry;

typedef struct mesh_set {
  bool known;
  VEC(mesh_entry) meshes;
  origin_list any; /* of the mesh "*", which stands for all; empty: it is not in the set */
} mesh_set;

static inline bool set_is_empty(const mesh_set *s) { return s->known && !s->meshes.len; }
bool set_has(const mesh_set *s, str mesh);
/* Of an attribute; NULL: not known. */
mesh_set set_of(arena *a, const attr *x);
const attr *set_attr(ir_ctx *c, arena *a, const mesh_set *s); /* NULL: not known */
mesh_set set_copy(arena *a, const mesh_set *s);
void set_insert(arena *a, mesh_set *s, str mesh, attrs origins);
/* With one origin; an empty one is none. */
void set_insert_named(ir_ctx *c, arena *a, mesh_set *s, str mesh, str origin);
/* Sets that are not known change nothing, and become what they are united or met with. */
void set_unite(arena *a, mesh_set *s, const mesh_set *with);
void set_meet(arena *a, mesh_set *s, const mesh_set *with);
bool set_has_all(const mesh_set *s, const mesh_set *of);
bool set_same_meshes(const mesh_set *a, const mesh_set *b);
/* The mesh to take: of those in `preferred` (may be NULL) if there is one; of these one that is not
 * only there for broadcasts; of these the first by name. false: there is none. */
bool set_pick(const mesh_set *s, const mesh_set *preferred, str *out);
/* "m1,m2" */
str set_names(arena *a, const mesh_set *s);

#endif
