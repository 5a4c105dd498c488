/* Ops over tokens, tuples and futures: infeed and outfeed, send and recv, async.
 *
 * Tokens order effects, so these ops are known by the type of a last operand or result; the rest of
 * their results is whatever the other side sends, which nothing here can check. */
#include "dialect/verify.h"

static bool infer_token(checker *k, inferred *out) { return infer_push(k, out, type_token(k->c)); }
bool infer_create_token(checker *k, const op *o, inferred *out) {
  return (void)o, infer_token(k, out);
}
bool infer_after_all(checker *k, const op *o, inferred *out) {
  return (void)o, infer_token(k, out);
}
bool infer_outfeed(checker *k, const op *o, inferred *out) { return (void)o, infer_token(k, out); }

bool infer_partition_id(checker *k, const op *o, inferred *out) {
  (void)o;
  return infer_push(k, out, type_tensor(k->c, (i64s){0}, type_int(k->c, 32, UNSIGNED), NULL));
}
bool infer_replica_id(checker *k, const op *o, inferred *out) {
  return infer_partition_id(k, o, out);
}

/* ---- channels ---- */

enum { DEVICE_TO_DEVICE = 1, DEVICE_TO_HOST = 2, HOST_TO_DEVICE = 3 };

/* send_c1, recv_c1 */
static bool check_channel_type(checker *k, const op *o, i64 type, bool host, i64 host_type,
                               const char *host_name) {
  if (!host && type != DEVICE_TO_DEVICE)
    return plain_error(k, o,
                       "channel_type should be DEVICE_TO_DEVICE when is_host_transfer is false");
  if (!host || type == host_type) return true;
  return plain_error(k, o, "channel_type should be %s when is_host_transfer is true", host_name);
}

bool infer_send(checker *k, const op *o, inferred *out) {
  struct send_attrs a;
  return view_send(o, &a) &&
         check_channel_type(k, o, a.channel_handle->type, a.is_host_transfer, DEVICE_TO_HOST,
                            "DEVICE_TO_HOST") &&
         infer_token(k, out);
}

/* Tensors, then a token. infeed_c1 to c3, recv_c2 to c4 */
static bool check_received(checker *k, const op *o, const char *all_but_last) {
  u32 n = o->num_results;
  if (n == 0) return plain_error(k, o, "result is expected to be at least of size 1, but got 0");
  for (u32 i = 0; i + 1 < n; i++)
    if (!type_is_tensor(out_type(o, i)))
      return plain_error(k, o, "%s of tensor type, but got '%s'", all_but_last,
                         show(k, out_type(o, i)));
  if (out_type(o, n - 1)->kind == TYPE_TOKEN) return true;
  return plain_error(k, o,
                     "last element of result types is expected to be of token type, but got '%s'",
                     show(k, out_type(o, n - 1)));
}

bool verify_recv(checker *k, const op *o) {
  struct recv_attrs a;
  return view_recv(o, &a) &&
         check_channel_type(k, o, a.channel_handle->type, a.is_host_transfer, HOST_TO_DEVICE,
                            "HOST_TO_DEVICE") &&
         check_received(k, o, "everything but the last element of result types is expected to be");
}

bool verify_infeed(checker *k, const op *o) {
  struct infeed_attrs a;
  if (!view_infeed(o, &a) ||
      !check_received(k, o,
                      "all elements of result types, except the last element, are expected to be"))
    return false;
  if (!(a.present & 2)) return true;
  if (a.layout.len != o->num_results - 1)
    return plain_error(k, o,
                       "layout-attribute size must be %u (which is the number of op-results - 1 "
                       "(for token result)), but got %zu",
                       o->num_results - 1, a.layout.len);
  for (size_t i = 0; i < a.layout.len; i++) {
    const array_attr *l = attr_as(array, a.layout.data[i]);
    if (!l)
      return plain_error(k, o,
                         "layout-attribute expected to have elements of type array, but got %s",
                         show_attr(k, a.layout.data[i]));
    for (size_t j = 0; j < l->elems.len; j++)
      if (!attr_is(integer, l->elems.data[j]))
        return plain_error(k, o,
                           "layout-attribute's leaf elements are expected to be of type integer, "
                           "but got %s",
                           show_attr(k, l->elems.data[j]));
  }
  return true;
}

/* ---- tuples ---- */

bool infer_tuple(checker *k, const op *o, inferred *out) { /* tuple_c1 */
  const type **t = ARENA_ARRAY(k->scratch, const type *, o->num_operands);
  for (u32 i = 0; i < o->num_operands; i++) t[i] = in_type(o, i);
  return infer_push(k, out, type_tuple(k->c, (types){t, o->num_operands}));
}

bool infer_get_tuple_element(checker *k, const op *o, inferred *out) {
  struct get_tuple_element_attrs a;
  types t = in_type(o, 0)->types;
  if (!view_get_tuple_element(o, &a)) return false;
  if ((size_t)a.index < t.len) return infer_push(k, out, t.data[a.index]);         /* c2 */
  return plain_error(k, o, "index %lld is out of bounds of operand with size %zu", /* c1 */
                     (long long)a.index, t.len);
}

/* ---- async ---- */

/* Which ops may run on their own. */
static const bool is_async[OP_COUNT] = {
    [OP_all_gather] = true,         [OP_all_reduce] = true,
    [OP_all_to_all] = true,         [OP_collective_broadcast] = true,
    [OP_collective_permute] = true, [OP_collective_reduce] = true,
    [OP_dynamic_slice] = true,      [OP_dynamic_update_slice] = true,
    [OP_reduce_scatter] = true,     [OP_slice] = true,
};

/* The region is one op of those that run on their own, and the operands are its arguments. The
 * future holds what the op gives, which async_done gives back. */
bool infer_async_start(checker *k, const op *o, inferred *out) {
  const block *b = op_body(o, 0);
  if (!b->first->next || b->first->next->next)
    return op_error(k->c, o, "region must contain exactly one operation and a return");
  if (op_kind(b->first) == OP_unregistered || !is_async[op_kind(b->first)])
    return op_error(k->c, o, "region must contain a collective or slice operation");
  if (o->num_operands != b->num_args)
    return op_error(k->c, o, "number of operands (%u) must match number of region arguments (%u)",
                    o->num_operands, b->num_args);
  for (u32 i = 0; i < b->num_args; i++)
    if (in_type(o, i) != b->args[i]->type)
      return op_error(k->c, o, "operand type '%s' at index %u must match region argument type '%s'",
                      show(k, in_type(o, i)), i, show(k, b->args[i]->type));
  if (num_returned(b) != 1)
    return op_error(k->c, o, "region must return exactly one value, but got %zu", num_returned(b));
  const type *t = returned(b, 0);
  return infer_push(k, out, type_future(k->c, (types){&t, 1}));
}

bool infer_async_done(checker *k, const op *o, inferred *out) {
  types t = in_type(o, 0)->types;
  if (t.len == 1) return infer_push(k, out, t.data[0]);
  return op_error(k->c, o, "future must have exactly one type parameter, but got %zu", t.len);
}
