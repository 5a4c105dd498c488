/* The collectives of sdy: does the operation turn the operand's sharding into its own?
 *
 * Each says the axes that it moves and the sharding of its result; the first applied to the
 * operand's sharding must give the second (shardy/dialect/sdy/ir/verifiers.cc, sdy_dialect.md).
 * verify_<op> checks what needs no other op; use_<op> comes when all ops of the module have passed,
 * so shardings of operands can be relied on and are converted to src/mesh's axes, which know how to
 * split and merge. */
#include "dialect/verify.h"
#include "mesh/mesh.h"

/* ---- shardings of values ---- */

static const tensor_sharding_attr *nth(const attr *per_value, u32 i) {
  const sharding_per_value_attr *s = attr_as(sharding_per_value, per_value);
  return s && i < s->shardings.len ? attr_as(tensor_sharding, s->shardings.data[i]) : NULL;
}

const tensor_sharding_attr *sharding_of_value(const value *v, bool *known) {
  const op *o = value_parent(v);
  *known = true;
  if (v->is_arg) {
    struct func_attrs a;
    *known = o && op_is(o, func);
    if (!*known || !view_func(o, &a) || v->index >= a.arg_attrs.len) return NULL;
    return attr_as(tensor_sharding, attr_dict_get(a.arg_attrs.data[v->index], SDY_SHARDING));
  }
  const attr *s = op_attr(o, SLOT_NAME(out_sharding));
  if (!s) s = op_attr(o, SLOT_NAME(sharding));
  if (attr_is(tensor_sharding, s)) return (const tensor_sharding_attr *)s;
  s = op_attr(o, SLOT_NAME(out_shardings));
  return nth(s ? s : op_discardable(o, SDY_SHARDING), v->index);
}

/* ---- in terms of the mesh ---- */

typedef struct collective {
  const op *op;
  const tensor_sharding_attr *in, *out; /* in: NULL if the operand has none */
  const mesh_attr *mesh_attr;
  const mesh *mesh;
  bool skip; /* the operand's sharding is not known here */
} collective;

static const mesh *to_mesh(checker *k, const mesh_attr *m) {
  mesh_axis *axes = ARENA_ARRAY(k->scratch, mesh_axis, m->axes.len);
  for (size_t i = 0; i < m->axes.len; i++) {
    const mesh_axis_attr *a = (const mesh_axis_attr *)m->axes.data[i];
    axes[i] = (mesh_axis){a->name, a->size};
  }
  return mesh_make(k->scratch, STR(""), axes, m->axes.len, m->device_ids);
}

/* References that were checked against the mesh. */
static axis_list to_axes(checker *k, const mesh *m, attrs list) {
  axis_vec v = {0};
  for (size_t i = 0; i < list.len; i++) {
    const axis_ref_attr *a = (const axis_ref_attr *)list.data[i];
    u32 axis = (u32)mesh_axis_find(m, a->name);
    axis_ref r = a->size ? (axis_ref){axis, a->pre_size, a->size} : axis_whole(m, axis);
    VEC_PUSH(k->scratch, v, r);
  }
  return axis_vec_list(&v);
}

static attrs dim_axes(const tensor_sharding_attr *s, size_t d) {
  return s ? ((const dim_sharding_attr *)s->dims.data[d])->axes : (attrs){0};
}

static attrs list_at(const axis_ref_lists_attr *l, size_t i) {
  return ((const axis_ref_list_attr *)l->lists.data[i])->axes;
}

static const char *show_ref(checker *k, const mesh *m, axis_ref r) {
  str name = m->axes[r.axis].name;
  if (axis_is_whole(m, r)) return arena_printf(k->scratch, "\"" STR_FMT "\"", STR_ARG(name)).data;
  return arena_printf(k->scratch, "\"" STR_FMT "\":(%lld)%lld", STR_ARG(name), (long long)r.pre,
                      (long long)r.size)
      .data;
}

static const char *show_list(checker *k, const mesh *m, axis_list l) {
  str s = STR("");
  for (size_t i = 0; i < l.len; i++)
    s = arena_printf(k->scratch, STR_FMT "%s%s", STR_ARG(s), i ? ", " : "",
                     show_ref(k, m, l.data[i]));
  return arena_printf(k->scratch, "[" STR_FMT "]", STR_ARG(s)).data;
}

/* Shardings of arguments inside regions follow from the op around; where that is not decided here
 * (`skip`) only the lists themselves are checked. */
