/* chlo's ops that are no formulas: broadcasts, constants; and which function is for which op.
 *
 * Each has up to three ways, by how much of the shapes is known: static and bounded shapes give
 * plain StableHLO; others ask for shapes at run time with ops of shape.* that later passes lower.
 * Which is taken follows ChloLegalizeToStablehlo.cpp, of which tools know the output. */
#include <stdio.h>
#include <stdlib.h>

#include "dialect/dialect.h"
#include "dialect/expand.h"

/* Formulas are named as the ops, less the dialect. */
static str short_name(const op *o) { return str_from(o->info->name, sizeof("chlo.") - 1); }

static bool expand_formula(expander *e, op *o, value **out) {
  enum { MOST = 2 };
  value *in[MOST];
  if (o->num_operands > MOST) return false;
  for (u32 i = 0; i < o->num_operands; i++) in[i] = op_operand(o, i);
  str name = op_is(o, chlo_asin_acos_kernel) ? STR("kernel") : short_name(o);
  out[0] = chlo_formula(e, name, in, o->num_operands);
  return out[0] != NULL;
}

/* ---- constants ---- */

static bool expand_constant_op(expander *e, op *o, value **out) {
  const type *t = o->results[0].type;
  out[0] = op_result(expand_op(e, OP_constant, NULL, 0, &t, 1), 0);
  op_set(out[0]->def.op, constant, value, op_attr(o, SLOT_NAME(value)));
  return true;
}

/* MLIR's #complex.number<:f32 1.0, 2.0>, kept as text: the bits of a number of type t. */
static bool complex_bits(expander *e, const attr *a, const type *t, char *out) {
  const opaque_attr *o = attr_as(opaque, a);
  if (!o || t->kind != TYPE_COMPLEX || !str_is(o->dialect, "complex")) return false;
  char head[32];
  snprintf(head, sizeof head, "number<:%s ", dialect_show_type(e->c, t->elem));
  if (!str_starts(o->text, str_of(head))) return false;
  const char *at = arena_str(e->a, str_from(o->text, strlen(head))).data;
  for (u32 i = 0; i < 2; i++) {
    char *end;
    number n = {.f = strtod(at, &end), .f32 = strtof(at, NULL)};
    const dense_attr *d = attr_as(dense, expand_splat(e->c, t->elem, n));
    if (end == at || !d) return false;
    memcpy(out + i * d->data.len, d->data.data, d->data.len);
    at = end + (*end == ',');
  }
  return *at == '>';
}

static bool expand_constant_like_op(expander *e, op *o, value **out) {
  const attr *v = op_attr(o, SLOT_NAME(value));
  const integer_attr *i = attr_as(integer, v);
  const float_attr *f = attr_as(float, v);
  const type *elem = i ? i->type : f ? f->type : type_element(o->results[0].type);
  char bits[16] = {0};
  if (i || f)
    memcpy(bits, i ? &i->value : &f->bits, sizeof(i64));
  else if (!complex_bits(e, v, elem, bits))
    return false;
  value *k = expand_constant_like(e, number_int(0), op_operand(o, 0), elem);
  if (!k) return false;
  /* the scalar behind it, which may have been broadcast, takes the bits as they are */
  op *c = value_op(k);
  while (c->num_operands) c = value_op(op_operand(c, 0));
  const type *t = c->results[0].type;
  size_t size = type_storage(elem);
  if (!size || size > ((i || f) ? sizeof(i64) : sizeof bits)) return false;
  op_set(c, constant, value, attr_dense(e->c, t, (str){bits, size}, true, false));
  out[0] = k;
  return true;
}

/* ---- broadcasts ---- */

