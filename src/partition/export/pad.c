/* sdy-pad-for-divisibility: values that their shardings do not divide get so many elements more
 * that they do, at the end of each dimension.
 *
 * Nobody says what these elements are, but for zeros: those that a pad put there, and what
 * collectives make of them. Where an op adds up along a padded dimension, anything else is replaced
 * by zeros first. Sizes change at collectives: what is sliced is padded before, what is gathered is
 * cut to its size after. Signatures of functions must divide.
 *
 * As in Shardy (openxla/shardy, pad_for_divisibility.cc), whose users see the same program. There
 * it is a conversion of types, which fails where an op and a user of its do not agree; here types
 * change in place, in order, and the op is named. */
#include "dialect/dialect.h"
#include "partition/mask.h"
#include "partition/passes.h"

typedef struct padded {
  const type *from; /* the type before */
  bool zeros;       /* what it has beyond that is known to be zero */
} padded;

typedef struct pad_pass {
  part_env e;
  VEC(padded) values; /* by value.num */
} pad_pass;

static padded *info_of(pad_pass *p, const value *v) { return &p->values.data[v->num]; }

static value *number(pad_pass *p, value *v, const type *from, bool zeros) {
  v->num = (u32)p->values.len;
  VEC_PUSH(p->e.a, p->values, ((padded){from, zeros}));
  return v;
}

static const type *divisible(const part_env *e, const type *t, const sharding *s) {
  if (!s || !type_is_ranked(t) || s->rank != t->dims.len) return t;
  i64 *dims = arena_copy(e->a, t->dims.data, s->rank * sizeof(*dims));
  for (u32 d = 0; d < s->rank; d++) {
    i64 parts = sharding_dim_size(s, d), more;
    if (dims[d] == DYNAMIC || dims[d] % parts == 0) continue;
    if (checked_add(dims[d], parts - dims[d] % parts, &more)) dims[d] = more;
  }
  return type_with_dims(e->c, t, (i64s){dims, s->rank});
}

/* The type that users of a value, and whoever makes it, take it to have. */
static const type *expected(pad_pass *p, const value *v) {
  return divisible(&p->e, info_of(p, v)->from, part_sharding(&p->e, v));
}

static bool is_padded(pad_pass *p, const value *v) { return v->type != info_of(p, v)->from; }

static i64s with_dim(const part_env *e, i64s dims, u32 d, i64 size) {
  i64 *r = arena_copy(e->a, dims.data, dims.len * sizeof(*r));
  r[d] = size;
  return (i64s){r, dims.len};
}

/* ---- masks ---- */

/* v, an operand that was of type `from`, with `fill` in place of what it has beyond that along the
 * listed dimensions (all: NULL). */
static value *filled(pad_pass *p, cursor *at, value *v, const type *from, const i64s *dims,
                     value *fill) {
  bool *padded = ARENA_ARRAY(p->e.a, bool, v->type->dims.len), any = false;
  for (u32 d = 0; d < v->type->dims.len; d++) {
    padded[d] = from->dims.data[d] != v->type->dims.data[d] && (!dims || i64s_contain(*dims, d));
    any |= padded[d];
  }
  if (!any) return v;
  if (!fill) fill = emit_zeros(at, type_tensor(p->e.c, (i64s){0}, v->type->elem, NULL));
  return number(p, emit_masked(at, v, from->dims.data, padded, fill), from, false);
}

static void fill_zeros(pad_pass *p, op *o, u32 i, i64s dims) {
  value *v = op_operand(o, i);
  const padded *was = info_of(p, v);
  cursor at = cursor_before(&p->e, o);
  if (!was->zeros) op_set_operand(o, i, filled(p, &at, v, was->from, &dims, NULL));
}

/* ---- ops at large ---- */

static const type *larger(const part_env *e, const type *a, const type *b) {
  if (!type_is_ranked(a) || !type_is_ranked(b) || a->dims.len != b->dims.len) return b;
  i64 *dims = arena_copy(e->a, a->dims.data, a->dims.len * sizeof(*dims));
  for (size_t d = 0; d < a->dims.len; d++) dims[d] = max_i64(dims[d], b->dims.data[d]);
  return type_with_dims(e->c, a, (i64s){dims, a->dims.len});
}

