/* Sorts along a dimension that is cut, by Leighton's columnsort (Tight Bounds on the Complexity of
 * Parallel Sorting, IEEE Transactions on Computers C-34, 1985). Shards are `count` columns of
 * `size` elements, at least 2 (count - 1)^2 each:
 *
 *   sort columns; deal each out to all, element i to column i % count
 *   sort columns; deal each out to all, block i to column i
 *   sort columns; then the end of each together with the beginning of the next one
 *
 * After the second deal no element is more than (count - 1)^2 places, by rows, from where it
 * belongs. So each column has at most that many of a neighbour's, as its first or last ones, and
 * those that belong among the last ones of a column are among twice as many on both sides of its
 * border, which are all that is sorted there.
 *
 * Of eight devices each sends 1.75 of its shards, where gathering takes 7, and sorts a shard; what
 * follows is of sorted runs, which the executor's sort merges. Devices do what they do whatever the
 * elements are. That does not leave equal ones in their order: where it can be seen, their places
 * go along, and come second. All devices know who had what after the first deal, so that places
 * are sent from there on only. Padding has a flag, and comes last. */
#include "partition/columns.h"
#include "partition/partition.h"
#include "partition/wire.h"

typedef struct columns {
  const part_env *e;
  op *o;
  cursor at;
  struct sort_attrs a;
  const sharding *s;
  u32 dim;
  i64 count, size, whole; /* columns, elements of each; elements in all, without padding */
  bool stays;             /* the results are cut as the operand is */
  bool ties, pads;
  value **v; /* what moves: operands, then flags of padding, then places */
  u32 n, place;
} columns;

enum { EQUAL = 0, AT_LEAST = 2, GREATER = 3, LESS = 5, TOTALORDER = 2 };

/* ---- shapes ---- */

/* The sorted dimension as n, of which one is cut. */
static const sharding *cut_at(const columns *c, u32 cut, u32 n) {
  u32 rank = c->s->rank - 1 + n;
  axis_list *axes = arena_zalloc(c->e->a, rank * sizeof *axes);
  for (u32 d = 0; d < c->s->rank; d++)
    if (d != c->dim) axes[d < c->dim ? d : d + n - 1] = c->s->dims[d].axes;
  axes[c->dim + cut] = c->s->dims[c->dim].axes;
  return sharding_make_closed(c->e->a, c->s->mesh, axes, rank);
}

/* The first of them. */
static value *shaped(const columns *c, value *v, u32 n) {
  return emit_sharded(c->e, v, cut_at(c, 0, n));
}

static i64s dims_as(const columns *c, const i64 *sizes, u32 n) {
  u32 rank = c->s->rank - 1 + n;
  i64 *dims = ARENA_ARRAY(c->e->a, i64, rank);
  i64s whole = op_operand(c->o, 0)->type->dims;
  for (u32 d = 0; d < whole.len; d++)
    if (d != c->dim) dims[d < c->dim ? d : d + n - 1] = whole.data[d];
  for (u32 i = 0; i < n; i++) dims[c->dim + i] = sizes[i];
  return (i64s){dims, rank};
}

static value *reshaped(columns *c, value *v, const i64 *sizes, u32 n) {
  return shaped(c, emit_reshape(&c->at, v, dims_as(c, sizes, n)), n);
}

static void reshape_all(columns *c, const i64 *sizes, u32 n) {
  for (u32 i = 0; i < c->n; i++) c->v[i] = reshaped(c, c->v[i], sizes, n);
}

static value *numbers(columns *c, const type *t, u32 k, u32 n) {
  value *v = emit(&c->at, OP_iota, NULL, 0, t);
  op_set(v->def.op, iota, iota_dimension, attr_i64(c->e->c, c->dim + k));
  return shaped(c, v, n);
}

static value *all_are(columns *c, const type *t, i64 number, u32 n) {
  return shaped(c, emit_splat(&c->at, t, (const char *)&number), n);
}

static const type *number_type(const columns *c, i64s dims) {
  bool wide = c->whole + 2 * c->count * c->count > INT32_MAX;
  return type_tensor(c->e->c, dims, type_int(c->e->c, wide ? 64 : 32, SIGNLESS), NULL);
}

/* ---- comparators ---- */

