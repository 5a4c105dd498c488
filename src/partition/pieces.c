/* terrazzo-join-slices: concatenations of sharded dimensions as calls on what their operands are
 * slices of (pieces.h), and slices of what is padded as pads. What stood between them need not have
 * even shards. */
#include "partition/pieces.h"

#include "dialect/effects.h"
#include "partition/env.h"
#include "partition/local.h"
#include "partition/passes.h"

#define TARGET "terrazzo.pieces"
enum { NUMBERS = 3 }; /* of an operand */

/* ---- the call ---- */

static i64 number(const op *o, size_t i) {
  const dense_array_attr *d = attr_as(dense_array, op_discardable(o, STR(TARGET)));
  i64 n;
  memcpy(&n, d->data.data + i * sizeof n, sizeof n);
  return n;
}

u32 pieces_dim(const op *o) { return (u32)number(o, 0); }

piece pieces_get(const op *o, u32 i) {
  piece p = {0};
  for (u32 k = 0; k < i; k++) p.at += number(o, 2 + NUMBERS * k);
  p.start = number(o, 1 + NUMBERS * i);
  p.size = number(o, 2 + NUMBERS * i);
  p.cut = number(o, 3 + NUMBERS * i) != 0;
  return p;
}

static bool is_static(const type *t) {
  return type_is_tensor(t) && type_is_ranked(t) && !i64s_contain(t->dims, DYNAMIC);
}

/* Like the result, but for its size along dimension d. */
static bool is_part(const type *t, const type *of, i64 d) {
  if (!is_static(t) || t->elem != of->elem || t->dims.len != of->dims.len) return false;
  for (size_t k = 0; k < t->dims.len; k++)
    if ((i64)k != d && t->dims.data[k] != of->dims.data[k]) return false;
  return t->dims.data[d] > 0;
}

/* Whether whole types are those of the numbers. */
static bool fits(const op *o) {
  const type *t = op_result(o, 0)->type;
  i64 d = number(o, 0), left = 0;
  if (!is_static(t) || d >= (i64)t->dims.len) return false;
  left = t->dims.data[d];
  for (u32 i = 0; i < o->num_operands; i++) {
    const type *in = op_operand(o, i)->type;
    piece p = pieces_get(o, i);
    if (!is_part(in, t, d) || p.start >= in->dims.data[d] || p.size > left) return false;
    left -= p.size;
  }
  return left == 0;
}

bool pieces_is(const op *o) {
  str target;
  const attr *numbers = op_is(o, custom_call) ? op_discardable(o, STR(TARGET)) : NULL;
  const dense_array_attr *d = attr_as(dense_array, numbers);
  if (!d || d->elem->kind != TYPE_INT || d->elem->width != 64 || o->num_results != 1 ||
      !o->num_operands || d->data.len != (1 + (size_t)NUMBERS * o->num_operands) * sizeof(i64) ||
      !attr_get_str(op_attr(o, SLOT_NAME(call_target_name)), &target) || !str_is(target, TARGET))
    return false;
  for (u32 i = 0; i < o->num_operands; i++) {
    i64 start = number(o, 1 + NUMBERS * i), size = number(o, 2 + NUMBERS * i);
    if (start < 0 || size < 1 || start > INT32_MAX || size > INT32_MAX) return false;
  }
  return number(o, 0) >= 0;
}

/* Operands that are whole along the dimension have a factor of their own there. */
static const rule *rule_pieces(rule_builder *b, const op *o) {
  if (!fits(o)) return NULL;
  i64s out = rule_result_shape(b, 0);
  i64 *dims = ARENA_ARRAY(b->a, i64, o->num_operands);
  for (i64 d = 0; d < (i64)out.len; d++) {
    bool along = d == pieces_dim(o);
    for (u32 i = 0; i < o->num_operands; i++) dims[i] = along && !pieces_get(o, i).cut ? NO_DIM : d;
    rule_factor(b, dims, &d, out.data[d], along ? FACTOR_PERMUTATION : FACTOR_PASS, false);
  }
  i64 d = pieces_dim(o), none = NO_DIM;
  for (u32 i = 0; i < o->num_operands; i++) {
    if (pieces_get(o, i).cut) continue;
    for (u32 k = 0; k < o->num_operands; k++) dims[k] = k == i ? d : NO_DIM;
    rule_factor(b, dims, &none, rule_shape(b, i).data[d], FACTOR_REPLICATE, false);
  }
  return rule_end(b);
}