/* What follows from the operands, and no less than the shardings ask for. */
static bool pad_any(pad_pass *p, op *o) {
  const type **t = arena_zalloc(p->e.a, o->num_results * sizeof(*t));
  bool infers = op_has(o, INFER_TYPES);
  if (infers && !dialect_infer_checked(p->e.m, o, t)) return false;
  for (u32 i = 0; i < o->num_results; i++) {
    value *v = op_result(o, i);
    const type *want = expected(p, v);
    v->type = infers ? larger(&p->e, t[i], want) : want;
  }
  return true;
}

/* The elements of a tensor at the beginning of a larger one of zeros. */
static str grown(arena *a, str data, size_t size, i64s from, i64s to, size_t bytes) {
  char *out = arena_zalloc(a, bytes);
  size_t rank = from.len, row = size, at = 0;
  i64 *index = arena_zalloc(a, rank * sizeof(*index));
  if (rank) row *= (size_t)from.data[rank - 1];
  for (size_t done = 0; done < data.len; done += row) {
    memcpy(out + at * size, data.data + done, row);
    for (size_t d = rank - 1; d-- > 0;) {
      if (++index[d] < from.data[d]) break;
      index[d] = 0;
    }
    at = 0;
    for (size_t d = 0; d < rank; d++)
      at = at * (size_t)to.data[d] + (size_t)(d + 1 < rank ? index[d] : 0);
  }
  return (str){out, bytes};
}

static bool pad_constant(pad_pass *p, op *o) {
  value *v = op_result(o, 0);
  const type *t = expected(p, v);
  const dense_attr *all = attr_as(dense, op_attr(o, SLOT_NAME(value)));
  size_t size = type_storage(t->elem), bytes;
  i64 n;
  if (!all || !type_num_elements(t, &n) || !checked_mul((size_t)n, size, &bytes))
    return op_unimplemented(p->e.c, o, "cannot be padded");
  str data = all->data;
  if (!all->splat) data = grown(p->e.a, data, size, v->type->dims, t->dims, bytes);
  op_set_any(o, value, attr_dense(p->e.c, t, data, all->splat, false));
  v->type = t;
  info_of(p, v)->zeros = !all->splat;
  return true;
}

/* ---- collectives ---- */

/* v, which lacks zeros at its end, with them. */
static value *padded_to(pad_pass *p, cursor *at, value *v, const type *t) {
  const part_env *e = &p->e;
  const padded was = *info_of(p, v);
  bool zeros = was.zeros || v->type == was.from;
  i64 *high = ARENA_ARRAY(e->a, i64, t->dims.len);
  const i64 *none = arena_zalloc(e->a, (t->dims.len + 1) * sizeof(i64));
  for (size_t d = 0; d < t->dims.len; d++) high[d] = t->dims.data[d] - v->type->dims.data[d];
  value *zero = emit_zeros(at, type_tensor(e->c, (i64s){0}, t->elem, NULL));
  value *r = emit_pad(at, v, zero, none, high, NULL);
  return number(p, emit_sharded(e, r, part_sharding(e, v)), was.from, zeros);
}

static bool agrees(pad_pass *p, const op *o, const value *v) {
  const type *t = expected(p, v);
  if (!v->uses || v->type == t) return true;
  return op_error(p->e.c, o, "makes %s where its sharding asks for %s",
                  dialect_show_type(p->e.c, v->type), dialect_show_type(p->e.c, t));
}

/* Cuts result 0 to what is expected of it along some dimensions; its users take that. */
static bool trim(pad_pass *p, op *o, const bool *dims, const type *to, bool zeros) {
  const part_env *e = &p->e;
  value *v = op_result(o, 0);
  i64s sizes = v->type->dims;
  for (u32 d = 0; d < sizes.len; d++)
    if (dims[d] && sizes.data[d] > to->dims.data[d])
      sizes = with_dim(e, sizes, d, to->dims.data[d]);
  const type *t = type_with_dims(e->c, v->type, sizes);
  if (t == v->type) return true;
  cursor at = cursor_after(e, o);
  value *r = emit_slice(&at, v, arena_zalloc(e->a, sizes.len * sizeof(i64)), sizes.data);
  emit_sharded(e, r, part_sharding(e, v));
  number(p, r, info_of(p, v)->from, zeros);
  value_replace_except(v, r, r->def.op);
  info_of(p, v)->from = v->type;
  return agrees(p, o, r);
}