static value *compare(cursor *at, value *x, value *y, i64 direction) {
  return emit_compare(at, x, y, direction);
}

/* What the comparator says of these. */
static value *compared(const columns *c, cursor *at, value *const *args) {
  const block *b = op_body(c->o, 0);
  const op *end = op_terminator(b);
  ir_map *map = ir_map_create(c->e->a);
  for (u32 i = 0; i < b->num_args; i++) ir_map_set(map, b->args[i], args[i]);
  for (const op *o = b->first; o != end; o = o->next)
    op_insert(op_clone(c->e->m, o, map), at->b, at->before);
  return ir_map_get(map, op_operand(end, 0));
}

static value *both(cursor *at, value *x, value *y) { return emit_binary(at, OP_and, x, y); }
static value *either(cursor *at, value *x, value *y) { return emit_binary(at, OP_or, x, y); }

static bool is_comparison(const op *o, i64 direction) {
  struct compare_attrs a;
  return o && op_is(o, compare) && view_compare(o, &a) &&
         a.comparison_direction->value == direction;
}

/* `less`, and `tie` of those of which neither is less than the other. Comparisons of which the next
 * one counts where the one before finds no difference keep that form, by which the executor knows
 * them. */
static value *with_tie(const columns *c, cursor *at, value *const *args, value *less, value *tie) {
  const op *o = value_op(less), *first = o && op_is(o, or) ? value_op(op_operand(o, 0)) : o;
  const op *rest = first != o ? value_op(op_operand(o, 1)) : NULL;
  bool ordered = is_comparison(first, LESS) || is_comparison(first, GREATER);
  if (ordered && first == o) {
    op *equal = op_clone(c->e->m, o, NULL);
    op_insert(equal, at->b, at->before);
    op_set(equal, compare, comparison_direction,
           attr_enum(c->e->c, ATTR_comparison_direction, EQUAL));
    return either(at, less, both(at, op_result(equal, 0), tie));
  }
  const op *same = rest && op_is(rest, and) ? value_op(op_operand(rest, 0)) : NULL;
  if (ordered && is_comparison(same, EQUAL) && op_operand(same, 0) == op_operand(first, 0) &&
      op_operand(same, 1) == op_operand(first, 1)) {
    value *next = with_tie(c, at, args, op_operand(rest, 1), tie);
    return either(at, op_operand(o, 0), both(at, op_operand(rest, 0), next));
  }
  u32 n = op_body(c->o, 0)->num_args;
  value **turned = ARENA_ARRAY(c->e->a, value *, n);
  for (u32 i = 0; i < n; i++) turned[i] = args[i ^ 1];
  value *more = compared(c, at, turned);
  value *no = emit(at, OP_not, &more, 1, more->type);
  return either(at, less, both(at, no, tie));
}

static void make_comparator(const columns *c, op *o, bool ties) {
  block *b = block_create(c->e->m);
  region_append(&o->regions[0], b);
  cursor in = {c->e, b, NULL, c->at.loc};
  value **args = ARENA_ARRAY(c->e->a, value *, 2 * c->n);
  for (u32 i = 0; i < 2 * c->n; i++) {
    const type *t = type_with_dims(c->e->c, c->v[i / 2]->type, (i64s){0});
    (args[i] = block_add_arg(c->e->m, b, t))->num = UINT32_MAX;
  }
  value *less = compared(c, &in, args);
  if (ties) {
    value **place = args + (size_t)(2 * c->place);
    less = with_tie(c, &in, args, less, compare(&in, place[0], place[1], LESS));
  }
  if (c->pads) {
    value **flag = args + (size_t)(2 * c->o->num_operands);
    less = both(&in, compare(&in, flag[0], flag[1], EQUAL), less);
    less = either(&in, compare(&in, flag[0], flag[1], LESS), less);
  }
  emit_op(&in, OP_return, &less, 1, NULL, 0, 0);
}

