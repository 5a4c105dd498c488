/* Import of programs whose shardings are GSPMD's: JAX before Shardy, torch_xla.
 *
 *   mhlo.sharding of arguments, results and ops        sdy.sharding on one mesh
 *   @Sharding                                          sdy.sharding_constraint
 *   @SPMDFullToShardShape, what comes between, and     sdy.manual_computation
 *     @SPMDShardToFullShape
 *
 * The texts name no axes, only in how many pieces which dimension is cut and which device has which
 * piece. The mesh is made of all of them: its axes are cut wherever some text cuts the devices, as
 * far as cuts fit each other; others become parts of axes (mesh/placement.c).
 *
 * Source: the custom calls and their order are those of openxla/xla's spmd_partitioner and of JAX's
 * shard_map. */
#include <stdlib.h>

#include "mesh/notation.h"
#include "dialect/effects.h"
#include "shard/passes.h"

typedef struct importer {
  ir_module *m;
  ir_ctx *c;
  arena *a;
  VEC(i64) cuts;    /* strides of devices at which some text cuts */
  i64 devices;      /* 0: no text has any yet */
  i64s order;       /* where a text lists them */
  const mesh *mesh; /* once it is made */
  shard_space *space;
  bool failed;
} importer;

static bool fail(importer *i, const op *o, const char *what) {
  i->failed = true;
  return op_error(i->c, o, "%s", what);
}

static bool is_call_of(const op *o, const char *target) {
  str s;
  return o && op_is(o, custom_call) && attr_get_str(op_attr(o, SLOT_NAME(call_target_name)), &s) &&
         str_is(s, target);
}
static bool enters(const op *o) { return is_call_of(o, "SPMDFullToShardShape"); }
static bool leaves(const op *o) { return is_call_of(o, "SPMDShardToFullShape"); }

/* ---- texts ---- */

static void say_nothing(void *user, diag_kind kind, diag_pos pos, str text) {
  (void)user, (void)kind, (void)pos, (void)text;
}

/* NULL: reported. */
static const placement *read(importer *i, const op *o, const attr *text, i64 rank) {
  str s;
  diag_sink sink = {.fn = say_nothing};
  notation_context with = {i->mesh, rank};
  const placement *p = NULL;
  if (attr_get_str(text, &s) && s.len)
    p = notation_read(i->a, notation_find(STR("xla")), s, &with, &sink);
  if (!p) {
    i->failed = true;
    op_error(i->c, o, "has an mhlo.sharding that cannot be read: \"" STR_FMT "\"", STR_ARG(s));
  }
  return p;
}

static void note_cuts(importer *i, const op *o, const placement *p) {
  for (size_t k = 0; k < p->num_elements; k++) note_cuts(i, o, p->elements[k]);
  if (p->kind != PLACED_BY_AXES || !p->sharding->mesh->num_axes) return;
  const mesh *m = p->sharding->mesh;
  if (i->devices && i->devices != m->size) {
    fail(i, o, "has an mhlo.sharding over another number of devices than those before");
    return;
  }
  i->devices = m->size;
  if (m->device_ids.len) i->order = m->device_ids;
  for (i64 stride = 1, k = m->num_axes; k-- > 0; stride *= m->axes[k].size)
    VEC_PUSH(i->a, i->cuts, stride);
}

static void note(importer *i, const op *o, const attr *text) {
  const placement *p = text ? read(i, o, text, NOTATION_ANY_RANK) : NULL;
  if (p) note_cuts(i, o, p);
}

static walk_result note_op(void *user, op *o) {
  importer *i = user;
  if (op_is(o, func)) {
    for (size_t k = 0; k < func_num(o, FUNC_ARGS); k++)
      note(i, o, func_named(o, FUNC_ARGS, k, MHLO_SHARDING));
    for (size_t k = 0; k < func_num(o, FUNC_RESULTS); k++)
      note(i, o, func_named(o, FUNC_RESULTS, k, MHLO_SHARDING));
  } else {
    note(i, o, op_discardable(o, MHLO_SHARDING));
  }
  return i->failed ? WALK_STOP : WALK_ON;
}

/* ---- the mesh ---- */

static int larger_first(const void *a, const void *b) {
  i64 x = *(const i64 *)a, y = *(const i64 *)b;
  return (x < y) - (x > y);
}

