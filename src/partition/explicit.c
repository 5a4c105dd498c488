/* sdy-insert-explicit-reshards: makes every op computable on shards.
 *
 * For each op with a sharding rule one list of axes per factor is chosen (common_axes.h); each
 * operand and result whose sharding differs from that gets an sdy.reshard. Sharded reduction
 * factors leave partial results, so an sdy.all_reduce follows the op. Dimensions that an op
 * must see whole (whole.h) are replicated. Operands that flow through regions, to returns and
 * out of functions take the sharding of what they become. */
#include "partition/common_axes.h"
#include "partition/env.h"
#include "partition/passes.h"
#include "partition/whole.h"

typedef struct done_reshard {
  const value *from;
  const sharding *to;
  value *v;
} done_reshard;

typedef struct explicit_pass {
  part_env e;
  rule_set rules;
  hash_index done; /* reshards made, by value and sharding */
} explicit_pass;

/* ---- making reshards ---- */

static bool same_place(const sharding *a, const sharding *b) {
  if (!sharding_equivalent(a, b)) return false;
  return sharding_is_replicated(a) || sharding_is_replicated(b) ||
         mesh_same(a->mesh, b->mesh, false);
}

/* The block of `v` is around `o`, so that what comes earlier there is at hand. */
static bool is_around(const value *v, const op *o) {
  const block *b = v->def.op->parent;
  for (const op *x = o; x; x = op_parent(x)) {
    if (x->parent == b) return true;
    if (op_has(x, ISOLATED)) return false;
  }
  return false;
}

static u64 reshard_hash(const value *v, const sharding *s) { return hash_ptr(s, hash_ptr(v, 0)); }

static value *find_reshard(explicit_pass *p, const value *v, const sharding *to, const op *user) {
  u64 h = reshard_hash(v, to);
  done_reshard *r;
  for (size_t at = 0; (r = index_next(&p->done, h, &at));)
    if (r->from == v && r->to == to && is_around(r->v, user)) return r->v;
  return NULL;
}

static void remember(explicit_pass *p, const value *from, const sharding *to, value *v) {
  done_reshard *r = ARENA_NEW(p->e.a, done_reshard);
  *r = (done_reshard){from, to, v};
  index_add(&p->done, p->e.a, reshard_hash(from, to), r);
}

static value *emit_reshard(cursor *at, value *v, const sharding *to) {
  value *r = emit(at, OP_reshard, &v, 1, v->type);
  set_attr(at, r->def.op, "sharding", part_attr(at->env, to));
  return r;
}

/* Constants, iota and broadcast scalars are made again where moving them would cost more. */
static bool is_cheap(const op *o) {
  if (!o || o->num_results != 1) return false;
  if (op_has(o, CONSTANT) || op_is(o, iota)) return true;
  return op_is(o, broadcast_in_dim) && op_operand(o, 0)->type->dims.len == 0;
}

static value *clone_as(explicit_pass *p, const op *o, const sharding *to, op *before) {
  op *c = op_clone(p->e.m, o, NULL);
  op_insert(c, before->parent, before);
  part_set_sharding(&p->e, c, 0, to);
  return op_result(c, 0);
}

/* v under another sharding, for use by `user`. */
static value *resharded(explicit_pass *p, value *v, const sharding *to, op *user) {
  const part_env *e = &p->e;
  const sharding *from = part_sharding(e, v);
  if (!to) {
    if (sharding_is_replicated(from)) return v;
    to = sharding_make_replicated(e->a, from->mesh, from->rank, true);
  }
  if (same_place(from, to)) return v;
  to = shard_intern(p->e.space, to);
  const op *def = value_op(v);
  if (def && op_is(def, reshard)) { /* there and back */
    value *before = op_operand(def, 0);
    if (same_place(part_sharding(e, before), to)) return before;
  }
  value *r = find_reshard(p, v, to, user);
  if (r) return r;
  if (is_cheap(def) && to->unreduced.len == 0) {
    r = clone_as(p, def, to, user);
  } else {
    cursor at = cursor_before(e, user);
    r = emit_reshard(&at, v, to);
  }
  remember(p, v, to, r);
  return r;
}

