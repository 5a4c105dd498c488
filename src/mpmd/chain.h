/* Inside mpmd only: values that go to several meshes, from one to the next. */
#ifndef MPMD_CHAIN_H
#define MPMD_CHAIN_H

#include "mpmd/util.h"

/* Adds an assign, behind all whose mesh does not come after its own. */
void chain_add(arena *a, op_list *assigns, op *o);
/* Of at least one, sorted so: from mesh to mesh rather than from the first to each. All transfers
 * stand before the first assign, where whoever uses any of them can see it. */
void chain_replace(rewriter *r, const op_list *assigns, value *from);
value *chain_transfer(rewriter *r, op *before, const attr *loc, value *v, const type *to);

#endif
