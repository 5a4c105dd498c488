/* From rows and rules to records, and what passes read from them. Nothing is kept: a record is made
 * for each op that is asked about, in the pass's arena. */
#include "partition/record.h"

#include "partition/local.h"
#include "partition/pieces.h"
#include "partition/partition.h"

/* ---- rows ---- */

/* A foreign op says with its rule where parts are made. */
static bool combines_as_hooked(const op *o, unreduced_kind *out) {
  *out = (unreduced_kind)o->info->hooks->combiner;
  return true;
}

/* The first that holds decides. A foreign op that says nothing is computed as a whole, everywhere.
 */
part_row part_row_of_hooks(const op_info *info) {
  const op_hooks *h = info->hooks;
  part_row row = {PLACED_BY_RULE, CUT_NOWHERE, .local = local_foreign};
  if (info->traits & TERMINATOR) {
    row.placed = PLACED_AT_END;
    row.cut = CUT_FREELY;
  } else if (info->traits & CONSTANT) {
    row.placed = PLACED_MADE;
    row.cut = CUT_FREELY;
    if (!h->make_local) row.local = local_part;
  } else if (h->out_sharding) {
    row.placed = PLACED_AS_IS;
    row.cut = h->make_local ? CUT_FREELY : CUT_NOWHERE;
  } else if (h->flow) {
    row.placed = PLACED_BY_EDGES;
    row.cut = CUT_FREELY;
  } else if (h->rule || info->traits & ELEMENTWISE) {
    row.cut = CUT_AS_RULED;
    row.linear = h->linear;
    if (h->rule) row.combines = combines_as_hooked;
  }
  if (row.cut != CUT_NOWHERE && !row.combines) row.padding = PADDING_ANY;
  return row;
}

/* jax.debug.callback(partitioned=True), which gives nothing. */
static bool is_apart(const op *o) {
  struct custom_call_attrs v;
  return op_is(o, custom_call) && !o->num_results && view_custom_call(o, &v) &&
         str_is(v.call_target_name, "xla_ffi_partitioned_python_cpu_callback");
}

const part_row *part_row_of(const op *o) {
  static const part_row unknown = {PLACED_BY_RULE, CUT_NOWHERE, .local = local_foreign};
  if (op_is(o, custom_call) && pieces_is(o)) return &part_pieces_row;
  if (op_is(o, custom_call) && is_apart(o)) return &part_apart_row;
  if (op_kind(o) < OP_COUNT) return &part_rows[op_kind(o)];
  return o->info->hooks ? o->info->hooks->record : &unknown;
}

static const char *row_problem(const part_row *row) {
  if (row->placed == PLACED_NOWHERE) return "no partition record";
  if (!row->local) return "a partition record that does not say how it is made local";
  if (row->needs && row->cut != CUT_AS_RULED)
    return "a partition record with needs by which it is not cut";
  if (row->cut == CUT_AS_RULED && row->placed != PLACED_BY_RULE)
    return "a partition record that cuts it by a rule, but places it otherwise";
  if (row->cut == CUT_NOWHERE && row->combines)
    return "a partition record that combines parts, but does not cut it";
  if (!row->combines != (row->cut == CUT_NOWHERE || row->padding == PADDING_ANY))
    return "a partition record whose padding is not that of parts that combine";
  if (row->linear != LINEAR_NOT && row->placed != PLACED_BY_RULE)
    return "a partition record that passes sums on, but is not placed by a rule";
  return NULL;
}

str part_row_problem(arena *a, const op_info *info, const part_row *row) {
  const char *what = row_problem(row);
  return what ? arena_printf(a, "'" STR_FMT "' has %s", STR_ARG(info->name), what) : (str){0};
}

/* ---- the record of an op ---- */

/* The rule's kinds are Shardy's factor types; a reduction whose parts nothing combines must be
 * whole. */
static part_need default_need(const part_record *r, u8 kind) {
  const part_need whole = {.kind = NEED_WHOLE};
  if (r->row->cut == CUT_NOWHERE) return whole;
  switch ((factor_kind)kind) {
  case FACTOR_PASS:
    return (part_need){.kind = NEED_FREE, .padding = PADDING_ANY};
  case FACTOR_REDUCTION:
    if (!r->combines) return whole;
    return (part_need){.kind = NEED_REDUCE, .padding = r->row->padding, .combiner = r->combiner};
  case FACTOR_PERMUTATION:
    return (part_need){.kind = NEED_PERMUTE};
  case FACTOR_REPLICATE:
    break;
  }
  return whole;
}