static collective collect(checker *k, const op *o, const tensor_sharding_attr *out) {
  bool known;
  collective c = {.op = o, .out = out, .mesh_attr = checker_mesh(k, out->mesh)};
  c.in = sharding_of_value(op_operand(o, 0), &known);
  c.skip = !known;
  c.mesh = to_mesh(k, c.mesh_attr);
  return c;
}

static const attr *value_loc(const value *v) {
  if (!v->is_arg) return v->def.op->loc;
  const attr *loc = block_arg_loc(v->def.block, v->index);
  return loc ? loc : block_op(v->def.block)->loc;
}

static bool note_mesh(checker *k, const collective *c) {
  const mesh_attr *m = checker_mesh(k, c->in->mesh);
  buf b;
  buf_init(&b, ir_mem(k->c));
  for (size_t i = 0; i < m->axes.len; i++) {
    const mesh_axis_attr *x = (const mesh_axis_attr *)m->axes.data[i];
    buf_printf(&b, "%s\"" STR_FMT "\"=%lld", i ? ", " : "", STR_ARG(x->name), (long long)x->size);
  }
  str axes = buf_take(&b, k->scratch);
  const char *ids = m->device_ids.len ? show_dims(k, m->device_ids) : NULL;
  loc_note(k->c, value_loc(op_operand(c->op, 0)), "operand mesh: #sdy.mesh<[" STR_FMT "]%s%s%s>",
           STR_ARG(axes), ids ? ", device_ids=[" : "", ids ? ids : "", ids ? "]" : "");
  return false;
}

/* What holds of all of them: shardings that fit, on one mesh, of one rank. */
static bool check_collective(checker *k, const op *o, const tensor_sharding_attr *out,
                             bool may_lack, bool any_mesh) {
  bool known;
  const tensor_sharding_attr *in = sharding_of_value(op_operand(o, 0), &known);
  if (known && !in && !may_lack) return op_error(k->c, o, "collective on operand without sharding");
  if (!check_sharding(k, o, out, out_type(o, 0), "")) return false;
  if (!in || !known) return true;
  collective c = collect(k, o, out);
  if (!checker_mesh(k, in->mesh)) /* said where it stands, or it is one that comes later */
    return op_error(k->c, o, "unknown mesh: @" STR_FMT, STR_ARG(symbol_of(in->mesh)));
  if (!any_mesh && checker_mesh(k, in->mesh) != c.mesh_attr) {
    op_error(k->c, o, "result mesh does not match operand mesh");
    return note_mesh(k, &c);
  }
  if (in->dims.len == out->dims.len) return true;
  return op_error(k->c, o, "result sharding has rank %zu but operand sharding has rank %zu",
                  out->dims.len, in->dims.len);
}

enum { MAY_LACK = 1, ANY_MESH = 2 };

#define COLLECTIVE(id, flags)                                                                      \
  bool verify_##id(checker *k, const op *o) {                                                      \
    struct id##_attrs a;                                                                           \
    return view_##id(o, &a) &&                                                                     \
           check_collective(k, o, a.out_sharding, flags & MAY_LACK, flags & ANY_MESH);             \
  }
COLLECTIVE(sdy_all_gather, 0)
COLLECTIVE(sdy_all_slice, MAY_LACK)
COLLECTIVE(sdy_all_to_all, 0)
COLLECTIVE(sdy_collective_permute, ANY_MESH)
COLLECTIVE(sdy_all_reduce, MAY_LACK)
COLLECTIVE(sdy_reduce_scatter, MAY_LACK)
COLLECTIVE(sharded_to_unreduced, 0)
COLLECTIVE(replicated_to_unreduced, 0)

bool check_foreign_collective(checker *k, const op *o) {
  const op_hooks *h = o->info->hooks;
  const attr *a = op_attr(o, str_of(h->out_sharding));
  if (!o->num_operands || o->num_results != 1)
    return op_error(k->c, o, "is a collective, which takes a tensor and has one result");
  if (!attr_is(tensor_sharding, a))
    return op_error(k->c, o, "is a collective and needs a sharding as attribute '%s'",
                    h->out_sharding);
  return check_collective(k, o, attr_as(tensor_sharding, a), h->may_lack, h->any_mesh);
}

static bool check_dim_result(checker *k, const collective *c, size_t d, axis_list want) {
  if (axes_eq(want, to_axes(k, c->mesh, dim_axes(c->out, d)))) return true;
  return op_error(k->c, c->op,
                  "result sharding doesn't match expected sharding %s on dimension %zu",
                  show_list(k, c->mesh, want), d);
}

