/* A dialect whose methods answer wrongly: what is wrong is the attribute `break` of its ops. Every
 * case is a diagnostic that names the op and the method. */
#include <string.h>
#include <terrazzo/dialect.h>

static bool breaks(const tz_op *o, const char *what) {
  tz_string s;
  return tz_attr_get_string(tz_op_attr(o, "break"), &s) && strcmp(s.data, what) == 0;
}

static tz_block *body(tz_op *o) { return tz_region_first_block(tz_op_region(o, 0)); }

/* One edge from operand i to body argument i, one from what is yielded to result i. */
static tz_value *owner_of_target(void *user, tz_op *o, tz_value *target) {
  (void)user;
  if (breaks(o, "foreign owner")) return tz_op_operand(o, 0);
  if (breaks(o, "not its own owner") && tz_value_is_arg(target)) return tz_op_result(o, 0);
  if (breaks(o, "owners in a ring"))
    return tz_value_is_arg(target) ? tz_op_result(o, 0) : tz_block_arg(body(o), 0);
  if (breaks(o, "rank")) return tz_op_result(o, 1);
  return target;
}

static tz_value *owner_of_source(void *user, tz_op *o, tz_use *source) {
  size_t i = tz_use_index(source);
  (void)user;
  if (breaks(o, "owner of source")) return tz_op_result(o, 0);
  if (breaks(o, "no owner of source")) return NULL;
  return tz_use_op(source) == o ? tz_block_arg(body(o), i) : tz_op_result(o, i);
}

static size_t sources(void *user, tz_op *o, tz_value *owner, tz_use **out, size_t room) {
  tz_op *from = tz_value_is_arg(owner) ? o : tz_block_last_op(body(o));
  (void)user;
  if (breaks(o, "many sources")) return (size_t)-1;
  if (breaks(o, "no sources written")) return 2;
  if (breaks(o, "strange source")) from = tz_block_first_op(body(o));
  if (room > 0) out[0] = tz_op_operand_use(from, tz_value_index(owner));
  if (breaks(o, "source twice") && room > 1) out[1] = out[0];
  return breaks(o, "source twice") ? 2 : 1;
}

static size_t other_targets(void *user, tz_op *o, tz_value *owner, tz_value **out, size_t room) {
  (void)user;
  if (breaks(o, "other target is the owner")) return room ? out[0] = owner, 1 : 1;
  if (breaks(o, "other target of another"))
    return room ? out[0] = tz_op_result(o, tz_value_index(owner) ? 0 : 1), 1 : 1;
  return 0;
}

static const tz_attr *get_shardings(void *user, tz_context *c, tz_op *o, bool args) {
  (void)user, (void)c;
  if (breaks(o, "shardings")) return tz_op_attr(o, "break");
  return tz_op_attr(o, args ? "in" : "out");
}

static tz_error *set_shardings(void *user, tz_module *m, tz_op *o, bool args,
                               const tz_attr *shardings) {
  (void)user;
  if (breaks(o, "set fails")) return tz_op_set_attr(m, NULL, "in", shardings);
  if (breaks(o, "set forgets")) return NULL;
  return tz_op_set_attr(m, o, args ? "in" : "out", shardings);
}

static const tz_attr *transform(void *user, tz_context *c, tz_op *o, tz_value *owner,
                                const tz_attr *sharding, bool to_sources) {
  (void)user, (void)c, (void)owner, (void)to_sources;
  return breaks(o, "transform") ? NULL : sharding;
}

static tz_error *rule(void *user, tz_context *c, tz_op *o, const tz_attr **out_rule) {
  (void)user;
  if (breaks(o, "no such attribute")) return tz_attr_parse(c, "#sdy.nonsense", out_rule);
  if (breaks(o, "no rule")) return tz_attr_parse(c, "42 : i32", out_rule);
  return tz_attr_parse(c, "#sdy.op_sharding_rule<([i])->([j]) {i=4, j=4}>", out_rule);
}

static tz_error *infer(void *user, tz_context *c, tz_op *o, const tz_type **out_types) {
  (void)user, (void)c, (void)o, (void)out_types;
  return NULL; /* says nothing */
}

static bool verify(void *user, tz_context *c, tz_op *o) {
  (void)user, (void)c;
  return !breaks(o, "verify");
}

static tz_error *make_local(void *user, tz_module *m, tz_op *o, tz_local *l, tz_value **out_value) {
  tz_value *begin;
  (void)user, (void)m;
  if (breaks(o, "make_local fails")) return tz_local_begin(l, tz_op_result(o, 0), 7, &begin);
  if (breaks(o, "stands for it")) *out_value = tz_op_operand(o, 0);
  return NULL;
}
static const tz_partition_def partition = {TZ_SIZED(tz_partition_def), .make_local = make_local};

static tz_error *decompose(void *user, tz_module *m, tz_op *o, tz_value **out_values) {
  tz_builder b = {.module = m, .block = tz_op_block(o), .before = o, .loc = tz_op_loc(o)};
  tz_value *x = tz_op_operand(o, 0);
  const tz_type *t = tz_value_type(x);
  tz_op *again;
  (void)user;
  if (breaks(o, "stands for itself")) *out_values = tz_op_result(o, 0);
  if (!breaks(o, "makes itself")) return NULL;
  tz_error *e = tz_build(&b,
                         &(tz_op_spec){TZ_SIZED(tz_op_spec), .name = "broken.parts", .operands = &x,
                                       .num_operands = 1, .results = &t, .num_results = 1},
                         &again);
  if (!e) *out_values = tz_op_result(again, 0);
  return e;
}

static const tz_data_flow flow = {
    TZ_SIZED(tz_data_flow),
    .arg_owner_region = 0,
    .owner_of_target = owner_of_target,
    .owner_of_source = owner_of_source,
    .sources = sources,
    .other_targets = other_targets,
    .get_shardings = get_shardings,
    .set_shardings = set_shardings,
    .transform = transform,
};

static tz_error *add(tz_context *c) {
  static const char *const none[] = {NULL};
  tz_error *e = tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "broken.yield",
                                               .results = none, .traits = TZ_TERMINATOR | TZ_PURE});
  if (!e)
    e = tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "broken.local",
                                       .traits = TZ_ELEMENTWISE, .partition = &partition});
  if (!e)
    e = tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "broken.parts",
                                       .traits = TZ_ELEMENTWISE, .decompose = decompose});
  if (!e)
    e = tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "broken.flow", .regions = 1,
                                       .traits = TZ_SINGLE_BLOCK, .data_flow = &flow});
  if (!e)
    e = tz_register_op(
        c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "broken.rule", .sharding_rule = rule});
  if (!e)
    e = tz_register_op(c,
                       &(tz_op_def){TZ_SIZED(tz_op_def), .name = "broken.infer", .infer = infer});
  if (!e)
    e = tz_register_op(
        c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "broken.verify", .verify = verify});
  if (!e)
    e = tz_register_op(
        c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "broken.same", .traits = TZ_ELEMENTWISE});
  if (!e)
    e = tz_register_op(
        c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "broken.value", .constant = "value"});
  return e;
}
TZ_DIALECT(add)