/* The op that remains once the operands have one shape; 0: the op is no broadcast. */
static const op_id unbroadcast[OP_COUNT] = {
    [OP_chlo_broadcast_add] = OP_add,
    [OP_chlo_broadcast_and] = OP_and,
    [OP_chlo_broadcast_atan2] = OP_atan2,
    [OP_chlo_broadcast_compare] = OP_compare,
    [OP_chlo_broadcast_complex] = OP_complex,
    [OP_chlo_broadcast_divide] = OP_divide,
    [OP_chlo_broadcast_maximum] = OP_maximum,
    [OP_chlo_broadcast_minimum] = OP_minimum,
    [OP_chlo_broadcast_multiply] = OP_multiply,
    [OP_chlo_broadcast_next_after] = OP_chlo_next_after,
    [OP_chlo_broadcast_or] = OP_or,
    [OP_chlo_broadcast_polygamma] = OP_chlo_polygamma,
    [OP_chlo_broadcast_power] = OP_power,
    [OP_chlo_broadcast_remainder] = OP_remainder,
    [OP_chlo_broadcast_shift_left] = OP_shift_left,
    [OP_chlo_broadcast_shift_right_arithmetic] = OP_shift_right_arithmetic,
    [OP_chlo_broadcast_shift_right_logical] = OP_shift_right_logical,
    [OP_chlo_broadcast_subtract] = OP_subtract,
    [OP_chlo_broadcast_xor] = OP_xor,
    [OP_chlo_broadcast_zeta] = OP_chlo_zeta,
};

static value *make_binary(expander *e, op *o, value *x, value *y, const type *t) {
  value *v = expand_2(e, unbroadcast[op_kind(o)], x, y, t);
  if (!op_is(o, chlo_broadcast_compare)) return v;
  struct chlo_broadcast_compare_attrs a;
  if (!view_chlo_broadcast_compare(o, &a)) return NULL;
  op_set(v->def.op, compare, comparison_direction,
         attr_enum(e->c, ATTR_comparison_direction, a.comparison_direction->value));
  if (a.compare_type)
    op_set(v->def.op, compare, compare_type,
           attr_enum(e->c, ATTR_comparison_type, a.compare_type->value));
  return v;
}

/* Are explicit dimensions those that NumPy would take? */
static bool is_numpy(const op *o) {
  const attr *a = op_attr(o, SLOT_NAME(broadcast_dimensions));
  size_t x = op_operand(o, 0)->type->dims.len, y = op_operand(o, 1)->type->dims.len;
  const dense_array_attr *d = attr_as(dense_array, a);
  if (!d) return true;
  size_t small = x < y ? x : y, large = x < y ? y : x, n = d->data.len / sizeof(i64);
  if (n != small) return false;
  for (size_t i = 0; i < n; i++) {
    i64 dim;
    memcpy(&dim, d->data.data + i * sizeof dim, sizeof dim);
    if (dim != (i64)(large - small + i)) return false;
  }
  return true;
}

static value *shape_of(expander *e, value *v) {
  i64 rank = (i64)v->type->dims.len;
  return expand_1(e, OP_shape_of, v, expand_tensor(e, &rank, 1, type_index(e->c)));
}

/* shape.const_shape of a static value. */
static value *const_shape(expander *e, value *v) {
  i64s dims = v->type->dims;
  i64 rank = (i64)dims.len;
  const type *t = expand_tensor(e, &rank, 1, type_index(e->c));
  value *s = op_result(expand_op(e, OP_const_shape, NULL, 0, &t, 1), 0);
  str bytes = {(const char *)dims.data, dims.len * sizeof(i64)};
  op_set(s->def.op, const_shape, shape, attr_dense(e->c, t, bytes, false, false));
  return s;
}

static bool is_all_ones(const value *v) {
  for (size_t i = 0; i < v->type->dims.len; i++)
    if (v->type->dims.data[i] != 1) return false;
  return true;
}

/* Shapes of the operands: of a select, known ones as constants, which come last. */
typedef struct shape_list {
  value *all[3], *needed[3]; /* needed: without those that are 1 all over */
  size_t num_all, num_needed;
} shape_list;

