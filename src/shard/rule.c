/* Rules as data: building, interning, and their attribute form.
 *
 * A rule is built factor by factor (rule_factor), each with the dimension that it has in every
 * tensor; rule_end sorts that into flat arrays and looks for a twin. Most ops of a program have one
 * of a few rules, so interning makes them pointers that the engine can use as keys. */
#include "shard/rule.h"

void rule_set_init(rule_set *s, ir_ctx *ctx, arena *a, bool conservative) {
  *s = (rule_set){.ctx = ctx, .a = a, .scratch = a, .conservative = conservative};
}

/* ---- interning ---- */

/* Everything but the id; rule_same compares the same. */
static u64 rule_hash(const rule *r) {
  u32 n = rule_num_tensors(r), dims = r->tensor_begin[n];
  u64 h = hash_u64(r->num_operands, r->num_factors * 2u + r->custom);
  for (u32 i = 0; i < r->num_factors; i++)
    h = hash_u64((u64)r->factors[i].size * 8 + r->factors[i].kind * 2u + r->factors[i].blocked, h);
  h = hash_bytes(r->tensor_begin, (n + 1) * sizeof(u32), h);
  h = hash_bytes(r->dim_begin, (dims + 1) * sizeof(u32), h);
  return hash_bytes(r->places, r->dim_begin[dims] * sizeof(u32), h);
}

static bool rule_same(const rule *a, const rule *b) {
  if (a->num_factors != b->num_factors || a->num_operands != b->num_operands ||
      a->num_results != b->num_results || a->custom != b->custom)
    return false;
  for (u32 i = 0; i < a->num_factors; i++)
    if (a->factors[i].size != b->factors[i].size || a->factors[i].kind != b->factors[i].kind ||
        a->factors[i].blocked != b->factors[i].blocked)
      return false;
  u32 n = rule_num_tensors(a);
  if (memcmp(a->tensor_begin, b->tensor_begin, (n + 1) * sizeof(u32))) return false;
  u32 dims = a->tensor_begin[n];
  return !memcmp(a->dim_begin, b->dim_begin, (dims + 1) * sizeof(u32)) &&
         !memcmp(a->places, b->places, a->dim_begin[dims] * sizeof(u32));
}

/* Builders are scratch: what a new rule keeps is copied to the set's arena, and a twin costs
 * nothing. */
static const rule *rule_intern(rule_set *s, const rule *proto) {
  u64 h = rule_hash(proto);
  rule *r;
  for (size_t at = 0; (r = index_next(&s->index, h, &at));)
    if (rule_same(r, proto)) return r;
  u32 n = rule_num_tensors(proto), dims = proto->tensor_begin[n];
  r = ARENA_NEW(s->a, rule);
  *r = *proto;
  r->factors = arena_copy(s->a, proto->factors, proto->num_factors * sizeof(factor));
  r->tensor_begin = arena_copy(s->a, proto->tensor_begin, (n + 1) * sizeof(u32));
  r->dim_begin = arena_copy(s->a, proto->dim_begin, (dims + 1) * sizeof(u32));
  r->places = arena_copy(s->a, proto->places, proto->dim_begin[dims] * sizeof(u32));
  r->id = s->count++;
  index_add(&s->index, s->a, h, r);
  return r;
}

/* ---- building ---- */

static void begin_types(rule_builder *b) {
  u32 n = b->num_operands + b->num_results, at = 0;
  b->tensor_begin = ARENA_ARRAY(b->a, u32, n + 1);
  for (u32 t = 0; t < n; t++) {
    b->tensor_begin[t] = at;
    at += (u32)type_rank(b->types[t]);
  }
  b->tensor_begin[n] = at;
}

void rule_begin(rule_builder *b, rule_set *s, const op *o) {
  *b = (rule_builder){.set = s,
                      .a = s->scratch,
                      .op = o,
                      .num_operands = o->num_operands,
                      .num_results = o->num_results,
                      .num_data = o->num_operands};
  b->types = ARENA_ARRAY(b->a, const type *, b->num_operands + b->num_results);
  for (u32 i = 0; i < o->num_operands; i++) b->types[i] = op_operand(o, i)->type;
  for (u32 i = 0; i < o->num_results; i++) b->types[o->num_operands + i] = o->results[i].type;
  begin_types(b);
}

static u32 new_factor(rule_builder *b, i64 size, factor_kind kind, bool blocked) {
  VEC_PUSH(b->a, b->factors, ((factor){size, (u8)kind, blocked}));
  return (u32)b->factors.len - 1;
}

static bool has_factor(const rule_builder *b, u32 dim) {
  for (size_t i = 0; i < b->places.len; i++)
    if (b->places.data[i].dim == dim) return true;
  return false;
}

/* The one way to give a dimension a factor; a dimension's factors are major first in the order in
 * which they were added. */