static const attr *all_axes(importer *i) {
  const attr **axes = ARENA_ARRAY(i->a, const attr *, i->cuts.len + 1);
  size_t n = 0;
  i64 left = i->devices;
  if (i->cuts.len) qsort(i->cuts.data, i->cuts.len, sizeof(i64), larger_first);
  for (size_t k = 0; k < i->cuts.len; k++) {
    i64 stride = i->cuts.data[k];
    if (stride == left || left % stride) continue;
    str name = arena_printf(ir_arena(i->c), "_axis_%zu", n);
    axes[n++] = attr_make(i->c, mesh_axis, .name = name, .size = left / stride);
    left = stride;
  }
  return attr_make(i->c, mesh, .axes = {axes, n}, .device_ids = i->order);
}

static void make_mesh(importer *i) {
  block *body = op_body(i->m->root, 0);
  op *o = op_create(i->m, &op_infos[OP_sdy_mesh], i->m->root->loc, NULL, 0, NULL, 0, 0);
  str name = STR("gspmd_mesh");
  while (symbol_find(i->m->root, name)) name = arena_printf(i->a, STR_FMT "_", STR_ARG(name));
  op_set(o, sdy_mesh, sym_name, attr_string(i->c, name));
  op_set(o, sdy_mesh, mesh, all_axes(i));
  op_insert(o, body, body->first);
  i->space = shard_space_create(i->m, i->a);
  i->mesh = shard_mesh_named(i->space, name);
}

/* ---- shardings ---- */

/* NULL: it says nothing of where the pieces are; or it is reported. */
static const attr *attr_of(importer *i, const placement *p) {
  if (!p || p->kind != PLACED_BY_AXES || mesh_is_maximal(p->sharding->mesh)) return NULL;
  return shard_write(i->space, shard_intern(i->space, p->sharding));
}

static i64 rank_of(const type *t) {
  return type_is_ranked(t) ? (i64)type_rank(t) : NOTATION_ANY_RANK;
}

static const attr *sharding_of(importer *i, const op *o, const attr *text, const type *t) {
  return text ? attr_of(i, read(i, o, text, rank_of(t))) : NULL;
}

static void import_side(importer *i, op *f, func_side side) {
  for (size_t k = 0; k < func_num(f, side) && !i->failed; k++) {
    const attr *text = func_named(f, side, k, MHLO_SHARDING);
    if (!text) continue;
    const attr *s = sharding_of(i, f, text, func_type_of(f, side, k));
    func_set_named(i->m, f, side, k, MHLO_SHARDING, NULL);
    if (s) func_set_sharding(i->m, f, side, k, s);
  }
}

/* Dimensions that JAX leaves to propagation: backend_config "unspecified_dims=[0,1]". */
static const attr *opened(importer *i, const op *o, const attr *s) {
  const tensor_sharding_attr *t = attr_as(tensor_sharding, s);
  str config;
  static const char key[] = "unspecified_dims=[";
  if (!attr_get_str(op_attr(o, SLOT_NAME(backend_config)), &config)) return s;
  if (!str_starts(config, (str){key, sizeof key - 1})) return s;
  tensor_sharding_attr copy = *t;
  const attr **dims = ARENA_ARRAY(i->a, const attr *, t->dims.len);
  for (size_t k = 0; k < t->dims.len; k++) dims[k] = t->dims.data[k];
  u64 d = 0;
  for (size_t at = sizeof key - 1; at < config.len; at++) {
    char c = config.data[at];
    if (c >= '0' && c <= '9') {
      d = min_size(d * 10 + (u64)(c - '0'), UINT32_MAX);
    } else {
      if (d < t->dims.len) {
        dim_sharding_attr open = *attr_as(dim_sharding, dims[d]);
        open.closed = false;
        dims[d] = attr_unique(i->c, &open.base);
      }
      d = 0;
    }
  }
  copy.dims.data = dims;
  return attr_unique(i->c, &copy.base);
}

