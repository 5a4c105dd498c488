/* terrazzo-insert-reshards: makes every op computable on shards. Shardy's own pass that does so,
 * sdy-insert-explicit-reshards, is export/reshards.c.
 *
 * For each op with a sharding rule one list of axes per factor is chosen (common_axes.h); each
 * operand and result whose sharding differs from that gets an sdy.reshard. Sharded reduction
 * factors leave partial results, so an sdy.all_reduce follows the op. Dimensions that an op
 * must see whole (record.h) are replicated. Operands that flow through regions, to returns and
 * out of functions take the sharding of what they become. */
#include "dialect/effects.h"
#include "partition/axes_choice.h"
#include "partition/common_axes.h"
#include "partition/passes.h"
#include "partition/place.h"
#include "partition/record.h"
#include "partition/reshard.h"
#include "partition/why.h"
#include "shard/flow.h"
#include "shard/traits.h"

typedef struct explicit_pass {
  part_env e; /* its arena is emptied after every op */
  rule_set rules;
  placer placer;
  why_log *why; /* NULL: nobody asks */
  bool remarks; /* on what is held whole */
  bool changed; /* the op at hand, or values around it */
  bool ok;
  hash_index settled; /* what was decided of ops that others are like */
} explicit_pass;

/* What an earlier user of the value got is taken again, where it is at hand (place_for). */
static void fix_operand(explicit_pass *p, op *o, u32 i, const sharding *to, why_kind kind,
                        const why_rule *rule) {
  value *v = op_operand(o, i);
  if (!type_is_tensor(v->type)) return;
  const sharding *from = p->why ? part_sharding(&p->e, v) : NULL;
  bool tell = p->why && !same_place(from, to);
  p->placer.loc = tell ? why_move(p->why, &p->e, o, kind, i, v, from, to, rule) : NULL;
  value *r = place_for(&p->placer, v, to, o);
  if (r == v) return;
  op_set_operand(o, i, r);
  p->changed = true;
}

/* ---- ops with a rule ---- */

/* The record's answer, not the rule's: stricter where this partitioner cannot meet a need. */
static u8 *factor_kinds(explicit_pass *p, const part_record *r) {
  u8 *kinds = ARENA_ARRAY(p->e.a, u8, r->rule->num_factors);
  for (u32 f = 0; f < r->rule->num_factors; f++) kinds[f] = (u8)part_factor_kind(r, f);
  return kinds;
}

/* Not those that all of the mesh's devices divide, unless tensors have other sizes. */
static bool *factors_to_pad(explicit_pass *p, const part_record *r, const op *o, const mesh *m) {
  bool *pads = ARENA_ARRAY(p->e.a, bool, r->rule->num_factors);
  for (u32 f = 0; f < r->rule->num_factors; f++) {
    i64 size = r->rule->factors[f].size;
    bool divides = !r->row->windows && size > 0 && size % m->size == 0;
    pads[f] = !divides && part_may_pad(r, o, f);
  }
  return pads;
}

/* Partial products in a narrow format would each be rounded before they are summed; the op can
 * as well deliver them in f32. NULL: it stays as it is. */
static const type *partial_type(const part_env *e, const op *o, const type *t) {
  if (!op_is(o, dot_general) && !op_is(o, dot)) return NULL;
  if (t->elem->kind != TYPE_FLOAT || t->elem->width >= 32) return NULL;
  if (op_attr(o, SLOT_NAME(algorithm))) return NULL;
  return type_tensor(e->c, t->dims, type_float(e->c, FLOAT_f32), t->encoding);
}

/* What an op is going to compute: partial results along `reduce` are summed up right behind it,
 * those along `kept` are left to its users. */
typedef struct partial {
  axis_list reduce, kept;
  unreduced_kind kind;
  const why_rule *rule; /* that it has; NULL: none */
} partial;