/* Each is made of so many sorted runs; 0: of none. */
static void sort_columns(columns *c, bool ties, i64 runs) {
  const type **t = ARENA_ARRAY(c->e->a, const type *, c->n);
  for (u32 i = 0; i < c->n; i++) t[i] = c->v[i]->type;
  op *o = emit_op(&c->at, OP_sort, c->v, c->n, t, c->n, 1);
  op_set(o, sort, dimension, attr_i64(c->e->c, c->dim + 1));
  op_set(o, sort, is_stable, attr_bool(c->e->c, true));
  make_comparator(c, o, ties);
  if (runs) op_set_attr(c->e->m, o, STR(PARTITION_RUNS), attr_i64(c->e->c, runs));
  const sharding *s = part_sharding(c->e, c->v[0]);
  for (u32 i = 0; i < c->n; i++) {
    c->v[i] = op_result(o, i);
    part_set_sharding(c->e, o, i, s);
  }
}

/* ---- steps ---- */

/* From [count, x, y] to [count, rest]: dimension `to` of the three is cut now, and goes first. */
static void deal(columns *c, const i64 *sizes, u32 to) {
  u32 order[] = {to, to == 1 ? 0 : 1, to == 1 ? 2 : 0}, rank = c->s->rank + 2;
  if (to == 2) order[1] = 0, order[2] = 1;
  i64 *turn = ARENA_ARRAY(c->e->a, i64, rank);
  i64 turned[3];
  for (u32 d = 0; d < rank; d++) turn[d] = d;
  for (u32 i = 0; i < 3; i++) turn[c->dim + i] = c->dim + order[i], turned[i] = sizes[order[i]];
  i64s dims = dims_as(c, turned, 3);
  for (u32 i = 0; i < c->n; i++) {
    value *v = reshaped(c, c->v[i], sizes, 3);
    v = emit_reshard(&c->at, v, cut_at(c, to, 3));
    v = emit(&c->at, OP_transpose, &v, 1, type_with_dims(c->e->c, v->type, dims));
    op_set(v->def.op, transpose, permutation, attr_i64_array(c->e->c, (i64s){turn, rank}));
    c->v[i] = shaped(c, v, 3);
  }
}

/* Where the elements of each column came from, which are in that order: [column, from, i]. */
static void add_places(columns *c) {
  const type *t = number_type(c, c->v[0]->type->dims);
  value *v = emit_binary(&c->at, OP_multiply, numbers(c, t, 1, 3), all_are(c, t, c->size, 3));
  value *i = emit_binary(&c->at, OP_multiply, numbers(c, t, 2, 3), all_are(c, t, c->count, 3));
  v = emit_binary(&c->at, OP_add, shaped(c, v, 3), shaped(c, i, 3));
  v = emit_binary(&c->at, OP_add, shaped(c, v, 3), numbers(c, t, 0, 3));
  c->place = c->n;
  c->v[c->n++] = shaped(c, v, 3);
}

/* Elements of each column, in the second dimension. */
static value *part(columns *c, value *v, i64 first, i64 end) {
  u32 rank = c->s->rank + 1;
  i64 *low = arena_zalloc(c->e->a, rank * sizeof *low);
  i64 *high = arena_copy(c->e->a, v->type->dims.data, rank * sizeof *high);
  low[c->dim + 1] = first, high[c->dim + 1] = end;
  return shaped(c, emit_slice(&c->at, v, low, high), 2);
}

/* Each column gets what the one `by` before it has. */
static value *shifted(columns *c, value *v, i64 by) {
  u32 rank = c->s->rank + 1;
  i64 *low = arena_zalloc(c->e->a, rank * sizeof *low);
  i64 *high = arena_zalloc(c->e->a, rank * sizeof *high);
  low[c->dim] = by, high[c->dim] = -by;
  value *zero = emit_zeros(&c->at, type_with_dims(c->e->c, v->type, (i64s){0}));
  return shaped(c, emit_pad(&c->at, v, zero, low, high, NULL), 2);
}

static value *joined(columns *c, value **v, u32 n) {
  return shaped(c, emit_concatenate(&c->at, v, n, c->dim + 1), 2);
}

/* x in this column, y in the others. */
static value *in_column(columns *c, i64 column, value *x, value *y) {
  const type *t = number_type(c, x->type->dims);
  value *here = compare(&c->at, numbers(c, t, 0, 2), all_are(c, t, column, 2), EQUAL);
  value *v[] = {shaped(c, here, 2), x, y};
  return shaped(c, emit(&c->at, OP_select, v, 3, x->type), 2);
}

