/* Sizes move from arguments through the program. See refine.h. The rules are the results' of the
 * specification; openxla/stablehlo transforms/StablehloRefineShapes.cpp has the same purpose. */
#include "pass/refine.h"

#include "dialect/dialect.h"
#include "dialect/effects.h"
#include "pass/passes.h"

#define ERROR_MESSAGE STR("error_message") /* of shape_assertion, as JAX writes it */

typedef struct refiner {
  ir_module *m;
  ir_ctx *c;
  arena *a;
  u32 depth; /* of composites */
} refiner;

/* Goes with the sizes that it tells of. */
static bool is_of_sizes(const op *o) {
  static const bool is[OP_COUNT] = {
#define OF_SIZES(id) [OP_##id] = true,
      REFINE_OPS(OF_SIZES)
#undef OF_SIZES
  };
  return op_kind(o) < OP_COUNT && is[op_kind(o)];
}

bool refine_knows(op_id id) { return id < OP_COUNT && is_of_sizes(&(op){.info = &op_infos[id]}); }

static bool is_open(const type *t) { return t->kind == TYPE_TENSOR && !type_is_static(t); }

static walk_result find_open(void *user, op *o) {
  bool *found = user;
  *found |= is_of_sizes(o);
  for (u32 i = 0; i < o->num_results; i++) *found |= is_open(o->results[i].type);
  for (u16 r = 0; r < o->num_regions; r++)
    for (const block *b = o->regions[r].first; b; b = b->next)
      for (u32 i = 0; i < b->num_args; i++) *found |= is_open(b->args[i]->type);
  return *found ? WALK_STOP : WALK_ON;
}

bool refine_wanted(ir_module *m) {
  bool found = false;
  op_walk(m->root, find_open, &found);
  return found;
}

/* ---- types ---- */

/* `t` with the sizes that `more` knows. NULL: they disagree. */
static const type *merge(refiner *r, const type *t, const type *more) {
  if (t->kind != TYPE_TENSOR || more->kind != TYPE_TENSOR || t == more) return t;
  if (t->dims.len != more->dims.len) return NULL;
  i64 *dims = ARENA_ARRAY(r->a, i64, t->dims.len + 1);
  bool open = false;
  for (size_t d = 0; d < t->dims.len; d++) {
    i64 have = t->dims.data[d], found = more->dims.data[d];
    if (have != DYNAMIC && found != DYNAMIC && have != found) return NULL;
    dims[d] = have == DYNAMIC ? found : have;
    open |= dims[d] == DYNAMIC;
  }
  const attr *encoding = open || !attr_is(bounds, t->encoding) ? t->encoding : NULL;
  return type_tensor(r->c, (i64s){dims, t->dims.len}, t->elem, encoding);
}

static bool refine_value(refiner *r, const op *o, value *v, const type *more) {
  const type *t = merge(r, v->type, more);
  if (!t)
    return op_error(r->c, o, "has '%s' where '%s' follows", dialect_show_type(r->c, v->type),
                    dialect_show_type(r->c, more));
  v->type = t;
  return true;
}

static const type *with_dims(refiner *r, const op *o, const i64 *dims, size_t n) {
  return type_tensor(r->c, (i64s){dims, n}, type_element(o->results[0].type), NULL);
}

/* ---- ops whose results do not follow from types alone; NULL: not known ---- */

typedef const type *result_fn(refiner *r, expander *e, const op *o);

/* The last operand says the shape. */
static const type *by_shape(refiner *r, expander *e, const op *o) {
  i64s dims;
  if (!refine_known(e, op_operand(o, o->num_operands - 1), &dims)) return NULL;
  for (size_t d = 0; d < dims.len; d++)
    if (dims.data[d] < 0) return NULL;
  return with_dims(r, o, dims.data, dims.len);
}

static const type *as_operand(refiner *r, expander *e, const op *o) {
  (void)e;
  i64s dims = op_operand(o, 0)->type->dims;
  return with_dims(r, o, dims.data, dims.len);
}