static bool windows_pieces(const op *o, const type *const *types, u32 t, u32 d, i64 parts,
                           shard_window *w) {
  i64 out = types[o->num_operands]->dims.data[d];
  piece p = pieces_get(o, t);
  *w = window_own(types[t]->dims.data[d], parts);
  if (d != pieces_dim(o)) return true;
  w->step = w->length = div_ceil_i64(out, parts);
  w->begin = p.start - p.at;
  w->wraps = piece_wraps(&p, w->size);
  w->first = p.start;
  w->last = p.start + p.size;
  return window_is_near(w) && !(w->wraps && w->size % parts);
}

/* ---- the call on shards ---- */

/* What elements `low` to `high` of v along d are, around its end as often as need be. */
static value *whole_piece(local *l, cursor *at, value *v, u32 d, const piece *p) {
  i64 size = v->type->dims.data[d];
  VEC(value *) list = {0};
  for (i64 from = p->start, left = p->size; left; from = 0) {
    i64 n = min_i64(left, size - from);
    value *x = local_cut(l, at, v, d, from, from + n);
    VEC_PUSH(l->e.a, list, x);
    left -= n;
  }
  return local_join(at, list.data, list.len, d);
}

/* The shard's part of a piece of a value that it has as a whole: of that, with a shard's length in
 * front and behind. */
static value *part_of_whole(local *l, cursor *at, value *v, const sharding *s, u32 d,
                            const piece *p, i64 parts, i64 shard) {
  piece all = *p;
  v = whole_piece(l, at, v, d, &all);
  value *room = emit_zeros(at, local_resized(l, v->type, d, shard));
  v = local_join(at, (value *[]){room, v, room}, 3, d);
  const shard_window w = {.size = parts * shard,
                          .shard = shard,
                          .parts = parts,
                          .step = shard,
                          .begin = shard - p->at,
                          .divisor = 1,
                          .length = shard};
  return local_take(l, at, v, d, local_window_start(l, at, s, d, &w), shard);
}

static bool join_whole(local *l, op *o, u32 d) {
  cursor at = cursor_before(&l->e, o);
  value **list = ARENA_ARRAY(l->e.a, value *, o->num_operands);
  for (u32 i = 0; i < o->num_operands; i++) {
    piece p = pieces_get(o, i);
    list[i] = whole_piece(l, &at, op_operand(o, i), d, &p);
  }
  value *v = local_join(&at, list, o->num_operands, d);
  if (v->num == UINT32_MAX)
    part_replace(op_result(o, 0), v);
  else
    value_replace(op_result(o, 0), v);
  op_erase(o);
  return true;
}

/* Otherwise its record is known to fit. */
static bool is_whole(const local *l, const op *o) {
  bool whole = local_whole_type(l, op_result(o, 0)) == l->to[op_result(o, 0)->num];
  for (u32 i = 0; i < o->num_operands; i++)
    whole &= local_whole_type(l, op_operand(o, i)) == op_operand(o, i)->type;
  return whole;
}

/* Each operand's window, one over the other. */
static bool local_pieces(local *l, op *o) {
  u32 d = pieces_dim(o);
  const value *r = op_result(o, 0);
  const sharding *s = local_sharding(l, r);
  if (is_whole(l, o) && !fits(o)) return op_error(l->e.c, o, "has malformed attributes");
  i64 parts = local_parts(l, r, d);
  if (parts == 1) return join_whole(l, o, d);
  i64 shard = l->to[r->num]->dims.data[d];
  const type **types = local_whole_types(l, o);
  cursor at = cursor_before(&l->e, o);
  const shard_window own = {
      .size = parts * shard, .shard = shard, .parts = parts, .step = shard, .divisor = 1};
  value *v = NULL, *start = NULL;
  for (u32 i = 0; i < o->num_operands; i++) {
    piece p = pieces_get(o, i);
    value *x = op_operand(o, i);
    if (local_parts(l, x, d) == 1)
      x = part_of_whole(l, &at, x, s, d, &p, parts, shard);
    else if (local_read(l, o, types, windows_pieces, i, NULL))
      x = op_operand(o, i);
    else
      return false;
    if (i && !start) start = local_window_start(l, &at, s, d, &own);
    value *within = i ? local_places_within(&at, start, shard, p.at, p.at + p.size) : NULL;
    v = i ? local_select_along(&at, d, within, x, v) : x;
  }
  part_replace(op_result(o, 0), v);
  op_erase(o);
  return true;
}