/* The operand grows to what the result's sharding divides. */
static bool pad_before(pad_pass *p, op *o) {
  value *v = op_operand(o, 0), *r = op_result(o, 0);
  const type *t = divisible(&p->e, v->type, part_sharding(&p->e, r));
  cursor at = cursor_before(&p->e, o);
  if (t != v->type) op_set_operand(o, 0, v = padded_to(p, &at, v, t));
  r->type = t;
  info_of(p, r)->zeros = info_of(p, v)->zeros;
  return true;
}

static bool pad_all_gather(pad_pass *p, op *o) {
  value *r = op_result(o, 0);
  struct sdy_all_gather_attrs a;
  if (!view_sdy_all_gather(o, &a)) return op_error(p->e.c, o, "has malformed attributes");
  attrs lists = a.gathering_axes->lists;
  if (!pad_any(p, o)) return false;
  info_of(p, r)->zeros = info_of(p, op_operand(o, 0))->zeros;
  bool *gathered = arena_zalloc(p->e.a, r->type->dims.len);
  for (size_t d = 0; d < r->type->dims.len && d < lists.len; d++) {
    const axis_ref_list_attr *l = attr_as(axis_ref_list, lists.data[d]);
    gathered[d] = l && l->axes.len;
  }
  return trim(p, o, gathered, expected(p, r), info_of(p, r)->zeros);
}

static bool pad_all_to_all(pad_pass *p, op *o) {
  struct sdy_all_to_all_attrs a;
  if (!view_sdy_all_to_all(o, &a)) return op_error(p->e.c, o, "has malformed attributes");
  bool zeros = info_of(p, op_operand(o, 0))->zeros;
  pad_before(p, o);
  value *r = op_result(o, 0);
  bool *left = arena_zalloc(p->e.a, r->type->dims.len);
  for (size_t i = 0; i < a.params->params.len; i++) {
    const all_to_all_param_attr *q = attr_as(all_to_all_param, a.params->params.data[i]);
    left[q->src_dim] = true;
  }
  return trim(p, o, left, expected(p, r), zeros);
}

/* ---- ops whose sizes are attributes, or that add up ---- */

/* As long as no shard begins or ends elsewhere than before. */
static bool stays_in_shards(pad_pass *p, const struct slice_attrs *a, const op *o, u32 d) {
  const sharding *s = part_sharding(&p->e, op_operand(o, 0));
  i64 parts = s && d < s->rank ? sharding_dim_size(s, d) : 1;
  if (parts == 1) return true;
  i64 in = info_of(p, op_operand(o, 0))->from->dims.data[d];
  i64 out = info_of(p, op_result(o, 0))->from->dims.data[d];
  return a->start_indices.data[d] == 0 && a->strides.data[d] == 1 && in != DYNAMIC &&
         (in - 1) / parts == (out - 1) / parts;
}

static bool pad_slice(pad_pass *p, op *o) {
  struct slice_attrs a;
  value *v = op_result(o, 0);
  const type *t = expected(p, v);
  if (t == v->type) return pad_any(p, o);
  if (!view_slice(o, &a)) return op_error(p->e.c, o, "has malformed attributes");
  i64s limits = a.limit_indices;
  for (u32 d = 0; d < t->dims.len; d++) {
    if (t->dims.data[d] == v->type->dims.data[d]) continue;
    if (!stays_in_shards(p, &a, o, d))
      return op_unimplemented(p->e.c, o, "moves elements between shards along dimension %u", d);
    limits = with_dim(&p->e, limits, d, a.start_indices.data[d] + t->dims.data[d]);
  }
  op_set(o, slice, limit_indices, attr_i64_array(p->e.c, limits));
  v->type = t;
  return true;
}

/* What is put at the end makes up for what operand and result have got. Where that is less than
 * before, elements of the operand take its place, which must be such then. */
