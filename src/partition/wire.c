#include "partition/wire.h"

#include "dialect/dialect.h"
#include "partition/loop.h"
#include "shard/sharding_ir.h"

#define ASKED STR("terrazzo.asked")

bool wire_is_asked(const op *o) { return op_discardable(o, ASKED) != NULL; }
void wire_set_asked(ir_module *m, op *o) { op_set_attr(m, o, ASKED, attr_unit(m->ctx)); }

static walk_result mark(void *user, op *o) {
  if (op_kind(o) < OP_COUNT && o->info->family == FAMILY_coll) wire_set_asked(user, o);
  return WALK_ON;
}

void wire_mark_asked(ir_module *m) { op_walk(m->root, mark, m); }

/* ---- axes ---- */

typedef struct lister {
  arena *a;
  shard_space *space;
  VEC(const mesh *) meshes;
  wire_uses uses;
  bool beside;     /* somebody wants to know */
  double products; /* multiplications in products of matrices and convolutions, times trips */
} lister;

/* The part of axis k along which these positions differ, others being equal; true if it is one:
 * base + i * step for `count` i. */
static bool part_of_axis(arena *a, const mesh *m, u32 k, i64s positions, axis_ref *out) {
  i64 *c = ARENA_ARRAY(a, i64, m->num_axes), least = INT64_MAX, next = INT64_MAX, most = -1;
  for (size_t i = 0; i < positions.len; i++) {
    mesh_coordinates(m, positions.data[i], c);
    i64 x = c[k];
    if (x < least)
      next = least, least = x;
    else if (x > least && x < next)
      next = x;
    if (x > most) most = x;
  }
  i64 size = m->axes[k].size, step = most > least ? next - least : size;
  i64 count = most > least ? (most - least) / step + 1 : 1;
  *out = (axis_ref){k, size / (count * step), count};
  return size % (count * step) == 0 && least < step;
}

/* Empty: these devices are no sub-grid of the mesh. */
static str axes_between(arena *a, const mesh *m, i64s devices) {
  i64 *at = ARENA_ARRAY(a, i64, devices.len), product = 1;
  buf b;
  buf_init(&b, &mem_system);
  for (size_t i = 0; i < devices.len; i++)
    if ((at[i] = mesh_position_of(m, devices.data[i])) < 0) devices.len = 0;
  for (u32 k = 0; k < m->num_axes && devices.len; k++) {
    axis_ref r;
    if (!part_of_axis(a, m, k, (i64s){at, devices.len}, &r)) devices.len = 0;
    if (r.size == 1) continue;
    product *= r.size;
    buf_printf(&b, "%s\"" STR_FMT "\"", b.len ? ", " : "", STR_ARG(m->axes[k].name));
    if (r.size != m->axes[k].size)
      buf_printf(&b, ":(%lld)%lld", (long long)r.pre, (long long)r.size);
  }
  bool fits = devices.len && product == (i64)devices.len;
  str text = fits ? arena_str(a, buf_view(&b)) : (str){0};
  buf_deinit(&b);
  return text;
}

static str axes_of(const lister *l, i64s devices) {
  for (size_t i = 0; i < l->meshes.len; i++) {
    str s = axes_between(l->a, l->meshes.data[i], devices);
    if (s.len) return s;
  }
  return arena_printf(l->a, "groups of %zu", devices.len);
}

/* ---- collectives ---- */

static u64 all_bytes(const op *o, bool results) {
  u64 sum = 0;
  for (u32 i = 0; i < (results ? o->num_results : o->num_operands); i++)
    sum += type_num_bytes(results ? op_result(o, i)->type : op_operand(o, i)->type);
  return sum;
}