static shape_list list_shapes(expander *e, op *o) {
  enum { MOST = 3 };
  shape_list l = {0};
  value *shapes[MOST];
  bool known[MOST];
  for (u32 i = 0; i < o->num_operands; i++) {
    known[i] = o->num_operands == MOST && type_is_static(op_operand(o, i)->type);
    if (known[i]) shapes[i] = const_shape(e, op_operand(o, i));
  }
  for (u32 i = 0; i < o->num_operands; i++)
    if (!known[i]) shapes[i] = shape_of(e, op_operand(o, i));
  for (int constant = 0; constant < 2; constant++)
    for (u32 i = 0; i < o->num_operands; i++) {
      if (known[i] != constant) continue;
      l.all[l.num_all++] = shapes[i];
      if (!known[i] || !is_all_ones(op_operand(o, i))) l.needed[l.num_needed++] = shapes[i];
    }
  return l;
}

typedef value *finish_fn(expander *e, op *o, value **in, const type *t);

/* shape.assuming that the shapes fit: operands broadcast by shapes known at run time. A scalar
 * predicate stays one. */
static bool broadcast_dynamically(expander *e, op *o, finish_fn *finish, value **out) {
  enum { MOST = 3 };
  const type *t = o->results[0].type, *witness = type_opaque(e->c, STR("shape.witness"));
  value *in[MOST];
  size_t n = o->num_operands, rank = 0;
  for (size_t i = 0; i < n; i++) rank = max_size(rank, op_operand(o, i)->type->dims.len);
  shape_list l = list_shapes(e, o);
  value *fits = op_result(expand_op(e, OP_cstr_broadcastable, l.all, l.num_all, &witness, 1), 0);
  op *assuming = expand_op(e, OP_assuming, &fits, 1, &t, 1);
  block *b = block_create(e->m);
  region_append(&assuming->regions[0], b);
  expander inner = expander_in(e, b);
  i64 r = (i64)rank;
  const type *extents = expand_tensor(e, &r, 1, type_index(e->c));
  if (n < MOST) l = list_shapes(&inner, o);
  op *all = expand_op(&inner, OP_shape_broadcast, l.needed, l.num_needed, &extents, 1);
  for (size_t i = 0; i < n; i++) {
    value *v = in[i] = op_operand(o, i);
    if (n == MOST && i == 0 && !v->type->dims.len) continue;
    const type *to = type_tensor(e->c, t->dims, type_element(v->type), NULL);
    in[i] = expand_broadcast(&inner, OP_dynamic_broadcast_in_dim, v, op_result(all, 0), to,
                             (i64)(rank - v->type->dims.len));
  }
  value *v = finish(&inner, o, in, t);
  if (!v) return false;
  expand_op(&inner, OP_assuming_yield, &v, 1, NULL, 0);
  out[0] = op_result(assuming, 0);
  return true;
}

static value *finish_binary(expander *e, op *o, value **in, const type *t) {
  return make_binary(e, o, in[0], in[1], t);
}

static value *finish_select(expander *e, op *o, value **in, const type *t) {
  (void)o;
  return op_result(expand_op(e, OP_select, in, 3, &t, 1), 0);
}

/* The peers warn where a pattern gives up and then fail to legalize. */
static void warn(expander *e, const op *o, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  diag_emit(ir_sink(e->c), DIAG_WARNING, loc_pos(o->loc), fmt, ap);
  va_end(ap);
}

/* In this order: nothing to broadcast, dimensions that are not NumPy's (refused), shapes that only
 * the run knows, shapes known now. */
static bool expand_broadcast_op(expander *e, op *o, value **out) {
  value *in[2] = {op_operand(o, 0), op_operand(o, 1)};
  const type *t = o->results[0].type;
  if (!type_is_ranked(in[0]->type) || !type_is_ranked(in[1]->type) || !type_is_ranked(t))
    return false;
  bool known = expand_is_static_or_bounded(in[0]->type) && expand_is_static_or_bounded(in[1]->type);
  if (known && i64s_eq(in[0]->type->dims, in[1]->type->dims) &&
      in[0]->type->encoding == in[1]->type->encoding) {
    out[0] = make_binary(e, o, in[0], in[1], t);
    return out[0] != NULL;
  }
  if (!is_numpy(o)) {
    warn(e, o, "unsupported non prefix-padded dynamic rank broadcast_dimensions");
    return false;
  }
  if (!known || !expand_is_static_or_bounded(t))
    return broadcast_dynamically(e, o, finish_binary, out);
  if (!expand_numpy(e, in, 2, in)) return false;
  out[0] = make_binary(e, o, in[0], in[1], t);
  return out[0] != NULL;
}