static bool pad_pad(pad_pass *p, op *o) {
  struct pad_attrs a;
  if (!view_pad(o, &a)) return op_error(p->e.c, o, "has malformed attributes");
  value *v = op_operand(o, 0);
  const type *t = expected(p, op_result(o, 0));
  i64 *high = ARENA_ARRAY(p->e.a, i64, t->dims.len);
  bool less = false;
  for (size_t d = 0; d < t->dims.len; d++) {
    i64 n = v->type->dims.data[d], inside = a.interior_padding.data[d], all;
    if (!checked_mul(max_i64(0, n - 1), inside, &all) || !checked_add(all, n, &all) ||
        !checked_add(all, a.edge_padding_low.data[d], &all))
      return op_error(p->e.c, o, "has sizes that overflow");
    high[d] = t->dims.data[d] - all;
    less |= high[d] < a.edge_padding_high.data[d];
  }
  cursor at = cursor_before(&p->e, o);
  if (less && is_padded(p, v))
    op_set_operand(o, 0, filled(p, &at, v, info_of(p, v)->from, NULL, op_operand(o, 1)));
  op_set(o, pad, edge_padding_high, attr_i64_array(p->e.c, (i64s){high, t->dims.len}));
  op_result(o, 0)->type = t;
  return true;
}

static bool pad_dot_general(pad_pass *p, op *o) {
  const dot_attr *d = attr_as(dot, op_attr(o, SLOT_NAME(dot_dimension_numbers)));
  if (!d) return op_error(p->e.c, o, "has malformed attributes");
  fill_zeros(p, o, 0, d->lhs_contracting_dimensions);
  fill_zeros(p, o, 1, d->rhs_contracting_dimensions);
  return pad_any(p, o);
}

static i64s and_one(arena *a, i64s list, i64 more) {
  i64 *r = ARENA_ARRAY(a, i64, list.len + 1);
  if (list.len) memcpy(r, list.data, list.len * sizeof(*r));
  r[list.len] = more;
  return (i64s){r, list.len + 1};
}

static i64 at_or_one(i64s list, size_t i) { return i < list.len ? list.data[i] : 1; }

/* factor - 1 holes between neighbours. */
static bool dilated(i64 size, i64 factor, i64 *out) {
  if (size <= 0) return *out = 0, true;
  return checked_mul(size - 1, factor, out) && checked_add(*out, 1, out);
}

/* How often the window fits along spatial dimension i; false: sizes overflow. */
static bool windows(const op *o, const struct convolution_attrs *c, size_t i, i64 *out) {
  const conv_attr *d = c->dimension_numbers;
  i64 in = op_operand(o, 0)->type->dims.data[d->input_spatial_dimensions.data[i]];
  i64 view = op_operand(o, 1)->type->dims.data[d->kernel_spatial_dimensions.data[i]];
  if (!dilated(in, at_or_one(c->lhs_dilation, i), &in) ||
      !dilated(view, at_or_one(c->rhs_dilation, i), &view))
    return false;
  for (size_t k = 0; c->padding && k < 2; k++)
    if (!checked_add(in, attr_dense_int(&c->padding->base, 2 * i + k), &in)) return false;
  *out = in <= 0 || view > in ? 0 : (in - view) / at_or_one(c->window_strides, i) + 1;
  return true;
}

/* It makes what there is a window for; of that, what the sharding asks for is taken. */
static bool pad_convolution(pad_pass *p, op *o) {
  struct convolution_attrs c;
  if (!view_convolution(o, &c)) return op_error(p->e.c, o, "has malformed attributes");
  const conv_attr *n = c.dimension_numbers;
  arena *a = p->e.a;
  value *v = op_result(o, 0);
  fill_zeros(p, o, 0, and_one(a, n->input_spatial_dimensions, n->input_feature_dimension));
  fill_zeros(p, o, 1, and_one(a, n->kernel_spatial_dimensions, n->kernel_input_feature_dimension));
  const type *t = expected(p, v);
  bool *spatial = arena_zalloc(a, t->dims.len);
  i64s sizes = t->dims;
  for (size_t i = 0; i < n->output_spatial_dimensions.len; i++) {
    u32 d = (u32)n->output_spatial_dimensions.data[i];
    i64 fit;
    if (!windows(o, &c, i, &fit) || fit < sizes.data[d])
      return op_unimplemented(p->e.c, o, "cannot be padded along dimension %u of its result", d);
    spatial[d] = true;
    sizes = with_dim(&p->e, sizes, d, fit);
  }
  v->type = type_with_dims(p->e.c, t, sizes);
  return trim(p, o, spatial, t, false);
}