const part_row part_pieces_row = {.placed = PLACED_BY_RULE,
                                  .cut = CUT_AS_RULED,
                                  .linear = LINEAR_ALL,
                                  .padding = PADDING_ANY,
                                  .local = local_pieces,
                                  .windows = windows_pieces,
                                  .rule = rule_pieces};

/* ---- the pass ---- */

typedef struct part {
  value *v;
  i64 start, size;
  bool cut;
} part;
typedef VEC(part) part_list;

static i64 parts_along(const part_env *e, const value *v, i64 d) {
  const sharding *s = part_sharding(e, v);
  return s && d < (i64)s->rank ? sharding_dim_size(s, (u32)d) : 1;
}

/* What v is a slice of along d, in steps of 1, and of nothing else; or v. */
static part part_of(const part_env *e, value *v, i64 d) {
  part p = {v, 0, v->type->dims.data[d], false};
  const op *o = value_op(v);
  struct slice_attrs a;
  if (o && op_is(o, slice) && view_slice(o, &a)) {
    value *x = op_operand(o, 0);
    i64s dims = x->type->dims;
    bool along = parts_along(e, x, d) > 1 && a.strides.data[d] == 1;
    for (size_t k = 0; k < dims.len; k++)
      along &= (i64)k == d || dims.data[k] == v->type->dims.data[k];
    if (along) p = (part){x, a.start_indices.data[d], p.size, true};
  }
  i64 parts = parts_along(e, p.v, d), size = p.v->type->dims.data[d];
  p.cut = parts > 1 && (parts - 1) * div_ceil_i64(size, parts) < size; /* all have some of it */
  return p;
}

/* One after the other in one value are one, around its end too where that is a shard's end. */
static void add_part(const part_env *e, part_list *list, part p, i64 d) {
  part *last = list->len ? &list->data[list->len - 1] : NULL;
  i64 size = p.v->type->dims.data[d], end = last ? last->start + last->size : 0;
  bool around = p.cut && size % parts_along(e, p.v, d) == 0;
  if (last && last->v == p.v && p.cut && (around ? end % size : end) == p.start)
    last->size += p.size;
  else
    VEC_PUSH(e->a, *list, p);
}

/* The parts one after the other, in front of the op and in place of its result. */
static value *joined(const part_env *e, op *o, const part_list *list, i64 d) {
  ir_ctx *c = e->c;
  value **in = ARENA_ARRAY(e->a, value *, list->len);
  i64 *numbers = ARENA_ARRAY(e->a, i64, 1 + NUMBERS * list->len), *n = numbers;
  *n++ = d;
  for (size_t i = 0; i < list->len; i++) {
    in[i] = list->data[i].v;
    *n++ = list->data[i].start;
    *n++ = list->data[i].size;
    *n++ = list->data[i].cut;
  }
  cursor at = cursor_before(e, o);
  value *v = emit(&at, OP_custom_call, in, list->len, op_result(o, 0)->type);
  op_set(v->def.op, custom_call, call_target_name, attr_string(c, STR(TARGET)));
  op_set_attr(e->m, v->def.op, STR(TARGET),
              attr_i64_array(c, (i64s){numbers, (size_t)(n - numbers)}));
  const sharding *s = part_sharding(e, op_result(o, 0));
  if (s) part_set_sharding(e, v->def.op, 0, s);
  return v;
}

static void join_concatenate(const part_env *e, op *o) {
  struct concatenate_attrs a;
  if (!view_concatenate(o, &a) || op_discardable(o, SDY_SHARDING_RULE) ||
      !is_static(op_result(o, 0)->type))
    return;
  bool any = false;
  part_list list = {0};
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = op_operand(o, i);
    if (!is_static(v->type)) return;
    if (!v->type->dims.data[a.dimension]) continue;
    part p = part_of(e, v, a.dimension);
    any |= p.cut;
    add_part(e, &list, p, a.dimension);
  }
  if (any) value_replace(op_result(o, 0), joined(e, o, &list, a.dimension));
}

