/* mpmd-infer-mesh-validate-src-set-not-empty and -no-additional-transfers-needed: whether each op
 * can be on a mesh without transfers that the user did not ask for. Source: openxla/shardy,
 * infer_mesh_validation.cc; so are the messages. */
#include "base/index.h"
#include "mpmd/infer/origins.h"

typedef struct checks {
  infer n;
  i64 limit, errors, emitted; /* errors: also those that follow from others */
  hash_index failed;          /* ops, and arguments of functions */
} checks;

static void report(checks *c, const attr *loc, buf *b) {
  loc_error(c->n.ctx, loc, "%s", buf_cstr(b));
  buf_deinit(b);
  c->n.ok = false;
}

static void add_fix(buf *b, const char *option) {
  buf_printf(b, "To handle this automatically, set `%s` in the partitioning options." MESSAGE_RULE,
             option);
}

#define TRANSFERS_OPTION "mpmd_infer_transfers"
#define REDUCTIONS_OPTION "mpmd_infer_cross_mesh_reductions"

static void add_names(checks *c, buf *b, const char *before, const mesh_set *s,
                      const char *behind) {
  str names = set_names(c->n.a, s);
  buf_printf(b, "%s{" STR_FMT "}%s", before, STR_ARG(names), behind);
}

static void add_trace(buf *b, const char *title, const attr *loc) {
  buf_str(b, str_of(title));
  say_stack(b, loc);
  buf_char(b, '\n');
}

/* How the argument of a function came to its meshes, and who uses it. */
static void add_arg(checks *c, buf *b, const op *f, value *arg, const mesh_set *src,
                    const mesh_set *uses) {
  loc_origins_list from = {0}, to = {0};
  op_list calls = {0};
  mpmd_calls_of(c->n.a, c->n.m, f, &calls);
  list_sources(&c->n, arg, &from);
  list_uses(&c->n, arg, &to);
  buf_printf(b, "\nmpmd.call was called %zu times and can be assigned to meshes: ", calls.len);
  add_names(c, b, "", src, " which originates from the intersection of:");
  say_origins(&c->n, b, &from, "", true);
  if (uses->meshes.len)
    add_names(c, b, "\n\nArg is used in meshes ", uses, " which originates from the union of:");
  else
    BUF_LIT(b, "\n\nArg is used in:");
  say_origins(&c->n, b, &to, "", true);
  add_trace(b, "\n\nmpmd.call Stack trace:\n", f->loc);
  BUF_LIT(b, "\n\nSample arg users:");
  for (const use *u = arg->uses; u; u = u->next) {
    BUF_LIT(b, "\n - ");
    say_op(&c->n, b, u->owner);
    say_stack(b, u->owner->loc);
  }
  BUF_LIT(b, MESSAGE_RULE);
}

/* ---- source sets ---- */

static void report_empty_op(checks *c, op *o, bool reduction) {
  buf b;
  buf_init(&b, ir_mem(c->n.ctx));
  BUF_LIT(&b, "Mesh assignment is not possible for op as its operands are on conflicting meshes "
              "and thus we need to transfer some of the operands. Add an explicit transfer to fix "
              "this.\n");
  add_fix(&b, reduction ? REDUCTIONS_OPTION : TRANSFERS_OPTION);
  BUF_LIT(&b, "Op: \n\t");
  say_op(&c->n, &b, o);
  BUF_LIT(&b, "\n\nOperands with possibly conflicting meshes:\n");
  for (u32 i = 0; i < o->num_operands; i++) {
    loc_origins_list from = {0};
    mesh_set src = src_of_value(&c->n, op_operand(o, i));
    list_sources(&c->n, op_operand(o, i), &from);
    buf_printf(&b, "\n - Operand %u", i);
    if (src.known)
      add_names(c, &b, " can be assigned to meshes ", &src, " which originates from:");
    else
      BUF_LIT(&b, " can be assigned to any mesh and originates from the intersections of:");
    say_origins(&c->n, &b, &from, "  ", true);
  }
  mesh_set use = use_of(&c->n, o);
  loc_origins_list to = {0};
  if (use.meshes.len)
    add_names(c, &b, "\n\nOp is used in meshes ", &use, " which originates from the union of:");
  else
    BUF_LIT(&b, "\n\nOp is used in:");
  for (u32 i = 0; i < o->num_results; i++) list_uses(&c->n, op_result(o, i), &to);
  say_origins(&c->n, &b, &to, "", false);
  add_trace(&b, "\n\nOp stack trace:\n", o->loc);
  BUF_LIT(&b, MESSAGE_RULE);
  report(c, o->loc, &b);
}