/* Gives result i of o the sharding `to`; its users go on with the one it had, if any. */
static void fix_result(explicit_pass *p, op *o, u32 i, const sharding *old, const sharding *to,
                       const partial *part) {
  const part_env *e = &p->e;
  value *v = op_result(o, i), *last = v;
  sharding here = *to;
  here.unreduced = part->kept;
  here.unreduced_kind = part->kind;
  bool moved = !same_place(old, &here);
  if (!moved && !part->reduce.len) return;
  p->changed = true;
  if (moved) part_set_sharding(e, o, i, &here);
  cursor at = cursor_after(e, o);
  const type *t = v->type, *wide = part->reduce.len ? partial_type(e, o, t) : NULL;
  if (wide) v->type = wide;
  if (part->reduce.len) {
    if (part->rule) at.loc = why_factors(p->why, e, part->rule, WHY_SUM, part->reduce);
    last = emit_all_reduce(&at, last, to->mesh, part->reduce, part->kind, &here);
  }
  if (old) {
    if (moved) at.loc = why_move(p->why, e, o, WHY_RESULT_OF, i, v, &here, old, part->rule);
    last = place_at(&p->placer, &at, last, old);
  }
  if (wide) {
    const sharding *s = part_sharding(e, last);
    last = emit(&at, OP_convert, &last, 1, t);
    part_set_sharding(e, last->def.op, 0, s);
  }
  if (last != v) value_replace_except(v, last, o->next); /* the first of what was made */
}

/* As they are now: earlier ops of the walk may have been given others than propagation left. */
static void gather_shardings(explicit_pass *p, const op *o, const sharding **sh,
                             const type **types) {
  for (u32 t = 0; t < o->num_operands + o->num_results; t++) {
    const value *v = op_tensor(o, t);
    sh[t] = part_sharding(&p->e, v);
    types[t] = v->type;
  }
}

static const i64 *elements_of(explicit_pass *p, const type *const *types, u32 n) {
  i64 *sizes = ARENA_ARRAY(p->e.a, i64, n);
  for (u32 t = 0; t < n; t++)
    if (!type_is_ranked(types[t]) || !type_num_elements(types[t], &sizes[t])) sizes[t] = 0;
  return sizes;
}

/* Has any tensor axes along the factor, where it is major in a dimension? */
static bool wants_factor(const axes_problem *prob, u32 f) {
  const rule *r = prob->rule;
  for (u32 t = 0; t < rule_num_tensors(r); t++)
    for (u32 d = 0; d < rule_rank(r, t); d++)
      if (prob->tensors[t] && r->places[r->dim_begin[r->tensor_begin[t] + d]] == f &&
          sharding_dim_size(prob->tensors[t], d) > 1)
        return true;
  return false;
}

/* Where windows of shards would cost as much as whole dimensions, or sizes do not allow any, the
 * factor is whole, and its axes may serve elsewhere. */
static void solve(explicit_pass *p, const part_record *r, const op *o, axes_problem *prob,
                  u8 *kinds, axis_list *axes) {
  for (bool again = true; again;) {
    again = false;
    common_axes(p->e.a, prob, axes);
    for (u32 f = 0; r->row->windows && f < prob->rule->num_factors; f++) {
      i64 parts = axes_size(axes[f]);
      bool fits = parts > 1 ? part_windows_pay(p->e.a, r, o, prob->types, prob->tensors, f, parts)
                            : kinds[f] != FACTOR_PERMUTATION || !wants_factor(prob, f);
      if (fits || kinds[f] == FACTOR_REPLICATE) continue;
      kinds[f] = FACTOR_REPLICATE;
      again = true;
    }
  }
}

/* Whether the op turns sums over these axes into sums over them; marks the operands that must
 * carry them. */
static bool passes_sums(explicit_pass *p, const part_record *r, const op *o,
                        const sharding *const *sh, axis_list axes, bool *carries) {
  if (axes.len == 0 || r->combiner != UNREDUCED_SUM) return false;
  u32 have = 0;
  for (u32 i = 0; i < o->num_operands; i++) {
    carries[i] = sh[i] && sh[i]->unreduced_kind == UNREDUCED_SUM &&
                 axes_difference(p->e.a, axes, sh[i]->unreduced).len == 0;
    have += carries[i];
  }
  return part_passes_sums(r, o, carries, have);
}

static void remark_whole(const explicit_pass *p, const op *o, u32 t, u32 d, const sharding *s) {
  op_remark(p->e.c, o,
            "'" STR_FMT "' op needs dimension %u of operand %u whole, which is in %lld parts",
            STR_ARG(o->info->name), d, t, (long long)sharding_dim_size(s, d));
}