/* Takes `gone` from the minor end of a dimension's axes, where gathering and all-to-all take them:
 * the major end says which part of the whole a device has, so it must stay. A part of an axis may
 * go; the rest of it stays. */
static bool take_axes(checker *k, const collective *c, size_t d, attrs gone, const char *what,
                      axis_list *out) {
  axis_list have = to_axes(k, c->mesh, dim_axes(c->in, d)), l = to_axes(k, c->mesh, gone);
  axis_vec v = {0};
  for (size_t i = 0; i < have.len; i++) VEC_PUSH(k->scratch, v, have.data[i]);
  for (size_t i = l.len; i-- > 0;) {
    if (v.len == 0 || !axis_suffix_of(l.data[i], v.data[v.len - 1]))
      return op_error(k->c, c->op, "can't apply %s axis %s to operand sharding on dimension %zu",
                      what, show_ref(k, c->mesh, l.data[i]), d);
    axis_ref last = v.data[--v.len], rest;
    if (axis_prefix_without(last, l.data[i], &rest)) VEC_PUSH(k->scratch, v, rest);
  }
  *out = axis_vec_list(&v);
  return true;
}

/* At the minor end, merged with what is there: "a":(1)2 and "a":(2)2 are one. */
static axis_list add_axes(checker *k, const collective *c, size_t d, attrs more) {
  axis_list have = to_axes(k, c->mesh, dim_axes(c->in, d)), l = to_axes(k, c->mesh, more);
  axis_vec v = {0};
  for (size_t i = 0; i < have.len; i++) VEC_PUSH(k->scratch, v, have.data[i]);
  for (size_t i = 0; i < l.len; i++) axes_add_or_merge(k->scratch, &v, l.data[i]);
  return axis_vec_list(&v);
}

/* ---- unreduced axes ---- */

static i64 kind_of(const tensor_sharding_attr *s) {
  return s && s->unreduced_kind ? ((const reduction_op_attr *)s->unreduced_kind)->value : 0;
}

static const char *kind_name(i64 kind) {
  static const char *const names[] = {"sum", "max", "min", "mul", "and", "or"};
  return kind >= 0 && kind < (i64)COUNT(names) ? names[kind] : "?";
}

static axis_list all_unreduced(arena *a, const unreduced_axes *l, size_t n) {
  axis_list all = {0};
  for (size_t i = 0; i < n; i++) all = axes_concat(a, all, l[i].axes);
  return all;
}

/* Those that hold some of the axes are of this kind. */
static bool check_kind(ir_ctx *c, const op *o, const unreduced_axes *l, size_t n, axis_list axes,
                       int kind, const char *verb) {
  for (size_t i = 0; i < n; i++)
    if (axes_overlap(l[i].axes, axes) && (int)l[i].kind != kind)
      return op_error(c, o, "cannot %s '%s' unreduced axes. Expected '%s'.", verb,
                      kind_name(l[i].kind), kind_name(kind));
  return true;
}

/* Axes that come, go and stay are looked at in turn. The sum is the kind that resharding may bring
 * in; what goes must go in its own kind. */
bool dialect_check_unreduced(ir_ctx *c, const op *o, const unreduced_change *u) {
  arena *mem = ir_arena(c);
  axis_list a = all_unreduced(mem, u->from, u->num_from);
  axis_list b = all_unreduced(mem, u->to, u->num_to);
  axis_list come = axes_difference(mem, b, a), go = axes_difference(mem, a, b);
  if (come.len && u->into < 0)
    return op_error(c, o, "cannot add new unreduced axis '" STR_FMT "'.",
                    STR_ARG(u->mesh->axes[come.data[0].axis].name));
  if (!check_kind(c, o, u->to, u->num_to, come, u->into, "introduce")) return false;
  if (go.len && u->out_of < 0)
    return op_error(c, o,
                    "dropped unreduced axis '" STR_FMT
                    "' without a blessed operation (e.g., sdy.reshard). This is an invalid "
                    "transition from unreduced to reduced.",
                    STR_ARG(u->mesh->axes[go.data[0].axis].name));
  if (!check_kind(c, o, u->from, u->num_from, go, u->out_of, "reduce")) return false;
  for (size_t i = 0; i < u->num_to; i++)
    for (size_t j = 0; j < u->num_from; j++)
      if (u->to[i].kind != u->from[j].kind && axes_overlap(u->from[j].axes, u->to[i].axes))
        return op_error(
            c, o, "cannot change the reduction operator of kept unreduced axes from %s to %s.",
            kind_name(u->from[j].kind), kind_name(u->to[i].kind));
  return true;
}

