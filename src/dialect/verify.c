/* The verifier: what the rows of ir/ops say of every op, then the op's own check. */
#include "dialect/verify.h"

/* ---- tables ---- */

#define V_ew(id) verify_elements
#define V_cast(id) verify_elements
#define V_bcast(id) verify_elements
#define V_own(id) verify_##id
#define V_region(id) verify_##id
#define V_coll(id) verify_##id
#define V_term(id) verify_terminator
#define V_later(id) NULL
verify_fn *const verify_of[OP_COUNT] = {
#define OP(id, name, family, ...) [OP_##id] = V_##family(id),
#include "ir/ops.def"
};

verify_fn *const symbol_use_of[OP_COUNT] = {
    [OP_call] = use_call,
    [OP_composite] = use_composite,
    [OP_sharding_constraint] = use_sharding_constraint,
    [OP_reshard] = use_reshard,
    [OP_data_flow_edge] = use_data_flow_edge,
    [OP_func_data_flow_edge] = use_func_data_flow_edge,
    [OP_manual_computation] = use_manual_computation,
    [OP_named_computation] = use_named_computation,
    [OP_sdy_all_gather] = use_sdy_all_gather,
    [OP_sdy_all_slice] = use_sdy_all_slice,
    [OP_sdy_all_to_all] = use_sdy_all_to_all,
    [OP_sdy_collective_permute] = use_sdy_collective_permute,
    [OP_sdy_all_reduce] = use_sdy_all_reduce,
    [OP_sdy_reduce_scatter] = use_sdy_reduce_scatter,
    [OP_sharded_to_unreduced] = use_sharded_to_unreduced,
    [OP_replicated_to_unreduced] = use_replicated_to_unreduced,
};

/* Ops with SAME_TYPE infer their first operand's. */
infer_fn *const infer_of[OP_COUNT] = {
    [OP_abs] = infer_abs,
    [OP_real] = infer_real,
    [OP_imag] = infer_real,
    [OP_complex] = infer_complex,
    [OP_is_finite] = infer_pred,
    [OP_compare] = infer_pred,
    [OP_chlo_is_inf] = infer_pred,
    [OP_chlo_is_neg_inf] = infer_pred,
    [OP_chlo_is_pos_inf] = infer_pred,
    [OP_select] = infer_select,
    [OP_clamp] = infer_clamp,
    [OP_constant] = infer_constant,
    [OP_sdy_constant] = infer_sdy_constant,
    [OP_transpose] = infer_transpose,
    [OP_concatenate] = infer_concatenate,
    [OP_slice] = infer_slice,
    [OP_dynamic_slice] = infer_dynamic_slice,
    [OP_dynamic_update_slice] = infer_dynamic_update_slice,
    [OP_pad] = infer_pad,
    [OP_gather] = infer_gather,
    [OP_scatter] = infer_scatter,
    [OP_reduce] = infer_reduce,
    [OP_reduce_window] = infer_reduce_window,
    [OP_sort] = infer_operands,
    [OP_optimization_barrier] = infer_operands,
    [OP_all_reduce] = infer_all_reduce,
    [OP_all_to_all] = infer_all_to_all,
    [OP_partition_id] = infer_device_id,
    [OP_replica_id] = infer_device_id,
    [OP_chlo_broadcast_add] = infer_broadcast,
    [OP_chlo_broadcast_atan2] = infer_broadcast,
    [OP_chlo_broadcast_divide] = infer_broadcast,
    [OP_chlo_broadcast_maximum] = infer_broadcast,
    [OP_chlo_broadcast_minimum] = infer_broadcast,
    [OP_chlo_broadcast_multiply] = infer_broadcast,
    [OP_chlo_broadcast_next_after] = infer_broadcast,
    [OP_chlo_broadcast_polygamma] = infer_broadcast,
    [OP_chlo_broadcast_power] = infer_broadcast,
    [OP_chlo_broadcast_remainder] = infer_broadcast,
    [OP_chlo_broadcast_shift_left] = infer_broadcast,
    [OP_chlo_broadcast_shift_right_arithmetic] = infer_broadcast,
    [OP_chlo_broadcast_shift_right_logical] = infer_broadcast,
    [OP_chlo_broadcast_subtract] = infer_broadcast,
    [OP_chlo_broadcast_zeta] = infer_broadcast,
    [OP_chlo_broadcast_and] = infer_broadcast,
    [OP_chlo_broadcast_or] = infer_broadcast,
    [OP_chlo_broadcast_xor] = infer_broadcast,
    [OP_chlo_broadcast_complex] = infer_broadcast_complex,
    [OP_chlo_broadcast_compare] = infer_broadcast_compare,
    [OP_chlo_broadcast_select] = infer_broadcast_select,
    [OP_chlo_ragged_dot] = infer_ragged_dot,
    [OP_chlo_top_k] = infer_top_k,
    [OP_chlo_scan] = infer_scan,
};