static const attr *kind_attr(const part_env *e, unreduced_kind kind) {
  return kind == UNREDUCED_SUM ? NULL : attr_enum(e->c, ATTR_reduction_kind, kind);
}

static value *emit_all_reduce(cursor *at, value *v, const mesh *m, axis_list axes,
                              unreduced_kind kind, const sharding *out) {
  const part_env *e = at->env;
  value *r = emit(at, OP_sdy_all_reduce, &v, 1, v->type);
  set_attr(at, r->def.op, "reduction_axes",
           attr_make(e->c, axis_ref_list, .axes = part_axes_attrs(e, m, axes)));
  set_attr(at, r->def.op, "out_sharding", part_attr(e, out));
  set_attr(at, r->def.op, "reduction_kind", kind_attr(e, kind));
  return r;
}

/* Sums up what of the operand's unreduced axes the user doesn't keep unreduced. */
static value *reduced(explicit_pass *p, value *v, const sharding *user_sharding, op *user) {
  const part_env *e = &p->e;
  const sharding *s = part_sharding(e, v);
  if (!s || s->unreduced.len == 0) return v;
  axis_list keep = user_sharding ? user_sharding->unreduced : (axis_list){0};
  axis_list axes = axes_difference(e->a, s->unreduced, keep);
  if (axes.len == 0) return v;
  sharding out = *s;
  out.unreduced = axes_difference(e->a, s->unreduced, axes);
  cursor at = cursor_before(e, user);
  axes = axes_sort_merge(e->a, axes);
  return emit_all_reduce(&at, v, s->mesh, axes, s->unreduced_kind, &out);
}

/* New unreduced axes come from replication: the first device along them keeps the value. */
static value *unreduced(explicit_pass *p, value *v, const sharding *to, op *user) {
  const part_env *e = &p->e;
  const sharding *s = part_sharding(e, v);
  if (!to || to->unreduced.len == 0) return v;
  axis_list have = s ? s->unreduced : (axis_list){0};
  axis_list axes = axes_difference(e->a, to->unreduced, have);
  if (axes.len == 0) return v;
  sharding before = *to;
  before.unreduced = have;
  v = resharded(p, v, &before, user);
  cursor at = cursor_before(e, user);
  value *r = emit(&at, OP_replicated_to_unreduced, &v, 1, v->type);
  set_attr(&at, r->def.op, "axes",
           attr_make(e->c, axis_ref_list, .axes = part_axes_attrs(e, to->mesh, axes)));
  set_attr(&at, r->def.op, "out_sharding", part_attr(e, to));
  return r;
}

static void fix_operand(explicit_pass *p, op *o, u32 i, const sharding *to) {
  value *v = op_operand(o, i), *r = v;
  if (!type_is_tensor(v->type)) return;
  r = reduced(p, r, to, o);
  r = unreduced(p, r, to, o);
  r = resharded(p, r, to, o);
  if (r != v) op_set_operand(o, i, r);
}

/* ---- ops with a rule ---- */

/* The mesh that most of the shardings are on. */
static const mesh *common_mesh(const sharding *const *s, size_t n) {
  const mesh *best = NULL;
  size_t most = 0;
  for (size_t i = 0; i < n; i++) {
    if (sharding_is_replicated(s[i])) continue;
    size_t count = 0;
    for (size_t k = 0; k < n; k++)
      count += !sharding_is_replicated(s[k]) && s[k]->mesh == s[i]->mesh;
    if (count > most) most = count, best = s[i]->mesh;
  }
  return best;
}

