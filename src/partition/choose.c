#include "partition/choose.h"

#include <stdlib.h>

#include "partition/common_axes.h"
#include "partition/record.h"
#include "shard/sharding_ir.h"

#define NUMBER STR("terrazzo.number")

/* ---- names ---- */

/* Has factors that an axis may come along, and one result that is large. */
static bool may_be_asked(const op *o, u64 least_bytes) {
  return op_kind(o) < OP_COUNT && o->num_results == 1 &&
         (o->num_operands >= 2 || op_is(o, reshape)) && part_row_of(o)->placed == PLACED_BY_RULE &&
         part_row_of(o)->cut != CUT_NOWHERE && type_num_bytes(op_result(o, 0)->type) >= least_bytes;
}

typedef struct numbering {
  ir_module *m;
  i64 next;
  u64 least_bytes;
} numbering;

static walk_result number(void *user, op *o) {
  numbering *n = user;
  if (may_be_asked(o, n->least_bytes)) op_set_attr(n->m, o, NUMBER, attr_i64(n->m->ctx, n->next++));
  return WALK_ON;
}

bool choose_number(ir_module *m, u64 least_bytes) {
  numbering n = {.m = m, .least_bytes = least_bytes};
  op_walk(m->root, number, &n);
  return n.next > 0;
}

static walk_result drop(void *user, op *o) {
  (void)user;
  op_drop_attr(o, NUMBER);
  return WALK_ON;
}

void choose_end(ir_module *m) { op_walk(m->root, drop, NULL); }

static i64 number_of(const op *o) {
  const integer_attr *n = o->num_attrs ? attr_as(integer, op_discardable(o, NUMBER)) : NULL;
  return n ? n->value : -1;
}

/* ---- questions ---- */

/* What is known of a value, by its number. */
typedef struct seen_value {
  const sharding *s;
  u64 axes;   /* one bit each; that of another axis may be the same */
  bool read;  /* else these are not known yet */
  u32 behind; /* of which product behind it was last looked for */
} seen_value;

typedef struct finder {
  ir_module *m;
  arena *a, *answers;
  shard_space *space;
  rule_set rules;
  conflicts *out;
  hash_index silent; /* what is like an op of which nothing was to be asked */
  seen_value *seen;
  u32 num_looked; /* for products, how often */
  bool ok;
} finder;

static u64 axis_bits(axis_list l) {
  u64 bits = 0;
  for (size_t i = 0; i < l.len; i++) bits |= 1ull << (l.data[i].axis % 64);
  return bits;
}

static const seen_value *see(finder *f, value *v) {
  seen_value *x = &f->seen[v->num];
  if (x->read) return x;
  x->read = true;
  x->s = shard_read(f->space, value_sharding(f->m->ctx, v));
  if (x->s) x->axes = axis_bits(x->s->unreduced);
  for (u32 d = 0; x->s && d < x->s->rank; d++) x->axes |= axis_bits(x->s->dims[d].axes);
  return x;
}

static const sharding *sharding_of(finder *f, const op *o, u32 t) {
  return see(f, op_tensor(o, t))->s;
}

/* The dimension of the result that is this factor alone. */
static int result_dim(const rule *r, u32 factor) {
  u32 t = r->num_operands;
  for (u32 d = 0; d < rule_rank(r, t); d++) {
    u32 at = r->tensor_begin[t] + d;
    if (r->dim_begin[at + 1] - r->dim_begin[at] == 1 && r->places[r->dim_begin[at]] == factor)
      return (int)d;
  }
  return -1;
}

/* The result with the axis on dimension d, and nowhere else; NULL: it does not divide it, or the
 * result has parts of it that are cut in an unlike way. */