static part_need *needs_by(arena *a, const part_record *r, const op *o, const rule *by) {
  part_need *needs = ARENA_ARRAY(a, part_need, by->num_factors);
  for (u32 f = 0; f < by->num_factors; f++) needs[f] = default_need(r, by->factors[f].kind);
  if (r->row->needs) r->row->needs(o, by, needs);
  return needs;
}

static bool can_meet(const part_need *n, bool windows) {
  return n->kind <= NEED_OWN || (windows && (n->kind == NEED_HALO || n->kind == NEED_PERMUTE));
}

/* Cuts a dimension along its major factors first. */
static bool may_cut_by(const rule *r, const part_need *needs, bool windows, u32 t, u32 d,
                       i64 parts) {
  u32 at = r->tensor_begin[t] + d;
  for (u32 k = r->dim_begin[at]; k < r->dim_begin[at + 1] && parts > 1; k++) {
    if (!can_meet(&needs[r->places[k]], windows)) return false;
    parts /= max_i64(1, gcd_i64(parts, r->factors[r->places[k]].size));
  }
  return true;
}

/* The program gives the op a rule of its own making (sdy.sharding_rule): what must be whole by the
 * rule of its kind must be so by this one. */
static void heed_kind(arena *a, const part_record *r, const op *o, const rule *kind,
                      part_need *needs) {
  const part_need *strict = needs_by(a, r, o, kind);
  for (u32 t = 0; t < rule_num_tensors(r->rule); t++)
    for (u32 d = 0; d < rule_rank(r->rule, t); d++) {
      if (may_cut_by(kind, strict, false, t, d, INT64_MAX)) continue;
      u32 at = r->rule->tensor_begin[t] + d;
      for (u32 k = r->rule->dim_begin[at]; k < r->rule->dim_begin[at + 1]; k++)
        needs[r->rule->places[k]] = (part_need){.kind = NEED_WHOLE};
    }
}

static bool fits(ir_ctx *c, const op *o, const part_row *row, const rule *r) {
  for (u32 f = 0; r && part_cuts_freely(row) && f < r->num_factors; f++) {
    u8 kind = r->factors[f].kind;
    if (kind == FACTOR_PASS || (kind == FACTOR_REDUCTION && row->combines)) continue;
    return op_error(c, o,
                    "has a partition record that cuts it freely, but factor #%u of its "
                    "sharding rule %s",
                    f,
                    kind == FACTOR_REDUCTION ? "makes parts that nothing combines" : "is not free");
  }
  return true;
}

static const rule *rule_by(rule_set *rules, const op *o, const part_row *row) {
  if (!row->rule || op_discardable(o, SDY_SHARDING_RULE)) return rule_of_op(rules, o);
  rule_builder b;
  rule_begin(&b, rules, o);
  return row->rule(&b, o);
}

bool part_record_of_row(arena *a, rule_set *rules, const op *o, const part_row *row,
                        part_record *out) {
  *out = (part_record){.row = row, .rule = rule_by(rules, o, row), .combiner = UNREDUCED_SUM};
  unreduced_kind combiner;
  out->combines = row->combines && row->combines(o, &combiner);
  if (out->combines) out->combiner = combiner;
  if (!out->rule) return true;
  bool given = op_discardable(o, SDY_SHARDING_RULE) != NULL;
  bool known = op_kind(o) < OP_COUNT && row->cut != CUT_NOWHERE && !out->rule->custom;
  const rule *kind = given && known ? rule_of_kind(rules, o) : out->rule;
  if (known && !fits(rules->ctx, o, row, kind)) return false;
  part_need *needs = needs_by(a, out, o, out->rule);
  if (kind && kind != out->rule) heed_kind(a, out, o, kind, needs);
  out->needs = needs;
  return true;
}

bool part_record_make(arena *a, rule_set *rules, const op *o, part_record *out) {
  return part_record_of_row(a, rules, o, part_row_of(o), out);
}

/* ---- readings ---- */

