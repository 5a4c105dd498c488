/* infeed, outfeed, send and recv as custom calls. See parallel.h. */
#include "compile/parallel.h"

typedef struct channels {
  ir_module *m;
  arena *a;
  bool fed;
  VEC(i64) sent, received;
} channels;

static bool has(const i64 *list, size_t n, i64 v) {
  for (size_t i = 0; i < n; i++)
    if (list[i] == v) return true;
  return false;
}

static i64 channel_of(const op *o) {
  const channel_handle_attr *c = attr_as(channel_handle, op_attr(o, SLOT_NAME(channel_handle)));
  return c ? c->handle : 0;
}

static walk_result count(void *user, op *o) {
  channels *c = user;
  if (op_is(o, send)) VEC_PUSH(c->a, c->sent, channel_of(o));
  if (op_is(o, recv)) VEC_PUSH(c->a, c->received, channel_of(o));
  return WALK_ON;
}

static op *make_call(expander *e, const char *target, i64 channel, value *const *in, size_t n,
                     const type *const *out, size_t num_out) {
  enum { API_TYPED_FFI = 4 };
  op *o = expand_op(e, OP_custom_call, in, n, out, num_out);
  named_attr config = {attr_string(e->c, STR("channel")),
                       attr_int(e->c, type_int(e->c, 64, SIGNLESS), channel)};
  op_set(o, custom_call, call_target_name, attr_string(e->c, str_of(target)));
  op_set(o, custom_call, has_side_effect, attr_bool(e->c, true));
  op_set(o, custom_call, backend_config, attr_dict(e->c, &config, 1));
  op_set(o, custom_call, api_version, attr_enum(e->c, ATTR_custom_call_api_version, API_TYPED_FFI));
  return o;
}

op *channels_send(expander *e, i64 channel, value *const *in, size_t n) {
  return make_call(e, "channel.send", channel, in, n, NULL, 0);
}

/* A maximal sharding says that one device sends, or receives for all. */
static void keep_device(channels *c, op *call, const op *o, u32 results) {
  const sharding_per_value_attr *l = attr_as(sharding_per_value, op_attr(o, SDY_SHARDING));
  size_t n = results ? results : 1; /* one of an op without results */
  if (l && l->shardings.len >= n)
    op_set_attr(c->m, call, SDY_SHARDING,
                attr_make(c->m->ctx, sharding_per_value, .shardings = {l->shardings.data, n}));
}

/* Tensors in and out; the token that the op gives is a fresh one, since calls with effects stay in
 * their order. */
static void into_call(channels *c, op *o, const char *target, i64 channel) {
  expander e = expander_before(c->m, c->a, o);
  u32 n = o->num_operands ? o->num_operands - 1 : 0; /* the token is last */
  u32 results = o->num_results - 1;
  value **in = ARENA_ARRAY(c->a, value *, n + 1u);
  const type **out = ARENA_ARRAY(c->a, const type *, results + 1u);
  for (u32 i = 0; i < n; i++) in[i] = op_operand(o, i);
  for (u32 i = 0; i < results; i++) out[i] = op_result(o, i)->type;
  op *call = make_call(&e, target, channel, in, n, out, results);
  keep_device(c, call, o, results);
  for (u32 i = 0; i < results; i++) value_replace(op_result(o, i), op_result(call, i));
  const type *token = op_result(o, results)->type;
  value_replace(op_result(o, results),
                op_result(expand_op(&e, OP_create_token, NULL, 0, &token, 1), 0));
  op_erase(o);
}

static walk_result convert(void *user, op *o) {
  channels *c = user;
  i64 k = op_is(o, send) || op_is(o, recv) ? channel_of(o) : 0;
  bool both = has(c->sent.data, c->sent.len, k) && has(c->received.data, c->received.len, k);
  if (op_is(o, infeed))
    into_call(c, o, c->fed ? "channel.recv" : "stablehlo.infeed", c->fed ? CHANNEL_INFEED : 0);
  else if (op_is(o, outfeed))
    into_call(c, o, "stablehlo.outfeed", 0);
  else if (op_is(o, send))
    into_call(c, o, both ? "channel.send" : "stablehlo.send", k);
  else if (op_is(o, recv))
    into_call(c, o, both ? "channel.recv" : "stablehlo.recv", k);
  return WALK_ON;
}

void channels_expand(ir_module *m, arena *scratch, bool fed) {
  channels c = {.m = m, .a = scratch, .fed = fed};
  if (!module_may_have(m, infeed) && !module_may_have(m, outfeed) && !module_may_have(m, send) &&
      !module_may_have(m, recv))
    return;
  op_walk(m->root, count, &c);
  op_walk_post(m->root, convert, &c);
}

bool parallel_knows(op_id id) {
  return id == OP_run_parallel || id == OP_infeed || id == OP_outfeed || id == OP_send ||
         id == OP_recv;
}