/* How the blocks in an op end; others end in stablehlo.return. */
static const u16 terminator_of[OP_COUNT] = {
    [OP_func] = OP_func_return,
    [OP_manual_computation] = OP_sdy_return,
    [OP_named_computation] = OP_sdy_return,
};

static op_id expected_terminator(const op *o) {
  u16 t = terminator_of[op_kind(o)];
  return t ? (op_id)t : OP_return;
}

/* ---- operands, results, regions ---- */

static bool check_counts(checker *k, const op *o) {
  const op_info *info = o->info;
  size_t begin, count;
  for (u32 g = 0; g < info->num_operands; g++)
    if (!op_operand_group(o, g, &begin, &count))
      return op_error(k->c, o, "expected other operands, but found %u", o->num_operands);
  if (info->num_operands == 0 && o->num_operands)
    return op_error(k->c, o, "requires zero operands");
  size_t single = 0, more = 0;
  for (u32 i = 0; i < info->num_results; i++)
    *(info->results[i].arity == ONE ? &single : &more) += 1;
  if (o->num_results < single || (!more && o->num_results != single))
    return op_error(k->c, o, "requires %zu results, but found %u", single, o->num_results);
  if (info->num_regions != ANY_REGIONS && o->num_regions != info->num_regions)
    return op_error(k->c, o, "requires %u regions, but found %u", info->num_regions,
                    o->num_regions);
  if (o->num_successors) return op_error(k->c, o, "requires zero successors");
  return true;
}

/* What checks rely on: ranks within bounds. */
static bool check_type(checker *k, const op *o, const type *t, const char *what, u32 i) {
  if (t->kind == TYPE_TUPLE) {
    for (size_t j = 0; j < t->types.len; j++)
      if (t->types.data[j]->kind != TYPE_TUPLE && !check_type(k, o, t->types.data[j], what, i))
        return false;
    return true;
  }
  if (t->kind != TYPE_TENSOR) return true;
  if (t->dims.len > DIALECT_MAX_RANK)
    return op_unimplemented(k->c, o, "%s #%u has rank %zu; the most is %d", what, i, t->dims.len,
                            DIALECT_MAX_RANK);
  for (size_t d = 0; d < t->dims.len; d++)
    if (t->dims.data[d] < 0 && t->dims.data[d] != DYNAMIC)
      return op_error(k->c, o, "%s #%u has a negative dimension: '%s'", what, i, show(k, t));
  return true;
}

static bool check_value_types(checker *k, const op *o, bool in) {
  for (u32 i = 0; i < (in ? o->num_operands : o->num_results); i++)
    if (!check_type(k, o, in ? in_type(o, i) : out_type(o, i), in ? "operand" : "result", i))
      return false;
  return true;
}

static bool check_types(checker *k, const op *o) {
  if (!check_value_types(k, o, true) || !check_value_types(k, o, false)) return false;
  for (u16 r = 0; r < o->num_regions; r++)
    for (const block *b = o->regions[r].first; b; b = b->next)
      for (u32 i = 0; i < b->num_args; i++)
        if (!check_type(k, o, b->args[i]->type, "block argument", i)) return false;
  return true;
}