/* Of static shapes no shape is asked for at run time. */
static bool expand_select_op(expander *e, op *o, value **out) {
  enum { MOST = 3 };
  value *in[MOST];
  bool known = true;
  for (u32 i = 0; i < MOST; i++) {
    in[i] = op_operand(o, i);
    if (!type_is_ranked(in[i]->type)) return false;
    known = known && expand_is_static_or_bounded(in[i]->type);
  }
  const type *t = o->results[0].type;
  if (!type_is_ranked(t)) return false;
  if (!known) return broadcast_dynamically(e, o, finish_select, out);
  size_t first = in[0]->type->dims.len ? 0 : 1; /* a scalar predicate stays one */
  if (!expand_numpy(e, in + first, MOST - first, in + first)) return false;
  out[0] = finish_select(e, o, in, t);
  return true;
}

/* ---- which is for which ---- */

expand_fn chlo_expand_ragged_dot, chlo_expand_scan; /* chlo_loops.c */
expand_fn chlo_expand_top_k;                        /* top_k.c */

static expand_fn *const functions[OP_COUNT] = {
    [OP_chlo_constant] = expand_constant_op,
    [OP_chlo_constant_like] = expand_constant_like_op,
    [OP_chlo_broadcast_select] = expand_select_op,
    [OP_chlo_top_k] = chlo_expand_top_k,
    [OP_chlo_ragged_dot] = chlo_expand_ragged_dot,
    [OP_chlo_scan] = chlo_expand_scan,
};

static bool fits_in(i64s small, i64s map, i64s large) {
  if (small.len != map.len) return false;
  for (size_t i = 0; i < map.len; i++) {
    i64 d = map.data[i];
    if (d < 0 || d >= (i64)large.len || i64s_contain((i64s){map.data, i}, d)) return false;
    if (small.data[i] != 1 && small.data[i] != large.data[d]) return false;
  }
  return true;
}

/* The operand with fewer dimensions has those that are listed, any ones of the other's. */
static bool broadcast_listed(expander *e, op *o, value **out) {
  const type *t = o->results[0].type;
  i64 *same = ARENA_ARRAY(e->a, i64, t->dims.len + 1);
  i64s listed, all = {same, t->dims.len};
  value *in[2] = {op_operand(o, 0), op_operand(o, 1)};
  if (!attr_get_i64s(e->c, op_attr(o, SLOT_NAME(broadcast_dimensions)), &listed)) return false;
  if (!type_is_static(t) || !type_is_static(in[0]->type) || !type_is_static(in[1]->type))
    return false;
  for (size_t i = 0; i < all.len; i++) same[i] = (i64)i;
  u32 large = in[0]->type->dims.len > in[1]->type->dims.len ? 0 : 1;
  for (u32 i = 0; i < 2; i++) {
    i64s map = i == large ? all : listed;
    if (!fits_in(in[i]->type->dims, map, t->dims)) return false;
    in[i] = expand_1(e, OP_broadcast_in_dim, in[i],
                     expand_with_elem(e->c, t, type_element(in[i]->type)));
    op_set(in[i]->def.op, broadcast_in_dim, broadcast_dimensions, attr_i64_array(e->c, map));
  }
  out[0] = make_binary(e, o, in[0], in[1], t);
  return out[0] != NULL;
}

bool expand_by_chlo(expander *e, op *o, value **out) {
  if (unbroadcast[op_kind(o)] && !is_numpy(o)) return broadcast_listed(e, o, out);
  expand_fn *fn = expand_chlo(NULL, o);
  return fn && fn(e, o, out);
}

expand_fn *expand_chlo(void *user, const op *o) {
  (void)user;
  op_id id = op_kind(o);
  if (id >= OP_COUNT || !str_starts(o->info->name, STR("chlo."))) return NULL;
  if (functions[id]) return functions[id];
  return unbroadcast[id] ? expand_broadcast_op : expand_formula;
}
