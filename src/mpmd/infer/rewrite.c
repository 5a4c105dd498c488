/* mpmd-infer-mesh-rewrite-using-analysis: every op gets its mesh. Source: openxla/shardy,
 * infer_mesh_assignment.cc. */
#include "mpmd/infer/rewrite.h"

/* Callees first: calls then see what their functions have become. Their results go first so that
 * what makes them has users on meshes. */
static bool place_callee(infer *n, op *f, i64 max_clones) {
  return place_callee_results(n, f) && absorb_block(n, op_body(f, 0), max_clones) &&
         place_callee_args(n, f);
}

bool pass_infer_rewrite(ir_module *m, arena *scratch, const pass_args *args) {
  infer n;
  i64 max_clones = pass_option_int(args, STR("max-clones"), 1);
  if (!infer_begin(&n, m, scratch)) return false;
  for (size_t i = 0; i < n.funcs.len; i++) {
    op *f = n.funcs.data[i];
    if (!mpmd_is_entry_point(f) && !place_callee(&n, f, max_clones)) return false;
  }
  for (size_t i = 0; i < n.funcs.len; i++) {
    op *f = n.funcs.data[i];
    if (mpmd_is_entry_point(f) && !absorb_block(&n, op_body(f, 0), max_clones)) return false;
  }
  for (size_t i = 0; i < n.funcs.len; i++) update_func(&n, n.funcs.data[i]);
  return true;
}