static const char *region_name(const op *o, u16 r) {
  static const struct {
    u16 op;
    const char *names[2];
  } named[] = {
      {OP_if, {"true_branch", "false_branch"}},
      {OP_case, {"branches", "branches"}},
      {OP_while, {"cond", "body"}},
      {OP_all_reduce, {"computation", ""}},
      {OP_reduce_scatter, {"computation", ""}},
      {OP_map, {"computation", ""}},
      {OP_scatter, {"update_computation", ""}},
      {OP_select_and_scatter, {"select", "scatter"}},
      {OP_sort, {"comparator", ""}},
  };
  for (size_t i = 0; i < COUNT(named); i++)
    if (named[i].op == op_kind(o)) return named[i].names[r ? 1 : 0];
  return "body";
}

/* One block that ends as the op's blocks do; functions may have any number, or none. */
static bool check_regions(checker *k, const op *o) {
  if (op_is(o, module) || op_is(o, func)) return true;
  for (u16 r = 0; r < o->num_regions; r++) {
    const block *b = o->regions[r].first;
    if (!b || b->next)
      return op_error(k->c, o,
                      "region #%u ('%s') failed to verify constraint: region with 1 blocks", r,
                      region_name(o, r));
    if (!b->last) return loc_error(k->c, o->loc, "empty block: expect at least a terminator");
    if (op_kind(b->last) == expected_terminator(o)) continue;
    str want = op_infos[expected_terminator(o)].name;
    op_error(k->c, o, "expects regions to end with '" STR_FMT "', found '" STR_FMT "'",
             STR_ARG(want), STR_ARG(b->last->info->name));
    loc_note(k->c, o->loc,
             "in custom textual format, the absence of terminator implies '" STR_FMT "'",
             STR_ARG(want));
    return false;
  }
  return true;
}

/* ---- traits ---- */

static bool check_same(checker *k, const op *o) {
  bool whole = op_has(o, SAME_TYPE);
  if (!whole && !op_has(o, SAME_SHAPE)) return true;
  const type *first = o->num_operands ? in_type(o, 0) : out_type(o, 0);
  for (u32 i = 0; i < o->num_operands + o->num_results; i++) {
    const type *t = i < o->num_operands ? in_type(o, i) : out_type(o, i - o->num_operands);
    if (op_is(o, add) && !shapes_agree(first, t)) /* has its own constraint in the peers */
      return op_error(k->c, o, "requires the same shape for all operands and results");
    if (op_is(o, add) && (first->elem->quant || t->elem->quant)) continue; /* check_quantized */
    if (whole && !types_agree(first, t))
      return op_error(k->c, o, "requires compatible types for all operands and results");
    if (!whole && !shapes_agree(first, t))
      return op_error(k->c, o, "requires the same shape for all operands and results");
  }
  return true;
}

static bool check_parent(checker *k, const op *o) {
  const op *p = op_parent(o);
  if (op_has(o, TERMINATOR) && o->parent && o->parent->last != o)
    return op_error(k->c, o, "must be the last operation in the parent block");
  if (op_has(o, SYMBOL) && p && op_kind(p) != OP_unregistered && !op_has(p, SYMBOL_TABLE))
    return op_error(k->c, o, "symbol's parent must have the SymbolTable trait");
  if (op_is(o, func_return) && !(p && op_is(p, func)))
    return op_error(k->c, o, "expects parent op 'func.func'");
  if (op_is(o, sdy_mesh) && !(p && op_is(p, module)))
    return op_error(k->c, o, "expects parent op 'builtin.module'");
  return true;
}

/* A constant holds what a quantized element stores. */
static bool fits_inferred(const op *o, const type *want, const type *got) {
  if (types_agree(want, got)) return true;
  return op_is(o, constant) && type_is_tensor(got) && got->elem->quant &&
         got->elem->quant->storage == want->elem && shapes_agree(want, got);
}

static bool check_inferred(checker *k, const op *o) {
  infer_fn *fn = op_has(o, SAME_TYPE) ? NULL : infer_of[op_kind(o)];
  if (!fn) return true;
  const type **want = ARENA_ARRAY(ir_arena(k->c), const type *, o->num_results);
  if (!fn(k, o, want)) {
    /* the peers check these two elsewhere, before they infer */
    bool checked = op_is(o, reduce) || op_is(o, reduce_window);
    return !checked && op_error(k->c, o, "failed to infer returned types");
  }
  for (u32 i = 0; i < o->num_results; i++)
    if (!fits_inferred(o, want[i], out_type(o, i))) {
      const type **got = ARENA_ARRAY(ir_arena(k->c), const type *, o->num_results);
      for (u32 j = 0; j < o->num_results; j++) got[j] = out_type(o, j);
      op_error(k->c, o, "inferred type(s) %s are incompatible with return type(s) of operation %s",
               show_types(k, want, o->num_results), show_types(k, got, o->num_results));
      return op_error(k->c, o, "failed to infer returned types");
    }
  return true;
}

