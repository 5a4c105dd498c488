/* Ops that hold others, or only speak of them, make way for what they stand for. pipeline.c runs
 * it twice over several devices: before propagation, so that it sees what composites are made
 * of, and after partitioning, when shardings have done their work. New code is met again by the
 * same walk, so that what comes out of a body is flat too. */
#include "compile/flatten.h"

#include "dialect/dialect.h"
#include "dialect/expand.h"
#include "pass/rewrite.h"

typedef struct flattener {
  ir_module *m;
  arena *scratch;
  flatten_options opt;
  symbol_map *symbols; /* NULL: there was no composite yet */
  u64 budget;          /* ops that may still be copied: composites may nest */
} flattener;

enum { COPY_BUDGET = 4 * 1000 * 1000 };

/* What became of an op; REPLACED: it is gone, and *next is where to go on. */
typedef enum outcome { FAILED, KEPT, REPLACED } outcome;
typedef outcome flatten_fn(flattener *f, op *o, op **next);

static outcome fail(flattener *f, const op *o, const char *why) {
  op_unimplemented(f->m->ctx, o, "%s", why);
  return FAILED;
}

/* ---- bodies in place of the op that holds them ---- */

/* Ops move out of the body, values and all. Where a type differs the body was made for parts of the
 * values: a manual computation over more devices than there are. */
static outcome splice(flattener *f, op *o, u32 region, op **next) {
  block *body = op_body(o, region);
  op *end = op_terminator(body);
  for (u32 i = 0; i < body->num_args && i < o->num_operands; i++) {
    if (body->args[i]->type != op_operand(o, i)->type)
      return fail(f, o, "over more devices than the program runs on");
    value_replace(body->args[i], op_operand(o, i));
  }
  for (u32 i = 0; i < o->num_results; i++) {
    if (op_result(o, i)->type != op_operand(end, i)->type)
      return fail(f, o, "over more devices than the program runs on");
    value_replace(op_result(o, i), op_operand(end, i));
  }
  *next = body->first == end ? o->next : body->first;
  block_move_ops(body, end, o->parent, o);
  op_erase(o);
  return REPLACED;
}

static outcome splice_body(flattener *f, op *o, op **next) { return splice(f, o, 0, next); }

static outcome splice_manual(flattener *f, op *o, op **next) {
  return f->opt.manual ? splice_body(f, o, next) : KEPT;
}

/* Copied, since other composites may use the same function; the walk goes on with the first op of
 * the copy. Composites that call themselves end at the budget. */
static outcome copy_decomposition(flattener *f, op *o, op **next) {
  struct composite_attrs a;
  if (!f->symbols) f->symbols = symbol_map_build(f->m->root, f->scratch);
  op *callee = view_composite(o, &a) ? symbol_map_find(f->symbols, a.decomposition) : NULL;
  block *body = callee && op_is(callee, func) ? op_body(callee, 0) : NULL;
  if (!body || body->num_args != o->num_operands) return fail(f, o, "without a decomposition");
  ir_map *map = ir_map_create(f->scratch);
  for (u32 i = 0; i < body->num_args; i++) ir_map_set(map, body->args[i], op_operand(o, i));
  op *end = op_terminator(body), *before = o->prev;
  for (op *k = body->first; k != end; k = k->next) {
    if (f->budget-- == 0) return fail(f, o, "expands to too many ops");
    op_insert(op_clone(f->m, k, map), o->parent, o);
  }
  if (end->num_operands != o->num_results)
    return fail(f, o, "with other results than its decomposition");
  for (u32 i = 0; i < o->num_results; i++)
    value_replace(op_result(o, i), ir_map_get(map, op_operand(end, i)));
  block *b = o->parent;
  op_erase(o);
  *next = before ? before->next : b->first;
  return REPLACED;
}

/* ---- ops that pass their operands on ---- */

static outcome erase(op *o, op **next) {
  *next = o->next;
  op_erase(o);
  return REPLACED;
}

static outcome into_call(flattener *f, op *o, op **next) {
  flatten_into_call(f->m, f->scratch, o);
  return erase(o, next);
}

static outcome pass_on(flattener *f, op *o, op **next) {
  (void)f;
  for (u32 i = 0; i < o->num_results; i++) value_replace(op_result(o, i), op_operand(o, i));
  return erase(o, next);
}

/* Between a value and itself, as a switch that is mapped has them before each of its branches. */
static outcome choose_same(flattener *f, op *o, op **next) {
  value *v = op_operand(o, 1);
  if (!f->opt.shardings || v != op_operand(o, 2) || v->type != op_result(o, 0)->type) return KEPT;
  value_replace(op_result(o, 0), v);
  return erase(o, next);
}

/* The branch of a case that is known, as what JAX chooses by platforms is. */
static outcome take_branch(flattener *f, op *o, op **next) {
  const attr *index = value_constant(op_operand(o, 0));
  if (!f->opt.shardings || !attr_is(dense, index) || !o->num_regions) return KEPT;
  i64 k = attr_dense_int(index, 0), last = o->num_regions - 1;
  return splice(f, o, (u32)(k < 0 ? last : min_i64(k, last)), next);
}

static outcome take_sum(flattener *f, op *o, op **next) {
  if (!f->opt.shardings) return KEPT;
  bool is = flatten_diagonal(f->m, f->scratch, o) || flatten_parts(f->m, f->scratch, o);
  return is ? erase(o, next) : KEPT;
}

static outcome take_padded(flattener *f, op *o, op **next) {
  if (!f->opt.shardings || !flatten_padded(f->m, f->scratch, o)) return KEPT;
  return erase(o, next);
}