/* Not those whose first factor may be cut, as that of positions of a window. */
static void remark_factors(const explicit_pass *p, const op *o, const axes_problem *prob,
                           const axis_list *axes) {
  const rule *r = prob->rule;
  for (u32 t = 0; t < o->num_operands; t++)
    for (u32 d = 0; prob->tensors[t] && d < rule_rank(r, t); d++) {
      if (sharding_dim_size(common_sharding(p->e.a, prob, t, axes), d) > 1) continue;
      u32 at = r->tensor_begin[t] + d;
      bool whole = false;
      for (u32 k = r->dim_begin[at]; k < r->dim_begin[at + 1]; k++)
        whole |= prob->kinds[r->places[k]] == FACTOR_REPLICATE;
      if (whole && sharding_dim_size(prob->tensors[t], d) > 1)
        remark_whole(p, o, t, d, prob->tensors[t]);
    }
}

/* What somebody reads only to leave it as a sum is left so where it is made, if it is a sum. */
static void ask_for_sum(explicit_pass *p, op *o, const part_record *r, const sharding **sh) {
  const value *v = o->num_results == 1 ? op_result(o, 0) : NULL;
  if (!v || !value_has_one_use(v) || !op_is(v->uses->owner, reshard)) return;
  const sharding *own = part_sharding(&p->e, v);
  const sharding *to = part_sharding(&p->e, op_result(v->uses->owner, 0));
  if (!to || !to->unreduced.len || to->unreduced_kind != r->combiner) return;
  sharding dims = *to;
  dims.unreduced = (axis_list){0};
  p->changed = true;
  bool sums = false;
  for (u32 f = 0; f < r->rule->num_factors; f++) sums |= part_factor_kind(r, f) == FACTOR_REDUCTION;
  if (!sums || !sharding_equivalent(own, &dims)) return;
  part_set_sharding(&p->e, o, 0, to);
  sh[o->num_operands] = to;
}

/* What the op gets from other shards it makes when it becomes local. */
static void note_neighbours(explicit_pass *p, op *o, const part_record *r, const why_rule *rule) {
  axis_list axes = {0};
  for (u32 f = 0; f < r->rule->num_factors; f++)
    if (r->needs[f].kind > NEED_OWN || r->needs[f].low || r->needs[f].high)
      axes = axes_concat(p->e.a, axes, rule->axes[f]);
  if (axes.len) o->loc = why_factors(p->why, &p->e, rule, WHY_NEIGHBOURS, axes);
}

/* What is to become of an op, tensor by tensor. */
typedef struct decision {
  const sharding **to; /* interned; NULL: the op is as it should be */
  partial part;
} decision;

/* Two things in order: the axes that all tensors compute under; what then sums up here, and what is
 * left to the users. A sharding on another mesh has no say in the axes. */
static decision decide(explicit_pass *p, const op *o, const part_record *r,
                       const sharding *const *sh, const type *const *types, const mesh *m,
                       why_rule *rule) {
  arena *a = p->e.a;
  u32 n = rule_num_tensors(r->rule);
  const sharding **here = ARENA_ARRAY(a, const sharding *, n);
  for (u32 t = 0; t < n; t++) here[t] = sh[t] && mesh_same(sh[t]->mesh, m, true) ? sh[t] : NULL;
  const sharding *want = o->num_results ? sh[o->num_operands] : NULL;
  axis_list unreduced = want ? want->unreduced : (axis_list){0};
  u8 *kinds = factor_kinds(p, r);
  axes_problem prob = {.rule = r->rule,
                       .mesh = m,
                       .sizes = elements_of(p, types, n),
                       .kinds = kinds,
                       .tensors = here,
                       .types = types,
                       .pads = factors_to_pad(p, r, o, m),
                       .unreduced = unreduced};
  axis_list *axes = ARENA_ARRAY(a, axis_list, r->rule->num_factors);
  solve(p, r, o, &prob, kinds, axes);
  if (!r->row->windows) axes_heed_result(a, o, &prob, sh, axes);
  if (!r->row->windows) axes_take_cheapest(a, o, &prob, sh, axes);
  if (p->remarks) remark_factors(p, o, &prob, axes);
  axis_list made = axes_reduced(a, &prob, axes);
  *rule = (why_rule){o, r->rule, kinds, axes, sh};
  decision d = {ARENA_ARRAY(a, const sharding *, n), {.kind = r->combiner, .rule = rule}};
  if (!want || want->unreduced_kind != d.part.kind) unreduced = (axis_list){0};
  d.part.reduce = axes_sort_merge(a, axes_difference(a, made, unreduced));
  axis_list passed = axes_difference(a, unreduced, made);
  bool *carries = arena_zalloc(a, o->num_operands);
  if (axes_clash(passed, made) || !passes_sums(p, r, o, sh, passed, carries)) passed.len = 0;
  /* of the axes that are to stay unreduced, those that the op makes or passes on */
  d.part.kept = axes_difference(a, made, d.part.reduce);
  d.part.kept = axes_sort_merge(a, axes_concat(a, d.part.kept, passed));
  for (u32 t = 0; t < n; t++) {
    sharding to = *common_sharding(a, &prob, t, axes);
    if (t < o->num_operands && passed.len && carries[t]) to.unreduced = passed;
    d.to[t] = shard_intern(p->e.space, &to);
  }
  return d;
}