factor_kind part_factor_kind(const part_record *r, u32 f) {
  static const u8 of[] = {[NEED_FREE] = FACTOR_PASS,        [NEED_REDUCE] = FACTOR_REDUCTION,
                          [NEED_MASK] = FACTOR_REDUCTION,   [NEED_OWN] = FACTOR_PASS,
                          [NEED_HALO] = FACTOR_PERMUTATION, [NEED_PERMUTE] = FACTOR_PERMUTATION,
                          [NEED_SCAN] = FACTOR_REPLICATE,   [NEED_WHOLE] = FACTOR_REPLICATE};
  const part_need *n = &r->needs[f];
  return can_meet(n, r->row->windows) ? (factor_kind)of[n->kind] : FACTOR_REPLICATE;
}

/* Of windows only elements of the whole matter, and whoever reads the result does not read its
 * padding; of parts that are added, what is no element is zero. */
static bool reads_windows(const part_record *r, u32 f) {
  u8 kind = r->needs[f].kind;
  if (!r->row->windows) return false;
  if (kind == NEED_REDUCE) return r->row->padding == PADDING_ZERO;
  return (kind == NEED_HALO || kind == NEED_PERMUTE) &&
         (r->row->padding == PADDING_ANY || r->row->padding == PADDING_ZERO);
}

/* A foreign op is made local by its dialect, which knows of even shards only. */
bool part_may_pad(const part_record *r, const op *o, u32 f) {
  const rule *by = r->rule;
  i64 size = by->factors[f].size;
  bool windows = reads_windows(r, f);
  if (!windows && (r->needs[f].kind > NEED_OWN || r->needs[f].padding == PADDING_NONE))
    return false;
  if (op_kind(o) >= OP_COUNT || size <= 1) return false;
  if (r->needs[f].kind == NEED_REDUCE && r->row->padding == PADDING_NEUTRAL &&
      r->combiner != UNREDUCED_SUM)
    return false;
  if (r->needs[f].kind == NEED_REDUCE && r->row->padding == PADDING_INITIAL &&
      r->combiner != UNREDUCED_SUM)
    for (u32 i = 0; i < o->num_operands / 2; i++)
      if (!part_same_element(op_operand(o, i), op_operand(o, o->num_operands / 2 + i)))
        return false;
  for (u32 t = 0; t < rule_num_tensors(by); t++) {
    const value *v = op_tensor(o, t);
    for (u32 d = 0; d < rule_rank(by, t); d++) {
      u32 begin = by->dim_begin[by->tensor_begin[t] + d];
      u32 end = by->dim_begin[by->tensor_begin[t] + d + 1];
      for (u32 k = begin; k < end; k++)
        if (by->places[k] == f &&
            (windows ? k > begin : end - begin > 1 || v->type->dims.data[d] != size))
          return false;
    }
  }
  return true;
}

bool part_may_cut(const part_record *r, const op *o, u32 t, u32 d, i64 parts) {
  if (part_cuts_freely(r->row)) return true;
  if (!r->rule || d >= rule_rank(r->rule, t)) return false;
  u32 f = r->rule->places[r->rule->dim_begin[r->rule->tensor_begin[t] + d]];
  if (r->row->windows && can_meet(&r->needs[f], true) && part_may_pad(r, o, f)) return true;
  return may_cut_by(r->rule, r->needs, r->row->windows, t, d, parts);
}

/* Elements of the operand a place of dimension d. */
static i64 slab(const type *t, u32 d) {
  i64 n = 1;
  for (size_t k = 0; k < t->dims.len; k++)
    if (k != d && !checked_mul(n, t->dims.data[k], &n)) return INT64_MAX;
  return n;
}

/* In how many parts dimension d of tensor t is, if factor f is the major one in it; 0: it is not.
 */
static i64 parts_along(const part_record *r, const sharding *const *now, u32 t, u32 d, u32 f) {
  u32 at = r->rule->tensor_begin[t] + d;
  if (r->rule->places[r->rule->dim_begin[at]] != f) return 0;
  return now[t] && d < now[t]->rank ? sharding_dim_size(now[t], d) : 1;
}