/* A slice of what was padded is padded by less, perhaps by less than nothing. */
static void join_pad(const part_env *e, op *o) {
  const op *def = value_op(op_operand(o, 0));
  struct slice_attrs s;
  struct pad_attrs p;
  if (!def || !op_is(def, pad) || !view_pad(def, &p) || !view_slice(o, &s) ||
      op_discardable(o, SDY_SHARDING_RULE))
    return;
  const value *in = op_operand(def, 0);
  size_t rank = s.strides.len;
  i64 *low = ARENA_ARRAY(e->a, i64, rank), *high = ARENA_ARRAY(e->a, i64, rank);
  bool any = false;
  if (!is_static(in->type) || !is_static(op_result(o, 0)->type)) return;
  for (size_t d = 0; d < rank; d++) {
    i64 begin = p.edge_padding_low.data[d], size = in->type->dims.data[d];
    low[d] = begin - s.start_indices.data[d];
    high[d] = s.limit_indices.data[d] - begin - size;
    if (s.strides.data[d] != 1 || p.interior_padding.data[d]) return;
    if (low[d] <= -size || high[d] <= -size) return; /* all of it is padding */
    any |= parts_along(e, in, (i64)d) > 1 && (begin || p.edge_padding_high.data[d]);
  }
  if (!any) return;
  cursor at = cursor_before(e, o);
  value *v = emit(&at, OP_pad, (value *[]){op_operand(def, 0), op_operand(def, 1)}, 2,
                  op_result(o, 0)->type);
  op_set(v->def.op, pad, edge_padding_low, attr_i64_array(e->c, (i64s){low, rank}));
  op_set(v->def.op, pad, edge_padding_high, attr_i64_array(e->c, (i64s){high, rank}));
  op_set(v->def.op, pad, interior_padding, attr_i64_array(e->c, p.interior_padding));
  const sharding *sh = part_sharding(e, op_result(o, 0));
  if (sh) part_set_sharding(e, v->def.op, 0, sh);
  value_replace(op_result(o, 0), v);
}

static part filling(const part_env *e, op *o, value *fill, i64 d, i64 size) {
  const type *t = op_result(o, 0)->type;
  i64 *dims = arena_copy(e->a, t->dims.data, t->dims.len * sizeof *dims);
  dims[d] = size;
  cursor at = cursor_before(e, o);
  value *v =
      emit(&at, OP_broadcast_in_dim, &fill, 1, type_with_dims(e->c, t, (i64s){dims, t->dims.len}));
  op_set(v->def.op, broadcast_in_dim, broadcast_dimensions, attr_i64_array(e->c, (i64s){0}));
  return (part){v, 0, size, false};
}

typedef struct padded {
  part x;
  i64 low, high; /* at least 0 */
} padded;

/* The dimension along which the op pads a part, and only that; -1: it is no such op. */
static i64 padded_dim(const part_env *e, const op *o, padded *out) {
  struct pad_attrs p;
  i64 d = -1;
  if (!op_is(o, pad) || !view_pad(o, &p) || op_discardable(o, SDY_SHARDING_RULE) ||
      !is_static(op_result(o, 0)->type) || !is_static(op_operand(o, 0)->type))
    return -1;
  for (size_t k = 0; k < p.interior_padding.len; k++) {
    if (p.interior_padding.data[k]) return -1;
    if (!p.edge_padding_low.data[k] && !p.edge_padding_high.data[k]) continue;
    if (d >= 0) return -1;
    d = (i64)k;
  }
  if (d < 0 || !op_operand(o, 0)->type->dims.data[d]) return -1;
  *out = (padded){part_of(e, op_operand(o, 0), d), p.edge_padding_low.data[d],
                  p.edge_padding_high.data[d]};
  return out->low < 0 || out->high < 0 ? -1 : d;
}

/* A slice along one dimension that is padded along it, as in the gradient of a rotation: pieces of
 * padding around a piece of what is sliced, where they are less than a shard. */
static void join_padded_slice(const part_env *e, op *o) {
  padded p;
  i64 d = padded_dim(e, o, &p);
  if (d < 0 || !p.x.cut || p.x.v == op_operand(o, 0)) return;
  i64 shard = p.x.v->type->dims.data[d] / parts_along(e, p.x.v, d);
  if (p.low > shard || p.high > shard) return;
  part_list list = {0};
  if (p.low) VEC_PUSH(e->a, list, filling(e, o, op_operand(o, 1), d, p.low));
  VEC_PUSH(e->a, list, p.x);
  if (p.high) VEC_PUSH(e->a, list, filling(e, o, op_operand(o, 1), d, p.high));
  value_replace(op_result(o, 0), joined(e, o, &list, d));
}

