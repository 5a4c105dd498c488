/* terrazzo-join-sums: sums that only meet each other are summed up once.
 *
 * explicit.c puts an all-reduce right behind what makes parts. Where all operands of a linear op,
 * such as add, are all-reduces along the same axes that nothing else uses, the parts are added
 * first and their sum is summed up: dq + dk + dv of a transformer's backward step send a third.
 * Between an all-reduce and the op may stand linear ops of one operand, which work on parts then;
 * behind those what changes type or place, the conversion that ends a wide sum and reshards: these
 * have to be the same for all operands, and follow the new all-reduce instead.
 *
 * Runs between sdy-insert-explicit-reshards and sdy-reshard-to-collectives. */
#include "dialect/effects.h"
#include "partition/passes.h"
#include "partition/place.h"
#include "partition/record.h"
#include "partition/reshard.h"
#include "partition/why.h"

enum { MAX_TAIL = 4, MAX_CHAIN = 16 };

typedef struct join {
  part_env e; /* its arena is emptied after every op */
  rule_set rules;
  why_log *why; /* NULL: nobody asks */
  bool ok;
} join;

/* How an operand came from an all-reduce. */
typedef struct opened {
  op *reduce;
  const op *tail[MAX_TAIL]; /* reshards and conversions, from the back to the front */
  u32 tail_len;
  value *end; /* in front of them: a part of the sum, once the all-reduce is gone */
  axis_list axes;
} opened;

static bool is_sum(const join *j, const op *o, axis_list *axes) {
  struct sdy_all_reduce_attrs a;
  if (!op_is(o, sdy_all_reduce) || !view_sdy_all_reduce(o, &a)) return false;
  if (a.reduction_op && a.reduction_op->value != UNREDUCED_SUM) return false;
  const sharding *s = part_sharding(&j->e, op_result(o, 0));
  *axes = part_read_axes(&j->e, s->mesh, a.reduction_axes->axes);
  return true;
}

/* Its shards are the same along the axes, so that they can hold parts of a sum along them. */
static bool is_same_along(const join *j, const value *v, axis_list axes) {
  const sharding *s = part_sharding(&j->e, v);
  return !s || (s->unreduced.len == 0 && !axes_clash(sharding_used_axes(j->e.a, s), axes));
}

/* Between floating-point types, to the narrower: a sum in the wider was to lose nothing. */
static bool is_narrowing(const op *o) {
  if (!op_is(o, convert)) return false;
  const type *from = op_operand(o, 0)->type->elem, *to = op_result(o, 0)->type->elem;
  return from->kind == TYPE_FLOAT && to->kind == TYPE_FLOAT && to->width < from->width;
}

/* An op of one operand that makes parts of parts. */
static bool passes_parts(join *j, const op *o) {
  part_record r;
  if (o->num_operands != 1 || o->num_results != 1 || part_row_of(o)->linear != LINEAR_ALL)
    return false;
  j->ok = j->ok && part_record_make(j->e.a, &j->rules, o, &r);
  return j->ok && part_passes_sums(&r, o, (const bool[]){true}, 1);
}

static bool open_operand(join *j, value *v, const block *b, opened *out) {
  *out = (opened){0};
  op *def = part_private_op(v, b);
  for (; def && (op_is(def, reshard) || is_narrowing(def)); def = part_private_op(v, b)) {
    if (out->tail_len == MAX_TAIL) return false;
    out->tail[out->tail_len++] = def;
    v = op_operand(def, 0);
  }
  out->end = v;
  for (u32 n = 0; def && n < MAX_CHAIN; n++, def = part_private_op(v, b)) {
    if (is_sum(j, def, &out->axes)) {
      out->reduce = def;
      for (v = out->end; value_op(v) != def; v = op_operand(value_op(v), 0))
        if (!is_same_along(j, v, out->axes)) return false;
      return true;
    }
    if (!passes_parts(j, def)) return false;
    v = op_operand(def, 0);
  }
  return false;
}