/* Regions of an op of a foreign dialect: blocks that end in a terminator, whose ever it is. */
static bool check_foreign_regions(checker *k, const op *o) {
  for (u16 r = 0; r < o->num_regions; r++) {
    const block *b = o->regions[r].first;
    if (op_has(o, SINGLE_BLOCK) && (!b || b->next))
      return op_error(k->c, o, "expects region #%u to have one block", r);
    for (; b; b = b->next) {
      for (const op *i = b->first; i && i != b->last; i = i->next)
        if (op_has(i, TERMINATOR))
          return op_error(k->c, i, "must be the last operation in the parent block");
      if (!op_has(o, NO_TERMINATOR) && (!b->last || !op_has(b->last, TERMINATOR)))
        return op_error(k->c, o, "expects blocks of region #%u to end in a terminator", r);
    }
  }
  return true;
}

static bool check_foreign(checker *k, const op *o) {
  const op_hooks *h = o->info->hooks;
  if (!check_counts(k, o) || !check_parent(k, o) || !check_slots(k, o) || !check_types(k, o) ||
      !check_foreign_regions(k, o) || !check_same(k, o))
    return false;
  if (h->out_sharding && !check_foreign_collective(k, o)) return false;
  return !h->verify || h->verify(k->m, (op *)(uintptr_t)o);
}

/* What the row says, then the op's own check. */
bool check_row(checker *k, const op *o) {
  if (o->info->hooks) return check_foreign(k, o);
  if (op_kind(o) == OP_unregistered) return true;
  verify_fn *own = verify_of[op_kind(o)] ? verify_of[op_kind(o)] : verify_chlo_of[op_kind(o)];
  if (!own) return true;
  return check_counts(k, o) && check_parent(k, o) && check_slots(k, o) && check_constraints(k, o) &&
         check_types(k, o) && check_regions(k, o) && check_same(k, o) && own(k, o) &&
         check_quantized(k, o) && check_inferred(k, o);
}

/* ---- inference ---- */

bool dialect_infer(ir_module *m, const op *o, const type **out) {
  checker k = {.m = m, .c = m->ctx};
  infer_fn *fn = op_kind(o) < OP_COUNT ? infer_of[op_kind(o)] : NULL;
  if (op_has(o, SAME_TYPE) && o->num_operands) fn = infer_operand;
  if (!fn && o->info->hooks && o->info->hooks->infer)
    return o->info->hooks->infer(m, (op *)(uintptr_t)o, out);
  return fn && fn(&k, o, out);
}

bool dialect_infer_checked(ir_module *m, const op *o, const type **out) {
  checker k = {.m = m, .c = m->ctx};
  if (o->info->hooks) return check_counts(&k, o) && check_slots(&k, o) && dialect_infer(m, o, out);
  if (op_kind(o) == OP_unregistered || o->info->family == FAMILY_later) return false;
  return check_counts(&k, o) && check_slots(&k, o) && check_operand_constraints(&k, o) &&
         check_value_types(&k, o, true) && check_regions(&k, o) && dialect_infer(m, o, out);
}

bool dialect_check_rule(ir_module *m, const op *o, const attr *rule) {
  checker k = {.m = m, .c = m->ctx};
  return check_sharding_rule(&k, o, (const op_sharding_rule_attr *)rule);
}

bool dialect_check_shardings(ir_module *m, const op *o, const attr *shardings, const type *const *t,
                             size_t n, const char *what) {
  checker k = {.m = m, .c = m->ctx, .scratch = ir_scratch_push(m->ctx)};
  bool ok = checker_enter_module(&k, m->root) &&
            check_shardings(&k, o, attr_as(sharding_per_value, shardings), t, n, what);
  ir_scratch_pop(m->ctx);
  return ok;
}