/* As many at a border may be in the wrong column, or behind those. */
static i64 border(const columns *c) {
  i64 most = 2 * (c->count - 1) * (c->count - 1), half = c->size / 2;
  return most < half ? most : half;
}

/* What lies across the border between neighbours; the ends stay as they are. */
static void sort_borders(columns *c) {
  i64 n = border(c), end = c->size - n;
  value **whole = arena_copy(c->e->a, c->v, c->n * sizeof(value *));
  value **low = ARENA_ARRAY(c->e->a, value *, c->n), **high = ARENA_ARRAY(c->e->a, value *, c->n);
  for (u32 i = 0; i < c->n; i++) {
    low[i] = part(c, whole[i], 0, n), high[i] = part(c, whole[i], end, c->size);
    c->v[i] = joined(c, (value *[]){shifted(c, high[i], 1), low[i]}, 2);
  }
  sort_columns(c, c->ties, 2);
  for (u32 i = 0; i < c->o->num_operands; i++) {
    value *first = in_column(c, 0, low[i], part(c, c->v[i], n, 2 * n));
    value *last = shifted(c, part(c, c->v[i], 0, n), -1);
    last = in_column(c, c->count - 1, high[i], last);
    c->v[i] = n == end ? joined(c, (value *[]){first, last}, 2)
                       : joined(c, (value *[]){first, part(c, whole[i], n, end), last}, 3);
  }
  c->n = c->o->num_operands;
}

/* ---- what pays ---- */

/* Equal elements look alike, and nothing goes along with them. */
static bool hides_ties(const op *o) {
  const block *b = op_body(o, 0);
  const op *less = value_op(op_operand(op_terminator(b), 0));
  struct compare_attrs a;
  if (o->num_operands > 1 || !less || !op_is(less, compare) || !view_compare(less, &a))
    return false;
  bool total = a.compare_type && a.compare_type->value == TOTALORDER;
  return (total || type_element(op_operand(o, 0)->type)->kind == TYPE_INT) &&
         op_operand(less, 0)->is_arg && op_operand(less, 1)->is_arg;
}

/* Which operand is each element's place; none: as many as there are. */
static u32 place_of(const op *o, u32 dim) {
  struct iota_attrs a;
  for (u32 i = 0; i < o->num_operands; i++) {
    const op *def = value_op(op_operand(o, i));
    if (def && op_is(def, iota) && view_iota(def, &a) && a.iota_dimension == dim) return i;
  }
  return o->num_operands;
}

/* Another dimension can be cut instead, which costs less. */
static bool may_move(const columns *c) {
  i64s dims = op_operand(c->o, 0)->type->dims;
  for (u32 d = 0; d < dims.len; d++)
    if (d != c->dim && dims.data[d] % (c->count * sharding_dim_size(c->s, d)) == 0) return true;
  return false;
}

/* Bytes that a device sends, and calls as bytes: gathered, or by columns. */
static bool costs_less(const columns *c) {
  double n = c->o->num_operands, width = 0, s = (double)c->count, size = (double)c->size;
  for (u32 i = 0; i < c->o->num_operands; i++)
    width += (double)type_storage(type_element(op_operand(c->o, i)->type));
  i64s dims = op_operand(c->o, 0)->type->dims;
  for (u32 d = 0; d < dims.len; d++)
    if (d != c->dim) size *= (double)(dims.data[d] / sharding_dim_size(c->s, d));
  double gathered = (s - 1) * size * width + n * WIRE_BYTES_A_CALL;
  bool sends_places = c->ties && c->place == c->o->num_operands;
  double calls = 4 * (n + c->pads) + 2 * sends_places;
  double across = (double)border(c) / (double)c->size;
  double sent = (width + c->pads) * (2 * (s - 1) / s + 2 * across);
  if (sends_places)
    sent += (double)type_storage(type_element(number_type(c, dims))) * ((s - 1) / s + across);
  return sent * size + calls * WIRE_BYTES_A_CALL < gathered;
}

/* What is used of the results is cut along the dimension as the operand is. */
static bool stays(const columns *c) {
  bool used = false;
  for (u32 i = 0; i < c->o->num_results; i++) {
    const value *v = op_result(c->o, i);
    const sharding *out = part_sharding(c->e, v);
    if (!v->uses) continue;
    if (!out || !mesh_same(c->s->mesh, out->mesh, true) ||
        !axes_eq(c->s->dims[c->dim].axes, out->dims[c->dim].axes))
      return false;
    used = true;
  }
  return used;
}