/* The first of a chain is told of, not those that only follow from it. */
static bool follows(const checks *c, const op *o, bool reduction) {
  for (u32 i = 0; i < o->num_operands; i++) {
    const value *v = op_operand(o, i);
    mesh_set src = src_of_value(&c->n, v);
    const op *by = value_op(v);
    if (reduction ? by && op_discardable(by, MPMD_REDUCE) : set_is_empty(&src)) return true;
  }
  return false;
}

static void check_src(checks *c, op *o) {
  mesh_set src = src_of(&c->n, o);
  bool reduction = op_discardable(o, MPMD_REDUCE) != NULL;
  if (!src.known || (src.meshes.len && !reduction) || follows(c, o, reduction)) return;
  report_empty_op(c, o, reduction);
  c->errors++;
}

static void report_empty_arg(checks *c, const op *f, size_t i, const mesh_set *src) {
  buf b;
  str name = callee_name(f);
  mesh_set use = use_of_arg(&c->n, f, i);
  buf_init(&b, ir_mem(c->n.ctx));
  buf_printf(&b,
             "Mesh assignment is not possible for arg%zu of mpmd.call \"" STR_FMT
             "\" as its caller operands are on conflicting meshes and thus we need to transfer "
             "some of the operands. Add an explicit transfer to fix this.\n",
             i, STR_ARG(name));
  add_fix(&b, TRANSFERS_OPTION);
  add_arg(c, &b, f, op_body(f, 0)->args[i], src, &use);
  report(c, f->loc, &b);
}

static void check_arg_src(checks *c, const op *f, size_t i) {
  op_list calls = {0};
  mesh_set src = src_of_arg(&c->n, f, i);
  if (!set_is_empty(&src)) return;
  mpmd_calls_of(c->n.a, c->n.m, f, &calls);
  for (size_t k = 0; k < calls.len; k++) {
    if (i >= calls.data[k]->num_operands) continue;
    mesh_set of = src_of_value(&c->n, op_operand(calls.data[k], i));
    if (set_is_empty(&of)) return;
  }
  report_empty_arg(c, f, i, &src);
  c->errors++;
}

static walk_result visit_src(void *user, op *o) {
  checks *c = user;
  if (c->errors == c->limit) return WALK_STOP;
  if (!is_meshless(o)) return WALK_ON;
  arena *outer = c->n.a;
  c->n.a = ir_scratch_push(c->n.ctx);
  check_src(c, o);
  ir_scratch_pop(c->n.ctx);
  c->n.a = outer;
  return WALK_ON;
}

bool pass_infer_validate_src(ir_module *m, arena *scratch, const pass_args *args) {
  checks c = {0};
  if (!infer_begin(&c.n, m, scratch) || !infer_error_limit(&c.n, args, &c.limit)) return false;
  for (size_t i = 0; i < c.n.funcs.len; i++) {
    op *f = c.n.funcs.data[i];
    op_walk_post(f, visit_src, &c);
    for (size_t k = 0; k < num_args(f) && c.errors != c.limit; k++) check_arg_src(&c, f, k);
  }
  return c.n.ok;
}

/* ---- uses ---- */

static void note_failure(checks *c, const void *what) {
  index_set(&c->failed, c->n.scratch, what, (void *)what);
}

static bool failed_already(const checks *c, const use *u) {
  const op *o = u->owner;
  if (op_is(o, mpmd_call)) {
    size_t at = (size_t)(u - o->operands);
    const block *b = op_body(infer_callee(&c->n, o), 0);
    return at < b->num_args && index_get(&c->failed, b->args[at]);
  }
  return is_meshless(o) && index_get(&c->failed, o);
}

static bool users_failed(const checks *c, const value *v) {
  for (const use *u = v->uses; u; u = u->next)
    if (failed_already(c, u)) return true;
  return false;
}

static void report_op(checks *c, op *o, const mesh_set *src, const mesh_set *use) {
  loc_origins_list from = {0}, to = {0};
  buf b;
  buf_init(&b, ir_mem(c->n.ctx));
  for (u32 i = 0; i < o->num_operands; i++) {
    list_sources(&c->n, op_operand(o, i), &from);
    list_uses(&c->n, op_operand(o, i), &to);
  }
  add_names(c, &b, "Mesh assignment is not possible for op as it is used in ", use,
            " but it can only be placed on ");
  add_names(c, &b, "", src,
            " without introducing a transfer. Add an explicit transfer to fix this.\n");
  add_fix(&b, TRANSFERS_OPTION);
  BUF_LIT(&b, "Op: \n\t");
  say_op(&c->n, &b, o);
  add_names(c, &b, "\n\nCan be assigned to meshes: ", src,
            " which originates from the intersection of:");
  say_origins(&c->n, &b, &from, "", true);
  add_names(c, &b, "\n\nBut was used in meshes: ", use, " which originates from the union of:");
  say_origins(&c->n, &b, &to, "", false);
  add_trace(&b, "\n\nOp stack trace:\n", o->loc);
  BUF_LIT(&b, MESSAGE_RULE);
  report(c, o->loc, &b);
}