static unreduced_axes unreduced_of(checker *k, const mesh *m, const tensor_sharding_attr *s) {
  return (unreduced_axes){to_axes(k, m, s->unreduced), (unreduced_kind)kind_of(s)};
}

static bool check_transition(checker *k, const op *o, const tensor_sharding_attr *from,
                             const tensor_sharding_attr *to, i64 into, i64 out_of) {
  const mesh_attr *ma = checker_mesh(k, to->mesh);
  if (!from || checker_mesh(k, from->mesh) != ma) return true;
  const mesh *m = to_mesh(k, ma);
  unreduced_axes a = unreduced_of(k, m, from), b = unreduced_of(k, m, to);
  return dialect_check_unreduced(k->c, o,
                                 &(unreduced_change){m, &a, 1, &b, 1, (int)into, (int)out_of});
}

/* Barriers pass values through, so the sharding is that of what is behind them. */
bool check_reshard(checker *k, const op *o, const tensor_sharding_attr *to) {
  const value *v = op_operand(o, 0);
  bool known;
  while (value_op(v) && op_is(value_op(v), propagation_barrier)) v = op_operand(value_op(v), 0);
  const tensor_sharding_attr *from = sharding_of_value(v, &known);
  if (!from || !known) return true;
  return check_transition(k, o, from, to, 0, kind_of(from));
}

/* ---- those with axes for each dimension ---- */

static bool check_lists(checker *k, const collective *c, const axis_ref_lists_attr *l) {
  axis_use u = {.mesh = c->mesh_attr, .where = ""};
  for (size_t i = 0; i < l->lists.len; i++) {
    const axis_ref_list_attr *one = attr_as(axis_ref_list, l->lists.data[i]);
    if (!one) return op_error(k->c, c->op, "expected lists of axis references");
    if (!check_axes(k, c->op, &u, one->axes)) return false;
  }
  if (!check_sub_axes(k, c->op, &u)) return false;
  if (c->out->dims.len == l->lists.len) return true;
  return op_error(k->c, c->op, "result sharding has rank %zu but collective axes has rank %zu",
                  c->out->dims.len, l->lists.len);
}

/* what: axes that go from dimensions, as messages call them; NULL: axes that come. */
static bool check_per_dim(checker *k, const collective *c, const axis_ref_lists_attr *l,
                          const char *what) {
  if (!check_lists(k, c, l)) return false;
  for (size_t d = 0; d < l->lists.len && !c->skip; d++) {
    axis_list want;
    if (!what)
      want = add_axes(k, c, d, list_at(l, d));
    else if (!take_axes(k, c, d, list_at(l, d), what, &want))
      return false;
    if (!check_dim_result(k, c, d, want)) return false;
  }
  return true;
}

bool use_sdy_all_gather(checker *k, const op *o) {
  struct sdy_all_gather_attrs a;
  if (!view_sdy_all_gather(o, &a)) return false;
  collective c = collect(k, o, a.out_sharding);
  return check_per_dim(k, &c, a.gathering_axes, "gathering");
}

bool use_sdy_all_slice(checker *k, const op *o) {
  struct sdy_all_slice_attrs a;
  if (!view_sdy_all_slice(o, &a)) return false;
  collective c = collect(k, o, a.out_sharding);
  return check_per_dim(k, &c, a.slicing_axes, NULL);
}

bool use_sdy_reduce_scatter(checker *k, const op *o) {
  struct sdy_reduce_scatter_attrs a;
  i64 kind = 0;
  if (!view_sdy_reduce_scatter(o, &a)) return false;
  collective c = collect(k, o, a.out_sharding);
  if (a.reduction_op) kind = a.reduction_op->value;
  return check_transition(k, o, c.skip ? NULL : c.in, c.out, -1, kind) &&
         check_per_dim(k, &c, a.reduce_scatter_axes, NULL);
}

/* The unreduced axes of the result are those of the operand and `more`. */
static bool check_unreduced(checker *k, const collective *c, axis_list more, const char *what) {
  arena *mem = k->scratch;
  axis_list have = c->in ? to_axes(k, c->mesh, c->in->unreduced) : (axis_list){0};
  axis_list want = axes_sort_merge(mem, axes_concat(mem, have, more));
  if (axes_eq(want, to_axes(k, c->mesh, c->out->unreduced))) return true;
  return op_error(k->c, c->op, "out_unreduced_axes should be in_unreduced_axes + %s", what);
}