enum { MAX_SUMMANDS = 16 };
typedef struct summands {
  padded of[MAX_SUMMANDS];
  u32 count;
  i64 dim;     /* -1: none seen yet */
  value *zero; /* what fills the first */
} summands;

/* Gathers parts padded by zeros along one dimension, in the order of their places; false: there
 * is something else, or two that overlap. */
static bool gather_summands(const part_env *e, const value *v, summands *s) {
  const op *o = value_op(v);
  padded p;
  if (!o || !value_has_one_use(v)) return false;
  if (op_is(o, add) && !op_discardable(o, SDY_SHARDING_RULE))
    return gather_summands(e, op_operand(o, 0), s) && gather_summands(e, op_operand(o, 1), s);
  i64 d = padded_dim(e, o, &p);
  if (d < 0 || (s->dim >= 0 && d != s->dim) || s->count == MAX_SUMMANDS ||
      !local_is_zero(op_operand(o, 1)))
    return false;
  s->dim = d;
  if (!s->zero) s->zero = op_operand(o, 1);
  u32 i = s->count++;
  for (; i && s->of[i - 1].low > p.low; i--) s->of[i] = s->of[i - 1];
  s->of[i] = p;
  if (i && s->of[i - 1].low + s->of[i - 1].x.size > p.low) return false;
  return i + 1 == s->count || p.low + p.x.size <= s->of[i + 1].low;
}

/* The sum of slices padded to places that do not overlap, as in the gradient of a concatenation or
 * rotation: the slices in their order. Zero is still added to them, since it makes of -0 a 0. */
static void join_sum_of_pads(const part_env *e, op *o) {
  summands s = {.dim = -1};
  bool any = false;
  if (!op_is(o, add) || op_discardable(o, SDY_SHARDING_RULE) ||
      !gather_summands(e, op_operand(o, 0), &s) || !gather_summands(e, op_operand(o, 1), &s))
    return;
  i64 at = 0, end = op_result(o, 0)->type->dims.data[s.dim];
  part_list list = {0};
  for (u32 i = 0; i < s.count; i++) any |= s.of[i].x.cut;
  if (!any) return;
  for (u32 i = 0; i < s.count; i++) {
    const padded *p = &s.of[i];
    if (p->low > at) VEC_PUSH(e->a, list, filling(e, o, s.zero, s.dim, p->low - at));
    add_part(e, &list, p->x, s.dim);
    at = p->low + p->x.size;
  }
  if (at < end) VEC_PUSH(e->a, list, filling(e, o, s.zero, s.dim, end - at));
  op_set_operand(o, 0, joined(e, o, &list, s.dim));
  value *zeros = filling(e, o, s.zero, s.dim, end).v;
  const sharding *sh = part_sharding(e, op_result(o, 0));
  if (sh) part_set_sharding(e, zeros->def.op, 0, sh);
  op_set_operand(o, 1, zeros);
}

static walk_result join_sums(void *user, op *o) {
  join_sum_of_pads(user, o);
  return WALK_ON;
}

static walk_result join_scatters(void *user, op *o) {
  pieces_join_scatter(user, o);
  return WALK_ON;
}

static walk_result join_slices(void *user, op *o) {
  if (op_is(o, concatenate)) join_concatenate(user, o);
  if (op_is(o, slice)) join_pad(user, o);
  if (op_is(o, pad)) join_padded_slice(user, o);
  pieces_join_pads(user, o);
  return WALK_ON;
}

bool part_join_slices(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  part_env e = part_env_make(m, scratch);
  bool may = module_may_have(m, pad) || module_may_have(m, concatenate) ||
             module_may_have(m, select_and_scatter) || module_may_have(m, scatter);
  if (!part_has_mesh(&e) || !may) return true;
  op_walk(m->root, join_sums, &e);
  if (module_may_have(m, scatter)) op_walk_post(m->root, join_scatters, &e);
  ops_erase_dead(m->root, DEAD_BY_ROW); /* the pads that were added */
  op_walk(m->root, join_slices, &e);
  ops_erase_dead(m->root, DEAD_BY_ROW);
  return shard_space_check(e.space);
}