/* Results go from the last to the first, as what is made for each is put right behind the op. */
static void carry_out(explicit_pass *p, op *o, const decision *d, const sharding *const *sh) {
  for (u32 i = 0; i < o->num_operands; i++)
    if (d->to[i] != sh[i]) fix_operand(p, o, i, d->to[i], WHY_OPERAND, d->part.rule);
  for (u32 i = o->num_results; i-- > 0;) {
    u32 t = o->num_operands + i;
    fix_result(p, o, i, sh[t], d->to[t], &d->part);
  }
}

static decision fix_with_rule(explicit_pass *p, op *o, const part_record *r, const sharding **sh,
                              const type *const *types, const mesh *m) {
  why_rule *rule = ARENA_NEW(p->e.a, why_rule);
  ask_for_sum(p, o, r, sh);
  decision d = decide(p, o, r, sh, types, m, rule);
  carry_out(p, o, &d, sh);
  if (p->why) note_neighbours(p, o, r, rule);
  return d;
}

/* No rule: everything is replicated. */
static void fix_replicated(explicit_pass *p, op *o, const sharding **sh, const mesh *m) {
  const partial none = {.kind = UNREDUCED_SUM};
  for (u32 i = 0; i < o->num_operands; i++) {
    for (u32 d = 0; p->remarks && sh[i] && d < sh[i]->rank; d++)
      if (sharding_dim_size(sh[i], d) > 1) remark_whole(p, o, i, d, sh[i]);
    fix_operand(p, o, i, NULL, WHY_OPERAND, NULL);
  }
  for (u32 i = o->num_results; i-- > 0;) {
    value *v = op_result(o, i);
    if (!type_is_ranked(v->type)) continue;
    u32 rank = (u32)v->type->dims.len;
    fix_result(p, o, i, sh[o->num_operands + i], sharding_make_replicated(p->e.a, m, rank, true),
               &none);
  }
}

/* ---- ops like one before ---- */

/* What decides of an op that looks at shapes only: its kind and attributes, and the shardings and
 * types of its tensors. All are interned, so that their addresses do. */
typedef struct settled {
  decision d;
  size_t len;
  const void *words[];
} settled;

/* Others read the values of operands, or what is in their regions. What reads its result may ask
 * for sums. */
static bool may_settle(const explicit_pass *p, const op *o, const sharding *const *sh,
                       const mesh *m) {
  const part_row *row = part_row_of(o);
  if (p->why || p->remarks || o->num_regions || op_kind(o) >= OP_COUNT ||
      !(part_cuts_freely(row) || op_is(o, reshape)) || row->placed != PLACED_BY_RULE)
    return false;
  for (u32 t = 0; t < o->num_operands + o->num_results; t++)
    if (sh[t] && sh[t]->mesh != m) return false;
  const value *v = o->num_results ? op_result(o, 0) : NULL;
  return !v || !value_has_one_use(v) || !op_is(v->uses->owner, reshard);
}