static const attr *moved_to(finder *f, const op *o, const mesh *m, const sharding *s, u32 d,
                            axis_ref axis) {
  const type *t = op_tensor(o, o->num_operands)->type;
  u32 rank = (u32)t->dims.len;
  axis_list *dims = arena_zalloc(f->a, rank * sizeof *dims), one = {&axis, 1};
  for (u32 k = 0; s && k < rank; k++) {
    dims[k] = axes_difference(f->a, s->dims[k].axes, one);
    if (axes_clash(dims[k], one)) return NULL;
  }
  dims[d] = axes_merge(f->a, axes_concat(f->a, dims[d], one));
  if (t->dims.data[d] <= 0 || t->dims.data[d] % axes_size(dims[d]) != 0) return NULL;
  return shard_write(f->space, shard_intern(f->space, sharding_make_closed(f->a, m, dims, rank)));
}

static void ask(finder *f, const op *o, const attr *sharding, u64 kind, u64 sum) {
  kind = hash_ptr(sharding, hash_u64(sum, kind));
  conflict *c = NULL;
  for (size_t i = 0; i < f->out->len && !c; i++)
    if (f->out->data[i].kind == kind) c = &f->out->data[i];
  if (!c) {
    VEC_PUSH(f->answers, *f->out,
             ((conflict){.kind = kind, .sharding = sharding, .sum = sum, .order = f->out->len}));
    c = &f->out->data[f->out->len - 1];
  }
  i64 n = number_of(o);
  if (c->numbers.len && c->numbers.data[c->numbers.len - 1] == n) return; /* of another operand */
  VEC_PUSH(f->answers, c->numbers, n);
  c->bytes += type_num_bytes(op_tensor(o, o->num_operands)->type);
}

/* How the op meets its operands: two that do so in the same way are asked about together. */
static u64 kind_of(finder *f, const op *o) {
  u64 h = hash_ptr(o->info, 0);
  for (u32 t = 0; t <= o->num_operands; t++) {
    h = hash_ptr(value_sharding(f->m->ctx, op_tensor(o, t)), h);
    h = hash_ptr(op_tensor(o, t)->type, h);
  }
  return h;
}

/* An axis that operand t has on a dimension of one factor, which the result has too, but without
 * the axis. That the result has it elsewhere, or another operand does, is what is in its way. */
static bool ask_about(finder *f, const op *o, const rule *r, u64 kind, u32 t, u32 d) {
  const sharding *s = sharding_of(f, o, t), *out = sharding_of(f, o, o->num_operands);
  u32 at = r->tensor_begin[t] + d;
  if (!s || s->unreduced.len || (out && out->unreduced.len) ||
      r->dim_begin[at + 1] - r->dim_begin[at] != 1)
    return false;
  int to = result_dim(r, r->places[r->dim_begin[at]]);
  if (to < 0 || (out && !mesh_same(s->mesh, out->mesh, false))) return false;
  axis_list l = s->dims[d].axes;
  bool any = false;
  for (size_t i = 0; i < l.len; i++) {
    axis_ref axis = l.data[i];
    if (axis.size == 1 || (out && axes_overlap_ref(out->dims[to].axes, axis))) continue;
    const attr *sharding = moved_to(f, o, s->mesh, out, (u32)to, axis);
    if (sharding) ask(f, o, sharding, kind, 0);
    any |= sharding != NULL;
  }
  return any;
}

/* Axes of a dimension that a reshape divides, of which its result has only a part, as 8 of 12 heads
 * give 4 of them: what is left over may cut another dimension. */
