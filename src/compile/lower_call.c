/* Ops that become calls of a function by name. */
#include "compile/steps.h"
#include "dialect/dialect.h"
#include "ffi/ffi.h"
#include "program/lapack.h"

static prog_operand operand_of(const node *n) {
  return (prog_operand){n->slot, {n->dims, n->rank}};
}

bool call_add(lower *L, op *o, str target, i64s params, str config, bool host) {
  prog_call c = {.target = target,
                 .config = config,
                 .host = host,
                 .num_in = o->num_operands,
                 .num_out = o->num_results,
                 .in = ARENA_ARRAY(L->a, prog_operand, o->num_operands + 1),
                 .out = ARENA_ARRAY(L->a, prog_operand, o->num_results + 1),
                 .params = params};
  for (u32 i = 0; i < o->num_operands; i++) {
    node *in = lower_node(L, o, i);
    fuse_dense(L, in);
    c.in[i] = operand_of(in);
  }
  for (u32 i = 0; i < o->num_results; i++) {
    node *out = lower_new_mem(L, o, i);
    if (!out) return false;
    c.out[i] = operand_of(out);
  }
  prog_add_call(L->b, &c, lower_name(L), lower_loc(L));
  for (u32 i = 0; i < o->num_operands; i++) lower_used(lower_node(L, o, i));
  return true;
}

/* ---- functions that there are ---- */

typedef bool target_fn(lower *L, op *o, const attr *config);

static const attr *said(const attr *config, str name) { return attr_dict_get(config, name); }
static i64 number(const attr *config, str name, i64 otherwise) {
  i64 v;
  return attr_get_i64(said(config, name), &v) ? v : otherwise;
}

static bool check_eq(lower *L, op *o, const attr *config) {
  (void)config;
  return call_add(L, o, STR("check.expect_eq"), (i64s){0}, (str){0}, false);
}

/* The calls that say no tolerance are the peers' generated tests, which allow this. */
static bool check_almost_eq(lower *L, op *o, const attr *config) {
  double loose = 0.001;
  const float_attr *f = attr_as(float, said(config, SLOT_NAME(tolerance)));
  i64 params[1];
  memcpy(params, f ? (const void *)&f->bits : (const void *)&loose, sizeof params);
  return call_add(L, o, STR("check.expect_almost_eq"), (i64s){params, 1}, (str){0}, false);
}

static bool check_close(lower *L, op *o, const attr *config) {
  i64 params[] = {number(config, SLOT_NAME(min_ulp_difference), 0),
                  number(config, SLOT_NAME(max_ulp_difference), 3)};
  return call_add(L, o, STR("check.expect_close"), (i64s){params, 2}, (str){0}, false);
}

/* Of the host: what it is told is the one string of the configuration, and the one number. */
static bool host_call(lower *L, op *o, const attr *config) {
  struct custom_call_attrs a;
  view_custom_call(o, &a);
  str text = {0};
  i64 params[] = {number(config, SLOT_NAME(iteration), number(config, STR("channel"), 0))};
  if (!attr_get_str(said(config, SLOT_NAME(probe_id)), &text))
    attr_get_str(said(config, STR("name")), &text);
  return call_add(L, o, a.call_target_name, (i64s){params, 1}, text, true);
}

static bool channel(lower *L, op *o, const attr *config) {
  struct custom_call_attrs a;
  view_custom_call(o, &a);
  i64 params[] = {number(config, STR("channel"), 0)};
  return call_add(L, o, a.call_target_name, (i64s){params, 1}, (str){0}, false);
}

static bool transfer(lower *L, op *o, const attr *config) {
  struct custom_call_attrs a;
  view_custom_call(o, &a);
  return lower_transfer(L, o, a.call_target_name, number(config, STR("channel"), 0));
}

enum { ANY_OPERANDS = UINT32_MAX };
static const struct {
  const char *target;
  u32 operands;
  target_fn *fn;
} targets[] = {
    {"check.expect_eq", 2, check_eq},
    {"check.expect_almost_eq", 2, check_almost_eq},
    {"check.expect_close", 2, check_close},
    {"check.expect_serialized_eq", 1, host_call},
    {"interpreter.print", 1, host_call},
    {"interpreter.probe", 1, host_call},
    {"channel.send", ANY_OPERANDS, channel},
    {"channel.recv", 0, channel},
    {"stablehlo.infeed", 0, host_call},
    {"stablehlo.outfeed", ANY_OPERANDS, host_call},
    {"stablehlo.send", ANY_OPERANDS, transfer},
    {"stablehlo.recv", 0, transfer},
};

static bool has_long_rows(const op *o) {
  for (u32 i = 0; i < o->num_operands; i++) {
    i64s d = op_operand(o, i)->type->dims;
    for (size_t k = d.len > 2 ? d.len - 2 : 0; k < d.len; k++)
      if (d.data[k] > LAPACK_MAX_DIM) return true;
  }
  return false;
}

bool lower_custom_call(lower *L, op *o) {
  struct custom_call_attrs a;
  if (!view_custom_call(o, &a)) return false;
  for (size_t i = 0; i < COUNT(targets); i++)
    if (str_is(a.call_target_name, targets[i].target) &&
        (targets[i].operands == ANY_OPERANDS || o->num_operands == targets[i].operands))
      return targets[i].fn(L, o, a.backend_config);
  const attr *own = op_attr(o, MHLO_BACKEND_CONFIG), *config = own ? own : a.backend_config;
  bool theirs = lapack_has_phases(a.call_target_name) && ffi_serves(a.call_target_name);
  bool ours = !theirs && !has_long_rows(o) &&
              lapack_serves(a.call_target_name, o->num_operands, o->num_results);
  return (ours ? lower_lapack : lower_handler)(L, o, a.call_target_name, config);
}