static outcome take_stretch(flattener *f, op *o, op **next) {
  if (!f->opt.shardings || !flatten_stretch(f->m, f->scratch, o)) return KEPT;
  return erase(o, next);
}

/* What is made is looked at, too. */
static outcome take_repeat(flattener *f, op *o, op **next) {
  expander e = expander_before(f->m, f->scratch, o);
  op *before = o->prev;
  block *b = o->parent;
  value *repeated;
  if (!f->opt.shardings || !expand_repeat(&e, o, &repeated)) return KEPT;
  value_replace(op_result(o, 0), repeated);
  op_erase(o);
  *next = before ? before->next : b->first;
  return REPLACED;
}

static outcome take_grouped(flattener *f, op *o, op **next) {
  (void)next;
  if (f->opt.shardings) flatten_grouped(f->m, f->scratch, o);
  return KEPT;
}

/* Before partitioning these must stay: they are what propagation reads. */
static outcome drop_sharding(flattener *f, op *o, op **next) {
  return f->opt.shardings ? pass_on(f, o, next) : KEPT;
}

/* Targets that say where a value should live or how it is laid out, not what it is. The GSPMD
 * ones get here only where everything is replicated (pipeline.c). */
static outcome pass_on_custom_call(flattener *f, op *o, op **next) {
  static const char *const targets[] = {
      "Sharding",         "SPMDFullToShardShape",      "SPMDShardToFullShape",
      "LayoutConstraint", "annotate_device_placement", "xla.sdy.FuncResultSharding",
  };
  struct custom_call_attrs a;
  if (!view_custom_call(o, &a)) return KEPT;
  if (flatten_check_eq(f->m, f->scratch, o)) return erase(o, next);
  /* keeps a value alive in the passes before */
  if (o->num_results == 0 && str_is(a.call_target_name, "dce_sink")) return pass_on(f, o, next);
  if (o->num_operands != 1 || o->num_results != 1) return KEPT;
  if (op_operand(o, 0)->type != op_result(o, 0)->type) return KEPT;
  for (size_t i = 0; i < COUNT(targets); i++)
    if (str_is(a.call_target_name, targets[i])) return pass_on(f, o, next);
  return KEPT;
}

static flatten_fn *const flatten_of[OP_COUNT] = {
    [OP_named_computation] = splice_body,
    [OP_manual_computation] = splice_manual,
    [OP_composite] = copy_decomposition,
    [OP_custom_call] = pass_on_custom_call,
    [OP_select] = choose_same,
    [OP_case] = take_branch,
    [OP_reduce] = take_sum,
    [OP_add] = take_padded,
    [OP_broadcast_in_dim] = take_stretch,
    [OP_gather] = take_repeat,
    [OP_dot_general] = take_grouped,
    [OP_sharding_constraint] = drop_sharding,
    [OP_reshard] = drop_sharding,
    [OP_sharding_group] = drop_sharding,
    [OP_data_flow_edge] = drop_sharding,
    [OP_propagation_barrier] = drop_sharding,
    [OP_func_data_flow_edge] = drop_sharding,
    [OP_expect_eq] = into_call,
    [OP_expect_eq_const] = into_call,
    [OP_expect_almost_eq] = into_call,
    [OP_expect_almost_eq_const] = into_call,
    [OP_expect_close] = into_call,
    [OP_expect_serialized_eq] = into_call,
    [OP_interpreter_print] = into_call,
    [OP_probe] = into_call,
};

/* ---- wider bodies ---- */

/* What combines elements may do so in a type that its operands' are promotable to; the steps have
 * one type. Operand i, and where there are as many again the last ones, belong to result i. */
static void promote_operands(flattener *f, op *o) {
  if (!f->opt.shardings || !dialect_combines(o)) return;
  expander e = expander_before(f->m, f->scratch, o);
  for (u32 i = 0; i < o->num_results; i++) {
    const type *elem = type_element(op_result(o, i)->type);
    u32 at[] = {i, o->num_operands - o->num_results + i};
    for (u32 k = 0; k < COUNT(at); k++) {
      value *x = op_operand(o, at[k]);
      if (type_element(x->type) == elem) continue;
      const type *wide = expand_with_elem(f->m->ctx, x->type, elem);
      op_set_operand(o, at[k], expand_1(&e, OP_convert, x, wide));
    }
  }
}

/* Of all others some ops stay. */
bool flatten_knows(op_id id) {
  flatten_fn *f = flatten_of[id];
  return f && f != choose_same && f != take_branch && f != take_sum && f != take_padded &&
         f != take_stretch && f != take_repeat && f != take_grouped;
}

/* Recursion is bounded by the nesting that the readers allow. */
static bool flatten_block(flattener *f, block *b) {
  for (op *o = b->first, *next; o; o = next) {
    next = o->next;
    flatten_fn *fn = op_kind(o) < OP_COUNT ? flatten_of[op_kind(o)] : NULL;
    outcome done = fn ? fn(f, o, &next) : KEPT;
    if (done == FAILED) return false;
    if (done == REPLACED) continue;
    promote_operands(f, o);
    for (u32 r = 0; r < o->num_regions; r++)
      for (block *inner = o->regions[r].first; inner; inner = inner->next)
        if (!flatten_block(f, inner)) return false;
  }
  return true;
}

bool flatten_module(ir_module *m, arena *scratch, const flatten_options *options) {
  flattener f = {m, scratch, *options, .budget = COPY_BUDGET};
  for (op *o = op_body(m->root, 0)->first; o; o = o->next)
    if (op_is(o, func) && op_body(o, 0) && !flatten_block(&f, op_body(o, 0))) return false;
  return true;
}
