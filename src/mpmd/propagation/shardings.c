/* Shardings that propagation leaves at fragments and transfers, made what the user said of the
 * program's borders, and what fragments return in parts. */
#include "base/index.h"
#include "mpmd/propagation/passes.h"
#include "mpmd/util.h"
#include "shard/sharding_ir.h"
#include "text/text.h"

void set_in_shardings(ir_module *m, const value *v, const attr *sharding) {
  if (!sharding) return;
  for (const use *u = v->uses; u; u = u->next) {
    size_t i = (size_t)(u - u->owner->operands);
    if (op_is(u->owner, mpmd_fragment))
      value_set_sharding(m, op_body(u->owner, 0)->args[i], sharding);
  }
}

void set_out_sharding(ir_module *m, op *fragment, size_t i, const attr *sharding) {
  if (sharding) value_set_sharding(m, op_result(fragment, i), sharding);
}

/* ---- mpmd-enforce-user-shardings ---- */

/* Of each dimension the axes in front of the first part of one: who calls cannot say parts. */
static const attr *whole_axes(ir_ctx *c, const attr *sharding) {
  const tensor_sharding_attr *s = attr_as(tensor_sharding, sharding);
  if (!s) return sharding;
  const attr **dims = ARENA_ARRAY(ir_arena(c), const attr *, s->dims.len);
  bool same = true;
  for (size_t i = 0; i < s->dims.len; i++) {
    const dim_sharding_attr *d = (const dim_sharding_attr *)s->dims.data[i];
    size_t n = 0;
    while (n < d->axes.len && !((const axis_ref_attr *)d->axes.data[n])->size) n++;
    dims[i] = s->dims.data[i];
    if (n == d->axes.len) continue;
    same = false;
    dims[i] = attr_make(c, dim_sharding, .axes = {d->axes.data, n}, .closed = true, .priority = -1);
  }
  if (same) return sharding;
  return attr_make(c, tensor_sharding, .mesh = s->mesh, .dims = {dims, s->dims.len},
                   .replicated = s->replicated, .unreduced = s->unreduced,
                   .unreduced_kind = s->unreduced_kind);
}

static void warn_of_parts(ir_module *m, const attr *loc, const char *what, size_t i,
                          const attr *old, const attr *now) {
  arena *a = ir_scratch_push(m->ctx);
  mpmd_warn(m->ctx, loc,
            "Sub-axes sharding found for %s %zu. This is not supported, and sharding will be "
            "tuncated. Original sharding: %s; truncated sharding: %s Please contact the MPMD team.",
            what, i, text_show_attr(a, old), text_show_attr(a, now));
  ir_scratch_pop(m->ctx);
}

/* The user's word on values at borders: value -> sharding. */
typedef struct borders {
  ir_module *m;
  arena *a;
  hash_index said;
} borders;

static void enforce_input(borders *w, op *f, value *arg) {
  ir_module *m = w->m;
  const attr *old = func_sharding(f, FUNC_ARGS, arg->index);
  if (!old) return;
  const attr *now = whole_axes(m->ctx, old);
  if (now != old) {
    func_set_sharding(m, f, FUNC_ARGS, arg->index, now);
    const attr *loc = block_arg_loc(arg->def.block, arg->index);
    if (diag_first(ir_sink(m->ctx), ONCE_SUB_AXES_IN))
      warn_of_parts(m, loc ? loc : f->loc, "arg", arg->index, old, now);
  }
  index_set(&w->said, w->a, arg, (void *)(uintptr_t)now);
}

static void enforce_result(borders *w, op *f, const op *ret, u32 i) {
  ir_module *m = w->m;
  const attr *old = func_sharding(f, FUNC_RESULTS, i);
  value *v = op_operand(ret, i);
  const op *by = value_op(v);
  if (!old) return;
  const attr *now = whole_axes(m->ctx, old);
  bool ours = by && (op_is(by, mpmd_fragment) || op_is(by, mpmd_transfer));
  if (now != old) {
    if (!ours) value_set_sharding(m, v, now);
    if (diag_first(ir_sink(m->ctx), ONCE_SUB_AXES_OUT))
      warn_of_parts(m, ret->loc, "result", i, old, now);
  }
  if (ours) index_set(&w->said, w->a, v, (void *)(uintptr_t)now);
}

