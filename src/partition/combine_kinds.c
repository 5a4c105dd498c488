/* Which collectives can be one. All-reduces, all-gathers and all-to-alls have any number of
 * operands. Reduce-scatters and permutations have one: what is small is packed into it
 * (combine_pack.c), as copying it takes less time than a call does before its first byte. */
#include "partition/combine.h"
#include "partition/record.h"

enum { MAX_BYTES = 1 << 25, MAX_MEMBERS = 256 };
enum { PACK_BYTES = 1 << 20 }; /* of what has but one operand otherwise */
enum { TURN_BYTES = 1 << 16 }; /* of what would be an operand of its own */

static bool bytes_of(const type *t, i64 *out) {
  i64 count;
  return type_is_ranked(t) && type_num_elements(t, &count) &&
         checked_mul(count, (i64)type_storage(t->elem), out);
}

/* What is cut, joined or packed has elements, and all bytes of them say what they are. */
static bool is_plain(const type *t) {
  i64 bytes;
  return bytes_of(t, &bytes) && bytes > 0 && t->elem->kind != TYPE_QUANT && !t->encoding;
}

static bool has_channel(const channel_handle_attr *c) { return c && c->handle > 0; }

static bool key_of_reduce(const op *o, combine_key *key, combine_member *m) {
  struct all_reduce_attrs a;
  if (!view_all_reduce(o, &a) || !op_body(o, 0)) return false;
  key->channel = has_channel(a.channel_handle);
  key->element = op_operand(o, 0)->type->elem;
  return bytes_of(op_result(o, 0)->type, &m->bytes) &&
         part_body_kind(op_body(o, 0), 0, 1, &key->kind);
}

static bool key_of_gather(const op *o, combine_key *key, combine_member *m) {
  struct all_gather_attrs a;
  const type *in = op_operand(o, 0)->type, *out = op_result(o, 0)->type;
  if (!view_all_gather(o, &a) || !bytes_of(out, &m->bytes)) return false;
  key->channel = has_channel(a.channel_handle);
  m->form.dim = a.all_gather_dim;
  m->turns = is_plain(in) && m->bytes <= TURN_BYTES;
  if (m->turns) m->form.parts = out->dims.data[m->form.dim] / in->dims.data[m->form.dim];
  return m->bytes <= MAX_BYTES;
}

static bool key_of_exchange(const op *o, combine_key *key, combine_member *m) {
  struct all_to_all_attrs a;
  const type *in = op_operand(o, 0)->type;
  if (!view_all_to_all(o, &a) || !bytes_of(in, &m->bytes)) return false;
  key->channel = has_channel(a.channel_handle);
  m->form = (combine_form){a.split_dimension, a.concat_dimension, a.split_count};
  m->turns = is_plain(in) && m->bytes <= TURN_BYTES;
  return m->bytes <= MAX_BYTES;
}

static bool key_of_scatter(const op *o, combine_key *key, combine_member *m) {
  struct reduce_scatter_attrs a;
  const type *in = op_operand(o, 0)->type, *out = op_result(o, 0)->type;
  if (!view_reduce_scatter(o, &a) || !op_body(o, 0) || !bytes_of(in, &m->bytes) || !is_plain(out))
    return false;
  key->channel = has_channel(a.channel_handle);
  key->element = in->elem;
  m->form.dim = a.scatter_dimension;
  m->form.parts = in->dims.data[m->form.dim] / out->dims.data[m->form.dim];
  return m->bytes <= PACK_BYTES && part_body_kind(op_body(o, 0), 0, 1, &key->kind);
}

static bool key_of_permute(const op *o, combine_key *key, combine_member *m) {
  struct collective_permute_attrs a;
  const type *in = op_operand(o, 0)->type;
  if (!view_collective_permute(o, &a) || !bytes_of(in, &m->bytes) || !is_plain(in)) return false;
  key->channel = has_channel(a.channel_handle);
  key->element = in->elem;
  key->groups = op_get(o, collective_permute, source_target_pairs);
  return m->bytes <= PACK_BYTES;
}

typedef bool key_fn(const op *o, combine_key *key, combine_member *m);

static const struct {
  op_id op;
  key_fn *key_of;
} kinds[] = {
    {OP_all_reduce, key_of_reduce},          {OP_all_gather, key_of_gather},
    {OP_all_to_all, key_of_exchange},        {OP_reduce_scatter, key_of_scatter},
    {OP_collective_permute, key_of_permute},
};

bool combine_key_of(const op *o, combine_key *key, combine_member *m) {
  size_t k = 0;
  while (k < COUNT(kinds) && op_kind(o) != kinds[k].op) k++;
  if (k == COUNT(kinds) || o->num_operands != 1) return false;
  *m = (combine_member){.o = (op *)o};
  *key = (combine_key){.op = kinds[k].op,
                       .groups = op_attr(o, SLOT_NAME(replica_groups)),
                       .global = op_attr(o, SLOT_NAME(use_global_device_ids))};
  return kinds[k].key_of(o, key, m);
}

/* The program's own groups may be the lists that axes stand for. */
static bool axes_list(const part_env *e, const attr *groups, const dense_attr *ids) {
  const mesh *m;
  axis_list axes;
  replica_groups g;
  i64s dims = ids->type->dims;
  if (!shard_read_groups(e->space, groups, &m, &axes) || dims.len != 2 ||
      dims.data[1] != axes_size(axes) || !mesh_replica_groups(e->a, m, axes, &g) ||
      dims.data[0] != g.num_groups)
    return false;
  for (i64 i = 0; i < m->size; i++)
    if (attr_dense_int(&ids->base, (size_t)i) != g.ids[i]) return false;
  return true;
}

/* Lists of many devices are too large to be unique. */
static bool same_groups(const part_env *e, const attr *x, const attr *y) {
  const dense_attr *a = attr_as(dense, x), *b = attr_as(dense, y);
  if (x == y) return true;
  if (a && b) return a->type == b->type && a->splat == b->splat && str_eq(a->data, b->data);
  return a ? axes_list(e, y, a) : b && axes_list(e, x, b);
}

bool combine_same_key(const part_env *e, const combine_key *x, const combine_key *y) {
  return x->op == y->op && x->global == y->global && x->channel == y->channel &&
         x->element == y->element && x->kind == y->kind && same_groups(e, x->groups, y->groups);
}

static bool same_form(const combine_member *x, const combine_member *y) {
  return x->form.dim == y->form.dim && x->form.to == y->form.to;
}

/* Where an operand takes long by itself, one meeting more does not show; a short one beside it is
 * free. What is gathered is there as a whole until its last user is done, and what is packed is
 * there twice: a bucket of them, those that follow one another, not counting small ones. */
combine_answer combine_takes(const combine_key *key, const combine_members *all,
                             const combine_member *more) {
  bool sums = key->op == OP_all_reduce,
       forms = key->op == OP_all_gather || key->op == OP_all_to_all;
  bool fits = true;
  i64 bytes = more->bytes;
  if (all->len == MAX_MEMBERS) return COMBINE_FULL;
  for (size_t i = 0; i < all->len; i++) {
    const combine_member *m = &all->data[i];
    if (!m->turns) bytes += m->bytes;
    if (sums && m->bytes > MAX_BYTES && more->bytes > MAX_BYTES) fits = false;
    if (forms && !m->turns && !more->turns && !same_form(m, more)) fits = false;
  }
  if (!fits) return COMBINE_LEAVES;
  return sums || more->turns || bytes <= MAX_BYTES ? COMBINE_TAKES : COMBINE_FULL;
}
