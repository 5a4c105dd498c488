/* The verifier: what the rows of ir/ops say of every op, then the op's own check.
 *
 * walk.c calls check_row before it goes into an op's regions and check_row_end after. The tables
 * below say by op id which functions there are; the family of a row (ew, cast, own, ...) chooses
 * how its check is named, so a new row without a check fails to link rather than passes unchecked.
 * Below them are the checks that need the row alone. */
#include "dialect/verify.h"

/* ---- tables ---- */

bool verify_nothing(checker *k, const op *o) { return (void)k, (void)o, true; }

#define V_ew(id) verify_elements
#define V_cast(id) verify_elements
#define V_bcast(id) verify_elements
#define V_own(id) verify_##id
#define V_region(id) verify_##id
#define V_coll(id) verify_##id
#define V_term(id) verify_terminator
#define V_made(id) verify_##id
#define V_later(id) verify_##id
verify_fn *const verify_of[OP_COUNT] = {
#define OP(id, name, family, ...) [OP_##id] = V_##family(id),
#include "ir/ops.def"
};

/* Ops whose result types can be told from the rest. The rows of broadcasting chlo ops share
 * functions, so they are not in INFERRING, which derives the name from the op's. */
infer_fn *const infer_of[OP_COUNT] = {
#define X(id) [OP_##id] = infer_##id,
    INFERRING(X)
#undef X
        [OP_chlo_broadcast_add] = infer_chlo_broadcast,
    [OP_chlo_broadcast_atan2] = infer_chlo_broadcast,
    [OP_chlo_broadcast_divide] = infer_chlo_broadcast,
    [OP_chlo_broadcast_maximum] = infer_chlo_broadcast,
    [OP_chlo_broadcast_minimum] = infer_chlo_broadcast,
    [OP_chlo_broadcast_multiply] = infer_chlo_broadcast,
    [OP_chlo_broadcast_next_after] = infer_chlo_broadcast,
    [OP_chlo_broadcast_polygamma] = infer_chlo_broadcast,
    [OP_chlo_broadcast_power] = infer_chlo_broadcast,
    [OP_chlo_broadcast_remainder] = infer_chlo_broadcast,
    [OP_chlo_broadcast_shift_left] = infer_chlo_broadcast,
    [OP_chlo_broadcast_shift_right_arithmetic] = infer_chlo_broadcast,
    [OP_chlo_broadcast_shift_right_logical] = infer_chlo_broadcast,
    [OP_chlo_broadcast_subtract] = infer_chlo_broadcast,
    [OP_chlo_broadcast_zeta] = infer_chlo_broadcast,
    [OP_chlo_broadcast_and] = infer_chlo_broadcast,
    [OP_chlo_broadcast_or] = infer_chlo_broadcast,
    [OP_chlo_broadcast_xor] = infer_chlo_broadcast,
    [OP_chlo_broadcast_complex] = infer_chlo_broadcast_complex,
    [OP_chlo_broadcast_compare] = infer_chlo_broadcast_compare,
    [OP_chlo_broadcast_select] = infer_chlo_broadcast_select,
    [OP_chlo_constant] = infer_constant,
    [OP_chlo_constant_like] = infer_chlo_constant_like,
    [OP_chlo_ragged_dot] = infer_chlo_ragged_dot,
    [OP_chlo_top_k] = infer_chlo_top_k,
    [OP_chlo_scan] = infer_chlo_scan,
};

/* MLIR's SymbolUserOpInterface: asked once a whole symbol table has passed, because the symbol may
 * stand further down. Collectives are here for groups that name a mesh. */
verify_fn *const symbol_use_of[OP_COUNT] = {
    [OP_call] = use_call,
    [OP_func_constant] = use_func_constant,
    [OP_composite] = use_composite,
    [OP_all_gather] = use_groups,
    [OP_all_reduce] = use_groups,
    [OP_all_to_all] = use_groups,
    [OP_reduce_scatter] = use_groups,
    [OP_collective_broadcast] = use_groups,
    [OP_collective_reduce] = use_groups,
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
    [OP_mpmd_call] = use_mpmd_call,
    [OP_mpmd_fragment_call] = use_mpmd_fragment_call,
};

/* How the blocks in an op end; others end in stablehlo.return. */
static const u16 terminator_of[OP_COUNT] = {
    [OP_assuming] = OP_assuming_yield,
    [OP_func] = OP_func_return,
    [OP_manual_computation] = OP_sdy_return,
    [OP_named_computation] = OP_sdy_return,
    [OP_mpmd_named_computation] = OP_mpmd_return,
    [OP_mpmd_fragment] = OP_mpmd_return,
    [OP_mpmd_for] = OP_mpmd_return,
};

static op_id expected_terminator(const op *o) {
  u16 t = terminator_of[op_kind(o)];
  return t ? (op_id)t : OP_return;
}

/* ---- operands, results, regions ---- */