bool use_sharded_to_unreduced(checker *k, const op *o) {
  struct sharded_to_unreduced_attrs a;
  if (!view_sharded_to_unreduced(o, &a)) return false;
  collective c = collect(k, o, a.out_sharding);
  if (kind_of(c.out)) return op_error(k->c, o, "out_sharding reduction_op must be SUM");
  if (!check_per_dim(k, &c, a.axes, "shard-to-unreduce")) return false;
  axis_list more = {0};
  for (size_t i = 0; i < a.axes->lists.len; i++)
    more = axes_concat(k->scratch, more, to_axes(k, c.mesh, list_at(a.axes, i)));
  return c.skip || check_unreduced(k, &c, more, "sharded_to_unreduced_axes");
}

/* ---- the others ---- */

/* Do the two shardings put the same axes on every dimension? */
static bool same_dims(checker *k, const collective *c) {
  for (size_t d = 0; d < c->out->dims.len; d++)
    if (!axes_eq(to_axes(k, c->mesh, dim_axes(c->in, d)), to_axes(k, c->mesh, dim_axes(c->out, d))))
      return false;
  return true;
}

static bool overlaps_dims(checker *k, const collective *c, axis_ref r) {
  for (size_t d = 0; c->in && d < c->in->dims.len; d++)
    if (axes_overlap_ref(to_axes(k, c->mesh, dim_axes(c->in, d)), r)) return true;
  return false;
}

bool use_sdy_all_reduce(checker *k, const op *o) {
  struct sdy_all_reduce_attrs a;
  if (!view_sdy_all_reduce(o, &a)) return false;
  collective c = collect(k, o, a.out_sharding);
  if (!c.skip && !same_dims(k, &c))
    return op_error(k->c, o, "operand and result shardings are not equivalent");
  axis_use u = {.mesh = c.mesh_attr, .where = ""};
  if (!check_sorted_axes(k, o, &u, a.reduction_axes->axes, "reduction") ||
      !check_sub_axes(k, o, &u))
    return false;
  axis_list l = to_axes(k, c.mesh, a.reduction_axes->axes);
  axis_list out = to_axes(k, c.mesh, c.out->unreduced);
  axis_list rep = c.in ? to_axes(k, c.mesh, c.in->replicated) : (axis_list){0};
  for (size_t i = 0; i < l.len && !c.skip; i++) {
    if (overlaps_dims(k, &c, l.data[i]) || axes_overlap_ref(rep, l.data[i]))
      return op_error(
          k->c, o, "reduction axis %s overlaps with operand dimension sharding or replicated axes",
          show_ref(k, c.mesh, l.data[i]));
    if (axes_overlap_ref(out, l.data[i]))
      return op_error(k->c, o, "reduction axis %s overlaps with result unreduced axes",
                      show_ref(k, c.mesh, l.data[i]));
  }
  return check_transition(k, o, c.skip ? NULL : c.in, c.out, -1,
                          a.reduction_op ? a.reduction_op->value : 0);
}

bool use_replicated_to_unreduced(checker *k, const op *o) {
  struct replicated_to_unreduced_attrs a;
  if (!view_replicated_to_unreduced(o, &a)) return false;
  collective c = collect(k, o, a.out_sharding);
  if (kind_of(c.out)) return op_error(k->c, o, "out_sharding reduction_op must be SUM");
  if (!c.skip && !same_dims(k, &c))
    return op_error(k->c, o, "input and output must share the same dimension shardings");
  if (a.axes->axes.len == 0) return op_error(k->c, o, "r2u axes must not be empty");
  axis_use u = {.mesh = c.mesh_attr, .where = ""};
  if (!check_sorted_axes(k, o, &u, a.axes->axes, "r2u") || !check_sub_axes(k, o, &u)) return false;
  axis_list l = to_axes(k, c.mesh, a.axes->axes);
  axis_list in = c.in ? to_axes(k, c.mesh, c.in->unreduced) : (axis_list){0};
  for (size_t i = 0; i < l.len && !c.skip; i++) {
    const char *r = show_ref(k, c.mesh, l.data[i]);
    if (overlaps_dims(k, &c, l.data[i]))
      return op_error(k->c, o, "r2u axis %s overlaps with operand dimension sharding", r);
    if (axes_overlap_ref(in, l.data[i]))
      return op_error(k->c, o, "r2u axis %s overlaps with operand unreduced axes", r);
  }
  return c.skip || check_unreduced(k, &c, l, "r2u_axes");
}