/* The last dimension of the smaller elements says how many make up one of the others. */
static const type *of_bitcast(refiner *r, expander *e, const op *o) {
  i64s in = op_operand(o, 0)->type->dims;
  size_t rank = o->results[0].type->dims.len;
  i64 *dims = ARENA_ARRAY(e->a, i64, rank + 1);
  for (size_t d = 0; d < rank; d++) dims[d] = d < in.len ? in.data[d] : DYNAMIC;
  return with_dims(r, o, dims, rank);
}

static const type *as_product(refiner *r, expander *e, const op *o) {
  (void)e;
  const type *t = dialect_infer_product(r->m, o);
  return t ? with_dims(r, o, t->dims.data, t->dims.len) : NULL;
}

static const type *of_pad(refiner *r, expander *e, const op *o) {
  i64s in = op_operand(o, 0)->type->dims, p[3];
  i64 *dims = ARENA_ARRAY(e->a, i64, in.len + 1);
  for (u32 k = 0; k < 3; k++)
    if (!refine_known(e, op_operand(o, k + 2), &p[k]) || p[k].len != in.len) return NULL;
  for (size_t d = 0; d < in.len; d++) {
    i64 n = in.data[d], between;
    bool fits = n != DYNAMIC && checked_mul(max_i64(n - 1, 0), p[2].data[d], &between) &&
                checked_add(n, between, &n) && checked_add(n, p[0].data[d], &n) &&
                checked_add(n, p[1].data[d], &n);
    dims[d] = fits && n >= 0 ? n : DYNAMIC;
  }
  return with_dims(r, o, dims, in.len);
}

/* start + sizes as a limit says the sizes, whatever start is. */
static bool slice_sizes(expander *e, const op *o, i64s *sizes) {
  const op *sum = value_op(op_operand(o, 2));
  value *start = op_operand(o, 1);
  if (!sum || !op_is(sum, add)) return false;
  if (op_operand(sum, 0) == start) return refine_known(e, op_operand(sum, 1), sizes);
  return op_operand(sum, 1) == start && refine_known(e, op_operand(sum, 0), sizes);
}

static const type *of_slice(refiner *r, expander *e, const op *o) {
  i64s start, limit, step, sizes;
  size_t rank = op_operand(o, 0)->type->dims.len;
  i64 *dims = ARENA_ARRAY(e->a, i64, rank + 1);
  if (!refine_known(e, op_operand(o, 3), &step) || step.len != rank) return NULL;
  bool known = refine_known(e, op_operand(o, 1), &start) && start.len == rank &&
               refine_known(e, op_operand(o, 2), &limit) && limit.len == rank;
  if (!known && (!slice_sizes(e, o, &sizes) || sizes.len != rank)) return NULL;
  for (size_t d = 0; d < rank; d++) {
    i64 n = known ? limit.data[d] - start.data[d] : sizes.data[d], by = step.data[d];
    if (by < 1 || n < 0) return NULL;
    dims[d] = n / by + (n % by != 0);
  }
  return with_dims(r, o, dims, rank);
}

static bool has(i64s list, i64 v) {
  for (size_t i = 0; i < list.len; i++)
    if (list.data[i] == v) return true;
  return false;
}

/* Sizes of slices go to the offset dimensions, those of the indices to the others, both in order.
 */
static const type *of_gather(refiner *r, expander *e, const op *o) {
  struct dynamic_gather_attrs a;
  i64s sizes;
  if (!view_dynamic_gather(o, &a) || !refine_known(e, op_operand(o, 2), &sizes)) return NULL;
  const gather_dims_attr *g = a.dimension_numbers;
  i64s at = op_operand(o, 1)->type->dims;
  size_t rank = o->results[0].type->dims.len, s = 0, b = 0;
  i64 *dims = ARENA_ARRAY(e->a, i64, rank + 1);
  for (size_t d = 0; d < rank; d++) {
    if (has(g->offset_dims, (i64)d)) {
      while (s < sizes.len &&
             (has(g->collapsed_slice_dims, (i64)s) || has(g->operand_batching_dims, (i64)s)))
        s++;
      if (s == sizes.len) return NULL;
      dims[d] = sizes.data[s++];
    } else {
      if ((i64)b == g->index_vector_dim) b++;
      if (b >= at.len) return NULL;
      dims[d] = at.data[b++];
    }
  }
  return with_dims(r, o, dims, rank);
}