/* The rule's kinds, and REPLICATE for factors in dimensions that must be whole. */
static u8 *factor_kinds(explicit_pass *p, const op *o, const rule *r) {
  arena *a = p->e.a;
  u8 *kinds = arena_zalloc(a, r->num_factors);
  dim_set *sets = ARENA_ARRAY(a, dim_set, o->num_operands + o->num_results);
  part_whole_dims(o, sets, sets + o->num_operands);
  unreduced_kind kind;
  bool reduces = part_reduction(o, &kind);
  for (u32 f = 0; f < r->num_factors; f++) {
    kinds[f] = r->factors[f].kind;
    if (kinds[f] == FACTOR_REDUCTION && !reduces) kinds[f] = FACTOR_REPLICATE;
  }
  for (u32 t = 0; t < rule_num_tensors(r); t++)
    for (u32 d = 0; d < rule_rank(r, t); d++)
      if (sets[t] & dim_bit(d)) {
        u32 at = r->tensor_begin[t] + d;
        for (u32 k = r->dim_begin[at]; k < r->dim_begin[at + 1]; k++)
          kinds[r->places[k]] = FACTOR_REPLICATE;
      }
  for (u32 f = 0; f < r->num_factors; f++)
    if (kinds[f] == FACTOR_PERMUTATION) kinds[f] = FACTOR_PASS; /* it moves nothing here */
  return kinds;
}

/* Partial products in a narrow format would each be rounded before they are summed; the op can
 * as well deliver them in f32. NULL: it stays as it is. */
static const type *partial_type(const part_env *e, const op *o, const type *t) {
  if (!op_is(o, dot_general) || t->elem->kind != TYPE_FLOAT || t->elem->width >= 32) return NULL;
  if (op_attr(o, STR("algorithm"))) return NULL;
  return type_tensor(e->c, t->dims, type_float(e->c, FLOAT_f32), t->encoding);
}

/* Gives result i of o the sharding `to`; its users go on with the one it had, if any. */
static void fix_result(explicit_pass *p, op *o, u32 i, const sharding *old, const sharding *to,
                       axis_list reduce, unreduced_kind kind) {
  const part_env *e = &p->e;
  value *v = op_result(o, i), *last = v;
  bool differs = !same_place(old, to);
  cursor at = cursor_after(e, o);
  if (differs) part_set_sharding(e, o, i, to);
  const type *t = v->type, *wide = reduce.len ? partial_type(e, o, t) : NULL;
  if (wide) v->type = wide;
  if (reduce.len) last = emit_all_reduce(&at, last, to->mesh, reduce, kind, to);
  op *first = reduce.len ? last->def.op : NULL;
  if (differs && old) {
    last = emit_reshard(&at, last, old);
    if (!first) first = last->def.op;
  }
  if (wide) {
    const sharding *s = part_sharding(e, last);
    last = emit(&at, OP_convert, &last, 1, t);
    part_set_sharding(e, last->def.op, 0, s);
  }
  if (first) value_replace_except(v, last, first);
}

static void gather_shardings(explicit_pass *p, const op *o, const sharding **sh, i64 *sizes,
                             const type **types) {
  for (u32 t = 0; t < o->num_operands + o->num_results; t++) {
    const value *v = t < o->num_operands ? op_operand(o, t) : op_result(o, t - o->num_operands);
    sh[t] = part_sharding(&p->e, v);
    types[t] = v->type;
    if (!type_is_ranked(v->type) || !type_num_elements(v->type, &sizes[t])) sizes[t] = 0;
  }
}

static void fix_with_rule(explicit_pass *p, op *o, const rule *r, const sharding **sh,
                          const i64 *sizes, const type *const *types, const mesh *m) {
  arena *a = p->e.a;
  u32 n = rule_num_tensors(r);
  const sharding **here = ARENA_ARRAY(a, const sharding *, n);
  for (u32 t = 0; t < n; t++) here[t] = sh[t] && mesh_same(sh[t]->mesh, m, true) ? sh[t] : NULL;
  axes_problem prob = {r, factor_kinds(p, o, r), m, here, sizes, types};
  axis_list *axes = ARENA_ARRAY(a, axis_list, r->num_factors);
  common_axes(a, &prob, axes);
  for (u32 i = 0; i < o->num_operands; i++)
    if (type_is_tensor(types[i])) fix_operand(p, o, i, common_sharding(a, &prob, i, axes));
  unreduced_kind kind = UNREDUCED_SUM;
  axis_vec reduce = {0};
  if (part_reduction(o, &kind))
    for (u32 f = 0; f < r->num_factors; f++)
      if (prob.kinds[f] == FACTOR_REDUCTION)
        for (size_t i = 0; i < axes[f].len; i++) VEC_PUSH(a, reduce, axes[f].data[i]);
  for (u32 i = o->num_results; i-- > 0;) {
    u32 t = o->num_operands + i;
    const sharding *to = common_sharding(a, &prob, t, axes);
    axis_list rest = axes_difference(a, axis_vec_list(&reduce), to->unreduced);
    fix_result(p, o, i, sh[t], to, axes_sort_merge(a, rest), kind);
  }
}