/* A row of a matrix of ids; -1 stands for none. */
static i64s row_of(arena *a, const dense_attr *ids, size_t row) {
  i64s dims = ids->type->dims;
  size_t n = dims.len == 2 ? (size_t)dims.data[1] : 0;
  VEC(i64) out = {0};
  for (size_t k = 0; k < n; k++) {
    i64 id = attr_dense_int(&ids->base, row * n + k);
    if (id >= 0) VEC_PUSH(a, out, id);
  }
  return (i64s){out.data, out.len};
}

/* Marks the axes along which two devices differ; false: one is not of the mesh. */
static bool mark_between(arena *a, const mesh *m, i64s pair, bool *along) {
  i64 *x = ARENA_ARRAY(a, i64, m->num_axes + 1), *y = ARENA_ARRAY(a, i64, m->num_axes + 1);
  i64 from = mesh_position_of(m, pair.data[0]), to = mesh_position_of(m, pair.data[1]);
  if (from < 0 || to < 0) return false;
  mesh_coordinates(m, from, x);
  mesh_coordinates(m, to, y);
  for (u32 k = 0; k < m->num_axes; k++) along[k] |= x[k] != y[k];
  return true;
}

static void add_permute(lister *l, const op *o, const dense_attr *pairs, wire_use *u) {
  const mesh *m = l->meshes.len ? l->meshes.data[0] : NULL;
  size_t n = pairs->type->dims.len == 2 ? (size_t)pairs->type->dims.data[0] : 0;
  bool *along = arena_zalloc(l->a, (m ? m->num_axes : 0) + 1);
  u->group = 2;
  for (size_t i = 0; i < n; i++) {
    i64s pair = row_of(l->a, pairs, i);
    if (pair.len != 2 || pair.data[0] == pair.data[1]) continue;
    u->bytes = all_bytes(o, false);
    if (m && !mark_between(l->a, m, pair, along)) m = NULL;
  }
  u->axes = m ? STR("") : STR("?");
  for (u32 k = 0; m && k < m->num_axes; k++)
    if (along[k])
      u->axes = arena_printf(l->a, STR_FMT "%s\"" STR_FMT "\"", STR_ARG(u->axes),
                             u->axes.len ? ", " : "", STR_ARG(m->axes[k].name));
}

/* The first of the groups, as lists of ids or as axes of a mesh. */
static i64s first_group(lister *l, const attr *groups) {
  const dense_attr *ids = attr_as(dense, groups);
  const mesh *m;
  axis_list axes;
  if (ids) return row_of(l->a, ids, 0);
  if (!shard_read_groups(l->space, groups, &m, &axes)) return (i64s){0};
  i64s out = {ARENA_ARRAY(l->a, i64, (size_t)axes_size(axes)), (size_t)axes_size(axes)};
  for (size_t i = 0; i < out.len; i++)
    ((i64 *)out.data)[i] = mesh_device_at(m, axes_position_at(m, axes, 0, (i64)i));
  return out;
}

static void add_groups(lister *l, const op *o, const attr *groups, wire_use *u) {
  i64s first = first_group(l, groups);
  u64 n = first.len, whole = all_bytes(o, op_is(o, all_gather));
  u->group = (u32)n;
  u->axes = n > 1 ? axes_of(l, first) : STR("");
  bool twice = op_is(o, all_reduce);
  u->bytes = n ? whole / n * (n - 1) * (twice ? 2 : 1) : 0;
  if (op_is(o, collective_broadcast)) u->bytes = n > 1 ? whole : 0;
}

static void add(lister *l, const op *o, u64 trips, bool unknown) {
  wire_use u = {.op = o, .trips = trips, .unknown = unknown, .axes = STR("")};
  u.asked = wire_is_asked(o);
  const attr *groups = op_attr(o, SLOT_NAME(replica_groups));
  const dense_attr *pairs = attr_as(dense, op_attr(o, SLOT_NAME(source_target_pairs)));
  if (pairs)
    add_permute(l, o, pairs, &u);
  else if (groups)
    add_groups(l, o, groups, &u);
  VEC_PUSH(l->a, l->uses, u);
}