static i64 dilated(i64 n, i64s by, size_t d) {
  i64 step = d < by.len ? by.data[d] : 1;
  return n == 0 ? 0 : (n - 1) * step + 1;
}

/* Padding by an attribute, or by the third operand. */
static bool padding_of(expander *e, const op *o, i64s *out) {
  if (o->num_operands == 3) return refine_known(e, op_operand(o, 2), out);
  struct convolution_attrs a;
  if (!view_convolution(o, &a)) return false;
  size_t n = 2 * a.dimension_numbers->input_spatial_dimensions.len;
  i64 *list = arena_zalloc(e->a, (n + 1) * sizeof *list);
  for (size_t i = 0; a.padding && i < n; i++) list[i] = attr_dense_int(&a.padding->base, i);
  return *out = (i64s){list, n}, true;
}

static i64s window_attr(refiner *r, const op *o, str name) {
  i64s v = {0};
  attr_get_i64s(r->c, op_attr(o, name), &v);
  return v;
}

static const type *of_conv(refiner *r, expander *e, const op *o) {
  const conv_attr *c = attr_as(conv, op_attr(o, SLOT_NAME(dimension_numbers)));
  i64s in = op_operand(o, 0)->type->dims, kernel = op_operand(o, 1)->type->dims, pad;
  size_t rank = o->results[0].type->dims.len, n = c ? c->input_spatial_dimensions.len : 0;
  i64 groups = 1;
  if (!c || !padding_of(e, o, &pad) || pad.len != 2 * n || n + 2 != rank) return NULL;
  i64s strides = window_attr(r, o, SLOT_NAME(window_strides));
  i64s left = window_attr(r, o, SLOT_NAME(lhs_dilation)),
       right = window_attr(r, o, SLOT_NAME(rhs_dilation));
  i64 *dims = ARENA_ARRAY(e->a, i64, rank);
  attr_get_i64(op_attr(o, SLOT_NAME(batch_group_count)), &groups);
  i64 batch = in.data[c->input_batch_dimension];
  dims[c->output_batch_dimension] = batch == DYNAMIC ? batch : batch / max_i64(groups, 1);
  dims[c->output_feature_dimension] = kernel.data[c->kernel_output_feature_dimension];
  for (size_t d = 0; d < n; d++) {
    i64 x = in.data[c->input_spatial_dimensions.data[d]];
    i64 w = kernel.data[c->kernel_spatial_dimensions.data[d]];
    i64 *to = &dims[c->output_spatial_dimensions.data[d]],
        step = d < strides.len ? strides.data[d] : 1;
    *to = DYNAMIC;
    if (x == DYNAMIC || w == DYNAMIC) continue;
    i64 room = dilated(x, left, d) + pad.data[2 * d] + pad.data[2 * d + 1] - dilated(w, right, d);
    *to = room < 0 ? 0 : room / max_i64(step, 1) + 1;
  }
  return with_dims(r, o, dims, rank);
}

static result_fn *const result_of[OP_COUNT] = {
    [OP_dynamic_iota] = by_shape,
    [OP_dynamic_reshape] = by_shape,
    [OP_dynamic_broadcast_in_dim] = by_shape,
    [OP_dynamic_pad] = of_pad,
    [OP_dynamic_gather] = of_gather,
    [OP_real_dynamic_slice] = of_slice,
    [OP_bitcast_convert] = of_bitcast,
    [OP_convert] = as_operand,
    [OP_uniform_quantize] = as_operand,
    [OP_uniform_dequantize] = as_operand,
    [OP_dot_general] = as_product,
    [OP_dot] = as_product,
    [OP_convolution] = of_conv,
    [OP_dynamic_conv] = of_conv,
};

/* ---- assertions ---- */

