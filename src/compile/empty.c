/* Values without elements are all alike, whatever makes them: what makes nothing else is dead then.
 * LAPACK's routines of others, for one, do not take matrices without rows. */
#include "compile/flatten.h"
#include "dialect/expand.h"

typedef struct empty {
  ir_module *m;
  arena *a;
} empty;

static walk_result visit(void *user, op *o) {
  empty *e = user;
  if (op_is(o, constant)) return WALK_ON;
  for (u32 i = 0; i < o->num_results; i++) {
    value *v = op_result(o, i);
    i64 n;
    if (!v->uses || !type_is_ranked(v->type) || !type_num_elements(v->type, &n) || n) continue;
    expander x = expander_before(e->m, e->a, o);
    value *c = expand_constant(&x, v->type, number_int(0));
    if (c) value_replace(v, c);
  }
  return WALK_ON;
}

void empty_values(ir_module *m, arena *scratch) {
  op_walk_post(m->root, visit, &(empty){m, scratch});
}