/* Each element of the result is a sum over what is contracted: all of the right operand but what
 * the result has of it. */
static double products_of(const op *o) {
  bool dot = op_is(o, dot_general) || op_is(o, dot), conv = op_is(o, convolution);
  i64 x, y, z;
  if ((!dot && !conv) || !type_num_elements(op_operand(o, 0)->type, &x) ||
      !type_num_elements(op_operand(o, 1)->type, &y) || !type_num_elements(o->results[0].type, &z))
    return 0;
  struct convolution_attrs c;
  if (conv && view_convolution(o, &c)) {
    i64 features = o->results[0].type->dims.data[c.dimension_numbers->output_feature_dimension];
    return features > 0 ? (double)z * (double)y / (double)features : 0;
  }
  struct dot_general_attrs d;
  double k = 1;
  i64s dims = op_operand(o, 0)->type->dims;
  if (op_is(o, dot)) return (double)z * (dims.len ? (double)dims.data[dims.len - 1] : 1);
  if (!view_dot_general(o, &d)) return 0;
  i64s contracted = d.dot_dimension_numbers->lhs_contracting_dimensions;
  for (size_t i = 0; i < contracted.len; i++) k *= (double)dims.data[contracted.data[i]];
  return (double)z * k;
}

static bool uses_any(const op *user, const op *o) {
  for (u32 i = 0; i < o->num_results; i++)
    for (const use *u = op_result(o, i)->uses; u; u = u->next)
      if (op_is_inside(u->owner, user)) return true;
  return false;
}

enum { LOOK_AHEAD = 256 };

/* What could be computed while it is under way, as the program is ordered: it could begin behind
 * what makes its operands. */
static double products_beside(const op *o) {
  double sum = 0;
  const op *at = o->next;
  for (u32 n = 0; at && n < LOOK_AHEAD && !uses_any(at, o); n++, at = at->next)
    if (op_kind(at) < OP_COUNT) sum += products_of(at);
  at = o->prev;
  for (u32 n = 0; at && n < LOOK_AHEAD && !uses_any(o, at); n++, at = at->prev)
    if (op_kind(at) < OP_COUNT) sum += products_of(at);
  return sum;
}

static void list_block(lister *l, const block *b, u64 trips, bool unknown) {
  for (const op *o = b->first; o; o = o->next) {
    bool known = op_kind(o) < OP_COUNT;
    if (known && o->info->family == FAMILY_coll) {
      add(l, o, trips, unknown);
      l->uses.data[l->uses.len - 1].beside = l->beside ? products_beside(o) : 0;
      continue;
    }
    if (known) l->products += products_of(o) * (double)trips;
    u64 inside = trips;
    loop_count n;
    bool open = unknown;
    if (known && op_is(o, while)) {
      if (loop_counts(o, &n))
        inside = n.trips && trips > UINT64_MAX / n.trips ? UINT64_MAX : trips * n.trips;
      else
        open = true;
    }
    for (u32 r = 0; r < o->num_regions; r++)
      for (const block *in = o->regions[r].first; in; in = in->next)
        list_block(l, in, inside, open);
  }
}

static lister list_all(arena *a, ir_module *m, bool beside) {
  shard_space *space = shard_space_create(m, a);
  lister l = {.a = a, .space = space, .beside = beside};
  for (op *o = op_body(m->root, 0)->first; o; o = o->next)
    if (op_is(o, sdy_mesh)) VEC_PUSH(a, l.meshes, shard_mesh_named(space, symbol_name(o)));
  list_block(&l, op_body(m->root, 0), 1, false);
  return l;
}

wire_uses wire_list(arena *a, ir_module *m) { return list_all(a, m, true).uses; }

/* An accelerator of these years does some 1,000 multiplications in the time that a byte takes to
 * its neighbour (300 T/s beside 300 GB/s). */