static void check_uses(checks *c, op *o) {
  mesh_set src = src_of(&c->n, o), use = use_of(&c->n, o);
  bool told = false;
  if (!src.known || set_has_all(&src, &use)) return;
  c->errors++;
  for (u32 i = 0; i < o->num_results; i++) told |= users_failed(c, op_result(o, i));
  note_failure(c, o);
  if (told) return;
  report_op(c, o, &src, &use);
  c->emitted++;
}

static void check_arg_uses(checks *c, const op *f, size_t i) {
  value *arg = op_body(f, 0)->args[i];
  mesh_set src = src_of_arg(&c->n, f, i), use = use_of_arg(&c->n, f, i);
  if (!src.known || set_has_all(&src, &use)) return;
  c->errors++;
  note_failure(c, arg);
  if (users_failed(c, arg)) return;
  buf b;
  str name = callee_name(f);
  buf_init(&b, ir_mem(c->n.ctx));
  buf_printf(&b, "Mesh assignment is not possible for arg%zu of mpmd.call \"" STR_FMT "\" as it ",
             i, STR_ARG(name));
  add_names(c, &b, "is used in ", &use, " but it can only be placed on ");
  add_names(c, &b, "", &src,
            " without introducing a transfer. Add an explicit transfer to fix this.\n");
  add_fix(&b, TRANSFERS_OPTION);
  add_arg(c, &b, f, arg, &src, &use);
  report(c, f->loc, &b);
  c->emitted++;
}

/* ---- chains of calls ---- */

static void check_link(checks *c, const op *f, size_t result, size_t arg) {
  mesh_set out = use_of_result(&c->n, f, result), in = use_of_arg(&c->n, f, arg);
  if (set_same_meshes(&out, &in)) return;
  buf b;
  str name = callee_name(f);
  buf_init(&b, ir_mem(c->n.ctx));
  buf_printf(&b,
             "Mesh assignment is not possible for mpmd.call \"" STR_FMT
             "\" as it passes result %zu to arg %zu but they have mismatching mesh assignments: "
             "res: {",
             STR_ARG(name), result, arg);
  say_meshes(&b, &out);
  BUF_LIT(&b, "}, arg: {");
  say_meshes(&b, &in);
  BUF_LIT(&b, "}. Please reach out if you see this." MESSAGE_RULE);
  add_trace(&b, "\n\nmpmd.call Stack trace:\n", f->loc);
  report(c, f->loc, &b);
  c->errors++;
  c->emitted++;
}

/* What a call gives to the next of the same function must be where that takes it. */
static void check_chain(checks *c, const op *call) {
  const op *f = infer_callee(&c->n, call);
  for (u32 i = 0; i < call->num_results; i++)
    for (const use *u = call->results[i].uses; u; u = u->next)
      if (op_is(u->owner, mpmd_call) && infer_callee(&c->n, u->owner) == f)
        check_link(c, f, i, (size_t)(u - u->owner->operands));
}

/* Users before what they use. False: no more errors are wanted. */
static bool walk_uses(checks *c, op *o) {
  if (c->errors == c->limit) return false;
  if (op_is(o, mpmd_fragment)) return true;
  arena *outer = c->n.a;
  c->n.a = ir_scratch_push(c->n.ctx);
  if (is_meshless(o) || op_is(o, mpmd_assign)) check_uses(c, o);
  if (op_is(o, mpmd_call)) check_chain(c, o);
  ir_scratch_pop(c->n.ctx);
  c->n.a = outer;
  for (size_t r = o->num_regions; r-- > 0;)
    for (block *b = o->regions[r].last; b; b = b->prev)
      for (op *i = b->last; i; i = i->prev)
        if (!walk_uses(c, i)) return false;
  return true;
}

static void check_func_uses(checks *c, op *f) {
  walk_uses(c, f);
  for (size_t i = 0; i < num_args(f) && (c->limit < 0 || c->emitted < c->limit); i++)
    check_arg_uses(c, f, i);
}

/* Callees first, so that calls know of what failed in them. */
bool pass_infer_validate_uses(ir_module *m, arena *scratch, const pass_args *args) {
  checks c = {0};
  if (!infer_begin(&c.n, m, scratch) || !infer_error_limit(&c.n, args, &c.limit)) return false;
  for (int entry = 0; entry < 2; entry++)
    for (size_t i = 0; i < c.n.funcs.len; i++)
      if (mpmd_is_entry_point(c.n.funcs.data[i]) == (entry != 0))
        check_func_uses(&c, c.n.funcs.data[i]);
  return c.n.ok;
}