/* "requires one result", "expected 2 or more operands, but found 1" */
static bool check_number(checker *k, const op *o, u32 got, u32 least, bool more, const char *what,
                         bool single) {
  if (more ? got >= least : got == least) return true;
  const char *found = arena_printf(k->scratch, ", but found %u", got).data;
  if (!single) found = ""; /* of results and regions MLIR says nothing */
  if (more) return op_error(k->c, o, "expected %u or more %ss%s", least, what, found);
  if (least == 0) return op_error(k->c, o, "requires zero %ss", what);
  if (least == 1) return op_error(k->c, o, "requires %s %s", single ? "a single" : "one", what);
  return op_error(k->c, o, "expected %u %ss%s", least, what, found);
}

/* Variadic and optional ones may be none. */
static u32 count_single(const value_info *v, u32 n) {
  u32 single = 0;
  for (u32 i = 0; i < n; i++) single += v[i].arity == ONE;
  return single;
}

/* The structural traits that ODS derives (ZeroRegions, OneResult, NOperands, ...) in the order in
 * which MLIR lists and so checks them. */
static bool check_counts(checker *k, const op *o) {
  const op_info *info = o->info;
  u32 in = count_single(info->operands, info->num_operands);
  u32 out = count_single(info->results, info->num_results);
  if (info->num_regions != ANY_REGIONS &&
      !check_number(k, o, o->num_regions, info->num_regions, false, "region", false))
    return false;
  if (!check_number(k, o, o->num_results, out, out < info->num_results, "result", false))
    return false;
  if (o->num_successors) return op_error(k->c, o, "requires zero successors");
  if (!check_number(k, o, o->num_operands, in, in < info->num_operands, "operand", true))
    return false;
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

/* As in the ODS of the op; only messages need it. */
static const char *region_name(const op *o, u16 r) {
  static const struct {
    u16 op;
    const char *names[2];
  } named[] = {
      {OP_module, {"bodyRegion", ""}},
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
  if (op_is(o, func)) return true;
  for (u16 r = 0; r < o->num_regions; r++) {
    const block *b = o->regions[r].first;
    if (b && op_is(o, module)) return true; /* verify_module says the rest */
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

/* Traits that compare types. An op in traits_of replaces what its row's SAME_TYPE would ask. */
static bool check_traits(checker *k, const op *o) {
  verify_fn *fn = op_kind(o) < OP_COUNT ? traits_of[op_kind(o)] : NULL;
  if (fn ? !fn(k, o) : op_has(o, SAME_TYPE) && !check_same_type(k, o)) return false;
  return !op_has(o, SAME_SHAPE) || check_same_shape(k, o);
}

static bool check_visibility(checker *k, const op *o) {
  const attr *a = op_attr(o, SLOT_NAME(sym_visibility));
  str v;
  if (!op_attr(o, SLOT_NAME(sym_name)) || !attr_get_str(a, &v)) return true;
  return str_is(v, "public") || str_is(v, "private") || str_is(v, "nested") ||
         op_error(k->c, o,
                  "visibility expected to be one of [\"public\", \"private\", \"nested\"], "
                  "but got %s",
                  show_attr(k, a));
}

/* What an op asks of where it stands. */
static bool check_parent(checker *k, const op *o) {
  const op *p = op_parent(o);
  if (op_has(o, TERMINATOR) && o->parent && o->parent->last != o)
    return op_error(k->c, o, "must be the last operation in the parent block");
  if (op_has(o, SYMBOL) && !check_visibility(k, o)) return false;
  if (op_has(o, SYMBOL) && p && op_kind(p) != OP_unregistered && !op_has(p, SYMBOL_TABLE))
    return op_error(k->c, o, "symbol's parent must have the SymbolTable trait");
  if (op_is(o, func_return) && !(p && op_is(p, func)))
    return op_error(k->c, o, "expects parent op 'func.func'");
  if (op_is(o, sdy_mesh) && !(p && op_is(p, module)))
    return op_error(k->c, o, "expects parent op 'builtin.module'");
  return true;
}

/* A constant has the very type of its value, or holds what a quantized element stores. */
static bool fits_inferred(const op *o, const type *want, const type *got) {
  if (!op_is(o, constant)) return types_agree(want, got);
  if (want == got || !type_is_tensor(got) || !got->elem->quant) return want == got;
  return got->elem->quant->storage == want->elem && i64s_eq(got->dims, want->dims);
}

/* The peers' InferTypeOpInterface::verify: infer again, then compare up to compatibility. Two
 * errors on one op are theirs too: the second says which step it was. */
static bool check_inferred(checker *k, const op *o) {
  infer_fn *fn = infer_of[op_kind(o)];
  if (!fn) return true;
  inferred got = {0};
  bool same = fn(k, o, &got);
  if (!same) return op_error(k->c, o, "failed to infer returned types");
  same = got.len == o->num_results;
  for (u32 i = 0; same && i < o->num_results; i++)
    same = fits_inferred(o, got.data[i], out_type(o, i));
  if (same) return true;
  op_error(k->c, o, "inferred type(s) %s are incompatible with return type(s) of operation %s",
           show_types(k, got.data, got.len), show_results(k, o));
  return op_error(k->c, o, "failed to infer returned types");
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

/* The same steps for an op whose dialect an embedder registered: `hooks` say what a row would. The
 * embedder's own check comes last and may rely on the rest. */
static bool check_foreign(checker *k, const op *o) {
  const op_hooks *h = o->info->hooks;
  if (!check_counts(k, o) || !check_parent(k, o) || !check_slots(k, o) || !check_types(k, o) ||
      !check_foreign_regions(k, o) || !check_traits(k, o))
    return false;
  if (h->out_sharding && !check_foreign_collective(k, o)) return false;
  return !h->verify || h->verify(k->m, (op *)(uintptr_t)o);
}

/* Lists of one length, which the op's own check could also say in its words. */
static bool check_segments(checker *k, const op *o) {
  size_t begin, count, end = 0;
  bool fit = true;
  for (u32 g = 0; g < o->info->num_operands; g++) {
    fit = fit && op_operand_group(o, g, &begin, &count);
    if (fit) end = begin + count;
  }
  return (fit && end == o->num_operands) ||
         op_error(k->c, o, "has %u operands, which do not divide into lists of one length",
                  o->num_operands);
}

static bool check_unregistered(checker *k, const op *o) {
  str name = o->info->name;
  const char *dot = memchr(name.data, '.', name.len);
  if (!dot || !op_dialect_known(name)) return true;
  return plain_error(k, o,
                     "unregistered operation '" STR_FMT
                     "' found in dialect ('%.*s') that does not allow unknown operations",
                     STR_ARG(name), (int)(dot - name.data), name.data);
}

/* What the row says, then the op's own check. The order is that in which MLIR's verifiers would
 * speak, so the first message is the peers'; and each step relies on those before: views decode
 * attributes only after check_slots, operand types are only looked at after their number is
 * right. */
bool check_row(checker *k, const op *o) {
  if (o->info->hooks) return check_foreign(k, o);
  if (op_kind(o) == OP_unregistered) return check_unregistered(k, o);
  return check_counts(k, o) && check_parent(k, o) && check_slots(k, o) && check_constraints(k, o) &&
         check_types(k, o) && check_regions(k, o) && check_traits(k, o) &&
         verify_of[op_kind(o)](k, o) && check_segments(k, o);
}

/* Inference looks into regions, so it comes after the ops in them. */
bool check_row_end(checker *k, const op *o) {
  if (op_kind(o) == OP_unregistered) return true;
  return check_inferred(k, o);
}

bool dialect_verify_op(ir_module *m, const op *o) {
  checker k = {.m = m, .c = m->ctx, .scratch = ir_scratch_push(m->ctx)};
  bool ok = check_row(&k, o) && check_row_end(&k, o);
  ir_scratch_pop(m->ctx);
  return ok;
}

/* ---- inference ---- */

/* Asked by builders between edits, outside dialect_verify: what it allocates
 * stays in the context's arena, like the types it gives. */
bool dialect_infer(ir_module *m, const op *o, const type **out) {
  checker k = {.m = m, .c = m->ctx, .scratch = ir_arena(m->ctx)};
  infer_fn *fn = op_kind(o) < OP_COUNT ? infer_of[op_kind(o)] : NULL;
  inferred got = {0};
  if (!fn && op_has(o, SAME_TYPE) && o->num_operands) fn = infer_same;
  if (!fn && o->info->hooks && o->info->hooks->infer)
    return o->info->hooks->infer(m, (op *)(uintptr_t)o, out);
  if (!fn || !fn(&k, o, &got) || got.len != o->num_results) return false;
  for (size_t i = 0; i < got.len; i++) out[i] = got.data[i];
  return true;
}

/* All of check_row that does not look at results, which are what is asked for. */
bool dialect_infer_checked(ir_module *m, const op *o, const type **out) {
  checker k = {.m = m, .c = m->ctx, .scratch = ir_arena(m->ctx)};
  if (o->info->hooks) return check_counts(&k, o) && check_slots(&k, o) && dialect_infer(m, o, out);
  if (op_kind(o) == OP_unregistered || o->info->family == FAMILY_later) return false;
  return check_counts(&k, o) && check_segments(&k, o) && check_slots(&k, o) &&
         check_operand_constraints(&k, o) && check_value_types(&k, o, true) &&
         check_regions(&k, o) && dialect_infer(m, o, out);
}

bool dialect_check_rule(ir_module *m, const op *o, const attr *rule) {
  checker k = {.m = m, .c = m->ctx, .scratch = ir_arena(m->ctx)};
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

bool dialect_verifies(op_id id) { return verify_of[id] != NULL; }

bool dialect_infers(op_id id) {
  return infer_of[id] || ((op_infos[id].traits & SAME_TYPE) && op_infos[id].num_operands);
}