static void import_constraint(importer *i, op *o) {
  const type *t = op_result(o, 0)->type;
  const placement *p = read(i, o, op_discardable(o, MHLO_SHARDING), rank_of(t));
  const attr *s = attr_of(i, p);
  if (i->failed) return;
  value *to = op_operand(o, 0);
  if (s && !(p->manual.len && sharding_has_no_axes(p->sharding))) {
    op *c = op_create(i->m, &op_infos[OP_sharding_constraint], o->loc, &to, 1, &t, 1, 0);
    op_set(c, sharding_constraint, sharding, opened(i, o, s));
    op_insert(c, o->parent, o);
    to = op_result(c, 0);
  }
  value_replace(op_result(o, 0), to);
  op_erase(o);
}

/* An op with several results has a tuple of them. */
static void import_results(importer *i, op *o, const attr *text) {
  const attr **list = ARENA_ARRAY(i->a, const attr *, o->num_results);
  i64 rank = o->num_results == 1 ? rank_of(op_result(o, 0)->type) : NOTATION_ANY_RANK;
  const placement *p = read(i, o, text, rank);
  op_set_attr(i->m, o, MHLO_SHARDING, NULL);
  if (!p || !o->num_results) return;
  bool tuple = p->kind == PLACED_TUPLE;
  if (tuple ? p->num_elements != o->num_results : o->num_results != 1) return;
  for (u32 k = 0; k < o->num_results; k++) {
    const placement *one = tuple ? p->elements[k] : p;
    list[k] = attr_of(i, one);
    i64 r = rank_of(op_result(o, k)->type);
    if (!list[k] || (i64)one->sharding->rank != r) return;
  }
  op_set_shardings(i->m, o, list, o->num_results);
}

static walk_result import_op(void *user, op *o) {
  importer *i = user;
  const attr *text = op_discardable(o, MHLO_SHARDING);
  if (op_is(o, func)) {
    import_side(i, o, FUNC_ARGS);
    import_side(i, o, FUNC_RESULTS);
  } else if (enters(o) || leaves(o)) {
    fail(i, o, "is the border of a manual computation whose other border is not there");
  } else if (text && is_call_of(o, "Sharding") && o->num_operands == 1 && o->num_results == 1) {
    import_constraint(i, o);
  } else if (text) {
    import_results(i, o, text);
  }
  return i->failed ? WALK_STOP : WALK_ON;
}

/* ---- manual computations ---- */

/* op.num of the ops of a block. */
enum { WHOLE, LOCAL, TAKEN };

typedef struct manual {
  importer *i;
  block *b;
  VEC(op *) in, out; /* the calls at its borders */
  VEC(op *) todo;
  size_t num_local;
} manual;

/* The op of block b in which o is; NULL: none. */
static op *op_in(const block *b, op *o) {
  while (o && o->parent != b) o = op_parent(o);
  return o;
}

typedef struct reader_of {
  const block *b;
  bool local;
} reader_of;

static walk_result reads_local(void *user, op *o) {
  reader_of *r = user;
  for (u32 k = 0; k < o->num_operands; k++) {
    op *d = value_op(op_operand(o, k));
    if (d && d->parent == r->b && (enters(d) || (d->num == LOCAL && !leaves(d)))) r->local = true;
  }
  return r->local ? WALK_STOP : WALK_ON;
}

/* What depends on a shard is local, up to where it leaves. */
static void mark_local(block *b) {
  for (op *o = b->first; o; o = o->next) {
    reader_of r = {b, false};
    if (!enters(o)) op_walk(o, reads_local, &r);
    o->num = r.local || enters(o) || leaves(o) ? LOCAL : WHOLE;
  }
}

static void take(manual *m, op *o) {
  if (!o || o->num != LOCAL) return;
  o->num = TAKEN;
  VEC_PUSH(m->i->a, m->todo, o);
  if (enters(o)) VEC_PUSH(m->i->a, m->in, o);
  if (leaves(o)) VEC_PUSH(m->i->a, m->out, o);
}

static walk_result take_operands(void *user, op *o) {
  manual *m = user;
  for (u32 k = 0; k < o->num_operands; k++) {
    op *d = value_op(op_operand(o, k));
    if (d && d->parent == m->b && !leaves(d)) take(m, d);
  }
  return WALK_ON;
}