/* At once, as a fragment may have thousands of operands, and a list is made anew each time. */
static void set_side(borders *w, op *o, bool args) {
  size_t n = args ? o->num_operands : o->num_results;
  const attr **list = ARENA_ARRAY(w->a, const attr *, n + 1), *first = NULL;
  for (size_t i = 0; i < n; i++) {
    list[i] = index_get(&w->said, args ? op_operand(o, i) : op_result(o, i));
    if (!first) first = list[i];
  }
  for (size_t i = 0; first && i < n; i++) {
    value *v = args ? op_body(o, 0)->args[i] : op_result(o, i);
    if (!list[i]) list[i] = owner_sharding(w->m->ctx, v);
    if (!list[i]) list[i] = shard_attr_open_like(w->m->ctx, first, type_rank(v->type));
  }
  if (first) owners_set_shardings(w->m, o, args, list, n);
}

static walk_result enforce(void *user, op *o) {
  borders *w = user;
  if (op_is(o, mpmd_fragment)) {
    set_side(w, o, true);
    set_side(w, o, false);
  }
  const attr *said = op_is(o, mpmd_transfer) ? index_get(&w->said, op_result(o, 0)) : NULL;
  if (said) value_set_sharding(w->m, op_result(o, 0), said);
  return WALK_ON;
}

bool pass_mpmd_enforce_shardings(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0};
  mpmd_functions(scratch, m, &functions);
  for (size_t k = 0; k < functions.len; k++) {
    op *f = functions.data[k];
    const block *b = op_body(f, 0);
    if (!b || !mpmd_is_entry_point(f)) continue;
    borders w = {.m = m, .a = scratch};
    const op *ret = op_terminator(b);
    for (u32 i = 0; i < b->num_args; i++) enforce_input(&w, f, b->args[i]);
    for (u32 i = 0; i < ret->num_operands; i++) enforce_result(&w, f, ret, i);
    op_walk(f, enforce, &w);
  }
  return true;
}

/* ---- mpmd-populate-unreduced-out-sharding ---- */

static const attr *with(ir_ctx *c, const attr *sharding, const attr *mesh,
                        const tensor_sharding_attr *unreduced) {
  const tensor_sharding_attr *s = attr_as(tensor_sharding, sharding);
  if (!unreduced) unreduced = s;
  return attr_make(c, tensor_sharding, .mesh = mesh, .dims = s->dims, .replicated = s->replicated,
                   .unreduced = unreduced->unreduced, .unreduced_kind = unreduced->unreduced_kind);
}

static bool same_unreduced(const attr *sharding, const tensor_sharding_attr *s) {
  const tensor_sharding_attr *a = attr_as(tensor_sharding, sharding);
  size_t n = s->unreduced.len;
  return a && a->unreduced.len == n &&
         memcmp(a->unreduced.data, s->unreduced.data, n * sizeof(const attr *)) == 0;
}

/* What returned value i is asked to be in parts of; NULL: it is whole. */
static const tensor_sharding_attr *in_parts(const op *ret, u32 i) {
  const op *by = value_op(op_operand(ret, i));
  if (!by || !op_is(by, sharding_constraint)) return NULL;
  const tensor_sharding_attr *s =
      attr_as(tensor_sharding, op_get(by, sharding_constraint, sharding));
  return s && s->unreduced.len ? s : NULL;
}

/* Values without a sharding get closed ones, on whatever mesh the constraint says. */
static walk_result populate(void *user, op *o) {
  ir_module *m = user;
  if (!op_is(o, mpmd_fragment)) return WALK_ON;
  const op *ret = op_terminator(op_body(o, 0));
  const attr **list = ARENA_ARRAY(&m->arena, const attr *, o->num_results + 1u), *mesh = NULL;
  for (u32 i = 0; i < o->num_results; i++) {
    list[i] = owner_sharding(m->ctx, op_result(o, i));
    const tensor_sharding_attr *s = in_parts(ret, i);
    if (!s || (list[i] && same_unreduced(list[i], s))) continue;
    mesh = s->mesh;
    if (!list[i])
      list[i] = shard_attr_replicated(m->ctx, mesh, type_rank(o->results[i].type), true);
    list[i] = with(m->ctx, list[i], mesh, s);
  }
  for (u32 i = 0; mesh && i < o->num_results; i++)
    list[i] = list[i] ? with(m->ctx, list[i], mesh, NULL)
                      : shard_attr_replicated(m->ctx, mesh, type_rank(o->results[i].type), true);
  if (mesh) owners_set_shardings(m, o, false, list, o->num_results);
  return WALK_ON;
}

bool pass_mpmd_unreduced_out(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0};
  mpmd_distributed(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) op_walk_post(functions.data[i], populate, m);
  return true;
}