/* The message with {0}, {1}, ... replaced by the operands behind the first. */
static bool fails(refiner *r, expander *e, const op *o, str text) {
  buf b;
  buf_init(&b, &mem_system);
  for (size_t i = 0; i < text.len; i++) {
    u32 k = i + 2 < text.len ? (u32)(u8)text.data[i + 1] - '0' : 10;
    i64s v;
    bool slot = text.data[i] == '{' && k < 10 && text.data[i + 2] == '}' && k + 1 < o->num_operands;
    if (slot && refine_known(e, op_operand(o, k + 1), &v) && v.len == 1) {
      buf_printf(&b, "%lld", (long long)v.data[0]);
      i += 2;
    } else {
      buf_char(&b, text.data[i]);
    }
  }
  op_error(r->c, o, "%s", buf_cstr(&b));
  buf_deinit(&b);
  return false;
}

/* *gone: it held. */
static bool check_assertion(refiner *r, expander *e, op *o, bool *gone) {
  struct custom_call_attrs a;
  i64s holds;
  str text = {0};
  if (!op_is(o, custom_call) || !view_custom_call(o, &a) || !o->num_operands || o->num_results ||
      !str_is(a.call_target_name, "shape_assertion") ||
      !refine_known(e, op_operand(o, 0), &holds) || holds.len != 1)
    return true;
  attr_get_str(op_discardable(o, ERROR_MESSAGE), &text);
  if (!(holds.data[0] & 1)) return fails(r, e, o, text);
  op_erase(o);
  return *gone = true;
}

/* ---- the walk ---- */

static bool refine_block(refiner *r, block *b);

static bool refine_regions(refiner *r, op *o) {
  for (u32 i = 0; op_is(o, while) && i < o->num_operands; i++)
    for (u32 k = 0; k < 2; k++)
      if (!refine_value(r, o, op_body(o, k)->args[i], op_operand(o, i)->type)) return false;
  if (op_is(o, while) || op_is(o, case) || op_is(o, if))
    for (u16 k = 0; k < o->num_regions; k++)
      if (!refine_block(r, op_body(o, k))) return false;
  return true;
}

/* The types that results have by now. */
static bool infer(refiner *r, expander *e, op *o) {
  const type **more = ARENA_ARRAY(r->a, const type *, o->num_results + 1u);
  bool branches = op_is(o, case) || op_is(o, if), known = true;
  if (op_kind(o) >= OP_COUNT) return true;
  for (u32 i = 0; i < o->num_results; i++) {
    if (op_is(o, while)) more[i] = op_operand(o, i)->type;
    if (branches) more[i] = op_operand(op_terminator(op_body(o, 0)), i)->type;
  }
  if (result_of[op_kind(o)])
    known = (more[0] = result_of[op_kind(o)](r, e, o)) != NULL;
  else if (!branches && !op_is(o, while))
    known = dialect_infers(op_kind(o)) && dialect_infer(r->m, o, more);
  if (ir_sink(r->c)->errors) return false;
  for (u32 i = 0; known && i < o->num_results; i++)
    if (!refine_value(r, o, op_result(o, i), more[i])) return false;
  return true;
}

/* Tensors of integers and sizes, and single ones of them. */
static bool holds_integers(const type *t) {
  const type *e = type_element(t);
  bool one = e == t, all = t->kind == TYPE_TENSOR && type_is_static(t);
  return (one || all) && (e->kind == TYPE_INDEX || (e->kind == TYPE_INT && e->width <= 64));
}

static void make_constant(expander *e, op *o, i64s v) {
  const type *t = o->results[0].type;
  op *c = expand_op(e, t->kind == TYPE_TENSOR ? OP_constant : OP_arith_constant, NULL, 0, &t, 1);
  if (t->kind == TYPE_TENSOR) {
    size_t size = type_storage(t->elem);
    bool splat = v.len > 0;
    for (size_t i = 1; i < v.len; i++) splat = splat && v.data[i] == v.data[0];
    char *bytes = ARENA_ARRAY(e->a, char, v.len *size + 1);
    for (size_t i = 0; i < v.len; i++) memcpy(bytes + i * size, &v.data[i], size);
    op_set(c, constant, value,
           attr_dense(e->c, t, (str){bytes, (splat ? 1 : v.len) * size}, splat, false));
  } else {
    op_set(c, arith_constant, value, attr_int(e->c, t, v.data[0]));
  }
  value_replace(op_result(o, 0), op_result(c, 0));
  op_erase(o);
}