/* All that local values connect. */
static void take_connected(manual *m, op *first) {
  take(m, first);
  for (size_t k = 0; k < m->todo.len; k++) {
    op *o = m->todo.data[k];
    if (!enters(o)) op_walk(o, take_operands, m);
    if (leaves(o)) continue;
    for (u32 r = 0; r < o->num_results; r++)
      for (const use *u = op_result(o, r)->uses; u; u = u->next) take(m, op_in(m->b, u->owner));
  }
}

static const attr *border_shardings(manual *m, bool out) {
  importer *i = m->i;
  size_t n = out ? m->out.len : m->in.len;
  const attr **list = ARENA_ARRAY(i->a, const attr *, n);
  for (size_t k = 0; k < n; k++) {
    op *o = out ? m->out.data[k] : m->in.data[k];
    op *says = out ? o : value_op(op_operand(o, 0));
    const type *t = out ? op_result(o, 0)->type : op_operand(o, 0)->type;
    const attr *text = says ? op_discardable(says, MHLO_SHARDING) : NULL;
    list[k] = sharding_of(i, o, text, t);
    if (!list[k])
      list[k] = shard_attr_replicated(i->c, shard_mesh_ref(i->space, i->mesh), type_rank(t), true);
  }
  return attr_make(i->c, sharding_per_value, .shardings = {list, n});
}

/* {manual}: all; else those that the text of a border says. */
static const attr *manual_axes(manual *m) {
  importer *i = m->i;
  op *o = m->in.len ? m->in.data[0] : value_op(op_operand(m->out.data[0], 0));
  const attr *text = o ? op_discardable(o, MHLO_SHARDING) : NULL;
  const placement *p = text ? read(i, o, text, NOTATION_ANY_RANK) : NULL;
  const attr **names = ARENA_ARRAY(i->a, const attr *, i->mesh->num_axes);
  size_t n = 0;
  for (u32 k = 0; k < i->mesh->num_axes; k++)
    if (!p || axes_contain(p->manual, axis_whole(i->mesh, k)))
      names[n++] = attr_string(i->c, i->mesh->axes[k].name);
  if (p && (i64)n == 0 && i->mesh->num_axes)
    fail(i, o, "is the border of a manual computation, but no axis of it is manual");
  return attr_make(i->c, manual_axes, .axes = {names, n});
}

typedef struct capture {
  manual *m;
  block *body;
  op *first; /* of the body, as it was moved */
  ir_map *copies;
} capture;

/* What needs nothing is copied into the body: constants and what is made of them. */
static value *copy_in(capture *c, value *v, u32 depth) {
  op *d = value_op(v);
  value *known = ir_map_get(c->copies, v);
  if (known != v) return known;
  if (!d || d->parent != c->m->b || d->num == TAKEN || depth > 64 || d->num_regions) return NULL;
  for (u32 k = 0; k < d->num_operands; k++)
    if (!copy_in(c, op_operand(d, k), depth + 1)) return NULL;
  op *copy = op_clone(c->m->i->m, d, c->copies);
  copy->num = TAKEN;
  op_insert(copy, c->body, c->first); /* what it needs has come before it */
  return ir_map_get(c->copies, v);
}

static walk_result capture_operands(void *user, op *o) {
  capture *c = user;
  for (u32 k = 0; k < o->num_operands; k++) {
    value *v = op_operand(o, k);
    op *d = value_op(v);
    bool outside = d ? d->parent == c->m->b : v->def.block == c->m->b;
    value *copy = outside ? copy_in(c, v, 0) : v;
    if (!copy) {
      fail(c->m->i, o, "is in a manual computation and uses a value from outside of it");
      return WALK_STOP;
    }
    if (copy != v) op_set_operand(o, k, copy);
  }
  return WALK_ON;
}

/* The local ops and the return of what leaves. */
static void fill_body(manual *m, op *mc) {
  importer *i = m->i;
  block *body = block_create(i->m);
  value **ends = ARENA_ARRAY(i->a, value *, m->out.len);
  region_append(&mc->regions[0], body);
  for (size_t k = 0; k < m->in.len; k++) {
    value *v = op_result(m->in.data[k], 0);
    value_replace(v, block_add_arg(i->m, body, v->type));
  }
  for (size_t k = 0; k < m->out.len; k++) ends[k] = op_operand(m->out.data[k], 0);
  op *end = op_create(i->m, &op_infos[OP_sdy_return], mc->loc, ends, m->out.len, NULL, 0, 0);
  FOR_OPS(o, m->b) {
    if (o->num != TAKEN || enters(o) || leaves(o)) continue;
    op_unlink(o);
    op_insert(o, body, NULL);
  }
  op_insert(end, body, NULL);
  capture c = {m, body, body->first, ir_map_create(i->a)};
  FOR_OPS(o, body) {
    if (!i->failed) op_walk(o, capture_operands, &c);
  }
}