static u64 rotate(u64 x) { return x << 29 | x >> 35; }

/* In the pass's arena. */
static settled *settled_key(const explicit_pass *p, const op *o, const sharding *const *sh,
                            const type *const *types, u64 *hash) {
  u32 n = o->num_operands + o->num_results;
  size_t len = 3 + o->info->num_slots + 2 * (size_t)n;
  settled *k = arena_alloc(p->e.a, sizeof *k + len * sizeof *k->words);
  const void **w = k->words;
  k->len = len;
  *w++ = o->info;
  for (u32 i = 0; i < o->info->num_slots; i++) *w++ = o->slots[i];
  *w++ = op_discardable(o, SDY_SHARDING_RULE);
  for (u32 t = 0; t < n; t++) *w++ = sh[t], *w++ = types[t];
  *w++ = (const void *)axes_own_operands(o);
  *hash = o->num_operands;
  for (size_t i = 0; i < len; i++)
    *hash = rotate(*hash ^ (u64)(uintptr_t)k->words[i]) * 0x9e3779b97f4a7c15u;
  *hash ^= *hash >> 32; /* indices go by the low bits */
  return k;
}

static const settled *find_settled(const explicit_pass *p, const settled *k, u64 hash) {
  const settled *s;
  for (size_t at = 0; (s = index_next(&p->settled, hash, &at));)
    if (s->len == k->len && !memcmp(s->words, k->words, k->len * sizeof *k->words)) return s;
  return NULL;
}

static axis_list kept_axes(arena *a, axis_list l) {
  return (axis_list){arena_copy(a, l.data, l.len * sizeof *l.data), l.len};
}

static void settle(explicit_pass *p, const op *o, const settled *key, u64 hash, decision d) {
  arena *a = p->placer.keep;
  u32 n = o->num_operands + o->num_results;
  settled *k = arena_copy(a, key, sizeof *k + key->len * sizeof *k->words);
  k->d = d;
  k->d.part.rule = NULL;
  k->d.part.reduce = kept_axes(a, d.part.reduce);
  k->d.part.kept = kept_axes(a, d.part.kept);
  k->d.to = p->changed ? arena_copy(a, d.to, n * sizeof *d.to) : NULL;
  index_add(&p->settled, a, hash, k);
}

/* Nothing to do where all is replicated: every device computes the whole. */
static void fix_op(explicit_pass *p, op *o) {
  arena *a = p->e.a;
  u32 n = o->num_operands + o->num_results;
  const sharding **sh = ARENA_ARRAY(a, const sharding *, n);
  const type **types = ARENA_ARRAY(a, const type *, n);
  gather_shardings(p, o, sh, types);
  const mesh *m = most_common_mesh(sh, n);
  if (!m) return;
  u64 hash = 0;
  settled *key = may_settle(p, o, sh, m) ? settled_key(p, o, sh, types, &hash) : NULL;
  const settled *before = key ? find_settled(p, key, hash) : NULL;
  if (before) {
    if (before->d.to) carry_out(p, o, &before->d, sh);
    return;
  }
  p->changed = false;
  part_record r;
  p->ok = part_record_make(a, &p->rules, o, &r);
  if (!p->ok) return;
  if (!r.rule) {
    fix_replicated(p, o, sh, m);
    return;
  }
  decision d = fix_with_rule(p, o, &r, sh, types, m);
  if (key) settle(p, o, key, hash, d);
}

/* ---- data flow ---- */

/* Operands of `at`, the op with edges or the end of a region of it, that are sources. */
typedef struct sources {
  const explicit_pass *p;
  op *o, *at;
  value *owner;
  const sharding **to;
  bool *on_edge;
} sources;

static void note_source(void *user, use *u) {
  sources *s = user;
  if (u->owner != s->at) return;
  size_t i = (size_t)(u - u->owner->operands);
  s->to[i] = part_at_sources(&s->p->e, s->o, s->owner);
  s->on_edge[i] = true;
}

static void note_sources(sources *s, value *owner) {
  if (!part_owns_edge(s->o, owner)) return;
  s->owner = owner;
  op_flow(s->o)->each_source(s->o, owner, note_source, s);
}