/* Could axes of `parts` move to a dimension that all tensors have and that nobody cares about? */
static bool has_room(const part_record *r, const sharding *const *now, i64 parts) {
  for (u32 f = 0; f < r->rule->num_factors; f++) {
    bool everywhere = r->needs[f].kind == NEED_FREE;
    i64 used = 1;
    for (u32 t = 0; t < rule_num_tensors(r->rule) && everywhere; t++) {
      i64 most = 0;
      for (u32 d = 0; d < rule_rank(r->rule, t); d++)
        most = max_i64(most, parts_along(r, now, t, d, f));
      everywhere = most > 0 || rule_rank(r->rule, t) == 0;
      used = max_i64(used, most);
    }
    if (everywhere && r->rule->factors[f].size % used == 0 &&
        r->rule->factors[f].size / used % parts == 0)
      return true;
  }
  return false;
}

typedef struct costs {
  double windows, gathered, moved; /* elements to a device; moved: by all-to-alls, there and back */
  bool any;
} costs;

/* Of a dimension of an operand that is in `now` parts; what all devices have as a whole costs
 * nothing to gather, unless they would all compute with it. */
static bool add_operand(arena *a, const part_record *r, const op *o, const type *const *types,
                        u32 t, u32 d, i64 parts, i64 now, costs *c) {
  shard_window w;
  window_plan p;
  if (!r->row->windows(o, types, t, d, parts, &w)) return false;
  double each = (double)slab(types[t], d), shard = each * (double)w.shard;
  bool computes = r->row->combines || o->num_regions;
  if (now > 1) c->moved += shard * (double)(parts - 1) / (double)parts;
  if (!w.length) return true;
  if (!window_make_plan(a, &w, &p)) return false;
  c->any = true;
  c->windows += each * (double)p.moved;
  if (now > 1 || computes) c->gathered += shard * (double)(parts - 1);
  return true;
}

bool part_windows_pay(arena *a, const part_record *r, const op *o, const type *const *types,
                      const sharding *const *now, u32 f, i64 parts) {
  costs c = {0};
  for (u32 t = 0; r->row->windows && t < rule_num_tensors(r->rule); t++)
    for (u32 d = 0; d < rule_rank(r->rule, t); d++) {
      i64 n = parts_along(r, now, t, d, f);
      if (!n) continue;
      if (t < o->num_operands) {
        if (!add_operand(a, r, o, types, t, d, parts, n, &c)) return false;
        continue;
      }
      double all = (double)slab(types[t], d) * (double)types[t]->dims.data[d];
      *(n > 1 ? &c.moved : &c.windows) +=
          all * (double)(parts - 1) / (double)parts / (n > 1 ? (double)parts : 1);
    }
  if (c.gathered > c.moved && has_room(r, now, parts)) c.gathered = c.moved;
  return !c.any || c.windows <= c.gathered;
}

/* From 16 bits on a wider type has more of both, exponent and significand. */
static bool widens(const type *from, const type *to) {
  return from->kind == TYPE_FLOAT && to->kind == TYPE_FLOAT && from->width >= 16 &&
         to->width > from->width;
}

bool part_passes_sums(const part_record *r, const op *o, const bool *marked, u32 count) {
  if (r->row->combines && !(r->combines && r->combiner == UNREDUCED_SUM)) return false;
  bool first = count == 1 && marked[0] && o->num_results == 1;
  switch ((linear)r->row->linear) {
  case LINEAR_NOT:
    return false;
  case LINEAR_ALL:
    return count == o->num_operands;
  case LINEAR_FIRST:
    return first;
  case LINEAR_ONE:
    return count == 1;
  case LINEAR_RATIO:
    return first && type_element(op_result(o, 0)->type)->kind != TYPE_INT;
  case LINEAR_TWO:
    return count == 2 && marked[0] && marked[1] && o->num_results == 1;
  case LINEAR_WIDER:
    return first &&
           widens(type_element(op_operand(o, 0)->type), type_element(op_result(o, 0)->type));
  }
  return false;
}

partition_way partition_way_of(op_id id) {
  static const u8 of[] = {[CUT_FREELY] = PARTITION_SPLIT,
                          [CUT_AS_RULED] = PARTITION_PARTLY,
                          [CUT_NOWHERE] = PARTITION_WHOLE,
                          [CUT_REPLACED] = PARTITION_REPLACED};
  const part_row *row = &part_rows[id];
  return row->local == local_unresolved ? PARTITION_REPLACED : (partition_way)of[row->cut];
}