static bool ask_about_rest(finder *f, const op *o, const rule *r, u64 kind, u32 d) {
  const sharding *s = sharding_of(f, o, 0), *out = sharding_of(f, o, 1);
  u32 at = r->tensor_begin[0] + d;
  if (!s || !out || s->unreduced.len || out->unreduced.len ||
      r->dim_begin[at + 1] - r->dim_begin[at] < 2 || !mesh_same(s->mesh, out->mesh, false))
    return false;
  axis_list rest = axes_difference(f->a, s->dims[d].axes, sharding_used_axes(f->a, out));
  if (rest.len != 1 || rest.data[0].size == axes_size(s->dims[d].axes)) return false;
  for (u32 to = 0; to < out->rank; to++) {
    u32 place = r->tensor_begin[1] + to;
    bool own = r->dim_begin[place + 1] - r->dim_begin[place] == 1 &&
               rule_has_factor(r, 0, r->places[r->dim_begin[place]]) && !out->dims[to].axes.len;
    for (u32 k = r->dim_begin[at]; own && k < r->dim_begin[at + 1]; k++)
      own = r->places[k] != r->places[r->dim_begin[place]];
    const attr *sharding = own ? moved_to(f, o, s->mesh, out, to, rest.data[0]) : NULL;
    if (!sharding) continue;
    ask(f, o, sharding, kind, 0);
    return true;
  }
  return false;
}

/* No tensor of the op has the axis. */
static bool lacks_axis(finder *f, const op *o, axis_ref axis) {
  for (u32 t = 0; t < o->num_operands + o->num_results; t++) {
    const seen_value *v = see(f, op_tensor(o, t));
    if (!(v->axes >> (axis.axis % 64) & 1)) continue;
    for (u32 d = 0; d < v->s->rank; d++)
      if (axes_overlap_ref(v->s->dims[d].axes, axis)) return false;
    if (axes_overlap_ref(v->s->unreduced, axis)) return false;
  }
  return true;
}

static bool is_product(const op *o) {
  return op_is(o, dot_general) || op_is(o, dot) || op_is(o, convolution);
}

enum { MAX_BEHIND = 64, MAX_WAYS = 2 };

/* Do all devices along the axis go on to the same product of what they have of it? */
static bool is_multiplied_alike(finder *f, const value *v, axis_ref axis) {
  const value *behind[MAX_BEHIND] = {v};
  u32 look = f->seen[v->num].behind = ++f->num_looked;
  for (u32 i = 0, n = 1; i < n; i++)
    for (const use *u = behind[i]->uses; u; u = u->next) {
      const op *o = u->owner;
      if (op_kind(o) >= OP_COUNT || part_row_of(o)->placed != PLACED_BY_RULE ||
          o->num_results != 1 || !lacks_axis(f, o, axis))
        continue;
      if (is_product(o)) return true;
      seen_value *next = &f->seen[op_result(o, 0)->num];
      if (n == MAX_BEHIND || next->behind == look) continue;
      next->behind = look;
      behind[n++] = op_result(o, 0);
    }
  return false;
}

/* An axis along which the op makes parts of a sum: where each device goes on with all of that, as
 * the others do, it could have a part of it, and what it makes of that is gathered later. */
static bool ask_about_sum(finder *f, const op *o, const part_record *r, u64 kind, u32 t, u32 d) {
  const sharding *s = sharding_of(f, o, t), *out = sharding_of(f, o, o->num_operands);
  const rule *by = r->rule;
  u32 at = by->tensor_begin[t] + d;
  if (!s || s->unreduced.len || !s->dims[d].axes.len ||
      by->dim_begin[at + 1] == by->dim_begin[at] ||
      part_factor_kind(r, by->places[by->dim_begin[at]]) == FACTOR_PASS ||
      (out && (out->unreduced.len || !mesh_same(s->mesh, out->mesh, false))))
    return false;
  bool any = false;
  for (size_t i = 0; i < s->dims[d].axes.len; i++) {
    axis_ref axis = s->dims[d].axes.data[i];
    const value *v = op_tensor(o, o->num_operands);
    if (axis.size == 1 || (out && axes_clash(sharding_used_axes(f->a, out), (axis_list){&axis, 1})))
      continue;
    any = true; /* what is alike may have other users */
    if (!is_multiplied_alike(f, v, axis)) continue;
    for (u32 to = 0, n = 0; to < v->type->dims.len && n < MAX_WAYS; to++) {
      const attr *sharding = moved_to(f, o, s->mesh, out, to, axis);
      if (sharding) ask(f, o, sharding, kind, hash_u64(kind, axis.axis)), n++;
    }
  }
  return any;
}