/* No rule: everything is replicated. */
static void fix_replicated(explicit_pass *p, op *o, const sharding **sh, const mesh *m) {
  for (u32 i = 0; i < o->num_operands; i++) fix_operand(p, o, i, NULL);
  for (u32 i = o->num_results; i-- > 0;) {
    value *v = op_result(o, i);
    if (!type_is_ranked(v->type)) continue;
    u32 rank = (u32)v->type->dims.len;
    fix_result(p, o, i, sh[o->num_operands + i], sharding_make_replicated(p->e.a, m, rank, true),
               (axis_list){0}, UNREDUCED_SUM);
  }
}

/* Propagation leaves some elementwise ops without a rule (chlo's); shards are all one to them. */
static const rule *rule_here(explicit_pass *p, op *o) {
  const rule *r = rule_of_op(&p->rules, o);
  bool pointwise = op_kind(o) < OP_COUNT && o->num_results == 1 &&
                   (o->info->family == FAMILY_ew || o->info->family == FAMILY_cast);
  return r || !pointwise ? r : rule_identity(&p->rules, op_result(o, 0)->type, o->num_operands);
}

static void fix_op(explicit_pass *p, op *o) {
  arena *a = p->e.a;
  u32 n = o->num_operands + o->num_results;
  const sharding **sh = ARENA_ARRAY(a, const sharding *, n);
  i64 *sizes = ARENA_ARRAY(a, i64, n);
  const type **types = ARENA_ARRAY(a, const type *, n);
  const sharding *first = o->num_results ? part_sharding(&p->e, op_result(o, 0)) : NULL;
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = reduced(p, op_operand(o, i), first, o);
    if (v != op_operand(o, i)) op_set_operand(o, i, v);
  }
  gather_shardings(p, o, sh, sizes, types);
  const mesh *m = common_mesh(sh, n);
  if (!m) return;
  const rule *r = rule_here(p, o);
  if (r && !r->custom)
    fix_with_rule(p, o, r, sh, sizes, types, m);
  else
    fix_replicated(p, o, sh, m);
}

/* ---- data flow ---- */

static void fix_terminator(explicit_pass *p, op *o) {
  op *parent = op_parent(o);
  for (u32 i = 0; parent && i < o->num_operands; i++) {
    const sharding *to = NULL;
    if (op_is(parent, func)) {
      to = shard_read(p->e.space, func_sharding(parent, FUNC_RESULTS, i));
    } else if (i < parent->num_results && (parent->num_regions == 1 || !op_is(parent, while) ||
                                           o->parent == op_body(parent, 1))) {
      to = part_sharding(&p->e, op_result(parent, i));
      if (op_is(parent, manual_computation)) to = part_inside_manual(&p->e, parent, to);
    }
    fix_operand(p, o, i, to);
  }
}

static const attr *in_sharding(const op *o, u32 i) {
  const sharding_per_value_attr *l = attr_as(sharding_per_value, op_attr(o, STR("in_shardings")));
  return l && i < l->shardings.len ? l->shardings.data[i] : NULL;
}

static void fix_region_op(explicit_pass *p, op *o) {
  bool flows = op_is(o, while) || op_is(o, optimization_barrier);
  for (u32 i = 0; i < o->num_operands; i++) {
    const sharding *to = NULL;
    if (flows && i < o->num_results) to = part_sharding(&p->e, op_result(o, i));
    if (op_is(o, manual_computation)) to = shard_read(p->e.space, in_sharding(o, i));
    fix_operand(p, o, i, to);
  }
}

