/* terrazzo-gather-operands: what only moves elements, and is wanted whole, works on what is whole.
 *
 * Along a dimension that is cut, pieces of a concatenation, pads and shards in reverse need
 * elements of other shards. Where the only user of the result gathers that dimension, the operands
 * are gathered instead, if that sends no more: nothing has to move between shards before.
 *
 * Runs behind terrazzo-insert-reshards. */
#include "dialect/effects.h"
#include "partition/passes.h"
#include "partition/pieces.h"
#include "partition/place.h"
#include "partition/reshard.h"

typedef struct gathering {
  part_env e;
  VEC(op *) reshards; /* those that are to be looked at */
} gathering;

static bool only_moves(const op *o) { return pieces_is(o) || op_is(o, reverse) || op_is(o, pad); }

/* Do elements move along dimension d? */
static bool moves_along(const op *o, u32 d) {
  struct pad_attrs p;
  struct reverse_attrs r;
  if (pieces_is(o)) return pieces_dim(o) == d;
  if (op_is(o, reverse)) return view_reverse(o, &r) && i64s_contain(r.dimensions, d);
  return view_pad(o, &p) &&
         (p.edge_padding_low.data[d] || p.edge_padding_high.data[d] || p.interior_padding.data[d]);
}

/* Some dimension that elements move along is cut, and none of them is to be. */
static bool gathers_moved(const op *o, const sharding *from, const sharding *to) {
  bool any = false;
  for (u32 d = 0; d < to->rank; d++) {
    if (!moves_along(o, d)) continue;
    if (sharding_dim_size(to, d) > 1) return false;
    any |= sharding_dim_size(from, d) > 1;
  }
  return any;
}

/* Bytes that a device sends for the value under `to`; negative: that is not known. */
static double bytes_to(const gathering *g, const op *user, const value *v, const sharding *to) {
  const sharding *from = part_sharding(&g->e, v);
  reshard_steps steps = {0};
  if (!from || sharding_is_replicated(from)) return 0;
  if (from->unreduced.len || !mesh_same(from->mesh, to->mesh, false)) return -1;
  reshard_plan(g->e.a, from, to, v->type->dims.data, part_axes_are_free(user), &steps);
  return reshard_sent(from, v->type->dims.data, &steps) * (double)type_storage(v->type->elem);
}

/* What an operand was before it was moved to where it is now, where that is as near. */
static value *nearest(const gathering *g, const op *o, value *v, const sharding *to) {
  op *def = value_op(v);
  if (!def || !op_is(def, reshard)) return v;
  double here = bytes_to(g, o, v, to), before = bytes_to(g, o, op_operand(def, 0), to);
  return before >= 0 && before <= here ? op_operand(def, 0) : v;
}

/* A scalar, such as what a pad adds, is the same everywhere. */
static bool operands_pay(const gathering *g, const op *o, const sharding *to, double most) {
  double sum = 0;
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = op_operand(o, i);
    if (!v->type->dims.len) continue;
    double bytes = bytes_to(g, o, nearest(g, o, v, to), to);
    if (bytes < 0) return false;
    sum += bytes;
  }
  return sum <= most;
}

static void gather_operands(gathering *g, op *reshard) {
  const part_env *e = &g->e;
  value *v = op_operand(reshard, 0);
  op *o = part_private_op(v, reshard->parent);
  const sharding *from = part_sharding(e, v), *to = part_sharding(e, op_result(reshard, 0));
  if (!o || !only_moves(o) || !from || !to || from->unreduced.len || to->unreduced.len ||
      !mesh_same(from->mesh, to->mesh, false) || !gathers_moved(o, from, to))
    return;
  double most = bytes_to(g, reshard, v, to);
  if (most < 0 || !operands_pay(g, o, to, most)) return;
  cursor at = cursor_before(e, o);
  at.loc = reshard->loc;
  for (u32 i = 0; i < o->num_operands; i++) {
    if (!op_operand(o, i)->type->dims.len) continue;
    value *in = nearest(g, o, op_operand(o, i), to);
    if (!same_place(part_sharding(e, in), to)) {
      in = emit_reshard(&at, in, to);
      VEC_PUSH(e->a, g->reshards, in->def.op);
    }
    op_set_operand(o, i, in);
  }
  part_set_sharding(e, o, 0, to);
  value_replace(op_result(reshard, 0), v);
}

static walk_result find(void *user, op *o) {
  gathering *g = user;
  if (op_is(o, reshard)) VEC_PUSH(g->e.a, g->reshards, o);
  return WALK_ON;
}

bool part_gather_operands(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  gathering g = {.e = part_env_make(m, scratch)};
  if (!part_has_mesh(&g.e)) return true;
  op_walk(m->root, find, &g);
  for (size_t i = 0; i < g.reshards.len; i++) gather_operands(&g, g.reshards.data[i]);
  ops_erase_dead(m->root, DEAD_BY_ROW);
  return shard_space_check(g.e.space);
}