static void add_place(rule_builder *b, u32 tensor, i64 dim, u32 f) {
  u32 at = b->tensor_begin[tensor] + (u32)dim;
  if (at >= b->tensor_begin[tensor + 1]) return; /* malformed; the verifier says so */
  VEC_PUSH(b->a, b->places, ((place){at, f}));
}

/* An operand after the data (of dynamic_*: shapes, offsets) has no factors but those that rule_end
 * puts in. */
static bool says_size(const rule_builder *b, u32 tensor) {
  return tensor >= b->num_data && tensor < b->num_operands;
}

/* A factor of size 1 adds nothing to a dimension that has one already; it stands only for
 * dimensions of size 1. */
void rule_factor(rule_builder *b, const i64 *operand_dims, const i64 *result_dims, i64 size,
                 factor_kind kind, bool blocked) {
  u32 f = new_factor(b, size, kind, blocked);
  for (u32 t = 0; t < b->num_operands + b->num_results; t++) {
    if (says_size(b, t)) continue;
    i64 dim = t < b->num_operands ? operand_dims[t] : result_dims[t - b->num_operands];
    if (dim == NO_DIM) continue;
    if (size == 1 && has_factor(b, b->tensor_begin[t] + (u32)dim)) continue;
    add_place(b, t, dim, f);
  }
}

void rule_factor_all(rule_builder *b, i64 operand_dim, i64 result_dim, i64 size, factor_kind kind,
                     bool blocked) {
  u32 f = new_factor(b, size, kind, blocked);
  for (u32 t = 0; t < b->num_operands + b->num_results; t++) {
    i64 dim = t < b->num_operands ? operand_dim : result_dim;
    if (dim != NO_DIM && b->tensor_begin[t + 1] > b->tensor_begin[t] && !says_size(b, t))
      add_place(b, t, dim, f);
  }
}

void rule_factor_1_1(rule_builder *b, i64 operand_dim, i64 result_dim, i64 size, factor_kind kind) {
  rule_factor(b, &operand_dim, &result_dim, size, kind, false);
}

void rule_factor_2_1(rule_builder *b, i64 lhs, i64 rhs, i64 result, i64 size, factor_kind kind) {
  rule_factor(b, (const i64[]){lhs, rhs}, &result, size, kind, false);
}

void rule_pointwise(rule_builder *b, i64s shape) {
  for (size_t d = 0; d < shape.len; d++)
    rule_factor_dim(b, (i64)d, shape.data[d], FACTOR_PASS, false);
}

/* Of slices, pads and the like: along dimensions that keep their size shards stay, along others
 * they need each other's data, which `kind` says how. */
void rule_mismatch(rule_builder *b, i64s in, i64s out, factor_kind kind, bool blocked) {
  for (size_t d = 0; d < in.len && d < out.len; d++) {
    bool same = in.data[d] == out.data[d];
    rule_factor_dim(b, (i64)d, in.data[d], same ? FACTOR_PASS : kind, !same && blocked);
  }
}

/* A counting sort of the places by dimension. Dimensions that got no factor get one of size 1 of
 * their own, so that every dimension has factors, as the notation of Shardy's rules demands;
 * nothing can be propagated along it. */
const rule *rule_end(rule_builder *b) {
  u32 n = b->num_operands + b->num_results, dims = b->tensor_begin[n];
  u32 *begin = arena_zalloc(b->a, (dims + 1) * sizeof *begin);
  for (size_t i = 0; i < b->places.len; i++) begin[b->places.data[i].dim]++;
  for (u32 d = 0; d < dims; d++)
    if (!begin[d]) {
      u32 f = new_factor(b, 1, FACTOR_PASS, false);
      VEC_PUSH(b->a, b->places, ((place){d, f}));
      begin[d] = 1;
    }
  u32 at = 0;
  for (u32 d = 0; d <= dims; d++) {
    u32 count = begin[d];
    begin[d] = at;
    at += count;
  }
  u32 *flat = ARENA_ARRAY(b->a, u32, b->places.len),
      *next = arena_copy(b->a, begin, (dims + 1) * sizeof *next);
  for (size_t i = 0; i < b->places.len; i++)
    flat[next[b->places.data[i].dim]++] = b->places.data[i].factor;
  rule r = {.num_factors = (u32)b->factors.len,
            .num_operands = b->num_operands,
            .num_results = b->num_results,
            .factors = b->factors.data,
            .tensor_begin = b->tensor_begin,
            .dim_begin = begin,
            .places = flat};
  return rule_intern(b->set, &r);
}

const rule *rule_identity(rule_set *s, const type *t, size_t num_operands) {
  rule_builder b = {.set = s,
                    .a = s->scratch,
                    .num_operands = (u32)num_operands,
                    .num_results = 1,
                    .num_data = (u32)num_operands};
  b.types = ARENA_ARRAY(b.a, const type *, num_operands + 1);
  for (size_t i = 0; i <= num_operands; i++) b.types[i] = t;
  begin_types(&b);
  rule_pointwise(&b, t->dims);
  return rule_end(&b);
}