/* A reshard that the user wrote: sums before it. */
static void fix_reshard(explicit_pass *p, op *o) {
  const part_env *e = &p->e;
  const sharding *to = part_sharding(e, op_result(o, 0));
  value *v = op_operand(o, 0), *r = v;
  if (!to) return;
  r = reduced(p, r, to, o);
  r = unreduced(p, r, to, o);
  if (r != v) op_set_operand(o, 0, r);
}

/* ---- the walk ---- */

static void fix_nothing(explicit_pass *p, op *o) { (void)p, (void)o; }

typedef void explicit_fn(explicit_pass *p, op *o);
/* sdy ops say their sharding themselves; reshards and collectives are later passes' matter. */
#define EXPLICIT_ew(id) fix_op
#define EXPLICIT_cast(id) fix_op
#define EXPLICIT_bcast(id) fix_op
#define EXPLICIT_coll(id) fix_op
#define EXPLICIT_region(id) fix_region_op
#define EXPLICIT_term(id) fix_terminator
#define EXPLICIT_own(id) fix_op
static explicit_fn *const explicit_of[OP_COUNT] = {
#define OP(id, name, family, ...) [OP_##id] = EXPLICIT_##family(id),
#include "ir/ops.def"
};

static bool makes_itself(const op *o) {
  return op_has(o, CONSTANT) || op_is(o, iota) || op_has(o, SYMBOL);
}

static bool says_sharding(const op *o) { return str_starts(o->info->name, STR("sdy.")); }

static explicit_fn *fn_of(const op *o) {
  if (op_kind(o) >= OP_COUNT) return fix_op;
  if (op_is(o, optimization_barrier)) return fix_region_op;
  if (op_is(o, reshard) || op_is(o, sharding_constraint)) return fix_reshard;
  explicit_fn *fn = explicit_of[op_kind(o)];
  return fn == fix_op && (makes_itself(o) || says_sharding(o)) ? fix_nothing : fn;
}

/* Reduction bodies and the like work on scalars. */
static bool has_flow_body(const op *o) {
  return op_is(o, module) || op_is(o, func) ||
         (op_kind(o) < OP_COUNT && o->info->family == FAMILY_region);
}

static void fix_block(explicit_pass *p, block *b) {
  FOR_OPS(o, b) {
    fn_of(o)(p, o);
    if (!has_flow_body(o)) continue;
    for (u32 r = 0; r < o->num_regions; r++)
      for (block *in = o->regions[r].first; in; in = in->next) fix_block(p, in);
  }
}

/* ---- tidying up ---- */

/* Reshards of reshards that nothing else uses are one; those that nothing uses are none. */
static walk_result tidy(void *user, op *o) {
  explicit_pass *p = user;
  if (op_is(o, reshard)) {
    value *v = op_operand(o, 0);
    op *def = value_op(v);
    if (def && op_is(def, reshard) && value_has_one_use(v) &&
        mesh_same(part_sharding(&p->e, v)->mesh, part_sharding(&p->e, op_result(o, 0))->mesh, true))
      op_set_operand(o, 0, op_operand(def, 0));
    v = op_operand(o, 0);
    if (same_place(part_sharding(&p->e, v), part_sharding(&p->e, op_result(o, 0))))
      value_replace(op_result(o, 0), v);
  }
  return WALK_ON;
}

bool part_insert_explicit_reshards(ir_module *m, arena *scratch, const pass_args *args) {
  explicit_pass p = {.e = part_env_make(m, scratch)};
  (void)args;
  if (!part_has_mesh(&p.e)) return true;
  rule_set_init(&p.rules, m->ctx, scratch, false);
  fix_block(&p, op_body(m->root, 0));
  op_walk(m->root, tidy, &p);
  part_erase_dead(m);
  return shard_space_check(p.e.space);
}