static bool same_tail(const join *j, const opened *a, const opened *b) {
  if (a->tail_len != b->tail_len) return false;
  for (u32 i = 0; i < a->tail_len; i++) {
    const value *x = op_result(a->tail[i], 0), *y = op_result(b->tail[i], 0);
    if (a->tail[i]->info != b->tail[i]->info || x->type->elem != y->type->elem ||
        !same_place(part_sharding(&j->e, x), part_sharding(&j->e, y)))
      return false;
  }
  return true;
}

/* false: nobody can say. */
static bool add_elements(const value *v, const sharding *s, i64 *sum) {
  i64 n = 1;
  for (size_t d = 0; d < v->type->dims.len; d++) {
    i64 parts = sharding_dim_size(s, (u32)d), size = v->type->dims.data[d];
    if (size < 0 || !checked_mul(n, size / parts + (size % parts != 0), &n)) return false;
  }
  return checked_add(*sum, n, sum);
}

static bool has_reshard(const opened *o) {
  bool any = false;
  for (u32 k = 0; k < o->tail_len; k++) any |= op_is(o->tail[k], reshard);
  return any;
}

/* What the op on parts has: its own place, or that of its operands in front of their reshards. */
static const sharding *place_of_parts(const join *j, const op *o, const opened *in) {
  const value *v = has_reshard(in) ? in->end : op_result(o, 0);
  const sharding *s = part_sharding(&j->e, v);
  const mesh *m = part_sharding(&j->e, op_result(in->reduce, 0))->mesh;
  return s ? s : sharding_make_replicated(j->e.a, m, (u32)v->type->dims.len, true);
}

/* Along the same axes, on the same shards, in the same type, and with no more elements than
 * before. Where places change behind the parts, only what treats all elements alike can move. */
static bool fit_together(const join *j, const op *o, const opened *in) {
  const sharding *to = place_of_parts(j, o, in);
  i64 before = 0, after = 0;
  bool moved = has_reshard(in);
  if (to->unreduced.len || (moved && o->info->family != FAMILY_ew) ||
      axes_clash(sharding_used_axes(j->e.a, to), in->axes))
    return false;
  for (u32 i = 0; i < o->num_operands; i++) {
    const value *sum = op_result(in[i].reduce, 0);
    const sharding *s = part_sharding(&j->e, in[i].end);
    if ((s && !mesh_same(to->mesh, s->mesh, false)) || (moved && !same_place(to, s)) ||
        !axes_eq(in[i].axes, in->axes) || in[i].end->type->elem != in->end->type->elem ||
        !same_tail(j, in, &in[i]) || !add_elements(sum, part_sharding(&j->e, sum), &before))
      return false;
  }
  return add_elements(op_result(o, 0), to, &after) && after <= before;
}

/* The op on parts, the sum, and what its operands had behind theirs. */
static void join_sums(join *j, op *o, const opened *in) {
  const part_env *e = &j->e;
  const sharding *s = place_of_parts(j, o, in);
  const type *t = op_result(o, 0)->type;
  cursor at = cursor_before(e, o);
  op *parts = op_clone(e->m, o, NULL);
  op_insert(parts, at.b, at.before);
  for (u32 i = 0; i < o->num_operands; i++) op_set_operand(parts, i, in[i].end);
  value *v = op_result(parts, 0);
  v->type = type_tensor(e->c, t->dims, in->end->type->elem, t->encoding);
  part_set_sharding(e, parts, 0, s);
  for (u32 i = 0; j->why && i < o->num_operands; i++)
    at.loc = why_join(j->why, e->c, i ? at.loc : in[i].reduce->loc, in[i].reduce->loc);
  v = emit_all_reduce(&at, v, s->mesh, in->axes, UNREDUCED_SUM, s);
  for (u32 k = in->tail_len; k-- > 0;) {
    op *again = op_clone(e->m, in->tail[k], NULL);
    op_insert(again, at.b, at.before);
    op_set_operand(again, 0, v);
    v = op_result(again, 0);
    v->type = type_tensor(e->c, t->dims, op_result(in->tail[k], 0)->type->elem, t->encoding);
    if (!op_is(again, reshard)) part_set_sharding(e, again, 0, s);
    s = part_sharding(e, v);
  }
  value_replace(op_result(o, 0), v);
  for (u32 i = 0; i < o->num_operands; i++)
    value_replace(op_result(in[i].reduce, 0), op_operand(in[i].reduce, 0));
}