static bool find(columns *c) {
  op *o = c->o;
  const sharding *s = part_sharding(c->e, op_operand(o, 0));
  const type *t = op_operand(o, 0)->type;
  if (!view_sort(o, &c->a) || !s || s->unreduced.len || !type_is_ranked(t)) return false;
  i64 dim = c->a.present & 1 ? c->a.dimension : -1;
  c->dim = (u32)(dim < 0 ? dim + (i64)t->dims.len : dim);
  c->s = s;
  c->whole = t->dims.data[c->dim];
  c->count = sharding_dim_size(s, c->dim);
  if (c->count < 2 || c->whole < c->count) return false;
  c->stays = stays(c);
  i64 step = c->count * (c->count % 2 ? 2 : 1);
  c->size = ((c->whole + c->count - 1) / c->count + step - 1) / step * step;
  c->pads = c->size * c->count != c->whole;
  c->ties = c->a.is_stable && !hides_ties(o);
  c->place = place_of(o, c->dim);
  return true;
}

/* ---- both ways ---- */

static void finish(columns *c) {
  for (u32 i = 0; i < c->n; i++) {
    value *old = op_result(c->o, i), *v = reshaped(c, c->v[i], &(i64){c->size * c->count}, 1);
    if (c->pads) v = emit_resized(&c->at, v, old->type->dims);
    if (old->uses) value_replace(old, emit_sharded(c->e, v, part_sharding(c->e, old)));
  }
  op_erase(c->o);
}

static void sort_by_columns(columns *c) {
  i64 n = c->count, size = c->size, all = n * size;
  c->v = ARENA_ARRAY(c->e->a, value *, c->n + 2);
  i64s dims = dims_as(c, &all, 1);
  for (u32 i = 0; i < c->n; i++) {
    c->v[i] = op_operand(c->o, i);
    if (c->pads) c->v[i] = shaped(c, emit_resized(&c->at, c->v[i], dims), 1);
  }
  if (c->pads) {
    const type *t = number_type(c, dims);
    value *v = compare(&c->at, numbers(c, t, 0, 1), all_are(c, t, c->whole, 1), AT_LEAST);
    c->v[c->n++] = shaped(c, v, 1);
  }
  reshape_all(c, (i64[]){n, size}, 2);
  sort_columns(c, false, 0);
  deal(c, (i64[]){n, size / n, n}, 2);
  if (c->ties && c->place == c->o->num_operands) add_places(c);
  reshape_all(c, (i64[]){n, size}, 2);
  sort_columns(c, c->ties && c->place < c->o->num_operands, n);
  deal(c, (i64[]){n, n, size / n}, 1);
  reshape_all(c, (i64[]){n, size}, 2);
  sort_columns(c, c->ties, n);
  sort_borders(c);
  finish(c);
}

/* Shards first, and then all of it, as is: runs are merged. */
static void sort_shards_first(columns *c) {
  c->v = ARENA_ARRAY(c->e->a, value *, c->n);
  for (u32 i = 0; i < c->n; i++)
    c->v[i] = reshaped(c, op_operand(c->o, i), (i64[]){c->count, c->size}, 2);
  sort_columns(c, false, 0);
  for (u32 i = 0; i < c->n; i++) op_set_operand(c->o, i, reshaped(c, c->v[i], &c->whole, 1));
  op_set_attr(c->e->m, c->o, STR(PARTITION_RUNS), attr_i64(c->e->c, c->count));
}

enum { FEW_SHARDS = 16, LONG_SHARD = 1 << 12 };

void part_sort_in_parts(const part_env *e, op *o) {
  columns c = {.e = e, .o = o, .at = cursor_before(e, o), .n = o->num_operands};
  if (!find(&c) || may_move(&c)) return;
  i64 others = c.count - 1;
  if (c.stays && c.size >= 2 * others * others && costs_less(&c))
    sort_by_columns(&c);
  else if (!c.pads && c.count <= FEW_SHARDS && c.size >= LONG_SHARD && c.place == c.n)
    sort_shards_first(&c); /* places can be made anywhere, but not where they went */
}