/* ---- attribute form ---- */

static attrs mappings_to_attr(rule_set *s, const rule *r, u32 begin, u32 end) {
  const attr **tensors = ARENA_ARRAY(s->a, const attr *, end - begin);
  for (u32 t = begin; t < end; t++) {
    u32 first = r->tensor_begin[t], rank = rule_rank(r, t);
    const attr **dims = ARENA_ARRAY(s->a, const attr *, rank);
    for (u32 d = 0; d < rank; d++) {
      u32 at = r->dim_begin[first + d], n = r->dim_begin[first + d + 1] - at;
      i64 *list = ARENA_ARRAY(s->a, i64, n);
      for (u32 i = 0; i < n; i++) list[i] = r->places[at + i];
      dims[d] = attr_make(s->ctx, dim_mapping, .factors = {list, n});
    }
    tensors[t - begin] = attr_make(s->ctx, tensor_mapping, .dims = {dims, rank});
  }
  return (attrs){tensors, end - begin};
}

static i64s factors_where(rule_set *s, const rule *r, int kind, bool blocked) {
  i64 *list = ARENA_ARRAY(s->a, i64, r->num_factors);
  size_t n = 0;
  for (u32 i = 0; i < r->num_factors; i++)
    if (blocked ? r->factors[i].blocked : r->factors[i].kind == kind) list[n++] = i;
  return (i64s){list, n};
}

const attr *rule_to_attr(rule_set *s, const rule *r) {
  i64 *sizes = ARENA_ARRAY(s->a, i64, r->num_factors);
  for (u32 i = 0; i < r->num_factors; i++) sizes[i] = r->factors[i].size;
  return attr_make(s->ctx, op_sharding_rule, .factor_sizes = {sizes, r->num_factors},
                   .operands = mappings_to_attr(s, r, 0, r->num_operands),
                   .results = mappings_to_attr(s, r, r->num_operands, rule_num_tensors(r)),
                   .reduction = factors_where(s, r, FACTOR_REDUCTION, false),
                   .need_replication = factors_where(s, r, FACTOR_REPLICATE, false),
                   .permutation = factors_where(s, r, FACTOR_PERMUTATION, false),
                   .blocked_propagation = factors_where(s, r, 0, true), .custom = r->custom);
}

/* Numbers may come from bytecode or a foreign dialect, so ranges are checked though the verifier
 * has said so much of attributes in a module. */
static bool read_mappings(rule_builder *b, attrs list, u32 first) {
  for (u32 t = 0; t < list.len; t++) {
    const tensor_mapping_attr *m = attr_as(tensor_mapping, list.data[t]);
    u32 begin = b->tensor_begin[first + t], rank = b->tensor_begin[first + t + 1] - begin;
    if (!m || m->dims.len != rank) return false;
    for (u32 d = 0; d < rank; d++) {
      const dim_mapping_attr *f = attr_as(dim_mapping, m->dims.data[d]);
      if (!f || !f->factors.len) return false;
      for (size_t i = 0; i < f->factors.len; i++) {
        if ((u64)f->factors.data[i] >= b->factors.len) return false;
        add_place(b, first + t, d, (u32)f->factors.data[i]);
      }
    }
  }
  return true;
}

static bool mark(rule_builder *b, i64s list, int kind) {
  for (size_t i = 0; i < list.len; i++) {
    if ((u64)list.data[i] >= b->factors.len) return false;
    factor *f = &b->factors.data[list.data[i]];
    if (kind < 0)
      f->blocked = true;
    else
      f->kind = (u8)kind;
  }
  return true;
}

/* The kinds are marked before the mappings are read, but after the sizes: lists hold numbers of
 * factors. */
const rule *rule_from_attr(rule_set *s, const attr *a, const op *o) {
  const op_sharding_rule_attr *t = attr_as(op_sharding_rule, a);
  if (!t || t->operands.len != o->num_operands || t->results.len != o->num_results) return NULL;
  rule_builder b;
  rule_begin(&b, s, o);
  for (size_t i = 0; i < t->factor_sizes.len; i++)
    new_factor(&b, t->factor_sizes.data[i], FACTOR_PASS, false);
  if (!mark(&b, t->reduction, FACTOR_REDUCTION) || !mark(&b, t->permutation, FACTOR_PERMUTATION) ||
      !mark(&b, t->need_replication, FACTOR_REPLICATE) || !mark(&b, t->blocked_propagation, -1) ||
      !read_mappings(&b, t->operands, 0) || !read_mappings(&b, t->results, b.num_operands))
    return NULL;
  const rule *r = rule_end(&b);
  if (!t->custom) return r;
  rule custom = *r;
  custom.custom = true;
  return rule_intern(s, &custom);
}