/* Attributes are interned: the same axes are the same pointers. */
static bool same_axes(const mesh_attr *a, const mesh_attr *b) {
  return a->axes.len == b->axes.len &&
         memcmp(a->axes.data, b->axes.data, a->axes.len * sizeof *a->axes.data) == 0;
}

/* Devices change places, so each dimension is cut into as many pieces as before; the meshes may
 * differ in the order of their devices only, and then they must. */
bool use_sdy_collective_permute(checker *k, const op *o) {
  struct sdy_collective_permute_attrs a;
  if (!view_sdy_collective_permute(o, &a)) return false;
  collective c = collect(k, o, a.out_sharding);
  if (c.skip) return true;
  const mesh_attr *in = checker_mesh(k, c.in->mesh);
  if (in != c.mesh_attr && !same_axes(in, c.mesh_attr))
    return op_error(k->c, o, "result mesh has different axes than operand mesh"), note_mesh(k, &c);
  if (c.in->mesh != c.out->mesh && i64s_eq(in->device_ids, c.mesh_attr->device_ids))
    return op_error(k->c, o, "result mesh name is different but same device ids as operand"),
           note_mesh(k, &c);
  for (size_t d = 0; d < c.out->dims.len; d++) {
    i64 from = axes_size(to_axes(k, c.mesh, dim_axes(c.in, d)));
    i64 to = axes_size(to_axes(k, c.mesh, dim_axes(c.out, d)));
    if (from != to)
      return op_error(k->c, o,
                      "sharded size of result doesn't match operand on dimension %zu: %lld != %lld",
                      d, (long long)to, (long long)from);
  }
  return true;
}

/* ---- all-to-all ---- */

static bool check_params(checker *k, const collective *c, attrs params, dim_set *seen) {
  axis_use u = {.mesh = c->mesh_attr, .where = ""};
  const op *o = c->op;
  i64 rank = rank_of(out_type(o, 0)), last = -1;
  for (size_t i = 0; i < params.len; i++) {
    const all_to_all_param_attr *p = attr_as(all_to_all_param, params.data[i]);
    if (!p) return op_error(k->c, o, "expected all-to-all params");
    if (!check_axes(k, o, &u, p->axes)) return false;
    i64 dims[] = {p->src_dim, p->tgt_dim};
    for (int j = 0; j < 2; j++)
      if (dims[j] < 0 || dims[j] >= rank)
        return op_error(k->c, o, "%s dimension %lld is out of range [0, %lld)",
                        j ? "target" : "source", (long long)dims[j], (long long)rank);
    for (int j = 0; j < 2; j++) {
      if (dim_in(*seen, dims[j]))
        return op_error(k->c, o, "overlapping source/target dimensions in all-to-all params: %lld",
                        (long long)dims[j]);
      *seen |= 1ull << dims[j];
    }
    if (last >= p->src_dim)
      return op_error(
          k->c, o, "source dimensions are not sorted in ascending order: %lld appears after %lld",
          (long long)p->src_dim, (long long)last);
    last = p->src_dim;
  }
  return check_sub_axes(k, o, &u);
}

bool use_sdy_all_to_all(checker *k, const op *o) {
  struct sdy_all_to_all_attrs a;
  dim_set seen = 0;
  if (!view_sdy_all_to_all(o, &a)) return false;
  collective c = collect(k, o, a.out_sharding);
  attrs params = a.params->params;
  if (params.len == 0) return op_error(k->c, o, "parameter list is empty");
  if (!check_params(k, &c, params, &seen)) return false;
  for (size_t i = 0; i < params.len && !c.skip; i++) {
    const all_to_all_param_attr *p = (const all_to_all_param_attr *)params.data[i];
    size_t src = (size_t)p->src_dim, tgt = (size_t)p->tgt_dim;
    axis_list want;
    if (!take_axes(k, &c, src, p->axes, "all-to-all", &want) ||
        !check_dim_result(k, &c, src, want) ||
        !check_dim_result(k, &c, tgt, add_axes(k, &c, tgt, p->axes)))
      return false;
  }
  for (size_t d = 0; d < c.out->dims.len && !c.skip; d++)
    if (!dim_in(seen, (i64)d) && !check_dim_result(k, &c, d, to_axes(k, c.mesh, dim_axes(c.in, d))))
      return false;
  return true;
}
