/* Topologies: what a function knows of the program's meshes. */
#include "dialect/mpmd.h"
#include "mpmd/import/passes.h"

typedef struct copier {
  ir_module *m;
  const attr *topology;
} copier;

/* Private, since public functions with a topology are where programs begin. */
static walk_result give(void *user, op *o) {
  const copier *c = user;
  if (!op_is(o, mpmd_call)) return WALK_ON;
  op *f = symbol_find(c->m->root, symbol_of(op_get(o, mpmd_call, callee)));
  if (!f || !op_is(f, func)) return WALK_ON;
  op_set_attr(c->m, f, MPMD_TOPOLOGY, c->topology);
  op_set(f, func, sym_visibility, attr_string(c->m->ctx, STR("private")));
  return WALK_ON;
}

/* Callees of mpmd.call are on the meshes of the function that calls them. */
bool pass_mpmd_copy_topology(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch, (void)args;
  for (op *f = op_body(m->root, 0)->first; f; f = f->next) {
    if (!op_is(f, func) || !mpmd_is_function(f)) continue;
    copier c = {m, op_discardable(f, MPMD_TOPOLOGY)};
    op_walk(f, give, &c);
  }
  return true;
}