/* What no edge has is whole: an operand, such as the index of a case, or a condition. What a region
 * of a foreign op yields without an edge nobody can judge. */
static void fix_sources(explicit_pass *p, op *o, op *at) {
  sources s = {p,
               o,
               at,
               NULL,
               arena_zalloc(p->e.a, at->num_operands * sizeof *s.to),
               arena_zalloc(p->e.a, at->num_operands)};
  block *b = flow_owner_block(o);
  for (u32 i = 0; i < o->num_results; i++) note_sources(&s, op_result(o, i));
  for (u32 i = 0; b && i < b->num_args; i++) note_sources(&s, b->args[i]);
  for (u32 i = 0; i < at->num_operands; i++)
    if (s.on_edge[i] || o == at || op_kind(o) < OP_COUNT)
      fix_operand(p, at, i, s.to[i], o == at ? WHY_FLOW : WHY_END, NULL);
}

/* What a region or a function returns goes where the results of the op or function are; the walk
 * has been at the op before it comes to its regions. */
static void fix_terminator(explicit_pass *p, op *o) {
  op *parent = op_parent(o);
  if (parent && op_flow(parent)) {
    fix_sources(p, parent, o);
    return;
  }
  for (u32 i = 0; parent && i < o->num_operands; i++) {
    const sharding *to = NULL;
    if (op_is(parent, func))
      to = shard_read(p->e.space, func_sharding(parent, FUNC_RESULTS, i));
    else if (i < parent->num_results)
      to = part_sharding(&p->e, op_result(parent, i));
    fix_operand(p, o, i, to, WHY_END, NULL);
  }
}

/* An op without edges of its own, such as an if, takes what is whole. */
static void fix_by_edges(explicit_pass *p, op *o) {
  if (op_flow(o)) {
    fix_sources(p, o, o);
    return;
  }
  for (u32 i = 0; i < o->num_operands; i++) fix_operand(p, o, i, NULL, WHY_OPERAND, NULL);
}

/* A reshard that the user wrote: sums before it, or after. */
static void fix_reshard(explicit_pass *p, op *o) {
  const sharding *to = part_sharding(&p->e, op_result(o, 0));
  const sharding *from = part_sharding(&p->e, op_operand(o, 0));
  if (p->why)
    o->loc = why_move(p->why, &p->e, o, WHY_CONSTRAINT, 0, op_operand(o, 0), from, to, NULL);
  if (to && (to->unreduced.len || (from && from->unreduced.len)))
    fix_operand(p, o, 0, to, WHY_CONSTRAINT, NULL);
}

/* Propagation is over; its operand goes on under the result's sharding. */
static void fix_barrier(explicit_pass *p, op *o) {
  fix_operand(p, o, 0, part_sharding(&p->e, op_result(o, 0)), WHY_CONSTRAINT, NULL);
}

/* Each device has what it has of each operand, but of sums. */
static void fix_sums(explicit_pass *p, op *o) {
  for (u32 i = 0; i < o->num_operands; i++) {
    const sharding *s = part_sharding(&p->e, op_operand(o, i));
    if (!s || !s->unreduced.len) continue;
    sharding to = *s;
    to.unreduced = (axis_list){0};
    fix_operand(p, o, i, &to, WHY_OPERAND, NULL);
  }
}

/* A constant is the whole on every device, whatever its sharding says. */
static void fix_source(explicit_pass *p, op *o) {
  for (u32 i = 0; i < o->num_results; i++) {
    const sharding *old = part_sharding(&p->e, op_result(o, i));
    const partial none = {.kind = UNREDUCED_SUM};
    if (old && old->unreduced.len) fix_result(p, o, i, old, old, &none);
  }
}

/* ---- the walk ---- */

static void fix_nothing(explicit_pass *p, op *o) { (void)p, (void)o; }

typedef void explicit_fn(explicit_pass *p, op *o);
static explicit_fn *const explicit_of[] = {
    [PLACED_BY_RULE] = fix_op,        [PLACED_BY_EDGES] = fix_by_edges,
    [PLACED_AT_END] = fix_terminator, [PLACED_AS_IS] = fix_nothing,
    [PLACED_MADE] = fix_source,       [PLACED_ON_REQUEST] = fix_reshard,
    [PLACED_AS_RESULT] = fix_barrier, [PLACED_WHEREVER] = fix_sums,
};

