/* mpmd-extract-reshards-from-inter-mesh-transfers: transfers move, and fragments reshard. */
#include "mpmd/propagation/passes.h"
#include "mpmd/util.h"
#include "shard/sharding_ir.h"
#include "shard/traits.h"

typedef struct extractor {
  ir_module *m;
  const mesh_attr *mesh;
  bool ok;
} extractor;

static bool on_host(const type *t) { return str_is(mpmd_memory_kind(t), MPMD_PINNED_HOST); }

static i64 axis_size(const mesh_attr *m, const axis_ref_attr *a) {
  if (a->size) return a->size;
  for (size_t i = 0; i < m->axes.len; i++) {
    const mesh_axis_attr *x = (const mesh_axis_attr *)m->axes.data[i];
    if (str_eq(x->name, a->name)) return x->size;
  }
  return 1;
}

/* Elements of what one device has. */
static i64 local_elements(const mesh_attr *m, const type *t, const attr *sharding) {
  const tensor_sharding_attr *s = attr_as(tensor_sharding, sharding);
  i64 n = 1;
  for (size_t d = 0; d < t->dims.len; d++) {
    attrs axes = {0};
    i64 shards = 1, dim = t->dims.data[d];
    if (s && d < s->dims.len) axes = ((const dim_sharding_attr *)s->dims.data[d])->axes;
    for (size_t i = 0; i < axes.len; i++)
      if (!checked_mul(shards, axis_size(m, (const axis_ref_attr *)axes.data[i]), &shards))
        return 1;
    if (!checked_mul(n, dim / shards + (dim % shards != 0), &n)) return INT64_MAX;
  }
  return n;
}

/* Where less has to be moved then; hosts do not reshard. */
static bool reshards_before(const extractor *x, const op *o, const attr *from, const attr *to) {
  const type *in = op_operand(o, 0)->type, *out = o->results[0].type;
  if (on_host(out)) return true;
  if (on_host(in)) return false;
  return local_elements(x->mesh, in, from) > local_elements(x->mesh, out, to);
}

static bool is_border(const op *o) { return op_is(o, mpmd_transfer) || op_is(o, func_return); }

/* A fragment that gives its operand, sharded so. */
static value *reshard(extractor *x, op *before, const attr *loc, value *v, str mesh, const type *to,
                      const attr *sharding) {
  op *f = fragment_create(x->m, before, loc, attr_array(x->m->ctx, (attrs){0}), mesh, NULL, &v, 1,
                          &to, 1);
  fragment_return(x->m, f, (value *[]){op_body(f, 0)->args[0]}, 1);
  mpmd_set_inferred_by(x->m, f, "extract_reshards");
  set_out_sharding(x->m, f, 0, sharding);
  return op_result(f, 0);
}

/* The first of what uses v as a border, besides `transfer`; NULL: nothing does. */
static op *first_border(const value *v, op *transfer) {
  op *first = NULL;
  for (const use *u = v->uses; u; u = u->next) {
    if (!is_border(u->owner) || u->owner == transfer) continue;
    if (!first || op_before(u->owner, first)) first = u->owner;
  }
  return first;
}

static void replace_at_borders(value *from, value *to, const op *except) {
  for (use *u = from->uses, *next; u; u = next) {
    next = u->next;
    if (is_border(u->owner) && u->owner != except)
      op_set_operand(u->owner, (size_t)(u - u->owner->operands), to);
  }
}

static const attr *value_loc(const value *v) {
  const attr *loc = v->is_arg ? block_arg_loc(v->def.block, v->index) : v->def.op->loc;
  return loc ? loc : value_parent(v)->loc;
}

/* A fragment that makes the value gives it as the transfer's result is sharded; others that look
 * for the value at a border get it as it was. */
static bool before(extractor *x, op *o, const attr *from, const attr *to) {
  value *v = op_operand(o, 0);
  op *by = value_op(v);
  str mesh = v->type->text;
  const type *t = type_mesh_tensor(x->m->ctx, mesh, mpmd_whole(o->results[0].type), NULL, NULL);
  if (!by || op_is(by, mpmd_transfer)) {
    op_set_operand(o, 0, reshard(x, o, value_loc(v), v, mesh, t, to));
    return true;
  }
  if (!op_is(by, mpmd_fragment)) return op_error(x->m->ctx, o, "reshards what no fragment makes");
  op *other = first_border(v, o);
  if (other) {
    op *at = other->parent == o->parent && op_before(other, o) ? other : o;
    value *old = reshard(x, at, by->loc, v, mesh, v->type, from);
    replace_at_borders(v, old, o);
  }
  v->type = t;
  const tensor_sharding_attr *s = attr_as(tensor_sharding, from);
  if (!to) to = shard_attr_replicated(x->m->ctx, s->mesh, type_rank(t), true);
  value_set_sharding(x->m, v, to);
  return true;
}

/* Fragments take the value as the transfer's operand is sharded; at borders one more reshards. */
static bool behind(extractor *x, op *o, const attr *from, const attr *to) {
  ir_ctx *c = x->m->ctx;
  value *v = op_operand(o, 0);
  const type *old = o->results[0].type;
  str mesh = old->text;
  const type *t = type_mesh_tensor(c, mesh, mpmd_whole(v->type), NULL, NULL);
  op *n = mpmd_emit(x->m, o, OP_mpmd_transfer, o->loc, &v, 1, &t, 1);
  value *moved = op_result(n, 0);
  value_replace(op_result(o, 0), moved);
  op *next = o->next;
  op_erase(o);
  if (from) value_set_sharding(x->m, moved, from);
  set_in_shardings(x->m, moved, from);
  if (first_border(moved, NULL)) {
    const type *whole = type_mesh_tensor(c, mesh, mpmd_whole(old), NULL, NULL);
    value *out = reshard(x, next, n->loc, moved, mesh, whole, to);
    replace_at_borders(moved, out, NULL);
  }
  for (const use *u = moved->uses; u; u = u->next)
    if (!op_is(u->owner, mpmd_fragment))
      return op_error(c, u->owner, "uses what a transfer reshards");
  return true;
}

static walk_result extract(void *user, op *o) {
  extractor *x = user;
  if (!op_is(o, mpmd_transfer)) return WALK_ON;
  ir_ctx *c = x->m->ctx;
  value *in = op_operand(o, 0), *out = op_result(o, 0);
  if (on_host(in->type) && on_host(out->type)) {
    x->ok = loc_error(c, o->loc, "Resharding on host not supported with an mpmd.transfer.");
    return WALK_STOP;
  }
  const attr *from = value_sharding(c, in), *to = value_sharding(c, out);
  if (shard_attr_equivalent(from, to)) return WALK_ON;
  if (diag_first(ir_sink(c), ONCE_RESHARDING_TRANSFER))
    op_warn(c, o, "Found a resharding transfer in the module. This may cause performance issues.");
  x->ok = reshards_before(x, o, from, to) ? before(x, o, from, to) : behind(x, o, from, to);
  return x->ok ? WALK_ON : WALK_STOP;
}

/* Only between meshes that are alike, so that a sharding of one fits the others. */
bool pass_mpmd_extract_reshards(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0};
  mpmd_functions(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) {
    const topology_attr *t = mpmd_topology(functions.data[i]);
    if (!t->meshes.len || !mpmd_is_homogeneous(functions.data[i])) continue;
    const named_mesh_attr *first = (const named_mesh_attr *)t->meshes.data[0];
    extractor x = {m, attr_as(mesh, first->mesh), true};
    if (x.mesh) op_walk_post(functions.data[i], extract, &x);
    if (!x.ok) return false;
  }
  return true;
}