/* ---- ops around others that go as soon as sizes are known ---- */

static bool broadcasts(expander *e, const op *o) {
  i64s shape;
  return o && op_is(o, cstr_broadcastable) && refine_broadcast(e, o, &shape);
}

/* What stands in a region whose witness holds takes its place; it has been refined. */
static void splice(op *o) {
  block *body = op_body(o, 0);
  op *end = op_terminator(body), *witness = value_op(op_operand(o, 0));
  for (u32 i = 0; i < o->num_results; i++) value_replace(op_result(o, i), op_operand(end, i));
  block_move_ops(body, end, o->parent, o);
  op_erase(o);
  if (!op_result(witness, 0)->uses) op_erase(witness);
}

/* *gone: nothing is left of o. */
static bool refine_frame(refiner *r, expander *e, op *o, bool *gone) {
  if (op_is(o, assuming) && broadcasts(e, value_op(op_operand(o, 0)))) {
    if (!refine_block(r, op_body(o, 0))) return false;
    splice(o);
    *gone = true;
  } else if (op_is(o, cstr_broadcastable) && !op_result(o, 0)->uses && broadcasts(e, o)) {
    op_erase(o);
    *gone = true;
  } else if (op_is(o, tensor_cast) && type_is_ranked(op_operand(o, 0)->type)) {
    if (!refine_value(r, o, op_result(o, 0), op_operand(o, 0)->type)) return false;
    if (op_result(o, 0)->type != op_operand(o, 0)->type) return true;
    value_replace(op_result(o, 0), op_operand(o, 0));
    op_erase(o);
    *gone = true;
  }
  return true;
}

enum { MAX_COMPOSITES = 64 }; /* in one another: more are taken for endless */

/* What a composite stands for is put in front of it, and takes the place of its results.
 * *out_first: where that begins, o itself where it is nothing. false: it has no such function. */
static bool open_composite(refiner *r, op *o, op **out_first) {
  struct composite_attrs a;
  if (!view_composite(o, &a) || r->depth == MAX_COMPOSITES) return false;
  op *f = symbol_find(r->m->root, a.decomposition);
  const block *body = f && op_is(f, func) && f->num_regions ? f->regions[0].first : NULL;
  if (!body || body->next || body->num_args != o->num_operands ||
      body->last->num_operands != o->num_results)
    return false;
  op *before = o->prev;
  ir_map *map = ir_map_create(r->a);
  for (u32 i = 0; i < body->num_args; i++) ir_map_set(map, body->args[i], op_operand(o, i));
  for (const op *k = body->first; k != body->last; k = k->next)
    op_insert(op_clone(r->m, k, map), o->parent, o);
  for (u32 i = 0; i < o->num_results; i++)
    value_replace(op_result(o, i), ir_map_get(map, op_operand(body->last, i)));
  *out_first = before ? before->next : o->parent->first;
  return true;
}

static bool refine_range(refiner *r, op *from, const op *end);

static bool refine_opened(refiner *r, op *first, op *o) {
  r->depth++;
  bool ok = refine_range(r, first, o);
  r->depth--;
  op_erase(o);
  return ok;
}

static bool refine_op(refiner *r, op *o) {
  expander e = expander_before(r->m, r->a, o);
  bool gone = false, open = false;
  i64s v;
  if (!check_assertion(r, &e, o, &gone) || gone) return gone;
  if (!refine_frame(r, &e, o, &gone) || gone) return gone;
  const op *given = o;
  o = refine_call(&e, o);
  if (!refine_regions(r, o)) return false;
  for (u32 i = 0; i < o->num_results; i++) open |= is_open(o->results[i].type);
  op *first;
  if (open && op_is(o, composite) && open_composite(r, o, &first))
    return refine_opened(r, first, o);
  if (open && !infer(r, &e, o)) return false;
  if (o != given && !dialect_verify_op(r->m, o)) return false;
  if (op_has(o, CONSTANT) || o->num_results != 1 || !holds_integers(o->results[0].type))
    return true;
  if (refine_eval(&e, o, &v) || refine_index(&e, o, &v)) make_constant(&e, o, v);
  return true;
}