static void make_manual(importer *i, block *b, op *first) {
  manual m = {.i = i, .b = b};
  take_connected(&m, first);
  for (size_t k = 0; k < m.in.len; k++)
    if (!op_before(m.in.data[k], first)) {
      fail(i, m.in.data[k], "begins a part of a manual computation that has ended");
      return;
    }
  const type **types = ARENA_ARRAY(i->a, const type *, m.out.len);
  value **operands = ARENA_ARRAY(i->a, value *, m.in.len);
  for (size_t k = 0; k < m.out.len; k++) types[k] = op_result(m.out.data[k], 0)->type;
  for (size_t k = 0; k < m.in.len; k++) operands[k] = op_operand(m.in.data[k], 0);
  op *mc = op_create(i->m, &op_infos[OP_manual_computation], first->loc, operands, m.in.len, types,
                     m.out.len, 1);
  op_set(mc, manual_computation, in_shardings, border_shardings(&m, false));
  op_set(mc, manual_computation, out_shardings, border_shardings(&m, true));
  op_set(mc, manual_computation, manual_axes, manual_axes(&m));
  op_insert(mc, b, first);
  mc->num = WHOLE;
  if (i->failed) return;
  fill_body(&m, mc);
  for (size_t k = 0; k < m.out.len; k++)
    value_replace(op_result(m.out.data[k], 0), op_result(mc, (u32)k));
  for (size_t k = 0; k < m.out.len; k++) op_erase(m.out.data[k]);
  for (size_t k = 0; k < m.in.len; k++) op_erase(m.in.data[k]);
}

static void import_block(importer *i, block *b) {
  for (op *first = b->first; first && !i->failed;) {
    if (!leaves(first)) {
      first = first->next;
      continue;
    }
    mark_local(b);
    make_manual(i, b, first);
    first = b->first;
  }
}

static walk_result import_manual(void *user, op *o) {
  importer *i = user;
  for (u32 r = 0; r < o->num_regions; r++)
    for (block *b = o->regions[r].first; b && !i->failed; b = b->next) import_block(i, b);
  return i->failed ? WALK_STOP : WALK_ON;
}

/* ---- the pass ---- */

bool pass_import_gspmd(ir_module *m, arena *scratch, const pass_args *args) {
  importer i = {.m = m, .c = m->ctx, .a = scratch};
  (void)args;
  ops_erase_dead(m->root, DEAD_WITHOUT_EFFECTS); /* a border that nothing comes to */
  if (!op_walk(m->root, note_op, &i)) return false;
  make_mesh(&i);
  if (!i.failed) op_walk_post(m->root, import_manual, &i);
  if (!i.failed) op_walk_post(m->root, import_op, &i);
  return !i.failed;
}

static walk_result find_tiles(void *user, op *o) {
  bool *found = user;
  str s;
  if (enters(o) || leaves(o)) *found = true;
  if (attr_get_str(op_discardable(o, MHLO_SHARDING), &s) && str_starts(s, STR("{devices=")))
    *found = true;
  for (int side = 0; op_is(o, func) && side < 2; side++)
    for (size_t k = 0; k < func_num(o, side ? FUNC_RESULTS : FUNC_ARGS); k++)
      if (attr_get_str(func_named(o, side ? FUNC_RESULTS : FUNC_ARGS, k, MHLO_SHARDING), &s) &&
          str_starts(s, STR("{devices=")))
        *found = true;
  return *found ? WALK_STOP : WALK_ON;
}

bool shard_in_gspmd(const ir_module *m) {
  bool found = false;
  if (!m->root->num_regions || !op_body(m->root, 0)) return false; /* the verifier's to say */
  for (const op *o = op_body(m->root, 0)->first; o; o = o->next)
    if (op_is(o, sdy_mesh)) return false;
  op_walk(m->root, find_tiles, &found);
  return found;
}