/* Of two ops alike in this, rules are the same as well. */
static u64 shape_of(const op *o, u64 kind) {
  u64 h = hash_ptr(op_discardable(o, SDY_SHARDING_RULE), kind);
  for (u32 i = 0; i < o->info->num_slots; i++) h = hash_ptr(o->slots[i], h);
  return h;
}

static walk_result find(void *user, op *o) {
  finder *f = user;
  part_record r;
  if (number_of(o) < 0) return WALK_ON;
  u64 kind = kind_of(f, o), shape = shape_of(o, kind);
  if (index_next(&f->silent, shape, &(size_t){0})) return WALK_ON;
  f->ok = part_record_make(f->a, &f->rules, o, &r);
  if (!f->ok) return WALK_STOP;
  if (!r.rule || r.rule->custom || r.rule->num_operands != o->num_operands) return WALK_ON;
  bool asked = false;
  for (u32 t = 0; t < o->num_operands; t++)
    for (u32 d = 0; d < rule_rank(r.rule, t); d++)
      asked |= op_is(o, reshape) ? ask_about_rest(f, o, r.rule, kind, d)
                                 : (int)ask_about(f, o, r.rule, kind, t, d) |
                                       (int)ask_about_sum(f, o, &r, kind, t, d);
  if (!asked) index_add(&f->silent, f->a, shape, f);
  return WALK_ON;
}

static int by_bytes(const void *x, const void *y) {
  const conflict *a = x, *b = y;
  if (!a->sum != !b->sum) return a->sum ? 1 : -1;
  if (a->bytes != b->bytes) return a->bytes < b->bytes ? 1 : -1;
  if (a->numbers.data[0] != b->numbers.data[0])
    return a->numbers.data[0] < b->numbers.data[0] ? -1 : 1;
  return a->order < b->order ? -1 : 1;
}

conflicts choose_conflicts(arena *a, ir_module *m) {
  conflicts out = {0};
  arena *scratch = ir_scratch_push(m->ctx);
  finder f = {.m = m,
              .a = scratch,
              .answers = a,
              .space = shard_space_create(m, scratch),
              .out = &out,
              .seen = arena_zalloc(scratch, (module_number(m) + (size_t)1) * sizeof *f.seen)};
  rule_set_init(&f.rules, m->ctx, scratch, false);
  f.rules.extra = true;
  f.rules.apart = true;
  op_walk(m->root, find, &f);
  ir_scratch_pop(m->ctx);
  if (out.len) qsort(out.data, out.len, sizeof *out.data, by_bytes);
  return out;
}

/* ---- answers ---- */

typedef struct application {
  ir_module *m;
  arena *a;
  const conflict *c;
  VEC(op *) found;
} application;

static walk_result collect(void *user, op *o) {
  application *p = user;
  i64 n = number_of(o);
  for (size_t i = 0; n >= 0 && i < p->c->numbers.len; i++)
    if (p->c->numbers.data[i] == n) {
      VEC_PUSH(p->a, p->found, o);
      break;
    }
  return WALK_ON;
}

void choose_apply(arena *a, ir_module *m, const conflict *c) {
  application p = {.m = m, .a = a, .c = c};
  op_walk(m->root, collect, &p);
  for (size_t i = 0; i < p.found.len; i++) {
    op *o = p.found.data[i];
    value *v = op_result(o, 0);
    op *x = op_create(m, &op_infos[OP_sharding_constraint], o->loc, &v, 1, &v->type, 1, 0);
    op_set(x, sharding_constraint, sharding, c->sharding);
    op_insert(x, o->parent, o->next);
    value_replace_except(v, op_result(x, 0), x);
  }
}