enum { PRODUCTS_A_BYTE = 1000 };

double wire_cost(arena *a, ir_module *m) {
  lister l = list_all(a, m, false);
  double cost = l.products / PRODUCTS_A_BYTE;
  for (size_t i = 0; i < l.uses.len; i++) {
    const wire_use *u = &l.uses.data[i];
    cost += ((double)u->bytes + WIRE_BYTES_A_CALL) * (double)u->trips;
  }
  return cost;
}

/* ---- seconds ---- */

static bool is_cheap(const op *o) {
  static const op_family families[] = {FAMILY_ew, FAMILY_cast, FAMILY_bcast};
  for (size_t i = 0; i < COUNT(families); i++)
    if (o->info->family == families[i]) return true;
  return false;
}

static bool is_view(const op *o) {
  return op_is(o, reshape) || op_is(o, transpose) || op_is(o, broadcast_in_dim);
}

/* It is in memory: nobody computes it where its only use is. */
static bool is_stored(const value *v) {
  const op *o = value_op(v);
  if (!o || op_kind(o) == OP_COUNT) return true;
  if (op_is(o, iota) || op_has(o, CONSTANT)) return false;
  if (!is_cheap(o)) return true;
  if (!value_has_one_use(v)) return v->uses != NULL;
  const op *user = v->uses->owner;
  return op_kind(user) == OP_COUNT || (!is_cheap(user) && !op_is(user, reduce));
}

static double bytes_read(const value *v) {
  const op *o;
  while ((o = value_op(v)) && op_kind(o) < OP_COUNT && is_view(o)) v = op_operand(o, 0);
  return is_stored(v) ? (double)type_num_bytes(v->type) : 0;
}

/* Those that look at a part of an operand, or change it in place. */
static double bytes_of_part(const op *o) {
  if (op_is(o, slice) || op_is(o, dynamic_slice) || op_is(o, gather))
    return 2 * (double)all_bytes(o, true);
  if (op_is(o, dynamic_update_slice)) return 2 * (double)type_num_bytes(op_operand(o, 1)->type);
  if (op_is(o, scatter)) /* operands, indices, updates */
    return 3 * (double)type_num_bytes(op_operand(o, o->num_operands - 1)->type);
  return -1;
}

static double bytes_moved(const op *o) {
  double sum = bytes_of_part(o);
  if (sum >= 0 || is_view(o) || op_has(o, CONSTANT) || op_has(o, TERMINATOR))
    return sum < 0 ? 0 : sum;
  sum = 0;
  for (u32 i = 0; i < o->num_operands; i++) sum += bytes_read(op_operand(o, i));
  for (u32 i = 0; i < o->num_results; i++)
    if (is_stored(op_result(o, i))) sum += (double)type_num_bytes(op_result(o, i)->type);
  return sum;
}

typedef struct speed {
  double flops, bandwidth;
} speed;

static double seconds_of(const block *b, const speed *s) {
  double sum = 0;
  for (const op *o = b->first; o; o = o->next) {
    bool known = op_kind(o) < OP_COUNT;
    if (known && o->info->family == FAMILY_coll) continue;
    bool region = known && o->info->family == FAMILY_region;
    loop_count n;
    u64 trips = known && op_is(o, while) && loop_counts(o, &n) ? n.trips : 1;
    if (region || op_is(o, func)) {
      for (u32 r = 0; r < o->num_regions; r++)
        for (const block *in = o->regions[r].first; in; in = in->next)
          sum += seconds_of(in, s) * (double)trips;
      continue;
    }
    double product = known ? 2 * products_of(o) / s->flops : 0;
    double memory = bytes_moved(o) / s->bandwidth;
    sum += product > memory ? product : memory;
  }
  return sum;
}

double wire_seconds(const ir_module *m, double flops, double bandwidth) {
  return seconds_of(op_body(m->root, 0), &(speed){flops, bandwidth});
}