/* Recursion is bounded by the nesting that the readers allow, and by that of composites. */
static bool refine_range(refiner *r, op *from, const op *end) {
  for (op *o = from, *next; o != end; o = next) {
    next = o->next;
    if (!refine_op(r, o)) return false;
  }
  return true;
}

static bool refine_block(refiner *r, block *b) { return refine_range(r, b->first, NULL); }

static walk_result check_settled(void *user, op *o) {
  refiner *r = user;
  for (u32 i = 0; i < o->num_results; i++)
    if (is_open(o->results[i].type))
      return op_unimplemented(r->c, o, "a shape that is not known before it runs: '%s'",
                              dialect_show_type(r->c, o->results[i].type)),
             WALK_STOP;
  return WALK_ON;
}

/* ---- the entry ---- */

static void set_signature(refiner *r, op *main) {
  block *b = op_body(main, 0);
  const op *end = op_terminator(b);
  const type **in = ARENA_ARRAY(r->a, const type *, b->num_args + 1u);
  const type **out = ARENA_ARRAY(r->a, const type *, end->num_operands + 1u);
  for (u32 i = 0; i < b->num_args; i++) in[i] = b->args[i]->type;
  for (u32 i = 0; i < end->num_operands; i++) out[i] = op_operand(end, i)->type;
  op_set(main, func, function_type,
         attr_type(r->c,
                   type_function(r->c, (types){in, b->num_args}, (types){out, end->num_operands})));
}

/* "2x3": the sizes; false: it is not that. */
static bool read_shape(const char *text, i64 *dims, size_t room, size_t *n) {
  *n = 0;
  for (const char *at = text; *at;) {
    if (*n == room || *at < '0' || *at > '9') return false;
    i64 v = 0;
    for (; *at >= '0' && *at <= '9'; at++)
      if (!checked_mul(v, (i64)10, &v) || !checked_add(v, (i64)(*at - '0'), &v)) return false;
    dims[(*n)++] = v;
    if (*at == 'x') at++;
  }
  return true;
}

bool refine_arguments(ir_module *m, op *main, const char *const *shapes, size_t n) {
  refiner r = {m, m->ctx, ir_scratch_push(m->ctx), 0};
  block *b = op_body(main, 0);
  bool ok = n == b->num_args ||
            op_error(r.c, main, "takes %u arguments, and %zu are given", b->num_args, n);
  for (size_t i = 0; ok && i < n; i++) {
    i64 dims[DIALECT_MAX_RANK];
    size_t rank;
    value *v = b->args[i];
    if (!is_open(v->type)) continue;
    ok = (read_shape(shapes[i], dims, COUNT(dims), &rank) && rank == v->type->dims.len &&
          refine_value(&r, main, v, type_tensor(r.c, (i64s){dims, rank}, v->type->elem, NULL))) ||
         op_error(r.c, main, "takes '%s' as argument %zu, not one of shape '%s'",
                  dialect_show_type(r.c, v->type), i, shapes[i]);
  }
  ir_scratch_pop(m->ctx);
  return ok;
}

bool refine_shapes(ir_module *m, arena *scratch, op *main) {
  refiner r = {m, m->ctx, scratch, 0};
  static const pass_args none;
  block *b = op_body(main, 0);
  for (u32 i = 0; i < b->num_args; i++)
    if (is_open(b->args[i]->type))
      return op_unimplemented(m->ctx, main, "argument %u of a shape that is not known: '%s'", i,
                              dialect_show_type(m->ctx, b->args[i]->type));
  if (!pass_inline_all(m, scratch, &none) || !refine_block(&r, b)) return false;
  set_signature(&r, main);
  ops_erase_dead(main, DEAD_WITHOUT_EFFECTS);
  return op_walk(main, check_settled, &r);
}