/* Reduction bodies and the like work on scalars. */
static bool has_flow_body(const op *o) {
  return op_is(o, module) || op_is(o, func) || op_kind(o) >= OP_COUNT ||
         o->info->family == FAMILY_region;
}

/* In order, so that what makes an op's operands has been fixed before the op is. What is made for
 * it stands before it or right behind it, where the walk does not come any more (FOR_OPS). The
 * arena is emptied after each op; shardings in the space and what `placer` remembers live longer.
 */
static void fix_block(explicit_pass *p, block *b) {
  FOR_OPS(o, b) {
    explicit_of[part_row_of(o)->placed](p, o);
    arena_reset(p->e.a);
    if (!p->ok) return;
    if (!has_flow_body(o)) continue;
    for (u32 r = 0; r < o->num_regions; r++)
      for (block *in = o->regions[r].first; in && p->ok; in = in->next) fix_block(p, in);
  }
}

/* ---- tidying up ---- */

/* No device needs what it does not have. */
static bool is_slice(const sharding *from, const sharding *to, const type *t) {
  if (to->unreduced.len || (from && from->unreduced.len)) return false;
  if (sharding_is_replicated(from)) return true;
  if (!mesh_same(from->mesh, to->mesh, false)) return false;
  for (u32 d = 0; d < to->rank; d++)
    if (axes_prefix_of(from->dims[d].axes, to->dims[d].axes) == AXES_NOT_PREFIX) return false;
  return sharding_steps(from, to, t->dims.data);
}

/* Of what a value was before it was moved to where it is, the first from which a slice leads to
 * `to`; the value itself where there is none. */
static value *before_moves(const part_env *e, value *v, const sharding *to) {
  value *best = v;
  for (op *def = value_op(v); def && op_is(def, reshard); def = value_op(v)) {
    v = op_operand(def, 0);
    if (is_slice(part_sharding(e, v), to, v->type)) best = v;
  }
  return best;
}

/* o takes over v, which reshards between had moved on: what is left serves whom they served. */
static void skip_to(const explicit_pass *p, op *o, value *v) {
  for (value *at = op_operand(o, 0); p->why && at != v; at = op_operand(value_op(at), 0))
    o->loc = why_join(p->why, p->e.c, o->loc, value_op(at)->loc);
  op_set_operand(o, 0, v);
}

/* Reshards of reshards that nothing else uses are one; those that nothing uses are none. */
static walk_result tidy(void *user, op *o) {
  explicit_pass *p = user;
  if (op_is(o, reshard)) {
    const sharding *to = part_sharding(&p->e, op_result(o, 0));
    skip_to(p, o, before_moves(&p->e, op_operand(o, 0), to));
    value *v = op_operand(o, 0);
    op *def = value_op(v);
    if (def && op_is(def, reshard) && value_has_one_use(v) &&
        mesh_same(part_sharding(&p->e, v)->mesh, to->mesh, true))
      skip_to(p, o, op_operand(def, 0));
    v = op_operand(o, 0);
    if (same_place(part_sharding(&p->e, v), to)) value_replace(op_result(o, 0), v);
  }
  return WALK_ON;
}

bool part_insert_explicit_reshards(ir_module *m, arena *scratch, const pass_args *args) {
  explicit_pass p = {.e = part_env_make(m, scratch), .ok = true};
  p.why = why_of(args);
  p.remarks = pass_option_flag(args, STR("remarks"), false);
  if (!part_has_mesh(&p.e)) return true;
  p.e.a = ir_scratch_push(m->ctx);
  p.placer.e = &p.e;
  p.placer.keep = scratch;
  rule_set_init(&p.rules, m->ctx, scratch, false);
  p.rules.extra = true; /* whatever propagation made of them */
  p.rules.apart = true;
  fix_block(&p, op_body(m->root, 0));
  ir_scratch_pop(m->ctx);
  p.e.a = scratch;
  if (!p.ok) return false;
  op_walk(m->root, tidy, &p);
  ops_erase_dead(m->root, DEAD_BY_ROW);
  return shard_space_check(p.e.space);
}