static void join_at(join *j, op *o) {
  if (op_kind(o) >= OP_COUNT || o->num_operands < 2 || o->num_results != 1 ||
      part_row_of(o)->linear != LINEAR_ALL)
    return;
  opened *in = ARENA_ARRAY(j->e.a, opened, o->num_operands);
  for (u32 i = 0; i < o->num_operands; i++)
    if (!open_operand(j, op_operand(o, i), o->parent, &in[i])) return;
  if (fit_together(j, o, in)) join_sums(j, o, in);
}

/* reshard(all_reduce(x)) that only slices, along other axes: all_reduce(reshard(x)) sends less, and
 * meets other sums. Slices along the sum's own axes are for terrazzo-fuse-collectives. */
static void slice_first(join *j, op *o) {
  const part_env *e = &j->e;
  axis_list axes;
  op *sum = op_is(o, reshard) ? part_private_op(op_operand(o, 0), o->parent) : NULL;
  if (!sum || !is_sum(j, sum, &axes)) return;
  const sharding *part_at = part_sharding(e, op_operand(sum, 0));
  const sharding *from = part_sharding(e, op_result(sum, 0));
  const sharding *to = part_sharding(e, op_result(o, 0));
  if (!to || to->unreduced.len || from->unreduced.len || (part_at && part_at->unreduced.len) ||
      !mesh_same(from->mesh, to->mesh, false) || axes_clash(sharding_used_axes(e->a, to), axes))
    return;
  for (u32 d = 0; d < to->rank; d++)
    if (axes_prefix_of(from->dims[d].axes, to->dims[d].axes) == AXES_NOT_PREFIX) return;
  /* other shards come by collectives, which take parts along the sum's axes for copies */
  if (!sharding_steps(from, to, op_result(o, 0)->type->dims.data)) return;
  cursor at = cursor_before(e, o);
  value *part = op_operand(sum, 0);
  part = emit(&at, OP_reshard, &part, 1, part->type);
  op_set(part->def.op, reshard, sharding, part_attr(e, to));
  if (j->why) at.loc = why_join(j->why, e->c, sum->loc, o->loc);
  value_replace(op_result(o, 0), emit_all_reduce(&at, part, to->mesh, axes, UNREDUCED_SUM, to));
}

/* In order, so that a sum of three is joined twice. What stood there before is dead by then. */
static void join_block(join *j, block *b) {
  FOR_OPS(o, b) {
    for (u32 r = 0; r < o->num_regions; r++)
      for (block *in = o->regions[r].first; in; in = in->next) join_block(j, in);
    slice_first(j, o);
    join_at(j, o);
    arena_reset(j->e.a);
    if (!j->ok) return;
  }
}

bool part_join_sums(ir_module *m, arena *scratch, const pass_args *args) {
  join j = {.e = part_env_make(m, scratch), .why = why_of(args), .ok = true};
  if (!part_has_mesh(&j.e) || !module_may_have(m, sdy_all_reduce)) return true;
  j.e.a = ir_scratch_push(m->ctx);
  rule_set_init(&j.rules, m->ctx, scratch, false);
  j.rules.extra = true;
  j.rules.apart = true;
  join_block(&j, op_body(m->root, 0));
  ir_scratch_pop(m->ctx);
  if (!j.ok) return false;
  ops_erase_dead(m->root, DEAD_BY_ROW);
  return shard_space_check(j.e.space);
}