/* ---- the pass ---- */

typedef bool pad_fn(pad_pass *p, op *o);
static pad_fn *const pad_of[OP_COUNT] = {
    [OP_sdy_all_gather] = pad_all_gather,
    [OP_sdy_all_slice] = pad_before,
    [OP_sdy_all_to_all] = pad_all_to_all,
    [OP_sdy_reduce_scatter] = pad_before,
    [OP_sdy_all_reduce] = pad_any,
    [OP_sdy_collective_permute] = pad_any,
    [OP_sharded_to_unreduced] = pad_any,
    [OP_replicated_to_unreduced] = pad_any,
    [OP_constant] = pad_constant,
    [OP_sdy_constant] = pad_constant,
    [OP_slice] = pad_slice,
    [OP_pad] = pad_pad,
    [OP_dot_general] = pad_dot_general,
    [OP_convolution] = pad_convolution,
};

/* Ops of other dialects take what they are written for. */
static pad_fn *handler(const op *o) {
  if (op_kind(o) < OP_COUNT && pad_of[op_kind(o)]) return pad_of[op_kind(o)];
  return str_starts(o->info->name, STR("stablehlo.")) ? pad_any : NULL;
}

static bool pad_op(pad_pass *p, op *o) {
  bool differs = false, grows = false;
  for (u32 i = 0; i < o->num_operands; i++) differs |= is_padded(p, op_operand(o, i));
  for (u32 i = 0; i < o->num_results; i++)
    grows |= expected(p, op_result(o, i)) != op_result(o, i)->type;
  pad_fn *pad = handler(o);
  if (!pad && differs) return op_error(p->e.c, o, "takes no operand that is padded");
  if ((differs || grows) && pad && !pad(p, o)) return false;
  for (u32 i = 0; i < o->num_results; i++)
    if (!agrees(p, o, op_result(o, i))) return false;
  return true;
}

static bool pad_block(pad_pass *p, block *b) {
  const op *owner = block_op(b);
  for (u32 i = 0; i < b->num_args; i++) {
    if (handler(owner)) b->args[i]->type = expected(p, b->args[i]);
    if (!agrees(p, owner, b->args[i])) return false;
  }
  FOR_OPS(o, b) {
    if (!pad_op(p, o)) return false;
    for (u32 r = 0; r < o->num_regions; r++)
      for (block *in = o->regions[r].first; in; in = in->next)
        if (!pad_block(p, in)) return false;
  }
  return true;
}

static bool divides(pad_pass *p, const op *f, func_side side) {
  for (size_t i = 0; i < func_num(f, side); i++) {
    const type *t = func_type_of(f, side, i);
    if (divisible(&p->e, t, shard_read(p->e.space, func_sharding(f, side, i))) == t) continue;
    op_error(p->e.c, f,
             "%s #%zu has a non-divisible sharding. Shardy expects function IO to be divisible.",
             side == FUNC_ARGS ? "argument" : "result", i);
    return loc_error(p->e.c, f->loc,
                     "failed to legalize operation 'func.func' that was explicitly marked illegal");
  }
  return true;
}

static walk_result note(void *user, op *o) {
  pad_pass *p = user;
  for (u32 i = 0; i < o->num_results; i++) number(p, op_result(o, i), op_result(o, i)->type, false);
  for (u32 r = 0; r < o->num_regions; r++)
    for (block *b = o->regions[r].first; b; b = b->next)
      for (u32 i = 0; i < b->num_args; i++) number(p, b->args[i], b->args[i]->type, false);
  return WALK_ON;
}

bool part_pad_for_divisibility(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  pad_pass p = {.e = part_env_make(m, scratch)};
  if (!part_has_mesh(&p.e)) return true;
  op_walk(m->root, note, &p);
  for (op *f = op_body(m->root, 0)->first; f; f = f->next) {
    if (!op_is(f, func)) continue;
    if (!divides(&p, f, FUNC_ARGS) || !divides(&p, f, FUNC_RESULTS)) return false;
    if (op_body(f, 0) && !pad_block(&p, op_body(f, 0))) return false;
  }
  return shard_space_check(p.e.space);
}
